//! Accounts, tokens and scopes.

use meitner::arena::{AccountSpec, ArenaOptions, Scope};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::harness::Site;

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
    assert_eq!(played.get("/api/account").await.1["count"]["all"], 1);
    assert_eq!(played.post("/api/bot/account/upgrade").await.0, StatusCode::BAD_REQUEST);
    site.close().await;
}
