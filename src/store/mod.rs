//! Remembers across restarts: every game with its moves, challenges and their answers, and what a bot
//! would otherwise learn again to its cost.
//!
//! One SQLite file holds it all; its tables stand in `schema`. A [`Store`] writes it, on a thread of
//! its own, so that nobody waits for the disk. An [`Archive`] reads it, beside a running bot as well.
//! Nothing here decides anything.

mod error;
mod health;
mod import;
mod pending;
mod pgn;
mod pgn_folder;
mod read;
mod record;
mod schema;
mod state;
mod stats;
mod write;
mod writer;

pub use error::StoreError;
pub use health::{Condition, StoreHealth};
pub use pgn::ReplayError;
pub use pgn_folder::{PgnFolder, PgnGroup};
pub use read::{Archive, Filter, Listed};
pub use record::{
    AccountKey, AnswerRecord, ChallengeAnswer, ChallengeRecord, GameEnd, GameKey, GameRecord,
    MissedRecord, ParsePlatformError, Platform,
};
pub use schema::FORMAT;
pub use state::{Budget, Decline, Epoch, Invited, OpenGame, State};
pub use stats::{ChallengeCount, GroupBy, RatingPoint, Score};
pub use writer::{Store, StoreOptions};
