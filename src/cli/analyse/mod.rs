//! `analyse`: a position explained to a person: board, facts, and the best lines in words of chess.
//!
//! In a terminal the lines are drawn in place while they deepen; piped, each iteration is a line of
//! text. Both end with the same summary. Scores and chances are White's.

mod facts;
mod lines;

use std::{
    fmt,
    io::{self, IsTerminal as _, Write},
    process::ExitCode,
    str::FromStr,
    sync::mpsc,
    time::Duration,
};

use anyhow::Context as _;
use clap::{Args, ValueEnum};

use crate::{
    cli::analyse::lines::Lines,
    rules::{Color, History, Position},
    search::{Engine, Limits, Options, Update},
};

/// Searched for so long if no limit is given.
const DEFAULT_TIME: Duration = Duration::from_secs(5);

/// Arguments of `analyse`.
#[derive(Debug, Args)]
pub(super) struct AnalyseArgs {
    /// The position, with or without quotes; the start position if not given
    #[arg(value_name = "FEN")]
    fen: Vec<String>,
    /// Moves from there, as in "e4 e5" or "e2e4 e7e5"
    #[arg(long, default_value = "", hide_default_value = true)]
    moves: String,
    /// Search for so long: 5s, 500ms, 2m; 5s if no limit is given
    #[arg(long)]
    time: Option<Time>,
    /// Search so many nodes
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Search so deep, in plies
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    depth: Option<u32>,
    /// Show so many of the best lines
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    lines: u16,
    /// Threads of the search
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=512))]
    threads: u16,
    /// Memory for what is known of positions, in MiB
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65536))]
    hash: u32,
    /// How the board is drawn
    #[arg(long, value_enum, default_value_t = Board::Auto)]
    board: Board,
}

/// How the board is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Board {
    /// Figures in a terminal, letters elsewhere
    Auto,
    /// Chess figures
    Figures,
    /// Letters of FEN
    Letters,
}

/// A time as people write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Time(Duration);

/// A text that is no time to search for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("needs a time above zero and up to a day, as in 5s, 500ms or 2m")]
struct ParseTimeError;

impl FromStr for Time {
    type Err = ParseTimeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let seconds = match unit {
            "" | "s" => 1.0,
            "ms" => 0.001,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return Err(ParseTimeError),
        };
        let number: f64 = number.trim().parse().map_err(|_| ParseTimeError)?;
        let time = Duration::try_from_secs_f64(number * seconds).map_err(|_| ParseTimeError)?;
        let is_allowed = time >= Duration::from_millis(1) && time <= Duration::from_hours(24);
        is_allowed.then_some(Self(time)).ok_or(ParseTimeError)
    }
}

/// Shows a position, searches it, and shows the best lines.
pub(super) fn analyse(args: &AnalyseArgs) -> anyhow::Result<ExitCode> {
    let history = history(&args.fen.join(" "), &args.moves)?;
    let stdout = io::stdout();
    let is_terminal = stdout.is_terminal();
    let has_figures = match args.board {
        Board::Auto => is_terminal,
        Board::Figures => true,
        Board::Letters => false,
    };
    let mut out = stdout.lock();
    facts::write(&history, has_figures, &mut out)?;
    if history.outcome().is_some() {
        return Ok(ExitCode::SUCCESS);
    }
    let options = Options { hash_mb: args.hash as usize, threads: args.threads.into() };
    search(&history, options, limits(args), is_terminal, &mut out)?;
    Ok(ExitCode::SUCCESS)
}

/// The position to look at, and how it came about.
fn history(fen: &str, moves: &str) -> anyhow::Result<History> {
    let start = match fen.trim() {
        "" | "startpos" => Position::initial(),
        fen => Position::from_fen(fen).with_context(|| format!("'{fen}' is no position"))?,
    };
    let mut history = History::new(start);
    for text in moves.split_whitespace() {
        // Numbers before moves, as in `1. e4 e5` and `1.e4 e5`.
        let text = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        if text.is_empty() {
            continue;
        }
        let position = history.position();
        let found = position.parse_uci(text).or_else(|_| position.parse_san(text));
        history.play(found.context("--moves")?).context("--moves")?;
    }
    Ok(history)
}

fn limits(args: &AnalyseArgs) -> Limits {
    let has_limit = args.time.is_some() || args.nodes.is_some() || args.depth.is_some();
    let move_time = args.time.map(|time| time.0).or((!has_limit).then_some(DEFAULT_TIME));
    Limits {
        move_time,
        nodes: args.nodes,
        depth: args.depth,
        multipv: args.lines.into(),
        ..Limits::default()
    }
}

/// Searches and shows what comes, until the end.
fn search(
    history: &History,
    options: Options,
    limits: Limits,
    is_terminal: bool,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let count = limits.multipv.min(history.position().legal_moves().len());
    let mut lines = Lines::new(history.position(), count, is_terminal);
    let engine = Engine::new(options);
    let (sender, updates) = mpsc::channel();
    // A writer that has given up hears no more.
    let listener = move |update| drop(sender.send(update));
    engine.search(history.clone(), limits, Box::new(listener));
    Lines::begin(out)?;
    for update in updates {
        match update {
            Update::Info(info) => lines.line(info, out)?,
            Update::Progress(progress) => lines.progress(&progress, out)?,
            Update::Report(report) => return Ok(lines.finish(&report, out)?),
        }
    }
    anyhow::bail!("the engine ended without a result")
}

/// A side as a sentence begins with it.
fn name(color: Color) -> &'static str {
    match color {
        Color::White => "White",
        Color::Black => "Black",
    }
}

/// A row of the facts: what, and how it is.
fn row(out: &mut impl Write, what: &str, text: impl fmt::Display) -> io::Result<()> {
    writeln!(out, "{what:<13}{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        for (text, ms) in [("5s", 5_000), ("500ms", 500), ("2m", 120_000), ("1.5", 1_500)] {
            assert_eq!(text.parse(), Ok(Time(Duration::from_millis(ms))), "{text}");
        }
        for text in ["", "s", "-1s", "0", "5 parsecs", "1e30h", "NaN", "inf"] {
            assert_eq!(text.parse::<Time>(), Err(ParseTimeError), "{text}");
        }
    }

    #[test]
    fn moves_are_read_in_both_notations() {
        let expected = history("", "e2e4 e7e5 g1f3").unwrap();
        for moves in ["e4 e5 Nf3", "1. e4 e5 2. Nf3", "1.e4 e5 2.Nf3", "e4 e7e5 Nf3"] {
            assert_eq!(history("startpos", moves).unwrap().keys(), expected.keys(), "{moves}");
        }
    }

    #[test]
    fn bad_positions_and_moves_are_named() {
        let error = |fen, moves| format!("{:#}", history(fen, moves).unwrap_err());
        assert!(error("nonsense", "").starts_with("'nonsense' is no position: "));
        assert!(error("", "e4 Ke3").starts_with("--moves: 'Ke3' is no legal move in "));
        assert!(error("", "e2e5").contains("'e2e5'"));
    }
}
