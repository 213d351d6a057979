//! SIGHUP: settings are read again while the bot runs. It never ends the bot, as it would by default
//! when a terminal is closed or a service is reloaded.

use std::{fmt::Display, io};

use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    task::spawn_blocking,
};
use tracing::{error, info, warn};

/// The SIGHUPs of this process.
#[derive(Debug)]
pub struct Hangups(Signal);

impl Hangups {
    /// Listens from now on; from now on no SIGHUP ends the process.
    ///
    /// # Errors
    ///
    /// If the signal cannot be listened to.
    pub fn listen() -> io::Result<Self> {
        Ok(Self(signal(SignalKind::hangup())?))
    }

    /// Reads anew at each SIGHUP, on a thread that may block, and hands over what was read. If that
    /// fails the old stays, with one warning. Runs for as long as it is awaited.
    pub async fn follow<T, E>(
        mut self,
        read: impl Fn() -> Result<T, E> + Clone + Send + 'static,
        mut take: impl FnMut(T),
    ) where
        T: Send + 'static,
        E: Display + Send + 'static,
    {
        while self.0.recv().await.is_some() {
            info!("SIGHUP: reading the settings again");
            match spawn_blocking(read.clone()).await {
                Ok(Ok(new)) => take(new),
                Ok(Err(error)) => warn!(%error, "the settings are wrong, the old ones stay"),
                Err(error) => error!(%error, "reading the settings failed, the old ones stay"),
            }
        }
        // No more signals will come; whoever awaits this has other things to wait for.
        std::future::pending::<()>().await;
    }
}
