//! What a platform can tell a game: the game as it stands, its changes, and the end of the line.
//!
//! Moves stay text here. A server's list is first read and then judged against the rules, which
//! is the session's part.

use std::{fmt, str::FromStr, sync::Arc, time::Duration, time::Instant};

use crate::{game::Lag, rules::Color};

/// The name of a game, unique on its platform and safe to put in a URL path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GameId(Arc<str>);

/// A game id that is empty, too long, or holds something besides letters, digits, `-` and `_`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a game id: {0:?}")]
pub struct InvalidGameIdError(String);

/// Longer than the ids of any server we know (lichess: 8).
const MAX_ID_LENGTH: usize = 32;

impl GameId {
    /// The id as the server writes it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for GameId {
    type Err = InvalidGameIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if !text.is_empty() && text.len() <= MAX_ID_LENGTH && text.chars().all(is_plain) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidGameIdError(text.chars().take(2 * MAX_ID_LENGTH).collect()))
        }
    }
}

impl fmt::Display for GameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An event, the moment its bytes arrived, which is where its clocks count from, and the line that
/// they came on.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrived {
    /// When the bytes came in, before any decoding.
    pub at: Instant,
    /// What was known then of the way to the server and back.
    pub lag: Lag,
    /// What they said.
    pub event: Event,
}

/// Everything that a platform can tell a game.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The whole game as it stands. Comes at every opening of the stream and replaces all state.
    Full(Box<GameFull>),
    /// A change: a move, an offer, fresh clocks, or the end.
    State(GameState),
    /// The opponent left, and victory can be claimed after so long; `None`: they are back.
    OpponentGone(Option<Duration>),
    /// Somebody wrote something.
    Chat(ChatLine),
    /// The server refused the move that we sent after so many plies.
    MoveRefused {
        /// How many moves the game had when ours was chosen.
        ply: usize,
    },
    /// The game can no longer be followed. Nothing comes after this.
    Lost(LostReason),
}

/// Who reads what is written beside a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// The two players.
    Player,
    /// Those who watch.
    Spectator,
}

impl Room {
    /// 0 and 1.
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// A line of chat. Text from outside, made fit for a log with [`one_line`](crate::game::one_line):
/// nothing but a [`ChatCommand`](crate::game::ChatCommand) is understood, and it is logged at debug
/// level only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatLine {
    /// Where it was written.
    pub room: Room,
    /// Who wrote it.
    pub from: String,
    /// What.
    pub text: String,
}

/// Why a game can no longer be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LostReason {
    /// The server knows no such game of ours.
    #[error("the server knows no such game of ours")]
    NotFound,
    /// The server refuses to let this account play it.
    #[error("the server refuses to let this account play the game")]
    Refused,
    /// Neither player is us.
    #[error("neither player is this account")]
    NotOurs,
    /// The adapter ended without saying why.
    #[error("the connection to the game ended")]
    Disconnected,
}

/// A game as it stands, with what never changes about it.
#[derive(Clone, Debug, PartialEq)]
pub struct GameFull {
    /// Which color we play.
    pub our_color: Color,
    /// White, then Black.
    pub players: [Player; 2],
    /// The FEN of the start position; `None` for the standard one.
    pub initial_fen: Option<String>,
    /// How the time is counted.
    pub time_control: TimeControl,
    /// Whether ratings are at stake.
    pub rated: bool,
    /// The id of the tournament that the game belongs to.
    pub tournament: Option<String>,
    /// Whether a game of fewer than two plies may be aborted; not so in tournaments.
    pub is_abortable: bool,
    /// Whether repetition and fifty moves draw only when a player claims it (R22).
    pub draws_are_claimed: bool,
    /// All moves so far, the clocks and the status.
    pub state: GameState,
}

/// One of the two who play.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Player {
    /// The account, in lower case; `None` for a server's own engine or an anonymous visitor.
    pub id: Option<String>,
    /// As displayed, without title; made fit for a log with [`one_line`](crate::game::one_line).
    pub name: String,
    /// `BOT`, `GM` and the like.
    pub title: Option<String>,
    /// The rating for this variant.
    pub rating: Option<u32>,
    /// Whether a program plays, as far as the server tells.
    pub is_bot: bool,
}

/// How the time of a game is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeControl {
    /// A clock for each side.
    Clock {
        /// What each side starts with. May be zero, when the clocks start a little higher.
        initial: Duration,
        /// Added after each move but the first.
        increment: Duration,
    },
    /// Days for each move.
    Correspondence {
        /// How many.
        days: u32,
    },
    /// No limit.
    Unlimited,
}

/// The part of a game that changes.
#[derive(Clone, Debug, PartialEq)]
pub struct GameState {
    /// All moves from the start position, in UCI notation. The only truth about the position.
    pub moves: Vec<String>,
    /// The time left to White and to Black when the server wrote the line.
    pub remaining: [Duration; 2],
    /// The increments of White and of Black.
    pub increment: [Duration; 2],
    /// Whether the game goes on.
    pub status: Status,
    /// Who won, in a decided game.
    pub winner: Option<Color>,
    /// Whether White, and Black, offer a draw.
    pub draw_offer: [bool; 2],
    /// Whether White, and Black, propose to take back moves.
    pub takeback_offer: [bool; 2],
    /// How long the side to move has for its first move, where that is limited.
    pub expiration: Option<Expiration>,
}

/// The deadline of a first move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expiration {
    /// How long the side to move has been idle.
    pub idle: Duration,
    /// How long it may be idle in all.
    pub limit: Duration,
}

/// Whether a game goes on, or how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// Created or started.
    Running,
    /// Over for good.
    Over(EndReason),
}

/// How a game ended, in the words of section 11 of the protocol notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// Given up before both sides had moved; no result.
    Aborted,
    /// Checkmate.
    Mate,
    /// A king exploded.
    VariantEnd,
    /// A side resigned.
    Resign,
    /// No legal move, no check.
    Stalemate,
    /// A side left and the other claimed.
    Timeout,
    /// A flag fell.
    OutOfTime,
    /// Agreed, repeated, fifty moves, or insufficient material.
    Draw,
    /// A side failed to make its first move.
    NoStart,
    /// A draw claimed against a bare king.
    InsufficientMaterialClaim,
    /// A side was found cheating.
    Cheat,
    /// Broken off, to go on another day: no result yet.
    Adjourned,
    /// We can no longer follow the game.
    Lost(LostReason),
    /// A word that we do not know; whatever is not running is over.
    Other(String),
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Aborted => "aborted",
            Self::Mate => "checkmate",
            Self::VariantEnd => "king exploded",
            Self::Resign => "resignation",
            Self::Stalemate => "stalemate",
            Self::Timeout => "player left",
            Self::OutOfTime => "out of time",
            Self::Draw => "draw",
            Self::NoStart => "no first move",
            Self::InsufficientMaterialClaim => "insufficient material claimed",
            Self::Cheat => "cheat",
            Self::Adjourned => "adjourned",
            Self::Lost(reason) => return write!(f, "lost sight of the game: {reason}"),
            Self::Other(word) => word,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_safe_in_a_path() {
        for good in ["Kq7ZbT2m", "a", "x_-9"] {
            assert_eq!(good.parse::<GameId>().unwrap().to_string(), good);
        }
        for bad in ["", "a/b", "..", "a?b", "ä", &"x".repeat(33)] {
            assert!(bad.parse::<GameId>().is_err(), "{bad}");
        }
    }
}
