//! Draws, takebacks, resigning and claims, on either side's turn and amid a search.

use super::*;
use crate::{
    game::{
        TakebackOptions,
        session::offers::{AGREED_WAIT, ANSWER_PAUSE},
    },
    rules::Role,
};

const LINE: &str = "e2e4 e7e5 g1f3";
const OUR_TURN: &str = "e2e4 e7e5 g1f3 d7d6";

/// Draws are considered from the first move on.
fn early_draws() -> Manners {
    let when = Occasion::default();
    Manners { draw: DrawOptions { when, ..DrawOptions::default() }, ..Manners::default() }
}

fn takebacks(most: u32) -> Manners {
    let takeback = TakebackOptions { most, in_rated_games: false };
    Manners { takeback, ..Manners::default() }
}

/// A table whose opponent is a person who is met like this.
fn against_human(humans: Manners) -> Table {
    Table::new(Color::White, Options { humans, ..Options::default() })
}

/// The same after our move `LINE` with this evaluation.
fn on_their_turn(humans: Manners, centipawns: i32) -> Table {
    let mut table = against_human(humans);
    table.full("e2e4 e7e5");
    table.found("g1f3", centipawns);
    table.moves(LINE);
    table
}

/// The same in our search after the reply, `OUR_TURN`.
fn in_our_search(humans: Manners, centipawns: i32) -> Table {
    let mut table = on_their_turn(humans, centipawns);
    assert_eq!(table.moves(OUR_TURN), ["search at 4"]);
    table
}

fn draw_offer(moves: &str) -> GameState {
    GameState { draw_offer: [false, true], ..state(moves) }
}

fn takeback_offer(moves: &str) -> GameState {
    GameState { takeback_offer: [false, true], ..state(moves) }
}

fn thought(centipawns: i32) -> Input {
    let evaluation = Evaluation { centipawns, mate_in: None };
    Input::Thought(Thought { depth: 9, evaluation, ..Thought::default() })
}

#[test]
fn a_draw_is_accepted_when_we_are_not_better() {
    for (centipawns, expected) in [(-30, &["AcceptDraw"][..]), (80, &[][..])] {
        let mut table = on_their_turn(early_draws(), centipawns);
        assert_eq!(table.state(draw_offer(LINE)), expected);
        assert_eq!(table.state(draw_offer(LINE)), NOTHING, "once");
        assert_eq!(table.moves(OUR_TURN), ["search at 4"]);
    }
}

#[test]
fn an_acceptance_that_got_lost_is_renewed_by_the_stream() {
    let mut table = on_their_turn(early_draws(), -30);
    assert_eq!(table.state(draw_offer(LINE)), ["AcceptDraw"]);
    table.now += ANSWER_PAUSE;
    assert_eq!(table.state(draw_offer(LINE)), ["AcceptDraw"]);
}

#[test]
fn an_offer_that_is_never_considered_is_declined_at_once() {
    for (list, mut table) in [
        (LINE, on_their_turn(Manners::default(), -30)),
        (OUR_TURN, in_our_search(Manners::default(), -30)),
    ] {
        assert_eq!(table.state(draw_offer(list)), ["DeclineDraw"], "before the eleventh move");
        assert_eq!(table.state(draw_offer(list)), NOTHING, "once");
        assert_eq!(table.state(state(list)), NOTHING);
        assert_eq!(table.state(draw_offer(list)), ["DeclineDraw"], "another offer");
    }
}

#[test]
fn people_and_bots_are_met_by_their_own_rules() {
    let never = DrawOptions { accept: false, ..DrawOptions::default() };
    let bots = Manners { draw: never, ..Manners::default() };
    for (is_bot, expected) in [(false, "AcceptDraw"), (true, "DeclineDraw")] {
        let options = Options { humans: early_draws(), bots: bots.clone(), ..Options::default() };
        let mut table = Table::new(Color::White, options);
        table.full.players[1].is_bot = is_bot;
        table.full("e2e4 e7e5");
        table.found("g1f3", 0);
        table.moves(LINE);
        assert_eq!(table.state(draw_offer(LINE)), [expected]);
    }
}

#[test]
fn an_offer_on_our_turn_waits_for_a_fresh_evaluation() {
    for (centipawns, expected) in [(-10, "play b1c3 at 4 with draw"), (500, "play b1c3 at 4")] {
        let mut table = on_their_turn(early_draws(), -30);
        assert_eq!(table.state(draw_offer(OUR_TURN)), ["search at 4"]);
        assert_eq!(table.state(draw_offer(OUR_TURN)), NOTHING);
        assert_eq!(table.found("b1c3", centipawns), [expected]);
    }
}

#[test]
fn an_offer_amid_our_search_is_accepted_as_soon_as_the_search_agrees() {
    // The search has been heard of before the offer, or is after it.
    let mut table = in_our_search(early_draws(), -30);
    table.input(thought(-20));
    assert_eq!(table.state(draw_offer(OUR_TURN)), ["AcceptDraw", "stop"]);
    let mut table = in_our_search(early_draws(), -30);
    assert_eq!(table.state(draw_offer(OUR_TURN)), NOTHING);
    let shallow = Evaluation { centipawns: -20, mate_in: None };
    let shallow = Thought { depth: 3, evaluation: shallow, ..Thought::default() };
    assert_eq!(table.input(Input::Thought(shallow)), NOTHING, "it may have seen too little");
    assert_eq!(table.input(thought(400)), NOTHING, "the opponent's last move was a mistake");
    assert_eq!(table.input(thought(-20)), ["AcceptDraw", "stop"]);
    // Nothing is played any more.
    assert_eq!(table.found("b1c3", 0), NOTHING);
    assert_eq!(table.state(over(OUR_TURN, EndReason::Draw, None)), ["finish: drawn by draw"]);
}

#[test]
fn an_acceptance_on_our_turn_that_got_lost_costs_a_moment_only() {
    let mut table = in_our_search(early_draws(), -30);
    table.input(thought(-20));
    assert_eq!(table.state(draw_offer(OUR_TURN)), ["AcceptDraw", "stop"]);
    assert_eq!(table.session.deadline(), Some(table.now + AGREED_WAIT));
    assert_eq!(table.wait(AGREED_WAIT), ["search at 4"]);
    table.now += ANSWER_PAUSE;
    assert_eq!(table.input(thought(-20)), NOTHING, "now the move says it");
    assert_eq!(table.found("b1c3", -20), ["play b1c3 at 4 with draw"]);
}

#[test]
fn with_little_time_an_agreement_is_waited_for_less() {
    let mut table = in_our_search(early_draws(), -30);
    table.input(thought(-20));
    let hurried = GameState { remaining: [ms(2000), ms(60_000)], ..draw_offer(OUR_TURN) };
    assert_eq!(table.state(hurried), ["AcceptDraw", "stop"]);
    assert_eq!(table.session.deadline(), Some(table.now + ms(200)));
}

#[test]
fn an_offer_that_crosses_our_move_is_left_to_the_move() {
    let mut table = in_our_search(early_draws(), -30);
    table.found("b1c3", -30);
    assert_eq!(table.state(draw_offer(OUR_TURN)), NOTHING);
    assert_eq!(table.state(takeback_offer(OUR_TURN)), NOTHING);
}

#[test]
fn the_only_move_accepts_no_draw_on_an_old_evaluation() {
    let mut table =
        Table::new(Color::Black, Options { humans: early_draws(), ..Options::default() });
    table.full.initial_fen = Some("k7/8/1R6/8/8/8/7P/4K3 b - - 0 1".to_owned());
    table.full.state.draw_offer = [true, false];
    let full = Event::Full(Box::new(table.full.clone()));
    assert_eq!(table.event(full), ["play a8a7 at 0"]);
}

#[test]
fn a_search_that_finished_nothing_decides_nothing() {
    let resign = ResignOptions {
        enabled: true,
        at_most_cp: 100,
        after_moves: 1,
        ..ResignOptions::default()
    };
    let mut table = against_human(Manners { resign, ..early_draws() });
    table.full("e2e4 e7e5");
    table.state(draw_offer("e2e4 e7e5"));
    let position = table.session.game.as_ref().unwrap().history.position();
    let best = Some(position.parse_uci("g1f3").unwrap());
    let found = Found { best, ..Found::default() };
    assert_eq!(table.input(Input::Found(found)), ["play g1f3 at 2"]);
}

#[test]
fn an_open_offer_that_a_search_finds_good_is_accepted_with_the_move() {
    let mut table = against_human(early_draws());
    table.full("e2e4 e7e5");
    table.state(draw_offer("e2e4 e7e5"));
    assert_eq!(table.found("g1f3", -50), ["play g1f3 at 2 with draw"]);
}

#[test]
fn a_draw_is_offered_with_a_move_and_not_again_too_soon() {
    let when = Occasion::default();
    let draw = DrawOptions { offer: true, offer_after_moves: 1, when, ..DrawOptions::default() };
    let mut table = against_human(Manners { draw, ..Manners::default() });
    table.full("e2e4 e7e5");
    assert_eq!(table.found("g1f3", 5), ["play g1f3 at 2 with draw"]);
    table.moves(OUR_TURN);
    assert_eq!(table.found("b1c3", 5), ["play b1c3 at 4"]);
}

#[test]
fn a_hopeless_game_is_resigned_if_so_set() {
    let resign = ResignOptions {
        enabled: true,
        at_most_cp: -900,
        after_moves: 1,
        ..ResignOptions::default()
    };
    let mut table = against_human(Manners { resign, ..Manners::default() });
    table.full("e2e4 e7e5");
    assert_eq!(table.found("g1f3", -1000), ["Resign"]);
}

#[test]
fn a_hopeless_game_goes_on_while_the_opponents_flag_may_fall() {
    let resign = ResignOptions { enabled: true, after_moves: 1, ..ResignOptions::default() };
    let played = |remaining, increment| {
        let mut table = against_human(Manners { resign: resign.clone(), ..Manners::default() });
        table.full.state = GameState { remaining, increment, ..state("e2e4 e7e5") };
        table.event(Event::Full(Box::new(table.full.clone())));
        table.found("g1f3", -5000).remove(0)
    };
    let none = [Duration::ZERO; 2];
    assert_eq!(played([ms(60_000), ms(20_000)], none), "play g1f3 at 2");
    assert_eq!(played([ms(60_000), ms(40_000)], none), "Resign");
    assert_eq!(played([ms(10_000), ms(20_000)], none), "Resign");
    assert_eq!(played([ms(60_000), ms(20_000)], [ms(0), ms(1000)]), "Resign");
}

#[test]
fn a_takeback_is_declined_by_default_and_the_search_goes_on() {
    let mut table = in_our_search(Manners::default(), 0);
    assert_eq!(table.state(takeback_offer(OUR_TURN)), ["AnswerTakeback(false)"]);
    assert_eq!(table.state(takeback_offer(OUR_TURN)), NOTHING, "once");
    assert_eq!(table.found("b1c3", 0), ["play b1c3 at 4"]);
}

#[test]
fn a_takeback_amid_our_search_is_agreed_to_and_followed() {
    let mut table = in_our_search(takebacks(1), 0);
    assert_eq!(table.state(takeback_offer(OUR_TURN)), ["AnswerTakeback(true)", "stop"]);
    assert_eq!(table.found("b1c3", 0), NOTHING, "nothing is played meanwhile");
    assert_eq!(table.full(LINE), NOTHING);
    assert_eq!(table.moves("e2e4 e7e5 g1f3 b8c6"), ["search at 4"]);
    // That was the only one.
    let again = takeback_offer("e2e4 e7e5 g1f3 b8c6");
    assert_eq!(table.state(again), ["AnswerTakeback(false)"]);
}

#[test]
fn a_takeback_on_the_opponents_turn_takes_two_moves_back() {
    let mut table = on_their_turn(takebacks(1), 0);
    assert_eq!(table.state(takeback_offer(LINE)), ["AnswerTakeback(true)"]);
    assert_eq!(table.full("e2e4"), NOTHING);
    assert_eq!(table.moves("e2e4 d7d6"), ["search at 2"]);
}

#[test]
fn a_takeback_counts_although_moves_followed_before_we_saw_it() {
    // 2026-11-30: the stream was opened again meanwhile, and a second takeback was agreed to.
    for moves in ["e2e4 e7e5 g1f3 b8c6", "e2e4 e7e5 g1f3 b8c6 b1c3 g8f6"] {
        let mut table = in_our_search(takebacks(1), 0);
        table.state(takeback_offer(OUR_TURN));
        table.full(moves);
        assert_eq!(table.state(takeback_offer(moves)), ["AnswerTakeback(false)"], "{moves}");
    }
}

#[test]
fn a_takeback_that_comes_to_nothing_does_not_count_and_costs_a_moment_only() {
    let mut table = in_our_search(takebacks(1), 0);
    table.state(takeback_offer(OUR_TURN));
    assert_eq!(table.wait(AGREED_WAIT), ["search at 4"]);
    // The opponent withdrew it, and proposes another one later.
    table.moves(OUR_TURN);
    assert_eq!(table.state(takeback_offer(OUR_TURN)), ["AnswerTakeback(true)", "stop"]);
}

#[test]
fn rated_games_take_nothing_back_unless_set() {
    for (in_rated_games, expected) in
        [(false, &["AnswerTakeback(false)"][..]), (true, &["AnswerTakeback(true)"])]
    {
        let takeback = TakebackOptions { most: 1, in_rated_games };
        let mut table = against_human(Manners { takeback, ..Manners::default() });
        table.full.rated = true;
        table.full("e2e4 e7e5");
        table.found("g1f3", 0);
        table.moves(LINE);
        assert_eq!(table.state(takeback_offer(LINE)), expected);
    }
}

#[test]
fn every_end_of_the_game_stops_our_search_at_once() {
    for (reason, winner, result) in [
        (EndReason::Resign, Some(Color::White), "finish: won by resignation"),
        (EndReason::Aborted, None, "finish: aborted by aborted"),
        (EndReason::Draw, None, "finish: drawn by draw"),
    ] {
        let mut table = in_our_search(Manners::default(), 0);
        assert_eq!(table.state(over(OUR_TURN, reason, winner)), ["stop", result]);
    }
}

#[test]
fn victory_is_claimed_when_due_and_only_on_the_opponents_turn() {
    let mut table = Table::white();
    table.full("e2e4 e7e5");
    assert_eq!(table.event(Event::OpponentGone(Some(ms(1000)))), NOTHING);
    assert_eq!(table.wait(ms(1500)), NOTHING, "our turn");
    table.found("g1f3", 0);
    assert_eq!(table.moves("e2e4 e7e5 g1f3"), ["ClaimVictory"]);
    assert_eq!(table.event(Event::OpponentGone(Some(ms(0)))), NOTHING, "not too often");
    assert_eq!(table.session.deadline(), Some(table.now + CLAIM_PAUSE));
    assert_eq!(table.wait(CLAIM_PAUSE), ["ClaimVictory"]);
}

#[test]
fn an_opponent_who_is_back_keeps_the_game() {
    let mut table = Table::white();
    table.full("e2e4 e7e5 g1f3");
    table.event(Event::OpponentGone(Some(ms(1000))));
    table.event(Event::OpponentGone(None));
    assert_eq!(table.wait(ms(5000)), NOTHING);
    table.event(Event::OpponentGone(Some(ms(1000))));
    table.moves("e2e4 e7e5 g1f3 d7d6");
    table.found("b1c3", 0);
    table.moves("e2e4 e7e5 g1f3 d7d6 b1c3");
    assert_eq!(table.wait(ms(5000)), NOTHING, "a move says so too");
}

#[test]
fn with_a_bare_king_a_draw_is_claimed_since_no_win_can_be() {
    let mut table = Table::white();
    table.full.initial_fen = Some("4k3/4p3/8/8/8/8/8/4K3 b - - 0 1".to_owned());
    assert_eq!(table.full(""), NOTHING);
    let game = table.session.game.as_ref().unwrap();
    assert_eq!(game.history.position().of(Color::White, Role::King).len(), 1);
    assert_eq!(table.event(Event::OpponentGone(Some(ms(1000)))), NOTHING);
    assert_eq!(table.wait(ms(1000)), ["ClaimDraw"]);
}
