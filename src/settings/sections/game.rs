//! `[game]`: how a game is played besides its moves.

use std::time::Duration;

use serde::Deserialize;

use crate::{
    game::{self, DrawOptions, ResignOptions},
    settings::{
        schema::{Key, Kind, key, number},
        sections::{chat::RawChat, search::RawSearch},
    },
};

pub(super) const KEYS: &[Key] = &[
    key("game.first_move_patience_s", number(5, 3_600)),
    key("game.greeting", Kind::Chat),
    key("game.goodbye", Kind::Chat),
    key("game.draw_accept", Kind::Switch),
    key("game.draw_accept_at_most_cp", number(-30_000, 30_000)),
    key("game.draw_offer", Kind::Switch),
    key("game.draw_offer_within_cp", number(0, 30_000)),
    key("game.draw_offer_after_moves", number(1, 1_000)),
    key("game.draw_from_ply", number(0, 1_000)),
    key("game.resign", Kind::Switch),
    key("game.resign_below_cp", number(-30_000, 0)),
    key("game.resign_after_moves", number(1, 1_000)),
];

#[derive(Deserialize)]
pub(super) struct RawGame {
    first_move_patience_s: u64,
    pub(super) greeting: String,
    pub(super) goodbye: String,
    draw_accept: bool,
    draw_accept_at_most_cp: i32,
    draw_offer: bool,
    draw_offer_within_cp: i32,
    draw_offer_after_moves: u32,
    draw_from_ply: usize,
    resign: bool,
    resign_below_cp: i32,
    resign_after_moves: u32,
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
            abort_patience: Duration::from_secs(self.first_move_patience_s),
            chat: chat.options(self),
            draw: DrawOptions {
                accept: self.draw_accept,
                accept_at_most_cp: self.draw_accept_at_most_cp,
                offer: self.draw_offer,
                offer_within_cp: self.draw_offer_within_cp,
                offer_after_moves: self.draw_offer_after_moves,
                from_ply: self.draw_from_ply,
            },
            resign: ResignOptions {
                enabled: self.resign,
                below_cp: self.resign_below_cp,
                after_moves: self.resign_after_moves,
            },
        }
    }
}
