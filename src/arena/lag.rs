//! Network lag: how long requests, answers and lines are under way.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// The lag of all requests, answers and lines.
#[derive(Debug)]
pub(super) struct Lag(Mutex<Settings>);

#[derive(Debug)]
struct Settings {
    up: Duration,
    down: Duration,
    /// Up to so much is added to each of both, by lot.
    jitter: Duration,
    rng: fastrand::Rng,
}

impl Lag {
    pub(super) fn new(up: Duration, down: Duration, jitter: Duration, seed: u64) -> Self {
        Self(Mutex::new(Settings { up, down, jitter, rng: fastrand::Rng::with_seed(seed) }))
    }

    pub(super) fn set(&self, up: Duration, down: Duration, jitter: Duration) {
        let mut settings = self.lock();
        (settings.up, settings.down, settings.jitter) = (up, down, jitter);
    }

    /// How long a request is under way to the server.
    pub(super) fn up(&self) -> Duration {
        let mut settings = self.lock();
        settings.up + settings.draw_jitter()
    }

    /// How long an answer or a line is under way to the client.
    pub(super) fn down(&self) -> Duration {
        let mut settings = self.lock();
        settings.down + settings.draw_jitter()
    }

    fn lock(&self) -> MutexGuard<'_, Settings> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Settings {
    fn draw_jitter(&mut self) -> Duration {
        if self.jitter.is_zero() {
            return Duration::ZERO;
        }
        self.jitter.mul_f64(self.rng.f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lag_lies_between_its_bounds_and_differs() {
        let ms = Duration::from_millis;
        let lag = Lag::new(ms(10), ms(20), Duration::ZERO, 1);
        assert_eq!((lag.up(), lag.down()), (ms(10), ms(20)));
        lag.set(ms(100), ms(200), ms(50));
        let drawn: Vec<_> = (0..32).map(|_| lag.up()).collect();
        assert!(drawn.iter().all(|up| (ms(100)..ms(150)).contains(up)), "{drawn:?}");
        assert!(drawn.iter().any(|up| *up != drawn[0]), "{drawn:?}");
        assert!((ms(200)..ms(250)).contains(&lag.down()));
    }
}
