//! `[fics]`: whether to play on a FICS server, how to reach it, and as whom.

use std::{path::PathBuf, time::Duration};

use secrecy::SecretString;
use serde::Deserialize;

use crate::{
    daemon::InvitationOptions,
    platform::fics::{self, Agreements, timeseal},
    settings::schema::{Key, Kind, key, number},
};

pub(super) const KEYS: &[Key] = &[
    key("fics.enabled", Kind::Switch),
    key("fics.host", Kind::Text),
    key("fics.port", number(1, 65_535)),
    key("fics.account", Kind::Login),
    key("fics.password", Kind::Secret),
    key("fics.password_file", Kind::Text),
    key("fics.timeseal", Kind::Word(&["off", "v1", "v2"])),
    key("fics.seek", Kind::Seek),
    key("fics.rematches", number(0, 10)),
    key("fics.match_names", Kind::Logins),
    key("fics.match_terms", Kind::Seek),
    key("fics.match_pause_s", number(60, 86_400)),
    key("fics.accept_abort", Kind::Switch),
    key("fics.accept_adjourn", Kind::Switch),
    key("fics.operator", Kind::Chat),
    key("fics.help", Kind::Switch),
    key("fics.connect_timeout_ms", number(100, 120_000)),
    key("fics.keep_alive_s", number(10, 3_000)),
    key("fics.raw_log", Kind::Text),
];

#[derive(Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own for the operator")]
pub(in crate::settings) struct RawFics {
    pub(in crate::settings) enabled: bool,
    host: String,
    port: u16,
    account: String,
    pub(in crate::settings) password: SecretString,
    pub(in crate::settings) password_file: PathBuf,
    timeseal: Timeseal,
    seek: String,
    rematches: u32,
    match_names: Vec<String>,
    match_terms: String,
    match_pause_s: u64,
    accept_abort: bool,
    accept_adjourn: bool,
    operator: String,
    help: bool,
    connect_timeout_ms: u64,
    keep_alive_s: u64,
    raw_log: PathBuf,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Timeseal {
    Off,
    V1,
    V2,
}

impl RawFics {
    /// The options, but for the password.
    pub(super) fn options(&self) -> fics::Options {
        fics::Options {
            host: self.host.clone(),
            port: self.port,
            account: self.account.clone(),
            password: SecretString::default(),
            timeseal: match self.timeseal {
                Timeseal::Off => None,
                Timeseal::V1 => Some(timeseal::Version::V1),
                Timeseal::V2 => Some(timeseal::Version::V2),
            },
            agrees: Agreements { abort: self.accept_abort, adjourn: self.accept_adjourn },
            operator: self.operator.clone(),
            help: self.help,
            connect_timeout: Duration::from_millis(self.connect_timeout_ms),
            keep_alive: Duration::from_secs(self.keep_alive_s),
            raw_log: Some(self.raw_log.clone()).filter(|path| !path.as_os_str().is_empty()),
            ..fics::Options::default()
        }
    }

    /// Whom the bot asks for games.
    pub(super) fn invitations(&self) -> InvitationOptions {
        InvitationOptions {
            rematches: self.rematches,
            names: self.match_names.clone(),
            terms: self.match_terms.clone(),
            pause: Duration::from_secs(self.match_pause_s),
            seek: self.seek.clone(),
            ..InvitationOptions::default()
        }
    }
}

/// Whether a text can be a name on such a server.
pub(in crate::settings) fn is_login(text: &str) -> bool {
    (3..=17).contains(&text.len()) && text.bytes().all(|letter| letter.is_ascii_alphabetic())
}

/// Whether a text says what to look for: nothing, or minutes, seconds, and perhaps `rated` or
/// `unrated`.
pub(in crate::settings) fn is_seek(text: &str) -> bool {
    let words: Vec<&str> = text.split(' ').collect();
    let is_number = |word: &str| word.len() <= 3 && word.parse::<u16>().is_ok();
    match words[..] {
        [""] => true,
        [minutes, seconds] | [minutes, seconds, "rated" | "unrated"] => {
            is_number(minutes) && is_number(seconds)
        }
        _ => false,
    }
}
