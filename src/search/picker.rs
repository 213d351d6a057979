//! Move ordering: the legal moves of a position one by one, the most promising first, generated
//! only as far as they are asked for.

use crate::{
    rules::{Generator, Move, MoveList, Position},
    search::{
        history::{Histories, PieceTo},
        score::Value,
        see,
    },
};
use arrayvec::ArrayVec;

/// Captures that lose no more than this, in centipawns, come before the quiet moves.
const GOOD: Value = -37;

/// Which moves a picker gives, and what it still has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Table,
    GenerateCaptures,
    GoodCaptures,
    Killers,
    GenerateQuiets,
    Quiets,
    BadCaptures,
    Done,
}

/// A move and its rank in the order.
#[derive(Clone, Copy)]
struct Scored {
    mv: Move,
    score: i32,
    see: Value,
}

/// Gives the moves of one position.
pub(super) struct Picker<'a> {
    generator: Generator<'a>,
    position: &'a Position,
    stage: Stage,
    table_move: Move,
    killers: [Move; 2],
    next_killer: usize,
    before: [Option<PieceTo>; 2],
    /// No quiet moves, and only captures that gain.
    is_quiescence: bool,
    moves: ArrayVec<Scored, { crate::rules::MAX_MOVES }>,
    next: usize,
    /// Captures at the front of `moves` that have been put off until the quiet moves are done.
    bad: usize,
    /// Set by the searcher when no more quiet moves are of interest.
    pub(super) skip_quiets: bool,
}

impl<'a> Picker<'a> {
    /// All moves.
    pub(super) fn new(
        position: &'a Position,
        generator: Generator<'a>,
        table_move: Move,
        killers: [Move; 2],
        before: [Option<PieceTo>; 2],
    ) -> Self {
        Self {
            generator,
            position,
            stage: Stage::Table,
            table_move,
            killers,
            next_killer: 0,
            before,
            is_quiescence: false,
            moves: ArrayVec::new(),
            next: 0,
            bad: 0,
            skip_quiets: false,
        }
    }

    /// Only the captures that burn more than they cost.
    pub(super) fn quiescence(
        position: &'a Position,
        generator: Generator<'a>,
        table_move: Move,
    ) -> Self {
        let table_move = if table_move.is_capture() { table_move } else { Move::NULL };
        let mut picker = Self::new(position, generator, table_move, [Move::NULL; 2], [None; 2]);
        picker.is_quiescence = true;
        picker
    }

    /// The next move and, for captures after the table's move, its exchange value.
    pub(super) fn next(&mut self, histories: &Histories) -> Option<(Move, Option<Value>)> {
        loop {
            match self.stage {
                Stage::Table => {
                    self.stage = Stage::GenerateCaptures;
                    if self.generator.is_legal(self.table_move) {
                        return Some((self.table_move, None));
                    }
                    self.table_move = Move::NULL;
                }
                Stage::GenerateCaptures => {
                    self.generate_captures(histories);
                    self.stage = Stage::GoodCaptures;
                }
                Stage::GoodCaptures => {
                    if let Some(scored) = self.select() {
                        if scored.see >= GOOD {
                            return Some((scored.mv, Some(scored.see)));
                        }
                        self.moves[self.bad] = scored;
                        self.bad += 1;
                        continue;
                    }
                    self.stage = if self.is_quiescence { Stage::Done } else { Stage::Killers };
                }
                Stage::Killers => {
                    if let Some(&killer) = self.killers.get(self.next_killer) {
                        self.next_killer += 1;
                        if !self.skip_quiets
                            && killer != self.table_move
                            && !killer.is_capture()
                            && self.generator.is_legal(killer)
                        {
                            return Some((killer, None));
                        }
                        self.killers[self.next_killer - 1] = Move::NULL;
                        continue;
                    }
                    self.stage = Stage::GenerateQuiets;
                }
                Stage::GenerateQuiets => {
                    if !self.skip_quiets {
                        self.generate_quiets(histories);
                    }
                    self.stage = Stage::Quiets;
                }
                Stage::Quiets => {
                    if !self.skip_quiets
                        && let Some(scored) = self.select()
                    {
                        return Some((scored.mv, None));
                    }
                    self.next = 0;
                    self.stage = Stage::BadCaptures;
                }
                Stage::BadCaptures => {
                    if self.next < self.bad {
                        let scored = self.moves[self.next];
                        self.next += 1;
                        return Some((scored.mv, Some(scored.see)));
                    }
                    self.stage = Stage::Done;
                }
                Stage::Done => return None,
            }
        }
    }

    fn at(&self, mv: Move) -> PieceTo {
        PieceTo::of(self.position, mv).unwrap_or_default()
    }

    fn generate_captures(&mut self, histories: &Histories) {
        let mut list = MoveList::new();
        self.generator.captures(&mut list);
        for mv in list {
            if mv == self.table_move {
                continue;
            }
            let see = see::capture(self.position, mv);
            if self.is_quiescence && see <= 0 {
                continue;
            }
            let score = see * 17 + histories.capture(self.position, mv, self.at(mv));
            self.moves.push(Scored { mv, score, see });
        }
    }

    fn generate_quiets(&mut self, histories: &Histories) {
        self.moves.truncate(self.bad);
        self.next = self.bad;
        let mut list = MoveList::new();
        self.generator.quiets(&mut list);
        let color = self.position.turn();
        for mv in list {
            if mv == self.table_move || self.killers.contains(&mv) {
                continue;
            }
            let mut score = histories.quiet(color, mv, self.at(mv), self.before);
            if let Some(role) = mv.promotion() {
                score += see::VALUES[role.index()] * 32;
            }
            self.moves.push(Scored { mv, score, see: 0 });
        }
    }

    /// The best of the moves left.
    fn select(&mut self) -> Option<Scored> {
        let rest = &mut self.moves[self.next..];
        let best = rest.iter().enumerate().max_by_key(|(_, scored)| scored.score)?.0;
        rest.swap(0, best);
        self.next += 1;
        Some(rest[0])
    }
}
