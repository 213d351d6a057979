//! What is remembered comes back as it was, and nothing on the disk can keep the bot from starting.

use std::fs;

use meitner::store::{Decline, Epoch, State, StateFile, StateTrouble};

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

#[test]
fn a_state_comes_back_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let nested = folder.path().join("a/b");
    let (file, empty, trouble) = StateFile::open(&nested, "emberfork");
    assert_eq!(empty, State::default());
    assert!(trouble.is_none(), "{trouble:?}");
    file.write(&State::default()).unwrap();
    file.write(&state()).unwrap();
    let (again, known, trouble) = StateFile::open(&nested, "emberfork");
    assert_eq!((again.path(), known), (file.path(), state()));
    assert!(trouble.is_none(), "{trouble:?}");
    let names: Vec<_> =
        fs::read_dir(&nested).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["state-emberfork.json"], "nothing else is left there");
}

#[test]
fn each_account_has_its_own_file_inside_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let (one, _, _) = StateFile::open(folder.path(), "one");
    one.write(&state()).unwrap();
    let (two, known, _) = StateFile::open(folder.path(), "../two");
    assert_eq!(known, State::default());
    assert_eq!(two.path().parent(), Some(folder.path()));
}

#[test]
fn fields_may_be_missing_or_new() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state-a.json");
    fs::write(&path, r#"{ "version": 1, "budget": { "games": 7 }, "later": [1] }"#).unwrap();
    let (_, known, trouble) = StateFile::open(folder.path(), "a");
    assert!(trouble.is_none(), "{trouble:?}");
    assert_eq!(known.budget.games, 7);
}

#[test]
fn a_broken_file_is_set_aside_and_told() {
    let good = serde_json::to_vec(&state()).unwrap();
    let broken = [
        Vec::new(),
        b"{".to_vec(),
        b"null".to_vec(),
        b"\xff\xfe".to_vec(),
        good[..good.len() / 2].to_vec(),
        br#"{ "version": 2 }"#.to_vec(),
        br#"{ "budget": { "games": -1 } }"#.to_vec(),
    ];
    for bytes in broken {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state-a.json");
        fs::write(&path, &bytes).unwrap();
        let (file, known, trouble) = StateFile::open(folder.path(), "a");
        assert_eq!(known, State::default());
        let trouble = trouble.expect("it is told");
        assert!(matches!(trouble, StateTrouble::Broken { .. }), "{trouble}");
        let aside = folder.path().join("state-a.json.bad");
        assert_eq!(fs::read(&aside).unwrap(), bytes, "for whoever wants to look at it");
        file.write(&state()).unwrap();
        assert_eq!(StateFile::open(folder.path(), "a").1, state());
    }
}

#[test]
fn a_state_that_cannot_be_written_leaves_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let (file, _, _) = StateFile::open(folder.path(), "a");
    file.write(&state()).unwrap();
    // A folder where the new text would go, as good as a full disk.
    fs::create_dir(folder.path().join("state-a.json.new")).unwrap();
    assert!(file.write(&State::default()).is_err());
    assert_eq!(StateFile::open(folder.path(), "a").1, state());
}
