//! The settings of an arena.

use std::time::Duration;

use serde::Deserialize;

use crate::arena::{AccountSpec, FaultRule, HouseSpec, TournamentSpec, lag::Lag};

/// The settings of an arena. The defaults are the figures of the real server, where the text does
/// not say otherwise.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ArenaOptions {
    /// Seed of everything that is drawn by lot: ids, colors, faults.
    pub seed: u64,
    /// Accounts that exist from the start.
    pub accounts: Vec<AccountSpec>,
    /// House opponents that exist from the start.
    pub houses: Vec<HouseSpec>,
    /// Tournaments that are announced at the start.
    pub tournaments: Vec<TournamentSpec>,
    /// Whether bots may berserk on the path of the Board API; the real server refuses it.
    pub bots_may_berserk: bool,
    /// Period of the blank lines on the event stream, in milliseconds.
    pub event_keep_alive_ms: u64,
    /// Period of the blank lines on a game stream, in milliseconds.
    pub game_keep_alive_ms: u64,
    /// How long a real-time challenge waits for an answer, in seconds.
    pub challenge_seconds: u64,
    /// How long after its last game stream closed a player counts as gone, in milliseconds.
    pub presence_grace_ms: u64,
    /// How long a player must be gone before the opponent may claim the game, in milliseconds.
    pub gone_ms: u64,
    /// Period of the `opponentGone` lines, in milliseconds.
    pub gone_notice_ms: u64,
    /// How often an account may open the event stream in ten minutes; 0 for no limit.
    pub event_stream_openings: usize,
    /// Undelivered lines that a stream holds before it drops the oldest.
    pub stream_buffer: usize,
    /// Games that an account may start against other bots in a day; 0 for no limit, while the
    /// real server has 100. The day begins with the first of them.
    pub bot_games_per_day: u32,
    /// Points of challenges that an account may create in a minute, of which a person costs 5 and
    /// a bot 1; 0 for no limit.
    pub challenge_points_per_minute: u32,
    /// The same in a day.
    pub challenge_points_per_day: u32,
    /// How long each request is under way to the server, in milliseconds.
    pub lag_up_ms: u64,
    /// How long each answer and each line is under way to the client, in milliseconds.
    pub lag_down_ms: u64,
    /// Up to so much is added to each of both, by lot, in milliseconds.
    pub lag_jitter_ms: u64,
    /// The latest requests of which a record is kept; 0 for none.
    pub recorded_requests: usize,
    /// Finished games that are kept, with their challenges; of more the oldest are forgotten.
    pub finished_games: usize,
    /// Faults that strike at random.
    pub faults: Vec<FaultRule>,
}

impl Default for ArenaOptions {
    fn default() -> Self {
        Self {
            seed: 1,
            accounts: Vec::new(),
            houses: Vec::new(),
            tournaments: Vec::new(),
            bots_may_berserk: false,
            event_keep_alive_ms: 6_000,
            game_keep_alive_ms: 7_000,
            challenge_seconds: 20,
            presence_grace_ms: 1_000,
            gone_ms: 40_000,
            gone_notice_ms: 5_000,
            event_stream_openings: 30,
            stream_buffer: 32,
            bot_games_per_day: 0,
            challenge_points_per_minute: 25,
            challenge_points_per_day: 200,
            lag_up_ms: 0,
            lag_down_ms: 0,
            lag_jitter_ms: 0,
            recorded_requests: 10_000,
            finished_games: 10_000,
            faults: Vec::new(),
        }
    }
}

impl ArenaOptions {
    pub(super) fn lag(&self) -> Lag {
        let [up, down, jitter] =
            [self.lag_up_ms, self.lag_down_ms, self.lag_jitter_ms].map(Duration::from_millis);
        Lag::new(up, down, jitter, self.seed)
    }

    pub(super) fn event_keep_alive(&self) -> Duration {
        Duration::from_millis(self.event_keep_alive_ms.max(1))
    }

    pub(super) fn game_keep_alive(&self) -> Duration {
        Duration::from_millis(self.game_keep_alive_ms.max(1))
    }

    pub(super) fn challenge_lifetime(&self) -> Duration {
        Duration::from_secs(self.challenge_seconds)
    }

    pub(super) fn presence_grace(&self) -> Duration {
        Duration::from_millis(self.presence_grace_ms)
    }

    pub(super) fn patience(&self) -> Duration {
        Duration::from_millis(self.gone_ms)
    }

    pub(super) fn gone_notice_period(&self) -> Duration {
        Duration::from_millis(self.gone_notice_ms.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::{Acceptance, Endpoint, Fault, OpponentKind, Scope};

    #[test]
    fn settings_are_read_from_a_file() {
        let options: ArenaOptions = serde_json::from_str(
            r#"{
                "seed": 7,
                "accounts": [{ "name": "EmberFork", "title": "BOT", "token": "lip_demo",
                               "scopes": ["bot:play"] }],
                "houses": [{ "name": "QuietRook7", "opponent": "random", "accepts": "ignore" }],
                "tournaments": [{ "name": "Bots", "limit_s": 30, "players": ["QuietRook7"] }],
                "faults": [
                    { "endpoint": "game-stream", "fault": "cut", "rate": 0.01 },
                    { "endpoint": "move", "fault": { "delay": { "ms": 300 } }, "rate": 0.1 },
                    { "endpoint": "any", "fault": { "too-many-requests": {} }, "rate": 0.0 },
                    { "endpoint": "any", "fault": "reset-answer", "rate": 0.0 },
                    { "endpoint": "any", "fault": { "error-line": { "text": "No" } }, "rate": 0.0 }
                ]
            }"#,
        )
        .unwrap();
        assert_eq!(options.accounts[0].scopes, [Scope::BotPlay]);
        assert_eq!(options.houses[0].opponent, OpponentKind::Random);
        assert_eq!(options.houses[0].accepts, Acceptance::Ignore);
        assert_eq!(options.tournaments[0].limit_s, 30);
        assert_eq!(options.faults[0].endpoint, Endpoint::GameStream);
        assert_eq!(options.faults[1].fault, Fault::Delay { ms: 300 });
        assert_eq!(options.faults[3].fault, Fault::ResetAnswer);
        assert_eq!(options.gone_ms, ArenaOptions::default().gone_ms);
        assert!(serde_json::from_str::<ArenaOptions>(r#"{ "sed": 7 }"#).is_err());
    }
}
