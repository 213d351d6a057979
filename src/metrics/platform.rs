//! The figures of one platform: a handle for whoever plays or talks there.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use prometheus_client::metrics::{
    counter::Counter, family::Family, gauge::Gauge, histogram::Histogram,
};
use strum::{EnumIter, IntoEnumIterator, IntoStaticStr};

use crate::metrics::{
    age,
    families::{
        ChallengeLabels, Families, FaultLabels, OutcomeLabels, PlatformLabel, ResultLabels,
        Seconds, StreamLabels,
    },
    health::PlatformHealth,
    lock, unix_now,
};

/// What goes wrong and is got over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, EnumIter)]
#[strum(serialize_all = "snake_case")]
pub enum Fault {
    /// The connection that tells of challenges broke, or fell silent.
    StreamLost,
    /// It could not be opened.
    StreamRefused,
    /// A game's stream broke, or fell silent.
    GameStreamLost,
    /// It could not be opened.
    GameStreamRefused,
    /// The server said something that cannot be read.
    Unreadable,
    /// A move had not arrived and was sent again.
    MoveResent,
    /// The server did not take a move, or did not answer.
    MoveNotTaken,
    /// The task of a game failed, and with it perhaps its engine.
    GameFailed,
    /// A game was lost sight of.
    GameLost,
}

/// What comes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, EnumIter)]
#[strum(serialize_all = "snake_case")]
pub enum RequestOutcome {
    /// The server did it.
    Ok,
    /// Too many requests (429).
    RateLimited,
    /// The server refused.
    Refused,
    /// The server failed (5xx).
    ServerError,
    /// The answer did not come.
    NoAnswer,
    /// The server could not be reached.
    Unreachable,
}

/// Our answer to a challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum AnswerKind {
    /// We accepted, and the server let us.
    Accepted,
    /// We accepted, and the server did not let us.
    Failed,
    /// We declined.
    Declined,
    /// It waited for a slot until it was too old.
    Dropped,
}

/// What comes of a challenge of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, EnumIter)]
#[strum(serialize_all = "snake_case")]
pub enum OwnChallenge {
    /// It was sent.
    Sent,
    /// The server did not take it.
    Failed,
    /// It became a game.
    Accepted,
    /// It was declined.
    Declined,
    /// We withdrew it.
    Withdrawn,
}

/// Which kind of stream brings bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, EnumIter)]
#[strum(serialize_all = "snake_case")]
pub enum StreamKind {
    /// The one that tells of challenges. On FICS it tells of everything.
    Account,
    /// Those of games, all together.
    Game,
}

/// What one move of ours took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MoveFigures {
    /// From the line that made it our turn to the sending, without the search.
    pub latency: Duration,
    /// What our clock had left, if one ran.
    pub time_left: Option<Duration>,
    /// What was searched, if anything had to be.
    pub search: Option<SearchFigures>,
}

/// What the search for a move did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SearchFigures {
    /// How long it took on our time.
    pub thinking: Duration,
    /// Plies.
    pub depth: u32,
    /// Nodes in a second, pondering included.
    pub nodes_per_second: u64,
}

/// How a game ended for us.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, EnumIter)]
#[strum(serialize_all = "snake_case")]
pub enum ResultKind {
    /// We won.
    Won,
    /// We lost.
    Lost,
    /// A draw.
    Drawn,
    /// No result.
    Aborted,
    /// Nobody saw how.
    Unknown,
}

/// The figures of one platform. Clones share them.
#[derive(Clone, Debug)]
pub struct PlatformMetrics(Arc<Figures>);

/// Those with several series of a fixed number have them in the order of their enums.
#[derive(Debug)]
struct Figures {
    label: PlatformLabel,
    stream_up: Gauge,
    stream_changed: Seconds,
    last_byte: Vec<Seconds>,
    streams_opened: Vec<Counter>,
    requests: Vec<Counter>,
    challenges: Family<ChallengeLabels, Counter>,
    own_challenges: Vec<Counter>,
    challenges_waiting: Gauge,
    games_running: Gauge,
    games_started: Counter,
    games: Vec<Counter>,
    rating: Family<PlatformLabel, Gauge>,
    bot_games_left: Family<PlatformLabel, Gauge>,
    moves: Counter,
    move_latency: Histogram,
    move_round_trip: Histogram,
    thinking: Histogram,
    depth: Histogram,
    speed: Histogram,
    time_left: Histogram,
    faults: Vec<Counter>,
    /// The day, in days since 1970 (UTC), and how many games ended on it. Touched at ends of games and
    /// by whoever asks.
    today: Mutex<(u64, u64)>,
}

impl PlatformMetrics {
    pub(super) fn new(platform: &'static str, families: &Families) -> Self {
        let label = PlatformLabel { platform };
        Self(Arc::new(Figures {
            stream_up: families.stream_up.get_or_create_owned(&label),
            stream_changed: families.stream_changed.get_or_create_owned(&label),
            last_byte: each(&families.last_byte, |stream: StreamKind| StreamLabels {
                platform,
                stream: stream.into(),
            }),
            streams_opened: each(&families.streams_opened, |stream: StreamKind| StreamLabels {
                platform,
                stream: stream.into(),
            }),
            requests: each(&families.requests, |outcome: RequestOutcome| OutcomeLabels {
                platform,
                outcome: outcome.into(),
            }),
            challenges: families.challenges.clone(),
            own_challenges: each(&families.own_challenges, |outcome: OwnChallenge| OutcomeLabels {
                platform,
                outcome: outcome.into(),
            }),
            challenges_waiting: families.challenges_waiting.get_or_create_owned(&label),
            games_running: families.games_running.get_or_create_owned(&label),
            games_started: families.games_started.get_or_create_owned(&label),
            games: each(&families.games, |result: ResultKind| ResultLabels {
                platform,
                result: result.into(),
            }),
            rating: families.rating.clone(),
            bot_games_left: families.bot_games_left.clone(),
            moves: families.moves.get_or_create_owned(&label),
            move_latency: families.move_latency.get_or_create_owned(&label),
            move_round_trip: families.move_round_trip.get_or_create_owned(&label),
            thinking: families.thinking.get_or_create_owned(&label),
            depth: families.depth.get_or_create_owned(&label),
            speed: families.speed.get_or_create_owned(&label),
            time_left: families.time_left.get_or_create_owned(&label),
            faults: each(&families.faults, |kind: Fault| FaultLabels {
                platform,
                kind: kind.into(),
            }),
            today: Mutex::default(),
            label,
        }))
    }

    /// We are connected: the server tells of challenges.
    pub fn stream_opened(&self) {
        self.opened(StreamKind::Account);
        self.set_up(true);
    }

    /// We are connected no longer.
    pub fn stream_lost(&self) {
        self.set_up(false);
    }

    fn set_up(&self, is_up: bool) {
        if self.0.stream_up.set(is_up.into()) != i64::from(is_up) {
            self.0.stream_changed.set(unix_now());
        }
    }

    /// A stream of this kind was opened.
    pub fn opened(&self, kind: StreamKind) {
        self.0.streams_opened[kind as usize].inc();
        self.heard(kind).now();
    }

    /// For whoever reads streams of this kind.
    pub fn heard(&self, kind: StreamKind) -> Heard {
        Heard(self.0.last_byte[kind as usize].clone())
    }

    /// A request has ended.
    pub fn request(&self, outcome: RequestOutcome) {
        self.0.requests[outcome as usize].inc();
    }

    /// A challenge to us is answered; the reason is that of a decline, else empty.
    pub fn challenge(&self, answer: AnswerKind, reason: &'static str) {
        let platform = self.0.label.platform;
        let labels = ChallengeLabels { platform, answer: answer.into(), reason };
        self.0.challenges.get_or_create(&labels).inc();
    }

    /// Something came of a challenge of ours.
    pub fn own_challenge(&self, outcome: OwnChallenge) {
        self.0.own_challenges[outcome as usize].inc();
    }

    /// So many games run, and so many challenges wait.
    pub fn set_load(&self, games: usize, waiting: usize) {
        self.0.games_running.set(i64::try_from(games).unwrap_or(i64::MAX));
        self.0.challenges_waiting.set(i64::try_from(waiting).unwrap_or(i64::MAX));
    }

    /// A game is begun or taken up.
    pub fn game_started(&self) {
        self.0.games_started.inc();
    }

    /// A game has ended.
    pub fn game_over(&self, result: ResultKind) {
        self.0.games[result as usize].inc();
        let mut today = lock(&self.0.today);
        let day = day();
        *today = if today.0 == day { (day, today.1 + 1) } else { (day, 1) };
    }

    /// Our rating is known.
    pub fn set_rating(&self, rating: u32) {
        self.0.rating.get_or_create(&self.0.label).set(rating.into());
    }

    /// So many games with bots may still begin; `None` if they are not counted.
    pub fn set_bot_games_left(&self, left: Option<u32>) {
        match left {
            Some(left) => {
                self.0.bot_games_left.get_or_create(&self.0.label).set(left.into());
            }
            None => {
                self.0.bot_games_left.remove(&self.0.label);
            }
        }
    }

    /// We have moved.
    pub fn moved(&self, figures: &MoveFigures) {
        let Figures { moves, move_latency, thinking, depth, speed, time_left, .. } = &*self.0;
        moves.inc();
        move_latency.observe(figures.latency.as_secs_f64());
        if let Some(left) = figures.time_left {
            time_left.observe(left.as_secs_f64());
        }
        if let Some(search) = &figures.search {
            thinking.observe(search.thinking.as_secs_f64());
            depth.observe(search.depth.into());
            #[expect(clippy::cast_precision_loss, reason = "a speed needs no 16 digits")]
            speed.observe(search.nodes_per_second as f64);
        }
    }

    /// A move of ours came back after so long.
    pub fn round_trip(&self, time: Duration) {
        self.0.move_round_trip.observe(time.as_secs_f64());
    }

    /// Something went wrong and is got over.
    pub fn fault(&self, fault: Fault) {
        self.0.faults[fault as usize].inc();
    }

    /// How many moves we have chosen.
    pub fn moves(&self) -> u64 {
        self.0.moves.get()
    }

    /// How often something went wrong.
    pub fn faults(&self) -> u64 {
        self.0.faults.iter().map(Counter::get).sum()
    }

    pub(super) fn health(&self) -> PlatformHealth {
        let today = *lock(&self.0.today);
        PlatformHealth {
            name: self.0.label.platform,
            is_up: self.0.stream_up.get() != 0,
            since: age(&self.0.stream_changed),
            last_byte: age(&self.0.last_byte[StreamKind::Account as usize]),
            games: u64::try_from(self.0.games_running.get()).unwrap_or_default(),
            games_today: if today.0 == day() { today.1 } else { 0 },
        }
    }
}

/// Notes when bytes come in.
#[derive(Clone, Debug)]
pub struct Heard(Seconds);

impl Heard {
    /// Some came.
    pub fn now(&self) {
        self.0.set(unix_now());
    }
}

/// The series for each variant, all of which are told from the beginning.
fn each<E, L, M>(family: &Family<L, M>, label: impl Fn(E) -> L) -> Vec<M>
where
    E: IntoEnumIterator,
    L: Clone + std::hash::Hash + Eq,
    M: Default + Clone,
{
    E::iter().map(|variant| family.get_or_create_owned(&label(variant))).collect()
}

/// Days since 1970 (UTC).
fn day() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default().as_secs() / (24 * 60 * 60)
}
