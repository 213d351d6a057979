//! The loop of a running bot: what the platform says, what games end, what time it is.
//!
//! It never waits for the network itself: requests run in tasks whose answers come back as events.
//! Moves do not pass through here. This file has the loop, the start and the end.

mod challenges;
mod games;
mod matchmaking;
mod tournaments;

use std::{
    collections::{HashMap, VecDeque},
    ops::AddAssign,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    sync::{mpsc, watch},
    task::{JoinError, JoinSet},
    time::{MissedTickBehavior, interval, sleep_until},
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, info, warn};

use crate::{
    daemon::{
        InvitationOptions, figures,
        keeper::Keeper,
        login::log_in,
        matchmaking::Matchmaker,
        opponents::Opponents,
        pace::{Pace, Standing},
        policy::{Criterion, PolicyOptions},
        queue::Queue,
        recorder::Recorder,
        requests::{Answer, Requests},
        resources::Resources,
        shutdown::{Shutdown, ShutdownOptions, Unfinished},
        slots::{Engines, Slots},
        tasks::GameTasks,
        tournament::Tournaments,
    },
    game::{
        self, Desk, Ending, GameId, GameResult, LiveGames, SpareEngine, WaitingNames,
        driver::EngineFailedError,
    },
    metrics::{Beat, PlatformMetrics},
    platform::{
        DeclineReason, PlatformEvent,
        lichess::{Account, Client, StartError, events},
    },
    search::{self, Scheduler},
    store::{AccountKey, ChallengeAnswer, Platform, StoreOptions},
};

/// Events that wait for the loop. When it is full the stream is not read, and the server keeps
/// some lines for us.
const EVENTS_CAPACITY: usize = 256;
/// How often time is looked at: for what waits too long.
const TICK: Duration = Duration::from_secs(1);
/// How long games that are left may take to end.
const LEAVE_LIMIT: Duration = Duration::from_secs(10);
/// The event stream begins with the running games, challenges come after them; so long at most is
/// the list of running games waited for besides, which tells of games that the stream left out.
const READY_LIMIT: Duration = Duration::from_secs(2);
/// How soon the running games are asked for if a game may begin that the lost event stream does not
/// tell of.
const LOST_WAIT: Duration = Duration::from_secs(3);
/// How soon the running games are asked for when that failed.
const ASK_AGAIN_WAIT: Duration = Duration::from_secs(30);

/// How the bot runs.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many games with a clock at once.
    pub concurrency: usize,
    /// How many games without one at once, besides.
    pub correspondence: usize,
    /// Which games are played.
    pub policy: PolicyOptions,
    /// How games are played.
    pub game: game::Options,
    /// The engine of each slot.
    pub engine: search::Options,
    /// The cores that the engines of all games share.
    pub cores: usize,
    /// How running games are treated at the end.
    pub shutdown: ShutdownOptions,
    /// How often the log gets a summary while there is something to say.
    pub summary_interval: Duration,
    /// How often the running games are asked for, however healthy the event stream looks: one that
    /// only keeps itself alive tells nothing.
    pub reconcile_interval: Duration,
    /// Where it is remembered what happens.
    pub store: StoreOptions,
    /// Whom the bot asks for games on FICS.
    pub invitations: InvitationOptions,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            concurrency: 1,
            correspondence: 8,
            policy: PolicyOptions::default(),
            game: game::Options::default(),
            engine: search::Options::default(),
            cores: Scheduler::available_cores(),
            shutdown: ShutdownOptions::default(),
            summary_interval: Duration::from_mins(2),
            reconcile_interval: Duration::from_mins(1),
            store: StoreOptions::default(),
            invitations: InvitationOptions::default(),
        }
    }
}

/// What came of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Challenges that the server let us accept.
    pub accepted: u32,
    /// Challenges that we declined.
    pub declined: u32,
    /// Challenges of ours that became games.
    pub challenged: u32,
    /// Games won.
    pub won: u32,
    /// Games lost.
    pub lost: u32,
    /// Games drawn.
    pub drawn: u32,
    /// Games aborted.
    pub aborted: u32,
    /// Games whose end we did not see.
    pub unknown: u32,
    /// Games that still ran when we left; they count above as well.
    pub unfinished: u32,
    /// Games without a clock that the next run takes up. They count nowhere else.
    pub left: u32,
}

impl AddAssign<&Self> for Summary {
    fn add_assign(&mut self, other: &Self) {
        self.accepted += other.accepted;
        self.declined += other.declined;
        self.challenged += other.challenged;
        self.won += other.won;
        self.lost += other.lost;
        self.drawn += other.drawn;
        self.aborted += other.aborted;
        self.unknown += other.unknown;
        self.unfinished += other.unfinished;
        self.left += other.left;
    }
}

impl Summary {
    /// Counts the end of a game.
    pub(super) fn count(&mut self, result: GameResult) {
        *match result {
            GameResult::Won => &mut self.won,
            GameResult::Lost => &mut self.lost,
            GameResult::Drawn => &mut self.drawn,
            GameResult::Aborted => &mut self.aborted,
            GameResult::Unknown => &mut self.unknown,
        } += 1;
    }
}

/// Why the bot stopped by itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DaemonError {
    /// It cannot start, or the server no longer lets it in.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The task that follows the account's stream failed.
    #[error("the task that follows the event stream failed: {0}")]
    EventStream(String),
}

impl DaemonError {
    /// Why it could not start, if that is it.
    pub fn start(&self) -> Option<&StartError> {
        match self {
            Self::Start(error) => Some(error),
            Self::EventStream(_) => None,
        }
    }
}

/// Runs the bot until `shutdown` ends it: checks the account, for which it waits until the server can
/// be reached, resumes the games that run, then
/// takes challenges. `live` always holds the running games with their newest snapshots.
///
/// # Errors
///
/// [`DaemonError`] if it cannot start, or, after the games that run by then, if the server no longer
/// lets it in.
pub async fn run(
    options: Options,
    client: Arc<Client>,
    shutdown: Shutdown,
    live: watch::Sender<LiveGames>,
) -> Result<Summary, DaemonError> {
    let policy = watch::channel(Arc::new(options.policy.clone())).1;
    let resources = Resources::new(&options);
    run_with_policy(options, policy, client, shutdown, live, &resources).await
}

/// The same with a policy that can change while the bot runs, and with resources that other platforms
/// share; [`Options::policy`], [`Options::concurrency`], [`Options::cores`] and [`Options::game`] do not
/// count.
///
/// # Errors
///
/// As [`run`].
pub async fn run_with_policy(
    options: Options,
    policy: watch::Receiver<Arc<PolicyOptions>>,
    client: Arc<Client>,
    shutdown: Shutdown,
    live: watch::Sender<LiveGames>,
    resources: &Resources,
) -> Result<Summary, DaemonError> {
    let beat = resources.metrics.begin_loop("lichess");
    let Some(account) = log_in(&client, &shutdown, &beat).await? else {
        return Ok(Summary::default());
    };
    let (event_sender, events) = mpsc::channel(EVENTS_CAPACITY);
    let cancel = CancellationToken::new();
    let mut services = JoinSet::new();
    let follower = (Arc::clone(&client), cancel.clone());
    services.spawn(async move { events::follow(&follower.0, event_sender, follower.1).await });
    let mut supervisor = Supervisor::new(options, policy, client, account, live, resources);
    let failure = supervisor.run(events, &mut services, &shutdown, &beat).await;
    cancel.cancel();
    while services.join_next().await.is_some() {}
    supervisor.metrics.stream_lost();
    supervisor.count_lost();
    supervisor.log_summary("stopped");
    supervisor.recorder.close().await;
    failure.map_or(Ok(supervisor.summary), Err)
}

struct Supervisor {
    options: Options,
    policy: watch::Receiver<Arc<PolicyOptions>>,
    client: Arc<Client>,
    metrics: PlatformMetrics,
    shared: Resources,
    account: Account,
    slots: Slots,
    queue: Queue,
    engines: Engines,
    /// For games without a clock.
    spare_engine: SpareEngine,
    /// Each gives its engine back at the end.
    games: GameTasks<Result<(Ending, Desk), EngineFailedError>>,
    live: watch::Sender<LiveGames>,
    /// For the games, where anybody may ask.
    waiting: watch::Sender<WaitingNames>,
    /// Makes all games leave.
    quit: CancellationToken,
    requests: Requests,
    keeper: Keeper,
    recorder: Recorder,
    opponents: Opponents,
    matchmaker: Matchmaker,
    /// Our open challenge, as the memory has it.
    remembered_challenge: Option<String>,
    tournaments: Tournaments,
    /// Challenges that were perhaps accepted, and who made them. If so, a game begins.
    unclear: HashMap<GameId, Option<String>>,
    /// The server wants no accepting until then.
    accepts_paused_until: Option<Instant>,
    /// When our own rating was asked for.
    rating_asked: Option<Instant>,
    /// When the running games are known well enough for new ones to be accepted; `None` as long as
    /// the event stream has never been open.
    ready_at: Option<Instant>,
    /// Whether the event stream is open.
    is_connected: bool,
    closing: Closing,
    /// When to ask for the running games, if there is doubt about them.
    ask_at: Option<Instant>,
    /// When to ask for them without a doubt.
    reconcile_at: Instant,
    /// How often the tasks of games that may still run have failed or lost them.
    setbacks: HashMap<GameId, u32>,
    ended: VecDeque<GameId>,
    summary: Summary,
}

/// How far the end has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closing {
    No,
    /// Running games may go on until then.
    Finishing {
        until: Instant,
    },
    /// Games were told to end and have until then.
    Leaving {
        until: Instant,
    },
}

impl Closing {
    /// Games are told to end now.
    pub(super) fn leaving() -> Self {
        Self::Leaving { until: Instant::now() + LEAVE_LIMIT }
    }

    pub(super) fn is_leaving(self) -> bool {
        matches!(self, Self::Leaving { .. })
    }

    /// Waits for the end of this stage, which may be for ever.
    pub(super) async fn time_is_up(self) {
        match self {
            Self::No => std::future::pending().await,
            Self::Finishing { until } | Self::Leaving { until } => sleep_until(until.into()).await,
        }
    }
}

impl Supervisor {
    fn new(
        options: Options,
        policy: watch::Receiver<Arc<PolicyOptions>>,
        client: Arc<Client>,
        account: Account,
        live: watch::Sender<LiveGames>,
        resources: &Resources,
    ) -> Self {
        live.send_replace(LiveGames::new());
        let key = AccountKey { platform: Platform::Lichess, account: account.id.clone() };
        let metrics = client.metrics().clone();
        if let Some(rating) = account.rating {
            metrics.set_rating(rating);
        }
        Self {
            slots: Slots::sharing(&resources.seats).with_correspondence(options.correspondence),
            reconcile_at: Instant::now() + options.reconcile_interval,
            queue: Queue::default(),
            keeper: Keeper::new(resources.store.clone(), key.clone()),
            recorder: Recorder::new(resources.store.clone(), key),
            policy,
            engines: Engines::new(options.engine, resources.scheduler.clone(), options.concurrency),
            spare_engine: SpareEngine::new(options.engine, resources.scheduler.clone()),
            requests: Requests::new(Arc::clone(&client)),
            options,
            client,
            metrics,
            shared: resources.clone(),
            account,
            games: GameTasks::new(),
            live,
            waiting: watch::channel(WaitingNames::default()).0,
            quit: CancellationToken::new(),
            opponents: Opponents::default(),
            matchmaker: Matchmaker::new(fastrand::Rng::new()),
            remembered_challenge: None,
            tournaments: Tournaments::new(),
            unclear: HashMap::new(),
            accepts_paused_until: None,
            rating_asked: None,
            ready_at: None,
            is_connected: false,
            closing: Closing::No,
            ask_at: None,
            setbacks: HashMap::new(),
            ended: VecDeque::new(),
            summary: Summary::default(),
        }
    }

    /// Runs to the end, and tells why it came if nobody asked for it.
    async fn run(
        &mut self,
        mut events: mpsc::Receiver<PlatformEvent>,
        services: &mut JoinSet<Result<(), StartError>>,
        shutdown: &Shutdown,
        beat: &Beat,
    ) -> Option<DaemonError> {
        let mut failure = None;
        self.withdraw_left_challenge();
        let mut tick = interval(TICK.min(self.options.reconcile_interval));
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut pace = Pace::new(self.options.summary_interval, Instant::now());
        while !self.is_done() {
            let (closing, ready_at) = (self.closing, self.ready_at);
            tokio::select! {
                Some(event) = events.recv() => self.on_event(event),
                (id, end) = self.games.next() => self.on_game_end(id, end),
                answer = self.requests.next() => self.on_answer(answer),
                // What waits is judged again below.
                Ok(()) = self.policy.changed() => {}
                Some(end) = services.join_next() => failure = Some(self.on_service_end(end)),
                _ = tick.tick() => {
                    self.expire();
                    self.ask_if_due();
                    self.count_budget();
                    self.shared.tell_store_health();
                    if pace.is_due(&self.summary, self.slots.clock_games() > 0, Instant::now()) {
                        self.log_summary("summary");
                    }
                }
                () = shutdown.finish().cancelled(), if self.closing == Closing::No => self.close(),
                () = shutdown.leave().cancelled(), if !self.closing.is_leaving() => self.leave(),
                () = closing.time_is_up() => self.on_time_up(),
                // What waits is admitted below.
                () = still_to_come(ready_at) => {}
            }
            self.seek_games();
            self.publish_waiting();
            self.metrics.set_load(self.games.len(), self.queue.len());
            beat.now();
        }
        failure
    }

    /// Takes new games as far as there are slots: tournaments come first, since their games begin
    /// without asking, then whoever waits, then those whom we challenge.
    fn seek_games(&mut self) {
        self.hold_slots();
        self.play_tournaments();
        self.hold_slots();
        let somebody_waits = self.admit();
        self.matchmake(somebody_waits || self.tournaments.lacks_slot());
        self.hold_slots();
        self.remember_open_challenge();
    }

    /// Games that may begin at any moment hold slots before anybody knows their ids.
    fn hold_slots(&mut self) {
        let is_of_days = self.matchmaker.awaits_correspondence();
        let awaited = [
            self.matchmaker.holds_slot() && !is_of_days,
            self.tournaments.holds_slot(Instant::now()),
        ];
        self.slots.await_games(awaited.into_iter().filter(|&holds| holds).count());
        self.slots.await_correspondence(usize::from(is_of_days));
    }

    /// Without news of the account nothing new can begin. What runs needs none, and is finished.
    fn on_service_end(&mut self, end: Result<Result<(), StartError>, JoinError>) -> DaemonError {
        let error = service_error(end);
        error!(%error, games = self.games.len(), "the event stream is given up");
        // A task that panicked has not said so.
        self.metrics.stream_lost();
        if self.closing == Closing::No {
            self.close();
        }
        error
    }

    fn on_event(&mut self, event: PlatformEvent) {
        match event {
            PlatformEvent::Connected => {
                self.is_connected = true;
                self.ready_at.get_or_insert_with(|| Instant::now() + READY_LIMIT);
                self.requests.ask_for_games();
            }
            PlatformEvent::Lost => {
                debug!("event stream lost");
                self.is_connected = false;
                // A game that we asked for may begin meanwhile.
                if self.matchmaker.holds_slot() || self.tournaments.holds_slot(Instant::now()) {
                    self.ask_by(Instant::now() + LOST_WAIT);
                }
            }
            // It may have said that a game started.
            PlatformEvent::Unreadable => self.ask_by(Instant::now()),
            PlatformEvent::GameStart(start) => self.on_game_start(start),
            PlatformEvent::Challenge(challenge) => self.on_challenge(challenge),
            PlatformEvent::ChallengeDeclined(declined) => self.on_declined(&declined),
            PlatformEvent::ChallengeCanceled(id) => {
                self.recorder.answered(&id, ChallengeAnswer::Withdrawn);
                self.on_off(&id);
            }
            PlatformEvent::GameFinish(id, rating_diff) => {
                self.on_off(&id);
                if let Some(diff) = rating_diff {
                    self.recorder.rated(id, diff);
                }
            }
        }
    }

    /// A challenge neither waits nor holds a slot any more.
    fn on_off(&mut self, id: &GameId) {
        self.queue.remove(id);
        self.unclear.remove(id);
        self.slots.release(id);
        let options = &self.current_policy().matchmaking;
        self.matchmaker.on_off(id, options, Instant::now());
    }

    /// The policy of this moment.
    fn current_policy(&self) -> Arc<PolicyOptions> {
        Arc::clone(&self.policy.borrow())
    }

    fn on_answer(&mut self, answer: Answer) {
        match answer {
            Answer::Accept { challenge, result: Ok(()), .. } => self.on_accepted(*challenge),
            Answer::Accept { challenge, result: Err(error), may_have_worked } => {
                self.on_accept_failed(&challenge, &error, may_have_worked);
            }
            Answer::Decline { id, result } => {
                if let Err(error) = result {
                    debug!(challenge = %id, %error, "could not decline");
                }
            }
            Answer::Playing(result) => {
                match result {
                    Ok(games) => self.on_running_games(games),
                    Err(error) => {
                        warn!(%error, "could not ask for running games");
                        // At the end a server that does not answer is not waited for.
                        if self.closing == Closing::No {
                            self.ask_by(Instant::now() + ASK_AGAIN_WAIT);
                        }
                    }
                }
                self.ready_at = Some(Instant::now());
            }
            Answer::Account { user, facts } => {
                self.opponents.end_look_up(user, facts, Instant::now());
            }
            Answer::OwnRating(rating) => {
                self.account.rating = rating.or(self.account.rating);
                if let Some(rating) = rating {
                    self.metrics.set_rating(rating);
                }
            }
            Answer::OnlineBots(result) => self.on_online_bots(result),
            Answer::Challenge { offer, result } => self.on_challenge_sent(&offer, result),
            Answer::Cancel { id, result } => self.on_canceled(&id, result),
            Answer::TeamTournaments { team, result } => self.on_team_tournaments(&team, result),
            Answer::Tournament { id, result } => self.on_tournament(&id, result),
            Answer::Join { id, result } => self.on_joined(&id, &result),
            Answer::Withdraw { id, result } => {
                // Whoever asks for no game is not paired for long anyway.
                if let Err(error) = result {
                    warn!(tournament = %id, %error, "could not leave the tournament");
                }
            }
            Answer::Berserk { game, result } => self.on_berserk(&game, &result),
        }
    }

    fn close(&mut self) {
        let until = Instant::now() + self.options.shutdown.finish_limit;
        self.closing = Closing::Finishing { until };
        self.leave_correspondence();
        info!(
            games = self.slots.clock_games(),
            limit_s = self.options.shutdown.finish_limit.as_secs(),
            "closing"
        );
        if self.ask_at.is_some() {
            self.ask_by(Instant::now());
        }
        for challenge in self.queue.drain() {
            self.decline(challenge.id, DeclineReason::Later, Criterion::Closing);
        }
    }

    fn leave(&mut self) {
        if self.closing == Closing::No {
            self.leave_correspondence();
        }
        self.closing = Closing::leaving();
        self.requests.give_up();
        let games = self.slots.clock_games();
        self.summary.unfinished = u32::try_from(games).unwrap_or(u32::MAX);
        warn!(games, how = ?self.options.shutdown.unfinished, "leaving unfinished games");
        match self.options.shutdown.unfinished {
            Unfinished::Resign => self.quit.cancel(),
            Unfinished::Leave => self.games.abort_all(),
        }
    }

    fn on_time_up(&mut self) {
        if self.closing.is_leaving() {
            self.games.abort_all();
            self.requests.give_up_all();
            // What begins now is left alone.
            self.slots.release_all();
            self.closing = Closing::leaving();
        } else {
            self.leave();
        }
    }

    fn is_done(&self) -> bool {
        match self.closing {
            Closing::No => false,
            // A challenge that was accepted is a game that is about to start.
            Closing::Finishing { .. } => {
                self.games.len() == 0
                    && self.slots.reserved() == 0
                    && !self.matchmaker.holds_slot()
                    && self.requests.is_empty()
                    && self.ask_at.is_none()
            }
            // A challenge of ours that is left open would become a game without us.
            Closing::Leaving { .. } => self.games.len() == 0 && !self.requests.is_bound(),
        }
    }

    fn count_budget(&self) {
        figures::count_budget(&self.keeper, &self.current_policy().budget, &self.metrics);
    }

    fn log_summary(&self, message: &str) {
        let standing = Standing {
            running: self.games.len(),
            waiting: self.queue.len(),
            lag: self.client.lag_meter().lag().round_trip(),
            rating: self.account.rating,
            is_connected: self.is_connected,
        };
        self.summary.log(&standing, &self.metrics, message);
    }
}

/// Waits for a moment that is still to come; for ever if there is none.
async fn still_to_come(at: Option<Instant>) {
    match at {
        Some(at) if at > Instant::now() => sleep_until(at.into()).await,
        _ => std::future::pending().await,
    }
}

fn service_error(end: Result<Result<(), StartError>, JoinError>) -> DaemonError {
    match end {
        Ok(Ok(())) => DaemonError::EventStream("it ended".to_owned()),
        Ok(Err(error)) => DaemonError::Start(error),
        Err(error) => DaemonError::EventStream(error.to_string()),
    }
}
