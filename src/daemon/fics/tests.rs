//! The loop with a test in the place of the client, and engines that fail.

use std::time::Duration;

use super::*;
use crate::{
    game::{
        Arrived, Command, EndReason, Event, GameFull, GameState, Lag, Player, Status, TimeControl,
        driver,
    },
    platform::fics::{GameTerms, NewGame},
    rules::Color,
    search,
};

/// The loop, and the test in the place of the client.
struct Loop {
    events: mpsc::Sender<fics::Event>,
    /// What the client is asked; kept so that it is asked.
    _requests: mpsc::Receiver<Request>,
    metrics: crate::metrics::Metrics,
    shutdown: Shutdown,
    end: JoinSet<Summary>,
}

impl Loop {
    fn new(change: impl FnOnce(&mut Supervisor)) -> Self {
        let options = Options {
            game: crate::game::Options { nodes: Some(50), ..crate::game::Options::default() },
            engine: search::Options { hash_mb: 1, threads: 1 },
            cores: 1,
            ..Options::default()
        };
        let resources = Resources::new(&options);
        let policy = watch::channel(Arc::new(options.policy.clone()));
        let (events, event_receiver) = mpsc::channel(8);
        let (request_sender, requests) = mpsc::channel(64);
        let (live, client) = (watch::channel(LiveGames::new()).0, CancellationToken::new());
        let account = AccountKey { platform: Platform::Fics, account: "meitner".to_owned() };
        let asks = (request_sender, client.clone());
        let mut supervisor = Supervisor::new(options, policy.1, live, &resources, asks, account);
        change(&mut supervisor);
        let (metrics, shutdown, mut end) =
            (resources.metrics.clone(), Shutdown::new(), JoinSet::new());
        let closing = shutdown.clone();
        end.spawn(async move {
            let _policy = policy.0;
            let mut client_task = JoinSet::new();
            client_task.spawn(async move {
                client.cancelled().await;
                Ok(())
            });
            let beat = resources.metrics.begin_loop("fics");
            supervisor.run(event_receiver, &mut client_task, &closing, &beat).await;
            supervisor.summary
        });
        Self { events, _requests: requests, metrics, shutdown, end }
    }

    async fn event(&self, event: fics::Event) {
        self.events.send(event).await.expect("the loop runs");
    }

    /// A game begins in which we are White.
    async fn game(&self) -> Table {
        let (events, event_receiver) = mpsc::channel(8);
        let (command_sender, commands) = mpsc::channel(8);
        let link = driver::Link { events: event_receiver, commands: command_sender };
        let new = NewGame {
            id: "g1".parse().unwrap(),
            opponent: "Alice".to_owned(),
            is_computer: false,
            is_resumed: false,
            is_guest: false,
            terms: GameTerms { our_color: Color::White, rated: false, clock: None },
            our_rating: None,
            challenge: None,
            link,
        };
        self.event(fics::Event::Game(Box::new(new))).await;
        Table { events, commands }
    }

    fn failures(&self) -> String {
        let text = self.metrics.text();
        let name = "meitner_faults_total{platform=\"fics\",kind=\"game_failed\"} ";
        let found = text.lines().find_map(|line| line.strip_prefix(name));
        found.expect("the figure").to_owned()
    }

    async fn close(mut self) -> Summary {
        self.shutdown.advance();
        self.end.join_next().await.expect("a task").expect("no panic")
    }
}

/// The client's ends of a game's link.
struct Table {
    events: mpsc::Sender<Arrived>,
    commands: mpsc::Receiver<Command>,
}

impl Table {
    async fn event(&self, event: Event) {
        let arrived = Arrived { at: Instant::now(), lag: Lag::default(), event };
        self.events.send(arrived).await.expect("somebody plays");
    }

    async fn full(&self) {
        let full = GameFull {
            our_color: Color::White,
            players: [Player::default(), Player::default()],
            initial_fen: None,
            time_control: TimeControl::Unlimited,
            rated: false,
            tournament: None,
            is_abortable: true,
            draws_are_claimed: true,
            state: state(Status::Running),
        };
        self.event(Event::Full(Box::new(full))).await;
    }

    async fn command(&mut self) -> Option<Command> {
        timeout(Duration::from_secs(30), self.commands.recv()).await.expect("in time")
    }
}

fn state(status: Status) -> GameState {
    GameState {
        moves: Vec::new(),
        remaining: [Duration::from_mins(10); 2],
        increment: [Duration::ZERO; 2],
        status,
        winner: None,
        draw_offer: [false; 2],
        takeback_offer: [false; 2],
        expiration: None,
    }
}

/// 2026-12-01: a game whose engine failed was resigned at once.
#[tokio::test]
async fn a_game_whose_engine_fails_gets_another() {
    let running = Loop::new(|supervisor| supervisor.engines.break_next(2));
    let mut table = running.game().await;
    for _ in 0..2 {
        table.full().await;
        assert_eq!(table.command().await, Some(Command::Reopen));
    }
    table.full().await;
    assert!(matches!(table.command().await, Some(Command::Play { ply: 0, .. })));
    assert_eq!(running.failures(), "2");
    table.event(Event::State(state(Status::Over(EndReason::Aborted)))).await;
    let summary = running.close().await;
    assert_eq!((summary.aborted, summary.unknown), (1, 0), "{summary:?}");
}

#[tokio::test]
async fn a_game_is_given_up_when_no_engine_helps() {
    let running = Loop::new(|supervisor| supervisor.engines.break_next(3));
    let mut table = running.game().await;
    for _ in 0..2 {
        table.full().await;
        assert_eq!(table.command().await, Some(Command::Reopen));
    }
    table.full().await;
    // By this the client knows that it has to resign.
    assert_eq!(table.command().await, None);
    assert_eq!(running.failures(), "3");
    let summary = running.close().await;
    assert_eq!(summary.unknown, 1, "{summary:?}");
}
