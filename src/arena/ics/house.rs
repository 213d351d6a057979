//! The players of the house, and the task of a running game: it moves for them and lets flags fall.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::{
    arena::{
        ics::state::{Kind, Offer, Shared, State},
        opponent::{Choice, Opponent, ThinkingTime},
    },
    rules::{DrawReason, History, Outcome},
};

/// The task of a game looks at it at least so often.
const LONGEST_NAP: Duration = Duration::from_mins(1);
/// The most that a player of the house thinks about a move.
const THINKING: Duration = Duration::from_secs(1);

/// A move to be chosen.
struct Turn {
    opponent: Arc<dyn Opponent>,
    history: History,
    time: ThinkingTime,
    key: String,
    not_before: Instant,
}

/// A move that was chosen, for this position only.
struct Thought {
    choice: Choice,
    key: String,
    plies: usize,
    position: u64,
    not_before: Instant,
}

/// Runs a game until it is off the board.
pub(super) async fn run_game(shared: Arc<Shared>, id: String, shutdown: CancellationToken) {
    let find = |state: &State| state.games.iter().position(|game| game.id == id);
    let changed = {
        let state = shared.read();
        match find(&state) {
            Some(index) => Arc::clone(&state.games[index].changed),
            None => return,
        }
    };
    let mut thinking: JoinSet<Thought> = JoinSet::new();
    let mut thought: Option<Thought> = None;
    loop {
        let now = Instant::now();
        if let Some(due) = thought.take_if(|thought| thought.not_before <= now) {
            let is_done = shared.change(|state| state.follow(&id, &due, now));
            if !is_done {
                // Waits on purpose: nothing to choose until the position changes.
                thought = Some(Thought { not_before: now + LONGEST_NAP, ..due });
            }
        }
        let is_flagged = {
            let state = shared.read();
            let Some(index) = find(&state) else { return };
            let game = &state.games[index];
            state.options.flags_by_itself && game.is_out_of_time(game.turn(), now)
        };
        if is_flagged {
            shared.change(|state| {
                if let Some(index) = find(state) {
                    state.flag(index, now);
                }
            });
            return;
        }
        let mut wake = now + LONGEST_NAP;
        {
            let state = shared.read();
            let Some(index) = find(&state) else { return };
            if thinking.is_empty()
                && thought.is_none()
                && let Some(turn) = state.house_turn(index)
            {
                thinking.spawn_blocking(move || turn.think());
            }
            let flag_at = state.games[index].flag_at().filter(|_| state.options.flags_by_itself);
            for due in [flag_at, thought.as_ref().map(|thought| thought.not_before)] {
                wake = wake.min(due.unwrap_or(wake));
            }
        }
        tokio::select! {
            () = tokio::time::sleep_until(wake.into()) => {}
            () = changed.notified() => {
                let state = shared.read();
                thought = thought.filter(|thought| state.is_current(&id, thought));
            }
            Some(result) = thinking.join_next() => match result {
                Ok(next) => thought = Some(next),
                Err(error) => {
                    tracing::error!(id, %error, "a player of the house failed");
                    return;
                }
            },
            () = shutdown.cancelled() => return,
        }
    }
}

impl Turn {
    fn think(self) -> Thought {
        Thought {
            choice: self.opponent.choose(&self.history, self.time),
            key: self.key,
            plies: self.history.moves().len(),
            position: self.history.position().key(),
            not_before: self.not_before,
        }
    }
}

impl State {
    fn house_turn(&self, index: usize) -> Option<Turn> {
        let game = &self.games[index];
        let seat = &game.seats[game.turn().index()];
        let house = self.players.get(&seat.key)?.house.as_ref()?;
        let now = Instant::now();
        let remaining = game.clocks().remaining(game.turn(), now);
        let increment = game.increment();
        let share = remaining.map_or(THINKING, |left| left / 20 + increment / 2);
        Some(Turn {
            opponent: Arc::clone(&house.opponent),
            history: game.history().clone(),
            time: ThinkingTime { remaining, increment, limit: share.min(THINKING) },
            key: seat.key.clone(),
            not_before: game.turn_since() + Duration::from_millis(house.delay_ms),
        })
    }

    fn is_current(&self, id: &str, thought: &Thought) -> bool {
        self.games.iter().any(|game| {
            game.id == id
                && game.plies() == thought.plies
                && game.history().position().key() == thought.position
        })
    }

    /// Does what a player of the house has chosen. False if it stays where it is.
    fn follow(&mut self, id: &str, thought: &Thought, now: Instant) -> bool {
        if !self.is_current(id, thought) {
            return true;
        }
        match thought.choice {
            Choice::Play(mv) => {
                let text = mv.uci(crate::rules::CastlingNotation::KingTwoSquares);
                self.carry_out(&thought.key, &text, None, now);
            }
            Choice::Resign => self.carry_out(&thought.key, "resign", None, now),
            Choice::Wait => {}
        }
        !self.is_current(id, thought)
    }

    /// Lets the players of the house answer what they were offered.
    pub(super) fn let_house_answer(&mut self, now: Instant) {
        loop {
            let offer = self.offers.iter().find(|offer| {
                self.players.get(&offer.to).is_some_and(|player| player.house.is_some())
            });
            let Some(offer) = offer.cloned() else { return };
            let word = if self.welcomes(&offer) { "accept" } else { "decline" };
            self.carry_out(&offer.to, &format!("{word} {}", offer.index), None, now);
            // Whatever came of it, an offer is answered once.
            self.drop_offers(|other| other.index == offer.index);
        }
    }

    fn welcomes(&self, offer: &Offer) -> bool {
        let is_agreeable = || {
            let player = self.players.get(&offer.to);
            player.and_then(|player| player.house.as_ref()).is_some_and(|house| house.is_agreeable)
        };
        match &offer.kind {
            Kind::Match { variant, .. } => variant == "atomic" && self.game_of(&offer.to).is_none(),
            Kind::Draw => is_agreeable() || self.is_dead(&offer.to),
            _ => is_agreeable(),
        }
    }

    /// Whether nobody can win the player's game any more.
    fn is_dead(&self, key: &str) -> bool {
        let outcome =
            self.game_of(key).and_then(|index| self.games[index].history().position().outcome());
        matches!(
            outcome,
            Some(Outcome::Draw(DrawReason::InsufficientMaterial | DrawReason::ClosedPosition))
        )
    }
}
