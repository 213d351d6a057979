//! The opponent's turn: search the answer to the reply that we expect, and what to do when a reply
//! comes.

use std::time::{Duration, Instant};

use crate::{
    game::{
        Action, SearchRequest, TimeControl,
        session::{Session, Step, Thought},
    },
    rules::{History, Move},
};

/// The first move of each side is played without a clock, and often never. Nothing is searched for
/// it.
const UNTIMED_PLIES: usize = 2;

/// What our last search foresaw.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    /// How many moves the game had when it searched.
    pub(super) ply: usize,
    /// What it found.
    pub(super) ours: Move,
    /// The reply to that.
    pub(super) reply: Move,
}

/// A search that runs on the opponent's time.
#[derive(Debug)]
pub(super) struct Pondering {
    pub(super) reply: Move,
    /// Our clock when it began: what it divides into moves.
    pub(super) remaining: Option<Duration>,
    /// How far it is. It is of a position that the game has not reached yet.
    pub(super) thought: Option<Thought>,
}

/// How often the opponent played what we pondered on, and something else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PonderCount {
    /// Replies that were pondered on.
    pub hits: u32,
    /// Replies that were other ones.
    pub misses: u32,
}

impl Session {
    /// Ponders once the server shows the move that our last search found: the clocks are known then,
    /// and that the move stands.
    pub(super) fn ponder(&mut self, now: Instant, out: &mut Vec<Action>) {
        let Some(game) = &self.game else { return };
        if self.step != Step::Idle || !self.is_their_turn() {
            return;
        }
        let Some(Expected { ply, ours, reply }) = self.expected.take() else { return };
        let is_shown = game.ply() == ply + 1 && game.history.moves().last() == Some(&ours);
        let has_clock = matches!(game.full.time_control, TimeControl::Clock { .. });
        if !(self.options.ponder && has_clock && is_shown && ply >= UNTIMED_PLIES) {
            return;
        }
        let mut history = game.history.clone();
        if history.play(reply).is_err() || history.outcome().is_some() {
            return;
        }
        let moves = history.position().legal_moves();
        // A single move is played without a search.
        if moves.len() < 2 {
            return;
        }
        let mut limits = self.limits(game, &moves, now);
        limits.ponder = true;
        let remaining = limits.clock.map(|clock| clock.remaining);
        out.push(Action::Search(Box::new(SearchRequest { history, limits })));
        self.pondering = Some(Pondering { reply, remaining, thought: None });
    }

    /// The position is a new one; `before` led to the one before. If the opponent played what we
    /// ponder on, that search becomes the one for our move. It has its time from the clock at its
    /// beginning; where less is left now, another search has to begin, with what the table knows.
    pub(super) fn take_reply(
        &mut self,
        before: &History,
        now: Instant,
        out: &mut Vec<Action>,
    ) -> bool {
        let (Some(game), Some(pondering)) = (&self.game, &self.pondering) else { return false };
        let Some(replies) = game.history.moves().strip_prefix(before.moves()) else { return false };
        if *replies != [pondering.reply] {
            self.ponder_count.misses += u32::from(!replies.is_empty());
            return false;
        }
        self.ponder_count.hits += 1;
        let limits = self.limits(game, &game.history.position().legal_moves(), now);
        if limits.clock.map(|clock| clock.remaining) < pondering.remaining {
            return false;
        }
        out.push(Action::PonderHit { at: game.clock.read_at });
        self.thought = self.pondering.take().and_then(|pondering| pondering.thought);
        self.step = Step::Searching;
        true
    }
}
