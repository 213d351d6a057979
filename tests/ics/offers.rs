//! What is offered, asked and said beside the moves.

use std::sync::Arc;

use meitner::arena::{ScriptedOpponent, SilentOpponent, ics::IcsOptions};

use crate::harness::{BOT, HOUSE, Hall};

/// A game against a house player who has made two moves and waits, so that it is its turn.
async fn quiet_game() -> Hall {
    let house = Hall::house(Arc::new(ScriptedOpponent::new("e2e4 d2d4")));
    let mut hall = Hall::with(IcsOptions::default(), house).await;
    hall.start();
    hall.challenge("3 0 rated white atomic").await;
    hall.until("both have moved twice", |server| {
        server.running().iter().any(|game| game.moves.len() == 4)
    })
    .await;
    hall
}

#[tokio::test]
async fn adjourning_aborting_and_switching_are_declined() {
    let hall = quiet_game().await;
    for (number, command) in ["adjourn", "abort"].into_iter().enumerate() {
        hall.server.command(HOUSE, command);
        hall.until(command, |server| {
            let commands = server.commands_of(BOT);
            commands.iter().filter(|line| line.starts_with("decline ")).count() == number + 1
        })
        .await;
    }
    assert_eq!(hall.server.running().len(), 1);
    hall.server.command(HOUSE, "resign");
    hall.until_finished(1).await;
    assert_eq!(hall.close().await.unwrap().won, 1);
}

#[tokio::test]
async fn a_draw_offer_is_judged_by_the_session() {
    let mut hall = {
        let house = Hall::house(Arc::new(ScriptedOpponent::new("e2e4 d2d4")));
        Hall::with(IcsOptions::default(), house).await
    };
    let draw = &mut hall.options.game.humans.draw;
    (draw.when.from_move, draw.accept_at_most_cp) = (1, 30_000);
    hall.start();
    hall.challenge("3 0 rated white atomic").await;
    hall.until("both have moved twice", |server| {
        server.running().iter().any(|game| game.moves.len() == 4)
    })
    .await;
    hall.server.command(HOUSE, "draw");
    hall.until_finished(1).await;
    assert_eq!(hall.server.finished()[0].1, "Game drawn by mutual agreement");
    assert_eq!(hall.close().await.unwrap().drawn, 1);
}

#[tokio::test]
async fn a_game_that_does_not_begin_is_called_off() {
    let house = Hall::house(Arc::new(SilentOpponent));
    let mut hall = Hall::with(IcsOptions::default(), house).await;
    hall.options.game.abort_patience = std::time::Duration::from_millis(200);
    hall.start();
    hall.challenge("3 0 rated white atomic").await;
    hall.until_finished(1).await;
    assert_eq!(hall.server.finished()[0].1, "Game aborted on move 1");
    assert_eq!(hall.close().await.unwrap().aborted, 1);
}

#[tokio::test]
async fn people_get_a_short_help_and_no_power() {
    let hall = quiet_game().await;
    hall.server.command(HOUSE, &format!("tell {BOT} resign"));
    hall.until_said(&format!("tell {HOUSE} I am a bot")).await;
    hall.server.command(HOUSE, &format!("tell {BOT} abort"));
    hall.server.command(HOUSE, "say quit");
    hall.server.command(HOUSE, "adjourn");
    hall.until_said("decline ").await;
    let commands = hall.server.commands_of(BOT);
    assert!(!commands.iter().any(|line| ["resign", "abort", "quit"].contains(&line.as_str())));
    let helps = commands.iter().filter(|line| line.contains("I am a bot and")).count();
    assert_eq!(helps, 1, "not at every word");
    hall.server.command(HOUSE, "resign");
    hall.until_finished(1).await;
    hall.close().await.unwrap();
}

#[tokio::test]
async fn a_takeback_does_not_break_the_game() {
    let hall = quiet_game().await;
    hall.server.command(HOUSE, "takeback 2");
    // Whatever the session thinks of it, the game goes on from what the server shows.
    hall.server.command(HOUSE, "c2c4");
    hall.until("the game goes on", |server| {
        server.running().iter().any(|game| game.moves.len() >= 6) || !server.finished().is_empty()
    })
    .await;
    assert_eq!(hall.server.counters().illegal_moves, 0);
    hall.server.command(HOUSE, "resign");
    hall.until_finished(1).await;
    hall.close().await.unwrap();
}

#[tokio::test]
async fn a_seek_is_posted_and_answered() {
    let house = Hall::house(Arc::new(SilentOpponent));
    let mut hall = Hall::with(IcsOptions::default(), house).await;
    hall.options.invitations.seek = "3 0 unrated".to_owned();
    hall.start();
    hall.until("a seek is there", |server| !server.seeks().is_empty()).await;
    let seek = hall.server.seeks()[0];
    hall.server.command(HOUSE, &format!("play {seek}"));
    hall.until("a game begins", |server| !server.running().is_empty()).await;
    assert!(hall.server.seeks().is_empty(), "seeks are gone when a game begins");
    hall.shutdown.advance();
    hall.close().await.unwrap();
}

#[tokio::test]
async fn a_rematch_is_asked_for_once_if_set() {
    let mut hall = Hall::open(IcsOptions::default()).await;
    hall.options.invitations.rematches = 1;
    hall.start();
    hall.challenge("3 0 unrated white atomic").await;
    hall.until_finished(2).await;
    let games = hall.server.finished();
    assert_eq!([&games[0].0.white, &games[1].0.white], [HOUSE, BOT]);
    hall.server.command(HOUSE, &format!("match {BOT} 3 0 unrated atomic"));
    hall.until_finished(3).await;
    let commands = hall.server.commands_of(BOT);
    assert_eq!(commands.iter().filter(|line| *line == "rematch").count(), 1);
    hall.close().await.unwrap();
}

#[tokio::test]
async fn names_that_are_set_are_asked_for_a_game() {
    let house = Hall::house(Arc::new(SilentOpponent));
    let mut hall = Hall::with(IcsOptions::default(), house).await;
    let invitations = &mut hall.options.invitations;
    invitations.names = vec!["Nobody".to_owned(), HOUSE.to_owned()];
    invitations.pause = std::time::Duration::from_millis(10);
    hall.start();
    hall.until("a game begins", |server| !server.running().is_empty()).await;
    let commands = hall.server.commands_of(BOT);
    let asked: Vec<_> = commands.iter().filter(|line| line.starts_with("match ")).collect();
    assert_eq!(asked, ["match Nobody 3 0 unrated atomic", "match QuietRook 3 0 unrated atomic"]);
    hall.shutdown.advance();
    hall.close().await.unwrap();
}

#[tokio::test]
async fn a_game_is_adjourned_if_that_is_agreed_to() {
    let house = Hall::house(Arc::new(ScriptedOpponent::new("e2e4 d2d4")));
    let mut hall = Hall::with(IcsOptions::default(), house).await;
    hall.link.agrees.adjourn = true;
    hall.start();
    hall.challenge("3 0 rated white atomic").await;
    hall.until("both have moved twice", |server| {
        server.running().iter().any(|game| game.moves.len() == 4)
    })
    .await;
    hall.server.command(HOUSE, "adjourn");
    hall.until("it is adjourned", |server| server.adjourned() == 1).await;
    hall.close().await.unwrap();
}

#[tokio::test]
async fn the_bot_takes_its_leave_after_the_game() {
    let mut hall = Hall::open(IcsOptions::default()).await;
    hall.options.game.chat.players.goodbye = "Good game!".parse().unwrap();
    hall.start();
    hall.challenge("3 0 unrated white atomic").await;
    hall.until_finished(1).await;
    hall.until_said("say Good game!").await;
    hall.close().await.unwrap();
}
