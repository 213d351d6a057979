//! What the server refuses although it is allowed in itself: too many games between bots in a
//! day, too many challenges in a time.

use std::time::{Duration, Instant};

use hyper::StatusCode;
use serde_json::json;

use crate::arena::{
    game::Player,
    quota::{BOT_GAMES_WINDOW, POINT_WINDOWS, Quota},
    state::{Refused, State},
};

/// Points that a challenge costs (PROTOCOLS 13.3).
const POINTS_FOR_A_PERSON: u32 = 5;
const POINTS_FOR_A_BOT: u32 = 1;

impl State {
    /// Whether both may start another game against each other, if both are bots. `user` is whoever
    /// asks: its own used quota is another refusal than that of the other.
    pub(super) fn check_bot_quota(
        &self,
        user: &str,
        other: &str,
        now: Instant,
    ) -> Result<(), Refused> {
        let (own, other) = (self.account(user)?, self.account(other)?);
        if !own.is_bot() || !other.is_bot() {
            return Ok(());
        }
        let limit = self.options.bot_games_per_day;
        let exhausted = |quota: &Quota| quota.exhausted_for(limit, BOT_GAMES_WINDOW, now);
        if let Some(wait) = exhausted(&own.bot_games) {
            let error = format!(
                "You played {limit} games against other bots today, \
                 please wait before challenging another bot."
            );
            let status = StatusCode::TOO_MANY_REQUESTS;
            return Err(limited(status, error, "bot.vsBot.day", wait));
        }
        if let Some(wait) = exhausted(&other.bot_games) {
            let error = format!(
                "{} played {limit} games against other bots today, \
                 please wait {} seconds to challenge them.",
                other.name,
                wait.as_secs()
            );
            return Err(limited(StatusCode::BAD_REQUEST, error, "bot.vsBot.day", wait));
        }
        Ok(())
    }

    /// Counts a game that starts, if both players are bots.
    pub(super) fn count_bot_game(&mut self, players: &[Player; 2], now: Instant) {
        let is_bot = |player: &Player| player.title.as_deref() == Some("BOT");
        if !players.iter().all(is_bot) {
            return;
        }
        for player in players {
            if let Some(account) = self.accounts.get_mut(&player.user) {
                account.bot_games.take(1, BOT_GAMES_WINDOW, now);
            }
        }
    }

    /// Charges the points of a challenge, which a refused one costs as well.
    pub(super) fn charge_challenge(
        &mut self,
        user: &str,
        target: &str,
        now: Instant,
    ) -> Result<(), Refused> {
        let is_bot = self.account(target).is_ok_and(super::account::Account::is_bot);
        let cost = if is_bot { POINTS_FOR_A_BOT } else { POINTS_FOR_A_PERSON };
        let options = &self.options;
        let limits = [options.challenge_points_per_minute, options.challenge_points_per_day];
        let account = self.accounts.get_mut(user).ok_or_else(|| Refused::not_found("Not found"))?;
        let points = &mut account.challenge_points;
        for ((quota, window), limit) in points.iter().zip(POINT_WINDOWS).zip(limits) {
            if let Some(wait) = quota.exhausted_for(limit, window, now) {
                let error = "Too many requests. Try again later.".to_owned();
                let status = StatusCode::TOO_MANY_REQUESTS;
                return Err(limited(status, error, "challenge.create.user", wait));
            }
        }
        for (quota, window) in points.iter_mut().zip(POINT_WINDOWS) {
            quota.take(cost, window, now);
        }
        Ok(())
    }
}

fn limited(status: StatusCode, error: String, key: &str, wait: Duration) -> Refused {
    let mut refused = Refused::new(status, error);
    // Rounded up, so that it is not too early to come back then.
    let seconds = wait.as_millis().div_ceil(1000);
    refused.body["ratelimit"] = json!({ "key": key, "seconds": seconds });
    refused
}
