//! Recorded lichess streams in, events out: whole, cut at every byte, and with fields and types
//! that nobody knows yet.

use std::{
    fs,
    path::PathBuf,
    time::{Duration, Instant},
};

use meitner::{
    game::{
        Action, Arrived, Command, Ending, Event, Found, GameResult, Input, Lag, Options, Session,
        Status, Thought,
    },
    platform::{
        DeclineReason, PlatformEvent, Speed, User,
        lichess::{
            adapter, events,
            listings::OnlineBotBody,
            model::{AccountBody, ErrorBody, PlayingBody, TokenBody},
            ndjson::LineDecoder,
        },
    },
    rules::{Color, History},
};

const US: &str = "emberfork";

fn file(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/lichess").join(name);
    fs::read_to_string(path).expect(name)
}

fn streams(prefix: &str) -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/lichess");
    let entries = fs::read_dir(folder).expect("the folder of examples");
    let mut names: Vec<_> = entries
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a plain name"))
        .filter(|name| name.starts_with(prefix) && name.ends_with(".ndjson"))
        .collect();
    names.sort();
    assert!(!names.is_empty());
    names
}

/// The lines of a stream whose bytes come in these pieces.
fn lines(pieces: &[&[u8]]) -> Vec<String> {
    let mut decoder = LineDecoder::new();
    let mut lines = Vec::new();
    for piece in pieces {
        decoder.push(piece);
        while let Some(line) = decoder.next_line() {
            lines.push(line.expect("a readable line").to_owned());
        }
    }
    lines
}

/// Reads every line and panics at one that cannot be read.
fn game_events(lines: &[String]) -> Vec<Event> {
    let decoded = lines.iter().map(|line| adapter::decode(line).expect(line));
    decoded.filter_map(|line| line.into_event(US)).collect()
}

fn account_events(lines: &[String]) -> Vec<PlatformEvent> {
    lines.iter().map(|line| events::decode(line).expect(line)).collect()
}

#[test]
fn every_game_stream_can_be_read() {
    for name in streams("game-") {
        let text = file(&name);
        let events = game_events(&lines(&[text.as_bytes()]));
        assert!(matches!(events.first(), Some(Event::Full(_))), "{name}");
        let count = text.lines().filter(|line| !line.trim().is_empty()).count();
        assert_eq!(events.len(), count, "{name}");
    }
}

#[test]
fn every_event_stream_can_be_read() {
    let expected = [("event-challenges-to-refuse.ndjson", 7), ("event-stream-open.ndjson", 3)];
    for (name, count) in expected {
        assert_eq!(account_events(&lines(&[file(name).as_bytes()])).len(), count, "{name}");
    }
    let events = account_events(&lines(&[file("event-stream.ndjson").as_bytes()]));
    let kinds: Vec<_> = events
        .iter()
        .map(|event| match event {
            PlatformEvent::Challenge(_) => "challenge",
            PlatformEvent::ChallengeCanceled(_) => "canceled",
            PlatformEvent::ChallengeDeclined(_) => "declined",
            PlatformEvent::GameStart(_) => "start",
            PlatformEvent::GameFinish(..) => "finish",
            PlatformEvent::Connected | PlatformEvent::Lost => "own",
            PlatformEvent::Unreadable => "unreadable",
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "challenge",
            "start",
            "finish",
            "challenge",
            "canceled",
            "challenge",
            "start",
            "challenge",
            "declined",
            "challenge",
            "declined",
            "start",
            "finish"
        ]
    );
}

#[test]
fn every_stream_gives_the_same_lines_cut_at_every_byte() {
    for name in streams("") {
        let text = file(&name);
        let bytes = text.as_bytes();
        let whole = lines(&[bytes]);
        assert_eq!(lines(&bytes.chunks(1).collect::<Vec<_>>()), whole, "{name} byte by byte");
        for cut in 0..=bytes.len() {
            assert_eq!(lines(&[&bytes[..cut], &bytes[cut..]]), whole, "{name} cut at {cut}");
        }
        let windows = text.replace('\n', "\r\n");
        assert_eq!(lines(&[windows.as_bytes()]), whole, "{name} with CRLF");
    }
}

#[test]
fn what_nobody_knows_yet_changes_nothing() {
    for name in streams("game-") {
        let known = lines(&[file(&name).as_bytes()]);
        let mut odd = vec![r#"{"type":"sunrise","moves":[1,2],"state":null}"#.to_owned()];
        odd.extend(known.iter().map(|line| with_unknown_fields(line)));
        odd.push(r#"{"type":"sunset"}"#.to_owned());
        assert_eq!(game_events(&odd), game_events(&known), "{name}");
    }
    for name in streams("event-") {
        let known = lines(&[file(&name).as_bytes()]);
        let odd: Vec<_> = known.iter().map(|line| with_unknown_fields(line)).collect();
        assert_eq!(account_events(&odd), account_events(&known), "{name}");
        assert_eq!(events::decode(r#"{"type":"sunrise","game":5}"#), None);
    }
}

/// Adds a field to every object.
fn with_unknown_fields(line: &str) -> String {
    fn add(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::Object(map) => {
                map.values_mut().for_each(add);
                map.insert("futureField".to_owned(), serde_json::json!({"a": [1, null]}));
            }
            serde_json::Value::Array(items) => items.iter_mut().for_each(add),
            _ => {}
        }
    }
    let mut value = serde_json::from_str(line).expect("an example is JSON");
    add(&mut value);
    value.to_string()
}

#[test]
fn a_line_that_is_no_json_costs_itself_only() {
    for broken in ["{", "null", "[]", "\u{1}", "{\"type\":5}"] {
        assert!(adapter::decode(broken).is_none(), "{broken}");
        assert_eq!(events::decode(broken), Some(PlatformEvent::Unreadable), "{broken}");
    }
    assert!(adapter::decode(r#"{"type":"gameState"}"#).is_none());
    assert_eq!(events::decode(r#"{"type":"gameStart"}"#), Some(PlatformEvent::Unreadable));
}

#[test]
fn fields_carry_over() {
    let events = account_events(&lines(&[file("event-stream.ndjson").as_bytes()]));
    let PlatformEvent::Challenge(challenge) = &events[0] else { panic!() };
    assert_eq!(challenge.id.as_str(), "Kq7ZbT2m");
    assert_eq!(challenge.variant, "atomic");
    assert_eq!((challenge.speed, challenge.rated), (Some(Speed::Blitz), true));
    let clock = challenge.clock.expect("a clock");
    assert_eq!((clock.initial_s, clock.increment_s), (180, 2));
    let challenger = challenge.challenger.as_ref().expect("a challenger");
    assert_eq!((challenger.id.as_str(), challenger.is_bot), ("quietrook7", false));
    assert_eq!(challenge.is_bot_playable, Some(true));

    assert!(challenge.rematch_of.is_none() && challenge.days.is_none());
    let PlatformEvent::Challenge(rematch) = &events[3] else { panic!() };
    assert_eq!(rematch.rematch_of.as_ref(), Some(&challenge.id));
    let PlatformEvent::ChallengeDeclined(declined) = &events[10] else { panic!() };
    let ids = [&declined.challenger, &declined.target].map(|user| {
        let User { id, .. } = user.as_ref().expect("both are told");
        id.as_str()
    });
    assert_eq!(ids, [US, "quietrook7"]);
    assert_eq!(declined.reason, DeclineReason::NoBot);

    let text = file("event-challenges-to-refuse.ndjson");
    let events = account_events(&lines(&[text.as_bytes()]));
    let days: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            PlatformEvent::Challenge(challenge) => challenge.days,
            _ => None,
        })
        .collect();
    assert_eq!(days, [1]);

    let events = game_events(&lines(&[file("game-takeback.ndjson").as_bytes()]));
    let Event::State(proposal) = &events[4] else { panic!() };
    assert_eq!(proposal.takeback_offer, [true, false]);

    let events = game_events(&lines(&[file("game-opponent-gone.ndjson").as_bytes()]));
    let gone: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::OpponentGone(wait) => Some(*wait),
            _ => None,
        })
        .collect();
    assert_eq!(gone[0], Some(Duration::from_secs(33)));
    assert_eq!(gone[3], None);
    assert_eq!(gone.last(), Some(&Some(Duration::ZERO)));

    let events = game_events(&lines(&[file("game-arena-first-moves.ndjson").as_bytes()]));
    let Event::Full(full) = &events[0] else { panic!() };
    assert!(!full.is_abortable);
    assert_eq!(full.tournament.as_deref(), Some("bOt4r3nA"));
    let expiration = full.state.expiration.expect("a deadline");
    assert_eq!(expiration.limit, Duration::from_secs(16));
}

/// Plays a recorded game with a session whose search finds what was really played.
/// Tells how often it pondered on the reply that was played, too.
fn replay(name: &str) -> (Vec<Command>, Option<Ending>, usize) {
    let events = game_events(&lines(&[file(name).as_bytes()]));
    let all_moves = events
        .iter()
        .filter_map(|event| match event {
            Event::Full(full) => Some(&full.state.moves),
            Event::State(state) => Some(&state.moves),
            _ => None,
        })
        .max_by_key(|moves| moves.len())
        .expect("a move list")
        .clone();
    let mut session = Session::new("replayed".parse().expect("an id"), Options::default());
    let (mut commands, mut ending, mut pondered, mut hits) = (Vec::new(), None, None, 0);
    let now = Instant::now();
    for event in events {
        let mut inputs = vec![Input::Server(Arrived { at: now, lag: Lag::default(), event })];
        while let Some(input) = inputs.pop() {
            for action in session.handle(input, now) {
                match action {
                    Action::Send(command) => commands.push(command),
                    Action::Search(request) => {
                        let found = what_was_played(&request.history, &all_moves);
                        if request.limits.ponder {
                            pondered = found;
                        } else {
                            inputs.extend(found.map(Input::Found));
                        }
                    }
                    Action::PonderHit { .. } => {
                        hits += 1;
                        inputs.extend(pondered.take().map(Input::Found));
                    }
                    Action::Alert(trouble) => assert_eq!(trouble.to_string(), "", "{name}"),
                    Action::Finish(end) => ending = Some(end),
                    Action::StopSearch => {}
                }
            }
        }
    }
    (commands, ending, hits)
}

/// The end of a search that finds what was played, and expects the reply.
fn what_was_played(history: &History, all_moves: &[String]) -> Option<Found> {
    let mut moves = all_moves.iter().skip(history.moves().len());
    let best = history.position().parse_uci(moves.next()?).ok();
    let next = best.map(|best| history.position().after(best));
    let ponder = next.zip(moves.next()).and_then(|(next, uci)| next.parse_uci(uci).ok());
    Some(Found { best, ponder, thought: Thought::default() })
}

#[test]
fn recorded_games_are_played_as_they_were() {
    let mut all_hits = 0;
    for name in streams("game-") {
        if name == "game-takeback.ndjson" {
            // What was played is not one list there; the session's own tests cover it.
            continue;
        }
        let (commands, _, hits) = replay(&name);
        all_hits += hits;
        let events = game_events(&lines(&[file(&name).as_bytes()]));
        let Event::Full(full) = &events[0] else { panic!() };
        let mut history = History::default();
        let mut expected = Vec::new();
        let last = events.iter().rev().find_map(|event| match event {
            Event::Full(full) => Some(full.state.moves.clone()),
            Event::State(state) => Some(state.moves.clone()),
            _ => None,
        });
        for (ply, uci) in last.unwrap_or_default().iter().enumerate() {
            let turn = history.position().turn();
            let mv = history.play_uci(uci).unwrap_or_else(|error| panic!("{name}: {error}"));
            if turn == full.our_color && ply >= full.state.moves.len() {
                expected.push((ply, mv));
            }
        }
        let played: Vec<_> = commands
            .iter()
            .filter_map(|command| match command {
                Command::Play { ply, mv, .. } => Some((*ply, *mv)),
                _ => None,
            })
            .collect();
        assert_eq!(played[..expected.len()], expected, "{name}");
    }
    assert!(all_hits > 5, "{all_hits} replies were pondered on");
}

#[test]
fn recorded_games_end_as_they_did() {
    let expected = [
        ("game-variant-end", Some(GameResult::Won)),
        ("game-mate", Some(GameResult::Won)),
        ("game-already-over", Some(GameResult::Won)),
        ("game-aborted", Some(GameResult::Aborted)),
        ("game-insufficient", Some(GameResult::Drawn)),
        ("game-stalemate", Some(GameResult::Drawn)),
        ("game-threefold", Some(GameResult::Drawn)),
        ("game-draw-agreed", Some(GameResult::Drawn)),
        ("game-opponent-gone", Some(GameResult::Won)),
        ("game-outoftime", Some(GameResult::Won)),
        ("game-no-start", Some(GameResult::Won)),
        ("game-unlimited", None),
    ];
    for (name, result) in expected {
        let (_, ending, _) = replay(&format!("{name}.ndjson"));
        assert_eq!(ending.map(|ending| ending.result), result, "{name}");
    }
}

#[test]
fn every_status_in_the_examples_has_a_winner_that_fits() {
    for name in streams("game-") {
        for event in game_events(&lines(&[file(&name).as_bytes()])) {
            if let Event::State(state) = event
                && state.status == Status::Running
            {
                assert_eq!(state.winner, None, "{name}");
            }
        }
    }
}

#[test]
fn accounts_and_tokens_can_be_read() {
    let account: AccountBody = serde_json::from_str(&file("account.json")).expect("an account");
    assert!(account.is_bot());
    assert_eq!((account.id.as_str(), account.rating()), (US, Some(2143)));
    let other: AccountBody =
        serde_json::from_str(&file("account-not-bot.json")).expect("an account");
    assert!(!other.is_bot());

    let tokens: std::collections::HashMap<String, Option<TokenBody>> =
        serde_json::from_str(&file("token-test.json")).expect("tokens");
    let has_scope = |token: &str| tokens[token].as_ref().map(|body| body.has_scope("bot:play"));
    assert_eq!(has_scope("lip_emberForkExample"), Some(true));
    assert_eq!(has_scope("lip_noScopes"), Some(false));
    assert_eq!(has_scope("lip_revoked"), None);

    let playing: PlayingBody =
        serde_json::from_str(&file("account-playing.json")).expect("running games");
    let games = playing.games();
    assert_eq!(games.len(), 1);
    assert_eq!(games[0].id.as_str(), "Kq7ZbT2m");
    assert_eq!(games[0].color, Some(Color::Black));
}

#[test]
fn every_refusal_can_be_read() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/lichess");
    for entry in fs::read_dir(folder).expect("the folder of examples") {
        let name = entry.expect("an entry").file_name().into_string().expect("a plain name");
        if name.starts_with("error-") {
            let body: ErrorBody = serde_json::from_str(&file(&name)).expect("a refusal");
            assert!(!body.message().is_empty(), "{name}");
            assert_eq!(body.limit().is_some(), name.contains("bot-vs-bot"), "{name}");
        }
    }
}

#[test]
fn the_bots_that_are_online_are_read() {
    let text = file("online-bots.ndjson");
    let bots: Vec<_> = lines(&[text.as_bytes()])
        .iter()
        .filter_map(|line| serde_json::from_str::<OnlineBotBody>(line).expect(line).into_bot())
        .collect();
    let ratings: Vec<_> = bots.iter().map(|bot| (bot.id.as_str(), bot.rating, bot.games)).collect();
    assert_eq!(ratings, [("soot-engine", Some(2055), 958), ("fuse_box", Some(1890), 3)]);
}
