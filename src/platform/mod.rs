//! Servers' wire formats, translated to [`game`](crate::game) events and back.
//!
//! A platform connects, sends, times out and backs off. It decides nothing about games or
//! challenges, and knows nothing of engines or of the daemon above it. This file holds what every
//! platform can tell the daemon; [`lichess`] and [`fics`] are the platforms.

pub mod backoff;
pub mod fics;
pub mod lichess;
pub mod list;

mod tournament;

use std::{fmt, time::Duration};

use crate::{game::GameId, rules::Color};

pub use tournament::{InvalidTournamentIdError, Tournament, TournamentId, TournamentStage};

/// What a platform tells the daemon, besides what goes on inside a game.
#[derive(Clone, Debug, PartialEq)]
pub enum PlatformEvent {
    /// The account's stream is open. What it replays comes next.
    Connected,
    /// The account's stream is down; it is being opened again.
    Lost,
    /// The account's stream said something that cannot be read.
    Unreadable,
    /// Somebody challenges us, or we them: compare the challenger.
    Challenge(Challenge),
    /// A challenge was withdrawn.
    ChallengeCanceled(GameId),
    /// A challenge was declined, by us or by them.
    ChallengeDeclined(Box<DeclinedChallenge>),
    /// A game runs. Comes again at every opening of the stream.
    GameStart(GameStart),
    /// A game ended. The game's own stream says the same, but for what it did to our rating, if that
    /// is known.
    GameFinish(GameId, Option<i32>),
}

/// A wish for a game.
#[derive(Clone, Debug, PartialEq)]
pub struct Challenge {
    /// Becomes the game's id when accepted.
    pub id: GameId,
    /// Who wishes it; `None` for anonymous visitors.
    pub challenger: Option<User>,
    /// Whose game it is to be; `None` where the server does not say.
    pub target: Option<User>,
    /// The variant's key, as the server spells it.
    pub variant: String,
    /// A start position other than the standard one.
    pub initial_fen: Option<String>,
    /// Whether ratings would be at stake.
    pub rated: bool,
    /// The speed class; `None` for one that we do not know.
    pub speed: Option<Speed>,
    /// The clock; `None` for correspondence and unlimited games.
    pub clock: Option<ChallengeClock>,
    /// The days for each move; `None` for games with a clock and unlimited ones.
    pub days: Option<u32>,
    /// The game that is to be played again.
    pub rematch_of: Option<GameId>,
    /// Whether a bot could play this game; `None` where the server does not say.
    pub is_bot_playable: Option<bool>,
}

/// A challenge that was declined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclinedChallenge {
    /// Which one.
    pub id: GameId,
    /// Who wished the game; `None` for anonymous visitors.
    pub challenger: Option<User>,
    /// Who declined it; `None` where the server does not say.
    pub target: Option<User>,
    /// Why. [`DeclineReason::Generic`] also where the server does not say, or says what we do not
    /// know.
    pub reason: DeclineReason,
}

/// The clock of a challenged game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChallengeClock {
    /// What each side starts with, in seconds.
    pub initial_s: u32,
    /// Added for each move, in seconds.
    pub increment_s: u32,
}

impl ChallengeClock {
    /// How long a player has for 40 moves, by which servers sort games into speeds, in seconds.
    pub const fn estimate_s(self) -> u64 {
        self.initial_s as u64 + 40 * self.increment_s as u64
    }

    /// The speed class (section 8 of the protocol notes).
    pub const fn speed(self) -> Speed {
        match self.estimate_s() {
            ..30 => Speed::UltraBullet,
            30..180 => Speed::Bullet,
            180..480 => Speed::Blitz,
            480..1_500 => Speed::Rapid,
            1_500..21_600 => Speed::Classical,
            21_600.. => Speed::Correspondence,
        }
    }
}

/// How the time of a game is counted that we challenge for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChallengeTime {
    /// By a clock.
    Clock(ChallengeClock),
    /// So many days for each move.
    Days(u32),
}

impl ChallengeTime {
    /// Whether there is no clock.
    pub const fn is_correspondence(self) -> bool {
        matches!(self, Self::Days(_))
    }

    /// A clock to compare it by. The one of days is slower than any that there is.
    pub const fn clock(self) -> ChallengeClock {
        match self {
            Self::Clock(clock) => clock,
            Self::Days(days) => ChallengeClock { initial_s: days * 86_400, increment_s: 0 },
        }
    }
}

impl From<ChallengeClock> for ChallengeTime {
    fn from(clock: ChallengeClock) -> Self {
        Self::Clock(clock)
    }
}

/// A clock as players write it, or days, such as `2d`.
impl fmt::Display for ChallengeTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clock(clock) => clock.fmt(f),
            Self::Days(days) => write!(f, "{days}d"),
        }
    }
}

/// As players write it: minutes and seconds, such as `3+2` or `0.5+1`.
impl fmt::Display for ChallengeClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", f64::from(self.initial_s) / 60.0, self.increment_s)
    }
}

/// An account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// In lower case; what accounts are compared by.
    pub id: String,
    /// As displayed.
    pub name: String,
    /// `BOT`, `GM` and the like.
    pub title: Option<String>,
    /// Whether it is a bot.
    pub is_bot: bool,
    /// The rating for the challenged variant.
    pub rating: Option<u32>,
    /// Whether that rating is provisional, resting on few games.
    pub is_provisional: bool,
}

/// A bot that is online.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnlineBot {
    /// The id of its account, in lower case.
    pub id: String,
    /// Its rating for atomic; `None` if it has never played it.
    pub rating: Option<u32>,
    /// How many games of atomic it has played.
    pub games: u32,
}

/// What the server tells of an account besides its name and rating.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountFacts {
    /// For how long there has been such an account, by this machine's clock.
    pub age: Duration,
    /// How many games it has played, of any kind.
    pub games: u32,
    /// Whether it is closed, or the server has marked it for breaking its terms.
    pub is_marked: bool,
}

/// A running game.
#[derive(Clone, Debug, PartialEq)]
pub struct GameStart {
    /// Which one.
    pub id: GameId,
    /// Our color.
    pub color: Option<Color>,
    /// The variant's key, as the server spells it.
    pub variant: String,
    /// The opponent, as displayed.
    pub opponent: String,
    /// The opponent's rating.
    pub opponent_rating: Option<u32>,
    /// The speed class; `None` for one that we do not know.
    pub speed: Option<Speed>,
    /// The tournament that it is a game of.
    pub tournament: Option<TournamentId>,
    /// Whether we have made a move; `None` where the server does not say.
    pub has_moved: Option<bool>,
    /// Whether a bot can play this game; `None` where the server does not say.
    pub is_bot_playable: Option<bool>,
}

/// The speed classes of games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Speed {
    /// Under half a minute for 40 moves. Closed to bots.
    UltraBullet,
    /// Under three minutes.
    Bullet,
    /// Under eight minutes.
    Blitz,
    /// Under 25 minutes.
    Rapid,
    /// Longer.
    Classical,
    /// Days for a move, or no limit.
    Correspondence,
}

impl Speed {
    /// The word for it in the lichess API.
    pub const fn key(self) -> &'static str {
        match self {
            Self::UltraBullet => "ultraBullet",
            Self::Bullet => "bullet",
            Self::Blitz => "blitz",
            Self::Rapid => "rapid",
            Self::Classical => "classical",
            Self::Correspondence => "correspondence",
        }
    }
}

/// Why a challenge is declined. The server shows the challenger a sentence for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclineReason {
    /// No reason given.
    Generic,
    /// Not now.
    Later,
    /// Too fast for us.
    TooFast,
    /// Too slow for us.
    TooSlow,
    /// Another time control, please.
    TimeControl,
    /// Send a rated one instead.
    Rated,
    /// Send a casual one instead.
    Casual,
    /// Send standard chess instead.
    Standard,
    /// Another variant, please.
    Variant,
    /// No bots.
    NoBot,
    /// Bots only.
    OnlyBot,
}

impl DeclineReason {
    const ALL: [Self; 11] = [
        Self::Generic,
        Self::Later,
        Self::TooFast,
        Self::TooSlow,
        Self::TimeControl,
        Self::Rated,
        Self::Casual,
        Self::Standard,
        Self::Variant,
        Self::NoBot,
        Self::OnlyBot,
    ];

    /// The reason for a word of the lichess API, which writes them in varying case.
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.key().eq_ignore_ascii_case(key))
    }

    /// The word for it in the lichess API (section 7.4 of the protocol notes).
    pub const fn key(self) -> &'static str {
        match self {
            Self::Generic => "generic",
            Self::Later => "later",
            Self::TooFast => "tooFast",
            Self::TooSlow => "tooSlow",
            Self::TimeControl => "timeControl",
            Self::Rated => "rated",
            Self::Casual => "casual",
            Self::Standard => "standard",
            Self::Variant => "variant",
            Self::NoBot => "noBot",
            Self::OnlyBot => "onlyBot",
        }
    }
}

impl fmt::Display for DeclineReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_have_a_speed_and_a_spelling() {
        let clock = |initial_s, increment_s| ChallengeClock { initial_s, increment_s };
        for (clock, speed, text) in [
            (clock(15, 0), Speed::UltraBullet, "0.25+0"),
            (clock(0, 1), Speed::Bullet, "0+1"),
            (clock(90, 1), Speed::Bullet, "1.5+1"),
            (clock(180, 0), Speed::Blitz, "3+0"),
            (clock(300, 5), Speed::Rapid, "5+5"),
            (clock(900, 15), Speed::Classical, "15+15"),
            (clock(10_800, 300), Speed::Correspondence, "180+300"),
        ] {
            assert_eq!((clock.speed(), clock.to_string().as_str()), (speed, text));
        }
    }

    #[test]
    fn days_are_slower_than_any_clock() {
        let slowest = ChallengeClock { initial_s: 10_800, increment_s: 180 };
        let (day, two) = (ChallengeTime::Days(1), ChallengeTime::Days(2));
        assert!(day.clock().estimate_s() > slowest.estimate_s());
        assert!(two.clock().estimate_s() > day.clock().estimate_s());
        assert_eq!(two.to_string() + " " + &ChallengeTime::from(slowest).to_string(), "2d 180+180");
    }

    #[test]
    fn reasons_are_known_by_their_words_in_any_case() {
        for reason in DeclineReason::ALL {
            assert_eq!(DeclineReason::from_key(reason.key()), Some(reason));
            assert_eq!(DeclineReason::from_key(&reason.key().to_lowercase()), Some(reason));
        }
        assert_eq!(DeclineReason::from_key("whim"), None);
    }
}
