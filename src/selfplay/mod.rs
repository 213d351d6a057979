//! Our own games: played by the engine with itself, written down, and used to fit the evaluation.
//!
//! `games` plays them, `record` is their file format, `tune` fits the evaluation's weights
//! to them, `wdl` the chances that go with a score.

mod games;
mod record;
mod tune;
mod wdl;

pub use games::{Plan, play};
pub use record::{ParseRecordError, Ply, Record};
pub use tune::{Fit, Schedule, fit, write_weights};
pub use wdl::{WdlFit, fit_wdl};
