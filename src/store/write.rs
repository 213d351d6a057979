//! Values into tables.

use std::borrow::Cow;

use rusqlite::{Connection, OptionalExtension as _, named_params};

use crate::{
    game::{GameResult, TimeControl},
    rules::Color,
    store::{
        AccountKey, AnswerRecord, ChallengeRecord, GameKey, GameRecord, MissedRecord, State, read,
    },
};

/// Writes a game, or brings what is there up to it. What was known of a move stays known: after a
/// restart the same moves come again without what we thought of them. Tells whether the game has ended
/// with this.
pub(super) fn game(connection: &Connection, record: &GameRecord) -> rusqlite::Result<bool> {
    let GameKey { account: AccountKey { platform, account }, id } = &record.key;
    let known = connection
        .query_row(
            "SELECT key, start_fen, ended_at FROM game
             WHERE platform = ?1 AND account = ?2 AND id = ?3",
            (platform.as_str(), account, id.as_str()),
            |row| {
                let ended_at: Option<u64> = row.get("ended_at")?;
                Ok((row.get("key")?, row.get("start_fen")?, ended_at))
            },
        )
        .optional()?;
    let mut had_ended = false;
    let mut record = Cow::Borrowed(record);
    if let Some((key, start_fen, ended_at)) = known {
        had_ended = ended_at.is_some();
        record = joined(connection, key, start_fen, record)?;
    }
    let record = &*record;
    let (us, opponent) = (record.us(), record.opponent());
    let (initial, increment, days) = match record.time_control {
        TimeControl::Clock { initial, increment } => {
            (Some(millis(initial)), Some(millis(increment)), None)
        }
        TimeControl::Correspondence { days } => (None, None, Some(days)),
        TimeControl::Unlimited => (None, None, None),
    };
    let end = record.end.as_ref();
    let key: i64 = connection.query_row(
        include_str!("sql/put_game.sql"),
        named_params! {
            ":platform": platform.as_str(),
            ":account": account,
            ":id": id.as_str(),
            ":our_color": color(record.our_color),
            ":our_name": us.name,
            ":our_title": us.title,
            ":our_rating": us.rating,
            ":our_rating_diff": record.rating_diff,
            ":opponent_id": opponent.id,
            ":opponent_name": opponent.name,
            ":opponent_title": opponent.title,
            ":opponent_rating": opponent.rating,
            ":opponent_is_bot": opponent.is_bot,
            ":rated": record.rated,
            ":speed": record.speed,
            ":initial_ms": initial,
            ":increment_ms": increment,
            ":days_per_move": days,
            ":start_fen": record.start_fen,
            ":tournament": record.tournament,
            ":started_at": record.started_at.secs(),
            ":ended_at": end.map(|end| end.at.secs()),
            ":result": end.map(|end| result(end.result)),
            ":winner": end.and_then(|end| end.winner).map(color),
            ":reason": end.map(|end| &end.reason),
            ":opening": record.opening(),
            ":plies": record.moves.len(),
        },
        |row| row.get(0),
    )?;
    moves(connection, key, record)?;
    Ok(end.is_some() && !had_ended)
}

/// What is to be written of a game whose start and moves are known.
fn joined<'a>(
    connection: &Connection,
    key: i64,
    start_fen: Option<String>,
    record: Cow<'a, GameRecord>,
) -> rusqlite::Result<Cow<'a, GameRecord>> {
    if record.start_fen.is_none() || record.start_fen == start_fen {
        return Ok(record);
    }
    let moves = read::moves(connection, key)?;
    // Moves that are not legal are not worth keeping.
    let Ok(moves) = read::replay(start_fen.as_deref(), moves) else { return Ok(record) };
    let known = GameRecord { start_fen, moves, ..record.clone().into_owned() };
    Ok(Cow::Owned(known.continued_by(record.into_owned())))
}

fn moves(connection: &Connection, key: i64, record: &GameRecord) -> rusqlite::Result<()> {
    let count = record.moves.len();
    connection.execute("DELETE FROM move WHERE game = ?1 AND ply >= ?2", (key, count))?;
    let mut put = connection.prepare(include_str!("sql/put_move.sql"))?;
    for (ply, entry) in record.moves.iter().enumerate() {
        let evaluation = entry.evaluation;
        let mate = evaluation.and_then(|evaluation| evaluation.mate_in);
        let centipawns = evaluation.filter(|_| mate.is_none()).map(|known| known.centipawns);
        put.execute(named_params! {
            ":game": key,
            ":ply": ply,
            ":uci": entry.mv.to_string(),
            ":clock_ms": entry.clock.map(millis),
            ":eval_cp": centipawns,
            ":eval_mate": mate,
            ":depth": entry.depth,
            ":lag_ms": entry.lag.map(millis),
        })?;
    }
    Ok(())
}

/// What a rated game did to our rating.
pub(super) fn rating_diff(
    connection: &Connection,
    key: &GameKey,
    diff: i32,
) -> rusqlite::Result<()> {
    let GameKey { account: AccountKey { platform, account }, id } = key;
    connection.execute(
        "UPDATE game SET our_rating_diff = ?4 WHERE platform = ?1 AND account = ?2 AND id = ?3",
        (platform.as_str(), account, id.as_str(), diff),
    )?;
    Ok(())
}

/// Games that ended while nobody looked.
pub(super) fn missed(connection: &Connection, record: &MissedRecord) -> rusqlite::Result<()> {
    let AccountKey { platform, account } = &record.account;
    let mut end = connection.prepare(
        "UPDATE game SET ended_at = ?4, result = 'unknown', reason = ?5
         WHERE platform = ?1 AND account = ?2 AND id = ?3",
    )?;
    let mut find = connection.prepare(
        "SELECT id FROM game
         WHERE platform = ?1 AND account = ?2 AND ended_at IS NULL AND started_at < ?3",
    )?;
    let found = find.query_map((platform.as_str(), account, record.before.secs()), |row| {
        row.get::<_, String>(0)
    })?;
    for id in found.collect::<rusqlite::Result<Vec<_>>>()? {
        if !record.running.iter().any(|running| running.as_str() == id) {
            let at = record.at.secs();
            end.execute((platform.as_str(), account, id, at, MissedRecord::REASON))?;
        }
    }
    Ok(())
}

/// A challenge, unless it is known and waits for its answer.
pub(super) fn challenge(connection: &Connection, record: &ChallengeRecord) -> rusqlite::Result<()> {
    let GameKey { account: AccountKey { platform, account }, id } = &record.key;
    let (initial, increment) = record.clock_s.unzip();
    connection.execute(
        include_str!("sql/put_challenge.sql"),
        named_params! {
            ":platform": platform.as_str(),
            ":account": account,
            ":id": id.as_str(),
            ":is_ours": record.is_ours,
            ":at": record.at.secs(),
            ":opponent": record.opponent,
            ":rating": record.rating,
            ":is_bot": record.is_bot,
            ":variant": record.variant,
            ":rated": record.rated,
            ":initial_s": initial,
            ":increment_s": increment,
            ":days_per_move": record.days,
        },
    )?;
    Ok(())
}

/// The answer to a challenge that has none.
pub(super) fn answer(connection: &Connection, record: &AnswerRecord) -> rusqlite::Result<()> {
    let GameKey { account: AccountKey { platform, account }, id } = &record.key;
    connection.execute(
        include_str!("sql/put_answer.sql"),
        named_params! {
            ":platform": platform.as_str(),
            ":account": account,
            ":id": id.as_str(),
            ":answer": record.answer.as_str(),
            ":answered_at": record.at.secs(),
            ":reason": record.reason,
            ":detail": record.detail,
        },
    )?;
    Ok(())
}

/// The state of an account, in the place of the one before.
pub(super) fn state(
    connection: &Connection,
    key: &AccountKey,
    state: &State,
) -> rusqlite::Result<()> {
    put_state("INSERT OR REPLACE INTO", connection, key, state)
}

/// The state of an account, unless there is one.
pub(super) fn add_state(
    connection: &Connection,
    key: &AccountKey,
    state: &State,
) -> rusqlite::Result<()> {
    put_state("INSERT OR IGNORE INTO", connection, key, state)
}

fn put_state(
    verb: &str,
    connection: &Connection,
    AccountKey { platform, account }: &AccountKey,
    state: &State,
) -> rusqlite::Result<()> {
    connection.execute(
        &format!("{verb} state (platform, account, value) VALUES (?1, ?2, ?3)"),
        (platform.as_str(), account, state.to_text()),
    )?;
    Ok(())
}

pub(super) const fn color(color: Color) -> &'static str {
    match color {
        Color::White => "white",
        Color::Black => "black",
    }
}

pub(super) const fn result(result: GameResult) -> &'static str {
    match result {
        GameResult::Won => "won",
        GameResult::Lost => "lost",
        GameResult::Drawn => "drawn",
        GameResult::Aborted => "aborted",
        GameResult::Unknown => "unknown",
    }
}

fn millis(duration: std::time::Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
