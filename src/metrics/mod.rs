//! Counts what happens, and tells it: as figures in the text form of Prometheus, and as a judgement of
//! how the program is.
//!
//! The lowest layer: it imports nothing of ours, and whoever has something to count gets a handle.
//! Counters and gauges are atomics, and a histogram has a lock that is held for nanoseconds, so that
//! counting never delays a move. Names end up in dashboards and alerts of operators: one that has been
//! released is not changed. `docs/MONITORING.md` lists them all.

mod families;
mod health;
mod platform;
mod process;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use prometheus_client::{encoding::prometheus_text, metrics::info::Info, registry::Registry};

use families::{Families, Seconds, WarningLabel};

pub use health::{Beat, Health, PlatformHealth, STALL_LIMIT};
pub use platform::{
    AnswerKind, Fault, Heard, MoveFigures, OwnChallenge, PlatformMetrics, RequestOutcome,
    ResultKind, SearchFigures, StreamKind,
};

/// The type of what [`Metrics::text`] writes.
pub const CONTENT_TYPE: &str = prometheus_text::CONTENT_TYPE;

/// All figures of a process. Clones share them.
#[derive(Clone, Debug)]
pub struct Metrics(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    registry: Registry,
    families: Families,
    /// Those that were asked for, which are those that are played on.
    platforms: Mutex<BTreeMap<&'static str, PlatformMetrics>>,
    beats: health::Beats,
    /// What is wrong without stopping anything, by its kind. Written rarely, read by whoever asks.
    warnings: Mutex<BTreeMap<&'static str, String>>,
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    /// Nothing counted yet.
    pub fn new() -> Self {
        let mut registry = Registry::default();
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("meitner_build", "The version of the program", build);
        process::register(&mut registry);
        let families = Families::new(&mut registry);
        Self(Arc::new(Shared {
            registry,
            families,
            platforms: Mutex::default(),
            beats: health::Beats::default(),
            warnings: Mutex::default(),
        }))
    }

    /// The figures of one platform, which counts as played on from now on. The same name gives the same
    /// figures.
    pub fn platform(&self, name: &'static str) -> PlatformMetrics {
        let mut platforms = lock(&self.0.platforms);
        let new = || PlatformMetrics::new(name, &self.0.families);
        platforms.entry(name).or_insert_with(new).clone()
    }

    /// A loop begins that must turn every few seconds, until what is returned is dropped.
    pub fn begin_loop(&self, name: &'static str) -> Beat {
        self.0.beats.begin(name)
    }

    /// Something is wrong, but all goes on: what, in one sentence; `None` when it is well again.
    pub fn warn(&self, kind: &'static str, sentence: Option<&str>) {
        let gauge = self.0.families.warning.get_or_create_owned(&WarningLabel { kind });
        gauge.set(sentence.is_some().into());
        let mut warnings = lock(&self.0.warnings);
        match sentence {
            Some(sentence) => {
                warnings.insert(kind, sentence.to_owned());
            }
            None => {
                warnings.remove(kind);
            }
        }
    }

    /// So many changes will not be remembered, because too many waited to be written.
    pub fn set_store_dropped(&self, changes: u64) {
        self.0.families.store_dropped.set(i64::try_from(changes).unwrap_or(i64::MAX));
    }

    /// How the program is at `now`.
    pub fn health(&self, now: Instant) -> Health {
        let platforms = lock(&self.0.platforms);
        Health {
            stalled: self.0.beats.stalled(now),
            platforms: platforms.values().map(PlatformMetrics::health).collect(),
            warnings: lock(&self.0.warnings).values().cloned().collect(),
        }
    }

    /// All figures in the text form of Prometheus, version 0.0.4.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail, and no collector of ours does.
        let _ = prometheus_text::encode(&mut text, &self.0.registry);
        text
    }
}

/// Seconds since 1970, as Prometheus counts time.
fn unix_now() -> f64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default().as_secs_f64()
}

/// How long ago that was; nothing for what has never been.
fn age(timestamp: &Seconds) -> Option<Duration> {
    let at = timestamp.get();
    (at > 0.0).then(|| Duration::from_secs_f64((unix_now() - at).max(0.0)))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(metrics: &Metrics, series: &str) -> Option<f64> {
        let text = metrics.text();
        let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        line.map(|value| value.parse().expect("a number"))
    }

    #[test]
    fn what_is_counted_is_told() {
        let metrics = Metrics::new();
        let lichess = metrics.platform("lichess");
        let moves = "meitner_moves_total{platform=\"lichess\"}";
        assert_eq!(value(&metrics, moves), Some(0.0), "it is told before anything has happened");
        lichess.moved(&MoveFigures::default());
        metrics.platform("lichess").moved(&MoveFigures::default());
        assert_eq!(value(&metrics, moves), Some(2.0));
        assert_eq!(value(&metrics, "meitner_moves_total{platform=\"fics\"}"), None);
        lichess.fault(Fault::MoveResent);
        let fault = "meitner_faults_total{platform=\"lichess\",kind=\"move_resent\"}";
        assert_eq!(value(&metrics, fault), Some(1.0));
    }

    #[test]
    fn what_is_not_known_is_not_told() {
        let metrics = Metrics::new();
        let lichess = metrics.platform("lichess");
        for series in ["meitner_rating", "meitner_bot_games_left"] {
            let series = format!("{series}{{platform=\"lichess\"}}");
            assert_eq!(value(&metrics, &series), None);
        }
        lichess.set_rating(2100);
        lichess.set_bot_games_left(Some(7));
        assert_eq!(value(&metrics, "meitner_rating{platform=\"lichess\"}"), Some(2100.0));
        lichess.set_bot_games_left(None);
        assert_eq!(value(&metrics, "meitner_bot_games_left{platform=\"lichess\"}"), None);
    }

    #[test]
    fn durations_are_told_in_seconds() {
        let metrics = Metrics::new();
        metrics.platform("lichess").round_trip(Duration::from_millis(60));
        let bucket = |limit: &str| {
            let name = "meitner_move_round_trip_seconds_bucket";
            value(&metrics, &format!("{name}{{platform=\"lichess\",le=\"{limit}\"}}"))
        };
        assert_eq!((bucket("0.05"), bucket("0.075")), (Some(0.0), Some(1.0)), "{}", metrics.text());
    }

    #[test]
    fn a_warning_lasts_until_it_is_taken_back() {
        let metrics = Metrics::new();
        metrics.warn("store", Some("the disk is full"));
        assert_eq!(metrics.health(Instant::now()).warnings, ["the disk is full"]);
        assert_eq!(value(&metrics, "meitner_warning{kind=\"store\"}"), Some(1.0));
        metrics.warn("store", None);
        assert!(metrics.health(Instant::now()).warnings.is_empty());
        assert_eq!(value(&metrics, "meitner_warning{kind=\"store\"}"), Some(0.0));
    }

    #[test]
    fn no_figure_is_without_help() {
        let metrics = Metrics::new();
        let _lichess = metrics.platform("lichess");
        let text = metrics.text();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let series = line.split([' ', '{']).next().unwrap_or_default();
            let known = |suffix| {
                let name = series.strip_suffix(suffix).unwrap_or(series);
                text.contains(&format!("# HELP {name} "))
            };
            assert!(["", "_bucket", "_sum", "_count"].into_iter().any(known), "{series}");
        }
    }
}
