//! `[game]`: how a game is played besides its moves.

use std::time::Duration;

use serde::Deserialize;

use crate::{
    game,
    settings::{
        schema::{Key, Kind, key, number},
        sections::{chat::RawChat, manners::RawManners, search::RawSearch},
    },
};

pub(super) const KEYS: &[Key] = &[
    key("game.first_move_patience_s", number(5, 3_600)),
    key("game.fake_think_time", Kind::Switch),
];

#[derive(Deserialize)]
pub(super) struct RawGame {
    first_move_patience_s: u64,
    fake_think_time: bool,
    human: RawManners,
    bot: RawManners,
}

impl RawGame {
    /// What one game needs to know; `[search]` and `[chat]` have their part in it.
    pub(super) fn options(&self, search: &RawSearch, chat: &RawChat) -> game::Options {
        game::Options {
            nodes: search.nodes(),
            move_overhead: search.move_overhead(),
            first_move_time: search.first_move_time(),
            untimed_move_time: search.untimed_move_time(),
            ponder: search.ponder,
            fake_think_time: self.fake_think_time,
            abort_patience: Duration::from_secs(self.first_move_patience_s),
            chat: chat.options(),
            humans: self.human.manners(),
            bots: self.bot.manners(),
        }
    }
}
