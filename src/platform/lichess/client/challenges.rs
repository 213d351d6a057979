//! Challenges: how they are answered.

use reqwest::Method;

use crate::{
    game::GameId,
    platform::{
        DeclineReason,
        lichess::{client::Client, error::ApiError},
    },
};

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
}
