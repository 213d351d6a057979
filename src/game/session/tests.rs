//! What the server and the search say, line by line, and what the session answers.

mod chat;
mod claims;
mod offers;
mod pace;
mod ponder;
mod random;

use std::time::Duration;

use super::{
    offers::CLAIM_PAUSE,
    turn::{DISPUTE_WAIT, DOUBT_WAIT},
    *,
};
use crate::{
    game::{DrawOptions, GameResult, LostReason, Manners, Occasion, ResignOptions},
    search::Limits,
};

/// A session with a clock that tests turn by hand.
struct Table {
    session: Session,
    now: Instant,
    lag: Lag,
    full: GameFull,
}

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn state(moves: &str) -> GameState {
    GameState {
        moves: moves.split_whitespace().map(str::to_owned).collect(),
        remaining: [ms(60_000), ms(50_000)],
        increment: [ms(1000), ms(2000)],
        status: Status::Running,
        winner: None,
        draw_offer: [false; 2],
        takeback_offer: [false; 2],
        expiration: None,
    }
}

fn over(moves: &str, reason: EndReason, winner: Option<Color>) -> GameState {
    GameState { status: Status::Over(reason), winner, ..state(moves) }
}

impl Table {
    fn new(our_color: Color, options: Options) -> Self {
        let full = GameFull {
            our_color,
            players: [Player::default(), Player::default()],
            initial_fen: None,
            time_control: TimeControl::Clock { initial: ms(60_000), increment: ms(1000) },
            rated: false,
            tournament: None,
            is_abortable: true,
            draws_are_claimed: false,
            state: state(""),
        };
        let session = Session::new("abcd1234".parse().unwrap(), options);
        Self { session, now: Instant::now(), lag: Lag::default(), full }
    }

    fn white() -> Self {
        Self::new(Color::White, Options::default())
    }

    fn black() -> Self {
        Self::new(Color::Black, Options::default())
    }

    fn input(&mut self, input: Input) -> Vec<String> {
        let actions = self.session.handle(input, self.now);
        actions.iter().map(brief).collect()
    }

    fn event(&mut self, event: Event) -> Vec<String> {
        self.input(Input::Server(Arrived { at: self.now, lag: self.lag, event }))
    }

    fn state(&mut self, state: GameState) -> Vec<String> {
        self.event(Event::State(state))
    }

    fn moves(&mut self, moves: &str) -> Vec<String> {
        self.state(state(moves))
    }

    fn full(&mut self, moves: &str) -> Vec<String> {
        let full = GameFull { state: state(moves), ..self.full.clone() };
        self.event(Event::Full(Box::new(full)))
    }

    fn found(&mut self, uci: &str, centipawns: i32) -> Vec<String> {
        let position = self.session.game.as_ref().unwrap().history.position();
        let best = Some(position.parse_uci(uci).unwrap());
        let evaluation = Evaluation { centipawns, mate_in: None };
        let thought = Thought { depth: 1, evaluation, ..Thought::default() };
        self.input(Input::Found(Found { best, ponder: None, thought }))
    }

    fn wait(&mut self, wait: Duration) -> Vec<String> {
        self.now += wait;
        self.input(Input::Tick)
    }

    /// The limits of the search that this line starts.
    fn limits(&mut self, event: Event) -> Limits {
        let arrived = Arrived { at: self.now, lag: self.lag, event };
        let actions = self.session.handle(Input::Server(arrived), self.now);
        actions
            .into_iter()
            .find_map(|action| match action {
                Action::Search(request) => Some(request.limits),
                _ => None,
            })
            .expect("a search")
    }
}

/// An action in few words.
fn brief(action: &Action) -> String {
    match action {
        Action::Send(Command::Play { ply, mv, offer_draw }) => {
            format!("play {mv} at {ply}{}", if *offer_draw { " with draw" } else { "" })
        }
        Action::Send(command) => format!("{command:?}"),
        Action::Search(request) => {
            let only = request.limits.search_moves.len();
            let only = if only == 0 { String::new() } else { format!(" among {only}") };
            let kind = if request.limits.ponder { "ponder" } else { "search" };
            format!("{kind} at {}{only}", request.history.moves().len())
        }
        Action::PonderHit { .. } => "hit".to_owned(),
        Action::StopSearch => "stop".to_owned(),
        Action::Alert(trouble) => if trouble.is_fatal() { "fatal" } else { "trouble" }.to_owned(),
        Action::Finish(ending) => format!("finish: {} by {}", ending.result, ending.reason),
    }
}

const NOTHING: [&str; 0] = [];

#[test]
fn a_game_is_played_move_by_move() {
    let mut table = Table::white();
    assert_eq!(table.full(""), ["search at 0"]);
    assert_eq!(table.found("e2e4", 20), ["play e2e4 at 0"]);
    assert_eq!(table.moves("e2e4"), NOTHING);
    assert_eq!(table.moves("e2e4 e7e5"), ["search at 2"]);
    assert_eq!(table.found("g1f3", 20), ["play g1f3 at 2"]);
    assert_eq!(table.moves("e2e4 e7e5 g1f3"), NOTHING);
    let end = over("e2e4 e7e5 g1f3", EndReason::Resign, Some(Color::White));
    assert_eq!(table.state(end), ["finish: won by resignation"]);
    assert_eq!(table.moves("e2e4 e7e5 g1f3 b8c6"), NOTHING, "nothing after the end");
}

#[test]
fn black_waits_for_white() {
    let mut table = Table::black();
    assert_eq!(table.full(""), NOTHING);
    assert_eq!(table.moves("g1f3"), ["search at 1"]);
}

#[test]
fn nothing_happens_before_the_whole_game_is_known() {
    let mut table = Table::white();
    assert_eq!(table.moves(""), NOTHING);
    assert_eq!(table.input(Input::Tick), NOTHING);
    assert_eq!(table.session.snapshot().phase, Phase::Connecting);
}

#[test]
fn a_list_may_grow_by_two() {
    let mut table = Table::white();
    table.full("");
    table.found("e2e4", 0);
    assert_eq!(table.moves("e2e4 e7e5"), ["search at 2"]);
}

#[test]
fn the_same_list_starts_no_second_search_and_no_second_move() {
    let mut table = Table::white();
    table.full("");
    assert_eq!(table.moves(""), NOTHING);
    assert_eq!(table.full(""), NOTHING);
    assert_eq!(table.found("e2e4", 0), ["play e2e4 at 0"]);
    assert_eq!(table.moves(""), NOTHING);
    assert_eq!(table.full(""), NOTHING, "sending again is the adapter's part");
    assert_eq!(table.found("e2e4", 0), NOTHING);
}

#[test]
fn a_reconnect_during_the_opponents_turn_changes_nothing() {
    let mut table = Table::white();
    table.full("");
    table.found("e2e4", 0);
    table.moves("e2e4");
    assert_eq!(table.full("e2e4"), NOTHING);
    assert_eq!(table.moves("e2e4 e7e5"), ["search at 2"]);
}

#[test]
fn a_reconnect_that_shows_more_moves_goes_on_from_there() {
    let mut table = Table::white();
    table.full("");
    assert_eq!(table.full("e2e4 e7e5"), ["stop", "search at 2"]);
}

#[test]
fn a_takeback_during_our_search_stops_it() {
    let mut table = Table::black();
    assert_eq!(table.full("e2e4 f7f6 g1f3"), ["search at 3"]);
    assert_eq!(table.moves("e2e4 f7f6"), ["stop"]);
    assert_eq!(table.moves("e2e4 f7f6 b1c3"), ["search at 3"]);
}

#[test]
fn the_same_move_after_a_takeback_is_answered_again() {
    let mut table = Table::black();
    table.full("e2e4 f7f6 g1f3");
    assert_eq!(table.found("e7e6", 0), ["play e7e6 at 3"]);
    assert_eq!(table.moves("e2e4 f7f6"), NOTHING);
    assert_eq!(table.moves("e2e4 f7f6 g1f3"), ["search at 3"]);
    assert_eq!(table.found("e7e6", 0), ["play e7e6 at 3"]);
}

#[test]
fn a_list_that_contradicts_replaces_what_we_knew() {
    let mut table = Table::white();
    table.full("e2e4 e7e5");
    assert_eq!(table.moves("d2d4 d7d5"), ["stop", "search at 2"]);
    assert_eq!(table.session.snapshot().last_move.unwrap().to_string(), "d7d5");
}

#[test]
fn castling_is_one_move_in_either_notation() {
    let mut table = Table::white();
    let list = "e2e3 a7a6 f1e2 b7b6 g1h3 c7c6";
    table.full(list);
    assert_eq!(table.found("e1h1", 0), ["play e1h1 at 6"]);
    assert_eq!(table.moves(&format!("{list} e1h1")), NOTHING);
    assert_eq!(table.full(&format!("{list} e1g1")), NOTHING);
    assert_eq!(table.moves(&format!("{list} e1g1 d7d6")), ["search at 8"]);
}

#[test]
fn an_illegal_list_asks_for_the_whole_game_once_and_then_resigns() {
    let mut table = Table::white();
    table.full("e2e4 e7e5");
    assert_eq!(table.moves("e2e4 e7e5 e1e5"), ["trouble", "stop", "Reopen"]);
    assert_eq!(table.moves("e2e4 e7e5 e1e5 a7a6"), NOTHING, "the old stream does not count");
    assert_eq!(table.full("e2e4 e7e5 e1e5 a7a6"), ["fatal", "Resign"]);
    assert_eq!(table.moves("e2e4 e7e5 e1e5 a7a6"), NOTHING);
    let end = over("e2e4 e7e5 e1e5 a7a6", EndReason::Resign, Some(Color::Black));
    assert_eq!(table.state(end), ["finish: lost by resignation"]);
}

#[test]
fn a_fresh_list_that_is_legal_heals() {
    let mut table = Table::white();
    table.full("e2e4 e7e5");
    assert_eq!(table.moves("e2e4 e7e5 zzzz"), ["trouble", "stop", "Reopen"]);
    assert_eq!(table.full("e2e4 e7e5"), ["search at 2"]);
    assert_eq!(table.found("g1f3", 0), ["play g1f3 at 2"]);
    table.moves("e2e4 e7e5 g1f3");
    assert_eq!(table.moves("e2e4 e7e5 g1f3 d7d6"), ["search at 4"]);
    assert_eq!(table.moves("e2e4 e7e5 g1f3 e8e2"), ["trouble", "stop", "Reopen"], "a new story");
}

#[test]
fn an_impossible_start_position_is_left() {
    let mut table = Table::white();
    table.full.initial_fen = Some("no board".to_owned());
    assert_eq!(table.full(""), ["fatal", "Abort"]);
    let mut table = Table::white();
    table.full.initial_fen = Some("no board".to_owned());
    assert_eq!(table.full("e2e4 e7e5"), ["fatal", "Resign"]);
}

#[test]
fn another_start_position_is_set_up() {
    let mut table = Table::black();
    let fen = "4k3/8/8/8/8/8/4P3/R3K3 b - - 0 1";
    table.full.initial_fen = Some(fen.to_owned());
    assert_eq!(table.full(""), ["search at 0"]);
    assert_eq!(table.session.snapshot().fen, fen);
}

#[test]
fn the_only_move_is_played_at_once() {
    let mut table = Table::black();
    // The king in the corner has one square.
    table.full.initial_fen = Some("k7/8/1R6/8/8/8/7P/4K3 b - - 0 1".to_owned());
    assert_eq!(table.full(""), ["play a8a7 at 0"]);
}

#[test]
fn an_engine_without_a_move_is_replaced_by_any_legal_move() {
    let mut table = Table::white();
    table.full("");
    let actions = table.input(Input::Found(Found::default()));
    assert_eq!(actions.len(), 2);
    assert_eq!(actions[0], "trouble");
    assert!(actions[1].starts_with("play "), "{actions:?}");
}

#[test]
fn the_clock_counts_from_the_arrival_of_the_line() {
    let mut table = Table::black();
    table.full("e2e4 e7e5");
    let arrived = table.now;
    table.now += ms(700);
    let event = Event::State(state("e2e4 e7e5 g1f3"));
    let actions = table
        .session
        .handle(Input::Server(Arrived { at: arrived, lag: Lag::default(), event }), table.now);
    let [Action::Search(request)] = &actions[..] else { panic!("{actions:?}") };
    let clock = request.limits.clock.as_ref().unwrap();
    assert_eq!((clock.remaining, clock.increment), (ms(50_000), ms(2000)));
    assert_eq!(request.limits.started, Some(arrived));
    assert_eq!(request.limits.move_time, None);
    assert_eq!(request.limits.overhead, Options::default().move_overhead);
}

#[test]
fn first_moves_have_a_short_budget_of_their_own() {
    let mut table = Table::white();
    let full = table.full.clone();
    let limits = table.limits(Event::Full(Box::new(full)));
    assert!(limits.clock.is_none());
    assert_eq!(limits.move_time, Some((ms(60_000) + 40 * ms(1000)) / 60));
    let mut table = Table::black();
    table.full("");
    assert!(table.limits(Event::State(state("e2e4"))).move_time.unwrap() < ms(3000));
}

#[test]
fn games_without_clocks_have_a_fixed_budget() {
    let mut table = Table::white();
    table.full.time_control = TimeControl::Correspondence { days: 3 };
    table.full.state = state("e2e4 e7e5");
    let full = table.full.clone();
    let limits = table.limits(Event::Full(Box::new(full)));
    assert!(limits.clock.is_none());
    assert_eq!(limits.move_time, Some(Options::default().untimed_move_time));
}

#[test]
fn a_node_limit_goes_to_every_search() {
    let mut table = Table::new(Color::White, Options { nodes: Some(7), ..Options::default() });
    let full = table.full.clone();
    assert_eq!(table.limits(Event::Full(Box::new(full))).nodes, Some(7));
}

#[test]
fn fresh_clocks_are_taken_from_a_repeated_list() {
    let mut table = Table::white();
    table.full("e2e4 e7e5");
    let given = GameState { remaining: [ms(75_000), ms(50_000)], ..state("e2e4 e7e5") };
    assert_eq!(table.state(given), NOTHING);
    assert_eq!(table.session.snapshot().clock.unwrap().remaining[0], ms(75_000));
}

#[test]
fn the_overhead_grows_with_a_slow_line() {
    let mut table = Table::white();
    table.full("e2e4 e7e5");
    table.found("g1f3", 0);
    table.moves("e2e4 e7e5 g1f3");
    table.lag.learn(ms(300));
    let limits = table.limits(Event::State(state("e2e4 e7e5 g1f3 d7d6")));
    assert_eq!(limits.overhead, ms(750));
}

#[test]
fn a_refused_move_waits_then_asks_for_the_whole_game_then_tries_another_then_resigns() {
    let mut table = Table::white();
    table.full("e2e4 e7e5");
    table.found("g1f3", 0);
    assert_eq!(table.event(Event::MoveRefused { ply: 2 }), NOTHING);
    assert_eq!(table.session.deadline(), Some(table.now + DISPUTE_WAIT));
    assert_eq!(table.wait(DISPUTE_WAIT), ["trouble", "Reopen"]);
    let actions = table.full("e2e4 e7e5");
    assert!(actions[0].starts_with("search at 2 among"), "{actions:?}");
    assert_eq!(table.found("d2d4", 0), ["play d2d4 at 2"]);
    assert_eq!(table.event(Event::MoveRefused { ply: 2 }), ["fatal", "Resign"]);
}

#[test]
fn the_refused_move_is_not_played_again_even_if_the_engine_wants_to() {
    let mut table = Table::white();
    table.full("e2e4 e7e5");
    table.found("g1f3", 0);
    table.event(Event::MoveRefused { ply: 2 });
    table.wait(DISPUTE_WAIT);
    table.full("e2e4 e7e5");
    let actions = table.found("g1f3", 0);
    assert_eq!(actions[0], "trouble");
    assert!(actions[1].starts_with("play ") && !actions[1].contains("g1f3"), "{actions:?}");
}

#[test]
fn a_refusal_that_the_stream_explains_is_forgotten() {
    let mut table = Table::white();
    table.full("e2e4 e7e5");
    table.found("g1f3", 0);
    table.event(Event::MoveRefused { ply: 2 });
    assert_eq!(table.moves("e2e4 e7e5 g1f3"), NOTHING);
    assert_eq!(table.wait(2 * DISPUTE_WAIT), NOTHING);
    assert_eq!(table.moves("e2e4 e7e5 g1f3 d7d6"), ["search at 4"]);
}

#[test]
fn a_late_refusal_of_an_older_move_does_not_count() {
    let mut table = Table::white();
    table.full("e2e4 e7e5");
    table.found("g1f3", 0);
    table.moves("e2e4 e7e5 g1f3 d7d6");
    table.found("b1c3", 0);
    assert_eq!(table.event(Event::MoveRefused { ply: 2 }), NOTHING);
    assert_eq!(table.session.deadline(), None);
}

#[test]
fn an_end_that_our_rules_see_waits_for_the_server_and_then_plays_on() {
    let mut table = Table::white();
    // The start position is on the board for the third time.
    let shuffle = "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8";
    assert_eq!(table.full(shuffle), NOTHING);
    assert_eq!(table.session.deadline(), Some(table.now + DOUBT_WAIT));
    assert_eq!(table.wait(DOUBT_WAIT), ["trouble", "search at 8"]);
    // Our clock runs while we wait: a server that went on once is not waited for again.
    table.found("g1f3", 0);
    assert_eq!(table.moves(&format!("{shuffle} g1f3 g8f6")), ["search at 10"]);

    let mut table = Table::white();
    table.full(shuffle);
    let end = over(shuffle, EndReason::Draw, None);
    assert_eq!(table.state(end), ["finish: drawn by draw"]);
}

#[test]
fn results_are_ours() {
    let cases = [
        (EndReason::VariantEnd, Some(Color::Black), GameResult::Lost),
        (EndReason::Mate, Some(Color::White), GameResult::Won),
        (EndReason::OutOfTime, None, GameResult::Drawn),
        (EndReason::Timeout, None, GameResult::Drawn),
        (EndReason::Aborted, None, GameResult::Aborted),
        (EndReason::Other("brandNew".into()), None, GameResult::Drawn),
    ];
    for (reason, winner, expected) in cases {
        let mut table = Table::white();
        table.full("");
        let event = Event::State(over("", reason, winner));
        let actions = table.session.handle(
            Input::Server(Arrived { at: table.now, lag: Lag::default(), event }),
            table.now,
        );
        let Some(Action::Finish(ending)) = actions.last() else { panic!("{actions:?}") };
        assert_eq!(ending.result, expected);
        assert_eq!(brief(&actions[0]), "stop");
    }
}

#[test]
fn a_final_state_counts_even_if_its_list_is_beyond_us() {
    let mut table = Table::white();
    table.full("e2e4 e7e5");
    let end = over("e2e4 e7e5 zzzz", EndReason::Mate, Some(Color::White));
    assert_eq!(table.state(end), ["stop", "finish: won by checkmate"]);
}

#[test]
fn a_game_that_is_over_already_is_only_finished() {
    let mut table = Table::black();
    let list = "f2f4 e7e6 g2g4 d8h4";
    table.full.state = over(list, EndReason::Mate, Some(Color::Black));
    let full = Event::Full(Box::new(table.full.clone()));
    assert_eq!(table.event(full), ["finish: won by checkmate"]);
}

#[test]
fn a_lost_game_is_finished_without_result() {
    let mut table = Table::white();
    table.full("");
    let actions = table.event(Event::Lost(LostReason::NotFound));
    assert_eq!(actions[0], "stop");
    assert!(actions[1].starts_with("finish: unknown"), "{actions:?}");
}

#[test]
fn a_game_that_the_opponent_never_begins_is_aborted() {
    let mut table = Table::black();
    let patience = Options::default().abort_patience;
    table.full("");
    assert_eq!(table.wait(patience / 2), NOTHING);
    assert_eq!(table.full(""), NOTHING, "a reconnect starts no new patience");
    assert_eq!(table.wait(patience / 2), ["Abort"]);
    assert_eq!(table.wait(patience), ["Abort"], "if the first one failed");
    assert_eq!(table.moves("e2e4"), ["search at 1"]);
}

#[test]
fn the_second_players_first_move_is_waited_for_as_well() {
    let mut table = Table::white();
    table.full("");
    assert_eq!(table.wait(Options::default().abort_patience), NOTHING, "our own turn");
    table.found("e2e4", 0);
    table.moves("e2e4");
    assert_eq!(table.wait(Options::default().abort_patience), ["Abort"]);
}

#[test]
fn games_without_clocks_are_not_aborted() {
    let mut table = Table::black();
    table.full.time_control = TimeControl::Unlimited;
    table.full("");
    assert_eq!(table.wait(ms(600_000)), NOTHING);
}

#[test]
fn games_of_tournaments_are_not_aborted() {
    let mut table = Table::black();
    table.full.is_abortable = false;
    table.full("");
    assert_eq!(table.session.deadline(), None);
    assert_eq!(table.wait(ms(600_000)), NOTHING);
}

#[test]
fn quitting_aborts_or_resigns() {
    let mut table = Table::white();
    table.full("");
    assert_eq!(table.input(Input::Quit), ["stop", "Abort"]);
    assert_eq!(table.moves("e2e4 e7e5"), ["Resign"], "the opponent moved first");
    let mut table = Table::white();
    table.full("e2e4 e7e5");
    assert_eq!(table.input(Input::Quit), ["stop", "Resign"]);
    assert_eq!(table.moves("e2e4 e7e5 g1f3 d7d6"), NOTHING);
    let mut table = Table::white();
    assert_eq!(table.input(Input::Quit), NOTHING);
    assert_eq!(table.full("e2e4 e7e5").last().unwrap(), "Resign", "as soon as it is known");
}

#[test]
fn a_resignation_that_got_lost_is_sent_again() {
    let mut table = Table::white();
    table.full("e2e4 e7e5");
    table.input(Input::Quit);
    assert_eq!(table.session.deadline(), Some(table.now + LEAVE_PAUSE));
    assert_eq!(table.full("e2e4 e7e5"), NOTHING, "it is on its way");
    assert_eq!(table.wait(LEAVE_PAUSE), ["Resign"]);
    assert_eq!(table.wait(LEAVE_PAUSE / 2), NOTHING);
    assert_eq!(table.full("e2e4 e7e5"), ["Resign"], "the game still runs");
    assert_eq!(table.full("e2e4 e7e5"), NOTHING, "not too often");
    assert_eq!(table.wait(LEAVE_PAUSE), ["Resign"]);
    let end = over("e2e4 e7e5", EndReason::Resign, Some(Color::Black));
    assert_eq!(table.state(end), ["finish: lost by resignation"]);
    assert_eq!(table.session.deadline(), None);
}

#[test]
fn an_abort_that_got_lost_is_sent_again_only_while_it_is_possible() {
    let mut table = Table::white();
    table.full("");
    assert_eq!(table.input(Input::Quit), ["stop", "Abort"]);
    assert_eq!(table.wait(LEAVE_PAUSE), ["Abort"]);
    assert_eq!(table.moves("e2e4 e7e5"), ["Resign"]);
    assert_eq!(table.wait(LEAVE_PAUSE), ["Resign"]);
}

#[test]
fn a_snapshot_shows_the_game() {
    let mut table = Table::white();
    table.full.players[1].name = "Somebody".to_owned();
    table.full("e2e4 e7e5");
    let snapshot = table.session.snapshot();
    assert_eq!(snapshot.opponent().unwrap().name, "Somebody");
    assert_eq!(snapshot.plies, 2);
    assert_eq!(snapshot.phase, Phase::OurTurn);
    assert_eq!(snapshot.running, Some(Color::White));
    assert_eq!(snapshot.clocks_ms(table.now + ms(500)), Some([59_500, 50_000]));
    assert!(snapshot.fen.starts_with("rnbqkbnr/pppp1ppp/"));
}
