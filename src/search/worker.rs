//! The engine as a service: its own threads, a queue of one search, and the signals that end it.

use std::{
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{
            AtomicBool, AtomicU64,
            Ordering::{Acquire, Relaxed, Release},
        },
        mpsc,
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crate::{
    rules::History,
    search::{
        Limits, Report, SearchId, Update,
        alphabeta::Searcher,
        history::Histories,
        root::{Best, Pacer, root_moves},
        score,
        timeman::{self, Budget},
        tt::TranspositionTable,
    },
};

/// What a search tells, and whom.
pub type Listener = Box<dyn FnMut(Update) + Send>;

/// The size of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Memory for the transposition table, in MiB.
    pub hash_mb: usize,
    /// Threads that search one position together.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { hash_mb: 16, threads: 1 }
    }
}

/// A searcher with its own thread. Dropping it stops the search and joins the thread.
pub struct Engine {
    jobs: mpsc::Sender<Job>,
    control: Arc<Control>,
    thread: Option<JoinHandle<()>>,
}

/// What the engine's thread is asked to do, in order.
enum Job {
    Search { id: u64, history: Box<History>, limits: Limits, listener: Listener },
    NewGame,
    SetOptions(Options),
    Quit,
}

/// Signals from the engine's owner to its thread. A search is named by its number, so that a
/// signal for one can never reach the next.
#[derive(Default)]
struct Control {
    /// The latest search that was started. Written by the owner.
    latest: AtomicU64,
    /// Every search up to this number has to stop. Written by the owner, polled by searches.
    stopped: AtomicU64,
    /// The latest search whose pondering has become real. Written by the owner.
    ponder_hit: AtomicU64,
    /// When the ponder hit came; its condition wakes a search that has nothing left to do.
    hit_at: Mutex<Option<Instant>>,
    wake: Condvar,
}

impl Control {
    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        // The guarded value is a plain word: a panic elsewhere leaves it valid.
        self.hit_at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_stopped(&self, id: u64) -> bool {
        self.stopped.load(Relaxed) >= id
    }

    fn is_ponder_hit(&self, id: u64) -> bool {
        self.ponder_hit.load(Acquire) >= id
    }

    fn stop(&self, id: u64) {
        self.stopped.fetch_max(id, Release);
        let _guard = self.lock();
        self.wake.notify_all();
    }
}

impl Engine {
    /// An engine at rest.
    ///
    /// # Panics
    ///
    /// If the system refuses a thread.
    pub fn new(options: Options) -> Self {
        let control = Arc::new(Control::default());
        let (jobs, inbox) = mpsc::channel();
        let shared = Arc::clone(&control);
        let thread = thread::Builder::new()
            .name("search".to_owned())
            .stack_size(STACK)
            .spawn(move || Worker::new(options, shared).run(&inbox))
            .expect("the system gives a thread");
        Self { jobs, control, thread: Some(thread) }
    }

    /// Starts a search and returns at once. A search that still runs is stopped first and reports.
    /// The listener is called on the engine's thread: for each [`Update::Info`], and exactly once,
    /// last, with [`Update::Report`].
    pub fn search(&self, history: History, limits: Limits, listener: Listener) -> SearchId {
        let before = self.control.latest.fetch_add(1, Relaxed);
        self.control.stop(before);
        let id = before + 1;
        let mut limits = limits;
        limits.started.get_or_insert_with(Instant::now);
        self.send(Job::Search { id, history: Box::new(history), limits, listener });
        SearchId(id)
    }

    /// Searches and waits for the end. `None` if the engine's thread is gone. Without a limit this
    /// never returns, unless another thread stops the search.
    pub fn search_to_end(&self, history: History, limits: Limits) -> Option<Report> {
        let (sender, receiver) = mpsc::channel();
        let listener = move |update| {
            if let Update::Report(report) = update {
                // The receiver below waits for exactly this.
                let _ = sender.send(report);
            }
        };
        self.search(history, limits, Box::new(listener));
        receiver.recv().ok()
    }

    /// Ends the running search, which reports within 5 ms. Without one nothing happens.
    pub fn stop(&self) {
        self.control.stop(self.control.latest.load(Relaxed));
    }

    /// The opponent has played the expected move: a pondering search goes on as a normal one,
    /// whose clock runs from now.
    pub fn ponder_hit(&self) {
        *self.control.lock() = Some(Instant::now());
        self.control.ponder_hit.fetch_max(self.control.latest.load(Relaxed), Release);
        let _guard = self.control.lock();
        self.control.wake.notify_all();
    }

    /// Forgets what earlier games have taught. A running search is stopped.
    pub fn new_game(&self) {
        self.stop();
        self.send(Job::NewGame);
    }

    /// Changes the size of the engine. A running search is stopped; the table is emptied if its
    /// size changes.
    pub fn set_options(&self, options: Options) {
        self.stop();
        self.send(Job::SetOptions(options));
    }

    fn send(&self, job: Job) {
        // The thread lives until `Quit`; if it has panicked, the listener's channel tells.
        let _ = self.jobs.send(job);
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.control.stop(u64::MAX);
        self.send(Job::Quit);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been reported by the panic hook already.
            let _ = thread.join();
        }
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}

/// Enough for the deepest line: a node needs about 5 KiB in an optimised build.
const STACK: usize = 16 << 20;

/// How a searching thread learns that it has to stop.
pub(super) struct Signal<'a> {
    id: u64,
    control: &'a Control,
    /// Set when the main thread of the search has finished.
    is_over: &'a AtomicBool,
    /// The nodes of each thread, for the others to read.
    counters: &'a [Counter],
    thread: usize,
    started: Instant,
    budget: Option<Budget>,
    node_limit: Option<u64>,
    is_pondering: bool,
    /// Nodes at which to look again.
    next_check: u64,
}

/// A thread's nodes, alone on its cache line.
#[derive(Default)]
#[repr(align(64))]
pub(super) struct Counter(AtomicU64);

/// How often the clock is read: every so many nodes, well below a millisecond apart.
const CHECK_INTERVAL: u64 = 512;

impl Signal<'_> {
    /// Since the zero point of the time.
    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Whether the search has to stop, now that this thread has seen so many nodes.
    #[inline]
    pub(super) fn must_stop(&mut self, nodes: u64) -> bool {
        if nodes < self.next_check {
            return false;
        }
        self.check(nodes)
    }

    #[cold]
    fn check(&mut self, nodes: u64) -> bool {
        self.counters[self.thread].0.store(nodes, Relaxed);
        self.next_check = nodes + CHECK_INTERVAL;
        if self.control.is_stopped(self.id) || self.is_over.load(Relaxed) {
            return true;
        }
        if self.thread > 0 {
            return false;
        }
        if let Some(limit) = self.node_limit {
            let left = limit.saturating_sub(self.total(nodes));
            if left == 0 {
                return true;
            }
            self.next_check = nodes + left.min(CHECK_INTERVAL);
        }
        self.may_finish() && self.budget.is_some_and(|budget| self.started.elapsed() >= budget.hard)
    }

    /// Whether the search may end by itself: not while it ponders.
    pub(super) fn may_finish(&mut self) -> bool {
        if self.is_pondering {
            self.take_ponder_hit();
        }
        !self.is_pondering
    }

    /// A ponder hit starts the clock.
    fn take_ponder_hit(&mut self) {
        if self.control.is_ponder_hit(self.id) {
            self.is_pondering = false;
            if let Some(at) = *self.control.lock() {
                self.started = at;
            }
        }
    }

    /// Nodes of all threads.
    fn total(&self, own: u64) -> u64 {
        let others = self.counters.iter().enumerate().filter(|&(thread, _)| thread != self.thread);
        own + others.map(|(_, counter)| counter.0.load(Relaxed)).sum::<u64>()
    }
}

/// The engine's thread: owns the tables and runs one search after another.
struct Worker {
    options: Options,
    tt: TranspositionTable,
    histories: Vec<Histories>,
    control: Arc<Control>,
}

impl Worker {
    fn new(options: Options, control: Arc<Control>) -> Self {
        let threads = options.threads.max(1);
        Self {
            options,
            tt: TranspositionTable::new(options.hash_mb),
            histories: std::iter::repeat_with(Histories::new).take(threads).collect(),
            control,
        }
    }

    fn run(mut self, inbox: &mpsc::Receiver<Job>) {
        while let Ok(job) = inbox.recv() {
            match job {
                Job::Search { id, history, limits, mut listener } => {
                    let report = self.search(id, &history, &limits, &mut listener);
                    listener(Update::Report(report));
                }
                Job::NewGame => {
                    self.tt.clear();
                    self.histories.iter_mut().for_each(Histories::clear);
                }
                Job::SetOptions(options) if options != self.options => {
                    // The old table goes before the new one comes.
                    self.tt = TranspositionTable::new(0);
                    self = Self::new(options, self.control);
                }
                Job::SetOptions(_) => {}
                Job::Quit => break,
            }
        }
    }

    fn search(
        &mut self,
        id: u64,
        history: &History,
        limits: &Limits,
        listener: &mut Listener,
    ) -> Report {
        self.tt.new_search();
        let mut moves = root_moves(history.position(), &limits.search_moves);
        let budget = timeman::budget(limits, history.position().ply());
        let is_over = AtomicBool::new(false);
        let counters: Vec<Counter> = self.histories.iter().map(|_| Counter::default()).collect();
        let signal = |thread| Signal {
            id,
            control: &self.control,
            is_over: &is_over,
            counters: &counters,
            thread,
            started: limits.started.unwrap_or_else(Instant::now),
            budget,
            node_limit: limits.nodes,
            is_pondering: limits.ponder,
            next_check: 0,
        };
        let tt = &self.tt;
        let (main, helpers) = self.histories.split_first_mut().expect("at least one thread");
        let (best, info) = thread::scope(|scope| {
            for (index, histories) in helpers.iter_mut().enumerate() {
                let signal = signal(index + 1);
                let mut moves = moves.clone();
                let helper =
                    thread::Builder::new().name("search-helper".to_owned()).stack_size(STACK);
                let spawned = helper.spawn_scoped(scope, move || {
                    let mut searcher = Searcher::new(tt, signal, histories, history.keys());
                    searcher.deepen(
                        history,
                        &Limits::default(),
                        &mut moves,
                        &mut Pacer::new(None),
                        |_, _| {},
                    );
                });
                // Without the helper the search is slower, not wrong.
                drop(spawned);
            }
            let mut searcher = Searcher::new(tt, signal(0), main, history.keys());
            let mut pacer = Pacer::new(budget.filter(|_| !limits.infinite));
            let best =
                searcher.deepen(history, limits, &mut moves, &mut pacer, |searcher, best| {
                    let nodes = searcher.signal.total(searcher.nodes);
                    listener(Update::Info(searcher.info(best, nodes)));
                });
            is_over.store(true, Relaxed);
            wait_for_permission(&self.control, id, limits);
            let info = searcher.info(&best, searcher.signal.total(searcher.nodes));
            (best, info)
        });
        Report { id: SearchId(id), best: best.mv, ponder: expected(history, &best), info }
    }
}

/// A search that may not report yet, since nobody has stopped it, waits here.
fn wait_for_permission(control: &Control, id: u64, limits: &Limits) {
    let must_wait = || {
        !control.is_stopped(id)
            && (limits.infinite || (limits.ponder && !control.is_ponder_hit(id)))
    };
    let mut guard = control.lock();
    while must_wait() {
        guard = control.wake.wait(guard).unwrap_or_else(PoisonError::into_inner);
    }
}

/// The answer to the best move that the search expects.
fn expected(history: &History, best: &Best) -> Option<crate::rules::Move> {
    let (&first, &second) = (best.pv.first()?, best.pv.get(1)?);
    let next = history.position().after(first);
    (!score::is_loss(best.value) && next.is_legal(second)).then_some(second)
}
