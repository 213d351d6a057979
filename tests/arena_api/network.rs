//! The network between client and server, and the record of what came over it.

use std::{
    io,
    time::{Duration, Instant},
};

use meitner::{
    arena::{ArenaOptions, ChallengeSpec, HouseAction},
    rules::Color,
};
use reqwest::{Method, StatusCode};
use tokio::net::TcpStream;

use crate::harness::{Next, Site, fast_options, within};

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[tokio::test]
async fn lag_delays_requests_and_lines_and_lines_stay_in_order() {
    let site = Site::open(ArenaOptions::default()).await;
    let (id, mut stream) = site.game(Color::White).await;
    site.arena.set_lag(ms(60), ms(80), ms(10));
    let begin = Instant::now();
    site.client.plays(&id, "e2e4").await;
    assert!(begin.elapsed() >= ms(140), "there and back");
    assert_eq!(stream.line().await["moves"], "e2e4");

    let begin = Instant::now();
    site.house_plays(&id, "e7e5");
    site.arena.act(&id, &HouseAction::Chat("hello".to_owned())).expect("carried out");
    assert_eq!(stream.line().await["moves"], "e2e4 e7e5");
    assert_eq!(stream.line().await["text"], "hello");
    let seen = begin.elapsed();
    assert!(seen >= ms(80), "{seen:?}");
    site.arena.set_lag(Duration::ZERO, Duration::ZERO, Duration::ZERO);
    site.close().await;
}

#[tokio::test]
async fn many_lines_share_their_lag() {
    let options = ArenaOptions { lag_down_ms: 150, ..ArenaOptions::default() };
    let site = Site::open(options).await;
    let (id, mut stream) = site.game(Color::White).await;
    let begin = Instant::now();
    for n in 0..20 {
        site.arena.act(&id, &HouseAction::Chat(n.to_string())).expect("carried out");
    }
    for n in 0..20 {
        assert_eq!(stream.line_of("chatLine").await["text"], n.to_string());
    }
    assert!((ms(150)..ms(1500)).contains(&begin.elapsed()), "{:?}", begin.elapsed());
    site.close().await;
}

#[tokio::test]
async fn a_closed_port_refuses_and_opens_again() {
    let site = Site::open(fast_options()).await;
    let mut events = site.client.events().await;
    let id = site.game_without_stream(Color::White).await;
    site.arena.close_port(ms(400));
    while events.next().await != Next::Broken {}
    let address = site.client.base.trim_start_matches("http://").to_owned();
    let refused = async {
        loop {
            match TcpStream::connect(&address).await {
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => break,
                _ => tokio::time::sleep(ms(5)).await,
            }
        }
    };
    within("the port is closed", refused).await;
    let begin = Instant::now();
    let opened = async {
        while site.client.send(Method::GET, "/api/account", "").await.is_err() {
            tokio::time::sleep(ms(20)).await;
        }
    };
    within("the port opens", opened).await;
    assert!(begin.elapsed() >= ms(200), "{:?}", begin.elapsed());
    site.client.plays(&id, "e2e4").await;
    site.close().await;
}

#[tokio::test]
async fn requests_are_recorded() {
    let site = Site::open(ArenaOptions { recorded_requests: 3, ..fast_options() }).await;
    site.client.get("/api/account").await;
    site.client.get("/api/account/playing?nb=50&empty=").await;
    let form = "reason=tooFast&text=two+words%21";
    site.client.json(Method::POST, "/api/challenge/nothing1/decline", form).await;
    let token = site.client.token.clone();
    let test = site
        .client
        .http
        .post(format!("{}/api/token/test", site.client.base))
        .header("content-type", "text/plain")
        .body(token);
    within("an answer", test.send()).await.expect("an answer");
    let recorded = site.arena.requests();
    let pairs = |fields: &[(String, String)]| {
        let pairs: Vec<_> = fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
        pairs.join(" ")
    };
    let shown: Vec<_> = recorded
        .iter()
        .map(|request| {
            let fields = (pairs(&request.query), pairs(&request.form));
            (request.method.as_str(), request.path.as_str(), fields, request.status)
        })
        .collect();
    let fields = |query: &str, form: &str| (query.to_owned(), form.to_owned());
    assert_eq!(
        shown,
        [
            ("GET", "/api/account/playing", fields("nb=50 empty=", ""), Some(200)),
            (
                "POST",
                "/api/challenge/nothing1/decline",
                fields("", "reason=tooFast text=two words!"),
                Some(404)
            ),
            ("POST", "/api/token/test", fields("", ""), Some(200)),
        ]
    );
    assert_eq!(recorded[2].content_type, "text/plain");
    assert!(recorded.is_sorted_by_key(|request| request.at));
    site.close().await;
}

#[tokio::test]
async fn connections_are_counted() {
    let site = Site::open(ArenaOptions::default()).await;
    for _ in 0..3 {
        site.client.get("/api/account").await;
    }
    assert_eq!(site.arena.counters().connections, 1, "one warm connection");
    let _events = site.client.events().await;
    site.client.get("/api/account").await;
    let new: Vec<_> = site.arena.requests().iter().map(|request| request.new_connection).collect();
    assert_eq!(new, [true, false, false, false, true], "the stream keeps the first one busy");
    assert_eq!(site.arena.counters().connections, 2);
    site.close().await;
}

#[tokio::test]
async fn the_times_of_answers_are_measured() {
    let site = Site::open(ArenaOptions::default()).await;
    let (id, mut stream) = site.game(Color::White).await;
    tokio::time::sleep(ms(30)).await;
    site.client.plays(&id, "e2e4").await;
    stream.line().await;
    site.house_plays(&id, "e7e5");
    stream.line().await;
    tokio::time::sleep(ms(60)).await;
    site.client.plays(&id, "g1f3").await;
    let waits: Vec<_> =
        site.arena.answer_times(&id).iter().map(|(line, request)| *request - *line).collect();
    assert_eq!(waits.len(), 2, "{waits:?}");
    assert!(waits[0] >= ms(30) && waits[1] >= ms(60) && waits[1] < ms(2000), "{waits:?}");
    assert!(site.arena.answer_times("nothing1").is_empty());
    site.close().await;
}

#[tokio::test]
async fn what_clients_do_is_counted() {
    let site = Site::open(fast_options()).await;
    let spec = ChallengeSpec::new("QuietRook7", "EmberFork");
    let mut ids = Vec::new();
    for reason in ["reason=toofast", "reason=nonsense", ""] {
        let id = site.arena.challenge(&spec).expect("made");
        let decline = format!("/api/challenge/{id}/decline");
        let (status, _) = site.client.json(Method::POST, &decline, reason).await;
        assert_eq!(status, StatusCode::OK);
        ids.push(id);
    }
    let expected: Vec<_> =
        ids.into_iter().zip(["tooFast", "generic", "generic"].map(str::to_owned)).collect();
    assert_eq!(site.arena.declines(), expected);

    let (id, _stream) = site.game(Color::White).await;
    site.client.plays(&id, "g1f3").await;
    site.house_plays(&id, "f7f6");
    let chat = format!("/api/bot/game/{id}/chat");
    site.client.json(Method::POST, &chat, "room=player&text=hi").await;
    site.client.json(Method::POST, &chat, "room=nowhere&text=hi").await;
    site.arena.act(&id, &HouseAction::Chat("not counted".to_owned())).expect("carried out");
    site.arena.act(&id, &HouseAction::ProposeTakeback).expect("carried out");
    site.client.post_ok(&format!("/api/bot/game/{id}/takeback/yes")).await;
    site.client.post_ok(&format!("/api/bot/game/{id}/claim-draw")).await;
    site.house_plays(&id, "f7f6");
    site.client.plays(&id, "e2e3").await;
    let early = site.client.post(&format!("/api/bot/game/{id}/claim-victory")).await;
    assert_eq!(early.0, StatusCode::BAD_REQUEST);
    let counters = site.arena.counters();
    assert_eq!((counters.chat_lines, counters.takebacks, counters.claims), (1, 1, 1));
    assert_eq!(counters.refused_commands, 1);
    site.close().await;
}

#[tokio::test]
async fn finished_games_are_forgotten() {
    let site = Site::open(ArenaOptions { finished_games: 3, ..fast_options() }).await;
    let mut ids = Vec::new();
    for _ in 0..4 {
        let (id, _stream) = site.game(Color::White).await;
        site.client.post_ok(&format!("/api/bot/game/{id}/abort")).await;
        ids.push(id);
    }
    let (running, _stream) = site.game(Color::White).await;
    let finished: Vec<_> = site.arena.finished().into_iter().map(|game| game.id).collect();
    assert_eq!(finished, ids[1..]);
    site.arena.forget_finished(1);
    assert!(site.arena.game(&ids[2]).is_none() && site.arena.game(&ids[3]).is_some());
    assert!(site.arena.game(&running).is_some());
    let show = |id: &str| format!("/api/challenge/{id}/show");
    assert_eq!(site.client.get(&show(&ids[2])).await.0, StatusCode::NOT_FOUND);
    assert_eq!(site.client.get(&show(&running)).await.0, StatusCode::OK);
    assert_eq!(site.arena.counters().games_finished, 4);
    site.close().await;
}
