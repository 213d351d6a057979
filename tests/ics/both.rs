//! lichess and FICS in one process, with the slots shared.

use std::{sync::Arc, time::Duration};

use meitner::{
    arena::{
        AccountSpec, Arena, ArenaOptions, ChallengeSpec, HouseSpec, OpponentKind, ics::IcsOptions,
    },
    daemon::{self, Resources, Shutdown},
    game::LiveGames,
    platform::lichess::{self, Client},
};
use tokio::{net::TcpListener, sync::watch, task::JoinSet, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::harness::Hall;

const LIMIT: Duration = Duration::from_mins(1);

#[tokio::test]
async fn one_process_plays_on_lichess_and_on_fics_at_once() {
    let mut hall = Hall::open(IcsOptions::default()).await;
    hall.options.concurrency = 2;
    let resources = Resources::new(&hall.options);

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}", listener.local_addr().unwrap());
    let arena = Arena::new(ArenaOptions::default());
    let lichess = arena.handle();
    let token = lichess.add_account(&AccountSpec::bot("EmberFork"));
    let house = HouseSpec { opponent: OpponentKind::Silent, ..HouseSpec::named("QuietRook7") };
    lichess.add_house(&house);
    let (end, mut tasks) = (CancellationToken::new(), JoinSet::new());
    tasks.spawn(arena.run(listener, end.clone()));

    let client = lichess::Options { base_url, ..lichess::Options::default() };
    let client = Arc::new(Client::new(client, token.into()).unwrap());
    let shutdown = Shutdown::new();
    let (options, stages, shared) = (hall.options.clone(), shutdown.clone(), resources.clone());
    let mut bot = JoinSet::new();
    bot.spawn(async move {
        let policy = watch::channel(Arc::new(options.policy.clone())).1;
        let live = watch::channel(LiveGames::new()).0;
        daemon::run_with_policy(options, policy, client, stages, live, &shared).await
    });
    hall.start_with(&resources);

    // Its opponent never moves, so that this game lasts while the other is played.
    timeout(LIMIT, lichess.wait_until(|arena| arena.is_online("EmberFork"))).await.unwrap();
    let first = lichess.challenge(&ChallengeSpec::new("QuietRook7", "EmberFork")).unwrap();
    timeout(LIMIT, lichess.wait_until(|arena| arena.game(&first).is_some())).await.unwrap();
    hall.challenge("3 0 unrated atomic").await;
    assert!(lichess.game(&first).unwrap().ending.is_none(), "both at once");
    hall.until_finished(1).await;

    for _ in 0..2 {
        shutdown.advance();
    }
    let summary = timeout(LIMIT, bot.join_next()).await.unwrap().unwrap().unwrap().unwrap();
    assert_eq!(summary.accepted, 1);
    assert_eq!(hall.close().await.unwrap().accepted, 1);
    end.cancel();
    while tasks.join_next().await.is_some() {}
}
