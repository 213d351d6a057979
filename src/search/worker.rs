//! The engine as a service: its own threads, a queue of one search, and the signals that end it.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{
            AtomicBool,
            Ordering::{Acquire, Relaxed, Release},
        },
        mpsc,
    },
    thread::{self, JoinHandle},
    time::Instant,
};

use crate::{
    rules::{History, Move, Outcome, Position},
    search::{
        Info, Limits, Report, Scheduler, Score, SearchId, Update,
        alphabeta::Searcher,
        eval,
        history::Histories,
        root::{Line, Pacer, RootMove, root_moves},
        scheduler::Turn,
        score,
        signal::{Control, Counter, Run, Signal},
        timeman,
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

/// A searcher with its own threads, which run on the cores that its scheduler gives it. Dropping it
/// stops the search and joins the threads.
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

impl Engine {
    /// An engine at rest with a scheduler of its own: it always has as many cores as threads.
    ///
    /// # Panics
    ///
    /// If the system refuses a thread.
    pub fn new(options: Options) -> Self {
        Self::start(options, None)
    }

    /// An engine at rest that shares the cores of a scheduler with other engines. A search gets at
    /// most as many of them as the engine has threads. On its own clock it waits for one at most
    /// half of its soft bound; without a clock, until there is one.
    ///
    /// # Panics
    ///
    /// If the system refuses a thread.
    pub fn with_scheduler(options: Options, scheduler: &Scheduler) -> Self {
        Self::start(options, Some(scheduler.clone()))
    }

    fn start(options: Options, shared: Option<Scheduler>) -> Self {
        let control = Arc::new(Control::default());
        let (jobs, inbox) = mpsc::channel();
        let signals = Arc::clone(&control);
        let thread = thread::Builder::new()
            .name("search".to_owned())
            .stack_size(STACK)
            .spawn(move || Worker::new(options, signals, shared).run(&inbox))
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

    /// As [`ponder_hit_at`](Self::ponder_hit_at), now.
    pub fn ponder_hit(&self) {
        self.ponder_hit_at(Instant::now());
    }

    /// The opponent has played the expected move: a pondering search goes on as a normal one, whose
    /// clock runs from this time. It ends at once if it has found enough already.
    pub fn ponder_hit_at(&self, at: Instant) {
        self.control.hit(at);
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

/// The engine's thread: owns the tables and runs one search after another.
struct Worker {
    options: Options,
    tt: TranspositionTable,
    /// One for each thread.
    histories: Vec<Histories>,
    control: Arc<Control>,
    scheduler: Scheduler,
    /// The scheduler, if it is not the engine's own.
    shared: Option<Scheduler>,
}

impl Worker {
    fn new(options: Options, control: Arc<Control>, shared: Option<Scheduler>) -> Self {
        eval::prepare();
        let threads = options.threads.max(1);
        let tt = TranspositionTable::new(options.hash_mb);
        control.hash_mb.store(tt.mebibytes(), Release);
        Self {
            options,
            tt,
            histories: std::iter::repeat_with(Histories::new).take(threads).collect(),
            control,
            scheduler: shared.clone().unwrap_or_else(|| Scheduler::new(threads)),
            shared,
        }
    }

    fn run(mut self, inbox: &mpsc::Receiver<Job>) {
        while let Ok(job) = inbox.recv() {
            match job {
                Job::Search { id, history, limits, mut listener } => {
                    self.search(id, &history, &limits, &mut listener);
                }
                Job::NewGame(_done) => {
                    self.tt.clear();
                    self.histories.iter_mut().for_each(Histories::clear);
                }
                Job::SetOptions(options, _done) if options != self.options => {
                    // The old table goes before the new one comes.
                    self.tt = TranspositionTable::new(0);
                    self = Self::new(options, self.control, self.shared);
                }
                Job::SetOptions(..) => {}
                Job::Quit => break,
            }
        }
    }

    fn search(&mut self, id: u64, history: &History, limits: &Limits, listener: &mut Listener) {
        let turn = if limits.ponder { Turn::Theirs } else { Turn::Ours };
        let seat = self.scheduler.seat(turn, self.histories.len(), &self.control.gate);
        // Who has no core yet, or ponders, may get any number of them: surplus threads only wait.
        let is_settled = !limits.ponder && seat.cores() > 0;
        let threads = if is_settled { seat.cores() } else { self.histories.len() };
        self.tt.new_search();
        let mut moves = root_moves(history.position(), &limits.search_moves);
        let budget = timeman::budget(limits, history.position().ply());
        let is_over = AtomicBool::new(false);
        let counters: Vec<Counter> = (0..threads).map(|_| Counter::default()).collect();
        let run = Run {
            id,
            control: &self.control,
            seat: &seat,
            is_over: &is_over,
            counters: &counters,
            tt: &self.tt,
            began: limits.started.unwrap_or_else(Instant::now),
            budget,
            node_limit: limits.nodes,
            ponders: limits.ponder,
        };
        // Also if this thread panics: the others would search for ever, on cores of other games.
        let over = Over(run);
        let (main, helpers) = self.histories[..threads].split_first_mut().expect("a thread");
        let report = thread::scope(|scope| {
            if !helpers.is_empty() && !moves.is_empty() {
                let moves = moves.clone();
                // A thread of its own starts the helpers, so that the search does not wait for it.
                spawn_scoped(scope, move || {
                    for (index, histories) in helpers.iter_mut().enumerate() {
                        let (signal, moves) = (Signal::new(run, index + 1, None), moves.clone());
                        spawn_scoped(scope, move || {
                            help(
                                Searcher::new(run.tt, signal, histories, history.keys()),
                                history,
                                limits.multipv,
                                moves,
                            );
                        });
                    }
                });
            }
            let signal = Signal::new(run, 0, Some(&mut *listener));
            let mut searcher = Searcher::new(run.tt, signal, main, history.keys());
            let mut pacer = Pacer::new(budget.filter(|_| !limits.infinite));
            let lines = searcher.deepen(history, limits, &mut moves, &mut pacer);
            drop(over);
            if !self.control.may_report(id, limits) {
                seat.leave();
                self.control.wait_for_permission(id, limits);
            }
            report(&searcher, id, history, lines.first())
        });
        listener(Update::Report(report));
        // The core goes last: who is woken by it would run where this thread still has to report.
        drop(seat);
    }
}

/// Tells the helpers that the search is over when it is dropped.
struct Over<'a>(Run<'a>);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Relaxed);
        self.0.control.gate.ring();
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

/// The answer to the best move that the search expects.
fn expected(history: &History, best: &Line) -> Option<Move> {
    let &second = best.pv.get(1)?;
    let next = history.position().after(best.mv);
    (!score::is_loss(best.value) && next.is_legal(second)).then_some(second)
}
