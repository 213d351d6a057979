//! What goes wrong on the way, one fault a test. The bot must neither lose the game over it nor
//! send a move that is out of turn.

use std::sync::Arc;

use meitner::{
    arena::{
        ArenaHandle, ChallengeSpec, ColorChoice, Counters, Endpoint, Fault, FaultRule, HouseAction,
        HouseSpec, OpponentKind,
    },
    daemon::Options,
    platform::lichess::Client,
};

use crate::harness::{BOT, Bot, World, eventually, ms, options};

/// A game in which both sides have made their first moves, so that time and faults count.
pub(crate) async fn under_way(world: &World) -> (Bot, String) {
    under_way_with(world, world.client(&world.token), options()).await
}

/// The same, of a bot with this client and these options.
pub(crate) async fn under_way_with(
    world: &World,
    client: Arc<Client>,
    options: Options,
) -> (Bot, String) {
    world.house(OpponentKind::Silent);
    let bot = world.bot_of(client, options).await;
    let game = world.challenge(60, 0, ColorChoice::White);
    world.until("the game starts", |arena| arena.game(&game).is_some()).await;
    world.reply(&game).await;
    (bot, game)
}

/// Ends the game and checks that nothing improper was sent.
pub(crate) async fn conclude(world: World, bot: Bot, game: &str) {
    world.arena.act(game, &HouseAction::Resign).expect("a running game");
    let summary = bot.stop().await;
    assert_eq!((summary.won, summary.unknown), (1, 0), "one game has one result");
    world.assert_clean();
}

/// A game survives this fault of the move that comes next.
async fn move_survives(fault: Fault) {
    let world = World::new().await;
    let (bot, game) = under_way(&world).await;
    world.arena.inject(Endpoint::Move, fault.clone());
    world.reply(&game).await;
    assert_eq!(world.arena.faults().struck(), [(Endpoint::Move, fault)]);
    world.reply(&game).await;
    conclude(world, bot, &game).await;
}

/// A game survives this fault of its stream.
async fn stream_survives(fault: Fault) {
    let world = World::new().await;
    let (bot, game) = under_way(&world).await;
    world.arena.inject(Endpoint::GameStream, fault.clone());
    world.reply(&game).await;
    world.reply(&game).await;
    assert_eq!(world.arena.faults().struck(), [(Endpoint::GameStream, fault)]);
    conclude(world, bot, &game).await;
}

#[tokio::test]
async fn a_move_refused_for_too_many_requests_is_sent_again() {
    let fault = Fault::TooManyRequests { retry_after: None, ratelimit: None, html: true };
    move_survives(fault).await;
}

#[tokio::test]
async fn a_move_refused_with_a_stated_wait_is_sent_again_after_it() {
    let world = World::new().await;
    let (bot, game) = under_way(&world).await;
    let fault = Fault::TooManyRequests { retry_after: Some(2), ratelimit: None, html: false };
    world.arena.inject(Endpoint::Move, fault);
    let start = std::time::Instant::now();
    world.reply(&game).await;
    assert!(start.elapsed() >= ms(2000), "{:?}", start.elapsed());
    conclude(world, bot, &game).await;
}

/// Takes ten seconds, which is the bound that it is about.
#[tokio::test]
async fn a_move_refused_with_an_endless_wait_is_sent_again_within_bounds() {
    let world = World::new().await;
    let (bot, game) = under_way(&world).await;
    let fault = Fault::TooManyRequests { retry_after: Some(600), ratelimit: None, html: false };
    world.arena.inject(Endpoint::Move, fault);
    let start = std::time::Instant::now();
    world.reply(&game).await;
    assert!(start.elapsed() < ms(15_000), "{:?}", start.elapsed());
    conclude(world, bot, &game).await;
}

#[tokio::test]
async fn a_move_whose_answer_is_lost_is_not_sent_twice() {
    move_survives(Fault::LostAnswer).await;
}

#[tokio::test]
async fn a_move_whose_answer_never_comes_is_not_sent_twice() {
    move_survives(Fault::HungAnswer).await;
}

#[tokio::test]
async fn a_move_whose_connection_is_reset_after_it_is_not_sent_twice() {
    move_survives(Fault::ResetAnswer).await;
}

#[tokio::test]
async fn a_move_whose_connection_is_reset_before_it_is_sent_again() {
    move_survives(Fault::Reset).await;
}

#[tokio::test]
async fn a_move_that_was_taken_although_a_front_end_gave_up_is_not_sent_twice() {
    move_survives(Fault::ErrorAfter { status: 504 }).await;
}

#[tokio::test]
async fn a_page_instead_of_an_answer_takes_no_move() {
    for status in [200, 403, 503] {
        move_survives(Fault::Html { status }).await;
    }
}

#[tokio::test]
async fn a_move_that_never_arrived_is_sent_again() {
    move_survives(Fault::HungRequest).await;
}

#[tokio::test]
async fn a_move_that_met_a_failing_server_is_sent_again() {
    move_survives(Fault::ServerError { status: 502 }).await;
}

#[tokio::test]
async fn a_move_refused_for_reasons_of_its_own_is_sent_again() {
    let world = World::new().await;
    let (bot, game) = under_way(&world).await;
    // Two moves that the server judged and refused would make the bot resign.
    for status in [401, 404, 408] {
        world.arena.inject(Endpoint::Move, Fault::ServerError { status });
    }
    world.reply(&game).await;
    assert_eq!(world.arena.faults().struck().len(), 3);
    world.reply(&game).await;
    conclude(world, bot, &game).await;
}

#[tokio::test]
async fn a_late_answer_harms_nothing() {
    move_survives(Fault::Delay { ms: 200 }).await;
}

#[tokio::test]
async fn a_game_stream_that_breaks_is_opened_again() {
    stream_survives(Fault::Cut).await;
}

#[tokio::test]
async fn a_game_stream_that_is_reset_is_opened_again() {
    stream_survives(Fault::Reset).await;
}

#[tokio::test]
async fn an_error_object_as_a_line_of_a_game_is_survived() {
    stream_survives(Fault::ErrorLine { text: "Too many requests".to_owned() }).await;
}

#[tokio::test]
async fn a_list_that_contradicts_is_checked_against_the_whole_game() {
    stream_survives(Fault::Rewrite).await;
}

#[tokio::test]
async fn a_stale_list_is_checked_against_the_whole_game() {
    stream_survives(Fault::Shrink).await;
}

#[tokio::test]
async fn lines_may_come_late() {
    stream_survives(Fault::DelayLine { ms: 300 }).await;
}

#[tokio::test]
async fn a_game_stream_that_ends_is_opened_again() {
    stream_survives(Fault::End).await;
}

#[tokio::test]
async fn a_silent_game_stream_is_opened_again() {
    stream_survives(Fault::Stall).await;
}

#[tokio::test]
async fn lines_may_come_in_pieces() {
    stream_survives(Fault::Split).await;
}

#[tokio::test]
async fn lines_may_come_twice() {
    stream_survives(Fault::Duplicate).await;
}

#[tokio::test]
async fn lines_may_come_together() {
    stream_survives(Fault::Merge).await;
}

#[tokio::test]
async fn lines_may_have_fields_and_types_that_nobody_knows() {
    stream_survives(Fault::UnknownFields).await;
}

#[tokio::test]
async fn lines_may_be_garbage() {
    stream_survives(Fault::Garbage).await;
}

#[tokio::test]
async fn a_game_stream_may_fail_to_open_for_a_while() {
    let world = World::new().await;
    let (bot, game) = under_way(&world).await;
    for status in [502, 503] {
        world.arena.inject(Endpoint::GameStream, Fault::ServerError { status });
    }
    world.arena.inject(Endpoint::GameStream, Fault::Cut);
    eventually("all faults strike", || world.arena.faults().struck().len() == 3).await;
    world.reply(&game).await;
    conclude(world, bot, &game).await;
}

#[tokio::test]
async fn a_game_stream_may_be_refused_for_a_while() {
    let world = World::new().await;
    let (bot, game) = under_way(&world).await;
    for status in [401, 403, 400, 404, 404] {
        world.arena.inject(Endpoint::GameStream, Fault::ServerError { status });
    }
    world.arena.inject(Endpoint::GameStream, Fault::Cut);
    eventually("all faults strike", || world.arena.faults().struck().len() == 6).await;
    world.reply(&game).await;
    assert_eq!(world.arena.counters().game_streams, 2);
    conclude(world, bot, &game).await;
}

/// Takes ten seconds, which is the wait that it is about.
#[tokio::test]
async fn a_game_stream_with_too_many_requests_is_not_left_for_a_minute() {
    let world = World::new().await;
    let (bot, game) = under_way(&world).await;
    let fault = Fault::TooManyRequests { retry_after: Some(60), ratelimit: None, html: false };
    world.arena.inject(Endpoint::GameStream, fault);
    world.arena.inject(Endpoint::GameStream, Fault::Cut);
    eventually("both faults strike", || world.arena.faults().struck().len() == 2).await;
    let start = std::time::Instant::now();
    world.reply(&game).await;
    assert!(start.elapsed() < ms(15_000), "{:?}", start.elapsed());
    conclude(world, bot, &game).await;
}

#[tokio::test]
async fn a_game_that_was_given_up_but_still_runs_is_taken_up_again() {
    let world = World::new().await;
    let (mut bot, game) = under_way(&world).await;
    let refused = Fault::ServerError { status: 404 };
    for _ in 0..4 {
        world.arena.inject(Endpoint::GameStream, refused.clone());
    }
    world.arena.inject(Endpoint::GameStream, Fault::Cut);
    eventually("it is given up", || world.arena.faults().struck().len() == 5).await;
    bot.until_playing(1).await;
    world.reply(&game).await;
    world.reply(&game).await;
    conclude(world, bot, &game).await;
}

#[tokio::test]
async fn a_game_that_ended_out_of_sight_is_counted_once_with_its_result() {
    let world = World::new().await;
    let (bot, game) = under_way(&world).await;
    for _ in 0..4 {
        world.arena.inject(Endpoint::GameStream, Fault::ServerError { status: 404 });
    }
    world.arena.inject(Endpoint::GameStream, Fault::Cut);
    eventually("it is out of sight", || !world.arena.faults().struck().is_empty()).await;
    world.arena.act(&game, &HouseAction::Resign).expect("a running game");
    eventually("it is given up", || world.arena.faults().struck().len() == 5).await;
    let summary = bot.stop().await;
    assert_eq!((summary.won, summary.unknown), (1, 0), "{summary:?}");
}

#[tokio::test]
async fn an_event_stream_that_dies_is_opened_again_and_replays_harm_nothing() {
    let world = World::new().await;
    let (bot, game) = under_way(&world).await;
    let streams = |arena: &ArenaHandle| arena.counters().event_streams;
    for (number, fault) in [(2, Fault::Cut), (3, Fault::End), (4, Fault::Stall)] {
        world.arena.inject(Endpoint::EventStream, fault);
        world.until("the event stream is back", |arena| streams(arena) == number).await;
    }
    world.reply(&game).await;
    assert_eq!(world.arena.counters().game_streams, 1, "gameStart was replayed three times");
    conclude(world, bot, &game).await;
}

#[tokio::test]
async fn a_new_game_is_found_after_the_event_stream_failed() {
    let world = World::new().await;
    world.house(OpponentKind::Random);
    let bot = world.bot().await;
    world.arena.inject(Endpoint::EventStream, Fault::ServerError { status: 503 });
    world.arena.inject(Endpoint::EventStream, Fault::Cut);
    eventually("the stream dies", || world.arena.faults().struck().len() == 2).await;
    let game = world.challenge(60, 0, ColorChoice::White);
    world.finished(&game).await;
    assert_eq!(bot.stop().await.won, 1);
    world.assert_clean();
}

#[tokio::test]
async fn a_game_survives_an_outage() {
    let world = World::new().await;
    let (bot, game) = under_way(&world).await;
    world.arena.begin_outage(ms(1500));
    world.house_move(&game);
    world.until_moves(&game, 4).await;
    world.reply(&game).await;
    conclude(world, bot, &game).await;
}

#[tokio::test]
async fn a_bot_that_was_killed_takes_its_game_up_again() {
    let world = World::new().await;
    let (bot, game) = under_way(&world).await;
    bot.kill().await;
    world.until("the bot is gone", |arena| !arena.is_online(crate::harness::BOT)).await;
    world.house_move(&game);
    let bot = world.bot().await;
    world.until_moves(&game, 4).await;
    world.reply(&game).await;
    conclude(world, bot, &game).await;
}

#[tokio::test]
async fn a_resignation_is_tried_again() {
    let world = World::new().await;
    let (bot, game) = under_way(&world).await;
    world.arena.inject(Endpoint::GameCommand, Fault::ServerError { status: 503 });
    bot.shutdown.advance();
    bot.shutdown.advance();
    assert_eq!(world.finished(&game).await.status, "resign");
    assert_eq!(bot.end().await.unwrap().lost, 1);
}

#[tokio::test]
async fn a_resignation_is_tried_again_until_it_works() {
    let world = World::new().await;
    let (bot, game) = under_way(&world).await;
    let too_many = Fault::TooManyRequests { retry_after: Some(60), ratelimit: None, html: false };
    world.arena.inject(Endpoint::GameCommand, too_many);
    world.arena.inject(Endpoint::GameCommand, Fault::ServerError { status: 403 });
    bot.shutdown.advance();
    bot.shutdown.advance();
    assert_eq!(world.finished(&game).await.status, "resign");
    assert_eq!(bot.end().await.unwrap().lost, 1);
}

#[tokio::test]
async fn whole_games_survive_faults_at_random() {
    let world = World::new().await;
    world.house(OpponentKind::Random);
    let bot = world.bot().await;
    let rule = |endpoint, fault, rate| FaultRule { endpoint, fault, rate };
    world.arena.faults().set_rules(vec![
        rule(Endpoint::Move, Fault::LostAnswer, 0.05),
        rule(Endpoint::Move, Fault::ServerError { status: 502 }, 0.05),
        rule(Endpoint::Move, Fault::HungRequest, 0.03),
        rule(Endpoint::GameStream, Fault::Cut, 0.05),
        rule(Endpoint::GameStream, Fault::Duplicate, 0.2),
        rule(Endpoint::GameStream, Fault::Garbage, 0.03),
        rule(Endpoint::GameStream, Fault::Split, 0.2),
    ]);
    for color in [ColorChoice::White, ColorChoice::Black] {
        let game = world.challenge(120, 1, color);
        world.finished(&game).await;
    }
    world.arena.faults().clear();
    assert_eq!(bot.stop().await.won, 2);
    let Counters { illegal_moves, untimely_moves, flags_lost, .. } = world.arena.counters();
    assert_eq!((illegal_moves, untimely_moves, flags_lost), (0, 0, 0));
}

/// Four opponents play five games each, all at once, while streams are cut, doubled and split and
/// requests are refused. No move may be illegal, no game lost on time, none stuck.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_games_four_at_a_time_survive_a_storm() {
    let world = World::new().await;
    let bot = world.bot_with(Options { concurrency: 4, ..options() }).await;
    let too_many = Fault::TooManyRequests { retry_after: None, ratelimit: None, html: true };
    let rule = |endpoint, fault, rate| FaultRule { endpoint, fault, rate };
    world.arena.faults().set_rules(vec![
        rule(Endpoint::GameStream, Fault::Cut, 0.04),
        rule(Endpoint::GameStream, Fault::Duplicate, 0.2),
        rule(Endpoint::GameStream, Fault::Split, 0.2),
        rule(Endpoint::GameStream, Fault::ServerError { status: 502 }, 0.04),
        rule(Endpoint::Move, too_many, 0.05),
        rule(Endpoint::Move, Fault::ServerError { status: 502 }, 0.04),
    ]);
    let opponents = ["h-1", "h-2", "h-3", "h-4"].map(|name| {
        world
            .arena
            .add_house(&HouseSpec { opponent: OpponentKind::Greedy, ..HouseSpec::named(name) });
        let world = &world;
        async move {
            for _ in 0..5 {
                let spec = ChallengeSpec::new(name, BOT).clock(ms(60_000), ms(1000));
                let game = world.arena.challenge(&spec).expect("a challenge");
                assert!(world.finished(&game).await.ending.is_some());
            }
        }
    });
    futures::future::join_all(opponents).await;
    let kinds: std::collections::HashSet<_> =
        world.arena.faults().struck().into_iter().map(|(_, fault)| format!("{fault:?}")).collect();
    assert!(kinds.len() >= 5, "the storm blew: {kinds:?}");
    world.arena.faults().clear();
    let summary = bot.stop().await;
    let Counters { illegal_moves, malformed_moves, flags_lost, .. } = world.arena.counters();
    assert_eq!((illegal_moves, malformed_moves, flags_lost), (0, 0, 0), "{summary:?}");
    assert_eq!(world.arena.finished().len(), 20);
    assert_eq!(summary.won + summary.drawn + summary.lost, 20, "{summary:?}");
    println!("{summary:?}");
}
