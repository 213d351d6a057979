//! Killed in the middle of its games and started again.

use meitner::arena::HouseAction;

use crate::harness::Site;

/// SIGKILL leaves no time for anything: neither to say farewell nor to write what is remembered.
#[tokio::test(flavor = "multi_thread")]
async fn a_bot_that_is_killed_takes_up_all_its_games_when_it_starts_again() {
    let site = Site::open().await;
    let arguments = ["--set", "challenge.concurrency=2"];
    let program = site.start(&arguments);
    site.until_online().await;
    // In the one it is the bot's turn after the restart, in the other the opponent's.
    let games = ["QuietRook7", "SlowPawn"].map(|player| site.challenge(player));
    for game in &games {
        site.until_begun(game).await;
        site.house_moves(game);
        site.until_moves(game, 2).await;
    }
    program.signal("KILL");
    let (status, _) = program.end();
    assert_eq!(status.code(), None, "it was killed");
    site.house_moves(&games[0]);

    let program = site.start(&arguments);
    site.until_moves(&games[0], 4).await;
    site.house_moves(&games[1]);
    site.until_moves(&games[1], 4).await;
    for game in &games {
        site.arena.act(game, &HouseAction::Resign).unwrap();
    }
    program.signal("TERM");
    let (status, log) = program.end();
    assert_eq!(status.code(), Some(0), "{log}");
    assert!(log.contains("won=2"), "{log}");
    let counters = site.arena.counters();
    assert_eq!((counters.untimely_moves, counters.illegal_moves), (0, 0));
    assert_eq!(counters.accepted, 2, "they were resumed, not begun again");
}
