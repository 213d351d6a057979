//! What a viewer sees of a running game.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use tokio::sync::watch;

use crate::{
    game::{Clock, Ending, GameId, Player, PonderCount, Thought},
    rules::{Color, Move},
};

/// The running games of a bot, each with its newest snapshot. Sent anew when a game comes or
/// goes; a game's own receiver tells its changes.
pub type LiveGames = BTreeMap<GameId, watch::Receiver<Snapshot>>;

/// A game at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Which game.
    pub id: GameId,
    /// The color we play; `None` until the server's first line.
    pub our_color: Option<Color>,
    /// White, then Black.
    pub players: [Player; 2],
    /// Whether ratings are at stake.
    pub rated: bool,
    /// The position.
    pub fen: String,
    /// The move that led to it.
    pub last_move: Option<Move>,
    /// How many moves were played.
    pub plies: usize,
    /// Both clocks as last told.
    pub clock: Option<Clock>,
    /// Whose clock runs.
    pub running: Option<Color>,
    /// What the search thinks, of this position or of our last.
    pub thought: Option<Thought>,
    /// The reply that is pondered on.
    pub ponder: Option<Move>,
    /// How good our guesses were.
    pub ponder_count: PonderCount,
    /// What our last move took, as the driver has measured it.
    pub reply: Option<Reply>,
    /// Where the game stands.
    pub phase: Phase,
}

/// What a move of ours took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// How many moves came before it.
    pub ply: usize,
    /// From the arrival of the line that made it our turn until the move was handed on to be sent,
    /// without the search.
    pub latency: Duration,
    /// How long it was searched on our time; `None` if nothing was.
    pub thinking: Option<Duration>,
    /// What our clock had left, if one ran.
    pub time_left: Option<Duration>,
}

/// Where a game stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Waiting for the server's view of the game.
    Connecting,
    /// Our turn.
    OurTurn,
    /// The opponent's turn.
    TheirTurn,
    /// We resigned or aborted and wait for the end.
    Leaving,
    /// Over.
    Over(Ending),
}

impl Snapshot {
    /// The opponent, once known.
    pub fn opponent(&self) -> Option<&Player> {
        self.our_color.map(|us| &self.players[(!us).index()])
    }

    /// What our clock has left at `now`, if one runs.
    pub fn our_time_left(&self, now: Instant) -> Option<Duration> {
        let (us, clock) = (self.our_color?, self.clock?);
        self.running.map(|_| clock.remaining_at(us, self.running, now))
    }

    /// The time left to White and to Black at `now`, in milliseconds.
    pub fn clocks_ms(&self, now: Instant) -> Option<[u128; 2]> {
        let clock = self.clock?;
        Some(Color::ALL.map(|color| clock.remaining_at(color, self.running, now).as_millis()))
    }
}
