//! Holds what is remembered of an account besides its games. The store writes it: the loop never waits
//! for the disk.

use std::{collections::BTreeMap, sync::Arc};

use crate::store::{AccountKey, Epoch, State, Store};

/// What is remembered, now and across restarts.
pub(super) struct Keeper {
    store: Store,
    key: AccountKey,
}

impl Keeper {
    /// Begins with what is remembered of an account.
    pub(super) const fn new(store: Store, key: AccountKey) -> Self {
        Self { store, key }
    }

    /// What is remembered. There may be more of it later: a file that cannot be read at the start is
    /// tried again.
    pub(super) fn state(&self) -> Arc<State> {
        self.store.state(&self.key)
    }

    /// Changes what is remembered. The file follows soon.
    pub(super) fn change(&self, change: impl FnOnce(&mut State)) {
        self.store.change_state(&self.key, change);
    }
}

/// Makes room for this key in a map of what is remembered: of too many the oldest is forgotten.
pub(super) fn make_room<V>(
    map: &mut BTreeMap<String, V>,
    key: &str,
    most: usize,
    at: impl Fn(&V) -> Epoch,
) {
    if map.len() < most || map.contains_key(key) {
        return;
    }
    let oldest = map.iter().min_by_key(|(_, value)| at(value)).map(|(key, _)| key.clone());
    if let Some(oldest) = oldest {
        map.remove(&oldest);
    }
}
