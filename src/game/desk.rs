//! Where the searches of a game run: on an engine of its own, or on one that games without a clock
//! borrow from each other.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::search::{self, Engine, Limits, Scheduler};

/// An engine on loan reaches for a core of its own at last for this share of its time: one that found
/// none idle before has still something to say then.
const LAST_SHARE: u32 = 10;

/// Where the searches of a game run.
#[derive(Clone, Debug)]
pub enum Desk {
    /// On an engine that the game has from its beginning to its end.
    Own(Arc<Engine>),
    /// On one that it has for a search.
    Shared(SpareEngine),
}

/// An engine for games that last for days, one search of one of them at a time. It is made for each
/// search and gone after it, so that these games cost no memory between their moves. Clones share the
/// turns.
#[derive(Clone, Debug)]
pub struct SpareEngine {
    turn: Arc<Semaphore>,
    options: search::Options,
    scheduler: Scheduler,
}

/// An engine for one search, or for all of a game.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) engine: Arc<Engine>,
    /// Lets the next game have its turn when it is dropped; `None` if the engine is the game's own.
    turn: Option<OwnedSemaphorePermit>,
}

/// When a search that has run on idle cores so far gets its own, and from when its time counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) due: Instant,
    pub(super) began: Instant,
}

impl SpareEngine {
    /// One of this size, on the cores of this scheduler that no other game needs.
    pub fn new(options: search::Options, scheduler: Scheduler) -> Self {
        Self { turn: Arc::new(Semaphore::new(1)), options, scheduler }
    }

    /// The engine, when it is this game's turn. Cancel-safe.
    async fn take(&self) -> Seat {
        // Nobody closes the semaphore.
        let turn = Arc::clone(&self.turn).acquire_owned().await.ok();
        Seat { engine: Arc::new(Engine::with_scheduler(self.options, &self.scheduler)), turn }
    }
}

impl Desk {
    /// The engine is to forget its last game.
    pub(super) fn new_game(&self) {
        if let Self::Own(engine) = self {
            engine.new_game();
        }
    }

    /// The engine if it can be used at once.
    pub(super) fn seat(&self) -> Option<Seat> {
        match self {
            Self::Own(engine) => Some(Seat { engine: Arc::clone(engine), turn: None }),
            Self::Shared(_) => None,
        }
    }

    /// The engine, as soon as it can be used. Cancel-safe.
    pub(super) async fn wait(&self) -> Seat {
        match self {
            Self::Own(engine) => Seat { engine: Arc::clone(engine), turn: None },
            Self::Shared(spare) => spare.take().await,
        }
    }
}

impl Seat {
    /// Whether other games wait for this engine.
    pub(super) fn is_shared(&self) -> bool {
        self.turn.is_some()
    }

    /// A search of a fixed time on an engine that is shared begins now, and runs on idle cores as if it
    /// pondered: a game with a clock never waits for one that has days. It is called when most of the
    /// time is over. One of a number of nodes is short, and would not end before it is called.
    pub(super) fn begin(&self, limits: &mut Limits, now: Instant) -> Option<Call> {
        let is_long = limits.clock.is_none() && limits.nodes.is_none();
        let time = limits.move_time.filter(|_| self.is_shared() && is_long)?;
        (limits.ponder, limits.started) = (true, Some(now));
        let last = (time / LAST_SHARE).max(Duration::from_millis(1));
        Some(Call { due: now + time.saturating_sub(last), began: now })
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;
    use crate::search::ClockLimit;

    fn spare() -> Desk {
        Desk::Shared(SpareEngine::new(search::Options::default(), Scheduler::new(1)))
    }

    #[tokio::test]
    async fn one_game_has_the_spare_engine_at_a_time() {
        let (one, other) = (spare(), spare());
        assert!(one.seat().is_none(), "it has to be waited for");
        let shared = one.clone();
        let seat = one.wait().await;
        assert!(other.wait().now_or_never().is_some(), "that is another one");
        assert!(shared.wait().now_or_never().is_none());
        drop(seat);
        assert!(shared.wait().now_or_never().is_some());
    }

    #[tokio::test]
    async fn time_on_the_spare_engine_counts_from_the_turn() {
        let (seat, now) = (spare().wait().await, Instant::now());
        let move_time = Some(Duration::from_secs(10));
        let mut limits = Limits { move_time, ..Limits::default() };
        let call = seat.begin(&mut limits, now).unwrap();
        assert_eq!(call, Call { due: now + Duration::from_secs(9), began: now });
        assert_eq!((limits.ponder, limits.started), (true, Some(now)));
        let clock = ClockLimit {
            remaining: Duration::from_mins(1),
            increment: Duration::ZERO,
            moves_to_go: None,
        };
        let mut limits = Limits { clock: Some(clock), ..Limits::default() };
        assert_eq!((seat.begin(&mut limits, now), limits.ponder), (None, false));
        let mut limits = Limits { move_time, nodes: Some(100), ..Limits::default() };
        assert_eq!((seat.begin(&mut limits, now), limits.ponder), (None, false));
        let own = Desk::Own(Arc::new(Engine::new(search::Options::default())));
        let mut limits = Limits { move_time, ..Limits::default() };
        assert_eq!((own.seat().unwrap().begin(&mut limits, now), limits.ponder), (None, false));
    }
}
