//! The root: iterative deepening over the legal moves, with aspiration windows, and the decision
//! when to stop.

use std::time::Duration;

use crate::{
    rules::{History, Move, Position},
    search::{
        Bound, Info, Limits, MAX_PLY, Score, Update,
        alphabeta::{Node, Searcher, root_reduction},
        eval::Accumulator,
        score::{INFINITE, Value, is_decisive, is_loss, is_win, win_at},
        see,
        timeman::Budget,
    },
};

/// A legal move of the root and what the search has found out about it.
#[derive(Clone, Debug)]
pub(super) struct RootMove {
    pub(super) mv: Move,
    value: Value,
    nodes: u64,
    pub(super) pv: Vec<Move>,
}

/// One of the best lines, as the last iteration that was of use has found it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) mv: Move,
    pub(super) value: Value,
    /// Completed depth; 0 if nothing has been found out yet.
    pub(super) depth: u32,
    pub(super) pv: Vec<Move>,
}

impl Line {
    fn new(root: &RootMove, value: Value, depth: u32) -> Self {
        Self { mv: root.mv, value, depth, pv: root.pv.clone() }
    }
}

/// The root moves in their first order: explosions of the king, then by exchange.
pub(super) fn root_moves(position: &Position, only: &[Move]) -> Vec<RootMove> {
    let mut moves: Vec<(Value, Move)> = position
        .legal_moves()
        .into_iter()
        .filter(|mv| only.is_empty() || only.contains(mv))
        .map(|mv| (see::evaluate(position, mv), mv))
        .collect();
    moves.sort_by_key(|&(exchange, _)| -exchange);
    moves
        .into_iter()
        .map(|(_, mv)| RootMove { mv, value: -INFINITE, nodes: 0, pv: vec![mv] })
        .collect()
}

/// From this score on a game is played out quickly, in centipawns.
const CLEARLY_WON: Value = 1_500;

/// Decides between iterations whether another one is worth its time.
pub(super) struct Pacer {
    budget: Option<Budget>,
    best: Option<Move>,
    /// Iterations since the best move last changed.
    stable: u32,
    last_value: Value,
    mates: u32,
}

impl Pacer {
    pub(super) fn new(budget: Option<Budget>) -> Self {
        Self { budget, best: None, stable: 0, last_value: 0, mates: 0 }
    }

    /// Whether to stop after an iteration. `share` is the part of all nodes spent on the best
    /// move, 0 to 1.
    fn is_enough(&mut self, best: &Line, share: f64, elapsed: Duration, moves: usize) -> bool {
        self.stable = if Some(best.mv) == self.best { self.stable + 1 } else { 0 };
        let fall = if best.depth > 1 { self.last_value - best.value } else { 0 };
        self.best = Some(best.mv);
        self.last_value = best.value;
        self.mates = if is_decisive(best.value) { self.mates + 1 } else { 0 };
        let Some(budget) = self.budget else { return false };
        // A fixed time is used up: the hard bound ends it.
        if budget.soft == budget.hard {
            return false;
        }
        if moves == 1 || self.mates >= 3 || is_won(best) {
            return true;
        }
        let stability = 1.35 - 0.07 * f64::from(self.stable.min(8));
        let effort = 1.6 - share.clamp(0.0, 1.0);
        let falling = 1.0 + f64::from(fall.clamp(-20, 80)) / 200.0;
        // What is won needs no deep thought; the opponent waits for its end.
        let decided = if best.value >= CLEARLY_WON { 0.5 } else { 1.0 };
        let soft = budget.soft.mul_f64(stability * effort * falling * decided);
        elapsed >= soft.min(budget.hard)
    }
}

/// A win that a deeper search cannot shorten.
fn is_won(best: &Line) -> bool {
    is_win(best.value) && win_at(best.depth as usize) <= best.value
}

impl Searcher<'_> {
    /// Searches deeper and deeper until a limit is reached or the search is stopped. The listener is
    /// told the lines of each iteration. The best line comes first; there is none without a move.
    pub(super) fn deepen(
        &mut self,
        history: &History,
        limits: &Limits,
        moves: &mut [RootMove],
        pacer: &mut Pacer,
    ) -> Vec<Line> {
        let position = history.position();
        let accumulator = Accumulator::new(position);
        let count = limits.multipv.clamp(1, moves.len().max(1));
        let mut lines: Vec<Line> =
            moves.iter().take(count).map(|root| Line::new(root, 0, 0)).collect();
        if moves.is_empty() {
            return lines;
        }
        self.set_root_evaluation(position, &accumulator);
        let last = limits.depth.unwrap_or(MAX_PLY as u32 - 1).min(MAX_PLY as u32 - 1);
        for depth in 1..=last {
            self.signal.depth = depth;
            self.root_depth = depth as i32;
            self.seldepth = 0;
            let found = self.iterate(position, &accumulator, moves, &lines);
            if self.is_stopped {
                if let Some(merged) = merge(found, &lines) {
                    lines = merged;
                    self.tell(&lines);
                }
                break;
            }
            lines = found;
            self.tell(&lines);
            let (leader, best) = (&moves[0], &lines[0]);
            let share = leader.nodes as f64 / self.nodes.max(1) as f64;
            let elapsed = self.signal.elapsed();
            let is_enough = pacer.is_enough(best, share, elapsed, moves.len())
                || is_mate_settled(limits, best.value);
            // While it ponders, more time is of use, but not for a win that is proved.
            self.signal.is_enough = is_enough;
            if is_enough && (self.signal.may_finish() || is_won(&lines[0])) {
                break;
            }
        }
        lines
    }

    /// One iteration: each line is the best of the moves that the lines before it leave. `older` are
    /// the lines of the last iteration. Those found come back best first, as far as the search came;
    /// the moves are then in the same order.
    fn iterate(
        &mut self,
        position: &Position,
        accumulator: &Accumulator,
        moves: &mut [RootMove],
        older: &[Line],
    ) -> Vec<Line> {
        let depth = self.root_depth as u32;
        let mut found = Vec::with_capacity(older.len());
        for (index, expected) in older.iter().enumerate() {
            self.aspire(position, accumulator, &mut moves[index..], expected.value);
            let leader = &moves[index];
            if self.is_stopped {
                // An interrupted search counts as far as its best move was searched in full, and
                // for the first line only: of the others it is not known what else is better.
                if index == 0 && leader.value > -INFINITE {
                    found.push(Line::new(leader, leader.value, expected.depth));
                }
                break;
            }
            found.push(Line::new(leader, leader.value, depth));
        }
        // A later line can turn out better than an earlier one.
        found.sort_by_key(|line| -line.value);
        moves[..found.len()].sort_by_key(|root| -root.value);
        found
    }

    /// Searches the moves with a window around the expected value that widens until the value is
    /// inside.
    fn aspire(
        &mut self,
        position: &Position,
        accumulator: &Accumulator,
        moves: &mut [RootMove],
        expected: Value,
    ) {
        let depth = self.root_depth;
        let mut width = 28;
        let (mut alpha, mut beta) = (-INFINITE, INFINITE);
        if depth >= 5 && !is_decisive(expected) {
            alpha = expected - width;
            beta = expected + width;
        }
        let mut reduced = 0;
        loop {
            let value =
                self.root(position, accumulator, moves, (depth - reduced).max(1), alpha, beta);
            if self.is_stopped {
                return;
            }
            width *= 2;
            if value <= alpha {
                beta = i32::midpoint(alpha, beta);
                alpha = if width > 800 || is_loss(value) { -INFINITE } else { value - width };
                reduced = 0;
            } else if value >= beta {
                beta = if width > 800 || is_win(value) { INFINITE } else { value + width };
                reduced = (reduced + 1).min(3);
            } else {
                return;
            }
        }
    }

    /// Searches every root move within a window. Afterwards the best stands first.
    fn root(
        &mut self,
        position: &Position,
        accumulator: &Accumulator,
        moves: &mut [RootMove],
        depth: i32,
        mut alpha: Value,
        beta: Value,
    ) -> Value {
        for root in moves.iter_mut() {
            root.value = -INFINITE;
        }
        let mut best = -INFINITE;
        for index in 0..moves.len() {
            let mv = moves[index].mv;
            let nodes = self.nodes;
            self.signal.tell_current(mv, index + 1, nodes);
            let next = position.after(mv);
            let value = if next.king(next.turn()).is_none() {
                self.frames[1].pv.clear();
                self.nodes += 1;
                win_at(1)
            } else {
                let accumulator = accumulator.after(position, mv, &next);
                self.set_root_move(position, mv);
                self.with_key(next.key(), |search| {
                    search.root_child(&next, &accumulator, depth, alpha, beta, index)
                })
            };
            moves[index].nodes += self.nodes - nodes;
            if self.is_stopped {
                break;
            }
            if value > best {
                best = value;
            }
            if value > alpha || index == 0 {
                let root = &mut moves[index];
                root.value = value;
                root.pv = std::iter::once(mv).chain(self.frames[1].pv.iter().copied()).collect();
                moves[..=index].rotate_right(1);
                alpha = alpha.max(value);
                if value >= beta {
                    break;
                }
            }
        }
        best
    }

    /// The value of a root move: full window for the first, and for those that beat it.
    fn root_child(
        &mut self,
        next: &Position,
        accumulator: &Accumulator,
        depth: i32,
        alpha: Value,
        beta: Value,
        index: usize,
    ) -> Value {
        let child = Node {
            alpha: -beta,
            beta: -alpha,
            depth: depth - 1,
            ply: 1,
            is_cut: false,
            is_threatened: None,
        };
        let zero = Node { alpha: -alpha - 1, is_cut: true, ..child };
        if index > 0 {
            let reduction = if depth >= 3 && index >= 2 && !next.is_check() {
                root_reduction(depth, index as i32 + 1).clamp(0, depth - 2)
            } else {
                0
            };
            let reduced = Node { depth: zero.depth - reduction, ..zero };
            let mut value = -self.alpha_beta::<false>(next, accumulator, reduced);
            if value > alpha && reduction > 0 && !self.is_stopped {
                value = -self.alpha_beta::<false>(next, accumulator, zero);
            }
            if value <= alpha || self.is_stopped {
                return value;
            }
        }
        -self.alpha_beta::<true>(next, accumulator, child)
    }

    /// Tells the listener, if there is one, the lines of an iteration.
    fn tell(&mut self, lines: &[Line]) {
        if !self.signal.has_listener() {
            return;
        }
        for (index, line) in lines.iter().enumerate() {
            let info = self.info(line, index + 1);
            self.signal.tell(Update::Info(info));
        }
    }

    /// A line for the listener.
    pub(super) fn info(&self, line: &Line, multipv: usize) -> Info {
        Info {
            depth: line.depth,
            seldepth: self.seldepth as u32,
            multipv,
            score: Score::from_value(line.value),
            bound: Bound::Exact,
            nodes: self.signal.total(self.nodes),
            elapsed: self.signal.searched(),
            hashfull: self.tt.hashfull(),
            pv: line.pv.clone(),
        }
    }
}

/// The lines after an interrupted iteration: what it has found, then older lines of other moves.
/// `None` if the older lines stand: where nothing was found, or where it is worth less than an
/// older line, which the iteration would have searched again.
fn merge(mut found: Vec<Line>, older: &[Line]) -> Option<Vec<Line>> {
    if found.is_empty() {
        return None;
    }
    for line in older {
        if found.len() < older.len() && found.iter().all(|new| new.mv != line.mv) {
            found.push(line.clone());
        }
    }
    (found.is_sorted_by_key(|line| -line.value) && found != older).then_some(found)
}

/// Whether the win that is looked for is proved, or else that there is none.
fn is_mate_settled(limits: &Limits, value: Value) -> bool {
    let Some(wanted) = limits.mate else { return false };
    let found = Score::from_value(value).mate_in();
    found.is_some_and(|found| found <= wanted.min(MAX_PLY as u32) as i32)
}
