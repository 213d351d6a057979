//! What is known while we are logged in, and what follows from each line of the server's, each wish of
//! the daemon's, and each command of the running game.

use std::{
    collections::{HashMap, HashSet},
    time::{Duration, Instant},
};

use tokio::sync::mpsc;
use tracing::{debug, error, info, warn};

use crate::{
    game::{Arrived, Command, EndReason, Event as GameEvent, GameId, LagMeter, Room, driver},
    metrics::PlatformMetrics,
    platform::{
        Challenge, ChallengeClock, User,
        fics::{
            LinkError, Options,
            adapter::{Effects, Table},
            client::{Course, Event, Invitation, Kind, Login, NewGame, Outcome, Request},
            courtesy::Courtesy,
            line::{Account, Channel, GameBegins, InvitationRefusal, Said, ServerLine},
            link::Link,
            login::Welcome,
            offer::{Offer, OfferKind, Rating, Terms, speed},
            style12::{Board, Relation},
            wire::{Frame, Prompt},
        },
    },
};

/// Lines of a game that wait for its session. One that leaves so many unread is broken.
const GAME_EVENTS_CAPACITY: usize = 256;
/// So many of these places are for boards alone.
const KEPT_FROM_CHAT: usize = 64;
/// Commands of a game that wait for this task, which takes them at once.
const GAME_COMMANDS_CAPACITY: usize = 16;
/// A game begins within so long after the offer that it came of is gone.
const GAME_AFTER_OFFER: Duration = Duration::from_secs(2);
/// The board of a game follows the line that it begins, or is asked for after so long.
const BOARD_LIMIT: Duration = Duration::from_secs(5);
/// What others can know about us, at most so long each.
const MAX_NOTE: usize = 100;
/// Names that are remembered as computers'.
const MOST_COMPUTERS: usize = 1000;
/// No game has more half-moves.
const MOST_MOVES: usize = 20_000;

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

/// Why a session ends.
pub(super) enum End {
    /// Nobody listens any more.
    DaemonGone,
    Failed(LinkError),
}

/// What is known while we are logged in.
pub(super) struct Session<'a> {
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
    pub(super) game: Option<Game>,
    /// What the session of the last game still wants to say.
    pub(super) farewell: Option<mpsc::Receiver<Command>>,
    /// What was said of the game that is about to begin.
    begins: Option<GameBegins>,
    /// Since when its board is waited for.
    begins_at: Option<Instant>,
    /// Whether its board was read once more since our rules could not play from there.
    is_read_again: bool,
    /// The ratings of its players, by their names.
    ratings: HashMap<String, Rating>,
    /// Who is a program, as far as the server has said so.
    computers: HashSet<String>,
    /// Open challenges to us, by their ids.
    offers: HashMap<GameId, Challenged>,
    /// With whom an adjourned game waits, told at the login.
    adjourned: Vec<String>,
    /// What we have asked somebody for.
    invited: Option<Invited>,
    /// The moves of the running game, as far as the server's list of them has come.
    move_list: Option<Vec<String>>,
    courtesy: Courtesy,
    course: &'a mut Course,
    /// The game that ended last, and our rating before it, if that was known.
    rated: Option<(GameId, u32)>,
    /// Lines for the server.
    outgoing: Vec<String>,
}

/// An open challenge to us.
struct Challenged {
    index: u32,
    from: String,
    is_accepted: bool,
}

/// An invitation of ours that is neither a game nor over.
struct Invited {
    id: GameId,
    invitation: Invitation,
    /// The server's number of it.
    index: Option<u32>,
    /// The server's number is gone: unless a game begins by then it was declined.
    over_at: Option<Instant>,
}

/// The running game and the way to its session.
pub(super) struct Game {
    id: GameId,
    table: Table,
    events: mpsc::Sender<Arrived>,
    pub(super) commands: mpsc::Receiver<Command>,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        options: &'a Options,
        (lag, metrics): (&'a LagMeter, &'a PlatformMetrics),
        events: &'a mpsc::Sender<Event>,
        Welcome { account, adjourned }: Welcome,
        name: &'a str,
        is_open: bool,
        course: &'a mut Course,
    ) -> Self {
        let mut session = Self {
            options,
            lag,
            metrics,
            events,
            commands: start_commands(options),
            account,
            name,
            is_online: false,
            is_open,
            game: None,
            farewell: None,
            begins: None,
            begins_at: None,
            is_read_again: false,
            ratings: HashMap::new(),
            computers: HashSet::new(),
            offers: HashMap::new(),
            adjourned,
            invited: None,
            move_list: None,
            courtesy: Courtesy::default(),
            course,
            rated: None,
            outgoing: Vec::new(),
        };
        session.next_command();
        session
    }

    /// What is to be sent now.
    pub(super) fn take_outgoing(&mut self) -> Vec<String> {
        std::mem::take(&mut self.outgoing)
    }

    pub(super) async fn on_frame(
        &mut self,
        link: &mut Link,
        frame: &Frame,
        at: Instant,
    ) -> Result<(), End> {
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
        let login = Login {
            name: self.account.name.clone(),
            is_computer: self.account.is_computer(),
            is_guest: self.account.is_guest(),
        };
        self.emit(Event::Connected(login)).await?;
        let adjourned = std::mem::take(&mut self.adjourned);
        if adjourned.is_empty() { Ok(()) } else { self.emit(Event::Adjourned(adjourned)).await }
    }

    fn next_command(&mut self) -> bool {
        let command = self.commands.pop();
        let has_one = command.is_some();
        self.outgoing.extend(command);
        has_one
    }

    fn say_open(&mut self) {
        self.outgoing.push(format!("set open {}", u8::from(self.is_open)));
        if !self.is_open {
            self.outgoing.push("unseek".to_owned());
        }
    }

    async fn on_line(&mut self, line: ServerLine, at: Instant) -> Result<(), End> {
        match line {
            ServerLine::Board(board) => return self.on_board(*board, at).await,
            ServerLine::GameBegins(begins) => self.on_game_begins(begins),
            ServerLine::GameEnds(end) => {
                let us = &self.account.name;
                let is_ours = end.players.iter().any(|name| us.eq_ignore_ascii_case(name));
                let is_it = |number: u32| is_ours && number == end.game;
                if self.begins.take_if(|begins| is_it(begins.game)).is_some() {
                    self.begins_at = None;
                }
                let game = self.game.take_if(|game| is_it(game.table.number()));
                if let Some(mut game) = game {
                    let effects = game.table.on_end(&end);
                    self.apply(&game, effects, at);
                    if end.reason == EndReason::Adjourned {
                        info!(opponent = game.table.opponent(), "the game is adjourned");
                    }
                    self.rated = game.table.our_rating().map(|rating| (game.id, rating));
                    // It may take its leave.
                    self.farewell = Some(game.commands);
                    self.move_list = None;
                }
            }
            ServerLine::Ratings(ratings) => {
                self.ratings = ratings.into_iter().collect();
            }
            ServerLine::OfferFrom(offer) => return self.on_offer(offer, at).await,
            ServerLine::OffersGone(indexes) => return self.on_offers_gone(&indexes, at).await,
            ServerLine::OfferTo(offer) => return self.on_own_offer(&offer).await,
            ServerLine::MoveRefused(refusal) => {
                self.at_table(at, |table| table.on_refusal(refusal, at));
            }
            ServerLine::UnknownCommand(word) => {
                debug!(word, "the server does not know this command");
                self.at_table(at, |table| table.on_unknown_command(&word, at));
            }
            ServerLine::MoveListBegins(number) => {
                let is_ours = self.game.as_ref().is_some_and(|game| game.table.number() == number);
                self.move_list = is_ours.then(Vec::new);
            }
            ServerLine::MoveListRow(moves) => {
                if let Some(list) = self.move_list.as_mut().filter(|list| list.len() < MOST_MOVES) {
                    list.extend(moves);
                }
            }
            ServerLine::MoveListEnds => {
                if let Some(list) = self.move_list.take() {
                    self.at_table(at, |table| table.on_move_list(&list));
                }
            }
            ServerLine::Said(said) => self.on_said(&said, at),
            ServerLine::IsComputer(name) => {
                if self.computers.len() < MOST_COMPUTERS {
                    self.computers.insert(name.to_lowercase());
                }
            }
            ServerLine::AdjournedWith(names) if self.is_online => {
                return self.emit(Event::Adjourned(names)).await;
            }
            ServerLine::AdjournedWith(names) => self.adjourned.extend(names),
            ServerLine::InvitationRefused(refusal) => {
                // Once it has its number the server has let it through.
                if self.invited.as_ref().is_some_and(|invited| invited.index.is_none()) {
                    return self
                        .end_invitation(match refusal {
                            InvitationRefusal::Absent => Outcome::Absent,
                            InvitationRefusal::NotNow => Outcome::Refused,
                            InvitationRefusal::Unwelcome => Outcome::Declined,
                        })
                        .await;
                }
            }
            ServerLine::SeekPosted => {
                let is_seek = |invited: &Invited| matches!(invited.invitation, Invitation::Seek(_));
                if self.invited.as_ref().is_some_and(is_seek) {
                    return self.end_invitation(Outcome::Posted).await;
                }
            }
            ServerLine::Refused(refusal) => {
                return Err(End::Failed(LinkError::of(refusal, &self.account.name)));
            }
            ServerLine::GoingDown => warn!("the FICS server is going down soon"),
            ServerLine::RatingChanged(rating) => {
                info!(rating, "our rating on FICS has changed");
                let game = self
                    .rated
                    .take()
                    .and_then(|(id, before)| Some((id, rating.checked_signed_diff(before)?)));
                return self.emit(Event::Rated { rating, game }).await;
            }
            ServerLine::SessionBegins(_)
            | ServerLine::PressReturn
            | ServerLine::IsSet(_)
            | ServerLine::Other => {}
        }
        Ok(())
    }

    /// The server has a number for an offer of ours.
    async fn on_own_offer(&mut self, offer: &Offer) -> Result<(), End> {
        let OfferKind::Match(terms) = &offer.kind else { return Ok(()) };
        let invited = self.invited.as_mut().filter(|invited| {
            invited.invitation.name().is_some_and(|name| name.eq_ignore_ascii_case(&offer.with))
        });
        let Some(invited) = invited else {
            // It was taken back before we knew its number.
            self.outgoing.push(format!("withdraw {}", offer.index));
            return Ok(());
        };
        let is_other_game = terms.as_ref().is_none_or(|terms| terms.variant != "atomic");
        if matches!(invited.invitation, Invitation::Resume(_)) && is_other_game {
            self.outgoing.push(format!("withdraw {}", offer.index));
            return self.end_invitation(Outcome::NotAdjourned).await;
        }
        invited.index = Some(offer.index);
        Ok(())
    }

    async fn end_invitation(&mut self, outcome: Outcome) -> Result<(), End> {
        match self.invited.take() {
            Some(invited) => self.emit(Event::InvitationOver(invited.id, outcome)).await,
            None => Ok(()),
        }
    }

    fn on_game_begins(&mut self, begins: GameBegins) {
        let is_ours =
            begins.players.iter().any(|name| self.account.name.eq_ignore_ascii_case(name));
        if is_ours {
            self.begins = Some(begins);
            self.begins_at = Some(Instant::now());
            self.is_read_again = false;
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
        self.begins_at = None;
        let Some(begins) = self.begins.take_if(|begins| begins.game == board.game) else {
            debug!(game = board.game, "a board of a game that we do not play");
            return Ok(());
        };
        self.begin(&begins, &board, at).await
    }

    async fn begin(&mut self, begins: &GameBegins, board: &Board, at: Instant) -> Result<(), End> {
        if begins.variant != "atomic" {
            warn!(variant = begins.variant, "not a game that we play, calling it off");
            // A game of another day was begun by whoever uses the account: it is theirs to lose.
            let words: &[&str] =
                if begins.is_resumed { &["adjourn"] } else { &["abort", "resign"] };
            self.outgoing.extend(words.iter().map(|&word| word.to_owned()));
            return Ok(());
        }
        let ratings =
            [0, 1].map(|seat| self.ratings.get(&board.players[seat]).copied().unwrap_or_default());
        let computers =
            [0, 1].map(|seat| self.computers.contains(&board.players[seat].to_lowercase()));
        let agrees = self.options.agrees;
        let Some((table, effects)) = Table::new(begins, ratings, computers, board, agrees, at)
        else {
            // The server's board is right, so that it is waited for one that our rules know.
            if !std::mem::replace(&mut self.is_read_again, true) {
                self.outgoing.push("refresh".to_owned());
            }
            self.begins = Some(begins.clone());
            return Ok(());
        };
        self.course.games += 1;
        let id = self.id(&format!("g{}", self.course.games));
        let opponent = table.opponent().to_owned();
        let is_computer = self.computers.contains(&opponent.to_lowercase());
        let is_guest = self.ratings.get(&opponent).is_some_and(|rating| rating.is_guest);
        let (terms, our_rating) = (table.terms(), table.our_rating());
        let (event_sender, game_events) = mpsc::channel(GAME_EVENTS_CAPACITY);
        let (command_sender, commands) = mpsc::channel(GAME_COMMANDS_CAPACITY);
        let game = Game { id: id.clone(), table, events: event_sender, commands };
        self.apply(&game, effects, at);
        self.game = Some(game);
        let challenge = self
            .offers
            .iter()
            .find(|(_, challenged)| {
                challenged.is_accepted && challenged.from.eq_ignore_ascii_case(&opponent)
            })
            .map(|(id, _)| id.clone());
        let challenge = challenge.or_else(|| self.invited.take().map(|invited| invited.id));
        self.offers.clear();
        self.invited = None;
        let link = driver::Link { events: game_events, commands: command_sender };
        let is_resumed = begins.is_resumed;
        let game = NewGame {
            id,
            opponent,
            is_computer,
            is_resumed,
            is_guest,
            terms,
            our_rating,
            challenge,
            link,
        };
        self.emit(Event::Game(Box::new(game))).await
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
        let challenged =
            Challenged { index: offer.index, from: offer.with.clone(), is_accepted: false };
        self.offers.insert(id.clone(), challenged);
        let is_computer = self.computers.contains(&offer.with.to_lowercase());
        let us = &self.account.name;
        let (challenge, kind) = challenge(id, &offer.with, is_computer, us, terms.as_deref());
        self.emit(Event::Challenge(Box::new(challenge), kind)).await
    }

    async fn on_offers_gone(&mut self, indexes: &[u32], at: Instant) -> Result<(), End> {
        self.at_table(at, |table| table.on_offers_gone(indexes));
        if let Some(invited) = &mut self.invited
            && invited.index.is_some_and(|index| indexes.contains(&index))
        {
            invited.over_at = Some(at + GAME_AFTER_OFFER);
        }
        let is_gone = |_: &GameId, challenged: &mut Challenged| {
            // One that we have accepted becomes a game.
            indexes.contains(&challenged.index) && !challenged.is_accepted
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

    pub(super) async fn on_request(&mut self, request: Request) -> Result<(), End> {
        match request {
            Request::Accept(id) => {
                if let Some(challenged) = self.offers.get_mut(&id) {
                    challenged.is_accepted = true;
                    self.outgoing.push(format!("accept {}", challenged.index));
                }
            }
            Request::Decline(id, reason) => {
                if let Some(Challenged { index, from, .. }) = self.offers.remove(&id) {
                    self.outgoing.push(format!("decline {index}"));
                    let word = self.courtesy.decline(&from, reason, Instant::now());
                    self.outgoing.extend(word.filter(|_| self.options.help));
                }
            }
            Request::SetOpen(is_open) if is_open != self.is_open => {
                self.is_open = is_open;
                if self.is_online {
                    self.say_open();
                }
            }
            Request::SetOpen(_) => {}
            Request::Invite(id, _) if self.game.is_some() || !self.is_online => {
                return self.emit(Event::InvitationOver(id, Outcome::Refused)).await;
            }
            Request::Invite(id, invitation) => {
                self.outgoing.push(invitation.line());
                self.invited = Some(Invited { id, invitation, index: None, over_at: None });
            }
            Request::Withdraw(id) => {
                let invited = self.invited.take_if(|invited| invited.id == id);
                match invited.map(|invited| (invited.invitation, invited.index)) {
                    Some((Invitation::Seek(_), _)) => self.outgoing.push("unseek".to_owned()),
                    Some((_, Some(index))) => self.outgoing.push(format!("withdraw {index}")),
                    // As soon as its number is known.
                    Some((_, None)) | None => {}
                }
            }
            Request::Unseek => self.outgoing.push("unseek".to_owned()),
        }
        Ok(())
    }

    /// The session of a game that is over says something, or has gone.
    pub(super) fn on_farewell(&mut self, command: Option<Command>) {
        match command {
            Some(Command::Say { room: Room::Player, text }) if self.game.is_none() => {
                self.outgoing.push(format!("say {text}"));
            }
            Some(_) => {}
            None => self.farewell = None,
        }
    }

    pub(super) fn on_game_command(&mut self, command: Option<Command>) {
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
        if is_lost {
            // The link may only have been slow: with its next board the game goes on.
            self.begins = Some(game.table.resumed());
            self.begins_at = None;
            self.is_read_again = false;
        } else {
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
            let is_chat = matches!(event, GameEvent::Chat(_));
            if is_chat && game.events.capacity() <= KEPT_FROM_CHAT {
                debug!("left out a line of chat, so that boards have room");
                continue;
            }
            let arrived = Arrived { at, lag: self.lag.lag(), event };
            if game.events.try_send(arrived).is_err() {
                // A session that is over takes nothing more; one that takes nothing is broken.
                error!("a game's session does not take what the server says");
                // After a while, since it may have room again.
                self.begins_at.get_or_insert_with(Instant::now);
                return;
            }
        }
    }

    /// Without the link the game is over for now.
    pub(super) fn on_link_lost(&mut self) {
        if let Some(game) = self.game.take() {
            let event = game.table.on_link_lost();
            self.apply(
                &game,
                Effects { events: vec![event], ..Effects::default() },
                Instant::now(),
            );
        }
    }

    pub(super) fn due(&self) -> Option<Instant> {
        let over = self.invited.as_ref().and_then(|invited| invited.over_at);
        let board = self.begins_at.map(|at| at + BOARD_LIMIT);
        let table = self.game.as_ref().and_then(|game| game.table.due());
        table.into_iter().chain(over).chain(board).min()
    }

    pub(super) async fn on_due(&mut self) -> Result<(), End> {
        let now = Instant::now();
        self.at_table(now, |table| table.on_due(now));
        if self.begins_at.take_if(|at| *at + BOARD_LIMIT <= now).is_some() {
            warn!("the board of a game is missing, asking for it");
            self.outgoing.push("refresh".to_owned());
        }
        let over = self.invited.as_ref().and_then(|invited| invited.over_at);
        if over.is_some_and(|at| at <= now) {
            return self.end_invitation(Outcome::Declined).await;
        }
        Ok(())
    }

    async fn emit(&self, event: Event) -> Result<(), End> {
        self.events.send(event).await.map_err(|_| End::DaemonGone)
    }
}

impl Invitation {
    /// Who is asked; nobody in particular for a seek.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Resume(name) | Self::Rematch(name) | Self::Match { name, .. } => Some(name),
            Self::Seek(_) => None,
        }
    }

    fn line(&self) -> String {
        match self {
            Self::Resume(name) => format!("match {name}"),
            Self::Rematch(_) => "rematch".to_owned(),
            Self::Match { name, terms } => format!("match {name} {terms} atomic"),
            Self::Seek(terms) => format!("seek {terms} atomic m"),
        }
    }
}

/// A challenge as the policy judges it everywhere.
fn challenge(
    id: GameId,
    from: &str,
    is_computer: bool,
    us: &str,
    terms: Option<&Terms>,
) -> (Challenge, Kind) {
    let rating = terms.map(|terms| terms.from_rating).unwrap_or_default();
    let our_rating = terms.map(|terms| terms.to_rating).unwrap_or_default();
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
        Some(terms) if terms.is_adjourned && terms.variant == "atomic" => Kind::Adjourned,
        // An adjourned game of another kind is not ours to play.
        Some(terms) if terms.is_even && !terms.is_loaded && !terms.is_adjourned => Kind::New,
        _ => Kind::Strange,
    };
    let challenge = Challenge {
        id,
        challenger: Some(challenger),
        target: Some(User {
            id: us.to_lowercase(),
            name: us.to_owned(),
            title: None,
            is_bot: true,
            rating: our_rating.value,
            is_provisional: our_rating.is_provisional,
        }),
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

/// The next command of a game's session; waits for ever if there is none. Cancel-safe.
pub(super) async fn command_of(commands: Option<&mut mpsc::Receiver<Command>>) -> Option<Command> {
    match commands {
        Some(commands) => commands.recv().await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-30: an adjourned game at chess was accepted, and then resigned.
    #[test]
    fn only_adjourned_games_of_atomic_are_gone_on_with() {
        for (variant, expected) in [("atomic", Kind::Adjourned), ("blitz", Kind::Strange)] {
            let text = format!(
                "1 w=Alice t=match p=Alice (1500) Us (1900) rated {variant} 3 0 (adjourned)"
            );
            let offer = Offer::parse(&text).unwrap();
            let OfferKind::Match(Some(terms)) = offer.kind else { panic!("{offer:?}") };
            let id = "c1".parse().unwrap();
            assert_eq!(challenge(id, "Alice", false, "Us", Some(&terms)).1, expected, "{variant}");
        }
    }
}
