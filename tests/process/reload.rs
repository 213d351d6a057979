//! SIGHUP: the program reads its settings again, keeps the old ones if the new are wrong, and never
//! ends.

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
    program.until_log("the policy is taken up");
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

    site.write("my.toml", &(settings("") + "[search]\nponder = false\n"));
    program.signal("HUP");
    program.until_log("the policy is taken up");
    let line = program.until_log("wait for a restart");
    assert!(line.contains("search.ponder"), "{line}");
    site.challenge("someone");
    site.until("nobody is blocked", |arena| arena.counters().accepted == 2).await;
    assert_eq!(site.arena.running().len(), 2, "the game before goes on");
}
