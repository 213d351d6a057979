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

/// The lines of an info line's moves.
fn pv(line: &str) -> &str {
    line.split_once(" pv ").map_or("", |(_, pv)| pv)
}

/// The score of an info line on one scale: mates lie beyond all centipawns.
fn score(line: &str) -> i64 {
    match line.contains(" score mate ") {
        true if number(line, "mate") > 0 => 100_000 - number(line, "mate"),
        true => -100_000 - number(line, "mate"),
        false => number(line, "cp"),
    }
}

/// The lines of the deepest complete iteration, in their order.
fn last_lines(infos: &[String], count: usize) -> Vec<&str> {
    let lines: Vec<&str> =
        infos.iter().map(String::as_str).filter(|l| l.contains(" pv ")).collect();
    lines[lines.len() - count..].to_vec()
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
    for option in [
        "Hash type spin default 1 min 1 max 1048576",
        "Threads type spin default 1 min 1 max 512",
        "Clear Hash type button",
        "MultiPV type spin default 1 min 1 max 256",
        "Move Overhead type spin default 0 min 0 max 5000",
        "Ponder type check default false",
        "UCI_AnalyseMode type check default false",
        "UCI_Chess960 type check default false",
        "UCI_ShowWDL type check default false",
        "UCI_Variant type combo default atomic var atomic",
        "SyzygyPath type string default <empty>",
    ] {
        assert!(lines.contains(&format!("option name {option}")), "{option}: {lines:?}");
    }
    let about = "option name UCI_EngineAbout type string default Meitner ";
    assert!(lines.iter().any(|line| line.starts_with(about)), "{lines:?}");
    assert!(lines[2..].iter().all(|line| line.starts_with("option name ")), "{lines:?}");
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
        ("setoption name UCI_ShowWDL value perhaps", "'perhaps'"),
        ("setoption name MultiPV value 0", "'0'"),
        ("setoption name MultiPV value 300", "'300'"),
        ("setoption name UCI_EngineAbout value me", "UCI_EngineAbout"),
        ("setoption name SyzygyPath value /tables", "tablebases"),
        ("setoption", "setoption"),
        ("setoption name", "name"),
        ("go searchmoves e2e5", "e2e5"),
        ("go searchmoves", "searchmoves"),
        ("go nodes -5", "'-5'"),
        ("go depth 0", "'0'"),
        ("go mate none", "'none'"),
        ("go movetime", "movetime"),
        ("go btime 1000 binc 10", "wtime"),
        ("go perft 30", "perft"),
        ("go away", "'away'"),
        ("position", "position"),
        ("position here", "position"),
        ("position startpos e2e4", "e2e4"),
        ("position startpos moves e2e4 e2e4", "e2e4"),
        ("position fen", "FEN"),
        ("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "king"),
        ("position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR x KQkq - 0 1", "'x'"),
        ("\u{fffd}\u{1b}", "unknown"),
    ] {
        session.send(command);
        let line = session.line();
        assert!(line.starts_with("info string ") && line.contains(word), "{command}: {line}");
    }
    session.send("go depth 1");
    session.best_move();
}

#[test]
fn bytes_that_are_no_text_spoil_only_their_line() {
    let (commands, output) = (b"go \xff\xfe\n\xff\0\ngo depth 1\r\n".to_vec(), mpsc::channel());
    let writer = Output { lines: output.0, part: Vec::new() };
    let options = Options { hash_mb: 1, threads: 1 };
    uci::serve(&commands[..], writer, options, Duration::ZERO).expect("it ends well");
    let lines: Vec<String> = output.1.iter().collect();
    assert!(lines[0].starts_with("info string unknown command"), "{lines:?}");
    assert!(lines[1].starts_with("info string unknown command"), "{lines:?}");
    assert!(lines.last().is_some_and(|line| line.starts_with("bestmove ")), "{lines:?}");
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

/// The lines of one iteration come together, numbered, with different moves, the best first.
#[track_caller]
fn expect_lines(infos: &[String], count: usize) {
    let lines = last_lines(infos, count);
    let numbers: Vec<i64> = lines.iter().map(|line| number(line, "multipv")).collect();
    assert_eq!(numbers, (1..).take(count).collect::<Vec<_>>(), "{lines:#?}");
    assert!(lines.iter().all(|line| number(line, "depth") == number(lines[0], "depth")));
    assert!(lines.is_sorted_by_key(|line| -score(line)), "{lines:#?}");
    let mut moves: Vec<&str> = lines.iter().filter_map(|line| pv(line).split(' ').next()).collect();
    moves.sort_unstable();
    moves.dedup();
    assert_eq!(moves.len(), count, "{lines:#?}");
}

#[test]
fn several_lines_are_told_best_first() {
    let session = Session::start();
    session.send("setoption name MultiPV value 4");
    session.send("go depth 7");
    let (best, infos) = session.until("bestmove ");
    expect_lines(&infos, 4);
    let first = last_lines(&infos, 4)[0];
    let mv = pv(first).split(' ').next().expect("a move");
    assert!(best.starts_with(&format!("bestmove {mv}")), "{best} {first}");
    assert_eq!(infos.iter().filter(|line| line.contains(" multipv 4 ")).count(), 7);
}

#[test]
fn the_best_of_several_lines_is_that_of_one() {
    // Not the same search, but the same win.
    let position = "position startpos moves g1f3 a7a6";
    let session = Session::start();
    for lines in [1, 3] {
        session.send("ucinewgame");
        session.send(&format!("setoption name MultiPV value {lines}"));
        session.send(position);
        session.send("go depth 6");
        let (best, infos) = session.until("bestmove ");
        assert!(best.starts_with("bestmove f3e5"), "{lines}: {best}");
        expect_lines(&infos, lines);
    }
}

#[test]
fn more_lines_than_moves_are_as_many_as_there_are_moves() {
    let session = Session::start();
    session.send("setoption name MultiPV value 256");
    session.send("go depth 3");
    let (_, infos) = session.until("bestmove ");
    expect_lines(&infos, 20);
    session.send("go depth 4 searchmoves e2e4 a2a3 h2h4");
    let (best, infos) = session.until("bestmove ");
    expect_lines(&infos, 3);
    assert!(infos.iter().all(|line| !line.contains(" multipv 4 ")), "{infos:#?}");
    assert!(["e2e4", "a2a3", "h2h4"].iter().any(|mv| best.contains(mv)), "{best}");
}

#[test]
fn several_wins_are_lines_as_well() {
    let session = Session::start();
    session.send("setoption name MultiPV value 3");
    session
        .send("position fen r1bqkb1r/ppp1pp1p/2n2np1/3pN3/3P4/2N5/PPP1PPPP/R1BQKB1R w KQkq - 0 5");
    session.send("go depth 5");
    let (_, infos) = session.until("bestmove ");
    expect_lines(&infos, 3);
    let lines = last_lines(&infos, 3);
    assert_eq!(number(lines[0], "mate"), 1, "{lines:#?}");
    assert_eq!(number(lines[1], "mate"), 2, "{lines:#?}");
}

#[test]
fn threads_search_several_lines_too() {
    let session = Session::start();
    session.send("setoption name Threads value 3");
    session.send("setoption name MultiPV value 3");
    session.send("isready");
    session.until("readyok");
    session.send("go depth 7");
    let (_, infos) = session.until("bestmove ");
    expect_lines(&infos, 3);
}

#[test]
fn several_lines_can_be_stopped_at_any_time() {
    let session = Session::start();
    session.send("setoption name MultiPV value 5");
    session.send("go depth 4");
    session.until("bestmove ");
    for nodes in (1..4000).step_by(331) {
        session.send(&format!("go nodes {nodes}"));
        let (best, infos) = session.until("bestmove ");
        let lines: Vec<&String> = infos.iter().filter(|line| line.contains(" pv ")).collect();
        for block in lines.chunks(5) {
            assert_eq!(block.len(), 5, "{infos:#?}");
            assert!(block.is_sorted_by_key(|line| -score(line)), "{block:#?}");
        }
        if let Some(last) = lines.chunks(5).next_back() {
            assert!(
                best.contains(pv(last[0]).split(' ').next().expect("a move")),
                "{best} {last:#?}"
            );
        }
    }
}

#[test]
fn the_figures_come_directly_before_the_move() {
    let session = Session::start();
    session.send("go nodes 2500");
    let (_, infos) = session.until("bestmove ");
    let last = infos.last().expect("figures");
    assert!(last.starts_with("info depth ") && !last.contains(" pv "), "{last}");
    assert_eq!(number(last, "nodes"), 2500);
    for key in ["seldepth", "nps", "hashfull", "time"] {
        assert!(number(last, key) >= 0);
    }
}

/// What a search says, without what depends on the clock.
fn timeless(session: &Session, go: &str) -> Vec<String> {
    session.send(go);
    let (best, mut infos) = session.until("bestmove ");
    infos.push(best);
    let strip = |line: String| {
        let words: Vec<&str> = line.split(' ').collect();
        let is_timed = |index: usize| {
            let key = |at: usize| matches!(words.get(at), Some(&("nps" | "time")));
            key(index) || index.checked_sub(1).is_some_and(key)
        };
        let kept = words.iter().enumerate().filter(|&(index, _)| !is_timed(index));
        kept.map(|(_, &word)| word).collect::<Vec<_>>().join(" ")
    };
    infos.into_iter().map(strip).collect()
}

#[test]
fn the_same_nodes_give_the_same_search() {
    let game = ["startpos moves g1f3 f7f6 e2e3", "startpos moves g1f3 f7f6 e2e3 d7d5 d2d4"];
    let play = |session: &Session| -> Vec<String> {
        let mut said = Vec::new();
        for position in game {
            session.send(&format!("position {position}"));
            said.extend(timeless(session, "go nodes 20000"));
        }
        session.send("setoption name MultiPV value 3");
        said.extend(timeless(session, "go nodes 20000"));
        session.send("setoption name MultiPV value 1");
        said
    };
    let (first, second) = (Session::start(), Session::start());
    let said = play(&first);
    assert!(said.len() > 20, "{said:#?}");
    assert_eq!(play(&second), said, "another session");
    for again in ["ucinewgame", "setoption name Clear Hash"] {
        // Something else in between, that has to be forgotten.
        first.send("position startpos");
        first.send("go nodes 7000");
        first.best_move();
        first.send(again);
        assert_eq!(play(&first), said, "after {again}");
    }
}

#[test]
fn chances_are_shown_on_demand() {
    let session = Session::start();
    session.send("go depth 3");
    let (_, infos) = session.until("bestmove ");
    assert!(infos.iter().all(|line| !line.contains(" wdl ")), "{infos:?}");
    session.send("setoption name UCI_ShowWDL value true");
    let chances = |line: &str| -> Vec<i64> {
        let words = line.split(' ').skip_while(|&word| word != "wdl").skip(1).take(3);
        words.map(|word| word.parse().expect("a number")).collect()
    };
    session.send("go depth 5");
    let (_, infos) = session.until("bestmove ");
    for line in infos.iter().filter(|line| line.contains(" pv ")) {
        let [win, draw, loss] = chances(line)[..] else { panic!("{line}") };
        assert!(win + draw + loss == 1000 && win.min(draw).min(loss) > 0, "{line}");
        assert_eq!((win - loss).signum(), number(line, "cp").signum(), "{line}");
        let after_score = line.split(" score cp ").nth(1).and_then(|rest| rest.split(' ').nth(1));
        assert_eq!(after_score, Some("wdl"), "{line}");
    }
    session.send("position startpos moves g1f3 a7a6");
    session.send("go depth 5");
    let (_, infos) = session.until("bestmove ");
    assert_eq!(chances(last_lines(&infos, 1)[0]), [1000, 0, 0], "{infos:?}");
}

#[test]
fn a_search_for_a_mate_ends_with_the_mate_or_with_the_loss() {
    let session = Session::start();
    // Ne5 wins in two: Nxd7 and Nxf7 cannot both be met.
    session.send("position startpos moves g1f3 a7a6");
    session.send("go mate 4");
    let (best, infos) = session.until("bestmove ");
    assert!(best.starts_with("bestmove f3e5"), "{best}");
    let mate = number(last_lines(&infos, 1)[0], "mate");
    assert!((1..=4).contains(&mate), "{infos:?}");
    // The side that is lost finds no mate of its own.
    session.send("position startpos moves g1f3 a7a6 f3e5 a6a5");
    session.send("go mate 2");
    let (_, infos) = session.until("bestmove ");
    assert_eq!(number(last_lines(&infos, 1)[0], "mate"), 1, "{infos:?}");
    session.send("position startpos moves g1f3 a7a6 f3e5");
    session.send("go mate 5");
    let (_, infos) = session.until("bestmove ");
    assert!(number(last_lines(&infos, 1)[0], "mate") < 0, "{infos:?}");
    // There is no mate from the start: only another limit ends the search.
    session.send("position startpos");
    session.send("go mate 1");
    session.wait_for_info();
    session.expect_no_best_move();
    session.stop();
}

#[test]
fn a_finished_game_has_a_score_and_no_move() {
    let session = Session::start();
    for (fen, score) in [
        ("8/8/8/8/8/8/8/K6R b - - 0 1", " score mate 0 "),
        ("8/8/6Qk/8/8/8/8/1K6 b - - 0 1", " score "),
        ("k7/2Q5/8/8/8/8/8/K7 b - - 0 1", " score cp 0 "),
    ] {
        session.send(&format!("position fen {fen}"));
        session.send("go depth 3");
        let (best, infos) = session.until("bestmove ");
        assert_eq!(best, "bestmove 0000", "{fen}");
        assert!(infos.last().is_some_and(|line| line.contains(score)), "{fen}: {infos:?}");
    }
}

#[test]
fn a_new_search_ends_the_old_one_which_answers_first() {
    let session = Session::start();
    session.send("go infinite searchmoves a2a3");
    session.wait_for_info();
    session.send("go depth 2 searchmoves h2h3");
    assert_eq!(session.best_move(), "a2a3");
    assert_eq!(session.best_move(), "h2h3");
}

#[test]
fn options_can_be_set_while_it_searches() {
    let session = Session::start();
    session.send("go infinite");
    session.wait_for_info();
    for option in ["MultiPV value 2", "UCI_ShowWDL value true", "Move Overhead value 20"] {
        session.send(&format!("setoption name {option}"));
    }
    session.expect_no_best_move();
    session.stop();
    // A new size ends the search.
    for option in ["Hash value 2", "Threads value 2", "Clear Hash"] {
        session.send("go infinite");
        session.wait_for_info();
        session.send(&format!("setoption name {option}"));
        session.best_move();
        session.send("isready");
        session.until("readyok");
    }
    session.send("go depth 3");
    let (_, infos) = session.until("bestmove ");
    expect_lines(&infos, 2);
    assert!(infos[0].contains(" wdl "), "{infos:?}");
}

#[test]
fn a_position_for_later_does_not_disturb_the_search() {
    let session = Session::start();
    session.send("go infinite searchmoves a2a3");
    session.wait_for_info();
    session.send("position startpos moves e2e4");
    session.send("ponderhit");
    session.expect_no_best_move();
    assert_eq!(session.stop(), "a2a3");
    session.send("go depth 1 searchmoves e7e5");
    assert_eq!(session.best_move(), "e7e5");
}

#[test]
fn pondering_ends_at_no_limit_before_the_hit() {
    let session = Session::start();
    for limit in ["depth 2", "nodes 100", "movetime 1", "mate 1"] {
        session.send("position startpos moves g1f3 a7a6 f3e5 a6a5");
        session.send(&format!("go ponder {limit}"));
        session.expect_no_best_move();
        session.send("ponderhit");
        session.best_move();
    }
}

#[test]
fn commands_out_of_place_are_passed_over() {
    let session = Session::start();
    for command in ["stop", "ponderhit", "", "   ", "debug on", "register later", "stop"] {
        session.send(command);
    }
    session.send("isready");
    assert_eq!(session.line(), "readyok");
    session.send("go depth 2 quickly");
    assert_eq!(session.line(), "info string 'go' knows no 'quickly'");
    session.best_move();
}

#[test]
fn the_end_of_the_input_ends_a_search() {
    let session = Session::start();
    session.send("go infinite");
    session.wait_for_info();
    let end = Instant::now();
    session.finish();
    assert!(end.elapsed() < STOP_LIMIT);
}

#[test]
fn a_long_search_says_how_far_it_is() {
    let session = Session::start();
    session.send("go movetime 4600");
    let (_, infos) = session.until("bestmove ");
    let news: Vec<&String> = infos
        .iter()
        .filter(|line| !line.contains(" pv ") && !line.contains(" seldepth "))
        .collect();
    assert!(!news.is_empty(), "{infos:#?}");
    for line in news {
        assert!(number(line, "time") >= 3000 && number(line, "nodes") > 0, "{line}");
        assert!(number(line, "nps") > 0 && number(line, "hashfull") >= 0, "{line}");
        assert!(!line.contains("currmove ") || number(line, "currmovenumber") >= 1, "{line}");
    }
}
