//! An Internet Chess Server for atomic, with players of the house and faults on demand.
//!
//! The arena's other front: it speaks the protocol of FICS on a port of its own, and shares the house's
//! opponents with the Bot API. Written from the published facts, without the client's code. What
//! players type is carried out in `command`; `state` holds everything behind one lock.
//!
//! Not here: block mode, other variants, ratings that move, and anything beyond one game at a time.

mod command;
mod connection;
mod game;
mod handle;
mod house;
mod options;
mod outbox;
mod seal;
mod state;

use std::sync::Arc;

use tokio::{net::TcpListener, task::JoinSet};
use tokio_util::sync::CancellationToken;

pub use handle::IcsHandle;
pub use options::{IcsAccount, IcsFaults, IcsHouse, IcsOptions, Wording};
pub use state::IcsCounters;

use state::Shared;

/// A server that is about to run.
pub struct IcsServer {
    shared: Arc<Shared>,
}

impl IcsServer {
    /// A server with nobody on it.
    pub fn new(options: IcsOptions) -> Self {
        Self { shared: Arc::new(Shared::new(options)) }
    }

    /// Controls of this server, usable before, while and after it runs.
    pub fn handle(&self) -> IcsHandle {
        IcsHandle::new(Arc::clone(&self.shared))
    }

    /// Serves until `shutdown` is cancelled; then breaks all connections and ends all games.
    pub async fn run(self, listener: TcpListener, shutdown: CancellationToken) {
        let shared = self.shared;
        let mut tasks = JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        // Without this a small piece would wait for the one before.
                        let _hint = stream.set_nodelay(true);
                        tasks.spawn(connection::serve(Arc::clone(&shared), stream, shutdown.clone()));
                    }
                    Err(error) => tracing::warn!(%error, "cannot accept a connection"),
                },
                () = shared.has_work.notified() => {
                    let games = std::mem::take(&mut shared.read().games_to_run);
                    for id in games {
                        tasks.spawn(house::run_game(Arc::clone(&shared), id, shutdown.clone()));
                    }
                }
                Some(ended) = tasks.join_next() => {
                    if let Err(error) = ended {
                        tracing::error!(%error, "a task of the server failed");
                    }
                }
                () = shutdown.cancelled() => break,
            }
        }
        tasks.shutdown().await;
    }
}
