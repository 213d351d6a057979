//! The bot in arena tournaments: joining, pairings, slots, berserk, and leaving.

use std::{sync::Arc, time::Duration};

use meitner::{
    arena::{
        ArenaHandle, ArenaOptions, ChallengeSpec, ColorChoice, Endpoint, Fault, FaultRule,
        HouseAction, HouseSpec, OpponentKind, Scope, TournamentPlayer, TournamentSpec,
    },
    daemon::{
        Berserk, MatchmakingOptions, Options, Password, PolicyOptions, ShutdownOptions,
        TournamentOptions,
    },
    platform::lichess::Client,
};
use tokio::time::sleep;

use crate::harness::{BOT, Bot, HOUSE, World, ms, options};

const ID: &str = "bOt4r3nA";
/// What the bot does each second would show within this time.
const WATCH: Duration = Duration::from_millis(2500);

/// A tournament of an hour that pairs at once, with the house player in it.
fn spec() -> TournamentSpec {
    TournamentSpec {
        id: Some(ID.to_owned()),
        pairing_pause_ms: 20,
        players: vec![HOUSE.to_owned()],
        ..TournamentSpec::default()
    }
}

fn in_tournament() -> TournamentOptions {
    TournamentOptions { ids: vec![ID.parse().expect("an id")], ..TournamentOptions::default() }
}

fn playing(tournament: TournamentOptions) -> Options {
    Options { policy: PolicyOptions { tournament, ..PolicyOptions::default() }, ..options() }
}

/// A client whose token may take part in tournaments.
fn entrant(world: &World) -> Arc<Client> {
    let scopes = [Scope::BotPlay, Scope::BoardPlay, Scope::TournamentWrite];
    world.client(&world.arena.add_token(BOT, &scopes).expect("an account"))
}

async fn start(world: &World, options: Options) -> Bot {
    world.bot_of(entrant(world), options).await
}

/// How the bot stands in the tournament, if it has joined.
fn standing(arena: &ArenaHandle) -> Option<TournamentPlayer> {
    let players = arena.tournament(ID)?.players;
    players.into_iter().find(|player| player.user == BOT.to_lowercase())
}

/// The requests for this, by the last part of the path.
fn requests(world: &World, what: &str) -> usize {
    let requests = world.arena.requests();
    requests.iter().filter(|request| request.path.ends_with(&format!("/{what}"))).count()
}

#[tokio::test]
async fn a_tournament_is_played_to_its_end() {
    let world = World::new().await;
    world.house(OpponentKind::Random);
    world.arena.add_tournament(&TournamentSpec { lasts_ms: 5_000, ..spec() }).unwrap();
    let bot = start(&world, playing(in_tournament())).await;
    let has_played = |arena: &ArenaHandle| standing(arena).is_some_and(|bot| bot.games >= 2);
    world.until("two games are played", has_played).await;
    world.until("it is over", |arena| arena.tournament(ID).unwrap().status == "finished").await;
    world.until("the last game ends", |arena| arena.running().is_empty()).await;
    let before = requests(&world, "join");
    // A person is taken once the bot knows that nothing more comes.
    let game = world.challenge(60, 0, ColorChoice::White);
    world.finished(&game).await;
    let summary = bot.stop().await;
    let bot = standing(&world.arena).unwrap();
    assert!(bot.score >= 4, "{bot:?}");
    assert!(summary.won > bot.games && summary.accepted == 1, "{summary:?}");
    assert_eq!(requests(&world, "join"), before, "nothing is asked of what is over");
    assert_eq!(requests(&world, "withdraw"), 0);
    world.assert_clean();
}

#[tokio::test]
async fn a_tournament_is_joined_when_it_begins_with_its_password() {
    let world = World::new().await;
    world.house(OpponentKind::Random);
    let password = Some("s3cret".to_owned());
    let spec = TournamentSpec { starts_in_ms: 1_500, password, ..spec() };
    world.arena.add_tournament(&spec).unwrap();
    let password = Some(Password("s3cret".to_owned().into()));
    let bot = start(&world, playing(TournamentOptions { password, ..in_tournament() })).await;
    let has_played = |arena: &ArenaHandle| standing(arena).is_some_and(|bot| bot.games >= 1);
    world.until("a game is played", has_played).await;
    bot.stop().await;
    world.assert_clean();
}

#[tokio::test]
async fn the_tournaments_of_a_team_are_found() {
    let world = World::new().await;
    world.house(OpponentKind::Random);
    let other = TournamentSpec { id: Some("0therT3m".to_owned()), ..spec() };
    let chess = TournamentSpec {
        id: Some("5tandard".to_owned()),
        variant: "standard".to_owned(),
        ..spec()
    };
    let crew = Some("crew".to_owned());
    for spec in [
        TournamentSpec { team: crew.clone(), ..spec() },
        TournamentSpec { team: crew, ..chess },
        other,
    ] {
        world.arena.add_tournament(&spec).unwrap();
    }
    let teams = vec!["crew".to_owned()];
    let bot = start(&world, playing(TournamentOptions { teams, ..Default::default() })).await;
    let has_played = |arena: &ArenaHandle| standing(arena).is_some_and(|bot| bot.games >= 1);
    world.until("a game is played", has_played).await;
    bot.stop().await;
    let asked: Vec<_> = world.arena.requests().into_iter().map(|request| request.path).collect();
    assert!(asked.contains(&"/api/team/crew/arena".to_owned()), "{asked:?}");
    assert!(!asked.iter().any(|path| path.contains("0therT3m") || path.contains("5tandard")));
    world.assert_clean();
}

#[tokio::test]
async fn what_is_not_for_us_is_not_joined() {
    for spec in [
        TournamentSpec { bots: false, ..spec() },
        TournamentSpec { variant: "standard".to_owned(), ..spec() },
        TournamentSpec { limit_s: 15, ..spec() },
    ] {
        let world = World::new().await;
        world.house(OpponentKind::Random);
        world.arena.add_tournament(&spec).unwrap();
        let bot = start(&world, playing(in_tournament())).await;
        world.until("it has looked", |_| requests(&world, ID) == 1).await;
        let game = world.challenge(60, 0, ColorChoice::White);
        world.finished(&game).await;
        sleep(WATCH).await;
        assert_eq!(requests(&world, "join"), 0, "{spec:?}");
        assert_eq!(bot.stop().await.won, 1);
    }
}

#[tokio::test]
async fn without_the_scope_it_is_tried_once_and_the_bot_plays_on() {
    let world = World::new().await;
    world.house(OpponentKind::Random);
    world.arena.add_tournament(&spec()).unwrap();
    let bot = world.bot_with(playing(in_tournament())).await;
    world.until("it is refused", |arena| arena.counters().unauthorized == 1).await;
    let game = world.challenge(60, 0, ColorChoice::White);
    world.finished(&game).await;
    sleep(WATCH).await;
    assert_eq!(requests(&world, "join"), 1);
    assert_eq!(bot.stop().await.won, 1);
}

/// A bot in a game of the tournament that does not end by itself.
async fn in_a_long_game(world: &World) -> (Bot, String) {
    world.house(OpponentKind::Silent);
    let spec = TournamentSpec { first_move_ms: 60_000, ..spec() };
    world.arena.add_tournament(&spec).expect("made");
    let mut bot = start(world, playing(in_tournament())).await;
    bot.until_playing(1).await;
    let game = world.arena.running()[0].id.clone();
    begin(world, &game).await;
    (bot, game)
}

/// Lets both sides move.
async fn begin(world: &World, game: &str) {
    if world.arena.game(game).expect("a game").white == BOT {
        world.until_moves(game, 1).await;
        world.house_move(game);
        world.until_moves(game, 3).await;
    } else {
        world.reply(game).await;
    }
}

#[tokio::test]
async fn the_end_leaves_the_tournament_and_finishes_the_game() {
    let world = World::new().await;
    let (bot, game) = in_a_long_game(&world).await;
    bot.shutdown.advance();
    let has_left = |arena: &ArenaHandle| standing(arena).is_some_and(|bot| bot.withdrawn);
    world.until("the bot leaves", has_left).await;
    assert!(world.arena.game(&game).unwrap().ending.is_none(), "the game goes on");
    world.arena.act(&game, &HouseAction::Resign).unwrap();
    assert_eq!(bot.end().await.unwrap().won, 1);
    assert_eq!(world.arena.tournament(ID).unwrap().games.len(), 1);
    world.assert_clean();
}

#[tokio::test]
async fn a_bot_that_was_killed_goes_on_in_the_tournament() {
    let world = World::new().await;
    let (bot, game) = in_a_long_game(&world).await;
    bot.kill().await;
    world.until("the bot is gone", |arena| !arena.is_online(BOT)).await;
    let mut bot = start(&world, playing(in_tournament())).await;
    bot.until_playing(1).await;
    world.arena.act(&game, &HouseAction::Resign).unwrap();
    let is_paired = |arena: &ArenaHandle| arena.tournament(ID).unwrap().games.len() == 2;
    world.until("it is paired again", is_paired).await;
    let next = world.arena.tournament(ID).unwrap().games[1].clone();
    begin(&world, &next).await;
    world.arena.act(&next, &HouseAction::Resign).unwrap();
    world.finished(&next).await;
    bot.kill().await;
    assert_eq!(standing(&world.arena).unwrap().score, 4);
    world.assert_clean();
}

#[tokio::test]
async fn a_tournament_that_is_no_longer_wanted_is_left() {
    let world = World::new().await;
    world.house(OpponentKind::Silent);
    world.arena.add_tournament(&TournamentSpec { players: Vec::new(), ..spec() }).unwrap();
    let options = playing(in_tournament());
    let (policy, receiver) = tokio::sync::watch::channel(Arc::new(options.policy.clone()));
    let bot = Bot::start_with_policy(entrant(&world), options, receiver);
    world.until("the bot joins", |arena| standing(arena).is_some()).await;
    policy.send_replace(PolicyOptions::default().into());
    let has_left = |arena: &ArenaHandle| standing(arena).is_some_and(|bot| bot.withdrawn);
    world.until("the bot leaves", has_left).await;
    world.challenge(60, 0, ColorChoice::White);
    world.until("the slot is free", |arena| arena.counters().accepted == 1).await;
    bot.kill().await;
}

#[tokio::test]
async fn whoever_may_be_paired_keeps_a_slot_for_it() {
    let world = World::new().await;
    world.house(OpponentKind::Random);
    let spec = TournamentSpec { players: Vec::new(), lasts_ms: 3_000, ..spec() };
    world.arena.add_tournament(&spec).unwrap();
    let bot = start(&world, playing(in_tournament())).await;
    world.until("the bot joins", |arena| standing(arena).is_some()).await;
    let game = world.challenge(60, 0, ColorChoice::White);
    world.until("it is over", |arena| arena.tournament(ID).unwrap().status == "finished").await;
    assert!(world.arena.game(&game).is_none(), "its slot was kept");
    world.finished(&game).await;
    assert_eq!(bot.stop().await.won, 1);
}

#[tokio::test]
async fn games_of_a_tournament_and_of_a_burst_never_exceed_the_slots() {
    let world = World::new().await;
    world.house(OpponentKind::Random);
    world.arena.add_tournament(&spec()).unwrap();
    let bot = start(&world, Options { concurrency: 2, ..playing(in_tournament()) }).await;
    world.until("the bot joins", |arena| standing(arena).is_some()).await;
    let guest = HouseSpec { opponent: OpponentKind::Random, ..HouseSpec::named("h") };
    let games = world.arena.burst(&guest, &ChallengeSpec::new("h", BOT), 8).unwrap();
    let mut most = 0;
    world
        .until("all are played", |arena| {
            most = most.max(arena.running().len());
            let over = |id: &String| arena.game(id).is_some_and(|game| game.ending.is_some());
            games.iter().all(over) && standing(arena).is_some_and(|bot| bot.games >= 2)
        })
        .await;
    assert!((1..=2).contains(&most), "{most} at once");
    bot.stop().await;
    world.assert_clean();
}

#[tokio::test]
async fn half_of_the_time_is_given_where_the_server_allows_it() {
    let short =
        ArenaOptions { bots_may_berserk: true, game_keep_alive_ms: 100, ..Default::default() };
    let world = World::with(short).await;
    world.house(OpponentKind::Silent);
    world.arena.add_tournament(&TournamentSpec { first_move_ms: 60_000, ..spec() }).unwrap();
    let berserk = TournamentOptions { berserk: Berserk::Always, ..in_tournament() };
    let mut bot = start(&world, playing(berserk)).await;
    bot.until_playing(1).await;
    let game = world.arena.running()[0].id.clone();
    world.until("half is given", |_| requests(&world, "berserk") == 1).await;
    begin(&world, &game).await;
    world.arena.act(&game, &HouseAction::Resign).unwrap();
    world.until("it is counted", |arena| standing(arena).is_some_and(|bot| bot.games == 1)).await;
    assert_eq!(standing(&world.arena).unwrap().score, 3);
    bot.kill().await;
    world.assert_clean();
}

#[tokio::test]
async fn a_server_that_refuses_berserk_is_left_in_peace() {
    let world = World::new().await;
    world.house(OpponentKind::Random);
    world.arena.add_tournament(&spec()).unwrap();
    let berserk = TournamentOptions { berserk: Berserk::Always, ..in_tournament() };
    let bot = start(&world, playing(berserk)).await;
    let has_played = |arena: &ArenaHandle| standing(arena).is_some_and(|bot| bot.games >= 5);
    world.until("five games are played", has_played).await;
    bot.stop().await;
    assert_eq!(requests(&world, "berserk"), 3);
    assert!(standing(&world.arena).unwrap().score >= 10);
    world.assert_clean();
}

#[tokio::test]
async fn a_tournament_is_joined_although_requests_fail() {
    for fault in [Fault::ServerError { status: 502 }, Fault::LostAnswer] {
        let world = World::new().await;
        world.house(OpponentKind::Random);
        world.arena.add_tournament(&spec()).unwrap();
        // The question what it is passes, joining does not.
        world.arena.faults().inject_after(Endpoint::Tournament, fault.clone(), 1);
        let bot = start(&world, playing(in_tournament())).await;
        let has_played = |arena: &ArenaHandle| standing(arena).is_some_and(|bot| bot.games >= 1);
        world.until("a game is played", has_played).await;
        assert_eq!(world.arena.faults().struck(), [(Endpoint::Tournament, fault)]);
        bot.stop().await;
        world.assert_clean();
    }
}

#[tokio::test]
async fn a_battle_of_teams_is_joined_for_our_team() {
    // 2026-11-30: one that was named by its id alone was joined for no team, and refused us.
    for teams in [vec!["crew".to_owned()], vec!["elsewhere".to_owned(), "crew".to_owned()]] {
        let world = World::new().await;
        world.house(OpponentKind::Random);
        let battle = vec!["other".to_owned(), "crew".to_owned()];
        world.arena.add_tournament(&TournamentSpec { battle, ..spec() }).unwrap();
        let bot = start(&world, playing(TournamentOptions { teams, ..in_tournament() })).await;
        let has_played = |arena: &ArenaHandle| standing(arena).is_some_and(|bot| bot.games >= 1);
        world.until("a game is played", has_played).await;
        bot.stop().await;
        assert_eq!(world.arena.counters().refused_commands, 0);
        world.assert_clean();
    }
}

#[tokio::test]
async fn whoever_comes_back_too_soon_is_let_in_after_a_pause() {
    let world = World::new().await;
    world.house(OpponentKind::Random);
    let spec = TournamentSpec { players: Vec::new(), rejoin_pause_ms: 4_000, ..spec() };
    world.arena.add_tournament(&spec).unwrap();
    let options = playing(in_tournament());
    let bot = start(&world, options.clone()).await;
    world.until("the bot joins", |arena| standing(arena).is_some()).await;
    bot.stop().await;
    assert!(standing(&world.arena).unwrap().withdrawn);
    let bot = start(&world, options).await;
    let is_back = |arena: &ArenaHandle| standing(arena).is_some_and(|bot| !bot.withdrawn);
    world.until("the bot is back", is_back).await;
    let joins: Vec<_> = world.arena.requests();
    let joins = joins.iter().filter(|request| request.path.ends_with("/join"));
    assert_eq!(
        joins.map(|request| request.status).collect::<Vec<_>>(),
        [Some(200), Some(400), Some(200)]
    );
    bot.stop().await;
    world.assert_clean();
}

#[tokio::test]
async fn leaving_at_once_leaves_the_tournament_as_well() {
    let world = World::new().await;
    world.house(OpponentKind::Silent);
    world.arena.add_tournament(&TournamentSpec { players: Vec::new(), ..spec() }).unwrap();
    let shutdown = ShutdownOptions { finish_limit: Duration::ZERO, ..ShutdownOptions::default() };
    let bot = start(&world, Options { shutdown, ..playing(in_tournament()) }).await;
    world.until("the bot joins", |arena| standing(arena).is_some()).await;
    world.arena.inject(Endpoint::Tournament, Fault::DelayRequest { ms: 300 });
    bot.stop().await;
    assert!(standing(&world.arena).unwrap().withdrawn);
}

#[tokio::test]
async fn nothing_is_sought_while_the_event_stream_is_down() {
    let world = World::new().await;
    world.house(OpponentKind::Random);
    let machine = HouseSpec {
        title: Some("BOT".to_owned()),
        opponent: OpponentKind::Random,
        ..HouseSpec::named("machine")
    };
    world.arena.add_house(&machine);
    world.arena.add_tournament(&spec()).unwrap();
    let options = Options { concurrency: 2, ..options() };
    let (policy, receiver) = tokio::sync::watch::channel(Arc::new(options.policy.clone()));
    let bot = Bot::start_with_policy(entrant(&world), options, receiver);
    world.until("the bot is online", |arena| arena.is_online(BOT)).await;
    let fault = Fault::ServerError { status: 502 };
    let rule = FaultRule { endpoint: Endpoint::EventStream, fault, rate: 1.0 };
    world.arena.faults().set_rules(vec![rule]);
    world.arena.inject(Endpoint::EventStream, Fault::End);
    world.until("the stream is down", |arena| !arena.is_online(BOT)).await;
    let matchmaking = MatchmakingOptions {
        enabled: true,
        min_games: 0,
        pause: ms(20),
        ..MatchmakingOptions::default()
    };
    let seeking =
        PolicyOptions { matchmaking, tournament: in_tournament(), ..PolicyOptions::default() };
    policy.send_replace(seeking.into());
    sleep(WATCH).await;
    let asked =
        |world: &World| (requests(world, "join") > 0, world.arena.counters().challenges_sent > 0);
    assert_eq!(asked(&world), (false, false), "a game would begin without us");
    world.arena.faults().clear();
    world.until("both are sought", |_| asked(&world) == (true, true)).await;
    bot.stop().await;
    world.assert_clean();
}
