//! What is offered and claimed beside the moves: draws, and the game of an opponent who left.

use std::time::{Duration, Instant};

use crate::game::{Action, Command, GameState, session::Session};

/// Least time between two claims of victory.
pub(super) const CLAIM_PAUSE: Duration = Duration::from_secs(4);
/// Least time between two acceptances of the same offer.
pub(super) const ACCEPT_PAUSE: Duration = Duration::from_secs(4);
/// The server ignores a draw offer within so many plies of the last one.
const OFFER_PAUSE_PLIES: usize = 21;

impl Session {
    /// Whether the move that is played at this ply offers a draw along with it.
    pub(super) fn offer_with_move(&mut self, ply: usize) -> bool {
        let Some(game) = &self.game else { return false };
        // Offering against an open offer accepts it.
        let accepts = game.full.state.draw_offer[(!game.full.our_color).index()]
            && self.outlook.accepts_draw(ply, &self.options.draw);
        let may_offer = self.last_offer_ply.is_none_or(|last| ply >= last + OFFER_PAUSE_PLIES)
            && self.outlook.offers_draw(ply, &self.options.draw);
        if may_offer {
            self.last_offer_ply = Some(ply);
        }
        accepts || may_offer
    }

    /// Accepts an offer on the opponent's turn, when our last evaluation is of this position. On
    /// our own turn it is of an older one: there the move accepts, once a search has looked.
    ///
    /// If the offer stands although we accepted it, that got lost, and is said again.
    pub(super) fn answer_offer(&mut self, state: &GameState, now: Instant, out: &mut Vec<Action>) {
        let Some(game) = &self.game else { return };
        if !(state.draw_offer[(!game.full.our_color).index()] && self.is_their_turn()) {
            self.accepted_offer_at = None;
        } else if self.accepted_offer_at.is_none_or(|at| now >= at + ACCEPT_PAUSE)
            && self.outlook.accepts_draw(game.ply(), &self.options.draw)
        {
            self.accepted_offer_at = Some(now);
            out.push(Action::Send(Command::AcceptDraw));
            // The game is as good as over.
            self.stop_search(out);
            self.expected = None;
        }
    }

    /// The opponent left, and can be claimed against after `claim_in`; `None`: they are back.
    pub(super) fn on_opponent_gone(&mut self, claim_in: Option<Duration>, arrived: Instant) {
        let earliest = self.last_claim.map(|last| last + CLAIM_PAUSE);
        self.claim_at =
            claim_in.map(|wait| arrived + wait).max(earliest.filter(|_| claim_in.is_some()));
    }

    pub(super) fn claim_if_due(&mut self, now: Instant, out: &mut Vec<Action>) {
        if self.claim_at.is_some_and(|at| at <= now) {
            self.claim_at = None;
            self.last_claim = Some(now);
            out.push(Action::Send(Command::ClaimVictory));
        }
    }
}
