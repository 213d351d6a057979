//! What is asked of a challenge and of whoever makes it, for people and for bots apart.

use std::{fmt, ops::RangeInclusive, time::Duration};

use crate::{
    daemon::policy::{Objection, Situation},
    platform::{AccountFacts, Challenge, ChallengeClock, DeclineReason, Speed, User},
};

/// Which challenges of one kind of opponent are welcome.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own for the operator")]
pub struct Criteria {
    /// Whether this kind of opponent is accepted at all.
    pub accepted: bool,
    /// The speed classes.
    pub speeds: Vec<Speed>,
    /// The only clocks; any if empty. Games without a clock are not concerned.
    pub time_controls: Vec<ChallengeClock>,
    /// Time at the start, in seconds.
    pub initial_s: RangeInclusive<u32>,
    /// Increment, in seconds.
    pub increment_s: RangeInclusive<u32>,
    /// Days for a move in correspondence games.
    pub days: RangeInclusive<u32>,
    /// Whether games without any limit of time are.
    pub unlimited: bool,
    /// Most time that a player has for 40 moves, in seconds: the time at the start and 40
    /// increments, by which the server sorts games into speeds.
    pub max_length_s: Option<u32>,
    /// Whether bullet games need an increment.
    pub bullet_needs_increment: bool,
    /// Whether rated games are.
    pub rated: bool,
    /// Whether casual games are.
    pub casual: bool,
    /// Least rating.
    pub min_rating: Option<u32>,
    /// Greatest rating.
    pub max_rating: Option<u32>,
    /// Most that a rating may differ from ours, either way.
    pub max_rating_difference: Option<u32>,
    /// Whether provisional ratings are.
    pub provisional: bool,
    /// Most games with the same opponent at once.
    pub max_games_per_user: Option<u32>,
    /// Most games with the same opponent within [`super::PolicyOptions::recent_window`].
    pub max_recent_per_user: Option<u32>,
    /// Least age of the account.
    pub min_account_age: Option<Duration>,
    /// Least number of games of the account.
    pub min_account_games: Option<u32>,
    /// Whether accounts are that the server has marked for breaking its terms.
    pub marked: bool,
}

impl Default for Criteria {
    fn default() -> Self {
        Self {
            accepted: true,
            speeds: vec![Speed::Bullet, Speed::Blitz, Speed::Rapid, Speed::Classical],
            time_controls: Vec::new(),
            initial_s: 0..=10_800,
            increment_s: 0..=60,
            days: 1..=14,
            unlimited: true,
            max_length_s: None,
            bullet_needs_increment: false,
            rated: true,
            casual: true,
            min_rating: None,
            max_rating: None,
            max_rating_difference: None,
            provisional: true,
            max_games_per_user: None,
            max_recent_per_user: None,
            min_account_age: None,
            min_account_games: None,
            marked: true,
        }
    }
}

/// What a challenge was declined for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[expect(missing_docs, reason = "each is named after the setting or the state that it stands for")]
pub enum Criterion {
    Variant,
    UltraBullet,
    ClosedToBots,
    Blocked,
    NotListed,
    Kind,
    Mode,
    Speed,
    TimeControl,
    Initial,
    Increment,
    Days,
    Unlimited,
    Length,
    BulletIncrement,
    Rating,
    RatingDifference,
    Provisional,
    GamesPerUser,
    RecentPerUser,
    AccountAge,
    AccountGames,
    AccountMarked,
    AccountUnknown,
    Closing,
    BotQuota,
    Queue,
}

impl Criterion {
    #[cfg(test)]
    pub(super) const LAST: Self = Self::Queue;
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Variant => "we play atomic from the standard start only",
            Self::UltraBullet => "ultrabullet is closed to bots",
            Self::ClosedToBots => "the server says that bots cannot play it",
            Self::Blocked => "the challenger is on the block list",
            Self::NotListed => "the challenger is not on the list of those who may challenge",
            Self::Kind => "this kind of opponent is not wanted",
            Self::Mode => "rated or casual, the other one is wanted",
            Self::Speed => "the speed is not wanted",
            Self::TimeControl => "the clock is not one of those that are wanted",
            Self::Initial => "the time at the start is out of range",
            Self::Increment => "the increment is out of range",
            Self::Days => "the days for a move are out of range",
            Self::Unlimited => "games without a limit of time are not wanted",
            Self::Length => "the game might take too long",
            Self::BulletIncrement => "bullet needs an increment",
            Self::Rating => "the rating is out of range",
            Self::RatingDifference => "the rating is too far from ours",
            Self::Provisional => "the rating is provisional",
            Self::GamesPerUser => "enough games with this opponent run",
            Self::RecentPerUser => "there were enough games with this opponent of late",
            Self::AccountAge => "the account is too young",
            Self::AccountGames => "the account has too few games",
            Self::AccountMarked => "the account is marked or closed",
            Self::AccountUnknown => "the account could not be looked up",
            Self::Closing => "the bot is closing",
            Self::BotQuota => "the games with bots are used up for now",
            Self::Queue => "no slot became free",
        })
    }
}

impl Criteria {
    /// What is wrong with the opponent, the kind of game, its time, or the moment; in this order.
    pub(super) fn object(
        &self,
        challenge: &Challenge,
        situation: &Situation<'_>,
    ) -> Option<Objection> {
        let user = challenge.challenger.as_ref();
        self.object_to_kind(user.is_some_and(|user| user.is_bot))
            .or_else(|| self.object_to_mode(challenge.rated))
            .or_else(|| self.object_to_speed(challenge.speed))
            .or_else(|| match challenge.clock {
                Some(clock) => self.object_to_clock(clock, challenge.speed),
                None => self.object_to_days(challenge.days),
            })
            .or_else(|| self.object_to_rating(user, situation.our_rating))
            .or_else(|| self.object_to_number(user, situation))
    }

    /// Whether games of this clock are welcome, rated or casual, whoever the opponent.
    pub(in crate::daemon) fn accepts(&self, clock: ChallengeClock, rated: bool) -> bool {
        let speed = Some(clock.speed());
        self.accepted
            && self.object_to_mode(rated).is_none()
            && self.object_to_speed(speed).is_none()
            && self.object_to_clock(clock, speed).is_none()
    }

    /// Whether the account has to be looked up. FICS tells nothing of it.
    pub fn needs_facts(&self) -> bool {
        self.min_account_age.is_some() || self.min_account_games.is_some() || !self.marked
    }

    /// What is wrong with the account.
    pub(super) fn object_to_account(&self, facts: &AccountFacts) -> Option<Objection> {
        let generic = |criterion| Some((DeclineReason::Generic, criterion));
        if self.min_account_age.is_some_and(|least| facts.age < least) {
            generic(Criterion::AccountAge)
        } else if self.min_account_games.is_some_and(|least| facts.games < least) {
            generic(Criterion::AccountGames)
        } else if !self.marked && facts.is_marked {
            generic(Criterion::AccountMarked)
        } else {
            None
        }
    }

    fn object_to_kind(&self, is_bot: bool) -> Option<Objection> {
        let reason = if is_bot { DeclineReason::NoBot } else { DeclineReason::OnlyBot };
        (!self.accepted).then_some((reason, Criterion::Kind))
    }

    /// The reason names what to send instead.
    fn object_to_mode(&self, rated: bool) -> Option<Objection> {
        match rated {
            true if !self.rated => Some((DeclineReason::Casual, Criterion::Mode)),
            false if !self.casual => Some((DeclineReason::Rated, Criterion::Mode)),
            _ => None,
        }
    }

    fn object_to_speed(&self, speed: Option<Speed>) -> Option<Objection> {
        let Some(speed) = speed else {
            return Some((DeclineReason::TimeControl, Criterion::Speed));
        };
        if self.speeds.contains(&speed) {
            return None;
        }
        let reason = if self.speeds.is_empty() {
            DeclineReason::TimeControl
        } else if self.speeds.iter().all(|&wanted| wanted > speed) {
            DeclineReason::TooFast
        } else if self.speeds.iter().all(|&wanted| wanted < speed) {
            DeclineReason::TooSlow
        } else {
            DeclineReason::TimeControl
        };
        Some((reason, Criterion::Speed))
    }

    fn object_to_clock(&self, clock: ChallengeClock, speed: Option<Speed>) -> Option<Objection> {
        let ChallengeClock { initial_s, increment_s } = clock;
        let length_s = u64::from(initial_s) + 40 * u64::from(increment_s);
        if let Some(reason) = out_of(&self.initial_s, initial_s) {
            Some((reason, Criterion::Initial))
        } else if let Some(reason) = out_of(&self.increment_s, increment_s) {
            Some((reason, Criterion::Increment))
        } else if self.max_length_s.is_some_and(|most| length_s > u64::from(most)) {
            Some((DeclineReason::TooSlow, Criterion::Length))
        } else if self.bullet_needs_increment && speed == Some(Speed::Bullet) && increment_s == 0 {
            Some((DeclineReason::TimeControl, Criterion::BulletIncrement))
        } else if !self.time_controls.is_empty() && !self.time_controls.contains(&clock) {
            Some((DeclineReason::TimeControl, Criterion::TimeControl))
        } else {
            None
        }
    }

    fn object_to_days(&self, days: Option<u32>) -> Option<Objection> {
        match days {
            Some(days) => out_of(&self.days, days).map(|reason| (reason, Criterion::Days)),
            None => (!self.unlimited).then_some((DeclineReason::TooSlow, Criterion::Unlimited)),
        }
    }

    /// An opponent without a rating, as an anonymous visitor is, meets no demand on it.
    fn object_to_rating(&self, user: Option<&User>, ours: Option<u32>) -> Option<Objection> {
        let theirs = user.and_then(|user| user.rating);
        let meets = |demand: Option<u32>, test: fn(u32, u32) -> bool| {
            demand.is_none_or(|bound| theirs.is_some_and(|rating| test(rating, bound)))
        };
        // As long as ours is not known nothing can be too far from it.
        let difference = self.max_rating_difference.zip(ours);
        let is_near = difference
            .is_none_or(|(most, ours)| theirs.is_some_and(|rating| rating.abs_diff(ours) <= most));
        let generic = |criterion| Some((DeclineReason::Generic, criterion));
        if !meets(self.min_rating, |rating, least| rating >= least)
            || !meets(self.max_rating, |rating, most| rating <= most)
        {
            generic(Criterion::Rating)
        } else if !is_near {
            generic(Criterion::RatingDifference)
        } else if !self.provisional && user.is_none_or(|user| user.is_provisional) {
            generic(Criterion::Provisional)
        } else {
            None
        }
    }

    /// Anonymous visitors cannot be told apart, so that none of them is counted.
    fn object_to_number(
        &self,
        user: Option<&User>,
        situation: &Situation<'_>,
    ) -> Option<Objection> {
        user?;
        let later = |criterion| Some((DeclineReason::Later, criterion));
        if self.max_games_per_user.is_some_and(|most| situation.running_with >= most) {
            later(Criterion::GamesPerUser)
        } else if self.max_recent_per_user.is_some_and(|most| situation.recent_with >= most) {
            later(Criterion::RecentPerUser)
        } else {
            None
        }
    }
}

/// On which side a number is out of range.
fn out_of(range: &RangeInclusive<u32>, number: u32) -> Option<DeclineReason> {
    if number < *range.start() {
        Some(DeclineReason::TooFast)
    } else if number > *range.end() {
        Some(DeclineReason::TooSlow)
    } else {
        None
    }
}
