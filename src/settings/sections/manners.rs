//! `[game.human]` and `[game.bot]`: how one kind of opponent is met, besides the moves.

use std::time::Duration;

use serde::Deserialize;

use crate::{
    game::{DrawOptions, Manners, Occasion, ResignOptions, TakebackOptions},
    settings::schema::{Key, Kind, key, number},
};

macro_rules! keys {
    ($name:literal) => {
        &[
            key(concat!($name, ".accept_draws"), Kind::Switch),
            key(concat!($name, ".accept_at_most_cp"), number(-30_000, 30_000)),
            key(concat!($name, ".accept_after_moves"), number(1, 1_000)),
            key(concat!($name, ".offer_draws"), Kind::Switch),
            key(concat!($name, ".offer_within_cp"), number(0, 30_000)),
            key(concat!($name, ".offer_after_moves"), number(1, 1_000)),
            key(concat!($name, ".draw_from_move"), number(1, 1_000)),
            key(concat!($name, ".draw_max_men"), number(2, 32)),
            key(concat!($name, ".draw_min_rating"), number(0, 4_000)),
            key(concat!($name, ".resign"), Kind::Switch),
            key(concat!($name, ".resign_at_most_cp"), number(-30_000, 0)),
            key(concat!($name, ".resign_after_moves"), number(1, 1_000)),
            key(concat!($name, ".resign_from_move"), number(1, 1_000)),
            key(concat!($name, ".resign_max_men"), number(2, 32)),
            key(concat!($name, ".resign_min_rating"), number(0, 4_000)),
            key(concat!($name, ".hope_for_flag_s"), number(0, 3_600)),
            key(concat!($name, ".takebacks"), number(0, 1_000)),
            key(concat!($name, ".takebacks_in_rated_games"), Kind::Switch),
        ]
    };
}

pub(super) const HUMAN: &[Key] = keys!("game.human");
pub(super) const BOT: &[Key] = keys!("game.bot");

#[derive(Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own for the operator")]
pub(super) struct RawManners {
    accept_draws: bool,
    accept_at_most_cp: i32,
    accept_after_moves: u32,
    offer_draws: bool,
    offer_within_cp: i32,
    offer_after_moves: u32,
    draw_from_move: usize,
    draw_max_men: usize,
    draw_min_rating: u32,
    resign: bool,
    resign_at_most_cp: i32,
    resign_after_moves: u32,
    resign_from_move: usize,
    resign_max_men: usize,
    resign_min_rating: u32,
    hope_for_flag_s: u64,
    takebacks: u32,
    takebacks_in_rated_games: bool,
}

impl RawManners {
    pub(super) fn manners(&self) -> Manners {
        let occasion = |from_move, max_men, rating| Occasion {
            from_move,
            max_men,
            min_rating: Some(rating).filter(|&rating| rating > 0),
        };
        Manners {
            draw: DrawOptions {
                accept: self.accept_draws,
                accept_at_most_cp: self.accept_at_most_cp,
                accept_after_moves: self.accept_after_moves,
                offer: self.offer_draws,
                offer_within_cp: self.offer_within_cp,
                offer_after_moves: self.offer_after_moves,
                when: occasion(self.draw_from_move, self.draw_max_men, self.draw_min_rating),
            },
            resign: ResignOptions {
                enabled: self.resign,
                at_most_cp: self.resign_at_most_cp,
                after_moves: self.resign_after_moves,
                when: occasion(self.resign_from_move, self.resign_max_men, self.resign_min_rating),
            },
            takeback: TakebackOptions {
                most: self.takebacks,
                in_rated_games: self.takebacks_in_rated_games,
            },
            hope_for_flag: Some(self.hope_for_flag_s)
                .filter(|&seconds| seconds > 0)
                .map(Duration::from_secs),
        }
    }
}
