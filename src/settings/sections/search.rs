//! `[search]`: the engine of each slot, and how long it thinks.

use std::time::Duration;

use serde::Deserialize;

use crate::{
    search,
    settings::schema::{Key, Kind, key, number},
};

pub(super) const KEYS: &[Key] = &[
    key("search.hash_mb", number(1, 1 << 20)),
    key("search.threads", number(1, 512)),
    key("search.cores", number(0, 512)),
    key("search.ponder", Kind::Switch),
    key("search.nodes", number(0, 1_000_000_000_000)),
    key("search.move_overhead_ms", number(0, 10_000)),
    key("search.first_move_ms", number(1, 20_000)),
    key("search.untimed_move_ms", number(1, 600_000)),
];

#[derive(Deserialize)]
pub(super) struct RawSearch {
    hash_mb: usize,
    threads: usize,
    cores: usize,
    pub(super) ponder: bool,
    nodes: u64,
    move_overhead_ms: u64,
    first_move_ms: u64,
    untimed_move_ms: u64,
}

impl RawSearch {
    pub(super) fn engine(&self) -> search::Options {
        search::Options { hash_mb: self.hash_mb, threads: self.threads }
    }

    /// The cores that all engines share; 0 stands for those of the machine.
    pub(super) fn cores(&self) -> usize {
        if self.cores == 0 { search::Scheduler::available_cores() } else { self.cores }
    }

    pub(super) fn nodes(&self) -> Option<u64> {
        Some(self.nodes).filter(|&nodes| nodes > 0)
    }

    pub(super) fn move_overhead(&self) -> Duration {
        Duration::from_millis(self.move_overhead_ms)
    }

    pub(super) fn first_move_time(&self) -> Duration {
        Duration::from_millis(self.first_move_ms)
    }

    pub(super) fn untimed_move_time(&self) -> Duration {
        Duration::from_millis(self.untimed_move_ms)
    }
}
