//! A game's course: the start, the moves, and how often a position has been on the board (R22).

use crate::rules::{DrawReason, Move, Outcome, ParseUciMoveError, Position};

/// A start position and the moves played from it.
#[derive(Clone, Debug)]
pub struct History {
    start: Position,
    position: Position,
    moves: Vec<Move>,
    /// The key of every position so far, the current one last.
    keys: Vec<u64>,
}

/// The move is not legal in the current position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{mv} is not legal in {fen}")]
pub struct IllegalMoveError {
    /// The move.
    pub mv: Move,
    /// The position it was to be played in.
    pub fen: String,
}

impl History {
    /// A game that begins at this position.
    pub fn new(start: Position) -> Self {
        Self { position: start.clone(), keys: vec![start.key()], moves: Vec::new(), start }
    }

    /// Where the game began.
    pub const fn start(&self) -> &Position {
        &self.start
    }

    /// Where it stands now.
    pub const fn position(&self) -> &Position {
        &self.position
    }

    /// The moves so far.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// The keys of all positions so far, the current one last.
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// Plays a move.
    ///
    /// # Errors
    ///
    /// [`IllegalMoveError`] if the move is not legal; nothing has changed then.
    pub fn play(&mut self, mv: Move) -> Result<(), IllegalMoveError> {
        if !self.position.is_legal(mv) {
            return Err(IllegalMoveError { mv, fen: self.position.fen() });
        }
        self.push(mv);
        Ok(())
    }

    /// Reads a move in UCI notation and plays it.
    ///
    /// # Errors
    ///
    /// [`ParseUciMoveError`] as [`Position::parse_uci`]; nothing has changed then.
    pub fn play_uci(&mut self, uci: &str) -> Result<Move, ParseUciMoveError> {
        let mv = self.position.parse_uci(uci)?;
        self.push(mv);
        Ok(mv)
    }

    fn push(&mut self, legal: Move) {
        self.position.play_unchecked(legal);
        self.moves.push(legal);
        self.keys.push(self.position.key());
    }

    /// How often the current position has been on the board, this time included (R22). Two
    /// positions are the same if the same men stand on the same squares, the same side moves, and
    /// the same captures en passant and castlings remain; an en passant square on which no capture
    /// is legal makes no difference. Nothing before the last capture or pawn move can come back.
    pub fn occurrences(&self) -> usize {
        let reversible = self.position.halfmove_clock() as usize;
        let first = self.keys.len().saturating_sub(reversible + 1);
        self.keys[first..].iter().filter(|&&key| key == self.position.key()).count()
    }

    /// Whether the game is over, by the position or by its third occurrence (R22).
    pub fn outcome(&self) -> Option<Outcome> {
        self.position
            .outcome()
            .or_else(|| (self.occurrences() >= 3).then_some(Outcome::Draw(DrawReason::Threefold)))
    }
}

impl Default for History {
    fn default() -> Self {
        Self::new(Position::initial())
    }
}
