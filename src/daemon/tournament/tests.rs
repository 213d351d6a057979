//! Tournaments step by step, with a clock that the tests move.

use super::*;
use crate::{daemon::Criteria, platform::ChallengeClock};

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_hours(1);

/// The bookkeeping and what it is told.
struct Case {
    tournaments: Tournaments,
    policy: PolicyOptions,
    has_room: bool,
    is_closing: bool,
    now: Instant,
}

fn id(name: &str) -> TournamentId {
    name.parse().unwrap()
}

fn running(name: &str, left: Duration) -> Tournament {
    Tournament {
        id: id(name),
        name: "Atomic Arena".to_owned(),
        variant: "atomic".to_owned(),
        clock: ChallengeClock { initial_s: 60, increment_s: 0 },
        rated: true,
        admits_bots: true,
        berserkable: true,
        teams: Vec::new(),
        stage: TournamentStage::Running(left),
    }
}

fn game_of(name: &str, game: &str) -> GameStart {
    GameStart {
        id: game.parse().unwrap(),
        color: None,
        variant: "atomic".to_owned(),
        opponent: "soot".to_owned(),
        opponent_rating: Some(1800),
        speed: None,
        tournament: Some(id(name)),
        has_moved: Some(false),
        is_bot_playable: Some(true),
    }
}

impl Case {
    fn new(options: TournamentOptions) -> Self {
        Self {
            tournaments: Tournaments::new(),
            policy: PolicyOptions { tournament: options, ..PolicyOptions::default() },
            has_room: true,
            is_closing: false,
            now: Instant::now(),
        }
    }

    /// In tournaments of these names.
    fn of(names: &[&str]) -> Self {
        let ids = names.iter().map(|name| id(name)).collect();
        Self::new(TournamentOptions { ids, ..TournamentOptions::default() })
    }

    /// In a running tournament `A`, which we have joined.
    fn joined() -> Self {
        let mut case = Self::of(&["A"]);
        assert_eq!(case.step(), Some(Step::Look(id("A"))));
        case.look(running("A", HOUR));
        assert_eq!(case.step(), Some(Step::Join(id("A"), None)));
        assert!(case.holds_slot(), "we may be paired before the answer is there");
        case.join_ends("A", Joined::Yes);
        case
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
    }

    fn step(&mut self) -> Option<Step> {
        let Self { policy, has_room, is_closing, now, .. } = self;
        let situation =
            Situation { has_room: *has_room, is_closing: *is_closing, policy, now: *now };
        self.tournaments.step(&situation)
    }

    fn look(&mut self, tournament: Tournament) -> Option<&'static str> {
        self.tournaments.on_look(tournament, &self.policy, self.now)
    }

    fn join_ends(&mut self, name: &str, joined: Joined) {
        self.tournaments.on_joined(&id(name), joined, self.now);
    }

    /// A game begins; whether to berserk.
    fn game(&mut self, start: &GameStart) -> bool {
        self.tournaments.on_game_start(start, &self.policy.tournament, Some(2000))
    }

    fn game_ends(&mut self, game: &str) {
        self.tournaments.on_game_end(&game.parse().unwrap(), self.now);
    }

    fn holds_slot(&self) -> bool {
        self.tournaments.holds_slot(self.now)
    }
}

#[test]
fn without_tournaments_nothing_is_done() {
    let mut case = Case::of(&[]);
    assert_eq!(case.step(), None);
    assert!(!case.holds_slot() && !case.tournaments.lacks_slot());
}

#[test]
fn a_running_tournament_is_joined_and_asked_again_before_the_minute_is_over() {
    let mut case = Case::joined();
    assert_eq!(case.step(), None);
    assert!(case.holds_slot());
    case.has_room = false;
    case.pass(ASK_AGAIN);
    assert_eq!(case.step(), Some(Step::Join(id("A"), None)), "it has its slot");
    case.join_ends("A", Joined::Yes);
    assert_eq!(case.step(), None);
}

#[test]
fn a_game_takes_the_slot_and_its_end_asks_for_the_next() {
    let mut case = Case::joined();
    case.game(&game_of("A", "g1"));
    assert!(!case.holds_slot(), "the game has it");
    case.pass(READY_FOR);
    assert_eq!(case.step(), None, "nobody plays two games at once");
    case.game_ends("g1");
    assert!(case.holds_slot(), "the server may still pair us");
    assert_eq!(case.step(), Some(Step::Join(id("A"), None)));
    case.join_ends("A", Joined::Yes);
    case.game(&game_of("A", "g2"));
    case.pass(2 * READY_FOR);
    case.game_ends("g2");
    assert!(!case.holds_slot());
    assert_eq!(case.step(), Some(Step::Join(id("A"), None)));
}

#[test]
fn without_a_slot_we_wait_for_one() {
    let mut case = Case::of(&["A"]);
    case.step();
    case.look(running("A", HOUR));
    case.has_room = false;
    assert_eq!(case.step(), None);
    assert!(case.tournaments.lacks_slot() && !case.holds_slot());
    case.has_room = true;
    assert_eq!(case.step(), Some(Step::Join(id("A"), None)));
    assert!(!case.tournaments.lacks_slot());
}

#[test]
fn a_tournament_that_is_announced_is_joined_when_it_begins() {
    let mut case = Case::of(&["A"]);
    case.step();
    let announced =
        |wait| Tournament { stage: TournamentStage::Announced(wait), ..running("A", HOUR) };
    case.look(announced(Duration::from_mins(7)));
    assert_eq!(case.step(), None);
    let interval = case.policy.tournament.look_interval;
    case.pass(interval);
    assert_eq!(case.step(), Some(Step::Look(id("A"))), "it may begin earlier, or later");
    case.look(announced(Duration::from_mins(2)));
    case.pass(109 * SECOND);
    assert_eq!(case.step(), None);
    case.pass(SECOND);
    assert_eq!(case.step(), Some(Step::Join(id("A"), None)));
    case.join_ends("A", Joined::Yes);
    case.pass(AHEAD);
    assert_eq!(case.step(), Some(Step::Look(id("A"))), "now it tells how long it takes");
}

#[test]
fn what_is_far_away_is_looked_at_seldom() {
    let mut case = Case::of(&["A"]);
    case.step();
    case.look(Tournament { stage: TournamentStage::Announced(48 * HOUR), ..running("A", HOUR) });
    case.pass(24 * HOUR);
    assert_eq!(case.step(), Some(Step::Look(id("A"))));
    case.look(Tournament { stage: TournamentStage::Announced(24 * HOUR), ..running("A", HOUR) });
    case.pass(11 * HOUR);
    assert_eq!(case.step(), None);
    case.pass(HOUR);
    assert_eq!(case.step(), Some(Step::Look(id("A"))));
}

#[test]
fn the_end_is_noticed_and_nothing_is_asked_after_it() {
    let mut case = Case::of(&["A"]);
    case.step();
    case.look(running("A", 30 * SECOND));
    assert_eq!(case.step(), Some(Step::Join(id("A"), None)));
    case.join_ends("A", Joined::Yes);
    case.game(&game_of("A", "g1"));
    case.pass(30 * SECOND);
    assert_eq!(case.step(), None);
    case.pass(SECOND);
    assert_eq!(case.step(), Some(Step::Look(id("A"))));
    let over = Tournament { stage: TournamentStage::Over, ..running("A", HOUR) };
    assert_eq!(case.look(over), Some("it is over"));
    case.game_ends("g1");
    assert!(!case.holds_slot());
    case.pass(10 * HOUR);
    assert_eq!(case.step(), None);
}

#[test]
fn what_is_not_wanted_is_not_joined() {
    let changes: [fn(&mut Tournament, &mut PolicyOptions); 5] = [
        |tournament, _| "standard".clone_into(&mut tournament.variant),
        |tournament, _| tournament.admits_bots = false,
        |tournament, _| tournament.clock = ChallengeClock { initial_s: 15, increment_s: 0 },
        |_, policy| (policy.humans.rated, policy.bots.rated) = (false, false),
        |_, policy| {
            policy.humans.initial_s = 61..=600;
            policy.bots.initial_s = 0..=59;
        },
    ];
    for (n, change) in changes.into_iter().enumerate() {
        let mut case = Case::of(&["A"]);
        case.step();
        let mut tournament = running("A", HOUR);
        change(&mut tournament, &mut case.policy);
        assert!(case.look(tournament.clone()).is_some(), "{n}");
        assert_eq!(case.step(), None, "{n}");
        assert!(case.look(tournament).is_none(), "{n}: told once");
    }
    // One kind of opponent is enough.
    let mut case = Case::of(&["A"]);
    case.policy.humans = Criteria { accepted: false, ..Criteria::default() };
    case.step();
    assert_eq!(case.look(running("A", HOUR)), None);
    assert_eq!(case.step(), Some(Step::Join(id("A"), None)));
}

#[test]
fn only_one_tournament_is_played_at_a_time() {
    let mut case = Case::of(&["A", "B"]);
    case.step();
    case.step();
    case.look(running("A", HOUR));
    case.look(running("B", 2 * HOUR));
    assert_eq!(case.step(), Some(Step::Join(id("A"), None)));
    assert_eq!(case.step(), None);
    case.join_ends("A", Joined::Yes);
    case.game(&game_of("A", "g1"));
    assert_eq!(case.step(), None);
    case.look(Tournament { stage: TournamentStage::Over, ..running("A", HOUR) });
    assert_eq!(case.step(), None, "a game of it still runs");
    case.game_ends("g1");
    assert_eq!(case.step(), Some(Step::Join(id("B"), None)));
}

#[test]
fn the_tournaments_of_teams_are_found_and_joined_for_them() {
    let teams = vec!["crew".to_owned()];
    let mut case = Case::new(TournamentOptions { teams, ..TournamentOptions::default() });
    assert_eq!(case.step(), Some(Step::List("crew".to_owned())));
    assert_eq!(case.step(), None);
    case.tournaments.on_list("crew", vec![id("A")], case.now);
    assert_eq!(case.step(), Some(Step::Look(id("A"))));
    case.look(running("A", HOUR));
    assert_eq!(case.step(), Some(Step::Join(id("A"), Some("crew".to_owned()))));
    case.join_ends("A", Joined::Yes);
    case.pass(case.policy.tournament.look_interval);
    assert_eq!(case.step(), Some(Step::List("crew".to_owned())));
    case.tournaments.on_list("crew", vec![id("A")], case.now);
    case.policy.tournament.teams.clear();
    assert_eq!(case.step(), Some(Step::Withdraw(id("A"))), "as told");
}

#[test]
fn we_leave_when_told_and_at_the_end() {
    let mut case = Case::joined();
    case.policy.tournament.ids.clear();
    assert_eq!(case.step(), Some(Step::Withdraw(id("A"))));
    assert!(!case.holds_slot());
    assert_eq!(case.step(), None);
    let mut case = Case::joined();
    case.game(&game_of("A", "g1"));
    case.is_closing = true;
    assert_eq!(case.step(), Some(Step::Withdraw(id("A"))), "the game goes on");
    case.game_ends("g1");
    assert_eq!(case.step(), None);
    // While we ask nobody knows whether there is something to leave.
    let mut case = Case::joined();
    case.pass(ASK_AGAIN);
    case.step();
    case.is_closing = true;
    assert_eq!(case.step(), None);
    case.join_ends("A", Joined::Yes);
    assert_eq!(case.step(), Some(Step::Withdraw(id("A"))));
}

#[test]
fn what_fails_is_tried_again_and_what_is_refused_is_not() {
    let mut case = Case::of(&["A"]);
    case.step();
    case.tournaments.on_no_look(&id("A"), Some(Duration::ZERO), case.now);
    case.pass(LOOK_WAIT);
    assert_eq!(case.step(), Some(Step::Look(id("A"))));
    case.tournaments.on_no_look(&id("A"), Some(3 * LOOK_WAIT), case.now);
    case.pass(2 * LOOK_WAIT);
    assert_eq!(case.step(), None, "too many requests");
    case.pass(LOOK_WAIT);
    assert_eq!(case.step(), Some(Step::Look(id("A"))));
    case.look(running("A", HOUR));
    case.step();
    case.join_ends("A", Joined::Later(20 * SECOND));
    assert!(!case.holds_slot());
    assert_eq!(case.step(), None);
    case.pass(20 * SECOND);
    case.step();
    case.join_ends("A", Joined::Perhaps);
    assert!(case.holds_slot(), "we may be paired");
    case.pass(2 * RETRY_WAIT);
    assert_eq!(case.step(), Some(Step::Join(id("A"), None)));
    // A pause after leaving, perhaps: asked again later, but not for ever.
    for n in 1..MOST_REFUSALS_TO_JOIN {
        case.join_ends("A", Joined::Refused);
        assert_eq!(case.step(), None);
        case.pass(REFUSED_WAIT * 2_u32.pow(n - 1));
        let asks = std::iter::from_fn(|| case.step()).any(|step| step == Step::Join(id("A"), None));
        assert!(asks, "{n}");
        case.look(running("A", HOUR));
    }
    case.join_ends("A", Joined::Refused);
    case.pass(HOUR / 2);
    assert!(!case.holds_slot());
    assert_eq!(case.step(), None);
    let mut case = Case::of(&["A", "B"]);
    case.step();
    case.tournaments.on_no_look(&id("A"), None, case.now);
    assert_eq!(case.step(), Some(Step::Look(id("B"))));
    case.look(running("B", 9 * HOUR));
    case.step();
    for _ in 1..MOST_REFUSALS_TO_JOIN {
        case.join_ends("B", Joined::Forbidden);
        case.pass(FORBIDDEN_WAIT);
        let asks = std::iter::from_fn(|| case.step()).any(|step| step == Step::Join(id("B"), None));
        assert!(asks, "it may be for a while only");
    }
    case.join_ends("B", Joined::Forbidden);
    case.pass(HOUR);
    assert_eq!(case.step(), None, "the token does not allow it");
}

#[test]
fn failures_grow_rare_and_use_nothing_up() {
    // 2026-11-30: an outage of two minutes at the beginning used up the joins of ten.
    let mut case = Case::of(&["A"]);
    case.step();
    case.look(running("A", 2 * HOUR));
    for n in 0..40 {
        assert_eq!(case.step(), Some(Step::Join(id("A"), None)), "{n}");
        case.tournaments.on_join_unserved();
        case.join_ends("A", Joined::Later(Duration::ZERO));
        let wait = (RETRY_WAIT * 2_u32.pow(n.min(9))).min(LONGEST_RETRY_WAIT);
        case.pass(wait / 2);
        assert_eq!(case.step(), None, "{n}");
        case.pass(wait / 2);
        case.look(running("A", 2 * HOUR));
    }
    assert_eq!(case.step(), Some(Step::Join(id("A"), None)));
    case.join_ends("A", Joined::Yes);
    case.game(&game_of("A", "g1"));
    case.game_ends("g1");
    assert_eq!(case.step(), Some(Step::Join(id("A"), None)));
    case.join_ends("A", Joined::Later(Duration::ZERO));
    case.pass(RETRY_WAIT);
    assert_eq!(case.step(), Some(Step::Join(id("A"), None)), "a new story");
}

#[test]
fn a_battle_of_teams_is_joined_for_one_of_ours() {
    let battle = |teams: &[&str]| {
        let teams = teams.iter().map(|&team| team.to_owned()).collect();
        Tournament { teams, ..running("A", HOUR) }
    };
    let of = |teams: &[&str]| {
        let mut case = Case::of(&["A"]);
        case.policy.tournament.teams = teams.iter().map(|&team| team.to_owned()).collect();
        while let Some(Step::List(_)) = case.step() {}
        case
    };
    let join = Some(Step::Join(id("A"), Some("crew".to_owned())));
    // It is told by the tournament, or by the list of the team.
    let mut case = of(&["rest", "crew"]);
    case.look(battle(&["other", "crew"]));
    assert_eq!(case.step(), join);
    let mut case = of(&["crew"]);
    case.tournaments.on_list("crew", vec![id("A")], case.now);
    case.look(running("A", HOUR));
    assert_eq!(case.step(), join);
    let mut case = of(&["rest"]);
    assert!(case.look(battle(&["other", "crew"])).is_some());
    assert_eq!(case.step(), None, "nobody to fight for");
}

#[test]
fn what_is_over_is_forgotten() {
    let teams = vec!["crew".to_owned()];
    let mut case = Case::new(TournamentOptions { teams, ..TournamentOptions::default() });
    case.step();
    case.tournaments.on_list("crew", vec![id("A"), id("B")], case.now);
    while case.step().is_some() {}
    case.look(running("A", HOUR));
    case.look(Tournament { variant: "standard".to_owned(), ..running("B", HOUR) });
    case.step();
    for _ in 0..MOST_REFUSALS_TO_JOIN {
        case.join_ends("A", Joined::Refused);
    }
    case.step();
    assert_eq!(case.tournaments.entries.len(), 2, "not to be tried again");
    case.look(Tournament { stage: TournamentStage::Over, ..running("B", HOUR) });
    case.pass(HOUR);
    case.step();
    assert!(case.tournaments.entries.is_empty());
}

#[test]
fn a_list_of_which_there_are_too_many_waits() {
    let teams = vec!["crew".to_owned()];
    let mut case = Case::new(TournamentOptions { teams, ..TournamentOptions::default() });
    assert_eq!(case.step(), Some(Step::List("crew".to_owned())));
    case.tournaments.on_no_list("crew", HOUR, case.now);
    case.pass(HOUR / 2);
    assert_eq!(case.step(), None);
    case.pass(HOUR / 2);
    assert_eq!(case.step(), Some(Step::List("crew".to_owned())));
}

#[test]
fn games_are_asked_for_no_more_often_than_the_server_allows() {
    let mut case = Case::joined();
    for n in 1..MOST_JOINS {
        let game = format!("g{n}");
        case.game(&game_of("A", &game));
        case.game_ends(&game);
        assert_eq!(case.step(), Some(Step::Join(id("A"), None)), "{n}");
        case.join_ends("A", Joined::Yes);
    }
    case.game(&game_of("A", "last"));
    case.game_ends("last");
    assert_eq!(case.step(), None);
    case.pass(JOINS_WINDOW);
    assert_eq!(case.step(), Some(Step::Join(id("A"), None)));
}

#[test]
fn half_of_the_time_is_given_by_rule() {
    let wants = |berserk, change: fn(&mut GameStart)| {
        let mut case = Case::joined();
        case.policy.tournament.berserk = berserk;
        let mut start = game_of("A", "g1");
        change(&mut start);
        case.game(&start)
    };
    assert!(!wants(Berserk::Never, |_| {}));
    assert!(wants(Berserk::Always, |start| start.opponent_rating = None));
    assert!(wants(Berserk::Weaker, |_| {}), "just 200 weaker");
    assert!(!wants(Berserk::Weaker, |start| start.opponent_rating = Some(1801)));
    assert!(!wants(Berserk::Weaker, |start| start.opponent_rating = None));
    assert!(!wants(Berserk::Always, |start| start.has_moved = Some(true)));
    assert!(!wants(Berserk::Always, |start| start.tournament = None));
    assert!(!wants(Berserk::Always, |start| start.tournament = Some(id("other"))));
    let mut case = Case::joined();
    case.policy.tournament.berserk = Berserk::Always;
    case.look(Tournament { berserkable: false, ..running("A", HOUR) });
    assert!(!case.game(&game_of("A", "g1")));
}

#[test]
fn a_server_that_refuses_to_berserk_is_not_asked_for_ever() {
    let mut case = Case::joined();
    case.policy.tournament.berserk = Berserk::Always;
    for _ in 1..MOST_REFUSALS {
        case.tournaments.on_berserk(false, false);
    }
    assert!(case.game(&game_of("A", "g1")));
    case.tournaments.on_berserk(true, false);
    case.tournaments.on_berserk(false, true);
    assert!(!case.game(&game_of("A", "g2")), "the token does not allow it");
}
