//! The endpoints that tell about other players.

use hyper::{Response, StatusCode};
use serde_json::{Value, json};

use crate::{
    arena::{
        account::Account,
        api::{
            Context, Request,
            reply::{Answer, NDJSON, found},
        },
        server::{Body, full, response},
        state::{Refused, State},
        time_control::control_json,
    },
    rules::Color,
};

/// How many bots are listed unless the query says otherwise, and at most.
const DEFAULT_BOTS: usize = 100;
const MOST_BOTS: usize = 512;

/// How many users the status tells of.
const MOST_USERS: usize = 100;

/// GET `/api/account`.
pub(super) fn own(context: &Context) -> Answer {
    user(context, &context.user)
}

/// GET `/api/user/{username}`.
pub(super) fn user(context: &Context, name: &str) -> Answer {
    let state = context.shared.read();
    let account = state.account(name).map_err(|_| Refused::not_found("Not found"))?;
    Ok(found(&account.extended_json(&playing(&state, &account.id))))
}

/// GET `/api/users/status`.
pub(super) fn status(context: &Context, request: &Request) -> Value {
    let state = context.shared.read();
    let ids = request.query.get("ids").unwrap_or_default().split(',').take(MOST_USERS);
    let accounts = ids.filter_map(|id| state.account(id.trim()).ok());
    accounts.map(|account| status_json(&state, account, request)).collect()
}

fn status_json(state: &State, account: &Account, request: &Request) -> Value {
    let mut status = json!({ "id": account.id, "name": account.name });
    if let Some(title) = &account.title {
        status["title"] = json!(title);
    }
    if account.is_online() {
        status["online"] = json!(true);
        if request.query.is_true("withSignal") {
            status["signal"] = json!(4);
        }
    }
    let playing = playing(state, &account.id);
    if let Some(&id) = playing.first() {
        status["playing"] = json!(true);
        if request.query.is_true("withGameIds") {
            status["playingId"] = json!(id);
        }
        if request.query.is_true("withGameMetas")
            && let Some(game) = state.games.get(id)
        {
            let clock = control_json(game.arbiter.clocks().control());
            status["playing"] = json!({ "id": id, "clock": clock["show"], "variant": "atomic" });
        }
    }
    status
}

/// The ids of a player's running games.
fn playing<'a>(state: &'a State, user: &str) -> Vec<&'a str> {
    let running = state.games.values().filter(|game| game.arbiter.ending().is_none());
    let own = running.filter(|game| Color::ALL.iter().any(|&c| game.player(c).user == user));
    own.map(|game| game.id.as_str()).collect()
}

/// GET `/api/bot/online`.
pub(super) fn online_bots(context: &Context, request: &Request) -> Response<Body> {
    let most = request.query.get("nb").and_then(|nb| nb.parse().ok()).unwrap_or(DEFAULT_BOTS);
    let state = context.shared.read();
    let is_listed = |account: &&Account| {
        account.is_bot() && account.is_online() && !account.disabled && !account.tos_violation
    };
    let bots = state.accounts.values().filter(is_listed).take(most.min(MOST_BOTS));
    let lines: Vec<_> = bots.map(|account| account.user_json().to_string() + "\n").collect();
    response(StatusCode::OK, NDJSON, full(lines.concat()))
}
