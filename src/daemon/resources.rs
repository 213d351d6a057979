//! What all platforms of a process share: how many games there may be, and the cores.

use crate::{
    daemon::{Options, slots::Seats},
    search::Scheduler,
};

/// What the platforms of a process share. Clones share the same.
#[derive(Clone, Debug)]
pub struct Resources {
    pub(super) seats: Seats,
    pub(super) scheduler: Scheduler,
}

impl Resources {
    /// As many games and cores as the options say.
    pub fn new(options: &Options) -> Self {
        Self { seats: Seats::new(options.concurrency), scheduler: Scheduler::new(options.cores) }
    }
}
