//! From a request to its answer: which endpoint, who may use it, which fault strikes.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use http_body_util::{BodyExt, Limited};
use hyper::{
    Method, Response, StatusCode,
    body::Incoming,
    header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, USER_AGENT},
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::arena::{
    account::Scope,
    challenge_api,
    faults::{Endpoint, Fault},
    form::{Form, decode},
    game_api,
    play::Command,
    server::{Body, full, response},
    state::{Refused, Shared},
    stream::{CutError, OnClose, StreamSetup, body},
};

/// The longest body that is read.
const MAX_BODY_BYTES: usize = 64 * 1024;

const JSON: &str = "application/json";
pub(super) const NDJSON: &str = "application/x-ndjson";

/// Scopes that allow playing as a bot.
const PLAY: &[Scope] = &[Scope::BotPlay];
/// Scopes that allow making and answering challenges.
const CHALLENGE: &[Scope] = &[Scope::ChallengeWrite, Scope::BotPlay, Scope::BoardPlay];
/// Scopes that allow the event stream.
const EVENTS: &[Scope] = &[Scope::ChallengeRead, Scope::BotPlay, Scope::BoardPlay];
/// Scopes that allow looking at challenges.
const READ: &[Scope] = &[Scope::ChallengeRead];

/// The endpoints of the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Route {
    Account,
    TokenTest,
    Upgrade,
    Playing,
    User(String),
    OnlineBots,
    EventStream,
    GameStream(String),
    Command(String, Command),
    PostChat(String),
    GetChat(String),
    CreateChallenge(String),
    Challenges,
    ShowChallenge(String),
    Accept(String),
    Decline(String),
    Cancel(String),
    Export(String),
}

/// A request, read and decoded.
pub(super) struct Request {
    pub(super) query: Form,
    pub(super) form: Form,
    pub(super) text: String,
    pub(super) user_agent: String,
    pub(super) accepts_json: bool,
    bearer: Option<String>,
}

/// What a handler needs besides the request.
pub(super) struct Context {
    pub(super) shared: Arc<Shared>,
    pub(super) shutdown: CancellationToken,
    /// Id of the token's owner; empty where no token is asked for.
    pub(super) user: String,
    pub(super) now: Instant,
}

/// What becomes of a request in the end.
pub(super) type Answer = Result<Response<Body>, Refused>;

/// Answers one request, unless a fault has it otherwise. An error closes the connection.
pub(super) async fn answer(
    shared: Arc<Shared>,
    request: hyper::Request<Incoming>,
    shutdown: CancellationToken,
) -> Result<Response<Body>, CutError> {
    shared.change(|state| state.counters.requests += 1);
    let query = Form::parse(request.uri().query().unwrap_or_default());
    let route = Route::parse(request.method(), request.uri().path(), &query);
    let endpoint = route.as_ref().map_or(Endpoint::Other, Route::endpoint);
    let fault = shared.faults.of_request(endpoint);
    match &fault {
        Some(Fault::HungRequest) => {
            shutdown.cancelled().await;
            return Err(CutError);
        }
        Some(fault) => {
            if let Some(response) = refusal(fault) {
                return Ok(response);
            }
        }
        None => {}
    }
    let response = match read(request, query).await {
        Ok(request) => respond(&shared, route, &request, &shutdown),
        Err(refused) => refused_response(&refused),
    };
    match fault {
        Some(Fault::LostAnswer) => return Err(CutError),
        Some(Fault::HungAnswer) => {
            shutdown.cancelled().await;
            return Err(CutError);
        }
        Some(Fault::Delay { ms }) => tokio::time::sleep(Duration::from_millis(ms)).await,
        _ => {}
    }
    Ok(response)
}

/// What a fault answers instead of carrying out the request.
fn refusal(fault: &Fault) -> Option<Response<Body>> {
    match fault {
        Fault::TooManyRequests { retry_after, ratelimit, html } => {
            let status = StatusCode::TOO_MANY_REQUESTS;
            let mut answer = if *html {
                html_page(status)
            } else {
                let mut body = json!({ "error": "Too many requests. Try again later." });
                if let Some((key, seconds)) = ratelimit {
                    body["ratelimit"] = json!({ "key": key, "seconds": seconds });
                }
                json_response(status, &body)
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
        Fault::ServerError { status } => {
            Some(html_page(StatusCode::from_u16(*status).unwrap_or(StatusCode::BAD_GATEWAY)))
        }
        _ => None,
    }
}

async fn read(request: hyper::Request<Incoming>, query: Form) -> Result<Request, Refused> {
    let (parts, incoming) = request.into_parts();
    let bytes = Limited::new(incoming, MAX_BODY_BYTES)
        .collect()
        .await
        .map_err(|_| Refused::new(StatusCode::PAYLOAD_TOO_LARGE, "Body too large"))?
        .to_bytes();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let authorization = header(&parts.headers, AUTHORIZATION);
    Ok(Request {
        query,
        form: Form::parse(&text),
        text,
        user_agent: header(&parts.headers, USER_AGENT).to_owned(),
        accepts_json: header(&parts.headers, ACCEPT).contains(JSON),
        bearer: authorization.strip_prefix("Bearer ").map(|token| token.trim().to_owned()),
    })
}

fn header(headers: &HeaderMap, name: HeaderName) -> &str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn respond(
    shared: &Arc<Shared>,
    route: Option<Route>,
    request: &Request,
    shutdown: &CancellationToken,
) -> Response<Body> {
    let Some(route) = route else {
        shared.change(|state| state.counters.unknown_paths += 1);
        return refused_response(&Refused::not_found("Not found"));
    };
    carry_out(shared, route, request, shutdown).unwrap_or_else(|refused| refused_response(&refused))
}

fn carry_out(
    shared: &Arc<Shared>,
    route: Route,
    request: &Request,
    shutdown: &CancellationToken,
) -> Answer {
    let user = match route.scopes() {
        None => String::new(),
        Some(scopes) => shared.change(|state| {
            let bearer = request.bearer.as_deref();
            let user = state.authenticate(bearer, &request.user_agent, scopes)?;
            if route.is_for_bots() && !state.account(&user)?.is_bot() {
                return Err(Refused::bad_request(
                    "This endpoint can only be used with a Bot account. \
                     See https://lichess.org/api#operation/botAccountUpgrade",
                ));
            }
            Ok(user)
        })?,
    };
    let context = Context {
        shared: Arc::clone(shared),
        shutdown: shutdown.clone(),
        user,
        now: Instant::now(),
    };
    route.handle(&context, request)
}

impl Route {
    /// The endpoint of a method and path; `None` for 404.
    fn parse(method: &Method, path: &str, query: &Form) -> Option<Self> {
        let segments: Vec<String> = path.split('/').skip(1).map(decode).collect();
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        let is_post = method == Method::POST;
        if !is_post && method != Method::GET {
            return None;
        }
        if is_post { Self::parse_post(&segments, query) } else { Self::parse_get(&segments) }
    }

    fn parse_get(segments: &[&str]) -> Option<Self> {
        Some(match segments {
            ["api", "account"] => Self::Account,
            ["api", "account", "playing"] => Self::Playing,
            ["api", "user", name] => Self::User((*name).to_owned()),
            ["api", "stream", "event"] => Self::EventStream,
            ["api", "bot", "game", "stream", id] => Self::GameStream((*id).to_owned()),
            ["api", "bot", "game", id, "chat"] => Self::GetChat((*id).to_owned()),
            ["api", "bot", "online"] => Self::OnlineBots,
            ["api", "challenge"] => Self::Challenges,
            ["api", "challenge", id, "show"] => Self::ShowChallenge((*id).to_owned()),
            ["game", "export", id] => Self::Export((*id).to_owned()),
            _ => return None,
        })
    }

    fn parse_post(segments: &[&str], query: &Form) -> Option<Self> {
        let command = |id: &str, command| Some(Self::Command(id.to_owned(), command));
        match segments {
            ["api", "token", "test"] => Some(Self::TokenTest),
            ["api", "bot", "account", "upgrade"] => Some(Self::Upgrade),
            ["api", "bot", "game", id, "move", uci] => {
                let offering_draw = query.is_true("offeringDraw");
                command(id, Command::Move { uci: (*uci).to_owned(), offering_draw })
            }
            ["api", "bot", "game", id, "abort"] => command(id, Command::Abort),
            ["api", "bot", "game", id, "resign"] => command(id, Command::Resign),
            ["api", "bot", "game", id, "draw", answer] => {
                command(id, if is_yes(answer) { Command::OfferDraw } else { Command::DeclineDraw })
            }
            ["api", "bot", "game", id, "takeback", answer] => command(
                id,
                if is_yes(answer) { Command::ProposeTakeback } else { Command::DeclineTakeback },
            ),
            ["api", "bot", "game", id, "claim-victory"] => command(id, Command::ClaimVictory),
            ["api", "bot", "game", id, "claim-draw"] => command(id, Command::ClaimDraw),
            ["api", "bot", "game", id, "chat"] => Some(Self::PostChat((*id).to_owned())),
            ["api", "challenge", id, "accept"] => Some(Self::Accept((*id).to_owned())),
            ["api", "challenge", id, "decline"] => Some(Self::Decline((*id).to_owned())),
            ["api", "challenge", id, "cancel"] => Some(Self::Cancel((*id).to_owned())),
            ["api", "challenge", user] => Some(Self::CreateChallenge((*user).to_owned())),
            _ => None,
        }
    }

    fn endpoint(&self) -> Endpoint {
        match self {
            Self::Account | Self::TokenTest | Self::Upgrade | Self::Playing => Endpoint::Account,
            Self::User(_) | Self::OnlineBots | Self::Export(_) => Endpoint::Other,
            Self::EventStream => Endpoint::EventStream,
            Self::GameStream(_) => Endpoint::GameStream,
            Self::Command(_, Command::Move { .. }) => Endpoint::Move,
            Self::Command(..) => Endpoint::GameCommand,
            Self::PostChat(_) | Self::GetChat(_) => Endpoint::Chat,
            Self::CreateChallenge(_) | Self::Challenges | Self::ShowChallenge(_) => {
                Endpoint::Challenge
            }
            Self::Accept(_) | Self::Decline(_) | Self::Cancel(_) => Endpoint::ChallengeAnswer,
        }
    }

    /// Any of these scopes will do; an empty list asks for any valid token, `None` for nothing.
    fn scopes(&self) -> Option<&'static [Scope]> {
        match self {
            Self::TokenTest | Self::OnlineBots | Self::User(_) | Self::Export(_) => None,
            Self::Account | Self::Playing => Some(&[]),
            Self::Upgrade
            | Self::GameStream(_)
            | Self::Command(..)
            | Self::PostChat(_)
            | Self::GetChat(_) => Some(PLAY),
            Self::EventStream => Some(EVENTS),
            Self::CreateChallenge(_) | Self::Accept(_) | Self::Decline(_) | Self::Cancel(_) => {
                Some(CHALLENGE)
            }
            Self::Challenges | Self::ShowChallenge(_) => Some(READ),
        }
    }

    fn is_for_bots(&self) -> bool {
        matches!(
            self,
            Self::GameStream(_) | Self::Command(..) | Self::PostChat(_) | Self::GetChat(_)
        )
    }

    fn handle(self, context: &Context, request: &Request) -> Answer {
        let Context { shared, user, now, .. } = context;
        match self {
            Self::Account => Ok(found(&shared.read().account(user)?.user_json())),
            Self::User(name) => match shared.read().account(&name) {
                Ok(account) => Ok(found(&account.user_json())),
                Err(_) => Err(Refused::not_found("Not found")),
            },
            Self::TokenTest => Ok(found(&test_tokens(context, &request.text))),
            Self::Upgrade => upgrade(context),
            Self::Playing => Ok(found(&game_api::playing(context, request))),
            Self::OnlineBots => Ok(online_bots(context)),
            Self::EventStream => event_stream(context),
            Self::GameStream(id) => game_api::stream(context, &id, &request.user_agent),
            Self::Command(id, command) => {
                shared.change(|state| state.command(user, &id, &command, *now))?;
                Ok(done())
            }
            Self::PostChat(id) => {
                let (room, text) = (request.form.get("room"), request.form.get("text"));
                shared.change(|state| state.chat(user, &id, room, text))?;
                Ok(done())
            }
            Self::GetChat(id) => Ok(found(&shared.read().chat_json(user, &id)?)),
            Self::Export(id) => game_api::export(context, &id, request),
            Self::CreateChallenge(target) => challenge_api::create(context, &target, request),
            Self::Challenges => Ok(found(&challenge_api::list(context))),
            Self::ShowChallenge(id) => Ok(found(&challenge_api::show(context, &id)?)),
            Self::Accept(id) => challenge_api::accept(context, &id),
            Self::Decline(id) => challenge_api::decline(context, &id, request),
            Self::Cancel(id) => challenge_api::cancel(context, &id),
        }
    }
}

/// Whether the last word of a draw or takeback path agrees. Everything else declines.
fn is_yes(word: &str) -> bool {
    matches!(word, "yes" | "true" | "1" | "on")
}

fn test_tokens(context: &Context, text: &str) -> Value {
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

fn upgrade(context: &Context) -> Answer {
    context.shared.change(|state| {
        let account =
            state.accounts.get_mut(&context.user).ok_or_else(|| Refused::not_found("Not found"))?;
        if account.games > 0 {
            let error = "You already have games played. Make a new account.";
            return Err(Refused::bad_request(error));
        }
        account.title = Some("BOT".to_owned());
        Ok(done())
    })
}

fn online_bots(context: &Context) -> Response<Body> {
    let state = context.shared.read();
    let bots = state.accounts.values().filter(|account| account.is_bot() && account.is_online());
    let lines: Vec<_> = bots.map(|account| account.user_json().to_string() + "\n").collect();
    response(StatusCode::OK, NDJSON, full(lines.concat()))
}

fn event_stream(context: &Context) -> Answer {
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

impl Context {
    pub(super) fn stream_setup(
        &self,
        endpoint: Endpoint,
        keep_alive: Duration,
        on_close: OnClose,
    ) -> StreamSetup {
        StreamSetup {
            endpoint,
            keep_alive,
            faults: Arc::clone(&self.shared.faults),
            shutdown: self.shutdown.clone(),
            on_close,
        }
    }
}

/// The answer that a command was carried out.
pub(super) fn done() -> Response<Body> {
    found(&json!({ "ok": true }))
}

/// The answer to a question.
pub(super) fn found(value: &Value) -> Response<Body> {
    json_response(StatusCode::OK, value)
}

fn json_response(status: StatusCode, value: &Value) -> Response<Body> {
    response(status, JSON, full(value.to_string()))
}

fn refused_response(refused: &Refused) -> Response<Body> {
    json_response(refused.status, &refused.body)
}

/// What a front end answers when the server behind it does not.
fn html_page(status: StatusCode) -> Response<Body> {
    let page = format!(
        "<html>\r\n<head><title>{status}</title></head>\r\n<body>\r\n\
         <center><h1>{status}</h1></center>\r\n</body>\r\n</html>\r\n"
    );
    response(status, "text/html", full(page))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(method: &Method, path: &str) -> Option<Route> {
        Route::parse(method, path, &Form::default())
    }

    #[test]
    fn paths_lead_to_endpoints() {
        assert_eq!(parse(&Method::GET, "/api/account"), Some(Route::Account));
        assert_eq!(parse(&Method::POST, "/api/account"), None);
        assert_eq!(parse(&Method::DELETE, "/api/token"), None);
        let stream = parse(&Method::GET, "/api/bot/game/stream/abcd1234");
        assert_eq!(stream, Some(Route::GameStream("abcd1234".to_owned())));
        let accept = parse(&Method::POST, "/api/challenge/abcd1234/accept");
        assert_eq!(accept, Some(Route::Accept("abcd1234".to_owned())));
    }

    #[test]
    fn everything_but_yes_is_no() {
        let command = |answer: &str| {
            let path = format!("/api/bot/game/abcd1234/draw/{answer}");
            match parse(&Method::POST, &path) {
                Some(Route::Command(_, command)) => command,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(command("yes"), Command::OfferDraw);
        assert_eq!(command("true"), Command::OfferDraw);
        assert_eq!(command("no"), Command::DeclineDraw);
    }

    #[test]
    fn a_move_may_offer_a_draw() {
        let query = Form::parse("offeringDraw=true");
        let route = Route::parse(&Method::POST, "/api/bot/game/abcd1234/move/e7e8q", &query);
        let command = Command::Move { uci: "e7e8q".to_owned(), offering_draw: true };
        assert_eq!(route, Some(Route::Command("abcd1234".to_owned(), command)));
    }
}
