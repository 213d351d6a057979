//! The real bot against the arena over TCP: whole games, then one test for each fault.

mod challenges;
mod chat;
mod correspondence;
mod faults;
mod games;
mod harness;
mod incidents;
mod lag;
mod lifecycle;
mod lists;
mod log;
mod matchmaking;
mod memory;
mod offers;
mod openapi;
mod policy;
mod ponder;
mod queue;
mod resend;
mod tournaments;
