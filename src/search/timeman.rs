//! How long to think: from the limits to a soft and a hard bound.
//!
//! Pure: the caller says how much time has passed.

use std::time::Duration;

use crate::search::{ClockLimit, Limits};

/// Time that a search may take, counted from its zero point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// No new iteration begins after this, scaled by how settled the best move is.
    pub soft: Duration,
    /// The search stops here, whatever it is doing.
    pub hard: Duration,
}

/// At most so much of the clock is kept back for what the moves still to come cost on the way.
const MOST_RESERVED: f64 = 0.9;

/// Below this a move gets a fixed share of the clock, without regard to the position.
const PANIC: Duration = Duration::from_millis(250);

/// The budget of a move; `None` if the limits set no time. `ply` is the ply of the game.
///
/// Atomic games are short, so the share of the clock grows from 2.5 % at the first move to 6 %
/// (`docs/ENGINE.md`, section 8); no move takes more than 40 % of what is left.
pub fn budget(limits: &Limits, ply: u32) -> Option<Budget> {
    if let Some(time) = limits.move_time {
        let time = time.saturating_sub(limits.overhead).max(Duration::from_millis(1));
        return Some(Budget { soft: time, hard: time });
    }
    let clock = limits.clock?;
    let usable = clock.remaining.saturating_sub(reserve(limits.overhead, &clock, ply));
    let increment = clock.increment.min(usable);
    if usable < PANIC && increment < Duration::from_millis(100) {
        let time = (usable / 12).max(Duration::from_millis(1)).min(usable);
        return Some(Budget { soft: time / 2, hard: time });
    }
    let own_move = f64::from(ply / 2);
    let share = match clock.moves_to_go {
        Some(moves) => 0.9 / f64::from(moves.max(1)),
        None => 0.06 - 0.035 * (-0.04 * own_move).exp(),
    };
    let soft = usable.mul_f64(share.min(0.9)) + increment.mul_f64(0.75);
    let hard = usable.mul_f64(0.4) + increment.mul_f64(0.75);
    let most = usable.mul_f64(0.8);
    let hard = hard.min(most).min(soft * 5);
    Some(Budget { soft: soft.min(hard), hard })
}

/// What to keep back from the clock: the overhead of this move, and of those still to come what
/// their increments do not pay.
///
/// A line that costs 0.4 s a move takes 20 s out of a game of a minute. Who keeps back only the
/// next move's share of that spends the rest on thinking and loses on time at the end.
fn reserve(overhead: Duration, clock: &ClockLimit, ply: u32) -> Duration {
    // At most a quarter of the clock for one move: otherwise no time would be left at all.
    let now = overhead.min(clock.remaining / 4);
    let to_come = 55_u32.saturating_sub(ply / 2).clamp(15, 40);
    let to_come = clock.moves_to_go.map_or(to_come, |moves| to_come.min(moves));
    let later = overhead.saturating_sub(clock.increment) * to_come.saturating_sub(1);
    (now + later).min(clock.remaining.mul_f64(MOST_RESERVED))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(remaining_ms: u64, increment_ms: u64, overhead_ms: u64) -> Limits {
        Limits {
            clock: Some(ClockLimit {
                remaining: Duration::from_millis(remaining_ms),
                increment: Duration::from_millis(increment_ms),
                moves_to_go: None,
            }),
            overhead: Duration::from_millis(overhead_ms),
            ..Limits::default()
        }
    }

    #[test]
    fn no_budget_exceeds_the_clock() {
        for remaining in [1, 5, 20, 100, 400, 999, 1_000, 5_000, 60_000, 10_800_000] {
            for increment in [0, 10, 100, 1_000, 60_000] {
                for overhead in [0, 10, 50, 1_000] {
                    for ply in [0, 10, 60, 400] {
                        let budget = budget(&clock(remaining, increment, overhead), ply).unwrap();
                        assert!(budget.soft <= budget.hard);
                        assert!(budget.hard <= Duration::from_millis(remaining));
                    }
                }
            }
        }
    }

    #[test]
    fn without_a_clock_there_is_no_budget() {
        assert_eq!(budget(&Limits::default(), 0), None);
    }

    #[test]
    fn a_game_of_a_minute_is_not_used_up_early() {
        let mut left = 60_000;
        for own_move in 0..40 {
            let budget = budget(&clock(left, 0, 50), own_move * 2).unwrap();
            left -= u64::try_from(budget.soft.as_millis()).unwrap() + 50;
        }
        assert!(left > 5_000, "{left} ms are left after 40 moves");
    }

    /// Plays own moves against a clock of a minute on a line that takes `lag` from each of them,
    /// and tells what is left after each. Every search uses its soft bound times `use_of_soft`.
    fn left_after(lag: Duration, overhead: Duration, use_of_soft: f64) -> Vec<Duration> {
        let mut left = Duration::from_mins(1);
        let mut all = Vec::new();
        for own_move in 1..=50 {
            let mut limits = clock(0, 0, 0);
            limits.overhead = overhead;
            limits.clock.as_mut().unwrap().remaining = left;
            let budget = budget(&limits, own_move * 2).unwrap();
            let used = budget.soft.mul_f64(use_of_soft).min(budget.hard) + lag;
            left = left.saturating_sub(used);
            all.push(left);
        }
        all
    }

    #[test]
    fn a_slow_line_loses_no_game_of_a_minute_on_time() {
        for lag_ms in [200, 400] {
            let lag = Duration::from_millis(lag_ms);
            // A restless position stretches the soft bound to three times at most, see `Pacer`.
            for use_of_soft in [0.7, 1.0, 1.3, 2.0, 3.0] {
                for overhead in [lag, lag * 5 / 4] {
                    let left = *left_after(lag, overhead, use_of_soft).last().unwrap();
                    assert!(left > lag, "{left:?} for {lag_ms} ms, soft x {use_of_soft}");
                }
            }
        }
    }

    #[test]
    fn a_fast_line_costs_no_thinking_time() {
        // The old rule, for comparison: only this move's overhead was kept back.
        let old_soft = |remaining_ms: u64, increment_ms: u64, overhead_ms: u64, ply: u32| {
            let usable = remaining_ms - overhead_ms.min(remaining_ms / 4);
            let share = 0.06 - 0.035 * (-0.04 * f64::from(ply / 2)).exp();
            Duration::from_millis(usable).mul_f64(share)
                + Duration::from_millis(increment_ms.min(usable)).mul_f64(0.75)
        };
        for (remaining, increment) in [(1_000, 10), (10_000, 100), (60_000, 0), (180_000, 2_000)] {
            for ply in [0, 20, 60, 120] {
                let soft = budget(&clock(remaining, increment, 10), ply).unwrap().soft;
                let ratio =
                    soft.as_secs_f64() / old_soft(remaining, increment, 10, ply).as_secs_f64();
                assert!((0.97..=1.001).contains(&ratio), "{remaining}+{increment}: {ratio}");
            }
        }
    }

    #[test]
    fn what_the_increment_pays_is_not_kept_back() {
        let with_increment = budget(&clock(60_000, 1_000, 400), 20).unwrap().soft;
        let without = budget(&clock(60_000, 0, 400), 20).unwrap().soft;
        assert!(with_increment > without + Duration::from_millis(750));
        let to_go = |moves_to_go| {
            let mut limits = clock(60_000, 0, 400);
            limits.clock.as_mut().unwrap().moves_to_go = Some(moves_to_go);
            budget(&limits, 20).unwrap()
        };
        assert!(to_go(1).soft > Duration::from_secs(20), "one move is left, and nothing after it");
    }
}
