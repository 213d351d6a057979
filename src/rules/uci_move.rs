//! Moves as UCI writes them: read as text first, then matched with a position.

use std::str::FromStr;

use crate::rules::{Kind, Move, Position, Role, Square};

/// A move as written, `e2e4` or `e7e8q`, whatever the position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UciMove {
    /// Origin.
    pub from: Square,
    /// Target: in castling the rook's square or the one the king goes to.
    pub to: Square,
    /// The role after the squares.
    pub promotion: Option<Role>,
}

/// Why a text is no move that can be played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseUciMoveError {
    /// The text is not two squares and perhaps a role.
    #[error("'{0}' is no UCI move, such as e2e4 or e7e8q")]
    Syntax(String),
    /// The text is a move, but not a legal one here.
    #[error("'{uci}' is not legal in {fen}")]
    Illegal {
        /// The move as given.
        uci: String,
        /// The position it was to be played in.
        fen: String,
    },
}

impl FromStr for UciMove {
    type Err = ParseUciMoveError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let syntax = || ParseUciMoveError::Syntax(text.to_owned());
        if !text.is_ascii() || !(4..=5).contains(&text.len()) {
            return Err(syntax());
        }
        let square = |part: &str| part.parse().map_err(|_| syntax());
        let promotion = match text[4..].chars().next() {
            None => None,
            Some(letter @ ('q' | 'r' | 'b' | 'n' | 'Q' | 'R' | 'B' | 'N')) => {
                Role::from_letter(letter)
            }
            Some(_) => return Err(syntax()),
        };
        Ok(Self { from: square(&text[..2])?, to: square(&text[2..4])?, promotion })
    }
}

impl Position {
    /// Reads a legal move. Castling (R19) may be written king to rook (`e1h1`) or king two squares
    /// (`e1g1`), told apart by what stands on the target; a promotion without its letter is a
    /// queen, as on lichess.
    ///
    /// # Errors
    ///
    /// [`ParseUciMoveError`] for what is no move, or no legal one here.
    pub fn parse_uci(&self, text: &str) -> Result<Move, ParseUciMoveError> {
        let uci: UciMove = text.parse()?;
        let illegal = || ParseUciMoveError::Illegal { uci: text.to_owned(), fen: self.fen() };
        self.resolve(uci).filter(|&mv| self.is_legal(mv)).ok_or_else(illegal)
    }

    fn resolve(&self, UciMove { from, to, promotion }: UciMove) -> Option<Move> {
        let piece = self.piece_on(from)?;
        let is_capture = self.piece_on(to).is_some_and(|target| target.color != piece.color);
        let kind = match piece.role {
            Role::King => {
                if let Some(castling) = self.resolve_castling(from, to) {
                    return Some(castling).filter(|_| promotion.is_none());
                }
                Kind::Normal
            }
            Role::Pawn if self.en_passant() == Some(to) && from.file() != to.file() => {
                let mv = Move::new(from, to, Kind::EnPassant, true);
                return Some(mv).filter(|_| promotion.is_none());
            }
            Role::Pawn if to.rank() == (!piece.color).back_rank() => {
                let kind = match promotion.unwrap_or(Role::Queen) {
                    Role::Knight => Kind::PromoteToKnight,
                    Role::Bishop => Kind::PromoteToBishop,
                    Role::Rook => Kind::PromoteToRook,
                    _ => Kind::PromoteToQueen,
                };
                return Some(Move::new(from, to, kind, is_capture));
            }
            _ => Kind::Normal,
        };
        promotion.is_none().then(|| Move::new(from, to, kind, is_capture))
    }

    /// The castling move that `from`-`to` means, if it means one.
    fn resolve_castling(&self, king: Square, to: Square) -> Option<Move> {
        let rights = self.castling_rooks() & self.side(self.turn());
        let castle = |rook| Move::new(king, rook, Kind::Castling, false);
        if rights.contains(to) {
            return Some(castle(to));
        }
        // Two squares, with the king on its usual one: a step of a king never goes so far.
        if king.rank() != to.rank() || king.file().abs_diff(to.file()) != 2 {
            return None;
        }
        rights.into_iter().map(castle).find(|mv| mv.castling_targets().0 == to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::CastlingNotation;

    #[test]
    fn both_castling_notations_are_read_and_written() {
        let position = Position::from_fen("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1").unwrap();
        for (rook, square) in [("e1h1", "e1g1"), ("e1a1", "e1c1")] {
            let mv = position.parse_uci(rook).unwrap();
            assert_eq!(position.parse_uci(square).unwrap(), mv);
            assert_eq!(mv.uci(CastlingNotation::KingToRook), rook);
            assert_eq!(mv.uci(CastlingNotation::KingTwoSquares), square);
        }
    }

    #[test]
    fn a_promotion_without_letter_is_a_queen() {
        let position = Position::from_fen("8/P6k/8/8/8/8/8/K7 w - - 0 1").unwrap();
        assert_eq!(position.parse_uci("a7a8").unwrap().promotion(), Some(Role::Queen));
        assert_eq!(position.parse_uci("a7a8n").unwrap().promotion(), Some(Role::Knight));
    }

    #[test]
    fn what_is_no_move_is_refused() {
        let position = Position::initial();
        for text in ["", "e2", "e2e9", "e2e4k", "e2e4qq", "0000", "é2e4", "e2e4 "] {
            assert!(
                matches!(position.parse_uci(text), Err(ParseUciMoveError::Syntax(_))),
                "{text}"
            );
        }
        for text in ["e2e5", "e7e5", "e2e4q", "e1g1", "a3a4"] {
            let error = position.parse_uci(text).unwrap_err();
            assert!(matches!(error, ParseUciMoveError::Illegal { .. }), "{text}");
        }
    }

    #[test]
    fn every_legal_move_is_read_back() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut position = Position::initial();
        for _ in 0..500 {
            let moves = position.legal_moves();
            for &mv in &moves {
                assert_eq!(position.parse_uci(&mv.to_string()), Ok(mv));
            }
            position = match random.choice(moves.iter()) {
                Some(&mv) => position.after(mv),
                None => Position::initial(),
            };
        }
    }
}
