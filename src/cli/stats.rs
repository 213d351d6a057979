//! `stats`: how the bot did, by opponent, speed, color and opening, and its rating over time.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    io::{self, Write as _},
    process::ExitCode,
};

use clap::Args;
use serde_json::{Value, json};

use crate::{
    cli::{
        exit,
        games::{self, FilterArgs},
        moment,
        options::SettingsArgs,
        table::{Align, Table},
    },
    store::{AccountKey, ChallengeCount, Epoch, GroupBy, RatingPoint, Score},
};

/// With more days than this, a month is a row.
const MOST_DAYS: usize = 31;

/// Arguments of `stats`.
#[derive(Debug, Args)]
pub(super) struct StatsArgs {
    #[command(flatten)]
    filter: FilterArgs,
    /// Rows of each table at most; 0 for all
    #[arg(long, value_name = "N", default_value_t = 10)]
    rows: usize,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Everything that is told.
struct Stats {
    all: Vec<Score>,
    by: Vec<(&'static str, Vec<Score>)>,
    ratings: Vec<RatingPoint>,
    challenges: Vec<ChallengeCount>,
}

/// Prints it.
pub(super) fn stats(args: &StatsArgs) -> anyhow::Result<ExitCode> {
    let Some(archive) = games::open(&args.settings)? else { return Ok(exit::FAILURE.into()) };
    let filter = args.filter.filter(None);
    let by = [
        ("Opponent", GroupBy::Opponent),
        ("Speed", GroupBy::Speed),
        ("Color", GroupBy::Color),
        ("Opening", GroupBy::Opening),
    ];
    let mut stats = Stats {
        all: archive.scores(&filter, GroupBy::Nothing)?,
        by: Vec::new(),
        ratings: archive.ratings(&filter)?,
        challenges: archive.challenges(&filter)?,
    };
    for (name, by) in by {
        stats.by.push((name, archive.scores(&filter, by)?));
    }
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{}", stats.json())?;
    } else {
        write!(out, "{}", stats.text(args.rows))?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

impl Stats {
    fn text(&self, most_rows: usize) -> String {
        let most_rows = if most_rows == 0 { usize::MAX } else { most_rows };
        let Some(all) = self.all.first() else {
            return "no such games with a result\n".to_owned() + &self.challenges_text();
        };
        let mut text = format!(
            "{} games: {} won, {} drawn, {} lost, {} of the points\n",
            all.games(),
            all.won,
            all.drawn,
            all.lost,
            percent(all),
        );
        text += &self.challenges_text();
        for (name, scores) in &self.by {
            text += &scores_text(name, scores, most_rows);
        }
        text += &ratings_text(&self.ratings);
        text
    }

    /// One line for the challenges to us, one for ours.
    fn challenges_text(&self) -> String {
        let mut text = String::new();
        for (is_ours, whose) in [(false, "to us"), (true, "of ours")] {
            let counts = self.challenges.iter().filter(|count| count.is_ours == is_ours);
            let parts: Vec<String> = counts
                .map(|ChallengeCount { answer, reason, count, .. }| {
                    let reason = reason.as_ref().map_or(String::new(), |why| format!(" ({why})"));
                    format!("{count} {}{reason}", answer.as_deref().unwrap_or("open"))
                })
                .collect();
            if !parts.is_empty() {
                let _ = writeln!(text, "challenges {whose}: {}", parts.join(", "));
            }
        }
        text
    }

    fn json(&self) -> Value {
        let scores = |scores: &[Score]| -> Value {
            scores
                .iter()
                .map(|score| {
                    json!({
                        "name": score.name,
                        "games": score.games(),
                        "won": score.won,
                        "drawn": score.drawn,
                        "lost": score.lost,
                        "share": score.share(),
                        "mean_opponent_rating": score.opposition,
                    })
                })
                .collect()
        };
        let mut value = json!({ "all": scores(&self.all).get(0) });
        for (name, by) in &self.by {
            value[format!("by_{}", name.to_lowercase())] = scores(by);
        }
        value["ratings"] = self
            .ratings
            .iter()
            .map(|RatingPoint { account, at, rating }| {
                json!({
                    "platform": account.platform.as_str(),
                    "account": account.account,
                    "at": moment::rfc3339(*at),
                    "rating": rating,
                })
            })
            .collect();
        value["challenges"] = self
            .challenges
            .iter()
            .map(|ChallengeCount { is_ours, answer, reason, count }| {
                json!({ "is_ours": is_ours, "answer": answer, "reason": reason, "count": count })
            })
            .collect();
        value
    }
}

fn scores_text(name: &str, scores: &[Score], most_rows: usize) -> String {
    let mut table = Table::new(&[
        (name, Align::Left),
        ("Games", Align::Right),
        ("Won", Align::Right),
        ("Drawn", Align::Right),
        ("Lost", Align::Right),
        ("Points", Align::Right),
        ("Their rating", Align::Right),
    ]);
    for score in scores.iter().take(most_rows) {
        table.push([
            score.name.clone(),
            score.games().to_string(),
            score.won.to_string(),
            score.drawn.to_string(),
            score.lost.to_string(),
            percent(score),
            score.opposition.map_or(String::new(), |rating| format!("{rating:.0}")),
        ]);
    }
    format!("\n{}{}", table.text(), rest(scores.len(), most_rows))
}

fn rest(rows: usize, most_rows: usize) -> String {
    match rows.saturating_sub(most_rows) {
        0 => String::new(),
        more => format!("and {more} more; --rows 0 shows all\n"),
    }
}

fn percent(score: &Score) -> String {
    format!("{:.0} %", 100.0 * score.share())
}

/// A table for each account, with a row for each day or month.
fn ratings_text(points: &[RatingPoint]) -> String {
    let accounts: BTreeSet<&AccountKey> = points.iter().map(|point| &point.account).collect();
    let mut text = String::new();
    for account in accounts {
        let own: Vec<&RatingPoint> =
            points.iter().filter(|point| point.account == *account).collect();
        let days = periods(&own, moment::date);
        let (name, periods) = if days.len() > MOST_DAYS {
            ("Month", periods(&own, moment::month))
        } else {
            ("Day (UTC)", days)
        };
        let AccountKey { platform, account } = account;
        let _ = write!(text, "\nRating of {account} on {platform}\n{}", table(name, &periods));
    }
    text
}

fn table(name: &str, periods: &[Period]) -> String {
    let mut table = Table::new(&[
        (name, Align::Left),
        ("Games", Align::Right),
        ("Rating", Align::Right),
        ("Change", Align::Right),
        ("Least", Align::Right),
        ("Most", Align::Right),
    ]);
    let mut before = None;
    for period in periods {
        let change = before.map(|before| i64::from(period.last) - i64::from(before));
        table.push([
            period.name.clone(),
            period.games.to_string(),
            period.last.to_string(),
            change.map_or(String::new(), |change| format!("{change:+}")),
            period.least.to_string(),
            period.most.to_string(),
        ]);
        before = Some(period.last);
    }
    table.text()
}

/// A day or a month: how many rated games, and our rating after the last of them, at least and at
/// most.
struct Period {
    name: String,
    games: u32,
    last: u32,
    least: u32,
    most: u32,
}

/// Puts the points of the same period together.
fn periods(points: &[&RatingPoint], name: impl Fn(Epoch) -> String) -> Vec<Period> {
    let mut periods: Vec<Period> = Vec::new();
    for RatingPoint { at, rating, .. } in points {
        let (name, rating) = (name(*at), *rating);
        match periods.last_mut().filter(|period| period.name == name) {
            Some(period) => {
                period.games += 1;
                period.last = rating;
                period.least = period.least.min(rating);
                period.most = period.most.max(rating);
            }
            None => {
                periods.push(Period { name, games: 1, last: rating, least: rating, most: rating });
            }
        }
    }
    periods
}
