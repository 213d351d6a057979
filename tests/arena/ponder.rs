//! Thinking on the opponent's time, and several games on fewer cores.

use std::time::Duration;

use meitner::{
    arbiter::TimeControl,
    arena::{ChallengeSpec, ColorChoice, HouseAction, HouseSpec, OpponentKind},
    daemon::Options,
    game::{self, Phase, Snapshot},
    rules::{History, Move},
    search::{self, Engine, Limits},
};

use crate::harness::{BOT, World, options, within};

/// A bot that thinks as long as its clock allows.
fn thinking() -> Options {
    Options { game: game::Options::default(), cores: 1, ..options() }
}

/// A good move, but not the one that the bot expects.
fn unexpected(history: &History, expected: Move) -> Move {
    let others: Vec<Move> =
        history.position().legal_moves().into_iter().filter(|&mv| mv != expected).collect();
    let limits = Limits { nodes: Some(3_000), search_moves: others, ..Limits::default() };
    let engine = Engine::new(search::Options::default());
    engine.search_to_end(history.clone(), limits).expect("a report").best.expect("a move")
}

#[tokio::test]
async fn replies_are_pondered_on_and_hits_and_misses_answered() {
    let world = World::new().await;
    world.house(OpponentKind::Silent);
    let mut bot = world.bot_with(thinking()).await;
    let game = world.challenge(30, 0, ColorChoice::White);
    bot.until_playing(1).await;
    let mut view = bot.live.borrow().values().next().expect("a game").clone();
    world.reply(&game).await;
    for round in 0..8 {
        let is_their_turn = |snapshot: &Snapshot| {
            matches!(snapshot.phase, Phase::Over(_))
                || (snapshot.phase == Phase::TheirTurn && snapshot.plies == 2 * round + 2)
        };
        let seen = within("the bot's move is shown", view.wait_for(is_their_turn)).await;
        let snapshot = seen.expect("a game").clone();
        if matches!(snapshot.phase, Phase::Over(_)) {
            break;
        }
        let mut history = History::default();
        for uci in &world.arena.game(&game).expect("the game").moves {
            history.play_uci(uci).expect("a legal game");
        }
        // In turn what the bot ponders on, and something else.
        let Some(expected) = snapshot.ponder else {
            world.reply(&game).await;
            continue;
        };
        assert!(history.position().is_legal(expected));
        let mv = if round % 2 == 0 { expected } else { unexpected(&history, expected) };
        // Long enough for the hit to find that enough is known.
        tokio::time::sleep(Duration::from_millis(100)).await;
        world.arena.act(&game, &HouseAction::Move(mv.to_string())).expect("a legal move");
        world.until_moves(&game, 2 * round + 4).await;
    }
    let _ = world.arena.act(&game, &HouseAction::Resign);
    let end = world.finished(&game).await;
    let count = view.borrow().ponder_count;
    assert!(count.hits > 0 && count.misses > 0, "{count:?} in {}", end.moves.join(" "));
    bot.stop().await;
    assert_eq!(world.arena.counters().flags_lost, 0);
    world.assert_clean();
}

#[tokio::test]
async fn more_games_than_cores_are_played_without_losing_one_on_time() {
    let world = World::new().await;
    let mut bot = world.bot_with(Options { concurrency: 3, ..thinking() }).await;
    let house = HouseSpec { opponent: OpponentKind::Random, delay_ms: 20, ..HouseSpec::named("h") };
    let limit = Duration::from_secs(30);
    let control = TimeControl::RealTime { limit, increment: Duration::ZERO };
    let spec = ChallengeSpec { control, ..ChallengeSpec::new("h", BOT) };
    let games = world.arena.burst(&house, &spec, 3).expect("challenges");
    bot.until_playing(3).await;
    for game in &games {
        world.finished(game).await;
    }
    assert_eq!(bot.stop().await.won, 3);
    assert_eq!(world.arena.counters().flags_lost, 0);
    world.assert_clean();
}
