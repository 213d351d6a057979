//! `[log]`: what is logged, and how.

use std::{path::PathBuf, time::Duration};

use serde::Deserialize;

use crate::settings::{
    LogFormat, LogOptions,
    schema::{Key, Kind, key, number},
};

const LEVELS: &[&str] = &["off", "error", "warn", "info", "debug", "trace"];

pub(super) const KEYS: &[Key] = &[
    key("log.level", Kind::Word(LEVELS)),
    key("log.filter", Kind::Filter),
    key("log.format", Kind::Word(&["human", "json"])),
    key("log.folder", Kind::Text),
    key("log.keep_days", number(1, 1_000)),
    key("log.summary_interval_s", number(1, 86_400)),
];

#[derive(Deserialize)]
pub(super) struct RawLog {
    level: String,
    filter: String,
    format: LogFormat,
    folder: PathBuf,
    keep_days: usize,
    summary_interval_s: u64,
}

impl RawLog {
    pub(super) fn options(&self, journal: Option<(u64, u64)>) -> LogOptions {
        let Self { level, filter, format, folder, keep_days, .. } = self;
        let others = match level.as_str() {
            "off" | "error" => level.as_str(),
            // The libraries below have much to say that no operator asked for.
            _ => "warn",
        };
        let mut directives = format!("{others},meitner={level}");
        for directive in filter.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            directives.push(',');
            directives.push_str(directive);
        }
        LogOptions {
            directives,
            format: *format,
            journal,
            folder: Some(folder.clone()).filter(|folder| !folder.as_os_str().is_empty()),
            keep_days: *keep_days,
        }
    }

    pub(super) fn summary_interval(&self) -> Duration {
        Duration::from_secs(self.summary_interval_s)
    }
}
