//! How a game ends by what stands on the board (R2, R13, R14, R20 to R22).
//!
//! Which material and which closed positions draw the rulebook does not say; lichess decides
//! (`docs/PROTOCOLS.md`, 12). What ends a game besides the board (R23) is the arbiter's.

use std::fmt;

use crate::rules::{Bitboard, Color, Kind, Move, Position, Role, Square, attacks};

/// The end of a game by the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// One side has won.
    Win {
        /// The side that has won.
        winner: Color,
        /// How.
        by: WinReason,
    },
    /// Nobody has won.
    Draw(DrawReason),
}

/// How a side wins on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WinReason {
    /// The enemy king was in a blast (R2), whoever stood in check (R13).
    Explosion,
    /// The enemy king is attacked and nothing helps (R14, R20).
    Checkmate,
}

/// Why a position or a game is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawReason {
    /// No legal move, and no check (R21).
    Stalemate,
    /// Neither side has the men to win, by the list of lichess.
    InsufficientMaterial,
    /// Only kings, blocked pawns, and bishops that reach nothing, as lichess judges it.
    ClosedPosition,
    /// 50 moves by each side without a capture or a pawn move (R22).
    FiftyMoves,
    /// The third time the same position (R22); only [`History`](crate::rules::History) can tell.
    Threefold,
}

impl Outcome {
    /// The side that has won, if one has.
    pub const fn winner(self) -> Option<Color> {
        match self {
            Self::Win { winner, .. } => Some(winner),
            Self::Draw(_) => None,
        }
    }

    /// `1-0`, `0-1` or `1/2-1/2`.
    pub const fn score(self) -> &'static str {
        match self.winner() {
            Some(Color::White) => "1-0",
            Some(Color::Black) => "0-1",
            None => "1/2-1/2",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Win { by: WinReason::Explosion, .. } => "explosion",
            Self::Win { by: WinReason::Checkmate, .. } => "checkmate",
            Self::Draw(DrawReason::Stalemate) => "stalemate",
            Self::Draw(DrawReason::InsufficientMaterial) => "insufficient material",
            Self::Draw(DrawReason::ClosedPosition) => "closed position",
            Self::Draw(DrawReason::FiftyMoves) => "fifty-move rule",
            Self::Draw(DrawReason::Threefold) => "threefold repetition",
        })
    }
}

impl Position {
    /// Whether the game is over here, and how; everything but repetition.
    ///
    /// The tests come in the order of lichess: a king gone (R2), mate (R14, R20), stalemate (R21),
    /// then the draws that leave moves to play. So a mate on the hundredth ply wins.
    pub fn outcome(&self) -> Option<Outcome> {
        for color in Color::ALL {
            if self.king(color).is_none() {
                return Some(Outcome::Win { winner: !color, by: WinReason::Explosion });
            }
        }
        if self.generator().count() == 0 {
            return Some(if self.is_check() {
                Outcome::Win { winner: !self.turn(), by: WinReason::Checkmate }
            } else {
                Outcome::Draw(DrawReason::Stalemate)
            });
        }
        self.draw_on_the_board().map(Outcome::Draw)
    }

    /// The draws that hold whatever the legal moves and the earlier positions are: material, closed
    /// positions, and the fifty-move rule (R22). Asked only while both kings are there; a position
    /// that is mate or stalemate is that first.
    pub fn draw_on_the_board(&self) -> Option<DrawReason> {
        if self.neither_side_can_win() {
            Some(DrawReason::InsufficientMaterial)
        } else if self.is_closed() {
            Some(DrawReason::ClosedPosition)
        } else if self.halfmove_clock() >= 100 {
            Some(DrawReason::FiftyMoves)
        } else {
            None
        }
    }

    /// Whether this side has nothing but its king, and so can never win: a king does not capture
    /// (R6). It decides what a flag is worth.
    pub fn has_bare_king(&self, color: Color) -> bool {
        self.side(color).without(self.role(Role::King)).is_empty()
    }

    /// Insufficient material as lichess judges it.
    fn neither_side_can_win(&self) -> bool {
        let men = self.occupied().len();
        if men > 4 {
            return false;
        }
        let kings = self.role(Role::King);
        let bishops = self.role(Role::Bishop);
        let consists_of = |roles: Bitboard| self.occupied().without(kings | roles).is_empty();
        let on_both_colors =
            (bishops & Bitboard::DARK).any() && bishops.without(Bitboard::DARK).any();
        if !Color::ALL.into_iter().any(|color| self.has_bare_king(color)) {
            return consists_of(bishops) && on_both_colors;
        }
        let knights = self.role(Role::Knight);
        consists_of(knights) || (men <= 3 && consists_of(knights | bishops | self.role(Role::Rook)))
    }

    /// A closed position as lichess judges it: every man is a king, a bishop, or a pawn that another
    /// pawn blocks and that has no legal move; and the bishops, if any, are one side's, on squares
    /// of one color, and no enemy pawn stands on that color.
    fn is_closed(&self) -> bool {
        let pawns = self.role(Role::Pawn);
        let bishops = self.role(Role::Bishop);
        if self.occupied().without(self.role(Role::King) | pawns | bishops).any() {
            return false;
        }
        let blocked = Color::ALL
            .into_iter()
            .all(|color| self.of(color, Role::Pawn).all_squares(|pawn| self.is_stuck(color, pawn)));
        blocked && self.bishops_reach_nothing(bishops)
    }

    /// Whether a pawn has a pawn before it and could not capture legally, were it its side's turn.
    /// Lichess counts a capture that leaves the own king in check as none, even though the king
    /// may step away and make it possible again.
    fn is_stuck(&self, color: Color, pawn: Square) -> bool {
        let ahead = match color {
            Color::White => Bitboard::of(pawn).north(),
            Color::Black => Bitboard::of(pawn).south(),
        };
        if (ahead & self.role(Role::Pawn)).is_empty() {
            return false;
        }
        let reached = attacks::pawn(color, pawn);
        let targets = reached & self.side(!color);
        if color == self.turn() {
            let passed = reached & self.en_passant().map_or(Bitboard::EMPTY, Bitboard::of);
            targets.all_squares(|to| !self.is_legal(Move::new(pawn, to, Kind::Normal, true)))
                && passed
                    .all_squares(|to| !self.is_legal(Move::new(pawn, to, Kind::EnPassant, true)))
        } else {
            targets.is_empty() || {
                let their_turn = self.after_null();
                targets
                    .all_squares(|to| !their_turn.is_legal(Move::new(pawn, to, Kind::Normal, true)))
            }
        }
    }

    fn bishops_reach_nothing(&self, bishops: Bitboard) -> bool {
        let Some(bishop) = bishops.first() else { return true };
        let owner =
            if self.side(Color::White).contains(bishop) { Color::White } else { Color::Black };
        let colored =
            if Bitboard::DARK.contains(bishop) { Bitboard::DARK } else { !Bitboard::DARK };
        bishops.without(self.side(owner) & colored).is_empty()
            && (self.of(!owner, Role::Pawn) & colored).is_empty()
    }
}
