//! What players type: moves, offers and their answers, settings, and talk.

use std::{fmt::Write as _, time::Instant};

use crate::{
    arbiter::{Ending, Termination},
    arena::ics::{
        game::{Result, Terms, Unplayed, is_move},
        outbox::End,
        state::{Kind, Offer, PROMPT, Seek, State},
    },
    rules::Color,
};

/// So many commands are remembered.
const MOST_COMMANDS: usize = 20_000;
const NOT_PLAYING: &str = "You are not playing a game.\n\r";
/// The interface variables that this server knows.
const VARIABLES: [&str; 14] = [
    "ms",
    "pendinfo",
    "gameinfo",
    "startpos",
    "movecase",
    "nohighlight",
    "atomic",
    "nowrap",
    "defprompt",
    "block",
    "lock",
    "seekinfo",
    "seekremove",
    "pin",
];

impl State {
    /// Carries out what a client has typed, and returns the answer with its prompt.
    pub(super) fn answer(
        &mut self,
        key: &str,
        line: &str,
        stamp_ms: Option<u64>,
        now: Instant,
    ) -> String {
        if self.commands.len() >= MOST_COMMANDS {
            self.commands.drain(..MOST_COMMANDS / 2);
        }
        self.commands.push((self.name(key), line.to_owned()));
        self.actor = Some((key.to_owned(), String::new()));
        self.carry_out(key, line.trim(), stamp_ms, now);
        let answer = self.actor.take().map(|(_, answer)| answer).unwrap_or_default();
        self.dress(key, &answer) + PROMPT
    }

    /// Carries out a command of anybody's, the players of the house included.
    pub(super) fn carry_out(&mut self, key: &str, line: &str, stamp_ms: Option<u64>, now: Instant) {
        let line = line.trim_start_matches('$');
        if line.is_empty() {
            return;
        }
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim();
        match word {
            "date" => self.tell(key, "Server time    - Mon Nov 30, 06:27 UTC 2026\n\r"),
            "iset" => self.set_variable(key, rest),
            "set" | "style" => self.set(key, rest),
            "match" => self.propose(key, rest),
            "resume" => self.propose(key, rest.split(' ').next().unwrap_or_default()),
            "rematch" => self.rematch(key),
            "accept" => self.accept(key, rest, now),
            "decline" => self.refuse(key, rest),
            "withdraw" => self.withdraw(key, rest),
            "seek" => self.seek(key, rest),
            "unseek" => {
                self.seeks.retain(|seek| seek.from != key);
                self.tell(key, "Your seeks have been removed.\n\r");
            }
            "play" => self.play_seek(key, rest),
            "draw" => self.draw(key, now),
            "abort" => self.abort(key, now),
            "adjourn" => self.ask(key, Kind::Adjourn, now),
            "takeback" => self.ask(key, Kind::Takeback(rest.parse().unwrap_or(1)), now),
            "resign" => self.resign(key, now),
            "flag" => self.claim_flag(key, now),
            "moves" => match self.game_of(key) {
                Some(index) => {
                    let text = self.games[index].move_list();
                    self.tell(key, &text);
                }
                None => self.tell(key, "You are not playing, examining, or observing a game.\n\r"),
            },
            "refresh" => match self.game_of(key) {
                Some(index) => {
                    let board = self.board_for(index, key, now);
                    self.tell(key, &format!("\n\r{board}"));
                }
                None => self.tell(key, NOT_PLAYING),
            },
            "stored" => self.list_stored(key),
            "finger" => self.finger(key, rest),
            "tell" | "t" => self.talk(key, rest),
            "say" => self.say(key, rest),
            "kibitz" => self.tell(key, "(kibitzed to 1 player)\n\r"),
            "quit" => {
                self.tell(key, "Logging you out.\n\r");
                if let Some(session) = self.players.get(key).and_then(|p| p.session.as_ref()) {
                    session.outbox.end(End::Closed);
                }
            }
            _ if is_move(line) => self.play(key, line, stamp_ms, now),
            _ => {
                self.counters.unknown_commands += 1;
                self.tell(key, &format!("{word}: Command not found.\n\r"));
            }
        }
    }

    fn set_variable(&mut self, key: &str, rest: &str) {
        let (name, value) = rest.split_once(' ').unwrap_or((rest, "1"));
        if !VARIABLES.contains(&name) {
            return self.tell(key, "No such interface variable.\n\r");
        }
        let is_set = value == "1";
        if let Some(session) = self.players.get_mut(key).and_then(|player| player.session.as_mut())
        {
            session.variables.insert(name.to_owned(), is_set);
        }
        self.tell(key, &format!("{name} {}.\n\r", if is_set { "set" } else { "unset" }));
    }

    fn set(&mut self, key: &str, rest: &str) {
        let (name, value) = rest.split_once(' ').unwrap_or((rest, ""));
        if let Some(player) = self.players.get_mut(key) {
            match (name, value.parse::<usize>()) {
                ("open", Ok(value)) => player.is_open = value == 1,
                ("width", Ok(value)) => {
                    if let Some(session) = &mut player.session {
                        session.width = value;
                    }
                }
                _ => {}
            }
        }
        let text = match name {
            "style" => format!("Style {value} set.\n\r"),
            "seek" => "You will not see seek ads.\n\r".to_owned(),
            name if name.parse::<u8>().is_ok() => format!("Note {name} set: {value}\n\r"),
            name => format!("{name} set to {value}.\n\r"),
        };
        self.tell(key, &text);
    }

    /// A challenge, or the wish to go on with an adjourned game.
    fn propose(&mut self, key: &str, rest: &str) {
        let mut words = rest.split_ascii_whitespace();
        let target = words.next().unwrap_or_default().to_lowercase();
        let words: Vec<&str> = words.collect();
        let Some(other) = self.players.get(&target).filter(|player| player.is_online()) else {
            return self.tell(key, &format!("No player named \"{target}\" is online.\n\r"));
        };
        let (name, is_computer) = (other.name.clone(), other.is_computer);
        let is_open = other.is_open && other.takes_atomic();
        if target == key {
            return self.tell(key, "You can't match yourself.\n\r");
        }
        if self.game_of(key).is_some() {
            return self.tell(key, "You can't challenge while you are playing a game.\n\r");
        }
        let is_adjourned = self.adjourned_with(key).contains(&target);
        if is_adjourned && !words.is_empty() {
            let text = format!(
                "You have an adjourned game with {name}.  You cannot start a new game until you \
                 finish it.\n\r"
            );
            return self.tell(key, &text);
        }
        if !is_open && !is_adjourned {
            return self.tell(key, &format!("{name} is not open to match requests.\n\r"));
        }
        if self.game_of(&target).is_some() {
            return self.tell(key, &format!("{name} is playing a game.\n\r"));
        }
        let Some(mut kind) = wish(&words) else {
            return self.tell(key, "Usage: match player [rated] [time] [increment] [type]\n\r");
        };
        if let Kind::Match { terms, is_adjourned: resumes, variant, color } = &mut kind {
            let either_is_guest =
                [key, &target].iter().any(|key| self.players.get(*key).is_some_and(|p| p.is_guest));
            terms.rated &= !either_is_guest;
            *resumes = is_adjourned;
            let game = self
                .adjourned
                .iter()
                .find(|game| game.color_of(key).is_some() && game.color_of(&target).is_some());
            if let Some(game) = game.filter(|_| is_adjourned) {
                (*terms, *color) = (game.terms, None);
                "atomic".clone_into(variant);
            }
        }
        let text = self.match_text(key, &target, &kind);
        self.tell(key, &format!("Issuing: {text}.\n\r"));
        if is_computer {
            self.tell(key, &format!("--** {name} is a computer **--\n\r"));
        }
        let own = self.players.get(key).filter(|player| player.is_computer);
        let note = own.map(|player| format!("--** {} is a computer **--\n\r", player.name));
        let text = format!(
            "Challenge: {text}.\n\r{}You can \"accept\" or \"decline\", or propose different \
             parameters.\n\r",
            note.unwrap_or_default()
        );
        self.tell(&target, &text);
        self.offer(key, &target, kind);
    }

    /// The last game once more, with colors changed.
    fn rematch(&mut self, key: &str) {
        let Some((other, terms, color)) = self.last.get(key).cloned() else {
            return self.tell(key, "You have no previous opponent.\n\r");
        };
        let Terms { minutes, increment_s, .. } = terms;
        let text =
            format!("{other} {minutes} {increment_s} {} {} atomic", terms.rated_text(), !color);
        self.propose(key, &text);
    }

    /// The offer that an `accept`, `decline` or `withdraw` means.
    fn meant(&self, rest: &str, is_mine: impl Fn(&Offer) -> bool) -> Option<Offer> {
        let mut mine = self.offers.iter().filter(|offer| is_mine(offer));
        let rest = rest.strip_prefix("t ").unwrap_or(rest);
        let found = match rest.parse::<u32>() {
            Ok(index) => mine.find(|offer| offer.index == index),
            Err(_) if rest.is_empty() => mine.next(),
            Err(_) => {
                mine.find(|offer| offer.kind.word() == rest || offer.from == rest.to_lowercase())
            }
        };
        found.cloned()
    }

    fn accept(&mut self, key: &str, rest: &str, now: Instant) {
        let Some(offer) = self.meant(rest, |offer| offer.to == key) else {
            return self.tell(key, "There are no offers to accept.\n\r");
        };
        if matches!(offer.kind, Kind::Match { .. })
            && [key, &offer.from].iter().any(|key| self.game_of(key).is_some())
        {
            return self.tell(key, "You are playing a game.\n\r");
        }
        let (us, them) = (self.name(key), self.name(&offer.from));
        let word = request(&offer.kind);
        let text = self.wording("You accept the", "Accepting the");
        self.tell(key, &format!("{text} {word} from {them}.\n\r"));
        let text = self.wording("the", "your");
        self.tell(&offer.from, &format!("{us} accepts {text} {word}.\n\r"));
        self.drop_offers(|other| other.index == offer.index);
        self.settle(&offer, now);
    }

    /// Does what both sides want.
    fn settle(&mut self, offer: &Offer, now: Instant) {
        let index = self.game_of(&offer.to);
        match (&offer.kind, index) {
            (Kind::Match { is_adjourned: true, .. }, _) => {
                self.resume_game(&offer.from, &offer.to, now);
            }
            (Kind::Match { terms, variant, color, .. }, _) => {
                if variant != "atomic" {
                    return self.tell(&offer.to, "This server plays atomic only.\n\r");
                }
                let color =
                    color.unwrap_or(if self.rng.bool() { Color::White } else { Color::Black });
                let [white, black] = match color {
                    Color::White => [&offer.from, &offer.to],
                    Color::Black => [&offer.to, &offer.from],
                };
                self.begin_game(white, black, *terms, now);
            }
            (Kind::Draw, Some(index)) => {
                let ending = Ending { winner: None, by: Termination::Agreement };
                let words = "Game drawn by mutual agreement".to_owned();
                self.end_game(index, &Result { words, ending }, now);
            }
            (Kind::Abort, Some(index)) => {
                self.abort_game(index, "Game aborted by mutual agreement".to_owned(), now);
            }
            (Kind::Adjourn, Some(index)) => {
                self.adjourn_game(index, "Game adjourned by mutual agreement", now);
            }
            (Kind::Takeback(plies), Some(index)) => {
                if self.games[index].take_back(*plies, now) {
                    self.show(index, now);
                }
            }
            (_, None) => {}
        }
    }

    fn refuse(&mut self, key: &str, rest: &str) {
        let Some(offer) = self.meant(rest, |offer| offer.to == key) else {
            return self.tell(key, "There are no offers to decline.\n\r");
        };
        let (us, them) = (self.name(key), self.name(&offer.from));
        let word = request(&offer.kind);
        let text = self.wording("You decline the", "Declining the");
        self.tell(key, &format!("{text} {word} from {them}.\n\r"));
        let text = self.wording("the", "your");
        self.tell(&offer.from, &format!("{us} declines {text} {word}.\n\r"));
        self.drop_offers(|other| other.index == offer.index);
    }

    fn withdraw(&mut self, key: &str, rest: &str) {
        let Some(offer) = self.meant(rest, |offer| offer.from == key) else {
            return self.tell(key, "There are no offers to withdraw.\n\r");
        };
        let (us, word) = (self.name(key), request(&offer.kind));
        self.tell(key, &format!("You withdraw the {word}.\n\r"));
        self.tell(&offer.to, &format!("{us} withdraws the {word}.\n\r"));
        self.drop_offers(|other| other.index == offer.index);
    }

    fn seek(&mut self, key: &str, rest: &str) {
        let words: Vec<&str> =
            rest.split_ascii_whitespace().filter(|word| !["m", "f"].contains(word)).collect();
        let Some(Kind::Match { mut terms, variant, .. }) = wish(&words) else {
            return self.tell(key, "Usage: seek [time] [increment] [rated] [type]\n\r");
        };
        terms.rated &= !self.players.get(key).is_some_and(|player| player.is_guest);
        let index = self.next_seek;
        self.next_seek += 1;
        self.seeks.retain(|seek| seek.from != key);
        self.seeks.push(Seek { index, from: key.to_owned(), terms, variant });
        let text = format!(
            "Your seek has been posted with index {index}.\n\r(0 players saw the seek.)\n\r"
        );
        self.tell(key, &text);
    }

    /// Answers a seek, which becomes an ordinary challenge.
    fn play_seek(&mut self, key: &str, rest: &str) {
        let index = rest.parse::<u32>().ok();
        let seek = self.seeks.iter().find(|seek| Some(seek.index) == index && seek.from != key);
        let Some(Seek { from, terms, variant, .. }) = seek.cloned() else {
            return self.tell(key, "That seek is not available.\n\r");
        };
        let text = format!(
            "{from} {} {} {} {variant}",
            terms.rated_text(),
            terms.minutes,
            terms.increment_s
        );
        self.propose(key, &text);
    }

    fn play(&mut self, key: &str, text: &str, stamp_ms: Option<u64>, now: Instant) {
        let is_client = self.players.get(key).is_some_and(|player| player.house.is_none());
        let Some(index) = self.game_of(key) else {
            self.counters.untimely_moves += u64::from(is_client);
            return self.tell(key, "You are not playing or examining a game.\n\r");
        };
        if self.options.flags_by_itself
            && self.games[index].is_out_of_time(self.games[index].turn(), now)
        {
            return self.flag(index, now);
        }
        let thought = self.thought(key, stamp_ms);
        let game = &mut self.games[index];
        let Some(color) = game.color_of(key) else { return };
        match game.play(color, text, thought, now) {
            Ok(()) => {}
            Err(Unplayed::NotYourTurn) => {
                self.counters.untimely_moves += u64::from(is_client);
                return self.tell(key, "It is not your move.\n\r");
            }
            Err(Unplayed::Illegal) => {
                self.counters.illegal_moves += u64::from(is_client);
                self.tell(key, &format!("Illegal move ({text}).\n\r"));
                let board = self.board_for(index, key, now);
                return self.tell(key, &format!("\n\r{board}"));
            }
        }
        // A move declines what the opponent has offered.
        self.drop_offers(|offer| offer.to == key && !matches!(offer.kind, Kind::Match { .. }));
        self.show(index, now);
        if let Some(result) = self.games[index].result() {
            self.end_game(index, &result, now);
        }
    }

    fn draw(&mut self, key: &str, now: Instant) {
        let Some(index) = self.game_of(key) else { return self.tell(key, NOT_PLAYING) };
        if let Some(result) = self.games[index].claim() {
            return self.end_game(index, &result, now);
        }
        self.ask(key, Kind::Draw, now);
    }

    fn abort(&mut self, key: &str, now: Instant) {
        let Some(index) = self.game_of(key) else { return self.tell(key, NOT_PLAYING) };
        if self.games[index].plies() < 2 {
            return self.abort_game(index, "Game aborted on move 1".to_owned(), now);
        }
        self.ask(key, Kind::Abort, now);
    }

    /// Offers something to the opponent, or accepts the same from them.
    fn ask(&mut self, key: &str, kind: Kind, now: Instant) {
        let Some(index) = self.game_of(key) else { return self.tell(key, NOT_PLAYING) };
        let game = &self.games[index];
        let Some(color) = game.color_of(key) else { return };
        let (other, number) = (game.seats[(!color).index()].key.clone(), game.number);
        if kind == Kind::Adjourn && game.seats.iter().any(|seat| seat.is_guest) {
            let text = "All players must be registered to adjourn a game.  Use \"abort\".\n\r";
            return self.tell(key, text);
        }
        if let Kind::Takeback(plies) = kind
            && plies > game.plies()
        {
            return self.tell(key, "There are not so many half moves in your game.\n\r");
        }
        if self
            .offers
            .iter()
            .any(|offer| offer.from == other && offer.to == key && offer.kind == kind)
        {
            return self.accept(key, kind.word(), now);
        }
        let name = self.name(key);
        let (sent, text) = match kind {
            Kind::Draw => ("Draw", format!("{name} offers you a draw.\n\r")),
            Kind::Abort => {
                let text = self.wording(
                    "would like to abort the game; type \"abort\" to accept.",
                    "requests to abort game",
                );
                ("Abort", format!("{name} {text}\n\r"))
            }
            Kind::Adjourn => {
                let text = format!("requests to adjourn game {number}.");
                let text = self
                    .wording("would like to adjourn the game; type \"adjourn\" to accept.", &text);
                ("Adjourn", format!("{name} {text}\n\r"))
            }
            Kind::Takeback(plies) => {
                ("Takeback", format!("{name} would like to take back {plies} half move(s).\n\r"))
            }
            Kind::Match { .. } => return,
        };
        self.tell(key, &format!("{sent} request sent.\n\r"));
        self.tell(&other, &text);
        self.offer(key, &other, kind);
    }

    fn resign(&mut self, key: &str, now: Instant) {
        let Some(index) = self.game_of(key) else { return self.tell(key, NOT_PLAYING) };
        let winner = self.games[index].color_of(key).map(|color| !color);
        let ending = Ending { winner, by: Termination::Resignation };
        let words = format!("{} resigns", self.name(key));
        self.end_game(index, &Result { words, ending }, now);
    }

    fn claim_flag(&mut self, key: &str, now: Instant) {
        let Some(index) = self.game_of(key) else { return self.tell(key, NOT_PLAYING) };
        let game = &self.games[index];
        let other = game.color_of(key).map(|color| !color);
        if other.is_some_and(|other| game.turn() == other && game.is_out_of_time(other, now)) {
            self.flag(index, now);
        } else {
            self.tell(key, "Your opponent is not out of time!\n\r");
        }
    }

    fn list_stored(&mut self, key: &str) {
        let others = self.adjourned_with(key);
        let mut text = format!("Stored games for {}:\n\r", self.name(key));
        for (index, other) in others.iter().enumerate() {
            let (name, online) = (self.name(other), if self.is_online(other) { 'Y' } else { 'N' });
            // Writing to a String cannot fail.
            let _ = write!(
                text,
                "{:2}: W {name:<15} {online} [ xr  3   0] 39-39 W7 A00\n\r",
                index + 1
            );
        }
        self.tell(key, &text);
    }

    fn finger(&mut self, key: &str, name: &str) {
        let Some(player) = self.players.get(&name.to_lowercase()) else {
            return self.tell(key, &format!("There is no player matching the name {name}.\n\r"));
        };
        let state = if player.is_online() {
            "On for: 1 min   Idle: 0 secs"
        } else {
            "Last disconnected: Mon Nov 30, 04:52 UTC 2026"
        };
        let text = format!("Finger of {}:\n\r\n\r{state}\n\r", player.titled());
        self.tell(key, &text);
    }

    fn talk(&mut self, key: &str, rest: &str) {
        self.counters.tells += 1;
        let (name, text) = rest.split_once(' ').unwrap_or((rest, ""));
        let to = name.to_lowercase();
        if !self.is_online(&to) {
            return self.tell(key, &format!("No player named \"{name}\" is online.\n\r"));
        }
        let from = self.players.get(key).map(super::state::Player::titled).unwrap_or_default();
        self.tell(key, &format!("(told {})\n\r", self.name(&to)));
        self.tell(&to, &format!("{from} tells you: {text}\n\r"));
    }

    fn say(&mut self, key: &str, text: &str) {
        self.counters.tells += 1;
        let Some(index) = self.game_of(key) else {
            return self.tell(key, "I don't know whom to say that to.\n\r");
        };
        let game = &self.games[index];
        let number = game.number;
        let Some(color) = game.color_of(key) else { return };
        let other = game.seats[(!color).index()].key.clone();
        let from = self.players.get(key).map(super::state::Player::titled).unwrap_or_default();
        self.tell(key, &format!("(told {}, who is playing)\n\r", self.name(&other)));
        self.tell(&other, &format!("{from}[{number}] says: {text}\n\r"));
    }
}

/// What a match or a seek wants: `3 0 rated white atomic` in any order.
fn wish(words: &[&str]) -> Option<Kind> {
    let mut terms = Terms { rated: true, minutes: 2, increment_s: 12 };
    let (mut variant, mut color, mut numbers) = (None, None, Vec::new());
    for word in words {
        match *word {
            "rated" | "r" => terms.rated = true,
            "unrated" | "u" => terms.rated = false,
            "white" | "w" => color = Some(Color::White),
            "black" | "b" => color = Some(Color::Black),
            word => match word.parse::<u32>() {
                Ok(number) => numbers.push(number),
                Err(_)
                    if ["atomic", "suicide", "crazyhouse", "losers", "wild/fr"].contains(&word) =>
                {
                    variant = Some(word.to_owned());
                }
                Err(_) => return None,
            },
        }
    }
    if let [minutes, increment_s, ..] = numbers[..] {
        (terms.minutes, terms.increment_s) = (minutes, increment_s);
    }
    let variant = variant.unwrap_or_else(|| "blitz".to_owned());
    Some(Kind::Match { terms, variant, color, is_adjourned: false })
}

fn request(kind: &Kind) -> String {
    match kind {
        Kind::Match { .. } => "match offer".to_owned(),
        other => format!("{} request", other.word()),
    }
}
