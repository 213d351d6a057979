//! The controls of an arena, for tests and the demonstration.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::broadcast;

use crate::{
    arena::{
        account::{Account, AccountSpec, Scope, Token},
        challenge::ChallengeSpec,
        chat::Room,
        counters::Counters,
        export,
        faults::{Endpoint, Fault, FaultPlan},
        game::GameSnapshot,
        house::{HouseAction, HouseSpec},
        opponent::Opponent,
        quota::Quota,
        recorder::Recorded,
        state::{Refused, Shared},
        tournament::{TournamentSnapshot, TournamentSpec},
    },
    pgn,
};

/// The arena refuses what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the arena refuses: {0}")]
pub struct ArenaError(String);

impl From<Refused> for ArenaError {
    fn from(refused: Refused) -> Self {
        Self(refused.text())
    }
}

/// Controls an arena while it runs. Clones control the same arena.
#[derive(Clone)]
pub struct ArenaHandle {
    shared: Arc<Shared>,
}

impl std::fmt::Debug for ArenaHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ArenaHandle").finish_non_exhaustive()
    }
}

impl ArenaHandle {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Adds or replaces an account; returns its token.
    pub fn add_account(&self, spec: &AccountSpec) -> String {
        self.shared.change(|state| state.add_account(spec))
    }

    /// Adds a token to an account.
    ///
    /// # Errors
    /// There is no such account.
    pub fn add_token(&self, user: &str, scopes: &[Scope]) -> Result<String, ArenaError> {
        self.shared.change(|state| {
            let user = state.account(user)?.id.clone();
            let token = format!("lip_{}", state.random_id(20));
            state.tokens.insert(token.clone(), Token { user, scopes: scopes.to_vec() });
            Ok(token)
        })
    }

    /// Revokes a token; streams that are open stay so.
    pub fn revoke_token(&self, token: &str) {
        self.shared.change(|state| state.tokens.remove(token));
    }

    /// Adds or replaces a house player with one of the arena's own opponents.
    pub fn add_house(&self, spec: &HouseSpec) {
        self.shared.change(|state| state.add_house(spec, None));
    }

    /// Adds or replaces a house player with an opponent of the caller's.
    pub fn add_house_with(&self, spec: &HouseSpec, opponent: Arc<dyn Opponent>) {
        self.shared.change(|state| state.add_house(spec, Some(opponent)));
    }

    /// Changes an account's atomic rating.
    ///
    /// # Errors
    /// There is no such account.
    pub fn set_rating(&self, user: &str, rating: i32) -> Result<(), ArenaError> {
        self.with_account(user, |account| account.rating = rating)
    }

    /// Lets an account have started so many games against other bots, in a day that begins now.
    ///
    /// # Errors
    /// There is no such account.
    pub fn set_bot_games(&self, user: &str, games: u32) -> Result<(), ArenaError> {
        let quota = Quota::used_since(Instant::now(), games);
        self.with_account(user, |account| account.bot_games = quota)
    }

    fn with_account(
        &self,
        user: &str,
        change: impl FnOnce(&mut Account),
    ) -> Result<(), ArenaError> {
        self.shared.change(|state| {
            let user = state.account(user)?.id.clone();
            state.accounts.get_mut(&user).map(change);
            Ok(())
        })
    }

    /// Makes a challenge and returns its id, which will be the game's.
    ///
    /// # Errors
    /// One of the accounts does not exist, or both are the same; or there is no such variant.
    pub fn challenge(&self, spec: &ChallengeSpec) -> Result<String, ArenaError> {
        let now = Instant::now();
        self.shared.change(|state| {
            let id = state.create_challenge(spec, now)?;
            state.let_house_answer(&id, now);
            Ok(id)
        })
    }

    /// Makes many challenges at once, each of another house player, since a player can have only
    /// one for the same target. The players are like `house`, and named `name-1`, `name-2` …
    ///
    /// # Errors
    /// As [`Self::challenge`].
    pub fn burst(
        &self,
        house: &HouseSpec,
        spec: &ChallengeSpec,
        count: usize,
    ) -> Result<Vec<String>, ArenaError> {
        (1..=count)
            .map(|n| {
                let name = format!("{}-{n}", house.name);
                self.add_house(&HouseSpec { name: name.clone(), ..house.clone() });
                self.challenge(&ChallengeSpec { challenger: name, ..spec.clone() })
            })
            .collect()
    }

    /// Withdraws a challenge.
    ///
    /// # Errors
    /// There is no such challenge, or it has been answered.
    pub fn cancel_challenge(&self, id: &str) -> Result<(), ArenaError> {
        self.shared.change(|state| {
            let challenger = state.challenges.get(id).map(|challenge| challenge.challenger.clone());
            let challenger = challenger.ok_or_else(|| Refused::not_found("Not found"))?;
            Ok(state.cancel_challenge(&challenger, id, Instant::now())?)
        })
    }

    /// Lets the house player of a game do something.
    ///
    /// # Errors
    /// There is no such game, no house player in it, or the server refuses the command.
    pub fn act(&self, game_id: &str, action: &HouseAction) -> Result<(), ArenaError> {
        Ok(self.shared.change(|state| state.act_for_house(game_id, action, Instant::now()))?)
    }

    /// Lets anybody, such as a spectator, say something in a room of a game.
    ///
    /// # Errors
    /// There is no such game, or the text is longer than 140 characters.
    pub fn say(&self, game_id: &str, room: Room, name: &str, text: &str) -> Result<(), ArenaError> {
        Ok(self.shared.change(|state| state.say(game_id, room, name, text))?)
    }

    /// Announces a tournament, and returns its id.
    ///
    /// # Errors
    /// There is one of this id, or one of its players does not exist or is refused.
    pub fn add_tournament(&self, spec: &TournamentSpec) -> Result<String, ArenaError> {
        Ok(self.shared.change(|state| state.add_tournament(spec, Instant::now()))?)
    }

    /// A tournament as it stands.
    pub fn tournament(&self, id: &str) -> Option<TournamentSnapshot> {
        let state = self.shared.read();
        state.tournament(id).ok().map(|tournament| tournament.snapshot(Instant::now()))
    }

    /// The faults to come.
    pub fn faults(&self) -> &FaultPlan {
        &self.shared.faults
    }

    /// Lets a fault strike once; see [`FaultPlan::inject`].
    pub fn inject(&self, endpoint: Endpoint, fault: Fault) {
        self.shared.faults.inject(endpoint, fault);
    }

    /// Breaks all connections, and accepts new ones for so long only to reset them.
    pub fn begin_outage(&self, duration: Duration) {
        self.shared.begin_outage(duration);
    }

    /// Breaks all connections, and lets nobody listen for so long: who connects is refused.
    pub fn close_port(&self, duration: Duration) {
        self.shared.close_port(duration);
    }

    /// Lets all requests from now on be under way to the server for so long, and all answers and
    /// lines to the client. Up to `jitter` is added to each, by lot. Lines never overtake each
    /// other. Zero ends it.
    pub fn set_lag(&self, up: Duration, down: Duration, jitter: Duration) {
        self.shared.lag.set(up, down, jitter);
    }

    /// The latest requests, oldest first; as many as [`ArenaOptions::recorded_requests`] says.
    ///
    /// [`ArenaOptions::recorded_requests`]: crate::arena::ArenaOptions::recorded_requests
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.read().recorder.requests()
    }

    /// For each move that a client made in a game: when the line that made it the client's turn
    /// was first handed to its connection, and when the head of the request with the move had
    /// been read, before any lag. House players are left out. Empty for an unknown game.
    pub fn answer_times(&self, game_id: &str) -> Vec<(Instant, Instant)> {
        let times = self.shared.read().games.get(game_id).map(|game| game.answer_times.clone());
        times.map(|times| times.answers()).unwrap_or_default()
    }

    /// The challenges that clients have declined, with the reason in the API's spelling, such as
    /// `tooFast`; an unknown word counts as `generic`. Oldest first; of very many the latest.
    pub fn declines(&self) -> Vec<(String, String)> {
        self.shared.read().declines.iter().cloned().collect()
    }

    /// Forgets all finished games but the latest `keep`, and all challenges that are over.
    pub fn forget_finished(&self, keep: usize) {
        self.shared.change(|state| state.forget_finished(keep));
    }

    /// A game as it stands.
    pub fn game(&self, id: &str) -> Option<GameSnapshot> {
        Some(self.shared.read().games.get(id)?.snapshot(Instant::now()))
    }

    /// All games that are not over.
    pub fn running(&self) -> Vec<GameSnapshot> {
        let now = Instant::now();
        let state = self.shared.read();
        let running = state.games.values().filter(|game| game.arbiter.ending().is_none());
        running.map(|game| game.snapshot(now)).collect()
    }

    /// All games that are over, in the order of their ends.
    pub fn finished(&self) -> Vec<GameSnapshot> {
        let now = Instant::now();
        let state = self.shared.read();
        let finished = state.finished.iter().filter_map(|id| state.games.get(id));
        finished.map(|game| game.snapshot(now)).collect()
    }

    /// All games that are over, in the order of their ends, as PGN has them.
    pub fn records(&self) -> Vec<pgn::Game> {
        let state = self.shared.read();
        let finished = state.finished.iter().filter_map(|id| state.games.get(id));
        finished.map(export::record).collect()
    }

    /// Whether an account has its event stream open.
    pub fn is_online(&self, user: &str) -> bool {
        self.shared.read().account(user).is_ok_and(Account::is_online)
    }

    /// Every change of every game from now on. Who falls far behind misses the oldest.
    pub fn watch(&self) -> broadcast::Receiver<GameSnapshot> {
        self.shared.read().snapshots.subscribe()
    }

    /// What has been counted so far.
    pub fn counters(&self) -> Counters {
        self.shared.read().counters.clone()
    }

    /// Waits until the condition holds; it is tried again after every change.
    pub async fn wait_until(&self, mut condition: impl FnMut(&Self) -> bool) {
        let mut revision = self.shared.revision.subscribe();
        while !condition(self) {
            // The sender lives as long as `self.shared`.
            let _changed = revision.changed().await;
        }
    }
}
