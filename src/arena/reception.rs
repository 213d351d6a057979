//! How house players answer challenges: at once or later, by rule, with a reason.

use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::arena::{
    agenda::Task,
    challenge::{Challenge, ChallengeStatus},
    state::State,
    time_control::speed,
};

/// How a house player answers challenges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Acceptance {
    /// Accepts, except for what its rules decline.
    #[default]
    Accept,
    /// Declines.
    Decline,
    /// Does not answer.
    Ignore,
}

/// What a house player declines: a challenge of which all that is given is true.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeclineRule {
    /// The reason, such as `later` or `tooFast`.
    pub reason: String,
    /// Whether the challenge is rated.
    pub rated: Option<bool>,
    /// The name of its speed, such as `bullet`.
    pub speed: Option<String>,
    /// Whether the challenger is a bot.
    pub bot: Option<bool>,
    /// The house player has at least so many running games.
    pub busy_with: Option<usize>,
}

impl State {
    /// Lets a challenged house player answer, now or when its time has come.
    pub(super) fn let_house_answer(&mut self, id: &str, now: Instant) {
        let Some(challenge) = self.challenges.get(id) else { return };
        let account = self.accounts.get(&challenge.target);
        let Some(house) = account.and_then(|account| account.house.as_ref()) else { return };
        match house.spec.answer_delay_ms {
            0 => self.answer_for_house(id, now),
            delay => {
                let at = now + Duration::from_millis(delay);
                self.agenda.plan(at, Task::Answer(id.to_owned()));
            }
        }
    }

    /// Answers a challenge for a house player, unless that is no longer possible.
    pub(super) fn answer_for_house(&mut self, id: &str, now: Instant) {
        self.expire_challenges(now);
        let is_created = |challenge: &&Challenge| challenge.status == ChallengeStatus::Created;
        let Some(challenge) = self.challenges.get(id).filter(is_created) else { return };
        let target = challenge.target.clone();
        let account = self.accounts.get(&target);
        let Some(house) = account.and_then(|account| account.house.as_ref()) else { return };
        let reason = match house.spec.accepts {
            Acceptance::Ignore => return,
            Acceptance::Decline => Some(house.spec.decline_reason.clone()),
            Acceptance::Accept => {
                let rules = house.spec.declines.iter();
                let fitting = rules.clone().find(|rule| self.rule_fits(rule, challenge));
                fitting.map(|rule| rule.reason.clone())
            }
        };
        // A refusal leaves the challenge open, as when a player does not answer.
        let _answer = match reason {
            Some(reason) => self.decline_challenge(&target, id, &reason, now),
            None => self.accept_challenge(&target, id, now).map(|_| ()),
        };
    }

    fn rule_fits(&self, rule: &DeclineRule, challenge: &Challenge) -> bool {
        let is_bot = self.account(&challenge.challenger).is_ok_and(super::account::Account::is_bot);
        rule.rated.is_none_or(|rated| rated == challenge.rated)
            && rule.speed.as_ref().is_none_or(|name| name == speed(challenge.control))
            && rule.bot.is_none_or(|bot| bot == is_bot)
            && rule.busy_with.is_none_or(|games| self.running_games(&challenge.target) >= games)
    }

    /// The number of games that an account plays just now.
    pub(super) fn running_games(&self, user: &str) -> usize {
        let running = self.games.values().filter(|game| game.arbiter.ending().is_none());
        running.filter(|game| game.color_of(user).is_some()).count()
    }
}
