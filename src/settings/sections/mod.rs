//! The sections of the settings, a file for each: its keys, what they hold, and the options that
//! come of them.
//!
//! A section's `Raw` mirrors its table in the file. `schema` has checked every value by then.

mod challenge;
mod chat;
mod fics;
mod game;
mod kinds;
mod lichess;
mod log;
mod manners;
mod matchmaking;
mod metrics;
mod search;
mod shutdown;
mod store;
mod tournament;

use std::path::Path;

use serde::Deserialize;

use crate::{
    daemon::{self, PolicyOptions},
    platform,
    settings::{
        LogOptions,
        error::{SettingsError, Source},
        schema::Key,
    },
    web,
};

/// Whether a text is a clock such as `3+2`.
pub(super) fn is_clock(text: &str) -> bool {
    challenge::parse_clock(text).is_some()
}

/// Whether a text is a clock with or without a weight, such as `3+2*5`.
pub(super) fn is_weighted_clock(text: &str) -> bool {
    matchmaking::parse_weighted_clock(text).is_some()
}

/// Whether a text can be the id of a team.
pub(super) fn is_team(text: &str) -> bool {
    tournament::is_team(text)
}

/// Whether a text is an address to listen on, or nothing.
pub(super) fn is_listen(text: &str) -> bool {
    metrics::is_listen(text)
}

pub(super) use fics::{is_login, is_seek};

/// All keys, in the order of `config/meitner.toml`.
pub(super) static KEYS: [&[Key]; 16] = [
    lichess::KEYS,
    fics::KEYS,
    challenge::KEYS,
    &kinds::HUMAN.keys,
    &kinds::BOT.keys,
    matchmaking::KEYS,
    tournament::KEYS,
    search::KEYS,
    game::KEYS,
    manners::HUMAN,
    manners::BOT,
    chat::KEYS,
    shutdown::KEYS,
    store::KEYS,
    metrics::KEYS,
    log::KEYS,
];

/// All sections as the sources have them.
#[derive(Deserialize)]
pub(super) struct Raw {
    pub(super) lichess: lichess::RawLichess,
    pub(super) fics: fics::RawFics,
    challenge: challenge::RawChallenge,
    matchmaking: matchmaking::RawMatchmaking,
    tournament: tournament::RawTournament,
    search: search::RawSearch,
    game: game::RawGame,
    chat: chat::RawChat,
    shutdown: shutdown::RawShutdown,
    store: store::RawStore,
    metrics: metrics::RawMetrics,
    log: log::RawLog,
}

impl Raw {
    /// Checks what no key can tell alone. `source` knows who has set a key.
    pub(super) fn check(&self, source: impl Fn(&str) -> Source) -> Result<(), SettingsError> {
        self.challenge.check(&source)?;
        self.metrics.check(&source)?;
        self.matchmaking.check(&source)?;
        self.store.check(source)
    }

    pub(super) fn lichess(&self) -> platform::lichess::Options {
        self.lichess.options()
    }

    /// The options for FICS, but for the password, if it is played there at all.
    pub(super) fn fics(&self) -> Option<platform::fics::Options> {
        self.fics.enabled.then(|| self.fics.options())
    }

    /// The options of the daemon. `state_home` is where the folder of the store is by default.
    ///
    /// # Errors
    ///
    /// [`SettingsError::BadList`] if a file of names cannot be used.
    pub(super) fn daemon(
        &self,
        state_home: Option<&Path>,
    ) -> Result<daemon::Options, SettingsError> {
        Ok(daemon::Options {
            concurrency: self.challenge.concurrency,
            correspondence: self.challenge.correspondence_games,
            policy: PolicyOptions {
                matchmaking: self.matchmaking.options(),
                tournament: self.tournament.options(),
                ..self.challenge.policy(&self.challenge.read_lists()?)
            },
            game: self.game.options(&self.search, &self.chat),
            engine: self.search.engine(),
            cores: self.search.cores(),
            shutdown: self.shutdown.options(),
            summary_interval: self.log.summary_interval(),
            reconcile_interval: self.lichess.reconcile_interval(),
            store: self.store.options(state_home),
            invitations: self.fics.invitations(),
        })
    }

    pub(super) fn web(&self) -> web::Options {
        self.metrics.options()
    }

    /// `journal` is the stream that the journal of systemd reads.
    pub(super) fn log(&self, journal: Option<(u64, u64)>) -> LogOptions {
        self.log.options(journal)
    }
}
