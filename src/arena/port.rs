//! The port that the arena listens on, which can be closed for a while.

use std::{io, net::SocketAddr, time::Duration};

use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::arena::state::Shared;

/// After an error, such as too many open files.
const PAUSE: Duration = Duration::from_millis(50);

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 1024;

/// The port, open or closed.
#[derive(Debug)]
pub(super) enum Port {
    Open(TcpListener),
    /// Nobody listens. The address stays bound where the system allows it, so that nobody else
    /// can take it meanwhile.
    Closed {
        address: SocketAddr,
        bound: Option<TcpSocket>,
    },
}

impl Port {
    /// Stops listening: who connects is refused by the system.
    pub(super) fn close(self) -> Self {
        let Self::Open(listener) = self else { return self };
        match listener.local_addr() {
            Ok(address) => {
                drop(listener);
                Self::Closed { address, bound: bind(address).ok() }
            }
            Err(error) => {
                tracing::warn!(%error, "the port has no address and stays open");
                Self::Open(listener)
            }
        }
    }

    /// The next connection; opens the port first when the time for it has come. Cancel-safe.
    pub(super) async fn accept(&mut self, shared: &Shared) -> TcpStream {
        loop {
            let result = match self {
                Self::Open(listener) => listener.accept().await.map(|(stream, _)| Some(stream)),
                Self::Closed { address, bound } => {
                    while let Some(until) = shared.port_closed_until() {
                        tokio::time::sleep_until(until.into()).await;
                    }
                    let socket = bound.take().map_or_else(|| bind(*address), Ok);
                    socket.and_then(|socket| socket.listen(BACKLOG)).map(|listener| {
                        *self = Self::Open(listener);
                        None
                    })
                }
            };
            match result {
                Ok(Some(stream)) => return stream,
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(%error, "connections cannot be accepted");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }
}

fn bind(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // The connections of before may still hold the address.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}
