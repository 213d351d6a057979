//! The words of the chat that the bot answers.

use std::fmt;

use serde::Deserialize;

/// A word that begins with `!` in the chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChatCommand {
    /// Which words are answered.
    Help,
    /// Who plays, with what.
    Name,
    /// The engine and its version.
    Engine,
    /// What our search thinks of the game.
    Eval,
    /// The same after each of our moves from now on.
    PrintEval,
    /// No more of that.
    Quiet,
    /// The moves that it expects.
    Pv,
    /// When a draw is accepted or offered.
    Draw,
    /// Whether moves are taken back.
    Takeback,
    /// Who waits for a game.
    Queue,
    /// The way to the server and back.
    Ping,
    /// A minute more for the opponent's first move.
    Wait,
    /// The processor that we think with.
    Cpu,
    /// The memory of the machine.
    Ram,
}

impl ChatCommand {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Help,
        Self::Name,
        Self::Engine,
        Self::Eval,
        Self::PrintEval,
        Self::Quiet,
        Self::Pv,
        Self::Draw,
        Self::Takeback,
        Self::Queue,
        Self::Ping,
        Self::Wait,
        Self::Cpu,
        Self::Ram,
    ];

    /// The word, without its `!`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Help => "help",
            Self::Name => "name",
            Self::Engine => "engine",
            Self::Eval => "eval",
            Self::PrintEval => "printeval",
            Self::Quiet => "quiet",
            Self::Pv => "pv",
            Self::Draw => "draw",
            Self::Takeback => "takeback",
            Self::Queue => "queue",
            Self::Ping => "ping",
            Self::Wait => "wait",
            Self::Cpu => "cpu",
            Self::Ram => "ram",
        }
    }

    /// The command that a line begins with, in any case of letters. `!commands` and `!motor` are
    /// what other bots call `!help` and `!engine`.
    pub fn of_line(line: &str) -> Option<Self> {
        let word = line.trim_start().strip_prefix('!')?.split(char::is_whitespace).next()?;
        let aliases = [("commands", Self::Help), ("motor", Self::Engine)];
        let words = Self::ALL.into_iter().map(|command| (command.word(), command)).chain(aliases);
        words
            .into_iter()
            .find_map(|(name, command)| name.eq_ignore_ascii_case(word).then_some(command))
    }
}

impl fmt::Display for ChatCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "!{}", self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_the_first_word_and_nothing_else() {
        for (line, command) in [
            ("!help", ChatCommand::Help),
            ("  !Eval please", ChatCommand::Eval),
            ("!commands", ChatCommand::Help),
            ("!MOTOR", ChatCommand::Engine),
        ] {
            assert_eq!(ChatCommand::of_line(line), Some(command), "{line}");
        }
        for line in ["", "!", "! help", "help", "!helpme", "say !help", "!!help", "!rm -rf /"] {
            assert_eq!(ChatCommand::of_line(line), None, "{line}");
        }
    }

    #[test]
    fn every_word_is_its_own_command() {
        for command in ChatCommand::ALL {
            assert_eq!(ChatCommand::of_line(&command.to_string()), Some(command));
        }
    }
}
