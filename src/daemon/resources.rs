//! What all platforms of a process share: how many games there may be, the cores, what is remembered,
//! the figures, and how games are played.

use tokio::sync::watch;

use crate::{
    daemon::{Options, slots::Seats},
    game,
    metrics::Metrics,
    search::Scheduler,
    store::{Condition, Store, StoreHealth},
};

/// The kind of warning about what is remembered.
const STORE: &str = "store";

/// What the platforms of a process share. Clones share the same.
#[derive(Clone, Debug)]
pub struct Resources {
    pub(super) seats: Seats,
    pub(super) scheduler: Scheduler,
    pub(super) store: Store,
    pub(super) metrics: Metrics,
    game: watch::Sender<game::Options>,
}

impl Resources {
    /// As many games and cores, and games played, as the options say. The file of what is remembered
    /// is opened, which takes milliseconds.
    pub fn new(options: &Options) -> Self {
        game::know_machine();
        Self {
            seats: Seats::new(options.concurrency),
            scheduler: Scheduler::new(options.cores),
            store: Store::open(&options.store),
            metrics: Metrics::new(),
            game: watch::Sender::new(options.game.clone()),
        }
    }

    /// The same, and what happens is counted here.
    #[must_use]
    pub fn with_metrics(self, metrics: &Metrics) -> Self {
        Self { metrics: metrics.clone(), ..self }
    }

    /// Where it is remembered what happens.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Lets the figures and the health tell whether it is remembered.
    pub(super) fn tell_store_health(&self) {
        let StoreHealth { condition, dropped } = self.store.health().borrow().clone();
        self.metrics.set_store_dropped(dropped);
        let sentence = match condition {
            Condition::Off => return,
            Condition::Good => None,
            Condition::Failing(cause) => Some(format!("what happens is not remembered: {cause}")),
        };
        self.metrics.warn(STORE, sentence.as_deref());
    }

    /// Games that begin from now on are played like this.
    pub fn set_game_options(&self, options: game::Options) {
        self.game.send_replace(options);
    }

    /// How a game that begins now is played.
    pub(super) fn game_options(&self) -> game::Options {
        self.game.borrow().clone()
    }
}
