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
    #[error("the {name} '{found}' must be a number from 0 to 65535")]
    Counter { name: &'static str, found: String },
    #[error("{0} has {1} kings, it can have one, or none after an explosion")]
    Kings(Color, usize),
    #[error("both kings are missing")]
    NoKings,
    #[error("{0} has a pawn on {1}, on the first or last rank")]
    PawnOnBackRank(Color, Square),
    #[error(
        "{0} has more men than the 8 pawns and 8 pieces of a game can become: \
         pawns and pieces beyond the first set may be 8 together"
    )]
    TooManyMen(Color),
    #[error("{0} is in check although it is the other side's turn")]
    OppositeCheck(Color),
}

impl Position {
    /// Reads a position. Castling rights may be written `KQkq` (the outermost rook, X-FEN) or as
    /// the files of the rooks (Shredder-FEN); fields may be missing from the end on, and are then
    /// `w - - 0 1`.
    ///
    /// Lichess itself sends no FEN but the standard start for atomic, so this is about other
    /// servers, interfaces and files. What no game reaches is refused where playing on would be
    /// meaningless or a limit of this program would break, and accepted where a server could send
    /// it or nothing depends on it:
    ///
    /// | the position has | | why |
    /// |---|---|---|
    /// | no king | refused | a capture that explodes both kings is illegal (R7) |
    /// | one king | accepted | how a game ends by explosion (R2); the other side has won, whoever is to move |
    /// | two kings of a color | refused | whose loss would count? |
    /// | a pawn on the first or last rank | refused | it would have been promoted, or come from nowhere |
    /// | more pawns, or pieces that were pawns, than 8 a side | refused | bounds the moves of a position, [`MAX_MOVES`](crate::rules::MAX_MOVES) |
    /// | the side that waits in check | refused | its king could be captured, which no rule covers |
    /// | the same, with one king gone | accepted | to explode the enemy king is an answer to check (R13) |
    /// | kings that touch | accepted | legal, and suspends checks (R8) |
    /// | more than two checkers, or checkers that no move explains | accepted | an explosion can open several lines at once |
    /// | bishops or pawns that no game puts there | accepted | nothing depends on how they came there |
    /// | a castling right without king or rook | refused | cannot be meant; the other fields may be wrong as well |
    /// | a castling right of a king that is gone | accepted, dropped | means nothing any more, so that servers may leave it |
    /// | an en passant square that no pawn passed over | refused | as for castling |
    /// | an en passant square where no capture is legal | accepted, dropped | many programs write one after every double step |
    /// | an en passant square and a halfmove clock above 0 | accepted | the clock matters for draws only |
    /// | a halfmove clock of 100 or more | accepted | a draw (R22), unless the board says otherwise |
    /// | move number 0 | accepted, read as 1 | some programs count from 0 |
    /// | a clock or number up to 65535, where they stop | accepted | what this program writes it can read |
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
    let is_right = |letter: char| "kqabcdefgh".contains(letter.to_ascii_lowercase());
    if !text.chars().all(is_right) {
        return Err(ParseFenError::Castling(text.to_owned()));
    }
    for letter in text.chars() {
        let color = if letter.is_ascii_uppercase() { Color::White } else { Color::Black };
        let back_rank = Bitboard::rank(color.back_rank());
        let rooks = position.of(color, Role::Rook) & back_rank;
        let Some(king) = position.king(color) else { continue };
        let rook = match letter.to_ascii_lowercase() {
            'k' => rooks.last().filter(|rook| rook.file() > king.file()),
            'q' => rooks.first().filter(|rook| rook.file() < king.file()),
            file => (rooks & Bitboard::file(file as u8 - b'a')).first(),
        };
        let rook = rook.filter(|_| back_rank.contains(king));
        let rook = rook.ok_or(ParseFenError::CastlingWithoutRook(letter))?;
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
        .filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
        .ok_or_else(|| ParseFenError::Counter { name, found: text.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Outcome;

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

    /// Reads each position and compares its own FEN with what is expected.
    fn check_accepted(cases: &[(&str, &str)]) {
        for &(fen, expected) in cases {
            let position = Position::from_fen(fen).unwrap_or_else(|error| panic!("{fen}: {error}"));
            assert_eq!(position.fen(), expected, "{fen}");
        }
    }

    fn check_refused(cases: &[(&str, &str)]) {
        for (fen, reason) in cases {
            let error = Position::from_fen(fen).unwrap_err().to_string();
            assert!(error.contains(reason), "{fen}: {error}");
        }
    }

    #[test]
    fn what_is_no_fen_is_refused_with_the_reason() {
        check_refused(&[
            ("", "the FEN is empty"),
            ("8/8/8/8/8/8/8 w - - 0 1", "must have 8 ranks"),
            ("9/8/8/8/8/8/8/8 w - - 0 1", "no piece letter"),
            ("ppppppppp/8/8/8/8/8/8/8 w - - 0 1", "must have 8 ranks"),
            ("k7/8/8/8/8/8/8/K7 x - - 0 1", "the side to move is 'x'"),
            ("k7/8/8/8/8/8/8/K6R w KK - 0 1", "castling field 'KK'"),
            ("k7/8/8/8/8/8/8/K6R w ! - 0 1", "castling field '!'"),
            ("k7/8/8/8/8/8/8/K7 w - e9 0 1", "'e9' is no square"),
            ("k7/8/8/8/8/8/8/K7 w - - -1 1", "halfmove clock '-1'"),
            ("k7/8/8/8/8/8/8/K7 w - - +1 1", "halfmove clock '+1'"),
            ("k7/8/8/8/8/8/8/K7 w - - 0 65536", "move number '65536'"),
            ("k7/8/8/8/8/8/8/K7 w - - 0 1 7", "has 7 fields"),
        ]);
    }

    #[test]
    fn missing_fields_have_their_usual_values() {
        for fields in ["", " w", " w -", " w - -", " w - - 0"] {
            let fen = format!("k7/8/8/8/8/8/8/K6R{fields}");
            check_accepted(&[(&fen, "k7/8/8/8/8/8/8/K6R w - - 0 1")]);
        }
    }

    #[test]
    fn kings_are_one_a_side_or_one_in_all() {
        check_refused(&[
            ("8/8/8/8/8/8/8/8 w - - 0 1", "both kings are missing"),
            ("4r3/8/8/8/8/8/8/R7 w - - 0 1", "both kings are missing"),
            ("kk6/8/8/8/8/8/8/K7 w - - 0 1", "black has 2 kings"),
            ("k7/8/8/8/8/8/8/K1K4K w - - 0 1", "white has 3 kings"),
        ]);
        for turn in ["w", "b"] {
            let fen = format!("k7/8/8/8/8/8/8/R7 {turn} - - 0 60");
            check_accepted(&[(&fen, &fen)]);
            let position = Position::from_fen(&fen).unwrap();
            assert_eq!(position.outcome().and_then(Outcome::winner), Some(Color::Black));
            assert!(position.legal_moves().is_empty());
        }
    }

    /// Found by the properties of `tests/properties/`: R13 wins while in check, and the FEN of the
    /// end of such a game was refused.
    #[test]
    fn the_winner_may_stand_in_check_once_the_enemy_king_is_gone() {
        let position = Position::from_fen("8/8/6Qk/8/2b5/8/P7/1K6 b - - 0 1").unwrap();
        let over = position.after(position.parse_uci("c4a2").unwrap());
        check_accepted(&[(&over.fen(), "8/8/6Qk/8/8/8/8/8 w - - 0 2")]);
    }

    #[test]
    fn pawns_do_not_stand_on_the_first_or_last_rank() {
        check_refused(&[
            ("k6P/8/8/8/8/8/8/K7 w - - 0 1", "white has a pawn on h8"),
            ("k7/8/8/8/8/8/8/K6P w - - 0 1", "white has a pawn on h1"),
            ("k6p/8/8/8/8/8/8/K7 w - - 0 1", "black has a pawn on h8"),
            ("k7/8/8/8/8/8/8/K6p w - - 0 1", "black has a pawn on h1"),
        ]);
    }

    #[test]
    fn pawns_and_promoted_pieces_are_eight_at_most() {
        check_refused(&[
            ("k7/8/8/8/P7/PPPPPPPP/8/K7 w - - 0 1", "white has more men than"),
            ("k7/8/8/8/QQ6/PPPPPPPP/8/K7 w - - 0 1", "white has more men than"),
            ("k7/8/bbb5/pppppppp/8/8/8/K7 w - - 0 1", "black has more men than"),
            ("k7/8/8/8/NNNNNNNN/NN6/7Q/K6Q w - - 0 1", "white has more men than"),
        ]);
        let most = "k7/8/8/8/NNNNNNNN/NN6/QRR5/K1BB4 w - - 0 1";
        check_accepted(&[(most, most)]);
    }

    /// The most moves that two million steps of simulated annealing found, as many as are known in
    /// chess.
    #[test]
    fn the_most_moves_known_fit_the_list() {
        let most = "4Q2k/2Q3KB/Q4Q2/3Q4/1Q4QN/4Q2N/2Q4B/R4R2 w - - 0 1";
        let moves = Position::from_fen(most).unwrap().legal_moves();
        assert_eq!(moves.len(), 218);
        assert!(moves.remaining_capacity() > 30);
    }

    #[test]
    fn the_side_that_waits_is_not_in_check_unless_the_kings_touch() {
        check_refused(&[
            ("k6R/8/8/8/8/8/8/K7 w - - 0 1", "black is in check although"),
            ("k6r/8/8/8/8/8/8/7K b - - 0 1", "white is in check although"),
        ]);
        let touching = "kK5R/8/8/8/8/8/8/8 w - - 0 1";
        check_accepted(&[(touching, touching)]);
    }

    #[test]
    fn checks_that_no_move_explains_are_accepted() {
        let many = "k6R/8/1N6/3B4/8/8/8/R6K b - - 0 1";
        check_accepted(&[(many, many)]);
        assert_eq!(Position::from_fen(many).unwrap().checkers().len(), 4);
        // A move can give three at once, where chess knows two: the blast opens three lines.
        let before = Position::from_fen("3k4/2N1N3/3p4/B1P5/7B/8/8/3R3K w - - 0 1").unwrap();
        let after = before.after(before.parse_uci("c5d6").unwrap());
        assert_eq!(after.checkers().len(), 3);
        check_accepted(&[(&after.fen(), "3k4/8/8/B7/7B/8/8/3R3K b - - 0 1")]);
    }

    #[test]
    fn bishops_and_pawns_may_stand_where_no_game_puts_them() {
        let odd = "k7/8/8/8/P1B5/P7/PPPPBPP1/K7 w - - 0 1";
        check_accepted(&[(odd, odd)]);
    }

    #[test]
    fn castling_rights_need_king_and_rook_unless_the_king_is_gone() {
        check_refused(&[
            ("k7/8/8/8/8/8/8/K7 w K - 0 1", "castling right 'K' has no king and rook"),
            ("k7/8/8/8/8/8/8/K6R w A - 0 1", "castling right 'A' has no king and rook"),
            ("k7/8/8/8/8/8/K7/7R w K - 0 1", "castling right 'K' has no king and rook"),
            ("k7/8/8/8/8/8/8/R3K2r w KQ - 0 1", "castling right 'K' has no king and rook"),
            ("r3k2r/8/8/8/8/8/8/R7 w Qx - 0 1", "castling field 'Qx'"),
        ]);
        check_accepted(&[("r3k2r/8/8/8/8/8/8/R7 w KQkq - 0 9", "r3k2r/8/8/8/8/8/8/R7 w kq - 0 9")]);
    }

    #[test]
    fn en_passant_needs_a_pawn_and_is_dropped_where_it_cannot_be_played() {
        check_refused(&[
            ("k7/8/8/8/8/8/8/K7 w - e6 0 1", "passed over the en passant square e6"),
            ("k7/8/8/3Pp3/8/8/8/K7 w - e3 0 1", "passed over the en passant square e3"),
            ("k7/8/8/3Pp3/8/8/8/K7 b - e6 0 1", "passed over the en passant square e6"),
            ("k7/8/4n3/3Pp3/8/8/8/K7 w - e6 0 1", "passed over the en passant square e6"),
            ("k7/4n3/8/3Pp3/8/8/8/K7 w - e6 0 1", "passed over the en passant square e6"),
        ]);
        check_accepted(&[
            ("k7/8/8/3Pp3/8/8/8/K7 w - e6 0 1", "k7/8/8/3Pp3/8/8/8/K7 w - e6 0 1"),
            ("k7/8/8/3Pp3/8/8/8/K7 w - e6 7 1", "k7/8/8/3Pp3/8/8/8/K7 w - e6 7 1"),
            // Nobody stands beside the pawn; the capture would explode our own king (R7).
            ("k7/8/8/4p3/8/8/8/K7 w - e6 0 1", "k7/8/8/4p3/8/8/8/K7 w - - 0 1"),
            ("k7/5K2/8/3Pp3/8/8/8/8 w - e6 0 1", "k7/5K2/8/3Pp3/8/8/8/8 w - - 0 1"),
            ("8/8/8/3Pp3/8/8/8/K7 w - e6 0 1", "8/8/8/3Pp3/8/8/8/K7 w - - 0 1"),
        ]);
    }

    #[test]
    fn counters_go_as_far_as_they_are_counted() {
        check_accepted(&[
            ("k7/8/8/8/8/8/8/K6R w - - 0 0", "k7/8/8/8/8/8/8/K6R w - - 0 1"),
            ("k7/8/8/8/8/8/8/K6R w - - 100 80", "k7/8/8/8/8/8/8/K6R w - - 100 80"),
            ("k7/8/8/8/8/8/8/K6R w - - 007 12", "k7/8/8/8/8/8/8/K6R w - - 7 12"),
        ]);
        // They stop at their bound, so that the position after a move can be read again. It could
        // not when the bound for reading was lower.
        let most = Position::from_fen("k7/8/8/8/8/8/8/K6R w - - 65535 65535").unwrap();
        let next = most.after(most.parse_uci("h1h2").unwrap());
        let next = next.after(next.parse_uci("a8a7").unwrap());
        check_accepted(&[(&next.fen(), "8/k7/8/8/8/8/7R/K7 w - - 65535 65535")]);
        let late = Position::from_fen("k7/8/8/8/8/8/8/K6R b - - 9999 9999").unwrap();
        let next = late.after(late.parse_uci("a8a7").unwrap());
        check_accepted(&[(&next.fen(), "8/k7/8/8/8/8/8/K6R w - - 10000 10000")]);
    }
}
