//! One game: its stream, and what can be done in it.

use reqwest::Method;

use crate::{
    game::{GameId, Room},
    platform::lichess::{client::Client, error::ApiError, stream::LineStream},
    rules::Move,
};

impl Client {
    /// Opens the stream of a game.
    ///
    /// # Errors
    ///
    /// [`ApiError`].
    pub async fn open_game_stream(&self, game: &GameId) -> Result<LineStream, ApiError> {
        self.stream(&format!("/api/bot/game/stream/{game}")).await
    }

    /// Plays a move.
    ///
    /// # Errors
    ///
    /// [`ApiError`]; see there which ones leave open whether the move was played.
    pub async fn play(&self, game: &GameId, mv: Move, offer_draw: bool) -> Result<(), ApiError> {
        let offer = if offer_draw { "?offeringDraw=true" } else { "" };
        let path = format!("/api/bot/game/{game}/move/{mv}{offer}");
        let request = self.request(Method::POST, &path).timeout(self.options.move_timeout);
        self.body(request).await.map(drop)
    }

    /// Resigns; aborts where that is still possible.
    ///
    /// # Errors
    ///
    /// [`ApiError`].
    pub async fn resign(&self, game: &GameId) -> Result<(), ApiError> {
        self.post(&format!("/api/bot/game/{game}/resign")).await
    }

    /// Aborts a game of fewer than two plies.
    ///
    /// # Errors
    ///
    /// [`ApiError`].
    pub async fn abort(&self, game: &GameId) -> Result<(), ApiError> {
        self.post(&format!("/api/bot/game/{game}/abort")).await
    }

    /// Accepts a draw offer, or offers one. Succeeds even when nothing came of it.
    ///
    /// # Errors
    ///
    /// [`ApiError`].
    pub async fn accept_draw(&self, game: &GameId) -> Result<(), ApiError> {
        self.post(&format!("/api/bot/game/{game}/draw/yes")).await
    }

    /// Claims the win against an absent opponent. Success does not prove a win.
    ///
    /// # Errors
    ///
    /// [`ApiError`].
    pub async fn claim_victory(&self, game: &GameId) -> Result<(), ApiError> {
        self.post(&format!("/api/bot/game/{game}/claim-victory")).await
    }

    /// Writes to the chat of a game. Success does not prove that anybody reads it.
    ///
    /// # Errors
    ///
    /// [`ApiError`].
    pub async fn chat(&self, game: &GameId, room: Room, text: &str) -> Result<(), ApiError> {
        let room = match room {
            Room::Player => "player",
            Room::Spectator => "spectator",
        };
        let request = self.request(Method::POST, &format!("/api/bot/game/{game}/chat"));
        let request = request.form(&[("room", room), ("text", text)]);
        self.body(request.timeout(self.options.request_timeout)).await.map(drop)
    }
}
