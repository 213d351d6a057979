//! Remembers across restarts what a bot would otherwise learn again to its cost.
//!
//! [`state`] is the value, [`mod@file`] the file that holds it. Nothing here decides anything, and
//! nothing here is awaited: who calls chooses the thread.

pub mod file;
pub mod state;

pub use file::{StateFile, StateTrouble};
pub use state::{Budget, Decline, Epoch, State};
