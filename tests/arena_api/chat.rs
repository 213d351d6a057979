//! Chat in both rooms, and takebacks that a player does not want.

use meitner::{
    arena::{AccountSpec, ArenaOptions, HouseAction, Room, Takebacks},
    rules::Color,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::harness::Site;

#[tokio::test]
async fn both_rooms_are_heard_and_kept_apart() {
    let site = Site::open(ArenaOptions::default()).await;
    let (id, mut stream) = site.game(Color::White).await;
    let act = |action| site.arena.act(&id, &action).expect("carried out");
    act(HouseAction::Chat("hello".to_owned()));
    act(HouseAction::ChatToSpectators("watch this".to_owned()));
    site.arena.say(&id, Room::Spectator, "Passer_By", "!eval").expect("taken");
    let path = format!("/api/bot/game/{id}/chat");
    let form = "room=spectator&text=winning";
    assert_eq!(site.client.json(Method::POST, &path, form).await.0, StatusCode::OK);
    let mut lines = Vec::new();
    for _ in 0..4 {
        let line = stream.line_of("chatLine").await;
        let field = |name: &str| line[name].as_str().expect("a text").to_owned();
        lines.push([field("room"), field("username"), field("text")].join(" "));
    }
    assert_eq!(
        lines,
        [
            "player QuietRook7 hello",
            "spectator QuietRook7 watch this",
            "spectator Passer_By !eval",
            "spectator EmberFork winning"
        ]
    );
    let (_, player) = site.client.get(&path).await;
    assert_eq!(player, json!([{ "text": "hello", "user": "QuietRook7" }]));
    let anonymous = site.client("none");
    let (status, spectators) = anonymous.get(&format!("/api/game/{id}/chat")).await;
    assert_eq!(status, StatusCode::OK, "no token is needed");
    assert_eq!(spectators.as_array().map(Vec::len), Some(3));
    assert_eq!(spectators[1], json!({ "text": "!eval", "user": "Passer_By" }));
    assert_eq!(anonymous.get("/api/game/nothing1/chat").await.0, StatusCode::NOT_FOUND);
    assert!(site.arena.say(&id, Room::Player, "x", &"y".repeat(141)).is_err());
    site.close().await;
}

#[tokio::test]
async fn a_player_may_want_no_takebacks() {
    let site = Site::open(ArenaOptions::default()).await;
    let token = Some(site.client.token.clone());
    let takebacks = Takebacks::Never;
    site.arena.add_account(&AccountSpec { token, takebacks, ..AccountSpec::bot("EmberFork") });
    let (id, mut stream) = site.game(Color::White).await;
    site.client.plays(&id, "g1f3").await;
    site.house_plays(&id, "f7f6");
    site.arena.act(&id, &HouseAction::ProposeTakeback).expect("ok, though nothing comes of it");
    site.client.post_ok(&format!("/api/bot/game/{id}/takeback/yes")).await;
    site.client.plays(&id, "e2e3").await;
    let mut lines: Vec<Value> = Vec::new();
    for _ in 0..3 {
        lines.push(stream.line_of("gameState").await);
    }
    assert_eq!(lines[2]["moves"], "g1f3 f7f6 e2e3");
    assert!(lines.iter().all(|line| line.get("btakeback").is_none()), "{lines:?}");
    assert_eq!(site.arena.counters().takebacks, 0);
    site.close().await;
}

#[tokio::test]
async fn a_takeback_is_declined_by_the_house() {
    let site = Site::open(ArenaOptions::default()).await;
    let (id, mut stream) = site.game(Color::White).await;
    site.client.plays(&id, "g1f3").await;
    stream.line_of("gameState").await;
    site.client.post_ok(&format!("/api/bot/game/{id}/takeback/true")).await;
    assert_eq!(stream.line_of("gameState").await["wtakeback"], true);
    let answer = stream.line_of("gameState").await;
    assert_eq!((&answer["moves"], answer.get("wtakeback")), (&json!("g1f3"), None));
    site.close().await;
}
