//! What a system likes to have beside a program: a service, completions for shells, and a manual.

use std::{
    io::{self, Write as _},
    path::Path,
    process::ExitCode,
    time::Duration,
};

use anyhow::Context as _;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::cli::{Cli, options::SettingsArgs};

/// The unit that is printed, with the usual place of the program and the default limit.
const UNIT: &str = include_str!("../../deploy/meitner@.service");
/// Where the unit as shipped has the program.
const USUAL_PROGRAM: &str = "/usr/local/bin/meitner";
/// The line that is about the token alone.
const TOKEN_VARIABLE: &str = "MEITNER_LICHESS__TOKEN_FILE=";
/// How the password for FICS reaches the program, as the token does.
const PASSWORD: [&str; 2] = [
    "LoadCredential=fics-password:/etc/meitner/%i.fics-password",
    "Environment=MEITNER_FICS__PASSWORD_FILE=%d/fics-password",
];
/// Folders that the unit hides from the program.
const HIDDEN: [&str; 3] = ["/home", "/root", "/tmp"];
/// systemd waits so much longer than the program needs to end in good order.
const MARGIN: Duration = Duration::from_mins(1);

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell that is to complete
    shell: Shell,
}

/// Which secrets the service gets as credentials: one that is not there would keep it from starting.
#[derive(Clone, Copy)]
struct Secrets {
    token: bool,
    password: bool,
}

/// Prints the unit of systemd for this program and these settings.
pub(super) fn systemd(args: &SettingsArgs) -> anyhow::Result<ExitCode> {
    let settings = args.load()?;
    let finish_limit = settings.daemon.shutdown.finish_limit;
    let program = std::env::current_exe().context("the program does not know its place")?;
    let secrets = Secrets {
        token: settings.names_token() || settings.fics_without_password().is_none(),
        password: settings.password_file().is_some(),
    };
    io::stdout().write_all(unit(&program, finish_limit, secrets).as_bytes())?;
    if HIDDEN.iter().any(|folder| program.starts_with(folder)) {
        writeln!(
            io::stderr(),
            "meitner: the service cannot see {}; copy the program to {USUAL_PROGRAM} and call that",
            program.display()
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A word of a command line in a unit.
fn quoted(word: &str) -> String {
    let word = word.replace('%', "%%").replace('$', "$$");
    if word.contains(|c: char| c.is_whitespace() || "\"'\\".contains(c)) {
        return format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""));
    }
    word
}

/// The unit for a program whose running games get so long to end.
fn unit(program: &Path, finish_limit: Duration, secrets: Secrets) -> String {
    let program = quoted(&program.display().to_string());
    let lines = UNIT.lines().flat_map(|line| match line.split_once('=') {
        Some(("ExecStart", command)) => {
            vec![format!("ExecStart={}", command.replace(USUAL_PROGRAM, &program))]
        }
        Some(("TimeoutStopSec", _)) => {
            vec![format!("TimeoutStopSec={}", (finish_limit + MARGIN).as_secs())]
        }
        Some(("LoadCredential", _)) => {
            let token = secrets.token.then(|| line.to_owned());
            token.into_iter().chain(secrets.password.then(|| PASSWORD[0].to_owned())).collect()
        }
        Some(("Environment", token)) if token.starts_with(TOKEN_VARIABLE) => {
            let token = secrets.token.then(|| line.to_owned());
            token.into_iter().chain(secrets.password.then(|| PASSWORD[1].to_owned())).collect()
        }
        _ => vec![line.to_owned()],
    });
    lines.map(|line| line + "\n").collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::ShutdownOptions;

    #[test]
    fn the_shipped_unit_is_that_of_the_defaults() {
        let finish_limit = ShutdownOptions::default().finish_limit;
        let secrets = Secrets { token: true, password: false };
        assert_eq!(unit(Path::new(USUAL_PROGRAM), finish_limit, secrets), UNIT);
    }

    #[test]
    fn the_unit_has_the_place_of_the_program_and_waits_longer_than_it_needs() {
        let unit = |token, password| {
            let secrets = Secrets { token, password };
            unit(Path::new("/opt/meitner"), Duration::from_secs(100), secrets)
        };
        let both = unit(true, true);
        assert!(both.contains("\nExecStart=/opt/meitner run --config "), "{both}");
        assert!(both.contains("\nTimeoutStopSec=160\n"), "{both}");
        for kept in ["TimeoutAbortSec=10", "LimitCORE=0", "WatchdogSec=60", "RestartSec=5"] {
            assert!(both.lines().any(|line| line == kept), "{kept}: {both}");
        }
        let lines =
            |unit: &str, part: &str| unit.lines().filter(|line| line.contains(part)).count();
        for (unit, tokens, passwords) in [(both, 2, 2), (unit(false, true), 0, 2)] {
            assert_eq!(lines(&unit, "/token") + lines(&unit, "%i.token"), tokens, "{unit}");
            assert_eq!(lines(&unit, "fics-password"), passwords, "{unit}");
        }
        assert_eq!(quoted("/opt/my bots/100%"), "\"/opt/my bots/100%%\"");
    }
}
