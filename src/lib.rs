//! Meitner: an atomic chess bot in one program.
//!
//! The modules stand in reading order, lowest layer first. What each may import is a law that
//! `tests/architecture.rs` enforces; `docs/ARCHITECTURE.md` explains it.

// Blank lines keep rustfmt from sorting them.
pub mod rules;

pub mod pgn;

pub mod metrics;

pub mod arbiter;

pub mod search;

pub mod game;

pub mod store;

pub mod platform;

pub mod daemon;

pub mod uci;

pub mod selfplay;

pub mod arena;

pub mod web;

pub mod settings;

pub mod cli;
