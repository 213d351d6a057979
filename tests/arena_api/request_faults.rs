//! Faults of single requests: refused, answered wrongly, late, reset.

use std::{
    error::Error as _,
    io,
    time::{Duration, Instant},
};

use meitner::{
    arena::{ArenaOptions, Endpoint, Fault},
    rules::Color,
};
use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::harness::{Site, within};

/// Whether the connection was reset, and not just closed.
pub(crate) fn is_reset(error: &reqwest::Error) -> bool {
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return error.kind() == io::ErrorKind::ConnectionReset;
        }
        cause = error.source();
    }
    false
}

#[tokio::test]
async fn a_legal_move_is_refused_once_and_not_counted() {
    let site = Site::open(ArenaOptions::default()).await;
    let (id, _stream) = site.game(Color::White).await;
    site.arena.inject(Endpoint::Move, Fault::RefuseMove);
    let (status, body) = site.client.post(&format!("/api/bot/game/{id}/move/e2e4")).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(body["error"].is_string());
    assert_eq!(site.arena.game(&id).expect("running").moves.len(), 0);
    site.client.plays(&id, "e2e4").await;
    let counters = site.arena.counters();
    assert_eq!((counters.illegal_moves, counters.untimely_moves), (0, 0));
    site.close().await;
}

#[tokio::test]
async fn a_page_comes_with_any_status() {
    let site = Site::open(ArenaOptions::default()).await;
    for (endpoint, path) in [
        (Endpoint::Account, "/api/account"),
        (Endpoint::EventStream, "/api/stream/event"),
        (Endpoint::Challenge, "/api/challenge"),
    ] {
        for status in [200, 403, 503] {
            site.arena.inject(endpoint, Fault::Html { status });
            let response = site.client.send(Method::GET, path, "").await.expect("an answer");
            assert_eq!(response.status().as_u16(), status);
            assert_eq!(response.headers()["content-type"], "text/html");
            let page = within("the page", response.text()).await.expect("a body");
            assert!(page.starts_with("<html>"), "{page}");
        }
    }
    assert_eq!(site.arena.counters().event_streams, 0);
    site.close().await;
}

#[tokio::test]
async fn an_error_is_answered_although_the_move_was_taken() {
    let site = Site::open(ArenaOptions::default()).await;
    let (id, mut stream) = site.game(Color::White).await;
    site.arena.inject(Endpoint::Move, Fault::ErrorAfter { status: 504 });
    let path = format!("/api/bot/game/{id}/move/e2e4");
    let response = site.client.send(Method::POST, &path, "").await.expect("an answer");
    assert_eq!(response.status(), StatusCode::GATEWAY_TIMEOUT);
    assert_eq!(response.headers()["content-type"], "text/html");
    assert_eq!(stream.line_of("gameState").await["moves"], "e2e4");
    assert_eq!(site.arena.requests().last().and_then(|request| request.status), Some(504));
    site.close().await;
}

#[tokio::test]
async fn a_connection_is_reset_before_or_after_the_move() {
    let site = Site::open(ArenaOptions::default()).await;
    let (id, _stream) = site.game(Color::White).await;
    let path = format!("/api/bot/game/{id}/move/e2e4");
    let moves = || site.arena.game(&id).expect("running").moves.len();
    site.arena.inject(Endpoint::Move, Fault::Reset);
    let error = site.client.send(Method::POST, &path, "").await.expect_err("no answer");
    assert!(is_reset(&error), "{error:?}");
    assert_eq!(moves(), 0, "nothing was carried out");

    site.arena.inject(Endpoint::Move, Fault::ResetAnswer);
    let error = site.client.send(Method::POST, &path, "").await.expect_err("no answer");
    assert!(is_reset(&error), "{error:?}");
    assert_eq!(moves(), 1, "the move was played");

    site.house_plays(&id, "f7f6");
    site.arena.inject(Endpoint::Move, Fault::LostAnswer);
    let path = format!("/api/bot/game/{id}/move/g1f3");
    let error = site.client.send(Method::POST, &path, "").await.expect_err("no answer");
    assert!(!is_reset(&error), "closed in the ordinary way: {error:?}");
    let unanswered: Vec<_> =
        site.arena.requests().into_iter().filter(|request| request.status.is_none()).collect();
    assert_eq!(unanswered.len(), 3);
    site.close().await;
}

#[tokio::test]
async fn a_request_that_comes_late_is_carried_out_late() {
    let site = Site::open(ArenaOptions::default()).await;
    let (id, mut stream) = site.game(Color::White).await;
    site.arena.inject(Endpoint::Move, Fault::DelayRequest { ms: 150 });
    let begin = Instant::now();
    let (client, path) = (site.client.clone(), format!("/api/bot/game/{id}/move/e2e4"));
    let request = async move { client.post(&path).await };
    let line = async {
        let line = stream.line_of("gameState").await;
        (line, begin.elapsed())
    };
    let (answer, (line, seen)) = tokio::join!(request, line);
    assert_eq!(answer, (StatusCode::OK, json!({ "ok": true })));
    assert_eq!(line["moves"], "e2e4");
    assert!(seen >= Duration::from_millis(150), "{seen:?}");
    site.close().await;
}
