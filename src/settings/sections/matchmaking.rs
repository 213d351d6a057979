//! `[matchmaking]`: whom the bot challenges by itself.

use std::{fmt::Display, time::Duration};

use serde::Deserialize;

use crate::{
    daemon::{MatchmakingOptions, Mode, OpponentPreference, WeightedClock},
    platform::{ChallengeClock, ChallengeTime, Speed},
    settings::{
        error::{SettingsError, Source},
        schema::{Key, Kind, key, number},
        sections::challenge::parse_clock,
    },
};

pub(super) const KEYS: &[Key] = &[
    key("matchmaking.enabled", Kind::Switch),
    key(TIME_CONTROLS, Kind::WeightedClocks),
    key("matchmaking.mode", Kind::Word(&["rated", "casual", "both"])),
    key("matchmaking.min_rating", number(0, 4_000)),
    key("matchmaking.max_rating", number(0, 4_000)),
    key("matchmaking.min_rating_difference", number(0, 4_000)),
    key("matchmaking.max_rating_difference", number(0, 4_000)),
    key("matchmaking.preference", Kind::Word(&["none", "high", "low", "sequential"])),
    key("matchmaking.min_games", number(0, 1_000_000)),
    key("matchmaking.block", Kind::Names),
    key("matchmaking.only", Kind::Names),
    key("matchmaking.games", number(1, 64)),
    key("matchmaking.correspondence_games", number(1, 40)),
    key("matchmaking.during_games", Kind::Switch),
    key("matchmaking.pause_s", number(5, 86_400)),
    key("matchmaking.answer_limit_s", number(2, 19)),
    key("matchmaking.again_after_s", number(0, 604_800)),
];

const TIME_CONTROLS: &str = "matchmaking.time_controls";
/// Most increment that the server takes in a challenge (section 7.2 of the protocol notes).
const MOST_INCREMENT_S: u32 = 60;
/// No rating is greater.
const MOST_RATING: u32 = 4_000;

#[derive(Deserialize)]
pub(super) struct RawMatchmaking {
    enabled: bool,
    time_controls: Vec<String>,
    mode: Mode,
    min_rating: u32,
    max_rating: u32,
    min_rating_difference: u32,
    max_rating_difference: u32,
    preference: OpponentPreference,
    min_games: u32,
    block: Vec<String>,
    only: Vec<String>,
    games: usize,
    correspondence_games: usize,
    during_games: bool,
    pause_s: u64,
    answer_limit_s: u64,
    again_after_s: u64,
}

impl RawMatchmaking {
    /// Checks what no key can tell alone. `source` knows who has set a key.
    pub(super) fn check(&self, source: impl Fn(&str) -> Source) -> Result<(), SettingsError> {
        let bad = |key, found: &dyn Display, allowed: String| {
            let found = found.to_string();
            Err(SettingsError::BadValue { source_of: source(key), key, found, allowed })
        };
        for text in &self.time_controls {
            let time = parse_weighted_clock(text).map(|weighted| weighted.time);
            if time.is_none_or(|time| !can_be_challenged_for(time)) {
                let allowed = "a list of clocks that the server takes from bots: 0, 0.25, 0.5, \
                               0.75, 1, 1.5 or whole minutes, at most 60 seconds more for each \
                               move, and at least half a minute for 40 moves; or 1, 2, 3, 5, 7, \
                               10 or 14 days for a move, like 2d";
                return bad(TIME_CONTROLS, &format!("{text:?}"), allowed.to_owned());
            }
        }
        let Self { min_rating, max_rating, .. } = self;
        if *max_rating > 0 && min_rating > max_rating {
            let allowed = format!("at most `matchmaking.max_rating`, which is {max_rating}");
            return bad("matchmaking.min_rating", min_rating, allowed);
        }
        let (least, most) = (self.min_rating_difference, self.max_rating_difference);
        if most > 0 && least > most {
            let allowed = format!("at most `matchmaking.max_rating_difference`, which is {most}");
            return bad("matchmaking.min_rating_difference", &least, allowed);
        }
        Ok(())
    }

    pub(super) fn options(&self) -> MatchmakingOptions {
        let unless_zero = |number: u32| Some(number).filter(|&number| number > 0);
        let clocks = self.time_controls.iter();
        MatchmakingOptions {
            enabled: self.enabled,
            time_controls: clocks.filter_map(|text| parse_weighted_clock(text)).collect(),
            mode: self.mode,
            min_rating: unless_zero(self.min_rating),
            max_rating: unless_zero(self.max_rating),
            min_rating_difference: unless_zero(self.min_rating_difference),
            max_rating_difference: unless_zero(self.max_rating_difference),
            preference: self.preference,
            min_games: self.min_games,
            block: self.block.iter().collect(),
            only: self.only.iter().collect(),
            games: self.games,
            correspondence_games: self.correspondence_games,
            during_games: self.during_games,
            pause: Duration::from_secs(self.pause_s),
            answer_limit: Duration::from_secs(self.answer_limit_s),
            again_after: Duration::from_secs(self.again_after_s),
        }
    }
}

/// A clock such as `3+2`, or days such as `2d`, which are never rated; with a weight `3+2*5`, with a mode
/// `3+2*5 rated`, and with the opponent's ratings `3+2*5 rated 1800-2400`.
pub(in crate::settings) fn parse_weighted_clock(text: &str) -> Option<WeightedClock> {
    let window = |word: &str| {
        let (least, most) = word.split_once('-')?;
        let window: (u32, u32) = (least.parse().ok()?, most.parse().ok()?);
        (window.0 <= window.1 && window.1 <= MOST_RATING).then_some(window)
    };
    let with_ratings = text
        .trim_end()
        .rsplit_once(' ')
        .and_then(|(rest, last)| window(last).map(|ratings| (rest, Some(ratings))));
    let (text, ratings) = with_ratings.unwrap_or((text, None));
    let modes = [("rated", Mode::Rated), ("casual", Mode::Casual), ("both", Mode::Both)];
    let with_mode = modes.into_iter().find_map(|(word, mode)| {
        let rest = text.trim_end().strip_suffix(word)?;
        rest.ends_with(' ').then_some((rest, Some(mode)))
    });
    let (text, mode) = with_mode.unwrap_or((text, None));
    let (clock, weight) = match text.split_once('*') {
        None => (text, 1),
        Some((clock, weight)) => (clock, weight.trim().parse().ok()?),
    };
    let time = match clock.trim().strip_suffix('d') {
        Some(days) => ChallengeTime::Days(days.parse().ok()?),
        None => parse_clock(clock)?.into(),
    };
    let is_possible = (1..=1_000).contains(&weight)
        && !(time.is_correspondence() && mode.is_some_and(|mode| mode != Mode::Casual));
    Some(WeightedClock { time, weight, mode, ratings }).filter(|_| is_possible)
}

/// Whether the server takes a bot's challenge with this clock, or with so many days.
fn can_be_challenged_for(time: ChallengeTime) -> bool {
    let clock = match time {
        ChallengeTime::Clock(clock) => clock,
        ChallengeTime::Days(days) => return matches!(days, 1 | 2 | 3 | 5 | 7 | 10 | 14),
    };
    let ChallengeClock { initial_s, increment_s } = clock;
    let is_offered = matches!(initial_s, 15 | 30 | 45 | 90) || initial_s.is_multiple_of(60);
    is_offered && increment_s <= MOST_INCREMENT_S && clock.speed() != Speed::UltraBullet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_may_have_a_weight_a_mode_and_a_window_of_ratings() {
        let with_mode = |initial_s, increment_s, weight, mode| {
            let clock = ChallengeClock { initial_s, increment_s };
            Some(WeightedClock { weight, mode, ..WeightedClock::of(clock) })
        };
        let with_ratings = |mode, ratings| {
            let clock = ChallengeClock { initial_s: 180, increment_s: 2 };
            Some(WeightedClock { mode, ratings: Some(ratings), ..WeightedClock::of(clock) })
        };
        let clock =
            |initial_s, increment_s, weight| with_mode(initial_s, increment_s, weight, None);
        for (text, expected) in [
            ("3+2", clock(180, 2, 1)),
            ("0.5+1 * 10", clock(30, 1, 10)),
            ("3+2 rated", with_mode(180, 2, 1, Some(Mode::Rated))),
            ("3+2*5  casual ", with_mode(180, 2, 5, Some(Mode::Casual))),
            ("3+2 both", with_mode(180, 2, 1, Some(Mode::Both))),
            ("3+2 1800-2400", with_ratings(None, (1_800, 2_400))),
            ("3+2 rated 0-4000 ", with_ratings(Some(Mode::Rated), (0, 4_000))),
            ("2d", Some(WeightedClock::of(ChallengeTime::Days(2)))),
            (
                " 14d*3 casual 0-2000",
                Some(WeightedClock {
                    weight: 3,
                    mode: Some(Mode::Casual),
                    ratings: Some((0, 2_000)),
                    ..WeightedClock::of(ChallengeTime::Days(14))
                }),
            ),
            ("2d rated", None),
            ("2d both", None),
            ("2 d", None),
            ("-2d", None),
            ("d", None),
            ("3+2 2400-1800", None),
            ("3+2 1800-4001", None),
            ("3+2 1800-", None),
            ("3+2 1800-2400 rated", None),
            ("3+2rated", None),
            ("3+2 rated*5", None),
            ("rated", None),
            ("3+2 fast", None),
            ("3+2*0", None),
            ("3+2*1001", None),
            ("3+2*", None),
            ("3*2", None),
            ("3+2*1*1", None),
        ] {
            assert_eq!(parse_weighted_clock(text), expected, "{text}");
        }
    }

    #[test]
    fn only_clocks_that_the_server_takes_can_be_challenged_for() {
        let can = |initial_s, increment_s| {
            can_be_challenged_for(ChallengeClock { initial_s, increment_s }.into())
        };
        assert!(can(30, 0) && can(0, 1) && can(90, 0) && can(180, 2) && can(10_800, 60));
        assert!(!can(15, 0) && !can(0, 0) && !can(100, 0) && !can(180, 61));
        let days = |days| can_be_challenged_for(ChallengeTime::Days(days));
        assert!(days(1) && days(14) && !days(0) && !days(4) && !days(15));
    }
}
