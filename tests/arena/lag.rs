//! A slow line: what it costs is measured, kept back from the clock, and makes no move come twice.

use std::time::{Duration, Instant};

use meitner::{
    arena::{Endpoint, Fault},
    game::{Lag, LagMeter},
    platform::lichess::{self, Client, Patience},
};

use crate::{
    faults::{conclude, under_way_with},
    harness::{World, eventually, ms, options},
};

/// A client with the limits of a real one, whose line is known to be so.
fn client(world: &World, lag: Lag) -> std::sync::Arc<Client> {
    let limits = lichess::Options {
        move_timeout: Duration::from_secs(5),
        stream_silence: Duration::from_secs(3),
        ..world.limits()
    };
    let client = Client::new(limits, world.token.clone().into()).expect("a client");
    std::sync::Arc::new(client.with_patience(Patience::default()).with_lag(LagMeter::new(lag)))
}

#[tokio::test]
async fn the_way_to_the_server_and_back_is_measured_over_all_games() {
    let world = World::new().await;
    let client = client(&world, Lag::default());
    let (bot, game) = under_way_with(&world, client.clone(), options()).await;
    world.arena.set_lag(ms(100), ms(100), ms(20));
    for _ in 0..6 {
        world.reply(&game).await;
    }
    let lag = client.lag_meter().lag();
    assert!(lag.samples() >= 6, "{lag:?}");
    let overhead = lag.overhead(Duration::ZERO);
    // 200 ms and what a loaded machine adds.
    assert!((ms(150)..ms(3_000)).contains(&overhead), "{overhead:?}");
    let counters = world.arena.counters();
    assert_eq!((counters.untimely_moves, counters.flags_lost), (0, 0));
    world.arena.set_lag(ms(0), ms(0), ms(0));
    conclude(world, bot, &game).await;
}

/// A line of 800 ms is slower than the least limit for an answer: no move may be taken for lost.
#[tokio::test]
async fn a_very_slow_line_makes_no_move_come_twice() {
    let world = World::new().await;
    let client = client(&world, Lag::default());
    let (bot, game) = under_way_with(&world, client.clone(), options()).await;
    world.arena.set_lag(ms(400), ms(400), ms(0));
    for _ in 0..4 {
        world.reply(&game).await;
    }
    world.arena.set_lag(ms(0), ms(0), ms(0));
    let moves = world.arena.requests();
    let moves = moves.iter().filter(|request| request.path.contains("/move/")).count();
    assert_eq!(moves, 5, "each was sent once");
    conclude(world, bot, &game).await;
}

#[tokio::test]
async fn a_move_that_was_sent_twice_measures_nothing() {
    let world = World::new().await;
    let client = client(&world, Lag::default());
    let (bot, game) = under_way_with(&world, client.clone(), options()).await;
    let samples = || client.lag_meter().lag().samples();
    world.arena.inject(Endpoint::Move, Fault::ServerError { status: 502 });
    world.reply(&game).await;
    world.reply(&game).await;
    // The first move and the third; a line that tells of a move comes after the move is known.
    eventually("the third is measured", || samples() == 2).await;
    conclude(world, bot, &game).await;
    assert_eq!(samples(), 2);
}

/// What is known of the line goes into the time of each move: ours are quicker on a slow one.
#[tokio::test]
async fn a_slow_line_shortens_the_thinking() {
    let mut slow = Lag::default();
    for _ in 0..60 {
        slow.learn(ms(900));
    }
    let mut used = Vec::new();
    for lag in [Lag::default(), slow] {
        let world = World::new().await;
        let mut options = options();
        options.game.nodes = None;
        let client = client(&world, lag);
        let (bot, game) = under_way_with(&world, client, options).await;
        let start = Instant::now();
        world.reply(&game).await;
        used.push(start.elapsed());
        conclude(world, bot, &game).await;
    }
    let [fast, slow] = used[..] else { unreachable!("two lines") };
    assert!(slow < fast, "{slow:?} against {fast:?}");
}
