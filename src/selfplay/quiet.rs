//! The positions of a game that a static evaluation is fitted to, and what it should say of them.

// Scores are far below the 2^23 that an f32 holds exactly.
#![allow(clippy::cast_precision_loss, reason = "scores are small")]

use crate::{
    rules::{Color, History, Position},
    search::eval::network::SCALE,
    selfplay::Record,
};

/// Hands each position of a game that a static evaluation can judge to `take`: no check, no capture
/// or promotion to be played, no mate in sight. With it goes what the evaluation should say, from
/// White's view, 0 to 1: the result for `share` of it, the search's score for the rest.
pub(super) fn positions(record: &Record, share: f32, mut take: impl FnMut(&Position, f32)) {
    let mut history = History::new(record.start.clone());
    let result = match record.winner {
        Some(Color::White) => 1.0,
        Some(Color::Black) => 0.0,
        None => 0.5,
    };
    for ply in &record.plies {
        let position = history.position();
        let is_quiet = !position.is_check()
            && !ply.mv.is_capture()
            && ply.mv.promotion().is_none()
            && ply.score.abs() < 2_500;
        if is_quiet {
            let score = if position.turn() == Color::White { ply.score } else { -ply.score };
            let target = share * result + (1.0 - share) * sigmoid(score as f32 / SCALE as f32);
            take(position, target);
        }
        if history.play(ply.mv).is_err() {
            break;
        }
    }
}

/// The chance that goes with an evaluation in units of [`SCALE`].
pub(super) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}
