//! What graphical interfaces and servers send: UCI lines, and the streams of lichess.

use std::{
    io::{self, Cursor, Write},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use meitner::{
    game::{Action, Arrived, Command as GameCommand, Found, Input, Lag, Options, Session, Thought},
    platform::lichess::{
        adapter, events,
        listings::{ListedTournamentBody, OnlineBotBody, TournamentBody},
        model::{AccountBody, ErrorBody, PlayingBody, TokenBody},
        ndjson::{LineDecoder, LineError},
    },
    rules::Position,
    search,
    uci::{Command, serve},
};

use super::source::{Source, lines_of};

const MOST_LINES: usize = 30;
const MOST_ACTIONS: usize = 500;
const US: &str = "emberfork";

/// Any input ends the session only by `quit` or by its own end: each line that is no command gets
/// one sentence, each `isready` its answer, and each search its move.
pub(super) fn uci(data: &[u8]) {
    let mut input = Vec::new();
    let mut expected = Expected::default();
    for line in data.split(|&byte| byte == b'\n').take(MOST_LINES) {
        let command = String::from_utf8_lossy(line).parse::<Command>();
        if expected.add(command.as_ref().ok()) {
            input.extend_from_slice(line);
            input.push(b'\n');
        }
        match command {
            Ok(Command::Quit) => break,
            Ok(_) => {}
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    let output = Shared::default();
    let options = search::Options { hash_mb: 1, threads: 1 };
    serve(Cursor::new(input), output.clone(), options, Duration::from_millis(10))
        .expect("memory can be read and written");
    let written = output.0.lock().unwrap_or_else(PoisonError::into_inner);
    let written = String::from_utf8(written.clone()).expect("the answers are text");
    let count = |word| written.lines().filter(|line| line.split(' ').next() == Some(word)).count();
    assert_eq!(count("readyok"), expected.ready, "{written}");
    assert_eq!(count("uciok"), expected.introductions, "{written}");
    let complaints = written.lines().filter(|line| line.starts_with("info string ")).count();
    assert!(complaints >= expected.errors, "{written}");
    assert!(count("bestmove") <= expected.searches, "{written}");
    assert!(count("bestmove") + complaints >= expected.searches + expected.errors, "{written}");
}

/// What the answers must be, as far as the lines alone tell.
#[derive(Default)]
struct Expected {
    ready: usize,
    introductions: usize,
    searches: usize,
    errors: usize,
}

impl Expected {
    /// Counts a command; `false` if it shall be left out, because it would take too long or too
    /// much memory, as it is meant to.
    fn add(&mut self, command: Option<&Command>) -> bool {
        match command {
            None => self.errors += 1,
            Some(Command::IsReady) => self.ready += 1,
            Some(Command::Uci) => self.introductions += 1,
            Some(Command::SetOption { name, .. }) => {
                return !["hash", "threads"].contains(&name.to_ascii_lowercase().as_str());
            }
            Some(Command::Go(go)) if go.perft.is_some() => {
                return go.perft.is_some_and(|depth| depth < 3);
            }
            Some(Command::Go(_)) => self.searches += 1,
            Some(_) => {}
        }
        true
    }
}

/// A stream into memory that can be read after its owner is gone.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Sessions of an interface, with commands right and wrong.
pub(super) fn uci_seeds() -> Vec<Vec<u8>> {
    [
        "uci\nisready\nucinewgame\nposition startpos moves e2e4 e7e5\ngo nodes 50\nquit\n",
        "position fen 4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1 moves e1g1\nd\ngo depth 3\nstop\n",
        "setoption name UCI_Chess960 value true\nsetoption name Move Overhead value 30\n\
         position startpos\ngo wtime 1000 btime 1000 winc 10 binc 10 movestogo 5\nstop\n",
        "go ponder wtime 9223372036854775807 winc 9223372036854775807\nponderhit\nstop\n",
        "go infinite searchmoves e2e4 d2d4\nisready\ngo movetime 0\ngo mate 1 nodes 9\nxyzzy\n",
        "position startpos\ngo perft 2\nposition fen k7/8/8/8/8/8/8/8 w - - 0 60\ngo nodes 9\n",
        "position startpos moves e2e5\nposition fen 8/8 w\ngo depth\nsetoption\nregister\ndebug on\n",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

/// Bytes in any pieces give the same lines; each line is read or skipped; and a game's session
/// plays only legal moves, whatever it is told, and nothing once it has ended.
pub(super) fn lichess(data: &[u8]) {
    let mut source = Source(data);
    let (size, salt) = (usize::from(source.byte()) + 1, source.byte());
    let lines = decode(source.0.chunks(size));
    assert_eq!(decode([source.0].into_iter()), lines);
    for line in lines.iter().flatten() {
        let _ = events::decode(line);
        let _ =
            serde_json::from_str::<AccountBody>(line).map(|body| (body.is_bot(), body.rating()));
        let _ = serde_json::from_str::<PlayingBody>(line).map(PlayingBody::games);
        let _ = serde_json::from_str::<TokenBody>(line).map(|body| body.has_scope("bot:play"));
        let _ = serde_json::from_str::<OnlineBotBody>(line).map(OnlineBotBody::into_bot);
        let _ =
            serde_json::from_str::<ListedTournamentBody>(line).map(|body| body.into_id("atomic"));
        let _ = serde_json::from_str::<TournamentBody>(line).map(TournamentBody::into_tournament);
        let _ = serde_json::from_str::<ErrorBody>(line)
            .map(|body| (body.message(), body.limit().map(|(_, seconds)| seconds)));
    }
    play(&lines, salt);
}

fn decode<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<Result<String, LineError>> {
    let mut decoder = LineDecoder::new();
    let mut lines = Vec::new();
    for piece in pieces {
        decoder.push(piece);
        while let Some(line) = decoder.next_line() {
            lines.push(line.map(str::to_owned));
        }
    }
    lines
}

/// Feeds the lines of a game's stream to a session whose searches end at once.
fn play(lines: &[Result<String, LineError>], salt: u8) {
    let mut session = Session::new("fuzzed".parse().expect("an id"), Options::default());
    let mut now = Instant::now();
    let mut is_over = false;
    let mut actions_left = MOST_ACTIONS;
    let mut pondered = None;
    for (index, line) in lines.iter().flatten().enumerate() {
        let Some(event) = adapter::decode(line).and_then(|line| line.into_event(US)) else {
            continue;
        };
        let mut inputs =
            vec![Input::Tick, Input::Server(Arrived { at: now, lag: Lag::default(), event })];
        while let Some(input) = inputs.pop() {
            let actions = session.handle(input, now);
            assert!(!is_over || actions.is_empty(), "{actions:?} after the end");
            let snapshot = session.snapshot();
            let position = Position::from_fen(&snapshot.fen).expect("a position is shown");
            for action in actions {
                actions_left = actions_left.saturating_sub(1);
                match action {
                    Action::Send(GameCommand::Play { mv, .. }) => {
                        assert!(position.is_legal(mv), "{mv} in {position:?}");
                    }
                    Action::Search(request) if actions_left > 0 => {
                        let moves = request.history.position().legal_moves();
                        let choice = (usize::from(salt) + index) % (moves.len() + 1);
                        let best = moves.get(choice).copied();
                        let next = best.map(|best| request.history.position().after(best));
                        // Often a reply that is played, sometimes one that is not legal.
                        let ponder = next.and_then(|next| next.legal_moves().first().copied());
                        let ponder = if salt.is_multiple_of(3) { best } else { ponder };
                        let found = Found { best, ponder, thought: Thought::default() };
                        if request.limits.ponder {
                            pondered = Some(found);
                        } else {
                            inputs.push(Input::Found(found));
                        }
                    }
                    Action::PonderHit { .. } => {
                        let found = pondered.take().expect("a search that ponders");
                        inputs.push(Input::Found(found));
                    }
                    Action::Alert(trouble) => assert!(!trouble.to_string().is_empty()),
                    Action::Finish(_) => is_over = true,
                    Action::Send(_) | Action::Search(_) | Action::StopSearch => {}
                }
            }
        }
        now += Duration::from_millis(u64::from(salt) * 40);
        if let Some(due) = session.deadline().filter(|_| salt % 2 == 1) {
            now = now.max(due);
        }
    }
}

/// Recorded streams, in pieces of different sizes.
pub(super) fn lichess_seeds() -> Vec<Vec<u8>> {
    let streams = [
        include_str!("../data/lichess/event-stream.ndjson"),
        include_str!("../data/lichess/event-challenges-to-refuse.ndjson"),
        include_str!("../data/lichess/game-mate.ndjson"),
        include_str!("../data/lichess/game-variant-end.ndjson"),
        include_str!("../data/lichess/game-opponent-gone.ndjson"),
        include_str!("../data/lichess/game-takeback.ndjson"),
        include_str!("../data/lichess/game-arena-first-moves.ndjson"),
        include_str!("../data/lichess/game-draw-agreed.ndjson"),
        include_str!("../data/lichess/game-unknown-fields.ndjson"),
    ];
    let with = |salt: u8, bytes: &[u8]| [&[salt.wrapping_mul(19), salt], bytes].concat();
    let mut seeds: Vec<Vec<u8>> =
        (0..).zip(streams).map(|(salt, text)| with(salt, text.as_bytes())).collect();
    let lines = streams.iter().flat_map(|text| lines_of(text));
    seeds.extend((0..40).zip(lines).map(|(salt, line)| with(salt, &[&line[..], b"\n"].concat())));
    // Numbers that fit their type and nothing else.
    let huge = r#"{"type":"gameFull","white":{"id":"emberfork"},"black":{},"initialFen":"startpos",
        "clock":{"initial":9223372036854775807,"increment":9223372036854775807},"state":{"moves":"",
        "wtime":9223372036854775807,"btime":-9223372036854775808,"winc":9223372036854775807,
        "status":"started","expiration":{"idleMillis":-9,"millisToMove":9223372036854775807}}}"#;
    let gone = r#"{"type":"opponentGone","gone":true,"claimWinInSeconds":9223372036854775807}"#;
    // The lists, of which another stream would not have more to tell.
    let bots = include_str!("../data/lichess/online-bots.ndjson");
    let tournament = r#"{"id":"hL7vMrFQ","fullName":"Atomic Arena","clock":{"limit":60,"increment":0},
        "variant":"atomic","minutes":18446744073709551615,"botsAllowed":true,"status":20}"#;
    seeds.push(with(5, format!("{bots}{}\n", tournament.replace('\n', "")).as_bytes()));
    seeds.push(with(33, format!("{}\n{gone}\n{gone}\n", huge.replace('\n', "")).as_bytes()));
    seeds
}
