//! The numbers of the evaluation, in centipawns.
//!
//! Material starts from the fits in the engine notes (section 2), which agree with the values of
//! the strongest classical engine in their ratios; the piece-square values say that advanced men
//! are better, that knights belong near the enemy king, and that a king hides in a corner.

use super::{Tapered, tapered};
use crate::{
    rules::{Color, Piece, Role, Square},
    search::score::Value,
};

/// The share of each role in the phase, pawn to king.
pub(super) const PHASE: [Value; 6] = [0, 1, 1, 2, 4, 0];
/// The phase of the start position.
pub(super) const FULL_PHASE: Value = 24;

/// The move is worth something in itself.
pub(super) const TEMPO: Value = 20;

const MATERIAL: [Tapered; 6] = [
    tapered(98, 145),
    tapered(180, 278),
    tapered(235, 303),
    tapered(328, 440),
    tapered(600, 802),
    tapered(0, 0),
];

/// For each man of the own side beside the king: a capture of it explodes the king.
pub(super) const PAWN_BESIDE_KING: Tapered = tapered(-4, 0);
pub(super) const PIECE_BESIDE_KING: Tapered = tapered(-14, -8);

/// What an attacker of the king's neighborhood adds to the danger, by role.
pub(super) const ATTACK_WEIGHT: [(Role, Value); 4] =
    [(Role::Knight, 20), (Role::Bishop, 14), (Role::Rook, 16), (Role::Queen, 22)];
/// What each attacked square of the neighborhood adds.
pub(super) const ZONE_SQUARE: Value = 5;
/// Danger counts by its square over this.
pub(super) const DANGER_DIVISOR: Value = 40;
pub(super) const MOST_DANGER: Value = 400;

/// A passed pawn by its rank from its own side, 1 to 6.
pub(super) const PASSED: [Tapered; 8] = [
    tapered(0, 0),
    tapered(5, 20),
    tapered(8, 30),
    tapered(18, 55),
    tapered(40, 95),
    tapered(80, 150),
    tapered(140, 230),
    tapered(0, 0),
];

static PIECE_SQUARE: [[Tapered; 64]; 6] = piece_square_table();

/// The value of a man where it stands, from White's view.
#[inline]
pub(super) fn piece_square(piece: Piece, square: Square) -> Tapered {
    match piece.color {
        Color::White => PIECE_SQUARE[piece.role.index()][square.index()],
        Color::Black => -PIECE_SQUARE[piece.role.index()][square.flip_rank().index()],
    }
}

/// Material and placement of White's men.
const fn piece_square_table() -> [[Tapered; 64]; 6] {
    let mut table = [[tapered(0, 0); 64]; 6];
    let mut role = 0;
    while role < 6 {
        let mut index = 0;
        while index < 64 {
            let square = Square::new(index as u8);
            let material = MATERIAL[role];
            let place = placement(role, square.file() as Value, square.rank() as Value);
            table[role][index] = tapered(material.mg + place.mg, material.eg + place.eg);
            index += 1;
        }
        role += 1;
    }
    table
}

/// 3 in the four central squares or files, 0 at the edge.
const fn center(coordinate: Value) -> Value {
    if coordinate < 4 { coordinate } else { 7 - coordinate }
}

/// The value of a square to a role beside its material.
const fn placement(role: usize, file: Value, rank: Value) -> Tapered {
    let middle = center(file) + center(rank);
    match role {
        // Pawns storm; those before a castled king may stay.
        0 => tapered((rank - 1) * 7 + center(file) * 3 - 6, (rank - 1) * 12),
        // Knights and queens belong near the enemy king, which stays on its first ranks.
        1 => tapered(rank * 8 + middle * 5 - 30, middle * 4 - 10),
        2 => tapered(rank * 5 + middle * 3 - 16, middle * 3 - 8),
        3 => tapered(rank * 5 - 10, rank * 3),
        4 => tapered(rank * 7 + middle * 2 - 16, middle * 4 - 10),
        // A king hides in a corner in the middlegame and comes out at the end.
        _ => {
            tapered(-rank * 22 - center(file) * 9 + if rank == 0 { 12 } else { 0 }, middle * 8 - 20)
        }
    }
}
