//! Which games: the arguments that `games` and `stats` share.

use clap::{Args, ValueEnum};

use crate::{
    cli::moment::When,
    game::GameResult,
    rules::Color,
    store::{Epoch, Filter, Platform},
};

/// Which games.
#[derive(Debug, Args)]
pub(in crate::cli) struct FilterArgs {
    /// Only games on this platform
    #[arg(long, value_enum, value_name = "WHERE")]
    platform: Option<PlatformChoice>,
    /// Only games against this opponent
    #[arg(long, value_name = "NAME")]
    opponent: Option<String>,
    /// Only games that ended so for us
    #[arg(long, value_enum, value_name = "HOW")]
    result: Option<ResultChoice>,
    /// Only games in which we played this color
    #[arg(long, value_enum, alias = "colour", value_name = "COLOR")]
    color: Option<ColorChoice>,
    /// Only games of this speed class
    #[arg(
        long,
        value_name = "CLASS",
        value_parser = ["bullet", "blitz", "rapid", "classical", "correspondence"]
    )]
    speed: Option<String>,
    /// Only games that began on this day (UTC) or later, as in 2026-11-30; or within so many days or
    /// hours, as in 7d or 12h
    #[arg(long, value_name = "WHEN")]
    since: Option<When>,
    /// Only games that began on this day (UTC) or earlier; or longer ago than so many days or hours
    #[arg(long, value_name = "WHEN")]
    until: Option<When>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum PlatformChoice {
    Lichess,
    Fics,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ResultChoice {
    Won,
    Lost,
    Drawn,
    Aborted,
    Unknown,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ColorChoice {
    White,
    Black,
}

impl FilterArgs {
    /// The filter, for the newest games so many at most.
    pub(in crate::cli) fn filter(&self, limit: Option<u32>) -> Filter {
        let now = Epoch::now();
        Filter {
            platform: self.platform.map(|platform| match platform {
                PlatformChoice::Lichess => Platform::Lichess,
                PlatformChoice::Fics => Platform::Fics,
            }),
            opponent: self.opponent.clone(),
            result: self.result.map(|result| match result {
                ResultChoice::Won => GameResult::Won,
                ResultChoice::Lost => GameResult::Lost,
                ResultChoice::Drawn => GameResult::Drawn,
                ResultChoice::Aborted => GameResult::Aborted,
                ResultChoice::Unknown => GameResult::Unknown,
            }),
            color: self.color.map(|color| match color {
                ColorChoice::White => Color::White,
                ColorChoice::Black => Color::Black,
            }),
            speed: self.speed.clone(),
            since: self.since.map(|when| when.begin(now)),
            until: self.until.map(|when| when.end(now)),
            limit,
        }
    }
}
