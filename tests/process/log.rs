//! The log never delays a move.

use std::{fs, os::unix::fs::MetadataExt as _};

use meitner::arena::HouseAction;

use crate::harness::{Program, Site};

/// A pipe that nobody reads is full after 64 KiB. Whoever writes to it then waits for ever.
#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_nobody_reads_holds_up_no_game() {
    let site = Site::open().await;
    let command = site.command(
        &site.token,
        &["--set", "log.level=trace", "--set", "log.filter=hyper=trace,hyper_util=trace"],
    );
    let program = Program::new(command);
    site.until_online().await;
    for _ in 0..20 {
        let game = site.challenge("QuietRook7");
        site.until_begun(&game).await;
        for _ in 0..20 {
            let count = site.house_moves(&game);
            site.until("the bot moves, or wins", |arena| {
                let game = arena.game(&game).unwrap();
                game.moves.len() > count || game.ending.is_some()
            })
            .await;
            if site.arena.game(&game).unwrap().ending.is_some() {
                break;
            }
        }
        if site.arena.game(&game).unwrap().ending.is_none() {
            site.arena.act(&game, &HouseAction::Resign).unwrap();
        }
    }
    program.signal("TERM");
    let (status, log) = program.end();
    assert_eq!(status.code(), Some(0));
    assert!(log.len() > 60_000, "the pipe was not full: {} bytes", log.len());
}

/// systemd names the stream that it reads; what it reads has levels and no times.
#[tokio::test(flavor = "multi_thread")]
async fn the_journal_gets_levels_and_a_pipe_gets_times() {
    let site = Site::open().await;
    let path = site.folder().join("journal");
    for is_journal in [true, false] {
        let file = fs::File::create(&path).unwrap();
        let data = file.metadata().unwrap();
        let inode = if is_journal { data.ino() } else { data.ino() + 1 };
        let mut command = site.command(&site.token, &[]);
        command.env("JOURNAL_STREAM", format!("{}:{inode}", data.dev())).stderr(file);
        let program = Program::new(command);
        site.until_online().await;
        program.signal("TERM");
        assert!(program.end().0.success());
        let log = fs::read_to_string(&path).unwrap();
        assert!(log.contains("left in good order"), "{log}");
        for line in log.lines() {
            assert_eq!(line.starts_with("<6>meitner::"), is_journal, "{line}");
            assert_eq!(line.contains(" INFO "), !is_journal, "{line}");
        }
    }
}
