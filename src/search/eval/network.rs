//! The network: what a position is worth beyond the linear evaluation, in integers.
//!
//! Each side sees the board with its own men below and its own king on the files a to d. What it
//! sees sums up to a `View`: one number for each hidden neuron, carried along from move to move.
//! The value is read off both views by weights that depend on how many men are left. The shape is
//! that of the engine notes, section 5; `meitner train` makes the numbers.

use std::sync::LazyLock;

use crate::{
    rules::{Color, Move, Piece, Position, Role, Square},
    search::score::Value,
};

/// A man on a square: role, whether it is the viewer's enemy, square as the viewer sees it.
pub const FEATURES: usize = 768;
/// Neurons of each view.
pub const HIDDEN: usize = 384;
/// With fewer men the network is not asked: games end before, so that there is little to learn from.
pub const LEAST_MEN: usize = 5;
/// Sets of output weights, one for each four numbers of men from [`LEAST_MEN`] on.
pub const BUCKETS: usize = 7;
/// What stands for 1 in a view. A neuron gives the square of its number, held between 0 and 1.
const VIEW_ONE: i16 = 255;
/// What stands for 1 in an output weight.
const OUTPUT_ONE: i32 = 64;
/// No weight is greater than this, so that no sum of 32 men overflows a view, and no output weight
/// times what stands for 1 in a view an i16.
pub const MOST: f32 = 1.98;
/// What an output of 1 is worth in centipawns: the score at which the odds of winning are e to 1.
pub const SCALE: Value = 250;

/// What White's view calls a man on a square, not mirrored. Black's name for it is
/// `^ `[`OTHER_SIDE`], and a mirrored view's `^ `[`MIRROR`].
#[inline]
pub fn feature(piece: Piece, square: Square) -> usize {
    let is_black = usize::from(piece.color == Color::Black);
    piece.role.index() * 128 + is_black * 64 + square.index()
}

/// Changes between the views of both sides: the color and the rank.
pub const OTHER_SIDE: usize = 0b0111_1000;
/// Mirrors the files.
pub const MIRROR: usize = 0b0111;

/// What turns White's name of a feature into the one that `viewer` uses with its king on `king`.
#[inline]
pub fn orientation(viewer: Color, king: Square) -> usize {
    let side = if viewer == Color::White { 0 } else { OTHER_SIDE };
    if is_mirrored(king) { side ^ MIRROR } else { side }
}

#[inline]
fn is_mirrored(king: Square) -> bool {
    king.index() % 8 >= 4
}

/// Which output weights apply to so many men; `None` below [`LEAST_MEN`].
#[inline]
pub fn bucket(men: usize) -> Option<usize> {
    let more = men.checked_sub(LEAST_MEN)?;
    Some((more / 4).min(BUCKETS - 1))
}

/// The hidden neurons as one side sees the board, before they are squared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
struct View([i16; HIDDEN]);

impl View {
    #[inline(always)]
    fn add(&mut self, feature: usize) {
        for (sum, weight) in self.0.iter_mut().zip(&NETWORK.inputs[feature].0) {
            *sum += weight;
        }
    }

    #[inline(always)]
    fn remove(&mut self, feature: usize) {
        for (sum, weight) in self.0.iter_mut().zip(&NETWORK.inputs[feature].0) {
            *sum -= weight;
        }
    }

    /// Both at once: a man moves more often than it explodes.
    #[inline(always)]
    fn replace(&mut self, from: usize, to: usize) {
        let (from, to) = (&NETWORK.inputs[from].0, &NETWORK.inputs[to].0);
        for ((sum, from), to) in self.0.iter_mut().zip(from).zip(to) {
            *sum += to - from;
        }
    }
}

/// Both sides' views of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Views {
    /// White's first.
    views: [View; 2],
    /// What each view calls things by, see [`orientation`].
    orientations: [usize; 2],
}

impl Views {
    /// The views of a position with these kings, White's first.
    #[inline(always)]
    pub(super) fn new(position: &Position, kings: [Square; 2]) -> Self {
        let orientations = Color::ALL.map(|color| orientation(color, kings[color.index()]));
        let mut views = Self { views: [NETWORK.biases; 2], orientations };
        for square in position.occupied() {
            if let Some(piece) = position.piece_on(square) {
                let feature = feature(piece, square);
                for (view, orientation) in views.both() {
                    view.add(feature ^ orientation);
                }
            }
        }
        views
    }

    /// Plays a legal move from `position`, which these are the views of, to `next`. No king has
    /// exploded.
    #[inline(always)]
    pub(super) fn play(&mut self, position: &Position, mv: Move, next: &Position) {
        if mv.is_capture() {
            for square in position.explosion(mv) {
                if let Some(piece) = position.piece_on(square) {
                    let feature = feature(piece, square);
                    for (view, orientation) in self.both() {
                        view.remove(feature ^ orientation);
                    }
                }
            }
            return;
        }
        let Some(piece) = position.piece_on(mv.from()) else { return };
        if piece.role == Role::King {
            let kings = [next.king(Color::White), next.king(Color::Black)];
            let [Some(white), Some(black)] = kings else { return };
            let mine = if piece.color == Color::White { white } else { black };
            // Castling moves a rook too.
            let is_turned =
                orientation(piece.color, mine) != self.orientations[piece.color.index()];
            if is_turned || mv.is_castling() {
                *self = Self::new(next, [white, black]);
                return;
            }
        }
        let role = mv.promotion().unwrap_or(piece.role);
        let (from, to) = (feature(piece, mv.from()), feature(Piece { role, ..piece }, mv.to()));
        for (view, orientation) in self.both() {
            view.replace(from ^ orientation, to ^ orientation);
        }
    }

    /// Both views, each with its orientation.
    #[inline(always)]
    fn both(&mut self) -> impl Iterator<Item = (&mut View, usize)> {
        self.views.iter_mut().zip(self.orientations)
    }

    /// The value for the side to move with so many men on the board, in centipawns; 0 below
    /// [`LEAST_MEN`].
    #[inline(always)]
    pub(super) fn value(&self, turn: Color, men: usize) -> Value {
        let Some(bucket) = bucket(men) else { return 0 };
        let output = &NETWORK.outputs[bucket];
        let [own, enemy] = [turn, !turn].map(|color| &self.views[color.index()]);
        let sum = squares(own, &output.own) + squares(enemy, &output.enemy);
        let one = i32::from(VIEW_ONE);
        // The sum is in units of VIEW_ONE^2 * OUTPUT_ONE; the bias in those of VIEW_ONE * OUTPUT_ONE.
        (sum / one + output.bias) * SCALE / (one * OUTPUT_ONE)
    }
}

/// The weighted sum of the neurons' squares.
#[inline(always)]
fn squares(view: &View, weights: &View) -> i32 {
    let products = view.0.iter().zip(&weights.0).map(|(&sum, &weight)| {
        let held = sum.clamp(0, VIEW_ONE);
        // Fits an i16, see MOST; so 16-bit lanes do, and one instruction multiplies and adds.
        i32::from(held) * i32::from(held * weight)
    });
    products.sum()
}

/// All numbers of the network.
struct Network {
    inputs: Box<[View]>,
    biases: View,
    outputs: [Output; BUCKETS],
}

/// What a bucket makes of the neurons.
#[derive(Clone, Copy)]
struct Output {
    own: View,
    enemy: View,
    bias: i32,
}

/// The network that is built into the program.
static NETWORK: LazyLock<Network> = LazyLock::new(|| Network::read(include_bytes!("network.bin")));

/// Bytes of a network's file.
const SIZE: usize = 2 * HIDDEN * (FEATURES + 1 + 2 * BUCKETS) + 4 * BUCKETS;

impl Network {
    /// The network of a file: 16-bit numbers, then the output biases in 32 bits, lowest byte first.
    fn read(bytes: &[u8; SIZE]) -> Self {
        let (views, biases) = bytes.split_at(SIZE - 4 * BUCKETS);
        let mut views = views.chunks_exact(2 * HIDDEN).map(|chunk| {
            View(std::array::from_fn(|n| i16::from_le_bytes([chunk[2 * n], chunk[2 * n + 1]])))
        });
        let mut next = || views.next().expect("the size is checked");
        let inputs = (0..FEATURES).map(|_| next()).collect();
        let hidden = next();
        let outputs = std::array::from_fn(|bucket| {
            let [a, b, c, d] = std::array::from_fn(|n| biases[4 * bucket + n]);
            Output { own: next(), enemy: next(), bias: i32::from_le_bytes([a, b, c, d]) }
        });
        Self { inputs, biases: hidden, outputs }
    }
}

/// The numbers of a network before they are rounded, as they are trained.
#[derive(Clone, Debug)]
pub struct Weights {
    /// [`FEATURES`] rows of [`HIDDEN`].
    pub inputs: Vec<f32>,
    /// [`HIDDEN`].
    pub biases: Vec<f32>,
    /// [`BUCKETS`] rows of twice [`HIDDEN`]: for the view of the side to move, then for the other.
    pub outputs: Vec<f32>,
    /// [`BUCKETS`].
    pub output_biases: Vec<f32>,
}

impl Weights {
    /// The file that is built into the program, `network.bin`.
    pub fn to_bytes(&self) -> Vec<u8> {
        let view = f32::from(VIEW_ONE);
        let output = OUTPUT_ONE as f32;
        let small = |weights: &[f32], one: f32| -> Vec<u8> {
            weights
                .iter()
                .flat_map(|weight| ((weight * one).round() as i16).to_le_bytes())
                .collect()
        };
        let bias = |weight: &f32| ((weight * view * output).round() as i32).to_le_bytes();
        let mut bytes = small(&self.inputs, view);
        bytes.extend(small(&self.biases, view));
        bytes.extend(small(&self.outputs, output));
        bytes.extend(self.output_biases.iter().flat_map(bias));
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the network says of a position, as its definition has it and in real numbers.
    fn defined(position: &Position) -> f64 {
        let turn = position.turn();
        let held = |sum: i32| (f64::from(sum) / f64::from(VIEW_ONE)).clamp(0.0, 1.0);
        let men = position.occupied().len();
        if men < 5 {
            return 0.0;
        }
        let output = &NETWORK.outputs[(men - 5) / 4];
        let mut value = f64::from(output.bias) / f64::from(i32::from(VIEW_ONE) * OUTPUT_ONE);
        for (viewer, weights) in [(turn, &output.own), (!turn, &output.enemy)] {
            let king = position.king(viewer).unwrap().index();
            for neuron in 0..HIDDEN {
                let mut sum = i32::from(NETWORK.biases.0[neuron]);
                for square in position.occupied() {
                    let piece = position.piece_on(square).unwrap();
                    let (mut file, mut rank) = (square.index() % 8, square.index() / 8);
                    if king % 8 > 3 {
                        file = 7 - file;
                    }
                    if viewer == Color::Black {
                        rank = 7 - rank;
                    }
                    let side = usize::from(piece.color != viewer);
                    let row = piece.role.index() * 128 + side * 64 + rank * 8 + file;
                    sum += i32::from(NETWORK.inputs[row].0[neuron]);
                }
                let weight = f64::from(weights.0[neuron]) / f64::from(OUTPUT_ONE);
                value += held(sum) * held(sum) * weight;
            }
        }
        value * f64::from(SCALE)
    }

    #[test]
    fn the_integers_say_what_the_definition_says() {
        for seed in 0..50 {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut position = Position::initial();
            for _ in 0..random.usize(..150) {
                let moves = position.legal_moves();
                let Some(&mv) = random.choice(moves.iter()) else { break };
                let next = position.after(mv);
                if next.outcome().is_some() {
                    break;
                }
                position = next;
            }
            let kings = Color::ALL.map(|color| position.king(color).unwrap());
            let views = Views::new(&position, kings);
            let value = views.value(position.turn(), position.occupied().len());
            let expected = defined(&position);
            assert!((f64::from(value) - expected).abs() <= 1.5, "{value} {expected} {position:?}");
        }
    }

    #[test]
    fn no_number_is_too_great_for_its_sixteen_bits() {
        let (view, output) = ((MOST * 255.0).round() as i16, (MOST * 64.0).round() as i16);
        let fits = |row: &View, most: i16| row.0.iter().all(|weight| weight.abs() <= most);
        assert!(NETWORK.inputs.iter().chain([&NETWORK.biases]).all(|row| fits(row, view)));
        assert!(NETWORK.outputs.iter().all(|row| fits(&row.own, output)));
        assert!(NETWORK.outputs.iter().all(|row| fits(&row.enemy, output)));
        // A bias and 32 men; and a held neuron times its weight.
        assert!(i32::from(view) * 33 <= i32::from(i16::MAX));
        assert!(i32::from(output) * i32::from(VIEW_ONE) <= i32::from(i16::MAX));
    }

    #[test]
    fn weights_are_written_as_they_are_read() {
        let weights = Weights {
            inputs: (0..FEATURES * HIDDEN).map(|n| (n % 500) as f32 / 255.0).collect(),
            biases: vec![-1.0; HIDDEN],
            outputs: (0..BUCKETS * 2 * HIDDEN).map(|n| -((n % 120) as f32) / 64.0).collect(),
            output_biases: (0..BUCKETS).map(|n| n as f32 - 3.5).collect(),
        };
        let bytes = weights.to_bytes();
        let network = Network::read(bytes.as_slice().try_into().unwrap());
        assert_eq!(network.inputs[1].0[3], (HIDDEN as i16 + 3) % 500);
        assert_eq!(network.biases.0[HIDDEN - 1], -255);
        assert_eq!(network.outputs[0].own.0[5], -5);
        assert_eq!(network.outputs[0].enemy.0[5], -((HIDDEN as i16 + 5) % 120));
        assert_eq!(network.outputs[6].bias, 40_800);
    }
}
