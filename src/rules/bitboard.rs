//! Sets of squares as 64-bit words.

use std::{
    fmt,
    ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not},
};

use crate::rules::Square;

/// A set of squares; bit *n* is the square of index *n*.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Bitboard(pub u64);

impl Bitboard {
    /// No square.
    pub const EMPTY: Self = Self(0);
    /// All 64 squares.
    pub const FULL: Self = Self(!0);
    /// The squares of a1's color, among them all that a bishop on one of them can reach.
    pub const DARK: Self = Self(0xaa55_aa55_aa55_aa55);

    /// The set of this one square.
    pub const fn of(square: Square) -> Self {
        Self(1 << square.index())
    }

    /// The eight squares of a file, 0 to 7.
    pub const fn file(file: u8) -> Self {
        Self(0x0101_0101_0101_0101 << (file & 7))
    }

    /// The eight squares of a rank, 0 to 7.
    pub const fn rank(rank: u8) -> Self {
        Self(0xff << ((rank & 7) * 8))
    }

    /// Whether no square is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether at least one square is in the set.
    pub const fn any(self) -> bool {
        self.0 != 0
    }

    /// Whether the two sets share a square.
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether two or more squares are in the set.
    pub const fn has_several(self) -> bool {
        self.0 & self.0.wrapping_sub(1) != 0
    }

    /// Number of squares in the set.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether the square is in the set.
    pub const fn contains(self, square: Square) -> bool {
        self.0 >> square.index() & 1 != 0
    }

    /// The square of the lowest index, if any.
    pub const fn first(self) -> Option<Square> {
        if self.0 == 0 { None } else { Some(Square::new(self.0.trailing_zeros() as u8)) }
    }

    /// The square of the highest index, if any.
    pub const fn last(self) -> Option<Square> {
        if self.0 == 0 { None } else { Some(Square::new(63 - self.0.leading_zeros() as u8)) }
    }

    /// The set without the squares of `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The set with every square moved one file toward h; file h drops out.
    #[must_use]
    pub const fn east(self) -> Self {
        Self((self.0 & !Self::file(7).0) << 1)
    }

    /// The set with every square moved one file toward a; file a drops out.
    #[must_use]
    pub const fn west(self) -> Self {
        Self((self.0 & !Self::file(0).0) >> 1)
    }

    /// The set with every square moved one rank up; rank 8 drops out.
    #[must_use]
    pub const fn north(self) -> Self {
        Self(self.0 << 8)
    }

    /// The set with every square moved one rank down; rank 1 drops out.
    #[must_use]
    pub const fn south(self) -> Self {
        Self(self.0 >> 8)
    }

    /// Whether some square of the set passes the test.
    #[inline]
    pub fn any_square(self, test: impl FnMut(Square) -> bool) -> bool {
        self.into_iter().any(test)
    }

    /// Whether every square of the set passes the test.
    #[inline]
    pub fn all_squares(self, test: impl FnMut(Square) -> bool) -> bool {
        self.into_iter().all(test)
    }

    /// The squares of the set that pass the test.
    #[inline]
    #[must_use]
    pub fn filtered(self, test: impl FnMut(&Square) -> bool) -> Self {
        self.into_iter().filter(test).collect()
    }

    /// Adds a square.
    pub const fn insert(&mut self, square: Square) {
        self.0 |= 1 << square.index();
    }

    /// Takes a square away, if it is there.
    pub const fn remove(&mut self, square: Square) {
        self.0 &= !(1 << square.index());
    }
}

impl From<Square> for Bitboard {
    fn from(square: Square) -> Self {
        Self::of(square)
    }
}

/// The squares of a set, from the lowest index to the highest.
#[derive(Clone, Debug)]
pub struct Squares(Bitboard);

impl IntoIterator for Bitboard {
    type Item = Square;
    type IntoIter = Squares;

    #[inline]
    fn into_iter(self) -> Squares {
        Squares(self)
    }
}

impl Iterator for Squares {
    type Item = Square;

    #[inline]
    fn next(&mut self) -> Option<Square> {
        let square = self.0.first()?;
        self.0.0 &= self.0.0 - 1;
        Some(square)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.len(), Some(self.0.len()))
    }
}

impl ExactSizeIterator for Squares {}

impl FromIterator<Square> for Bitboard {
    fn from_iter<T: IntoIterator<Item = Square>>(squares: T) -> Self {
        squares.into_iter().fold(Self::EMPTY, |set, square| set | Self::of(square))
    }
}

impl BitAnd for Bitboard {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for Bitboard {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitXor for Bitboard {
    type Output = Self;
    fn bitxor(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }
}

impl Not for Bitboard {
    type Output = Self;
    fn not(self) -> Self {
        Self(!self.0)
    }
}

impl BitAndAssign for Bitboard {
    fn bitand_assign(&mut self, other: Self) {
        self.0 &= other.0;
    }
}

impl BitOrAssign for Bitboard {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl BitXorAssign for Bitboard {
    fn bitxor_assign(&mut self, other: Self) {
        self.0 ^= other.0;
    }
}

impl fmt::Debug for Bitboard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(*self).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_come_out_in_order() {
        let set: Bitboard =
            [Square::at(7, 7), Square::at(0, 0), Square::at(4, 3)].into_iter().collect();
        assert_eq!(
            set.into_iter().collect::<Vec<_>>(),
            [Square::at(0, 0), Square::at(4, 3), Square::at(7, 7)]
        );
        assert_eq!(set.len(), 3);
        assert!(set.has_several());
    }

    #[test]
    fn shifts_do_not_wrap_around_the_edge() {
        assert!(Bitboard::file(7).east().is_empty());
        assert!(Bitboard::file(0).west().is_empty());
        assert!(Bitboard::rank(7).north().is_empty());
        assert!(Bitboard::rank(0).south().is_empty());
    }

    #[test]
    fn dark_squares_hold_a1_and_not_h1() {
        assert!(Bitboard::DARK.contains(Square::at(0, 0)));
        assert!(!Bitboard::DARK.contains(Square::at(7, 0)));
        assert!(Bitboard::DARK.contains(Square::at(7, 7)));
    }
}
