//! Logins that fail, connections that break, and what becomes of the game.

use std::time::Duration;

use meitner::{
    arena::{
        ScriptedOpponent,
        ics::{IcsAccount, IcsOptions},
    },
    daemon::Unfinished,
    platform::fics::{self, LinkError},
};
use tokio::net::TcpListener;

use crate::harness::{BOT, HOUSE, Hall};

#[tokio::test]
async fn a_wrong_password_ends_the_bot_with_its_sentence() {
    let mut hall = Hall::open(IcsOptions::default()).await;
    hall.link.password = "wrong".to_owned().into();
    hall.start();
    let error = hall.end_of_bot().await.unwrap_err();
    assert_eq!(error, LinkError::Password(BOT.to_owned()));
    assert_eq!(hall.server.counters().connections, 1, "never again");
}

#[tokio::test]
async fn an_account_without_its_password_and_a_bad_name_are_told() {
    let mut hall = Hall::open(IcsOptions::default()).await;
    hall.link.password = String::new().into();
    hall.start();
    let error = hall.end_of_bot().await.unwrap_err();
    assert_eq!(error, LinkError::PasswordNeeded(BOT.to_owned()));
    hall.link.account = "Nobody1".to_owned();
    hall.start();
    let error = hall.end_of_bot().await.unwrap_err();
    assert_eq!(error, LinkError::Name("Nobody1".to_owned()));
}

#[tokio::test]
async fn whoever_takes_the_account_over_keeps_it() {
    let mut hall = Hall::open(IcsOptions::default()).await;
    hall.start();
    hall.until_open().await;
    let link = hall.link.clone();
    let mut other = fics::Link::open(&link, std::time::Instant::now()).await.unwrap();
    other.log_in(&link).await.unwrap();
    assert_eq!(hall.end_of_bot().await.unwrap_err(), LinkError::Replaced);
    assert_eq!(hall.server.counters().logins, 2, "it does not come back");
}

#[tokio::test]
async fn no_guests_now_means_later() {
    let mut hall = Hall::open(IcsOptions { admits_guests: false, ..IcsOptions::default() }).await;
    (hall.link.account, hall.link.password) = ("guest".to_owned(), String::new().into());
    hall.start();
    hall.until("it has tried", |server| server.counters().connections == 1).await;
    // It waits for ten minutes; the end is not held up by that.
    hall.close().await.unwrap();
}

#[tokio::test]
async fn a_server_that_is_not_there_is_waited_for() {
    let mut hall = Hall::open(IcsOptions::default()).await;
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = std::mem::replace(&mut hall.link.port, closed.local_addr().unwrap().port());
    drop(closed);
    hall.start();
    tokio::time::sleep(Duration::from_millis(200)).await;
    hall.shutdown.advance();
    assert_eq!(hall.end_of_bot().await.unwrap().accepted, 0);
    assert_ne!(port, hall.link.port);
}

#[tokio::test]
async fn a_cut_connection_is_opened_again() {
    let mut hall = Hall::open(IcsOptions::default()).await;
    hall.start();
    for logins in 2..5 {
        hall.until_open().await;
        hall.server.cut(BOT);
        hall.until("it is back", |server| server.counters().logins == logins).await;
    }
    hall.challenge("3 0 unrated atomic").await;
    hall.until_finished(1).await;
    hall.close().await.unwrap();
}

#[tokio::test]
async fn a_game_that_is_cut_goes_on_after_the_next_login() {
    let mut hall = Hall::open(IcsOptions::default()).await;
    hall.start();
    hall.challenge("3 0 rated atomic").await;
    hall.until("some moves are played", |server| {
        server.running().iter().any(|game| game.moves.len() >= 4) || !server.finished().is_empty()
    })
    .await;
    hall.server.cut(BOT);
    hall.until_finished(1).await;
    let (game, words) = hall.server.finished()[0].clone();
    assert!(game.moves.len() > 4, "{words}");
    assert_eq!(hall.server.adjourned(), 0);
    assert_eq!(hall.server.counters().illegal_moves, 0);
    assert!(hall.server.counters().logins >= 2);
    assert!(!words.contains("forfeits"), "{words}");
    hall.close().await.unwrap();
}

/// 2026-11-30: each cut doubled the wait, games or not, until one waited for three minutes.
#[tokio::test]
async fn a_game_that_is_cut_again_and_again_is_come_back_to_soon() {
    let house = Hall::house(std::sync::Arc::new(ScriptedOpponent::new("e2e4 d2d4")));
    let mut hall = Hall::with(IcsOptions::default(), house).await;
    hall.link.waits = (Duration::from_millis(10), Duration::from_hours(1));
    hall.start();
    hall.challenge("3 0 rated white atomic").await;
    for logins in 1..20 {
        hall.until("the game goes on", |server| {
            server.counters().logins == logins
                && server.running().iter().any(|game| game.moves.len() == 4)
        })
        .await;
        hall.server.cut(BOT);
    }
    hall.until("the game goes on", |server| !server.running().is_empty()).await;
    hall.server.command(HOUSE, "resign");
    hall.until_finished(1).await;
    assert_eq!(hall.server.finished()[0].1, format!("{HOUSE} resigns"));
    hall.close().await.unwrap();
}

#[tokio::test]
async fn an_adjourned_game_is_taken_up_when_the_opponent_asks() {
    let mut hall = Hall::open(IcsOptions::default()).await;
    hall.server.add_account(&IcsAccount {
        name: "Alice".to_owned(),
        password: "x".to_owned(),
        is_computer: false,
        rating: 1500,
    });
    hall.start();
    hall.until_open().await;
    let options = fics::Options {
        account: "Alice".to_owned(),
        password: "x".to_owned().into(),
        ..hall.link.clone()
    };
    let mut alice = fics::Link::open(&options, std::time::Instant::now()).await.unwrap();
    alice.log_in(&options).await.unwrap();
    for line in ["iset nowrap 1", "match Meitner 3 0 rated white atomic"] {
        alice.send(line);
    }
    drain_until(&mut alice, "Creating rated atomic").await;
    drain_until(&mut alice, "<12> ").await;
    for line in ["e2e4", "d2d4"] {
        alice.send(line);
        drain_until(&mut alice, "<12> ").await;
        drain_until(&mut alice, "<12> ").await;
    }
    alice.close().await;
    hall.until("it is adjourned", |server| server.adjourned() == 1).await;
    let mut alice = fics::Link::open(&options, std::time::Instant::now()).await.unwrap();
    alice.log_in(&options).await.unwrap();
    // The bot is told that she is back, and offers to go on.
    drain_until(&mut alice, "Challenge: Meitner").await;
    alice.send("accept");
    drain_until(&mut alice, "Continuing rated atomic").await;
    alice.send("resign");
    drain_until(&mut alice, "Alice resigns").await;
    assert_eq!(hall.server.finished()[0].1, "Alice resigns");
    hall.close().await.unwrap();
}

/// Reads until a line holds this.
async fn drain_until(link: &mut fics::Link, text: &str) {
    let reading = async {
        loop {
            let (frame, _) = link.next().await.expect("a connection");
            if let fics::wire::Frame::Line(line) = frame
                && line.contains(text)
            {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(30), reading).await.expect(text);
}

#[tokio::test]
async fn the_first_signal_finishes_the_game_and_the_second_resigns_it() {
    let silent = Hall::house(std::sync::Arc::new(ScriptedOpponent::new("e2e4 d2d4")));
    let mut hall = Hall::with(IcsOptions::default(), silent).await;
    hall.start();
    hall.challenge("3 0 unrated white atomic").await;
    hall.until("both have moved", |server| {
        server.running().iter().any(|game| game.moves.len() == 4) || !server.finished().is_empty()
    })
    .await;
    hall.shutdown.advance();
    hall.until_said("set open 0").await;
    assert_eq!(hall.server.running().len(), 1);
    let (server, summary) = (hall.server.clone(), hall.close().await.unwrap());
    assert_eq!(server.finished()[0].1, format!("{BOT} resigns"));
    assert_eq!(summary.lost, 1);
}

#[tokio::test]
async fn a_game_can_be_left_to_be_taken_up_by_a_restart() {
    let mut hall = Hall::open(IcsOptions::default()).await;
    hall.options.shutdown.unfinished = Unfinished::Leave;
    hall.start();
    hall.challenge("3 0 unrated atomic").await;
    hall.until("some moves are played", |server| {
        server.running().iter().any(|game| game.moves.len() >= 4) || !server.finished().is_empty()
    })
    .await;
    hall.shutdown.advance();
    hall.shutdown.advance();
    hall.end_of_bot().await.unwrap();
    hall.until("it is adjourned", |server| {
        server.adjourned() == 1 || !server.finished().is_empty()
    })
    .await;
    hall.shutdown = meitner::daemon::Shutdown::new();
    hall.start();
    hall.until_finished(1).await;
    hall.close().await.unwrap();
}

#[tokio::test]
async fn a_check_logs_in_and_out() {
    let hall = Hall::open(IcsOptions::default()).await;
    let mut link = fics::Link::open(&hall.link, std::time::Instant::now()).await.unwrap();
    let account = link.log_in(&hall.link).await.unwrap().account;
    assert!(account.is_computer() && !account.is_guest());
    link.send("quit");
    link.close().await;
    hall.until("it has left", |server| !server.is_online(BOT)).await;
    assert!(hall.server.is_online(HOUSE));
}
