//! The thin shell around a session: connects it to an engine and to a platform's adapter.
//!
//! One driver plays one game and returns its end. It owns no task: whoever starts games awaits
//! [`run`] in a task of its own, beside the adapter's.

use std::{sync::Arc, time::Duration, time::Instant};

use tokio::{
    sync::{mpsc, oneshot, watch},
    time::{sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, info, warn};

use crate::{
    game::{
        Action, Arrived, Command, Ending, Evaluation, Event, Found, Input, Lag, LostReason, Reply,
        Scoresheet, SearchRequest, Session, Snapshot, Thought, WaitingNames,
        desk::{Call, Desk, Seat},
        scoresheet::{Scorer, Seen},
    },
    search::{self, Report, SearchId, Update},
};

/// A stopped search reports within 5 ms by its contract. One that takes this long is broken.
const STOP_LIMIT: Duration = Duration::from_secs(2);

/// The engine ended without telling what it found. It cannot be used any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the engine failed")]
pub struct EngineFailedError;

/// How the driver reaches a platform's adapter.
#[derive(Debug)]
pub struct Link {
    /// What the server says. When the channel is full the adapter holds lines back, in order.
    pub events: mpsc::Receiver<Arrived>,
    /// What the server is told. The adapter always drains it, so that it fills up only if the
    /// adapter hangs, and then the game is lost anyway.
    pub commands: mpsc::Sender<Command>,
}

/// Those who follow a game besides its players.
pub struct Observers {
    /// Get the newest snapshot after each change.
    pub snapshots: watch::Sender<Snapshot>,
    /// Is called with each change of the game's sheet, and must not block.
    pub on_sheet: Box<dyn FnMut(&Scoresheet) + Send>,
}

/// Plays a game to its end.
///
/// An engine of its own is told to forget its last game first, and is idle again on return. `quit` makes the session leave the game (abort or resign); the
/// end is still awaited, so the caller sets the limit for that. `waiting` tells who waits for a game,
/// in case that somebody asks.
///
/// # Errors
///
/// [`EngineFailedError`] if the engine fails. The game goes on, and can be taken up again with
/// another engine, on the same link if the adapter tells everything again.
pub async fn run(
    session: Session,
    desk: Desk,
    link: &mut Link,
    observers: Observers,
    mut waiting: watch::Receiver<WaitingNames>,
    quit: CancellationToken,
) -> Result<Ending, EngineFailedError> {
    desk.new_game();
    waiting.mark_changed();
    let mut driver = Driver {
        session,
        desk,
        link,
        observers,
        scorer: Scorer::default(),
        waiting,
        wanted: None,
        search: None,
        stopped: None,
        stopwatch: Stopwatch::default(),
        reply: None,
        has_quit: false,
    };
    let ending = driver.play(quit).await;
    driver.stop_search();
    driver.wait_for_rest().await;
    ending
}

struct Driver<'a> {
    session: Session,
    desk: Desk,
    link: &'a mut Link,
    observers: Observers,
    scorer: Scorer,
    waiting: watch::Receiver<WaitingNames>,
    /// The search that is to begin when an engine can be had.
    wanted: Option<SearchRequest>,
    search: Option<RunningSearch>,
    /// The last search that was stopped on an engine of our own. It may not have reported yet.
    stopped: Option<RunningSearch>,
    stopwatch: Stopwatch,
    /// What our last move took.
    reply: Option<Reply>,
    has_quit: bool,
}

/// Takes the time of a move of ours, in its parts.
#[derive(Debug, Default)]
struct Stopwatch {
    /// How long the running search had to wait for its beginning.
    before: Duration,
    /// When it began, or when our turn did if it pondered.
    began: Option<Instant>,
    /// When it ended, by its own thread.
    ended: Option<Instant>,
}

impl Stopwatch {
    /// A search begins that answers a line which arrived then, if it answers one.
    fn begin(&mut self, arrived: Option<Instant>) {
        let now = Instant::now();
        let before = arrived.map(|at| now.saturating_duration_since(at));
        *self = Self { before: before.unwrap_or_default(), began: Some(now), ended: None };
    }

    /// A move is handed on: how long that took without the search, and the search. A move that needed
    /// none answers a line that arrived then.
    fn stop(&mut self, arrived: Option<Instant>) -> (Duration, Option<Duration>) {
        let now = Instant::now();
        match std::mem::take(self) {
            Self { before, began: Some(began), ended: Some(ended) } => {
                let thinking = ended.saturating_duration_since(began);
                (before + now.saturating_duration_since(ended), Some(thinking))
            }
            _ => (arrived.map(|at| now.saturating_duration_since(at)).unwrap_or_default(), None),
        }
    }
}

/// The channels of one search. Those of a stopped search are dropped with it, so that nothing it
/// says later can be taken for news of the next.
struct RunningSearch {
    id: SearchId,
    seat: Seat,
    /// When it is told to come to its end, if it runs on idle cores until then.
    call: Option<Call>,
    report: oneshot::Receiver<(Report, Instant)>,
    /// Only the newest matters, and the engine's thread never waits for us.
    info: watch::Receiver<Option<search::Info>>,
}

impl Driver<'_> {
    async fn play(&mut self, quit: CancellationToken) -> Result<Ending, EngineFailedError> {
        loop {
            let input = self.next_input(&quit).await?;
            if let Some(ending) = self.step(input).await {
                return Ok(ending);
            }
        }
    }

    async fn next_input(&mut self, quit: &CancellationToken) -> Result<Input, EngineFailedError> {
        loop {
            let deadline = self.session.deadline();
            let call = self.search.as_ref().and_then(|search| search.call);
            let (report, info) = match &mut self.search {
                Some(search) => (Some(&mut search.report), Some(&mut search.info)),
                None => (None, None),
            };
            return Ok(tokio::select! {
                // The server's word first: it may make the search's answer worthless.
                biased;
                arrived = self.link.events.recv() => Input::Server(arrived.unwrap_or_else(|| {
                    Arrived {
                        at: Instant::now(),
                        lag: Lag::default(),
                        event: Event::Lost(LostReason::Disconnected),
                    }
                })),
                report = reported(report) => Input::Found(self.found(report)?),
                thought = thought(info) => Input::Thought(thought),
                () = at(deadline) => Input::Tick,
                () = at(call.map(|call| call.due)) => {
                    self.call_search();
                    continue;
                }
                seat = self.desk.wait(), if self.wanted.is_some() => {
                    if let Some(request) = self.wanted.take() {
                        self.begin_search(seat, request);
                    }
                    continue;
                }
                // Without the other end nobody waits.
                Ok(()) = self.waiting.changed() => {
                    Input::Waiting(Arc::clone(&self.waiting.borrow_and_update()))
                }
                () = quit.cancelled(), if !self.has_quit => {
                    self.has_quit = true;
                    Input::Quit
                }
            });
        }
    }

    /// Takes in the end of the running search.
    fn found(&mut self, end: Option<(Report, Instant)>) -> Result<Found, EngineFailedError> {
        let id = self.search.take().map(|search| search.id);
        let (report, at) = end.filter(|end| Some(end.0.id) == id).ok_or(EngineFailedError)?;
        self.stopwatch.ended = Some(at);
        let thought = thought_of(&report.info);
        Ok(Found { best: report.best, ponder: report.ponder, thought })
    }

    /// Hands one input to the session and carries out its answer.
    async fn step(&mut self, input: Input) -> Option<Ending> {
        let was_known = self.session.players().is_some();
        let arrived = match &input {
            Input::Server(arrived) => Some(arrived.at),
            _ => None,
        };
        let (seen, now) = (Seen::of(&input), Instant::now());
        if matches!(input, Input::Tick) {
            // A move that was held back on purpose counts as thought about until now.
            self.stopwatch.ended = self.stopwatch.ended.map(|_| now);
        }
        let (mut ending, mut played) = (None, None);
        let actions = self.session.handle(input, now);
        let is_sheet_new = self.scorer.follow(&seen, &self.session, &actions, now);
        for action in actions {
            match action {
                Action::Send(command) => {
                    let ply = match &command {
                        Command::Play { ply, .. } => Some(*ply),
                        _ => None,
                    };
                    self.send(command).await;
                    played = played.or(ply.map(|ply| (ply, self.stopwatch.stop(arrived))));
                }
                Action::Search(request) => {
                    if !request.limits.ponder {
                        self.stopwatch.begin(arrived);
                    }
                    self.start_search(*request);
                }
                Action::PonderHit { at } => {
                    if let Some(search) = &self.search {
                        search.seat.engine.ponder_hit_at(at);
                    }
                    self.stopwatch.begin(arrived);
                }
                Action::StopSearch => self.stop_search(),
                Action::Alert(trouble) if trouble.is_fatal() => error!("{trouble}"),
                Action::Alert(trouble) => warn!("{trouble}"),
                Action::Finish(end) => ending = Some(end),
            }
        }
        // Moves go first.
        if let Some(sheet) = self.scorer.sheet().filter(|_| is_sheet_new) {
            (self.observers.on_sheet)(sheet);
        }
        let mut snapshot = self.session.snapshot();
        if let Some((ply, (latency, thinking))) = played {
            let time_left = snapshot.our_time_left(Instant::now());
            self.reply = Some(Reply { ply, latency, thinking, time_left });
        }
        snapshot.reply = self.reply;
        if !was_known && self.session.players().is_some() {
            log_start(&snapshot);
        }
        self.observers.snapshots.send_replace(snapshot);
        ending
    }

    async fn send(&mut self, command: Command) {
        debug!(?command, "command");
        if self.link.commands.send(command).await.is_err() {
            // The adapter ended. Its last event, or the end of its channel, follows.
            debug!("the adapter takes no more commands");
        }
    }

    /// Begins a search, as soon as there is an engine for it.
    fn start_search(&mut self, request: SearchRequest) {
        match self.desk.seat() {
            Some(seat) => self.begin_search(seat, request),
            None => self.wanted = Some(request),
        }
    }

    fn begin_search(&mut self, seat: Seat, request: SearchRequest) {
        let SearchRequest { history, mut limits } = request;
        let call = seat.begin(&mut limits, Instant::now());
        let (report_sender, report) = oneshot::channel();
        let (info_sender, info) = watch::channel(None);
        let mut report_sender = Some(report_sender);
        let listener = move |update| match update {
            Update::Info(info) => {
                info_sender.send_replace(Some(info));
            }
            // Nothing that a decision needs.
            Update::Progress(_) => {}
            Update::Report(report) => {
                if let Some(sender) = report_sender.take() {
                    // Nobody listens any more when the search was stopped and given up.
                    let _ = sender.send((report, Instant::now()));
                }
            }
        };
        let id = seat.engine.search(history, limits, Box::new(listener));
        self.search = Some(RunningSearch { id, seat, call, report, info });
    }

    /// Most of the time of a search on idle cores is over: the rest is its own.
    fn call_search(&mut self) {
        if let Some(search) = &mut self.search
            && let Some(Call { began, .. }) = search.call.take()
        {
            search.seat.engine.ponder_hit_at(began);
        }
    }

    /// Stops the running search, if there is one, and drops its report. The next one may be started
    /// at once, for the engine runs one after the other: no reply of ours waits for a search that is
    /// of no use any more. An engine on loan goes to the next game.
    fn stop_search(&mut self) {
        self.wanted = None;
        if let Some(search) = self.search.take() {
            search.seat.engine.stop();
            self.stopped = Some(search).filter(|search| !search.seat.is_shared());
        }
    }

    /// Waits until the engine has ended the search that was stopped last.
    async fn wait_for_rest(&mut self) {
        let Some(RunningSearch { id, report, .. }) = self.stopped.take() else { return };
        match timeout(STOP_LIMIT, report).await {
            Ok(Ok(_)) => {}
            Ok(Err(_)) => error!(?id, "the engine dropped a search without a report"),
            Err(_) => error!(?id, limit_s = STOP_LIMIT.as_secs(), "the engine does not stop"),
        }
    }
}

/// The report of the running search, `None` if the engine dropped it; waits for ever if no search
/// runs. Cancel-safe.
async fn reported(
    report: Option<&mut oneshot::Receiver<(Report, Instant)>>,
) -> Option<(Report, Instant)> {
    match report {
        Some(report) => report.await.ok(),
        None => std::future::pending().await,
    }
}

/// The next progress of the running search; waits for ever if there is none. Cancel-safe.
async fn thought(info: Option<&mut watch::Receiver<Option<search::Info>>>) -> Thought {
    if let Some(info) = info {
        while info.changed().await.is_ok() {
            if let Some(info) = info.borrow_and_update().as_ref() {
                return thought_of(info);
            }
        }
    }
    std::future::pending().await
}

fn thought_of(info: &search::Info) -> Thought {
    Thought {
        depth: info.depth,
        evaluation: Evaluation {
            centipawns: info.score.centipawns(),
            mate_in: info.score.mate_in(),
        },
        nodes: info.nodes,
        nps: info.nps(),
        pv: info.pv.clone(),
    }
}

async fn at(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}

fn log_start(snapshot: &Snapshot) {
    let opponent = snapshot.opponent().map_or("?", |player| player.name.as_str());
    let rating = snapshot.opponent().and_then(|player| player.rating);
    let color = snapshot.our_color.map(|color| color.to_string()).unwrap_or_default();
    info!(opponent, rating, color, rated = snapshot.rated, plies = snapshot.plies, "playing");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        game::desk::SpareEngine,
        game::{
            ChatLine, GameFull, GameResult, GameState, Options, Phase, Player, Room, Status,
            TimeControl,
        },
        rules::Color,
        search::{Engine, Scheduler},
    };

    /// A driver that plays White in memory, with both ends of its link.
    struct Table {
        events: mpsc::Sender<Arrived>,
        commands: mpsc::Receiver<Command>,
        snapshots: watch::Receiver<Snapshot>,
        quit: CancellationToken,
        end: tokio::task::JoinSet<Result<Ending, EngineFailedError>>,
    }

    impl Table {
        fn new(options: Options) -> Self {
            Self::at(Desk::Own(Arc::new(Engine::new(search::Options::default()))), options)
        }

        fn at(desk: Desk, options: Options) -> Self {
            let session = Session::new("abcd1234".parse().unwrap(), options);
            let (events, event_receiver) = mpsc::channel(8);
            let (command_sender, commands) = mpsc::channel(8);
            let (snapshot_sender, snapshots) = watch::channel(session.snapshot());
            let mut link = Link { events: event_receiver, commands: command_sender };
            let quit = CancellationToken::new();
            let mut end = tokio::task::JoinSet::new();
            let waiting = watch::channel(WaitingNames::default()).1;
            let observers =
                Observers { snapshots: snapshot_sender, on_sheet: Box::new(|_: &Scoresheet| {}) };
            let leave = quit.clone();
            end.spawn(
                async move { run(session, desk, &mut link, observers, waiting, leave).await },
            );
            Self { events, commands, snapshots, quit, end }
        }

        async fn event(&self, event: Event) {
            self.events
                .send(Arrived { at: Instant::now(), lag: Lag::default(), event })
                .await
                .unwrap();
        }

        async fn full(&self, moves: &str) {
            let full = GameFull {
                our_color: Color::White,
                players: [Player::default(), Player::default()],
                initial_fen: None,
                time_control: TimeControl::Unlimited,
                rated: false,
                tournament: None,
                is_abortable: true,
                draws_are_claimed: false,
                state: state(moves),
            };
            self.event(Event::Full(Box::new(full))).await;
        }

        async fn command(&mut self) -> Command {
            let command = timeout(Duration::from_secs(10), self.commands.recv());
            command.await.expect("a command in time").expect("a driver")
        }

        async fn end(mut self) -> Ending {
            self.end.join_next().await.unwrap().unwrap().unwrap()
        }
    }

    fn state(moves: &str) -> GameState {
        GameState {
            moves: moves.split_whitespace().map(str::to_owned).collect(),
            remaining: [Duration::from_mins(10); 2],
            increment: [Duration::ZERO; 2],
            status: Status::Running,
            winner: None,
            draw_offer: [false; 2],
            takeback_offer: [false; 2],
            expiration: None,
        }
    }

    fn ply_of(command: &Command) -> usize {
        let Command::Play { ply, .. } = command else { panic!("{command:?}") };
        *ply
    }

    #[tokio::test]
    async fn the_engine_answers_each_turn() {
        let mut table = Table::new(Options { nodes: Some(100), ..Options::default() });
        table.full("").await;
        assert_eq!(ply_of(&table.command().await), 0);
        table.event(Event::State(state("e2e4 e7e5"))).await;
        assert_eq!(ply_of(&table.command().await), 2);
        assert!(table.snapshots.borrow().thought.is_some());
    }

    #[tokio::test]
    async fn what_a_move_took_is_told_in_its_parts() {
        let nodes = Some(100);
        let mut table = Table::new(Options { nodes, ..Options::default() });
        table.full("e2e4 e7e5").await;
        assert_eq!(ply_of(&table.command().await), 2);
        let of_ply = |ply| move |snapshot: &Snapshot| snapshot.reply.is_some_and(|r| r.ply == ply);
        let reply = table.snapshots.wait_for(of_ply(2)).await.unwrap().reply.unwrap();
        assert!(reply.thinking.is_some_and(|time| !time.is_zero()), "{reply:?}");
        assert!(!reply.latency.is_zero(), "{reply:?}");
        assert!(reply.time_left.is_some_and(|left| left <= Duration::from_mins(10)), "{reply:?}");
    }

    #[test]
    fn a_move_without_a_search_is_measured_from_its_line() {
        let arrived = Instant::now().checked_sub(Duration::from_secs(3)).unwrap();
        let (latency, thinking) = Stopwatch::default().stop(Some(arrived));
        assert!(latency >= Duration::from_secs(3));
        assert_eq!(thinking, None);
        // One that waited on purpose answers no line.
        assert_eq!(Stopwatch::default().stop(None), (Duration::ZERO, None));
    }

    #[tokio::test]
    async fn a_search_of_a_position_that_is_gone_says_nothing() {
        let untimed_move_time = Duration::from_millis(300);
        let mut table = Table::new(Options { untimed_move_time, ..Options::default() });
        table.full("e2e4 e7e5").await;
        // The opponent takes the move back, and plays another one after a while.
        table.event(Event::State(state("e2e4"))).await;
        tokio::time::sleep(2 * untimed_move_time).await;
        assert!(table.commands.try_recv().is_err());
        table.event(Event::State(state("e2e4 f7f6"))).await;
        let Command::Play { ply: 2, mv, .. } = table.command().await else { panic!() };
        let mut history = crate::rules::History::default();
        history.play_uci("e2e4").unwrap();
        history.play_uci("f7f6").unwrap();
        assert!(history.position().is_legal(mv));
    }

    #[tokio::test]
    async fn questions_and_offers_are_answered_while_the_engine_thinks() {
        let untimed_move_time = Duration::from_mins(1);
        let mut table = Table::new(Options { untimed_move_time, ..Options::default() });
        table.full("e2e4 e7e5").await;
        table.snapshots.wait_for(|snapshot| snapshot.thought.is_some()).await.unwrap();
        let (from, text) = ("somebody".to_owned(), "!engine".to_owned());
        table.event(Event::Chat(ChatLine { room: Room::Spectator, from, text })).await;
        assert_eq!(table.command().await.kind(), "chat");
        let offers = [false, true];
        table.event(Event::State(GameState { draw_offer: offers, ..state("e2e4 e7e5") })).await;
        assert_eq!(table.command().await, Command::DeclineDraw);
        table.event(Event::State(GameState { takeback_offer: offers, ..state("e2e4 e7e5") })).await;
        assert_eq!(table.command().await, Command::AnswerTakeback(false));
    }

    #[tokio::test]
    async fn quitting_stops_the_search_and_awaits_the_end() {
        let mut table = Table::new(Options::default());
        table.full("e2e4 e7e5").await;
        table.snapshots.wait_for(|snapshot| snapshot.phase == Phase::OurTurn).await.unwrap();
        table.quit.cancel();
        assert_eq!(table.command().await, Command::Resign);
        let status = Status::Over(crate::game::EndReason::Resign);
        let winner = Some(Color::Black);
        table.event(Event::State(GameState { status, winner, ..state("e2e4 e7e5") })).await;
        assert_eq!(table.end().await.result, GameResult::Lost);
    }

    #[tokio::test]
    async fn games_take_turns_on_the_spare_engine() {
        let spare = SpareEngine::new(search::Options::default(), Scheduler::new(1));
        let untimed_move_time = Duration::from_millis(200);
        let options = Options { untimed_move_time, ..Options::default() };
        let table = |options| Table::at(Desk::Shared(spare.clone()), options);
        let (mut one, mut other) = (table(options.clone()), table(options.clone()));
        one.full("").await;
        other.full("").await;
        assert_eq!(ply_of(&one.command().await), 0);
        assert_eq!(ply_of(&other.command().await), 0);
        assert!(one.snapshots.borrow().thought.is_some(), "it has thought");
        one.event(Event::State(state("e2e4 e7e5"))).await;
        assert_eq!(ply_of(&one.command().await), 2, "and again, on a new engine");
        // One that has days is stopped by a takeback, and lets the other have its turn.
        let untimed_move_time = Duration::from_mins(10);
        let slow = table(Options { untimed_move_time, ..options });
        slow.full("e2e4 e7e5").await;
        let mut thinking = slow.snapshots.clone();
        thinking.wait_for(|snapshot| snapshot.thought.is_some()).await.unwrap();
        other.event(Event::State(state("e2e4 e7e5"))).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert!(other.commands.try_recv().is_err(), "it waits for its turn");
        slow.event(Event::State(state("e2e4"))).await;
        assert_eq!(ply_of(&other.command().await), 2);
    }

    /// A game with a clock has the only core, and the one that has days gets it for the end of its time.
    #[tokio::test]
    async fn a_search_without_an_idle_core_still_finds_a_move() {
        let scheduler = Scheduler::new(1);
        let busy = Engine::with_scheduler(search::Options::default(), &scheduler);
        let infinite = search::Limits { infinite: true, ..search::Limits::default() };
        busy.search(crate::rules::History::default(), infinite, Box::new(|_| {}));
        let spare = SpareEngine::new(search::Options::default(), scheduler);
        let untimed_move_time = Duration::from_secs(2);
        let options = Options { untimed_move_time, ..Options::default() };
        let mut table = Table::at(Desk::Shared(spare), options);
        table.full("e2e4 e7e5").await;
        assert_eq!(ply_of(&table.command().await), 2);
        assert!(table.snapshots.borrow().thought.as_ref().is_some_and(|thought| thought.depth > 0));
    }

    #[tokio::test]
    async fn an_adapter_that_ends_ends_the_game() {
        let mut table = Table::new(Options::default());
        let (closed, _) = mpsc::channel(1);
        table.events = closed;
        assert_eq!(table.end().await.result, GameResult::Unknown);
    }
}
