//! A text at an address on the web, such as a list of names: fetched whole, within limits. What it says
//! is not looked at here.

use std::time::Duration;

use reqwest::{Client, Url, redirect::Policy};
use tokio::{task::spawn_blocking, time::timeout};

use crate::platform::lichess::{causes, hides_token};

/// The most that a text may have, in bytes.
const MOST_BYTES: usize = 1 << 20;
/// How long all of it may take.
const LIMIT: Duration = Duration::from_secs(20);
/// How often an address may lead to another one.
const MOST_REDIRECTS: usize = 5;

/// Why a text could not be fetched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// The address is none, or a way to it is open to everybody.
    #[error("it is no https address")]
    Address,
    /// There are no certificates, or no cryptography.
    #[error("secure connections cannot be set up: {0}")]
    Tls(String),
    /// Nobody answered, or the answer broke off.
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    /// The answer is none that has the text.
    #[error("the answer is {0}")]
    Status(u16),
    /// The text is longer than is taken.
    #[error("it is longer than {} KiB", MOST_BYTES / 1024)]
    TooLong,
    /// The answer is no text.
    #[error("it is no text in UTF-8")]
    NoText,
    /// The answer took too long.
    #[error("it did not come within {} s", LIMIT.as_secs())]
    Late,
}

/// Whether a text may be fetched from this address: over TLS, or from this machine.
pub fn is_address(text: &str) -> bool {
    parse(text).is_ok()
}

/// Fetches a text. Whoever stands between us and the server can neither read nor change it.
///
/// # Errors
///
/// [`FetchError`].
pub async fn fetch(address: &str) -> Result<String, FetchError> {
    fetch_within(address, LIMIT).await
}

async fn fetch_within(address: &str, limit: Duration) -> Result<String, FetchError> {
    let url = parse(address)?;
    timeout(limit, fetch_url(url)).await.map_err(|_| FetchError::Late)?
}

fn parse(address: &str) -> Result<Url, FetchError> {
    let url = Url::parse(address).map_err(|_| FetchError::Address)?;
    let is_web = matches!(url.scheme(), "http" | "https") && url.host_str().is_some();
    let is_plain = url.username().is_empty() && url.password().is_none();
    Some(url).filter(|url| is_web && is_plain && hides_token(url)).ok_or(FetchError::Address)
}

async fn fetch_url(url: Url) -> Result<String, FetchError> {
    let is_secure = url.scheme() == "https";
    // It reads all certificates of the system, and is seldom needed.
    let client = spawn_blocking(move || client(is_secure)).await;
    let client = client.map_err(|error| FetchError::Tls(error.to_string()))??;
    let lost = |error: reqwest::Error| FetchError::Unreachable(causes(&error.without_url()));
    let mut response = client.get(url).send().await.map_err(lost)?;
    if !response.status().is_success() {
        return Err(FetchError::Status(response.status().as_u16()));
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(lost)? {
        if bytes.len() + chunk.len() > MOST_BYTES {
            return Err(FetchError::TooLong);
        }
        bytes.extend_from_slice(&chunk);
    }
    String::from_utf8(bytes).map_err(|_| FetchError::NoText)
}

fn client(is_secure: bool) -> Result<Client, FetchError> {
    // Fails only if a provider is installed already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder =
        Client::builder().user_agent(concat!("Meitner/", env!("CARGO_PKG_VERSION"))).referer(false);
    let builder = if is_secure {
        builder.https_only(true).redirect(Policy::limited(MOST_REDIRECTS))
    } else {
        // From this machine, and to nowhere else.
        builder.tls_certs_only([]).no_proxy().redirect(Policy::none())
    };
    builder.build().map_err(|error| FetchError::Tls(causes(&error)))
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
        task::JoinSet,
    };

    use super::*;

    /// What comes of one answer, which is followed by the end of the connection if `ends`.
    async fn answered(answer: Vec<u8>, ends: bool) -> Result<String, FetchError> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/list?a=b", listener.local_addr().unwrap());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _request = stream.read(&mut [0; 4096]).await.unwrap();
            // Whoever has read enough hangs up.
            let _written = stream.write_all(&answer).await;
            if !ends {
                std::future::pending::<()>().await;
            }
        });
        fetch_within(&address, Duration::from_millis(1500)).await
    }

    fn ok(body: &[u8]) -> Vec<u8> {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        [head.as_bytes(), body].concat()
    }

    #[tokio::test]
    async fn a_text_comes_whole_or_not_at_all() {
        assert_eq!(answered(ok(b"one\ntwo\n"), true).await.as_deref(), Ok("one\ntwo\n"));
        assert_eq!(answered(ok(&vec![b'a'; MOST_BYTES]), true).await.map(|t| t.len()), Ok(1 << 20));
        assert_eq!(answered(ok(&vec![b'a'; MOST_BYTES + 1]), true).await, Err(FetchError::TooLong));
        assert_eq!(answered(ok(b"\xff\xfe"), true).await, Err(FetchError::NoText));
        let half = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\none".to_vec();
        let broken = answered(half.clone(), true).await;
        assert!(matches!(broken, Err(FetchError::Unreachable(_))), "{broken:?}");
        assert_eq!(answered(half, false).await, Err(FetchError::Late));
        let moved =
            "HTTP/1.1 302 Found\r\nLocation: http://example.com/\r\nContent-Length: 0\r\n\r\n";
        assert_eq!(answered(moved.into(), true).await, Err(FetchError::Status(302)));
        let gone = "HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nbob";
        assert_eq!(answered(gone.into(), true).await, Err(FetchError::Status(404)));
    }

    #[tokio::test]
    async fn nothing_is_fetched_in_clear_text_from_elsewhere() {
        for bad in ["http://example.com/list", "ftp://127.0.0.1/", "list.txt", "https://a:b@c/"] {
            assert_eq!(fetch(bad).await, Err(FetchError::Address), "{bad}");
        }
        for good in ["https://example.com/list?raw=1", "http://127.0.0.1:1/", "http://[::1]/a"] {
            assert!(is_address(good), "{good}");
        }
    }
}
