//! What the random games met, and how much of it they must meet.

use std::{fmt, iter::Sum};

use meitner::rules::{
    Bitboard, DrawReason, History, Kind, Move, MoveList, Outcome, Position, Role, Square,
    WinReason, attacks,
};

use super::move_of;

const CASES: usize = 36;

/// A case, the least number of positions with it among 200,000, and whether this is one. The
/// bounds stand at about half of what was met when they were written.
type Case = (&'static str, u64, bool);

/// How many positions of each case were met.
#[derive(Default)]
pub(crate) struct Coverage {
    positions: u64,
    cases: Vec<(&'static str, u64, u64)>,
}

impl Coverage {
    pub(crate) fn positions(&self) -> u64 {
        self.positions
    }

    /// Counts the cases that the current position of a game is one of.
    pub(crate) fn count(&mut self, history: &History) {
        let cases = Facts::new(history).cases();
        self.cases.resize(CASES, Default::default());
        self.positions += 1;
        for (sum, (name, least, is_met)) in self.cases.iter_mut().zip(cases) {
            *sum = (name, least, sum.2 + u64::from(is_met));
        }
    }

    /// Fails if a case was met too seldom.
    pub(crate) fn check(&self) {
        assert_eq!(self.cases.len(), CASES);
        for &(name, least, met) in &self.cases {
            let least = least * self.positions / 200_000;
            assert!(met >= least, "only {met} positions with '{name}', {least} expected");
        }
    }
}

impl Sum for Coverage {
    fn sum<I: Iterator<Item = Self>>(shares: I) -> Self {
        shares.fold(Self::default(), |mut sum, share| {
            sum.positions += share.positions;
            sum.cases.resize(CASES, Default::default());
            for (sum, (name, least, met)) in sum.cases.iter_mut().zip(share.cases) {
                *sum = (name, least, sum.2 + met);
            }
            sum
        })
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} positions, of which", self.positions)?;
        self.cases.iter().try_for_each(|(name, _, met)| writeln!(f, "{met:>10}  {name}"))
    }
}

/// A position seen by the side to move.
struct Facts<'a> {
    history: &'a History,
    position: &'a Position,
    legal: MoveList,
    ours: Bitboard,
    theirs: Bitboard,
    king: Option<Square>,
    their_king: Option<Square>,
}

impl<'a> Facts<'a> {
    fn new(history: &'a History) -> Self {
        let position = history.position();
        let us = position.turn();
        Self {
            history,
            position,
            legal: position.legal_moves(),
            ours: position.side(us),
            theirs: position.side(!us),
            king: position.king(us),
            their_king: position.king(!us),
        }
    }

    #[expect(clippy::too_many_lines, reason = "a table, one row for each case")]
    fn cases(&self) -> [Case; CASES] {
        let checkers = self.position.checkers();
        let is_check = checkers.any();
        let touch = self.position.kings_touch();
        let captures = || self.legal.iter().copied().filter(|mv| mv.is_capture());
        let trades = || captures().filter(|&mv| !self.wins(mv));
        let refused: Vec<Move> = self.refused_captures();
        let castlings = || self.legal.iter().copied().filter(|mv| mv.is_castling());
        let outcome = self.position.outcome();
        let won = |by| matches!(outcome, Some(Outcome::Win { by: how, .. }) if how == by);
        let drawn = |reason| outcome == Some(Outcome::Draw(reason));
        let men = self.position.occupied();
        let kings_and_bishops = self.position.role(Role::King) | self.position.role(Role::Bishop);
        let refused_en_passant = self.refused_en_passant();
        let is_in_zone = |mv: &Move| self.zone().contains(mv.to());
        [
            ("check", 3_000, is_check),
            ("double check", 80, checkers.len() == 2),
            ("triple check", 10, checkers.len() > 2),
            ("kings touch", 20_000, touch),
            (
                "kings touch, one is attacked",
                6_000,
                touch && self.is_attacked(self.king, Bitboard::EMPTY),
            ),
            ("castling", 1_000, castlings().next().is_some()),
            ("castling refused although the way is free", 300, self.refuses_castling()),
            ("castling while kings touch", 80, touch && castlings().next().is_some()),
            (
                "castling over attacked squares beside the enemy king",
                20,
                castlings().any(|mv| self.is_shielded_by_king(mv)),
            ),
            (
                "castling into shelter behind its own rook",
                3,
                castlings().any(|mv| self.is_shielded_by_rook(mv)),
            ),
            (
                "castling with the king on its square",
                200,
                castlings().any(|mv| mv.from() == targets(mv).0),
            ),
            (
                "castling with the rook on its square",
                100,
                castlings().any(|mv| mv.to() == targets(mv).1),
            ),
            ("en passant", 500, self.legal.iter().any(|mv| mv.kind() == Kind::EnPassant)),
            (
                "en passant explodes the enemy king",
                60,
                captures().any(|mv| mv.kind() == Kind::EnPassant && self.wins(mv)),
            ),
            ("en passant in check", 4, is_check && trades().any(|mv| mv.kind() == Kind::EnPassant)),
            (
                "en passant refused: own king in the blast",
                10,
                refused_en_passant.iter().any(is_in_zone),
            ),
            (
                "en passant refused: own king attacked after",
                7,
                refused_en_passant.iter().any(|mv| !is_in_zone(mv)),
            ),
            ("promotion", 2_000, self.legal.iter().any(|mv| mv.promotion().is_some())),
            ("promotion by capture", 300, captures().any(|mv| mv.promotion().is_some())),
            ("enemy king can be exploded", 10_000, captures().any(|mv| self.wins(mv))),
            (
                "enemy king can be exploded out of check",
                300,
                is_check && captures().any(|mv| self.wins(mv)),
            ),
            ("capture refused: both kings in the blast", 1_000, self.can_reach_both_kings()),
            (
                "check answered by exploding the checker's neighbor",
                100,
                is_check && trades().any(|mv| !checkers.contains(mv.to())),
            ),
            (
                "double check answered by one explosion",
                3,
                checkers.has_several() && trades().next().is_some(),
            ),
            (
                "capture refused: the capturer leaves a line",
                500,
                refused.iter().any(|&mv| self.is_pinned(mv)),
            ),
            (
                "capture refused: the blast opens a line",
                600,
                !is_check && refused.iter().any(|&mv| !self.is_pinned(mv)),
            ),
            (
                "pinned man captures and the pinner explodes",
                100,
                !is_check && trades().any(|mv| self.explodes_pinner(mv)),
            ),
            (
                "castling right can be lost in a blast",
                1_000,
                trades()
                    .any(|mv| (self.position.explosion(mv) & self.position.castling_rooks()).any()),
            ),
            ("stalemate", 30, drawn(DrawReason::Stalemate)),
            ("checkmate", 90, won(WinReason::Checkmate)),
            ("explosion", 80, won(WinReason::Explosion)),
            ("insufficient material", 1_000, drawn(DrawReason::InsufficientMaterial)),
            ("closed position", 400, drawn(DrawReason::ClosedPosition)),
            ("fifty moves", 200, drawn(DrawReason::FiftyMoves)),
            ("third occurrence", 30, self.history.occurrences() >= 3),
            ("five men or more, with bishops only", 300, men.len() > 4 && men == kings_and_bishops),
        ]
    }

    /// The neighbors of our king.
    fn zone(&self) -> Bitboard {
        self.king.map_or(Bitboard::EMPTY, attacks::king)
    }

    fn their_zone(&self) -> Bitboard {
        self.their_king.map_or(Bitboard::EMPTY, attacks::king)
    }

    fn wins(&self, mv: Move) -> bool {
        self.their_king.is_some_and(|king| self.position.explosion(mv).contains(king))
    }

    /// Whether an enemy man other than the king attacks a square, were these squares empty.
    fn is_attacked(&self, square: Option<Square>, emptied: Bitboard) -> bool {
        let men = self.theirs.without(self.position.role(Role::King));
        let occupied = self.position.occupied().without(emptied);
        square.is_some_and(|square| (self.position.attackers(square, occupied) & men).any())
    }

    /// Captures that are pseudo-legal, take neither king along, and yet are not legal.
    fn refused_captures(&self) -> Vec<Move> {
        let kings = self.zone() | self.their_zone();
        let targets = self.theirs.without(kings | self.position.role(Role::King));
        let mut refused = Vec::new();
        for to in targets {
            let men = self.ours.without(self.position.role(Role::King));
            for from in self.position.attackers(to, self.position.occupied()) & men {
                let is_legal = self.legal.iter().any(|mv| mv.from() == from && mv.to() == to);
                if !is_legal && self.their_king.is_some() {
                    refused.push(move_of(from, to, Kind::Normal, true));
                }
            }
        }
        refused
    }

    fn can_reach_both_kings(&self) -> bool {
        let targets = (self.zone() & self.their_zone() & self.theirs).into_iter();
        let men = self.ours.without(self.position.role(Role::King));
        let occupied = self.position.occupied();
        targets.into_iter().any(|to| (self.position.attackers(to, occupied) & men).any())
    }

    /// Whether the king is attacked once the man is away.
    fn is_pinned(&self, mv: Move) -> bool {
        !self.position.is_check() && self.is_attacked(self.king, Bitboard::of(mv.from()))
    }

    fn explodes_pinner(&self, mv: Move) -> bool {
        let Some(king) = self.king else { return false };
        let occupied = self.position.occupied().without(Bitboard::of(mv.from()));
        let pinners = self.position.attackers(king, occupied) & self.theirs;
        !self.position.kings_touch() && pinners.any() && !pinners.contains(mv.to())
    }

    /// En passant captures after the last move that are not legal.
    fn refused_en_passant(&self) -> Vec<Move> {
        let Some(&last) = self.history.moves().last() else { return Vec::new() };
        let (from, to) = (last.from(), last.to());
        let pawns = self.position.role(Role::Pawn);
        let is_double_step = from.file() == to.file() && from.rank().abs_diff(to.rank()) == 2;
        if !(is_double_step && (self.theirs & pawns).contains(to)) || self.their_king.is_none() {
            return Vec::new();
        }
        let passed = Square::at(from.file(), u8::midpoint(from.rank(), to.rank()));
        let beside = Bitboard::of(to).east() | Bitboard::of(to).west();
        let en_passant = |from| move_of(from, passed, Kind::EnPassant, true);
        let captures = (beside & self.ours & pawns).into_iter().map(en_passant);
        captures.filter(|mv| !self.legal.contains(mv)).collect()
    }

    /// Whether a right is there and nobody in the way, and still castling is not legal.
    fn refuses_castling(&self) -> bool {
        let Some(king) = self.king.filter(|_| self.their_king.is_some()) else { return false };
        (self.position.castling_rooks() & self.ours).any_square(|rook| {
            let mv = move_of(king, rook, Kind::Castling, false);
            let (king_to, rook_to) = targets(mv);
            let way = attacks::between(king, king_to)
                | attacks::between(rook, rook_to)
                | Bitboard::of(king_to)
                | Bitboard::of(rook_to);
            let others = self.position.occupied().without(Bitboard::of(king) | Bitboard::of(rook));
            (way & others).is_empty() && !self.legal.contains(&mv)
        })
    }

    /// Whether only the enemy king makes this castling legal.
    fn is_shielded_by_king(&self, mv: Move) -> bool {
        let king_to = targets(mv).0;
        let way = attacks::between(mv.from(), king_to) | Bitboard::of(king_to);
        (way & self.their_zone())
            .any_square(|square| self.is_attacked(Some(square), Bitboard::of(mv.from())))
    }

    /// Whether the king would be attacked on its new square if the rook stayed on its old one.
    fn is_shielded_by_rook(&self, mv: Move) -> bool {
        let king_to = targets(mv).0;
        !self.their_zone().contains(king_to)
            && self.is_attacked(Some(king_to), Bitboard::of(mv.from()))
    }
}

/// Where king and rook go in castling.
fn targets(mv: Move) -> (Square, Square) {
    let rank = mv.from().rank();
    let files = if mv.to().file() > mv.from().file() { (6, 5) } else { (2, 3) };
    (Square::at(files.0, rank), Square::at(files.1, rank))
}
