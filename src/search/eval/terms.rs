//! The terms of the evaluation: what is counted, each with its weight's index.
//!
//! The evaluation is linear in its weights. [`count`] tells a [`Sink`] which weights apply, and how
//! often; one sink sums them up for the search, another writes them down for the tuner, so that
//! both mean the same.

use super::PHASE;
use crate::rules::{Bitboard, Color, Piece, Position, Role, Square, attacks};

/// Material and placement: by role and square from the own side.
pub(super) const PIECE_SQUARE: usize = 0;
/// Men other than kings by role and distance (1 to 7) from the enemy king, which a blast there
/// would take.
const ENEMY_DISTANCE: usize = PIECE_SQUARE + 6 * 64;
/// The same from the own king, whose neighbors are its weakness (R24).
const OWN_DISTANCE: usize = ENEMY_DISTANCE + 5 * 8;
/// How many squares a piece reaches, 0 to 27, for each role from knight to queen.
const MOBILITY: usize = OWN_DISTANCE + 5 * 8;
const MOBILITIES: usize = 28;
/// Attacks weigh more for the side to move: what follows counts for the other side first, and then for
/// the side to move.
const ROLES: usize = 6;
/// Enemy men beside their king that are attacked, each a threat to explode it; by attacking role.
const THREAT: usize = MOBILITY + 4 * MOBILITIES;
/// Empty squares beside the enemy king that are attacked, by role.
const NEAR: usize = THREAT + 2 * ROLES;
/// How many men attack squares beside the enemy king, 0 to 7, and how many empty squares beside it
/// no piece or pawn attacks, 0 to 8: where it can flee.
const SIEGE: usize = NEAR + 2 * ROLES;
const SIEGES: usize = 8 * FLIGHTS;
const FLIGHTS: usize = 9;
/// Passed pawns by rank from the own side.
const PASSED: usize = SIEGE + 2 * SIEGES;
/// Rights to castle.
const CASTLING: usize = PASSED + 8;
/// Pawns of the own side that stand before the own king, on its file or beside.
const SHELTER: usize = CASTLING + 1;
/// Empty squares that a piece reaches and would give check from, by role.
const CHECK: usize = SHELTER + 1;
/// Empty squares that a piece reaches and would threaten an explosion of the king from, by role.
const AIM: usize = CHECK + 2 * ROLES;
/// Pieces, counted as in the phase, by the distance between the kings: touching kings hold much.
const KINGS: usize = AIM + 2 * ROLES;
/// How many own men other than pawns stand beside the own king, 0 to 8 (R24).
const CROWD: usize = KINGS + 8;
/// The side to move.
pub(super) const TEMPO: usize = CROWD + 9;
/// Number of weights.
pub(super) const COUNT: usize = TEMPO + 1;

/// What takes the counts.
pub(super) trait Sink {
    /// The weight of this index applies `count` times for `color`.
    fn add(&mut self, color: Color, index: usize, count: i32);
}

/// The index of a man's placement.
#[inline]
const fn piece_square(piece: Piece, square: Square) -> usize {
    let square = match piece.color {
        Color::White => square,
        Color::Black => square.flip_rank(),
    };
    PIECE_SQUARE + piece.role.index() * 64 + square.index()
}

/// The indices that apply to a man by where it stands, and where the kings stand: its square, its
/// distance from the enemy king and from its own. A king counts by its square alone.
#[inline]
pub(super) fn placement(piece: Piece, square: Square, kings: [Square; 2]) -> [usize; 3] {
    let index = piece_square(piece, square);
    if piece.role == Role::King {
        return [index; 3];
    }
    let row = piece.role.index() * 8;
    let theirs = kings[(!piece.color).index()];
    let ours = kings[piece.color.index()];
    [
        index,
        ENEMY_DISTANCE + row + distance(square, theirs),
        OWN_DISTANCE + row + distance(square, ours),
    ]
}

/// Counts every term but placement and tempo. Both kings are on the board.
#[inline(always)]
pub(super) fn count(position: &Position, sink: &mut impl Sink) {
    let (Some(white), Some(black)) = (position.king(Color::White), position.king(Color::Black))
    else {
        return;
    };
    side::<true>(position, white, black, sink);
    side::<false>(position, black, white, sink);
}

/// One side's terms. The color is known at compile time, since this is the hottest code of all.
#[inline(always)]
fn side<const WHITE: bool>(
    position: &Position,
    ours: Square,
    theirs: Square,
    sink: &mut impl Sink,
) {
    let us = if WHITE { Color::White } else { Color::Black };
    let own = position.side(us);
    let enemy = position.side(!us);
    let occupied = own | enemy;
    let zone = attacks::king(theirs);
    // A capture beside our own king would explode it too, so that it threatens nothing.
    let targets = (zone & enemy).without(attacks::king(ours));
    let near = zone.without(occupied);
    let checks = Approach::of(Bitboard::of(theirs), occupied);
    let aims = Approach::of(targets, occupied);
    let is_turn = usize::from(position.turn() == us);
    let roles = is_turn * ROLES;
    let mut attacked = Bitboard::EMPTY;
    let (mut attackers, mut phase) = (0, 0);
    for role in [Role::Knight, Role::Bishop, Role::Rook, Role::Queen] {
        let (check_from, aim_from) = (checks.from(role), aims.from(role));
        let (mut hits, mut close, mut checking, mut aiming) = (0, 0, 0, 0);
        for from in own & position.role(role) {
            let reached = match role {
                Role::Knight => attacks::knight(from),
                Role::Bishop => attacks::bishop(from, occupied),
                Role::Rook => attacks::rook(from, occupied),
                _ => attacks::queen(from, occupied),
            };
            let mobility = reached.without(own).len();
            sink.add(us, MOBILITY + (role.index() - 1) * MOBILITIES + mobility, 1);
            let free = reached.without(occupied);
            hits += size(reached & targets);
            close += size(reached & near);
            checking += size(free & check_from);
            aiming += size(free & aim_from);
            attacked |= reached;
            attackers += usize::from(reached.meets(targets | near));
            phase += PHASE[role.index()];
        }
        sink.add(us, THREAT + roles + role.index(), hits);
        sink.add(us, NEAR + roles + role.index(), close);
        sink.add(us, CHECK + roles + role.index(), checking);
        sink.add(us, AIM + roles + role.index(), aiming);
    }
    let pawns = own & position.role(Role::Pawn);
    let ahead = if WHITE { pawns.north() } else { pawns.south() };
    let sides = [ahead.east(), ahead.west()];
    let sum = |set: Bitboard| sides.iter().map(|&reached| size(reached & set)).sum();
    sink.add(us, THREAT + roles + Role::Pawn.index(), sum(targets));
    sink.add(us, NEAR + roles + Role::Pawn.index(), sum(near));
    attackers += (pawns & attacks::pawns(!us, targets | near)).len();
    let attacked = attacked | sides[0] | sides[1];
    let siege = attackers.min(7) * FLIGHTS + near.without(attacked).len();
    sink.add(us, SIEGE + is_turn * SIEGES + siege, 1);
    let crowd = attacks::king(ours) & own.without(pawns);
    sink.add(us, CROWD + crowd.len(), 1);
    sink.add(us, KINGS + distance(ours, theirs), phase);
    passed_pawns(us, pawns, enemy & position.role(Role::Pawn), sink);
    sink.add(us, CASTLING, size(position.castling_rooks() & own));
    sink.add(us, SHELTER, size(shelter(us, ours) & pawns));
}

/// Where pieces attack one of some squares from.
struct Approach {
    knight: Bitboard,
    diagonal: Bitboard,
    line: Bitboard,
}

impl Approach {
    #[inline]
    fn of(squares: Bitboard, occupied: Bitboard) -> Self {
        let none = Bitboard::EMPTY;
        let mut approach = Self { knight: none, diagonal: none, line: none };
        for square in squares {
            approach.knight |= attacks::knight(square);
            approach.diagonal |= attacks::bishop(square, occupied);
            approach.line |= attacks::rook(square, occupied);
        }
        approach
    }

    #[inline]
    fn from(&self, role: Role) -> Bitboard {
        match role {
            Role::Knight => self.knight,
            Role::Bishop => self.diagonal,
            Role::Rook => self.line,
            _ => self.diagonal | self.line,
        }
    }
}

#[inline]
fn size(squares: Bitboard) -> i32 {
    squares.0.count_ones().cast_signed()
}

/// King moves between two squares.
#[inline]
fn distance(a: Square, b: Square) -> usize {
    DISTANCE[a.index()][b.index()].into()
}

static DISTANCE: [[u8; 64]; 64] = distance_table();

const fn distance_table() -> [[u8; 64]; 64] {
    let mut table = [[0; 64]; 64];
    let mut i = 0_usize;
    while i < 64 * 64 {
        let (a, b) = (i / 64, i % 64);
        let files = (a % 8).abs_diff(b % 8);
        let ranks = (a / 8).abs_diff(b / 8);
        table[a][b] = if files > ranks { files } else { ranks } as u8;
        i += 1;
    }
    table
}

/// Pawns with no enemy pawn before them, on their file or beside.
#[inline]
fn passed_pawns(us: Color, pawns: Bitboard, theirs: Bitboard, sink: &mut impl Sink) {
    let stoppers = theirs | theirs.east() | theirs.west();
    for pawn in pawns.without(behind(us, stoppers)) {
        let rank = if us == Color::White { pawn.rank() } else { 7 - pawn.rank() };
        sink.add(us, PASSED + usize::from(rank), 1);
    }
}

/// Every square before which, as the side sees it, one of these stands on the same file.
#[inline]
const fn behind(us: Color, squares: Bitboard) -> Bitboard {
    let mut set = squares.0;
    match us {
        Color::White => {
            set >>= 8;
            set |= set >> 8;
            set |= set >> 16;
            set |= set >> 32;
        }
        Color::Black => {
            set <<= 8;
            set |= set << 8;
            set |= set << 16;
            set |= set << 32;
        }
    }
    Bitboard(set)
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
    fn behind_means_behind_on_every_rank() {
        let square = |file, rank| Bitboard::of(Square::at(file, rank));
        assert_eq!(behind(Color::White, square(3, 0)), Bitboard::EMPTY);
        assert_eq!(behind(Color::White, square(3, 2)), square(3, 0) | square(3, 1));
        assert_eq!(behind(Color::White, square(3, 7)).len(), 7);
        assert_eq!(behind(Color::Black, square(3, 7)), Bitboard::EMPTY);
        assert_eq!(behind(Color::Black, square(3, 5)), square(3, 6) | square(3, 7));
        assert_eq!(behind(Color::Black, square(3, 0)).len(), 7);
    }

    #[test]
    fn distances_are_king_moves() {
        assert_eq!(distance(Square::at(0, 0), Square::at(7, 3)), 7);
        assert_eq!(distance(Square::at(4, 4), Square::at(3, 6)), 2);
        assert_eq!(distance(Square::at(4, 4), Square::at(4, 4)), 0);
    }
}
