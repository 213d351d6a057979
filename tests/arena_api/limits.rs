//! What is refused for being too much: games between bots, challenges in a time.

use meitner::{
    arena::{AccountSpec, ArenaOptions, ChallengeSpec, HouseSpec},
    rules::Color,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::harness::{Client, Site, assert_same_fields, silent};

const FORM: &str = "clock.limit=60&clock.increment=0&variant=atomic";

async fn challenge(client: &Client, target: &str) -> (StatusCode, Value) {
    client.json(Method::POST, &format!("/api/challenge/{target}"), FORM).await
}

fn assert_limited(answer: &(StatusCode, Value), status: StatusCode, sample: &str, seconds: u64) {
    let (found, body) = answer;
    assert_eq!(*found, status, "{body}");
    assert_same_fields(body, sample, &[]);
    assert_eq!(body["ratelimit"]["key"], "bot.vsBot.day");
    let left = body["ratelimit"]["seconds"].as_u64().expect("a number");
    assert!((seconds - 30..=seconds).contains(&left), "{left}");
}

const OWN: &str = include_str!("../data/lichess/error-429-bot-vs-bot.json");
const OTHER: &str = include_str!("../data/lichess/error-400-opponent-bot-vs-bot.json");
const DAY: u64 = 86_400;

#[tokio::test]
async fn games_between_bots_are_counted_from_the_first_one() {
    let site = Site::open(ArenaOptions { bot_games_per_day: 2, ..Default::default() }).await;
    let title = Some("BOT".to_owned());
    site.arena.add_house(&HouseSpec { title: title.clone(), ..silent("soot-engine") });
    site.arena.add_house(&HouseSpec { title, ..silent("Fuse_Box") });
    let from_bot = || site.arena.challenge(&ChallengeSpec::new("Fuse_Box", "EmberFork"));

    // One game by challenging, an aborted one by accepting.
    assert_eq!(challenge(&site.client, "soot-engine").await.0, StatusCode::OK);
    let id = from_bot().expect("made");
    site.client.post_ok(&format!("/api/challenge/{id}/accept")).await;
    site.client.post_ok(&format!("/api/bot/game/{id}/abort")).await;

    let too_many = StatusCode::TOO_MANY_REQUESTS;
    assert_limited(&challenge(&site.client, "soot-engine").await, too_many, OWN, DAY);
    let id = from_bot().expect("made");
    let accepting = site.client.post(&format!("/api/challenge/{id}/accept")).await;
    assert_limited(&accepting, too_many, OWN, DAY);
    // People are not counted.
    site.game_without_stream(Color::White).await;
    assert_eq!(challenge(&site.client, "QuietRook7").await.0, StatusCode::OK);
    site.close().await;
}

#[tokio::test]
async fn the_quota_of_the_other_bot_is_another_refusal() {
    let site = Site::open(ArenaOptions { bot_games_per_day: 100, ..Default::default() }).await;
    let house = HouseSpec { title: Some("BOT".to_owned()), ..silent("soot-engine") };
    site.arena.add_house(&house);
    site.arena.set_bot_games("soot-engine", 100).expect("an account");
    let bad = StatusCode::BAD_REQUEST;
    assert_limited(&challenge(&site.client, "soot-engine").await, bad, OTHER, DAY);
    let id = site.arena.challenge(&ChallengeSpec::new("soot-engine", "EmberFork")).expect("made");
    let accepting = site.client.post(&format!("/api/challenge/{id}/accept")).await;
    assert_limited(&accepting, bad, OTHER, DAY);
    site.arena.set_bot_games("soot-engine", 99).expect("an account");
    site.client.post_ok(&format!("/api/challenge/{id}/accept")).await;
    site.close().await;
}

#[tokio::test]
async fn challenges_cost_points() {
    let options = ArenaOptions { challenge_points_per_minute: 7, ..Default::default() };
    let site = Site::open(options).await;
    site.arena.add_account(&AccountSpec::bot("soot-engine"));
    // Two of a bot's, and one of a person's although it is refused.
    for _ in 0..2 {
        assert_eq!(challenge(&site.client, "soot-engine").await.0, StatusCode::OK);
    }
    let form = "clock.limit=1&clock.increment=0&variant=atomic";
    let (status, _) = site.client.json(Method::POST, "/api/challenge/QuietRook7", form).await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "no such clock");
    let (status, body) = challenge(&site.client, "soot-engine").await;
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(body["ratelimit"]["key"], "challenge.create.user");
    let wait = body["ratelimit"]["seconds"].as_u64().expect("a number");
    assert!((31..=60).contains(&wait), "{wait}");
    let other = site.client(&site.arena.add_account(&AccountSpec::bot("Fuse_Box")));
    assert_eq!(challenge(&other, "soot-engine").await.0, StatusCode::OK, "each for itself");
    site.close().await;
}

#[tokio::test]
async fn challenges_cost_points_of_a_whole_day_too() {
    let options = ArenaOptions { challenge_points_per_day: 5, ..Default::default() };
    let site = Site::open(options).await;
    assert_eq!(challenge(&site.client, "QuietRook7").await.0, StatusCode::OK);
    let (status, body) = challenge(&site.client, "QuietRook7").await;
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS);
    assert!(body["ratelimit"]["seconds"].as_u64().is_some_and(|wait| wait > DAY - 30));
    assert_eq!(body["error"], json!("Too many requests. Try again later."));
    site.close().await;
}
