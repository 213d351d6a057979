//! Draws that nobody declares where a player has to claim them: repetition and fifty moves (R22).

use std::time::Instant;

use crate::{
    game::{
        Action, Command,
        session::{Session, Step, turn::DOUBT_WAIT},
    },
    rules::{DrawReason, Move, Outcome},
};

impl Session {
    /// On our turn, in a position that is over by our rules: what to do where draws are claimed. False
    /// if that is not so here.
    pub(super) fn claim_or_play_on(&mut self, now: Instant, out: &mut Vec<Action>) -> bool {
        let Some(game) = &self.game else { return false };
        let Some(Outcome::Draw(reason)) = game.history.outcome() else { return false };
        if !game.full.draws_are_claimed {
            return false;
        }
        let is_claimable = matches!(reason, DrawReason::Threefold | DrawReason::FiftyMoves);
        if is_claimable && !self.plays_on && self.outlook.settles_for_draw() {
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
            && matches!(
                next.outcome(),
                Some(Outcome::Draw(DrawReason::Threefold | DrawReason::FiftyMoves))
            )
    }
}
