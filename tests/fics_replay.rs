//! A recorded session of a FICS-compatible server in, frames and values out: whole, cut at every
//! byte, and against our own rules.

use std::{collections::BTreeMap, fs, path::PathBuf};

use meitner::{
    game::EndReason,
    platform::fics::{
        ending::GameEnd,
        line::{Channel, GameBegins, MoveRefusal, Refusal, ServerLine, refusal_at_login},
        offer::OfferKind,
        rules,
        style12::{Board, Relation},
        timeseal,
        wire::{Decoder, Frame, Prompt},
    },
    rules::{Color, History},
};

/// What one connection received, in the order in which it came.
struct Recording {
    name: String,
    bytes: Vec<u8>,
    seal: Option<timeseal::Version>,
}

fn transcript() -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/fics/session.txt");
    fs::read_to_string(path).expect("the recorded session")
}

/// All connections of all runs. A connection that comes again under the same letter after its end
/// is another one.
fn recordings() -> Vec<Recording> {
    let (mut run, mut count) = (String::new(), 0);
    let mut open: BTreeMap<String, usize> = BTreeMap::new();
    let mut all: Vec<Recording> = Vec::new();
    for line in transcript().lines() {
        if let Some(name) = line.strip_prefix("################ run ") {
            name.clone_into(&mut run);
            open.clear();
        }
        if line.starts_with('#') {
            continue;
        }
        let text = line.trim_start();
        let Some((_, text)) = text.split_once(' ') else { continue };
        let Some((letter, text)) = text.split_once(' ') else { continue };
        let (direction, text) = text.split_at(1);
        let text = text.strip_prefix(' ').unwrap_or_default();
        // Under timeseal the client speaks first.
        let is_new = direction == "<" && text.starts_with("Welcome to /");
        if is_new && open.get(letter).is_some_and(|&index| !all[index].bytes.is_empty()) {
            open.remove(letter);
        }
        let index = *open.entry(letter.to_owned()).or_insert_with(|| {
            count += 1;
            all.push(Recording {
                name: format!("{run}/{letter}/{count}"),
                bytes: vec![],
                seal: None,
            });
            all.len() - 1
        });
        match direction {
            "<" => all[index].bytes.extend(unescaped(text)),
            _ if text.starts_with("\\x80\\x80q\\x80\\x9e") => {
                all[index].seal = Some(timeseal::Version::V1);
            }
            _ if text.starts_with("\\x80\\x80q\\x80\\x9f") => {
                all[index].seal = Some(timeseal::Version::V2);
            }
            _ => {}
        }
    }
    assert!(all.len() >= 12, "{}", all.len());
    all
}

fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b'r') => bytes.push(b'\r'),
            Some(b'x') => {
                let digits: String = rest.by_ref().take(2).map(char::from).collect();
                bytes.push(u8::from_str_radix(&digits, 16).expect("two digits"));
            }
            other => bytes.extend(other),
        }
    }
    bytes
}

fn frames<'a>(
    seal: Option<timeseal::Version>,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Vec<Frame> {
    let mut decoder = Decoder::new(seal);
    let mut out = Vec::new();
    for piece in pieces {
        decoder.read(piece, &mut out).expect("no line is that long");
    }
    out.extend(decoder.release());
    out
}

fn lines(recording: &Recording) -> Vec<ServerLine> {
    let frames = frames(recording.seal, [recording.bytes.as_slice()]);
    let lines = frames.into_iter().filter_map(|frame| match frame {
        Frame::Line(line) => Some(ServerLine::parse(&line)),
        _ => None,
    });
    lines.collect()
}

/// All lines as they came.
fn texts() -> Vec<String> {
    let frames = |recording: &Recording| frames(recording.seal, [recording.bytes.as_slice()]);
    let recordings = recordings();
    let lines = recordings.iter().flat_map(frames).filter_map(|frame| match frame {
        Frame::Line(line) => Some(line),
        _ => None,
    });
    lines.collect()
}

fn all_lines() -> Vec<ServerLine> {
    recordings().iter().flat_map(lines).collect()
}

fn boards(lines: &[ServerLine]) -> Vec<Board> {
    let boards = lines.iter().filter_map(|line| match line {
        ServerLine::Board(board) => Some((**board).clone()),
        _ => None,
    });
    boards.collect()
}

#[test]
fn the_frames_do_not_depend_on_how_the_bytes_are_cut() {
    for recording in recordings() {
        let whole = frames(recording.seal, [recording.bytes.as_slice()]);
        assert!(whole.len() > 3, "{}", recording.name);
        let single = frames(recording.seal, recording.bytes.chunks(1));
        assert_eq!(whole, single, "{}", recording.name);
        for size in [2, 3, 5, 7, 11, 13, 1000] {
            let pieces = frames(recording.seal, recording.bytes.chunks(size));
            assert_eq!(whole, pieces, "{} in pieces of {size}", recording.name);
        }
    }
}

#[test]
fn a_cut_at_any_byte_changes_nothing() {
    for recording in recordings() {
        // The beginning has the login with its telnet bytes and prompts, the end has games.
        for part in
            [&recording.bytes[..recording.bytes.len().min(3_000)], recording.bytes.as_slice()]
        {
            let part = &part[part.len().saturating_sub(4_000)..];
            let whole = frames(recording.seal, [part]);
            for cut in 0..part.len() {
                let (one, other) = part.split_at(cut);
                assert_eq!(
                    whole,
                    frames(recording.seal, [one, other]),
                    "{} at {cut}",
                    recording.name
                );
            }
        }
    }
}

#[test]
fn every_session_begins_with_its_prompts() {
    for recording in recordings() {
        let frames = frames(recording.seal, [recording.bytes.as_slice()]);
        let prompts = frames.iter().filter_map(|frame| match frame {
            Frame::Prompt(prompt) => Some(*prompt),
            _ => None,
        });
        let prompts: Vec<Prompt> = prompts.collect();
        assert_eq!(prompts[0], Prompt::Login, "{}", recording.name);
        assert!(prompts.contains(&Prompt::Command), "{}", recording.name);
        let begins = |frame: &&Frame| {
            matches!(frame, Frame::Line(line)
                if matches!(ServerLine::parse(line), ServerLine::SessionBegins(_)))
        };
        assert_eq!(frames.iter().filter(begins).count(), 1, "{}", recording.name);
    }
}

#[test]
fn pings_of_both_versions_are_found() {
    let pings = |version| {
        let sealed = recordings().into_iter().filter(|recording| recording.seal == Some(version));
        let frames =
            sealed.flat_map(|recording| frames(recording.seal, [recording.bytes.as_slice()]));
        frames.filter(|frame| *frame == Frame::Ping).count()
    };
    assert_eq!(pings(timeseal::Version::V1), 2);
    assert_eq!(pings(timeseal::Version::V2), 2);
}

#[test]
fn every_board_is_read_and_every_tagged_line_known() {
    let mut seen = 0;
    for recording in recordings() {
        for frame in frames(recording.seal, [recording.bytes.as_slice()]) {
            let Frame::Line(line) = frame else { continue };
            let must_be_known = ["<12> ", "<pf> ", "<pt> ", "<pr> ", "{Game "]
                .iter()
                .any(|beginning| line.starts_with(beginning));
            if must_be_known {
                seen += 1;
                assert_ne!(ServerLine::parse(&line), ServerLine::Other, "{line}");
            }
        }
    }
    assert!(seen > 200, "{seen}");
}

/// Each connection's games, played by our own rules move by move: the server's boards must be ours.
#[test]
fn our_rules_agree_with_every_board() {
    let mut compared = 0;
    for recording in recordings() {
        let mut history: Option<History> = None;
        for board in boards(&lines(&recording)) {
            assert_ne!(board.relation, Relation::NotOurs);
            let shown = rules::position(&board).expect("a position that our rules know");
            let known = history.as_ref().map(|history| history.moves().len());
            let next = match (&mut history, board.last_move) {
                (Some(history), Some(last)) if known.map(|ply| ply + 1) == Some(board.ply()) => {
                    history.play_uci(&last.uci(!board.turn)).expect("a legal move");
                    compared += 1;
                    true
                }
                _ => known == Some(board.ply()),
            };
            match &history {
                Some(history) if next => {
                    assert!(rules::is_shown_by(history.position(), &board), "{board:?}");
                }
                // A new game, a takeback, or one that goes on.
                _ => history = Some(History::new(shown)).filter(|_| board.ply() == 0),
            }
        }
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn the_ends_of_all_games_are_understood() {
    let ends = all_lines().into_iter().filter_map(|line| match line {
        ServerLine::GameEnds(GameEnd { reason, winner, .. }) => Some((reason, winner)),
        _ => None,
    });
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (reason, winner) in ends {
        assert!(!matches!(reason, EndReason::Other(_)), "{reason}");
        let winner = winner.map_or("nobody", |winner| match winner {
            Color::White => "white",
            Color::Black => "black",
        });
        *counts.entry(format!("{reason}, {winner}")).or_default() += 1;
    }
    for end in [
        "king exploded, white",
        "draw, nobody",
        "aborted, nobody",
        "resignation, white",
        "resignation, black",
        "adjourned, nobody",
        "out of time, black",
        "player left, white",
    ] {
        assert!(counts.contains_key(end), "{end} is not among {counts:?}");
    }
}

#[test]
fn what_a_bot_needs_to_hear_is_heard() {
    let lines = all_lines();
    let has = |is_it: &dyn Fn(&ServerLine) -> bool| lines.iter().any(is_it);
    assert!(has(&|line| *line == ServerLine::Refused(Refusal::Password)));
    let refusals = texts().iter().filter_map(|text| refusal_at_login(text)).collect::<Vec<_>>();
    assert!(refusals.contains(&Refusal::Name), "{refusals:?}");
    assert!(has(&|line| *line == ServerLine::Refused(Refusal::Replaced)));
    assert!(has(&|line| *line == ServerLine::PressReturn));
    assert!(has(&|line| *line == ServerLine::IsSet("nowrap".to_owned())));
    assert!(has(&|line| *line == ServerLine::IsComputer("AtomBot".to_owned())));
    assert!(has(&|line| *line == ServerLine::AdjournedWith(vec!["Alice".to_owned()])));
    assert!(has(&|line| *line == ServerLine::AdjournedWith(vec!["AtomBot".to_owned()])));
    assert!(has(&|line| matches!(line, ServerLine::InvitationRefused(_))));
    assert!(has(&|line| *line == ServerLine::MoveListBegins(1)));
    for refusal in [MoveRefusal::Illegal, MoveRefusal::NotOurTurn, MoveRefusal::NoGame] {
        assert!(has(&|line| *line == ServerLine::MoveRefused(refusal)), "{refusal:?}");
    }
    assert!(has(&|line| matches!(
        line,
        ServerLine::GameBegins(GameBegins { is_resumed: true, .. })
    )));
    for channel in [Channel::Tell, Channel::Say, Channel::Kibitz] {
        assert!(has(&|line| matches!(line, ServerLine::Said(said) if said.channel == channel)));
    }
    let adjourned = |line: &ServerLine| {
        let ServerLine::OfferTo(offer) = line else { return false };
        matches!(&offer.kind, OfferKind::Match(Some(terms)) if terms.is_adjourned)
    };
    assert!(has(&adjourned));
}

#[test]
fn lines_that_are_broken_by_width_are_whole_again() {
    let in_blocks = recordings().into_iter().find(|recording| recording.name.starts_with("t4/A"));
    let found = boards(&lines(&in_blocks.expect("the connection with blocks")));
    // Its boards came in three parts each.
    assert!(found.len() >= 4, "{}", found.len());
    assert!(found.iter().all(|board| board.players[0] == "GuestSHGW"));
}
