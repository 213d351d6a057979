//! The exit codes, and the errors that they stand for.

use std::io;

use crate::{
    cli::configure::AccountError,
    daemon::DaemonError,
    platform::{
        fics::{LinkError, Retry},
        lichess::{ClientError, StartError},
    },
    settings::SettingsError,
};

/// Anything that has no code of its own.
pub(super) const FAILURE: u8 = 1;
/// The settings or arguments are wrong.
pub(super) const SETTINGS: u8 = 2;
/// The server does not know the token (401), or refuses a login for good.
pub(super) const LOGIN: u8 = 3;
/// The token lacks a scope (403).
pub(super) const SCOPE: u8 = 4;
/// The account is no bot account.
pub(super) const ACCOUNT: u8 = 5;
/// After a signal, games that ran were left: resigned, aborted, or for the next start.
pub(super) const UNFINISHED: u8 = 6;

/// The code for an error, by its causes.
pub(super) fn code(error: &anyhow::Error) -> u8 {
    error.chain().find_map(code_of_cause).unwrap_or(FAILURE)
}

fn code_of_cause(cause: &(dyn std::error::Error + 'static)) -> Option<u8> {
    if cause.is::<SettingsError>() {
        return Some(SETTINGS);
    }
    if let Some(error) = cause.downcast_ref::<ClientError>() {
        return Some(match error {
            ClientError::BaseUrl(_) | ClientError::ClearText(_) | ClientError::Token => SETTINGS,
            ClientError::Tls(_) => FAILURE,
        });
    }
    if let Some(error) = cause.downcast_ref::<LinkError>() {
        return (error.retry() == Retry::Never).then_some(LOGIN);
    }
    if cause.is::<AccountError>() {
        return Some(ACCOUNT);
    }
    let start = cause.downcast_ref::<StartError>();
    match start.or_else(|| cause.downcast_ref::<DaemonError>()?.start())? {
        StartError::WrongToken => Some(LOGIN),
        StartError::MissingScope(_) => Some(SCOPE),
        StartError::NotABot(_) => Some(ACCOUNT),
        StartError::Unreachable(_) => None,
    }
}

/// Whether the reader of our output has gone.
pub(super) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let error = cause.downcast_ref::<io::Error>();
        error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;

    use super::*;

    #[test]
    fn each_error_has_its_code() {
        let pipe = || io::Error::from(io::ErrorKind::BrokenPipe);
        for (error, expected) in [
            (anyhow::Error::new(SettingsError::NoToken), SETTINGS),
            (anyhow::Error::new(ClientError::Token), SETTINGS),
            (anyhow::Error::new(ClientError::Tls("x".into())), FAILURE),
            (anyhow::Error::new(DaemonError::from(StartError::WrongToken)), LOGIN),
            (anyhow::Error::new(DaemonError::from(StartError::MissingScope("x".into()))), SCOPE),
            (anyhow::Error::new(DaemonError::from(StartError::NotABot("x".into()))), ACCOUNT),
            (anyhow::Error::new(StartError::WrongToken), LOGIN),
            (anyhow::Error::new(AccountError::Refused("x".into(), "y".into())), ACCOUNT),
            (anyhow::Error::new(DaemonError::EventStream("x".into())), FAILURE),
            (anyhow::Error::new(LinkError::Password("x".into())), LOGIN),
            (anyhow::Error::new(LinkError::Closed), FAILURE),
            (anyhow::Error::new(pipe()), FAILURE),
        ] {
            assert_eq!(code(&error), expected, "{error}");
            let wrapped = Err::<(), _>(error).context("while starting").unwrap_err();
            assert_eq!(code(&wrapped), expected, "{wrapped:#}");
        }
        assert!(is_broken_pipe(&anyhow::Error::new(pipe()).context("writing")));
        assert!(!is_broken_pipe(&anyhow::Error::new(SettingsError::NoToken)));
    }
}
