//! Standard Algebraic Notation: `Nxf7#`, `O-O`, `e8=N`.

use crate::rules::{Bitboard, Kind, Move, Position, Role, Square, square::file_letter};

/// Why a text is no move in SAN that can be played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseSanError {
    /// No legal move is written like this.
    #[error("'{san}' is no legal move in {fen}")]
    NoMove {
        /// The text as given.
        san: String,
        /// The position it was to be played in.
        fen: String,
    },
    /// Several legal moves fit.
    #[error("'{san}' fits several moves in {fen}")]
    Ambiguous {
        /// The text as given.
        san: String,
        /// The position it was to be played in.
        fen: String,
    },
}

impl Position {
    /// A legal move in SAN, with `+` for check (R10) and `#` for a move that wins the game: mate
    /// (R20), or explosion of the king (R2).
    ///
    /// Only moves that are legal need telling apart: of two knights that reach a square, one may be
    /// pinned, or explode its own king there.
    pub fn san(&self, mv: Move) -> String {
        let mut san = self.san_without_suffix(mv);
        let next = self.after(mv);
        if next.outcome().is_some_and(|outcome| outcome.winner().is_some()) {
            san.push('#');
        } else if next.is_check() {
            san.push('+');
        }
        san
    }

    fn san_without_suffix(&self, mv: Move) -> String {
        if mv.is_castling() {
            let is_king_side = mv.to().file() > mv.from().file();
            return if is_king_side { "O-O" } else { "O-O-O" }.to_owned();
        }
        let role = self.piece_on(mv.from()).map_or(Role::Pawn, |piece| piece.role);
        let mut san = String::with_capacity(8);
        if role == Role::Pawn {
            if mv.is_capture() {
                san.push(file_letter(mv.from().file()));
            }
        } else {
            san.push(role.letter().to_ascii_uppercase());
            san.push_str(&self.disambiguation(mv, role));
        }
        if mv.is_capture() {
            san.push('x');
        }
        san.push_str(&mv.to().to_string());
        if let Some(role) = mv.promotion() {
            san.push('=');
            san.push(role.letter().to_ascii_uppercase());
        }
        san
    }

    /// The file, the rank or both of the origin, as far as another man of this role can legally go
    /// to the same square.
    fn disambiguation(&self, mv: Move, role: Role) -> String {
        let rivals: Bitboard = self
            .legal_moves()
            .iter()
            .filter(|other| {
                other.to() == mv.to()
                    && other.kind() == Kind::Normal
                    && self.piece_on(other.from()).is_some_and(|piece| piece.role == role)
            })
            .map(|other| other.from())
            .filter(|&from| from != mv.from())
            .collect();
        let from = mv.from();
        if rivals.is_empty() {
            String::new()
        } else if (rivals & Bitboard::file(from.file())).is_empty() {
            file_letter(from.file()).to_string()
        } else if (rivals & Bitboard::rank(from.rank())).is_empty() {
            (from.rank() + 1).to_string()
        } else {
            from.to_string()
        }
    }

    /// Reads a legal move in SAN, as in chess: a blast is not written. Suffixes (`+`, `#`, `!`, `?`),
    /// zeros for castling, a missing `x` or `=` and more disambiguation than needed are accepted.
    ///
    /// # Errors
    ///
    /// [`ParseSanError`] if no legal move fits, or several do.
    pub fn parse_san(&self, text: &str) -> Result<Move, ParseSanError> {
        let no_move = || ParseSanError::NoMove { san: text.to_owned(), fen: self.fen() };
        let parts = SanParts::parse(text).ok_or_else(no_move)?;
        let moves = self.legal_moves();
        let mut fitting = moves.iter().copied().filter(|&mv| parts.fits(self, mv));
        let found = fitting.next().ok_or_else(no_move)?;
        match fitting.next() {
            None => Ok(found),
            Some(_) => Err(ParseSanError::Ambiguous { san: text.to_owned(), fen: self.fen() }),
        }
    }
}

/// What a SAN text says about its move.
enum SanParts {
    Castling { is_king_side: bool },
    Move { role: Role, file: Option<u8>, rank: Option<u8>, to: Square, promotion: Option<Role> },
}

impl SanParts {
    fn parse(text: &str) -> Option<Self> {
        let body = text.trim_end_matches(['+', '#', '!', '?']);
        match body {
            "O-O" | "0-0" => return Some(Self::Castling { is_king_side: true }),
            "O-O-O" | "0-0-0" => return Some(Self::Castling { is_king_side: false }),
            _ if !body.is_ascii() => return None,
            _ => {}
        }
        let (role, rest) = match body.chars().next()? {
            letter @ ('N' | 'B' | 'R' | 'Q' | 'K') => (Role::from_letter(letter)?, &body[1..]),
            _ => (Role::Pawn, body),
        };
        let (rest, promotion) = match rest.chars().last()? {
            letter @ ('N' | 'B' | 'R' | 'Q') => {
                (rest[..rest.len() - 1].trim_end_matches('='), Role::from_letter(letter))
            }
            _ => (rest, None),
        };
        let split = rest.len().checked_sub(2)?;
        let to: Square = rest[split..].parse().ok()?;
        let (mut file, mut rank) = (None, None);
        for letter in rest[..split].trim_end_matches(['x', '-', ':']).bytes() {
            match letter {
                b'a'..=b'h' if file.is_none() && rank.is_none() => file = Some(letter - b'a'),
                b'1'..=b'8' if rank.is_none() => rank = Some(letter - b'1'),
                _ => return None,
            }
        }
        Some(Self::Move { role, file, rank, to, promotion })
    }

    fn fits(&self, position: &Position, mv: Move) -> bool {
        match *self {
            Self::Castling { is_king_side } => {
                mv.is_castling() && (mv.to().file() > mv.from().file()) == is_king_side
            }
            Self::Move { role, file, rank, to, promotion } => {
                !mv.is_castling()
                    && mv.to() == to
                    && mv.promotion() == promotion
                    && position.piece_on(mv.from()).is_some_and(|piece| piece.role == role)
                    && file.is_none_or(|file| file == mv.from().file())
                    && rank.is_none_or(|rank| rank == mv.from().rank())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_legal_move_is_read_back() {
        let mut random = fastrand::Rng::with_seed(5);
        let mut position = Position::initial();
        for _ in 0..500 {
            let moves = position.legal_moves();
            for &mv in &moves {
                let san = position.san(mv);
                assert_eq!(position.parse_san(&san), Ok(mv), "{san} in {position:?}");
            }
            position = match random.choice(moves.iter()) {
                Some(&mv) => position.after(mv),
                None => Position::initial(),
            };
        }
    }

    #[test]
    fn exploding_the_king_is_written_like_mate() {
        let fen = "r1bqkb1r/ppp1pp1p/2n2np1/3pN3/3P4/2N5/PPP1PPPP/R1BQKB1R w KQkq - 0 5";
        let position = Position::from_fen(fen).unwrap();
        assert_eq!(position.san(position.parse_uci("e5f7").unwrap()), "Nxf7#");
    }

    #[test]
    fn what_is_no_san_is_refused() {
        let position = Position::initial();
        for text in ["", "N", "x", "Nf9", "Zf3", "e5", "O-O", "Nfff3", "♞f3", "e4=Q", "=Q"] {
            assert!(position.parse_san(text).is_err(), "{text}");
        }
    }
}
