//! The commands: what `meitner` can be asked for, and what it answers to the shell.
//!
//! Each command wires parts of the library and writes to standard output; nothing
//! else in the library prints. Errors go to standard error in one line, logs as well.

mod arena;
mod check;
mod demo;
mod engine;
mod exit;
mod host;
mod log;
mod options;
mod pgn;
mod run;
mod training;

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

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
    /// Play on the server as a bot, until SIGINT or SIGTERM
    Run(options::SettingsArgs),
    /// Watch the bot play in a local arena, without account or network
    Demo(demo::DemoArgs),
    /// Open a local arena for a bot, with players that challenge it
    Arena(arena::ArenaArgs),
    /// Speak UCI over standard input and output
    Uci,
    /// Count the legal move sequences of a length, for each first move and in all
    Perft(engine::PerftArgs),
    /// Search a fixed set of positions; the number of nodes is the signature of the searcher
    Bench(engine::BenchArgs),
    /// Play games of the engine with itself, for `tune`
    Selfplay(training::SelfplayArgs),
    /// Fit the evaluation to games and print its source file
    Tune(training::TuneArgs),
    /// Check games in PGN, and print one line for each
    Pgn(pgn::PgnArgs),
    /// Tell whether settings, token, server, clock and account are fit to run
    Check(options::SettingsArgs),
}

/// Carries out a command. Its errors are told to standard error here.
pub fn run(cli: &Cli) -> ExitCode {
    let result = match &cli.command {
        Command::Run(args) => run::run(args),
        Command::Demo(args) => demo::demo(args),
        Command::Arena(args) => arena::arena(args),
        Command::Uci => engine::uci(),
        Command::Perft(args) => engine::perft(args),
        Command::Bench(args) => engine::bench(args),
        Command::Selfplay(args) => training::selfplay(args),
        Command::Tune(args) => training::tune(args),
        Command::Pgn(args) => pgn::pgn(args),
        Command::Check(args) => check::check(args),
    };
    match result {
        Ok(code) => code,
        // The reader has seen enough, as in `meitner perft 5 | head`.
        Err(error) if exit::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Without standard error nobody can be told.
            let _ = writeln!(io::stderr(), "meitner: {error:#}");
            exit::code(&error).into()
        }
    }
}
