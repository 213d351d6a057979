//! What runs beside the bot of `run`: the port of metrics and health, and the reports to the service
//! manager. Neither is worth a game: whatever goes wrong with them is logged, and tried again.

use std::{future::Future, mem, net::SocketAddr, time::Duration};

use tokio::{net::TcpListener, task::JoinSet, time::sleep};
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use crate::{daemon, metrics::Metrics, web};

/// Before a service that failed is started again. Much less than a watchdog waits.
const RESTART_PAUSE: Duration = Duration::from_secs(2);
/// Between attempts to listen.
const LISTEN_PAUSE: Duration = Duration::from_mins(1);
/// The kind of the warning about the port.
const PORT: &str = "port";

/// Starts them. They end after `end`; while `closing` is cancelled, nothing new is taken.
pub(super) fn start(
    listen: Option<SocketAddr>,
    metrics: &Metrics,
    closing: &CancellationToken,
    end: &CancellationToken,
) -> JoinSet<()> {
    let mut services = JoinSet::new();
    let parts = {
        let (metrics, closing, end) = (metrics.clone(), closing.clone(), end.clone());
        move || (metrics.clone(), closing.clone(), end.clone())
    };
    if let Some(address) = listen {
        let parts = parts.clone();
        services.spawn(keep_up("the port of the metrics", end.clone(), move || {
            let (metrics, closing, end) = parts();
            serve(address, metrics, closing, end)
        }));
    }
    services.spawn(keep_up("what tells the service manager how we are", end.clone(), move || {
        let (metrics, closing, end) = parts();
        daemon::service::report(metrics, closing, end)
    }));
    services
}

/// Runs a service until `end`; one that fails, or ends before, is started again.
async fn keep_up<F>(name: &'static str, end: CancellationToken, begin: impl Fn() -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let mut task = JoinSet::new();
    loop {
        task.spawn(begin());
        let ended = task.join_next().await;
        if end.is_cancelled() {
            return;
        }
        let reason = match ended {
            Some(Err(error)) => error.to_string(),
            _ => "it ended".to_owned(),
        };
        error!(reason, "a service failed and is started again: {name}");
        end.run_until_cancelled(sleep(RESTART_PAUSE)).await;
    }
}

/// Serves the port, as soon as it can be had.
async fn serve(
    address: SocketAddr,
    metrics: Metrics,
    closing: CancellationToken,
    end: CancellationToken,
) {
    if let Some(listener) = end.run_until_cancelled(listen(address, &metrics)).await {
        web::serve(listener, metrics, closing, end).await;
    }
}

/// Opens the port for metrics and health. One that is taken is tried again until it is free.
async fn listen(address: SocketAddr, metrics: &Metrics) -> TcpListener {
    let mut has_warned = false;
    loop {
        match TcpListener::bind(address).await {
            Ok(listener) => {
                metrics.warn(PORT, None);
                let address = listener.local_addr().unwrap_or(address);
                info!(%address, "metrics and health are told here");
                return listener;
            }
            Err(error) => {
                let sentence = format!(
                    "`metrics.listen` is {address}, where it is not possible to listen: {error}"
                );
                metrics.warn(PORT, Some(&sentence));
                if !mem::replace(&mut has_warned, true) {
                    warn!("{sentence}; we play all the same, and try again every minute");
                }
            }
        }
        sleep(LISTEN_PAUSE).await;
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
        time::Instant,
    };

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_service_that_fails_is_started_again() {
        let (starts, end) = (Arc::new(AtomicUsize::new(0)), CancellationToken::new());
        let begin = || {
            let (start, end) = (starts.fetch_add(1, Ordering::Relaxed), end.clone());
            async move {
                assert!(start > 0, "the first one fails");
                if start > 1 {
                    end.cancel();
                }
            }
        };
        keep_up("a test", end.clone(), begin).await;
        assert_eq!(starts.load(Ordering::Relaxed), 3, "a failure, an end too early, and the end");
    }

    #[tokio::test(start_paused = true)]
    async fn a_port_that_is_taken_is_tried_again() {
        let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let (address, metrics) = (taken.local_addr().expect("an address"), Metrics::new());
        let warnings = || metrics.health(Instant::now()).warnings;
        let freeing = async {
            sleep(LISTEN_PAUSE / 2).await;
            assert!(
                warnings()[0].starts_with("`metrics.listen` is 127.0.0.1:"),
                "{:?}",
                warnings()
            );
            drop(taken);
        };
        let (listener, ()) = tokio::join!(listen(address, &metrics), freeing);
        assert_eq!(listener.local_addr().expect("an address"), address);
        assert!(warnings().is_empty(), "{:?}", warnings());
    }
}
