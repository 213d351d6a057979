//! `games`: what the bot has played, as a list, one by one, and as PGN.

mod export;
mod filter;
mod list;
mod show;

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

pub(super) use filter::FilterArgs;

use crate::{
    cli::{moment, options::SettingsArgs},
    game::{Player, TimeControl},
    platform::ChallengeClock,
    settings::Settings,
    store::{Archive, GameRecord},
};

/// Arguments of `games`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct GamesArgs {
    #[command(subcommand)]
    command: Option<GamesCommand>,
    #[command(flatten)]
    list: list::ListArgs,
}

#[derive(Debug, Subcommand)]
enum GamesCommand {
    /// Print one game: moves, clocks, and what the bot thought
    Show(show::ShowArgs),
    /// Write games as PGN, the oldest first
    Export(export::ExportArgs),
}

/// Lists, prints or exports games.
pub(super) fn games(args: &GamesArgs) -> anyhow::Result<ExitCode> {
    match &args.command {
        None => list::list(&args.list),
        Some(GamesCommand::Show(args)) => show::show(args),
        Some(GamesCommand::Export(args)) => export::export(args),
    }
}

/// Opens the file of games that the settings name; `None`, which has been told, if there is none yet.
pub(super) fn open(settings: &SettingsArgs) -> anyhow::Result<Option<Archive>> {
    let settings: Settings = settings.load()?;
    let folder = settings.daemon.store.folder.as_deref();
    let folder = folder.context(
        "no games are remembered, since `store.folder` is empty or has no usual place here; \
         set it to a folder",
    )?;
    let archive = Archive::open(folder)?;
    if archive.is_none() {
        writeln!(
            io::stderr(),
            "meitner: no games yet in {}; `meitner run` remembers those that it plays",
            folder.display()
        )?;
    }
    Ok(archive)
}

/// `BOT QuietRook7 (1950)`
fn player(player: &Player) -> String {
    let title = player.title.as_ref().map_or(String::new(), |title| format!("{title} "));
    let rating = player.rating.map_or(String::new(), |rating| format!(" ({rating})"));
    format!("{title}{}{rating}", player.name)
}

/// `3+2`, `3 days` or `no limit`
fn clock(control: TimeControl) -> String {
    match control {
        TimeControl::Clock { initial, increment } => {
            let seconds =
                |time: std::time::Duration| u32::try_from(time.as_secs()).unwrap_or(u32::MAX);
            let clock =
                ChallengeClock { initial_s: seconds(initial), increment_s: seconds(increment) };
            clock.to_string()
        }
        TimeControl::Correspondence { days: 1 } => "1 day".to_owned(),
        TimeControl::Correspondence { days } => format!("{days} days"),
        TimeControl::Unlimited => "no limit".to_owned(),
    }
}

/// `rated` or `casual`
fn mode(record: &GameRecord) -> &'static str {
    if record.rated { "rated" } else { "casual" }
}

/// `won`, or that it goes on.
fn result(record: &GameRecord) -> String {
    record.end.as_ref().map_or_else(|| "unfinished".to_owned(), |end| end.result.to_string())
}

/// The facts of a game for programs.
fn facts(record: &GameRecord, plies: u32, opening: Option<&str>) -> Value {
    let person = |player: &Player| {
        json!({
            "name": player.name,
            "title": player.title,
            "rating": player.rating,
            "is_bot": player.is_bot,
        })
    };
    let (clock, days) = match record.time_control {
        TimeControl::Clock { initial, increment } => {
            let clock = json!({
                "initial_s": initial.as_secs_f64(), "increment_s": increment.as_secs_f64(),
            });
            (clock, None)
        }
        TimeControl::Correspondence { days } => (Value::Null, Some(days)),
        TimeControl::Unlimited => (Value::Null, None),
    };
    let end = record.end.as_ref();
    json!({
        "platform": record.key.account.platform.as_str(),
        "account": record.key.account.account,
        "id": record.key.id.as_str(),
        "color": record.our_color.to_string(),
        "us": person(record.us()),
        "rating_after": record.rating_after(),
        "opponent": person(record.opponent()),
        "rated": record.rated,
        "speed": record.speed,
        "clock": clock,
        "days_per_move": days,
        "start_fen": record.start_fen,
        "tournament": record.tournament,
        "started_at": moment::rfc3339(record.started_at),
        "ended_at": end.map(|end| moment::rfc3339(end.at)),
        "result": end.map(|end| end.result.to_string()),
        "winner": end.and_then(|end| end.winner).map(|winner| winner.to_string()),
        "reason": end.map(|end| end.reason.as_str()),
        "opening": opening,
        "plies": plies,
    })
}
