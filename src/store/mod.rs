//! Remembers across restarts what a bot would otherwise learn again to its cost.
//!
//! Nothing here decides anything, and nothing waits for the disk.

pub mod state;
