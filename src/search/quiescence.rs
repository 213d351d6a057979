//! The search beyond the horizon: captures that gain, until the position is quiet.

use crate::{
    rules::{Move, Position},
    search::{
        Bound, MAX_PLY,
        alphabeta::{Searcher, bounds, cuts},
        eval::{self, Accumulator},
        picker::Picker,
        score::{DRAW, INFINITE, NONE, Value, is_loss, loss_at, win_at},
        tt::Entry,
    },
};

/// What a capture may gain beside its blast before it is left out below alpha, in centipawns.
const MARGIN: Value = 200;

impl Searcher<'_> {
    /// The value of a position when only captures that gain are played on; in check every move is.
    pub(super) fn quiescence<const PV: bool>(
        &mut self,
        position: &Position,
        accumulator: &Accumulator,
        mut alpha: Value,
        beta: Value,
        ply: usize,
    ) -> Value {
        self.frames[ply].pv.clear();
        if self.enter(ply) || self.is_draw(position) {
            return DRAW;
        }
        let generator = position.generator();
        let in_check = generator.checkers().any();
        if ply >= MAX_PLY - 1 {
            return if in_check { DRAW } else { eval::evaluate(position, accumulator) };
        }
        if generator.can_explode_king() {
            if PV {
                self.note_explosion(position, ply);
            }
            return win_at(ply + 1);
        }
        let found = self.tt.probe(position.key(), ply);
        if let Some(entry) = found
            && !PV
            && cuts(entry, alpha, beta)
        {
            return entry.value;
        }
        let table_move = found.map_or(Move::NULL, |entry| entry.mv);

        // The side to move may decline all captures, unless it is in check.
        let (mut raw, mut stand_pat, mut best) = (NONE, -INFINITE, -INFINITE);
        if !in_check {
            raw = match found {
                Some(entry) if entry.evaluation != NONE => entry.evaluation,
                _ => eval::evaluate(position, accumulator),
            };
            let keys = self.correction_keys(position, accumulator, ply);
            stand_pat = self.corrected(raw, position.turn(), keys);
            best = match found {
                Some(entry) if bounds(entry, stand_pat) => entry.value,
                _ => stand_pat,
            };
            if best >= beta {
                return best;
            }
            alpha = alpha.max(best);
        }

        let mut picker = if in_check {
            Picker::new(position, generator, table_move, [Move::NULL; 2], [None; 2])
        } else {
            Picker::quiescence(position, generator, table_move)
        };
        let mut best_move = Move::NULL;
        let mut bound = Bound::Upper;
        let mut count = 0;
        while let Some((mv, exchange)) = picker.next(self.histories) {
            count += 1;
            if !in_check
                && let Some(gain) = exchange
                && stand_pat + gain + MARGIN <= alpha
            {
                best = best.max(stand_pat + gain + MARGIN);
                continue;
            }
            // Once something better than a loss is known, quiet answers to a check are enough.
            if in_check && !is_loss(best) && !mv.is_capture() && count > 3 {
                picker.skip_quiets = true;
                continue;
            }
            let next = position.after(mv);
            self.tt.prefetch(next.key());
            let next_accumulator = accumulator.after(position, mv, &next);
            self.set_move(position, mv, ply);
            let value = self.with_key(next.key(), |search| {
                -search.quiescence::<PV>(&next, &next_accumulator, -beta, -alpha, ply + 1)
            });
            if self.is_stopped {
                return DRAW;
            }
            if value > best {
                best = value;
                if value > alpha {
                    best_move = mv;
                    if PV {
                        self.extend_pv(ply, mv);
                    }
                    if value >= beta {
                        bound = Bound::Lower;
                        break;
                    }
                    alpha = value;
                }
            }
        }
        if in_check && count == 0 {
            return loss_at(ply);
        }
        let entry =
            Entry { mv: best_move, value: best, evaluation: raw, depth: 0, bound, is_pv: PV };
        self.tt.store(position.key(), ply, entry);
        best
    }
}
