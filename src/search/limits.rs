//! When a search has to end.

use std::time::{Duration, Instant};

use crate::rules::Move;

/// What ends a search; whichever limit is reached first. Without any limit it runs until stopped.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// The clock of the side to move.
    pub clock: Option<ClockLimit>,
    /// A fixed time for this move.
    pub move_time: Option<Duration>,
    /// A number of nodes.
    pub nodes: Option<u64>,
    /// A depth in plies.
    pub depth: Option<u32>,
    /// Stop once a win in this many own moves is proved, or that the game is lost. Where there is
    /// no such win, the search goes on until another limit.
    pub mate: Option<u32>,
    /// Search until stopped and report only then, whatever else is found.
    pub infinite: bool,
    /// Search on the opponent's time: the clock counts from [`Engine::ponder_hit`].
    ///
    /// [`Engine::ponder_hit`]: crate::search::Engine::ponder_hit
    pub ponder: bool,
    /// Only these moves at the root; all legal ones if empty.
    pub search_moves: Vec<Move>,
    /// How many of the best moves get a line of their own; 0 counts as 1, and there are never more
    /// lines than moves. A second line costs about as much as the first.
    pub multipv: usize,
    /// Kept back from the clock for each move: what its way to the server costs.
    pub overhead: Duration,
    /// The zero point of the time, which may lie before the search; `None` is its beginning.
    pub started: Option<Instant>,
}

/// The clock of the side to move at the zero point of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockLimit {
    /// Time left.
    pub remaining: Duration,
    /// Added after each move.
    pub increment: Duration,
    /// Moves until the next time control, if the clock works like that.
    pub moves_to_go: Option<u32>,
}
