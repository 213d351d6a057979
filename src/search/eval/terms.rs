//! The terms of the evaluation: what is counted, each with its weight's index.
//!
//! The evaluation is linear in its weights. [`count`] tells a [`Sink`] which weights apply, and how
//! often; one sink sums them up for the search, another writes them down for the tuner, so that
//! both mean the same.

use crate::rules::{Bitboard, Color, Piece, Position, Role, Square, attacks};

/// Material and placement: by role and square from the own side.
pub(super) const PIECE_SQUARE: usize = 0;
/// Men other than kings by role and distance (1 to 7) from the enemy king, which a blast there
/// would take.
const ENEMY_DISTANCE: usize = PIECE_SQUARE + 6 * 64;
/// The same from the own king, whose neighbors are its weakness (R24).
const OWN_DISTANCE: usize = ENEMY_DISTANCE + 5 * 8;
/// Squares that a piece reaches, by role.
const MOBILITY: usize = OWN_DISTANCE + 5 * 8;
/// Enemy men beside their king that are attacked, each a threat to explode it; by attacking role.
const THREAT: usize = MOBILITY + 6;
/// Empty squares beside the enemy king that are attacked, by role.
const NEAR: usize = THREAT + 6;
/// How many men attack squares beside the enemy king, 0 to 7.
const ATTACKERS: usize = NEAR + 6;
/// Passed pawns by rank from the own side.
const PASSED: usize = ATTACKERS + 8;
/// Rights to castle.
const CASTLING: usize = PASSED + 8;
/// Pawns of the own side that stand before the own king, on its file or beside.
const SHELTER: usize = CASTLING + 1;
/// The side to move.
pub(super) const TEMPO: usize = SHELTER + 1;
/// Number of weights.
pub(super) const COUNT: usize = TEMPO + 1;

/// What takes the counts.
pub(super) trait Sink {
    /// The weight of this index applies `count` times for `color`.
    fn add(&mut self, color: Color, index: usize, count: i32);
}

/// The index of a man's placement.
#[inline]
pub(super) const fn piece_square(piece: Piece, square: Square) -> usize {
    let square = match piece.color {
        Color::White => square,
        Color::Black => square.flip_rank(),
    };
    PIECE_SQUARE + piece.role.index() * 64 + square.index()
}

/// Counts every term but placement and tempo. Both kings are on the board.
#[inline]
pub(super) fn count(position: &Position, sink: &mut impl Sink) {
    let (Some(white), Some(black)) = (position.king(Color::White), position.king(Color::Black))
    else {
        return;
    };
    side(position, Color::White, white, black, sink);
    side(position, Color::Black, black, white, sink);
}

#[inline]
fn side(position: &Position, us: Color, ours: Square, theirs: Square, sink: &mut impl Sink) {
    let own = position.side(us);
    let enemy = position.side(!us);
    let occupied = own | enemy;
    let zone = attacks::king(theirs);
    // A capture beside our own king would explode it too, so that it threatens nothing.
    let targets = (zone & enemy).without(attacks::king(ours));
    let near = zone.without(occupied);
    let mut attackers = 0;
    for role in [Role::Knight, Role::Bishop, Role::Rook, Role::Queen] {
        for from in own & position.role(role) {
            let reached = match role {
                Role::Knight => attacks::knight(from),
                Role::Bishop => attacks::bishop(from, occupied),
                Role::Rook => attacks::rook(from, occupied),
                _ => attacks::queen(from, occupied),
            };
            sink.add(us, MOBILITY + role.index(), size(reached.without(own)));
            attackers += reach(role, reached, targets, near, us, sink);
            distances(role, from, ours, theirs, us, sink);
        }
    }
    let pawns = own & position.role(Role::Pawn);
    for from in pawns {
        attackers += reach(Role::Pawn, attacks::pawn(us, from), targets, near, us, sink);
        distances(Role::Pawn, from, ours, theirs, us, sink);
    }
    passed_pawns(position, us, pawns, sink);
    sink.add(us, ATTACKERS + attackers.min(7), 1);
    let rights = position.castling_rooks() & own;
    sink.add(us, CASTLING, size(rights));
    sink.add(us, SHELTER, size(shelter(us, ours) & pawns));
}

fn size(squares: Bitboard) -> i32 {
    squares.0.count_ones().cast_signed()
}

/// Counts what a man reaches beside the enemy king; 1 if it reaches anything there.
#[inline]
fn reach(
    role: Role,
    reached: Bitboard,
    targets: Bitboard,
    near: Bitboard,
    us: Color,
    sink: &mut impl Sink,
) -> usize {
    let hits = reached & targets;
    let close = reached & near;
    if (hits | close).is_empty() {
        return 0;
    }
    sink.add(us, THREAT + role.index(), size(hits));
    sink.add(us, NEAR + role.index(), size(close));
    1
}

#[inline]
fn distances(
    role: Role,
    from: Square,
    ours: Square,
    theirs: Square,
    us: Color,
    sink: &mut impl Sink,
) {
    sink.add(us, ENEMY_DISTANCE + role.index() * 8 + distance(from, theirs), 1);
    sink.add(us, OWN_DISTANCE + role.index() * 8 + distance(from, ours), 1);
}

/// King moves between two squares.
#[inline]
fn distance(a: Square, b: Square) -> usize {
    a.file().abs_diff(b.file()).max(a.rank().abs_diff(b.rank())).into()
}

fn passed_pawns(position: &Position, us: Color, pawns: Bitboard, sink: &mut impl Sink) {
    let theirs = position.of(!us, Role::Pawn);
    for pawn in pawns {
        let file = Bitboard::file(pawn.file());
        let span = (file | file.east() | file.west()) & ahead(us, pawn.rank());
        if (span & theirs).is_empty() {
            let rank = if us == Color::White { pawn.rank() } else { 7 - pawn.rank() };
            sink.add(us, PASSED + usize::from(rank), 1);
        }
    }
}

/// All ranks before this one, as the side sees it.
fn ahead(us: Color, rank: u8) -> Bitboard {
    let below = Bitboard((1 << (8 * u32::from(rank))) - 1);
    match us {
        Color::White => !(below | Bitboard::rank(rank)),
        Color::Black => below,
    }
}

/// The squares one and two ranks before the king, on its file and beside.
fn shelter(us: Color, king: Square) -> Bitboard {
    let row = Bitboard::of(king) | Bitboard::of(king).east() | Bitboard::of(king).west();
    match us {
        Color::White => row.north() | row.north().north(),
        Color::Black => row.south() | row.south().south(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ahead_means_ahead_on_every_rank() {
        assert_eq!(ahead(Color::White, 0), !Bitboard::rank(0));
        assert_eq!(ahead(Color::White, 7), Bitboard::EMPTY);
        assert_eq!(ahead(Color::Black, 0), Bitboard::EMPTY);
        assert_eq!(ahead(Color::Black, 7), !Bitboard::rank(7));
    }
}
