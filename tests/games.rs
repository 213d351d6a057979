//! `games` and `stats`: what the built program prints of what it remembers.

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
    time::Duration,
};

use meitner::{
    game::GameResult,
    pgn::Reader,
    store::{
        AnswerRecord, ChallengeAnswer, ChallengeRecord, Epoch, FORMAT, GameEnd, GameRecord, Store,
        StoreOptions,
    },
};
use rusqlite::Connection;
use serde_json::Value;
use tempfile::TempDir;

mod records;

use records::{game, other_game};

/// A folder with what is remembered, in which the program runs.
struct Site(TempDir);

impl Site {
    /// Nothing is remembered.
    fn empty() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    /// Three games: one on FICS that goes on, one won, one lost two days later.
    async fn new() -> Self {
        let site = Self::empty();
        let lost = GameRecord {
            started_at: Epoch::from_secs(1_800_172_800),
            end: Some(GameEnd {
                result: GameResult::Lost,
                winner: Some(meitner::rules::Color::Black),
                reason: "out of time".to_owned(),
                at: Epoch::from_secs(1_800_173_000),
            }),
            rating_diff: Some(-9),
            moves: game("Bc3").moves[..4].to_vec(),
            ..game("Bc3")
        };
        let store = site.store();
        for record in [other_game("fics-1-g1"), game("Bb2"), lost] {
            store.put_game(record);
        }
        for (id, answer) in [
            ("c1", ChallengeAnswer::Accepted),
            ("c2", ChallengeAnswer::Accepted),
            ("c3", ChallengeAnswer::Declined),
        ] {
            let key = game(id).key;
            store.put_challenge(ChallengeRecord {
                key: key.clone(),
                is_ours: false,
                at: Epoch::from_secs(1_800_000_000),
                opponent: Some("QuietRook7".to_owned()),
                rating: None,
                is_bot: true,
                variant: "atomic".to_owned(),
                rated: true,
                clock_s: Some((180, 2)),
                days: None,
            });
            let reason = (answer == ChallengeAnswer::Declined).then(|| "later".to_owned());
            store.put_answer(AnswerRecord {
                key,
                at: Epoch::from_secs(1_800_000_001),
                answer,
                reason,
                detail: None,
            });
        }
        assert!(store.flush(Duration::from_mins(1)).await);
        site
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn store(&self) -> Store {
        let folder = Some(self.path().to_owned());
        Store::open(&StoreOptions { folder, ..StoreOptions::default() })
    }

    fn change(&self, sql: &str) {
        let connection = Connection::open(self.path().join("meitner.db")).expect("the file");
        connection.execute_batch(sql).expect(sql);
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meitner"));
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("MEITNER_") {
                command.env_remove(name);
            }
        }
        command.args(arguments).current_dir(self.path()).env("STATE_DIRECTORY", self.path());
        command.stdin(Stdio::null()).output().expect("the program runs")
    }

    /// What it prints when all is well.
    #[track_caller]
    fn output(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// The sentence when it is not.
    #[track_caller]
    fn error(&self, arguments: &[&str], code: i32) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        assert_eq!(text(&output.stdout), "");
        let error = text(&output.stderr).replace(&format!("{}", self.path().display()), "DIR");
        assert_eq!(error.lines().count(), 1, "{error}");
        error
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

#[tokio::test]
async fn the_list_is_a_table_with_the_newest_first() {
    let site = Site::new().await;
    let expected = "\
Began (UTC)       Game       We     Opponent               Clock   Mode    Result      By             Moves  Opening
2027-01-17 08:00  Bc3        white  BOT QuietRook7 (1950)  3+2     rated   lost        out of time        2  1. Nf3 a6 2. Ne5 a5
2027-01-15 08:16  fics-1-g1  black  anonymous              3 days  casual  unfinished                     1
2027-01-15 08:00  Bb2        white  BOT QuietRook7 (1950)  3+2     rated   won         king exploded      3  1. Nf3 a6 2. Ne5 a5
";
    assert_eq!(site.output(&["games"]), expected);
    let lines = |arguments: &[&str]| {
        let arguments: Vec<_> = ["games"].iter().chain(arguments).copied().collect();
        site.output(&arguments).lines().count() - 1
    };
    for (arguments, count) in [
        (&["--limit", "1"][..], 1),
        (&["--limit", "0"], 3),
        (&["--platform", "lichess"], 2),
        (&["--opponent", "quietrook7", "--result", "won"], 1),
        (&["--color", "black"], 1),
        (&["--colour", "white"], 2),
        (&["--speed", "blitz"], 2),
        (&["--since", "2027-01-16"], 1),
        (&["--until", "2027-01-15"], 2),
    ] {
        assert_eq!(lines(arguments), count, "{arguments:?}");
    }
    assert_eq!(site.output(&["games", "--opponent", "nobody"]), "no such games\n");
}

#[tokio::test]
async fn a_game_is_shown_with_moves_clocks_and_thoughts() {
    let site = Site::new().await;
    let expected = "\
Bb2 on lichess, 2027-01-15 08:00 to 08:01 (UTC)
white  BOT emberfork (2000), which is us, 2006 after the game
black  BOT QuietRook7 (1950)
3+2, blitz, rated, in the tournament hL7vMrFQ
won: king exploded

    White   Clock  Black   Clock  Our eval  Depth  Lag ms
1.  Nf3    3:00.0  a6     2:58.7     -0.07     14      43
2.  Ne5    2:57.5  a5     2:56.3     +0.55     14      43
3.  Nxf7#  2:55.0                       #1     14      43
";
    assert_eq!(site.output(&["games", "show", "Bb2"]), expected);
    let running = site.output(&["games", "show", "fics"]);
    assert!(running.contains("not finished as far as we know"), "{running}");
    assert!(running.contains("\n1.                O-O\n2.  a4\n"), "{running}");
    assert_eq!(
        site.error(&["games", "show", "nope"], 1),
        "meitner: there is no game \"nope\"; `meitner games` lists them\n"
    );
    assert_eq!(
        site.error(&["games", "show", "B"], 1),
        "meitner: \"B\" can be any of these games: Bc3 (emberfork on lichess), \
         Bb2 (emberfork on lichess)\n"
    );
}

#[tokio::test]
async fn programs_get_json() {
    let site = Site::new().await;
    let games = site.output(&["games", "--json"]);
    let games: Vec<Value> = games.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(games.len(), 3);
    assert_eq!(games[0]["id"], "Bc3");
    assert_eq!(games[0]["rating_after"], 1991);
    assert_eq!(games[2]["started_at"], "2027-01-15T08:00:00Z");
    assert_eq!(games[1]["result"], Value::Null);
    let game: Value =
        serde_json::from_str(&site.output(&["games", "show", "Bb2", "--json"])).unwrap();
    assert_eq!(game["moves"][2]["uci"], "f3e5");
    assert_eq!(game["moves"][2]["centipawns"], 55);
    assert_eq!(game["moves"][4]["mate_in"], 1);
    assert_eq!(game["moves"][3]["clock_ms"], 176_310);
    let stats: Value = serde_json::from_str(&site.output(&["stats", "--json"])).unwrap();
    assert_eq!(stats["all"]["share"], 0.5);
    assert_eq!(stats["by_speed"][0]["name"], "blitz");
    assert_eq!(stats["ratings"][1]["rating"], 1991);
    assert_eq!(stats["challenges"][0]["count"], 2);
}

#[tokio::test]
async fn games_that_are_over_are_exported_the_oldest_first() {
    let site = Site::new().await;
    let text = site.output(&["games", "export"]);
    let games: Vec<_> = Reader::new(text.as_bytes()).map(Result::unwrap).collect();
    assert_eq!(games.len(), 2);
    assert_eq!(games[0], game("Bb2").to_pgn().unwrap());
    let output = site.run(&["games", "export", "--out", "all.pgn"]);
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "2 games written to all.pgn\n");
    assert_eq!(fs::read_to_string(site.path().join("all.pgn")).unwrap(), text);
    site.output(&["pgn", "all.pgn"]);
    let newest = site.output(&["games", "export", "--limit", "1"]);
    assert!(text.ends_with(&newest) && newest.len() < text.len());
    let error = site.error(&["games", "export", "--out", "no/such/folder.pgn"], 1);
    assert!(error.starts_with("meitner: cannot write no/such/folder.pgn: "), "{error}");
}

#[tokio::test]
async fn a_game_that_cannot_be_read_hides_no_other() {
    let site = Site::new().await;
    site.change("UPDATE move SET uci = 'e2e5' WHERE ply = 2 AND game = (SELECT key FROM game WHERE id = 'Bb2')");
    let output = site.run(&["games", "export"]);
    assert_eq!(output.status.code(), Some(1));
    let error = text(&output.stderr);
    assert!(error.contains("game Bb2 cannot be read: ") && error.lines().count() == 1, "{error}");
    let games = text(&output.stdout);
    assert_eq!(Reader::new(games.as_bytes()).map(Result::unwrap).count(), 1);
    assert_eq!(site.output(&["games"]).lines().count(), 4);
}

#[tokio::test]
async fn the_statistics_add_up() {
    let site = Site::new().await;
    let expected = "\
2 games: 1 won, 0 drawn, 1 lost, 50 % of the points
challenges to us: 2 accepted, 1 declined (later)

Opponent               Games  Won  Drawn  Lost  Points  Their rating
QuietRook7 on lichess      2    1      0     1    50 %          1950

Speed  Games  Won  Drawn  Lost  Points  Their rating
blitz      2    1      0     1    50 %          1950

Color  Games  Won  Drawn  Lost  Points  Their rating
white      2    1      0     1    50 %          1950

Opening              Games  Won  Drawn  Lost  Points  Their rating
1. Nf3 a6 2. Ne5 a5      2    1      0     1    50 %          1950

Rating of emberfork on lichess
Day (UTC)   Games  Rating  Change  Least  Most
2027-01-15      1    2006           2006  2006
2027-01-17      1    1991     -15   1991  1991
";
    assert_eq!(site.output(&["stats"]), expected);
    let none = site.output(&["stats", "--platform", "fics"]);
    assert_eq!(none, "no such games with a result\n");
}

#[test]
fn without_games_there_is_a_sentence() {
    let site = Site::empty();
    for arguments in [&["games"][..], &["games", "show", "x"], &["games", "export"], &["stats"]] {
        assert_eq!(
            site.error(arguments, 1),
            "meitner: no games yet in DIR; `meitner run` remembers those that it plays\n"
        );
    }
    let error = site.error(&["games", "--set", "store.folder="], 1);
    assert!(error.contains("`store.folder` is empty"), "{error}");
    let error = site.error(&["games", "--set", "store.folders=x"], 2);
    assert!(error.contains("store.folder"), "{error}");
    let output = site.run(&["games", "--since", "yesterday"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("must be a day like 2026-11-30"));
}

#[tokio::test]
async fn a_file_of_a_newer_version_is_one_sentence() {
    let site = Site::new().await;
    site.change(&format!("PRAGMA user_version = {}", FORMAT + 1));
    let error = site.error(&["games"], 1);
    assert!(error.contains("DIR/meitner.db: was written by a newer version"), "{error}");
    fs::write(site.path().join("meitner.db"), "no database at all").unwrap();
    let error = site.error(&["stats"], 1);
    assert!(error.contains("DIR/meitner.db: cannot be used"), "{error}");
}

#[tokio::test]
async fn no_command_of_a_terminal_reaches_it() {
    let site = Site::new().await;
    let evil = "char(27) || ']0;owned' || char(7) || char(155) || '2J' || char(8238) || 'x'";
    site.change(&format!(
        "UPDATE game SET opponent_name = {evil}, opponent_title = {evil}, reason = {evil},
            our_name = {evil}, speed = {evil}, tournament = {evil}, opening = {evil};
         UPDATE challenge SET opponent = {evil}, answer = {evil}, reason = {evil}"
    ));
    for arguments in [
        &["games"][..],
        &["games", "--json"],
        &["games", "show", "Bb2"],
        &["games", "show", "Bb2", "--json"],
        &["games", "export"],
        &["stats"],
        &["stats", "--json"],
    ] {
        let text = site.output(arguments);
        let bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!text.contains(bad) && text.contains("owned"), "{arguments:?}: {text:?}");
    }
}
