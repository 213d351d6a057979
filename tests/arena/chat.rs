//! What the bot writes and answers, and when it is silent.

use meitner::arena::{
    ChallengeSpec, ColorChoice, Endpoint, Fault, HouseAction, HouseSpec, OpponentKind, Room,
};
use tracing::Level;

use crate::{
    harness::{BOT, HOUSE, World, options},
    log::Log,
};

/// A bot in a game that goes on.
async fn in_game(
    world: &World,
    options: meitner::daemon::Options,
) -> (crate::harness::Bot, String) {
    world.house(OpponentKind::Silent);
    let bot = world.bot_with(options).await;
    let game = world.challenge(60, 0, ColorChoice::White);
    world.reply_first(&game).await;
    (bot, game)
}

/// Waits until the bot has written so many lines.
async fn until_written(world: &World, lines: u64) {
    world.until("the bot writes", |arena| arena.counters().chat_lines >= lines).await;
}

#[tokio::test]
async fn both_rooms_are_greeted_once_and_taken_leave_of() {
    let world = World::new().await;
    world.house(OpponentKind::Random);
    let mut options = options();
    let chat = &mut options.game.chat;
    chat.players.greeting = "Good luck {opponent} & have fun!".parse().unwrap();
    chat.players.goodbye = "Bye from {me}".parse().unwrap();
    chat.spectators.greeting = "Watch {me}".parse().unwrap();
    chat.spectators.goodbye = "Thanks".parse().unwrap();
    let bot = world.bot_with(options).await;
    let game = world.challenge(60, 0, ColorChoice::White);
    world.until_moves(&game, 4).await;
    // A reopened stream begins with the whole game again, which is no reason to greet again.
    world.arena.inject(Endpoint::GameStream, Fault::Cut);
    world.finished(&game).await;
    bot.stop().await;
    let (players, spectators) = (world.chat(&game).await, world.spectators_chat(&game).await);
    for text in ["Good luck QuietRook7 & have fun!", "Bye from EmberFork"] {
        assert_eq!(players.matches(text).count(), 1, "{players}");
        assert!(!spectators.contains(text), "{spectators}");
    }
    for text in ["Watch EmberFork", "Thanks"] {
        assert_eq!(spectators.matches(text).count(), 1, "{spectators}");
        assert!(!players.contains(text), "{players}");
    }
    assert_eq!(world.arena.counters().chat_lines, 4);
    world.assert_clean();
}

#[tokio::test]
async fn commands_are_answered_in_their_room_by_its_rule() {
    let world = World::new().await;
    let (bot, game) = in_game(&world, options()).await;
    let say = |room, name, text| world.arena.say(&game, room, name, text).unwrap();
    say(Room::Player, HOUSE, "!eval");
    say(Room::Spectator, HOUSE, "!eval");
    say(Room::Player, HOUSE, "!rm -rf /");
    say(Room::Player, BOT, "!help");
    say(Room::Player, HOUSE, "!engine");
    until_written(&world, 1).await;
    say(Room::Spectator, "Somebody", "!eval");
    until_written(&world, 2).await;
    let (players, spectators) = (world.chat(&game).await, world.spectators_chat(&game).await);
    assert!(players.contains("Meitner "), "{players}");
    assert!(spectators.contains(" for EmberFork at depth "), "{spectators}");
    assert!(!players.contains("depth"), "{players}");
    world.arena.act(&game, &HouseAction::Resign).unwrap();
    bot.stop().await;
    assert_eq!(world.arena.counters().chat_lines, 2);
    world.assert_clean();
}

#[tokio::test]
async fn a_flood_of_questions_gets_few_answers_and_costs_no_move() {
    let world = World::new().await;
    let (bot, game) = in_game(&world, options()).await;
    for _ in 0..50 {
        world.arena.act(&game, &HouseAction::Chat("!help".to_owned())).unwrap();
    }
    world.reply(&game).await;
    let most = u64::try_from(options().game.chat.replies_per_minute).unwrap();
    until_written(&world, most).await;
    world.reply(&game).await;
    world.arena.act(&game, &HouseAction::Resign).unwrap();
    assert_eq!(bot.stop().await.won, 1);
    assert_eq!(world.arena.counters().chat_lines, most);
    world.assert_clean();
}

#[tokio::test]
async fn those_who_wait_are_named_to_whoever_asks() {
    let world = World::new().await;
    let mut options = options();
    options.game.chat.replies_per_minute = 60;
    let (bot, game) = in_game(&world, options).await;
    world.arena.add_house(&HouseSpec::named("PatientPawn"));
    world.arena.challenge(&ChallengeSpec::new("PatientPawn", BOT)).unwrap();
    // The challenge and the question come by different streams.
    for lines in 1..=60 {
        world.arena.act(&game, &HouseAction::Chat("!queue".to_owned())).unwrap();
        until_written(&world, lines).await;
        if world.chat(&game).await.contains("Waiting: PatientPawn") {
            break;
        }
    }
    assert!(world.chat(&game).await.contains("Waiting: PatientPawn"));
    world.arena.act(&game, &HouseAction::Resign).unwrap();
    bot.kill().await;
}

#[tokio::test]
async fn no_name_and_no_line_of_chat_can_write_to_a_terminal() {
    let log = Log::default();
    let guard = log.start(Level::DEBUG);
    let world = World::new().await;
    let name = "Red\u{1b}[31m\u{202e}Rook\u{7}";
    world.arena.add_house(&HouseSpec { opponent: OpponentKind::Silent, ..HouseSpec::named(name) });
    let mut options = options();
    options.game.chat.players.greeting = "Hello {opponent}".parse().unwrap();
    let bot = world.bot_with(options).await;
    let game = world.arena.challenge(&ChallengeSpec::new(name, BOT)).unwrap();
    until_written(&world, 1).await;
    let line = "\u{1b}]0;owned\u{7}\u{9b}2Jhi\r\n\u{2066}there";
    world.arena.say(&game, Room::Spectator, name, line).unwrap();
    world.arena.say(&game, Room::Player, name, "!name").unwrap();
    until_written(&world, 2).await;
    world.arena.act(&game, &HouseAction::Resign).unwrap();
    world.finished(&game).await;
    bot.stop().await;
    drop(guard);
    let text = log.text();
    assert!(text.contains("Red[31mRook"), "{text:?}");
    let is_bad = |c: &char| (c.is_control() && *c != '\n') || ('\u{2066}'..='\u{2069}').contains(c);
    assert_eq!(text.chars().find(is_bad), None, "{text:?}");
    assert!(!text.contains('\u{202e}'), "{text:?}");
    let chat = world.chat(&game).await;
    assert!(chat.contains("Hello Red[31mRook"), "{chat}");
}
