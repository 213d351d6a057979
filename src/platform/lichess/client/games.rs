//! One game: its stream, and what can be done in it.

use std::time::Duration;

use reqwest::Method;

use crate::{
    game::{GameId, Room},
    metrics::StreamKind,
    platform::lichess::{client::Client, error::ApiError, stream::LineStream},
    rules::Move,
};

/// How an offer is declined: the one word that both the published description and the server take
/// for that (section 17 of the protocol notes).
const DECLINE: &str = "false";

impl Client {
    /// Opens the stream of a game.
    ///
    /// # Errors
    ///
    /// [`ApiError`].
    pub async fn open_game_stream(&self, game: &GameId) -> Result<LineStream, ApiError> {
        let stream = self.stream(&format!("/api/bot/game/stream/{game}")).await?;
        Ok(stream.with_heard(self.metrics.heard(StreamKind::Game)))
    }

    /// Plays a move, and waits for so long at most for the answer.
    ///
    /// # Errors
    ///
    /// [`ApiError`]; see there which ones leave open whether the move was played.
    pub async fn play(
        &self,
        game: &GameId,
        mv: Move,
        offer_draw: bool,
        limit: Duration,
    ) -> Result<(), ApiError> {
        let offer = if offer_draw { "?offeringDraw=true" } else { "" };
        let path = format!("/api/bot/game/{game}/move/{mv}{offer}");
        let request = self.request(Method::POST, &path).timeout(limit);
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

    /// Declines a draw offer. Succeeds even when there was none.
    ///
    /// # Errors
    ///
    /// [`ApiError`].
    pub async fn decline_draw(&self, game: &GameId) -> Result<(), ApiError> {
        self.post(&format!("/api/bot/game/{game}/draw/{DECLINE}")).await
    }

    /// Agrees to take back moves, or declines that. Succeeds even when it was not proposed.
    ///
    /// # Errors
    ///
    /// [`ApiError`].
    pub async fn answer_takeback(&self, game: &GameId, accept: bool) -> Result<(), ApiError> {
        let answer = if accept { "yes" } else { DECLINE };
        self.post(&format!("/api/bot/game/{game}/takeback/{answer}")).await
    }

    /// Claims the win against an absent opponent. Success does not prove a win.
    ///
    /// # Errors
    ///
    /// [`ApiError`].
    pub async fn claim_victory(&self, game: &GameId) -> Result<(), ApiError> {
        self.post(&format!("/api/bot/game/{game}/claim-victory")).await
    }

    /// Claims a draw against an absent opponent. Success does not prove a draw.
    ///
    /// # Errors
    ///
    /// [`ApiError`].
    pub async fn claim_draw(&self, game: &GameId) -> Result<(), ApiError> {
        self.post(&format!("/api/bot/game/{game}/claim-draw")).await
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

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
        net::TcpListener,
    };

    use super::*;
    use crate::platform::lichess::Options;

    /// The method and path of the request that a call makes, which is answered with "ok".
    async fn request_of(
        call: impl AsyncFnOnce(&Client, &GameId) -> Result<(), ApiError>,
    ) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}", listener.local_addr().unwrap());
        let options = Options { base_url, ..Options::default() };
        let client = Client::new(options, "lip_token".to_owned().into()).unwrap();
        let game = "abcd1234".parse().unwrap();
        let server = async {
            let mut stream = BufReader::new(listener.accept().await.unwrap().0);
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                assert!(stream.read_line(&mut head).await.unwrap() > 0, "{head}");
            }
            let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n{\"ok\":true}";
            stream.write_all(answer).await.unwrap();
            head
        };
        let (head, result) = tokio::join!(server, call(&client, &game));
        result.unwrap();
        head.split(" HTTP/1.1").next().unwrap().to_owned()
    }

    #[tokio::test]
    async fn offers_are_answered_at_their_addresses() {
        let draw = request_of(async |client, game| client.accept_draw(game).await).await;
        assert_eq!(draw, "POST /api/bot/game/abcd1234/draw/yes");
        let draw = request_of(async |client, game| client.decline_draw(game).await).await;
        assert_eq!(draw, "POST /api/bot/game/abcd1234/draw/false");
        for (accept, word) in [(true, "yes"), (false, "false")] {
            let answer =
                async |client: &Client, game: &GameId| client.answer_takeback(game, accept).await;
            let takeback = request_of(answer).await;
            assert_eq!(takeback, format!("POST /api/bot/game/abcd1234/takeback/{word}"));
        }
    }

    #[tokio::test]
    async fn claims_are_made_at_their_addresses() {
        let victory = request_of(async |client, game| client.claim_victory(game).await).await;
        assert_eq!(victory, "POST /api/bot/game/abcd1234/claim-victory");
        let draw = request_of(async |client, game| client.claim_draw(game).await).await;
        assert_eq!(draw, "POST /api/bot/game/abcd1234/claim-draw");
    }
}
