//! The bench: a fixed set of positions searched to a fixed depth, whose node count is the
//! signature of the searcher's behavior.

use std::time::{Duration, Instant};

use crate::{
    rules::{History, Position},
    search::{Engine, Limits, Options},
};

/// The depth that gives the signature.
pub const DEPTH: u32 = 12;

/// Positions of all phases: openings, attacks on both kings, endgames with and without pawns.
const POSITIONS: [&str; 16] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "rnbqkbnr/ppppp1pp/5p2/8/8/5N2/PPPPPPPP/RNBQKB1R w KQkq - 0 2",
    "rnbqkbnr/ppp2pp1/7p/3pp3/8/2P2P1N/PP1PP1PP/RNBQKB1R w KQkq - 0 4",
    "rn1qkb1r/ppp1pppp/5n2/3p2B1/6b1/P2P4/1PP1PPPP/RN1QKBNR w KQkq - 3 4",
    "r1bqkb1r/ppp1pp1p/2n2np1/3p4/3P4/2N1P3/PPP2PPP/R1BQKB1R w KQkq - 0 5",
    "r3k2r/pp1p1ppp/1n2bn2/2p1pP2/1P2Pq2/2N1B3/P1PPQ1PP/R3K2R w KQkq - 0 1",
    "r1bqkb1r/pppp1ppp/2n5/4p3/2B1P3/2N5/PPPP1PPP/R1BQK1NR b KQkq - 3 3",
    "2r1R3/6k1/pp3pp1/1P1P1b2/P5B1/7P/1rQ5/6K1 w - - 3 38",
    "4r2k/3PP3/pb1r4/8/1P2KPpp/7P/3B4/6R1 b - - 2 36",
    "3r4/1p6/p2k3p/3PN1p1/1P6/5pP1/P1P2P2/2KR3R w - - 1 19",
    "8/p5pp/2p5/5pK1/3P2k1/8/PP4PP/5R2 b - - 0 1",
    "8/5k2/p4p1p/1p6/1P3P2/P5K1/6P1/8 w - - 0 40",
    "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 30",
    "3k4/8/8/1q6/8/8/2P5/1K6 w - - 0 50",
    "8/8/4k3/3r4/8/4B3/3PK3/8 w - - 10 60",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
];

/// One line of the bench.
#[derive(Clone, Debug)]
pub struct Line {
    /// The position.
    pub fen: &'static str,
    /// Nodes searched.
    pub nodes: u64,
    /// Time taken.
    pub elapsed: Duration,
}

/// Searches every position to a depth with one thread and a fresh table of 16 MiB, and calls
/// `report` after each.
///
/// # Panics
///
/// Never: the positions are constants that the tests parse.
pub fn run(depth: u32, mut report: impl FnMut(&Line)) -> (u64, Duration) {
    let engine = Engine::new(Options { hash_mb: 16, threads: 1 });
    let (mut nodes, mut elapsed) = (0, Duration::ZERO);
    for fen in POSITIONS {
        let position = Position::from_fen(fen).expect("bench positions are valid");
        engine.new_game();
        let limits = Limits { depth: Some(depth), ..Limits::default() };
        let started = Instant::now();
        let found = engine.search_to_end(History::new(position), limits);
        let nodes_searched = found.map_or(0, |report| report.info.nodes);
        let line = Line { fen, nodes: nodes_searched, elapsed: started.elapsed() };
        report(&line);
        nodes += line.nodes;
        elapsed += line.elapsed;
    }
    (nodes, elapsed)
}
