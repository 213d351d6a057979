//! The server itself: connections, and the tasks of the running games.

use std::{convert::Infallible, sync::Arc, time::Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};
use hyper::{Response, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use crate::arena::{
    api,
    connection::{Link, Socket},
    handle::ArenaHandle,
    house,
    options::ArenaOptions,
    port::Port,
    state::Shared,
    stream::CutError,
};

/// The body of an answer.
pub(super) type Body = UnsyncBoxBody<Bytes, CutError>;

/// A server that is about to run.
pub struct Arena {
    shared: Arc<Shared>,
}

impl Arena {
    /// An arena with these settings, nobody in it but the accounts named there.
    pub fn new(options: ArenaOptions) -> Self {
        Self { shared: Arc::new(Shared::new(options)) }
    }

    /// Controls of this arena, usable before, while and after it runs.
    pub fn handle(&self) -> ArenaHandle {
        ArenaHandle::new(Arc::clone(&self.shared))
    }

    /// Serves until `shutdown` is cancelled; then breaks all connections and ends all games.
    pub async fn run(self, listener: TcpListener, shutdown: CancellationToken) {
        let shared = self.shared;
        let mut port = Port::Open(listener);
        let mut tasks = JoinSet::new();
        loop {
            let due = shared.read().agenda.next_at();
            tokio::select! {
                stream = port.accept(&shared) => accept(&shared, stream, &shutdown, &mut tasks),
                () = shared.port_closing.notified() => port = port.close(),
                () = sleep_until(due), if due.is_some() => {
                    shared.change(|state| state.do_due(Instant::now()));
                }
                () = shared.has_work.notified() => {
                    let games = std::mem::take(&mut shared.read().games_to_run);
                    for id in games {
                        tasks.spawn(house::run_game(Arc::clone(&shared), id, shutdown.clone()));
                    }
                }
                Some(ended) = tasks.join_next() => {
                    if let Err(error) = ended {
                        tracing::error!(%error, "a task of the arena failed");
                    }
                }
                () = shutdown.cancelled() => break,
            }
        }
        tasks.shutdown().await;
    }
}

async fn sleep_until(at: Option<Instant>) {
    tokio::time::sleep_until(at.unwrap_or_else(Instant::now).into()).await;
}

/// Starts to serve a connection, or resets it during an outage.
fn accept(
    shared: &Arc<Shared>,
    stream: TcpStream,
    shutdown: &CancellationToken,
    tasks: &mut JoinSet<()>,
) {
    let Some(alive) = shared.connection_token() else {
        // If it fails the connection is closed in the ordinary way, which also refuses it.
        let _reset = stream.set_zero_linger();
        return;
    };
    // Without this a small line would wait for the acknowledgement of the one before.
    let _hint = stream.set_nodelay(true);
    shared.change(|state| state.counters.connections += 1);
    tasks.spawn(serve(Arc::clone(shared), stream, shutdown.clone(), alive));
}

async fn serve(
    shared: Arc<Shared>,
    stream: TcpStream,
    shutdown: CancellationToken,
    alive: CancellationToken,
) {
    let link = Arc::new(Link::default());
    let socket = Socket::new(stream, Arc::clone(&link));
    let service = service_fn(|request: hyper::Request<Incoming>| {
        api::answer(Arc::clone(&shared), Arc::clone(&link), request, shutdown.clone())
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .serve_connection(TokioIo::new(socket), service);
    tokio::select! {
        result = connection => {
            if let Err(error) = result {
                tracing::debug!(%error, "a connection ended early");
            }
        }
        () = alive.cancelled() => {}
        () = shutdown.cancelled() => {}
    }
}

/// A body that is sent at once.
pub(super) fn full(text: impl Into<Bytes>) -> Body {
    Full::new(text.into()).map_err(|never: Infallible| match never {}).boxed_unsync()
}

/// An answer with this status, content type and body.
pub(super) fn response(
    status: hyper::StatusCode,
    content_type: &'static str,
    body: Body,
) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let content_type = hyper::header::HeaderValue::from_static(content_type);
    response.headers_mut().insert(hyper::header::CONTENT_TYPE, content_type);
    response
}
