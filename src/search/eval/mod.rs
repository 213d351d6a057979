//! Static evaluation: what a quiet position is worth, from the men and the safety of the kings.
//!
//! The value has two parts, both fitted to games that the engine played with itself. One is linear
//! in its `WEIGHTS`; the `network` adds what no sum of terms can say. What changes little with a
//! move is carried along by an `Accumulator`; the other `terms` are counted where a value is asked
//! for. Values are centipawns; those of the terms are tapered between middlegame and endgame.

#![allow(
    clippy::inline_always,
    reason = "what `play` and `evaluate` call has to be compiled into each of their versions"
)]

mod bare_king;
pub mod network;
mod terms;
pub mod tuning;
mod weights;

use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

use multiversion::multiversion;

use crate::{
    rules::{Color, Move, Piece, Position, Role, Square},
    search::score::{MAX_EVALUATION, Value},
};
use network::Views;
use weights::WEIGHTS;

/// A value in the middlegame (the upper 32 bits) and in the endgame (the lower, signed, so that
/// a negative one borrows from above): both are added and multiplied at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tapered(i64);

const fn tapered(mg: Value, eg: Value) -> Tapered {
    Tapered(((mg as i64) << 32) + eg as i64)
}

impl Tapered {
    const fn eg(self) -> Value {
        self.0 as Value
    }

    const fn mg(self) -> Value {
        // Rounding gives back what a negative lower half has borrowed.
        ((self.0 + (1 << 31)) >> 32) as Value
    }
}

/// The share of each role in the phase, pawn to king.
const PHASE: [Value; 6] = [0, 1, 1, 2, 4, 0];
/// The phase of the start position.
const FULL_PHASE: Value = 24;

/// What the evaluation knows of a position without looking at it again, from White's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Accumulator {
    /// Placement, with the distances from both kings.
    placement: Tapered,
    /// What the network sees.
    views: Views,
    /// Where the kings stand, White's first.
    kings: [Square; 2],
    /// Knights and bishops 1, rooks 2, queens 4; 24 at the start.
    phase: Value,
    /// Zobrist key of the pawns alone.
    pub(super) pawn_key: u64,
}

impl Accumulator {
    /// The accumulator of a position, from scratch.
    pub(super) fn new(position: &Position) -> Self {
        let kings = kings(position);
        let views = Views::new(position, kings);
        let placement = Tapered::default();
        let mut accumulator = Self { placement, views, kings, phase: 0, pawn_key: 0 };
        accumulator.count(position);
        accumulator
    }

    /// Counts all that is not in the views anew.
    fn count(&mut self, position: &Position) {
        (self.placement, self.phase, self.pawn_key) = (Tapered::default(), 0, 0);
        for square in position.occupied() {
            self.add(position.piece_on(square), square);
        }
    }

    /// The accumulator after a legal move from `position`, which this is the accumulator of, to
    /// `next`. No king has exploded.
    #[inline]
    pub(super) fn after(&self, position: &Position, mv: Move, next: &Position) -> Self {
        let mut after = *self;
        play(&mut after, position, mv, next);
        after
    }

    #[inline]
    fn add(&mut self, piece: Option<Piece>, square: Square) {
        if let Some(piece) = piece {
            self.placement += signed(piece.color, self.placed(piece, square));
            self.phase += PHASE[piece.role.index()];
            self.toggle_pawn(piece, square);
        }
    }

    #[inline]
    fn remove(&mut self, piece: Option<Piece>, square: Square) {
        if let Some(piece) = piece {
            self.placement -= signed(piece.color, self.placed(piece, square));
            self.phase -= PHASE[piece.role.index()];
            self.toggle_pawn(piece, square);
        }
    }

    /// The weights of a man where it stands.
    #[inline]
    fn placed(&self, piece: Piece, square: Square) -> Tapered {
        let [square, enemy, own] = terms::placement(piece, square, self.kings);
        if piece.role == Role::King {
            return WEIGHTS[square];
        }
        WEIGHTS[square] + WEIGHTS[enemy] + WEIGHTS[own]
    }

    #[inline]
    fn toggle_pawn(&mut self, piece: Piece, square: Square) {
        if piece.role == Role::Pawn {
            self.pawn_key ^= crate::rules::pawn_key(piece.color, square);
        }
    }
}

/// Where the kings stand, White's first; a1 for one that has exploded, when nothing counts.
fn kings(position: &Position) -> [Square; 2] {
    Color::ALL.map(|color| position.king(color).unwrap_or(Square::at(0, 0)))
}

/// A weight from White's view.
#[inline]
fn signed(color: Color, weight: Tapered) -> Tapered {
    match color {
        Color::White => weight,
        Color::Black => -weight,
    }
}

/// Adds up the weights of each side.
#[derive(Default)]
struct Sum {
    white: Tapered,
    black: Tapered,
}

impl terms::Sink for Sum {
    #[inline]
    fn add(&mut self, color: Color, index: usize, count: i32) {
        let side = match color {
            Color::White => &mut self.white,
            Color::Black => &mut self.black,
        };
        *side += WEIGHTS[index] * count;
    }
}

/// Makes what is made once, so that no search has to wait for it.
pub(super) fn prepare() {
    bare_king::prepare();
}

/// Brings an accumulator from `position` to `next`, see [`Accumulator::after`].
///
/// This and [`evaluate`] are compiled twice: for any processor, and for those since 2013 with their
/// wider registers and counts of bits. Which one is called is found out as the program runs. A build
/// for any processor searches 1.4 times as fast so (`docs/ENGINE.md`, section 6).
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn play(accumulator: &mut Accumulator, position: &Position, mv: Move, next: &Position) {
    let Some(piece) = position.piece_on(mv.from()) else { return };
    accumulator.views.play(position, mv, next);
    if piece.role == Role::King {
        // Every man's distance from this king has changed.
        accumulator.kings = kings(next);
        accumulator.count(next);
        return;
    }
    if mv.is_capture() {
        for square in position.explosion(mv) {
            accumulator.remove(position.piece_on(square), square);
        }
        return;
    }
    accumulator.remove(Some(piece), mv.from());
    let role = mv.promotion().unwrap_or(piece.role);
    accumulator.add(Some(Piece { role, ..piece }), mv.to());
}

/// The value of a position in centipawns for the side to move. Both kings are on the board, and
/// the side to move cannot explode the other's at once.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
pub(super) fn evaluate(position: &Position, accumulator: &Accumulator) -> Value {
    let men = position.occupied().len();
    if men == 3
        && let Some(value) = bare_king::value(position)
    {
        return value;
    }
    let value = linear(position, accumulator) + accumulator.views.value(position.turn(), men);
    scale(position, value).clamp(-MAX_EVALUATION, MAX_EVALUATION)
}

/// The linear part of the value.
#[inline(always)]
fn linear(position: &Position, accumulator: &Accumulator) -> Value {
    let mut sum = Sum::default();
    terms::count(position, &mut sum);
    let sum = accumulator.placement + sum.white - sum.black;
    let sum = signed(position.turn(), sum) + WEIGHTS[terms::TEMPO];
    blend(sum, accumulator.phase)
}

fn blend(sum: Tapered, phase: Value) -> Value {
    let phase = phase.clamp(0, FULL_PHASE);
    (sum.mg() * phase + sum.eg() * (FULL_PHASE - phase)) / FULL_PHASE
}

/// Draws toward zero what is hard to win (`docs/ENGINE.md`, section 2). `value` is the side to
/// move's.
///
/// Without pawns and queens a side needs more than one piece beside its king, and more than two minor
/// pieces against a bare one. What a single queen or pawn does against it is known: see `bare_king`.
fn scale(position: &Position, value: Value) -> Value {
    let leader = if value > 0 { position.turn() } else { !position.turn() };
    let own = position.side(leader);
    let has = |role| (own & position.role(role)).any();
    let can_promote_or_mate = has(Role::Pawn) || has(Role::Queen);
    let is_alone = || position.has_bare_king(!leader);
    match own.len() {
        _ if can_promote_or_mate => value,
        0 | 1 => 0,
        2 => value / 8,
        3 if !has(Role::Rook) && is_alone() => value / 8,
        _ => value,
    }
}

impl Add for Tapered {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Tapered {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Tapered {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl SubAssign for Tapered {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

impl Neg for Tapered {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Mul<Value> for Tapered {
    type Output = Self;
    #[inline]
    fn mul(self, factor: Value) -> Self {
        Self(self.0 * i64::from(factor))
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
                let next = position.after(mv);
                if next.outcome().is_some() {
                    break;
                }
                accumulator = accumulator.after(&position, mv, &next);
                position = next;
                assert_eq!(accumulator, Accumulator::new(&position), "{mv} to {position:?}");
            }
        }
    }

    #[test]
    fn both_halves_of_a_tapered_value_survive_arithmetic() {
        for (a, b) in [((5, -3), (-7, 2)), ((-1, -1), (0, 1)), ((30_000, -30_000), (-1, 1))] {
            let sum = tapered(a.0, a.1) + tapered(b.0, b.1) * -3;
            assert_eq!((sum.mg(), sum.eg()), (a.0 - 3 * b.0, a.1 - 3 * b.1));
            let negative = -tapered(a.0, a.1);
            assert_eq!((negative.mg(), negative.eg()), (-a.0, -a.1));
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
    fn r24_a_king_among_its_own_pieces_is_a_target() {
        let crowded = value("4k3/pppppppp/8/8/8/3NBN2/3RKR2/4Q3 w - - 0 1");
        let free = value("4k3/pppppppp/8/8/3N1N2/4B3/R6R/2Q3K1 w - - 0 1");
        assert!(crowded < free, "{crowded} {free}");
    }

    #[test]
    fn what_cannot_win_is_no_advantage() {
        // A single pawn wins if the bare king comes too late to touch the other.
        assert!(value("4k3/8/3p4/8/8/8/8/4K3 b - - 0 1") < 50);
        assert!(value("4k3/8/8/8/8/8/3p3K/8 b - - 0 1") > 500);
        assert!(value("4k3/8/8/8/8/3R4/8/4K3 w - - 0 1").abs() < 100);
        // A queen wins against a bare king, unless the kings touch or will soon.
        assert!(value("7k/8/8/8/8/8/8/K3Q3 w - - 0 1") > 500);
        assert!(value("8/8/8/8/8/k7/8/K3Q3 w - - 0 1") < 100);
        assert!(value("8/8/8/8/8/8/k7/K3Q3 w - - 0 1") < 100);
        // Two pawns win where one does not.
        assert!(value("8/8/8/8/1P6/8/2k5/K7 w - - 0 1") < 50);
        assert!(value("8/8/8/8/PP6/8/2k5/K7 w - - 0 1") > 150);
    }
}
