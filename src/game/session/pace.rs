//! Moves that are held back, so that a game goes at the pace of people: only the sending waits.

use std::time::{Duration, Instant};

use crate::{
    game::{
        Action, TimeControl,
        session::{Session, Step},
    },
    rules::Move,
};

/// The part of the clock that a person's move takes in the opening, and how much less of it each ply
/// later does.
const SHARE: f64 = 0.025;
const DECAY: f64 = 0.99;
/// The ply up to which nothing is taken off.
const OPENING_PLIES: usize = 10;
/// With less than this on the clock no move is held back.
const LEAST_LEFT: Duration = Duration::from_secs(20);

impl Session {
    /// Plays a move when a person would at the soonest. `is_thought` tells whether it comes of a search.
    pub(super) fn play_in_time(
        &mut self,
        mv: Move,
        is_thought: bool,
        now: Instant,
        out: &mut Vec<Action>,
    ) {
        match self.held_until().filter(|&until| until > now) {
            Some(until) => self.step = Step::Held { mv, is_thought, until },
            None => self.play_and_narrate(mv, is_thought, now, out),
        }
    }

    pub(super) fn play_and_narrate(
        &mut self,
        mv: Move,
        is_thought: bool,
        now: Instant,
        out: &mut Vec<Action>,
    ) {
        self.play(mv, now, out);
        if is_thought {
            self.narrate(now, out);
        }
    }

    /// Until when a move is held back, counted from the line that made it our turn: what we have thought
    /// is part of it. Nothing is without a clock, for a first move, which has a deadline of its own, and
    /// for one instead of a move that was refused.
    fn held_until(&self) -> Option<Instant> {
        let game = self.game.as_ref().filter(|_| self.options.fake_think_time)?;
        let has_clock = matches!(game.full.time_control, TimeControl::Clock { .. });
        let left = game.clock.remaining[game.full.our_color.index()];
        if !has_clock || game.ply() < 2 || self.refused.is_some() || left < LEAST_LEFT {
            return None;
        }
        let later = u32::try_from(game.ply().saturating_sub(OPENING_PLIES)).unwrap_or(u32::MAX);
        let share = SHARE * DECAY.powf(f64::from(later));
        Some(game.clock.read_at + left.mul_f64(share))
    }
}
