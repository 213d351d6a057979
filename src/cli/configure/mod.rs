//! `configure`: asks for what a bot needs, tries it, and writes the files for `check` and `run`.
//!
//! Nothing is written before all answers are there and the server has accepted them.

mod ask;
mod file;

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Instant,
};

use anyhow::Context as _;
use clap::Args;
use secrecy::{ExposeSecret as _, SecretString};
use tokio::runtime::Runtime;

use crate::{
    cli::exit,
    platform::{
        fics,
        lichess::{Client, check_scope, start_error},
    },
    settings::{Settings, SettingsError, ShownValue, Source, Sources, USUAL_FILES},
};

use ask::Ask;

/// A person may mistype so often.
const TRIES: u32 = 3;

/// Arguments of `configure`.
#[derive(Debug, Args)]
pub(super) struct ConfigureArgs {
    /// File of settings to write; what it has already is kept where nothing else is answered
    #[arg(long, value_name = "PATH", default_value = USUAL_FILES[0])]
    config: PathBuf,
    /// One setting for the file, as in challenge.concurrency=2, which is then not asked for; can be
    /// repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Make a bot account of the account without asking, which is for good
    #[arg(long)]
    upgrade: bool,
    /// Replace files that exist without asking
    #[arg(long)]
    replace: bool,
}

/// An account that cannot become a bot's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum AccountError {
    /// It has played so many games.
    #[error(
        "{0} has played {1} games, so that it can never become a bot account; make a new account \
         that plays none, and a token for it"
    )]
    HasPlayed(String, u32),
    /// The server says why.
    #[error("the server refuses to make a bot account of {0}: {1}")]
    Refused(String, String),
}

/// The secrets that are to be written, with their files.
type NewSecrets = Vec<(PathBuf, SecretString)>;

/// Asks, tries and writes.
pub(super) fn configure(args: &ConfigureArgs) -> anyhow::Result<ExitCode> {
    let runtime = Runtime::new().context("the system gives no threads")?;
    let mut setup = Setup {
        args,
        ask: Ask::new(),
        runtime,
        flags: args.set.clone(),
        secrets: NewSecrets::new(),
    };
    setup.may_replace(&args.config)?;
    let is_ready = setup.lichess()?;
    // Without either there is nothing to play, and nothing more to ask.
    if setup.plays_on_lichess()? {
        setup.games()?;
        setup.fics()?;
    } else {
        setup.fics()?;
        setup.games()?;
    }
    setup.write()?;
    Ok(if is_ready { ExitCode::SUCCESS } else { exit::ACCOUNT.into() })
}

/// What has been answered so far.
struct Setup<'a> {
    args: &'a ConfigureArgs,
    ask: Ask,
    runtime: Runtime,
    /// Every answer is a flag, so that it is checked as all settings are.
    flags: Vec<String>,
    secrets: NewSecrets,
}

impl Setup<'_> {
    /// The settings as answered so far.
    fn settings(&self) -> Result<Settings, SettingsError> {
        self.settings_with(&[])
    }

    fn settings_with(&self, more: &[String]) -> Result<Settings, SettingsError> {
        let file = Some(self.args.config.clone()).filter(|path| path.exists());
        let flags = [&self.flags[..], more].concat();
        Settings::load(&Sources { file: file.clone(), ..Sources::of_process(file, flags)? })
    }

    /// Whether a flag has said this already.
    fn is_set(&self, key: &str) -> bool {
        let name = |flag: &String| flag.split_once('=').map(|(name, _)| name.trim().to_owned());
        self.flags.iter().any(|flag| name(flag).as_deref() == Some(key))
    }

    fn set(&mut self, key: &str, value: &str) {
        self.flags.push(format!("{key}={value}"));
    }

    /// Fails if a file exists that is not to be replaced.
    fn may_replace(&self, path: &Path) -> anyhow::Result<()> {
        if !path.exists() || self.args.replace {
            return Ok(());
        }
        let path = path.display();
        let question = format!("{path} exists. Replace it, and keep the old one as {path}.old?");
        anyhow::ensure!(
            self.ask.yes(&question, false)?,
            "{path} exists and stays as it is; nothing was written (--replace replaces it, \
             --config PATH names another file)"
        );
        Ok(())
    }

    /// The token and the account. Returns whether the bot can run with them; without a token it plays
    /// on FICS alone.
    fn lichess(&mut self) -> anyhow::Result<bool> {
        let settings = self.settings()?;
        let is_there = |path: &Path| path.exists();
        let mut out = io::stdout();
        if settings.names_token() && settings.token_file().is_none_or(is_there) {
            let token = settings.token()?;
            match self.try_token(&settings, &token) {
                Ok(client) => {
                    // In the environment it would be gone with this shell, in the file of settings
                    // others may read it.
                    if settings.token_file().is_none() {
                        self.keep_token(&settings, token)?;
                    }
                    return self.account(&client);
                }
                Err(error) if self.ask.is_person() => writeln!(out, "{error:#}")?,
                Err(error) => return Err(error),
            }
        }
        let url = settings.lichess.base_url.trim_end_matches('/');
        writeln!(out, "The bot needs a token of its account with the scope bot:play, from")?;
        writeln!(out, "  {url}/account/oauth/token/create?scopes[]=bot:play&description=Meitner")?;
        let mut tries = 0;
        loop {
            tries += 1;
            let token = self.ask.secret("Token (not shown; nothing to play on FICS alone):")?;
            if token.expose_secret().is_empty() {
                return Ok(true);
            }
            match self.try_token(&settings, &token) {
                Ok(client) => {
                    self.keep_token(&settings, token)?;
                    return self.account(&client);
                }
                Err(error) if self.ask.is_person() && tries < TRIES => {
                    writeln!(out, "{error:#}")?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Asks the server what it thinks of the token.
    fn try_token(&self, settings: &Settings, token: &SecretString) -> anyhow::Result<Client> {
        let client = Client::new(settings.lichess.clone(), token.clone())?;
        self.runtime.block_on(check_scope(&client))?;
        writeln!(io::stdout(), "The server knows the token, and it may play.")?;
        Ok(client)
    }

    fn keep_token(&mut self, settings: &Settings, token: SecretString) -> anyhow::Result<()> {
        let path = match settings.token_file() {
            Some(path) => path.to_owned(),
            None => file::beside(&self.args.config, "token")?,
        };
        if settings.token_file().is_none() {
            self.set("lichess.token_file", &path.display().to_string());
        }
        self.keep(path, token)
    }

    fn keep(&mut self, path: PathBuf, secret: SecretString) -> anyhow::Result<()> {
        let old = std::fs::read_to_string(&path).unwrap_or_default();
        if old.trim() != secret.expose_secret() {
            self.may_replace(&path)?;
            self.secrets.push((path, secret));
        }
        Ok(())
    }

    /// Makes sure of a bot account. Returns whether it is one.
    fn account(&self, client: &Client) -> anyhow::Result<bool> {
        let account = self.runtime.block_on(client.account()).map_err(start_error)?;
        let (name, mut out) = (&account.username, io::stdout());
        if account.is_bot() {
            writeln!(out, "{name} is a bot account.")?;
            return Ok(true);
        }
        if let Some(games) = account.games().filter(|&games| games > 0) {
            return Err(AccountError::HasPlayed(name.clone(), games).into());
        }
        writeln!(
            out,
            "{name} is not a bot account yet. The upgrade CANNOT BE UNDONE: from then on"
        )?;
        writeln!(
            out,
            "only programs play with it, and a person can never use it for games again."
        )?;
        if !self.args.upgrade && !self.ask.yes(&format!("Upgrade {name} for good?"), false)? {
            writeln!(out, "It stays as it is, and the bot cannot run with it. Call this command")?;
            writeln!(out, "again, or with --upgrade, when you have made up your mind.")?;
            return Ok(false);
        }
        self.runtime
            .block_on(client.upgrade_to_bot())
            .map_err(|error| AccountError::Refused(name.clone(), error.to_string()))?;
        writeln!(
            out,
            "{name} is a bot account now. Give its profile a biography on the web site:"
        )?;
        writeln!(out, "the server lists no other bots to those who look for one.")?;
        Ok(true)
    }

    /// How it plays.
    fn games(&mut self) -> anyhow::Result<()> {
        self.setting("challenge.concurrency", "Games at once, each on a core of its own:")?;
        if !self.is_set("matchmaking.enabled") && self.plays_on_lichess()? {
            let default = self.settings()?.daemon.policy.matchmaking.enabled;
            let is_wanted = self.ask.yes("Challenge other bots when no game runs?", default)?;
            self.set("matchmaking.enabled", &is_wanted.to_string());
        }
        Ok(())
    }

    fn plays_on_lichess(&self) -> Result<bool, SettingsError> {
        Ok(self.settings()?.names_token())
    }

    /// Asks for the value of a key, unless a flag has it.
    fn setting(&mut self, key: &str, question: &str) -> anyhow::Result<()> {
        if self.is_set(key) {
            return Ok(());
        }
        let settings = self.settings()?;
        let shown = settings.shown().find(|(name, _)| *name == key);
        let default = match shown.map(|(_, shown)| &shown.value) {
            Some(ShownValue::Toml(value)) => value.trim_matches('"').to_owned(),
            _ => String::new(),
        };
        let value = self.ask.text(question, &default, |text| {
            let flag = format!("{key}={text}");
            self.settings_with(&[flag]).map(drop).map_err(|error| error.to_string())
        })?;
        self.set(key, &value);
        Ok(())
    }

    /// Whether it plays on FICS as well, and as whom.
    fn fics(&mut self) -> anyhow::Result<()> {
        if !self.is_set("fics.enabled") {
            let is_alone = !self.plays_on_lichess()?;
            let question = if is_alone {
                "Play on FICS? Without a token there is nothing else."
            } else {
                "Play on FICS (freechess.org) as well?"
            };
            let is_wanted = self.ask.yes(question, self.is_enabled("fics.enabled")?)?;
            anyhow::ensure!(is_wanted || !is_alone, SettingsError::NoToken);
            self.set("fics.enabled", &is_wanted.to_string());
        }
        if !self.is_enabled("fics.enabled")? {
            return Ok(());
        }
        self.setting("fics.account", "Account on FICS (guest plays unrated only):")?;
        let settings = self.settings()?;
        let options = match settings.fics() {
            Ok(Some(options)) => {
                if settings.password_file().is_none()
                    && !options.password.expose_secret().is_empty()
                {
                    self.keep_password(&settings, options.password.clone())?;
                }
                options
            }
            Ok(None) => return Ok(()),
            Err(_) => {
                let password = self.ask.secret("Password of that account (not shown):")?;
                self.keep_password(&settings, password.clone())?;
                let named = settings.fics_without_password();
                let options = named.context("FICS is not enabled")?;
                fics::Options { password, ..options }
            }
        };
        if !options.account.eq_ignore_ascii_case(fics::GUEST) {
            let is_online = self.runtime.block_on(fics::is_online(&options));
            if let Some(reason) = fics::why_not_tried(&options.account, is_online) {
                writeln!(io::stdout(), "{reason}.")?;
                return Ok(());
            }
        }
        let account = self.runtime.block_on(log_in(&options))?;
        writeln!(io::stdout(), "FICS has let {account} in.")?;
        Ok(())
    }

    fn is_enabled(&self, key: &str) -> Result<bool, SettingsError> {
        let settings = self.settings()?;
        let value = settings.shown().find(|(name, _)| *name == key).map(|(_, shown)| &shown.value);
        Ok(matches!(value, Some(ShownValue::Toml(value)) if value == "true"))
    }

    fn keep_password(&mut self, settings: &Settings, password: SecretString) -> anyhow::Result<()> {
        let path = match settings.password_file() {
            Some(path) => path.to_owned(),
            None => file::beside(&self.args.config, "fics-password")?,
        };
        if settings.password_file().is_none() {
            self.set("fics.password_file", &path.display().to_string());
        }
        self.keep(path, password)
    }

    /// Writes all files, and says what comes next.
    fn write(&self) -> anyhow::Result<()> {
        let (settings, mut out) = (self.settings()?, io::stdout());
        for (path, secret) in &self.secrets {
            file::keep_old(path)?;
            file::write_secret(path, secret)?;
            writeln!(out, "wrote {} (only you can read it)", path.display())?;
        }
        let path = &self.args.config;
        file::keep_old(path)?;
        file::write_settings(path, &file::text(&settings))?;
        writeln!(out, "wrote {}", path.display())?;
        let left_out = settings.shown().filter(|(key, shown)| {
            let is_kept = ["lichess.token", "fics.password"].contains(key);
            shown.value == ShownValue::Hidden && matches!(shown.source, Source::File(_)) && !is_kept
        });
        for (key, _) in left_out {
            writeln!(out, "{key} is secret and was not taken over; it stands in the old file")?;
        }
        let is_usual = path == Path::new(USUAL_FILES[0]);
        let config = if is_usual { String::new() } else { format!(" --config {}", path.display()) };
        let program = std::env::args().next().unwrap_or_else(|| "meitner".to_owned());
        writeln!(out, "next: {program} check{config}, then: {program} run{config}")?;
        Ok(())
    }
}

/// Logs in and out again; returns the name that the server gives.
async fn log_in(options: &fics::Options) -> anyhow::Result<String> {
    let mut link = fics::Link::open(options, Instant::now()).await?;
    let welcome = link.log_in(options).await?;
    link.send("quit");
    link.close().await;
    Ok(welcome.account.name)
}
