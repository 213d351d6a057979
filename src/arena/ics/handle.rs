//! The controls of an Internet Chess Server of ours, for tests and the demonstration.

use std::{sync::Arc, time::Instant};

use tokio::sync::broadcast;

use crate::arena::{
    game::GameSnapshot,
    ics::{
        options::{IcsAccount, IcsFaults, IcsHouse},
        outbox::End,
        state::{IcsCounters, Player, Shared},
    },
};

/// Controls a server while it runs. Clones control the same one.
#[derive(Clone)]
pub struct IcsHandle {
    shared: Arc<Shared>,
}

impl std::fmt::Debug for IcsHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IcsHandle").finish_non_exhaustive()
    }
}

impl IcsHandle {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Adds or replaces an account.
    pub fn add_account(&self, account: &IcsAccount) {
        self.shared.change(|state| state.add_account(account));
    }

    /// Adds or replaces a player of the house.
    pub fn add_house(&self, house: IcsHouse) {
        self.shared.change(|state| state.add_house(house));
    }

    /// Carries out what a player types, of the house above all. What it is answered is lost.
    pub fn command(&self, player: &str, line: &str) {
        let key = player.to_lowercase();
        self.shared.change(|state| state.carry_out(&key, line, None, Instant::now()));
    }

    /// Sends bytes to a client as they are.
    pub fn send(&self, player: &str, bytes: &[u8]) {
        self.shared.change(|state| {
            let player = state.players.get(&player.to_lowercase());
            if let Some(session) = player.and_then(|player| player.session.as_ref()) {
                session.outbox.push(bytes);
            }
        });
    }

    /// Breaks a client's connection.
    pub fn cut(&self, player: &str) {
        self.shared.change(|state| {
            let player = state.players.get(&player.to_lowercase());
            if let Some(session) = player.and_then(|player| player.session.as_ref()) {
                session.outbox.end(End::Cut);
            }
        });
    }

    /// Changes what goes wrong from now on.
    pub fn set_faults(&self, faults: IcsFaults) {
        self.shared.change(|state| state.options.faults = faults);
    }

    /// Lets guests in from now on, or not.
    pub fn admit_guests(&self, admits: bool) {
        self.shared.change(|state| state.options.admits_guests = admits);
    }

    /// Whether somebody is logged in under a name, or of the house.
    pub fn is_online(&self, player: &str) -> bool {
        self.shared.read().players.get(&player.to_lowercase()).is_some_and(Player::is_online)
    }

    /// Whether a player can be challenged to atomic.
    pub fn is_open(&self, player: &str) -> bool {
        let state = self.shared.read();
        let player = state.players.get(&player.to_lowercase());
        player.is_some_and(|player| player.is_online() && player.is_open && player.takes_atomic())
    }

    /// The names of all guests that are logged in.
    pub fn guests(&self) -> Vec<String> {
        let state = self.shared.read();
        let guests =
            state.players.values().filter(|player| player.is_guest && player.session.is_some());
        guests.map(|player| player.name.clone()).collect()
    }

    /// How many seeks are posted.
    pub fn seeks(&self) -> Vec<u32> {
        self.shared.read().seeks.iter().map(|seek| seek.index).collect()
    }

    /// All games on the board.
    pub fn running(&self) -> Vec<GameSnapshot> {
        let now = Instant::now();
        self.shared.read().games.iter().map(|game| game.snapshot(None, now)).collect()
    }

    /// How many games are adjourned.
    pub fn adjourned(&self) -> usize {
        self.shared.read().adjourned.len()
    }

    /// All games that are over, with the server's words for it, in the order of their ends.
    pub fn finished(&self) -> Vec<(GameSnapshot, String)> {
        self.shared.read().finished.clone()
    }

    /// What clients have typed since they logged in, oldest first; of very much the latest.
    pub fn commands_of(&self, player: &str) -> Vec<String> {
        let state = self.shared.read();
        let own = state.commands.iter().filter(|(name, _)| name.eq_ignore_ascii_case(player));
        own.map(|(_, line)| line.clone()).collect()
    }

    /// What has been counted so far.
    pub fn counters(&self) -> IcsCounters {
        self.shared.read().counters.clone()
    }

    /// Every change of every game from now on. Who falls far behind misses the oldest.
    pub fn watch(&self) -> broadcast::Receiver<GameSnapshot> {
        self.shared.read().snapshots.subscribe()
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
