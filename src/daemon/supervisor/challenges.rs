//! Challenges: judged as they come, accepted when there is room.

use std::time::Instant;

use tracing::{debug, info, warn};

use crate::{
    daemon::{
        policy::{Situation, Verdict, judge},
        slots::QueueFull,
        supervisor::{Closing, Supervisor},
    },
    game::GameId,
    platform::{
        Challenge, DeclineReason,
        lichess::{ApiError, Retry},
    },
};

impl Supervisor {
    pub(super) fn on_challenge(&mut self, challenge: Challenge) {
        let challenger = challenge.challenger.as_ref();
        if challenger.is_some_and(|user| user.id == self.account.id) {
            debug!(challenge = %challenge.id, "our own challenge");
            return;
        }
        if self.slots.knows(&challenge.id) {
            return;
        }
        let name = challenger.map_or("anonymous", |user| user.name.as_str());
        info!(
            challenge = %challenge.id, challenger = name, variant = challenge.variant,
            rated = challenge.rated, speed = ?challenge.speed, clock = ?challenge.clock, "challenged"
        );
        if let Verdict::Decline(reason) = self.judge(&challenge) {
            self.decline(challenge.id, reason);
            return;
        }
        let id = challenge.id.clone();
        if let Err(QueueFull) = self.slots.wait(challenge, Instant::now()) {
            self.decline(id, DeclineReason::Later);
        }
    }

    fn judge(&self, challenge: &Challenge) -> Verdict {
        let now = Instant::now();
        let is_quota_used =
            challenge.challenger.as_ref().is_some_and(|user| self.quotas.blocks(&user.id, now));
        let situation = Situation {
            has_room: self.slots.has_room(),
            is_closing: self.closing != Closing::No,
            is_quota_used,
        };
        judge(&self.options.policy, challenge, situation)
    }

    /// Accepts waiting challenges while there is room.
    pub(super) fn admit(&mut self) {
        let now = Instant::now();
        if !self.is_ready || self.closing != Closing::No || self.quotas.is_paused(now) {
            return;
        }
        while let Some(challenge) = self.slots.next() {
            // It may have become unwelcome while it waited.
            if let Verdict::Decline(reason) = self.judge(&challenge) {
                self.slots.release(&challenge.id);
                self.decline(challenge.id, reason);
            } else {
                self.requests.accept(challenge);
            }
        }
    }

    pub(super) fn decline(&mut self, id: GameId, reason: DeclineReason) {
        info!(challenge = %id, %reason, "declining");
        self.summary.declined += 1;
        self.requests.decline(id, reason);
    }

    pub(super) fn on_accept_failed(
        &mut self,
        challenge: &Challenge,
        error: &ApiError,
        may_have_worked: bool,
    ) {
        warn!(challenge = %challenge.id, %error, may_have_worked, "could not accept");
        let now = Instant::now();
        match (error, error.limit(), &challenge.challenger) {
            // The server's quota for games between bots: ours, or the opponent's.
            (ApiError::RateLimited { .. }, Some(limit), Some(user)) if user.is_bot => {
                self.quotas.block_bots(limit.wait, now);
            }
            (ApiError::Refused { .. }, Some(limit), Some(user)) => {
                self.quotas.block_opponent(&user.id, limit.wait, now);
            }
            _ => {
                if let Retry::After(wait) = error.retry() {
                    self.quotas.pause_accepting(wait, now);
                }
            }
        }
        if may_have_worked {
            self.slots.answer(&challenge.id, now);
            self.ask_by(now);
        } else {
            self.slots.release(&challenge.id);
        }
    }

    pub(super) fn expire(&mut self) {
        let expired = self.slots.expire(Instant::now());
        for id in expired.reservations {
            info!(challenge = %id, "perhaps accepted, but no game started");
            self.ask_by(Instant::now());
        }
        for challenge in expired.challenges {
            if challenge.clock.is_none() {
                // Without a clock it would lie about for weeks.
                self.decline(challenge.id, DeclineReason::Later);
            } else {
                info!(challenge = %challenge.id, "waited too long, dropped");
            }
        }
    }
}
