//! Seeded random games against an independent rules library: at every ply the same legal moves,
//! and after each move the same FEN, check, outcome and SAN.
//!
//! `DIFFERENTIAL_POSITIONS` sets how many positions are compared; the default suits a debug build.

#![allow(clippy::panic, reason = "a test fails by panicking")]

use meitner::rules::{DrawReason, Outcome, Position, WinReason};
use shakmaty::{
    EnPassantMode, Position as _, fen::Fen, san::SanPlus, uci::UciMove, variant::Atomic,
};

const DEFAULT_POSITIONS: u64 = 200_000;

fn position_count() -> u64 {
    #[expect(clippy::disallowed_methods, reason = "a test's own knob is no setting of the program")]
    let count = std::env::var("DIFFERENTIAL_POSITIONS");
    count.map_or(DEFAULT_POSITIONS, |text| text.parse().expect("a number of positions"))
}

fn oracle_fen(oracle: &Atomic) -> String {
    Fen::from_position(oracle, EnPassantMode::Legal).to_string()
}

fn oracle_moves(oracle: &Atomic) -> Vec<String> {
    let mut moves: Vec<String> =
        oracle.legal_moves().iter().map(|mv| UciMove::from_chess960(*mv).to_string()).collect();
    moves.sort_unstable();
    moves
}

/// Whether the oracle knows the outcome as we do. It has no fifty-move rule, no closed positions,
/// and another opinion on five men with bishops only; lichess' rules decide there, and
/// `tests/terminal.rs` holds the cases.
fn check_outcome(position: &Position, oracle: &Atomic) {
    let expected = oracle.outcome();
    match position.outcome() {
        Some(Outcome::Win { winner, by }) => {
            let winner = winner.to_string();
            let oracle_winner = expected.winner().map(|color| color.to_string());
            assert_eq!(oracle_winner, Some(winner), "{position:?}");
            assert_eq!(oracle.is_checkmate(), by == WinReason::Checkmate, "{position:?}");
        }
        Some(Outcome::Draw(DrawReason::Stalemate)) => {
            assert!(oracle.is_stalemate(), "{position:?}");
        }
        Some(Outcome::Draw(DrawReason::InsufficientMaterial)) => {
            assert!(oracle.is_insufficient_material(), "{position:?}");
        }
        Some(Outcome::Draw(_)) => {}
        None => {
            let is_five_bishops =
                oracle.is_insufficient_material() && oracle.board().occupied().count() > 4;
            assert!(expected.is_unknown() || is_five_bishops, "{position:?}");
        }
    }
}

fn compare(position: &Position, oracle: &Atomic) {
    assert_eq!(position.fen(), oracle_fen(oracle));
    assert_eq!(position.is_check(), oracle.is_check(), "{position:?}");
    let mut moves: Vec<String> = position.legal_moves().iter().map(ToString::to_string).collect();
    moves.sort_unstable();
    assert_eq!(moves, oracle_moves(oracle), "{position:?}");
    check_outcome(position, oracle);
}

#[test]
fn random_games_agree_with_the_oracle() {
    let count = position_count();
    let mut seen = 0;
    for seed in 0.. {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut position = Position::initial();
        let mut oracle = Atomic::default();
        for _ in 0..300 {
            compare(&position, &oracle);
            seen += 1;
            let moves = position.legal_moves();
            // Captures end games early: play them less often than they occur.
            let quiet: Vec<_> = moves.iter().filter(|mv| !mv.is_capture()).collect();
            let choice = if random.u8(..4) > 0 && !quiet.is_empty() {
                random.choice(quiet).copied()
            } else {
                random.choice(moves.iter()).copied()
            };
            let Some(mv) = choice else { break };
            let theirs: UciMove = mv.to_string().parse().expect("UCI");
            let theirs = theirs.to_move(&oracle).expect("the oracle knows the move");
            let san = SanPlus::from_move(oracle.clone(), theirs).to_string();
            assert_eq!(position.san(mv), san, "{position:?}");
            position.play_unchecked(mv);
            oracle.play_unchecked(theirs);
        }
        if seen >= count {
            break;
        }
    }
}
