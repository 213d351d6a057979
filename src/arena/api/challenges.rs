//! The endpoints of challenges.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use hyper::StatusCode;
use serde_json::{Value, json};

use crate::{
    arbiter::TimeControl,
    arena::{
        api::{
            Context, Request,
            reply::{Answer, NDJSON, done, found},
        },
        challenge::{ChallengeSpec, ColorChoice},
        faults::Endpoint,
        form::Form,
        server::response,
        state::{Refused, State},
        stream::{OnClose, body},
        time_control::{can_be_rated, speed},
    },
    rules::Position,
};

/// The longest real-time limit and increment, in seconds.
const MAX_LIMIT_S: u64 = 10_800;
const MAX_INCREMENT_S: u64 = 60;

/// POST `/api/challenge/{username}`.
pub(super) fn create(context: &Context, target: &str, request: &Request) -> Answer {
    let Context { shared, user, now, .. } = context;
    let is_kept_alive = request.form.is_true("keepAliveStream");
    let (id, created, queue) = shared.change(|state| {
        state.counters.challenges_sent += 1;
        let target = state.account(target)?.id.clone();
        state.charge_challenge(user, &target, *now)?;
        state.check_bot_quota(user, &target, *now)?;
        let spec = parse(state, user, &target, &request.form)?;
        let id = state.create_challenge(&spec, *now)?;
        let queue = if is_kept_alive { state.keep_alive(&id) } else { None };
        // The answer shows the challenge as created; what a house player says comes as an event.
        let created = challenge_json(state, &id, "out")?;
        state.let_house_answer(&id, *now);
        Ok((id, created, queue))
    })?;
    let Some(queue) = queue else { return Ok(found(&created)) };
    let keep_alive = shared.read().options.event_keep_alive();
    let closing = Arc::clone(shared);
    let on_close = OnClose::new(move || closing.change(|state| state.release(&id, Instant::now())));
    let setup = context.stream_setup(Endpoint::Challenge, keep_alive, on_close);
    Ok(response(StatusCode::OK, NDJSON, body(queue, setup)))
}

/// Reads and checks the form of a challenge.
fn parse(
    state: &State,
    challenger: &str,
    target: &str,
    form: &Form,
) -> Result<ChallengeSpec, Refused> {
    let control = parse_control(form)?;
    let rated = form.is_true("rated");
    if rated && !control.is_real_time() {
        return Err(Refused::form("rated"));
    }
    let variant = form.get("variant").unwrap_or("standard");
    let variant =
        if form.get("fen").is_some() && variant == "standard" { "fromPosition" } else { variant };
    let color = ColorChoice::parse(form.get("color").unwrap_or("random"))
        .ok_or_else(|| Refused::form("color"))?;
    let opponent = state.account(target)?;
    let has_bot = opponent.is_bot() || state.account(challenger)?.is_bot();
    if has_bot && speed(control) == "ultraBullet" {
        let error = "Bots cannot play UltraBullet. Choose a slower time control.";
        return Err(Refused::bad_request(error));
    }
    let rules: Vec<String> = form
        .get("rules")
        .into_iter()
        .flat_map(|rules| rules.split(','))
        .map(str::to_owned)
        .collect();
    if opponent.is_bot() && !rules.is_empty() {
        return Err(Refused::form("rules"));
    }
    Ok(ChallengeSpec {
        challenger: challenger.to_owned(),
        target: target.to_owned(),
        control,
        color,
        rated: rated && can_be_rated(control),
        variant: variant.to_owned(),
        rules,
        rematch_of: None,
        start: Position::initial(),
    })
}

fn parse_control(form: &Form) -> Result<TimeControl, Refused> {
    let number = |field: &str| match form.get(field) {
        None => Ok(None),
        Some(text) => text.parse::<u64>().map(Some).map_err(|_| Refused::form(field)),
    };
    let (limit, increment) = (number("clock.limit")?, number("clock.increment")?);
    if let (None, None) = (limit, increment) {
        return match number("days")? {
            None => Ok(TimeControl::Unlimited),
            Some(days @ (1 | 2 | 3 | 5 | 7 | 10 | 14)) => {
                Ok(TimeControl::Correspondence { per_move: Duration::from_secs(days * 86_400) })
            }
            Some(_) => Err(Refused::form("days")),
        };
    }
    let limit = limit.ok_or_else(|| Refused::form("clock.limit"))?;
    let increment = increment.ok_or_else(|| Refused::form("clock.increment"))?;
    let is_offered = matches!(limit, 0 | 15 | 30 | 45 | 60 | 90)
        || (limit.is_multiple_of(60) && limit <= MAX_LIMIT_S);
    if !is_offered || (limit, increment) == (0, 0) {
        return Err(Refused::form("clock.limit"));
    }
    if increment > MAX_INCREMENT_S {
        return Err(Refused::form("clock.increment"));
    }
    Ok(TimeControl::RealTime {
        limit: Duration::from_secs(limit),
        increment: Duration::from_secs(increment),
    })
}

/// GET `/api/challenge`.
pub(super) fn list(context: &Context) -> Value {
    let user = &context.user;
    context.shared.change(|state| {
        state.expire_challenges(context.now);
        let (mut incoming, mut outgoing) = (Vec::new(), Vec::new());
        for challenge in state.waiting_challenges() {
            let mut value = state.challenge_json(challenge);
            if challenge.target == *user {
                value["direction"] = json!("in");
                incoming.push(value);
            } else if challenge.challenger == *user {
                value["direction"] = json!("out");
                outgoing.push(value);
            }
        }
        json!({ "in": incoming, "out": outgoing })
    })
}

/// GET `/api/challenge/{id}/show`.
pub(super) fn show(context: &Context, id: &str) -> Result<Value, Refused> {
    context.shared.change(|state| {
        state.expire_challenges(context.now);
        let challenge = state.challenges.get(id).ok_or_else(|| Refused::not_found("Not found"))?;
        let direction = match &context.user {
            user if challenge.challenger == *user => "out",
            user if challenge.target == *user => "in",
            _ => return Err(Refused::not_found("Not found")),
        };
        challenge_json(state, id, direction)
    })
}

/// POST `/api/challenge/{id}/accept`.
pub(super) fn accept(context: &Context, id: &str) -> Answer {
    context.shared.change(|state| {
        state.accept_challenge(&context.user, id, context.now)?;
        state.counters.accepted += 1;
        Ok(done())
    })
}

/// POST `/api/challenge/{id}/decline`.
pub(super) fn decline(context: &Context, id: &str, request: &Request) -> Answer {
    let reason = request.form.get("reason").unwrap_or("generic");
    context.shared.change(|state| {
        state.decline_challenge(&context.user, id, reason, context.now)?;
        state.counters.declined += 1;
        state.note_decline(id);
        Ok(done())
    })
}

/// POST `/api/challenge/{id}/cancel`.
pub(super) fn cancel(context: &Context, id: &str) -> Answer {
    context.shared.change(|state| state.cancel_challenge(&context.user, id, context.now))?;
    Ok(done())
}

fn challenge_json(state: &State, id: &str, direction: &str) -> Result<Value, Refused> {
    let challenge = state.challenges.get(id).ok_or_else(|| Refused::not_found("Not found"))?;
    let mut value = state.challenge_json(challenge);
    value["direction"] = json!(direction);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control(form: &str) -> Result<TimeControl, Value> {
        parse_control(&Form::parse(form)).map_err(|refused| refused.body)
    }

    #[test]
    fn clocks_are_checked() {
        let blitz = TimeControl::RealTime {
            limit: Duration::from_mins(3),
            increment: Duration::from_secs(2),
        };
        assert_eq!(control("clock.limit=180&clock.increment=2"), Ok(blitz));
        assert_eq!(control(""), Ok(TimeControl::Unlimited));
        assert!(control("days=3").is_ok());
        for bad in [
            "clock.limit=100&clock.increment=0",
            "clock.limit=0&clock.increment=0",
            "clock.limit=60&clock.increment=61",
            "clock.limit=60",
            "clock.limit=x&clock.increment=0",
            "days=4",
        ] {
            assert!(control(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_form_error_names_its_field_twice() {
        let body = control("clock.limit=1&clock.increment=0").unwrap_err();
        assert_eq!(body["clock.limit"], body["error"]["clock.limit"]);
    }
}
