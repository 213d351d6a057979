//! What stands in a game and is no PGN: a parser that skips it would read another game.

use pgn_reader::SanPlus;

use crate::pgn::error::excerpt;

/// Something that is no PGN.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stray {
    /// Before the moves.
    Tag(String),
    /// Among the moves.
    Word {
        /// The ply that would have come, from 1.
        ply: usize,
        text: String,
    },
}

/// The results, with the dashes that programs write.
const RESULTS: [&str; 8] = ["1-0", "0-1", "1/2-1/2", "1–0", "0–1", "1—0", "0—1", "½-½"];

/// Looks for the first piece of a game's text that means nothing. Follows `pgn-reader` in what a
/// word, a comment and a variation are.
pub(super) fn find(game: &[u8]) -> Option<Stray> {
    let mut text = Text { rest: game.strip_prefix(b"\xef\xbb\xbf").unwrap_or(game) };
    text.skip_space(true);
    while text.rest.first() == Some(&b'[') {
        if let Err(tag) = text.take_tag() {
            return Some(Stray::Tag(excerpt(tag)));
        }
        text.skip_space(false);
    }
    find_in_moves(text)
}

fn find_in_moves(mut text: Text<'_>) -> Option<Stray> {
    let mut ply = 1;
    let mut depth = 0_usize;
    let stray = |ply, word: &[u8]| Some(Stray::Word { ply, text: excerpt(word) });
    while let Some(&first) = text.rest.first() {
        match first {
            b'{' => text.skip_past(b'}'),
            b';' => text.skip_to(b'\n'),
            b'\n' => {
                text.rest = &text.rest[1..];
                if text.rest.first() == Some(&b'%') {
                    text.skip_to(b'\n');
                }
            }
            b' ' | b'\t' | b'\r' | b'.' | b'!' | b'?' | b'*' => text.rest = &text.rest[1..],
            b'(' => {
                depth += 1;
                text.rest = &text.rest[1..];
            }
            b')' if depth > 0 => {
                depth -= 1;
                text.rest = &text.rest[1..];
            }
            b')' | b'}' => return stray(ply, &[first]),
            b'$' => {
                text.rest = &text.rest[1..];
                let nag = text.take_word();
                let is_nag = str::from_utf8(nag).is_ok_and(|nag| nag.parse::<u8>().is_ok());
                if depth == 0 && !is_nag {
                    return stray(ply, &[b"$", nag].concat());
                }
            }
            _ => {
                let word = text.take_word();
                match (depth, Word::of(word)) {
                    (1.., _) | (_, Word::Other) => {}
                    (0, Word::Move) => ply += 1,
                    (0, Word::Stray) => return stray(ply, word),
                }
            }
        }
    }
    (depth > 0).then(|| Stray::Word { ply, text: "(".to_owned() })
}

enum Word {
    Move,
    /// A number or a result.
    Other,
    Stray,
}

impl Word {
    fn of(word: &[u8]) -> Self {
        let unsigned = word.strip_suffix(b"+").or_else(|| word.strip_suffix(b"#"));
        if [&b"0-0"[..], b"0-0-0"].contains(&unsigned.unwrap_or(word)) {
            return Self::Move;
        }
        if RESULTS.iter().any(|known| known.as_bytes() == word) {
            return Self::Other;
        }
        let digits = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
        match &word[digits..] {
            [] => Self::Other,
            san if SanPlus::from_ascii(san).is_ok() => Self::Move,
            _ => Self::Stray,
        }
    }
}

/// The part of a game's text that is still to be looked at.
struct Text<'a> {
    rest: &'a [u8],
}

impl<'a> Text<'a> {
    /// Skips white space, and lines that begin with `%`.
    fn skip_space(&mut self, mut is_line_start: bool) {
        while let Some(&first) = self.rest.first() {
            match first {
                b' ' | b'\t' | b'\r' => {}
                b'\n' => is_line_start = true,
                b'%' if is_line_start => {
                    self.skip_past(b'\n');
                    continue;
                }
                _ => return,
            }
            self.rest = &self.rest[1..];
        }
    }

    /// Skips to this byte, or to the end.
    fn skip_to(&mut self, byte: u8) {
        let end = self.rest.iter().position(|&other| other == byte);
        self.rest = end.map_or(&[], |end| &self.rest[end..]);
    }

    /// Skips to behind this byte, or to the end.
    fn skip_past(&mut self, byte: u8) {
        self.skip_to(byte);
        self.rest = self.rest.get(1..).unwrap_or_default();
    }

    /// Takes what stands before the next sign that ends a word.
    fn take_word(&mut self) -> &'a [u8] {
        let end = self.rest.iter().position(|byte| b" \t\n\r{}()!?$;.*".contains(byte));
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        word
    }

    /// Takes a tag; an error holds the line of what is none.
    fn take_tag(&mut self) -> Result<(), &'a [u8]> {
        let end = self.rest.iter().position(|&byte| byte == b'\n').unwrap_or(self.rest.len());
        let line = &self.rest[..end];
        let behind = behind_tag(line).ok_or(line)?;
        self.rest = &self.rest[behind..];
        Ok(())
    }
}

/// Where the tag at the begin of a line ends.
fn behind_tag(line: &[u8]) -> Option<usize> {
    let quote = line.iter().position(|&byte| byte == b'"')?;
    if line[..quote].contains(&b']') {
        return None;
    }
    let mut index = quote + 1;
    while *line.get(index)? != b'"' {
        // A quote behind a backslash does not end the value.
        index += if line[index] == b'\\' { 2 } else { 1 };
    }
    let behind = line.get(index + 1..)?;
    let space = behind.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    (behind.get(space) == Some(&b']')).then_some(index + space + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_pgn_is_no_stray() {
        for text in [
            "",
            "\u{feff}[Event \"a\"]\n[Site \"b]\" ] [Round \"\\\"\\\\\"]\n%[x\n\n1. e4 *",
            "1.e4 e5 2.Nf3+! Nc6#!? $14 (2... Qxy9 {)} (3. x) ; )\n) 3. O-O 0-0-0+ 1/2-1/2",
            "{ no move } 1. e8=Q { } exd8=N 12... Nb1xc3 0-1",
            "1e4 e5 ; rest of line\n%escaped\n2. Nf3 1–0",
        ] {
            assert_eq!(find(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn the_first_stray_is_found_with_its_ply() {
        let word = |ply, text: &str| Stray::Word { ply, text: text.to_owned() };
        for (text, expected) in [
            ("[Event a]\n\n1. e4 *", Stray::Tag("[Event a]".to_owned())),
            ("[Event \"a]\n\n1. e4 *", Stray::Tag("[Event \"a]".to_owned())),
            ("[Event \"a\" 1. e4 *", Stray::Tag("[Event \"a\" 1. e4 *".to_owned())),
            ("[Event \"a\\", Stray::Tag("[Event \"a\\".to_owned())),
            ("1. e4 Qxg9 2. d4 *", word(2, "Qxg9")),
            ("1. e4Nf6 *", word(1, "e4Nf6")),
            ("1. e4 e5 1-", word(3, "1-")),
            ("1. e4 $256", word(2, "$256")),
            ("1. e4 $", word(2, "$")),
            ("1. e4 } e5", word(2, "}")),
            ("1. e4 ) e5", word(2, ")")),
            ("1. e4 (1. d4 e5 *", word(2, "(")),
            ("<html>", word(1, "<html>")),
            ("1. \u{1b}[31m", word(1, " [31m")),
        ] {
            assert_eq!(find(text.as_bytes()), Some(expected), "{text}");
        }
    }
}
