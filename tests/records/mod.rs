//! Games to be remembered, for the tests of the store and of the commands that read it.

use std::time::Duration;

use meitner::{
    game::{Entry, Evaluation, GameResult, Player, TimeControl},
    rules::{Color, History, Position},
    store::{AccountKey, Epoch, GameEnd, GameKey, GameRecord, Platform},
};

pub(crate) fn account(name: &str) -> AccountKey {
    AccountKey { platform: Platform::Lichess, account: name.to_owned() }
}

pub(crate) fn entries(start_fen: Option<&str>, moves: &str) -> Vec<Entry> {
    let start = start_fen
        .map_or_else(Position::initial, |fen| Position::from_fen(fen).expect("a position"));
    let mut history = History::new(start);
    moves
        .split_whitespace()
        .map(|uci| Entry::new(history.play_uci(uci).expect("a legal move")))
        .collect()
}

/// A game with everything that there is to know of one.
pub(crate) fn game(id: &str) -> GameRecord {
    let mut moves = entries(None, "g1f3 a7a6 f3e5 a6a5 e5f7");
    for (ply, entry) in moves.iter_mut().enumerate() {
        entry.clock = Some(Duration::from_millis(180_000 - 1_230 * ply as u64));
        if ply.is_multiple_of(2) {
            let centipawns = [24, 0, 86, 0, 0][ply];
            entry.evaluation = Some(Evaluation { centipawns: centipawns - 31, mate_in: None });
            entry.depth = Some(14);
            entry.lag = Some(Duration::from_millis(43));
        }
    }
    moves[4].evaluation = Some(Evaluation { centipawns: 0, mate_in: Some(1) });
    let player = |name: &str, rating| Player {
        id: Some(name.to_lowercase()),
        name: name.to_owned(),
        title: Some("BOT".to_owned()),
        rating: Some(rating),
        is_bot: true,
    };
    GameRecord {
        key: GameKey { account: account("emberfork"), id: id.parse().expect("an id") },
        our_color: Color::White,
        players: [player("emberfork", 2000), player("QuietRook7", 1950)],
        rated: true,
        time_control: TimeControl::Clock {
            initial: Duration::from_mins(3),
            increment: Duration::from_secs(2),
        },
        speed: Some("blitz".to_owned()),
        start_fen: None,
        tournament: Some("hL7vMrFQ".to_owned()),
        started_at: Epoch::from_secs(1_800_000_000),
        end: Some(GameEnd {
            at: Epoch::from_secs(1_800_000_060),
            result: GameResult::Won,
            winner: Some(Color::White),
            reason: "king exploded".to_owned(),
        }),
        rating_diff: Some(6),
        moves,
    }
}

/// One that differs from it in everything.
pub(crate) fn other_game(id: &str) -> GameRecord {
    let fen = "4k2r/8/8/8/8/8/P7/4K3 b k - 0 1";
    let nobody = Player { name: "anonymous".to_owned(), ..Player::default() };
    let us = Player { id: Some("one".to_owned()), name: "One".to_owned(), ..Player::default() };
    GameRecord {
        key: GameKey {
            account: AccountKey { platform: Platform::Fics, account: "one".to_owned() },
            id: id.parse().expect("an id"),
        },
        our_color: Color::Black,
        players: [nobody, Player { is_bot: true, ..us }],
        rated: false,
        time_control: TimeControl::Correspondence { days: 3 },
        speed: None,
        start_fen: Some(fen.to_owned()),
        tournament: None,
        started_at: Epoch::from_secs(1_800_001_000),
        end: None,
        rating_diff: None,
        // Castling is king takes rook.
        moves: entries(Some(fen), "e8h8 a2a4"),
    }
}
