//! How far a soak is: a bar in a terminal, a line now and then when piped.

use std::{
    io::{self, Write as _},
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
        /// All games that are to be played.
        games: u64,
        /// When the last line was written.
        told_at: Instant,
    },
}

impl Progress {
    /// The bar of so many games, or their lines.
    pub(super) fn new(games: u32, is_drawn: bool) -> anyhow::Result<Self> {
        let games = games.into();
        if !is_drawn {
            return Ok(Self::Lines { games, told_at: Instant::now() });
        }
        let style = ProgressStyle::with_template(
            "{bar:40} {pos} of {len} games in {elapsed}, {eta} left, {msg}",
        )
        .context("the bar")?;
        let bar = ProgressBar::with_draw_target(Some(games), ProgressDrawTarget::stdout());
        Ok(Self::Bar(bar.with_style(style)))
    }

    /// Tells how many games are over, and how many faults have struck.
    pub(super) fn show(&mut self, over: u64, faults: u64) -> io::Result<()> {
        match self {
            Self::Bar(bar) => {
                bar.set_position(over);
                bar.set_message(format!("{faults} faults"));
                Ok(())
            }
            Self::Lines { games, told_at } if told_at.elapsed() >= LINE_PAUSE => {
                *told_at = Instant::now();
                let mut out = io::stdout().lock();
                writeln!(out, "{over} of {games} games, {faults} faults")?;
                out.flush()
            }
            Self::Lines { .. } => Ok(()),
        }
    }

    /// Leaves the terminal as it was.
    pub(super) fn finish(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}
