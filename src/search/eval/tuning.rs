//! The evaluation as the tuner sees it: which weights a position uses, and the weights to start
//! from.

use super::{Accumulator, FULL_PHASE, PHASE, kings, terms, weights::WEIGHTS};
use crate::rules::{Color, Position};

/// Number of weights, each with a middlegame and an endgame value.
pub const COUNT: usize = terms::COUNT;

/// The evaluation of one position as a linear function of the weights, from White's view: the sum
/// of `count * (phase * mg + (1 - phase) * eg)` over the terms.
#[derive(Clone, Debug, Default)]
pub struct Features {
    /// Weight index and how often it counts for White minus for Black.
    pub terms: Vec<(u16, i8)>,
    /// 1 in the start position, 0 without pieces.
    pub phase: f32,
}

struct Recorder([i8; COUNT]);

impl terms::Sink for Recorder {
    fn add(&mut self, color: Color, index: usize, count: i32) {
        let count = if color == Color::White { count } else { -count };
        self.0[index] = self.0[index].saturating_add(count as i8);
    }
}

/// What the evaluation counts in a position.
pub fn features(position: &Position) -> Features {
    let mut recorder = Recorder([0; COUNT]);
    terms::count(position, &mut recorder);
    let kings = kings(position);
    let mut phase = 0;
    for square in position.occupied() {
        if let Some(piece) = position.piece_on(square) {
            let mut indices = terms::placement(piece, square, kings).to_vec();
            indices.dedup();
            for index in indices {
                terms::Sink::add(&mut recorder, piece.color, index, 1);
            }
            phase += PHASE[piece.role.index()];
        }
    }
    terms::Sink::add(&mut recorder, position.turn(), terms::TEMPO, 1);
    let terms = (0_u16..).zip(recorder.0).filter(|&(_, count)| count != 0).collect();
    Features { terms, phase: phase.clamp(0, FULL_PHASE) as f32 / FULL_PHASE as f32 }
}

/// The present weights, middlegame and endgame, in centipawns.
pub fn weights() -> Vec<[f32; 2]> {
    WEIGHTS.iter().map(|weight| [weight.mg() as f32, weight.eg() as f32]).collect()
}

/// The static evaluation in centipawns for the side to move, as the search uses it.
pub fn evaluate(position: &Position) -> i32 {
    super::evaluate(position, &Accumulator::new(position))
}

/// The linear part of the static evaluation in centipawns for the side to move, to which the network
/// adds its own.
pub fn linear(position: &Position) -> i32 {
    super::linear(position, &Accumulator::new(position))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_features_add_up_to_the_evaluation() {
        let weights = weights();
        for seed in 0..50 {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut position = Position::initial();
            for _ in 0..60 {
                let moves = position.legal_moves();
                let Some(&mv) = random.choice(moves.iter()) else { break };
                position.play_unchecked(mv);
                if position.outcome().is_some() {
                    break;
                }
                let features = features(&position);
                let sum: f32 = features
                    .terms
                    .iter()
                    .map(|&(index, count)| {
                        let [mg, eg] = weights[usize::from(index)];
                        f32::from(count) * (features.phase * mg + (1.0 - features.phase) * eg)
                    })
                    .sum();
                let sign = if position.turn() == Color::White { 1.0 } else { -1.0 };
                let expected = linear(&position) as f32;
                assert!((sum * sign - expected).abs() < 2.0, "{position:?}");
            }
        }
    }
}
