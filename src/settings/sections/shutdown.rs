//! `[shutdown]`: what becomes of running games at the end.

use std::time::Duration;

use serde::Deserialize;

use crate::{
    daemon::{ShutdownOptions, Unfinished},
    settings::schema::{Key, Kind, key, number},
};

pub(super) const KEYS: &[Key] = &[
    key("shutdown.finish_limit_s", number(0, 86_400)),
    key("shutdown.unfinished", Kind::Word(&["resign", "leave"])),
];

#[derive(Deserialize)]
pub(super) struct RawShutdown {
    finish_limit_s: u64,
    unfinished: Unfinished,
}

impl RawShutdown {
    pub(super) fn options(&self) -> ShutdownOptions {
        ShutdownOptions {
            finish_limit: Duration::from_secs(self.finish_limit_s),
            unfinished: self.unfinished,
        }
    }
}
