//! What is asked for: the token, our account, the games in progress.

use reqwest::Method;
use secrecy::ExposeSecret as _;

use crate::{
    game::one_line,
    platform::lichess::{
        client::{Client, parse},
        error::ApiError,
        model::{AccountBody, LONGEST_NAME, PlayingBody, TokenBody, UserAccountBody},
    },
};

impl Client {
    /// GET `/api/account`. At most 30 calls in 5 minutes.
    ///
    /// # Errors
    ///
    /// [`ApiError`].
    pub async fn account(&self) -> Result<AccountBody, ApiError> {
        let mut account: AccountBody = self.get("/api/account").await?;
        account.username = one_line(&account.username, LONGEST_NAME);
        Ok(account)
    }

    /// GET `/api/user/{id}`: somebody's account.
    ///
    /// # Errors
    ///
    /// [`ApiError`].
    pub async fn user(&self, id: &str) -> Result<UserAccountBody, ApiError> {
        self.get(&format!("/api/user/{id}")).await
    }

    /// POST `/api/token/test` for our own token; `None` if the server does not know it.
    ///
    /// # Errors
    ///
    /// [`ApiError`].
    pub async fn test_token(&self) -> Result<Option<TokenBody>, ApiError> {
        let token = self.token.expose_secret();
        let request = self.request(Method::POST, "/api/token/test");
        let request = request.header("content-type", "text/plain").body(token.to_owned());
        let request = request.timeout(self.options.request_timeout);
        let body = self.body(request).await?;
        let mut tokens: std::collections::HashMap<String, Option<TokenBody>> = parse(&body)?;
        Ok(tokens.remove(token).flatten())
    }

    /// POST `/api/bot/account/upgrade`: makes a bot account of ours, for good. The server refuses it to
    /// an account that has played.
    ///
    /// # Errors
    ///
    /// [`ApiError`].
    pub async fn upgrade_to_bot(&self) -> Result<(), ApiError> {
        self.post("/api/bot/account/upgrade").await
    }

    /// GET `/api/account/playing`: the games in progress, most urgent first.
    ///
    /// # Errors
    ///
    /// [`ApiError`].
    pub async fn playing(&self) -> Result<PlayingBody, ApiError> {
        self.get("/api/account/playing?nb=50").await
    }
}
