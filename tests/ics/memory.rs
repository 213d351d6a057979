//! What the bot remembers of its games on FICS is what the server has of them, and what it counts.

use std::{path::Path, sync::Arc, time::Duration};

use meitner::{
    arena::{
        OpponentKind, ScriptedOpponent, SilentOpponent,
        ics::{IcsHouse, IcsOptions},
    },
    daemon::{Resources, Unfinished},
    game::GameResult,
    metrics::Metrics,
    store::{
        Archive, Epoch, Filter, GameRecord, MissedRecord, PgnFolder, PgnGroup, Platform,
        StoreOptions,
    },
};

use crate::{
    harness::{BOT, HOUSE, Hall},
    links::drain_until,
};

fn store(folder: &Path) -> StoreOptions {
    StoreOptions { folder: Some(folder.to_owned()), ..StoreOptions::default() }
}

/// Our own challenges, by their answers, as `accepted 1`.
fn own_challenges(folder: &Path) -> Vec<String> {
    let archive = Archive::open(folder).expect("readable").expect("a file");
    let counts = archive.challenges(&Filter::default()).expect("readable").into_iter();
    let mut ours: Vec<String> = counts
        .filter(|count| count.is_ours)
        .map(|count| format!("{} {}", count.answer.as_deref().unwrap_or("open"), count.count))
        .collect();
    ours.sort();
    ours
}

/// What a figure of FICS says, with these words in its labels.
fn figure(metrics: &Metrics, name: &str, word: &str) -> Option<String> {
    let text = metrics.text();
    let mut lines = text.lines().filter(|line| line.starts_with(&format!("{name}{{")));
    let line = lines.find(|line| line.contains("platform=\"fics\"") && line.contains(word))?;
    Some(line.rsplit_once(' ')?.1.to_owned())
}

#[tokio::test]
async fn a_record_is_complete_and_equals_the_server_s() {
    let folder = tempfile::tempdir().unwrap();
    let mut hall = Hall::open(IcsOptions::default()).await;
    hall.options.store = store(folder.path());
    hall.start();
    hall.challenge("3 0 rated white atomic").await;
    hall.until_finished(1).await;
    let (theirs, words) = hall.server.finished()[0].clone();
    hall.close().await.unwrap();

    let archive = Archive::open(folder.path()).unwrap().expect("a file");
    let mut games = archive.games(&Filter::default()).unwrap();
    let ours = archive.with_moves(games.pop().expect("a game")).unwrap();
    assert_eq!(games, []);
    let account = &ours.key.account;
    assert_eq!((account.platform, account.account.as_str()), (Platform::Fics, "meitner"));
    assert_eq!([&theirs.white, &theirs.black], [&ours.players[0].name, &ours.players[1].name]);
    assert_eq!([&ours.us().name, &ours.opponent().name], [BOT, HOUSE]);
    assert!(ours.rated && ours.speed.as_deref() == Some("blitz"));
    let moves: Vec<_> = ours.moves.iter().map(|entry| entry.mv.to_string()).collect();
    assert_eq!(moves, theirs.moves);
    assert!(ours.moves.iter().all(|entry| entry.clock.is_some()));
    assert!(ours.moves.iter().any(|entry| entry.evaluation.is_some()));
    let ours_to_move = |ply: usize| (ply % 2 == 1) == (theirs.black == BOT);
    assert!(
        ours.moves
            .iter()
            .enumerate()
            .all(|(ply, entry)| { entry.lag.is_some() == ours_to_move(ply) })
    );
    let end = ours.end.as_ref().expect("an end");
    assert_eq!(end.winner, theirs.ending.unwrap().winner, "{words}");
    assert_eq!(ours.rating_diff, Some(0), "this server changes no rating, and says so");
    assert_eq!(ours.rating_after(), Some(1900));
}

/// The one game that is remembered, with its moves.
fn only_game(folder: &Path) -> GameRecord {
    let archive = Archive::open(folder).expect("readable").expect("a file");
    let mut games = archive.games(&Filter::default()).expect("readable");
    assert_eq!(games.len(), 1, "{games:?}");
    archive.with_moves(games.remove(0)).expect("legal moves")
}

fn moves(game: &GameRecord) -> Vec<String> {
    game.moves.iter().map(|entry| entry.mv.to_string()).collect()
}

/// 2026-12-01: a game that was cut and went on was two records, the first without a result.
#[tokio::test]
async fn a_game_that_is_cut_and_goes_on_is_one_record() {
    let folder = tempfile::tempdir().unwrap();
    let house = Hall::house(Arc::new(ScriptedOpponent::new("e2e4 d2d4")));
    let mut hall = Hall::with(IcsOptions::default(), house).await;
    hall.options.store = StoreOptions {
        pgn: Some(PgnFolder { folder: folder.path().join("pgn"), group: PgnGroup::Game }),
        ..store(folder.path())
    };
    hall.start();
    hall.challenge("3 0 rated white atomic").await;
    for logins in 1..=4 {
        hall.until("the game goes on", |server| {
            let is_asked = |line: &String| line == "moves";
            server.counters().logins == logins
                && server.running().iter().any(|game| game.moves.len() == 4)
                && server.commands_of(BOT).iter().filter(|line| is_asked(line)).count() as u64
                    == logins - 1
        })
        .await;
        if logins < 4 {
            hall.server.cut(BOT);
        }
    }
    hall.server.command(HOUSE, "resign");
    hall.until_finished(1).await;
    let theirs = hall.server.finished()[0].0.clone();
    hall.shutdown.advance();
    let summary = hall.end_of_bot().await.unwrap();
    assert_eq!((summary.won, summary.unknown), (1, 0), "{summary:?}");
    let ours = only_game(folder.path());
    assert_eq!(moves(&ours), theirs.moves);
    assert!(ours.moves[3].depth.is_some(), "what was thought before the break is still known");
    let end = ours.end.expect("an end");
    assert_eq!((end.result, end.reason.as_str()), (GameResult::Won, "resignation"));
    assert_eq!(ours.rating_diff, Some(0), "told of the last part");
    let files = std::fs::read_dir(folder.path().join("pgn")).unwrap().count();
    assert_eq!(files, 1, "written once, at its end");
}

#[tokio::test]
async fn a_game_that_is_left_and_taken_up_by_the_next_run_is_one_record() {
    let folder = tempfile::tempdir().unwrap();
    let house = Hall::house(Arc::new(ScriptedOpponent::new("e2e4 d2d4")));
    let mut hall = Hall::with(IcsOptions::default(), house).await;
    hall.options.store = store(folder.path());
    hall.options.shutdown.unfinished = Unfinished::Leave;
    hall.start();
    hall.challenge("3 0 rated white atomic").await;
    hall.until("all have moved", |server| {
        server.running().iter().any(|game| game.moves.len() == 4)
    })
    .await;
    hall.shutdown.advance();
    hall.shutdown.advance();
    hall.end_of_bot().await.unwrap();
    let left = only_game(folder.path());
    assert_eq!(left.end, None);
    hall.until("it is adjourned", |server| server.adjourned() == 1).await;
    hall.shutdown = meitner::daemon::Shutdown::new();
    hall.start();
    hall.until_said("moves").await;
    hall.server.command(HOUSE, "resign");
    hall.until_finished(1).await;
    hall.shutdown.advance();
    hall.end_of_bot().await.unwrap();
    let ours = only_game(folder.path());
    assert_eq!((&ours.key, ours.started_at), (&left.key, left.started_at));
    assert_eq!(moves(&ours), hall.server.finished()[0].0.moves);
    assert_eq!(ours.end.expect("an end").result, GameResult::Won);
}

#[tokio::test]
async fn an_adjourned_game_is_unfinished_until_it_cannot_go_on_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let house = Hall::house(Arc::new(ScriptedOpponent::new("e2e4 d2d4")));
    let mut hall = Hall::with(IcsOptions::default(), house).await;
    hall.options.store = store(folder.path());
    hall.link.agrees.adjourn = true;
    hall.start();
    hall.challenge("3 0 rated white atomic").await;
    hall.until("both have moved twice", |server| {
        server.running().iter().any(|game| game.moves.len() == 4)
    })
    .await;
    hall.server.command(HOUSE, "adjourn");
    hall.until("it is adjourned", |server| server.adjourned() == 1).await;
    hall.shutdown.advance();
    hall.end_of_bot().await.unwrap();
    let adjourned = only_game(folder.path());
    assert_eq!(adjourned.end, None);
    // What begins within the same second is taken for a new game.
    let patience = Duration::from_millis(20);
    while Epoch::now() <= adjourned.started_at {
        tokio::time::sleep(patience).await;
    }

    // Another server, where nobody knows of the game.
    let mut hall = Hall::open(IcsOptions::default()).await;
    hall.options.store = store(folder.path());
    hall.start();
    hall.until_open().await;
    let news = format!(
        "\n\rNotification: {HOUSE}, who has an adjourned game with you, has arrived.\n\rfics% "
    );
    hall.server.send(BOT, news.as_bytes());
    hall.until_said("withdraw ").await;
    let told = async {
        loop {
            match only_game(folder.path()).end {
                Some(end) => return end,
                None => tokio::time::sleep(patience).await,
            }
        }
    };
    let end = tokio::time::timeout(Duration::from_secs(30), told).await.expect("no game goes on");
    hall.close().await.unwrap();
    assert_eq!((end.result, end.reason.as_str()), (GameResult::Unknown, MissedRecord::REASON));
}

#[tokio::test]
async fn our_own_challenges_are_remembered_and_counted_with_their_answers() {
    let (folder, metrics) = (tempfile::tempdir().unwrap(), Metrics::new());
    let house = IcsHouse { is_computer: true, ..Hall::house(OpponentKind::Greedy.build(1)) };
    let mut hall = Hall::with(IcsOptions::default(), house).await;
    hall.options.store = store(folder.path());
    hall.options.policy.budget.per_day = Some(10);
    let invitations = &mut hall.options.invitations;
    invitations.names = vec!["Nobody".to_owned(), HOUSE.to_owned()];
    invitations.pause = Duration::from_millis(10);
    invitations.rematches = 1;
    let resources = Resources::new(&hall.options).with_metrics(&metrics);
    hall.start_with(&resources);
    hall.until_finished(2).await;
    hall.shutdown.advance();
    let summary = hall.end_of_bot().await.unwrap();
    assert_eq!(summary.challenged, 2, "{summary:?}");
    drop(resources);
    assert_eq!(own_challenges(folder.path()), ["accepted 2", "failed 1"]);
    let own = |outcome| figure(&metrics, "meitner_own_challenges_total", outcome);
    let counts =
        ["sent", "accepted", "failed", "declined", "withdrawn"].map(|word| own(word).unwrap());
    assert_eq!(counts, ["3", "2", "1", "0", "0"]);
    assert_eq!(figure(&metrics, "meitner_rating", "").as_deref(), Some("1900"));
    assert_eq!(figure(&metrics, "meitner_bot_games_left", "").as_deref(), Some("8"));
}

/// 2026-12-01: who had declined was asked again after each restart.
#[tokio::test]
async fn who_declines_is_remembered_beyond_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let mut hall = Hall::open(IcsOptions::default()).await;
    let mut alice = hall.player("Alice").await;
    hall.options.store = store(folder.path());
    let invitations = &mut hall.options.invitations;
    (invitations.names, invitations.pause) = (vec!["Alice".to_owned()], Duration::ZERO);
    hall.start();
    drain_until(&mut alice, "Challenge: Meitner").await;
    alice.send("decline");
    drain_until(&mut alice, "You decline").await;
    let is_told = async {
        while !own_challenges(folder.path()).contains(&"declined 1".to_owned()) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), is_told).await.expect("it is declined");
    hall.shutdown.advance();
    hall.end_of_bot().await.unwrap();
    hall.shutdown = meitner::daemon::Shutdown::new();
    hall.start();
    // It plays, and asks nobody before or after.
    hall.challenge("3 0 unrated atomic").await;
    hall.until_finished(1).await;
    let commands = hall.server.commands_of(BOT);
    assert_eq!(commands.iter().filter(|line| line.starts_with("match ")).count(), 1);
    hall.close().await.unwrap();
}

#[tokio::test]
async fn a_seek_is_an_own_challenge_that_its_answer_accepts() {
    let folder = tempfile::tempdir().unwrap();
    let mut hall = Hall::with(IcsOptions::default(), Hall::house(Arc::new(SilentOpponent))).await;
    hall.options.store = store(folder.path());
    hall.options.invitations.seek = "3 0 unrated".to_owned();
    hall.start();
    for (terms, expected) in [
        ("5 0 unrated black atomic", &["withdrawn 1"][..]),
        ("3 0 unrated black atomic", &["accepted 1", "withdrawn 1"]),
    ] {
        hall.until("a seek is there", |server| !server.seeks().is_empty()).await;
        hall.server.command(HOUSE, &format!("match {BOT} {terms}"));
        hall.until("the bot plays", |server| {
            server.running().iter().any(|game| !game.moves.is_empty())
        })
        .await;
        hall.shutdown.advance();
        hall.shutdown.advance();
        hall.end_of_bot().await.unwrap();
        assert_eq!(own_challenges(folder.path()), expected);
        hall.until("no game runs", |server| server.running().is_empty()).await;
        hall.shutdown = meitner::daemon::Shutdown::new();
        hall.start();
    }
    hall.close().await.unwrap();
}
