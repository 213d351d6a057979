//! What we decide besides moves: draws, resigning, and how patient we are.

use std::time::Duration;

use crate::game::ChatOptions;

/// How a game is played. Built by whoever starts games; nothing here is read from a file.
#[derive(Clone, Debug)]
pub struct Options {
    /// At most so many nodes for each move; `None`: as the clock allows.
    pub nodes: Option<u64>,
    /// Least time kept back from the clock for each move, for the network. Raised by what is
    /// measured.
    pub move_overhead: Duration,
    /// Longest thought about a first move, for which no clock runs.
    pub first_move_time: Duration,
    /// Thought about a move in a game without clocks.
    pub untimed_move_time: Duration,
    /// Whether to search on the opponent's time, too.
    pub ponder: bool,
    /// How long to wait for the opponent's first move before aborting.
    pub abort_patience: Duration,
    /// What the bot writes to its players; cut after [`MAX_CHAT_CHARS`](crate::game::MAX_CHAT_CHARS)
    /// characters.
    pub chat: ChatOptions,
    /// When to agree to a draw.
    pub draw: DrawOptions,
    /// When to resign.
    pub resign: ResignOptions,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            nodes: None,
            move_overhead: Duration::from_millis(100),
            first_move_time: Duration::from_secs(3),
            untimed_move_time: Duration::from_secs(10),
            ponder: true,
            abort_patience: Duration::from_secs(30),
            chat: ChatOptions::default(),
            draw: DrawOptions::default(),
            resign: ResignOptions::default(),
        }
    }
}

/// When to agree to a draw, and when to offer one.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DrawOptions {
    /// Whether to accept draws at all.
    pub accept: bool,
    /// Accept when our last evaluation is at most this, in centipawns.
    pub accept_at_most_cp: i32,
    /// Whether to offer draws.
    pub offer: bool,
    /// Offer when our evaluation stayed within so many centipawns of zero for
    /// `offer_after_moves` moves in a row.
    pub offer_within_cp: i32,
    /// How many moves in a row that takes.
    pub offer_after_moves: u32,
    /// Neither accept nor offer before so many plies.
    pub from_ply: usize,
}

impl Default for DrawOptions {
    fn default() -> Self {
        Self {
            accept: true,
            accept_at_most_cp: 0,
            offer: false,
            offer_within_cp: 10,
            offer_after_moves: 10,
            from_ply: 20,
        }
    }
}

/// When to resign.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResignOptions {
    /// Whether to resign at all.
    pub enabled: bool,
    /// Resign when our evaluation stayed below this for `after_moves` moves in a row, in
    /// centipawns.
    pub below_cp: i32,
    /// How many moves in a row that takes.
    pub after_moves: u32,
}

impl Default for ResignOptions {
    fn default() -> Self {
        Self { enabled: false, below_cp: -1500, after_moves: 4 }
    }
}

/// What our search thinks of our position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evaluation {
    /// Centipawns from our side.
    pub centipawns: i32,
    /// Mate in so many of our moves; negative: we are mated.
    pub mate_in: Option<i32>,
}

/// Our evaluations so far, as far as decisions rest on them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outlook {
    /// That of our last move, if it had one.
    last: Option<Evaluation>,
    bad_moves: u32,
    level_moves: u32,
}

impl Outlook {
    /// Takes in the evaluation behind one of our moves.
    pub(crate) fn learn(&mut self, evaluation: Evaluation, options: &Options) {
        let cp = evaluation.centipawns;
        let is_bad = cp < options.resign.below_cp;
        let is_level = cp.unsigned_abs() <= options.draw.offer_within_cp.unsigned_abs();
        self.bad_moves = if is_bad { self.bad_moves + 1 } else { 0 };
        self.level_moves = if is_level { self.level_moves + 1 } else { 0 };
        self.last = Some(evaluation);
    }

    /// One of our moves was chosen without an evaluation. The last one is of another position.
    pub(crate) fn forget_last(&mut self) {
        self.last = None;
    }

    /// Whether to accept a draw now: only when our last evaluation says that we are not better.
    pub(crate) fn accepts_draw(&self, ply: usize, options: &DrawOptions) -> bool {
        let is_not_better = self.last.is_some_and(|evaluation| {
            evaluation.centipawns <= options.accept_at_most_cp
                && evaluation.mate_in.is_none_or(|moves| moves <= 0)
        });
        options.accept && ply >= options.from_ply && is_not_better
    }

    /// Whether to offer a draw with the next move.
    pub(crate) fn offers_draw(&self, ply: usize, options: &DrawOptions) -> bool {
        let is_level = self.last.is_some() && self.level_moves >= options.offer_after_moves;
        options.offer && ply >= options.from_ply && is_level
    }

    /// Whether to resign now.
    pub(crate) fn resigns(&self, options: &ResignOptions) -> bool {
        options.enabled && self.bad_moves >= options.after_moves.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outlook(options: &Options, centipawns: &[i32]) -> Outlook {
        let mut outlook = Outlook::default();
        for &centipawns in centipawns {
            outlook.learn(Evaluation { centipawns, mate_in: None }, options);
        }
        outlook
    }

    #[test]
    fn a_draw_is_accepted_only_when_not_better() {
        let options = Options::default();
        let accepts = |cp: &[i32], ply| outlook(&options, cp).accepts_draw(ply, &options.draw);
        assert!(accepts(&[0], 40));
        assert!(accepts(&[300, -50], 40));
        assert!(!accepts(&[1], 40));
        assert!(!accepts(&[-50], 19));
        assert!(!accepts(&[], 40));
    }

    #[test]
    fn a_draw_is_not_accepted_with_a_mate_in_hand() {
        let options = Options {
            draw: DrawOptions { accept_at_most_cp: i32::MAX, ..DrawOptions::default() },
            ..Options::default()
        };
        let mut outlook = Outlook::default();
        outlook.learn(Evaluation { centipawns: 30_000, mate_in: Some(3) }, &options);
        assert!(!outlook.accepts_draw(40, &options.draw));
        outlook.learn(Evaluation { centipawns: -30_000, mate_in: Some(-3) }, &options);
        assert!(outlook.accepts_draw(40, &options.draw));
    }

    #[test]
    fn a_move_without_an_evaluation_agrees_to_no_draw() {
        let draw = DrawOptions { offer: true, offer_after_moves: 2, ..DrawOptions::default() };
        let options = Options { draw, ..Options::default() };
        let mut outlook = outlook(&options, &[0, 0]);
        assert!(outlook.accepts_draw(40, &options.draw) && outlook.offers_draw(40, &options.draw));
        outlook.forget_last();
        assert!(!outlook.accepts_draw(40, &options.draw));
        assert!(!outlook.offers_draw(40, &options.draw));
    }

    #[test]
    fn resigning_takes_several_bad_moves_in_a_row() {
        let resign = ResignOptions { enabled: true, below_cp: -500, after_moves: 2 };
        let options = Options { resign, ..Options::default() };
        let resigns = |cp: &[i32]| outlook(&options, cp).resigns(&options.resign);
        assert!(!resigns(&[-600]));
        assert!(!resigns(&[-600, -100, -600]));
        assert!(resigns(&[-600, -700]));
        assert!(!outlook(&options, &[-600, -700]).resigns(&ResignOptions::default()));
    }

    #[test]
    fn offering_takes_a_long_level_stretch() {
        let draw = DrawOptions { offer: true, offer_after_moves: 3, ..DrawOptions::default() };
        let options = Options { draw, ..Options::default() };
        let offers = |cp: &[i32], ply| outlook(&options, cp).offers_draw(ply, &options.draw);
        assert!(offers(&[0, -10, 10], 60));
        assert!(!offers(&[0, -11, 10, 3], 60));
        assert!(!offers(&[0, 0, 0], 10));
    }
}
