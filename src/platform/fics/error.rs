//! Why a connection to a FICS server fails or ends, and what to do about it.

use std::time::Duration;

use crate::platform::fics::{line::Refusal, wire::LineTooLongError};

/// How long to stay away where the server asked us to.
const LONG: Duration = Duration::from_mins(10);

/// Why there is no session, or no more.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// Nobody is there.
    #[error("{address} cannot be reached: {cause}")]
    Unreachable {
        /// Host and port.
        address: String,
        /// What the system says.
        cause: String,
    },
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Broken(String),
    /// The server closed it without a word that we know.
    #[error("the server closed the connection")]
    Closed,
    /// Nothing came although we asked.
    #[error("the server has not answered for {} s", .0.as_secs())]
    Silent(Duration),
    /// A line without an end.
    #[error(transparent)]
    LineTooLong(#[from] LineTooLongError),
    /// The login did not come to its end.
    #[error("the login took more than {} s", .0.as_secs())]
    SlowLogin(Duration),
    /// The password is wrong.
    #[error(
        "the server refuses the password of {0}; set the right one as fics.password or in fics.password_file"
    )]
    Password(String),
    /// There is an account, but we have no password.
    #[error("{0} is a registered name; set its password as fics.password or in fics.password_file")]
    PasswordNeeded(String),
    /// There is no such account.
    #[error("the server knows no account {0}; register it, or set fics.account to \"guest\"")]
    UnknownAccount(String),
    /// The name cannot be one.
    #[error("the server takes {0:?} for no name; a name has 3 to 17 letters and nothing else")]
    Name(String),
    /// Somebody is logged in under the name of a guest.
    #[error(
        "somebody is already logged in as {0}; set fics.account to \"guest\" or to another name"
    )]
    NameTaken(String),
    /// No guests.
    #[error("the server lets no guests in at the moment")]
    Guests,
    /// Banned.
    #[error("the server has banned this account or this address; ask its administrators")]
    Banned,
    /// Too many players.
    #[error("the server is full")]
    Full,
    /// The server is going down.
    #[error("the server is shutting down")]
    ShutDown,
    /// We were idle.
    #[error("the server logged us out for being idle")]
    Idle,
    /// Another program or person uses the account.
    #[error(
        "somebody else has logged in as this account; if that is another bot, stop one of the two, which would throw each other out for ever"
    )]
    Replaced,
    /// The same, again and again.
    #[error(
        "somebody else has logged in as this account again and again; stop the other program, or give this one an account of its own"
    )]
    ReplacedAgain,
}

/// What to do after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Give up.
    Never,
    /// Log in again after a growing wait.
    Soon,
    /// Log in again, but not before so long.
    After(Duration),
    /// Log in again, but not before the time for which we stay away from an account that others use.
    Later,
}

impl LinkError {
    /// The failure of a refusal during the login, or after it.
    pub fn of(refusal: Refusal, account: &str) -> Self {
        let account = account.to_owned();
        match refusal {
            Refusal::Password => Self::Password(account),
            Refusal::Name => Self::Name(account),
            Refusal::NameTaken => Self::NameTaken(account),
            Refusal::Guests => Self::Guests,
            Refusal::Banned => Self::Banned,
            Refusal::Full => Self::Full,
            Refusal::Timeout => Self::Closed,
            Refusal::Replaced => Self::Replaced,
            Refusal::Idle => Self::Idle,
            Refusal::ShutDown => Self::ShutDown,
        }
    }

    /// What to do.
    pub fn retry(&self) -> Retry {
        match self {
            Self::Password(_)
            | Self::PasswordNeeded(_)
            | Self::UnknownAccount(_)
            | Self::Name(_)
            | Self::NameTaken(_)
            | Self::Banned
            | Self::ReplacedAgain => Retry::Never,
            Self::Replaced => Retry::Later,
            Self::Guests | Self::ShutDown => Retry::After(LONG),
            Self::Full => Retry::After(Duration::from_mins(1)),
            Self::Unreachable { .. }
            | Self::Broken(_)
            | Self::Closed
            | Self::Silent(_)
            | Self::LineTooLong(_)
            | Self::SlowLogin(_)
            | Self::Idle => Retry::Soon,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_has_a_sentence_and_a_behavior() {
        let after = |minutes| Retry::After(Duration::from_mins(minutes));
        let mut sentences = std::collections::HashSet::new();
        for (refusal, retry) in [
            (Refusal::Password, Retry::Never),
            (Refusal::Name, Retry::Never),
            (Refusal::NameTaken, Retry::Never),
            (Refusal::Guests, after(10)),
            (Refusal::Banned, Retry::Never),
            (Refusal::Full, after(1)),
            (Refusal::Timeout, Retry::Soon),
            (Refusal::Replaced, Retry::Later),
            (Refusal::Idle, Retry::Soon),
            (Refusal::ShutDown, after(10)),
        ] {
            let error = LinkError::of(refusal, "AtomBot");
            assert_eq!(error.retry(), retry, "{refusal:?}");
            assert!(sentences.insert(error.to_string()), "{error}");
        }
    }
}
