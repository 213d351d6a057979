//! Whom we ask for a game, and what becomes of it.

use std::time::Instant;

use tracing::info;

use crate::{
    daemon::{fics::Supervisor, policy::PolicyOptions, slots::Holder, supervisor::Closing},
    platform::fics::{self, Invitation, Request},
};

impl Supervisor {
    /// Asks somebody for a game, if there is room for one and nobody waits.
    pub(super) fn invite(&mut self) {
        if self.closing != Closing::No || !self.is_online {
            return;
        }
        let now = Instant::now();
        if self.games.len() == 0 && self.invitations.take_seek_back(self.slots.has_room(), now) {
            self.request(Request::Unseek);
        }
        if !self.is_free() || self.queue.len() > 0 {
            return;
        }
        let Some(invitation) = self.invitations.next(now) else { return };
        let policy = self.current_policy();
        let is_bot = self.is_for_bot(&invitation);
        if !self.slots.has_room() {
            return;
        }
        let has_room = !is_bot || self.slots.has_room_for_bot(policy.queue.reserved_for_humans);
        if !has_room || !self.may_invite(&policy, &invitation, is_bot) {
            return self.invitations.skip(&invitation, now);
        }
        let user = invitation.name().map(str::to_lowercase);
        let id = self.invitations.send(invitation.clone(), now);
        if self.slots.reserve(id.clone(), Holder { user, is_human: !is_bot }) {
            info!(?invitation, "asking for a game on FICS");
            self.request(Request::Invite(id, invitation));
        } else {
            // Somebody else was quicker.
            self.invitations.on_over(&id, fics::Outcome::Refused, now);
        }
    }

    /// Whether the slot counts as a bot's. Of names that are set nobody knows; a game that goes on has
    /// been granted one before.
    fn is_for_bot(&self, invitation: &Invitation) -> bool {
        match invitation {
            Invitation::Resume(_) | Invitation::Seek(_) => false,
            Invitation::Rematch(_) => self.opponent.as_ref().is_some_and(|(_, is_bot)| *is_bot),
            Invitation::Match { .. } => true,
        }
    }

    /// Whether the policy has nothing against a new game with this opponent.
    fn may_invite(&self, policy: &PolicyOptions, invitation: &Invitation, is_bot: bool) -> bool {
        let name = match invitation {
            Invitation::Resume(_) | Invitation::Seek(_) => return true,
            Invitation::Rematch(name) | Invitation::Match { name, .. } => name.to_lowercase(),
        };
        let recent = self.opponents.recent_games(&name, policy.recent_window, Instant::now());
        let most = policy.criteria(is_bot).max_recent_per_user;
        !policy.block.contains(&name)
            && most.is_none_or(|most| recent < most)
            && !(is_bot && self.is_quota_used(policy))
    }

    /// Takes back an invitation of ours, for somebody who wants to play.
    pub(super) fn give_way(&mut self, with_resume: bool) {
        if let Some(id) = self.invitations.give_way(with_resume, Instant::now()) {
            self.slots.release(&id);
            self.request(Request::Withdraw(id));
        }
    }
}
