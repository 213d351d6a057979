//! The answers: JSON, pages of a front end, and what faults say instead.

use hyper::{
    Response, StatusCode,
    header::{HeaderValue, RETRY_AFTER},
};
use serde_json::{Value, json};

use crate::arena::{
    faults::Fault,
    server::{Body, full, response},
    state::Refused,
};

pub(super) const JSON: &str = "application/json";
pub(super) const NDJSON: &str = "application/x-ndjson";

/// What becomes of a request in the end.
pub(super) type Answer = Result<Response<Body>, Refused>;

/// The answer that a command was carried out.
pub(super) fn done() -> Response<Body> {
    found(&json!({ "ok": true }))
}

/// The answer to a question.
pub(super) fn found(value: &Value) -> Response<Body> {
    json_response(StatusCode::OK, value)
}

/// The answer of a refusal.
pub(super) fn refused(refused: &Refused) -> Response<Body> {
    json_response(refused.status, &refused.body)
}

fn json_response(status: StatusCode, value: &Value) -> Response<Body> {
    response(status, JSON, full(value.to_string()))
}

/// What a front end answers when the server behind it does not.
pub(super) fn html_page(status: u16) -> Response<Body> {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    let page = format!(
        "<html>\r\n<head><title>{status}</title></head>\r\n<body>\r\n\
         <center><h1>{status}</h1></center>\r\n</body>\r\n</html>\r\n"
    );
    response(status, "text/html", full(page))
}

/// What a fault answers instead of carrying out the request; `None` if it lets it be carried out.
pub(super) fn of_fault(fault: &Fault) -> Option<Response<Body>> {
    match fault {
        Fault::TooManyRequests { retry_after, ratelimit, html } => {
            let mut answer = if *html {
                html_page(429)
            } else {
                let mut body = json!({ "error": "Too many requests. Try again later." });
                if let Some((key, seconds)) = ratelimit {
                    body["ratelimit"] = json!({ "key": key, "seconds": seconds });
                }
                json_response(StatusCode::TOO_MANY_REQUESTS, &body)
            };
            if let Some(seconds) = retry_after {
                answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from(*seconds));
            }
            Some(answer)
        }
        Fault::OpponentLimit { key, seconds } => {
            let body = json!({
                "error": "This player has played too many games against bots today.",
                "ratelimit": { "key": key, "seconds": seconds },
            });
            Some(json_response(StatusCode::BAD_REQUEST, &body))
        }
        Fault::RefuseMove => {
            let body = json!({ "error": "Piece on a1 cannot move to h8" });
            Some(json_response(StatusCode::BAD_REQUEST, &body))
        }
        Fault::ServerError { status } | Fault::Html { status } => Some(html_page(*status)),
        _ => None,
    }
}
