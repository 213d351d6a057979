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

/// One line of a search after an iteration.
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
    /// Since the search began, pondering included.
    pub elapsed: Duration,
    /// Share of the transposition table in use, in permille.
    pub hashfull: u32,
    /// The principal variation.
    pub pv: Vec<Move>,
}

impl Info {
    /// Nodes a second.
    pub fn nps(&self) -> u64 {
        per_second(self.nodes, self.elapsed)
    }
}

/// A sign of life from an iteration that takes long.
#[derive(Clone, Debug)]
pub struct Progress {
    /// The depth that is searched, in plies.
    pub depth: u32,
    /// A move of the root that the search begins, and its number among those to be searched, from
    /// 1; `None` if this says only how far the search is.
    pub current: Option<(Move, usize)>,
    /// Nodes of all threads.
    pub nodes: u64,
    /// Since the search began.
    pub elapsed: Duration,
    /// Share of the transposition table in use, in permille.
    pub hashfull: u32,
}

impl Progress {
    /// Nodes a second.
    pub fn nps(&self) -> u64 {
        per_second(self.nodes, self.elapsed)
    }
}

fn per_second(nodes: u64, elapsed: Duration) -> u64 {
    (u128::from(nodes) * 1_000_000_000 / elapsed.as_nanos().max(1)) as u64
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
    /// The best line. Where there is no legal move, its score tells how the game ended.
    pub info: Info,
}

/// What a search sends its listener: any number of infos, then exactly one report.
#[derive(Clone, Debug)]
pub enum Update {
    /// A line of an iteration that is complete, or as complete as it will be. The lines of one
    /// iteration follow each other, the best first.
    Info(Info),
    /// A search of some seconds is still at it.
    Progress(Progress),
    /// The search has ended.
    Report(Report),
}
