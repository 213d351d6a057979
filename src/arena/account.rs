//! Accounts, their tokens and what a token may do.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::arena::{
    house::House,
    line::Line,
    quota::{POINT_WINDOWS, Quota},
    stream::LineQueue,
};

/// In which time the openings of the event stream are counted.
const OPENINGS_WINDOW: Duration = Duration::from_mins(10);

const DAY_MS: u64 = 86_400_000;

/// What a token allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[expect(missing_docs, reason = "the names are the API's own")]
pub enum Scope {
    #[serde(rename = "bot:play")]
    BotPlay,
    #[serde(rename = "board:play")]
    BoardPlay,
    #[serde(rename = "challenge:read")]
    ChallengeRead,
    #[serde(rename = "challenge:write")]
    ChallengeWrite,
    #[serde(rename = "tournament:write")]
    TournamentWrite,
}

impl Scope {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::BotPlay => "bot:play",
            Self::BoardPlay => "board:play",
            Self::ChallengeRead => "challenge:read",
            Self::ChallengeWrite => "challenge:write",
            Self::TournamentWrite => "tournament:write",
        }
    }
}

/// In which games a player allows takebacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Takebacks {
    /// In none: proposals come to nothing.
    Never,
    /// In games that are not rated.
    Casual,
    /// In all.
    #[default]
    Always,
}

impl Takebacks {
    pub(super) fn allow(self, rated: bool) -> bool {
        match self {
            Self::Never => false,
            Self::Casual => !rated,
            Self::Always => true,
        }
    }
}

/// An account to be made.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountSpec {
    /// The name as displayed; the id is the same in lower case.
    pub name: String,
    /// `BOT`, a player's title, or none.
    #[serde(default)]
    pub title: Option<String>,
    /// The atomic rating.
    #[serde(default = "default_rating")]
    pub rating: i32,
    /// Whether the rating is provisional.
    #[serde(default)]
    pub provisional: bool,
    /// Number of games already played; an account with any cannot become a bot.
    #[serde(default)]
    pub games: u32,
    /// How old the account is, in days.
    #[serde(default)]
    pub age_days: u32,
    /// Whether the account is marked for breaking the terms of service.
    #[serde(default)]
    pub tos_violation: bool,
    /// Whether the account is closed; its token is then worth nothing.
    #[serde(default)]
    pub disabled: bool,
    /// In which games it takes moves back, and lets others do so. On the real server a bot does
    /// so in none, unless its owner changes that.
    #[serde(default)]
    pub takebacks: Takebacks,
    /// The token; drawn by lot when absent.
    #[serde(default)]
    pub token: Option<String>,
    /// What the token allows.
    #[serde(default = "default_scopes")]
    pub scopes: Vec<Scope>,
}

fn default_rating() -> i32 {
    2000
}

fn default_scopes() -> Vec<Scope> {
    vec![Scope::BotPlay, Scope::ChallengeRead, Scope::ChallengeWrite]
}

impl AccountSpec {
    /// An account without title, and a token that allows everything a bot does.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            title: None,
            rating: default_rating(),
            provisional: false,
            games: 0,
            age_days: 0,
            tos_violation: false,
            disabled: false,
            takebacks: Takebacks::default(),
            token: None,
            scopes: default_scopes(),
        }
    }

    /// The same with the title `BOT`.
    pub fn bot(name: &str) -> Self {
        Self { title: Some("BOT".to_owned()), ..Self::new(name) }
    }
}

/// A token's owner and scopes.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) user: String,
    pub(super) scopes: Vec<Scope>,
}

/// An account as the server keeps it.
pub(super) struct Account {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) title: Option<String>,
    pub(super) rating: i32,
    pub(super) provisional: bool,
    pub(super) record: Record,
    pub(super) tos_violation: bool,
    pub(super) disabled: bool,
    pub(super) takebacks: Takebacks,
    pub(super) created_at_ms: u64,
    /// Set for players whom the server itself plays.
    pub(super) house: Option<House>,
    pub(super) event_stream: Option<Arc<LineQueue>>,
    /// Games against other bots.
    pub(super) bot_games: Quota,
    /// Points of created challenges, in each of [`POINT_WINDOWS`].
    pub(super) challenge_points: [Quota; POINT_WINDOWS.len()],
    /// Requests to join tournaments.
    pub(super) tournament_joins: Quota,
    event_stream_openings: VecDeque<Instant>,
}

/// The results of an account.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Record {
    pub(super) games: u32,
    pub(super) rated: u32,
    pub(super) won: u32,
    pub(super) drawn: u32,
    pub(super) lost: u32,
}

impl Account {
    pub(super) fn new(spec: &AccountSpec, house: Option<House>, now_ms: u64) -> Self {
        Self {
            id: spec.name.to_lowercase(),
            name: spec.name.clone(),
            title: spec.title.clone(),
            rating: spec.rating,
            provisional: spec.provisional,
            record: Record { games: spec.games, won: spec.games, ..Record::default() },
            tos_violation: spec.tos_violation,
            disabled: spec.disabled,
            takebacks: spec.takebacks,
            created_at_ms: now_ms.saturating_sub(u64::from(spec.age_days) * DAY_MS),
            house,
            event_stream: None,
            bot_games: Quota::default(),
            challenge_points: Default::default(),
            tournament_joins: Quota::default(),
            event_stream_openings: VecDeque::new(),
        }
    }

    pub(super) fn is_bot(&self) -> bool {
        self.title.as_deref() == Some("BOT")
    }

    pub(super) fn is_online(&self) -> bool {
        self.house.is_some() || self.event_stream.is_some()
    }

    /// Notes an opening of the event stream; false when there were too many of late.
    pub(super) fn may_open_event_stream(&mut self, now: Instant, limit: usize) -> bool {
        let openings = &mut self.event_stream_openings;
        while openings.front().is_some_and(|&at| now.duration_since(at) >= OPENINGS_WINDOW) {
            openings.pop_front();
        }
        if limit > 0 && openings.len() >= limit {
            return false;
        }
        openings.push_back(now);
        true
    }

    /// Sends an event to the account's stream, if one is open.
    pub(super) fn send(&self, event: &Value) {
        if let Some(stream) = &self.event_stream {
            stream.push(Line::new(event));
        }
    }

    /// The user object of the account endpoints.
    pub(super) fn user_json(&self) -> Value {
        let mut perf = json!({
            "games": self.record.games, "rating": self.rating,
            "rd": if self.provisional { 180 } else { 45 }, "prog": 0,
        });
        if self.provisional {
            perf["prov"] = json!(true);
        }
        let mut user = json!({
            "id": self.id,
            "username": self.name,
            "perfs": { "atomic": perf },
            "createdAt": self.created_at_ms,
            "seenAt": self.created_at_ms,
            "playTime": { "total": 0, "tv": 0 },
            "profile": { "bio": "Plays in a local arena." },
        });
        if let Some(title) = &self.title {
            user["title"] = json!(title);
        }
        if self.tos_violation {
            user["tosViolation"] = json!(true);
        }
        user
    }

    /// The extended user object. `playing` are the ids of its running games.
    pub(super) fn extended_json(&self, playing: &[&str]) -> Value {
        if self.disabled {
            return json!({ "id": self.id, "username": self.name, "disabled": true });
        }
        let Record { games, rated, won, drawn, lost } = self.record;
        let mut user = self.user_json();
        user["url"] = json!(format!("https://lichess.org/@/{}", self.name));
        user["count"] = json!({
            "all": games, "rated": rated, "win": won, "draw": drawn, "loss": lost,
            "bookmark": 0, "playing": playing.len(), "import": 0, "me": 0,
        });
        if let Some(id) = playing.first() {
            user["playing"] = json!(format!("https://lichess.org/{id}"));
        }
        user
    }

    /// The user object inside a challenge.
    pub(super) fn challenge_json(&self) -> Value {
        let mut user = json!({ "id": self.id, "name": self.name, "rating": self.rating });
        if let Some(title) = &self.title {
            user["title"] = json!(title);
        }
        if self.provisional {
            user["provisional"] = json!(true);
        }
        if self.is_online() {
            user["online"] = json!(true);
        }
        user
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_event_stream_may_be_opened_so_often_in_ten_minutes() {
        let mut account = Account::new(&AccountSpec::bot("EmberFork"), None, 0);
        let now = Instant::now();
        assert!(account.may_open_event_stream(now, 2));
        assert!(account.may_open_event_stream(now, 2));
        assert!(!account.may_open_event_stream(now, 2));
        assert!(account.may_open_event_stream(now, 0));
        assert!(account.may_open_event_stream(now + OPENINGS_WINDOW, 2));
    }

    #[test]
    fn the_id_is_the_name_in_lower_case() {
        let account = Account::new(&AccountSpec::bot("EmberFork"), None, 0);
        assert_eq!(account.id, "emberfork");
        assert_eq!(account.user_json()["title"], "BOT");
        assert_eq!(account.challenge_json().get("online"), None);
    }
}
