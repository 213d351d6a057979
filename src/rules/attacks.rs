//! Attack sets of every role from every square, looked up in tables built at compile time.
//!
//! Sliders use fancy magic bitboards: the blockers on a square's rays, multiplied by a magic
//! factor, give the index of the attack set. The factors were found by trial of sparse random
//! numbers; the tests compare every table entry with a walk along the rays.
//!
//! The `pext` instruction could give the index instead. It was tried without any choice at run
//! time, as inline assembly in place of the multiplication: perft of `benches/perft.rs` gained 1
//! to 3 percent in a build for x86-64-v2 and nothing in one for x86-64-v3, less than a second set
//! of tables and a choice at each lookup would cost. One set of tables that is right everywhere
//! stays. What does pay is a build for the machine's own processor.

use crate::rules::{Bitboard, Color, Square};

type Direction = (i8, i8);

const ROOK_DIRECTIONS: [Direction; 4] = [(1, 0), (-1, 0), (0, 1), (0, -1)];
const BISHOP_DIRECTIONS: [Direction; 4] = [(1, 1), (1, -1), (-1, 1), (-1, -1)];
const KNIGHT_STEPS: [Direction; 8] =
    [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];
const KING_STEPS: [Direction; 8] =
    [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)];

/// Entries for all rook squares: the sum of 2^(relevant blockers).
const ROOK_ENTRIES: usize = 102_400;
/// Entries for all bishop squares.
const BISHOP_ENTRIES: usize = 5_248;

/// How to find a square's attack set from the occupied squares.
#[derive(Clone, Copy)]
struct Magic {
    /// Squares on which a blocker matters: the rays without their last squares.
    mask: u64,
    factor: u64,
    /// 64 minus the number of squares in `mask`.
    shift: u32,
    /// Where the square's entries begin in the table.
    offset: u32,
}

impl Magic {
    #[inline]
    const fn index(&self, occupied: u64) -> usize {
        self.offset as usize
            + ((occupied & self.mask).wrapping_mul(self.factor) >> self.shift) as usize
    }
}

/// Squares attacked by a rook on `square` when `occupied` squares stop it.
#[inline]
pub fn rook(square: Square, occupied: Bitboard) -> Bitboard {
    Bitboard(ROOK_ATTACKS[ROOK_MAGIC[square.index()].index(occupied.0)])
}

/// Squares attacked by a bishop on `square` when `occupied` squares stop it.
#[inline]
pub fn bishop(square: Square, occupied: Bitboard) -> Bitboard {
    Bitboard(BISHOP_ATTACKS[BISHOP_MAGIC[square.index()].index(occupied.0)])
}

/// Squares attacked by a queen on `square` when `occupied` squares stop it.
#[inline]
pub fn queen(square: Square, occupied: Bitboard) -> Bitboard {
    rook(square, occupied) | bishop(square, occupied)
}

/// Squares that a rook on `square` attacks on an empty board.
#[inline]
pub const fn rook_rays(square: Square) -> Bitboard {
    Bitboard(ROOK_RAYS[square.index()])
}

/// Squares that a bishop on `square` attacks on an empty board.
#[inline]
pub const fn bishop_rays(square: Square) -> Bitboard {
    Bitboard(BISHOP_RAYS[square.index()])
}

/// Squares attacked by a knight.
#[inline]
pub const fn knight(square: Square) -> Bitboard {
    Bitboard(KNIGHT_ATTACKS[square.index()])
}

/// The neighbors of a square: where a king can step, and what a blast there reaches (R1).
#[inline]
pub const fn king(square: Square) -> Bitboard {
    Bitboard(KING_ATTACKS[square.index()])
}

/// Squares attacked by a pawn of this color.
#[inline]
pub const fn pawn(color: Color, square: Square) -> Bitboard {
    Bitboard(PAWN_ATTACKS[color.index()][square.index()])
}

/// Squares attacked by at least one of these pawns of one color.
#[inline]
pub const fn pawns(color: Color, pawns: Bitboard) -> Bitboard {
    let ahead = match color {
        Color::White => pawns.north(),
        Color::Black => pawns.south(),
    };
    Bitboard(ahead.east().0 | ahead.west().0)
}

/// The squares strictly between two squares of one rank, file or diagonal; empty otherwise.
#[inline]
pub const fn between(a: Square, b: Square) -> Bitboard {
    Bitboard(BETWEEN[a.index()][b.index()])
}

/// The whole rank, file or diagonal through two squares; empty when they share none.
#[inline]
pub const fn line(a: Square, b: Square) -> Bitboard {
    Bitboard(LINE[a.index()][b.index()])
}

static KNIGHT_ATTACKS: [u64; 64] = step_table(&KNIGHT_STEPS);
static KING_ATTACKS: [u64; 64] = step_table(&KING_STEPS);
static PAWN_ATTACKS: [[u64; 64]; 2] =
    [step_table(&[(-1, 1), (1, 1)]), step_table(&[(-1, -1), (1, -1)])];
static ROOK_RAYS: [u64; 64] = ray_table(ROOK_DIRECTIONS);
static BISHOP_RAYS: [u64; 64] = ray_table(BISHOP_DIRECTIONS);
static BETWEEN: [[u64; 64]; 64] = between_table();
static LINE: [[u64; 64]; 64] = line_table();
static ROOK_MAGIC: [Magic; 64] = magic_table(ROOK_DIRECTIONS, &ROOK_FACTORS);
static BISHOP_MAGIC: [Magic; 64] = magic_table(BISHOP_DIRECTIONS, &BISHOP_FACTORS);
static ROOK_ATTACKS: [u64; ROOK_ENTRIES] = slider_table(ROOK_DIRECTIONS, &ROOK_MAGIC);
static BISHOP_ATTACKS: [u64; BISHOP_ENTRIES] = slider_table(BISHOP_DIRECTIONS, &BISHOP_MAGIC);

/// One step from a square, or `None` over the edge.
const fn step(square: usize, direction: Direction) -> Option<usize> {
    let file = (square % 8) as i8 + direction.0;
    let rank = (square / 8) as i8 + direction.1;
    if file < 0 || file > 7 || rank < 0 || rank > 7 {
        return None;
    }
    Some(rank as usize * 8 + file as usize)
}

const fn step_table(steps: &[Direction]) -> [u64; 64] {
    let mut table = [0; 64];
    let mut square = 0;
    while square < 64 {
        let mut i = 0;
        while i < steps.len() {
            if let Some(to) = step(square, steps[i]) {
                table[square] |= 1 << to;
            }
            i += 1;
        }
        square += 1;
    }
    table
}

/// The squares from `square` along one direction, the first blocker included.
const fn ray(square: usize, direction: Direction, occupied: u64) -> u64 {
    let mut squares = 0;
    let mut at = square;
    while let Some(to) = step(at, direction) {
        squares |= 1 << to;
        if occupied >> to & 1 != 0 {
            break;
        }
        at = to;
    }
    squares
}

const fn rays(square: usize, directions: [Direction; 4], occupied: u64) -> u64 {
    ray(square, directions[0], occupied)
        | ray(square, directions[1], occupied)
        | ray(square, directions[2], occupied)
        | ray(square, directions[3], occupied)
}

const fn ray_table(directions: [Direction; 4]) -> [u64; 64] {
    let mut table = [0; 64];
    let mut square = 0;
    while square < 64 {
        table[square] = rays(square, directions, 0);
        square += 1;
    }
    table
}

/// A ray without its last square, where a blocker would change nothing.
const fn relevant(square: usize, direction: Direction) -> u64 {
    let squares = ray(square, direction, 0);
    let mut at = square;
    while let Some(to) = step(at, direction) {
        at = to;
    }
    squares & !(1 << at)
}

const fn magic_table(directions: [Direction; 4], factors: &[u64; 64]) -> [Magic; 64] {
    let mut table = [Magic { mask: 0, factor: 0, shift: 0, offset: 0 }; 64];
    let mut offset = 0;
    let mut square = 0;
    while square < 64 {
        let mask = relevant(square, directions[0])
            | relevant(square, directions[1])
            | relevant(square, directions[2])
            | relevant(square, directions[3]);
        let bits = mask.count_ones();
        table[square] = Magic { mask, factor: factors[square], shift: 64 - bits, offset };
        offset += 1 << bits;
        square += 1;
    }
    table
}

const fn slider_table<const N: usize>(
    directions: [Direction; 4],
    magics: &[Magic; 64],
) -> [u64; N] {
    let mut table = [0; N];
    let mut square = 0;
    while square < 64 {
        let magic = magics[square];
        // Steps through every subset of the mask.
        let mut occupied: u64 = 0;
        loop {
            table[magic.index(occupied)] = rays(square, directions, occupied);
            occupied = occupied.wrapping_sub(magic.mask) & magic.mask;
            if occupied == 0 {
                break;
            }
        }
        square += 1;
    }
    table
}

#[expect(clippy::large_stack_arrays, reason = "evaluated at compile time")]
const fn between_table() -> [[u64; 64]; 64] {
    let mut table = [[0; 64]; 64];
    let mut a = 0;
    while a < 64 {
        let mut i = 0;
        while i < 8 {
            let mut squares = 0;
            let mut at = a;
            while let Some(to) = step(at, KING_STEPS[i]) {
                table[a][to] = squares;
                squares |= 1 << to;
                at = to;
            }
            i += 1;
        }
        a += 1;
    }
    table
}

#[expect(clippy::large_stack_arrays, reason = "evaluated at compile time")]
const fn line_table() -> [[u64; 64]; 64] {
    let mut table = [[0; 64]; 64];
    let mut a = 0;
    while a < 64 {
        let mut i = 0;
        while i < 8 {
            let (file, rank) = KING_STEPS[i];
            let line = ray(a, (file, rank), 0) | ray(a, (-file, -rank), 0) | 1 << a;
            let mut at = a;
            while let Some(to) = step(at, KING_STEPS[i]) {
                table[a][to] = line;
                at = to;
            }
            i += 1;
        }
        a += 1;
    }
    table
}

#[rustfmt::skip]
const ROOK_FACTORS: [u64; 64] = [
    0x2080_0020_8040_0010, 0x00c0_0020_0140_1000, 0x2100_1100_0840_2002, 0x0880_0800_8104_1000,
    0x0200_0200_2004_1008, 0x2300_0400_0801_0012, 0x0c00_2830_0400_8201, 0x0180_0100_0040_7a80,
    0x0168_8000_8040_0020, 0x0010_4000_4020_1000, 0x1001_0020_0100_1048, 0x1001_0024_0810_0100,
    0x0801_0004_0801_0012, 0x4001_0002_0900_0400, 0x08a2_0004_c802_0001, 0x2002_8011_4500_2280,
    0x0080_8600_2100_4200, 0x0010_00c0_0940_2002, 0x00b0_0020_0400_2800, 0x100a_8080_1002_0800,
    0x8101_0100_0800_0410, 0x0244_0080_0200_0480, 0x0000_0400_1081_0208, 0x2000_0200_0044_8534,
    0x4104_4004_8000_8033, 0x0000_8101_0020_4000, 0x0440_4309_0020_0010, 0x4600_2409_0010_0100,
    0x0060_0800_8004_0080, 0x0001_0003_0008_0400, 0x0004_0844_0001_1002, 0x0023_0402_0000_8041,
    0x0580_0500_4300_2080, 0x0400_8040_0280_2008, 0x0001_0020_0100_4010, 0x1000_2009_0100_1000,
    0x4410_8008_0180_0c00, 0xa012_0038_0600_1004, 0x0020_1001_0400_8802, 0x0004_8084_0200_0041,
    0x0010_4001_7089_8000, 0x0080_5000_2000_4004, 0x1040_4080_1202_0020, 0x8010_0400_0800_4040,
    0x2001_0801_0011_0004, 0x0000_0200_0400_8080, 0x0021_0108_1004_0002, 0x0800_008c_4302_0024,
    0x0000_8000_2100_5100, 0x0070_2010_4000_8080, 0x0000_d042_8200_6a00, 0x0010_0144_0008_0240,
    0x0001_0801_1005_0100, 0x0012_0008_1024_0600, 0x0402_0008_0104_0200, 0x0281_0010_8a00_4100,
    0x0050_8003_0010_2045, 0x8208_2100_4012_0882, 0x8010_6001_0118_3441, 0x020b_0009_1000_6045,
    0x0241_0010_0248_0005, 0x0081_0004_0088_0241, 0x0000_0090_0802_4124, 0x0048_1229_8041_0402,
];
#[rustfmt::skip]
const BISHOP_FACTORS: [u64; 64] = [
    0x0848_0208_2204_0013, 0x8010_a400_8582_1200, 0x0008_0084_3084_0822, 0x0808_0481_0804_0000,
    0x1304_0421_0000_8104, 0x5001_0120_1020_4023, 0x8104_8801_b820_0420, 0x200a_0080_8401_2000,
    0x0040_1020_0104_2084, 0x840a_5050_4242_8020, 0x0000_7001_0220_2920, 0x4410_1c0c_1080_0002,
    0x0040_0404_2200_0000, 0x0180_0208_0209_0202, 0x4020_0208_1104_1202, 0x0001_0430_8c04_2000,
    0x4140_6610_0242_4400, 0x0028_0120_0801_0460, 0x0188_0621_0200_2a00, 0x0014_0048_4010_2008,
    0x0105_0002_9040_0002, 0x8001_0222_0041_0400, 0x104a_0419_1801_3446, 0x008a_0000_8200_8238,
    0x04a0_0600_0810_0430, 0x0008_2200_0882_0801, 0x2508_0412_0800_5010, 0x4008_0802_0020_2020,
    0x2441_0010_1300_4000, 0x0030_0080_6040_7000, 0x4008_1080_0042_0800, 0x0012_0210_5029_0100,
    0x0210_0804_8220_0500, 0xcc01_1120_4810_0480, 0x0020_4028_0650_0440, 0x0004_8e00_8058_0080,
    0x0040_1020_2002_0080, 0x0028_0104_4008_0807, 0x4601_0411_0800_8800, 0x8040_810e_0410_4200,
    0x9012_1011_0400_088a, 0xa003_0802_1208_1050, 0x00c1_0040_4840_1004, 0x9000_00a0_1440_0800,
    0x0008_0210_4040_5401, 0x4020_0082_0600_2090, 0x0004_1904_2403_0100, 0x0424_008a_0202_6250,
    0x8004_0882_5090_0040, 0x1c00_4300_88a0_4200, 0x0001_0200_9404_0001, 0x8040_2100_2088_0061,
    0x2010_0404_5044_2032, 0x0800_8408_5004_4001, 0x0004_0408_0214_0004, 0x0004_080a_0422_2020,
    0x8088_8021_1002_2000, 0x1081_a104_1611_4400, 0x0205_010a_2406_0820, 0x0000_0007_2041_1080,
    0x1008_0002_0843_0400, 0x580c_0260_2881_0840, 0x8020_2044_1020_a110, 0x12c0_0224_0102_0018,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slider_tables_agree_with_walking_the_rays() {
        let mut random = fastrand::Rng::with_seed(1);
        for square in Square::all() {
            for _ in 0..200 {
                let occupied = random.u64(..) & random.u64(..);
                let at = square.index();
                let set = Bitboard(occupied);
                assert_eq!(rook(square, set).0, rays(at, ROOK_DIRECTIONS, occupied));
                assert_eq!(bishop(square, set).0, rays(at, BISHOP_DIRECTIONS, occupied));
            }
        }
    }

    #[test]
    fn magic_factors_never_mix_two_attack_sets() {
        for square in Square::all() {
            for (directions, magic, table) in [
                (ROOK_DIRECTIONS, &ROOK_MAGIC[square.index()], &ROOK_ATTACKS[..]),
                (BISHOP_DIRECTIONS, &BISHOP_MAGIC[square.index()], &BISHOP_ATTACKS[..]),
            ] {
                let mut occupied: u64 = 0;
                loop {
                    let expected = rays(square.index(), directions, occupied);
                    assert_eq!(table[magic.index(occupied)], expected);
                    occupied = occupied.wrapping_sub(magic.mask) & magic.mask;
                    if occupied == 0 {
                        break;
                    }
                }
            }
        }
    }

    #[test]
    fn lines_and_gaps() {
        let (a1, h8, c3) = (Square::at(0, 0), Square::at(7, 7), Square::at(2, 2));
        assert_eq!((between(a1, h8)).len(), 6);
        assert!(line(a1, h8).contains(c3));
        assert!(between(a1, Square::at(1, 2)).is_empty());
        assert!(line(a1, Square::at(1, 2)).is_empty());
    }
}
