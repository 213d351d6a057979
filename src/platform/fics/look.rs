//! A look at the server as a guest, which disturbs nobody.

use std::time::{Duration, Instant};

use secrecy::SecretString;
use tokio::time::timeout;
use tracing::debug;

use crate::platform::fics::{LinkError, Options, link::Link, login::GUEST, wire::Frame};

/// How long the server may take to tell.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// Whether somebody is logged in under the name of these options. `None` if that cannot be learned: no
/// guests are let in, or the answer is not understood.
pub async fn is_online(options: &Options) -> Option<bool> {
    match timeout(ANSWER_LIMIT, ask(options)).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => {
            debug!(%error, "no look at the server as a guest");
            None
        }
        Err(_) => None,
    }
}

/// Why the password of these options is not tried, given what [`is_online`] has told: the server would
/// throw out whoever is logged in under the name. `None` if it can be tried.
pub fn why_not_tried(account: &str, is_online: Option<bool>) -> Option<String> {
    let reason = match is_online {
        Some(false) => return None,
        Some(true) => format!("{account} is logged in at the moment, perhaps as this bot"),
        None => format!("a guest cannot learn here whether {account} is logged in"),
    };
    Some(format!("{reason}; the password is not tried, since that would end such a session"))
}

async fn ask(options: &Options) -> Result<Option<bool>, LinkError> {
    let guest =
        Options { account: GUEST.to_owned(), password: SecretString::default(), ..options.clone() };
    let mut link = Link::open(&guest, Instant::now()).await?;
    link.log_in(&guest).await?;
    link.send(&format!("finger {}", options.account));
    let answer = loop {
        let Frame::Line(text) = link.next().await?.0 else { continue };
        match told(&text) {
            Told::Online => break Some(true),
            Told::Offline => break Some(false),
            Told::Unknown => break None,
            Told::Nothing => {}
        }
    };
    link.send("quit");
    link.close().await;
    Ok(answer)
}

/// What a line tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Online,
    Offline,
    /// This server does not answer such questions.
    Unknown,
    /// The answer is not in this line.
    Nothing,
}

fn told(line: &str) -> Told {
    const OFFLINE: [&str; 2] = ["Last disconnected:", "There is no player matching"];
    if line.starts_with("On for:") {
        Told::Online
    } else if OFFLINE.iter().any(|words| line.starts_with(words))
        || line.ends_with(" has never connected.")
    {
        Told::Offline
    } else if line.starts_with("finger: Command not found") {
        Told::Unknown
    } else {
        Told::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-30: a check that could not look as a guest logged in, and ended the running bot.
    #[test]
    fn a_password_is_tried_only_if_nobody_is_there() {
        assert_eq!(why_not_tried("AtomBot", Some(false)), None);
        for (is_online, words) in [(Some(true), "is logged in"), (None, "cannot learn")] {
            let reason = why_not_tried("AtomBot", is_online).unwrap();
            assert!(reason.contains(words) && reason.contains("is not tried"), "{reason}");
        }
    }

    #[test]
    fn answers_are_told_from_other_lines() {
        for (line, expected) in [
            ("On for: 3 hrs, 10 mins   Idle: 4 secs", Told::Online),
            ("Last disconnected: Mon Nov 30, 04:52 UTC 2026", Told::Offline),
            ("There is no player matching the name AtomBot.", Told::Offline),
            ("AtomBot has never connected.", Told::Offline),
            ("finger: Command not found.", Told::Unknown),
            ("Finger of AtomBot(C):", Told::Nothing),
            ("Talker(U)(50): On for: ever", Told::Nothing),
        ] {
            assert_eq!(told(line), expected, "{line}");
        }
    }
}
