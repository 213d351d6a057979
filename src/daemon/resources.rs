//! What all platforms of a process share: how many games there may be, the cores, and what is
//! remembered.

use crate::{
    daemon::{Options, slots::Seats},
    search::Scheduler,
    store::Store,
};

/// What the platforms of a process share. Clones share the same.
#[derive(Clone, Debug)]
pub struct Resources {
    pub(super) seats: Seats,
    pub(super) scheduler: Scheduler,
    pub(super) store: Store,
}

impl Resources {
    /// As many games and cores as the options say. The file of what is remembered is opened, which
    /// takes milliseconds.
    pub fn new(options: &Options) -> Self {
        Self {
            seats: Seats::new(options.concurrency),
            scheduler: Scheduler::new(options.cores),
            store: Store::open(&options.store),
        }
    }

    /// Where it is remembered what happens.
    pub fn store(&self) -> &Store {
        &self.store
    }
}
