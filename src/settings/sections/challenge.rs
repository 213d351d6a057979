//! `[challenge]`: which challenges are accepted, and how many games run at once.

use serde::Deserialize;

use crate::{
    daemon::PolicyOptions,
    platform::Speed,
    settings::{
        error::{SettingsError, Source},
        schema::{Key, Kind, key, number},
    },
};

const SPEEDS: &[&str] = &["bullet", "blitz", "rapid", "classical", "correspondence"];

pub(super) const KEYS: &[Key] = &[
    key("challenge.concurrency", number(1, 64)),
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
];

#[derive(Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own for the operator")]
pub(super) struct RawChallenge {
    pub(super) concurrency: usize,
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
}

impl RawChallenge {
    /// Checks what no key can tell alone. `source` knows who has set a key.
    pub(super) fn check(&self, source: impl Fn(&str) -> Source) -> Result<(), SettingsError> {
        let bad = |key, found: &dyn std::fmt::Display, allowed: String| {
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
        Ok(())
    }

    pub(super) fn policy(&self) -> PolicyOptions {
        PolicyOptions {
            speeds: self.speeds.clone(),
            rated: self.rated,
            casual: self.casual,
            bots: self.bots,
            humans: self.humans,
            min_initial_s: self.min_initial_s,
            max_initial_s: self.max_initial_s,
            min_increment_s: self.min_increment_s,
            max_increment_s: self.max_increment_s,
            block: self.block.clone(),
        }
    }
}
