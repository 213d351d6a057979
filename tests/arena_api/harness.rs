//! The server under test, and a plain client of its API.

use std::{collections::BTreeSet, future::Future, time::Duration};

use meitner::{
    arena::{
        AccountSpec, Arena, ArenaHandle, ArenaOptions, ChallengeSpec, ColorChoice, HouseAction,
        HouseSpec, OpponentKind,
    },
    rules::Color,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinSet, time::timeout};
use tokio_util::sync::CancellationToken;

/// No wait in these tests takes longer unless something is broken.
pub(crate) const LIMIT: Duration = Duration::from_secs(8);

/// An arena with the bot `EmberFork` and the silent player `QuietRook7`, and a client for the bot.
pub(crate) struct Site {
    pub(crate) arena: ArenaHandle,
    pub(crate) client: Client,
    shutdown: CancellationToken,
    tasks: JoinSet<()>,
}

/// A client of the API with one token.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) http: reqwest::Client,
    pub(crate) base: String,
    pub(crate) token: String,
}

/// An open NDJSON stream.
pub(crate) struct Lines {
    pub(crate) response: reqwest::Response,
    pub(crate) buffer: Vec<u8>,
}

/// What a stream brings next.
#[derive(Debug, PartialEq)]
pub(crate) enum Next {
    Line(Value),
    NotJson(String),
    KeepAlive,
    End,
    Broken,
}

pub(crate) async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    timeout(LIMIT, future).await.map_err(|_| format!("too slow: {what}")).expect("in time")
}

pub(crate) fn fast_options() -> ArenaOptions {
    ArenaOptions { presence_grace_ms: 20, gone_ms: 600, gone_notice_ms: 50, ..Default::default() }
}

impl Site {
    pub(crate) async fn open(options: ArenaOptions) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let base = format!("http://{}", listener.local_addr().expect("bound"));
        let arena = Arena::new(options);
        let handle = arena.handle();
        let token = handle.add_account(&AccountSpec::bot("EmberFork"));
        handle.add_house(&silent("QuietRook7"));
        let shutdown = CancellationToken::new();
        let mut tasks = JoinSet::new();
        tasks.spawn(arena.run(listener, shutdown.clone()));
        // Plain HTTP needs no cryptography, but the client cannot be built without a choice.
        let _already_chosen = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().build().expect("a client");
        Self { arena: handle, client: Client { http, base, token }, shutdown, tasks }
    }

    pub(crate) async fn close(mut self) {
        self.shutdown.cancel();
        let ended = within("the arena ends", self.tasks.join_next()).await;
        ended.expect("one task").expect("no panic");
    }

    pub(crate) fn client(&self, token: &str) -> Client {
        Client { token: token.to_owned(), ..self.client.clone() }
    }

    /// A running game in which the bot has this color, and its stream past `gameFull`.
    pub(crate) async fn game(&self, bot: Color) -> (String, Lines) {
        let id = self.game_without_stream(bot).await;
        let mut stream = self.client.game_stream(&id).await;
        assert_eq!(stream.line().await["type"], "gameFull");
        (id, stream)
    }

    pub(crate) async fn game_without_stream(&self, bot: Color) -> String {
        let house = match bot {
            Color::White => ColorChoice::Black,
            Color::Black => ColorChoice::White,
        };
        let spec = ChallengeSpec::new("QuietRook7", "EmberFork").color(house);
        let id = self.arena.challenge(&spec).expect("a challenge");
        self.client.post_ok(&format!("/api/challenge/{id}/accept")).await;
        id
    }

    pub(crate) fn house_plays(&self, id: &str, uci: &str) {
        self.arena.act(id, &HouseAction::Move(uci.to_owned())).expect("a legal move");
    }
}

pub(crate) fn silent(name: &str) -> HouseSpec {
    HouseSpec { opponent: OpponentKind::Silent, ..HouseSpec::named(name) }
}

impl Client {
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        body: &str,
    ) -> reqwest::Result<reqwest::Response> {
        let request = self
            .http
            .request(method, format!("{}{path}", self.base))
            .bearer_auth(&self.token)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(body.to_owned());
        within(path, request.send()).await
    }

    pub(crate) async fn json(&self, method: Method, path: &str, body: &str) -> (StatusCode, Value) {
        let response = self.send(method, path, body).await.expect("an answer");
        let status = response.status();
        let text = within(path, response.text()).await.expect("a body");
        (status, serde_json::from_str(&text).expect("JSON"))
    }

    pub(crate) async fn get(&self, path: &str) -> (StatusCode, Value) {
        self.json(Method::GET, path, "").await
    }

    pub(crate) async fn post(&self, path: &str) -> (StatusCode, Value) {
        self.json(Method::POST, path, "").await
    }

    pub(crate) async fn post_ok(&self, path: &str) {
        assert_eq!(self.post(path).await, (StatusCode::OK, json!({ "ok": true })), "{path}");
    }

    pub(crate) async fn plays(&self, id: &str, uci: &str) {
        self.post_ok(&format!("/api/bot/game/{id}/move/{uci}")).await;
    }

    pub(crate) async fn stream(&self, path: &str) -> Lines {
        let response = self.send(Method::GET, path, "").await.expect("an answer");
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        assert_eq!(response.headers()["content-type"], "application/x-ndjson");
        Lines { response, buffer: Vec::new() }
    }

    pub(crate) async fn events(&self) -> Lines {
        self.stream("/api/stream/event").await
    }

    pub(crate) async fn game_stream(&self, id: &str) -> Lines {
        self.stream(&format!("/api/bot/game/stream/{id}")).await
    }
}

impl Lines {
    pub(crate) async fn next(&mut self) -> Next {
        loop {
            if let Some(end) = self.buffer.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                let line = String::from_utf8_lossy(&line[..end]).into_owned();
                return match serde_json::from_str(&line) {
                    _ if line.is_empty() => Next::KeepAlive,
                    Ok(value) => Next::Line(value),
                    Err(_) => Next::NotJson(line),
                };
            }
            match within("the next line", self.response.chunk()).await {
                Ok(Some(chunk)) => self.buffer.extend_from_slice(&chunk),
                Ok(None) => return Next::End,
                Err(_) => return Next::Broken,
            }
        }
    }

    /// The next line that is no keep-alive.
    pub(crate) async fn line(&mut self) -> Value {
        loop {
            match self.next().await {
                Next::Line(value) => return value,
                other => assert_eq!(other, Next::KeepAlive, "instead of a line"),
            }
        }
    }

    /// The next line of this type.
    pub(crate) async fn line_of(&mut self, kind: &str) -> Value {
        loop {
            let line = self.line().await;
            if line["type"] == kind {
                return line;
            }
        }
    }
}

/// Names of the fields of an object and of the objects in it, such as `clock.initial`.
pub(crate) fn fields(value: &Value) -> BTreeSet<String> {
    let Value::Object(object) = value else { return BTreeSet::new() };
    object
        .iter()
        .flat_map(|(name, value)| {
            let inner = fields(value).into_iter().map(move |inner| format!("{name}.{inner}"));
            std::iter::once(name.clone()).chain(inner)
        })
        .collect()
}

/// All fields of `ours` are in the sample, and all of the sample but the optional ones in ours.
pub(crate) fn assert_same_fields(ours: &Value, sample: &str, optional: &[&str]) {
    let sample: Value = serde_json::from_str(sample).expect("a valid sample");
    let (ours, sample) = (fields(ours), fields(&sample));
    let is_optional = |field: &&String| !optional.iter().any(|name| field.starts_with(name));
    let unknown: Vec<_> = ours.difference(&sample).filter(is_optional).collect();
    let missing: Vec<_> = sample.difference(&ours).filter(is_optional).collect();
    assert!(unknown.is_empty() && missing.is_empty(), "unknown {unknown:?}, missing {missing:?}");
}
