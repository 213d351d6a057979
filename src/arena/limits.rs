//! What the server refuses although it is allowed in itself: too many games between bots in a
//! day, too many challenges in a time.

use std::time::{Duration, Instant};

use hyper::StatusCode;
use serde_json::json;

use crate::arena::{
    account::Account,
    quota::{BOT_GAMES_WINDOW, POINT_WINDOWS, Quota},
    state::{Refused, State},
};

/// Points that a challenge costs (PROTOCOLS 18.1).
const POINTS_FOR_A_PERSON: u32 = 5;
const POINTS_FOR_A_BOT: u32 = 1;

/// How often a player may ask to join a tournament, and in which time (PROTOCOLS 18.1).
const MOST_JOINS: u32 = 30;
const JOINS_WINDOW: Duration = Duration::from_mins(10);

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
    pub(super) fn count_bot_game(&mut self, users: &[String; 2], now: Instant) {
        if !users.iter().all(|user| self.account(user).is_ok_and(Account::is_bot)) {
            return;
        }
        for user in users {
            if let Some(account) = self.accounts.get_mut(user) {
                account.bot_games.take(1, BOT_GAMES_WINDOW, now);
            }
        }
    }

    /// Counts a request to join a tournament.
    pub(super) fn charge_tournament_join(
        &mut self,
        user: &str,
        now: Instant,
    ) -> Result<(), Refused> {
        let account = self.accounts.get_mut(user).ok_or_else(|| Refused::not_found("Not found"))?;
        let joins = &mut account.tournament_joins;
        if joins.exhausted_for(MOST_JOINS, JOINS_WINDOW, now).is_some() {
            let error = "Too many requests. Try again later.";
            return Err(Refused::new(StatusCode::TOO_MANY_REQUESTS, error));
        }
        joins.take(1, JOINS_WINDOW, now);
        Ok(())
    }

    /// Charges the points of a challenge, which a refused one costs as well.
    pub(super) fn charge_challenge(
        &mut self,
        user: &str,
        target: &str,
        now: Instant,
    ) -> Result<(), Refused> {
        let is_bot = self.account(target).is_ok_and(Account::is_bot);
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
