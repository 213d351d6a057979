//! `[tournament]`: which tournaments the bot plays in.

use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

use crate::{
    daemon::{Berserk, Password, TournamentOptions},
    settings::schema::{Key, Kind, key, number},
};

pub(super) const KEYS: &[Key] = &[
    key("tournament.ids", Kind::Tournaments),
    key("tournament.teams", Kind::Teams),
    key("tournament.password", Kind::Secret),
    key("tournament.berserk", Kind::Word(&["never", "weaker", "always"])),
    key("tournament.berserk_lead", number(0, 4_000)),
    key("tournament.look_s", number(10, 86_400)),
];

#[derive(Deserialize)]
pub(super) struct RawTournament {
    ids: Vec<String>,
    teams: Vec<String>,
    password: SecretString,
    berserk: Berserk,
    berserk_lead: u32,
    look_s: u64,
}

impl RawTournament {
    pub(super) fn options(&self) -> TournamentOptions {
        let has_password = !self.password.expose_secret().is_empty();
        TournamentOptions {
            ids: self.ids.iter().filter_map(|id| id.trim().parse().ok()).collect(),
            teams: self.teams.iter().map(|team| team.trim().to_ascii_lowercase()).collect(),
            password: has_password.then(|| Password(self.password.clone())),
            berserk: self.berserk,
            berserk_lead: self.berserk_lead,
            look_interval: Duration::from_secs(self.look_s),
        }
    }
}

/// Whether a text can be the id of a team, as in the address of its page.
pub(in crate::settings) fn is_team(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let text = text.trim();
    !text.is_empty() && text.len() <= 100 && text.chars().all(is_plain)
}
