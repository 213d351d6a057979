//! The server's view of a game, checked against the rules.

use std::time::Instant;

use crate::{
    game::{Clock, GameFull, Player},
    rules::{History, Move, MoveList, Position},
};

/// The server's view of the game, checked against the rules.
#[derive(Debug)]
pub(super) struct Record {
    /// As told at the last opening of the stream, with the newest state.
    pub(super) full: GameFull,
    /// Where the game began.
    pub(super) start: Position,
    /// The moves of `full.state`, played.
    pub(super) history: History,
    /// The newest clocks.
    pub(super) clock: Clock,
}

/// What stands open of a player's offers.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenOffers {
    pub(super) draw: bool,
    pub(super) takeback: bool,
}

/// A move of a server's list that our rules do not allow.
#[derive(Debug)]
pub(super) struct IllegalInList {
    /// How many moves come before it.
    pub(super) ply: usize,
    /// The move, shortened.
    pub(super) uci: String,
}

impl Record {
    /// A game whose list has not been played yet.
    pub(super) fn new(full: GameFull, start: Position, arrived: Instant) -> Self {
        let clock = Clock::new(&full.state, arrived);
        Self { history: History::new(start.clone()), full, start, clock }
    }

    /// How many moves were played.
    pub(super) fn ply(&self) -> usize {
        self.history.moves().len()
    }

    /// Who plays against us.
    pub(super) fn opponent(&self) -> &Player {
        &self.full.players[(!self.full.our_color).index()]
    }

    /// What the opponent offers and proposes.
    pub(super) fn offers_of_opponent(&self) -> OpenOffers {
        let (state, them) = (&self.full.state, (!self.full.our_color).index());
        OpenOffers { draw: state.draw_offer[them], takeback: state.takeback_offer[them] }
    }

    /// The history of this list. Only what goes beyond the known moves is played when the list
    /// extends them, which is the common case and in the way of our reply.
    pub(super) fn replay(&self, moves: &[String]) -> Result<History, IllegalInList> {
        let known = &self.full.state.moves;
        let extends = moves.len() >= known.len()
            && known.len() == self.ply()
            && moves[..known.len()] == known[..];
        let (mut history, played) = if extends {
            (self.history.clone(), known.len())
        } else {
            (History::new(self.start.clone()), 0)
        };
        for (index, uci) in moves.iter().enumerate().skip(played) {
            if history.play_uci(uci).is_err() {
                return Err(IllegalInList { ply: index, uci: uci.chars().take(16).collect() });
            }
        }
        Ok(history)
    }

    /// The legal moves without one that was refused, unless nothing would be left.
    pub(super) fn candidates(&self, refused: Option<Move>) -> MoveList {
        let legal = self.history.position().legal_moves();
        let others: MoveList = legal.iter().copied().filter(|&mv| Some(mv) != refused).collect();
        if others.is_empty() { legal } else { others }
    }
}
