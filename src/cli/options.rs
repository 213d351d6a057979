//! The arguments that several commands share.

use std::{path::PathBuf, str::FromStr, time::Duration};

use clap::Args;
use secrecy::SecretString;

use crate::settings::{self, Settings, SettingsError, Sources};

/// Where settings come from.
#[derive(Clone, Debug, Args)]
pub(super) struct SettingsArgs {
    /// File of settings; without it `meitner.toml` is read, or else `config/meitner.toml`, if there
    /// is one
    #[arg(long, value_name = "PATH")]
    config: Option<PathBuf>,
    /// One setting, as in search.threads=2; wins over file and environment, can be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl SettingsArgs {
    /// Reads and checks the settings.
    pub(super) fn load(&self) -> Result<Settings, SettingsError> {
        Settings::load(&Sources::of_process(self.config.clone(), self.set.clone())?)
    }

    /// All that may be secret in them, even if they are wrong.
    pub(super) fn possible_secrets(&self) -> Vec<SecretString> {
        settings::possible_secrets(self.config.as_deref(), &self.set)
    }
}

/// A clock such as `60+0.6`: seconds for the game, and for each move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimeControl {
    pub(super) initial: Duration,
    pub(super) increment: Duration,
}

/// A text that is no clock, or one that no bot may play with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ParseTimeControlError {
    #[error("needs seconds for the game and for each move, as in 60+0.6")]
    Form,
    #[error(
        "this is closed to bots: the time for the game and 40 increments must be at least 30 s"
    )]
    TooFast,
    #[error("the time for the game can be 10800 s at most, the increment 180 s")]
    TooLong,
}

/// Games that are estimated to last less are ultrabullet, which servers close to bots.
const SHORTEST_GAME: Duration = Duration::from_secs(30);
const LONGEST_INITIAL: Duration = Duration::from_hours(3);
const LONGEST_INCREMENT: Duration = Duration::from_mins(3);

impl FromStr for TimeControl {
    type Err = ParseTimeControlError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let seconds = |text: &str| {
            let number: f64 = text.trim().parse().ok()?;
            Duration::try_from_secs_f64(number).ok()
        };
        let (initial, increment) = text.split_once('+').unwrap_or((text, "0"));
        let (initial, increment) =
            seconds(initial).zip(seconds(increment)).ok_or(ParseTimeControlError::Form)?;
        if initial > LONGEST_INITIAL || increment > LONGEST_INCREMENT {
            Err(ParseTimeControlError::TooLong)
        } else if initial + 40 * increment < SHORTEST_GAME {
            Err(ParseTimeControlError::TooFast)
        } else {
            Ok(Self { initial, increment })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_read() {
        let clock = |initial, increment| {
            Ok(TimeControl {
                initial: Duration::from_millis(initial),
                increment: Duration::from_millis(increment),
            })
        };
        for (text, expected) in [
            ("60+0.6", clock(60_000, 600)),
            ("180", clock(180_000, 0)),
            ("0+1", clock(0, 1_000)),
            ("10+0", Err(ParseTimeControlError::TooFast)),
            ("20000+0", Err(ParseTimeControlError::TooLong)),
            ("60+", Err(ParseTimeControlError::Form)),
            ("-60+1", Err(ParseTimeControlError::Form)),
            ("fast", Err(ParseTimeControlError::Form)),
            ("nan+1", Err(ParseTimeControlError::Form)),
            ("1e300", Err(ParseTimeControlError::Form)),
        ] {
            assert_eq!(text.parse(), expected, "{text}");
        }
    }
}
