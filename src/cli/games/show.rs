//! One game: who, when and how, then its moves with clocks and what the bot thought.

use std::{
    io::{self, Write},
    process::ExitCode,
    time::Duration,
};

use clap::Args;
use serde_json::json;

use crate::{
    cli::{
        exit, games, moment,
        options::SettingsArgs,
        table::{Align, Table},
    },
    game::Entry,
    rules::{Color, History, Position},
    store::{Archive, GameKey, GameRecord, Listed},
};

/// Arguments of `games show`.
#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// The game's id, or its beginning
    #[arg(value_name = "ID")]
    id: String,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Prints a game.
pub(super) fn show(args: &ShowArgs) -> anyhow::Result<ExitCode> {
    let Some(archive) = games::open(&args.settings)? else { return Ok(exit::FAILURE.into()) };
    let record = archive.with_moves(find(&archive, &args.id)?)?;
    let mut out = io::stdout().lock();
    if args.json {
        let plies = u32::try_from(record.moves.len()).unwrap_or(u32::MAX);
        let mut value = games::facts(&record, plies, record.opening().as_deref());
        value["moves"] = record.moves.iter().map(move_json).collect();
        writeln!(out, "{value}")?;
    } else {
        write_head(&record, &mut out)?;
        write!(out, "{}", moves(&record)?)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn find(archive: &Archive, id: &str) -> anyhow::Result<Listed> {
    let mut found = archive.find(id)?;
    match found.len() {
        0 => anyhow::bail!("there is no game {id:?}; `meitner games` lists them"),
        1 => Ok(found.remove(0)),
        _ => {
            let name = |game: &Listed| {
                let key = &game.record.key;
                format!("{} ({} on {})", key.id, key.account.account, key.account.platform)
            };
            let names: Vec<_> = found.iter().map(name).collect();
            anyhow::bail!("{id:?} can be any of these games: {}", names.join(", "))
        }
    }
}

fn write_head(record: &GameRecord, out: &mut impl Write) -> io::Result<()> {
    let GameKey { account, id } = &record.key;
    let began = moment::minute(record.started_at);
    match &record.end {
        Some(end) => {
            let day = format!("{} ", moment::date(record.started_at));
            let ended = moment::minute(end.at);
            // The day once, as a rule.
            let ended = ended.strip_prefix(&day).unwrap_or(&ended);
            writeln!(out, "{id} on {}, {began} to {ended} (UTC)", account.platform)?;
        }
        None => writeln!(
            out,
            "{id} on {}, {began} (UTC), not finished as far as we know",
            account.platform
        )?,
    }
    for color in Color::ALL {
        let player = games::player(&record.players[color.index()]);
        // Padded as a whole word.
        let color_name = color.to_string();
        write!(out, "{color_name:<6} {player}")?;
        if color == record.our_color {
            write!(out, ", which is us")?;
            if let Some(after) = record.rating_after() {
                write!(out, ", {after} after the game")?;
            }
        }
        writeln!(out)?;
    }
    write!(out, "{}", games::clock(record.time_control))?;
    if let Some(speed) = &record.speed {
        write!(out, ", {speed}")?;
    }
    write!(out, ", {}", games::mode(record))?;
    if let Some(tournament) = &record.tournament {
        write!(out, ", in the tournament {tournament}")?;
    }
    writeln!(out)?;
    if let Some(fen) = &record.start_fen {
        writeln!(out, "from {fen}")?;
    }
    if let Some(end) = &record.end {
        writeln!(out, "{}: {}", end.result, end.reason)?;
    }
    writeln!(out)
}

/// A row for each move of White and Black, with what we thought of ours.
fn moves(record: &GameRecord) -> anyhow::Result<String> {
    let start = match &record.start_fen {
        None => Position::initial(),
        Some(fen) => Position::from_fen(fen)?,
    };
    let mut table = Table::new(&[
        ("", Align::Right),
        ("White", Align::Left),
        ("Clock", Align::Right),
        ("Black", Align::Left),
        ("Clock", Align::Right),
        ("Our eval", Align::Right),
        ("Depth", Align::Right),
        ("Lag ms", Align::Right),
    ]);
    let mut history = History::new(start);
    let mut rows: Vec<[String; 8]> = Vec::new();
    for entry in &record.moves {
        let position = history.position();
        let mover = position.turn();
        if mover == Color::White || rows.is_empty() {
            let mut row: [String; 8] = Default::default();
            row[0] = format!("{}.", position.fullmove_number());
            rows.push(row);
        }
        let san = position.san(entry.mv);
        if let Some(row) = rows.last_mut() {
            let column = 1 + 2 * mover.index();
            row[column] = san;
            row[column + 1] = entry.clock.map(time_left).unwrap_or_default();
            if mover == record.our_color {
                row[5] = entry.evaluation.map(|known| known.to_string()).unwrap_or_default();
                row[6] = entry.depth.map(|depth| depth.to_string()).unwrap_or_default();
                row[7] = entry.lag.map(|lag| lag.as_millis().to_string()).unwrap_or_default();
            }
        }
        history.play(entry.mv)?;
    }
    if rows.is_empty() {
        return Ok("no moves\n".to_owned());
    }
    for row in rows {
        table.push(row);
    }
    Ok(table.text())
}

/// `2:59.3`, `1:02:59.3`
fn time_left(left: Duration) -> String {
    let (seconds, tenths) = (left.as_secs(), left.subsec_millis() / 100);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}.{tenths}")
    } else {
        format!("{minutes}:{seconds:02}.{tenths}")
    }
}

fn move_json(entry: &Entry) -> serde_json::Value {
    let mate = entry.evaluation.and_then(|known| known.mate_in);
    let centipawns = entry.evaluation.filter(|known| known.mate_in.is_none());
    let millis =
        |time: Option<Duration>| time.and_then(|time| u64::try_from(time.as_millis()).ok());
    json!({
        "uci": entry.mv.to_string(),
        "clock_ms": millis(entry.clock),
        "centipawns": centipawns.map(|known| known.centipawns),
        "mate_in": mate,
        "depth": entry.depth,
        "lag_ms": millis(entry.lag),
    })
}
