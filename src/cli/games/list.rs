//! The list of games: a line for each, the newest first.

use std::{
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
};

use clap::Args;

use crate::{
    cli::{
        exit,
        games::{self, FilterArgs},
        moment,
        options::SettingsArgs,
        table::{Align, Table},
    },
    store::Listed,
};

/// Arguments of the list.
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    #[command(flatten)]
    filter: FilterArgs,
    /// The newest games, so many at most; 0 for all
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u32,
    /// Print a JSON object on a line for each game
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Prints the list.
pub(super) fn list(args: &ListArgs) -> anyhow::Result<ExitCode> {
    let Some(archive) = games::open(&args.settings)? else { return Ok(exit::FAILURE.into()) };
    let filter = args.filter.filter(Some(args.limit).filter(|&limit| limit > 0));
    let found = archive.games(&filter)?;
    let mut out = io::stdout().lock();
    if args.json {
        for Listed { record, plies, opening, .. } in &found {
            writeln!(out, "{}", games::facts(record, *plies, opening.as_deref()))?;
        }
        out.flush()?;
        return Ok(ExitCode::SUCCESS);
    }
    if found.is_empty() {
        writeln!(out, "no such games")?;
        return Ok(ExitCode::SUCCESS);
    }
    write!(out, "{}", table(&found))?;
    let (shown, all) = (found.len(), archive.count(&filter)?);
    if all as usize > shown && io::stdout().is_terminal() {
        writeln!(out, "\nthe newest {shown} of {all} games; --limit 0 shows all")?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn table(games: &[Listed]) -> String {
    let mut table = Table::new(&[
        ("Began (UTC)", Align::Left),
        ("Game", Align::Left),
        ("We", Align::Left),
        ("Opponent", Align::Left),
        ("Clock", Align::Left),
        ("Mode", Align::Left),
        ("Result", Align::Left),
        ("By", Align::Left),
        ("Moves", Align::Right),
        ("Opening", Align::Left),
    ]);
    for Listed { record, plies, opening, .. } in games {
        table.push([
            moment::minute(record.started_at),
            record.key.id.to_string(),
            record.our_color.to_string(),
            games::player(record.opponent()),
            games::clock(record.time_control),
            games::mode(record).to_owned(),
            games::result(record),
            record.end.as_ref().map_or(String::new(), |end| end.reason.clone()),
            plies.div_ceil(2).to_string(),
            opening.clone().unwrap_or_default(),
        ]);
    }
    table.text()
}
