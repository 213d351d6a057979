//! Seeded random games for the tests that compare rules cores: where they start, which move is
//! chosen, and how the work is spread over the cores.
//!
//! Plain random games from the start position hardly ever castle beside the enemy king or capture en
//! passant out of a pin. So the starts are varied, down to few men on an empty board, and half of
//! the moves are chosen among the rare ones. Everything follows from the seed.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use fastrand::Rng;
use meitner::rules::{Bitboard, Color, Kind, Move, Piece, Position, Role, Square, attacks};

/// Positions in one seed's share of the work.
pub(crate) const SHARE: u64 = 5_000;

/// How many positions a test compares: what the environment variable says, or the default.
pub(crate) fn position_count(variable: &str, default: u64) -> u64 {
    #[expect(clippy::disallowed_methods, reason = "a test's own knob is no setting of the program")]
    let count = std::env::var(variable);
    count.map_or(default, |text| text.parse().expect("a number of positions"))
}

/// Plays as many shares as make up the count, on all cores, and returns what each gave. A share
/// depends on its seed alone, so that the number of cores changes nothing but the time.
pub(crate) fn play_shares<T: Send>(count: u64, share: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let shares = count.div_ceil(SHARE);
    let (next, done, began) = (AtomicU64::new(0), AtomicU64::new(0), Instant::now());
    let reported = Mutex::new(began);
    let work = || {
        let _stop_the_others = StopOthers(&next);
        let mut results = Vec::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= shares {
                return results;
            }
            results.push(share(seed));
            let done = (done.fetch_add(1, Ordering::Relaxed) + 1) * SHARE;
            if let Ok(mut last) = reported.try_lock()
                && last.elapsed() >= Duration::from_secs(10)
            {
                *last = Instant::now();
                report(done, shares * SHARE, began);
            }
        }
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let results = thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no disagreement")).collect()
    });
    report(shares * SHARE, shares * SHARE, began);
    results
}

#[expect(clippy::print_stdout, reason = "a long run says how far it is")]
fn report(done: u64, all: u64, began: Instant) {
    let seconds = began.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let rate = done as f64 / seconds;
    println!("{done} of {all} positions in {seconds:.0} s, {rate:.0} a second");
}

/// Lets no other worker begin a share once one has found a disagreement.
struct StopOthers<'a>(&'a AtomicU64);

impl Drop for StopOthers<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(u64::MAX / 2, Ordering::Relaxed);
        }
    }
}

/// A start to play from. Not every one is a legal position: the reader of the FEN decides.
pub(crate) fn start_fen(random: &mut Rng) -> String {
    let mut setup = Setup { board: [None; 64], rights: String::new() };
    match random.u8(..16) {
        0 => return Position::initial().fen(),
        1..4 => setup.shuffle_the_pieces(random),
        4..6 => return suite_fen(random),
        6..9 => {
            setup.place_kings(random);
            setup.scatter_men(random, 4, 20);
        }
        9..12 => {
            setup.prepare_castling(random);
            setup.scatter_men(random, 1, 10);
        }
        12..14 => {
            let turn = setup.prepare_en_passant(random);
            setup.place_kings(random);
            setup.scatter_men(random, 0, 10);
            return setup.fen(turn, random);
        }
        14 => {
            setup.block_pawns(random);
            setup.place_kings(random);
        }
        _ => {
            setup.place_kings(random);
            setup.scatter_men(random, 0, 4);
        }
    }
    let turn = if random.bool() { Color::White } else { Color::Black };
    setup.fen(turn, random)
}

/// A position of the perft and end-of-game suites.
fn suite_fen(random: &mut Rng) -> String {
    const SUITES: [&str; 3] = [
        include_str!("../data/atomic.epd"),
        include_str!("../data/atomic960.epd"),
        include_str!("../data/terminal.epd"),
    ];
    let lines = SUITES.into_iter().flat_map(str::lines).filter(|line| !line.is_empty());
    let line = pick(lines, random).expect("the suites have lines");
    line.split(';').next().expect("a FEN").trim().to_owned()
}

/// A board being filled, and the castling field to go with it.
struct Setup {
    board: [Option<Piece>; 64],
    rights: String,
}

impl Setup {
    fn is_free(&self, square: Square) -> bool {
        self.board[square.index()].is_none()
    }

    fn put(&mut self, color: Color, role: Role, square: Square) {
        self.board[square.index()] = Some(Piece { color, role });
    }

    fn has_king(&self, color: Color) -> bool {
        self.board.contains(&Some(Piece { color, role: Role::King }))
    }

    /// Any square that passes the test, if one is found soon.
    fn find(&self, random: &mut Rng, test: impl Fn(Square) -> bool) -> Option<Square> {
        (0..50)
            .map(|_| Square::new(random.u8(..64)))
            .find(|&square| self.is_free(square) && test(square))
    }

    /// A start of atomic960, each side shuffled for itself.
    fn shuffle_the_pieces(&mut self, random: &mut Rng) {
        for color in Color::ALL {
            let mut roles = [
                Role::Rook,
                Role::Knight,
                Role::Bishop,
                Role::Queen,
                Role::King,
                Role::Bishop,
                Role::Knight,
                Role::Rook,
            ];
            loop {
                random.shuffle(&mut roles);
                let files = |wanted| (0..8).filter(move |&file| roles[file] == wanted);
                let king = files(Role::King).sum::<usize>();
                let is_between =
                    files(Role::Rook).min() < Some(king) && files(Role::Rook).max() > Some(king);
                if is_between && files(Role::Bishop).sum::<usize>() % 2 == 1 {
                    break;
                }
            }
            let pawns = if color == Color::White { 1 } else { 6 };
            for (file, role) in (0..8).zip(roles) {
                self.put(color, role, Square::at(file, color.back_rank()));
                self.put(color, Role::Pawn, Square::at(file, pawns));
                if role == Role::Rook {
                    self.allow_castling(color, file);
                }
            }
        }
    }

    fn allow_castling(&mut self, color: Color, file: u8) {
        let letter = char::from(b'a' + file);
        self.rights.push(if color == Color::White { letter.to_ascii_uppercase() } else { letter });
    }

    /// The kings that are missing, often close to each other.
    fn place_kings(&mut self, random: &mut Rng) {
        for color in Color::ALL {
            if self.has_king(color) {
                continue;
            }
            let other =
                self.board.iter().position(|man| man.is_some_and(|man| man.role == Role::King));
            let other = other.map(|index| Square::new(index as u8));
            let reach = random.u8(1..=4);
            let is_near = |square: Square| {
                reach == 4 || other.is_none_or(|other| distance(square, other) <= reach)
            };
            let square = self.find(random, is_near).or_else(|| self.find(random, |_| true));
            self.put(color, Role::King, square.expect("half of the board is free"));
        }
    }

    /// Men of both sides anywhere, pawns often one step before their last rank.
    fn scatter_men(&mut self, random: &mut Rng, least: usize, most: usize) {
        const ROLES: [Role; 8] = [
            Role::Pawn,
            Role::Pawn,
            Role::Knight,
            Role::Bishop,
            Role::Bishop,
            Role::Rook,
            Role::Rook,
            Role::Queen,
        ];
        for _ in 0..random.usize(least..=most) {
            let color = if random.bool() { Color::White } else { Color::Black };
            let role = ROLES[random.usize(..ROLES.len())];
            let seventh = if color == Color::White { 6 } else { 1 };
            let is_far = random.u8(..3) == 0;
            let is_fit = |square: Square| {
                role != Role::Pawn
                    || (is_far && square.rank() == seventh)
                    || (!is_far && (1..7).contains(&square.rank()))
            };
            if let Some(square) = self.find(random, is_fit) {
                self.put(color, role, square);
            }
        }
    }

    /// King and rooks with their rights, and the other king often before them.
    fn prepare_castling(&mut self, random: &mut Rng) {
        let first = if random.bool() { Color::White } else { Color::Black };
        let sides = if random.bool() { vec![first] } else { vec![first, !first] };
        let is_standard = random.bool();
        let king_file = if is_standard { 4 } else { random.u8(1..=6) };
        for color in sides {
            let king = if color == first { king_file } else { 4 };
            let west = if is_standard || color != first { 0 } else { random.u8(..king) };
            let east = if is_standard || color != first { 7 } else { random.u8(king + 1..8) };
            self.put(color, Role::King, Square::at(king, color.back_rank()));
            for rook in [west, east] {
                if random.u8(..4) > 0 {
                    self.put(color, Role::Rook, Square::at(rook, color.back_rank()));
                    self.allow_castling(color, rook);
                }
            }
        }
        if !self.has_king(!first) && random.u8(..4) > 0 {
            let home = first.back_rank();
            let ours = Square::at(king_file, home);
            let reach = random.u8(1..=3);
            let is_fit = |square: Square| {
                square.rank() != home && (reach == 3 || distance(square, ours) == reach)
            };
            if let Some(square) = self.find(random, is_fit) {
                self.put(!first, Role::King, square);
            }
        }
        self.place_kings(random);
        if random.bool() {
            let home = first.back_rank();
            if let Some(square) = self.find(random, |square| square.rank() == home) {
                self.put(!first, Role::Rook, square);
            }
        }
    }

    /// A pawn that may step twice past enemy pawns, with a king close by. Gives the side to move.
    fn prepare_en_passant(&mut self, random: &mut Rng) -> Color {
        let turn = if random.bool() { Color::White } else { Color::Black };
        let ranks = if turn == Color::White { [1, 2, 3] } else { [6, 5, 4] };
        let file = random.u8(..8);
        self.put(turn, Role::Pawn, Square::at(file, ranks[0]));
        for beside in [file.wrapping_sub(1), file + 1] {
            if beside < 8 && random.u8(..3) > 0 {
                self.put(!turn, Role::Pawn, Square::at(beside, ranks[2]));
            }
        }
        let passed = Square::at(file, ranks[1]);
        let reach = random.u8(1..=3);
        let color = if random.u8(..3) == 0 { turn } else { !turn };
        let is_fit = |square: Square| distance(square, passed) == reach && square.file() != file;
        if let Some(king) = self.find(random, is_fit) {
            self.put(color, Role::King, king);
            // Somebody on a line with that king, which the capture may open.
            let role = if random.bool() { Role::Rook } else { Role::Bishop };
            let aligned = match role {
                Role::Rook => attacks::rook(king, Bitboard::EMPTY),
                _ => attacks::bishop(king, Bitboard::EMPTY),
            };
            let is_fit = |square: Square| aligned.contains(square) && square.file() != file;
            if let Some(square) = self.find(random, is_fit) {
                self.put(!color, role, square);
            }
        }
        turn
    }

    /// Pawns that block each other, and perhaps bishops.
    fn block_pawns(&mut self, random: &mut Rng) {
        for _ in 0..random.usize(1..=5) {
            let (file, rank) = (random.u8(..8), random.u8(1..6));
            let (white, black) = (Square::at(file, rank), Square::at(file, rank + 1));
            if self.is_free(white) && self.is_free(black) {
                self.put(Color::White, Role::Pawn, white);
                self.put(Color::Black, Role::Pawn, black);
            }
        }
        let owner = if random.bool() { Color::White } else { Color::Black };
        let shade = random.u8(..2);
        for _ in 0..random.usize(..3) {
            let color = if random.u8(..6) > 0 { owner } else { !owner };
            let shade = if random.u8(..6) > 0 { shade } else { 1 - shade };
            let is_fit = |square: Square| (square.file() + square.rank()) % 2 == shade;
            if let Some(square) = self.find(random, is_fit) {
                self.put(color, Role::Bishop, square);
            }
        }
    }

    fn fen(&self, turn: Color, random: &mut Rng) -> String {
        let rank = |rank: u8| {
            let letter =
                |file| self.board[Square::at(file, rank).index()].map_or('1', Piece::letter);
            (0..8).map(letter).collect::<String>()
        };
        let board = (0..8).rev().map(rank).collect::<Vec<_>>().join("/");
        let turn = if turn == Color::White { 'w' } else { 'b' };
        let rights = if self.rights.is_empty() { "-" } else { &self.rights };
        let clock = if random.u8(..8) == 0 { random.u8(85..=101) } else { 0 };
        format!("{board} {turn} {rights} - {clock} 70")
    }
}

fn distance(a: Square, b: Square) -> u8 {
    a.file().abs_diff(b.file()).max(a.rank().abs_diff(b.rank()))
}

type IsRare<'a> = &'a dyn Fn(&Move) -> bool;

/// A legal move, or `None` when there is none. Often a rare one; seldom one that ends the
/// game at once; now and then the way back, so that positions repeat.
pub(crate) fn choose(
    position: &Position,
    own_last: Option<Move>,
    random: &mut Rng,
) -> Option<Move> {
    let moves = position.legal_moves();
    let their_king = position.king(!position.turn());
    let wins = |mv: &Move| their_king.is_some_and(|king| position.explosion(*mv).contains(king));
    let others: Vec<Move> = moves.iter().copied().filter(|mv| !wins(mv)).collect();
    if others.is_empty() || random.u8(..12) == 0 {
        return random.choice(moves.iter()).copied();
    }
    if random.u8(..12) == 0
        && let Some(last) = own_last
        && let Some(back) =
            others.iter().find(|mv| mv.from() == last.to() && mv.to() == last.from())
    {
        return Some(*back);
    }
    let rare: [(u8, IsRare<'_>); 6] = [
        (2, &|mv| mv.kind() == Kind::EnPassant),
        (2, &|mv| is_double_step_past_a_pawn(position, *mv)),
        (4, &|mv| mv.is_castling()),
        (8, &|mv| mv.promotion().is_some()),
        (12, &|mv| is_approach(position, *mv)),
        (12, &|mv| mv.is_capture()),
    ];
    for (one_in, is_rare) in rare {
        if random.u8(..one_in) == 0
            && let Some(&mv) = pick(others.iter().filter(|mv| is_rare(mv)), random)
        {
            return Some(mv);
        }
    }
    let quiet = pick(others.iter().filter(|mv| !mv.is_capture()), random);
    quiet.or_else(|| random.choice(others.iter())).copied()
}

/// One of the items, all equally likely.
fn pick<T>(items: impl Iterator<Item = T>, random: &mut Rng) -> Option<T> {
    random.choice(items.collect::<Vec<T>>())
}

/// Whether a king steps beside the other king.
fn is_approach(position: &Position, mv: Move) -> bool {
    let is_king = position.king(position.turn()) == Some(mv.from());
    let theirs = position.king(!position.turn());
    is_king && theirs.is_some_and(|theirs| attacks::king(theirs).contains(mv.to()))
}

/// Whether a pawn goes two steps and ends beside an enemy pawn.
fn is_double_step_past_a_pawn(position: &Position, mv: Move) -> bool {
    let pawns = position.of(!position.turn(), Role::Pawn);
    let beside = Bitboard::of(mv.to()).east() | Bitboard::of(mv.to()).west();
    position.of(position.turn(), Role::Pawn).contains(mv.from())
        && mv.from().rank().abs_diff(mv.to().rank()) == 2
        && (beside & pawns).any()
}
