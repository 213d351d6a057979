//! The best move within limits, and how sure it is.
//!
//! An [`Engine`] owns its threads: a search is started with a [`History`](crate::rules::History)
//! and [`Limits`], and tells its listener [`Update`]s. Nothing here prints, sleeps or knows of
//! tokio.
//!
//! ```
//! use meitner::{rules::History, search::{Engine, Limits, Options, Update}};
//!
//! let engine = Engine::new(Options::default());
//! let (sender, receiver) = std::sync::mpsc::channel();
//! let limits = Limits { depth: Some(4), ..Limits::default() };
//! engine.search(History::default(), limits, Box::new(move |update| {
//!     if let Update::Report(report) = update {
//!         sender.send(report).ok();
//!     }
//! }));
//! let report = receiver.recv()?;
//! assert!(report.best.is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// Values, depths and plies are small numbers whose ranges the constants below bound.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "search values fit their types by construction"
)]

mod alphabeta;
pub mod bench;
mod correction;
pub mod eval;
mod history;
mod info;
mod limits;
mod picker;
mod quiescence;
mod root;
mod scheduler;
mod score;
mod see;
mod signal;
mod timeman;
mod tt;
pub mod wdl;
mod worker;

pub use info::{Bound, Info, Progress, Report, SearchId, Update};
pub use limits::{ClockLimit, Limits};
pub use scheduler::Scheduler;
pub use score::Score;
pub use timeman::{Budget, budget};
pub use wdl::Wdl;
pub use worker::{Engine, Listener, Options};

/// No line is searched deeper than this many plies.
pub const MAX_PLY: usize = 240;
