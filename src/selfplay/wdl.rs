//! Fits the chances of win, draw and loss to the scores and results of games.

// Counts of positions are far below the 2^52 that an f64 holds exactly, and bins are small.
#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "counts and bins are small"
)]

use crate::{
    rules::{Color, History},
    search::wdl::{self, Model},
    selfplay::Record,
};

/// Scores beyond this many centipawns say nothing about games: `selfplay` ends them there.
const MOST: i32 = 1_500;
/// Scores and phases are counted in bins, so that a fit looks at thousands and not at millions.
const BIN: i32 = 10;
const BINS: usize = (2 * MOST / BIN) as usize + 1;
const PHASES: usize = 25;

/// The result of a fit.
#[derive(Clone, Copy, Debug)]
pub struct WdlFit {
    /// The model that predicts the results best.
    pub model: Model,
    /// Positions looked at.
    pub positions: u64,
    /// Mean log-likelihood of a result: with the shares of wins, draws and losses alone, with a
    /// model that does not look at the phase, and with the fitted one. Nearer to 0 is better.
    pub likelihood: [f64; 3],
}

/// How often each score, at each phase, led to a loss, a draw and a win.
struct Counts(Vec<[u64; 3]>);

impl Counts {
    fn of(records: &[Record]) -> Self {
        let mut counts = vec![[0; 3]; BINS * PHASES];
        for record in records {
            let mut history = History::new(record.start.clone());
            for ply in &record.plies {
                let position = history.position();
                if ply.score.abs() <= MOST {
                    let score = ((ply.score + MOST + BIN / 2) / BIN) as usize;
                    let phase = (wdl::phase(position) * (PHASES - 1) as f64).round() as usize;
                    let result = result(record.winner, position.turn());
                    counts[score.min(BINS - 1) * PHASES + phase][result] += 1;
                }
                if history.play(ply.mv).is_err() {
                    break;
                }
            }
        }
        Self(counts)
    }

    fn total(&self) -> [u64; 3] {
        self.0.iter().fold([0; 3], |sum, bin| [0, 1, 2].map(|result| sum[result] + bin[result]))
    }

    /// The mean log-likelihood of the results under a model.
    fn likelihood(&self, model: &Model) -> f64 {
        let mut sum = 0.0;
        for (index, bin) in self.0.iter().enumerate().filter(|(_, bin)| **bin != [0; 3]) {
            let score = f64::from(index as i32 / PHASES as i32 * BIN - MOST);
            let phase = (index % PHASES) as f64 / (PHASES - 1) as f64;
            for (chance, &count) in model.chances(score, phase).into_iter().zip(bin) {
                // A result that the model excludes is very unlikely, not impossible.
                sum += chance.max(1e-6).ln() * count as f64;
            }
        }
        sum / self.total().iter().sum::<u64>().max(1) as f64
    }
}

/// Win, draw or loss of a side, as the index of its chance.
fn result(winner: Option<Color>, side: Color) -> usize {
    match winner {
        Some(winner) if winner == side => 0,
        None => 1,
        Some(_) => 2,
    }
}

/// Fits the model to the score of every move and the result of its game.
pub fn fit_wdl(records: &[Record]) -> WdlFit {
    let counts = Counts::of(records);
    let total = counts.total();
    let positions = total.iter().sum::<u64>();
    let shares = total.map(|count| count as f64 / positions.max(1) as f64);
    let blind = shares.iter().filter(|&&share| share > 0.0).map(|share| share * share.ln()).sum();
    let start = Model { even: [50.0; 2], scale: [200.0; 2] };
    let flat = climb(&counts, start, &[(0, true), (2, true)]);
    let model = climb(&counts, flat, &[(0, false), (1, false), (2, false), (3, false)]);
    let likelihood = [blind, counts.likelihood(&flat), counts.likelihood(&model)];
    WdlFit { model, positions, likelihood }
}

/// Climbs to the best likelihood by steps along single numbers, halved when none helps. Each entry
/// of `along` names a number, and whether its two ends move together.
fn climb(counts: &Counts, mut model: Model, along: &[(usize, bool)]) -> Model {
    let mut best = counts.likelihood(&model);
    let mut step = 32.0;
    while step >= 0.25 {
        let mut has_improved = false;
        for &(number, is_pair) in along {
            for sign in [1.0, -1.0] {
                let mut tried = model;
                let ends = if number < 2 { &mut tried.even } else { &mut tried.scale };
                let least = if number < 2 { 0.0 } else { 1.0 };
                for end in [number % 2, 1 - number % 2].iter().take(1 + usize::from(is_pair)) {
                    ends[*end] = (ends[*end] + sign * step).max(least);
                }
                let likelihood = counts.likelihood(&tried);
                if likelihood > best {
                    (best, model, has_improved) = (likelihood, tried, true);
                }
            }
        }
        if !has_improved {
            step /= 2.0;
        }
    }
    model
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_found_again_in_its_own_results() {
        let truth = Model { even: [180.0, 40.0], scale: [120.0, 260.0] };
        let mut counts = Counts(vec![[0; 3]; BINS * PHASES]);
        for (index, bin) in counts.0.iter_mut().enumerate() {
            let score = f64::from(index as i32 / PHASES as i32 * BIN - MOST);
            let phase = (index % PHASES) as f64 / (PHASES - 1) as f64;
            *bin = truth.chances(score, phase).map(|chance| (chance * 1e6).round() as u64);
        }
        let start = Model { even: [50.0; 2], scale: [200.0; 2] };
        let found = climb(&counts, start, &[(0, false), (1, false), (2, false), (3, false)]);
        for (found, truth) in [(found.even, truth.even), (found.scale, truth.scale)] {
            for end in 0..2 {
                assert!((found[end] - truth[end]).abs() < 3.0, "{found:?} {truth:?}");
            }
        }
    }

    #[test]
    fn results_are_those_of_the_side_to_move() {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let line = format!("{start}|1-0|g1f3:50 f7f6:-20 e2e3:40");
        let fit = fit_wdl(&[line.parse().unwrap()]);
        assert_eq!(fit.positions, 3);
        let counts = Counts::of(&[line.parse().unwrap()]);
        assert_eq!(counts.total(), [2, 0, 1]);
    }
}
