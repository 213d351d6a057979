//! What a platform's loop has the store remember of games and challenges.

use std::time::Duration;

use tracing::warn;

use crate::{
    daemon::policy::{Criterion, VARIANT},
    game::{GameId, Scoresheet, TimeControl},
    platform::{Challenge, ChallengeClock, Speed, User},
    store::{
        AccountKey, AnswerRecord, ChallengeAnswer, ChallengeRecord, Epoch, GameKey, GameRecord,
        MissedRecord, Store,
    },
};

/// How long the last writing may take at the end.
const LAST_LIMIT: Duration = Duration::from_secs(5);

/// Remembers games and challenges of one account.
#[derive(Clone, Debug)]
pub(super) struct Recorder {
    store: Store,
    account: AccountKey,
    began_at: Epoch,
    /// Whether the games of former runs have been compared with those that run.
    has_compared: bool,
}

impl Recorder {
    pub(super) fn new(store: Store, account: AccountKey) -> Self {
        Self { store, account, began_at: Epoch::now(), has_compared: false }
    }

    /// What a game's driver calls with each change of its sheet.
    pub(super) fn follow(&self, id: GameId) -> Box<dyn FnMut(&Scoresheet) + Send> {
        let (store, key) = (self.store.clone(), self.key(id));
        Box::new(move |sheet| {
            let speed = speed(sheet.time_control).map(|speed| speed.key().to_owned());
            store.put_game(GameRecord::new(key.clone(), speed, sheet, Epoch::now()));
        })
    }

    /// The games that run when we come: others, of which we know no end, ended while we were away.
    pub(super) fn compare(&mut self, running: Vec<GameId>) {
        if !std::mem::replace(&mut self.has_compared, true) {
            self.missed(running, self.began_at);
        }
    }

    /// Of the games that began before now these run or may go on: all others are over.
    pub(super) fn only_open(&self, games: Vec<GameId>) {
        self.missed(games, Epoch::now());
    }

    fn missed(&self, running: Vec<GameId>, before: Epoch) {
        let account = self.account.clone();
        self.store.put_missed(MissedRecord { account, running, before, at: Epoch::now() });
    }

    /// What a game did to our rating.
    pub(super) fn rated(&self, id: GameId, diff: i32) {
        self.store.put_rating_diff(self.key(id), diff);
    }

    /// Somebody challenges us.
    pub(super) fn challenged(&self, challenge: &Challenge) {
        self.remember(challenge, challenge.challenger.as_ref(), false);
    }

    /// We challenge somebody.
    pub(super) fn challenging(&self, challenge: &Challenge) {
        self.remember(challenge, challenge.target.as_ref(), true);
    }

    /// We ask somebody, or anybody, for a game on FICS, with time at the start and increment in seconds.
    pub(super) fn inviting(
        &self,
        id: &GameId,
        (opponent, is_bot): (Option<&str>, bool),
        rated: bool,
        clock: Option<ChallengeClock>,
    ) {
        self.store.put_challenge(ChallengeRecord {
            key: self.key(id.clone()),
            is_ours: true,
            at: Epoch::now(),
            opponent: opponent.map(str::to_owned),
            rating: None,
            is_bot,
            variant: VARIANT.to_owned(),
            rated,
            clock_s: clock.map(|clock| (clock.initial_s, clock.increment_s)),
            days: None,
        });
    }

    fn remember(&self, challenge: &Challenge, opponent: Option<&User>, is_ours: bool) {
        self.store.put_challenge(ChallengeRecord {
            key: self.key(challenge.id.clone()),
            is_ours,
            at: Epoch::now(),
            opponent: opponent.map(|user| user.name.clone()),
            rating: opponent.and_then(|user| user.rating),
            is_bot: opponent.is_some_and(|user| user.is_bot),
            variant: challenge.variant.clone(),
            rated: challenge.rated,
            clock_s: challenge.clock.map(|clock| (clock.initial_s, clock.increment_s)),
            days: challenge.days,
        });
    }

    /// What became of a challenge.
    pub(super) fn answered(&self, id: &GameId, answer: ChallengeAnswer) {
        self.answer(id, answer, None, None);
    }

    /// A challenge was declined: why, in the server's word, and by us for this.
    pub(super) fn declined(&self, id: &GameId, reason: &str, why: Option<Criterion>) {
        self.answer(id, ChallengeAnswer::Declined, Some(reason), why.map(|why| why.to_string()));
    }

    /// A challenge came to nothing for this reason.
    pub(super) fn failed(&self, id: &GameId, why: String) {
        self.answer(id, ChallengeAnswer::Failed, None, Some(why));
    }

    fn answer(
        &self,
        id: &GameId,
        answer: ChallengeAnswer,
        reason: Option<&str>,
        detail: Option<String>,
    ) {
        self.store.put_answer(AnswerRecord {
            key: self.key(id.clone()),
            at: Epoch::now(),
            answer,
            reason: reason.map(str::to_owned),
            detail,
        });
    }

    /// Has everything written so far.
    pub(super) async fn close(&self) {
        if !self.store.flush(LAST_LIMIT).await {
            warn!("what is to be remembered could not be written in time");
        }
    }

    fn key(&self, id: GameId) -> GameKey {
        GameKey { account: self.account.clone(), id }
    }
}

/// The speed class of a game, as lichess has them.
fn speed(control: TimeControl) -> Option<Speed> {
    let seconds = |time: Duration| u32::try_from(time.as_secs()).unwrap_or(u32::MAX);
    match control {
        TimeControl::Clock { initial, increment } => {
            let clock =
                ChallengeClock { initial_s: seconds(initial), increment_s: seconds(increment) };
            Some(clock.speed())
        }
        TimeControl::Correspondence { .. } => Some(Speed::Correspondence),
        TimeControl::Unlimited => None,
    }
}
