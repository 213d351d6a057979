//! The one task that owns an account's connection: logs in, again and again, and tells the daemon and
//! the running game what the server says.
//!
//! A server tells everything on one line, and has one game at a time for an account; so that this task
//! also runs the game's [`adapter`](super::adapter). It decides nothing about challenges, and asks
//! nobody for a game by itself. What is known while we are logged in is in `session`.

use std::time::{Duration, Instant, SystemTime};

use tokio::{
    sync::mpsc,
    time::{sleep, sleep_until},
};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::{
    game::{GameId, LagMeter, driver},
    metrics::{PlatformMetrics, StreamKind},
    platform::{
        Challenge, ChallengeClock, DeclineReason,
        backoff::Backoff,
        fics::{
            LinkError, Options, Retry,
            link::Link,
            login::Welcome,
            session::{End, Session, command_of},
        },
    },
    rules::Color,
};

/// A session that lived for so long after its login was healthy: the waits begin anew after it.
const HEALTHY_AGE: Duration = Duration::from_mins(1);
/// Whoever takes our account over so often, each time within a day of the time before, is to have it.
const MOST_REPLACEMENTS: u32 = 3;
const REPLACEMENT_LIFE: Duration = Duration::from_hours(24);

/// What the client tells the daemon.
#[derive(Debug)]
pub enum Event {
    /// We are logged in and can be challenged.
    Connected(Login),
    /// The connection is down; it is being opened again. A game that ran is over for now.
    Lost,
    /// Somebody challenges us, who is the target. The target's rating is ours.
    Challenge(Box<Challenge>, Kind),
    /// A challenge is gone.
    ChallengeGone(GameId),
    /// These have an adjourned game with us, and are online.
    Adjourned(Vec<String>),
    /// An invitation of ours is over without a game.
    InvitationOver(GameId, Outcome),
    /// A game begins, and waits for somebody to play it.
    Game(Box<NewGame>),
    /// Our rating has changed.
    Rated {
        /// What it is now.
        rating: u32,
        /// The game that has changed it, and by how much, if both are known.
        game: Option<(GameId, i32)>,
    },
}

/// As whom we are logged in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    /// The name.
    pub name: String,
    /// Whether the account is registered as a computer's.
    pub is_computer: bool,
    /// Whether it is a guest's.
    pub is_guest: bool,
}

/// What kind of challenge it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// For a new game.
    New,
    /// To go on with an adjourned game, which was accepted once.
    Adjourned,
    /// One that we cannot understand, or not as it is: its terms are strange.
    Strange,
}

/// What we ask somebody for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Invitation {
    /// To go on with an adjourned game.
    Resume(String),
    /// To play once more on the same terms.
    Rematch(String),
    /// To play on these terms, such as `3 0 unrated`.
    Match {
        /// Whom.
        name: String,
        /// On which terms.
        terms: String,
    },
    /// Anybody, on these terms. Whoever answers is a challenger like any other.
    Seek(String),
}

/// How an invitation is over that has not become a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A seek stands.
    Posted,
    /// It was declined, or withdrawn by the server.
    Declined,
    /// The server does not let it through now.
    Refused,
    /// Nobody of that name is there.
    Absent,
    /// There is no game to go on with.
    NotAdjourned,
}

/// A game that begins, or goes on.
#[derive(Debug)]
pub struct NewGame {
    /// Its name, which no other game has.
    pub id: GameId,
    /// The opponent, as displayed.
    pub opponent: String,
    /// Whether the opponent is a program, as far as the server tells.
    pub is_computer: bool,
    /// Whether it goes on after a break.
    pub is_resumed: bool,
    /// Whether the opponent is a guest: such a game does not go on after a break.
    pub is_guest: bool,
    /// What is played for, by which clock and with which color.
    pub terms: GameTerms,
    /// Our rating, if it is known.
    pub our_rating: Option<u32>,
    /// The challenge that it came of, or the invitation of ours, if one of them is known.
    pub challenge: Option<GameId>,
    /// For the driver of its session.
    pub link: driver::Link,
}

/// What does not change in a game, whatever breaks it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameTerms {
    /// Our color.
    pub our_color: Color,
    /// Whether ratings are at stake.
    pub rated: bool,
    /// The clock; `None` without a limit of time.
    pub clock: Option<ChallengeClock>,
}

/// What the daemon asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Accept a challenge.
    Accept(GameId),
    /// Decline one, and say why.
    Decline(GameId, DeclineReason),
    /// Be open to challenges, or not.
    SetOpen(bool),
    /// Ask somebody for a game. There is one invitation at a time.
    Invite(GameId, Invitation),
    /// Ask no longer.
    Withdraw(GameId),
    /// Take back what is sought.
    Unseek,
}

/// How far a session came.
#[derive(Debug, Default)]
pub(super) struct Course {
    pub(super) games: u64,
    logged_in_at: Option<Instant>,
}

/// Follows an account until `cancel`, or until the server does not let it in any more.
///
/// `events` is bounded: when it is full the connection is not read. `requests` is always drained.
///
/// # Errors
///
/// [`LinkError`] that no further try would cure.
pub async fn run(
    options: &Options,
    (lag, metrics): (&LagMeter, &PlatformMetrics),
    events: mpsc::Sender<Event>,
    mut requests: mpsc::Receiver<Request>,
    cancel: CancellationToken,
) -> Result<(), LinkError> {
    let (first, longest) = options.waits;
    let mut backoff = Backoff::new(first, longest);
    let started = Instant::now();
    let mut is_open = true;
    let mut replaced: Option<(Instant, u32)> = None;
    let run = since_1970();
    for number in 1_u64.. {
        // Short enough for an id, whatever is added.
        let name = format!("fics-{run:x}-{number}");
        let mut course = Course::default();
        let wishes = (&mut requests, &mut is_open);
        let meters = (lag, metrics);
        let session = serve(options, meters, &events, wishes, &name, started, &mut course);
        let result = tokio::select! {
            // First, since the games end as well: theirs would be resigned.
            biased;
            () = cancel.cancelled() => return Ok(()),
            result = session => result,
        };
        let Err(error) = result else { return Ok(()) };
        // Nobody listens any more: the end is near.
        let _closed = events.send(Event::Lost).await;
        // A game that was broken off waits for us. A login that took long is no sign of health.
        if course.games > 0 || course.logged_in_at.is_some_and(|at| at.elapsed() >= HEALTHY_AGE) {
            backoff.reset();
        }
        if error == LinkError::Replaced {
            let recent = replaced.filter(|(at, _)| at.elapsed() < REPLACEMENT_LIFE);
            let times = recent.map_or(1, |(_, times)| times + 1);
            replaced = Some((Instant::now(), times));
            if times >= MOST_REPLACEMENTS {
                return Err(LinkError::ReplacedAgain);
            }
        }
        let wait = match error.retry() {
            Retry::Never => return Err(error),
            Retry::Soon => backoff.next_wait(),
            Retry::After(least) => backoff.next_wait_at_least(least),
            Retry::Later => backoff.next_wait_at_least(options.stay_away),
        };
        warn!(%error, wait_ms = wait.as_millis(), "no connection to FICS");
        if cancel.run_until_cancelled(wait_for(wait, &mut requests, &mut is_open)).await.is_none() {
            return Ok(());
        }
        if requests.is_closed() {
            // The daemon is gone.
            return Ok(());
        }
    }
    Ok(())
}

/// Waits; what is asked for meanwhile is of no use, but for the wish to be open or not.
async fn wait_for(wait: Duration, requests: &mut mpsc::Receiver<Request>, is_open: &mut bool) {
    let mut pause = std::pin::pin!(sleep(wait));
    loop {
        tokio::select! {
            () = &mut pause => return,
            request = requests.recv() => match request {
                Some(Request::SetOpen(wish)) => *is_open = wish,
                Some(_) => {}
                None => return,
            },
        }
    }
}

/// One session, from the connection to its end. `Ok`: the daemon is gone.
async fn serve(
    options: &Options,
    meters: (&LagMeter, &PlatformMetrics),
    events: &mpsc::Sender<Event>,
    (requests, is_open): (&mut mpsc::Receiver<Request>, &mut bool),
    name: &str,
    started: Instant,
    course: &mut Course,
) -> Result<(), LinkError> {
    let mut link = Link::open(options, started).await?;
    let welcome = link.log_in(options).await?;
    course.logged_in_at = Some(Instant::now());
    let Welcome { account, .. } = &welcome;
    info!(
        account = account.name,
        computer = account.is_computer(),
        guest = account.is_guest(),
        "logged in to FICS"
    );
    let heard = meters.1.heard(StreamKind::Account);
    let mut session = Session::new(options, meters, events, welcome, name, *is_open, course);
    loop {
        for line in session.take_outgoing() {
            link.send(&line);
        }
        link.set_in_game(session.game.is_some());
        let due = session.due();
        let result = tokio::select! {
            next = link.next() => match next {
                Ok((frame, at)) => {
                    heard.now();
                    session.on_frame(&mut link, &frame, at).await
                }
                Err(error) => Err(End::Failed(error)),
            },
            request = requests.recv() => {
                let Some(request) = request else {
                    link.send("quit");
                    link.close().await;
                    return Ok(());
                };
                if let Request::SetOpen(wish) = request {
                    *is_open = wish;
                }
                session.on_request(request).await
            }
            command = command_of(session.game.as_mut().map(|game| &mut game.commands)) => {
                session.on_game_command(command);
                Ok(())
            }
            word = command_of(session.farewell.as_mut()) => {
                session.on_farewell(word);
                Ok(())
            }
            () = at(due) => session.on_due().await,
        };
        if let Err(end) = result {
            session.on_link_lost();
            return match end {
                End::DaemonGone => Ok(()),
                End::Failed(error) => Err(error),
            };
        }
    }
}

/// In seconds; which run of the program this is.
fn since_1970() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

async fn at(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due.into()).await,
        None => std::future::pending().await,
    }
}
