//! What is offered, proposed and claimed beside the moves: draws, takebacks, and the game of an
//! opponent who left.
//!
//! An answer goes out as soon as it is known, amid our own search, too: with the line that brings the
//! offer, or with the first news of the search of that position. Where it takes more than that, our
//! move is the answer.

use std::time::{Duration, Instant};

use crate::game::{
    Action, Command, Evaluation, Manners, TimeControl,
    decision::Situation,
    record::Record,
    session::{Session, Step},
};

/// Least time between two claims of victory.
pub(super) const CLAIM_PAUSE: Duration = Duration::from_secs(4);
/// Least time between two answers to the same offer.
pub(super) const ANSWER_PAUSE: Duration = Duration::from_secs(4);
/// How long our move waits for the stream to show what we agreed to: the end, or a shorter list.
pub(super) const AGREED_WAIT: Duration = Duration::from_secs(1);
/// A draw offer within so many plies of our last one is ignored by the server (section 10.4 of the
/// protocol notes).
const OFFER_PAUSE_PLIES: usize = 21;

/// What we have agreed to in this game, and what we have offered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Offers {
    /// When we last answered the draw offer that is open.
    draw_answered_at: Option<Instant>,
    /// When we last answered the proposal of a takeback that is open, and whether with yes.
    takeback_answered: Option<(Instant, bool)>,
    /// How many moves the game had when we last offered a draw.
    last_offer_ply: Option<usize>,
    /// How many takebacks we have agreed to and seen.
    pub(super) takebacks: u32,
    /// The opponent was given more time for the first move.
    pub(super) has_waited: bool,
}

/// A running search that has looked less far ahead, in plies, says nothing of a draw yet: the opponent
/// may have erred in a way that takes a while to see.
const SURE_DEPTH: u32 = 8;

impl Session {
    /// How this opponent is met. As long as nobody knows who it is, as a person.
    pub(super) fn manners(&self) -> &Manners {
        match &self.game {
            Some(game) if game.opponent().is_bot => &self.options.bots,
            _ => &self.options.humans,
        }
    }

    /// Whether the move that is played at this ply offers a draw along with it.
    pub(super) fn offer_with_move(&mut self, ply: usize, now: Instant) -> bool {
        let Some(game) = &self.game else { return false };
        let (manners, situation) = (self.manners(), self.situation(game, now));
        // Offering against an open offer accepts it.
        let accepts =
            game.offers_of_opponent().draw && self.outlook.accepts_draw(manners, &situation, None);
        let may_offer =
            self.offers.last_offer_ply.is_none_or(|last| ply >= last + OFFER_PAUSE_PLIES)
                && self.outlook.offers_draw(manners, &situation);
        if may_offer {
            self.offers.last_offer_ply = Some(ply);
        }
        accepts || may_offer
    }

    /// Answers what the opponent offers and proposes, as far as that can be judged now.
    ///
    /// If an offer stands on the opponent's turn although we answered it, that got lost, and is said
    /// again.
    pub(super) fn answer_offers(&mut self, now: Instant, out: &mut Vec<Action>) {
        self.answer_draw(now, out);
        self.answer_takeback(now, out);
    }

    fn answer_draw(&mut self, now: Instant, out: &mut Vec<Action>) {
        let Some(game) = &self.game else { return };
        if !game.offers_of_opponent().draw {
            self.offers.draw_answered_at = None;
            return;
        }
        if !self.may_answer(self.offers.draw_answered_at, now) {
            return;
        }
        let (manners, situation) = (self.manners(), self.situation(game, now));
        if !manners.considers_draw(&situation) {
            self.offers.draw_answered_at = Some(now);
            out.push(Action::Send(Command::DeclineDraw));
            return;
        }
        // On our own turn the evaluation of our last move is of an older position: the search of
        // this one has to agree.
        let thought = self.running_evaluation();
        let can_judge = self.is_their_turn() || thought.is_some();
        if can_judge && self.outlook.accepts_draw(manners, &situation, thought) {
            self.offers.draw_answered_at = Some(now);
            out.push(Action::Send(Command::AcceptDraw));
            self.await_agreed(now, out);
        }
    }

    fn answer_takeback(&mut self, now: Instant, out: &mut Vec<Action>) {
        let Some(game) = &self.game else { return };
        if !game.offers_of_opponent().takeback {
            self.offers.takeback_answered = None;
            return;
        }
        if !self.may_answer(self.offers.takeback_answered.map(|(at, _)| at), now) {
            return;
        }
        let is_agreed = self.offers.takebacks < self.manners().takeback.most_in(game.full.rated);
        self.offers.takeback_answered = Some((now, is_agreed));
        out.push(Action::Send(Command::AnswerTakeback(is_agreed)));
        if is_agreed {
            self.await_agreed(now, out);
        }
    }

    /// Whether an offer is to be answered beside the moves: not while our move is under way, which
    /// declines it, so that a late yes would be an offer of our own; and on our own turn only once,
    /// since an answer costs time there.
    fn may_answer(&self, last: Option<Instant>, now: Instant) -> bool {
        let is_due = |at: Instant| self.is_their_turn() && now >= at + ANSWER_PAUSE;
        matches!(self.step, Step::Idle | Step::Searching | Step::Held { .. })
            && last.is_none_or(is_due)
    }

    /// What the search of the present position thinks so far, or has found.
    fn running_evaluation(&self) -> Option<Evaluation> {
        let is_of_now = matches!(self.step, Step::Searching | Step::Held { is_thought: true, .. });
        let thought = self.thought.as_ref().filter(|_| is_of_now);
        thought.filter(|thought| thought.depth >= SURE_DEPTH).map(|thought| thought.evaluation)
    }

    /// We agreed to something: what we think about is as good as gone.
    fn await_agreed(&mut self, now: Instant, out: &mut Vec<Action>) {
        self.stop_search(out);
        self.expected = None;
        let Some(game) = self.game.as_ref().filter(|_| !self.is_their_turn()) else { return };
        let wait = match game.full.time_control {
            // It costs our own time, should our answer be lost.
            TimeControl::Clock { .. } => {
                AGREED_WAIT.min(game.clock.remaining[game.full.our_color.index()] / 10)
            }
            TimeControl::Correspondence { .. } | TimeControl::Unlimited => AGREED_WAIT,
        };
        self.step = Step::Agreed { until: now + wait };
    }

    /// The game has fewer moves than before.
    pub(super) fn on_taken_back(&mut self, plies: usize) {
        self.outlook.take_back(plies);
        if let Some((_, true)) = self.offers.takeback_answered.take() {
            self.offers.takebacks += 1;
        }
    }

    pub(super) fn situation(&self, game: &Record, now: Instant) -> Situation {
        let us = game.full.our_color;
        let has_clock = matches!(game.full.time_control, TimeControl::Clock { .. });
        let is_race = has_clock && game.clock.increment[(!us).index()].is_zero();
        let left = |color| game.clock.remaining_at(color, self.running_clock(), now);
        Situation {
            ply: game.ply(),
            men: game.history.position().occupied().len(),
            rating: game.opponent().rating,
            race: is_race.then(|| (left(us), left(!us))),
        }
    }

    /// The opponent left, and can be claimed against after `claim_in`; `None`: they are back.
    pub(super) fn on_opponent_gone(&mut self, claim_in: Option<Duration>, arrived: Instant) {
        let earliest = self.last_claim.map(|last| last + CLAIM_PAUSE);
        self.claim_at =
            claim_in.map(|wait| arrived + wait).max(earliest.filter(|_| claim_in.is_some()));
    }

    /// Claims the game of an opponent who left: a draw if we have nothing but a king, which cannot
    /// win by anybody's absence (section 9.3 of the protocol notes), else the win.
    pub(super) fn claim_if_due(&mut self, now: Instant, out: &mut Vec<Action>) {
        let Some(game) = self.game.as_ref().filter(|_| self.claim_at.is_some_and(|at| at <= now))
        else {
            return;
        };
        let has_bare_king = game.history.position().side(game.full.our_color).len() == 1;
        self.claim_at = None;
        self.last_claim = Some(now);
        let claim = if has_bare_king { Command::ClaimDraw } else { Command::ClaimVictory };
        out.push(Action::Send(claim));
    }
}
