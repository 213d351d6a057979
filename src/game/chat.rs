//! What the bot writes beside a game.

/// The longest line of chat that lichess takes, in characters.
pub const MAX_CHAT_CHARS: usize = 140;

/// What the bot writes to its opponents. Empty texts are not sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChatOptions {
    /// At the start of a game.
    pub greeting: String,
    /// At its end.
    pub goodbye: String,
}
