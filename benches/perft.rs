//! Perft beside `shakmaty`, with the same bulk counting of the last ply, on one core.
//!
//! `cargo bench --bench perft` prints leaves per second for both; README states the ratio. With
//! `PERFT_PEER` set to a UCI engine that knows atomic and `go perft`, that one is timed in the same
//! run, from the command to its total. It counts one ply more, so that the pipe does not matter.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

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

/// The engine to compare with, if one is given.
fn peer_path() -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "a benchmark's own knob is no setting")]
    std::env::var("PERFT_PEER").ok()
}

/// A UCI engine that counts.
struct Peer {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Peer {
    fn start(path: &str, fen: &str) -> Self {
        let mut process = Command::new(path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the engine in PERFT_PEER starts");
        let input = process.stdin.take().expect("piped");
        let output = BufReader::new(process.stdout.take().expect("piped"));
        let mut peer = Self { process, input, output };
        peer.send(&format!(
            "uci\nsetoption name UCI_Variant value atomic\nposition fen {fen}\nisready"
        ));
        peer.wait_for("readyok");
        peer
    }

    fn send(&mut self, text: &str) {
        writeln!(self.input, "{text}").expect("the engine reads");
    }

    fn wait_for(&mut self, start: &str) -> String {
        for line in self.output.by_ref().lines() {
            let line = line.expect("text");
            if line.starts_with(start) {
                return line;
            }
        }
        String::new()
    }

    /// The number that the engine counts; 0 if it ends instead.
    fn perft(&mut self, depth: u32) -> u64 {
        self.send(&format!("go perft {depth}"));
        let total = self.wait_for("Nodes searched");
        total.rsplit(' ').next().and_then(|count| count.parse().ok()).unwrap_or_default()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = writeln!(self.input, "quit");
        let _ = self.process.wait();
    }
}

#[divan::bench(
    args = POSITIONS.map(|(name, ..)| name),
    ignore = peer_path().is_none(),
    sample_count = 5,
    sample_size = 1
)]
fn peer(bencher: Bencher<'_, '_>, name: &str) {
    let Some(path) = peer_path() else { return };
    let (fen, depth) = find(name);
    let position = rules::Position::from_fen(fen).expect("a valid FEN");
    let leaves = rules::perft(&position, depth + 1);
    let mut peer = Peer::start(&path, fen);
    let theirs = peer.perft(depth + 1);
    if theirs != leaves {
        // Its rules are not ours to mend, and its speed is still worth knowing.
        println!("the engine counts {theirs} leaves and we {leaves}");
    }
    bencher.counter(ItemsCount::new(leaves)).bench_local(|| peer.perft(depth + 1));
}

fn find(name: &str) -> (&'static str, u32) {
    let position = POSITIONS.iter().find(|position| position.0 == name);
    position.map(|&(_, fen, depth)| (fen, depth)).expect("a known position")
}
