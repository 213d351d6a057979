//! What must hold of every position and every move: the program against the rules written down
//! once more, as plainly as can be.

use meitner::rules::{
    Color, History, Kind, MAX_MOVES, Move, Outcome, Piece, Position, Role, Square, WinReason,
};

use super::source::Source;

const MOST_PLIES: usize = 24;

/// A game from any start: what must hold of a position holds after each move.
pub(super) fn game(data: &[u8]) {
    let mut source = Source(data);
    let Some(start) = source.position() else { return };
    let mut history = History::new(start);
    for _ in 0..MOST_PLIES {
        check_position(history.position());
        check_history(&history);
        let refused = Move::from_bits(u16::from(source.byte()) << 8 | u16::from(source.byte()));
        let moves = history.position().legal_moves();
        if !moves.contains(&refused) {
            let before = history.position().clone();
            history.play(refused).expect_err("only legal moves are played");
            assert_eq!(*history.position(), before);
        }
        let choice = source.choose(&moves).filter(|_| !source.is_empty());
        let Some(mv) = choice else { break };
        history.play(mv).expect("a move of the list is legal");
    }
    check_every_move(history.position());
}

fn check_history(history: &History) {
    assert_eq!(history.keys().last(), Some(&history.position().key()));
    assert_eq!(history.keys().len(), history.moves().len() + 1);
    assert!((1..=history.keys().len()).contains(&history.occurrences()));
    if history.position().outcome().is_some() {
        assert_eq!(history.outcome(), history.position().outcome());
    }
}

/// `is_legal` says of each of the 65536 possible moves what the list says.
fn check_every_move(position: &Position) {
    let mut is_listed = vec![false; 1 << 16];
    for mv in position.legal_moves() {
        is_listed[usize::from(mv.to_bits())] = true;
    }
    let generator = position.generator();
    for bits in 0..=u16::MAX {
        let mv = Move::from_bits(bits);
        let expected = is_listed[usize::from(mv.to_bits())];
        assert_eq!(generator.is_legal(mv), expected, "{mv:?} in {position:?}");
    }
}

/// Text, boards, key, moves and outcome of a position agree with each other.
pub(super) fn check_position(position: &Position) {
    check_text(position);
    check_boards(position);
    check_moves(position);
    check_outcome(position);
    if !position.is_check() {
        check_text(&position.after_null());
    }
}

/// Reading what was written gives the same position, key included: so the key that grew move by
/// move is the one computed afresh.
fn check_text(position: &Position) {
    assert_eq!(Position::from_fen(&position.fen()).as_ref(), Ok(position));
}

fn check_boards(position: &Position) {
    for square in Square::all() {
        let men: Vec<Piece> = Color::ALL
            .into_iter()
            .flat_map(|color| Role::ALL.map(|role| Piece { color, role }))
            .filter(|piece| position.of(piece.color, piece.role).contains(square))
            .collect();
        assert!(men.len() < 2, "{square} in {position:?}");
        assert_eq!(position.piece_on(square), men.first().copied(), "{square} in {position:?}");
        assert_eq!(position.occupied().contains(square), !men.is_empty(), "{square}");
    }
}

fn check_moves(position: &Position) {
    let moves = position.legal_moves();
    assert!(moves.len() < MAX_MOVES, "{} moves in {position:?}", moves.len());
    assert_eq!(position.generator().count(), moves.len() as u64, "{position:?}");
    let captures: Vec<Move> = moves.iter().copied().filter(|mv| mv.is_capture()).collect();
    assert_eq!(position.captures()[..], captures[..], "{position:?}");
    let mut bits: Vec<u16> = moves.iter().map(|mv| mv.to_bits()).collect();
    bits.sort_unstable();
    let expected = legal_by_definition(position);
    let (castling, others): (Vec<u16>, Vec<u16>) =
        bits.into_iter().partition(|&bits| Move::from_bits(bits).is_castling());
    assert_eq!(others, expected, "{position:?}");
    assert!(castling.len() <= 2 && castling.windows(2).all(|pair| pair[0] != pair[1]));
    for &mv in &moves {
        assert!(position.is_legal(mv), "{mv:?} in {position:?}");
        check_move(position, mv);
    }
    let explodes = |mv: &Move| position.after(*mv).king(!position.turn()).is_none();
    let wins = moves.iter().any(explodes);
    assert_eq!(position.generator().can_explode_king(), wins, "{position:?}");
}

/// The legal moves but castling, by trying every move that the men can make.
fn legal_by_definition(position: &Position) -> Vec<u16> {
    let us = position.turn();
    let mut found = Vec::new();
    if Color::ALL.into_iter().any(|color| position.king(color).is_none()) {
        return found;
    }
    for from in position.side(us) {
        for to in Square::all() {
            for (kind, is_capture) in kinds(position, from, to) {
                let bits = from.index() | to.index() << 6 | (kind as usize) << 12;
                let bits = u16::try_from(bits).expect("15 bits") | u16::from(is_capture) << 15;
                if is_king_safe(&position.after(Move::from_bits(bits)), us) {
                    found.push(bits);
                }
            }
        }
    }
    found.sort_unstable();
    found
}

/// The moves that the man on `from` can make to `to`, whatever becomes of its king.
fn kinds(position: &Position, from: Square, to: Square) -> Vec<(Kind, bool)> {
    let us = position.turn();
    let Some(Piece { role, .. }) = position.piece_on(from) else { return Vec::new() };
    let target = position.piece_on(to);
    let is_attacked = position.attackers(to, position.occupied()).contains(from);
    let is_reached = match (role, target) {
        (_, Some(target)) if target.color == us => false,
        (Role::King, Some(_)) => false,
        (Role::Pawn, None) if position.en_passant() == Some(to) && is_attacked => {
            return vec![(Kind::EnPassant, true)];
        }
        (Role::Pawn, None) => is_push(position, from, to),
        _ => is_attacked,
    };
    if !is_reached {
        return Vec::new();
    }
    let is_last = to.rank() == (!us).back_rank();
    let kinds: &[Kind] = if role == Role::Pawn && is_last {
        &[Kind::PromoteToKnight, Kind::PromoteToBishop, Kind::PromoteToRook, Kind::PromoteToQueen]
    } else {
        &[Kind::Normal]
    };
    kinds.iter().map(|&kind| (kind, target.is_some())).collect()
}

fn is_push(position: &Position, from: Square, to: Square) -> bool {
    let is_empty = |rank| position.piece_on(Square::at(from.file(), rank)).is_none();
    let (start, step) = if position.turn() == Color::White { (1, 1) } else { (6, -1) };
    let [one, two] = [1, 2].map(|steps| from.rank().wrapping_add_signed(step * steps));
    from.file() == to.file()
        && is_empty(one)
        && (to.rank() == one || (from.rank() == start && to.rank() == two && is_empty(two)))
}

/// Whether the king of the side that moved may be left like this (R7, R8, R10, R13).
fn is_king_safe(next: &Position, us: Color) -> bool {
    let Some(king) = next.king(us) else { return false };
    next.king(!us).is_none()
        || next.kings_touch()
        || (next.attackers(king, next.occupied()) & next.side(!us)).is_empty()
}

/// The position after a move is the one that the rulebook says (R1 to R5, R18).
fn check_move(position: &Position, mv: Move) {
    let next = position.after(mv);
    let us = position.turn();
    check_text(&next);
    assert!(is_king_safe(&next, us), "{mv:?} in {position:?}");
    assert_eq!(next.turn(), !us);
    let moved = position.piece_on(mv.from()).expect("a man moves");
    let gone = blown(position, mv);
    assert_eq!(position.explosion(mv).into_iter().collect::<Vec<_>>(), gone, "{mv:?}");
    for square in Square::all() {
        let expected = match () {
            () if gone.contains(&square) => None,
            () if mv.is_capture() => position.piece_on(square),
            () if mv.is_castling() => after_castling(position, mv, square),
            () if square == mv.from() => None,
            () if square == mv.to() => {
                Some(Piece { color: us, role: mv.promotion().unwrap_or(moved.role) })
            }
            () => position.piece_on(square),
        };
        assert_eq!(next.piece_on(square), expected, "{square} after {mv:?} in {position:?}");
    }
    let is_zeroing = mv.is_capture() || moved.role == Role::Pawn;
    let clock = if is_zeroing { 0 } else { position.halfmove_clock() + 1 };
    assert_eq!(next.halfmove_clock(), clock.min(u32::from(u16::MAX)), "{mv:?} in {position:?}");
    for rook in next.castling_rooks() {
        assert!(position.castling_rooks().contains(rook), "{mv:?} in {position:?}");
        let Some(Piece { color, role: Role::Rook }) = next.piece_on(rook) else {
            panic!("a right without its rook after {mv:?} in {position:?}")
        };
        assert_eq!(next.king(color), position.king(color), "{mv:?} in {position:?}");
    }
}

/// The squares that a capture empties, in order.
fn blown(position: &Position, mv: Move) -> Vec<Square> {
    if !mv.is_capture() {
        return Vec::new();
    }
    let is_blown = |square: Square| {
        let (files, ranks) =
            (square.file().abs_diff(mv.to().file()), square.rank().abs_diff(mv.to().rank()));
        let is_pawn = position.piece_on(square).is_none_or(|piece| piece.role == Role::Pawn);
        let captured = match mv.kind() {
            Kind::EnPassant => Square::at(mv.to().file(), mv.from().rank()),
            _ => mv.to(),
        };
        square == mv.from() || square == captured || (files <= 1 && ranks <= 1 && !is_pawn)
    };
    Square::all().filter(|&square| is_blown(square)).collect()
}

fn after_castling(position: &Position, mv: Move, square: Square) -> Option<Piece> {
    let color = position.turn();
    let is_king_side = mv.to().file() > mv.from().file();
    let [king, rook] = if is_king_side { [6, 5] } else { [2, 3] };
    match square {
        square if square == Square::at(king, mv.from().rank()) => {
            Some(Piece { color, role: Role::King })
        }
        square if square == Square::at(rook, mv.from().rank()) => {
            Some(Piece { color, role: Role::Rook })
        }
        square if square == mv.from() || square == mv.to() => None,
        square => position.piece_on(square),
    }
}

fn check_outcome(position: &Position) {
    let has_moves = !position.legal_moves().is_empty();
    let missing = Color::ALL.into_iter().find(|&color| position.king(color).is_none());
    match position.outcome() {
        Some(Outcome::Win { winner, by: WinReason::Explosion }) => {
            assert_eq!(missing, Some(!winner));
        }
        Some(Outcome::Win { winner, by: WinReason::Checkmate }) => {
            assert!(position.is_check() && !has_moves && winner != position.turn());
        }
        Some(Outcome::Draw(_)) => assert!(missing.is_none()),
        None => assert!(missing.is_none() && has_moves, "{position:?}"),
    }
}
