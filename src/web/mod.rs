//! What the program shows over HTTP, on a port of this machine.
//!
//! So far the figures and the health, for Prometheus and for whoever restarts what hangs. There is no
//! board and no page yet, and nothing that changes anything.

mod port;

use std::net::SocketAddr;

pub use port::serve;

/// What is shown, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The address to listen on; nothing is shown without one.
    pub listen: Option<SocketAddr>,
}
