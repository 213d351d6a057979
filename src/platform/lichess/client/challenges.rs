//! Challenges: how they are answered, made and withdrawn, and who can be challenged.

use reqwest::Method;

use crate::{
    game::GameId,
    platform::{
        ChallengeTime, DeclineReason, OnlineBot,
        lichess::{
            client::{Client, parse},
            error::ApiError,
            listings::OnlineBotBody,
            model::ChallengeBody,
        },
    },
};

/// The variant that is challenged for.
const VARIANT: &str = "atomic";
/// The most bots that the server lists at once.
const MOST_BOTS: u32 = 512;

impl Client {
    /// Accepts a challenge.
    ///
    /// # Errors
    ///
    /// [`ApiError`]; with a limit `bot.vsBot.day` when a quota of games between bots is used up:
    /// ours (429) or the opponent's (400).
    pub async fn accept(&self, challenge: &GameId) -> Result<(), ApiError> {
        self.post(&format!("/api/challenge/{challenge}/accept")).await
    }

    /// Declines a challenge.
    ///
    /// # Errors
    ///
    /// [`ApiError`].
    pub async fn decline(&self, challenge: &GameId, why: DeclineReason) -> Result<(), ApiError> {
        let path = format!("/api/challenge/{challenge}/decline");
        let request = self.request(Method::POST, &path).form(&[("reason", why.key())]);
        self.body(request.timeout(self.options.request_timeout)).await.map(drop)
    }
    /// Challenges an account, by its id, to a game of atomic with colors drawn by lot.
    ///
    /// # Errors
    ///
    /// [`ApiError`]; with a limit as for [`accept`](Self::accept), or with `challenge.create.user`
    /// when too many challenges were made.
    pub async fn challenge(
        &self,
        target: &str,
        time: ChallengeTime,
        rated: bool,
    ) -> Result<GameId, ApiError> {
        let mut form = vec![("rated", rated.to_string())];
        match time {
            ChallengeTime::Clock(clock) => form.extend([
                ("clock.limit", clock.initial_s.to_string()),
                ("clock.increment", clock.increment_s.to_string()),
            ]),
            ChallengeTime::Days(days) => form.push(("days", days.to_string())),
        }
        form.push(("variant", VARIANT.to_owned()));
        let request = self.request(Method::POST, &format!("/api/challenge/{target}")).form(&form);
        let body = self.body(request.timeout(self.options.request_timeout)).await?;
        let challenge: ChallengeBody = parse(&body)?;
        challenge.id().map_err(|error| ApiError::Malformed(error.to_string()))
    }

    /// Withdraws a challenge of ours. Of one that was just accepted the game is aborted.
    ///
    /// # Errors
    ///
    /// [`ApiError`].
    pub async fn cancel(&self, challenge: &GameId) -> Result<(), ApiError> {
        self.post(&format!("/api/challenge/{challenge}/cancel")).await
    }

    /// The bots that are online, but for those that cannot be challenged at all.
    ///
    /// # Errors
    ///
    /// [`ApiError`].
    pub async fn online_bots(&self) -> Result<Vec<OnlineBot>, ApiError> {
        let path = format!("/api/bot/online?nb={MOST_BOTS}");
        let bodies: Vec<OnlineBotBody> = self.list(&path).await?;
        Ok(bodies.into_iter().filter_map(OnlineBotBody::into_bot).collect())
    }
}
