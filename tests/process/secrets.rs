//! What is written anywhere holds no secret: the log at every level, in every format and file, the
//! merged settings, and the bundle for support.

use std::{fs, io::Read as _, process::Command};

use flate2::read::GzDecoder;
use tokio::{task::JoinSet, time::timeout};

use crate::harness::{BOT, PASSWORD, PATIENCE, Program, Site, open_fics};

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
            let count = site.house_moves(&game);
            site.until_moves(&game, count + 1).await;
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
