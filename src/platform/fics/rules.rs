//! Where the rules of FICS, or what it tells of them, are others than ours (section 10 of the FICS
//! notes).
//!
//! The server is the referee: what it shows is on the board, whatever our rules say. This file says
//! how far its lines are to be believed, and how a move is written to it.

use crate::{
    platform::fics::style12::Board,
    rules::{Color, Move, ParseFenError, Position},
};

/// Repetition and fifty moves draw only when a player says so; elsewhere by themselves (R22).
pub const DRAWS_ARE_CLAIMED: bool = true;

/// The position of a board.
///
/// # Errors
///
/// [`ParseFenError`] if our rules cannot play from there.
pub fn position(board: &Board) -> Result<Position, ParseFenError> {
    let turn = if board.turn == Color::White { 'w' } else { 'b' };
    Position::from_fen(&format!(
        "{} {turn} {} {} {} {}",
        board.placement,
        castling_field(board),
        en_passant_field(board),
        board.halfmove_clock,
        board.move_number.min(u32::from(u16::MAX)),
    ))
}

/// Whether a position has the men of a board where the board has them, and the same side to move.
/// The rights to castle are left out: the server's flags say less than ours.
pub fn is_shown_by(position: &Position, board: &Board) -> bool {
    let fen = position.fen();
    position.turn() == board.turn && fen.split(' ').next() == Some(board.placement.as_str())
}

/// How a move is written to the server: squares, `=` before a promotion, `o-o` and `o-o-o`.
pub fn move_text(mv: Move) -> String {
    if mv.is_castling() {
        let is_short = mv.to().file() > mv.from().file();
        return if is_short { "o-o" } else { "o-o-o" }.to_owned();
    }
    let promotion = mv.promotion().map(|role| format!("={}", role.letter().to_ascii_uppercase()));
    format!("{}{}{}", mv.from(), mv.to(), promotion.unwrap_or_default())
}

/// A flag means only that the king and the rook have not moved. They may have exploded since, so
/// that both must stand where they began.
fn castling_field(board: &Board) -> String {
    let ranks: Vec<Vec<char>> = board.placement.split('/').map(spread).collect();
    let stands = |rank: usize, file: usize, man: char| {
        ranks.get(rank).and_then(|rank| rank.get(file)) == Some(&man)
    };
    let rights: String = [('K', 7, 7), ('Q', 7, 0), ('k', 0, 7), ('q', 0, 0)]
        .into_iter()
        .zip(board.castling)
        .filter(|&((letter, rank, file), flag)| {
            let (king, rook) = if letter.is_uppercase() { ('K', 'R') } else { ('k', 'r') };
            flag && stands(rank, 4, king) && stands(rank, file, rook)
        })
        .map(|((letter, ..), _)| letter)
        .collect();
    if rights.is_empty() { "-".to_owned() } else { rights }
}

/// The square behind a pawn that has just made a double step. The file is given whether or not
/// anything can be captured, and after a capture nothing needs to stand there.
fn en_passant_field(board: &Board) -> String {
    let Some(file) = board.double_step else { return "-".to_owned() };
    let ranks: Vec<Vec<char>> = board.placement.split('/').map(spread).collect();
    // From the top: the pawn, the square behind it, and where it came from.
    let (pawn, way, square_rank) = match board.turn {
        Color::White => ('p', [3, 2, 1], '6'),
        Color::Black => ('P', [4, 5, 6], '3'),
    };
    let man = |rank: usize| ranks.get(rank).and_then(|rank| rank.get(usize::from(file))).copied();
    if man(way[0]) == Some(pawn) && man(way[1]) == Some('-') && man(way[2]) == Some('-') {
        format!("{}{square_rank}", char::from(b'a' + file))
    } else {
        "-".to_owned()
    }
}

/// A rank of a FEN as eight letters.
fn spread(rank: &str) -> Vec<char> {
    let gap = |letter: char| letter.to_digit(10).map_or(0, |gap| gap as usize);
    rank.chars()
        .flat_map(|letter| match gap(letter) {
            0 => vec![letter],
            gap => vec!['-'; gap],
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::History;

    fn board(ranks: &str, turn: char, double_step: i8, castling: &str) -> Board {
        let line = format!(
            "<12> {ranks} {turn} {double_step} {castling} 0 1 A B 1 3 0 39 39 180000 180000 8 \
             none (0:00.000) none 0 1 0"
        );
        Board::parse(&line).unwrap()
    }

    const START: &str = "rnbqkbnr pppppppp -------- -------- -------- -------- PPPPPPPP RNBQKBNR";

    #[test]
    fn a_board_becomes_a_position() {
        let position = position(&board(START, 'W', -1, "1 1 1 1")).unwrap();
        assert_eq!(position.fen(), "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 8");
    }

    #[test]
    fn a_right_to_castle_needs_king_and_rook_in_place() {
        let ranks = "r---k--r pppppppp -------- -------- -------- -------- PPPPPPPP R---K---";
        let position = position(&board(ranks, 'W', -1, "1 1 1 0")).unwrap();
        assert_eq!(position.fen().split(' ').nth(2), Some("Qk"));
        let ranks = "r-k----r pppppppp -------- -------- -------- -------- PPPPPPPP ---RK--R";
        let position = super::position(&board(ranks, 'W', -1, "1 1 1 1")).unwrap();
        assert_eq!(position.fen().split(' ').nth(2), Some("K"));
    }

    #[test]
    fn a_double_step_is_believed_where_a_pawn_can_have_made_it() {
        let ranks = "rnbqkbnr ppp-pppp -------- ---pP--- -------- -------- PPPP-PPP RNBQKBNR";
        let position = position(&board(ranks, 'W', 3, "1 1 1 1")).unwrap();
        assert_eq!(position.fen().split(' ').nth(3), Some("d6"));
        let position = super::position(&board(ranks, 'W', 2, "1 1 1 1")).unwrap();
        assert_eq!(position.fen().split(' ').nth(3), Some("-"));
        let position = super::position(&board(START, 'B', 4, "1 1 1 1")).unwrap();
        assert_eq!(position.fen().split(' ').nth(3), Some("-"));
    }

    #[test]
    fn a_board_after_an_explosion_is_taken() {
        let ranks = "rn---b-r ppp-p-pp -----p-n -------- -------- -------- PPPPPPPP RNBQKB-R";
        let position = position(&board(ranks, 'B', -1, "1 1 0 0")).unwrap();
        assert!(position.outcome().is_some());
    }

    #[test]
    fn our_own_replay_is_compared_by_men_and_turn() {
        let mut history = History::default();
        assert!(is_shown_by(history.position(), &board(START, 'W', -1, "0 0 0 0")));
        assert!(!is_shown_by(history.position(), &board(START, 'B', -1, "1 1 1 1")));
        history.play_uci("g1f3").unwrap();
        assert!(!is_shown_by(history.position(), &board(START, 'B', -1, "1 1 1 1")));
    }

    #[test]
    fn moves_are_written_as_the_server_takes_them() {
        for (fen, uci, text) in [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "e2e4", "e2e4"),
            ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1", "o-o"),
            ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "e8a8", "o-o-o"),
            ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8n", "a7a8=N"),
        ] {
            let mv = Position::from_fen(fen).unwrap().parse_uci(uci).unwrap();
            assert_eq!(move_text(mv), text);
        }
    }

    #[test]
    fn nothing_draws_by_itself_but_by_a_claim() {
        const { assert!(DRAWS_ARE_CLAIMED) };
    }
}
