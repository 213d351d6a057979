//! Faults of streams: resets, deafness, error lines, late and missing lines, wrong lists of moves.

use std::time::{Duration, Instant};

use meitner::{
    arena::{ArenaOptions, ChallengeSpec, Endpoint, Fault},
    rules::{Color, History},
};
use serde_json::json;
use tokio::time::timeout;

use crate::{
    harness::{Next, Site, fast_options, within},
    request_faults::is_reset,
};

#[tokio::test]
async fn an_open_stream_is_reset() {
    let site = Site::open(ArenaOptions::default()).await;
    let (id, mut stream) = site.game(Color::White).await;
    let mut events = site.client.events().await;
    events.line_of("gameStart").await;
    site.arena.inject(Endpoint::GameStream, Fault::Reset);
    site.arena.inject(Endpoint::EventStream, Fault::Reset);
    for stream in [&mut stream, &mut events] {
        let end = async {
            loop {
                match stream.response.chunk().await {
                    Ok(Some(_)) => {}
                    Ok(None) => panic!("a proper end"),
                    Err(error) => break error,
                }
            }
        };
        let error = within("the reset", end).await;
        assert!(is_reset(&error), "{error:?}");
    }
    let mut again = site.client.game_stream(&id).await;
    assert_eq!(again.line().await["type"], "gameFull");
    site.close().await;
}

#[tokio::test]
async fn a_deaf_stream_has_keep_alives_and_no_lines() {
    let options =
        ArenaOptions { event_keep_alive_ms: 20, game_keep_alive_ms: 20, ..fast_options() };
    let site = Site::open(options).await;
    let (id, mut stream) = site.game(Color::White).await;
    let mut events = site.client.events().await;
    events.line_of("gameStart").await;
    site.arena.inject(Endpoint::GameStream, Fault::Deaf);
    site.arena.inject(Endpoint::EventStream, Fault::Deaf);
    let struck = async {
        while site.arena.faults().struck().len() < 2 {
            events.next().await;
        }
    };
    within("both faults strike", struck).await;
    site.client.plays(&id, "e2e4").await;
    site.client.post_ok(&format!("/api/bot/game/{id}/abort")).await;
    site.arena.challenge(&ChallengeSpec::new("QuietRook7", "EmberFork")).expect("made");
    for stream in [&mut stream, &mut events] {
        for _ in 0..4 {
            assert_eq!(stream.next().await, Next::KeepAlive);
        }
    }
    let (_, playing) = site.client.get("/api/account/playing").await;
    assert_eq!(playing["nowPlaying"], json!([]), "the answers tell what the streams do not");
    let mut events = site.client.events().await;
    assert_eq!(events.line().await["type"], "challenge", "a new stream hears again");
    site.close().await;
}

#[tokio::test]
async fn an_error_object_comes_as_a_line() {
    let site = Site::open(ArenaOptions::default()).await;
    let (id, mut stream) = site.game(Color::White).await;
    let fault = || Fault::ErrorLine { text: "Too many requests".to_owned() };
    site.arena.inject(Endpoint::GameStream, fault());
    assert_eq!(stream.line().await, json!({ "error": "Too many requests" }), "while idle");
    site.arena.faults().inject_after(Endpoint::GameStream, fault(), 1);
    site.client.plays(&id, "e2e4").await;
    assert_eq!(stream.line().await["moves"], "e2e4");
    site.house_plays(&id, "e7e5");
    assert_eq!(stream.line().await, json!({ "error": "Too many requests" }));
    assert_eq!(stream.line().await["moves"], "e2e4 e7e5", "the stream goes on");
    site.close().await;
}

#[tokio::test]
async fn a_line_comes_late_while_keep_alives_go_on() {
    let site = Site::open(ArenaOptions { game_keep_alive_ms: 20, ..fast_options() }).await;
    let (id, mut stream) = site.game(Color::White).await;
    site.arena.inject(Endpoint::GameStream, Fault::DelayLine { ms: 200 });
    let begin = Instant::now();
    site.client.plays(&id, "e2e4").await;
    site.house_plays(&id, "e7e5");
    let mut keep_alives = 0;
    let first = loop {
        match stream.next().await {
            Next::KeepAlive => keep_alives += 1,
            Next::Line(line) => break line,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(first["moves"], "e2e4");
    assert!(begin.elapsed() >= Duration::from_millis(200) && keep_alives >= 3, "{keep_alives}");
    assert_eq!(stream.line().await["moves"], "e2e4 e7e5", "in order");
    site.close().await;
}

#[tokio::test]
async fn a_line_is_dropped_and_the_list_grows_by_two() {
    let site = Site::open(ArenaOptions::default()).await;
    let id = site.game_without_stream(Color::White).await;
    site.arena.inject(Endpoint::GameStream, Fault::DropLine);
    let mut stream = site.client.game_stream(&id).await;
    assert_eq!(stream.line().await["type"], "gameFull", "never dropped");
    site.client.plays(&id, "e2e4").await;
    site.house_plays(&id, "e7e5");
    assert_eq!(stream.line().await["moves"], "e2e4 e7e5");
    site.close().await;
}

#[tokio::test]
async fn lists_of_moves_are_contradicted_and_stale() {
    let site = Site::open(ArenaOptions::default()).await;
    let (id, mut stream) = site.game(Color::White).await;
    site.client.plays(&id, "e2e4").await;
    site.house_plays(&id, "e7e5");
    site.client.plays(&id, "d2d4").await;
    for _ in 0..3 {
        stream.line_of("gameState").await;
    }
    site.arena.inject(Endpoint::GameStream, Fault::Rewrite);
    site.house_plays(&id, "d7d5");
    let line = stream.line_of("gameState").await;
    let moves: Vec<_> = line["moves"].as_str().expect("a list").split(' ').collect();
    assert_eq!((moves.len(), &moves[..2]), (4, &["e2e4", "e7e5"][..]));
    assert_ne!(moves[2], "d2d4", "it contradicts the line before");
    let mut history = History::default();
    for uci in moves {
        history.play_uci(uci).expect("a legal move");
    }
    let mut again = site.client.game_stream(&id).await;
    assert_eq!(again.line().await["state"]["moves"], "e2e4 e7e5 d2d4 d7d5");

    site.arena.inject(Endpoint::GameStream, Fault::Shrink);
    site.client.plays(&id, "g1f3").await;
    assert_eq!(again.line().await["moves"], "e2e4 e7e5 d2d4");
    assert_eq!(again.line().await["moves"], "e2e4 e7e5 d2d4 d7d5 g1f3");
    let more = timeout(Duration::from_millis(50), again.line()).await;
    assert!(more.is_err(), "once only: {more:?}");
    site.close().await;
}
