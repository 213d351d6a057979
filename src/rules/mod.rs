//! The rules of atomic chess: which moves are legal, what a move does, how a game ends, and the
//! notations for all of it.
//!
//! Pure: no clock, no I/O, no variant switch. The numbers R1 to R23 in the documentation are the
//! statements of the rulebook, each of which is a test in `tests/rules.rs`.

mod bitboard;
mod moves;
mod piece;
mod square;

pub use bitboard::Bitboard;
pub use moves::{CastlingNotation, Kind, MAX_MOVES, Move, MoveList};
pub use piece::{Color, Piece, Role};
pub use square::{ParseSquareError, Square};
