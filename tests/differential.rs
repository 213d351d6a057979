//! Seeded random games against an independent rules library: at every ply the same legal moves,
//! check, outcome, FEN and SAN; and at every ply what the parts of our own core promise each other.
//!
//! `DIFFERENTIAL_POSITIONS` sets how many positions are compared; the default suits a debug build.
//! What the games met is counted, and must not fall below a bound for any case that the rules make
//! special, so that a change of the games cannot blind this test unnoticed.

#![allow(clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::cast_possible_truncation, reason = "squares are below 64")]

#[path = "differential/coverage.rs"]
mod coverage;
mod random_games;

use std::collections::HashMap;

use coverage::Coverage;
use fastrand::Rng;
use meitner::rules::{
    Bitboard, Color, DrawReason, History, Kind, Move, Outcome, Position, Role, Square, WinReason,
    attacks,
};
use random_games::{SHARE, choose, play_shares, position_count, start_fen};
use shakmaty::{
    CastlingMode, EnPassantMode, Move as OracleMove, Position as _, PositionError,
    PositionErrorKinds,
    fen::Fen,
    san::{San, SanPlus},
    uci::UciMove,
    variant::Atomic,
};

const DEFAULT_POSITIONS: u64 = 200_000;
const LONGEST_GAME: usize = 100;

#[test]
fn random_games_agree_with_the_oracle() {
    let count = position_count("DIFFERENTIAL_POSITIONS", DEFAULT_POSITIONS);
    let coverage = play_shares(count, play_share).into_iter().sum::<Coverage>();
    println!("{coverage}");
    assert!(coverage.positions() >= count);
    coverage.check();
}

/// Plays games from one seed until their positions make up a share.
fn play_share(seed: u64) -> Coverage {
    let mut random = Rng::with_seed(seed);
    let mut coverage = Coverage::default();
    let mut keys = Keys::default();
    while coverage.positions() < SHARE {
        let fen = start_fen(&mut random);
        let (start, oracle) = match (Position::from_fen(&fen), oracle(&fen)) {
            (Ok(start), Ok(oracle)) => (start, oracle),
            // Of promoted men the oracle counts a second bishop of one color, we only a third bishop.
            (Err(_), Err(_)) | (Ok(_), Err(PositionErrorKinds::TOO_MUCH_MATERIAL)) => continue,
            (ours, theirs) => panic!("{fen} is {ours:?} for us, {theirs:?} for the oracle"),
        };
        play_game(start, oracle, &mut random, &mut coverage, &mut keys);
    }
    coverage
}

fn oracle(fen: &str) -> Result<Atomic, PositionErrorKinds> {
    let setup: Fen = fen.parse().expect("FEN in form");
    let position = setup.into_position(CastlingMode::Chess960);
    // Checks that no last move can have given are played from all the same.
    position.or_else(PositionError::ignore_impossible_check).map_err(|error| error.kinds())
}

fn play_game(
    start: Position,
    mut oracle: Atomic,
    random: &mut Rng,
    coverage: &mut Coverage,
    keys: &mut Keys,
) {
    let mut history = History::new(start);
    let mut seen: Vec<String> = Vec::new();
    for ply in 0..LONGEST_GAME {
        let position = history.position();
        let facts = compare(position, &oracle);
        keys.check(position, &facts);
        seen.push(facts);
        let occurrences = seen.iter().filter(|facts| Some(*facts) == seen.last()).count();
        // A capture or a pawn move begins the count anew, and nothing before it can come back.
        assert_eq!(history.occurrences(), occurrences, "{position:?}");
        if random.u8(..4) == 0 {
            check_pseudo_moves(position);
        }
        if random.u8(..16) == 0 {
            compare_every_move(position, &oracle);
        }
        if random.u16(..2048) == 0 {
            check_every_bit_pattern(position);
        }
        coverage.count(&history);

        // A drawn position is played on from, but not for long.
        if position.draw_on_the_board().is_some() && random.u8(..8) == 0 {
            break;
        }
        let own_last = ply.checked_sub(2).and_then(|ply| history.moves().get(ply)).copied();
        let Some(mv) = choose(position, own_last, random) else { break };
        let theirs = oracle_move(&oracle, mv);
        compare_move(position, &oracle, mv, theirs);
        history.play(mv).expect("the move is legal");
        oracle.play_unchecked(theirs);
    }
}

/// Compares all that two cores say of a position. Returns what makes it the same as another: its
/// FEN without the counters.
fn compare(position: &Position, oracle: &Atomic) -> String {
    let fen = position.fen();
    assert_eq!(fen, Fen::from_position(oracle, EnPassantMode::Legal).to_string());
    assert_eq!(Position::from_fen(&fen).as_ref(), Ok(position), "read again");
    let checkers = u64::from(oracle.checkers());
    assert_eq!(position.checkers(), Bitboard(checkers), "{position:?}");
    assert_eq!(position.generator().checkers(), Bitboard(checkers), "{position:?}");
    assert_eq!(position.is_check(), oracle.is_check(), "{position:?}");

    let legal = check_moves(position);
    let mut expected: Vec<u16> = oracle.legal_moves().iter().map(|mv| bits(*mv)).collect();
    expected.sort_unstable();
    assert_eq!(moves(&legal), moves(&expected), "{position:?}");
    compare_outcome(position, oracle);
    fen.rsplitn(3, ' ').last().expect("a FEN has fields").to_owned()
}

/// Moves as text, for a message that can be read.
fn moves(bits: &[u16]) -> Vec<Move> {
    bits.iter().map(|&bits| Move::from_bits(bits)).collect()
}

/// Checks that our own functions agree on the legal moves. Returns them in order.
fn check_moves(position: &Position) -> Vec<u16> {
    let (legal, captures) = (position.legal_moves(), position.captures());
    let mut quiets = captures.clone();
    quiets.clear();
    position.generator().quiets(&mut quiets);
    assert!(captures.iter().all(|mv| mv.is_capture()), "{position:?}");
    assert!(quiets.iter().all(|mv| !mv.is_capture()), "{position:?}");
    assert_eq!(position.generator().count(), legal.len() as u64, "{position:?}");
    let mut split: Vec<u16> = captures.iter().chain(&quiets).map(|mv| mv.to_bits()).collect();
    let mut legal: Vec<u16> = legal.iter().map(|mv| mv.to_bits()).collect();
    split.sort_unstable();
    legal.sort_unstable();
    assert_eq!(moves(&legal), moves(&split), "{position:?}");
    assert!(legal.windows(2).all(|pair| pair[0] < pair[1]), "a move comes twice: {position:?}");
    legal
}

/// Checks that a move is legal exactly if it is in the list, for whatever could look like a move.
fn check_pseudo_moves(position: &Position) {
    let (generator, legal) = (position.generator(), position.legal_moves());
    let mut found = 0;
    for_every_pseudo_move(position, |mv| {
        let is_legal = generator.is_legal(mv);
        assert!(!is_legal || legal.contains(&mv), "{mv:?} in {position:?}");
        found += usize::from(is_legal);
    });
    assert_eq!(found, legal.len(), "legal moves that is_legal refuses: {position:?}");
}

/// Calls with every move that some rule might allow, and many that none does.
fn for_every_pseudo_move(position: &Position, mut call: impl FnMut(Move)) {
    const KINDS: [Kind; 7] = [
        Kind::Normal,
        Kind::PromoteToKnight,
        Kind::PromoteToBishop,
        Kind::PromoteToRook,
        Kind::PromoteToQueen,
        Kind::Castling,
        Kind::EnPassant,
    ];
    for from in position.side(position.turn()) {
        let role = position.piece_on(from).expect("occupied").role;
        let targets = match role {
            Role::Pawn => attacks::king(from) | (attacks::rook(from, Bitboard::EMPTY)),
            Role::Knight => attacks::knight(from),
            _ => attacks::queen(from, Bitboard::EMPTY),
        };
        let kinds = match role {
            Role::Pawn => &KINDS[..],
            Role::King => &[Kind::Normal, Kind::Castling][..],
            _ => &[Kind::Normal][..],
        };
        for to in targets {
            for &kind in kinds {
                call(move_of(from, to, kind, false));
                call(move_of(from, to, kind, true));
            }
        }
    }
}

/// The move with these parts, by the documented layout of its bits.
fn move_of(from: Square, to: Square, kind: Kind, is_capture: bool) -> Move {
    let bits = from.index() | to.index() << 6 | (kind as usize) << 12;
    Move::from_bits(bits as u16 | u16::from(is_capture) << 15)
}

fn check_every_bit_pattern(position: &Position) {
    let (generator, moves) = (position.generator(), position.legal_moves());
    let legal = (0..=u16::MAX).filter(|&bits| generator.is_legal(Move::from_bits(bits))).count();
    assert_eq!(legal, moves.len(), "{position:?}");
}

/// The oracle's move in our bits.
fn bits(mv: OracleMove) -> u16 {
    let square = |square: shakmaty::Square| Square::new(u8::from(square));
    let promoted = |role| match role {
        None => Kind::Normal,
        Some(shakmaty::Role::Knight) => Kind::PromoteToKnight,
        Some(shakmaty::Role::Bishop) => Kind::PromoteToBishop,
        Some(shakmaty::Role::Rook) => Kind::PromoteToRook,
        Some(_) => Kind::PromoteToQueen,
    };
    let mv = match mv {
        OracleMove::Normal { from, capture, to, promotion, .. } => {
            move_of(square(from), square(to), promoted(promotion), capture.is_some())
        }
        OracleMove::EnPassant { from, to } => {
            move_of(square(from), square(to), Kind::EnPassant, true)
        }
        OracleMove::Castle { king, rook } => {
            move_of(square(king), square(rook), Kind::Castling, false)
        }
        OracleMove::Put { .. } => panic!("nothing is put in atomic"),
    };
    mv.to_bits()
}

fn oracle_move(oracle: &Atomic, mv: Move) -> OracleMove {
    let uci: UciMove = mv.to_string().parse().expect("UCI");
    uci.to_move(oracle).unwrap_or_else(|_| panic!("the oracle does not know {mv}"))
}

/// Compares the outcome. The oracle differs from lichess, which decides, in exactly three ways: it
/// has no fifty-move rule, it has no closed positions, and it draws any number of bishops on
/// opposite colors where lichess stops at four men. `tests/naive.rs` holds these against the
/// written rules.
fn compare_outcome(position: &Position, oracle: &Atomic) {
    let expected = oracle.outcome();
    let is_many_bishops = oracle.is_insufficient_material() && position.occupied().len() > 4;
    match position.outcome() {
        Some(Outcome::Win { winner, by }) => {
            let oracle_winner = expected.winner().map(|color| color.to_string());
            assert_eq!(oracle_winner, Some(winner.to_string()), "{position:?}");
            assert_eq!(oracle.is_checkmate(), by == WinReason::Checkmate, "{position:?}");
            assert_eq!(oracle.is_variant_end(), by == WinReason::Explosion, "{position:?}");
        }
        Some(Outcome::Draw(DrawReason::Stalemate)) => {
            assert!(oracle.is_stalemate(), "{position:?}");
        }
        Some(Outcome::Draw(DrawReason::InsufficientMaterial)) => {
            assert!(oracle.is_insufficient_material() && !is_many_bishops, "{position:?}");
        }
        Some(Outcome::Draw(DrawReason::ClosedPosition)) => {
            assert!(expected.is_unknown(), "{position:?}");
        }
        Some(Outcome::Draw(DrawReason::FiftyMoves)) => {
            assert!(expected.is_unknown() || is_many_bishops, "{position:?}");
            assert!(oracle.halfmoves() >= 100, "{position:?}");
        }
        Some(Outcome::Draw(DrawReason::Threefold)) => panic!("a position knows no repetition"),
        None => {
            assert!(expected.is_unknown() || is_many_bishops, "{position:?}");
            assert!(oracle.halfmoves() < 100, "{position:?}");
        }
    }
    for (color, theirs) in Color::ALL.into_iter().zip(shakmaty::Color::ALL) {
        let is_over = position.king(!color).is_none();
        let is_bare = position.has_bare_king(color) && !is_over;
        assert!(!is_bare || oracle.has_insufficient_material(theirs), "{position:?}");
    }
    let can_win = position.legal_moves().iter().any(|&mv| {
        position.king(!position.turn()).is_some_and(|king| position.explosion(mv).contains(king))
    });
    assert_eq!(position.generator().can_explode_king(), can_win, "{position:?}");
}

/// Compares how a move is written and what it empties.
fn compare_move(position: &Position, oracle: &Atomic, mv: Move, theirs: OracleMove) {
    let san = position.san(mv);
    assert_eq!(san, SanPlus::from_move(oracle.clone(), theirs).to_string(), "{position:?}");
    assert_eq!(position.parse_san(&san), Ok(mv), "{position:?}");
    let read: San = san.trim_end_matches(['+', '#']).parse().expect("the oracle reads our SAN");
    assert_eq!(read.to_move(oracle), Ok(theirs), "{san} in {position:?}");
    assert_eq!(position.parse_uci(&mv.to_string()), Ok(mv), "{position:?}");

    let mut after = oracle.clone();
    after.play_unchecked(theirs);
    let emptied = u64::from(oracle.board().occupied() & !after.board().occupied());
    if mv.is_capture() {
        // What explodes was there, but for the square en passant lands on.
        let explosion = position.explosion(mv) & position.occupied();
        assert_eq!(explosion, Bitboard(emptied), "{mv} in {position:?}");
    } else {
        assert!(position.explosion(mv).is_empty(), "{mv} in {position:?}");
    }
}

fn compare_every_move(position: &Position, oracle: &Atomic) {
    for &mv in &position.legal_moves() {
        let theirs = oracle_move(oracle, mv);
        compare_move(position, oracle, mv, theirs);
        let next = position.after(mv);
        let mut oracle = oracle.clone();
        oracle.play_unchecked(theirs);
        assert_eq!(next.fen(), Fen::from_position(&oracle, EnPassantMode::Legal).to_string());
    }
}

/// The keys of a share's positions: equal exactly for equal positions.
#[derive(Default)]
struct Keys {
    by_facts: HashMap<String, u64>,
    by_key: HashMap<u64, String>,
}

impl Keys {
    fn check(&mut self, position: &Position, facts: &str) {
        let key = *self.by_facts.entry(facts.to_owned()).or_insert(position.key());
        assert_eq!(position.key(), key, "two keys for {position:?}");
        let known = self.by_key.entry(position.key()).or_insert_with(|| facts.to_owned());
        assert_eq!(known, facts, "one key for two positions");
    }
}
