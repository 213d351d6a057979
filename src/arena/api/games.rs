//! The endpoints of games: streams, running games, export.

use std::{sync::Arc, time::Instant};

use hyper::StatusCode;
use serde_json::{Value, json};

use crate::arena::{
    api::{
        Context, Request,
        reply::{Answer, NDJSON, found},
    },
    export,
    faults::Endpoint,
    game::playing_json,
    server::{full, response},
    stream::{OnClose, StreamSetup, body},
};

/// How many running games are listed unless the query says otherwise.
const DEFAULT_PLAYING: usize = 9;

/// GET `/api/account/playing`.
pub(super) fn playing(context: &Context, request: &Request) -> Value {
    let limit = request.query.get("nb").and_then(|nb| nb.parse().ok()).unwrap_or(DEFAULT_PLAYING);
    let state = context.shared.read();
    let mut games: Vec<(bool, Value)> = state
        .games
        .values()
        .filter(|game| game.arbiter.ending().is_none())
        .filter_map(|game| {
            let color = game.color_of(&context.user)?;
            let is_our_turn = game.arbiter.turn() == color;
            Some((is_our_turn, playing_json(game, color, context.now)))
        })
        .collect();
    // The most urgent first: those where we are to move.
    games.sort_by_key(|(is_our_turn, _)| !is_our_turn);
    let our_turns = games.iter().filter(|(is_our_turn, _)| *is_our_turn).count();
    let games: Vec<Value> = games.into_iter().map(|(_, game)| game).take(limit.min(50)).collect();
    json!({ "nowPlaying": games, "nbMyTurn": our_turns })
}

/// GET `/api/bot/game/stream/{gameId}`.
pub(super) fn stream(context: &Context, id: &str, user_agent: &str) -> Answer {
    let Context { shared, user, now, .. } = context;
    let queue = shared.change(|state| state.open_game_stream(user, id, user_agent, *now))?;
    let (keep_alive, color, times) = {
        let state = shared.read();
        let (game, color) = state.game_of(user, id)?;
        (state.options.game_keep_alive(), color, game.answer_times.clone())
    };
    let on_close = {
        let (shared, user, id) = (Arc::clone(shared), user.clone(), id.to_owned());
        let queue = Arc::clone(&queue);
        OnClose::new(move || {
            let now = Instant::now();
            shared.change(|state| state.close_game_stream(&user, &id, &queue, now));
        })
    };
    let setup = StreamSetup {
        on_written: Box::new(move |plies, at| times.line_written(color, plies, at)),
        ..context.stream_setup(Endpoint::GameStream, keep_alive, on_close)
    };
    Ok(response(StatusCode::OK, NDJSON, body(queue, setup)))
}

/// GET `/game/export/{gameId}`.
pub(super) fn export(context: &Context, id: &str, request: &Request) -> Answer {
    let state = context.shared.read();
    let game = state.game(id)?;
    if request.accepts_json {
        return Ok(found(&export::json(game)));
    }
    let mut record = export::record(game);
    if request.query.get("clocks").is_some_and(|clocks| clocks == "false") {
        record.remove_clocks();
    }
    Ok(response(StatusCode::OK, "application/x-chess-pgn", full(record.to_string())))
}
