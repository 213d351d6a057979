//! Whether the program lives, whether it can be played with, and what is wrong.

use std::{
    fmt::{self, Write as _},
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use crate::metrics::lock;

/// A loop that has not turned for so long hangs. They turn every second.
pub const STALL_LIMIT: Duration = Duration::from_secs(30);

/// The loops that run.
#[derive(Debug, Default)]
pub(super) struct Beats {
    /// What beats are counted from.
    epoch: OnceLock<Instant>,
    /// Touched at the beginning and the end of loops, and by whoever asks.
    running: Arc<Mutex<Vec<Running>>>,
}

#[derive(Debug)]
struct Running {
    name: &'static str,
    last: Arc<AtomicU64>,
}

/// The pulse of a loop, which counts as running until this is dropped.
#[derive(Debug)]
pub struct Beat {
    epoch: Instant,
    /// Milliseconds since the epoch. Written by the loop, read by whoever asks.
    last: Arc<AtomicU64>,
    running: Arc<Mutex<Vec<Running>>>,
}

impl Beats {
    pub(super) fn begin(&self, name: &'static str) -> Beat {
        let epoch = *self.epoch.get_or_init(Instant::now);
        let (last, running) = (Arc::new(AtomicU64::new(0)), Arc::clone(&self.running));
        let beat = Beat { epoch, last: Arc::clone(&last), running };
        beat.now();
        lock(&self.running).push(Running { name, last });
        beat
    }

    /// The loops that hang, and for how long.
    pub(super) fn stalled(&self, now: Instant) -> Vec<(&'static str, Duration)> {
        let Some(&epoch) = self.epoch.get() else { return Vec::new() };
        let age = |running: &Running| {
            let last = epoch + Duration::from_millis(running.last.load(Ordering::Relaxed));
            (running.name, now.saturating_duration_since(last))
        };
        lock(&self.running).iter().map(age).filter(|(_, age)| *age >= STALL_LIMIT).collect()
    }
}

impl Beat {
    /// The loop turns.
    pub fn now(&self) {
        let since = self.epoch.elapsed().as_millis();
        self.last.store(u64::try_from(since).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

impl Drop for Beat {
    fn drop(&mut self) {
        lock(&self.running).retain(|running| !Arc::ptr_eq(&running.last, &self.last));
    }
}

/// How the program is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// The loops that hang, and for how long.
    pub stalled: Vec<(&'static str, Duration)>,
    /// Where we play.
    pub platforms: Vec<PlatformHealth>,
    /// What is wrong without stopping anything, a sentence each.
    pub warnings: Vec<String>,
}

/// How it is on one platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlatformHealth {
    /// Which one.
    pub name: &'static str,
    /// Whether we are connected.
    pub is_up: bool,
    /// For how long we are, or are not; `None` if we never were.
    pub since: Option<Duration>,
    /// How long ago a byte came.
    pub last_byte: Option<Duration>,
    /// Games that run.
    pub games: u64,
    /// Games that ended today (UTC).
    pub games_today: u64,
}

impl Health {
    /// Whether all loops turn.
    pub fn is_alive(&self) -> bool {
        self.stalled.is_empty()
    }

    /// Whether we live and are connected wherever we play.
    pub fn is_ready(&self) -> bool {
        self.is_alive()
            && !self.platforms.is_empty()
            && self.platforms.iter().all(|platform| platform.is_up)
    }

    /// All of it in one line.
    pub fn line(&self) -> String {
        let games: u64 = self.platforms.iter().map(|platform| platform.games).sum();
        let today: u64 = self.platforms.iter().map(|platform| platform.games_today).sum();
        let mut line = format!("{games} {}, {today} today", plural(games, "game"));
        for platform in &self.platforms {
            // Writing to a string does not fail.
            let _ = write!(line, "; {platform}");
        }
        for (name, age) in &self.stalled {
            let _ = write!(line, "; the loop of {name} hangs for {}", Short(*age));
        }
        for warning in &self.warnings {
            let _ = write!(line, "; warning: {warning}");
        }
        line
    }
}

impl fmt::Display for PlatformHealth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, is_up, since, .. } = self;
        match (is_up, since) {
            (true, Some(since)) => write!(f, "{name} up for {}", Short(*since)),
            (true, None) => write!(f, "{name} up"),
            (false, Some(since)) => write!(f, "{name} down for {}", Short(*since)),
            (false, None) => write!(f, "{name} not connected yet"),
        }
    }
}

/// A duration for people, in its greatest unit.
struct Short(Duration);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_secs() {
            s @ ..120 => write!(f, "{s} s"),
            s @ 120..7_200 => write!(f, "{} min", s / 60),
            s @ 7_200..172_800 => write!(f, "{} h", s / 3_600),
            s => write!(f, "{} days", s / 86_400),
        }
    }
}

fn plural(count: u64, word: &str) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}

#[cfg(test)]
mod tests {
    use crate::metrics::{Metrics, ResultKind};

    use super::*;

    #[test]
    fn a_loop_that_does_not_turn_hangs_until_it_ends() {
        let metrics = Metrics::new();
        let beat = metrics.begin_loop("lichess");
        let later = Instant::now() + STALL_LIMIT + Duration::from_secs(1);
        assert!(metrics.health(Instant::now()).is_alive());
        let health = metrics.health(later);
        assert!(!health.is_alive());
        assert_eq!(health.line(), "0 games, 0 today; the loop of lichess hangs for 31 s");
        drop(beat);
        assert!(metrics.health(later).is_alive());
    }

    #[test]
    fn we_are_ready_once_we_are_connected_everywhere() {
        let metrics = Metrics::new();
        let is_ready = || metrics.health(Instant::now()).is_ready();
        assert!(!is_ready(), "nobody plays anywhere");
        let (lichess, fics) = (metrics.platform("lichess"), metrics.platform("fics"));
        lichess.stream_opened();
        assert!(!is_ready());
        fics.stream_opened();
        assert!(is_ready());
        lichess.stream_lost();
        assert!(!is_ready());
        let line = metrics.health(Instant::now()).line();
        assert_eq!(line, "0 games, 0 today; fics up for 0 s; lichess down for 0 s");
    }

    #[test]
    fn one_line_tells_all() {
        let metrics = Metrics::new();
        let lichess = metrics.platform("lichess");
        let line = || metrics.health(Instant::now()).line();
        assert_eq!(line(), "0 games, 0 today; lichess not connected yet");
        lichess.set_load(1, 0);
        lichess.game_over(ResultKind::Won);
        metrics.warn("store", Some("the disk is full"));
        assert_eq!(line(), "1 game, 1 today; lichess not connected yet; warning: the disk is full");
    }

    #[test]
    fn durations_are_short() {
        for (seconds, text) in
            [(0, "0 s"), (119, "119 s"), (120, "2 min"), (7_200, "2 h"), (172_800, "2 days")]
        {
            assert_eq!(Short(Duration::from_secs(seconds)).to_string(), text);
        }
    }
}
