//! The engine as a service: its own threads, a queue of one search, and the signals that end it.

use std::{
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{
            AtomicBool, AtomicU64, AtomicUsize,
            Ordering::{Acquire, Relaxed, Release},
        },
        mpsc,
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crate::{
    rules::{History, Move, Outcome, Position},
    search::{
        Info, Limits, Progress, Report, Score, SearchId, Update,
        alphabeta::Searcher,
        history::Histories,
        root::{Line, Pacer, RootMove, root_moves},
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
    /// The last job that changes the engine, to be waited for.
    change: Mutex<Option<mpsc::Receiver<()>>>,
    thread: Option<JoinHandle<()>>,
}

/// What the engine's thread is asked to do, in order.
enum Job {
    Search { id: u64, history: Box<History>, limits: Limits, listener: Listener },
    NewGame(Done),
    SetOptions(Options, Done),
    Quit,
}

/// Dropped when the job is done, or when it never will be, which its receiver notices.
type Done = mpsc::Sender<()>;

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
    /// MiB of the transposition table. Written by the engine's thread.
    hash_mb: AtomicUsize,
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
        Self { jobs, control, change: Mutex::new(None), thread: Some(thread) }
    }

    /// Starts a search and returns at once. A search that still runs is stopped first and reports.
    /// The listener is called on the engine's thread: for each [`Update::Info`] and
    /// [`Update::Progress`], and exactly once, last, with [`Update::Report`].
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
        self.change(Job::NewGame);
    }

    /// Changes the size of the engine. A running search is stopped; the table is emptied if its
    /// size changes. If there is not enough memory, the table becomes a small one: see
    /// [`hash_mb`](Self::hash_mb).
    pub fn set_options(&self, options: Options) {
        self.change(|done| Job::SetOptions(options, done));
    }

    /// Waits until [`new_game`](Self::new_game) and [`set_options`](Self::set_options) have done
    /// what they were called for. Does not wait for a search.
    pub fn wait_until_ready(&self) {
        let change = self.change.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(change) = change {
            // Nothing is ever sent: the sender is dropped when the job is done.
            let _ = change.recv();
        }
    }

    /// The size of the transposition table, in MiB, once the engine is ready.
    pub fn hash_mb(&self) -> usize {
        self.control.hash_mb.load(Acquire)
    }

    /// Stops the search and gives the thread a job that changes the engine.
    fn change(&self, job: impl FnOnce(Done) -> Job) {
        self.stop();
        let (done, change) = mpsc::channel();
        self.send(job(done));
        *self.change.lock().unwrap_or_else(PoisonError::into_inner) = Some(change);
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
    /// When the search began.
    began: Instant,
    /// The zero point of the time: when the search began, or the ponder hit.
    started: Instant,
    budget: Option<Budget>,
    node_limit: Option<u64>,
    is_pondering: bool,
    /// Nodes at which to look again.
    next_check: u64,
    /// Who is told of the search; nobody by its helpers.
    listener: Option<&'a mut Listener>,
    tt: &'a TranspositionTable,
    /// The depth that is searched.
    pub(super) depth: u32,
    /// When to give the next sign of life, counted from the search's beginning.
    next_news: Duration,
}

/// A thread's nodes, alone on its cache line.
#[derive(Default)]
#[repr(align(64))]
pub(super) struct Counter(AtomicU64);

/// A search says nothing but its lines for this long. Interfaces show its progress from then on,
/// and a short search is not slowed down by talking.
const QUIET: Duration = Duration::from_secs(3);
/// From then on it tells at least this often how far it is.
const NEWS_INTERVAL: Duration = Duration::from_secs(1);

/// How often the clock is read: every so many nodes, well below a millisecond apart.
const CHECK_INTERVAL: u64 = 512;

impl Signal<'_> {
    /// Since the zero point of the time.
    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Since the search began, pondering included.
    pub(super) fn searched(&self) -> Duration {
        self.began.elapsed()
    }

    /// Whether anybody is told of this thread's search.
    pub(super) fn has_listener(&self) -> bool {
        self.listener.is_some()
    }

    /// Tells the listener, if there is one.
    pub(super) fn tell(&mut self, update: Update) {
        if let Some(listener) = &mut self.listener {
            listener(update);
        }
    }

    /// Tells which move of the root is searched next, if the search takes long.
    pub(super) fn tell_current(&mut self, mv: Move, number: usize, nodes: u64) {
        if self.has_listener() && self.searched() >= QUIET {
            self.tell_progress(Some((mv, number)), nodes);
        }
    }

    fn tell_progress(&mut self, current: Option<(Move, usize)>, nodes: u64) {
        let elapsed = self.searched();
        self.next_news = elapsed + NEWS_INTERVAL;
        let nodes = self.total(nodes);
        let (depth, hashfull) = (self.depth, self.tt.hashfull());
        self.tell(Update::Progress(Progress { depth, current, nodes, elapsed, hashfull }));
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
        if self.searched() >= self.next_news {
            self.tell_progress(None, nodes);
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
    pub(super) fn total(&self, own: u64) -> u64 {
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
        let tt = TranspositionTable::new(options.hash_mb);
        control.hash_mb.store(tt.mebibytes(), Release);
        Self {
            options,
            tt,
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
                Job::NewGame(_done) => {
                    self.tt.clear();
                    self.histories.iter_mut().for_each(Histories::clear);
                }
                Job::SetOptions(options, _done) if options != self.options => {
                    // The old table goes before the new one comes.
                    self.tt = TranspositionTable::new(0);
                    self = Self::new(options, self.control);
                }
                Job::SetOptions(..) => {}
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
        let (control, is_over, counters, tt) = (&*self.control, &is_over, &counters[..], &self.tt);
        let began = limits.started.unwrap_or_else(Instant::now);
        let signal = move |thread| Signal {
            id,
            control,
            is_over,
            counters,
            thread,
            began,
            started: began,
            budget,
            node_limit: limits.nodes,
            is_pondering: limits.ponder,
            next_check: 0,
            listener: None,
            tt,
            depth: 0,
            next_news: QUIET,
        };
        let (main, helpers) = self.histories.split_first_mut().expect("at least one thread");
        thread::scope(|scope| {
            if !helpers.is_empty() && !moves.is_empty() {
                let moves = moves.clone();
                // A thread of its own starts the helpers, so that the search does not wait for it.
                spawn_scoped(scope, move || {
                    for (index, histories) in helpers.iter_mut().enumerate() {
                        let (signal, moves) = (signal(index + 1), moves.clone());
                        spawn_scoped(scope, move || {
                            help(
                                Searcher::new(tt, signal, histories, history.keys()),
                                history,
                                limits.multipv,
                                moves,
                            );
                        });
                    }
                });
            }
            let signal = Signal { listener: Some(listener), ..signal(0) };
            let mut searcher = Searcher::new(tt, signal, main, history.keys());
            let mut pacer = Pacer::new(budget.filter(|_| !limits.infinite));
            let lines = searcher.deepen(history, limits, &mut moves, &mut pacer);
            is_over.store(true, Relaxed);
            wait_for_permission(control, id, limits);
            report(&searcher, id, history, lines.first())
        })
    }
}

/// A thread that may be missing: without a helper the search is slower, not wrong.
fn spawn_scoped<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    work: impl FnOnce() + Send + 'scope,
) {
    let helper = thread::Builder::new().name("search-helper".to_owned()).stack_size(STACK);
    drop(helper.spawn_scoped(scope, work));
}

/// Searches the same moves as the main thread, for what it leaves in the table.
fn help(mut searcher: Searcher<'_>, history: &History, multipv: usize, mut moves: Vec<RootMove>) {
    let limits = Limits { multipv, ..Limits::default() };
    searcher.deepen(history, &limits, &mut moves, &mut Pacer::new(None));
}

/// The end of a search with this best line.
fn report(searcher: &Searcher<'_>, id: u64, history: &History, best: Option<&Line>) -> Report {
    let id = SearchId(id);
    if let Some(line) = best {
        let ponder = expected(history, line);
        return Report { id, best: Some(line.mv), ponder, info: searcher.info(line, 1) };
    }
    let score = Score::from_value(verdict(history.position()));
    Report { id, best: None, ponder: None, info: Info { multipv: 1, score, ..Info::default() } }
}

/// The value of a position without legal moves.
fn verdict(position: &Position) -> score::Value {
    match position.outcome().and_then(Outcome::winner) {
        Some(winner) if winner == position.turn() => score::win_at(0),
        Some(_) => score::loss_at(0),
        None => score::DRAW,
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
fn expected(history: &History, best: &Line) -> Option<Move> {
    let &second = best.pv.get(1)?;
    let next = history.position().after(best.mv);
    (!score::is_loss(best.value) && next.is_legal(second)).then_some(second)
}
