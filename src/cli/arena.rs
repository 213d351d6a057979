//! `arena`: a local server for a bot of one's own, until Ctrl-C.

use std::{
    io::{self, Write},
    net::{IpAddr, Ipv4Addr, SocketAddr},
    process::ExitCode,
};

use anyhow::Context as _;
use clap::Args;
use tokio::{runtime::Runtime, signal, task::JoinSet};
use tokio_util::sync::CancellationToken;

use crate::{
    cli::{
        host::{BOT, Host, HostArgs},
        ics::{IcsHost, PASSWORD},
        log,
        options::SettingsArgs,
    },
    settings::LogOptions,
};

/// A shorter token may be guessed.
const LEAST_TOKEN: usize = 12;

/// Arguments of `arena`.
#[derive(Debug, Args)]
pub(super) struct ArenaArgs {
    /// Address to listen on; any but those of this machine alone needs --token
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST), value_name = "IP")]
    address: IpAddr,
    /// Port; 0 for any free one
    #[arg(long, default_value_t = 8664)]
    port: u16,
    /// Token of the bot's account, and its password on the other server; without it one that is the
    /// same for everybody
    #[arg(long, value_parser = parse_token)]
    token: Option<String>,
    /// Port for an Internet Chess Server beside it, as FICS is one; 0 for any free one
    #[arg(long, value_name = "PORT")]
    fics_port: Option<u16>,
    #[command(flatten)]
    host: HostArgs,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// A text that can be a token, and is not guessed.
fn parse_token(text: &str) -> Result<String, String> {
    let is_token = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if text.len() >= LEAST_TOKEN && text.chars().all(is_token) {
        Ok(text.to_owned())
    } else {
        Err(format!("a token is at least {LEAST_TOKEN} letters, digits and underscores"))
    }
}

/// Opens the arena and lets its players challenge whoever logs in.
pub(super) fn arena(args: &ArenaArgs) -> anyhow::Result<ExitCode> {
    let log: LogOptions = args.settings.load()?.log;
    let _log = log::start(&log)?;
    let runtime = Runtime::new().context("the system gives no threads")?;
    runtime.block_on(serve(args))
}

async fn serve(args: &ArenaArgs) -> anyhow::Result<ExitCode> {
    let (address, token) = (args.address, args.token.as_deref());
    anyhow::ensure!(
        address.is_loopback() || token.is_some(),
        "--address {address}: others could use the arena there, whose token is the same for \
         everybody; give it one of its own with --token"
    );
    let at = SocketAddr::new(address, args.port);
    let Host { arena, listener, club, url, token } = Host::open(&args.host, at, token).await?;
    introduce(&url, &token)?;
    let shutdown = CancellationToken::new();
    let mut server = JoinSet::new();
    server.spawn(arena.run(listener, shutdown.clone()));
    let mut ics_club = None;
    if let Some(port) = args.fics_port {
        let at = SocketAddr::new(address, port);
        let password = args.token.as_deref().unwrap_or(PASSWORD);
        let IcsHost { server: ics, listener, port, club } =
            IcsHost::open(&args.host, at, password).await?;
        introduce_ics(SocketAddr::new(address, port), password)?;
        server.spawn(ics.run(listener, shutdown.clone()));
        ics_club = Some(club);
    }
    let ics_host = async {
        let Some(club) = &ics_club else { return std::future::pending().await };
        loop {
            if let Err(error) = club.play(None).await {
                tracing::warn!(%error, "no games on FICS for now");
            }
        }
    };
    let host = async {
        loop {
            if let Err(error) = club.play(None).await {
                tracing::warn!(%error, "no games for now");
            }
        }
    };
    tokio::select! {
        () = host => {}
        () = ics_host => {}
        result = signal::ctrl_c() => result.context("signals cannot be listened to")?,
        _ = server.join_next() => anyhow::bail!("the server ended by itself"),
    }
    shutdown.cancel();
    while server.join_next().await.is_some() {}
    let counters = club.handle.counters();
    let mut out = io::stdout().lock();
    writeln!(out, "games      {}", counters.games_finished)?;
    writeln!(out, "illegal    {}", counters.illegal_moves)?;
    writeln!(out, "flags      {}", counters.flags_lost)?;
    Ok(ExitCode::SUCCESS)
}

/// Tells how to log in.
fn introduce(url: &str, token: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "An arena with one bot account, {BOT}. Its players challenge the bot once it")?;
    writeln!(out, "is online. Ctrl-C ends it.")?;
    writeln!(out)?;
    writeln!(out, "url        {url}")?;
    writeln!(out, "token      {token}")?;
    writeln!(out, "try        MEITNER_LICHESS__TOKEN={token} meitner run --set lichess.url={url}")?;
    writeln!(out, "or         meitner configure --set lichess.url={url}")?;
    out.flush()
}

fn introduce_ics(at: SocketAddr, password: &str) -> io::Result<()> {
    let (host, port) = (at.ip(), at.port());
    let mut out = io::stdout().lock();
    writeln!(out, "fics       {at}, account {BOT}, password {password}")?;
    writeln!(
        out,
        "try        MEITNER_FICS__PASSWORD={password} meitner run --set fics.enabled=true \
         --set fics.host={host} --set fics.port={port} --set fics.account={BOT}"
    )?;
    out.flush()
}
