//! The arena over TCP, driven by a plain HTTP client written from the published API.

mod accounts;
mod challenges;
mod chat;
mod faults;
mod games;
mod harness;
mod limits;
mod network;
mod reception;
mod request_faults;
mod stream_faults;
mod tournaments;
mod users;
