//! Tells the service manager how we are, as `sd_notify(3)` wants it: that we have started, a line of
//! status, a pulse for its watchdog, and that we are about to end.
//!
//! The pulse is no timer of its own: it is given only while every loop turns. Without a service manager
//! nothing is told.

use std::{
    io,
    time::{Duration, Instant},
};

use sd_notify::NotifyState;
use tokio::{
    task::{JoinHandle, spawn_blocking},
    time::{MissedTickBehavior, interval, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::metrics::{Health, Metrics};

/// How often it is looked at how we are.
const TICK: Duration = Duration::from_secs(1);
/// We have started when we are connected everywhere, so that a token that is not accepted fails the start
/// and is seen at once; or after this, since a server that is down is no reason not to start.
const START_LIMIT: Duration = Duration::from_secs(20);
/// The line of status is told no more often, but for a start and an end.
const STATUS_PAUSE: Duration = Duration::from_secs(10);
/// Of the time that the watchdog waits.
const PULSE_SHARE: u32 = 4;
/// The socket takes a message at once, unless the manager hangs.
const SEND_LIMIT: Duration = Duration::from_secs(2);

/// Tells it until `end`; `closing` is when nothing new is taken any more.
pub async fn report(metrics: Metrics, closing: CancellationToken, end: CancellationToken) {
    let mut reporter = Reporter::new(sd_notify::watchdog_enabled(), Instant::now());
    let mut tick = interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut sender, mut has_failed) = (Sender::default(), false);
    loop {
        let is_closing = closing.is_cancelled();
        let is_over = tokio::select! {
            _ = tick.tick() => false,
            () = closing.cancelled(), if !is_closing => false,
            () = end.cancelled() => true,
        };
        let now = Instant::now();
        let news = reporter.news(&metrics.health(now), closing.is_cancelled(), now);
        if !news.is_empty() {
            match sender.send(news.clone()).await {
                Ok(()) => reporter.told(news, now),
                Err(error) if !has_failed => {
                    has_failed = true;
                    warn!(error, "the service manager cannot be told how we are");
                }
                Err(_) => {}
            }
        }
        if is_over {
            return;
        }
    }
}

/// Sends one message at a time: while one is stuck, no further thread waits.
#[derive(Default)]
struct Sender {
    stuck: Option<JoinHandle<io::Result<()>>>,
}

impl Sender {
    async fn send(&mut self, news: Vec<News>) -> Result<(), String> {
        // What was stuck counts as not told, and is told again.
        if let Some(stuck) = self.stuck.take() {
            let _ = self.wait(stuck).await?;
        }
        let sending = spawn_blocking(move || {
            let states: Vec<_> = news.iter().map(News::state).collect();
            sd_notify::notify(&states)
        });
        self.wait(sending).await?
    }

    /// Waits for a message for a while; what came of it, if it is not stuck.
    async fn wait(
        &mut self,
        mut sending: JoinHandle<io::Result<()>>,
    ) -> Result<Result<(), String>, String> {
        match timeout(SEND_LIMIT, &mut sending).await {
            Ok(Ok(result)) => Ok(result.map_err(|error| error.to_string())),
            Ok(Err(error)) => Ok(Err(error.to_string())),
            Err(_) => {
                self.stuck = Some(sending);
                Err("it takes no message".to_owned())
            }
        }
    }
}

/// What is told.
#[derive(Clone, Debug, PartialEq, Eq)]
enum News {
    Ready,
    Stopping,
    Pulse,
    Status(String),
}

impl News {
    fn state(&self) -> NotifyState<'_> {
        match self {
            Self::Ready => NotifyState::Ready,
            Self::Stopping => NotifyState::Stopping,
            Self::Pulse => NotifyState::Watchdog,
            Self::Status(line) => NotifyState::Status(line),
        }
    }
}

/// What has been told so far.
struct Reporter {
    started: Instant,
    /// How often the watchdog wants a pulse; `None` without one.
    pulse_pause: Option<Duration>,
    is_ready: bool,
    is_stopping: bool,
    pulse_at: Option<Instant>,
    status: Option<(Instant, String)>,
}

impl Reporter {
    fn new(watchdog: Option<Duration>, now: Instant) -> Self {
        Self {
            started: now,
            pulse_pause: watchdog.map(|limit| limit / PULSE_SHARE),
            is_ready: false,
            is_stopping: false,
            pulse_at: None,
            status: None,
        }
    }

    /// What is to be told at `now`, until it is.
    fn news(&self, health: &Health, is_closing: bool, now: Instant) -> Vec<News> {
        let mut news = Vec::new();
        let is_late = now.saturating_duration_since(self.started) >= START_LIMIT;
        if !self.is_ready && (health.is_ready() || is_late) {
            news.push(News::Ready);
        }
        if is_closing && !self.is_stopping {
            news.push(News::Stopping);
        }
        let is_urgent = !news.is_empty();
        let is_due = |at: Instant, pause| now.saturating_duration_since(at) >= pause;
        if let Some(pause) = self.pulse_pause
            && health.is_alive()
            && self.pulse_at.is_none_or(|at| is_due(at, pause))
        {
            news.push(News::Pulse);
        }
        let line = if is_closing { format!("closing; {}", health.line()) } else { health.line() };
        let status = self.status.as_ref();
        let is_new = status
            .is_none_or(|(at, told)| *told != line && (is_urgent || is_due(*at, STATUS_PAUSE)));
        if is_new {
            news.push(News::Status(line));
        }
        news
    }

    /// This was told at `now`.
    fn told(&mut self, news: Vec<News>, now: Instant) {
        for one in news {
            match one {
                News::Ready => self.is_ready = true,
                News::Stopping => self.is_stopping = true,
                News::Pulse => self.pulse_at = Some(now),
                News::Status(line) => self.status = Some((now, line)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::metrics::PlatformHealth;

    use super::*;

    fn health(is_up: bool) -> Health {
        let platform = PlatformHealth {
            name: "lichess",
            is_up,
            since: None,
            last_byte: None,
            games: 2,
            games_today: 31,
        };
        Health { platforms: vec![platform], ..Health::default() }
    }

    fn hanging() -> Health {
        Health { stalled: vec![("lichess", Duration::from_secs(40))], ..health(true) }
    }

    /// What is told at `now`, and arrives.
    fn tell(reporter: &mut Reporter, health: &Health, is_closing: bool, now: Instant) -> Vec<News> {
        let news = reporter.news(health, is_closing, now);
        reporter.told(news.clone(), now);
        news
    }

    const S: Duration = Duration::from_secs(1);

    #[test]
    fn we_have_started_when_we_are_connected() {
        let start = Instant::now();
        let mut reporter = Reporter::new(None, start);
        let status = |line: &str| News::Status(line.to_owned());
        let down = tell(&mut reporter, &health(false), false, start);
        assert_eq!(down, [status("2 games, 31 today; lichess not connected yet")]);
        let up = tell(&mut reporter, &health(true), false, start + S);
        assert_eq!(up, [News::Ready, status("2 games, 31 today; lichess up")]);
        assert_eq!(tell(&mut reporter, &health(true), false, start + 2 * S), []);
        let closing = tell(&mut reporter, &health(true), true, start + 3 * S);
        assert_eq!(closing, [News::Stopping, status("closing; 2 games, 31 today; lichess up")]);
    }

    #[test]
    fn a_server_that_is_down_does_not_fail_the_start() {
        let start = Instant::now();
        let mut reporter = Reporter::new(None, start);
        let is_ready = |news: &[News]| news.contains(&News::Ready);
        assert!(!is_ready(&tell(&mut reporter, &health(false), false, start + 19 * S)));
        assert!(is_ready(&tell(&mut reporter, &health(false), false, start + 20 * S)));
        assert!(!is_ready(&tell(&mut reporter, &health(true), false, start + 21 * S)));
    }

    #[test]
    fn what_did_not_arrive_is_told_again() {
        let start = Instant::now();
        let mut reporter = Reporter::new(Some(60 * S), start);
        let lost = reporter.news(&health(true), true, start);
        assert!(lost.starts_with(&[News::Ready, News::Stopping, News::Pulse]), "{lost:?}");
        assert_eq!(tell(&mut reporter, &health(true), true, start + S), lost);
        assert_eq!(tell(&mut reporter, &health(true), true, start + 2 * S), []);
    }

    #[test]
    fn there_is_a_pulse_only_while_every_loop_turns() {
        let start = Instant::now();
        let mut reporter = Reporter::new(Some(60 * S), start);
        let mut has_pulse = |health: &Health, after: u32| {
            tell(&mut reporter, health, false, start + after * S).contains(&News::Pulse)
        };
        assert!(has_pulse(&health(true), 0));
        assert!(!has_pulse(&health(true), 14));
        assert!(has_pulse(&health(true), 15));
        assert!(!has_pulse(&hanging(), 30), "a loop hangs");
        assert!(!has_pulse(&hanging(), 45));
        assert!(has_pulse(&health(false), 46), "a server that is down is not our fault");
    }

    #[test]
    fn a_status_that_changes_all_the_time_is_told_now_and_then() {
        let start = Instant::now();
        let mut reporter = Reporter::new(None, start);
        let mut told = 0;
        for second in 0..60 {
            let since = Some(second * S);
            let mut health = health(true);
            health.platforms[0].since = since;
            told += tell(&mut reporter, &health, false, start + second * S).len();
        }
        assert_eq!(told, 1 + 6, "ready, and a line every ten seconds");
    }
}
