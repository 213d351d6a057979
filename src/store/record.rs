//! What is remembered of games and challenges, as plain values: they are written as they are read.

use std::{fmt, str::FromStr};

use crate::{
    game::{Entry, GameId, GameResult, Player, Scoresheet, TimeControl},
    rules::{Color, History, Position},
    store::Epoch,
};

/// So many plies name an opening.
const OPENING_PLIES: usize = 4;

/// Where a game is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Platform {
    /// lichess, or a server that speaks its Bot API.
    Lichess,
    /// FICS, or a server like it.
    Fics,
}

impl Platform {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Lichess, Self::Fics];

    /// `lichess` or `fics`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lichess => "lichess",
            Self::Fics => "fics",
        }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that names no platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a platform is lichess or fics")]
pub struct ParsePlatformError;

impl FromStr for Platform {
    type Err = ParsePlatformError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|platform| platform.as_str() == text).ok_or(ParsePlatformError)
    }
}

/// One of our accounts, by its id in lower case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountKey {
    /// Where.
    pub platform: Platform,
    /// Which.
    pub account: String,
}

/// Names a game for us: two of our accounts may have played each other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GameKey {
    /// The account that played.
    pub account: AccountKey,
    /// The game on its platform.
    pub id: GameId,
}

/// A game as it is remembered.
#[derive(Clone, Debug, PartialEq)]
pub struct GameRecord {
    /// Which game.
    pub key: GameKey,
    /// The color that we played.
    pub our_color: Color,
    /// White, then Black, with their ratings before the game.
    pub players: [Player; 2],
    /// Whether ratings are at stake.
    pub rated: bool,
    /// How the time is counted.
    pub time_control: TimeControl,
    /// The speed class, as the platform names it.
    pub speed: Option<String>,
    /// The FEN of the start position; `None` for the standard one.
    pub start_fen: Option<String>,
    /// The id of the tournament that the game belongs to.
    pub tournament: Option<String>,
    /// When we first saw it.
    pub started_at: Epoch,
    /// How it ended; `None` as long as it has not, as far as we know.
    pub end: Option<GameEnd>,
    /// What a rated game did to our rating, where the platform tells.
    pub rating_diff: Option<i32>,
    /// The moves.
    pub moves: Vec<Entry>,
}

/// How a game ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameEnd {
    /// When.
    pub at: Epoch,
    /// What it means for us.
    pub result: GameResult,
    /// Who won, if anybody did.
    pub winner: Option<Color>,
    /// What ended it, in the words of [`EndReason`](crate::game::EndReason).
    pub reason: String,
}

impl GameRecord {
    /// The record of a game as its sheet has it at this moment.
    pub fn new(key: GameKey, speed: Option<String>, sheet: &Scoresheet, now: Epoch) -> Self {
        let end = sheet.ending.as_ref().map(|ending| GameEnd {
            at: now,
            result: ending.result,
            winner: ending.winner,
            reason: ending.reason.to_string(),
        });
        Self {
            key,
            our_color: sheet.our_color,
            players: sheet.players.clone(),
            rated: sheet.rated,
            time_control: sheet.time_control,
            speed,
            start_fen: sheet.start_fen.clone(),
            tournament: sheet.tournament.clone(),
            started_at: now,
            end,
            rating_diff: None,
            moves: sheet.moves.clone(),
        }
    }

    /// What is known of a game by this, its record so far, and a newer one, which may know less of the
    /// moves before it began. It may be told from the middle, after a break on FICS: then its moves follow
    /// those that are known, if they lead there. If they do not, they stay, until the game is told from
    /// where they begin.
    #[must_use]
    pub(super) fn continued_by(&self, newer: Self) -> Self {
        if newer.start_fen == self.start_fen {
            let moves = self.known_of(&newer.moves);
            return Self { moves, ..newer };
        }
        let Some(fen) = newer.start_fen.as_deref().filter(|_| !self.moves.is_empty()) else {
            return newer;
        };
        let moves = match self.ply_of(fen) {
            Some(ply) => self.known_of(&[&self.moves[..ply], &newer.moves].concat()),
            None => self.moves.clone(),
        };
        Self { start_fen: self.start_fen.clone(), moves, ..newer }
    }

    /// These moves, with what is known here of those that are the same.
    fn known_of(&self, moves: &[Entry]) -> Vec<Entry> {
        let same = self.moves.iter().zip(moves).take_while(|(old, new)| old.mv == new.mv);
        let both = same.map(|(old, new)| Entry {
            clock: new.clock.or(old.clock),
            lag: new.lag.or(old.lag),
            ..if new.depth.is_some() { *new } else { Entry { mv: new.mv, ..*old } }
        });
        let mut all: Vec<Entry> = both.collect();
        all.extend_from_slice(&moves[all.len()..]);
        all
    }

    /// After how many of the moves this position stands, if after any.
    fn ply_of(&self, fen: &str) -> Option<usize> {
        // What a server tells of castling and en passant is not always what we make of it.
        let place = |fen: &str| {
            let fields: Vec<&str> = fen.split(' ').collect();
            [0, 1, 5].map(|index| fields.get(index).map(|&field| field.to_owned()))
        };
        let start = self.start_fen.as_deref().map_or(Ok(Position::initial()), Position::from_fen);
        let (mut history, wanted) = (History::new(start.ok()?), place(fen));
        for (ply, entry) in self.moves.iter().enumerate() {
            if place(&history.position().fen()) == wanted {
                return Some(ply);
            }
            history.play(entry.mv).ok()?;
        }
        (place(&history.position().fen()) == wanted).then_some(self.moves.len())
    }

    /// Ourselves.
    pub fn us(&self) -> &Player {
        &self.players[self.our_color.index()]
    }

    /// Who played against us.
    pub fn opponent(&self) -> &Player {
        &self.players[(!self.our_color).index()]
    }

    /// Our rating after the game, where it is known.
    pub fn rating_after(&self) -> Option<u32> {
        self.us().rating?.checked_add_signed(self.rating_diff?)
    }

    /// The first moves, such as `1. Nf3 f6 2. Nc3 e6`, by which games are compared; `None` before
    /// they are played, and for games that begin elsewhere.
    pub fn opening(&self) -> Option<String> {
        if self.start_fen.is_some() || self.moves.len() < OPENING_PLIES {
            return None;
        }
        let mut history = History::new(Position::initial());
        let mut words = Vec::new();
        for (ply, entry) in self.moves.iter().take(OPENING_PLIES).enumerate() {
            if ply.is_multiple_of(2) {
                words.push(format!("{}.", ply / 2 + 1));
            }
            words.push(history.position().san(entry.mv));
            history.play(entry.mv).ok()?;
        }
        Some(words.join(" "))
    }
}

/// Games that ended while nobody looked: all of an account that are not known to have ended, but for
/// these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissedRecord {
    /// Whose.
    pub account: AccountKey,
    /// The games that run, by what the platform says.
    pub running: Vec<GameId>,
    /// Games that began at this moment or later are left alone.
    pub before: Epoch,
    /// When this was found.
    pub at: Epoch,
}

impl MissedRecord {
    /// What ended such a game, as far as we know.
    pub const REASON: &str = "lost sight of the game";
}

/// A challenge as it is remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChallengeRecord {
    /// Which one, by the account that it came to or from.
    pub key: GameKey,
    /// Whether we made it.
    pub is_ours: bool,
    /// When we first heard of it.
    pub at: Epoch,
    /// The other side, as displayed; `None` for anonymous visitors.
    pub opponent: Option<String>,
    /// The other side's rating.
    pub rating: Option<u32>,
    /// Whether the other side is a bot, as far as it is known.
    pub is_bot: bool,
    /// The variant's key.
    pub variant: String,
    /// Whether ratings would be at stake.
    pub rated: bool,
    /// The clock, in seconds: time at the start, and increment.
    pub clock_s: Option<(u32, u32)>,
    /// Days for each move, without a clock.
    pub days: Option<u32>,
}

/// What became of a challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChallengeAnswer {
    /// It became a game, or is about to.
    Accepted,
    /// It was declined.
    Declined,
    /// Whoever made it took it back.
    Withdrawn,
    /// Nobody answered it in time.
    Expired,
    /// Accepting failed.
    Failed,
}

impl ChallengeAnswer {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Declined => "declined",
            Self::Withdrawn => "withdrawn",
            Self::Expired => "expired",
            Self::Failed => "failed",
        }
    }
}

/// The answer to a challenge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerRecord {
    /// The challenge.
    pub key: GameKey,
    /// When.
    pub at: Epoch,
    /// What.
    pub answer: ChallengeAnswer,
    /// Why, in the word that the other side is told, if it is told one.
    pub reason: Option<String>,
    /// Why, in words for the operator.
    pub detail: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(moves: &str) -> GameRecord {
        let mut history = History::default();
        let moves = moves
            .split_whitespace()
            .map(|uci| Entry::new(history.play_uci(uci).expect("a legal move")))
            .collect();
        let account = AccountKey { platform: Platform::Lichess, account: "me".to_owned() };
        GameRecord {
            key: GameKey { account, id: "abcd1234".parse().unwrap() },
            our_color: Color::Black,
            players: [
                Player { name: "them".to_owned(), ..Player::default() },
                Player { rating: Some(2000), ..Player::default() },
            ],
            rated: true,
            time_control: TimeControl::Unlimited,
            speed: None,
            start_fen: None,
            tournament: None,
            started_at: Epoch::from_secs(1),
            end: None,
            rating_diff: Some(-7),
            moves,
        }
    }

    #[test]
    fn an_opening_is_named_by_its_first_moves() {
        assert_eq!(record("g1f3 f7f6 b1c3").opening(), None);
        let opening = record("g1f3 f7f6 b1c3 e7e6 e2e4").opening();
        assert_eq!(opening.as_deref(), Some("1. Nf3 f6 2. Nc3 e6"));
        let elsewhere = GameRecord {
            start_fen: Some("k7/8/8/8/8/8/8/K7 w - - 0 1".to_owned()),
            ..record("g1f3 f7f6 b1c3 e7e6")
        };
        assert_eq!(elsewhere.opening(), None);
    }

    #[test]
    fn a_game_that_is_told_from_the_middle_goes_on_from_what_is_known() {
        let known = record("g1f3 f7f6 b1c3 e7e6");
        let fen_after = |moves: &str| {
            let mut history = History::default();
            moves.split(' ').for_each(|uci| {
                history.play_uci(uci).unwrap();
            });
            history.position().fen()
        };
        let from = |before: &str, moves: &str| {
            let whole = record(&format!("{before} {moves}"));
            let moves = whole.moves[before.split(' ').count()..].to_vec();
            GameRecord { start_fen: Some(fen_after(before)), moves, ..whole }
        };
        let moves = |newer: GameRecord| {
            let joined = known.continued_by(newer);
            assert_eq!(joined.start_fen, None);
            joined.moves.iter().map(|entry| entry.mv.to_string()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(moves(from("g1f3 f7f6 b1c3 e7e6", "e2e4")), "g1f3 f7f6 b1c3 e7e6 e2e4");
        assert_eq!(moves(from("g1f3 f7f6", "e2e4")), "g1f3 f7f6 e2e4", "taken back meanwhile");
        // A move was missed: nothing is lost until the whole game is told.
        let missed = "g1f3 f7f6 b1c3 e7e6 e2e4";
        assert_eq!(moves(from(missed, "a7a6")), "g1f3 f7f6 b1c3 e7e6");
        let whole = record(&format!("{missed} a7a6"));
        assert_eq!(known.continued_by(whole.clone()), whole);
        // The same position again is another place.
        let again = "g1f3 f7f6 f3g1 f6f5 g1f3 f5f4";
        assert_eq!(record(again).ply_of(&fen_after("g1f3 f7f6 f3g1")), Some(3));
        let mut thought = known.clone();
        thought.moves[1].depth = Some(9);
        thought.moves[3].depth = Some(8);
        let depths = |newer: &str| {
            let joined = thought.continued_by(record(newer));
            joined.moves.iter().map(|entry| entry.depth).collect::<Vec<_>>()
        };
        assert_eq!(depths("g1f3 f7f6 b1c3 e7e6 e2e4"), [None, Some(9), None, Some(8), None]);
        assert_eq!(depths("g1f3 f7f6 e2e4 e7e6"), [None, Some(9), None, None], "another move");
        let middle = from(missed, "a7a6");
        assert_eq!(record("").continued_by(middle.clone()), middle, "nothing was known");
        assert_eq!(middle.continued_by(whole.clone()), whole, "now all is");
    }

    #[test]
    fn the_rating_after_a_game_is_the_one_before_and_the_difference() {
        let record = record("");
        assert_eq!((record.opponent().name.as_str(), record.rating_after()), ("them", Some(1993)));
        assert_eq!(GameRecord { rating_diff: None, ..record }.rating_after(), None);
    }
}
