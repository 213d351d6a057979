//! Positions in which programs are known to go wrong, or well could: one named test for each trap.
//! Every list of legal moves met here is compared with an independent library as well.

use meitner::rules::{Color, DrawReason, History, Kind, Outcome, Position, WinReason};
use shakmaty::{CastlingMode, Position as _, PositionError, fen::Fen, variant::Atomic};

use super::{is_empty, line, play, position};

/// The legal moves, on which the other library must agree.
fn moves(fen: &str) -> Vec<String> {
    let ours = position(fen);
    let setup: Fen = fen.parse().expect("FEN in form");
    let theirs = setup.into_position::<Atomic>(CastlingMode::Chess960);
    let theirs = theirs.or_else(PositionError::ignore_impossible_check).expect("a position");
    let mut list: Vec<String> = ours.legal_moves().iter().map(ToString::to_string).collect();
    let mut expected: Vec<String> = theirs
        .legal_moves()
        .iter()
        .map(|mv| mv.to_uci(CastlingMode::Chess960).to_string())
        .collect();
    list.sort_unstable();
    expected.sort_unstable();
    assert_eq!(list, expected, "{fen}");
    list
}

#[track_caller]
fn legal(fen: &str, uci: &str) {
    assert!(moves(fen).contains(&uci.to_owned()), "{uci} must be legal in {fen}");
}

#[track_caller]
fn illegal(fen: &str, uci: &str) {
    assert!(!moves(fen).contains(&uci.to_owned()), "{uci} must not be legal in {fen}");
}

fn has_won(position: &Position, color: Color) -> bool {
    position.outcome() == Some(Outcome::Win { winner: color, by: WinReason::Explosion })
}

fn is_check(fen: &str) -> bool {
    position(fen).is_check()
}

// Explosions and the own king (R7, R10, R11, R13).

#[test]
fn a_blast_that_reaches_both_kings_is_illegal() {
    illegal("8/8/8/3k4/R2n4/3K4/8/8 w - - 0 1", "a4d4");
    illegal("8/8/2n5/3kn3/3K4/8/8/2R1R3 w - - 0 1", "e1e5");
}

#[test]
fn a_blast_beside_the_enemy_king_alone_wins_although_the_kings_touch() {
    let fen = "8/8/2n5/3kn3/3K4/8/8/2R1R3 w - - 0 1";
    legal(fen, "c1c6");
    assert!(has_won(&play(fen, "c1c6"), Color::White));
}

#[test]
fn a_blast_that_takes_an_own_blocker_opens_the_line() {
    illegal("4r2k/8/8/3p4/4N3/8/8/3RK3 w - - 0 1", "d1d5");
    legal("7k/8/8/3p4/4N3/8/8/3RK3 w - - 0 1", "d1d5");
}

#[test]
fn a_blast_that_takes_an_enemy_blocker_opens_the_line() {
    illegal("4r2k/8/4n3/3p4/8/8/8/3RK3 w - - 0 1", "d1d5");
}

#[test]
fn a_pawn_in_the_blast_keeps_the_line_closed() {
    legal("4r2k/8/8/3p4/4P3/8/8/3RK3 w - - 0 1", "d1d5");
}

#[test]
fn a_pinned_man_may_capture_if_the_pinner_explodes() {
    let fen = "4r2k/3n4/8/4N3/2p5/8/8/4K3 w - - 0 1";
    legal(fen, "e5d7");
    illegal(fen, "e5c4");
    illegal(fen, "e5c6");
    assert!(is_empty(&play(fen, "e5d7"), "e8"));
}

#[test]
fn a_pinned_man_may_capture_the_pinner() {
    legal("4r2k/8/8/4R3/8/8/8/4K3 w - - 0 1", "e5e8");
}

#[test]
fn a_pinned_pawn_may_capture_if_the_pinner_explodes() {
    // The bishop on c3 pins the pawn on d2; on e3 the blast does not reach it.
    illegal("7k/8/8/8/8/2b1n3/3P4/4K3 w - - 0 1", "d2e3");
    // Capturing the pinner itself explodes it.
    legal("7k/8/8/8/8/2b1n3/3P4/4K3 w - - 0 1", "d2c3");
    // The queen on e4 pins the pawn on e3 and stands beside d4.
    legal("7k/8/8/8/3nq3/4P3/8/4K3 w - - 0 1", "e3d4");
}

#[test]
fn exploding_the_checkers_neighbor_may_open_another_line() {
    // d7 takes the checking rook along, but also the knight that shuts the bishop out.
    illegal("b3r2k/3n4/2N5/8/4K3/8/8/3R4 w - - 0 1", "d1d7");
    // A pawn stays there.
    legal("b3r2k/3n4/2P5/8/4K3/8/8/3R4 w - - 0 1", "d1d7");
    // The capturer itself may have shut out another.
    illegal("4r2k/3n4/8/8/8/8/8/r2QK3 w - - 0 1", "d1d7");
}

#[test]
fn a_pawn_that_checks_survives_the_blast_beside_it() {
    illegal("7k/8/8/8/8/2n5/3p4/2R1K3 w - - 0 1", "c1c3");
    // A knight in its place would have gone.
    legal("7k/8/8/8/8/2nn4/8/2R1K3 w - - 0 1", "c1c3");
}

#[test]
fn one_explosion_answers_a_double_check() {
    let fen = "7k/8/8/8/R2p4/3nr3/8/4K3 w - - 0 1";
    assert_eq!(position(fen).checkers().len(), 2);
    legal(fen, "a4d4");
    assert!(!play(fen, "a4d4").is_check());
}

#[test]
fn a_double_check_is_not_answered_by_exploding_one_checker() {
    illegal("4r2k/3n4/8/8/8/5n2/8/3RK3 w - - 0 1", "d1d7");
}

#[test]
fn a_capturer_does_not_stand_where_the_captured_man_stood() {
    // The knight on c3 shuts out the bishop; in chess the rook would do so after it.
    illegal("7k/8/8/b7/8/2n5/8/2R1K3 w - - 0 1", "c1c3");
    legal("7k/8/8/b7/8/8/8/2R1K3 w - - 0 1", "c1c3");
}

#[test]
fn exploding_the_enemy_king_needs_no_safe_king() {
    // Black's rook leaves the back rank, and White's rook on a8 would take the king.
    let fen = "R2r2k1/1p2ppbp/8/6p1/2p5/5P1N/P2Pn1PP/2B1K2R b K - 3 19";
    legal(fen, "d8d2");
    assert!(has_won(&play(fen, "d8d2"), Color::Black));
}

#[test]
fn a_won_game_may_leave_the_winner_in_check() {
    illegal("k6R/8/8/8/8/8/2p5/3R2K1 b - - 0 60", "c2d1q");
    let fen = "k6R/8/8/8/8/8/2p5/2KR4 b - - 0 60";
    assert!(is_check(fen));
    let over = play(fen, "c2d1q");
    assert!(has_won(&over, Color::Black) && !over.is_check());
    assert_eq!(over.fen(), "k6R/8/8/8/8/8/8/8 w - - 0 61");
    // Servers send such positions at the end of a game: they must be read.
    assert_eq!(Position::from_fen(&over.fen()), Ok(over));
}

#[test]
fn a_capture_beside_the_own_king_is_illegal_even_of_the_checker() {
    illegal("rnbqkbnr/pppNp1pp/5p2/3p4/8/8/PPPPPPPP/RNBQKB1R b KQkq - 1 3", "d8d7");
    assert!(moves("8/8/8/8/8/6qK/8/1k6 w - - 0 1").is_empty());
}

#[test]
fn checks_are_answered_beside_the_checker_in_a_game() {
    let fen = "5k1r/p1ppq1pp/5p2/1B6/1b3P2/2P5/PP4PP/RNB1K2R w KQ - 0 12";
    legal(fen, "b5d7");
    assert!(!play(fen, "b5d7").is_check());
    illegal("r1b1k2r/pp1pBppp/2p1p2n/q3P3/B2P4/2N2Q2/PPn2PPP/R3K1NR w KQkq - 9 11", "a4c2");
}

// Touching kings (R8).

#[test]
fn a_king_steps_beside_the_other_through_any_attack() {
    let fen = "r1bq1bnr/pppp1ppp/5k2/4p3/4P1K1/8/PPPP1PPP/RNBQ1B1R b - - 5 6";
    legal(fen, "f6f5");
    assert!(!play(fen, "f6f5").is_check());
}

#[test]
fn a_king_that_is_left_alone_is_in_check_again() {
    let touching = play("r1bq1bnr/pppp1ppp/5k2/4p3/4P1K1/8/PPPP1PPP/RNBQ1B1R b - - 5 6", "f6f5");
    let left = touching.after(touching.parse_uci("g4h3").expect("legal"));
    assert!(left.is_check());
}

#[test]
fn a_king_steps_away_to_safe_squares_only() {
    let fen = "8/8/8/3k4/3K4/r7/8/8 w - - 0 1";
    for uci in ["d4c3", "d4d3", "d4e3"] {
        illegal(fen, uci);
    }
    for uci in ["d4c4", "d4e4", "d4c5", "d4e5"] {
        legal(fen, uci);
    }
}

#[test]
fn pins_do_not_bind_while_the_kings_touch() {
    legal("3r4/8/8/3N4/8/3Kk3/8/8 w - - 0 1", "d5b6");
    illegal("3r4/8/8/3N4/8/3K1k2/8/8 w - - 0 1", "d5b6");
}

#[test]
fn no_check_needs_an_answer_while_the_kings_touch() {
    let fen = "rnbq1bnr/pp1pp1pp/8/2pk1p2/3K1P2/P6P/1PPPP1P1/RNBQ1BNR b - - 0 6";
    assert!(!is_check(fen));
    legal(fen, "a7a6");
    illegal(fen, "c5d4");
}

// En passant (R4).

#[test]
fn en_passant_whose_blast_takes_the_own_king_is_illegal() {
    let fen = "8/4K3/8/2Pp4/8/8/8/4k3 w - d6 0 1";
    illegal(fen, "c5d6");
    assert_eq!(position(fen).en_passant(), None);
}

#[test]
fn en_passant_takes_the_checking_pawn() {
    let fen = "4k3/8/8/3pP3/2K5/8/8/8 w - d6 0 1";
    assert!(is_check(fen));
    legal(fen, "e5d6");
}

#[test]
fn en_passant_never_interposes() {
    let fen = "5b1k/8/8/3pP3/8/K7/8/8 w - d6 0 1";
    assert!(is_check(fen));
    illegal(fen, "e5d6");
}

#[test]
fn en_passant_answers_a_check_from_beside_the_landing_square() {
    legal("7k/8/2r4K/3pP3/8/8/8/8 w - d6 0 1", "e5d6");
    illegal("7k/8/1r5K/3pP3/8/8/8/8 w - d6 0 1", "e5d6");
}

#[test]
fn en_passant_opens_the_rank_that_both_pawns_shut() {
    illegal("7k/8/8/K2pP2r/8/8/8/8 w - d6 0 1", "e5d6");
    legal("7k/8/8/3pP2r/K7/8/8/8 w - d6 0 1", "e5d6");
}

#[test]
fn en_passant_opens_the_diagonal_behind_the_captured_pawn() {
    illegal("b6k/8/8/3pP3/4K3/8/8/8 w - d6 0 1", "e5d6");
    legal("7k/8/8/3pP3/4K3/8/8/8 w - d6 0 1", "e5d6");
}

#[test]
fn en_passant_may_be_legal_for_one_of_two_pawns() {
    let fen = "4r2k/8/8/2PpP3/8/8/8/4K3 w - d6 0 1";
    legal(fen, "c5d6");
    illegal(fen, "e5d6");
    // The pinner in the blast pins no longer.
    legal("7k/4r3/8/2PpP3/8/8/8/4K3 w - d6 0 1", "e5d6");
}

#[test]
fn en_passant_may_explode_the_enemy_king_out_of_check() {
    let fen = "8/4k3/8/3pP3/8/8/8/r3K3 w - d6 0 1";
    assert!(is_check(fen));
    assert_eq!(moves(fen), ["e1d2", "e1e2", "e1f2", "e5d6"]);
    let won = play(fen, "e5d6");
    assert!(has_won(&won, Color::White));
    assert!(!is_empty(&won, "a1"));
}

#[test]
fn en_passant_is_noted_only_where_it_is_legal() {
    // After the double step the rank would open on the king.
    let after = play("7k/3p4/8/K3P2r/8/8/8/8 b - - 0 1", "d7d5");
    assert_eq!(after.fen(), "7k/8/8/K2pP2r/8/8/8/8 w - - 0 2");
    let quiet = position("7k/8/8/K2pP2r/8/8/8/8 w - - 5 9");
    assert_eq!(after.key(), quiet.key());
    let legal = play("7k/3p4/8/4P2r/K7/8/8/8 b - - 0 1", "d7d5");
    assert_eq!(legal.fen(), "7k/8/8/3pP2r/K7/8/8/8 w - d6 0 2");
    assert_ne!(legal.key(), position("7k/8/8/3pP2r/K7/8/8/8 w - - 0 2").key());
}

#[test]
fn repetition_counts_from_the_double_step_where_en_passant_is_illegal() {
    let occurrences = |start: &str, king: [&str; 2]| {
        let mut history = History::new(position(start));
        history.play_uci("d7d5").expect("legal");
        for _ in 0..2 {
            for uci in [king[0], "h8g8", king[1], "g8h8"] {
                history.play_uci(uci).expect("legal");
            }
        }
        (history.occurrences(), history.outcome())
    };
    assert_eq!(
        occurrences("7k/3p4/8/K3P2r/8/8/8/8 b - - 0 1", ["a5a4", "a4a5"]),
        (3, Some(Outcome::Draw(DrawReason::Threefold)))
    );
    // Where it was legal, the first of the three positions was another one.
    assert_eq!(occurrences("7k/3p4/8/4P2r/K7/8/8/8 b - - 0 1", ["a4a3", "a3a4"]), (2, None));
}

// Castling (R19) and its rights (R18).

#[test]
fn castling_out_of_an_attack_while_the_kings_touch() {
    let fen = "4r3/8/8/8/8/8/3k4/R3K2R w KQ - 0 1";
    assert!(!is_check(fen));
    legal(fen, "e1h1");
    legal(fen, "e1a1");
    illegal("4r3/8/8/8/8/2k5/8/R3K2R w KQ - 0 1", "e1h1");
}

#[test]
fn castling_over_attacked_squares_beside_the_enemy_king() {
    let fen = "3r1r2/8/8/8/8/8/6k1/R3K2R w KQ - 0 1";
    legal(fen, "e1h1");
    illegal(fen, "e1a1");
}

#[test]
fn castling_to_an_attacked_square_beside_the_enemy_king() {
    legal("2r5/8/8/8/8/8/1k6/R3K2R w KQ - 0 1", "e1a1");
    illegal("2r5/8/8/8/8/1k6/8/R3K2R w KQ - 0 1", "e1a1");
    // The square crossed is attacked, and two files away from the enemy king.
    illegal("2rr4/8/8/8/8/8/1k6/R3K2R w KQ - 0 1", "e1a1");
}

#[test]
fn castling_away_from_the_enemy_king_into_the_shelter_of_the_rook() {
    // The rook on h1 looks along the rank, which the kings suspend until White has castled; then
    // the rook from a1 stands between. A core that asks too early for c1 refuses this.
    let fen = "8/8/8/8/8/8/4k3/R3K2r w Q - 0 1";
    legal(fen, "e1a1");
    assert_eq!(play(fen, "e1c1").fen(), "8/8/8/8/8/8/4k3/2KR3r b - - 1 1");
    legal("r3k2R/4K3/6r1/8/8/8/8/8 b q - 2 2", "e8a8");
    // Beside f2 the square d1 is not suspended.
    illegal("8/8/8/8/8/8/5k2/R3K2r w Q - 0 1", "e1a1");
}

#[test]
fn castling_uncovers_the_king_in_atomic960() {
    illegal("4k3/8/8/8/8/8/8/qR1K4 w B - 0 1", "d1b1");
    legal("8/8/8/8/8/8/2k5/qR1K4 w B - 0 1", "d1b1");
}

#[test]
fn castling_with_the_king_already_there() {
    let fen = "4k3/8/8/8/8/8/8/6KR w H - 0 1";
    legal(fen, "g1h1");
    assert_eq!(play(fen, "g1h1").fen(), "4k3/8/8/8/8/8/8/5RK1 b - - 1 1");
    // In check it is still castling, and refused.
    illegal("4k1r1/8/8/8/8/8/8/6KR w H - 0 1", "g1h1");
    let fen = "4k3/8/8/8/8/8/8/R1K5 w A - 0 1";
    assert_eq!(play(fen, "c1a1").fen(), "4k3/8/8/8/8/8/8/2KR4 b - - 1 1");
}

#[test]
fn castling_with_the_rook_already_there() {
    let fen = "4k3/8/8/8/8/8/8/3RK3 w D - 0 1";
    legal(fen, "e1d1");
    assert_eq!(play(fen, "e1d1").fen(), "4k3/8/8/8/8/8/8/2KR4 b - - 1 1");
    let fen = "3k4/8/8/8/8/8/8/4KR2 w F - 0 1";
    assert_eq!(play(fen, "e1f1").fen(), "3k4/8/8/8/8/8/8/5RK1 b - - 1 1");
}

#[test]
fn castling_where_king_and_rook_change_places() {
    let fen = "3k4/8/8/8/8/8/8/5KR1 w G - 0 1";
    let before = position(fen);
    let castling = before.parse_uci("f1g1").expect("castling, not a step");
    assert_eq!(castling.kind(), Kind::Castling);
    assert_eq!(before.after(castling).fen(), "3k4/8/8/8/8/8/8/5RK1 b - - 1 1");
}

#[test]
fn a_rook_beside_the_blast_takes_its_right_along() {
    assert_eq!(
        play("4k3/8/8/8/8/b7/1P6/R3K3 b Q - 0 1", "a3b2").fen(),
        "4k3/8/8/8/8/8/8/4K3 w - - 0 2"
    );
}

#[test]
fn a_rook_that_captures_a_rook_ends_both_rights() {
    assert_eq!(
        play("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "h1h8").fen(),
        "r3k3/8/8/8/8/8/8/R3K3 b Qq - 0 1"
    );
}

#[test]
fn a_right_does_not_come_back_with_another_rook() {
    let mut history = History::new(position("4k3/8/8/8/8/b7/1P5R/R3K3 b Q - 0 1"));
    for uci in ["a3b2", "h2a2", "e8e7", "a2a1", "e7e8"] {
        history.play_uci(uci).expect("legal");
    }
    assert_eq!(history.position().fen(), "4k3/8/8/8/8/8/8/R3K3 w - - 4 4");
    illegal(&history.position().fen(), "e1a1");
}

#[test]
fn an_exploded_king_leaves_no_rights() {
    let over = play("r3k2r/3p4/8/8/8/8/8/R2QK2R w KQkq - 0 1", "d1d7");
    assert_eq!(over.fen(), "r6r/8/8/8/8/8/8/R3K2R b KQ - 0 1");
    assert!(has_won(&over, Color::White));
}

#[test]
fn the_other_rook_keeps_its_right_through_a_game() {
    let game = line(
        "e4 d5 d4 e6 Nc3 b5 Bg5 f6 Bh6 Ba3 Bxg7 h5 bxa3 c5 Qc1 Qe7 Qh6 Qg7 Qh8+ Qxh8 Rb1 cxd4 \
         Bxb5 Nd7 Rb7 Kf8 Rxd7 Rb8 Ne2 Rb1+ Nc1 d4 O-O",
    );
    assert_eq!(game.moves().len(), 33);
    let game = line(
        "Nf3 f6 e3 d5 Ng5 fxg5 Qh5+ g6 Qe5 Be6 Bb5+ c6 Qc7 Qxc7 b3 d4 Nc3 dxc3 Bc4 O-O-O O-O h5 \
         Ba3 c5 Bd5 b5 Bb7+ Kb8 c4 h4 d4 Nf6 h3 Ng4 hxg4 h3 g4 h2+ Kh1 Bg7 Rad1 b4 Bb2 Bf5 f3 Bd3 \
         Rxd3 Rh3 d5 Rg3 Be5+ Bxe5 d6 Rg1#",
    );
    assert!(game.outcome().is_some_and(|outcome| outcome.winner() == Some(Color::Black)));
}

// Promotion, counters and draws (R19, R21, R22).

#[test]
fn a_promotion_by_capture_explodes_whatever_it_becomes() {
    let fen = "4k2n/6P1/8/8/8/8/8/4K3 w - - 0 1";
    for uci in ["g7h8q", "g7h8r", "g7h8b", "g7h8n"] {
        legal(fen, uci);
        assert_eq!(play(fen, uci).fen(), "4k3/8/8/8/8/8/8/4K3 b - - 0 1");
    }
    illegal("4k2n/6PK/8/8/8/8/8/8 w - - 0 1", "g7h8q");
}

#[test]
fn captures_and_pawn_moves_reset_the_clock_and_castling_does_not() {
    let clock = |fen, uci| play(fen, uci).halfmove_clock();
    assert_eq!(clock("4k3/8/8/3n4/8/8/8/R2RK3 w Q - 42 60", "d1d5"), 0);
    assert_eq!(clock("4k3/8/8/8/8/8/P7/R3K3 w Q - 42 60", "a2a3"), 0);
    assert_eq!(clock("4k3/P7/8/8/8/8/8/R3K3 w Q - 42 60", "a7a8q"), 0);
    assert_eq!(clock("4k3/8/8/8/8/8/P7/R3K3 w Q - 42 60", "e1a1"), 43);
}

#[test]
fn a_win_on_the_hundredth_ply_comes_before_the_draw() {
    let mated = play("k7/7R/8/8/8/8/8/K5R1 w - - 99 120", "g1g8");
    assert_eq!(mated.halfmove_clock(), 100);
    assert_eq!(mated.outcome().and_then(Outcome::winner), Some(Color::White));
}

#[test]
fn a_check_that_no_pawn_answers_closes_a_position() {
    // The only pawn that can move is the one on a5, to b4. In check by the bishop it may not, and
    // lichess, which looks for legal moves of pawns, draws at once, although the king could step
    // away and the capture be possible again.
    let open = "4k3/8/Kp6/pP1B4/PP6/8/8/8 w - - 0 1";
    assert_eq!(position(open).outcome(), None);
    let closed = play(open, "d5c6");
    assert!(closed.is_check());
    assert_eq!(closed.outcome(), Some(Outcome::Draw(DrawReason::ClosedPosition)));
    // A pawn that gives check attacks the king, so that it does have a move.
    assert_eq!(position("8/8/1K2pk2/pp2P3/PP6/8/8/8 b - - 0 1").outcome(), None);
}

#[test]
fn a_pawn_that_could_only_explode_its_own_king_is_closed() {
    for turn in ["w", "b"] {
        let closed = position(&format!("8/8/2K5/2pp4/2PP4/3k4/8/8 {turn} - - 0 1"));
        assert_eq!(closed.outcome(), Some(Outcome::Draw(DrawReason::ClosedPosition)));
        // One king a step away, and one of the captures is there again.
        let open = position(&format!("8/8/2K5/2pp4/2PP4/8/3k4/8 {turn} - - 0 1"));
        assert_eq!(open.outcome(), None);
    }
}
