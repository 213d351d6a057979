//! The searcher on known positions: mates, the wins behind 1.Nf3, the bench signature, and the
//! promises about stopping and repeating.

#![allow(clippy::panic, reason = "a test fails by panicking")]

use std::{
    sync::mpsc,
    time::{Duration, Instant},
};

use meitner::{
    rules::{CastlingNotation, Epd, History, Position},
    search::{ClockLimit, Engine, Limits, Options, Report, Update, bench},
};

/// Starts a search and gives the receiver of its report.
fn start(engine: &Engine, history: History, limits: Limits) -> mpsc::Receiver<Report> {
    let (sender, receiver) = mpsc::channel();
    engine.search(
        history,
        limits,
        Box::new(move |update| {
            if let Update::Report(report) = update {
                sender.send(report).ok();
            }
        }),
    );
    receiver
}

fn search(engine: &Engine, history: History, limits: Limits) -> Report {
    let receiver = start(engine, history, limits);
    receiver.recv_timeout(Duration::from_mins(1)).expect("a report")
}

fn nodes(nodes: u64) -> Limits {
    Limits { nodes: Some(nodes), ..Limits::default() }
}

fn from_fen(fen: &str) -> History {
    History::new(Position::from_fen(fen).unwrap_or_else(|error| panic!("{fen}: {error}")))
}

fn line(sans: &str) -> History {
    let mut history = History::default();
    for san in sans.split_whitespace() {
        let mv = history.position().parse_san(san).unwrap_or_else(|error| panic!("{error}"));
        history.play(mv).expect("parsed moves are legal");
    }
    history
}

fn best(report: &Report) -> String {
    report.best.map(|mv| mv.uci(CastlingNotation::KingToRook)).unwrap_or_default()
}

/// The suite of forced wins: `bm` has the moves that win in `dm`.
fn mates() -> Vec<Epd> {
    let read = |line: &str| line.parse().unwrap_or_else(|error| panic!("{line}: {error}"));
    include_str!("data/atomic-mates.epd").lines().map(read).collect()
}

/// The bar is 200 ms on one core (`cargo bench --bench tactics` takes the time). A core that searches
/// 2.8 million nodes a second, as in the matches of docs/ENGINE.md, does 560,000 in them; these are fewer.
#[test]
fn forced_wins_are_found() {
    let engine = Engine::new(Options::default());
    let (mut solved, mut exact) = (0, 0);
    let mates = mates();
    for mate in &mates {
        engine.new_game();
        let report = search(&engine, History::new(mate.position.clone()), nodes(500_000));
        let moves = mate.moves("bm").expect("legal moves");
        let distance = mate.number("dm").expect("a number");
        let is_solved = report.best.is_some_and(|best| moves.contains(&best));
        solved += usize::from(is_solved);
        let is_exact = report.info.score.mate_in() == distance;
        exact += usize::from(is_exact && is_solved);
        if !(is_solved && is_exact) {
            println!("{mate}: {} {}", best(&report), report.info.score);
        }
    }
    println!("{solved} solved, {exact} with the exact distance, of {}", mates.len());
    assert!(solved * 100 >= mates.len() * 99, "{solved} of {}", mates.len());
    assert!(exact * 100 >= mates.len() * 99, "{exact} of {}", mates.len());
}

#[test]
fn r17_nf3_is_answered_by_f6() {
    let engine = Engine::new(Options::default());
    let report = search(&engine, line("Nf3"), nodes(200_000));
    assert_eq!(best(&report), "f7f6");
    for reply in ["a6", "a5", "b6", "b5", "c6", "c5", "e6", "g6", "g5", "h6", "h5", "Na6", "Nh6"] {
        engine.new_game();
        let report = search(&engine, line(&format!("Nf3 {reply}")), nodes(50_000));
        assert_eq!(best(&report), "f3e5", "after {reply}");
        assert!(report.info.score.mate_in().is_some(), "after {reply}: {}", report.info.score);
    }
}

#[test]
fn the_same_nodes_again_after_a_new_game() {
    let engine = Engine::new(Options::default());
    let limits = || Limits { depth: Some(9), ..Limits::default() };
    let first = search(&engine, History::default(), limits());
    engine.new_game();
    let second = search(&engine, History::default(), limits());
    assert_eq!(first.info.nodes, second.info.nodes);
    assert_eq!(first.best, second.best);
}

#[test]
fn a_stop_is_obeyed_at_once() {
    let engine = Engine::new(Options::default());
    for _ in 0..5 {
        let limits = Limits { infinite: true, ..Limits::default() };
        let receiver = start(&engine, History::default(), limits);
        assert!(receiver.recv_timeout(Duration::from_millis(50)).is_err(), "infinite goes on");
        engine.stop();
        // 5 ms is the aim; a loaded machine may schedule the thread later.
        let report = receiver.recv_timeout(Duration::from_millis(500)).expect("a report");
        assert!(report.best.is_some());
    }
}

#[test]
fn a_new_search_ends_the_old_one_and_both_report() {
    let engine = Engine::new(Options::default());
    let first = start(&engine, History::default(), Limits { infinite: true, ..Limits::default() });
    let second = start(&engine, line("Nf3"), nodes(1_000));
    let first = first.recv_timeout(Duration::from_secs(5)).expect("the first report");
    let second = second.recv_timeout(Duration::from_secs(5)).expect("the second report");
    assert_ne!(first.id, second.id);
}

#[test]
fn pondering_waits_for_the_hit() {
    let engine = Engine::new(Options::default());
    let clock = ClockLimit {
        remaining: Duration::from_millis(400),
        increment: Duration::ZERO,
        moves_to_go: None,
    };
    let limits = Limits { ponder: true, clock: Some(clock), ..Limits::default() };
    let receiver = start(&engine, History::default(), limits);
    assert!(receiver.recv_timeout(Duration::from_millis(600)).is_err(), "pondering goes on");
    let hit = Instant::now();
    engine.ponder_hit();
    receiver.recv_timeout(Duration::from_secs(2)).expect("a report after the hit");
    assert!(hit.elapsed() < Duration::from_millis(400));
}

#[test]
fn limits_are_kept() {
    let engine = Engine::new(Options::default());
    let report = search(&engine, History::default(), nodes(10_000));
    assert!((10_000..10_100).contains(&report.info.nodes), "{}", report.info.nodes);
    let report =
        search(&engine, History::default(), Limits { depth: Some(3), ..Limits::default() });
    assert_eq!(report.info.depth, 3);
    let report = search(&engine, History::default(), nodes(1));
    assert!(report.best.is_some());
    let started = Instant::now();
    let time = Some(Duration::from_millis(100));
    search(&engine, History::default(), Limits { move_time: time, ..Limits::default() });
    assert!((60..400).contains(&started.elapsed().as_millis()));
    let only = History::default().position().parse_uci("a2a3").expect("legal");
    let limits = Limits { search_moves: vec![only], ..nodes(2_000) };
    assert_eq!(search(&engine, History::default(), limits).best, Some(only));
}

#[test]
fn positions_without_moves_are_answered() {
    let engine = Engine::new(Options::default());
    for fen in [
        "8/8/6Qk/8/8/8/8/1K6 b - - 0 1",
        "k7/2Q5/8/8/8/8/8/K7 b - - 0 1",
        "k7/8/8/8/8/8/8/8 w - - 0 60",
    ] {
        assert_eq!(search(&engine, from_fen(fen), nodes(1_000)).best, None, "{fen}");
    }
}

#[test]
fn several_threads_find_the_same_win() {
    let engine = Engine::new(Options { hash_mb: 16, threads: 3 });
    let report = search(&engine, line("Nf3 a6"), nodes(50_000));
    assert_eq!(best(&report), "f3e5");
}

#[test]
fn a_repetition_is_avoided_when_winning_and_sought_when_losing() {
    // Two plies from the third occurrence: the side that is better plays something else.
    let mut history = from_fen("4k3/8/8/8/8/8/PP6/R3K3 w - - 0 1");
    for uci in ["a1d1", "e8e7", "d1a1", "e7e8", "a1d1", "e8e7", "d1a1", "e7e8"] {
        history.play_uci(uci).expect("legal");
    }
    let engine = Engine::new(Options::default());
    let report = search(&engine, history, nodes(20_000));
    assert_ne!(best(&report), "");
    assert!(report.info.score.centipawns() > 100, "{}", report.info.score);
}

/// The number of nodes that `meitner bench` prints. It changes with every functional change of the
/// searcher, and only then; a change of it needs a match result in its commit.
const SIGNATURE: u64 = 705_172;

#[test]
fn the_bench_has_its_signature() {
    let (nodes, _) = bench::run(bench::DEPTH, |_| {});
    assert_eq!(nodes, SIGNATURE);
}
