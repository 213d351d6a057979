//! One game at the table, board by board, without a server.

use super::*;
use crate::platform::fics::offer::OfferKind;

const US: &str = "AtomBot";

/// The board after these moves, as the server shows it to us.
fn board(us: Color, moves: &str) -> Board {
    let mut history = History::default();
    for uci in moves.split_whitespace() {
        history.play_uci(uci).unwrap();
    }
    board_of(us, history.position(), moves.split_whitespace().count(), moves)
}

fn board_of(us: Color, position: &Position, ply: usize, moves: &str) -> Board {
    let fen = position.fen();
    let ranks: Vec<String> = fen
        .split(' ')
        .next()
        .unwrap()
        .split('/')
        .map(|rank| {
            let spread = |letter: char| match letter.to_digit(10) {
                Some(gap) => "-".repeat(gap as usize),
                None => letter.to_string(),
            };
            rank.chars().map(spread).collect()
        })
        .collect();
    let turn = position.turn();
    let last = moves
        .split_whitespace()
        .last()
        .map_or("none".to_owned(), |uci| format!("P/{}-{}", &uci[..2], &uci[2..4]));
    let (white, black) = if us == Color::White { (US, "Alice") } else { ("Alice", US) };
    let line = format!(
        "<12> {} {} -1 1 1 1 1 {} 7 {white} {black} {} 3 2 39 39 170000 160000 {} {last} \
         (0:01.000) x 0 1 0",
        ranks.join(" "),
        if turn == Color::White { 'W' } else { 'B' },
        position.halfmove_clock(),
        if turn == us { 1 } else { -1 },
        ply / 2 + 1,
    );
    Board::parse(&line).unwrap()
}

fn table_at(us: Color, moves: &str) -> (Table, Effects) {
    let begins = GameBegins {
        game: 7,
        players: [String::new(), String::new()],
        is_resumed: false,
        rated: true,
        variant: "atomic".to_owned(),
    };
    let ratings = [Rating { value: Some(1500), ..Rating::default() }; 2];
    let (agrees, now) = (Agreements::default(), Instant::now());
    Table::new(&begins, ratings, [false; 2], &board(us, moves), agrees, now).unwrap()
}

fn table(us: Color) -> Table {
    table_at(us, "").0
}

fn play(table: &mut Table, ply: usize, uci: &str, offer_draw: bool) -> Effects {
    let mv = table.history.position().parse_uci(uci).unwrap();
    table.on_command(&Command::Play { ply, mv, offer_draw }, Instant::now())
}

fn show(table: &mut Table, us: Color, moves: &str) -> Effects {
    table.on_board(&board(us, moves), Instant::now())
}

fn moves_of(effects: &Effects) -> Option<String> {
    effects.events.iter().find_map(|event| match event {
        Event::State(state) => Some(state.moves.join(" ")),
        Event::Full(full) => Some(format!("full {}", full.state.moves.join(" "))),
        _ => None,
    })
}

fn offer(kind: OfferKind) -> Offer {
    Offer { index: 9, with: "Alice".to_owned(), kind }
}

#[test]
fn a_game_begins_with_everything_that_is_known() {
    let (table, effects) = table_at(Color::Black, "");
    let [Event::Full(full)] = &effects.events[..] else { panic!("{effects:?}") };
    assert_eq!(full.our_color, Color::Black);
    assert_eq!((full.initial_fen.as_deref(), full.is_abortable), (None, true));
    assert_eq!(full.players[0].id.as_deref(), Some("alice"));
    let (initial, increment) = (Duration::from_mins(3), Duration::from_secs(2));
    assert_eq!(full.time_control, TimeControl::Clock { initial, increment });
    assert_eq!(full.state.remaining, [170, 160].map(Duration::from_secs));
    assert!(full.rated && full.draws_are_claimed);
    assert_eq!(table.opponent(), "Alice");
}

#[test]
fn boards_become_moves_and_the_same_board_only_clocks() {
    let mut table = table(Color::White);
    let effects = play(&mut table, 0, "e2e4", false);
    assert_eq!(effects.lines, ["e2e4"]);
    let effects = show(&mut table, Color::White, "e2e4");
    assert_eq!(moves_of(&effects).unwrap(), "e2e4");
    assert!(effects.round_trip.is_some());
    assert_eq!(moves_of(&show(&mut table, Color::White, "e2e4 e7e5")).unwrap(), "e2e4 e7e5");
    let effects = show(&mut table, Color::White, "e2e4 e7e5");
    assert_eq!((moves_of(&effects).unwrap().as_str(), effects.round_trip), ("e2e4 e7e5", None));
}

#[test]
fn moves_that_are_taken_back_are_gone() {
    let mut table = table(Color::White);
    for moves in ["e2e4", "e2e4 e7e5", "e2e4 e7e5 g1f3"] {
        show(&mut table, Color::White, moves);
    }
    assert_eq!(moves_of(&show(&mut table, Color::White, "e2e4")).unwrap(), "e2e4");
    assert_eq!(moves_of(&show(&mut table, Color::White, "e2e4 d7d6")).unwrap(), "e2e4 d7d6");
}

#[test]
fn a_board_that_is_not_ours_is_taken_all_the_same() {
    let mut table = table(Color::White);
    show(&mut table, Color::White, "e2e4");
    // The line with the answer was lost, and White has moved again.
    let effects = show(&mut table, Color::White, "e2e4 e7e5 g1f3 b8c6");
    assert_eq!(moves_of(&effects).unwrap(), "full ");
    let [Event::Full(full)] = &effects.events[..] else { panic!("{effects:?}") };
    assert!(full.initial_fen.as_deref().unwrap().starts_with("r1bqkbnr/pppp1ppp/2n5"));
    assert!(!full.is_abortable);
    // From there it goes on as usual, and plies are counted from there.
    assert_eq!(play(&mut table, 0, "d2d3", false).lines, ["d2d3"]);
    let effects = show(&mut table, Color::White, "e2e4 e7e5 g1f3 b8c6 d2d3");
    assert_eq!(moves_of(&effects).unwrap(), "d2d3");
    // A move that our rules do not know: a rook on d3 out of nothing.
    let strange = Position::from_fen("4k3/p7/8/8/8/3R4/8/4K3 w - - 0 4").unwrap();
    let effects = table.on_board(&board_of(Color::White, &strange, 6, "a2a3"), Instant::now());
    assert_eq!(moves_of(&effects).unwrap(), "full ");
}

#[test]
fn a_move_for_another_position_is_dropped() {
    let mut table = table(Color::White);
    show(&mut table, Color::White, "e2e4");
    let mv = Position::initial().parse_uci("d2d4").unwrap();
    let command = Command::Play { ply: 0, mv, offer_draw: false };
    assert_eq!(table.on_command(&command, Instant::now()), Effects::default());
}

#[test]
fn draws_are_offered_and_accepted_with_moves() {
    let mut table = table(Color::White);
    assert_eq!(play(&mut table, 0, "e2e4", true).lines, ["e2e4", "draw"]);
    show(&mut table, Color::White, "e2e4");
    show(&mut table, Color::White, "e2e4 e7e5");
    let effects = table.on_offer(&offer(OfferKind::Draw));
    let [Event::State(state)] = &effects.events[..] else { panic!("{effects:?}") };
    assert_eq!(state.draw_offer, [false, true]);
    assert_eq!(play(&mut table, 2, "g1f3", true).lines, ["accept 9", "g1f3"]);
    assert_eq!(table.on_command(&Command::AcceptDraw, Instant::now()).lines, ["accept 9"]);
    assert!(table.on_offers_gone(&[8]).events.is_empty());
    let effects = table.on_offers_gone(&[8, 9]);
    let [Event::State(state)] = &effects.events[..] else { panic!("{effects:?}") };
    assert_eq!(state.draw_offer, [false, false]);
    assert!(table.on_command(&Command::AcceptDraw, Instant::now()).lines.is_empty());
}

#[test]
fn takebacks_are_the_sessions_business_and_the_rest_is_answered_here() {
    let mut table = table(Color::White);
    assert_eq!(table.on_offer(&offer(OfferKind::Abort)).lines, ["accept 9"]);
    show(&mut table, Color::White, "e2e4");
    show(&mut table, Color::White, "e2e4 e7e5");
    for kind in [OfferKind::Abort, OfferKind::Adjourn, OfferKind::Other("switch".to_owned())] {
        assert_eq!(table.on_offer(&offer(kind)).lines, ["decline 9"]);
    }
    let effects = table.on_offer(&offer(OfferKind::Takeback(2)));
    let [Event::State(state)] = &effects.events[..] else { panic!("{effects:?}") };
    assert_eq!(state.takeback_offer, [false, true]);
    let answer = table.on_command(&Command::AnswerTakeback(false), Instant::now());
    assert_eq!(answer.lines, ["decline 9"]);
}

#[test]
fn a_move_that_is_not_confirmed_is_asked_for_and_then_sent_again() {
    let mut table = table(Color::White);
    play(&mut table, 0, "e2e4", false);
    let due = table.due().unwrap();
    assert_eq!(table.on_due(due).lines, ["refresh"]);
    assert_eq!(table.due(), Some(due + ECHO_LIMIT));
    let effects = show(&mut table, Color::White, "");
    assert_eq!(effects.lines, ["e2e4"]);
    let effects = show(&mut table, Color::White, "e2e4");
    assert_eq!(effects.round_trip, None, "nobody knows which of the two came back");
    assert_eq!(table.pending, None);
}

#[test]
fn refusals_are_told_or_looked_into() {
    let mut table = table(Color::White);
    play(&mut table, 0, "e2e4", false);
    let effects = table.on_refusal(MoveRefusal::Illegal, Instant::now());
    assert_eq!(effects.events, [Event::MoveRefused { ply: 0 }]);
    play(&mut table, 0, "d2d4", false);
    assert_eq!(table.on_refusal(MoveRefusal::NotOurTurn, Instant::now()).lines, ["refresh"]);
    show(&mut table, Color::White, "d2d4");
    assert_eq!(table.on_refusal(MoveRefusal::NoGame, Instant::now()).lines, ["refresh"]);
    let effects = table.on_refusal(MoveRefusal::NoGame, Instant::now());
    assert_eq!(effects.events, [Event::Lost(LostReason::NotFound)]);
    assert_eq!(table.on_refusal(MoveRefusal::NotOurTurn, Instant::now()), Effects::default());
}

#[test]
fn reopening_asks_for_the_board_and_tells_everything() {
    let mut table = table(Color::White);
    assert_eq!(table.on_command(&Command::Reopen, Instant::now()).lines, ["refresh"]);
    assert_eq!(moves_of(&show(&mut table, Color::White, "")).unwrap(), "full ");
    assert_eq!(moves_of(&show(&mut table, Color::White, "")).unwrap(), "");
}

#[test]
fn the_flag_is_claimed_when_the_clock_has_been_empty_for_a_while() {
    let mut table = table(Color::White);
    show(&mut table, Color::White, "e2e4");
    let due = table.due().unwrap();
    assert_eq!(due, table.board_at + Duration::from_secs(160) + FLAG_GRACE);
    assert!(table.on_due(table.board_at).lines.is_empty());
    assert_eq!(table.on_due(due).lines, ["flag"]);
    assert_eq!(table.due(), Some(due + FLAG_PAUSE));
    show(&mut table, Color::White, "e2e4 e7e5");
    assert_eq!(table.due(), None, "our own turn");
}

#[test]
fn ends_keep_their_reason_and_the_link_its_own() {
    let mut table = table(Color::White);
    let end = GameEnd {
        game: 7,
        players: [US.to_owned(), "Alice".to_owned()],
        reason: EndReason::VariantEnd,
        winner: Some(Color::White),
    };
    let effects = table.on_end(&end);
    let [Event::State(state)] = &effects.events[..] else { panic!("{effects:?}") };
    assert_eq!(state.status, Status::Over(EndReason::VariantEnd));
    assert_eq!(state.winner, Some(Color::White));
    let Event::State(state) = table.on_link_lost() else { panic!() };
    assert_eq!(state.status, Status::Over(EndReason::Lost(LostReason::Disconnected)));
}

#[test]
fn commands_are_written_as_the_server_takes_them() {
    let mut table = table(Color::White);
    let now = Instant::now();
    for (command, line) in [
        (Command::Resign, "resign"),
        (Command::Abort, "abort"),
        (Command::ClaimDraw, "draw"),
        (Command::ClaimVictory, "flag"),
        (Command::Say { room: Room::Player, text: "gl".to_owned() }, "say gl"),
        (Command::Say { room: Room::Spectator, text: "gl".to_owned() }, "whisper gl"),
    ] {
        assert_eq!(table.on_command(&command, now).lines, [line]);
    }
}

#[test]
fn what_we_agree_to_can_be_set() {
    let mut table = table(Color::White);
    for moves in ["e2e4", "e2e4 e7e5"] {
        show(&mut table, Color::White, moves);
    }
    table.agrees = Agreements { abort: true, adjourn: true };
    assert_eq!(table.on_offer(&offer(OfferKind::Abort)).lines, ["accept 9"]);
    assert_eq!(table.on_offer(&offer(OfferKind::Adjourn)).lines, ["accept 9"]);
    for kind in ["switch", "pause"] {
        let effects = table.on_offer(&offer(OfferKind::Other(kind.to_owned())));
        assert_eq!(effects.lines, ["decline 9"]);
    }
}

#[test]
fn long_takebacks_are_declined() {
    let mut table = table(Color::White);
    for moves in ["e2e4", "e2e4 e7e5", "e2e4 e7e5 g1f3", "e2e4 e7e5 g1f3 b8c6"] {
        show(&mut table, Color::White, moves);
    }
    for length in [0, 3, 4, u32::MAX] {
        let effects = table.on_offer(&offer(OfferKind::Takeback(length)));
        assert_eq!((effects.lines, effects.events), (vec!["decline 9".to_owned()], vec![]));
    }
    assert!(table.on_offer(&offer(OfferKind::Takeback(1))).lines.is_empty());
}

#[test]
fn the_moves_of_a_game_that_goes_on_are_asked_for_and_verified() {
    let (mut table, effects) = table_at(Color::White, "e2e4 e7e5");
    assert_eq!(effects.lines, ["moves"]);
    assert_eq!(moves_of(&effects).unwrap(), "full ");
    show(&mut table, Color::White, "e2e4 e7e5 g1f3");
    let list = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    for wrong in ["e4", "e4 e6", "e4 Ke7", "e4 e5 Nf3 Nf3 Nc6"] {
        let effects = table.on_move_list(&list(wrong));
        assert_eq!(moves_of(&effects).is_some(), wrong.starts_with("e4 e5"), "{wrong}");
    }
    let effects = show(&mut table, Color::White, "e2e4 e7e5 g1f3 b8c6");
    assert_eq!(moves_of(&effects).unwrap(), "e2e4 e7e5 g1f3 b8c6");
    assert_eq!(play(&mut table, 4, "f1b5", false).lines, ["f1b5"]);
    assert_eq!(table.on_move_list(&list("e4 e5")), Effects::default(), "nothing is missing");
}

#[test]
fn a_board_that_our_rules_do_not_know_is_read_again_and_never_resigned() {
    let mut table = table(Color::White);
    show(&mut table, Color::White, "e2e4");
    // White is to move, and Black is in check.
    let line = "<12> ----k--- -------- -------- -------- -------- -------- -------- K---R--- W -1 0 0 \
         0 0 0 7 AtomBot Alice 1 3 2 39 39 170000 160000 2 p/a7-a6 (0:01.000) x 0 1 0";
    let strange = Board::parse(line).unwrap();
    assert_eq!(table.on_board(&strange, Instant::now()).lines, ["refresh"]);
    assert_eq!(table.on_board(&strange, Instant::now()), Effects::default());
    assert!(play(&mut table, 1, "e7e5", false).lines.is_empty());
    let effects = show(&mut table, Color::White, "e2e4 e7e5 g1f3");
    assert_eq!(moves_of(&effects).unwrap(), "full ");
}

#[test]
fn a_board_that_is_asked_for_in_vain_ends_the_game_for_us() {
    let mut table = table(Color::White);
    play(&mut table, 0, "e2e4", false);
    let first = table.due().unwrap();
    assert_eq!(table.on_due(first).lines, ["refresh"]);
    let second = table.due().unwrap();
    assert_eq!(second, first + ECHO_LIMIT);
    assert_eq!(table.on_due(second).events, [Event::Lost(LostReason::NotFound)]);
}

#[test]
fn a_move_that_is_called_an_unknown_command_means_that_there_is_no_game() {
    let mut table = table(Color::White);
    let now = Instant::now();
    assert_eq!(table.on_unknown_command("e2e4", now), Effects::default());
    play(&mut table, 0, "e2e4", false);
    assert_eq!(table.on_unknown_command("say", now), Effects::default());
    assert_eq!(table.on_unknown_command("e2e4", now).lines, ["refresh"]);
    let effects = table.on_unknown_command("e2e4", now);
    assert_eq!(effects.events, [Event::Lost(LostReason::NotFound)]);
}

#[test]
fn a_game_that_is_over_by_our_rules_is_looked_after_when_no_end_is_told() {
    let mut table = table(Color::White);
    let moves = "g1f3 f7f6 f3e5 g8h6 e5d7";
    let words: Vec<&str> = moves.split(' ').collect();
    for count in 1..=words.len() {
        show(&mut table, Color::White, &words[..count].join(" "));
    }
    let due = table.due().unwrap();
    assert_eq!(due, table.board_at + ECHO_LIMIT);
    assert_eq!(table.on_due(due).lines, ["refresh"]);
}
