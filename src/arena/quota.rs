//! What an account may do in a time: games between bots, points for challenges.

use std::time::{Duration, Instant};

/// In which time the games against other bots are counted (PROTOCOLS 18.1).
pub(super) const BOT_GAMES_WINDOW: Duration = Duration::from_hours(24);
/// In which times the points of created challenges are counted (PROTOCOLS 18.1).
pub(super) const POINT_WINDOWS: [Duration; 2] = [Duration::from_mins(1), BOT_GAMES_WINDOW];

/// A count that begins anew when a window is over. The window opens with the first thing counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Quota {
    opened: Option<Instant>,
    used: u32,
}

impl Quota {
    /// A quota of which so much is used, in a window that opened at `opened`.
    pub(super) fn used_since(opened: Instant, used: u32) -> Self {
        Self { opened: Some(opened), used }
    }

    /// How long nothing is left; `None` if something is. A limit of 0 is none.
    pub(super) fn exhausted_for(
        &self,
        limit: u32,
        window: Duration,
        now: Instant,
    ) -> Option<Duration> {
        let left = (self.opened? + window).saturating_duration_since(now);
        (limit > 0 && self.used >= limit && !left.is_zero()).then_some(left)
    }

    /// Counts so much.
    pub(super) fn take(&mut self, cost: u32, window: Duration, now: Instant) {
        let is_open =
            self.opened.is_some_and(|opened| now.saturating_duration_since(opened) < window);
        if !is_open {
            *self = Self { opened: Some(now), used: 0 };
        }
        self.used = self.used.saturating_add(cost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Duration = Duration::from_mins(1);

    #[test]
    fn a_window_opens_with_the_first_thing_counted() {
        let start = Instant::now();
        let mut quota = Quota::default();
        assert_eq!(quota.exhausted_for(1, WINDOW, start), None);
        quota.take(5, WINDOW, start);
        let later = start + Duration::from_secs(20);
        quota.take(5, WINDOW, later);
        assert_eq!(quota.exhausted_for(11, WINDOW, later), None);
        assert_eq!(quota.exhausted_for(10, WINDOW, later), Some(Duration::from_secs(40)));
        assert_eq!(quota.exhausted_for(0, WINDOW, later), None, "no limit");
        assert_eq!(quota.exhausted_for(10, WINDOW, start + WINDOW), None);
        quota.take(1, WINDOW, start + WINDOW);
        assert_eq!(quota.exhausted_for(10, WINDOW, start + WINDOW), None);
    }
}
