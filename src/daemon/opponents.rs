//! What this run knows of its opponents: their accounts, as looked up, and the games of late. Pure.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use crate::{
    daemon::policy::Facts,
    platform::AccountFacts,
    store::{Epoch, State},
};

/// An account may have changed after so long.
const FACTS_LIFE: Duration = Duration::from_mins(10);
/// What could not be looked up is asked for again after so long.
const FAILURE_LIFE: Duration = Duration::from_secs(30);
/// The longest window in which games are counted.
const GAMES_LIFE: Duration = Duration::from_hours(24 * 7);
/// Of more accounts those are forgotten with whom no game is counted.
const MAX_KNOWN: usize = 1024;

/// The opponents, by the ids of their accounts.
#[derive(Debug, Default)]
pub(super) struct Opponents {
    look_ups: HashMap<String, LookUp>,
    games: HashMap<String, Vec<Instant>>,
}

#[derive(Debug)]
enum LookUp {
    Asked,
    Answered { facts: Option<AccountFacts>, at: Instant },
}

impl Opponents {
    /// What is known about an account.
    pub(super) fn facts(&self, user: &str) -> Facts<'_> {
        match self.look_ups.get(user) {
            None | Some(LookUp::Asked) => Facts::NotAsked,
            Some(LookUp::Answered { facts: Some(facts), .. }) => Facts::Known(facts),
            Some(LookUp::Answered { facts: None, .. }) => Facts::Unavailable,
        }
    }

    /// Whether to ask for an account now; the next time it is no longer new.
    pub(super) fn begin_look_up(&mut self, user: &str) -> bool {
        let is_new = !self.look_ups.contains_key(user);
        if is_new {
            self.look_ups.insert(user.to_owned(), LookUp::Asked);
        }
        is_new
    }

    /// The answer has come, or will not.
    pub(super) fn end_look_up(&mut self, user: String, facts: Option<AccountFacts>, now: Instant) {
        self.look_ups.insert(user, LookUp::Answered { facts, at: now });
    }

    /// A game with this account begins.
    pub(super) fn note_game(&mut self, user: &str, now: Instant) {
        if self.games.len() < MAX_KNOWN || self.games.contains_key(user) {
            self.games.entry(user.to_owned()).or_default().push(now);
        }
    }

    /// Knows the games again that are remembered from before a restart.
    pub(super) fn recall(&mut self, state: &State, now: (Instant, Epoch)) {
        for (user, games) in &state.games {
            // A start in the future was written by a clock that was wrong.
            let games = games.iter().filter_map(|at| now.0.checked_sub(at.age_at(now.1)));
            games.for_each(|at| self.note_game(user, at));
        }
        self.forget(now.0);
    }

    /// How many games with this account began within a time.
    pub(super) fn recent_games(&self, user: &str, window: Duration, now: Instant) -> u32 {
        let games = self.games.get(user).map_or(&[][..], Vec::as_slice);
        let is_recent = |at: &&Instant| now.saturating_duration_since(**at) < window;
        u32::try_from(games.iter().filter(is_recent).count()).unwrap_or(u32::MAX)
    }

    /// Remembers the start of a game beyond a restart.
    pub(super) fn remember_game(state: &mut State, user: &str, now: Epoch) {
        state.games.retain(|_, games| {
            games.retain(|at| at.age_at(now) < GAMES_LIFE);
            !games.is_empty()
        });
        if state.games.len() < MAX_KNOWN || state.games.contains_key(user) {
            state.games.entry(user.to_owned()).or_default().push(now);
        }
    }

    /// Forgets what is too old to matter.
    pub(super) fn forget(&mut self, now: Instant) {
        let age = |at: Instant| now.saturating_duration_since(at);
        self.look_ups.retain(|_, look_up| match *look_up {
            LookUp::Asked => true,
            LookUp::Answered { facts: Some(_), at } => age(at) < FACTS_LIFE,
            LookUp::Answered { facts: None, at } => age(at) < FAILURE_LIFE,
        });
        self.games.retain(|_, games| {
            games.retain(|&at| age(at) < GAMES_LIFE);
            !games.is_empty()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_looked_up_once_until_the_answer_is_old() {
        let (mut opponents, now) = (Opponents::default(), Instant::now());
        let facts = AccountFacts { age: GAMES_LIFE, games: 3, is_marked: false };
        assert!(opponents.begin_look_up("a"));
        assert!(!opponents.begin_look_up("a"), "it has been asked");
        assert_eq!(opponents.facts("a"), Facts::NotAsked);
        opponents.end_look_up("a".to_owned(), Some(facts), now);
        assert_eq!(opponents.facts("a"), Facts::Known(&facts));
        opponents.begin_look_up("b");
        opponents.end_look_up("b".to_owned(), None, now);
        assert_eq!(opponents.facts("b"), Facts::Unavailable);
        opponents.forget(now + FAILURE_LIFE);
        assert_eq!(opponents.facts("b"), Facts::NotAsked);
        assert!(opponents.begin_look_up("b") && !opponents.begin_look_up("a"));
        opponents.forget(now + FACTS_LIFE);
        assert!(opponents.begin_look_up("a"));
    }

    #[test]
    fn games_of_late_are_counted() {
        let (mut opponents, now) = (Opponents::default(), Instant::now());
        let hour = Duration::from_hours(1);
        opponents.note_game("a", now);
        opponents.note_game("a", now + hour);
        opponents.note_game("b", now);
        assert_eq!(opponents.recent_games("a", 2 * hour, now + hour), 2);
        assert_eq!(opponents.recent_games("a", hour, now + hour), 1);
        assert_eq!(opponents.recent_games("c", hour, now), 0);
        opponents.forget(now + GAMES_LIFE);
        assert_eq!(opponents.recent_games("a", 2 * GAMES_LIFE, now + GAMES_LIFE), 1);
        assert!(!opponents.games.contains_key("b"));
    }

    #[test]
    fn games_of_late_are_known_after_a_restart() {
        let (mut state, noon) = (State::default(), Epoch::from_secs(1_800_000_000));
        let hour = Duration::from_hours(1);
        Opponents::remember_game(&mut state, "b", noon);
        for hours in [150, 167, 168] {
            Opponents::remember_game(&mut state, "a", noon.after(hours * hour));
        }
        assert!(!state.games.contains_key("b"), "a week is over");
        let mut opponents = Opponents::default();
        // A machine that was just started cannot count so far back.
        let now = Instant::now() + GAMES_LIFE;
        opponents.recall(&state, (now, noon.after(168 * hour)));
        assert_eq!(opponents.recent_games("a", 2 * hour, now), 2);
        assert_eq!(opponents.recent_games("a", 24 * hour, now), 3);
    }
}
