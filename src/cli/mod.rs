//! The commands: what `meitner` can be asked for, and what it answers to the shell.
//!
//! Each command has its own file, wires parts of the library and writes to standard output; nothing
//! else in the library prints. Errors go to standard error in one line, logs as well.

mod engine;

use std::{io, process::ExitCode};

use clap::{Parser, Subcommand};

/// An atomic chess bot: plays on lichess, in a local arena, and in any UCI program.
#[derive(Debug, Parser)]
#[command(version, about, arg_required_else_help = true, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Speak UCI over standard input and output
    Uci,
    /// Count the legal move sequences of a length, for each first move and in all
    Perft(engine::PerftArgs),
    /// Search a fixed set of positions; the number of nodes is the signature of the searcher
    Bench(engine::BenchArgs),
}

/// Carries out a command. Its errors are told to standard error here.
pub fn run(cli: &Cli) -> ExitCode {
    let result = match &cli.command {
        Command::Uci => engine::uci(),
        Command::Perft(args) => engine::perft(args),
        Command::Bench(args) => engine::bench(args),
    };
    match result {
        Ok(code) => code,
        Err(error) => fail(&error),
    }
}

/// Tells an error and finds the exit code for it.
fn fail(error: &anyhow::Error) -> ExitCode {
    if is_broken_pipe(error) {
        // The reader has seen enough, as in `meitner perft 5 | head`.
        return ExitCode::SUCCESS;
    }
    tell(&format!("{error:#}"));
    ExitCode::FAILURE
}

/// One line on standard error.
fn tell(line: &str) {
    use io::Write as _;
    // Without standard error nobody can be told.
    let _ = writeln!(io::stderr(), "meitner: {line}");
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}
