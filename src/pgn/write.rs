//! Writing: tags in lichess' order, then all moves on one line.
//!
//! The moves stand on one line, as in lichess' exports, and not in lines of 80 columns: so a
//! comment is read back as it was written, and a line of a file is a game.

use std::fmt;

use crate::{
    pgn::{
        Game,
        tags::{FEN, RESULT, ROSTER, SET_UP, VARIANT, rank},
    },
    rules::{Color, Position},
};

/// The game as PGN, with an empty line at its end: texts of games can be written one after another.
impl fmt::Display for Game {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_tags(self, f)?;
        write!(f, "\n{}", self.preface.to_string().trim_start())?;
        if self.preface.has_comment() || !self.preface.nags().is_empty() {
            f.write_str(" ")?;
        }
        write_moves(self, f)?;
        write!(f, "{}\n\n", self.result)
    }
}

fn write_tags(game: &Game, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let start = game.history().start();
    let fen = (*start != Position::initial()).then(|| start.fen());
    let mut tags: Vec<(&str, &str)> = game.tags.iter().collect();
    for (name, unknown) in &ROSTER {
        if game.tags.get(name).is_none() {
            tags.push((name.as_str(), unknown));
        }
    }
    tags.extend([(RESULT, game.result.as_str()), (VARIANT, "Atomic")]);
    if let Some(fen) = &fen {
        tags.extend([(FEN, fen.as_str()), (SET_UP, "1")]);
    }
    tags.sort_by_key(|(name, _)| rank(name));
    for (name, value) in tags {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        writeln!(f, "[{name} \"{value}\"]")?;
    }
    Ok(())
}

/// The moves, each with a space behind it. Black's have a number where the eye needs one: first in
/// the text, and after a comment.
fn write_moves(game: &Game, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut position = game.history().start().clone();
    let mut needs_number = true;
    for (&mv, annotation) in game.history().moves().iter().zip(game.annotations()) {
        let number = position.fullmove_number();
        match position.turn() {
            Color::White => write!(f, "{number}. ")?,
            Color::Black if needs_number => write!(f, "{number}... ")?,
            Color::Black => {}
        }
        write!(f, "{}{annotation} ", position.san(mv))?;
        needs_number = annotation.has_comment();
        position.play_unchecked(mv);
    }
    Ok(())
}
