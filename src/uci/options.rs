//! The options of the engine: how they are declared, and what `setoption` does to them.
//!
//! | option | what it does |
//! |---|---|
//! | `Hash`, `Threads` | size of the engine |
//! | `Clear Hash` | forgets what earlier searches have found |
//! | `MultiPV` | lines that are searched and told |
//! | `Move Overhead` | kept back from the clock for each move |
//! | `UCI_ShowWDL` | `wdl` beside each score |
//! | `UCI_Chess960` | castling is written as king takes rook |
//! | `Ponder`, `UCI_AnalyseMode` | accepted; see [`Options::set`] |
//! | `SyzygyPath` | reserved: accepted, and said to be unused |
//! | `UCI_Variant` | `atomic`, the only one |
//! | `UCI_EngineAbout` | a text for the interface; cannot be changed |

use std::{fmt, ops::RangeInclusive, str::FromStr, time::Duration};

use crate::{rules::CastlingNotation, search};

const HASH_MB: RangeInclusive<usize> = 1..=1 << 20;
const THREADS: RangeInclusive<usize> = 1..=512;
/// No position has more moves (`rules::MAX_MOVES`).
const LINES: RangeInclusive<usize> = 1..=256;
const OVERHEAD_MS: RangeInclusive<u64> = 0..=5_000;
const VARIANT: &str = "atomic";
/// How the protocol writes a text without characters.
const EMPTY: &str = "<empty>";
const ABOUT: &str = concat!(
    "Meitner ",
    env!("CARGO_PKG_VERSION"),
    ", an engine for atomic chess. Free software under the GPL, version 3 or later"
);

/// What the options are set to.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) engine: search::Options,
    pub(super) multipv: usize,
    pub(super) overhead: Duration,
    pub(super) notation: CastlingNotation,
    pub(super) shows_wdl: bool,
}

/// What has to follow a changed option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Nothing: it counts from the next search.
    None,
    /// The engine gets its new size.
    Resize,
    /// The engine forgets.
    Forget,
    /// The interface is told something.
    Tell(&'static str),
}

/// Why an option stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum SetOptionError {
    #[error("there is no option '{0}'; 'uci' lists them")]
    Unknown(String),
    #[error("option {name} cannot be '{value}', only {allowed}")]
    BadValue { name: String, value: String, allowed: String },
    #[error("option {0} cannot be changed")]
    Fixed(String),
}

impl Options {
    pub(super) fn new(engine: search::Options, overhead: Duration) -> Self {
        Self {
            engine,
            multipv: 1,
            overhead,
            notation: CastlingNotation::KingTwoSquares,
            shows_wdl: false,
        }
    }

    /// The `option` lines; the present values are the defaults.
    pub(super) fn declarations(&self) -> Vec<String> {
        let is_960 = self.notation == CastlingNotation::KingToRook;
        vec![
            spin("Hash", self.engine.hash_mb, &HASH_MB),
            spin("Threads", self.engine.threads, &THREADS),
            "option name Clear Hash type button".to_owned(),
            spin("MultiPV", self.multipv, &LINES),
            spin("Move Overhead", self.overhead.as_millis(), &OVERHEAD_MS),
            check("Ponder", false),
            check("UCI_AnalyseMode", false),
            check("UCI_Chess960", is_960),
            check("UCI_ShowWDL", self.shows_wdl),
            format!("option name UCI_Variant type combo default {VARIANT} var {VARIANT}"),
            format!("option name SyzygyPath type string default {EMPTY}"),
            format!("option name UCI_EngineAbout type string default {ABOUT}"),
        ]
    }

    /// Sets an option. Names count without regard to case, as the protocol wants.
    ///
    /// Two of them change nothing. `Ponder` says only that the interface may ponder: `go ponder`
    /// tells when, and the time of a move does not depend on it. `UCI_AnalyseMode` is for engines
    /// that play otherwise than they analyse; this one knows no contempt, no book and no learning,
    /// and keeps its table between searches in both modes.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<Effect, SetOptionError> {
        let bad = |allowed: String| SetOptionError::BadValue {
            name: name.to_owned(),
            value: value.to_owned(),
            allowed,
        };
        let truth = || truth(value).ok_or_else(|| bad("true or false".to_owned()));
        match name.to_ascii_lowercase().as_str() {
            "hash" => {
                self.engine.hash_mb = number(value, &HASH_MB).map_err(bad)?;
                return Ok(Effect::Resize);
            }
            "threads" => {
                self.engine.threads = number(value, &THREADS).map_err(bad)?;
                return Ok(Effect::Resize);
            }
            "clear hash" => return Ok(Effect::Forget),
            "multipv" => self.multipv = number(value, &LINES).map_err(bad)?,
            "move overhead" => {
                self.overhead = Duration::from_millis(number(value, &OVERHEAD_MS).map_err(bad)?);
            }
            "ponder" | "uci_analysemode" => {
                truth()?;
            }
            "uci_chess960" => {
                self.notation = if truth()? {
                    CastlingNotation::KingToRook
                } else {
                    CastlingNotation::KingTwoSquares
                };
            }
            "uci_showwdl" => self.shows_wdl = truth()?,
            "uci_variant" if value.eq_ignore_ascii_case(VARIANT) => {}
            "uci_variant" => return Err(bad(VARIANT.to_owned())),
            "syzygypath" if matches!(value, "" | EMPTY) => {}
            "syzygypath" => return Ok(Effect::Tell("tablebases are not used yet")),
            "uci_engineabout" => return Err(SetOptionError::Fixed(name.to_owned())),
            _ => return Err(SetOptionError::Unknown(name.to_owned())),
        }
        Ok(Effect::None)
    }
}

fn spin<T: fmt::Display>(
    name: &str,
    default: impl fmt::Display,
    range: &RangeInclusive<T>,
) -> String {
    let (min, max) = (range.start(), range.end());
    format!("option name {name} type spin default {default} min {min} max {max}")
}

fn check(name: &str, default: bool) -> String {
    format!("option name {name} type check default {default}")
}

/// A number in its range; the error tells the range.
fn number<T>(value: &str, range: &RangeInclusive<T>) -> Result<T, String>
where
    T: FromStr + PartialOrd + fmt::Display,
{
    let number = value.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| format!("{} to {}", range.start(), range.end()))
}

fn truth(value: &str) -> Option<bool> {
    value.to_ascii_lowercase().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Options {
        Options::new(search::Options::default(), Duration::ZERO)
    }

    #[test]
    fn every_declared_option_can_be_set_to_its_default() {
        for line in options().declarations() {
            let name = line.strip_prefix("option name ").unwrap().split(" type ").next().unwrap();
            let value = line.split(" default ").nth(1).unwrap_or_default();
            let value = value.split(" min ").next().unwrap().split(" var ").next().unwrap();
            let mut set = options();
            let result = set.set(name, value);
            if name == "UCI_EngineAbout" {
                assert_eq!(result, Err(SetOptionError::Fixed(name.to_owned())));
            } else {
                assert!(result.is_ok(), "{line}: {result:?}");
            }
            assert_eq!(set.declarations(), options().declarations(), "{line}");
        }
    }

    #[test]
    fn names_are_read_without_regard_to_case() {
        let mut set = options();
        assert_eq!(set.set("mOVE oVERHEAD", "30"), Ok(Effect::None));
        assert_eq!(set.overhead, Duration::from_millis(30));
        assert_eq!(set.set("clear HASH", ""), Ok(Effect::Forget));
        assert_eq!(set.set("HASH", "64"), Ok(Effect::Resize));
        assert_eq!(set.engine.hash_mb, 64);
    }

    #[test]
    fn a_bad_value_leaves_the_option() {
        for (name, value) in [
            ("Hash", "0"),
            ("Hash", "-1"),
            ("Hash", ""),
            ("Hash", "99999999999999999999999"),
            ("Threads", "513"),
            ("MultiPV", "0"),
            ("MultiPV", "two"),
            ("Move Overhead", "5001"),
            ("UCI_ShowWDL", "yes"),
            ("UCI_Chess960", ""),
            ("UCI_AnalyseMode", "1"),
            ("UCI_Variant", "chess"),
        ] {
            let mut set = options();
            let error = set.set(name, value).unwrap_err();
            let sentence = error.to_string();
            assert!(sentence.contains(name) && sentence.contains(value), "{sentence}");
            assert_eq!(set.declarations(), options().declarations(), "{name} {value}");
        }
    }
}
