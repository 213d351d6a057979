//! What the bot writes in a game, and what it answers.
//!
//! A line from outside is one of a few fixed words, or nothing. No answer waits for anything, and
//! none changes the game, but for a minute more that an opponent may have before the first move.

use std::time::{Duration, Instant};

use tracing::debug;

use crate::{
    game::{
        Action, ChatCommand, ChatLine, Command, DrawOptions, MAX_CHAT_CHARS, Names, Room,
        chat::{ENGINE, Machine, VERSION},
        record::Record,
        session::{Session, Thought},
    },
    rules::Move,
};

/// What `!wait` adds to our patience, once.
const EXTRA_PATIENCE: Duration = Duration::from_mins(1);

impl Session {
    /// Greets both rooms.
    pub(super) fn greet(&self, out: &mut Vec<Action>) {
        for room in [Room::Player, Room::Spectator] {
            self.write(room, self.options.chat.room(room).greeting.fill(self.names()), out);
        }
    }

    /// Takes leave of both rooms.
    pub(super) fn take_leave(&self, out: &mut Vec<Action>) {
        for room in [Room::Player, Room::Spectator] {
            self.write(room, self.options.chat.room(room).goodbye.fill(self.names()), out);
        }
    }

    /// Answers a line, if it is a command that may be answered there.
    pub(super) fn on_chat(&mut self, line: &ChatLine, now: Instant, out: &mut Vec<Action>) {
        let ChatLine { room, from, text } = line;
        debug!(?room, from, text, "chat");
        let Names { opponent, me } = self.names();
        // Our own lines come back.
        if self.game.is_none() || from.eq_ignore_ascii_case(me) {
            return;
        }
        let Some(command) = ChatCommand::of_line(text) else { return };
        let is_opponent = from.eq_ignore_ascii_case(opponent);
        let chat = &self.options.chat;
        let is_allowed = |room: Room| chat.room(room).commands.contains(&command);
        if !is_allowed(*room) || (is_opponent && !is_allowed(Room::Player)) {
            return;
        }
        let most = chat.replies_per_minute;
        if !self.limiters[room.index()].allows(most, now) {
            debug!(?room, from, "too many questions");
            return;
        }
        let answer = self.answer(command, *room, is_opponent);
        self.write(*room, answer, out);
    }

    fn answer(&mut self, command: ChatCommand, room: Room, is_opponent: bool) -> String {
        match command {
            ChatCommand::Help => {
                let commands = &self.options.chat.room(room).commands;
                list("I answer", commands.iter().map(ChatCommand::to_string), " ")
            }
            ChatCommand::Name => {
                format!("{} plays atomic with {ENGINE} {VERSION}.", self.names().me)
            }
            ChatCommand::Engine => format!("{ENGINE} {VERSION}"),
            ChatCommand::Eval => self.evaluation(),
            ChatCommand::PrintEval => {
                self.narrates[room.index()] = true;
                "I tell my evaluation after each of my moves; !quiet ends that.".to_owned()
            }
            ChatCommand::Quiet => {
                self.narrates[room.index()] = false;
                "Quiet from now on.".to_owned()
            }
            ChatCommand::Pv => {
                let line = self.expected_line();
                if line.is_empty() {
                    "No line yet.".to_owned()
                } else {
                    list("I expect", line.into_iter(), " ")
                }
            }
            ChatCommand::Draw => draw_terms(&self.manners().draw),
            ChatCommand::Takeback => self.takeback_terms(),
            ChatCommand::Queue if self.waiting.is_empty() => "Nobody waits for a game.".to_owned(),
            ChatCommand::Queue => list("Waiting:", self.waiting.iter().cloned(), ", "),
            ChatCommand::Ping => match self.lag.round_trip() {
                Some(trip) => format!("{} ms to the server and back", trip.as_millis()),
                None => "Not measured yet.".to_owned(),
            },
            ChatCommand::Cpu => Machine::this().processor.clone(),
            ChatCommand::Ram => Machine::this().memory.clone(),
            ChatCommand::Wait => match &mut self.abort_at {
                Some(at) if is_opponent && !self.offers.has_waited => {
                    *at += EXTRA_PATIENCE;
                    self.offers.has_waited = true;
                    "I wait a minute longer for your first move.".to_owned()
                }
                _ => "There is nothing to wait for.".to_owned(),
            },
        }
    }

    /// Tells our evaluation after a move, where somebody asked for that.
    pub(super) fn narrate(&mut self, now: Instant, out: &mut Vec<Action>) {
        let most = self.options.chat.replies_per_minute;
        for room in [Room::Player, Room::Spectator] {
            if self.narrates[room.index()] && self.limiters[room.index()].allows(most, now) {
                self.write(room, self.evaluation(), out);
            }
        }
    }

    fn evaluation(&self) -> String {
        match &self.thought {
            Some(Thought { depth, evaluation, .. }) if *depth > 0 => {
                format!("{evaluation} for {} at depth {depth}", self.names().me)
            }
            _ => "No evaluation yet.".to_owned(),
        }
    }

    fn takeback_terms(&self) -> String {
        let rated = self.game.as_ref().is_some_and(|game| game.full.rated);
        let takeback = &self.manners().takeback;
        match takeback.most_in(rated) {
            0 if takeback.most > 0 => "I take back moves in casual games only.".to_owned(),
            0 => "I take back no moves.".to_owned(),
            most => format!(
                "I agree to {most} takeback{} in a game, and did so {} times.",
                if most == 1 { "" } else { "s" },
                self.offers.takebacks
            ),
        }
    }

    /// The moves from here on that our search expects, in SAN.
    fn expected_line(&self) -> Vec<String> {
        let (Some(game), Some(thought)) = (&self.game, &self.thought) else { return Vec::new() };
        let mut position = game.history.position().clone();
        let moves: &[Move] = if self.is_their_turn() {
            // The line begins with our last move, if that is what it was made for.
            let last = game.history.moves().last();
            thought.pv.split_first().filter(|(first, _)| Some(*first) == last).map_or(&[], |l| l.1)
        } else {
            &thought.pv
        };
        let mut line = Vec::new();
        for &mv in moves {
            if !position.is_legal(mv) {
                break;
            }
            line.push(position.san(mv));
            position = position.after(mv);
        }
        line
    }

    /// Writes to a room, if there is anything to write. The players of a tournament have none
    /// (section 6.4 of the protocol notes).
    fn write(&self, room: Room, text: String, out: &mut Vec<Action>) {
        let has_players_room = |game: &Record| game.full.tournament.is_none();
        let is_there = room == Room::Spectator || self.game.as_ref().is_some_and(has_players_room);
        if is_there && !text.is_empty() {
            out.push(Action::Send(Command::Say { room, text }));
        }
    }

    fn names(&self) -> Names<'_> {
        match &self.game {
            Some(game) => Names {
                opponent: &game.opponent().name,
                me: &game.full.players[game.full.our_color.index()].name,
            },
            None => Names { opponent: "", me: "" },
        }
    }
}

/// As many of these, in order, as one line of chat has room for.
fn list(begin: &str, items: impl Iterator<Item = String>, separator: &str) -> String {
    let mut text = begin.to_owned();
    for (index, item) in items.enumerate() {
        let separator = if index == 0 { " " } else { separator };
        if text.chars().count() + separator.len() + item.chars().count() > MAX_CHAT_CHARS {
            break;
        }
        text.push_str(separator);
        text.push_str(&item);
    }
    text
}

fn draw_terms(draw: &DrawOptions) -> String {
    let pawns = |centipawns: i32| f64::from(centipawns) / 100.0;
    let accepts = draw.accept.then(|| {
        format!("I accept a draw if my evaluation is {:+.2} or less", pawns(draw.accept_at_most_cp))
    });
    let offers =
        draw.offer.then(|| format!("offer one within {:.2} of zero", pawns(draw.offer_within_cp)));
    let from = format!("from move {} on.", draw.when.from_move);
    match (accepts, offers) {
        (Some(accepts), Some(offers)) => format!("{accepts}, and {offers}, {from}"),
        (Some(accepts), None) => format!("{accepts}, {from} I offer none."),
        (None, Some(offers)) => format!("I {offers}, {from} I accept none."),
        (None, None) => "I neither accept nor offer draws.".to_owned(),
    }
}
