//! How a search and its owner talk: the owner's signals, and what a searching thread makes of them.
//!
//! Every thread of a search asks here, every few hundred nodes, whether it has to stop. Here it also
//! waits while it has no core.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{
            AtomicBool, AtomicU64, AtomicUsize,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
    thread,
    time::{Duration, Instant},
};

use crate::{
    rules::Move,
    search::{
        Limits, Progress, Update,
        scheduler::{Gate, Seat},
        timeman::Budget,
        tt::TranspositionTable,
        worker::Listener,
    },
};

/// Signals from the engine's owner to its thread. A search is named by its number, so that a
/// signal for one can never reach the next.
#[derive(Default)]
pub(super) struct Control {
    /// The latest search that was started. Written by the owner.
    pub(super) latest: AtomicU64,
    /// Every search up to this number has to stop. Written by the owner, polled by searches.
    stopped: AtomicU64,
    /// The latest search whose pondering has become real. Written by the owner.
    ponder_hit: AtomicU64,
    /// When the ponder hit came.
    hit_at: Mutex<Option<Instant>>,
    /// MiB of the transposition table. Written by the engine's thread.
    pub(super) hash_mb: AtomicUsize,
    /// Wakes a search that waits for a core, or that has nothing left to do.
    pub(super) gate: Arc<Gate>,
}

impl Control {
    pub(super) fn is_stopped(&self, id: u64) -> bool {
        self.stopped.load(Relaxed) >= id
    }

    fn is_ponder_hit(&self, id: u64) -> bool {
        self.ponder_hit.load(Acquire) >= id
    }

    fn hit_at(&self) -> Option<Instant> {
        // The guarded value is a plain word: a panic elsewhere leaves it valid.
        *self.hit_at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn stop(&self, id: u64) {
        self.stopped.fetch_max(id, Release);
        self.gate.ring();
    }

    /// What the latest search ponders on was played at this time.
    pub(super) fn hit(&self, at: Instant) {
        *self.hit_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(at);
        self.ponder_hit.fetch_max(self.latest.load(Relaxed), Release);
        self.gate.ring();
    }

    /// Whether a search that has found all it can may say so already.
    pub(super) fn may_report(&self, id: u64, limits: &Limits) -> bool {
        let must_wait = limits.infinite || (limits.ponder && !self.is_ponder_hit(id));
        self.is_stopped(id) || !must_wait
    }

    /// Waits until a search may report.
    pub(super) fn wait_for_permission(&self, id: u64, limits: &Limits) {
        self.gate.wait(None, || self.may_report(id, limits));
    }
}

/// One search, as all of its threads see it.
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    pub(super) id: u64,
    pub(super) control: &'a Control,
    pub(super) seat: &'a Seat,
    /// Set when the main thread of the search has finished.
    pub(super) is_over: &'a AtomicBool,
    /// The nodes of each thread, for the others to read.
    pub(super) counters: &'a [Counter],
    pub(super) tt: &'a TranspositionTable,
    /// When the search began.
    pub(super) began: Instant,
    pub(super) budget: Option<Budget>,
    pub(super) node_limit: Option<u64>,
    /// Whether it begins on the opponent's time.
    pub(super) ponders: bool,
}

/// How a searching thread learns that it has to stop.
pub(super) struct Signal<'a> {
    run: Run<'a>,
    /// Which of the search's threads this is; 0 is the main one.
    thread: usize,
    /// The zero point of the time: when the search began, or the ponder hit.
    started: Instant,
    is_pondering: bool,
    /// Whether the last iteration has found enough, so that a ponder hit ends the search.
    pub(super) is_enough: bool,
    /// Nodes at which to look again.
    next_check: u64,
    /// Who is told of the search; nobody by its helpers.
    listener: Option<&'a mut Listener>,
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

/// A search on its own clock waits for a core until this part of its soft bound has passed. Then it
/// runs beside the others: half a core finds a better move than none, and no game is lost by
/// waiting.
const WAITING_SHARE: u32 = 2;

impl<'a> Signal<'a> {
    /// The signal of a thread, before its first node.
    pub(super) fn new(run: Run<'a>, thread: usize, listener: Option<&'a mut Listener>) -> Self {
        Self {
            run,
            thread,
            started: run.began,
            is_pondering: run.ponders,
            is_enough: false,
            next_check: 0,
            listener,
            depth: 0,
            next_news: QUIET,
        }
    }

    /// Since the zero point of the time.
    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Since the search began, pondering included.
    pub(super) fn searched(&self) -> Duration {
        self.run.began.elapsed()
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
        let (depth, hashfull) = (self.depth, self.run.tt.hashfull());
        self.tell(Update::Progress(Progress { depth, current, nodes, elapsed, hashfull }));
    }

    /// Whether the search has to stop, now that this thread has seen so many nodes. Returns only
    /// when the thread has a core, or has to stop.
    #[inline]
    pub(super) fn must_stop(&mut self, nodes: u64) -> bool {
        if nodes < self.next_check {
            return false;
        }
        self.check(nodes)
    }

    #[cold]
    fn check(&mut self, nodes: u64) -> bool {
        self.run.counters[self.thread].0.store(nodes, Relaxed);
        self.next_check = nodes + CHECK_INTERVAL;
        if self.run.ponders && !self.run.control.is_ponder_hit(self.run.id) {
            // Whoever woke on this core runs now, not at the system's next tick, 4 ms away. Alone on
            // its core this thread goes straight on. The benchmark `scheduler` measures it.
            thread::yield_now();
        }
        if !self.has_core() {
            self.wait_for_core();
        }
        if self.is_ended() {
            return true;
        }
        if self.thread > 0 {
            return false;
        }
        if self.searched() >= self.next_news {
            self.tell_progress(None, nodes);
        }
        if let Some(limit) = self.run.node_limit {
            let left = limit.saturating_sub(self.total(nodes));
            if left == 0 {
                return true;
            }
            self.next_check = nodes + left.min(CHECK_INTERVAL);
        }
        self.may_finish() && (self.is_enough || self.is_time_up())
    }

    fn is_time_up(&self) -> bool {
        self.run.budget.is_some_and(|budget| self.elapsed() >= budget.hard)
    }

    /// Whether somebody has ended the search.
    fn is_ended(&self) -> bool {
        self.run.control.is_stopped(self.run.id) || self.run.is_over.load(Relaxed)
    }

    fn has_core(&self) -> bool {
        self.thread < self.run.seat.cores()
    }

    /// Waits until this thread has a core or the search has ended. The main thread takes a ponder hit
    /// meanwhile, and forces its way if its own clock runs down.
    #[cold]
    fn wait_for_core(&mut self) {
        while !(self.is_ended() || self.has_core()) {
            let is_main = self.thread == 0;
            let is_pondering = is_main && !self.may_finish();
            // An answer that is ready at the hit needs no core.
            if is_main && !is_pondering && self.is_enough {
                return;
            }
            let has_clock = is_main && !is_pondering;
            let patience = self.run.budget.filter(|_| has_clock).map(|it| it.soft / WAITING_SHARE);
            let deadline = patience.and_then(|patience| self.started.checked_add(patience));
            let is_due = || {
                let is_hit = is_pondering && self.run.control.is_ponder_hit(self.run.id);
                self.is_ended() || self.has_core() || is_hit
            };
            let paused = Instant::now();
            if !self.run.control.gate.wait(deadline, is_due) {
                self.run.seat.force();
            }
            if is_pondering {
                // Time without a core is no thinking: it must not make a shallow search look enough.
                self.started += paused.elapsed();
            }
        }
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
        if self.run.control.is_ponder_hit(self.run.id) {
            self.is_pondering = false;
            if let Some(at) = self.run.control.hit_at() {
                self.started = at;
            }
            self.run.seat.promote();
        }
    }

    /// Nodes of all threads.
    pub(super) fn total(&self, own: u64) -> u64 {
        let counters = self.run.counters.iter().enumerate();
        let others = counters.filter(|&(thread, _)| thread != self.thread);
        own + others.map(|(_, counter)| counter.0.load(Relaxed)).sum::<u64>()
    }
}
