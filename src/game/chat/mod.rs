//! What the bot writes beside a game: texts of its own, and answers to a few fixed words. Anything
//! else that is written to it means nothing.

mod command;
mod limiter;
mod machine;
mod template;

use std::sync::Arc;

pub use command::ChatCommand;
pub(super) use limiter::Limiter;
pub(super) use machine::Machine;
pub use template::{Names, Template, TemplateError};

use crate::game::Room;

/// Asks the system what machine this is, so that no game has to wait for it.
pub fn know_machine() {
    Machine::this();
}

/// The longest line of chat that lichess takes, in characters.
pub const MAX_CHAT_CHARS: usize = 140;
/// What the bot calls its engine.
pub(super) const ENGINE: &str = "Meitner";
/// The version of this program.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The names of those who wait for a game with us, whoever comes first first.
pub type WaitingNames = Arc<[String]>;

/// What the bot writes, and what it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatOptions {
    /// To the opponent.
    pub players: RoomOptions,
    /// To those who watch.
    pub spectators: RoomOptions,
    /// At most so many answers in any minute of a game, in each room.
    pub replies_per_minute: usize,
}

/// What the bot writes in one room. Empty texts are not sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoomOptions {
    /// At the start of a game.
    pub greeting: Template,
    /// At its end.
    pub goodbye: Template,
    /// What is answered here. The opponent is answered only what the players' room allows, wherever
    /// he asks.
    pub commands: Vec<ChatCommand>,
}

impl Default for ChatOptions {
    /// No texts; the opponent is told nothing of our evaluation.
    fn default() -> Self {
        let silent = |commands: &[ChatCommand]| RoomOptions {
            commands: commands.to_vec(),
            ..RoomOptions::default()
        };
        Self {
            players: silent(&[
                ChatCommand::Help,
                ChatCommand::Name,
                ChatCommand::Engine,
                ChatCommand::Draw,
                ChatCommand::Takeback,
                ChatCommand::Queue,
                ChatCommand::Ping,
                ChatCommand::Wait,
            ]),
            spectators: silent(&[
                ChatCommand::Help,
                ChatCommand::Name,
                ChatCommand::Engine,
                ChatCommand::Eval,
                ChatCommand::PrintEval,
                ChatCommand::Quiet,
                ChatCommand::Pv,
                ChatCommand::Queue,
                ChatCommand::Ping,
            ]),
            replies_per_minute: 6,
        }
    }
}

impl ChatOptions {
    /// What goes for this room.
    pub fn room(&self, room: Room) -> &RoomOptions {
        match room {
            Room::Player => &self.players,
            Room::Spectator => &self.spectators,
        }
    }
}
