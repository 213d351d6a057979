//! For tests: a network without names.

use std::{
    io,
    sync::atomic::{AtomicUsize, Ordering},
};

use reqwest::dns::{Name, Resolve, Resolving};

/// Knows no name, and counts how often it is asked.
#[derive(Default)]
pub(super) struct NoNames(AtomicUsize);

impl NoNames {
    /// How often a name was asked for.
    pub(super) fn tries(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Resolve for NoNames {
    fn resolve(&self, _name: Name) -> Resolving {
        self.0.fetch_add(1, Ordering::Relaxed);
        Box::pin(async { Err(io::Error::other("no such name").into()) })
    }
}
