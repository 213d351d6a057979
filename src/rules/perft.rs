//! Perft: the number of move sequences of a length, the measure of a move generator's truth.

use crate::rules::{Move, Position};

/// The number of legal move sequences of `depth` plies. The last ply is counted in bulk.
pub fn perft(position: &Position, depth: u32) -> u64 {
    match depth {
        0 => 1,
        1 => position.generator().count(),
        _ => position.legal_moves().iter().map(|&mv| perft(&position.after(mv), depth - 1)).sum(),
    }
}

/// The same number for each first move, in the order of generation. Empty at depth 0.
pub fn divide(position: &Position, depth: u32) -> Vec<(Move, u64)> {
    let Some(rest) = depth.checked_sub(1) else { return Vec::new() };
    position.legal_moves().iter().map(|&mv| (mv, perft(&position.after(mv), rest))).collect()
}
