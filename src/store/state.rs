//! What is remembered for one account besides its games, as a plain value.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use serde::{Deserialize, Serialize};

/// The form of the state that this program writes.
const VERSION: u32 = 1;

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

    /// The state as it is stored.
    pub(super) fn to_text(&self) -> String {
        serde_json::to_string(self).expect("a state is plain data")
    }
}
