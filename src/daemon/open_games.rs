//! The games on FICS that run, or were broken off and may go on. After a break the server has another
//! number for a game, and the program may have been started again; the record goes on all the same. Pure.

use std::time::Duration;

use crate::{
    daemon::keeper::make_room,
    game::GameId,
    platform::fics::GameTerms,
    rules::Color,
    store::{Epoch, OpenGame, State},
};

/// A game that has not gone on for so long is believed to be over.
const LIFE: Duration = Duration::from_hours(24 * 90);
/// Of more games the one that ran longest ago is forgotten.
const MOST: usize = 256;

/// The game with this opponent that goes on on these terms: no other game with somebody can begin before
/// it is over.
pub(super) fn find(state: &State, opponent: &str, terms: &GameTerms) -> Option<GameId> {
    let known = state.open_games.get(opponent)?;
    let again = open_game(known.id.clone(), terms, known.at);
    known.id.parse().ok().filter(|_| *known == again)
}

/// A game with this opponent begins or goes on.
pub(super) fn remember(
    state: &mut State,
    opponent: &str,
    id: &GameId,
    terms: &GameTerms,
    today: Epoch,
) {
    let open = &mut state.open_games;
    open.retain(|_, game| game.at.age_at(today) < LIFE);
    make_room(open, opponent, MOST, |game| game.at);
    open.insert(opponent.to_owned(), open_game(id.to_string(), terms, today));
}

/// The game with this opponent is over.
pub(super) fn forget(state: &mut State, opponent: &str, id: &GameId) {
    if state.open_games.get(opponent).is_some_and(|game| game.id == id.as_str()) {
        state.open_games.remove(opponent);
    }
}

/// The records of all of them.
pub(super) fn ids(state: &State) -> Vec<GameId> {
    state.open_games.values().filter_map(|game| game.id.parse().ok()).collect()
}

fn open_game(id: String, terms: &GameTerms, at: Epoch) -> OpenGame {
    OpenGame {
        id,
        at,
        is_white: terms.our_color == Color::White,
        rated: terms.rated,
        clock_s: terms.clock.map(|clock| (clock.initial_s, clock.increment_s)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::ChallengeClock;

    const NOON: Epoch = Epoch::from_secs(1_800_000_000);
    const BLITZ: GameTerms = GameTerms {
        our_color: Color::White,
        rated: true,
        clock: Some(ChallengeClock { initial_s: 180, increment_s: 0 }),
    };

    fn id(text: &str) -> GameId {
        text.parse().unwrap()
    }

    #[test]
    fn a_game_is_known_again_by_its_opponent_and_its_terms() {
        let mut state = State::default();
        remember(&mut state, "alice", &id("g1"), &BLITZ, NOON);
        assert_eq!(find(&state, "alice", &BLITZ), Some(id("g1")));
        for other in [
            GameTerms { our_color: Color::Black, ..BLITZ },
            GameTerms { rated: false, ..BLITZ },
            GameTerms { clock: None, ..BLITZ },
        ] {
            assert_eq!(find(&state, "alice", &other), None, "{other:?}");
        }
        assert_eq!(find(&state, "bob", &BLITZ), None);
        remember(&mut state, "alice", &id("g2"), &BLITZ, NOON);
        forget(&mut state, "alice", &id("g1"));
        assert_eq!(ids(&state), [id("g2")], "the end of the game before comes late");
        forget(&mut state, "alice", &id("g2"));
        assert_eq!(state, State::default());
    }

    #[test]
    fn old_games_and_those_of_too_many_are_forgotten() {
        let mut state = State::default();
        remember(&mut state, "alice", &id("g1"), &BLITZ, NOON);
        let later = NOON.after(LIFE);
        for number in 0..=MOST {
            let at = later.after(Duration::from_secs(number as u64));
            remember(&mut state, &format!("b{number}"), &id(&format!("g{number}")), &BLITZ, at);
        }
        assert_eq!(state.open_games.len(), MOST);
        assert!(!state.open_games.contains_key("alice") && !state.open_games.contains_key("b0"));
    }
}
