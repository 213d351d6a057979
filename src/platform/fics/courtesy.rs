//! What the bot says to people who talk to it: a short help, and not often. Nothing that anybody says
//! commands it.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use crate::platform::{DeclineReason, fics::line::Said};

/// One answer to the same person in this time, and one to anybody in that.
const PAUSE_PER_USER: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_secs(3);
/// People that are remembered.
const MOST_USERS: usize = 256;

/// When whom was answered.
#[derive(Debug, Default)]
pub(super) struct Courtesy {
    answered: HashMap<String, Instant>,
    last: Option<Instant>,
}

impl Courtesy {
    /// The answer to a private word, if there is to be one: none to programs, which might answer.
    pub(super) fn answer(&mut self, said: &Said, us: &str, now: Instant) -> Option<String> {
        let name = &said.from.name;
        if said.from.is_computer() || name.eq_ignore_ascii_case(us) || !self.may_tell(name, now) {
            return None;
        }
        Some(format!(
            "tell {name} I am a bot and play atomic. Challenge me with \"match {us} 3 0 atomic\"; \
             the server tells the rules with \"help atomic\". I understand no commands."
        ))
    }

    /// Why a challenge is declined, for the challenger.
    pub(super) fn decline(
        &mut self,
        name: &str,
        reason: DeclineReason,
        now: Instant,
    ) -> Option<String> {
        let text = match reason {
            DeclineReason::Variant | DeclineReason::Standard => "I play atomic only.",
            DeclineReason::TooFast => "That is too fast for me; please give us more time.",
            DeclineReason::TooSlow => "That is too slow for me; please choose a shorter game.",
            DeclineReason::TimeControl => "Please choose another time control.",
            DeclineReason::Rated => "Rated games only, please.",
            DeclineReason::Casual => "Unrated games only, please.",
            DeclineReason::NoBot => "I do not play other programs at the moment.",
            DeclineReason::OnlyBot => "I play other programs only at the moment.",
            DeclineReason::Later => "Not now, please try again later.",
            DeclineReason::Generic => "Sorry, not this one.",
        };
        self.may_tell(name, now).then(|| format!("tell {name} {text}"))
    }

    /// Whether to say something to somebody now, which is then counted.
    fn may_tell(&mut self, name: &str, now: Instant) -> bool {
        let is_recent = |at: Option<&Instant>, pause| {
            at.is_some_and(|&at| now.saturating_duration_since(at) < pause)
        };
        let name = name.to_lowercase();
        if is_recent(self.last.as_ref(), PAUSE)
            || is_recent(self.answered.get(&name), PAUSE_PER_USER)
        {
            return false;
        }
        if self.answered.len() >= MOST_USERS {
            self.answered.retain(|_, at| is_recent(Some(at), PAUSE_PER_USER));
        }
        if self.answered.len() < MOST_USERS {
            self.answered.insert(name, now);
        }
        self.last = Some(now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::fics::line::{Account, Channel};

    fn said(name: &str, titles: &[&str]) -> Said {
        let titles = titles.iter().map(|&title| title.to_owned()).collect();
        let from = Account { name: name.to_owned(), titles };
        Said { from, channel: Channel::Tell, text: "resign now".to_owned() }
    }

    #[test]
    fn people_are_answered_but_not_often() {
        let (mut courtesy, now) = (Courtesy::default(), Instant::now());
        let at = |seconds| now + Duration::from_secs(seconds);
        let mut answers =
            |name, seconds| courtesy.answer(&said(name, &[]), "AtomBot", at(seconds)).is_some();
        assert!(answers("Alice", 0));
        assert!(!answers("Bob", 1), "not everybody at once");
        assert!(answers("Bob", 3) && !answers("ALICE", 10) && answers("Alice", 60));
    }

    #[test]
    fn programs_and_our_own_words_get_no_answer() {
        let (mut courtesy, now) = (Courtesy::default(), Instant::now());
        assert_eq!(courtesy.answer(&said("Robo", &["C"]), "AtomBot", now), None);
        assert_eq!(courtesy.answer(&said("atombot", &[]), "AtomBot", now), None);
    }

    #[test]
    fn a_flood_of_names_is_not_remembered_for_ever() {
        let (mut courtesy, now) = (Courtesy::default(), Instant::now());
        for number in 0..2_000_u64 {
            let name = format!("A{number}");
            courtesy
                .may_tell(&name, now + 3 * u32::try_from(number).unwrap() * Duration::from_secs(1));
        }
        assert!(courtesy.answered.len() <= MOST_USERS);
    }

    #[test]
    fn a_decline_says_what_to_send_instead() {
        let (mut courtesy, now) = (Courtesy::default(), Instant::now());
        let text = courtesy.decline("Alice", DeclineReason::Casual, now).unwrap();
        assert_eq!(text, "tell Alice Unrated games only, please.");
        assert_eq!(courtesy.decline("Alice", DeclineReason::Casual, now), None);
    }
}
