//! One connection of a client: the socket, and what its requests and streams know of it.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

/// What the requests of a connection share.
#[derive(Debug, Default)]
pub(super) struct Link {
    /// Set by a request or a stream, read when the socket is dropped.
    is_to_be_reset: AtomicBool,
    /// Set by the first request.
    is_used: AtomicBool,
}

impl Link {
    /// Notes a request, and returns whether it is the first of the connection.
    pub(super) fn begin_request(&self) -> bool {
        !self.is_used.swap(true, Ordering::Relaxed)
    }

    /// Lets the connection end with a reset (RST) instead of a proper end.
    pub(super) fn reset_at_end(&self) {
        self.is_to_be_reset.store(true, Ordering::Relaxed);
    }
}

/// A client's socket, which ends in the way its link says.
#[derive(Debug)]
pub(super) struct Socket {
    stream: TcpStream,
    link: Arc<Link>,
}

impl Socket {
    pub(super) fn new(stream: TcpStream, link: Arc<Link>) -> Self {
        Self { stream, link }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.link.is_to_be_reset.load(Ordering::Relaxed) {
            // If it fails the connection is closed in the ordinary way, which also breaks it off.
            let _reset = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
