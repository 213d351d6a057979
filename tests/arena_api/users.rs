//! What the server tells about other players.

use meitner::{
    arena::{AccountSpec, ArenaOptions, HouseSpec},
    rules::Color,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::harness::{Site, assert_same_fields, silent, within};

#[tokio::test]
async fn an_account_tells_its_age_its_games_and_its_marks() {
    let site = Site::open(ArenaOptions::default()).await;
    let veteran = HouseSpec {
        games: 2311,
        age_days: 1000,
        provisional: true,
        rating: 1876,
        ..silent("Old_Pawn")
    };
    site.arena.add_house(&veteran);
    let (_, user) = site.client.get("/api/user/old_pawn").await;
    let sample = include_str!("../data/lichess/user.json");
    assert_same_fields(&user, sample, &["playing", "profile", "perfs.atomic.prov"]);
    assert_eq!((&user["username"], &user["count"]["all"]), (&json!("Old_Pawn"), &json!(2311)));
    assert_eq!(user["perfs"]["atomic"]["prov"], true);
    let (_, fresh) = site.client.get("/api/user/QuietRook7").await;
    let age = fresh["createdAt"].as_u64().expect("ms") - user["createdAt"].as_u64().expect("ms");
    assert_eq!(age / 86_400_000, 999, "{age} ms, and a moment less than 1000 days");
    assert_eq!(fresh.get("tosViolation"), None);

    site.arena.add_house(&HouseSpec { tos_violation: true, ..silent("Marked") });
    assert_eq!(site.client.get("/api/user/marked").await.1["tosViolation"], true);
    let closed = AccountSpec { disabled: true, ..AccountSpec::bot("Closed") };
    let token = site.arena.add_account(&closed);
    let (_, user) = site.client.get("/api/user/closed").await;
    assert_eq!(user, json!({ "id": "closed", "username": "Closed", "disabled": true }));
    let refused = site.client(&token).get("/api/account").await;
    assert_eq!(refused.0, StatusCode::UNAUTHORIZED);
    assert_eq!(site.client.get("/api/user/nobody_here").await.0, StatusCode::NOT_FOUND);
    site.close().await;
}

#[tokio::test]
async fn results_and_ratings_are_kept() {
    let site = Site::open(ArenaOptions::default()).await;
    let (id, mut stream) = site.game(Color::White).await;
    let (_, user) = site.client.get("/api/user/emberfork").await;
    assert_eq!(user["playing"], json!(format!("https://lichess.org/{id}")));
    assert_eq!(user["count"]["playing"], 1);
    site.client.plays(&id, "g1f3").await;
    site.house_plays(&id, "f7f6");
    site.client.post_ok(&format!("/api/bot/game/{id}/resign")).await;
    while stream.line_of("gameState").await["status"] == "started" {}
    let (_, user) = site.client.get("/api/user/emberfork").await;
    let count = &user["count"];
    let expected = [("all", 1), ("rated", 0), ("win", 0), ("draw", 0), ("loss", 1)];
    for (field, games) in expected {
        assert_eq!(count[field], games, "{field}");
    }
    assert_eq!(site.client.get("/api/user/quietrook7").await.1["count"]["win"], 1);
    site.arena.set_rating("EmberFork", 2143).expect("an account");
    let (_, account) = site.client.get("/api/account").await;
    assert_eq!(account["perfs"]["atomic"]["rating"], 2143);
    assert!(site.arena.set_rating("nobody", 1).is_err());
    site.close().await;
}

#[tokio::test]
async fn the_status_tells_who_is_online_and_plays() {
    let site = Site::open(ArenaOptions::default()).await;
    site.arena.add_account(&AccountSpec::bot("soot-engine"));
    let id = site.game_without_stream(Color::White).await;
    let path = "/api/users/status?ids=QuietRook7,soot-engine,nobody_here";
    let (_, users) = site.client.get(path).await;
    let expected = json!([
        { "id": "quietrook7", "name": "QuietRook7", "online": true, "playing": true },
        { "id": "soot-engine", "name": "soot-engine", "title": "BOT" },
    ]);
    assert_eq!(users, expected);
    let path = "/api/users/status?ids=quietrook7&withSignal=true&withGameIds=true";
    let (_, users) = site.client.get(path).await;
    let sample: Value =
        serde_json::from_str(include_str!("../data/lichess/users-status.json")).expect("valid");
    assert_same_fields(&users[0], &sample[0].to_string(), &["title"]);
    assert_eq!(users[0]["playingId"], json!(id));
    let (_, users) = site.client.get("/api/users/status?ids=quietrook7&withGameMetas=true").await;
    let playing = json!({ "id": id, "clock": "3+2", "variant": "atomic" });
    assert_eq!(users[0]["playing"], playing);
    let anonymous = site.client("none").get("/api/users/status?ids=quietrook7").await;
    assert_eq!(anonymous.0, StatusCode::OK, "no token is needed");
    site.close().await;
}

#[tokio::test]
async fn so_many_bots_are_listed_and_no_marked_ones() {
    let site = Site::open(ArenaOptions::default()).await;
    let bot = |name: &str| HouseSpec { title: Some("BOT".to_owned()), ..silent(name) };
    for n in 0..4 {
        site.arena.add_house(&bot(&format!("Engine{n}")));
    }
    site.arena.add_house(&HouseSpec { tos_violation: true, ..bot("Marked") });
    let list = |path: &'static str| {
        let client = site.client.clone();
        async move {
            let response = client.send(Method::GET, path, "").await.expect("an answer");
            let text = within("a list", response.text()).await.expect("a body");
            let lines = text.lines().map(serde_json::from_str::<Value>);
            lines.collect::<Result<Vec<_>, _>>().expect("JSON lines")
        }
    };
    let all = list("/api/bot/online").await;
    assert_eq!(all.len(), 4, "the bot itself is not online: {all:?}");
    assert!(all.iter().all(|bot| bot["title"] == "BOT"));
    assert_eq!(list("/api/bot/online?nb=3").await.len(), 3);
    site.close().await;
}
