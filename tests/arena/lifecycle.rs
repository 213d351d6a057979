//! Starting, closing, and what the operator is told when it cannot be.

use std::time::Duration;

use meitner::{
    arena::{
        AccountSpec, ChallengeSpec, ColorChoice, Endpoint, Fault, FaultRule, HouseAction,
        HouseSpec, OpponentKind, Scope,
    },
    daemon::{DaemonError, Options, ShutdownOptions, Summary, Unfinished},
    platform::lichess::{self, Client, Patience, StartError, check_account},
    rules::Color,
};

use tokio::time::sleep;

use crate::harness::{BOT, Bot, World, eventually, ms, options};

/// What the operator reads. No sentence may hold a token.
#[track_caller]
fn check_sentence(error: &StartError, token: &str, part: &str) {
    for text in
        [error.to_string(), format!("{error:?}"), DaemonError::from(error.clone()).to_string()]
    {
        assert!(!text.contains(token), "{text}");
    }
    assert!(error.to_string().contains(part), "{error}");
}

#[tokio::test]
async fn a_good_account_is_recognized() {
    let world = World::new().await;
    let account = check_account(&world.client(&world.token)).await.unwrap();
    assert_eq!((account.id.as_str(), account.name.as_str()), ("emberfork", BOT));
    assert_eq!(account.rating, Some(2000));
    world.assert_clean();
}

#[tokio::test]
async fn each_obstacle_at_the_start_has_its_sentence() {
    let world = World::new().await;
    let wrong = "lip_wrongToken0000";
    let error = check_account(&world.client(wrong)).await.unwrap_err();
    assert_eq!(error, StartError::WrongToken);
    check_sentence(&error, wrong, "does not accept the token");

    let weak = world.arena.add_token(BOT, &[Scope::ChallengeRead]).unwrap();
    let error = check_account(&world.client(&weak)).await.unwrap_err();
    assert_eq!(error, StartError::MissingScope("bot:play".to_owned()));
    check_sentence(&error, &weak, "bot:play");

    let person = world.arena.add_account(&AccountSpec::new("Somebody"));
    let error = check_account(&world.client(&person)).await.unwrap_err();
    assert_eq!(error, StartError::NotABot("Somebody".to_owned()));
    check_sentence(&error, &person, "Somebody");

    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base_url = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let options = lichess::Options { base_url, ..lichess::Options::default() };
    let client = Client::new(options, world.token.clone().into()).unwrap();
    let error = check_account(&client).await.unwrap_err();
    assert!(matches!(error, StartError::Unreachable(_)));
    check_sentence(&error, &world.token, "cannot reach the server");
}

#[tokio::test]
async fn a_start_during_an_outage_waits_for_its_end() {
    let world = World::new().await;
    world.house(OpponentKind::Random);
    world.arena.begin_outage(ms(700));
    let bot = world.bot().await;
    let game = world.challenge(60, 0, ColorChoice::White);
    world.finished(&game).await;
    assert_eq!(bot.stop().await.won, 1);
}

#[tokio::test]
async fn a_start_during_an_outage_can_be_broken_off() {
    let world = World::new().await;
    world.arena.begin_outage(Duration::from_mins(10));
    let bot = Bot::start(world.client(&world.token), options());
    sleep(ms(200)).await;
    assert_eq!(bot.stop().await, Summary::default());
}

#[tokio::test]
async fn the_first_signal_finishes_the_running_game_and_takes_no_new_one() {
    let world = World::new().await;
    world.house(OpponentKind::Silent);
    let mut bot = world.bot().await;
    let game = world.challenge(60, 0, ColorChoice::White);
    bot.until_playing(1).await;
    bot.shutdown.advance();
    world.arena.add_house(&HouseSpec::named("late"));
    world.arena.challenge(&ChallengeSpec::new("late", BOT)).unwrap();
    world.until("the late one is declined", |arena| arena.counters().declined == 1).await;
    world.reply(&game).await;
    world.arena.act(&game, &HouseAction::Resign).unwrap();
    let summary = bot.end().await.unwrap();
    assert_eq!((summary.accepted, summary.declined, summary.won), (1, 1, 1));
    world.assert_clean();
}

/// A bot in a game of two moves that does not end by itself.
async fn in_a_long_game(world: &World, shutdown: ShutdownOptions) -> (Bot, String) {
    world.house(OpponentKind::Silent);
    let mut bot = world.bot_with(Options { shutdown, ..options() }).await;
    let game = world.challenge(60, 0, ColorChoice::White);
    bot.until_playing(1).await;
    world.reply(&game).await;
    (bot, game)
}

#[tokio::test]
async fn the_second_signal_resigns() {
    let world = World::new().await;
    let (bot, game) = in_a_long_game(&world, ShutdownOptions::default()).await;
    bot.shutdown.advance();
    bot.shutdown.advance();
    assert_eq!(bot.end().await.unwrap().lost, 1);
    assert_eq!(world.arena.game(&game).unwrap().status, "resign");
}

#[tokio::test]
async fn a_game_that_has_hardly_begun_is_aborted_instead() {
    let world = World::new().await;
    world.house(OpponentKind::Silent);
    let mut bot = world.bot().await;
    let game = world.challenge(60, 0, ColorChoice::White);
    bot.until_playing(1).await;
    bot.shutdown.advance();
    bot.shutdown.advance();
    assert_eq!(bot.end().await.unwrap().aborted, 1);
    assert_eq!(world.arena.game(&game).unwrap().status, "aborted");
}

#[tokio::test]
async fn the_limit_ends_a_game_that_goes_on() {
    let world = World::new().await;
    let shutdown = ShutdownOptions { finish_limit: ms(300), unfinished: Unfinished::Resign };
    let (bot, game) = in_a_long_game(&world, shutdown).await;
    assert_eq!(bot.stop().await.lost, 1);
    assert_eq!(world.arena.game(&game).unwrap().status, "resign");
}

#[tokio::test]
async fn games_can_be_left_for_the_next_start() {
    let world = World::new().await;
    let shutdown = ShutdownOptions { finish_limit: Duration::ZERO, unfinished: Unfinished::Leave };
    let (bot, game) = in_a_long_game(&world, shutdown).await;
    assert_eq!(bot.stop().await.unknown, 1);
    assert_eq!(world.arena.game(&game).unwrap().status, "started");
    let bot = world.bot().await;
    world.reply(&game).await;
    world.arena.act(&game, &HouseAction::Resign).unwrap();
    assert_eq!(bot.stop().await.won, 1);
}

#[tokio::test]
async fn running_games_beyond_the_slots_are_resumed_before_new_ones_are_taken() {
    let world = World::new().await;
    let bot = world.bot_with(Options { concurrency: 2, ..options() }).await;
    let house = HouseSpec { opponent: OpponentKind::Silent, ..HouseSpec::named("h") };
    let spec = ChallengeSpec { color: ColorChoice::White, ..ChallengeSpec::new("h", BOT) };
    let games = world.arena.burst(&house, &spec, 2).unwrap();
    world.until("both run", |arena| arena.running().len() == 2).await;
    bot.kill().await;
    world.until("the bot is gone", |arena| !arena.is_online(BOT)).await;
    let late = HouseSpec { opponent: OpponentKind::Random, ..HouseSpec::named("late") };
    world.arena.add_house(&late);
    let late = world.arena.challenge(&ChallengeSpec::new("late", BOT)).unwrap();
    let mut bot = world.bot_with(Options { concurrency: 1, ..options() }).await;
    bot.until_playing(2).await;
    assert!(world.arena.game(&late).is_none(), "no slot is free");
    for game in &games {
        world.arena.act(game, &HouseAction::Abort).unwrap();
    }
    world.finished(&late).await;
    let summary = bot.stop().await;
    assert_eq!((summary.aborted, summary.won), (2, 1));
}

#[tokio::test]
async fn a_token_that_is_revoked_ends_the_bot() {
    let world = World::new().await;
    let bot = world.bot().await;
    world.arena.revoke_token(&world.token);
    world.arena.inject(Endpoint::EventStream, Fault::Cut);
    let error = bot.end().await.unwrap_err();
    assert_eq!(error, DaemonError::Start(StartError::WrongToken));
}

#[tokio::test]
async fn a_bot_that_is_let_in_no_more_finishes_its_game_first() {
    let world = World::new().await;
    let (bot, game) = in_a_long_game(&world, ShutdownOptions::default()).await;
    let no_more = FaultRule {
        endpoint: Endpoint::EventStream,
        fault: Fault::ServerError { status: 401 },
        rate: 1.0,
    };
    world.arena.faults().set_rules(vec![no_more]);
    world.arena.inject(Endpoint::EventStream, Fault::Cut);
    // A slow machine may have lost the stream by itself: then there is nothing to cut.
    let is_refusal = |fault: &Fault| matches!(fault, Fault::ServerError { .. });
    let refusals =
        || world.arena.faults().struck().iter().filter(|(_, fault)| is_refusal(fault)).count();
    eventually("it is refused for good", || refusals() >= 3).await;
    world.reply(&game).await;
    world.arena.act(&game, &HouseAction::Resign).unwrap();
    assert_eq!(bot.end().await, Err(DaemonError::Start(StartError::WrongToken)));
    let end = world.arena.game(&game).unwrap();
    assert_eq!((end.status, end.ending.unwrap().winner), ("resign", Some(Color::Black)));
    world.assert_clean();
}

#[tokio::test]
async fn a_few_refusals_in_a_row_are_forgiven() {
    let world = World::new().await;
    world.house(OpponentKind::Random);
    let patience = Patience { account: Duration::from_mins(1), ..Patience::default() };
    let client = world.client_with(world.limits(), patience);
    let bot = world.bot_of(client, options()).await;
    for _ in 0..3 {
        world.arena.inject(Endpoint::EventStream, Fault::ServerError { status: 401 });
    }
    world.arena.inject(Endpoint::EventStream, Fault::Cut);
    eventually("it is refused", || world.arena.faults().struck().len() == 4).await;
    let game = world.challenge(60, 0, ColorChoice::White);
    world.finished(&game).await;
    assert_eq!(bot.stop().await.won, 1);
}

#[tokio::test]
async fn a_second_bot_on_the_same_account_throws_the_first_out_and_both_back_off() {
    let world = World::new().await;
    let first = world.bot().await;
    let second = world.bot().await;
    eventually("they take turns", || world.arena.counters().event_streams >= 4).await;
    assert!(world.arena.counters().event_streams < 12);
    first.kill().await;
    second.kill().await;
}
