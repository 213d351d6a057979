//! Our turn: search, play what was found, and what to do about a refusal.

use std::time::{Duration, Instant};

use crate::{
    game::{
        Action, Command, SearchRequest, TimeControl, Trouble,
        clock::first_move_time,
        record::Record,
        session::{Found, Session, Step, ponder::Expected},
    },
    rules::{Move, MoveList},
    search::Limits,
};

/// How long a refused move waits for the stream to explain the refusal.
pub(super) const DISPUTE_WAIT: Duration = Duration::from_millis(500);
/// How long the server may take to declare an end that our rules see.
pub(super) const DOUBT_WAIT: Duration = Duration::from_secs(1);

impl Session {
    /// If it is our turn and nothing is being done about it yet, does something about it.
    pub(super) fn decide(&mut self, now: Instant, out: &mut Vec<Action>) {
        let Some(game) = &self.game else { return };
        if self.step != Step::Idle || self.is_their_turn() || game.candidates(None).is_empty() {
            return;
        }
        let is_over = game.history.outcome().is_some();
        if is_over && self.claim_or_play_on(now, out) {
            return;
        }
        if is_over && !self.plays_on {
            self.step = Step::Doubting { until: now + DOUBT_WAIT };
        } else {
            self.think(now, out);
        }
    }

    /// Searches the present position, or plays the only move at once.
    pub(super) fn think(&mut self, now: Instant, out: &mut Vec<Action>) {
        let Some(game) = &self.game else { return };
        let candidates = game.candidates(self.refused);
        if let [only] = candidates[..] {
            self.outlook.learn(game.ply(), None);
            return self.play_in_time(only, false, now, out);
        }
        let limits = self.limits(game, &candidates, now);
        let request = SearchRequest { history: game.history.clone(), limits };
        out.push(Action::Search(Box::new(request)));
        self.thought = None;
        self.step = Step::Searching;
    }

    pub(super) fn limits(&self, game: &Record, candidates: &MoveList, now: Instant) -> Limits {
        // A game that is taken up in its middle has its clocks running.
        let is_first = game.ply() < 2 && game.full.initial_fen.is_none();
        let mut limits = Limits {
            nodes: self.options.nodes,
            overhead: self.lag.overhead(self.options.move_overhead),
            started: Some(now),
            ..Limits::default()
        };
        if self.refused.is_some() {
            limits.search_moves = candidates.to_vec();
        }
        let us = game.full.our_color;
        match game.full.time_control {
            control if is_first => {
                let expiration = game.full.state.expiration;
                limits.move_time = Some(first_move_time(&self.options, control, expiration));
            }
            TimeControl::Clock { .. } => {
                limits.clock = Some(game.clock.limit(us));
                limits.started = Some(game.clock.read_at);
            }
            TimeControl::Correspondence { .. } | TimeControl::Unlimited => {
                let left = game.clock.remaining[us.index()] / 2;
                limits.move_time = Some(self.options.untimed_move_time.min(left));
            }
        }
        limits
    }

    pub(super) fn on_found(&mut self, found: Found, now: Instant, out: &mut Vec<Action>) {
        let Some(game) = &self.game else { return };
        if self.step != Step::Searching {
            self.pondering = None;
            return;
        }
        // The search is over by itself: nothing is left to stop.
        self.step = Step::Idle;
        // One that was stopped before it finished anything has an evaluation that means nothing.
        let is_thought = found.thought.depth > 0;
        self.outlook.learn(game.ply(), is_thought.then_some(found.thought.evaluation));
        if is_thought {
            self.thought = Some(found.thought);
        }
        let candidates = game.candidates(self.refused);
        let playable = found.best.filter(|best| candidates.contains(best));
        let Some(mv) = playable.or(candidates.first().copied()) else { return };
        if playable.is_none() {
            out.push(Action::Alert(Trouble::NoBestMove { said: found.best, instead: mv }));
        }
        let situation = self.situation(game, now);
        if self.outlook.resigns(self.manners(), &situation) && !self.is_abortable() {
            return self.leave_by(Command::Resign, now, out);
        }
        let foreseen = found.ponder.filter(|_| playable.is_some());
        self.expected = foreseen.map(|reply| Expected { ply: game.ply(), ours: mv, reply });
        self.play_in_time(mv, true, now, out);
    }

    pub(super) fn play(&mut self, mv: Move, now: Instant, out: &mut Vec<Action>) {
        let Some(game) = &self.game else { return };
        let ply = game.ply();
        let offer_draw = self.offer_with_move(ply, now) | self.claims_with(mv);
        out.push(Action::Send(Command::Play { ply, mv, offer_draw }));
        self.step = Step::Sent { mv };
    }

    pub(super) fn on_refused(&mut self, ply: usize, now: Instant, out: &mut Vec<Action>) {
        let Some(game) = &self.game else { return };
        let Step::Sent { mv } = self.step else { return };
        if game.ply() != ply {
            return;
        }
        if self.refused.is_some() {
            let (start_fen, moves) = (game.start.fen(), game.full.state.moves.join(" "));
            let uci = mv.to_string();
            out.push(Action::Alert(Trouble::MoveRefusedAgain { uci, ply, start_fen, moves }));
            return self.leave(now, out);
        }
        self.refused = Some(mv);
        self.step = Step::Disputed { mv, until: now + DISPUTE_WAIT };
    }
}
