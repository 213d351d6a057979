//! From bytes to positions: bytes that mean squares and men reach far more positions than bytes
//! that have to spell a FEN first.

use meitner::rules::{Color, Piece, Position, Role, Square};

/// Positions of all kinds, one a line: starts, explosions, en passant, promotions, castling from
/// odd files, touching kings, checks, a missing king, and the most men that are accepted.
pub(super) const POSITIONS: &str = "\
rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1
r1bqkb1r/ppp1pp1p/2n2np1/3pN3/3P4/2N5/PPP1PPPP/R1BQKB1R w KQkq - 0 5
4k3/8/2n1n3/2Pp4/2r5/8/8/4K3 w - d6 0 1
8/8/8/8/R2pP2k/8/8/4K3 b - e3 0 1
r3k2r/8/8/8/8/6n1/6PP/R3K2R b KQkq - 0 1
rr2k2r/8/8/8/8/8/8/RR2K2R w BHbh - 0 1
1r2kr2/8/8/8/8/8/8/1R2KR2 w BFbf - 3 9
n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1
3r4/8/8/3k4/3K4/8/8/7R w - - 0 1
8/8/6Qk/8/2b5/8/P7/1K6 b - - 0 1
k7/8/8/8/8/8/8/8 w - - 0 60
R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1
4k3/8/8/1PpP4/8/5n2/8/4K2R w K c6 0 2
8/8/8/p1p1p1pk/P1P1P1P1/7K/8/8 w - - 99 65535
";

/// The lines of a text as separate inputs.
pub(super) fn lines_of(text: &str) -> Vec<Vec<u8>> {
    text.lines().map(|line| line.as_bytes().to_vec()).collect()
}

/// Inputs that [`Source::position`] turns into each of [`POSITIONS`], with bytes left for moves;
/// and some that place their men.
pub(super) fn position_seeds() -> Vec<Vec<u8>> {
    let known = 0..u8::try_from(POSITIONS.lines().count()).expect("a few lines");
    let mut seeds: Vec<Vec<u8>> = known
        .map(|index| {
            let moves = (1..40_u8).map(|ply| ply.wrapping_mul(index + 73));
            [0, index].into_iter().chain(moves).collect()
        })
        .collect();
    seeds.extend((0..6_u8).map(|seed| {
        (0..80_u8).map(|index| index.wrapping_mul(37).wrapping_add(seed * 41) | 1).collect()
    }));
    seeds
}

/// Bytes that are used up one by one; zeros follow the last.
pub(super) struct Source<'a>(pub(super) &'a [u8]);

impl Source<'_> {
    pub(super) fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All that is left, as text.
    pub(super) fn text(self) -> String {
        String::from_utf8_lossy(self.0).into_owned()
    }

    pub(super) fn choose<T: Copy>(&mut self, items: &[T]) -> Option<T> {
        items.get(usize::from(self.byte()) % items.len().max(1)).copied()
    }

    /// A position that the FEN reader accepts: one of [`POSITIONS`], or one whose men the bytes
    /// place. `None` if the reader refuses that one whoever is to move.
    pub(super) fn position(&mut self) -> Option<Position> {
        if self.byte().is_multiple_of(2) {
            let lines: Vec<&str> = POSITIONS.lines().collect();
            return Position::from_fen(self.choose(&lines)?).ok();
        }
        let board = self.board();
        let (rights, passed, clock) = (self.byte(), self.byte(), self.byte());
        let turns = if rights >> 7 == 0 { ["w", "b"] } else { ["b", "w"] };
        let clock = [0, u16::from(clock), 99, u16::MAX][usize::from(clock) % 4];
        turns.into_iter().find_map(|turn| {
            let fields = (castling(&board, rights), en_passant(&board, turn, passed));
            let fen = format!("{} {turn} {} {} {clock} 1", placement(&board), fields.0, fields.1);
            Position::from_fen(&fen).ok()
        })
    }

    /// Two kings, up to 31 others anywhere but pawns on the first and last rank.
    fn board(&mut self) -> Board {
        let mut board = [None; 64];
        for color in Color::ALL {
            board[usize::from(self.byte() & 63)] = Some(Piece { color, role: Role::King });
        }
        for _ in 0..self.byte() & 31 {
            let (square, man) = (Square::new(self.byte()), self.byte());
            let is_king = board[square.index()].is_some_and(|piece| piece.role == Role::King);
            let role = match man % 8 {
                0..=2 if (1..7).contains(&square.rank()) => Role::Pawn,
                0..=3 => Role::Knight,
                4 => Role::Bishop,
                5 | 6 => Role::Rook,
                _ => Role::Queen,
            };
            if !is_king {
                board[square.index()] =
                    Some(Piece { color: Color::ALL[usize::from(man >> 7)], role });
            }
        }
        board
    }
}

type Board = [Option<Piece>; 64];

fn placement(board: &Board) -> String {
    let rank = |rank: u8| -> String {
        let piece = |file| board[Square::at(file, rank).index()];
        (0..8).map(|file| piece(file).map_or('1', Piece::letter)).collect()
    };
    (0..8).rev().map(rank).collect::<Vec<_>>().join("/")
}

/// Rights for rooks that stand with their king on the back rank, as the bits of `rights` choose.
fn castling(board: &Board, rights: u8) -> String {
    let mut field = String::new();
    for color in Color::ALL {
        let rank = color.back_rank();
        let is =
            |file: u8, role| board[Square::at(file, rank).index()] == Some(Piece { color, role });
        let Some(king) = (0..8).find(|&file| is(file, Role::King)) else { continue };
        for (side, files) in [(0, 0..king), (1, king + 1..8)] {
            let rooks: Vec<u8> = files.filter(|&file| is(file, Role::Rook)).collect();
            let choice = rights >> (2 * color.index() + side) & 1;
            if let (1, Some(&rook)) =
                (choice, rooks.get(usize::from(rights >> 4 & 1) % rooks.len().max(1)))
            {
                let letter = char::from(b'a' + rook);
                let is_white = color == Color::White;
                field.push(if is_white { letter.to_ascii_uppercase() } else { letter });
            }
        }
    }
    if field.is_empty() { "-".to_owned() } else { field }
}

/// A square that a pawn of the side that waits can just have passed over, on the file chosen.
fn en_passant(board: &Board, turn: &str, choice: u8) -> String {
    let (color, [origin, passed, pawn]) =
        if turn == "w" { (Color::Black, [6, 5, 4]) } else { (Color::White, [1, 2, 3]) };
    let on = |file, rank| board[Square::at(file, rank).index()];
    let file = choice % 16;
    let is_possible = file < 8
        && on(file, origin).is_none()
        && on(file, passed).is_none()
        && on(file, pawn) == Some(Piece { color, role: Role::Pawn });
    if is_possible { Square::at(file, passed).to_string() } else { "-".to_owned() }
}
