//! Which challenges we accept. Pure: a challenge and the situation give a verdict.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use crate::platform::{Challenge, ChallengeClock, DeclineReason, Speed, User};

/// The one variant that we play.
pub(super) const VARIANT: &str = "atomic";

/// Which challenges are welcome.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own for the operator")]
pub struct PolicyOptions {
    /// The speed classes.
    pub speeds: Vec<Speed>,
    /// Whether rated games are.
    pub rated: bool,
    /// Whether casual games are.
    pub casual: bool,
    /// Whether bots are.
    pub bots: bool,
    /// Whether people are.
    pub humans: bool,
    /// Least time at the start, in seconds.
    pub min_initial_s: u32,
    /// Most time at the start, in seconds.
    pub max_initial_s: u32,
    /// Least increment, in seconds.
    pub min_increment_s: u32,
    /// Greatest increment, in seconds.
    pub max_increment_s: u32,
    /// Accounts that are declined, in any case of letters.
    pub block: Vec<String>,
}

impl Default for PolicyOptions {
    fn default() -> Self {
        Self {
            speeds: vec![Speed::Bullet, Speed::Blitz, Speed::Rapid, Speed::Classical],
            rated: true,
            casual: true,
            bots: true,
            humans: true,
            min_initial_s: 0,
            max_initial_s: 10_800,
            min_increment_s: 0,
            max_increment_s: 60,
            block: Vec::new(),
        }
    }
}

/// What to do about a challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Take it now.
    Accept,
    /// Take it when a slot gets free, if that is soon enough.
    Wait,
    /// Decline it, for this reason.
    Decline(DeclineReason),
}

/// What a verdict rests on besides the challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation {
    /// Whether a slot is free.
    pub has_room: bool,
    /// Whether the bot is shutting down.
    pub is_closing: bool,
    /// Whether the server's quota for games between bots is used up, for us or for this opponent.
    pub is_quota_used: bool,
}

/// Judges a challenge of somebody else's. What can never be played comes first, then what is not
/// wanted, then what is not possible now.
pub fn judge(options: &PolicyOptions, challenge: &Challenge, situation: Situation) -> Verdict {
    let objection = cannot_play(challenge)
        .or_else(|| unwanted_opponent(options, challenge.challenger.as_ref()))
        .or_else(|| unwanted_rating(options, challenge.rated))
        .or_else(|| unwanted_time(options, challenge));
    let is_bot = challenge.challenger.as_ref().is_some_and(|user| user.is_bot);
    match objection {
        Some(reason) => Verdict::Decline(reason),
        None if situation.is_closing => Verdict::Decline(DeclineReason::Later),
        None if is_bot && situation.is_quota_used => Verdict::Decline(DeclineReason::Later),
        None if situation.has_room => Verdict::Accept,
        None => Verdict::Wait,
    }
}

/// Atomic from the standard start, and nothing that is closed to bots.
fn cannot_play(challenge: &Challenge) -> Option<DeclineReason> {
    if challenge.variant != VARIANT || challenge.initial_fen.is_some() {
        Some(DeclineReason::Variant)
    } else if challenge.speed == Some(Speed::UltraBullet) {
        Some(DeclineReason::TooFast)
    } else if challenge.is_bot_playable == Some(false) {
        Some(DeclineReason::Generic)
    } else {
        None
    }
}

/// An anonymous visitor counts as a person.
fn unwanted_opponent(options: &PolicyOptions, user: Option<&User>) -> Option<DeclineReason> {
    let is_blocked = user.is_some_and(|user| {
        options.block.iter().any(|blocked| blocked.trim().eq_ignore_ascii_case(&user.id))
    });
    let is_bot = user.is_some_and(|user| user.is_bot);
    if is_blocked {
        Some(DeclineReason::Generic)
    } else if is_bot && !options.bots {
        Some(DeclineReason::NoBot)
    } else if !is_bot && !options.humans {
        Some(DeclineReason::OnlyBot)
    } else {
        None
    }
}

/// The reason names what to send instead.
fn unwanted_rating(options: &PolicyOptions, rated: bool) -> Option<DeclineReason> {
    match rated {
        true if !options.rated => Some(DeclineReason::Casual),
        false if !options.casual => Some(DeclineReason::Rated),
        _ => None,
    }
}

fn unwanted_time(options: &PolicyOptions, challenge: &Challenge) -> Option<DeclineReason> {
    let Some(speed) = challenge.speed else { return Some(DeclineReason::TimeControl) };
    if !options.speeds.contains(&speed) {
        return Some(if options.speeds.iter().all(|&wanted| wanted > speed) {
            DeclineReason::TooFast
        } else if options.speeds.iter().all(|&wanted| wanted < speed) {
            DeclineReason::TooSlow
        } else {
            DeclineReason::TimeControl
        });
    }
    // Correspondence and unlimited games have no clock to judge.
    let ChallengeClock { initial_s, increment_s } = challenge.clock?;
    if initial_s < options.min_initial_s || increment_s < options.min_increment_s {
        Some(DeclineReason::TooFast)
    } else if initial_s > options.max_initial_s || increment_s > options.max_increment_s {
        Some(DeclineReason::TooSlow)
    } else {
        None
    }
}

/// The server's limits that we ran into, each with the moment when it ends.
#[derive(Clone, Debug, Default)]
pub(super) struct Quotas {
    bots: Option<Instant>,
    opponents: HashMap<String, Instant>,
    accepts: Option<Instant>,
}

/// A limit is kept for a day at most, whatever the server says.
const LONGEST_QUOTA: Duration = Duration::from_hours(24);

impl Quotas {
    /// Our own quota of games with bots is used up.
    pub(super) fn block_bots(&mut self, wait: Duration, now: Instant) {
        self.bots = Some(now + wait.min(LONGEST_QUOTA));
    }

    /// An opponent's is.
    pub(super) fn block_opponent(&mut self, id: &str, wait: Duration, now: Instant) {
        self.opponents.retain(|_, until| *until > now);
        self.opponents.insert(id.to_owned(), now + wait.min(LONGEST_QUOTA));
    }

    /// The server wants no accepting for a while.
    pub(super) fn pause_accepting(&mut self, wait: Duration, now: Instant) {
        self.accepts = Some(now + wait.min(LONGEST_QUOTA));
    }

    /// Whether games with this bot are out of the question.
    pub(super) fn blocks(&self, id: &str, now: Instant) -> bool {
        self.bots.is_some_and(|until| until > now)
            || self.opponents.get(id).is_some_and(|&until| until > now)
    }

    /// Whether accepting has to pause.
    pub(super) fn is_paused(&self, now: Instant) -> bool {
        self.accepts.is_some_and(|until| until > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: Situation = Situation { has_room: true, is_closing: false, is_quota_used: false };

    fn challenge() -> Challenge {
        Challenge {
            id: "w4itinG1".parse().unwrap(),
            challenger: Some(user("quietrook7", false)),
            variant: "atomic".to_owned(),
            initial_fen: None,
            rated: true,
            speed: Some(Speed::Blitz),
            clock: Some(ChallengeClock { initial_s: 180, increment_s: 2 }),
            days: None,
            rematch_of: None,
            is_bot_playable: Some(true),
        }
    }

    fn user(id: &str, is_bot: bool) -> User {
        User {
            id: id.to_owned(),
            name: id.to_owned(),
            title: is_bot.then(|| "BOT".to_owned()),
            is_bot,
            rating: Some(1900),
            is_provisional: false,
        }
    }

    fn from_bot() -> Challenge {
        Challenge { challenger: Some(user("soot-engine", true)), ..challenge() }
    }

    fn clocked(initial_s: u32, increment_s: u32) -> Challenge {
        Challenge { clock: Some(ChallengeClock { initial_s, increment_s }), ..challenge() }
    }

    #[track_caller]
    fn check(options: &PolicyOptions, challenge: &Challenge, expected: Verdict) {
        assert_eq!(judge(options, challenge, OPEN), expected, "{challenge:?}");
    }

    #[track_caller]
    fn check_declined(options: &PolicyOptions, challenge: &Challenge, reason: DeclineReason) {
        check(options, challenge, Verdict::Decline(reason));
    }

    #[test]
    fn an_ordinary_challenge_is_accepted() {
        let options = PolicyOptions::default();
        check(&options, &challenge(), Verdict::Accept);
        check(&options, &from_bot(), Verdict::Accept);
        check(&options, &Challenge { challenger: None, ..challenge() }, Verdict::Accept);
        check(&options, &Challenge { is_bot_playable: None, ..challenge() }, Verdict::Accept);
    }

    #[test]
    fn only_atomic_from_the_standard_start_is_played() {
        let options = PolicyOptions::default();
        for variant in ["standard", "fromPosition", "chess960", "antichess", "", "Atomic"] {
            let other = Challenge { variant: variant.to_owned(), ..challenge() };
            check_declined(&options, &other, DeclineReason::Variant);
        }
        let fen = Some("8/8/8/4k3/8/3QK3/8/8 w - - 0 1".to_owned());
        let custom = Challenge { initial_fen: fen, ..challenge() };
        check_declined(&options, &custom, DeclineReason::Variant);
    }

    #[test]
    fn what_is_closed_to_bots_is_declined() {
        let options = PolicyOptions {
            speeds: vec![Speed::UltraBullet, Speed::Blitz],
            ..PolicyOptions::default()
        };
        let ultra = Challenge { speed: Some(Speed::UltraBullet), ..challenge() };
        check_declined(&options, &ultra, DeclineReason::TooFast);
        let closed = Challenge { is_bot_playable: Some(false), ..challenge() };
        check_declined(&options, &closed, DeclineReason::Generic);
    }

    #[test]
    fn speeds_are_chosen() {
        let at = |speed| Challenge { speed, clock: None, ..challenge() };
        let options = PolicyOptions::default();
        check_declined(&options, &at(Some(Speed::Correspondence)), DeclineReason::TooSlow);
        check_declined(&options, &at(None), DeclineReason::TimeControl);
        let speeds = vec![Speed::Blitz, Speed::Classical];
        let options = PolicyOptions { speeds, ..PolicyOptions::default() };
        check_declined(&options, &at(Some(Speed::Bullet)), DeclineReason::TooFast);
        check_declined(&options, &at(Some(Speed::Rapid)), DeclineReason::TimeControl);
        check_declined(&options, &at(Some(Speed::Correspondence)), DeclineReason::TooSlow);
        let options =
            PolicyOptions { speeds: vec![Speed::Correspondence], ..PolicyOptions::default() };
        check(&options, &at(Some(Speed::Correspondence)), Verdict::Accept);
    }

    #[test]
    fn clocks_have_bounds_that_are_included() {
        let options = PolicyOptions {
            min_initial_s: 60,
            max_initial_s: 600,
            min_increment_s: 1,
            max_increment_s: 5,
            ..PolicyOptions::default()
        };
        check(&options, &clocked(60, 1), Verdict::Accept);
        check(&options, &clocked(600, 5), Verdict::Accept);
        check_declined(&options, &clocked(59, 1), DeclineReason::TooFast);
        check_declined(&options, &clocked(60, 0), DeclineReason::TooFast);
        check_declined(&options, &clocked(601, 1), DeclineReason::TooSlow);
        check_declined(&options, &clocked(600, 6), DeclineReason::TooSlow);
    }

    #[test]
    fn rated_and_casual_are_chosen() {
        let casual = Challenge { rated: false, ..challenge() };
        let options = PolicyOptions { rated: false, ..PolicyOptions::default() };
        check_declined(&options, &challenge(), DeclineReason::Casual);
        check(&options, &casual, Verdict::Accept);
        let options = PolicyOptions { casual: false, ..PolicyOptions::default() };
        check_declined(&options, &casual, DeclineReason::Rated);
        check(&options, &challenge(), Verdict::Accept);
    }

    #[test]
    fn bots_and_people_are_chosen() {
        let options = PolicyOptions { bots: false, ..PolicyOptions::default() };
        check_declined(&options, &from_bot(), DeclineReason::NoBot);
        check(&options, &challenge(), Verdict::Accept);
        let options = PolicyOptions { humans: false, ..PolicyOptions::default() };
        check_declined(&options, &challenge(), DeclineReason::OnlyBot);
        let anonymous = Challenge { challenger: None, ..challenge() };
        check_declined(&options, &anonymous, DeclineReason::OnlyBot);
        check(&options, &from_bot(), Verdict::Accept);
    }

    #[test]
    fn blocked_accounts_are_declined_in_any_case_of_letters() {
        let block = vec!["Someone".to_owned(), " QuietRook7".to_owned()];
        let options = PolicyOptions { block, ..PolicyOptions::default() };
        check_declined(&options, &challenge(), DeclineReason::Generic);
        check(&options, &from_bot(), Verdict::Accept);
    }

    #[test]
    fn a_full_house_waits_and_a_closing_one_declines() {
        let options = PolicyOptions::default();
        let full = Situation { has_room: false, ..OPEN };
        assert_eq!(judge(&options, &challenge(), full), Verdict::Wait);
        let closing = Situation { is_closing: true, ..OPEN };
        let later = Verdict::Decline(DeclineReason::Later);
        assert_eq!(judge(&options, &challenge(), closing), later);
        let variant = Challenge { variant: "standard".to_owned(), ..challenge() };
        let expected = Verdict::Decline(DeclineReason::Variant);
        assert_eq!(judge(&options, &variant, closing), expected, "the true reason first");
    }

    #[test]
    fn a_used_quota_stops_bots_only() {
        let options = PolicyOptions::default();
        let used = Situation { is_quota_used: true, ..OPEN };
        assert_eq!(judge(&options, &from_bot(), used), Verdict::Decline(DeclineReason::Later));
        assert_eq!(judge(&options, &challenge(), used), Verdict::Accept);
    }

    #[test]
    fn quotas_end() {
        let (now, day) = (Instant::now(), LONGEST_QUOTA);
        let mut quotas = Quotas::default();
        quotas.block_opponent("soot-engine", Duration::from_secs(100), now);
        assert!(quotas.blocks("soot-engine", now));
        assert!(!quotas.blocks("other", now));
        assert!(!quotas.blocks("soot-engine", now + Duration::from_secs(100)));
        quotas.block_bots(10 * day, now);
        assert!(quotas.blocks("other", now));
        assert!(!quotas.blocks("other", now + day));
        quotas.pause_accepting(Duration::from_mins(1), now);
        assert!(quotas.is_paused(now) && !quotas.is_paused(now + Duration::from_mins(1)));
    }
}
