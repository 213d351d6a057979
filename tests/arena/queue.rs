//! Requests that hang or fail do not keep the bot from accepting, and never make it take too many.

use std::time::{Duration, Instant};

use meitner::{
    arena::{
        AccountSpec, ArenaHandle, ChallengeSpec, ColorChoice, Endpoint, Fault, FaultRule,
        HouseAction, HouseSpec, OpponentKind,
    },
    daemon::{Options, Order, PolicyOptions, Preference, QueueOptions},
    platform::lichess::{self, Patience},
};

use crate::harness::{BOT, HOUSE, World, ms, options};

/// Waits until so many games are finished. Tells the most that ran at once meanwhile.
async fn most_until_finished(world: &World, count: usize) -> usize {
    let mut most = 0;
    world
        .until("the games are played", |arena| {
            most = most.max(arena.running().len());
            arena.finished().len() >= count
        })
        .await;
    most
}

fn silent(name: &str) -> HouseSpec {
    HouseSpec { opponent: OpponentKind::Silent, ..HouseSpec::named(name) }
}

/// A client that waits long for answers, as it does on the real server.
fn patient(world: &World) -> std::sync::Arc<lichess::Client> {
    let limits = lichess::Options { request_timeout: Duration::from_mins(1), ..world.limits() };
    world.client_with(limits, Patience::default())
}

fn has_accepted(arena: &ArenaHandle) -> bool {
    arena.counters().accepted == 1
}

#[tokio::test]
async fn an_acceptance_does_not_wait_behind_a_hung_decline() {
    let world = World::new().await;
    let policy = PolicyOptions { block: ["bore"].iter().collect(), ..PolicyOptions::default() };
    let bot = world.bot_of(patient(&world), Options { policy, ..options() }).await;
    world.until("the bot has started", |arena| arena.counters().requests == 4).await;
    world.arena.add_house(&silent("bore"));
    world.arena.add_house(&silent("guest"));
    world.arena.inject(Endpoint::ChallengeAnswer, Fault::HungRequest);
    world.arena.challenge(&ChallengeSpec::new("bore", BOT)).unwrap();
    world.until("the decline hangs", |arena| arena.faults().struck().len() == 1).await;
    let asked = Instant::now();
    world.arena.challenge(&ChallengeSpec::new("guest", BOT)).unwrap();
    world.until("the guest is accepted", has_accepted).await;
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    bot.kill().await;
}

#[tokio::test]
async fn a_list_of_games_that_never_comes_does_not_keep_the_bot_from_accepting() {
    let world = World::new().await;
    world.house(OpponentKind::Silent);
    // The token and the account pass, then come the running games.
    world.arena.faults().inject_after(Endpoint::Account, Fault::HungRequest, 2);
    let bot = world.bot_of(patient(&world), options()).await;
    let asked = Instant::now();
    world.challenge(60, 0, ColorChoice::White);
    world.until("the challenge is accepted", has_accepted).await;
    assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
    let struck = world.arena.faults().struck();
    assert_eq!(struck, [(Endpoint::Account, Fault::HungRequest)]);
    bot.kill().await;
}

#[tokio::test]
async fn eight_challenges_at_once_leave_our_own_open_challenge_its_slot() {
    let world = World::new().await;
    let bot = world.bot_with(Options { concurrency: 2, ..options() }).await;
    world.until("the bot has started", |arena| arena.counters().requests == 4).await;
    world.arena.add_account(&AccountSpec::new("Somebody"));
    let ours = world.arena.challenge(&ChallengeSpec::new(BOT, "Somebody")).unwrap();
    let house = HouseSpec { opponent: OpponentKind::Random, ..HouseSpec::named("h") };
    world.arena.burst(&house, &ChallengeSpec::new("h", BOT), 8).unwrap();
    assert_eq!(most_until_finished(&world, 4).await, 1);
    world.arena.cancel_challenge(&ours).unwrap();
    assert_eq!(most_until_finished(&world, 8).await, 2);
    assert_eq!(bot.stop().await.won, 8);
    world.assert_clean();
}

/// Lets three challengers wait for one slot, and tells in which order their games began.
async fn order_of_games(queue: QueueOptions) -> Vec<String> {
    let world = World::new().await;
    world.house(OpponentKind::Silent);
    let policy = PolicyOptions { queue, ..PolicyOptions::default() };
    let mut bot = world.bot_with(Options { policy, ..options() }).await;
    let first = world.challenge(60, 0, ColorChoice::White);
    bot.until_playing(1).await;
    for (name, title, rating) in
        [("weak", None, 1500), ("robot", Some("BOT"), 2400), ("strong", None, 2200)]
    {
        let title = title.map(str::to_owned);
        let opponent = OpponentKind::Random;
        world.arena.add_house(&HouseSpec { title, rating, opponent, ..HouseSpec::named(name) });
        world.arena.challenge(&ChallengeSpec::new(name, BOT)).expect("a challenge");
    }
    // A fourth that is declined shows that the three before it have been read.
    world.arena.add_house(&silent("odd"));
    let odd = ChallengeSpec { variant: "chess960".to_owned(), ..ChallengeSpec::new("odd", BOT) };
    world.arena.challenge(&odd).expect("a challenge");
    world.until("the odd one is declined", |arena| arena.counters().declined == 1).await;
    let mut snapshots = world.arena.watch();
    world.arena.act(&first, &HouseAction::Abort).expect("a game");
    world.until("all are played", |arena| arena.finished().len() == 4).await;
    bot.stop().await;
    let mut names = Vec::new();
    while let Ok(snapshot) = snapshots.try_recv() {
        let name = if snapshot.white == BOT { snapshot.black } else { snapshot.white };
        if name != HOUSE && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[tokio::test]
async fn whoever_is_to_come_first_does() {
    let with = |order, preference| QueueOptions { order, preference, ..QueueOptions::default() };
    for (queue, expected) in [
        (with(Order::First, Preference::None), ["weak", "robot", "strong"]),
        (with(Order::Best, Preference::None), ["robot", "strong", "weak"]),
        (with(Order::First, Preference::Humans), ["weak", "strong", "robot"]),
    ] {
        assert_eq!(order_of_games(queue.clone()).await, expected, "{queue:?}");
    }
}

#[tokio::test]
async fn slots_for_people_stay_free_of_bots() {
    let world = World::new().await;
    let queue = QueueOptions { reserved_for_humans: 1, ..QueueOptions::default() };
    let policy = PolicyOptions { queue, ..PolicyOptions::default() };
    let mut bot = world.bot_with(Options { concurrency: 2, policy, ..options() }).await;
    let machine = HouseSpec { title: Some("BOT".to_owned()), ..silent("machine") };
    world.arena.burst(&machine, &ChallengeSpec::new("machine", BOT), 3).unwrap();
    bot.until_playing(1).await;
    world.house(OpponentKind::Silent);
    let game = world.challenge(60, 0, ColorChoice::White);
    bot.until_playing(2).await;
    assert!(world.arena.game(&game).is_some());
    assert_eq!(world.arena.counters().accepted, 2);
    bot.kill().await;
}

#[tokio::test]
async fn a_game_of_which_a_deaf_stream_tells_nothing_is_found() {
    let world = World::new().await;
    world.house(OpponentKind::Random);
    let mut bot = world.bot_with(Options { reconcile_interval: ms(200), ..options() }).await;
    world.arena.inject(Endpoint::EventStream, Fault::Deaf);
    world.until("it is deaf", |arena| arena.faults().struck().len() == 1).await;
    let game = world.challenge(60, 0, ColorChoice::White);
    world.post(&format!("/api/challenge/{game}/accept")).await;
    bot.until_playing(1).await;
    world.finished(&game).await;
    assert_eq!(bot.stop().await.won, 1);
    world.assert_clean();
}

#[tokio::test]
async fn eight_challenges_at_once_never_exceed_the_slots_while_the_list_of_games_fails() {
    for fault in [Fault::ServerError { status: 500 }, Fault::HungRequest] {
        let world = World::new().await;
        let bot = world.bot_with(Options { concurrency: 3, ..options() }).await;
        world.until("the bot has started", |arena| arena.counters().requests == 4).await;
        let rule = FaultRule { endpoint: Endpoint::Account, fault: fault.clone(), rate: 1.0 };
        world.arena.faults().set_rules(vec![rule]);
        // A new stream makes the bot ask for its games.
        world.arena.inject(Endpoint::EventStream, Fault::End);
        world.until("the bot asks", |arena| arena.faults().struck().len() >= 2).await;
        let house = HouseSpec { opponent: OpponentKind::Random, ..HouseSpec::named("h") };
        // All in one go, within a millisecond or so.
        world.arena.burst(&house, &ChallengeSpec::new("h", BOT), 8).unwrap();
        let most = most_until_finished(&world, 8).await;
        assert!((1..=3).contains(&most), "{most} at once, {fault:?}");
        assert_eq!(world.arena.counters().accepted, 8, "{fault:?}");
        world.assert_clean();
        bot.kill().await;
    }
}
