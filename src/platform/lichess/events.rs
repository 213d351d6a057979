//! Follows the account's event stream for as long as the bot runs.

use std::time::{Duration, Instant};

use tokio::{
    sync::mpsc,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use crate::{
    metrics::Fault,
    platform::{
        PlatformEvent,
        backoff::{Backoff, Throttle},
        lichess::{
            ApiError, Client, Retry, StartError,
            account::start_error,
            model::{self, EventLine},
            refusals::Refusals,
            stream::{Line, LineStream, StreamEnd},
        },
    },
};

/// The server allows 30 opens in 10 minutes (section 13.3 of the protocol notes).
const MAX_OPENS: usize = 28;
const OPENS_WINDOW: Duration = Duration::from_mins(10);
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_mins(1);
/// A stream that lived for so long was healthy; the next failure is a new story.
const HEALTHY_AGE: Duration = Duration::from_mins(1);
/// Fewer refusals in a row than this are a whim of a front end, however long they last.
const LEAST_REFUSALS: u32 = 3;
/// So many streams in a row that ended young are no accident.
const EARLY_ENDS: u32 = 3;

/// The event stream may be quiet for so many times as long as a game's before it is opened again: it
/// may be deaf, and nothing else would ever tell of a challenge. Often nobody challenges us for
/// hours, so the time doubles up to the longest, until a challenge comes.
const QUIET_SHARE: u32 = 2;
const LONGEST_QUIET: Duration = Duration::from_mins(10);

/// Sends on what the event stream says, opening it again whenever it ends, until cancelled.
///
/// The channel is bounded: when it is full the stream is not read, and the server keeps lines for
/// a while. Its reader must therefore do no slow work.
///
/// # Errors
///
/// [`StartError`] if the server refuses the token again and again, for as long as the client's
/// patience lasts.
pub async fn follow(
    client: &Client,
    events: mpsc::Sender<PlatformEvent>,
    cancel: CancellationToken,
) -> Result<(), StartError> {
    let mut follower = Follower {
        client,
        events,
        backoff: Backoff::new(FIRST_WAIT, LONGEST_WAIT),
        throttle: Throttle::new(MAX_OPENS, OPENS_WINDOW),
        early_ends: 0,
        quiet: client.options().quiet * QUIET_SHARE,
        refusals: Refusals::new(LEAST_REFUSALS, client.patience().account),
    };
    cancel.run_until_cancelled(follower.run()).await.unwrap_or(Ok(()))
}

struct Follower<'a> {
    client: &'a Client,
    events: mpsc::Sender<PlatformEvent>,
    backoff: Backoff,
    throttle: Throttle,
    early_ends: u32,
    /// For how long the stream may have nothing to say.
    quiet: Duration,
    refusals: Refusals,
}

/// Why an open stream is left.
enum Left {
    Ended(StreamEnd),
    /// Nothing but keep-alives came for too long.
    Quiet,
}

/// Nobody listens to the events any more.
struct Unheard;

impl Follower<'_> {
    async fn run(&mut self) -> Result<(), StartError> {
        loop {
            self.throttle.count(Instant::now());
            let wait = match self.client.open_event_stream().await {
                Ok(stream) => match self.read(stream).await {
                    Ok(wait) => wait,
                    Err(Unheard) => return Ok(()),
                },
                Err(error) => self.wait_after_refusal(error)?,
            };
            sleep(wait.max(self.throttle.wait(Instant::now()))).await;
        }
    }

    /// Reads an open stream to its end and says how long to wait before the next.
    async fn read(&mut self, mut stream: LineStream) -> Result<Duration, Unheard> {
        info!("event stream open");
        self.client.metrics().stream_opened();
        self.refusals.reset();
        let opened = Instant::now();
        self.send(PlatformEvent::Connected).await?;
        let left = loop {
            match timeout(self.quiet, stream.next_line()).await {
                Ok(Ok(line)) => {
                    if let Some(event) = self.event_of(&line) {
                        if matches!(event, PlatformEvent::Challenge(_)) {
                            self.quiet = self.client.options().quiet * QUIET_SHARE;
                        }
                        if event == PlatformEvent::Unreadable {
                            self.client.metrics().fault(Fault::Unreadable);
                        }
                        self.send(event).await?;
                    }
                }
                Ok(Err(end)) => break Left::Ended(end),
                Err(_) => break Left::Quiet,
            }
        };
        drop(stream);
        self.client.metrics().stream_lost();
        self.send(PlatformEvent::Lost).await?;
        Ok(match left {
            Left::Ended(end) => {
                self.client.metrics().fault(Fault::StreamLost);
                self.wait_after(&end, opened.elapsed())
            }
            Left::Quiet => {
                debug!(
                    quiet_s = self.quiet.as_secs(),
                    "nothing is heard, opening the event stream anew"
                );
                self.quiet = (2 * self.quiet).min(LONGEST_QUIET);
                Duration::ZERO
            }
        })
    }

    fn event_of(&self, line: &Line) -> Option<PlatformEvent> {
        let Some(text) = &line.text else { return Some(PlatformEvent::Unreadable) };
        if let Some(complaint) = self.client.complaint(text) {
            // If the server means it, it closes the stream as well.
            warn!(complaint, "the server complains in the event stream");
            return Some(PlatformEvent::Unreadable);
        }
        decode(text)
    }

    /// How long to wait after the stream could not be opened.
    fn wait_after_refusal(&mut self, error: ApiError) -> Result<Duration, StartError> {
        if matches!(error.status(), Some(401 | 403)) {
            if self.refusals.count(Instant::now()) {
                return Err(start_error(error));
            }
        } else {
            self.refusals.reset();
        }
        let wait = match error.retry() {
            Retry::Never | Retry::Reconnect => self.backoff.next_wait(),
            Retry::After(least) => self.backoff.next_wait_at_least(least),
        };
        warn!(%error, wait_ms = wait.as_millis(), "cannot open the event stream");
        self.client.metrics().fault(Fault::StreamRefused);
        Ok(wait)
    }

    fn wait_after(&mut self, end: &StreamEnd, age: Duration) -> Duration {
        if age >= HEALTHY_AGE {
            self.backoff.reset();
            self.early_ends = 0;
        } else if matches!(end, StreamEnd::Closed | StreamEnd::Cut(_)) {
            // A front end may cut what the server closes.
            self.early_ends += 1;
        }
        let wait = self.backoff.next_wait();
        let (age_s, wait_ms) = (age.as_secs(), wait.as_millis());
        if self.early_ends >= EARLY_ENDS {
            warn!(
                age_s,
                wait_ms,
                ends = self.early_ends,
                "the server closes each event stream soon after it opens: \
                 does another process use this account? only one can"
            );
        } else {
            info!(%end, age_s, wait_ms, "event stream lost");
        }
        wait
    }

    async fn send(&self, event: PlatformEvent) -> Result<(), Unheard> {
        self.events.send(event).await.map_err(|_| Unheard)
    }
}

/// What a line says; nothing if it is of a type that we do not know. One that cannot be read costs
/// that line only, and is reported, since it may have told of a game.
pub fn decode(text: &str) -> Option<PlatformEvent> {
    let line: EventLine = match serde_json::from_str(text) {
        Ok(line) => line,
        Err(error) => {
            warn!(error = model::describe(&error), bytes = text.len(), "skipped an event line");
            return Some(PlatformEvent::Unreadable);
        }
    };
    match line.into_event() {
        Ok(None) => {
            debug!("an event of an unknown type");
            None
        }
        Ok(event) => event,
        Err(error) => {
            warn!(%error, "skipped an event line");
            Some(PlatformEvent::Unreadable)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::platform::lichess::{Options, no_names::NoNames};

    /// Ten minutes without a network: the bot tries often enough to be back soon, seldom enough to be
    /// welcome, and never gives up.
    #[tokio::test(start_paused = true)]
    async fn an_outage_of_ten_minutes_is_outlasted_with_few_tries() {
        let resolver = Arc::new(NoNames::default());
        let options = Options { base_url: "http://localhost".to_owned(), ..Options::default() };
        let token = "lip_token".to_owned().into();
        let client = Client::with_resolver(options, token, Arc::clone(&resolver) as _).unwrap();
        let (sender, mut events) = mpsc::channel(8);
        let following = follow(&client, sender, CancellationToken::new());
        let outage = timeout(Duration::from_mins(10), following).await;
        assert!(outage.is_err(), "it gave up: {outage:?}");
        let tries = resolver.tries();
        assert!((12..MAX_OPENS).contains(&tries), "{tries}");
        assert!(events.try_recv().is_err(), "nothing was told");
    }
}
