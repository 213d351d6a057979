//! Several engines on fewer cores: who is served first, who waits, and that nobody waits for ever.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
        mpsc,
    },
    time::{Duration, Instant},
};

use meitner::{
    rules::History,
    search::{ClockLimit, Engine, Limits, Options, Report, Scheduler, Update},
};

/// Nothing here takes this long, on however busy a machine.
const LONG: Duration = Duration::from_secs(30);
/// Far longer than it takes a thread to see what it is told.
const MOMENT: Duration = Duration::from_millis(200);

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn engine(scheduler: &Scheduler) -> Engine {
    Engine::with_scheduler(Options { hash_mb: 1, threads: 1 }, scheduler)
}

/// A search that runs: its report to come, and the depth that it has told of.
struct Running {
    report: mpsc::Receiver<Report>,
    depth: Arc<AtomicU64>,
}

impl Running {
    fn start(engine: &Engine, limits: Limits) -> Self {
        let (sender, report) = mpsc::channel();
        let depth = Arc::new(AtomicU64::new(0));
        let told = Arc::clone(&depth);
        let listener = move |update| match update {
            Update::Info(info) => told.store(info.depth.into(), Relaxed),
            Update::Progress(_) => {}
            Update::Report(report) => {
                let _ = sender.send(report);
            }
        };
        engine.search(History::default(), limits, Box::new(listener));
        Self { report, depth }
    }

    /// Whether it has come anywhere.
    fn has_begun(&self) -> bool {
        self.depth.load(Relaxed) > 0
    }

    fn is_over(&self) -> bool {
        self.report.try_recv().is_ok()
    }

    fn end(&self) -> Report {
        self.report.recv_timeout(LONG).expect("a report")
    }
}

#[expect(clippy::disallowed_methods, reason = "what must not happen is no condition to wait for")]
fn let_pass(time: Duration) {
    std::thread::sleep(time);
}

fn eventually(what: &str, condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < LONG, "not in {LONG:?}: {what}");
        let_pass(ms(1));
    }
}

fn nodes(nodes: u64) -> Limits {
    Limits { nodes: Some(nodes), ..Limits::default() }
}

/// A search without an end.
fn endless() -> Limits {
    Limits { infinite: true, ..Limits::default() }
}

/// A search on a clock, with a soft bound of about a fortieth of it.
fn clock(remaining: Duration) -> Limits {
    let clock = ClockLimit { remaining, increment: Duration::ZERO, moves_to_go: None };
    Limits { clock: Some(clock), ..Limits::default() }
}

fn pondering() -> Limits {
    Limits { ponder: true, ..clock(ms(60_000)) }
}

/// An engine whose search holds a core until it is stopped.
fn hold(scheduler: &Scheduler) -> (Engine, Running) {
    let engine = engine(scheduler);
    let running = Running::start(&engine, endless());
    eventually("it runs", || running.has_begun());
    (engine, running)
}

#[test]
fn own_clocks_are_served_while_others_ponder_and_those_go_on_afterwards() {
    let scheduler = Scheduler::new(2);
    let ponderers: Vec<Engine> = (0..4).map(|_| engine(&scheduler)).collect();
    let pondered: Vec<Running> =
        ponderers.iter().map(|engine| Running::start(engine, pondering())).collect();
    eventually("two ponder", || pondered.iter().filter(|it| it.has_begun()).count() == 2);
    // Both cores are wanted, again and again, by games whose clocks run.
    let holders = [hold(&scheduler), hold(&scheduler)];
    let_pass(MOMENT);
    let depths = || pondered.iter().map(|it| it.depth.load(Relaxed)).collect::<Vec<_>>();
    let before = depths();
    let_pass(MOMENT);
    assert_eq!(depths(), before, "one ponders on a core that is wanted");
    for (engine, running) in &holders {
        engine.stop();
        assert!(running.end().best.is_some());
    }
    eventually("one goes on", || depths() > before);
    for engine in &ponderers {
        engine.stop();
    }
    for running in &pondered {
        assert!(running.end().best.is_some(), "with or without a core");
    }
}

#[test]
fn all_searches_on_their_own_clocks_come_to_their_end() {
    for cores in [1, 2] {
        let scheduler = Scheduler::new(cores);
        let engines: Vec<Engine> = (0..4).map(|_| engine(&scheduler)).collect();
        for _ in 0..20 {
            let running: Vec<Running> =
                engines.iter().map(|engine| Running::start(engine, nodes(3_000))).collect();
            for search in running {
                assert!(search.end().info.nodes >= 3_000);
            }
        }
    }
}

#[test]
fn a_hit_that_waits_for_a_core_gets_one_and_its_clock_counts() {
    let scheduler = Scheduler::new(1);
    let (holder, _running) = hold(&scheduler);
    let engine = engine(&scheduler);
    // It forces its way after half of its soft bound, 100 ms or so.
    let limits = Limits { ponder: true, ..clock(ms(8_000)) };
    let waiting = Running::start(&engine, limits.clone());
    let_pass(MOMENT);
    assert!(!waiting.has_begun() && !waiting.is_over());
    engine.ponder_hit();
    let report = waiting.end();
    assert!(report.best.is_some() && report.info.depth > 0, "{report:?}");
    // It gets the core if that becomes free.
    let waiting = Running::start(&engine, limits);
    let_pass(MOMENT);
    engine.ponder_hit();
    holder.stop();
    assert!(waiting.end().info.depth > 0);
}

#[test]
fn a_hit_counts_from_its_arrival() {
    let engine = Engine::new(Options { hash_mb: 1, threads: 1 });
    let limits = Limits { ponder: true, ..clock(ms(600_000)) };
    let running = Running::start(&engine, limits);
    eventually("it ponders", || running.has_begun());
    // All of the time for the move has passed between the arrival and the call.
    let arrived = Instant::now().checked_sub(Duration::from_mins(10)).expect("a long uptime");
    engine.ponder_hit_at(arrived);
    running.report.recv_timeout(ms(2_000)).expect("a report at once");
}

#[test]
fn a_hit_after_enough_pondering_ends_at_once() {
    let engine = Engine::new(Options { hash_mb: 1, threads: 1 });
    // A soft bound of 400 ms, and a hard one that would let an iteration go on for two seconds.
    let running = Running::start(&engine, Limits { ponder: true, ..clock(ms(16_000)) });
    let_pass(ms(2_000));
    assert!(!running.is_over());
    let hit = Instant::now();
    engine.ponder_hit();
    running.end();
    assert!(hit.elapsed() < ms(200), "{:?}", hit.elapsed());
}

#[test]
fn waiting_for_a_core_is_no_pondering() {
    let scheduler = Scheduler::new(1);
    let (holder, _running) = hold(&scheduler);
    let engine = engine(&scheduler);
    // At least 250 ms of thinking, and at most 1.4 s: less than it waits.
    let waiting = Running::start(&engine, Limits { ponder: true, ..clock(ms(24_000)) });
    let_pass(ms(1_500));
    holder.stop();
    eventually("it ponders", || waiting.has_begun());
    let hit = Instant::now();
    engine.ponder_hit();
    waiting.end();
    assert!(hit.elapsed() > ms(50), "{:?}", hit.elapsed());
}

#[test]
fn a_proved_win_leaves_the_core_to_others() {
    let scheduler = Scheduler::new(1);
    let winner = engine(&scheduler);
    let (sender, report) = mpsc::channel();
    let mut history = History::default();
    for uci in ["g1f3", "a7a6", "f3e5", "a6a5"] {
        history.play_uci(uci).expect("legal");
    }
    let listener = move |update| {
        if let Update::Report(report) = update {
            let _ = sender.send(report);
        }
    };
    winner.search(history, pondering(), Box::new(listener));
    let other = engine(&scheduler);
    let running = Running::start(&other, pondering());
    eventually("the other ponders", || running.has_begun());
    assert!(report.try_recv().is_err(), "it waits for the hit");
    winner.ponder_hit();
    let report = report.recv_timeout(LONG).expect("a report");
    assert!(report.info.score.mate_in().is_some());
}

#[test]
fn waiting_ends_by_a_stop_with_a_legal_move() {
    let scheduler = Scheduler::new(1);
    let (_holder, _running) = hold(&scheduler);
    let engine = engine(&scheduler);
    for limits in [endless(), nodes(1_000_000), pondering(), clock(ms(600_000))] {
        let waiting = Running::start(&engine, limits);
        let_pass(ms(20));
        assert!(!waiting.is_over());
        engine.stop();
        let best = waiting.end().best.expect("a move");
        assert!(History::default().position().is_legal(best));
    }
}

#[test]
fn waiting_ends_by_the_clock_with_a_move() {
    let scheduler = Scheduler::new(1);
    let (_holder, _running) = hold(&scheduler);
    let engine = engine(&scheduler);
    for remaining in [ms(400), ms(2_000), ms(8_000)] {
        let begun = Instant::now();
        assert!(Running::start(&engine, clock(remaining)).end().best.is_some());
        assert!(begun.elapsed() < remaining, "{:?} of {remaining:?}", begun.elapsed());
    }
}

#[test]
fn engines_can_be_dropped_whatever_they_do() {
    let scheduler = Scheduler::new(1);
    let engines: Vec<Engine> = (0..6).map(|_| engine(&scheduler)).collect();
    let limits = [endless(), endless(), pondering(), pondering(), nodes(50_000_000), pondering()];
    let running: Vec<Running> =
        engines.iter().zip(limits).map(|(engine, limits)| Running::start(engine, limits)).collect();
    engines[2].ponder_hit();
    let_pass(ms(20));
    drop(engines);
    for search in running {
        assert!(search.end().best.is_some());
    }
    // The core is free again.
    let engine = engine(&scheduler);
    assert!(engine.search_to_end(History::default(), nodes(2_000)).is_some());
}

#[test]
fn threads_are_used_as_far_as_there_are_cores() {
    let scheduler = Scheduler::new(2);
    let options = Options { hash_mb: 1, threads: 4 };
    let engines = [(); 3].map(|()| Engine::with_scheduler(options, &scheduler));
    let pondering = engines.each_ref().map(|engine| Running::start(engine, pondering()));
    for engine in &engines {
        let_pass(ms(20));
        engine.ponder_hit();
        engine.stop();
    }
    assert!(pondering.iter().all(|it| it.end().best.is_some()));
    for engine in &engines {
        assert!(engine.search_to_end(History::default(), nodes(20_000)).is_some());
    }
}
