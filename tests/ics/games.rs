//! Whole games, challenges, and the slots that FICS shares with lichess.

use std::time::Duration;

use meitner::{
    arena::{
        OpponentKind, ScriptedOpponent, SilentOpponent,
        ics::{IcsFaults, IcsHouse, IcsOptions, Wording},
    },
    daemon::{Criteria, PolicyOptions, Resources},
    platform::fics::timeseal::Version,
    store::StoreOptions,
};

use crate::harness::{BOT, HOUSE, Hall};

/// Nothing went wrong on our side.
fn assert_clean(hall: &Hall) {
    let counters = hall.server.counters();
    assert_eq!((counters.illegal_moves, counters.untimely_moves), (0, 0), "{counters:?}");
    assert_eq!(counters.unknown_commands, 0, "{:?}", hall.server.commands_of(BOT));
    for (game, words) in hall.server.finished() {
        assert!(!words.contains(&format!("{BOT} forfeits")), "{words}: {game:?}");
    }
}

#[tokio::test]
async fn a_game_is_played_to_its_end_in_each_color() {
    for (color, seal) in
        [("white", None), ("black", Some(Version::V1)), ("white", Some(Version::V2))]
    {
        let mut hall = Hall::open(IcsOptions::default()).await;
        hall.link.timeseal = seal;
        hall.start();
        hall.challenge(&format!("3 0 rated {color} atomic")).await;
        hall.until_finished(1).await;
        let (game, words) = hall.server.finished()[0].clone();
        assert!(game.moves.len() > 2, "{words}");
        assert_eq!(game.white == BOT, color == "black");
        assert!(game.rated);
        assert_eq!(hall.server.counters().pongs > 0, seal.is_some());
        assert_clean(&hall);
        let summary = hall.close().await.unwrap();
        assert_eq!(summary.accepted, 1);
        assert_eq!(summary.won + summary.lost + summary.drawn, 1, "{summary:?}: {words}");
    }
}

#[tokio::test]
async fn games_follow_each_other() {
    let options = IcsOptions { wording: Wording::Compatible, ..IcsOptions::default() };
    let mut hall = Hall::open(options).await;
    hall.start();
    for number in 1..=3 {
        hall.until("the board is free", |server| server.running().is_empty()).await;
        hall.until_open().await;
        hall.server.command(HOUSE, &format!("match {BOT} 3 1 unrated atomic"));
        hall.until_finished(number).await;
    }
    assert_clean(&hall);
    assert_eq!(hall.close().await.unwrap().accepted, 3);
}

#[tokio::test]
async fn a_guest_plays_too() {
    let mut hall = Hall::open(IcsOptions::default()).await;
    (hall.link.account, hall.link.password) = ("guest".to_owned(), String::new().into());
    hall.start();
    hall.until("a guest is there", |server| !server.guests().is_empty()).await;
    let guest = hall.server.guests()[0].clone();
    hall.until("the guest is open", |server| {
        server.commands_of(&guest).iter().any(|line| line == "set open 1")
    })
    .await;
    hall.server.command(HOUSE, &format!("match {guest} 3 0 atomic"));
    hall.until_finished(1).await;
    assert!(!hall.server.finished()[0].0.rated);
    assert_eq!(hall.server.counters().illegal_moves, 0);
    hall.close().await.unwrap();
}

#[tokio::test]
async fn chatter_long_lines_split_reads_and_bad_bytes_disturb_nothing() {
    let faults =
        IcsFaults { split: 0.3, chatter: 0.5, long_line: 0.1, garbage: 0.3, delay: 0.05, cut: 0.0 };
    let mut hall = Hall::open(IcsOptions { faults, ..IcsOptions::default() }).await;
    hall.start();
    hall.challenge("3 0 rated white atomic").await;
    hall.until_finished(1).await;
    assert_clean(&hall);
    let summary = hall.close().await.unwrap();
    assert_eq!(summary.unknown, 0, "{summary:?}");
}

#[tokio::test]
async fn every_fault_together_loses_no_game() {
    let faults = IcsFaults { cut: 0.03, ..IcsFaults::MIX };
    let mut hall = Hall::open(IcsOptions { faults, seed: 3, ..IcsOptions::default() }).await;
    hall.start();
    for number in 1..=4 {
        hall.play_one(number).await;
    }
    hall.server.set_faults(IcsFaults::default());
    assert_clean(&hall);
    hall.close().await.unwrap();
}

#[tokio::test]
async fn unwelcome_challenges_are_declined_with_a_reason() {
    let mut hall = Hall::open(IcsOptions::default()).await;
    let humans = Criteria { rated: false, ..Criteria::default() };
    hall.options.policy = PolicyOptions { humans, ..PolicyOptions::default() };
    hall.start();
    hall.until_open().await;
    hall.server.command(HOUSE, &format!("match {BOT} 3 0 rated atomic"));
    hall.until_said("decline ").await;
    hall.until_said(&format!("tell {HOUSE} Unrated games only")).await;
    hall.server.command(HOUSE, &format!("match {BOT} 3 0 unrated suicide"));
    hall.until("the second is declined", |server| {
        server.commands_of(BOT).iter().filter(|line| line.starts_with("decline ")).count() == 2
    })
    .await;
    assert!(hall.server.running().is_empty());
    assert_eq!(hall.close().await.unwrap().declined, 2);
}

#[tokio::test]
async fn a_second_challenger_is_declined_during_a_game() {
    let mut hall =
        Hall::with(IcsOptions::default(), Hall::house(std::sync::Arc::new(SilentOpponent))).await;
    hall.server.add_house(IcsHouse::new("Another", OpponentKind::Random.build(2)));
    hall.start();
    hall.challenge("3 0 unrated white atomic").await;
    // The server refuses it by itself, as far as it sees that we play; so it is said in its name.
    hall.server.send(
        BOT,
        b"\n\r<pf> 99 w=Another t=match p=Another (1900) Meitner (1900) unrated atomic 3 0\n\rfics% ",
    );
    hall.until_said("decline 99").await;
    hall.shutdown.advance();
    hall.close().await.unwrap();
}

#[tokio::test]
async fn the_slots_are_shared_with_other_platforms() {
    let mut hall = Hall::open(IcsOptions::default()).await;
    hall.options.concurrency = 0;
    let resources = Resources::new(&hall.options);
    hall.start_with(&resources);
    hall.until_open().await;
    hall.server.command(HOUSE, &format!("match {BOT} 3 0 unrated atomic"));
    // No slot is free anywhere: the challenge waits, and is declined in the end.
    hall.until_said("decline ").await;
    assert!(hall.server.running().is_empty());
    hall.close().await.unwrap();
}

#[tokio::test]
async fn an_opponent_without_time_is_flagged() {
    let options = IcsOptions {
        flags_by_itself: false,
        clock: Some(Duration::from_millis(300)),
        ..IcsOptions::default()
    };
    let house = Hall::house(std::sync::Arc::new(ScriptedOpponent::new("e2e4 e7e5 a2a3")));
    let mut hall = Hall::with(options, house).await;
    // Within the rest of its own 300 ms.
    hall.options.game.move_overhead = Duration::from_millis(20);
    hall.start();
    hall.challenge("1 0 unrated white atomic").await;
    hall.until_finished(1).await;
    let words = &hall.server.finished()[0].1;
    assert!(words == "QuietRook forfeits on time" || words.contains("exploded"), "{words}");
    hall.close().await.unwrap();
}

#[tokio::test]
async fn a_rating_far_from_ours_is_declined() {
    let house = IcsHouse { rating: 2300, ..Hall::house(std::sync::Arc::new(SilentOpponent)) };
    let mut hall = Hall::with(IcsOptions::default(), house).await;
    hall.options.policy.humans.max_rating_difference = Some(300);
    hall.start();
    hall.until_open().await;
    hall.server.command(HOUSE, &format!("match {BOT} 3 0 rated atomic"));
    hall.until_said("decline ").await;
    assert!(hall.server.running().is_empty());
    hall.close().await.unwrap();
}

#[tokio::test]
async fn games_with_bots_are_counted_beyond_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let house = IcsHouse { is_computer: true, ..Hall::house(OpponentKind::Greedy.build(1)) };
    let mut hall = Hall::with(IcsOptions::default(), house).await;
    hall.options.policy.budget.per_day = Some(1);
    let folder = Some(folder.path().to_owned());
    hall.options.store = StoreOptions { folder, ..StoreOptions::default() };
    hall.start();
    hall.challenge("3 0 unrated atomic").await;
    hall.until_finished(1).await;
    hall.shutdown.advance();
    assert_eq!(hall.end_of_bot().await.unwrap().accepted, 1);
    hall.until("it has left", |server| !server.is_online(BOT)).await;
    hall.shutdown = meitner::daemon::Shutdown::new();
    hall.start();
    hall.until_open().await;
    hall.server.command(HOUSE, &format!("match {BOT} 3 0 unrated atomic"));
    hall.until_said("decline ").await;
    hall.close().await.unwrap();
}
