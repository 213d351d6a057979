//! Our own challenges: the matchmaker decides, and here it is done.

use std::time::{Duration, Instant};

use tracing::{debug, info, warn};

use crate::{
    daemon::{
        budget, declines,
        matchmaking::{Offer, Situation, Step},
        slots::Holder,
        supervisor::{Closing, Supervisor},
    },
    game::GameId,
    metrics::OwnChallenge,
    platform::{
        Challenge, DeclineReason, DeclinedChallenge, OnlineBot, User,
        lichess::{ApiError, Retry},
    },
    store::{ChallengeAnswer, Epoch},
};

/// The limit of games between bots, as the server names it (section 13.2 of the protocol notes).
const BOT_GAMES_LIMIT: &str = "bot.vsBot.day";
/// Nothing that the server says about its limits is believed for longer.
const LONGEST_PAUSE: Duration = Duration::from_hours(24);

impl Supervisor {
    /// Does what is to be done about our own challenges.
    pub(super) fn matchmake(&mut self, is_slot_wanted: bool) {
        let (now, today) = (Instant::now(), Epoch::now());
        let policy = self.current_policy();
        let is_ready = self.ready_at.is_some_and(|at| at <= now);
        let (slots, opponents) = (&self.slots, &self.opponents);
        let has_enough_of = |id: &str| {
            let recent = || opponents.recent_games(id, policy.recent_window, now);
            let most = policy.bots.max_recent_per_user;
            slots.clock_games_with(id) > 0 || most.is_some_and(|most| recent() >= most)
        };
        let step = {
            let state = self.keeper.state();
            // Without the event stream we would not see a game begin.
            let may_begin = is_ready
                && self.is_connected
                && budget::may_start(&state.budget, &policy.budget, today).is_ok();
            let situation = Situation {
                may_play: may_begin
                    && (policy.matchmaking.during_games || slots.is_idle())
                    && slots.has_room_for_bot(policy.queue.reserved_for_humans),
                may_correspond: may_begin
                    && slots.has_room_for_correspondence()
                    && slots.correspondence_games() < policy.matchmaking.correspondence_games,
                is_slot_wanted,
                is_closing: self.closing != Closing::No,
                policy: &policy,
                our_id: &self.account.id,
                our_rating: self.account.rating,
                state: &state,
                has_enough_of: &has_enough_of,
                now,
                today,
            };
            self.matchmaker.step(&policy.matchmaking, &situation)
        };
        match step {
            None => {}
            Some(Step::List) => self.requests.list_bots(),
            Some(Step::Challenge(offer)) => {
                self.keeper.change(|state| budget::started(&mut state.challenges, today));
                self.requests.challenge(offer);
            }
            Some(Step::Cancel(id)) => {
                info!(challenge = %id, "withdrawing our challenge");
                // It may just have been accepted: the slot is held until the answer is there.
                self.slots.answer(&id, now);
                self.requests.cancel(id);
            }
        }
    }

    /// Remembers which challenge of ours is open, for whoever starts after a sudden end.
    pub(super) fn remember_open_challenge(&mut self) {
        self.withdraw_left_challenge();
        let open = self.matchmaker.open_challenge().map(ToString::to_string);
        if self.remembered_challenge != open {
            self.remembered_challenge.clone_from(&open);
            self.keeper.change(|state| state.open_challenge = open);
        }
    }

    /// Withdraws what a program that ended suddenly has left open, as soon as the memory tells of it.
    /// Until the answer is there it holds a slot, since it may become a game.
    pub(super) fn withdraw_left_challenge(&mut self) {
        let known = self.keeper.state().open_challenge.clone();
        if known == self.remembered_challenge {
            return;
        }
        self.remembered_challenge.clone_from(&known);
        if let Some(id) = known.and_then(|id| id.parse::<GameId>().ok()) {
            info!(challenge = %id, "withdrawing a challenge of the run before");
            self.slots.hold_for_our_challenge(id.clone(), Holder::default(), Instant::now());
            self.requests.cancel(id);
        }
    }

    pub(super) fn on_online_bots(&mut self, result: Result<Vec<OnlineBot>, ApiError>) {
        let (options, now) = (&self.current_policy().matchmaking, Instant::now());
        match &result {
            Ok(bots) => debug!(bots = bots.len(), "bots are online"),
            Err(error) => {
                warn!(%error, "could not ask which bots are online");
                if let Retry::After(wait) = error.retry() {
                    self.matchmaker.pause(wait.min(LONGEST_PAUSE), now);
                }
            }
        }
        self.matchmaker.on_list(result.ok(), options, now);
    }

    /// Without a clock a challenge that somebody else made with this account may be open for weeks.
    pub(super) fn on_own_challenge(&mut self, challenge: Challenge) {
        debug!(challenge = %challenge.id, "our own challenge");
        self.recorder.challenging(&challenge);
        let now = Instant::now();
        let is_correspondence = challenge.clock.is_none();
        if self.matchmaker.on_own_challenge(&challenge, now) || !is_correspondence {
            let holder = challenge.target.map(|User { id, is_bot, .. }| Holder {
                user: Some(id),
                is_human: !is_bot,
                is_correspondence,
            });
            self.slots.hold_for_our_challenge(challenge.id, holder.unwrap_or_default(), now);
        }
    }

    pub(super) fn on_challenge_sent(&mut self, offer: &Offer, result: Result<GameId, ApiError>) {
        let options = &self.current_policy().matchmaking;
        let now = Instant::now();
        let Offer { target, time, rated } = offer;
        match result {
            Ok(id) => {
                info!(challenge = %id, opponent = target, %time, rated, "challenging");
                self.metrics.own_challenge(OwnChallenge::Sent);
                if !self.matchmaker.on_sent(&id, options, now) {
                    return;
                }
                if self.is_known(&id) {
                    // The line that tells of the game came, and the one before it did not.
                    self.on_our_game(&id, None);
                    if !self.games.contains(&id) {
                        self.matchmaker.on_game_end(&id, options, now);
                    }
                } else {
                    let holder = Holder {
                        user: Some(target.clone()),
                        is_human: false,
                        is_correspondence: time.is_correspondence(),
                    };
                    self.slots.hold_for_our_challenge(id, holder, now);
                }
            }
            Err(error) => {
                warn!(opponent = target, %time, rated, %error, "could not challenge");
                if matches!(error, ApiError::Unreachable(_)) {
                    self.keeper.change(|state| budget::not_started(&mut state.challenges));
                }
                self.metrics.own_challenge(OwnChallenge::Failed);
                self.matchmaker.on_not_sent(error.may_have_worked(), options, now);
                if error.may_have_worked() {
                    self.ask_by(now);
                }
                self.on_challenge_refused(offer, &error);
            }
        }
    }

    /// What a refusal says about the times to come.
    fn on_challenge_refused(&mut self, offer: &Offer, error: &ApiError) {
        let (now, today) = (Instant::now(), Epoch::now());
        match (error, error.limit()) {
            (ApiError::RateLimited { .. }, Some(limit)) if limit.key == BOT_GAMES_LIMIT => {
                let wait = limit.wait;
                self.keeper.change(|state| budget::exhausted(&mut state.budget, wait, today));
            }
            (ApiError::RateLimited { .. }, _) => {
                if let Retry::After(wait) = error.retry() {
                    let wait = wait.min(LONGEST_PAUSE);
                    self.matchmaker.pause(wait, now);
                    self.keeper.change(|state| {
                        budget::exhausted(&mut state.challenges, wait, today);
                    });
                }
            }
            (ApiError::Refused { .. }, Some(limit)) => {
                let (id, wait) = (&offer.target, limit.wait);
                self.keeper.change(|state| budget::block_opponent(state, id, wait, today));
            }
            (ApiError::Refused { status: 400 | 404, .. }, None) => {
                self.remember_decline(offer, DeclineReason::Generic);
            }
            _ => {}
        }
    }

    pub(super) fn on_canceled(&mut self, id: &GameId, result: Result<(), ApiError>) {
        match result {
            Ok(()) => {
                self.recorder.answered(id, ChallengeAnswer::Withdrawn);
                self.metrics.own_challenge(OwnChallenge::Withdrawn);
                self.on_off(id);
            }
            Err(error) => {
                debug!(challenge = %id, %error, "could not withdraw our challenge");
                // It may be a game by now. If not, its slot is held a while and then let go.
                self.ask_by(Instant::now());
            }
        }
    }

    pub(super) fn on_declined(&mut self, declined: &DeclinedChallenge) {
        let (id, reason) = (&declined.id, declined.reason);
        self.recorder.declined(id, reason.key(), None);
        let options = &self.current_policy().matchmaking;
        if let Some(offer) = self.matchmaker.on_off(id, options, Instant::now()) {
            info!(challenge = %id, opponent = offer.target, %reason, "our challenge is declined");
            self.metrics.own_challenge(OwnChallenge::Declined);
            self.remember_decline(&offer, reason);
        }
        self.on_off(id);
    }

    fn remember_decline(&mut self, offer: &Offer, reason: DeclineReason) {
        let Offer { target, time, rated } = offer;
        self.keeper.change(|state| {
            declines::remember(state, target, reason, time.clock(), *rated, Epoch::now());
        });
    }

    /// A game begins, perhaps one that came of our challenge: as its id tells, or, where that got lost,
    /// the opponent's.
    pub(super) fn on_our_game(&mut self, id: &GameId, opponent: Option<&str>) {
        // What we have accepted is no challenge of ours.
        let opponent = opponent.filter(|_| !self.slots.knows(id));
        let Some(offer) = self.matchmaker.on_game_start(id, opponent) else { return };
        info!(challenge = %id, opponent = offer.target, "our challenge is accepted");
        self.recorder.answered(id, ChallengeAnswer::Accepted);
        self.summary.challenged += 1;
        self.metrics.own_challenge(OwnChallenge::Accepted);
        self.keeper.change(|state| budget::started(&mut state.budget, Epoch::now()));
        self.opponents.note_game(&offer.target, Instant::now());
    }
}
