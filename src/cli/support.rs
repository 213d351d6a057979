//! `support`: what helps to find a fault, in one file that is safe to post.
//!
//! Everything that goes in passes [`Cleaner`], whatever it is and wherever it comes from.

use std::{
    fmt::Write as _,
    fs::{self, File},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::Context as _;
use clap::Args;
use flate2::{Compression, write::GzEncoder};
use secrecy::{ExposeSecret as _, SecretString};

use crate::{
    cli::{config, log, options::SettingsArgs},
    game::{EndReason, Entry, GameResult, one_line},
    settings::{Settings, SettingsError},
    store::{Archive, Filter, GameRecord, StoreError},
};

/// So much of the end of the log goes in.
const LOG_BYTES: u64 = 2 << 20;
/// The games of which all lines are put together.
const GAMES: usize = 5;
/// So many of the games that are remembered are looked at.
const LOOKED_AT: u32 = 200;
/// No line is longer.
const MOST_CHARS: usize = 4_096;

/// Arguments of `support`.
#[derive(Debug, Args)]
pub(super) struct SupportArgs {
    /// File to write; one that exists is never replaced
    #[arg(long, value_name = "PATH", default_value = "meitner-support.tar.gz")]
    out: PathBuf,
    /// The log, or - for standard input, as in `journalctl --unit meitner@blitz | meitner support
    /// --log -`; without it the newest files of `log.folder`
    #[arg(long, value_name = "PATH")]
    log: Option<PathBuf>,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Writes the file, and says what is in it.
pub(super) fn support(args: &SupportArgs) -> anyhow::Result<ExitCode> {
    let settings = args.settings.load();
    let mut secrets = args.settings.possible_secrets();
    secrets.extend(settings.as_ref().map(Settings::secrets).unwrap_or_default());
    let cleaner = Cleaner::new(&secrets);
    let log = read_log(args, settings.as_ref().ok());
    let parts = [
        ("about.txt", about()),
        ("settings.toml", shown(&settings)),
        ("games.txt", games(&log)),
        ("store.txt", stored(settings.as_ref().ok())),
        ("log.txt", log),
    ]
    .map(|(name, text)| (name, cleaner.clean(&text)));
    write(&args.out, &parts).with_context(|| {
        format!("cannot write {}; --out names another file", args.out.display())
    })?;
    let mut out = io::stdout().lock();
    writeln!(out, "wrote {}:", args.out.display())?;
    for (name, text) in &parts {
        writeln!(out, "  {name:<14} {} lines", text.lines().count())?;
    }
    writeln!(
        out,
        "Token, passwords and the name of your home folder are left out. Look before you"
    )?;
    writeln!(out, "post it: tar --extract --to-stdout --file {}", args.out.display())?;
    Ok(ExitCode::SUCCESS)
}

/// The program and the machine.
fn about() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let system = read("/etc/os-release");
    let system = system.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    let memory = read("/proc/meminfo");
    let memory = memory.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let cores = std::thread::available_parallelism().map_or(0, Into::into);
    let now = SystemTime::now();
    format!(
        "version    {}\nbuilt for  {} {}{}\nsystem     {}\nkernel     {}\ncores      {cores}\n\
         memory     {}\ntime       {} ({} s since 1970)\n",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH,
        std::env::consts::OS,
        if cfg!(debug_assertions) { ", without optimisation" } else { "" },
        system.unwrap_or("unknown").trim_matches('"'),
        read("/proc/sys/kernel/osrelease").trim(),
        memory.unwrap_or("unknown").trim(),
        httpdate::fmt_http_date(now),
        now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
    )
}

fn shown(settings: &Result<Settings, SettingsError>) -> String {
    match settings {
        Ok(settings) => config::shown(settings),
        Err(error) => format!("# the settings are wrong: {error}\n"),
    }
}

/// The end of the log, or a word about why there is none.
fn read_log(args: &SupportArgs, settings: Option<&Settings>) -> String {
    let read = || match &args.log {
        Some(path) if path == Path::new("-") => last_of_stream(io::stdin().lock()),
        Some(path) => last_of_file(path),
        None => last_of_folder(settings.and_then(|settings| settings.log.folder.as_deref())),
    };
    match read() {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => format!("there is no log here: {error:#}\n"),
    }
}

fn last_of_stream(mut stream: impl io::Read) -> anyhow::Result<Vec<u8>> {
    let (mut kept, mut chunk, mut is_cut) = (Vec::new(), vec![0; 1 << 16], false);
    let most = usize::try_from(LOG_BYTES).unwrap_or(usize::MAX);
    loop {
        let count = stream.read(&mut chunk)?;
        if count == 0 {
            is_cut |= kept.len() > most;
            kept.drain(..kept.len().saturating_sub(most));
            return Ok(if is_cut { from_next_line(kept) } else { kept });
        }
        kept.extend_from_slice(&chunk[..count]);
        if kept.len() > 2 * most {
            kept.drain(..kept.len() - most);
            is_cut = true;
        }
    }
}

fn last_of_file(path: &Path) -> anyhow::Result<Vec<u8>> {
    let place = || path.display().to_string();
    let mut file = File::open(path).with_context(place)?;
    let length = file.metadata().with_context(place)?.len();
    let start = length.saturating_sub(LOG_BYTES);
    file.seek(SeekFrom::Start(start)).with_context(place)?;
    let mut bytes = Vec::new();
    file.take(LOG_BYTES).read_to_end(&mut bytes).with_context(place)?;
    Ok(if start > 0 { from_next_line(bytes) } else { bytes })
}

/// Without the rest of a line that was cut: half a secret is not known as one.
fn from_next_line(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |at| at + 1);
    bytes.drain(..end);
    bytes
}

/// The newest two files: the last may have begun a minute ago. Their names are in the order of time.
fn last_of_folder(folder: Option<&Path>) -> anyhow::Result<Vec<u8>> {
    let folder = folder.context(
        "`log.folder` is not set; give the log by --log PATH, or --log - for standard input",
    )?;
    let is_log = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(log::FILE_NAME.0) && name.ends_with(log::FILE_NAME.1)
    };
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut files: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_log).collect();
    files.sort();
    anyhow::ensure!(!files.is_empty(), "{} holds no log", folder.display());
    let mut bytes = Vec::new();
    for file in &files[files.len().saturating_sub(2)..] {
        bytes.extend(last_of_file(file)?);
    }
    Ok(bytes)
}

/// The last games that are remembered and went wrong, with what was noted of each move.
fn stored(settings: Option<&Settings>) -> String {
    let Some(folder) = settings.and_then(|settings| settings.daemon.store.folder.as_deref()) else {
        return "nothing is remembered\n".to_owned();
    };
    let failed = || -> Result<Vec<GameRecord>, StoreError> {
        let Some(archive) = Archive::open(folder)? else { return Ok(Vec::new()) };
        let newest = archive.games(&Filter { limit: Some(LOOKED_AT), ..Filter::default() })?;
        let failed = newest.into_iter().filter(|game| has_failed(&game.record)).take(GAMES);
        failed.map(|game| archive.with_moves(game)).collect()
    };
    match failed() {
        Ok(games) if games.is_empty() => {
            format!("none of the last {LOOKED_AT} games went wrong\n")
        }
        Ok(games) => games.iter().map(noted).collect(),
        Err(error) => format!("cannot be read: {error}\n"),
    }
}

/// Lost on time, or without an end that we know of.
fn has_failed(game: &GameRecord) -> bool {
    game.end.as_ref().is_none_or(|end| match end.result {
        GameResult::Lost => [EndReason::OutOfTime, EndReason::Timeout]
            .map(|reason| reason.to_string())
            .contains(&end.reason),
        GameResult::Unknown => true,
        GameResult::Won | GameResult::Drawn | GameResult::Aborted => false,
    })
}

/// A game and each of its moves.
fn noted(game: &GameRecord) -> String {
    let end = game.end.as_ref();
    let mut text = format!(
        "== game {} on {}, {} s since 1970, {:?} for us, {:?}\n",
        game.key.id.as_str(),
        game.key.account.platform.as_str(),
        game.started_at.secs(),
        game.our_color,
        game.time_control,
    );
    // Writing to a String cannot fail.
    let _ = match end {
        Some(end) => writeln!(text, "ended: {}, {}", end.result, end.reason),
        None => writeln!(text, "no end is known"),
    };
    for (ply, Entry { mv, clock, evaluation, depth, lag }) in game.moves.iter().enumerate() {
        let _ = writeln!(
            text,
            "{:>3} {mv} clock {clock:?} lag {lag:?} depth {depth:?} {evaluation:?}",
            ply + 1
        );
    }
    text
}

/// All lines of the last games in which something was amiss.
fn games(log: &str) -> String {
    let is_trouble = |line: &&str| line.contains("WARN") || line.contains("ERROR");
    let mut ids: Vec<&str> = Vec::new();
    for id in log.lines().rev().filter(is_trouble).filter_map(game_id) {
        if !ids.contains(&id) && ids.len() < GAMES {
            ids.push(id);
        }
    }
    if ids.is_empty() {
        return "in no game of this log was anything amiss\n".to_owned();
    }
    let mut text = String::new();
    // Writing to a String cannot fail.
    for id in ids {
        let _ = writeln!(text, "== game {id}");
        for line in log.lines().filter(|line| game_id(line) == Some(id)) {
            let _ = writeln!(text, "{line}");
        }
    }
    text
}

/// The game that a line of the log is about, in any format.
fn game_id(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("game_id")?;
    let rest = rest.trim_start_matches(['"', '=', ':', ' ']);
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_');
    Some(&rest[..end.unwrap_or(rest.len())]).filter(|id| !id.is_empty())
}

/// Leaves out of a text what must not be given away.
struct Cleaner {
    /// What is replaced, and by what.
    replaced: Vec<(String, &'static str)>,
}

impl Cleaner {
    fn new(secrets: &[SecretString]) -> Self {
        let forms = secrets.iter().flat_map(|secret| forms(secret.expose_secret()));
        let mut replaced: Vec<_> = forms.map(|form| (form, "[secret]")).collect();
        replaced.retain(|(form, _)| !form.is_empty());
        // A secret that holds another one goes first.
        replaced.sort_by_key(|(secret, _)| std::cmp::Reverse(secret.len()));
        replaced.dedup();
        let home = std::env::home_dir().map(|home| home.display().to_string());
        replaced.extend(home.filter(|home| home.len() > 1).map(|home| (home, "~")));
        Self { replaced }
    }

    fn clean(&self, text: &str) -> String {
        let lines = text.lines().map(|line| {
            // Cut last, or else the beginning of a secret might be left at the end.
            let line = one_line(line, usize::MAX);
            let replaced = self.replaced.iter();
            let line = replaced.clone().fold(line, |line, (what, by)| decoded(line, what, by));
            let known = replaced.fold(line, |line, (what, by)| line.replace(what, by));
            one_line(&without_tokens(&known), MOST_CHARS) + "\n"
        });
        lines.collect()
    }
}

/// A secret as a log may have it: as it is, as Rust or JSON escape it, or both.
fn forms(secret: &str) -> [String; 4] {
    let inner = |quoted: String| quoted[1..quoted.len() - 1].to_owned();
    let json = |text: &str| inner(serde_json::Value::from(text).to_string());
    let debug = inner(format!("{secret:?}"));
    let all = [secret.to_owned(), json(secret), json(&debug), debug];
    all.map(|form| one_line(&form, usize::MAX))
}

/// A line without this where it is percent-encoded, as in addresses and forms: whichever of its bytes
/// are, and in whichever case.
fn decoded(line: String, what: &str, by: &str) -> String {
    if !line.contains(['%', '+']) {
        return line;
    }
    let (mut cleaned, mut rest) = (String::with_capacity(line.len()), &*line);
    while let Some(first) = rest.chars().next() {
        if let Some(after) = after_encoded(rest, what) {
            cleaned += by;
            rest = after;
        } else {
            cleaned.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    cleaned
}

/// What follows, if the text begins with this, and some of it is percent-encoded.
fn after_encoded<'a>(text: &'a str, what: &str) -> Option<&'a str> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let (mut left, mut is_encoded) = (text.as_bytes(), false);
    for &wanted in what.as_bytes() {
        let (byte, length) = match left {
            [b'%', high, low, ..] => match digit(high).zip(digit(low)) {
                Some((high, low)) => (high * 16 + low, 3),
                None => (u32::from(b'%'), 1),
            },
            [b'+', ..] if wanted == b' ' => (u32::from(b' '), 1),
            [byte, ..] => (u32::from(*byte), 1),
            [] => return None,
        };
        if byte != u32::from(wanted) {
            return None;
        }
        is_encoded |= length > 1 || left[0] != wanted;
        left = &left[length..];
    }
    if is_encoded { text.get(text.len() - left.len()..) } else { None }
}

/// Tokens of lichess that are not known here, such as an older one, begin alike.
fn without_tokens(line: &str) -> String {
    let mut parts = line.split("lip_");
    let mut cleaned = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        cleaned += "[token]";
        cleaned += rest;
    }
    cleaned
}

fn write(path: &Path, parts: &[(&str, String)]) -> io::Result<()> {
    let encoder = GzEncoder::new(File::create_new(path)?, Compression::default());
    let mut bundle = tar::Builder::new(encoder);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    for (name, text) in parts {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        header.set_mtime(now);
        bundle.append_data(&mut header, format!("meitner-support/{name}"), text.as_bytes())?;
    }
    bundle.into_inner()?.finish()?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        game::{LostReason, TimeControl},
        rules::{Color, History},
        settings::Sources,
        store::{AccountKey, Epoch, GameEnd, GameKey, Platform},
    };

    #[test]
    fn secrets_tokens_and_the_home_folder_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let password = folder.path().join("password");
        fs::write(&password, "open sesame\n").unwrap();
        let environment = [
            ("MEITNER_LICHESS__TOKEN", "lip_abc123"),
            ("MEITNER_TOURNAMENT__PASSWORD", "sword\"fish"),
            ("MEITNER_FICS__PASSWORD_FILE", password.to_str().unwrap()),
        ];
        let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let sources = Sources { environment: environment.into(), ..Sources::default() };
        let cleaner = Cleaner::new(&Settings::load(&sources).unwrap().secrets());
        let text = "a lip_abc123 b\nlip_older_1-sword\"fish\nopen sesame\x1b[2J\n";
        assert_eq!(cleaner.clean(text), "a [secret] b\n[token]-[secret]\n[secret][2J\n");
        let debug = format!("{:?}", "sword\"fish");
        let json = serde_json::Value::from("sword\"fish").to_string();
        let both = serde_json::Value::from(debug.as_str()).to_string();
        let shown = cleaner.clean(&format!("{debug} {json} {both}\n"));
        assert_eq!(shown, "\"[secret]\" \"[secret]\" \"\\\"[secret]\\\"\"\n");
        let long = cleaner.clean(&("x".repeat(MOST_CHARS - 6) + "open sesame"));
        assert!(long.ends_with("x[secre\n"), "no line is cut amid a secret: {long}");
    }

    #[test]
    fn secrets_in_addresses_and_forms_are_left_out() {
        let secrets = ["p\u{e4}ss w\"rd/%7+", "rd/", "lip_abc123"].map(SecretString::from);
        let cleaner = Cleaner::new(&secrets);
        for (line, expected) in [
            ("?password=p%C3%A4ss%20w%22rd%2F%257%2B&a=b", "?password=[secret]&a=b"),
            ("?password=p%c3%a4ss+w%22rd%2f%257%2b", "?password=[secret]"),
            ("p\u{e4}ss%20w\"rd/%257+ 100% x", "[secret] 100% x"),
            ("%70%C3%A4%73%73%20%77%22%72%64%2F%25%37%2B", "[secret]"),
            ("/%6cip_abc123", "/[secret]"),
            ("%lip%5Fabc123%4", "%[secret]%4"),
            ("1+1 50%25 %C3%A4 %+5 %\u{e4}", "1+1 50%25 %C3%A4 %+5 %\u{e4}"),
        ] {
            assert_eq!(cleaner.clean(line), format!("{expected}\n"));
        }
    }

    #[test]
    fn games_that_went_wrong_are_told_move_by_move() {
        let mut history = History::default();
        let mv = history.play_uci("g1f3").unwrap();
        let record = |end: Option<(GameResult, EndReason)>| GameRecord {
            key: GameKey {
                account: AccountKey {
                    platform: Platform::Lichess,
                    account: "emberfork".to_owned(),
                },
                id: "abcd1234".parse().unwrap(),
            },
            our_color: Color::White,
            players: Default::default(),
            rated: true,
            time_control: TimeControl::Correspondence { days: 3 },
            speed: None,
            start_fen: None,
            tournament: None,
            started_at: Epoch::from_secs(1_800_000_000),
            end: end.map(|(result, reason)| GameEnd {
                at: Epoch::from_secs(1_800_000_100),
                result,
                winner: None,
                reason: reason.to_string(),
            }),
            rating_diff: None,
            moves: vec![Entry { depth: Some(9), ..Entry::new(mv) }],
        };
        for (end, expected) in [
            (None, true),
            (Some((GameResult::Lost, EndReason::OutOfTime)), true),
            (Some((GameResult::Unknown, EndReason::Lost(LostReason::NotFound))), true),
            (Some((GameResult::Lost, EndReason::VariantEnd)), false),
            (Some((GameResult::Won, EndReason::OutOfTime)), false),
        ] {
            assert_eq!(has_failed(&record(end.clone())), expected, "{end:?}");
        }
        let text = noted(&record(Some((GameResult::Lost, EndReason::OutOfTime))));
        assert!(text.starts_with("== game abcd1234 on lichess, 1800000000 s"), "{text}");
        assert!(text.contains("out of time\n  1 g1f3 clock None lag None depth Some(9)"), "{text}");
    }

    #[test]
    fn lines_of_games_in_which_something_was_amiss_are_put_together() {
        let log = "INFO game{game_id=abcd1234}: begins\nINFO game{game_id=wxyz1234}: begins\n\
                   {\"level\":\"WARN\",\"span\":{\"game_id\":\"abcd1234\"}}\nWARN elsewhere\n";
        let text = games(log);
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(text.starts_with("== game abcd1234\nINFO game{game_id=abcd1234}: begins\n"));
        assert!(games("INFO all is well").starts_with("in no game"));
    }

    #[test]
    fn of_a_long_log_the_end_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("meitner.daily.2026-01-02.log");
        let most = usize::try_from(LOG_BYTES).unwrap();
        fs::write(&path, "x".repeat(most) + "\nx\nend").unwrap();
        for bytes in [
            last_of_file(&path).unwrap(),
            last_of_stream(File::open(&path).unwrap()).unwrap(),
            last_of_folder(Some(folder.path())).unwrap(),
        ] {
            assert_eq!(
                String::from_utf8(bytes).unwrap(),
                "x\nend",
                "a line that is cut is left out"
            );
        }
        assert!(last_of_folder(None).unwrap_err().to_string().contains("--log"));
    }
}
