//! Whom we ask for a game on FICS: first those who have an adjourned game with us, then the last
//! opponent for a rematch, then names that are set, then anybody by a seek. Pure: what is known and the
//! time give the next step.
//!
//! There is never more than one invitation. It holds a slot from the moment when it is sent, since it
//! becomes a game without asking us again; a seek only until it stands, since who answers it is a
//! challenger like any other.

use std::{
    collections::{HashMap, HashSet},
    time::{Duration, Instant},
};

use crate::{
    daemon::keeper::make_room,
    game::GameId,
    platform::fics::{Invitation, Outcome},
    store::{Epoch, Invited, State},
};

/// An invitation that is not answered for so long is withdrawn.
const ANSWER_LIMIT: Duration = Duration::from_mins(1);
/// The pause between two offers to go on with the same game doubles with each, so often at most.
const MOST_DOUBLINGS: u32 = 5;
/// So long after a game, or less, the opponent reads what has come of it.
const REMATCH_PAUSE: Duration = Duration::from_secs(2);
/// The same name is asked again after so long.
const ASK_AGAIN: Duration = Duration::from_hours(1);
/// Of more names those are forgotten that were asked longest ago.
const MOST_NAMES: usize = 512;
/// A seek is posted at most so often.
const SEEK_PAUSE: Duration = Duration::from_mins(1);

/// Whom the bot asks for games on FICS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvitationOptions {
    /// How soon after the first offer to go on with an adjourned game the next follows.
    pub resume_pause: Duration,
    /// How many games in a row the same opponent is asked for beyond the first.
    pub rematches: u32,
    /// Who is asked for a game when none runs, in turn.
    pub names: Vec<String>,
    /// On which terms, such as `3 0 unrated`; nobody is asked if empty.
    pub terms: String,
    /// How long no game has run before that.
    pub pause: Duration,
    /// On which terms anybody is sought; nobody if empty.
    pub seek: String,
}

impl Default for InvitationOptions {
    fn default() -> Self {
        Self {
            resume_pause: Duration::from_secs(30),
            rematches: 0,
            names: Vec::new(),
            terms: "3 0 unrated".to_owned(),
            pause: Duration::from_mins(10),
            seek: String::new(),
        }
    }
}

/// What is known of invitations.
#[derive(Debug)]
pub(super) struct Invitations {
    options: InvitationOptions,
    /// Whoever is asked next first.
    adjourned: Vec<Adjourned>,
    /// Whom to ask for a rematch, and when.
    rematch: Option<(String, Instant)>,
    /// The last opponent, and how many games in a row we have asked for.
    in_a_row: (String, u32),
    /// Since when no game runs and nobody was asked by name.
    idle_since: Instant,
    /// When which of the names may be asked again.
    not_before: HashMap<String, Instant>,
    /// Who has declined: nobody is asked twice.
    declined: HashSet<String>,
    seek_at: Instant,
    is_sought: bool,
    open: Option<Open>,
    /// Which run of the program this is, so that no invitation has the name of another.
    run: u64,
    count: u64,
}

/// An adjourned game whose other player is online, or was when the connection was lost: how often was
/// asked outlives that.
#[derive(Debug)]
struct Adjourned {
    name: String,
    /// Whether the server has said so since the login.
    is_here: bool,
    ask_at: Instant,
    asked: u32,
}

#[derive(Debug)]
struct Open {
    id: GameId,
    invitation: Invitation,
    until: Instant,
}

impl Invitations {
    pub(super) fn new(options: InvitationOptions, (now, today): (Instant, Epoch)) -> Self {
        Self {
            options,
            adjourned: Vec::new(),
            rematch: None,
            in_a_row: (String::new(), 0),
            idle_since: now,
            not_before: HashMap::new(),
            declined: HashSet::new(),
            seek_at: now,
            is_sought: false,
            open: None,
            run: today.secs(),
            count: 0,
        }
    }

    /// Knows whom we asked before a restart.
    pub(super) fn recall(&mut self, state: &State, (now, today): (Instant, Epoch)) {
        for (name, invited) in &state.invited {
            let wait = ASK_AGAIN.saturating_sub(invited.at.age_at(today));
            self.not_before.insert(name.clone(), now + wait);
            if invited.is_declined {
                self.declined.insert(name.clone());
            }
        }
    }

    /// Remembers beyond a restart that somebody is asked by name, or has declined.
    pub(super) fn remember(state: &mut State, name: &str, is_declined: bool, today: Epoch) {
        let (invited, name) = (&mut state.invited, name.to_lowercase());
        make_room(invited, &name, MOST_NAMES, |invited| invited.at);
        let known = invited.entry(name).or_insert(Invited { at: today, is_declined });
        known.at = today;
        known.is_declined |= is_declined;
    }

    /// These have an adjourned game with us, and are online.
    pub(super) fn on_adjourned(&mut self, names: Vec<String>, now: Instant) {
        for name in names {
            match self.adjourned.iter_mut().find(|known| known.name.eq_ignore_ascii_case(&name)) {
                // We have just arrived: the pause goes on.
                Some(known) if !known.is_here => known.is_here = true,
                // They have.
                Some(known) => known.ask_at = now,
                None => {
                    self.adjourned.push(Adjourned { name, is_here: true, ask_at: now, asked: 0 });
                }
            }
        }
    }

    /// The connection is down: the next login tells everything anew, but for how often we have asked.
    pub(super) fn on_lost(&mut self) {
        self.adjourned.iter_mut().for_each(|adjourned| adjourned.is_here = false);
        (self.rematch, self.open, self.is_sought) = (None, None, false);
    }

    /// A game with this opponent begins, or goes on.
    pub(super) fn on_game(&mut self, opponent: &str) {
        self.forget(opponent);
        (self.rematch, self.open, self.is_sought) = (None, None, false);
        if !self.in_a_row.0.eq_ignore_ascii_case(opponent) {
            self.in_a_row = (opponent.to_owned(), 0);
        }
    }

    /// The game is over; `is_result` if it has one.
    pub(super) fn on_game_end(&mut self, is_result: bool, now: Instant) {
        self.idle_since = now;
        let (name, asked) = &self.in_a_row;
        if is_result && *asked < self.options.rematches {
            self.rematch = Some((name.clone(), now + REMATCH_PAUSE));
        }
    }

    /// Whom to ask now, in the order of preference.
    pub(super) fn next(&self, now: Instant) -> Option<Invitation> {
        if self.open.is_some() {
            return None;
        }
        let is_due = |adjourned: &&Adjourned| adjourned.is_here && adjourned.ask_at <= now;
        let resume = self.adjourned.iter().find(is_due);
        let resume = resume.map(|adjourned| Invitation::Resume(adjourned.name.clone()));
        let rematch = || {
            let (name, _) = self.rematch.as_ref().filter(|(_, at)| *at <= now)?;
            Some(Invitation::Rematch(name.clone()))
        };
        let seek = || {
            let is_due = !self.options.seek.is_empty() && !self.is_sought && self.seek_at <= now;
            is_due.then(|| Invitation::Seek(self.options.seek.clone()))
        };
        resume.or_else(rematch).or_else(|| self.next_match(now)).or_else(seek)
    }

    fn next_match(&self, now: Instant) -> Option<Invitation> {
        let is_idle = now.saturating_duration_since(self.idle_since) >= self.options.pause;
        if !is_idle || self.options.terms.is_empty() {
            return None;
        }
        let may_be_asked = |name: &&String| {
            let key = name.to_lowercase();
            !self.declined.contains(&key)
                && self.not_before.get(&key).is_none_or(|&at| at <= now)
                && !self.adjourned.iter().any(|known| known.name.eq_ignore_ascii_case(name))
        };
        let name = self.options.names.iter().find(may_be_asked)?;
        Some(Invitation::Match { name: name.clone(), terms: self.options.terms.clone() })
    }

    /// An invitation is not possible now, for a reason that will last.
    pub(super) fn skip(&mut self, invitation: &Invitation, now: Instant) {
        self.settle(invitation, Outcome::Refused, now);
    }

    /// The invitation is sent. Returns its name.
    pub(super) fn send(&mut self, invitation: Invitation, now: Instant) -> GameId {
        self.count += 1;
        let id: GameId =
            format!("fics-{:x}-i{}", self.run, self.count).parse().expect("plain and short");
        match &invitation {
            Invitation::Rematch(_) => self.in_a_row.1 += 1,
            Invitation::Match { name, .. } => {
                self.not_before.insert(name.to_lowercase(), now + ASK_AGAIN);
            }
            Invitation::Resume(_) | Invitation::Seek(_) => {}
        }
        self.open = Some(Open { id: id.clone(), invitation, until: now + ANSWER_LIMIT });
        id
    }

    /// It is over without a game. Returns what it was.
    pub(super) fn on_over(
        &mut self,
        id: &GameId,
        outcome: Outcome,
        now: Instant,
    ) -> Option<Invitation> {
        let open = self.open.take_if(|open| open.id == *id)?;
        self.settle(&open.invitation, outcome, now);
        Some(open.invitation)
    }

    /// What is to be withdrawn since nobody has answered.
    pub(super) fn expire(&mut self, now: Instant) -> Option<GameId> {
        let open = self.open.take_if(|open| open.until <= now)?;
        self.settle(&open.invitation, Outcome::Refused, now);
        Some(open.id)
    }

    /// What is to be withdrawn for the sake of somebody who challenges us: anything but an adjourned
    /// game, unless that is wanted as well.
    pub(super) fn give_way(&mut self, with_resume: bool, now: Instant) -> Option<GameId> {
        let may_go =
            |open: &mut Open| with_resume || !matches!(open.invitation, Invitation::Resume(_));
        let open = self.open.take_if(may_go)?;
        self.settle(&open.invitation, Outcome::Refused, now);
        Some(open.id)
    }

    /// Whether the seek that stands is to be taken back, since no slot is free any more.
    pub(super) fn take_seek_back(&mut self, has_room: bool, now: Instant) -> bool {
        let is_idle = self.is_sought && !has_room;
        if is_idle {
            (self.is_sought, self.seek_at) = (false, now + SEEK_PAUSE);
        }
        is_idle
    }

    fn settle(&mut self, invitation: &Invitation, outcome: Outcome, now: Instant) {
        match invitation {
            Invitation::Resume(name) => {
                let known = |adjourned: &Adjourned| adjourned.name.eq_ignore_ascii_case(name);
                let Some(index) = self.adjourned.iter().position(known) else { return };
                let mut adjourned = self.adjourned.remove(index);
                if matches!(outcome, Outcome::Absent | Outcome::NotAdjourned) {
                    return;
                }
                let pause =
                    self.options.resume_pause * 2_u32.pow(adjourned.asked.min(MOST_DOUBLINGS));
                adjourned.asked += 1;
                adjourned.ask_at = now + pause;
                // Behind the others.
                self.adjourned.push(adjourned);
            }
            Invitation::Rematch(_) => {
                self.rematch = None;
                self.in_a_row.1 = u32::MAX;
            }
            Invitation::Match { name, .. } => {
                self.idle_since = now;
                if outcome == Outcome::Declined {
                    self.declined.insert(name.to_lowercase());
                }
                self.not_before.insert(name.to_lowercase(), now + ASK_AGAIN);
            }
            Invitation::Seek(_) => {
                self.is_sought = outcome == Outcome::Posted;
                self.seek_at = now + SEEK_PAUSE;
            }
        }
    }

    fn forget(&mut self, name: &str) {
        self.adjourned.retain(|known| !known.name.eq_ignore_ascii_case(name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const NOON: Epoch = Epoch::from_secs(1_800_000_000);

    fn resume(name: &str) -> Invitation {
        Invitation::Resume(name.to_owned())
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    /// Sends what is next, and lets it end.
    fn ask(invitations: &mut Invitations, outcome: Outcome, now: Instant) -> Option<Invitation> {
        let next = invitations.next(now)?;
        let id = invitations.send(next.clone(), now);
        assert_eq!(invitations.next(now), None, "one at a time");
        invitations.on_over(&id, outcome, now);
        Some(next)
    }

    /// 2026-11-30: each was asked once, so that an offer that got lost left the game for ever.
    #[test]
    fn all_adjourned_opponents_are_asked_in_turn_and_again() {
        let now = Instant::now();
        let mut invitations = Invitations::new(InvitationOptions::default(), (now, NOON));
        invitations.on_adjourned(names(&["Alice", "Bob", "ALICE"]), now);
        assert_eq!(ask(&mut invitations, Outcome::Declined, now), Some(resume("Alice")));
        assert_eq!(ask(&mut invitations, Outcome::Refused, now), Some(resume("Bob")));
        assert_eq!(invitations.next(now + 29 * SECOND), None);
        let later = now + 30 * SECOND;
        assert_eq!(ask(&mut invitations, Outcome::Declined, later), Some(resume("Alice")));
        assert_eq!(ask(&mut invitations, Outcome::Absent, later), Some(resume("Bob")));
        assert_eq!(invitations.next(later + 59 * SECOND), None, "less and less often");
        assert_eq!(invitations.next(later + 60 * SECOND), Some(resume("Alice")));
        // Who comes back is asked at once.
        invitations.on_adjourned(names(&["Bob"]), later);
        assert_eq!(ask(&mut invitations, Outcome::NotAdjourned, later), Some(resume("Bob")));
        invitations.on_game("alice");
        assert_eq!(invitations.next(later + 3600 * SECOND), None);
    }

    #[test]
    fn an_offer_without_an_answer_is_withdrawn_and_made_again() {
        let now = Instant::now();
        let mut invitations = Invitations::new(InvitationOptions::default(), (now, NOON));
        invitations.on_adjourned(names(&["Alice"]), now);
        let next = invitations.next(now).unwrap();
        let id = invitations.send(next, now);
        assert_eq!(invitations.expire(now + 59 * SECOND), None);
        assert_eq!(invitations.give_way(false, now), None, "it goes before new games");
        assert_eq!(invitations.expire(now + 60 * SECOND), Some(id));
        assert_eq!(invitations.next(now + 90 * SECOND), Some(resume("Alice")));
        invitations.on_lost();
        assert_eq!(invitations.next(now + 90 * SECOND), None, "the next login tells");
    }

    /// 2026-12-01: with each link that was lost all were asked at once, again and again.
    #[test]
    fn the_pauses_between_offers_grow_over_a_lost_link() {
        let now = Instant::now();
        let mut invitations = Invitations::new(InvitationOptions::default(), (now, NOON));
        invitations.on_adjourned(names(&["Alice"]), now);
        assert_eq!(ask(&mut invitations, Outcome::Declined, now), Some(resume("Alice")));
        invitations.on_lost();
        invitations.on_adjourned(names(&["Alice", "Bob"]), now);
        assert_eq!(ask(&mut invitations, Outcome::Declined, now), Some(resume("Bob")));
        assert_eq!(invitations.next(now + 29 * SECOND), None);
        let later = now + 30 * SECOND;
        assert_eq!(ask(&mut invitations, Outcome::Declined, later), Some(resume("Alice")));
        invitations.on_lost();
        assert_eq!(invitations.next(later + 60 * SECOND), None, "we are not there");
        invitations.on_adjourned(names(&["Alice"]), later);
        assert_eq!(invitations.next(later + 59 * SECOND), None, "twice as long");
        assert_eq!(invitations.next(later + 60 * SECOND), Some(resume("Alice")));
    }

    #[test]
    fn who_was_asked_before_a_restart_is_not_asked_again_soon_nor_after_a_decline() {
        let (now, mut state) = (Instant::now(), State::default());
        for (name, is_declined) in [("Alice", true), ("Alice", false), ("Bob", false)] {
            Invitations::remember(&mut state, name, is_declined, NOON);
        }
        let options =
            InvitationOptions { names: names(&["Alice", "Bob"]), ..InvitationOptions::default() };
        let today = NOON.after(ASK_AGAIN / 2);
        let mut invitations = Invitations::new(options, (now, today));
        invitations.recall(&state, (now, today));
        assert_eq!(invitations.next(now + 29 * 60 * SECOND), None);
        let next = invitations.next(now + 30 * 60 * SECOND);
        assert_eq!(next.as_ref().and_then(Invitation::name), Some("Bob"));
        for number in 0..MOST_NAMES {
            let later = today.after(SECOND);
            Invitations::remember(&mut state, &format!("n{number}"), false, later);
        }
        assert_eq!(state.invited.len(), MOST_NAMES);
        assert!(!state.invited.contains_key("alice"), "the oldest are forgotten");
    }

    #[test]
    fn a_rematch_is_asked_for_as_often_as_is_set() {
        let now = Instant::now();
        let options = InvitationOptions { rematches: 1, ..InvitationOptions::default() };
        let mut invitations = Invitations::new(options, (now, NOON));
        let rematch = Some(Invitation::Rematch("Alice".to_owned()));
        invitations.on_game("Alice");
        invitations.on_game_end(false, now);
        assert_eq!(invitations.next(now + 2 * SECOND), None, "it had no result");
        invitations.on_game("Alice");
        invitations.on_game_end(true, now);
        assert_eq!(invitations.next(now), None);
        assert_eq!(invitations.next(now + 2 * SECOND), rematch);
        invitations.send(rematch.clone().unwrap(), now);
        invitations.on_game("Alice");
        invitations.on_game_end(true, now);
        assert_eq!(invitations.next(now + 2 * SECOND), None, "that was the one");
        invitations.on_game("Bob");
        invitations.on_game("Alice");
        invitations.on_game_end(true, now);
        assert_eq!(ask(&mut invitations, Outcome::Declined, now + 2 * SECOND), rematch);
        invitations.on_game("Alice");
        invitations.on_game_end(true, now);
        assert_eq!(invitations.next(now + 2 * SECOND), None, "not after a decline");
    }

    #[test]
    fn names_are_asked_rarely_and_never_after_a_decline() {
        let now = Instant::now();
        let options =
            InvitationOptions { names: names(&["Alice", "Bob"]), ..InvitationOptions::default() };
        let mut invitations = Invitations::new(options, (now, NOON));
        let ask_for = |name: &str| {
            Some(Invitation::Match { name: name.to_owned(), terms: "3 0 unrated".to_owned() })
        };
        let minutes = |count: u32| now + count * 60 * SECOND;
        assert_eq!(invitations.next(minutes(9)), None);
        assert_eq!(ask(&mut invitations, Outcome::Declined, minutes(10)), ask_for("Alice"));
        assert_eq!(invitations.next(minutes(19)), None, "a pause between both");
        assert_eq!(ask(&mut invitations, Outcome::Absent, minutes(20)), ask_for("Bob"));
        assert_eq!(invitations.next(minutes(79)), None);
        assert_eq!(ask(&mut invitations, Outcome::Declined, minutes(80)), ask_for("Bob"));
        assert_eq!(invitations.next(minutes(10_000)), None);
    }

    /// 2026-11-30: a name that had accepted was asked again after each pause.
    #[test]
    fn who_has_played_is_asked_again_after_an_hour_only() {
        let now = Instant::now();
        let options =
            InvitationOptions { names: names(&["Alice"]), ..InvitationOptions::default() };
        let mut invitations = Invitations::new(options, (now, NOON));
        let minutes = |count: u32| now + count * 60 * SECOND;
        let next = invitations.next(minutes(10)).unwrap();
        invitations.send(next.clone(), minutes(10));
        invitations.on_game("Alice");
        invitations.on_game_end(true, minutes(15));
        assert_eq!(invitations.next(minutes(69)), None);
        assert_eq!(invitations.next(minutes(70)), Some(next));
    }

    #[test]
    fn a_seek_stands_until_a_game_begins_or_the_slot_is_gone() {
        let now = Instant::now();
        let options = InvitationOptions { seek: "3 0".to_owned(), ..InvitationOptions::default() };
        let mut invitations = Invitations::new(options, (now, NOON));
        let seek = Some(Invitation::Seek("3 0".to_owned()));
        assert_eq!(ask(&mut invitations, Outcome::Posted, now), seek);
        assert_eq!(invitations.next(now + 3600 * SECOND), None, "it stands");
        assert!(!invitations.take_seek_back(true, now));
        assert!(invitations.take_seek_back(false, now) && !invitations.take_seek_back(false, now));
        assert_eq!(invitations.next(now + 59 * SECOND), None);
        let id = invitations.send(seek.clone().unwrap(), now + 60 * SECOND);
        assert_eq!(invitations.give_way(false, now + 60 * SECOND), Some(id));
        assert_eq!(ask(&mut invitations, Outcome::Posted, now + 120 * SECOND), seek);
        invitations.on_game("Alice");
        invitations.on_game_end(true, now + 130 * SECOND);
        assert_eq!(invitations.next(now + 180 * SECOND), seek, "a game takes it away");
    }
}
