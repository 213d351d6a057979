//! From the first signal to the end: nothing new, then the running games, then out.

use std::{io, time::Duration};

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

/// How running games are treated at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShutdownOptions {
    /// How long running games may go on after the first signal.
    pub finish_limit: Duration,
    /// What becomes of games that run at the second signal or at the limit.
    pub unfinished: Unfinished,
}

impl Default for ShutdownOptions {
    fn default() -> Self {
        Self { finish_limit: Duration::from_mins(15), unfinished: Unfinished::Resign }
    }
}

/// What becomes of games that cannot be finished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unfinished {
    /// Resign them; abort those that have hardly begun.
    #[default]
    Resign,
    /// Leave them: a restart resumes those that the opponent has not claimed by then.
    Leave,
}

/// The two stages of an orderly end. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Shutdown {
    /// Take nothing new and finish what runs.
    finish: CancellationToken,
    /// Leave now.
    leave: CancellationToken,
}

impl Shutdown {
    /// Nothing to end yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The next stage: to finish, or to leave if that was said before.
    pub fn advance(&self) {
        if self.finish.is_cancelled() {
            self.leave.cancel();
        } else {
            self.finish.cancel();
        }
    }

    /// Cancelled when nothing new is to be taken.
    pub fn finish(&self) -> &CancellationToken {
        &self.finish
    }

    /// Cancelled when running games are not to be waited for any longer.
    pub fn leave(&self) -> &CancellationToken {
        &self.leave
    }

    /// Advances with each SIGINT or SIGTERM. Runs for as long as it is awaited.
    ///
    /// # Errors
    ///
    /// If the signals cannot be listened to.
    pub async fn follow_signals(&self) -> io::Result<()> {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if self.finish.is_cancelled() {
                warn!("second signal: leaving now");
            } else {
                info!("signal: finishing running games, taking no new ones");
            }
            self.advance();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stages_come_in_order() {
        let shutdown = Shutdown::new();
        let stages = || (shutdown.finish().is_cancelled(), shutdown.leave().is_cancelled());
        assert_eq!(stages(), (false, false));
        shutdown.advance();
        assert_eq!(stages(), (true, false));
        shutdown.clone().advance();
        assert_eq!(stages(), (true, true));
    }
}
