//! What can go wrong with a request, in the terms that the caller decides by: the status, and
//! whether it may have been carried out. Never the server's sentence, which is for people.

use std::{error::Error, fmt::Write as _, time::Duration};

use crate::{metrics::RequestOutcome, platform::backoff::RATE_LIMIT_WAIT};

/// A request that did not succeed. Holds neither the token nor a raw body.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApiError {
    /// The server could not be reached: the request was certainly not carried out.
    #[error("cannot reach the server: {0}")]
    Unreachable(String),
    /// The connection broke or the time ran out: the request **may have been carried out**.
    #[error("no answer from the server: {0}")]
    NoAnswer(String),
    /// Too many requests (429): not carried out.
    #[error("too many requests: {message}")]
    RateLimited {
        /// The server's sentence, shortened.
        message: String,
        /// Which limit, if the server says.
        limit: Option<RateLimit>,
        /// The wait that the server states by header.
        retry_after: Option<Duration>,
    },
    /// The server refused (any other 4xx, or a redirection): not carried out, but for a 408, with
    /// which a front end gives up waiting.
    #[error("refused with status {status}: {message}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The server's sentence, shortened.
        message: String,
        /// A limit that was the reason, if the server says.
        limit: Option<RateLimit>,
    },
    /// The server failed (5xx): the request **may have been carried out**.
    #[error("the server failed with status {status}")]
    Server {
        /// The HTTP status.
        status: u16,
        /// The wait that the server states by header.
        retry_after: Option<Duration>,
    },
    /// The server accepted, but its answer makes no sense to us.
    #[error("cannot read the answer: {0}")]
    Malformed(String),
}

/// A limit of the server's, as it describes it in a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// Its name, such as `bot.vsBot.day`.
    pub key: String,
    /// How long it holds.
    pub wait: Duration,
}

/// Whether and when to try a request again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// The answer would be the same.
    Never,
    /// After so long, which the server stated or its rules demand.
    After(Duration),
    /// After a backoff, on a new connection.
    Reconnect,
}

/// A front end waited too long for the server behind it, or for us.
const REQUEST_TIMEOUT: u16 = 408;

impl ApiError {
    /// Whether the request may have been carried out all the same.
    pub fn may_have_worked(&self) -> bool {
        match self {
            Self::NoAnswer(_) | Self::Server { .. } | Self::Malformed(_) => true,
            Self::Refused { status, .. } => *status == REQUEST_TIMEOUT,
            Self::Unreachable(_) | Self::RateLimited { .. } => false,
        }
    }

    /// Whether and when to try again, for anything but moves.
    pub fn retry(&self) -> Retry {
        match self {
            Self::RateLimited { .. } => Retry::After(self.stated_wait().unwrap_or(RATE_LIMIT_WAIT)),
            Self::Server { retry_after: Some(wait), .. } => Retry::After(*wait),
            Self::Unreachable(_)
            | Self::NoAnswer(_)
            | Self::Server { retry_after: None, .. }
            | Self::Refused { status: REQUEST_TIMEOUT, .. } => Retry::Reconnect,
            Self::Refused { .. } | Self::Malformed(_) => Retry::Never,
        }
    }

    /// The wait that the server states, in the body or by header.
    pub fn stated_wait(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { limit, retry_after, .. } => {
                limit.as_ref().map(|limit| limit.wait).or(*retry_after)
            }
            Self::Server { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// The limit that was the reason, if the server says.
    pub fn limit(&self) -> Option<&RateLimit> {
        match self {
            Self::RateLimited { limit, .. } | Self::Refused { limit, .. } => limit.as_ref(),
            _ => None,
        }
    }

    /// What it is counted as.
    pub(super) fn outcome(&self) -> RequestOutcome {
        match self {
            Self::Unreachable(_) => RequestOutcome::Unreachable,
            Self::NoAnswer(_) => RequestOutcome::NoAnswer,
            Self::RateLimited { .. } => RequestOutcome::RateLimited,
            Self::Refused { .. } => RequestOutcome::Refused,
            Self::Server { .. } => RequestOutcome::ServerError,
            // It was carried out.
            Self::Malformed(_) => RequestOutcome::Ok,
        }
    }

    /// The HTTP status, if there was an answer.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::RateLimited { .. } => Some(429),
            Self::Refused { status, .. } | Self::Server { status, .. } => Some(*status),
            Self::Unreachable(_) | Self::NoAnswer(_) | Self::Malformed(_) => None,
        }
    }
}

impl From<reqwest::Error> for ApiError {
    fn from(error: reqwest::Error) -> Self {
        let is_unsent = error.is_connect() || error.is_builder();
        let text = causes(&error.without_url());
        if is_unsent { Self::Unreachable(text) } else { Self::NoAnswer(text) }
    }
}

/// An error with its causes on one line. Those of an HTTP client are told apart only by the last.
pub(in crate::platform) fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        // Writing to a string does not fail.
        let _ = write!(text, ": {cause}");
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    fn limited(limit_s: Option<u64>, retry_after_s: Option<u64>) -> ApiError {
        ApiError::RateLimited {
            message: String::new(),
            limit: limit_s.map(|s| RateLimit { key: "k".into(), wait: Duration::from_secs(s) }),
            retry_after: retry_after_s.map(Duration::from_secs),
        }
    }

    #[test]
    fn a_rate_limit_waits_as_stated_or_a_minute() {
        assert_eq!(limited(None, None).retry(), Retry::After(MINUTE));
        assert_eq!(limited(Some(5), Some(9)).retry(), Retry::After(Duration::from_secs(5)));
        assert_eq!(limited(None, Some(9)).retry(), Retry::After(Duration::from_secs(9)));
    }

    #[test]
    fn a_refusal_is_final_and_a_failure_is_not() {
        let refused = ApiError::Refused { status: 400, message: String::new(), limit: None };
        assert_eq!(refused.retry(), Retry::Never);
        let failed = ApiError::Server { status: 502, retry_after: None };
        assert_eq!(failed.retry(), Retry::Reconnect);
        assert_eq!(ApiError::NoAnswer("reset".into()).retry(), Retry::Reconnect);
    }

    #[test]
    fn only_what_reached_the_server_may_have_worked() {
        let refused = |status| ApiError::Refused { status, message: String::new(), limit: None };
        assert!(ApiError::NoAnswer("reset".into()).may_have_worked());
        assert!(ApiError::Server { status: 502, retry_after: None }.may_have_worked());
        assert!(refused(408).may_have_worked());
        assert_eq!(refused(408).retry(), Retry::Reconnect);
        assert!(!refused(404).may_have_worked());
        assert!(!limited(None, None).may_have_worked());
        assert!(!ApiError::Unreachable("refused".into()).may_have_worked());
    }
}
