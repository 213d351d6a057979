//! What a score is worth in games: the chances of a win, a draw and a loss.
//!
//! The chances are a model fitted to the engine's own games, no part of the search.

use crate::{
    rules::{Position, Role},
    search::Score,
};

/// The chances of the side to move, in permille; they add up to 1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wdl {
    /// Of a win.
    pub win: u32,
    /// Of a draw.
    pub draw: u32,
    /// Of a loss.
    pub loss: u32,
}

/// Two logistic curves, one for a win and its mirror image for a loss; what they leave is a draw.
/// Each number has a value for a board without pieces and one for that of the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// The score at which every other game is won, in centipawns; not negative.
    pub even: [f64; 2],
    /// By how much more the odds of a win grow e-fold, in centipawns; positive.
    pub scale: [f64; 2],
}

/// The fit to games with the first network. `meitner wdl GAMES` prints these lines;
/// `docs/ENGINE.md`, section 9, tells of which games they come.
pub const MODEL: Model = Model { even: [299.0, 47.0], scale: [218.5, 272.5] };

impl Model {
    /// The chances of a win, a draw and a loss, 0 to 1, at a score in centipawns and a phase from
    /// 0 to 1.
    pub fn chances(&self, centipawns: f64, phase: f64) -> [f64; 3] {
        let at = |ends: [f64; 2]| ends[0] + (ends[1] - ends[0]) * phase;
        let (even, scale) = (at(self.even), at(self.scale));
        let logistic = |score: f64| 1.0 / (1.0 + (-(score - even) / scale).exp());
        let (win, loss) = (logistic(centipawns), logistic(-centipawns));
        [win, (1.0 - win - loss).max(0.0), loss]
    }
}

/// How much is on the board: 1 with the pieces of the start, 0 with none. Knights and bishops count
/// 1, rooks 2, queens 4.
pub fn phase(position: &Position) -> f64 {
    let count = |role, weight| position.role(role).len() as f64 * weight;
    let sum = count(Role::Knight, 1.0)
        + count(Role::Bishop, 1.0)
        + count(Role::Rook, 2.0)
        + count(Role::Queen, 4.0);
    (sum / 24.0).min(1.0)
}

impl Score {
    /// The chances that go with this score in a position of this [`phase`].
    pub fn wdl(self, phase: f64) -> Wdl {
        match self.mate_in() {
            Some(moves) if moves > 0 => Wdl { win: 1000, draw: 0, loss: 0 },
            Some(_) => Wdl { win: 0, draw: 0, loss: 1000 },
            None => {
                let [win, _, loss] = MODEL.chances(self.centipawns().into(), phase);
                let (win, loss) = ((win * 1000.0).round() as u32, (loss * 1000.0).round() as u32);
                Wdl { win, draw: 1000 - (win + loss).min(1000), loss: loss.min(1000 - win) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wdl(centipawns: i32, phase: f64) -> Wdl {
        Score::from_centipawns(centipawns).wdl(phase)
    }

    #[test]
    fn chances_add_up_and_grow_with_the_score() {
        for phase in [0.0, 0.3, 1.0] {
            let mut last = 0;
            for centipawns in (-3_000..=3_000).step_by(7) {
                let chances = wdl(centipawns, phase);
                assert_eq!(chances.win + chances.draw + chances.loss, 1000, "{chances:?}");
                assert!(chances.win >= last, "{centipawns}: {chances:?}");
                last = chances.win;
                let Wdl { win, draw, loss } = wdl(-centipawns, phase);
                assert!(chances.win.abs_diff(loss) <= 1 && chances.loss.abs_diff(win) <= 1);
                assert!(chances.draw.abs_diff(draw) <= 1);
            }
            assert!(wdl(3_000, phase).win > 990);
        }
    }

    #[test]
    fn a_proved_end_is_certain() {
        let wins = Score::from_value(crate::search::score::win_at(5));
        assert_eq!(wins.wdl(1.0), Wdl { win: 1000, draw: 0, loss: 0 });
        let loses = Score::from_value(crate::search::score::loss_at(0));
        assert_eq!(loses.wdl(0.0), Wdl { win: 0, draw: 0, loss: 1000 });
    }

    #[test]
    fn the_phase_falls_with_the_pieces() {
        let at = |fen| phase(&Position::from_fen(fen).expect("a position"));
        let expect = |fen, expected: f64| assert!((at(fen) - expected).abs() < 1e-9, "{fen}");
        expect("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 1.0);
        expect("4k3/pppp4/8/8/8/8/4PPPP/Q3K3 w - - 0 1", 4.0 / 24.0);
        expect("4k3/pppp4/8/8/8/8/4PPPP/4K3 w - - 0 1", 0.0);
    }
}
