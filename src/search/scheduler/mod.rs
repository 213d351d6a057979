//! One scheduler for all searches of a process: who may use a core, and who has to wait.
//!
//! An engine's threads are its own and cost nothing while they wait; a search runs only with the
//! cores that its scheduler gives it. The rules are in `ledger`; this file adds the lock around it and
//! the waking. A search that loses its cores is not ended: its threads pause where they are in the
//! tree, within the time that they take to obey a stop, and go on from there.

mod ledger;

use std::{
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::Instant,
};

use ledger::Ledger;
pub(super) use ledger::Turn;

use self::ledger::Ticket;

/// Gives cores to the searches of the engines that share it. Its clones are one scheduler.
#[derive(Clone, Debug)]
pub struct Scheduler(Arc<Mutex<Board>>);

/// The ledger, and how to reach each search in it.
#[derive(Debug)]
struct Board {
    ledger: Ledger,
    gates: Vec<(Ticket, Arc<Gate>)>,
}

impl Scheduler {
    /// A scheduler of so many cores, at least one.
    pub fn new(cores: usize) -> Self {
        Self(Arc::new(Mutex::new(Board { ledger: Ledger::new(cores), gates: Vec::new() })))
    }

    /// The cores that the system lets this process use; 1 if it does not tell.
    pub fn available_cores() -> usize {
        thread::available_parallelism().map_or(1, usize::from)
    }

    /// A search with so many threads begins. Its cores are told at its gate, at once or later.
    pub(super) fn seat(&self, turn: Turn, threads: usize, gate: &Arc<Gate>) -> Seat {
        let mut board = self.lock();
        let ticket = board.ledger.ask(turn, threads);
        board.gates.push((ticket, Arc::clone(gate)));
        board.publish();
        Seat { scheduler: self.clone(), ticket, gate: Arc::clone(gate) }
    }

    fn lock(&self) -> MutexGuard<'_, Board> {
        // The ledger's steps do not panic half-way: a panic elsewhere leaves it valid.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Board {
    /// Tells each search whose cores have changed.
    fn publish(&self) {
        for (ticket, cores) in self.ledger.shares() {
            let gate = self.gates.iter().find(|(other, _)| *other == ticket);
            if let Some((_, gate)) = gate
                && gate.cores.swap(cores, Relaxed) != cores
            {
                gate.ring();
            }
        }
    }
}

/// A search's place at the scheduler; it leaves when this is dropped.
#[derive(Debug)]
pub(super) struct Seat {
    scheduler: Scheduler,
    ticket: Ticket,
    gate: Arc<Gate>,
}

impl Seat {
    /// The cores that the search has now. Of its threads, counted from 0, those below may run.
    #[inline]
    pub(super) fn cores(&self) -> usize {
        self.gate.cores()
    }

    /// The search ponders no longer: from now on it is one on its own clock.
    pub(super) fn promote(&self) {
        let mut board = self.scheduler.lock();
        board.ledger.promote(self.ticket);
        board.publish();
    }

    /// The search cannot wait any longer and runs with one thread, whoever else runs.
    pub(super) fn force(&self) {
        let mut board = self.scheduler.lock();
        board.ledger.force(self.ticket);
        board.publish();
    }

    /// The search needs no core any more. Its threads that wait for one are woken, to see that.
    pub(super) fn leave(&self) {
        let mut board = self.scheduler.lock();
        board.ledger.leave(self.ticket);
        board.gates.retain(|(ticket, _)| *ticket != self.ticket);
        board.publish();
        drop(board);
        self.gate.cores.store(0, Relaxed);
        self.gate.ring();
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Where the threads of one engine wait: for cores, and for what else their owner has to tell them.
#[derive(Debug, Default)]
pub(super) struct Gate {
    /// Cores of the present search. Written by the scheduler, polled by the search.
    cores: AtomicUsize,
    lock: Mutex<()>,
    bell: Condvar,
}

impl Gate {
    #[inline]
    fn cores(&self) -> usize {
        self.cores.load(Relaxed)
    }

    /// Makes all who wait look again. Called after a change of what they look at.
    pub(super) fn ring(&self) {
        // Who has looked already and does not wait yet holds the lock, and hears the bell then.
        let _guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.bell.notify_all();
    }

    /// Waits until the condition holds, or the deadline has come. Tells whether it holds.
    pub(super) fn wait(&self, deadline: Option<Instant>, is_due: impl Fn() -> bool) -> bool {
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while !is_due() {
            let Some(deadline) = deadline else {
                guard = self.bell.wait(guard).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let woken = self.bell.wait_timeout(guard, left);
            guard = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}
