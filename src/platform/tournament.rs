//! Tournaments in which players are paired again and again, as far as a server tells of them.

use std::{fmt, str::FromStr, sync::Arc, time::Duration};

use crate::platform::ChallengeClock;

/// Longer than the ids of any server we know (lichess: 8).
const MAX_ID_LENGTH: usize = 32;

/// What a server calls a tournament. Case of letters counts. Fits into a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TournamentId(Arc<str>);

/// A tournament's id that is empty, too long, or holds something besides letters and digits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a tournament's id: {0:?}")]
pub struct InvalidTournamentIdError(String);

impl TournamentId {
    /// The id as the server writes it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TournamentId {
    type Err = InvalidTournamentIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_plain = |c: char| c.is_ascii_alphanumeric();
        if !text.is_empty() && text.len() <= MAX_ID_LENGTH && text.chars().all(is_plain) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidTournamentIdError(text.chars().take(2 * MAX_ID_LENGTH).collect()))
        }
    }
}

impl fmt::Display for TournamentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a server tells of a tournament.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tournament {
    /// Which one.
    pub id: TournamentId,
    /// As displayed.
    pub name: String,
    /// The variant's key, as the server spells it; empty where it does not say.
    pub variant: String,
    /// The clock of its games.
    pub clock: ChallengeClock,
    /// Whether ratings are at stake.
    pub rated: bool,
    /// Whether bots may join.
    pub admits_bots: bool,
    /// Whether players may give half of their time for a point.
    pub berserkable: bool,
    /// The ids of the teams that fight in it, if it is a battle of teams; players join for one of them.
    pub teams: Vec<String>,
    /// How far it is.
    pub stage: TournamentStage,
}

/// How far a tournament is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TournamentStage {
    /// It begins after so long.
    Announced(Duration),
    /// Players are paired for so long.
    Running(Duration),
    /// Nobody is paired any more.
    Over,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_fits_into_a_path() {
        assert_eq!("hL7vMrFQ".parse::<TournamentId>().unwrap().to_string(), "hL7vMrFQ");
        for bad in ["", "a/b", "..", "a b", "é", &"x".repeat(33)] {
            assert!(bad.parse::<TournamentId>().is_err(), "{bad}");
        }
    }
}
