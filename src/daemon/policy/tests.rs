//! The table of criteria, kinds and reasons, and what holds across them.

use std::collections::BTreeSet;

use super::*;
use crate::platform::ChallengeClock;

const OPEN: Situation<'_> = Situation {
    has_room: true,
    is_closing: false,
    is_quota_used: false,
    our_rating: Some(2000),
    running_with: 0,
    recent_with: 0,
    facts: Facts::NotAsked,
};

const DAY: Duration = Duration::from_hours(24);

fn user(id: &str, is_bot: bool) -> User {
    User {
        id: id.to_owned(),
        name: id.to_owned(),
        title: is_bot.then(|| "BOT".to_owned()),
        is_bot,
        rating: Some(1900),
        is_provisional: false,
    }
}

/// A rated game of 3+2 that nothing speaks against.
fn challenge(is_bot: bool) -> Challenge {
    Challenge {
        id: "w4itinG1".parse().unwrap(),
        challenger: Some(user(if is_bot { "soot-engine" } else { "quietrook7" }, is_bot)),
        target: None,
        variant: "atomic".to_owned(),
        initial_fen: None,
        rated: true,
        speed: Some(Speed::Blitz),
        clock: Some(ChallengeClock { initial_s: 180, increment_s: 2 }),
        days: None,
        rematch_of: None,
        is_bot_playable: Some(true),
    }
}

/// All that a verdict rests on.
struct Case {
    options: PolicyOptions,
    challenge: Challenge,
    situation: Situation<'static>,
    is_bot: bool,
}

impl Case {
    fn new(is_bot: bool) -> Self {
        let options = PolicyOptions::default();
        Self { options, challenge: challenge(is_bot), situation: OPEN, is_bot }
    }

    /// What is asked of the challenger's own kind.
    fn own(&mut self) -> &mut Criteria {
        if self.is_bot { &mut self.options.bots } else { &mut self.options.humans }
    }

    fn other(&mut self) -> &mut Criteria {
        if self.is_bot { &mut self.options.humans } else { &mut self.options.bots }
    }

    fn user(&mut self) -> &mut User {
        self.challenge.challenger.as_mut().unwrap()
    }

    fn name(&self) -> String {
        self.challenge.challenger.as_ref().unwrap().id.clone()
    }

    fn clock(&mut self, initial_s: u32, increment_s: u32) {
        self.challenge.clock = Some(ChallengeClock { initial_s, increment_s });
    }

    fn correspondence(&mut self, days: Option<u32>) {
        for criteria in [&mut self.options.humans, &mut self.options.bots] {
            criteria.speeds.push(Speed::Correspondence);
        }
        self.challenge.speed = Some(Speed::Correspondence);
        (self.challenge.clock, self.challenge.days) = (None, days);
    }

    fn facts(&mut self, facts: AccountFacts) {
        self.situation.facts = Facts::Known(Box::leak(Box::new(facts)));
    }

    fn verdict(&self) -> Verdict {
        judge(&self.options, &self.challenge, &self.situation)
    }
}

fn good_account() -> AccountFacts {
    AccountFacts { age: 100 * DAY, games: 500, is_marked: false }
}

/// What makes a challenge unwelcome, by which criterion, and what the challenger is told.
type Row = (Criterion, DeclineReason, fn(&mut Case));

#[rustfmt::skip]
const TABLE: &[Row] = &[
    (Criterion::Variant, DeclineReason::Variant, |case| case.challenge.variant = "chess960".to_owned()),
    (Criterion::Variant, DeclineReason::Variant, |case| case.challenge.variant = "Atomic".to_owned()),
    (Criterion::Variant, DeclineReason::Variant, |case| {
        case.challenge.initial_fen = Some("8/8/8/4k3/8/3QK3/8/8 w - - 0 1".to_owned());
    }),
    (Criterion::UltraBullet, DeclineReason::TooFast, |case| {
        case.own().speeds.push(Speed::UltraBullet);
        case.challenge.speed = Some(Speed::UltraBullet);
    }),
    (Criterion::ClosedToBots, DeclineReason::Generic, |case| case.challenge.is_bot_playable = Some(false)),
    (Criterion::Blocked, DeclineReason::Generic, |case| {
        // Being favored does not help.
        case.options.always = [case.name()].iter().collect();
        case.options.block = ["someone".to_owned(), case.name().to_uppercase()].iter().collect();
    }),
    (Criterion::NotListed, DeclineReason::Generic, |case| case.options.only = ["someone"].iter().collect()),
    (Criterion::Mode, DeclineReason::Casual, |case| case.own().rated = false),
    (Criterion::Mode, DeclineReason::Rated, |case| {
        case.own().casual = false;
        case.challenge.rated = false;
    }),
    (Criterion::Speed, DeclineReason::TooFast, |case| case.own().speeds = vec![Speed::Rapid, Speed::Classical]),
    (Criterion::Speed, DeclineReason::TooSlow, |case| case.own().speeds = vec![Speed::Bullet]),
    (Criterion::Speed, DeclineReason::TimeControl, |case| case.own().speeds = vec![Speed::Bullet, Speed::Rapid]),
    (Criterion::Speed, DeclineReason::TimeControl, |case| case.own().speeds = vec![]),
    (Criterion::Speed, DeclineReason::TimeControl, |case| case.challenge.speed = None),
    (Criterion::TimeControl, DeclineReason::TimeControl, |case| {
        case.own().time_controls = vec![ChallengeClock { initial_s: 180, increment_s: 0 }];
    }),
    (Criterion::Initial, DeclineReason::TooFast, |case| case.own().initial_s = 181..=600),
    (Criterion::Initial, DeclineReason::TooSlow, |case| case.own().initial_s = 0..=179),
    (Criterion::Increment, DeclineReason::TooFast, |case| case.own().increment_s = 3..=10),
    (Criterion::Increment, DeclineReason::TooSlow, |case| case.own().increment_s = 0..=1),
    (Criterion::Days, DeclineReason::TooFast, |case| {
        case.own().days = 3..=7;
        case.correspondence(Some(2));
    }),
    (Criterion::Days, DeclineReason::TooSlow, |case| {
        case.own().days = 3..=7;
        case.correspondence(Some(10));
    }),
    (Criterion::Unlimited, DeclineReason::TooSlow, |case| {
        case.own().unlimited = false;
        case.correspondence(None);
    }),
    (Criterion::Length, DeclineReason::TooSlow, |case| case.own().max_length_s = Some(259)),
    (Criterion::BulletIncrement, DeclineReason::TimeControl, |case| {
        case.own().bullet_needs_increment = true;
        case.challenge.speed = Some(Speed::Bullet);
        case.clock(60, 0);
    }),
    (Criterion::Rating, DeclineReason::Generic, |case| case.own().min_rating = Some(1901)),
    (Criterion::Rating, DeclineReason::Generic, |case| case.own().max_rating = Some(1899)),
    (Criterion::Rating, DeclineReason::Generic, |case| {
        case.own().min_rating = Some(1);
        case.user().rating = None;
    }),
    (Criterion::RatingDifference, DeclineReason::Generic, |case| case.own().max_rating_difference = Some(99)),
    (Criterion::RatingDifference, DeclineReason::Generic, |case| {
        case.own().max_rating_difference = Some(99);
        case.situation.our_rating = Some(1800);
    }),
    (Criterion::Provisional, DeclineReason::Generic, |case| {
        case.own().provisional = false;
        case.user().is_provisional = true;
    }),
    (Criterion::GamesPerUser, DeclineReason::Later, |case| {
        case.own().max_games_per_user = Some(2);
        case.situation.running_with = 2;
    }),
    (Criterion::RecentPerUser, DeclineReason::Later, |case| {
        case.own().max_recent_per_user = Some(5);
        case.situation.recent_with = 5;
    }),
    (Criterion::AccountAge, DeclineReason::Generic, |case| {
        case.own().min_account_age = Some(7 * DAY);
        case.facts(AccountFacts { age: 6 * DAY, ..good_account() });
    }),
    (Criterion::AccountGames, DeclineReason::Generic, |case| {
        case.own().min_account_games = Some(20);
        case.facts(AccountFacts { games: 19, ..good_account() });
    }),
    (Criterion::AccountMarked, DeclineReason::Generic, |case| {
        case.own().marked = false;
        case.facts(AccountFacts { is_marked: true, ..good_account() });
    }),
    (Criterion::AccountUnknown, DeclineReason::Later, |case| {
        case.own().marked = false;
        case.situation.facts = Facts::Unavailable;
    }),
    (Criterion::Closing, DeclineReason::Later, |case| case.situation.is_closing = true),
];

#[test]
fn each_criterion_declines_each_kind_with_its_reason() {
    let mut seen = BTreeSet::new();
    for (row, &(criterion, reason, change)) in TABLE.iter().enumerate() {
        for is_bot in [false, true] {
            let mut case = Case::new(is_bot);
            assert_eq!(case.verdict(), Verdict::Accept);
            change(&mut case);
            let expected = Verdict::Decline(reason, criterion);
            assert_eq!(case.verdict(), expected, "row {row}, bot: {is_bot}");
        }
        seen.insert(criterion);
    }
    // These differ by kind, or are no matter of the verdict, and are tested below and by the daemon.
    seen.extend([Criterion::Kind, Criterion::BotQuota, Criterion::Queue]);
    assert_eq!(seen.len(), Criterion::LAST as usize + 1, "a criterion has no row: {seen:?}");
}

/// Each row again, where the demand is made on the other kind of opponent, or the challenger is one
/// of whom nothing is asked.
#[test]
fn what_is_asked_of_one_kind_is_not_asked_of_the_other_nor_of_the_favored() {
    for (row, &(criterion, _, change)) in TABLE.iter().enumerate() {
        let is_of_all = criterion <= Criterion::NotListed || criterion == Criterion::Closing;
        for is_bot in [false, true] {
            let mut case = Case::new(is_bot);
            change(&mut case);
            // A speed that we do not know is nobody's demand.
            if is_of_all || case.challenge.speed.is_none() {
                continue;
            }
            let PolicyOptions { humans, bots, .. } = &mut case.options;
            std::mem::swap(humans, bots);
            assert_eq!(case.verdict(), Verdict::Accept, "row {row}, bot: {is_bot}");
            std::mem::swap(&mut case.options.humans, &mut case.options.bots);
            case.options.always = [case.name()].iter().collect();
            assert_eq!(case.verdict(), Verdict::Accept, "favored: row {row}, bot: {is_bot}");
        }
    }
}

#[test]
fn bots_and_people_are_chosen() {
    for (is_bot, reason) in [(true, DeclineReason::NoBot), (false, DeclineReason::OnlyBot)] {
        let mut case = Case::new(is_bot);
        case.own().accepted = false;
        assert_eq!(case.verdict(), Verdict::Decline(reason, Criterion::Kind));
        let mut case = Case::new(is_bot);
        case.other().accepted = false;
        assert_eq!(case.verdict(), Verdict::Accept);
    }
    let mut case = Case::new(false);
    case.options.humans.accepted = false;
    case.challenge.challenger = None;
    let expected = Verdict::Decline(DeclineReason::OnlyBot, Criterion::Kind);
    assert_eq!(case.verdict(), expected, "an anonymous visitor counts as a person");
}

#[test]
fn used_up_games_with_bots_stop_bots_only() {
    let mut case = Case::new(true);
    case.situation.is_quota_used = true;
    case.options.always = [case.name()].iter().collect();
    let expected = Verdict::Decline(DeclineReason::Later, Criterion::BotQuota);
    assert_eq!(case.verdict(), expected, "favor makes no game");
    let mut case = Case::new(false);
    case.situation.is_quota_used = true;
    assert_eq!(case.verdict(), Verdict::Accept);
}

#[test]
fn bounds_are_included() {
    let mut case = Case::new(false);
    *case.own() = Criteria {
        initial_s: 180..=180,
        increment_s: 2..=2,
        time_controls: vec![ChallengeClock { initial_s: 180, increment_s: 2 }],
        max_length_s: Some(260),
        min_rating: Some(1900),
        max_rating: Some(1900),
        max_rating_difference: Some(100),
        max_games_per_user: Some(1),
        max_recent_per_user: Some(1),
        min_account_age: Some(100 * DAY),
        min_account_games: Some(500),
        marked: false,
        provisional: false,
        bullet_needs_increment: true,
        ..Criteria::default()
    };
    assert_eq!(case.verdict(), Verdict::LookUp);
    case.facts(good_account());
    assert_eq!(case.verdict(), Verdict::Accept);
    case.challenge.speed = Some(Speed::Bullet);
    assert_eq!(case.verdict(), Verdict::Accept, "it has an increment");
    let mut case = Case::new(true);
    case.own().days = 3..=3;
    case.correspondence(Some(3));
    assert_eq!(case.verdict(), Verdict::Accept);
}

#[test]
fn anonymous_visitors_are_welcome_unless_something_is_asked_that_nobody_knows() {
    let anonymous = |change: fn(&mut Criteria)| {
        let mut case = Case::new(false);
        case.challenge.challenger = None;
        change(&mut case.options.humans);
        // Not theirs: nobody can tell one from another.
        (case.situation.running_with, case.situation.recent_with) = (9, 9);
        case.verdict()
    };
    let generic = |criterion| Verdict::Decline(DeclineReason::Generic, criterion);
    assert_eq!(anonymous(|_| {}), Verdict::Accept);
    assert_eq!(anonymous(|criteria| criteria.max_games_per_user = Some(1)), Verdict::Accept);
    assert_eq!(anonymous(|criteria| criteria.max_rating = Some(3000)), generic(Criterion::Rating));
    assert_eq!(anonymous(|criteria| criteria.provisional = false), generic(Criterion::Provisional));
    assert_eq!(anonymous(|criteria| criteria.marked = false), generic(Criterion::AccountUnknown));
}

#[test]
fn an_unknown_rating_of_ours_is_not_too_far_from_any() {
    let mut case = Case::new(false);
    case.own().max_rating_difference = Some(0);
    case.situation.our_rating = None;
    assert_eq!(case.verdict(), Verdict::Accept);
}

#[test]
fn those_who_may_challenge_are_listed_or_favored() {
    let mut case = Case::new(false);
    case.options.only = ["QuietRook7"].iter().collect();
    assert_eq!(case.verdict(), Verdict::Accept);
    case.options.only = ["someone"].iter().collect();
    case.options.always = ["QuietRook7"].iter().collect();
    assert_eq!(case.verdict(), Verdict::Accept);
    case.challenge.challenger = None;
    let expected = Verdict::Decline(DeclineReason::Generic, Criterion::NotListed);
    assert_eq!(case.verdict(), expected);
}

#[test]
fn a_full_house_waits_and_a_closing_one_tells_the_true_reason_first() {
    let mut case = Case::new(false);
    case.situation.has_room = false;
    assert_eq!(case.verdict(), Verdict::Wait);
    case.situation.is_closing = true;
    case.challenge.variant = "standard".to_owned();
    let expected = Verdict::Decline(DeclineReason::Variant, Criterion::Variant);
    assert_eq!(case.verdict(), expected);
    case.challenge = challenge(false);
    case.own().marked = false;
    let expected = Verdict::Decline(DeclineReason::Later, Criterion::Closing);
    assert_eq!(case.verdict(), expected, "nothing is looked up any more");
}
