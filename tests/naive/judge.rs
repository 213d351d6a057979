//! What the naive core says of a position: its FEN, and whether the game is over.

use meitner::rules::{Color, DrawReason, Outcome, Piece, Role, WinReason};

use super::board::{Naive, Step, forward, name};

impl Naive {
    pub(crate) fn fen(&self) -> String {
        let letter = |at| self.at(at).map_or('1', Piece::letter);
        let row = |rank| (0..8).map(|file| letter((file, rank))).collect::<String>();
        let mut board = (0..8).rev().map(row).collect::<Vec<_>>().join("/");
        for gap in (2..=8).rev() {
            board = board.replace(&"1".repeat(gap), &gap.to_string());
        }
        let turn = if self.turn == Color::White { 'w' } else { 'b' };
        let mut rights = String::new();
        for (color, rook) in Color::ALL.into_iter().flat_map(|color| {
            let rooks = self.home_rooks(color).rev().filter(|rook| self.rooks.contains(rook));
            rooks.map(move |rook| (color, rook))
        }) {
            let is_east = self.king(color).is_some_and(|king| rook.0 > king.0);
            let letter = if is_east && self.home_rooks(color).next_back() == Some(rook) {
                'k'
            } else if !is_east && self.home_rooks(color).next() == Some(rook) {
                'q'
            } else {
                char::from(b'a' + rook.0 as u8)
            };
            rights.push(if color == Color::White { letter.to_ascii_uppercase() } else { letter });
        }
        let rights = if rights.is_empty() { "-" } else { &rights };
        let is_en_passant = |Step(from, to, ..): &Step| {
            self.passed == Some(*to) && self.is_man(*from, self.turn, Role::Pawn) && from.0 != to.0
        };
        let passed = self.legal_moves().iter().find(|step| is_en_passant(step)).map(|step| step.1);
        let passed = passed.map_or("-".to_owned(), name);
        format!("{board} {turn} {rights} {passed} {} {}", self.clock, self.number)
    }

    fn count(&self, roles: &[Role]) -> usize {
        Color::ALL
            .into_iter()
            .flat_map(|color| self.all(color))
            .filter(|man| roles.contains(&man.1))
            .count()
    }

    /// The order and the draws of lichess, `docs/PROTOCOLS.md`.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        let win = |winner, by| Some(Outcome::Win { winner, by });
        let gone = Color::ALL.into_iter().find(|color| self.king(*color).is_none());
        if let Some(color) = gone {
            win(!color, WinReason::Explosion)
        } else if self.legal_moves().is_empty() {
            let is_check = self.is_check(self.turn);
            let mate = win(!self.turn, WinReason::Checkmate).filter(|_| is_check);
            mate.or(Some(Outcome::Draw(DrawReason::Stalemate)))
        } else if self.has_insufficient_material() {
            Some(Outcome::Draw(DrawReason::InsufficientMaterial))
        } else if self.is_closed() {
            Some(Outcome::Draw(DrawReason::ClosedPosition))
        } else {
            (self.clock >= 100).then_some(Outcome::Draw(DrawReason::FiftyMoves))
        }
    }

    fn bishops(&self) -> Vec<(Color, i8)> {
        let all =
            Color::ALL.into_iter().flat_map(|color| self.all(color).map(move |man| (color, man)));
        let bishops = all.filter(|(_, (_, role))| *role == Role::Bishop);
        bishops.map(|(color, (at, _))| (color, (at.0 + at.1) % 2)).collect()
    }

    fn has_insufficient_material(&self) -> bool {
        let shades: Vec<i8> = self.bishops().iter().map(|bishop| bishop.1).collect();
        let on_both = shades.contains(&0) && shades.contains(&1);
        let (men, has_only) =
            (self.count(&Role::ALL), |roles: &[Role]| self.count(roles) == self.count(&Role::ALL));
        if Color::ALL.into_iter().all(|color| self.all(color).count() > 1) {
            has_only(&[Role::King, Role::Bishop]) && men <= 4 && on_both
        } else if has_only(&[Role::King, Role::Knight]) {
            men <= 4
        } else {
            has_only(&[Role::King, Role::Rook, Role::Bishop, Role::Knight]) && men <= 3 && !on_both
        }
    }

    /// Every man is a king, a bishop, or a pawn that a pawn blocks and that has no legal move; and
    /// there is no bishop, or all are one side's on one color and the enemy pawns on the other.
    fn is_closed(&self) -> bool {
        let all_stuck = Color::ALL.into_iter().all(|color| {
            let mut side = self.clone();
            side.turn = color;
            side.passed = self.passed.filter(|_| color == self.turn);
            let moves = side.legal_moves();
            self.all(color).filter(|man| man.1 == Role::Pawn).all(|(at, _)| {
                let ahead = self.at((at.0, at.1 + forward(color)));
                ahead.is_some_and(|man| man.role == Role::Pawn)
                    && moves.iter().all(|step| step.0 != at)
            })
        });
        let bishops = self.bishops();
        let is_harmless = bishops.first().is_none_or(|&(owner, shade)| {
            let mut pawns = self.all(!owner).filter(|man| man.1 == Role::Pawn);
            bishops.iter().all(|bishop| *bishop == (owner, shade))
                && pawns.all(|(at, _)| (at.0 + at.1) % 2 != shade)
        });
        self.count(&[Role::King, Role::Bishop, Role::Pawn]) == self.count(&Role::ALL)
            && all_stuck
            && is_harmless
    }
}
