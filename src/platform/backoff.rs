//! How long to wait before trying again: random, growing, capped, and reset by success.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// Least wait after a refusal for too many requests (429) where the server states no time.
/// Moves are the exception.
pub const RATE_LIMIT_WAIT: Duration = Duration::from_mins(1);

/// A server that states a longer wait is asked again after this one all the same.
pub const LONGEST_STATED_WAIT: Duration = Duration::from_mins(10);

/// The waits of one kind of request.
///
/// Each wait is drawn from between half of the present step and the whole of it, so that many
/// clients that failed together do not return together; then the step doubles up to the cap.
#[derive(Clone, Debug)]
pub struct Backoff {
    base: Duration,
    cap: Duration,
    step: Duration,
    random: fastrand::Rng,
}

impl Backoff {
    /// Waits from `base` up to `cap`.
    pub fn new(base: Duration, cap: Duration) -> Self {
        Self { base, cap, step: base, random: fastrand::Rng::new() }
    }

    /// How long to wait after one more failure.
    pub fn next_wait(&mut self) -> Duration {
        let step = self.step.min(self.cap);
        self.step = (step * 2).min(self.cap);
        step.mul_f64(0.5 + 0.5 * self.random.f64())
    }

    /// How long to wait after a failure for which the server stated a wait, or that was for too
    /// many requests: not less than that, up to [`LONGEST_STATED_WAIT`].
    pub fn next_wait_at_least(&mut self, least: Duration) -> Duration {
        self.next_wait().max(least.min(LONGEST_STATED_WAIT))
    }

    /// Starts again from the shortest wait.
    pub fn reset(&mut self) {
        self.step = self.base;
    }
}

/// Keeps a kind of request under a number of tries in a stretch of time.
#[derive(Clone, Debug)]
pub struct Throttle {
    limit: usize,
    window: Duration,
    tries: VecDeque<Instant>,
}

impl Throttle {
    /// At most `limit` tries (at least one) in any `window`.
    pub fn new(limit: usize, window: Duration) -> Self {
        Self { limit: limit.max(1), window, tries: VecDeque::new() }
    }

    /// Counts a try at `now`.
    pub fn count(&mut self, now: Instant) {
        self.tries.push_back(now);
        if self.tries.len() > self.limit {
            self.tries.pop_front();
        }
    }

    /// The last try did not reach whoever counts: it is not counted.
    pub fn uncount(&mut self) {
        self.tries.pop_back();
    }

    /// How long to wait at `now` before the next try is within the limit.
    pub fn wait(&self, now: Instant) -> Duration {
        match self.tries.front() {
            Some(&oldest) if self.tries.len() >= self.limit => {
                (oldest + self.window).saturating_duration_since(now)
            }
            _ => Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn secs(s: u64) -> Duration {
        Duration::from_secs(s)
    }

    #[test]
    fn waits_grow_to_the_cap_and_vary() {
        let mut backoff = Backoff::new(secs(1), secs(10));
        for step in [1, 2, 4, 8, 10, 10, 10] {
            let wait = backoff.next_wait();
            assert!(wait >= secs(step) / 2 && wait <= secs(step), "{wait:?} for {step}");
        }
        let waits: Vec<_> = (0..20).map(|_| backoff.next_wait()).collect();
        assert!(waits.windows(2).any(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn success_resets() {
        let mut backoff = Backoff::new(secs(1), secs(10));
        for _ in 0..5 {
            backoff.next_wait();
        }
        backoff.reset();
        assert!(backoff.next_wait() <= secs(1));
    }

    #[test]
    fn a_stated_wait_is_honored() {
        let mut backoff = Backoff::new(secs(1), secs(10));
        assert_eq!(backoff.next_wait_at_least(RATE_LIMIT_WAIT), secs(60));
        assert!(backoff.next_wait_at_least(secs(0)) <= secs(2));
        assert_eq!(backoff.next_wait_at_least(secs(50_000)), LONGEST_STATED_WAIT);
    }

    #[test]
    fn a_throttle_spaces_tries() {
        let start = Instant::now();
        let mut throttle = Throttle::new(3, secs(600));
        for s in 0..3 {
            assert_eq!(throttle.wait(start + secs(s)), secs(0));
            throttle.count(start + secs(s));
        }
        assert_eq!(throttle.wait(start + secs(10)), secs(590));
        assert_eq!(throttle.wait(start + secs(600)), secs(0));
        throttle.count(start + secs(600));
        assert_eq!(throttle.wait(start + secs(600)), secs(1));
    }
}
