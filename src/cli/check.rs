//! `check`: whether the bot could run, one line for each thing that it needs.

use std::{
    fs,
    io::{self, Write},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::ExitCode,
    time::{Duration, Instant, SystemTime},
};

use anyhow::Context as _;
use reqwest::header::DATE;
use tokio::runtime::Runtime;

use crate::{
    cli::{exit, options::SettingsArgs},
    daemon::{
        Berserk, PolicyOptions, TournamentOptions,
        lists::{self, ListOptions},
    },
    platform::{
        fics::{self, Welcome},
        lichess::{self, Client},
    },
    settings::Settings,
    store::{Archive, Filter},
};

/// More than this between our clock and the server's is told: certificates and the times in logs
/// need a right clock. Games do not, since they count from their events.
const MOST_SKEW: Duration = Duration::from_secs(30);
const SCOPE: &str = "bot:play";
/// The scope that joining tournaments needs.
const TOURNAMENT_SCOPE: &str = "tournament:write";
/// The scope that berserk needs.
const BERSERK_SCOPE: &str = "board:play";

/// The lines, and whether all is well.
struct Report<W> {
    out: W,
    code: ExitCode,
}

impl<W: Write> Report<W> {
    fn ok(&mut self, what: &str, text: impl std::fmt::Display) -> io::Result<()> {
        writeln!(self.out, "ok   {what:<9} {text}")
    }

    /// What works, but is hardly meant.
    fn warn(&mut self, what: &str, text: impl std::fmt::Display) -> io::Result<()> {
        writeln!(self.out, "WARN {what:<9} {text}")
    }

    fn bad(&mut self, code: u8, what: &str, text: impl std::fmt::Display) -> io::Result<()> {
        if self.code == ExitCode::SUCCESS {
            self.code = code.into();
        }
        writeln!(self.out, "BAD  {what:<9} {text}")
    }
}

/// Checks everything, as far as it can.
pub(super) fn check(args: &SettingsArgs) -> anyhow::Result<ExitCode> {
    let mut report = Report { out: io::stdout().lock(), code: ExitCode::SUCCESS };
    let settings = match args.load() {
        Ok(settings) => settings,
        Err(error) => {
            report.bad(exit::SETTINGS, "settings", error)?;
            return Ok(report.code);
        }
    };
    report.ok("settings", "every key and value is right")?;
    if let Some(text) = settings.daemon.policy.contradiction(settings.daemon.concurrency) {
        report.warn("settings", text)?;
    }
    check_store(&settings, &mut report)?;
    check_files(&settings, &mut report)?;
    let fics = match settings.fics() {
        Ok(fics) => fics,
        Err(error) => {
            report.bad(exit::SETTINGS, "fics", error)?;
            None
        }
    };
    let runtime = Runtime::new().context("the system gives no threads")?;
    runtime.block_on(check_lists(&settings.daemon.policy.lists, &mut report))?;
    if let Some(fics) = &fics {
        runtime.block_on(check_fics(fics, &mut report))?;
        let policy = &settings.daemon.policy;
        if policy.humans.needs_facts() || policy.bots.needs_facts() {
            let text = "the server tells no age, games or marks of accounts: where they are asked for \
                        (min_account_days, min_account_games, marked), nobody is accepted there";
            report.warn("fics", text)?;
        }
        if !settings.names_token() {
            report.ok("lichess", "no token, so that only FICS is played")?;
            return Ok(report.code);
        }
    }
    let client = match settings.token() {
        Ok(token) => match Client::new(settings.lichess.clone(), token) {
            Ok(client) => Some(client),
            Err(error) => {
                report.bad(exit::SETTINGS, "token", error)?;
                None
            }
        },
        Err(error) => {
            report.bad(exit::SETTINGS, "token", error)?;
            None
        }
    };
    if client.is_some() {
        report.ok("token", "there is one (not shown)")?;
    }
    runtime.block_on(async {
        check_server(&settings, &mut report).await?;
        match client {
            Some(client) => {
                let scopes = scopes(&settings.daemon.policy.tournament);
                check_account(&client, &scopes, &mut report).await
            }
            None => Ok(()),
        }
    })?;
    Ok(report.code)
}

/// Whether games can be remembered. Nothing is made or changed.
fn check_store(settings: &Settings, report: &mut Report<impl Write>) -> io::Result<()> {
    let Some(folder) = &settings.daemon.store.folder else {
        return report.ok("store", "nothing is remembered, since `store.folder` names no folder");
    };
    let known = Archive::open(folder)
        .and_then(|archive| archive.map(|archive| archive.count(&Filter::default())).transpose());
    let known = match known {
        Ok(known) => known.unwrap_or_default(),
        Err(error) => return report.bad(exit::FAILURE, "store", error),
    };
    match can_write(folder) {
        Ok(()) => report.ok("store", format!("{known} games remembered in {}", folder.display())),
        Err(error) => {
            let text = format!(
                "{}: cannot be written ({error}); choose another `store.folder`",
                folder.display()
            );
            report.bad(exit::FAILURE, "store", text)
        }
    }
}

/// The files that are read and written while the bot runs.
fn check_files(settings: &Settings, report: &mut Report<impl Write>) -> anyhow::Result<()> {
    // They have been read with the settings.
    let PolicyOptions { block, always, only, .. } = &settings.daemon.policy;
    let (block, always, only) = (block.len(), always.len(), only.len());
    report.ok("lists", format!("{block} names blocked, {always} always, {only} only"))?;
    if let Some(folder) = &settings.log.folder {
        match can_write(folder) {
            Ok(()) => report.ok("log", format!("{} can be written", folder.display()))?,
            Err(error) => {
                let place = folder.display();
                let text = format!("{place}: {error}; make it writable, or set `log.folder`");
                report.bad(exit::SETTINGS, "log", text)?;
            }
        }
    }
    for path in [settings.token_file(), settings.password_file()].into_iter().flatten() {
        let mode = fs::metadata(path).map(|file| file.permissions().mode());
        if mode.is_ok_and(|mode| mode & 0o077 != 0) {
            let path = path.display();
            report.warn("secrets", format!("others can read {path}; chmod 600 {path}"))?;
        }
    }
    Ok(())
}

/// The lists of names on the web. One that cannot be read keeps no bot from playing.
async fn check_lists(options: &ListOptions, report: &mut Report<impl Write>) -> anyhow::Result<()> {
    for address in options.addresses() {
        let shown = lists::shown(address);
        match lists::read(address).await {
            Ok(names) => report.ok("lists", format!("{shown} has {} names", names.len()))?,
            Err(error) => report.warn("lists", format!("{shown}: {error}"))?,
        }
    }
    Ok(())
}

/// Whether a file can be made in a folder, which need not be there yet. Nothing stays behind.
fn can_write(folder: &Path) -> io::Result<()> {
    // What is not there is made in the first that is.
    let there = folder.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
    tempfile::tempfile_in(there).map(drop)
}

/// Logs in and out again, which shows that the server, the name and the password are right; but not
/// while somebody is logged in under that name, whom the server would throw out.
async fn check_fics(
    options: &fics::Options,
    report: &mut Report<impl Write>,
) -> anyhow::Result<()> {
    let address = options.address();
    let asked = Instant::now();
    let mut link = match fics::Link::open(options, asked).await {
        Ok(link) => link,
        Err(error) => return Ok(report.bad(exit::FAILURE, "fics", error)?),
    };
    report.ok("fics", format!("{address} answers in {} ms", asked.elapsed().as_millis()))?;
    if !options.account.eq_ignore_ascii_case(fics::GUEST) {
        link.close().await;
        let is_online = fics::is_online(options).await;
        if let Some(text) = fics::why_not_tried(&options.account, is_online) {
            match is_online {
                Some(_) => report.ok("fics", text)?,
                None => report.warn("fics", text)?,
            }
            return Ok(());
        }
        link = match fics::Link::open(options, asked).await {
            Ok(link) => link,
            Err(error) => return Ok(report.bad(exit::FAILURE, "fics", error)?),
        };
    }
    match link.log_in(options).await {
        Ok(Welcome { account, .. }) => {
            let kind = if account.is_computer() {
                "registered as a computer's"
            } else if account.is_guest() {
                "a guest, who plays unrated"
            } else {
                "NOT registered as a computer's: programs may not play rated with it"
            };
            report.ok("fics", format!("logged in as {}, {kind}", account.name))?;
            link.send("quit");
            link.close().await;
        }
        Err(error) => report.bad(exit::FAILURE, "fics", error)?,
    }
    Ok(())
}

async fn check_server(settings: &Settings, report: &mut Report<impl Write>) -> anyhow::Result<()> {
    let url = &settings.lichess.base_url;
    let asked = Instant::now();
    let response = match http_client(&settings.lichess)?.head(url).send().await {
        Ok(response) => response,
        Err(error) => {
            // The last cause is the one that tells.
            let error = anyhow::Error::new(error.without_url());
            report.bad(exit::FAILURE, "server", format!("{url} cannot be reached: {error:#}"))?;
            return Ok(());
        }
    };
    report.ok("server", format!("{url} answers in {} ms", asked.elapsed().as_millis()))?;
    let date = response.headers().get(DATE).and_then(|date| date.to_str().ok());
    match date.and_then(|date| httpdate::parse_http_date(date).ok()) {
        Some(date) => {
            let skew = skew(SystemTime::now(), date);
            let text = format!("{} s from the server's", skew.as_secs());
            if skew > MOST_SKEW {
                report.bad(exit::FAILURE, "clock", format!("{text}; set this machine's clock"))?;
            } else {
                report.ok("clock", text)?;
            }
        }
        None => report.ok("clock", "not checked: the server does not tell the time")?,
    }
    Ok(())
}

/// A client without token, for the question whether anybody is there. Needs a [`Client`] or not:
/// both share the provider of cryptography, which may be installed already.
fn http_client(options: &lichess::Options) -> anyhow::Result<reqwest::Client> {
    // Fails only if a provider is installed already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .connect_timeout(options.connect_timeout)
        .timeout(options.request_timeout)
        .redirect(reqwest::redirect::Policy::none());
    if options.base_url.starts_with("http:") {
        // No TLS, so that no certificates need to be found; and no proxy between local programs.
        builder = builder.tls_certs_only([]).no_proxy();
    }
    builder.build().context("secure connections cannot be set up (are CA certificates installed?)")
}

/// What the token must allow: to play, and what is set for tournaments.
fn scopes(tournament: &TournamentOptions) -> Vec<&'static str> {
    let mut scopes = vec![SCOPE];
    if !tournament.ids.is_empty() || !tournament.teams.is_empty() {
        scopes.push(TOURNAMENT_SCOPE);
        scopes.extend((tournament.berserk != Berserk::Never).then_some(BERSERK_SCOPE));
    }
    scopes
}

async fn check_account(
    client: &Client,
    scopes: &[&str],
    report: &mut Report<impl Write>,
) -> anyhow::Result<()> {
    match client.test_token().await {
        Ok(Some(token)) => {
            let missing: Vec<_> = scopes.iter().filter(|scope| !token.has_scope(scope)).collect();
            if missing.is_empty() {
                report.ok("scopes", scopes.join(", "))?;
            }
            let base = client.options().base_url.trim_end_matches('/');
            let page = format!("{base}/account/oauth/token");
            for scope in missing {
                let text = format!("the token lacks {scope}; create one that has it at {page}");
                report.bad(exit::SCOPE, "scopes", text)?;
            }
        }
        Ok(None) => {
            report.bad(
                exit::LOGIN,
                "scopes",
                "the server does not know the token; create a new one",
            )?;
            return Ok(());
        }
        Err(error) => report.bad(exit::FAILURE, "scopes", error)?,
    }
    match client.account().await {
        Ok(account) if account.is_bot() => {
            let rating = account.rating().map_or("none".to_owned(), |rating| rating.to_string());
            report
                .ok("account", format!("{} is a bot, atomic rating {rating}", account.username))?;
        }
        Ok(account) => {
            let name = account.username;
            let text = format!(
                "{name} is no bot account; `meitner configure` upgrades one that has never played, \
                 for good"
            );
            report.bad(exit::ACCOUNT, "account", text)?;
        }
        Err(error) => report.bad(exit::FAILURE, "account", error)?,
    }
    Ok(())
}

fn skew(ours: SystemTime, theirs: SystemTime) -> Duration {
    ours.duration_since(theirs).unwrap_or_else(|error| error.duration())
}
