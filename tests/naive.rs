//! A second rules core, written from the rulebook alone and as simply as can be: one man to a square,
//! moves by definition, explosions by definition, legality by looking whether the king survives.
//! It shares no table, no bitboard and no shortcut with ours, and no opinion with other libraries;
//! the draws are those that lichess writes down. Only the names of colors and roles are borrowed.

#![allow(clippy::panic, reason = "a test fails by panicking")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "files and ranks are below 8"
)]

#[path = "naive/board.rs"]
mod board;
#[path = "naive/judge.rs"]
mod judge;
mod random_games;

use board::{Naive, Step, name};
use fastrand::Rng;
use meitner::rules::Position;
use random_games::{SHARE, choose, play_shares, position_count, start_fen};

fn uci(step: Step) -> String {
    let promotion = step.2.map(|role| role.letter().to_string()).unwrap_or_default();
    format!("{}{}{promotion}", name(step.0), name(step.1))
}

/// Compares all that both say of a position.
fn compare(position: &Position, naive: &Naive) {
    assert_eq!(position.fen(), naive.fen());
    assert_eq!(position.is_check(), naive.is_check(naive.turn), "{position:?}");
    let mut ours: Vec<String> = position.legal_moves().iter().map(ToString::to_string).collect();
    let mut theirs: Vec<String> = naive.legal_moves().into_iter().map(uci).collect();
    ours.sort_unstable();
    theirs.sort_unstable();
    assert_eq!(ours, theirs, "{position:?}");
    assert_eq!(position.outcome(), naive.outcome(), "{position:?}");
}

#[test]
fn random_games_agree_with_the_definitions() {
    play_shares(position_count("NAIVE_POSITIONS", 20_000), |seed| {
        let mut random = Rng::with_seed(!seed);
        let mut seen = 0;
        while seen < SHARE {
            let Ok(mut position) = Position::from_fen(&start_fen(&mut random)) else { continue };
            let mut naive = Naive::new(&position.fen());
            for _ in 0..60 {
                compare(&position, &naive);
                seen += 1;
                let Some(mv) = choose(&position, None, &mut random) else { break };
                let steps = naive.legal_moves();
                let step = steps.iter().find(|step| uci(**step) == mv.to_string());
                naive = naive.after(*step.expect("the moves are the same"));
                position.play_unchecked(mv);
            }
        }
    });
}
