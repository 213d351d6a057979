//! Games in words: clocks, evaluations, results.

use std::time::Duration;

use crate::{
    arbiter::{Ending, Termination},
    arena::GameSnapshot,
    game::Evaluation,
    rules::{Color, History},
};

/// The game so far. The arena's games begin at the start position and hold legal moves only.
pub(super) fn history(game: &GameSnapshot) -> History {
    let mut history = History::default();
    for mv in &game.moves {
        if history.play_uci(mv).is_err() {
            break;
        }
    }
    history
}

/// A clock as players read it: `1:05`, and below ten seconds `9.8`.
pub(super) fn clock(left: Duration) -> String {
    let tenths = left.as_millis() / 100;
    if tenths < 100 {
        return format!("{}.{}", tenths / 10, tenths % 10);
    }
    let seconds = left.as_secs();
    match seconds / 3600 {
        0 => format!("{}:{:02}", seconds / 60, seconds % 60),
        hours => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
    }
}

/// An evaluation in pawns, `+1.35`, or the moves to the end of the game, `#-4`.
pub(super) fn evaluation(evaluation: Evaluation) -> String {
    match evaluation.mate_in {
        Some(moves) => format!("#{moves}"),
        None => format!("{:+.2}", f64::from(evaluation.centipawns) / 100.0),
    }
}

/// A count of nodes a second: `812 knps`.
pub(super) fn speed(nps: u64) -> String {
    format!("{} knps", nps / 1000)
}

/// How a game ended: `Meitner wins, king exploded`.
pub(super) fn result(game: &GameSnapshot, ending: Ending) -> String {
    let by = reason(ending.by);
    match ending.winner {
        Some(Color::White) => format!("{} wins, {by}", game.white),
        Some(Color::Black) => format!("{} wins, {by}", game.black),
        None if ending.by == Termination::Aborted => by.to_owned(),
        None => format!("draw, {by}"),
    }
}

fn reason(by: Termination) -> &'static str {
    use crate::rules::DrawReason;
    match by {
        Termination::Explosion => "king exploded",
        Termination::Checkmate => "checkmate",
        Termination::Rule(DrawReason::Stalemate) => "stalemate",
        Termination::Rule(DrawReason::InsufficientMaterial) => "insufficient material",
        Termination::Rule(DrawReason::ClosedPosition) => "closed position",
        Termination::Rule(DrawReason::FiftyMoves) => "fifty moves",
        Termination::Rule(DrawReason::Threefold) => "threefold repetition",
        Termination::Agreement => "by agreement",
        Termination::BareKingClaim => "bare king",
        Termination::TooLong => "too many moves",
        Termination::Resignation => "resignation",
        Termination::TimeForfeit => "out of time",
        Termination::Abandonment => "the opponent left",
        Termination::Aborted => "aborted",
        Termination::NoStart => "no first move",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_and_evaluations_read_well() {
        for (ms, text) in
            [(0, "0.0"), (9_870, "9.8"), (10_000, "0:10"), (65_999, "1:05"), (3_600_000, "1:00:00")]
        {
            assert_eq!(clock(Duration::from_millis(ms)), text);
        }
        let value = |centipawns, mate_in| evaluation(Evaluation { centipawns, mate_in });
        assert_eq!(value(135, None), "+1.35");
        assert_eq!(value(-7, None), "-0.07");
        assert_eq!(value(-31_000, Some(-4)), "#-4");
    }
}
