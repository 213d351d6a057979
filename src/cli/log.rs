//! Starts the log, which goes to standard error.
//!
//! A thread of its own writes it: whoever logs never waits, however slowly standard error is read.
//! If it is not read at all, the lines that no longer fit are dropped.

use std::io::{self, IsTerminal as _};

use anyhow::Context as _;
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::{EnvFilter, fmt};

use crate::settings::{LogFormat, LogOptions};

/// Lines that wait to be written: a few minutes of trace, or megabytes.
const WAITING_LINES: usize = 16_384;

/// Starts the log of this process. Lines are written for as long as the guard lives; dropping it
/// writes those that wait, unless nobody reads them.
pub(super) fn start(options: &LogOptions) -> anyhow::Result<WorkerGuard> {
    let filter = EnvFilter::try_new(&options.directives).context("log.filter")?;
    let (writer, guard) = NonBlockingBuilder::default()
        .lossy(true)
        .buffered_lines_limit(WAITING_LINES)
        .thread_name("log")
        .finish(io::stderr());
    let log = fmt().with_env_filter(filter).with_writer(writer);
    let started = match options.format {
        LogFormat::Human => log.with_ansi(io::stderr().is_terminal()).try_init(),
        LogFormat::Json => log.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| anyhow::anyhow!("the log cannot be started: {error}"))?;
    Ok(guard)
}
