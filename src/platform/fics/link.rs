//! One connection: bytes to frames and lines to bytes, with timeseal, and a check that the other side
//! is still there.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use secrecy::{ExposeSecret as _, SecretString};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::{sleep_until, timeout},
};
use tracing::trace;

use crate::platform::fics::{
    LinkError, Options,
    login::{Login, Step, Welcome},
    raw_log::RawLog,
    timeseal::{PONG, Seal},
    wire::{Decoder, Frame},
};

/// At most so many bytes are read at once.
const READ_SIZE: usize = 16 * 1024;
/// A line that may go on is whole after so long a silence.
const HOLD: Duration = Duration::from_millis(100);
/// The whole login.
const LOGIN_LIMIT: Duration = Duration::from_mins(1);
/// What asks for a sign of life. Any plain command resets the server's idle clock.
const PROBE: &str = "date";
/// How long a sign of life may take.
const PROBE_LIMIT: Duration = Duration::from_secs(30);
/// In a game a dead line costs time: after so long without a byte a sign of life is asked for, which
/// may take so long.
const GAME_QUIET: Duration = Duration::from_secs(20);
const GAME_PROBE_LIMIT: Duration = Duration::from_secs(15);

/// An open connection. Dropping it closes it.
#[derive(Debug)]
pub struct Link {
    stream: TcpStream,
    decoder: Decoder,
    seal: Option<Seal>,
    /// What came and was not looked at yet, with its moment.
    frames: VecDeque<(Frame, Instant)>,
    /// For what is being read.
    buffer: Vec<u8>,
    /// What is still to be sent.
    out: Vec<u8>,
    heard_at: Instant,
    sent_at: Instant,
    /// When a sign of life was asked for that has not come.
    probed_at: Option<Instant>,
    keep_alive: Duration,
    is_in_game: bool,
    raw_log: Option<RawLog>,
}

impl Link {
    /// Connects. With timeseal the hello goes out at once.
    ///
    /// # Errors
    ///
    /// [`LinkError::Unreachable`].
    pub async fn open(options: &Options, started: Instant) -> Result<Self, LinkError> {
        let address = options.address();
        let unreachable =
            |cause: String| LinkError::Unreachable { address: address.clone(), cause };
        let connecting = TcpStream::connect((options.host.as_str(), options.port));
        let Ok(stream) = timeout(options.connect_timeout, connecting).await else {
            let seconds = options.connect_timeout.as_secs_f64();
            return Err(unreachable(format!("no answer within {seconds} s")));
        };
        let stream = stream.map_err(|error| unreachable(error.to_string()))?;
        // A move is a small packet that must not wait for others.
        stream.set_nodelay(true).map_err(|error| unreachable(error.to_string()))?;
        let now = Instant::now();
        let seal = options.timeseal.map(|version| Seal::new(version, started));
        let mut link = Self {
            stream,
            decoder: Decoder::new(options.timeseal),
            seal,
            frames: VecDeque::new(),
            buffer: vec![0; READ_SIZE],
            out: Vec::new(),
            heard_at: now,
            sent_at: now,
            probed_at: None,
            keep_alive: options.keep_alive,
            is_in_game: false,
            raw_log: options.raw_log.as_deref().and_then(RawLog::open),
        };
        if let Some(seal) = &link.seal {
            let hello = seal.hello("meitner", "linux");
            link.queue(&hello, &hello);
        }
        Ok(link)
    }

    /// Logs in, up to the first prompt of the session.
    ///
    /// # Errors
    ///
    /// [`LinkError`] of any kind.
    pub async fn log_in(&mut self, options: &Options) -> Result<Welcome, LinkError> {
        let mut login = Login::new(&options.account, options.password.clone());
        let talk = async {
            loop {
                let (frame, _) = self.next().await.map_err(|error| login.failure(error))?;
                match login.on_frame(&frame) {
                    Step::Wait => {}
                    Step::Send(text) => self.send_secret(&text),
                    Step::Done(welcome) => return Ok(welcome),
                    Step::Failed(error) => return Err(error),
                }
            }
        };
        let ended = timeout(LOGIN_LIMIT, talk).await;
        ended.unwrap_or_else(|_| Err(login.failure(LinkError::SlowLogin(LOGIN_LIMIT))))
    }

    /// Puts a line on its way; [`Self::next`] sends it. What cannot be part of a line is left out.
    pub fn send(&mut self, line: &str) {
        trace!(line, "sending");
        self.queue(line, line);
    }

    fn send_secret(&mut self, line: &SecretString) {
        self.queue(line.expose_secret(), "(not shown)");
    }

    /// Puts a line on its way, and into the raw log what may be shown of it.
    fn queue(&mut self, line: &str, shown: &str) {
        if let Some(log) = &mut self.raw_log {
            log.said(shown);
        }
        let plain = |letter: &char| matches!(letter, ' '..='~');
        let line: String =
            if line == PONG { line.to_owned() } else { line.chars().filter(plain).collect() };
        let now = Instant::now();
        if let Some(seal) = &self.seal {
            self.out.extend(seal.encode(&line, now));
        } else {
            self.out.extend(line.bytes());
            self.out.push(b'\n');
        }
        self.sent_at = now;
    }

    /// The server breaks no lines any more.
    pub fn expect_whole_lines(&mut self) {
        self.decoder.expect_whole_lines();
    }

    /// In a game a dead line is noticed sooner.
    pub fn set_in_game(&mut self, is_in_game: bool) {
        self.is_in_game = is_in_game;
    }

    /// The next frame that is not a ping, with the moment when its bytes came; meanwhile sends what
    /// is to be sent. Cancel-safe.
    ///
    /// # Errors
    ///
    /// [`LinkError`] when the connection is over.
    pub async fn next(&mut self) -> Result<(Frame, Instant), LinkError> {
        loop {
            if let Some(next) = self.frames.pop_front() {
                return Ok(next);
            }
            let due = self.due();
            let (mut reader, mut writer) = self.stream.split();
            tokio::select! {
                // First what is to be sent: it is short, and may be a move.
                biased;
                sent = writer.write(&self.out), if !self.out.is_empty() => {
                    let count = sent.map_err(|error| LinkError::Broken(error.to_string()))?;
                    self.out.drain(..count);
                }
                read = reader.read(&mut self.buffer) => {
                    let count = read.map_err(|error| LinkError::Broken(error.to_string()))?;
                    if count == 0 {
                        return Err(LinkError::Closed);
                    }
                    let buffer = std::mem::take(&mut self.buffer);
                    let taken = self.take(&buffer[..count]);
                    self.buffer = buffer;
                    taken?;
                }
                () = sleep_until(due.into()) => self.on_due()?,
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), LinkError> {
        let now = Instant::now();
        self.heard_at = now;
        self.probed_at = None;
        if let Some(log) = &mut self.raw_log {
            log.heard(bytes);
        }
        let mut frames = Vec::new();
        let result = self.decoder.read(bytes, &mut frames);
        for frame in frames {
            if frame == Frame::Ping {
                // At once, and before anything else that is still to be said.
                self.queue(PONG, PONG);
            } else {
                self.frames.push_back((frame, now));
            }
        }
        Ok(result?)
    }

    /// When something is to be done although nothing came.
    fn due(&self) -> Instant {
        let (quiet, limit) = self.limits();
        let next = match self.probed_at {
            Some(at) => at + limit,
            None => quiet,
        };
        if self.decoder.is_holding() { next.min(self.heard_at + HOLD) } else { next }
    }

    /// When to ask for a sign of life, and how long it may take.
    fn limits(&self) -> (Instant, Duration) {
        let idle = self.sent_at + self.keep_alive;
        if self.is_in_game {
            (idle.min(self.heard_at + GAME_QUIET), GAME_PROBE_LIMIT)
        } else {
            (idle, PROBE_LIMIT)
        }
    }

    fn on_due(&mut self) -> Result<(), LinkError> {
        let now = Instant::now();
        if self.decoder.is_holding() && now >= self.heard_at + HOLD {
            let heard_at = self.heard_at;
            self.frames.extend(self.decoder.release().map(|frame| (frame, heard_at)));
        }
        let (quiet, limit) = self.limits();
        match self.probed_at {
            Some(at) if now >= at + limit => {
                return Err(LinkError::Silent(now.saturating_duration_since(self.heard_at)));
            }
            None if now >= quiet => {
                self.queue(PROBE, PROBE);
                self.probed_at = Some(now);
            }
            _ => {}
        }
        Ok(())
    }

    /// Sends what is still to be sent, but does not wait for long.
    pub async fn close(mut self) {
        let out = std::mem::take(&mut self.out);
        let sending = async {
            self.stream.write_all(&out).await?;
            self.stream.shutdown().await
        };
        // Whoever does not take it in time has lost it.
        let _lost = timeout(Duration::from_secs(1), sending).await;
    }
}
