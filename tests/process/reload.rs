//! SIGHUP: the program reads its settings again, keeps the old ones if the new are wrong, and never
//! ends.

use std::sync::{Arc, Mutex};

use meitner::arena::ArenaHandle;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    task::JoinSet,
};

use crate::harness::Site;

fn settings(files: &str) -> String {
    format!("[challenge]\nconcurrency = 4\nblock_files = [{files}]\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hangup_changes_the_policy_and_never_ends_the_bot() {
    let site = Site::open().await;
    site.write("my.toml", &settings("\"block.txt\""));
    site.write("block.txt", "bore # rude\n");
    let program = site.start(&["--config", "my.toml"]);
    site.until_online().await;
    site.challenge("bore");
    site.until("the list counts", |arena| arena.counters().declined == 1).await;

    site.write("block.txt", "someone\n");
    program.signal("HUP");
    program.until_log("the new settings are taken up");
    site.challenge("bore");
    site.until("the new list counts", |arena| arena.counters().accepted == 1).await;

    site.write("block.txt", "some one\n");
    program.signal("HUP");
    let line = program.until_log("the settings are wrong, the old ones stay");
    assert!(line.contains("block.txt") && line.contains("line 1"), "{line}");
    site.write("my.toml", "[challenge]\nbots = 1\n");
    program.signal("HUP");
    let line = program.until_log("the settings are wrong, the old ones stay");
    assert!(line.contains("challenge.bots"), "{line}");
    site.challenge("someone");
    site.until("the old list counts", |arena| arena.counters().declined == 2).await;

    site.write("my.toml", &(settings("") + "[search]\ncores = 1\n"));
    program.signal("HUP");
    program.until_log("the new settings are taken up");
    let line = program.until_log("wait for a restart");
    assert!(line.contains("search.cores"), "{line}");
    site.challenge("someone");
    site.until("nobody is blocked", |arena| arena.counters().accepted == 2).await;
    assert_eq!(site.arena.running().len(), 2, "the game before goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hangup_changes_the_chat_and_the_level_of_the_log() {
    let site = Site::open().await;
    let text = |greeting: &str, level: &str| {
        format!(
            "[chat]\ngreeting = \"{greeting}\"\n[challenge]\nconcurrency = 4\n[log]\nlevel = \"{level}\"\n"
        )
    };
    site.write("my.toml", &text("Hello", "info"));
    let program = site.start(&["--config", "my.toml"]);
    site.until_online().await;
    let greets = async |player: &str, greeting: &str| {
        let game = site.challenge(player);
        let path = format!("/api/bot/game/{game}/chat");
        let line = |arena: &ArenaHandle| {
            let said = arena.requests().into_iter().find(|request| request.path == path)?;
            said.form.into_iter().find(|(name, _)| name == "text").map(|(_, text)| text)
        };
        site.until("it greets", |arena| line(arena).is_some()).await;
        assert_eq!(line(&site.arena).as_deref(), Some(greeting));
    };
    greets("QuietRook7", "Hello").await;

    site.write("my.toml", &text("Welcome back", "debug"));
    program.signal("HUP");
    let line = program.until_log("the new settings are taken up");
    assert!(line.contains("chat.greeting, log.level"), "{line}");
    greets("SlowPawn", "Welcome back").await;
    program.until_log("DEBUG");

    site.write("my.toml", &text("Welcome back", "error"));
    program.signal("HUP");
    program.until_log("the new settings are taken up");
    greets("bore", "Welcome back").await;
    // Two of a kind might arrive as one.
    program.signal("TERM");
    program.signal("INT");
    let (_, log) = program.end();
    assert!(!log.contains(" INFO "), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hangup_reads_a_list_on_the_web_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = format!("http://{}/names", listener.local_addr().expect("an address"));
    let names = Arc::new(Mutex::new("bore"));
    let shown = Arc::clone(&names);
    let mut pages = JoinSet::new();
    pages.spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _request = stream.read(&mut [0; 4096]).await;
            let page = format!("HTTP/1.0 200 OK\r\n\r\n{}\n", shown.lock().expect("names"));
            let _sent = stream.write_all(page.as_bytes()).await;
        }
    });
    let site = Site::open().await;
    site.write("my.toml", &format!("[challenge]\nblock_urls = [\"{address}\"]\n"));
    let program = site.start(&["--config", "my.toml"]);
    program.until_log("a list of names is read");
    site.until_online().await;
    site.challenge("bore");
    site.until("the list counts", |arena| arena.counters().declined == 1).await;

    *names.lock().expect("names") = "someone";
    program.signal("HUP");
    let line = program.until_log("a list of names is read");
    assert!(line.contains(&address) && line.contains("names=1"), "{line}");
    site.challenge("someone");
    site.until("the new list counts", |arena| arena.counters().declined == 2).await;
    drop(program);

    // The page is gone, and the next run knows it all the same.
    pages.shutdown().await;
    let program = site.start(&["--config", "my.toml"]);
    let line = program.until_log("cannot read a list of names, what is known of it stays");
    assert!(line.contains("known=1"), "{line}");
    site.until_online().await;
    site.challenge("someone");
    site.until("the list is remembered", |arena| arena.counters().declined == 3).await;
}
