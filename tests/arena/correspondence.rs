//! Games without a clock: they last for days, beside the others and over restarts.

use std::time::Duration;

use meitner::{
    arbiter::TimeControl,
    arena::{ChallengeSpec, ColorChoice, HouseAction, HouseSpec, OpponentKind},
    daemon::{Criteria, Options, PolicyOptions, ShutdownOptions},
    game,
    platform::Speed,
};

use crate::harness::{BOT, Bot, HOUSE, World, kept_in, ms, options};

/// A bot that takes games without a clock as well, and thinks shortly.
fn patient() -> Options {
    let mut humans = Criteria::default();
    humans.speeds.push(Speed::Correspondence);
    Options {
        game: game::Options { untimed_move_time: ms(50), nodes: None, ..options().game },
        policy: PolicyOptions { humans, ..PolicyOptions::default() },
        ..options()
    }
}

/// Challenges the bot to a game without a clock, in which the challenger has White.
fn challenge(world: &World, challenger: &str, control: TimeControl) -> String {
    let color = ColorChoice::White;
    let spec = ChallengeSpec { control, color, ..ChallengeSpec::new(challenger, BOT) };
    world.arena.challenge(&spec).expect("a challenge")
}

const THREE_DAYS: TimeControl = TimeControl::Correspondence { per_move: Duration::from_hours(72) };

/// A game of two moves that lasts for days.
async fn in_a_game_of_days(world: &World, bot: &mut Bot, control: TimeControl) -> String {
    world.house(OpponentKind::Silent);
    let game = challenge(world, HOUSE, control);
    bot.until_playing(1).await;
    world.reply(&game).await;
    game
}

#[tokio::test]
async fn a_game_of_days_is_left_at_the_end_and_taken_up_by_the_next_run() {
    let (world, folder) = (World::new().await, tempfile::tempdir().unwrap());
    let kept = || Options { store: kept_in(folder.path()), ..patient() };
    for (control, signals) in [(THREE_DAYS, 1), (TimeControl::Unlimited, 2)] {
        let world = if signals == 1 { &world } else { &World::new().await };
        let mut bot = world.bot_with(kept()).await;
        let game = in_a_game_of_days(world, &mut bot, control).await;
        for _ in 1..signals {
            bot.shutdown.advance();
        }
        let summary = bot.stop().await;
        assert_eq!((summary.lost, summary.aborted, summary.unknown), (0, 0, 0), "{control:?}");
        assert_eq!((summary.unfinished, summary.left), (0, 1), "{control:?}");
        assert_eq!(world.arena.game(&game).unwrap().status, "started");
        let mut bot = world.bot_with(kept()).await;
        world.reply(&game).await;
        world.arena.act(&game, &HouseAction::Resign).unwrap();
        bot.until_playing(0).await;
        let summary = bot.stop().await;
        assert_eq!((summary.won, summary.left), (1, 0), "{control:?}");
        world.assert_clean();
    }
}

#[tokio::test]
async fn games_of_days_take_no_slot_from_others() {
    let world = World::new().await;
    let mut bot = world.bot_with(patient()).await;
    let slow = in_a_game_of_days(&world, &mut bot, THREE_DAYS).await;
    world.arena.add_house(&HouseSpec { opponent: OpponentKind::Random, ..HouseSpec::named("h") });
    let fast = world.arena.challenge(&ChallengeSpec::new("h", BOT)).unwrap();
    world.finished(&fast).await;
    world.reply(&slow).await;
    let summary = bot.stop().await;
    assert_eq!((summary.accepted, summary.won, summary.left), (2, 1, 1));
    world.assert_clean();
}

/// The drain waits for a game with a clock, which may still be lost or won, and not for the others.
#[tokio::test]
async fn the_drain_waits_for_games_with_a_clock_alone() {
    let world = World::new().await;
    let shutdown = ShutdownOptions { finish_limit: ms(300), ..ShutdownOptions::default() };
    let mut bot = world.bot_with(Options { shutdown, ..patient() }).await;
    let slow = in_a_game_of_days(&world, &mut bot, THREE_DAYS).await;
    world.arena.add_house(&HouseSpec { opponent: OpponentKind::Silent, ..HouseSpec::named("h") });
    let spec = ChallengeSpec { color: ColorChoice::White, ..ChallengeSpec::new("h", BOT) };
    let fast = world.arena.challenge(&spec).unwrap();
    bot.until_playing(2).await;
    world.reply(&fast).await;
    let summary = bot.stop().await;
    assert_eq!((summary.lost, summary.unfinished, summary.left), (1, 1, 1));
    assert_eq!(world.arena.game(&fast).unwrap().status, "resign");
    assert_eq!(world.arena.game(&slow).unwrap().status, "started");
}

#[tokio::test]
async fn there_are_no_more_games_of_days_than_the_limit() {
    let world = World::new().await;
    let mut bot = world.bot_with(Options { correspondence: 1, ..patient() }).await;
    in_a_game_of_days(&world, &mut bot, THREE_DAYS).await;
    world.arena.add_house(&HouseSpec { opponent: OpponentKind::Random, ..HouseSpec::named("h") });
    let one_more = challenge(&world, "h", THREE_DAYS);
    world.arena.add_house(&HouseSpec { opponent: OpponentKind::Random, ..HouseSpec::named("f") });
    let fast = world.arena.challenge(&ChallengeSpec::new("f", BOT)).unwrap();
    world.finished(&fast).await;
    assert!(world.arena.game(&one_more).is_none(), "it waits, and is declined in the end");
    let summary = bot.stop().await;
    assert_eq!((summary.accepted, summary.declined), (2, 1));
    world.assert_clean();
}

/// Several games whose move it is are thought about one after the other, on one engine.
#[tokio::test]
async fn games_of_days_are_played_side_by_side() {
    let world = World::new().await;
    let mut bot = world.bot_with(Options { correspondence: 3, ..patient() }).await;
    let house = HouseSpec { opponent: OpponentKind::Silent, ..HouseSpec::named("h") };
    let spec = ChallengeSpec {
        control: THREE_DAYS,
        color: ColorChoice::Black,
        ..ChallengeSpec::new("h", BOT)
    };
    let games = world.arena.burst(&house, &spec, 3).unwrap();
    bot.until_playing(3).await;
    for game in &games {
        world.until_moves(game, 1).await;
        world.reply(game).await;
    }
    assert_eq!(bot.stop().await.left, 3);
    world.assert_clean();
}
