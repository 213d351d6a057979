//! The endpoints: which path leads to which, and who may use it.

use hyper::Method;

use crate::arena::{
    account::Scope,
    faults::Endpoint,
    form::{Form, decode},
    play::Command,
};

/// Scopes that allow playing as a bot.
const PLAY: &[Scope] = &[Scope::BotPlay];
/// Scopes that allow playing as a person.
const BOARD: &[Scope] = &[Scope::BoardPlay];
/// Scopes that allow taking part in tournaments.
const TOURNAMENT: &[Scope] = &[Scope::TournamentWrite];
/// Scopes that allow making and answering challenges.
const CHALLENGE: &[Scope] = &[Scope::ChallengeWrite, Scope::BotPlay, Scope::BoardPlay];
/// Scopes that allow the event stream.
const EVENTS: &[Scope] = &[Scope::ChallengeRead, Scope::BotPlay, Scope::BoardPlay];
/// Scopes that allow looking at challenges.
const READ: &[Scope] = &[Scope::ChallengeRead];

/// The endpoints of the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Route {
    Account,
    TokenTest,
    Upgrade,
    Playing,
    User(String),
    UsersStatus,
    OnlineBots,
    EventStream,
    GameStream(String),
    Command(String, Command),
    PostChat(String),
    GetChat(String),
    SpectatorChat(String),
    CreateChallenge(String),
    Challenges,
    ShowChallenge(String),
    Accept(String),
    Decline(String),
    Cancel(String),
    Export(String),
    Tournament(String),
    TeamTournaments(String),
    Join(String),
    Withdraw(String),
    /// Whether it is the path of the Board API, and the game.
    Berserk(bool, String),
}

impl Route {
    /// The endpoint of a method and path; `None` for 404.
    pub(super) fn parse(method: &Method, path: &str, query: &Form) -> Option<Self> {
        let segments: Vec<String> = path.split('/').skip(1).map(decode).collect();
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        let is_post = method == Method::POST;
        if !is_post && method != Method::GET {
            return None;
        }
        match segments.as_slice() {
            ["api", "bot", "game", rest @ ..] => Self::parse_game(is_post, rest, query),
            ["api", "challenge", rest @ ..] => Self::parse_challenge(is_post, rest),
            ["api", "tournament", rest @ ..] => Self::parse_tournament(is_post, rest),
            rest => Self::parse_account(is_post, rest),
        }
    }

    /// Accounts, the event stream, and what needs no game of one's own.
    fn parse_account(is_post: bool, path: &[&str]) -> Option<Self> {
        Some(match (is_post, path) {
            (false, ["api", "account"]) => Self::Account,
            (false, ["api", "account", "playing"]) => Self::Playing,
            (false, ["api", "users", "status"]) => Self::UsersStatus,
            (false, ["api", "user", name]) => Self::User((*name).to_owned()),
            (false, ["api", "stream", "event"]) => Self::EventStream,
            (false, ["api", "bot", "online"]) => Self::OnlineBots,
            (false, ["api", "game", id, "chat"]) => Self::SpectatorChat((*id).to_owned()),
            (false, ["api", "team", team, "arena"]) => Self::TeamTournaments((*team).to_owned()),
            (false, ["game", "export", id]) => Self::Export((*id).to_owned()),
            (true, ["api", "board", "game", id, "berserk"]) => {
                Self::Berserk(true, (*id).to_owned())
            }
            (true, ["api", "token", "test"]) => Self::TokenTest,
            (true, ["api", "bot", "account", "upgrade"]) => Self::Upgrade,
            _ => return None,
        })
    }

    /// What follows `/api/bot/game/`.
    fn parse_game(is_post: bool, path: &[&str], query: &Form) -> Option<Self> {
        if !is_post {
            return match path {
                ["stream", id] => Some(Self::GameStream((*id).to_owned())),
                [id, "chat"] => Some(Self::GetChat((*id).to_owned())),
                _ => None,
            };
        }
        let (id, command) = match path {
            [id, "chat"] => return Some(Self::PostChat((*id).to_owned())),
            [id, "berserk"] => return Some(Self::Berserk(false, (*id).to_owned())),
            [id, "move", uci] => {
                let offering_draw = query.is_true("offeringDraw");
                (id, Command::Move { uci: (*uci).to_owned(), offering_draw })
            }
            [id, "abort"] => (id, Command::Abort),
            [id, "resign"] => (id, Command::Resign),
            [id, "draw", answer] if is_yes(answer) => (id, Command::OfferDraw),
            [id, "draw", _] => (id, Command::DeclineDraw),
            [id, "takeback", answer] if is_yes(answer) => (id, Command::ProposeTakeback),
            [id, "takeback", _] => (id, Command::DeclineTakeback),
            [id, "claim-victory"] => (id, Command::ClaimVictory),
            [id, "claim-draw"] => (id, Command::ClaimDraw),
            _ => return None,
        };
        Some(Self::Command((*id).to_owned(), command))
    }

    /// What follows `/api/challenge/`.
    fn parse_challenge(is_post: bool, path: &[&str]) -> Option<Self> {
        Some(match (is_post, path) {
            (false, []) => Self::Challenges,
            (false, [id, "show"]) => Self::ShowChallenge((*id).to_owned()),
            (true, [id, "accept"]) => Self::Accept((*id).to_owned()),
            (true, [id, "decline"]) => Self::Decline((*id).to_owned()),
            (true, [id, "cancel"]) => Self::Cancel((*id).to_owned()),
            (true, [user]) => Self::CreateChallenge((*user).to_owned()),
            _ => return None,
        })
    }

    /// What follows `/api/tournament/`.
    fn parse_tournament(is_post: bool, path: &[&str]) -> Option<Self> {
        Some(match (is_post, path) {
            (false, [id]) => Self::Tournament((*id).to_owned()),
            (true, [id, "join"]) => Self::Join((*id).to_owned()),
            (true, [id, "withdraw"]) => Self::Withdraw((*id).to_owned()),
            _ => return None,
        })
    }

    /// The kind of endpoint, for faults.
    pub(super) fn endpoint(&self) -> Endpoint {
        match self {
            Self::Account | Self::TokenTest | Self::Upgrade | Self::Playing => Endpoint::Account,
            Self::User(_) | Self::UsersStatus | Self::OnlineBots | Self::Export(_) => {
                Endpoint::Other
            }
            Self::EventStream => Endpoint::EventStream,
            Self::GameStream(_) => Endpoint::GameStream,
            Self::Command(_, Command::Move { .. }) => Endpoint::Move,
            Self::Command(..) | Self::Berserk(..) => Endpoint::GameCommand,
            Self::Tournament(_) | Self::TeamTournaments(_) | Self::Join(_) | Self::Withdraw(_) => {
                Endpoint::Tournament
            }
            Self::PostChat(_) | Self::GetChat(_) | Self::SpectatorChat(_) => Endpoint::Chat,
            Self::CreateChallenge(_) | Self::Challenges | Self::ShowChallenge(_) => {
                Endpoint::Challenge
            }
            Self::Accept(_) | Self::Decline(_) | Self::Cancel(_) => Endpoint::ChallengeAnswer,
        }
    }

    /// Any of these scopes will do; an empty list asks for any valid token, `None` for nothing.
    pub(super) fn scopes(&self) -> Option<&'static [Scope]> {
        match self {
            Self::TokenTest
            | Self::OnlineBots
            | Self::User(_)
            | Self::UsersStatus
            | Self::SpectatorChat(_)
            | Self::Tournament(_)
            | Self::TeamTournaments(_)
            | Self::Export(_) => None,
            Self::Account | Self::Playing => Some(&[]),
            Self::Upgrade
            | Self::GameStream(_)
            | Self::Command(..)
            | Self::PostChat(_)
            | Self::GetChat(_)
            | Self::Berserk(false, _) => Some(PLAY),
            Self::Berserk(true, _) => Some(BOARD),
            Self::Join(_) | Self::Withdraw(_) => Some(TOURNAMENT),
            Self::EventStream => Some(EVENTS),
            Self::CreateChallenge(_) | Self::Accept(_) | Self::Decline(_) | Self::Cancel(_) => {
                Some(CHALLENGE)
            }
            Self::Challenges | Self::ShowChallenge(_) => Some(READ),
        }
    }

    /// Whether only an account with the title `BOT` may use it.
    pub(super) fn is_for_bots(&self) -> bool {
        matches!(
            self,
            Self::GameStream(_) | Self::Command(..) | Self::PostChat(_) | Self::GetChat(_)
        )
    }
}

/// Whether the last word of a draw or takeback path agrees. Everything else declines.
fn is_yes(word: &str) -> bool {
    matches!(word, "yes" | "true" | "1" | "on")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(method: &Method, path: &str) -> Option<Route> {
        Route::parse(method, path, &Form::default())
    }

    #[test]
    fn paths_lead_to_endpoints() {
        assert_eq!(parse(&Method::GET, "/api/account"), Some(Route::Account));
        assert_eq!(parse(&Method::POST, "/api/account"), None);
        assert_eq!(parse(&Method::DELETE, "/api/token"), None);
        let stream = parse(&Method::GET, "/api/bot/game/stream/abcd1234");
        assert_eq!(stream, Some(Route::GameStream("abcd1234".to_owned())));
        let accept = parse(&Method::POST, "/api/challenge/abcd1234/accept");
        assert_eq!(accept, Some(Route::Accept("abcd1234".to_owned())));
        assert_eq!(parse(&Method::GET, "/api/challenge"), Some(Route::Challenges));
        assert_eq!(parse(&Method::POST, "/api/challenge"), None);
    }

    #[test]
    fn everything_but_yes_is_no() {
        let command = |answer: &str| {
            let path = format!("/api/bot/game/abcd1234/draw/{answer}");
            match parse(&Method::POST, &path) {
                Some(Route::Command(_, command)) => command,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(command("yes"), Command::OfferDraw);
        assert_eq!(command("true"), Command::OfferDraw);
        assert_eq!(command("no"), Command::DeclineDraw);
    }

    #[test]
    fn a_move_may_offer_a_draw() {
        let query = Form::parse("offeringDraw=true");
        let route = Route::parse(&Method::POST, "/api/bot/game/abcd1234/move/e7e8q", &query);
        let command = Command::Move { uci: "e7e8q".to_owned(), offering_draw: true };
        assert_eq!(route, Some(Route::Command("abcd1234".to_owned(), command)));
    }
}
