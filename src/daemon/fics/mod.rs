//! The loop of a bot on FICS: one connection, one game at a time, and the slots, the policy and the
//! cores of the whole process.
//!
//! The loop for lichess has its own file: there requests and games have lines of their own, here one
//! task tells everything. What is judged and how a game is played are the same.

mod games;
mod invite;
#[cfg(test)]
mod tests;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    sync::{mpsc, watch},
    task::{JoinError, JoinSet},
    time::{MissedTickBehavior, interval, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, info, warn};

use crate::{
    daemon::{
        Options, Resources, Shutdown, Summary, Unfinished, budget,
        fics::{
            games::{LastGame, Running},
            invite::Asked,
        },
        figures,
        invitations::Invitations,
        keeper::Keeper,
        opponents::Opponents,
        pace::{Pace, Standing},
        policy::{Criterion, Facts, PolicyOptions, Situation, Verdict, judge},
        queue::{Queue, QueueFull},
        recorder::Recorder,
        slots::{Engines, Holder, Slots},
        supervisor::Closing,
        tasks::GameTasks,
    },
    game::{
        Ending, GameId, GameResult, LagMeter, LiveGames, WaitingNames, driver::EngineFailedError,
    },
    metrics::{AnswerKind, Beat, Fault, PlatformMetrics},
    platform::{
        Challenge, DeclineReason,
        fics::{self, Kind, LinkError, Request},
    },
    search::Engine,
    store::{AccountKey, ChallengeAnswer, Epoch, Platform},
};

/// Events that wait for the loop. When it is full the connection is not read.
const EVENTS_CAPACITY: usize = 64;
/// Requests that wait for the client, which takes them at once.
const REQUESTS_CAPACITY: usize = 64;
/// How often time is looked at: for what waits too long.
const TICK: Duration = Duration::from_secs(1);
/// How long the client may take its leave.
const FAREWELL: Duration = Duration::from_secs(2);

/// Runs the bot on a FICS server until `shutdown` ends it. `live` always holds the running game with
/// its newest snapshot. Of `options` those of lichess do not count.
///
/// # Errors
///
/// [`LinkError`], after the game that runs by then, if the server does not let it in, or no longer.
pub async fn run(
    options: Options,
    link: fics::Options,
    policy: watch::Receiver<Arc<PolicyOptions>>,
    shutdown: Shutdown,
    live: watch::Sender<LiveGames>,
    resources: &Resources,
) -> Result<Summary, LinkError> {
    let (event_sender, events) = mpsc::channel(EVENTS_CAPACITY);
    let (requests, request_receiver) = mpsc::channel(REQUESTS_CAPACITY);
    let cancel = CancellationToken::new();
    let mut client = JoinSet::new();
    let beat = resources.metrics.begin_loop("fics");
    let account = AccountKey { platform: Platform::Fics, account: link.account.to_lowercase() };
    let token = cancel.clone();
    let mut supervisor =
        Supervisor::new(options, policy, live, resources, (requests, cancel), account);
    let (lag, metrics) = (supervisor.lag.clone(), supervisor.metrics.clone());
    client.spawn(async move {
        fics::run(&link, (&lag, &metrics), event_sender, request_receiver, token).await
    });
    let failure = supervisor.run(events, &mut client, &shutdown, &beat).await;
    // Without requests the client takes its leave, unless it is just connecting.
    supervisor.requests = None;
    if timeout(FAREWELL, client.join_next()).await.is_err() {
        supervisor.cancel.cancel();
    }
    while client.join_next().await.is_some() {}
    supervisor.metrics.stream_lost();
    for _ in 0..supervisor.interrupted.len() {
        supervisor.count_result(GameResult::Unknown);
    }
    supervisor.settle_all_asked();
    supervisor.log_summary("stopped on FICS");
    supervisor.recorder.close().await;
    failure.map_or(Ok(supervisor.summary), Err)
}

struct Supervisor {
    options: Options,
    shared: Resources,
    metrics: PlatformMetrics,
    policy: watch::Receiver<Arc<PolicyOptions>>,
    slots: Slots,
    queue: Queue,
    engines: Engines,
    /// The games that have a task.
    running: HashMap<GameId, Running>,
    /// Each gives its engine back at the end.
    games: GameTasks<Result<(Ending, Arc<Engine>), EngineFailedError>>,
    live: watch::Sender<LiveGames>,
    /// For the game, where anybody may ask: nobody waits on FICS, where a challenge during a game is
    /// declined.
    waiting: watch::Sender<WaitingNames>,
    /// Makes the game leave.
    quit: CancellationToken,
    /// `None` at the end.
    requests: Option<mpsc::Sender<Request>>,
    /// Ends the connection where it is.
    cancel: CancellationToken,
    recorder: Recorder,
    opponents: Opponents,
    keeper: Keeper,
    invitations: Invitations,
    /// Whether we are logged in.
    is_online: bool,
    /// The running game, or the last.
    last: Option<LastGame>,
    /// What we have asked for without an answer.
    asked: Vec<Asked>,
    /// Our rating, if it is known.
    rating: Option<u32>,
    lag: LagMeter,
    /// The opponents of games that were adjourned or lost with the connection, and may go on.
    interrupted: HashSet<String>,
    closing: Closing,
    summary: Summary,
}

impl Supervisor {
    /// Nothing runs yet. `client` is how it is asked, and how it is ended where it is.
    fn new(
        options: Options,
        policy: watch::Receiver<Arc<PolicyOptions>>,
        live: watch::Sender<LiveGames>,
        resources: &Resources,
        client: (mpsc::Sender<Request>, CancellationToken),
        account: AccountKey,
    ) -> Self {
        live.send_replace(LiveGames::new());
        let now = (Instant::now(), Epoch::now());
        let keeper = Keeper::new(resources.store.clone(), account.clone());
        let mut opponents = Opponents::default();
        opponents.recall(&keeper.state(), now);
        let mut invitations = Invitations::new(options.invitations.clone(), now);
        invitations.recall(&keeper.state(), now);
        Self {
            slots: Slots::sharing(&resources.seats),
            engines: Engines::new(options.engine, resources.scheduler.clone(), 1),
            invitations,
            keeper,
            is_online: false,
            last: None,
            asked: Vec::new(),
            rating: None,
            lag: LagMeter::default(),
            interrupted: HashSet::new(),
            options,
            shared: resources.clone(),
            metrics: resources.metrics.platform("fics"),
            policy,
            queue: Queue::default(),
            running: HashMap::new(),
            games: GameTasks::new(),
            live,
            waiting: watch::channel(WaitingNames::default()).0,
            quit: CancellationToken::new(),
            requests: Some(client.0),
            cancel: client.1,
            recorder: Recorder::new(resources.store.clone(), account),
            opponents,
            closing: Closing::No,
            summary: Summary::default(),
        }
    }

    async fn run(
        &mut self,
        mut events: mpsc::Receiver<fics::Event>,
        client: &mut JoinSet<Result<(), LinkError>>,
        shutdown: &Shutdown,
        beat: &Beat,
    ) -> Option<LinkError> {
        let mut failure = None;
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut pace = Pace::new(self.options.summary_interval, Instant::now());
        while !self.is_done() {
            let closing = self.closing;
            tokio::select! {
                Some(event) = events.recv() => self.on_event(event),
                (id, end) = self.games.next() => self.on_game_end(id, end),
                Ok(()) = self.policy.changed() => {}
                Some(end) = client.join_next() => {
                    failure = client_error(end);
                    // A task that panicked has not said so.
                    self.metrics.stream_lost();
                    self.close();
                }
                _ = tick.tick() => {
                    self.expire();
                    self.count_budget();
                    self.shared.tell_store_health();
                    if pace.is_due(&self.summary, self.games.len() > 0, Instant::now()) {
                        self.log_summary("summary of FICS");
                    }
                }
                () = shutdown.finish().cancelled(), if self.closing == Closing::No => self.close(),
                () = shutdown.leave().cancelled(), if !self.closing.is_leaving() => self.leave(),
                () = closing.time_is_up() => self.on_time_up(),
            }
            self.admit();
            self.invite();
            self.metrics.set_load(self.games.len(), self.queue.len());
            beat.now();
        }
        failure
    }

    fn on_event(&mut self, event: fics::Event) {
        match event {
            fics::Event::Connected(login) => {
                self.metrics.stream_opened();
                self.is_online = true;
                if login.is_guest {
                    // The next guest has another name.
                    self.keeper.change(|state| state.open_games.clear());
                }
                self.tell_open_games();
                info!(account = login.name, guest = login.is_guest, "playing on FICS");
                for (kind, criteria) in
                    [("people", &self.options.policy.humans), ("bots", &self.options.policy.bots)]
                {
                    if criteria.needs_facts() {
                        warn!(
                            kind,
                            "FICS does not tell the age, the games or the marks of accounts, so that \
                             nobody of this kind is accepted there"
                        );
                    }
                }
                if !login.is_computer && !login.is_guest {
                    warn!(
                        account = login.name,
                        "this account is not registered as a computer's, which programs need for \
                         rated games; ask the server's administrators"
                    );
                }
            }
            fics::Event::Lost => {
                let was_connected = std::mem::take(&mut self.is_online);
                self.metrics.stream_lost();
                self.metrics.fault(if was_connected {
                    Fault::StreamLost
                } else {
                    Fault::StreamRefused
                });
                for challenge in self.queue.drain() {
                    self.recorder.answered(&challenge.id, ChallengeAnswer::Withdrawn);
                    debug!(challenge = %challenge.id, "gone with the connection");
                }
                self.slots.release_all();
                self.invitations.on_lost();
                self.settle_all_asked();
            }
            fics::Event::Adjourned(names) => {
                self.invitations.on_adjourned(names, Instant::now());
            }
            fics::Event::InvitationOver(id, outcome) => {
                self.slots.release(&id);
                let over = self.invitations.on_over(&id, outcome, Instant::now());
                self.on_invitation_over(&id, over.as_ref(), outcome);
            }
            fics::Event::Challenge(challenge, kind) => self.on_challenge(*challenge, kind),
            fics::Event::ChallengeGone(id) => {
                self.recorder.answered(&id, ChallengeAnswer::Withdrawn);
                self.queue.remove(&id);
                self.slots.release(&id);
            }
            fics::Event::Game(game) => self.on_game(*game),
            fics::Event::Rated { rating, game } => {
                self.set_rating(rating);
                if let Some((id, diff)) = game {
                    self.recorder.rated(self.record_of(id), diff);
                }
            }
        }
    }

    fn on_challenge(&mut self, challenge: Challenge, kind: Kind) {
        let name = challenge.challenger.as_ref().map_or("?", |user| user.name.as_str());
        info!(
            challenge = %challenge.id, challenger = name, variant = challenge.variant,
            rated = challenge.rated, clock = ?challenge.clock, ?kind, "challenged on FICS"
        );
        self.recorder.challenged(&challenge);
        match kind {
            Kind::Strange => {
                self.decline(challenge.id, DeclineReason::Variant, Criterion::Variant);
            }
            // It was welcome once, and no other game with this player is possible before.
            Kind::Adjourned => {
                if self.closing == Closing::No {
                    self.give_way(true);
                }
                if self.closing == Closing::No && self.is_free() {
                    self.accept(&challenge);
                } else {
                    self.decline(challenge.id, DeclineReason::Later, Criterion::Queue);
                }
            }
            Kind::New => {
                let policy = self.current_policy();
                if let Verdict::Decline(reason, why) = self.judge(&policy, &challenge) {
                    return self.decline(challenge.id, reason, why);
                }
                let id = challenge.id.clone();
                if let Err(QueueFull) = self.queue.push(challenge, Instant::now()) {
                    self.decline(id, DeclineReason::Later, Criterion::Queue);
                }
            }
        }
    }

    /// Accepts a challenge that waits, if there is room, and declines those that have become
    /// unwelcome.
    fn admit(&mut self) {
        if self.queue.len() == 0 || self.closing != Closing::No {
            return;
        }
        self.give_way(false);
        let policy = self.current_policy();
        for challenge in self.queue.in_order(&policy.queue) {
            match self.judge(&policy, &challenge) {
                Verdict::Accept => self.accept(&challenge),
                Verdict::Wait | Verdict::LookUp => {}
                Verdict::Decline(reason, why) => {
                    self.queue.remove(&challenge.id);
                    self.decline(challenge.id, reason, why);
                }
            }
        }
    }

    fn is_quota_used(&self, policy: &PolicyOptions) -> bool {
        budget::may_start(&self.keeper.state().budget, &policy.budget, Epoch::now()).is_err()
    }

    fn judge(&self, policy: &PolicyOptions, challenge: &Challenge) -> Verdict {
        let user = challenge.challenger.as_ref();
        let is_bot = user.is_some_and(|user| user.is_bot);
        let id = user.map_or("", |user| user.id.as_str());
        let has_slot = if is_bot {
            self.slots.has_room_for_bot(policy.queue.reserved_for_humans)
        } else {
            self.slots.has_room()
        };
        let situation = Situation {
            has_room: has_slot && self.is_free(),
            is_closing: self.closing != Closing::No,
            is_quota_used: self.is_quota_used(policy),
            // The terms of the challenge tell it.
            our_rating: challenge.target.as_ref().and_then(|us| us.rating),
            running_with: 0,
            recent_with: self.opponents.recent_games(id, policy.recent_window, Instant::now()),
            // This server tells nothing about accounts that the policy asks for.
            facts: Facts::Unavailable,
        };
        judge(policy, challenge, &situation)
    }

    /// Whether we neither play nor are about to: the server allows one game at a time.
    fn is_free(&self) -> bool {
        self.games.len() == 0 && self.slots.reserved() == 0
    }

    fn accept(&mut self, challenge: &Challenge) {
        self.queue.remove(&challenge.id);
        let user = challenge.challenger.as_ref();
        let is_human = !user.is_some_and(|user| user.is_bot);
        let user = user.map(|user| user.id.clone());
        let holder = Holder { user, is_human, ..Holder::default() };
        if !self.slots.reserve(challenge.id.clone(), holder) {
            return self.decline(challenge.id.clone(), DeclineReason::Later, Criterion::Queue);
        }
        self.slots.answer(&challenge.id, Instant::now());
        self.summary.accepted += 1;
        self.metrics.challenge(AnswerKind::Accepted, "");
        info!(challenge = %challenge.id, "accepting");
        self.recorder.answered(&challenge.id, ChallengeAnswer::Accepted);
        self.request(Request::Accept(challenge.id.clone()));
    }

    fn decline(&mut self, id: GameId, reason: DeclineReason, why: Criterion) {
        info!(challenge = %id, %reason, %why, "declining");
        self.recorder.declined(&id, reason.key(), Some(why));
        self.summary.declined += 1;
        self.metrics.challenge(AnswerKind::Declined, why.into());
        self.request(Request::Decline(id, reason));
    }

    fn request(&mut self, request: Request) {
        if let Some(requests) = &self.requests
            && let Err(error) = requests.try_send(request)
        {
            // The client is gone, or about to be.
            debug!(%error, "a request is lost");
        }
    }

    fn expire(&mut self) {
        let now = Instant::now();
        self.opponents.forget(now);
        for id in self.slots.expire(now) {
            info!(challenge = %id, "accepted, but no game has begun");
        }
        if let Some(id) = self.invitations.expire(now) {
            self.withdraw(id, ChallengeAnswer::Expired);
        }
        for challenge in self.queue.expire(now) {
            self.decline(challenge.id, DeclineReason::Later, Criterion::Queue);
        }
    }

    fn close(&mut self) {
        if self.closing != Closing::No {
            return;
        }
        let until = Instant::now() + self.options.shutdown.finish_limit;
        self.closing = Closing::Finishing { until };
        self.give_way(true);
        // A seek goes with that.
        self.request(Request::SetOpen(false));
        self.settle_all_asked();
        for challenge in self.queue.drain() {
            self.decline(challenge.id, DeclineReason::Later, Criterion::Closing);
        }
    }

    fn leave(&mut self) {
        self.closing = Closing::leaving();
        self.summary.unfinished = u32::try_from(self.games.len()).unwrap_or(u32::MAX);
        match self.options.shutdown.unfinished {
            Unfinished::Resign => self.quit.cancel(),
            // The server adjourns it, if both players are registered.
            Unfinished::Leave => {
                self.cancel.cancel();
                self.games.abort_all();
            }
        }
    }

    fn on_time_up(&mut self) {
        if self.closing.is_leaving() {
            self.games.abort_all();
            self.closing = Closing::leaving();
        } else {
            self.leave();
        }
    }

    fn is_done(&self) -> bool {
        match self.closing {
            Closing::No => false,
            Closing::Finishing { .. } => self.games.len() == 0 && self.slots.reserved() == 0,
            Closing::Leaving { .. } => self.games.len() == 0,
        }
    }

    fn count_budget(&self) {
        figures::count_budget(&self.keeper, &self.current_policy().budget, &self.metrics);
    }

    fn set_rating(&mut self, rating: u32) {
        self.rating = Some(rating);
        self.metrics.set_rating(rating);
    }

    fn current_policy(&self) -> Arc<PolicyOptions> {
        Arc::clone(&self.policy.borrow())
    }

    fn log_summary(&self, message: &str) {
        let standing = Standing {
            running: self.games.len(),
            waiting: self.queue.len(),
            lag: self.lag.lag().round_trip(),
            rating: self.rating,
            is_connected: self.is_online,
        };
        self.summary.log(&standing, &self.metrics, message);
    }
}

fn client_error(end: Result<Result<(), LinkError>, JoinError>) -> Option<LinkError> {
    let error = match end {
        Ok(Ok(())) => return None,
        Ok(Err(error)) => error,
        Err(error) => LinkError::Broken(format!("the client's task failed: {error}")),
    };
    error!(%error, "FICS is given up");
    Some(error)
}
