//! What is remembered for one account besides its games, as a plain value.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, SystemTime},
};

use serde::{Deserialize, Serialize};

/// The form of the state that this program writes.
const VERSION: u32 = 1;
/// The window of a budget.
const DAY: Duration = Duration::from_hours(24);

/// A moment that means the same after a restart: whole seconds since the beginning of 1970, by the
/// machine's clock. That clock can jump, so who compares such moments says what is too far off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Epoch(u64);

impl Epoch {
    /// So many seconds after the beginning of 1970.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs)
    }

    /// How many seconds after the beginning of 1970 it is.
    pub const fn secs(self) -> u64 {
        self.0
    }

    /// This moment. A clock before 1970 is at 1970.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Self(since.unwrap_or_default().as_secs())
    }

    /// How long ago that was at another moment; nothing if it was later.
    pub const fn age_at(self, now: Self) -> Duration {
        Duration::from_secs(now.0.saturating_sub(self.0))
    }

    /// So much later, in whole seconds.
    #[must_use]
    pub const fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration.as_secs()))
    }
}

/// What there is only so much of in a day, such as games with bots.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    /// When the first of them was used.
    pub since: Option<Epoch>,
    /// How many since then.
    pub games: u32,
    /// Until when the server allows no more.
    pub until: Option<Epoch>,
}

impl Budget {
    /// This, with what was used later by somebody who did not know of it.
    fn with_later(&self, later: &Self) -> Self {
        let until = self.until.max(later.until);
        match (self.since, later.since) {
            (_, None) => Self { until, ..self.clone() },
            (Some(since), Some(later_since)) if since.after(DAY) > later_since => Self {
                since: Some(since.min(later_since)),
                games: self.games.saturating_add(later.games),
                until,
            },
            _ => Self { until, ..later.clone() },
        }
    }
}

/// A challenge of ours that was declined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decline {
    /// When.
    pub at: Epoch,
    /// The key of the reason.
    pub reason: String,
    /// The clock of the game: time at the start, in seconds.
    pub initial_s: u32,
    /// The increment, in seconds.
    pub increment_s: u32,
    /// Whether it was to be rated.
    pub rated: bool,
}

/// A game on FICS that runs, or was broken off and may go on: the server calls it something else then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenGame {
    /// The id of its record.
    pub id: String,
    /// When it last began or went on.
    pub at: Epoch,
    /// Whether we are White.
    pub is_white: bool,
    /// Whether ratings are at stake.
    pub rated: bool,
    /// The clock in seconds, time at the start and increment; none without a limit of time.
    pub clock_s: Option<(u32, u32)>,
}

/// When somebody on FICS was last asked for a game, and how that went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invited {
    /// When.
    pub at: Epoch,
    /// Whether they have ever declined.
    pub is_declined: bool,
}

/// What is remembered for one account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// The form of this state.
    pub version: u32,
    /// The games with bots that were started.
    pub budget: Budget,
    /// The bots that have used up their games with bots, and until when.
    pub quotas: BTreeMap<String, Epoch>,
    /// The challenges that we made.
    pub challenges: Budget,
    /// The challenge of ours that is open: one that a killed program left must not become a game.
    pub open_challenge: Option<String>,
    /// Who declined our challenges, the oldest decline first.
    pub declines: BTreeMap<String, Vec<Decline>>,
    /// When the games of late began, by the opponents.
    pub games: BTreeMap<String, Vec<Epoch>>,
    /// The games on lichess that we have not seen the end of.
    pub running: BTreeSet<String>,
    /// The games on FICS that may go on, by the opponents: there is one at most with each.
    pub open_games: BTreeMap<String, OpenGame>,
    /// Whom we have asked for a game on FICS by name.
    pub invited: BTreeMap<String, Invited>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            version: VERSION,
            budget: Budget::default(),
            quotas: BTreeMap::new(),
            challenges: Budget::default(),
            open_challenge: None,
            declines: BTreeMap::new(),
            games: BTreeMap::new(),
            running: BTreeSet::new(),
            open_games: BTreeMap::new(),
            invited: BTreeMap::new(),
        }
    }
}

impl State {
    /// Reads a state as it is stored.
    ///
    /// # Errors
    ///
    /// What is wrong with the text.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let state: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if state.version == VERSION { Ok(state) } else { Err(format!("version {}", state.version)) }
    }

    /// This state, with what was learned later by somebody who did not know of it: both count.
    pub(super) fn with_later(&self, later: &Self) -> Self {
        let mut both = self.clone();
        both.budget = self.budget.with_later(&later.budget);
        both.challenges = self.challenges.with_later(&later.challenges);
        if later.open_challenge.is_some() {
            both.open_challenge.clone_from(&later.open_challenge);
        }
        for (id, &until) in &later.quotas {
            let known = both.quotas.entry(id.clone()).or_insert(until);
            *known = until.max(*known);
        }
        for (id, declines) in &later.declines {
            both.declines.entry(id.clone()).or_default().extend_from_slice(declines);
        }
        for (id, games) in &later.games {
            both.games.entry(id.clone()).or_default().extend_from_slice(games);
        }
        both.running.extend(later.running.iter().cloned());
        both.open_games.extend(later.open_games.clone());
        for (name, later) in &later.invited {
            let known = both.invited.entry(name.clone()).or_insert_with(|| later.clone());
            known.at = known.at.max(later.at);
            known.is_declined |= later.is_declined;
        }
        both
    }

    /// The state as it is stored.
    pub(super) fn to_text(&self) -> String {
        serde_json::to_string(self).expect("a state is plain data")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Epoch = Epoch::from_secs(1_800_000_000);
    const HOUR: Duration = Duration::from_hours(1);

    fn budget(since: Option<Epoch>, games: u32, until: Option<Epoch>) -> Budget {
        Budget { since, games, until }
    }

    #[test]
    fn what_was_used_before_and_after_counts_within_a_day() {
        let (one, none) = (NOON.after(HOUR), Budget::default());
        let before = budget(Some(NOON), 40, Some(NOON.after(2 * HOUR)));
        for (later, expected) in [
            (none.clone(), before.clone()),
            (budget(Some(one), 2, None), budget(Some(NOON), 42, before.until)),
            (budget(None, 0, Some(NOON.after(3 * HOUR))), {
                budget(Some(NOON), 40, Some(NOON.after(3 * HOUR)))
            }),
            (budget(Some(NOON.after(DAY)), 2, None), {
                budget(Some(NOON.after(DAY)), 2, before.until)
            }),
        ] {
            assert_eq!(before.with_later(&later), expected, "{later:?}");
        }
        assert_eq!(none.with_later(&before), before);
    }

    #[test]
    fn nothing_of_either_state_is_lost() {
        let decline = |at| Decline {
            at,
            reason: "later".to_owned(),
            initial_s: 180,
            increment_s: 2,
            rated: true,
        };
        let open_game = |id: &str| OpenGame {
            id: id.to_owned(),
            at: NOON,
            is_white: true,
            rated: true,
            clock_s: Some((180, 2)),
        };
        let state = |id: &str, at: Epoch| State {
            quotas: [("both".to_owned(), at), (id.to_owned(), at)].into(),
            open_challenge: Some(id.to_owned()),
            declines: [("both".to_owned(), vec![decline(at)])].into(),
            games: [("both".to_owned(), vec![at])].into(),
            running: [id.to_owned()].into(),
            open_games: [("both".to_owned(), open_game(id)), (id.to_owned(), open_game(id))].into(),
            invited: [("both".to_owned(), Invited { at, is_declined: id == "old" })].into(),
            ..State::default()
        };
        let (old, new) = (state("old", NOON), state("new", NOON.after(HOUR)));
        let both = old.with_later(&new);
        let later = NOON.after(HOUR);
        assert_eq!(both.quotas["both"], later);
        assert!(both.running.iter().eq(["new", "old"]));
        assert_eq!((both.quotas["old"], both.quotas["new"]), (NOON, later));
        assert_eq!(both.open_challenge.as_deref(), Some("new"));
        assert_eq!(both.declines["both"], [decline(NOON), decline(later)]);
        assert_eq!(both.games["both"], [NOON, later]);
        assert_eq!(both.invited["both"], Invited { at: later, is_declined: true });
        let open = |id: &str| both.open_games[id].id.as_str();
        assert_eq!([open("both"), open("old"), open("new")], ["new", "old", "new"]);
        assert_eq!(old.with_later(&State::default()), old);
    }
}
