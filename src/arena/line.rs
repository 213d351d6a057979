//! One line of a stream, and what faults make of it.

use std::{collections::VecDeque, time::Instant};

use bytes::Bytes;
use serde_json::{Value, json};

use crate::{arena::faults::Fault, rules::History};

/// A line on its way to a stream.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) kind: LineKind,
    /// When the server had it ready.
    pub(super) made_at: Instant,
}

/// What a line tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    /// A game in full, after so many plies.
    Full { plies: usize },
    /// The state of a game after so many plies.
    State { plies: usize, is_running: bool },
    /// Anything else.
    Other,
}

impl Line {
    /// A line that tells nothing of a position.
    pub(super) fn new(value: &Value) -> Self {
        Self::of_kind(value, LineKind::Other)
    }

    pub(super) fn of_kind(value: &Value, kind: LineKind) -> Self {
        Self { text: value.to_string(), kind, made_at: Instant::now() }
    }

    /// The number of plies in the line's list of moves, if it has one.
    fn plies(&self) -> Option<usize> {
        match self.kind {
            LineKind::Full { plies } | LineKind::State { plies, .. } => Some(plies),
            LineKind::Other => None,
        }
    }
}

/// What goes to the connection next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Bytes(Bytes),
    /// A line with so many plies has been handed over.
    Written(usize),
    /// Gives the connection the time to send what it has.
    Pause,
    Cut,
    Reset,
    End,
    Stall,
    /// From here on nothing but keep-alives.
    Deaf,
}

/// A line in the pieces that its fault makes of it. `behind` are the lines that a merge takes
/// along.
pub(super) fn dress(line: &Line, behind: &[Line], fault: Option<&Fault>) -> VecDeque<Piece> {
    let whole = format!("{}\n", line.text);
    let mut pieces = match fault {
        Some(Fault::DropLine) => return VecDeque::new(),
        Some(Fault::Cut | Fault::Reset | Fault::End | Fault::Stall | Fault::Deaf) => {
            return interrupt(&line.text, fault);
        }
        Some(Fault::ErrorLine { text }) => vec![error_line(text), piece(whole)],
        Some(Fault::Split) => split(whole.as_bytes()),
        Some(Fault::Duplicate) => vec![piece(whole.clone()), piece(whole)],
        Some(Fault::Merge) => {
            let behind: String =
                behind.iter().flat_map(|line| [line.text.as_str(), "\n"]).collect();
            vec![piece(format!("{whole}\n{behind}"))]
        }
        Some(Fault::UnknownFields) => {
            let unknown = json!({ "type": "weather", "weather": { "rain": [1, null] } });
            let strange = with_unknown_fields(&line.text);
            vec![piece(format!("{unknown}\n")), piece(format!("{strange}\n"))]
        }
        Some(Fault::Garbage) => {
            vec![piece("<html>\u{fffd}{not json\n".to_owned()), piece(whole)]
        }
        Some(Fault::Rewrite) => vec![piece(format!("{}\n", with_moves(&line.text, contradict)))],
        Some(Fault::Shrink) => {
            let stale = with_moves(&line.text, |moves| {
                Some(moves[..moves.len().saturating_sub(2)].join(" "))
            });
            vec![piece(format!("{stale}\n")), piece(whole)]
        }
        _ => vec![piece(whole)],
    };
    let written = behind.iter().rev().chain([line]).find_map(Line::plies);
    pieces.extend(written.map(Piece::Written));
    pieces.into()
}

/// What a fault makes of a stream that was about to send a line, or is idle.
pub(super) fn interrupt(line: &str, fault: Option<&Fault>) -> VecDeque<Piece> {
    let half = || Piece::Bytes(Bytes::copy_from_slice(&line.as_bytes()[..line.len() / 2]));
    let pieces = match fault {
        Some(Fault::Cut) => vec![half(), Piece::Pause, Piece::Cut],
        Some(Fault::Reset) => vec![half(), Piece::Pause, Piece::Reset],
        Some(Fault::End) => vec![Piece::End],
        Some(Fault::Stall) => vec![Piece::Stall],
        Some(Fault::Deaf) => vec![Piece::Deaf],
        Some(Fault::ErrorLine { text }) => vec![error_line(text)],
        _ => Vec::new(),
    };
    pieces.into()
}

fn piece(text: String) -> Piece {
    Piece::Bytes(Bytes::from(text))
}

fn error_line(text: &str) -> Piece {
    piece(format!("{}\n", json!({ "error": text })))
}

/// Pieces of one to seven bytes, here and there with a pause that sends them apart.
fn split(line: &[u8]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = line;
    let mut size = 1;
    while !rest.is_empty() {
        let (head, tail) = rest.split_at(size.min(rest.len()));
        pieces.push(Piece::Bytes(Bytes::copy_from_slice(head)));
        if pieces.len() % 16 == 1 {
            pieces.push(Piece::Pause);
        }
        rest = tail;
        size = size % 7 + 1;
    }
    pieces
}

fn with_unknown_fields(line: &str) -> String {
    match serde_json::from_str::<Value>(line) {
        Ok(Value::Object(mut object)) => {
            object.insert("futureField".to_owned(), json!({ "a": [1, 2], "b": null }));
            Value::Object(object).to_string()
        }
        _ => line.to_owned(),
    }
}

/// A `gameState` with another list of moves; the same where the change gives none.
fn with_moves(line: &str, change: impl Fn(&[&str]) -> Option<String>) -> String {
    let changed = || {
        let mut state: Value = serde_json::from_str(line).ok()?;
        let moves: Vec<&str> = state["moves"].as_str()?.split_whitespace().collect();
        let moves = change(&moves)?;
        state["moves"] = json!(moves);
        Some(state.to_string())
    };
    changed().unwrap_or_else(|| line.to_owned())
}

/// A legal list of the same length whose last two moves are others, in a game that is not over.
fn contradict(moves: &[&str]) -> Option<String> {
    let kept = moves.len().checked_sub(2)?;
    let mut history = History::default();
    for uci in &moves[..kept] {
        history.play_uci(uci).ok()?;
    }
    for mv in history.position().legal_moves() {
        let mut other = history.clone();
        if mv.to_string() == moves[kept] || other.play(mv).is_err() || other.outcome().is_some() {
            continue;
        }
        for reply in other.position().legal_moves() {
            let mut end = other.clone();
            if end.play(reply).is_ok() && end.outcome().is_none() {
                let list: Vec<_> = end.moves().iter().map(ToString::to_string).collect();
                return Some(list.join(" "));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line {
        Line { text: text.to_owned(), kind: LineKind::Other, made_at: Instant::now() }
    }

    fn sent(text: &str, behind: &[&str], fault: Option<&Fault>) -> String {
        let behind: Vec<Line> = behind.iter().map(|text| line(text)).collect();
        let bytes =
            dress(&line(text), &behind, fault).into_iter().filter_map(|piece| match piece {
                Piece::Bytes(bytes) => Some(bytes),
                _ => None,
            });
        String::from_utf8(bytes.flatten().collect()).unwrap()
    }

    #[test]
    fn faults_dress_a_line() {
        let line = r#"{"type":"gameState"}"#;
        assert_eq!(sent(line, &[], None), format!("{line}\n"));
        assert_eq!(sent(line, &[], Some(&Fault::Split)), format!("{line}\n"));
        assert_eq!(sent(line, &[], Some(&Fault::Duplicate)), format!("{line}\n{line}\n"));
        assert_eq!(sent(line, &["{}"], Some(&Fault::Merge)), format!("{line}\n\n{{}}\n"));
        assert_eq!(sent(line, &[], Some(&Fault::Cut)), r#"{"type":"g"#);
        assert_eq!(sent(line, &[], Some(&Fault::Reset)), r#"{"type":"g"#);
        for fault in [Fault::End, Fault::Stall, Fault::Deaf, Fault::DropLine] {
            assert_eq!(sent(line, &[], Some(&fault)), "", "{fault:?}");
        }
        assert_eq!(sent(line, &[], Some(&Fault::UnknownFields)).lines().count(), 2);
        assert!(sent(line, &[], Some(&Fault::Garbage)).ends_with(&format!("\n{line}\n")));
        let error = sent(line, &[], Some(&Fault::ErrorLine { text: "No".to_owned() }));
        assert_eq!(error, format!("{{\"error\":\"No\"}}\n{line}\n"));
    }

    #[test]
    fn lists_of_moves_are_contradicted_and_shortened() {
        let line = r#"{"moves":"e2e4 e7e5 g1f3","type":"gameState"}"#;
        let lists = |fault| -> Vec<String> {
            let text = sent(line, &[], Some(&fault));
            let moves = |line| serde_json::from_str::<Value>(line).unwrap()["moves"].clone();
            text.lines().filter_map(|line| moves(line).as_str().map(str::to_owned)).collect()
        };
        assert_eq!(lists(Fault::Shrink), ["e2e4", "e2e4 e7e5 g1f3"]);
        let rewritten = lists(Fault::Rewrite).concat();
        let moves: Vec<_> = rewritten.split(' ').collect();
        assert_eq!((moves.len(), moves[0]), (3, "e2e4"));
        assert_ne!(moves[1], "e7e5");
        let mut history = History::default();
        for uci in moves {
            history.play_uci(uci).unwrap();
        }
    }

    #[test]
    fn what_cannot_be_rewritten_stays_as_it_is() {
        for line in [r#"{"moves":"e2e4"}"#, r#"{"type":"chatLine"}"#, "{}"] {
            assert_eq!(sent(line, &[], Some(&Fault::Rewrite)), format!("{line}\n"));
        }
    }

    #[test]
    fn a_line_with_moves_is_followed_by_its_mark() {
        let of = |plies| Line {
            kind: LineKind::State { plies, is_running: true },
            ..line(r#"{"type":"gameState"}"#)
        };
        let last = |behind: &[Line], fault| dress(&of(3), behind, fault).pop_back();
        assert_eq!(last(&[], None), Some(Piece::Written(3)));
        assert_eq!(last(&[of(4), line("{}")], Some(&Fault::Merge)), Some(Piece::Written(4)));
        assert_eq!(last(&[], Some(&Fault::Stall)), Some(Piece::Stall));
    }
}
