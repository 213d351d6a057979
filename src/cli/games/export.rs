//! Games as PGN, into a file or to standard output.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::PathBuf,
    process::ExitCode,
};

use anyhow::Context as _;
use clap::Args;

use crate::{
    cli::{
        exit,
        games::{self, FilterArgs},
        options::SettingsArgs,
        progress::Progress,
    },
    store::{Archive, Listed},
};

/// Arguments of `games export`.
#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    #[command(flatten)]
    filter: FilterArgs,
    /// The newest games, so many at most; 0 for all
    #[arg(long, value_name = "N", default_value_t = 0)]
    limit: u32,
    /// File for the games, which is written anew; without it they go to standard output
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Writes all games that are over and have moves.
pub(super) fn export(args: &ExportArgs) -> anyhow::Result<ExitCode> {
    let Some(archive) = games::open(&args.settings)? else { return Ok(exit::FAILURE.into()) };
    let mut found =
        archive.games(&args.filter.filter(Some(args.limit).filter(|&limit| limit > 0)))?;
    found.retain(|game| game.record.end.is_some() && game.plies > 0);
    found.reverse();
    let (written, failed) = match &args.out {
        None => {
            let mut progress = Progress::beside_stdout(found.len() as u64, "games")?;
            write_all(&archive, found, &mut io::stdout().lock(), &mut progress)?
        }
        Some(path) => {
            let cannot = || format!("cannot write {}", path.display());
            let mut file = BufWriter::new(File::create(path).with_context(cannot)?);
            let mut progress = Progress::on_stderr(found.len() as u64, "games")?;
            let counts =
                write_all(&archive, found, &mut file, &mut progress).with_context(cannot)?;
            file.into_inner().map_err(io::IntoInnerError::into_error).with_context(cannot)?;
            counts
        }
    };
    if let Some(path) = &args.out {
        writeln!(io::stderr(), "{written} games written to {}", path.display())?;
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { exit::FAILURE.into() })
}

/// Writes the games; one that cannot be is told of, and the others are written. Returns how many were
/// written, and how many were not.
fn write_all(
    archive: &Archive,
    games: Vec<Listed>,
    out: &mut impl Write,
    progress: &mut Progress,
) -> anyhow::Result<(u64, u64)> {
    let (mut written, mut failed) = (0, 0);
    for game in games {
        let record = archive.with_moves(game);
        match record.map_err(anyhow::Error::from).and_then(|record| Ok(record.to_pgn()?)) {
            Ok(game) => {
                write!(out, "{game}")?;
                written += 1;
            }
            Err(error) => {
                failed += 1;
                progress.aside(|| writeln!(io::stderr(), "meitner: {error:#}"))?;
            }
        }
        progress.show(written + failed, format_args!("{failed} failed"))?;
    }
    progress.finish();
    out.flush()?;
    Ok((written, failed))
}
