//! Which games we play, and above all which challenges we accept. Pure: a challenge and the
//! situation give a verdict.
//!
//! [`Criteria`] are what can be asked of a challenge, for people and for bots apart. Which of the
//! welcome ones comes first is the business of the queue.

mod criteria;
mod names;

use std::time::Duration;

use crate::{
    daemon::{
        budget::BudgetOptions, lists::ListOptions, matchmaking::MatchmakingOptions,
        queue::QueueOptions, tournament::TournamentOptions,
    },
    platform::{AccountFacts, Challenge, DeclineReason, Speed, User},
};

pub use criteria::{Criteria, Criterion};
pub use names::{Names, ParseNamesError};

/// The one variant that we play.
pub(super) const VARIANT: &str = "atomic";

/// Which games are played: which challenges are welcome, in which order they are taken, and which
/// games we seek ourselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyOptions {
    /// What is asked of people, and of anonymous visitors.
    pub humans: Criteria,
    /// What is asked of bots.
    pub bots: Criteria,
    /// Whoever is on this list alone may challenge; anybody if it is empty.
    pub only: Names,
    /// Of those on this list nothing is asked.
    pub always: Names,
    /// Those on this list are declined in any case.
    pub block: Names,
    /// Where more names for these three are.
    pub lists: ListOptions,
    /// Which games count for [`Criteria::max_recent_per_user`].
    pub recent_window: Duration,
    /// Who comes first.
    pub queue: QueueOptions,
    /// How many games with bots there are.
    pub budget: BudgetOptions,
    /// Whom the bot challenges by itself.
    pub matchmaking: MatchmakingOptions,
    /// Which tournaments it plays in.
    pub tournament: TournamentOptions,
}

impl Default for PolicyOptions {
    fn default() -> Self {
        Self {
            humans: Criteria::default(),
            bots: Criteria::default(),
            only: Names::default(),
            always: Names::default(),
            block: Names::default(),
            lists: ListOptions::default(),
            recent_window: Duration::from_hours(24),
            queue: QueueOptions::default(),
            budget: BudgetOptions::default(),
            matchmaking: MatchmakingOptions::default(),
            tournament: TournamentOptions::default(),
        }
    }
}

impl PolicyOptions {
    /// What these options want and rule out, as a sentence for the operator.
    pub fn contradiction(&self, concurrency: usize) -> Option<&'static str> {
        let Self { bots, matchmaking, tournament, queue, .. } = self;
        let is_wanted = bots.accepted
            || matchmaking.enabled
            || !tournament.ids.is_empty()
            || !tournament.teams.is_empty();
        (is_wanted && queue.reserved_for_humans >= concurrency).then_some(
            "challenge.reserved_for_humans leaves bots no slot of challenge.concurrency: none is \
             accepted, none is challenged, and no tournament is joined",
        )
    }

    /// What is asked of this kind of opponent.
    pub fn criteria(&self, is_bot: bool) -> &Criteria {
        if is_bot { &self.bots } else { &self.humans }
    }
}

/// What to do about a challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Take it now.
    Accept,
    /// Take it when a slot gets free, if that is soon enough.
    Wait,
    /// Look up the account first.
    LookUp,
    /// Decline it, with this reason for the challenger and this one for the operator.
    Decline(DeclineReason, Criterion),
}

/// Why a challenge is declined: what the challenger and what the operator is told.
type Objection = (DeclineReason, Criterion);

/// What a verdict rests on besides the challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation<'a> {
    /// Whether a slot is free for this kind of opponent.
    pub has_room: bool,
    /// Whether the bot is shutting down.
    pub is_closing: bool,
    /// Whether games with bots are used up, by our own count or by the server's word, for us or for
    /// this opponent.
    pub is_quota_used: bool,
    /// Our rating.
    pub our_rating: Option<u32>,
    /// How many games with this opponent run or are about to.
    pub running_with: u32,
    /// How many games with this opponent began of late.
    pub recent_with: u32,
    /// What is known about the opponent's account.
    pub facts: Facts<'a>,
}

/// What is known about an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Facts<'a> {
    /// Nobody has asked yet, or the answer has not come.
    NotAsked,
    /// This.
    Known(&'a AccountFacts),
    /// Nothing: the server did not tell in time.
    Unavailable,
}

/// Judges a challenge of somebody else's. What can never be played comes first, then what is not
/// wanted, then what is not possible now.
pub fn judge(options: &PolicyOptions, challenge: &Challenge, situation: &Situation<'_>) -> Verdict {
    let user = challenge.challenger.as_ref();
    let is_bot = user.is_some_and(|user| user.is_bot);
    let criteria = options.criteria(is_bot);
    let is_favored = user.is_some_and(|user| options.always.contains(&user.id));
    let asks = |objection: Option<Objection>| objection.filter(|_| !is_favored);
    let objection = cannot_play(challenge)
        .or_else(|| not_on_the_right_list(options, user))
        .or_else(|| asks(criteria.object(challenge, situation)))
        .or_else(|| not_now(is_bot, situation));
    if let Some((reason, criterion)) = objection {
        return Verdict::Decline(reason, criterion);
    }
    if criteria.needs_facts() && !is_favored {
        let objection = match (user, situation.facts) {
            // Nobody knows anything about an anonymous visitor.
            (None, _) => Some((DeclineReason::Generic, Criterion::AccountUnknown)),
            (Some(_), Facts::Unavailable) => {
                Some((DeclineReason::Later, Criterion::AccountUnknown))
            }
            (Some(_), Facts::NotAsked) => return Verdict::LookUp,
            (Some(_), Facts::Known(facts)) => criteria.object_to_account(facts),
        };
        if let Some((reason, criterion)) = objection {
            return Verdict::Decline(reason, criterion);
        }
    }
    if situation.has_room { Verdict::Accept } else { Verdict::Wait }
}

/// Atomic from the standard start, and nothing that is closed to bots.
fn cannot_play(challenge: &Challenge) -> Option<Objection> {
    if challenge.variant != VARIANT || challenge.initial_fen.is_some() {
        Some((DeclineReason::Variant, Criterion::Variant))
    } else if challenge.speed == Some(Speed::UltraBullet) {
        Some((DeclineReason::TooFast, Criterion::UltraBullet))
    } else if challenge.is_bot_playable == Some(false) {
        Some((DeclineReason::Generic, Criterion::ClosedToBots))
    } else {
        None
    }
}

/// To be favored counts as being allowed; being blocked goes before both.
fn not_on_the_right_list(options: &PolicyOptions, user: Option<&User>) -> Option<Objection> {
    let is_on = |names: &Names| user.is_some_and(|user| names.contains(&user.id));
    if is_on(&options.block) {
        Some((DeclineReason::Generic, Criterion::Blocked))
    } else if !options.only.is_empty() && !is_on(&options.only) && !is_on(&options.always) {
        Some((DeclineReason::Generic, Criterion::NotListed))
    } else {
        None
    }
}

fn not_now(is_bot: bool, situation: &Situation<'_>) -> Option<Objection> {
    if situation.is_closing {
        Some((DeclineReason::Later, Criterion::Closing))
    } else if is_bot && situation.is_quota_used {
        Some((DeclineReason::Later, Criterion::BotQuota))
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
