//! The pure core of a game: what the server, the search and the time say, and what we do about it.
//!
//! The server's full move list is the only truth. Every line is compared with it, so that lists
//! that repeat, grow, shrink or contradict what we knew all end in the same way: a position, and
//! the question whose turn it is. What follows from that is in `turn`, `pace` and `ponder`; `offers`, `chat`
//! and `leaving` hold what may happen on either side's turn.

mod chat;
mod claims;
mod leaving;
mod offers;
mod pace;
mod ponder;
mod turn;

use std::{sync::Arc, time::Instant};

pub use ponder::PonderCount;

use crate::{
    game::{
        Action, Arrived, Clock, Command, EndReason, Ending, Evaluation, Event, GameFull, GameId,
        GameState, Lag, Options, Phase, Player, Snapshot, Status, TimeControl, Trouble,
        WaitingNames,
        chat::Limiter,
        decision::Outlook,
        record::{IllegalInList, Record},
        session::{
            leaving::{LEAVE_PAUSE, LEAVE_PAUSE_LEAST},
            offers::Offers,
            ponder::{Expected, Pondering},
        },
    },
    rules::{Color, History, Move, Position},
};

/// A game that is not of a tournament can be aborted before so many plies.
const ABORTABLE_PLIES: usize = 2;

/// What a session is told.
#[derive(Debug)]
pub enum Input {
    /// The server said something.
    Server(Arrived),
    /// The running search reports progress.
    Thought(Thought),
    /// The running search ended.
    Found(Found),
    /// Others wait for a game with us, or nobody does any more.
    Waiting(WaitingNames),
    /// Time passed; due when [`Session::deadline`] is reached.
    Tick,
    /// Leave the game: abort it if it has hardly begun, else resign.
    Quit,
}

/// Progress of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thought {
    /// Plies looked ahead.
    pub depth: u32,
    /// From our side.
    pub evaluation: Evaluation,
    /// Nodes visited.
    pub nodes: u64,
    /// Nodes visited in a second.
    pub nps: u64,
    /// The line that it expects.
    pub pv: Vec<Move>,
}

/// The end of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The move to play; `None`: the search has none.
    pub best: Option<Move>,
    /// The reply that the search expects.
    pub ponder: Option<Move>,
    /// What the search thinks of the position.
    pub thought: Thought,
}

/// One game. See the module documentation.
#[derive(Debug)]
pub struct Session {
    id: GameId,
    options: Options,
    game: Option<Record>,
    step: Step,
    outlook: Outlook,
    lag: Lag,
    thought: Option<Thought>,
    /// What our last search foresaw, until the server shows its move.
    expected: Option<Expected>,
    /// The search that runs on the opponent's turn.
    pondering: Option<Pondering>,
    ponder_count: PonderCount,
    /// The length of a move list that broke the rules and made us ask for a fresh one.
    broken_length: Option<usize>,
    /// The move that the server refused in the present position.
    refused: Option<Move>,
    offers: Offers,
    claim_at: Option<Instant>,
    last_claim: Option<Instant>,
    abort_at: Option<Instant>,
    /// The answers in each room.
    limiters: [Limiter; 2],
    /// In which rooms our evaluation is told after each move.
    narrates: [bool; 2],
    waiting: WaitingNames,
    has_greeted: bool,
    /// The server went on beyond an end that our rules see: it is not waited for again.
    plays_on: bool,
    is_quitting: bool,
}

/// What is being done about the present position.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    /// Waiting for the whole game: at the start, and after asking to reopen the stream.
    AwaitingFull,
    /// Nothing: the opponent's turn, or no legal move.
    Idle,
    /// Our turn, but by our rules the game is over: the server gets a moment to say so.
    Doubting { until: Instant },
    /// Our turn, a search runs.
    Searching,
    /// Our turn, and we agreed to a draw or a takeback: the server gets a moment to show it.
    Agreed { until: Instant },
    /// Our turn, the move is known and held back. `is_thought`: it comes of a search.
    Held { mv: Move, is_thought: bool, until: Instant },
    /// Our turn, the move is on its way.
    Sent { mv: Move },
    /// Our turn, the server refused the move: the stream gets a moment to say why.
    Disputed { mv: Move, until: Instant },
    /// Resigned or aborted, last at `since`; an end is awaited.
    Leaving { by_abort: bool, since: Instant },
    /// Over.
    Finished(Ending),
}

impl Session {
    /// A session for this game that waits for the server's first line.
    pub fn new(id: GameId, options: Options) -> Self {
        Self {
            id,
            options,
            game: None,
            step: Step::AwaitingFull,
            outlook: Outlook::default(),
            lag: Lag::default(),
            thought: None,
            expected: None,
            pondering: None,
            ponder_count: PonderCount::default(),
            broken_length: None,
            refused: None,
            offers: Offers::default(),
            claim_at: None,
            last_claim: None,
            abort_at: None,
            limiters: Default::default(),
            narrates: [false; 2],
            waiting: Arc::default(),
            has_greeted: false,
            plays_on: false,
            is_quitting: false,
        }
    }

    /// Which game this is.
    pub fn id(&self) -> &GameId {
        &self.id
    }

    /// Takes in what happened and answers with what to do, in order. After
    /// [`Action::Finish`] nothing more is answered.
    pub fn handle(&mut self, input: Input, now: Instant) -> Vec<Action> {
        let mut out = Vec::new();
        if matches!(self.step, Step::Finished(_)) {
            return out;
        }
        match input {
            Input::Server(Arrived { at, lag, event }) => {
                self.lag = lag;
                self.on_event(event, at, now, &mut out);
            }
            Input::Thought(thought) => self.on_thought(thought, now, &mut out),
            Input::Found(found) => self.on_found(found, now, &mut out),
            Input::Waiting(waiting) => self.waiting = waiting,
            Input::Tick => {}
            Input::Quit => {
                self.is_quitting = true;
                self.leave(now, &mut out);
            }
        }
        self.run_timers(now, &mut out);
        out
    }

    /// When the session wants an [`Input::Tick`] at the latest.
    pub fn deadline(&self) -> Option<Instant> {
        match self.step {
            Step::Doubting { until }
            | Step::Disputed { until, .. }
            | Step::Agreed { until }
            | Step::Held { until, .. } => Some(until),
            Step::Leaving { since, .. } => Some(since + LEAVE_PAUSE),
            Step::Idle if self.is_their_turn() => {
                self.abort_at.into_iter().chain(self.claim_at).min()
            }
            _ => None,
        }
    }

    /// The game as a viewer sees it.
    pub fn snapshot(&self) -> Snapshot {
        let game = self.game.as_ref();
        let position = game.map(|game| game.history.position());
        Snapshot {
            id: self.id.clone(),
            our_color: game.map(|game| game.full.our_color),
            players: game.map(|game| game.full.players.clone()).unwrap_or_default(),
            rated: game.is_some_and(|game| game.full.rated),
            fen: position.map_or_else(|| Position::initial().fen(), Position::fen),
            last_move: game.and_then(|game| game.history.moves().last().copied()),
            plies: game.map_or(0, Record::ply),
            clock: game.map(|game| game.clock),
            running: self.running_clock(),
            thought: self.thought.clone(),
            ponder: self.pondering.as_ref().map(|pondering| pondering.reply),
            ponder_count: self.ponder_count,
            reply: None,
            phase: match &self.step {
                Step::AwaitingFull => Phase::Connecting,
                Step::Idle if self.is_their_turn() => Phase::TheirTurn,
                Step::Leaving { .. } => Phase::Leaving,
                Step::Finished(ending) => Phase::Over(ending.clone()),
                _ => Phase::OurTurn,
            },
        }
    }

    /// Both players, White first, once the server's first line told them.
    pub fn players(&self) -> Option<&[Player; 2]> {
        self.game.as_ref().map(|game| &game.full.players)
    }

    /// The game as the server tells it, once it has.
    pub(super) fn record(&self) -> Option<&Record> {
        self.game.as_ref()
    }

    fn on_thought(&mut self, thought: Thought, now: Instant, out: &mut Vec<Action>) {
        if let Some(pondering) = &mut self.pondering {
            pondering.thought = Some(thought);
        } else {
            self.thought = Some(thought);
            // It may be what the answer to an open offer waits for.
            self.answer_offers(now, out);
        }
    }

    fn on_event(&mut self, event: Event, arrived: Instant, now: Instant, out: &mut Vec<Action>) {
        match event {
            Event::Full(full) => self.on_full(*full, arrived, now, out),
            Event::State(state) => self.on_state(state, arrived, now, out),
            Event::OpponentGone(claim_in) => self.on_opponent_gone(claim_in, arrived),
            Event::Chat(line) => self.on_chat(&line, now, out),
            Event::MoveRefused { ply } => self.on_refused(ply, now, out),
            Event::Lost(reason) => self.finish(EndReason::Lost(reason), None, out),
        }
    }

    fn on_full(&mut self, full: GameFull, arrived: Instant, now: Instant, out: &mut Vec<Action>) {
        let state = full.state.clone();
        let start = match full.initial_fen.as_deref().map(Position::from_fen) {
            None => Position::initial(),
            Some(Ok(start)) => start,
            Some(Err(error)) => {
                let fen = full.initial_fen.unwrap_or_default();
                out.push(Action::Alert(Trouble::StartPosition { fen, cause: error.to_string() }));
                let is_young = full.is_abortable && state.moves.len() < ABORTABLE_PLIES;
                let command = if is_young { Command::Abort } else { Command::Resign };
                return self.leave_by(command, now, out);
            }
        };
        match &mut self.game {
            Some(game) if game.start == start && game.full.our_color == full.our_color => {
                // The known moves belong to the history, which is compared with the list below.
                let known = std::mem::replace(&mut game.full, full).state;
                game.full.state = known;
            }
            game => {
                *game = Some(Record::new(full, start, arrived));
                self.stop_search(out);
                self.step = Step::AwaitingFull;
            }
        }
        if self.step == Step::AwaitingFull {
            self.step = Step::Idle;
        }
        let is_young = state.moves.len() < ABORTABLE_PLIES;
        self.on_state(state, arrived, now, out);
        let is_over = matches!(self.step, Step::Finished(_));
        if !std::mem::replace(&mut self.has_greeted, true) && is_young && !is_over {
            self.greet(out);
        }
        self.leave_again(LEAVE_PAUSE_LEAST, now, out);
        if self.is_quitting {
            self.leave(now, out);
        }
    }

    /// Takes in a state of the game: position first, then the end, offers, and our turn.
    fn on_state(
        &mut self,
        state: GameState,
        arrived: Instant,
        now: Instant,
        out: &mut Vec<Action>,
    ) {
        let Some(game) = &mut self.game else { return };
        if let Status::Over(reason) = state.status.clone() {
            // The result stands even if the list is beyond us.
            if let Ok(history) = game.replay(&state.moves) {
                game.history = history;
            }
            game.clock = Clock::new(&state, arrived);
            return self.finish(reason, state.winner, out);
        }
        match &mut self.step {
            Step::AwaitingFull => return,
            Step::Leaving { by_abort, since } => {
                // The opponent may have moved before our wish to abort arrived.
                if *by_abort && state.moves.len() >= ABORTABLE_PLIES {
                    (*by_abort, *since) = (false, now);
                    out.push(Action::Send(Command::Resign));
                }
                return;
            }
            _ => {}
        }
        let history = match game.replay(&state.moves) {
            Ok(history) => history,
            Err(illegal) => return self.on_illegal_list(&illegal, &state, now, out),
        };
        let before = std::mem::replace(&mut game.history, history);
        game.clock = Clock::new(&state, arrived);
        if self.broken_length.is_some_and(|length| state.moves.len() > length) {
            self.broken_length = None;
        }
        game.full.state = state;
        self.on_position(&before, now, out);
        self.answer_offers(now, out);
        self.decide(now, out);
        self.ponder(now, out);
    }

    /// Puts the work on the old position aside if the new list is another one, and was not foreseen.
    fn on_position(&mut self, before: &History, now: Instant, out: &mut Vec<Action>) {
        let Some(game) = &self.game else { return };
        // Without a clock an opponent may take days for a first move.
        let has_clock = matches!(game.full.time_control, TimeControl::Clock { .. });
        let is_new = game.history.moves() != before.moves();
        let is_their_turn = self.is_their_turn();
        if is_new {
            // The opponent may have moved again by the time we see it.
            let common = common_plies(before.moves(), game.history.moves());
            if common < before.moves().len() {
                self.on_taken_back(common);
            }
            if !is_their_turn {
                // A move of theirs also says that they are back.
                self.claim_at = None;
            }
            self.refused = None;
            if !self.take_reply(before, now, out) {
                self.stop_search(out);
                self.step = Step::Idle;
            }
        }
        if !(has_clock && is_their_turn && self.is_abortable()) {
            self.abort_at = None;
        } else if is_new || self.abort_at.is_none() {
            self.abort_at = Some(now + self.options.abort_patience);
        }
    }

    fn on_illegal_list(
        &mut self,
        illegal: &IllegalInList,
        state: &GameState,
        now: Instant,
        out: &mut Vec<Action>,
    ) {
        let Some(game) = &self.game else { return };
        let (ply, uci) = (illegal.ply, illegal.uci.clone());
        if self.broken_length.is_some() {
            let (start_fen, moves) = (game.start.fen(), state.moves.join(" "));
            out.push(Action::Alert(Trouble::IllegalMoveAgain { uci, ply, start_fen, moves }));
            return self.leave(now, out);
        }
        self.broken_length = Some(state.moves.len());
        out.push(Action::Alert(Trouble::IllegalMove { uci, ply }));
        self.reopen(out);
    }

    fn reopen(&mut self, out: &mut Vec<Action>) {
        self.stop_search(out);
        self.step = Step::AwaitingFull;
        out.push(Action::Send(Command::Reopen));
    }

    fn run_timers(&mut self, now: Instant, out: &mut Vec<Action>) {
        match self.step {
            Step::Doubting { until } if until <= now => {
                self.plays_on = true;
                if let Some(outcome) = self.game.as_ref().and_then(|game| game.history.outcome()) {
                    let outcome = format!("{outcome:?}");
                    out.push(Action::Alert(Trouble::PlayingOn { outcome }));
                }
                self.think(now, out);
            }
            Step::Disputed { mv, until } if until <= now => {
                let ply = self.game.as_ref().map_or(0, Record::ply);
                out.push(Action::Alert(Trouble::MoveRefused { uci: mv.to_string(), ply }));
                self.reopen(out);
            }
            Step::Agreed { until } if until <= now => {
                self.step = Step::Idle;
                self.decide(now, out);
            }
            Step::Held { mv, is_thought, until } if until <= now => {
                self.play_and_narrate(mv, is_thought, now, out);
            }
            Step::Idle if self.is_their_turn() => {
                self.abort_if_due(now, out);
                self.claim_if_due(now, out);
            }
            Step::Leaving { .. } => self.leave_again(LEAVE_PAUSE, now, out),
            _ => {}
        }
    }

    fn stop_search(&mut self, out: &mut Vec<Action>) {
        let was_pondering = self.pondering.take().is_some();
        if was_pondering || self.step == Step::Searching {
            out.push(Action::StopSearch);
        }
    }

    fn is_their_turn(&self) -> bool {
        self.game.as_ref().is_some_and(|game| game.history.position().turn() != game.full.our_color)
    }

    fn is_abortable(&self) -> bool {
        self.game
            .as_ref()
            .is_some_and(|game| game.full.is_abortable && game.ply() < ABORTABLE_PLIES)
    }

    /// The side whose clock runs: none before both have moved, and none after the end.
    fn running_clock(&self) -> Option<Color> {
        let game = self.game.as_ref()?;
        let is_over = matches!(self.step, Step::Finished(_));
        (game.ply() >= 2 && !is_over).then(|| game.history.position().turn())
    }
}

/// How many moves two games have in common from their start.
fn common_plies(one: &[Move], other: &[Move]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests;
