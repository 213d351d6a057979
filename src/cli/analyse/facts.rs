//! What can be said of a position without a search: the board, and what matters in atomic chess.

use std::io::{self, Write};

use crate::{
    cli::analyse::{name, row},
    rules::{Color, History, Move, Piece, Position, Role, Square},
};

/// Writes the board and the facts, and the result if the game is over.
pub(super) fn write(history: &History, has_figures: bool, out: &mut impl Write) -> io::Result<()> {
    let position = history.position();
    for line in board(position, has_figures) {
        writeln!(out, "{line}")?;
    }
    writeln!(out)?;
    row(out, "FEN", position.fen())?;
    if let Some(outcome) = history.outcome() {
        let words = match outcome.winner() {
            Some(winner) => format!("{}, {} has won by {outcome}", outcome.score(), name(winner)),
            None => format!("{}, a draw by {outcome}", outcome.score()),
        };
        return row(out, "game over", words);
    }
    let us = position.turn();
    row(out, "to move", format!("{}, move {}", name(us), position.fullmove_number()))?;
    row(out, "check", if position.is_check() { "yes" } else { "no" })?;
    let kings = if position.kings_touch() { "touch, so that no check counts" } else { "apart" };
    row(out, "kings", kings)?;
    row(out, "explosion", explosion(position, us))?;
    row(out, "threat", threat(position, !us))?;
    row(out, "legal moves", position.legal_moves().len())?;
    if history.occurrences() > 1 {
        row(out, "repetition", "the position was here before; a third time is a draw")?;
    }
    Ok(())
}

/// Eight ranks from White's side, and the files.
fn board(position: &Position, has_figures: bool) -> Vec<String> {
    let cell = |square| match position.piece_on(square) {
        Some(piece) if has_figures => figure(piece),
        Some(piece) => piece.letter(),
        None if has_figures => '·',
        None => '.',
    };
    let rank = |rank: u8| {
        let cells: Vec<String> =
            (0..8).map(|file| cell(Square::at(file, rank)).to_string()).collect();
        format!("{}  {}", rank + 1, cells.join(" "))
    };
    (0..8).rev().map(rank).chain([String::from("   a b c d e f g h")]).collect()
}

/// The moves with which the side to move explodes the enemy king.
fn explosion(position: &Position, us: Color) -> String {
    match exploding(position).as_slice() {
        [] => "none at once".to_owned(),
        moves => format!("{} wins at once by {}", name(us), list(position, moves)),
    }
}

/// What the other side would explode, were it its turn.
fn threat(position: &Position, them: Color) -> String {
    if position.is_check() {
        return format!("{} gives check", name(them));
    }
    let passed = position.after_null();
    match exploding(&passed).as_slice() {
        [] => "none at once".to_owned(),
        moves => format!("{} threatens {}", name(them), list(&passed, moves)),
    }
}

fn exploding(position: &Position) -> Vec<Move> {
    let wins = |mv: &Move| position.after(*mv).king(!position.turn()).is_none();
    position.captures().into_iter().filter(wins).collect()
}

fn list(position: &Position, moves: &[Move]) -> String {
    let sans: Vec<String> = moves.iter().map(|&mv| position.san(mv)).collect();
    sans.join(", ")
}

const fn figure(piece: Piece) -> char {
    match (piece.color, piece.role) {
        (Color::White, Role::Pawn) => '♙',
        (Color::White, Role::Knight) => '♘',
        (Color::White, Role::Bishop) => '♗',
        (Color::White, Role::Rook) => '♖',
        (Color::White, Role::Queen) => '♕',
        (Color::White, Role::King) => '♔',
        (Color::Black, Role::Pawn) => '♟',
        (Color::Black, Role::Knight) => '♞',
        (Color::Black, Role::Bishop) => '♝',
        (Color::Black, Role::Rook) => '♜',
        (Color::Black, Role::Queen) => '♛',
        (Color::Black, Role::King) => '♚',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(fen: &str, has_figures: bool) -> String {
        let mut out = Vec::new();
        let history = History::new(Position::from_fen(fen).unwrap());
        write(&history, has_figures, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_start_is_quiet() {
        let text = text("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", false);
        assert!(text.starts_with("8  r n b q k b n r\n"), "{text}");
        assert!(text.contains("\n1  R N B Q K B N R\n   a b c d e f g h\n"), "{text}");
        for fact in [
            "to move      White, move 1\n",
            "check        no\n",
            "kings        apart\n",
            "explosion    none at once\n",
            "threat       none at once\n",
            "legal moves  20\n",
        ] {
            assert!(text.contains(fact), "{fact}: {text}");
        }
    }

    #[test]
    fn explosions_and_threats_are_named() {
        let fen = "rnbqkbnr/1ppppppp/p7/4N3/8/8/PPPPPPPP/RNBQKB1R";
        let white = text(&format!("{fen} w KQkq - 0 3"), true);
        assert!(white.starts_with("8  ♜ ♞ ♝ ♛ ♚ ♝ ♞ ♜\n"), "{white}");
        assert!(white.contains("explosion    White wins at once by Nxd7#, Nxf7#\n"), "{white}");
        let black = text(&format!("{fen} b KQkq - 0 3"), false);
        assert!(black.contains("threat       White threatens Nxd7#, Nxf7#\n"), "{black}");
    }

    #[test]
    fn kings_side_by_side_and_ends_are_told() {
        let touching = text("8/8/8/3kK3/8/8/q7/7R w - - 0 1", false);
        assert!(touching.contains("kings        touch"), "{touching}");
        let over = text("8/8/8/8/8/8/8/K6R b - - 0 1", false);
        assert!(over.contains("game over    1-0, White has won by explosion\n"), "{over}");
        assert!(!over.contains("legal moves"), "{over}");
    }
}
