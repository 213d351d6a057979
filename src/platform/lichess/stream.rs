//! An open NDJSON stream: whole lines, each with the moment when its bytes arrived, until the
//! stream ends, breaks, or falls silent.

use std::{
    fmt,
    time::{Duration, Instant},
};

use reqwest::Response;
use serde::de::IgnoredAny;
use tokio::time::timeout_at;
use tracing::warn;

use crate::{
    metrics::Heard,
    platform::lichess::{error::causes, ndjson::LineDecoder},
};

/// A line and when its last bytes arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// When its bytes came in.
    pub at: Instant,
    /// What it says, without the line end; `None` if it could not be read, which is logged.
    pub text: Option<String>,
}

/// Why a stream gives no more lines.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StreamEnd {
    /// The server closed it.
    #[error("the server closed the stream")]
    Closed,
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Cut(String),
    /// Not even a keep-alive came for too long.
    #[error("not a byte for {} s", .0.as_secs())]
    Silent(Duration),
}

/// An open stream.
pub struct LineStream {
    response: Response,
    decoder: LineDecoder,
    silence: Duration,
    last_bytes: Instant,
    /// Where it is noted that bytes have come.
    heard: Option<Heard>,
    has_ended: bool,
}

impl LineStream {
    /// The stream of this response, dead after `silence` without a byte.
    pub(super) fn new(response: Response, silence: Duration, now: Instant) -> Self {
        let decoder = LineDecoder::new();
        Self { response, decoder, silence, last_bytes: now, heard: None, has_ended: false }
    }

    /// The same stream, which notes here when bytes come.
    pub(super) fn with_heard(self, heard: Heard) -> Self {
        Self { heard: Some(heard), ..self }
    }

    /// The next line.
    ///
    /// Cancel-safe: what arrived of a line stays here.
    ///
    /// # Errors
    ///
    /// [`StreamEnd`] when no more lines come.
    pub async fn next_line(&mut self) -> Result<Line, StreamEnd> {
        loop {
            match self.decoder.next_line() {
                Some(Ok(text)) => {
                    return Ok(Line { at: self.last_bytes, text: Some(text.to_owned()) });
                }
                Some(Err(error)) => {
                    warn!(%error, "skipped a line of a stream");
                    return Ok(Line { at: self.last_bytes, text: None });
                }
                None if self.has_ended => return Err(StreamEnd::Closed),
                None => self.read().await?,
            }
        }
    }

    async fn read(&mut self) -> Result<(), StreamEnd> {
        let limit = self.last_bytes + self.silence;
        match timeout_at(limit.into(), self.response.chunk()).await {
            Err(_) => Err(StreamEnd::Silent(self.silence)),
            Ok(Err(error)) => Err(StreamEnd::Cut(causes(&error.without_url()))),
            Ok(Ok(Some(bytes))) => {
                self.last_bytes = Instant::now();
                if let Some(heard) = &self.heard {
                    heard.now();
                }
                self.decoder.push(&bytes);
                Ok(())
            }
            Ok(Ok(None)) => {
                self.has_ended = true;
                // A last line may lack its end. One that was cut is no JSON, and is dropped.
                if self.decoder.rest().is_some_and(is_json) {
                    self.decoder.push(b"\n");
                }
                Ok(())
            }
        }
    }
}

impl fmt::Debug for LineStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LineStream").field("silence", &self.silence).finish_non_exhaustive()
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}
