//! The bytes that a reader takes, with a copy of those of the game at hand.
//!
//! `pgn-reader` skips what it does not understand, and does not tell where it stands. So its source
//! keeps what it hands out: [`strays`](super::strays) looks through the text of each game, and
//! errors name a line.

use std::{
    cell::RefCell,
    io::{self, ErrorKind, Read},
    rc::Rc,
};

use crate::pgn::MOST_GAME_BYTES;

/// What a source has handed out.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// All bytes since the begin of the game; of a game that is too long, only the first.
    recent: Vec<u8>,
    /// Whether the game is longer than what is kept.
    is_overlong: bool,
    /// Line breaks so far.
    line_breaks: u64,
    /// The error that ended the source, until somebody takes it.
    error: Option<io::Error>,
    has_failed: bool,
    has_ended: bool,
}

impl Log {
    pub(super) fn is_overlong(&self) -> bool {
        self.is_overlong
    }

    /// Whether the source has failed, and not just ended.
    pub(super) fn has_failed(&self) -> bool {
        self.has_failed
    }

    pub(super) fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }

    /// The number of the line that begins behind the last line break before `unread`, the bytes
    /// that were handed out and not used yet.
    pub(super) fn line(&self, unread: &[u8]) -> u64 {
        1 + self.line_breaks - count_line_breaks(unread)
    }

    /// Ends a game; returns its bytes. `unread` are those that belong to the next.
    pub(super) fn end_game(&mut self, unread: &[u8]) -> Vec<u8> {
        let mut game = std::mem::replace(&mut self.recent, unread.to_vec());
        game.truncate(game.len().saturating_sub(unread.len()));
        self.is_overlong = false;
        game
    }
}

pub(super) fn count_line_breaks(bytes: &[u8]) -> u64 {
    bytes.iter().map(|&byte| u64::from(byte == b'\n')).sum()
}

/// A source that writes its log.
#[derive(Debug)]
pub(super) struct Source<R> {
    inner: R,
    log: Rc<RefCell<Log>>,
}

impl<R: Read> Source<R> {
    pub(super) fn new(inner: R, log: Rc<RefCell<Log>>) -> Self {
        Self { inner, log }
    }
}

impl<R: Read> Read for Source<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut log = self.log.borrow_mut();
        // A terminal can be read on after its end, and the parser does ask again.
        if log.has_ended {
            return Ok(0);
        }
        let length = loop {
            match self.inner.read(buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    (log.has_ended, log.has_failed) = (true, true);
                    log.error = Some(error);
                    return Err(io::Error::other("the source failed"));
                }
                Ok(length) => break length,
            }
        };
        let new = &buffer[..length];
        log.has_ended = new.is_empty();
        log.line_breaks += count_line_breaks(new);
        if log.recent.len() + new.len() > MOST_GAME_BYTES {
            log.is_overlong = true;
        } else {
            log.recent.extend_from_slice(new);
        }
        Ok(length)
    }
}
