//! The real bot on an Internet Chess Server of the arena, over TCP: whole games, then one test for
//! each thing that can happen.

#![allow(clippy::panic, reason = "a test fails by panicking")]

mod both;
mod games;
mod harness;
mod links;
mod memory;
mod offers;
