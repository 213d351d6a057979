//! `[challenge]`: which challenges are accepted, in which order, and how many games run at once.
//!
//! What the section itself asks is asked of everybody; its tables `human` and `bot` ask more of one
//! kind of opponent.

use std::{collections::BTreeMap, fmt::Display, path::PathBuf, time::Duration};

use serde::Deserialize;

use crate::{
    daemon::{
        BudgetOptions, Criteria, Order, PolicyOptions, Preference, QueueOptions,
        lists::ListOptions, policy::Names,
    },
    platform::{ChallengeClock, Speed},
    settings::{
        error::{SettingsError, Source},
        schema::{Key, Kind, key, number},
        sections::kinds::RawKind,
    },
};

pub(super) const SPEEDS: &[&str] = &["bullet", "blitz", "rapid", "classical", "correspondence"];

pub(super) const KEYS: &[Key] = &[
    key("challenge.concurrency", number(1, 64)),
    key("challenge.correspondence_games", number(1, 40)),
    key("challenge.speeds", Kind::Words(SPEEDS)),
    key("challenge.rated", Kind::Switch),
    key("challenge.casual", Kind::Switch),
    key("challenge.bots", Kind::Switch),
    key("challenge.humans", Kind::Switch),
    key("challenge.min_initial_s", number(0, 10_800)),
    key("challenge.max_initial_s", number(0, 10_800)),
    key("challenge.min_increment_s", number(0, 180)),
    key("challenge.max_increment_s", number(0, 180)),
    key("challenge.block", Kind::Names),
    key("challenge.block_files", Kind::Files),
    key("challenge.block_urls", Kind::Addresses),
    key("challenge.always", Kind::Names),
    key("challenge.always_files", Kind::Files),
    key("challenge.always_urls", Kind::Addresses),
    key("challenge.only", Kind::Names),
    key("challenge.only_files", Kind::Files),
    key("challenge.only_urls", Kind::Addresses),
    key("challenge.reread_urls_s", number(60, 604_800)),
    key("challenge.recent_hours", number(1, 168)),
    key("challenge.order", Kind::Word(&["first", "best"])),
    key("challenge.preference", Kind::Word(&["none", "humans", "bots"])),
    key("challenge.reserved_for_humans", number(0, 64)),
    key("challenge.bot_games_per_day", number(0, 100_000)),
    key("challenge.spread_bot_games", Kind::Switch),
];

#[derive(Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own for the operator")]
pub(super) struct RawChallenge {
    pub(super) concurrency: usize,
    pub(super) correspondence_games: usize,
    speeds: Vec<Speed>,
    rated: bool,
    casual: bool,
    bots: bool,
    humans: bool,
    min_initial_s: u32,
    max_initial_s: u32,
    min_increment_s: u32,
    max_increment_s: u32,
    block: Vec<String>,
    block_files: Vec<PathBuf>,
    block_urls: Vec<String>,
    always: Vec<String>,
    always_files: Vec<PathBuf>,
    always_urls: Vec<String>,
    only: Vec<String>,
    only_files: Vec<PathBuf>,
    only_urls: Vec<String>,
    reread_urls_s: u64,
    recent_hours: u64,
    order: Order,
    preference: Preference,
    reserved_for_humans: usize,
    bot_games_per_day: u32,
    spread_bot_games: bool,
    human: RawKind,
    bot: RawKind,
}

/// What the list files of the section hold, by key.
pub(super) type Lists = BTreeMap<&'static str, Names>;

impl RawChallenge {
    /// Checks what no key can tell alone. `source` knows who has set a key.
    pub(super) fn check(&self, source: impl Fn(&str) -> Source) -> Result<(), SettingsError> {
        let bad = |key, found: &dyn Display, allowed: String| {
            let found = found.to_string();
            Err(SettingsError::BadValue { source_of: source(key), key, found, allowed })
        };
        let Self { min_initial_s, max_initial_s, .. } = self;
        if min_initial_s > max_initial_s {
            let allowed = format!("at most `challenge.max_initial_s`, which is {max_initial_s}");
            return bad("challenge.min_initial_s", &min_initial_s, allowed);
        }
        let Self { min_increment_s, max_increment_s, .. } = self;
        if min_increment_s > max_increment_s {
            let allowed =
                format!("at most `challenge.max_increment_s`, which is {max_increment_s}");
            return bad("challenge.min_increment_s", &min_increment_s, allowed);
        }
        let Self { rated, casual, bots, humans, .. } = self;
        if !rated && !casual {
            let allowed = "true if `challenge.rated` is false".to_owned();
            return bad("challenge.casual", &casual, allowed);
        }
        if !bots && !humans {
            let allowed = "true if `challenge.bots` is false".to_owned();
            return bad("challenge.humans", &humans, allowed);
        }
        self.human.check(&super::kinds::HUMAN, &source)?;
        self.bot.check(&super::kinds::BOT, &source)
    }

    /// Reads the files of names.
    pub(super) fn read_lists(&self) -> Result<Lists, SettingsError> {
        let files = [
            ("challenge.block_files", &self.block_files),
            ("challenge.always_files", &self.always_files),
            ("challenge.only_files", &self.only_files),
        ];
        let mut lists = Lists::new();
        for (key, paths) in files {
            let names = lists.entry(key).or_default();
            for path in paths {
                let bad = |cause: String| SettingsError::BadList { path: path.clone(), key, cause };
                let text = std::fs::read_to_string(path).map_err(|error| bad(error.to_string()))?;
                names.extend(Names::parse(&text).map_err(|error| bad(error.to_string()))?);
            }
        }
        Ok(lists)
    }

    /// What this section says about the games that are played.
    pub(super) fn policy(&self, lists: &Lists) -> PolicyOptions {
        let names = |listed: &[String], key| {
            let mut names: Names = listed.iter().collect();
            names.extend(lists.get(key).cloned().unwrap_or_default());
            names
        };
        PolicyOptions {
            humans: self.narrow(Criteria { accepted: self.humans, ..self.human.criteria() }),
            bots: self.narrow(Criteria { accepted: self.bots, ..self.bot.criteria() }),
            only: names(&self.only, "challenge.only_files"),
            always: names(&self.always, "challenge.always_files"),
            block: names(&self.block, "challenge.block_files"),
            lists: ListOptions {
                block: self.block_urls.clone(),
                always: self.always_urls.clone(),
                only: self.only_urls.clone(),
                reread: Duration::from_secs(self.reread_urls_s),
            },
            recent_window: Duration::from_hours(self.recent_hours),
            queue: QueueOptions {
                order: self.order,
                preference: self.preference,
                reserved_for_humans: self.reserved_for_humans,
            },
            budget: BudgetOptions {
                per_day: Some(self.bot_games_per_day).filter(|&games| games > 0),
                spread: self.spread_bot_games,
            },
            ..PolicyOptions::default()
        }
    }

    /// What is asked of one kind, and of everybody.
    fn narrow(&self, criteria: Criteria) -> Criteria {
        let of_all =
            (self.min_initial_s..=self.max_initial_s, self.min_increment_s..=self.max_increment_s);
        let both = |a: &std::ops::RangeInclusive<u32>, b: &std::ops::RangeInclusive<u32>| {
            *a.start().max(b.start())..=*a.end().min(b.end())
        };
        let wanted = |speed: &&Speed| criteria.speeds.contains(speed);
        Criteria {
            speeds: self.speeds.iter().filter(wanted).copied().collect(),
            initial_s: both(&of_all.0, &criteria.initial_s),
            increment_s: both(&of_all.1, &criteria.increment_s),
            rated: self.rated && criteria.rated,
            casual: self.casual && criteria.casual,
            ..criteria
        }
    }
}

/// A clock such as `3+2`: minutes and seconds, as players write it. Minutes can be fractions: `0.5+1`.
pub(in crate::settings) fn parse_clock(text: &str) -> Option<ChallengeClock> {
    let (minutes, increment) = text.trim().split_once('+')?;
    let minutes: f64 = minutes.trim().parse().ok()?;
    let seconds = minutes * 60.0;
    if !(0.0..=10_800.0).contains(&seconds) || seconds.fract() != 0.0 {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number from 0 to 10800"
    )]
    let initial_s = seconds as u32;
    let increment_s = increment.trim().parse().ok().filter(|&seconds| seconds <= 180)?;
    Some(ChallengeClock { initial_s, increment_s })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_written_in_minutes_and_seconds() {
        let clock = |initial_s, increment_s| Some(ChallengeClock { initial_s, increment_s });
        for (text, expected) in [
            ("3+2", clock(180, 2)),
            (" 0.5 + 1", clock(30, 1)),
            ("0.25+0", clock(15, 0)),
            ("180+180", clock(10_800, 180)),
            ("181+0", None),
            ("3+181", None),
            ("0.001+0", None),
            ("-1+0", None),
            ("nan+0", None),
            ("3", None),
            ("3+", None),
            ("3+2.5", None),
        ] {
            assert_eq!(parse_clock(text), expected, "{text}");
        }
    }
}
