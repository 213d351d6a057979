//! Commands of the graphical interface: from a line of text to a typed value.

use std::{fmt::Display, str::FromStr};

/// A command, as far as it can be understood without a position.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the commands are those of the protocol")]
pub enum Command {
    Uci,
    IsReady,
    NewGame,
    SetOption {
        name: String,
        value: String,
    },
    Position(SetPosition),
    Go(Box<Go>),
    Stop,
    PonderHit,
    Quit,
    /// `d`: show the position, for people.
    Display,
    /// An empty line, or a command that needs no answer.
    Nothing,
}

/// A position to search, and how it came about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetPosition {
    /// `None` for the start position.
    pub fen: Option<String>,
    /// Moves from there, in UCI notation.
    pub moves: Vec<String>,
}

/// The arguments of `go`; times in ms. A negative time on the clock counts as 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the arguments are those of the protocol")]
pub struct Go {
    pub search_moves: Vec<String>,
    pub ponder: bool,
    pub infinite: bool,
    pub wtime_ms: Option<u64>,
    pub btime_ms: Option<u64>,
    pub winc_ms: Option<u64>,
    pub binc_ms: Option<u64>,
    pub moves_to_go: Option<u32>,
    pub depth: Option<u32>,
    pub nodes: Option<u64>,
    pub mate: Option<u32>,
    pub move_time_ms: Option<u64>,
    /// Depth of a perft instead of a search.
    pub perft: Option<u32>,
    /// Words that are no arguments. The protocol wants them passed over.
    pub unknown: Vec<String>,
}

/// Why a line is no command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseCommandError {
    /// The first word is unknown.
    #[error("unknown command '{0}'")]
    Unknown(String),
    /// A word that has to follow is missing.
    #[error("'{after}' needs {what}")]
    Missing {
        /// The word before the gap.
        after: String,
        /// What is missing.
        what: &'static str,
    },
    /// An argument cannot be read.
    #[error("'{value}' is no value for '{name}'")]
    BadValue {
        /// The argument.
        name: String,
        /// What was given.
        value: String,
    },
}

impl FromStr for Command {
    type Err = ParseCommandError;

    fn from_str(line: &str) -> Result<Self, Self::Err> {
        let mut words = line.split_whitespace();
        Ok(match words.next() {
            None | Some("debug" | "register") => Self::Nothing,
            Some("uci") => Self::Uci,
            Some("isready") => Self::IsReady,
            Some("ucinewgame") => Self::NewGame,
            Some("stop") => Self::Stop,
            Some("ponderhit") => Self::PonderHit,
            Some("quit") => Self::Quit,
            Some("d") => Self::Display,
            Some("setoption") => parse_option(words)?,
            Some("position") => Self::Position(parse_position(words)?),
            Some("go") => Self::Go(Box::new(parse_go(words)?)),
            Some(other) => return Err(ParseCommandError::Unknown(other.to_owned())),
        })
    }
}

fn parse_option<'a>(
    mut words: impl Iterator<Item = &'a str>,
) -> Result<Command, ParseCommandError> {
    let missing = |after: &str, what| ParseCommandError::Missing { after: after.to_owned(), what };
    if words.next() != Some("name") {
        return Err(missing("setoption", "'name' and the option's name"));
    }
    let rest: Vec<&str> = words.collect();
    let split = rest.iter().position(|&word| word == "value").unwrap_or(rest.len());
    if split == 0 {
        return Err(missing("setoption name", "the option's name"));
    }
    let value = rest.get(split + 1..).unwrap_or_default().join(" ");
    Ok(Command::SetOption { name: rest[..split].join(" "), value })
}

fn parse_position<'a>(
    mut words: impl Iterator<Item = &'a str>,
) -> Result<SetPosition, ParseCommandError> {
    let missing = |what| ParseCommandError::Missing { after: "position".to_owned(), what };
    let (fen, rest): (Option<String>, Vec<&str>) = match words.next() {
        Some("startpos") => (None, words.collect()),
        Some("fen") => {
            let rest: Vec<&str> = words.collect();
            let split = rest.iter().position(|&word| word == "moves").unwrap_or(rest.len());
            if split == 0 {
                return Err(missing("a FEN after 'fen'"));
            }
            (Some(rest[..split].join(" ")), rest[split..].to_vec())
        }
        _ => return Err(missing("'startpos' or 'fen'")),
    };
    let moves = match rest.split_first() {
        None => Vec::new(),
        Some((&"moves", moves)) => moves.iter().map(|&mv| mv.to_owned()).collect(),
        Some((&other, _)) => {
            let value = other.to_owned();
            return Err(ParseCommandError::BadValue { name: "position".to_owned(), value });
        }
    };
    Ok(SetPosition { fen, moves })
}

fn parse_go<'a>(words: impl Iterator<Item = &'a str>) -> Result<Go, ParseCommandError> {
    let mut go = Go::default();
    let mut words = words.peekable();
    while let Some(word) = words.next() {
        let missing = |what| ParseCommandError::Missing { after: word.to_owned(), what };
        let mut number = || -> Result<i64, ParseCommandError> {
            parse(word, words.next().ok_or(missing("a number"))?)
        };
        match word {
            "ponder" => go.ponder = true,
            "infinite" => go.infinite = true,
            "wtime" => go.wtime_ms = Some(number()?.max(0).unsigned_abs()),
            "btime" => go.btime_ms = Some(number()?.max(0).unsigned_abs()),
            "winc" => go.winc_ms = Some(number()?.max(0).unsigned_abs()),
            "binc" => go.binc_ms = Some(number()?.max(0).unsigned_abs()),
            "movetime" => go.move_time_ms = Some(number()?.max(0).unsigned_abs()),
            // Some interfaces write 0 for a clock without time controls.
            "movestogo" => go.moves_to_go = Some(small(number()?)).filter(|&moves| moves > 0),
            "nodes" => go.nodes = Some(positive(word, number()?)?.unsigned_abs()),
            "depth" => go.depth = Some(small(positive(word, number()?)?)),
            "mate" => go.mate = Some(small(positive(word, number()?)?)),
            "perft" => go.perft = Some(small(positive(word, number()?)?)),
            "searchmoves" => {
                while let Some(mv) = words.next_if(|word| is_move(word)) {
                    go.search_moves.push(mv.to_owned());
                }
                if go.search_moves.is_empty() {
                    return Err(missing("moves"));
                }
            }
            other => go.unknown.push(other.to_owned()),
        }
    }
    match go.unknown.first() {
        // A sentence that begins with "go" by chance starts no search without end.
        Some(word) if go == (Go { unknown: go.unknown.clone(), ..Go::default() }) => {
            Err(ParseCommandError::Unknown(word.clone()))
        }
        _ => Ok(go),
    }
}

fn small(number: i64) -> u32 {
    u32::try_from(number.max(0)).unwrap_or(u32::MAX)
}

fn positive(name: &str, number: i64) -> Result<i64, ParseCommandError> {
    let bad = || ParseCommandError::BadValue { name: name.to_owned(), value: number.to_string() };
    if number > 0 { Ok(number) } else { Err(bad()) }
}

fn parse<T: FromStr<Err: Display>>(name: &str, value: &str) -> Result<T, ParseCommandError> {
    value
        .parse()
        .map_err(|_| ParseCommandError::BadValue { name: name.to_owned(), value: value.to_owned() })
}

fn is_move(word: &str) -> bool {
    matches!(word.as_bytes(), [b'a'..=b'h', b'1'..=b'8', b'a'..=b'h', b'1'..=b'8', ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Command {
        line.parse().unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    #[test]
    fn commands_are_read() {
        assert_eq!(parse("  uci "), Command::Uci);
        assert_eq!(parse(""), Command::Nothing);
        assert_eq!(
            parse("setoption name Move Overhead value 30"),
            Command::SetOption { name: "Move Overhead".into(), value: "30".into() }
        );
        assert_eq!(
            parse("position startpos moves e2e4 e7e5"),
            Command::Position(SetPosition { fen: None, moves: vec!["e2e4".into(), "e7e5".into()] })
        );
        assert_eq!(
            parse("position fen k7/8/8/8/8/8/8/K6R w - - 0 1"),
            Command::Position(SetPosition {
                fen: Some("k7/8/8/8/8/8/8/K6R w - - 0 1".into()),
                moves: vec![]
            })
        );
        assert_eq!(
            parse("go wtime 1000 btime -5 winc 10 binc 20 searchmoves e2e4 d2d4 depth 3"),
            Command::Go(Box::new(Go {
                wtime_ms: Some(1000),
                btime_ms: Some(0),
                winc_ms: Some(10),
                binc_ms: Some(20),
                depth: Some(3),
                search_moves: vec!["e2e4".into(), "d2d4".into()],
                ..Go::default()
            }))
        );
    }

    #[test]
    fn unknown_words_are_passed_over_where_the_rest_makes_sense() {
        let expected = Go {
            depth: Some(3),
            move_time_ms: Some(20),
            unknown: vec!["quickly".into(), "7".into()],
            ..Go::default()
        };
        let read = parse("go depth 3 quickly 7 movetime 20 movestogo 0");
        assert_eq!(read, Command::Go(Box::new(expected)));
    }

    #[test]
    fn bad_input_gets_one_clear_sentence() {
        for (line, sentence) in [
            ("xyz", "unknown command 'xyz'"),
            ("go depth", "'depth' needs a number"),
            ("go depth x", "'x' is no value for 'depth'"),
            ("go depth 0", "'0' is no value for 'depth'"),
            ("go nodes -1", "'-1' is no value for 'nodes'"),
            (
                "go movetime 99999999999999999999",
                "'99999999999999999999' is no value for 'movetime'",
            ),
            ("go searchmoves", "'searchmoves' needs moves"),
            ("go searchmoves depth 3", "'searchmoves' needs moves"),
            ("go fast", "unknown command 'fast'"),
            ("position", "'position' needs 'startpos' or 'fen'"),
            ("position fen", "'position' needs a FEN after 'fen'"),
            ("position startpos e2e4", "'e2e4' is no value for 'position'"),
            ("setoption", "'setoption' needs 'name' and the option's name"),
        ] {
            assert_eq!(line.parse::<Command>().unwrap_err().to_string(), sentence);
        }
    }
}
