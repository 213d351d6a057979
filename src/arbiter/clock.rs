//! Time controls and the pair of clocks that follows one.

use std::time::{Duration, Instant};

use crate::rules::Color;

/// The least time that a side starts with when the limit is zero.
const ZERO_LIMIT_START: Duration = Duration::from_secs(3);

/// How much time the players have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeControl {
    /// So much for the game, and an increment for each move.
    RealTime {
        /// Time for the whole game.
        limit: Duration,
        /// Added after each move, the first of each side excepted.
        increment: Duration,
    },
    /// So much for each move.
    Correspondence {
        /// Time for one move.
        per_move: Duration,
    },
    /// No clock at all.
    Unlimited,
}

impl TimeControl {
    /// What both clocks show before the first move; `None` without a clock.
    ///
    /// A real-time game with limit 0 starts with the larger of 3 s and its increment.
    pub fn start(self) -> Option<Duration> {
        match self {
            Self::RealTime { limit: Duration::ZERO, increment } => {
                Some(increment.max(ZERO_LIMIT_START))
            }
            Self::RealTime { limit, .. } => Some(limit),
            Self::Correspondence { per_move } => Some(per_move),
            Self::Unlimited => None,
        }
    }

    /// The increment; zero without one.
    pub fn increment(self) -> Duration {
        match self {
            Self::RealTime { increment, .. } => increment,
            Self::Correspondence { .. } | Self::Unlimited => Duration::ZERO,
        }
    }

    /// Whether the game is played in one sitting.
    pub fn is_real_time(self) -> bool {
        matches!(self, Self::RealTime { .. })
    }
}

/// The clocks of both sides, of which at most one runs.
#[derive(Clone, Debug)]
pub struct Clocks {
    control: TimeControl,
    /// What each side had when its clock last stopped.
    stopped_at: [Duration; 2],
    /// Whose clock runs, and since when.
    running: Option<(Color, Instant)>,
    /// Which sides have given time away for a point.
    berserk: [bool; 2],
}

impl Clocks {
    /// Both clocks full and standing.
    pub fn new(control: TimeControl) -> Self {
        let start = control.start().unwrap_or(Duration::MAX);
        Self { control, stopped_at: [start; 2], running: None, berserk: [false; 2] }
    }

    /// Standing clocks that show this, as those of a game that goes on another day.
    pub fn showing(control: TimeControl, remaining: [Duration; 2]) -> Self {
        Self { stopped_at: remaining, ..Self::new(control) }
    }

    /// The time control.
    pub fn control(&self) -> TimeControl {
        self.control
    }

    /// What a side gets for each move.
    pub fn increment(&self, color: Color) -> Duration {
        if self.is_berserk(color) { Duration::ZERO } else { self.control.increment() }
    }

    /// Whether a side has given time away for a point in a tournament.
    pub fn is_berserk(&self, color: Color) -> bool {
        self.berserk[color.index()]
    }

    /// What a side has left; `None` without a clock.
    pub fn remaining(&self, color: Color, now: Instant) -> Option<Duration> {
        if self.control == TimeControl::Unlimited {
            return None;
        }
        let stopped_at = self.stopped_at[color.index()];
        match self.running {
            Some((running, since)) if running == color => {
                Some(stopped_at.saturating_sub(now.saturating_duration_since(since)))
            }
            _ => Some(stopped_at),
        }
    }

    /// Whose flag falls next, and when, unless a move comes first.
    pub fn flag(&self) -> Option<(Color, Instant)> {
        if self.control == TimeControl::Unlimited {
            return None;
        }
        let (color, since) = self.running?;
        Some((color, since.checked_add(self.stopped_at[color.index()])?))
    }

    /// Ends the mover's turn: charges the time used and adds the increment.
    pub fn press(&mut self, mover: Color, now: Instant) {
        let was_running = self.running.is_some_and(|(color, _)| color == mover);
        let increment = self.increment(mover);
        self.stop(now);
        if was_running {
            let time = &mut self.stopped_at[mover.index()];
            *time = match self.control {
                TimeControl::Correspondence { per_move } => per_move,
                _ => time.saturating_add(increment),
            };
        }
    }

    /// Lets a side's clock run.
    pub fn start(&mut self, color: Color, now: Instant) {
        self.running = Some((color, now));
    }

    /// Stops whichever clock runs and charges the time used.
    pub fn stop(&mut self, now: Instant) {
        if let Some((color, since)) = self.running.take() {
            let time = &mut self.stopped_at[color.index()];
            *time = time.saturating_sub(now.saturating_duration_since(since));
        }
    }

    /// Takes half of a side's time, and its increment. If the limit is less than forty increments
    /// only the increment is lost.
    pub(super) fn berserk(&mut self, color: Color) {
        self.berserk[color.index()] = true;
        if let TimeControl::RealTime { limit, increment } = self.control
            && limit >= increment.saturating_mul(40)
        {
            self.stopped_at[color.index()] /= 2;
        }
    }

    /// Gives a side more time.
    pub(super) fn add(&mut self, color: Color, time: Duration) {
        let stopped_at = &mut self.stopped_at[color.index()];
        *stopped_at = stopped_at.saturating_add(time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    fn blitz() -> TimeControl {
        TimeControl::RealTime { limit: seconds(180), increment: seconds(2) }
    }

    #[test]
    fn a_zero_limit_starts_with_three_seconds_or_the_increment() {
        let start = |increment| {
            TimeControl::RealTime { limit: Duration::ZERO, increment: seconds(increment) }.start()
        };
        assert_eq!(start(1), Some(seconds(3)));
        assert_eq!(start(10), Some(seconds(10)));
        assert_eq!(blitz().start(), Some(seconds(180)));
        assert_eq!(TimeControl::Unlimited.start(), None);
    }

    #[test]
    fn only_the_running_clock_goes_down() {
        let t0 = Instant::now();
        let mut clocks = Clocks::new(blitz());
        clocks.start(Color::White, t0);
        let later = t0 + seconds(5);
        assert_eq!(clocks.remaining(Color::White, later), Some(seconds(175)));
        assert_eq!(clocks.remaining(Color::Black, later), Some(seconds(180)));
        clocks.press(Color::White, later);
        assert_eq!(clocks.remaining(Color::White, later + seconds(9)), Some(seconds(177)));
    }

    #[test]
    fn a_standing_clock_earns_no_increment() {
        let t0 = Instant::now();
        let mut clocks = Clocks::new(blitz());
        clocks.press(Color::White, t0);
        assert_eq!(clocks.remaining(Color::White, t0), Some(seconds(180)));
    }

    #[test]
    fn the_flag_falls_when_the_time_is_used_up() {
        let t0 = Instant::now();
        let mut clocks = Clocks::new(blitz());
        assert_eq!(clocks.flag(), None);
        clocks.start(Color::Black, t0);
        assert_eq!(clocks.flag(), Some((Color::Black, t0 + seconds(180))));
    }

    #[test]
    fn whoever_berserks_loses_half_of_the_time_and_the_increment() {
        let t0 = Instant::now();
        let mut clocks = Clocks::new(blitz());
        clocks.berserk(Color::White);
        assert_eq!(clocks.remaining(Color::White, t0), Some(seconds(90)));
        clocks.start(Color::White, t0);
        clocks.press(Color::White, t0 + seconds(1));
        assert_eq!(clocks.remaining(Color::White, t0), Some(seconds(89)));
        assert_eq!(clocks.increment(Color::Black), seconds(2));
        let control = TimeControl::RealTime { limit: seconds(60), increment: seconds(2) };
        let mut clocks = Clocks::new(control);
        clocks.berserk(Color::White);
        assert_eq!(clocks.remaining(Color::White, t0), Some(seconds(60)));
        assert_eq!(clocks.increment(Color::White), seconds(0));
    }

    #[test]
    fn correspondence_time_is_for_each_move() {
        let t0 = Instant::now();
        let day = seconds(86_400);
        let mut clocks = Clocks::new(TimeControl::Correspondence { per_move: day });
        clocks.start(Color::White, t0);
        clocks.press(Color::White, t0 + seconds(3600));
        assert_eq!(clocks.remaining(Color::White, t0 + day), Some(day));
    }
}
