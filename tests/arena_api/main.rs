//! The arena over TCP, driven by a plain HTTP client written from the published API.

mod accounts;
mod challenges;
mod faults;
mod games;
mod harness;
mod network;
mod request_faults;
mod stream_faults;
