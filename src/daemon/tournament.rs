//! When to join a tournament, to ask for a game in it, and to leave it. Pure.
//!
//! Whoever has asked is paired within the next minute, and the game begins without asking again: for
//! so long a slot is held. Only one tournament is played at a time, since the server pairs nobody in
//! two.

use std::{
    collections::{BTreeMap, HashMap},
    time::{Duration, Instant},
};

use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

use crate::{
    daemon::policy::{PolicyOptions, VARIANT},
    game::GameId,
    platform::{GameStart, Tournament, TournamentId, TournamentStage, backoff::Throttle},
};

/// Whoever has asked for a game is paired for so long (section 14 of the protocol notes).
const READY_FOR: Duration = Duration::from_mins(1);
/// We ask again after so long, ten seconds before that time is over.
const ASK_AGAIN: Duration = Duration::from_secs(50);
/// A pairing of the last moment may reach us so much later.
const PAIRING_DELAY: Duration = Duration::from_secs(5);
/// So long before a tournament begins we ask.
const AHEAD: Duration = Duration::from_secs(10);
/// After a failure the next try waits so long, and twice as long after each more, up to a limit.
const RETRY_WAIT: Duration = Duration::from_secs(5);
const LONGEST_RETRY_WAIT: Duration = Duration::from_mins(1);
/// A refusal may be for a while only: after leaving, a player has to pause for ten seconds to two
/// minutes, and who missed games is kept out for longer. So long it waits, and twice as long after each
/// more.
const REFUSED_WAIT: Duration = Duration::from_secs(15);
/// The same where the token or the account may not join at all.
const FORBIDDEN_WAIT: Duration = Duration::from_mins(15);
/// The longest wait that is believed.
const LONGEST_WAIT: Duration = Duration::from_hours(1);
/// After so many refusals in a row it is given up.
const MOST_REFUSALS_TO_JOIN: u32 = 7;
/// After a failure a question waits at least so long: no pairing depends on its answer.
const LOOK_WAIT: Duration = Duration::from_secs(30);
/// A tournament that we have given up, and of which nobody told how long it takes, is forgotten so long
/// after its beginning.
const LONGEST_TOURNAMENT: Duration = Duration::from_hours(24);
/// The server lets us ask for a game 30 times in 10 minutes (section 13.3 of the protocol notes).
const MOST_JOINS: usize = 28;
const JOINS_WINDOW: Duration = Duration::from_mins(10);
/// After so many refusals to berserk in a row it is not tried again.
const MOST_REFUSALS: u32 = 3;

/// Which tournaments the bot plays in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TournamentOptions {
    /// These, as far as they admit bots and are played as [`PolicyOptions`] wants games.
    pub ids: Vec<TournamentId>,
    /// Those of these teams, by the teams' ids, in the same way.
    pub teams: Vec<String>,
    /// What is said to those that need a password.
    pub password: Option<Password>,
    /// When half of the time is given for a point more.
    pub berserk: Berserk,
    /// How many points weaker the opponent must be for [`Berserk::Weaker`].
    pub berserk_lead: u32,
    /// How often the tournaments of the teams are listed, and one that is near is looked at.
    pub look_interval: Duration,
}

impl Default for TournamentOptions {
    fn default() -> Self {
        Self {
            ids: Vec::new(),
            teams: Vec::new(),
            password: None,
            berserk: Berserk::Never,
            berserk_lead: 200,
            look_interval: Duration::from_mins(5),
        }
    }
}

/// A password, which is not shown.
#[derive(Clone, Debug)]
pub struct Password(pub SecretString);

impl PartialEq for Password {
    fn eq(&self, other: &Self) -> bool {
        self.0.expose_secret() == other.0.expose_secret()
    }
}

impl Eq for Password {}

/// When half of the time is given for a point more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Berserk {
    /// In no game.
    #[default]
    Never,
    /// Against opponents who are so much weaker.
    Weaker,
    /// In each game.
    Always,
}

/// What the next step rests on, besides what was done so far.
#[derive(Clone, Copy)]
pub(super) struct Situation<'a> {
    /// Whether a slot is free.
    pub(super) has_room: bool,
    /// Whether the bot is shutting down.
    pub(super) is_closing: bool,
    /// Which tournaments, and which games are welcome.
    pub(super) policy: &'a PolicyOptions,
    /// This moment.
    pub(super) now: Instant,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Ask for the tournaments of a team.
    List(String),
    /// Ask about a tournament.
    Look(TournamentId),
    /// Join it, for this team if it matters, and be paired.
    Join(TournamentId, Option<String>),
    /// Leave it. A running game goes on.
    Withdraw(TournamentId),
}

/// What came of asking for a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joined {
    /// We are paired within a minute.
    Yes,
    /// Perhaps so: the answer was lost.
    Perhaps,
    /// Not yet: it can be tried again after so long.
    Later(Duration),
    /// The server does not want us there.
    Refused,
    /// The token does not allow it.
    Forbidden,
}

/// The tournaments that we know of.
#[derive(Debug)]
pub(super) struct Tournaments {
    entries: BTreeMap<TournamentId, Entry>,
    /// When the tournaments of a team are listed next.
    listed_next: HashMap<String, Instant>,
    /// The running games of tournaments, of others than ours as well.
    games: HashMap<GameId, TournamentId>,
    joins: Throttle,
    /// Whether the token does not allow to join.
    is_forbidden: bool,
    /// Whether a slot is needed, and none was free.
    lacks_slot: bool,
    /// How often the server has refused to berserk, in a row.
    berserk_refusals: u32,
}

/// A tournament.
#[derive(Debug)]
struct Entry {
    /// The team that has it, if we know it by that.
    team: Option<String>,
    known: Option<Known>,
    /// When to ask about it; `None` while we do, and if we have given it up.
    look_at: Option<Instant>,
    /// When to ask for a game in it; `None` while we do, and if we have given it up.
    join_at: Option<Instant>,
    /// Whether we are asking for a game.
    is_joining: bool,
    /// Until when we may be paired.
    paired_until: Option<Instant>,
    /// Whether we have joined, and not left.
    is_in: bool,
    /// Refusals since the server let us in.
    refusals: u32,
    /// Failures since the server last answered.
    failures: u32,
}

/// What the server has told of a tournament.
#[derive(Debug)]
struct Known {
    tournament: Tournament,
    starts_at: Instant,
    /// `None` if that is not known before it starts.
    ends_at: Option<Instant>,
}

impl Entry {
    fn new(team: Option<String>, now: Instant) -> Self {
        Self {
            team,
            known: None,
            look_at: Some(now),
            join_at: Some(now),
            is_joining: false,
            paired_until: None,
            is_in: false,
            refusals: 0,
            failures: 0,
        }
    }

    /// How long to wait after one more failure.
    fn next_wait(&mut self) -> Duration {
        let wait = RETRY_WAIT.saturating_mul(2_u32.saturating_pow(self.failures));
        self.failures += 1;
        wait.min(LONGEST_RETRY_WAIT)
    }

    /// Whether it was given up, and is over by now.
    fn is_past(&self, now: Instant) -> bool {
        let is_given_up = self.look_at.is_none() && self.join_at.is_none() && !self.is_joining;
        let end = self
            .known
            .as_ref()
            .map(|known| known.ends_at.unwrap_or_else(|| known.starts_at + LONGEST_TOURNAMENT));
        is_given_up && end.is_some_and(|end| end <= now)
    }

    /// The team that we join for, if it matters: the one that told us of it, or one of the battle.
    fn team(&self, options: &TournamentOptions) -> Option<String> {
        let battle = self.known.as_ref().map(|known| &known.tournament.teams);
        let fights = |team: &&String| battle.is_some_and(|teams| teams.contains(team));
        self.team.clone().or_else(|| options.teams.iter().find(fights).cloned())
    }

    /// Nothing more is to be done about it.
    fn give_up(&mut self) {
        (self.look_at, self.join_at) = (None, None);
        (self.is_joining, self.paired_until, self.is_in) = (false, None, false);
    }

    /// Whether a game may begin at any moment.
    fn awaits_pairing(&self, now: Instant) -> bool {
        self.is_joining || self.paired_until.is_some_and(|until| until > now)
    }

    /// Whether players are paired now or very soon.
    fn is_open(&self, now: Instant) -> bool {
        let Some(known) = &self.known else { return false };
        known.starts_at <= now + AHEAD && known.ends_at.is_none_or(|end| end > now)
    }
}

impl Tournaments {
    pub(super) fn new() -> Self {
        Self {
            entries: BTreeMap::new(),
            listed_next: HashMap::new(),
            games: HashMap::new(),
            joins: Throttle::new(MOST_JOINS, JOINS_WINDOW),
            is_forbidden: false,
            lacks_slot: false,
            berserk_refusals: 0,
        }
    }

    /// Whether a slot is held, because a game may begin at any moment.
    pub(super) fn holds_slot(&self, now: Instant) -> bool {
        self.entries.iter().any(|(id, entry)| entry.awaits_pairing(now) && !self.is_playing_in(id))
    }

    /// Whether a game could be asked for if a slot were free.
    pub(super) fn lacks_slot(&self) -> bool {
        self.lacks_slot
    }

    /// The next step, which is taken to be done: the caller reports what comes of it. To be asked
    /// until there is none.
    pub(super) fn step(&mut self, situation: &Situation<'_>) -> Option<Step> {
        let Situation { policy, now, is_closing, .. } = *situation;
        let options = &policy.tournament;
        self.lacks_slot = false;
        let is_wanted = |id: &TournamentId, entry: &Entry| {
            options.ids.contains(id)
                || entry.team.as_ref().is_some_and(|team| options.teams.contains(team))
        };
        for (id, entry) in &mut self.entries {
            // While we are joining it is not known yet whether there is something to leave.
            if entry.is_in && !entry.is_joining && (is_closing || !is_wanted(id, entry)) {
                (entry.is_in, entry.paired_until) = (false, None);
                return Some(Step::Withdraw(id.clone()));
            }
        }
        if is_closing || self.is_forbidden {
            return None;
        }
        self.entries.retain(|id, entry| {
            let is_of_use = is_wanted(id, entry) || entry.is_in || entry.is_joining;
            // One that is named by itself is kept, so that it is not asked about again.
            is_of_use && (options.ids.contains(id) || !entry.is_past(now))
        });
        for id in &options.ids {
            self.entries.entry(id.clone()).or_insert_with(|| Entry::new(None, now));
        }
        for team in &options.teams {
            let next = self.listed_next.entry(team.clone()).or_insert(now);
            if *next <= now {
                *next = now + options.look_interval;
                return Some(Step::List(team.clone()));
            }
        }
        for (id, entry) in &mut self.entries {
            if entry.look_at.is_some_and(|at| at <= now) {
                entry.look_at = None;
                return Some(Step::Look(id.clone()));
            }
        }
        self.join(situation)
    }

    /// Asks for a game, in the tournament that we are in, or else in the one that began first.
    fn join(&mut self, situation: &Situation<'_>) -> Option<Step> {
        let Situation { policy, now, .. } = *situation;
        let holds_slot = self.holds_slot(now);
        let current = self.entries.iter().filter(|(id, entry)| {
            let is_good = |known: &Known| objection(policy, &known.tournament).is_none();
            let is_left = entry.join_at.is_none() && !entry.is_joining;
            self.is_playing_in(id)
                || (entry.is_open(now) && !is_left && entry.known.as_ref().is_some_and(is_good))
        });
        let first = current.min_by_key(|(id, entry)| {
            let has_begun = self.is_playing_in(id) || entry.awaits_pairing(now);
            (!has_begun, entry.known.as_ref().map(|known| known.starts_at))
        });
        let id = first.map(|(id, _)| id.clone())?;
        let is_due = |entry: &&mut Entry| entry.join_at.is_some_and(|at| at <= now);
        let is_playing = self.is_playing_in(&id);
        let entry = self.entries.get_mut(&id).filter(is_due).filter(|_| !is_playing)?;
        if !self.joins.wait(now).is_zero() || !entry.is_open(now) {
            return None;
        }
        if !situation.has_room && !holds_slot {
            self.lacks_slot = true;
            return None;
        }
        self.joins.count(now);
        (entry.is_joining, entry.join_at) = (true, None);
        let team = entry.team(&policy.tournament);
        Some(Step::Join(id, team))
    }

    /// Whether a game of this tournament runs.
    fn is_playing_in(&self, id: &TournamentId) -> bool {
        self.games.values().any(|of| of == id)
    }

    /// The tournaments of a team.
    pub(super) fn on_list(&mut self, team: &str, ids: Vec<TournamentId>, now: Instant) {
        for id in ids {
            let entry = self.entries.entry(id).or_insert_with(|| Entry::new(None, now));
            // Of one that was named by itself it is not known before.
            entry.team.get_or_insert_with(|| team.to_owned());
        }
    }

    /// The server does not tell, and wants to be left alone for so long at least.
    pub(super) fn on_no_list(&mut self, team: &str, wait: Duration, now: Instant) {
        if let Some(next) = self.listed_next.get_mut(team) {
            *next = (*next).max(now + wait.min(LONGEST_WAIT));
        }
    }

    /// What the server tells of a tournament. Gives the sentence for the operator if it is over, or
    /// if we learn that we will not play there.
    pub(super) fn on_look(
        &mut self,
        tournament: Tournament,
        policy: &PolicyOptions,
        now: Instant,
    ) -> Option<&'static str> {
        let entry = self.entries.get_mut(&tournament.id)?;
        let is_new = entry.known.is_none();
        // What is far away is looked at seldom, and more often as it comes near.
        let next = |wait: Duration| policy.tournament.look_interval.max(wait / 2).min(wait);
        let (starts_at, ends_at, wait) = match tournament.stage {
            TournamentStage::Announced(wait) => (now + wait, None, next(wait)),
            TournamentStage::Running(left) => {
                (now, Some(now + left), next(left + Duration::from_secs(1)))
            }
            TournamentStage::Over => {
                entry.give_up();
                entry.known = Some(Known { tournament, starts_at: now, ends_at: Some(now) });
                return Some("it is over");
            }
        };
        let objection = objection(policy, &tournament).filter(|_| is_new);
        entry.look_at = Some(now + wait.max(Duration::from_secs(1)));
        entry.known = Some(Known { tournament, starts_at, ends_at });
        objection
    }

    /// The server does not tell about a tournament: it can be asked again after so long, or there is
    /// none.
    pub(super) fn on_no_look(
        &mut self,
        id: &TournamentId,
        again_after: Option<Duration>,
        now: Instant,
    ) {
        if let Some(entry) = self.entries.get_mut(id) {
            match again_after {
                Some(wait) => entry.look_at = Some(now + wait.clamp(LOOK_WAIT, LONGEST_WAIT)),
                None => entry.give_up(),
            }
        }
    }

    /// The last try to join did not reach whoever counts them.
    pub(super) fn on_join_unserved(&mut self) {
        self.joins.uncount();
    }

    /// What came of asking for a game.
    pub(super) fn on_joined(&mut self, id: &TournamentId, joined: Joined, now: Instant) {
        let Some(entry) = self.entries.get_mut(id) else { return };
        entry.is_joining = false;
        let paired_until = Some(now + READY_FOR + PAIRING_DELAY);
        match joined {
            Joined::Yes => {
                (entry.refusals, entry.failures) = (0, 0);
                (entry.is_in, entry.paired_until) = (true, paired_until);
                entry.join_at = Some(now + ASK_AGAIN);
            }
            Joined::Perhaps => {
                (entry.is_in, entry.paired_until) = (true, paired_until);
                entry.join_at = Some(now + entry.next_wait());
            }
            Joined::Later(wait) => {
                entry.join_at = Some(now + entry.next_wait().max(wait.min(LONGEST_WAIT)));
            }
            Joined::Refused | Joined::Forbidden => {
                let wait = if joined == Joined::Refused {
                    REFUSED_WAIT * 2_u32.pow(entry.refusals.min(MOST_REFUSALS_TO_JOIN))
                } else {
                    FORBIDDEN_WAIT
                };
                (entry.refusals, entry.failures) = (entry.refusals + 1, 0);
                if entry.refusals < MOST_REFUSALS_TO_JOIN {
                    entry.join_at = Some(now + wait);
                } else {
                    self.is_forbidden |= joined == Joined::Forbidden;
                    entry.give_up();
                }
            }
        }
    }

    /// A game begins, or is found. Whether it is one of a tournament of ours to berserk in.
    pub(super) fn on_game_start(
        &mut self,
        start: &GameStart,
        options: &TournamentOptions,
        our_rating: Option<u32>,
    ) -> bool {
        let Some(id) = &start.tournament else { return false };
        self.games.insert(start.id.clone(), id.clone());
        let Some(entry) = self.entries.get(id) else { return false };
        let is_weaker = || {
            let ratings = our_rating.zip(start.opponent_rating);
            ratings
                .is_some_and(|(ours, theirs)| ours >= theirs.saturating_add(options.berserk_lead))
        };
        let is_wanted = match options.berserk {
            Berserk::Never => false,
            Berserk::Weaker => is_weaker(),
            Berserk::Always => true,
        };
        is_wanted
            && start.has_moved != Some(true)
            && entry.known.as_ref().is_some_and(|known| known.tournament.berserkable)
            && self.berserk_refusals < MOST_REFUSALS
    }

    /// The server has let us berserk, or not; not at all if the token does not allow it.
    pub(super) fn on_berserk(&mut self, is_done: bool, is_forbidden: bool) {
        self.berserk_refusals = match (is_done, is_forbidden) {
            (true, _) => 0,
            (false, true) => MOST_REFUSALS,
            (false, false) => self.berserk_refusals + 1,
        };
    }

    /// A game ended: the next one can be asked for.
    pub(super) fn on_game_end(&mut self, id: &GameId, now: Instant) {
        let Some(id) = self.games.remove(id) else { return };
        if let Some(entry) = self.entries.get_mut(&id)
            && entry.join_at.is_some()
        {
            entry.join_at = Some(now);
        }
    }
}

/// Why we do not play in a tournament, as a sentence for the operator.
fn objection(policy: &PolicyOptions, tournament: &Tournament) -> Option<&'static str> {
    let Tournament { clock, rated, .. } = *tournament;
    if tournament.variant != VARIANT {
        Some("it is not atomic")
    } else if !tournament.admits_bots {
        Some("it does not admit bots")
    } else if ![&policy.humans, &policy.bots].iter().any(|kind| kind.accepts(clock, rated)) {
        Some("its games are not what [challenge] accepts")
    } else if !tournament.teams.is_empty()
        && !tournament.teams.iter().any(|team| policy.tournament.teams.contains(team))
    {
        Some("it is a battle of teams, and tournament.teams names none of them")
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
