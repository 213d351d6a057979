//! Starts the log, which goes to standard error.

use std::io::{self, IsTerminal as _};

use anyhow::Context as _;
use tracing_subscriber::{EnvFilter, fmt};

use crate::settings::{LogFormat, LogOptions};

/// Starts the log of this process.
pub(super) fn start(options: &LogOptions) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(&options.directives).context("log.filter")?;
    let log = fmt().with_env_filter(filter).with_writer(io::stderr);
    let started = match options.format {
        LogFormat::Human => log.with_ansi(io::stderr().is_terminal()).try_init(),
        LogFormat::Json => log.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| anyhow::anyhow!("the log cannot be started: {error}"))
}
