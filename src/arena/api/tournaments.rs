//! The endpoints of arena tournaments.

use std::time::Instant;

use hyper::{Response, StatusCode};
use serde_json::{Value, json};

use crate::{
    arena::{
        account::Account,
        api::{
            Context, Request,
            reply::{Answer, NDJSON, done, found},
        },
        server::{Body, full, response},
        state::{Refused, State},
        tournament::{Tournament, Wish},
    },
    pgn::UtcTime,
};

/// How many tournaments of a team are listed unless the query says otherwise.
const DEFAULT_LIST: usize = 100;

/// GET `/api/tournament/{id}`.
pub(super) fn show(context: &Context, id: &str) -> Answer {
    let state = context.shared.read();
    Ok(found(&full_json(&state, state.tournament(id)?, context.now)))
}

/// GET `/api/team/{teamId}/arena`.
pub(super) fn of_team(context: &Context, team: &str, request: &Request) -> Response<Body> {
    let most = request.query.get("max").and_then(|max| max.parse().ok()).unwrap_or(DEFAULT_LIST);
    let state = context.shared.read();
    let is_listed = |tournament: &&Tournament| {
        let spec = &tournament.spec;
        spec.team.as_deref() == Some(team) || spec.battle.iter().any(|of| of == team)
    };
    let tournaments = state.tournaments.values().filter(is_listed).take(most);
    let lines = tournaments.map(|tournament| {
        let value = listed_json(tournament, context.now);
        value.to_string() + "\n"
    });
    response(StatusCode::OK, NDJSON, full(lines.collect::<String>()))
}

/// POST `/api/tournament/{id}/join`.
pub(super) fn join(context: &Context, id: &str, request: &Request) -> Answer {
    let Context { shared, user, now, .. } = context;
    let password = request.form.get("password");
    let team = request.form.get("team");
    let wish = Wish { password, team, is_ready: request.form.is_true("pairMeAsap") };
    shared.change(|state| {
        state.charge_tournament_join(user, *now)?;
        state.join_tournament(user, id, &wish, *now)
    })?;
    Ok(done())
}

/// POST `/api/tournament/{id}/withdraw`.
pub(super) fn withdraw(context: &Context, id: &str) -> Answer {
    context.shared.change(|state| state.withdraw(&context.user, id, context.now))?;
    Ok(done())
}

/// POST `/api/board/game/{gameId}/berserk`, and the same under `/api/bot`, which no bot may use.
pub(super) fn berserk(context: &Context, id: &str, is_board: bool) -> Answer {
    let Context { shared, user, now, .. } = context;
    shared.change(|state| {
        let is_bot = state.account(user).is_ok_and(Account::is_bot);
        if is_bot && !(is_board && state.options.bots_may_berserk) {
            return Err(Refused::bad_request("Bots cannot berserk"));
        }
        state.berserk(user, id, *now)?;
        Ok(done())
    })
}

/// A tournament as lists have it.
fn listed_json(tournament: &Tournament, now: Instant) -> Value {
    let spec = &tournament.spec;
    let snapshot = tournament.snapshot(now);
    let status = match snapshot.status {
        "created" => 10,
        "started" => 20,
        _ => 30,
    };
    let mut value = json!({
        "id": tournament.id,
        "createdBy": "lichess",
        "system": "arena",
        "minutes": spec.lasts_ms / 60_000,
        "clock": { "limit": spec.limit_s, "increment": spec.increment_s },
        "rated": spec.rated,
        "fullName": spec.name,
        "nbPlayers": snapshot.players.len(),
        "variant": { "key": spec.variant, "short": spec.variant, "name": spec.variant },
        "startsAt": tournament.starts_at_ms,
        "finishesAt": tournament.starts_at_ms + spec.lasts_ms,
        "status": status,
        "perf": { "key": "atomic", "name": "Atomic", "position": 1, "icon": "" },
    });
    if let Some(team) = &spec.team {
        value["teamMember"] = json!(team);
    }
    if spec.bots {
        value["botsAllowed"] = json!(true);
    }
    if !spec.battle.is_empty() {
        value["teamBattle"] = json!({ "teams": spec.battle, "nbLeaders": 5 });
    }
    value
}

fn full_json(state: &State, tournament: &Tournament, now: Instant) -> Value {
    let spec = &tournament.spec;
    let snapshot = tournament.snapshot(now);
    let players = snapshot.players.iter().zip(1..);
    let players: Vec<Value> = players
        .map(|(player, rank)| {
            let account = state.account(&player.user).ok();
            let mut value = json!({
                "name": account.map_or(&player.user, |account| &account.name),
                "rank": rank,
                "rating": account.map_or(1500, |account| account.rating),
                "score": player.score,
                "sheet": { "scores": "" },
            });
            if let Some(title) = account.and_then(|account| account.title.as_ref()) {
                value["title"] = json!(title);
            }
            if player.withdrawn {
                value["withdraw"] = json!(true);
            }
            value
        })
        .collect();
    let moment = UtcTime::from_epoch_ms(tournament.starts_at_ms);
    let starts_at = format!("{}T{}Z", moment.date().replace('.', "-"), moment.time());
    let mut value = json!({
        "id": tournament.id,
        "fullName": spec.name,
        "createdBy": "lichess",
        "system": "arena",
        "startsAt": starts_at,
        "minutes": spec.lasts_ms / 60_000,
        "rated": spec.rated,
        "berserkable": spec.berserkable,
        "clock": { "limit": spec.limit_s, "increment": spec.increment_s },
        "variant": spec.variant,
        "perf": { "key": "atomic", "name": "Atomic", "icon": "" },
        "nbPlayers": players.len(),
        "duels": [],
        "verdicts": { "list": [], "accepted": true },
        "standing": { "page": 1, "players": players },
    });
    if spec.bots {
        value["botsAllowed"] = json!(true);
    }
    if !spec.battle.is_empty() {
        // Here they are an object, by ids.
        let teams: serde_json::Map<String, Value> =
            spec.battle.iter().map(|team| (team.clone(), json!([team, null]))).collect();
        value["teamBattle"] = json!({ "teams": teams, "nbLeaders": 5 });
    }
    for (name, rating) in [("minRating", spec.min_rating), ("maxRating", spec.max_rating)] {
        if let Some(rating) = rating {
            value[name] = json!({ "rating": rating });
        }
    }
    let until = |at: Instant| at.saturating_duration_since(now).as_secs();
    match snapshot.status {
        "created" => value["secondsToStart"] = json!(until(tournament.starts_at)),
        "started" => value["secondsToFinish"] = json!(until(tournament.ends_at)),
        _ => {
            value["isFinished"] = json!(true);
            value["pairingsClosed"] = json!(true);
        }
    }
    value
}
