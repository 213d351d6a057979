//! The built program, as a shell runs it: output, errors and exit codes.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{Child, Command, ExitStatus, Output, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);
const TOKEN: &str = "lip_RecognisableTestToken0042";

/// The program in an empty folder, so that no file of settings is found by chance, and without
/// variables of ours.
struct Program {
    folder: TempDir,
}

impl Program {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meitner"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command.env("STATE_DIRECTORY", self.folder.path());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("MEITNER_") {
                command.env_remove(name);
            }
        }
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.run_with(arguments, &[])
    }

    fn run_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
        let mut command = self.command(arguments);
        command.envs(variables.iter().copied()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("the program starts");
        wait(child)
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Waits for the end with a limit.
fn wait(child: Child) -> Output {
    let id = child.id();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        // The receiver waits until its patience ends.
        let _ = sender.send(child.wait_with_output());
    });
    let output = receiver.recv_timeout(PATIENCE);
    assert!(output.is_ok(), "process {id} does not end");
    output.expect("it has ended").expect("its output is read")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

#[track_caller]
fn expect_success(output: &Output) -> String {
    assert!(output.status.success(), "{}: {}", output.status, stderr(output));
    stdout(output)
}

/// It ends with this code and one line of error.
#[track_caller]
fn expect_error(output: &Output, code: i32) -> String {
    let error = stderr(output);
    assert_eq!(output.status.code(), Some(code), "{error}");
    let lines: Vec<&str> = error.lines().filter(|line| line.starts_with("meitner: ")).collect();
    assert_eq!(lines.len(), 1, "{error}");
    lines[0].trim_start_matches("meitner: ").to_owned()
}

#[test]
fn without_a_command_it_shows_its_commands() {
    let output = Program::new().run(&[]);
    assert_eq!(output.status.code(), Some(2));
    let help = stderr(&output);
    for command in
        ["run", "demo", "soak", "arena", "uci", "analyse", "perft", "bench", "pgn", "check"]
    {
        assert!(help.contains(&format!("\n  {command} ")), "{command}: {help}");
    }
}

#[test]
fn perft_divides_and_counts() {
    let text = expect_success(&Program::new().run(&["perft", "3"]));
    assert_eq!(text.lines().filter(|line| line.contains(": ")).count(), 20, "{text}");
    assert!(text.contains("e2e4: 600\n"), "{text}");
    assert!(text.contains("\ntotal      8902\n"), "{text}");
    for line in ["time       ", "leaves/s   "] {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn perft_takes_a_position_and_refuses_a_bad_one() {
    let program = Program::new();
    let fen = "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1";
    let text = expect_success(&program.run(&["perft", "--fen", fen, "2"]));
    assert!(text.contains("\ntotal      375\n"), "{text}");
    let error = expect_error(&program.run(&["perft", "--fen", "nonsense", "2"]), 1);
    assert!(error.starts_with("--fen: ") && error.contains("nonsense"), "{error}");
    assert_eq!(program.run(&["perft", "deep"]).status.code(), Some(2));
    assert!(expect_success(&program.run(&["perft", "0"])).contains("\ntotal      1\n"));
}

#[test]
fn bench_ends_with_nodes_and_speed_and_repeats_its_nodes() {
    let program = Program::new();
    let nodes = |output: &Output| {
        let text = expect_success(output);
        let last = text.lines().last().expect("a last line").to_owned();
        let words: Vec<&str> = last.split(' ').collect();
        assert_eq!((words.len(), words[1], words[3]), (4, "nodes", "nps"), "{last}");
        assert!(words[2].parse::<u64>().is_ok(), "{last}");
        words[0].parse::<u64>().expect("a number of nodes")
    };
    let first = nodes(&program.run(&["bench", "4"]));
    assert!(first > 1000, "{first}");
    assert_eq!(nodes(&program.run(&["bench", "4"])), first);
}

/// `OpenBench` reads the output from its end, with anything but letters, digits and spaces made
/// spaces, and takes the first `N nodes` and `N nps` that it meets (`Client/bench.py`).
#[test]
fn bench_is_read_as_openbench_reads_it() {
    let output = Program::new().run(&["bench", "3"]);
    let text = expect_success(&output) + &stderr(&output);
    let (mut nodes, mut speed) = (None, None);
    for line in text.trim().lines().rev() {
        let plain: String =
            line.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { ' ' }).collect();
        let words: Vec<&str> = plain.split_whitespace().collect();
        let number = |unit| {
            let number = |index: usize| words.get(index).and_then(|word| word.parse::<u64>().ok());
            let at = words.iter().position(|word| word.eq_ignore_ascii_case(unit))?;
            at.checked_sub(1).and_then(number).or_else(|| number(at + 1))
        };
        nodes = nodes.or_else(|| number("nodes"));
        speed = speed.or_else(|| number("nps"));
    }
    let counts = text.lines().skip(2).filter_map(|line| {
        let first = line.split_whitespace().next()?.parse::<u64>().ok()?;
        line.contains('/').then_some(first)
    });
    assert_eq!(nodes, Some(counts.sum()), "{text}");
    assert!(speed.is_some_and(|speed| speed > 0), "{text}");
}

#[test]
fn analyse_explains_a_position() {
    let program = Program::new();
    let text = expect_success(&program.run(&["analyse", "--depth", "5", "--moves", "1. Nf3 a7a6"]));
    assert!(text.starts_with("8  r n b q k b n r\n7  . p p p p p p p\n"), "{text}");
    for part in ["\nto move      White, move 2\n", "\nbest move    Ne5\n", "  #", "2.Ne5 "] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains('\x1b'), "{text}");
    let rows = text.lines().filter(|line| line.contains(" 2.")).count();
    assert!((1..=5).contains(&rows), "{text}");
}

#[test]
fn analyse_shows_several_lines_of_a_position_in_words_without_quotes() {
    let fen = "4k3/8/8/8/8/8/PP6/R3K3 b - - 0 1";
    let mut arguments = vec!["analyse", "--lines", "3", "--nodes", "3000", "--board", "figures"];
    arguments.extend(fen.split(' '));
    let text = expect_success(&Program::new().run(&arguments));
    assert!(text.contains("♔") && text.contains(fen), "{text}");
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("line ")).collect();
    assert_eq!(lines.len(), 3, "{text}");
    // White is better, whoever is to move.
    assert!(lines.iter().all(|line| line.contains(" +") && line.contains(" 1...")), "{text}");
}

#[test]
fn analyse_knows_a_game_that_is_over() {
    let program = Program::new();
    let text = expect_success(&program.run(&["analyse", "--moves", "Nf3 a6 Ne5 a5 Nxf7"]));
    assert!(text.contains("game over    1-0, White has won by explosion\n"), "{text}");
    assert!(!text.contains("best move"), "{text}");
}

#[test]
fn analyse_refuses_nonsense_in_one_sentence() {
    let program = Program::new();
    let error = expect_error(&program.run(&["analyse", "nonsense"]), 1);
    assert!(error.starts_with("'nonsense' is no position: "), "{error}");
    let error = expect_error(&program.run(&["analyse", "--moves", "e4 Ke4"]), 1);
    assert!(error.starts_with("--moves: 'Ke4' is no legal move in "), "{error}");
    for bad in [["--time", "soon"], ["--depth", "0"], ["--lines", "0"], ["--hash", "x"]] {
        let output = program.run(&["analyse", bad[0], bad[1]]);
        assert_eq!(output.status.code(), Some(2), "{bad:?}");
        assert!(stderr(&output).contains(bad[1]), "{}", stderr(&output));
    }
}

/// Interfaces and match programs start an engine by its name alone.
#[test]
fn without_a_command_it_speaks_uci_to_whoever_speaks_first() {
    let program = Program::new();
    let mut command = program.command(&[]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(b"uci\ngo depth 1\nisready\nquit\n").expect("the program reads");
    let text = expect_success(&wait(child));
    assert!(text.starts_with("id name Meitner ") && text.contains("\nuciok\n"), "{text}");
}

#[test]
fn uci_speaks_over_pipes() {
    let program = Program::new();
    let mut command = program.command(&["uci"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut input = child.stdin.take().expect("a pipe");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut until = |begin: &str| {
        lines.by_ref().map(|line| line.expect("a line")).find(|line| line.starts_with(begin))
    };
    writeln!(input, "uci").expect("a pipe");
    until("uciok").expect("uciok");
    writeln!(input, "position startpos moves e2e4\ngo nodes 500").expect("a pipe");
    until("bestmove ").expect("a move");
    writeln!(input, "quit").expect("a pipe");
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let program = Program::new();
    let mut command = program.command(&["bench", "3"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    drop(child.stdout.take());
    let output = wait(child);
    assert!(output.status.success(), "{}", output.status);
    assert_eq!(stderr(&output), "");
}

#[test]
fn bad_settings_end_with_code_two_and_a_sentence() {
    let program = Program::new();
    for command in ["run", "demo", "arena"] {
        let output = program.run(&[command, "--set", "challenge.concurency=2"]);
        let error = expect_error(&output, 2);
        let expected = "--set challenge.concurency: there is no key `challenge.concurency`; did \
                        you mean `challenge.concurrency`?";
        assert_eq!(error, expected, "{command}");
    }
    let output = program.run_with(&["run"], &[("MEITNER_SEARCH__THREADS", "0")]);
    let error = expect_error(&output, 2);
    assert!(error.starts_with("MEITNER_SEARCH__THREADS: `search.threads` is 0, but"), "{error}");
    fs::create_dir(program.path().join("config")).expect("a folder");
    let file = program.path().join("config/meitner.toml");
    fs::write(&file, "[search]\nhash_mb = 0\n").expect("a file");
    let error = expect_error(&program.run(&["run"]), 2);
    assert!(error.starts_with("config/meitner.toml: `search.hash_mb` is 0, but"), "{error}");
    let error = expect_error(&program.run(&["run", "--config", "none.toml"]), 2);
    assert!(error.starts_with("none.toml: cannot be read: "), "{error}");
}

#[test]
fn what_may_be_secret_in_the_address_of_a_list_is_not_shown() {
    let program = Program::new();
    let own = program.path().join("own.toml");
    let urls = "[\"https://a.example/l?key=K1\", \"https://a.example/l?key=K1K2\", \"https://b.example/m\"]";
    fs::write(&own, format!("[challenge]\nblock_urls = {urls}\n")).unwrap();
    let arguments = ["config", "show", "--config", own.to_str().unwrap()];
    let shown = expect_success(&program.run(&arguments));
    let hidden = "https://a.example/l?[hidden]";
    let line = format!("block_urls = [\"{hidden}\", \"{hidden}\", \"https://b.example/m\"]");
    assert!(shown.contains(&line), "{shown}");
    assert!(!shown.contains("K1") && !shown.contains("K2"), "{shown}");
}

#[test]
fn the_merged_settings_are_a_file_of_the_same_settings() {
    let program = Program::new();
    let own = program.path().join("own.toml");
    fs::write(&own, "[challenge]\nspeeds = [\"blitz\"]\n[game.bot]\nresign = true\n").unwrap();
    let own = own.to_str().unwrap();
    let arguments = ["config", "show", "--config", own, "--set", "chat.greeting=A \"guest\"?"];
    let variables = [("MEITNER_LICHESS__TOKEN", TOKEN), ("MEITNER_SEARCH__HASH_MB", "32")];
    let shown = expect_success(&program.run_with(&arguments, &variables));
    assert!(!shown.contains(TOKEN), "{shown}");
    for line in [
        "url = \"https://lichess.org\"  # the built-in defaults".to_owned(),
        "# token is set, and hidden  # MEITNER_LICHESS__TOKEN".to_owned(),
        "hash_mb = 32  # MEITNER_SEARCH__HASH_MB".to_owned(),
        "greeting = \"A \\\"guest\\\"?\"  # --set chat.greeting".to_owned(),
        format!("speeds = [\"blitz\"]  # {own}"),
        format!("resign = true  # {own}"),
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line}: {shown}");
    }

    let again = program.path().join("again.toml");
    fs::write(&again, &shown).unwrap();
    let arguments = ["config", "show", "--config", again.to_str().unwrap()];
    let read = expect_success(&program.run(&arguments));
    let values = |text: &str| -> Vec<String> {
        let values = text.lines().filter(|line| !line.starts_with('#'));
        values.filter_map(|line| Some(line.rsplit_once("  # ")?.0.to_owned())).collect()
    };
    assert!(values(&shown).len() > 50, "{shown}");
    assert_eq!(values(&shown), values(&read));
    assert!(read.contains("\n# token is not set\n"), "{read}");

    let error = expect_error(&program.run(&["config", "show", "--set", "search.hash_mb=x"]), 2);
    assert!(error.contains("search.hash_mb"), "{error}");
}

#[test]
fn the_service_runs_this_program_and_waits_for_its_games() {
    let arguments = ["systemd", "--set", "shutdown.finish_limit_s=100"];
    let unit = expect_success(&Program::new().run(&arguments));
    assert!(unit.contains("\nTimeoutStopSec=160\n"), "{unit}");
    let program = format!("\nExecStart={} run --config ", env!("CARGO_BIN_EXE_meitner"));
    assert!(unit.contains(&program), "{unit}");
}

#[test]
fn completions_and_the_manual_know_every_command() {
    let program = Program::new();
    let help = stderr(&program.run(&[]));
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands: Vec<&str> = commands
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !name.is_empty() && *name != "help")
        .collect();
    assert!(commands.len() > 12, "{help}");
    let manual = expect_success(&program.run(&["man"]));
    for command in &commands {
        let heading = format!(".SH \"MEITNER {}\"", command.to_uppercase());
        assert!(manual.contains(&heading), "{command}: {manual}");
    }
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = expect_success(&program.run(&["completions", shell]));
        for command in &commands {
            assert!(script.contains(command), "{command}: {shell}");
        }
    }
    assert_eq!(program.run(&["completions", "tcsh"]).status.code(), Some(2));
}

#[test]
fn the_document_of_all_settings_is_printed() {
    let text = expect_success(&Program::new().run(&["config", "docs"]));
    assert!(text == include_str!("../docs/SETTINGS.md"), "see the test of the library");
}

#[test]
fn an_arena_for_others_wants_a_token_of_its_own() {
    let program = Program::new();
    let error = expect_error(&program.run(&["arena", "--address", "0.0.0.0", "--port", "0"]), 1);
    assert!(error.starts_with("--address 0.0.0.0: ") && error.contains("--token"), "{error}");
    let output = program.run(&["arena", "--address", "0.0.0.0", "--token", "short"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("at least 12"), "{}", stderr(&output));
}

#[test]
fn how_far_a_long_command_is_does_not_spoil_its_output() {
    let program = Program::new();
    let output = program.run(&["selfplay", "--games", "1", "--nodes", "20"]);
    assert_eq!(expect_success(&output).lines().count(), 1);
    assert!(!stderr(&output).contains('\x1b'), "{}", stderr(&output));
}

#[test]
fn run_needs_a_token() {
    let error = expect_error(&Program::new().run(&["run"]), 2);
    assert!(error.starts_with("there is no token: "), "{error}");
}

#[test]
fn check_names_each_thing_and_what_to_do() {
    let program = Program::new();
    // Nobody listens on port 9 of this machine.
    let nowhere = ["check", "--set", "lichess.url=http://127.0.0.1:9"];
    let output = program.run(&nowhere);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let text = stdout(&output);
    let begins: Vec<&str> = text.lines().map(|line| line.get(..14).unwrap_or(line)).collect();
    assert_eq!(
        begins,
        ["ok   settings ", "ok   store    ", "ok   lists    ", "BAD  token    ", "BAD  server   ",],
        "{text}"
    );
    let output = program.run_with(&nowhere, &[("MEITNER_LICHESS__TOKEN", TOKEN)]);
    assert_eq!(output.status.code(), Some(1));
    assert!(!(stdout(&output) + &stderr(&output)).contains(TOKEN));
    // A file is where the folders should be, and others can read the token.
    fs::write(program.path().join("file"), TOKEN).expect("a file");
    let [state, log, token] =
        ["store.folder=file/a", "log.folder=file/b", "lichess.token_file=file"];
    let files = ["--set", state, "--set", log, "--set", token];
    let text = stdout(&program.run(&[&nowhere[..], &files].concat()));
    for line in [
        "\nBAD  store     file/a: cannot be written",
        "\nBAD  log       file/b: ",
        "\nWARN secrets   others can",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    // A list that cannot be read keeps no bot from playing; what may be secret of its address is not told.
    let list = "challenge.block_urls=http://127.0.0.1:9/names?key=hidden";
    let text = stdout(&program.run(&[&nowhere[..], &["--set", list]].concat()));
    let line = "\nWARN lists     http://127.0.0.1:9/names: it cannot be reached: ";
    assert!(text.contains(line) && !text.contains("hidden"), "{text}");
    let output = program.run(&["check", "--set", "search.threads=x"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stdout(&output).starts_with("BAD  settings "), "{}", stdout(&output));
    let all_for_people = [&nowhere[..], &["--set", "challenge.reserved_for_humans=1"]].concat();
    let text = stdout(&program.run(&all_for_people));
    assert!(
        text.contains("\nWARN settings  challenge.reserved_for_humans leaves bots no slot"),
        "{text}"
    );
}

#[test]
fn a_demo_plays_its_games_and_ends() {
    let program = Program::new();
    let text = expect_success(&program.run(&[
        "demo",
        "--games",
        "2",
        "--pgn",
        "games.pgn",
        "--time",
        "60+0",
        "--opponent",
        "random",
        "--set",
        "search.nodes=500",
        "--set",
        "search.hash_mb=1",
    ]));
    let overs = text.lines().filter(|line| line.contains(": over after ")).count();
    assert_eq!(overs, 2, "{text}");
    assert!(text.contains("game 1 of 2: Meitner (white) against QuietRook1 (black), 60+0\n"));
    assert!(text.contains("\n0 illegal moves, 0 games lost on time\n"), "{text}");
    let games = expect_success(&program.run(&["pgn", "games.pgn"]));
    assert_eq!(games.lines().count(), 2, "{games}");
    assert!(games.starts_with("games.pgn: game 1: BOT Meitner ("), "{games}");
}

#[test]
fn a_demo_tells_at_once_that_its_games_have_no_place() {
    let error = expect_error(&Program::new().run(&["demo", "--pgn", "no/games.pgn"]), 1);
    assert!(error.starts_with("cannot write no/games.pgn: "), "{error}");
}

#[test]
fn games_are_checked_one_line_each() {
    let program = Program::new();
    let good = "[White \"QuietRook7\"]\n[WhiteElo \"1876\"]\n[Variant \"Atomic\"]\n\n\
                1. Nf3 a6 2. Ne5 a5 3. Nxf7 1-0\n\n";
    let bad = "[Variant \"Atomic\"]\n\n1. e4 Ke7 *\n\n";
    let wrong = good.replace("1-0", "0-1");
    fs::write(program.path().join("a.pgn"), format!("{good}{bad}{wrong}")).expect("a file");
    fs::write(program.path().join("empty.pgn"), "").expect("a file");
    // Names that would turn or command a terminal.
    let hostile = good.replace("QuietRook7", "Q\u{1b}[2J\u{202e}R");
    fs::write(program.path().join("hostile.pgn"), hostile).expect("a file");
    let line = expect_success(&program.run(&["pgn", "hostile.pgn"]));
    assert!(!line.trim_end().contains(|c: char| c.is_control() || c == '\u{202e}'), "{line:?}");

    let output = program.run(&["pgn", "a.pgn", "empty.pgn", "none.pgn"]);
    assert_eq!(output.status.code(), Some(1));
    let line = "a.pgn: game 1: QuietRook7 (1876) - ?, 1-0, 5 plies, explosion\n";
    assert_eq!(stdout(&output), line);
    let errors = stderr(&output);
    let errors: Vec<&str> = errors.lines().collect();
    assert_eq!(errors.len(), 4, "{errors:?}");
    for (error, start) in errors.iter().zip([
        "meitner: a.pgn: game 2 (line 7): ply 2: 'Ke7' is no legal move in ",
        "meitner: a.pgn: game 3: its result is 0-1, but the moves end with explosion, 1-0",
        "meitner: empty.pgn: holds no game",
        "meitner: none.pgn: cannot be read: ",
    ]) {
        assert!(error.starts_with(start), "{error}");
    }

    let mut command = program.command(&["pgn", "--write", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    write!(child.stdin.take().expect("a pipe"), "{good}").expect("a pipe");
    let text = expect_success(&wait(child));
    assert!(text.starts_with("[Event \"?\"]\n"), "{text}");
    assert!(text.ends_with("\n\n1. Nf3 a6 2. Ne5 a5 3. Nxf7# 1-0\n\n"), "{text}");
}

#[test]
fn games_of_selfplay_are_written_as_pgn_too() {
    let program = Program::new();
    let files = ["--out", "games.txt", "--pgn", "games.pgn"];
    let arguments = ["selfplay", "--games", "2", "--nodes", "50"];
    expect_success(&program.run(&[&arguments[..], &files].concat()));
    let games = expect_success(&program.run(&["pgn", "games.pgn"]));
    assert_eq!(games.lines().count(), 2, "{games}");
}

#[test]
fn a_demo_survives_a_bad_connection_with_several_games_at_once() {
    let output = Program::new().run(&[
        "demo",
        "--games",
        "4",
        "--concurrency",
        "2",
        "--opponent",
        "engine",
        "--opponent-nodes",
        "200",
        "--faults",
        "--set",
        "search.nodes=500",
        "--set",
        "search.hash_mb=1",
    ]);
    let text = expect_success(&output);
    assert_eq!(text.lines().filter(|line| line.contains(": over after ")).count(), 4, "{text}");
    assert!(
        text.contains("\n0 illegal moves, 0 games lost on time"),
        "{text}\n{}",
        stderr(&output)
    );
}

#[test]
fn a_soak_survives_every_fault_and_a_restart() {
    let arguments = ["--games", "8", "--concurrency", "4", "--restarts", "1", "--seed", "7"];
    let table = ["--set", "search.hash_mb=1"];
    let output = Program::new().run(&[&["soak"], &arguments[..], &table].concat());
    let text = stdout(&output);
    assert!(output.status.success(), "{text}{}", stderr(&output));
    for part in [
        "games            8 of 8 in ",
        "\nrestarts         1\n",
        "\nillegal moves    0\n",
        "\nuntimely moves   0\n",
        "\nlost on time     0\n",
        "\nstuck slots      0\n",
        "\nfile handles ",
    ] {
        assert!(text.contains(part), "{part}: {text}\n{}", stderr(&output));
    }
}

/// A bot that may not move loses on time, and the soak says so.
#[test]
fn a_soak_fails_when_a_bar_is_missed() {
    let program = Program::new();
    let faults = r#"faults = [{ endpoint = "move", fault = "hung-request", rate = 0.7 }]"#;
    fs::write(program.path().join("faults.toml"), faults).expect("a file");
    let arguments = ["--games", "1", "--concurrency", "1", "--time", "2+0.7"];
    let faults = ["--faults", "faults.toml", "--set", "search.hash_mb=1"];
    let output = program.run(&[&["soak"], &arguments[..], &faults].concat());
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{text}{}", stderr(&output));
    assert!(text.contains("\nlost on time     1\n"), "{text}");
    assert!(text.contains("\nMISSED           1 games lost on time\n"), "{text}");
}

#[test]
fn a_clock_that_is_closed_to_bots_is_refused_at_once() {
    let output = Program::new().run(&["demo", "--games", "1", "--time", "1+0"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("closed to bots"), "{}", stderr(&output));
}

/// The real bot against the real arena, as two programs.
#[cfg(unix)]
#[test]
fn a_bot_and_an_arena_meet_and_part_in_good_order() {
    let program = Program::new();
    let mut command = program.command(&["arena", "--port", "0", "--opponent", "random"]);
    let mut arena = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
    let mut lines = BufReader::new(arena.stdout.take().expect("a pipe")).lines();
    let mut value = |key: &str| {
        let line =
            lines.by_ref().map(|line| line.expect("a line")).find(|line| line.starts_with(key));
        line.expect("the arena introduces itself").split_whitespace().nth(1).expect("it").to_owned()
    };
    let (url, token) = (format!("lichess.url={}", value("url ")), value("token "));
    let variables = [("MEITNER_LICHESS__TOKEN", token.as_str())];

    let checked = program.run_with(&["check", "--set", &url], &variables);
    let text = expect_success(&checked);
    assert!(text.contains("ok   account   Meitner is a bot"), "{text}");
    let wish = ["check", "--set", &url, "--set", "tournament.ids=hL7vMrFQ"];
    let checked = program.run_with(&wish, &variables);
    assert_eq!(checked.status.code(), Some(4));
    let text = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert!(text.contains("BAD  scopes    the token lacks tournament:write"), "{text}");

    let wrong = [("MEITNER_LICHESS__TOKEN", TOKEN)];
    let refused = program.run_with(&["run", "--set", &url], &wrong);
    let error = expect_error(&refused, 3);
    assert!(error.contains("does not accept the token"), "{error}");
    assert!(!stderr(&refused).contains(TOKEN));

    let nodes = ["run", "--set", &url, "--set", "search.nodes=200", "--set", "log.format=json"];
    let mut command = program.command(&nodes);
    command.envs(variables).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut bot = command.spawn().expect("the program starts");
    let mut log = BufReader::new(bot.stderr.take().expect("a pipe"));
    let mut seen = String::new();
    while !seen.contains("\"message\":\"game over\"") {
        assert!(log.read_line(&mut seen).expect("text") > 0, "the bot ended early: {seen}");
    }
    signal(&bot, "TERM");
    log.read_to_string(&mut seen).expect("text");
    assert!(bot.wait().expect("it ends").success(), "{seen}");
    assert!(seen.contains("left in good order") && !seen.contains(&token), "{seen}");
    for line in seen.lines() {
        assert!(line.starts_with('{') && line.ends_with('}'), "{line}");
    }

    signal(&arena, "INT");
    assert!(end(&mut arena).success());
}

/// Both platforms in one process, each against its front of the arena.
#[cfg(unix)]
#[test]
fn a_bot_plays_on_lichess_and_on_fics_at_once() {
    let program = Program::new();
    let arguments = ["arena", "--port", "0", "--fics-port", "0", "--opponent", "random"];
    let mut command = program.command(&arguments);
    let mut arena = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
    let mut lines = BufReader::new(arena.stdout.take().expect("a pipe")).lines();
    let mut value = |key: &str| {
        let line =
            lines.by_ref().map(|line| line.expect("a line")).find(|line| line.starts_with(key));
        let line = line.expect("the arena introduces itself");
        line.split([' ', ',']).filter(|word| !word.is_empty()).nth(1).expect("it").to_owned()
    };
    let (url, token) = (format!("lichess.url={}", value("url ")), value("token "));
    let address = value("fics ");
    let port = format!("fics.port={}", address.rsplit_once(':').expect("a port").1);
    let fics = [
        "--set",
        "fics.enabled=true",
        "--set",
        "fics.host=127.0.0.1",
        "--set",
        &port,
        "--set",
        "fics.account=Meitner",
    ];
    let password = ("MEITNER_FICS__PASSWORD", "demonstration");

    // Without a token only FICS is checked.
    let checked = program.run_with(&[&["check"][..], &fics].concat(), &[password]);
    let text = expect_success(&checked);
    assert!(
        text.contains("ok   fics      logged in as Meitner, registered as a computer's"),
        "{text}"
    );
    let wrong = [("MEITNER_FICS__PASSWORD", "RecognisableSecret")];
    let refused = program.run_with(&[&["run"][..], &fics].concat(), &wrong);
    let error = expect_error(&refused, 3);
    assert!(error.contains("refuses the password of Meitner"), "{error}");
    assert!(!stderr(&refused).contains("RecognisableSecret"));

    let quick =
        ["run", "--set", &url, "--set", "search.nodes=200", "--set", "challenge.concurrency=2"];
    let mut command = program.command(&[&quick[..], &fics].concat());
    command.envs([password, ("MEITNER_LICHESS__TOKEN", token.as_str())]);
    let mut bot =
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut log = BufReader::new(bot.stderr.take().expect("a pipe"));
    let mut seen = String::new();
    let both = |seen: &str| {
        let overs = seen.lines().filter(|line| line.contains("game over")).collect::<Vec<_>>();
        overs.iter().any(|line| line.contains("on FICS"))
            && overs.iter().any(|line| !line.contains("on FICS"))
    };
    while !both(&seen) {
        assert!(log.read_line(&mut seen).expect("text") > 0, "the bot ended early: {seen}");
    }
    signal(&bot, "TERM");
    log.read_to_string(&mut seen).expect("text");
    assert!(bot.wait().expect("it ends").success(), "{seen}");
    assert!(!seen.contains(&token) && !seen.contains("demonstration"), "{seen}");
    signal(&arena, "INT");
    assert!(end(&mut arena).success());
}

#[test]
fn a_demo_on_fics_survives_a_bad_connection() {
    let output = Program::new().run(&[
        "demo",
        "--fics",
        "--faults",
        "--games",
        "3",
        "--time",
        "180+0",
        "--opponent",
        "random",
        "--set",
        "search.nodes=300",
        "--set",
        "search.hash_mb=1",
    ]);
    let text = expect_success(&output);
    assert_eq!(text.lines().filter(|line| line.contains(": over after ")).count(), 3, "{text}");
    assert!(text.contains("\n0 illegal moves, 0 games lost on time"), "{text}");
}

#[cfg(unix)]
fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    let status = Command::new("kill").args(["-s", name, &id]).status().expect("kill is there");
    assert!(status.success(), "kill -s {name} {id}");
}

/// The end of a process, within limits.
fn end(child: &mut Child) -> ExitStatus {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            return status;
        }
        assert!(Instant::now() < until, "process {} does not end", child.id());
        thread::yield_now();
    }
}
