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
    platform::fics::{
        ending::GameEnd,
        line::{Channel, GameBegins, MoveRefusal, Said},
        offer::{Offer, OfferKind, Rating},
        rules,
        style12::Board,
    },
    rules::{Color, History, Move, Position},
};

/// How long the board that confirms a move may take before it is asked for.
const ECHO_LIMIT: Duration = Duration::from_secs(10);
/// The opponent's clock must have been empty for so long before the flag is claimed, and so often at
/// most.
const FLAG_GRACE: Duration = Duration::from_secs(2);
const FLAG_PAUSE: Duration = Duration::from_secs(5);
/// Before so many half-moves a game may be called off by either side.
const ABORTABLE_PLIES: usize = 2;

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

/// A game that we play.
#[derive(Debug)]
pub struct Table {
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
    /// The server denied that there is a game: once more is believed.
    is_denied: bool,
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
    /// or our rules cannot play from there. The session gets the whole game.
    pub fn new(
        begins: &GameBegins,
        ratings: [Rating; 2],
        computers: [bool; 2],
        board: &Board,
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
        let table = Self {
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
            is_denied: false,
            flag_claimed_at: None,
        };
        let mut effects = Effects::default();
        effects.events.push(table.full());
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

    /// How many half-moves the game has.
    fn ply(&self) -> usize {
        self.base_ply + self.history.moves().len()
    }

    /// Takes in a board of this game.
    pub fn on_board(&mut self, board: &Board, at: Instant) -> Effects {
        let mut effects = Effects::default();
        self.is_denied = false;
        self.board_at = at;
        let is_known = self.follow(board);
        self.board = board.clone();
        if !is_known && !self.rebuild(&mut effects) {
            return effects;
        }
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

    /// Goes on from the server's board. False if that is not possible.
    fn rebuild(&mut self, effects: &mut Effects) -> bool {
        match rules::position(&self.board) {
            Ok(start) => {
                self.history = History::new(start);
                self.base_ply = self.board.ply();
                self.wants_full = false;
                effects.events.push(self.full());
                true
            }
            Err(error) => {
                error!(%error, board = ?self.board, "our rules cannot play from the server's board");
                effects.lines.push("resign".to_owned());
                effects.events.push(Event::Lost(LostReason::Refused));
                false
            }
        }
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
            Command::Play { ply, .. } if *ply != self.history.moves().len() => {
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
                lines.push("refresh".to_owned());
            }
        }
        effects
    }

    /// The opponent offers something. What the session knows nothing of is answered here.
    pub fn on_offer(&mut self, offer: &Offer) -> Effects {
        let mut effects = Effects::default();
        match offer.kind {
            OfferKind::Draw => self.draw_offer = Some(offer.index),
            OfferKind::Takeback(_) => self.takeback_offer = Some(offer.index),
            OfferKind::Match(_) => return effects,
            OfferKind::Abort if self.ply() < ABORTABLE_PLIES => {
                effects.lines.push(format!("accept {}", offer.index));
                return effects;
            }
            // A game that has begun is played to its end, here and now.
            OfferKind::Abort | OfferKind::Adjourn | OfferKind::Other(_) => {
                effects.lines.push(format!("decline {}", offer.index));
                return effects;
            }
        }
        effects.events.push(Event::State(self.state()));
        effects
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

    /// The server did not take a move.
    pub fn on_refusal(&mut self, refusal: MoveRefusal) -> Effects {
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
                effects.lines.push("refresh".to_owned());
            }
            (MoveRefusal::NoGame, _) if self.is_denied => {
                effects.events.push(Event::Lost(LostReason::NotFound));
            }
            (MoveRefusal::NoGame, _) => {
                // It may have been said of the game before.
                self.is_denied = true;
                effects.lines.push("refresh".to_owned());
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
        echo.into_iter().chain(self.flag_due()).min()
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
            effects.lines.push("refresh".to_owned());
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
mod tests {
    use super::*;
    use crate::platform::fics::offer::OfferKind;

    const US: &str = "AtomBot";

    /// The board after these moves, as the server shows it to us.
    fn board(us: Color, moves: &str) -> Board {
        let mut history = History::default();
        for uci in moves.split_whitespace() {
            history.play_uci(uci).unwrap();
        }
        board_of(us, history.position(), moves.split_whitespace().count(), moves)
    }

    fn board_of(us: Color, position: &Position, ply: usize, moves: &str) -> Board {
        let fen = position.fen();
        let ranks: Vec<String> = fen
            .split(' ')
            .next()
            .unwrap()
            .split('/')
            .map(|rank| {
                let spread = |letter: char| match letter.to_digit(10) {
                    Some(gap) => "-".repeat(gap as usize),
                    None => letter.to_string(),
                };
                rank.chars().map(spread).collect()
            })
            .collect();
        let turn = position.turn();
        let last = moves
            .split_whitespace()
            .last()
            .map_or("none".to_owned(), |uci| format!("P/{}-{}", &uci[..2], &uci[2..4]));
        let (white, black) = if us == Color::White { (US, "Alice") } else { ("Alice", US) };
        let line = format!(
            "<12> {} {} -1 1 1 1 1 {} 7 {white} {black} {} 3 2 39 39 170000 160000 {} {last} \
             (0:01.000) x 0 1 0",
            ranks.join(" "),
            if turn == Color::White { 'W' } else { 'B' },
            position.halfmove_clock(),
            if turn == us { 1 } else { -1 },
            ply / 2 + 1,
        );
        Board::parse(&line).unwrap()
    }

    fn table_at(us: Color, moves: &str) -> (Table, Effects) {
        let begins = GameBegins {
            game: 7,
            players: [String::new(), String::new()],
            is_resumed: false,
            rated: true,
            variant: "atomic".to_owned(),
        };
        let ratings = [Rating { value: Some(1500), ..Rating::default() }; 2];
        let now = Instant::now();
        Table::new(&begins, ratings, [false; 2], &board(us, moves), now).unwrap()
    }

    fn table(us: Color) -> Table {
        table_at(us, "").0
    }

    fn play(table: &mut Table, ply: usize, uci: &str, offer_draw: bool) -> Effects {
        let mv = table.history.position().parse_uci(uci).unwrap();
        table.on_command(&Command::Play { ply, mv, offer_draw }, Instant::now())
    }

    fn show(table: &mut Table, us: Color, moves: &str) -> Effects {
        table.on_board(&board(us, moves), Instant::now())
    }

    fn moves_of(effects: &Effects) -> Option<String> {
        effects.events.iter().find_map(|event| match event {
            Event::State(state) => Some(state.moves.join(" ")),
            Event::Full(full) => Some(format!("full {}", full.state.moves.join(" "))),
            _ => None,
        })
    }

    fn offer(kind: OfferKind) -> Offer {
        Offer { index: 9, with: "Alice".to_owned(), kind }
    }

    #[test]
    fn a_game_begins_with_everything_that_is_known() {
        let (table, effects) = table_at(Color::Black, "");
        let [Event::Full(full)] = &effects.events[..] else { panic!("{effects:?}") };
        assert_eq!(full.our_color, Color::Black);
        assert_eq!((full.initial_fen.as_deref(), full.is_abortable), (None, true));
        assert_eq!(full.players[0].id.as_deref(), Some("alice"));
        let (initial, increment) = (Duration::from_mins(3), Duration::from_secs(2));
        assert_eq!(full.time_control, TimeControl::Clock { initial, increment });
        assert_eq!(full.state.remaining, [170, 160].map(Duration::from_secs));
        assert!(full.rated && full.draws_are_claimed);
        assert_eq!(table.opponent(), "Alice");
    }

    #[test]
    fn boards_become_moves_and_the_same_board_only_clocks() {
        let mut table = table(Color::White);
        let effects = play(&mut table, 0, "e2e4", false);
        assert_eq!(effects.lines, ["e2e4"]);
        let effects = show(&mut table, Color::White, "e2e4");
        assert_eq!(moves_of(&effects).unwrap(), "e2e4");
        assert!(effects.round_trip.is_some());
        assert_eq!(moves_of(&show(&mut table, Color::White, "e2e4 e7e5")).unwrap(), "e2e4 e7e5");
        let effects = show(&mut table, Color::White, "e2e4 e7e5");
        assert_eq!((moves_of(&effects).unwrap().as_str(), effects.round_trip), ("e2e4 e7e5", None));
    }

    #[test]
    fn moves_that_are_taken_back_are_gone() {
        let mut table = table(Color::White);
        for moves in ["e2e4", "e2e4 e7e5", "e2e4 e7e5 g1f3"] {
            show(&mut table, Color::White, moves);
        }
        assert_eq!(moves_of(&show(&mut table, Color::White, "e2e4")).unwrap(), "e2e4");
        assert_eq!(moves_of(&show(&mut table, Color::White, "e2e4 d7d6")).unwrap(), "e2e4 d7d6");
    }

    #[test]
    fn a_board_that_is_not_ours_is_taken_all_the_same() {
        let mut table = table(Color::White);
        show(&mut table, Color::White, "e2e4");
        // The line with the answer was lost, and White has moved again.
        let effects = show(&mut table, Color::White, "e2e4 e7e5 g1f3 b8c6");
        assert_eq!(moves_of(&effects).unwrap(), "full ");
        let [Event::Full(full)] = &effects.events[..] else { panic!("{effects:?}") };
        assert!(full.initial_fen.as_deref().unwrap().starts_with("r1bqkbnr/pppp1ppp/2n5"));
        assert!(!full.is_abortable);
        // From there it goes on as usual, and plies are counted from there.
        assert_eq!(play(&mut table, 0, "d2d3", false).lines, ["d2d3"]);
        let effects = show(&mut table, Color::White, "e2e4 e7e5 g1f3 b8c6 d2d3");
        assert_eq!(moves_of(&effects).unwrap(), "d2d3");
        // A move that our rules do not know: a rook on d3 out of nothing.
        let strange = Position::from_fen("4k3/p7/8/8/8/3R4/8/4K3 w - - 0 4").unwrap();
        let effects = table.on_board(&board_of(Color::White, &strange, 6, "a2a3"), Instant::now());
        assert_eq!(moves_of(&effects).unwrap(), "full ");
    }

    #[test]
    fn a_move_for_another_position_is_dropped() {
        let mut table = table(Color::White);
        show(&mut table, Color::White, "e2e4");
        let mv = Position::initial().parse_uci("d2d4").unwrap();
        let command = Command::Play { ply: 0, mv, offer_draw: false };
        assert_eq!(table.on_command(&command, Instant::now()), Effects::default());
    }

    #[test]
    fn draws_are_offered_and_accepted_with_moves() {
        let mut table = table(Color::White);
        assert_eq!(play(&mut table, 0, "e2e4", true).lines, ["e2e4", "draw"]);
        show(&mut table, Color::White, "e2e4");
        show(&mut table, Color::White, "e2e4 e7e5");
        let effects = table.on_offer(&offer(OfferKind::Draw));
        let [Event::State(state)] = &effects.events[..] else { panic!("{effects:?}") };
        assert_eq!(state.draw_offer, [false, true]);
        assert_eq!(play(&mut table, 2, "g1f3", true).lines, ["accept 9", "g1f3"]);
        assert_eq!(table.on_command(&Command::AcceptDraw, Instant::now()).lines, ["accept 9"]);
        assert!(table.on_offers_gone(&[8]).events.is_empty());
        let effects = table.on_offers_gone(&[8, 9]);
        let [Event::State(state)] = &effects.events[..] else { panic!("{effects:?}") };
        assert_eq!(state.draw_offer, [false, false]);
        assert!(table.on_command(&Command::AcceptDraw, Instant::now()).lines.is_empty());
    }

    #[test]
    fn takebacks_are_the_sessions_business_and_the_rest_is_answered_here() {
        let mut table = table(Color::White);
        assert_eq!(table.on_offer(&offer(OfferKind::Abort)).lines, ["accept 9"]);
        show(&mut table, Color::White, "e2e4");
        show(&mut table, Color::White, "e2e4 e7e5");
        for kind in [OfferKind::Abort, OfferKind::Adjourn, OfferKind::Other("switch".to_owned())] {
            assert_eq!(table.on_offer(&offer(kind)).lines, ["decline 9"]);
        }
        let effects = table.on_offer(&offer(OfferKind::Takeback(2)));
        let [Event::State(state)] = &effects.events[..] else { panic!("{effects:?}") };
        assert_eq!(state.takeback_offer, [false, true]);
        let answer = table.on_command(&Command::AnswerTakeback(false), Instant::now());
        assert_eq!(answer.lines, ["decline 9"]);
    }

    #[test]
    fn a_move_that_is_not_confirmed_is_asked_for_and_then_sent_again() {
        let mut table = table(Color::White);
        play(&mut table, 0, "e2e4", false);
        let due = table.due().unwrap();
        assert_eq!(table.on_due(due).lines, ["refresh"]);
        assert_eq!(table.due(), None);
        let effects = show(&mut table, Color::White, "");
        assert_eq!(effects.lines, ["e2e4"]);
        let effects = show(&mut table, Color::White, "e2e4");
        assert_eq!(effects.round_trip, None, "nobody knows which of the two came back");
        assert_eq!(table.pending, None);
    }

    #[test]
    fn refusals_are_told_or_looked_into() {
        let mut table = table(Color::White);
        play(&mut table, 0, "e2e4", false);
        let effects = table.on_refusal(MoveRefusal::Illegal);
        assert_eq!(effects.events, [Event::MoveRefused { ply: 0 }]);
        play(&mut table, 0, "d2d4", false);
        assert_eq!(table.on_refusal(MoveRefusal::NotOurTurn).lines, ["refresh"]);
        show(&mut table, Color::White, "d2d4");
        assert_eq!(table.on_refusal(MoveRefusal::NoGame).lines, ["refresh"]);
        let effects = table.on_refusal(MoveRefusal::NoGame);
        assert_eq!(effects.events, [Event::Lost(LostReason::NotFound)]);
        assert_eq!(table.on_refusal(MoveRefusal::NotOurTurn), Effects::default());
    }

    #[test]
    fn reopening_asks_for_the_board_and_tells_everything() {
        let mut table = table(Color::White);
        assert_eq!(table.on_command(&Command::Reopen, Instant::now()).lines, ["refresh"]);
        assert_eq!(moves_of(&show(&mut table, Color::White, "")).unwrap(), "full ");
        assert_eq!(moves_of(&show(&mut table, Color::White, "")).unwrap(), "");
    }

    #[test]
    fn the_flag_is_claimed_when_the_clock_has_been_empty_for_a_while() {
        let mut table = table(Color::White);
        show(&mut table, Color::White, "e2e4");
        let due = table.due().unwrap();
        assert_eq!(due, table.board_at + Duration::from_secs(160) + FLAG_GRACE);
        assert!(table.on_due(table.board_at).lines.is_empty());
        assert_eq!(table.on_due(due).lines, ["flag"]);
        assert_eq!(table.due(), Some(due + FLAG_PAUSE));
        show(&mut table, Color::White, "e2e4 e7e5");
        assert_eq!(table.due(), None, "our own turn");
    }

    #[test]
    fn ends_keep_their_reason_and_the_link_its_own() {
        let mut table = table(Color::White);
        let end = GameEnd {
            game: 7,
            players: [US.to_owned(), "Alice".to_owned()],
            reason: EndReason::VariantEnd,
            winner: Some(Color::White),
        };
        let effects = table.on_end(&end);
        let [Event::State(state)] = &effects.events[..] else { panic!("{effects:?}") };
        assert_eq!(state.status, Status::Over(EndReason::VariantEnd));
        assert_eq!(state.winner, Some(Color::White));
        let Event::State(state) = table.on_link_lost() else { panic!() };
        assert_eq!(state.status, Status::Over(EndReason::Lost(LostReason::Disconnected)));
    }

    #[test]
    fn commands_are_written_as_the_server_takes_them() {
        let mut table = table(Color::White);
        let now = Instant::now();
        for (command, line) in [
            (Command::Resign, "resign"),
            (Command::Abort, "abort"),
            (Command::ClaimDraw, "draw"),
            (Command::ClaimVictory, "flag"),
            (Command::Say { room: Room::Player, text: "gl".to_owned() }, "say gl"),
            (Command::Say { room: Room::Spectator, text: "gl".to_owned() }, "whisper gl"),
        ] {
            assert_eq!(table.on_command(&command, now).lines, [line]);
        }
    }
}
