//! Whom we ask for a game, and what becomes of it.

use std::time::Instant;

use tracing::{debug, info};

use crate::{
    daemon::{
        fics::Supervisor, invitations::Invitations, policy::PolicyOptions, slots::Holder,
        supervisor::Closing,
    },
    game::GameId,
    metrics::OwnChallenge,
    platform::{
        ChallengeClock,
        fics::{GameTerms, Invitation, Outcome, Request},
    },
    store::{ChallengeAnswer, Epoch},
};

/// Something that we have asked for without an answer.
pub(super) struct Asked {
    id: GameId,
    is_seek: bool,
    rated: bool,
    clock: Option<ChallengeClock>,
}

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
        if self.slots.reserve(id.clone(), Holder { user, is_human: !is_bot, ..Holder::default() }) {
            info!(?invitation, "asking for a game on FICS");
            self.remember_asked(id.clone(), &invitation, is_bot);
            if let Invitation::Match { name, .. } = &invitation {
                self.remember_name(name, false);
            }
            self.request(Request::Invite(id, invitation));
        } else {
            // Somebody else was quicker.
            let _unsent = self.invitations.on_over(&id, Outcome::Refused, now);
        }
    }

    /// Whether the slot counts as a bot's. Of names that are set nobody knows; a game that goes on has
    /// been granted one before.
    fn is_for_bot(&self, invitation: &Invitation) -> bool {
        match invitation {
            Invitation::Resume(_) | Invitation::Seek(_) => false,
            Invitation::Rematch(_) => self.last.as_ref().is_some_and(|last| last.is_computer),
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
            self.withdraw(id, ChallengeAnswer::Withdrawn);
        }
    }

    /// Takes an invitation back, since nobody has answered it, or somebody else wants to play.
    pub(super) fn withdraw(&mut self, id: GameId, answer: ChallengeAnswer) {
        self.slots.release(&id);
        if let Some(asked) = self.take_asked(&id) {
            self.settle(&asked, answer);
        }
        self.request(Request::Withdraw(id));
    }

    /// Our wish for a new game is an own challenge of ours, a seek as well; that for an adjourned one is
    /// none.
    fn remember_asked(&mut self, id: GameId, invitation: &Invitation, is_bot: bool) {
        let (rated, clock) = match invitation {
            Invitation::Resume(_) => return,
            Invitation::Rematch(_) => {
                let terms = self.last.as_ref().map(|last| last.terms);
                (terms.is_some_and(|terms| terms.rated), terms.and_then(|terms| terms.clock))
            }
            Invitation::Match { terms, .. } | Invitation::Seek(terms) => read_terms(terms),
        };
        self.recorder.inviting(&id, (invitation.name(), is_bot), rated, clock);
        self.metrics.own_challenge(OwnChallenge::Sent);
        let is_seek = matches!(invitation, Invitation::Seek(_));
        self.asked.push(Asked { id, is_seek, rated, clock });
    }

    fn remember_name(&self, name: &str, is_declined: bool) {
        self.keeper.change(|state| {
            Invitations::remember(state, name, is_declined, Epoch::now());
        });
    }

    fn take_asked(&mut self, id: &GameId) -> Option<Asked> {
        let index = self.asked.iter().position(|asked| asked.id == *id)?;
        Some(self.asked.remove(index))
    }

    /// An invitation is over without a game, but for a seek that stands: it is over later.
    pub(super) fn on_invitation_over(
        &mut self,
        id: &GameId,
        invitation: Option<&Invitation>,
        outcome: Outcome,
    ) {
        debug!(?outcome, "an invitation is over without a game");
        if let (Some(Invitation::Resume(name)), Outcome::NotAdjourned) = (invitation, outcome) {
            self.on_game_missed(&name.to_lowercase());
        }
        if outcome == Outcome::Posted {
            return;
        }
        if let (Some(Invitation::Match { name, .. }), Outcome::Declined) = (invitation, outcome) {
            self.remember_name(name, true);
        }
        let Some(asked) = self.take_asked(id) else { return };
        let why = match outcome {
            Outcome::Declined => return self.settle(&asked, ChallengeAnswer::Declined),
            Outcome::Absent => "nobody of that name is there",
            Outcome::Refused | Outcome::NotAdjourned | Outcome::Posted => {
                "the server did not let it through"
            }
        };
        self.metrics.own_challenge(OwnChallenge::Failed);
        self.recorder.failed(&asked.id, why.to_owned());
    }

    /// A game begins, perhaps one that we have asked for. With it everything is gone that we still ask
    /// for.
    pub(super) fn settle_asked(
        &mut self,
        challenge: Option<&GameId>,
        terms: &GameTerms,
        is_resumed: bool,
    ) {
        let asked = std::mem::take(&mut self.asked);
        let is_ours = asked.iter().any(|asked| challenge == Some(&asked.id));
        for asked in asked {
            // Who answers a seek challenges us, and nothing tells that it is an answer but its terms.
            let is_answer = asked.is_seek
                && !is_ours
                && !is_resumed
                && (asked.rated, asked.clock) == (terms.rated, terms.clock);
            let is_accepted = is_answer || challenge == Some(&asked.id);
            let answer = if is_accepted {
                self.summary.challenged += 1;
                ChallengeAnswer::Accepted
            } else {
                ChallengeAnswer::Withdrawn
            };
            self.settle(&asked, answer);
        }
    }

    /// Nothing that we have asked for stands any more.
    pub(super) fn settle_all_asked(&mut self) {
        for asked in std::mem::take(&mut self.asked) {
            self.settle(&asked, ChallengeAnswer::Withdrawn);
        }
    }

    fn settle(&self, asked: &Asked, answer: ChallengeAnswer) {
        self.recorder.answered(&asked.id, answer);
        self.metrics.own_challenge(match answer {
            ChallengeAnswer::Accepted => OwnChallenge::Accepted,
            ChallengeAnswer::Declined => OwnChallenge::Declined,
            ChallengeAnswer::Failed => OwnChallenge::Failed,
            ChallengeAnswer::Withdrawn | ChallengeAnswer::Expired => OwnChallenge::Withdrawn,
        });
    }
}

/// Reads terms such as `3 0 unrated`, as the settings have them: whether rated, as the server takes it
/// where that is not said, and the clock.
fn read_terms(terms: &str) -> (bool, Option<ChallengeClock>) {
    let mut words = terms.split(' ');
    let mut number = || words.next().and_then(|word| word.parse::<u32>().ok());
    let clock = number().zip(number()).filter(|&numbers| numbers != (0, 0));
    let clock = clock.map(|(minutes, increment_s)| ChallengeClock {
        initial_s: minutes.saturating_mul(60),
        increment_s,
    });
    (words.next() != Some("unrated"), clock)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_read_as_the_settings_have_them() {
        let clock = |initial_s, increment_s| Some(ChallengeClock { initial_s, increment_s });
        for (terms, expected) in [
            ("3 0 unrated", (false, clock(180, 0))),
            ("0 1 rated", (true, clock(0, 1))),
            ("15 10", (true, clock(900, 10))),
            ("0 0 unrated", (false, None)),
        ] {
            assert_eq!(read_terms(terms), expected, "{terms}");
        }
    }
}
