//! How many games fit, who holds a slot, and the engines that play.
//!
//! Pure bookkeeping, apart from the engines. A challenge that we accepted takes its slot at once,
//! not only when its game starts: otherwise a burst of challenges would all find the same slot
//! free. One that we made holds a slot as well, since it becomes a game without asking us again.
//!
//! Correspondence games, those without a clock, last for days and are seldom thought about: they have a
//! number of their own and take no slot from the others.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::{
    game::GameId,
    search::{self, Engine, Scheduler},
};

/// How long a challenge that is perhaps accepted may take to become a game.
const RESERVATION_LIFE: Duration = Duration::from_secs(20);

/// How many games fit in a process, whatever platforms they are on. Clones share the count.
#[derive(Clone, Debug)]
pub(super) struct Seats {
    capacity: usize,
    /// How many are taken by all [`Slots`] together.
    taken: Arc<Mutex<usize>>,
}

impl Seats {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, taken: Arc::default() }
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who holds or wants a slot on one platform.
#[derive(Debug)]
pub(super) struct Slots {
    seats: Seats,
    /// How many of the seats taken are ours.
    counted: usize,
    running: HashMap<GameId, Holder>,
    reserved: HashMap<GameId, Reservation>,
    /// Games that may begin at any moment, whose ids nobody knows yet.
    awaited: usize,
    /// How many correspondence games fit, which are not among the seats.
    correspondence: usize,
    /// The same as `awaited` for them.
    awaited_correspondence: usize,
}

/// The opponent for whom a slot is taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Holder {
    /// The account's id in lower case; `None` for anonymous visitors and where it is not known.
    pub(super) user: Option<String>,
    /// Whether it is certainly a person. Games that are found running do not tell.
    pub(super) is_human: bool,
    /// Whether the game has no clock.
    pub(super) is_correspondence: bool,
}

/// A challenge that is to become a game.
#[derive(Debug)]
struct Reservation {
    holder: Holder,
    /// When the time for the game to start began; `None` while our acceptance is under way.
    since: Option<Instant>,
}

impl Slots {
    #[cfg(test)]
    fn new(capacity: usize) -> Self {
        Self::sharing(&Seats::new(capacity))
    }

    /// The slots of one platform, which shares the seats with others. There is no room for
    /// correspondence games.
    pub(super) fn sharing(seats: &Seats) -> Self {
        Self {
            seats: seats.clone(),
            counted: 0,
            running: HashMap::new(),
            reserved: HashMap::new(),
            awaited: 0,
            correspondence: 0,
            awaited_correspondence: 0,
        }
    }

    /// The same with room for so many correspondence games.
    #[must_use]
    pub(super) fn with_correspondence(mut self, capacity: usize) -> Self {
        self.correspondence = capacity;
        self
    }

    /// Whether one more game fits. Games that we did not choose (after a restart, say) may exceed
    /// the capacity.
    pub(super) fn has_room(&self) -> bool {
        self.taken() + self.elsewhere() < self.seats.capacity
    }

    /// Whether one more game with a bot fits, if so many slots are kept for people.
    pub(super) fn has_room_for_bot(&self, reserved_for_humans: usize) -> bool {
        let is_human = |holder: &&Holder| holder.is_human && !holder.is_correspondence;
        let humans = self.holders().filter(is_human).count();
        let kept = reserved_for_humans.saturating_sub(humans);
        self.taken() + self.elsewhere() + kept < self.seats.capacity
    }

    /// Whether one more correspondence game fits.
    pub(super) fn has_room_for_correspondence(&self) -> bool {
        self.correspondence_games() < self.correspondence
    }

    /// How many correspondence games run or are about to.
    pub(super) fn correspondence_games(&self) -> usize {
        let holders = self.holders().filter(|holder| holder.is_correspondence);
        holders.count() + self.awaited_correspondence
    }

    /// Whether this challenge or game is one of them.
    pub(super) fn is_correspondence(&self, id: &GameId) -> bool {
        let reserved = self.reserved.get(id).map(|reservation| &reservation.holder);
        self.running.get(id).or(reserved).is_some_and(|holder| holder.is_correspondence)
    }

    /// How many games with a clock run.
    pub(super) fn clock_games(&self) -> usize {
        self.running.values().filter(|holder| !holder.is_correspondence).count()
    }

    /// Whether no game with a clock runs or is about to.
    pub(super) fn is_idle(&self) -> bool {
        self.taken() == 0
    }

    /// Whether this challenge or game holds a slot.
    pub(super) fn knows(&self, id: &GameId) -> bool {
        self.running.contains_key(id) || self.reserved.contains_key(id)
    }

    /// How many games with this account run or are about to.
    pub(super) fn count_of(&self, user: &str) -> usize {
        self.holders().filter(|holder| holder.user.as_deref() == Some(user)).count()
    }

    /// How many of them have a clock.
    pub(super) fn clock_games_with(&self, user: &str) -> usize {
        let is_with = |holder: &&Holder| holder.user.as_deref() == Some(user);
        self.holders().filter(is_with).filter(|holder| !holder.is_correspondence).count()
    }

    /// Takes a slot for a challenge that is about to be accepted. False if there is none.
    pub(super) fn reserve(&mut self, id: GameId, holder: Holder) -> bool {
        if self.knows(&id) {
            return false;
        }
        if holder.is_correspondence {
            let has_room = self.has_room_for_correspondence();
            if has_room {
                self.reserved.insert(id, Reservation { holder, since: None });
            }
            return has_room;
        }
        // Under the lock, so that two platforms cannot take the same one.
        let seats = self.seats.clone();
        let mut taken = seats.lock();
        if self.taken() + (*taken - self.counted) >= seats.capacity {
            return false;
        }
        self.reserved.insert(id, Reservation { holder, since: None });
        *taken = *taken - self.counted + self.taken();
        self.counted = self.taken();
        true
    }

    /// A challenge of our own account is open. It may become a game at any moment, so it holds a
    /// slot whether there is one or not.
    pub(super) fn hold_for_our_challenge(&mut self, id: GameId, holder: Holder, now: Instant) {
        if !self.running.contains_key(&id) {
            self.reserved.entry(id).or_insert(Reservation { holder, since: Some(now) });
            self.recount();
        }
    }

    /// So many games may begin at any moment whose ids are not known: a challenge of ours is under
    /// way, or we are paired in a tournament. Each holds a slot, whether there is one or not.
    pub(super) fn await_games(&mut self, count: usize) {
        self.awaited = count;
        self.recount();
    }

    /// The same for correspondence games.
    pub(super) fn await_correspondence(&mut self, count: usize) {
        self.awaited_correspondence = count;
    }

    /// The server may have taken our acceptance: the time for the game to start begins.
    pub(super) fn answer(&mut self, id: &GameId, now: Instant) {
        if let Some(reservation) = self.reserved.get_mut(id) {
            reservation.since = Some(now);
        }
    }

    /// A challenge is off: it holds no slot.
    pub(super) fn release(&mut self, id: &GameId) {
        self.reserved.remove(id);
        self.recount();
    }

    /// All challenges are off.
    pub(super) fn release_all(&mut self) {
        self.reserved.clear();
        self.recount();
    }

    /// A game starts. Whoever had reserved the slot keeps it; if nobody had, it is this one's.
    pub(super) fn start(&mut self, id: &GameId, found: Holder) {
        let reserved = self.reserved.remove(id).map(|reservation| reservation.holder);
        let holder = reserved.filter(|holder| *holder != Holder::default()).unwrap_or(found);
        self.running.entry(id.clone()).or_insert(holder);
        self.recount();
    }

    /// A game ended. Returns for whom it held the slot.
    pub(super) fn finish(&mut self, id: &GameId) -> Option<Holder> {
        let holder = self.running.remove(id);
        self.recount();
        holder
    }

    /// How many challenges are being accepted, or are still to become games.
    pub(super) fn reserved(&self) -> usize {
        self.reserved.len()
    }

    /// Drops the reservations that never became a game, and names them.
    pub(super) fn expire(&mut self, now: Instant) -> Vec<GameId> {
        let is_old = |_: &GameId, reservation: &mut Reservation| {
            let age = reservation.since.map(|since| now.saturating_duration_since(since));
            age.is_some_and(|age| age >= RESERVATION_LIFE)
        };
        let old = self.reserved.extract_if(is_old).map(|(id, _)| id).collect();
        self.recount();
        old
    }

    /// How many seats are taken on other platforms.
    fn elsewhere(&self) -> usize {
        *self.seats.lock() - self.counted
    }

    /// Tells the others how many are ours now.
    fn recount(&mut self) {
        let now = self.taken();
        let mut taken = self.seats.lock();
        *taken = *taken - self.counted + now;
        drop(taken);
        self.counted = now;
    }

    fn taken(&self) -> usize {
        self.holders().filter(|holder| !holder.is_correspondence).count() + self.awaited
    }

    fn holders(&self) -> impl Iterator<Item = &Holder> {
        let reserved = self.reserved.values().map(|reservation| &reservation.holder);
        self.running.values().chain(reserved)
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        *self.seats.lock() -= self.counted;
    }
}

/// The engines, at most one for each slot, made when they are needed and used again: each holds a
/// table of some size. A game beyond the capacity gets one more, which is not kept. All share the
/// cores of one scheduler.
pub(super) struct Engines {
    options: search::Options,
    scheduler: Scheduler,
    capacity: usize,
    idle: Vec<Arc<Engine>>,
}

impl Engines {
    /// One engine is made at once, so that the first game need not wait for it.
    pub(super) fn new(options: search::Options, scheduler: Scheduler, capacity: usize) -> Self {
        let first = Arc::new(Engine::with_scheduler(options, &scheduler));
        Self { options, scheduler, capacity, idle: vec![first] }
    }

    /// An engine for a game. A new one makes its table on its own thread.
    pub(super) fn take(&mut self) -> Arc<Engine> {
        let new = || Arc::new(Engine::with_scheduler(self.options, &self.scheduler));
        self.idle.pop().unwrap_or_else(new)
    }

    /// The next games get engines that fail at their first search.
    #[cfg(test)]
    pub(super) fn break_next(&mut self, count: usize) {
        self.idle.clear();
        for _ in 0..count {
            let engine = Engine::with_scheduler(self.options, &self.scheduler);
            let limits = search::Limits { nodes: Some(1), ..search::Limits::default() };
            let broken = Box::new(|_| panic!("as if a search had failed"));
            engine.search(crate::rules::History::default(), limits, broken);
            self.idle.push(Arc::new(engine));
        }
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

    const SECOND: Duration = Duration::from_secs(1);

    fn id(name: &str) -> GameId {
        name.parse().unwrap()
    }

    fn human(name: &str) -> Holder {
        Holder { user: Some(name.to_owned()), is_human: true, ..Holder::default() }
    }

    fn bot(name: &str) -> Holder {
        Holder { user: Some(name.to_owned()), ..Holder::default() }
    }

    #[test]
    fn games_that_are_awaited_hold_slots() {
        let mut slots = Slots::new(2);
        slots.await_games(1);
        assert!(slots.reserve(id("a"), human("a")));
        assert!(!slots.reserve(id("b"), human("b")));
        slots.await_games(0);
        slots.start(&id("t"), Holder::default());
        assert!(!slots.has_room() && !slots.has_room_for_bot(0), "the awaited game began");
        slots.finish(&id("t"));
        assert!(slots.has_room_for_bot(0) && !slots.has_room_for_bot(2));
    }

    #[test]
    fn a_burst_takes_no_more_slots_than_there_are() {
        let mut slots = Slots::new(2);
        let taken = ["a", "b", "c", "d"].map(|name| slots.reserve(id(name), human(name)));
        assert_eq!(taken, [true, true, false, false]);
        slots.start(&id("a"), Holder::default());
        assert!(!slots.reserve(id("c"), human("c")), "started is still taken");
        slots.finish(&id("a"));
        assert!(slots.reserve(id("c"), human("c")));
        slots.release(&id("b"));
        assert!(slots.has_room() && !slots.reserve(id("c"), human("c")), "it has its slot");
        assert!(slots.reserve(id("d"), human("d")));
    }

    #[test]
    fn correspondence_games_have_a_number_of_their_own() {
        let of_days = |name| Holder { is_correspondence: true, ..human(name) };
        let mut slots = Slots::new(1).with_correspondence(2);
        assert!(slots.is_idle() && slots.reserve(id("a"), of_days("a")));
        slots.start(&id("a"), Holder::default());
        assert!(slots.is_correspondence(&id("a")) && slots.is_idle());
        assert!(slots.has_room() && slots.has_room_for_bot(0) && !slots.has_room_for_bot(1));
        slots.await_correspondence(1);
        assert!(!slots.has_room_for_correspondence() && !slots.reserve(id("b"), of_days("b")));
        slots.await_correspondence(0);
        assert!(slots.reserve(id("b"), of_days("b")) && slots.is_correspondence(&id("b")));
        assert!(!slots.has_room_for_correspondence() && !slots.reserve(id("e"), of_days("e")));
        assert!(slots.reserve(id("c"), human("c")) && !slots.has_room() && !slots.is_idle());
        slots.start(&id("found"), of_days("d"));
        assert_eq!((slots.correspondence_games(), slots.clock_games()), (3, 0), "none was chosen");
        slots.start(&id("c"), Holder::default());
        slots.finish(&id("a"));
        assert_eq!((slots.correspondence_games(), slots.clock_games()), (2, 1));
        assert_eq!(slots.count_of("b") + slots.count_of("d"), 2);
        assert_eq!(slots.clock_games_with("b") + slots.clock_games_with("c"), 1);
        assert!(!Slots::new(1).reserve(id("a"), of_days("a")), "there is no room by default");
    }

    #[test]
    fn platforms_share_the_seats() {
        let seats = Seats::new(2);
        let (mut one, mut other) = (Slots::sharing(&seats), Slots::sharing(&seats));
        assert!(one.reserve(id("a"), human("a")) && other.reserve(id("b"), human("b")));
        assert!(!one.has_room() && !other.reserve(id("c"), human("c")));
        other.start(&id("b"), Holder::default());
        other.finish(&id("b"));
        assert!(one.has_room() && one.reserve(id("c"), human("c")));
        assert!(!other.has_room() && !other.has_room_for_bot(0));
        one.release_all();
        assert!(other.has_room_for_bot(1) && !other.has_room_for_bot(2));
        one.start(&id("x"), Holder::default());
        one.start(&id("y"), Holder::default());
        assert!(!other.has_room());
        drop(one);
        assert!(other.has_room(), "what a platform held is free when it ends");
    }

    #[test]
    fn a_platform_that_panics_frees_its_seats() {
        let seats = Seats::new(1);
        let panicking = seats.clone();
        let panicked = std::thread::spawn(move || {
            let mut slots = Slots::sharing(&panicking);
            slots.start(&id("x"), Holder::default());
            assert!(!slots.has_room(), "taken");
            panic!("a platform fails");
        });
        assert!(panicked.join().is_err());
        assert!(Slots::sharing(&seats).has_room());
    }

    #[test]
    fn games_that_nobody_chose_count_too() {
        let mut slots = Slots::new(1);
        slots.start(&id("x"), Holder::default());
        slots.start(&id("y"), Holder::default());
        assert!(!slots.has_room());
        slots.finish(&id("x"));
        assert!(!slots.has_room());
        slots.finish(&id("y"));
        assert!(slots.has_room());
    }

    #[test]
    fn our_own_challenges_hold_slots() {
        let (mut slots, now) = (Slots::new(1), Instant::now());
        slots.hold_for_our_challenge(id("ours"), bot("b"), now);
        slots.hold_for_our_challenge(id("ours"), bot("b"), now + SECOND);
        assert!(!slots.reserve(id("a"), human("a")));
        slots.hold_for_our_challenge(id("more"), bot("c"), now);
        assert_eq!(slots.reserved(), 2, "they are there, room or not");
        slots.start(&id("ours"), Holder::default());
        slots.hold_for_our_challenge(id("ours"), bot("b"), now);
        assert_eq!(slots.reserved(), 1, "it is a game by now");
        assert_eq!(slots.expire(now + 20 * SECOND), [id("more")]);
    }

    #[test]
    fn slots_can_be_kept_for_people() {
        let mut slots = Slots::new(3);
        assert!(slots.has_room_for_bot(2));
        slots.reserve(id("b1"), bot("b1"));
        assert!(slots.has_room() && !slots.has_room_for_bot(2), "two are kept");
        slots.reserve(id("h1"), human("h1"));
        assert!(!slots.has_room_for_bot(2), "one is kept");
        slots.start(&id("h1"), Holder::default());
        assert!(!slots.has_room_for_bot(2));
        slots.release(&id("b1"));
        assert!(slots.has_room_for_bot(2), "a person has one, one is kept, one is free");
        assert!(slots.has_room_for_bot(0) && !slots.has_room_for_bot(3));
    }

    #[test]
    fn games_with_an_account_are_counted() {
        let mut slots = Slots::new(4);
        slots.reserve(id("a"), human("x"));
        slots.reserve(id("b"), human("x"));
        slots.start(&id("a"), bot("ignored"));
        slots.start(&id("c"), bot("x"));
        slots.reserve(id("d"), Holder::default());
        assert_eq!((slots.count_of("x"), slots.count_of("ignored")), (3, 0));
    }

    #[test]
    fn a_reservation_lives_from_the_answer_on() {
        let (mut slots, now) = (Slots::new(2), Instant::now());
        slots.reserve(id("a"), human("a"));
        slots.reserve(id("b"), human("b"));
        assert_eq!(slots.expire(now + 60 * SECOND), [], "both are under way");
        slots.answer(&id("a"), now + 60 * SECOND);
        assert_eq!(slots.expire(now + 79 * SECOND), []);
        assert_eq!(slots.expire(now + 80 * SECOND), [id("a")]);
        assert!(slots.knows(&id("b")));
        slots.answer(&id("b"), now + 80 * SECOND);
        assert_eq!(slots.expire(now + 100 * SECOND), [id("b")]);
    }
}
