//! What a viewer sees of a running game.

use std::{collections::BTreeMap, time::Instant};

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
    /// Where the game stands.
    pub phase: Phase,
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

    /// The time left to White and to Black at `now`, in milliseconds.
    pub fn clocks_ms(&self, now: Instant) -> Option<[u128; 2]> {
        let clock = self.clock?;
        Some(Color::ALL.map(|color| clock.remaining_at(color, self.running, now).as_millis()))
    }
}
