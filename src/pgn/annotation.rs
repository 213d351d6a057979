//! What is said of a move: clock, evaluation, time spent, glyphs, free text.
//!
//! The commands are those of the PGN supplement of 2001 and of lichess: `[%clk 0:02:59.3]`,
//! `[%eval 0.24]`, `[%eval #-3,15]`, `[%emt 0:00:01]`. Others, such as arrows, stay in the text.

use std::{fmt, time::Duration};

use crate::pgn::{MOST_TEXT_BYTES, cut};

/// Glyphs of one move beyond this number are dropped.
const MOST_NAGS: usize = 16;

/// What is said of a move, or of the start before the first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Annotation {
    /// What the mover has left after the move, `[%clk …]`. Milliseconds are kept.
    pub clock: Option<Duration>,
    /// What the position after the move is worth, `[%eval …]`.
    pub evaluation: Option<Evaluation>,
    /// How long the move took, `[%emt …]`. Milliseconds are kept.
    pub elapsed: Option<Duration>,
    nags: Vec<u8>,
    text: String,
}

/// An evaluation from White's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// The value.
    pub value: Value,
    /// The depth of the search in plies, if it is told.
    pub depth: Option<u32>,
}

/// The value of a position from White's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// In centipawns.
    Centipawns(i32),
    /// White wins in so many moves; negative if Black does.
    Mate(i32),
}

impl Annotation {
    /// The numeric annotation glyphs: 1 is `!`, 2 `?`, 3 `!!`, 4 `??`, 5 `!?`, 6 `?!`.
    pub fn nags(&self) -> &[u8] {
        &self.nags
    }

    /// Adds a glyph, unless there are 16 already.
    pub fn add_nag(&mut self, nag: u8) {
        if self.nags.len() < MOST_NAGS {
            self.nags.push(nag);
        }
    }

    /// The free text, on one line.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Adds a comment as it stands between braces. Commands that are known and well formed become
    /// fields, where a field that is set stays; the rest is added to the text. White space and
    /// control characters become single spaces, a closing brace, which no comment can hold, becomes a parenthesis, and the
    /// text is cut after [`MOST_TEXT_BYTES`].
    pub fn add_comment(&mut self, comment: &str) {
        let comment = cut(comment.trim(), MOST_TEXT_BYTES).replace('}', ")");
        let text = format!("{} {comment}", self.text).replace(char::is_control, " ");
        let text = self.take_commands(&text);
        let words: Vec<&str> = text.split_whitespace().collect();
        let text = words.join(" ");
        cut(&text, MOST_TEXT_BYTES).trim_end().clone_into(&mut self.text);
    }

    /// Takes all known commands out of a text, also those that come to be when one within them is
    /// taken out: what is left holds none. One pass, however deep they are nested.
    fn take_commands(&mut self, text: &str) -> String {
        let mut kept = String::with_capacity(text.len());
        // Where a command may begin that has not ended.
        let mut begins = Vec::new();
        for letter in text.chars() {
            match letter {
                '%' if kept.ends_with('[') => begins.push(kept.len() - 1),
                ']' => {
                    if let Some(begin) = begins.pop()
                        && self.take_command(&kept[begin + 2..])
                    {
                        kept.truncate(begin);
                        kept.push(' ');
                        continue;
                    }
                    // A command holds no bracket, so none of those around this one is a command.
                    begins.clear();
                }
                _ => {}
            }
            kept.push(letter);
        }
        kept
    }

    /// Takes what stands between `[%` and `]`, and tells whether it was understood.
    fn take_command(&mut self, command: &str) -> bool {
        let mut words = command.split_whitespace();
        let (Some(name), Some(value), None) = (words.next(), words.next(), words.next()) else {
            return false;
        };
        match name {
            "clk" => keep_first(&mut self.clock, parse_clock(value)),
            "emt" => keep_first(&mut self.elapsed, parse_clock(value)),
            "eval" => keep_first(&mut self.evaluation, Evaluation::parse(value)),
            _ => false,
        }
    }

    /// Whether anything stands in braces when this is written.
    pub(super) fn has_comment(&self) -> bool {
        self.has_command() || !self.text.is_empty()
    }

    fn has_command(&self) -> bool {
        self.clock.is_some() || self.evaluation.is_some() || self.elapsed.is_some()
    }
}

/// Whether there is a value; it is stored if it is the first.
fn keep_first<T>(field: &mut Option<T>, value: Option<T>) -> bool {
    let is_some = value.is_some();
    if field.is_none() {
        *field = value;
    }
    is_some
}

/// Written behind its move: glyphs, then the commands and the text, each in braces of their own.
impl fmt::Display for Annotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, nag) in self.nags.iter().enumerate() {
            // Two glyphs in a row would be read as one: only the first is written as a sign.
            match nag {
                1..=6 if index == 0 => {
                    f.write_str(["!", "?", "!!", "??", "!?", "?!"][usize::from(*nag) - 1])?;
                }
                _ => write!(f, " ${nag}")?,
            }
        }
        if self.has_command() {
            f.write_str(" {")?;
            if let Some(evaluation) = self.evaluation {
                write!(f, " [%eval {evaluation}]")?;
            }
            if let Some(clock) = self.clock {
                write!(f, " [%clk {}]", Clock(clock))?;
            }
            if let Some(elapsed) = self.elapsed {
                write!(f, " [%emt {}]", Clock(elapsed))?;
            }
            f.write_str(" }")?;
        }
        if !self.text.is_empty() {
            write!(f, " {{ {} }}", self.text)?;
        }
        Ok(())
    }
}

/// `0:02:59`, with as many digits after the seconds as there are, three at most.
struct Clock(Duration);

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
        write!(f, "{hours}:{minutes:02}:{:02}", seconds % 60)?;
        match self.0.subsec_millis() {
            0 => Ok(()),
            millis => write!(f, ".{}", format!("{millis:03}").trim_end_matches('0')),
        }
    }
}

/// `h:mm:ss` or `mm:ss`, with or without digits after the seconds, of which three count.
fn parse_clock(text: &str) -> Option<Duration> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let mut seconds: u64 = 0;
    let mut parts = 0;
    for part in whole.split(':') {
        let number: u64 = part.parse().ok().filter(|_| is_number(part))?;
        seconds = seconds.checked_mul(60)?.checked_add(number)?;
        parts += 1;
    }
    if !(2..=3).contains(&parts) || !is_number(fraction) {
        return None;
    }
    let millis = fraction.bytes().chain([b'0'; 3]).take(3);
    let millis = millis.fold(0, |millis, digit| millis * 10 + u64::from(digit - b'0'));
    Duration::from_secs(seconds).checked_add(Duration::from_millis(millis))
}

impl Evaluation {
    /// Reads `0.24`, `#-3`, each with or without `,` and the depth.
    fn parse(text: &str) -> Option<Self> {
        let (value, depth) = match text.split_once(',') {
            Some((value, depth)) => (value, Some(depth.parse().ok()?)),
            None => (text, None),
        };
        let value = match value.strip_prefix('#') {
            Some(moves) => Value::Mate(moves.parse().ok()?),
            None => Value::Centipawns(centipawns(value)?),
        };
        Some(Self { value, depth })
    }
}

/// Pawns as a decimal number; digits beyond the second are rounded.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
fn centipawns(pawns: &str) -> Option<i32> {
    let is_decimal = pawns.bytes().all(|byte| byte.is_ascii_digit() || b"+-.".contains(&byte));
    let pawns: f64 = pawns.parse().ok().filter(|_| is_decimal)?;
    let centipawns = (pawns * 100.0).round();
    (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&centipawns).then_some(centipawns as i32)
}

impl fmt::Display for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            Value::Mate(moves) => write!(f, "#{moves}")?,
            Value::Centipawns(value) => {
                let sign = if value < 0 { "-" } else { "" };
                let (pawns, hundredths) = (value.unsigned_abs() / 100, value.unsigned_abs() % 100);
                write!(f, "{sign}{pawns}.{}", hundredths / 10)?;
                if hundredths % 10 > 0 {
                    write!(f, "{}", hundredths % 10)?;
                }
            }
        }
        match self.depth {
            Some(depth) => write!(f, ",{depth}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(comment: &str) -> Annotation {
        let mut annotation = Annotation::default();
        annotation.add_comment(comment);
        annotation
    }

    #[test]
    fn clocks_are_read_and_written() {
        for (text, millis, written) in [
            ("0:03:00", 180_000, "0:03:00"),
            ("0:02:59.3", 179_300, "0:02:59.3"),
            ("00:00:00.05", 50, "0:00:00.05"),
            ("1:30:05.1239", 5_405_123, "1:30:05.123"),
            ("02:59", 179_000, "0:02:59"),
            ("100:00:00", 360_000_000, "100:00:00"),
        ] {
            let annotation = read(&format!(" [%clk {text}] "));
            assert_eq!(annotation.clock, Some(Duration::from_millis(millis)), "{text}");
            assert_eq!(annotation.to_string(), format!(" {{ [%clk {written}] }}"));
        }
        for text in
            ["", "3", "0:03:00.", "0:-3:00", "0:0:0:0", "a:b:c", "99999999999999999999:00:00"]
        {
            let annotation = read(&format!("[%clk {text}]"));
            assert_eq!((annotation.clock, annotation.text().is_empty()), (None, false), "{text}");
        }
    }

    #[test]
    fn evaluations_are_read_and_written() {
        let centipawns = |value, depth| Evaluation { value: Value::Centipawns(value), depth };
        let mate = |moves, depth| Evaluation { value: Value::Mate(moves), depth };
        for (text, evaluation, written) in [
            ("0.24", centipawns(24, None), "0.24"),
            ("-0.05", centipawns(-5, None), "-0.05"),
            ("0.1", centipawns(10, None), "0.1"),
            ("2.0", centipawns(200, None), "2.0"),
            ("-13", centipawns(-1300, None), "-13.0"),
            ("+1.239,15", centipawns(124, Some(15)), "1.24,15"),
            ("21474836.47", centipawns(i32::MAX, None), "21474836.47"),
            ("-21474836.48", centipawns(i32::MIN, None), "-21474836.48"),
            ("#-3", mate(-3, None), "#-3"),
            ("#3,20", mate(3, Some(20)), "#3,20"),
        ] {
            let annotation = read(&format!("[%eval {text}]"));
            assert_eq!(annotation.evaluation, Some(evaluation), "{text}");
            assert_eq!(annotation.to_string(), format!(" {{ [%eval {written}] }}"));
        }
        for text in ["", "x", "inf", "NaN", "1e3", "1e999", "#", "#x", "0.1,", "0.1,-1", "9e9"] {
            assert_eq!(read(&format!("[%eval {text}]")).evaluation, None, "{text}");
        }
        assert_eq!(read("[%eval 99999999]").evaluation, None);
    }

    #[test]
    fn what_is_no_command_stays_text() {
        let comment = " [%csl Gd4] so\n\tso [%clk 0:00:09][%eval 0.5] } [%clk 0:00:01] [%";
        let annotation = read(comment);
        assert_eq!(annotation.text(), "[%csl Gd4] so so ) [%");
        assert_eq!(annotation.clock, Some(Duration::from_secs(9)), "the first counts");
        assert_eq!(
            annotation.to_string(),
            " { [%eval 0.5] [%clk 0:00:09] } { [%csl Gd4] so so ) [% }"
        );
        let nested = read("[%clk[%emt 0:00:01]0:00:02]");
        assert_eq!(
            (nested.clock, nested.elapsed),
            (Some(Duration::from_secs(2)), Some(Duration::from_secs(1)))
        );
        assert_eq!(nested.text(), "");
    }

    #[test]
    fn long_texts_are_cut() {
        let annotation = read(&"ä ".repeat(MOST_TEXT_BYTES));
        assert!(annotation.text().len() <= MOST_TEXT_BYTES && annotation.text().ends_with('ä'));
        let mut twice = annotation.clone();
        twice.add_comment("more");
        assert!(twice.text().len() <= MOST_TEXT_BYTES);
    }

    #[test]
    fn glyphs_never_run_together() {
        let mut annotation = Annotation::default();
        for nag in [1, 2, 14] {
            annotation.add_nag(nag);
        }
        assert_eq!(annotation.to_string(), "! $2 $14");
        for nag in 0..=255 {
            annotation.add_nag(nag);
        }
        assert_eq!(annotation.nags().len(), MOST_NAGS);
    }
}
