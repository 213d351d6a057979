//! The event stream and the life of challenges.

use meitner::{
    arena::{ArenaOptions, ChallengeSpec},
    rules::Color,
};
use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::harness::{Lines, Next, Site, assert_same_fields, silent};

#[tokio::test]
async fn a_challenge_comes_and_becomes_a_game() {
    let site = Site::open(ArenaOptions::default()).await;
    let mut events = site.client.events().await;
    let id = site.arena.challenge(&ChallengeSpec::new("QuietRook7", "EmberFork")).expect("made");
    let event = events.line_of("challenge").await;
    let sample = include_str!("../data/lichess/event-challenge.json");
    assert_same_fields(&event, sample, &["challenge.challenger.lag", "challenge.destUser.lag"]);
    assert_eq!(event["challenge"]["id"], json!(id));
    let (_, list) = site.client.get("/api/challenge").await;
    assert_eq!(list["in"][0]["direction"], "in");

    site.client.post_ok(&format!("/api/challenge/{id}/accept")).await;
    let event = events.line_of("gameStart").await;
    assert_same_fields(&event, include_str!("../data/lichess/event-game-start.json"), &[]);
    let (_, playing) = site.client.get("/api/account/playing").await;
    let sample = include_str!("../data/lichess/account-playing-game.json");
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
    let sample = include_str!("../data/lichess/challenge-created.json");
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
