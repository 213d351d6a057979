//! Tournaments: what they are, joining and leaving, and berserk.

use reqwest::Method;
use secrecy::{ExposeSecret as _, SecretString};

use crate::{
    game::GameId,
    platform::{
        Tournament, TournamentId,
        lichess::{
            client::Client,
            error::ApiError,
            listings::{ListedTournamentBody, TournamentBody},
        },
    },
};

/// So many tournaments of a team are looked at: the latest, which the server lists first.
const MOST_TOURNAMENTS: u32 = 100;

impl Client {
    /// What the server tells of a tournament.
    ///
    /// # Errors
    ///
    /// [`ApiError`].
    pub async fn tournament(&self, id: &TournamentId) -> Result<Tournament, ApiError> {
        let body: TournamentBody = self.get(&format!("/api/tournament/{id}")).await?;
        body.into_tournament().map_err(|error| ApiError::Malformed(error.to_string()))
    }

    /// The tournaments of a team, by its id, that are of this variant and not over.
    ///
    /// # Errors
    ///
    /// [`ApiError`].
    pub async fn team_tournaments(
        &self,
        team: &str,
        variant: &str,
    ) -> Result<Vec<TournamentId>, ApiError> {
        let path = format!("/api/team/{team}/arena?max={MOST_TOURNAMENTS}");
        let bodies: Vec<ListedTournamentBody> = self.list(&path).await?;
        Ok(bodies.into_iter().filter_map(|body| body.into_id(variant)).collect())
    }

    /// Joins a tournament, or comes back to it, and is paired within the next minute. Needs the
    /// scope `tournament:write`.
    ///
    /// # Errors
    ///
    /// [`ApiError`].
    pub async fn join_tournament(
        &self,
        id: &TournamentId,
        password: Option<&SecretString>,
        team: Option<&str>,
    ) -> Result<(), ApiError> {
        let mut form = vec![("pairMeAsap", "true")];
        form.extend(password.map(|password| ("password", password.expose_secret())));
        form.extend(team.map(|team| ("team", team)));
        let request = self.request(Method::POST, &format!("/api/tournament/{id}/join")).form(&form);
        self.body(request.timeout(self.options.request_timeout)).await.map(drop)
    }

    /// Leaves a tournament, or pauses in it. A running game goes on.
    ///
    /// # Errors
    ///
    /// [`ApiError`].
    pub async fn withdraw(&self, id: &TournamentId) -> Result<(), ApiError> {
        self.post(&format!("/api/tournament/{id}/withdraw")).await
    }

    /// Gives half of our time for a point more, in a tournament that has that. The one address for
    /// it is that of the Board API, which needs the scope `board:play`; a server may refuse bots.
    ///
    /// # Errors
    ///
    /// [`ApiError`].
    pub async fn berserk(&self, game: &GameId) -> Result<(), ApiError> {
        self.post(&format!("/api/board/game/{game}/berserk")).await
    }
}
