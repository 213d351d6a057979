//! What we decide besides moves: draws, resigning, takebacks, and how patient we are.

use std::{fmt, time::Duration};

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
    /// Whether a move that is found sooner waits for as long as a person would think.
    pub fake_think_time: bool,
    /// How long to wait for the opponent's first move before aborting.
    pub abort_patience: Duration,
    /// What the bot writes and answers.
    pub chat: ChatOptions,
    /// How people are met.
    pub humans: Manners,
    /// How bots are met.
    pub bots: Manners,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            nodes: None,
            move_overhead: Duration::from_millis(100),
            first_move_time: Duration::from_secs(3),
            untimed_move_time: Duration::from_secs(10),
            ponder: true,
            fake_think_time: false,
            abort_patience: Duration::from_secs(30),
            chat: ChatOptions::default(),
            humans: Manners::default(),
            bots: Manners::default(),
        }
    }
}

/// How one kind of opponent is met, besides the moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manners {
    /// When to agree to a draw, and when to offer one.
    pub draw: DrawOptions,
    /// When to resign.
    pub resign: ResignOptions,
    /// When to take moves back.
    pub takeback: TakebackOptions,
    /// No draw and no resigning while the opponent has less time than this and than we, and no
    /// increment: the flag may fall. `None`: the clock does not matter.
    pub hope_for_flag: Option<Duration>,
}

impl Default for Manners {
    fn default() -> Self {
        Self {
            draw: DrawOptions::default(),
            resign: ResignOptions::default(),
            takeback: TakebackOptions::default(),
            hope_for_flag: Some(Duration::from_secs(30)),
        }
    }
}

/// In which positions, and with whom, something is considered at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occasion {
    /// From this move of the game on, where the first is 1.
    pub from_move: usize,
    /// With at most so many men on the board, kings and pawns included.
    pub max_men: usize,
    /// Only with opponents of at least this rating. One whose rating is not known passes.
    pub min_rating: Option<u32>,
}

impl Default for Occasion {
    /// Always.
    fn default() -> Self {
        Self { from_move: 1, max_men: 32, min_rating: None }
    }
}

/// When to agree to a draw, and when to offer one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawOptions {
    /// Whether to accept draws at all.
    pub accept: bool,
    /// Accept when our evaluation was at most this for `accept_after_moves` moves in a row, in
    /// centipawns.
    pub accept_at_most_cp: i32,
    /// How many moves in a row that takes.
    pub accept_after_moves: u32,
    /// Whether to offer draws.
    pub offer: bool,
    /// Offer when our evaluation stayed within so many centipawns of zero for
    /// `offer_after_moves` moves in a row.
    pub offer_within_cp: i32,
    /// How many moves in a row that takes.
    pub offer_after_moves: u32,
    /// When to do either.
    pub when: Occasion,
}

impl Default for DrawOptions {
    fn default() -> Self {
        Self {
            accept: true,
            accept_at_most_cp: 0,
            accept_after_moves: 1,
            offer: false,
            offer_within_cp: 10,
            offer_after_moves: 10,
            when: Occasion { from_move: 11, ..Occasion::default() },
        }
    }
}

/// When to resign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResignOptions {
    /// Whether to resign at all.
    pub enabled: bool,
    /// Resign when our evaluation was at most this for `after_moves` moves in a row, in
    /// centipawns.
    pub at_most_cp: i32,
    /// How many moves in a row that takes.
    pub after_moves: u32,
    /// When to do so.
    pub when: Occasion,
}

impl Default for ResignOptions {
    fn default() -> Self {
        Self { enabled: false, at_most_cp: -1500, after_moves: 4, when: Occasion::default() }
    }
}

/// When to take moves back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TakebackOptions {
    /// So many times in a game.
    pub most: u32,
    /// Whether in rated games, too.
    pub in_rated_games: bool,
}

impl TakebackOptions {
    /// How many takebacks a game of this kind has.
    pub(crate) fn most_in(&self, rated: bool) -> u32 {
        if rated && !self.in_rated_games { 0 } else { self.most }
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

impl fmt::Display for Evaluation {
    /// As a person reads it: `+1.35`, `#4`, `#-2`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mate_in {
            Some(moves) => write!(f, "#{moves}"),
            None => write!(f, "{:+.2}", f64::from(self.centipawns) / 100.0),
        }
    }
}

/// What a decision rests on besides our evaluations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation {
    /// How many moves were played.
    pub(crate) ply: usize,
    /// How many men are on the board.
    pub(crate) men: usize,
    /// The opponent's rating.
    pub(crate) rating: Option<u32>,
    /// The time left to us and to the opponent; `None` in games without a clock and where the
    /// opponent gets an increment.
    pub(crate) race: Option<(Duration, Duration)>,
}

impl Occasion {
    fn is_now(&self, situation: &Situation) -> bool {
        situation.ply / 2 + 1 >= self.from_move
            && situation.men <= self.max_men
            && self.min_rating.zip(situation.rating).is_none_or(|(least, rating)| rating >= least)
    }
}

impl Manners {
    fn hopes_for_flag(&self, situation: &Situation) -> bool {
        self.hope_for_flag
            .zip(situation.race)
            .is_some_and(|(limit, (ours, theirs))| theirs < limit && theirs < ours)
    }

    /// Whether there can be a draw by agreement in this situation, whatever the evaluation.
    pub(crate) fn considers_draw(&self, situation: &Situation) -> bool {
        self.draw.accept && self.draw.when.is_now(situation)
    }
}

impl DrawOptions {
    fn is_acceptable(&self, evaluation: Evaluation) -> bool {
        evaluation.centipawns <= self.accept_at_most_cp
            && evaluation.mate_in.is_none_or(|moves| moves <= 0)
    }
}

/// The evaluations of our moves so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outlook {
    /// How many moves the game had, and the evaluation; `None` for a move without a search.
    moves: Vec<(usize, Option<Evaluation>)>,
}

impl Outlook {
    /// Takes in the evaluation behind our move at this ply. One that was chosen without a search
    /// has none: the last one is of another position.
    pub(crate) fn learn(&mut self, ply: usize, evaluation: Option<Evaluation>) {
        self.take_back(ply);
        self.moves.push((ply, evaluation));
    }

    /// The game has only so many moves any more.
    pub(crate) fn take_back(&mut self, plies: usize) {
        self.moves.retain(|(ply, _)| *ply < plies);
    }

    /// That of our last move, if it had one.
    fn last(&self) -> Option<Evaluation> {
        self.moves.last().and_then(|(_, evaluation)| *evaluation)
    }

    /// Whether the last so many evaluations, at least one, are all like that.
    fn held(&self, moves: u32, is_so: impl Fn(Evaluation) -> bool) -> bool {
        let moves = moves.max(1) as usize;
        let known = self.moves.iter().rev().filter_map(|(_, evaluation)| *evaluation);
        known.take(moves).filter(|evaluation| is_so(*evaluation)).count() == moves
    }

    /// Whether to accept a draw now. It takes an evaluation of our last move; `thought` is that of a
    /// search that still runs, and must agree.
    pub(crate) fn accepts_draw(
        &self,
        manners: &Manners,
        situation: &Situation,
        thought: Option<Evaluation>,
    ) -> bool {
        let draw = &manners.draw;
        manners.considers_draw(situation)
            && !manners.hopes_for_flag(situation)
            && self.last().is_some()
            && self.held(draw.accept_after_moves, |evaluation| draw.is_acceptable(evaluation))
            && thought.is_none_or(|evaluation| draw.is_acceptable(evaluation))
    }

    /// Whether a draw that is there for the taking is as good as what we have: not if we were better
    /// when we last knew, nor as long as we know nothing.
    pub(crate) fn settles_for_draw(&self) -> bool {
        self.held(1, |evaluation| {
            evaluation.centipawns <= 0 && evaluation.mate_in.is_none_or(|moves| moves <= 0)
        })
    }

    /// Whether to offer a draw with the next move. An open offer makes a fallen flag a draw (section
    /// 10.4 of the protocol notes), so that none is made while we hope for that.
    pub(crate) fn offers_draw(&self, manners: &Manners, situation: &Situation) -> bool {
        let draw = &manners.draw;
        let is_level = |evaluation: Evaluation| {
            evaluation.centipawns.unsigned_abs() <= draw.offer_within_cp.unsigned_abs()
        };
        draw.offer
            && draw.when.is_now(situation)
            && !manners.hopes_for_flag(situation)
            && self.last().is_some()
            && self.held(draw.offer_after_moves, is_level)
    }

    /// Whether to resign now.
    pub(crate) fn resigns(&self, manners: &Manners, situation: &Situation) -> bool {
        let resign = &manners.resign;
        resign.enabled
            && resign.when.is_now(situation)
            && !manners.hopes_for_flag(situation)
            && self.last().is_some()
            && self
                .held(resign.after_moves, |evaluation| evaluation.centipawns <= resign.at_most_cp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALM: Situation = Situation { ply: 40, men: 20, rating: Some(2000), race: None };

    const fn score(centipawns: i32) -> Evaluation {
        Evaluation { centipawns, mate_in: None }
    }

    /// After moves with these evaluations.
    fn outlook(centipawns: &[i32]) -> Outlook {
        let mut outlook = Outlook::default();
        for (index, &centipawns) in centipawns.iter().enumerate() {
            outlook.learn(2 * index, Some(score(centipawns)));
        }
        outlook
    }

    fn with_draw(draw: DrawOptions) -> Manners {
        Manners { draw, ..Manners::default() }
    }

    fn with_resign(resign: ResignOptions) -> Manners {
        Manners { resign: ResignOptions { enabled: true, ..resign }, ..Manners::default() }
    }

    #[test]
    fn a_draw_is_accepted_only_when_not_better() {
        let manners = Manners::default();
        let accepts =
            |cp: &[i32], ply| outlook(cp).accepts_draw(&manners, &Situation { ply, ..CALM }, None);
        assert!(accepts(&[0], 40));
        assert!(accepts(&[300, -50], 40));
        assert!(!accepts(&[1], 40));
        assert!(!accepts(&[-50], 19));
        assert!(accepts(&[-50], 20), "the eleventh move");
        assert!(!accepts(&[], 40));
    }

    #[test]
    fn a_draw_can_take_several_evaluations_and_the_running_search() {
        let manners = with_draw(DrawOptions { accept_after_moves: 2, ..DrawOptions::default() });
        let accepts = |cp: &[i32], thought| outlook(cp).accepts_draw(&manners, &CALM, thought);
        assert!(!accepts(&[0], None) && !accepts(&[5, 0], None));
        assert!(accepts(&[0, 0], None) && accepts(&[0, 0], Some(score(0))));
        assert!(!accepts(&[0, 0], Some(score(30))), "the opponent has just erred");
    }

    #[test]
    fn a_draw_is_not_accepted_with_a_mate_in_hand() {
        let draw = DrawOptions { accept_at_most_cp: i32::MAX, ..DrawOptions::default() };
        let manners = with_draw(draw);
        let mut outlook = Outlook::default();
        outlook.learn(36, Some(Evaluation { centipawns: 30_000, mate_in: Some(3) }));
        assert!(!outlook.accepts_draw(&manners, &CALM, None));
        outlook.learn(38, Some(Evaluation { centipawns: -30_000, mate_in: Some(-3) }));
        assert!(outlook.accepts_draw(&manners, &CALM, None));
    }

    #[test]
    fn a_move_without_an_evaluation_decides_nothing() {
        let mut manners =
            with_draw(DrawOptions { offer: true, offer_after_moves: 2, ..DrawOptions::default() });
        manners.resign = ResignOptions { enabled: true, at_most_cp: 0, ..ResignOptions::default() };
        manners.resign.after_moves = 2;
        let mut outlook = outlook(&[0, 0]);
        let decisions = |outlook: &Outlook| {
            [
                outlook.accepts_draw(&manners, &CALM, None),
                outlook.offers_draw(&manners, &CALM),
                outlook.resigns(&manners, &CALM),
            ]
        };
        assert_eq!(decisions(&outlook), [true; 3]);
        outlook.learn(4, None);
        assert_eq!(decisions(&outlook), [false; 3]);
        outlook.learn(6, Some(score(0)));
        assert_eq!(decisions(&outlook), [true; 3], "it breaks no row");
    }

    #[test]
    fn what_was_taken_back_does_not_count() {
        let manners = with_resign(ResignOptions { after_moves: 2, ..ResignOptions::default() });
        let mut outlook = outlook(&[0, -2000, -2000]);
        assert!(outlook.resigns(&manners, &CALM));
        outlook.take_back(4);
        assert!(!outlook.resigns(&manners, &CALM));
        outlook.learn(2, Some(score(-2000)));
        assert!(!outlook.resigns(&manners, &CALM), "the same move again is one move");
    }

    #[test]
    fn resigning_takes_several_bad_moves_in_a_row() {
        let manners = with_resign(ResignOptions {
            at_most_cp: -500,
            after_moves: 2,
            ..ResignOptions::default()
        });
        let resigns = |cp: &[i32]| outlook(cp).resigns(&manners, &CALM);
        assert!(!resigns(&[-600]));
        assert!(!resigns(&[-600, -100, -600]));
        assert!(resigns(&[-600, -500]));
        assert!(!outlook(&[-9000; 9]).resigns(&Manners::default(), &CALM), "off by default");
    }

    #[test]
    fn offering_takes_a_long_level_stretch() {
        let manners =
            with_draw(DrawOptions { offer: true, offer_after_moves: 3, ..DrawOptions::default() });
        let offers =
            |cp: &[i32], ply| outlook(cp).offers_draw(&manners, &Situation { ply, ..CALM });
        assert!(offers(&[0, -10, 10], 60));
        assert!(!offers(&[0, -11, 10, 3], 60));
        assert!(!offers(&[0, 0, 0], 10));
    }

    #[test]
    fn men_and_ratings_can_be_asked_for() {
        let when = Occasion { from_move: 1, max_men: 10, min_rating: Some(2300) };
        let draw = DrawOptions { when: when.clone(), ..DrawOptions::default() };
        let resign = ResignOptions { after_moves: 1, when, ..ResignOptions::default() };
        let manners = Manners { draw, ..with_resign(resign) };
        let outlook = outlook(&[-5000]);
        for (men, rating, expected) in [
            (10, Some(2300), true),
            (11, Some(2300), false),
            (10, Some(2299), false),
            (10, None, true),
        ] {
            let situation = Situation { men, rating, ..CALM };
            assert_eq!(outlook.accepts_draw(&manners, &situation, None), expected);
            assert_eq!(outlook.resigns(&manners, &situation), expected);
        }
    }

    #[test]
    fn a_flag_that_may_fall_is_waited_for() {
        let manners = with_resign(ResignOptions { after_moves: 1, ..ResignOptions::default() });
        let outlook = outlook(&[-5000]);
        let s = Duration::from_secs;
        for (race, decides) in [
            (None, true),
            (Some((s(60), s(29))), false),
            (Some((s(60), s(30))), true),
            (Some((s(20), s(25))), true),
        ] {
            let situation = Situation { race, ..CALM };
            assert_eq!(outlook.accepts_draw(&manners, &situation, None), decides, "{race:?}");
            assert_eq!(outlook.resigns(&manners, &situation), decides, "{race:?}");
            let manners = Manners { hope_for_flag: None, ..manners.clone() };
            assert!(outlook.resigns(&manners, &situation));
        }
    }

    #[test]
    fn takebacks_can_be_for_casual_games_only() {
        let casual = TakebackOptions { most: 2, in_rated_games: false };
        assert_eq!((casual.most_in(false), casual.most_in(true)), (2, 0));
        let all = TakebackOptions { most: 2, in_rated_games: true };
        assert_eq!((all.most_in(false), all.most_in(true)), (2, 2));
    }

    #[test]
    fn evaluations_are_written_for_people() {
        assert_eq!(score(135).to_string(), "+1.35");
        assert_eq!(Evaluation { centipawns: -31_996, mate_in: Some(-2) }.to_string(), "#-2");
    }
}
