//! The root: iterative deepening over the legal moves, with aspiration windows, and the decision
//! when to stop.

use std::time::Duration;

use crate::{
    rules::{History, Move, Position},
    search::{
        Bound, Info, Limits, MAX_PLY, Score,
        alphabeta::{Node, Searcher},
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

/// The result of the last iteration that was of use.
#[derive(Clone, Debug, Default)]
pub(super) struct Best {
    pub(super) mv: Option<Move>,
    pub(super) value: Value,
    pub(super) depth: u32,
    pub(super) pv: Vec<Move>,
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
    fn is_enough(&mut self, best: &Best, share: f64, elapsed: Duration, moves: usize) -> bool {
        self.stable = if best.mv == self.best { self.stable + 1 } else { 0 };
        let fall = if best.depth > 1 { self.last_value - best.value } else { 0 };
        self.best = best.mv;
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
        let soft = budget.soft.mul_f64(stability * effort * falling);
        elapsed >= soft.min(budget.hard)
    }
}

/// A win that a deeper search cannot shorten.
fn is_won(best: &Best) -> bool {
    is_win(best.value) && win_at(best.depth as usize) <= best.value
}

impl Searcher<'_> {
    /// Searches deeper and deeper until a limit is reached or the search is stopped. `report` is
    /// called after each iteration with the result so far.
    pub(super) fn deepen(
        &mut self,
        history: &History,
        limits: &Limits,
        moves: &mut [RootMove],
        pacer: &mut Pacer,
        mut report: impl FnMut(&Self, &Best),
    ) -> Best {
        let position = history.position();
        let accumulator = Accumulator::new(position);
        let mut best = Best { mv: moves.first().map(|root| root.mv), ..Best::default() };
        best.pv = best.mv.into_iter().collect();
        if moves.is_empty() {
            return best;
        }
        self.set_root_evaluation(position, &accumulator);
        let last = limits.depth.unwrap_or(MAX_PLY as u32 - 1).min(MAX_PLY as u32 - 1);
        for depth in 1..=last {
            self.root_depth = depth as i32;
            self.seldepth = 0;
            self.aspire(position, &accumulator, moves, &best);
            // An interrupted iteration counts as far as its best move was searched in full.
            let leader = &moves[0];
            if leader.value > -INFINITE {
                best = Best {
                    mv: Some(leader.mv),
                    value: leader.value,
                    depth: if self.is_stopped { best.depth } else { depth },
                    pv: leader.pv.clone(),
                };
            }
            if self.is_stopped {
                break;
            }
            report(self, &best);
            let share = leader.nodes as f64 / self.nodes.max(1) as f64;
            let elapsed = self.signal.elapsed();
            let is_enough = pacer.is_enough(&best, share, elapsed, moves.len())
                || is_mate_found(limits, best.value);
            if is_enough && self.signal.may_finish() {
                break;
            }
        }
        best
    }

    /// One iteration, with a window around the last value that widens until the value is inside.
    fn aspire(
        &mut self,
        position: &Position,
        accumulator: &Accumulator,
        moves: &mut [RootMove],
        best: &Best,
    ) {
        let depth = self.root_depth;
        let mut width = 30;
        let (mut alpha, mut beta) = (-INFINITE, INFINITE);
        if depth >= 5 && !is_decisive(best.value) {
            alpha = best.value - width;
            beta = best.value + width;
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
            let reduction = i32::from(depth >= 4 && index >= 4 && !next.is_check());
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

    /// The state of the search for its listener.
    pub(super) fn info(&self, best: &Best, nodes: u64) -> Info {
        Info {
            depth: best.depth,
            seldepth: self.seldepth as u32,
            multipv: 1,
            score: Score::from_value(best.value),
            bound: Bound::Exact,
            nodes,
            elapsed: self.signal.elapsed(),
            hashfull: self.tt.hashfull(),
            pv: best.pv.clone(),
        }
    }
}

fn is_mate_found(limits: &Limits, value: Value) -> bool {
    let wanted = limits.mate.map(|moves| moves as i32);
    wanted.is_some_and(|wanted| {
        Score::from_value(value).mate_in().is_some_and(|found| (1..=wanted).contains(&found))
    })
}
