//! What the bot remembers of its games on FICS is what the server has of them.

use meitner::{
    arena::ics::IcsOptions,
    store::{Archive, Filter, Platform, StoreOptions},
};

use crate::harness::{BOT, HOUSE, Hall};

#[tokio::test]
async fn a_record_is_complete_and_equals_the_server_s() {
    let folder = tempfile::tempdir().unwrap();
    let mut hall = Hall::open(IcsOptions::default()).await;
    let store = StoreOptions { folder: Some(folder.path().to_owned()), ..StoreOptions::default() };
    hall.options.store = store;
    hall.start();
    hall.challenge("3 0 rated white atomic").await;
    hall.until_finished(1).await;
    let (theirs, words) = hall.server.finished()[0].clone();
    hall.close().await.unwrap();

    let archive = Archive::open(folder.path()).unwrap().expect("a file");
    let mut games = archive.games(&Filter::default()).unwrap();
    let ours = archive.with_moves(games.pop().expect("a game")).unwrap();
    assert_eq!(games, []);
    let account = &ours.key.account;
    assert_eq!((account.platform, account.account.as_str()), (Platform::Fics, "meitner"));
    assert_eq!([&theirs.white, &theirs.black], [&ours.players[0].name, &ours.players[1].name]);
    assert_eq!([&ours.us().name, &ours.opponent().name], [BOT, HOUSE]);
    assert!(ours.rated && ours.speed.as_deref() == Some("blitz"));
    let moves: Vec<_> = ours.moves.iter().map(|entry| entry.mv.to_string()).collect();
    assert_eq!(moves, theirs.moves);
    assert!(ours.moves.iter().all(|entry| entry.clock.is_some()));
    assert!(ours.moves.iter().any(|entry| entry.evaluation.is_some()));
    let ours_to_move = |ply: usize| (ply % 2 == 1) == (theirs.black == BOT);
    assert!(
        ours.moves
            .iter()
            .enumerate()
            .all(|(ply, entry)| { entry.lag.is_some() == ours_to_move(ply) })
    );
    let end = ours.end.as_ref().expect("an end");
    assert_eq!(end.winner, theirs.ending.unwrap().winner, "{words}");
    assert_eq!(ours.rating_diff, Some(0), "this server changes no rating, and says so");
    assert_eq!(ours.rating_after(), Some(1900));
}
