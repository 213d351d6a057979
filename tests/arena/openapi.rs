//! Every request of the bot beside the published description of the API (`OpenAPI` 3.1): path, method,
//! parameters, content type, and the fields of forms.
//!
//! The description is not ours and so no part of this repository. It is looked for where
//! `LICHESS_OPENAPI` says, then in `../shared/lichess-openapi.json` beside the checkout. Without it
//! nothing is compared, which is told, and is an error where `CI` is set.

mod spec;

use std::{collections::BTreeSet, env, fs, path::PathBuf, sync::LazyLock};

use meitner::{
    arena::{ColorChoice, OpponentKind, Recorded},
    game::{GameId, Room},
    platform::{ChallengeClock, ChallengeTime, DeclineReason},
};
use serde_json::{Value, json};

use crate::harness::{HOUSE, World, ms, options};
use spec::Spec;

const FORM: &str = "application/x-www-form-urlencoded";

static SPEC: LazyLock<Option<Spec>> = LazyLock::new(|| {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/lichess-openapi.json");
    let named = env::var_os("LICHESS_OPENAPI");
    let path = named.clone().map_or(beside.into(), PathBuf::from);
    match fs::read_to_string(&path) {
        Ok(text) => Some(Spec::new(serde_json::from_str(&text).expect("JSON"))),
        Err(error) => {
            assert!(
                named.is_none() && env::var_os("CI").is_none(),
                "{}: {error}; requests have to be compared with the description of the API",
                path.display()
            );
            None
        }
    }
});

/// Asserts that the description knows all these requests. Returns their operations, such as
/// `POST /api/bot/game/{gameId}/resign`; `None` if there is no description.
#[track_caller]
pub(crate) fn assert_described(requests: &[Recorded]) -> Option<BTreeSet<String>> {
    let spec = SPEC.as_ref()?;
    let (mut operations, mut faults) = (BTreeSet::new(), BTreeSet::new());
    for request in requests {
        match spec.check(request) {
            Ok(operation) => {
                operations.insert(operation);
            }
            Err(fault) => {
                faults.insert(fault);
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
    Some(operations)
}

/// A whole game with all that the daemon asks for, then each request of the client for itself.
#[tokio::test]
async fn every_request_is_as_the_api_describes_it() {
    let world = World::new().await;
    world.house(OpponentKind::Random);
    let mut options = options();
    options.game.chat.players.greeting = "Good luck!".parse().expect("a template");
    let bot = world.bot_with(options).await;
    let game = world.challenge(60, 1, ColorChoice::White);
    world.finished(&game).await;
    // Closed to bots.
    world.challenge(15, 0, ColorChoice::White);
    world.until("it is declined", |arena| arena.counters().declined == 1).await;
    bot.stop().await;

    let (client, none) = (world.client(&world.token), "n0sUcH01".parse::<GameId>().unwrap());
    world.house(OpponentKind::Silent);
    let game = world.challenge(60, 1, ColorChoice::White);
    let id = game.parse::<GameId>().unwrap();
    client.accept(&id).await.unwrap();
    let stream = client.open_game_stream(&id).await.unwrap();
    world.house_move(&game);
    let mut position = meitner::rules::History::default();
    for uci in &world.arena.game(&game).unwrap().moves {
        position.play_uci(uci).unwrap();
    }
    let mv = *position.position().legal_moves().iter().next().unwrap();
    client.play(&id, mv, true, ms(1000)).await.unwrap();
    client.accept_draw(&id).await.unwrap();
    client.decline_draw(&id).await.unwrap();
    for accept in [true, false] {
        client.answer_takeback(&id, accept).await.unwrap();
    }
    for room in [Room::Player, Room::Spectator] {
        client.chat(&id, room, "Well played & 100 %").await.unwrap();
    }
    client.user(HOUSE).await.unwrap();
    client.upgrade_to_bot().await.unwrap_err();
    // What the server refuses is described as well.
    assert!(client.claim_victory(&id).await.is_err());
    assert!(client.claim_draw(&id).await.is_err());
    assert!(client.abort(&none).await.is_err());
    assert!(client.decline(&none, DeclineReason::OnlyBot).await.is_err());
    client.resign(&id).await.unwrap();
    drop(stream);
    let clock = ChallengeClock { initial_s: 60, increment_s: 1 };
    for time in [clock.into(), ChallengeTime::Days(3)] {
        let ours = client.challenge(HOUSE, time, false).await.unwrap();
        // It may be a game by now.
        let _ = client.cancel(&ours).await;
    }
    client.online_bots().await.unwrap();
    let tournament = "n0t0urn1".parse().unwrap();
    assert!(client.tournament(&tournament).await.is_err());
    assert!(client.join_tournament(&tournament, None, Some("atomic-bots")).await.is_err());
    let listed = client.team_tournaments("no-such-team", "atomic").await;
    assert!(listed.unwrap().is_empty());
    assert!(client.withdraw(&tournament).await.is_err());
    assert!(client.berserk(&none).await.is_err());

    let Some(operations) = assert_described(&world.arena.requests()) else {
        println!("there is no description of the API: NOTHING was compared");
        return;
    };
    for operation in [
        "POST /api/token/test",
        "GET /api/account",
        "GET /api/account/playing",
        "POST /api/bot/account/upgrade",
        "GET /api/stream/event",
        "GET /api/user/{username}",
        "GET /api/bot/game/stream/{gameId}",
        "POST /api/bot/game/{gameId}/move/{move}",
        "POST /api/bot/game/{gameId}/chat",
        "POST /api/bot/game/{gameId}/draw/{accept}",
        "POST /api/bot/game/{gameId}/takeback/{accept}",
        "POST /api/bot/game/{gameId}/claim-victory",
        "POST /api/bot/game/{gameId}/claim-draw",
        "POST /api/bot/game/{gameId}/abort",
        "POST /api/bot/game/{gameId}/resign",
        "POST /api/challenge/{challengeId}/accept",
        "POST /api/challenge/{challengeId}/decline",
        "POST /api/challenge/{challengeId}/cancel",
        "POST /api/challenge/{username}",
        "GET /api/bot/online",
        "GET /api/team/{teamId}/arena",
        "GET /api/tournament/{id}",
        "POST /api/tournament/{id}/join",
        "POST /api/tournament/{id}/withdraw",
        "POST /api/board/game/{gameId}/berserk",
    ] {
        assert!(operations.contains(operation), "{operation} is missing in {operations:#?}");
    }
}

/// The comparison itself, on a description of its own.
#[test]
fn what_the_api_does_not_describe_is_found() {
    let spec = Spec::new(small_spec());
    let request = |method: &str, path: &str| Recorded {
        method: method.to_owned(),
        path: path.to_owned(),
        query: Vec::new(),
        form: Vec::new(),
        content_type: String::new(),
        at: std::time::Instant::now(),
        status: None,
        new_connection: false,
    };
    let fields = |fields: &[(&str, &str)]| -> Vec<(String, String)> {
        fields.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
    };
    let with_query =
        |query: &[(&str, &str)]| Recorded { query: fields(query), ..request("GET", "/list/all") };
    let with_form = |content_type: &str, form: &[(&str, &str)]| Recorded {
        form: fields(form),
        content_type: content_type.to_owned(),
        ..request("POST", "/say/abc")
    };
    for (good, operation) in [
        (request("GET", "/list/all"), "GET /list/all"),
        (with_query(&[("nb", "50")]), "GET /list/all"),
        (request("GET", "/list/3"), "GET /list/{page}"),
        (with_form(FORM, &[("room", "player"), ("text", "7")]), "POST /say/{id}"),
        (with_form(FORM, &[("room", "player"), ("text", ""), ("loud", "true")]), "POST /say/{id}"),
    ] {
        assert_eq!(spec.check(&good).as_deref(), Ok(operation));
    }
    for (bad, part) in [
        (request("GET", "/lists"), "no such path"),
        (request("POST", "/list/all"), "no such method"),
        (request("GET", "/list/first"), "{page}"),
        (with_query(&[("nb", "51")]), "nb=51"),
        (with_query(&[("nb", "many")]), "nb=many"),
        (with_query(&[("n", "5")]), "no parameter n"),
        (with_form("application/json", &[]), "content type application/json"),
        (with_form("", &[]), "no body"),
        (with_form(FORM, &[("room", "player")]), "text"),
        (with_form(FORM, &[("room", "bar"), ("text", "x")]), "room"),
        (with_form(FORM, &[("room", "player"), ("text", "x"), ("loud", "very")]), "loud"),
        (with_form(FORM, &[("room", "player"), ("text", "x"), ("to", "y")]), "no field to"),
        (Recorded { content_type: FORM.to_owned(), ..request("GET", "/list/3") }, "takes no body"),
    ] {
        let error = spec.check(&bad).unwrap_err();
        assert!(error.contains(part), "{part}: {error}");
    }
}

fn small_spec() -> Value {
    let text = json!({ "schema": { "$ref": "#/components/schemas/Message" } });
    json!({
        "paths": {
            "/list/{page}": { "get": { "parameters": [
                { "name": "page", "in": "path", "required": true, "schema": { "type": "integer" } },
            ] } },
            "/list/all": { "get": { "parameters": [{ "$ref": "#/components/parameters/Nb" }] } },
            "/say/{id}": { "post": { "requestBody": {
                "required": true,
                "content": { "application/x-www-form-urlencoded": text },
            } } },
        },
        "components": {
            "parameters": { "Nb": {
                "name": "nb", "in": "query", "schema": { "type": "integer", "maximum": 50 },
            } },
            "schemas": { "Message": { "allOf": [
                {
                    "type": "object",
                    "required": ["room", "text"],
                    "properties": {
                        "room": { "type": "string", "enum": ["player", "spectator"] },
                        "text": { "type": "string" },
                    },
                },
                { "type": "object", "properties": { "loud": { "type": "boolean" } } },
            ] } },
        },
    })
}
