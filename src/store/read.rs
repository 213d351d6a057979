//! Tables into values.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, OptionalExtension as _, Row, ToSql, types::Type};

use crate::{
    game::{Entry, Evaluation, GameResult, Player, TimeControl, one_line},
    rules::{Color, History, Move, Position},
    store::{
        AccountKey, Epoch, GameEnd, GameKey, GameRecord, Platform, State, StoreError, schema, write,
    },
};

/// No text of a game is longer, in characters.
const MOST_CHARS: usize = 100;
/// One game, by the index of what makes it unique: it is asked for whenever a game ends.
const BY_KEY: &str = "SELECT * FROM game WHERE platform = ?1 AND account = ?2 AND id = ?3";

/// The states of all accounts. One that cannot be read counts as none.
pub(super) fn states(connection: &Connection) -> rusqlite::Result<BTreeMap<AccountKey, State>> {
    let mut query = connection.prepare("SELECT platform, account, value FROM state")?;
    let mut rows = query.query(())?;
    let mut states = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let key = AccountKey { platform: parsed(row, "platform")?, account: row.get("account")? };
        match State::parse(&row.get::<_, String>("value")?) {
            Ok(state) => {
                states.insert(key, state);
            }
            Err(error) => tracing::warn!(
                account = key.account,
                error,
                "what was remembered of this account cannot be read, and begins anew"
            ),
        }
    }
    Ok(states)
}

/// Which games.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Those on this platform.
    pub platform: Option<Platform>,
    /// Those against this opponent, by id or name in any case.
    pub opponent: Option<String>,
    /// Those that ended so.
    pub result: Option<GameResult>,
    /// Those in which we played this color.
    pub color: Option<Color>,
    /// Those of this speed class.
    pub speed: Option<String>,
    /// Those that began at this moment or later.
    pub since: Option<Epoch>,
    /// Those that began before this moment.
    pub until: Option<Epoch>,
    /// The newest, so many at most.
    pub limit: Option<u32>,
}

/// A game in a list: its record without moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// The game.
    pub record: GameRecord,
    /// How many moves it has.
    pub plies: u32,
    /// Its first moves.
    pub opening: Option<String>,
    key: i64,
}

/// The file, open for reading, beside a bot that writes it as well.
#[derive(Debug)]
pub struct Archive {
    pub(super) connection: Connection,
    path: PathBuf,
}

impl Archive {
    /// Opens the file of this folder; `None` if there is none.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if it cannot be read.
    pub fn open(folder: &Path) -> Result<Option<Self>, StoreError> {
        let path = schema::file(folder);
        if !path.exists() {
            return Ok(None);
        }
        Ok(Some(Self { connection: schema::open_to_read(&path)?, path }))
    }

    /// The games, the newest first.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if they cannot be read.
    pub fn games(&self, filter: &Filter) -> Result<Vec<Listed>, StoreError> {
        let sql = concat!(
            "SELECT * FROM game WHERE ",
            include_str!("sql/filter.sql"),
            " ORDER BY started_at DESC, key DESC LIMIT coalesce(:limit, -1)"
        );
        self.query(sql, filter, listed)
    }

    /// How many games there are, whatever the limit of the filter.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if they cannot be read.
    pub fn count(&self, filter: &Filter) -> Result<u32, StoreError> {
        let sql = concat!("SELECT count(*) FROM game WHERE ", include_str!("sql/filter.sql"),);
        Ok(self.query(sql, filter, |row| row.get(0))?.pop().unwrap_or_default())
    }

    /// What a query finds that begins with the filter.
    pub(super) fn query<T>(
        &self,
        sql: &str,
        filter: &Filter,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let find = || {
            let mut query = self.connection.prepare(sql)?;
            let values: [(&str, &dyn ToSql); 8] = [
                (":platform", &filter.platform.map(Platform::as_str)),
                (":opponent", &filter.opponent),
                (":result", &filter.result.map(write::result)),
                (":color", &filter.color.map(write::color)),
                (":speed", &filter.speed),
                (":since", &filter.since.map(Epoch::secs)),
                (":until", &filter.until.map(Epoch::secs)),
                (":limit", &filter.limit),
            ];
            // Not every query asks for everything.
            for (name, value) in values {
                if let Some(index) = query.parameter_index(name)? {
                    query.raw_bind_parameter(index, value)?;
                }
            }
            query.raw_query().mapped(read).collect::<rusqlite::Result<Vec<T>>>()
        };
        find().map_err(|cause| self.wrong(cause))
    }

    /// The game of this key, without moves; `None` if it is not known.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if it cannot be read.
    pub(super) fn game(&self, key: &GameKey) -> Result<Option<Listed>, StoreError> {
        let GameKey { account: AccountKey { platform, account }, id } = key;
        let mut query = self.connection.prepare(BY_KEY).map_err(|cause| self.wrong(cause))?;
        query
            .query_row((platform.as_str(), account, id.as_str()), listed)
            .optional()
            .map_err(|cause| self.wrong(cause))
    }

    /// The games whose id is or begins with this, without moves; several platforms and accounts may
    /// have one.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if they cannot be read.
    pub fn find(&self, id: &str) -> Result<Vec<Listed>, StoreError> {
        let find = || {
            let mut query = self.connection.prepare(
                "SELECT * FROM game WHERE substr(id, 1, length(?1)) = ?1
                 ORDER BY id <> ?1, started_at DESC, key DESC LIMIT 10",
            )?;
            let found: Vec<Listed> = query.query_map([id], listed)?.collect::<Result<_, _>>()?;
            let exact: Vec<Listed> =
                found.iter().filter(|game| game.record.key.id.as_str() == id).cloned().collect();
            Ok(if exact.is_empty() { found } else { exact })
        };
        find().map_err(|cause| self.wrong(cause))
    }

    /// The game with its moves.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if it cannot be read, or its moves are not legal.
    pub fn with_moves(&self, listed: Listed) -> Result<GameRecord, StoreError> {
        let Listed { mut record, key, .. } = listed;
        let broken = |cause: String| StoreError::Game {
            path: self.path.clone(),
            game: record.key.id.to_string(),
            cause,
        };
        let moves = moves(&self.connection, key).map_err(|cause| self.wrong(cause))?;
        record.moves = replay(record.start_fen.as_deref(), moves).map_err(broken)?;
        Ok(record)
    }

    pub(super) fn wrong(&self, cause: rusqlite::Error) -> StoreError {
        StoreError::File { path: self.path.clone(), cause }
    }
}

/// The moves of a game, still as text.
pub(super) fn moves(connection: &Connection, key: i64) -> rusqlite::Result<Vec<(String, Entry)>> {
    let mut query = connection.prepare("SELECT * FROM move WHERE game = ?1 ORDER BY ply")?;
    let rows = query.query_map([key], |row| {
        let mate_in: Option<i32> = row.get("eval_mate")?;
        let centipawns: Option<i32> = row.get("eval_cp")?;
        let is_evaluated = mate_in.is_some() || centipawns.is_some();
        let evaluation = Evaluation { centipawns: centipawns.unwrap_or_default(), mate_in };
        let entry = Entry {
            clock: millis(row, "clock_ms")?,
            evaluation: is_evaluated.then_some(evaluation),
            depth: row.get("depth")?,
            lag: millis(row, "lag_ms")?,
            ..Entry::new(Move::default())
        };
        Ok((row.get("uci")?, entry))
    })?;
    rows.collect()
}

/// Moves that were text.
///
/// # Errors
///
/// What is wrong with the start position or with a move.
pub(super) fn replay(
    start_fen: Option<&str>,
    moves: Vec<(String, Entry)>,
) -> Result<Vec<Entry>, String> {
    let start = match start_fen {
        None => Position::initial(),
        Some(fen) => Position::from_fen(fen).map_err(|error| error.to_string())?,
    };
    let mut history = History::new(start);
    let entry = |(uci, entry): (String, Entry)| {
        let mv = history.play_uci(&uci).map_err(|error| error.to_string())?;
        Ok(Entry { mv, ..entry })
    };
    moves.into_iter().map(entry).collect()
}

fn listed(row: &Row<'_>) -> rusqlite::Result<Listed> {
    let account = AccountKey { platform: parsed(row, "platform")?, account: text(row, "account")? };
    let us = Player {
        id: Some(account.account.clone()),
        name: text(row, "our_name")?,
        title: optional_text(row, "our_title")?,
        rating: row.get("our_rating")?,
        is_bot: true,
    };
    let opponent = Player {
        id: optional_text(row, "opponent_id")?,
        name: text(row, "opponent_name")?,
        title: optional_text(row, "opponent_title")?,
        rating: row.get("opponent_rating")?,
        is_bot: row.get("opponent_is_bot")?,
    };
    let our_color = color(row, "our_color")?;
    let players = match our_color {
        Color::White => [us, opponent],
        Color::Black => [opponent, us],
    };
    let clock = millis(row, "initial_ms")?.zip(millis(row, "increment_ms")?);
    let time_control = match (clock, row.get("days_per_move")?) {
        (Some((initial, increment)), _) => TimeControl::Clock { initial, increment },
        (None, Some(days)) => TimeControl::Correspondence { days },
        (None, None) => TimeControl::Unlimited,
    };
    let ended_at: Option<u64> = row.get("ended_at")?;
    let end = match ended_at {
        None => None,
        Some(at) => Some(GameEnd {
            at: Epoch::from_secs(at),
            result: result(row)?,
            winner: row
                .get::<_, Option<String>>("winner")?
                .map(|_| color(row, "winner"))
                .transpose()?,
            reason: text(row, "reason")?,
        }),
    };
    Ok(Listed {
        record: GameRecord {
            key: GameKey { account, id: parsed(row, "id")? },
            our_color,
            players,
            rated: row.get("rated")?,
            time_control,
            speed: optional_text(row, "speed")?,
            start_fen: row.get("start_fen")?,
            tournament: optional_text(row, "tournament")?,
            started_at: Epoch::from_secs(row.get("started_at")?),
            end,
            rating_diff: row.get("our_rating_diff")?,
            moves: Vec::new(),
        },
        plies: row.get("plies")?,
        opening: optional_text(row, "opening")?,
        key: row.get("key")?,
    })
}

/// Text that others may have written, fit for a terminal.
pub(super) fn text(row: &Row<'_>, column: &str) -> rusqlite::Result<String> {
    Ok(one_line(&row.get::<_, String>(column)?, MOST_CHARS))
}

pub(super) fn optional_text(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<String>> {
    Ok(row.get::<_, Option<String>>(column)?.map(|text| one_line(&text, MOST_CHARS)))
}

fn millis(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<Duration>> {
    Ok(row.get::<_, Option<u64>>(column)?.map(Duration::from_millis))
}

fn result(row: &Row<'_>) -> rusqlite::Result<GameResult> {
    let word: String = row.get("result")?;
    let all = [
        GameResult::Won,
        GameResult::Lost,
        GameResult::Drawn,
        GameResult::Aborted,
        GameResult::Unknown,
    ];
    let known = all.into_iter().find(|&result| write::result(result) == word);
    known.ok_or_else(|| strange(row, "result", "is no result".to_owned()))
}

fn color(row: &Row<'_>, column: &str) -> rusqlite::Result<Color> {
    let word: String = row.get(column)?;
    let known = Color::ALL.into_iter().find(|&color| write::color(color) == word);
    known.ok_or_else(|| strange(row, column, "is no color".to_owned()))
}

pub(super) fn parsed<T>(row: &Row<'_>, column: &str) -> rusqlite::Result<T>
where
    T: std::str::FromStr,
    T::Err: std::fmt::Display,
{
    let text: String = row.get(column)?;
    text.parse().map_err(|error: T::Err| strange(row, column, error.to_string()))
}

/// A value that this program does not write.
fn strange(row: &Row<'_>, column: &str, why: String) -> rusqlite::Error {
    let index = row.as_ref().column_index(column).unwrap_or_default();
    rusqlite::Error::FromSqlConversionFailure(index, Type::Text, why.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_is_looked_up_without_a_look_at_all_others() {
        let folder = tempfile::tempdir().unwrap();
        let connection = schema::open(folder.path(), None).unwrap();
        let mut query = connection.prepare(&format!("EXPLAIN QUERY PLAN {BY_KEY}")).unwrap();
        let plan = query.query_map(["lichess", "emberfork", "Bb2"], |row| row.get("detail"));
        let plan: Vec<String> = plan.unwrap().map(Result::unwrap).collect();
        assert!(plan.len() == 1 && plan[0].starts_with("SEARCH game USING INDEX"), "{plan:?}");
    }
}
