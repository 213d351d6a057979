//! The exit codes of `run` that need a server; see README.md.

use std::time::Duration;

use meitner::{
    arbiter::TimeControl,
    arena::{AccountSpec, ChallengeSpec, ColorChoice, HouseSpec, OpponentKind, Scope},
};

use crate::harness::{BOT, Program, Site};

/// Runs the program with this token to its end, and returns its code and its last words.
fn refused(site: &Site, token: &str) -> (Option<i32>, String) {
    let mut program = Program::new(site.command(token, &[]));
    program.follow_log();
    let (status, log) = program.end();
    assert!(!log.contains(token), "{log}");
    let error = log.lines().find(|line| line.starts_with("meitner: "));
    (status.code(), error.expect("a sentence").to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn each_refusal_of_the_server_has_its_code_and_its_sentence() {
    let site = Site::open().await;
    let (code, error) = refused(&site, "lip_wrongToken0000");
    assert_eq!(code, Some(3));
    assert!(error.contains("does not accept the token"), "{error}");

    let weak = site.arena.add_token(BOT, &[Scope::ChallengeRead]).unwrap();
    let (code, error) = refused(&site, &weak);
    assert_eq!(code, Some(4));
    assert!(error.contains("lacks the scope bot:play"), "{error}");

    let person = site.arena.add_account(&AccountSpec::new("Somebody"));
    let (code, error) = refused(&site, &person);
    assert_eq!(code, Some(5));
    assert!(error.contains("Somebody is not a bot account"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_without_games_ends_in_good_order() {
    let site = Site::open().await;
    let program = site.start(&[]);
    site.until_online().await;
    program.signal("TERM");
    let (status, log) = program.end();
    assert_eq!(status.code(), Some(0), "{log}");
    assert!(log.contains("left in good order"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_signal_leaves_a_game_and_says_so_by_code() {
    let site = Site::open().await;
    let program = site.start(&[]);
    site.until_online().await;
    let game = site.challenge("QuietRook7");
    site.until_begun(&game).await;
    site.play_on(&game, 2).await;
    program.signal("TERM");
    program.until_log("finishing running games");
    program.signal("INT");
    let (status, log) = program.end();
    assert_eq!(status.code(), Some(6), "{log}");
    assert!(log.contains("left before the games were finished"), "{log}");
    assert_eq!(site.arena.game(&game).unwrap().status, "resign");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_game_of_days_is_left_in_good_order() {
    let site = Site::open().await;
    let program = site.start(&["--set", "challenge.speeds=correspondence"]);
    site.until_online().await;
    let house = HouseSpec { opponent: OpponentKind::Silent, ..HouseSpec::named("SlowPawn") };
    site.arena.add_house(&house);
    let control = TimeControl::Correspondence { per_move: Duration::from_hours(24) };
    let spec = ChallengeSpec { control, ..ChallengeSpec::new("SlowPawn", BOT) };
    let game = site.arena.challenge(&spec.color(ColorChoice::White)).expect("a challenge");
    site.until_begun(&game).await;
    site.play_on(&game, 2).await;
    program.signal("TERM");
    let (status, log) = program.end();
    assert_eq!(status.code(), Some(0), "{log}");
    assert!(log.contains("correspondence games are left to the next run"), "{log}");
    assert!(log.contains("left in good order") && log.contains("left_to_the_next_run=1"), "{log}");
    assert_eq!(site.arena.game(&game).unwrap().status, "started");
}
