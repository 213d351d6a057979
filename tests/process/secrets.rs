//! What is written anywhere holds no secret: the log at every level, in every format and file, the
//! merged settings, and the bundle for support.

use std::{fs, io::Read as _, path::Path, process::Command};

use flate2::read::GzDecoder;
use tokio::{task::JoinSet, time::timeout};

use crate::harness::{BOT, PASSWORD, PATIENCE, Program, Site, open_fics};

/// The text of all files in a bundle.
fn unpacked(bundle: &Path) -> String {
    let (mut text, file) = (String::new(), fs::File::open(bundle).expect("a bundle"));
    for entry in tar::Archive::new(GzDecoder::new(file)).entries().expect("an archive") {
        entry.expect("a file").read_to_string(&mut text).expect("text");
    }
    text
}

#[test]
fn a_bundle_of_broken_settings_shows_no_secret_and_replaces_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("password", "open \"sesame\n");
    write("log", "WARN sent MyOwnToken, open \"sesame, \"open \\\"sesame\" and swordfish\n");
    let support = |out: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meitner"));
        command.args(["support", "--log", "log", "--out", out]).current_dir(folder.path());
        command.env("MEITNER_TOURNAMENT__PASSWORD", "swordfish").output().unwrap()
    };
    for (out, broken) in [("one", "challenge.bots = 1\n"), ("two", "[challenge\n")] {
        let settings = "lichess.token = \"MyOwnToken\"\nfics.password_file = \"password\"\n";
        write("meitner.toml", &(settings.to_owned() + broken));
        let output = support(out);
        assert!(output.status.success(), "{output:?}");
        let text = unpacked(&folder.path().join(out));
        assert!(text.contains("the settings are wrong"), "{text}");
        let cleaned = "WARN sent [secret], [secret], \"[secret]\" and [secret]\n";
        assert!(text.contains(cleaned), "{text}");
    }
    write("one", "mine");
    let output = support("one");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--out names another file"));
    assert_eq!(fs::read_to_string(folder.path().join("one")).unwrap(), "mine");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_output_of_any_level_shows_a_secret() {
    let (site, mut tasks) = (Site::open().await, JoinSet::new());
    let (fics, port) = open_fics(&mut tasks).await;
    let (port_flag, account_flag) = (format!("fics.port={port}"), format!("fics.account={BOT}"));
    let folder = site.folder().join("logs");
    let folder_flag = format!("log.folder={}", folder.display());
    let mut everything = String::new();
    for level in ["off", "error", "warn", "info", "debug", "trace"] {
        for format in ["human", "json"] {
            let (level_flag, format_flag) =
                (format!("log.level={level}"), format!("log.format={format}"));
            // All that the libraries below say, as well.
            let all = ["hyper", "hyper_util", "reqwest", "h2", "rustls", "config"]
                .map(|library| format!("{library}={level}"));
            let filter_flag = format!("log.filter={}", all.join(","));
            let mut command = site.command(&site.token, &[]);
            for flag in [&level_flag, &format_flag, &filter_flag, &folder_flag] {
                command.args(["--set", flag]);
            }
            command.args(["--set", "fics.enabled=true", "--set", "fics.host=127.0.0.1"]);
            command.args(["--set", &port_flag, "--set", &account_flag]);
            command.env("MEITNER_FICS__PASSWORD", PASSWORD);
            let mut program = Program::new(command);
            program.follow_log();
            site.until_online().await;
            let is_in = fics.wait_until(|server| server.is_open(BOT));
            timeout(PATIENCE, is_in).await.expect("it is on FICS");
            let game = site.challenge("QuietRook7");
            site.until_begun(&game).await;
            site.play_on(&game, 1).await;
            // Two of a kind might arrive as one.
            program.signal("TERM");
            program.signal("INT");
            let (_, log) = program.end();
            assert_eq!(log.is_empty(), level == "off" || level == "error", "{level}: {log}");
            everything += &log;
            site.until("it is gone", |arena| !arena.is_online(BOT)).await;
        }
    }
    let mut files = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        everything += &fs::read_to_string(entry.unwrap().path()).unwrap();
        files += 1;
    }
    assert!(files == 1 || files == 2, "{files} files, of one day or of two");
    assert!(everything.contains("POST /api/") || everything.contains("hyper"), "trace is there");
    // What a bad program might have logged.
    let slips = format!("WARN game{{game_id=abcd1234}}: sent {} and {PASSWORD}\n", site.token);
    fs::write(folder.join("meitner.daily.2999-01-01.log"), slips).unwrap();

    let variables =
        [("MEITNER_LICHESS__TOKEN", site.token.as_str()), ("MEITNER_FICS__PASSWORD", PASSWORD)];
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meitner"));
        command.args(arguments).args(["--set", &folder_flag]).envs(variables);
        command.current_dir(site.folder()).env("STATE_DIRECTORY", site.folder());
        let output = command.output().expect("the program starts");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
    };
    everything += &run(&["config", "show"]);
    everything += &run(&["support"]);
    let bundle = fs::File::open(site.folder().join("meitner-support.tar.gz")).unwrap();
    let mut names = Vec::new();
    for entry in tar::Archive::new(GzDecoder::new(bundle)).entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().file_name().unwrap().to_string_lossy().into_owned();
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        if name == "games.txt" {
            assert!(text.contains("== game abcd1234\n"), "{text}");
            assert!(text.contains("sent [secret] and [secret]"), "{text}");
        }
        names.push(name);
        everything += &text;
    }
    assert_eq!(names, ["about.txt", "settings.toml", "games.txt", "store.txt", "log.txt"]);
    for secret in [site.token.as_str(), PASSWORD] {
        let line = everything.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "a secret is shown");
    }
}
