//! What a key can take, and how a text becomes such a value. `sections` has the keys themselves.

use std::str::FromStr;

use config::{Value, ValueKind};
use tracing_subscriber::filter::EnvFilter;

use crate::{
    game::{MAX_CHAT_CHARS, Template},
    platform::{TournamentId, lichess, list},
    settings::sections,
};

/// A key and what it takes.
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
}

/// What a key takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// True or false.
    Switch,
    /// A whole number.
    Number { min: i64, max: i64 },
    /// Any text.
    Text,
    /// A line of chat with placeholders.
    Chat,
    /// A text that is never shown.
    Secret,
    /// The address of a server.
    Url,
    /// Directives for the log's filter.
    Filter,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Some of these words, at least one.
    Words(&'static [&'static str]),
    /// Some of these words, or none.
    AnyWords(&'static [&'static str]),
    /// Names of accounts.
    Names,
    /// Paths of files.
    Files,
    /// Addresses of texts on the web.
    Addresses,
    /// Clocks in minutes and seconds, such as `3+2`.
    Clocks,
    /// The same, at least one, each with a weight if wanted, such as `3+2*5`.
    WeightedClocks,
    /// Ids of tournaments.
    Tournaments,
    /// Ids of teams.
    Teams,
    /// A name on a FICS server, or `guest`.
    Login,
    /// An address and a port to listen on, or nothing.
    Listen,
    /// Names of players on one.
    Logins,
    /// What to look for on a FICS server, such as `3 0 unrated`; or nothing.
    Seek,
}

/// A value that a key does not take.
#[derive(Debug)]
pub(super) struct Mismatch {
    pub(super) found: String,
    pub(super) allowed: String,
}

/// A key, to be written in a table.
pub(super) const fn key(name: &'static str, kind: Kind) -> Key {
    Key { name, kind }
}

/// A whole number, both ends included.
pub(super) const fn number(min: i64, max: i64) -> Kind {
    Kind::Number { min, max }
}

/// All keys, in the order of `config/meitner.toml`.
pub(super) fn keys() -> impl Iterator<Item = &'static Key> {
    sections::KEYS.iter().copied().flatten()
}

/// The key of this name.
pub(super) fn find(name: &str) -> Option<&'static Key> {
    keys().find(|key| key.name == name)
}

/// The key that was probably meant by a name that does not exist.
pub(super) fn nearest(unknown: &str) -> Option<&'static str> {
    /// Below this, two names have nothing to do with each other.
    const LEAST_SIMILARITY: f64 = 0.6;
    let similarity = |name: &str| {
        let whole = strsim::normalized_damerau_levenshtein(name, unknown);
        // The right key under a wrong section, or without one.
        let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
        let part = strsim::normalized_damerau_levenshtein(&last(name), &last(unknown));
        whole.max(0.9 * part)
    };
    let best =
        keys().map(|key| (similarity(key.name), key.name)).max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(similarity, _)| *similarity >= LEAST_SIMILARITY).map(|(_, name)| name)
}

impl Kind {
    /// Checks a value that was written with its type, as in a file.
    pub(super) fn check(self, value: Value) -> Result<Value, Mismatch> {
        if self.accepts(&value.kind) {
            Ok(value)
        } else {
            Err(Mismatch { found: self.show(&value.kind), allowed: self.allowed() })
        }
    }

    /// Reads a value that was written as text, as in a variable.
    pub(super) fn parse(self, text: &str) -> Result<Value, Mismatch> {
        let text = text.trim();
        let kind = match self {
            Self::Switch => bool::from_str(text).map(ValueKind::Boolean).ok(),
            Self::Number { .. } => i64::from_str(text).map(ValueKind::I64).ok(),
            Self::Words(_)
            | Self::AnyWords(_)
            | Self::Names
            | Self::Logins
            | Self::Files
            | Self::Addresses
            | Self::Clocks
            | Self::WeightedClocks
            | Self::Tournaments
            | Self::Teams => {
                let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
                Some(ValueKind::Array(items.map(Value::from).collect()))
            }
            _ => Some(ValueKind::String(text.to_owned())),
        };
        let as_written = || Mismatch {
            found: self.show(&ValueKind::String(text.to_owned())),
            allowed: self.allowed(),
        };
        self.check(Value::new(None, kind.ok_or_else(as_written)?))
    }

    fn accepts(self, value: &ValueKind) -> bool {
        match (self, value) {
            (Self::Switch, ValueKind::Boolean(_))
            | (Self::Text | Self::Secret, ValueKind::String(_)) => true,
            (Self::Number { min, max }, ValueKind::I64(number)) => (min..=max).contains(number),
            (Self::Chat, ValueKind::String(text)) => Template::from_str(text).is_ok(),
            (Self::Url, ValueKind::String(text)) => is_url(text),
            (Self::Filter, ValueKind::String(text)) => is_filter(text),
            (Self::Login, ValueKind::String(text)) => sections::is_login(text),
            (Self::Listen, ValueKind::String(text)) => sections::is_listen(text),
            (Self::Logins, ValueKind::Array(items)) => all_are(items, sections::is_login),
            (Self::Seek, ValueKind::String(text)) => sections::is_seek(text),
            (Self::Word(words), ValueKind::String(text)) => words.contains(&text.as_str()),
            (Self::Words(_), ValueKind::Array(items)) if items.is_empty() => false,
            (Self::Words(words) | Self::AnyWords(words), ValueKind::Array(items)) => {
                let is_one = |item: &Value| matches!(&item.kind, ValueKind::String(text) if words.contains(&text.as_str()));
                items.iter().all(is_one)
            }
            (Self::Addresses, ValueKind::Array(items)) => all_are(items, list::is_address),
            (Self::Clocks, ValueKind::Array(items)) => all_are(items, sections::is_clock),
            (Self::WeightedClocks, ValueKind::Array(items)) => {
                !items.is_empty() && all_are(items, sections::is_weighted_clock)
            }
            (Self::Tournaments, ValueKind::Array(items)) => {
                all_are(items, |text| text.trim().parse::<TournamentId>().is_ok())
            }
            (Self::Teams, ValueKind::Array(items)) => all_are(items, sections::is_team),
            (Self::Names | Self::Files, ValueKind::Array(items)) => {
                items.iter().all(|item| matches!(&item.kind, ValueKind::String(_)))
            }
            _ => false,
        }
    }

    /// What the key takes, after "must be".
    pub(super) fn allowed(self) -> String {
        match self {
            Self::Switch => "true or false".to_owned(),
            Self::Number { min, max } => format!("a whole number from {min} to {max}"),
            Self::Text | Self::Secret => "a text".to_owned(),
            Self::Chat => format!(
                "one line of at most {MAX_CHAT_CHARS} characters, where {{opponent}}, {{me}}, \
                 {{engine}} and {{version}} are filled in and each name counts for 30"
            ),
            Self::Url => {
                "an address like https://lichess.org; http is only for a server on this machine, \
                 since the token would travel in clear text"
                    .to_owned()
            }
            Self::Filter => "directives like meitner::platform=debug,hyper=info".to_owned(),
            Self::Word(words) => format!("one of {}", words.join(", ")),
            Self::Words(words) => format!("a list of at least one of {}", words.join(", ")),
            Self::AnyWords(words) => format!("a list of some of {}", words.join(", ")),
            Self::Names => "a list of names".to_owned(),
            Self::Files => "a list of files".to_owned(),
            Self::Addresses => {
                "a list of addresses like https://example.com/names.txt; http is only for this \
                 machine"
                    .to_owned()
            }
            Self::Login => "guest, or a name of 3 to 17 letters".to_owned(),
            Self::Listen => "an address and a port like 127.0.0.1:9464, or empty".to_owned(),
            Self::Logins => "a list of names of 3 to 17 letters".to_owned(),
            Self::Seek => {
                "minutes and seconds, and perhaps rated or unrated, like 3 0 unrated".to_owned()
            }
            Self::Clocks => "a list of clocks in minutes and seconds, like 3+2".to_owned(),
            Self::WeightedClocks => {
                "a list of at least one clock in minutes and seconds, like 3+2, or 3+2*5 to choose \
                 it five times as often, and perhaps rated, casual or both, and the least and \
                 greatest rating of the opponent, like 3+2*5 rated 1800-2400; or days for a \
                 move, which are never rated, like 2d"
                    .to_owned()
            }
            Self::Tournaments => {
                "a list of the last parts of tournaments' addresses, like hL7vMrFQ".to_owned()
            }
            Self::Teams => {
                "a list of the last parts of teams' addresses, like lichess-swiss".to_owned()
            }
        }
    }

    /// A value as it was written, unless it is secret or may be.
    fn show(self, value: &ValueKind) -> String {
        match value {
            _ if matches!(self, Self::Secret) => "a value that is not shown".to_owned(),
            ValueKind::Nil => "empty".to_owned(),
            ValueKind::Table(_) => "a table".to_owned(),
            ValueKind::Array(items) => {
                let items: Vec<String> = items.iter().map(|item| self.show(&item.kind)).collect();
                format!("[{}]", items.join(", "))
            }
            // Somebody may have put the token under the wrong key.
            ValueKind::String(text) if text.contains("lip_") => {
                "a token, which is not shown".to_owned()
            }
            ValueKind::String(text) => format!("{text:?}"),
            other => other.to_string(),
        }
    }
}

/// Whether all are texts of this kind.
fn all_are(items: &[Value], is_right: impl Fn(&str) -> bool) -> bool {
    let is_one =
        |item: &Value| matches!(&item.kind, ValueKind::String(text) if is_right(text.as_str()));
    items.iter().all(is_one)
}

fn is_url(text: &str) -> bool {
    reqwest::Url::parse(text).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.host_str().is_some()
            && url.username().is_empty()
            && url.password().is_none()
            && lichess::hides_token(&url)
    })
}

/// A directive without `=` would name a module and let all of it through, which nobody means.
fn is_filter(text: &str) -> bool {
    let is_directive = |part: &str| part.contains('=') && EnvFilter::try_new(part).is_ok();
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).all(is_directive)
}
