//! How many games fit, which challenges wait, and the engines that play.
//!
//! Pure bookkeeping, apart from the engines. A challenge that we accepted takes its slot at once,
//! not only when its game starts: otherwise a burst of challenges would all find the same slot
//! free.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{
    game::GameId,
    platform::Challenge,
    search::{self, Engine},
};

/// A real-time challenge lives so long without its challenger (section 7.1 of the protocol
/// notes). After that an acceptance might begin a game with nobody there.
const CHALLENGE_LIFE: Duration = Duration::from_secs(20);
/// How long a challenge that is perhaps accepted may take to become a game.
const RESERVATION_LIFE: Duration = Duration::from_secs(20);
/// More challenges than this do not wait.
const MAX_WAITING: usize = 32;

/// Who holds or wants a slot.
#[derive(Debug)]
pub(super) struct Slots {
    capacity: usize,
    running: HashSet<GameId>,
    /// The challenges that we accept, each with when the server answered.
    reserved: HashMap<GameId, Option<Instant>>,
    waiting: VecDeque<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    challenge: Challenge,
    since: Instant,
}

/// Too many challenges wait already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QueueFull;

/// What has run out.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Expired {
    /// Challenges that waited too long.
    pub(super) challenges: Vec<Challenge>,
    /// Perhaps accepted challenges that never became a game.
    pub(super) reservations: Vec<GameId>,
}

impl Slots {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            running: HashSet::new(),
            reserved: HashMap::new(),
            waiting: VecDeque::new(),
        }
    }

    /// Whether one more game fits. Games that we did not choose (after a restart, say) may exceed
    /// the capacity.
    pub(super) fn has_room(&self) -> bool {
        self.running.len() + self.reserved.len() < self.capacity
    }

    /// Whether this challenge or game is known: waiting, accepted, or running.
    pub(super) fn knows(&self, id: &GameId) -> bool {
        self.running.contains(id)
            || self.reserved.contains_key(id)
            || self.waiting.iter().any(|waiting| waiting.challenge.id == *id)
    }

    /// Lets a challenge wait for its turn. A newer one of the same challenger replaces the older,
    /// as it does on the server.
    ///
    /// # Errors
    ///
    /// [`QueueFull`] when too many wait.
    pub(super) fn wait(&mut self, challenge: Challenge, now: Instant) -> Result<(), QueueFull> {
        if let Some(user) = &challenge.challenger {
            let id = Some(&user.id);
            self.waiting.retain(|old| old.challenge.challenger.as_ref().map(|u| &u.id) != id);
        }
        if self.waiting.len() >= MAX_WAITING {
            return Err(QueueFull);
        }
        self.waiting.push_back(Waiting { challenge, since: now });
        Ok(())
    }

    /// Takes the challenge that waited longest and reserves its slot, if there is room.
    pub(super) fn next(&mut self) -> Option<Challenge> {
        if !self.has_room() {
            return None;
        }
        let challenge = self.waiting.pop_front()?.challenge;
        self.reserved.insert(challenge.id.clone(), None);
        Some(challenge)
    }

    /// All waiting challenges, which wait no longer.
    pub(super) fn drain_waiting(&mut self) -> Vec<Challenge> {
        self.waiting.drain(..).map(|waiting| waiting.challenge).collect()
    }

    /// The server may have taken our acceptance: the time for the game to start begins.
    pub(super) fn answer(&mut self, id: &GameId, now: Instant) {
        if let Some(answered) = self.reserved.get_mut(id) {
            *answered = Some(now);
        }
    }

    /// One of our acceptances failed, and it is not known which: the time begins for all.
    pub(super) fn answer_all(&mut self, now: Instant) {
        for answered in self.reserved.values_mut() {
            answered.get_or_insert(now);
        }
    }

    /// A challenge is off: it neither waits nor holds a slot.
    pub(super) fn release(&mut self, id: &GameId) {
        self.waiting.retain(|waiting| waiting.challenge.id != *id);
        self.reserved.remove(id);
    }

    /// A game starts.
    pub(super) fn start(&mut self, id: &GameId) {
        self.release(id);
        self.running.insert(id.clone());
    }

    /// A game ended.
    pub(super) fn finish(&mut self, id: &GameId) {
        self.running.remove(id);
    }

    /// How many challenges are being accepted, or are still to become games.
    pub(super) fn reserved(&self) -> usize {
        self.reserved.len()
    }

    /// How many challenges wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Drops what has run out.
    pub(super) fn expire(&mut self, now: Instant) -> Expired {
        let mut expired = Expired::default();
        while let Some(waiting) = self
            .waiting
            .pop_front_if(|waiting| now.saturating_duration_since(waiting.since) >= CHALLENGE_LIFE)
        {
            expired.challenges.push(waiting.challenge);
        }
        self.reserved.retain(|id, answered| {
            let is_alive = answered
                .is_none_or(|since| now.saturating_duration_since(since) < RESERVATION_LIFE);
            if !is_alive {
                expired.reservations.push(id.clone());
            }
            is_alive
        });
        expired
    }
}

/// The engines, one for each slot, made once and used again. A game beyond the capacity gets one
/// more, which is not kept.
pub(super) struct Engines {
    options: search::Options,
    capacity: usize,
    idle: Vec<Arc<Engine>>,
}

impl Engines {
    pub(super) fn new(options: search::Options, capacity: usize) -> Self {
        let idle = (0..capacity).map(|_| Arc::new(Engine::new(options))).collect();
        Self { options, capacity, idle }
    }

    /// An engine for a game.
    pub(super) fn take(&mut self) -> Arc<Engine> {
        self.idle.pop().unwrap_or_else(|| Arc::new(Engine::new(self.options)))
    }

    /// An engine comes back from a game.
    pub(super) fn give_back(&mut self, engine: Arc<Engine>) {
        if self.idle.len() < self.capacity {
            self.idle.push(engine);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::User;

    const SECOND: Duration = Duration::from_secs(1);

    fn id(name: &str) -> GameId {
        name.parse().unwrap()
    }

    fn challenge(name: &str, challenger: &str) -> Challenge {
        Challenge {
            id: id(name),
            challenger: Some(User {
                id: challenger.to_owned(),
                name: challenger.to_owned(),
                title: None,
                is_bot: false,
                rating: None,
                is_provisional: false,
            }),
            variant: "atomic".to_owned(),
            initial_fen: None,
            rated: false,
            speed: None,
            clock: None,
            days: None,
            rematch_of: None,
            is_bot_playable: None,
        }
    }

    fn next(slots: &mut Slots) -> Option<String> {
        slots.next().map(|challenge| challenge.id.to_string())
    }

    #[test]
    fn a_burst_takes_no_more_slots_than_there_are() {
        let (mut slots, now) = (Slots::new(2), Instant::now());
        for name in ["a", "b", "c", "d"] {
            slots.wait(challenge(name, name), now).unwrap();
        }
        assert_eq!(next(&mut slots), Some("a".into()));
        assert_eq!(next(&mut slots), Some("b".into()));
        assert_eq!(next(&mut slots), None);
        slots.start(&id("a"));
        assert_eq!(next(&mut slots), None, "started is still taken");
        slots.finish(&id("a"));
        assert_eq!(next(&mut slots), Some("c".into()));
        slots.release(&id("b"));
        assert_eq!(next(&mut slots), Some("d".into()));
    }

    #[test]
    fn games_that_nobody_chose_count_too() {
        let (mut slots, now) = (Slots::new(1), Instant::now());
        slots.start(&id("x"));
        slots.start(&id("y"));
        slots.wait(challenge("a", "a"), now).unwrap();
        assert_eq!(next(&mut slots), None);
        slots.finish(&id("x"));
        assert_eq!(next(&mut slots), None);
        slots.finish(&id("y"));
        assert_eq!(next(&mut slots), Some("a".into()));
    }

    #[test]
    fn waiting_and_reservations_run_out() {
        let (mut slots, now) = (Slots::new(1), Instant::now());
        slots.wait(challenge("a", "a"), now).unwrap();
        slots.next();
        slots.answer(&id("a"), now);
        slots.wait(challenge("b", "b"), now + SECOND).unwrap();
        assert_eq!(slots.expire(now + 19 * SECOND), Expired::default());
        let expired = slots.expire(now + 20 * SECOND);
        assert_eq!((expired.reservations, expired.challenges.len()), (vec![id("a")], 0));
        let expired = slots.expire(now + 21 * SECOND);
        assert_eq!(expired.challenges.len(), 1);
        assert!(!slots.knows(&id("a")) && !slots.knows(&id("b")));
    }

    #[test]
    fn a_reservation_lives_from_the_answer_on() {
        let (mut slots, now) = (Slots::new(2), Instant::now());
        slots.wait(challenge("a", "a"), now).unwrap();
        slots.wait(challenge("b", "b"), now).unwrap();
        slots.next();
        slots.next();
        assert_eq!(slots.expire(now + 60 * SECOND).reservations, [], "both are under way");
        slots.answer(&id("a"), now + 60 * SECOND);
        assert_eq!(slots.expire(now + 79 * SECOND).reservations, []);
        assert_eq!(slots.expire(now + 80 * SECOND).reservations, [id("a")]);
        assert!(slots.knows(&id("b")));
        slots.answer_all(now + 80 * SECOND);
        assert_eq!(slots.expire(now + 100 * SECOND).reservations, [id("b")]);
    }

    #[test]
    fn a_newer_challenge_of_the_same_challenger_replaces_the_older() {
        let (mut slots, now) = (Slots::new(1), Instant::now());
        slots.wait(challenge("a", "x"), now).unwrap();
        slots.wait(challenge("b", "x"), now).unwrap();
        assert_eq!(slots.waiting(), 1);
        assert_eq!(next(&mut slots), Some("b".into()));
    }

    #[test]
    fn the_queue_is_bounded() {
        let (mut slots, now) = (Slots::new(0), Instant::now());
        for number in 0..MAX_WAITING {
            let name = format!("c{number}");
            slots.wait(challenge(&name, &name), now).unwrap();
        }
        assert!(slots.wait(challenge("last", "last"), now).is_err());
        assert_eq!(slots.drain_waiting().len(), MAX_WAITING);
        assert_eq!(slots.waiting(), 0);
    }
}
