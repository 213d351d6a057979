//! `configure`, as the first thing that an operator does, with its answers piped; then `check` and
//! `run` with what it has written.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    process::{Command, Output, Stdio},
};

use meitner::arena::{AccountSpec, Scope};
use tokio::task::JoinSet;

use crate::harness::{BOT, PASSWORD, Program, Site, open_fics};

/// Runs a command in the site's folder with this input. A `{}` in the arguments is the address.
fn run(site: &Site, arguments: &[&str], token: Option<&str>, input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meitner"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("MEITNER_") {
            command.env_remove(name);
        }
    }
    command.args(arguments.iter().map(|argument| argument.replace("{}", &site.url)));
    command.envs(token.map(|token| ("MEITNER_LICHESS__TOKEN", token)));
    command.current_dir(site.folder()).env("STATE_DIRECTORY", site.folder());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    // It may be gone before it has read everything.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    child.wait_with_output().expect("its output")
}

/// All that it has said.
fn said(output: &Output) -> String {
    let both = [&output.stdout, &output.stderr];
    both.map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
}

const AT_ARENA: [&str; 5] = ["configure", "--set", "lichess.url={}", "--set", "search.hash_mb=1"];

#[tokio::test(flavor = "multi_thread")]
async fn a_fresh_account_is_upgraded_and_the_bot_plays_with_what_was_written() {
    let site = Site::open().await;
    let token = site.arena.add_account(&AccountSpec::new("Newcomer"));
    let output = run(&site, &AT_ARENA, None, &format!("{token}\nyes\n3\n\nno\n"));
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("CANNOT BE UNDONE") && text.contains("Newcomer is a bot account now"));
    assert!(text.contains("/account/oauth/token/create?scopes[]=bot:play"), "{text}");
    assert!(!text.contains(&token), "{text}");

    let settings = fs::read_to_string(site.folder().join("meitner.toml")).unwrap();
    for part in ["\n# Games at once", "\nconcurrency = 3\n", "\nhash_mb = 1\n", "\nenabled = false"]
    {
        assert!(settings.contains(part), "{part}: {settings}");
    }
    assert!(!settings.contains(&token), "{settings}");
    let file = site.folder().join("meitner.token");
    assert_eq!(fs::read_to_string(&file).unwrap().trim(), token);
    let mode =
        |name: &str| fs::metadata(site.folder().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("meitner.token"), 0o600);
    // Others may read the settings, as far as this user's mask lets them.
    assert_eq!(mode("meitner.toml") & 0o733, 0o600);

    let checked = run(&site, &["check"], None, "");
    let text = said(&checked);
    assert!(checked.status.success(), "{text}");
    for line in ["ok   account   Newcomer is a bot", "ok   store     ", "ok   lists     0 names"] {
        assert!(text.contains(line), "{line}: {text}");
    }

    let mut command = Command::new(env!("CARGO_BIN_EXE_meitner"));
    command.arg("run").current_dir(site.folder()).env("STATE_DIRECTORY", site.folder());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut program = Program::new(command);
    program.follow_log();
    site.until("it is online", |arena| arena.is_online("Newcomer")).await;
    program.signal("TERM");
    assert!(program.end().0.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_overwritten_unasked_and_what_was_there_is_kept() {
    let site = Site::open().await;
    site.write("meitner.toml", "[chat]\ngreeting = \"Hi\"\n[challenge]\nconcurrency = 2\n");
    let before = fs::read_to_string(site.folder().join("meitner.toml")).unwrap();
    let output = run(&site, &AT_ARENA, Some(&site.token), "");
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("meitner.toml exists and stays as it is"), "{}", said(&output));
    assert_eq!(fs::read_to_string(site.folder().join("meitner.toml")).unwrap(), before);

    let arguments = [&AT_ARENA[..], &["--replace"]].concat();
    let output = run(&site, &arguments, Some(&site.token), "");
    assert!(output.status.success(), "{}", said(&output));
    let read = |name: &str| fs::read_to_string(site.folder().join(name)).unwrap();
    let settings = read("meitner.toml");
    assert!(settings.contains("greeting = \"Hi\"") && settings.contains("concurrency = 2"));
    assert_eq!(read("meitner.toml.old"), before);
    assert_eq!(read("meitner.token").trim(), site.token, "the variable's token is kept in a file");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_or_token_that_cannot_play_is_refused_before_anything_is_written() {
    let site = Site::open().await;
    let veteran = site.arena.add_account(&AccountSpec { games: 12, ..AccountSpec::new("Veteran") });
    let weak = site.arena.add_token(BOT, &[Scope::ChallengeRead]).unwrap();
    for (token, code, part) in [
        (veteran.as_str(), 5, "Veteran has played 12 games, so that it can never become a bot"),
        (weak.as_str(), 4, "lacks the scope bot:play"),
        ("lip_wrongToken0000", 3, "does not accept the token"),
        ("", 2, "there is no token"),
    ] {
        let output = run(&site, &AT_ARENA, None, &format!("{token}\nno\n"));
        let text = said(&output);
        assert_eq!(output.status.code(), Some(code), "{text}");
        assert!(text.contains(part), "{part}: {text}");
        assert!(token.is_empty() || !text.contains(token), "{text}");
        assert_eq!(fs::read_dir(site.folder()).unwrap().count(), 0, "{part}");
    }
    // The server has the last word.
    let output = run(&site, &AT_ARENA, None, &format!("{}\n", site.token));
    assert!(output.status.success(), "{}", said(&output));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_yes_no_account_is_upgraded() {
    let site = Site::open().await;
    let token = site.arena.add_account(&AccountSpec::new("Newcomer"));
    let output = run(&site, &AT_ARENA, Some(&token), "\n");
    let text = said(&output);
    assert_eq!(output.status.code(), Some(5), "{text}");
    assert!(text.contains("It stays as it is"), "{text}");
    let checked = run(&site, &["check"], None, "");
    assert_eq!(checked.status.code(), Some(5));
    assert!(
        said(&checked).contains("BAD  account   Newcomer is no bot account; `meitner configure`")
    );
    let arguments = [&AT_ARENA[..], &["--replace", "--upgrade"]].concat();
    let output = run(&site, &arguments, None, "");
    assert!(output.status.success(), "{}", said(&output));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_token_the_bot_is_set_up_for_fics_alone() {
    let (site, mut tasks) = (Site::open().await, JoinSet::new());
    let (_fics, port) = open_fics(&mut tasks).await;
    let port = format!("fics.port={port}");
    let arguments = ["configure", "--set", "fics.host=127.0.0.1", "--set", &port];
    let refused = run(&site, &arguments, None, &format!("\nyes\n{BOT}\nwrong\n"));
    assert_eq!(refused.status.code(), Some(3), "{}", said(&refused));
    assert_eq!(fs::read_dir(site.folder()).unwrap().count(), 0);

    let output = run(&site, &arguments, None, &format!("\nyes\n{BOT}\n{PASSWORD}\n"));
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("FICS has let EmberFork in") && !text.contains(PASSWORD), "{text}");
    let file = site.folder().join("meitner.fics-password");
    assert_eq!(fs::read_to_string(&file).unwrap().trim(), PASSWORD);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let checked = run(&site, &["check"], None, "");
    let text = said(&checked);
    assert!(checked.status.success(), "{text}");
    assert!(text.contains("ok   fics      logged in as EmberFork"), "{text}");
}
