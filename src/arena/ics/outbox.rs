//! Text on its way to one client: filled under the server's lock, drained by one connection.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

/// A client that leaves so many pieces unread is cut off.
const CAPACITY: usize = 4096;

/// What waits for a client.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    waiting: Mutex<Waiting>,
    /// Signalled by `push` and `close`, awaited by `next`.
    ready: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    pieces: VecDeque<Vec<u8>>,
    end: Option<End>,
}

/// How a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Once everything has been sent.
    Closed,
    /// At once.
    Cut,
}

impl Outbox {
    pub(super) fn push(&self, piece: impl Into<Vec<u8>>) {
        let mut waiting = self.lock();
        if waiting.pieces.len() >= CAPACITY {
            waiting.end = Some(End::Cut);
        } else {
            waiting.pieces.push_back(piece.into());
        }
        self.ready.notify_one();
    }

    pub(super) fn end(&self, end: End) {
        self.lock().end = Some(end);
        self.ready.notify_one();
    }

    /// The next piece, or how it ends. Cancel-safe.
    pub(super) async fn next(&self) -> Result<Vec<u8>, End> {
        loop {
            {
                let mut waiting = self.lock();
                if waiting.end == Some(End::Cut) {
                    return Err(End::Cut);
                }
                if let Some(piece) = waiting.pieces.pop_front() {
                    return Ok(piece);
                }
                if let Some(end) = waiting.end {
                    return Err(end);
                }
            }
            self.ready.notified().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
