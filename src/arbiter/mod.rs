//! The authoritative side of one game: checks the moves, keeps both clocks, declares the result.
//!
//! What a server does between two players, and nothing else: no sockets, no tasks, no sleeping.
//! Every call that depends on time takes `now`, so that a test plays an hour in a microsecond.
//! Whoever runs a game asks [`Game::flag_at`] when to call [`Game::tick`].

mod clock;
mod game;

pub use clock::{Clocks, TimeControl};
pub use game::{Ending, Game, Refusal, Termination};
