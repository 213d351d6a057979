//! What a FICS server sends.

use meitner::platform::fics::{
    line::ServerLine,
    rules, timeseal,
    wire::{Decoder, Frame},
};

const SESSION: &str = include_str!("../data/fics/session.txt");
/// The longest seed, in lines of the recording.
const SEED_LINES: usize = 60;

/// No bytes make a panic, frames do not depend on the cuts, and what a line says can be used.
pub(super) fn fics(data: &[u8]) {
    for seal in [None, Some(timeseal::Version::V1), Some(timeseal::Version::V2)] {
        let whole = frames(seal, data, data.len().max(1));
        assert_eq!(whole, frames(seal, data, 1));
        for frame in whole.into_iter().flatten() {
            let Frame::Line(line) = frame else { continue };
            assert!(!line.is_empty() && !line.contains(|letter: char| letter < ' '));
            if let ServerLine::Board(board) = ServerLine::parse(&line) {
                let _ = board.ply();
                if let Some(last) = board.last_move {
                    assert!(last.uci(board.turn).is_ascii());
                }
                if let Ok(position) = rules::position(&board) {
                    assert!(rules::is_shown_by(&position, &board), "{line}");
                }
            }
            let encoded = timeseal::encode(&line, 1);
            assert_eq!(encoded.last(), Some(&b'\n'));
        }
    }
}

fn frames(seal: Option<timeseal::Version>, data: &[u8], size: usize) -> Option<Vec<Frame>> {
    let mut decoder = Decoder::new(seal);
    let mut out = Vec::new();
    for piece in data.chunks(size) {
        decoder.read(piece, &mut out).ok()?;
    }
    out.extend(decoder.release());
    Some(out)
}

/// The recorded session in pieces.
pub(super) fn fics_seeds() -> Vec<Vec<u8>> {
    let received: Vec<&str> =
        SESSION.lines().filter_map(|line| Some(line.split_once(" < ")?.1)).collect();
    let seed = |lines: &[&str]| {
        let text = lines.concat();
        let text = text.replace("\\n", "\n").replace("\\r", "\r");
        text.replace("\\xff", "\u{ff}").chars().map(|letter| letter as u8).collect()
    };
    received.chunks(SEED_LINES).map(seed).collect()
}
