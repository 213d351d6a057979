//! The engine's answers as lines of text.

use std::fmt::Write as _;

use crate::{
    rules::{CastlingNotation, Move},
    search::{Bound, Info, Report, Score},
};

/// `info depth … pv …`
pub(super) fn info(info: &Info, notation: CastlingNotation) -> String {
    let mut line = format!(
        "info depth {} seldepth {} multipv {} score {}",
        info.depth,
        info.seldepth,
        info.multipv.max(1),
        score(info.score)
    );
    line.push_str(match info.bound {
        Bound::Lower => " lowerbound",
        Bound::Upper => " upperbound",
        Bound::Exact => "",
    });
    // Writing to a String cannot fail.
    let _ = write!(
        line,
        " nodes {} nps {} hashfull {} time {}",
        info.nodes,
        info.nps(),
        info.hashfull,
        info.elapsed.as_millis()
    );
    if !info.pv.is_empty() {
        line.push_str(" pv");
        for mv in &info.pv {
            line.push(' ');
            line.push_str(&mv.uci(notation));
        }
    }
    line
}

/// `bestmove … ponder …`; `0000` where there is no legal move.
pub(super) fn best_move(report: &Report, notation: CastlingNotation) -> String {
    let write = |mv: Option<Move>| mv.map_or("0000".to_owned(), |mv| mv.uci(notation));
    match report.ponder {
        Some(ponder) => format!("bestmove {} ponder {}", write(report.best), ponder.uci(notation)),
        None => format!("bestmove {}", write(report.best)),
    }
}

fn score(score: Score) -> String {
    match score.mate_in() {
        Some(moves) => format!("mate {moves}"),
        None => format!("cp {}", score.centipawns()),
    }
}
