//! The start: waits for a server that cannot be reached, and for nothing else.

use std::time::Duration;

use tokio::time::sleep;
use tracing::{info, warn};

use crate::{
    daemon::shutdown::Shutdown,
    platform::{
        backoff::Backoff,
        lichess::{Account, Client, Retry, StartError, check_account},
    },
};

const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// Checks the account, again and again while the server cannot be reached, so that a restart during
/// an outage recovers. `None` if `shutdown` came first.
///
/// # Errors
///
/// [`StartError`], but never [`StartError::Unreachable`].
pub(super) async fn log_in(
    client: &Client,
    shutdown: &Shutdown,
) -> Result<Option<Account>, StartError> {
    let account = shutdown.finish().run_until_cancelled(keep_trying(client)).await.transpose()?;
    if let Some(account) = &account {
        info!(account = account.name, rating = account.rating, "logged in");
    } else {
        info!("told to end before the server could be reached");
    }
    Ok(account)
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
