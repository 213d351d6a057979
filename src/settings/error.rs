//! What can be wrong with settings, each as one sentence for the operator.

use std::{fmt, path::PathBuf};

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The text that is built in.
    Defaults,
    /// A file.
    File(PathBuf),
    /// The environment.
    Environment,
    /// The command line.
    Flag,
}

impl Source {
    /// The place of a key, as the operator finds it.
    pub fn place(&self, key: &str) -> String {
        match self {
            Self::Defaults => "the built-in defaults".to_owned(),
            Self::File(path) => path.display().to_string(),
            Self::Environment => variable(key),
            Self::Flag => format!("--set {key}"),
        }
    }
}

/// The environment variable for a key.
pub(super) fn variable(key: &str) -> String {
    format!("{}{}", super::layers::PREFIX, key.replace('.', "__").to_uppercase())
}

/// Why there are no settings to run with. Never quotes the token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// A file cannot be read.
    #[error("{}: cannot be read: {cause}", path.display())]
    Unreadable {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        cause: String,
    },
    /// A file is not TOML.
    #[error("{}: {message}", path.display())]
    Syntax {
        /// Which one.
        path: PathBuf,
        /// Where and why.
        message: String,
    },
    /// A key that does not exist.
    #[error("{}: there is no key `{key}`{}", source_of.place(key), Hint(nearest.as_deref()))]
    UnknownKey {
        /// Who names it.
        source_of: Source,
        /// The key.
        key: String,
        /// The key that was probably meant.
        nearest: Option<&'static str>,
    },
    /// A value that a key cannot have.
    #[error("{}: `{key}` is {found}, but must be {allowed}", source_of.place(key))]
    BadValue {
        /// Who sets it.
        source_of: Source,
        /// The key.
        key: &'static str,
        /// What was found.
        found: String,
        /// What is allowed.
        allowed: String,
    },
    /// A variable whose value is no text.
    #[error("{variable}: the value is not valid UTF-8")]
    NotText {
        /// Which one.
        variable: String,
    },
    /// A flag that does not have the form `KEY=VALUE`.
    #[error("--set needs KEY=VALUE, as in --set search.threads=2")]
    BadFlag,
    /// The token, or the password, as a flag.
    #[error(
        "--set {0}: the {word} cannot be a flag, since every user of the machine could read it; \
         set the variable {variable} or `{0}_file`",
        word = .0.rsplit('.').next().unwrap_or_default(),
        variable = variable(.0)
    )]
    TokenAsFlag(&'static str),
    /// Another secret as a flag.
    #[error(
        "--set {0}: a secret cannot be a flag, since every user of the machine could read it; \
         set the variable {variable}",
        variable = variable(.0)
    )]
    SecretAsFlag(&'static str),
    /// A file of names of accounts.
    #[error("{}: the file that `{key}` names cannot be used: {cause}", path.display())]
    BadList {
        /// Which file.
        path: PathBuf,
        /// Who names it.
        key: &'static str,
        /// What is wrong with it.
        cause: String,
    },
    /// No token.
    #[error(
        "there is no token: put it into a file and set `lichess.token_file`, or set the variable \
         {variable}",
        variable = variable("lichess.token")
    )]
    NoToken,
    /// The file of the token holds none.
    #[error("{}: the file that `lichess.token_file` names is empty", path.display())]
    EmptyTokenFile {
        /// Which file.
        path: PathBuf,
    },
    /// The file of the token cannot be read.
    #[error("{}: the file that `lichess.token_file` names cannot be read: {cause}", path.display())]
    UnreadableTokenFile {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        cause: String,
    },
    /// The password for FICS is in a file that cannot be read, or is empty.
    #[error("{}: the file that `fics.password_file` names cannot be used: {cause}", path.display())]
    PasswordFile {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
    /// The password for FICS is given twice.
    #[error("`fics.password` and `fics.password_file` are both set; set only one of them")]
    TwoPasswords,
    /// An account without a password, or a guest with one.
    #[error("{0}")]
    Password(&'static str),
    /// Two tokens.
    #[error(
        "`lichess.token` (from {token}) and `lichess.token_file` (from {token_file}) hold \
         different tokens; set only one of them"
    )]
    TwoTokens {
        /// Who sets the token.
        token: String,
        /// Who sets the file.
        token_file: String,
    },
}

impl SettingsError {
    pub(super) fn two_tokens(token: &Source, token_file: &Source) -> Self {
        Self::TwoTokens {
            token: token.place("lichess.token"),
            token_file: token_file.place("lichess.token_file"),
        }
    }
}

/// The end of a sentence about an unknown key.
struct Hint<'a>(Option<&'a str>);

impl fmt::Display for Hint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(nearest) => write!(f, "; did you mean `{nearest}`?"),
            None => write!(f, "; config/meitner.toml lists them all"),
        }
    }
}
