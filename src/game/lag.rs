//! What the way to the server and back adds to each move.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde::{Deserialize, Serialize};

/// A stall or an outage is no property of the line; keeping back more than this loses games.
const MOST: Duration = Duration::from_secs(1);

/// What a round trip to the server costs, learned from our own moves coming back: the mean and
/// the deviation, smoothed as TCP smooths them (RFC 6298, section 2).
///
/// The server books no lag for bots: the way of its line to us and the way of our move to it are
/// both paid from our clock, and together they are what lies between sending a move and its echo.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lag {
    mean_us: u32,
    deviation_us: u32,
    samples: u32,
}

impl Lag {
    /// Takes in how long a move took to come back. Only moves that were sent once may count: of
    /// others nobody knows which sending came back (Karn's rule, RFC 6298, section 3).
    pub fn learn(&mut self, sample: Duration) {
        // At most a second, which fits.
        let sample = u32::try_from(sample.min(MOST).as_micros()).unwrap_or(u32::MAX);
        if self.samples == 0 {
            (self.mean_us, self.deviation_us) = (sample, sample / 2);
        } else {
            let error = self.mean_us.abs_diff(sample);
            self.deviation_us = weighted(self.deviation_us, 3, error);
            self.mean_us = weighted(self.mean_us, 7, sample);
        }
        self.samples = self.samples.saturating_add(1);
    }

    /// What to keep back from the clock for a move: the configured least, or the mean and three
    /// deviations, whichever is more. What was measured counts for a second at most.
    pub fn overhead(self, least: Duration) -> Duration {
        let us = u64::from(self.mean_us) + 3 * u64::from(self.deviation_us);
        least.max(Duration::from_micros(us).min(MOST))
    }

    /// The mean of what was measured, if anything was.
    pub fn round_trip(&self) -> Option<Duration> {
        (self.samples > 0).then(|| Duration::from_micros(self.mean_us.into()))
    }

    /// How many moves it was learned from.
    pub fn samples(self) -> u32 {
        self.samples
    }
}

/// `known` with this weight and `new` with weight one. What came from a file may be anything.
fn weighted(known: u32, weight: u32, new: u32) -> u32 {
    let sum = u64::from(known) * u64::from(weight) + u64::from(new);
    u32::try_from(sum / u64::from(weight + 1)).unwrap_or(u32::MAX)
}

/// The lag of one server, shared by all games on it. Clones share the same figures.
#[derive(Clone, Debug, Default)]
pub struct LagMeter(Arc<Mutex<Lag>>);

impl LagMeter {
    /// A meter that begins with what was learned before.
    pub fn new(lag: Lag) -> Self {
        Self(Arc::new(Mutex::new(lag)))
    }

    /// What is known so far.
    pub fn lag(&self) -> Lag {
        *self.lock()
    }

    /// Takes in one measurement; see [`Lag::learn`].
    pub fn learn(&self, sample: Duration) {
        self.lock().learn(sample);
    }

    fn lock(&self) -> MutexGuard<'_, Lag> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn learned(samples_ms: &[u64]) -> Lag {
        let mut lag = Lag::default();
        for sample in samples_ms {
            lag.learn(ms(*sample));
        }
        lag
    }

    #[test]
    fn the_overhead_follows_the_line_within_bounds() {
        assert_eq!(Lag::default().overhead(ms(100)), ms(100));
        assert_eq!(learned(&[20]).overhead(ms(100)), ms(100));
        assert_eq!(learned(&[200]).overhead(ms(100)), ms(500), "the first one is doubtful");
        let steady = learned(&[400; 60]).overhead(ms(100));
        assert!((ms(400)..ms(405)).contains(&steady), "{steady:?}");
        assert_eq!(learned(&[60_000; 60]).overhead(ms(100)), MOST);
        assert_eq!(learned(&[60_000; 60]).overhead(ms(1500)), ms(1500), "what is set is kept to");
    }

    #[test]
    fn a_restless_line_costs_more_than_a_steady_one() {
        let restless: Vec<u64> = (0..60).map(|n| if n % 2 == 0 { 50 } else { 350 }).collect();
        let (restless, steady) = (learned(&restless), learned(&[200; 60]));
        assert!(restless.overhead(ms(0)) > steady.overhead(ms(0)) + ms(300));
    }

    #[test]
    fn one_stall_is_soon_forgotten() {
        let mut lag = learned(&[50; 40]);
        lag.learn(ms(900));
        assert!(lag.overhead(ms(0)) > ms(500));
        for _ in 0..20 {
            lag.learn(ms(50));
        }
        assert!(lag.overhead(ms(0)) < ms(120), "{lag:?}");
    }

    #[test]
    fn what_comes_from_a_file_may_be_anything() {
        let text = r#"{"mean_us":4294967295,"deviation_us":4294967295,"samples":4294967295}"#;
        let mut lag: Lag = serde_json::from_str(text).unwrap();
        lag.learn(ms(10));
        assert_eq!(lag.overhead(ms(0)), MOST);
        assert_eq!(serde_json::from_str::<Lag>("{}").unwrap(), Lag::default());
    }

    #[test]
    fn all_games_on_a_server_learn_together() {
        let meter = LagMeter::new(learned(&[100]));
        meter.clone().learn(ms(100));
        assert_eq!(meter.lag(), learned(&[100, 100]));
        assert_eq!(meter.lag().samples(), 2);
    }
}
