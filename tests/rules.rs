//! R1 to R23: each statement of the rulebook as a position. The traps that lie between them stand in
//! `rules/traps.rs`.

#![allow(clippy::panic, reason = "a test fails by panicking")]

#[path = "rules/traps.rs"]
mod traps;

use meitner::rules::{
    Color, DrawReason, Epd, History, Outcome, Position, Square, WinReason, perft,
};

fn position(fen: &str) -> Position {
    Position::from_fen(fen).unwrap_or_else(|error| panic!("{fen}: {error}"))
}

fn play(fen: &str, uci: &str) -> Position {
    let before = position(fen);
    before.after(before.parse_uci(uci).unwrap_or_else(|error| panic!("{error}")))
}

fn is_legal(fen: &str, uci: &str) -> bool {
    position(fen).parse_uci(uci).is_ok()
}

fn square(name: &str) -> Square {
    name.parse().expect("a square")
}

fn is_empty(position: &Position, name: &str) -> bool {
    position.piece_on(square(name)).is_none()
}

/// Plays a line of SAN from the start.
fn line(sans: &str) -> History {
    let mut history = History::default();
    for san in sans.split_whitespace() {
        let mv = history.position().parse_san(san).unwrap_or_else(|error| panic!("{error}"));
        history.play(mv).expect("parsed moves are legal");
    }
    history
}

const EXPLOSIVE: &str = "r1bqkb1r/ppp1pp1p/2n2np1/3pN3/3P4/2N5/PPP1PPPP/R1BQKB1R w KQkq - 0 5";
const WHITE_WINS_BY_EXPLOSION: Option<Outcome> =
    Some(Outcome::Win { winner: Color::White, by: WinReason::Explosion });

#[test]
fn r1_a_capture_takes_along_every_neighbor_but_pawns() {
    assert_eq!(
        play(EXPLOSIVE, "c3d5").fen(),
        "r1bqkb1r/ppp1pp1p/5np1/8/3P4/8/PPP1PPPP/R1BQKB1R b KQkq - 0 5"
    );
}

#[test]
fn r2_exploding_the_king_wins_at_once() {
    let over = play(EXPLOSIVE, "e5f7");
    assert_eq!(over.outcome(), WHITE_WINS_BY_EXPLOSION);
    assert!(over.legal_moves().is_empty());
    assert!(is_empty(&over, "e8") && is_empty(&over, "f8") && is_empty(&over, "f6"));
}

#[test]
fn r3_a_capturing_pawn_and_a_captured_pawn_go() {
    let by_pawn = play("4k3/8/8/3n4/4P3/8/8/4K3 w - - 0 1", "e4d5");
    assert!(is_empty(&by_pawn, "e4") && is_empty(&by_pawn, "d5"));
    let of_pawn = play("4k3/8/8/3p4/4P3/2p5/8/4K2B w - - 0 1", "e4d5");
    assert!(is_empty(&of_pawn, "e4") && is_empty(&of_pawn, "d5"));
    assert!(!is_empty(&of_pawn, "c3") && !is_empty(&of_pawn, "h1"));
}

#[test]
fn r4_en_passant_explodes_where_the_pawn_lands() {
    let after = play("4k3/8/2n1n3/2Pp4/2r5/8/8/4K3 w - d6 0 1", "c5d6");
    for name in ["c5", "d5", "c6", "e6", "d6"] {
        assert!(is_empty(&after, name), "{name}");
    }
    assert!(!is_empty(&after, "c4"));
    assert_eq!(after.turn(), Color::Black);
}

#[test]
fn r5_a_quiet_move_does_nothing_unusual() {
    let before = Position::initial();
    let mv = before.parse_uci("g1f3").expect("legal");
    assert!(before.explosion(mv).is_empty());
    assert_eq!(
        before.after(mv).fen(),
        "rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R b KQkq - 1 1"
    );
}

#[test]
fn r6_a_king_never_captures() {
    for suite in [include_str!("data/atomic.epd"), include_str!("data/atomic960.epd")] {
        for line in suite.lines() {
            let Epd { position: start, .. } =
                line.parse().unwrap_or_else(|error| panic!("{line}: {error}"));
            for mv in start.legal_moves() {
                let next = start.after(mv);
                for reply in next.legal_moves() {
                    let is_king = next.king(next.turn()) == Some(reply.from());
                    assert!(!is_king || !reply.is_capture(), "{reply} in {next:?}");
                    let target = next.piece_on(reply.to()).map(|piece| piece.color);
                    assert!(!is_king || target.is_none() || reply.is_castling());
                }
            }
        }
    }
}

#[test]
fn r7_exploding_the_own_king_is_illegal() {
    assert!(!is_legal("8/p5pp/2p5/5pK1/3P2k1/8/PP4PP/5R2 w - - 0 1", "f1f5"));
}

#[test]
fn r8_there_is_no_check_while_the_kings_touch() {
    let touching = position("3r4/8/8/3k4/3K4/8/8/7R w - - 0 1");
    assert!(touching.kings_touch());
    assert!(!touching.is_check());
    assert_eq!(touching.legal_moves().len(), 21);
}

#[test]
fn r9_the_diagram_of_the_knight_on_b7() {
    assert_eq!(
        play("rnb5/pp4pp/2p5/N4pK1/3P2k1/8/PP4PP/5R2 w - - 0 1", "a5b7").fen(),
        "8/p5pp/2p5/5pK1/3P2k1/8/PP4PP/5R2 b - - 0 1"
    );
}

#[test]
fn r10_check_must_be_answered() {
    let checked = position("rnb1kbnr/pppp1ppp/4p3/8/5P1q/2N5/PPPPP1PP/R1BQKBNR w KQkq - 2 3");
    assert!(checked.is_check());
    let moves: Vec<String> = checked.legal_moves().iter().map(ToString::to_string).collect();
    assert_eq!(moves, ["g2g3"]);
}

#[test]
fn r11_exploding_the_checkers_neighbor_answers_the_check() {
    // The rook on e8 checks; its neighbor on d7 can be captured, not the rook itself.
    let fen = "4r2k/3n4/8/8/8/8/8/3RK3 w - - 0 1";
    assert!(position(fen).is_check());
    let after = play(fen, "d1d7");
    assert!(is_empty(&after, "e8") && is_empty(&after, "d7"));
}

#[test]
fn r12_an_attack_on_a_neighbor_is_no_check() {
    let indirect = position("r1bqkb1r/pppp1ppp/2n5/4p3/2B1P3/2N5/PPPP1PPP/R1BQK1NR b KQkq - 3 3");
    assert!(!indirect.is_check());
    assert_eq!(indirect.legal_moves().len(), 29);
}

#[test]
fn r13_exploding_the_king_wins_even_when_mated() {
    let fen = "8/8/6Qk/8/2b5/8/P7/1K6 b - - 0 1";
    let mated = position(fen);
    assert!(mated.is_check());
    let moves: Vec<String> = mated.legal_moves().iter().map(ToString::to_string).collect();
    assert_eq!(moves, ["c4a2"]);
    assert!(mated.generator().can_explode_king());
    assert_eq!(
        play(fen, "c4a2").outcome(),
        Some(Outcome::Win { winner: Color::Black, by: WinReason::Explosion })
    );
}

#[test]
fn r14_a_queen_mates_unaided() {
    let mated = position("8/8/6Qk/8/8/8/8/1K6 b - - 0 1");
    assert!(mated.is_check());
    assert!(mated.legal_moves().is_empty());
    assert_eq!(
        mated.outcome(),
        Some(Outcome::Win { winner: Color::White, by: WinReason::Checkmate })
    );
}

#[test]
fn r15_the_line_nxc7() {
    assert_eq!(
        line("Nc3 d6 Nd5 e5 Nxc7").position().fen(),
        "r3kbnr/pp3ppp/3p4/4p3/8/8/PPPPPPPP/R1BQKBNR b KQkq - 0 3"
    );
}

#[test]
fn r16_the_knight_on_f7_takes_the_queen_along() {
    let fork = line("Nf3 d6 Ng5 f6 Nf7");
    assert!(fork.position().parse_uci("e8f7").is_err(), "a king never captures");
    let after = line("Nf3 d6 Ng5 f6 Nf7 Qd7 Nxd6");
    assert!(is_empty(after.position(), "d7"));
}

#[test]
fn r17_the_explosions_behind_nf3() {
    // What the searcher must find stands in tests/search.rs; here that the wins are on the board.
    for reply in ["d5", "h6", "Nh6"] {
        let mut history = line(&format!("Nf3 {reply} Ne5 a6"));
        history.play_uci("e5f7").expect("f7 falls");
        assert_eq!(history.outcome(), WHITE_WINS_BY_EXPLOSION);
    }
}

#[test]
fn r18_a_rook_in_a_blast_takes_its_right_along() {
    assert_eq!(
        play("r3k2r/8/8/8/8/6n1/6PP/R3K2R b KQkq - 0 1", "g3h1").fen(),
        "r3k2r/8/8/8/8/8/6PP/R3K3 w Qkq - 0 2"
    );
}

#[test]
fn r19_castling_double_step_and_promotion() {
    assert_eq!(
        play("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1g1").fen(),
        "4k3/8/8/8/8/8/8/R4RK1 b - - 1 1"
    );
    // The square passed is noted only where a capture there is legal.
    assert_eq!(
        play("4k3/8/8/8/3p4/8/4P3/4K3 w - - 0 1", "e2e4").fen(),
        "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1"
    );
    let promoted = play("4k2n/6P1/8/8/8/8/8/4K3 w - - 0 1", "g7h8q");
    assert!(is_empty(&promoted, "h8") && is_empty(&promoted, "g7"), "a capture explodes");
    assert_eq!(perft(&Position::initial(), 3), 8902);
}

#[test]
fn r20_checkmate_wins() {
    let mate = position("k7/1R6/8/8/8/8/PP6/K6r w - - 0 1");
    assert_eq!(
        mate.outcome(),
        Some(Outcome::Win { winner: Color::Black, by: WinReason::Checkmate })
    );
}

#[test]
fn r21_stalemate_draws() {
    let stalemate = position("k7/2Q5/8/8/8/8/8/K7 b - - 0 1");
    assert_eq!(stalemate.outcome(), Some(Outcome::Draw(DrawReason::Stalemate)));
}

#[test]
fn r22_threefold_and_fifty_moves_draw_by_themselves() {
    let mut history = line("Nf3 f6 Ng1 Nh6 Nf3 Ng8");
    assert_eq!(history.occurrences(), 2);
    assert_eq!(history.outcome(), None);
    for uci in ["f3g1", "g8h6", "g1f3", "h6g8"] {
        assert_eq!(history.outcome(), None);
        history.play_uci(uci).expect("legal");
    }
    assert_eq!(history.outcome(), Some(Outcome::Draw(DrawReason::Threefold)));

    let fifty = play("8/8/3k1r2/8/2R5/8/8/4K3 w - - 99 120", "e1d1");
    assert_eq!(fifty.outcome(), Some(Outcome::Draw(DrawReason::FiftyMoves)));
}

// R23 (agreement, resignation, time) is the arbiter's: see src/arbiter.
