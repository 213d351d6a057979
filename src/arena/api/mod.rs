//! From a request to its answer: what it asks for, who asks, and which fault strikes.

mod accounts;
mod challenges;
mod games;
mod reply;
mod route;
mod tournaments;
mod users;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use http_body_util::{BodyExt, Limited};
use hyper::{
    Response, StatusCode,
    body::Incoming,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, USER_AGENT},
    http::request::Parts,
};
use tokio_util::sync::CancellationToken;

use crate::arena::{
    connection::Link,
    faults::{Endpoint, Fault},
    form::Form,
    play::Command,
    recorder::Recorded,
    server::Body,
    state::{Refused, Shared},
    stream::{CutError, OnClose, StreamSetup},
};

use reply::{Answer, done, found};
use route::Route;

/// The longest body that is read.
const MAX_BODY_BYTES: usize = 64 * 1024;

const FORM: &str = "application/x-www-form-urlencoded";

/// A request, read and decoded.
struct Request {
    query: Form,
    form: Form,
    text: String,
    content_type: String,
    user_agent: String,
    accepts_json: bool,
    bearer: Option<String>,
}

/// What a handler needs besides the request.
struct Context {
    shared: Arc<Shared>,
    link: Arc<Link>,
    shutdown: CancellationToken,
    /// Id of the token's owner; empty where no token is asked for.
    user: String,
    /// When the request's head had been read; lag and delays come after it.
    arrived: Instant,
    /// When the request is carried out.
    now: Instant,
}

/// Answers one request, unless a fault has it otherwise. An error closes the connection.
pub(super) async fn answer(
    shared: Arc<Shared>,
    link: Arc<Link>,
    request: hyper::Request<Incoming>,
    shutdown: CancellationToken,
) -> Result<Response<Body>, CutError> {
    let arrived = Instant::now();
    let is_first = link.begin_request();
    let (parts, body) = request.into_parts();
    let query = Form::parse(parts.uri.query().unwrap_or_default());
    let request = read(&parts, query.clone(), body).await;
    let route = Route::parse(&parts.method, parts.uri.path(), &query);
    let recorded = Recorded {
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        query: query.into_fields(),
        form: request.as_ref().map_or_else(|_| Vec::new(), Request::form_fields),
        content_type: header(&parts.headers, CONTENT_TYPE).to_owned(),
        at: arrived,
        status: None,
        new_connection: is_first,
    };
    let number = shared.change(|state| {
        state.counters.requests += 1;
        state.recorder.note(recorded)
    });
    let endpoint = route.as_ref().map_or(Endpoint::Other, Route::endpoint);
    let fault = shared.faults.of_request(endpoint);
    let visit = Visit { shared: &shared, link: &link, shutdown: &shutdown, arrived };
    let answer = visit.answer(request, route, fault).await;
    if let Ok(response) = &answer {
        shared.change(|state| state.recorder.answered(number, response.status().as_u16()));
    }
    answer
}

async fn read(parts: &Parts, query: Form, body: Incoming) -> Result<Request, Refused> {
    let bytes = Limited::new(body, MAX_BODY_BYTES)
        .collect()
        .await
        .map_err(|_| Refused::new(StatusCode::PAYLOAD_TOO_LARGE, "Body too large"))?
        .to_bytes();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let authorization = header(&parts.headers, AUTHORIZATION);
    let content_type = header(&parts.headers, CONTENT_TYPE).to_owned();
    let is_json = content_type.starts_with(reply::JSON);
    Ok(Request {
        query,
        form: if is_json { Form::from_json(&text) } else { Form::parse(&text) },
        text,
        content_type,
        user_agent: header(&parts.headers, USER_AGENT).to_owned(),
        accepts_json: header(&parts.headers, ACCEPT).contains(reply::JSON),
        bearer: authorization.strip_prefix("Bearer ").map(|token| token.trim().to_owned()),
    })
}

fn header(headers: &HeaderMap, name: HeaderName) -> &str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

impl Request {
    /// The fields of a form; none for a body of another type.
    fn form_fields(&self) -> Vec<(String, String)> {
        if self.content_type.starts_with(FORM) { self.form.fields().to_vec() } else { Vec::new() }
    }
}

/// A request on its way through lag and faults.
struct Visit<'a> {
    shared: &'a Arc<Shared>,
    link: &'a Arc<Link>,
    shutdown: &'a CancellationToken,
    arrived: Instant,
}

impl Visit<'_> {
    async fn answer(
        &self,
        request: Result<Request, Refused>,
        route: Option<Route>,
        fault: Option<Fault>,
    ) -> Result<Response<Body>, CutError> {
        pause(self.shared.lag.up()).await;
        match &fault {
            Some(Fault::HungRequest) => return self.hang().await,
            Some(Fault::Reset) => return self.reset(),
            Some(Fault::DelayRequest { ms }) => pause(Duration::from_millis(*ms)).await,
            _ => {}
        }
        let refusal = fault.as_ref().and_then(reply::of_fault);
        let response = match (refusal, request) {
            (Some(refusal), _) => refusal,
            (None, Ok(request)) => self.respond(route, &request),
            (None, Err(refused)) => reply::refused(&refused),
        };
        match fault {
            Some(Fault::LostAnswer) => return Err(CutError),
            Some(Fault::ResetAnswer) => return self.reset(),
            Some(Fault::HungAnswer) => return self.hang().await,
            _ => {}
        }
        pause(self.shared.lag.down()).await;
        Ok(match fault {
            Some(Fault::Delay { ms }) => {
                pause(Duration::from_millis(ms)).await;
                response
            }
            Some(Fault::ErrorAfter { status }) => reply::html_page(status),
            _ => response,
        })
    }

    /// Never answers.
    async fn hang(&self) -> Result<Response<Body>, CutError> {
        self.shutdown.cancelled().await;
        Err(CutError)
    }

    fn reset(&self) -> Result<Response<Body>, CutError> {
        self.link.reset_at_end();
        Err(CutError)
    }

    fn respond(&self, route: Option<Route>, request: &Request) -> Response<Body> {
        let Some(route) = route else {
            self.shared.change(|state| state.counters.unknown_paths += 1);
            return reply::refused(&Refused::not_found("Not found"));
        };
        self.carry_out(route, request).unwrap_or_else(|refused| reply::refused(&refused))
    }

    fn carry_out(&self, route: Route, request: &Request) -> Answer {
        let user = match route.scopes() {
            None => String::new(),
            Some(scopes) => self.shared.change(|state| {
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
            shared: Arc::clone(self.shared),
            link: Arc::clone(self.link),
            shutdown: self.shutdown.clone(),
            user,
            arrived: self.arrived,
            now: Instant::now(),
        };
        context.handle(route, request)
    }
}

/// Sleeps, but not at all for no time: a timer would cost up to a millisecond.
async fn pause(time: Duration) {
    if !time.is_zero() {
        tokio::time::sleep(time).await;
    }
}

impl Context {
    fn handle(&self, route: Route, request: &Request) -> Answer {
        let Self { shared, user, .. } = self;
        match route {
            Route::Account => users::own(self),
            Route::User(name) => users::user(self, &name),
            Route::UsersStatus => Ok(found(&users::status(self, request))),
            Route::TokenTest => Ok(found(&accounts::test_tokens(self, &request.text))),
            Route::Upgrade => accounts::upgrade(self),
            Route::Playing => Ok(found(&games::playing(self, request))),
            Route::OnlineBots => Ok(users::online_bots(self, request)),
            Route::EventStream => accounts::event_stream(self),
            Route::GameStream(id) => games::stream(self, &id, &request.user_agent),
            Route::Command(id, command) => self.command(&id, &command),
            Route::PostChat(id) => {
                let (room, text) = (request.form.get("room"), request.form.get("text"));
                shared.change(|state| {
                    state.chat(user, &id, room, text)?;
                    state.counters.chat_lines += 1;
                    Ok(done())
                })
            }
            Route::GetChat(id) => Ok(found(&shared.read().player_chat_json(user, &id)?)),
            Route::SpectatorChat(id) => Ok(found(&shared.read().spectator_chat_json(&id)?)),
            Route::Export(id) => games::export(self, &id, request),
            Route::CreateChallenge(target) => challenges::create(self, &target, request),
            Route::Challenges => Ok(found(&challenges::list(self))),
            Route::ShowChallenge(id) => Ok(found(&challenges::show(self, &id)?)),
            Route::Accept(id) => challenges::accept(self, &id),
            Route::Decline(id) => challenges::decline(self, &id, request),
            Route::Cancel(id) => challenges::cancel(self, &id),
            Route::Tournament(id) => tournaments::show(self, &id),
            Route::TeamTournaments(team) => Ok(tournaments::of_team(self, &team, request)),
            Route::Join(id) => tournaments::join(self, &id, request),
            Route::Withdraw(id) => tournaments::withdraw(self, &id),
            Route::Berserk(is_board, id) => tournaments::berserk(self, &id, is_board),
        }
    }

    fn command(&self, id: &str, command: &Command) -> Answer {
        let Self { shared, user, now, arrived, .. } = self;
        shared.change(|state| {
            let (game, color) = state.game_of(user, id)?;
            let (plies, times) = (game.arbiter.plies(), game.answer_times.clone());
            state.command(user, id, command, *now)?;
            if matches!(command, Command::Move { .. }) {
                times.move_taken(color, plies, *arrived);
            }
            Ok(done())
        })
    }

    fn stream_setup(
        &self,
        endpoint: Endpoint,
        keep_alive: Duration,
        on_close: OnClose,
    ) -> StreamSetup {
        StreamSetup {
            endpoint,
            keep_alive,
            shared: Arc::clone(&self.shared),
            link: Arc::clone(&self.link),
            shutdown: self.shutdown.clone(),
            on_written: Box::new(|_, _| {}),
            on_close,
        }
    }
}
