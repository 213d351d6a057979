//! SIGHUP: the program reads its settings again, keeps the old ones if the new are wrong, and never
//! ends.

use meitner::arena::ArenaHandle;

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
