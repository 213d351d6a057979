//! Draws that a player has to claim (R22).

use super::*;

const REPEATED: &str = "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8";

fn claiming(our_color: Color) -> Table {
    let mut table = Table::new(our_color, Options::default());
    table.full.draws_are_claimed = true;
    table
}

fn learn(table: &mut Table, centipawns: i32) {
    table.session.outlook.learn(0, Some(Evaluation { centipawns, mate_in: None }));
}

#[test]
fn a_repetition_is_claimed_unless_we_are_better() {
    let mut table = claiming(Color::White);
    learn(&mut table, 0);
    assert_eq!(table.full(REPEATED), ["ClaimDraw"]);
    let end = over(REPEATED, EndReason::Draw, None);
    assert_eq!(table.state(end), ["finish: drawn by draw"]);
    let mut table = claiming(Color::White);
    learn(&mut table, 50);
    assert_eq!(table.full(REPEATED), ["search at 8"]);
}

#[test]
fn a_claim_that_the_server_does_not_grant_is_made_once() {
    let mut table = claiming(Color::White);
    learn(&mut table, -10);
    assert_eq!(table.full(REPEATED), ["ClaimDraw"]);
    assert_eq!(table.wait(DOUBT_WAIT), ["trouble", "search at 8"]);
    assert_eq!(table.found("g1f3", 0), ["play g1f3 at 8 with draw"]);
}

#[test]
fn our_own_move_claims_what_it_brings_about() {
    let moves = REPEATED.rsplit_once(' ').unwrap().0;
    for (centipawns, expected) in [(0, "play f6g8 at 7 with draw"), (80, "play f6g8 at 7")] {
        let mut table = claiming(Color::Black);
        table.full(moves);
        assert_eq!(table.found("f6g8", centipawns), [expected]);
    }
}

#[test]
fn fifty_moves_are_claimed_as_well() {
    let mut table = claiming(Color::Black);
    table.full.initial_fen = Some("4k3/p7/8/8/8/8/8/4K2R b - - 99 80".to_owned());
    assert_eq!(table.full(""), ["search at 0"]);
    assert_eq!(table.found("e8d8", -300), ["play e8d8 at 0 with draw"]);
}

#[test]
fn a_dead_position_is_played_on_without_waiting() {
    let mut table = claiming(Color::White);
    table.full.initial_fen = Some("4k3/8/8/8/8/8/8/4K2R w - - 0 80".to_owned());
    assert_eq!(table.full(""), ["search at 0"]);
}

#[test]
fn a_dead_position_is_drawn_by_repetition() {
    let mut table = claiming(Color::White);
    table.full.initial_fen = Some("4k3/8/8/8/8/8/8/4K2R w - - 0 80".to_owned());
    learn(&mut table, 0);
    let circle = "e1e2 e8e7 e2e1 e7e8 ".repeat(2);
    assert_eq!(table.full(circle.trim_end()), ["ClaimDraw"]);
}

#[test]
fn without_an_evaluation_a_search_comes_first() {
    let mut table = claiming(Color::White);
    assert_eq!(table.full(REPEATED), ["search at 8"]);
    // A forced move in between has none: the one before counts.
    let mut table = claiming(Color::White);
    learn(&mut table, 900);
    table.session.outlook.learn(2, None);
    assert_eq!(table.full(REPEATED), ["search at 8"]);
}

#[test]
fn elsewhere_nothing_is_claimed() {
    let mut table = Table::white();
    assert_eq!(table.full(REPEATED), NOTHING);
}

#[test]
fn a_game_from_its_middle_has_its_clocks_running() {
    let mut table = claiming(Color::White);
    table.full.initial_fen = Some("4k3/p7/8/8/8/8/P7/4K2R w K - 3 30".to_owned());
    let full = GameFull { state: state(""), ..table.full.clone() };
    let limits = table.limits(Event::Full(Box::new(full)));
    assert_eq!(limits.clock.unwrap().remaining, ms(60_000));
    assert_eq!(limits.move_time, None);
}
