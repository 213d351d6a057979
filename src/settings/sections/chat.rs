//! `[chat]`: what the bot writes besides the greeting and the goodbye, which are under `[game]`.

use serde::Deserialize;

use crate::{
    game::ChatOptions,
    settings::{schema::Key, sections::game::RawGame},
};

pub(super) const KEYS: &[Key] = &[];

/// May be left out as long as it has no keys.
#[derive(Default, Deserialize)]
pub(super) struct RawChat {}

impl RawChat {
    pub(super) fn options(&self, game: &RawGame) -> ChatOptions {
        let Self {} = self;
        ChatOptions { greeting: game.greeting.clone(), goodbye: game.goodbye.clone() }
    }
}
