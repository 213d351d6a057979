//! How long the server may refuse us before we believe it.
//!
//! A restarting server or a front end with a hiccup can answer 401, 403 or 404 for a while. Giving
//! up a running game, or all of them, over that costs more than a few requests in vain.

use std::time::{Duration, Instant};

/// How long refusals must go on before they are final.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Of the account's event stream, with which the whole bot ends.
    pub account: Duration,
    /// Of a game's stream, with which that game is lost.
    pub game: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { account: Duration::from_mins(2), game: Duration::from_secs(30) }
    }
}

/// Refusals in a row.
#[derive(Clone, Debug)]
pub(super) struct Refusals {
    least: u32,
    span: Duration,
    count: u32,
    since: Option<Instant>,
}

impl Refusals {
    /// None yet. They are final when there are at least so many, over at least so long.
    pub(super) fn new(least: u32, span: Duration) -> Self {
        Self { least, span, count: 0, since: None }
    }

    /// Counts one more, and tells whether they are final now.
    pub(super) fn count(&mut self, now: Instant) -> bool {
        self.count += 1;
        let since = *self.since.get_or_insert(now);
        self.count >= self.least && now.saturating_duration_since(since) >= self.span
    }

    /// The server answered in another way: the row is broken.
    pub(super) fn reset(&mut self) {
        self.count = 0;
        self.since = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    #[test]
    fn refusals_are_final_when_they_are_many_and_last() {
        let start = Instant::now();
        let mut refusals = Refusals::new(3, 2 * MINUTE);
        for second in 0..10 {
            assert!(!refusals.count(start + Duration::from_secs(second)), "many at once");
        }
        assert!(refusals.count(start + 2 * MINUTE));
        let mut refusals = Refusals::new(3, 2 * MINUTE);
        refusals.count(start);
        assert!(!refusals.count(start + 5 * MINUTE), "long apart, but few");
        assert!(refusals.count(start + 6 * MINUTE));
    }

    #[test]
    fn another_answer_breaks_the_row() {
        let start = Instant::now();
        let mut refusals = Refusals::new(2, MINUTE);
        refusals.count(start);
        refusals.reset();
        assert!(!refusals.count(start + 2 * MINUTE));
        assert!(refusals.count(start + 3 * MINUTE));
    }
}
