//! What a search tells while it runs and when it ends.

use std::time::Duration;

use crate::{rules::Move, search::Score};

/// Tells one search of an engine from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SearchId(pub(super) u64);

/// How a score relates to the true one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bound {
    /// The score is at least this.
    Lower,
    /// The score is at most this.
    Upper,
    /// The score is this.
    #[default]
    Exact,
}

/// The state of a search after an iteration.
#[derive(Clone, Debug, Default)]
pub struct Info {
    /// Completed depth in plies.
    pub depth: u32,
    /// Deepest ply reached.
    pub seldepth: u32,
    /// Which of several lines this is; 1 is the best.
    pub multipv: usize,
    /// The score for the side to move.
    pub score: Score,
    /// How `score` relates to the true one.
    pub bound: Bound,
    /// Nodes of all threads.
    pub nodes: u64,
    /// Since the search began.
    pub elapsed: Duration,
    /// Share of the transposition table in use, in permille.
    pub hashfull: u32,
    /// The principal variation.
    pub pv: Vec<Move>,
}

impl Info {
    /// Nodes a second.
    pub fn nps(&self) -> u64 {
        (u128::from(self.nodes) * 1_000_000_000 / self.elapsed.as_nanos().max(1)) as u64
    }
}

/// The end of a search.
#[derive(Clone, Debug)]
pub struct Report {
    /// Which search this is the end of.
    pub id: SearchId,
    /// The best move; `None` if there is no legal one.
    pub best: Option<Move>,
    /// The expected answer.
    pub ponder: Option<Move>,
    /// The last state.
    pub info: Info,
}

/// What a search sends its listener: any number of infos, then exactly one report.
#[derive(Clone, Debug)]
pub enum Update {
    /// An iteration is complete.
    Info(Info),
    /// The search has ended.
    Report(Report),
}
