//! The state of the game in positions that are over, or nearly: `data/terminal.epd`, with the
//! result that lichess gives where it differs from the libraries that made the data.

#![allow(clippy::panic, reason = "a test fails by panicking")]

use meitner::rules::{Color, DrawReason, Epd, Outcome, WinReason};

/// Result and reason in the words of the data.
fn describe(outcome: Option<Outcome>) -> (&'static str, &'static str) {
    let reason = match outcome {
        None => return ("*", "ongoing"),
        Some(Outcome::Win { by: WinReason::Explosion, .. }) => "explosion",
        Some(Outcome::Win { by: WinReason::Checkmate, .. }) => "checkmate",
        Some(Outcome::Draw(DrawReason::Stalemate)) => "stalemate",
        Some(Outcome::Draw(DrawReason::InsufficientMaterial)) => "insufficient",
        Some(Outcome::Draw(DrawReason::ClosedPosition)) => "closed",
        Some(Outcome::Draw(DrawReason::FiftyMoves)) => "fifty",
        Some(Outcome::Draw(DrawReason::Threefold)) => "threefold",
    };
    (outcome.expect("over").score(), reason)
}

#[test]
fn every_position_of_the_suite_has_its_state() {
    let mut lines = 0;
    for line in include_str!("data/terminal.epd").lines() {
        let epd: Epd = line.parse().unwrap_or_else(|error| panic!("{line}: {error}"));
        let text = |opcode| epd.text(opcode).unwrap_or_else(|| panic!("{opcode} of {line}"));
        let expected = match epd.operands("lichess") {
            Some([result, reason]) => (result.as_str(), reason.as_str()),
            Some(other) => panic!("{other:?} in {line}"),
            None => (text("result"), text("reason")),
        };
        let position = &epd.position;
        assert_eq!(describe(position.outcome()), expected, "{line}");

        let legal: usize = epd.number("legal").expect("a number").expect("legal");
        assert_eq!(position.legal_moves().len(), legal, "{line}");
        assert_eq!(position.generator().count(), legal as u64, "{line}");
        assert_eq!(position.is_check(), text("check") == "yes", "{line}");
        // A side with a bare king can never win; the data says so of other draws as well.
        let insufficient = text("insufficient");
        let is_won = position.outcome().is_some_and(|outcome| outcome.winner().is_some());
        for (color, letter) in [(Color::White, 'w'), (Color::Black, 'b')] {
            let must_say_so = position.has_bare_king(color) && !is_won;
            assert!(!must_say_so || insufficient.contains(letter), "{line}");
        }
        lines += 1;
    }
    assert_eq!(lines, 66);
}
