//! Static evaluation: what a quiet position is worth, from the men and the safety of the kings.
//!
//! Material and piece-square values change with each move and are carried along by an
//! [`Accumulator`]; the rest is computed where it is asked for. Values are centipawns, tapered
//! between middlegame and endgame.

mod tables;

use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

use crate::{
    rules::{Bitboard, Color, Move, Piece, Position, Role, Square, attacks},
    search::score::{MAX_EVALUATION, Value},
};

/// A value in the middlegame and in the endgame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tapered {
    mg: Value,
    eg: Value,
}

const fn tapered(mg: Value, eg: Value) -> Tapered {
    Tapered { mg, eg }
}

/// What the evaluation knows of a position without looking at it again, from White's view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Accumulator {
    material: Tapered,
    /// Knights and bishops 1, rooks 2, queens 4; 24 at the start.
    phase: Value,
    /// Zobrist key of the pawns alone.
    pub(super) pawn_key: u64,
}

impl Accumulator {
    /// The accumulator of a position, from scratch.
    pub(super) fn new(position: &Position) -> Self {
        let mut accumulator = Self::default();
        for square in position.occupied() {
            accumulator.add(position.piece_on(square), square);
        }
        accumulator
    }

    /// The accumulator after a legal move of `position`, which this is the accumulator of.
    pub(super) fn after(mut self, position: &Position, mv: Move) -> Self {
        if mv.is_capture() {
            for square in position.explosion(mv) {
                self.remove(position.piece_on(square), square);
            }
            return self;
        }
        let piece = position.piece_on(mv.from());
        self.remove(piece, mv.from());
        if mv.is_castling() {
            let (king_to, rook_to) = mv.castling_targets();
            let rook = position.piece_on(mv.to());
            self.remove(rook, mv.to());
            self.add(rook, rook_to);
            self.add(piece, king_to);
        } else {
            let moved =
                piece.map(|piece| Piece { role: mv.promotion().unwrap_or(piece.role), ..piece });
            self.add(moved, mv.to());
        }
        self
    }

    #[inline]
    fn add(&mut self, piece: Option<Piece>, square: Square) {
        if let Some(piece) = piece {
            self.material += tables::piece_square(piece, square);
            self.phase += tables::PHASE[piece.role.index()];
            self.toggle_pawn(piece, square);
        }
    }

    #[inline]
    fn remove(&mut self, piece: Option<Piece>, square: Square) {
        if let Some(piece) = piece {
            self.material -= tables::piece_square(piece, square);
            self.phase -= tables::PHASE[piece.role.index()];
            self.toggle_pawn(piece, square);
        }
    }

    #[inline]
    fn toggle_pawn(&mut self, piece: Piece, square: Square) {
        if piece.role == Role::Pawn {
            self.pawn_key ^= crate::rules::pawn_key(piece.color, square);
        }
    }
}

/// The value of a position in centipawns for the side to move. Both kings are on the board, and
/// neither can be exploded by the side to move.
pub(super) fn evaluate(position: &Position, accumulator: &Accumulator) -> Value {
    let mut sum = accumulator.material;
    sum += side(position, Color::White) - side(position, Color::Black);
    let phase = accumulator.phase.clamp(0, tables::FULL_PHASE);
    let value = (sum.mg * phase + sum.eg * (tables::FULL_PHASE - phase)) / tables::FULL_PHASE;
    let value = scale(position, value);
    let value = if position.turn() == Color::White { value } else { -value };
    (value + tables::TEMPO).clamp(-MAX_EVALUATION, MAX_EVALUATION)
}

/// Terms of one side that depend on several men at once.
fn side(position: &Position, us: Color) -> Tapered {
    king(position, us) + passed_pawns(position, us)
}

/// The safety of a king: the men that stand beside it, and what the enemy can reach there. An
/// enemy that reaches a man beside the king explodes it (R2), so that the two multiply.
fn king(position: &Position, us: Color) -> Tapered {
    let Some(king) = position.king(us) else { return Tapered::default() };
    let zone = attacks::king(king);
    let own = position.side(us) & zone;
    let pawns = own & position.role(Role::Pawn);
    let mut sum = tables::PAWN_BESIDE_KING * Bitboard::len(pawns) as Value
        + tables::PIECE_BESIDE_KING * Bitboard::len(own.without(pawns)) as Value;

    let enemy = position.side(!us);
    let occupied = position.occupied();
    let mut danger = 0;
    for (role, weight) in tables::ATTACK_WEIGHT {
        for from in enemy & position.role(role) {
            let reached = match role {
                Role::Knight => attacks::knight(from),
                Role::Bishop => attacks::bishop(from, occupied),
                Role::Rook => attacks::rook(from, occupied),
                _ => attacks::queen(from, occupied),
            };
            let count = Bitboard::len(reached & zone) as Value;
            if count > 0 {
                danger += weight + tables::ZONE_SQUARE * count;
            }
        }
    }
    sum += Tapered {
        mg: -(danger * danger / tables::DANGER_DIVISOR).min(tables::MOST_DANGER),
        eg: -danger / 4,
    };
    sum
}

/// Pawns that no enemy pawn can stop, by their rank.
fn passed_pawns(position: &Position, us: Color) -> Tapered {
    let mut sum = Tapered::default();
    let theirs = position.of(!us, Role::Pawn);
    for pawn in position.of(us, Role::Pawn) {
        let file = Bitboard::file(pawn.file());
        let ahead = match us {
            Color::White => !Bitboard::EMPTY.0 << 8 << (8 * u32::from(pawn.rank())).min(63),
            Color::Black => (1_u64 << (8 * u32::from(pawn.rank()))) - 1,
        };
        let span = (file | file.east() | file.west()) & Bitboard(ahead);
        if (span & theirs).is_empty() {
            let rank = if us == Color::White { pawn.rank() } else { 7 - pawn.rank() };
            sum += tables::PASSED[rank as usize];
        }
    }
    sum
}

/// Draws toward zero what is hard to win: without pawns on the board, a side that leads needs more
/// than a minor piece against a bare king (engine notes, section 2).
fn scale(position: &Position, value: Value) -> Value {
    let leader = if value > 0 { Color::White } else { Color::Black };
    if position.of(leader, Role::Pawn).any() || position.of(leader, Role::Queen).any() {
        return value;
    }
    let men = Bitboard::len(position.side(leader));
    if position.has_bare_king(leader) {
        0
    } else if men <= 2 {
        value / 8
    } else {
        value
    }
}

impl Add for Tapered {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        tapered(self.mg + other.mg, self.eg + other.eg)
    }
}

impl AddAssign for Tapered {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Tapered {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        tapered(self.mg - other.mg, self.eg - other.eg)
    }
}

impl SubAssign for Tapered {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Neg for Tapered {
    type Output = Self;
    fn neg(self) -> Self {
        tapered(-self.mg, -self.eg)
    }
}

impl Mul<Value> for Tapered {
    type Output = Self;
    fn mul(self, factor: Value) -> Self {
        tapered(self.mg * factor, self.eg * factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_accumulator_follows_every_move() {
        for seed in 0..100 {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut position = Position::initial();
            let mut accumulator = Accumulator::new(&position);
            for _ in 0..150 {
                let moves = position.legal_moves();
                let Some(&mv) = random.choice(moves.iter()) else { break };
                accumulator = accumulator.after(&position, mv);
                position.play_unchecked(mv);
                assert_eq!(accumulator, Accumulator::new(&position), "{mv} to {position:?}");
            }
        }
    }

    fn value(fen: &str) -> Value {
        let position = Position::from_fen(fen).unwrap();
        evaluate(&position, &Accumulator::new(&position))
    }

    #[test]
    fn both_sides_are_judged_alike() {
        for (white, black) in [
            (
                "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1",
                "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b - - 0 1",
            ),
            ("4k3/8/8/2p5/8/P7/8/RN2K3 w - - 0 1", "rn2k3/8/p7/8/2P5/8/8/4K3 b - - 0 1"),
            ("6k1/5ppp/8/3Q4/P7/8/8/4K3 w - - 0 1", "4k3/8/8/p7/3q4/8/5PPP/6K1 b - - 0 1"),
        ] {
            assert_eq!(value(white), value(black), "{white}");
        }
    }

    #[test]
    fn a_passed_pawn_on_every_rank_is_seen() {
        for rank in 1..7 {
            for file in 0..8 {
                let mut rows = vec!["8".to_owned(); 8];
                rows[7 - rank] = match file {
                    0 => "P7".to_owned(),
                    7 => "7P".to_owned(),
                    _ => format!("{file}P{}", 7 - file),
                };
                let fen = format!("{} w - - 0 1", rows.join("/"));
                let fen = if rank == 6 {
                    fen.replacen("8/", "k7/", 1)
                } else {
                    fen.replacen("8/", "k6K/", 1)
                };
                let fen = if rank == 6 { fen.replacen("/8 w", "/K7 w", 1) } else { fen };
                let Ok(position) = Position::from_fen(&fen) else { continue };
                assert!(passed_pawns(&position, Color::White) == tables::PASSED[rank], "{fen}");
            }
        }
    }

    #[test]
    fn r24_a_king_among_its_own_pieces_is_a_target() {
        let crowded = value("4k3/pppppppp/8/8/8/3NBN2/3RKR2/4Q3 w - - 0 1");
        let free = value("4k3/pppppppp/8/8/3N1N2/4B3/R6R/2Q3K1 w - - 0 1");
        assert!(crowded < free, "{crowded} {free}");
    }

    #[test]
    fn what_cannot_win_is_no_advantage() {
        assert!(value("4k3/8/3p4/8/8/8/8/4K3 b - - 0 1") > 100);
        assert!(value("4k3/8/8/8/8/3R4/8/4K3 w - - 0 1").abs() < 100);
    }
}
