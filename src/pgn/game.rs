//! A game with all that PGN says of it.

use std::{fmt, str::FromStr};

use crate::{
    pgn::{Annotation, TagName, Tags, TimeControl, UtcTime},
    rules::{Color, DrawReason, History, IllegalMoveError, Move, Outcome, Position},
};

/// A game of atomic chess: tags, start, legal moves, what is said of each, result.
///
/// The tags `Result`, `Variant`, `FEN` and `SetUp` are not among [`Self::tags`]; they are written
/// from the game itself.
#[derive(Clone, Debug)]
pub struct Game {
    /// Who played, when and where.
    pub tags: Tags,
    /// Who won.
    pub result: GameResult,
    /// What is said before the first move.
    pub preface: Annotation,
    history: History,
    annotations: Vec<Annotation>,
}

/// How a game ended, as PGN has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GameResult {
    /// `1-0`
    WhiteWins,
    /// `0-1`
    BlackWins,
    /// `1/2-1/2`
    Draw,
    /// `*`: it goes on, was called off, or nobody knows.
    #[default]
    Unknown,
}

impl Game {
    /// A game that begins at this position, without tags and moves.
    pub fn new(start: Position) -> Self {
        Self {
            tags: Tags::default(),
            result: GameResult::Unknown,
            preface: Annotation::default(),
            history: History::new(start),
            annotations: Vec::new(),
        }
    }

    /// Plays a move and says something of it.
    ///
    /// # Errors
    ///
    /// [`IllegalMoveError`] if the move is not legal; nothing has changed then.
    pub fn play(&mut self, mv: Move, annotation: Annotation) -> Result<(), IllegalMoveError> {
        self.history.play(mv)?;
        self.annotations.push(annotation);
        Ok(())
    }

    /// Start, moves and the position reached.
    pub const fn history(&self) -> &History {
        &self.history
    }

    /// What is said of each move, as many as there are moves.
    pub fn annotations(&self) -> &[Annotation] {
        &self.annotations
    }

    /// Where a comment goes that comes now: to the newest move, or before the first.
    pub fn newest_annotation(&mut self) -> &mut Annotation {
        self.annotations.last_mut().unwrap_or(&mut self.preface)
    }

    /// Takes the clock away from every move.
    pub fn remove_clocks(&mut self) {
        for annotation in &mut self.annotations {
            annotation.clock = None;
        }
    }

    /// A player's name.
    pub fn player(&self, color: Color) -> Option<&str> {
        self.tags.get(&by_color(color, TagName::WHITE, TagName::BLACK))
    }

    /// A player's title, such as `BOT`.
    pub fn title(&self, color: Color) -> Option<&str> {
        self.tags.get(&by_color(color, TagName::WHITE_TITLE, TagName::BLACK_TITLE))
    }

    /// A player's rating, if it is a number.
    pub fn rating(&self, color: Color) -> Option<u32> {
        self.tags.get(&by_color(color, TagName::WHITE_ELO, TagName::BLACK_ELO))?.parse().ok()
    }

    /// The time control, if it is one that we know.
    pub fn time_control(&self) -> Option<TimeControl> {
        TimeControl::parse(self.tags.get(&TagName::TIME_CONTROL)?)
    }

    /// When the game began.
    pub fn began_at(&self) -> Option<UtcTime> {
        UtcTime::parse(self.tags.get(&TagName::UTC_DATE)?, self.tags.get(&TagName::UTC_TIME)?)
    }

    /// The result that the last position leaves no choice of: a king has exploded, or the mover
    /// has no move. Other draws depend on whether the server or a player claimed them.
    pub fn forced_result(&self) -> Option<GameResult> {
        match self.history.position().outcome()? {
            Outcome::Win { winner, .. } => Some(GameResult::won_by(winner)),
            Outcome::Draw(DrawReason::Stalemate) => Some(GameResult::Draw),
            Outcome::Draw(_) => None,
        }
    }
}

fn by_color<T>(color: Color, white: T, black: T) -> T {
    match color {
        Color::White => white,
        Color::Black => black,
    }
}

impl Default for Game {
    fn default() -> Self {
        Self::new(Position::initial())
    }
}

impl PartialEq for Game {
    fn eq(&self, other: &Self) -> bool {
        self.tags == other.tags
            && self.result == other.result
            && self.preface == other.preface
            && self.annotations == other.annotations
            && self.history.start() == other.history.start()
            && self.history.moves() == other.history.moves()
    }
}

impl Eq for Game {}

impl GameResult {
    const ALL: [Self; 4] = [Self::WhiteWins, Self::BlackWins, Self::Draw, Self::Unknown];

    /// This side has won.
    pub const fn won_by(winner: Color) -> Self {
        match winner {
            Color::White => Self::WhiteWins,
            Color::Black => Self::BlackWins,
        }
    }

    /// `1-0`, `0-1`, `1/2-1/2` or `*`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WhiteWins => "1-0",
            Self::BlackWins => "0-1",
            Self::Draw => "1/2-1/2",
            Self::Unknown => "*",
        }
    }
}

impl fmt::Display for GameResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text is none of the four results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a result is 1-0, 0-1, 1/2-1/2 or *")]
pub struct ParseGameResultError;

impl FromStr for GameResult {
    type Err = ParseGameResultError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|result| result.as_str() == text).ok_or(ParseGameResultError)
    }
}
