//! Sends requests to the Bot API: one method for each endpoint, no policy.
//!
//! All requests share one pool of connections. Over TLS that is a single HTTP/2 connection, kept
//! warm by the open streams and shared without queueing, so that a move waits neither for a
//! handshake nor for another request. Nothing is ever sent twice here: whether to try again is the
//! caller's decision.
//!
//! This file has the client itself; the endpoints are in files of their own.

mod challenges;
mod games;
mod lookups;
mod tournaments;

use std::{
    fmt,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use reqwest::{
    Method, RequestBuilder, Response, StatusCode, Url,
    dns::Resolve,
    header::{AUTHORIZATION, HeaderMap, HeaderValue, RETRY_AFTER, USER_AGENT},
};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;

use crate::{
    game::{LagMeter, one_line},
    metrics::{Metrics, PlatformMetrics, RequestOutcome, StreamKind},
    platform::lichess::{
        error::{ApiError, RateLimit, causes},
        model::{self, ErrorBody},
        refusals::Patience,
        stream::{LineStream, StreamEnd},
    },
};

/// An answer longer than this is not read: 50 running games are a twentieth of it.
const MAX_BODY_BYTES: usize = 1 << 20;
/// Of a longer list the rest is left out.
const MAX_LIST_ITEMS: usize = 1024;
/// How much of the server's sentence is kept.
const MAX_MESSAGE_CHARS: usize = 200;
const TCP_KEEPALIVE: Duration = Duration::from_secs(15);
/// How often an HTTP/2 connection is probed, and how long it may take to answer. A dead one holds
/// up everything, moves included, until that is noticed.
const HTTP2_PING: Duration = Duration::from_secs(5);
const HTTP2_PING_LIMIT: Duration = Duration::from_secs(5);

/// How to reach the server.
#[derive(Clone, Debug)]
pub struct Options {
    /// Scheme, host and port, with or without a path below which the API lives.
    pub base_url: String,
    /// Limit for setting up a connection.
    pub connect_timeout: Duration,
    /// Limit for any request but moves and streams; for a stream, until its first byte.
    pub request_timeout: Duration,
    /// Limit for a move to be answered.
    pub move_timeout: Duration,
    /// A stream without a byte for so long is dead. The server sends one every 7 s.
    pub stream_silence: Duration,
    /// A game's stream that brings nothing but keep-alives for so long is opened again, to see the
    /// whole game: it may be deaf. If nothing was missed, the next time is after twice as long. For
    /// the event stream it is twice the time.
    pub quiet: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            base_url: "https://lichess.org".to_owned(),
            connect_timeout: Duration::from_secs(10),
            request_timeout: Duration::from_secs(15),
            move_timeout: Duration::from_secs(5),
            stream_silence: Duration::from_secs(15),
            quiet: Duration::from_secs(30),
        }
    }
}

/// A client that cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// The base URL is none.
    #[error("not a base URL like https://lichess.org: {0:?}")]
    BaseUrl(String),
    /// The address is not encrypted, and not of this machine.
    #[error(
        "the token would travel in clear text to {0:?}: use https, or a server on this machine"
    )]
    ClearText(String),
    /// The token has characters that cannot be sent.
    #[error("the token is empty or has characters that no token has")]
    Token,
    /// TLS could not be set up, mostly for want of the system's certificates.
    #[error("cannot set up secure connections (are CA certificates installed?): {0}")]
    Tls(String),
}

/// A connection to the server as one account. `Debug` shows no secret.
pub struct Client {
    http: reqwest::Client,
    base: String,
    options: Options,
    patience: Patience,
    lag: LagMeter,
    metrics: PlatformMetrics,
    token: SecretString,
    /// Marked as sensitive, so that nothing prints it.
    authorization: HeaderValue,
    /// With the account's name once that is known. The server refuses a wrong one.
    agent: OnceLock<HeaderValue>,
}

/// The name of this platform in figures.
const PLATFORM: &str = "lichess";

/// What the server calls us: the program, and who runs it (section 1 of the protocol notes).
const PROGRAM: &str = concat!("meitner/", env!("CARGO_PKG_VERSION"));

impl Client {
    /// A client that has not connected yet.
    ///
    /// # Errors
    ///
    /// [`ClientError`] if the base URL or the token cannot be one, or without certificates.
    pub fn new(options: Options, token: SecretString) -> Result<Self, ClientError> {
        Self::build(options, token, None)
    }

    /// The same, with names of servers looked up by this resolver.
    ///
    /// # Errors
    ///
    /// As [`Client::new`].
    pub fn with_resolver(
        options: Options,
        token: SecretString,
        resolver: Arc<dyn Resolve>,
    ) -> Result<Self, ClientError> {
        Self::build(options, token, Some(resolver))
    }

    fn build(
        options: Options,
        token: SecretString,
        resolver: Option<Arc<dyn Resolve>>,
    ) -> Result<Self, ClientError> {
        let bad_url = || ClientError::BaseUrl(options.base_url.clone());
        let url = Url::parse(&options.base_url).map_err(|_| bad_url())?;
        let is_plain = url.username().is_empty() && url.password().is_none();
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() || !is_plain {
            return Err(bad_url());
        }
        if !hides_token(&url) {
            return Err(ClientError::ClearText(options.base_url.clone()));
        }
        let base = url.as_str().trim_end_matches('/').to_owned();
        let authorization = authorization(&token)?;
        let http = http_client(&options, &url, resolver)?;
        let (patience, lag, agent) = (Patience::default(), LagMeter::default(), OnceLock::new());
        let metrics = Metrics::new().platform(PLATFORM);
        Ok(Self { http, base, options, patience, lag, metrics, token, authorization, agent })
    }

    /// The same client, which takes the lag of the line to be what this meter says, and goes on
    /// measuring with it.
    #[must_use]
    pub fn with_lag(self, lag: LagMeter) -> Self {
        Self { lag, ..self }
    }

    /// What measures the way to the server and back.
    pub fn lag_meter(&self) -> &LagMeter {
        &self.lag
    }

    /// The same client, which counts here.
    #[must_use]
    pub fn with_metrics(self, metrics: &Metrics) -> Self {
        Self { metrics: metrics.platform(PLATFORM), ..self }
    }

    /// Where what happens on this platform is counted.
    pub fn metrics(&self) -> &PlatformMetrics {
        &self.metrics
    }

    /// The same client with another patience for refusals.
    #[must_use]
    pub fn with_patience(self, patience: Patience) -> Self {
        Self { patience, ..self }
    }

    /// How long those who use this client let the server refuse them.
    pub fn patience(&self) -> Patience {
        self.patience
    }

    /// The limits and the address that this client was built with.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Names the account in each request from now on. Only the first call counts; a name that
    /// the server could not have is left out.
    pub fn set_account(&self, name: &str) {
        let is_name = (3..=31).contains(&name.len())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        if is_name && let Ok(agent) = HeaderValue::from_str(&format!("{PROGRAM} user:{name}")) {
            // A second name would be a second account.
            let _ = self.agent.set(agent);
        }
    }

    /// Opens the account's event stream, which closes any other one of this account.
    ///
    /// # Errors
    ///
    /// [`ApiError`], as in all methods that send something.
    pub async fn open_event_stream(&self) -> Result<LineStream, ApiError> {
        let stream = self.stream("/api/stream/event").await?;
        Ok(stream.with_heard(self.metrics.heard(StreamKind::Account)))
    }

    async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ApiError> {
        let request = self.request(Method::GET, path).timeout(self.options.request_timeout);
        parse(&self.body(request).await?)
    }

    /// A list with one object a line. Lines that cannot be read are left out, so that a strange one
    /// hides no other.
    async fn list<T: DeserializeOwned>(&self, path: &str) -> Result<Vec<T>, ApiError> {
        let reading = async {
            let mut lines = self.stream(path).await?;
            let mut items = Vec::new();
            loop {
                match lines.next_line().await {
                    Ok(line) => {
                        let text = line.text.filter(|_| items.len() < MAX_LIST_ITEMS);
                        items.extend(text.and_then(|text| serde_json::from_str(&text).ok()));
                    }
                    Err(StreamEnd::Closed) => return Ok(items),
                    Err(end) => return Err(ApiError::NoAnswer(end.to_string())),
                }
            }
        };
        tokio::time::timeout(self.options.request_timeout, reading)
            .await
            .map_err(|_| ApiError::NoAnswer("the list did not end in time".to_owned()))?
    }

    async fn post(&self, path: &str) -> Result<(), ApiError> {
        let request = self.request(Method::POST, path).timeout(self.options.request_timeout);
        self.body(request).await.map(drop)
    }

    async fn stream(&self, path: &str) -> Result<LineStream, ApiError> {
        let opening = self.send(self.request(Method::GET, path));
        let response = tokio::time::timeout(self.options.request_timeout, opening)
            .await
            .map_err(|_| ApiError::NoAnswer("the stream did not open in time".to_owned()))??;
        Ok(LineStream::new(response, self.options.stream_silence, Instant::now()))
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let agent = self.agent.get().cloned().unwrap_or(HeaderValue::from_static(PROGRAM));
        self.http
            .request(method, format!("{}{path}", self.base))
            .header(AUTHORIZATION, self.authorization.clone())
            .header(USER_AGENT, agent)
    }

    async fn body(&self, request: RequestBuilder) -> Result<Vec<u8>, ApiError> {
        read_body(&mut self.send(request).await?).await
    }

    /// Sends a request, and counts what comes of it.
    async fn send(&self, request: RequestBuilder) -> Result<Response, ApiError> {
        let result = self.sorted(request).await;
        self.metrics.request(match &result {
            Ok(_) => RequestOutcome::Ok,
            Err(error) => error.outcome(),
        });
        result
    }

    /// Sends a request and sorts the answers: success, or an error read from status and body.
    async fn sorted(&self, request: RequestBuilder) -> Result<Response, ApiError> {
        let mut response = request.send().await?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let retry_after = retry_after(response.headers());
        // A front end answers with HTML or nothing at all: that must not hide the status.
        let body = read_body(&mut response).await.unwrap_or_default();
        let error: ErrorBody = serde_json::from_slice(&body).unwrap_or_default();
        Err(self.refusal(status, &error, retry_after))
    }

    fn refusal(
        &self,
        status: StatusCode,
        body: &ErrorBody,
        retry_after: Option<Duration>,
    ) -> ApiError {
        let message = self.presentable(&body.message());
        let limit = body.limit().map(|(key, seconds)| RateLimit {
            key: self.presentable(key),
            wait: Duration::from_secs(seconds),
        });
        match status.as_u16() {
            429 => ApiError::RateLimited { message, limit, retry_after },
            status @ 500.. => ApiError::Server { status, retry_after },
            status => ApiError::Refused { status, message, limit },
        }
    }

    /// What an error object that comes as a line of a stream complains of, fit for logs; `None` if
    /// the line is something else.
    pub(super) fn complaint(&self, line: &str) -> Option<String> {
        // Lines of the streams are objects with a type.
        #[derive(serde::Deserialize)]
        struct Typed {
            #[serde(rename = "type")]
            _kind: serde::de::IgnoredAny,
        }
        if !line.contains("\"error\"") || serde_json::from_str::<Typed>(line).is_ok() {
            return None;
        }
        let message = serde_json::from_str::<ErrorBody>(line).ok()?.message();
        (!message.is_empty()).then(|| self.presentable(&message))
    }

    /// A text of the server's, fit for logs: short, printable, and without our token.
    fn presentable(&self, text: &str) -> String {
        one_line(&text.replace(self.token.expose_secret(), "[token]"), MAX_MESSAGE_CHARS)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("options", &self.options)
            .field("agent", &self.agent.get())
            .finish_non_exhaustive()
    }
}

/// A header of the form `Bearer TOKEN`.
fn authorization(token: &SecretString) -> Result<HeaderValue, ClientError> {
    let text = token.expose_secret();
    if text.is_empty() || !text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err(ClientError::Token);
    }
    let mut header =
        HeaderValue::from_str(&format!("Bearer {text}")).map_err(|_| ClientError::Token)?;
    header.set_sensitive(true);
    Ok(header)
}

fn http_client(
    options: &Options,
    url: &Url,
    resolver: Option<Arc<dyn Resolve>>,
) -> Result<reqwest::Client, ClientError> {
    // Fails only if a provider is installed already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .connect_timeout(options.connect_timeout)
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .tcp_nodelay(true)
        .tcp_keepalive(TCP_KEEPALIVE)
        // A move after a long thought shall find its connection open, not pay a handshake.
        .pool_idle_timeout(None)
        .http2_keep_alive_interval(HTTP2_PING)
        .http2_keep_alive_timeout(HTTP2_PING_LIMIT)
        .http2_keep_alive_while_idle(true);
    if url.scheme() == "http" {
        // No TLS here, so that no certificates need to be found.
        builder = builder.tls_certs_only([]);
    }
    if let Some(resolver) = resolver {
        // A proxy would look names up by itself.
        builder = builder.dns_resolver(resolver).no_proxy();
    }
    if is_loopback(url) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| ClientError::Tls(causes(&error)))
}

/// Whether nobody on the way to this server can read the token: over TLS, or if there is no way.
pub fn hides_token(url: &Url) -> bool {
    url.scheme() == "https" || is_loopback(url)
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
}

async fn read_body(response: &mut Response) -> Result<Vec<u8>, ApiError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > MAX_BODY_BYTES {
            return Err(ApiError::Malformed(format!("more than {MAX_BODY_BYTES} bytes")));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    serde_json::from_slice(body).map_err(|error| ApiError::Malformed(model::describe(&error)))
}

/// The seconds of a `Retry-After` header. Its other form, a date, needs a wall clock and is not
/// sent by any server that we know.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds: u64 = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "lip_verySecret123";

    fn client(base_url: &str) -> Result<Client, ClientError> {
        let options = Options { base_url: base_url.to_owned(), ..Options::default() };
        Client::new(options, TOKEN.to_owned().into())
    }

    #[test]
    fn a_base_url_is_checked() {
        for good in ["http://127.0.0.1:8080", "http://localhost/", "http://[::1]:9/api-root/"] {
            let client = client(good).unwrap();
            assert!(!client.base.ends_with('/'), "{good}");
        }
        for bad in ["", "lichess.org", "ftp://lichess.org", "http://user:pw@localhost", "http://"] {
            assert!(matches!(client(bad), Err(ClientError::BaseUrl(_))), "{bad}");
        }
    }

    #[test]
    fn no_token_travels_in_clear_text() {
        let open = ["http://lichess.org", "http://192.168.1.2:8080", "http://localhost.example"];
        for open in open {
            assert!(matches!(client(open), Err(ClientError::ClearText(_))), "{open}");
        }
    }

    #[test]
    fn a_token_that_cannot_be_sent_is_refused_without_being_shown() {
        for bad in ["", "with space", "new\nline", "ünicode"] {
            let options =
                Options { base_url: "http://127.0.0.1:1".to_owned(), ..Options::default() };
            let error = Client::new(options, bad.to_owned().into()).unwrap_err();
            assert_eq!(error, ClientError::Token);
        }
    }

    #[test]
    fn no_debug_output_shows_the_token() {
        let client = client("http://127.0.0.1:1").unwrap();
        client.set_account("EmberFork");
        let request = client.request(Method::GET, "/api/account").build().unwrap();
        for text in [
            format!("{client:?}"),
            format!("{client:#?}"),
            format!("{request:?}"),
            format!("{:?}", request.headers()),
        ] {
            assert!(!text.contains(TOKEN), "{text}");
            assert!(!text.contains("Bearer"), "{text}");
        }
    }

    #[test]
    fn a_server_that_echoes_the_token_does_not_get_it_logged() {
        let client = client("http://127.0.0.1:1").unwrap();
        let body: ErrorBody =
            serde_json::from_str(&format!(r#"{{"error":"bad token {TOKEN}\u0007!"}}"#)).unwrap();
        for status in [400, 401, 429, 500] {
            let status = StatusCode::from_u16(status).unwrap();
            let error = client.refusal(status, &body, None);
            assert!(!format!("{error} {error:?}").contains(TOKEN));
        }
    }

    #[test]
    fn error_objects_among_the_lines_are_told_from_lines() {
        let client = client("http://127.0.0.1:1").unwrap();
        let complaint = |line: &str| client.complaint(line);
        assert_eq!(complaint(r#"{"error":"Too many"}"#).as_deref(), Some("Too many"));
        let token = format!(r#"{{"error":"bad {TOKEN}"}}"#);
        assert_eq!(complaint(&token).as_deref(), Some("bad [token]"));
        for line in [
            r#"{"type":"chatLine","text":"\"error\"","error":"x"}"#,
            r#"{"type":"gameState","moves":""}"#,
            r#"{"error":null}"#,
            r#""error""#,
            "<html>",
        ] {
            assert_eq!(complaint(line), None, "{line}");
        }
    }

    #[test]
    fn the_agent_names_the_account_once_known() {
        let client = client("http://127.0.0.1:1").unwrap();
        let agent = |client: &Client| {
            let request = client.request(Method::GET, "/").build().unwrap();
            request.headers()[USER_AGENT].to_str().unwrap().to_owned()
        };
        assert_eq!(agent(&client), PROGRAM);
        client.set_account("bad name");
        assert_eq!(agent(&client), PROGRAM);
        client.set_account("EmberFork");
        assert_eq!(agent(&client), format!("{PROGRAM} user:EmberFork"));
    }

    #[test]
    fn errors_are_sorted_by_status() {
        let client = client("http://127.0.0.1:1").unwrap();
        let empty = ErrorBody::default();
        let kind = |status: u16| {
            client.refusal(StatusCode::from_u16(status).unwrap(), &empty, None).status()
        };
        for status in [302, 400, 401, 404, 429, 500, 502] {
            assert_eq!(kind(status), Some(status));
        }
    }

    #[tokio::test]
    async fn a_connection_refused_is_told_from_a_lost_answer() {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", free.local_addr().unwrap());
        drop(free);
        let error = client(&url).unwrap().account().await.unwrap_err();
        assert!(matches!(error, ApiError::Unreachable(_)), "{error:?}");
        assert!(!format!("{error} {error:?}").contains(TOKEN));
    }
}
