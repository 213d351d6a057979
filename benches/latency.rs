//! From the opponent's move at the server to our move at the server, over HTTP on the loopback
//! device, with a search of one node: what the program costs besides its thinking.
//!
//! `cargo bench --bench latency` prints the percentiles. Both ways of the network and the arena's
//! own work are part of the figure, so that it bounds the time from the event's arrival to the
//! move's request from above.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod percentiles;

use std::{sync::Arc, time::Duration, time::Instant};

use meitner::{
    arena::{
        AccountSpec, Arena, ArenaHandle, ArenaOptions, ChallengeSpec, ColorChoice, HouseAction,
        HouseSpec, OpponentKind,
    },
    daemon::{self, Options, Shutdown},
    game::{self, LiveGames},
    platform::lichess::{self, Client},
    rules::History,
};
use tokio::{net::TcpListener, sync::watch, task::JoinSet};
use tokio_util::sync::CancellationToken;

const SAMPLES: usize = 1_000;
const BOT: &str = "Bot";
const HOUSE: &str = "House";

#[tokio::main]
async fn main() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let base_url = format!("http://{}", listener.local_addr().expect("an address"));
    let arena = Arena::new(ArenaOptions::default());
    let handle = arena.handle();
    let token = handle.add_account(&AccountSpec::bot(BOT));
    handle.add_house(&HouseSpec { opponent: OpponentKind::Silent, ..HouseSpec::named(HOUSE) });
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { arena.run(listener, CancellationToken::new()).await });

    let options = lichess::Options { base_url, ..lichess::Options::default() };
    let client = Arc::new(Client::new(options, token.into()).expect("a client"));
    let options = Options {
        game: game::Options { nodes: Some(1), ..game::Options::default() },
        ..Options::default()
    };
    let (live_sender, _live) = watch::channel(LiveGames::new());
    tasks.spawn(async move {
        daemon::run(options, client, Shutdown::new(), live_sender).await.expect("a bot");
    });
    handle.wait_until(|arena| arena.is_online(BOT)).await;

    let mut times = Vec::new();
    let mut random = fastrand::Rng::with_seed(1);
    while times.len() < SAMPLES {
        play(&handle, &mut random, &mut times).await;
    }
    percentiles::print("reply with one node", times);
}

/// Plays one game with random moves against the bot and times its answers.
async fn play(arena: &ArenaHandle, random: &mut fastrand::Rng, times: &mut Vec<Duration>) {
    let spec = ChallengeSpec { color: ColorChoice::White, ..ChallengeSpec::new(HOUSE, BOT) };
    let id = arena.challenge(&spec).expect("a challenge");
    arena.wait_until(|arena| arena.game(&id).is_some()).await;
    loop {
        let game = arena.game(&id).expect("the game");
        let mut history = History::default();
        for uci in &game.moves {
            history.play_uci(uci).expect("a legal game");
        }
        let moves = history.position().legal_moves();
        let Some(mv) = random.choice(moves.iter()).filter(|_| game.ending.is_none()) else {
            return;
        };
        let started = Instant::now();
        arena.act(&id, &HouseAction::Move(mv.to_string())).expect("a legal move");
        let count = game.moves.len();
        arena
            .wait_until(|arena| {
                arena
                    .game(&id)
                    .is_some_and(|game| game.moves.len() >= count + 2 || game.ending.is_some())
            })
            .await;
        if arena.game(&id).is_some_and(|game| game.moves.len() >= count + 2) {
            times.push(started.elapsed());
        }
    }
}
