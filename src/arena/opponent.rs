//! Who plays for the house: the interface, and a few simple players.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde::Deserialize;

use crate::rules::{Color, History, Move, Position, Role};

/// Chooses the moves of a house player.
///
/// Runs on a thread for blocking work and may take its time, but no more than
/// [`ThinkingTime::limit`]: nothing can interrupt it, and the runtime waits for it at its end.
pub trait Opponent: Send + Sync {
    /// What to do in the position at the end of `history`, which is not over.
    fn choose(&self, history: &History, time: ThinkingTime) -> Choice;
}

/// How much time an opponent has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThinkingTime {
    /// Left on its clock; `None` without one.
    pub remaining: Option<Duration>,
    /// Added after the move.
    pub increment: Duration,
    /// The most that this move may take.
    pub limit: Duration,
}

/// What an opponent does when it is to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Plays this move. An illegal one counts as [`Choice::Wait`].
    Play(Move),
    /// Plays nothing and lets its clock run.
    Wait,
    /// Gives the game up.
    Resign,
}

/// The opponents that the arena brings along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OpponentKind {
    /// See [`RandomOpponent`].
    Random,
    /// See [`GreedyOpponent`].
    #[default]
    Greedy,
    /// See [`SilentOpponent`].
    Silent,
}

impl OpponentKind {
    /// Makes the opponent.
    pub fn build(self, seed: u64) -> Arc<dyn Opponent> {
        match self {
            Self::Random => Arc::new(RandomOpponent::new(seed)),
            Self::Greedy => Arc::new(GreedyOpponent::new(seed)),
            Self::Silent => Arc::new(SilentOpponent),
        }
    }
}

/// Plays any legal move.
#[derive(Debug)]
pub struct RandomOpponent {
    dice: Dice,
}

/// Explodes the enemy king if it can; else takes where the blast wins the most material; else
/// plays any move. Avoids moves after which its own king can be exploded at once.
#[derive(Debug)]
pub struct GreedyOpponent {
    dice: Dice,
}

/// Never moves.
#[derive(Clone, Copy, Debug)]
pub struct SilentOpponent;

/// Plays the given moves in UCI notation, one a turn, and then nothing more.
/// A move that is not legal is skipped over.
#[derive(Debug)]
pub struct ScriptedOpponent {
    moves: Mutex<VecDeque<String>>,
}

/// A seeded source of chance that several games may share.
#[derive(Debug)]
struct Dice(Mutex<fastrand::Rng>);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(Mutex::new(fastrand::Rng::with_seed(seed)))
    }

    fn pick(&self, moves: &[Move]) -> Option<Move> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).choice(moves).copied()
    }
}

impl RandomOpponent {
    /// An opponent whose choices follow from the seed.
    pub fn new(seed: u64) -> Self {
        Self { dice: Dice::new(seed) }
    }
}

impl Opponent for RandomOpponent {
    fn choose(&self, history: &History, _time: ThinkingTime) -> Choice {
        let moves = history.position().legal_moves();
        self.dice.pick(&moves).map_or(Choice::Wait, Choice::Play)
    }
}

impl GreedyOpponent {
    /// An opponent whose choices follow from the seed.
    pub fn new(seed: u64) -> Self {
        Self { dice: Dice::new(seed) }
    }

    fn best(&self, position: &Position) -> Option<Move> {
        let us = position.turn();
        let moves = position.legal_moves();
        let wins = |&mv: &Move| mv.is_capture() && position.after(mv).king(!us).is_none();
        if let Some(mv) = moves.iter().copied().find(wins) {
            return Some(mv);
        }
        let safe: Vec<Move> = moves
            .iter()
            .copied()
            .filter(|&mv| !can_explode_king(&position.after(mv), us))
            .collect();
        if safe.is_empty() {
            return self.dice.pick(&moves);
        }
        let value = |mv: Move| if mv.is_capture() { blast_value(position, mv) } else { 0 };
        let best = safe.iter().map(|&mv| value(mv)).max()?;
        let best_moves: Vec<Move> = safe.into_iter().filter(|&mv| value(mv) == best).collect();
        self.dice.pick(&best_moves)
    }
}

impl Opponent for GreedyOpponent {
    fn choose(&self, history: &History, _time: ThinkingTime) -> Choice {
        self.best(history.position()).map_or(Choice::Wait, Choice::Play)
    }
}

impl Opponent for SilentOpponent {
    fn choose(&self, _history: &History, _time: ThinkingTime) -> Choice {
        Choice::Wait
    }
}

impl ScriptedOpponent {
    /// Plays these moves, separated by blanks.
    pub fn new(moves: &str) -> Self {
        Self { moves: Mutex::new(moves.split_whitespace().map(str::to_owned).collect()) }
    }
}

impl Opponent for ScriptedOpponent {
    fn choose(&self, history: &History, _time: ThinkingTime) -> Choice {
        let mut moves = self.moves.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(uci) = moves.pop_front() {
            if let Ok(mv) = history.position().parse_uci(&uci) {
                return Choice::Play(mv);
            }
        }
        Choice::Wait
    }
}

/// Whether the side to move can explode the king of `us` at once.
fn can_explode_king(position: &Position, us: Color) -> bool {
    position.captures().iter().any(|&mv| position.after(mv).king(us).is_none())
}

/// What the enemy loses in a capture beyond our own loss, in pawns.
fn blast_value(position: &Position, mv: Move) -> i32 {
    let us = position.turn();
    let men = position.explosion(mv).into_iter().filter_map(|square| position.piece_on(square));
    men.map(|man| if man.color == us { -worth(man.role) } else { worth(man.role) }).sum()
}

fn worth(role: Role) -> i32 {
    match role {
        Role::Pawn => 1,
        Role::Knight | Role::Bishop => 3,
        Role::Rook => 5,
        Role::Queen => 9,
        Role::King => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: ThinkingTime =
        ThinkingTime { remaining: None, increment: Duration::ZERO, limit: Duration::MAX };

    fn choose(opponent: &dyn Opponent, moves: &str) -> Choice {
        let mut history = History::default();
        for uci in moves.split_whitespace() {
            history.play_uci(uci).unwrap();
        }
        opponent.choose(&history, TIME)
    }

    fn uci(choice: Choice) -> String {
        match choice {
            Choice::Play(mv) => mv.to_string(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn greedy_explodes_the_king() {
        for seed in 0..8 {
            let choice = choose(&GreedyOpponent::new(seed), "g1f3 a7a6 f3e5 a6a5");
            // Both blasts reach the king on e8.
            assert!(["e5d7", "e5f7"].contains(&uci(choice).as_str()), "{choice:?}");
        }
    }

    #[test]
    fn greedy_stops_the_explosion_of_its_king() {
        // 1.Nf3 threatens Ne5 or Ng5 next; after 2.Ng5 Black must deal with Nxf7.
        for seed in 0..8 {
            let choice = choose(&GreedyOpponent::new(seed), "g1f3 f7f6 f3g5");
            let Choice::Play(mv) = choice else { panic!("{choice:?}") };
            let mut history = History::default();
            for uci in ["g1f3", "f7f6", "f3g5"] {
                history.play_uci(uci).unwrap();
            }
            history.play(mv).unwrap();
            assert!(!can_explode_king(history.position(), Color::Black), "seed {seed}: {mv}");
        }
    }

    #[test]
    fn a_blast_counts_both_sides() {
        let position =
            Position::from_fen("rnbqkbnr/ppppp1pp/5p2/6N1/8/8/PPPPPPPP/RNBQKB1R w KQkq - 0 3")
                .unwrap();
        let mv = position.parse_uci("g5h7").unwrap();
        // Knight for pawn, rook and knight.
        assert_eq!(blast_value(&position, mv), 1 + 5 + 3 - 3);
    }

    #[test]
    fn equal_seeds_play_equal_games() {
        let game = |seed| {
            let opponent = RandomOpponent::new(seed);
            (0..20).map(|_| uci(choose(&opponent, ""))).collect::<Vec<_>>()
        };
        assert_eq!(game(5), game(5));
        assert_ne!(game(5), game(6));
    }

    #[test]
    fn a_script_is_followed_and_then_silence() {
        let opponent = ScriptedOpponent::new("e2e5 e2e4");
        assert_eq!(uci(choose(&opponent, "")), "e2e4");
        assert_eq!(choose(&opponent, ""), Choice::Wait);
    }
}
