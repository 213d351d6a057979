//! The local port of the running program: figures and health, and the command that asks for it.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    process::{Command, Output},
    time::Instant,
};

use crate::harness::{PATIENCE, Program, Site};

/// `meitner health` for a bot that listens there.
fn health(address: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meitner"));
    command.args(["health", "--set"]).arg(format!("metrics.listen={address}")).args(arguments);
    command.output().expect("the program starts")
}

fn line(output: &Output) -> (Option<i32>, String) {
    assert!(output.stderr.is_empty(), "{output:?}");
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Starts a bot with a port of its own, and returns its address as well.
fn start(site: &Site) -> (Program, String) {
    let program = site.start(&["--set", "metrics.listen=127.0.0.1:0"]);
    let told = program.until_log("metrics and health are told here");
    let address = told.split_once("address=").expect("an address").1;
    (program, address.trim().to_owned())
}

fn metrics(address: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").expect("it is taken");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer in time");
    answer
}

/// The value of a series.
fn value(text: &str, series: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.map(|value| value.parse().expect("a number"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bot_tells_its_figures_and_its_health() {
    let site = Site::open().await;
    let (program, address) = start(&site);
    site.until_online().await;
    let game = site.challenge("QuietRook7");
    site.until_begun(&game).await;
    site.play_on(&game, 2).await;
    let text = metrics(&address);
    let lichess = |name: &str| value(&text, &format!("{name}{{platform=\"lichess\"}}"));
    assert_eq!(lichess("meitner_stream_up"), Some(1.0), "{text}");
    assert_eq!(lichess("meitner_games_running"), Some(1.0), "{text}");
    for name in ["moves_total", "move_latency_seconds_count", "search_depth_count"] {
        assert!(lichess(&format!("meitner_{name}")) >= Some(1.0), "{name}: {text}");
    }
    let accepted = "meitner_challenges_total{platform=\"lichess\",answer=\"accepted\",reason=\"\"}";
    assert_eq!(value(&text, accepted), Some(1.0), "{text}");
    assert_eq!(text.matches("platform=\"fics\"").count(), 0, "nothing is played there");

    let (code, said) = line(&health(&address, &[]));
    assert_eq!(code, Some(0), "{said}");
    assert!(said.starts_with("ok: 1 game, 0 today; lichess up for "), "{said}");
    assert_eq!(line(&health(&address, &["--ready"])).0, Some(0));
    program.signal("TERM");
    program.until_log("finishing running games");
    let (code, said) = line(&health(&address, &["--ready"]));
    assert_eq!(code, Some(1), "{said}");
    assert!(said.starts_with("BAD: closing; 1 game"), "{said}");
    program.signal("TERM");
    program.end();
    let (code, said) = line(&health(&address, &[]));
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("no bot answers at"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_cannot_be_used_is_a_warning_and_nothing_worse() {
    let site = Site::open().await;
    // A file of a version that is still to come is left alone.
    let file = rusqlite::Connection::open(site.folder().join("meitner.db")).expect("a file");
    file.pragma_update(None, "user_version", 1_000_000).expect("a version");
    drop(file);
    let (_program, address) = start(&site);
    site.until_online().await;
    let until = Instant::now() + PATIENCE;
    let said = loop {
        let (code, said) = line(&health(&address, &["--ready"]));
        if said.contains("warning") {
            assert_eq!(code, Some(0), "{said}");
            break said;
        }
        assert!(Instant::now() < until, "{said}");
    };
    assert!(said.contains("; warning: what happens is not remembered: "), "{said}");
    assert_eq!(value(&metrics(&address), "meitner_warning{kind=\"store\"}"), Some(1.0));
}

#[test]
fn health_says_what_it_cannot_ask() {
    let (code, said) = line(&health("", &[]));
    assert_eq!(code, Some(1));
    assert!(said.contains("`metrics.listen` is empty"), "{said}");
    let (code, said) = line(&health("0.0.0.0:1", &[]));
    assert_eq!(code, Some(1));
    assert!(said.contains("`metrics.allow_remote`"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_that_is_taken_keeps_no_bot_from_playing() {
    let site = Site::open().await;
    let taken = site.url.trim_start_matches("http://").to_owned();
    let program = site.start(&["--set", &format!("metrics.listen={taken}")]);
    site.until_online().await;
    program.until_log(&format!("`metrics.listen` is {taken}, where it is not"));
    let game = site.challenge("QuietRook7");
    site.until_begun(&game).await;
    site.play_on(&game, 1).await;
}

/// What a health check asks must not depend on a file that somebody edits.
#[tokio::test(flavor = "multi_thread")]
async fn a_mistake_in_the_settings_makes_no_bot_unhealthy() {
    let site = Site::open().await;
    let (_program, address) = start(&site);
    std::fs::write(site.folder().join("meitner.toml"), "[challenge]\nconcurency = 1\n")
        .expect("a file");
    let ask = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meitner"));
        command.current_dir(site.folder()).arg("health").args(arguments);
        line(&command.output().expect("the program starts"))
    };
    assert!(ask(&[]).1.contains("concurency"), "the mistake is seen where settings are read");
    let (code, said) = ask(&["--address", &address]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.starts_with("ok: 0 games, 0 today; lichess "), "{said}");
    site.until_online().await;
    assert_eq!(ask(&["--address", &address, "--ready"]).0, Some(0));
}

/// Something else may listen there.
#[test]
fn a_strange_answer_is_printed_in_one_clean_line() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    let stranger = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let _ = stream.read(&mut [0; 1024]);
        let text = format!("\u{1b}[2J{}\nmore", "x".repeat(100_000));
        // The other side may close before it has read all of it.
        let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{text}", text.len());
    });
    let mut command = Command::new(env!("CARGO_BIN_EXE_meitner"));
    command.args(["health", "--address", &address]);
    let (code, said) = line(&command.output().expect("the program starts"));
    stranger.join().expect("it answers");
    assert_eq!((code, said.as_str()), (Some(0), format!("ok: [2J{}\n", "x".repeat(397)).as_str()));
}
