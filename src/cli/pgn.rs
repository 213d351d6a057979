//! `pgn`: reads games of atomic chess and tells of each what it is, or what is wrong with it.
//!
//! Lines of games go to standard output, errors to standard error, one line each.

use std::{
    fs::File,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;

use crate::{
    cli::exit,
    game::one_line,
    pgn::{Game, GameResult, Reader, TagName},
    rules::Color,
};

/// No player and no end is longer in a line.
const MOST_CHARS: usize = 200;

/// Arguments of `pgn`.
#[derive(Debug, Args)]
pub(super) struct PgnArgs {
    /// Files of games; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print the games anew as PGN, in lichess' form, and not a line for each
    #[arg(long)]
    write: bool,
}

/// Checks all games of all files.
pub(super) fn pgn(args: &PgnArgs) -> anyhow::Result<ExitCode> {
    let mut report =
        Report { out: io::stdout().lock(), is_writing: args.write, games: 0, errors: 0 };
    for path in &args.files {
        if path == Path::new("-") {
            report.check("standard input", io::stdin().lock())?;
            continue;
        }
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => report.check(&name, file)?,
            Err(error) => report.fail(&name, format_args!("cannot be read: {error}"))?,
        }
    }
    report.out.flush()?;
    Ok(if report.errors == 0 { ExitCode::SUCCESS } else { exit::FAILURE.into() })
}

struct Report<W> {
    out: W,
    is_writing: bool,
    games: u64,
    errors: u64,
}

impl<W: Write> Report<W> {
    fn check(&mut self, name: &str, source: impl Read) -> io::Result<()> {
        let (games, errors) = (self.games, self.errors);
        for (index, game) in Reader::new(source).enumerate() {
            let number = index + 1;
            match game {
                Err(error) => self.fail(name, error)?,
                Ok(game) => self.tell(name, number, &game)?,
            }
        }
        if (games, errors) == (self.games, self.errors) {
            self.fail(name, "holds no game")?;
        }
        Ok(())
    }

    fn tell(&mut self, name: &str, number: usize, game: &Game) -> io::Result<()> {
        let result = game.result;
        let forced = game.forced_result().filter(|&forced| forced != result);
        if let (Some(forced), Some(outcome)) = (forced, game.history().outcome()) {
            let wrong = format!(
                "game {number}: its result is {result}, but the moves end with {outcome}, {forced}"
            );
            return self.fail(name, wrong);
        }
        self.games += 1;
        if self.is_writing {
            return write!(self.out, "{game}");
        }
        let [white, black] = Color::ALL.map(|color| player(game, color));
        let plies = game.history().moves().len();
        let end = end(game);
        writeln!(
            self.out,
            "{name}: game {number}: {white} - {black}, {result}, {plies} plies, {end}"
        )
    }

    fn fail(&mut self, name: &str, error: impl std::fmt::Display) -> io::Result<()> {
        self.errors += 1;
        // What was told before stands before, if both go to a terminal.
        self.out.flush()?;
        writeln!(io::stderr(), "meitner: {name}: {error}")
    }
}

/// `BOT Meitner (2143)`
fn player(game: &Game, color: Color) -> String {
    let title = game.title(color).map_or(String::new(), |title| format!("{title} "));
    let name = game.player(color).unwrap_or("?");
    let rating = game.rating(color).map_or(String::new(), |rating| format!(" ({rating})"));
    one_line(&format!("{title}{name}{rating}"), MOST_CHARS)
}

/// How the game ended: by the board, else by what the tags say.
fn end(game: &Game) -> String {
    let termination = game.tags.get(&TagName::TERMINATION);
    match (game.history().outcome(), termination, game.result) {
        (Some(outcome), _, _) => outcome.to_string(),
        (None, None | Some("Normal"), GameResult::WhiteWins | GameResult::BlackWins) => {
            "resignation".to_owned()
        }
        (None, None | Some("Normal"), GameResult::Draw) => "draw agreed".to_owned(),
        (None, None | Some("Normal"), GameResult::Unknown) => "unfinished".to_owned(),
        (None, Some(termination), _) => one_line(&termination.to_lowercase(), MOST_CHARS),
    }
}
