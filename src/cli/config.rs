//! `config show`: what the bot would run with, and who has set it.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use clap::Subcommand;

use crate::{
    cli::options::SettingsArgs,
    settings::{Shown, ShownValue},
};

/// What can be done with the settings.
#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Print every setting with its value and where that comes from; secrets are hidden
    Show(SettingsArgs),
}

/// Prints the merged settings as a file of settings.
pub(super) fn show(args: &SettingsArgs) -> anyhow::Result<ExitCode> {
    let settings = args.load()?;
    let mut out = io::stdout().lock();
    let mut section = "";
    for (key, Shown { value, source }) in settings.shown() {
        let (table, name) = key.rsplit_once('.').unwrap_or(("", key));
        if table != section {
            let gap = if section.is_empty() { "" } else { "\n" };
            writeln!(out, "{gap}[{table}]")?;
            section = table;
        }
        let place = source.place(key);
        match value {
            ShownValue::Toml(value) => writeln!(out, "{name} = {value}  # {place}")?,
            ShownValue::Hidden => writeln!(out, "# {name} is set, and hidden  # {place}")?,
            ShownValue::Unset => writeln!(out, "# {name} is not set")?,
        }
    }
    Ok(ExitCode::SUCCESS)
}
