//! The chat of the games: the room of the players and that of the spectators.

use serde_json::{Value, json};

use crate::arena::{
    game::ServerGame,
    state::{Refused, State},
};

/// The longest chat line that is taken.
const MAX_CHARS: usize = 140;

/// A chat room of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// For the two players.
    Player,
    /// For everybody else; bots see it as well.
    Spectator,
}

impl Room {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Player => "player",
            Self::Spectator => "spectator",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::Player, Self::Spectator].into_iter().find(|room| room.name() == text)
    }
}

impl State {
    /// Writes a chat line of a player.
    pub(super) fn chat(
        &mut self,
        user: &str,
        id: &str,
        room: Option<&str>,
        text: Option<&str>,
    ) -> Result<(), Refused> {
        let (game, color) = self.game_of(user, id)?;
        let (id, name) = (game.id.clone(), game.player(color).name.clone());
        let room = room.and_then(Room::parse).ok_or_else(|| Refused::form("room"))?;
        let text = text.ok_or_else(|| Refused::form("text"))?;
        self.say(&id, room, &name, text)
    }

    /// Writes a chat line of whomever.
    pub(super) fn say(
        &mut self,
        id: &str,
        room: Room,
        name: &str,
        text: &str,
    ) -> Result<(), Refused> {
        if text.chars().count() > MAX_CHARS {
            return Err(Refused::form("text"));
        }
        let game = self.games.get_mut(id).ok_or_else(|| Refused::not_found("No such game"))?;
        game.say(room, name, text);
        Ok(())
    }

    /// The lines of the players' room, for a player.
    pub(super) fn player_chat_json(&self, user: &str, id: &str) -> Result<Value, Refused> {
        Ok(chat_json(self.game_of(user, id)?.0, Room::Player))
    }

    /// The lines of the spectators' room, for anybody.
    pub(super) fn spectator_chat_json(&self, id: &str) -> Result<Value, Refused> {
        Ok(chat_json(self.game(id)?, Room::Spectator))
    }
}

fn chat_json(game: &ServerGame, room: Room) -> Value {
    let lines = game.chat.iter().filter(|line| line.room == room);
    lines.map(|line| json!({ "text": line.text, "user": line.user })).collect()
}
