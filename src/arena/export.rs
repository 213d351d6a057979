//! A game as PGN and as the JSON of the export endpoint.

use serde_json::{Value, json};

use crate::{
    arbiter::{Ending, Termination, TimeControl},
    arena::{
        game::{Player, ServerGame},
        time_control::speed,
    },
    rules::{Color, Position},
};

/// The export object.
pub(super) fn json(game: &ServerGame) -> Value {
    let control = game.arbiter.clocks().control();
    let mut value = json!({
        "id": game.id,
        "rated": game.rated,
        "variant": "atomic",
        "speed": speed(control),
        "perf": "atomic",
        "createdAt": game.created_at_ms,
        "lastMoveAt": game.last_move_at_ms,
        "status": game.status().1,
        "source": "friend",
        "players": {
            "white": player_json(game.player(Color::White)),
            "black": player_json(game.player(Color::Black)),
        },
        "moves": san_moves(game).join(" "),
    });
    if let Some(winner) = game.winner() {
        value["winner"] = json!(winner.to_string());
    }
    if let TimeControl::RealTime { limit, increment } = control {
        value["clock"] = json!({
            "initial": limit.as_secs(),
            "increment": increment.as_secs(),
            "totalTime": limit.as_secs() + 40 * increment.as_secs(),
        });
        value["clocks"] = json!(game.clock_history_cs);
    }
    value
}

/// The game in PGN.
pub(super) fn pgn(game: &ServerGame) -> String {
    let result = game.arbiter.ending().map_or("*", Ending::score);
    let (white, black) = (game.player(Color::White), game.player(Color::Black));
    let kind = if game.rated { "Rated" } else { "Casual" };
    let date = date(game.created_at_ms);
    let tags = [
        ("Event", format!("{kind} Atomic game")),
        ("Site", format!("https://lichess.org/{}", game.id)),
        ("Date", date.clone()),
        ("White", white.name.clone()),
        ("Black", black.name.clone()),
        ("Result", result.to_owned()),
        ("UTCDate", date),
        ("UTCTime", time(game.created_at_ms)),
        ("WhiteElo", white.rating.to_string()),
        ("BlackElo", black.rating.to_string()),
        ("Variant", "Atomic".to_owned()),
        ("TimeControl", time_control(game.arbiter.clocks().control())),
        ("Termination", termination(game).to_owned()),
    ];
    let tags: Vec<String> =
        tags.iter().map(|(tag, value)| format!("[{tag} \"{value}\"]\n")).collect();
    let movetext: Vec<String> = san_moves(game)
        .iter()
        .enumerate()
        .map(|(ply, san)| match ply % 2 {
            0 => format!("{}. {san} ", ply / 2 + 1),
            _ => format!("{san} "),
        })
        .collect();
    format!("{}\n{}{result}\n\n", tags.concat(), movetext.concat())
}

fn player_json(player: &Player) -> Value {
    let mut user = json!({ "name": player.name, "id": player.user });
    if let Some(title) = &player.title {
        user["title"] = json!(title);
    }
    let mut value = json!({ "user": user, "rating": player.rating });
    if let Some(diff) = player.rating_diff {
        value["ratingDiff"] = json!(diff);
    }
    value
}

fn san_moves(game: &ServerGame) -> Vec<String> {
    let mut position = Position::initial();
    let mut moves = Vec::new();
    for &mv in game.arbiter.history().moves() {
        moves.push(position.san(mv));
        position = position.after(mv);
    }
    moves
}

fn termination(game: &ServerGame) -> &'static str {
    match game.arbiter.ending().map(|ending| ending.by) {
        None => "Unterminated",
        Some(Termination::TimeForfeit) => "Time forfeit",
        Some(Termination::Abandonment | Termination::Aborted) => "Abandoned",
        Some(_) => "Normal",
    }
}

fn time_control(control: TimeControl) -> String {
    match control {
        TimeControl::RealTime { limit, increment } => {
            format!("{}+{}", limit.as_secs(), increment.as_secs())
        }
        TimeControl::Correspondence { per_move } => format!("1/{}", per_move.as_secs()),
        TimeControl::Unlimited => "-".to_owned(),
    }
}

/// The day as `2026.10.30`. Counts years and months off; an arena's games lie near 2026.
pub(super) fn date(epoch_ms: u64) -> String {
    let mut day = epoch_ms / 86_400_000;
    let mut year = 1970;
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    format!("{year}.{month:02}.{:02}", day + 1)
}

/// The time of day as `22:40:00`.
pub(super) fn time(epoch_ms: u64) -> String {
    let seconds = epoch_ms / 1000 % 86_400;
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_counted_off() {
        let expected = [
            (0, "1970.01.01", "00:00:00"),
            (951_782_400_000, "2000.02.29", "00:00:00"),
            (1_793_400_000_000, "2026.10.30", "22:40:00"),
            (1_798_761_599_000, "2026.12.31", "23:59:59"),
        ];
        for (epoch_ms, day, clock) in expected {
            assert_eq!((date(epoch_ms).as_str(), time(epoch_ms).as_str()), (day, clock));
        }
    }
}
