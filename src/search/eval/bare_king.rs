//! A single queen or pawn against the bare king: exactly, for all positions.
//!
//! Nothing is ever captured there: kings never capture, and a blast beside the touching kings would
//! take both. So the weak king's squares can be solved as sets, all 64 at once, which takes some
//! milliseconds when the first engine starts.

use std::sync::LazyLock;

use crate::{
    rules::{Bitboard, Color, Position, Role, Square, attacks},
    search::score::Value,
};

/// A won position, in centipawns: more than any two pieces, and a pawn's less than a queen's, so that
/// it is promoted.
const WON_QUEEN: Value = 1_000;
const WON_PAWN: Value = 700;
/// Each rank that a pawn has gone.
const PAWN_RANK: Value = 20;
/// A drawn one: the other side may still go wrong.
const DRAWN: Value = 20;

static TABLES: LazyLock<Tables> = LazyLock::new(Tables::new);

/// Solves everything, unless that has happened. Who comes later finds it done.
pub(super) fn prepare() {
    LazyLock::force(&TABLES);
}

/// The value for the side to move, in centipawns, if this is such a position.
pub(super) fn value(position: &Position) -> Option<Value> {
    let strong = if position.has_bare_king(Color::White) { Color::Black } else { Color::White };
    let (king, bare) = (position.king(strong)?, position.king(!strong)?);
    if !position.has_bare_king(!strong) {
        return None;
    }
    let man = position.side(strong).without(Bitboard::of(king));
    let square = man.first().filter(|_| !man.has_several())?;
    // The tables are White's, whose pawns go up.
    let turned = |square: Square| if strong == Color::White { square } else { square.flip_rank() };
    let (table, progress) = if position.role(Role::Queen).any() {
        (&TABLES.queen, WON_QUEEN)
    } else if position.role(Role::Pawn).any() {
        (&TABLES.pawn, WON_PAWN + PAWN_RANK * Value::from(turned(square).rank()))
    } else {
        return None;
    };
    let is_strong_to_move = position.turn() == strong;
    let sets = if is_strong_to_move { &table.won } else { &table.lost };
    let is_won = sets[turned(king).index()][turned(square).index()].contains(turned(bare));
    let value = if is_won { progress } else { DRAWN };
    Some(if is_strong_to_move { value } else { -value })
}

/// A set of squares of the bare king for each square of the strong king and each of its man.
type Sets = Box<[[Bitboard; 64]]>;

/// What is won against the bare king, by who moves.
struct Table {
    /// With the strong side to move.
    won: Sets,
    /// With the bare king to move.
    lost: Sets,
}

struct Tables {
    queen: Table,
    pawn: Table,
}

impl Tables {
    fn new() -> Self {
        let queen = Table::new(attacks::queen, |table, king, man, won| {
            let (near, far) = (Bitboard::of(king), Bitboard::of(man));
            for to in attacks::queen(man, near).without(near) {
                *won |=
                    table.lost[king.index()][to.index()].without(attacks::between(man, to) | far);
            }
        });
        let pawn = Table::new(
            |man, _| attacks::pawn(Color::White, man),
            |table, king, man, won| {
                let last = if man.rank() == 1 { 3 } else { (man.rank() + 1).min(7) };
                for rank in man.rank() + 1..=last {
                    let to = Square::at(man.file(), rank);
                    if to == king {
                        break;
                    }
                    let next = if to.rank() == 7 { &queen } else { table };
                    let path = attacks::between(man, to) | Bitboard::of(to) | Bitboard::of(man);
                    *won |= next.lost[king.index()][to.index()].without(path);
                }
            },
        );
        Self { queen, pawn }
    }
}

impl Table {
    /// Solves for a man with these attacks, over the given occupied squares, and whose moves add to
    /// the set of won positions what they win.
    fn new(
        reach: impl Fn(Square, Bitboard) -> Bitboard,
        man_wins: impl Fn(&Self, Square, Square, &mut Bitboard),
    ) -> Self {
        let empty = || vec![[Bitboard::EMPTY; 64]; 64].into_boxed_slice();
        let mut table = Self { won: empty(), lost: empty() };
        let mut is_new = true;
        while is_new {
            is_new = false;
            for king in Square::all() {
                for man in Square::all().filter(|&man| man != king) {
                    is_new |= table.step(king, man, &reach, &man_wins);
                }
            }
        }
        table
    }

    /// Looks one ply further, and tells whether that has found anything.
    fn step(
        &mut self,
        king: Square,
        man: Square,
        reach: &impl Fn(Square, Bitboard) -> Bitboard,
        man_wins: &impl Fn(&Self, Square, Square, &mut Bitboard),
    ) -> bool {
        let near = attacks::king(king);
        let free = !(Bitboard::of(king) | Bitboard::of(man));
        // Where the bare king is not in check. It does not stand in the way of a line to itself.
        let safe = free & (near | !reach(man, Bitboard::of(king)));
        let (won, lost) =
            (self.won[king.index()][man.index()], self.lost[king.index()][man.index()]);

        let has_escape = spread(safe.without(won));
        let is_stalemate = safe.without(spread(safe));
        let new_lost = free.without(has_escape | is_stalemate);

        let mut new_won = won;
        for to in near.without(Bitboard::of(man)) {
            new_won |= self.lost[to.index()][man.index()];
        }
        man_wins(self, king, man, &mut new_won);
        let new_won = new_won & safe;

        self.lost[king.index()][man.index()] = new_lost;
        self.won[king.index()][man.index()] = new_won;
        (new_won, new_lost) != (won, lost)
    }
}

/// All squares beside one of these.
fn spread(squares: Bitboard) -> Bitboard {
    let row = squares.east() | squares.west();
    let wide = row | squares;
    row | wide.north() | wide.south()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Outcome;

    fn position(
        strong: Color,
        king: Square,
        man: (Role, Square),
        bare: Square,
        turn: Color,
    ) -> String {
        let letter = |role: Role, color: Color| match (role, color) {
            (Role::Queen, Color::White) => 'Q',
            (Role::Queen, Color::Black) => 'q',
            (Role::Pawn, Color::White) => 'P',
            (Role::Pawn, Color::Black) => 'p',
            (_, Color::White) => 'K',
            (_, Color::Black) => 'k',
        };
        let mut fen = String::new();
        for rank in (0..8).rev() {
            for file in 0..8 {
                let square = Square::at(file, rank);
                fen.push(match square {
                    _ if square == king => letter(Role::King, strong),
                    _ if square == bare => letter(Role::King, !strong),
                    _ if square == man.1 => letter(man.0, strong),
                    _ => '1',
                });
            }
            if rank > 0 {
                fen.push('/');
            }
        }
        let turn = if turn == Color::White { 'w' } else { 'b' };
        format!("{fen} {turn} - - 0 1")
    }

    /// Whether the side to move wins (1), draws (0) or loses (-1); nothing if it is no such position.
    fn verdict(position: &Position) -> Option<i32> {
        match position.outcome().and_then(Outcome::winner) {
            Some(winner) => return Some(if winner == position.turn() { 1 } else { -1 }),
            None if position.outcome().is_some() => return Some(0),
            None => {}
        }
        let value = value(position)?;
        Some(if value.abs() <= DRAWN { 0 } else { value.signum() })
    }

    /// Each verdict follows from those of the positions after all legal moves.
    #[test]
    fn the_tables_agree_with_the_rules_ply_by_ply() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut seen = [0_u32; 3];
        for _ in 0..20_000 {
            let mut square = || Square::new(random.u8(0..64));
            let (king, man, bare) = (square(), square(), square());
            let color = |is_white: bool| if is_white { Color::White } else { Color::Black };
            let (strong, turn) = (color(random.bool()), color(random.bool()));
            let role = if random.bool() { Role::Queen } else { Role::Pawn };
            let fen = position(strong, king, (role, man), bare, turn);
            let Ok(position) = Position::from_fen(&fen) else { continue };
            if position.outcome().is_some() {
                continue;
            }
            let found = verdict(&position).expect("one man and a bare king");
            let moves = position.legal_moves();
            let best = moves.iter().map(|&mv| {
                let next = position.after(mv);
                // A rook, bishop or knight draws against a bare king.
                verdict(&next).map_or(0, |verdict| -verdict)
            });
            assert_eq!(Some(found), best.max(), "{fen}");
            let index = usize::try_from(found + 1).expect("0 to 2");
            seen[index] += 1;
        }
        assert!(seen.iter().all(|&count| count > 500), "{seen:?}");
    }

    /// The shares that complete tables of others give: a queen wins 78 % with the move, a pawn 22 %.
    #[test]
    fn as_much_is_won_as_others_have_counted() {
        let share = |table: &Table,
                     ranks: std::ops::Range<u8>,
                     reach: &dyn Fn(Square, Bitboard) -> Bitboard| {
            let (mut won, mut all) = (0, 0);
            for king in Square::all() {
                for man in Square::all().filter(|man| *man != king && ranks.contains(&man.rank())) {
                    let occupied = Bitboard::of(king) | Bitboard::of(man);
                    let safe = attacks::king(king) | !reach(man, Bitboard::of(king));
                    all += safe.without(occupied).len();
                    won += table.won[king.index()][man.index()].len();
                }
            }
            (won * 100 + all / 2) / all
        };
        assert_eq!(share(&TABLES.queen, 0..8, &attacks::queen), 78);
        assert_eq!(share(&TABLES.pawn, 1..7, &|man, _| attacks::pawn(Color::White, man)), 22);
    }

    #[test]
    fn only_one_man_against_the_bare_king_is_known() {
        for (fen, is_known) in [
            ("8/8/8/8/8/k7/8/K3Q3 w - - 0 1", true),
            ("8/3p4/8/8/8/k7/8/K7 w - - 0 1", true),
            ("8/8/8/8/8/k7/8/K3R3 w - - 0 1", false),
            ("8/8/8/8/8/k7/3P4/K3Q3 w - - 0 1", false),
            ("8/8/8/8/8/k2p4/8/K3Q3 w - - 0 1", false),
            ("8/8/8/8/8/k7/8/K7 w - - 0 1", false),
        ] {
            let position = Position::from_fen(fen).unwrap();
            assert_eq!(value(&position).is_some(), is_known, "{fen}");
        }
    }
}
