//! Games as they should go: start to end, all time controls, offers, absences.

use std::time::Duration;

use meitner::{
    arbiter::TimeControl,
    arena::{
        ArenaOptions, ChallengeSpec, ColorChoice, HouseAction, HouseSpec, OpponentKind,
        ScriptedOpponent,
    },
    daemon::{Criteria, Options, PolicyOptions},
    game,
    platform::Speed,
    rules::Color,
};

use crate::harness::{BOT, HOUSE, World, ms, options, within};

#[tokio::test]
async fn whole_games_are_played_with_both_colors() {
    let world = World::new().await;
    world.house(OpponentKind::Random);
    let bot = world.bot().await;
    for color in [ColorChoice::White, ColorChoice::Black] {
        let game = world.challenge(60, 0, color);
        let end = world.finished(&game).await;
        let bot_color = if end.white == BOT { Color::White } else { Color::Black };
        assert_eq!(bot_color == Color::White, color == ColorChoice::Black);
        assert_eq!(end.ending.unwrap().winner, Some(bot_color), "{}", end.moves.join(" "));
    }
    let summary = bot.stop().await;
    assert_eq!((summary.accepted, summary.won), (2, 2));
    let counters = world.arena.counters();
    assert_eq!((counters.flags_lost, counters.aborted, counters.resigned), (0, 0, 0));
    assert_eq!(counters.game_streams, 2, "one stream a game");
    world.assert_clean();
}

#[tokio::test]
async fn a_game_with_hardly_any_time_is_not_lost_on_time() {
    let world = World::new().await;
    world.house(OpponentKind::Random);
    let bot = world.bot_with(Options { game: game::Options::default(), ..options() }).await;
    let game = world.challenge(0, 1, ColorChoice::White);
    let end = world.finished(&game).await;
    assert_eq!(end.ending.unwrap().winner, Some(Color::Black), "{}", end.status);
    assert_eq!(world.arena.counters().flags_lost, 0);
    bot.stop().await;
    world.assert_clean();
}

#[tokio::test]
async fn a_game_without_a_clock_is_played() {
    let world = World::new().await;
    world.house(OpponentKind::Random);
    let humans = Criteria { speeds: vec![Speed::Correspondence], ..Criteria::default() };
    let policy = PolicyOptions { humans, ..PolicyOptions::default() };
    let mut bot = world.bot_with(Options { policy, ..options() }).await;
    let control = TimeControl::Correspondence { per_move: Duration::from_hours(24) };
    let spec = ChallengeSpec { control, ..ChallengeSpec::new(HOUSE, BOT) };
    let game = world.arena.challenge(&spec).unwrap();
    world.finished(&game).await;
    // At the end of the bot nobody would wait for such a game.
    bot.until_playing(0).await;
    assert_eq!(bot.stop().await.won, 1);
    world.assert_clean();
}

#[tokio::test]
async fn a_bare_offer_is_declined_by_moving_and_time_that_is_given_is_taken() {
    let world = World::new().await;
    world.house(OpponentKind::Silent);
    let bot = world.bot().await;
    let game = world.challenge(60, 0, ColorChoice::White);
    world.until("the game starts", |arena| arena.game(&game).is_some()).await;
    world.reply(&game).await;
    for action in [
        HouseAction::OfferDraw,
        HouseAction::ProposeTakeback,
        HouseAction::GiveTime(Duration::from_secs(15)),
        HouseAction::Chat("hello".to_owned()),
    ] {
        world.arena.act(&game, &action).unwrap();
    }
    world.reply(&game).await;
    world.arena.act(&game, &HouseAction::Resign).unwrap();
    assert_eq!(bot.stop().await.won, 1);
    world.assert_clean();
}

#[tokio::test]
async fn a_draw_is_agreed_when_we_are_not_better() {
    let world = World::new().await;
    world.house(OpponentKind::Silent);
    let mut options = options();
    options.game.humans.draw.when.from_move = 1;
    options.game.humans.draw.accept_at_most_cp = 10_000;
    let bot = world.bot_with(options).await;
    let game = world.challenge(60, 0, ColorChoice::White);
    world.until("the game starts", |arena| arena.game(&game).is_some()).await;
    world.reply(&game).await;
    world.reply(&game).await;
    world.arena.act(&game, &HouseAction::OfferDraw).unwrap();
    assert_eq!(world.finished(&game).await.ending.unwrap().winner, None);
    assert_eq!(bot.stop().await.drawn, 1);
}

#[tokio::test]
async fn a_takeback_that_somebody_asked_for_is_followed() {
    let world = World::new().await;
    world.arena.add_house(&HouseSpec {
        opponent: OpponentKind::Silent,
        accepts_takebacks: true,
        ..HouseSpec::named(HOUSE)
    });
    let bot = world.bot().await;
    let game = world.challenge(60, 0, ColorChoice::White);
    world.reply_first(&game).await;
    // The bot's owner asks on the web site, and the opponent agrees.
    world.post(&format!("/api/bot/game/{game}/takeback/yes")).await;
    world.until("a move is taken back", |arena| arena.counters().takebacks == 1).await;
    world.until_moves(&game, 2).await;
    world.reply(&game).await;
    world.arena.act(&game, &HouseAction::Resign).unwrap();
    assert_eq!(bot.stop().await.won, 1);
    world.assert_clean();
}

#[tokio::test]
async fn a_game_that_the_opponent_never_begins_is_aborted_and_frees_its_slot() {
    let world = World::new().await;
    world.house(OpponentKind::Silent);
    let mut options = options();
    options.game.abort_patience = ms(300);
    let bot = world.bot_with(options).await;
    for color in [ColorChoice::White, ColorChoice::Black] {
        let game = world.challenge(60, 0, color);
        assert_eq!(world.finished(&game).await.status, "aborted");
    }
    assert_eq!(bot.stop().await.aborted, 2);
    assert_eq!(world.arena.counters().refused_commands, 0);
}

#[tokio::test]
async fn victory_is_claimed_when_the_opponent_left() {
    let world = World::with(ArenaOptions {
        game_keep_alive_ms: 100,
        gone_ms: 600,
        gone_notice_ms: 200,
        ..ArenaOptions::default()
    })
    .await;
    world.house_with(ScriptedOpponent::new("e2e4 g1f3"));
    let bot = world.bot().await;
    let game = world.challenge(60, 0, ColorChoice::White);
    world.until_moves(&game, 4).await;
    world.arena.act(&game, &HouseAction::Leave).unwrap();
    let end = world.finished(&game).await;
    assert_eq!((end.status, end.ending.unwrap().winner), ("timeout", Some(Color::Black)));
    assert_eq!(bot.stop().await.won, 1);
}

#[tokio::test]
async fn several_games_run_side_by_side() {
    let world = World::new().await;
    let mut bot = world.bot_with(Options { concurrency: 3, ..options() }).await;
    let house = HouseSpec { opponent: OpponentKind::Random, delay_ms: 20, ..HouseSpec::named("h") };
    let games = world.arena.burst(&house, &ChallengeSpec::new("h", BOT), 3).unwrap();
    bot.until_playing(3).await;
    let snapshot = bot.live.borrow().values().next().unwrap().borrow().clone();
    assert!(games.contains(&snapshot.id.to_string()));
    for game in &games {
        world.finished(game).await;
    }
    assert_eq!(bot.stop().await.won, 3);
    world.assert_clean();
}

#[tokio::test]
async fn viewers_see_the_game() {
    let world = World::new().await;
    world.house_with(ScriptedOpponent::new("e2e4"));
    let mut bot = world.bot().await;
    let game = world.challenge(60, 0, ColorChoice::White);
    bot.until_playing(1).await;
    let mut view = bot.live.borrow().values().next().unwrap().clone();
    let seen = view.wait_for(|snapshot| snapshot.plies == 2);
    let seen = within("the viewer sees both moves", seen).await.unwrap().clone();
    assert_eq!(seen.id.as_str(), game);
    assert_eq!(seen.opponent().unwrap().name, HOUSE);
    assert_eq!(seen.our_color, Some(Color::Black));
    assert!(seen.thought.is_some());
    world.arena.act(&game, &HouseAction::Resign).unwrap();
    bot.until_playing(0).await;
    bot.stop().await;
}

#[tokio::test]
async fn moves_are_held_back_where_that_is_wanted() {
    let world = World::new().await;
    world.house(OpponentKind::Silent);
    let mut options = options();
    options.game.fake_think_time = true;
    let bot = world.bot_with(options).await;
    let game = world.challenge(40, 0, ColorChoice::White);
    world.reply_first(&game).await;
    world.reply(&game).await;
    world.arena.act(&game, &HouseAction::Resign).unwrap();
    assert_eq!(bot.stop().await.won, 1);
    let answers = world.arena.answer_times(&game);
    let times = answers.iter().map(|(line, request)| request.duration_since(*line));
    let [first, second] = times.collect::<Vec<_>>()[..] else { panic!("{answers:?}") };
    // A fortieth of the clock, from the line that the bot has got by then.
    assert!(second >= ms(900), "{first:?}, then {second:?}");
    world.assert_clean();
}
