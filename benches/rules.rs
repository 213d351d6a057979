//! What the search asks of the rules core, each beside `shakmaty` where that has the same: a move
//! made, the legality of one move, check after a move, whether the king can be exploded now, and
//! what a capture would blow up.
//!
//! `cargo bench --bench rules`. The items of a sample are all legal moves, or all positions, of a
//! thousand positions from random games.

use divan::{Bencher, black_box, counter::ItemsCount};
use meitner::rules::{Color, Move, Position};
use shakmaty::{Position as _, uci::UciMove, variant::Atomic};

/// Positions in the sample.
const POSITIONS: usize = 1_000;

fn main() {
    divan::main();
}

/// A position and its legal moves, in both libraries.
struct Case {
    position: Position,
    moves: Vec<Move>,
    oracle: Atomic,
    oracle_moves: Vec<shakmaty::Move>,
}

/// Positions from seeded random games in which captures are rare, so that the boards stay full.
fn cases() -> Vec<Case> {
    let mut random = fastrand::Rng::with_seed(1);
    let mut cases = Vec::new();
    while cases.len() < POSITIONS {
        let (mut position, mut oracle) = (Position::initial(), Atomic::default());
        for _ in 0..60 {
            let moves = position.legal_moves();
            let quiet: Vec<Move> = moves.iter().filter(|mv| !mv.is_capture()).copied().collect();
            let is_quiet = !quiet.is_empty() && random.u8(..8) > 0;
            let all = if is_quiet { quiet.as_slice() } else { moves.as_slice() };
            let Some(&mv) = random.choice(all) else { break };
            let theirs: UciMove = mv.to_string().parse().expect("UCI");
            let theirs = theirs.to_move(&oracle).expect("a legal move");
            cases.push(Case {
                moves: moves.to_vec(),
                oracle_moves: oracle.legal_moves().to_vec(),
                oracle: oracle.clone(),
                position: position.clone(),
            });
            position.play_unchecked(mv);
            oracle.play_unchecked(theirs);
        }
    }
    cases.truncate(POSITIONS);
    cases
}

/// Times `ask` for every legal move of every case.
fn each_move(bencher: Bencher<'_, '_>, ask: impl Fn(&Position, Move) -> bool) {
    let cases = cases();
    let count: usize = cases.iter().map(|case| case.moves.len()).sum();
    bencher.counter(ItemsCount::new(count)).bench_local(|| {
        cases
            .iter()
            .flat_map(|case| case.moves.iter().map(|&mv| (&case.position, mv)))
            .filter(|&(position, mv)| ask(black_box(position), mv))
            .count()
    });
}

/// The same for the other library.
fn each_oracle_move(bencher: Bencher<'_, '_>, ask: impl Fn(&Atomic, shakmaty::Move) -> bool) {
    let cases = cases();
    let count: usize = cases.iter().map(|case| case.oracle_moves.len()).sum();
    bencher.counter(ItemsCount::new(count)).bench_local(|| {
        cases
            .iter()
            .flat_map(|case| case.oracle_moves.iter().map(|&mv| (&case.oracle, mv)))
            .filter(|&(position, mv)| ask(black_box(position), mv))
            .count()
    });
}

mod make {
    use super::*;

    /// A copy and the move on it; taking it back is dropping the copy.
    #[divan::bench]
    fn meitner(bencher: Bencher<'_, '_>) {
        each_move(bencher, |position, mv| black_box(position.after(mv)).turn() == Color::White);
    }

    #[divan::bench]
    fn shakmaty(bencher: Bencher<'_, '_>) {
        each_oracle_move(bencher, |position, mv| {
            let mut next = position.clone();
            next.play_unchecked(mv);
            black_box(next).turn().is_white()
        });
    }
}

mod is_legal {
    use super::*;

    #[divan::bench]
    fn meitner(bencher: Bencher<'_, '_>) {
        each_move(bencher, Position::is_legal);
    }

    #[divan::bench]
    fn shakmaty(bencher: Bencher<'_, '_>) {
        each_oracle_move(bencher, Atomic::is_legal);
    }
}

/// As the search asks it: of the position after the move, which it needs anyway.
mod gives_check {
    use super::*;

    #[divan::bench]
    fn meitner(bencher: Bencher<'_, '_>) {
        each_move(bencher, |position, mv| position.after(mv).is_check());
    }

    #[divan::bench]
    fn shakmaty(bencher: Bencher<'_, '_>) {
        each_oracle_move(bencher, |position, mv| {
            let mut next = position.clone();
            next.play_unchecked(mv);
            next.is_check()
        });
    }
}

mod explosion {
    use super::*;

    /// The squares that a move empties; none for a quiet one.
    #[divan::bench]
    fn of_a_move(bencher: Bencher<'_, '_>) {
        each_move(bencher, |position, mv| position.explosion(mv).any());
    }

    /// Whether the side to move can explode the king now, once for each position.
    #[divan::bench]
    fn of_the_king(bencher: Bencher<'_, '_>) {
        let cases = cases();
        bencher.counter(ItemsCount::new(cases.len())).bench_local(|| {
            cases
                .iter()
                .filter(|case| black_box(&case.position).could_explode_king(case.position.turn()))
                .count()
        });
    }
}
