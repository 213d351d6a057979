//! Games as text, in Portable Game Notation: written as lichess writes them, and read back.
//!
//! A [`Game`] holds legal moves only. Writing is its `Display`; [`Reader`] streams games from any
//! source, and its errors name the game, the line, the ply and the text. The tokens come from
//! `pgn-reader`; what a move means is decided by [`rules`](crate::rules) alone.
//!
//! Not here: other variants, the moves of variations (they are skipped), and files.
//!
//! ```
//! use meitner::pgn::{Annotation, Game, GameResult, Reader, TagName};
//!
//! let mut game = Game::default();
//! game.tags.set(TagName::WHITE, "QuietRook7");
//! for san in ["Nf3", "a6", "Ne5", "a5", "Nxf7"] {
//!     game.play(game.history().position().parse_san(san)?, Annotation::default())?;
//! }
//! game.result = GameResult::WhiteWins;
//! let text = game.to_string();
//! assert!(text.ends_with("\n\n1. Nf3 a6 2. Ne5 a5 3. Nxf7# 1-0\n\n"));
//! let read: Vec<Game> = Reader::new(text.as_bytes()).collect::<Result<_, _>>()?;
//! assert_eq!(read, [game]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod annotation;
mod error;
mod game;
mod read;
mod source;
mod strays;
mod tags;
mod time;
mod write;

pub use annotation::{Annotation, Evaluation, Value};
pub use error::{Problem, ReadError};
pub use game::{Game, GameResult};
pub use read::Reader;
pub use tags::{TagName, Tags};
pub use time::{TimeControl, UtcTime};

/// No tag value is longer, in bytes; the rest is cut off.
pub const MOST_VALUE_BYTES: usize = 4_096;
/// The free text of one move is not longer, in bytes; the rest is cut off.
pub const MOST_TEXT_BYTES: usize = 8_192;
/// A game with more comments to one move is not read.
pub const MOST_COMMENTS: usize = 64;
/// A game with more tags is not read.
pub const MOST_TAGS: usize = 256;
/// A game with more plies is not read.
pub const MOST_PLIES: usize = 10_000;
/// A game of more bytes is not read.
pub const MOST_GAME_BYTES: usize = 4 << 20;

/// The longest beginning of a text that has at most so many bytes.
fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}
