//! The matchmaker, step by step, with a clock that the tests move.

use super::*;
use crate::{daemon::budget, platform::User};

const NOON: Epoch = Epoch::from_secs(1_800_000_000);
const SECOND: Duration = Duration::from_secs(1);
const BULLET: ChallengeClock = ChallengeClock { initial_s: 60, increment_s: 1 };
const BLITZ: ChallengeClock = ChallengeClock { initial_s: 180, increment_s: 2 };

/// A matchmaker and what it is told.
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own")]
struct Case {
    matchmaker: Matchmaker,
    policy: PolicyOptions,
    our_rating: Option<u32>,
    state: State,
    may_play: bool,
    may_correspond: bool,
    is_slot_wanted: bool,
    is_closing: bool,
    playing_with: Vec<&'static str>,
    now: Instant,
}

impl Case {
    /// After the first pause, with these bots in the list.
    fn new(options: MatchmakingOptions, bots: &[OnlineBot]) -> Self {
        let options = MatchmakingOptions { enabled: true, ..options };
        let mut case = Self {
            matchmaker: Matchmaker::new(fastrand::Rng::with_seed(7)),
            policy: PolicyOptions { matchmaking: options, ..PolicyOptions::default() },
            our_rating: Some(2000),
            state: State::default(),
            may_play: true,
            may_correspond: true,
            is_slot_wanted: false,
            is_closing: false,
            playing_with: Vec::new(),
            now: Instant::now(),
        };
        assert_eq!(case.step(), None, "the slot is left idle first");
        case.pass(case.options().pause);
        assert_eq!(case.step(), Some(Step::List));
        assert_eq!(case.step(), None, "one question at a time");
        let now = case.now;
        case.matchmaker.on_list(Some(bots.to_vec()), &case.policy.matchmaking, now);
        case
    }

    fn options(&self) -> &MatchmakingOptions {
        &self.policy.matchmaking
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
    }

    fn step(&mut self) -> Option<Step> {
        let playing_with = &self.playing_with;
        let situation = Situation {
            may_play: self.may_play,
            may_correspond: self.may_correspond,
            is_slot_wanted: self.is_slot_wanted,
            is_closing: self.is_closing,
            policy: &self.policy,
            our_id: "ember",
            our_rating: self.our_rating,
            state: &self.state,
            has_enough_of: &|id| playing_with.contains(&id),
            now: self.now,
            today: NOON,
        };
        self.matchmaker.step(&self.policy.matchmaking, &situation)
    }

    /// The challenge that is due.
    #[track_caller]
    fn offer(&mut self) -> Offer {
        match self.step() {
            Some(Step::Challenge(offer)) => offer,
            other => panic!("{other:?}"),
        }
    }

    fn sent(&mut self, id: &GameId) -> bool {
        self.matchmaker.on_sent(id, &self.policy.matchmaking, self.now)
    }

    fn not_sent(&mut self, may_have_worked: bool) {
        self.matchmaker.on_not_sent(may_have_worked, &self.policy.matchmaking, self.now);
    }

    fn off(&mut self, id: &GameId) -> Option<Offer> {
        self.matchmaker.on_off(id, &self.policy.matchmaking, self.now)
    }
}

fn bot(id: &str, rating: u32) -> OnlineBot {
    OnlineBot { id: id.to_owned(), rating: Some(rating), games: 10 }
}

fn id(name: &str) -> GameId {
    name.parse().unwrap()
}

/// One clock, so that the same opponent can be challenged again at once.
fn plain() -> MatchmakingOptions {
    MatchmakingOptions {
        time_controls: vec![WeightedClock::of(BLITZ)],
        again_after: Duration::ZERO,
        ..MatchmakingOptions::default()
    }
}

fn challenge_of_ours(name: &str, target: &str) -> Challenge {
    let user = |id: &str| User {
        id: id.to_owned(),
        name: id.to_owned(),
        title: Some("BOT".to_owned()),
        is_bot: true,
        rating: None,
        is_provisional: false,
    };
    Challenge {
        id: id(name),
        challenger: Some(user("ember")),
        target: Some(user(target)),
        variant: "atomic".to_owned(),
        initial_fen: None,
        rated: true,
        speed: None,
        clock: Some(BLITZ),
        days: None,
        rematch_of: None,
        is_bot_playable: None,
    }
}

/// Who is challenged of these, if everybody is in turn.
fn challenged(options: MatchmakingOptions, bots: &[OnlineBot]) -> Vec<String> {
    let again_after = Duration::from_hours(1000);
    let mut case = Case::new(MatchmakingOptions { again_after, ..options }, bots);
    let mut names = Vec::new();
    while let Some(Step::Challenge(offer)) = case.step() {
        names.push(offer.target);
        let id = id(&format!("c{}", names.len()));
        assert!(case.sent(&id));
        case.matchmaker.on_game_start(&id, None).unwrap();
        case.matchmaker.on_game_end(&id, &case.policy.matchmaking, case.now);
        case.pass(case.options().pause);
    }
    names.sort();
    names
}

#[test]
fn nobody_is_challenged_unless_that_is_wanted() {
    let mut case = Case::new(plain(), &[bot("soot", 2000)]);
    case.policy.matchmaking.enabled = false;
    assert_eq!(case.step(), None);
    case.policy.matchmaking.enabled = true;
    assert_eq!(case.offer().target, "soot");
}

#[test]
fn only_those_within_the_window_are_challenged() {
    let bots = [bot("ember", 2000), bot("weak", 1500), bot("near", 2100), bot("strong", 2600)];
    let of = |change: fn(&mut MatchmakingOptions)| {
        let mut options = plain();
        change(&mut options);
        challenged(options, &bots)
    };
    assert_eq!(of(|_| {}), ["near", "strong", "weak"], "everybody but ourselves");
    assert_eq!(of(|options| options.min_rating = Some(1600)), ["near", "strong"]);
    assert_eq!(of(|options| options.max_rating = Some(2100)), ["near", "weak"]);
    assert_eq!(of(|options| options.max_rating_difference = Some(500)), ["near", "weak"]);
    assert_eq!(of(|options| options.min_rating_difference = Some(500)), ["strong", "weak"]);
    assert_eq!(of(|options| options.block = ["NEAR"].iter().collect()), ["strong", "weak"]);
    assert_eq!(of(|options| options.only = ["near"].iter().collect()), ["near"]);
    assert!(of(|options| options.min_games = 11).is_empty());
    let mut case = Case::new(plain(), &[bot("near", 2100)]);
    case.policy.block = ["near"].iter().collect();
    assert_eq!(case.step(), None, "whose challenges are declined is not challenged");
}

#[test]
fn without_a_rating_there_is_no_window() {
    let unrated = OnlineBot { id: "new".to_owned(), rating: None, games: 1 };
    let bots = [unrated, bot("near", 2100)];
    assert_eq!(challenged(plain(), &bots), ["near", "new"]);
    for options in [
        MatchmakingOptions { min_rating: Some(1), ..plain() },
        MatchmakingOptions { max_rating: Some(4000), ..plain() },
        MatchmakingOptions { max_rating_difference: Some(4000), ..plain() },
    ] {
        assert_eq!(challenged(options, &bots), ["near"]);
    }
    let options = MatchmakingOptions { max_rating_difference: Some(1), ..plain() };
    let mut case = Case::new(options, &bots);
    case.our_rating = None;
    assert!(matches!(case.step(), Some(Step::Challenge(_))), "nothing is far from the unknown");
}

#[test]
fn clocks_are_drawn_by_weight_and_modes_evenly() {
    let clock = |clock, weight| WeightedClock { weight, ..WeightedClock::of(clock) };
    let options =
        MatchmakingOptions { time_controls: vec![clock(BULLET, 1), clock(BLITZ, 9)], ..plain() };
    let mut case = Case::new(options, &[bot("soot", 2000)]);
    let (mut blitz, mut rated) = (0, 0);
    for n in 0..1000 {
        let offer = case.offer();
        blitz += u32::from(offer.time == BLITZ.into());
        rated += u32::from(offer.rated);
        let id = id(&format!("c{n}"));
        assert!(case.sent(&id));
        case.matchmaker.on_game_start(&id, None).unwrap();
        case.matchmaker.on_game_end(&id, &case.policy.matchmaking, case.now);
        case.pass(case.options().pause);
        // The list does not grow old here.
        case.matchmaker.listed_at = Some(case.now);
    }
    assert!((850..950).contains(&blitz), "{blitz}");
    assert!((400..600).contains(&rated), "{rated}");
}

#[test]
fn a_mode_is_kept_to() {
    for (mode, rated) in [(Mode::Rated, true), (Mode::Casual, false)] {
        let mut case = Case::new(MatchmakingOptions { mode, ..plain() }, &[bot("soot", 2000)]);
        assert_eq!(case.offer().rated, rated);
        // One of the clock's own goes before it.
        let time_controls = vec![WeightedClock { mode: Some(mode), ..WeightedClock::of(BLITZ) }];
        for general in [Mode::Rated, Mode::Casual, Mode::Both] {
            let time_controls = time_controls.clone();
            let options = MatchmakingOptions { mode: general, time_controls, ..plain() };
            assert_eq!(Case::new(options, &[bot("soot", 2000)]).offer().rated, rated);
        }
    }
}

#[test]
fn the_stronger_or_the_weaker_are_challenged_more_often() {
    for (preference, range) in [
        (OpponentPreference::None, 40..60),
        (OpponentPreference::High, 65..85),
        (OpponentPreference::Low, 15..35),
    ] {
        let options = MatchmakingOptions { preference, ..plain() };
        let mut case = Case::new(options, &[bot("weak", 1500), bot("strong", 2500)]);
        let mut strong = 0;
        for _ in 0..1000 {
            strong += u32::from(case.offer().target == "strong");
            case.not_sent(false);
            case.matchmaker.in_vain = 0;
            case.pass(case.options().pause);
            // The list does not grow old here.
            case.matchmaker.listed_at = Some(case.now);
        }
        assert!(range.contains(&(strong / 10)), "{preference:?}: {strong}");
    }
}

#[test]
fn all_are_challenged_in_turn_where_that_is_wanted() {
    let options = MatchmakingOptions { preference: OpponentPreference::Sequential, ..plain() };
    let mut case =
        Case::new(options, &[bot("b", 2000), bot("d", 1000), bot("a", 3000), bot("c", 2000)]);
    for round in 0..2 {
        for expected in ["a", "b", "c", "d"] {
            assert_eq!(case.offer().target, expected, "round {round}");
            case.not_sent(false);
            case.matchmaker.in_vain = 0;
            case.pass(case.options().pause);
            case.matchmaker.listed_at = Some(case.now);
        }
    }
}

#[test]
fn a_clock_may_ask_for_other_ratings() {
    let fast = WeightedClock { ratings: Some((2_400, 2_600)), ..WeightedClock::of(BULLET) };
    let options = MatchmakingOptions {
        time_controls: vec![fast, WeightedClock::of(BLITZ)],
        min_rating: Some(1_900),
        max_rating: Some(2_100),
        ..plain()
    };
    let bots = [bot("weak", 1_500), bot("even", 2_000), bot("strong", 2_500), bot("top", 2_700)];
    let mut case = Case::new(options, &bots);
    for _ in 0..50 {
        let offer = case.offer();
        let expected = if offer.time == BULLET.into() { "strong" } else { "even" };
        assert_eq!(offer.target, expected);
        case.not_sent(false);
        case.matchmaker.in_vain = 0;
        case.pass(case.options().pause);
        case.matchmaker.listed_at = Some(case.now);
    }
}

#[test]
fn games_of_days_are_casual_and_need_no_slot() {
    let time_controls = vec![WeightedClock::of(ChallengeTime::Days(2)), WeightedClock::of(BLITZ)];
    let options = MatchmakingOptions { mode: Mode::Rated, time_controls, ..plain() };
    let bots = [bot("soot", 2000), bot("ash", 2000)];
    let mut case = Case::new(options.clone(), &bots);
    case.is_slot_wanted = true;
    let offer = case.offer();
    assert_eq!((offer.time, offer.rated), (ChallengeTime::Days(2), false));
    assert!(case.matchmaker.holds_slot() && case.matchmaker.awaits_correspondence());
    assert!(case.sent(&id("c1")));
    assert_eq!(case.step(), None, "it is in nobody's way");
    case.matchmaker.on_game_start(&id("c1"), None).unwrap();
    // It does not count among those of our own making, nor do those count for it.
    case.is_slot_wanted = false;
    case.may_correspond = false;
    case.pass(case.options().pause);
    assert_eq!((case.offer().time, case.matchmaker.games.len()), (BLITZ.into(), 0));
    assert!(!case.matchmaker.awaits_correspondence());
    let mut case = Case::new(options, &bots);
    (case.may_play, case.may_correspond) = (false, false);
    assert_eq!(case.step(), None);
    case.may_correspond = true;
    let offer = case.offer();
    assert!(case.sent(&id("c2")));
    case.is_closing = true;
    assert_eq!(case.step(), Some(Step::Cancel(id("c2"))));
    // Who finds that too slow is asked for no more days either.
    declines::remember(
        &mut case.state,
        &offer.target,
        crate::platform::DeclineReason::TooSlow,
        offer.time.clock(),
        false,
        NOON,
    );
    let forbids = |time: ChallengeTime| {
        declines::forbid(&case.state, &offer.target, time.clock(), false, NOON)
    };
    assert!(forbids(ChallengeTime::Days(3)) && !forbids(BLITZ.into()));
}

#[test]
fn what_was_declined_is_not_offered_again() {
    use crate::platform::DeclineReason as Reason;
    let clock = WeightedClock::of;
    let options =
        MatchmakingOptions { time_controls: vec![clock(BULLET), clock(BLITZ)], ..plain() };
    let mut case = Case::new(options, &[bot("soot", 2000)]);
    declines::remember(&mut case.state, "soot", Reason::TooFast, BULLET, true, NOON);
    declines::remember(&mut case.state, "soot", Reason::Casual, BLITZ, true, NOON);
    let expected = Offer { target: "soot".to_owned(), time: BLITZ.into(), rated: false };
    assert_eq!(case.offer(), expected);
    let mut case = Case::new(plain(), &[bot("soot", 2000)]);
    declines::remember(&mut case.state, "soot", Reason::NoBot, BULLET, true, NOON);
    assert_eq!(case.step(), None);
    case.state.declines.clear();
    assert_eq!(case.step(), None, "it is looked again after a pause");
    case.pass(case.options().pause);
    assert_eq!(case.offer().target, "soot");
}

#[test]
fn the_same_opponent_is_left_alone_for_a_while() {
    let again_after = Duration::from_mins(4);
    let options = MatchmakingOptions { again_after, ..plain() };
    let mut case = Case::new(options, &[bot("soot", 2000)]);
    case.offer();
    case.not_sent(false);
    case.pass(case.options().pause);
    assert_eq!(case.step(), None);
    case.pass(again_after);
    assert_eq!(case.offer().target, "soot");
}

#[test]
fn limits_are_kept_to() {
    let mut case = Case::new(plain(), &[bot("soot", 2000), bot("ash", 2000)]);
    case.may_play = false;
    assert_eq!(case.step(), None, "no slot, or no games left");
    case.may_play = true;
    case.is_slot_wanted = true;
    assert_eq!(case.step(), None, "somebody waits");
    case.is_slot_wanted = false;
    case.is_closing = true;
    assert_eq!(case.step(), None);
    case.is_closing = false;
    let day = Duration::from_hours(24);
    budget::block_opponent(&mut case.state, "ash", day, NOON);
    case.playing_with = vec!["soot"];
    assert_eq!(case.step(), None);
    case.playing_with.clear();
    budget::exhausted(&mut case.state.challenges, day, NOON);
    case.pass(case.options().pause);
    assert_eq!(case.step(), None, "the server takes no challenges");
    case.state.challenges.until = None;
    assert_eq!(case.offer().target, "soot");
}

#[test]
fn no_more_games_than_wanted_are_of_our_making() {
    let options = MatchmakingOptions { games: 2, ..plain() };
    let mut case = Case::new(options, &[bot("soot", 2000)]);
    for name in ["a", "b"] {
        case.offer();
        assert!(case.sent(&id(name)));
        assert!(case.matchmaker.on_game_start(&id(name), None).is_some());
        assert!(case.matchmaker.on_game_start(&id(name), None).is_none(), "told once");
    }
    assert_eq!(case.step(), None);
    case.matchmaker.on_game_end(&id("a"), &case.policy.matchmaking, case.now);
    assert_eq!(case.step(), None, "the slot is left idle");
    case.pass(case.options().pause);
    case.offer();
}

#[test]
fn no_more_challenges_are_sent_than_the_server_takes_in_a_minute() {
    let mut case = Case::new(plain(), &[bot("soot", 2000)]);
    case.policy.matchmaking.pause = Duration::ZERO;
    for _ in 0..MOST_IN_A_MINUTE {
        case.offer();
        case.not_sent(false);
    }
    assert_eq!(case.step(), None);
    case.pass(Duration::from_mins(1));
    case.offer();
}

#[test]
fn challenges_in_vain_grow_rare() {
    let mut case = Case::new(plain(), &[bot("soot", 2000)]);
    for times in [1, 2, 4, 8, 16, 16] {
        case.offer();
        case.not_sent(false);
        case.pass((case.options().pause * times).saturating_sub(SECOND));
        assert_eq!(case.step(), None);
        case.pass(SECOND);
        case.matchmaker.listed_at = Some(case.now);
    }
    case.offer();
    assert!(case.sent(&id("a")));
    case.matchmaker.on_game_start(&id("a"), None).unwrap();
    case.matchmaker.on_game_end(&id("a"), &case.policy.matchmaking, case.now);
    case.pass(case.options().pause);
    case.offer();
}

/// A challenge that is open, by this name.
fn open(name: &str) -> Case {
    let mut case = Case::new(plain(), &[bot("soot", 2000)]);
    case.offer();
    assert!(case.sent(&id(name)));
    case
}

#[test]
fn an_open_challenge_is_withdrawn_once_for_each_good_reason() {
    let reasons: [fn(&mut Case); 4] = [
        |case| case.pass(case.options().answer_limit),
        |case| case.is_slot_wanted = true,
        |case| case.is_closing = true,
        |case| case.policy.matchmaking.enabled = false,
    ];
    for reason in reasons {
        let mut case = open("a");
        assert_eq!(case.step(), None);
        reason(&mut case);
        assert_eq!(case.step(), Some(Step::Cancel(id("a"))));
        assert_eq!(case.step(), None);
        assert!(case.off(&id("a")).is_some() && case.off(&id("a")).is_none());
    }
}

#[test]
fn the_open_challenge_is_known_while_it_is_open() {
    let mut case = Case::new(plain(), &[bot("soot", 2000)]);
    case.offer();
    assert_eq!(case.matchmaker.open_challenge(), None, "it has no id yet");
    let ours = challenge_of_ours("a", "soot");
    case.matchmaker.on_own_challenge(&ours, case.now);
    assert_eq!(case.matchmaker.open_challenge(), Some(&id("a")));
    assert!(case.sent(&id("a")));
    assert_eq!(case.matchmaker.open_challenge(), Some(&id("a")));
    case.matchmaker.on_game_start(&id("a"), None).unwrap();
    assert_eq!(case.matchmaker.open_challenge(), None);
}

#[test]
fn what_ends_without_a_game_tells_what_was_offered() {
    let mut case = open("a");
    assert_eq!(case.off(&id("other")), None);
    assert_eq!(case.off(&id("a")).unwrap().target, "soot");
    case.pass(case.options().pause);
    case.offer();
}

#[test]
fn the_stream_may_be_faster_than_the_answer() {
    // Accepted before the answer.
    let mut case = Case::new(plain(), &[bot("soot", 2000)]);
    case.offer();
    assert!(case.matchmaker.holds_slot());
    let (ours, now) = (challenge_of_ours("a", "soot"), case.now);
    assert!(case.matchmaker.on_own_challenge(&ours, now));
    assert!(!case.matchmaker.holds_slot(), "it holds one by its id");
    assert!(case.matchmaker.on_game_start(&id("a"), None).is_some());
    assert_eq!(case.step(), None, "the answer is still to come");
    assert!(!case.sent(&id("a")));
    assert_eq!(case.matchmaker.games.len(), 1);
    // Declined before the answer.
    let mut case = Case::new(plain(), &[bot("soot", 2000)]);
    case.offer();
    assert!(case.matchmaker.on_own_challenge(&ours, now));
    assert!(case.off(&id("a")).is_some());
    assert!(!case.sent(&id("a")));
    assert!(case.off(&id("a")).is_none());
}

#[test]
fn a_lost_answer_leaves_a_doubt_that_the_stream_or_time_ends() {
    let ours = challenge_of_ours("a", "soot");
    // The stream tells afterwards.
    let mut case = Case::new(plain(), &[bot("soot", 2000)]);
    case.offer();
    case.not_sent(true);
    assert!(case.matchmaker.holds_slot());
    let other = challenge_of_ours("b", "other");
    assert!(!case.matchmaker.on_own_challenge(&other, case.now), "somebody else's by hand");
    assert!(case.matchmaker.on_own_challenge(&ours, case.now));
    assert!(!case.matchmaker.holds_slot());
    assert!(case.matchmaker.on_game_start(&id("a"), None).is_some());
    // It has told before.
    let mut case = Case::new(plain(), &[bot("soot", 2000)]);
    case.offer();
    assert!(case.matchmaker.on_own_challenge(&ours, case.now));
    case.not_sent(true);
    case.is_closing = true;
    assert_eq!(case.step(), Some(Step::Cancel(id("a"))));
    // It tells of the game only. One that came of something else is not ours.
    let mut case = Case::new(plain(), &[bot("soot", 2000)]);
    case.offer();
    case.not_sent(true);
    assert!(case.matchmaker.on_game_start(&id("b"), Some("other")).is_none());
    assert!(case.matchmaker.on_game_start(&id("b"), None).is_none());
    assert!(case.matchmaker.holds_slot());
    assert!(case.matchmaker.on_game_start(&id("a"), Some("soot")).is_some());
    assert!(!case.matchmaker.holds_slot());
    // It tells of the game only, before the answer gets lost.
    let mut case = Case::new(plain(), &[bot("soot", 2000)]);
    case.offer();
    assert!(case.matchmaker.on_game_start(&id("a"), Some("soot")).is_some());
    assert!(case.matchmaker.on_game_start(&id("a"), Some("soot")).is_none(), "told once");
    case.not_sent(true);
    assert!(!case.matchmaker.holds_slot());
    // It never tells.
    let mut case = Case::new(plain(), &[bot("soot", 2000)]);
    case.offer();
    case.not_sent(true);
    case.pass(DOUBT);
    assert_eq!(case.step(), None);
    assert!(!case.matchmaker.holds_slot());
    case.pass(case.options().pause);
    case.offer();
}

#[test]
fn a_list_that_does_not_come_is_asked_for_again_and_so_is_an_old_one() {
    let mut case = Case::new(plain(), &[bot("soot", 2000)]);
    case.offer();
    case.not_sent(false);
    case.pass(LIST_LIFE);
    assert_eq!(case.step(), Some(Step::List));
    case.matchmaker.on_list(None, &case.policy.matchmaking, case.now);
    assert_eq!(case.step(), None);
    case.pass(case.options().pause);
    assert_eq!(case.step(), Some(Step::List));
}
