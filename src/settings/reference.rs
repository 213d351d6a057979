//! The document of all keys, made of what is built in: the shipped file has their meanings and
//! defaults, the schema what they take.

use std::fmt::Write as _;

use crate::settings::{
    Settings,
    error::variable,
    layers::DEFAULTS,
    schema::{self, Kind},
};

/// A part of the shipped file.
enum Part<'a> {
    /// `[challenge.human]`.
    Section(&'a str),
    /// A comment that is about no single key.
    Remark(String),
    /// A key with its comment and its value; those that share a comment follow each other.
    Key { name: String, comment: String, value: &'a str },
}

const HEAD: &str = "# Settings

Made by `meitner config docs` of what the program has built in; a test fails when it is not. The same
texts stand in [config/meitner.toml](../config/meitner.toml), which can be the beginning of your own file.

What is set later wins: the defaults, a file (`--config PATH`, else `meitner.toml` or
`config/meitner.toml` in the working directory), variables, flags (`--set KEY=VALUE`). The variable of a
key is its name in capitals with two underscores for each dot: `MEITNER_CHALLENGE__CONCURRENCY`.
`meitner config show` prints what comes of it, and who has set each value.

After SIGHUP (`systemctl reload`) the bot reads all of them again and says in its log what has changed.
Keys with a \u{21bb} are taken up then, those of `[search]`, `[game]` and `[chat]` by games that begin
later; the others wait for a restart.
";

/// The document, in Markdown.
pub fn reference() -> String {
    let mut text = HEAD.to_owned();
    let mut in_table = false;
    for part in parts() {
        // Writing to a String cannot fail.
        let _ = match part {
            Part::Section(name) => {
                in_table = false;
                write!(text, "\n## `[{name}]`\n")
            }
            Part::Remark(remark) => {
                in_table = false;
                write!(text, "\n{remark}\n")
            }
            Part::Key { name, comment, value } => {
                if !in_table {
                    text.push_str("\n| key | meaning | takes | default |\n|---|---|---|---|\n");
                }
                in_table = true;
                let mark = if Settings::is_taken_up(&name) { " \u{21bb}" } else { "" };
                let (meaning, unit) = split(&comment);
                let takes = takes(&name, unit).replace('|', "\\|");
                writeln!(text, "| `{name}`{mark} | {meaning} | {takes} | `{value}` |")
            }
        };
    }
    text
}

/// The meaning of a key as the shipped file tells it, as lines of comment.
pub fn comment(key: &str) -> Option<String> {
    let found = parts().into_iter().find_map(|part| match part {
        Part::Key { name, comment, .. } if name == key => Some(comment),
        _ => None,
    })?;
    Some(split(&found).0.to_owned())
}

/// The meaning, and the unit or type, which stands before the default.
fn split(comment: &str) -> (&str, &str) {
    let text = comment.split_once("Default:").map_or(comment, |(text, _)| text).trim();
    let text = text.strip_suffix('.').unwrap_or(text);
    match text.rsplit_once(". ") {
        Some((meaning, unit)) => (&text[..=meaning.len()], unit),
        None => (text, ""),
    }
}

fn takes(name: &str, unit: &str) -> String {
    let kind = schema::find(name).map(|key| key.kind);
    match kind {
        Some(Kind::Number { min, max }) if matches!(unit, "Number" | "") => {
            format!("{min} to {max}")
        }
        Some(Kind::Number { min, max }) if unit == "MiB" => format!("{min} to {max} MiB"),
        Some(Kind::Number { min, max }) => format!("{min} to {max} {}", unit.to_lowercase()),
        Some(Kind::Secret) => format!("a text, not as a flag; variable `{}`", variable(name)),
        Some(kind) => kind.allowed(),
        None => String::new(),
    }
}

fn parts() -> Vec<Part<'static>> {
    let (mut section, mut comment, mut has_key) = ("", String::new(), false);
    let mut parts = Vec::new();
    // What stands above the first section is about the file itself.
    for line in DEFAULTS.lines().skip_while(|line| !line.starts_with('[')) {
        if let Some(text) = line.strip_prefix('#') {
            let gap = if comment.is_empty() { "" } else { " " };
            comment = format!("{comment}{gap}{}", text.trim());
        } else if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
            parts.push(Part::Section(section));
        } else if let Some((name, value)) = line.split_once(" = ") {
            has_key = true;
            let name = format!("{section}.{name}");
            parts.push(Part::Key { name, comment: comment.clone(), value });
        } else {
            let remark = std::mem::take(&mut comment);
            if !std::mem::take(&mut has_key) && !remark.is_empty() {
                parts.push(Part::Remark(remark));
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_there_with_its_meaning() {
        let text = reference();
        for key in Settings::keys() {
            assert!(text.contains(&format!("\n| `{key}`")), "{key}");
            let meaning = comment(key).expect(key);
            assert!(!meaning.is_empty() && !meaning.contains("Default"), "{key}: {meaning}");
        }
        let row = "| `lichess.move_timeout_ms` | Limit for the answer to a move, which is then sent \
                   again. | 100 to 60000 ms | `5000` |";
        assert!(text.contains(row), "{text}");
        let row = "| `challenge.order` \u{21bb} | Who comes first";
        assert!(text.contains(row), "{text}");
    }

    /// `meitner config docs > docs/SETTINGS.md` makes it right again.
    #[test]
    fn the_document_is_what_is_built_in() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/SETTINGS.md");
        let document = std::fs::read_to_string(path).expect("docs/SETTINGS.md");
        assert!(document == reference(), "run `meitner config docs > docs/SETTINGS.md`");
    }
}
