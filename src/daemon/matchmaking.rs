//! Whom to challenge when a slot is idle. Pure: what is known and the time give the next step.
//!
//! There is never more than one challenge of ours. It holds a slot from the moment when it is sent,
//! since it becomes a game without asking us again, and is withdrawn as soon as somebody else wants
//! that slot. What declines mean for later is in [`declines`](super::declines).

use std::{
    collections::{HashMap, HashSet},
    time::{Duration, Instant},
};

use serde::Deserialize;

use crate::{
    daemon::{
        declines,
        policy::{Names, PolicyOptions},
    },
    game::GameId,
    platform::{Challenge, ChallengeClock, ChallengeTime, OnlineBot, backoff::Throttle},
    store::{Epoch, State},
};

/// The list of bots that are online is asked for again after so long.
const LIST_LIFE: Duration = Duration::from_mins(5);
/// The server takes 25 challenges of bots in a minute, and 200 in a day (section 13.3 of the
/// protocol notes). A few are left for whoever else uses the account.
const MOST_IN_A_MINUTE: usize = 20;
/// The same for a day.
pub(super) const MOST_IN_A_DAY: u32 = 190;
/// A challenge whose answer was lost may be open for so long (section 7.1 of the protocol notes).
const DOUBT: Duration = Duration::from_secs(20);
/// Each challenge in vain doubles the pause, so many times at most: sixteen times half a minute are
/// about the 190 challenges of a day.
const MOST_DOUBLINGS: u32 = 4;
/// Of more accounts it is forgotten when they were challenged last.
const MAX_CHALLENGED: usize = 1024;

/// Whom the bot challenges by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchmakingOptions {
    /// Whether it challenges anybody.
    pub enabled: bool,
    /// The clocks.
    pub time_controls: Vec<WeightedClock>,
    /// Rated or casual, where the clock does not say.
    pub mode: Mode,
    /// Least rating of the opponent.
    pub min_rating: Option<u32>,
    /// Greatest rating of the opponent.
    pub max_rating: Option<u32>,
    /// Least that it differs from ours, either way.
    pub min_rating_difference: Option<u32>,
    /// Most that it differs from ours, either way.
    pub max_rating_difference: Option<u32>,
    /// Who of those that fit is challenged.
    pub preference: OpponentPreference,
    /// Least number of atomic games of the opponent.
    pub min_games: u32,
    /// Whoever is on this list is not challenged, beside those whose challenges are declined.
    pub block: Names,
    /// Whoever is on this list alone is challenged; anybody if it is empty.
    pub only: Names,
    /// So many games with a clock at most come of our own challenges at once.
    pub games: usize,
    /// While so many games without one run, whoever wished them, none is challenged for.
    pub correspondence_games: usize,
    /// Whether somebody is challenged while other games run.
    pub during_games: bool,
    /// So long a slot is left idle after a game, or after a challenge in vain.
    pub pause: Duration,
    /// A challenge that is not answered for so long is withdrawn.
    pub answer_limit: Duration,
    /// The same opponent is challenged again after so long.
    pub again_after: Duration,
}

impl Default for MatchmakingOptions {
    fn default() -> Self {
        let clock =
            |initial_s, increment_s| WeightedClock::of(ChallengeClock { initial_s, increment_s });
        Self {
            enabled: false,
            time_controls: vec![clock(60, 1), clock(180, 0), clock(180, 2)],
            mode: Mode::Both,
            min_rating: None,
            max_rating: None,
            min_rating_difference: None,
            max_rating_difference: None,
            preference: OpponentPreference::None,
            min_games: 1,
            block: Names::default(),
            only: Names::default(),
            games: 1,
            correspondence_games: 1,
            during_games: true,
            pause: Duration::from_secs(30),
            answer_limit: Duration::from_secs(15),
            again_after: Duration::from_mins(30),
        }
    }
}

impl MatchmakingOptions {
    /// Whether it matters what our own rating is.
    pub(super) fn compares_ratings(&self) -> bool {
        self.min_rating_difference.is_some() || self.max_rating_difference.is_some()
    }
}

/// A clock, and how often it is chosen beside others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightedClock {
    /// The clock, or days. Games without a clock are casual, whatever the mode.
    pub time: ChallengeTime,
    /// Its share; one of weight 2 is chosen twice as often as one of weight 1.
    pub weight: u32,
    /// Rated or casual, if that is another than [`MatchmakingOptions::mode`].
    pub mode: Option<Mode>,
    /// Least and greatest rating of the opponent, instead of [`MatchmakingOptions::min_rating`] and
    /// [`MatchmakingOptions::max_rating`].
    pub ratings: Option<(u32, u32)>,
}

impl WeightedClock {
    /// One of weight 1 that says nothing else.
    pub fn of(time: impl Into<ChallengeTime>) -> Self {
        Self { time: time.into(), weight: 1, mode: None, ratings: None }
    }
}

/// Whether ratings are to be at stake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Always.
    Rated,
    /// Never.
    Casual,
    /// Either, by lot.
    #[default]
    Both,
}

/// Who of several opponents is challenged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OpponentPreference {
    /// All are challenged as often.
    #[default]
    None,
    /// The stronger of two who are drawn by lot.
    High,
    /// The weaker of them.
    Low,
    /// One after the other, by the ids of their accounts.
    Sequential,
}

/// What the next step rests on, besides what was done so far.
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own")]
pub(super) struct Situation<'a> {
    /// Whether a slot is free for a bot, and our games with bots are not used up.
    pub(super) may_play: bool,
    /// The same for a game without a clock.
    pub(super) may_correspond: bool,
    /// Whether a challenge of somebody else's waits for a slot.
    pub(super) is_slot_wanted: bool,
    /// Whether the bot is shutting down.
    pub(super) is_closing: bool,
    /// Which challenges are welcome: who is not, is not challenged either.
    pub(super) policy: &'a PolicyOptions,
    /// The id of our account.
    pub(super) our_id: &'a str,
    /// Our rating.
    pub(super) our_rating: Option<u32>,
    /// What is remembered.
    pub(super) state: &'a State,
    /// Whether enough games with an account run, or were played of late.
    pub(super) has_enough_of: &'a dyn Fn(&str) -> bool,
    /// This moment.
    pub(super) now: Instant,
    /// This moment as it is remembered.
    pub(super) today: Epoch,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Ask which bots are online.
    List,
    /// Challenge somebody.
    Challenge(Offer),
    /// Withdraw our challenge.
    Cancel(GameId),
}

/// A game that we offer to somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Offer {
    /// The id of the opponent's account.
    pub(super) target: String,
    pub(super) time: ChallengeTime,
    pub(super) rated: bool,
}

/// What has been done so far.
#[derive(Debug)]
pub(super) struct Matchmaker {
    stage: Stage,
    bots: Vec<OnlineBot>,
    listed_at: Option<Instant>,
    /// The slot is left idle until then; set anew with each game and each challenge.
    idle_until: Option<Instant>,
    /// Challenges in vain since the last game.
    in_vain: u32,
    throttle: Throttle,
    challenged_at: HashMap<String, Instant>,
    /// Who was challenged last.
    last: String,
    /// The running games with a clock that came of our challenges.
    games: HashSet<GameId>,
    random: fastrand::Rng,
}

#[derive(Debug)]
enum Stage {
    Idle,
    /// The list of bots is asked for.
    Listing,
    /// A challenge is sent. The event stream may tell of it, and of its end, before the answer.
    Sending {
        offer: Offer,
        seen: Option<GameId>,
        end: Option<End>,
    },
    /// A challenge is open.
    Open {
        id: GameId,
        offer: Offer,
        since: Instant,
        is_withdrawn: bool,
    },
    /// A challenge may be open: its answer was lost.
    InDoubt {
        offer: Offer,
        until: Instant,
    },
}

/// What became of a challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Game,
    Nothing,
}

impl Matchmaker {
    pub(super) fn new(random: fastrand::Rng) -> Self {
        Self {
            stage: Stage::Idle,
            bots: Vec::new(),
            listed_at: None,
            idle_until: None,
            in_vain: 0,
            throttle: Throttle::new(MOST_IN_A_MINUTE, Duration::from_mins(1)),
            challenged_at: HashMap::new(),
            last: String::new(),
            games: HashSet::new(),
            random,
        }
    }

    /// Whether a challenge of ours that has no id yet holds a slot. One that has holds it by that.
    pub(super) fn holds_slot(&self) -> bool {
        matches!(self.stage, Stage::Sending { seen: None, .. } | Stage::InDoubt { .. })
    }

    /// Whether the game that comes of such a challenge has no clock.
    pub(super) fn awaits_correspondence(&self) -> bool {
        match &self.stage {
            Stage::Sending { offer, seen: None, .. } | Stage::InDoubt { offer, .. } => {
                offer.time.is_correspondence()
            }
            _ => false,
        }
    }

    /// The challenge of ours that is open, as far as its id is known.
    pub(super) fn open_challenge(&self) -> Option<&GameId> {
        match &self.stage {
            Stage::Open { id, .. } | Stage::Sending { seen: Some(id), end: None, .. } => Some(id),
            _ => None,
        }
    }

    /// The next step, which is taken to be done: the caller reports what comes of it.
    pub(super) fn step(
        &mut self,
        options: &MatchmakingOptions,
        situation: &Situation<'_>,
    ) -> Option<Step> {
        let now = situation.now;
        match &mut self.stage {
            Stage::Open { id, offer, since, is_withdrawn } => {
                let is_late = now.saturating_duration_since(*since) >= options.answer_limit;
                let is_in_the_way = situation.is_slot_wanted && !offer.time.is_correspondence();
                let is_off = is_late || is_in_the_way || situation.is_closing || !options.enabled;
                if *is_withdrawn || !is_off {
                    return None;
                }
                *is_withdrawn = true;
                Some(Step::Cancel(id.clone()))
            }
            Stage::InDoubt { until, .. } if *until <= now => {
                self.fail(options, now);
                None
            }
            Stage::Idle => self.begin(options, situation),
            Stage::Listing | Stage::Sending { .. } | Stage::InDoubt { .. } => None,
        }
    }

    fn begin(&mut self, options: &MatchmakingOptions, situation: &Situation<'_>) -> Option<Step> {
        let now = situation.now;
        if !options.enabled || situation.is_closing {
            return None;
        }
        let idle_until = *self.idle_until.get_or_insert(now + options.pause);
        let is_due = idle_until <= now && self.throttle.wait(now).is_zero();
        let may_play =
            situation.may_play && !situation.is_slot_wanted && self.games.len() < options.games;
        let mut clocks = options.time_controls.clone();
        clocks.retain(|clock| match clock.time {
            ChallengeTime::Clock(_) => may_play,
            ChallengeTime::Days(_) => situation.may_correspond,
        });
        let is_allowed = declines::may_challenge(situation.state, situation.today);
        if !is_due || !is_allowed || clocks.is_empty() {
            return None;
        }
        if self.listed_at.is_none_or(|at| now.saturating_duration_since(at) >= LIST_LIFE) {
            self.stage = Stage::Listing;
            return Some(Step::List);
        }
        let Some(offer) = self.choose(clocks, options, situation) else {
            self.idle_until = Some(now + options.pause);
            return None;
        };
        self.throttle.count(now);
        self.last.clone_from(&offer.target);
        self.challenged_at.retain(|_, at| now.saturating_duration_since(*at) < options.again_after);
        if self.challenged_at.len() < MAX_CHALLENGED {
            self.challenged_at.insert(offer.target.clone(), now);
        }
        self.stage = Stage::Sending { offer: offer.clone(), seen: None, end: None };
        Some(Step::Challenge(offer))
    }

    /// Draws a clock and a mode, then somebody who may want such a game; if there is nobody, others.
    fn choose(
        &mut self,
        mut clocks: Vec<WeightedClock>,
        options: &MatchmakingOptions,
        situation: &Situation<'_>,
    ) -> Option<Offer> {
        while let Some(WeightedClock { time, mode, ratings, .. }) = self.draw(&mut clocks) {
            let window = ratings.map(|(least, most)| (Some(least), Some(most)));
            let window = window.unwrap_or((options.min_rating, options.max_rating));
            // The server rates no atomic without a clock (section 12 of the protocol notes).
            let mode = match time {
                ChallengeTime::Days(_) => Mode::Casual,
                ChallengeTime::Clock(_) => mode.unwrap_or(options.mode),
            };
            for rated in self.modes(mode) {
                let fits = |bot: &&OnlineBot| {
                    is_wanted(bot, window, options, situation)
                        && !self.was_challenged(&bot.id, options, situation.now)
                        && !declines::forbid(
                            situation.state,
                            &bot.id,
                            time.clock(),
                            rated,
                            situation.today,
                        )
                };
                let fitting: Vec<&OnlineBot> = self.bots.iter().filter(fits).collect();
                if !fitting.is_empty() {
                    let [one, other] =
                        [(); 2].map(|()| fitting[self.random.usize(..fitting.len())]);
                    let bot = match options.preference {
                        OpponentPreference::High if other.rating > one.rating => other,
                        OpponentPreference::Low if other.rating < one.rating => other,
                        // Those after the last one come first.
                        OpponentPreference::Sequential => fitting
                            .iter()
                            .min_by_key(|bot| (bot.id <= self.last, &bot.id))
                            .unwrap_or(&one),
                        _ => one,
                    };
                    return Some(Offer { target: bot.id.clone(), time, rated });
                }
            }
        }
        None
    }

    /// Whether to offer a rated game, and what to offer if nobody wants that.
    fn modes(&mut self, mode: Mode) -> [bool; 2] {
        match mode {
            Mode::Rated => [true; 2],
            Mode::Casual => [false; 2],
            Mode::Both => {
                let first = self.random.bool();
                [first, !first]
            }
        }
    }

    /// Takes one of the clocks by lot, by their weights.
    fn draw(&mut self, clocks: &mut Vec<WeightedClock>) -> Option<WeightedClock> {
        let weights = clocks.iter().map(|clock| u64::from(clock.weight));
        let sum: u64 = weights.clone().sum();
        if sum == 0 {
            return None;
        }
        let mut left = self.random.u64(..sum);
        let mut at = 0;
        for weight in weights {
            if left < weight {
                break;
            }
            left -= weight;
            at += 1;
        }
        Some(clocks.swap_remove(at))
    }

    fn was_challenged(&self, id: &str, options: &MatchmakingOptions, now: Instant) -> bool {
        let at = self.challenged_at.get(id);
        at.is_some_and(|&at| now.saturating_duration_since(at) < options.again_after)
    }

    /// The list of bots has come, or will not.
    pub(super) fn on_list(
        &mut self,
        bots: Option<Vec<OnlineBot>>,
        options: &MatchmakingOptions,
        now: Instant,
    ) {
        self.stage = Stage::Idle;
        match bots {
            Some(bots) => (self.bots, self.listed_at) = (bots, Some(now)),
            None => self.pause(options.pause, now),
        }
    }

    /// The event stream tells of a challenge of our account. True if it is the one that was sent.
    pub(super) fn on_own_challenge(&mut self, challenge: &Challenge, now: Instant) -> bool {
        let target = challenge.target.as_ref().map(|user| user.id.as_str());
        match &mut self.stage {
            Stage::Sending { offer, seen, .. } if Some(offer.target.as_str()) == target => {
                *seen = Some(challenge.id.clone());
                true
            }
            Stage::InDoubt { offer, .. } if Some(offer.target.as_str()) == target => {
                let (id, offer) = (challenge.id.clone(), offer.clone());
                self.stage = Stage::Open { id, offer, since: now, is_withdrawn: false };
                true
            }
            _ => false,
        }
    }

    /// The server has taken our challenge. True if it is still open, as far as is known.
    pub(super) fn on_sent(
        &mut self,
        id: &GameId,
        options: &MatchmakingOptions,
        now: Instant,
    ) -> bool {
        let Stage::Sending { offer, end, .. } = &self.stage else { return false };
        match end {
            Some(End::Game) => self.stage = Stage::Idle,
            Some(End::Nothing) => self.fail(options, now),
            None => {
                let (id, offer) = (id.clone(), offer.clone());
                self.stage = Stage::Open { id, offer, since: now, is_withdrawn: false };
                return true;
            }
        }
        false
    }

    /// The server has refused our challenge, or its answer was lost. Gives what was offered.
    pub(super) fn on_not_sent(
        &mut self,
        may_have_worked: bool,
        options: &MatchmakingOptions,
        now: Instant,
    ) -> Option<Offer> {
        let Stage::Sending { offer, seen, end } = &self.stage else { return None };
        let sent = offer.clone();
        match (end, seen) {
            (Some(End::Game), _) => self.stage = Stage::Idle,
            (None, Some(id)) => {
                let (id, offer) = (id.clone(), offer.clone());
                self.stage = Stage::Open { id, offer, since: now, is_withdrawn: false };
            }
            (None, None) if may_have_worked => {
                self.stage = Stage::InDoubt { offer: offer.clone(), until: now + DOUBT };
            }
            _ => self.fail(options, now),
        }
        Some(sent)
    }

    /// No challenge before that much time has passed.
    pub(super) fn pause(&mut self, wait: Duration, now: Instant) {
        let until = now + wait;
        self.idle_until = Some(self.idle_until.map_or(until, |known| known.max(until)));
    }

    /// A challenge is over without a game. Gives what was offered if it was ours.
    pub(super) fn on_off(
        &mut self,
        id: &GameId,
        options: &MatchmakingOptions,
        now: Instant,
    ) -> Option<Offer> {
        match &mut self.stage {
            Stage::Open { id: open, offer, .. } if open == id => {
                let offer = offer.clone();
                self.fail(options, now);
                Some(offer)
            }
            Stage::Sending { offer, seen: Some(seen), end } if seen == id => {
                *end = Some(End::Nothing);
                Some(offer.clone())
            }
            _ => None,
        }
    }

    /// A game begins. Gives what was offered if it came of our challenge, once. Where the id is
    /// not known, since the answer got lost or is still under way, the opponent tells, if the game can have come of nothing else.
    pub(super) fn on_game_start(&mut self, id: &GameId, opponent: Option<&str>) -> Option<Offer> {
        let offer = match &mut self.stage {
            Stage::Open { id: open, offer, .. } if open == id => {
                let offer = offer.clone();
                self.stage = Stage::Idle;
                offer
            }
            Stage::Sending { offer, seen: Some(seen), end: end @ None } if seen == id => {
                *end = Some(End::Game);
                offer.clone()
            }
            Stage::Sending { offer, seen: seen @ None, end: end @ None }
                if opponent == Some(offer.target.as_str()) =>
            {
                (*seen, *end) = (Some(id.clone()), Some(End::Game));
                offer.clone()
            }
            Stage::InDoubt { offer, .. } if opponent == Some(offer.target.as_str()) => {
                let offer = offer.clone();
                self.stage = Stage::Idle;
                offer
            }
            _ => return None,
        };
        self.in_vain = 0;
        if !offer.time.is_correspondence() {
            self.games.insert(id.clone());
        }
        Some(offer)
    }

    /// A game ended: the slot is idle.
    pub(super) fn on_game_end(&mut self, id: &GameId, options: &MatchmakingOptions, now: Instant) {
        self.games.remove(id);
        self.pause(options.pause, now);
    }

    /// A challenge was in vain.
    fn fail(&mut self, options: &MatchmakingOptions, now: Instant) {
        self.stage = Stage::Idle;
        let pause = options.pause * 2_u32.pow(self.in_vain.min(MOST_DOUBLINGS));
        self.in_vain = self.in_vain.saturating_add(1);
        self.pause(pause, now);
    }
}

/// Whether a bot is one of those whom we challenge, whatever the game.
fn is_wanted(
    bot: &OnlineBot,
    (min_rating, max_rating): (Option<u32>, Option<u32>),
    options: &MatchmakingOptions,
    situation: &Situation<'_>,
) -> bool {
    let policy = situation.policy;
    let is_listed = options.only.is_empty() || options.only.contains(&bot.id);
    let is_blocked = options.block.contains(&bot.id) || policy.block.contains(&bot.id);
    let least = |bound: Option<u32>, value: Option<u32>| {
        bound.is_none_or(|bound| value.is_some_and(|value| value >= bound))
    };
    let most = |bound: Option<u32>, value: Option<u32>| {
        bound.is_none_or(|bound| value.is_some_and(|value| value <= bound))
    };
    // As long as ours is not known nothing can be too far from it.
    let difference = match situation.our_rating {
        Some(ours) => bot.rating.map(|rating| rating.abs_diff(ours)),
        None => Some(0).filter(|_| options.min_rating_difference.is_none()),
    };
    bot.id != situation.our_id
        && is_listed
        && !is_blocked
        && bot.games >= options.min_games
        && least(min_rating, bot.rating)
        && most(max_rating, bot.rating)
        && least(options.min_rating_difference, difference)
        && most(options.max_rating_difference, difference)
        && !declines::has_no_games_left(situation.state, &bot.id, situation.today)
        && !(situation.has_enough_of)(&bot.id)
}

#[cfg(test)]
mod tests;
