//! `health`: asks the bot that runs with these settings, or that listens at an address, how it is.

use std::{
    io::{self, Write as _},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    process::ExitCode,
    time::Duration,
};

use anyhow::Context as _;
use clap::Args;
use tokio::runtime;

use crate::{cli::options::SettingsArgs, game::one_line};

/// The bot answers at once or not at all.
const LIMIT: Duration = Duration::from_secs(3);
/// Bytes of an answer. Who knows what listens there.
const MOST_BYTES: usize = 8 << 10;
/// Characters of an answer.
const LONGEST_LINE: usize = 400;

/// Arguments of `health`.
#[derive(Debug, Args)]
pub(super) struct HealthArgs {
    #[command(flatten)]
    settings: SettingsArgs,
    /// Where the bot listens, as in 127.0.0.1:9464; no settings are read then, so that wrong ones
    /// do not look like a bot that is unwell
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["config", "set"])]
    address: Option<SocketAddr>,
    /// Ask whether it is connected to its servers, too, and not only whether it is alive
    #[arg(long)]
    ready: bool,
}

/// Prints one line. Whatever is wrong gives the same code, since whoever watches knows no other.
pub(super) fn health(args: &HealthArgs) -> anyhow::Result<ExitCode> {
    let (is_well, line) = match ask(args) {
        Ok(answer) => answer,
        Err(error) => (false, format!("{error:#}")),
    };
    writeln!(io::stdout(), "{}: {line}", if is_well { "ok" } else { "BAD" })?;
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Whether all is well, and what the bot says.
fn ask(args: &HealthArgs) -> anyhow::Result<(bool, String)> {
    let listen = match args.address {
        Some(address) => address,
        None => args.settings.load()?.web.listen.context(
            "nobody can be asked: `metrics.listen` is empty; set an address as in 127.0.0.1:9464",
        )?,
    };
    let address = reachable(listen);
    let path = if args.ready { "readyz" } else { "healthz" };
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let asking = client()?.get(format!("http://{address}/{path}")).timeout(LIMIT).send();
        let answer = asking.await.map_err(reqwest::Error::without_url);
        let mut answer = answer.with_context(|| format!("no bot answers at {address}"))?;
        let is_well = answer.status().is_success();
        let mut bytes = Vec::new();
        while bytes.len() < MOST_BYTES
            && let Some(chunk) = answer.chunk().await.map_err(reqwest::Error::without_url)?
        {
            bytes.extend_from_slice(&chunk);
        }
        let text = String::from_utf8_lossy(&bytes);
        Ok((is_well, one_line(text.lines().next().unwrap_or_default(), LONGEST_LINE)))
    })
}

/// A client for this machine: no proxy, and no certificates to be found.
fn client() -> anyhow::Result<reqwest::Client> {
    // The builder wants one. Fails only if it is installed already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Ok(reqwest::Client::builder().no_proxy().tls_certs_only([]).build()?)
}

/// Where a bot is reached from this machine that listens on every address.
fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bot_that_listens_everywhere_is_asked_here() {
        for (listen, asked) in [
            ("0.0.0.0:9464", "127.0.0.1:9464"),
            ("[::]:9464", "[::1]:9464"),
            ("10.0.0.7:9464", "10.0.0.7:9464"),
        ] {
            let listen: SocketAddr = listen.parse().unwrap();
            assert_eq!(reachable(listen).to_string(), asked);
        }
    }
}
