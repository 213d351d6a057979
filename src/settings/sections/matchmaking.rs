//! `[matchmaking]`: whom the bot challenges by itself.

use serde::Deserialize;

use crate::{daemon::MatchmakingOptions, settings::schema::Key};

pub(super) const KEYS: &[Key] = &[];

/// May be left out as long as it has no keys.
#[derive(Default, Deserialize)]
pub(super) struct RawMatchmaking {}

impl RawMatchmaking {
    pub(super) fn options(&self) -> MatchmakingOptions {
        let Self {} = self;
        MatchmakingOptions {}
    }
}
