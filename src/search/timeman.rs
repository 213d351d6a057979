//! How long to think: from the limits to a soft and a hard bound.
//!
//! Pure: the caller says how much time has passed.

use std::time::Duration;

use crate::search::Limits;

/// Time that a search may take, counted from its zero point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// No new iteration begins after this, scaled by how settled the best move is.
    pub soft: Duration,
    /// The search stops here, whatever it is doing.
    pub hard: Duration,
}

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
    // At most a quarter of the clock goes to the overhead: otherwise no time would be left at all.
    let overhead = limits.overhead.min(clock.remaining / 4);
    let usable = clock.remaining.saturating_sub(overhead);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::ClockLimit;

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
}
