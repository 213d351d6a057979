//! What a position is worth to the side to move.

use std::fmt;

use crate::search::MAX_PLY;

/// The search's own arithmetic: centipawns of the side to move, or a mate by ply.
pub(super) type Value = i32;

/// A king that explodes or is mated at the root would be worth this.
pub(super) const MATE: Value = 32_000;
/// Above every value.
pub(super) const INFINITE: Value = 32_001;
/// No value: a static evaluation that was not made.
pub(super) const NONE: Value = 32_002;
/// A draw.
pub(super) const DRAW: Value = 0;
/// The largest value that is no mate.
pub(super) const MAX_EVALUATION: Value = MATE - MAX_PLY as Value - 1;

/// The value of winning with the move that leads to this ply.
pub(super) const fn win_at(ply: usize) -> Value {
    MATE - ply as Value
}

/// The value of having lost at this ply.
pub(super) const fn loss_at(ply: usize) -> Value {
    ply as Value - MATE
}

/// Whether the value is a proved win.
pub(super) const fn is_win(value: Value) -> bool {
    value > MAX_EVALUATION && value <= MATE
}

/// Whether the value is a proved loss.
pub(super) const fn is_loss(value: Value) -> bool {
    value < -MAX_EVALUATION
}

/// Whether the value is a proved win or loss.
pub(super) const fn is_decisive(value: Value) -> bool {
    is_win(value) || is_loss(value)
}

/// The result of a search from the view of the side to move: centipawns, or a forced end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score(i16);

impl Score {
    /// A score of this many centipawns, cut to what is no mate.
    pub fn from_centipawns(centipawns: i32) -> Self {
        Self::from_value(centipawns.clamp(-MAX_EVALUATION, MAX_EVALUATION))
    }

    pub(super) fn from_value(value: Value) -> Self {
        Self(value.clamp(-MATE, MATE) as i16)
    }

    /// Centipawns; a forced win counts as more than any other score.
    pub fn centipawns(self) -> i32 {
        self.0.into()
    }

    /// Own moves until the win, negative until the loss; `None` if neither is proved.
    pub fn mate_in(self) -> Option<i32> {
        let value = Value::from(self.0);
        if is_win(value) {
            Some((MATE - value + 1) / 2)
        } else if is_loss(value) {
            Some(-(MATE + value + 1) / 2)
        } else {
            None
        }
    }
}

impl fmt::Display for Score {
    /// As a person reads it: `+1.35`, `#4`, `#-2`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mate_in() {
            Some(moves) => write!(f, "#{moves}"),
            None => write!(f, "{:+.2}", f64::from(self.0) / 100.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mates_are_counted_in_own_moves() {
        for (value, moves) in [
            (win_at(1), 1),
            (win_at(3), 2),
            (win_at(5), 3),
            (loss_at(0), 0),
            (loss_at(2), -1),
            (loss_at(4), -2),
        ] {
            assert_eq!(Score::from_value(value).mate_in(), Some(moves));
        }
        assert_eq!(Score::from_centipawns(99_999).mate_in(), None);
        assert_eq!(Score::from_centipawns(135).to_string(), "+1.35");
        assert_eq!(Score::from_value(loss_at(4)).to_string(), "#-2");
    }
}
