//! What must hold for whatever bytes come from outside: one property for each parser, and for the
//! games that follow.
//!
//! The same properties run in two places. `tests/fuzz.rs` feeds them seeded mutations of the
//! targets' seeds in every test run; the crate in `fuzz/` hands them to a coverage-guided fuzzer. A
//! property fails by panicking, so that a panic in the program and a broken promise look alike.

mod board;
mod fics;
mod games;
mod outside;
mod source;
mod text;

use source::lines_of;

/// A parser with what must hold of it.
pub(crate) struct Target {
    /// Also the name of the fuzzer's target.
    pub(crate) name: &'static str,
    /// Panics if the property does not hold for these bytes.
    pub(crate) check: fn(&[u8]),
    /// Inputs that reach deep, for mutations to start from.
    pub(crate) seeds: fn() -> Vec<Vec<u8>>,
}

/// Every target.
pub(crate) const TARGETS: [Target; 9] = [
    Target { name: "fen", check: text::fen, seeds: || lines_of(source::POSITIONS) },
    Target { name: "epd", check: text::epd, seeds: text::epd_seeds },
    Target { name: "uci_move", check: text::uci_move, seeds: source::position_seeds },
    Target { name: "san", check: text::san, seeds: text::san_seeds },
    Target { name: "game", check: board::game, seeds: source::position_seeds },
    Target { name: "pgn", check: games::pgn, seeds: games::pgn_seeds },
    Target { name: "uci", check: outside::uci, seeds: outside::uci_seeds },
    Target { name: "lichess", check: outside::lichess, seeds: outside::lichess_seeds },
    Target { name: "fics", check: fics::fics, seeds: fics::fics_seeds },
];

/// The target of this name.
///
/// # Panics
///
/// If there is none.
pub(crate) fn target(name: &str) -> &'static Target {
    TARGETS.iter().find(|target| target.name == name).expect("a target of this name")
}
