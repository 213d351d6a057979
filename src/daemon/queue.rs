//! Which challenges wait for a slot, and who of them comes first. Pure.

use std::{
    cmp::Reverse,
    time::{Duration, Instant},
};

use serde::Deserialize;

use crate::{game::GameId, platform::Challenge};

/// A real-time challenge lives so long without its challenger (section 7.1 of the protocol
/// notes). After that an acceptance might begin a game with nobody there.
const CHALLENGE_LIFE: Duration = Duration::from_secs(20);
/// More challenges than this do not wait.
const MAX_WAITING: usize = 32;
/// What a rated game, or a title, is worth in points of rating when the best comes first.
const BONUS: u32 = 200;

/// Who comes first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueOptions {
    /// The order among those of the same kind.
    pub order: Order,
    /// Which kind goes before the other, whatever the order.
    pub preference: Preference,
    /// So many slots are never taken by bots.
    pub reserved_for_humans: usize,
}

/// The order in which challenges are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// As they came.
    #[default]
    First,
    /// The highest rating first, where a rated game counts for 200 points more, and a title other
    /// than a bot's as well.
    Best,
}

/// Which kind of opponent goes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preference {
    /// Neither.
    #[default]
    None,
    /// People.
    Humans,
    /// Bots.
    Bots,
}

/// A challenge that waits.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub(super) challenge: Challenge,
    since: Instant,
}

/// Too many challenges wait already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QueueFull;

/// The challenges that wait, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Vec<Waiting>,
}

impl Queue {
    /// Lets a challenge wait for its turn. A newer one of the same challenger replaces the older,
    /// as it does on the server.
    ///
    /// # Errors
    ///
    /// [`QueueFull`] when too many wait.
    pub(super) fn push(&mut self, challenge: Challenge, now: Instant) -> Result<(), QueueFull> {
        if let Some(user) = &challenge.challenger {
            let id = Some(&user.id);
            self.waiting.retain(|old| old.challenge.challenger.as_ref().map(|u| &u.id) != id);
        }
        if self.waiting.len() >= MAX_WAITING {
            return Err(QueueFull);
        }
        self.waiting.push(Waiting { challenge, since: now });
        Ok(())
    }

    /// Whether this challenge waits.
    pub(super) fn contains(&self, id: &GameId) -> bool {
        self.waiting.iter().any(|waiting| waiting.challenge.id == *id)
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// All that wait, whoever comes first first.
    pub(super) fn in_order(&self, options: &QueueOptions) -> Vec<Challenge> {
        let mut waiting = self.waiting.clone();
        sort(options.order, options.preference, &mut waiting);
        waiting.into_iter().map(|waiting| waiting.challenge).collect()
    }

    /// A challenge waits no longer, if it did.
    pub(super) fn remove(&mut self, id: &GameId) {
        self.waiting.retain(|waiting| waiting.challenge.id != *id);
    }

    /// All waiting challenges, which wait no longer.
    pub(super) fn drain(&mut self) -> Vec<Challenge> {
        self.waiting.drain(..).map(|waiting| waiting.challenge).collect()
    }

    /// The challenges that waited too long, which wait no longer.
    pub(super) fn expire(&mut self, now: Instant) -> Vec<Challenge> {
        let is_old =
            |waiting: &mut Waiting| now.saturating_duration_since(waiting.since) >= CHALLENGE_LIFE;
        self.waiting.extract_if(.., is_old).map(|waiting| waiting.challenge).collect()
    }
}

/// Sorts challenges so that whoever comes first stands first; those that are equal stay as they came.
pub(super) fn sort(order: Order, preference: Preference, waiting: &mut [Waiting]) {
    waiting.sort_by_key(|waiting| {
        let user = waiting.challenge.challenger.as_ref();
        let is_bot = user.is_some_and(|user| user.is_bot);
        let is_second = match preference {
            Preference::None => false,
            Preference::Humans => is_bot,
            Preference::Bots => !is_bot,
        };
        let worth = match order {
            Order::First => 0,
            Order::Best => worth(&waiting.challenge),
        };
        (is_second, Reverse(worth))
    });
}

fn worth(challenge: &Challenge) -> u32 {
    let user = challenge.challenger.as_ref();
    let rating = user.and_then(|user| user.rating).unwrap_or_default();
    let has_title = user.is_some_and(|user| user.title.is_some() && !user.is_bot);
    rating + BONUS * (u32::from(challenge.rated) + u32::from(has_title))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::User;

    const SECOND: Duration = Duration::from_secs(1);

    fn challenge(name: &str, title: Option<&str>, rating: Option<u32>, rated: bool) -> Challenge {
        Challenge {
            id: name.parse().unwrap(),
            challenger: Some(User {
                id: name.to_owned(),
                name: name.to_owned(),
                title: title.map(str::to_owned),
                is_bot: title == Some("BOT"),
                rating,
                is_provisional: false,
            }),
            target: None,
            variant: "atomic".to_owned(),
            initial_fen: None,
            rated,
            speed: None,
            clock: None,
            days: None,
            rematch_of: None,
            is_bot_playable: None,
        }
    }

    fn plain(name: &str) -> Challenge {
        challenge(name, None, None, false)
    }

    fn ids(challenges: &[Challenge]) -> Vec<&str> {
        challenges.iter().map(|challenge| challenge.id.as_str()).collect()
    }

    #[test]
    fn the_order_is_by_coming_or_by_worth_and_kinds_can_go_first() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        for challenge in [
            challenge("weak", None, Some(1500), false),
            challenge("bot", Some("BOT"), Some(2100), false),
            challenge("strong", None, Some(2000), false),
            challenge("master", Some("GM"), Some(1950), false),
            challenge("rated", None, Some(1901), true),
            plain("unknown"),
            challenge("bot2", Some("BOT"), Some(2100), true),
        ] {
            queue.push(challenge, now).unwrap();
        }
        for (order, preference, expected) in [
            (Order::First, Preference::None, "weak bot strong master rated unknown bot2"),
            (Order::First, Preference::Humans, "weak strong master rated unknown bot bot2"),
            (Order::First, Preference::Bots, "bot bot2 weak strong master rated unknown"),
            (Order::Best, Preference::None, "bot2 master rated bot strong weak unknown"),
            (Order::Best, Preference::Humans, "master rated strong weak unknown bot2 bot"),
            (Order::Best, Preference::Bots, "bot2 bot master rated strong weak unknown"),
        ] {
            let options = QueueOptions { order, preference, reserved_for_humans: 0 };
            let found = queue.in_order(&options);
            assert_eq!(ids(&found).join(" "), expected, "{options:?}");
        }
    }

    #[test]
    fn a_newer_challenge_of_the_same_challenger_replaces_the_older() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        queue.push(plain("a"), now).unwrap();
        queue.push(Challenge { id: "b".parse().unwrap(), ..plain("a") }, now).unwrap();
        assert_eq!(ids(&queue.in_order(&QueueOptions::default())), ["b"]);
        let anonymous = |id: &str| Challenge { challenger: None, ..plain(id) };
        queue.push(anonymous("c"), now).unwrap();
        queue.push(anonymous("d"), now).unwrap();
        assert_eq!(queue.len(), 3, "visitors are not the same");
        assert!(queue.contains(&"c".parse().unwrap()));
        queue.remove(&"c".parse().unwrap());
        assert!(!queue.contains(&"c".parse().unwrap()));
    }

    #[test]
    fn waiting_runs_out() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        queue.push(plain("a"), now).unwrap();
        queue.push(plain("b"), now + SECOND).unwrap();
        assert_eq!(queue.expire(now + 19 * SECOND), []);
        assert_eq!(ids(&queue.expire(now + 20 * SECOND)), ["a"]);
        assert_eq!(queue.len(), 1);
    }

    #[test]
    fn the_queue_is_bounded() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        for number in 0..MAX_WAITING {
            queue.push(plain(&format!("c{number}")), now).unwrap();
        }
        assert_eq!(queue.push(plain("last"), now), Err(QueueFull));
        assert_eq!(queue.drain().len(), MAX_WAITING);
        assert_eq!(queue.len(), 0);
    }
}
