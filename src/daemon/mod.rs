//! Owns every task of a running bot: accepts challenges, gives each game a slot and an engine,
//! survives what fails, and shuts down in good order.
//!
//! [`policy`] and the bookkeeping of slots are pure. Nothing here knows a server's wire format.

pub mod fics;
pub mod lists;
pub mod policy;
pub mod reload;
pub mod service;
pub mod shutdown;

mod budget;
mod declines;
mod figures;
mod invitations;
mod keeper;
mod login;
mod matchmaking;
mod open_games;
mod opponents;
mod pace;
mod queue;
mod recorder;
mod requests;
mod resources;
mod slots;
mod supervisor;
mod tasks;
mod tournament;

pub use budget::BudgetOptions;
pub use invitations::InvitationOptions;
pub use matchmaking::{MatchmakingOptions, Mode, OpponentPreference, WeightedClock};
pub use policy::{Criteria, PolicyOptions};
pub use queue::{Order, Preference, QueueOptions};
pub use resources::Resources;
pub use shutdown::{Shutdown, ShutdownOptions, Unfinished};
pub use supervisor::{DaemonError, Options, Summary, run, run_with_policy};
pub use tournament::{Berserk, Password, TournamentOptions};
