//! What a system likes to have beside a program: completions for shells, and a manual.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::cli::Cli;

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell that is to complete
    shell: Shell,
}

/// Prints the script for a shell.
pub(super) fn completions(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "meitner", &mut script);
    io::stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the manual: the program, then each command.
pub(super) fn man() -> anyhow::Result<ExitCode> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for command in command.get_subcommands() {
        let man = clap_mangen::Man::new(command.clone());
        writeln!(page, ".SH \"MEITNER {}\"", command.get_name().to_uppercase())?;
        man.render_synopsis_section(&mut page)?;
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
    }
    io::stdout().write_all(&page)?;
    Ok(ExitCode::SUCCESS)
}
