//! The naive board: one man to a square, moves and explosions by definition.

use meitner::rules::{Color, Piece, Role};

const ROOK: [(i8, i8); 4] = [(1, 0), (-1, 0), (0, 1), (0, -1)];
const BISHOP: [(i8, i8); 4] = [(1, 1), (1, -1), (-1, 1), (-1, -1)];
const KNIGHT: [(i8, i8); 8] =
    [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];

/// File and rank, 0 to 7.
pub(crate) type At = (i8, i8);

#[derive(Clone)]
pub(crate) struct Naive {
    men: [[Option<Piece>; 8]; 8],
    pub(crate) turn: Color,
    /// The rooks that may still castle.
    pub(crate) rooks: Vec<At>,
    /// The square that a pawn has just stepped over.
    pub(crate) passed: Option<At>,
    pub(crate) clock: u32,
    pub(crate) number: u32,
}

/// From, to (the rook, if it castles), promotion, and whether it castles.
#[derive(Clone, Copy)]
pub(crate) struct Step(pub(crate) At, pub(crate) At, pub(crate) Option<Role>, pub(crate) bool);

pub(crate) fn name((file, rank): At) -> String {
    format!("{}{}", char::from(b'a' + file as u8), rank + 1)
}

fn is_on_board((file, rank): At) -> bool {
    (0..8).contains(&file) && (0..8).contains(&rank)
}

pub(crate) fn is_beside(a: At, b: At) -> bool {
    a != b && (a.0 - b.0).abs() <= 1 && (a.1 - b.1).abs() <= 1
}

pub(crate) fn squares() -> impl Iterator<Item = At> {
    (0..64).map(|index| (index % 8, index / 8))
}

/// The rank index of White's `rank`, or of Black's seen from the other side.
fn rank_of(color: Color, rank: i8) -> i8 {
    if color == Color::White { rank } else { 7 - rank }
}

pub(crate) fn forward(color: Color) -> i8 {
    if color == Color::White { 1 } else { -1 }
}

impl Naive {
    /// Reads a FEN that is known to be in order.
    pub(crate) fn new(fen: &str) -> Self {
        let fields: Vec<&str> = fen.split(' ').collect();
        let turn = if fields[1] == "w" { Color::White } else { Color::Black };
        let number = |field: usize| fields[field].parse().expect("a number");
        let (clock, number) = (number(4), number(5));
        let mut naive =
            Self { men: [[None; 8]; 8], turn, rooks: vec![], passed: None, clock, number };
        for (rank, row) in (0..8).rev().zip(fields[0].split('/')) {
            let mut file = 0;
            for letter in row.chars() {
                if let Some(gap) = letter.to_digit(10) {
                    file += gap as usize;
                } else {
                    naive.men[rank][file] = Piece::from_letter(letter);
                    file += 1;
                }
            }
        }
        for letter in fields[2].chars().filter(|&letter| letter != '-') {
            let color = if letter.is_uppercase() { Color::White } else { Color::Black };
            let mut rooks = naive.home_rooks(color);
            let rook = match letter.to_ascii_lowercase() {
                'k' => rooks.next_back().expect("a rook"),
                'q' => rooks.next().expect("a rook"),
                file => (file as i8 - 'a' as i8, rank_of(color, 0)),
            };
            naive.rooks.push(rook);
        }
        if let [file, rank] = fields[3].as_bytes() {
            naive.passed = Some(((file - b'a') as i8, (rank - b'1') as i8));
        }
        naive
    }

    pub(crate) fn at(&self, (file, rank): At) -> Option<Piece> {
        self.men[rank as usize][file as usize]
    }

    fn set(&mut self, (file, rank): At, man: Option<Piece>) {
        self.men[rank as usize][file as usize] = man;
    }

    pub(crate) fn is_man(&self, at: At, color: Color, role: Role) -> bool {
        self.at(at) == Some(Piece { color, role })
    }

    pub(crate) fn all(&self, color: Color) -> impl Iterator<Item = (At, Role)> {
        squares().filter_map(move |at| {
            self.at(at).filter(|man| man.color == color).map(|man| (at, man.role))
        })
    }

    pub(crate) fn king(&self, color: Color) -> Option<At> {
        squares().find(|&at| self.is_man(at, color, Role::King))
    }

    pub(crate) fn home_rooks(&self, color: Color) -> std::vec::IntoIter<At> {
        let home = (0..8).map(|file| (file, rank_of(color, 0)));
        home.filter(|&at| self.is_man(at, color, Role::Rook)).collect::<Vec<_>>().into_iter()
    }

    /// The squares that a man reaches by its way of capturing, up to the first man in each direction.
    fn reach(&self, from: At, man: Piece) -> Vec<At> {
        let ahead = forward(man.color);
        let pawn = [(-1, ahead), (1, ahead)];
        let all = [ROOK, BISHOP].concat();
        let (directions, slides): (&[At], bool) = match man.role {
            Role::Pawn => (&pawn, false),
            Role::Knight => (&KNIGHT, false),
            Role::Bishop => (&BISHOP, true),
            Role::Rook => (&ROOK, true),
            Role::Queen => (&all, true),
            Role::King => (&all, false),
        };
        let mut reached = Vec::new();
        for (file, rank) in directions {
            let mut to = (from.0 + file, from.1 + rank);
            while is_on_board(to) {
                reached.push(to);
                if !slides || self.at(to).is_some() {
                    break;
                }
                to = (to.0 + file, to.1 + rank);
            }
        }
        reached
    }

    /// R8, R10, R12: attacked by an enemy man while the kings do not touch. A king attacks nothing,
    /// for it cannot capture (R6).
    pub(crate) fn is_check(&self, color: Color) -> bool {
        let (Some(ours), Some(theirs)) = (self.king(color), self.king(!color)) else {
            return false;
        };
        !is_beside(ours, theirs)
            && self.all(!color).any(|(from, role)| {
                role != Role::King
                    && self.reach(from, Piece { color: !color, role }).contains(&ours)
            })
    }

    /// What the men could do if no king had to survive.
    fn pseudo_moves(&self) -> Vec<Step> {
        let us = self.turn;
        let mut steps = Vec::new();
        for (from, role) in self.all(us) {
            let mut targets: Vec<At> = Vec::new();
            let is_enemy = |at: &At| self.at(*at).is_some_and(|man| man.color != us);
            let reached = self.reach(from, Piece { color: us, role }).into_iter();
            match role {
                Role::Pawn => {
                    let step = |count| (from.0, from.1 + count * forward(us));
                    if self.at(step(1)).is_none() {
                        targets.push(step(1));
                        if from.1 == rank_of(us, 1) && self.at(step(2)).is_none() {
                            targets.push(step(2));
                        }
                    }
                    targets.extend(reached.filter(|at| is_enemy(at) || self.passed == Some(*at)));
                }
                // R6
                Role::King => targets.extend(reached.filter(|at| self.at(*at).is_none())),
                _ => targets.extend(reached.filter(|at| self.at(*at).is_none() || is_enemy(at))),
            }
            for to in targets {
                if role == Role::Pawn && to.1 == rank_of(us, 7) {
                    let roles = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight];
                    steps.extend(roles.map(|role| Step(from, to, Some(role), false)));
                } else {
                    steps.push(Step(from, to, None, false));
                }
            }
            if role == Role::King {
                let rooks = self.rooks.iter().filter(|at| self.is_man(**at, us, Role::Rook));
                steps.extend(rooks.map(|&rook| Step(from, rook, None, true)));
            }
        }
        steps.retain(|step| !step.3 || self.may_castle(*step));
        steps
    }

    /// R19: nobody else stands where king or rook go, and the king neither is in check nor would be
    /// on a square that it crosses. Where it arrives is looked at like after any other move.
    fn may_castle(&self, Step(king, rook, ..): Step) -> bool {
        let (king_to, rook_to) = castled(king, rook);
        let is_free = |at: At| at == king || at == rook || self.at(at).is_none();
        let way = |a: At, b: At| (a.0.min(b.0)..=a.0.max(b.0)).map(move |file| (file, a.1));
        way(king, king_to).chain(way(rook, rook_to)).all(is_free)
            && way(king, king_to).filter(|at| *at != king_to || *at == king).all(|at| {
                let mut crossing = self.clone();
                crossing.set(king, None);
                crossing.set(at, self.at(king));
                !crossing.is_check(self.turn)
            })
    }

    pub(crate) fn after(&self, Step(from, to, promotion, castles): Step) -> Self {
        let mut next = self.clone();
        let mut man = self.at(from).expect("somebody moves");
        let is_pawn = man.role == Role::Pawn;
        let is_en_passant = is_pawn && from.0 != to.0 && self.at(to).is_none();
        let is_capture = !castles && (self.at(to).is_some() || is_en_passant);
        next.set(from, None);
        if castles {
            next.set(to, None);
            let (king_to, rook_to) = castled(from, to);
            next.set(king_to, Some(man));
            next.set(rook_to, self.at(to));
        } else if is_capture {
            // R1, R3, R4
            next.set(to, None);
            if is_en_passant {
                next.set((to.0, from.1), None);
            }
            for at in squares().filter(|at| is_beside(*at, to)) {
                if next.at(at).is_some_and(|man| man.role != Role::Pawn) {
                    next.set(at, None);
                }
            }
        } else {
            man.role = promotion.unwrap_or(man.role);
            next.set(to, Some(man));
        }
        // R18; and a king that moves or is gone castles no more.
        let is_kept = |&rook: &At| {
            let color = if rook.1 == 0 { Color::White } else { Color::Black };
            let has_moved = color == self.turn && man.role == Role::King;
            next.is_man(rook, color, Role::Rook) && next.king(color).is_some() && !has_moved
        };
        next.rooks = self.rooks.iter().copied().filter(is_kept).collect();
        let is_double = is_pawn && (to.1 - from.1).abs() == 2;
        next.passed = is_double.then_some((from.0, i8::midpoint(from.1, to.1)));
        next.clock = if is_pawn || is_capture { 0 } else { self.clock + 1 };
        next.number += u32::from(self.turn == Color::Black);
        next.turn = !self.turn;
        next
    }

    /// The pseudo-legal moves after which our king is there (R7), and the enemy king is gone (R2,
    /// R13) or ours not in check (R10).
    pub(crate) fn legal_moves(&self) -> Vec<Step> {
        if self.king(self.turn).is_none() || self.king(!self.turn).is_none() {
            return Vec::new();
        }
        let mut steps = self.pseudo_moves();
        steps.retain(|step| {
            let next = self.after(*step);
            next.king(self.turn).is_some() && !next.is_check(self.turn)
        });
        steps
    }
}

fn castled(king: At, rook: At) -> (At, At) {
    let files = if rook.0 > king.0 { (6, 5) } else { (2, 3) };
    ((files.0, king.1), (files.1, king.1))
}
