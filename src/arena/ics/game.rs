//! One game on the server: moves, clocks, claims, and its lines on the wire.
//!
//! Repetition and fifty moves end nothing by themselves here: a player claims them.

use std::{
    fmt::Write as _,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::Notify;

use crate::{
    arbiter::{Clocks, Ending, Termination, TimeControl},
    arena::game::GameSnapshot,
    rules::{Color, DrawReason, History, Outcome, Piece, Position, Role, Square, WinReason},
};

/// A game with the initial time 0 starts with this much.
const ZERO_START: Duration = Duration::from_secs(10);
const FIFTY_MOVES: u32 = 100;

/// A player in a game.
#[derive(Clone, Debug)]
pub(super) struct Seat {
    /// In lower case; what players are compared by.
    pub(super) key: String,
    pub(super) name: String,
    pub(super) rating: Option<u32>,
    pub(super) is_guest: bool,
}

/// What two players have agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Terms {
    pub(super) rated: bool,
    pub(super) minutes: u32,
    pub(super) increment_s: u32,
}

/// A running game, or an adjourned one.
#[derive(Clone, Debug)]
pub(super) struct IcsGame {
    /// Used again for other games.
    pub(super) number: u32,
    /// Used for this one alone.
    pub(super) id: String,
    pub(super) seats: [Seat; 2],
    pub(super) terms: Terms,
    history: History,
    clocks: Clocks,
    /// Since when the side to move could move.
    turn_since: Instant,
    /// What the last move took.
    taken: Duration,
    /// Signalled on every change, awaited by the game's task.
    pub(super) changed: Arc<Notify>,
}

/// Who looks at a game, and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) color: Color,
    /// Whether clocks are told in milliseconds.
    pub(super) ms: bool,
}

/// Why a move is not played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unplayed {
    Illegal,
    NotYourTurn,
}

/// How a game is over, in the server's words.
#[derive(Clone, Debug)]
pub(super) struct Result {
    pub(super) words: String,
    pub(super) ending: Ending,
}

impl Seat {
    /// The rating as lines show it.
    pub(super) fn rating_text(&self) -> String {
        match self.rating {
            _ if self.is_guest => "++++".to_owned(),
            Some(rating) => rating.to_string(),
            None => "----".to_owned(),
        }
    }
}

impl Terms {
    pub(super) fn rated_text(self) -> &'static str {
        if self.rated { "rated" } else { "unrated" }
    }

    fn control(self) -> TimeControl {
        TimeControl::RealTime {
            limit: Duration::from_secs(60 * u64::from(self.minutes)),
            increment: Duration::from_secs(u64::from(self.increment_s)),
        }
    }
}

impl IcsGame {
    pub(super) fn new(
        number: u32,
        id: String,
        seats: [Seat; 2],
        terms: Terms,
        now: Instant,
    ) -> Self {
        let control = terms.control();
        let start =
            if terms.minutes == 0 { ZERO_START } else { control.start().unwrap_or_default() };
        Self {
            number,
            id,
            seats,
            terms,
            history: History::default(),
            clocks: Clocks::showing(control, [start; 2]),
            turn_since: now,
            taken: Duration::ZERO,
            changed: Arc::new(Notify::new()),
        }
    }

    /// Lets an adjourned game go on under a new number.
    pub(super) fn resume(&mut self, number: u32, now: Instant) {
        self.number = number;
        self.turn_since = now;
        self.taken = Duration::ZERO;
        self.run_clock(now);
    }

    /// Gives each side this much time, whatever was agreed on.
    pub(super) fn set_clocks(&mut self, remaining: Duration) {
        self.clocks = Clocks::showing(self.terms.control(), [remaining; 2]);
    }

    /// Stops the clocks, for a game that goes on another day.
    pub(super) fn stop(&mut self, now: Instant) {
        self.clocks.stop(now);
    }

    pub(super) fn color_of(&self, key: &str) -> Option<Color> {
        Color::ALL.into_iter().find(|color| self.seats[color.index()].key == key)
    }

    pub(super) fn plies(&self) -> usize {
        self.history.moves().len()
    }

    pub(super) fn turn(&self) -> Color {
        self.history.position().turn()
    }

    pub(super) fn history(&self) -> &History {
        &self.history
    }

    pub(super) fn clocks(&self) -> &Clocks {
        &self.clocks
    }

    pub(super) fn increment(&self) -> Duration {
        self.clocks.control().increment()
    }

    pub(super) fn turn_since(&self) -> Instant {
        self.turn_since
    }

    /// When the flag of the side to move falls.
    pub(super) fn flag_at(&self) -> Option<Instant> {
        self.clocks.flag().map(|(_, at)| at)
    }

    /// Whether a side has no time left.
    pub(super) fn is_out_of_time(&self, color: Color, now: Instant) -> bool {
        self.plies() >= 2 && self.clocks.remaining(color, now) == Some(Duration::ZERO)
    }

    /// Plays a move as a client writes it. `thought` is what the client's own clock says that it
    /// took, if it is trusted.
    pub(super) fn play(
        &mut self,
        color: Color,
        text: &str,
        thought: Option<Duration>,
        now: Instant,
    ) -> std::result::Result<(), Unplayed> {
        if self.turn() != color {
            return Err(Unplayed::NotYourTurn);
        }
        let uci = uci(text, color);
        self.history.play_uci(&uci).map_err(|_| Unplayed::Illegal)?;
        let passed = now.saturating_duration_since(self.turn_since);
        let taken = thought.unwrap_or(passed).min(passed);
        self.clocks.press(color, self.turn_since + taken);
        // The first moves are not timed.
        self.taken = if self.plies() > 2 { taken } else { Duration::ZERO };
        self.turn_since = now;
        self.run_clock(now);
        Ok(())
    }

    fn run_clock(&mut self, now: Instant) {
        if self.plies() >= 2 && self.outcome().is_none() {
            self.clocks.start(self.turn(), now);
        }
    }

    /// Takes back so many half-moves. False if there are not so many.
    pub(super) fn take_back(&mut self, plies: usize, now: Instant) -> bool {
        let Some(left) = self.plies().checked_sub(plies) else { return false };
        let moves = self.history.moves()[..left].to_vec();
        self.history = History::default();
        for mv in moves {
            if self.history.play(mv).is_err() {
                return false;
            }
        }
        self.clocks.stop(now);
        self.turn_since = now;
        self.run_clock(now);
        true
    }

    /// What ends the game without anybody's saying so: no draw but stalemate.
    fn outcome(&self) -> Option<Outcome> {
        let outcome = self.history.position().outcome()?;
        let is_end = matches!(outcome, Outcome::Win { .. } | Outcome::Draw(DrawReason::Stalemate));
        is_end.then_some(outcome)
    }

    /// How the position ends the game, if it does.
    pub(super) fn result(&self) -> Option<Result> {
        let outcome = self.outcome()?;
        let words = match outcome {
            Outcome::Win { winner, by: WinReason::Explosion } => {
                format!("{}'s king exploded", self.name(!winner))
            }
            Outcome::Win { winner, by: WinReason::Checkmate } => {
                format!("{} checkmated", self.name(!winner))
            }
            Outcome::Draw(_) => "Game drawn by stalemate".to_owned(),
        };
        Some(Result { words, ending: outcome.into() })
    }

    /// What a claimed draw comes to; `None` if there is nothing to claim.
    pub(super) fn claim(&self) -> Option<Result> {
        let drawn = |words: &str, reason| {
            let ending = Ending { winner: None, by: Termination::Rule(reason) };
            Some(Result { words: words.to_owned(), ending })
        };
        if self.history.occurrences() >= 3 {
            drawn("Game drawn by repetition", DrawReason::Threefold)
        } else if self.history.position().halfmove_clock() >= FIFTY_MOVES {
            drawn("Game drawn by the 50 move rule", DrawReason::FiftyMoves)
        } else {
            None
        }
    }

    pub(super) fn name(&self, color: Color) -> &str {
        &self.seats[color.index()].name
    }

    /// `Game 1 (A vs. B)`, as in lines in braces.
    pub(super) fn title(&self) -> String {
        format!(
            "Game {} ({} vs. {})",
            self.number,
            self.name(Color::White),
            self.name(Color::Black)
        )
    }

    /// The lines that say that a game begins or goes on, with the server's word for this kind of game.
    pub(super) fn beginning(&self, is_resumed: bool, with_info: bool, kind: &str) -> String {
        let [white, black] = &self.seats;
        let Terms { minutes, increment_s, .. } = self.terms;
        let rated = self.terms.rated_text();
        let (word, note) =
            if is_resumed { ("Continuing", " (adjourned)") } else { ("Creating", "") };
        let mut text = format!(
            "Creating: {} ({}) {} ({}) {rated} {kind} {minutes} {increment_s}{note}\n\r\
             {{{} {word} {rated} {kind} match.}}\n\r",
            white.name,
            white.rating_text(),
            black.name,
            black.rating_text(),
            self.title(),
        );
        if with_info {
            let [white, black] = [white, black].map(|seat| seat.rating.unwrap_or_default());
            let time = format!("{},{increment_s}", 60 * u64::from(minutes));
            // Writing to a String cannot fail.
            let _ = write!(
                text,
                "\n\r<g1> {} p=0 t=atomic r={} u=0,0 it={time} i={time} pt=0 rt={white},{black} ts=0,0 m=2 n=0\n\r",
                self.number,
                u8::from(self.terms.rated),
            );
        }
        text
    }

    /// The `<12>` line, with its line end.
    pub(super) fn board(&self, view: View, now: Instant) -> String {
        let position = self.history.position();
        let turn = position.turn();
        let letter = if turn == Color::White { 'W' } else { 'B' };
        let relation = if view.color == turn { 1 } else { -1 };
        let castling = castling_flags(&self.history);
        let clock = |color: Color| {
            let left = self.clocks.remaining(color, now).unwrap_or_default();
            if view.ms { left.as_millis() } else { u128::from(left.as_secs()) }
        };
        let (long, short) = last_move(&self.history);
        let (minutes, seconds) = (self.taken.as_secs() / 60, self.taken.as_secs() % 60);
        let taken = if view.ms {
            format!("({minutes}:{seconds:02}.{:03})", self.taken.subsec_millis())
        } else {
            format!("({minutes}:{seconds:02})")
        };
        format!(
            "<12> {ranks} {letter} {double} {castling} {halfmoves} {number} {white} {black} \
             {relation} {minutes_each} {increment} {strength} {white_clock} {black_clock} {next} \
             {long} {taken} {short} {flip} {running} 0\n\r",
            ranks = ranks(position),
            double = double_step(&self.history),
            halfmoves = position.halfmove_clock(),
            number = self.number,
            white = self.name(Color::White),
            black = self.name(Color::Black),
            minutes_each = self.terms.minutes,
            increment = self.terms.increment_s,
            strength = strength(position),
            white_clock = clock(Color::White),
            black_clock = clock(Color::Black),
            next = self.plies() / 2 + 1,
            flip = u8::from(view.color == Color::Black),
            running = u8::from(self.plies() >= 2),
        )
    }

    /// The list of moves.
    pub(super) fn move_list(&self) -> String {
        let [white, black] = &self.seats;
        let mut text = format!(
            "\n\rMovelist for game {}:\n\r\n\r{} ({}) vs. {} ({}) --- Mon Nov 30, 06:25 UTC 2026\n\r\
             {} atomic match, initial time: {} minutes, increment: {} seconds.\n\r\n\r\
             Move  {:<23} {}\n\r----  ---------------------   ---------------------\n\r",
            self.number,
            white.name,
            white.rating_text(),
            black.name,
            black.rating_text(),
            if self.terms.rated { "Rated" } else { "Unrated" },
            self.terms.minutes,
            self.terms.increment_s,
            white.name,
            black.name,
        );
        let mut position = Position::initial();
        for (index, &mv) in self.history.moves().iter().enumerate() {
            let san = position.san(mv);
            if index % 2 == 0 {
                // Writing to a String cannot fail.
                let _ = write!(text, "{:3}.  {san:<7} (0:00.000)", index / 2 + 1);
            } else {
                // Writing to a String cannot fail.
                let _ = write!(text, "      {san:<7} (0:00.000)\n\r");
            }
            position.play_unchecked(mv);
        }
        if self.plies() % 2 == 1 {
            text += "\n\r";
        }
        text + "      {Still in progress} *\n\r"
    }

    /// The game for whoever watches.
    pub(super) fn snapshot(&self, ending: Option<Ending>, now: Instant) -> GameSnapshot {
        let rating = |color: Color| self.seats[color.index()].rating.unwrap_or_default();
        GameSnapshot {
            id: self.id.clone(),
            white: self.name(Color::White).to_owned(),
            black: self.name(Color::Black).to_owned(),
            ratings: Color::ALL.map(|color| i32::try_from(rating(color)).unwrap_or_default()),
            rated: self.terms.rated,
            control: self.clocks.control(),
            fen: self.history.position().fen(),
            moves: self.history.moves().iter().map(ToString::to_string).collect(),
            turn: self.turn(),
            clocks: Color::ALL.map(|color| self.clocks.remaining(color, now)),
            status: if ending.is_some() { "over" } else { "started" },
            ending,
        }
    }
}

/// A move of a client's in UCI notation: `e7e8=Q` and `o-o` are written otherwise there.
fn uci(text: &str, color: Color) -> String {
    let rank = if color == Color::White { '1' } else { '8' };
    match text.to_ascii_lowercase().as_str() {
        "o-o" => format!("e{rank}g{rank}"),
        "o-o-o" => format!("e{rank}c{rank}"),
        other => other.replace(['=', '-'], ""),
    }
}

/// Whether a text is written like a move.
pub(super) fn is_move(text: &str) -> bool {
    let plain = text.to_ascii_lowercase();
    let plain = plain.replace(['=', '-'], "");
    let bytes = plain.as_bytes();
    let is_square = |at: usize| {
        bytes.get(at).is_some_and(|file| (b'a'..=b'h').contains(file))
            && bytes.get(at + 1).is_some_and(|rank| (b'1'..=b'8').contains(rank))
    };
    plain == "oo" || plain == "ooo" || (is_square(0) && is_square(2) && bytes.len() <= 5)
}

fn ranks(position: &Position) -> String {
    let letter =
        |file: u8, rank: u8| position.piece_on(Square::at(file, rank)).map_or('-', Piece::letter);
    let rank = |rank: u8| (0..8).map(|file| letter(file, rank)).collect::<String>();
    (0..8).rev().map(rank).collect::<Vec<_>>().join(" ")
}

/// Whether king and rook have not moved; what has exploded since is not looked at, as on the real
/// server's family.
fn castling_flags(history: &History) -> String {
    let has_moved = |from: &str| {
        let square: Option<Square> = from.parse().ok();
        history.moves().iter().any(|mv| Some(mv.from()) == square)
    };
    let flag = |king: &str, rook: &str| if has_moved(king) || has_moved(rook) { "0" } else { "1" };
    [flag("e1", "h1"), flag("e1", "a1"), flag("e8", "h8"), flag("e8", "a8")].join(" ")
}

fn double_step(history: &History) -> i8 {
    let Some(&mv) = history.moves().last() else { return -1 };
    let is_double = mv.from().file() == mv.to().file()
        && mv.from().rank().abs_diff(mv.to().rank()) == 2
        && history.position().piece_on(mv.to()).is_some_and(|piece| piece.role == Role::Pawn);
    if is_double { i8::try_from(mv.to().file()).unwrap_or(-1) } else { -1 }
}

fn strength(position: &Position) -> String {
    let worth = |color| {
        [(Role::Pawn, 1), (Role::Knight, 3), (Role::Bishop, 3), (Role::Rook, 5), (Role::Queen, 9)]
            .into_iter()
            .map(|(role, worth)| position.of(color, role).len() * worth)
            .sum::<usize>()
    };
    format!("{} {}", worth(Color::White), worth(Color::Black))
}

/// The last move, long and short.
fn last_move(history: &History) -> (String, String) {
    let Some((&last, before)) = history.moves().split_last() else {
        return ("none".to_owned(), "none".to_owned());
    };
    let mut earlier = History::new(history.start().clone());
    for &mv in before {
        if earlier.play(mv).is_err() {
            break;
        }
    }
    let position = earlier.position();
    let short = position.san(last);
    if last.is_castling() {
        let is_short = last.to().file() > last.from().file();
        return (if is_short { "o-o" } else { "o-o-o" }.to_owned(), short);
    }
    let man = position.piece_on(last.from()).map_or('P', Piece::letter);
    let promotion = last.promotion().map(|role| format!("={}", role.letter().to_ascii_uppercase()));
    let long = format!(
        "{}/{}-{}{}",
        man.to_ascii_uppercase(),
        last.from(),
        last.to(),
        promotion.unwrap_or_default()
    );
    (long, short)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game() -> IcsGame {
        let seat = |name: &str| Seat {
            key: name.to_lowercase(),
            name: name.to_owned(),
            rating: Some(1500),
            is_guest: false,
        };
        let terms = Terms { rated: true, minutes: 3, increment_s: 0 };
        let seats = [seat("AtomBot"), seat("Alice")];
        IcsGame::new(1, "g1".to_owned(), seats, terms, Instant::now())
    }

    fn play(game: &mut IcsGame, moves: &str) {
        for text in moves.split(' ') {
            let (color, now) = (game.turn(), game.turn_since());
            game.play(color, text, None, now).unwrap();
        }
    }

    #[test]
    fn the_example_of_the_facts_is_written() {
        let mut game = game();
        play(&mut game, "e2e4");
        let view = View { color: Color::White, ms: true };
        let expected = "<12> rnbqkbnr pppppppp -------- -------- ----P--- -------- PPPP-PPP \
            RNBQKBNR B 4 1 1 1 1 0 1 AtomBot Alice -1 3 0 39 39 180000 180000 1 P/e2-e4 \
            (0:00.000) e4 0 0 0\n\r";
        assert_eq!(game.board(view, game.turn_since()), expected);
    }

    #[test]
    fn explosions_end_the_game_and_repetition_only_by_a_claim() {
        let mut game = game();
        play(&mut game, "g1f3 f7f6 f3e5 g8h6 e5d7");
        assert_eq!(game.result().unwrap().words, "Alice's king exploded");
        let mut game = super::tests::game();
        for _ in 0..2 {
            play(&mut game, "g1f3 g8f6 f3g1 f6g8");
        }
        assert!(game.result().is_none());
        assert_eq!(game.claim().unwrap().words, "Game drawn by repetition");
        play(&mut game, "e2e4");
        assert!(game.claim().is_none());
    }

    #[test]
    fn moves_are_taken_in_all_their_forms() {
        for text in ["e2e4", "e7e8=Q", "o-o", "O-O-O", "e2-e4", "a7a8n"] {
            assert!(is_move(text), "{text}");
        }
        for text in ["draw", "e9e4", "abort", "e2", "e2e4xyz"] {
            assert!(!is_move(text), "{text}");
        }
        let mut game = game();
        assert_eq!(
            game.play(Color::Black, "e7e5", None, Instant::now()),
            Err(Unplayed::NotYourTurn)
        );
        assert_eq!(game.play(Color::White, "e7e5", None, Instant::now()), Err(Unplayed::Illegal));
        play(&mut game, "g1f3 g8f6 g2g3 g7g6 f1g2 f8g7 o-o");
        let view = View { color: Color::Black, ms: false };
        let board = game.board(view, game.turn_since());
        assert!(board.contains(" o-o (0:00) O-O 1 1 0\n\r"), "{board}");
        assert!(board.contains(" B -1 0 0 1 1 "), "{board}");
    }

    #[test]
    fn no_number_is_too_great_for_a_clock() {
        let game = game();
        let terms = Terms { rated: false, minutes: u32::MAX, increment_s: u32::MAX };
        let now = Instant::now();
        let mut game = IcsGame::new(1, "ics-1".to_owned(), game.seats, terms, now);
        assert!(
            game.beginning(false, true, "atomic")
                .contains(&format!("it={},", 60 * u64::from(u32::MAX)))
        );
        play(&mut game, "e2e4 e7e5 g1f3");
        assert!(game.flag_at().is_some());
        assert!(game.board(View { color: Color::White, ms: true }, now).starts_with("<12> "));
    }

    #[test]
    fn the_clock_charges_what_the_client_says_but_no_more_than_passed() {
        let mut game = game();
        play(&mut game, "e2e4 e7e5");
        let later = game.turn_since() + Duration::from_secs(5);
        let thought = Some(Duration::from_secs(2));
        game.play(Color::White, "g1f3", thought, later).unwrap();
        assert_eq!(game.clocks().remaining(Color::White, later), Some(Duration::from_secs(178)));
        let later = later + Duration::from_secs(1);
        game.play(Color::Black, "f7f6", Some(Duration::from_secs(9)), later).unwrap();
        assert_eq!(game.clocks().remaining(Color::Black, later), Some(Duration::from_secs(179)));
        assert!(game.take_back(2, later) && !game.take_back(9, later));
        assert_eq!(game.plies(), 2);
    }
}
