//! One game on lichess: follows its stream and carries out a session's commands.
//!
//! The stream is opened again whenever it fails while the game goes on, and whenever it contradicts
//! what it said before: the session is told of lists that grow, and of whole games. A move is sent
//! until it has arrived, and never again once it has. Whether it has is told by the stream alone:
//! an answer can get lost, and so can the move.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use futures::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use tokio::{
    sync::mpsc,
    time::{sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use crate::{
    game::{Arrived, Command, Event, GameId, LostReason, Status},
    metrics::{Fault, StreamKind},
    platform::{
        backoff::Backoff,
        lichess::{
            ApiError, Client, Retry,
            model::{self, GameLine},
            pending::{MoveFate, PendingMove, Shown},
            refusals::Refusals,
            stream::{Line, LineStream, StreamEnd},
        },
    },
};

/// Waits between tries to open the stream: our clock runs, so that they stay short however many
/// tries have failed. The first try after a healthy stream is made at once.
const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// The longest wait that a server can ask for before a try to open the stream.
const LONGEST_STATED_WAIT: Duration = Duration::from_secs(10);
/// Fewer refusals in a row than this to open the stream do not lose the game, however long they
/// last.
const LEAST_REFUSALS: u32 = 5;
/// So many answers in a row that there is no such game are believed. One that was just accepted
/// may not be known everywhere yet.
const LEAST_ABSENCES: u32 = 4;
/// A stream that lived for so long was healthy.
const HEALTHY_AGE: Duration = Duration::from_secs(5);
/// Events held back for a session that is slow to take them, before the stream is left unread.
const MAX_OUTBOX: usize = 64;
/// Waits after the server complained in a line of the stream.
const LONGEST_COMPLAINT_WAIT: Duration = Duration::from_secs(10);
/// A game of which nothing is heard but keep-alives is looked at afresh, ever more rarely.
const LONGEST_QUIET: Duration = Duration::from_mins(10);
/// A move gets so many round trips to be answered, but not less than this: see `answer_limit`.
const ANSWER_ROUND_TRIPS: u32 = 4;
const LEAST_ANSWER_LIMIT: Duration = Duration::from_secs(1);
/// How long an ended game waits for the answers to its last requests, so that their connections
/// can be used again.
const FAREWELL: Duration = Duration::from_millis(500);

/// Follows a game until it ends, is lost, or nobody listens any more.
///
/// Both channels are bounded. `events` may fill up, then lines wait here in order; `commands` is
/// always drained.
pub async fn run(
    client: &Client,
    account: &str,
    game: &GameId,
    events: mpsc::Sender<Arrived>,
    commands: mpsc::Receiver<Command>,
) {
    let adapter = Adapter {
        client,
        account,
        game,
        stream: Stream::opening(client, game),
        asked_at: now(),
        backoff: Backoff::new(FIRST_WAIT, LONGEST_WAIT),
        complaints: Backoff::new(FIRST_WAIT, LONGEST_COMPLAINT_WAIT),
        refusals: Refusals::new(LEAST_REFUSALS, client.patience().game),
        absences: Refusals::new(LEAST_ABSENCES, Duration::ZERO),
        outbox: VecDeque::new(),
        events,
        commands,
        requests: FuturesUnordered::new(),
        answering: CancellationToken::new(),
        pending: None,
        tries: 0,
        slowness: 0,
        shown: None,
        is_in_doubt: false,
        quiet: client.options().quiet,
        heard_at: now(),
        is_over: false,
    };
    adapter.run().await;
}

struct Adapter<'a> {
    client: &'a Client,
    account: &'a str,
    game: &'a GameId,
    stream: Stream<'a>,
    /// When the stream was last asked for.
    asked_at: Instant,
    backoff: Backoff,
    /// Waits after complaints of the server's, until a move came in.
    complaints: Backoff,
    /// Refusals to open the stream, since it last opened.
    refusals: Refusals,
    /// Answers that there is no such game, since the stream last opened.
    absences: Refusals,
    /// Events that the channel had no room for.
    outbox: VecDeque<Arrived>,
    events: mpsc::Sender<Arrived>,
    commands: mpsc::Receiver<Command>,
    requests: FuturesUnordered<BoxFuture<'a, Answer>>,
    /// Ends the answers to offers that are under way. Our next move declines what is offered, and a yes
    /// that came after it would be an offer of our own.
    answering: CancellationToken,
    /// Our move, until the stream shows it.
    pending: Option<PendingMove>,
    /// How many times a move was sent, which gives each try its number.
    tries: u64,
    /// How many times in a row the limit for an answer was too short, or the answer did not come.
    slowness: u32,
    /// The moves that the stream last showed.
    shown: Option<Vec<String>>,
    /// The stream contradicted itself: until the next whole game the position is unknown.
    is_in_doubt: bool,
    /// For how long the stream may have nothing to say before the whole game is asked for.
    quiet: Duration,
    /// When it last said something, or was asked for the whole game.
    heard_at: Instant,
    is_over: bool,
}

/// The game's stream in its three stages.
enum Stream<'a> {
    Waiting { until: Instant },
    Opening(BoxFuture<'a, Result<LineStream, ApiError>>),
    Open(OpenStream),
}

struct OpenStream {
    lines: Box<LineStream>,
    opened: Instant,
    has_full: bool,
}

/// What comes of a stream.
enum News {
    WaitOver,
    Opened(Result<LineStream, ApiError>),
    Line(Line),
    End(StreamEnd),
}

/// What comes of a request.
enum Answer {
    Move { try_number: u64, result: Result<(), ApiError> },
    Command { command: Command, result: Result<(), ApiError> },
}

/// One thing that the adapter waits for.
enum Wake {
    News(News),
    Command(Option<Command>),
    Answer(Answer),
    Room(bool),
    MoveDue,
    Quiet,
}

impl<'a> Stream<'a> {
    fn opening(client: &'a Client, game: &'a GameId) -> Self {
        Self::Opening(client.open_game_stream(game).boxed())
    }

    /// Cancel-safe: what is half-done stays in the stage.
    async fn next(&mut self) -> News {
        match self {
            Self::Waiting { until } => {
                sleep_until((*until).into()).await;
                News::WaitOver
            }
            Self::Opening(opening) => News::Opened(opening.await),
            Self::Open(open) => match open.lines.next_line().await {
                Ok(line) => News::Line(line),
                Err(end) => News::End(end),
            },
        }
    }
}

impl Adapter<'_> {
    async fn run(mut self) {
        while !(self.is_over && self.outbox.is_empty()) {
            match self.wake().await {
                Wake::News(news) => self.on_news(news),
                Wake::Command(Some(command)) => self.on_command(command),
                Wake::Answer(answer) => self.on_answer(answer),
                Wake::Room(true) => {}
                Wake::MoveDue => self.on_move_due(),
                Wake::Quiet => self.on_quiet(),
                // The driver is gone.
                Wake::Command(None) | Wake::Room(false) => return,
            }
        }
        if timeout(FAREWELL, self.say_goodbye()).await.is_err() {
            debug!("left without the last answers");
        }
    }

    /// Carries out what the session still has to say, and waits for the last answers.
    async fn say_goodbye(&mut self) {
        while let Some(command) = self.commands.recv().await {
            if matches!(command, Command::Say { .. }) {
                self.on_command(command);
            }
        }
        while self.requests.next().await.is_some() {}
    }

    async fn wake(&mut self) -> Wake {
        let has_room = self.outbox.len() < MAX_OUTBOX && !self.is_over;
        let move_due = self.pending.as_ref().and_then(PendingMove::due);
        let quiet_until = self.is_stream_open().then(|| self.heard_at + self.quiet);
        tokio::select! {
            news = self.stream.next(), if has_room => Wake::News(news),
            command = self.commands.recv(), if !self.is_over => Wake::Command(command),
            Some(answer) = self.requests.next() => Wake::Answer(answer),
            permit = self.events.reserve(), if !self.outbox.is_empty() => match permit {
                Ok(permit) => {
                    if let Some(arrived) = self.outbox.pop_front() {
                        permit.send(arrived);
                    }
                    Wake::Room(true)
                }
                Err(_) => Wake::Room(false),
            },
            () = at(move_due) => Wake::MoveDue,
            () = at(quiet_until), if has_room => Wake::Quiet,
        }
    }

    fn on_news(&mut self, news: News) {
        match news {
            News::WaitOver => self.open(),
            News::Opened(Ok(lines)) => {
                self.refusals.reset();
                self.absences.reset();
                let opened = now();
                self.heard_at = opened;
                self.client.metrics().opened(StreamKind::Game);
                self.stream =
                    Stream::Open(OpenStream { lines: Box::new(lines), opened, has_full: false });
            }
            News::Opened(Err(error)) => self.on_open_failed(&error),
            News::Line(line) => self.on_line(&line),
            News::End(end) => {
                info!(%end, "game stream lost");
                self.client.metrics().fault(Fault::GameStreamLost);
                self.open_again();
            }
        }
    }

    fn open(&mut self) {
        // The old one goes first: two of the same agent would close each other.
        self.asked_at = now();
        self.stream = Stream::Waiting { until: self.asked_at };
        self.stream = Stream::opening(self.client, self.game);
    }

    /// Whether the stream is open and has shown the whole game.
    fn is_stream_open(&self) -> bool {
        matches!(&self.stream, Stream::Open(open) if open.has_full)
    }

    /// Opens the stream again: at once if it was healthy, else after a wait.
    fn open_again(&mut self) {
        let is_healthy = match &self.stream {
            Stream::Open(open) => open.has_full && open.opened.elapsed() >= HEALTHY_AGE,
            _ => false,
        };
        if is_healthy {
            self.open();
        } else {
            let until = now() + self.backoff.next_wait();
            self.stream = Stream::Waiting { until };
        }
    }

    fn on_open_failed(&mut self, error: &ApiError) {
        let now = now();
        match error.status() {
            Some(404) if self.absences.count(now) => {
                return self.lose(LostReason::NotFound, error);
            }
            Some(400 | 401 | 403) if self.refusals.count(now) => {
                return self.lose(LostReason::Refused, error);
            }
            _ => {}
        }
        let wait = wait_to_open(error, &mut self.backoff);
        warn!(%error, wait_ms = wait.as_millis(), "cannot open the game stream");
        self.client.metrics().fault(Fault::GameStreamRefused);
        self.stream = Stream::Waiting { until: now + wait };
    }

    /// The game cannot be followed any more.
    fn lose(&mut self, reason: LostReason, error: &ApiError) {
        warn!(%error, "the game cannot be followed");
        self.emit(now(), Event::Lost(reason));
        self.is_over = true;
    }

    fn on_line(&mut self, line: &Line) {
        self.heard_at = line.at;
        if let Some(complaint) = line.text.as_deref().and_then(|text| self.client.complaint(text)) {
            let wait = self.complaints.next_wait();
            warn!(complaint, wait_ms = wait.as_millis(), "the server complains in a game stream");
            self.stream = Stream::Waiting { until: now() + wait };
            return;
        }
        let Some(decoded) = line.text.as_deref().and_then(decode) else {
            // It may have been the opponent's move: only a fresh gameFull can tell.
            self.client.metrics().fault(Fault::Unreadable);
            return self.open_again();
        };
        let Some(event) = decoded.into_event(self.account) else { return };
        match &event {
            Event::Full(full) => {
                if let Stream::Open(open) = &mut self.stream {
                    open.has_full = true;
                }
                // The server answers again: what went wrong before is over.
                self.backoff.reset();
                self.is_in_doubt = false;
                self.on_moves(&full.state.moves, Shown::Full { asked_at: self.asked_at }, line.at);
                self.is_over = full.state.status != Status::Running;
            }
            Event::State(state) => {
                if matches!(&self.stream, Stream::Open(open) if !open.has_full) {
                    warn!("a game stream began without the whole game");
                    return self.open_again();
                }
                self.is_over = state.status != Status::Running;
                if !self.is_over && self.contradicts(&state.moves) {
                    warn!(
                        known = self.shown.as_ref().map(Vec::len),
                        shown = state.moves.len(),
                        "a list of moves contradicts the one before, looking at the whole game"
                    );
                    self.is_in_doubt = true;
                    return self.open_again();
                }
                self.on_moves(&state.moves, Shown::Change, line.at);
            }
            Event::Lost(reason) => {
                warn!(%reason, "the game cannot be followed");
                self.is_over = true;
            }
            Event::OpponentGone(_) | Event::MoveRefused { .. } | Event::Chat(_) => {}
        }
        self.emit(line.at, event);
    }

    /// Whether a list is not the known one with more moves behind it. A takeback looks like that
    /// as well: then the whole game confirms it.
    fn contradicts(&self, moves: &[String]) -> bool {
        self.shown.as_ref().is_some_and(|known| !moves.starts_with(known))
    }

    /// Learns from the stream whether our move has arrived, and how long that took.
    fn on_moves(&mut self, moves: &[String], shown: Shown, at: Instant) {
        let count = moves.len();
        if self.shown.as_deref() != Some(moves) {
            self.shown = Some(moves.to_vec());
            self.quiet = self.client.options().quiet;
            if shown == Shown::Change {
                self.complaints.reset();
            }
        }
        let Some(pending) = &mut self.pending else { return };
        if let Some(round_trip) = pending.round_trip(count, shown, at) {
            self.client.lag_meter().learn(round_trip);
            self.client.metrics().round_trip(round_trip);
            self.slowness = 0;
        }
        match pending.on_moves(count, shown, now()) {
            MoveFate::Open => {}
            MoveFate::Settled => self.pending = None,
            MoveFate::Missing => {
                if pending.tries() > 0 {
                    info!(ply = count, "our move is missing from the game, sending it again");
                }
                self.send_move();
            }
        }
    }

    fn on_command(&mut self, command: Command) {
        let shown = self.shown.as_ref().map(Vec::len);
        match command {
            Command::Play { ply, .. } if shown.is_some_and(|shown| shown != ply) => {
                // The game went on while the move was chosen; the session learns it next.
                debug!(ply, shown, "dropped a move for a position that is gone");
            }
            Command::Play { ply, mv, offer_draw } => {
                self.answering.cancel();
                self.answering = CancellationToken::new();
                self.pending = Some(PendingMove::new(ply, mv, offer_draw, now()));
                // In doubt the move waits for the whole game.
                if !self.is_in_doubt {
                    self.send_move();
                }
            }
            Command::Reopen => self.look_again(),
            Command::AcceptDraw | Command::DeclineDraw | Command::AnswerTakeback(_) => {
                let answering = self.answering.clone();
                let (client, game) = (self.client, self.game);
                let request = async move {
                    let answer = carry_out(client, game, command.clone());
                    let given_up = || Err(ApiError::NoAnswer("our move came first".to_owned()));
                    let result = answering.run_until_cancelled(answer).await;
                    result.unwrap_or_else(|| Answer::Command { command, result: given_up() })
                };
                self.requests.push(request.boxed());
            }
            command => {
                let request = carry_out(self.client, self.game, command).boxed();
                self.requests.push(request);
            }
        }
    }

    /// Sends the pending move: the first time, or once more.
    fn send_move(&mut self) {
        let Some(pending) = &mut self.pending else { return };
        if pending.tries() > 0 {
            self.client.metrics().fault(Fault::MoveResent);
        }
        self.tries += 1;
        let try_number = self.tries;
        pending.start_try(try_number, now());
        let limit = answer_limit(self.client, self.slowness);
        let (client, game) = (self.client, self.game);
        let (mv, offer_draw) = (pending.mv, pending.offer_draw);
        let request = async move {
            Answer::Move { try_number, result: client.play(game, mv, offer_draw, limit).await }
        };
        self.requests.push(request.boxed());
    }

    fn on_answer(&mut self, answer: Answer) {
        match answer {
            Answer::Move { try_number, result } => self.on_move_answer(try_number, result),
            Answer::Command { command, result: Err(error) } => {
                warn!(command = command.kind(), %error, "the server did not carry out a command");
            }
            Answer::Command { command, result: Ok(()) } => {
                debug!(command = command.kind(), "carried out");
            }
        }
    }

    fn on_move_answer(&mut self, try_number: u64, result: Result<(), ApiError>) {
        let Some(pending) = &mut self.pending else { return };
        if !pending.is_try(try_number) {
            return;
        }
        let is_stream_open = matches!(self.stream, Stream::Open(_));
        if matches!(result, Err(ApiError::NoAnswer(_))) {
            self.slowness += 1;
        }
        if let Err(error) = &result {
            warn!(ply = pending.ply, mv = %pending.mv, %error, "a move was not taken");
            self.client.metrics().fault(Fault::MoveNotTaken);
        }
        if pending.on_answer(result, is_stream_open, now()) == MoveFate::Settled {
            let event = Event::MoveRefused { ply: pending.ply };
            self.pending = None;
            self.emit(now(), event);
        }
    }

    fn on_move_due(&mut self) {
        let is_stream_open = self.is_stream_open();
        let Some(pending) = &mut self.pending else { return };
        if pending.on_due(is_stream_open) == MoveFate::Missing {
            self.send_move();
        } else {
            debug!("no trace of our move, looking at the whole game");
            self.look_again();
        }
    }

    /// Sees to it that a `gameFull` comes. If the stream is not open, one is on its way.
    fn look_again(&mut self) {
        if let Stream::Open(_) = self.stream {
            self.open();
        }
    }

    /// Nothing but keep-alives came for a while: the stream may be deaf, or a line got lost.
    fn on_quiet(&mut self) {
        debug!(quiet_s = self.quiet.as_secs(), "nothing is heard of the game, looking at it");
        self.quiet = (self.quiet * 2).min(LONGEST_QUIET);
        self.look_again();
    }

    fn emit(&mut self, at: Instant, event: Event) {
        let arrived = Arrived { at, lag: self.client.lag_meter().lag(), event };
        if self.outbox.is_empty() {
            match self.events.try_send(arrived) {
                Ok(()) => {}
                Err(mpsc::error::TrySendError::Full(arrived)) => self.outbox.push_back(arrived),
                Err(mpsc::error::TrySendError::Closed(_)) => self.is_over = true,
            }
        } else {
            self.outbox.push_back(arrived);
        }
    }
}

/// How long to wait after the game's stream could not be opened: never longer than
/// [`LONGEST_STATED_WAIT`], even where a 429 asks for a minute (section 13.4 of the protocol notes).
/// Without the stream we are blind while our clock runs, and after 40 s without us the opponent
/// may claim the game. A request every ten seconds is what a game is worth.
fn wait_to_open(error: &ApiError, backoff: &mut Backoff) -> Duration {
    match error.retry() {
        Retry::After(least) => backoff.next_wait_at_least(least.min(LONGEST_STATED_WAIT)),
        Retry::Never | Retry::Reconnect => backoff.next_wait(),
    }
}

/// How long a move may remain without an answer before the stream is asked what became of it: a few
/// round trips, not the whole time that a request may take. It doubles with every answer that does
/// not come (RFC 6298, section 5.5), so that a server that is slow for once is not sent every move
/// twice.
fn answer_limit(client: &Client, slowness: u32) -> Duration {
    let round_trips = client.lag_meter().lag().overhead(Duration::ZERO) * ANSWER_ROUND_TRIPS;
    let limit = round_trips.max(LEAST_ANSWER_LIMIT) * 2_u32.pow(slowness.min(6));
    limit.min(client.options().move_timeout)
}

/// What a line of a game stream says; `None` if it cannot be read, which is logged.
pub fn decode(text: &str) -> Option<GameLine> {
    serde_json::from_str(text)
        .inspect_err(|error| {
            warn!(error = model::describe(error), bytes = text.len(), "cannot read a game line");
        })
        .ok()
}

/// Carries out a command that is no move, once. A second try might come in another position, where
/// it would offer a draw or abort what cannot be aborted: the session, which knows the position,
/// gives a command again if the game goes on without it.
async fn carry_out(client: &Client, game: &GameId, command: Command) -> Answer {
    let result = match &command {
        Command::Say { room, text } => client.chat(game, *room, text).await,
        Command::AcceptDraw => client.accept_draw(game).await,
        Command::DeclineDraw => client.decline_draw(game).await,
        Command::AnswerTakeback(accept) => client.answer_takeback(game, *accept).await,
        Command::ClaimVictory => client.claim_victory(game).await,
        Command::ClaimDraw => client.claim_draw(game).await,
        Command::Resign => client.resign(game).await,
        Command::Abort => client.abort(game).await,
        // These two never come here; nothing is to be sent for them.
        Command::Play { .. } | Command::Reopen => Ok(()),
    };
    Answer::Command { command, result }
}

/// This moment, by the clock of the runtime, which tests can turn.
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

async fn at(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due.into()).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        platform::lichess::{Options, no_names::NoNames},
        rules::Position,
    };

    #[test]
    fn the_game_is_looked_for_often_however_many_tries_have_failed() {
        // 2026-11-30: waits that grew to 10 s lost a game of one minute in a storm of 502s.
        let error = ApiError::Server { status: 502, retry_after: None };
        let mut backoff = Backoff::new(FIRST_WAIT, LONGEST_WAIT);
        for _ in 0..20 {
            assert!(wait_to_open(&error, &mut backoff) <= Duration::from_secs(2));
        }
    }

    /// Ten minutes without a network: the game is looked for all the time, its clock runs, and it is not
    /// given up.
    #[tokio::test(start_paused = true)]
    async fn a_game_outlasts_an_outage_of_ten_minutes() {
        let resolver = Arc::new(NoNames::default());
        let options = Options { base_url: "http://localhost".to_owned(), ..Options::default() };
        let token = "lip_token".to_owned().into();
        let client = Client::with_resolver(options, token, Arc::clone(&resolver) as _).unwrap();
        let (sender, mut events) = mpsc::channel(8);
        let (commands, receiver) = mpsc::channel(8);
        let id = "abcd1234".parse().unwrap();
        // A move whose turn it may no longer be waits for the stream.
        let mv = Position::initial().parse_uci("e2e4").unwrap();
        commands.send(Command::Play { ply: 0, mv, offer_draw: false }).await.unwrap();
        let game = run(&client, "ember", &id, sender, receiver);
        let outage = timeout(Duration::from_mins(10), game).await;
        assert!(outage.is_err(), "it gave up");
        assert!(events.try_recv().is_err(), "nothing was told");
        let tries = resolver.tries();
        assert!((300..700).contains(&tries), "{tries}");
    }

    #[test]
    fn no_stated_wait_keeps_us_from_the_game_for_long() {
        for stated in [None, Some(60), Some(600)] {
            let retry_after = stated.map(Duration::from_secs);
            for error in [
                ApiError::RateLimited { message: String::new(), limit: None, retry_after },
                ApiError::Server { status: 503, retry_after },
            ] {
                let mut backoff = Backoff::new(FIRST_WAIT, LONGEST_WAIT);
                assert!(wait_to_open(&error, &mut backoff) <= LONGEST_STATED_WAIT, "{error:?}");
            }
        }
        let retry_after = Some(Duration::from_secs(3));
        let error = ApiError::Server { status: 503, retry_after };
        let mut backoff = Backoff::new(FIRST_WAIT, LONGEST_WAIT);
        assert_eq!(wait_to_open(&error, &mut backoff), Duration::from_secs(3));
    }
}
