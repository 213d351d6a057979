//! Perft beside `shakmaty`, with the same bulk counting of the last ply, on one core.
//!
//! `cargo bench --bench perft` prints leaves per second for both; README states the ratio.

use divan::{Bencher, counter::ItemsCount};
use meitner::rules;
use shakmaty::{CastlingMode, fen::Fen, variant::Atomic};

/// Name, FEN, depth.
const POSITIONS: [(&str, &str, u32); 3] = [
    ("start", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 5),
    ("kiwipete", "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 4),
    ("promotions", "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1", 5),
];

fn main() {
    divan::main();
}

#[divan::bench(args = POSITIONS.map(|(name, ..)| name))]
fn meitner(bencher: Bencher<'_, '_>, name: &str) {
    let (fen, depth) = find(name);
    let position = rules::Position::from_fen(fen).expect("a valid FEN");
    let leaves = rules::perft(&position, depth);
    bencher
        .counter(ItemsCount::new(leaves))
        .bench_local(|| rules::perft(divan::black_box(&position), depth));
}

#[divan::bench(args = POSITIONS.map(|(name, ..)| name))]
fn shakmaty(bencher: Bencher<'_, '_>, name: &str) {
    let (fen, depth) = find(name);
    let fen: Fen = fen.parse().expect("a valid FEN");
    let position: Atomic = fen.into_position(CastlingMode::Standard).expect("a position");
    let leaves = shakmaty::perft(&position, depth);
    bencher
        .counter(ItemsCount::new(leaves))
        .bench_local(|| shakmaty::perft(divan::black_box(&position), depth));
}

fn find(name: &str) -> (&'static str, u32) {
    let position = POSITIONS.iter().find(|position| position.0 == name);
    position.map(|&(_, fen, depth)| (fen, depth)).expect("a known position")
}
