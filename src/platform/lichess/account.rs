//! The test at the start: does the token work, may it play, and is the account a bot's?

use tracing::{debug, warn};

use crate::platform::lichess::{ApiError, Client};

/// The one scope that playing needs.
const PLAY_SCOPE: &str = "bot:play";

/// The account that we play as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// In lower case; what accounts are compared by.
    pub id: String,
    /// As displayed.
    pub name: String,
    /// Its rating for atomic.
    pub rating: Option<u32>,
}

/// Why the bot cannot start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// The server does not know the token.
    #[error(
        "the server does not accept the token: it is wrong, revoked or expired; \
         create one with the scope {PLAY_SCOPE}"
    )]
    WrongToken,
    /// The token may not play.
    #[error("the token lacks the scope {0}; create one that has it")]
    MissingScope(String),
    /// The account is a person's.
    #[error(
        "the account {0} is not a bot account (its title is not BOT); \
         `meitner configure` upgrades one that has never played, for good"
    )]
    NotABot(String),
    /// The server cannot be reached, or fails.
    #[error("cannot check the account: {0}")]
    Unreachable(ApiError),
}

/// Tests token and account, and makes the client name the account from now on.
///
/// # Errors
///
/// [`StartError`], each a sentence for whoever runs the bot.
pub async fn check_account(client: &Client) -> Result<Account, StartError> {
    check_scope(client).await?;
    let body = client.account().await.map_err(start_error)?;
    if !body.is_bot() {
        return Err(StartError::NotABot(body.username));
    }
    client.set_account(&body.username);
    let rating = body.rating();
    Ok(Account { id: body.id.to_ascii_lowercase(), name: body.username, rating })
}

/// Tests the token: whether the server knows it, and whether it may play.
///
/// # Errors
///
/// [`StartError`], but not [`StartError::NotABot`].
pub async fn check_scope(client: &Client) -> Result<(), StartError> {
    match client.test_token().await {
        Ok(Some(token)) if token.has_scope(PLAY_SCOPE) => Ok(()),
        Ok(Some(_)) => Err(StartError::MissingScope(PLAY_SCOPE.to_owned())),
        Ok(None) => Err(StartError::WrongToken),
        // Not every server has this test, and the account tells the same later.
        Err(error @ (ApiError::Refused { .. } | ApiError::Malformed(_)))
            if !matches!(error.status(), Some(401 | 403)) =>
        {
            debug!(%error, "the server does not test tokens");
            Ok(())
        }
        Err(error @ ApiError::RateLimited { .. }) => {
            warn!(%error, "could not test the token's scopes");
            Ok(())
        }
        Err(error) => Err(start_error(error)),
    }
}

/// A refusal at the start, or of a stream later, as what it means for the whole bot.
pub fn start_error(error: ApiError) -> StartError {
    match error.status() {
        Some(401) => StartError::WrongToken,
        Some(403) => StartError::MissingScope(scope_named_in(&error)),
        _ => StartError::Unreachable(error),
    }
}

/// The scope that a 403 names, for display only.
fn scope_named_in(error: &ApiError) -> String {
    let ApiError::Refused { message, .. } = error else { return PLAY_SCOPE.to_owned() };
    let scope = message.split_once("Missing scope:").map(|(_, scope)| scope.trim());
    scope.filter(|scope| !scope.is_empty()).unwrap_or(PLAY_SCOPE).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: u16, message: &str) -> StartError {
        start_error(ApiError::Refused { status, message: message.to_owned(), limit: None })
    }

    #[test]
    fn each_refusal_has_its_sentence() {
        assert_eq!(refused(401, "No such token"), StartError::WrongToken);
        let missing = refused(403, "Missing scope: bot:play");
        assert_eq!(missing, StartError::MissingScope("bot:play".into()));
        assert_eq!(refused(403, ""), StartError::MissingScope("bot:play".into()));
        assert!(missing.to_string().contains("bot:play"));
        assert!(StartError::NotABot("X".into()).to_string().contains("not a bot account"));
    }
}
