//! The properties of `tests/properties/` on mutations of their seeds: a fixed sequence, so that a
//! failure comes again, and short enough for every test run. The crate in `fuzz/` looks further.
//!
//! With the environment variable `FUZZ_CORPUS` set to a folder, the seeds are written there too,
//! one file each, for the fuzzer to begin with.

#![allow(clippy::panic, reason = "a test fails by panicking")]

use std::{
    fs,
    panic::{self, AssertUnwindSafe},
    path::Path,
};

use fastrand::Rng;

mod properties;

/// Pieces of the notations, which single bytes hit too seldom.
const WORDS: [&str; 24] = [
    " ",
    "/",
    "-",
    "w",
    "b",
    "KQkq",
    "HAha",
    "e3",
    "d6",
    "0",
    "1",
    "100",
    "65535",
    "65536",
    "k",
    "K",
    "P",
    ";",
    "\"",
    "null",
    "9223372036854775807",
    "O-O",
    "=Q",
    "\n",
];

/// Every seed as it is, then so many mutations.
fn run(name: &str, mutations: u64) {
    let target = properties::target(name);
    let seeds = (target.seeds)();
    write_corpus(name, &seeds);
    for seed in &seeds {
        check(target, seed, "a seed");
    }
    for number in 0..mutations {
        let mut random = Rng::with_seed(number);
        let mut input = random.choice(&seeds).expect("a target has seeds").clone();
        for _ in 0..random.u8(1..5) {
            mutate(&mut random, &mut input, &seeds);
        }
        check(target, &input, &format!("mutation {number}"));
    }
}

fn write_corpus(name: &str, seeds: &[Vec<u8>]) {
    #[expect(clippy::disallowed_methods, reason = "a test's own knob is no setting of the program")]
    let Ok(folder) = std::env::var("FUZZ_CORPUS") else { return };
    let folder = Path::new(&folder).join(name);
    fs::create_dir_all(&folder).expect("a folder that can be made");
    for (number, seed) in seeds.iter().enumerate() {
        fs::write(folder.join(format!("seed-{number}")), seed).expect("a file that can be written");
    }
}

fn check(target: &properties::Target, input: &[u8], what: &str) {
    let result = panic::catch_unwind(AssertUnwindSafe(|| (target.check)(input)));
    let text = input.escape_ascii();
    assert!(result.is_ok(), "{} fails on {what}, see above: b\"{text}\"", target.name);
}

/// Changes a byte, a piece, or a word of an input, or goes over to another.
fn mutate(random: &mut Rng, input: &mut Vec<u8>, seeds: &[Vec<u8>]) {
    let at = random.usize(..=input.len());
    let end = at + random.usize(..=(input.len() - at).min(16));
    match random.u8(..8) {
        0 if at < input.len() => input[at] ^= 1 << random.u8(..8),
        1 if at < input.len() => input[at] = random.u8(..),
        2 => input.insert(at, random.u8(..)),
        3 => drop(input.drain(at..end)),
        4 => {
            let piece = input[at..end].to_vec();
            let to = random.usize(..=input.len());
            input.splice(to..to, piece);
        }
        5 => {
            let other = random.choice(seeds).expect("a target has seeds");
            let from = random.usize(..=other.len());
            input.truncate(at);
            input.extend_from_slice(&other[from..]);
        }
        6 => {
            let word = random.choice(WORDS).expect("words");
            input.splice(at..at, word.bytes());
        }
        _ => {
            let word = random.choice(WORDS).expect("words");
            input.splice(at..end, word.bytes());
        }
    }
}

#[test]
fn fens() {
    run("fen", 4_000);
}

#[test]
fn epds() {
    run("epd", 8_000);
}

#[test]
fn uci_moves() {
    run("uci_move", 2_000);
}

#[test]
fn sans() {
    run("san", 2_000);
}

#[test]
fn games() {
    run("game", 400);
}

#[test]
fn pgn_texts() {
    run("pgn", 4_000);
}

#[test]
fn uci_sessions() {
    run("uci", 400);
}

#[test]
fn lichess_streams() {
    run("lichess", 2_000);
}

#[test]
fn fics_sessions() {
    run("fics", 4_000);
}

#[test]
fn every_target_is_run() {
    // A new target needs a test here and a file in `fuzz/fuzz_targets/`.
    let names = properties::TARGETS.map(|target| target.name);
    let run = ["fen", "epd", "uci_move", "san", "game", "pgn", "uci", "lichess", "fics"];
    assert_eq!(names, run);
}
