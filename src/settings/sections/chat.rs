//! `[chat]`: what the bot writes and answers.

use serde::Deserialize;

use crate::{
    game::{ChatCommand, ChatOptions, RoomOptions, Template},
    settings::schema::{Key, Kind, key, number},
};

/// The words that can be answered.
const COMMANDS: &[&str] = &[
    "help",
    "name",
    "engine",
    "eval",
    "printeval",
    "quiet",
    "pv",
    "draw",
    "takeback",
    "queue",
    "ping",
    "wait",
    "cpu",
    "ram",
];

pub(super) const KEYS: &[Key] = &[
    key("chat.greeting", Kind::Chat),
    key("chat.goodbye", Kind::Chat),
    key("chat.commands", Kind::AnyWords(COMMANDS)),
    key("chat.spectators_greeting", Kind::Chat),
    key("chat.spectators_goodbye", Kind::Chat),
    key("chat.spectators_commands", Kind::AnyWords(COMMANDS)),
    key("chat.replies_per_minute", number(0, 60)),
];

#[derive(Deserialize)]
pub(super) struct RawChat {
    greeting: String,
    goodbye: String,
    commands: Vec<ChatCommand>,
    spectators_greeting: String,
    spectators_goodbye: String,
    spectators_commands: Vec<ChatCommand>,
    replies_per_minute: usize,
}

impl RawChat {
    pub(super) fn options(&self) -> ChatOptions {
        ChatOptions {
            players: room(&self.greeting, &self.goodbye, &self.commands),
            spectators: room(
                &self.spectators_greeting,
                &self.spectators_goodbye,
                &self.spectators_commands,
            ),
            replies_per_minute: self.replies_per_minute,
        }
    }
}

fn room(greeting: &str, goodbye: &str, commands: &[ChatCommand]) -> RoomOptions {
    let template = |text: &str| text.parse::<Template>().expect("the schema has checked it");
    RoomOptions {
        greeting: template(greeting),
        goodbye: template(goodbye),
        commands: commands.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_can_be_set() {
        assert_eq!(COMMANDS, ChatCommand::ALL.map(ChatCommand::word));
    }
}
