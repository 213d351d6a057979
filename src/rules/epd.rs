//! Extended Position Description: a position and named operations about it, one line each.
//!
//! ```text
//! 2r1R3/6k1/pp3pp1/1P1P1b2/P5B1/7P/1rQ5/6K1 w - - bm Rg8+; dm 2; id "mate-001";
//! rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 ;D1 20 ;D2 400 ;id start
//! ```
//!
//! The standard (Edwards, "PGN Specification and Implementation Guide", 1994, section 16.2) has the
//! four fields of a FEN that come before the counters, and each operation ends with a semicolon.
//! Files in circulation also keep the counters, put a semicolon before the first operation and
//! leave out the last one; all of these are read. What an operation means is asked for by name:
//! reading a line judges its syntax and its position only.

use std::{fmt, str::FromStr};

use crate::rules::{Move, ParseFenError, ParseSanError, Position};

/// A position and what a line says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Epd {
    /// The position. Its counters are those of the FEN, else of `hmvc` and `fmvn`, else 0 and 1.
    pub position: Position,
    /// The operations in the order of the line, each opcode at most once; without `hmvc` and
    /// `fmvn`, which the position has.
    pub operations: Vec<Operation>,
}

/// One statement about a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// What is stated, such as `bm` or `id`.
    pub opcode: String,
    /// The rest of it, quotation marks taken off.
    pub operands: Vec<String>,
}

/// Why a text is no EPD.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseEpdError {
    /// Fewer than the four fields of a position, or three numbers after them.
    #[error("an EPD begins with 4 fields of a FEN, or with all 6, not with {0}")]
    Fields(usize),
    /// The position is none.
    #[error("the position of the EPD: {0}")]
    Position(#[from] ParseFenError),
    /// An operation does not begin with a name.
    #[error("'{0}' is no opcode: it must be a letter, then letters, digits, '-' and '_'")]
    Opcode(String),
    /// Two operations have the same name.
    #[error("the opcode '{0}' stands there twice")]
    Twice(String),
    /// A quotation mark has no partner, or something besides space and semicolon beside it.
    #[error("the quotation marks in '{0}' do not enclose an operand")]
    Quotes(String),
    /// The counters of the FEN are not those of an operation.
    #[error("the operation '{opcode} {operation}' contradicts the '{field}' of the FEN")]
    Counters {
        /// `hmvc` or `fmvn`.
        opcode: String,
        /// What it says.
        operation: String,
        /// What the FEN says.
        field: String,
    },
}

/// Why an operation does not say what its name promises.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OperandError {
    /// A number was wanted.
    #[error("the operation '{opcode}' needs one whole number in range, not '{found}'")]
    Number {
        /// The operation.
        opcode: String,
        /// Its operands.
        found: String,
    },
    /// A move was wanted.
    #[error("the operation '{opcode}': {cause}")]
    Move {
        /// The operation.
        opcode: String,
        /// What is wrong with the move.
        cause: ParseSanError,
    },
}

impl Epd {
    /// The operands of an operation, if the line has it.
    pub fn operands(&self, opcode: &str) -> Option<&[String]> {
        let operation = self.operations.iter().find(|operation| operation.opcode == opcode)?;
        Some(&operation.operands)
    }

    /// The first operand of an operation: the text of `id` or of a comment `c0` to `c9`.
    pub fn text(&self, opcode: &str) -> Option<&str> {
        self.operands(opcode)?.first().map(String::as_str)
    }

    /// The one operand of an operation as a number: `dm`, the moves to a forced win; `ce`, the
    /// score in centipawns for the side to move; `D1` and so on, the counts of perft.
    ///
    /// # Errors
    ///
    /// [`OperandError::Number`] if there is not one operand, or it is no number of this type.
    pub fn number<T: FromStr>(&self, opcode: &str) -> Result<Option<T>, OperandError> {
        let Some(operands) = self.operands(opcode) else { return Ok(None) };
        let bad = || OperandError::Number { opcode: opcode.to_owned(), found: operands.join(" ") };
        let [number] = operands else { return Err(bad()) };
        number.parse().map(Some).map_err(|_| bad())
    }

    /// The moves of an operation, in SAN or in UCI notation: `bm`, the best ones, or `am`, those to
    /// avoid. Empty without the operation. Not for `pv`: its moves belong to later positions.
    ///
    /// # Errors
    ///
    /// [`OperandError::Move`] for the first operand that is no legal move.
    pub fn moves(&self, opcode: &str) -> Result<Vec<Move>, OperandError> {
        let read = |text: &String| {
            let uci = self.position.parse_uci(text).ok();
            uci.map_or_else(|| self.position.parse_san(text), Ok)
                .map_err(|cause| OperandError::Move { opcode: opcode.to_owned(), cause })
        };
        self.operands(opcode).unwrap_or_default().iter().map(read).collect()
    }

    /// Depth and nodes of each perft count, `D1 20`, in the order of the line.
    ///
    /// # Errors
    ///
    /// [`OperandError::Number`] for the first count that is none.
    pub fn perft_counts(&self) -> Result<Vec<(u32, u64)>, OperandError> {
        let depths = self.operations.iter().filter_map(|operation| {
            let depth = operation.opcode.strip_prefix('D')?.parse().ok()?;
            Some((depth, operation.opcode.as_str()))
        });
        depths.map(|(depth, opcode)| Ok((depth, self.number(opcode)?.unwrap_or(0)))).collect()
    }
}

impl FromStr for Epd {
    type Err = ParseEpdError;

    fn from_str(line: &str) -> Result<Self, Self::Err> {
        let mut rest = Rest(line);
        let mut fields = Vec::with_capacity(6);
        while fields.len() < 4
            && let Some(field) = rest.word()
        {
            fields.push(field);
        }
        while let Some(number) = rest.number() {
            fields.push(number);
        }
        if ![4, 6].contains(&fields.len()) {
            return Err(ParseEpdError::Fields(fields.len()));
        }
        let mut operations = rest.operations()?;
        let counter = |index, opcode, name, default: &str| {
            let field = fields.get(index).copied();
            let stated = operations.iter().find(|operation| operation.opcode == opcode);
            counter(field, stated, name).map(|text| text.unwrap_or_else(|| default.to_owned()))
        };
        let halfmove_clock = counter(4, "hmvc", "halfmove clock", "0")?;
        let move_number = counter(5, "fmvn", "move number", "1")?;
        let board_and_rights = fields[..4].join(" ");
        let fen = format!("{board_and_rights} {halfmove_clock} {move_number}");
        let position = Position::from_fen(&fen)?;
        operations.retain(|operation| !["hmvc", "fmvn"].contains(&operation.opcode.as_str()));
        Ok(Self { position, operations })
    }
}

/// A counter by its field in the FEN, by its operation, or by both if they agree.
fn counter(
    field: Option<&str>,
    stated: Option<&Operation>,
    name: &'static str,
) -> Result<Option<String>, ParseEpdError> {
    let Some(Operation { opcode, operands }) = stated else { return Ok(field.map(str::to_owned)) };
    let stated = operands.join(" ");
    if stated.is_empty() || !stated.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ParseFenError::Counter { name, found: stated }.into());
    }
    let is_other = |field: &str| field.trim_start_matches('0') != stated.trim_start_matches('0');
    match field {
        Some(field) if is_other(field) => Err(ParseEpdError::Counters {
            opcode: opcode.clone(),
            operation: stated,
            field: field.to_owned(),
        }),
        _ => Ok(Some(stated)),
    }
}

/// The part of a line that is not read yet.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    /// The next word before a semicolon.
    fn word(&mut self) -> Option<&'a str> {
        let text = self.0.trim_ascii_start();
        let ends = |c: char| c == ';' || c.is_ascii_whitespace();
        let (word, rest) = text.split_at(text.find(ends).unwrap_or(text.len()));
        self.0 = rest;
        (!word.is_empty()).then_some(word)
    }

    /// The next word if it is made of digits: no opcode is.
    fn number(&mut self) -> Option<&'a str> {
        let before = self.0;
        let number = self.word().filter(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
        if number.is_none() {
            self.0 = before;
        }
        number
    }

    fn operations(mut self) -> Result<Vec<Operation>, ParseEpdError> {
        let mut operations: Vec<Operation> = Vec::new();
        loop {
            self.0 = self.0.trim_start_matches(|c: char| c == ';' || c.is_ascii_whitespace());
            let Some(opcode) = self.word() else { return Ok(operations) };
            if !is_opcode(opcode) {
                return Err(ParseEpdError::Opcode(opcode.to_owned()));
            }
            if operations.iter().any(|operation| operation.opcode == opcode) {
                return Err(ParseEpdError::Twice(opcode.to_owned()));
            }
            let mut operands = Vec::new();
            while let Some(operand) = self.operand()? {
                operands.push(operand.to_owned());
            }
            operations.push(Operation { opcode: opcode.to_owned(), operands });
        }
    }

    /// The next operand of the same operation, with or without quotation marks.
    fn operand(&mut self) -> Result<Option<&'a str>, ParseEpdError> {
        let text = self.0.trim_ascii_start();
        let Some(quoted) = text.strip_prefix('"') else {
            let word = self.word();
            return match word {
                Some(word) if word.contains('"') => Err(ParseEpdError::Quotes(word.to_owned())),
                word => Ok(word),
            };
        };
        let (operand, rest) =
            quoted.split_once('"').ok_or_else(|| ParseEpdError::Quotes(text.to_owned()))?;
        let is_closed = rest.chars().next().is_none_or(|c| c == ';' || c.is_ascii_whitespace());
        if !is_closed {
            return Err(ParseEpdError::Quotes(text.to_owned()));
        }
        self.0 = rest;
        Ok(Some(operand))
    }
}

fn is_opcode(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
}

impl fmt::Display for Epd {
    /// The line with all six fields, so that nothing of the position is lost.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.position.fen())?;
        for Operation { opcode, operands } in &self.operations {
            write!(f, " {opcode}")?;
            for operand in operands {
                let is_word = |c: char| c != ';' && !c.is_ascii_whitespace();
                if !operand.is_empty() && operand.chars().all(is_word) {
                    write!(f, " {operand}")?;
                } else {
                    write!(f, " \"{operand}\"")?;
                }
            }
            f.write_str(";")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOARD: &str = "k7/8/8/8/8/8/8/K6R";

    fn epd(line: &str) -> Epd {
        line.parse().unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    fn operations(line: &str) -> Vec<(String, Vec<String>)> {
        epd(line).operations.into_iter().map(|op| (op.opcode, op.operands)).collect()
    }

    #[test]
    fn every_dialect_says_the_same() {
        let expected = [("bm", vec!["Rh8"]), ("id", vec!["a; b"])]
            .map(|(code, words)| (code.to_owned(), words.into_iter().map(String::from).collect()));
        for tail in [
            "w - - bm Rh8; id \"a; b\";",
            "w - - 0 1 bm Rh8; id \"a; b\"",
            "w - - 0 1 ;bm Rh8 ;id \"a; b\"",
            "w - - 0 1 ; bm Rh8 ; id \"a; b\" ;",
            "w - -;bm Rh8;;id \"a; b\";;",
        ] {
            let line = format!("{BOARD} {tail}");
            assert_eq!(operations(&line), expected, "{line}");
        }
        assert_eq!(operations(&format!("{BOARD} w - -")), []);
    }

    #[test]
    fn the_counters_come_from_the_fen_or_from_operations() {
        for (tail, counters) in [
            ("w - -", (0, 1)),
            ("w - - 7 12", (7, 12)),
            ("w - - hmvc 7; fmvn 12;", (7, 12)),
            ("w - - 7 12 hmvc 7;", (7, 12)),
            ("w - - fmvn 12;", (0, 12)),
            ("w - - 7 12 hmvc 07;", (7, 12)),
            ("w - - fmvn 0;", (0, 1)),
        ] {
            let epd = epd(&format!("{BOARD} {tail}"));
            let found = (epd.position.halfmove_clock(), epd.position.fullmove_number());
            assert_eq!(found, counters, "{tail}");
            // The fuzzer found that `fmvn 0`, which is read as 1, contradicted it when read back.
            assert_eq!(epd.to_string(), format!("{BOARD} w - - {} {}", found.0, found.1));
        }
    }

    #[test]
    fn operations_are_asked_for_by_name() {
        let line = format!(
            "{BOARD} w - - bm h1h8 Kb2; am Rh2; ce -12; dm 3; D1 17; D2 50; id \"x y\"; c0 \"\";"
        );
        let epd = epd(&line);
        let uci = |opcode| -> Vec<String> {
            epd.moves(opcode).unwrap().iter().map(ToString::to_string).collect()
        };
        assert_eq!(uci("bm"), ["h1h8", "a1b2"]);
        assert_eq!(uci("am"), ["h1h2"]);
        assert_eq!(uci("sm"), [""; 0]);
        assert_eq!(epd.number("ce"), Ok(Some(-12)));
        assert_eq!(epd.number("dm"), Ok(Some(3_u32)));
        assert_eq!(epd.number::<u32>("acd"), Ok(None));
        assert_eq!(epd.perft_counts(), Ok(vec![(1, 17), (2, 50)]));
        assert_eq!((epd.text("id"), epd.text("c0"), epd.text("c1")), (Some("x y"), Some(""), None));
        assert_eq!(epd.to_string().parse(), Ok(epd));
    }

    #[test]
    fn operations_that_do_not_say_what_they_promise_are_refused() {
        let epd = epd(&format!("{BOARD} w - - ce x; dm 1 2; acn; D1 -1; bm Rh8 Qh8;"));
        assert!(epd.number::<i32>("ce").is_err());
        assert!(epd.number::<u32>("dm").is_err());
        assert!(epd.number::<u64>("acn").is_err());
        assert!(epd.perft_counts().is_err());
        let error = epd.moves("bm").unwrap_err().to_string();
        assert!(error.starts_with("the operation 'bm': 'Qh8' is no legal move in"), "{error}");
    }

    #[test]
    fn what_is_no_epd_is_refused_with_the_reason() {
        for (tail, reason) in [
            ("", "not with 1"),
            ("w -", "not with 3"),
            ("w - ; id x;", "not with 3"),
            ("w - - 0", "not with 5"),
            ("w - - 0 1 2", "not with 7"),
            ("x - -", "the position of the EPD: the side to move is 'x'"),
            ("w - - hmvc many;", "halfmove clock 'many'"),
            ("w - - hmvc;", "halfmove clock ''"),
            ("w - - hmvc \"3 4\";", "halfmove clock '3 4'"),
            ("w - - fmvn 3 4;", "move number '3 4'"),
            ("w - - 3 1 hmvc 4;", "'hmvc 4' contradicts the '3' of the FEN"),
            ("w - - 1d 5;", "'1d' is no opcode"),
            ("w - - b+ 5;", "'b+' is no opcode"),
            ("w - - \"id\" 5;", "is no opcode"),
            ("w - - id 5; id 6;", "the opcode 'id' stands there twice"),
            ("w - - id \"5;", "quotation marks"),
            ("w - - id \"5\"6;", "quotation marks"),
            ("w - - id 5\"6\";", "quotation marks"),
        ] {
            let error = format!("{BOARD} {tail}").parse::<Epd>().unwrap_err().to_string();
            assert!(error.contains(reason), "{tail}: {error}");
        }
        assert_eq!("".parse::<Epd>(), Err(ParseEpdError::Fields(0)));
    }
}
