//! Settings: the shipped file is the documented truth, a later layer wins, and each mistake gets
//! one sentence that names its place and never the token.

use std::{fs, path::PathBuf};

use meitner::{
    daemon, game, platform, search,
    settings::{LogFormat, Settings, SettingsError, Sources},
    store::{PgnFolder, PgnGroup},
};
use secrecy::ExposeSecret;
use tempfile::TempDir;

const SHIPPED: &str = include_str!("../config/meitner.toml");
/// A token that cannot be overlooked.
const TOKEN: &str = "lip_RecognisableTestToken0042";

/// A folder with a file of settings, and the sources that name it.
struct Case {
    folder: TempDir,
    sources: Sources,
}

impl Case {
    fn new(file: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("my.toml");
        fs::write(&path, file).expect("a file can be written");
        Self { folder, sources: Sources { file: Some(path), ..Sources::default() } }
    }

    fn variable(mut self, name: &str, value: &str) -> Self {
        self.sources.environment.insert(name.to_owned(), value.to_owned());
        self
    }

    fn flag(mut self, flag: &str) -> Self {
        self.sources.flags.push(flag.to_owned());
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn load(&self) -> Result<Settings, SettingsError> {
        Settings::load(&self.sources)
    }

    /// The sentence, with the folder left out.
    fn sentence(&self) -> String {
        let error = self.load().expect_err("these settings are wrong");
        self.shorten(&error)
    }

    fn shorten(&self, error: &SettingsError) -> String {
        let folder = format!("{}/", self.folder.path().display());
        error.to_string().replace(&folder, "")
    }
}

fn with_flag(flag: &str) -> Result<Settings, SettingsError> {
    Settings::load(&Sources { flags: vec![flag.to_owned()], ..Sources::default() })
}

/// A setting of the shipped file as its comment documents it.
struct Documented {
    key: String,
    value: String,
    default: String,
    range: Option<(i64, i64)>,
}

/// Reads the shipped file as a person does: a comment, then the settings that it is about.
fn documented() -> Vec<Documented> {
    let (mut section, mut comment, mut nth, mut found) = ("", String::new(), 0, Vec::new());
    for line in SHIPPED.lines() {
        if let Some(text) = line.strip_prefix('#') {
            if nth > 0 {
                comment.clear();
                nth = 0;
            }
            comment.push_str(text);
        } else if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
            comment.clear();
        } else if let Some((name, value)) = line.split_once(" = ") {
            let after = |word: &str| comment.split_once(word).map(|(_, rest)| rest.trim_start());
            let default = after("Default:").expect("a default is told");
            let default = default.split_once(" Range:").map_or(default, |(text, _)| text);
            let default = default.trim().trim_end_matches('.');
            let default = default.split(" and ").nth(nth).unwrap_or(default);
            let range = after("Range:").map(|range| {
                let (min, max) = range.split_once(" to ").expect("a range has two ends");
                (min.trim().parse().expect("a number"), max.trim().parse().expect("a number"))
            });
            found.push(Documented {
                key: format!("{section}.{name}"),
                value: value.to_owned(),
                default: default.to_owned(),
                range,
            });
            nth += 1;
        } else {
            comment.clear();
            nth = 0;
        }
    }
    found
}

#[test]
fn the_shipped_file_says_what_its_comments_say() {
    let settings = documented();
    let documented: Vec<_> = settings.iter().map(|setting| setting.key.as_str()).collect();
    assert_eq!(documented, Settings::keys().collect::<Vec<_>>());
    assert!(documented.len() > 40, "only {} keys", documented.len());
    for Documented { key, value, default, .. } in settings {
        let plain = value.trim_matches(['[', ']']).replace('"', "");
        let plain = if plain.is_empty() { "none" } else { plain.as_str() };
        let default = if default == "empty" { "none" } else { default.as_str() };
        assert_eq!(plain, default, "{key}");
    }
}

#[test]
fn ranges_are_as_documented_with_both_ends_included() {
    let mut ranges = 0;
    for Documented { key, range, .. } in documented() {
        let Some((min, max)) = range else { continue };
        ranges += 1;
        for value in [min - 1, max + 1] {
            let error = with_flag(&format!("{key}={value}")).expect_err(&key).to_string();
            let sentence = format!(
                "--set {key}: `{key}` is {value}, but must be a whole number from {min} to {max}"
            );
            assert_eq!(error, sentence);
        }
        for value in [min, max] {
            let result = with_flag(&format!("{key}={value}"));
            // Both ends are lawful, though not always beside the defaults of other keys.
            if let Err(error) = result {
                assert!(error.to_string().contains("at most `challenge."), "{key}: {error}");
            }
        }
    }
    assert!(ranges > 20, "{ranges} ranges");
}

#[test]
fn the_defaults_are_those_of_the_modules() {
    let settings = Settings::load(&Sources::default()).unwrap();
    let expected = daemon::Options {
        // The engine's own default is small so that tests start fast.
        engine: search::Options { hash_mb: 64, threads: 1 },
        ..daemon::Options::default()
    };
    assert_eq!(format!("{:#?}", settings.daemon), format!("{expected:#?}"));
    let expected = platform::lichess::Options::default();
    assert_eq!(format!("{:#?}", settings.lichess), format!("{expected:#?}"));
    assert_eq!(settings.log.directives, "warn,meitner=info");
    assert_eq!(settings.log.format, LogFormat::Human);
    assert!(matches!(settings.token(), Err(SettingsError::NoToken)));
}

#[test]
fn the_shipped_file_can_be_used_as_ones_own() {
    let settings = Case::new(SHIPPED).load().unwrap();
    let defaults = Settings::load(&Sources::default()).unwrap();
    assert_eq!(format!("{:?}", settings.daemon), format!("{:?}", defaults.daemon));
}

#[test]
fn a_later_layer_wins() {
    let file = "[search]\nthreads = 2\nhash_mb = 128\nnodes = 5000\n";
    let case = Case::new(file).variable("MEITNER_SEARCH__HASH_MB", "256");
    let case = case.variable("MEITNER_SEARCH__NODES", "6000").flag("search.nodes=7000");
    let settings = case.load().unwrap();
    assert_eq!(settings.daemon.engine, search::Options { threads: 2, hash_mb: 256 });
    assert_eq!(settings.daemon.game.nodes, Some(7000));
    assert_eq!(case.flag("search.nodes=8000").load().unwrap().daemon.game.nodes, Some(8000));
}

#[test]
fn lists_in_variables_are_separated_by_commas() {
    let case = Case::new("[challenge]\nblock = [\"A\"]\n");
    let case = case.variable("MEITNER_CHALLENGE__SPEEDS", "blitz, rapid,");
    let policy = case.load().unwrap().daemon.policy;
    assert_eq!(policy.humans.speeds, [platform::Speed::Blitz, platform::Speed::Rapid]);
    assert_eq!(policy.block, ["a"].iter().collect());
    let case = case.variable("MEITNER_CHALLENGE__BLOCK", "");
    assert!(case.load().unwrap().daemon.policy.block.is_empty());
}

#[test]
fn what_is_asked_of_one_kind_is_asked_besides_what_is_asked_of_all() {
    let file = "[challenge]\nspeeds = [\"blitz\", \"rapid\"]\nmin_initial_s = 60\n\
                max_increment_s = 10\nrated = false\n\
                [challenge.bot]\nspeeds = [\"bullet\", \"blitz\"]\nmin_initial_s = 30\n\
                max_initial_s = 600\nmin_rating = 1500\nmax_length_s = 900\n\
                time_controls = [\"3+2\", \"0.5+1\"]\nmin_account_days = 7\nmarked = false\n";
    let case = Case::new(file).variable("MEITNER_CHALLENGE__HUMAN__MAX_GAMES_PER_USER", "2");
    let policy = case.load().unwrap().daemon.policy;
    let (humans, bots) = (policy.humans, policy.bots);
    assert_eq!(humans.speeds, [platform::Speed::Blitz, platform::Speed::Rapid]);
    assert_eq!(bots.speeds, [platform::Speed::Blitz]);
    assert_eq!((humans.initial_s, bots.initial_s), (60..=10_800, 60..=600));
    assert_eq!((humans.increment_s, bots.increment_s), (0..=10, 0..=10));
    assert!(!humans.rated && !bots.rated);
    assert_eq!((humans.min_rating, bots.min_rating), (None, Some(1500)));
    assert_eq!((humans.max_length_s, bots.max_length_s), (None, Some(900)));
    assert_eq!((humans.max_games_per_user, bots.max_games_per_user), (Some(2), None));
    let clocks = [(180, 2), (30, 1)]
        .map(|(initial_s, increment_s)| platform::ChallengeClock { initial_s, increment_s });
    assert_eq!((humans.time_controls.len(), bots.time_controls), (0, clocks.to_vec()));
    let week = std::time::Duration::from_hours(7 * 24);
    assert_eq!((humans.min_account_age, bots.min_account_age), (None, Some(week)));
    assert!(humans.marked && !bots.marked);
}

#[test]
fn people_and_bots_are_met_apart() {
    let file = "[game.human]\naccept_draws = false\nresign = true\ntakebacks = 2\n\
                takebacks_in_rated_games = true\nresign_min_rating = 2300\nhope_for_flag_s = 0\n\
                [game.bot]\noffer_draws = true\noffer_within_cp = 5\noffer_after_moves = 6\n\
                draw_from_move = 30\ndraw_max_men = 10\n";
    let case = Case::new(file).variable("MEITNER_GAME__BOT__RESIGN_AT_MOST_CP", "-900");
    let game = case.load().unwrap().daemon.game;
    let (humans, bots) = (game.humans, game.bots);
    assert!(!humans.draw.accept && bots.draw.accept && bots.draw.offer && !humans.draw.offer);
    assert_eq!((bots.draw.offer_within_cp, bots.draw.offer_after_moves), (5, 6));
    assert_eq!((bots.draw.when.from_move, bots.draw.when.max_men), (30, 10));
    assert!(humans.resign.enabled && !bots.resign.enabled);
    assert_eq!((humans.resign.at_most_cp, bots.resign.at_most_cp), (-1500, -900));
    assert_eq!((humans.resign.when.min_rating, bots.resign.when.min_rating), (Some(2300), None));
    assert_eq!((humans.takeback.most, bots.takeback.most), (2, 0));
    assert!(humans.takeback.in_rated_games && humans.hope_for_flag.is_none());
}

#[test]
fn everything_about_the_chat_can_be_off() {
    let case = Case::new("[chat]\ncommands = []\ngreeting = \"Hi {opponent}\"\n");
    let case = case.variable("MEITNER_CHAT__SPECTATORS_COMMANDS", "");
    let chat = case.load().unwrap().daemon.game.chat;
    assert!(chat.players.commands.is_empty() && chat.spectators.commands.is_empty());
    assert_eq!(chat.players.greeting, "Hi {opponent}".parse().unwrap());
    assert_eq!(chat.spectators.greeting, game::Template::default());
}

#[test]
fn the_games_that_are_sought_are_set() {
    let file = "[matchmaking]\nenabled = true\ntime_controls = [\"3+2*5\", \"0.5+1\"]\n\
                mode = \"rated\"\nmax_rating_difference = 300\nblock = [\"One\"]\npause_s = 60\n\
                [tournament]\nids = [\"hL7vMrFQ\"]\nberserk = \"weaker\"\n";
    let case = Case::new(file)
        .variable("MEITNER_TOURNAMENT__TEAMS", "Crew, night-owls")
        .variable("MEITNER_TOURNAMENT__PASSWORD", "12345");
    let settings = case.load().unwrap();
    let daemon::MatchmakingOptions { time_controls, mode, block, pause, .. } =
        &settings.daemon.policy.matchmaking;
    let clocks = [(180, 2, 5), (30, 1, 1)].map(|(initial_s, increment_s, weight)| {
        let clock = platform::ChallengeClock { initial_s, increment_s };
        daemon::WeightedClock { weight, ..daemon::WeightedClock::of(clock) }
    });
    assert_eq!(*time_controls, clocks);
    assert_eq!((*mode, *pause), (daemon::Mode::Rated, std::time::Duration::from_mins(1)));
    assert!(block.contains("one"));
    let tournament = &settings.daemon.policy.tournament;
    assert_eq!(tournament.ids, ["hL7vMrFQ".parse().unwrap()]);
    assert_eq!(tournament.teams, ["crew", "night-owls"]);
    assert_eq!(tournament.password, Some(daemon::Password("12345".to_owned().into())));
    assert_eq!(tournament.berserk, daemon::Berserk::Weaker);
    assert!(!format!("{settings:?}").contains("12345"), "a password is not shown");
    assert_eq!(
        case.flag("tournament.password=12345").sentence(),
        "--set tournament.password: a secret cannot be a flag, since every user of the machine \
         could read it; set the variable MEITNER_TOURNAMENT__PASSWORD"
    );
}

#[test]
fn names_come_from_files_as_well() {
    let case = Case::new("[challenge]\nblock = [\"One\"]\n");
    for (name, text) in [("a.txt", "Two # a comment\n\n"), ("b.txt", "# nobody\nTHREE\n")] {
        fs::write(case.path(name), text).unwrap();
    }
    let files = format!("{},{}", case.path("a.txt").display(), case.path("b.txt").display());
    let case = case.variable("MEITNER_CHALLENGE__BLOCK_FILES", &files);
    let policy = case.load().unwrap().daemon.policy;
    assert_eq!(policy.block, ["one", "two", "three"].iter().collect());
    assert!(policy.only.is_empty() && policy.always.is_empty());
    fs::write(case.path("b.txt"), "good\n<html>\n").unwrap();
    assert_eq!(
        case.sentence(),
        "b.txt: the file that `challenge.block_files` names cannot be used: line 2 is \"<html>\", \
         but must be one name of letters, digits, - and _; a comment begins with #"
    );
    fs::remove_file(case.path("a.txt")).unwrap();
    let begin = "a.txt: the file that `challenge.block_files` names cannot be used: ";
    assert!(case.sentence().starts_with(begin), "{}", case.sentence());
}

#[test]
fn metrics_are_told_where_it_is_set_and_elsewhere_only_if_that_is_wanted() {
    let listen = |file: &str| Case::new(file).load().unwrap().web.listen;
    assert_eq!(listen(""), None);
    for address in ["127.0.0.1:9464", "[::1]:9464", "127.0.0.9:0"] {
        let file = format!("[metrics]\nlisten = \"{address}\"\n");
        assert_eq!(listen(&file), address.parse().ok(), "{address}");
    }
    let remote = "[metrics]\nlisten = \"[::]:9464\"\nallow_remote = true\n";
    assert_eq!(listen(remote), "[::]:9464".parse().ok());
    for (file, sentence) in [
        (
            "[metrics]\nlisten = \"9464\"",
            "my.toml: `metrics.listen` is \"9464\", but must be an address and a port like \
             127.0.0.1:9464, or empty",
        ),
        (
            "[metrics]\nlisten = \"0.0.0.0:9464\"",
            "my.toml: `metrics.listen` is \"0.0.0.0:9464\", but must be an address of this machine \
             alone, like 127.0.0.1:9464, unless `metrics.allow_remote` is true, since everybody who \
             reaches another one can read the metrics",
        ),
    ] {
        assert_eq!(Case::new(file).sentence(), sentence, "{file}");
    }
}

#[test]
fn what_is_remembered_has_its_usual_place_its_own_or_none() {
    let folder = |case: &Case| case.load().unwrap().daemon.store.folder;
    let mut case = Case::new("");
    assert_eq!(folder(&case), None, "nobody knows the usual place");
    case.sources.state_home = Some("/somewhere".into());
    assert_eq!(folder(&case), Some("/somewhere".into()));
    let case = case.flag("store.folder=here");
    assert_eq!(folder(&case), Some("here".into()));
    assert_eq!(folder(&case.flag("store.folder=")), None);
}

#[test]
fn games_go_as_pgn_where_it_is_said() {
    let pgn = |case: &Case| case.load().unwrap().daemon.store.pgn;
    let case = Case::new("[store]\nfolder = \"/kept\"\n");
    assert_eq!(pgn(&case), None);
    let case = case.flag("store.pgn_folder=pgn");
    let expected = |folder: &str, group| Some(PgnFolder { folder: folder.into(), group });
    assert_eq!(pgn(&case), expected("/kept/pgn", PgnGroup::Day));
    let case = case.flag("store.pgn_folder=/games").flag("store.pgn_group=opponent");
    assert_eq!(pgn(&case), expected("/games", PgnGroup::Opponent));
    assert_eq!(
        case.flag("store.folder=").sentence(),
        "--set store.pgn_folder: `store.pgn_folder` is \"/games\", but must be empty if \
         `store.folder` is empty"
    );
}

#[test]
fn changed_keys_are_named_but_for_secrets() {
    let old = Case::new("[lichess]\ntoken = \"a\"\n").load().unwrap();
    let file =
        "[lichess]\ntoken = \"b\"\n[challenge.bot]\nspeeds = [\"blitz\"]\n[search]\nnodes = 7\n";
    let changed = old.changed_keys(&Case::new(file).load().unwrap());
    assert_eq!(changed, ["challenge.bot.speeds", "search.nodes"]);
    for key in [
        "challenge.bot.speeds",
        "matchmaking.enabled",
        "tournament.ids",
        "search.nodes",
        "game.human.resign",
        "chat.greeting",
        "log.level",
    ] {
        assert!(Settings::is_taken_up(key), "{key}");
    }
    for key in ["challenge.concurrency", "search.hash_mb", "search.threads", "search.cores"] {
        assert!(!Settings::is_taken_up(key), "{key}");
    }
    for key in ["lichess.url", "fics.seek", "log.format", "store.folder", "shutdown.unfinished"] {
        assert!(!Settings::is_taken_up(key), "{key}");
    }
}

#[test]
fn other_variables_are_none_of_our_business() {
    let case = Case::new("").variable("PATH", "/bin").variable("MEITNERIUM", "109");
    case.load().unwrap();
}

#[test]
fn each_mistake_gets_its_sentence() {
    for (file, sentence) in [
        (
            "[challenge]\nconcurrency = 0",
            "my.toml: `challenge.concurrency` is 0, but must be a whole number from 1 to 64",
        ),
        (
            "[challenge]\nconcurrency = \"4\"",
            "my.toml: `challenge.concurrency` is \"4\", but must be a whole number from 1 to 64",
        ),
        (
            "[challenge]\nconcurrency = 1.5",
            "my.toml: `challenge.concurrency` is 1.5, but must be a whole number from 1 to 64",
        ),
        (
            "[challenge]\nconcurency = 4",
            "my.toml: there is no key `challenge.concurency`; did you mean `challenge.concurrency`?",
        ),
        (
            "[search]\nhash = 64",
            "my.toml: there is no key `search.hash`; did you mean `search.hash_mb`?",
        ),
        (
            "concurrency = 4",
            "my.toml: there is no key `concurrency`; did you mean `challenge.concurrency`?",
        ),
        (
            "[engine]\nhash_mb = 64",
            "my.toml: there is no key `engine.hash_mb`; did you mean `search.hash_mb`?",
        ),
        (
            "[xyzzy]\nplugh = 1",
            "my.toml: there is no key `xyzzy.plugh`; config/meitner.toml lists them all",
        ),
        (
            "[search.threads]\nmin = 1",
            "my.toml: `search.threads` is a table, but must be a whole number from 1 to 512",
        ),
        (
            "[challenge]\nspeeds = [\"blitz\", \"slow\"]",
            "my.toml: `challenge.speeds` is [\"blitz\", \"slow\"], but must be a list of at least \
             one of bullet, blitz, rapid, classical, correspondence",
        ),
        (
            "[challenge]\nspeeds = []",
            "my.toml: `challenge.speeds` is [], but must be a list of at least one of bullet, \
             blitz, rapid, classical, correspondence",
        ),
        (
            "[challenge]\nrated = \"yes\"",
            "my.toml: `challenge.rated` is \"yes\", but must be true or false",
        ),
        (
            "[lichess]\nurl = \"lichess.org\"",
            "my.toml: `lichess.url` is \"lichess.org\", but must be an address like \
             https://lichess.org; http is only for a server on this machine, since the token would \
             travel in clear text",
        ),
        (
            "[lichess]\nurl = \"http://lichess.org\"",
            "my.toml: `lichess.url` is \"http://lichess.org\", but must be an address like \
             https://lichess.org; http is only for a server on this machine, since the token would \
             travel in clear text",
        ),
        (
            "[log]\nlevel = \"loud\"",
            "my.toml: `log.level` is \"loud\", but must be one of off, error, warn, info, debug, \
             trace",
        ),
        (
            "[log]\nfilter = \"hyper\"",
            "my.toml: `log.filter` is \"hyper\", but must be directives like \
             meitner::platform=debug,hyper=info",
        ),
        (
            "[chat]\ngreeting = \"a\\nb\"",
            "my.toml: `chat.greeting` is \"a\\nb\", but must be one line of at most 140 characters, \
             where {opponent}, {me}, {engine} and {version} are filled in and each name counts for \
             30",
        ),
        (
            "[chat]\nspectators_goodbye = \"Bye {oponent}\"",
            "my.toml: `chat.spectators_goodbye` is \"Bye {oponent}\", but must be one line of at most \
             140 characters, where {opponent}, {me}, {engine} and {version} are filled in and each \
             name counts for 30",
        ),
        (
            "[chat]\ncommands = [\"shell\"]",
            "my.toml: `chat.commands` is [\"shell\"], but must be a list of some of help, name, \
             engine, eval, printeval, quiet, pv, draw, takeback, queue, ping, wait, cpu, ram",
        ),
        (
            "[shutdown]\nunfinished = \"flee\"",
            "my.toml: `shutdown.unfinished` is \"flee\", but must be one of resign, leave",
        ),
    ] {
        assert_eq!(Case::new(file).sentence(), sentence, "{file}");
    }
}

#[test]
fn demands_on_opponents_that_contradict_each_other_are_told() {
    for (file, sentence) in [
        (
            "[challenge]\nmin_initial_s = 600\nmax_initial_s = 60",
            "my.toml: `challenge.min_initial_s` is 600, but must be at most \
             `challenge.max_initial_s`, which is 60",
        ),
        (
            "[challenge]\nmin_increment_s = 61",
            "my.toml: `challenge.min_increment_s` is 61, but must be at most \
             `challenge.max_increment_s`, which is 60",
        ),
        (
            "[challenge]\nrated = false\ncasual = false",
            "my.toml: `challenge.casual` is false, but must be true if `challenge.rated` is false",
        ),
        (
            "[challenge]\nbots = false\nhumans = false",
            "my.toml: `challenge.humans` is false, but must be true if `challenge.bots` is false",
        ),
        (
            "[challenge]\nblock_urls = [\"http://example.com/names\"]",
            "my.toml: `challenge.block_urls` is [\"http://example.com/names\"], but must be a list \
             of addresses like https://example.com/names.txt; http is only for this machine",
        ),
        (
            "[challenge.human]\nmin_rating = 1500\nmax_rating = 1400",
            "my.toml: `challenge.human.min_rating` is 1500, but must be at most \
             `challenge.human.max_rating`, which is 1400",
        ),
        (
            "[challenge.bot]\nrated = false\ncasual = false",
            "my.toml: `challenge.bot.casual` is false, but must be true if `challenge.bot.rated` \
             is false",
        ),
        (
            "[challenge.bot]\ntime_controls = [\"3+2\", \"blitz\"]",
            "my.toml: `challenge.bot.time_controls` is [\"3+2\", \"blitz\"], but must be a list \
             of clocks in minutes and seconds, like 3+2",
        ),
        (
            "[matchmaking]\ntime_controls = []",
            "my.toml: `matchmaking.time_controls` is [], but must be a list of at least one clock \
             in minutes and seconds, like 3+2, or 3+2*5 to choose it five times as often, and perhaps \
             rated, casual or both, and the least and greatest rating of the opponent, like \
             3+2*5 rated 1800-2400; or days for a move, which are never rated, like 2d",
        ),
        (
            "[matchmaking]\ntime_controls = [\"3+2\", \"0.1+1*2\"]",
            "my.toml: `matchmaking.time_controls` is \"0.1+1*2\", but must be a list of clocks \
             that the server takes from bots: 0, 0.25, 0.5, 0.75, 1, 1.5 or whole minutes, at most \
             60 seconds more for each move, and at least half a minute for 40 moves; or 1, 2, 3, 5, \
             7, 10 or 14 days for a move, like 2d",
        ),
        (
            "[matchmaking]\ntime_controls = [\"3+2\", \"4d\"]",
            "my.toml: `matchmaking.time_controls` is \"4d\", but must be a list of clocks \
             that the server takes from bots: 0, 0.25, 0.5, 0.75, 1, 1.5 or whole minutes, at most \
             60 seconds more for each move, and at least half a minute for 40 moves; or 1, 2, 3, 5, \
             7, 10 or 14 days for a move, like 2d",
        ),
        (
            "[matchmaking]\nmin_rating = 1500\nmax_rating = 1400",
            "my.toml: `matchmaking.min_rating` is 1500, but must be at most \
             `matchmaking.max_rating`, which is 1400",
        ),
        (
            "[matchmaking]\nmin_rating_difference = 2\nmax_rating_difference = 1",
            "my.toml: `matchmaking.min_rating_difference` is 2, but must be at most \
             `matchmaking.max_rating_difference`, which is 1",
        ),
        (
            "[tournament]\nids = [\"https://lichess.org/tournament/hL7vMrFQ\"]",
            "my.toml: `tournament.ids` is [\"https://lichess.org/tournament/hL7vMrFQ\"], but must \
             be a list of the last parts of tournaments' addresses, like hL7vMrFQ",
        ),
        (
            "[tournament]\nteams = [\"a b\"]",
            "my.toml: `tournament.teams` is [\"a b\"], but must be a list of the last parts of \
             teams' addresses, like lichess-swiss",
        ),
        (
            "[challenge.bots]\nrated = false",
            "my.toml: `challenge.bots` is a table, but must be true or false",
        ),
    ] {
        assert_eq!(Case::new(file).sentence(), sentence, "{file}");
    }
}

#[test]
fn mistakes_in_variables_and_flags_name_them() {
    for (variable, value, sentence) in [
        (
            "MEITNER_SEARCH__THREADS",
            "many",
            "MEITNER_SEARCH__THREADS: `search.threads` is \"many\", but must be a whole number \
             from 1 to 512",
        ),
        (
            "MEITNER_SEARCH__THREDS",
            "2",
            "MEITNER_SEARCH__THREDS: there is no key `search.threds`; did you mean \
             `search.threads`?",
        ),
        (
            "MEITNER_SEARCH_THREADS",
            "2",
            "MEITNER_SEARCH_THREADS: there is no key `search_threads`; did you mean \
             `search.threads`?",
        ),
    ] {
        assert_eq!(Case::new("").variable(variable, value).sentence(), sentence);
    }
    for (flag, sentence) in [
        ("search.threads", "--set needs KEY=VALUE, as in --set search.threads=2"),
        (
            "search.thread=2",
            "--set search.thread: there is no key `search.thread`; did you mean `search.threads`?",
        ),
        (
            "search.threads=0",
            "--set search.threads: `search.threads` is 0, but must be a whole number from 1 to 512",
        ),
    ] {
        assert_eq!(Case::new("").flag(flag).sentence(), sentence);
    }
}

#[test]
fn only_on_this_machine_certificates_are_not_needed() {
    for url in
        ["http://127.0.0.1:8664", "http://localhost", "http://[::1]:1", "https://lichess.dev"]
    {
        with_flag(&format!("lichess.url={url}")).expect(url);
    }
    for url in ["http://lichess.org", "http://127.0.0.1.evil.example", "http://10.0.0.1", "ftp://x"]
    {
        let error = with_flag(&format!("lichess.url={url}")).expect_err(url).to_string();
        assert!(error.contains("http is only for a server on this machine"), "{error}");
    }
}

#[test]
fn a_bad_value_is_told_even_if_a_later_layer_covers_it() {
    let case = Case::new("[search]\nthreads = 0").flag("search.threads=2");
    assert!(case.sentence().starts_with("my.toml: `search.threads` is 0"));
}

#[test]
fn a_file_that_is_missing_or_no_toml_is_told() {
    let mut case = Case::new("");
    case.sources.file = Some(case.path("none.toml"));
    assert!(case.sentence().starts_with("none.toml: cannot be read: "), "{}", case.sentence());
    let sentence = Case::new("[search]\nthreads = = 2\n").sentence();
    assert!(sentence.starts_with("my.toml: line 2, column 11 is not TOML: "), "{sentence}");
    assert_eq!(sentence.lines().count(), 1);
}

#[test]
fn the_token_comes_from_text_or_file() {
    let token =
        |case: &Case| case.load().unwrap().token().map(|token| token.expose_secret().to_owned());
    let by_file = Case::new(&format!("[lichess]\ntoken = \"{TOKEN}\""));
    assert_eq!(token(&by_file).unwrap(), TOKEN);
    let by_variable = Case::new("").variable("MEITNER_LICHESS__TOKEN", TOKEN);
    assert_eq!(token(&by_variable).unwrap(), TOKEN);
    let digits = Case::new("").variable("MEITNER_LICHESS__TOKEN", "00123e45");
    assert_eq!(token(&digits).unwrap(), "00123e45", "a token is no number");

    let case = Case::new("");
    let path = case.path("token");
    fs::write(&path, format!("\n  {TOKEN} \n")).unwrap();
    let case = case.variable("MEITNER_LICHESS__TOKEN_FILE", path.to_str().unwrap());
    assert_eq!(token(&case).unwrap(), TOKEN, "blanks around it do not count");
    let case = case.variable("MEITNER_LICHESS__TOKEN", TOKEN);
    assert_eq!(token(&case).unwrap(), TOKEN, "the same token twice is one token");
    let case = case.variable("MEITNER_LICHESS__TOKEN", "lip_other");
    let error = token(&case).unwrap_err();
    assert_eq!(
        case.shorten(&error),
        "`lichess.token` (from MEITNER_LICHESS__TOKEN) and `lichess.token_file` (from \
         MEITNER_LICHESS__TOKEN_FILE) hold different tokens; set only one of them"
    );
}

#[test]
fn each_mistake_about_fics_gets_its_sentence() {
    for (file, sentence) in [
        (
            "[fics]\naccount = \"Bot 1\"",
            "my.toml: `fics.account` is \"Bot 1\", but must be guest, or a name of 3 to 17 letters",
        ),
        (
            "[fics]\nseek = \"3+0\"",
            "my.toml: `fics.seek` is \"3+0\", but must be minutes and seconds, and perhaps rated or \
             unrated, like 3 0 unrated",
        ),
        (
            "[fics]\nmatch_names = [\"Alice\", \"Bob 2\"]",
            "my.toml: `fics.match_names` is [\"Alice\", \"Bob 2\"], but must be a list of names of 3 to 17 \
             letters",
        ),
        (
            "[fics]\ntimeseal = \"yes\"",
            "my.toml: `fics.timeseal` is \"yes\", but must be one of off, v1, v2",
        ),
    ] {
        assert_eq!(Case::new(file).sentence(), sentence, "{file}");
    }
}

#[test]
fn fics_is_off_unless_enabled_and_then_needs_a_password_or_a_guest() {
    let fics = |file: &str| Case::new(file).load().unwrap().fics();
    assert!(fics("").unwrap().is_none());
    let guest = fics("[fics]\nenabled = true").unwrap().unwrap();
    let expected = platform::fics::Options::default();
    assert_eq!(format!("{guest:#?}"), format!("{expected:#?}"));
    let named = "[fics]\nenabled = true\naccount = \"AtomBot\"";
    let full = format!("{named}\npassword = \"sesame\"\ntimeseal = \"v2\"\nseek = \"3 0 rated\"");
    let options = fics(&full).unwrap().unwrap();
    assert_eq!(options.password.expose_secret(), "sesame");
    assert_eq!(options.timeseal, Some(platform::fics::timeseal::Version::V2));
    assert_eq!(Case::new(&full).load().unwrap().daemon.invitations.seek, "3 0 rated");
    assert!(!format!("{options:?}").contains("sesame"));
    let sentence = |file: &str| fics(file).unwrap_err().to_string();
    assert!(sentence(named).contains("there is no password for `fics.account`"));
    let guest = "[fics]\nenabled = true\npassword = \"sesame\"";
    assert!(sentence(guest).starts_with("`fics.account` is guest"));
    assert!(!sentence(guest).contains("sesame"));
}

#[test]
fn the_password_for_fics_can_be_in_a_file() {
    let case = Case::new("[fics]\nenabled = true\naccount = \"AtomBot\"");
    let path = case.path("password");
    let case = case.flag(&format!("fics.password_file={}", path.display()));
    let fics = |case: &Case| case.load().unwrap().fics();
    let sentence = case.shorten(&fics(&case).unwrap_err());
    let begin = "password: the file that `fics.password_file` names cannot be used: ";
    assert!(sentence.starts_with(begin), "{sentence}");
    fs::write(&path, "\n").unwrap();
    assert_eq!(case.shorten(&fics(&case).unwrap_err()), format!("{begin}it is empty"));
    fs::write(&path, " se same\r\n").unwrap();
    let password = fics(&case).unwrap().unwrap().password;
    assert_eq!(password.expose_secret(), " se same", "blanks may be part of it");
    let case = case.variable("MEITNER_FICS__PASSWORD", "other");
    assert!(case.shorten(&fics(&case).unwrap_err()).contains("set only one of them"));
    let error = with_flag("fics.password=sesame").unwrap_err().to_string();
    assert!(error.contains("MEITNER_FICS__PASSWORD") && !error.contains("sesame"), "{error}");
}

#[test]
fn a_token_file_that_is_missing_or_empty_is_told() {
    let case = Case::new("");
    let path = case.path("token");
    let case = case.flag(&format!("lichess.token_file={}", path.display()));
    let error = case.load().unwrap().token().unwrap_err();
    let sentence = case.shorten(&error);
    let begin = "token: the file that `lichess.token_file` names cannot be read: ";
    assert!(sentence.starts_with(begin), "{sentence}");
    fs::write(&path, " \n").unwrap();
    let error = case.load().unwrap().token().unwrap_err();
    let sentence = "token: the file that `lichess.token_file` names is empty";
    assert_eq!(case.shorten(&error), sentence);
}

#[test]
fn the_token_is_never_shown() {
    let shown = |text: &str| text.contains(TOKEN) || text.contains("Recognisable");
    let good = Case::new(&format!("[lichess]\ntoken = \"{TOKEN}\""));
    let settings = good.load().unwrap();
    assert!(!shown(&format!("{settings:?} {settings:#?}")));
    assert!(!shown(&format!("{:?}", settings.token().unwrap())));
    for file in [
        // Wrong elsewhere in the file.
        format!("[lichess]\ntoken = \"{TOKEN}\"\n[search]\nthreads = 0"),
        format!("[lichess]\ntoken = \"{TOKEN}\"\ntokne = 1"),
        format!("[lichess]\ntoken = \"{TOKEN}\"\n[search\nthreads = 1"),
        // Not TOML, just there.
        format!("[lichess]\ntoken = {TOKEN}"),
        format!("[lichess]\ntoken = \"{TOKEN}"),
        format!("[lichess]\ntoken = '{TOKEN}\""),
        format!("[lichess]\ntoken = \"{TOKEN}\" x"),
        format!("[lichess]\ntoken \"{TOKEN}\""),
        TOKEN.to_owned(),
        format!("[lichess]\ntoken = \"{TOKEN}\"\ntoken = \"{TOKEN}\""),
        // Of a wrong type, or under a wrong key.
        format!("[lichess]\ntoken = [\"{TOKEN}\"]"),
        format!("[lichess]\ntoken = {{ value = \"{TOKEN}\" }}"),
        format!("[lichess]\nurl = \"{TOKEN}\""),
        format!("[search]\nthreads = \"{TOKEN}\""),
        format!("[challenge]\nspeeds = [\"{TOKEN}\"]"),
        format!("[lichess]\ntokn = \"{TOKEN}\""),
    ] {
        let case = Case::new(&file);
        let error = case.load().expect_err(&file);
        assert!(!shown(&format!("{error} {error:?} {error:#?}")), "{file}: {error}");
    }
    for flag in ["lichess.token", "lichess.url", "search.threads", "lichess.tokn"] {
        let error = with_flag(&format!("{flag}={TOKEN}")).expect_err(flag);
        assert!(!shown(&format!("{error} {error:?}")), "{flag}: {error}");
    }
    assert!(!shown(&with_flag(TOKEN).unwrap_err().to_string()));
    let case = Case::new("").variable("MEITNER_SEARCH__THREADS", TOKEN);
    assert!(!shown(&case.sentence()));
}
