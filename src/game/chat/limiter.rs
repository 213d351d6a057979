//! How often the bot answers.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

const WINDOW: Duration = Duration::from_mins(1);

/// The answers of the last minute.
#[derive(Debug, Default)]
pub(in crate::game) struct Limiter {
    given: VecDeque<Instant>,
}

impl Limiter {
    /// Whether one more answer may be given now, of `most` in any minute. If so, it counts.
    pub(in crate::game) fn allows(&mut self, most: usize, now: Instant) -> bool {
        let is_old = |at: &Instant| now.saturating_duration_since(*at) >= WINDOW;
        while self.given.front().is_some_and(is_old) {
            self.given.pop_front();
        }
        let is_allowed = self.given.len() < most;
        if is_allowed {
            self.given.push_back(now);
        }
        is_allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_minute_has_more_answers_than_are_allowed() {
        let (mut limiter, start) = (Limiter::default(), Instant::now());
        let mut allows = |s: u64| limiter.allows(2, start + Duration::from_secs(s));
        assert_eq!(
            [0, 30, 59, 60, 61, 89, 90].map(&mut allows),
            [true, true, false, true, false, false, true]
        );
        assert!(!Limiter::default().allows(0, start));
    }
}
