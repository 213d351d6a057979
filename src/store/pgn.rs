//! A record as PGN, in the form of lichess, with clocks and our evaluations.

use std::time::Duration;

use crate::{
    game::{Entry, TimeControl},
    pgn::{self, Annotation, TagName, UtcTime},
    rules::{Color, Position},
    store::{GameRecord, MissedRecord, Platform},
};

const DAY: Duration = Duration::from_hours(24);

/// A record whose moves our rules do not allow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("game {game} cannot be replayed: {cause}")]
pub struct ReplayError {
    /// The id of the game.
    pub game: String,
    /// What is wrong.
    pub cause: String,
}

impl GameRecord {
    /// The game for PGN: `%clk` for every move whose clock is known, `%eval` with its depth for ours.
    ///
    /// # Errors
    ///
    /// [`ReplayError`] if its start or one of its moves is not legal.
    pub fn to_pgn(&self) -> Result<pgn::Game, ReplayError> {
        let wrong = |cause: String| ReplayError { game: self.key.id.to_string(), cause };
        let start = match &self.start_fen {
            None => Position::initial(),
            Some(fen) => Position::from_fen(fen).map_err(|error| wrong(error.to_string()))?,
        };
        let mut game = pgn::Game::new(start);
        for entry in &self.moves {
            game.play(entry.mv, self.annotation(entry))
                .map_err(|error| wrong(error.to_string()))?;
        }
        if let Some(end) = &self.end {
            game.result = match end.winner {
                Some(winner) => pgn::GameResult::won_by(winner),
                None if end.result == crate::game::GameResult::Drawn => pgn::GameResult::Draw,
                None => pgn::GameResult::Unknown,
            };
        }
        self.set_tags(&mut game.tags);
        Ok(game)
    }

    fn annotation(&self, entry: &Entry) -> Annotation {
        let mut annotation = Annotation::default();
        annotation.clock = entry.clock;
        annotation.evaluation = entry.evaluation.map(|evaluation| {
            let from_white = |ours: i32| match self.our_color {
                Color::White => ours,
                Color::Black => ours.saturating_neg(),
            };
            let value = match evaluation.mate_in {
                Some(moves) => pgn::Value::Mate(from_white(moves)),
                None => pgn::Value::Centipawns(from_white(evaluation.centipawns)),
            };
            pgn::Evaluation { value, depth: entry.depth }
        });
        annotation
    }

    fn set_tags(&self, tags: &mut pgn::Tags) {
        let id = &self.key.id;
        let site = match self.key.account.platform {
            Platform::Lichess => format!("https://lichess.org/{id}"),
            Platform::Fics => "FICS freechess.org".to_owned(),
        };
        let kind = if self.rated { "Rated" } else { "Casual" };
        let began_at = UtcTime::from_epoch_ms(self.started_at.secs().saturating_mul(1_000));
        tags.set(TagName::EVENT, format!("{kind} Atomic game"));
        tags.set(TagName::SITE, site);
        tags.set(TagName::GAME_ID, id.as_str());
        tags.set(TagName::DATE, began_at.date());
        tags.set(TagName::UTC_DATE, began_at.date());
        tags.set(TagName::UTC_TIME, began_at.time());
        tags.set(TagName::TIME_CONTROL, time_control(self.time_control).to_string());
        tags.set(TagName::TERMINATION, self.termination());
        for (color, name, title, elo, diff) in [
            (
                Color::White,
                TagName::WHITE,
                TagName::WHITE_TITLE,
                TagName::WHITE_ELO,
                TagName::WHITE_RATING_DIFF,
            ),
            (
                Color::Black,
                TagName::BLACK,
                TagName::BLACK_TITLE,
                TagName::BLACK_ELO,
                TagName::BLACK_RATING_DIFF,
            ),
        ] {
            let player = &self.players[color.index()];
            tags.set(name, &player.name);
            if let Some(known) = &player.title {
                tags.set(title, known);
            }
            if let Some(rating) = player.rating {
                tags.set(elo, rating.to_string());
            }
            if let Some(known) = self.rating_diff.filter(|_| color == self.our_color) {
                tags.set(diff, format!("{known:+}"));
            }
        }
    }

    /// The word of lichess for how it ended.
    fn termination(&self) -> &'static str {
        let Some(end) = &self.end else { return "Unterminated" };
        match end.reason.as_str() {
            "out of time" => "Time forfeit",
            "player left" | "no first move" | "aborted" => "Abandoned",
            "cheat" => "Rules infraction",
            "adjourned" | MissedRecord::REASON => "Unterminated",
            _ => "Normal",
        }
    }
}

fn time_control(control: TimeControl) -> pgn::TimeControl {
    match control {
        TimeControl::Clock { initial, increment } => pgn::TimeControl::Clock { initial, increment },
        TimeControl::Correspondence { days } => pgn::TimeControl::PerMove(DAY * days),
        TimeControl::Unlimited => pgn::TimeControl::Unlimited,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        game::{EndReason, Evaluation, GameResult, Player},
        rules::History,
        store::{AccountKey, Epoch, GameEnd, GameKey},
    };

    fn record(reason: &EndReason) -> GameRecord {
        let mut history = History::default();
        let mut moves: Vec<Entry> = ["g1f3", "a7a6", "f3e5"]
            .iter()
            .map(|uci| Entry::new(history.play_uci(uci).expect("a legal move")))
            .collect();
        moves[0].clock = Some(Duration::from_secs(179));
        moves[1].evaluation = Some(Evaluation { centipawns: -31, mate_in: None });
        moves[1].depth = Some(9);
        let account = AccountKey { platform: Platform::Lichess, account: "me".to_owned() };
        let them = Player { name: "Them".to_owned(), rating: Some(1900), ..Player::default() };
        let me = Player { name: "Me".to_owned(), title: Some("BOT".to_owned()), ..them.clone() };
        GameRecord {
            key: GameKey { account, id: "abcd1234".parse().expect("an id") },
            our_color: Color::Black,
            players: [them, me],
            rated: true,
            time_control: TimeControl::Clock {
                initial: Duration::from_mins(3),
                increment: Duration::from_secs(2),
            },
            speed: None,
            start_fen: None,
            tournament: None,
            started_at: Epoch::from_secs(1_800_000_000),
            end: Some(GameEnd {
                at: Epoch::from_secs(1_800_000_060),
                result: GameResult::Lost,
                winner: Some(Color::White),
                reason: reason.to_string(),
            }),
            rating_diff: Some(-7),
            moves,
        }
    }

    #[test]
    fn all_that_is_known_is_written() {
        let text = record(&EndReason::Resign).to_pgn().unwrap().to_string();
        let expected = r#"[Event "Rated Atomic game"]
[Site "https://lichess.org/abcd1234"]
[Date "2027.01.15"]
[Round "-"]
[White "Them"]
[Black "Me"]
[Result "1-0"]
[GameId "abcd1234"]
[UTCDate "2027.01.15"]
[UTCTime "08:00:00"]
[WhiteElo "1900"]
[BlackElo "1900"]
[BlackRatingDiff "-7"]
[BlackTitle "BOT"]
[Variant "Atomic"]
[TimeControl "180+2"]
[Termination "Normal"]

1. Nf3 { [%clk 0:02:59] } 1... a6 { [%eval 0.31,9] } 2. Ne5 1-0

"#;
        assert_eq!(text, expected);
    }

    #[test]
    fn each_end_has_lichess_word_for_it() {
        for (reason, expected) in [
            (EndReason::Aborted, "Abandoned"),
            (EndReason::Mate, "Normal"),
            (EndReason::VariantEnd, "Normal"),
            (EndReason::Resign, "Normal"),
            (EndReason::Stalemate, "Normal"),
            (EndReason::Timeout, "Abandoned"),
            (EndReason::OutOfTime, "Time forfeit"),
            (EndReason::Draw, "Normal"),
            (EndReason::NoStart, "Abandoned"),
            (EndReason::InsufficientMaterialClaim, "Normal"),
            (EndReason::Cheat, "Rules infraction"),
            (EndReason::Adjourned, "Unterminated"),
            (EndReason::Other("whim".to_owned()), "Normal"),
        ] {
            assert_eq!(record(&reason).termination(), expected, "{reason}");
        }
        let running = GameRecord { end: None, ..record(&EndReason::Mate) };
        assert_eq!(running.termination(), "Unterminated");
        assert_eq!(running.to_pgn().unwrap().result, pgn::GameResult::Unknown);
    }

    #[test]
    fn moves_that_are_not_legal_are_an_error() {
        let mut bad = record(&EndReason::Mate);
        bad.moves.swap(0, 1);
        let error = bad.to_pgn().unwrap_err().to_string();
        assert!(error.starts_with("game abcd1234 cannot be replayed: "), "{error}");
    }
}
