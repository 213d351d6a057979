//! FICS, the Free Internet Chess Server, and what is compatible with it.
//!
//! Three layers: [`wire`] makes frames of bytes, [`line`](mod@line) makes values of lines, and what
//! they mean is judged above: [`login`] for the login, [`adapter`] for a game. A server tells
//! everything on one connection, so that one task owns it, the [`client`]. The facts that all of it
//! rests on are in `docs/FICS.md`, "the FICS notes".

pub mod adapter;
pub mod client;
pub mod ending;
pub mod error;
pub mod line;
pub mod link;
pub mod login;
pub mod offer;
pub mod rules;
pub mod style12;
pub mod timeseal;
pub mod wire;

mod courtesy;
mod look;
mod options;
mod raw_log;
mod session;

pub use adapter::Agreements;
pub use client::{Event, GameTerms, Invitation, Kind, Login, NewGame, Outcome, Request, run};
pub use error::{LinkError, Retry};
pub use link::Link;
pub use login::{GUEST, Welcome};
pub use look::{is_online, why_not_tried};
pub use options::Options;
