//! The start: waits for a server that cannot be reached, and for nothing else.

use std::{pin::pin, time::Duration};

use tokio::time::{interval, sleep};
use tracing::{info, warn};

use crate::{
    daemon::shutdown::Shutdown,
    metrics::Beat,
    platform::{
        backoff::Backoff,
        lichess::{Account, Client, Retry, StartError, check_account},
    },
};

const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_mins(1);
/// How often the wait shows that it is alive.
const TICK: Duration = Duration::from_secs(1);

/// Checks the account, again and again while the server cannot be reached, so that a restart during
/// an outage recovers. `None` if `shutdown` came first.
///
/// # Errors
///
/// [`StartError`], but never [`StartError::Unreachable`].
pub(super) async fn log_in(
    client: &Client,
    shutdown: &Shutdown,
    beat: &Beat,
) -> Result<Option<Account>, StartError> {
    let trying = beating(beat, keep_trying(client));
    let account = shutdown.finish().run_until_cancelled(trying).await.transpose()?;
    if let Some(account) = &account {
        info!(account = account.name, rating = account.rating, "logged in");
    } else {
        info!("told to end before the server could be reached");
    }
    Ok(account)
}

/// Waits for this, and shows that it is being waited for.
async fn beating<T>(beat: &Beat, waiting: impl Future<Output = T>) -> T {
    let (mut waiting, mut tick) = (pin!(waiting), interval(TICK));
    loop {
        tokio::select! {
            result = &mut waiting => return result,
            _ = tick.tick() => beat.now(),
        }
    }
}

async fn keep_trying(client: &Client) -> Result<Account, StartError> {
    let mut backoff = Backoff::new(FIRST_WAIT, LONGEST_WAIT);
    loop {
        let error = match check_account(client).await {
            Err(StartError::Unreachable(error)) => error,
            result => return result,
        };
        let wait = match error.retry() {
            Retry::After(least) => backoff.next_wait_at_least(least),
            Retry::Never | Retry::Reconnect => backoff.next_wait(),
        };
        warn!(%error, wait_ms = wait.as_millis(), "cannot check the account yet");
        sleep(wait).await;
    }
}
