//! The UCI session over streams in memory: what a graphical interface sends, and must get back.

use std::{
    io::{self, BufReader, Read, Write},
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use meitner::{search::Options, uci};

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);
/// A stopped search answers within 5 ms by its contract; the rest is a busy machine.
const STOP_LIMIT: Duration = Duration::from_millis(500);
/// A silence this long shows that no answer comes.
const SILENCE: Duration = Duration::from_millis(150);

/// The input: what was sent, until the sender is dropped.
struct Input(Receiver<String>);

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Ok(text) = self.0.recv() else { return Ok(0) };
        assert!(text.len() <= buffer.len(), "commands are short");
        buffer[..text.len()].copy_from_slice(text.as_bytes());
        Ok(text.len())
    }
}

/// The output: sends on whole lines.
struct Output {
    lines: Sender<String>,
    part: Vec<u8>,
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.part.extend_from_slice(bytes);
        while let Some(end) = self.part.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = self.part.drain(..=end).collect();
            let line = String::from_utf8(line).expect("the engine writes UTF-8");
            // A test that has seen enough listens no more.
            let _ = self.lines.send(line.trim_end().to_owned());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A session that runs on its own thread, and the interface's ends of its streams.
struct Session {
    input: Option<Sender<String>>,
    lines: Receiver<String>,
    thread: JoinHandle<io::Result<()>>,
}

impl Session {
    fn start() -> Self {
        let (input, commands) = mpsc::channel();
        let (sender, lines) = mpsc::channel();
        let thread = thread::spawn(move || {
            let output = Output { lines: sender, part: Vec::new() };
            let options = Options { hash_mb: 1, threads: 1 };
            uci::serve(BufReader::new(Input(commands)), output, options, Duration::ZERO)
        });
        Self { input: Some(input), lines, thread }
    }

    fn send(&self, command: &str) {
        let input = self.input.as_ref().expect("the input is open");
        input.send(format!("{command}\n")).expect("the session reads");
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("the engine answers")
    }

    /// The next line that begins like this, and all that came before it.
    fn until(&self, begin: &str) -> (String, Vec<String>) {
        let mut before = Vec::new();
        loop {
            let line = self.line();
            if line.starts_with(begin) {
                return (line, before);
            }
            before.push(line);
        }
    }

    fn best_move(&self) -> String {
        self.until("bestmove ").0.split(' ').nth(1).expect("a move follows").to_owned()
    }

    /// Waits until the search is under way.
    fn wait_for_info(&self) {
        self.until("info depth ");
    }

    /// Nothing but progress comes.
    fn expect_no_best_move(&self) {
        let until = Instant::now() + SILENCE;
        let next = || self.lines.recv_timeout(until.saturating_duration_since(Instant::now()));
        let end = loop {
            match next() {
                Ok(line) => assert!(!line.starts_with("bestmove"), "{line}"),
                Err(end) => break end,
            }
        };
        assert_eq!(end, RecvTimeoutError::Timeout, "the session goes on");
    }

    /// Stops the search, which must answer in time.
    fn stop(&self) -> String {
        let stopped = Instant::now();
        self.send("stop");
        let best = self.best_move();
        assert!(stopped.elapsed() < STOP_LIMIT, "{:?} after stop", stopped.elapsed());
        best
    }

    /// Ends the session and returns what it had still to say.
    fn finish(mut self) -> Vec<String> {
        self.input = None;
        self.thread.join().expect("the session does not panic").expect("it ends well");
        self.lines.iter().collect()
    }
}

/// Whether a word follows a key in an info line as a number.
fn number(line: &str, key: &str) -> i64 {
    let mut words = line.split(' ').skip_while(|&word| word != key).skip(1);
    let value = words.next().and_then(|word| word.parse().ok());
    assert!(value.is_some(), "{key} in {line}");
    value.unwrap_or_default()
}

#[test]
fn it_introduces_itself_with_its_options() {
    let session = Session::start();
    session.send("uci");
    let (_, lines) = session.until("uciok");
    assert!(lines[0].starts_with("id name Meitner "), "{lines:?}");
    assert!(lines[1].starts_with("id author "), "{lines:?}");
    for name in ["Hash", "Threads", "Move Overhead", "Ponder", "UCI_Chess960"] {
        let begin = format!("option name {name} type ");
        assert!(lines.iter().any(|line| line.starts_with(&begin)), "{name}: {lines:?}");
    }
    assert!(lines.contains(&"option name UCI_Variant type combo default atomic var atomic".into()));
    session.send("isready");
    assert_eq!(session.line(), "readyok");
    assert_eq!(session.finish(), [""; 0]);
}

#[test]
fn a_search_tells_its_progress_and_its_move() {
    let session = Session::start();
    session.send("position startpos moves e2e4 e7e5");
    session.send("go depth 4");
    let (best, infos) = session.until("bestmove ");
    assert!(best.split(' ').nth(1).is_some_and(|mv| mv.len() == 4), "{best}");
    let last = infos.iter().rfind(|line| line.contains(" pv ")).expect("an info line");
    assert_eq!(number(last, "depth"), 4);
    assert!(number(last, "seldepth") >= 4 && number(last, "nodes") > 0, "{last}");
    for key in ["nps", "hashfull", "time"] {
        assert!(number(last, key) >= 0);
    }
    assert!(last.contains(" score cp ") || last.contains(" score mate "), "{last}");
}

#[test]
fn an_explosion_of_the_king_is_a_mate_in_one() {
    let session = Session::start();
    session
        .send("position fen r1bqkb1r/ppp1pp1p/2n2np1/3pN3/3P4/2N5/PPP1PPPP/R1BQKB1R w KQkq - 0 5");
    session.send("go depth 3");
    let (best, infos) = session.until("bestmove ");
    assert!(best.starts_with("bestmove e5f7") || best.starts_with("bestmove e5d7"), "{best}");
    assert!(infos.iter().any(|line| line.contains("score mate 1")), "{infos:?}");
}

#[test]
fn limits_of_nodes_and_time_are_kept() {
    let session = Session::start();
    session.send("go nodes 3000");
    let (_, infos) = session.until("bestmove ");
    assert!(infos.iter().all(|line| number(line, "nodes") <= 3000), "{infos:?}");
    let started = Instant::now();
    session.send("go movetime 60");
    session.best_move();
    assert!(started.elapsed() < Duration::from_millis(60) + STOP_LIMIT);
    let started = Instant::now();
    session.send("go wtime 200 btime 1 winc 0 binc 0");
    session.best_move();
    assert!(started.elapsed() < Duration::from_millis(200) + STOP_LIMIT);
}

#[test]
fn an_infinite_search_waits_for_stop() {
    let session = Session::start();
    session.send("go infinite");
    session.wait_for_info();
    session.expect_no_best_move();
    session.stop();
}

#[test]
fn an_infinite_search_of_a_won_game_waits_as_well() {
    let session = Session::start();
    session.send("position fen 8/8/8/8/8/1k6/8/K6R b - - 0 1");
    session.send("go infinite");
    session.expect_no_best_move();
    session.stop();
}

#[test]
fn commands_are_answered_while_it_searches() {
    let session = Session::start();
    session.send("go infinite");
    session.wait_for_info();
    session.send("isready");
    session.until("readyok");
    session.stop();
}

#[test]
fn pondering_waits_for_the_hit_and_then_for_the_clock() {
    let session = Session::start();
    session.send("position startpos moves e2e4 e7e6");
    session.send("go ponder wtime 300 btime 300");
    session.wait_for_info();
    session.expect_no_best_move();
    let hit = Instant::now();
    session.send("ponderhit");
    session.best_move();
    assert!(hit.elapsed() < Duration::from_millis(300) + STOP_LIMIT);
}

#[test]
fn pondering_can_be_stopped() {
    let session = Session::start();
    session.send("go ponder wtime 60000 btime 60000");
    session.wait_for_info();
    session.stop();
}

#[test]
fn castling_is_written_as_the_interface_wants_it() {
    let session = Session::start();
    let position = "position fen 4k3/pppppppp/8/8/8/8/PPPPPPPP/4K2R w K - 0 1";
    for (chess960, moves, best) in [
        ("false", "e1g1", "e1g1"),
        ("false", "e1h1", "e1g1"),
        ("true", "e1g1", "e1h1"),
        ("true", "e1h1", "e1h1"),
    ] {
        session.send(&format!("setoption name UCI_Chess960 value {chess960}"));
        session.send(position);
        session.send(&format!("go depth 1 searchmoves {moves}"));
        assert_eq!(session.best_move(), best, "{chess960} {moves}");
        session.send(&format!("{position} moves {moves}"));
        session.send("d");
        assert!(session.until("4k3/").0.ends_with("5RK1 b - - 1 1"));
    }
}

#[test]
fn a_position_without_a_move_gives_the_null_move() {
    let session = Session::start();
    // The king of the side to move has exploded.
    session.send("position fen 8/8/8/8/8/8/8/K6R b - - 0 1");
    session.send("go depth 3");
    assert_eq!(session.best_move(), "0000");
}

#[test]
fn bad_input_gets_one_sentence_and_harms_nothing() {
    let session = Session::start();
    for (command, word) in [
        ("xyz", "xyz"),
        ("go depth", "depth"),
        ("go depth x", "'x'"),
        ("position startpos moves e2e5", "e2e5"),
        ("position fen not-a-board w - - 0 1", "not-a-board"),
        ("setoption name Nonesuch value 1", "Nonesuch"),
        ("setoption name Hash value 0", "'0'"),
        ("setoption name UCI_Variant value chess", "'chess'"),
        ("go searchmoves e2e5", "e2e5"),
    ] {
        session.send(command);
        let line = session.line();
        assert!(line.starts_with("info string ") && line.contains(word), "{command}: {line}");
    }
    session.send("go depth 1");
    session.best_move();
}

#[test]
fn a_bad_position_leaves_the_old_one() {
    let session = Session::start();
    session.send("position startpos moves e2e4");
    session.send("position startpos moves e2e4 e7e5 e1e8");
    session.line();
    session.send("d");
    assert!(session.line().starts_with("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b "));
}

#[test]
fn quit_ends_a_search_as_well() {
    let session = Session::start();
    session.send("go infinite");
    session.wait_for_info();
    let quit = Instant::now();
    session.send("quit");
    session.finish();
    assert!(quit.elapsed() < STOP_LIMIT);
}

#[test]
fn a_new_game_and_a_new_size_keep_the_session_going() {
    let session = Session::start();
    for command in
        ["ucinewgame", "setoption name Hash value 2", "setoption name Threads value 2", "isready"]
    {
        session.send(command);
    }
    assert_eq!(session.line(), "readyok");
    session.send("go depth 3");
    session.best_move();
}
