//! The 64 squares and the files and ranks that name them.

use std::{fmt, str::FromStr};

/// A square, numbered from a1 = 0 along the ranks to h8 = 63.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Square(u8);

/// The text is not the name of a square.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no square (a1 to h8)")]
pub struct ParseSquareError(String);

impl Square {
    /// Number of squares on the board.
    pub const COUNT: usize = 64;

    /// The square of this index, 0 (a1) to 63 (h8). The index is taken modulo 64.
    pub const fn new(index: u8) -> Self {
        Self(index & 63)
    }

    /// The square on this file and rank, both 0 to 7.
    pub const fn at(file: u8, rank: u8) -> Self {
        Self((file & 7) | ((rank & 7) << 3))
    }

    /// 0 (a1) to 63 (h8).
    pub const fn index(self) -> usize {
        (self.0 & 63) as usize
    }

    /// 0 (file a) to 7 (file h).
    pub const fn file(self) -> u8 {
        self.0 & 7
    }

    /// 0 (rank 1) to 7 (rank 8).
    pub const fn rank(self) -> u8 {
        (self.0 >> 3) & 7
    }

    /// The same file seen from the other side of the board (a1 becomes a8).
    #[must_use]
    pub const fn flip_rank(self) -> Self {
        Self(self.0 ^ 0b11_1000)
    }

    /// Every square from a1 to h8.
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        (0..64).map(Self)
    }
}

/// The letter of a file, 0 to 7.
pub(crate) fn file_letter(file: u8) -> char {
    char::from(b'a' + (file & 7))
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", file_letter(self.file()), self.rank() + 1)
    }
}

impl fmt::Debug for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Square {
    type Err = ParseSquareError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.as_bytes() {
            [file @ b'a'..=b'h', rank @ b'1'..=b'8'] => Ok(Self::at(file - b'a', rank - b'1')),
            _ => Err(ParseSquareError(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_and_index_are_inverse() {
        for square in Square::all() {
            assert_eq!(square.to_string().parse(), Ok(square));
        }
        assert_eq!("e4".parse::<Square>().unwrap(), Square::at(4, 3));
        assert!("i1".parse::<Square>().is_err());
        assert!("a9".parse::<Square>().is_err());
        assert!("".parse::<Square>().is_err());
    }
}
