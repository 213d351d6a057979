//! Trains the network of the evaluation on games by gradient descent.
//!
//! The network learns what the linear evaluation leaves over, so that its output is added to that
//! before the logistic function. `AdamW` (Loshchilov and Hutter 2019) takes the steps.

// Counts of positions and epochs are far below the 2^23 that an f32 holds exactly.
#![allow(clippy::cast_precision_loss, reason = "counts are small")]

use std::thread;

use crate::{
    rules::{Color, Position},
    search::eval::{
        network::{self, BUCKETS, FEATURES, HIDDEN, MOST, SCALE, Weights},
        tuning,
    },
    selfplay::{Record, quiet, quiet::sigmoid},
};

/// How the training is made.
#[derive(Clone, Copy, Debug)]
pub struct Training {
    /// Passes over the positions.
    pub epochs: u32,
    /// The share of the game's result in the target; the rest is the search's score.
    pub result_share: f32,
    /// The first step size; it falls to a hundredth.
    pub rate: f32,
}

impl Default for Training {
    fn default() -> Self {
        Self { epochs: 6, result_share: 0.2, rate: 0.001 }
    }
}

/// The result of a training.
#[derive(Clone, Debug)]
pub struct Trained {
    /// The numbers of the network.
    pub weights: Weights,
    /// Positions used, and held out.
    pub positions: (usize, usize),
    /// Mean squared error on the positions held out without the network.
    pub before: f64,
}

/// Positions of one step.
const BATCH: usize = 256;
/// Threads that share the positions of a step.
const THREADS: usize = 2;
/// How much of a weight is lost in a step of size 1.
const DECAY: f32 = 0.05;

/// A position as the network sees it, and what is left for it to say.
#[derive(Clone)]
struct Sample {
    /// White's names of the features.
    men: arrayvec::ArrayVec<u16, 32>,
    /// What turns them into the names of the side to move, and of the other.
    orientations: [u16; 2],
    /// The linear evaluation over [`SCALE`], for the side to move.
    offset: f32,
    /// What the evaluation should say, 0 to 1, for the side to move.
    target: f32,
    /// Which output weights apply.
    bucket: usize,
}

impl Sample {
    /// `None` where the network is not asked.
    fn new(position: &Position, target: f32) -> Option<Self> {
        let turn = position.turn();
        let bucket = network::bucket(position.occupied().len())?;
        let named = position.occupied().into_iter().filter_map(|square| {
            let piece = position.piece_on(square)?;
            u16::try_from(network::feature(piece, square)).ok()
        });
        let orientation =
            |color| u16::try_from(network::orientation(color, position.king(color)?)).ok();
        Some(Self {
            men: named.collect(),
            orientations: [orientation(turn)?, orientation(!turn)?],
            offset: tuning::linear(position) as f32 / SCALE as f32,
            target: if turn == Color::White { target } else { 1.0 - target },
            bucket,
        })
    }

    /// Rows of the input weights that make up a view.
    fn rows(&self, view: usize) -> impl Iterator<Item = usize> {
        self.men.iter().map(move |man| usize::from(man ^ self.orientations[view]) * HIDDEN)
    }
}

/// Trains a network. Every twentieth game is held out; after each epoch its error on those is told to
/// `tell`.
pub fn train(records: &[Record], training: Training, mut tell: impl FnMut(u32, f64)) -> Trained {
    let (held, used): (Vec<_>, Vec<_>) =
        records.iter().enumerate().partition(|(index, _)| index % 20 == 0);
    let collect = |records: Vec<(usize, &Record)>| -> Vec<Sample> {
        let mut samples = Vec::new();
        for (_, record) in records {
            quiet::positions(record, training.result_share, |position, target| {
                samples.extend(Sample::new(position, target));
            });
        }
        samples
    };
    let (held, mut used) = (collect(held), collect(used));
    let mut random = fastrand::Rng::with_seed(1);
    let mut parameters = Parameters::random(&mut random);
    let before = mean(&held, |sample| sigmoid(sample.offset));
    let mut adam = Adam::new();
    let mut gradients: Vec<Parameters> = vec![Parameters::zero(); THREADS];
    for epoch in 0..training.epochs {
        random.shuffle(&mut used);
        let batches = used.len().div_ceil(BATCH);
        for (index, batch) in used.chunks(BATCH).enumerate() {
            let done = epoch as f32 + index as f32 / batches as f32;
            let rate = training.rate * 0.01_f32.powf(done / training.epochs as f32);
            let share = batch.len().div_ceil(THREADS);
            // All of them: a last batch of one position leaves a thread without a part.
            for gradient in &mut gradients {
                gradient.0.fill(0.0);
            }
            thread::scope(|scope| {
                for (part, gradient) in batch.chunks(share).zip(&mut gradients) {
                    let parameters = &parameters;
                    scope.spawn(move || {
                        for sample in part {
                            parameters.descend(sample, gradient);
                        }
                    });
                }
            });
            adam.step(&mut parameters, &gradients, batch.len(), rate);
        }
        tell(epoch + 1, mean(&held, |sample| parameters.predict(sample)));
    }
    Trained { weights: parameters.weights(), positions: (used.len(), held.len()), before }
}

fn mean(samples: &[Sample], predict: impl Fn(&Sample) -> f32) -> f64 {
    let sum: f64 =
        samples.iter().map(|sample| f64::from(predict(sample) - sample.target).powi(2)).sum();
    sum / samples.len().max(1) as f64
}

/// All numbers of a network in one row, so that one loop can step them all: input weights, hidden
/// biases, output weights, output biases.
#[derive(Clone)]
struct Parameters(Vec<f32>);

const BIASES: usize = FEATURES * HIDDEN;
const OUTPUTS: usize = BIASES + HIDDEN;
const OUTPUT_BIASES: usize = OUTPUTS + BUCKETS * 2 * HIDDEN;
const COUNT: usize = OUTPUT_BIASES + BUCKETS;

type View = [f32; HIDDEN];

/// One number for each hidden neuron.
fn slice(row: &[f32], from: usize) -> &View {
    row[from..from + HIDDEN].try_into().expect("the slice is as long as a view")
}

fn slice_mut(row: &mut [f32], from: usize) -> &mut View {
    (&mut row[from..from + HIDDEN]).try_into().expect("the slice is as long as a view")
}

impl Parameters {
    fn zero() -> Self {
        Self(vec![0.0; COUNT])
    }

    /// Small numbers by lot, so that no two neurons begin alike. The output begins at zero.
    fn random(random: &mut fastrand::Rng) -> Self {
        let mut parameters = Self::zero();
        for weight in &mut parameters.0[..BIASES] {
            *weight = (random.f32() - 0.5) * 0.1;
        }
        parameters.0[BIASES..OUTPUTS].fill(0.1);
        for weight in &mut parameters.0[OUTPUTS..OUTPUT_BIASES] {
            *weight = (random.f32() - 0.5) * 0.1;
        }
        parameters
    }

    /// The hidden neurons before they are squared, side to move first.
    fn views(&self, sample: &Sample) -> [View; 2] {
        [0, 1].map(|view| {
            let mut sums = *slice(&self.0, BIASES);
            for row in sample.rows(view) {
                for (sum, weight) in sums.iter_mut().zip(slice(&self.0, row)) {
                    *sum += weight;
                }
            }
            sums
        })
    }

    fn output(&self, views: &[View; 2], bucket: usize) -> f32 {
        let mut sum = self.0[OUTPUT_BIASES + bucket];
        for (side, view) in views.iter().enumerate() {
            let weights = slice(&self.0, OUTPUTS + (2 * bucket + side) * HIDDEN);
            // Partial sums, which the compiler keeps in one register.
            let mut sums = [0.0_f32; 16];
            for (neurons, weights) in view.chunks_exact(16).zip(weights.chunks_exact(16)) {
                for ((sum, neuron), weight) in sums.iter_mut().zip(neurons).zip(weights) {
                    let held = neuron.clamp(0.0, 1.0);
                    *sum += held * held * weight;
                }
            }
            sum += sums.iter().sum::<f32>();
        }
        sum
    }

    fn predict(&self, sample: &Sample) -> f32 {
        sigmoid(sample.offset + self.output(&self.views(sample), sample.bucket))
    }

    /// Adds the slope of half the squared error of a sample to `gradient`.
    fn descend(&self, sample: &Sample, gradient: &mut Self) {
        let views = self.views(sample);
        let bucket = sample.bucket;
        let predicted = sigmoid(sample.offset + self.output(&views, bucket));
        let slope = (predicted - sample.target) * predicted * (1.0 - predicted);
        gradient.0[OUTPUT_BIASES + bucket] += slope;
        for (side, view) in views.iter().enumerate() {
            let from = OUTPUTS + (2 * bucket + side) * HIDDEN;
            let weights = slice(&self.0, from);
            let outputs = slice_mut(&mut gradient.0, from);
            let mut hidden = [0.0; HIDDEN];
            for n in 0..HIDDEN {
                let held = view[n].clamp(0.0, 1.0);
                outputs[n] += slope * held * held;
                let is_free = if view[n] > 0.0 && view[n] < 1.0 { 1.0 } else { 0.0 };
                hidden[n] = slope * weights[n] * 2.0 * held * is_free;
            }
            for row in sample.rows(side).chain([BIASES]) {
                for (sum, part) in slice_mut(&mut gradient.0, row).iter_mut().zip(&hidden) {
                    *sum += part;
                }
            }
        }
    }

    fn weights(&self) -> Weights {
        Weights {
            inputs: self.0[..BIASES].to_vec(),
            biases: self.0[BIASES..OUTPUTS].to_vec(),
            outputs: self.0[OUTPUTS..OUTPUT_BIASES].to_vec(),
            output_biases: self.0[OUTPUT_BIASES..].to_vec(),
        }
    }
}

/// The moments of the gradient.
struct Adam {
    first: Vec<f32>,
    second: Vec<f32>,
    steps: i32,
}

impl Adam {
    fn new() -> Self {
        Self { first: vec![0.0; COUNT], second: vec![0.0; COUNT], steps: 0 }
    }

    /// A step down the mean of the gradients, which are sums over so many samples together.
    fn step(
        &mut self,
        parameters: &mut Parameters,
        gradients: &[Parameters],
        samples: usize,
        rate: f32,
    ) {
        self.steps += 1;
        let (keep_first, keep_second) = (0.9_f32, 0.999_f32);
        let correct_first = 1.0 - keep_first.powi(self.steps);
        let correct_second = 1.0 - keep_second.powi(self.steps);
        let (one, other) = (&gradients[0].0, &gradients[1].0);
        for n in 0..COUNT {
            let slope = (one[n] + other[n]) / samples as f32;
            let first = keep_first * self.first[n] + (1.0 - keep_first) * slope;
            let second = keep_second * self.second[n] + (1.0 - keep_second) * slope * slope;
            (self.first[n], self.second[n]) = (first, second);
            let step = first / correct_first / ((second / correct_second).sqrt() + 1e-8);
            let weight = &mut parameters.0[n];
            *weight = (*weight - rate * (step + DECAY * *weight)).clamp(-MOST, MOST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records() -> Vec<Record> {
        let games = [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1|1-0|g1f3:90 f7f6:-80 e2e3:100",
            "rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2|0-1|a2a3:-200 a7a6:250",
        ];
        games.iter().cycle().take(60).map(|game| game.parse().unwrap()).collect()
    }

    /// Half the squared error of a sample.
    fn loss(parameters: &Parameters, sample: &Sample) -> f64 {
        f64::from(parameters.predict(sample) - sample.target).powi(2) / 2.0
    }

    #[test]
    fn the_gradient_is_the_slope_of_the_error() {
        let parameters = Parameters::random(&mut fastrand::Rng::with_seed(7));
        let position = "r1bqkb1r/ppp1pppp/5n2/3p4/3P4/4P3/PPP2PPP/RNBQK2R b KQkq - 0 5";
        let sample = Sample::new(&Position::from_fen(position).unwrap(), 0.9).unwrap();
        let mut gradient = Parameters::zero();
        parameters.descend(&sample, &mut gradient);
        let rows: Vec<usize> = sample.rows(0).chain(sample.rows(1)).collect();
        let output = OUTPUTS + 2 * sample.bucket * HIDDEN;
        let inputs = [rows[0] + 3, rows[5] + 40, rows[30] + 127, rows[50] + 64];
        let others = [BIASES, BIASES + 77, output, output + HIDDEN + 9];
        for index in inputs.into_iter().chain(others).chain([OUTPUT_BIASES + sample.bucket]) {
            let moved = |by: f32| {
                let mut moved = parameters.clone();
                moved.0[index] += by;
                loss(&moved, &sample)
            };
            let slope = (moved(0.01) - moved(-0.01)) / 0.02;
            let found = f64::from(gradient.0[index]);
            assert!((slope - found).abs() <= 1e-5 + 0.03 * slope.abs(), "{index}: {slope} {found}");
        }
    }

    #[test]
    fn training_learns_what_the_games_say_and_the_same_each_time() {
        let training = Training { epochs: 200, rate: 0.01, ..Training::default() };
        let run = || {
            let mut errors = Vec::new();
            let trained = train(&records(), training, |_, error| errors.push(error));
            (trained.before, errors, trained.weights.to_bytes())
        };
        let (before, errors, bytes) = run();
        assert!(errors.last().unwrap() * 3.0 < before, "{before} {errors:?}");
        assert_eq!((errors, bytes), {
            let (_, errors, bytes) = run();
            (errors, bytes)
        });
    }
}
