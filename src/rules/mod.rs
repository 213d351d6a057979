//! The rules of atomic chess: which moves are legal, what a move does, how a game ends, and the
//! notations for all of it.
//!
//! Pure: no clock, no I/O, no variant switch. The numbers R1 to R23 in the documentation are the
//! statements of the rulebook, each of which is a test in `tests/rules.rs`.
//!
//! ```
//! use meitner::rules::{Outcome, Position};
//!
//! let fen = "r1bqkb1r/ppp1pp1p/2n2np1/3pN3/3P4/2N5/PPP1PPPP/R1BQKB1R w KQkq - 0 5";
//! let position = Position::from_fen(fen)?;
//! let mv = position.parse_san("Nxf7")?;
//! assert!(position.explosion(mv).contains("e8".parse()?), "the king stands beside f7");
//! let outcome = position.after(mv).outcome();
//! assert!(matches!(outcome, Some(Outcome::Win { .. })));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// Squares, files and ranks are numbers below 64: the casts between their widths lose nothing.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "indices of squares are below 64 by construction"
)]

pub mod attacks;
mod bitboard;
mod epd;
mod fen;
mod history;
mod movegen;
mod moves;
mod outcome;
mod perft;
mod piece;
mod position;
mod san;
mod square;
mod uci_move;
mod zobrist;

pub use bitboard::{Bitboard, Squares};
pub use epd::{Epd, OperandError, Operation, ParseEpdError};
pub use fen::ParseFenError;
pub use history::{History, IllegalMoveError};
pub use movegen::Generator;
pub use moves::{CastlingNotation, Kind, MAX_MOVES, Move, MoveList};
pub use outcome::{DrawReason, Outcome, WinReason};
pub use perft::{divide, perft};
pub use piece::{Color, Piece, Role};
pub use position::Position;
pub use san::ParseSanError;
pub use square::{ParseSquareError, Square};
pub use uci_move::{ParseUciMoveError, UciMove};
pub use zobrist::pawn_key;
