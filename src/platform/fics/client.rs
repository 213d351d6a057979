//! The one task that owns an account's connection: logs in, again and again, and tells the daemon and
//! the running game what the server says.
//!
//! A server tells everything on one line, and has one game at a time for an account; so that this task
//! also runs the game's [`adapter`](super::adapter). It decides nothing about challenges.

use std::{
    collections::{HashMap, HashSet},
    time::{Duration, Instant, SystemTime},
};

use tokio::{
    sync::mpsc,
    time::{sleep, sleep_until},
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, info, warn};

use crate::{
    game::{Arrived, Command, EndReason, Event as GameEvent, GameId, LagMeter, driver},
    metrics::{PlatformMetrics, StreamKind},
    platform::{
        Challenge, ChallengeClock, DeclineReason, User,
        backoff::Backoff,
        fics::{
            LinkError, Options, Retry,
            adapter::{Effects, Table},
            courtesy::Courtesy,
            line::{Account, Channel, GameBegins, Said, ServerLine},
            link::Link,
            login::Welcome,
            offer::{Offer, OfferKind, Rating, Terms, speed},
            style12::{Board, Relation},
            wire::{Frame, Prompt},
        },
    },
};

/// A session that lived for so long was healthy: the waits begin anew after it.
const HEALTHY_AGE: Duration = Duration::from_mins(1);
/// Lines of a game that wait for its session. One that leaves so many unread is broken.
const GAME_EVENTS_CAPACITY: usize = 256;
/// Commands of a game that wait for this task, which takes them at once.
const GAME_COMMANDS_CAPACITY: usize = 16;
/// A seek is renewed at most so often.
const SEEK_PAUSE: Duration = Duration::from_mins(1);
/// What others can know about us, at most so long each.
const MAX_NOTE: usize = 100;
/// Names that are remembered as computers'.
const MOST_COMPUTERS: usize = 1000;

/// What the client tells the daemon.
#[derive(Debug)]
pub enum Event {
    /// We are logged in and can be challenged.
    Connected(Login),
    /// The connection is down; it is being opened again. A game that ran is over for now.
    Lost,
    /// Somebody challenges us.
    Challenge(Box<Challenge>, Kind),
    /// A challenge is gone.
    ChallengeGone(GameId),
    /// A game begins, and waits for somebody to play it.
    Game(Box<NewGame>),
    /// What a game that is over did to our rating.
    Rated(GameId, i32),
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

/// A game that begins, or goes on.
#[derive(Debug)]
pub struct NewGame {
    /// Its name, which no other game has.
    pub id: GameId,
    /// The opponent, as displayed.
    pub opponent: String,
    /// The challenge that it came of, if it was one to us.
    pub challenge: Option<GameId>,
    /// For the driver of its session.
    pub link: driver::Link,
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
    let run = since_1970();
    for number in 1_u64.. {
        let begun = Instant::now();
        // Short enough for an id, whatever is added.
        let name = format!("fics-{run:x}-{number}");
        let mut games = 0;
        let wishes = (&mut requests, &mut is_open);
        let meters = (lag, metrics);
        let session = serve(options, meters, &events, wishes, &name, started, &mut games);
        let Some(result) = cancel.run_until_cancelled(session).await else { return Ok(()) };
        let Err(error) = result else { return Ok(()) };
        // Nobody listens any more: the end is near.
        let _closed = events.send(Event::Lost).await;
        // A game that was broken off waits for us.
        if games > 0 || begun.elapsed() >= HEALTHY_AGE {
            backoff.reset();
        }
        let wait = match error.retry() {
            Retry::Never => return Err(error),
            Retry::Soon => backoff.next_wait(),
            Retry::After(least) => backoff.next_wait_at_least(least),
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

/// One session, from the connection to its end; counts its games. `Ok`: the daemon is gone.
async fn serve(
    options: &Options,
    (lag, metrics): (&LagMeter, &PlatformMetrics),
    events: &mpsc::Sender<Event>,
    (requests, is_open): (&mut mpsc::Receiver<Request>, &mut bool),
    name: &str,
    started: Instant,
    games: &mut u64,
) -> Result<(), LinkError> {
    let mut link = Link::open(options, started).await?;
    let Welcome { account, adjourned } = link.log_in(options).await?;
    info!(
        account = account.name,
        computer = account.is_computer(),
        guest = account.is_guest(),
        "logged in to FICS"
    );
    let mut session = Session {
        options,
        lag,
        metrics,
        events,
        commands: start_commands(options),
        account,
        name,
        is_online: false,
        is_open: *is_open,
        game: None,
        begins: None,
        ratings: HashMap::new(),
        computers: HashSet::new(),
        offers: HashMap::new(),
        adjourned,
        courtesy: Courtesy::default(),
        seek_at: None,
        games,
        rated: None,
        outgoing: Vec::new(),
    };
    session.next_command();
    let heard = metrics.heard(StreamKind::Account);
    loop {
        for line in std::mem::take(&mut session.outgoing) {
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
                Err(error) => {
                    session.on_link_lost();
                    return Err(error);
                }
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
                session.on_request(&request);
                Ok(())
            }
            command = command_of(&mut session.game) => {
                session.on_game_command(command);
                Ok(())
            }
            () = at(due) => {
                session.on_due();
                Ok(())
            }
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

/// Why a session ends.
enum End {
    /// Nobody listens any more.
    DaemonGone,
    Failed(LinkError),
}

/// What is said after the login, in this order, each after the answer to the one before. An error
/// answer does no harm (section 2 of the FICS notes).
fn start_commands(options: &Options) -> Vec<String> {
    let mut commands: Vec<String> = [
        "iset defprompt 1",
        "iset nowrap 1",
        "set width 240",
        "set height 240",
        "iset ms 1",
        "iset pendinfo 1",
        "iset gameinfo 1",
        "iset startpos 1",
        "iset movecase 1",
        "iset nohighlight 1",
        "iset atomic 1",
        "set style 12",
        "set bell 0",
        "set seek 0",
        "set shout 0",
        "set cshout 0",
        "set gin 0",
        "set pin 0",
        "set ptime 0",
        "set examine 0",
        "set autoflag 1",
        "set noescape 0",
    ]
    .map(str::to_owned)
    .into();
    commands.push(format!("set interface meitner {}", env!("CARGO_PKG_VERSION")));
    commands.push("set 1 I am a bot that plays atomic, and nothing else.".to_owned());
    if !options.operator.is_empty() {
        let operator: String = options.operator.chars().take(MAX_NOTE).collect();
        commands.push(format!("set 2 Run by {operator}"));
    }
    commands.push("iset lock 1".to_owned());
    commands.reverse();
    commands
}

/// What is known while we are logged in.
struct Session<'a> {
    options: &'a Options,
    lag: &'a LagMeter,
    metrics: &'a PlatformMetrics,
    events: &'a mpsc::Sender<Event>,
    /// What is still to be said after the login, last first.
    commands: Vec<String>,
    account: Account,
    /// That of no other session of any process.
    name: &'a str,
    /// Whether all of that has been said.
    is_online: bool,
    is_open: bool,
    game: Option<Game>,
    /// What was said of the game that is about to begin.
    begins: Option<GameBegins>,
    /// The ratings of its players, by their names.
    ratings: HashMap<String, Rating>,
    /// Who is a program, as far as the server has said so.
    computers: HashSet<String>,
    /// Open challenges to us: by their ids the indexes and the challengers.
    offers: HashMap<GameId, (u32, String, bool)>,
    /// With whom an adjourned game waits that we have not asked for yet.
    adjourned: Vec<String>,
    courtesy: Courtesy,
    /// When the next seek may be posted.
    seek_at: Option<Instant>,
    /// How many games there were.
    games: &'a mut u64,
    /// The game that ended last, and our rating before it, if that was known.
    rated: Option<(GameId, u32)>,
    /// Lines for the server.
    outgoing: Vec<String>,
}

/// The running game and the way to its session.
struct Game {
    id: GameId,
    table: Table,
    events: mpsc::Sender<Arrived>,
    commands: mpsc::Receiver<Command>,
}

impl Session<'_> {
    async fn on_frame(&mut self, link: &mut Link, frame: &Frame, at: Instant) -> Result<(), End> {
        match frame {
            Frame::Prompt(Prompt::Command) if !self.is_online => self.on_start_prompt().await,
            Frame::Line(text) => {
                let said = ServerLine::parse(text);
                if said == ServerLine::Other {
                    debug!(text, "said");
                }
                if said == ServerLine::IsSet("nowrap".to_owned()) {
                    link.expect_whole_lines();
                }
                self.on_line(said, at).await
            }
            Frame::Prompt(_) | Frame::Ping => Ok(()),
        }
    }

    /// The server has answered: the next command goes out, or we are there.
    async fn on_start_prompt(&mut self) -> Result<(), End> {
        if self.next_command() {
            return Ok(());
        }
        self.is_online = true;
        self.say_open();
        self.resume_next();
        let login = Login {
            name: self.account.name.clone(),
            is_computer: self.account.is_computer(),
            is_guest: self.account.is_guest(),
        };
        self.emit(Event::Connected(login)).await
    }

    fn next_command(&mut self) -> bool {
        let command = self.commands.pop();
        let has_one = command.is_some();
        self.outgoing.extend(command);
        has_one
    }

    fn say_open(&mut self) {
        self.outgoing.push(format!("set open {}", u8::from(self.is_open)));
        self.seek_at = Some(Instant::now());
        if !self.is_open {
            self.outgoing.push("unseek".to_owned());
        }
    }

    async fn on_line(&mut self, line: ServerLine, at: Instant) -> Result<(), End> {
        match line {
            ServerLine::Board(board) => return self.on_board(*board, at).await,
            ServerLine::GameBegins(begins) => self.on_game_begins(begins),
            ServerLine::GameEnds(end) => {
                let game = self.game.take_if(|game| {
                    game.table.number() == end.game
                        && end
                            .players
                            .iter()
                            .any(|name| self.account.name.eq_ignore_ascii_case(name))
                });
                if let Some(mut game) = game {
                    let effects = game.table.on_end(&end);
                    self.apply(&game, effects, at);
                    self.rated = game.table.our_rating().map(|rating| (game.id, rating));
                    self.seek_at = Some(Instant::now());
                    self.resume_next();
                    if end.reason == EndReason::Adjourned {
                        info!(opponent = game.table.opponent(), "the game is adjourned");
                    }
                }
            }
            ServerLine::Ratings(ratings) => {
                self.ratings = ratings.into_iter().collect();
            }
            ServerLine::OfferFrom(offer) => return self.on_offer(offer, at).await,
            ServerLine::OffersGone(indexes) => return self.on_offers_gone(&indexes, at).await,
            ServerLine::MoveRefused(refusal) => {
                self.at_table(at, |table| table.on_refusal(refusal));
            }
            ServerLine::Said(said) => self.on_said(&said, at),
            ServerLine::IsComputer(name) => {
                if self.computers.len() < MOST_COMPUTERS {
                    self.computers.insert(name.to_lowercase());
                }
            }
            ServerLine::AdjournedWith(names) => {
                self.adjourned.extend(names);
                if self.is_online {
                    self.resume_next();
                }
            }
            ServerLine::Refused(refusal) => {
                return Err(End::Failed(LinkError::of(refusal, &self.account.name)));
            }
            ServerLine::GoingDown => warn!("the FICS server is going down soon"),
            ServerLine::RatingChanged(rating) => {
                info!(rating, "our rating on FICS has changed");
                if let Some((id, before)) = self.rated.take()
                    && let Some(diff) = rating.checked_signed_diff(before)
                {
                    return self.emit(Event::Rated(id, diff)).await;
                }
            }
            ServerLine::MatchRefused => debug!("the server refuses a challenge of ours"),
            ServerLine::SessionBegins(_)
            | ServerLine::PressReturn
            | ServerLine::OfferTo(_)
            | ServerLine::IsSet(_)
            | ServerLine::MoveListBegins(_)
            | ServerLine::Other => {}
        }
        Ok(())
    }

    /// Offers to go on with the next adjourned game whose other player is there: once for each.
    fn resume_next(&mut self) {
        if self.game.is_none()
            && self.is_open
            && let Some(name) = self.adjourned.pop()
        {
            info!(opponent = name, "offering to go on with an adjourned game");
            self.outgoing.push(format!("match {name}"));
        }
    }

    fn on_game_begins(&mut self, begins: GameBegins) {
        let is_ours =
            begins.players.iter().any(|name| self.account.name.eq_ignore_ascii_case(name));
        if is_ours {
            self.begins = Some(begins);
        }
    }

    async fn on_board(&mut self, board: Board, at: Instant) -> Result<(), End> {
        if board.relation == Relation::NotOurs {
            return Ok(());
        }
        if self.game.as_ref().is_some_and(|game| game.table.number() != board.game) {
            warn!("another game has begun: the end of the one before was missed");
            self.on_link_lost();
        }
        if self.game.is_some() {
            self.at_table(at, |table| table.on_board(&board, at));
            return Ok(());
        }
        let Some(begins) = self.begins.take_if(|begins| begins.game == board.game) else {
            debug!(game = board.game, "a board of a game that we do not play");
            return Ok(());
        };
        self.begin(&begins, &board, at).await
    }

    async fn begin(&mut self, begins: &GameBegins, board: &Board, at: Instant) -> Result<(), End> {
        if begins.variant != "atomic" {
            warn!(variant = begins.variant, "not a game that we play, calling it off");
            self.outgoing.extend(["abort".to_owned(), "resign".to_owned()]);
            return Ok(());
        }
        let ratings =
            [0, 1].map(|seat| self.ratings.get(&board.players[seat]).copied().unwrap_or_default());
        let computers =
            [0, 1].map(|seat| self.computers.contains(&board.players[seat].to_lowercase()));
        let Some((table, effects)) = Table::new(begins, ratings, computers, board, at) else {
            self.outgoing.push("abort".to_owned());
            return Ok(());
        };
        *self.games += 1;
        let id = self.id(&format!("g{}", self.games));
        let opponent = table.opponent().to_owned();
        let (event_sender, game_events) = mpsc::channel(GAME_EVENTS_CAPACITY);
        let (command_sender, commands) = mpsc::channel(GAME_COMMANDS_CAPACITY);
        let game = Game { id: id.clone(), table, events: event_sender, commands };
        self.apply(&game, effects, at);
        self.game = Some(game);
        let challenge = self.offers.iter().find(|(_, (_, name, is_accepted))| {
            *is_accepted && name.eq_ignore_ascii_case(&opponent)
        });
        let challenge = challenge.map(|(id, _)| id.clone());
        self.offers.clear();
        let link = driver::Link { events: game_events, commands: command_sender };
        self.emit(Event::Game(Box::new(NewGame { id, opponent, challenge, link }))).await
    }

    /// A name for a challenge or a game that no other has.
    fn id(&self, name: &str) -> GameId {
        let text = format!("{}-{name}", self.name);
        text.parse().expect("letters, digits and hyphens, and short")
    }

    async fn on_offer(&mut self, offer: Offer, at: Instant) -> Result<(), End> {
        let OfferKind::Match(terms) = offer.kind else {
            let is_opponent = |table: &Table| table.opponent().eq_ignore_ascii_case(&offer.with);
            if self.game.as_ref().is_some_and(|game| is_opponent(&game.table)) {
                self.at_table(at, |table| table.on_offer(&offer));
            } else {
                self.outgoing.push(format!("decline {}", offer.index));
            }
            return Ok(());
        };
        if self.game.is_some() {
            // One game at a time; the challenger sees that we play.
            self.outgoing.push(format!("decline {}", offer.index));
            return Ok(());
        }
        let id = self.id(&format!("c{}", offer.index));
        self.offers.insert(id.clone(), (offer.index, offer.with.clone(), false));
        let is_computer = self.computers.contains(&offer.with.to_lowercase());
        let (challenge, kind) = challenge(id, &offer.with, is_computer, terms.as_deref());
        self.emit(Event::Challenge(Box::new(challenge), kind)).await
    }

    async fn on_offers_gone(&mut self, indexes: &[u32], at: Instant) -> Result<(), End> {
        self.at_table(at, |table| table.on_offers_gone(indexes));
        let is_gone = |_: &GameId, (index, _, is_accepted): &mut (u32, String, bool)| {
            // One that we have accepted becomes a game.
            indexes.contains(index) && !*is_accepted
        };
        let gone: Vec<GameId> = self.offers.extract_if(is_gone).map(|(id, _)| id).collect();
        for id in gone {
            self.emit(Event::ChallengeGone(id)).await?;
        }
        Ok(())
    }

    fn on_said(&mut self, said: &Said, at: Instant) {
        if said.from.is_computer() && self.computers.len() < MOST_COMPUTERS {
            self.computers.insert(said.from.name.to_lowercase());
        }
        if said.from.name.eq_ignore_ascii_case(&self.account.name) {
            return;
        }
        let event = Table::on_chat(said).filter(|_| self.game.is_some());
        if let Some(event) = event {
            self.at_table(at, |_| Effects { events: vec![event], ..Effects::default() });
        } else if said.channel == Channel::Tell && self.options.help {
            let now = Instant::now();
            self.outgoing.extend(self.courtesy.answer(said, &self.account.name, now));
        }
    }

    fn on_request(&mut self, request: &Request) {
        match request {
            Request::Accept(id) => {
                if let Some((index, _, is_accepted)) = self.offers.get_mut(id) {
                    *is_accepted = true;
                    self.outgoing.push(format!("accept {index}"));
                }
            }
            Request::Decline(id, reason) => {
                if let Some((index, name, _)) = self.offers.remove(id) {
                    self.outgoing.push(format!("decline {index}"));
                    let word = self.courtesy.decline(&name, *reason, Instant::now());
                    self.outgoing.extend(word.filter(|_| self.options.help));
                }
            }
            Request::SetOpen(is_open) if *is_open != self.is_open => {
                self.is_open = *is_open;
                if self.is_online {
                    self.say_open();
                }
            }
            Request::SetOpen(_) => {}
        }
    }

    fn on_game_command(&mut self, command: Option<Command>) {
        let now = Instant::now();
        match (command, &mut self.game) {
            (Some(command), Some(game)) => {
                let effects = game.table.on_command(&command, now);
                self.outgoing.extend(effects.lines);
            }
            // The session is gone: its task failed, or was ended. The server's clock goes on.
            (None, Some(game)) => {
                warn!(opponent = game.table.opponent(), "nobody plays this game any more");
                self.game = None;
                self.outgoing.extend(["abort".to_owned(), "resign".to_owned()]);
            }
            (_, None) => {}
        }
    }

    /// Lets something happen at the table, and carries out what comes of it.
    fn at_table(&mut self, at: Instant, happen: impl FnOnce(&mut Table) -> Effects) {
        let Some(mut game) = self.game.take() else { return };
        let effects = happen(&mut game.table);
        let is_lost = effects.events.iter().any(|event| matches!(event, GameEvent::Lost(_)));
        self.apply(&game, effects, at);
        if !is_lost {
            self.game = Some(game);
        }
    }

    fn apply(&mut self, game: &Game, effects: Effects, at: Instant) {
        self.outgoing.extend(effects.lines);
        // Under timeseal the server does not charge the way, so that nothing is kept back for it.
        if let Some(round_trip) = effects.round_trip {
            self.metrics.round_trip(round_trip);
            if self.options.timeseal.is_none() {
                self.lag.learn(round_trip);
            }
        }
        for event in effects.events {
            let arrived = Arrived { at, lag: self.lag.lag(), event };
            if game.events.try_send(arrived).is_err() {
                // A session that is over takes nothing more; one that takes nothing is broken.
                error!("a game's session does not take what the server says");
                return;
            }
        }
    }

    /// Without the link the game is over for now.
    fn on_link_lost(&mut self) {
        if let Some(game) = self.game.take() {
            let event = game.table.on_link_lost();
            self.apply(
                &game,
                Effects { events: vec![event], ..Effects::default() },
                Instant::now(),
            );
        }
    }

    fn due(&self) -> Option<Instant> {
        let seek = self.seek_at.filter(|_| self.wants_to_seek());
        self.game.as_ref().and_then(|game| game.table.due()).into_iter().chain(seek).min()
    }

    fn wants_to_seek(&self) -> bool {
        self.is_online && self.is_open && self.game.is_none() && !self.options.seek.is_empty()
    }

    fn on_due(&mut self) {
        let now = Instant::now();
        self.at_table(now, |table| table.on_due(now));
        if self.wants_to_seek() && self.seek_at.is_some_and(|at| at <= now) {
            self.seek_at = Some(now + SEEK_PAUSE);
            self.outgoing.push(format!("seek {} atomic m", self.options.seek));
        }
    }

    async fn emit(&self, event: Event) -> Result<(), End> {
        self.events.send(event).await.map_err(|_| End::DaemonGone)
    }
}

/// A challenge as the policy judges it everywhere.
fn challenge(
    id: GameId,
    from: &str,
    is_computer: bool,
    terms: Option<&Terms>,
) -> (Challenge, Kind) {
    let rating = terms.map(|terms| terms.from_rating).unwrap_or_default();
    let challenger = User {
        id: from.to_lowercase(),
        name: from.to_owned(),
        title: is_computer.then(|| "BOT".to_owned()),
        is_bot: is_computer,
        rating: rating.value,
        is_provisional: rating.is_provisional || rating.value.is_none(),
    };
    let clock = terms.and_then(|terms| terms.time).map(|(minutes, increment_s)| ChallengeClock {
        initial_s: minutes.saturating_mul(60),
        increment_s,
    });
    let kind = match terms {
        Some(terms) if terms.is_adjourned => Kind::Adjourned,
        Some(terms) if terms.is_even && !terms.is_loaded => Kind::New,
        _ => Kind::Strange,
    };
    let challenge = Challenge {
        id,
        challenger: Some(challenger),
        target: None,
        variant: terms.map(|terms| terms.variant.clone()).unwrap_or_default(),
        initial_fen: None,
        rated: terms.is_some_and(|terms| terms.rated),
        speed: match clock {
            Some(clock) => Some(speed(clock.initial_s, clock.increment_s)),
            None => Some(crate::platform::Speed::Correspondence),
        },
        clock,
        days: None,
        rematch_of: None,
        is_bot_playable: None,
    };
    (challenge, kind)
}

/// In seconds; which run of the program this is.
fn since_1970() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

async fn command_of(game: &mut Option<Game>) -> Option<Command> {
    match game {
        Some(game) => game.commands.recv().await,
        None => std::future::pending().await,
    }
}

async fn at(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due.into()).await,
        None => std::future::pending().await,
    }
}
