//! Owns every task of a running bot: accepts challenges, gives each game a slot and an engine,
//! survives what fails, and shuts down in good order.
//!
//! [`policy`] and the bookkeeping of slots are pure. Nothing here knows a server's wire format.

pub mod policy;
pub mod shutdown;

mod budget;
mod login;
mod matchmaking;
mod queue;
mod reload;
mod requests;
mod slots;
mod supervisor;
mod tasks;
mod tournament;

pub use matchmaking::MatchmakingOptions;
pub use policy::PolicyOptions;
pub use shutdown::{Shutdown, ShutdownOptions, Unfinished};
pub use supervisor::{DaemonError, Options, Summary, run};
