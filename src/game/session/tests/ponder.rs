//! The opponent's turn: what is pondered on, and every way in which that ends.

use super::*;

const LINE: &str = "e2e4 e7e5 g1f3";

/// A table at which our search has found 2. Nf3 and expects this reply; the move is not shown yet.
fn foreseeing(reply: &str) -> Table {
    let mut table = Table::white();
    table.full("e2e4 e7e5");
    found_expecting(&mut table, "g1f3", reply);
    table
}

/// The same once the server has shown the move.
fn pondering() -> Table {
    let mut table = foreseeing("b8c6");
    assert_eq!(table.moves(LINE), ["ponder at 4"]);
    table
}

fn found_expecting(table: &mut Table, uci: &str, reply: &str) -> Vec<String> {
    let position = table.session.game.as_ref().unwrap().history.position();
    let best = position.parse_uci(uci).unwrap();
    let ponder = Some(position.after(best).parse_uci(reply).unwrap());
    let thought = Thought { depth: 1, ..Thought::default() };
    table.input(Input::Found(Found { best: Some(best), ponder, thought }))
}

#[test]
fn the_expected_reply_makes_the_search_ours() {
    let mut table = pondering();
    let snapshot = table.session.snapshot();
    assert_eq!(snapshot.ponder.unwrap().to_string(), "b8c6");
    assert_eq!(snapshot.phase, Phase::TheirTurn);
    table.now += ms(7_000);
    let arrived = table.now;
    let event = Event::State(state(&format!("{LINE} b8c6")));
    // The line was read a little before it is handled.
    let input = Input::Server(Arrived { at: arrived, lag: Lag::default(), event });
    let actions = table.session.handle(input, arrived + ms(3));
    assert!(matches!(actions[..], [Action::PonderHit { at }] if at == arrived), "{actions:?}");
    assert_eq!(table.session.snapshot().phase, Phase::OurTurn);
    assert_eq!(table.moves(&format!("{LINE} b8c6")), NOTHING, "once");
    assert_eq!(found_expecting(&mut table, "f3e5", "c6e5"), ["play f3e5 at 4"]);
    let snapshot = table.session.snapshot();
    assert_eq!((snapshot.ponder_count.hits, snapshot.ponder_count.misses), (1, 0));
}

#[test]
fn another_reply_is_searched_at_once() {
    let mut table = pondering();
    assert_eq!(table.moves(&format!("{LINE} d7d6")), ["stop", "search at 4"]);
    assert_eq!(table.found("b1c3", 0), ["play b1c3 at 4"]);
    let snapshot = table.session.snapshot();
    assert_eq!((snapshot.ponder_count.hits, snapshot.ponder_count.misses), (0, 1));
    assert_eq!(table.moves(&format!("{LINE} d7d6 b1c3")), NOTHING, "no reply was foreseen");
}

#[test]
fn a_reply_that_comes_with_our_move_was_not_pondered_on() {
    let mut table = foreseeing("b8c6");
    assert_eq!(table.moves(&format!("{LINE} b8c6")), ["search at 4"]);
}

#[test]
fn the_clock_is_that_of_the_line_with_our_move() {
    let mut table = foreseeing("b8c6");
    let limits = table.limits(Event::State(state(LINE)));
    assert!(limits.ponder && limits.search_moves.is_empty());
    assert_eq!(limits.clock.unwrap().remaining, ms(60_000));
    assert_eq!(limits.started, Some(table.now));
}

#[test]
fn repeated_lines_change_nothing() {
    let mut table = pondering();
    assert_eq!(table.moves(LINE), NOTHING);
    assert_eq!(table.full(LINE), NOTHING);
    assert_eq!(table.full(&format!("{LINE} b8c6")), ["hit"]);
}

#[test]
fn a_search_for_more_time_than_is_left_begins_anew() {
    let mut table = pondering();
    let mut late = state(&format!("{LINE} b8c6"));
    late.remaining[0] = ms(3_000);
    assert_eq!(table.state(late), ["stop", "search at 4"]);
}

#[test]
fn a_takeback_stops_it() {
    let mut table = pondering();
    assert_eq!(table.moves("e2e4 e7e5"), ["stop", "search at 2"], "one move");
    let mut table = pondering();
    assert_eq!(table.moves("e2e4"), ["stop"], "two moves");
    assert_eq!(table.moves(LINE), NOTHING, "what was foreseen is forgotten");
    let mut table = pondering();
    table.moves(&format!("{LINE} b8c6"));
    assert_eq!(table.moves(LINE), ["stop"], "after the hit");
}

#[test]
fn a_list_that_contradicts_stops_it() {
    let mut table = pondering();
    assert_eq!(table.moves("d2d4 d7d5 g1f3 b8c6"), ["stop", "search at 4"]);
    let mut table = pondering();
    assert_eq!(table.moves(&format!("{LINE} zzzz")), ["trouble", "stop", "Reopen"]);
    let mut table = pondering();
    table.full.our_color = Color::Black;
    assert_eq!(table.full(LINE), ["stop", "search at 3"]);
}

#[test]
fn every_end_stops_it() {
    let mut table = pondering();
    let end = over(LINE, EndReason::Resign, Some(Color::White));
    assert_eq!(table.state(end), ["stop", "finish: won by resignation"]);
    let mut table = pondering();
    assert_eq!(table.input(Input::Quit), ["stop", "Resign"]);
    assert_eq!(table.moves(&format!("{LINE} b8c6")), NOTHING);
    let mut table = pondering();
    let lost = table.event(Event::Lost(LostReason::NotFound));
    assert_eq!(lost[0], "stop");
}

#[test]
fn a_draw_that_we_accept_stops_it() {
    let mut table = pondering();
    table.session.options.humans.draw.when.from_move = 1;
    let offer = GameState { draw_offer: [false, true], ..state(LINE) };
    assert_eq!(table.state(offer), ["AcceptDraw", "stop"]);
    assert_eq!(table.moves(&format!("{LINE} b8c6")), ["search at 4"], "if the game goes on");
}

#[test]
fn an_offer_that_we_do_not_accept_disturbs_nothing() {
    let mut table = pondering();
    let offer = GameState { draw_offer: [false, true], ..state(LINE) };
    assert_eq!(table.state(offer), ["DeclineDraw"], "too early in the game");
    assert_eq!(table.moves(&format!("{LINE} b8c6")), ["hit"]);
}

#[test]
fn viewers_see_it_only_once_it_counts() {
    let mut table = pondering();
    let ours = table.session.snapshot().thought;
    let thought = Thought { depth: 17, ..Thought::default() };
    assert_eq!(table.input(Input::Thought(thought)), NOTHING);
    assert_eq!(table.session.snapshot().thought, ours);
    table.moves(&format!("{LINE} b8c6"));
    assert_eq!(table.session.snapshot().thought.unwrap().depth, 17);
}

#[test]
fn nobody_ponders_after_a_first_move() {
    let mut table = Table::white();
    table.full("");
    found_expecting(&mut table, "e2e4", "e7e5");
    assert_eq!(table.moves("e2e4"), NOTHING);
    let mut table = Table::black();
    table.full("e2e4");
    found_expecting(&mut table, "e7e5", "g1f3");
    assert_eq!(table.moves("e2e4 e7e5"), NOTHING);
    table.moves(LINE);
    found_expecting(&mut table, "d7d6", "b1c3");
    assert_eq!(table.moves(&format!("{LINE} d7d6")), ["ponder at 5"]);
}

#[test]
fn nobody_ponders_without_a_clock_or_against_the_settings() {
    let mut table = foreseeing("b8c6");
    table.session.options.ponder = false;
    assert_eq!(table.moves(LINE), NOTHING);
    let mut table = foreseeing("b8c6");
    table.full.time_control = TimeControl::Unlimited;
    assert_eq!(table.full(LINE), NOTHING);
}

#[test]
fn nobody_ponders_where_there_is_nothing_to_find() {
    // 2... Qh4 would explode our king next; a reply that ends the game leaves nothing to search.
    let mut table = Table::white();
    table.full("g1f3 f7f6");
    found_expecting(&mut table, "f3d4", "a7a6");
    assert_eq!(table.moves("g1f3 f7f6 f3d4"), ["ponder at 4"], "as a check of this test");
    let mut table = Table::white();
    table.full.initial_fen = Some("7k/8/8/8/8/8/r6P/7K w - - 0 40".to_owned());
    table.full("h1g1 h8g8");
    found_expecting(&mut table, "g1h1", "a2h2");
    assert_eq!(table.moves("h1g1 h8g8 g1h1"), NOTHING, "the reply ends the game");
}

#[test]
fn a_move_that_the_search_did_not_find_foresees_nothing() {
    let mut table = Table::white();
    table.full("e2e4 e7e5");
    let position = table.session.game.as_ref().unwrap().history.position();
    let ponder = position.after(position.parse_uci("g1f3").unwrap()).parse_uci("b8c6").ok();
    let actions = table.input(Input::Found(Found { best: None, ponder, ..Found::default() }));
    assert_eq!(actions[0], "trouble");
    let played = actions[1].split(' ').nth(1).unwrap();
    assert_eq!(table.moves(&format!("e2e4 e7e5 {played}")), NOTHING);
}
