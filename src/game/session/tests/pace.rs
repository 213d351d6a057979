//! Moves that are held back.

use super::*;

fn slow(our_color: Color) -> Table {
    Table::new(our_color, Options { fake_think_time: true, ..Options::default() })
}

#[test]
fn a_move_that_is_found_soon_waits_for_its_time() {
    let mut table = slow(Color::White);
    assert_eq!(table.full("e2e4 e7e5"), ["search at 2"]);
    // Of a minute.
    let until = table.now + ms(1500);
    assert_eq!(table.wait(ms(300)), NOTHING);
    assert_eq!(table.found("g1f3", 20), NOTHING);
    assert_eq!(table.session.deadline(), Some(until));
    assert_eq!(table.wait(ms(1199)), NOTHING);
    assert_eq!(table.wait(ms(1)), ["play g1f3 at 2"]);
    assert_eq!(table.moves("e2e4 e7e5 g1f3"), NOTHING);
    // What has been thought is part of it, and later moves take less.
    table.moves("e2e4 e7e5 g1f3 a7a6");
    table.wait(ms(1500));
    assert_eq!(table.found("f3e5", 20), ["play f3e5 at 4"]);
    let mut table = slow(Color::Black);
    let moves = "g1f3 g8f6 f3g1 f6g8 b1c3 b8c6 c3b1 c6b8 a2a3 a7a6 b2b3";
    table.full(moves);
    table.found("b7b6", 20);
    let of_fifty = table.session.deadline().unwrap() - table.now;
    assert_eq!(of_fifty, ms(50_000).mul_f64(0.025 * 0.99));
}

#[test]
fn nothing_is_held_back_where_it_could_cost_the_game() {
    let mut first = slow(Color::White);
    first.full("");
    assert_eq!(first.found("e2e4", 20), ["play e2e4 at 0"]);
    let mut short = slow(Color::White);
    let short_of_time = GameState { remaining: [ms(19_999); 2], ..state("e2e4 e7e5") };
    let full = GameFull { state: short_of_time, ..short.full.clone() };
    short.event(Event::Full(Box::new(full)));
    assert_eq!(short.found("g1f3", 20), ["play g1f3 at 2"]);
    let mut untimed = slow(Color::White);
    untimed.full.time_control = TimeControl::Correspondence { days: 2 };
    untimed.full("e2e4 e7e5");
    assert_eq!(untimed.found("g1f3", 20), ["play g1f3 at 2"]);
    let mut off = Table::white();
    off.full("e2e4 e7e5");
    assert_eq!(off.found("g1f3", 20), ["play g1f3 at 2"]);
    // One instead of a move that was refused has waited enough.
    let mut refused = slow(Color::White);
    refused.full("e2e4 e7e5");
    refused.found("g1f3", 20);
    assert_eq!(refused.wait(ms(1500)), ["play g1f3 at 2"]);
    refused.event(Event::MoveRefused { ply: 2 });
    refused.wait(DISPUTE_WAIT);
    refused.full("e2e4 e7e5");
    assert_eq!(refused.found("b1c3", 20), ["play b1c3 at 2"]);
}

#[test]
fn what_happens_while_a_move_is_held_back_is_answered_at_once() {
    let held = || {
        let mut table = slow(Color::White);
        table.full("e2e4 e7e5");
        assert_eq!(table.found("g1f3", 20), NOTHING);
        table
    };
    let mut draw = held();
    let offer = [false, true];
    let line = GameState { draw_offer: offer, ..state("e2e4 e7e5") };
    assert_eq!(draw.state(line), ["DeclineDraw"]);
    assert_eq!(draw.wait(ms(1500)), ["play g1f3 at 2"]);
    let mut takeback = held();
    let line = GameState { takeback_offer: offer, ..state("e2e4 e7e5") };
    assert_eq!(takeback.state(line), ["AnswerTakeback(false)"]);
    // The position is gone, and so is the move.
    let mut gone = held();
    assert_eq!(gone.moves("e2e4"), NOTHING);
    assert_eq!(gone.wait(ms(5000)), NOTHING);
    let mut over_by_resigning = held();
    let end = over("e2e4 e7e5", EndReason::Resign, Some(Color::White));
    assert_eq!(over_by_resigning.state(end), ["finish: won by resignation"]);
    let mut quitting = held();
    assert_eq!(quitting.input(Input::Quit), ["Resign"]);
    assert_eq!(quitting.wait(ms(1500)), NOTHING);
}
