//! Incidents that cost other bots their games: each once, over TCP, with the daemon as it is.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use meitner::{
    arena::{
        ColorChoice, Endpoint, Fault, FaultRule, HouseAction, OpponentKind, Scope, TournamentSpec,
    },
    daemon::{DaemonError, Options},
    platform::lichess::{self, Client, StartError},
    rules::Color,
};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::time::sleep;

use crate::{
    faults::{conclude, under_way, under_way_with},
    harness::{BOT, HOUSE, World, eventually, ms, options},
    log::Log,
};

/// Fails so many times, then every name is this machine.
struct Resolver {
    failures: AtomicU32,
    asked: AtomicU32,
}

impl Resolve for Resolver {
    fn resolve(&self, _name: Name) -> Resolving {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let fails = self
            .failures
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
            .is_ok();
        Box::pin(async move {
            if fails {
                return Err(io::Error::other("no such name").into());
            }
            let addresses: Addrs = Box::new([SocketAddr::from(([127, 0, 0, 1], 0))].into_iter());
            Ok(addresses)
        })
    }
}

#[tokio::test]
async fn a_name_that_is_not_found_for_a_while_stops_no_bot() {
    let world = World::new().await;
    world.house(OpponentKind::Silent);
    let resolver = Arc::new(Resolver { failures: AtomicU32::new(2), asked: AtomicU32::new(0) });
    let limits = lichess::Options {
        base_url: world.base_url.replace("127.0.0.1", "localhost"),
        ..world.limits()
    };
    let token = world.token.clone().into();
    let client = Client::with_resolver(limits, token, Arc::clone(&resolver) as _).unwrap();
    let bot = world.bot_of(Arc::new(client), options()).await;
    let game = world.challenge(60, 0, ColorChoice::White);
    world.until("the game starts", |arena| arena.game(&game).is_some()).await;
    world.reply(&game).await;
    // Later every connection breaks, and the name is not found again.
    resolver.failures.store(3, Ordering::Relaxed);
    world.arena.begin_outage(ms(100));
    world.house_move(&game);
    world.until_moves(&game, 4).await;
    assert_eq!(resolver.failures.load(Ordering::Relaxed), 0, "it was asked");
    conclude(world, bot, &game).await;
}

#[tokio::test]
async fn connections_refused_for_a_while_cost_no_game() {
    let world = World::new().await;
    let (bot, game) = under_way(&world).await;
    world.arena.close_port(ms(2500));
    world.house_move(&game);
    world.until_moves(&game, 4).await;
    world.reply(&game).await;
    conclude(world, bot, &game).await;
}

#[tokio::test]
async fn a_bot_that_starts_while_connections_are_refused_waits() {
    let world = World::new().await;
    world.arena.close_port(ms(1200));
    let (bot, game) = under_way(&world).await;
    conclude(world, bot, &game).await;
}

#[tokio::test]
async fn an_event_stream_that_is_forbidden_for_good_names_the_scope() {
    let world = World::new().await;
    let bot = world.bot().await;
    let forbidden = Fault::ServerError { status: 403 };
    let rule = FaultRule { endpoint: Endpoint::EventStream, fault: forbidden, rate: 1.0 };
    world.arena.faults().set_rules(vec![rule]);
    world.arena.inject(Endpoint::EventStream, Fault::Cut);
    let error = bot.end().await.unwrap_err();
    assert_eq!(error, DaemonError::Start(StartError::MissingScope("bot:play".to_owned())));
    assert!(error.to_string().contains("bot:play"), "{error}");
}

/// The event stream comes back after these faults of its opening, and brings a game.
async fn event_stream_survives(faults: &[Fault]) -> Duration {
    let world = World::new().await;
    let (bot, game) = under_way(&world).await;
    for fault in faults {
        world.arena.inject(Endpoint::EventStream, fault.clone());
    }
    let start = Instant::now();
    world.arena.inject(Endpoint::EventStream, Fault::Cut);
    world
        .until("the event stream is back", |arena| {
            arena.faults().struck().len() == faults.len() + 1 && arena.is_online(BOT)
        })
        .await;
    let waited = start.elapsed();
    world.reply(&game).await;
    conclude(world, bot, &game).await;
    waited
}

#[tokio::test]
async fn an_event_stream_with_too_many_requests_waits_as_it_is_told() {
    let busy =
        |retry_after, ratelimit, html| Fault::TooManyRequests { retry_after, ratelimit, html };
    let by_header = busy(Some(2), None, true);
    let by_body = busy(None, Some(("stream.event".to_owned(), 2)), false);
    let waited = event_stream_survives(&[by_header, by_body]).await;
    assert!(waited >= ms(4000) && waited < ms(12_000), "{waited:?}");
}

#[tokio::test]
async fn pages_instead_of_an_event_stream_are_survived() {
    event_stream_survives(&[Fault::Html { status: 200 }, Fault::Html { status: 502 }]).await;
}

#[tokio::test]
async fn pages_instead_of_a_game_stream_are_survived() {
    let world = World::new().await;
    let (bot, game) = under_way(&world).await;
    for status in [200, 429, 502] {
        world.arena.inject(Endpoint::GameStream, Fault::Html { status });
    }
    world.arena.inject(Endpoint::GameStream, Fault::Cut);
    eventually("all strike", || world.arena.faults().struck().len() == 4).await;
    world.reply(&game).await;
    conclude(world, bot, &game).await;
}

#[tokio::test]
async fn an_error_object_in_the_event_stream_costs_that_line_only() {
    let log = Log::default();
    let _guard = log.start(tracing::Level::INFO);
    let world = World::new().await;
    let (bot, game) = under_way(&world).await;
    let text = "Please slow down".to_owned();
    world.arena.inject(Endpoint::EventStream, Fault::ErrorLine { text });
    eventually("it is told", || log.text().contains("Please slow down")).await;
    assert_eq!(world.arena.counters().event_streams, 1);
    conclude(world, bot, &game).await;
}

/// A server that complains in the game's stream again and again is not asked again at once.
#[tokio::test]
async fn complaints_in_a_game_stream_make_the_bot_wait() {
    let log = Log::default();
    let _guard = log.start(tracing::Level::INFO);
    let world = World::new().await;
    let (bot, game) = under_way(&world).await;
    for _ in 0..3 {
        let text = "Please slow down".to_owned();
        world.arena.inject(Endpoint::GameStream, Fault::ErrorLine { text });
    }
    let start = Instant::now();
    eventually("all strike", || world.arena.faults().struck().len() == 3).await;
    world.reply(&game).await;
    // Half a second, one and two, each at least by half.
    assert!(start.elapsed() >= ms(750), "{:?}", start.elapsed());
    assert!(log.text().contains("Please slow down"), "{}", log.text());
    conclude(world, bot, &game).await;
}

#[tokio::test]
async fn another_process_on_the_token_is_told_of() {
    let log = Log::default();
    let _guard = log.start(tracing::Level::INFO);
    let world = World::new().await;
    let first = world.bot().await;
    let second = world.bot().await;
    eventually("it is told", || log.text().contains("does another process use this account")).await;
    assert!(world.arena.counters().event_streams < 12, "both back off");
    first.kill().await;
    second.kill().await;
}

/// Keep-alives go on, events do not: only a stream that is opened anew tells of the challenge.
#[tokio::test]
async fn a_challenge_is_accepted_although_the_event_stream_is_deaf() {
    let world = World::new().await;
    world.house(OpponentKind::Silent);
    let bot = world.bot_of(world.wary_client(), options()).await;
    world.arena.inject(Endpoint::EventStream, Fault::Deaf);
    eventually("it is deaf", || !world.arena.faults().struck().is_empty()).await;
    let game = world.challenge(60, 0, ColorChoice::White);
    world.until("the game starts", |arena| arena.game(&game).is_some()).await;
    world.reply(&game).await;
    conclude(world, bot, &game).await;
}

/// A quiet stream is the rule: it is looked at ever more rarely.
#[tokio::test]
async fn an_event_stream_that_has_nothing_to_tell_is_left_in_peace() {
    let world = World::new().await;
    let bot = world.bot_of(world.wary_client(), options()).await;
    let start = Instant::now();
    eventually("it is opened twice more", || world.arena.counters().event_streams == 3).await;
    // After 0.6 s, and 1.2 s later.
    assert!(start.elapsed() >= ms(1500), "{:?}", start.elapsed());
    bot.stop().await;
    world.assert_clean();
}

#[tokio::test]
async fn a_move_is_seen_although_the_game_stream_is_deaf() {
    let world = World::new().await;
    let (bot, game) = under_way_with(&world, world.wary_client(), options()).await;
    world.arena.inject(Endpoint::GameStream, Fault::Deaf);
    eventually("it is deaf", || !world.arena.faults().struck().is_empty()).await;
    world.reply(&game).await;
    conclude(world, bot, &game).await;
}

#[tokio::test]
async fn a_line_that_never_comes_is_made_up_for() {
    let world = World::new().await;
    let (bot, game) = under_way_with(&world, world.wary_client(), options()).await;
    world.arena.inject(Endpoint::GameStream, Fault::DropLine);
    world.reply(&game).await;
    conclude(world, bot, &game).await;
}

/// The echo of our move gets lost; the next line shows it together with the reply.
#[tokio::test]
async fn a_list_may_grow_by_two_moves() {
    let world = World::new().await;
    let (bot, game) = under_way(&world).await;
    world.arena.faults().inject_after(Endpoint::GameStream, Fault::DropLine, 1);
    world.reply(&game).await;
    world.reply(&game).await;
    assert_eq!(world.arena.faults().struck(), [(Endpoint::GameStream, Fault::DropLine)]);
    assert_eq!(world.arena.counters().game_streams, 1, "nothing was doubted");
    conclude(world, bot, &game).await;
}

#[tokio::test]
async fn a_game_start_that_comes_again_and_again_starts_one_game() {
    let world = World::new().await;
    let rule = FaultRule { endpoint: Endpoint::EventStream, fault: Fault::Duplicate, rate: 1.0 };
    world.arena.faults().set_rules(vec![rule]);
    let (bot, game) = under_way(&world).await;
    for _ in 0..3 {
        let streams = world.arena.counters().event_streams;
        world.arena.inject(Endpoint::EventStream, Fault::End);
        world.until("it is back", |arena| arena.counters().event_streams > streams).await;
    }
    world.reply(&game).await;
    assert_eq!(world.arena.counters().game_streams, 1);
    world.arena.faults().clear();
    conclude(world, bot, &game).await;
}

#[tokio::test]
async fn a_legal_move_that_is_refused_once_is_replaced_by_another() {
    let world = World::new().await;
    let (bot, game) = under_way(&world).await;
    world.arena.inject(Endpoint::Move, Fault::RefuseMove);
    world.reply(&game).await;
    world.reply(&game).await;
    conclude(world, bot, &game).await;
}

#[tokio::test]
async fn legal_moves_that_are_refused_twice_end_the_game_with_one_line_of_log() {
    let log = Log::default();
    let _guard = log.start(tracing::Level::INFO);
    let world = World::new().await;
    let (bot, game) = under_way(&world).await;
    for _ in 0..2 {
        world.arena.inject(Endpoint::Move, Fault::RefuseMove);
    }
    world.house_move(&game);
    let end = world.finished(&game).await;
    assert_eq!(end.status, "resign");
    assert_eq!(bot.stop().await.lost, 1);
    let text = log.text();
    let list = end.moves.join(" ");
    let lines: Vec<_> = text.lines().filter(|line| line.contains("ERROR")).collect();
    assert_eq!(lines.len(), 1, "{text}");
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    assert!(lines[0].contains(start) && lines[0].contains(&list), "{text}");
    world.assert_clean();
}

/// A request that hangs is given up after a few round trips, not after the whole time limit.
#[tokio::test]
async fn a_hung_move_costs_little_of_the_clock() {
    for fault in [Fault::HungRequest, Fault::HungAnswer] {
        let world = World::new().await;
        let limits = lichess::Options { move_timeout: Duration::from_secs(20), ..world.limits() };
        let client = world.client_with(limits, lichess::Patience::default());
        let (bot, game) = under_way_with(&world, client, options()).await;
        world.arena.inject(Endpoint::Move, fault);
        let start = Instant::now();
        world.reply(&game).await;
        world.reply(&game).await;
        assert!(start.elapsed() < Duration::from_secs(6), "{:?}", start.elapsed());
        conclude(world, bot, &game).await;
    }
}

#[tokio::test]
async fn moves_go_out_on_a_connection_that_is_open() {
    let world = World::new().await;
    let (bot, game) = under_way(&world).await;
    for _ in 0..3 {
        sleep(ms(300)).await;
        world.reply(&game).await;
    }
    let requests = world.arena.requests();
    let moves: Vec<_> = requests.iter().filter(|request| request.path.contains("/move/")).collect();
    assert_eq!(moves.len(), 4);
    assert!(moves[1..].iter().all(|request| !request.new_connection), "{moves:?}");
    conclude(world, bot, &game).await;
}

#[tokio::test]
async fn no_move_waits_for_chat_or_for_the_list_of_games() {
    let world = World::new().await;
    for endpoint in [Endpoint::Chat, Endpoint::Account] {
        world.arena.faults().inject_after(
            endpoint,
            Fault::HungRequest,
            match endpoint {
                // Login asks twice before the list of games is asked for.
                Endpoint::Account => 2,
                _ => 0,
            },
        );
    }
    let mut options = options();
    options.game.chat.players.greeting = "Good luck!".parse().expect("a template");
    let mut limits = world.limits();
    limits.request_timeout = Duration::from_secs(20);
    let client = world.client_with(limits, lichess::Patience::default());
    world.house(OpponentKind::Silent);
    let bot = world.bot_of(client, options).await;
    let game = world.challenge(60, 0, ColorChoice::White);
    // While the list of games is not known the bot accepts nothing; the owner does.
    world.post(&format!("/api/challenge/{game}/accept")).await;
    world.reply(&game).await;
    world.reply(&game).await;
    let answers = world.arena.answer_times(&game);
    let slowest = answers.iter().map(|(line, request)| request.duration_since(*line)).max();
    assert!(slowest.unwrap() < ms(1500), "{slowest:?}");
    assert_eq!(world.arena.faults().struck().len(), 2, "{:?}", world.arena.faults().struck());
    world.arena.act(&game, &HouseAction::Resign).unwrap();
    world.finished(&game).await;
    bot.kill().await;
    world.assert_clean();
}

/// A tournament in which the bot plays the house, with so much time for first moves. Its owner has
/// joined by hand.
async fn in_a_tournament(world: &World, first_move_ms: u64) -> String {
    world.house(OpponentKind::Silent);
    let id = "bOt4r3nA".to_owned();
    let spec = TournamentSpec {
        id: Some(id.clone()),
        limit_s: 600,
        pairing_pause_ms: 20,
        first_move_ms,
        players: vec![HOUSE.to_owned()],
        ..TournamentSpec::default()
    };
    world.arena.add_tournament(&spec).expect("a tournament");
    let owner = world.arena.add_token(BOT, &[Scope::TournamentWrite]).expect("an account");
    let client = reqwest::Client::builder().tls_certs_only([]).build().expect("a client");
    let url = format!("{}/api/tournament/{id}/join", world.base_url);
    let join = client.post(url).bearer_auth(owner).form(&[("pairMeAsap", "true")]);
    assert!(join.send().await.expect("an answer").status().is_success());
    world.until("they are paired", |arena| !arena.running().is_empty()).await;
    world.arena.running()[0].id.clone()
}

/// The bot would think about its first move for three seconds; there are two.
#[tokio::test]
async fn our_first_move_is_made_before_its_time_expires() {
    let world = World::new().await;
    let bot = world.bot_with(Options::default()).await;
    let game = in_a_tournament(&world, 2000).await;
    if world.arena.game(&game).expect("the game").white == HOUSE {
        world.house_move(&game);
        world.until_moves(&game, 2).await;
    } else {
        world.until_moves(&game, 1).await;
    }
    assert_eq!(world.arena.game(&game).expect("the game").status, "started");
    world.arena.act(&game, &HouseAction::Resign).expect("a running game");
    world.finished(&game).await;
    bot.kill().await;
    world.assert_clean();
}

/// Nobody aborts a game of a tournament: the server ends it, and the bot goes on.
#[tokio::test]
async fn a_first_move_of_the_opponent_that_never_comes_ends_the_game() {
    let world = World::new().await;
    let mut bot = world.bot().await;
    let game = in_a_tournament(&world, 500).await;
    let end = world.finished(&game).await;
    let winner = if end.white == BOT { Color::White } else { Color::Black };
    assert_eq!((end.status, end.ending.expect("it is over").winner), ("noStart", Some(winner)));
    bot.until_playing(0).await;
    assert_eq!(bot.stop().await.won, 1);
    assert_eq!(world.arena.counters().aborted, 0);
    world.assert_clean();
}
