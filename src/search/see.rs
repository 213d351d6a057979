//! Static exchange evaluation by blast: what a move burns at once, or lets the opponent burn.
//!
//! A capture in atomic has no recapture sequence, since the capturer goes too: its worth is the
//! difference of what stands in the blast. A quiet move is worth what the opponent's best capture
//! of the moved man would cost. Both are exact up to pins.

use crate::{
    rules::{Bitboard, Color, Move, Position, Role, attacks},
    search::score::Value,
};

/// Centipawns of each role for exchanges; the king's is more than all other men together.
pub(super) const VALUES: [Value; 6] = [100, 200, 250, 340, 640, KING];
/// A king in the blast.
pub(super) const KING: Value = 20_000;
/// An even trade costs the tempo; `docs/ENGINE.md` gives 7 to 14 (section 3).
pub(super) const EVEN_TRADE: Value = 10;

/// What a side's men on these squares are worth, pawns and king left out.
fn pieces(position: &Position, color: Color, squares: Bitboard) -> Value {
    let own = position.side(color) & squares;
    if own.is_empty() {
        return 0;
    }
    [Role::Knight, Role::Bishop, Role::Rook, Role::Queen]
        .into_iter()
        .map(|role| (own & position.role(role)).len() as Value * VALUES[role.index()])
        .sum()
}

/// The worth of a legal move to its mover, in centipawns: blast gain for a capture, zero or less
/// for a quiet move.
pub(super) fn evaluate(position: &Position, mv: Move) -> Value {
    if mv.is_capture() { capture(position, mv) } else { quiet(position, mv) }
}

/// Enemy men in the blast minus own men in it, the capturer included.
pub(super) fn capture(position: &Position, mv: Move) -> Value {
    let us = position.turn();
    let gone = position.explosion(mv);
    if (gone & position.of(!us, Role::King)).any() {
        return KING;
    }
    // Among the squares of an explosion pawns stand only where they capture or are captured.
    let pawns = |color| (position.of(color, Role::Pawn) & gone).len() as Value;
    let gain = pieces(position, !us, gone) - pieces(position, us, gone)
        + (pawns(!us) - pawns(us)) * VALUES[Role::Pawn.index()];
    if gain == 0 { -EVEN_TRADE } else { gain }
}

/// What the opponent's best capture of the moved man would cost, as a value of zero or less.
fn quiet(position: &Position, mv: Move) -> Value {
    if mv.is_castling() || mv.promotion().is_some() {
        return 0;
    }
    let us = position.turn();
    let (from, to) = (mv.from(), mv.to());
    let Some(mover) = position.piece_on(from) else { return 0 };
    if mover.role == Role::King {
        return 0;
    }
    let zone = attacks::king(to);
    if (zone & position.of(!us, Role::King)).any() {
        // Every capture there would explode the opponent's own king.
        return 0;
    }
    let origin = Bitboard::of(from);
    let occupied = position.occupied().without(origin) | Bitboard::of(to);
    let capturers =
        position.attackers(to, occupied) & position.side(!us).without(position.role(Role::King));
    if capturers.is_empty() {
        return 0;
    }
    if (zone & position.of(us, Role::King)).any() {
        return -KING;
    }
    let burned = VALUES[mover.role.index()] + pieces(position, us, zone.without(origin))
        - pieces(position, !us, zone);
    let best = capturers
        .into_iter()
        .map(|square| {
            let role = position.piece_on(square).map_or(Role::Pawn, |piece| piece.role);
            // A piece beside the target has been counted with the blast already.
            let is_counted = zone.contains(square) && role != Role::Pawn;
            burned - if is_counted { 0 } else { VALUES[role.index()] }
        })
        .max();
    best.map_or(0, |gain| -gain.max(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn see(fen: &str, uci: &str) -> Value {
        let position = Position::from_fen(fen).unwrap();
        evaluate(&position, position.parse_uci(uci).unwrap())
    }

    const P: Value = VALUES[0];
    const N: Value = VALUES[1];
    const B: Value = VALUES[2];
    const R: Value = VALUES[3];

    #[test]
    fn a_capture_is_worth_its_blast() {
        // Nxd5 burns the pawn on d5 and the knight on c6, and costs both own knights.
        let fen = "r1bqkb1r/ppp1pp1p/2n2np1/3pN3/3P4/2N5/PPP1PPPP/R1BQKB1R w KQkq - 0 5";
        assert_eq!(see(fen, "c3d5"), P + N - 2 * N);
        assert_eq!(see(fen, "e5f7"), KING);
        assert_eq!(see("4k3/8/8/3n4/8/4N3/8/4K3 w - - 0 1", "e3d5"), -EVEN_TRADE);
    }

    #[test]
    fn en_passant_burns_around_the_landing_square() {
        assert_eq!(see("4k3/8/2n1n3/2Pp4/2r5/8/8/4K3 w - d6 0 1", "c5d6"), 2 * N + P - P);
    }

    #[test]
    fn a_quiet_move_costs_the_best_capture_of_the_moved_man() {
        // The bishop takes the rook on d7, unless its own king stands beside.
        assert_eq!(see("6k1/8/8/8/b7/8/8/3RK3 w - - 0 1", "d1d7"), -(R - B));
        assert_eq!(see("4k3/8/8/8/b7/8/8/3RK3 w - - 0 1", "d1d7"), 0);
        assert_eq!(see("6k1/8/8/8/8/8/8/3RK3 w - - 0 1", "d1d7"), 0);
        // A pawn takes with profit.
        assert_eq!(see("6k1/8/2p5/8/8/8/8/3RK3 w - - 0 1", "d1d5"), -(R - P));
        // A rook takes a rook: even, so the opponent need not.
        assert_eq!(see("6k1/8/8/8/r7/8/8/3RK3 w - - 0 1", "d1d4"), 0);
        // What stands beside the target burns too, on both sides.
        assert_eq!(see("6k1/8/8/2N5/r7/8/8/3RK3 w - - 0 1", "d1d4"), -N);
        // A man taken beside its own king takes the king along.
        assert_eq!(see("6k1/8/8/8/8/3q4/8/R3K3 w - - 0 1", "a1d1"), -KING);
    }
}
