//! `[metrics]`: whether and where figures and health are told.

use std::net::SocketAddr;

use serde::Deserialize;

use crate::{
    settings::{
        error::{SettingsError, Source},
        schema::{Key, Kind, key},
    },
    web,
};

const LISTEN: &str = "metrics.listen";

pub(super) const KEYS: &[Key] =
    &[key(LISTEN, Kind::Listen), key("metrics.allow_remote", Kind::Switch)];

#[derive(Deserialize)]
pub(super) struct RawMetrics {
    listen: String,
    allow_remote: bool,
}

impl RawMetrics {
    /// Whoever reaches the port can read it: that must be wanted.
    pub(super) fn check(&self, source: impl Fn(&str) -> Source) -> Result<(), SettingsError> {
        let is_remote = self.listen().is_some_and(|address| !address.ip().is_loopback());
        if is_remote && !self.allow_remote {
            return Err(SettingsError::BadValue {
                source_of: source(LISTEN),
                key: LISTEN,
                found: format!("{:?}", self.listen),
                allowed: "an address of this machine alone, like 127.0.0.1:9464, unless \
                          `metrics.allow_remote` is true, since everybody who reaches another one \
                          can read the metrics"
                    .to_owned(),
            });
        }
        Ok(())
    }

    pub(super) fn options(&self) -> web::Options {
        web::Options { listen: self.listen() }
    }

    fn listen(&self) -> Option<SocketAddr> {
        self.listen.trim().parse().ok()
    }
}

/// Whether a text is an address with a port, or nothing.
pub(in crate::settings) fn is_listen(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || text.parse::<SocketAddr>().is_ok()
}
