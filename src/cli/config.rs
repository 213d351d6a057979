//! `config`: what the bot would run with and who has set it, and the document of all settings.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    io::{self, Write as _},
    process::ExitCode,
};

use clap::Subcommand;

use crate::{
    cli::options::SettingsArgs,
    daemon::lists,
    settings::{self, Settings, Shown, ShownValue},
};

/// What can be done with the settings.
#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Print every setting with its value and where that comes from; secrets are hidden
    Show(SettingsArgs),
    /// Print the document of all settings, docs/SETTINGS.md
    Docs,
}

/// Prints the document.
pub(super) fn docs() -> anyhow::Result<ExitCode> {
    io::stdout().write_all(settings::reference().as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the merged settings as a file of settings.
pub(super) fn show(args: &SettingsArgs) -> anyhow::Result<ExitCode> {
    io::stdout().write_all(shown(&args.load()?).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// The merged settings as a file of settings, secrets hidden.
pub(super) fn shown(settings: &Settings) -> String {
    let addresses = settings.daemon.policy.lists.addresses();
    let (mut text, mut section) = (String::new(), "");
    // Writing to a String cannot fail.
    for (key, Shown { value, source }) in settings.shown() {
        let (table, name) = key.rsplit_once('.').unwrap_or(("", key));
        if table != section {
            let gap = if section.is_empty() { "" } else { "\n" };
            let _ = writeln!(text, "{gap}[{table}]");
            section = table;
        }
        let place = source.place(key);
        let _ = match value {
            ShownValue::Toml(value) => {
                let value = without_queries(value, &addresses);
                writeln!(text, "{name} = {value}  # {place}")
            }
            ShownValue::Hidden => writeln!(text, "# {name} is set, and hidden  # {place}"),
            ShownValue::Unset => writeln!(text, "# {name} is not set"),
        };
    }
    text
}

/// A value without what may be secret in the addresses of lists.
fn without_queries(value: &str, addresses: &BTreeSet<&str>) -> String {
    // Longer ones first, or else what follows a shorter one would stay.
    addresses.iter().rev().fold(value.to_owned(), |value, &address| match lists::shown(address) {
        whole if whole == address => value,
        cut => value.replace(address, &format!("{cut}?[hidden]")),
    })
}
