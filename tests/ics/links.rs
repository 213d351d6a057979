//! Logins that fail, connections that break, and what becomes of the game.

use std::time::Duration;

use meitner::{
    arena::{ScriptedOpponent, ics::IcsOptions},
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
async fn whoever_takes_the_account_over_keeps_it_for_a_while_and_then_for_good() {
    let mut hall = Hall::open(IcsOptions::default()).await;
    hall.link.stay_away = Duration::from_millis(50);
    hall.start();
    for taken in 1..=3_u64 {
        hall.until("the bot is there", |server| server.counters().logins == 2 * taken - 1).await;
        let mut other = fics::Link::open(&hall.link, std::time::Instant::now()).await.unwrap();
        other.log_in(&hall.link).await.unwrap();
        hall.until("the bot is out", |server| server.counters().logins >= 2 * taken).await;
    }
    assert_eq!(hall.end_of_bot().await.unwrap_err(), LinkError::ReplacedAgain);
    assert_eq!(hall.server.counters().logins, 6, "it does not come back");
}

/// 2026-11-30: `check` with the account of a running bot ended that bot.
#[tokio::test]
async fn a_look_at_the_server_disturbs_nobody() {
    let mut hall = Hall::open(IcsOptions::default()).await;
    assert_eq!(fics::is_online(&hall.link).await, Some(false));
    hall.start();
    hall.until_open().await;
    assert_eq!(fics::is_online(&hall.link).await, Some(true));
    hall.server.admit_guests(false);
    assert_eq!(fics::is_online(&hall.link).await, None);
    hall.challenge("3 0 unrated atomic").await;
    hall.until_finished(1).await;
    hall.close().await.unwrap();
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
    let summary = hall.close().await.unwrap();
    let results = summary.won + summary.lost + summary.drawn;
    assert_eq!((results, summary.unknown), (1, 0), "one game has one result: {summary:?}");
}

/// 2026-11-30: a game whose boards came late was given up, and its boards were nobody's from then on.
#[tokio::test]
async fn a_game_that_was_given_up_goes_on_with_its_next_board() {
    let house = Hall::house(std::sync::Arc::new(ScriptedOpponent::new("e2e4 d2d4")));
    let mut hall = Hall::with(IcsOptions::default(), house).await;
    hall.start();
    hall.challenge("3 0 rated white atomic").await;
    hall.until("the moves are played", |server| {
        server.running().iter().any(|game| game.moves.len() == 4)
    })
    .await;
    let denial = "You are not playing a game.\n\r";
    hall.server.send(BOT, denial.repeat(2).as_bytes());
    // The answer to its `refresh` is the board from which it goes on.
    hall.until_said("moves").await;
    hall.server.command(HOUSE, "resign");
    hall.until_finished(1).await;
    assert_eq!(hall.server.finished()[0].1, format!("{HOUSE} resigns"));
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

/// Alice, who has adjourned a game with the bot by leaving, and has come back.
async fn alice_comes_back(hall: &mut Hall) -> fics::Link {
    hall.start();
    hall.until_open().await;
    let mut alice = hall.player("Alice").await;
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
    hall.log_in("Alice").await
}

#[tokio::test]
async fn an_adjourned_game_is_taken_up_when_the_opponent_is_back() {
    let mut hall = Hall::open(IcsOptions::default()).await;
    let mut alice = alice_comes_back(&mut hall).await;
    // The bot is told that she is back, and offers to go on.
    drain_until(&mut alice, "Challenge: Meitner").await;
    alice.send("accept");
    drain_until(&mut alice, "Continuing rated atomic").await;
    hall.until_said("moves").await;
    alice.send("resign");
    drain_until(&mut alice, "Alice resigns").await;
    assert_eq!(hall.server.finished()[0].1, "Alice resigns");
    let summary = hall.close().await.unwrap();
    assert_eq!((summary.won, summary.unknown), (1, 0), "{summary:?}");
}

/// 2026-11-30: whoever declined, or whose offer got lost, was never asked again.
#[tokio::test]
async fn an_offer_to_go_on_that_is_declined_is_made_again() {
    let mut hall = Hall::open(IcsOptions::default()).await;
    hall.options.invitations.resume_pause = Duration::from_millis(50);
    let mut alice = alice_comes_back(&mut hall).await;
    for _ in 0..2 {
        drain_until(&mut alice, "Challenge: Meitner").await;
        alice.send("decline");
    }
    drain_until(&mut alice, "Challenge: Meitner").await;
    // She asks by herself, while our offer stands.
    alice.send("match Meitner");
    drain_until(&mut alice, "Continuing rated atomic").await;
    alice.send("resign");
    drain_until(&mut alice, "Alice resigns").await;
    hall.close().await.unwrap();
}

#[tokio::test]
async fn an_offer_to_go_on_with_no_game_is_taken_back() {
    let mut hall = Hall::open(IcsOptions::default()).await;
    hall.start();
    hall.until_open().await;
    let news = format!(
        "\n\rNotification: {HOUSE}, who has an adjourned game with you, has arrived.\n\rfics% "
    );
    hall.server.send(BOT, news.as_bytes());
    hall.until_said(&format!("match {HOUSE}")).await;
    hall.until_said("withdraw ").await;
    hall.challenge("3 0 unrated atomic").await;
    hall.until_finished(1).await;
    hall.close().await.unwrap();
}

/// 2026-11-30: a server failed between the two, and the clock would have run.
#[tokio::test]
async fn a_game_that_begins_without_a_board_is_looked_for() {
    let mut hall = Hall::open(IcsOptions::default()).await;
    hall.start();
    hall.until_open().await;
    let line =
        format!("\n\r{{Game 9 ({HOUSE} vs. {BOT}) Continuing rated atomic match.}}\n\rfics% ");
    hall.server.send(BOT, line.as_bytes());
    hall.until_said("refresh").await;
    hall.challenge("3 0 unrated atomic").await;
    hall.until_finished(1).await;
    hall.close().await.unwrap();
}

/// 2026-11-30: an offer to go on took no slot, so that there were more games than allowed.
#[tokio::test]
async fn an_adjourned_game_waits_for_a_slot() {
    let silent = Hall::house(std::sync::Arc::new(ScriptedOpponent::new("e2e4 d2d4")));
    let mut hall = Hall::with(IcsOptions::default(), silent).await;
    hall.options.shutdown.unfinished = Unfinished::Leave;
    hall.start();
    hall.challenge("3 0 rated white atomic").await;
    hall.until("both have moved", |server| {
        server.running().iter().any(|game| game.moves.len() == 4)
    })
    .await;
    hall.shutdown.advance();
    hall.shutdown.advance();
    hall.end_of_bot().await.unwrap();
    hall.until("it is adjourned", |server| server.adjourned() == 1).await;
    for (concurrency, says) in [(0, false), (1, true)] {
        hall.shutdown = meitner::daemon::Shutdown::new();
        hall.options.concurrency = concurrency;
        hall.start();
        if says {
            hall.until("the game goes on", |server| !server.running().is_empty()).await;
        } else {
            hall.until("the bot is open again", |server| {
                let commands = server.commands_of(BOT);
                commands.iter().filter(|line| *line == "set open 1").count() == 2
            })
            .await;
            hall.server.command(HOUSE, &format!("tell {BOT} hello"));
            hall.until_said(&format!("tell {HOUSE} I am a bot")).await;
        }
        let offers = hall.server.commands_of(BOT);
        let offers = offers.iter().filter(|line| line.starts_with("match ")).count();
        assert_eq!(offers, usize::from(says));
        hall.shutdown.advance();
        hall.shutdown.advance();
        hall.end_of_bot().await.unwrap();
    }
}

/// Reads until a line holds this.
pub(crate) async fn drain_until(link: &mut fics::Link, text: &str) {
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
    assert!(hall.server.finished().iter().all(|(_, words)| *words != format!("{BOT} resigns")));
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
