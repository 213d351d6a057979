//! The program: reads the arguments, calls the library, turns errors into exit codes.

use std::process::ExitCode;

use clap::Parser as _;
use meitner::cli::{self, Cli};

fn main() -> ExitCode {
    match Cli::try_parse() {
        Ok(cli) => cli::run(&cli),
        Err(error) => {
            // Help and version come this way too. Nobody to read them is no error.
            let _ = error.print();
            error.exit_code().try_into().map_or(ExitCode::FAILURE, |code: u8| code.into())
        }
    }
}
