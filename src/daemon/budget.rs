//! How many games with bots are left: by our own count of the day, and by what the server has said.
//!
//! Pure: what is remembered, the options and the time give the answer. The server allows so many
//! starts of games between bots in a day that begins with the first (section 13.2 of the protocol
//! notes); aborted games count, games with people do not.

use std::time::Duration;

use crate::store::{Budget, Epoch, State};

/// The window of the count, and the longest that any word of the server's is believed.
const DAY: Duration = Duration::from_hours(24);
/// More opponents' quotas than this are not remembered.
const MAX_OPPONENTS: usize = 512;

/// How many games with bots there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetOptions {
    /// So many in 24 hours; `None` to leave the count to the server.
    pub per_day: Option<u32>,
    /// Whether they are spread over the day; else they are taken as they come.
    pub spread: bool,
}

impl Default for BudgetOptions {
    fn default() -> Self {
        Self { per_day: Some(100), spread: false }
    }
}

/// Whether a game with a bot may start.
///
/// # Errors
///
/// When one may again.
pub(super) fn may_start(budget: &Budget, options: &BudgetOptions, now: Epoch) -> Result<(), Epoch> {
    // An end that is further off was written by a clock that was wrong.
    if let Some(until) = budget.until.filter(|&until| until > now && until <= now.after(DAY)) {
        return Err(until);
    }
    let (Some(per_day), Some(since)) = (options.per_day, start_of_window(budget, now)) else {
        return Ok(());
    };
    if budget.games >= per_day {
        return Err(since.after(DAY));
    }
    if options.spread {
        // A tenth of the day's games may be played ahead of time.
        let ahead = (per_day / 10).max(1);
        let due = since.after(DAY * budget.games.saturating_sub(ahead - 1) / per_day);
        if due > now {
            return Err(due);
        }
    }
    Ok(())
}

/// How many games with bots may still begin in the running window; `None` if they are not counted.
pub(super) fn left(budget: &Budget, options: &BudgetOptions, now: Epoch) -> Option<u32> {
    if budget.until.is_some_and(|until| until > now && until <= now.after(DAY)) {
        return Some(0);
    }
    let games = start_of_window(budget, now).map_or(0, |_| budget.games);
    options.per_day.map(|per_day| per_day.saturating_sub(games))
}

/// A game with a bot starts, or may do so.
pub(super) fn started(budget: &mut Budget, now: Epoch) {
    let since = start_of_window(budget, now);
    budget.games = if since.is_some() { budget.games.saturating_add(1) } else { 1 };
    budget.since = since.or(Some(now));
}

/// A game that was counted has certainly not started.
pub(super) fn not_started(budget: &mut Budget) {
    budget.games = budget.games.saturating_sub(1);
}

/// The server says that our games with bots are used up for so long.
pub(super) fn exhausted(budget: &mut Budget, wait: Duration, now: Epoch) {
    budget.until = Some(now.after(wait.min(DAY)));
}

/// The server says that an opponent's games with bots are used up for so long.
pub(super) fn block_opponent(state: &mut State, id: &str, wait: Duration, now: Epoch) {
    state.quotas.retain(|_, until| *until > now);
    if state.quotas.len() < MAX_OPPONENTS {
        state.quotas.insert(id.to_owned(), now.after(wait.min(DAY)));
    }
}

/// Whether an opponent's games with bots are used up.
pub(super) fn blocks_opponent(state: &State, id: &str, now: Epoch) -> bool {
    state.quotas.get(id).is_some_and(|&until| until > now && until <= now.after(DAY))
}

/// When the running window began, if one runs. A start in the future was written by a clock that
/// was wrong since: it counts as now, so that the window does not last longer than a day.
fn start_of_window(budget: &Budget, now: Epoch) -> Option<Epoch> {
    let since = budget.since?.min(now);
    (since.after(DAY) > now).then_some(since)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Epoch = Epoch::from_secs(1_800_000_000);
    const HOUR: Duration = Duration::from_hours(1);

    fn options(per_day: u32, spread: bool) -> BudgetOptions {
        BudgetOptions { per_day: Some(per_day), spread }
    }

    fn after_games(games: u32) -> Budget {
        let mut budget = Budget::default();
        for _ in 0..games {
            started(&mut budget, NOON);
        }
        budget
    }

    #[test]
    fn the_day_begins_with_the_first_game() {
        let options = options(3, false);
        let mut budget = Budget::default();
        started(&mut budget, NOON);
        started(&mut budget, NOON.after(23 * HOUR));
        assert_eq!(may_start(&budget, &options, NOON.after(23 * HOUR)), Ok(()));
        started(&mut budget, NOON.after(23 * HOUR));
        let full = may_start(&budget, &options, NOON.after(23 * HOUR));
        assert_eq!(full, Err(NOON.after(24 * HOUR)));
        assert_eq!(may_start(&budget, &options, NOON.after(24 * HOUR)), Ok(()));
        started(&mut budget, NOON.after(24 * HOUR));
        assert_eq!((budget.since, budget.games), (Some(NOON.after(24 * HOUR)), 1));
    }

    #[test]
    fn what_is_left_is_told_if_anything_is_counted() {
        let mut budget = after_games(3);
        let left = |budget: &Budget, now| left(budget, &options(5, false), now);
        assert_eq!(left(&budget, NOON), Some(2));
        assert_eq!(left(&budget, NOON.after(24 * HOUR)), Some(5));
        exhausted(&mut budget, HOUR, NOON);
        assert_eq!(left(&budget, NOON), Some(0));
        let uncounted = BudgetOptions { per_day: None, spread: false };
        assert_eq!(super::left(&after_games(3), &uncounted, NOON), None);
    }

    #[test]
    fn without_a_count_only_the_server_decides() {
        let options = BudgetOptions { per_day: None, spread: true };
        let mut budget = after_games(5000);
        assert_eq!(may_start(&budget, &options, NOON), Ok(()));
        exhausted(&mut budget, HOUR, NOON);
        assert_eq!(may_start(&budget, &options, NOON), Err(NOON.after(HOUR)));
        assert_eq!(may_start(&budget, &options, NOON.after(HOUR)), Ok(()));
        exhausted(&mut budget, 100 * HOUR, NOON);
        assert_eq!(may_start(&budget, &options, NOON), Err(NOON.after(24 * HOUR)));
    }

    #[test]
    fn games_can_be_spread_over_the_day() {
        let options = options(24, true);
        // Two ahead of time, then one each hour.
        assert_eq!(may_start(&after_games(1), &options, NOON), Ok(()));
        assert_eq!(may_start(&after_games(2), &options, NOON), Err(NOON.after(HOUR)));
        assert_eq!(may_start(&after_games(2), &options, NOON.after(HOUR)), Ok(()));
        assert_eq!(may_start(&after_games(23), &options, NOON), Err(NOON.after(22 * HOUR)));
        let few = self::options(1, true);
        assert_eq!(may_start(&Budget::default(), &few, NOON), Ok(()));
        assert_eq!(may_start(&after_games(1), &few, NOON), Err(NOON.after(24 * HOUR)));
    }

    #[test]
    fn a_game_that_never_started_is_given_back() {
        let mut budget = after_games(3);
        not_started(&mut budget);
        assert_eq!(may_start(&budget, &options(3, false), NOON), Ok(()));
    }

    #[test]
    fn a_clock_that_jumped_back_locks_nobody_out() {
        let mut budget = after_games(3);
        exhausted(&mut budget, HOUR, NOON);
        let earlier = Epoch::from_secs(1_000_000_000);
        let full = may_start(&budget, &options(3, false), earlier);
        assert_eq!(full, Err(earlier.after(24 * HOUR)), "a day at most, from now");
        assert_eq!(may_start(&budget, &options(4, false), earlier), Ok(()));
        started(&mut budget, earlier);
        assert_eq!((budget.since, budget.games), (Some(earlier), 4));
    }

    #[test]
    fn quotas_of_opponents_end() {
        let mut state = State::default();
        block_opponent(&mut state, "soot-engine", Duration::from_secs(100), NOON);
        assert!(blocks_opponent(&state, "soot-engine", NOON));
        assert!(!blocks_opponent(&state, "other", NOON));
        let over = NOON.after(Duration::from_secs(100));
        assert!(!blocks_opponent(&state, "soot-engine", over));
        block_opponent(&mut state, "other", 10 * DAY, over);
        assert_eq!(state.quotas.len(), 1, "what is over is forgotten");
        assert!(!blocks_opponent(&state, "other", over.after(DAY)));
        assert!(!blocks_opponent(&state, "other", NOON), "the clock was wrong");
    }
}
