//! Why a game cannot be read.

use std::io;

use crate::{
    pgn::GameResult,
    rules::{ParseFenError, ParseSanError},
};

/// A game that cannot be read. Unless the source itself failed, reading goes on with the next one.
#[derive(Debug, thiserror::Error)]
#[error("game {game} (line {line}): {problem}")]
pub struct ReadError {
    /// The number of the game in its source, from 1.
    pub game: u64,
    /// The line of the source in which the game begins, from 1.
    pub line: u64,
    /// What is wrong.
    pub problem: Problem,
}

/// What is wrong with a game. Texts are quoted up to 80 characters, without control characters.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The source failed; nothing more can be read.
    #[error("cannot be read further: {0}")]
    Io(#[source] io::Error),
    /// A tag or a comment has no end.
    #[error("{0}: it has to be closed, and a tag with its value has to stand on one line")]
    Unterminated(String),
    /// What stands before the moves is no tag.
    #[error("'{0}' is no tag; a tag is written as in [White \"QuietRook7\"]")]
    Tag(String),
    /// A tag stands twice.
    #[error(
        "the tag {0} stands twice; take one away, or end the game before with its result if two \
         games have run together"
    )]
    RepeatedTag(String),
    /// The game is not one of atomic chess.
    #[error("the variant is {0}, and only games with [Variant \"Atomic\"] are read")]
    Variant(String),
    /// The start position is none.
    #[error("the tag FEN is no position: {0}")]
    Start(#[source] ParseFenError),
    /// The tag `Result` has another value than the four of PGN.
    #[error("the tag Result is '{0}', and has to be 1-0, 0-1, 1/2-1/2 or *")]
    Result(String),
    /// Tag and moves end with different results.
    #[error("the tag Result says {tag}, the end of the moves {token}")]
    ResultsDiffer {
        /// What the tag says.
        tag: GameResult,
        /// What stands behind the moves.
        token: GameResult,
    },
    /// A move is not legal, or fits several.
    #[error("ply {ply}: {error}")]
    IllegalMove {
        /// The ply, from 1.
        ply: usize,
        /// The move and the position.
        #[source]
        error: ParseSanError,
    },
    /// Something among the moves is none.
    #[error("ply {ply}: '{text}' is no move, number, glyph, comment or result")]
    Unreadable {
        /// The ply that would have come, from 1.
        ply: usize,
        /// What was found.
        text: String,
    },
    /// A move follows the result.
    #[error("ply {ply}: '{text}' stands behind the result; an empty line has to part two games")]
    AfterResult {
        /// The ply, from 1.
        ply: usize,
        /// What was found.
        text: String,
    },
    /// The game is larger than any real one.
    #[error("it has more than {most} {what}, and is not read")]
    TooLong {
        /// What there is too much of.
        what: &'static str,
        /// How much is allowed.
        most: usize,
    },
}

/// A text as errors quote it.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    const MOST_CHARACTERS: usize = 80;
    // A character has 4 bytes at most.
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * MOST_CHARACTERS + 4)]);
    let mut quoted: String = text
        .chars()
        .take(MOST_CHARACTERS)
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    if text.chars().count() > MOST_CHARACTERS {
        quoted.push('…');
    }
    quoted
}
