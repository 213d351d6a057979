//! What is written, what is answered, and what is not.

use super::*;
use crate::game::{ChatCommand, ChatLine, ChatOptions, Room, TakebackOptions};

const LINE: &str = "e2e4 e7e5 g1f3";

fn table_with(options: Options) -> Table {
    let mut table = Table::new(Color::White, options);
    table.full.players[0].name = "EmberFork".to_owned();
    table.full.players[1].name = "QuietRook7".to_owned();
    table
}

fn table_of(chat: ChatOptions) -> Table {
    table_with(Options { chat, ..Options::default() })
}

/// A table in our search after 1. e4 e5.
fn in_game() -> Table {
    let mut table = table_of(ChatOptions::default());
    table.full("e2e4 e7e5");
    table
}

fn say(table: &mut Table, room: Room, from: &str, text: &str) -> Vec<String> {
    let (from, text) = (from.to_owned(), text.to_owned());
    let event = Event::Chat(ChatLine { room, from, text });
    let input = Input::Server(Arrived { at: table.now, lag: table.lag, event });
    let answered = |action: Action| match action {
        Action::Send(Command::Say { room: answered, text }) => {
            assert_eq!(answered, room, "in the room of the question");
            text
        }
        action => panic!("chat does nothing else: {action:?}"),
    };
    table.session.handle(input, table.now).into_iter().map(answered).collect()
}

fn opponent(table: &mut Table, text: &str) -> Vec<String> {
    say(table, Room::Player, "QuietRook7", text)
}

fn spectator(table: &mut Table, text: &str) -> Vec<String> {
    say(table, Room::Spectator, "somebody", text)
}

#[test]
fn both_rooms_are_greeted_once_and_taken_leave_of_after_the_work() {
    let mut chat = ChatOptions::default();
    chat.players.greeting = "Hi {opponent}!".parse().unwrap();
    chat.players.goodbye = "Bye {opponent}!".parse().unwrap();
    chat.spectators.greeting = "{me} plays.".parse().unwrap();
    chat.spectators.goodbye = "Thanks.".parse().unwrap();
    let mut table = table_of(chat);
    let said = |room: &str, text: &str| format!("Say {{ room: {room}, text: {text:?} }}");
    let hello = [said("Player", "Hi QuietRook7!"), said("Spectator", "EmberFork plays.")];
    assert_eq!(table.full(""), ["search at 0", &hello[0], &hello[1]], "the search first");
    assert_eq!(table.full(""), NOTHING);
    table.found("e2e4", 0);
    let end = over("e2e4 e7e5", EndReason::Resign, Some(Color::White));
    let bye = [said("Player", "Bye QuietRook7!"), said("Spectator", "Thanks.")];
    assert_eq!(table.state(end), [&bye[0], &bye[1], "finish: won by resignation"]);
}

#[test]
fn nobody_is_greeted_late_or_after_the_end() {
    let mut chat = ChatOptions::default();
    chat.players.greeting = "Hi!".parse().unwrap();
    assert_eq!(table_of(chat.clone()).full(LINE), NOTHING, "after a restart");
    let mut table = table_of(chat);
    table.full.state = over("", EndReason::Aborted, None);
    let full = Event::Full(Box::new(table.full.clone()));
    assert_eq!(table.event(full), ["finish: aborted by aborted"]);
}

#[test]
fn the_players_of_a_tournament_have_no_chat() {
    let mut chat = ChatOptions::default();
    chat.players.greeting = "Hi!".parse().unwrap();
    chat.spectators.greeting = "Hello!".parse().unwrap();
    let mut table = table_of(chat);
    table.full.tournament = Some("t".to_owned());
    let actions = table.full("");
    assert_eq!(actions[1..], ["Say { room: Spectator, text: \"Hello!\" }"]);
}

#[test]
fn the_usual_words_are_answered() {
    let mut table = in_game();
    let version = env!("CARGO_PKG_VERSION");
    for (question, answer) in [
        ("!help", "I answer !help !name !engine !draw !takeback !queue !ping !wait".to_owned()),
        ("!Name", format!("EmberFork plays atomic with Meitner {version}.")),
        ("!motor please", format!("Meitner {version}")),
        (
            "!draw",
            "I accept a draw if my evaluation is +0.00 or less, from move 11 on. I offer none."
                .to_owned(),
        ),
        ("!takeback", "I take back no moves.".to_owned()),
        ("!queue", "Nobody waits for a game.".to_owned()),
        ("!ping", "Not measured yet.".to_owned()),
        ("!wait", "There is nothing to wait for.".to_owned()),
    ] {
        table.now += ms(60_000);
        assert_eq!(opponent(&mut table, question), [answer], "{question}");
    }
}

#[test]
fn anything_else_means_nothing() {
    let mut table = in_game();
    for text in ["hello", "help", "!", "!nonsense", "resign!", "!resign", "draw?", "!quit", ""] {
        assert_eq!(opponent(&mut table, text), NOTHING, "{text}");
    }
    assert_eq!(say(&mut table, Room::Player, "emberfork", "!help"), NOTHING, "our own line");
}

#[test]
fn the_evaluation_is_for_spectators_only_unless_set() {
    let mut table = in_game();
    assert_eq!(spectator(&mut table, "!eval"), ["No evaluation yet."]);
    let evaluation = Evaluation { centipawns: 135, mate_in: None };
    let position = table.session.game.as_ref().unwrap().history.position().clone();
    let ours = position.parse_uci("g1f3").unwrap();
    let reply = position.after(ours).parse_uci("d7d6").unwrap();
    let pv = vec![ours, reply];
    let thought = Thought { depth: 12, evaluation, pv, ..Thought::default() };
    table.input(Input::Thought(thought.clone()));
    assert_eq!(spectator(&mut table, "!eval"), ["+1.35 for EmberFork at depth 12"]);
    assert_eq!(spectator(&mut table, "!pv"), ["I expect Nf3 d6"]);
    assert_eq!(opponent(&mut table, "!eval"), NOTHING);
    assert_eq!(opponent(&mut table, "!pv"), NOTHING);
    let elsewhere = say(&mut table, Room::Spectator, "QUIETROOK7", "!eval");
    assert_eq!(elsewhere, NOTHING, "the opponent in the other room");
    // The line goes on from the position on the board.
    table.input(Input::Found(Found { best: Some(ours), ponder: None, thought }));
    table.moves(LINE);
    assert_eq!(spectator(&mut table, "!pv"), ["I expect d6"]);
    table.moves("e2e4 e7e5 g1f3 b8c6");
    assert_eq!(spectator(&mut table, "!pv"), ["No line yet."]);

    let mut chat = ChatOptions::default();
    chat.players.commands.push(ChatCommand::Eval);
    let mut table = table_of(chat);
    table.full("e2e4 e7e5");
    assert_eq!(opponent(&mut table, "!eval"), ["No evaluation yet."]);
}

#[test]
fn the_evaluation_is_told_after_each_move_until_that_is_enough() {
    let mut table = in_game();
    let answer = "I tell my evaluation after each of my moves; !quiet ends that.";
    assert_eq!(opponent(&mut table, "!printeval"), NOTHING);
    assert_eq!(spectator(&mut table, "!printeval"), [answer]);
    let told = "Say { room: Spectator, text: \"+0.20 for EmberFork at depth 1\" }";
    assert_eq!(table.found("g1f3", 20), ["play g1f3 at 2", told], "after the move");
    table.moves("e2e4 e7e5 g1f3 d7d6");
    assert_eq!(spectator(&mut table, "!quiet"), ["Quiet from now on."]);
    assert_eq!(table.found("b1c3", 20), ["play b1c3 at 4"]);
}

#[test]
fn no_minute_has_too_many_answers_and_the_rooms_count_apart() {
    let mut table = in_game();
    let most = ChatOptions::default().replies_per_minute;
    for _ in 0..most {
        assert_eq!(opponent(&mut table, "!name").len(), 1);
    }
    assert_eq!(opponent(&mut table, "!name"), NOTHING);
    assert_eq!(spectator(&mut table, "!name").len(), 1);
    table.now += ms(60_000);
    assert_eq!(opponent(&mut table, "!name").len(), 1);
}

#[test]
fn with_everything_off_nothing_is_written() {
    let mut off = ChatOptions { replies_per_minute: 0, ..ChatOptions::default() };
    let mut table = table_of(off.clone());
    table.full("");
    assert_eq!(opponent(&mut table, "!help"), NOTHING);
    off.players.commands.clear();
    off.replies_per_minute = 60;
    let mut table = table_of(off);
    table.full("");
    assert_eq!(opponent(&mut table, "!help"), NOTHING);
}

#[test]
fn those_who_wait_are_named_as_far_as_there_is_room() {
    let mut table = in_game();
    let names = |count: usize| (0..count).map(|n| format!("Somebody{n}")).collect();
    assert_eq!(table.input(Input::Waiting(names(2))), NOTHING);
    assert_eq!(opponent(&mut table, "!queue"), ["Waiting: Somebody0, Somebody1"]);
    table.input(Input::Waiting(names(32)));
    let answer = opponent(&mut table, "!queue").remove(0);
    assert!(answer.chars().count() <= 140 && answer.ends_with("Somebody10"), "{answer}");
}

#[test]
fn the_opponent_may_have_a_minute_more_for_the_first_move_once() {
    let mut table = Table::black();
    table.full.players[0].name = "QuietRook7".to_owned();
    table.full.players[1].name = "EmberFork".to_owned();
    table.full("");
    let patience = Options::default().abort_patience;
    assert_eq!(table.session.deadline(), Some(table.now + patience));
    assert_eq!(opponent(&mut table, "!wait"), ["I wait a minute longer for your first move."]);
    assert_eq!(table.session.deadline(), Some(table.now + patience + ms(60_000)));
    assert_eq!(opponent(&mut table, "!wait"), ["There is nothing to wait for."]);
    assert_eq!(table.wait(patience), NOTHING);
    assert_eq!(table.wait(ms(60_000)), ["Abort"]);
}

#[test]
fn terms_of_draws_and_takebacks_are_told_within_a_line() {
    let takeback = TakebackOptions { most: 2, in_rated_games: false };
    let draw = DrawOptions {
        accept_at_most_cp: -30_000,
        offer: true,
        offer_within_cp: 30_000,
        when: Occasion { from_move: 1000, ..Occasion::default() },
        ..DrawOptions::default()
    };
    let humans = Manners { draw, takeback, ..Manners::default() };
    let mut table = table_with(Options { humans, ..Options::default() });
    table.full("e2e4 e7e5");
    let answer = opponent(&mut table, "!draw").remove(0);
    assert!(answer.chars().count() <= 140, "{answer}");
    let expected = "I agree to 2 takebacks in a game, and did so 0 times.";
    assert_eq!(opponent(&mut table, "!takeback"), [expected]);
    table.full.rated = true;
    table.full("e2e4 e7e5");
    assert_eq!(opponent(&mut table, "!takeback"), ["I take back moves in casual games only."]);
}

#[test]
fn an_answer_leaves_the_running_search_alone() {
    let mut table = in_game();
    assert_eq!(opponent(&mut table, "!help").len(), 1);
    assert_eq!(table.found("g1f3", 0), ["play g1f3 at 2"]);
}

#[test]
fn what_machine_it_is_is_told_only_where_that_is_set() {
    let mut chat = ChatOptions::default();
    let mut table = in_game();
    for word in ["!cpu", "!ram"] {
        assert_eq!(opponent(&mut table, word), NOTHING, "{word}");
    }
    chat.players.commands = vec![ChatCommand::Cpu, ChatCommand::Ram];
    let mut table = table_of(chat);
    table.full("e2e4 e7e5");
    for word in ["!cpu", "!ram"] {
        assert_eq!(opponent(&mut table, word).len(), 1, "{word}");
    }
}
