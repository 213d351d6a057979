//! The endpoints of accounts, tokens and the event stream.

use std::sync::Arc;

use hyper::StatusCode;
use serde_json::{Value, json};

use crate::arena::{
    api::{
        Context,
        reply::{Answer, NDJSON, done},
    },
    faults::Endpoint,
    server::response,
    state::Refused,
    stream::{OnClose, body},
};

/// POST `/api/token/test`.
pub(super) fn test_tokens(context: &Context, text: &str) -> Value {
    let state = context.shared.read();
    let tokens = text.split(',').map(str::trim).filter(|token| !token.is_empty());
    tokens
        .map(|token| {
            let value = state.tokens.get(token).map_or(Value::Null, |known| {
                let scopes: Vec<_> = known.scopes.iter().map(|scope| scope.name()).collect();
                json!({ "userId": known.user, "scopes": scopes.join(","), "expires": null })
            });
            (token.to_owned(), value)
        })
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// POST `/api/bot/account/upgrade`.
pub(super) fn upgrade(context: &Context) -> Answer {
    context.shared.change(|state| {
        let account =
            state.accounts.get_mut(&context.user).ok_or_else(|| Refused::not_found("Not found"))?;
        if account.record.games > 0 {
            let error = "You already have games played. Make a new account.";
            return Err(Refused::bad_request(error));
        }
        account.title = Some("BOT".to_owned());
        Ok(done())
    })
}

/// GET `/api/stream/event`.
pub(super) fn event_stream(context: &Context) -> Answer {
    let Context { shared, user, now, .. } = context;
    let queue = shared.change(|state| state.open_event_stream(user, *now))?;
    let keep_alive = shared.read().options.event_keep_alive();
    let on_close = {
        let (shared, user, queue) = (Arc::clone(shared), user.clone(), Arc::clone(&queue));
        OnClose::new(move || shared.change(|state| state.close_event_stream(&user, &queue)))
    };
    let setup = context.stream_setup(Endpoint::EventStream, keep_alive, on_close);
    Ok(response(StatusCode::OK, NDJSON, body(queue, setup)))
}
