//! What earlier cutoffs say about moves: the scores that order quiet moves and captures.

use crate::{
    rules::{Color, Move, Piece, Position, Role, Square},
    search::score::Value,
};

/// No score grows beyond this.
const LIMIT: i32 = 16_384;

/// A piece and where it went: what a continuation is a continuation of. 0 to 767.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PieceTo(u16);

impl PieceTo {
    pub(super) fn new(piece: Piece, to: Square) -> Self {
        Self(((piece.color.index() * 6 + piece.role.index()) * 64 + to.index()) as u16)
    }

    const fn index(self) -> usize {
        self.0 as usize
    }
}

const PIECE_TOS: usize = 2 * 6 * 64;

/// The tables of one searching thread.
pub(super) struct Histories {
    /// By side, origin and target.
    quiet: Box<[[[i16; 64]; 64]; 2]>,
    /// By moving piece, target and captured role.
    capture: Box<[[i16; 6]; PIECE_TOS]>,
    /// By an earlier move and this one.
    continuation: Box<[[i16; PIECE_TOS]]>,
    /// The evaluation's error by side to move and pawns.
    pawn_correction: Box<[[i16; 2]]>,
}

const CORRECTIONS: usize = 16_384;
/// Corrections are stored in this part of a centipawn.
const CORRECTION_GRAIN: i32 = 64;
const CORRECTION_LIMIT: i32 = 64 * CORRECTION_GRAIN;

impl Histories {
    pub(super) fn new() -> Self {
        Self {
            quiet: Box::new([[[0; 64]; 64]; 2]),
            capture: Box::new([[0; 6]; PIECE_TOS]),
            continuation: vec![[0; PIECE_TOS]; PIECE_TOS].into_boxed_slice(),
            pawn_correction: vec![[0; 2]; CORRECTIONS].into_boxed_slice(),
        }
    }

    pub(super) fn clear(&mut self) {
        self.quiet.as_flattened_mut().as_flattened_mut().fill(0);
        self.capture.as_flattened_mut().fill(0);
        self.continuation.as_flattened_mut().fill(0);
        self.pawn_correction.as_flattened_mut().fill(0);
    }

    /// The score of a quiet move after the given earlier moves.
    pub(super) fn quiet(
        &self,
        color: Color,
        mv: Move,
        at: PieceTo,
        before: [Option<PieceTo>; 2],
    ) -> i32 {
        let mut score = i32::from(self.quiet[color.index()][mv.from().index()][mv.to().index()]);
        for earlier in before.into_iter().flatten() {
            score += i32::from(self.continuation[earlier.index()][at.index()]);
        }
        score
    }

    pub(super) fn update_quiet(
        &mut self,
        color: Color,
        mv: Move,
        at: PieceTo,
        before: [Option<PieceTo>; 2],
        bonus: i32,
    ) {
        gravitate(&mut self.quiet[color.index()][mv.from().index()][mv.to().index()], bonus);
        for earlier in before.into_iter().flatten() {
            gravitate(&mut self.continuation[earlier.index()][at.index()], bonus);
        }
    }

    /// The score of a capture.
    pub(super) fn capture(&self, position: &Position, mv: Move, at: PieceTo) -> i32 {
        self.capture[at.index()][captured(position, mv)].into()
    }

    pub(super) fn update_capture(
        &mut self,
        position: &Position,
        mv: Move,
        at: PieceTo,
        bonus: i32,
    ) {
        gravitate(&mut self.capture[at.index()][captured(position, mv)], bonus);
    }

    /// What to add to a static evaluation, in centipawns.
    pub(super) fn correction(&self, color: Color, pawn_key: u64) -> Value {
        i32::from(self.pawn_correction[pawn_key as usize % CORRECTIONS][color.index()])
            / CORRECTION_GRAIN
    }

    /// Learns that the evaluation was wrong by `error` centipawns, as a search of this depth says.
    pub(super) fn correct(&mut self, color: Color, pawn_key: u64, error: Value, depth: i32) {
        let entry = &mut self.pawn_correction[pawn_key as usize % CORRECTIONS][color.index()];
        let weight = (depth + 1).min(16);
        let old = i32::from(*entry) * (256 - weight);
        let new = error.clamp(-256, 256) * CORRECTION_GRAIN * weight;
        *entry = ((old + new) / 256).clamp(-CORRECTION_LIMIT, CORRECTION_LIMIT) as i16;
    }
}

/// Moves a score toward the bonus' sign, the less the nearer it is to the limit.
fn gravitate(score: &mut i16, bonus: i32) {
    let bonus = bonus.clamp(-LIMIT, LIMIT);
    let old = i32::from(*score);
    *score = (old + bonus - old * bonus.abs() / LIMIT) as i16;
}

fn captured(position: &Position, mv: Move) -> usize {
    position.piece_on(mv.to()).map_or(Role::Pawn, |piece| piece.role).index()
}
