//! Draws that nobody declares where a player has to claim them: repetition and fifty moves (R22).

use std::time::Instant;

use crate::{
    game::{
        Action, Command,
        session::{Session, Step, turn::DOUBT_WAIT},
    },
    rules::{History, Move, Outcome},
};

impl Session {
    /// On our turn, in a position that is over by our rules: what to do where draws are claimed. False
    /// if that is not so here.
    pub(super) fn claim_or_play_on(&mut self, now: Instant, out: &mut Vec<Action>) -> bool {
        let Some(game) = &self.game else { return false };
        let Some(Outcome::Draw(_)) = game.history.outcome() else { return false };
        if !game.full.draws_are_claimed {
            return false;
        }
        if is_claimable(&game.history) && !self.plays_on && self.outlook.settles_for_draw() {
            out.push(Action::Send(Command::ClaimDraw));
            self.step = Step::Doubting { until: now + DOUBT_WAIT };
        } else {
            self.think(now, out);
        }
        true
    }

    /// Whether to claim a draw along with this move: it brings one about, and we want no more.
    pub(super) fn claims_with(&self, mv: Move) -> bool {
        let Some(game) = &self.game else { return false };
        if !game.full.draws_are_claimed || !self.outlook.settles_for_draw() {
            return false;
        }
        let mut next = game.history.clone();
        next.play(mv).is_ok()
            && matches!(next.outcome(), Some(Outcome::Draw(_)))
            && is_claimable(&next)
    }
}

/// Whether a player may claim a draw here. A position that our rules hold to be dead need not be one to
/// the server, and is drawn in the same two ways.
fn is_claimable(history: &History) -> bool {
    history.occurrences() >= 3 || history.position().halfmove_clock() >= 100
}
