//! Whole games: moves, clocks, offers, absence and every kind of end.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use meitner::{
    arbiter::{Ending, Termination},
    arena::{
        AccountSpec, ArenaOptions, ChallengeSpec, ColorChoice, HouseAction, HouseSpec,
        OpponentKind, ScriptedOpponent,
    },
    rules::{Color, History},
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::harness::{Next, Site, assert_same_fields, fast_options, fields, silent, within};

#[tokio::test]
async fn a_whole_random_game_is_played() {
    let site = Site::open(ArenaOptions::default()).await;
    site.arena
        .add_house(&HouseSpec { opponent: OpponentKind::Random, ..HouseSpec::named("QuietRook7") });
    let mut events = site.client.events().await;
    let id = site.game_without_stream(Color::Black).await;
    let mut stream = site.client.game_stream(&id).await;
    let full = stream.line().await;
    assert_same_fields(&full, include_str!("../data/lichess/game-full.json"), &[]);
    assert_eq!(full["initialFen"], "startpos");

    let mut rng = fastrand::Rng::with_seed(11);
    let mut state = full["state"].clone();
    let mut played = 0;
    while state["status"] == "started" {
        let mut history = History::default();
        let moves = state["moves"].as_str().expect("a list of moves").to_owned();
        for uci in moves.split_whitespace() {
            history.play_uci(uci).expect("a legal move");
        }
        assert_eq!(state["wtime"].as_u64().expect("a clock") % 10, 0);
        let legal = history.position().legal_moves();
        if history.position().turn() == Color::Black
            && history.outcome().is_none()
            && moves.len() > played
        {
            played = moves.len();
            let mv = rng.choice(legal).expect("a move");
            site.client.plays(&id, &mv.to_string()).await;
        }
        state = stream.line_of("gameState").await;
    }
    assert_eq!(stream.next().await, Next::End);
    let finish = events.line_of("gameFinish").await;
    assert_eq!(finish["game"]["status"]["name"], state["status"]);
    assert_eq!(site.arena.finished()[0].moves.join(" "), state["moves"].as_str().expect("moves"));
    let counters = site.arena.counters();
    assert_eq!((counters.illegal_moves, counters.untimely_moves, counters.flags_lost), (0, 0, 0));

    let export = site.client.http.get(format!("{}/game/export/{id}", site.client.base));
    let export: Value = within("export", export.header("accept", "application/json").send())
        .await
        .expect("an answer")
        .json()
        .await
        .expect("JSON");
    let sample = include_str!("../data/lichess/game-export.json");
    assert_same_fields(&export, sample, &["players", "winner"]);
    site.close().await;
}

#[tokio::test]
async fn a_king_explodes_and_the_stream_ends() {
    let site = Site::open(ArenaOptions::default()).await;
    let house = silent("QuietRook7");
    site.arena.add_house_with(&house, Arc::new(ScriptedOpponent::new("a7a6 a6a5")));
    let (id, mut stream) = site.game(Color::White).await;
    for uci in ["g1f3", "f3e5", "e5f7"] {
        site.client.plays(&id, uci).await;
        let ours = stream.line_of("gameState").await;
        assert!(ours["moves"].as_str().is_some_and(|moves| moves.ends_with(uci)), "our own move");
        if ours["status"] == "variantEnd" {
            assert_eq!(ours["winner"], "white");
            assert_eq!(stream.next().await, Next::End);
            break;
        }
        stream.line_of("gameState").await;
    }
    assert_eq!(
        site.arena.finished()[0].ending.map(|ending| ending.by),
        Some(Termination::Explosion)
    );
    let mut again = site.client.game_stream(&id).await;
    assert_eq!(again.line().await["state"]["status"], "variantEnd");
    assert_eq!(again.next().await, Next::End);
    let export = async |query: &str| {
        let path = format!("/game/export/{id}{query}");
        let pgn = site.client.send(Method::GET, &path, "").await.expect("PGN");
        pgn.text().await.expect("text")
    };
    let pgn = export("?clocks=false").await;
    assert!(pgn.ends_with("\n\n1. Nf3 a6 2. Ne5 a5 3. Nxf7# 1-0\n\n"), "{pgn}");
    // The tags that the API's example has, but for what an unrated player without title lacks.
    let tags = "Event Site Date White Black Result UTCDate UTCTime WhiteElo BlackElo Variant \
                TimeControl Termination";
    for tag in tags.split(' ') {
        assert!(pgn.contains(&format!("[{tag} \"")), "{tag} is missing: {pgn}");
    }
    let with_clocks = export("").await;
    assert!(with_clocks.contains("\n1. Nf3 { [%clk 0:0"), "{with_clocks}");
    let games: Result<Vec<_>, _> = meitner::pgn::Reader::new(with_clocks.as_bytes()).collect();
    assert_eq!(games.expect("what is written can be read").len(), 1);
    site.close().await;
}

#[tokio::test]
async fn wrong_moves_are_refused_and_counted() {
    let site = Site::open(ArenaOptions::default()).await;
    let (id, _stream) = site.game(Color::White).await;
    let try_move = |uci: &str| {
        let (client, path) = (site.client.clone(), format!("/api/bot/game/{id}/move/{uci}"));
        async move {
            let (status, body) = client.post(&path).await;
            assert_eq!(status, StatusCode::BAD_REQUEST);
            body["error"].as_str().map(str::to_owned)
        }
    };
    assert_eq!(try_move("z9z9").await.as_deref(), Some("Invalid UCI: z9z9"));
    assert_eq!(try_move("e2e5").await.as_deref(), Some("Piece on e2 cannot move to e5"));
    site.client.plays(&id, "e2e4").await;
    let untimely = Some("Not your turn, or game already over");
    assert_eq!(try_move("d2d4").await.as_deref(), untimely);
    let counters = site.arena.counters();
    assert_eq!(
        (counters.malformed_moves, counters.illegal_moves, counters.untimely_moves),
        (1, 1, 1)
    );
    let other = site.client(&site.arena.add_account(&AccountSpec::bot("soot-engine")));
    let (status, body) = other.post(&format!("/api/bot/game/{id}/resign")).await;
    assert_eq!((status, &body["error"]), (StatusCode::NOT_FOUND, &json!("Not your game")));
    let (status, body) = other.post("/api/bot/game/nothing1/resign").await;
    assert_eq!((status, &body["error"]), (StatusCode::NOT_FOUND, &json!("No such game")));
    site.close().await;
}

#[tokio::test]
async fn a_flag_falls_by_itself() {
    let site = Site::open(ArenaOptions::default()).await;
    let spec = ChallengeSpec::new("QuietRook7", "EmberFork")
        .clock(Duration::from_millis(300), Duration::from_secs(1))
        .color(ColorChoice::Black);
    let id = site.arena.challenge(&spec).expect("made");
    site.client.post_ok(&format!("/api/challenge/{id}/accept")).await;
    let mut stream = site.client.game_stream(&id).await;
    stream.line().await;
    site.client.plays(&id, "g1f3").await;
    site.house_plays(&id, "f7f6");
    let last = loop {
        let state = stream.line_of("gameState").await;
        if state["status"] != "started" {
            break state;
        }
    };
    assert_eq!((&last["status"], &last["winner"]), (&json!("outoftime"), &json!("black")));
    assert_eq!(last["wtime"], 0);
    assert_eq!(site.arena.counters().flags_lost, 1);
    site.close().await;
}

#[tokio::test]
async fn a_game_is_aborted_early_and_resigned_late() {
    let site = Site::open(ArenaOptions::default()).await;
    let mut events = site.client.events().await;
    let (id, mut stream) = site.game(Color::White).await;
    site.client.post_ok(&format!("/api/bot/game/{id}/abort")).await;
    let last = stream.line_of("gameState").await;
    assert_eq!((&last["status"], last.get("winner")), (&json!("aborted"), None));
    assert_eq!(events.line_of("gameFinish").await["game"]["status"]["id"], 25);

    let (id, mut stream) = site.game(Color::White).await;
    site.client.plays(&id, "g1f3").await;
    site.house_plays(&id, "f7f6");
    let (status, body) = site.client.post(&format!("/api/bot/game/{id}/abort")).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert_eq!(body["error"], "This game can no longer be aborted");
    site.client.post_ok(&format!("/api/bot/game/{id}/resign")).await;
    let last = loop {
        let state = stream.line_of("gameState").await;
        if state["status"] != "started" {
            break state;
        }
    };
    assert_eq!((&last["status"], &last["winner"]), (&json!("resign"), &json!("black")));
    let again = site.client.post(&format!("/api/bot/game/{id}/resign")).await;
    assert_eq!(
        again,
        (StatusCode::BAD_REQUEST, json!({ "error": "This game cannot be resigned" }))
    );
    let counters = site.arena.counters();
    assert_eq!((counters.aborted, counters.resigned, counters.refused_commands), (1, 1, 2));
    site.close().await;
}

#[tokio::test]
async fn draws_takebacks_and_chat() {
    let site = Site::open(ArenaOptions::default()).await;
    let (id, mut stream) = site.game(Color::White).await;
    site.client.plays(&id, "g1f3").await;
    site.house_plays(&id, "f7f6");
    site.arena.act(&id, &HouseAction::ProposeTakeback).expect("carried out");
    let proposed = loop {
        let state = stream.line_of("gameState").await;
        if state.get("btakeback").is_some() {
            break state;
        }
    };
    assert_eq!(proposed["btakeback"], true);
    site.client.post_ok(&format!("/api/bot/game/{id}/takeback/yes")).await;
    assert_eq!(stream.line_of("gameState").await["moves"], "g1f3");

    site.house_plays(&id, "e7e6");
    site.arena.act(&id, &HouseAction::OfferDraw).expect("carried out");
    stream.line_of("gameState").await;
    let offered = stream.line_of("gameState").await;
    assert_eq!((&offered["bdraw"], offered.get("wdraw")), (&json!(true), None));
    assert_eq!(stream.line_of("chatLine").await["username"], "lichess");
    let say = |text: &str| {
        let (client, path) = (site.client.clone(), format!("/api/bot/game/{id}/chat"));
        let form = format!("room=player&text={text}");
        async move { client.json(Method::POST, &path, &form).await.0 }
    };
    assert_eq!(say("Good+luck%21").await, StatusCode::OK);
    assert_eq!(say(&"x".repeat(141)).await, StatusCode::BAD_REQUEST);
    let line = stream.line_of("chatLine").await;
    assert_eq!((&line["username"], &line["text"]), (&json!("EmberFork"), &json!("Good luck!")));
    let (_, chat) = site.client.get(&format!("/api/bot/game/{id}/chat")).await;
    assert_eq!(
        chat.as_array().and_then(|lines| lines.last()).map(fields),
        Some(BTreeSet::from(["text".to_owned(), "user".to_owned()]))
    );
    site.client.post_ok(&format!("/api/bot/game/{id}/move/e2e3?offeringDraw=true")).await;
    let last = stream.line_of("gameState").await;
    assert_eq!((&last["status"], &last["moves"]), (&json!("draw"), &json!("g1f3 e7e6")));
    site.close().await;
}

#[tokio::test]
async fn an_absent_opponent_can_be_claimed() {
    let site = Site::open(fast_options()).await;
    let (id, mut stream) = site.game(Color::White).await;
    site.client.plays(&id, "g1f3").await;
    site.house_plays(&id, "f7f6");
    site.client.plays(&id, "e2e3").await;
    site.arena.act(&id, &HouseAction::Leave).expect("carried out");
    let claim = format!("/api/bot/game/{id}/claim-victory");
    assert_eq!(site.client.post(&claim).await.0, StatusCode::BAD_REQUEST, "too early");
    let gone = stream.line_of("opponentGone").await;
    assert_eq!((&gone["gone"], &gone["claimWinInSeconds"]), (&json!(true), &json!(1)));
    site.arena.act(&id, &HouseAction::Return).expect("carried out");
    let back = loop {
        let line = stream.line_of("opponentGone").await;
        if line["gone"] == false {
            break line;
        }
    };
    assert_eq!(back.get("claimWinInSeconds"), None);
    site.arena.act(&id, &HouseAction::Leave).expect("carried out");
    while stream.line_of("opponentGone").await["claimWinInSeconds"] != 0 {}
    site.client.post_ok(&claim).await;
    let last = stream.line_of("gameState").await;
    assert_eq!((&last["status"], &last["winner"]), (&json!("timeout"), &json!("white")));
    site.close().await;
}

#[tokio::test]
async fn the_house_claims_the_game_of_a_bot_without_stream() {
    let site = Site::open(fast_options()).await;
    let (id, stream) = site.game(Color::White).await;
    site.client.plays(&id, "g1f3").await;
    site.house_plays(&id, "f7f6");
    drop(stream);
    within("the claim", site.arena.wait_until(|arena| !arena.finished().is_empty())).await;
    let ending = site.arena.finished()[0].ending.expect("over");
    assert_eq!((ending.by, ending.winner), (Termination::Abandonment, Some(Color::Black)));
    site.close().await;
}

#[tokio::test]
async fn two_bots_play_and_watchers_see_it() {
    let site = Site::open(ArenaOptions::default()).await;
    let other = site.client(&site.arena.add_account(&AccountSpec::bot("soot-engine")));
    let mut watch = site.arena.watch();
    let form = "clock.limit=60&clock.increment=0&variant=atomic&color=white&rated=true";
    let (_, created) = site.client.json(Method::POST, "/api/challenge/soot-engine", form).await;
    let id = created["id"].as_str().expect("an id").to_owned();
    other.post_ok(&format!("/api/challenge/{id}/accept")).await;
    let mut stream = other.game_stream(&id).await;
    stream.line().await;
    for (n, uci) in ["f2f4", "e7e6", "g2g4", "d8h4"].into_iter().enumerate() {
        let mover = if n % 2 == 0 { &site.client } else { &other };
        mover.plays(&id, uci).await;
    }
    let mut last = stream.line_of("gameState").await;
    while last["status"] == "started" {
        last = stream.line_of("gameState").await;
    }
    assert_eq!((&last["status"], &last["winner"]), (&json!("mate"), &json!("black")));
    let mut seen = Vec::new();
    while let Ok(snapshot) = watch.try_recv() {
        seen.push(snapshot.moves.len());
    }
    assert_eq!(seen, [0, 1, 2, 3, 4]);
    assert_eq!(other.get("/api/account").await.1["perfs"]["atomic"]["rating"], 2008);
    site.close().await;
}

#[tokio::test]
async fn the_third_occurrence_comes_first_as_started_then_as_drawn() {
    let site = Site::open(ArenaOptions::default()).await;
    let (id, mut stream) = site.game(Color::White).await;
    for (ours, theirs) in [("g1f3", "g8f6"), ("f3g1", "f6g8"), ("g1f3", "g8f6"), ("f3g1", "f6g8")] {
        site.client.plays(&id, ours).await;
        stream.line_of("gameState").await;
        site.house_plays(&id, theirs);
        let state = stream.line_of("gameState").await;
        assert_eq!(state["status"], "started");
    }
    assert_eq!(stream.line_of("gameState").await["status"], "draw");
    assert_eq!(stream.next().await, Next::End);
    assert_eq!(site.arena.finished()[0].ending.map(Ending::score), Some("1/2-1/2"));
    site.close().await;
}

#[tokio::test]
async fn given_time_comes_with_the_same_moves() {
    let site = Site::open(ArenaOptions::default()).await;
    let (id, mut stream) = site.game(Color::White).await;
    site.arena.act(&id, &HouseAction::GiveTime(Duration::from_secs(15))).expect("carried out");
    let state = stream.line_of("gameState").await;
    assert_eq!((&state["moves"], &state["wtime"]), (&json!(""), &json!(195_000)));
    site.close().await;
}

#[tokio::test]
async fn games_without_a_real_time_clock_have_their_own_shapes() {
    let site = Site::open(ArenaOptions::default()).await;
    for (form, days, wtime) in [
        ("variant=atomic&color=white", None, 2_147_483_647_u64),
        ("variant=atomic&color=white&days=3", Some(3), 259_200_000),
    ] {
        let (_, created) = site.client.json(Method::POST, "/api/challenge/QuietRook7", form).await;
        let mut stream = site.client.game_stream(created["id"].as_str().expect("an id")).await;
        let full = stream.line().await;
        assert_eq!(full.get("clock"), None);
        assert_eq!(full.get("daysPerTurn").and_then(Value::as_u64), days);
        assert_eq!((&full["state"]["wtime"], &full["state"]["winc"]), (&json!(wtime), &json!(0)));
    }
    site.close().await;
}

#[tokio::test]
async fn the_same_program_has_one_stream_and_full_ids_are_taken() {
    let site = Site::open(ArenaOptions::default()).await;
    let (id, mut first) = site.game(Color::White).await;
    let mut second = site.client.game_stream(&id).await;
    assert_eq!(first.next().await, Next::End);
    second.line().await;
    site.client.plays(&format!("{id}wxyz"), "e2e4").await;
    assert_eq!(second.line().await["moves"], "e2e4");
    site.close().await;
}
