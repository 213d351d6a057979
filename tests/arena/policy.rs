//! Who may play: what the challenger is told, what is looked up, and what outlives a restart.

use std::path::Path;

use meitner::{
    arena::{ChallengeSpec, Endpoint, Fault, FaultRule, HouseAction, HouseSpec, OpponentKind},
    daemon::{BudgetOptions, Criteria, Options, PolicyOptions},
};

use crate::harness::{BOT, HOUSE, World, eventually, kept_in, options};

fn person(name: &str) -> HouseSpec {
    HouseSpec { opponent: OpponentKind::Random, ..HouseSpec::named(name) }
}

fn machine(name: &str) -> HouseSpec {
    HouseSpec { title: Some("BOT".to_owned()), ..person(name) }
}

/// The reasons that challengers were told, in order.
fn reasons(world: &World) -> Vec<String> {
    world.arena.declines().into_iter().map(|(_, reason)| reason).collect()
}

async fn until_declined(world: &World, count: u64) {
    world.until("it is declined", |arena| arena.counters().declined >= count).await;
}

#[tokio::test]
async fn people_and_bots_are_judged_apart_and_told_why() {
    let world = World::new().await;
    let policy = PolicyOptions {
        humans: Criteria { min_rating: Some(1500), ..Criteria::default() },
        bots: Criteria { accepted: false, ..Criteria::default() },
        ..PolicyOptions::default()
    };
    let bot = world.bot_with(Options { policy, ..options() }).await;
    world.arena.add_house(&HouseSpec { rating: 1499, ..person("weak") });
    world.arena.add_house(&machine("robot"));
    world.arena.add_house(&HouseSpec { rating: 1500, ..person(HOUSE) });
    for (count, name) in ["weak", "robot"].into_iter().enumerate() {
        world.arena.challenge(&ChallengeSpec::new(name, BOT)).unwrap();
        until_declined(&world, count as u64 + 1).await;
    }
    let game = world.arena.challenge(&ChallengeSpec::new(HOUSE, BOT)).unwrap();
    world.finished(&game).await;
    assert_eq!(reasons(&world), ["generic", "noBot"]);
    assert_eq!(bot.stop().await.won, 1);
}

#[tokio::test]
async fn an_opponent_has_only_so_many_games_at_once_and_of_late() {
    let world = World::new().await;
    let humans = Criteria {
        max_games_per_user: Some(1),
        max_recent_per_user: Some(2),
        ..Criteria::default()
    };
    let policy = PolicyOptions { humans, ..PolicyOptions::default() };
    let mut bot = world.bot_with(Options { concurrency: 3, policy, ..options() }).await;
    world.house(OpponentKind::Silent);
    let challenge = || world.arena.challenge(&ChallengeSpec::new(HOUSE, BOT)).unwrap();
    for nth in 1..=2 {
        let game = challenge();
        bot.until_playing(1).await;
        challenge();
        until_declined(&world, nth).await;
        world.arena.act(&game, &HouseAction::Abort).unwrap();
        bot.until_playing(0).await;
    }
    challenge();
    until_declined(&world, 3).await;
    assert_eq!(reasons(&world), ["later"; 3]);
    assert_eq!(bot.stop().await.accepted, 2);
}

/// A bot that asks for experienced opponents.
fn demanding() -> Options {
    let humans = Criteria { min_account_games: Some(10), ..Criteria::default() };
    let policy = PolicyOptions { humans, ..PolicyOptions::default() };
    Options { policy, ..options() }
}

#[tokio::test]
async fn accounts_are_looked_up_where_something_is_asked_of_them() {
    let world = World::new().await;
    let bot = world.bot_with(demanding()).await;
    world.arena.add_house(&person(HOUSE));
    world.arena.add_house(&machine("robot"));
    world.arena.challenge(&ChallengeSpec::new(HOUSE, BOT)).unwrap();
    until_declined(&world, 1).await;
    // Nothing is asked of bots.
    let game = world.arena.challenge(&ChallengeSpec::new("robot", BOT)).unwrap();
    world.finished(&game).await;
    assert_eq!(reasons(&world), ["generic"], "it has never played");
    let requests = world.arena.requests();
    let asked: Vec<_> = requests.iter().filter(|r| r.path.starts_with("/api/user/")).collect();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].path, "/api/user/quietrook7");
    bot.stop().await;
}

#[tokio::test]
async fn an_account_that_cannot_be_looked_up_is_declined_in_time_and_holds_nobody_up() {
    let world = World::new().await;
    let bot = world.bot_with(demanding()).await;
    let hung = FaultRule { endpoint: Endpoint::Other, fault: Fault::HungRequest, rate: 1.0 };
    world.arena.faults().set_rules(vec![hung]);
    world.arena.add_house(&person(HOUSE));
    world.arena.add_house(&machine("robot"));
    world.arena.challenge(&ChallengeSpec::new(HOUSE, BOT)).unwrap();
    eventually("the question hangs", || !world.arena.faults().struck().is_empty()).await;
    let game = world.arena.challenge(&ChallengeSpec::new("robot", BOT)).unwrap();
    world.until("the next one is accepted", |arena| arena.game(&game).is_some()).await;
    until_declined(&world, 1).await;
    assert_eq!(reasons(&world), ["later"]);
    bot.kill().await;
}

fn with_budget(per_day: u32, folder: &Path) -> Options {
    let budget = BudgetOptions { per_day: Some(per_day), spread: false };
    let policy = PolicyOptions { budget, ..PolicyOptions::default() };
    Options { policy, store: kept_in(folder), ..options() }
}

#[tokio::test]
async fn the_games_with_bots_of_the_day_are_counted_across_restarts() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new().await;
    world.arena.add_house(&machine("robot"));
    world.arena.add_house(&person(HOUSE));
    let play = async |name| {
        let game = world.arena.challenge(&ChallengeSpec::new(name, BOT)).unwrap();
        world.finished(&game).await;
    };
    let bot = world.bot_with(with_budget(2, folder.path())).await;
    play("robot").await;
    assert_eq!(bot.stop().await.won, 1);
    let bot = world.bot_with(with_budget(2, folder.path())).await;
    play("robot").await;
    world.arena.challenge(&ChallengeSpec::new("robot", BOT)).unwrap();
    until_declined(&world, 1).await;
    assert_eq!(bot.stop().await.won, 1);
    let bot = world.bot_with(with_budget(2, folder.path())).await;
    world.arena.challenge(&ChallengeSpec::new("robot", BOT)).unwrap();
    until_declined(&world, 2).await;
    play(HOUSE).await;
    assert_eq!(bot.stop().await.won, 1, "people are always welcome");
    assert_eq!(reasons(&world), ["later", "later"]);
}

#[tokio::test]
async fn a_quota_of_which_the_server_told_is_remembered_across_restarts() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new().await;
    for spec in [machine("busy"), machine("idle"), machine("other"), person(HOUSE)] {
        world.arena.add_house(&spec);
    }
    let key = "bot.vsBot.day".to_owned();
    let bot = world.bot_with(with_budget(100, folder.path())).await;
    let fault = Fault::OpponentLimit { key: key.clone(), seconds: 3600 };
    world.arena.inject(Endpoint::ChallengeAnswer, fault);
    world.arena.challenge(&ChallengeSpec::new("busy", BOT)).unwrap();
    eventually("the opponent's strikes", || world.arena.faults().struck().len() == 1).await;
    bot.stop().await;

    // What was open is judged again at the start, so that more than one may be declined.
    let bot = world.bot_with(with_budget(100, folder.path())).await;
    world.arena.challenge(&ChallengeSpec::new("busy", BOT)).unwrap();
    until_declined(&world, 1).await;
    let ratelimit = Some((key, 3600));
    let fault = Fault::TooManyRequests { retry_after: None, ratelimit, html: false };
    world.arena.inject(Endpoint::ChallengeAnswer, fault);
    world.arena.challenge(&ChallengeSpec::new("idle", BOT)).unwrap();
    eventually("our own strikes", || world.arena.faults().struck().len() == 2).await;
    bot.stop().await;

    let bot = world.bot_with(with_budget(100, folder.path())).await;
    let before = world.arena.counters().declined;
    world.arena.challenge(&ChallengeSpec::new("other", BOT)).unwrap();
    until_declined(&world, before + 1).await;
    let game = world.arena.challenge(&ChallengeSpec::new(HOUSE, BOT)).unwrap();
    world.finished(&game).await;
    assert_eq!(bot.stop().await.won, 1);
}

#[tokio::test]
async fn a_state_that_cannot_be_kept_costs_no_game() {
    let folder = tempfile::tempdir().unwrap();
    // A file where a folder is wanted.
    let path = folder.path().join("file");
    std::fs::write(&path, "").unwrap();
    let world = World::new().await;
    world.arena.add_house(&machine("robot"));
    let bot = world.bot_with(with_budget(100, &path)).await;
    let game = world.arena.challenge(&ChallengeSpec::new("robot", BOT)).unwrap();
    world.finished(&game).await;
    assert_eq!(bot.stop().await.won, 1);
}
