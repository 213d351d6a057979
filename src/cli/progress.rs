//! How far a long command is: a bar in a terminal, a line now and then elsewhere.

use std::{
    fmt::Display,
    io::{self, IsTerminal as _, Write as _},
    time::{Duration, Instant},
};

use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How often a line is written.
const LINE_PAUSE: Duration = Duration::from_secs(10);

/// Shows how far it is.
pub(super) enum Progress {
    /// Drawn in place.
    Bar(ProgressBar),
    /// One line after the other.
    Lines {
        /// All that is to be done.
        total: u64,
        /// What is counted.
        unit: &'static str,
        /// When the last line was written.
        told_at: Instant,
        /// Where to.
        out: Box<dyn io::Write>,
    },
}

impl Progress {
    /// On standard output, for a command whose output is for people.
    pub(super) fn on_stdout(
        total: u64,
        unit: &'static str,
        is_drawn: bool,
    ) -> anyhow::Result<Self> {
        if is_drawn {
            Self::bar(total, unit, ProgressDrawTarget::stdout())
        } else {
            Ok(Self::lines(total, unit, Box::new(io::stdout())))
        }
    }

    /// On standard error, beside an output that something else may read.
    pub(super) fn on_stderr(total: u64, unit: &'static str) -> anyhow::Result<Self> {
        if io::stderr().is_terminal() {
            Self::bar(total, unit, ProgressDrawTarget::stderr())
        } else {
            Ok(Self::lines(total, unit, Box::new(io::stderr())))
        }
    }

    /// The same for a command whose output goes to standard output: in a terminal that would be spoiled.
    pub(super) fn beside_stdout(total: u64, unit: &'static str) -> anyhow::Result<Self> {
        if io::stdout().is_terminal() {
            return Ok(Self::Bar(ProgressBar::hidden()));
        }
        Self::on_stderr(total, unit)
    }

    fn bar(total: u64, unit: &str, target: ProgressDrawTarget) -> anyhow::Result<Self> {
        let template =
            format!("{{bar:40}} {{pos}} of {{len}} {unit} in {{elapsed}}, {{eta}} left, {{msg}}");
        let style = ProgressStyle::with_template(&template).context("the bar")?;
        Ok(Self::Bar(ProgressBar::with_draw_target(Some(total), target).with_style(style)))
    }

    fn lines(total: u64, unit: &'static str, out: Box<dyn io::Write>) -> Self {
        Self::Lines { total, unit, told_at: Instant::now(), out }
    }

    /// Tells how much is done, and something about it.
    pub(super) fn show(&mut self, done: u64, about: impl Display) -> io::Result<()> {
        match self {
            Self::Bar(bar) => {
                bar.set_position(done);
                bar.set_message(about.to_string());
                Ok(())
            }
            Self::Lines { total, unit, told_at, out } if told_at.elapsed() >= LINE_PAUSE => {
                *told_at = Instant::now();
                writeln!(out, "{done} of {total} {unit}, {about}")?;
                out.flush()
            }
            Self::Lines { .. } => Ok(()),
        }
    }

    /// Writes something else meanwhile.
    pub(super) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        match self {
            Self::Bar(bar) => bar.suspend(write),
            Self::Lines { .. } => write(),
        }
    }

    /// Leaves the terminal as it was.
    pub(super) fn finish(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}
