//! How to reach a FICS server, and as whom.

use std::time::Duration;

use secrecy::SecretString;

use crate::platform::fics::{login::GUEST, timeseal};

/// How to reach a server, and as whom.
#[derive(Clone, Debug)]
pub struct Options {
    /// The server.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The name to log in as, or `guest`.
    pub account: String,
    /// Its password; empty for guests.
    pub password: SecretString,
    /// Whether lines are stamped, and in which form.
    pub timeseal: Option<timeseal::Version>,
    /// Limit for setting up a connection.
    pub connect_timeout: Duration,
    /// After so long without a line of ours the server is sent one that does nothing.
    pub keep_alive: Duration,
    /// What others are looked for with, such as `3 0 unrated`; nothing if empty.
    pub seek: String,
    /// Who has set up the bot, for its notes.
    pub operator: String,
    /// Whether private words are answered with a short help.
    pub help: bool,
    /// The first and the longest wait before a try to connect again.
    pub waits: (Duration, Duration),
}

impl Default for Options {
    fn default() -> Self {
        Self {
            host: "freechess.org".to_owned(),
            port: 5000,
            account: GUEST.to_owned(),
            password: SecretString::default(),
            timeseal: None,
            connect_timeout: Duration::from_secs(10),
            keep_alive: Duration::from_mins(2),
            seek: String::new(),
            operator: String::new(),
            help: true,
            waits: (Duration::from_secs(1), Duration::from_mins(5)),
        }
    }
}

impl Options {
    /// Host and port.
    pub fn address(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}
