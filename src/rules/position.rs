//! A position: where the men stand, who moves, and which rights are left; and how a move changes
//! it.
//!
//! Moves are made on a copy: an explosion removes up to ten men, so that taking a move back costs
//! more than copying these 160 bytes.

use std::fmt;

use crate::rules::{
    Bitboard, Color, Generator, Kind, Move, MoveList, Piece, Role, Square, attacks, zobrist,
};

/// Where the men stand, who moves, castling and en passant rights, and the move counters.
///
/// A position is always one that a game can go on from or has just ended in: at most one king is
/// missing (it has exploded), and the side that just moved does not stand in check.
#[derive(Clone, PartialEq, Eq)]
pub struct Position {
    roles: [Bitboard; 6],
    sides: [Bitboard; 2],
    /// The same men by square, for "what stands here".
    board: [Option<Piece>; 64],
    /// Rooks that may still castle.
    castling: Bitboard,
    /// Where a pawn can be captured en passant; set only if that capture is legal.
    en_passant: Option<Square>,
    turn: Color,
    halfmove_clock: u16,
    fullmove_number: u16,
    key: u64,
}

impl Position {
    /// The standard start position.
    ///
    /// # Panics
    ///
    /// Never: the text is a constant that the tests parse.
    pub fn initial() -> Self {
        Self::from_fen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")
            .expect("the start position is valid")
    }

    /// An empty board with White to move, to be filled by the FEN reader.
    pub(super) fn empty() -> Self {
        Self {
            roles: [Bitboard::EMPTY; 6],
            sides: [Bitboard::EMPTY; 2],
            board: [None; 64],
            castling: Bitboard::EMPTY,
            en_passant: None,
            turn: Color::White,
            halfmove_clock: 0,
            fullmove_number: 1,
            key: 0,
        }
    }

    /// The side to move.
    #[inline]
    pub const fn turn(&self) -> Color {
        self.turn
    }

    /// Plies since the last capture or pawn move; 100 draw (R22).
    pub const fn halfmove_clock(&self) -> u32 {
        self.halfmove_clock as u32
    }

    /// Starts at 1 and grows after each move of Black.
    pub const fn fullmove_number(&self) -> u32 {
        self.fullmove_number as u32
    }

    /// Plies since move 1 of White, by the move number.
    pub const fn ply(&self) -> u32 {
        (self.fullmove_number as u32).saturating_sub(1) * 2 + self.turn as u32
    }

    /// Zobrist key of everything but the move counters.
    #[inline]
    pub const fn key(&self) -> u64 {
        self.key
    }

    /// All occupied squares.
    #[inline]
    pub fn occupied(&self) -> Bitboard {
        self.sides[0] | self.sides[1]
    }

    /// The squares of one side's men.
    #[inline]
    pub const fn side(&self, color: Color) -> Bitboard {
        self.sides[color.index()]
    }

    /// The squares of both sides' men of this role.
    #[inline]
    pub const fn role(&self, role: Role) -> Bitboard {
        self.roles[role.index()]
    }

    /// The squares of one side's men of this role.
    #[inline]
    pub fn of(&self, color: Color, role: Role) -> Bitboard {
        self.side(color) & self.role(role)
    }

    /// The man on a square.
    #[inline]
    pub const fn piece_on(&self, square: Square) -> Option<Piece> {
        self.board[square.index()]
    }

    /// Where a side's king stands; `None` once it has exploded.
    #[inline]
    pub fn king(&self, color: Color) -> Option<Square> {
        self.of(color, Role::King).first()
    }

    /// Rooks that may still castle with their king.
    pub const fn castling_rooks(&self) -> Bitboard {
        self.castling
    }

    /// Where a pawn can be captured en passant, if such a capture is legal.
    pub const fn en_passant(&self) -> Option<Square> {
        self.en_passant
    }

    /// Whether the two kings stand side by side, which suspends all checks (R8).
    pub fn kings_touch(&self) -> bool {
        match (self.king(Color::White), self.king(Color::Black)) {
            (Some(white), Some(black)) => attacks::king(white).contains(black),
            _ => false,
        }
    }

    /// Every man that attacks a square over the given occupied squares, kings included.
    pub fn attackers(&self, square: Square, occupied: Bitboard) -> Bitboard {
        let rooks = self.role(Role::Rook) | self.role(Role::Queen);
        let bishops = self.role(Role::Bishop) | self.role(Role::Queen);
        (attacks::knight(square) & self.role(Role::Knight))
            | (attacks::king(square) & self.role(Role::King))
            | (attacks::pawn(Color::Black, square) & self.of(Color::White, Role::Pawn))
            | (attacks::pawn(Color::White, square) & self.of(Color::Black, Role::Pawn))
            | (attacks::rook(square, occupied) & rooks)
            | (attacks::bishop(square, occupied) & bishops)
    }

    /// Whether a man of `by`, were it that side's turn, could explode the enemy king by capturing a
    /// man beside it (R2), check or no check (R13). En passant is left out.
    pub fn could_explode_king(&self, by: Color) -> bool {
        let (Some(ours), Some(theirs)) = (self.king(by), self.king(!by)) else { return false };
        let zone = attacks::king(theirs) | Bitboard::of(theirs);
        let targets = zone.without(attacks::king(ours)) & self.side(!by);
        let men = self.side(by);
        if (attacks::pawns(by, men & self.role(Role::Pawn)) & targets).any() {
            return true;
        }
        let occupied = self.occupied();
        let queens = self.role(Role::Queen);
        // Most sliders are not even aligned with a target: the rays tell for less than a lookup.
        (men & self.role(Role::Knight)).any_square(|from| attacks::knight(from).meets(targets))
            || (men & (self.role(Role::Bishop) | queens)).any_square(|from| {
                attacks::bishop_rays(from).meets(targets)
                    && attacks::bishop(from, occupied).meets(targets)
            })
            || (men & (self.role(Role::Rook) | queens)).any_square(|from| {
                attacks::rook_rays(from).meets(targets)
                    && attacks::rook(from, occupied).meets(targets)
            })
    }

    /// The men that give check to the side to move (R10); none while the kings touch (R8).
    pub fn checkers(&self) -> Bitboard {
        self.checkers_of(self.turn)
    }

    /// The men that attack the king of `color`; none while the kings touch (R8), and none once a
    /// king has exploded, for that has ended the game whoever stood in check (R13).
    pub(super) fn checkers_of(&self, color: Color) -> Bitboard {
        match (self.king(color), self.king(!color)) {
            (Some(king), Some(_)) if !self.kings_touch() => {
                self.attackers(king, self.occupied()) & self.side(!color)
            }
            _ => Bitboard::EMPTY,
        }
    }

    /// Whether the side to move is in check (R10, R12). The search asks this after each move, so
    /// that it looks for one attacker instead of all, and for sliders along empty lines instead of
    /// in the large tables.
    pub fn is_check(&self) -> bool {
        let (Some(king), Some(theirs)) = (self.king(self.turn), self.king(!self.turn)) else {
            return false;
        };
        if attacks::king(king).contains(theirs) {
            return false;
        }
        let them = self.side(!self.turn);
        let queens = self.role(Role::Queen);
        let leapers = (attacks::knight(king) & self.role(Role::Knight))
            | (attacks::pawn(self.turn, king) & self.role(Role::Pawn));
        let sliders = (attacks::rook_rays(king) & (self.role(Role::Rook) | queens))
            | (attacks::bishop_rays(king) & (self.role(Role::Bishop) | queens));
        let occupied = self.occupied();
        leapers.meets(them)
            || (sliders & them).any_square(|slider| !attacks::between(king, slider).meets(occupied))
    }

    /// The generator of this position's legal moves, for callers that want them in portions.
    #[inline]
    pub fn generator(&self) -> Generator<'_> {
        Generator::new(self)
    }

    /// All legal moves; none once a king has exploded (R2).
    pub fn legal_moves(&self) -> MoveList {
        let mut moves = MoveList::new();
        let generator = self.generator();
        generator.captures(&mut moves);
        generator.quiets(&mut moves);
        moves
    }

    /// The legal captures.
    pub fn captures(&self) -> MoveList {
        let mut moves = MoveList::new();
        self.generator().captures(&mut moves);
        moves
    }

    /// Whether the move, however it was come by, is legal here.
    pub fn is_legal(&self, mv: Move) -> bool {
        self.generator().is_legal(mv)
    }

    /// The squares that a capture empties: the capturer's, the captured man's, and those of every
    /// neighbor that is no pawn (R1, R3, R4). Empty for a move that is no capture (R5).
    pub fn explosion(&self, mv: Move) -> Bitboard {
        if !mv.is_capture() {
            return Bitboard::EMPTY;
        }
        let captured = match mv.kind() {
            Kind::EnPassant => Square::at(mv.to().file(), mv.from().rank()),
            _ => mv.to(),
        };
        self.blast(mv.to()) | Bitboard::of(mv.from()) | Bitboard::of(captured)
    }

    /// The men beside `center` that a capture there takes along: all but pawns (R1).
    #[inline]
    pub fn blast(&self, center: Square) -> Bitboard {
        attacks::king(center) & self.occupied().without(self.role(Role::Pawn))
    }

    /// The position after a legal move.
    #[must_use]
    pub fn after(&self, mv: Move) -> Self {
        let mut next = self.clone();
        next.play_unchecked(mv);
        next
    }

    /// Makes a move that the caller knows to be legal.
    pub fn play_unchecked(&mut self, mv: Move) {
        let us = self.turn;
        if let Some(square) = self.en_passant.take() {
            self.key ^= zobrist::en_passant(square);
        }
        self.halfmove_clock = self.halfmove_clock.saturating_add(1);

        if mv.is_capture() {
            self.explode(mv);
        } else if mv.is_castling() {
            self.castle(mv);
        } else {
            self.step(mv);
        }

        if us == Color::Black {
            self.fullmove_number = self.fullmove_number.saturating_add(1);
        }
        self.turn = !us;
        self.key ^= zobrist::turn(Color::Black);

        if !mv.is_capture() && mv.from().index().abs_diff(mv.to().index()) == 16 {
            self.allow_en_passant(mv);
        }
    }

    /// Passes the turn without a move, for a searcher's null move. The caller sees to it that the
    /// side to move is not in check.
    #[must_use]
    pub fn after_null(&self) -> Self {
        let mut next = self.clone();
        if let Some(square) = next.en_passant.take() {
            next.key ^= zobrist::en_passant(square);
        }
        next.halfmove_clock = next.halfmove_clock.saturating_add(1);
        next.turn = !next.turn;
        next.key ^= zobrist::turn(Color::Black);
        next
    }

    /// R1 to R4 and R18: everything in the blast goes, and rights go with their men.
    fn explode(&mut self, mv: Move) {
        let gone = self.explosion(mv);
        for square in gone {
            if let Some(piece) = self.board[square.index()].take() {
                self.key ^= zobrist::piece(piece, square);
            }
        }
        for set in self.roles.iter_mut().chain(&mut self.sides) {
            *set = set.without(gone);
        }
        self.halfmove_clock = 0;
        let mut lost = gone;
        for color in Color::ALL {
            if self.of(color, Role::King).is_empty() {
                lost |= Bitboard::rank(color.back_rank());
            }
        }
        self.drop_castling(lost);
    }

    fn castle(&mut self, mv: Move) {
        let (king_to, rook_to) = mv.castling_targets();
        let (Some(king), Some(rook)) = (self.take(mv.from()), self.take(mv.to())) else {
            return;
        };
        self.put(king, king_to);
        self.put(rook, rook_to);
        self.drop_castling(Bitboard::rank(self.turn.back_rank()));
    }

    fn step(&mut self, mv: Move) {
        let (from, to) = (mv.from(), mv.to());
        let Some(piece) = self.board[from.index()].take() else { return };
        let mut arrived = piece;
        match piece.role {
            Role::Pawn => {
                self.halfmove_clock = 0;
                arrived.role = mv.promotion().unwrap_or(Role::Pawn);
            }
            Role::King => self.drop_castling(Bitboard::rank(self.turn.back_rank())),
            _ => self.drop_castling(Bitboard::of(from)),
        }
        self.board[to.index()] = Some(arrived);
        self.roles[piece.role.index()].remove(from);
        self.roles[arrived.role.index()].insert(to);
        let side = &mut self.sides[piece.color.index()];
        side.remove(from);
        side.insert(to);
        self.key ^= zobrist::piece(piece, from) ^ zobrist::piece(arrived, to);
    }

    /// After a double step: notes the en passant square if a capture there is legal, so that two
    /// positions are the same exactly when the same moves can be played in them.
    fn allow_en_passant(&mut self, mv: Move) {
        let Some(Piece { role: Role::Pawn, color }) = self.piece_on(mv.to()) else { return };
        let passed = Square::at(mv.from().file(), u8::midpoint(mv.from().rank(), mv.to().rank()));
        self.set_en_passant(passed, color);
    }

    /// Notes that a pawn of `color` has just passed over this square, if it can be captured.
    pub(super) fn set_en_passant(&mut self, passed: Square, color: Color) {
        if (attacks::pawn(color, passed) & self.of(!color, Role::Pawn)).any()
            && self.generator().can_capture_en_passant(passed)
        {
            self.en_passant = Some(passed);
            self.key ^= zobrist::en_passant(passed);
        }
    }

    #[inline]
    pub(super) fn put(&mut self, piece: Piece, square: Square) {
        self.roles[piece.role.index()].insert(square);
        self.sides[piece.color.index()].insert(square);
        self.board[square.index()] = Some(piece);
        self.key ^= zobrist::piece(piece, square);
    }

    #[inline]
    fn take(&mut self, square: Square) -> Option<Piece> {
        let piece = self.board[square.index()].take()?;
        self.roles[piece.role.index()].remove(square);
        self.sides[piece.color.index()].remove(square);
        self.key ^= zobrist::piece(piece, square);
        Some(piece)
    }

    pub(super) fn allow_castling(&mut self, rook: Square) {
        self.castling.insert(rook);
        self.key ^= zobrist::castling(rook);
    }

    fn drop_castling(&mut self, squares: Bitboard) {
        let lost = self.castling & squares;
        if lost.any() {
            self.castling = self.castling.without(lost);
            for rook in lost {
                self.key ^= zobrist::castling(rook);
            }
        }
    }

    pub(super) fn set_turn(&mut self, turn: Color) {
        self.key ^= zobrist::turn(self.turn) ^ zobrist::turn(turn);
        self.turn = turn;
    }

    pub(super) fn set_counters(&mut self, halfmove_clock: u16, fullmove_number: u16) {
        self.halfmove_clock = halfmove_clock;
        self.fullmove_number = fullmove_number.max(1);
    }

    /// The key computed anew from the whole position: what [`Position::key`] must always equal.
    #[cfg(test)]
    fn computed_key(&self) -> u64 {
        let pieces = self.occupied().into_iter().fold(0, |key, square| {
            key ^ self.piece_on(square).map_or(0, |piece| zobrist::piece(piece, square))
        });
        let castling = self.castling.into_iter().fold(0, |key, rook| key ^ zobrist::castling(rook));
        pieces
            ^ castling
            ^ self.en_passant.map_or(0, zobrist::en_passant)
            ^ zobrist::turn(self.turn)
    }
}

impl Default for Position {
    fn default() -> Self {
        Self::initial()
    }
}

impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Position({})", self.fen())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays random games and calls `check` on every position.
    fn random_games(count: u64, mut check: impl FnMut(&Position)) {
        for seed in 0..count {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut position = Position::initial();
            for _ in 0..200 {
                check(&position);
                let moves = position.legal_moves();
                let Some(&mv) = random.choice(moves.iter()) else { break };
                position.play_unchecked(mv);
            }
        }
    }

    #[test]
    fn incremental_key_equals_the_computed_one() {
        random_games(200, |position| assert_eq!(position.key(), position.computed_key()));
    }

    #[test]
    fn bitboards_and_board_agree() {
        random_games(50, |position| {
            for square in Square::all() {
                let expected = Color::ALL.into_iter().find_map(|color| {
                    Role::ALL
                        .into_iter()
                        .find(|&role| position.of(color, role).contains(square))
                        .map(|role| Piece { color, role })
                });
                assert_eq!(position.piece_on(square), expected);
            }
        });
    }

    #[test]
    fn a_move_is_legal_exactly_if_it_is_in_the_list() {
        random_games(12, |position| {
            let moves = position.legal_moves();
            for bits in 0..=u16::MAX {
                let mv = Move::from_bits(bits);
                assert_eq!(position.is_legal(mv), moves.contains(&mv), "{mv:?} in {position:?}");
            }
        });
    }

    #[test]
    fn positions_are_small() {
        assert!(size_of::<Position>() <= 224);
    }
}
