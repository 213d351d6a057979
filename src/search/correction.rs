//! What searches have taught about the static evaluation: by how much it errs in positions that have
//! something in common.

use crate::{
    rules::{Bitboard, Color, Position, Role, attacks},
    search::{history::PieceTo, score::Value},
};

/// Entries of each table.
const SIZE: usize = 16_384;
/// Errors are stored in this part of a centipawn.
const GRAIN: i32 = 64;
/// No table corrects by more than this.
const LIMIT: i32 = 64 * GRAIN;

/// What positions are compared by, each with its share in the correction, in 64ths: the pawns, the
/// pieces of White, those of Black, the last move, and the men beside both kings. The shares come
/// from a tuning by simultaneous perturbation (`docs/ENGINE.md`, section 10).
const SHARES: [i32; 5] = [56, 27, 27, 30, 20];

/// The places of a position in the tables.
#[derive(Clone, Copy)]
pub(super) struct Keys([u16; SHARES.len()]);

impl Keys {
    /// `last` is the move that led to the position, `None` after a null move or where it is unknown.
    pub(super) fn new(position: &Position, pawn_key: u64, last: Option<PieceTo>) -> Self {
        let place = |key: u64| (key % SIZE as u64) as u16;
        Self([
            place(pawn_key),
            place(pieces(position, Color::White)),
            place(pieces(position, Color::Black)),
            last.map_or(0, |last| last.index() as u16),
            place(kings(position)),
        ])
    }
}

/// Odd numbers without a pattern (SHA-512's first constants), to mix bitboards with.
const MIX: [u64; 7] = [
    0x428a_2f98_d728_ae23,
    0x7137_4491_23ef_65cd,
    0xb5c0_fbcf_ec4d_3b2f,
    0xe9b5_dba5_8189_dbbd,
    0x3956_c25b_f348_b539,
    0x59f1_11f1_b605_d019,
    0x923f_82a4_af19_4f9b,
];

/// The upper half of a sum of products, which every bit of the factors reaches.
fn fold(sum: u64) -> u64 {
    (sum ^ (sum >> 29)).wrapping_mul(MIX[0]) >> 40
}

/// A key of a side's pieces, the king among them.
fn pieces(position: &Position, color: Color) -> u64 {
    let own = position.side(color).without(position.role(Role::Pawn));
    fold(mixed(position, own))
}

/// A key of both kings and the men beside them.
fn kings(position: &Position) -> u64 {
    let zone = |color| {
        let king = position.king(color).map_or(Bitboard::EMPTY, attacks::king);
        king | position.of(color, Role::King)
    };
    let near = zone(Color::White) | zone(Color::Black);
    let white = (position.side(Color::White) & near).0.wrapping_mul(MIX[6]);
    fold(mixed(position, near) ^ white.rotate_left(32))
}

/// The men on these squares by role.
fn mixed(position: &Position, squares: Bitboard) -> u64 {
    Role::ALL
        .into_iter()
        .map(|role| {
            (position.role(role) & squares)
                .0
                .wrapping_mul(MIX[role.index()])
                .rotate_left(role.index() as u32 * 11)
        })
        .fold(0, u64::wrapping_add)
}

/// The errors seen by one searching thread, by place and side to move.
pub(super) struct Corrections([Box<[[i16; 2]]>; SHARES.len()]);

impl Corrections {
    pub(super) fn new() -> Self {
        Self(std::array::from_fn(|_| vec![[0; 2]; SIZE].into_boxed_slice()))
    }

    pub(super) fn clear(&mut self) {
        self.0.iter_mut().for_each(|table| table.as_flattened_mut().fill(0));
    }

    /// What to add to a static evaluation, in centipawns.
    pub(super) fn get(&self, color: Color, keys: Keys) -> Value {
        let entries = self.0.iter().zip(keys.0).zip(SHARES);
        let sum: i32 = entries
            .map(|((table, key), share)| i32::from(table[usize::from(key)][color.index()]) * share)
            .sum();
        sum / (64 * GRAIN)
    }

    /// Learns that the evaluation was wrong by `error` centipawns, as a search of this depth says.
    pub(super) fn learn(&mut self, color: Color, keys: Keys, error: Value, depth: i32) {
        let weight = (depth + 1).min(16);
        let error = error.clamp(-256, 256) * GRAIN * weight;
        for (table, key) in self.0.iter_mut().zip(keys.0) {
            let entry = &mut table[usize::from(key)][color.index()];
            let moved = (i32::from(*entry) * (256 - weight) + error) / 256;
            *entry = moved.clamp(-LIMIT, LIMIT) as i16;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(fen: &str) -> Keys {
        let position = Position::from_fen(fen).unwrap();
        Keys::new(&position, 0, None)
    }

    #[test]
    fn positions_differ_by_what_differs() {
        let [_, white, black, _, near] = keys("4k3/8/2n5/8/8/2N5/8/4K3 w - - 0 1").0;
        let [_, white_moved, black_moved, _, near_moved] =
            keys("4k3/8/2n5/8/8/5N2/8/4K3 w - - 0 1").0;
        assert_ne!(white, white_moved);
        assert_eq!((black, near), (black_moved, near_moved));
        // A knight beside the king, and one of the other color there.
        let [.., own] = keys("4k3/8/2n5/8/8/8/3N4/4K3 w - - 0 1").0;
        let [.., other] = keys("4k3/8/2N5/8/8/8/3n4/4K3 w - - 0 1").0;
        assert_ne!(near, own);
        assert_ne!(own, other);
    }

    #[test]
    fn an_error_seen_often_is_corrected() {
        let mut corrections = Corrections::new();
        let keys = keys("4k3/8/2n5/8/8/2N5/8/4K3 w - - 0 1");
        for _ in 0..1_000 {
            corrections.learn(Color::White, keys, 40, 8);
        }
        // Each table holds 40, rounded down a little; the shares add up to two and a half.
        let sum = SHARES.iter().sum::<i32>() * 40 / 64;
        let corrected = corrections.get(Color::White, keys);
        assert!((sum - 5..=sum).contains(&corrected), "{corrected} {sum}");
        assert_eq!(corrections.get(Color::Black, keys), 0);
        corrections.clear();
        assert_eq!(corrections.get(Color::White, keys), 0);
    }
}
