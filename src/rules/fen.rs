//! Forsyth-Edwards Notation: read X-FEN and Shredder-FEN, write X-FEN.

use std::{fmt::Write as _, str::FromStr};

use crate::rules::{
    Bitboard, Color, Piece, Position, Role, Square,
    square::{ParseSquareError, file_letter},
};

/// Why a text is no position that atomic chess can be played from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what each variant means")]
pub enum ParseFenError {
    #[error("the FEN is empty")]
    Empty,
    #[error("the FEN has {0} fields, at most 6 are allowed")]
    TooManyFields(usize),
    #[error("the board '{0}' must have 8 ranks of 8 squares")]
    Board(String),
    #[error("'{0}' is no piece letter")]
    PieceLetter(char),
    #[error("the side to move is '{0}', it must be 'w' or 'b'")]
    Turn(String),
    #[error("the castling field '{0}' must be '-' or letters of KQkq or A-H and a-h, each once")]
    Castling(String),
    #[error("the castling right '{0}' has no king and rook on the back rank to go with it")]
    CastlingWithoutRook(char),
    #[error("the en passant field: {0}")]
    EnPassant(#[from] ParseSquareError),
    #[error("no pawn can just have passed over the en passant square {0}")]
    EnPassantWithoutPawn(Square),
    #[error("the {name} '{found}' must be a number from 0 to 9999")]
    Counter { name: &'static str, found: String },
    #[error("{0} has {1} kings, it can have one, or none after an explosion")]
    Kings(Color, usize),
    #[error("both kings are missing")]
    NoKings,
    #[error("{0} has a pawn on {1}, on the first or last rank")]
    PawnOnBackRank(Color, Square),
    #[error("{0} has more men than the 8 pawns and 8 pieces of a game can become")]
    TooManyMen(Color),
    #[error("{0} is in check although it is the other side's turn")]
    OppositeCheck(Color),
}

impl Position {
    /// Reads a position. Castling rights may be written `KQkq` (the outermost rook, X-FEN) or as
    /// the files of the rooks (Shredder-FEN); the two counters may be missing.
    ///
    /// Positions that no game reaches are refused, except that one king may be missing: a server
    /// sends such a position when a game has ended by explosion.
    ///
    /// # Errors
    ///
    /// [`ParseFenError`] names the field and what was found.
    pub fn from_fen(fen: &str) -> Result<Self, ParseFenError> {
        let fields: Vec<&str> = fen.split_ascii_whitespace().collect();
        if fields.len() > 6 {
            return Err(ParseFenError::TooManyFields(fields.len()));
        }
        let field =
            |index: usize, default: &'static str| fields.get(index).copied().unwrap_or(default);
        let mut position = Self::empty();
        parse_board(&mut position, fields.first().ok_or(ParseFenError::Empty)?)?;
        check_men(&position)?;
        position.set_turn(match field(1, "w") {
            "w" => Color::White,
            "b" => Color::Black,
            other => return Err(ParseFenError::Turn(other.to_owned())),
        });
        parse_castling(&mut position, field(2, "-"))?;
        position.set_counters(
            parse_counter("halfmove clock", field(4, "0"))?,
            parse_counter("move number", field(5, "1"))?,
        );
        let waiting = !position.turn();
        if position.checkers_of(waiting).any() {
            return Err(ParseFenError::OppositeCheck(waiting));
        }
        parse_en_passant(&mut position, field(3, "-"))?;
        Ok(position)
    }

    /// The position in X-FEN: castling rights as `KQkq`, or as the file of the rook when another
    /// rook stands further out; the en passant square only if such a capture is legal.
    pub fn fen(&self) -> String {
        let mut fen = String::with_capacity(90);
        for rank in (0..8).rev() {
            let mut gap = 0_u8;
            for file in 0..8 {
                match self.piece_on(Square::at(file, rank)) {
                    None => gap += 1,
                    Some(piece) => {
                        push_gap(&mut fen, &mut gap);
                        fen.push(piece.letter());
                    }
                }
            }
            push_gap(&mut fen, &mut gap);
            if rank > 0 {
                fen.push('/');
            }
        }
        let turn = if self.turn() == Color::White { 'w' } else { 'b' };
        let en_passant = self.en_passant().map_or("-".to_owned(), |square| square.to_string());
        // Writing to a String cannot fail.
        let _ = write!(
            fen,
            " {turn} {} {en_passant} {} {}",
            self.castling_field(),
            self.halfmove_clock(),
            self.fullmove_number()
        );
        fen
    }

    fn castling_field(&self) -> String {
        let mut field = String::new();
        for color in Color::ALL {
            let Some(king) = self.king(color) else { continue };
            let back_rank = Bitboard::rank(color.back_rank());
            let rooks = self.of(color, Role::Rook) & back_rank;
            let mut rights: Vec<Square> = (self.castling_rooks() & back_rank).into_iter().collect();
            rights.reverse();
            for rook in rights {
                let letter = if rook.file() > king.file() && rooks.last() == Some(rook) {
                    'k'
                } else if rook.file() < king.file() && rooks.first() == Some(rook) {
                    'q'
                } else {
                    file_letter(rook.file())
                };
                let is_white = color == Color::White;
                field.push(if is_white { letter.to_ascii_uppercase() } else { letter });
            }
        }
        if field.is_empty() { "-".to_owned() } else { field }
    }
}

impl FromStr for Position {
    type Err = ParseFenError;

    fn from_str(fen: &str) -> Result<Self, Self::Err> {
        Self::from_fen(fen)
    }
}

fn push_gap(fen: &mut String, gap: &mut u8) {
    if *gap > 0 {
        fen.push(char::from(b'0' + *gap));
        *gap = 0;
    }
}

fn parse_board(position: &mut Position, text: &str) -> Result<(), ParseFenError> {
    let bad = || ParseFenError::Board(text.to_owned());
    let ranks: Vec<&str> = text.split('/').collect();
    if ranks.len() != 8 {
        return Err(bad());
    }
    for (rank, row) in (0..8).rev().zip(ranks) {
        let mut file = 0;
        for letter in row.chars() {
            if let Some(gap @ 1..=8) = letter.to_digit(10) {
                file += gap as u8;
            } else {
                let piece = Piece::from_letter(letter).ok_or(ParseFenError::PieceLetter(letter))?;
                if file > 7 {
                    return Err(bad());
                }
                position.put(piece, Square::at(file, rank));
                file += 1;
            }
            if file > 8 {
                return Err(bad());
            }
        }
        if file != 8 {
            return Err(bad());
        }
    }
    Ok(())
}

/// Refuses what no game reaches. The bound on the men also keeps move lists within their limit.
fn check_men(position: &Position) -> Result<(), ParseFenError> {
    for color in Color::ALL {
        let count = |role| position.of(color, role).len();
        if count(Role::King) > 1 {
            return Err(ParseFenError::Kings(color, count(Role::King)));
        }
        let pawns = position.of(color, Role::Pawn);
        if let Some(square) = (pawns & (Bitboard::rank(0) | Bitboard::rank(7))).first() {
            return Err(ParseFenError::PawnOnBackRank(color, square));
        }
        let promoted = count(Role::Knight).saturating_sub(2)
            + count(Role::Bishop).saturating_sub(2)
            + count(Role::Rook).saturating_sub(2)
            + count(Role::Queen).saturating_sub(1);
        if pawns.len() + promoted > 8 {
            return Err(ParseFenError::TooManyMen(color));
        }
    }
    if position.role(Role::King).is_empty() {
        return Err(ParseFenError::NoKings);
    }
    Ok(())
}

fn parse_castling(position: &mut Position, text: &str) -> Result<(), ParseFenError> {
    if text == "-" {
        return Ok(());
    }
    for letter in text.chars() {
        let color = if letter.is_ascii_uppercase() { Color::White } else { Color::Black };
        let back_rank = Bitboard::rank(color.back_rank());
        let rooks = position.of(color, Role::Rook) & back_rank;
        let king = position.king(color).filter(|&king| back_rank.contains(king));
        let without_rook = ParseFenError::CastlingWithoutRook(letter);
        let king = king.ok_or(without_rook.clone());
        let rook = match letter.to_ascii_lowercase() {
            'k' => rooks.last().filter(|rook| king.as_ref().is_ok_and(|k| rook.file() > k.file())),
            'q' => rooks.first().filter(|rook| king.as_ref().is_ok_and(|k| rook.file() < k.file())),
            file @ 'a'..='h' => (rooks & Bitboard::file(file as u8 - b'a')).first(),
            _ => return Err(ParseFenError::Castling(text.to_owned())),
        };
        let (king, rook) = (king?, rook.ok_or(without_rook)?);
        let same_side = (position.castling_rooks() & back_rank)
            .any_square(|other| (other.file() > king.file()) == (rook.file() > king.file()));
        if same_side {
            return Err(ParseFenError::Castling(text.to_owned()));
        }
        position.allow_castling(rook);
    }
    Ok(())
}

fn parse_en_passant(position: &mut Position, text: &str) -> Result<(), ParseFenError> {
    if text == "-" {
        return Ok(());
    }
    let passed: Square = text.parse()?;
    let mover = !position.turn();
    let (rank, pawn_rank, origin_rank) = match mover {
        Color::White => (2, 3, 1),
        Color::Black => (5, 4, 6),
    };
    let pawn = Square::at(passed.file(), pawn_rank);
    let origin = Square::at(passed.file(), origin_rank);
    if passed.rank() != rank
        || !position.of(mover, Role::Pawn).contains(pawn)
        || position.occupied().contains(passed)
        || position.occupied().contains(origin)
    {
        return Err(ParseFenError::EnPassantWithoutPawn(passed));
    }
    position.set_en_passant(passed, mover);
    Ok(())
}

fn parse_counter(name: &'static str, text: &str) -> Result<u16, ParseFenError> {
    text.parse()
        .ok()
        .filter(|&number| number <= 9999 && text.bytes().all(|byte| byte.is_ascii_digit()))
        .ok_or_else(|| ParseFenError::Counter { name, found: text.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_position_round_trips() {
        let fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        assert_eq!(Position::initial().fen(), fen);
    }

    #[test]
    fn inner_rooks_are_written_by_file() {
        let shredder = "rr2k2r/8/8/8/8/8/8/RR2K2R w BHbh - 0 1";
        let position = Position::from_fen(shredder).unwrap();
        assert_eq!(position.fen(), "rr2k2r/8/8/8/8/8/8/RR2K2R w KBkb - 0 1");
        assert_eq!(Position::from_fen(&position.fen()).unwrap(), position);
    }

    #[test]
    fn what_no_game_reaches_is_refused_with_the_reason() {
        for (fen, reason) in [
            ("", "the FEN is empty"),
            ("8/8/8/8/8/8/8 w - - 0 1", "must have 8 ranks"),
            ("9/8/8/8/8/8/8/8 w - - 0 1", "no piece letter"),
            ("ppppppppp/8/8/8/8/8/8/8 w - - 0 1", "must have 8 ranks"),
            ("8/8/8/8/8/8/8/8 w - - 0 1", "both kings are missing"),
            ("kk6/8/8/8/8/8/8/K7 w - - 0 1", "black has 2 kings"),
            ("k6P/8/8/8/8/8/8/K7 w - - 0 1", "a pawn on h8"),
            ("k7/8/8/8/P7/PPPPPPPP/8/K7 w - - 0 1", "more men than"),
            ("k7/8/8/8/QQ6/PPPPPPPP/8/K7 w - - 0 1", "more men than"),
            ("k7/8/8/8/8/8/8/K7 x - - 0 1", "the side to move is 'x'"),
            ("k7/8/8/8/8/8/8/K7 w K - 0 1", "castling right 'K' has no king and rook"),
            ("k7/8/8/8/8/8/8/K6R w KK - 0 1", "castling field 'KK'"),
            ("k7/8/8/8/8/8/8/K6R w ! - 0 1", "castling field '!'"),
            ("k7/8/8/8/8/8/8/K7 w - e9 0 1", "'e9' is no square"),
            ("k7/8/8/8/8/8/8/K7 w - e6 0 1", "passed over the en passant square e6"),
            ("k7/8/8/8/8/8/8/K7 w - - -1 1", "halfmove clock '-1'"),
            ("k7/8/8/8/8/8/8/K7 w - - 0 99999", "move number '99999'"),
            ("k6R/8/8/8/8/8/8/K7 w - - 0 1", "black is in check although"),
            ("k7/8/8/8/8/8/8/K7 w - - 0 1 7", "has 7 fields"),
        ] {
            let error = Position::from_fen(fen).unwrap_err().to_string();
            assert!(error.contains(reason), "{fen}: {error}");
        }
    }

    #[test]
    fn a_missing_king_is_read_because_servers_send_it() {
        assert!(Position::from_fen("k7/8/8/8/8/8/8/8 w - - 0 60").is_ok());
    }
}
