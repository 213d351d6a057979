//! `[lichess]`: how to reach the server, and where the token is.

use std::{path::PathBuf, time::Duration};

use secrecy::SecretString;
use serde::Deserialize;

use crate::{
    platform::lichess,
    settings::schema::{Key, Kind, key, number},
};

pub(super) const KEYS: &[Key] = &[
    key("lichess.url", Kind::Url),
    key("lichess.token", Kind::Secret),
    key("lichess.token_file", Kind::Text),
    key("lichess.connect_timeout_ms", number(100, 120_000)),
    key("lichess.request_timeout_ms", number(100, 120_000)),
    key("lichess.move_timeout_ms", number(100, 60_000)),
    key("lichess.stream_silence_ms", number(100, 600_000)),
    key("lichess.reconcile_s", number(5, 3_600)),
];

#[derive(Deserialize)]
pub(in crate::settings) struct RawLichess {
    url: String,
    pub(in crate::settings) token: SecretString,
    pub(in crate::settings) token_file: PathBuf,
    connect_timeout_ms: u64,
    request_timeout_ms: u64,
    move_timeout_ms: u64,
    stream_silence_ms: u64,
    reconcile_s: u64,
}

impl RawLichess {
    pub(super) fn reconcile_interval(&self) -> Duration {
        Duration::from_secs(self.reconcile_s)
    }

    pub(super) fn options(&self) -> lichess::Options {
        lichess::Options {
            base_url: self.url.clone(),
            connect_timeout: Duration::from_millis(self.connect_timeout_ms),
            request_timeout: Duration::from_millis(self.request_timeout_ms),
            move_timeout: Duration::from_millis(self.move_timeout_ms),
            stream_silence: Duration::from_millis(self.stream_silence_ms),
            ..lichess::Options::default()
        }
    }
}
