//! How house players answer challenges, and how challenges run out.

use std::time::{Duration, Instant};

use meitner::arena::{Acceptance, ArenaOptions, ChallengeSpec, DeclineRule, HouseSpec};
use reqwest::{Method, StatusCode};
use serde_json::Value;
use tokio::time::timeout;

use crate::harness::{Client, Site, silent};

async fn challenge(client: &Client, form: &str) -> String {
    let path = "/api/challenge/QuietRook7";
    let form = format!("clock.increment=0&variant=atomic&{form}");
    let (status, created) = client.json(Method::POST, path, &form).await;
    assert_eq!((status, created["status"].as_str()), (StatusCode::OK, Some("created")));
    created["id"].as_str().expect("an id").to_owned()
}

#[tokio::test]
async fn the_house_declines_by_rule_with_a_reason() {
    let site =
        Site::open(ArenaOptions { challenge_points_per_minute: 0, ..Default::default() }).await;
    let declines = vec![
        DeclineRule { reason: "casual".to_owned(), rated: Some(true), ..Default::default() },
        DeclineRule {
            reason: "tooFast".to_owned(),
            speed: Some("bullet".to_owned()),
            ..Default::default()
        },
        DeclineRule {
            reason: "later".to_owned(),
            busy_with: Some(1),
            bot: Some(true),
            ..Default::default()
        },
        DeclineRule { reason: "onlyBot".to_owned(), bot: Some(false), ..Default::default() },
    ];
    site.arena.add_house(&HouseSpec { declines, ..silent("QuietRook7") });
    let mut events = site.client.events().await;
    let mut answer = async |form: &str| -> String {
        let id = challenge(&site.client, form).await;
        loop {
            let event = events.line().await;
            let is_ours = event["challenge"]["id"] == *id || event["game"]["gameId"] == *id;
            match event["type"].as_str() {
                Some("challengeDeclined") if is_ours => {
                    let challenge: &Value = &event["challenge"];
                    return challenge["declineReasonKey"].as_str().expect("a key").to_owned();
                }
                Some("gameStart") if is_ours => return "accepted".to_owned(),
                _ => {}
            }
        }
    };
    assert_eq!(answer("clock.limit=300&rated=true").await, "casual");
    assert_eq!(answer("clock.limit=60").await, "toofast");
    assert_eq!(answer("clock.limit=300").await, "accepted");
    assert_eq!(answer("clock.limit=300").await, "later");

    let decline_reason = "timeControl".to_owned();
    let accepts = Acceptance::Decline;
    site.arena.add_house(&HouseSpec { accepts, decline_reason, ..silent("QuietRook7") });
    assert_eq!(answer("clock.limit=300").await, "timecontrol");
    assert!(site.arena.declines().is_empty(), "those are what clients declined");
    site.close().await;
}

#[tokio::test]
async fn the_house_answers_after_a_while_unless_the_challenge_is_canceled() {
    let site = Site::open(ArenaOptions::default()).await;
    site.arena.add_house(&HouseSpec { answer_delay_ms: 120, ..silent("QuietRook7") });
    let mut events = site.client.events().await;
    let begin = Instant::now();
    let id = challenge(&site.client, "clock.limit=60").await;
    assert_eq!(events.line_of("gameStart").await["game"]["gameId"], id.as_str());
    assert!(begin.elapsed() >= Duration::from_millis(120));
    let id = challenge(&site.client, "clock.limit=60").await;
    site.client.post_ok(&format!("/api/challenge/{id}/cancel")).await;
    events.line_of("challengeCanceled").await;
    let more = timeout(Duration::from_millis(250), events.line()).await;
    assert!(more.is_err(), "no game: {more:?}");
    site.close().await;
}

#[tokio::test]
async fn a_challenge_runs_out_without_an_event() {
    let site = Site::open(ArenaOptions { challenge_seconds: 1, ..Default::default() }).await;
    site.arena.add_house(&HouseSpec { accepts: Acceptance::Ignore, ..silent("QuietRook7") });
    let mut events = site.client.events().await;
    let id = site.arena.challenge(&ChallengeSpec::new("QuietRook7", "EmberFork")).expect("made");
    events.line_of("challenge").await;
    let outgoing = challenge(&site.client, "clock.limit=60").await;
    events.line_of("challenge").await;
    let silence = timeout(Duration::from_millis(1200), events.line()).await;
    assert!(silence.is_err(), "{silence:?}");
    for id in [&id, &outgoing] {
        let (_, shown) = site.client.get(&format!("/api/challenge/{id}/show")).await;
        assert_eq!(shown["status"], "offline");
    }
    let (_, list) = site.client.get("/api/challenge").await;
    assert_eq!(
        (list["in"].as_array().map(Vec::len), list["out"].as_array().map(Vec::len)),
        (Some(0), Some(0))
    );
    site.client.post_ok(&format!("/api/challenge/{id}/accept")).await;
    site.close().await;
}
