//! Texts with placeholders, checked before anybody reads them.

use std::str::FromStr;

use crate::game::chat::{ENGINE, MAX_CHAT_CHARS, VERSION};

/// No server that we know has longer names (lichess: 30, of which new accounts may use 20).
const LONGEST_NAME: usize = 30;

/// A line of chat that names those who play.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template(Vec<Part>);

/// Who plays.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    /// The opponent.
    pub opponent: &'a str,
    /// The bot.
    pub me: &'a str,
}

/// Why a text is no template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// A word in braces that means nothing.
    #[error(
        "there is no placeholder {{{0}}}, only {{opponent}}, {{me}}, {{engine}} and {{version}}"
    )]
    UnknownPlaceholder(String),
    /// A brace alone.
    #[error("a brace stands alone; braces are for placeholders only")]
    LonelyBrace,
    /// More than a line of chat may have.
    #[error(
        "it may become {0} characters long, where names count for {LONGEST_NAME}; \
         {MAX_CHAT_CHARS} are allowed"
    )]
    TooLong(usize),
    /// Something that cannot be seen.
    #[error("it holds a line break or another control character")]
    ControlCharacter,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Opponent,
    Me,
    Engine,
    Version,
}

impl Template {
    /// The text for these players, cut to what a line of chat may have.
    pub fn fill(&self, names: Names<'_>) -> String {
        let mut text = String::new();
        for part in &self.0 {
            text.push_str(match part {
                Part::Text(literal) => literal,
                Part::Opponent => names.opponent,
                Part::Me => names.me,
                Part::Engine => ENGINE,
                Part::Version => VERSION,
            });
        }
        text.chars().take(MAX_CHAT_CHARS).collect()
    }
}

impl FromStr for Template {
    type Err = TemplateError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.contains(char::is_control) {
            return Err(TemplateError::ControlCharacter);
        }
        let (mut parts, mut rest) = (Vec::new(), text);
        while let Some((literal, behind)) = rest.split_once('{') {
            let (word, after) = behind.split_once('}').ok_or(TemplateError::LonelyBrace)?;
            parts.push(Part::Text(literal.to_owned()));
            parts.push(match word {
                "opponent" => Part::Opponent,
                "me" => Part::Me,
                "engine" => Part::Engine,
                "version" => Part::Version,
                _ => return Err(TemplateError::UnknownPlaceholder(word.to_owned())),
            });
            rest = after;
        }
        parts.push(Part::Text(rest.to_owned()));
        parts.retain(|part| *part != Part::Text(String::new()));
        if parts.iter().any(|part| matches!(part, Part::Text(literal) if literal.contains('}'))) {
            return Err(TemplateError::LonelyBrace);
        }
        match parts.iter().map(Part::most_chars).sum() {
            0..=MAX_CHAT_CHARS => Ok(Self(parts)),
            most => Err(TemplateError::TooLong(most)),
        }
    }
}

impl Part {
    fn most_chars(&self) -> usize {
        match self {
            Self::Text(literal) => literal.chars().count(),
            Self::Opponent | Self::Me => LONGEST_NAME,
            Self::Engine => ENGINE.len(),
            Self::Version => VERSION.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: Names<'_> = Names { opponent: "QuietRook7", me: "EmberFork" };

    fn filled(text: &str) -> Result<String, TemplateError> {
        Ok(text.parse::<Template>()?.fill(NAMES))
    }

    #[test]
    fn placeholders_are_filled() {
        assert_eq!(filled("").unwrap(), "");
        assert_eq!(filled("Hi {opponent}, {me} here!").unwrap(), "Hi QuietRook7, EmberFork here!");
        let expected = format!("Meitner {VERSION}Meitner");
        assert_eq!(filled("{engine} {version}{engine}").unwrap(), expected);
    }

    #[test]
    fn bad_templates_are_refused() {
        let unknown = |word: &str| TemplateError::UnknownPlaceholder(word.to_owned());
        for (text, error) in [
            ("Hi {oponent}", unknown("oponent")),
            ("{}", unknown("")),
            ("{{me}}", unknown("{me")),
            ("Hi {me", TemplateError::LonelyBrace),
            ("me} {me}", TemplateError::LonelyBrace),
            ("a\nb", TemplateError::ControlCharacter),
            ("\u{1b}[2J", TemplateError::ControlCharacter),
        ] {
            assert_eq!(filled(text), Err(error), "{text}");
        }
    }

    #[test]
    fn the_longest_names_must_have_room() {
        let room_for = |chars: usize| format!("{}{{opponent}}{{me}}", "ä".repeat(chars));
        assert!(filled(&room_for(80)).is_ok());
        assert_eq!(filled(&room_for(81)), Err(TemplateError::TooLong(141)));
        assert!(filled(&"x".repeat(140)).is_ok());
        let template: Template = room_for(80).parse().unwrap();
        let long = "n".repeat(200);
        assert_eq!(template.fill(Names { opponent: &long, me: "m" }).chars().count(), 140);
    }
}
