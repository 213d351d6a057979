//! The UCI protocol over any pair of text streams.
//!
//! `inbound` reads commands, `outbound` writes answers, `server` connects both with an engine.
//! The protocol is that of Stefan Meyer-Kahlen (2006) with `UCI_Variant`, which has one value.

mod inbound;
mod outbound;
mod server;

pub use inbound::{Command, Go, ParseCommandError, SetPosition};
pub use server::serve;
