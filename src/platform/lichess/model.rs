//! What lichess writes, and what it means.
//!
//! Only the fields that are used are read, so that others may come, go and change. Whatever the
//! server's schema does not require may be absent or null (sections 5, 6 and 17 of the protocol
//! notes tell the traps). Reading and meaning are two steps: a type here mirrors a line, and one
//! conversion turns it into what the rest of the program knows; times change from numbers to
//! [`Duration`] there.

use std::{collections::HashMap, time::Duration};

use serde::Deserialize;
use serde_json::Value;

use crate::{
    game::{
        ChatLine, EndReason, Event, Expiration, GameFull, GameId, GameState, InvalidGameIdError,
        LostReason, Player, Room, Status, TimeControl, one_line,
    },
    platform::{
        AccountFacts, Challenge, ChallengeClock, DeclineReason, DeclinedChallenge, GameStart,
        PlatformEvent, Speed, User,
    },
    rules::Color,
};

const BOT: &str = "BOT";
/// More than a server's names and lines of chat have, in characters.
pub(super) const LONGEST_NAME: usize = 64;
const LONGEST_CHAT: usize = 500;
/// How the server writes the standard start position.
const STANDARD_START: &str = "startpos";

/// A line of the account's event stream.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum EventLine {
    /// A game runs; at the opening of the stream, one for each game in progress.
    GameStart {
        /// The game.
        game: GameBody,
    },
    /// A game ended.
    GameFinish {
        /// The game.
        game: GameBody,
    },
    /// A challenge, incoming or outgoing.
    Challenge {
        /// The challenge.
        challenge: Box<ChallengeBody>,
        /// Absent in lines replayed at the opening.
        compat: Option<Compat>,
    },
    /// A challenge was withdrawn.
    ChallengeCanceled {
        /// The challenge.
        challenge: Box<ChallengeBody>,
    },
    /// A challenge was declined, by either side.
    ChallengeDeclined {
        /// The challenge.
        challenge: Box<ChallengeBody>,
    },
    /// Something newer than this program.
    #[serde(other)]
    Unknown,
}

/// A line of a game's stream.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum GameLine {
    /// The first line: all of the game.
    GameFull(Box<FullBody>),
    /// A change.
    GameState(StateBody),
    /// Somebody wrote something.
    ChatLine(ChatBody),
    /// The opponent left, is still gone, or came back.
    OpponentGone(GoneBody),
    /// Something newer than this program.
    #[serde(other)]
    Unknown,
}

/// A game in an event line, or in the list of games being played.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GameBody {
    game_id: String,
    color: Option<String>,
    variant: Option<KeyBody>,
    opponent: Option<OpponentBody>,
    speed: Option<String>,
    tournament_id: Option<String>,
    has_moved: Option<bool>,
    rating_diff: Option<i32>,
    compat: Option<Compat>,
}

#[derive(Debug, Deserialize)]
struct OpponentBody {
    username: Option<String>,
    rating: Option<u32>,
}

#[derive(Debug, Deserialize)]
struct KeyBody {
    key: String,
}

/// A line of chat.
#[derive(Debug, Deserialize)]
pub struct ChatBody {
    room: Option<String>,
    username: Option<String>,
    text: Option<String>,
}

/// Which programs can play a game.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Compat {
    bot: Option<bool>,
}

/// A challenge.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChallengeBody {
    id: String,
    challenger: Option<UserBody>,
    dest_user: Option<UserBody>,
    variant: KeyBody,
    rated: Option<bool>,
    speed: Option<String>,
    time_control: Option<TimeControlBody>,
    initial_fen: Option<String>,
    rematch_of: Option<String>,
    decline_reason_key: Option<String>,
}

#[derive(Debug, Deserialize)]
struct UserBody {
    id: String,
    name: Option<String>,
    title: Option<String>,
    rating: Option<u32>,
    provisional: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TimeControlBody {
    limit: Option<u32>,
    increment: Option<u32>,
    days_per_turn: Option<u32>,
}

/// The first line of a game's stream.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FullBody {
    white: PlayerBody,
    black: PlayerBody,
    initial_fen: Option<String>,
    clock: Option<ClockBody>,
    days_per_turn: Option<u32>,
    rated: Option<bool>,
    tournament_id: Option<String>,
    state: StateBody,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PlayerBody {
    id: Option<String>,
    name: Option<String>,
    title: Option<String>,
    rating: Option<u32>,
    ai_level: Option<u32>,
}

#[derive(Debug, Deserialize)]
struct ClockBody {
    initial: i64,
    increment: i64,
}

/// The part of a game that changes.
#[derive(Debug, Deserialize)]
pub struct StateBody {
    moves: String,
    wtime: i64,
    btime: i64,
    winc: Option<i64>,
    binc: Option<i64>,
    status: String,
    winner: Option<String>,
    wdraw: Option<bool>,
    bdraw: Option<bool>,
    wtakeback: Option<bool>,
    btakeback: Option<bool>,
    expiration: Option<ExpirationBody>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExpirationBody {
    idle_millis: i64,
    millis_to_move: i64,
}

/// Whether the opponent is there.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GoneBody {
    gone: bool,
    claim_win_in_seconds: Option<i64>,
}

/// Our account.
#[derive(Debug, Deserialize)]
pub struct AccountBody {
    /// In lower case.
    pub id: String,
    /// As displayed.
    pub username: String,
    /// `BOT` for a bot.
    pub title: Option<String>,
    perfs: Option<PerfsBody>,
    count: Option<CountBody>,
}

/// How an account does at each kind of game.
#[derive(Debug, Deserialize)]
pub(super) struct PerfsBody {
    pub(super) atomic: Option<PerfBody>,
}

#[derive(Debug, Deserialize)]
pub(super) struct PerfBody {
    pub(super) rating: Option<u32>,
    pub(super) games: Option<u32>,
}

/// Somebody's account (section 3.7 of the protocol notes).
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserAccountBody {
    created_at: Option<u64>,
    count: Option<CountBody>,
    perfs: Option<HashMap<String, Value>>,
    tos_violation: Option<bool>,
    disabled: Option<bool>,
}

#[derive(Debug, Deserialize)]
struct CountBody {
    all: Option<u32>,
}

/// What a token may do.
#[derive(Debug, Deserialize)]
pub struct TokenBody {
    scopes: Option<String>,
}

/// The games in progress. Each is read on its own, so that a strange one hides no other.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlayingBody {
    now_playing: Option<Vec<Value>>,
}

/// A refusal. Its parts are read one by one: form errors put an object where a sentence should
/// be (section 2 of the protocol notes).
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ErrorBody {
    error: Value,
    ratelimit: Value,
}

impl EventLine {
    /// What the daemon is told; `None` for what does not concern it.
    ///
    /// # Errors
    ///
    /// If the id of the challenge or game cannot be one.
    pub fn into_event(self) -> Result<Option<PlatformEvent>, InvalidGameIdError> {
        Ok(Some(match self {
            Self::GameStart { game } => PlatformEvent::GameStart(game.into_start()?),
            Self::GameFinish { game } => {
                PlatformEvent::GameFinish(game.game_id.parse()?, game.rating_diff)
            }
            Self::Challenge { challenge, compat } => {
                PlatformEvent::Challenge(challenge.into_challenge(compat)?)
            }
            Self::ChallengeCanceled { challenge } => {
                PlatformEvent::ChallengeCanceled(challenge.id.parse()?)
            }
            Self::ChallengeDeclined { challenge } => {
                PlatformEvent::ChallengeDeclined(Box::new(challenge.into_declined()?))
            }
            Self::Unknown => return Ok(None),
        }))
    }
}

impl GameBody {
    fn into_start(self) -> Result<GameStart, InvalidGameIdError> {
        let opponent_rating = self.opponent.as_ref().and_then(|opponent| opponent.rating);
        // The name can carry a title, as in `BOT soot-engine`.
        let name = self.opponent.and_then(|opponent| opponent.username).unwrap_or_default();
        Ok(GameStart {
            id: self.game_id.parse()?,
            color: self.color.as_deref().and_then(color),
            variant: self.variant.map(|variant| variant.key).unwrap_or_default(),
            opponent: one_line(name.rsplit(' ').next().unwrap_or_default(), LONGEST_NAME),
            opponent_rating,
            speed: self.speed.as_deref().and_then(speed),
            tournament: self.tournament_id.and_then(|id| id.parse().ok()),
            has_moved: self.has_moved,
            is_bot_playable: self.compat.and_then(|compat| compat.bot),
        })
    }
}

impl PlayingBody {
    /// The games that could be read.
    pub fn games(self) -> Vec<GameStart> {
        let bodies = self.now_playing.unwrap_or_default().into_iter();
        bodies
            .filter_map(|game| serde_json::from_value::<GameBody>(game).ok()?.into_start().ok())
            .collect()
    }
}

impl ChallengeBody {
    /// The id of a challenge of ours, as the server gave it.
    ///
    /// # Errors
    ///
    /// If it cannot be one.
    pub fn id(&self) -> Result<GameId, InvalidGameIdError> {
        self.id.parse()
    }

    fn into_challenge(self, compat: Option<Compat>) -> Result<Challenge, InvalidGameIdError> {
        let clock = self.time_control.as_ref().and_then(|control| {
            Some(ChallengeClock { initial_s: control.limit?, increment_s: control.increment? })
        });
        Ok(Challenge {
            id: self.id.parse()?,
            challenger: self.challenger.map(UserBody::into_user),
            target: self.dest_user.map(UserBody::into_user),
            variant: self.variant.key,
            initial_fen: self.initial_fen.filter(|fen| fen != STANDARD_START),
            rated: self.rated.unwrap_or_default(),
            speed: self.speed.as_deref().and_then(speed),
            clock,
            days: self.time_control.and_then(|control| control.days_per_turn),
            rematch_of: self.rematch_of.and_then(|id| id.parse().ok()),
            is_bot_playable: compat.and_then(|compat| compat.bot),
        })
    }
}

impl ChallengeBody {
    fn into_declined(self) -> Result<DeclinedChallenge, InvalidGameIdError> {
        let reason = self.decline_reason_key.as_deref().and_then(DeclineReason::from_key);
        Ok(DeclinedChallenge {
            id: self.id.parse()?,
            challenger: self.challenger.map(UserBody::into_user),
            target: self.dest_user.map(UserBody::into_user),
            reason: reason.unwrap_or(DeclineReason::Generic),
        })
    }
}

impl UserBody {
    fn into_user(self) -> User {
        User {
            name: one_line(self.name.as_ref().unwrap_or(&self.id), LONGEST_NAME),
            id: self.id.to_ascii_lowercase(),
            is_bot: self.title.as_deref() == Some(BOT),
            title: self.title,
            rating: self.rating,
            is_provisional: self.provisional.unwrap_or_default(),
        }
    }
}

impl GameLine {
    /// What the game's session is told; `None` for what does not concern it. `account` is our id.
    pub fn into_event(self, account: &str) -> Option<Event> {
        match self {
            Self::GameFull(full) => Some(full.into_event(account)),
            Self::GameState(state) => Some(Event::State(state.into_state())),
            Self::OpponentGone(gone) => {
                let seconds = gone.claim_win_in_seconds.filter(|_| gone.gone);
                Some(Event::OpponentGone(seconds.map(|s| millis(s.saturating_mul(1000)))))
            }
            Self::ChatLine(chat) => Some(Event::Chat(chat.into_line())),
            Self::Unknown => None,
        }
    }
}

impl ChatBody {
    fn into_line(self) -> ChatLine {
        let room = match self.room.as_deref() {
            Some("spectator") => Room::Spectator,
            _ => Room::Player,
        };
        let line = |text: Option<String>, most| one_line(&text.unwrap_or_default(), most);
        let (from, text) = (line(self.username, LONGEST_NAME), line(self.text, LONGEST_CHAT));
        ChatLine { room, from, text }
    }
}

impl FullBody {
    fn into_event(self, account: &str) -> Event {
        let is_us = |player: &PlayerBody| {
            player.id.as_deref().is_some_and(|id| id.eq_ignore_ascii_case(account))
        };
        let our_color = match (is_us(&self.white), is_us(&self.black)) {
            (true, _) => Color::White,
            (_, true) => Color::Black,
            _ => return Event::Lost(LostReason::NotOurs),
        };
        let time_control = match (self.clock, self.days_per_turn) {
            (Some(clock), _) => TimeControl::Clock {
                initial: millis(clock.initial),
                increment: millis(clock.increment),
            },
            (None, Some(days)) => TimeControl::Correspondence { days },
            (None, None) => TimeControl::Unlimited,
        };
        Event::Full(Box::new(GameFull {
            our_color,
            players: [self.white.into_player(), self.black.into_player()],
            initial_fen: self.initial_fen.filter(|fen| fen != STANDARD_START),
            time_control,
            rated: self.rated.unwrap_or_default(),
            is_abortable: self.tournament_id.is_none(),
            draws_are_claimed: false,
            tournament: self.tournament_id,
            state: self.state.into_state(),
        }))
    }
}

impl PlayerBody {
    fn into_player(self) -> Player {
        let is_bot = self.ai_level.is_some() || self.title.as_deref() == Some(BOT);
        let name = match (self.name, self.ai_level) {
            (Some(name), _) => one_line(&name, LONGEST_NAME),
            (None, Some(level)) => format!("server engine, level {level}"),
            (None, None) => {
                let id = self.id.as_deref().map(|id| one_line(id, LONGEST_NAME));
                id.unwrap_or_else(|| "anonymous".to_owned())
            }
        };
        Player { id: self.id, name, title: self.title, rating: self.rating, is_bot }
    }
}

impl StateBody {
    fn into_state(self) -> GameState {
        GameState {
            moves: self.moves.split_ascii_whitespace().map(str::to_owned).collect(),
            remaining: [millis(self.wtime), millis(self.btime)],
            increment: [self.winc, self.binc].map(|ms| millis(ms.unwrap_or_default())),
            status: status(&self.status),
            winner: self.winner.as_deref().and_then(color),
            draw_offer: [self.wdraw, self.bdraw].map(Option::unwrap_or_default),
            takeback_offer: [self.wtakeback, self.btakeback].map(Option::unwrap_or_default),
            expiration: self.expiration.map(|expiration| Expiration {
                idle: millis(expiration.idle_millis),
                limit: millis(expiration.millis_to_move),
            }),
        }
    }
}

impl AccountBody {
    /// Whether this is a bot's account.
    pub fn is_bot(&self) -> bool {
        self.title.as_deref() == Some(BOT)
    }

    /// How many games it has played, if the server tells.
    pub fn games(&self) -> Option<u32> {
        self.count.as_ref()?.all
    }

    /// Its rating for atomic, at any speed.
    pub fn rating(&self) -> Option<u32> {
        self.perfs.as_ref()?.atomic.as_ref()?.rating
    }
}

impl UserAccountBody {
    /// What it tells at this time since the beginning of 1970. What it does not tell counts as a new
    /// account, without games, and unmarked.
    pub fn facts(&self, now: Duration) -> AccountFacts {
        let created = self.created_at.map_or(now, Duration::from_millis);
        let of_kind = |perf: &Value| perf.get("games").and_then(Value::as_u64).unwrap_or_default();
        let in_all = || self.perfs.iter().flatten().map(|(_, perf)| of_kind(perf)).sum::<u64>();
        let counted = self.count.as_ref().and_then(|count| count.all);
        AccountFacts {
            age: now.saturating_sub(created),
            games: counted.unwrap_or_else(|| u32::try_from(in_all()).unwrap_or(u32::MAX)),
            is_marked: [self.tos_violation, self.disabled].contains(&Some(true)),
        }
    }
}

impl TokenBody {
    /// Whether the token has this scope.
    pub fn has_scope(&self, scope: &str) -> bool {
        self.scopes.as_deref().unwrap_or_default().split(',').any(|word| word.trim() == scope)
    }
}

impl ErrorBody {
    /// The server's sentence, as it is.
    pub fn message(&self) -> String {
        match &self.error {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }

    /// The name of the limit that was hit, and for how many seconds.
    pub fn limit(&self) -> Option<(&str, u64)> {
        Some((self.ratelimit.get("key")?.as_str()?, self.ratelimit.get("seconds")?.as_u64()?))
    }
}

/// What is wrong with a JSON text, without quoting it: texts may be private.
pub fn describe(error: &serde_json::Error) -> String {
    let what = match error.classify() {
        serde_json::error::Category::Data => "unexpected content",
        serde_json::error::Category::Eof => "it ends too early",
        serde_json::error::Category::Io | serde_json::error::Category::Syntax => "no valid JSON",
    };
    format!("{what} at line {}, column {}", error.line(), error.column())
}

/// Milliseconds of the server's. A clock below zero is at zero.
fn millis(ms: i64) -> Duration {
    Duration::from_millis(u64::try_from(ms).unwrap_or(0))
}

fn color(word: &str) -> Option<Color> {
    match word {
        "white" => Some(Color::White),
        "black" => Some(Color::Black),
        _ => None,
    }
}

fn speed(word: &str) -> Option<Speed> {
    Some(match word {
        "ultraBullet" => Speed::UltraBullet,
        "bullet" => Speed::Bullet,
        "blitz" => Speed::Blitz,
        "rapid" => Speed::Rapid,
        "classical" => Speed::Classical,
        "correspondence" => Speed::Correspondence,
        _ => return None,
    })
}

/// Anything but `created` and `started` is the end, known to us or not (section 11).
fn status(word: &str) -> Status {
    Status::Over(match word {
        "created" | "started" => return Status::Running,
        "aborted" => EndReason::Aborted,
        "mate" => EndReason::Mate,
        "variantEnd" => EndReason::VariantEnd,
        "resign" => EndReason::Resign,
        "stalemate" => EndReason::Stalemate,
        "timeout" => EndReason::Timeout,
        "outoftime" => EndReason::OutOfTime,
        "draw" => EndReason::Draw,
        "noStart" => EndReason::NoStart,
        "insufficientMaterialClaim" => EndReason::InsufficientMaterialClaim,
        "cheat" => EndReason::Cheat,
        other => EndReason::Other(one_line(other, 32)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game_event(line: &str) -> Option<Event> {
        serde_json::from_str::<GameLine>(line).unwrap().into_event("emberfork")
    }

    fn event(line: &str) -> Option<PlatformEvent> {
        serde_json::from_str::<EventLine>(line).unwrap().into_event().unwrap()
    }

    /// A wait beyond all sense overflowed when it was turned into milliseconds.
    #[test]
    fn a_wait_without_end_is_a_long_one() {
        let line =
            format!(r#"{{"type":"opponentGone","gone":true,"claimWinInSeconds":{}}}"#, i64::MAX);
        let Some(Event::OpponentGone(Some(wait))) = game_event(&line) else { panic!() };
        assert_eq!(wait, millis(i64::MAX));
    }

    #[test]
    fn names_and_chat_are_lines_that_can_be_seen() {
        let line = r#"{"type":"chatLine","room":"spectator","username":"a\u001b[2Jb","text":
            "x\u0007\u009b31m\r\ny\u202e"}"#;
        let expected =
            ChatLine { room: Room::Spectator, from: "a[2Jb".to_owned(), text: "x31my".to_owned() };
        assert_eq!(game_event(line), Some(Event::Chat(expected)));
        let line = r#"{"type":"gameFull","white":{"id":"emberfork"},"black":{"id":"q","name":"\u001bQ",
            "title":"BOT"},"state":{"moves":"","wtime":1,"btime":1,"status":"\u001bnew"}}"#;
        let Some(Event::Full(full)) = game_event(line) else { panic!() };
        assert_eq!(full.players[1].name, "Q");
        assert!(full.players[1].is_bot && !full.players[0].is_bot);
        assert_eq!(full.state.status, Status::Over(EndReason::Other("new".to_owned())));
        let line = r#"{"type":"challenge","challenge":{"id":"abcd1234","variant":{"key":"atomic"},
            "challenger":{"id":"q","name":"Q\u001b[1m"}}}"#;
        let Some(PlatformEvent::Challenge(challenge)) = event(line) else { panic!() };
        assert_eq!(challenge.challenger.unwrap().name, "Q[1m");
    }

    #[test]
    fn a_state_needs_only_moves_clocks_and_status() {
        let line = r#"{"type":"gameState","moves":"","wtime":-5,"btime":2147483647,
            "status":"started","winner":null,"wdraw":null,"wtakeback":null,"expiration":null,"new":[{}]}"#;
        let Some(Event::State(state)) = game_event(line) else { panic!() };
        assert!(state.moves.is_empty());
        assert_eq!(state.remaining, [Duration::ZERO, Duration::from_millis(2_147_483_647)]);
        assert_eq!(state.status, Status::Running);
        assert_eq!((state.winner, state.draw_offer), (None, [false, false]));
        assert_eq!(state.takeback_offer, [false, false]);
    }

    #[test]
    fn an_unknown_status_is_an_end() {
        assert_eq!(status("created"), Status::Running);
        assert_eq!(status("brandNew"), Status::Over(EndReason::Other("brandNew".into())));
        assert_eq!(status("variantEnd"), Status::Over(EndReason::VariantEnd));
    }

    #[test]
    fn chat_is_read_and_unknown_types_say_nothing() {
        assert_eq!(game_event(r#"{"type":"weather","moves":5}"#), None);
        assert_eq!(event(r#"{"type":"ping"}"#), None);
        let chat = r#"{"type":"chatLine","room":"player","username":"x","text":"hi"}"#;
        let Some(Event::Chat(line)) = game_event(chat) else { panic!("{chat}") };
        assert_eq!((line.room, line.text.as_str()), (Room::Player, "hi"));
    }

    #[test]
    fn the_opponent_may_be_an_engine_or_nobody() {
        for black in [r#"{"aiLevel":8}"#, r#"{"id":null,"name":null,"title":null}"#, "{}"] {
            let line = format!(
                r#"{{"type":"gameFull","id":"a","white":{{"id":"EmberFork"}},"black":{black},
                "state":{{"moves":"e2e4","wtime":1,"btime":1,"status":"started"}}}}"#
            );
            let Some(Event::Full(full)) = game_event(&line) else { panic!("{black}") };
            assert_eq!(full.our_color, Color::White);
            assert_eq!(full.time_control, TimeControl::Unlimited);
            assert_eq!(full.players[1].id, None);
            assert!(!full.players[1].name.is_empty());
        }
    }

    #[test]
    fn a_game_of_others_is_not_ours() {
        let line = r#"{"type":"gameFull","white":{"id":"a"},"black":{},
            "state":{"moves":"","wtime":1,"btime":1,"status":"started"}}"#;
        assert_eq!(game_event(line), Some(Event::Lost(LostReason::NotOurs)));
    }

    #[test]
    fn a_challenger_may_be_null_and_compat_absent() {
        let line = r#"{"type":"challenge","challenge":{"id":"w4itinG1","challenger":null,
            "destUser":null,"variant":{"key":"atomic"},"rated":true,"speed":"hyper",
            "timeControl":{"type":"unlimited"},"initialFen":"startpos"}}"#;
        let Some(PlatformEvent::Challenge(challenge)) = event(line) else { panic!() };
        assert_eq!(challenge.challenger, None);
        assert_eq!(challenge.is_bot_playable, None);
        assert_eq!((challenge.speed, challenge.clock), (None, None));
        assert_eq!(challenge.initial_fen, None);
    }

    #[test]
    fn a_decline_tells_who_and_why() {
        let declined = |key: &str| {
            let line = format!(
                r#"{{"type":"challengeDeclined","challenge":{{"id":"d3cl1n3d","challenger":null,
                "destUser":{{"id":"Soot","title":"BOT","provisional":true}},
                "variant":{{"key":"atomic"}},"declineReasonKey":{key}}}}}"#
            );
            let Some(PlatformEvent::ChallengeDeclined(declined)) = event(&line) else { panic!() };
            declined
        };
        let toofast = declined(r#""toofast""#);
        assert_eq!((toofast.id.as_str(), &toofast.challenger), ("d3cl1n3d", &None));
        let target = toofast.target.as_ref().unwrap();
        assert_eq!((target.id.as_str(), target.title.as_deref()), ("soot", Some("BOT")));
        assert!(target.is_bot && target.is_provisional);
        assert_eq!(toofast.reason, DeclineReason::TooFast);
        for unknown in [r#""moodofday""#, "null"] {
            assert_eq!(declined(unknown).reason, DeclineReason::Generic, "{unknown}");
        }
    }

    #[test]
    fn a_title_before_the_opponents_name_is_dropped() {
        let line = r#"{"type":"gameStart","game":{"gameId":"Zr81HwQe","color":"white",
            "opponent":{"id":"soot-engine","username":"BOT soot-engine"}}}"#;
        let Some(PlatformEvent::GameStart(start)) = event(line) else { panic!() };
        assert_eq!(start.opponent, "soot-engine");
        assert_eq!(start.color, Some(Color::White));
    }

    #[test]
    fn an_id_that_does_not_fit_a_path_is_refused() {
        let line = r#"{"type":"gameStart","game":{"gameId":"../account"}}"#;
        assert!(serde_json::from_str::<EventLine>(line).unwrap().into_event().is_err());
    }

    #[test]
    fn an_error_is_a_sentence_or_an_object() {
        let body = |text: &str| serde_json::from_str::<ErrorBody>(text).unwrap();
        assert_eq!(body(r#"{"error":"Too bad"}"#).message(), "Too bad");
        assert!(body(r#"{"error":{"clock.limit":["x"]}}"#).message().contains("clock.limit"));
        assert_eq!(body("{}").message(), "");
        let limited = body(r#"{"error":"x","ratelimit":{"key":"bot.vsBot.day","seconds":41213}}"#);
        assert_eq!(limited.limit(), Some(("bot.vsBot.day", 41213)));
        assert_eq!(body(r#"{"ratelimit":"soon"}"#).limit(), None);
    }

    #[test]
    fn one_strange_game_hides_no_other() {
        let text = r#"{"nowPlaying":[{"gameId":7},{"gameId":"a/b"},{"gameId":"Kq7ZbT2m"}]}"#;
        let playing: PlayingBody = serde_json::from_str(text).unwrap();
        let ids: Vec<_> = playing.games().into_iter().map(|game| game.id.to_string()).collect();
        assert_eq!(ids, ["Kq7ZbT2m"]);
    }

    #[test]
    fn a_description_quotes_nothing() {
        let error = serde_json::from_str::<StateBody>(r#"{"moves":"secret","wtime":"secret"}"#);
        assert!(!describe(&error.unwrap_err()).contains("secret"));
    }
}
