//! The list of games: a line for each, the newest first.

use std::{
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
};

use clap::Args;
use console::Term;

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
    let is_drawn = io::stdout().is_terminal();
    let width = Term::stdout().size_checked().filter(|_| is_drawn).map(|(_, width)| width.into());
    write!(out, "{}", fitting_table(&found, width))?;
    let (shown, all) = (found.len(), archive.count(&filter)?);
    if all as usize > shown && is_drawn {
        writeln!(out, "\nthe newest {shown} of {all} games; --limit 0 shows all")?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// The table, without the openings where a terminal is too narrow for them.
fn fitting_table(games: &[Listed], width: Option<usize>) -> String {
    let whole = table(games, &COLUMNS);
    let fits = |width| whole.lines().all(|line| console::measure_text_width(line) <= width);
    if width.is_none_or(fits) { whole } else { table(games, &COLUMNS[..COLUMNS.len() - 1]) }
}

const COLUMNS: [(&str, Align); 10] = [
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
];

fn table(games: &[Listed], columns: &[(&str, Align)]) -> String {
    let mut table = Table::new(columns);
    for Listed { record, plies, opening, .. } in games {
        let cells = [
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
        ];
        table.push(cells.into_iter().take(columns.len()));
    }
    table.text()
}
