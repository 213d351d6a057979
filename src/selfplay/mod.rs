//! Our own games: played by the engine with itself, written down, and used to fit the evaluation.
//!
//! `games` plays them, `record` is their file format, `quiet` picks the positions that a static
//! evaluation can judge, `tune` fits the linear evaluation to them and `train` the network, `wdl` the
//! chances that go with a score.

mod games;
mod quiet;
mod record;
mod train;
mod tune;
mod wdl;

pub use games::{Plan, play};
pub use record::{ParseRecordError, Ply, Record};
pub use train::{Trained, Training, train};
pub use tune::{Fit, Schedule, fit, write_weights};
pub use wdl::{WdlFit, fit_wdl};
