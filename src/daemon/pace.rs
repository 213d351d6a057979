//! When the log gets a summary, and what it says: as often as is set while there is something to say, and seldom while
//! nothing happens, so that a log of months can still be read.

use std::time::{Duration, Instant};

use tracing::info;

use crate::{daemon::Summary, metrics::PlatformMetrics};

/// While nothing happens, so many summaries are left out for each that is written.
const IDLE_SHARE: u32 = 30;

/// When the last one was written, and what it said.
pub(super) struct Pace {
    interval: Duration,
    last: Instant,
    said: Summary,
}

impl Pace {
    /// Begins now: the first one comes after an interval.
    pub(super) fn new(interval: Duration, now: Instant) -> Self {
        Self { interval, last: now, said: Summary::default() }
    }

    /// Whether one is due, which then counts as written. `is_busy`: games run.
    pub(super) fn is_due(&mut self, summary: &Summary, is_busy: bool, now: Instant) -> bool {
        let age = now.saturating_duration_since(self.last);
        let has_news = is_busy || *summary != self.said;
        let wait = if has_news { self.interval } else { self.interval * IDLE_SHARE };
        if age < wait {
            return false;
        }
        (self.last, self.said) = (now, summary.clone());
        true
    }
}

/// How a platform's loop stands.
pub(super) struct Standing {
    pub(super) running: usize,
    pub(super) waiting: usize,
    /// How long a move of ours takes to come back, where that is measured.
    pub(super) lag: Option<Duration>,
    pub(super) rating: Option<u32>,
    pub(super) is_connected: bool,
}

impl Summary {
    /// Writes it to the log.
    pub(super) fn log(&self, standing: &Standing, metrics: &PlatformMetrics, message: &str) {
        let Self { accepted, declined, challenged, won, lost, drawn, aborted, unknown, .. } = self;
        info!(
            running = standing.running,
            waiting = standing.waiting,
            accepted,
            declined,
            challenged,
            won,
            lost,
            drawn,
            aborted,
            unknown,
            moves = metrics.moves(),
            faults = metrics.faults(),
            lag_ms = standing.lag.map(|lag| lag.as_millis()),
            rating = standing.rating,
            connected = standing.is_connected,
            "{message}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_written_when_there_is_something_to_say() {
        let (start, minute) = (Instant::now(), Duration::from_mins(1));
        let mut pace = Pace::new(2 * minute, start);
        let nothing = Summary::default();
        assert!(!pace.is_due(&nothing, true, start + minute));
        assert!(pace.is_due(&nothing, true, start + 2 * minute), "a game runs");
        assert!(!pace.is_due(&nothing, false, start + 4 * minute));
        let won = Summary { won: 1, ..Summary::default() };
        assert!(pace.is_due(&won, false, start + 4 * minute), "one has ended");
        assert!(!pace.is_due(&won, false, start + 6 * minute));
        assert!(!pace.is_due(&won, false, start + 63 * minute));
        assert!(pace.is_due(&won, false, start + 64 * minute), "a sign of life");
    }
}
