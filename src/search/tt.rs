//! The transposition table: what is known of positions already searched, shared by all threads of
//! one search.
//!
//! Writes race and nobody locks. Each entry stores its key combined with its data (Hyatt and
//! Mann, "A lock-less transposition table implementation for parallel search", 2002), so that an
//! entry torn by two writers fails the key test and reads as absent.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use crate::{
    rules::Move,
    search::{
        Bound,
        score::{self, Value},
    },
};

const BUCKET: usize = 4;
const BYTES_PER_BUCKET: usize = size_of::<Bucket>();
/// MiB of a table that could not be as large as wanted.
const FALLBACK: usize = 16;

/// What the table knows of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The best move, or the one that caused the cutoff; null if none is known.
    pub(super) mv: Move,
    /// From the view of the side to move; mates by ply from this position.
    pub(super) value: Value,
    /// Static evaluation, [`score::NONE`] in check.
    pub(super) evaluation: Value,
    pub(super) depth: i32,
    pub(super) bound: Bound,
    /// Whether the position was once on a principal variation.
    pub(super) is_pv: bool,
}

#[derive(Default)]
struct Slot {
    /// Key XOR data.
    check: AtomicU64,
    /// 0–15 move, 16–31 value, 32–47 evaluation, 48–55 depth, 56–57 bound (0: empty), 58 PV,
    /// 59–63 age.
    data: AtomicU64,
}

#[derive(Default)]
#[repr(align(64))]
struct Bucket([Slot; BUCKET]);

/// A table of fixed size.
pub(super) struct TranspositionTable {
    buckets: Box<[Bucket]>,
    /// Grows by one with each search, modulo 32.
    age: AtomicU8,
}

impl TranspositionTable {
    /// A table of about this many MiB, at least one bucket. Where the system has not enough memory,
    /// it gets [`FALLBACK`] instead: what would just fit is wanted by other programs as well.
    pub(super) fn new(mebibytes: usize) -> Self {
        let sizes = [mebibytes, FALLBACK, 0];
        let buckets = sizes.into_iter().find_map(allocate).expect("one bucket is 64 bytes");
        Self { buckets, age: AtomicU8::new(0) }
    }

    /// The size in whole MiB.
    pub(super) fn mebibytes(&self) -> usize {
        (self.buckets.len() * BYTES_PER_BUCKET) >> 20
    }

    /// Forgets everything.
    pub(super) fn clear(&self) {
        for slot in self.buckets.iter().flat_map(|bucket| &bucket.0) {
            slot.check.store(0, Relaxed);
            slot.data.store(0, Relaxed);
        }
        self.age.store(0, Relaxed);
    }

    /// Marks what the table holds as one search older.
    pub(super) fn new_search(&self) {
        self.age.store((self.age.load(Relaxed) + 1) & 31, Relaxed);
    }

    /// The share of slots in use by the current search, in permille, from a sample.
    pub(super) fn hashfull(&self) -> u32 {
        let age = self.age.load(Relaxed);
        let sample = &self.buckets[..self.buckets.len().min(250)];
        let used = sample
            .iter()
            .flat_map(|bucket| &bucket.0)
            .map(|slot| slot.data.load(Relaxed))
            .filter(|&data| bound_bits(data) != 0 && (data >> 59) as u8 == age)
            .count();
        (used * 1000 / (sample.len() * BUCKET)) as u32
    }

    fn bucket(&self, key: u64) -> &Bucket {
        // Multiplication maps the key evenly onto any number of buckets.
        let index = (u128::from(key) * self.buckets.len() as u128) >> 64;
        &self.buckets[index as usize]
    }

    /// Tells the processor that the position of this key will be looked up soon.
    #[inline]
    pub(super) fn prefetch(&self, key: u64) {
        #[cfg(target_arch = "x86_64")]
        #[expect(unsafe_code, reason = "without it a fifth of the search waits for memory")]
        // SAFETY: a prefetch reads nothing that the program can see, and the address is that of a
        // bucket of the table.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(self.bucket(key)).cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = key;
    }

    /// What is known of the position of this key; mates count from `ply`.
    pub(super) fn probe(&self, key: u64, ply: usize) -> Option<Entry> {
        self.bucket(key).0.iter().find_map(|slot| {
            let data = slot.data.load(Relaxed);
            (slot.check.load(Relaxed) ^ data == key).then(|| unpack(data, ply)).flatten()
        })
    }

    /// Remembers an entry, at the cost of the one in its bucket that is worth least.
    pub(super) fn store(&self, key: u64, ply: usize, entry: Entry) {
        let age = self.age.load(Relaxed);
        let bucket = self.bucket(key);
        let mut mv = entry.mv;
        let mut victim = &bucket.0[0];
        let mut lowest = i32::MAX;
        for slot in &bucket.0 {
            let data = slot.data.load(Relaxed);
            if slot.check.load(Relaxed) ^ data == key {
                if let Some(old) = unpack(data, 0) {
                    if mv.is_null() {
                        mv = old.mv;
                    }
                    // A much deeper result of the same search is worth more than a shallow bound.
                    if entry.bound != Bound::Exact
                        && (data >> 59) as u8 == age
                        && entry.depth + 4 < old.depth
                    {
                        return;
                    }
                }
                victim = slot;
                break;
            }
            let worth = worth(data, age);
            if worth < lowest {
                lowest = worth;
                victim = slot;
            }
        }
        let data = pack(Entry { mv, ..entry }, ply, age);
        victim.data.store(data, Relaxed);
        victim.check.store(key ^ data, Relaxed);
    }
}

/// Empty buckets of about this many MiB, at least one; `None` if there is no memory for them.
fn allocate(mebibytes: usize) -> Option<Box<[Bucket]>> {
    let count = (mebibytes.saturating_mul(1 << 20) / BYTES_PER_BUCKET).max(1);
    let mut buckets = Vec::new();
    buckets.try_reserve_exact(count).ok()?;
    buckets.resize_with(count, Bucket::default);
    Some(buckets.into_boxed_slice())
}

/// 1 upper, 2 lower, 3 exact, 0 in an empty slot.
const fn bound_bits(data: u64) -> u64 {
    data >> 56 & 3
}

/// How much a slot is worth keeping: deep and young.
fn worth(data: u64, age: u8) -> i32 {
    if bound_bits(data) == 0 {
        return i32::MIN;
    }
    let depth = i32::from((data >> 48) as u8);
    let searches_ago = i32::from(age.wrapping_sub((data >> 59) as u8) & 31);
    depth - 8 * searches_ago
}

/// Depths are stored with this added: quiescence searches have depths of 0 and below.
const DEPTH_OFFSET: i32 = 8;

fn pack(entry: Entry, ply: usize, age: u8) -> u64 {
    let bound = match entry.bound {
        Bound::Upper => 1,
        Bound::Lower => 2,
        Bound::Exact => 3,
    };
    u64::from(entry.mv.to_bits())
        | u64::from(value_to_table(entry.value, ply) as u16) << 16
        | u64::from(entry.evaluation as i16 as u16) << 32
        | ((entry.depth + DEPTH_OFFSET).clamp(0, 255) as u64) << 48
        | bound << 56
        | u64::from(entry.is_pv) << 58
        | u64::from(age) << 59
}

fn unpack(data: u64, ply: usize) -> Option<Entry> {
    let bound = match bound_bits(data) {
        1 => Bound::Upper,
        2 => Bound::Lower,
        3 => Bound::Exact,
        _ => return None,
    };
    Some(Entry {
        mv: Move::from_bits(data as u16),
        value: value_from_table((data >> 16) as i16, ply),
        evaluation: Value::from((data >> 32) as i16),
        depth: i32::from((data >> 48) as u8) - DEPTH_OFFSET,
        bound,
        is_pv: data >> 58 & 1 != 0,
    })
}

/// Mates are stored by their distance from the position, not from the root.
fn value_to_table(value: Value, ply: usize) -> i16 {
    let value = if score::is_win(value) {
        value + ply as Value
    } else if score::is_loss(value) {
        value - ply as Value
    } else {
        value
    };
    value as i16
}

fn value_from_table(value: i16, ply: usize) -> Value {
    let value = Value::from(value);
    if score::is_win(value) {
        value - ply as Value
    } else if score::is_loss(value) {
        value + ply as Value
    } else {
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(value: Value, depth: i32) -> Entry {
        Entry {
            mv: Move::from_bits(0x1234),
            value,
            evaluation: -77,
            depth,
            bound: Bound::Lower,
            is_pv: true,
        }
    }

    #[test]
    fn what_is_stored_is_found() {
        let table = TranspositionTable::new(1);
        for (key, value) in [(1, 55), (u64::MAX, -31_000), (77 << 40, 0)] {
            table.store(key, 0, entry(value, 5));
            assert_eq!(table.probe(key, 0), Some(entry(value, 5)));
        }
        assert_eq!(table.probe(2, 0), None);
        table.clear();
        assert_eq!(table.probe(1, 0), None);
    }

    #[test]
    fn mates_move_with_the_ply() {
        let table = TranspositionTable::new(1);
        table.store(9, 4, entry(score::win_at(7), 5));
        assert_eq!(table.probe(9, 6).unwrap().value, score::win_at(9));
    }

    #[test]
    fn an_entry_without_a_move_keeps_the_old_one() {
        let table = TranspositionTable::new(1);
        table.store(9, 0, entry(1, 5));
        table.store(9, 0, Entry { mv: Move::NULL, ..entry(2, 6) });
        assert_eq!(table.probe(9, 0).unwrap().mv, entry(0, 0).mv);
    }

    #[test]
    fn a_table_without_memory_still_works() {
        let table = TranspositionTable::new(0);
        table.store(9, 0, entry(1, 5));
        assert!(table.probe(9, 0).is_some());
    }
}
