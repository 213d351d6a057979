//! File, environment and flags into one checked value, and from that each module's own options.
//!
//! Stands above the modules: each defines the plain struct that it needs, and only the commands
//! know this one. Nothing else reads the environment. `config/meitner.toml` lists all keys.

mod error;
mod layers;
mod reference;
mod schema;
mod secrets;
mod sections;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, de::DeserializeOwned};

use crate::{
    daemon,
    platform::{fics, lichess},
    settings::sections::Raw,
    web,
};

pub use error::{SettingsError, Source};
pub use layers::{Sources, USUAL_FILES};
pub use reference::{comment, reference};
pub use secrets::possible_secrets;

/// Everything that can be set, checked.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How to reach the server.
    pub lichess: lichess::Options,
    /// How the bot runs and plays.
    pub daemon: daemon::Options,
    /// What is shown over HTTP, and where.
    pub web: web::Options,
    /// What is logged, and how.
    pub log: LogOptions,
    token: TokenOptions,
    /// Without the password.
    fics: Option<fics::Options>,
    password: PasswordOptions,
    shown: BTreeMap<&'static str, Shown>,
}

/// A value and who has set it, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The value, as far as it may be seen.
    pub value: ShownValue,
    /// Who has set it.
    pub source: Source,
}

/// A value, as far as it may be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShownValue {
    /// The value as TOML has it.
    Toml(String),
    /// A secret.
    Hidden,
    /// A secret that is not set.
    Unset,
}

/// What is logged, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogOptions {
    /// Directives of `tracing-subscriber`.
    pub directives: String,
    /// How messages are written.
    pub format: LogFormat,
    /// The device and the inode of the stream that the journal of systemd reads, if it reads one.
    pub journal: Option<(u64, u64)>,
    /// The folder for files of the log, if there are to be any.
    pub folder: Option<PathBuf>,
    /// So many files are kept, one for each day.
    pub keep_days: usize,
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

/// Where the password for FICS is.
#[derive(Clone, Debug)]
struct PasswordOptions {
    password: SecretString,
    file: PathBuf,
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
        let password = PasswordOptions {
            password: raw.fics.password.clone(),
            file: raw.fics.password_file.clone(),
        };
        let fics = raw.fics();
        let daemon = raw.daemon(sources.state_home.as_deref())?;
        let shown = merged.shown();
        let (lichess, web, log) = (raw.lichess(), raw.web(), raw.log(sources.journal));
        Ok(Self { lichess, daemon, web, log, token, fics, password, shown })
    }

    /// The names of all keys, in the order of `config/meitner.toml`.
    pub fn keys() -> impl Iterator<Item = &'static str> {
        schema::keys().map(|key| key.name)
    }

    /// All keys with their values, in the order of `config/meitner.toml`.
    pub fn shown(&self) -> impl Iterator<Item = (&'static str, &Shown)> {
        Self::keys().filter_map(|key| Some((key, self.shown.get(key)?)))
    }

    /// The keys whose values differ from those of other settings, secrets left out.
    pub fn changed_keys(&self, other: &Self) -> Vec<&'static str> {
        let differs = |(key, shown): &(&&'static str, &Shown)| {
            other.shown.get(*key).is_none_or(|theirs| theirs.value != shown.value)
        };
        self.shown.iter().filter(differs).map(|(key, _)| *key).collect()
    }

    /// Whether a running bot takes up a new value of this key; others wait for a restart.
    pub fn is_taken_up(key: &str) -> bool {
        match key {
            "challenge.concurrency"
            | "challenge.correspondence_games"
            | "search.hash_mb"
            | "search.threads"
            | "search.cores" => false,
            "log.level" | "log.filter" => true,
            _ => ["challenge", "matchmaking", "tournament", "search", "game", "chat"]
                .contains(&key.split('.').next().unwrap_or_default()),
        }
    }

    /// All secrets that are set here or stand in the files that are named here, as far as those can
    /// be read: what must not be in anything that is given away.
    pub fn secrets(&self) -> Vec<SecretString> {
        let token_file = read_token(&self.token.file).ok();
        let password_file = read_password(&self.password.file).ok();
        let tournament = self.daemon.policy.tournament.password.as_ref();
        let set = [self.token.token.clone(), self.password.password.clone()].into_iter();
        let others = [token_file, password_file, tournament.map(|password| password.0.clone())];
        set.chain(others.into_iter().flatten()).filter(has_token).collect()
    }

    /// The file of the token, if one is named.
    pub fn token_file(&self) -> Option<&Path> {
        Some(self.token.file.as_path()).filter(|path| !path.as_os_str().is_empty())
    }

    /// The file of the password for FICS, if one is named.
    pub fn password_file(&self) -> Option<&Path> {
        Some(self.password.file.as_path()).filter(|path| !path.as_os_str().is_empty())
    }

    /// Whether there is a token, or a file of one is named.
    pub fn names_token(&self) -> bool {
        has_token(&self.token.token) || !self.token.file.as_os_str().is_empty()
    }

    /// How to reach the FICS server, with the password from wherever it is; `None` if nothing is to
    /// be played there.
    ///
    /// # Errors
    ///
    /// [`SettingsError`] if the password cannot be read, is missing, or is not wanted.
    pub fn fics(&self) -> Result<Option<fics::Options>, SettingsError> {
        let Some(options) = &self.fics else { return Ok(None) };
        let PasswordOptions { password, file } = &self.password;
        let has_file = !file.as_os_str().is_empty();
        let password = match (has_token(password), has_file) {
            (true, true) => return Err(SettingsError::TwoPasswords),
            (false, true) => read_password(file)?,
            (_, false) => password.clone(),
        };
        let is_guest = options.account.eq_ignore_ascii_case(fics::GUEST);
        match (is_guest, has_token(&password)) {
            (true, true) => Err(SettingsError::Password(
                "`fics.account` is guest, which has no password: name the account that it is for",
            )),
            (false, false) => Err(SettingsError::Password(
                "there is no password for `fics.account`: put it into a file and set \
                 `fics.password_file`, or set the variable MEITNER_FICS__PASSWORD",
            )),
            _ => Ok(Some(fics::Options { password, ..options.clone() })),
        }
    }

    /// The same as far as it is known without the password.
    pub fn fics_without_password(&self) -> Option<fics::Options> {
        self.fics.clone()
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

fn read_password(path: &Path) -> Result<SecretString, SettingsError> {
    let wrong = |cause: String| SettingsError::PasswordFile { path: path.to_owned(), cause };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    match text.trim_end_matches(['\r', '\n']) {
        "" => Err(wrong("it is empty".to_owned())),
        password => Ok(password.to_owned().into()),
    }
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
