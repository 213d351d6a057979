//! Games of the engine with itself, from random openings that are still even.

use crate::{
    rules::{Color, History, Position},
    search::{Engine, Limits, Options, Report},
    selfplay::{Ply, Record},
};

/// How the games are played.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Number of games.
    pub games: u64,
    /// The seed of the random openings: the same seed gives the same games.
    pub seed: u64,
    /// Nodes for each move.
    pub nodes: u64,
}

/// Random plies at the start of a game: this many, plus 0 to 3.
const OPENING_PLIES: u32 = 6;
/// An opening is played if its score lies within this many centipawns of equality.
const EVEN: i32 = 300;
/// Beyond this score, in centipawns, the game counts as won.
const WON: i32 = 2_000;
/// Plies in a row that a side has to be beyond [`WON`].
const WON_PLIES: u32 = 4;
/// No game is longer than this many plies.
const LONGEST: usize = 400;

/// Plays the games of a plan and hands each to `take`, which may say stop with `false`.
pub fn play(plan: Plan, mut take: impl FnMut(Record) -> bool) {
    let engines = Color::ALL.map(|_| Engine::new(Options { hash_mb: 4, threads: 1 }));
    for game in 0..plan.games {
        let mut random =
            fastrand::Rng::with_seed(plan.seed.wrapping_mul(1 << 32).wrapping_add(game));
        for engine in &engines {
            engine.new_game();
        }
        let start = opening(&mut random, &engines[0]);
        if !take(play_out(&engines, start, plan.nodes)) {
            return;
        }
    }
}

/// A position after some random plies in which neither side is lost yet.
fn opening(random: &mut fastrand::Rng, engine: &Engine) -> Position {
    loop {
        let mut position = Position::initial();
        for _ in 0..OPENING_PLIES + random.u32(..4) {
            if let Some(&mv) = random.choice(position.legal_moves().iter()) {
                position.play_unchecked(mv);
            }
        }
        if position.outcome().is_some() {
            continue;
        }
        let report = search(engine, History::new(position.clone()), 2_000);
        if report.is_some_and(|report| report.info.score.centipawns().abs() <= EVEN) {
            return position;
        }
    }
}

fn play_out(engines: &[Engine; 2], start: Position, nodes: u64) -> Record {
    let mut history = History::new(start.clone());
    let mut plies = Vec::new();
    // Plies in a row that White, or else Black, has been winning by the score.
    let mut won = (0_u32, Color::White);
    let winner = loop {
        if let Some(outcome) = history.outcome() {
            break outcome.winner();
        }
        if plies.len() >= LONGEST {
            break None;
        }
        let mover = history.position().turn();
        let Some(report) = search(&engines[mover.index()], history.clone(), nodes) else {
            break None;
        };
        let Some(mv) = report.best else { break None };
        let score = report.info.score.centipawns();
        plies.push(Ply { mv, score });
        if score.abs() >= WON {
            let winner = if score > 0 { mover } else { !mover };
            won = if won.1 == winner { (won.0 + 1, winner) } else { (1, winner) };
            if won.0 >= WON_PLIES {
                break Some(winner);
            }
        } else {
            won.0 = 0;
        }
        if history.play(mv).is_err() {
            break None;
        }
    };
    Record { start, plies, winner }
}

/// A search of so many nodes; `None` if the engine's thread is gone.
fn search(engine: &Engine, history: History, nodes: u64) -> Option<Report> {
    engine.search_to_end(history, Limits { nodes: Some(nodes), ..Limits::default() })
}
