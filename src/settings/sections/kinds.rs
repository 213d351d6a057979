//! `[challenge.human]` and `[challenge.bot]`: what is asked of one kind of opponent.

use std::{fmt::Display, time::Duration};

use serde::Deserialize;

use crate::{
    daemon::Criteria,
    platform::Speed,
    settings::{
        error::{SettingsError, Source},
        schema::{Key, Kind, key, number},
        sections::challenge::{SPEEDS, parse_clock},
    },
};

const DAY: Duration = Duration::from_hours(24);

/// The keys of one table, and those of them that errors name.
pub(super) struct Table {
    pub(super) keys: [Key; 22],
    min_initial: &'static str,
    max_initial: &'static str,
    min_increment: &'static str,
    max_increment: &'static str,
    min_days: &'static str,
    max_days: &'static str,
    min_rating: &'static str,
    max_rating: &'static str,
    rated: &'static str,
    casual: &'static str,
}

macro_rules! table {
    ($name:literal) => {
        Table {
            keys: [
                key(concat!($name, ".speeds"), Kind::Words(SPEEDS)),
                key(concat!($name, ".time_controls"), Kind::Clocks),
                key(concat!($name, ".min_initial_s"), number(0, 10_800)),
                key(concat!($name, ".max_initial_s"), number(0, 10_800)),
                key(concat!($name, ".min_increment_s"), number(0, 180)),
                key(concat!($name, ".max_increment_s"), number(0, 180)),
                key(concat!($name, ".min_days"), number(1, 14)),
                key(concat!($name, ".max_days"), number(1, 14)),
                key(concat!($name, ".unlimited"), Kind::Switch),
                key(concat!($name, ".max_length_s"), number(0, 18_000)),
                key(concat!($name, ".bullet_needs_increment"), Kind::Switch),
                key(concat!($name, ".rated"), Kind::Switch),
                key(concat!($name, ".casual"), Kind::Switch),
                key(concat!($name, ".min_rating"), number(0, 4_000)),
                key(concat!($name, ".max_rating"), number(0, 4_000)),
                key(concat!($name, ".max_rating_difference"), number(0, 4_000)),
                key(concat!($name, ".provisional"), Kind::Switch),
                key(concat!($name, ".max_games_per_user"), number(0, 64)),
                key(concat!($name, ".max_recent_per_user"), number(0, 1_000)),
                key(concat!($name, ".min_account_days"), number(0, 36_500)),
                key(concat!($name, ".min_account_games"), number(0, 1_000_000)),
                key(concat!($name, ".marked"), Kind::Switch),
            ],
            min_initial: concat!($name, ".min_initial_s"),
            max_initial: concat!($name, ".max_initial_s"),
            min_increment: concat!($name, ".min_increment_s"),
            max_increment: concat!($name, ".max_increment_s"),
            min_days: concat!($name, ".min_days"),
            max_days: concat!($name, ".max_days"),
            min_rating: concat!($name, ".min_rating"),
            max_rating: concat!($name, ".max_rating"),
            rated: concat!($name, ".rated"),
            casual: concat!($name, ".casual"),
        }
    };
}

pub(super) static HUMAN: Table = table!("challenge.human");
pub(super) static BOT: Table = table!("challenge.bot");

#[derive(Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own for the operator")]
pub(super) struct RawKind {
    speeds: Vec<Speed>,
    time_controls: Vec<String>,
    min_initial_s: u32,
    max_initial_s: u32,
    min_increment_s: u32,
    max_increment_s: u32,
    min_days: u32,
    max_days: u32,
    unlimited: bool,
    max_length_s: u32,
    bullet_needs_increment: bool,
    rated: bool,
    casual: bool,
    min_rating: u32,
    max_rating: u32,
    max_rating_difference: u32,
    provisional: bool,
    max_games_per_user: u32,
    max_recent_per_user: u32,
    min_account_days: u32,
    min_account_games: u32,
    marked: bool,
}

impl RawKind {
    /// Checks what no key can tell alone. `source` knows who has set a key.
    pub(super) fn check(
        &self,
        table: &Table,
        source: impl Fn(&str) -> Source,
    ) -> Result<(), SettingsError> {
        let bad = |key, found: &dyn Display, allowed: String| {
            let found = found.to_string();
            Err(SettingsError::BadValue { source_of: source(key), key, found, allowed })
        };
        let most_rating = if self.max_rating == 0 { u32::MAX } else { self.max_rating };
        for (min_key, min, max_key, max) in [
            (table.min_initial, self.min_initial_s, table.max_initial, self.max_initial_s),
            (table.min_increment, self.min_increment_s, table.max_increment, self.max_increment_s),
            (table.min_days, self.min_days, table.max_days, self.max_days),
            (table.min_rating, self.min_rating, table.max_rating, most_rating),
        ] {
            if min > max {
                return bad(min_key, &min, format!("at most `{max_key}`, which is {max}"));
            }
        }
        if !self.rated && !self.casual {
            let allowed = format!("true if `{}` is false", table.rated);
            return bad(table.casual, &self.casual, allowed);
        }
        Ok(())
    }

    /// What this table alone asks; 0 asks nothing.
    pub(super) fn criteria(&self) -> Criteria {
        let unless_zero = |number: u32| Some(number).filter(|&number| number > 0);
        Criteria {
            accepted: true,
            speeds: self.speeds.clone(),
            time_controls: self.time_controls.iter().filter_map(|text| parse_clock(text)).collect(),
            initial_s: self.min_initial_s..=self.max_initial_s,
            increment_s: self.min_increment_s..=self.max_increment_s,
            days: self.min_days..=self.max_days,
            unlimited: self.unlimited,
            max_length_s: unless_zero(self.max_length_s),
            bullet_needs_increment: self.bullet_needs_increment,
            rated: self.rated,
            casual: self.casual,
            min_rating: unless_zero(self.min_rating),
            max_rating: unless_zero(self.max_rating),
            max_rating_difference: unless_zero(self.max_rating_difference),
            provisional: self.provisional,
            max_games_per_user: unless_zero(self.max_games_per_user),
            max_recent_per_user: unless_zero(self.max_recent_per_user),
            min_account_age: unless_zero(self.min_account_days).map(|days| DAY * days),
            min_account_games: unless_zero(self.min_account_games),
            marked: self.marked,
        }
    }
}
