//! What lichess tells of bots and tournaments, and what it means.
//!
//! As in [`model`](super::model), only what is used is read, and what the server's schema does not
//! require may be absent or null.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    game::one_line,
    platform::{
        ChallengeClock, InvalidTournamentIdError, OnlineBot, Tournament, TournamentId,
        TournamentStage, lichess::model::PerfsBody,
    },
};

/// No wait is believed to be longer.
const LONGEST_WAIT: Duration = Duration::from_hours(24 * 365);
/// Of a longer name the rest is left out.
const LONGEST_NAME: usize = 60;
/// The status of a tournament that is over (`ArenaStatus` of the published description).
const FINISHED: u32 = 30;

/// A line of the list of bots that are online (section 3.7 of the protocol notes).
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OnlineBotBody {
    id: String,
    perfs: Option<PerfsBody>,
    tos_violation: Option<bool>,
    disabled: Option<bool>,
}

impl OnlineBotBody {
    /// The bot; `None` if it cannot be challenged: its id does not fit into a path, or its account
    /// is closed or marked.
    pub fn into_bot(self) -> Option<OnlineBot> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let is_open = ![self.tos_violation, self.disabled].contains(&Some(true));
        let is_usable = is_open && !self.id.is_empty() && self.id.chars().all(is_plain);
        let perf = self.perfs.and_then(|perfs| perfs.atomic);
        is_usable.then(|| OnlineBot {
            id: self.id.to_ascii_lowercase(),
            rating: perf.as_ref().and_then(|perf| perf.rating),
            games: perf.and_then(|perf| perf.games).unwrap_or_default(),
        })
    }
}

/// A line of the list of a team's tournaments.
#[derive(Debug, Deserialize)]
pub struct ListedTournamentBody {
    id: String,
    variant: Option<VariantBody>,
    status: Option<u32>,
}

impl ListedTournamentBody {
    /// Which tournament it is, if its games are of this variant and it is not over.
    pub fn into_id(self, variant: &str) -> Option<TournamentId> {
        let is_ours = self.variant.is_none_or(|of| of.key() == variant);
        let is_over = self.status == Some(FINISHED);
        self.id.parse().ok().filter(|_| is_ours && !is_over)
    }
}

/// A tournament.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TournamentBody {
    id: String,
    full_name: Option<String>,
    variant: Option<VariantBody>,
    clock: ClockBody,
    rated: Option<bool>,
    bots_allowed: Option<bool>,
    berserkable: Option<bool>,
    minutes: Option<u64>,
    seconds_to_start: Option<u64>,
    seconds_to_finish: Option<u64>,
    is_finished: Option<bool>,
    team_battle: Option<TeamBattleBody>,
}

#[derive(Debug, Deserialize)]
struct TeamBattleBody {
    teams: Option<TeamsBody>,
}

/// The teams of a battle are a list of ids here, and an object with the ids as names there.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum TeamsBody {
    List(Vec<String>),
    Object(Map<String, Value>),
}

impl TeamsBody {
    fn into_ids(self) -> Vec<String> {
        match self {
            Self::List(ids) => ids,
            Self::Object(teams) => teams.into_iter().map(|(id, _)| id).collect(),
        }
    }
}

/// A variant is a key here and an object there.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum VariantBody {
    Key(String),
    Object { key: String },
}

#[derive(Debug, Deserialize)]
struct ClockBody {
    limit: u32,
    increment: u32,
}

impl VariantBody {
    fn key(&self) -> &str {
        match self {
            Self::Key(key) | Self::Object { key } => key,
        }
    }
}

impl TournamentBody {
    /// What it tells.
    ///
    /// # Errors
    ///
    /// If its id cannot be one.
    pub fn into_tournament(self) -> Result<Tournament, InvalidTournamentIdError> {
        let seconds = |count| Duration::from_secs(count).min(LONGEST_WAIT);
        let stage = match (self.is_finished, self.seconds_to_start, self.seconds_to_finish) {
            (Some(true), ..) => TournamentStage::Over,
            (_, Some(wait), _) => TournamentStage::Announced(seconds(wait)),
            (_, None, Some(left)) => TournamentStage::Running(seconds(left)),
            // It tells neither: it is asked about again by then.
            (_, None, None) => TournamentStage::Running(seconds(
                self.minutes.unwrap_or_default().saturating_mul(60),
            )),
        };
        Ok(Tournament {
            id: self.id.parse()?,
            name: one_line(self.full_name.as_deref().unwrap_or_default(), LONGEST_NAME),
            variant: self.variant.as_ref().map(VariantBody::key).unwrap_or_default().to_owned(),
            clock: ChallengeClock {
                initial_s: self.clock.limit,
                increment_s: self.clock.increment,
            },
            rated: self.rated.unwrap_or_default(),
            admits_bots: self.bots_allowed.unwrap_or_default(),
            berserkable: self.berserkable.unwrap_or_default(),
            teams: self
                .team_battle
                .and_then(|battle| battle.teams)
                .map(TeamsBody::into_ids)
                .unwrap_or_default(),
            stage,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bot(line: &str) -> Option<OnlineBot> {
        serde_json::from_str::<OnlineBotBody>(line).unwrap().into_bot()
    }

    fn tournament(fields: &str) -> Tournament {
        let text = format!(
            r#"{{"id":"hL7vMrFQ","fullName":"X","nbPlayers":3,
            "clock":{{"limit":90,"increment":1}}{fields}}}"#
        );
        serde_json::from_str::<TournamentBody>(&text).unwrap().into_tournament().unwrap()
    }

    #[test]
    fn a_bot_has_a_rating_if_it_has_played() {
        let soot = r#"{"id":"soot-engine","username":"Soot","perfs":{"atomic":{"games":958,
            "rating":2055,"rd":61},"bullet":{"games":1}},"title":"BOT","seenAt":1}"#;
        let expected = OnlineBot { id: "soot-engine".to_owned(), rating: Some(2055), games: 958 };
        assert_eq!(bot(soot), Some(expected));
        let unrated = bot(r#"{"id":"New","perfs":null}"#).unwrap();
        assert_eq!((unrated.id.as_str(), unrated.rating, unrated.games), ("new", None, 0));
        for line in [
            r#"{"id":"a/b"}"#,
            r#"{"id":""}"#,
            r#"{"id":"x","tosViolation":true}"#,
            r#"{"id":"x","disabled":true}"#,
        ] {
            assert_eq!(bot(line), None, "{line}");
        }
    }

    #[test]
    fn a_tournament_tells_how_far_it_is() {
        let stage = |fields: &str| tournament(fields).stage;
        let s = Duration::from_secs;
        assert_eq!(stage(r#","secondsToStart":7,"minutes":60"#), TournamentStage::Announced(s(7)));
        assert_eq!(stage(r#","secondsToFinish":9"#), TournamentStage::Running(s(9)));
        assert_eq!(stage(r#","isFinished":true,"secondsToFinish":9"#), TournamentStage::Over);
        assert_eq!(stage(r#","minutes":2,"isFinished":null"#), TournamentStage::Running(s(120)));
        let endless = format!(r#","minutes":{}"#, u64::MAX);
        assert_eq!(stage(&endless), TournamentStage::Running(LONGEST_WAIT));
    }

    #[test]
    fn bots_are_admitted_only_where_that_is_said() {
        let closed = tournament("");
        assert!(!closed.admits_bots && !closed.rated && !closed.berserkable);
        assert_eq!((closed.variant.as_str(), closed.clock.to_string()), ("", "1.5+1".to_owned()));
        let open = tournament(r#","botsAllowed":true,"rated":true,"variant":"atomic""#);
        assert!(open.admits_bots && open.rated);
        assert_eq!(open.variant, "atomic");
        assert_eq!(tournament(r#","variant":{"key":"atomic","short":"Atom"}"#).variant, "atomic");
    }

    #[test]
    fn the_teams_of_a_battle_are_read_in_either_form() {
        assert!(
            tournament("").teams.is_empty() && tournament(r#","teamBattle":null"#).teams.is_empty()
        );
        for teams in [r#"["crew","other"]"#, r#"{"crew":["The Crew",null],"other":["Other"]}"#] {
            let battle = format!(r#","teamBattle":{{"teams":{teams},"nbLeaders":5}}"#);
            assert_eq!(tournament(&battle).teams, ["crew", "other"]);
        }
    }

    #[test]
    fn listed_tournaments_are_taken_by_variant_and_stage() {
        let id = |fields: &str| {
            let text = format!(r#"{{"id":"hL7vMrFQ"{fields}}}"#);
            let body: ListedTournamentBody = serde_json::from_str(&text).unwrap();
            body.into_id("atomic").map(|id| id.to_string())
        };
        let found = Some("hL7vMrFQ".to_owned());
        assert_eq!(id(""), found);
        assert_eq!(id(r#","variant":{"key":"atomic"},"status":10"#), found);
        assert_eq!(id(r#","variant":{"key":"standard"},"status":20"#), None);
        assert_eq!(id(r#","variant":{"key":"atomic"},"status":30"#), None);
    }
}
