//! Meitner: an atomic chess bot in one program.
//!
//! The modules stand in reading order, lowest layer first. What each may import is a law that
//! `tests/architecture.rs` enforces; `docs/ARCHITECTURE.md` explains it.

pub mod arbiter;
pub mod arena;
pub mod cli;
pub mod rules;
pub mod search;
pub mod selfplay;
pub mod uci;
