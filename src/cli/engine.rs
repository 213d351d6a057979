//! The commands that need only the engine: `uci`, `perft`, `bench`.
//!
//! None of them reads settings: what they do depends on their arguments alone, so that a count can
//! be compared between two machines.

use std::{
    io::{self, Write},
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use clap::Args;

use crate::{
    cli::progress::Progress,
    rules::{self, CastlingNotation, Position},
    search::{self, bench},
    uci,
};

/// Kept back from the clock for each move under UCI until the program sets `Move Overhead`: the
/// way through two pipes.
const PIPE_OVERHEAD: Duration = Duration::from_millis(10);

/// Arguments of `perft`.
#[derive(Debug, Args)]
pub(super) struct PerftArgs {
    /// Where to begin; the start position if not given
    #[arg(long)]
    fen: Option<String>,
    /// Number of plies
    #[arg(value_parser = clap::value_parser!(u32).range(0..=20))]
    depth: u32,
}

/// Arguments of `bench`.
#[derive(Debug, Args)]
pub(super) struct BenchArgs {
    /// Depth in plies; only the default gives the signature
    #[arg(default_value_t = bench::DEPTH, value_parser = clap::value_parser!(u32).range(1..=100))]
    depth: u32,
}

/// Speaks UCI until `quit`.
pub(super) fn uci() -> anyhow::Result<ExitCode> {
    let options = search::Options::default();
    uci::serve(io::stdin().lock(), io::stdout(), options, PIPE_OVERHEAD)
        .context("the UCI session ended early")?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the count of each first move, then the total.
pub(super) fn perft(args: &PerftArgs) -> anyhow::Result<ExitCode> {
    let position = match &args.fen {
        Some(fen) => Position::from_fen(fen).context("--fen")?,
        None => Position::initial(),
    };
    let mut out = io::stdout().lock();
    let started = Instant::now();
    let moves = position.legal_moves();
    let total_moves = if args.depth == 0 { 0 } else { moves.len() };
    let mut progress = Progress::on_stderr(total_moves as u64, "first moves")?;
    let mut counts = Vec::new();
    for (nth, &mv) in moves.iter().take(total_moves).enumerate() {
        progress.show(nth as u64, mv.uci(CastlingNotation::KingTwoSquares))?;
        counts.push((mv, rules::perft(&position.after(mv), args.depth - 1)));
    }
    progress.finish();
    let elapsed = started.elapsed();
    for (mv, count) in &counts {
        writeln!(out, "{}: {count}", mv.uci(CastlingNotation::KingTwoSquares))?;
    }
    // No move at all has been played at depth 0: one sequence, the empty one.
    let total = if args.depth == 0 { 1 } else { counts.iter().map(|(_, count)| count).sum() };
    writeln!(out)?;
    writeln!(out, "depth      {}", args.depth)?;
    writeln!(out, "total      {total}")?;
    writeln!(out, "time       {} ms", elapsed.as_millis())?;
    writeln!(out, "leaves/s   {}", per_second(total, elapsed))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints a line for each position, then the totals; the last line is `<nodes> nodes <nps> nps`.
pub(super) fn bench(args: &BenchArgs) -> anyhow::Result<ExitCode> {
    let mut out = io::stdout().lock();
    writeln!(out, "depth {}, 1 thread, 16 MiB hash", args.depth)?;
    writeln!(out, "{:>10} {:>8} {:>10}  position", "nodes", "ms", "nps")?;
    let mut written = Ok(());
    let (nodes, elapsed) = bench::run(args.depth, |line| {
        let nps = per_second(line.nodes, line.elapsed);
        let ms = line.elapsed.as_millis();
        let result = writeln!(out, "{:>10} {ms:>8} {nps:>10}  {}", line.nodes, line.fen);
        written = std::mem::replace(&mut written, Ok(())).and(result);
    });
    written?;
    writeln!(out)?;
    writeln!(out, "time       {} ms", elapsed.as_millis())?;
    if args.depth == bench::DEPTH {
        writeln!(out, "signature  {nodes}")?;
    }
    writeln!(out, "{nodes} nodes {} nps", per_second(nodes, elapsed))?;
    Ok(ExitCode::SUCCESS)
}

/// A count for each second.
fn per_second(count: u64, elapsed: Duration) -> u128 {
    u128::from(count) * 1_000_000_000 / elapsed.as_nanos().max(1)
}
