//! The forced wins of `tests/data/atomic-mates.epd`, each searched for so many milliseconds on one
//! thread: how many are played right, and how many are announced with the right distance.
//!
//! `cargo bench --bench tactics` gives 200 ms and then 2,000 ms to each; other times are given as
//! arguments: `cargo bench --bench tactics -- 50 500`.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::time::Duration;

use meitner::{
    rules::{Epd, History},
    search::{Engine, Limits, Options},
};

fn main() {
    // Cargo adds `--bench` to the arguments.
    let mut times: Vec<u64> = std::env::args().filter_map(|text| text.parse().ok()).collect();
    if times.is_empty() {
        times = vec![200, 2_000];
    }
    let read = |line: &str| line.parse::<Epd>().expect("the suite can be read");
    let suite: Vec<Epd> =
        include_str!("../tests/data/atomic-mates.epd").lines().map(read).collect();
    let engine = Engine::new(Options::default());
    for time in times {
        let (mut solved, mut exact) = (0, 0);
        for epd in &suite {
            engine.new_game();
            let limits =
                Limits { move_time: Some(Duration::from_millis(time)), ..Limits::default() };
            let history = History::new(epd.position.clone());
            let report = engine.search_to_end(history, limits).expect("the engine lives");
            let moves = epd.moves("bm").expect("legal moves");
            let distance = epd.number("dm").expect("a number");
            let is_solved = report.best.is_some_and(|best| moves.contains(&best));
            let is_exact = is_solved && report.info.score.mate_in() == distance;
            solved += u32::from(is_solved);
            exact += u32::from(is_exact);
            if !is_exact {
                println!("{epd}: {}", report.info.score);
            }
        }
        println!("{time} ms: {solved} solved, {exact} with the distance, of {}", suite.len());
    }
}
