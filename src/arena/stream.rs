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
use serde_json::{Value, json};
use tokio::{
    sync::{Notify, watch},
    time::{Instant, Interval, MissedTickBehavior, interval_at},
};
use tokio_util::sync::CancellationToken;

use crate::arena::{
    faults::{Endpoint, Fault, FaultPlan},
    server::Body,
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
    waiting: VecDeque<String>,
    is_closed: bool,
}

impl LineQueue {
    /// A queue that begins with these lines, which never are dropped for want of room.
    pub(super) fn new(first: &[Value], capacity: usize) -> Arc<Self> {
        let waiting = first.iter().map(Value::to_string).collect();
        Arc::new(Self {
            lines: Mutex::new(Lines { waiting, is_closed: false }),
            ready: Notify::new(),
            capacity: capacity.max(first.len()).max(1),
        })
    }

    pub(super) fn push(&self, line: &Value) {
        let mut lines = self.lock();
        if lines.is_closed {
            return;
        }
        if lines.waiting.len() >= self.capacity {
            lines.waiting.pop_front();
        }
        lines.waiting.push_back(line.to_string());
        self.ready.notify_one();
    }

    /// Ends the stream once its lines are delivered.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.ready.notify_one();
    }

    /// The next line; `None` at the end. Cancel-safe.
    async fn next(&self) -> Option<String> {
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

    fn take_waiting(&self) -> VecDeque<String> {
        std::mem::take(&mut self.lock().waiting)
    }

    fn lock(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a stream needs besides its lines.
pub(super) struct StreamSetup {
    pub(super) endpoint: Endpoint,
    pub(super) keep_alive: Duration,
    pub(super) faults: Arc<FaultPlan>,
    pub(super) shutdown: CancellationToken,
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
    let scripted = setup.faults.watch();
    let feed = Feed { queue, setup, keep_alive, scripted, pieces: VecDeque::new() };
    stream::unfold(feed, |mut feed| async {
        let frame = feed.next_frame().await?;
        Some((frame.map(Frame::data), feed))
    })
}

/// What goes to the connection next.
#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Bytes(Bytes),
    /// Gives the connection the time to send what it has.
    Pause,
    Cut,
    End,
    Stall,
}

/// The state of one open stream.
struct Feed {
    queue: Arc<LineQueue>,
    setup: StreamSetup,
    keep_alive: Interval,
    scripted: watch::Receiver<u64>,
    pieces: VecDeque<Piece>,
}

impl Feed {
    async fn next_frame(&mut self) -> Option<Result<Bytes, CutError>> {
        loop {
            match self.pieces.pop_front() {
                Some(Piece::Bytes(bytes)) => return Some(Ok(bytes)),
                Some(Piece::Pause) => tokio::time::sleep(PAUSE).await,
                Some(Piece::Cut) => return Some(Err(CutError)),
                Some(Piece::End) => return None,
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
        let endpoint = self.setup.endpoint;
        tokio::select! {
            line = self.queue.next() => {
                let line = line?;
                let fault = self.setup.faults.of_line(endpoint);
                let behind = match fault {
                    Some(Fault::Merge) => self.queue.take_waiting(),
                    _ => VecDeque::new(),
                };
                self.pieces = dress(&line, &behind, fault.as_ref());
            }
            _ = self.keep_alive.tick() => self.pieces.push_back(Piece::Bytes(Bytes::from("\n"))),
            Ok(()) = self.scripted.changed() => {
                if let Some(fault) = self.setup.faults.of_idle_stream(endpoint) {
                    self.pieces = dress(CUT_LINE, &VecDeque::new(), Some(&fault));
                }
            }
            () = self.setup.shutdown.cancelled() => return None,
        }
        Some(())
    }
}

/// A line in the pieces that its fault makes of it.
fn dress(line: &str, behind: &VecDeque<String>, fault: Option<&Fault>) -> VecDeque<Piece> {
    let whole = format!("{line}\n");
    let pieces = match fault {
        Some(Fault::Cut) => {
            let half = Bytes::copy_from_slice(&whole.as_bytes()[..whole.len() / 2]);
            vec![Piece::Bytes(half), Piece::Pause, Piece::Cut]
        }
        Some(Fault::End) => vec![Piece::End],
        Some(Fault::Stall) => vec![Piece::Stall],
        Some(Fault::Split) => split(whole.as_bytes()),
        Some(Fault::Duplicate) => vec![text(whole.clone()), text(whole)],
        Some(Fault::Merge) => {
            let behind: String = behind.iter().flat_map(|line| [line, "\n"]).collect();
            vec![text(format!("{whole}\n{behind}"))]
        }
        Some(Fault::UnknownFields) => {
            let unknown = json!({ "type": "weather", "weather": { "rain": [1, null] } });
            vec![text(format!("{unknown}\n")), text(format!("{}\n", with_unknown_fields(line)))]
        }
        Some(Fault::Garbage) => vec![text("<html>\u{fffd}{not json\n".to_owned()), text(whole)],
        _ => vec![text(whole)],
    };
    pieces.into()
}

fn text(text: String) -> Piece {
    Piece::Bytes(Bytes::from(text))
}

/// Pieces of one to seven bytes, here and there with a pause that sends them apart.
fn split(line: &[u8]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = line;
    let mut size = 1;
    while !rest.is_empty() {
        let (piece, tail) = rest.split_at(size.min(rest.len()));
        pieces.push(Piece::Bytes(Bytes::copy_from_slice(piece)));
        if pieces.len() % 16 == 1 {
            pieces.push(Piece::Pause);
        }
        rest = tail;
        size = size % 7 + 1;
    }
    pieces
}

fn with_unknown_fields(line: &str) -> String {
    match serde_json::from_str::<Value>(line) {
        Ok(Value::Object(mut object)) => {
            object.insert("futureField".to_owned(), json!({ "a": [1, 2], "b": null }));
            Value::Object(object).to_string()
        }
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(line: &str, behind: &[&str], fault: Option<&Fault>) -> String {
        let behind = behind.iter().map(|&line| line.to_owned()).collect();
        let bytes = dress(line, &behind, fault).into_iter().filter_map(|piece| match piece {
            Piece::Bytes(bytes) => Some(bytes),
            _ => None,
        });
        String::from_utf8(bytes.flatten().collect()).unwrap()
    }

    #[test]
    fn faults_dress_a_line() {
        let line = r#"{"type":"gameState"}"#;
        assert_eq!(sent(line, &[], None), format!("{line}\n"));
        assert_eq!(sent(line, &[], Some(&Fault::Split)), format!("{line}\n"));
        assert_eq!(sent(line, &[], Some(&Fault::Duplicate)), format!("{line}\n{line}\n"));
        assert_eq!(sent(line, &["{}"], Some(&Fault::Merge)), format!("{line}\n\n{{}}\n"));
        assert_eq!(sent(line, &[], Some(&Fault::Cut)), r#"{"type":"g"#);
        assert_eq!(sent(line, &[], Some(&Fault::End)), "");
        assert_eq!(sent(line, &[], Some(&Fault::UnknownFields)).lines().count(), 2);
        assert!(sent(line, &[], Some(&Fault::Garbage)).ends_with(&format!("\n{line}\n")));
    }

    #[tokio::test]
    async fn a_full_queue_drops_its_oldest_line() {
        let queue = LineQueue::new(&[json!(0)], 2);
        queue.push(&json!(1));
        queue.push(&json!(2));
        queue.close();
        queue.push(&json!(3));
        assert_eq!(queue.next().await.as_deref(), Some("1"));
        assert_eq!(queue.next().await.as_deref(), Some("2"));
        assert_eq!(queue.next().await, None);
    }
}
