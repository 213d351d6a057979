//! NDJSON streams: the queue that the server fills, and the body that a connection drains.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use futures::stream::{self, Stream};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use tokio::{
    sync::{Notify, watch},
    time::{Instant, Interval, MissedTickBehavior, interval_at, sleep_until},
};
use tokio_util::sync::CancellationToken;

use crate::arena::{
    connection::Link,
    faults::{Endpoint, Fault},
    line::{Line, Piece, dress, interrupt},
    server::Body,
    state::Shared,
};

/// Between pieces that must not share a packet.
const PAUSE: Duration = Duration::from_millis(1);

/// What an idle stream was about to say when it is cut.
const CUT_LINE: &str = r#"{"type":"gameState","moves":"e2e4 e7e5"}"#;

/// A stream was cut on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the connection is cut on purpose")]
pub(super) struct CutError;

/// Lines on their way to one stream: filled under the server's lock, drained by one connection.
#[derive(Debug)]
pub(super) struct LineQueue {
    lines: Mutex<Lines>,
    /// Signalled by `push` and `close`, awaited by `next`.
    ready: Notify,
    /// When so many lines wait, the oldest is dropped, as the real server does.
    capacity: usize,
}

#[derive(Debug)]
struct Lines {
    waiting: VecDeque<Line>,
    is_closed: bool,
}

impl LineQueue {
    /// A queue that begins with these lines, which never are dropped for want of room.
    pub(super) fn new(first: Vec<Line>, capacity: usize) -> Arc<Self> {
        Arc::new(Self {
            capacity: capacity.max(first.len()).max(1),
            lines: Mutex::new(Lines { waiting: first.into(), is_closed: false }),
            ready: Notify::new(),
        })
    }

    pub(super) fn push(&self, line: Line) {
        let mut lines = self.lock();
        if lines.is_closed {
            return;
        }
        if lines.waiting.len() >= self.capacity {
            lines.waiting.pop_front();
        }
        lines.waiting.push_back(line);
        self.ready.notify_one();
    }

    /// Ends the stream once its lines are delivered.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.ready.notify_one();
    }

    /// The next line; `None` at the end. Cancel-safe.
    async fn next(&self) -> Option<Line> {
        loop {
            {
                let mut lines = self.lock();
                if let Some(line) = lines.waiting.pop_front() {
                    return Some(line);
                }
                if lines.is_closed {
                    return None;
                }
            }
            self.ready.notified().await;
        }
    }

    fn take_waiting(&self) -> Vec<Line> {
        self.lock().waiting.drain(..).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a stream needs besides its lines.
pub(super) struct StreamSetup {
    pub(super) endpoint: Endpoint,
    pub(super) keep_alive: Duration,
    pub(super) shared: Arc<Shared>,
    pub(super) link: Arc<Link>,
    pub(super) shutdown: CancellationToken,
    /// Told when a line with so many plies has been handed to the connection.
    pub(super) on_written: Box<dyn Fn(usize, std::time::Instant) + Send>,
    /// Dropped together with the body, however the stream ends.
    #[expect(dead_code, reason = "held for what happens when it is dropped")]
    pub(super) on_close: OnClose,
}

/// Runs its closure when dropped.
pub(super) struct OnClose(Option<Box<dyn FnOnce() + Send>>);

impl OnClose {
    pub(super) fn new(action: impl FnOnce() + Send + 'static) -> Self {
        Self(Some(Box::new(action)))
    }
}

impl Drop for OnClose {
    fn drop(&mut self) {
        if let Some(action) = self.0.take() {
            action();
        }
    }
}

/// The body of a streamed answer: the lines of the queue, blank lines in between, and faults.
pub(super) fn body(queue: Arc<LineQueue>, setup: StreamSetup) -> Body {
    BodyExt::boxed_unsync(StreamBody::new(frames(queue, setup)))
}

fn frames(
    queue: Arc<LineQueue>,
    setup: StreamSetup,
) -> impl Stream<Item = Result<Frame<Bytes>, CutError>> + Send {
    let mut keep_alive = interval_at(Instant::now() + setup.keep_alive, setup.keep_alive);
    keep_alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let scripted = setup.shared.faults.watch();
    let feed = Feed {
        queue,
        setup,
        keep_alive,
        scripted,
        pieces: VecDeque::new(),
        held: None,
        is_deaf: false,
    };
    stream::unfold(feed, |mut feed| async {
        let frame = feed.next_frame().await?;
        Some((frame.map(Frame::data), feed))
    })
}

/// A line that is under way until its time has come.
struct Held {
    line: Line,
    fault: Option<Fault>,
    due: Instant,
}

/// The state of one open stream.
struct Feed {
    queue: Arc<LineQueue>,
    setup: StreamSetup,
    keep_alive: Interval,
    scripted: watch::Receiver<u64>,
    pieces: VecDeque<Piece>,
    held: Option<Held>,
    /// Only keep-alives are sent any more.
    is_deaf: bool,
}

impl Feed {
    async fn next_frame(&mut self) -> Option<Result<Bytes, CutError>> {
        loop {
            match self.pieces.pop_front() {
                Some(Piece::Bytes(bytes)) => return Some(Ok(bytes)),
                Some(Piece::Written(plies)) => {
                    (self.setup.on_written)(plies, std::time::Instant::now());
                }
                Some(Piece::Pause) => tokio::time::sleep(PAUSE).await,
                Some(Piece::Cut) => return Some(Err(CutError)),
                Some(Piece::Reset) => {
                    self.setup.link.reset_at_end();
                    return Some(Err(CutError));
                }
                Some(Piece::End) => return None,
                Some(Piece::Deaf) => self.is_deaf = true,
                Some(Piece::Stall) => {
                    self.setup.shutdown.cancelled().await;
                    return None;
                }
                None => self.refill().await?,
            }
        }
    }

    /// Waits for whatever comes next and lays out its pieces. All that it awaits is cancel-safe.
    async fn refill(&mut self) -> Option<()> {
        let due = self.held.as_ref().map(|held| held.due);
        let may_take = due.is_none() && !self.is_deaf;
        tokio::select! {
            line = self.queue.next(), if may_take => self.take(line?),
            () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => self.deliver(),
            _ = self.keep_alive.tick() => self.pieces.push_back(Piece::Bytes(Bytes::from("\n"))),
            Ok(()) = self.scripted.changed() => {
                let faults = &self.setup.shared.faults;
                if let Some(fault) = faults.of_idle_stream(self.setup.endpoint) {
                    self.pieces = interrupt(CUT_LINE, Some(&fault));
                }
            }
            () = self.setup.shutdown.cancelled() => return None,
        }
        Some(())
    }

    /// Takes a line from the queue. It arrives when the lag is over, and never before its like.
    fn take(&mut self, line: Line) {
        let fault = self.setup.shared.faults.of_line(self.setup.endpoint, line.kind);
        let delay = match fault {
            Some(Fault::DelayLine { ms }) => Duration::from_millis(ms),
            _ => Duration::ZERO,
        };
        let due = Instant::from_std(line.made_at) + self.setup.shared.lag.down() + delay;
        self.held = Some(Held { line, fault, due });
        if due <= Instant::now() {
            self.deliver();
        }
    }

    fn deliver(&mut self) {
        let Some(Held { line, fault, .. }) = self.held.take() else { return };
        if self.is_deaf {
            return;
        }
        let behind = match fault {
            Some(Fault::Merge) => self.queue.take_waiting(),
            _ => Vec::new(),
        };
        self.pieces = dress(&line, &behind, fault.as_ref());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn a_full_queue_drops_its_oldest_line() {
        let queue = LineQueue::new(vec![Line::new(&json!(0))], 2);
        queue.push(Line::new(&json!(1)));
        queue.push(Line::new(&json!(2)));
        queue.close();
        queue.push(Line::new(&json!(3)));
        assert_eq!(queue.next().await.map(|line| line.text).as_deref(), Some("1"));
        assert_eq!(queue.next().await.map(|line| line.text).as_deref(), Some("2"));
        assert!(queue.next().await.is_none());
    }
}
