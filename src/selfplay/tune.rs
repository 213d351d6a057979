//! Fits the evaluation's weights to games by gradient descent.
//!
//! The evaluation is linear in its weights, so that the fit is a logistic regression (Texel's
//! tuning method, Österlund 2014): the weights that predict the results best. Adam (Kingma and Ba
//! 2015) takes the steps.

// Counts of positions and epochs are far below the 2^23 that an f32 holds exactly.
#![allow(clippy::cast_precision_loss, reason = "counts are small")]

use std::fmt::Write as _;

use crate::{
    search::eval::{
        network::SCALE,
        tuning::{self, COUNT, Features},
    },
    selfplay::{Record, quiet, quiet::sigmoid},
};

/// How the fit is made.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// Passes over the positions.
    pub epochs: u32,
    /// The share of the game's result in the target; the rest is the search's score.
    pub result_share: f32,
    /// The first step size, in centipawns; it falls to a hundredth.
    pub rate: f32,
}

impl Default for Schedule {
    fn default() -> Self {
        Self { epochs: 20, result_share: 0.2, rate: 1.0 }
    }
}

/// The result of a fit.
#[derive(Clone, Debug)]
pub struct Fit {
    /// Middlegame and endgame value of each weight, in centipawns.
    pub weights: Vec<[f32; 2]>,
    /// Positions used to fit, and held out.
    pub positions: (usize, usize),
    /// Mean squared error on the positions held out, before and after.
    pub error: (f64, f64),
}

/// A position and what the fit should say of it, from White's view, 0 to 1.
struct Sample {
    features: Features,
    target: f32,
}

const BATCH: usize = 4_096;

/// Fits the weights. Every twentieth game is held out; its error judges the fit. Each pass is told to
/// `tell` at its end.
pub fn fit(records: &[Record], schedule: Schedule, mut tell: impl FnMut(u32)) -> Fit {
    let share = schedule.result_share;
    let (held, used): (Vec<_>, Vec<_>) =
        records.iter().enumerate().partition(|(index, _)| index % 20 == 0);
    let collect = |records: Vec<(usize, &Record)>| -> Vec<Sample> {
        let mut samples = Vec::new();
        for (_, record) in records {
            quiet::positions(record, share, |position, target| {
                samples.push(Sample { features: tuning::features(position), target });
            });
        }
        samples
    };
    let (held, mut used) = (collect(held), collect(used));
    let mut weights = tuning::weights();
    let before = error(&held, &weights);
    let mut adam = Adam::new();
    let mut random = fastrand::Rng::with_seed(1);
    for epoch in 0..schedule.epochs {
        random.shuffle(&mut used);
        let progress = epoch as f32 / schedule.epochs.max(1) as f32;
        let rate = schedule.rate * 0.01_f32.powf(progress);
        for batch in used.chunks(BATCH) {
            adam.step(&mut weights, batch, rate);
        }
        tell(epoch + 1);
    }
    let after = error(&held, &weights);
    Fit { weights, positions: (used.len(), held.len()), error: (before, after) }
}

fn predict(features: &Features, weights: &[[f32; 2]]) -> f32 {
    let (mut mg, mut eg) = (0.0, 0.0);
    for &(index, count) in &features.terms {
        let weight = weights[usize::from(index)];
        mg += f32::from(count) * weight[0];
        eg += f32::from(count) * weight[1];
    }
    sigmoid((features.phase * mg + (1.0 - features.phase) * eg) / SCALE as f32)
}

fn error(samples: &[Sample], weights: &[[f32; 2]]) -> f64 {
    let sum: f64 = samples
        .iter()
        .map(|sample| f64::from(predict(&sample.features, weights) - sample.target).powi(2))
        .sum();
    sum / samples.len().max(1) as f64
}

/// The moments of the gradient.
struct Adam {
    first: Vec<[f32; 2]>,
    second: Vec<[f32; 2]>,
    steps: i32,
}

impl Adam {
    fn new() -> Self {
        Self { first: vec![[0.0; 2]; COUNT], second: vec![[0.0; 2]; COUNT], steps: 0 }
    }

    fn step(&mut self, weights: &mut [[f32; 2]], batch: &[Sample], rate: f32) {
        let mut gradient = vec![[0.0_f32; 2]; COUNT];
        for sample in batch {
            let predicted = predict(&sample.features, weights);
            let slope = (predicted - sample.target) * predicted * (1.0 - predicted);
            for &(index, count) in &sample.features.terms {
                let part = slope * f32::from(count);
                let entry = &mut gradient[usize::from(index)];
                entry[0] += part * sample.features.phase;
                entry[1] += part * (1.0 - sample.features.phase);
            }
        }
        self.steps += 1;
        let (keep_first, keep_second) = (0.9_f32, 0.999_f32);
        let correct_first = 1.0 - keep_first.powi(self.steps);
        let correct_second = 1.0 - keep_second.powi(self.steps);
        for (index, weight) in weights.iter_mut().enumerate() {
            for half in 0..2 {
                let slope = gradient[index][half] / batch.len() as f32;
                let first = &mut self.first[index][half];
                let second = &mut self.second[index][half];
                *first = keep_first * *first + (1.0 - keep_first) * slope;
                *second = keep_second * *second + (1.0 - keep_second) * slope * slope;
                let step = *first / correct_first / ((*second / correct_second).sqrt() + 1e-8);
                weight[half] -= rate * step;
            }
        }
    }
}

/// The weights as the source file that the evaluation is built with.
pub fn write_weights(weights: &[[f32; 2]], origin: &str) -> String {
    let mut text = format!(
        "//! The numbers of the evaluation, in centipawns, middlegame and endgame, in the order of\n\
         //! `terms`. Made by `meitner tune`: {origin}.\n\n\
         use super::{{Tapered, tapered, terms::COUNT}};\n\n\
         #[rustfmt::skip]\n\
         pub(super) static WEIGHTS: [Tapered; COUNT] = [\n"
    );
    for row in weights.chunks(8) {
        let cells: Vec<String> =
            row.iter().map(|[mg, eg]| format!("tapered({mg:.0}, {eg:.0}),")).collect();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "    {}", cells.join(" "));
    }
    text.push_str("];\n");
    text.replace("(-0,", "(0,").replace(" -0)", " 0)")
}
