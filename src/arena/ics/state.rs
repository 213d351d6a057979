//! What the server knows: players, offers and games, behind one lock.
//!
//! All methods are short and never wait. What players type is carried out in `command`.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::{Notify, broadcast, watch};

use crate::{
    arbiter::{Ending, Termination},
    arena::{
        game::GameSnapshot,
        ics::{
            game::{IcsGame, Result, Seat, Terms, View},
            options::{IcsAccount, IcsHouse, IcsOptions, Wording},
            outbox::{End, Outbox},
            seal::Version,
        },
    },
    rules::Color,
};

/// Snapshots that a slow watcher may lag behind; then it misses the oldest.
const SNAPSHOT_BUFFER: usize = 256;
/// Lines are broken at this width unless a client asks for another.
const WIDTH: usize = 79;
pub(super) const PROMPT: &str = "fics% ";

/// What connections, game tasks and handles share.
pub(super) struct Shared {
    state: Mutex<State>,
    /// Signalled when a game begins, whose task is then started.
    pub(super) has_work: Notify,
    /// Goes up with every change that somebody may wait for.
    pub(super) revision: watch::Sender<u64>,
}

/// What has been counted so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IcsCounters {
    /// Connections that were served.
    pub connections: u64,
    /// Logins that succeeded.
    pub logins: u64,
    /// Moves of clients that break the rules.
    pub illegal_moves: u64,
    /// Moves of clients out of turn, or without a game.
    pub untimely_moves: u64,
    /// Commands of clients that the server does not know.
    pub unknown_commands: u64,
    /// Answers to pings.
    pub pongs: u64,
    /// Tells and says of clients.
    pub tells: u64,
    /// Connections that a fault has cut.
    pub cuts: u64,
}

/// Everything behind the lock.
pub(super) struct State {
    pub(super) options: IcsOptions,
    pub(super) players: BTreeMap<String, Player>,
    pub(super) offers: Vec<Offer>,
    next_offer: u32,
    pub(super) seeks: Vec<Seek>,
    pub(super) next_seek: u32,
    pub(super) games: Vec<IcsGame>,
    pub(super) adjourned: Vec<IcsGame>,
    next_game: u64,
    /// Games whose task is not running yet.
    pub(super) games_to_run: Vec<String>,
    /// The last snapshot of each ended game, with the server's words, in the order of their ends.
    pub(super) finished: Vec<(GameSnapshot, String)>,
    pub(super) counters: IcsCounters,
    pub(super) snapshots: broadcast::Sender<GameSnapshot>,
    pub(super) rng: fastrand::Rng,
    /// With whom each player played last, on which terms, and in which color.
    pub(super) last: BTreeMap<String, (String, Terms, Color)>,
    /// Every command of a client, with its name; of very many the latest.
    pub(super) commands: Vec<(String, String)>,
    /// Whose command is being carried out, and the answer so far.
    pub(super) actor: Option<(String, String)>,
}

/// Somebody with an account, of the house, or a guest.
pub(super) struct Player {
    pub(super) name: String,
    pub(super) password: Option<String>,
    pub(super) rating: Option<u32>,
    pub(super) is_guest: bool,
    pub(super) is_computer: bool,
    pub(super) house: Option<IcsHouse>,
    pub(super) session: Option<Session>,
    pub(super) is_open: bool,
}

/// A client that is logged in.
pub(super) struct Session {
    pub(super) outbox: Arc<Outbox>,
    pub(super) variables: BTreeMap<String, bool>,
    pub(super) width: usize,
    pub(super) seal: Option<Version>,
    /// What the client's clock said when it answered the last ping.
    pub(super) pong_ms: Option<u64>,
}

/// Something offered.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    pub(super) index: u32,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) kind: Kind,
}

/// What is offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Match { terms: Terms, variant: String, color: Option<Color>, is_adjourned: bool },
    Draw,
    Abort,
    Adjourn,
    Takeback(usize),
}

/// A game that is wanted with anybody.
#[derive(Clone, Debug)]
pub(super) struct Seek {
    pub(super) index: u32,
    pub(super) from: String,
    pub(super) terms: Terms,
    pub(super) variant: String,
}

impl Shared {
    pub(super) fn new(options: IcsOptions) -> Self {
        Self {
            state: Mutex::new(State::new(options)),
            has_work: Notify::new(),
            revision: watch::Sender::new(0),
        }
    }

    /// The state, to look at.
    pub(super) fn read(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, lets the house answer, and tells those who wait for a change.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.read();
        let result = change(&mut state);
        state.let_house_answer(Instant::now());
        let has_work = !state.games_to_run.is_empty();
        drop(state);
        if has_work {
            self.has_work.notify_one();
        }
        self.revision.send_modify(|revision| *revision += 1);
        result
    }
}

impl Player {
    pub(super) fn is_online(&self) -> bool {
        self.house.is_some() || self.session.is_some()
    }

    /// The name with its titles.
    pub(super) fn titled(&self) -> String {
        let title = if self.is_computer { "(C)" } else { "" };
        format!("{}{}{title}", self.name, if self.is_guest { "(U)" } else { "" })
    }

    pub(super) fn seat(&self) -> Seat {
        Seat {
            key: self.name.to_lowercase(),
            name: self.name.clone(),
            rating: self.rating,
            is_guest: self.is_guest,
        }
    }

    pub(super) fn has(&self, variable: &str) -> bool {
        let session = self.session.as_ref();
        session.is_some_and(|session| session.variables.get(variable) == Some(&true))
    }

    /// Whether it can be challenged to atomic: a program must have asked for it.
    pub(super) fn takes_atomic(&self) -> bool {
        self.house.is_some() || !self.is_computer || self.has("atomic")
    }
}

impl Session {
    pub(super) fn new(outbox: Arc<Outbox>, seal: Option<Version>) -> Self {
        Self { outbox, variables: BTreeMap::new(), width: WIDTH, seal, pong_ms: None }
    }
}

impl State {
    fn new(options: IcsOptions) -> Self {
        Self {
            rng: fastrand::Rng::with_seed(options.seed),
            options,
            players: BTreeMap::new(),
            offers: Vec::new(),
            next_offer: 1,
            seeks: Vec::new(),
            next_seek: 1,
            games: Vec::new(),
            adjourned: Vec::new(),
            next_game: 1,
            games_to_run: Vec::new(),
            finished: Vec::new(),
            counters: IcsCounters::default(),
            snapshots: broadcast::Sender::new(SNAPSHOT_BUFFER),
            last: BTreeMap::new(),
            commands: Vec::new(),
            actor: None,
        }
    }

    pub(super) fn add_account(&mut self, account: &IcsAccount) {
        let player = Player {
            name: account.name.clone(),
            password: Some(account.password.clone()),
            rating: Some(account.rating),
            is_guest: false,
            is_computer: account.is_computer,
            house: None,
            session: None,
            is_open: true,
        };
        self.players.insert(account.name.to_lowercase(), player);
    }

    pub(super) fn add_house(&mut self, house: IcsHouse) {
        let player = Player {
            name: house.name.clone(),
            password: None,
            rating: Some(house.rating).filter(|_| !house.is_guest),
            is_guest: house.is_guest,
            is_computer: house.is_computer,
            session: None,
            is_open: true,
            house: Some(house),
        };
        self.players.insert(player.name.to_lowercase(), player);
    }

    /// A guest's name that nobody has.
    pub(super) fn guest_name(&mut self) -> String {
        loop {
            let letters: String = (0..4).map(|_| self.rng.uppercase()).collect();
            let name = format!("Guest{letters}");
            if !self.players.contains_key(&name.to_lowercase()) {
                return name;
            }
        }
    }

    /// Lets somebody in; whoever was there under the name is thrown out. Returns the first text.
    pub(super) fn log_in(&mut self, name: &str, session: Session) -> String {
        self.counters.logins += 1;
        let key = name.to_lowercase();
        let mut text = "\n\r".to_owned();
        if let Some(old) = self.players.get_mut(&key).and_then(|player| player.session.take()) {
            // Writing to a String cannot fail.
            let _ = write!(text, "**** {name} is already logged in - kicking them out. ****\n\r");
            old.outbox.push(format!(
                "\n\r**** {name} has arrived - you can't both be logged in. ****\n\r\n\r"
            ));
            old.outbox.end(End::Closed);
            self.lose(&key, Instant::now());
        }
        let guest = || Player {
            name: name.to_owned(),
            password: None,
            rating: None,
            is_guest: true,
            is_computer: false,
            house: None,
            session: None,
            is_open: true,
        };
        let player = self.players.entry(key.clone()).or_insert_with(guest);
        player.session = Some(session);
        player.is_open = true;
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "**** Starting FICS session as {} ****\n\r\n\rWelcome to the arena.\n\r\n\r",
            player.titled()
        );
        let name = player.name.clone();
        let others: Vec<String> = self.adjourned_with(&key);
        let online: Vec<String> =
            others.into_iter().filter(|other| self.is_online(other)).collect();
        if !online.is_empty() {
            let names: Vec<String> = online.iter().map(|key| self.name(key)).collect();
            let verb = if names.len() == 1 { ("player", "is") } else { ("players", "are") };
            // Writing to a String cannot fail.
            let _ = write!(
                text,
                "{} {}, who {} an adjourned game with you, {} online: {}\n\r",
                names.len(),
                verb.0,
                if names.len() == 1 { "has" } else { "have" },
                verb.1,
                names.join(" ")
            );
        }
        for other in online {
            let note = format!(
                "Notification: {name}, who has an adjourned game with you, has arrived.\n\r"
            );
            self.tell(&other, &note);
        }
        text + PROMPT
    }

    /// Somebody is gone: their game is broken off, and their offers are.
    pub(super) fn lose(&mut self, key: &str, now: Instant) {
        self.seeks.retain(|seek| seek.from != key);
        self.drop_offers(|offer| offer.from == key || offer.to == key);
        if let Some(index) = self.game_of(key) {
            let game = &self.games[index];
            let (name, seats) = (self.name(key), &game.seats);
            let other = game.color_of(key).map(|color| seats[(!color).index()].key.clone());
            let (winner, plies) = (game.color_of(key).map(|color| !color), game.plies());
            let has_guest = seats.iter().any(|seat| seat.is_guest);
            if let Some(other) = other {
                self.tell(&other, &format!("Your opponent, {name}, has lost contact or quit.\n\r"));
            }
            if has_guest {
                let ending = Ending { winner, by: Termination::Abandonment };
                let words = format!("{name} forfeits by disconnection");
                self.end_game(index, &Result { words, ending }, now);
            } else if plies < 2 {
                let words = format!("{name} lost connection and too few moves; game aborted");
                self.abort_game(index, words, now);
            } else {
                self.adjourn_game(index, &format!("{name} lost connection; game adjourned"), now);
            }
        }
        let is_guest = self.players.get(key).is_some_and(|player| player.is_guest);
        let is_house = self.players.get(key).is_some_and(|player| player.house.is_some());
        if is_guest && !is_house {
            self.players.remove(key);
        }
    }

    /// Sends text to a player: into the answer if it is the actor, else with a prompt behind it.
    pub(super) fn tell(&mut self, key: &str, text: &str) {
        if let Some((actor, answer)) = &mut self.actor
            && actor == key
        {
            answer.push_str(text);
            return;
        }
        let Some(player) = self.players.get(key) else { return };
        let is_whole = player.has("nowrap");
        if let Some(session) = &player.session {
            let text = format!("\n\r{text}{PROMPT}");
            let text = if is_whole { text } else { wrap(&text, session.width) };
            session.outbox.push(text.into_bytes());
        }
    }

    pub(super) fn name(&self, key: &str) -> String {
        self.players.get(key).map_or_else(|| key.to_owned(), |player| player.name.clone())
    }

    pub(super) fn is_online(&self, key: &str) -> bool {
        self.players.get(key).is_some_and(Player::is_online)
    }

    pub(super) fn game_of(&self, key: &str) -> Option<usize> {
        self.games.iter().position(|game| game.color_of(key).is_some())
    }

    /// Who has an adjourned game with this player.
    pub(super) fn adjourned_with(&self, key: &str) -> Vec<String> {
        let games = self.adjourned.iter();
        let others = games.filter_map(|game| {
            let color = game.color_of(key)?;
            Some(game.seats[(!color).index()].key.clone())
        });
        others.collect()
    }

    /// Makes an offer, tells both, and returns its index. An older one of the kind is replaced.
    pub(super) fn offer(&mut self, from: &str, to: &str, kind: Kind) {
        let is_match = matches!(kind, Kind::Match { .. });
        self.drop_offers(|offer| {
            offer.from == from
                && offer.to == to
                && matches!(offer.kind, Kind::Match { .. }) == is_match
                && (is_match || offer.kind == kind)
        });
        let index = self.next_offer;
        self.next_offer += 1;
        let word = kind.word();
        let parameter = match &kind {
            Kind::Takeback(plies) => plies.to_string(),
            Kind::Match { .. } => self.match_text(from, to, &kind),
            _ => "#".to_owned(),
        };
        for (tag, who, other) in [("pt", from, to), ("pf", to, from)] {
            if self.players.get(who).is_some_and(|player| player.has("pendinfo")) {
                let other = self.name(other);
                self.tell(
                    who,
                    &format!("\n\r<{tag}> {index} w={other} t={word} p={parameter}\n\r"),
                );
            }
        }
        self.offers.push(Offer { index, from: from.to_owned(), to: to.to_owned(), kind });
    }

    /// The terms of a match as lines have them.
    pub(super) fn match_text(&self, from: &str, to: &str, kind: &Kind) -> String {
        let Kind::Match { terms, variant, color, is_adjourned } = kind else {
            return String::new();
        };
        let side = |key: &str| {
            let seat = self.players.get(key).map(Player::seat);
            seat.map_or_else(
                || key.to_owned(),
                |seat| format!("{} ({})", seat.name, seat.rating_text()),
            )
        };
        let color = color.map(|color| format!(" [{color}]")).unwrap_or_default();
        let Terms { minutes, increment_s, .. } = *terms;
        let speed = self.wording("", if variant == "blitz" { "" } else { "blitz " });
        format!(
            "{}{color} {} {} {speed}{variant} {minutes} {increment_s}{}",
            side(from),
            side(to),
            terms.rated_text(),
            if *is_adjourned { " (adjourned)" } else { "" }
        )
    }

    /// Drops offers and tells both sides so.
    pub(super) fn drop_offers(&mut self, is_gone: impl Fn(&Offer) -> bool) {
        let (gone, kept) = self.offers.drain(..).partition(|offer| is_gone(offer));
        self.offers = kept;
        let gone: Vec<Offer> = gone;
        for offer in gone {
            for who in [&offer.from, &offer.to] {
                if self.players.get(who).is_some_and(|player| player.has("pendinfo")) {
                    self.tell(who, &format!("\n\r<pr> {}\n\r", offer.index));
                }
            }
        }
    }

    /// Begins a game between these two, White first.
    pub(super) fn begin_game(&mut self, white: &str, black: &str, terms: Terms, now: Instant) {
        let seats = [white, black].map(|key| self.players.get(key).map(Player::seat));
        let [Some(white), Some(black)] = seats else { return };
        let (number, id) = (self.free_number(), format!("ics-{}", self.next_game));
        self.next_game += 1;
        let mut game = IcsGame::new(number, id, [white, black], terms, now);
        if let Some(clock) = self.options.clock {
            game.set_clocks(clock);
        }
        self.announce(game, false, now);
    }

    /// Lets the adjourned game of these two go on.
    pub(super) fn resume_game(&mut self, one: &str, other: &str, now: Instant) {
        let index = self
            .adjourned
            .iter()
            .position(|game| game.color_of(one).is_some() && game.color_of(other).is_some());
        let Some(index) = index else { return };
        let mut game = self.adjourned.remove(index);
        game.resume(self.free_number(), now);
        self.announce(game, true, now);
    }

    fn free_number(&self) -> u32 {
        let is_free = |number: &u32| self.games.iter().all(|game| game.number != *number);
        (1..=u32::MAX).find(is_free).unwrap_or(1)
    }

    fn announce(&mut self, game: IcsGame, is_resumed: bool, now: Instant) {
        let keys = [0, 1].map(|index| game.seats[index].key.clone());
        self.seeks.retain(|seek| !keys.contains(&seek.from));
        let is_match = |offer: &Offer| matches!(offer.kind, Kind::Match { .. });
        self.drop_offers(|offer| {
            is_match(offer) && (keys.contains(&offer.from) || keys.contains(&offer.to))
        });
        for color in Color::ALL {
            let [us, them] = [color, !color].map(|color| keys[color.index()].clone());
            self.last.insert(us, (them, game.terms, color));
        }
        self.games_to_run.push(game.id.clone());
        // Nobody has to watch.
        let _watched = self.snapshots.send(game.snapshot(None, now));
        self.games.push(game);
        let index = self.games.len() - 1;
        for key in keys {
            let with_info = self.players.get(&key).is_some_and(|player| player.has("gameinfo"));
            let kind = self.wording("atomic", "blitz atomic");
            let text = self.games[index].beginning(is_resumed, with_info, kind);
            let text = format!("\n\r{text}");
            let board = self.board_for(index, &key, now);
            self.tell(&key, &format!("{text}\n\r{board}"));
            self.ping(index, &key);
        }
    }

    /// The board of a game for one of its players.
    pub(super) fn board_for(&self, index: usize, key: &str, now: Instant) -> String {
        let (game, player) = (&self.games[index], self.players.get(key));
        let Some(color) = game.color_of(key) else { return String::new() };
        let ms = player.is_some_and(|player| player.has("ms"));
        game.board(View { color, ms }, now)
    }

    /// Asks a client whose turn it is for its time, if it stamps its lines.
    pub(super) fn ping(&mut self, index: usize, key: &str) {
        let game = &self.games[index];
        let is_turn = game.color_of(key) == Some(game.turn());
        let session = self.players.get_mut(key).and_then(|player| player.session.as_mut());
        if let Some(session) = session.filter(|_| is_turn)
            && let Some(version) = session.seal
        {
            session.pong_ms = None;
            session.outbox.push(version.ping().as_bytes());
        }
    }

    /// Shows both players the board, the actor first.
    pub(super) fn show(&mut self, index: usize, now: Instant) {
        let game = &self.games[index];
        game.changed.notify_one();
        let _watched = self.snapshots.send(game.snapshot(None, now));
        let keys = [0, 1].map(|seat| game.seats[seat].key.clone());
        for key in keys {
            let board = self.board_for(index, &key, now);
            self.tell(&key, &format!("\n\r{board}"));
            self.ping(index, &key);
        }
    }

    /// Ends a game with a result.
    pub(super) fn end_game(&mut self, index: usize, result: &Result, now: Instant) {
        let score = result.ending.score();
        let rated = self.games[index].terms.rated;
        let game = self.close_game(index, &result.words, score);
        let _watched = self.snapshots.send(game.snapshot(Some(result.ending), now));
        self.finished.push((game.snapshot(Some(result.ending), now), result.words.clone()));
        for seat in &game.seats {
            let text = match seat.rating {
                Some(rating) if rated => {
                    format!("Atomic rating adjustment: {rating} --> {rating}\n\r")
                }
                _ => "No ratings adjustment done.\n\r".to_owned(),
            };
            self.tell(&seat.key, &text);
        }
    }

    pub(super) fn abort_game(&mut self, index: usize, words: String, now: Instant) {
        let game = self.close_game(index, &words, "*");
        let ending = Ending { winner: None, by: Termination::Aborted };
        let _watched = self.snapshots.send(game.snapshot(Some(ending), now));
        self.finished.push((game.snapshot(Some(ending), now), words));
    }

    pub(super) fn adjourn_game(&mut self, index: usize, words: &str, now: Instant) {
        let mut game = self.close_game(index, words, "*");
        game.stop(now);
        self.adjourned.push(game);
    }

    /// Takes a game off the board and tells its players.
    fn close_game(&mut self, index: usize, words: &str, score: &str) -> IcsGame {
        let game = self.games.remove(index);
        let keys = [0, 1].map(|seat| game.seats[seat].key.clone());
        self.drop_offers(|offer| {
            !matches!(offer.kind, Kind::Match { .. }) && keys.contains(&offer.from)
        });
        let line = format!("\n\r{{{} {words}}} {score}\n\r", game.title());
        for key in keys {
            self.tell(&key, &line);
        }
        game.changed.notify_one();
        game
    }

    /// Ends a game whose side to move has no time left.
    pub(super) fn flag(&mut self, index: usize, now: Instant) {
        let game = &self.games[index];
        let loser = game.turn();
        let words = format!("{} forfeits on time", game.name(loser));
        let ending = Ending { winner: Some(!loser), by: Termination::TimeForfeit };
        // The board comes once more, with nothing on the clock.
        self.show(index, now);
        self.end_game(index, &Result { words, ending }, now);
    }

    /// The words of this server or of that one.
    pub(super) fn wording<'a>(&self, freechess: &'a str, compatible: &'a str) -> &'a str {
        match self.options.wording {
            Wording::Freechess => freechess,
            Wording::Compatible => compatible,
        }
    }

    /// Breaks lines as this server does; see [`wrap`].
    pub(super) fn dress(&self, key: &str, text: &str) -> String {
        match self.players.get(key) {
            Some(player) if !player.has("nowrap") => {
                let width = player.session.as_ref().map_or(WIDTH, |session| session.width);
                wrap(text, width)
            }
            _ => text.to_owned(),
        }
    }

    /// What the client's own clock says that its move took, if it stamps its lines.
    pub(super) fn thought(&mut self, key: &str, stamp_ms: Option<u64>) -> Option<Duration> {
        let session = self.players.get_mut(key)?.session.as_mut()?;
        let pong = session.pong_ms.take()?;
        stamp_ms?.checked_sub(pong).map(Duration::from_millis)
    }
}

impl Kind {
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Match { .. } => "match",
            Self::Draw => "draw",
            Self::Abort => "abort",
            Self::Adjourn => "adjourn",
            Self::Takeback(_) => "takeback",
        }
    }
}

/// Breaks lines that are longer than the width; what follows begins with a backslash.
pub(super) fn wrap(text: &str, width: usize) -> String {
    let width = width.max(20);
    let lines = text.split("\n\r").map(|line| {
        let mut wrapped = String::new();
        let mut rest = line;
        while rest.len() > width && rest.is_char_boundary(width) {
            let at = rest[..width].rfind(' ').filter(|&at| at > 4).map_or(width, |at| at + 1);
            wrapped += &rest[..at];
            wrapped += "\n\r\\   ";
            rest = &rest[at..];
        }
        wrapped + rest
    });
    lines.collect::<Vec<_>>().join("\n\r")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_at_blanks() {
        let text = format!("short\n\r{} end\n\r", "word ".repeat(8));
        let wrapped = wrap(&text, 20);
        assert!(wrapped.split("\n\r").all(|line| line.len() <= 24), "{wrapped}");
        assert_eq!(wrapped.replace("\n\r\\   ", ""), text);
        assert_eq!(wrap(&"x".repeat(50), 20).matches("\\   ").count(), 2);
    }
}
