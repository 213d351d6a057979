//! Holds what is remembered of an account besides its games. The store writes it: the loop never waits
//! for the disk.

use std::sync::Arc;

use crate::store::{AccountKey, State, Store};

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
