//! The game that runs: it gets an engine and a task, another engine when one fails, and is counted.

use std::{sync::Arc, time::Instant};

use tokio::sync::{Mutex, watch};
use tracing::{Instrument as _, error, info, info_span};

use crate::{
    daemon::{
        budget,
        fics::Supervisor,
        figures::{count_moves, result_kind},
        open_games,
        opponents::Opponents,
        slots::Holder,
        tasks::{Crash, MAX_SETBACKS},
    },
    game::{
        self, Command, Desk, EndReason, Ending, GameId, GameResult, Session,
        driver::{self, EngineFailedError, Observers},
    },
    metrics::Fault,
    platform::fics::{GameTerms, NewGame},
    search::Engine,
    store::Epoch,
};

/// A game that has a task.
pub(super) struct Running {
    /// The id of its record: that of the game's first part, if it has had breaks.
    record: GameId,
    /// The opponent, in lower case.
    user: String,
    /// Outlives the task: the client gives a game up whose other end is gone.
    link: Arc<Mutex<driver::Link>>,
    /// How often its task has failed.
    setbacks: u32,
}

/// The running game, or the last.
pub(super) struct LastGame {
    pub(super) id: GameId,
    pub(super) record: GameId,
    pub(super) is_computer: bool,
    pub(super) terms: GameTerms,
}

impl Supervisor {
    pub(super) fn on_game(&mut self, new: NewGame) {
        let NewGame { id, opponent, is_computer, is_resumed, is_guest, terms, .. } = new;
        let NewGame { challenge, link, our_rating, .. } = new;
        if self.closing.is_leaving() {
            // Without a session the client gives it up.
            return;
        }
        let user = opponent.to_lowercase();
        let state = self.keeper.state();
        let known = open_games::find(&state, &user, &terms).filter(|_| is_resumed);
        let record = known.unwrap_or_else(|| id.clone());
        info!(game_id = %id, opponent, %record, "a game begins on FICS");
        if is_resumed {
            self.interrupted.remove(&user);
        } else {
            // A game of another day with the same player is over, or this one could not begin.
            self.on_game_missed(&user);
            self.opponents.note_game(&user, Instant::now());
            self.keeper.change(|state| {
                Opponents::remember_game(state, &user, Epoch::now());
                if is_computer {
                    budget::started(&mut state.budget, Epoch::now());
                }
            });
        }
        self.count_budget();
        if let Some(rating) = our_rating {
            self.set_rating(rating);
        }
        self.settle_asked(challenge.as_ref(), &terms, is_resumed);
        self.invitations.on_game(&opponent);
        self.last = Some(LastGame { id: id.clone(), record: record.clone(), is_computer, terms });
        let is_human = !is_computer;
        self.slots.start(&id, Holder { user: Some(user.clone()), is_human, ..Holder::default() });
        if let Some(challenge) = challenge {
            self.slots.release(&challenge);
        }
        self.slots.release_all();
        let link = Arc::new(Mutex::new(link));
        if !is_guest {
            self.keeper.change(|state| {
                open_games::remember(state, &user, &record, &terms, Epoch::now());
            });
        }
        self.running.insert(id.clone(), Running { record, user, link, setbacks: 0 });
        self.play(id);
    }

    /// Gives a game its task. One that has had a task before is told everything again.
    fn play(&mut self, id: GameId) {
        let Some(Running { record, link, setbacks, .. }) = self.running.get(&id) else { return };
        let (link, is_again) = (Arc::clone(link), *setbacks > 0);
        let on_sheet = self.recorder.follow(record.clone());
        self.metrics.game_started();
        let engine = self.engines.take();
        let session = Session::new(id.clone(), self.shared.game_options());
        let (snapshots, watcher) = watch::channel(session.snapshot());
        self.live.send_modify(|live| {
            live.insert(id.clone(), watcher);
        });
        let counting = count_moves(snapshots.subscribe(), self.metrics.clone());
        let observers = Observers { snapshots, on_sheet };
        let (waiting, quit) = (self.waiting.subscribe(), self.quit.clone());
        let span = info_span!("game", platform = "fics", game_id = %id);
        let game = async move {
            let desk = Desk::Own(Arc::clone(&engine));
            // The task before has let it go, whatever its end was.
            let mut link = link.lock_owned().await;
            if is_again {
                // If nobody listens the game is over, which the other half of the link tells.
                let _ = link.commands.send(Command::Reopen).await;
            }
            let driver = game::driver::run(session, desk, &mut link, observers, waiting, quit);
            driver.await.map(|ending| (ending, engine))
        };
        self.games.spawn(id, async { tokio::join!(game, counting).0 }.instrument(span));
    }

    pub(super) fn on_game_end(
        &mut self,
        id: GameId,
        end: Result<Result<(Ending, Arc<Engine>), EngineFailedError>, Crash>,
    ) {
        self.live.send_modify(|live| {
            live.remove(&id);
        });
        match end {
            Ok(Ok((ending, engine))) => {
                self.engines.give_back(engine);
                if let Some(running) = self.close_game(&id) {
                    self.count(&id, running, &ending);
                }
            }
            Err(Crash::Aborted) => {
                self.close_game(&id);
                self.count_result(GameResult::Unknown);
            }
            // The engine may be dead or amid a search: it goes with the task.
            Ok(Err(error)) => self.on_crash(id, &error.to_string()),
            Err(Crash::Panicked(message)) => self.on_crash(id, &message),
        }
    }

    fn on_crash(&mut self, id: GameId, message: &str) {
        error!(game_id = %id, message, "a game's task failed");
        self.metrics.fault(Fault::GameFailed);
        let is_worth_a_try = self.running.get_mut(&id).is_some_and(|running| {
            running.setbacks += 1;
            running.setbacks < MAX_SETBACKS
        });
        if is_worth_a_try && !self.closing.is_leaving() {
            self.play(id);
        } else {
            // How it ends is not seen.
            if let Some(running) = self.close_game(&id) {
                self.forget_open_game(&running.user, &running.record);
                self.tell_open_games();
            }
            self.count_result(GameResult::Unknown);
        }
    }

    fn forget_open_game(&self, user: &str, record: &GameId) {
        self.keeper.change(|state| open_games::forget(state, user, record));
    }

    /// The game with this opponent that was broken off, if there is one, has ended without us.
    pub(super) fn on_game_missed(&mut self, user: &str) {
        if self.interrupted.remove(user) {
            self.count_result(GameResult::Unknown);
        }
        if self.keeper.state().open_games.contains_key(user) {
            self.keeper.change(|state| {
                state.open_games.remove(user);
            });
            self.tell_open_games();
        }
    }

    /// Lets the store know which games are not over.
    pub(super) fn tell_open_games(&self) {
        let mut open = open_games::ids(&self.keeper.state());
        open.extend(self.running.values().map(|running| running.record.clone()));
        self.recorder.only_open(open);
    }

    /// The game that has changed our rating, by the id of its record.
    pub(super) fn record_of(&self, id: GameId) -> GameId {
        match &self.last {
            Some(last) if last.id == id => last.record.clone(),
            _ => id,
        }
    }

    /// Nobody plays this game any more. If it goes on all the same, the client sees that and gives it up.
    fn close_game(&mut self, id: &GameId) -> Option<Running> {
        self.slots.finish(id);
        self.running.remove(id)
    }

    fn count(&mut self, id: &GameId, Running { record, user, .. }: Running, ending: &Ending) {
        let Ending { reason, result, plies, .. } = ending;
        info!(game_id = %id, %result, %reason, plies, "game over on FICS");
        let is_result = matches!(result, GameResult::Won | GameResult::Lost | GameResult::Drawn);
        self.invitations.on_game_end(is_result, Instant::now());
        let is_interrupted = matches!(reason, EndReason::Lost(_) | EndReason::Adjourned);
        if !is_interrupted {
            self.forget_open_game(&user, &record);
            self.count_result(*result);
        } else if self.running.values().all(|running| running.user != user) {
            // It is counted when it has gone on and is over, or else at the end.
            self.interrupted.insert(user);
        }
    }

    pub(super) fn count_result(&mut self, result: GameResult) {
        self.summary.count(result);
        self.metrics.game_over(result_kind(result));
    }
}
