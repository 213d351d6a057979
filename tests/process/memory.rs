//! What is remembered outlives a kill, and nothing on the disk keeps the bot from playing.

use std::{fs, path::Path, time::Duration};

use meitner::{
    arena::HouseAction,
    game::GameResult,
    store::{Archive, Filter, GameRecord},
};

use tokio::time::{sleep, timeout};

use crate::harness::{BOT, PATIENCE, Site};

fn remembered(folder: &Path) -> Vec<GameRecord> {
    let archive = Archive::open(folder).expect("it can be read").expect("a file");
    let games = archive.games(&Filter::default()).expect("a list");
    games.into_iter().map(|listed| archive.with_moves(listed).expect("a game")).collect()
}

/// Waits until all moves that a game has now are remembered.
async fn until_remembered(site: &Site, game: &str) {
    let count = site.arena.game(game).expect("the game").moves.len();
    let is_remembered = || {
        // The program may be just making the file.
        let archive = Archive::open(site.folder()).ok().flatten()?;
        let games = archive.games(&Filter::default()).ok()?;
        let listed = games.into_iter().find(|listed| listed.record.key.id.as_str() == game)?;
        let record = archive.with_moves(listed).ok()?;
        (record.moves.len() >= count).then_some(())
    };
    let waiting = async {
        while is_remembered().is_none() {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, waiting).await.expect("the game is remembered");
}

/// Again and again in the middle of its games, so that it strikes amid writing as well.
#[tokio::test(flavor = "multi_thread")]
async fn a_kill_loses_at_most_the_last_moves() {
    let site = Site::open().await;
    let arguments = ["--set", "challenge.concurrency=5"];
    let mut games = Vec::new();
    for round in 0..5 {
        let program = site.start(&arguments);
        site.until_online().await;
        let game = site.challenge(&format!("QuietRook{round}"));
        site.until_begun(&game).await;
        games.push(game);
        // What the kill before took away comes from the server, and is to be remembered before more
        // is played.
        for game in games.iter().rev().take(2) {
            until_remembered(&site, game).await;
        }
        for game in games.iter().rev().take(2) {
            site.play_on(game, 1).await;
        }
        program.signal("KILL");
        let (status, _) = program.end();
        assert_eq!(status.code(), None, "it was killed");
        site.until("it is gone", |arena| !arena.is_online(BOT)).await;
        // What is there is whole, and the beginning of what was played.
        for record in remembered(site.folder()) {
            let played = site.arena.game(record.key.id.as_str()).unwrap().moves;
            let known: Vec<_> = record.moves.iter().map(|entry| entry.mv.to_string()).collect();
            assert!(played.starts_with(&known), "{known:?}, but {played:?}");
            assert!(known.len() + 2 >= played.len(), "{known:?}, but {played:?}");
        }
    }
    let program = site.start(&arguments);
    site.until_online().await;
    let has_ended = |game: &str| site.arena.game(game).unwrap().ending.is_some();
    for game in &games {
        if !has_ended(game) {
            let count = site.house_moves(game);
            site.until("the bot moves, or wins", |arena| {
                let game = arena.game(game).unwrap();
                game.moves.len() > count || game.ending.is_some()
            })
            .await;
        }
        if !has_ended(game) {
            site.arena.act(game, &HouseAction::Resign).unwrap();
        }
    }
    program.signal("TERM");
    let (status, log) = program.end();
    assert_eq!(status.code(), Some(0), "{log}");
    let records = remembered(site.folder());
    assert_eq!(records.len(), 5);
    for record in records {
        let played = site.arena.game(record.key.id.as_str()).unwrap().moves;
        let known: Vec<_> = record.moves.iter().map(|entry| entry.mv.to_string()).collect();
        assert_eq!(known, played);
        assert_eq!(record.end.unwrap().result, GameResult::Won);
        assert!(record.moves.iter().any(|entry| entry.evaluation.is_some()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bot_that_cannot_remember_says_so_once_and_plays() {
    for content in [None, Some("no database, but long enough to be looked at as one")] {
        let site = Site::open().await;
        match content {
            // A folder where the file would be.
            None => fs::create_dir(site.folder().join("meitner.db")).unwrap(),
            Some(text) => site.write("meitner.db", text),
        }
        let program = site.start(&[]);
        site.until_online().await;
        let game = site.challenge("QuietRook7");
        site.until_begun(&game).await;
        site.play_on(&game, 1).await;
        site.arena.act(&game, &HouseAction::Resign).unwrap();
        program.signal("TERM");
        let (status, log) = program.end();
        assert_eq!(status.code(), Some(0), "{log}");
        let warnings: Vec<_> = log.lines().filter(|line| line.contains("WARN")).collect();
        let [warning] = warnings[..] else { panic!("{log}") };
        assert!(warning.contains("meitner.db"), "{warning}");
        if content.is_some() {
            assert_eq!(remembered(site.folder()).len(), 1);
        }
    }
}
