//! One UCI session: reads commands until `quit` or the end of the input, and drives an engine.

use std::{
    io::{self, BufRead, Write},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::{
    rules::{self, CastlingNotation, Color, History, Position},
    search::{ClockLimit, Engine, Limits, Options, Update},
    uci::{
        inbound::{Command, Go, SetPosition},
        outbound,
    },
};

const NAME: &str = concat!("Meitner ", env!("CARGO_PKG_VERSION"));
const AUTHORS: &str = "the Meitner developers";
const MOST_HASH_MB: usize = 1 << 20;
const MOST_THREADS: usize = 512;
const MOST_OVERHEAD_MS: u64 = 5_000;

/// The output, shared with the engine's thread: each line is written whole.
type Output<W> = Arc<Mutex<W>>;

struct Session<W> {
    output: Output<W>,
    engine: Engine,
    options: Options,
    overhead: Duration,
    notation: CastlingNotation,
    history: History,
}

/// Speaks UCI over a pair of streams until `quit` or the end of the input.
///
/// # Errors
///
/// When the input cannot be read or the output cannot be written.
pub fn serve<R: BufRead, W: Write + Send + 'static>(
    input: R,
    output: W,
    options: Options,
    overhead: Duration,
) -> io::Result<()> {
    let mut session = Session {
        output: Arc::new(Mutex::new(output)),
        engine: Engine::new(options),
        options,
        overhead,
        notation: CastlingNotation::KingTwoSquares,
        history: History::default(),
    };
    for line in input.split(b'\n') {
        // A byte that is no UTF-8 spoils its own command, not the session.
        let line = line?;
        match String::from_utf8_lossy(&line).parse() {
            Ok(Command::Quit) => break,
            Ok(command) => session.obey(command)?,
            Err(error) => session.complain(&error)?,
        }
    }
    Ok(())
}

fn write_line<W: Write>(output: &Output<W>, line: &str) -> io::Result<()> {
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
    writeln!(output, "{line}")?;
    output.flush()
}

impl<W: Write + Send + 'static> Session<W> {
    fn say(&self, line: &str) -> io::Result<()> {
        write_line(&self.output, line)
    }

    fn complain(&self, error: &dyn std::fmt::Display) -> io::Result<()> {
        self.say(&format!("info string {error}"))
    }

    fn obey(&mut self, command: Command) -> io::Result<()> {
        match command {
            Command::Uci => self.introduce(),
            Command::IsReady => self.say("readyok"),
            Command::NewGame => {
                self.engine.new_game();
                Ok(())
            }
            Command::SetOption { name, value } => match self.set_option(&name, &value) {
                Ok(()) => Ok(()),
                Err(error) => self.complain(&error),
            },
            Command::Position(position) => match history(&position) {
                Ok(history) => {
                    self.history = history;
                    Ok(())
                }
                Err(error) => self.complain(&error),
            },
            Command::Go(go) => self.go(&go),
            Command::Stop => {
                self.engine.stop();
                Ok(())
            }
            Command::PonderHit => {
                self.engine.ponder_hit();
                Ok(())
            }
            Command::Display => self.say(&self.history.position().fen()),
            Command::Quit | Command::Nothing => Ok(()),
        }
    }

    fn introduce(&self) -> io::Result<()> {
        let defaults = Options::default();
        self.say(&format!("id name {NAME}"))?;
        self.say(&format!("id author {AUTHORS}"))?;
        for option in [
            format!("Hash type spin default {} min 1 max {MOST_HASH_MB}", defaults.hash_mb),
            format!("Threads type spin default {} min 1 max {MOST_THREADS}", defaults.threads),
            format!(
                "Move Overhead type spin default {} min 0 max {MOST_OVERHEAD_MS}",
                self.overhead.as_millis()
            ),
            "Ponder type check default false".to_owned(),
            "UCI_Chess960 type check default false".to_owned(),
            "UCI_Variant type combo default atomic var atomic".to_owned(),
        ] {
            self.say(&format!("option name {option}"))?;
        }
        self.say("uciok")
    }

    fn set_option(&mut self, name: &str, value: &str) -> Result<(), String> {
        let bad = |allowed: &str| format!("option {name} cannot be '{value}', only {allowed}");
        match name.to_ascii_lowercase().as_str() {
            "hash" => {
                let number = value.parse().ok().filter(|mb| (1..=MOST_HASH_MB).contains(mb));
                self.options.hash_mb =
                    number.ok_or_else(|| bad(&format!("1 to {MOST_HASH_MB} MiB")))?;
                self.engine.set_options(self.options);
            }
            "threads" => {
                let number = value.parse().ok().filter(|n| (1..=MOST_THREADS).contains(n));
                self.options.threads =
                    number.ok_or_else(|| bad(&format!("1 to {MOST_THREADS}")))?;
                self.engine.set_options(self.options);
            }
            "move overhead" => {
                let number = value.parse().ok().filter(|ms| *ms <= MOST_OVERHEAD_MS);
                let number = number.ok_or_else(|| bad(&format!("0 to {MOST_OVERHEAD_MS} ms")))?;
                self.overhead = Duration::from_millis(number);
            }
            "uci_chess960" => {
                self.notation = match value {
                    "true" => CastlingNotation::KingToRook,
                    "false" => CastlingNotation::KingTwoSquares,
                    _ => return Err(bad("true or false")),
                };
            }
            "uci_variant" if value != "atomic" => return Err(bad("atomic")),
            "uci_variant" => {}
            // The interface decides when to ponder; the engine is told by `go ponder`.
            "ponder" if matches!(value, "true" | "false") => {}
            "ponder" => return Err(bad("true or false")),
            _ => return Err(format!("there is no option '{name}'")),
        }
        Ok(())
    }

    fn go(&mut self, go: &Go) -> io::Result<()> {
        if let Some(depth) = go.perft {
            return self.perft(depth);
        }
        let limits = match self.limits(go) {
            Ok(limits) => limits,
            Err(error) => return self.complain(&error),
        };
        let (output, notation) = (Arc::clone(&self.output), self.notation);
        self.engine.search(
            self.history.clone(),
            limits,
            Box::new(move |update| {
                let line = match update {
                    Update::Info(info) => outbound::info(&info, notation),
                    Update::Report(report) => outbound::best_move(&report, notation),
                };
                // If nobody reads any more, the end of the input ends the session.
                let _ = write_line(&output, &line);
            }),
        );
        Ok(())
    }

    fn limits(&self, go: &Go) -> Result<Limits, rules::ParseUciMoveError> {
        let (time, increment) = match self.history.position().turn() {
            Color::White => (go.wtime_ms, go.winc_ms),
            Color::Black => (go.btime_ms, go.binc_ms),
        };
        let clock = time.map(|time| ClockLimit {
            remaining: Duration::from_millis(time),
            increment: Duration::from_millis(increment.unwrap_or(0)),
            moves_to_go: go.moves_to_go,
        });
        let position = self.history.position();
        let search_moves =
            go.search_moves.iter().map(|mv| position.parse_uci(mv)).collect::<Result<_, _>>()?;
        Ok(Limits {
            clock,
            move_time: go.move_time_ms.map(Duration::from_millis),
            nodes: go.nodes,
            depth: go.depth,
            mate: go.mate,
            infinite: go.infinite,
            ponder: go.ponder,
            search_moves,
            overhead: self.overhead,
            started: Some(Instant::now()),
        })
    }

    fn perft(&self, depth: u32) -> io::Result<()> {
        let mut total = 0;
        for (mv, nodes) in rules::divide(self.history.position(), depth) {
            self.say(&format!("{}: {nodes}", mv.uci(self.notation)))?;
            total += nodes;
        }
        self.say(&format!("\nNodes searched: {total}"))
    }
}

/// The game that a `position` command describes.
fn history(set: &SetPosition) -> Result<History, String> {
    let start = match &set.fen {
        None => Position::initial(),
        Some(fen) => Position::from_fen(fen).map_err(|error| error.to_string())?,
    };
    let mut history = History::new(start);
    for mv in &set.moves {
        history.play_uci(mv).map_err(|error| error.to_string())?;
    }
    Ok(history)
}
