//! How to reach a FICS server, and as whom.

use std::{path::PathBuf, time::Duration};

use secrecy::SecretString;

use crate::platform::fics::{adapter::Agreements, login::GUEST, timeseal};

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
    /// What we agree to in a game that has begun.
    pub agrees: Agreements,
    /// Who has set up the bot, for its notes.
    pub operator: String,
    /// Whether private words are answered with a short help.
    pub help: bool,
    /// The first and the longest wait before a try to connect again.
    pub waits: (Duration, Duration),
    /// So long at least we stay away after somebody else has logged in as us.
    pub stay_away: Duration,
    /// The file that gets every byte of the connection, in both directions, without the password.
    pub raw_log: Option<PathBuf>,
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
            agrees: Agreements::default(),
            operator: String::new(),
            help: true,
            waits: (Duration::from_secs(1), Duration::from_mins(5)),
            stay_away: Duration::from_mins(15),
            raw_log: None,
        }
    }
}

impl Options {
    /// Host and port.
    pub fn address(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}
