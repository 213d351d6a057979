//! The arena over TCP, driven by a plain HTTP client written from the published API.

use std::{collections::BTreeSet, future::Future, time::Duration};

use meitner::{
    arbiter::Termination,
    arena::{
        AccountSpec, Arena, ArenaHandle, ArenaOptions, ChallengeSpec, ColorChoice, Endpoint, Fault,
        HouseAction, HouseSpec, OpponentKind, Scope, ScriptedOpponent,
    },
    rules::{Color, History},
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinSet, time::timeout};
use tokio_util::sync::CancellationToken;

/// No wait in these tests takes longer unless something is broken.
const LIMIT: Duration = Duration::from_secs(8);

/// An arena with the bot `EmberFork` and the silent player `QuietRook7`, and a client for the bot.
struct Site {
    arena: ArenaHandle,
    client: Client,
    shutdown: CancellationToken,
    tasks: JoinSet<()>,
}

/// A client of the API with one token.
#[derive(Clone)]
struct Client {
    http: reqwest::Client,
    base: String,
    token: String,
}

/// An open NDJSON stream.
struct Lines {
    response: reqwest::Response,
    buffer: Vec<u8>,
}

/// What a stream brings next.
#[derive(Debug, PartialEq)]
enum Next {
    Line(Value),
    NotJson(String),
    KeepAlive,
    End,
    Broken,
}

async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    timeout(LIMIT, future).await.unwrap_or_else(|_| panic!("too slow: {what}"))
}

fn fast_options() -> ArenaOptions {
    ArenaOptions { presence_grace_ms: 20, gone_ms: 200, gone_notice_ms: 50, ..Default::default() }
}

impl Site {
    async fn open(options: ArenaOptions) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let base = format!("http://{}", listener.local_addr().expect("bound"));
        let arena = Arena::new(options);
        let handle = arena.handle();
        let token = handle.add_account(&AccountSpec::bot("EmberFork"));
        handle.add_house(&silent("QuietRook7"));
        let shutdown = CancellationToken::new();
        let mut tasks = JoinSet::new();
        tasks.spawn(arena.run(listener, shutdown.clone()));
        // Reqwest is built without a choice of cryptography; plain HTTP needs none, its builder does.
        let _already_chosen = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().build().expect("a client");
        Self { arena: handle, client: Client { http, base, token }, shutdown, tasks }
    }

    async fn close(mut self) {
        self.shutdown.cancel();
        let ended = within("the arena ends", self.tasks.join_next()).await;
        ended.expect("one task").expect("no panic");
    }

    fn client(&self, token: &str) -> Client {
        Client { token: token.to_owned(), ..self.client.clone() }
    }

    /// A running game in which the bot has this color, and its stream past `gameFull`.
    async fn game(&self, bot: Color) -> (String, Lines) {
        let id = self.game_without_stream(bot).await;
        let mut stream = self.client.game_stream(&id).await;
        assert_eq!(stream.line().await["type"], "gameFull");
        (id, stream)
    }

    async fn game_without_stream(&self, bot: Color) -> String {
        let house = match bot {
            Color::White => ColorChoice::Black,
            Color::Black => ColorChoice::White,
        };
        let spec = ChallengeSpec::new("QuietRook7", "EmberFork").color(house);
        let id = self.arena.challenge(&spec).expect("a challenge");
        self.client.post_ok(&format!("/api/challenge/{id}/accept")).await;
        id
    }

    fn house_plays(&self, id: &str, uci: &str) {
        self.arena.act(id, &HouseAction::Move(uci.to_owned())).expect("a legal move");
    }
}

fn silent(name: &str) -> HouseSpec {
    HouseSpec { opponent: OpponentKind::Silent, ..HouseSpec::named(name) }
}

impl Client {
    async fn send(
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

    async fn json(&self, method: Method, path: &str, body: &str) -> (StatusCode, Value) {
        let response = self.send(method, path, body).await.expect("an answer");
        let status = response.status();
        let text = within(path, response.text()).await.expect("a body");
        (status, serde_json::from_str(&text).expect("JSON"))
    }

    async fn get(&self, path: &str) -> (StatusCode, Value) {
        self.json(Method::GET, path, "").await
    }

    async fn post(&self, path: &str) -> (StatusCode, Value) {
        self.json(Method::POST, path, "").await
    }

    async fn post_ok(&self, path: &str) {
        assert_eq!(self.post(path).await, (StatusCode::OK, json!({ "ok": true })), "{path}");
    }

    async fn plays(&self, id: &str, uci: &str) {
        self.post_ok(&format!("/api/bot/game/{id}/move/{uci}")).await;
    }

    async fn stream(&self, path: &str) -> Lines {
        let response = self.send(Method::GET, path, "").await.expect("an answer");
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        assert_eq!(response.headers()["content-type"], "application/x-ndjson");
        Lines { response, buffer: Vec::new() }
    }

    async fn events(&self) -> Lines {
        self.stream("/api/stream/event").await
    }

    async fn game_stream(&self, id: &str) -> Lines {
        self.stream(&format!("/api/bot/game/stream/{id}")).await
    }
}

impl Lines {
    async fn next(&mut self) -> Next {
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
    async fn line(&mut self) -> Value {
        loop {
            match self.next().await {
                Next::Line(value) => return value,
                Next::KeepAlive => {}
                other => panic!("{other:?} instead of a line"),
            }
        }
    }

    /// The next line of this type.
    async fn line_of(&mut self, kind: &str) -> Value {
        loop {
            let line = self.line().await;
            if line["type"] == kind {
                return line;
            }
        }
    }
}

/// Names of the fields of an object and of the objects in it, such as `clock.initial`.
fn fields(value: &Value) -> BTreeSet<String> {
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
fn assert_same_fields(ours: &Value, sample: &str, optional: &[&str]) {
    let sample: Value = serde_json::from_str(sample).expect("a valid sample");
    let (ours, sample) = (fields(ours), fields(&sample));
    let is_optional = |field: &&String| !optional.iter().any(|name| field.starts_with(name));
    let unknown: Vec<_> = ours.difference(&sample).filter(is_optional).collect();
    let missing: Vec<_> = sample.difference(&ours).filter(is_optional).collect();
    assert!(unknown.is_empty() && missing.is_empty(), "unknown {unknown:?}, missing {missing:?}");
}

// Account and tokens

#[tokio::test]
async fn the_account_is_a_bot() {
    let site = Site::open(ArenaOptions::default()).await;
    let (status, account) = site.client.get("/api/account").await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!((&account["id"], &account["title"]), (&json!("emberfork"), &json!("BOT")));
    assert_eq!(account["perfs"]["atomic"]["rating"], 2000);

    let body = format!("{},no", site.client.token);
    let (_, tokens) = site.client.json(Method::POST, "/api/token/test", &body).await;
    assert_eq!(tokens["no"], Value::Null);
    assert_eq!(tokens[&site.client.token]["userId"], "emberfork");
    assert_eq!(tokens[&site.client.token]["scopes"], "bot:play,challenge:read,challenge:write");
    site.close().await;
}

#[tokio::test]
async fn tokens_and_scopes_are_checked() {
    let site = Site::open(ArenaOptions::default()).await;
    let unknown = site.client("lip_unknown").get("/api/account").await;
    assert_eq!(unknown, (StatusCode::UNAUTHORIZED, json!({ "error": "No such token" })));
    let token = site.arena.add_token("EmberFork", &[Scope::ChallengeRead]).expect("an account");
    let (status, body) = site.client(&token).post("/api/bot/game/abcd1234/resign").await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    assert_eq!(body["error"], "Missing scope: bot:play");
    let (status, body) = site.client.get("/api/nothing").await;
    assert_eq!((status, &body["error"]), (StatusCode::NOT_FOUND, &json!("Not found")));
    site.arena.revoke_token(&site.client.token);
    assert_eq!(site.client.get("/api/account").await.0, StatusCode::UNAUTHORIZED);
    site.close().await;
}

#[tokio::test]
async fn only_a_fresh_account_becomes_a_bot() {
    let site = Site::open(ArenaOptions::default()).await;
    let fresh = site.client(&site.arena.add_account(&AccountSpec::new("Newcomer")));
    let (status, body) = fresh.post("/api/bot/game/abcd1234/abort").await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(body["error"].as_str().is_some_and(|error| error.contains("Bot account")));
    fresh.post_ok("/api/bot/account/upgrade").await;
    assert_eq!(fresh.get("/api/account").await.1["title"], "BOT");
    let played = AccountSpec { games: 1, ..AccountSpec::new("Veteran") };
    let played = site.client(&site.arena.add_account(&played));
    assert_eq!(played.post("/api/bot/account/upgrade").await.0, StatusCode::BAD_REQUEST);
    site.close().await;
}

// Challenges and events

#[tokio::test]
async fn a_challenge_comes_and_becomes_a_game() {
    let site = Site::open(ArenaOptions::default()).await;
    let mut events = site.client.events().await;
    let id = site.arena.challenge(&ChallengeSpec::new("QuietRook7", "EmberFork")).expect("made");
    let event = events.line_of("challenge").await;
    let sample = include_str!("data/lichess/event-challenge.json");
    assert_same_fields(&event, sample, &["challenge.challenger.lag", "challenge.destUser.lag"]);
    assert_eq!(event["challenge"]["id"], json!(id));
    let (_, list) = site.client.get("/api/challenge").await;
    assert_eq!(list["in"][0]["direction"], "in");

    site.client.post_ok(&format!("/api/challenge/{id}/accept")).await;
    let event = events.line_of("gameStart").await;
    assert_same_fields(&event, include_str!("data/lichess/event-game-start.json"), &[]);
    let (_, playing) = site.client.get("/api/account/playing").await;
    let sample = include_str!("data/lichess/account-playing-game.json");
    assert_same_fields(&playing["nowPlaying"][0], sample, &[]);
    let (_, shown) = site.client.get(&format!("/api/challenge/{id}/show")).await;
    assert_eq!(shown["status"], "accepted");
    let again = site.client.post(&format!("/api/challenge/{id}/accept")).await;
    assert_eq!(again.0, StatusCode::BAD_REQUEST);
    site.close().await;
}

#[tokio::test]
async fn an_opened_event_stream_tells_of_games_and_waiting_challenges() {
    let site = Site::open(ArenaOptions { event_keep_alive_ms: 20, ..Default::default() }).await;
    let game = site.game_without_stream(Color::White).await;
    let waiting =
        site.arena.challenge(&ChallengeSpec::new("QuietRook7", "EmberFork")).expect("made");
    let mut events = site.client.events().await;
    let first = events.line().await;
    assert_eq!((&first["type"], &first["game"]["gameId"]), (&json!("gameStart"), &json!(game)));
    let second = events.line().await;
    assert_eq!(second["challenge"]["id"], json!(waiting));
    assert_eq!(second.get("compat"), None);
    assert_eq!(events.next().await, Next::KeepAlive);

    let mut newer = site.client.events().await;
    newer.line().await;
    while events.next().await != Next::End {}
    site.close().await;
}

#[tokio::test]
async fn the_event_stream_must_not_be_polled() {
    let site = Site::open(ArenaOptions { event_stream_openings: 1, ..Default::default() }).await;
    let _events = site.client.events().await;
    assert_eq!(site.client.get("/api/stream/event").await.0, StatusCode::TOO_MANY_REQUESTS);
    site.close().await;
}

#[tokio::test]
async fn challenges_are_declined_canceled_and_replaced() {
    let site = Site::open(ArenaOptions::default()).await;
    let mut events = site.client.events().await;
    let spec = ChallengeSpec::new("QuietRook7", "EmberFork");
    let id = site.arena.challenge(&spec).expect("made");
    let decline = format!("/api/challenge/{id}/decline");
    let (status, _) = site.client.json(Method::POST, &decline, "reason=tooFast").await;
    assert_eq!(status, StatusCode::OK);
    let declined = events.line_of("challengeDeclined").await;
    assert_eq!(declined["challenge"]["declineReasonKey"], "toofast");

    let first = site.arena.challenge(&spec).expect("made");
    let second = site.arena.challenge(&spec).expect("made");
    let (_, list) = site.client.get("/api/challenge").await;
    assert_eq!(list["in"].as_array().map(Vec::len), Some(1));
    let (status, body) = site.client.post(&format!("/api/challenge/{first}/accept")).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert_eq!(body["error"], "The challenge has been canceled.");
    site.arena.cancel_challenge(&second).expect("open");
    assert_eq!(events.line_of("challengeCanceled").await["challenge"]["id"], json!(second));
    assert_eq!(site.client.post("/api/challenge/nothing1/accept").await.0, StatusCode::NOT_FOUND);

    let burst = site.arena.burst(&silent("crowd"), &spec, 5).expect("made");
    for _ in burst {
        events.line_of("challenge").await;
    }
    site.close().await;
}

#[tokio::test]
async fn the_bot_challenges_the_house() {
    let site = Site::open(ArenaOptions::default()).await;
    let mut events = site.client.events().await;
    let challenge = |form: &'static str| {
        let client = site.client.clone();
        async move { client.json(Method::POST, "/api/challenge/QuietRook7", form).await }
    };
    let form = "rated=true&clock.limit=60&clock.increment=0&color=white&variant=atomic";
    let (status, created) = challenge(form).await;
    assert_eq!((status, &created["direction"]), (StatusCode::OK, &json!("out")));
    let sample = include_str!("data/lichess/challenge-created.json");
    assert_same_fields(&created, sample, &["destUser.lag"]);
    let started = events.line_of("gameStart").await;
    assert_eq!(
        (&started["game"]["color"], &started["game"]["rated"]),
        (&json!("white"), &json!(true))
    );

    let (_, casual) = challenge("rated=true&clock.limit=0&clock.increment=1&variant=atomic").await;
    assert_eq!(casual["rated"], false, "0+1 is never rated in atomic");
    let (status, body) = challenge("clock.limit=100&clock.increment=0&variant=atomic").await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(body["error"].is_object() && body["clock.limit"].is_array());
    let (status, _) = challenge("clock.limit=15&clock.increment=0&variant=atomic").await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "bots play no UltraBullet");
    let nobody = site.client.post("/api/challenge/nobody_here").await;
    assert_eq!(nobody.1["error"], "No such user: nobody_here");
    site.close().await;
}

#[tokio::test]
async fn a_challenge_kept_alive_says_how_it_ends() {
    let site = Site::open(ArenaOptions::default()).await;
    let form = "clock.limit=60&clock.increment=0&variant=atomic&keepAliveStream=true";
    let response = site.client.send(Method::POST, "/api/challenge/QuietRook7", form).await;
    let mut lines = Lines { response: response.expect("an answer"), buffer: Vec::new() };
    assert_eq!(lines.line().await["status"], "created");
    assert_eq!(lines.line().await, json!({ "done": "accepted" }));
    assert_eq!(lines.next().await, Next::End);
    site.close().await;
}

// Games

#[tokio::test]
async fn a_whole_random_game_is_played() {
    let site = Site::open(ArenaOptions::default()).await;
    site.arena
        .add_house(&HouseSpec { opponent: OpponentKind::Random, ..HouseSpec::named("QuietRook7") });
    let mut events = site.client.events().await;
    let id = site.game_without_stream(Color::Black).await;
    let mut stream = site.client.game_stream(&id).await;
    let full = stream.line().await;
    assert_same_fields(&full, include_str!("data/lichess/game-full.json"), &[]);
    assert_eq!(full["initialFen"], "startpos");

    let mut rng = fastrand::Rng::with_seed(11);
    let mut state = full["state"].clone();
    let mut played = 0;
    while state["status"] == "started" {
        let mut history = History::default();
        let moves = state["moves"].as_str().expect("a list of moves").to_owned();
        for uci in moves.split_whitespace() {
            history.play_uci(uci).expect("a legal move");
        }
        assert_eq!(state["wtime"].as_u64().expect("a clock") % 10, 0);
        let legal = history.position().legal_moves();
        if history.position().turn() == Color::Black
            && history.outcome().is_none()
            && moves.len() > played
        {
            played = moves.len();
            let mv = rng.choice(legal).expect("a move");
            site.client.plays(&id, &mv.to_string()).await;
        }
        state = stream.line_of("gameState").await;
    }
    assert_eq!(stream.next().await, Next::End);
    let finish = events.line_of("gameFinish").await;
    assert_eq!(finish["game"]["status"]["name"], state["status"]);
    assert_eq!(site.arena.finished()[0].moves.join(" "), state["moves"].as_str().expect("moves"));
    let counters = site.arena.counters();
    assert_eq!((counters.illegal_moves, counters.untimely_moves, counters.flags_lost), (0, 0, 0));

    let export = site.client.http.get(format!("{}/game/export/{id}", site.client.base));
    let export: Value = within("export", export.header("accept", "application/json").send())
        .await
        .expect("an answer")
        .json()
        .await
        .expect("JSON");
    let sample = include_str!("data/lichess/game-export.json");
    assert_same_fields(&export, sample, &["players", "winner"]);
    site.close().await;
}

#[tokio::test]
async fn a_king_explodes_and_the_stream_ends() {
    let site = Site::open(ArenaOptions::default()).await;
    let house = silent("QuietRook7");
    site.arena.add_house_with(&house, std::sync::Arc::new(ScriptedOpponent::new("a7a6 a6a5")));
    let (id, mut stream) = site.game(Color::White).await;
    for uci in ["g1f3", "f3e5", "e5f7"] {
        site.client.plays(&id, uci).await;
        let ours = stream.line_of("gameState").await;
        assert!(ours["moves"].as_str().is_some_and(|moves| moves.ends_with(uci)), "our own move");
        if ours["status"] == "variantEnd" {
            assert_eq!(ours["winner"], "white");
            assert_eq!(stream.next().await, Next::End);
            break;
        }
        stream.line_of("gameState").await;
    }
    assert_eq!(
        site.arena.finished()[0].ending.map(|ending| ending.by),
        Some(Termination::Explosion)
    );
    let mut again = site.client.game_stream(&id).await;
    assert_eq!(again.line().await["state"]["status"], "variantEnd");
    assert_eq!(again.next().await, Next::End);
    let pgn = site.client.send(Method::GET, &format!("/game/export/{id}"), "").await.expect("PGN");
    let pgn = pgn.text().await.expect("text");
    assert!(pgn.contains("\n1. Nf3 a6 2. Ne5 a5 3. Nxf7"), "{pgn}");
    site.close().await;
}

#[tokio::test]
async fn wrong_moves_are_refused_and_counted() {
    let site = Site::open(ArenaOptions::default()).await;
    let (id, _stream) = site.game(Color::White).await;
    let try_move = |uci: &str| {
        let (client, path) = (site.client.clone(), format!("/api/bot/game/{id}/move/{uci}"));
        async move {
            let (status, body) = client.post(&path).await;
            assert_eq!(status, StatusCode::BAD_REQUEST);
            body["error"].as_str().map(str::to_owned)
        }
    };
    assert_eq!(try_move("z9z9").await.as_deref(), Some("Invalid UCI: z9z9"));
    assert_eq!(try_move("e2e5").await.as_deref(), Some("Piece on e2 cannot move to e5"));
    site.client.plays(&id, "e2e4").await;
    let untimely = Some("Not your turn, or game already over");
    assert_eq!(try_move("d2d4").await.as_deref(), untimely);
    let counters = site.arena.counters();
    assert_eq!(
        (counters.malformed_moves, counters.illegal_moves, counters.untimely_moves),
        (1, 1, 1)
    );
    let other = site.client(&site.arena.add_account(&AccountSpec::bot("soot-engine")));
    let (status, body) = other.post(&format!("/api/bot/game/{id}/resign")).await;
    assert_eq!((status, &body["error"]), (StatusCode::NOT_FOUND, &json!("Not your game")));
    let (status, body) = other.post("/api/bot/game/nothing1/resign").await;
    assert_eq!((status, &body["error"]), (StatusCode::NOT_FOUND, &json!("No such game")));
    site.close().await;
}

#[tokio::test]
async fn a_flag_falls_by_itself() {
    let site = Site::open(ArenaOptions::default()).await;
    let spec = ChallengeSpec::new("QuietRook7", "EmberFork")
        .clock(Duration::from_millis(300), Duration::from_secs(1))
        .color(ColorChoice::Black);
    let id = site.arena.challenge(&spec).expect("made");
    site.client.post_ok(&format!("/api/challenge/{id}/accept")).await;
    let mut stream = site.client.game_stream(&id).await;
    stream.line().await;
    site.client.plays(&id, "g1f3").await;
    site.house_plays(&id, "f7f6");
    let last = loop {
        let state = stream.line_of("gameState").await;
        if state["status"] != "started" {
            break state;
        }
    };
    assert_eq!((&last["status"], &last["winner"]), (&json!("outoftime"), &json!("black")));
    assert_eq!(last["wtime"], 0);
    assert_eq!(site.arena.counters().flags_lost, 1);
    site.close().await;
}

#[tokio::test]
async fn a_game_is_aborted_early_and_resigned_late() {
    let site = Site::open(ArenaOptions::default()).await;
    let mut events = site.client.events().await;
    let (id, mut stream) = site.game(Color::White).await;
    site.client.post_ok(&format!("/api/bot/game/{id}/abort")).await;
    let last = stream.line_of("gameState").await;
    assert_eq!((&last["status"], last.get("winner")), (&json!("aborted"), None));
    assert_eq!(events.line_of("gameFinish").await["game"]["status"]["id"], 25);

    let (id, mut stream) = site.game(Color::White).await;
    site.client.plays(&id, "g1f3").await;
    site.house_plays(&id, "f7f6");
    let (status, body) = site.client.post(&format!("/api/bot/game/{id}/abort")).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert_eq!(body["error"], "This game can no longer be aborted");
    site.client.post_ok(&format!("/api/bot/game/{id}/resign")).await;
    let last = loop {
        let state = stream.line_of("gameState").await;
        if state["status"] != "started" {
            break state;
        }
    };
    assert_eq!((&last["status"], &last["winner"]), (&json!("resign"), &json!("black")));
    let again = site.client.post(&format!("/api/bot/game/{id}/resign")).await;
    assert_eq!(
        again,
        (StatusCode::BAD_REQUEST, json!({ "error": "This game cannot be resigned" }))
    );
    let counters = site.arena.counters();
    assert_eq!((counters.aborted, counters.resigned, counters.refused_commands), (1, 1, 2));
    site.close().await;
}

#[tokio::test]
async fn draws_takebacks_and_chat() {
    let site = Site::open(ArenaOptions::default()).await;
    let (id, mut stream) = site.game(Color::White).await;
    site.client.plays(&id, "g1f3").await;
    site.house_plays(&id, "f7f6");
    site.arena.act(&id, &HouseAction::ProposeTakeback).expect("carried out");
    let proposed = loop {
        let state = stream.line_of("gameState").await;
        if state.get("btakeback").is_some() {
            break state;
        }
    };
    assert_eq!(proposed["btakeback"], true);
    site.client.post_ok(&format!("/api/bot/game/{id}/takeback/yes")).await;
    assert_eq!(stream.line_of("gameState").await["moves"], "g1f3");

    site.house_plays(&id, "e7e6");
    site.arena.act(&id, &HouseAction::OfferDraw).expect("carried out");
    stream.line_of("gameState").await;
    let offered = stream.line_of("gameState").await;
    assert_eq!((&offered["bdraw"], offered.get("wdraw")), (&json!(true), None));
    assert_eq!(stream.line_of("chatLine").await["username"], "lichess");
    let say = |text: &str| {
        let (client, path) = (site.client.clone(), format!("/api/bot/game/{id}/chat"));
        let form = format!("room=player&text={text}");
        async move { client.json(Method::POST, &path, &form).await.0 }
    };
    assert_eq!(say("Good+luck%21").await, StatusCode::OK);
    assert_eq!(say(&"x".repeat(141)).await, StatusCode::BAD_REQUEST);
    let line = stream.line_of("chatLine").await;
    assert_eq!((&line["username"], &line["text"]), (&json!("EmberFork"), &json!("Good luck!")));
    let (_, chat) = site.client.get(&format!("/api/bot/game/{id}/chat")).await;
    assert_eq!(
        chat.as_array().and_then(|lines| lines.last()).map(fields),
        Some(BTreeSet::from(["text".to_owned(), "user".to_owned()]))
    );
    site.client.post_ok(&format!("/api/bot/game/{id}/move/e2e3?offeringDraw=true")).await;
    let last = stream.line_of("gameState").await;
    assert_eq!((&last["status"], &last["moves"]), (&json!("draw"), &json!("g1f3 e7e6")));
    site.close().await;
}

#[tokio::test]
async fn an_absent_opponent_can_be_claimed() {
    let site = Site::open(fast_options()).await;
    let (id, mut stream) = site.game(Color::White).await;
    site.client.plays(&id, "g1f3").await;
    site.house_plays(&id, "f7f6");
    site.client.plays(&id, "e2e3").await;
    site.arena.act(&id, &HouseAction::Leave).expect("carried out");
    let claim = format!("/api/bot/game/{id}/claim-victory");
    assert_eq!(site.client.post(&claim).await.0, StatusCode::BAD_REQUEST, "too early");
    let gone = stream.line_of("opponentGone").await;
    assert_eq!((&gone["gone"], &gone["claimWinInSeconds"]), (&json!(true), &json!(1)));
    site.arena.act(&id, &HouseAction::Return).expect("carried out");
    let back = loop {
        let line = stream.line_of("opponentGone").await;
        if line["gone"] == false {
            break line;
        }
    };
    assert_eq!(back.get("claimWinInSeconds"), None);
    site.arena.act(&id, &HouseAction::Leave).expect("carried out");
    while stream.line_of("opponentGone").await["claimWinInSeconds"] != 0 {}
    site.client.post_ok(&claim).await;
    let last = stream.line_of("gameState").await;
    assert_eq!((&last["status"], &last["winner"]), (&json!("timeout"), &json!("white")));
    site.close().await;
}

#[tokio::test]
async fn the_house_claims_the_game_of_a_bot_without_stream() {
    let site = Site::open(fast_options()).await;
    let (id, stream) = site.game(Color::White).await;
    site.client.plays(&id, "g1f3").await;
    site.house_plays(&id, "f7f6");
    drop(stream);
    within("the claim", site.arena.wait_until(|arena| !arena.finished().is_empty())).await;
    let ending = site.arena.finished()[0].ending.expect("over");
    assert_eq!((ending.by, ending.winner), (Termination::Abandonment, Some(Color::Black)));
    site.close().await;
}

#[tokio::test]
async fn two_bots_play_and_watchers_see_it() {
    let site = Site::open(ArenaOptions::default()).await;
    let other = site.client(&site.arena.add_account(&AccountSpec::bot("soot-engine")));
    let mut watch = site.arena.watch();
    let form = "clock.limit=60&clock.increment=0&variant=atomic&color=white&rated=true";
    let (_, created) = site.client.json(Method::POST, "/api/challenge/soot-engine", form).await;
    let id = created["id"].as_str().expect("an id").to_owned();
    other.post_ok(&format!("/api/challenge/{id}/accept")).await;
    let mut stream = other.game_stream(&id).await;
    stream.line().await;
    for (n, uci) in ["f2f4", "e7e6", "g2g4", "d8h4"].into_iter().enumerate() {
        let mover = if n % 2 == 0 { &site.client } else { &other };
        mover.plays(&id, uci).await;
    }
    let mut last = stream.line_of("gameState").await;
    while last["status"] == "started" {
        last = stream.line_of("gameState").await;
    }
    assert_eq!((&last["status"], &last["winner"]), (&json!("mate"), &json!("black")));
    let mut seen = Vec::new();
    while let Ok(snapshot) = watch.try_recv() {
        seen.push(snapshot.moves.len());
    }
    assert_eq!(seen, [0, 1, 2, 3, 4]);
    assert_eq!(other.get("/api/account").await.1["perfs"]["atomic"]["rating"], 2008);
    site.close().await;
}

// Faults

#[tokio::test]
async fn refusals_by_fault_carry_nothing_out() {
    let site = Site::open(ArenaOptions::default()).await;
    let (id, _stream) = site.game(Color::White).await;
    let path = format!("/api/bot/game/{id}/move/e2e4");
    let plain = Fault::TooManyRequests { retry_after: None, ratelimit: None, html: false };
    site.arena.inject(Endpoint::Move, plain);
    let (status, body) = site.client.post(&path).await;
    assert_eq!((status, body.get("ratelimit")), (StatusCode::TOO_MANY_REQUESTS, None));

    let ratelimit = Some(("bot.vsBot.day".to_owned(), 60));
    let full = Fault::TooManyRequests { retry_after: Some(7), ratelimit, html: false };
    site.arena.inject(Endpoint::Move, full);
    let response = site.client.send(Method::POST, &path, "").await.expect("an answer");
    assert_eq!(response.headers()["retry-after"], "7");
    let body: Value = response.json().await.expect("JSON");
    assert_eq!(body["ratelimit"], json!({ "key": "bot.vsBot.day", "seconds": 60 }));

    let html = Fault::TooManyRequests { retry_after: None, ratelimit: None, html: true };
    for (fault, status) in [(html, 429), (Fault::ServerError { status: 502 }, 502)] {
        site.arena.inject(Endpoint::Move, fault);
        let response = site.client.send(Method::POST, &path, "").await.expect("an answer");
        assert_eq!(response.status().as_u16(), status);
        assert_eq!(response.headers()["content-type"], "text/html");
    }
    assert_eq!(site.arena.game(&id).expect("running").moves.len(), 0);
    assert_eq!(site.arena.faults().struck().len(), 4);
    site.client.plays(&id, "e2e4").await;
    site.close().await;
}

#[tokio::test]
async fn answers_are_lost_hung_and_late() {
    let site = Site::open(ArenaOptions::default()).await;
    let (id, _stream) = site.game(Color::White).await;
    let moves = |site: &Site| site.arena.game(&id).expect("running").moves.len();
    site.arena.inject(Endpoint::Move, Fault::LostAnswer);
    let path = format!("/api/bot/game/{id}/move/g1f3");
    assert!(site.client.send(Method::POST, &path, "").await.is_err());
    assert_eq!(moves(&site), 1, "the move was played");

    site.house_plays(&id, "f7f6");
    site.arena.inject(Endpoint::Move, Fault::HungRequest);
    let path = format!("{}/api/bot/game/{id}/move/e2e3", site.client.base);
    let hung = || {
        let request = site.client.http.post(&path).bearer_auth(&site.client.token);
        request.timeout(Duration::from_millis(150)).send()
    };
    assert!(hung().await.is_err_and(|error| error.is_timeout()));
    assert_eq!(moves(&site), 2, "nothing was carried out");
    site.arena.inject(Endpoint::Move, Fault::HungAnswer);
    assert!(hung().await.is_err_and(|error| error.is_timeout()));
    assert_eq!(moves(&site), 3, "the move was played");

    site.arena.inject(Endpoint::Account, Fault::Delay { ms: 120 });
    let begin = std::time::Instant::now();
    assert_eq!(site.client.get("/api/account").await.0, StatusCode::OK);
    assert!(begin.elapsed() >= Duration::from_millis(120));
    site.close().await;
}

#[tokio::test]
async fn game_streams_break_and_are_opened_again() {
    let site = Site::open(fast_options()).await;
    let (id, mut stream) = site.game(Color::White).await;
    site.arena.inject(Endpoint::GameStream, Fault::Cut);
    assert_eq!(stream.next().await, Next::Broken, "cut while idle");
    assert!(!stream.buffer.is_empty(), "in the middle of a line");

    let mut stream = site.client.game_stream(&id).await;
    stream.line().await;
    site.arena.inject(Endpoint::GameStream, Fault::End);
    assert_eq!(stream.next().await, Next::End);

    site.arena.faults().inject_after(Endpoint::GameStream, Fault::Cut, 1);
    let mut stream = site.client.game_stream(&id).await;
    assert_eq!(stream.line().await["type"], "gameFull");
    site.client.plays(&id, "g1f3").await;
    assert_eq!(stream.next().await, Next::Broken);
    let mut stream = site.client.game_stream(&id).await;
    assert_eq!(stream.line().await["state"]["moves"], "g1f3");
    site.close().await;
}

#[tokio::test]
async fn a_stalled_stream_is_silent() {
    let options = ArenaOptions { event_keep_alive_ms: 20, ..ArenaOptions::default() };
    let site = Site::open(options).await;
    let mut events = site.client.events().await;
    assert_eq!(events.next().await, Next::KeepAlive);
    site.arena.inject(Endpoint::EventStream, Fault::Stall);
    let silence = timeout(Duration::from_millis(150), async {
        // What was under way when the fault struck may still arrive.
        loop {
            assert_eq!(events.next().await, Next::KeepAlive);
        }
    });
    silence.await.expect_err("silence, and no end");
    let struck = site.arena.faults().struck();
    assert_eq!(struck, [(Endpoint::EventStream, Fault::Stall)]);
    let idle = timeout(Duration::from_millis(100), events.response.chunk()).await;
    assert!(idle.is_err(), "no keep-alive any more");
    site.close().await;
}

#[tokio::test]
async fn lines_come_in_pieces_twice_together_and_with_unknown_things() {
    let site = Site::open(ArenaOptions::default()).await;
    let id = site.game_without_stream(Color::White).await;
    site.arena.inject(Endpoint::GameStream, Fault::Split);
    let mut stream = site.client.game_stream(&id).await;
    let mut chunks = 0;
    while !stream.buffer.contains(&b'\n') {
        let chunk = within("a piece", stream.response.chunk()).await.expect("a piece");
        stream.buffer.extend_from_slice(&chunk.expect("no end"));
        chunks += 1;
    }
    assert!(chunks > 3, "{chunks} chunks");
    assert_eq!(stream.line().await["type"], "gameFull");

    site.arena.inject(Endpoint::GameStream, Fault::Duplicate);
    site.client.plays(&id, "g1f3").await;
    assert_eq!(stream.line().await, stream.line().await);
    site.arena.inject(Endpoint::GameStream, Fault::UnknownFields);
    site.house_plays(&id, "f7f6");
    assert_eq!(stream.line().await["type"], "weather");
    assert!(stream.line().await["futureField"].is_object());
    site.arena.inject(Endpoint::GameStream, Fault::Garbage);
    site.client.plays(&id, "e2e3").await;
    assert!(matches!(stream.next().await, Next::NotJson(_)));
    assert_eq!(stream.line().await["moves"], "g1f3 f7f6 e2e3");
    site.arena.inject(Endpoint::GameStream, Fault::Merge);
    site.house_plays(&id, "e7e6");
    let chunk = within("a chunk", stream.response.chunk()).await.expect("a chunk").expect("no end");
    assert!(chunk.ends_with(b"}\n\n"), "a line and a keep-alive in one chunk");
    site.close().await;
}

#[tokio::test]
async fn an_outage_breaks_connections_and_refuses_new_ones() {
    let site = Site::open(ArenaOptions::default()).await;
    let mut events = site.client.events().await;
    site.arena.begin_outage(Duration::from_millis(200));
    assert_eq!(events.next().await, Next::Broken);
    assert!(site.client.send(Method::GET, "/api/account", "").await.is_err());
    let recovered = async {
        while site.client.send(Method::GET, "/api/account", "").await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    within("the end of the outage", recovered).await;
    site.close().await;
}
