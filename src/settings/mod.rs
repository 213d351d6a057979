//! File, environment and flags into one checked value, and from that each module's own options.
//!
//! Stands above the modules: each defines the plain struct that it needs, and only the commands
//! know this one. Nothing else reads the environment. `config/meitner.toml` lists all keys.

mod error;
mod layers;
mod schema;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, de::DeserializeOwned};

use crate::{
    daemon::{self, ShutdownOptions, Unfinished, policy::PolicyOptions},
    game::{self, ChatOptions, DrawOptions, ResignOptions},
    platform::{Speed, lichess},
    search,
};

pub use error::{SettingsError, Source};
pub use layers::Sources;

/// Everything that can be set, checked.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How to reach the server.
    pub lichess: lichess::Options,
    /// How the bot runs and plays.
    pub daemon: daemon::Options,
    /// What is logged, and how.
    pub log: LogOptions,
    token: TokenOptions,
}

/// What is logged, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogOptions {
    /// Directives of `tracing-subscriber`.
    pub directives: String,
    /// How messages are written.
    pub format: LogFormat,
}

/// How messages are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Human,
    /// One JSON object in a line.
    Json,
}

/// Where the token is.
#[derive(Clone, Debug)]
struct TokenOptions {
    token: SecretString,
    token_source: Source,
    file: PathBuf,
    file_source: Source,
}

impl Settings {
    /// Reads all sources, checks each value, and puts them together.
    ///
    /// # Errors
    ///
    /// [`SettingsError`], one sentence for the operator.
    ///
    /// # Panics
    ///
    /// Never: every key has a default, and every value has been checked before it is converted.
    pub fn load(sources: &Sources) -> Result<Self, SettingsError> {
        let merged = layers::Merged::load(sources)?;
        let raw: Raw = merged
            .to_config()
            .and_then(config::Config::try_deserialize)
            .expect("every key has a default and every value has been checked");
        raw.check(|key| merged.source(key))?;
        let token = TokenOptions {
            token: raw.lichess.token.clone(),
            token_source: merged.source("lichess.token"),
            file: raw.lichess.token_file.clone(),
            file_source: merged.source("lichess.token_file"),
        };
        Ok(Self { lichess: raw.lichess(), daemon: raw.daemon(), log: raw.log(), token })
    }

    /// The token, from wherever it is.
    ///
    /// # Errors
    ///
    /// [`SettingsError`] if there is none, its file cannot be read, or there are two.
    pub fn token(&self) -> Result<SecretString, SettingsError> {
        let TokenOptions { token, token_source, file, file_source } = &self.token;
        let has_file = !file.as_os_str().is_empty();
        match (has_token(token), has_file) {
            (false, false) => Err(SettingsError::NoToken),
            (true, false) => Ok(token.clone()),
            (false, true) => read_token(file),
            (true, true) => {
                let from_file = read_token(file)?;
                if from_file.expose_secret() == token.expose_secret() {
                    Ok(from_file)
                } else {
                    Err(SettingsError::two_tokens(token_source, file_source))
                }
            }
        }
    }
}

/// Reads a file of another module's options, such as the arena's.
///
/// # Errors
///
/// [`SettingsError`] if the file cannot be read or does not hold such options.
pub fn read_options<T: DeserializeOwned>(path: &Path) -> Result<T, SettingsError> {
    parse_options(&layers::read(path)?, path)
}

/// The same for a text; `path` is for errors only.
///
/// # Errors
///
/// [`SettingsError`] if the text does not hold such options.
pub fn parse_options<T: DeserializeOwned>(text: &str, path: &Path) -> Result<T, SettingsError> {
    let file = config::File::from_str(text, config::FileFormat::Toml);
    let config = config::Config::builder().add_source(file).build();
    config.and_then(config::Config::try_deserialize).map_err(|error| SettingsError::Syntax {
        path: path.to_owned(),
        message: layers::presentable(&error, text),
    })
}

fn has_token(token: &SecretString) -> bool {
    !token.expose_secret().is_empty()
}

fn read_token(path: &Path) -> Result<SecretString, SettingsError> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        SettingsError::UnreadableTokenFile { path: path.to_owned(), cause: error.to_string() }
    })?;
    match text.trim() {
        "" => Err(SettingsError::EmptyTokenFile { path: path.to_owned() }),
        token => Ok(token.to_owned().into()),
    }
}

/// The keys as the file has them. `schema` has checked every value by then.
#[derive(Deserialize)]
struct Raw {
    lichess: RawLichess,
    challenge: RawChallenge,
    search: RawSearch,
    game: RawGame,
    shutdown: RawShutdown,
    log: RawLog,
}

#[derive(Deserialize)]
struct RawLichess {
    url: String,
    token: SecretString,
    token_file: PathBuf,
    connect_timeout_ms: u64,
    request_timeout_ms: u64,
    move_timeout_ms: u64,
    stream_silence_ms: u64,
}

#[derive(Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own for the operator")]
struct RawChallenge {
    concurrency: usize,
    speeds: Vec<Speed>,
    rated: bool,
    casual: bool,
    bots: bool,
    humans: bool,
    min_initial_s: u32,
    max_initial_s: u32,
    min_increment_s: u32,
    max_increment_s: u32,
    block: Vec<String>,
}

#[derive(Deserialize)]
struct RawSearch {
    hash_mb: usize,
    threads: usize,
    nodes: u64,
    move_overhead_ms: u64,
    first_move_ms: u64,
    untimed_move_ms: u64,
}

#[derive(Deserialize)]
struct RawGame {
    first_move_patience_s: u64,
    greeting: String,
    goodbye: String,
    draw_accept: bool,
    draw_accept_at_most_cp: i32,
    draw_offer: bool,
    draw_offer_within_cp: i32,
    draw_offer_after_moves: u32,
    draw_from_ply: usize,
    resign: bool,
    resign_below_cp: i32,
    resign_after_moves: u32,
}

#[derive(Deserialize)]
struct RawShutdown {
    finish_limit_s: u64,
    unfinished: Unfinished,
}

#[derive(Deserialize)]
struct RawLog {
    level: String,
    filter: String,
    format: LogFormat,
    summary_interval_s: u64,
}

impl Raw {
    /// Checks what no key can tell alone. `source` knows who has set a key.
    fn check(&self, source: impl Fn(&str) -> Source) -> Result<(), SettingsError> {
        let bad = |key, found: &dyn std::fmt::Display, allowed: String| {
            let found = found.to_string();
            Err(SettingsError::BadValue { source_of: source(key), key, found, allowed })
        };
        let RawChallenge { min_initial_s, max_initial_s, .. } = self.challenge;
        if min_initial_s > max_initial_s {
            let allowed = format!("at most `challenge.max_initial_s`, which is {max_initial_s}");
            return bad("challenge.min_initial_s", &min_initial_s, allowed);
        }
        let RawChallenge { min_increment_s, max_increment_s, .. } = self.challenge;
        if min_increment_s > max_increment_s {
            let allowed =
                format!("at most `challenge.max_increment_s`, which is {max_increment_s}");
            return bad("challenge.min_increment_s", &min_increment_s, allowed);
        }
        let RawChallenge { rated, casual, bots, humans, .. } = self.challenge;
        if !rated && !casual {
            let allowed = "true if `challenge.rated` is false".to_owned();
            return bad("challenge.casual", &casual, allowed);
        }
        if !bots && !humans {
            let allowed = "true if `challenge.bots` is false".to_owned();
            return bad("challenge.humans", &humans, allowed);
        }
        Ok(())
    }

    fn lichess(&self) -> lichess::Options {
        let raw = &self.lichess;
        lichess::Options {
            base_url: raw.url.clone(),
            connect_timeout: Duration::from_millis(raw.connect_timeout_ms),
            request_timeout: Duration::from_millis(raw.request_timeout_ms),
            move_timeout: Duration::from_millis(raw.move_timeout_ms),
            stream_silence: Duration::from_millis(raw.stream_silence_ms),
        }
    }

    fn daemon(&self) -> daemon::Options {
        let raw = &self.search;
        daemon::Options {
            concurrency: self.challenge.concurrency,
            policy: self.policy(),
            game: self.game(),
            engine: search::Options { hash_mb: raw.hash_mb, threads: raw.threads },
            shutdown: ShutdownOptions {
                finish_limit: Duration::from_secs(self.shutdown.finish_limit_s),
                unfinished: self.shutdown.unfinished,
            },
            summary_interval: Duration::from_secs(self.log.summary_interval_s),
        }
    }

    fn policy(&self) -> PolicyOptions {
        let raw = &self.challenge;
        PolicyOptions {
            speeds: raw.speeds.clone(),
            rated: raw.rated,
            casual: raw.casual,
            bots: raw.bots,
            humans: raw.humans,
            min_initial_s: raw.min_initial_s,
            max_initial_s: raw.max_initial_s,
            min_increment_s: raw.min_increment_s,
            max_increment_s: raw.max_increment_s,
            block: raw.block.clone(),
        }
    }

    fn game(&self) -> game::Options {
        let (raw, search) = (&self.game, &self.search);
        game::Options {
            nodes: Some(search.nodes).filter(|&nodes| nodes > 0),
            move_overhead: Duration::from_millis(search.move_overhead_ms),
            first_move_time: Duration::from_millis(search.first_move_ms),
            untimed_move_time: Duration::from_millis(search.untimed_move_ms),
            abort_patience: Duration::from_secs(raw.first_move_patience_s),
            chat: ChatOptions { greeting: raw.greeting.clone(), goodbye: raw.goodbye.clone() },
            draw: DrawOptions {
                accept: raw.draw_accept,
                accept_at_most_cp: raw.draw_accept_at_most_cp,
                offer: raw.draw_offer,
                offer_within_cp: raw.draw_offer_within_cp,
                offer_after_moves: raw.draw_offer_after_moves,
                from_ply: raw.draw_from_ply,
            },
            resign: ResignOptions {
                enabled: raw.resign,
                below_cp: raw.resign_below_cp,
                after_moves: raw.resign_after_moves,
            },
        }
    }

    fn log(&self) -> LogOptions {
        let RawLog { level, filter, format, .. } = &self.log;
        let others = match level.as_str() {
            "off" | "error" => level.as_str(),
            // The libraries below have much to say that no operator asked for.
            _ => "warn",
        };
        let mut directives = format!("{others},meitner={level}");
        for directive in filter.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            directives.push(',');
            directives.push_str(directive);
        }
        LogOptions { directives, format: *format }
    }
}
