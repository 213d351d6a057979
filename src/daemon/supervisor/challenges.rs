//! Challenges: judged as they come, accepted when there is room.

use std::time::{Duration, Instant};

use tracing::{field, info, warn};

use crate::{
    daemon::{
        budget,
        policy::{Criterion, Facts, PolicyOptions, Situation, Verdict, judge},
        queue::QueueFull,
        slots::Holder,
        supervisor::{Closing, Supervisor},
        tournament::Berserk,
    },
    game::{GameId, WaitingNames},
    metrics::AnswerKind,
    platform::{
        Challenge, DeclineReason, User,
        lichess::{ApiError, Retry},
    },
    store::{ChallengeAnswer, Epoch},
};

/// Accepting pauses for a day at most, whatever the server says.
const LONGEST_PAUSE: Duration = Duration::from_hours(24);
/// Our own rating is asked for no more often (the server allows 30 such requests in 5 minutes).
const RATING_LIFE: Duration = Duration::from_mins(1);

impl Supervisor {
    pub(super) fn on_challenge(&mut self, challenge: Challenge) {
        let challenger = challenge.challenger.as_ref();
        if challenger.is_some_and(|user| user.id == self.account.id) {
            self.on_own_challenge(challenge);
            return;
        }
        if self.slots.knows(&challenge.id) || self.queue.contains(&challenge.id) {
            return;
        }
        let name = challenger.map_or("anonymous", |user| user.name.as_str());
        info!(
            challenge = %challenge.id, challenger = name, variant = challenge.variant,
            rated = challenge.rated, speed = challenge.speed.map(field::debug),
            clock = challenge.clock.map(field::display), days = challenge.days, "challenged"
        );
        self.recorder.challenged(&challenge);
        if let Verdict::Decline(reason, why) = self.judge(&self.current_policy(), &challenge) {
            self.decline(challenge.id, reason, why);
            return;
        }
        let id = challenge.id.clone();
        if let Err(QueueFull) = self.queue.push(challenge, Instant::now()) {
            self.decline(id, DeclineReason::Later, Criterion::Queue);
        }
    }

    /// Accepts waiting challenges while there is room, and declines those that have become unwelcome
    /// while they waited. Tells whether one waits for a slot.
    pub(super) fn admit(&mut self) -> bool {
        let now = Instant::now();
        let is_ready = self.ready_at.is_some_and(|at| at <= now);
        let is_paused = self.accepts_paused_until.is_some_and(|until| until > now);
        let is_closing = self.closing != Closing::No;
        if self.queue.len() == 0 || !is_ready || is_closing || is_paused {
            return false;
        }
        let mut somebody_waits = false;
        let policy = self.current_policy();
        for challenge in self.queue.in_order(&policy.queue) {
            match self.judge(&policy, &challenge) {
                Verdict::Accept => somebody_waits |= !self.accept(challenge),
                // Those without a clock wait for no slot that another game could use.
                Verdict::Wait => somebody_waits |= challenge.clock.is_some(),
                Verdict::LookUp => self.look_up(challenge.challenger.as_ref()),
                Verdict::Decline(reason, why) => {
                    self.queue.remove(&challenge.id);
                    self.decline(challenge.id, reason, why);
                }
            }
        }
        somebody_waits
    }

    /// Lets the games know who waits.
    pub(super) fn publish_waiting(&self) {
        if self.queue.len() == 0 && self.waiting.borrow().is_empty() {
            return;
        }
        let in_order = self.queue.in_order(&self.current_policy().queue);
        let name = |challenge: Challenge| {
            challenge.challenger.map_or_else(|| "anonymous".to_owned(), |user| user.name)
        };
        let names: WaitingNames = in_order.into_iter().map(name).collect();
        self.waiting.send_if_modified(|known| {
            let is_new = *known != names;
            *known = names;
            is_new
        });
    }

    fn judge(&self, policy: &PolicyOptions, challenge: &Challenge) -> Verdict {
        let (now, today) = (Instant::now(), Epoch::now());
        let user = challenge.challenger.as_ref();
        let is_bot = user.is_some_and(|user| user.is_bot);
        let id = user.map_or("", |user| user.id.as_str());
        let state = self.keeper.state();
        let is_quota_used = is_bot
            && (budget::may_start(&state.budget, &policy.budget, today).is_err()
                || budget::blocks_opponent(&state, id, today));
        let has_room = if challenge.clock.is_none() {
            self.slots.has_room_for_correspondence()
        } else if is_bot {
            self.slots.has_room_for_bot(policy.queue.reserved_for_humans)
        } else {
            self.slots.has_room()
        };
        let situation = Situation {
            has_room,
            is_closing: self.closing != Closing::No,
            is_quota_used,
            our_rating: self.account.rating,
            running_with: u32::try_from(self.slots.count_of(id)).unwrap_or(u32::MAX),
            recent_with: self.opponents.recent_games(id, policy.recent_window, now),
            facts: user.map_or(Facts::NotAsked, |user| self.opponents.facts(&user.id)),
        };
        judge(policy, challenge, &situation)
    }

    /// Accepts a challenge. False if another platform has just taken the slot: then it goes on waiting.
    fn accept(&mut self, challenge: Challenge) -> bool {
        let user = challenge.challenger.as_ref();
        let is_bot = user.is_some_and(|user| user.is_bot);
        let holder = Holder {
            user: user.map(|user| user.id.clone()),
            is_human: !is_bot,
            is_correspondence: challenge.clock.is_none(),
        };
        if !self.slots.reserve(challenge.id.clone(), holder) {
            return false;
        }
        self.queue.remove(&challenge.id);
        if is_bot {
            // Before the request: what is counted too much is forgotten in a day, what is counted
            // too little is refused.
            self.keeper.change(|state| budget::started(&mut state.budget, Epoch::now()));
        }
        self.requests.accept(challenge);
        true
    }

    fn look_up(&mut self, user: Option<&User>) {
        if let Some(User { id, .. }) = user
            && self.opponents.begin_look_up(id)
        {
            self.requests.look_up(id.clone());
        }
    }

    pub(super) fn decline(&mut self, id: GameId, reason: DeclineReason, why: Criterion) {
        info!(challenge = %id, %reason, %why, "declining");
        self.recorder.declined(&id, reason.key(), Some(why));
        self.summary.declined += 1;
        self.metrics.challenge(AnswerKind::Declined, why.into());
        self.requests.decline(id, reason);
    }

    pub(super) fn on_accepted(&mut self, challenge: Challenge) {
        self.note_accepted(&challenge.id, challenge.challenger.as_ref().map(|user| &*user.id));
        // Its game has the same id. The line that says so can get lost.
        let is_correspondence = challenge.clock.is_none();
        self.take_up(challenge.id, Holder { is_correspondence, ..Holder::default() });
    }

    /// A challenge has become a game.
    pub(super) fn note_accepted(&mut self, id: &GameId, challenger: Option<&str>) {
        self.summary.accepted += 1;
        self.metrics.challenge(AnswerKind::Accepted, "");
        info!(challenge = %id, "accepted");
        self.recorder.answered(id, ChallengeAnswer::Accepted);
        if let Some(user) = challenger {
            self.opponents.note_game(user, Instant::now());
        }
    }

    pub(super) fn on_accept_failed(
        &mut self,
        challenge: &Challenge,
        error: &ApiError,
        may_have_worked: bool,
    ) {
        warn!(challenge = %challenge.id, %error, may_have_worked, "could not accept");
        let (now, today) = (Instant::now(), Epoch::now());
        match (error, error.limit(), &challenge.challenger) {
            // The server's quota for games between bots: ours, or the opponent's.
            (ApiError::RateLimited { .. }, Some(limit), Some(user)) if user.is_bot => {
                let wait = limit.wait;
                self.keeper.change(|state| budget::exhausted(&mut state.budget, wait, today));
            }
            (ApiError::Refused { .. }, Some(limit), Some(user)) => {
                let wait = limit.wait;
                self.keeper.change(|state| budget::block_opponent(state, &user.id, wait, today));
            }
            _ => {
                if let Retry::After(wait) = error.retry() {
                    self.accepts_paused_until = Some(now + wait.min(LONGEST_PAUSE));
                }
            }
        }
        if may_have_worked {
            let challenger = challenge.challenger.as_ref().map(|user| user.id.clone());
            if self.is_known(&challenge.id) {
                // Its game was told of before the answer failed.
                self.note_accepted(&challenge.id, challenger.as_deref());
                return;
            }
            self.unclear.insert(challenge.id.clone(), challenger);
            self.slots.answer(&challenge.id, now);
            self.ask_by(now);
            return;
        }
        self.recorder.failed(&challenge.id, error.to_string());
        self.metrics.challenge(AnswerKind::Failed, "");
        if challenge.challenger.as_ref().is_some_and(|user| user.is_bot) {
            self.keeper.change(|state| budget::not_started(&mut state.budget));
        }
        self.slots.release(&challenge.id);
    }

    /// A game is over: our rating may have changed, which matters only if it is compared.
    pub(super) fn refresh_rating(&mut self) {
        let policy = self.current_policy();
        let is_compared = [&policy.humans, &policy.bots]
            .into_iter()
            .any(|criteria| criteria.max_rating_difference.is_some())
            || (policy.matchmaking.enabled && policy.matchmaking.compares_ratings())
            || policy.tournament.berserk == Berserk::Weaker;
        if is_compared
            && self.closing == Closing::No
            && self.rating_asked.is_none_or(|at| at.elapsed() >= RATING_LIFE)
        {
            self.rating_asked = Some(Instant::now());
            self.requests.ask_for_rating();
        }
    }

    pub(super) fn expire(&mut self) {
        let now = Instant::now();
        self.opponents.forget(now);
        for id in self.slots.expire(now) {
            info!(challenge = %id, "perhaps accepted, but no game started");
            self.recorder.failed(&id, "no game has begun".to_owned());
            if self.unclear.contains_key(&id) {
                self.metrics.challenge(AnswerKind::Failed, "");
            }
            self.on_off(&id);
            self.ask_by(now);
        }
        for challenge in self.queue.expire(now) {
            if challenge.clock.is_none() {
                // Without a clock it would lie about for weeks.
                self.decline(challenge.id, DeclineReason::Later, Criterion::Queue);
            } else {
                info!(challenge = %challenge.id, "waited too long, dropped");
                self.recorder.answered(&challenge.id, ChallengeAnswer::Expired);
                self.metrics.challenge(AnswerKind::Dropped, "");
            }
        }
    }
}
