//! What is remembered of our own challenges: how many there were, and who declined what. Pure.

use std::time::Duration;

use crate::{
    daemon::{budget, matchmaking::MOST_IN_A_DAY},
    platform::{ChallengeClock, DeclineReason},
    store::{Decline, Epoch, State},
};

/// Of more opponents those are forgotten whose last decline is the oldest.
const MAX_OPPONENTS: usize = 512;
/// Of more declines of one opponent the oldest are forgotten. Each says something that the others do
/// not, so that there are hardly more of them than clocks that we offer.
const MAX_OF_ONE: usize = 32;
const DAY: Duration = Duration::from_hours(24);

/// Whether one more challenge of ours keeps to the number of a day, and the server takes it.
pub(super) fn may_challenge(state: &State, today: Epoch) -> bool {
    let options = budget::BudgetOptions { per_day: Some(MOST_IN_A_DAY), spread: false };
    budget::may_start(&state.challenges, &options, today).is_ok()
}

/// Whether an opponent has no games with bots left.
pub(super) fn has_no_games_left(state: &State, id: &str, today: Epoch) -> bool {
    budget::blocks_opponent(state, id, today)
}

/// Remembers who declined which game, and why.
pub(super) fn remember(
    state: &mut State,
    id: &str,
    reason: DeclineReason,
    clock: ChallengeClock,
    rated: bool,
    today: Epoch,
) {
    state.declines.retain(|_, declines| {
        declines.retain(|decline| is_in_force(decline, today));
        !declines.is_empty()
    });
    if state.declines.len() >= MAX_OPPONENTS && !state.declines.contains_key(id) {
        let last = |declines: &[Decline]| declines.iter().map(|decline| decline.at).max();
        let oldest = state.declines.iter().min_by_key(|(_, declines)| last(declines));
        if let Some(oldest) = oldest.map(|(id, _)| id.clone()) {
            state.declines.remove(&oldest);
        }
    }
    let new = Decline {
        at: today,
        reason: reason.key().to_owned(),
        initial_s: clock.initial_s,
        increment_s: clock.increment_s,
        rated,
    };
    let declines = state.declines.entry(id.to_owned()).or_default();
    // What the new one says as well is as good as forgotten: it says so for longer.
    declines.retain(|old| !says_as_much(&new, old));
    if declines.len() >= MAX_OF_ONE {
        declines.remove(0);
    }
    declines.push(new);
}

/// Whether a decline forbids all that an older one of the same reason does.
fn says_as_much(new: &Decline, old: &Decline) -> bool {
    let game = ChallengeClock { initial_s: old.initial_s, increment_s: old.increment_s };
    new.reason == old.reason && concerns(new, game, old.rated)
}

/// Whether what an opponent has declined forbids to offer such a game.
pub(super) fn forbid(
    state: &State,
    id: &str,
    clock: ChallengeClock,
    rated: bool,
    today: Epoch,
) -> bool {
    let declines = state.declines.get(id).map_or(&[][..], Vec::as_slice);
    declines.iter().any(|decline| is_in_force(decline, today) && concerns(decline, clock, rated))
}

fn reason(decline: &Decline) -> DeclineReason {
    DeclineReason::from_key(&decline.reason).unwrap_or(DeclineReason::Generic)
}

/// A decline of the future was written by a clock that was wrong.
fn is_in_force(decline: &Decline, today: Epoch) -> bool {
    decline.at <= today && today < decline.at.after(life(reason(decline)))
}

/// How long a reason is believed. A bot that is busy is soon free; its settings last.
fn life(reason: DeclineReason) -> Duration {
    match reason {
        DeclineReason::Later => Duration::from_mins(30),
        DeclineReason::Generic => DAY,
        DeclineReason::TooFast
        | DeclineReason::TooSlow
        | DeclineReason::TimeControl
        | DeclineReason::Rated
        | DeclineReason::Casual => 7 * DAY,
        DeclineReason::Standard
        | DeclineReason::Variant
        | DeclineReason::NoBot
        | DeclineReason::OnlyBot => 30 * DAY,
    }
}

/// Whether what was declined says something about such a game.
fn concerns(decline: &Decline, clock: ChallengeClock, rated: bool) -> bool {
    let declined =
        ChallengeClock { initial_s: decline.initial_s, increment_s: decline.increment_s };
    match reason(decline) {
        DeclineReason::TooFast => clock.estimate_s() <= declined.estimate_s(),
        DeclineReason::TooSlow => clock.estimate_s() >= declined.estimate_s(),
        DeclineReason::TimeControl => clock == declined,
        // They name what is wanted instead.
        DeclineReason::Rated => !rated,
        DeclineReason::Casual => rated,
        DeclineReason::Later
        | DeclineReason::Generic
        | DeclineReason::Standard
        | DeclineReason::Variant
        | DeclineReason::NoBot
        | DeclineReason::OnlyBot => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Epoch = Epoch::from_secs(1_800_000_000);
    const BULLET: ChallengeClock = ChallengeClock { initial_s: 60, increment_s: 1 };
    const BLITZ: ChallengeClock = ChallengeClock { initial_s: 180, increment_s: 2 };
    const RAPID: ChallengeClock = ChallengeClock { initial_s: 600, increment_s: 0 };

    /// After a rated game of this clock was declined so.
    fn declined(reason: DeclineReason, clock: ChallengeClock) -> State {
        let mut state = State::default();
        remember(&mut state, "soot", reason, clock, true, NOON);
        state
    }

    /// Which of bullet, blitz and rapid are forbidden, rated and casual, at this time.
    fn forbidden(state: &State, today: Epoch) -> [[bool; 3]; 2] {
        [true, false].map(|rated| {
            [BULLET, BLITZ, RAPID].map(|clock| forbid(state, "soot", clock, rated, today))
        })
    }

    #[test]
    fn a_decline_forbids_what_its_reason_is_about() {
        use DeclineReason as Reason;
        for (reason, rated, casual) in [
            (Reason::NoBot, [true; 3], [true; 3]),
            (Reason::Variant, [true; 3], [true; 3]),
            (Reason::Later, [true; 3], [true; 3]),
            (Reason::Generic, [true; 3], [true; 3]),
            (Reason::TooFast, [true, true, false], [true, true, false]),
            (Reason::TooSlow, [false, true, true], [false, true, true]),
            (Reason::TimeControl, [false, true, false], [false, true, false]),
            (Reason::Casual, [true; 3], [false; 3]),
            (Reason::Rated, [false; 3], [true; 3]),
        ] {
            assert_eq!(forbidden(&declined(reason, BLITZ), NOON), [rated, casual], "{reason}");
        }
        let state = declined(Reason::NoBot, BLITZ);
        assert!(!forbid(&state, "other", BLITZ, true, NOON));
    }

    #[test]
    fn a_decline_lasts_as_long_as_its_reason() {
        use DeclineReason as Reason;
        for (reason, hours) in
            [(Reason::Generic, 24), (Reason::TooFast, 7 * 24), (Reason::NoBot, 30 * 24)]
        {
            let state = declined(reason, BLITZ);
            let end = NOON.after(Duration::from_hours(hours));
            let before = NOON.after(Duration::from_hours(hours - 1));
            assert!(forbid(&state, "soot", BLITZ, true, before), "{reason}");
            assert!(!forbid(&state, "soot", BLITZ, true, end), "{reason}");
        }
        let state = declined(Reason::Later, BLITZ);
        assert!(forbid(&state, "soot", BLITZ, true, NOON.after(Duration::from_mins(29))));
        assert!(!forbid(&state, "soot", BLITZ, true, NOON.after(Duration::from_mins(30))));
        let earlier = Epoch::from_secs(1_000_000_000);
        assert!(!forbid(&state, "soot", BLITZ, true, earlier), "the clock was wrong");
    }

    #[test]
    fn declines_of_one_opponent_add_up() {
        let mut state = declined(DeclineReason::TooFast, BULLET);
        remember(&mut state, "soot", DeclineReason::TooSlow, RAPID, true, NOON);
        assert_eq!(forbidden(&state, NOON), [[true, false, true]; 2]);
        // 2026-11-30: of more than four the oldest were forgotten, whatever they said.
        for initial_s in (180..3000).step_by(60).take(MAX_OF_ONE - 2) {
            let clock = ChallengeClock { initial_s, increment_s: 2 };
            for _ in 0..3 {
                remember(&mut state, "soot", DeclineReason::TimeControl, clock, true, NOON);
            }
        }
        assert_eq!(state.declines["soot"].len(), MAX_OF_ONE, "each says something of its own");
        assert_eq!(forbidden(&state, NOON), [[true; 3]; 2]);
        remember(&mut state, "soot", DeclineReason::NoBot, BLITZ, true, NOON);
        assert_eq!(state.declines["soot"].len(), MAX_OF_ONE, "the oldest is forgotten");
        assert_eq!(forbidden(&state, NOON), [[true; 3]; 2], "no bots, whatever the clock");
    }

    #[test]
    fn a_decline_that_says_more_stands_for_those_that_say_less() {
        use DeclineReason as Reason;
        let later = NOON.after(DAY);
        for (reason, old, new, left) in [
            (Reason::TooFast, BULLET, BLITZ, 1),
            (Reason::TooFast, BLITZ, BULLET, 2),
            (Reason::TooSlow, RAPID, BLITZ, 1),
            (Reason::TooSlow, BLITZ, RAPID, 2),
            (Reason::TimeControl, BLITZ, RAPID, 2),
            (Reason::TimeControl, BLITZ, BLITZ, 1),
            (Reason::Generic, BLITZ, RAPID, 1),
            (Reason::Casual, BLITZ, RAPID, 1),
        ] {
            let mut state = declined(reason, old);
            let before = NOON.after(Duration::from_hours(23));
            remember(&mut state, "soot", reason, new, true, before);
            assert_eq!(state.declines["soot"].len(), left, "{reason}");
            assert!(forbid(&state, "soot", new, true, later), "{reason}: it lasts anew");
        }
    }

    #[test]
    fn what_is_over_is_forgotten_and_of_too_many_the_oldest() {
        let mut state = declined(DeclineReason::Later, BLITZ);
        let later = NOON.after(DAY);
        remember(&mut state, "other", DeclineReason::NoBot, BLITZ, true, later);
        assert_eq!(state.declines.keys().collect::<Vec<_>>(), ["other"]);
        for n in 0..MAX_OPPONENTS {
            let at = later.after(Duration::from_secs(1));
            remember(&mut state, &format!("b{n}"), DeclineReason::NoBot, BLITZ, true, at);
        }
        assert_eq!(state.declines.len(), MAX_OPPONENTS);
        assert!(!state.declines.contains_key("other"));
    }

    #[test]
    fn challenges_of_a_day_are_counted() {
        let mut state = State::default();
        for _ in 0..MOST_IN_A_DAY {
            assert!(may_challenge(&state, NOON));
            budget::started(&mut state.challenges, NOON);
        }
        assert!(!may_challenge(&state, NOON));
        assert!(may_challenge(&state, NOON.after(DAY)));
    }
}
