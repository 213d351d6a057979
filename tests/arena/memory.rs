//! What the bot remembers of its games is what the server has of them.

use std::{path::Path, time::Duration};

use meitner::{
    arena::{
        Acceptance, ChallengeSpec, ColorChoice, Endpoint, Fault, HouseAction, HouseSpec,
        OpponentKind,
    },
    daemon::{MatchmakingOptions, Options, PolicyOptions, WeightedClock},
    game::{GameResult, TimeControl},
    pgn::TagName,
    platform::ChallengeClock,
    rules::Color,
    store::{Archive, Epoch, Filter, GameRecord, MissedRecord, Platform, StoreOptions},
};
use rusqlite::Connection;

use crate::harness::{BOT, HOUSE, World, eventually, kept_in, ms, options};

fn remembered(folder: &Path) -> Vec<GameRecord> {
    let archive = Archive::open(folder).expect("it can be read").expect("a file");
    let mut games = archive.games(&Filter::default()).expect("a list");
    games.reverse();
    games.into_iter().map(|listed| archive.with_moves(listed).expect("a game")).collect()
}

#[tokio::test]
async fn a_record_is_complete_and_equals_the_server_s() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new().await;
    world.house(OpponentKind::Greedy);
    let bot = world.bot_with(Options { store: kept_in(folder.path()), ..options() }).await;
    for color in [ColorChoice::White, ColorChoice::Black] {
        let spec = ChallengeSpec::new(HOUSE, BOT).color(color);
        let spec = ChallengeSpec { rated: true, ..spec };
        let game = world.arena.challenge(&spec).unwrap();
        world.finished(&game).await;
    }
    bot.stop().await;
    let (ours, theirs) = (remembered(folder.path()), world.arena.records());
    assert_eq!((ours.len(), theirs.len()), (2, 2));
    for (ours, theirs) in ours.iter().zip(&theirs) {
        let snapshot = world.arena.game(ours.key.id.as_str()).expect("the same id");
        let us = if snapshot.white == BOT { Color::White } else { Color::Black };
        assert_eq!((ours.our_color, ours.key.account.platform), (us, Platform::Lichess));
        assert_eq!(
            [&ours.players[0].name, &ours.players[1].name],
            [&snapshot.white, &snapshot.black]
        );
        let rating = |color: Color| theirs.rating(color);
        assert_eq!(
            Color::ALL.map(|color| ours.players[color.index()].rating),
            Color::ALL.map(rating)
        );
        let diff = [TagName::WHITE_RATING_DIFF, TagName::BLACK_RATING_DIFF][us.index()].clone();
        let diff = theirs.tags.get(&diff).map(|diff| diff.parse::<i32>().unwrap());
        assert!(diff.is_some());
        assert_eq!(ours.rating_diff, diff);
        assert!(ours.rated);
        let TimeControl::Clock { initial, .. } = ours.time_control else { panic!("a clock") };
        assert_eq!(initial, Duration::from_mins(3), "{:?}", snapshot.control);
        assert_eq!(ours.speed.as_deref(), Some("blitz"));

        let moves: Vec<_> = ours.moves.iter().map(|entry| entry.mv).collect();
        assert_eq!(moves, theirs.history().moves());
        let clocks: Vec<_> = ours.moves.iter().map(|entry| entry.clock).collect();
        let told: Vec<_> = theirs.annotations().iter().map(|said| said.clock).collect();
        assert_eq!(clocks, told);
        for (ply, entry) in ours.moves.iter().enumerate() {
            let is_ours = (ply % 2 == 0) == (us == Color::White);
            assert_eq!(entry.lag.is_some(), is_ours, "ply {ply}: {entry:?}");
            assert!(is_ours || entry.evaluation.is_none() && entry.depth.is_none());
        }
        assert!(ours.moves.iter().filter(|entry| entry.evaluation.is_some()).count() >= 2);

        let (end, ending) = (ours.end.as_ref().unwrap(), snapshot.ending.unwrap());
        assert_eq!(end.winner, ending.winner);
        let result = match ending.winner {
            Some(winner) if winner == us => GameResult::Won,
            Some(_) => GameResult::Lost,
            None => GameResult::Drawn,
        };
        assert_eq!(end.result, result);
        assert!(end.at >= ours.started_at);
    }
    world.assert_clean();
}

#[tokio::test]
async fn a_game_is_remembered_while_it_is_played() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new().await;
    world.house(OpponentKind::Silent);
    let bot = world.bot_with(Options { store: kept_in(folder.path()), ..options() }).await;
    let game = world.challenge(60, 0, ColorChoice::White);
    world.reply_first(&game).await;
    world.reply(&game).await;
    let moves = world.arena.game(&game).unwrap().moves;
    assert_eq!(moves.len(), 4);
    let is_known = || {
        let games = Archive::open(folder.path()).unwrap().map(|_| remembered(folder.path()));
        games.is_some_and(|games| games.len() == 1 && games[0].moves.len() == 4)
    };
    eventually("all moves are there", is_known).await;
    let [known] = &remembered(folder.path())[..] else { panic!("one game") };
    assert_eq!(known.end, None);
    // As a power failure would: what the bot thought of these moves stays known.
    bot.kill().await;
    let bot = world.bot_with(Options { store: kept_in(folder.path()), ..options() }).await;
    world.reply(&game).await;
    world.arena.act(&game, &HouseAction::Resign).unwrap();
    world.finished(&game).await;
    bot.stop().await;
    let [whole] = &remembered(folder.path())[..] else { panic!("one game") };
    assert_eq!(whole.moves[..4], known.moves[..]);
    assert_eq!((whole.moves.len(), whole.started_at), (6, known.started_at));
    assert_eq!(whole.end.as_ref().unwrap().result, GameResult::Won);
}

#[tokio::test]
async fn a_game_that_ended_while_the_bot_was_away_is_known_with_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new().await;
    world.house(OpponentKind::Silent);
    world
        .arena
        .add_house(&HouseSpec { opponent: OpponentKind::Silent, ..HouseSpec::named("other") });
    let store = kept_in(folder.path());
    let options = Options { concurrency: 2, store, ..options() };
    let bot = world.bot_with(options.clone()).await;
    let games = [HOUSE, "other"].map(|name| {
        let spec = ChallengeSpec::new(name, BOT).color(ColorChoice::Black);
        world.arena.challenge(&spec).unwrap()
    });
    for game in &games {
        world.until("it begins", |arena| arena.game(game).is_some()).await;
        world.until_moves(game, 1).await;
    }
    let is_known = || {
        Archive::open(folder.path()).is_ok_and(|it| it.is_some())
            && remembered(folder.path()).len() == 2
    };
    eventually("both are remembered", is_known).await;
    bot.kill().await;
    world.arena.act(&games[0], &HouseAction::Abort).unwrap();
    world.finished(&games[0]).await;
    // Moments are whole seconds.
    let began_at = remembered(folder.path())[1].started_at;
    eventually("a second passes", || Epoch::now() > began_at).await;
    let mut bot = world.bot_with(options).await;
    bot.until_playing(1).await;
    world.arena.act(&games[1], &HouseAction::Abort).unwrap();
    world.finished(&games[1]).await;
    bot.stop().await;
    let mut ends: Vec<_> = remembered(folder.path())
        .into_iter()
        .map(|game| (game.key.id.to_string(), game.end.expect("an end").reason))
        .collect();
    ends.sort();
    let mut expected = [0, 1].map(|it: usize| (games[it].clone(), "aborted".to_owned()));
    expected.sort();
    assert_eq!(ends, expected);
}

/// A killed bot leaves a game, in which a move and the end follow. Tells how many moves it has.
async fn decided_out_of_sight(world: &World, folder: &Path) -> usize {
    world.house(OpponentKind::Silent);
    let bot = world.bot_with(Options { store: kept_in(folder), ..options() }).await;
    let game = world.challenge(60, 0, ColorChoice::White);
    world.reply_first(&game).await;
    let is_known = || {
        let archive = Archive::open(folder);
        archive.is_ok_and(|it| it.is_some()) && remembered(folder).len() == 1
    };
    eventually("it is remembered", is_known).await;
    bot.kill().await;
    let seen = world.house_move(&game);
    world.arena.act(&game, &HouseAction::Resign).expect("it runs");
    world.finished(&game).await;
    seen + 1
}

fn is_won_with(folder: &Path, moves: usize) -> bool {
    let [game] = &remembered(folder)[..] else { return false };
    game.moves.len() == moves && game.end.as_ref().is_some_and(|end| end.result == GameResult::Won)
}

#[tokio::test]
async fn a_game_decided_while_the_bot_was_away_is_known_with_its_last_move() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new().await;
    let moves = decided_out_of_sight(&world, folder.path()).await;
    let bot = world.bot_with(Options { store: kept_in(folder.path()), ..options() }).await;
    eventually("its end is known", || is_won_with(folder.path(), moves)).await;
    assert_eq!(bot.stop().await.won, 1);
}

#[tokio::test]
async fn a_game_that_ended_out_of_sight_is_known_though_the_file_is_read_late() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new().await;
    let moves = decided_out_of_sight(&world, folder.path()).await;
    let other = Connection::open(folder.path().join("meitner.db")).unwrap();
    let lock = || other.execute_batch("PRAGMA locking_mode = exclusive; BEGIN EXCLUSIVE").is_ok();
    eventually("the killed bot lets go of the file", lock).await;
    let store = StoreOptions { open_limit: ms(0), retry: ms(50), ..kept_in(folder.path()) };
    let reconcile_interval = ms(100);
    let bot = world.bot_with(Options { store, reconcile_interval, ..options() }).await;
    // The bot has asked for the running games, and knows of none.
    let game = world.challenge(60, 0, ColorChoice::White);
    world.reply_first(&game).await;
    drop(other);
    eventually("its end is known", || {
        let games = remembered(folder.path());
        games.iter().any(|it| it.moves.len() == moves && it.end.is_some())
    })
    .await;
    world.arena.act(&game, &HouseAction::Resign).unwrap();
    world.finished(&game).await;
    let summary = bot.stop().await;
    assert_eq!((summary.won, summary.unknown), (2, 0));
}

#[tokio::test]
async fn a_game_whose_end_cannot_be_learned_is_over_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new().await;
    world.house(OpponentKind::Silent);
    let options = Options { store: kept_in(folder.path()), ..options() };
    let bot = world.bot_with(options.clone()).await;
    let game = world.challenge(60, 0, ColorChoice::Black);
    world.until_moves(&game, 1).await;
    let is_known = || {
        Archive::open(folder.path()).is_ok_and(|it| it.is_some())
            && remembered(folder.path()).len() == 1
    };
    eventually("it is remembered", is_known).await;
    bot.kill().await;
    world.arena.act(&game, &HouseAction::Resign).unwrap();
    world.finished(&game).await;
    let began_at = remembered(folder.path())[0].started_at;
    eventually("a second passes", || Epoch::now() > began_at).await;
    for _ in 0..16 {
        world.arena.inject(Endpoint::GameStream, Fault::ServerError { status: 404 });
    }
    let bot = world.bot_with(options).await;
    let reason = || remembered(folder.path())[0].end.as_ref().map(|end| end.reason.clone());
    eventually("it is given up", || reason().is_some()).await;
    assert_eq!(reason().as_deref(), Some(MissedRecord::REASON));
    assert_eq!(bot.stop().await.unknown, 1);
}

/// Each challenge that we know of: whose, its answer, and why.
fn challenges(folder: &Path) -> Vec<(bool, Option<String>, Option<String>, u32)> {
    let archive = Archive::open(folder).expect("it can be read").expect("a file");
    let counts = archive.challenges(&Filter::default()).expect("a list");
    counts.into_iter().map(|it| (it.is_ours, it.answer, it.reason, it.count)).collect()
}

fn known(
    is_ours: bool,
    answer: &str,
    reason: Option<&str>,
) -> (bool, Option<String>, Option<String>, u32) {
    (is_ours, Some(answer.to_owned()), reason.map(str::to_owned), 1)
}

#[tokio::test]
async fn challenges_to_us_are_remembered_with_their_answers() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new().await;
    world.house(OpponentKind::Random);
    let bot = world.bot_with(Options { store: kept_in(folder.path()), ..options() }).await;
    let strange =
        ChallengeSpec { variant: "chess960".to_owned(), ..ChallengeSpec::new(HOUSE, BOT) };
    world.arena.challenge(&strange).unwrap();
    world.until("it is declined", |arena| arena.counters().declined == 1).await;
    let game = world.challenge(60, 0, ColorChoice::White);
    world.finished(&game).await;
    bot.stop().await;
    let expected = [known(false, "accepted", None), known(false, "declined", Some("variant"))];
    assert_eq!(challenges(folder.path()), expected);
}

#[tokio::test]
async fn our_challenges_are_remembered_with_their_answers() {
    for (accepts, expected) in [
        (Acceptance::Accept, known(true, "accepted", None)),
        (Acceptance::Ignore, known(true, "withdrawn", None)),
        (Acceptance::Decline, known(true, "declined", Some("noBot"))),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let world = World::new().await;
        let title = Some("BOT".to_owned());
        world.arena.add_house(&HouseSpec { title, accepts, ..HouseSpec::named("machine") });
        let clock = ChallengeClock { initial_s: 60, increment_s: 0 };
        let matchmaking = MatchmakingOptions {
            enabled: true,
            time_controls: vec![WeightedClock::of(clock)],
            min_games: 0,
            pause: ms(20),
            // The first is the only one.
            again_after: Duration::from_hours(1),
            ..MatchmakingOptions::default()
        };
        let policy = PolicyOptions { matchmaking, ..PolicyOptions::default() };
        let store = kept_in(folder.path());
        let bot = world.bot_with(Options { store, policy, ..options() }).await;
        let is_known = || {
            Archive::open(folder.path()).is_ok_and(|it| it.is_some())
                && !challenges(folder.path()).is_empty()
        };
        eventually("we challenge", is_known).await;
        bot.stop().await;
        assert_eq!(challenges(folder.path()), [expected]);
    }
}
