//! Holds what is remembered, and has it written by a task of its own: the loop never waits for the
//! disk, and a disk that fails costs a warning.

use std::{path::Path, time::Duration};

use tokio::{
    sync::watch,
    task::{JoinSet, spawn_blocking},
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::store::{State, StateFile};

/// The file is written at most so often.
const LEAST_PAUSE: Duration = Duration::from_secs(1);
/// How long the last writing may take at the end.
const LAST_LIMIT: Duration = Duration::from_secs(5);

/// What is remembered, now and across restarts.
pub(super) struct Keeper {
    states: watch::Sender<State>,
    /// Ends the pause between two writings.
    closing: CancellationToken,
    tasks: JoinSet<()>,
}

impl Keeper {
    /// Reads what is remembered of an account, if a folder is given; else all is forgotten at the end.
    pub(super) fn open(folder: Option<&Path>, account: &str) -> Self {
        let opened = folder.map(|folder| StateFile::open(folder, account));
        let state = opened.as_ref().map(|(_, state, _)| state.clone()).unwrap_or_default();
        let (states, to_write) = watch::channel(state);
        let (closing, mut tasks) = (CancellationToken::new(), JoinSet::new());
        if let Some((file, _, trouble)) = opened {
            if let Some(error) = trouble {
                warn!(%error, "starting without what was remembered");
            }
            info!(path = %file.path().display(), "remembering");
            tasks.spawn(write_all(file, to_write, closing.clone()));
        }
        Self { states, closing, tasks }
    }

    /// What is remembered.
    pub(super) fn state(&self) -> watch::Ref<'_, State> {
        self.states.borrow()
    }

    /// Changes what is remembered. The file follows soon.
    pub(super) fn change(&self, change: impl FnOnce(&mut State)) {
        self.states.send_modify(change);
    }

    /// Writes what is not written yet.
    pub(super) async fn close(mut self) {
        self.closing.cancel();
        drop(self.states);
        if timeout(LAST_LIMIT, self.tasks.join_next()).await.is_err() {
            warn!("what is remembered could not be written in time");
        }
    }
}

/// Writes each state that it sees, the last one in any case, and skips those in between.
async fn write_all(
    file: StateFile,
    mut states: watch::Receiver<State>,
    closing: CancellationToken,
) {
    let mut is_failing = false;
    while states.changed().await.is_ok() {
        let (file, state) = (file.clone(), states.borrow_and_update().clone());
        let path = file.path().to_owned();
        let result = spawn_blocking(move || file.write(&state)).await;
        let error = match result {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(error) => Some(error.to_string()),
        };
        // Once for each time that it begins to fail: the next try comes with the next change.
        if let Some(error) = error.as_ref().filter(|_| !is_failing) {
            warn!(
                path = %path.display(), error,
                "cannot write what is to be remembered; the bot plays on without"
            );
        }
        is_failing = error.is_some();
        closing.run_until_cancelled(sleep(LEAST_PAUSE)).await;
    }
}
