//! The commands: what `meitner` can be asked for, and what it answers to the shell.
//!
//! Each command wires parts of the library and writes to standard output; nothing
//! else in the library prints. Errors go to standard error in one line, logs as well.

mod analyse;
mod arena;
mod check;
mod config;
mod configure;
mod demo;
mod engine;
mod exit;
mod games;
mod health;
mod host;
mod ics;
mod install;
mod log;
mod moment;
mod options;
mod pgn;
mod progress;
mod run;
mod services;
mod soak;
mod stats;
mod support;
mod table;
mod training;

use std::{
    io::{self, BufRead as _, IsTerminal as _, Write as _},
    process::ExitCode,
};

use clap::{CommandFactory as _, Parser, Subcommand};

/// An atomic chess bot: plays on lichess, in a local arena, and in any UCI program.
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 100)]
pub struct Cli {
    /// Without a command, `uci` if something else than a person is at the other end.
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Play on the server as a bot, until SIGINT or SIGTERM
    Run(options::SettingsArgs),
    /// Watch the bot play in a local arena, without account or network
    Demo(demo::DemoArgs),
    /// Play very many games in a local arena where everything goes wrong, and judge the bot
    Soak(soak::SoakArgs),
    /// Open a local arena for a bot, with players that challenge it
    Arena(arena::ArenaArgs),
    /// Speak UCI over standard input and output
    Uci,
    /// Explain a position: board, facts, and the best lines
    Analyse(analyse::AnalyseArgs),
    /// Count the legal move sequences of a length, for each first move and in all
    Perft(engine::PerftArgs),
    /// Search a fixed set of positions; the number of nodes is the signature of the searcher
    Bench(engine::BenchArgs),
    /// Play games of the engine with itself, for `tune` and `train`
    Selfplay(training::SelfplayArgs),
    /// Fit the evaluation to games and print its source file
    Tune(training::TuneArgs),
    /// Train the network of the evaluation on games, and write it to a file
    Train(training::TrainArgs),
    /// Check games in PGN, and print one line for each
    Pgn(pgn::PgnArgs),
    /// List the games that the bot has played, show one, or export them as PGN
    Games(games::GamesArgs),
    /// Tell how the bot did by opponent, speed, color and opening, and its rating over time
    Stats(stats::StatsArgs),
    /// Fit the chances of win, draw and loss to games and print their constant
    Wdl(training::WdlArgs),
    /// Ask for what a bot needs, try it on the server, and write the files for `run`
    Configure(configure::ConfigureArgs),
    /// Tell whether settings, files, token, server, clock and account are fit to run
    Check(options::SettingsArgs),
    /// Ask the bot that runs with these settings how it is
    Health(health::HealthArgs),
    /// Put what helps to find a fault into one file that is safe to post
    Support(support::SupportArgs),
    /// Look at the settings
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Print the service of systemd for this program and these settings
    Systemd(options::SettingsArgs),
    /// Print a script that completes commands and options in a shell
    Completions(install::CompletionsArgs),
    /// Print the manual, for `man -l` or a folder of manuals
    Man,
}

/// Carries out a command. Its errors are told to standard error here.
pub fn run(cli: &Cli) -> ExitCode {
    let Some(command) = &cli.command else { return without_command() };
    finish(match command {
        Command::Run(args) => run::run(args),
        Command::Demo(args) => demo::demo(args),
        Command::Soak(args) => soak::soak(args),
        Command::Arena(args) => arena::arena(args),
        Command::Uci => engine::uci(),
        Command::Analyse(args) => analyse::analyse(args),
        Command::Perft(args) => engine::perft(args),
        Command::Bench(args) => engine::bench(args),
        Command::Selfplay(args) => training::selfplay(args),
        Command::Tune(args) => training::tune(args),
        Command::Train(args) => training::train(args),
        Command::Pgn(args) => pgn::pgn(args),
        Command::Games(args) => games::games(args),
        Command::Stats(args) => stats::stats(args),
        Command::Wdl(args) => training::wdl(args),
        Command::Configure(args) => configure::configure(args),
        Command::Check(args) => check::check(args),
        Command::Health(args) => health::health(args),
        Command::Support(args) => support::support(args),
        Command::Config(config::ConfigCommand::Show(args)) => config::show(args),
        Command::Config(config::ConfigCommand::Docs) => config::docs(),
        Command::Systemd(args) => install::systemd(args),
        Command::Completions(args) => install::completions(args),
        Command::Man => install::man(),
    })
}

/// Interfaces and match programs start an engine by its name alone, and speak first. A person, or
/// an empty input, gets the help.
fn without_command() -> ExitCode {
    let input = io::stdin();
    let is_spoken_to =
        !input.is_terminal() && input.lock().fill_buf().is_ok_and(|begin| !begin.is_empty());
    if is_spoken_to {
        return finish(engine::uci());
    }
    // Nobody to read it is no error.
    let _ = write!(io::stderr(), "{}", Cli::command().render_help());
    exit::SETTINGS.into()
}

fn finish(result: anyhow::Result<ExitCode>) -> ExitCode {
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
