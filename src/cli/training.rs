//! The commands that make the evaluation: `selfplay` writes games, `tune` fits the linear weights to
//! them, `train` the network, `wdl` the chances that go with a score.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, BufWriter, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context as _;
use clap::Args;

use crate::{
    cli::progress::Progress,
    search::wdl::Model,
    selfplay::{self, Plan, Record, Schedule, Training, WdlFit},
};

/// Arguments of `selfplay`.
#[derive(Debug, Args)]
pub(super) struct SelfplayArgs {
    /// Number of games
    #[arg(long, default_value_t = 1000)]
    games: u64,
    /// Seed of the random openings: the same seed gives the same games
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Nodes for each move
    #[arg(long, default_value_t = 1500)]
    nodes: u64,
    /// File for the games, one a line; standard output if not given
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// File for the same games as PGN
    #[arg(long, value_name = "PATH")]
    pgn: Option<PathBuf>,
}

/// Arguments of `tune`.
#[derive(Debug, Args)]
pub(super) struct TuneArgs {
    /// Files of games from `selfplay`
    #[arg(required = true)]
    games: Vec<PathBuf>,
    /// Passes over the positions
    #[arg(long, default_value_t = Schedule::default().epochs)]
    epochs: u32,
    /// Share of the game's result in what is fitted, 0 to 1; the rest is the search's score
    #[arg(long, default_value_t = Schedule::default().result_share)]
    result_share: f32,
}

/// Arguments of `train`.
#[derive(Debug, Args)]
pub(super) struct TrainArgs {
    /// Files of games from `selfplay`
    #[arg(required = true)]
    games: Vec<PathBuf>,
    /// Passes over the positions
    #[arg(long, default_value_t = Training::default().epochs)]
    epochs: u32,
    /// Share of the game's result in what is learned, 0 to 1; the rest is the search's score
    #[arg(long, default_value_t = Training::default().result_share)]
    result_share: f32,
    /// The first step size
    #[arg(long, default_value_t = Training::default().rate)]
    rate: f32,
    /// File for the network
    #[arg(long, value_name = "PATH", default_value = "network.bin")]
    out: PathBuf,
}

/// Arguments of `wdl`.
#[derive(Debug, Args)]
pub(super) struct WdlArgs {
    /// Files of games from `selfplay`
    #[arg(required = true)]
    games: Vec<PathBuf>,
}

/// Plays games of the engine with itself.
pub(super) fn selfplay(args: &SelfplayArgs) -> anyhow::Result<ExitCode> {
    let mut out: Box<dyn Write> = match &args.out {
        Some(path) => Box::new(create(path)?),
        None => Box::new(BufWriter::new(io::stdout().lock())),
    };
    let mut pgn = args.pgn.as_deref().map(create).transpose()?;
    let plan = Plan { games: args.games, seed: args.seed, nodes: args.nodes };
    let mut progress = match &args.out {
        Some(_) => Progress::on_stderr(args.games, "games")?,
        None => Progress::beside_stdout(args.games, "games")?,
    };
    let (mut played, mut plies, mut written) = (0, 0, Ok(()));
    selfplay::play(plan, |record| {
        (played, plies) = (played + 1, plies + record.plies.len());
        written = writeln!(out, "{record}")
            .and_then(|()| match &mut pgn {
                Some(pgn) => write!(pgn, "{}", record.to_pgn()),
                None => Ok(()),
            })
            .and_then(|()| progress.show(played, format_args!("{plies} plies")));
        written.is_ok()
    });
    progress.finish();
    written?;
    out.flush()?;
    pgn.map_or(Ok(()), |mut pgn| pgn.flush())?;
    Ok(ExitCode::SUCCESS)
}

fn create(path: &Path) -> anyhow::Result<BufWriter<File>> {
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(BufWriter::new(file))
}

/// Fits the weights and prints them as the source file that the evaluation is built with.
pub(super) fn tune(args: &TuneArgs) -> anyhow::Result<ExitCode> {
    let records = read(&args.games)?;
    let schedule = Schedule {
        epochs: args.epochs,
        result_share: args.result_share.clamp(0.0, 1.0),
        ..Schedule::default()
    };
    let mut progress = Progress::on_stderr(args.epochs.into(), "epochs")?;
    let mut told = Ok(());
    let fit = selfplay::fit(&records, schedule, |epoch| {
        if told.is_ok() {
            told = progress.show(epoch.into(), format_args!("{} games", records.len()));
        }
    });
    progress.finish();
    told?;
    let origin = format!("{} games, {} positions", records.len(), fit.positions.0);
    writeln!(
        io::stderr(),
        "{origin}; error on {} held out: {:.6} before, {:.6} after",
        fit.positions.1,
        fit.error.0,
        fit.error.1
    )?;
    io::stdout().write_all(selfplay::write_weights(&fit.weights, &origin).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Trains the network and writes the file that the program is built with.
pub(super) fn train(args: &TrainArgs) -> anyhow::Result<ExitCode> {
    let records = read(&args.games)?;
    let training = Training {
        epochs: args.epochs,
        result_share: args.result_share.clamp(0.0, 1.0),
        rate: args.rate,
    };
    let mut progress = Progress::on_stderr(args.epochs.into(), "epochs")?;
    let mut told = Ok(());
    let trained = selfplay::train(&records, training, |epoch, error| {
        let line = match &mut progress {
            // An epoch takes minutes: each is worth its line.
            Progress::Lines { out, .. } => writeln!(out, "epoch {epoch}: error {error:.6}"),
            bar @ Progress::Bar(_) => bar.show(epoch.into(), format_args!("error {error:.6}")),
        };
        if told.is_ok() {
            told = line;
        }
    });
    progress.finish();
    told?;
    writeln!(
        io::stderr(),
        "{} games, {} positions; error on {} held out without the network: {:.6}",
        records.len(),
        trained.positions.0,
        trained.positions.1,
        trained.before
    )?;
    let path = &args.out;
    std::fs::write(path, trained.weights.to_bytes())
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Fits the chances of win, draw and loss to scores, and prints them as the constant of the source.
pub(super) fn wdl(args: &WdlArgs) -> anyhow::Result<ExitCode> {
    let records = read(&args.games)?;
    let WdlFit { model: Model { even, scale }, positions, likelihood } =
        selfplay::fit_wdl(&records);
    let [blind, flat, fitted] = likelihood;
    writeln!(
        io::stderr(),
        "{} games, {positions} positions; log-likelihood {blind:.4} without the score, {flat:.4} \
         without the phase, {fitted:.4} with both",
        records.len()
    )?;
    writeln!(
        io::stdout(),
        "pub const MODEL: Model =\n    Model {{ even: [{:.1}, {:.1}], scale: [{:.1}, {:.1}] }};",
        even[0],
        even[1],
        scale[0],
        scale[1]
    )?;
    Ok(ExitCode::SUCCESS)
}

/// The games of all files, in their order.
fn read(paths: &[PathBuf]) -> anyhow::Result<Vec<Record>> {
    let mut records = Vec::new();
    for path in paths {
        let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
        for (index, line) in BufReader::new(file).lines().enumerate() {
            let place = || format!("{}, line {}", path.display(), index + 1);
            let record: Record = line.with_context(place)?.parse().with_context(place)?;
            records.push(record);
        }
    }
    Ok(records)
}
