//! Which challenges become games, and how many at once.

use std::time::Duration;

use meitner::{
    arbiter::TimeControl,
    arena::{
        AccountSpec, ArenaOptions, ChallengeSpec, ColorChoice, Endpoint, Fault, HouseAction,
        HouseSpec, OpponentKind,
    },
    daemon::{Options, PolicyOptions},
    platform::lichess::{self, Patience},
};

use crate::harness::{BOT, Bot, HOUSE, World, eventually, options};

#[tokio::test]
async fn a_burst_of_challenges_never_exceeds_the_slots() {
    let world = World::new().await;
    let mut snapshots = world.arena.watch();
    let bot = world.bot_with(Options { concurrency: 2, ..options() }).await;
    let house = HouseSpec { opponent: OpponentKind::Random, ..HouseSpec::named("h") };
    world.arena.burst(&house, &ChallengeSpec::new("h", BOT), 6).unwrap();
    world.until("all are played", |arena| arena.finished().len() == 6).await;
    let mut running = std::collections::HashSet::new();
    while let Ok(snapshot) = snapshots.try_recv() {
        if snapshot.ending.is_some() {
            running.remove(&snapshot.id);
        } else {
            running.insert(snapshot.id);
        }
        assert!(running.len() <= 2, "{running:?}");
    }
    assert_eq!(bot.stop().await.won, 6);
    world.assert_clean();
}

#[tokio::test]
async fn what_is_not_wanted_is_declined() {
    let world = World::new().await;
    let policy = PolicyOptions { block: ["H-3"].iter().collect(), ..PolicyOptions::default() };
    let bot = world.bot_with(Options { policy, ..options() }).await;
    for name in ["h-1", "h-2", "h-3"] {
        world.arena.add_house(&HouseSpec::named(name));
    }
    let ultra = TimeControl::RealTime { limit: Duration::from_secs(15), increment: Duration::ZERO };
    for spec in [
        ChallengeSpec { variant: "chess960".to_owned(), ..ChallengeSpec::new("h-1", BOT) },
        ChallengeSpec { control: ultra, ..ChallengeSpec::new("h-2", BOT) },
        ChallengeSpec::new("h-3", BOT),
    ] {
        world.arena.challenge(&spec).unwrap();
    }
    world.until("all are declined", |arena| arena.counters().declined == 3).await;
    assert_eq!(world.arena.counters().accepted, 0);
    assert_eq!(bot.stop().await.declined, 3);
}

#[tokio::test]
async fn our_own_challenges_are_left_alone() {
    let world = World::new().await;
    let bot = world.bot_with(Options { concurrency: 2, ..options() }).await;
    world.arena.add_account(&AccountSpec::new("Somebody"));
    let ours = world.arena.challenge(&ChallengeSpec::new(BOT, "Somebody")).unwrap();
    world.house(OpponentKind::Random);
    let game = world.challenge(60, 0, ColorChoice::White);
    world.finished(&game).await;
    world.arena.cancel_challenge(&ours).unwrap();
    let summary = bot.stop().await;
    assert_eq!((summary.accepted, summary.declined, summary.won), (1, 0, 1));
    assert_eq!(world.arena.counters().refused_commands, 0);
}

#[tokio::test]
async fn a_challenge_waits_for_a_slot_and_may_be_withdrawn_meanwhile() {
    let world = World::new().await;
    world.house(OpponentKind::Silent);
    let mut bot = world.bot().await;
    let first = world.challenge(60, 0, ColorChoice::White);
    bot.until_playing(1).await;
    let random =
        |name: &str| HouseSpec { opponent: OpponentKind::Random, ..HouseSpec::named(name) };
    world.arena.add_house(&random("h-1"));
    world.arena.add_house(&random("h-2"));
    let withdrawn = world.arena.challenge(&ChallengeSpec::new("h-1", BOT)).unwrap();
    let second = world.arena.challenge(&ChallengeSpec::new("h-2", BOT)).unwrap();
    world.arena.cancel_challenge(&withdrawn).unwrap();
    world.arena.act(&first, &HouseAction::Abort).unwrap();
    world.finished(&second).await;
    assert!(world.arena.game(&withdrawn).is_none());
    let summary = bot.stop().await;
    assert_eq!((summary.accepted, summary.aborted, summary.won), (2, 1, 1));
    assert_eq!(world.arena.counters().refused_commands, 0);
}

#[tokio::test]
async fn an_opponent_whose_quota_is_used_up_is_left_alone() {
    let world = World::new().await;
    let bot_house = |name: &str| HouseSpec {
        title: Some("BOT".to_owned()),
        opponent: OpponentKind::Random,
        ..HouseSpec::named(name)
    };
    world.arena.add_house(&bot_house("busy"));
    world.arena.add_house(&bot_house("idle"));
    let bot = world.bot().await;
    let fault = Fault::OpponentLimit { key: "bot.vsBot.day".to_owned(), seconds: 3600 };
    world.arena.inject(Endpoint::ChallengeAnswer, fault);
    world.arena.challenge(&ChallengeSpec::new("busy", BOT)).unwrap();
    eventually("the quota strikes", || world.arena.faults().struck().len() == 1).await;
    world.arena.challenge(&ChallengeSpec::new("busy", BOT)).unwrap();
    world.until("the second is declined", |arena| arena.counters().declined == 1).await;
    let game = world.arena.challenge(&ChallengeSpec::new("idle", BOT)).unwrap();
    world.finished(&game).await;
    assert_eq!(bot.stop().await.won, 1);
}

#[tokio::test]
async fn our_own_used_quota_leaves_people() {
    let world = World::new().await;
    let bot_house = HouseSpec { title: Some("BOT".to_owned()), ..HouseSpec::named("machine") };
    world.arena.add_house(&bot_house);
    world.house(OpponentKind::Random);
    let bot = world.bot().await;
    let fault = Fault::TooManyRequests {
        retry_after: None,
        ratelimit: Some(("bot.vsBot.day".to_owned(), 3600)),
        html: false,
    };
    world.arena.inject(Endpoint::ChallengeAnswer, fault);
    world.arena.challenge(&ChallengeSpec::new("machine", BOT)).unwrap();
    eventually("the quota strikes", || world.arena.faults().struck().len() == 1).await;
    let game = world.arena.challenge(&ChallengeSpec::new(HOUSE, BOT)).unwrap();
    world.finished(&game).await;
    assert_eq!(bot.stop().await.won, 1);
}

#[tokio::test]
async fn an_acceptance_whose_answer_is_lost_still_becomes_a_game() {
    let world = World::new().await;
    world.house(OpponentKind::Random);
    let bot = world.bot().await;
    world.arena.inject(Endpoint::ChallengeAnswer, Fault::LostAnswer);
    let game = world.challenge(60, 0, ColorChoice::White);
    world.finished(&game).await;
    let summary = bot.stop().await;
    assert_eq!((summary.won, summary.accepted), (1, 1), "{summary:?}");
}

/// The event stream falls silent for good after it told of the challenge.
async fn silent_after_the_challenge(world: &World) -> Bot {
    let limits = lichess::Options { stream_silence: Duration::from_mins(1), ..world.limits() };
    let bot = world.bot_of(world.client_with(limits, Patience::default()), options()).await;
    world.arena.faults().inject_after(Endpoint::EventStream, Fault::Stall, 1);
    bot
}

#[tokio::test]
async fn an_accepted_game_needs_no_line_that_says_so() {
    let world = World::new().await;
    world.house(OpponentKind::Random);
    let bot = silent_after_the_challenge(&world).await;
    let game = world.challenge(60, 0, ColorChoice::White);
    world.finished(&game).await;
    assert_eq!(world.arena.faults().struck(), [(Endpoint::EventStream, Fault::Stall)]);
    assert_eq!(world.arena.counters().event_streams, 1);
    assert_eq!(bot.stop().await.won, 1);
}

#[tokio::test]
async fn a_game_whose_acceptance_got_lost_is_asked_for() {
    let world = World::new().await;
    world.house(OpponentKind::Random);
    let bot = silent_after_the_challenge(&world).await;
    world.arena.inject(Endpoint::ChallengeAnswer, Fault::LostAnswer);
    let game = world.challenge(60, 0, ColorChoice::White);
    world.finished(&game).await;
    assert_eq!(world.arena.counters().event_streams, 1);
    let summary = bot.stop().await;
    assert_eq!((summary.won, summary.accepted), (1, 1), "{summary:?}");
}

#[tokio::test]
async fn a_line_that_cannot_be_read_makes_the_bot_ask_for_its_games() {
    let world = World::new().await;
    world.house(OpponentKind::Random);
    let policy = PolicyOptions { block: [HOUSE].iter().collect(), ..PolicyOptions::default() };
    let bot = world.bot_with(Options { policy, ..options() }).await;
    let requests = || world.arena.counters().requests;
    // Token, account, event stream, running games.
    world.until("the bot has started", |arena| arena.counters().requests == 4).await;
    world.arena.inject(Endpoint::EventStream, Fault::Garbage);
    world.challenge(60, 0, ColorChoice::White);
    eventually("it declines and asks", || requests() == 6).await;
    assert_eq!(bot.stop().await.declined, 1);
}

#[tokio::test]
async fn challenges_that_waited_for_the_bot_are_taken_at_the_start() {
    let world = World::with(ArenaOptions::default()).await;
    world.house(OpponentKind::Random);
    let game = world.challenge(60, 0, ColorChoice::White);
    let bot = world.bot().await;
    world.finished(&game).await;
    assert_eq!(bot.stop().await.won, 1);
}
