//! A game as PGN and as the JSON of the export endpoint.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    arbiter::{Ending, Termination, TimeControl},
    arena::{
        game::{Player, ServerGame},
        time_control::speed,
    },
    pgn::{self, Annotation, TagName, UtcTime},
    rules::Color,
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
        "source": game.source(),
        "players": {
            "white": player_json(game.player(Color::White)),
            "black": player_json(game.player(Color::Black)),
        },
        "moves": san_moves(game).join(" "),
    });
    if let Some(winner) = game.winner() {
        value["winner"] = json!(winner.to_string());
    }
    if let Some(of) = &game.tournament {
        value["tournament"] = json!(of.id);
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

/// The game for PGN, with the clock after each move if there is one.
pub(super) fn record(game: &ServerGame) -> pgn::Game {
    let arbiter = &game.arbiter;
    let control = arbiter.clocks().control();
    let mut record = pgn::Game::new(arbiter.history().start().clone());
    let clocks = game.clock_history_cs.iter().filter(|_| control.is_real_time());
    let mut clocks = clocks.map(|centiseconds| Duration::from_millis(centiseconds * 10));
    for &mv in arbiter.history().moves() {
        let mut annotation = Annotation::default();
        annotation.clock = clocks.next();
        record.play(mv, annotation).expect("the arbiter has let the move pass");
    }
    let score = arbiter.ending().map_or("*", Ending::score);
    record.result = score.parse().unwrap_or_default();
    let (white, black) = (game.player(Color::White), game.player(Color::Black));
    let kind = if game.rated { "Rated" } else { "Casual" };
    let began_at = UtcTime::from_epoch_ms(game.created_at_ms);
    for (name, value) in [
        (TagName::EVENT, format!("{kind} Atomic game")),
        (TagName::SITE, format!("https://lichess.org/{}", game.id)),
        (TagName::DATE, began_at.date()),
        (TagName::WHITE, white.name.clone()),
        (TagName::BLACK, black.name.clone()),
        (TagName::UTC_DATE, began_at.date()),
        (TagName::UTC_TIME, began_at.time()),
        (TagName::WHITE_ELO, white.rating.to_string()),
        (TagName::BLACK_ELO, black.rating.to_string()),
        (TagName::TIME_CONTROL, time_control(control).to_string()),
        (TagName::TERMINATION, termination(game).to_owned()),
    ] {
        record.tags.set(name, value);
    }
    for (name, diff) in [
        (TagName::WHITE_RATING_DIFF, white.rating_diff),
        (TagName::BLACK_RATING_DIFF, black.rating_diff),
    ] {
        if let Some(diff) = diff {
            record.tags.set(name, format!("{diff:+}"));
        }
    }
    for (name, title) in
        [(TagName::WHITE_TITLE, &white.title), (TagName::BLACK_TITLE, &black.title)]
    {
        if let Some(title) = title {
            record.tags.set(name, title);
        }
    }
    record
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
    let mut position = game.arbiter.history().start().clone();
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

fn time_control(control: TimeControl) -> pgn::TimeControl {
    match control {
        TimeControl::RealTime { limit, increment } => {
            pgn::TimeControl::Clock { initial: limit, increment }
        }
        TimeControl::Correspondence { per_move } => pgn::TimeControl::PerMove(per_move),
        TimeControl::Unlimited => pgn::TimeControl::Unlimited,
    }
}
