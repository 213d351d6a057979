//! The recursive search: alpha-beta with everything that makes it selective.

use arrayvec::ArrayVec;

use crate::{
    rules::{Color, Move, Position, Role},
    search::{
        Bound, MAX_PLY,
        correction::Keys,
        eval::{self, Accumulator},
        history::{Histories, PieceTo},
        picker::Picker,
        score::{self, DRAW, INFINITE, NONE, Value, is_decisive, is_loss, is_win, loss_at, win_at},
        see,
        signal::Signal,
        tt::{Entry, TranspositionTable},
    },
};

/// What the search remembers of each ply of the current line.
pub(super) struct Frame {
    /// The corrected static evaluation, [`NONE`] in check.
    evaluation: Value,
    /// The move made from here, as the continuation tables know it; `None` for a null move.
    at: Option<PieceTo>,
    /// Quiet moves that caused a cutoff at this ply.
    killers: [Move; 2],
    /// Children of the ply before that were cut off here.
    cutoffs: u32,
    /// The move that a singular search leaves out.
    excluded: Move,
    /// The best line from here.
    pub(super) pv: ArrayVec<Move, MAX_PLY>,
}

impl Frame {
    fn new() -> Self {
        Self {
            evaluation: NONE,
            at: None,
            killers: [Move::NULL; 2],
            cutoffs: 0,
            excluded: Move::NULL,
            pv: ArrayVec::new(),
        }
    }
}

/// One searching thread at work on one root position.
pub(super) struct Searcher<'a> {
    pub(super) tt: &'a TranspositionTable,
    pub(super) signal: Signal<'a>,
    pub(super) histories: &'a mut Histories,
    pub(super) frames: Vec<Frame>,
    /// Keys of all positions since the start of the game, the current one last.
    keys: Vec<u64>,
    /// Length of `keys` at the root.
    root_keys: usize,
    pub(super) nodes: u64,
    pub(super) seldepth: usize,
    pub(super) root_depth: i32,
    pub(super) is_stopped: bool,
    /// No null move below this ply: set while a null move's cutoff is verified.
    null_move_from: usize,
}

/// The window, depth and place of a node.
#[derive(Clone, Copy)]
pub(super) struct Node {
    pub(super) alpha: Value,
    pub(super) beta: Value,
    pub(super) depth: i32,
    pub(super) ply: usize,
    /// Whether a cutoff is expected here.
    pub(super) is_cut: bool,
    /// Whether the side that has just moved could explode the king of the side to move, where the
    /// caller knows it already.
    pub(super) is_threatened: Option<bool>,
}

impl<'a> Searcher<'a> {
    pub(super) fn new(
        tt: &'a TranspositionTable,
        signal: Signal<'a>,
        histories: &'a mut Histories,
        keys: &[u64],
    ) -> Self {
        Self {
            tt,
            signal,
            histories,
            frames: std::iter::repeat_with(Frame::new).take(MAX_PLY + 3).collect(),
            keys: keys.to_vec(),
            root_keys: keys.len(),
            nodes: 0,
            seldepth: 0,
            root_depth: 0,
            is_stopped: false,
            null_move_from: 0,
        }
    }

    /// The value of a position for the side to move within the node's window, fail-soft.
    #[expect(clippy::too_many_lines, reason = "a list of numbered steps that share their state")]
    pub(super) fn alpha_beta<const PV: bool>(
        &mut self,
        position: &Position,
        accumulator: &Accumulator,
        node: Node,
    ) -> Value {
        let Node { mut alpha, mut beta, mut depth, ply, is_cut, .. } = node;
        let us = position.turn();
        self.frames[ply].pv.clear();

        // 1. At the horizon the quiescence search takes over.
        if depth <= 0 {
            return self.quiescence::<PV>(position, accumulator, alpha, beta, ply);
        }

        // 2. Stop when asked to: the value is thrown away.
        if self.enter(ply) {
            return DRAW;
        }

        // 3. Draws: repetition, fifty moves, nothing left to win with.
        if self.is_draw(position) {
            return DRAW;
        }
        let generator = position.generator();
        let in_check = generator.checkers().any();
        if ply >= MAX_PLY - 1 {
            return if in_check { DRAW } else { eval::evaluate(position, accumulator) };
        }

        // 4. Mate distance: nothing here can be better than a shorter win found already.
        alpha = alpha.max(loss_at(ply));
        beta = beta.min(win_at(ply + 1));
        if alpha >= beta {
            return alpha;
        }

        // 5. A king that can be exploded at once ends the game, whatever else is on the board.
        if generator.can_explode_king() {
            if PV {
                self.note_explosion(position, ply);
            }
            return win_at(ply + 1);
        }

        // 6. What the transposition table knows.
        let excluded = self.frames[ply].excluded;
        let is_singular_search = !excluded.is_null();
        let found = if is_singular_search { None } else { self.tt.probe(position.key(), ply) };
        if let Some(entry) = found
            && !PV
            && entry.depth >= depth
            && position.halfmove_clock() < 90
            && cuts(entry, alpha, beta)
        {
            return entry.value;
        }
        let table_move = found.map_or(Move::NULL, |entry| entry.mv);
        let was_pv = PV || found.is_some_and(|entry| entry.is_pv);

        // 7. Static evaluation, corrected by what searches of similar positions have found.
        let raw = match found {
            _ if in_check => NONE,
            Some(entry) if entry.evaluation != NONE => entry.evaluation,
            _ => eval::evaluate(position, accumulator),
        };
        let keys = (!in_check).then(|| self.correction_keys(position, accumulator, ply));
        let mut evaluation = NONE;
        self.frames[ply].evaluation = NONE;
        if let Some(keys) = keys {
            evaluation = self.corrected(raw, us, keys);
            self.frames[ply].evaluation = evaluation;
            // The table's value, where it bounds from the right side, is the better estimate.
            if let Some(entry) = found
                && bounds(entry, evaluation)
            {
                evaluation = entry.value;
            }
        }
        let is_improving = !in_check && self.is_improving(ply);
        // An explosion that the opponent threatens is no check, but as urgent.
        let is_threatened =
            !in_check && node.is_threatened.unwrap_or_else(|| position.could_explode_king(!us));
        self.frames[ply + 1].killers = [Move::NULL; 2];
        self.frames[ply + 2].cutoffs = 0;

        if !PV && !in_check && !is_singular_search {
            // 8. Razoring: so far below alpha only captures can help.
            if depth <= 2 && evaluation + 330 * depth < alpha {
                let value = self.quiescence::<false>(position, accumulator, alpha, alpha + 1, ply);
                if value <= alpha {
                    return value;
                }
            }

            // 9. Reverse futility: so far above beta the opponent will not let us come here.
            let margin = 143 * depth - if is_improving { 105 } else { 0 };
            if depth <= 5
                && !is_threatened
                && evaluation - margin >= beta
                && !is_loss(beta)
                && !is_win(evaluation)
            {
                return i32::midpoint(evaluation, beta);
            }

            // 10. Null move: if passing is good enough, moving will be.
            if depth >= 2
                && !is_threatened
                && evaluation >= beta
                && !is_loss(beta)
                && ply >= self.null_move_from
                && (ply == 0 || self.frames[ply - 1].at.is_some())
                && has_pieces(position, us)
                && let Some(value) =
                    self.null_move(position, accumulator, Node { beta, ..node }, evaluation)
            {
                return value;
            }
        }

        // 11. Without a move from the table the node is worth less effort now.
        if depth >= 3 && table_move.is_null() && (PV || is_cut) {
            depth -= 1;
        }

        // 12. The moves, one by one.
        let before = self.before(ply);
        let killers = self.frames[ply].killers;
        let mut picker = Picker::new(position, generator, table_move, killers, before);
        let (mut best, mut best_move, mut bound) = (-INFINITE, Move::NULL, Bound::Upper);
        let mut count = 0;
        let mut tried_quiets: ArrayVec<Move, 64> = ArrayVec::new();
        let mut tried_captures: ArrayVec<Move, 32> = ArrayVec::new();

        while let Some((mv, exchange)) = picker.next(self.histories) {
            if mv == excluded {
                continue;
            }
            count += 1;
            let Some(piece) = position.piece_on(mv.from()) else { continue };
            let at = PieceTo::new(piece, mv.to());
            let is_quiet = !mv.is_capture() && mv.promotion() != Some(Role::Queen);
            let history = if is_quiet {
                self.histories.quiet(us, mv, at, before)
            } else {
                self.histories.capture(position, mv, at)
            };
            let mut reduction = reduction(depth, count);
            let next = position.after(mv);
            self.tt.prefetch(next.key());
            let gives_check = next.is_check();
            // A move that threatens an explosion forces the answer like a check.
            let threatens = !gives_check && next.could_explode_king(us);
            let is_forcing = gives_check || threatens;

            // 13. Late and bad moves are left out at low depth, once something better than a loss
            //     is known.
            if !is_loss(best) && !is_forcing && has_pieces(position, us) {
                let reduced_depth = (depth - reduction / 1024).max(0);
                if is_quiet {
                    // Late moves.
                    if count > (33 + 9 * depth * depth) / if is_improving { 4 } else { 8 } {
                        picker.skip_quiets = true;
                    }
                    // Moves that never worked.
                    if reduced_depth <= 4 && history < -2750 * depth {
                        continue;
                    }
                    // Positions far below alpha.
                    if !in_check
                        && !is_threatened
                        && reduced_depth <= 7
                        && evaluation + 200 + 178 * reduced_depth <= alpha
                    {
                        picker.skip_quiets = true;
                        continue;
                    }
                    // Moves that put a man where it is taken at a profit.
                    if reduced_depth <= 7
                        && see::evaluate(position, mv) < -34 * reduced_depth * reduced_depth - 17
                    {
                        continue;
                    }
                } else if depth <= 7 && exchange.is_some_and(|gain| gain < -96 * depth) {
                    continue;
                }
            }

            // 14. Extensions: the table's move if nothing else comes near it.
            let mut extension = 0;
            if let Some(entry) = found
                && mv == table_move
                && ply > 0
                && depth >= 7
                && entry.depth >= depth - 3
                && entry.bound != Bound::Upper
                && !is_decisive(entry.value)
                && ply < 2 * self.root_depth as usize
            {
                let target = entry.value - 2 * depth;
                self.frames[ply].excluded = mv;
                let others = Node {
                    alpha: target - 1,
                    beta: target,
                    depth: (depth - 1) / 2,
                    is_threatened: Some(is_threatened),
                    ..node
                };
                let value = self.alpha_beta::<false>(position, accumulator, others);
                self.frames[ply].excluded = Move::NULL;
                if self.is_stopped {
                    return DRAW;
                }
                if value < target {
                    extension = if !PV && value < target - 30 { 2 } else { 1 };
                } else if target >= beta {
                    // Several moves are good enough: the node will fail high.
                    return target;
                } else if entry.value >= beta {
                    extension = -1;
                }
            }

            // 15. Make the move.
            let next_accumulator = accumulator.after(position, mv, &next);
            if gives_check && extension == 0 && depth <= 9 {
                extension = 1;
            }
            self.frames[ply].at = Some(at);
            self.keys.push(next.key());
            self.nodes += 1;
            let new_depth = depth - 1 + extension;
            let child = Node {
                alpha: -beta,
                beta: -alpha,
                depth: new_depth,
                ply: ply + 1,
                is_cut: false,
                is_threatened: Some(threatens),
            };
            let zero = Node { alpha: -alpha - 1, beta: -alpha, ..child };

            // 16. Late moves are searched less deep, and again in full if they surprise.
            let mut value = -INFINITE;
            let mut is_full = !PV || count > 1;
            if depth >= 2 && count > 1 + i32::from(PV) {
                if is_cut {
                    reduction += 1480;
                }
                if was_pv {
                    reduction -= 820;
                }
                if !is_improving {
                    reduction += 365;
                }
                if is_forcing {
                    reduction -= 1270;
                }
                if is_threatened {
                    reduction -= 665;
                }
                if mv == killers[0] || mv == killers[1] {
                    reduction -= 850;
                }
                // Moves after which every other move is refuted are refuted too.
                if self.frames[ply + 1].cutoffs > 2 {
                    reduction += 455;
                }
                reduction -= history * 17 / 128;
                if !is_quiet {
                    reduction -= 680;
                }
                let reduced = (new_depth - reduction / 1024).clamp(1, new_depth.max(1));
                value = -self.alpha_beta::<false>(
                    &next,
                    &next_accumulator,
                    Node { depth: reduced, is_cut: true, ..zero },
                );
                is_full = value > alpha && reduced < new_depth;
            }
            if is_full {
                value = -self.alpha_beta::<false>(
                    &next,
                    &next_accumulator,
                    Node { is_cut: !is_cut, ..zero },
                );
            }

            // 17. The first move of a PV node, and each that improves on it, gets the full window.
            if PV && (count == 1 || value > alpha) {
                value = -self.alpha_beta::<true>(&next, &next_accumulator, child);
            }
            self.keys.pop();
            if self.is_stopped {
                return DRAW;
            }

            // 18. A new best move, or the end of the node.
            if value > best {
                best = value;
                if value > alpha {
                    best_move = mv;
                    if PV {
                        self.extend_pv(ply, mv);
                    }
                    if value >= beta {
                        bound = Bound::Lower;
                        self.frames[ply].cutoffs += 1;
                        break;
                    }
                    alpha = value;
                    bound = Bound::Exact;
                }
            }
            if is_quiet {
                let _ = tried_quiets.try_push(mv);
            } else {
                let _ = tried_captures.try_push(mv);
            }
        }

        // 19. No move at all: mate or stalemate.
        if count == 0 {
            return match (is_singular_search, in_check) {
                (true, _) => alpha,
                (false, true) => loss_at(ply),
                (false, false) => DRAW,
            };
        }

        // 20. Learn from the cutoff.
        if bound == Bound::Lower {
            self.learn(position, best_move, depth, ply, &tried_quiets, &tried_captures);
        }

        // 21. Remember the result, and how wrong the static evaluation was.
        if !is_singular_search {
            let is_error_known = !best_move.is_capture()
                && !is_decisive(best)
                && match bound {
                    Bound::Exact => true,
                    Bound::Lower => best > self.frames[ply].evaluation,
                    Bound::Upper => best < self.frames[ply].evaluation,
                };
            if let Some(keys) = keys
                && is_error_known
            {
                self.histories.corrections.learn(us, keys, best - raw, depth);
            }
            let entry =
                Entry { mv: best_move, value: best, evaluation: raw, depth, bound, is_pv: was_pv };
            self.tt.store(position.key(), ply, entry);
        }
        best
    }

    /// Counts the ply and says whether the search has to stop.
    pub(super) fn enter(&mut self, ply: usize) -> bool {
        self.seldepth = self.seldepth.max(ply);
        if !self.is_stopped && self.signal.must_stop(self.nodes) {
            self.is_stopped = true;
        }
        self.is_stopped
    }

    /// Draws by repetition, by the fifty-move rule and by what is on the board. A position that
    /// occurred since the root counts the first time, an earlier one the second.
    pub(super) fn is_draw(&self, position: &Position) -> bool {
        let clock = position.halfmove_clock() as usize;
        if clock >= 100 {
            return position.outcome().is_none_or(|outcome| outcome.winner().is_none());
        }
        if position.draw_on_the_board().is_some() {
            return true;
        }
        let last = self.keys.len() - 1;
        let mut earlier = 0;
        for back in (4..=clock.min(last)).step_by(2) {
            if self.keys[last - back] == position.key() {
                if last - back >= self.root_keys {
                    return true;
                }
                earlier += 1;
                if earlier == 2 {
                    return true;
                }
            }
        }
        false
    }

    /// What the evaluation's errors are looked up by.
    pub(super) fn correction_keys(
        &self,
        position: &Position,
        accumulator: &Accumulator,
        ply: usize,
    ) -> Keys {
        let last = ply.checked_sub(1).and_then(|back| self.frames[back].at);
        Keys::new(position, accumulator.pawn_key, last)
    }

    /// The evaluation with its corrections, kept clear of mates.
    pub(super) fn corrected(&self, raw: Value, us: Color, keys: Keys) -> Value {
        let value = raw + self.histories.corrections.get(us, keys);
        value.clamp(-score::MAX_EVALUATION, score::MAX_EVALUATION)
    }

    /// Whether the side to move stands better than at its last turns.
    fn is_improving(&self, ply: usize) -> bool {
        let now = self.frames[ply].evaluation;
        let earlier = [2, 4].into_iter().find_map(|back| {
            let evaluation = self.frames[ply.checked_sub(back)?].evaluation;
            (evaluation != NONE).then_some(evaluation)
        });
        earlier.is_none_or(|earlier| now > earlier)
    }

    /// The last two moves before this ply, the opponent's first.
    fn before(&self, ply: usize) -> [Option<PieceTo>; 2] {
        [1, 2].map(|back| self.frames[ply.checked_sub(back)?].at)
    }

    fn null_move(
        &mut self,
        position: &Position,
        accumulator: &Accumulator,
        node: Node,
        evaluation: Value,
    ) -> Option<Value> {
        let Node { beta, depth, ply, is_cut, .. } = node;
        // The further above beta, the less it takes to see that passing is enough.
        let surplus = (evaluation - beta).min(1_000);
        let reduced = depth - (3_000 + 343 * depth + 2 * surplus) / 1024;
        let next = position.after_null();
        self.tt.prefetch(next.key());
        self.frames[ply].at = None;
        self.keys.push(next.key());
        self.nodes += 1;
        let child = Node {
            alpha: -beta,
            beta: 1 - beta,
            depth: reduced,
            ply: ply + 1,
            is_cut: !is_cut,
            is_threatened: None,
        };
        let value = -self.alpha_beta::<false>(&next, accumulator, child);
        self.keys.pop();
        if self.is_stopped || value < beta {
            return None;
        }
        // A win after passing is not a proved win.
        let value = if is_win(value) { beta } else { value };
        if self.null_move_from > 0 || depth < 14 {
            return Some(value);
        }
        // At high depth zugzwang is excluded by a search without null moves.
        self.null_move_from = ply + 3 * reduced.max(0) as usize / 4 + 1;
        let again = Node { alpha: beta - 1, beta, depth: reduced, is_cut: false, ..node };
        let verified = self.alpha_beta::<false>(position, accumulator, again);
        self.null_move_from = 0;
        (verified >= beta && !self.is_stopped).then_some(value)
    }

    fn learn(
        &mut self,
        position: &Position,
        best: Move,
        depth: i32,
        ply: usize,
        quiets: &[Move],
        captures: &[Move],
    ) {
        let us = position.turn();
        let bonus = (120 * depth - 14).min(1_670);
        let malus = (205 * depth - 14).min(1_850);
        let capture_bonus = bonus * 9 / 10;
        let at = |mv: Move| PieceTo::of(position, mv);
        let before = self.before(ply);
        if best.is_capture() {
            if let Some(at) = at(best) {
                self.histories.update_capture(position, best, at, capture_bonus);
            }
        } else {
            let killers = &mut self.frames[ply].killers;
            if killers[0] != best {
                *killers = [best, killers[0]];
            }
            if let Some(at) = at(best) {
                self.histories.update_quiet(us, best, at, before, bonus);
            }
            for &mv in quiets {
                if let Some(at) = at(mv) {
                    self.histories.update_quiet(us, mv, at, before, -malus);
                }
            }
        }
        for &mv in captures {
            if let Some(at) = at(mv).filter(|_| mv.is_capture()) {
                self.histories.update_capture(position, mv, at, -capture_bonus);
            }
        }
    }

    /// Writes the exploding move into the principal variation.
    pub(super) fn note_explosion(&mut self, position: &Position, ply: usize) {
        let winning = |mv: &Move| position.after(*mv).king(!position.turn()).is_none();
        let pv = &mut self.frames[ply].pv;
        pv.clear();
        if let Some(mv) = position.captures().into_iter().find(winning) {
            pv.push(mv);
        }
    }

    /// The line of the next ply becomes this ply's, behind `mv`.
    pub(super) fn extend_pv(&mut self, ply: usize, mv: Move) {
        let (head, tail) = self.frames.split_at_mut(ply + 1);
        let line = &mut head[ply].pv;
        line.clear();
        line.push(mv);
        let room = line.remaining_capacity();
        line.extend(tail[0].pv.iter().copied().take(room));
    }

    /// Searches what follows a move that leads to the position of this key.
    pub(super) fn with_key<T>(&mut self, key: u64, search: impl FnOnce(&mut Self) -> T) -> T {
        self.keys.push(key);
        self.nodes += 1;
        let result = search(self);
        self.keys.pop();
        result
    }

    /// Notes which move the next ply comes from.
    pub(super) fn set_move(&mut self, position: &Position, mv: Move, ply: usize) {
        self.frames[ply].at = PieceTo::of(position, mv);
    }

    /// Notes which move the root's children come from.
    pub(super) fn set_root_move(&mut self, position: &Position, mv: Move) {
        self.set_move(position, mv, 0);
        self.frames[1].killers = [Move::NULL; 2];
    }

    pub(super) fn set_root_evaluation(&mut self, position: &Position, accumulator: &Accumulator) {
        self.frames[2].cutoffs = 0;
        self.frames[0].evaluation = if position.is_check() {
            NONE
        } else {
            let keys = self.correction_keys(position, accumulator, 0);
            self.corrected(eval::evaluate(position, accumulator), position.turn(), keys)
        };
    }
}

/// Whether the entry's value decides the node.
pub(super) fn cuts(entry: Entry, alpha: Value, beta: Value) -> bool {
    match entry.bound {
        Bound::Exact => true,
        Bound::Lower => entry.value >= beta,
        Bound::Upper => entry.value <= alpha,
    }
}

/// Whether the entry's value says more than the evaluation.
pub(super) fn bounds(entry: Entry, evaluation: Value) -> bool {
    match entry.bound {
        Bound::Exact => true,
        Bound::Lower => entry.value > evaluation,
        Bound::Upper => entry.value < evaluation,
    }
}

/// Whether a side has more than king and pawns, so that zugzwang is rare.
fn has_pieces(position: &Position, color: Color) -> bool {
    position.side(color).without(position.role(Role::King) | position.role(Role::Pawn)).any()
}

/// How much less deep to search the `count`th move of the root, in plies.
pub(super) fn root_reduction(depth: i32, count: i32) -> i32 {
    (900 + logarithms(depth, count) * 65 / 256) / 1024
}

/// How much less deep to search the `count`th move, in 1024ths of a ply.
fn reduction(depth: i32, count: i32) -> i32 {
    830 + logarithms(depth, count) * 65 / 128
}

/// The product of two logarithms, in 1024ths.
fn logarithms(depth: i32, count: i32) -> i32 {
    static LOGARITHMS: std::sync::LazyLock<[i32; 256]> = std::sync::LazyLock::new(|| {
        std::array::from_fn(|n| ((n.max(1) as f64).ln() * 1024.0) as i32)
    });
    let log = |n: i32| LOGARITHMS[n.clamp(1, 255) as usize];
    log(depth) * log(count) / 1024
}
