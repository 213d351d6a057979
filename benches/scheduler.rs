//! One scheduler with two cores: from the start of a search on its own clock to its first node, and
//! from a stop to the report; alone, beside one other search, and while eight other engines ponder.
//!
//! `cargo bench --bench scheduler` prints the percentiles. The wake-ups of two threads are part of
//! each figure, so that it bounds the engine's own time from above. Beside another search both cores
//! are busy without anybody pondering: what those figures have in common with those of pondering is
//! the machine's. On a machine with more than two
//! cores the threads that ponder may be on others: `taskset -c 0,1` keeps them where it hurts.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod percentiles;

use std::{
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use meitner::{
    rules::History,
    search::{Engine, Limits, Options, Scheduler, Update},
};

const SAMPLES: u32 = 500;
const CORES: usize = 2;
const PONDERING: usize = 8;

fn main() {
    let scheduler = Scheduler::new(CORES);
    let options = Options { hash_mb: 16, threads: 1 };
    let engine = Engine::with_scheduler(options, &scheduler);
    measure("alone", &engine);
    let other = Engine::with_scheduler(options, &scheduler);
    other.search(History::default(), Limits::default(), Box::new(|_| {}));
    pause(500_000);
    measure("beside another search", &engine);
    drop(other);
    let others: Vec<Engine> =
        std::iter::repeat_with(|| Engine::with_scheduler(options, &scheduler))
            .take(PONDERING)
            .collect();
    for other in &others {
        let limits = Limits { ponder: true, ..Limits::default() };
        other.search(History::default(), limits, Box::new(|_| {}));
    }
    pause(500_000);
    measure(&format!("while {PONDERING} ponder"), &engine);
}

#[expect(clippy::disallowed_methods, reason = "the others run meanwhile")]
fn pause(us: u64) {
    thread::sleep(Duration::from_micros(us));
}

fn measure(when: &str, engine: &Engine) {
    let (mut begun, mut stopped) = (Vec::new(), Vec::new());
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..SAMPLES {
        // The others have their cores back, and are anywhere in their trees.
        pause(random.u64(3_000..6_000));
        let started = Instant::now();
        let limits = Limits { nodes: Some(1), ..Limits::default() };
        engine.search_to_end(History::default(), limits).expect("a report");
        begun.push(started.elapsed());
        let (sender, report) = mpsc::channel();
        let listener = move |update| {
            if let Update::Report(_) = update {
                sender.send(()).expect("a receiver");
            }
        };
        engine.search(History::default(), Limits::default(), Box::new(listener));
        pause(random.u64(3_000..6_000));
        let started = Instant::now();
        engine.stop();
        report.recv().expect("a report");
        stopped.push(started.elapsed());
    }
    percentiles::print(&format!("search to the report of one node, {when}"), begun);
    percentiles::print(&format!("stop to report, {when}"), stopped);
}
