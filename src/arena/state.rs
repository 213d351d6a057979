//! What the server knows: accounts, tokens, challenges and games, behind one lock.
//!
//! All methods are short and never wait. Those that depend on time take `now`.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use hyper::StatusCode;
use serde_json::{Value, json};
use tokio::sync::{Notify, broadcast, watch};
use tokio_util::sync::CancellationToken;

use crate::{
    arena::{
        account::{Account, AccountSpec, Scope, Token},
        agenda::{Agenda, Task},
        challenge::{Challenge, ChallengeStatus},
        counters::Counters,
        faults::FaultPlan,
        game::{GameSnapshot, ServerGame, event_game},
        house::{House, HouseSpec},
        lag::Lag,
        line::Line,
        opponent::Opponent,
        options::ArenaOptions,
        recorder::Recorder,
        stream::LineQueue,
        tournament::Tournament,
    },
    rules::Color,
};

/// Snapshots that a slow watcher may lag behind; then it misses the oldest.
const SNAPSHOT_BUFFER: usize = 256;

const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// A request is refused with this status and body.
#[derive(Clone, Debug)]
pub(super) struct Refused {
    pub(super) status: StatusCode,
    pub(super) body: Value,
}

impl Refused {
    pub(super) fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self { status, body: json!({ "error": error.into() }) }
    }

    pub(super) fn bad_request(error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error)
    }

    pub(super) fn not_found(error: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, error)
    }

    /// The body of a form error, in which `error` is an object.
    pub(super) fn form(field: &str) -> Self {
        let mut body = json!({ "error": { field: ["error.invalid"] } });
        body[field] = json!(["error.invalid"]);
        Self { status: StatusCode::BAD_REQUEST, body }
    }

    /// The text of the refusal.
    pub(super) fn text(&self) -> String {
        self.body["error"].as_str().map_or_else(|| self.body.to_string(), str::to_owned)
    }
}

/// What connections, game tasks and handles share.
pub(super) struct Shared {
    state: Mutex<State>,
    pub(super) faults: FaultPlan,
    pub(super) lag: Lag,
    /// Signalled when a game begins, whose task is then started, and when the agenda changes.
    pub(super) has_work: Notify,
    /// Goes up with every change that somebody may wait for.
    pub(super) revision: watch::Sender<u64>,
    /// Signalled when the port is to be closed.
    pub(super) port_closing: Notify,
    outage: Mutex<Outage>,
}

/// The time in which connections are refused.
struct Outage {
    /// Until then a connection is accepted and reset at once.
    until: Option<Instant>,
    /// Until then nobody listens.
    closed_until: Option<Instant>,
    /// Cancelled when an outage begins: all connections break.
    connections: CancellationToken,
}

/// Everything behind the lock.
pub(super) struct State {
    pub(super) options: ArenaOptions,
    pub(super) accounts: BTreeMap<String, Account>,
    pub(super) tokens: HashMap<String, Token>,
    pub(super) challenges: BTreeMap<String, Challenge>,
    pub(super) games: BTreeMap<String, ServerGame>,
    pub(super) tournaments: BTreeMap<String, Tournament>,
    /// What is to be done later.
    pub(super) agenda: Agenda,
    /// Games whose task is not running yet.
    pub(super) games_to_run: Vec<String>,
    /// Ended games in the order of their ends.
    pub(super) finished: VecDeque<String>,
    pub(super) counters: Counters,
    pub(super) recorder: Recorder,
    /// Challenges that clients declined, with the reason; of very many the latest.
    pub(super) declines: VecDeque<(String, String)>,
    pub(super) snapshots: broadcast::Sender<GameSnapshot>,
    pub(super) rng: fastrand::Rng,
}

impl Shared {
    pub(super) fn new(options: ArenaOptions) -> Self {
        let outage =
            Outage { until: None, closed_until: None, connections: CancellationToken::new() };
        Self {
            faults: FaultPlan::new(options.faults.clone(), options.seed),
            lag: options.lag(),
            state: Mutex::new(State::new(options)),
            has_work: Notify::new(),
            revision: watch::Sender::new(0),
            port_closing: Notify::new(),
            outage: Mutex::new(outage),
        }
    }

    /// The state, to look at.
    pub(super) fn read(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state and tells those who wait for a change.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.read();
        let result = change(&mut state);
        let has_work = !state.games_to_run.is_empty() | state.agenda.take_news();
        drop(state);
        if has_work {
            self.has_work.notify_one();
        }
        self.revision.send_modify(|revision| *revision += 1);
        result
    }

    /// Breaks all connections, and resets new ones at once for so long.
    pub(super) fn begin_outage(&self, duration: Duration) {
        let mut outage = self.outage();
        outage.until = Some(Instant::now() + duration);
        std::mem::take(&mut outage.connections).cancel();
    }

    /// Breaks all connections, and lets nobody listen for so long.
    pub(super) fn close_port(&self, duration: Duration) {
        let mut outage = self.outage();
        outage.closed_until = Some(Instant::now() + duration);
        std::mem::take(&mut outage.connections).cancel();
        drop(outage);
        self.port_closing.notify_one();
    }

    /// Until when the port is closed; `None` if it is open, or to be opened now.
    pub(super) fn port_closed_until(&self) -> Option<Instant> {
        self.outage().closed_until.filter(|&until| Instant::now() < until)
    }

    /// What a new connection lives under; `None` during an outage.
    pub(super) fn connection_token(&self) -> Option<CancellationToken> {
        let outage = self.outage();
        let is_down = outage.until.is_some_and(|until| Instant::now() < until);
        (!is_down).then(|| outage.connections.clone())
    }

    fn outage(&self) -> MutexGuard<'_, Outage> {
        self.outage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn new(mut options: ArenaOptions) -> Self {
        let accounts = std::mem::take(&mut options.accounts);
        let houses = std::mem::take(&mut options.houses);
        let tournaments = std::mem::take(&mut options.tournaments);
        let mut state = Self {
            rng: fastrand::Rng::with_seed(options.seed),
            recorder: Recorder::new(options.recorded_requests),
            options,
            accounts: BTreeMap::new(),
            tokens: HashMap::new(),
            challenges: BTreeMap::new(),
            games: BTreeMap::new(),
            tournaments: BTreeMap::new(),
            agenda: Agenda::default(),
            games_to_run: Vec::new(),
            finished: VecDeque::new(),
            counters: Counters::default(),
            declines: VecDeque::new(),
            snapshots: broadcast::Sender::new(SNAPSHOT_BUFFER),
        };
        for account in &accounts {
            state.add_account(account);
        }
        for house in &houses {
            state.add_house(house, None);
        }
        for tournament in &tournaments {
            if let Err(refused) = state.add_tournament(tournament, Instant::now()) {
                let (name, error) = (&tournament.name, refused.text());
                tracing::error!(name, error, "a tournament of the options cannot be held");
            }
        }
        state
    }

    /// Adds or replaces an account; returns its token.
    pub(super) fn add_account(&mut self, spec: &AccountSpec) -> String {
        let account = Account::new(spec, None, epoch_ms());
        let user = account.id.clone();
        self.accounts.insert(user.clone(), account);
        let token = spec.token.clone().unwrap_or_else(|| format!("lip_{}", self.random_id(20)));
        self.tokens.insert(token.clone(), Token { user, scopes: spec.scopes.clone() });
        token
    }

    /// Adds or replaces a player whom the server plays.
    pub(super) fn add_house(&mut self, spec: &HouseSpec, opponent: Option<Arc<dyn Opponent>>) {
        let opponent = opponent.unwrap_or_else(|| spec.opponent.build(self.rng.u64(..)));
        let account_spec = AccountSpec {
            title: spec.title.clone(),
            rating: spec.rating,
            provisional: spec.provisional,
            games: spec.games,
            age_days: spec.age_days,
            tos_violation: spec.tos_violation,
            ..AccountSpec::new(&spec.name)
        };
        let house = House { spec: spec.clone(), opponent };
        let account = Account::new(&account_spec, Some(house), epoch_ms());
        self.accounts.insert(account.id.clone(), account);
    }

    /// The owner of a bearer token, if the token has one of these scopes; none are needed if the
    /// list is empty.
    pub(super) fn authenticate(
        &mut self,
        bearer: Option<&str>,
        user_agent: &str,
        scopes: &[Scope],
    ) -> Result<String, Refused> {
        let result = self.check_token(bearer, user_agent, scopes);
        if result.is_err() {
            self.counters.unauthorized += 1;
        }
        result
    }

    fn check_token(
        &self,
        bearer: Option<&str>,
        user_agent: &str,
        scopes: &[Scope],
    ) -> Result<String, Refused> {
        let token = bearer
            .and_then(|bearer| self.tokens.get(bearer))
            .filter(|token| self.account(&token.user).is_ok_and(|account| !account.disabled))
            .ok_or_else(|| Refused::new(StatusCode::UNAUTHORIZED, "No such token"))?;
        if named_user(user_agent).is_some_and(|name| name.to_lowercase() != token.user) {
            let error = "The user in the user-agent doesn't match the token bearer";
            return Err(Refused::new(StatusCode::UNAUTHORIZED, error));
        }
        if !scopes.is_empty() && !scopes.iter().any(|scope| token.scopes.contains(scope)) {
            let names: Vec<_> = scopes.iter().map(|scope| scope.name()).collect();
            let error = format!("Missing scope: {}", names.join(", "));
            return Err(Refused::new(StatusCode::FORBIDDEN, error));
        }
        Ok(token.user.clone())
    }

    pub(super) fn account(&self, user: &str) -> Result<&Account, Refused> {
        self.accounts
            .get(&user.to_lowercase())
            .ok_or_else(|| Refused::bad_request(format!("No such user: {user}")))
    }

    /// Whether the server itself plays this account.
    pub(super) fn is_house(&self, user: &str) -> bool {
        self.accounts.get(user).is_some_and(|account| account.house.is_some())
    }

    /// Sends an event to an account's event stream, if one is open.
    pub(super) fn send_event(&self, user: &str, event: &Value) {
        if let Some(account) = self.accounts.get(user) {
            account.send(event);
        }
    }

    /// Opens the account's event stream and closes the one before.
    pub(super) fn open_event_stream(
        &mut self,
        user: &str,
        now: Instant,
    ) -> Result<Arc<LineQueue>, Refused> {
        self.counters.event_streams += 1;
        let limit = self.options.event_stream_openings;
        let account = self.accounts.get_mut(user).ok_or_else(|| Refused::not_found("Not found"))?;
        if !account.may_open_event_stream(now, limit) {
            let error = "Please don't poll this endpoint, it is intended to be streamed. \
                         See https://lichess.org/api#tag/Board/operation/apiStreamEvent.";
            return Err(Refused::new(StatusCode::TOO_MANY_REQUESTS, error));
        }
        let first = self.opening_events(user, now).iter().map(Line::new).collect();
        let queue = LineQueue::new(first, self.options.stream_buffer);
        let account = self.accounts.get_mut(user).ok_or_else(|| Refused::not_found("Not found"))?;
        if let Some(previous) = account.event_stream.replace(Arc::clone(&queue)) {
            previous.close();
        }
        Ok(queue)
    }

    /// All running games of the account, then all challenges that wait for its answer.
    fn opening_events(&mut self, user: &str, now: Instant) -> Vec<Value> {
        let mut events: Vec<Value> = self
            .games
            .values()
            .filter(|game| game.arbiter.ending().is_none())
            .filter_map(|game| Some((game, game.color_of(user)?)))
            .map(|(game, color)| event_game(game, color, now))
            .map(|game| json!({ "type": "gameStart", "game": game }))
            .collect();
        self.expire_challenges(now);
        events.extend(self.waiting_challenges().filter(|challenge| challenge.target == user).map(
            |challenge| json!({ "type": "challenge", "challenge": self.challenge_json(challenge) }),
        ));
        events
    }

    pub(super) fn close_event_stream(&mut self, user: &str, queue: &Arc<LineQueue>) {
        if let Some(account) = self.accounts.get_mut(user)
            && account.event_stream.as_ref().is_some_and(|open| Arc::ptr_eq(open, queue))
        {
            account.event_stream = None;
        }
    }

    /// Does what is to be done by now.
    pub(super) fn do_due(&mut self, now: Instant) {
        for task in self.agenda.take_due(now) {
            match task {
                Task::Answer(challenge) => self.answer_for_house(&challenge, now),
                Task::RunTournament(id) => self.run_tournament(&id, now),
            }
        }
    }

    /// Forgets all finished games but the latest, and challenges that are over.
    pub(super) fn forget_finished(&mut self, keep: usize) {
        while self.finished.len() > keep {
            if let Some(id) = self.finished.pop_front() {
                self.games.remove(&id);
            }
        }
        let games = &self.games;
        self.challenges.retain(|id, challenge| match challenge.status {
            ChallengeStatus::Created => true,
            ChallengeStatus::Accepted => games.contains_key(id),
            ChallengeStatus::Offline | ChallengeStatus::Canceled | ChallengeStatus::Declined => {
                false
            }
        });
    }

    pub(super) fn random_id(&mut self, length: usize) -> String {
        (0..length)
            .filter_map(|_| self.rng.choice(ALPHABET))
            .map(|&byte| char::from(byte))
            .collect()
    }

    pub(super) fn random_color(&mut self) -> Color {
        if self.rng.bool() { Color::White } else { Color::Black }
    }
}

/// Milliseconds since 1970.
pub(super) fn epoch_ms() -> u64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}

/// The user whom a `User-Agent` names after `user:` or `as:`.
fn named_user(user_agent: &str) -> Option<&str> {
    let (_, rest) = user_agent.split_once("user:").or_else(|| user_agent.split_once("as:"))?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let rest = rest.trim_start();
    let name = &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())];
    (3..=31).contains(&name.len()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_scopes_and_agents_are_checked() {
        let mut state = State::new(ArenaOptions::default());
        let all = state.add_account(&AccountSpec::bot("EmberFork"));
        let few = state.add_account(&AccountSpec {
            scopes: vec![Scope::ChallengeRead],
            ..AccountSpec::bot("soot-engine")
        });
        let play = [Scope::BotPlay];
        let mut status = |bearer: Option<&str>, agent: &str, scopes: &[Scope]| {
            state.authenticate(bearer, agent, scopes).map_err(|refused| refused.status.as_u16())
        };
        assert_eq!(status(Some(&all), "Meitner/1 user:EmberFork", &play).unwrap(), "emberfork");
        assert_eq!(status(Some(&all), "Meitner/1 user:somebody", &play), Err(401));
        assert_eq!(status(Some(&few), "", &play), Err(403));
        assert_eq!(status(Some(&few), "", &[]).unwrap(), "soot-engine");
        assert_eq!(status(Some("lip_unknown"), "", &[]), Err(401));
        assert_eq!(status(None, "", &[]), Err(401));
        assert_eq!(state.counters.unauthorized, 4);
    }

    #[test]
    fn names_are_found_in_user_agents() {
        assert_eq!(named_user("Meitner/0.1 user:EmberFork"), Some("EmberFork"));
        assert_eq!(named_user("lib/1 (as: soot-engine)"), Some("soot-engine"));
        assert_eq!(named_user("Meitner/0.1"), None);
        assert_eq!(named_user("x user:ab"), None);
    }
}
