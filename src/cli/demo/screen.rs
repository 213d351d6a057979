//! A game drawn in a terminal: board, clocks, and what our search thinks, redrawn in place.

use std::{
    fmt::Write as _,
    io::{self, Write},
    time::{Duration, Instant},
};

use crate::{
    arena::GameSnapshot,
    cli::{demo::words, host::BOT},
    game::{Snapshot, Thought},
    rules::{Bitboard, Color, History, Move, Piece, Position, Role, Square},
};

const HIDE_CURSOR: &str = "\x1b[?25l";
const SHOW_CURSOR: &str = "\x1b[?25h";
const CLEAR_TO_END: &str = "\x1b[K";
const RESET: &str = "\x1b[0m";
const DIM: &str = "\x1b[2m";
const BOLD: &str = "\x1b[1m";
/// Backgrounds, of the 256 colors that every terminal knows.
const LIGHT: u8 = 180;
const DARK: u8 = 137;
const LIGHT_MOVED: u8 = 186;
const DARK_MOVED: u8 = 143;
const EXPLODED: u8 = 203;
/// Foregrounds.
const WHITE_PIECE: u8 = 231;
const BLACK_PIECE: u8 = 16;
/// Results that stay on the screen.
const MOST_RESULTS: usize = 5;
/// Moves of the expected line that are shown.
const MOST_EXPECTED: usize = 5;

/// What is on the screen.
pub(super) struct Screen {
    url: String,
    game: Option<GameSnapshot>,
    /// Number of the game that is drawn.
    number: usize,
    results: Vec<String>,
    finished: Vec<String>,
    /// Lines of the last drawing, to be written over.
    height: usize,
}

impl Screen {
    pub(super) fn new(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            game: None,
            number: 0,
            results: Vec::new(),
            finished: Vec::new(),
            height: 0,
        }
    }

    /// The game that is drawn.
    pub(super) fn game_id(&self) -> Option<&str> {
        self.game.as_ref().map(|game| game.id.as_str())
    }

    /// Takes in a change. A game is drawn until it is over and another one begins.
    pub(super) fn see(&mut self, game: &GameSnapshot) {
        if self.finished.contains(&game.id) {
            return;
        }
        if let Some(ending) = game.ending {
            self.finished.push(game.id.clone());
            let result = words::result(game, ending);
            let moves = game.moves.len().div_ceil(2);
            self.results.push(format!("{} - {}: {result}, {moves} moves", game.white, game.black));
        }
        let is_drawn = self.game_id() == Some(game.id.as_str());
        let is_free = self.game_id().is_none_or(|id| self.finished.iter().any(|over| over == id));
        if is_drawn {
            self.game = Some(game.clone());
        } else if is_free && game.ending.is_none() {
            self.number += 1;
            self.game = Some(game.clone());
        }
    }

    /// Draws over the last drawing.
    pub(super) fn draw(
        &mut self,
        bot: Option<&Snapshot>,
        now: Instant,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let mut lines =
            vec![format!("{BOLD}Meitner{RESET}  {DIM}{}{RESET}", self.url), String::new()];
        match &self.game {
            Some(game) => lines.extend(game_lines(game, bot, now)),
            None => lines.push("waiting for the first game".to_owned()),
        }
        lines.push(String::new());
        let skip = self.results.len().saturating_sub(MOST_RESULTS);
        lines.extend(self.results.iter().skip(skip).cloned());
        let mut text = String::from(HIDE_CURSOR);
        if self.height > 0 {
            // Writing to a string does not fail.
            let _ = write!(text, "\x1b[{}A", self.height);
        }
        for line in &lines {
            let _ = writeln!(text, "\r{line}{CLEAR_TO_END}");
        }
        self.height = lines.len();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// Gives the terminal back.
    pub(super) fn leave(&mut self, out: &mut impl Write) -> io::Result<()> {
        if self.game.is_some() {
            self.draw(None, Instant::now(), out)?;
        }
        write!(out, "{SHOW_CURSOR}")?;
        out.flush()
    }
}

/// The board with its margin to the right.
fn game_lines(game: &GameSnapshot, bot: Option<&Snapshot>, now: Instant) -> Vec<String> {
    let us = if game.white == BOT { Color::White } else { Color::Black };
    let history = words::history(game);
    let (before, mv) = (before_last(&history), history.moves().last().copied());
    let board = board(&before, mv, history.position(), us);
    let clocks = clocks(game, bot, now);
    let side = |color: Color| {
        let (name, rating) = match color {
            Color::White => (&game.white, game.ratings[0]),
            Color::Black => (&game.black, game.ratings[1]),
        };
        let is_running = game.ending.is_none() && game.turn == color;
        let mark = if is_running { "*" } else { " " };
        format!("{mark} {BOLD}{:>7}{RESET}  {name} ({rating})", clocks[color.index()])
    };
    let mut margin = vec![side(!us), String::new()];
    margin.extend(thought_lines(bot.and_then(|bot| bot.thought.as_ref()), history.position()));
    margin.resize(7, String::new());
    margin[6] = match game.ending {
        Some(ending) => format!("  {}", words::result(game, ending)),
        None => last_move(&before, mv),
    };
    margin.push(side(us));
    let rows = board.into_iter().zip(margin.into_iter().chain(std::iter::repeat(String::new())));
    rows.map(|(row, margin)| format!("{row}   {margin}")).collect()
}

/// The position before the last move.
fn before_last(history: &History) -> Position {
    let mut before = History::new(history.start().clone());
    for &mv in history.moves().iter().rev().skip(1).rev() {
        if before.play(mv).is_err() {
            break;
        }
    }
    before.position().clone()
}

fn last_move(before: &Position, mv: Option<Move>) -> String {
    let Some(mv) = mv else { return String::new() };
    let dots = if before.turn() == Color::White { "." } else { "..." };
    format!("  {}{dots} {}", before.fullmove_number(), before.san(mv))
}

/// Both clocks, White's first; as our side sees them if it does.
fn clocks(game: &GameSnapshot, bot: Option<&Snapshot>, now: Instant) -> [String; 2] {
    let live = bot.filter(|_| game.ending.is_none()).and_then(|bot| bot.clocks_ms(now));
    let left = match live {
        Some(ms) => ms.map(|ms| Some(Duration::from_millis(u64::try_from(ms).unwrap_or(u64::MAX)))),
        None => game.clocks,
    };
    left.map(|left| left.map_or("-".to_owned(), words::clock))
}

fn thought_lines(thought: Option<&Thought>, position: &Position) -> Vec<String> {
    let Some(thought) = thought else { return Vec::new() };
    let mut expected = String::new();
    let mut at = position.clone();
    for &mv in thought.pv.iter().take(MOST_EXPECTED) {
        // A line from before the last move does not fit any more.
        if !at.is_legal(mv) {
            break;
        }
        expected.push_str(&at.san(mv));
        expected.push(' ');
        at = at.after(mv);
    }
    vec![
        format!("  evaluation  {}", words::evaluation(thought.evaluation)),
        format!("  depth       {}", thought.depth),
        format!("  speed       {}", words::speed(thought.nps)),
        format!("  expected    {}", expected.trim_end()),
    ]
}

/// Eight ranks and the files, from the side of `us`.
fn board(before: &Position, mv: Option<Move>, after: &Position, us: Color) -> Vec<String> {
    let explosion = mv.map_or(Bitboard::EMPTY, |mv| before.explosion(mv));
    let mut moved = Bitboard::EMPTY;
    if let Some(mv) = mv {
        moved.insert(mv.from());
        moved.insert(mv.to());
    }
    let order = |index: u8| if us == Color::White { index } else { 7 - index };
    let mut rows = Vec::with_capacity(9);
    for rank in (0..8).rev().map(order) {
        let mut row = format!("{DIM}{}{RESET} ", rank + 1);
        for file in (0..8).map(order) {
            let square = Square::at(file, rank);
            row.push_str(&cell(square, after.piece_on(square), explosion, moved));
        }
        row.push_str(RESET);
        rows.push(row);
    }
    let mut files = format!("{DIM}  ");
    for file in (0..8).map(order) {
        // Writing to a string does not fail.
        let _ = write!(files, " {} ", char::from(b'a' + file));
    }
    rows.push(files + RESET);
    rows
}

fn cell(square: Square, piece: Option<Piece>, explosion: Bitboard, moved: Bitboard) -> String {
    let is_light = (square.file() + square.rank()) % 2 == 1;
    let background = match (explosion.contains(square), moved.contains(square), is_light) {
        (true, ..) => EXPLODED,
        (_, true, true) => LIGHT_MOVED,
        (_, true, false) => DARK_MOVED,
        (_, _, true) => LIGHT,
        (_, _, false) => DARK,
    };
    let (foreground, sign) = match piece {
        Some(Piece { color: Color::White, role }) => (WHITE_PIECE, figure(role)),
        Some(Piece { color: Color::Black, role }) => (BLACK_PIECE, figure(role)),
        None if explosion.contains(square) => (WHITE_PIECE, '✶'),
        None => (BLACK_PIECE, ' '),
    };
    format!("\x1b[48;5;{background}m\x1b[38;5;{foreground}m {sign} ")
}

/// The filled figures for both colors: outlines are hard to see on colored squares.
const fn figure(role: Role) -> char {
    match role {
        Role::Pawn => '♟',
        Role::Knight => '♞',
        Role::Bishop => '♝',
        Role::Rook => '♜',
        Role::Queen => '♛',
        Role::King => '♚',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of a drawing, without colors.
    fn plain(text: &str) -> String {
        let mut plain = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('\x1b') {
            plain.push_str(before);
            rest = after.split_once(|c: char| c.is_ascii_alphabetic()).map_or("", |(_, rest)| rest);
        }
        plain + rest
    }

    fn drawn(moves: &str, us: Color) -> Vec<String> {
        let mut history = History::default();
        for mv in moves.split_whitespace() {
            history.play_uci(mv).unwrap();
        }
        let before = before_last(&history);
        let rows = board(&before, history.moves().last().copied(), history.position(), us);
        rows.iter().map(|row| plain(row)).collect()
    }

    #[test]
    fn our_side_of_the_board_is_below() {
        let rows = drawn("", Color::White);
        assert_eq!(rows[0], "8  ♜  ♞  ♝  ♛  ♚  ♝  ♞  ♜ ");
        assert_eq!(rows[8], "   a  b  c  d  e  f  g  h ");
        let rows = drawn("", Color::Black);
        assert_eq!(rows[0], "1  ♜  ♞  ♝  ♚  ♛  ♝  ♞  ♜ ");
        assert_eq!(rows[8], "   h  g  f  e  d  c  b  a ");
    }

    #[test]
    fn an_explosion_is_shown_where_it_was() {
        let rows = drawn("g1f3 a7a6 f3e5 a6a5 e5f7", Color::White);
        // Both bishop and knight beside the king, the king, the queen's neighbor stays.
        assert_eq!(rows[0], "8  ♜  ♞  ♝  ♛  ✶  ✶  ✶  ♜ ");
        assert_eq!(rows[1], "7     ♟  ♟  ♟  ♟  ✶  ♟  ♟ ");
    }

    #[test]
    fn the_last_move_is_highlighted() {
        let mut history = History::default();
        history.play_uci("e2e4").unwrap();
        let before = before_last(&history);
        let rows =
            board(&before, history.moves().last().copied(), history.position(), Color::White);
        let highlighted = |row: &str| {
            row.contains(&format!("48;5;{LIGHT_MOVED}m"))
                || row.contains(&format!("48;5;{DARK_MOVED}m"))
        };
        let rows: Vec<bool> = rows.iter().map(|row| highlighted(row)).collect();
        assert_eq!(rows, [false, false, false, false, true, false, true, false, false]);
    }
}
