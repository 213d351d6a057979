//! The lichess Bot API.
//!
//! In layers: [`client`] sends requests and knows their limits, [`ndjson`] cuts byte streams into
//! lines, [`model`] and [`listings`] read them, [`events`] follows the account's stream and [`adapter`] one game.

pub mod account;
pub mod adapter;
pub mod client;
pub mod events;
pub mod listings;
pub mod model;
pub mod ndjson;

mod error;
#[cfg(test)]
mod no_names;
mod pending;
mod refusals;
mod stream;

pub use account::{Account, StartError, check_account, check_scope, start_error};
pub use client::{Client, ClientError, Options, hides_token};
pub(in crate::platform) use error::causes;
pub use error::{ApiError, RateLimit, Retry};
pub use refusals::Patience;
