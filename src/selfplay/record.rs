//! One game on one line of text: start, result, and each move with the score that the search gave.

use std::{fmt, str::FromStr};

use crate::{
    pgn::{self, Annotation, Evaluation, GameResult, TagName, Value},
    rules::{Color, History, Move, ParseFenError, ParseUciMoveError, Position},
};

/// A move and the score of its search, in centipawns for the mover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ply {
    /// The move played.
    pub mv: Move,
    /// What the search thought of it.
    pub score: i32,
}

/// A finished game.
#[derive(Clone, Debug)]
pub struct Record {
    /// Where it began.
    pub start: Position,
    /// Its moves.
    pub plies: Vec<Ply>,
    /// Who won; `None` for a draw.
    pub winner: Option<Color>,
}

impl Record {
    /// The game for PGN, with the score of each move as its evaluation.
    pub fn to_pgn(&self) -> pgn::Game {
        let mut game = pgn::Game::new(self.start.clone());
        for ply in &self.plies {
            let is_white = game.history().position().turn() == Color::White;
            let value = Value::Centipawns(if is_white { ply.score } else { -ply.score });
            let mut annotation = Annotation::default();
            annotation.evaluation = Some(Evaluation { value, depth: None });
            if game.play(ply.mv, annotation).is_err() {
                break;
            }
        }
        game.result = self.winner.map_or(GameResult::Draw, GameResult::won_by);
        let is_over = game.history().outcome().is_some();
        for (name, value) in [
            (TagName::EVENT, "Selfplay"),
            (TagName::WHITE, "Meitner"),
            (TagName::BLACK, "Meitner"),
            // `play` ends games that are as good as won.
            (TagName::TERMINATION, if is_over { "Normal" } else { "Adjudication" }),
        ] {
            game.tags.set(name, value);
        }
        game
    }
}

/// Why a line is no record.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what each variant means")]
pub enum ParseRecordError {
    #[error("a record has the three fields FEN|result|moves")]
    Fields,
    #[error(transparent)]
    Start(#[from] ParseFenError),
    #[error("'{0}' is no result: 1-0, 0-1 or 1/2-1/2")]
    Result(String),
    #[error("'{0}' is no move with its score")]
    Ply(String),
    #[error(transparent)]
    Move(#[from] ParseUciMoveError),
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let result = match self.winner {
            Some(Color::White) => "1-0",
            Some(Color::Black) => "0-1",
            None => "1/2-1/2",
        };
        write!(f, "{}|{result}|", self.start.fen())?;
        for (index, ply) in self.plies.iter().enumerate() {
            let gap = if index == 0 { "" } else { " " };
            write!(f, "{gap}{}:{}", ply.mv, ply.score)?;
        }
        Ok(())
    }
}

impl FromStr for Record {
    type Err = ParseRecordError;

    fn from_str(line: &str) -> Result<Self, Self::Err> {
        let mut fields = line.trim().splitn(3, '|');
        let mut field = || fields.next().ok_or(ParseRecordError::Fields);
        let start = Position::from_fen(field()?)?;
        let winner = match field()? {
            "1-0" => Some(Color::White),
            "0-1" => Some(Color::Black),
            "1/2-1/2" => None,
            other => return Err(ParseRecordError::Result(other.to_owned())),
        };
        let mut history = History::new(start.clone());
        let mut plies = Vec::new();
        for text in field()?.split_ascii_whitespace() {
            let bad = || ParseRecordError::Ply(text.to_owned());
            let (mv, score) = text.split_once(':').ok_or_else(bad)?;
            let score = score.parse().map_err(|_| bad())?;
            plies.push(Ply { mv: history.play_uci(mv)?, score });
        }
        Ok(Self { start, plies, winner })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_back() {
        let line = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1|0-1|g1f3:12 f7f6:-30";
        let record: Record = line.parse().unwrap();
        assert_eq!(record.winner, Some(Color::Black));
        assert_eq!(record.plies.len(), 2);
        assert_eq!(record.to_string(), line);
    }

    #[test]
    fn a_record_becomes_pgn_with_scores_from_whites_view() {
        let line = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1|0-1|g1f3:12 f7f6:-30";
        let text = line.parse::<Record>().unwrap().to_pgn().to_string();
        let moves = "\n\n1. Nf3 { [%eval 0.12] } 1... f6 { [%eval 0.3] } 0-1\n\n";
        assert!(text.ends_with(moves), "{text}");
        assert!(text.contains("[Termination \"Adjudication\"]"), "{text}");
    }

    #[test]
    fn bad_records_are_refused() {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        for line in [
            String::new(),
            format!("{start}|2-0|"),
            format!("{start}|1-0|e2e4"),
            format!("{start}|1-0|e2e5:0"),
            format!("{start}|1-0"),
        ] {
            assert!(line.parse::<Record>().is_err(), "{line}");
        }
    }
}
