//! The real bot against the arena over TCP: whole games, then one test for each fault.

mod challenges;
mod faults;
mod games;
mod harness;
mod lifecycle;
