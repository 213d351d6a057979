//! The UCI protocol over any pair of text streams.
//!
//! `inbound` reads commands, `options` holds what can be set, `outbound` writes answers, and `server`
//! connects them with an engine.
//! The protocol is that of Stefan Meyer-Kahlen (2006) with `UCI_Variant`, which has one
//! value, and `UCI_ShowWDL`. Where it would have bad input ignored in silence, an `info string` says so.

mod inbound;
mod options;
mod outbound;
mod server;

pub use inbound::{Command, Go, ParseCommandError, SetPosition};
pub use server::serve;
