//! One UCI session: reads commands until `quit` or the end of the input, and drives an engine.

use std::{
    io::{self, BufRead, Write},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::{
    rules::{self, Color, History, ParseUciMoveError, Position},
    search::{self, ClockLimit, Engine, Limits, wdl},
    uci::{
        inbound::{Command, Go, SetPosition},
        options::{Effect, Options},
        outbound::Style,
    },
};

const NAME: &str = concat!("Meitner ", env!("CARGO_PKG_VERSION"));
const AUTHORS: &str = "the Meitner developers";
/// A count of more plies takes minutes, in which the session hears nothing.
const MOST_PERFT: u32 = 7;

/// The output, shared with the engine's thread: each line is written whole.
type Output<W> = Arc<Mutex<W>>;

struct Session<W> {
    output: Output<W>,
    engine: Engine,
    options: Options,
    history: History,
}

/// Why a `go` starts nothing.
#[derive(Debug, thiserror::Error)]
enum GoError {
    #[error(transparent)]
    Move(#[from] ParseUciMoveError),
    #[error("'go' needs {0}, the clock of the side to move, beside that of the other side")]
    NoClock(&'static str),
    #[error("'go perft' counts {MOST_PERFT} plies at most; `meitner perft` counts more")]
    Perft,
}

/// Speaks UCI over a pair of streams until `quit` or the end of the input.
///
/// # Errors
///
/// When the input cannot be read or the output cannot be written.
pub fn serve<R: BufRead, W: Write + Send + 'static>(
    input: R,
    output: W,
    engine: search::Options,
    overhead: Duration,
) -> io::Result<()> {
    let mut session = Session {
        output: Arc::new(Mutex::new(output)),
        engine: Engine::new(engine),
        options: Options::new(engine, overhead),
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
            Command::IsReady => {
                self.engine.wait_until_ready();
                self.say("readyok")
            }
            Command::NewGame => {
                self.engine.new_game();
                Ok(())
            }
            Command::SetOption { name, value } => self.set_option(&name, &value),
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
        self.say(&format!("id name {NAME}"))?;
        self.say(&format!("id author {AUTHORS}"))?;
        for line in self.options.declarations() {
            self.say(&line)?;
        }
        self.say("uciok")
    }

    /// Sets an option. A running search keeps its options, but a new size of the engine, or an
    /// empty table, ends it.
    fn set_option(&mut self, name: &str, value: &str) -> io::Result<()> {
        match self.options.set(name, value) {
            Ok(Effect::None) => Ok(()),
            Ok(Effect::Forget) => {
                self.engine.new_game();
                Ok(())
            }
            Ok(Effect::Tell(news)) => self.complain(&news),
            Ok(Effect::Resize) => {
                self.engine.set_options(self.options.engine);
                self.engine.wait_until_ready();
                let (size, wanted) = (self.engine.hash_mb(), self.options.engine.hash_mb);
                if size >= wanted {
                    return Ok(());
                }
                // The engine is told too, so that another option does not ask for it again.
                self.options.engine.hash_mb = size;
                self.engine.set_options(self.options.engine);
                self.complain(&format!("there is no memory for {wanted} MiB of Hash, it is {size}"))
            }
            Err(error) => self.complain(&error),
        }
    }

    fn go(&mut self, go: &Go) -> io::Result<()> {
        for word in &go.unknown {
            self.complain(&format!("'go' knows no '{word}'"))?;
        }
        let limits = match self.limits(go) {
            Ok(limits) => limits,
            Err(error) => return self.complain(&error),
        };
        if let Some(depth) = go.perft {
            return self.perft(depth);
        }
        let wdl_phase = self.options.shows_wdl.then(|| wdl::phase(self.history.position()));
        let style = Style { notation: self.options.notation, wdl_phase };
        let output = Arc::clone(&self.output);
        let listener = move |update| {
            // If nobody reads any more, the end of the input ends the session.
            let _ = write_line(&output, &style.update(&update));
        };
        self.engine.search(self.history.clone(), limits, Box::new(listener));
        Ok(())
    }

    fn limits(&self, go: &Go) -> Result<Limits, GoError> {
        if go.perft.is_some_and(|depth| depth > MOST_PERFT) {
            return Err(GoError::Perft);
        }
        let position = self.history.position();
        let (name, time, increment) = match position.turn() {
            Color::White => ("wtime", go.wtime_ms, go.winc_ms),
            Color::Black => ("btime", go.btime_ms, go.binc_ms),
        };
        if time.is_none() && (go.wtime_ms.is_some() || go.btime_ms.is_some()) {
            return Err(GoError::NoClock(name));
        }
        let clock = time.map(|time| ClockLimit {
            remaining: Duration::from_millis(time),
            increment: Duration::from_millis(increment.unwrap_or(0)),
            moves_to_go: go.moves_to_go,
        });
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
            multipv: self.options.multipv,
            overhead: self.options.overhead,
            started: Some(Instant::now()),
        })
    }

    fn perft(&self, depth: u32) -> io::Result<()> {
        let mut total = 0;
        for (mv, nodes) in rules::divide(self.history.position(), depth) {
            self.say(&format!("{}: {nodes}", mv.uci(self.options.notation)))?;
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
