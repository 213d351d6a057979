//! Arena tournaments: joining, games, first moves, berserk, leaving.

use std::{collections::BTreeSet, time::Duration};

use meitner::arena::{
    AccountSpec, ArenaOptions, ChallengeSpec, Endpoint, Fault, HouseAction, HouseSpec,
    OpponentKind, Scope, TournamentSpec,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::harness::{Client, Lines, Next, Site, assert_same_fields, fields, silent, within};

const READY: &str = "pairMeAsap=true";

/// A short tournament with the house player in it.
fn spec() -> TournamentSpec {
    TournamentSpec {
        id: Some("bOt4r3nA".to_owned()),
        pairing_pause_ms: 20,
        players: vec!["QuietRook7".to_owned()],
        ..TournamentSpec::default()
    }
}

/// A client of the bot whose token may take part in tournaments.
fn entrant(site: &Site) -> Client {
    let all = [Scope::BotPlay, Scope::BoardPlay, Scope::TournamentWrite];
    site.client(&site.arena.add_token("EmberFork", &all).expect("an account"))
}

async fn join(client: &Client, form: &str) -> (StatusCode, Value) {
    client.json(Method::POST, "/api/tournament/bOt4r3nA/join", form).await
}

async fn join_ok(client: &Client, form: &str) {
    assert_eq!(join(client, form).await, (StatusCode::OK, json!({ "ok": true })));
}

/// The next game of the tournament, its first line, and its stream.
async fn next_game(client: &Client, events: &mut Lines) -> (Value, Value, Lines) {
    let started = events.line_of("gameStart").await;
    let id = started["game"]["gameId"].as_str().expect("an id").to_owned();
    let mut stream = client.game_stream(&id).await;
    let full = stream.line().await;
    (started["game"].clone(), full, stream)
}

#[tokio::test]
async fn a_tournament_tells_about_itself() {
    let site = Site::open(ArenaOptions::default()).await;
    let spec = TournamentSpec {
        name: "Bots Only".to_owned(),
        starts_in_ms: 60_000,
        min_rating: Some(1500),
        ..spec()
    };
    let id = site.arena.add_tournament(&spec).expect("made");
    let (status, shown) = site.client("none").get(&format!("/api/tournament/{id}")).await;
    assert_eq!(status, StatusCode::OK, "no token is needed");
    assert_eq!((&shown["fullName"], &shown["nbPlayers"]), (&json!("Bots Only"), &json!(1)));
    assert_eq!(shown["clock"], json!({ "limit": 60, "increment": 0 }));
    assert_eq!(
        (&shown["botsAllowed"], &shown["minRating"]["rating"]),
        (&json!(true), &json!(1500))
    );
    assert!(shown["secondsToStart"].as_u64().is_some_and(|seconds| (30..=60).contains(&seconds)));
    let starts_at = shown["startsAt"].as_str().expect("a time");
    assert!(starts_at.len() == 20 && starts_at.ends_with('Z'), "{starts_at}");
    // The fields that the published description has.
    let known = [
        "id",
        "fullName",
        "createdBy",
        "system",
        "startsAt",
        "minutes",
        "rated",
        "berserkable",
        "clock",
        "clock.limit",
        "clock.increment",
        "variant",
        "perf",
        "perf.key",
        "perf.name",
        "perf.icon",
        "nbPlayers",
        "duels",
        "verdicts",
        "verdicts.list",
        "verdicts.accepted",
        "standing",
        "standing.page",
        "standing.players",
        "botsAllowed",
        "minRating",
        "minRating.rating",
        "secondsToStart",
    ];
    assert_eq!(fields(&shown), BTreeSet::from(known.map(str::to_owned)));
    assert_eq!(site.client.get("/api/tournament/n0th1ng1").await.0, StatusCode::NOT_FOUND);
    assert!(site.arena.add_tournament(&spec).is_err(), "the id is taken");
    let empty = TournamentSpec {
        id: Some("n0th1ng1".to_owned()),
        players: vec!["nobody_here".to_owned()],
        ..spec
    };
    assert!(site.arena.add_tournament(&empty).is_err(), "there is no such player");
    assert!(site.arena.tournament("n0th1ng1").is_none());
    site.close().await;
}

#[tokio::test]
async fn joining_needs_the_scope_the_password_and_the_permission() {
    let site = Site::open(ArenaOptions::default()).await;
    let password = Some("s3cret".to_owned());
    site.arena.add_tournament(&TournamentSpec { password, ..spec() }).expect("made");
    let (status, body) = join(&site.client, "").await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    assert_eq!(body["error"], "Missing scope: tournament:write");
    let client = entrant(&site);
    assert_eq!(join(&client, "password=wrong").await.0, StatusCode::BAD_REQUEST);
    join_ok(&client, "password=s3cret").await;
    let unknown = client.post("/api/tournament/n0th1ng1/join").await;
    assert_eq!(unknown.0, StatusCode::NOT_FOUND);

    let refused = [
        TournamentSpec { bots: false, ..spec() },
        TournamentSpec { min_rating: Some(2001), ..spec() },
        TournamentSpec { max_rating: Some(1999), ..spec() },
        TournamentSpec { lasts_ms: 0, ..spec() },
    ];
    for (n, spec) in refused.into_iter().enumerate() {
        let id = format!("refuses{n}");
        let spec = TournamentSpec { id: Some(id.clone()), players: Vec::new(), ..spec };
        site.arena.add_tournament(&spec).expect("made");
        let answer = client.post(&format!("/api/tournament/{id}/join")).await;
        assert_eq!(answer.0, StatusCode::BAD_REQUEST, "{id}: {answer:?}");
        assert!(answer.1["error"].is_string());
    }
    site.arena.inject(Endpoint::Tournament, Fault::ServerError { status: 502 });
    let path = "/api/tournament/bOt4r3nA";
    let response = client.send(Method::GET, path, "").await.expect("an answer");
    assert_eq!(response.status(), StatusCode::BAD_GATEWAY);
    site.close().await;
}

#[tokio::test]
async fn joining_too_often_is_refused() {
    let site = Site::open(ArenaOptions::default()).await;
    site.arena.add_tournament(&spec()).expect("made");
    let client = entrant(&site);
    for _ in 0..30 {
        join_ok(&client, "").await;
    }
    assert_eq!(join(&client, "").await.0, StatusCode::TOO_MANY_REQUESTS);
    site.close().await;
}

#[tokio::test]
async fn a_tournament_is_played_from_joining_to_leaving() {
    let site = Site::open(ArenaOptions::default()).await;
    site.arena.add_tournament(&spec()).expect("made");
    let client = entrant(&site);
    let mut events = client.events().await;
    join_ok(&client, "").await;
    let alone = timeout(Duration::from_millis(100), events.line()).await;
    assert!(alone.is_err(), "without a page open nobody is paired: {alone:?}");
    join_ok(&client, READY).await;

    let mut colors = Vec::new();
    for points in [0, 2] {
        let (game, full, mut stream) = next_game(&client, &mut events).await;
        let id = game["gameId"].as_str().expect("an id");
        assert_eq!((&game["source"], &game["tournamentId"]), (&json!("arena"), &json!("bOt4r3nA")));
        let sample = include_str!("../data/lichess/game-arena-first-moves.ndjson");
        let sample = sample.lines().next().expect("a line");
        assert_same_fields(&full, sample, &["white.provisional", "black.provisional"]);
        assert_eq!(full["tournamentId"], "bOt4r3nA");
        assert_eq!(full["state"]["expiration"]["millisToMove"], 16_000);
        let is_white = game["color"] == "white";
        colors.push(is_white);

        let (status, _) = client.post(&format!("/api/bot/game/{id}/abort")).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "nobody aborts here");
        let chat = format!("/api/bot/game/{id}/chat");
        let say = async |room: &str| {
            let form = format!("room={room}&text=hello");
            client.json(Method::POST, &chat, &form).await.0
        };
        assert_eq!((say("player").await, say("spectator").await), (StatusCode::OK, StatusCode::OK));
        let line = stream.line().await;
        assert_eq!(line["room"], "spectator", "the players have no chat");
        if is_white {
            client.plays(id, "g1f3").await;
            site.house_plays(id, "f7f6");
        } else {
            site.house_plays(id, "g1f3");
            client.plays(id, "f7f6").await;
        }
        let first = stream.line_of("gameState").await;
        assert!(first["expiration"]["idleMillis"].as_u64().is_some_and(|idle| idle < 8000));
        let second = stream.line_of("gameState").await;
        assert_eq!(second.get("expiration"), None, "both have moved");
        if points == 0 {
            site.arena.act(id, &HouseAction::Resign).expect("carried out");
        } else {
            client.post_ok(&format!("/api/bot/game/{id}/resign")).await;
        }
        events.line_of("gameFinish").await;
    }
    assert_ne!(colors[0], colors[1], "colors change");
    client.post_ok("/api/tournament/bOt4r3nA/withdraw").await;
    let seen = site.arena.tournament("bOt4r3nA").expect("held");
    let score = |user: &str| {
        let player = seen.players.iter().find(|player| player.user == user).expect("joined");
        (player.score, player.games, player.withdrawn)
    };
    assert_eq!((score("emberfork"), score("quietrook7")), ((2, 2, true), (2, 2, false)));
    assert_eq!((seen.status, seen.games.len()), ("started", 2));
    let export = client.http.get(format!("{}/game/export/{}", client.base, seen.games[0]));
    let export = within("export", export.header("accept", "application/json").send()).await;
    let export: Value = export.expect("an answer").json().await.expect("JSON");
    assert_eq!((&export["source"], &export["tournament"]), (&json!("arena"), &json!("bOt4r3nA")));
    let silence = timeout(Duration::from_millis(150), events.line()).await;
    assert!(silence.is_err(), "who has left is not paired: {silence:?}");
    site.close().await;
}

#[tokio::test]
async fn a_first_move_that_does_not_come_loses_and_pauses_the_player() {
    let site = Site::open(ArenaOptions::default()).await;
    site.arena.add_tournament(&TournamentSpec { first_move_ms: 150, ..spec() }).expect("made");
    let client = entrant(&site);
    let mut events = client.events().await;
    join_ok(&client, READY).await;
    let (game, _, mut stream) = next_game(&client, &mut events).await;
    let id = game["gameId"].as_str().expect("an id");
    let is_white = game["color"] == "white";
    if !is_white {
        site.house_plays(id, "g1f3");
    }
    let last = loop {
        let line = stream.line_of("gameState").await;
        if line["status"] != "started" {
            break line;
        }
    };
    let winner = if is_white { "black" } else { "white" };
    assert_eq!((&last["status"], &last["winner"]), (&json!("noStart"), &json!(winner)));
    assert_eq!(stream.next().await, Next::End);
    assert_eq!(events.line_of("gameFinish").await["game"]["status"]["id"], 37);
    let players = site.arena.tournament("bOt4r3nA").expect("held").players;
    let bot = players.iter().find(|player| player.user == "emberfork").expect("joined");
    assert!(bot.withdrawn && bot.score == 0);
    site.close().await;
}

#[tokio::test]
async fn bots_may_not_berserk_unless_the_arena_says_so() {
    let site = Site::open(ArenaOptions::default()).await;
    site.arena.add_tournament(&spec()).expect("made");
    let client = entrant(&site);
    let mut events = client.events().await;
    join_ok(&client, READY).await;
    let (game, _, _stream) = next_game(&client, &mut events).await;
    let id = game["gameId"].as_str().expect("an id");
    for api in ["bot", "board"] {
        let (status, body) = client.post(&format!("/api/{api}/game/{id}/berserk")).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{api}: {body}");
    }
    let (status, body) = site.client.post(&format!("/api/board/game/{id}/berserk")).await;
    assert_eq!(status, StatusCode::FORBIDDEN, "{body}");
    site.close().await;
}

#[tokio::test]
async fn whoever_berserks_has_half_of_the_time_and_a_point_more() {
    let site = Site::open(ArenaOptions { bots_may_berserk: true, ..Default::default() }).await;
    site.arena.add_tournament(&TournamentSpec { increment_s: 1, ..spec() }).expect("made");
    let client = entrant(&site);
    let mut events = client.events().await;
    let id = site.arena.challenge(&ChallengeSpec::new("QuietRook7", "EmberFork")).expect("made");
    client.post_ok(&format!("/api/challenge/{id}/accept")).await;
    events.line_of("gameStart").await;
    let (status, _) = client.post(&format!("/api/board/game/{id}/berserk")).await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "only in tournaments");

    join_ok(&client, READY).await;
    let (game, _, mut stream) = next_game(&client, &mut events).await;
    let id = game["gameId"].as_str().expect("an id");
    let path = format!("/api/board/game/{id}/berserk");
    client.post_ok(&path).await;
    let state = stream.line_of("gameState").await;
    let (ours, theirs) = if game["color"] == "white" { ('w', 'b') } else { ('b', 'w') };
    let clock =
        |side: char| (state[format!("{side}time")].clone(), state[format!("{side}inc")].clone());
    assert_eq!(
        (clock(ours), clock(theirs)),
        ((json!(30_000), json!(0)), (json!(60_000), json!(1000)))
    );
    assert_eq!(client.post(&path).await.0, StatusCode::BAD_REQUEST, "only once");
    site.arena.act(id, &HouseAction::Resign).expect("carried out");
    events.line_of("gameFinish").await;
    let best = &site.arena.tournament("bOt4r3nA").expect("held").players[0];
    assert_eq!((best.user.as_str(), best.score), ("emberfork", 3));
    site.close().await;
}

#[tokio::test]
async fn a_tournament_starts_and_ends_by_itself() {
    let spec = TournamentSpec {
        starts_in_ms: 150,
        lasts_ms: 1_500,
        pairing_pause_ms: 0,
        players: vec!["One".to_owned(), "Two".to_owned()],
        ..spec()
    };
    let house = |name: &str| HouseSpec { opponent: OpponentKind::Random, ..silent(name) };
    let options = ArenaOptions {
        accounts: vec![AccountSpec::new("Somebody")],
        houses: vec![house("One"), house("Two")],
        tournaments: vec![spec],
        ..Default::default()
    };
    let site = Site::open(options).await;
    let status = || site.arena.tournament("bOt4r3nA").expect("announced").status;
    assert_eq!(status(), "created");
    let games = |site: &Site| site.arena.tournament("bOt4r3nA").expect("held").games;
    assert!(games(&site).is_empty());
    for expected in ["started", "finished"] {
        let reached = site.arena.wait_until(|arena| {
            // A machine that is busy may sleep through the whole of it.
            let statuses = [expected, "finished"];
            arena.tournament("bOt4r3nA").is_some_and(|seen| statuses.contains(&seen.status))
        });
        within(expected, reached).await;
    }
    let held = games(&site);
    assert!(!held.is_empty());
    let over = site.arena.wait_until(|arena| arena.running().is_empty());
    within("the last game ends", over).await;
    assert_eq!(games(&site), held, "no pairing after the end");
    let (_, shown) = site.client.get("/api/tournament/bOt4r3nA").await;
    assert_eq!((&shown["isFinished"], shown.get("secondsToFinish")), (&json!(true), None));
    site.close().await;
}

#[tokio::test]
async fn a_team_lists_its_tournaments() {
    let site = Site::open(ArenaOptions::default()).await;
    let team = Some("crew".to_owned());
    site.arena.add_tournament(&TournamentSpec { team, ..spec() }).expect("made");
    let other = TournamentSpec { id: Some("0therT3m".to_owned()), ..spec() };
    site.arena.add_tournament(&other).expect("made");
    let client = site.client("none");
    let listed = async |path: &str| {
        let response = client.send(Method::GET, path, "").await.expect("an answer");
        assert_eq!(response.headers()["content-type"], "application/x-ndjson");
        response.text().await.expect("a body")
    };
    let text = listed("/api/team/crew/arena").await;
    let listed_one: Value = serde_json::from_str(text.trim()).expect("one line");
    // The fields that the published description requires, and two of those that it allows.
    let known = [
        "id",
        "createdBy",
        "system",
        "minutes",
        "clock",
        "clock.limit",
        "clock.increment",
        "rated",
        "fullName",
        "nbPlayers",
        "variant",
        "variant.key",
        "variant.short",
        "variant.name",
        "startsAt",
        "finishesAt",
        "status",
        "perf",
        "perf.key",
        "perf.name",
        "perf.position",
        "perf.icon",
        "teamMember",
        "botsAllowed",
    ];
    assert_eq!(fields(&listed_one), BTreeSet::from(known.map(str::to_owned)));
    assert_eq!((&listed_one["id"], &listed_one["status"]), (&json!("bOt4r3nA"), &json!(20)));
    assert_eq!(listed("/api/team/nobody/arena").await, "");
    site.close().await;
}

#[tokio::test]
async fn nobody_is_paired_in_another_variant() {
    let site = Site::open(ArenaOptions::default()).await;
    let variant = "standard".to_owned();
    site.arena.add_tournament(&TournamentSpec { variant, ..spec() }).expect("made");
    let client = entrant(&site);
    let mut events = client.events().await;
    join_ok(&client, READY).await;
    let silence = timeout(Duration::from_millis(150), events.line()).await;
    assert!(silence.is_err(), "{silence:?}");
    assert_eq!(client.get("/api/tournament/bOt4r3nA").await.1["variant"], "standard");
    site.close().await;
}

#[tokio::test]
async fn whoever_has_left_stays_away_for_a_while() {
    for (rejoin_pause_ms, status) in [(60_000, StatusCode::BAD_REQUEST), (0, StatusCode::OK)] {
        let site = Site::open(ArenaOptions::default()).await;
        let spec = TournamentSpec { rejoin_pause_ms, players: Vec::new(), ..spec() };
        site.arena.add_tournament(&spec).expect("made");
        let client = entrant(&site);
        join_ok(&client, READY).await;
        client.post_ok("/api/tournament/bOt4r3nA/withdraw").await;
        assert_eq!(join(&client, READY).await.0, status);
        site.close().await;
    }
}

#[tokio::test]
async fn a_battle_of_teams_is_joined_for_one_of_them() {
    let site = Site::open(ArenaOptions::default()).await;
    let battle = vec!["crew".to_owned(), "other".to_owned()];
    site.arena.add_tournament(&TournamentSpec { battle, ..spec() }).expect("made");
    let client = entrant(&site);
    for form in [READY, "team=", "team=elsewhere"] {
        assert_eq!(join(&client, form).await.0, StatusCode::BAD_REQUEST, "{form}");
    }
    join_ok(&client, "pairMeAsap=true&team=crew").await;
    let shown = client.get("/api/tournament/bOt4r3nA").await.1;
    let teams = shown["teamBattle"]["teams"].as_object().expect("an object");
    assert_eq!(teams.keys().collect::<Vec<_>>(), ["crew", "other"]);
    site.close().await;
}
