//! What an Internet Chess Server of ours is like: accounts, players of the house, and faults.

use std::{sync::Arc, time::Duration};

use crate::arena::opponent::Opponent;

/// An account that somebody logs in to.
#[derive(Clone, Debug)]
pub struct IcsAccount {
    /// Letters alone.
    pub name: String,
    /// What the login asks for.
    pub password: String,
    /// Whether it is registered as a computer's.
    pub is_computer: bool,
    /// The atomic rating.
    pub rating: u32,
}

/// A player whom the server plays.
#[derive(Clone)]
pub struct IcsHouse {
    /// Letters alone.
    pub name: String,
    /// Who chooses the moves.
    pub opponent: Arc<dyn Opponent>,
    /// Whether it is registered as a computer's.
    pub is_computer: bool,
    /// Whether it is a guest, who plays unrated and cannot adjourn.
    pub is_guest: bool,
    /// The atomic rating.
    pub rating: u32,
    /// Whether it agrees to draws, takebacks, aborting and adjourning.
    pub is_agreeable: bool,
    /// How long it thinks at least, in milliseconds.
    pub delay_ms: u64,
}

impl IcsHouse {
    /// A registered person of 1900 points who agrees to nothing.
    pub fn new(name: &str, opponent: Arc<dyn Opponent>) -> Self {
        Self {
            name: name.to_owned(),
            opponent,
            is_computer: false,
            is_guest: false,
            rating: 1900,
            is_agreeable: false,
            delay_ms: 0,
        }
    }
}

/// Whose words the server uses where they differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wording {
    /// Those of freechess.org.
    #[default]
    Freechess,
    /// Those of a compatible server.
    Compatible,
}

/// How often each thing goes wrong: 0 never, 1 with every piece of text that is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IcsFaults {
    /// The connection breaks in the middle of the text.
    pub cut: f64,
    /// The text comes byte by byte.
    pub split: f64,
    /// Other people's chatter stands before it.
    pub chatter: f64,
    /// A line of 10,000 characters stands before it.
    pub long_line: f64,
    /// Bytes that are no UTF-8, and telnet commands, stand before it.
    pub garbage: f64,
    /// It comes 50 ms late.
    pub delay: f64,
}

impl IcsFaults {
    /// What a bad connection to a busy server does.
    pub const MIX: Self =
        Self { cut: 0.004, split: 0.05, chatter: 0.1, long_line: 0.01, garbage: 0.05, delay: 0.03 };
}

/// How the server behaves.
#[derive(Clone, Copy, Debug)]
pub struct IcsOptions {
    /// Of all that is drawn by lot.
    pub seed: u64,
    /// Whose words it uses.
    pub wording: Wording,
    /// Whether it flags by itself whoever has no time left.
    pub flags_by_itself: bool,
    /// Whether guests are let in.
    pub admits_guests: bool,
    /// What both sides start with, whatever they agree on; for tests that are short of time.
    pub clock: Option<Duration>,
    /// What goes wrong.
    pub faults: IcsFaults,
}

impl Default for IcsOptions {
    fn default() -> Self {
        Self {
            seed: 1,
            wording: Wording::default(),
            flags_by_itself: true,
            admits_guests: true,
            clock: None,
            faults: IcsFaults::default(),
        }
    }
}
