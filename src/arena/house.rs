//! The players of the house, and the task of a running game: it moves for them, lets flags fall,
//! and tells players that their opponent is gone.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde::Deserialize;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::{
    arena::{
        game::{ServerGame, earlier},
        opponent::{Choice, Opponent, OpponentKind, ThinkingTime},
        play::Command,
        reception::{Acceptance, DeclineRule},
        state::{Refused, Shared, State},
    },
    rules::{Color, History},
};

/// The task of a game looks at it at least so often.
const LONGEST_NAP: Duration = Duration::from_mins(1);

/// A player of the house.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of a settings file")]
pub struct HouseSpec {
    /// The name as displayed.
    pub name: String,
    /// `BOT`, a player's title, or none.
    pub title: Option<String>,
    /// The atomic rating.
    pub rating: i32,
    /// Who chooses the moves.
    pub opponent: OpponentKind,
    /// Whether the rating is provisional.
    pub provisional: bool,
    /// Number of games already played.
    pub games: u32,
    /// How old the account is, in days.
    pub age_days: u32,
    /// Whether the account is marked for breaking the terms of service.
    pub tos_violation: bool,
    /// How it answers challenges.
    pub accepts: Acceptance,
    /// What it declines although it accepts; the first rule that fits gives the reason.
    pub declines: Vec<DeclineRule>,
    /// The reason for which it declines if it accepts nothing.
    pub decline_reason: String,
    /// How long it waits before it answers a challenge, in milliseconds.
    pub answer_delay_ms: u64,
    /// How long it waits at least before it moves, in milliseconds.
    pub delay_ms: u64,
    /// The most that it may think about a move, in milliseconds.
    pub think_ms: u64,
    /// Whether it accepts draws; else it answers with a move.
    pub accepts_draws: bool,
    /// Whether it accepts takebacks; else it declines them.
    pub accepts_takebacks: bool,
    /// Whether it claims the game when the opponent is gone.
    pub claims_victory: bool,
}

impl Default for HouseSpec {
    fn default() -> Self {
        Self {
            name: "house".to_owned(),
            title: None,
            rating: 1900,
            opponent: OpponentKind::default(),
            provisional: false,
            games: 0,
            age_days: 0,
            tos_violation: false,
            accepts: Acceptance::default(),
            declines: Vec::new(),
            decline_reason: "noBot".to_owned(),
            answer_delay_ms: 0,
            delay_ms: 0,
            think_ms: 1_000,
            accepts_draws: false,
            accepts_takebacks: false,
            claims_victory: true,
        }
    }
}

impl HouseSpec {
    /// The default player under this name.
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }
}

/// Something that a house player does on demand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HouseAction {
    /// Plays this move, in UCI notation.
    Move(String),
    /// Offers a draw or accepts one.
    OfferDraw,
    /// Declines a draw offer.
    DeclineDraw,
    /// Proposes a takeback or accepts one.
    ProposeTakeback,
    /// Declines a takeback.
    DeclineTakeback,
    /// Gives the game up.
    Resign,
    /// Calls the game off.
    Abort,
    /// Says something to the opponent.
    Chat(String),
    /// Says something to the spectators.
    ChatToSpectators(String),
    /// Leaves the game; it is gone at once and moves no more.
    Leave,
    /// Comes back.
    Return,
    /// Gives the opponent more time.
    GiveTime(Duration),
}

/// The part of an account that makes it a house player.
#[derive(Clone)]
pub(super) struct House {
    pub(super) spec: HouseSpec,
    pub(super) opponent: Arc<dyn Opponent>,
}

/// A move that a house player is to choose.
struct Turn {
    opponent: Arc<dyn Opponent>,
    history: History,
    time: ThinkingTime,
    color: Color,
    /// When the move may be played at the earliest.
    not_before: Instant,
}

/// A move that a house player has chosen, for this position only.
struct Thought {
    choice: Choice,
    color: Color,
    key: u64,
    plies: usize,
    not_before: Instant,
}

/// What the task of a game does next.
struct Step {
    wake: Option<Instant>,
    turn: Option<Turn>,
}

/// Runs a game to its end.
pub(super) async fn run_game(shared: Arc<Shared>, id: String, shutdown: CancellationToken) {
    let changed = match shared.read().games.get(&id) {
        Some(game) => Arc::clone(&game.changed),
        None => return,
    };
    let mut thinking: JoinSet<Thought> = JoinSet::new();
    let mut thought: Option<Thought> = None;
    loop {
        let now = Instant::now();
        let is_due = |thought: &mut Thought| thought.not_before <= now;
        if let Some(due) = thought.take_if(is_due)
            && !shared.change(|state| state.follow(&id, &due, now))
        {
            // Waits on purpose: nothing to choose until the position changes.
            thought = Some(Thought { not_before: now + LONGEST_NAP, ..due });
        }
        let is_idle = thinking.is_empty() && thought.is_none();
        let Some(step) = shared.change(|state| state.step(&id, now, is_idle)) else { break };
        if let Some(turn) = step.turn {
            thinking.spawn_blocking(move || turn.think());
        }
        let thought_due = thought.as_ref().map(|thought| thought.not_before);
        let wake = earlier(step.wake, thought_due).unwrap_or(now + LONGEST_NAP);
        tokio::select! {
            () = tokio::time::sleep_until(wake.into()) => {}
            () = changed.notified() => {
                // A thought about another position is worth nothing any more.
                thought = thought.filter(|thought| shared.read().is_current(&id, thought));
            }
            Some(result) = thinking.join_next() => match result {
                Ok(next) => thought = Some(next),
                Err(error) => {
                    tracing::error!(game_id = %id, %error, "a house player failed and resigns");
                    shared.change(|state| state.resign_for_house(&id, Instant::now()));
                }
            },
            () = shutdown.cancelled() => break,
        }
    }
}

impl Turn {
    fn think(self) -> Thought {
        Thought {
            choice: self.opponent.choose(&self.history, self.time),
            color: self.color,
            key: self.history.position().key(),
            plies: self.history.moves().len(),
            not_before: self.not_before,
        }
    }
}

impl State {
    /// Does what is due in a game and says what comes next; `None` when it is over.
    fn step(&mut self, id: &str, now: Instant, may_think: bool) -> Option<Step> {
        let game = self.games.get_mut(id)?;
        if game.arbiter.tick(now) {
            self.publish(id, now);
            return None;
        }
        if game.first_move_due().is_some_and(|due| due <= now) {
            game.arbiter.end_without_start(now);
            self.publish(id, now);
            return None;
        }
        for color in Color::ALL {
            self.react_for_house(id, color, now);
        }
        let period = self.options.gone_notice_period();
        let game = self.games.get_mut(id).filter(|game| game.arbiter.ending().is_none())?;
        let wake = earlier(game.arbiter.flag_at(), game.notify_absence(now, period));
        let wake = earlier(wake, game.first_move_due());
        let turn = if may_think { self.house_turn(id, now) } else { None };
        Some(Step { wake, turn })
    }

    /// Answers what the opponent of a house player has offered, proposed, or left behind.
    fn react_for_house(&mut self, id: &str, color: Color, now: Instant) {
        let Some(game) = self.games.get(id) else { return };
        let Some(house) = self.house_of(game, color) else { return };
        let (spec, arbiter) = (&house.spec, &game.arbiter);
        let may_claim = spec.claims_victory
            && arbiter.turn() != color
            && arbiter.claimable_in(!color, now) == Some(Duration::ZERO);
        let command = if arbiter.draw_offer() == Some(!color) && spec.accepts_draws {
            Command::OfferDraw
        } else if arbiter.takeback_proposal() == Some(!color) && spec.accepts_takebacks {
            Command::ProposeTakeback
        } else if arbiter.takeback_proposal() == Some(!color) {
            Command::DeclineTakeback
        } else if may_claim {
            Command::ClaimVictory
        } else {
            return;
        };
        // A refusal means that the game has ended meanwhile.
        let _done = self.carry_out(id, color, &command, now);
    }

    /// The move that a house player is to choose now.
    fn house_turn(&self, id: &str, now: Instant) -> Option<Turn> {
        let game = self.games.get(id)?;
        let color = game.arbiter.turn();
        let house = self.house_of(game, color)?;
        let clocks = game.arbiter.clocks();
        let remaining = clocks.remaining(color, now);
        let increment = clocks.control().increment();
        let share = remaining.map_or(Duration::MAX, |left| left / 20 + increment / 2);
        let time = ThinkingTime {
            remaining,
            increment,
            limit: share.min(Duration::from_millis(house.spec.think_ms)),
        };
        Some(Turn {
            opponent: Arc::clone(&house.opponent),
            history: game.arbiter.history().clone(),
            time,
            color,
            not_before: now + Duration::from_millis(house.spec.delay_ms),
        })
    }

    /// The house player of this color, unless it has left the game.
    fn house_of(&self, game: &ServerGame, color: Color) -> Option<&House> {
        let account = self.accounts.get(&game.player(color).user)?;
        account.house.as_ref().filter(|_| !game.house_away[color.index()])
    }

    /// Does what a house player has chosen. False when it chose to wait.
    fn follow(&mut self, id: &str, thought: &Thought, now: Instant) -> bool {
        if !self.is_current(id, thought) {
            return true;
        }
        let command = match thought.choice {
            Choice::Play(mv) => Command::Move { uci: mv.to_string(), offering_draw: false },
            Choice::Resign => Command::Resign,
            Choice::Wait => return false,
        };
        // Refused when the choice is not legal: the player then waits for its flag to fall.
        self.carry_out(id, thought.color, &command, now).is_ok()
    }

    fn is_current(&self, id: &str, thought: &Thought) -> bool {
        self.games.get(id).is_some_and(|game| {
            let history = game.arbiter.history();
            history.moves().len() == thought.plies
                && history.position().key() == thought.key
                && !game.house_away[thought.color.index()]
        })
    }

    fn resign_for_house(&mut self, id: &str, now: Instant) {
        let Some(game) = self.games.get(id) else { return };
        let color = game.arbiter.turn();
        if self.is_house(&game.player(color).user) {
            // Refused only when the game is over.
            let _done = self.carry_out(id, color, &Command::Resign, now);
        }
    }

    /// Lets a house player do something on demand.
    pub(super) fn act_for_house(
        &mut self,
        id: &str,
        action: &HouseAction,
        now: Instant,
    ) -> Result<(), Refused> {
        let game = self.game(id)?;
        let color = Color::ALL
            .into_iter()
            .find(|&color| self.is_house(&game.player(color).user))
            .ok_or_else(|| Refused::not_found("No house player in this game"))?;
        let (id, user) = (game.id.clone(), game.player(color).user.clone());
        let command = match action {
            HouseAction::Move(uci) => Command::Move { uci: uci.clone(), offering_draw: false },
            HouseAction::OfferDraw => Command::OfferDraw,
            HouseAction::DeclineDraw => Command::DeclineDraw,
            HouseAction::ProposeTakeback => Command::ProposeTakeback,
            HouseAction::DeclineTakeback => Command::DeclineTakeback,
            HouseAction::Resign => Command::Resign,
            HouseAction::Abort => Command::Abort,
            HouseAction::Chat(text) => return self.chat(&user, &id, Some("player"), Some(text)),
            HouseAction::ChatToSpectators(text) => {
                return self.chat(&user, &id, Some("spectator"), Some(text));
            }
            HouseAction::Leave => return self.set_house_away(&id, color, Some(now)),
            HouseAction::Return => return self.set_house_away(&id, color, None),
            HouseAction::GiveTime(time) => return self.give_time(&id, !color, *time, now),
        };
        self.carry_out(&id, color, &command, now)
    }

    fn set_house_away(
        &mut self,
        id: &str,
        color: Color,
        since: Option<Instant>,
    ) -> Result<(), Refused> {
        let game = self.games.get_mut(id).ok_or_else(|| Refused::not_found("No such game"))?;
        game.house_away[color.index()] = since.is_some();
        match since {
            Some(since) => game.arbiter.leave(color, since),
            None => game.come_back(color),
        }
        game.changed.notify_one();
        Ok(())
    }

    fn give_time(
        &mut self,
        id: &str,
        color: Color,
        time: Duration,
        now: Instant,
    ) -> Result<(), Refused> {
        let game = self.games.get_mut(id).ok_or_else(|| Refused::not_found("No such game"))?;
        game.arbiter.add_time(color, time);
        self.publish(id, now);
        Ok(())
    }
}
