//! Holds what is remembered of an account besides its games. The store writes it: the loop never waits
//! for the disk.

use tokio::sync::watch;

use crate::store::{AccountKey, State, Store};

/// What is remembered, now and across restarts.
pub(super) struct Keeper {
    store: Store,
    key: AccountKey,
    state: watch::Sender<State>,
}

impl Keeper {
    /// Begins with what is remembered of an account.
    pub(super) fn new(store: Store, key: AccountKey) -> Self {
        let state = watch::channel(store.state(&key)).0;
        Self { store, key, state }
    }

    /// What is remembered.
    pub(super) fn state(&self) -> watch::Ref<'_, State> {
        self.state.borrow()
    }

    /// Changes what is remembered. The file follows soon.
    pub(super) fn change(&self, change: impl FnOnce(&mut State)) {
        self.state.send_modify(change);
        self.store.put_state(&self.key, self.state.borrow().clone());
    }
}
