//! The local port: `/healthz`, `/readyz` and `/metrics`.
//!
//! A connection is good for one request, and for a few seconds. When there are too many the oldest
//! goes, so that whoever sends nothing, or reads nothing, keeps nobody else out.

use std::{
    collections::VecDeque,
    convert::Infallible,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    task::{AbortHandle, JoinSet},
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, warn};

use crate::metrics::{self, Metrics};

/// Connections at once.
const MOST_CONNECTIONS: usize = 32;
/// How long a connection may take in all.
const CONNECTION_LIMIT: Duration = Duration::from_secs(5);
/// Bytes of a request's head, and of what is read at once. The least that the library takes.
const MOST_BYTES: usize = 8 << 10;
/// Lines of a request's head.
const MOST_HEADERS: usize = 32;
/// After an error, such as too many open files.
const PAUSE: Duration = Duration::from_millis(100);
/// Such an error is told at first, and then no more often than this.
const WARN_PAUSE: Duration = Duration::from_mins(1);

const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD");

/// Serves until `shutdown` is cancelled. While `closing` is, we are not ready.
pub async fn serve(
    listener: TcpListener,
    metrics: Metrics,
    closing: CancellationToken,
    shutdown: CancellationToken,
) {
    let mut tasks = JoinSet::new();
    let mut order: VecDeque<AbortHandle> = VecDeque::new();
    let mut warned_at = None;
    loop {
        tokio::select! {
            () = shutdown.cancelled() => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    order.retain(|task| !task.is_finished());
                    if order.len() >= MOST_CONNECTIONS
                        && let Some(oldest) = order.pop_front()
                    {
                        oldest.abort();
                    }
                    order.push_back(tasks.spawn(answer_one(stream, metrics.clone(), closing.clone())));
                }
                Err(error) => {
                    if is_due(&mut warned_at, Instant::now()) {
                        warn!(%error, "the port of the metrics takes no connection");
                    }
                    shutdown.run_until_cancelled(sleep(PAUSE)).await;
                }
            },
            Some(ended) = tasks.join_next() => {
                if let Err(error) = ended
                    && !error.is_cancelled()
                {
                    error!(%error, "a task of the port of the metrics failed");
                }
            }
        }
    }
    tasks.shutdown().await;
}

/// Whether to warn at `now`; the answer counts as a warning.
fn is_due(warned_at: &mut Option<Instant>, now: Instant) -> bool {
    let is_due = warned_at.is_none_or(|at| now.saturating_duration_since(at) >= WARN_PAUSE);
    if is_due {
        *warned_at = Some(now);
    }
    is_due
}

/// Answers the one request of a connection.
async fn answer_one(stream: TcpStream, metrics: Metrics, closing: CancellationToken) {
    let service = service_fn(|request: Request<Incoming>| {
        let response = answer(request.method(), request.uri().path(), &metrics, &closing);
        std::future::ready(Ok::<_, Infallible>(response))
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(CONNECTION_LIMIT)
        .keep_alive(false)
        .max_buf_size(MOST_BYTES)
        .max_headers(MOST_HEADERS)
        .serve_connection(TokioIo::new(stream), service);
    match timeout(CONNECTION_LIMIT, connection).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => debug!(%error, "a connection to the port of the metrics ended early"),
        Err(_) => debug!("a connection to the port of the metrics took too long"),
    }
}

fn answer(
    method: &Method,
    path: &str,
    metrics: &Metrics,
    closing: &CancellationToken,
) -> Response<Full<Bytes>> {
    if !matches!(*method, Method::GET | Method::HEAD) {
        let mut refusal = response(StatusCode::METHOD_NOT_ALLOWED, TEXT, "GET or HEAD\n");
        refusal.headers_mut().insert(ALLOW, METHODS);
        return refusal;
    }
    let judged = |is_well: bool, line: String| {
        let status = if is_well { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        response(status, TEXT, line + "\n")
    };
    match path {
        "/healthz" => {
            let health = metrics.health(Instant::now());
            judged(health.is_alive(), health.line())
        }
        "/readyz" => {
            let health = metrics.health(Instant::now());
            let is_closing = closing.is_cancelled();
            let begin = if is_closing { "closing; " } else { "" };
            judged(health.is_ready() && !is_closing, format!("{begin}{}", health.line()))
        }
        "/metrics" => {
            let kind = HeaderValue::from_static(metrics::CONTENT_TYPE);
            response(StatusCode::OK, kind, metrics.text())
        }
        _ => response(StatusCode::NOT_FOUND, TEXT, "/healthz, /readyz or /metrics\n"),
    }
}

fn response(
    status: StatusCode,
    kind: HeaderValue,
    body: impl Into<Bytes>,
) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// A port that ends with this value.
    struct Site {
        address: SocketAddr,
        metrics: Metrics,
        closing: CancellationToken,
        shutdown: CancellationToken,
        tasks: JoinSet<()>,
    }

    impl Site {
        async fn open() -> Self {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
            let address = listener.local_addr().expect("an address");
            let (closing, shutdown) = (CancellationToken::new(), CancellationToken::new());
            let (metrics, mut tasks) = (Metrics::new(), JoinSet::new());
            tasks.spawn(serve(listener, metrics.clone(), closing.clone(), shutdown.clone()));
            Self { address, metrics, closing, shutdown, tasks }
        }

        async fn connect(&self) -> TcpStream {
            TcpStream::connect(self.address).await.expect("a connection")
        }

        /// Sends this, and reads until the other side closes.
        async fn send(&self, text: &str) -> String {
            let mut stream = self.connect().await;
            stream.write_all(text.as_bytes()).await.expect("it is taken");
            let mut answer = String::new();
            let reading = stream.read_to_string(&mut answer);
            timeout(Duration::from_secs(30), reading).await.expect("in time").expect("an answer");
            answer
        }

        async fn get(&self, path: &str) -> (u16, String) {
            let answer = self.send(&format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n")).await;
            let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
            let status = head.split(' ').nth(1).expect("a status").parse().expect("a number");
            (status, body.to_owned())
        }
    }

    #[tokio::test]
    async fn the_figures_and_the_health_are_told() {
        let site = Site::open().await;
        assert_eq!(site.get("/healthz").await.0, 200);
        assert_eq!(site.get("/readyz").await.0, 503, "nobody is connected");
        let lichess = site.metrics.platform("lichess");
        lichess.stream_opened();
        let (status, body) = site.get("/readyz").await;
        assert_eq!((status, body.as_str()), (200, "0 games, 0 today; lichess up for 0 s\n"));
        let (status, body) = site.get("/metrics").await;
        assert_eq!(status, 200);
        assert!(body.contains("\nmeitner_stream_up{platform=\"lichess\"} 1\n"), "{body}");
        site.closing.cancel();
        assert_eq!(site.get("/readyz").await.0, 503);
        assert_eq!(site.get("/healthz").await.0, 200);
    }

    #[tokio::test]
    async fn nothing_else_is_answered() {
        let site = Site::open().await;
        assert_eq!(site.get("/").await.0, 404);
        assert_eq!(site.get("/metrics/../etc").await.0, 404);
        let post =
            site.send("POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n").await;
        assert!(post.starts_with("HTTP/1.1 405 "), "{post}");
        let head = site.send("HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n").await;
        assert!(head.starts_with("HTTP/1.1 200 ") && head.ends_with("\r\n\r\n"), "{head}");
        let long = format!("GET /metrics HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(2 * MOST_BYTES));
        let mut stream = site.connect().await;
        // The other side may close before it has read all of it.
        let _ = stream.write_all(long.as_bytes()).await;
        let mut answer = Vec::new();
        let _ =
            timeout(Duration::from_secs(30), stream.read_to_end(&mut answer)).await.expect("end");
        assert!(!answer.starts_with(b"HTTP/1.1 200"));
    }

    #[tokio::test]
    async fn who_sends_nothing_keeps_nobody_out() {
        let site = Site::open().await;
        let mut silent = Vec::new();
        for _ in 0..3 * MOST_CONNECTIONS {
            silent.push(site.connect().await);
        }
        assert_eq!(site.get("/healthz").await.0, 200);
    }

    #[test]
    fn an_error_that_lasts_is_told_once_a_minute() {
        let (start, mut warned_at) = (Instant::now(), None);
        let told = (0..1_200).filter(|&n| is_due(&mut warned_at, start + n * PAUSE)).count();
        assert_eq!(told, 2, "in two minutes");
    }

    #[tokio::test]
    async fn it_ends_when_it_is_told_to() {
        let mut site = Site::open().await;
        let mut silent = site.connect().await;
        assert_eq!(site.get("/healthz").await.0, 200);
        site.shutdown.cancel();
        let end = timeout(Duration::from_secs(30), site.tasks.join_next()).await;
        end.expect("in time").expect("a task").expect("in good order");
        let mut rest = Vec::new();
        // Closed or reset.
        let _ = timeout(Duration::from_secs(30), silent.read_to_end(&mut rest)).await.expect("end");
        assert!(TcpStream::connect(site.address).await.is_err());
    }
}
