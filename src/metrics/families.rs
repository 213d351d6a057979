//! The figures of platforms, by their names and labels.

use std::sync::atomic::AtomicU64;

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Metric, Registry},
};

/// A gauge of seconds.
pub(super) type Seconds = Gauge<f64, AtomicU64>;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct PlatformLabel {
    pub(super) platform: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct StreamLabels {
    pub(super) platform: &'static str,
    pub(super) stream: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct ResultLabels {
    pub(super) platform: &'static str,
    pub(super) result: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct ChallengeLabels {
    pub(super) platform: &'static str,
    pub(super) answer: &'static str,
    pub(super) reason: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct OutcomeLabels {
    pub(super) platform: &'static str,
    pub(super) outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct FaultLabels {
    pub(super) platform: &'static str,
    pub(super) kind: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct WarningLabel {
    pub(super) kind: &'static str,
}

/// All of them.
#[derive(Debug)]
pub(super) struct Families {
    pub(super) stream_up: Family<PlatformLabel, Gauge>,
    pub(super) stream_changed: Family<PlatformLabel, Seconds>,
    pub(super) last_byte: Family<StreamLabels, Seconds>,
    pub(super) streams_opened: Family<StreamLabels, Counter>,
    pub(super) requests: Family<OutcomeLabels, Counter>,
    pub(super) challenges: Family<ChallengeLabels, Counter>,
    pub(super) own_challenges: Family<OutcomeLabels, Counter>,
    pub(super) challenges_waiting: Family<PlatformLabel, Gauge>,
    pub(super) games_running: Family<PlatformLabel, Gauge>,
    pub(super) games_started: Family<PlatformLabel, Counter>,
    pub(super) games: Family<ResultLabels, Counter>,
    pub(super) rating: Family<PlatformLabel, Gauge>,
    pub(super) bot_games_left: Family<PlatformLabel, Gauge>,
    pub(super) moves: Family<PlatformLabel, Counter>,
    pub(super) move_latency: Family<PlatformLabel, Histogram>,
    pub(super) move_round_trip: Family<PlatformLabel, Histogram>,
    pub(super) thinking: Family<PlatformLabel, Histogram>,
    pub(super) depth: Family<PlatformLabel, Histogram>,
    pub(super) speed: Family<PlatformLabel, Histogram>,
    pub(super) time_left: Family<PlatformLabel, Histogram>,
    pub(super) faults: Family<FaultLabels, Counter>,
    pub(super) warning: Family<WarningLabel, Gauge>,
    pub(super) store_dropped: Gauge,
}

/// Of the way to the server and back: it is rarely shorter, and a move that takes longer is lost.
const ROUND_TRIP_S: [f64; 15] =
    [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1.0, 2.5, 5.0, 10.0];
/// Of our own work beside the search, for which the bar is a millisecond.
const LATENCY_S: [f64; 15] = [
    0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
    5.0,
];
const THINKING_S: [f64; 13] =
    [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 300.0];
const DEPTH: [f64; 16] =
    [1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0, 20.0, 24.0, 28.0, 32.0, 40.0, 64.0];
const NODES_PER_SECOND: [f64; 13] =
    [1e4, 2.5e4, 5e4, 1e5, 2.5e5, 5e5, 1e6, 2e6, 4e6, 8e6, 1.6e7, 3.2e7, 6.4e7];
/// The longest clock at the start is three hours.
const TIME_LEFT_S: [f64; 15] =
    [0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_800.0, 10_800.0];

impl Families {
    /// Registers all of them.
    pub(super) fn new(registry: &mut Registry) -> Self {
        let mut add = Adder(registry);
        Self {
            stream_up: add.family("stream_up", "Whether we are connected: 1 or 0"),
            stream_changed: add.family(
                "stream_changed_timestamp_seconds",
                "When the connection was last opened or lost, since 1970",
            ),
            last_byte: add.family(
                "last_byte_timestamp_seconds",
                "When a byte last came, keep-alives included, since 1970",
            ),
            streams_opened: add.family("streams_opened", "Connections and streams that were opened"),
            requests: add.family("requests", "Requests to the server, by what came of them"),
            challenges: add.family(
                "challenges",
                "Challenges to us, by our answer and the reason of a decline",
            ),
            own_challenges: add.family("own_challenges", "Our own challenges, by what came of them"),
            challenges_waiting: add
                .family("challenges_waiting", "Challenges that wait for a free slot"),
            games_running: add.family("games_running", "Games that run"),
            games_started: add.family("games_started", "Games that were begun or taken up"),
            games: add.family("games", "Games that ended, by their result for us"),
            rating: add.family("rating", "Our atomic rating, once it is known"),
            bot_games_left: add.family(
                "bot_games_left",
                "Games with bots that may still be begun today, if they are counted",
            ),
            moves: add.family("moves", "Moves that we chose"),
            move_latency: add.histogram(
                "move_latency_seconds",
                "From the line that makes it our turn to the sending of our move, without the search",
                || Histogram::new(LATENCY_S),
            ),
            move_round_trip: add.histogram(
                "move_round_trip_seconds",
                "From the sending of our move to the line that shows it",
                || Histogram::new(ROUND_TRIP_S),
            ),
            thinking: add.histogram(
                "thinking_seconds",
                "How long a move was searched on our time",
                || Histogram::new(THINKING_S),
            ),
            depth: add.histogram("search_depth", "Plies that a search looked ahead", || {
                Histogram::new(DEPTH)
            }),
            speed: add.histogram(
                "search_nodes_per_second",
                "Nodes that a search visited in a second",
                || Histogram::new(NODES_PER_SECOND),
            ),
            time_left: add.histogram(
                "time_left_seconds",
                "What our clock had left when we moved",
                || Histogram::new(TIME_LEFT_S),
            ),
            faults: add.family("faults", "What went wrong and was got over, by kind"),
            store_dropped: add.add(
                "store_dropped_changes",
                "Changes that are lost to the store: too many waited to be written",
                Gauge::default(),
            ),
            warning: add.family("warning", "Whether something is wrong that does not stop us, by kind"),
        }
    }
}

/// Registers families under names that begin with that of the program.
struct Adder<'a>(&'a mut Registry);

impl Adder<'_> {
    fn family<L, M>(&mut self, name: &str, help: &str) -> Family<L, M>
    where
        L: Clone + std::hash::Hash + Eq,
        M: Default,
        Family<L, M>: Metric + Clone,
    {
        self.add(name, help, Family::default())
    }

    fn histogram(
        &mut self,
        name: &str,
        help: &str,
        new: fn() -> Histogram,
    ) -> Family<PlatformLabel, Histogram> {
        self.add(name, help, Family::new_with_constructor(new))
    }

    fn add<F: Metric + Clone>(&mut self, name: &str, help: &str, family: F) -> F {
        self.0.register(format!("meitner_{name}"), help, family.clone());
        family
    }
}
