//! A move in two bytes, and the list that holds all moves of a position.

use std::fmt;

use arrayvec::ArrayVec;

use crate::rules::{Role, Square};

/// A move: origin, target, kind, and whether it captures.
///
/// Castling is stored as the king's square and the *rook's* square, which names it without
/// doubt in every start position; see [`CastlingNotation`] for how it is written.
/// A `Move` means something only together with the position that it was made for.
///
/// Bits: 0–5 origin, 6–11 target, 12–14 [`Kind`], 15 capture.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Move(u16);

/// What a move does besides going from one square to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum Kind {
    /// A step, or a capture on the square where the captured man stands (R1, R5).
    Normal = 0,
    /// A pawn reaches its last rank and becomes a knight, unless it captures and explodes (R19).
    PromoteToKnight = 1,
    /// The same, a bishop.
    PromoteToBishop = 2,
    /// The same, a rook.
    PromoteToRook = 3,
    /// The same, a queen.
    PromoteToQueen = 4,
    /// King and rook move together (R19).
    Castling = 5,
    /// A pawn captures one that has just passed it; the blast is where it lands (R4).
    EnPassant = 6,
}

/// How castling is written in UCI notation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CastlingNotation {
    /// King to rook: `e1h1`. What lichess writes for atomic, and `UCI_Chess960`.
    #[default]
    KingToRook,
    /// King two squares: `e1g1`. Unambiguous for the standard start only.
    KingTwoSquares,
}

/// The most moves that an accepted position can have: 218 are known in chess, and no FEN with
/// more men than a game can have is accepted.
pub const MAX_MOVES: usize = 256;

/// All moves of a position.
pub type MoveList = ArrayVec<Move, MAX_MOVES>;

const CAPTURE: u16 = 1 << 15;

impl Move {
    /// No move. It is never legal.
    pub const NULL: Self = Self(0);

    pub(crate) const fn new(from: Square, to: Square, kind: Kind, is_capture: bool) -> Self {
        Self(
            from.index() as u16
                | (to.index() as u16) << 6
                | (kind as u16) << 12
                | if is_capture { CAPTURE } else { 0 },
        )
    }

    /// The two bytes, for tables and files.
    pub const fn to_bits(self) -> u16 {
        self.0
    }

    /// The move of these two bytes; [`Move::NULL`] if they name no kind of move. Only
    /// [`Position::is_legal`](crate::rules::Position::is_legal) tells whether it can be played.
    pub const fn from_bits(bits: u16) -> Self {
        if bits >> 12 & 7 > Kind::EnPassant as u16 { Self::NULL } else { Self(bits) }
    }

    /// Where the moving man stands.
    pub const fn from(self) -> Square {
        Square::new((self.0 & 63) as u8)
    }

    /// Where it goes; the rook's square in castling.
    pub const fn to(self) -> Square {
        Square::new((self.0 >> 6 & 63) as u8)
    }

    /// What else the move does.
    pub const fn kind(self) -> Kind {
        match self.0 >> 12 & 7 {
            1 => Kind::PromoteToKnight,
            2 => Kind::PromoteToBishop,
            3 => Kind::PromoteToRook,
            4 => Kind::PromoteToQueen,
            5 => Kind::Castling,
            6 => Kind::EnPassant,
            _ => Kind::Normal,
        }
    }

    /// Whether the move captures, and so explodes (R1). En passant does (R4).
    pub const fn is_capture(self) -> bool {
        self.0 & CAPTURE != 0
    }

    /// Whether this is [`Move::NULL`].
    pub const fn is_null(self) -> bool {
        self.0 == 0
    }

    /// Whether the move castles (R19).
    pub const fn is_castling(self) -> bool {
        matches!(self.kind(), Kind::Castling)
    }

    /// What the pawn becomes, if it is promoted (R19). One that captures explodes all the same.
    pub const fn promotion(self) -> Option<Role> {
        match self.kind() {
            Kind::PromoteToKnight => Some(Role::Knight),
            Kind::PromoteToBishop => Some(Role::Bishop),
            Kind::PromoteToRook => Some(Role::Rook),
            Kind::PromoteToQueen => Some(Role::Queen),
            Kind::Normal | Kind::Castling | Kind::EnPassant => None,
        }
    }

    /// Where the king and the rook stand after this castling move: on the g and f, or c and d
    /// files of their rank.
    pub(crate) const fn castling_targets(self) -> (Square, Square) {
        let rank = self.from().rank();
        if self.to().file() > self.from().file() {
            (Square::at(6, rank), Square::at(5, rank))
        } else {
            (Square::at(2, rank), Square::at(3, rank))
        }
    }

    /// The move in UCI notation.
    pub fn uci(self, notation: CastlingNotation) -> String {
        let to = match notation {
            CastlingNotation::KingTwoSquares if self.is_castling() => self.castling_targets().0,
            _ => self.to(),
        };
        let promotion = self.promotion().map(Role::letter).map(String::from).unwrap_or_default();
        format!("{}{to}{promotion}", self.from())
    }
}

impl Default for Move {
    fn default() -> Self {
        Self::NULL
    }
}

impl fmt::Display for Move {
    /// UCI notation, castling as king to rook.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.uci(CastlingNotation::KingToRook))
    }
}

impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self, if self.is_capture() { "*" } else { "" })
    }
}
