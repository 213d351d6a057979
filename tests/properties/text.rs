//! The notations of the rules: FEN, EPD, moves in UCI notation, SAN.

use meitner::rules::{CastlingNotation, Epd, Move, Position, UciMove};

use super::{
    board::check_position,
    source::{Source, lines_of, position_seeds},
};

/// Any text is refused with a sentence, or is a position of which everything holds.
pub(super) fn fen(data: &[u8]) {
    match Position::from_fen(&String::from_utf8_lossy(data)) {
        Ok(position) => check_position(&position),
        Err(error) => check_sentence(&error),
    }
}

/// Any text is refused with a sentence, or says the same once it is written and read again.
pub(super) fn epd(data: &[u8]) {
    let epd: Epd = match String::from_utf8_lossy(data).parse() {
        Ok(epd) => epd,
        Err(error) => return check_sentence(&error),
    };
    assert_eq!(epd.to_string().parse().as_ref(), Ok(&epd), "{epd}");
    if let Err(error) = epd.perft_counts() {
        check_sentence(&error);
    }
    for operation in &epd.operations {
        assert_eq!(epd.operands(&operation.opcode), Some(&operation.operands[..]));
        match epd.number::<i64>(&operation.opcode) {
            Ok(number) => assert!(number.is_some()),
            Err(error) => check_sentence(&error),
        }
        match epd.moves(&operation.opcode) {
            Ok(moves) => assert!(moves.iter().all(|&mv| epd.position.is_legal(mv))),
            Err(error) => check_sentence(&error),
        }
    }
}

/// One line of each suite of the tests, and one with everything.
pub(super) fn epd_seeds() -> Vec<Vec<u8>> {
    let suites = [
        include_str!("../data/atomic.epd"),
        include_str!("../data/atomic960.epd"),
        include_str!("../data/terminal.epd"),
        include_str!("../data/atomic-mates.epd"),
    ];
    let mut seeds: Vec<Vec<u8>> = suites.iter().flat_map(|suite| lines_of(suite)).collect();
    seeds.truncate(60);
    seeds.extend(suites.iter().flat_map(|suite| lines_of(suite).into_iter().take(4)));
    seeds.push(
        b"k7/8/8/8/8/8/8/K6R w - - hmvc 3; fmvn 9; bm Rh8 h1h7; am Kb2; ce -12; id \"a; b\";"
            .to_vec(),
    );
    seeds
}

/// A move is read exactly if it is legal, in each way to write it; any other text is refused.
pub(super) fn uci_move(data: &[u8]) {
    let mut source = Source(data);
    let Some(position) = source.position() else { return };
    let moves = position.legal_moves();
    for &mv in &moves {
        assert_eq!(position.parse_uci(&mv.to_string()), Ok(mv), "{position:?}");
        // Two squares to the side name castling without doubt for a king on its usual file.
        let is_usual = mv.is_castling() && mv.from().file() == 4;
        if is_usual || !mv.is_castling() {
            let text = mv.uci(CastlingNotation::KingTwoSquares);
            assert_eq!(position.parse_uci(&text), Ok(mv), "{text} in {position:?}");
        }
    }
    for pair in source.0.chunks_exact(2).take(32) {
        let mv = Move::from_bits(u16::from_le_bytes([pair[0], pair[1]]));
        check_uci_text(&position, &moves, &mv.to_string());
    }
    check_uci_text(&position, &moves, &source.text());
}

fn check_uci_text(position: &Position, moves: &[Move], text: &str) {
    let is_written_as = |mv: &Move| {
        let notations = [CastlingNotation::KingToRook, CastlingNotation::KingTwoSquares];
        notations.into_iter().any(|notation| mv.uci(notation).eq_ignore_ascii_case(text))
    };
    match position.parse_uci(text) {
        Ok(mv) => {
            assert!(moves.contains(&mv), "{text} in {position:?}");
            let is_queen_implied = mv.to_string() == format!("{text}q");
            assert!(is_queen_implied || is_written_as(&mv), "{text} is {mv} in {position:?}");
        }
        Err(error) => {
            check_sentence(&error);
            let hidden = moves.iter().any(|mv| mv.to_string() == text);
            assert!(!hidden, "{text} in {position:?}");
        }
    }
    if let Ok(UciMove { from, to, .. }) = text.parse() {
        assert!(text.starts_with(&format!("{from}{to}")));
    }
}

/// Each legal move is read back from its SAN, with and without what may be left out; any other
/// text is a legal move or is refused.
pub(super) fn san(data: &[u8]) {
    let mut source = Source(data);
    let Some(position) = source.position() else { return };
    for mv in position.legal_moves() {
        let san = position.san(mv);
        let bare = san.trim_end_matches(['+', '#']);
        for text in [&san, bare, &format!("{bare}!?"), &bare.replace('x', "")] {
            assert_eq!(position.parse_san(text), Ok(mv), "{text} in {position:?}");
        }
    }
    match position.parse_san(&source.text()) {
        Ok(mv) => assert!(position.is_legal(mv)),
        Err(error) => check_sentence(&error),
    }
}

/// A position and a text, of those that a move may look like.
pub(super) fn san_seeds() -> Vec<Vec<u8>> {
    let texts = ["Nxf7#", "O-O-O", "0-0", "exd6", "gxh1=Q+", "R1a3", "Nb1xc3!?", "Kd5", "b8=N"];
    let positions = position_seeds().into_iter().enumerate();
    positions.map(|(index, seed)| [&seed[..2], texts[index % 9].as_bytes()].concat()).collect()
}

/// An error is one line that says something.
fn check_sentence(error: &dyn std::error::Error) {
    assert!(!error.to_string().trim().is_empty(), "{error:?}");
}
