//! What waits to be written. Bounded: what is newer takes the place of what is older, and if too much
//! waits all the same, something new is dropped.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use tokio::sync::oneshot;

use crate::store::{
    AccountKey, AnswerRecord, ChallengeRecord, GameKey, GameRecord, MissedRecord, State,
};

/// Games that wait. Each is whole, so that the newest is enough.
const MOST_GAMES: usize = 1_000;
/// Other things that wait, in their order.
const MOST_NOTES: usize = 10_000;

/// What waits to be written.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// In the order in which they began, as they are listed. A few, but while nothing can be written.
    pub(super) games: Vec<GameRecord>,
    pub(super) notes: VecDeque<Note>,
    pub(super) states: BTreeMap<AccountKey, Arc<State>>,
    /// Who waits for all of that to be written, or to have failed.
    pub(super) waiting: Vec<oneshot::Sender<()>>,
}

/// Something that is written in its order.
#[derive(Clone, Debug)]
pub(super) enum Note {
    Challenge(ChallengeRecord),
    Answer(AnswerRecord),
    RatingDiff(GameKey, i32),
    Missed(MissedRecord),
}

/// Too much waits already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full;

impl Pending {
    pub(super) fn put_game(&mut self, record: GameRecord) -> Result<(), Full> {
        let is_known = |it: &GameRecord| it.key == record.key;
        if self.games.len() >= MOST_GAMES && !self.games.iter().any(is_known) {
            return Err(Full);
        }
        self.join(record);
        Ok(())
    }

    fn join(&mut self, record: GameRecord) {
        match self.games.iter_mut().find(|known| known.key == record.key) {
            Some(known) => {
                let started_at = known.started_at.min(record.started_at);
                *known = GameRecord { started_at, ..known.continued_by(record) };
            }
            None => self.games.push(record),
        }
    }

    pub(super) fn put_note(&mut self, note: Note) -> Result<(), Full> {
        if self.notes.len() >= MOST_NOTES {
            return Err(Full);
        }
        self.notes.push_back(note);
        Ok(())
    }

    /// Puts back what could not be written. What came meanwhile is newer.
    pub(super) fn put_back(&mut self, old: Self) {
        for newer in std::mem::replace(&mut self.games, old.games) {
            self.join(newer);
        }
        for note in old.notes.into_iter().rev() {
            self.notes.push_front(note);
        }
        for (key, state) in old.states {
            self.states.entry(key).or_insert(state);
        }
        self.waiting.extend(old.waiting);
    }

    /// Whether nothing is to be done.
    pub(super) fn is_empty(&self) -> bool {
        self.games.is_empty()
            && self.notes.is_empty()
            && self.states.is_empty()
            && self.waiting.is_empty()
    }
}
