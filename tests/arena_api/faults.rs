//! Each fault once: what the client sees, and what was carried out.

use std::time::Duration;

use meitner::{
    arena::{ArenaOptions, Endpoint, Fault, FaultRule, HouseSpec, OpponentKind},
    rules::{Color, History},
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::harness::{Lines, Next, Site, fast_options, silent, within};

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
    let played = site.arena.wait_until(|arena| arena.game(&id).is_some_and(|g| g.moves.len() == 3));
    within("the move is played", played).await;

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
    site.arena.begin_outage(Duration::from_millis(500));
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

/// Faults of every kind at random, at rates that leave a stubborn client a chance.
fn storm() -> Vec<FaultRule> {
    let rule = |endpoint, fault, rate| FaultRule { endpoint, fault, rate };
    let busy = Fault::TooManyRequests { retry_after: None, ratelimit: None, html: true };
    let mut rules = vec![
        rule(Endpoint::Move, Fault::LostAnswer, 0.1),
        rule(Endpoint::Move, Fault::HungAnswer, 0.03),
        rule(Endpoint::Move, Fault::HungRequest, 0.03),
        rule(Endpoint::Move, Fault::ServerError { status: 504 }, 0.1),
        rule(Endpoint::Move, busy, 0.05),
        rule(Endpoint::GameStream, Fault::ServerError { status: 502 }, 0.2),
    ];
    for fault in [Fault::Cut, Fault::End, Fault::Split, Fault::Merge] {
        rules.push(rule(Endpoint::GameStream, fault, 0.05));
    }
    for fault in [Fault::Stall, Fault::Duplicate, Fault::UnknownFields, Fault::Garbage] {
        rules.push(rule(Endpoint::GameStream, fault, 0.03));
    }
    rules
}

/// Plays Black at random from one opening of the stream, until it breaks or the game ends.
/// Returns the final status.
async fn play_until_broken(site: &Site, id: &str, rng: &mut fastrand::Rng) -> Option<String> {
    let silence = Duration::from_millis(250);
    let path = format!("/api/bot/game/stream/{id}");
    let response = site.client.send(Method::GET, &path, "").await.ok()?;
    if response.status() != StatusCode::OK {
        return None;
    }
    let mut stream = Lines { response, buffer: Vec::new() };
    let mut answered = None;
    loop {
        let line = match timeout(silence, stream.next()).await.ok()? {
            Next::Line(line) => line,
            Next::KeepAlive | Next::NotJson(_) => continue,
            Next::End | Next::Broken => return None,
        };
        let state = if line["type"] == "gameFull" { &line["state"] } else { &line };
        let Some(moves) = state["moves"].as_str() else { continue };
        if state["status"] != "started" {
            return state["status"].as_str().map(str::to_owned);
        }
        let mut history = History::default();
        for uci in moves.split_whitespace() {
            history.play_uci(uci).expect("a legal move");
        }
        let is_our_turn = history.position().turn() == Color::Black && history.outcome().is_none();
        if is_our_turn && answered != Some(moves.len()) {
            answered = Some(moves.len());
            let mv = rng.choice(history.position().legal_moves()).expect("a move");
            let path = format!("{}/api/bot/game/{id}/move/{mv}", site.client.base);
            let request = site.client.http.post(&path).bearer_auth(&site.client.token);
            let response = request.timeout(silence).send().await.ok()?;
            if response.status() != StatusCode::OK {
                return None;
            }
        }
    }
}

#[tokio::test]
async fn a_stubborn_client_finishes_its_game_in_a_storm() {
    let options = ArenaOptions { seed: 5, game_keep_alive_ms: 50, ..ArenaOptions::default() };
    let site = Site::open(options).await;
    site.arena.add_house(&HouseSpec { opponent: OpponentKind::Random, ..silent("QuietRook7") });
    let id = site.game_without_stream(Color::Black).await;
    site.arena.faults().set_rules(storm());
    let mut rng = fastrand::Rng::with_seed(5);
    let finished = async {
        loop {
            if let Some(status) = play_until_broken(&site, &id, &mut rng).await {
                break status;
            }
        }
    };
    let status = timeout(Duration::from_secs(20), finished).await.expect("in time");
    assert_eq!(site.arena.game(&id).map(|game| game.status), Some(status.as_str()));
    assert_eq!(site.arena.counters().illegal_moves, 0);
    assert!(site.arena.faults().struck().len() > 3);
    site.close().await;
}
