//! Draws, takebacks and ends amid the bot's search, which would go on for minutes.

use meitner::{
    arena::{ColorChoice, Endpoint, Fault, HouseAction, OpponentKind},
    daemon::Options,
    game,
};
use tokio::time::sleep;

use crate::harness::{Bot, World, ms, options, within};

/// A clock that lets the bot think for minutes about a move.
const LONG_S: u64 = 10_800;

/// A bot that thinks as long as its clock allows, but for its first move: long enough not to lose by it,
/// in a build without optimization, too, since who sees that all is lost thinks no more.
fn thinker() -> Options {
    let game = game::Options { nodes: None, first_move_time: ms(1000), ..options().game };
    Options { game, ..options() }
}

/// A game in which the bot thinks about the answer to the third move, and has begun to know it.
async fn in_thought(world: &World, options: Options) -> (Bot, String) {
    world.house(OpponentKind::Silent);
    let mut bot = world.bot_with(options).await;
    let game = world.challenge(LONG_S, 0, ColorChoice::White);
    world.reply_first(&game).await;
    bot.until_playing(1).await;
    assert_eq!(world.house_move(&game), 2);
    until_thinking(&bot, 3).await;
    (bot, game)
}

/// Waits until the bot knows of so many moves.
async fn until_seen(bot: &Bot, plies: usize) {
    let mut view = bot.live.borrow().values().next().expect("a game").clone();
    let sees = view.wait_for(|snapshot| snapshot.plies == plies);
    within("the bot sees the moves", sees).await.expect("the game runs");
}

/// Waits until the bot's search of the position after so many moves has something to say.
async fn until_thinking(bot: &Bot, plies: usize) {
    let mut view = bot.live.borrow().values().next().expect("a game").clone();
    let thinks = view.wait_for(|snapshot| {
        snapshot.plies == plies
            && snapshot.thought.as_ref().is_some_and(|thought| thought.depth > 0)
    });
    within("the bot thinks", thinks).await.expect("the game runs");
}

#[tokio::test]
async fn a_draw_is_agreed_amid_the_bots_search() {
    let world = World::new().await;
    let mut options = thinker();
    // Long enough for an evaluation of the first move on a busy machine, too.
    options.game.first_move_time = ms(1500);
    options.game.humans.draw.when.from_move = 1;
    options.game.humans.draw.accept_at_most_cp = 10_000;
    let (bot, game) = in_thought(&world, options).await;
    world.arena.act(&game, &HouseAction::OfferDraw).unwrap();
    let end = world.finished(&game).await;
    assert_eq!((end.status, end.moves.len()), ("draw", 3), "the search was not waited for");
    assert_eq!(bot.stop().await.drawn, 1);
    world.assert_clean();
}

#[tokio::test]
async fn a_draw_that_is_not_considered_is_declined_amid_the_bots_search() {
    let world = World::new().await;
    let (bot, game) = in_thought(&world, thinker()).await;
    world.arena.act(&game, &HouseAction::OfferDraw).unwrap();
    let path = format!("/api/bot/game/{game}/draw/false");
    world
        .until("the draw is declined", |arena| {
            arena.requests().iter().any(|request| request.path.starts_with(&path))
        })
        .await;
    assert_eq!(world.arena.game(&game).unwrap().moves.len(), 3);
    world.arena.act(&game, &HouseAction::Resign).unwrap();
    bot.stop().await;
    world.assert_clean();
}

#[tokio::test]
async fn takebacks_are_agreed_to_as_often_as_set_amid_the_bots_search() {
    let world = World::new().await;
    let mut options = thinker();
    options.game.humans.takeback.most = 1;
    let (bot, game) = in_thought(&world, options).await;
    world.arena.act(&game, &HouseAction::ProposeTakeback).unwrap();
    world.until("a move is taken back", |arena| arena.counters().takebacks == 1).await;
    assert_eq!(world.arena.game(&game).unwrap().moves.len(), 2);
    until_seen(&bot, 2).await;
    world.house_move(&game);
    until_thinking(&bot, 3).await;
    world.arena.act(&game, &HouseAction::ProposeTakeback).unwrap();
    let path = format!("/api/bot/game/{game}/takeback/false");
    world
        .until("the next one is declined", |arena| {
            arena.requests().iter().any(|request| request.path.starts_with(&path))
        })
        .await;
    world.arena.act(&game, &HouseAction::Resign).unwrap();
    let end = world.finished(&game).await;
    assert_eq!(end.moves.len(), 3);
    assert_eq!(bot.stop().await.won, 1);
    assert_eq!(world.arena.counters().takebacks, 1);
    world.assert_clean();
}

#[tokio::test]
async fn an_opponent_who_gives_up_ends_the_bots_search() {
    let world = World::new().await;
    let (bot, game) = in_thought(&world, thinker()).await;
    world.arena.act(&game, &HouseAction::Resign).unwrap();
    // It ends its games first, and would wait for a search of minutes in vain.
    assert_eq!(bot.stop().await.won, 1);
    assert_eq!(world.arena.game(&game).unwrap().moves.len(), 3);
    world.assert_clean();
}

#[tokio::test]
async fn an_abort_ends_the_bots_search() {
    let world = World::new().await;
    world.house(OpponentKind::Silent);
    let mut options = thinker();
    options.game.first_move_time = std::time::Duration::from_mins(2);
    let mut bot = world.bot_with(options).await;
    let game = world.challenge(LONG_S, 0, ColorChoice::Black);
    bot.until_playing(1).await;
    until_thinking(&bot, 0).await;
    world.arena.act(&game, &HouseAction::Abort).unwrap();
    assert_eq!(bot.stop().await.aborted, 1);
    assert_eq!(world.arena.game(&game).unwrap().moves.len(), 0);
}

#[tokio::test]
async fn a_yes_that_is_slower_than_our_move_becomes_no_offer_of_ours() {
    // 2026-11-30: a hung yes could arrive after our move, which had declined the offer.
    let world = World::new().await;
    world.house(OpponentKind::Silent);
    let mut options = options();
    options.game.humans.takeback.most = 1;
    let bot = world.bot_with(options).await;
    let game = world.challenge(LONG_S, 0, ColorChoice::White);
    world.reply_first(&game).await;
    world.arena.inject(Endpoint::GameCommand, Fault::DelayRequest { ms: 2000 });
    world.arena.act(&game, &HouseAction::ProposeTakeback).unwrap();
    world.until("the yes is under way", |arena| arena.faults().struck().len() == 1).await;
    world.reply(&game).await;
    assert_eq!(world.arena.game(&game).unwrap().moves.len(), 4, "our move has come first");
    sleep(ms(2200)).await;
    let said = world.chat(&game).await;
    assert_eq!(said.matches("Takeback sent").count(), 1, "{said}");
    assert_eq!(world.arena.counters().takebacks, 0);
    world.arena.act(&game, &HouseAction::Resign).unwrap();
    assert_eq!(bot.stop().await.won, 1);
    world.assert_clean();
}
