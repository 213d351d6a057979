//! Both clocks as the server last told them, and the time for a first move.

use std::time::{Duration, Instant};

use crate::{
    game::{Expiration, GameState, Options, TimeControl},
    rules::Color,
    search::ClockLimit,
};

/// Both clocks at the moment when their line arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Time left to White and to Black at `read_at`.
    pub remaining: [Duration; 2],
    /// The increments of White and of Black.
    pub increment: [Duration; 2],
    /// When the line arrived.
    pub read_at: Instant,
}

impl Clock {
    /// The clocks of a line that arrived at `read_at`.
    pub fn new(state: &GameState, read_at: Instant) -> Self {
        Self { remaining: state.remaining, increment: state.increment, read_at }
    }

    /// The limit for a search that counts its time from [`Clock::read_at`]: what passed since the
    /// line arrived is thus taken off by the search itself, once.
    pub fn limit(&self, color: Color) -> ClockLimit {
        ClockLimit {
            remaining: self.remaining[color.index()],
            increment: self.increment[color.index()],
            moves_to_go: None,
        }
    }

    /// Time left to `color` at `now`, if `running` names the side whose clock runs.
    pub fn remaining_at(&self, color: Color, running: Option<Color>, now: Instant) -> Duration {
        let left = self.remaining[color.index()];
        if running == Some(color) {
            left.saturating_sub(now.saturating_duration_since(self.read_at))
        } else {
            left
        }
    }
}

/// How long to think about a first move, for which no clock runs: at most the option, less in
/// short games so as not to bore the opponent, and far from any deadline for first moves.
pub(crate) fn first_move_time(
    options: &Options,
    control: TimeControl,
    expiration: Option<Expiration>,
) -> Duration {
    /// A game lasts about 40 moves a side; a sixtieth of that game's time is a short thought.
    const SHARE: u32 = 60;
    const LEAST: Duration = Duration::from_millis(50);
    let mut budget = options.first_move_time;
    if let TimeControl::Clock { initial, increment } = control {
        budget = budget.min((initial + 40 * increment) / SHARE);
    }
    if let Some(Expiration { idle, limit }) = expiration {
        budget = budget.min(limit.saturating_sub(idle) / 4);
    }
    budget.max(LEAST.min(options.first_move_time))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn clocked(initial_s: u64, increment_s: u64) -> TimeControl {
        TimeControl::Clock {
            initial: Duration::from_secs(initial_s),
            increment: Duration::from_secs(increment_s),
        }
    }

    #[test]
    fn only_the_running_clock_runs() {
        let read_at = Instant::now();
        let clock = Clock { remaining: [ms(1000), ms(2000)], increment: [ms(0); 2], read_at };
        let later = read_at + ms(300);
        assert_eq!(clock.remaining_at(Color::White, Some(Color::White), later), ms(700));
        assert_eq!(clock.remaining_at(Color::Black, Some(Color::White), later), ms(2000));
        assert_eq!(clock.remaining_at(Color::White, None, later), ms(1000));
        assert_eq!(clock.remaining_at(Color::White, Some(Color::White), later + ms(9000)), ms(0));
    }

    #[test]
    fn first_moves_get_a_short_budget() {
        let options = Options::default();
        let budget = |control, expiration| first_move_time(&options, control, expiration);
        assert_eq!(budget(clocked(600, 5), None), ms(3000));
        assert_eq!(budget(clocked(60, 0), None), ms(1000));
        assert_eq!(budget(clocked(0, 1), None), ms(666).max(budget(clocked(0, 1), None)));
        assert!(budget(clocked(0, 1), None) < ms(700));
        assert_eq!(budget(TimeControl::Unlimited, None), ms(3000));
        let hurry = Expiration { idle: ms(9000), limit: ms(11_000) };
        assert_eq!(budget(clocked(600, 5), Some(hurry)), ms(500));
        let late = Expiration { idle: ms(12_000), limit: ms(11_000) };
        assert_eq!(budget(clocked(600, 5), Some(late)), ms(50));
    }
}
