//! What is remembered comes back as it was, from every version, and nothing on the disk can keep the
//! bot from starting or from playing on.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

mod records;

use meitner::{
    game::{Entry, GameResult},
    pgn::Reader,
    rules::Color,
    store::{
        AccountKey, Archive, Budget, Condition, Decline, Epoch, FORMAT, Filter, GameEnd,
        GameRecord, Listed, PgnFolder, PgnGroup, Platform, State, Store, StoreError, StoreOptions,
    },
};
use rusqlite::Connection;
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

use records::{account, entries, game, other_game};

/// Everything that is waited for comes sooner, on a busy machine as well.
const PATIENCE: Duration = Duration::from_mins(1);

fn options(folder: &Path) -> StoreOptions {
    let retry = Duration::from_millis(20);
    let open_limit = PATIENCE;
    StoreOptions { folder: Some(folder.to_owned()), retry, open_limit, ..StoreOptions::default() }
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/store").join(name)
}

fn database(folder: &Path) -> PathBuf {
    folder.join("meitner.db")
}

fn state() -> State {
    let mut state = State::default();
    state.budget.since = Some(Epoch::from_secs(1_800_000_000));
    state.budget.games = 42;
    state.quotas.insert("soot-engine".to_owned(), Epoch::from_secs(1_800_000_100));
    state.challenges.games = 7;
    state.open_challenge = Some("w4itinG1".to_owned());
    let decline = Decline {
        at: Epoch::from_secs(1_800_000_050),
        reason: "later".to_owned(),
        initial_s: 180,
        increment_s: 2,
        rated: true,
    };
    state.declines.insert("quietrook7".to_owned(), vec![decline]);
    state
}

async fn flush(store: &Store) {
    assert!(store.flush(PATIENCE).await, "it is written, or has failed");
}

async fn write(options: &StoreOptions, games: &[GameRecord]) -> Store {
    let store = Store::open(options);
    for game in games {
        store.put_game(game.clone());
    }
    flush(&store).await;
    assert_eq!(store.health().borrow().condition, Condition::Good);
    store
}

fn archive(folder: &Path) -> Archive {
    Archive::open(folder).expect("it can be read").expect("there is a file")
}

fn read(folder: &Path) -> Vec<GameRecord> {
    let archive = archive(folder);
    let games = archive.games(&Filter::default()).expect("a list");
    games.into_iter().map(|listed| archive.with_moves(listed).expect("a game")).collect()
}

async fn until(store: &Store, what: &str, condition: impl FnMut(&Condition) -> bool) -> Condition {
    let (mut health, mut condition) = (store.health(), condition);
    let waiting = health.wait_for(|health| condition(&health.condition));
    timeout(PATIENCE, waiting).await.expect(what).expect("the store is there").condition.clone()
}

async fn until_failing(store: &Store) -> String {
    match until(store, "it fails", |it| matches!(it, Condition::Failing(_))).await {
        Condition::Failing(why) => why,
        _ => unreachable!("it fails"),
    }
}

#[tokio::test]
async fn games_come_back_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let nested = folder.path().join("a/b");
    let games = [other_game("Aa1"), game("Bb2")];
    write(&options(&nested), &games).await;
    let mut named = games[0].clone();
    named.players[1].name = "One".to_owned();
    assert_eq!(read(&nested), [named, games[1].clone()]);
    let listed = archive(&nested).games(&Filter::default()).unwrap();
    let [_, Listed { plies: 5, opening: Some(opening), .. }] = &listed[..] else {
        panic!("{listed:?}");
    };
    assert_eq!(opening, "1. Nf3 a6 2. Ne5 a5");
    assert_eq!(listed[1].record.rating_after(), Some(2006));
}

#[tokio::test]
async fn a_game_is_written_as_it_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let whole = game("Bb2");
    let begun = |plies: usize| GameRecord {
        end: None,
        rating_diff: None,
        moves: whole.moves[..plies].to_vec(),
        ..whole.clone()
    };
    for plies in 0..=5 {
        write(&options(folder.path()), &[begun(plies)]).await;
        assert_eq!(read(folder.path()), [begun(plies)]);
    }
    // After a restart the moves come without what we thought of them, and a later start.
    let bare = whole.moves.iter().map(|entry| Entry::new(entry.mv)).collect();
    let again =
        GameRecord { moves: bare, started_at: Epoch::from_secs(1_800_000_050), ..whole.clone() };
    let store = write(&options(folder.path()), &[again]).await;
    assert_eq!(read(folder.path()), std::slice::from_ref(&whole));
    store.put_rating_diff(whole.key.clone(), -3);
    flush(&store).await;
    assert_eq!(read(folder.path())[0].rating_after(), Some(1997));
}

#[tokio::test]
async fn what_nobody_waits_for_is_written_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&options(folder.path()));
    // Games of one moment are listed in the order in which they came.
    for id in ["Bb2", "Aa1"] {
        store.put_game(game(id));
    }
    let written = async {
        while read(folder.path()).len() < 2 {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, written).await.expect("both are written");
    assert_eq!(read(folder.path()), [game("Aa1"), game("Bb2")], "the latest first");
}

#[tokio::test]
async fn moves_that_are_taken_back_are_gone() {
    let folder = tempfile::tempdir().unwrap();
    let running = GameRecord { end: None, ..game("Bb2") };
    let store = write(&options(folder.path()), std::slice::from_ref(&running)).await;
    let shorter = GameRecord { moves: running.moves[..2].to_vec(), ..running.clone() };
    store.put_game(shorter.clone());
    flush(&store).await;
    assert_eq!(read(folder.path()), std::slice::from_ref(&shorter));
    // Taken back and replaced between two writings.
    let other = GameRecord { moves: entries(None, "g1f3 h7h6"), ..running };
    store.put_game(other.clone());
    flush(&store).await;
    let [known] = &read(folder.path())[..] else { panic!("one game") };
    assert_eq!(known.moves[0], shorter.moves[0], "the same move");
    assert_eq!(known.moves[1], other.moves[1], "another one, of which nothing is known");
}

#[tokio::test]
async fn games_are_found_by_what_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let lost = GameRecord {
        end: Some(GameEnd { result: GameResult::Lost, ..game("x").end.unwrap() }),
        started_at: Epoch::from_secs(1_800_002_000),
        ..game("Bc3")
    };
    write(&options(folder.path()), &[other_game("Aa1"), game("Bb2"), lost]).await;
    let archive = archive(folder.path());
    let all = Filter::default;
    for (filter, expected) in [
        (all(), &["Bc3", "Aa1", "Bb2"][..]),
        (Filter { limit: Some(2), ..all() }, &["Bc3", "Aa1"]),
        (Filter { platform: Some(Platform::Fics), ..all() }, &["Aa1"]),
        (Filter { opponent: Some("quietROOK7".to_owned()), ..all() }, &["Bc3", "Bb2"]),
        (Filter { opponent: Some("Anonymous".to_owned()), ..all() }, &["Aa1"]),
        (Filter { opponent: Some("' OR 1 --".to_owned()), ..all() }, &[]),
        (Filter { result: Some(GameResult::Won), ..all() }, &["Bb2"]),
        (Filter { color: Some(Color::Black), ..all() }, &["Aa1"]),
        (Filter { speed: Some("blitz".to_owned()), ..all() }, &["Bc3", "Bb2"]),
        (Filter { since: Some(Epoch::from_secs(1_800_001_000)), ..all() }, &["Bc3", "Aa1"]),
        (Filter { until: Some(Epoch::from_secs(1_800_001_000)), ..all() }, &["Bb2"]),
    ] {
        let games = archive.games(&filter).unwrap();
        let ids: Vec<_> = games.iter().map(|listed| listed.record.key.id.as_str()).collect();
        assert_eq!(ids, expected, "{filter:?}");
    }
    let found = |id: &str| -> Vec<String> {
        let games = archive.find(id).unwrap();
        games.iter().map(|listed| listed.record.key.id.to_string()).collect()
    };
    assert_eq!(found("Bb2"), ["Bb2"]);
    assert_eq!(found("B"), ["Bc3", "Bb2"]);
    assert_eq!(found("b"), [""; 0]);
    assert_eq!(found("%"), [""; 0]);
}

#[tokio::test]
async fn a_state_comes_back_as_it_was_and_each_account_has_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&options(folder.path()));
    assert_eq!(*store.state(&account("one")), State::default());
    store.change_state(&account("one"), |known| *known = State::default());
    store.change_state(&account("one"), |known| *known = state());
    assert_eq!(*store.state(&account("one")), state());
    flush(&store).await;
    let again = Store::open(&options(folder.path()));
    assert_eq!(*again.state(&account("one")), state());
    assert_eq!(*again.state(&account("two")), State::default());
    let elsewhere = AccountKey { platform: Platform::Fics, ..account("one") };
    assert_eq!(*again.state(&elsewhere), State::default());
}

#[tokio::test]
async fn the_last_clone_writes_what_waits() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&options(folder.path()));
    let mut health = store.health();
    store.put_game(game("Bb2"));
    drop(store);
    // The thread holds the other end until it has ended.
    while timeout(PATIENCE, health.changed()).await.expect("the thread ends").is_ok() {}
    assert_eq!(read(folder.path()), [game("Bb2")]);
}

#[test]
fn the_state_file_of_an_earlier_version_is_taken_in_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state-emberfork.json");
    fs::copy(data("state-1.json"), &file).unwrap();
    let broken = folder.path().join("state-other.json");
    fs::write(&broken, "{ \"version\": 2 }").unwrap();
    let store = Store::open(&options(folder.path()));
    assert_eq!(*store.state(&account("emberfork")), state());
    assert_eq!(*store.state(&account("other")), State::default());
    assert!(!file.exists() && file.with_extension("json.imported").exists());
    assert!(!broken.exists() && broken.with_extension("json.bad").exists());
    drop(store);

    // What is known by now is newer than a file that somebody brings again.
    fs::write(&file, "{ \"version\": 1, \"budget\": { \"games\": 1 } }").unwrap();
    let store = Store::open(&options(folder.path()));
    assert_eq!(*store.state(&account("emberfork")), state());
    assert!(!file.exists());
}

#[tokio::test]
async fn a_file_of_every_released_version_opens() {
    for format in 1..=FORMAT {
        let folder = tempfile::tempdir().unwrap();
        fs::copy(data(&format!("{format}.db")), database(folder.path())).unwrap();
        // For reading alone, and by a bot.
        assert_eq!(read(folder.path()), [game("Bb2")], "format {format}");
        let store = write(&options(folder.path()), &[other_game("Aa1")]).await;
        assert_eq!(*store.state(&account("emberfork")), state());
        assert_eq!(read(folder.path()).len(), 2);
        let connection = Connection::open(database(folder.path())).unwrap();
        let format: u32 =
            connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        assert_eq!(format, FORMAT);
    }
}

#[tokio::test]
async fn the_file_alone_is_complete_once_all_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let _store = write(&options(folder.path()), &[game("Bb2")]).await;
    let copy = tempfile::tempdir().unwrap();
    fs::copy(database(folder.path()), database(copy.path())).unwrap();
    assert_eq!(read(copy.path()), [game("Bb2")]);
}

/// Whatever was put aside in this folder.
fn set_aside(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").path());
    names.filter(|path| path.to_string_lossy().contains(".broken-")).collect()
}

#[tokio::test]
async fn a_broken_file_is_put_aside_and_a_new_one_begun() {
    let mut noise = b"SQLite format 3\0".to_vec();
    noise.extend([7; 8_000]);
    for bytes in [&b"no database, but long enough to be looked at as one"[..], &noise] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(database(folder.path()), bytes).unwrap();
        write(&options(folder.path()), &[game("Bb2")]).await;
        assert_eq!(read(folder.path()), [game("Bb2")]);
        let [aside] = &set_aside(folder.path())[..] else { panic!("one file is put aside") };
        assert_eq!(fs::read(aside).unwrap(), bytes, "for whoever wants to look at it");
    }
}

#[tokio::test]
async fn a_file_that_breaks_under_a_running_bot_is_put_aside_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let store = write(&options(folder.path()), &[game("Bb2")]).await;
    // All tables are gone for whoever opens it, and the head is intact.
    let path = database(folder.path());
    drop(store);
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "wal_checkpoint", "truncate").unwrap();
    drop(connection);
    let mut bytes = fs::read(&path).unwrap();
    bytes[4_096..].fill(0xa5);
    fs::write(&path, &bytes).unwrap();

    let store = Store::open(&options(folder.path()));
    store.put_game(game("Bb2"));
    let good = |store: &Store| store.health().borrow().condition == Condition::Good;
    let written = async {
        loop {
            flush(&store).await;
            if good(&store) && !set_aside(folder.path()).is_empty() {
                break;
            }
        }
    };
    timeout(PATIENCE, written).await.expect("it is written in the end");
    assert_eq!(read(folder.path()), [game("Bb2")], "what waited is not lost");
}

#[tokio::test]
async fn a_file_of_a_newer_version_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    write(&options(folder.path()), &[game("Bb2")]).await;
    let path = database(folder.path());
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", FORMAT + 1).unwrap();
    drop(connection);

    let store = Store::open(&options(folder.path()));
    let why = until_failing(&store).await;
    let expected = format!(
        "{}: was written by a newer version of Meitner (format {}, this one knows up to {FORMAT}); \
         install that version, or set `store.folder` to another folder",
        path.display(),
        FORMAT + 1
    );
    assert_eq!(why, expected);
    store.put_game(other_game("Aa1"));
    store.change_state(&account("emberfork"), |known| *known = state());
    flush(&store).await;
    let error = Archive::open(folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::Newer { .. }), "{error}");
    assert!(set_aside(folder.path()).is_empty());
    let connection = Connection::open(&path).unwrap();
    let games: u32 =
        connection.query_row("SELECT count(*) FROM game", (), |row| row.get(0)).unwrap();
    assert_eq!(games, 1, "nothing was written");
}

#[tokio::test]
async fn a_full_disk_fails_and_leaves_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    write(&options(folder.path()), &[game("Bb2")]).await;
    let store = Store::open(&StoreOptions { max_pages: Some(1), ..options(folder.path()) });
    for number in 0..500 {
        store.put_game(game(&format!("more{number}")));
    }
    let why = until_failing(&store).await;
    assert!(why.contains("full"), "{why}");
    flush(&store).await;
    let games = read(folder.path());
    assert!(games.contains(&game("Bb2")) && games.len() < 500, "{}", games.len());
    let is_whole = |known: &GameRecord| *known == game(known.key.id.as_str());
    assert!(games.iter().all(is_whole), "all or nothing");
    assert!(set_aside(folder.path()).is_empty());
}

/// Puts a file where a folder is wanted.
fn blocked() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file");
    fs::write(&path, "").expect("a file");
    (folder, path)
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_fails_until_it_can() {
    let (_folder, path) = blocked();
    let store = Store::open(&options(&path));
    store.put_game(game("Bb2"));
    let why = until_failing(&store).await;
    assert!(why.contains("choose another `store.folder`"), "{why}");
    fs::remove_file(&path).unwrap();
    until(&store, "it is written", |it| *it == Condition::Good).await;
    flush(&store).await;
    assert_eq!(read(&path), [game("Bb2")], "what waited is not lost");
}

#[tokio::test]
async fn what_a_file_knows_that_cannot_be_opened_at_the_start_is_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    let store = write(&options(folder.path()), &[]).await;
    store.change_state(&account("one"), |known| *known = state());
    store.change_state(&account("quiet"), |known| *known = state());
    flush(&store).await;
    drop(store);
    let away = folder.path().join("away");
    fs::rename(database(folder.path()), &away).unwrap();
    fs::create_dir(database(folder.path())).unwrap();

    let store = Store::open(&options(folder.path()));
    until_failing(&store).await;
    assert_eq!(*store.state(&account("one")), State::default());
    let later = Epoch::from_secs(1_800_000_200);
    let change = |known: &mut State| {
        known.budget = Budget { since: Some(later), games: 1, until: None };
        known.quotas.insert("rook".to_owned(), later);
    };
    store.change_state(&account("one"), change);
    fs::remove_dir(database(folder.path())).unwrap();
    fs::rename(&away, database(folder.path())).unwrap();
    until(&store, "it is read", |it| *it == Condition::Good).await;

    let mut both = state();
    both.budget.games = 43;
    both.quotas.insert("rook".to_owned(), later);
    assert_eq!(*store.state(&account("one")), both);
    assert_eq!(*store.state(&account("quiet")), state(), "nobody had to change it");
    flush(&store).await;
    let again = Store::open(&options(folder.path()));
    assert_eq!(*again.state(&account("one")), both);
}

#[tokio::test]
async fn a_file_that_is_locked_at_the_start_is_read_later() {
    let folder = tempfile::tempdir().unwrap();
    let store = write(&options(folder.path()), &[]).await;
    store.change_state(&account("one"), |known| *known = state());
    flush(&store).await;
    let mut health = store.health();
    drop(store);
    while timeout(PATIENCE, health.changed()).await.expect("the thread ends").is_ok() {}
    let other = Connection::open(database(folder.path())).unwrap();
    other.execute_batch("PRAGMA locking_mode = exclusive; BEGIN EXCLUSIVE").unwrap();

    let open_limit = Duration::ZERO;
    let store = Store::open(&StoreOptions { open_limit, ..options(folder.path()) });
    assert_eq!(*store.state(&account("one")), State::default());
    store.change_state(&account("two"), |known| *known = state());
    drop(other);
    let read = async {
        while *store.state(&account("one")) != state() {
            flush(&store).await;
        }
    };
    timeout(PATIENCE, read).await.expect("it is read in the end");
    assert_eq!(*store.state(&account("two")), state());
}

#[tokio::test]
async fn what_can_never_be_written_costs_nothing_else() {
    let (_folder, path) = blocked();
    let store = Store::open(&options(&path));
    store.put_game(game("Bb2"));
    // More than the file can hold.
    store.put_game(GameRecord { started_at: Epoch::from_secs(u64::MAX), ..game("Bc3") });
    store.put_game(game("Bd4"));
    store.change_state(&account("one"), |known| *known = state());
    fs::remove_file(&path).unwrap();
    until(&store, "it is written", |it| *it == Condition::Good).await;
    flush(&store).await;
    let mut ids: Vec<_> = read(&path).iter().map(|game| game.key.id.to_string()).collect();
    ids.sort();
    assert_eq!(ids, ["Bb2", "Bd4"]);
    assert_eq!(store.health().borrow().dropped, 1);
    assert_eq!(*Store::open(&options(&path)).state(&account("one")), state());
}

#[test]
fn a_state_file_that_cannot_be_read_is_left_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    // Opens, and cannot be read.
    let file = folder.path().join("state-emberfork.json");
    fs::create_dir(&file).unwrap();
    let store = Store::open(&options(folder.path()));
    assert_eq!(*store.state(&account("emberfork")), State::default());
    assert!(file.exists());
    fs::remove_dir(&file).unwrap();
    fs::copy(data("state-1.json"), &file).unwrap();
    drop(store);
    let store = Store::open(&options(folder.path()));
    assert_eq!(*store.state(&account("emberfork")), state());
}

#[tokio::test]
async fn a_locked_file_holds_nobody_up() {
    let folder = tempfile::tempdir().unwrap();
    let store = write(&options(folder.path()), &[]).await;
    let other = Connection::open(database(folder.path())).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    // Whoever waited for the lock here would wait for ever.
    for number in 0..100 {
        store.put_game(game(&format!("g{number}")));
    }
    let why = until_failing(&store).await;
    assert!(why.contains("locked"), "{why}");
    other.execute_batch("ROLLBACK").unwrap();
    until(&store, "it is written", |it| *it == Condition::Good).await;
    flush(&store).await;
    assert_eq!(read(folder.path()).len(), 100);
}

#[tokio::test]
async fn a_store_that_is_well_again_says_so_without_anything_new() {
    let folder = tempfile::tempdir().unwrap();
    let store = write(&options(folder.path()), &[]).await;
    let other = Connection::open(database(folder.path())).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    flush(&store).await;
    until_failing(&store).await;
    other.execute_batch("ROLLBACK").unwrap();
    until(&store, "it is well", |it| *it == Condition::Good).await;
}

#[tokio::test]
async fn what_waits_is_bounded() {
    let (_folder, path) = blocked();
    let store = Store::open(&StoreOptions { retry: PATIENCE, ..options(&path) });
    for number in 0..1_200 {
        store.put_game(GameRecord { moves: Vec::new(), ..game(&format!("g{number}")) });
    }
    let dropped = store.health().borrow().dropped;
    assert!((1..=200).contains(&dropped), "{dropped}");
    // A game that waits already takes no more room.
    store.put_game(game("g0"));
    assert_eq!(store.health().borrow().dropped, dropped);
}

#[tokio::test]
async fn nothing_is_remembered_without_a_folder() {
    let store = Store::open(&StoreOptions::default());
    store.put_game(game("Bb2"));
    store.change_state(&account("one"), |known| *known = state());
    flush(&store).await;
    assert_eq!(store.health().borrow().condition, Condition::Off);
    assert_eq!(*store.state(&account("one")), state(), "for as long as it runs");
    let again = Store::open(&StoreOptions::default());
    assert_eq!(*again.state(&account("one")), State::default());
    let folder = tempfile::tempdir().unwrap();
    assert!(Archive::open(folder.path()).unwrap().is_none());
}

#[tokio::test]
async fn texts_of_others_reach_no_terminal_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let mut bad = game("Bb2");
    bad.players[1].name = "\u{1b}]0;owned\u{7}Quiet\u{202e}Rook".to_owned();
    bad.end.as_mut().unwrap().reason = "odd\n\u{1b}[31mend".to_owned();
    write(&options(folder.path()), &[bad]).await;
    let [known] = &read(folder.path())[..] else { panic!("one game") };
    assert_eq!(known.opponent().name, "]0;ownedQuietRook");
    assert_eq!(known.end.as_ref().unwrap().reason, "odd[31mend");
}

#[tokio::test]
async fn each_game_that_ends_is_written_as_pgn_once() {
    for (group, files) in [
        (PgnGroup::Game, &["lichess-Bb2.pgn", "lichess-Bc3.pgn"][..]),
        (PgnGroup::Opponent, &["lichess-quietrook7.pgn"]),
        (PgnGroup::Day, &["2027-01-15.pgn"]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let pgn = PgnFolder { folder: folder.path().join("pgn"), group };
        let options = StoreOptions { pgn: Some(pgn.clone()), ..options(folder.path()) };
        let running = GameRecord { end: None, ..game("Bb2") };
        write(&options, &[running, other_game("Aa1")]).await;
        assert!(!pgn.folder.exists(), "no game has ended");
        // After a restart the moves come without what we thought of them.
        let bare = game("Bb2").moves.iter().map(|entry| Entry::new(entry.mv)).collect();
        write(&options, &[GameRecord { moves: bare, ..game("Bb2") }, game("Bc3")]).await;
        write(&options, &[game("Bb2"), game("Bc3")]).await;
        let entries = fs::read_dir(&pgn.folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, files);
        let texts: Vec<_> =
            names.iter().map(|name| fs::read_to_string(pgn.folder.join(name)).unwrap()).collect();
        let text = texts.concat();
        let games: Vec<_> = Reader::new(text.as_bytes()).map(Result::unwrap).collect();
        let expected = [game("Bb2"), game("Bc3")].map(|game| game.to_pgn().unwrap());
        assert_eq!(games, expected, "{group:?}");
    }
}

#[tokio::test]
async fn half_a_game_in_a_shared_pgn_file_does_not_spoil_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let pgn = PgnFolder { folder: folder.path().join("pgn"), group: PgnGroup::Opponent };
    let file = pgn.folder.join("lichess-quietrook7.pgn");
    fs::create_dir(&pgn.folder).unwrap();
    fs::write(&file, "[Event \"Half\"]\n\n1. Nf3 a6").unwrap();
    let options = StoreOptions { pgn: Some(pgn), ..options(folder.path()) };
    write(&options, &[game("Bb2"), game("Bc3")]).await;
    let text = fs::read_to_string(&file).unwrap();
    let games: Vec<_> = Reader::new(text.as_bytes()).skip(1).map(Result::unwrap).collect();
    assert_eq!(games, [game("Bb2"), game("Bc3")].map(|game| game.to_pgn().unwrap()));
}

#[tokio::test]
async fn games_that_cannot_be_written_as_pgn_are_remembered_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let (_other, blocked) = blocked();
    let pgn = Some(PgnFolder { folder: blocked, group: PgnGroup::Day });
    let options = StoreOptions { pgn, ..options(folder.path()) };
    write(&options, &[game("Bb2")]).await;
    assert_eq!(read(folder.path()), [game("Bb2")]);
}
