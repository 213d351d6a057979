//! What earlier cutoffs say about moves: the scores that order quiet moves and captures.

use crate::{
    rules::{Color, Move, Piece, Position, Role, Square},
    search::correction::Corrections,
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

    /// What a move of the position's side to move is; `None` from an empty square.
    pub(super) fn of(position: &Position, mv: Move) -> Option<Self> {
        position.piece_on(mv.from()).map(|piece| Self::new(piece, mv.to()))
    }

    pub(super) const fn index(self) -> usize {
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
    /// The static evaluation's errors.
    pub(super) corrections: Corrections,
}

impl Histories {
    pub(super) fn new() -> Self {
        Self {
            quiet: Box::new([[[0; 64]; 64]; 2]),
            capture: Box::new([[0; 6]; PIECE_TOS]),
            continuation: vec![[0; PIECE_TOS]; PIECE_TOS].into_boxed_slice(),
            corrections: Corrections::new(),
        }
    }

    pub(super) fn clear(&mut self) {
        self.quiet.as_flattened_mut().as_flattened_mut().fill(0);
        self.capture.as_flattened_mut().fill(0);
        self.continuation.as_flattened_mut().fill(0);
        self.corrections.clear();
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
