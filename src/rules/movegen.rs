//! Legal move generation.
//!
//! What restricts the moves of a position (checkers, pins, touching kings) is found once, in
//! [`Generator::new`]; after that quiet moves need no test of their own, and a capture needs one
//! only when an enemy slider is aligned with the king or the king is in check.

use crate::rules::{Bitboard, Color, Kind, Move, MoveList, Piece, Position, Role, Square, attacks};

/// What takes the generated moves: a list, or a counter that never unpacks the sets.
pub(super) trait Sink {
    /// Moves of one piece from `from` to each of `targets`.
    fn piece(&mut self, from: Square, targets: Bitboard, is_capture: bool);
    /// Pawn moves to each of `targets`, each from the square `offset` below (White) or above.
    fn pawns(&mut self, targets: Bitboard, offset: i8, is_capture: bool);
    /// Like `pawns`, onto the last rank: four moves for each target.
    fn promotions(&mut self, targets: Bitboard, offset: i8, is_capture: bool);
    /// Castling or en passant.
    fn special(&mut self, mv: Move);
}

impl Sink for MoveList {
    #[inline]
    fn piece(&mut self, from: Square, targets: Bitboard, is_capture: bool) {
        for to in targets {
            self.push(Move::new(from, to, Kind::Normal, is_capture));
        }
    }

    #[inline]
    fn pawns(&mut self, targets: Bitboard, offset: i8, is_capture: bool) {
        for to in targets {
            self.push(Move::new(origin(to, offset), to, Kind::Normal, is_capture));
        }
    }

    fn promotions(&mut self, targets: Bitboard, offset: i8, is_capture: bool) {
        for to in targets {
            for kind in PROMOTIONS {
                self.push(Move::new(origin(to, offset), to, kind, is_capture));
            }
        }
    }

    fn special(&mut self, mv: Move) {
        self.push(mv);
    }
}

/// Counts moves without writing them down.
#[derive(Default)]
pub(super) struct Counter(pub(super) u64);

impl Sink for Counter {
    #[inline]
    fn piece(&mut self, _: Square, targets: Bitboard, _: bool) {
        self.0 += u64::from(targets.0.count_ones());
    }

    #[inline]
    fn pawns(&mut self, targets: Bitboard, _: i8, _: bool) {
        self.0 += u64::from(targets.0.count_ones());
    }

    #[inline]
    fn promotions(&mut self, targets: Bitboard, _: i8, _: bool) {
        self.0 += 4 * u64::from(targets.0.count_ones());
    }

    #[inline]
    fn special(&mut self, _: Move) {
        self.0 += 1;
    }
}

const PROMOTIONS: [Kind; 4] =
    [Kind::PromoteToQueen, Kind::PromoteToKnight, Kind::PromoteToRook, Kind::PromoteToBishop];

/// The square that a pawn comes from when it moves by `offset` to `to`.
#[inline]
const fn origin(to: Square, offset: i8) -> Square {
    Square::new((to.index() as u8).wrapping_sub(offset as u8))
}

/// The legal moves of one position, in portions.
pub struct Generator<'a> {
    position: &'a Position,
    us: Color,
    occupied: Bitboard,
    /// `None` once either king has exploded: then there are no moves.
    kings: Option<Kings>,
    /// Enemy men giving check; none while the kings touch.
    checkers: Bitboard,
    /// Own men that may move only along the line through them and the king.
    pinned: Bitboard,
    /// Enemy sliders that would attack the king on an empty board; none while the kings touch.
    snipers: Bitboard,
    /// Where a quiet move of a man other than the king may end: anywhere, or between a single
    /// checker and the king.
    blocks: Bitboard,
}

#[derive(Clone, Copy)]
struct Kings {
    ours: Square,
    /// The neighbors of our king: a capture there would explode it (R7).
    our_zone: Bitboard,
    /// The enemy king and its neighbors: a capture there explodes it (R2).
    their_zone: Bitboard,
    touch: bool,
}

impl<'a> Generator<'a> {
    /// Finds what restricts the moves of the side to move.
    pub fn new(position: &'a Position) -> Self {
        let us = position.turn();
        let mut generator = Self {
            position,
            us,
            occupied: position.occupied(),
            kings: None,
            checkers: Bitboard::EMPTY,
            pinned: Bitboard::EMPTY,
            snipers: Bitboard::EMPTY,
            blocks: Bitboard::FULL,
        };
        let (Some(ours), Some(theirs)) = (position.king(us), position.king(!us)) else {
            return generator;
        };
        let our_zone = attacks::king(ours);
        let touch = our_zone.contains(theirs);
        let their_zone = attacks::king(theirs) | Bitboard::of(theirs);
        generator.kings = Some(Kings { ours, our_zone, their_zone, touch });
        if !touch {
            generator.find_checks_and_pins(ours);
        }
        generator
    }

    fn find_checks_and_pins(&mut self, king: Square) {
        let them = self.position.side(!self.us);
        let (rooks, bishops) = self.enemy_sliders();
        self.snipers = (attacks::rook(king, Bitboard::EMPTY) & rooks)
            | (attacks::bishop(king, Bitboard::EMPTY) & bishops);
        self.checkers = them
            & ((attacks::knight(king) & self.position.role(Role::Knight))
                | (attacks::pawn(self.us, king) & self.position.role(Role::Pawn)));
        for sniper in self.snipers {
            let blockers = attacks::between(king, sniper) & self.occupied;
            if blockers.is_empty() {
                self.checkers.insert(sniper);
            } else if !blockers.has_several() {
                self.pinned |= blockers & self.position.side(self.us);
            }
        }
        if let Some(checker) = self.checkers.first() {
            self.blocks = if self.checkers.has_several() {
                Bitboard::EMPTY
            } else {
                attacks::between(king, checker)
            };
        }
    }

    /// Enemy men that move like a rook, and those that move like a bishop.
    fn enemy_sliders(&self) -> (Bitboard, Bitboard) {
        let them = self.position.side(!self.us);
        let queens = self.position.role(Role::Queen);
        (
            them & (self.position.role(Role::Rook) | queens),
            them & (self.position.role(Role::Bishop) | queens),
        )
    }

    /// The men that give check to the side to move.
    #[inline]
    pub fn checkers(&self) -> Bitboard {
        self.checkers
    }

    /// Appends the legal captures.
    pub fn captures(&self, moves: &mut MoveList) {
        self.generate_captures(moves);
    }

    /// Appends the legal moves that are no captures, castling included.
    pub fn quiets(&self, moves: &mut MoveList) {
        self.generate_quiets(moves);
    }

    /// The number of legal moves.
    pub fn count(&self) -> u64 {
        let mut counter = Counter::default();
        self.generate_captures(&mut counter);
        self.generate_quiets(&mut counter);
        counter.0
    }

    /// Whether the side to move can explode the enemy king at once (R2, R13).
    pub fn can_explode_king(&self) -> bool {
        let Some(kings) = self.kings else { return false };
        let zone = kings.their_zone.without(kings.our_zone);
        self.position.could_explode_king(self.us)
            || self.position.en_passant().is_some_and(|square| zone.contains(square))
    }

    pub(super) fn generate_captures(&self, sink: &mut impl Sink) {
        let Some(kings) = self.kings else { return };
        // R7: whatever explodes our own king is never legal. R6: the king never captures.
        let targets = self.position.side(!self.us).without(kings.our_zone);
        let men = self.position.side(self.us);
        let is_free = kings.touch || (self.checkers.is_empty() && self.snipers.is_empty());
        for from in men.without(self.position.role(Role::Pawn) | self.position.role(Role::King)) {
            let mut reached = self.attacks_from(from) & targets;
            if !is_free {
                reached = self.safe_captures(from, reached, kings);
            }
            if reached.any() {
                sink.piece(from, reached, true);
            }
        }
        self.pawn_captures(sink, targets, is_free, kings);
        if let Some(square) = self.position.en_passant() {
            for from in attacks::pawn(!self.us, square) & self.position.of(self.us, Role::Pawn) {
                if self.is_safe_en_passant(from, square, kings) {
                    sink.special(Move::new(from, square, Kind::EnPassant, true));
                }
            }
        }
    }

    fn pawn_captures(&self, sink: &mut impl Sink, targets: Bitboard, is_free: bool, kings: Kings) {
        let pawns = self.position.of(self.us, Role::Pawn);
        let forward = self.forward();
        let ahead = self.ahead(pawns);
        for (mut reached, offset) in [(ahead.east(), forward + 1), (ahead.west(), forward - 1)] {
            reached &= targets;
            if !is_free {
                let safe = |to: &Square| {
                    self.is_safe_capture(origin(*to, offset), *to, Bitboard::of(*to), kings)
                };
                reached = reached.filtered(safe);
            }
            self.split_promotions(sink, reached, offset, true);
        }
    }

    pub(super) fn generate_quiets(&self, sink: &mut impl Sink) {
        let Some(kings) = self.kings else { return };
        self.king_steps(sink, kings);
        if self.blocks.is_empty() {
            return;
        }
        let targets = self.blocks.without(self.occupied);
        let men = self.position.side(self.us);
        for from in men.without(self.position.role(Role::Pawn) | self.position.role(Role::King)) {
            let mut reached = self.attacks_from(from) & targets;
            if self.pinned.contains(from) {
                reached &= attacks::line(kings.ours, from);
            }
            if reached.any() {
                sink.piece(from, reached, false);
            }
        }
        self.pawn_pushes(sink, kings);
        if self.checkers.is_empty() {
            for rook in self.position.castling_rooks() & Bitboard::rank(self.us.back_rank()) & men {
                if self.can_castle(rook, kings) {
                    sink.special(Move::new(kings.ours, rook, Kind::Castling, false));
                }
            }
        }
    }

    fn king_steps(&self, sink: &mut impl Sink, kings: Kings) {
        let targets = kings.our_zone.without(self.occupied);
        let safe = targets.filtered(|&to| self.is_safe_for_king(to, kings));
        if safe.any() {
            sink.piece(kings.ours, safe, false);
        }
    }

    /// Whether our king may stand on this square: beside the enemy king always (R8), elsewhere if
    /// nothing attacks it there once it has left its own square.
    fn is_safe_for_king(&self, to: Square, kings: Kings) -> bool {
        kings.their_zone.contains(to)
            || !self.is_attacked(to, self.occupied.without(Bitboard::of(kings.ours)))
    }

    /// Whether an enemy man other than the king attacks a square.
    fn is_attacked(&self, square: Square, occupied: Bitboard) -> bool {
        let them = self.position.side(!self.us).without(self.position.role(Role::King));
        (self.position.attackers(square, occupied) & them).any()
    }

    fn pawn_pushes(&self, sink: &mut impl Sink, kings: Kings) {
        let pawns = self.position.of(self.us, Role::Pawn);
        // A pinned pawn can still go along the pin, which for a push means along the king's file.
        let bound = self.pinned.without(Bitboard::file(kings.ours.file()));
        let empty = !self.occupied;
        let single = self.ahead(pawns.without(bound)) & empty;
        let third = Bitboard::rank(if self.us == Color::White { 2 } else { 5 });
        let double = self.ahead(single & third) & empty & self.blocks;
        self.split_promotions(sink, single & self.blocks, self.forward(), false);
        if double.any() {
            sink.pawns(double, 2 * self.forward(), false);
        }
    }

    #[inline]
    fn split_promotions(
        &self,
        sink: &mut impl Sink,
        targets: Bitboard,
        offset: i8,
        is_capture: bool,
    ) {
        let last = Bitboard::rank((!self.us).back_rank());
        let plain = targets.without(last);
        if plain.any() {
            sink.pawns(plain, offset, is_capture);
        }
        let promoting = targets & last;
        if promoting.any() {
            sink.promotions(promoting, offset, is_capture);
        }
    }

    #[inline]
    const fn forward(&self) -> i8 {
        match self.us {
            Color::White => 8,
            Color::Black => -8,
        }
    }

    /// The squares one step ahead of ours.
    #[inline]
    const fn ahead(&self, set: Bitboard) -> Bitboard {
        match self.us {
            Color::White => set.north(),
            Color::Black => set.south(),
        }
    }

    /// What one of our pieces attacks (not for pawns).
    #[inline]
    fn attacks_from(&self, from: Square) -> Bitboard {
        match self.position.piece_on(from).map(|piece| piece.role) {
            Some(Role::Knight) => attacks::knight(from),
            Some(Role::Bishop) => attacks::bishop(from, self.occupied),
            Some(Role::Rook) => attacks::rook(from, self.occupied),
            Some(Role::Queen) => attacks::queen(from, self.occupied),
            Some(Role::Pawn | Role::King) | None => Bitboard::EMPTY,
        }
    }

    fn safe_captures(&self, from: Square, reached: Bitboard, kings: Kings) -> Bitboard {
        reached.filtered(|&to| self.is_safe_capture(from, to, Bitboard::of(to), kings))
    }

    /// Whether our king is safe after a capture whose blast does not reach it: the enemy king goes
    /// (R13), or the kings touch (R8), or no enemy man that is left attacks it (R10, R11).
    fn is_safe_capture(&self, from: Square, to: Square, captured: Bitboard, kings: Kings) -> bool {
        if kings.touch || kings.their_zone.contains(to) {
            return true;
        }
        let gone = self.position.blast(to) | captured | Bitboard::of(from);
        // A checker that is left and cannot be interposed by an explosion stays a checker.
        let left = self.checkers.without(gone);
        if left.without(self.snipers).any() {
            return false;
        }
        let occupied = self.occupied.without(gone);
        !self
            .snipers
            .without(gone)
            .any_square(|sniper| (attacks::between(kings.ours, sniper) & occupied).is_empty())
    }

    fn is_safe_en_passant(&self, from: Square, to: Square, kings: Kings) -> bool {
        let captured = Bitboard::of(Square::at(to.file(), from.rank()));
        !kings.our_zone.contains(to) && self.is_safe_capture(from, to, captured, kings)
    }

    /// Whether a pawn of the side to move can legally capture en passant on this square.
    pub(super) fn can_capture_en_passant(&self, square: Square) -> bool {
        let Some(kings) = self.kings else { return false };
        (attacks::pawn(!self.us, square) & self.position.of(self.us, Role::Pawn))
            .any_square(|from| self.is_safe_en_passant(from, square, kings))
    }

    /// Whether the king may castle with this rook (R19). The caller knows that it is not in check.
    fn can_castle(&self, rook: Square, kings: Kings) -> bool {
        let mv = Move::new(kings.ours, rook, Kind::Castling, false);
        let (king_to, rook_to) = mv.castling_targets();
        let movers = Bitboard::of(kings.ours) | Bitboard::of(rook);
        let king_path = attacks::between(kings.ours, king_to) | Bitboard::of(king_to);
        let rook_path = attacks::between(rook, rook_to) | Bitboard::of(rook_to);
        let others = self.occupied.without(movers);
        if ((king_path | rook_path) & others).any() {
            return false;
        }
        let is_exposed = || {
            let occupied = others | Bitboard::of(rook_to);
            !kings.their_zone.contains(king_to) && self.is_attacked(king_to, occupied)
        };
        // On the way the rook still stands where it was. At the end it has moved, and may shelter
        // the king from a line that touching kings suspended until then.
        attacks::between(kings.ours, king_to).all_squares(|on| self.is_safe_for_king(on, kings))
            && !is_exposed()
    }

    /// Whether the move, however it was come by, is legal.
    pub fn is_legal(&self, mv: Move) -> bool {
        let Some(kings) = self.kings else { return false };
        let (from, to) = (mv.from(), mv.to());
        let Some(Piece { color, role }) = self.position.piece_on(from) else { return false };
        if color != self.us {
            return false;
        }
        match mv.kind() {
            Kind::Castling => {
                return role == Role::King
                    && !mv.is_capture()
                    && self.checkers.is_empty()
                    && self.position.castling_rooks().contains(to)
                    && self.position.side(self.us).contains(to)
                    && to.rank() == self.us.back_rank()
                    && self.can_castle(to, kings);
            }
            Kind::EnPassant => {
                return role == Role::Pawn
                    && mv.is_capture()
                    && self.position.en_passant() == Some(to)
                    && attacks::pawn(self.us, from).contains(to)
                    && self.is_safe_en_passant(from, to, kings);
            }
            _ => {}
        }
        let is_last_rank = to.rank() == (!self.us).back_rank();
        if mv.promotion().is_some() != (role == Role::Pawn && is_last_rank) {
            return false;
        }
        if mv.is_capture() {
            self.is_legal_capture(role, from, to, kings)
        } else {
            self.is_legal_quiet(role, from, to, kings)
        }
    }

    fn is_legal_capture(&self, role: Role, from: Square, to: Square, kings: Kings) -> bool {
        let reached = match role {
            Role::King => return false,
            Role::Pawn => attacks::pawn(self.us, from),
            _ => self.attacks_from(from),
        };
        (reached & self.position.side(!self.us)).without(kings.our_zone).contains(to)
            && self.is_safe_capture(from, to, Bitboard::of(to), kings)
    }

    fn is_legal_quiet(&self, role: Role, from: Square, to: Square, kings: Kings) -> bool {
        if self.occupied.contains(to) {
            return false;
        }
        let is_reached = match role {
            Role::King => {
                return kings.our_zone.contains(to) && self.is_safe_for_king(to, kings);
            }
            Role::Pawn => self.is_pawn_push(from, to),
            _ => self.attacks_from(from).contains(to),
        };
        is_reached
            && self.blocks.contains(to)
            && (!self.pinned.contains(from) || attacks::line(kings.ours, from).contains(to))
    }

    fn is_pawn_push(&self, from: Square, to: Square) -> bool {
        let one = self.ahead(Bitboard::of(from)).without(self.occupied);
        let second = if self.us == Color::White { 1 } else { 6 };
        one.contains(to)
            || (from.rank() == second && self.ahead(one).without(self.occupied).contains(to))
    }
}
