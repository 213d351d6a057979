//! The sections of the settings, a file for each: its keys, what they hold, and the options that
//! come of them.
//!
//! A section's `Raw` mirrors its table in the file. `schema` has checked every value by then.

mod challenge;
mod chat;
mod game;
mod lichess;
mod log;
mod matchmaking;
mod search;
mod shutdown;

use serde::Deserialize;

use crate::{
    daemon, platform,
    settings::{
        LogOptions,
        error::{SettingsError, Source},
        schema::Key,
    },
};

/// All keys, in the order of `config/meitner.toml`.
pub(super) const KEYS: [&[Key]; 8] = [
    lichess::KEYS,
    challenge::KEYS,
    matchmaking::KEYS,
    search::KEYS,
    game::KEYS,
    chat::KEYS,
    shutdown::KEYS,
    log::KEYS,
];

/// All sections as the sources have them.
#[derive(Deserialize)]
pub(super) struct Raw {
    pub(super) lichess: lichess::RawLichess,
    challenge: challenge::RawChallenge,
    #[serde(default)]
    matchmaking: matchmaking::RawMatchmaking,
    search: search::RawSearch,
    game: game::RawGame,
    #[serde(default)]
    chat: chat::RawChat,
    shutdown: shutdown::RawShutdown,
    log: log::RawLog,
}

impl Raw {
    /// Checks what no key can tell alone. `source` knows who has set a key.
    pub(super) fn check(&self, source: impl Fn(&str) -> Source) -> Result<(), SettingsError> {
        self.challenge.check(source)
    }

    pub(super) fn lichess(&self) -> platform::lichess::Options {
        self.lichess.options()
    }

    pub(super) fn daemon(&self) -> daemon::Options {
        daemon::Options {
            concurrency: self.challenge.concurrency,
            policy: self.challenge.policy(),
            matchmaking: self.matchmaking.options(),
            game: self.game.options(&self.search, &self.chat),
            engine: self.search.engine(),
            shutdown: self.shutdown.options(),
            summary_interval: self.log.summary_interval(),
        }
    }

    pub(super) fn log(&self) -> LogOptions {
        self.log.options()
    }
}
