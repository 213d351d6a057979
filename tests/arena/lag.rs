//! A slow line: what it costs is measured, kept back from the clock, and makes no move come twice.

use std::time::Duration;

use meitner::{
    arena::{
        ChallengeSpec, Choice, ColorChoice, Endpoint, Fault, GameSnapshot, Opponent, OpponentKind,
        ThinkingTime,
    },
    daemon::Options,
    game::{Lag, LagMeter},
    platform::lichess::{self, Client, Patience},
    rules::{Bitboard, Color, History, Position, Role},
};
use tokio::{sync::Mutex, time::timeout};

use crate::{
    faults::{conclude, under_way_with},
    harness::{BOT, HOUSE, World, eventually, ms, options},
};

/// Held by tests whose bots think for as long as their clocks let them: one would slow the other down.
static THINKING: Mutex<()> = Mutex::const_new(());

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

/// No king can explode before the fourth move, however well one side plays and however badly the other.
const PAWNS: &str = "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1";

/// What is known of the line goes into the time of each move: ours are quicker on a slow one.
#[tokio::test]
async fn a_slow_line_shortens_the_thinking() {
    let _alone = THINKING.lock().await;
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
        world.house(OpponentKind::Silent);
        let bot = world.bot_of(client, options).await;
        // A second for each move to come is nearly all of this clock.
        let start = Position::from_fen(PAWNS).expect("a position");
        let spec = ChallengeSpec { start, ..ChallengeSpec::new(HOUSE, BOT) };
        let spec = spec.clock(Duration::from_secs(30), Duration::ZERO).color(ColorChoice::White);
        let game = world.arena.challenge(&spec).expect("a challenge");
        world.reply_first(&game).await;
        for _ in 0..2 {
            world.reply(&game).await;
        }
        // Without what it takes the house to find its own moves; no clock runs for the first of ours.
        let answers = world.arena.answer_times(&game);
        let times = answers[1..].iter().map(|(line, request)| request.duration_since(*line));
        used.push(times.sum::<Duration>());
        conclude(world, bot, &game).await;
    }
    let [fast, slow] = used[..] else { unreachable!("two lines") };
    assert!(slow < fast, "{slow:?} against {fast:?}");
}

/// Each side has a bishop of its color of squares, the pawns are locked, and nothing can ever be taken.
const LOCKED: &str = "3k1b2/8/8/4p3/4P3/8/8/4KB2 w - - 0 1";

/// Black, who stays on dark squares and never comes back to where its men have stood before: so the
/// game ends by the fifty-move rule, after a hundred plies.
struct Wanderer;

impl Opponent for Wanderer {
    fn choose(&self, history: &History, _: ThinkingTime) -> Choice {
        let men = |position: &Position| {
            [Role::King, Role::Bishop].map(|role| position.of(Color::Black, role))
        };
        let mut position = history.start().clone();
        let mut seen = vec![men(&position)];
        for &mv in history.moves() {
            position = position.after(mv);
            seen.push(men(&position));
        }
        let is_new = |after: &Position| {
            after.side(Color::Black).without(Bitboard::DARK).is_empty()
                && !seen.contains(&men(after))
        };
        let moves = position.legal_moves();
        let next = moves.iter().find(|&&mv| is_new(&position.after(mv)));
        next.map_or(Choice::Wait, |&mv| Choice::Play(mv))
    }
}

/// A game of a hundred plies, which the bot plays on its clock of one minute while each way to the
/// server and back takes so long.
async fn a_long_game(round_trip: Duration) -> GameSnapshot {
    let world = World::new().await;
    world.house_with(Wanderer);
    let options = Options { game: meitner::game::Options::default(), ..options() };
    let bot = world.bot_of(client(&world, Lag::default()), options).await;
    world.arena.set_lag(round_trip / 2, round_trip / 2, ms(0));
    let start = Position::from_fen(LOCKED).expect("a position");
    let spec = ChallengeSpec { start, ..ChallengeSpec::new(HOUSE, BOT) };
    let spec = spec.clock(Duration::from_mins(1), Duration::ZERO).color(ColorChoice::Black);
    let game = world.arena.challenge(&spec).expect("a challenge");
    let is_over = |arena: &meitner::arena::ArenaHandle| {
        arena.game(&game).is_some_and(|game| game.ending.is_some())
    };
    // Both clocks together, and what lag takes of neither.
    timeout(Duration::from_mins(3), world.arena.wait_until(is_over)).await.expect("an end");
    world.arena.set_lag(ms(0), ms(0), ms(0));
    assert_eq!(bot.stop().await.drawn, 1, "{round_trip:?}");
    world.assert_clean();
    world.arena.game(&game).expect("the game")
}

#[tokio::test]
async fn a_minute_lasts_for_a_hundred_plies_on_a_slow_line() {
    let _alone = THINKING.lock().await;
    let (fast, slow) = tokio::join!(a_long_game(ms(200)), a_long_game(ms(400)));
    for end in [fast, slow] {
        assert_eq!((end.status, end.moves.len()), ("draw", 100), "{:?}", end.clocks);
    }
}
