//! Challenges: what they say, how long they live, and how a game comes of one.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    arbiter::TimeControl,
    arena::{
        line::Line,
        state::{Refused, State},
        stream::LineQueue,
        time_control::{can_be_rated, control_json, speed},
    },
    rules::{Color, Position},
};

/// The variants of the API: key, name, short name.
const VARIANTS: [(&str, &str, &str); 10] = [
    ("standard", "Standard", "Std"),
    ("chess960", "Chess960", "960"),
    ("crazyhouse", "Crazyhouse", "Crazy"),
    ("antichess", "Antichess", "Anti"),
    ("atomic", "Atomic", "Atom"),
    ("horde", "Horde", "Horde"),
    ("kingOfTheHill", "King of the Hill", "KotH"),
    ("racingKings", "Racing Kings", "Racing"),
    ("threeCheck", "Three-check", "3check"),
    ("fromPosition", "From Position", "FEN"),
];

/// The reasons to decline for; on the way in they are written in lower case.
const DECLINE_REASONS: [&str; 11] = [
    "generic",
    "later",
    "tooFast",
    "tooSlow",
    "timeControl",
    "rated",
    "casual",
    "standard",
    "variant",
    "noBot",
    "onlyBot",
];

/// So many declined challenges are remembered.
const MOST_DECLINES: usize = 10_000;

/// Which color the challenger wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorChoice {
    /// White.
    White,
    /// Black.
    Black,
    /// Drawn by lot.
    #[default]
    Random,
}

impl ColorChoice {
    fn name(self) -> &'static str {
        match self {
            Self::White => "white",
            Self::Black => "black",
            Self::Random => "random",
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        [Self::White, Self::Black, Self::Random].into_iter().find(|color| color.name() == text)
    }
}

/// A challenge to be made.
#[derive(Clone, Debug)]
pub struct ChallengeSpec {
    /// Who challenges.
    pub challenger: String,
    /// Who is challenged.
    pub target: String,
    /// How much time both have.
    pub control: TimeControl,
    /// The challenger's color.
    pub color: ColorChoice,
    /// Whether the challenger wants a rated game; atomic refuses it for some time controls.
    pub rated: bool,
    /// Key of the variant. Only `atomic` can be accepted.
    pub variant: String,
    /// Rules such as `noRematch`; players cannot use them against bots, but the arena can.
    pub rules: Vec<String>,
    /// The game that is to be played again.
    pub rematch_of: Option<String>,
    /// Where the game begins. The real server has atomic from the usual position only, so that nothing but
    /// the game's first line tells of another.
    pub start: Position,
}

impl ChallengeSpec {
    /// A casual atomic game of three minutes and two seconds with colors drawn by lot.
    pub fn new(challenger: &str, target: &str) -> Self {
        Self {
            challenger: challenger.to_owned(),
            target: target.to_owned(),
            control: TimeControl::RealTime {
                limit: Duration::from_mins(3),
                increment: Duration::from_secs(2),
            },
            color: ColorChoice::Random,
            rated: false,
            variant: "atomic".to_owned(),
            rules: Vec::new(),
            rematch_of: None,
            start: Position::initial(),
        }
    }

    /// The same with this real-time clock; tests may use fractions of seconds.
    #[must_use]
    pub fn clock(mut self, limit: Duration, increment: Duration) -> Self {
        self.control = TimeControl::RealTime { limit, increment };
        self
    }

    /// The same with the challenger's color.
    #[must_use]
    pub fn color(mut self, color: ColorChoice) -> Self {
        self.color = color;
        self
    }
}

/// Where a challenge stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the API's own")]
pub enum ChallengeStatus {
    Created,
    Offline,
    Canceled,
    Declined,
    Accepted,
}

impl ChallengeStatus {
    fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Offline => "offline",
            Self::Canceled => "canceled",
            Self::Declined => "declined",
            Self::Accepted => "accepted",
        }
    }
}

/// A challenge as the server keeps it. Both users are ids.
pub(super) struct Challenge {
    pub(super) id: String,
    pub(super) challenger: String,
    pub(super) target: String,
    pub(super) control: TimeControl,
    color: ColorChoice,
    /// The challenger's color as drawn.
    pub(super) final_color: Color,
    pub(super) rated: bool,
    variant: (&'static str, &'static str, &'static str),
    rules: Vec<String>,
    rematch_of: Option<String>,
    pub(super) start: Position,
    pub(super) status: ChallengeStatus,
    pub(super) decline_reason: &'static str,
    created: Instant,
    /// The answer that keeps the challenge alive, and learns of its end.
    kept_alive_by: Option<Arc<LineQueue>>,
}

impl Challenge {
    fn is_atomic(&self) -> bool {
        self.variant.0 == "atomic"
    }

    /// Tells the keep-alive stream how the challenge ended.
    fn finish(&mut self, status: ChallengeStatus) {
        self.status = status;
        if let Some(stream) = self.kept_alive_by.take() {
            stream.push(Line::new(&json!({ "done": status.name() })));
            stream.close();
        }
    }
}

impl State {
    /// Makes a challenge, tells both sides, and lets a house player answer.
    pub(super) fn create_challenge(
        &mut self,
        spec: &ChallengeSpec,
        now: Instant,
    ) -> Result<String, Refused> {
        let challenger = self.account(&spec.challenger)?.id.clone();
        let target = self.account(&spec.target)?.id.clone();
        if challenger == target {
            return Err(Refused::bad_request("You cannot challenge yourself"));
        }
        let variant = VARIANTS
            .into_iter()
            .find(|(key, ..)| *key == spec.variant)
            .ok_or_else(|| Refused::form("variant"))?;
        self.cancel_previous(&challenger, &target);
        let final_color = match spec.color {
            ColorChoice::White => Color::White,
            ColorChoice::Black => Color::Black,
            ColorChoice::Random => self.random_color(),
        };
        let id = self.random_id(8);
        let challenge = Challenge {
            id: id.clone(),
            challenger,
            target,
            control: spec.control,
            color: spec.color,
            final_color,
            rated: spec.rated && can_be_rated(spec.control),
            variant,
            rules: spec.rules.clone(),
            rematch_of: spec.rematch_of.clone(),
            start: spec.start.clone(),
            status: ChallengeStatus::Created,
            decline_reason: DECLINE_REASONS[0],
            created: now,
            kept_alive_by: None,
        };
        let mut event =
            json!({ "type": "challenge", "challenge": self.challenge_json(&challenge) });
        event["compat"] = json!({
            "bot": speed(spec.control) != "ultraBullet",
            "board": matches!(speed(spec.control), "rapid" | "classical" | "correspondence"),
        });
        self.send_event(&challenge.challenger, &event);
        self.send_event(&challenge.target, &event);
        self.challenges.insert(id.clone(), challenge);
        Ok(id)
    }

    /// Keeps a challenge alive until it is answered, and returns the lines that say so.
    pub(super) fn keep_alive(&mut self, id: &str) -> Option<Arc<LineQueue>> {
        let mut first = self.challenge_json(self.challenges.get(id)?);
        first["direction"] = json!("out");
        let queue = LineQueue::new(vec![Line::new(&first)], self.options.stream_buffer);
        self.challenges.get_mut(id)?.kept_alive_by = Some(Arc::clone(&queue));
        Some(queue)
    }

    /// The client let go of the stream that kept the challenge alive: its lifetime begins.
    pub(super) fn release(&mut self, id: &str, now: Instant) {
        if let Some(challenge) = self.challenges.get_mut(id) {
            challenge.kept_alive_by = None;
            challenge.created = now;
        }
    }

    /// Accepts a challenge; the game has the challenge's id.
    pub(super) fn accept_challenge(
        &mut self,
        user: &str,
        id: &str,
        now: Instant,
    ) -> Result<String, Refused> {
        self.expire_challenges(now);
        let challenge = self
            .challenges
            .get_mut(id)
            .filter(|challenge| challenge.target == user)
            .ok_or_else(|| Refused::not_found("Not found"))?;
        match challenge.status {
            ChallengeStatus::Created | ChallengeStatus::Offline => {}
            ChallengeStatus::Canceled => {
                return Err(Refused::bad_request("The challenge has been canceled."));
            }
            ChallengeStatus::Declined => {
                return Err(Refused::bad_request("The challenge has been declined."));
            }
            ChallengeStatus::Accepted => {
                return Err(Refused::bad_request("The challenge has already been accepted."));
            }
        }
        if speed(challenge.control) == "ultraBullet" {
            return Err(Refused::bad_request("Game incompatible with a BOT account"));
        }
        if !challenge.is_atomic() {
            return Err(Refused::bad_request("This arena plays atomic only"));
        }
        let challenger = challenge.challenger.clone();
        self.check_bot_quota(user, &challenger, now)?;
        let Some(challenge) = self.challenges.get_mut(id) else {
            return Err(Refused::not_found("Not found"));
        };
        challenge.finish(ChallengeStatus::Accepted);
        self.start_challenged_game(id, now);
        Ok(id.to_owned())
    }

    /// Declines a challenge and tells both sides.
    pub(super) fn decline_challenge(
        &mut self,
        user: &str,
        id: &str,
        reason: &str,
        now: Instant,
    ) -> Result<(), Refused> {
        self.expire_challenges(now);
        let challenge = self
            .challenges
            .get_mut(id)
            .filter(|challenge| challenge.target == user && is_open(challenge.status))
            .ok_or_else(|| Refused::not_found("Not found"))?;
        let known = DECLINE_REASONS.into_iter().find(|known| known.eq_ignore_ascii_case(reason));
        challenge.decline_reason = known.unwrap_or(DECLINE_REASONS[0]);
        challenge.finish(ChallengeStatus::Declined);
        self.announce(id, "challengeDeclined");
        Ok(())
    }

    /// Keeps the reason for which a client declined a challenge.
    pub(super) fn note_decline(&mut self, id: &str) {
        if let Some(challenge) = self.challenges.get(id) {
            if self.declines.len() >= MOST_DECLINES {
                self.declines.pop_front();
            }
            self.declines.push_back((id.to_owned(), challenge.decline_reason.to_owned()));
        }
    }

    /// Withdraws an own challenge, declines one for us, or aborts the game of this id.
    pub(super) fn cancel_challenge(
        &mut self,
        user: &str,
        id: &str,
        now: Instant,
    ) -> Result<(), Refused> {
        self.expire_challenges(now);
        let challenge =
            self.challenges.get_mut(id).ok_or_else(|| Refused::not_found("Not found"))?;
        let is_open = is_open(challenge.status);
        if challenge.target == user && is_open {
            return self.decline_challenge(user, id, DECLINE_REASONS[0], now);
        }
        if challenge.challenger == user && is_open {
            challenge.finish(ChallengeStatus::Canceled);
            self.announce(id, "challengeCanceled");
            return Ok(());
        }
        let game = self
            .games
            .get_mut(id)
            .filter(|game| game.color_of(user).is_some())
            .ok_or_else(|| Refused::not_found("Not found"))?;
        game.arbiter
            .abort(now)
            .map_err(|_| Refused::bad_request("This game can no longer be aborted"))?;
        self.publish(id, now);
        Ok(())
    }

    /// Real-time challenges go offline after a while, silently.
    pub(super) fn expire_challenges(&mut self, now: Instant) {
        let lifetime = self.options.challenge_lifetime();
        for challenge in self.challenges.values_mut() {
            let is_stale = challenge.status == ChallengeStatus::Created
                && challenge.control.is_real_time()
                && challenge.kept_alive_by.is_none()
                && now.saturating_duration_since(challenge.created) >= lifetime;
            if is_stale {
                challenge.status = ChallengeStatus::Offline;
            }
        }
    }

    pub(super) fn waiting_challenges(&self) -> impl Iterator<Item = &Challenge> {
        self.challenges.values().filter(|challenge| challenge.status == ChallengeStatus::Created)
    }

    /// The challenge object, as the stream has it: without `direction`.
    pub(super) fn challenge_json(&self, challenge: &Challenge) -> Value {
        let user = |id: &str| self.accounts.get(id).map(super::account::Account::challenge_json);
        let (key, name, short) = challenge.variant;
        let mut value = json!({
            "id": challenge.id,
            "url": format!("https://lichess.org/{}", challenge.id),
            "status": challenge.status.name(),
            "challenger": user(&challenge.challenger),
            "destUser": user(&challenge.target),
            "variant": { "key": key, "name": name, "short": short },
            "rated": challenge.rated,
            "speed": speed(challenge.control),
            "timeControl": control_json(challenge.control),
            "color": challenge.color.name(),
            "finalColor": challenge.final_color.to_string(),
            "perf": { "icon": "", "name": name },
        });
        if !challenge.rules.is_empty() {
            value["rules"] = json!(challenge.rules);
        }
        if let Some(game) = &challenge.rematch_of {
            value["rematchOf"] = json!(game);
        }
        if challenge.status == ChallengeStatus::Declined {
            value["declineReason"] = json!(format!("Declined: {}", challenge.decline_reason));
            value["declineReasonKey"] = json!(challenge.decline_reason.to_lowercase());
        }
        value
    }

    /// One live challenge per pair: a new one cancels the old without an event.
    fn cancel_previous(&mut self, challenger: &str, target: &str) {
        let previous = self.challenges.values_mut().filter(|challenge| {
            challenge.challenger == challenger
                && challenge.target == target
                && is_open(challenge.status)
        });
        for challenge in previous {
            challenge.finish(ChallengeStatus::Canceled);
        }
    }

    fn announce(&self, id: &str, kind: &str) {
        if let Some(challenge) = self.challenges.get(id) {
            let event = json!({ "type": kind, "challenge": self.challenge_json(challenge) });
            self.send_event(&challenge.challenger, &event);
            self.send_event(&challenge.target, &event);
        }
    }
}

fn is_open(status: ChallengeStatus) -> bool {
    matches!(status, ChallengeStatus::Created | ChallengeStatus::Offline)
}
