//! What the way to the server and back adds to each move.

use std::time::Duration;

/// What a round trip to the server costs, learned from our own moves coming back.
///
/// The server books no lag for bots: the way of its line to us and the way of our move to it are
/// both paid from our clock, and together they are what lies between sending a move and its echo.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundTrip(Option<Duration>);

/// A stall or an outage is no property of the line; keeping back more than this loses games.
const MAX_OVERHEAD: Duration = Duration::from_secs(1);

impl RoundTrip {
    /// Takes in one measurement. New ones weigh a quarter.
    pub fn learn(&mut self, sample: Duration) {
        let sample = sample.min(MAX_OVERHEAD);
        self.0 = Some(self.0.map_or(sample, |known| (3 * known + sample) / 4));
    }

    /// What to keep back from the clock for a move: the configured least, or the measured round
    /// trip and a quarter, whichever is more.
    pub fn overhead(self, least: Duration) -> Duration {
        self.0.map_or(least, |known| least.max((known * 5 / 4).min(MAX_OVERHEAD)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn the_overhead_follows_the_round_trip_within_bounds() {
        let mut round_trip = RoundTrip::default();
        assert_eq!(round_trip.overhead(ms(100)), ms(100));
        round_trip.learn(ms(40));
        assert_eq!(round_trip.overhead(ms(100)), ms(100));
        for _ in 0..40 {
            round_trip.learn(ms(400));
        }
        assert!((ms(480)..=ms(500)).contains(&round_trip.overhead(ms(100))));
        for _ in 0..40 {
            round_trip.learn(ms(60_000));
        }
        assert_eq!(round_trip.overhead(ms(100)), MAX_OVERHEAD);
    }
}
