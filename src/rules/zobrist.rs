//! Zobrist keys: one random word for every fact of a position that tells it from another.

use crate::rules::{Color, Piece, Square};

struct Keys {
    pieces: [[[u64; 64]; 6]; 2],
    castling: [u64; 64],
    en_passant: [u64; 8],
    black_to_move: u64,
}

static KEYS: Keys = keys();

/// The key of a piece on a square.
#[inline]
pub(crate) const fn piece(piece: Piece, square: Square) -> u64 {
    KEYS.pieces[piece.color.index()][piece.role.index()][square.index()]
}

/// The key of a right to castle with the rook on this square.
#[inline]
pub(crate) const fn castling(rook: Square) -> u64 {
    KEYS.castling[rook.index()]
}

/// The key of a possible en passant capture on this square.
#[inline]
pub(crate) const fn en_passant(square: Square) -> u64 {
    KEYS.en_passant[square.file() as usize]
}

/// The key of the side to move; White's is 0.
#[inline]
pub(crate) const fn turn(color: Color) -> u64 {
    match color {
        Color::White => 0,
        Color::Black => KEYS.black_to_move,
    }
}

/// One step of the `SplitMix64` generator (Steele, Lea, Flood 2014).
const fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

const fn keys() -> Keys {
    let mut state = 2026;
    let mut keys = Keys {
        pieces: [[[0; 64]; 6]; 2],
        castling: [0; 64],
        en_passant: [0; 8],
        black_to_move: next(&mut state),
    };
    let mut i = 0;
    while i < 2 * 6 * 64 {
        keys.pieces[i / 384][i / 64 % 6][i % 64] = next(&mut state);
        i += 1;
    }
    i = 0;
    while i < 64 {
        keys.castling[i] = next(&mut state);
        i += 1;
    }
    i = 0;
    while i < 8 {
        keys.en_passant[i] = next(&mut state);
        i += 1;
    }
    keys
}

/// The key of a pawn on a square, for tables that go by the pawns alone.
#[inline]
pub const fn pawn_key(color: Color, square: Square) -> u64 {
    piece(Piece { color, role: crate::rules::Role::Pawn }, square)
}
