//! One game on FICS: the server's boards and offers become a session's events, and its commands
//! become lines. Pure; the connection is shared with everything else and belongs to the client.
//!
//! The moves are our own replay, compared with each board. Where they differ the board is right: both
//! are logged, and the game goes on from there as if it had begun there.

use std::time::{Duration, Instant};

use tracing::{debug, error, info, warn};

use crate::{
    game::{
        Command, EndReason, Event, GameFull, GameState, LostReason, Player, Room, Status,
        TimeControl,
    },
    platform::{
        ChallengeClock,
        fics::{
            client::GameTerms,
            ending::GameEnd,
            line::{Channel, GameBegins, MoveRefusal, Said},
            offer::{Offer, OfferKind, Rating},
            rules,
            style12::Board,
        },
    },
    rules::{Color, DrawReason, History, Move, Outcome, Position},
};

/// How long the board that confirms a move may take before it is asked for.
const ECHO_LIMIT: Duration = Duration::from_secs(10);
/// The opponent's clock must have been empty for so long before the flag is claimed, and so often at
/// most.
const FLAG_GRACE: Duration = Duration::from_secs(2);
const FLAG_PAUSE: Duration = Duration::from_secs(5);
/// Before so many half-moves a game may be called off by either side.
const ABORTABLE_PLIES: usize = 2;
/// Our last move and the answer to it: who wants more back than this is refused, since the session
/// counts takebacks, not their moves.
const LONGEST_TAKEBACK: u32 = 2;

/// What comes of something that happened in a game.
#[derive(Debug, Default, PartialEq)]
pub struct Effects {
    /// For the session, in order.
    pub events: Vec<Event>,
    /// For the server, in order.
    pub lines: Vec<String>,
    /// How long a move of ours took to come back.
    pub round_trip: Option<Duration>,
}

/// What we agree to when the opponent offers it in a game that has begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreements {
    /// To call it off.
    pub abort: bool,
    /// To go on another day.
    pub adjourn: bool,
}

/// A game that we play.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Table {
    agrees: Agreements,
    number: u32,
    us: Color,
    players: [Player; 2],
    rated: bool,
    /// Where our replay begins: not at the start after a jump, or when the game goes on.
    history: History,
    /// The number of half-moves before that.
    base_ply: usize,
    board: Board,
    /// When the board came.
    board_at: Instant,
    /// The opponent's open offers, by their indexes.
    draw_offer: Option<u32>,
    takeback_offer: Option<u32>,
    pending: Option<Pending>,
    /// The session wants to be told everything again.
    wants_full: bool,
    /// When the board was asked for that has not come.
    asked_at: Option<Instant>,
    /// The server denied that there is a game: once more is believed.
    is_denied: bool,
    /// The server's board is one that our rules cannot play from.
    is_unplayable: bool,
    flag_claimed_at: Option<Instant>,
}

/// A move of ours that no board has confirmed yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pending {
    ply: usize,
    mv: Move,
    offer_draw: bool,
    sent_at: Instant,
    /// Whether the board was asked for since.
    is_asked: bool,
    /// Only moves that were sent once tell how long the way is.
    is_first_try: bool,
}

impl Table {
    /// A game whose first board this is, with what was said of it before. `None` if we do not play it,
    /// or our rules cannot play from there. The session gets the whole game. If it does not begin here,
    /// its moves are asked for.
    pub fn new(
        begins: &GameBegins,
        ratings: [Rating; 2],
        computers: [bool; 2],
        board: &Board,
        agrees: Agreements,
        at: Instant,
    ) -> Option<(Self, Effects)> {
        let us = board.our_color()?;
        let start = rules::position(board)
            .inspect_err(|error| error!(%error, ?board, "a game begins from where we cannot play"))
            .ok()?;
        let player = |color: Color| Player {
            id: Some(board.players[color.index()].to_lowercase()),
            name: board.players[color.index()].clone(),
            title: computers[color.index()].then(|| "BOT".to_owned()),
            rating: ratings[color.index()].value,
            is_bot: computers[color.index()],
        };
        let mut table = Self {
            agrees,
            number: board.game,
            us,
            players: [player(Color::White), player(Color::Black)],
            rated: begins.rated,
            history: History::new(start),
            base_ply: board.ply(),
            board: board.clone(),
            board_at: at,
            draw_offer: None,
            takeback_offer: None,
            pending: None,
            wants_full: false,
            asked_at: None,
            is_denied: false,
            is_unplayable: false,
            flag_claimed_at: None,
        };
        let mut effects = Effects::default();
        effects.events.push(table.full());
        table.ask_for_moves(&mut effects);
        Some((table, effects))
    }

    /// The server's number of the game.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The opponent's name.
    pub fn opponent(&self) -> &str {
        &self.players[(!self.us).index()].name
    }

    /// Our rating before the game, if it is known.
    pub fn our_rating(&self) -> Option<u32> {
        self.players[self.us.index()].rating
    }

    /// What does not change in it.
    pub fn terms(&self) -> GameTerms {
        let seconds = |time: Duration| u32::try_from(time.as_secs()).unwrap_or(u32::MAX);
        let [initial_s, increment_s] = [self.board.initial, self.board.increment].map(seconds);
        let clock = ChallengeClock { initial_s, increment_s };
        let is_timed = (initial_s, increment_s) != (0, 0);
        GameTerms { our_color: self.us, rated: self.rated, clock: is_timed.then_some(clock) }
    }

    /// What would be said of it if it went on after a break.
    pub fn resumed(&self) -> GameBegins {
        GameBegins {
            game: self.number,
            players: self.players.each_ref().map(|player| player.name.clone()),
            is_resumed: true,
            rated: self.rated,
            variant: "atomic".to_owned(),
        }
    }

    /// How many half-moves the game has.
    fn ply(&self) -> usize {
        self.base_ply + self.history.moves().len()
    }

    /// Takes in a board of this game.
    pub fn on_board(&mut self, board: &Board, at: Instant) -> Effects {
        let mut effects = Effects::default();
        self.is_denied = false;
        self.asked_at = None;
        self.board_at = at;
        let is_known = self.follow(board);
        self.board = board.clone();
        if !is_known && !self.rebuild(&mut effects, at) {
            return effects;
        }
        self.is_unplayable = false;
        self.settle_move(at, &mut effects);
        if is_known {
            let event = if std::mem::take(&mut self.wants_full) {
                self.full()
            } else {
                Event::State(self.state())
            };
            effects.events.insert(0, event);
        }
        effects
    }

    /// Plays on our own board what the server's shows. False if they cannot be brought together.
    fn follow(&mut self, board: &Board) -> bool {
        let (known, shown) = (self.ply(), board.ply());
        if shown == known + 1
            && let Some(last) = board.last_move
        {
            let uci = last.uci(!board.turn);
            let mut next = self.history.clone();
            let is_legal = next.play_uci(&uci).is_ok();
            if is_legal && rules::is_shown_by(next.position(), board) {
                self.history = next;
                return true;
            }
            warn!(
                uci,
                is_legal,
                ours = next.position().fen(),
                theirs = board.placement,
                "the server's board is not ours after this move, taking the server's"
            );
            return false;
        }
        if shown <= known && shown >= self.base_ply {
            let mut earlier = History::new(self.history.start().clone());
            let moves = &self.history.moves()[..shown - self.base_ply];
            let is_replayed = moves.iter().all(|&mv| earlier.play(mv).is_ok());
            if is_replayed && rules::is_shown_by(earlier.position(), board) {
                if shown < known {
                    info!(from = known, to = shown, "moves were taken back");
                }
                self.history = earlier;
                return true;
            }
        }
        info!(known, shown, "the game has jumped, going on from the server's board");
        false
    }

    /// Goes on from the server's board. False if that is not possible: then it is read once more, and
    /// after that the game waits for a board that our rules know. It is not given up for that.
    fn rebuild(&mut self, effects: &mut Effects, now: Instant) -> bool {
        match rules::position(&self.board) {
            Ok(start) => {
                self.history = History::new(start);
                self.base_ply = self.board.ply();
                self.wants_full = false;
                effects.events.push(self.full());
                self.ask_for_moves(effects);
                true
            }
            Err(error) => {
                error!(%error, board = ?self.board, "our rules cannot play from the server's board");
                self.pending = None;
                if !std::mem::replace(&mut self.is_unplayable, true) {
                    self.ask(effects, now);
                }
                false
            }
        }
    }

    /// Asks for the board.
    fn ask(&mut self, effects: &mut Effects, now: Instant) {
        self.asked_at = Some(now);
        effects.lines.push("refresh".to_owned());
    }

    /// Asks for the moves before our replay begins, without which repetition is not seen.
    fn ask_for_moves(&mut self, effects: &mut Effects) {
        if self.base_ply > 0 {
            effects.lines.push("moves".to_owned());
        }
    }

    /// Takes in all moves of the game, in SAN: if they lead to where our replay begins, it begins at
    /// the start of the game from now on.
    pub fn on_move_list(&mut self, moves: &[String]) -> Effects {
        let mut effects = Effects::default();
        if self.base_ply == 0 {
            return effects;
        }
        let Some(history) = self.history_of(moves) else {
            warn!(
                moves = moves.len(),
                base_ply = self.base_ply,
                "the list of moves does not lead to the board, so that repetitions before are not seen"
            );
            return effects;
        };
        info!(plies = history.moves().len(), "the moves of the game so far are known");
        self.history = history;
        self.base_ply = 0;
        effects.events.push(self.full());
        effects
    }

    fn history_of(&self, moves: &[String]) -> Option<History> {
        let mut history = History::default();
        for san in moves.get(..self.base_ply)? {
            let mv = history.position().parse_san(san).ok()?;
            history.play(mv).ok()?;
        }
        let (listed, shown) = (history.position().fen(), self.history.start().fen());
        let is_same = listed.split(' ').take(2).eq(shown.split(' ').take(2));
        let later = self.history.moves().iter();
        (is_same && later.copied().all(|mv| history.play(mv).is_ok())).then_some(history)
    }

    /// Learns from the board whether our move has arrived.
    fn settle_move(&mut self, at: Instant, effects: &mut Effects) {
        let Some(pending) = self.pending else { return };
        let ply = self.ply();
        if ply > pending.ply {
            if pending.is_first_try && ply == pending.ply + 1 {
                effects.round_trip = Some(at.saturating_duration_since(pending.sent_at));
            }
            self.pending = None;
        } else if ply < pending.ply || !self.history.position().is_legal(pending.mv) {
            // Moves were taken back meanwhile.
            self.pending = None;
        } else if pending.is_asked {
            info!(ply, "our move is missing from the game, sending it again");
            self.pending =
                Some(Pending { sent_at: at, is_asked: false, is_first_try: false, ..pending });
            effects.lines.extend(move_lines(pending.mv, pending.offer_draw));
        }
    }

    /// Carries out what the session wants.
    pub fn on_command(&mut self, command: &Command, now: Instant) -> Effects {
        let mut effects = Effects::default();
        let lines = &mut effects.lines;
        match command {
            Command::Play { ply, .. }
                if *ply != self.history.moves().len() || self.is_unplayable =>
            {
                debug!(ply, "dropped a move for a position that is gone");
            }
            Command::Play { mv, offer_draw, .. } => {
                self.pending = Some(Pending {
                    ply: self.ply(),
                    mv: *mv,
                    offer_draw: *offer_draw,
                    sent_at: now,
                    is_asked: false,
                    is_first_try: true,
                });
                match self.draw_offer {
                    // The move behind it is for the case that the offer has just been withdrawn.
                    Some(index) if *offer_draw => {
                        lines.push(format!("accept {index}"));
                        lines.extend(move_lines(*mv, false));
                    }
                    _ => lines.extend(move_lines(*mv, *offer_draw)),
                }
            }
            Command::AcceptDraw => {
                lines.extend(self.draw_offer.map(|index| format!("accept {index}")));
            }
            Command::DeclineDraw => {
                lines.extend(self.draw_offer.take().map(|index| format!("decline {index}")));
            }
            Command::AnswerTakeback(agrees) => {
                let word = if *agrees { "accept" } else { "decline" };
                lines.extend(self.takeback_offer.take().map(|index| format!("{word} {index}")));
            }
            Command::ClaimVictory => lines.push("flag".to_owned()),
            // Here it claims what repetition and fifty moves give; else it is an offer.
            Command::ClaimDraw => lines.push("draw".to_owned()),
            Command::Resign => lines.push("resign".to_owned()),
            Command::Abort => lines.push("abort".to_owned()),
            Command::Say { room: Room::Player, text } => lines.push(format!("say {text}")),
            Command::Say { room: Room::Spectator, text } => lines.push(format!("whisper {text}")),
            Command::Reopen => {
                self.wants_full = true;
                self.ask(&mut effects, now);
            }
        }
        effects
    }

    /// The opponent offers something. What the session knows nothing of is answered here.
    pub fn on_offer(&mut self, offer: &Offer) -> Effects {
        let mut effects = Effects::default();
        match offer.kind {
            OfferKind::Draw => self.draw_offer = Some(offer.index),
            OfferKind::Takeback(1..=LONGEST_TAKEBACK) => self.takeback_offer = Some(offer.index),
            OfferKind::Match(_) => return effects,
            // Why nobody changes sides or pauses is in section 4 of the FICS notes.
            OfferKind::Abort
            | OfferKind::Adjourn
            | OfferKind::Takeback(_)
            | OfferKind::Other(_) => {
                let word = if self.agrees_to(&offer.kind) { "accept" } else { "decline" };
                effects.lines.push(format!("{word} {}", offer.index));
                return effects;
            }
        }
        effects.events.push(Event::State(self.state()));
        effects
    }

    fn agrees_to(&self, kind: &OfferKind) -> bool {
        match kind {
            OfferKind::Abort => self.agrees.abort || self.ply() < ABORTABLE_PLIES,
            OfferKind::Adjourn => self.agrees.adjourn,
            _ => false,
        }
    }

    /// Offers are gone.
    pub fn on_offers_gone(&mut self, indexes: &[u32]) -> Effects {
        let is_gone = |offer: &Option<u32>| offer.is_some_and(|index| indexes.contains(&index));
        let (draw, takeback) = (is_gone(&self.draw_offer), is_gone(&self.takeback_offer));
        let mut effects = Effects::default();
        if draw || takeback {
            self.draw_offer = self.draw_offer.filter(|_| !draw);
            self.takeback_offer = self.takeback_offer.filter(|_| !takeback);
            effects.events.push(Event::State(self.state()));
        }
        effects
    }

    /// The server does not know what we said. If that was our move, there is no game: so some say it.
    pub fn on_unknown_command(&mut self, word: &str, now: Instant) -> Effects {
        let is_move = self.pending.is_some_and(|pending| rules::move_text(pending.mv) == word);
        if is_move { self.on_refusal(MoveRefusal::NoGame, now) } else { Effects::default() }
    }

    /// The server did not take a move.
    pub fn on_refusal(&mut self, refusal: MoveRefusal, now: Instant) -> Effects {
        let mut effects = Effects::default();
        match (refusal, self.pending) {
            (MoveRefusal::Illegal, Some(pending)) => {
                self.pending = None;
                error!(
                    mv = %pending.mv, fen = self.history.position().fen(),
                    "the server calls a move illegal that is legal by our rules"
                );
                let ply = pending.ply.saturating_sub(self.base_ply);
                effects.events.push(Event::MoveRefused { ply });
            }
            (MoveRefusal::NotOurTurn, Some(pending)) => {
                self.pending = Some(Pending { is_asked: true, is_first_try: false, ..pending });
                self.ask(&mut effects, now);
            }
            (MoveRefusal::NoGame, _) if self.is_denied => {
                effects.events.push(Event::Lost(LostReason::NotFound));
            }
            (MoveRefusal::NoGame, _) => {
                // It may have been said of the game before.
                self.is_denied = true;
                self.ask(&mut effects, now);
            }
            (_, None) => {}
        }
        effects
    }

    /// Somebody says something beside the game.
    pub fn on_chat(said: &Said) -> Option<Event> {
        let room = match said.channel {
            Channel::Say => Room::Player,
            Channel::Kibitz | Channel::Whisper => Room::Spectator,
            Channel::Tell | Channel::Public => return None,
        };
        let (from, text) = (said.from.name.clone(), said.text.clone());
        Some(Event::Chat(crate::game::ChatLine { room, from, text }))
    }

    /// The game is over, or broken off.
    pub fn on_end(&mut self, end: &GameEnd) -> Effects {
        let status = Status::Over(end.reason.clone());
        let state = GameState { status, winner: end.winner, ..self.state() };
        Effects { events: vec![Event::State(state)], ..Effects::default() }
    }

    /// The link is down: what becomes of the game is seen after the next login.
    pub fn on_link_lost(&self) -> Event {
        let status = Status::Over(EndReason::Lost(LostReason::Disconnected));
        Event::State(GameState { status, ..self.state() })
    }

    /// When something is to be done although nothing came.
    pub fn due(&self) -> Option<Instant> {
        let echo = self.pending.filter(|pending| !pending.is_asked);
        let echo = echo.map(|pending| pending.sent_at + ECHO_LIMIT);
        let answer = self.asked_at.map(|at| at + ECHO_LIMIT);
        echo.into_iter().chain(answer).chain(self.end_due()).chain(self.flag_due()).min()
    }

    /// When to look what has become of a game that is over by our rules, whose end nobody has told.
    fn end_due(&self) -> Option<Instant> {
        let outcome = self.history.position().outcome().filter(|_| self.asked_at.is_none())?;
        let is_end = matches!(outcome, Outcome::Win { .. } | Outcome::Draw(DrawReason::Stalemate));
        is_end.then(|| self.board_at + ECHO_LIMIT)
    }

    fn flag_due(&self) -> Option<Instant> {
        let is_running = self.board.is_clock_running && self.board.turn != self.us;
        let is_timed = !(self.board.initial.is_zero() && self.board.increment.is_zero());
        let empty_at = self.board_at + self.board.remaining[(!self.us).index()];
        let again = self.flag_claimed_at.map(|at| at + FLAG_PAUSE);
        (is_running && is_timed).then(|| (empty_at + FLAG_GRACE).max(again.unwrap_or(empty_at)))
    }

    /// Does what is due.
    pub fn on_due(&mut self, now: Instant) -> Effects {
        let mut effects = Effects::default();
        if let Some(pending) = &mut self.pending
            && !pending.is_asked
            && now >= pending.sent_at + ECHO_LIMIT
        {
            warn!(mv = %pending.mv, "no board confirms our move, asking for it");
            pending.is_asked = true;
            self.ask(&mut effects, now);
        }
        if self.end_due().is_some_and(|due| now >= due) {
            self.ask(&mut effects, now);
        }
        if self.asked_at.is_some_and(|at| now >= at + ECHO_LIMIT) {
            warn!("the server does not show the board of our game, giving it up");
            self.asked_at = None;
            effects.events.push(Event::Lost(LostReason::NotFound));
            return effects;
        }
        if self.flag_due().is_some_and(|due| now >= due) {
            self.flag_claimed_at = Some(now);
            effects.lines.push("flag".to_owned());
        }
        effects
    }

    fn full(&self) -> Event {
        let is_from_start =
            self.base_ply == 0 && self.history.start().key() == Position::initial().key();
        let initial = self.board.initial;
        let increment = self.board.increment;
        let is_timed = !(initial.is_zero() && increment.is_zero());
        Event::Full(Box::new(GameFull {
            our_color: self.us,
            players: self.players.clone(),
            initial_fen: (!is_from_start).then(|| self.history.start().fen()),
            time_control: if is_timed {
                TimeControl::Clock { initial, increment }
            } else {
                TimeControl::Unlimited
            },
            rated: self.rated,
            tournament: None,
            is_abortable: self.base_ply == 0,
            draws_are_claimed: rules::DRAWS_ARE_CLAIMED,
            state: self.state(),
        }))
    }

    fn state(&self) -> GameState {
        let mut state = GameState {
            moves: self.history.moves().iter().map(ToString::to_string).collect(),
            remaining: self.board.remaining,
            increment: [self.board.increment; 2],
            status: Status::Running,
            winner: None,
            draw_offer: [false; 2],
            takeback_offer: [false; 2],
            expiration: None,
        };
        if self.board.initial.is_zero() && self.board.increment.is_zero() {
            // No limit of time: the clocks stand at nothing.
            state.remaining = [Duration::from_hours(24); 2];
        }
        let them = (!self.us).index();
        state.draw_offer[them] = self.draw_offer.is_some();
        state.takeback_offer[them] = self.takeback_offer.is_some();
        state
    }
}

/// A move, and behind it the wish for a draw: on the server it claims a draw if there is one to claim,
/// and else offers one. Both go out together, so that nothing comes between them.
fn move_lines(mv: Move, with_draw: bool) -> impl Iterator<Item = String> {
    let draw = with_draw.then(|| "draw".to_owned());
    std::iter::once(rules::move_text(mv)).chain(draw)
}

#[cfg(test)]
mod tests;
