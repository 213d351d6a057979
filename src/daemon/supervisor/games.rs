//! Games: each gets an engine and a task, is taken up again when that fails, and is counted.

use std::{pin::pin, sync::Arc, time::Instant};

use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, error, info, info_span, warn};

use crate::{
    daemon::{
        figures::{count_moves, result_kind},
        policy::VARIANT,
        shutdown::Unfinished,
        slots::Holder,
        supervisor::{Closing, Supervisor},
        tasks::{Crash, MAX_SETBACKS},
    },
    game::{
        self, Desk, EndReason, Ending, GameId, GameResult, Session, WaitingNames,
        driver::{EngineFailedError, Observers},
    },
    metrics::Fault,
    platform::{
        GameStart, Speed,
        lichess::{Client, adapter},
    },
};

/// Lines of one game that wait for its session; the adapter keeps more.
const GAME_EVENTS_CAPACITY: usize = 64;
/// Commands of one game that wait for its adapter, which takes them at once.
const GAME_COMMANDS_CAPACITY: usize = 16;
/// How many ended games are remembered, against late news of them.
const MAX_REMEMBERED: usize = 64;

impl Supervisor {
    pub(super) fn on_running_games(&mut self, games: Vec<GameStart>) {
        let is_listed = |id: &GameId| games.iter().any(|start| start.id == *id);
        // Those that a former run has left, and those that this one has lost sight of.
        let state = self.keeper.state();
        let open: Vec<GameId> = state.running.iter().filter_map(|id| id.parse().ok()).collect();
        self.recorder.compare(games.iter().map(|start| &start.id).chain(&open).cloned().collect());
        let out_of_sight: Vec<GameId> =
            open.into_iter().filter(|id| !self.is_known(id) && !is_listed(id)).collect();
        for start in games {
            self.on_game_start(start);
        }
        // Their streams tell how they ended. One that has none is given up after some tries.
        for id in out_of_sight {
            info!(game_id = %id, "a game ended out of sight");
            self.take_up(id, Holder::default());
        }
    }

    /// Asks for the running games by then at the latest.
    pub(super) fn ask_by(&mut self, at: Instant) {
        self.ask_at = Some(self.ask_at.map_or(at, |known| known.min(at)));
    }

    pub(super) fn ask_if_due(&mut self) {
        let now = Instant::now();
        if self.ask_at.is_some_and(|at| at <= now) {
            self.ask_at = None;
        } else if self.reconcile_at > now || self.closing != Closing::No {
            return;
        }
        // Not in step with other bots that were started in the same moment.
        self.reconcile_at =
            now + self.options.reconcile_interval.mul_f64(0.9 + 0.2 * fastrand::f64());
        self.requests.ask_for_games();
    }

    /// News of running games come often.
    pub(super) fn on_game_start(&mut self, start: GameStart) {
        if self.is_known(&start.id) {
            return;
        }
        if start.variant != VARIANT || start.is_bot_playable == Some(false) {
            warn!(game_id = %start.id, variant = start.variant, "cannot play this game, leaving it alone");
            return;
        }
        info!(game_id = %start.id, opponent = start.opponent, "game found");
        let opponent = Some(start.opponent.to_ascii_lowercase()).filter(|name| !name.is_empty());
        self.on_our_game(&start.id, opponent.as_deref().filter(|_| start.tournament.is_none()));
        self.on_tournament_game(&start);
        let is_correspondence = start.speed == Some(Speed::Correspondence);
        self.take_up(start.id, Holder { user: opponent, is_correspondence, ..Holder::default() });
    }

    /// Gives a game its task, unless it has or had one, or all are being left; one that we have just
    /// agreed to is then given up in good order. Nothing need be told where a slot is reserved.
    pub(super) fn take_up(&mut self, id: GameId, holder: Holder) {
        let is_correspondence = holder.is_correspondence || self.slots.is_correspondence(&id);
        if is_correspondence && self.closing != Closing::No {
            // Whoever is started next takes it up.
            self.slots.release(&id);
            return;
        }
        let is_to_resign =
            self.options.shutdown.unfinished == Unfinished::Resign && self.slots.knows(&id);
        if !self.is_known(&id) && (!self.closing.is_leaving() || is_to_resign) {
            self.queue.remove(&id);
            self.start_game(id, holder);
        }
    }

    /// Lets go of the correspondence games: they last for days, so that nobody can wait for their end,
    /// and none is lost by a pause. The next run takes them up.
    pub(super) fn leave_correspondence(&mut self) {
        let slots = &self.slots;
        let count = self.games.abort_those(|id| slots.is_correspondence(id));
        if count > 0 {
            info!(games = count, "correspondence games are left to the next run");
        }
    }

    /// Whether a game has its task, or is known to be over.
    pub(super) fn is_known(&self, id: &GameId) -> bool {
        self.games.contains(id) || self.ended.contains(id)
    }

    fn start_game(&mut self, id: GameId, holder: Holder) {
        self.slots.start(&id, holder);
        if let Some(challenger) = self.unclear.remove(&id) {
            self.note_accepted(&id, challenger.as_deref());
        }
        if !self.keeper.state().running.contains(id.as_str()) {
            self.keeper.change(|state| {
                state.running.insert(id.to_string());
            });
        }
        let is_correspondence = self.slots.is_correspondence(&id);
        let desk = if is_correspondence {
            Desk::Shared(self.spare_engine.clone())
        } else {
            Desk::Own(self.engines.take())
        };
        let session = Session::new(id.clone(), self.shared.game_options());
        let (snapshots, watcher) = watch::channel(session.snapshot());
        self.live.send_modify(|live| {
            live.insert(id.clone(), watcher);
        });
        self.metrics.game_started();
        let counting = count_moves(snapshots.subscribe(), self.metrics.clone());
        let on_sheet = self.recorder.follow(id.clone());
        let observers = Observers { snapshots, on_sheet };
        let (client, account) = (Arc::clone(&self.client), self.account.id.clone());
        // A correspondence game is never given up.
        let quit = if is_correspondence { CancellationToken::new() } else { self.quit.clone() };
        let waiting = self.waiting.subscribe();
        let span = info_span!("game", platform = "lichess", game_id = %id);
        let game = play(client, account, session, desk, observers, waiting, quit);
        self.games.spawn(id, async { tokio::join!(game, counting).0 }.instrument(span));
    }

    pub(super) fn on_game_end(
        &mut self,
        id: GameId,
        end: Result<Result<(Ending, Desk), EngineFailedError>, Crash>,
    ) {
        let (ended, holder) = (id.clone(), self.slots.finish(&id).unwrap_or_default());
        self.live.send_modify(|live| {
            live.remove(&id);
        });
        match end {
            Ok(Ok((ending, desk))) => {
                if let Desk::Own(engine) = desk {
                    self.engines.give_back(engine);
                }
                self.count(&id, &ending);
                self.refresh_rating();
            }
            // It goes on without us.
            Err(Crash::Aborted) if holder.is_correspondence => {
                self.setbacks.remove(&id);
                self.summary.left += 1;
            }
            Err(Crash::Aborted) => {
                self.setbacks.remove(&id);
                self.count_result(GameResult::Unknown);
            }
            // The engine may be dead or amid a search: it goes with the task.
            Ok(Err(error)) => self.on_crash(id, holder, &error.to_string()),
            Err(Crash::Panicked(message)) => self.on_crash(id, holder, &message),
        }
        if !self.games.contains(&ended) {
            let (options, now) = (&self.current_policy().matchmaking, Instant::now());
            self.matchmaker.on_game_end(&ended, options, now);
            self.tournaments.on_game_end(&ended, now);
        }
    }

    fn on_crash(&mut self, id: GameId, holder: Holder, message: &str) {
        error!(game_id = %id, message, "a game's task failed");
        self.metrics.fault(Fault::GameFailed);
        if holder.is_correspondence && self.closing != Closing::No {
            self.setbacks.remove(&id);
            self.summary.left += 1;
        } else if self.is_worth_a_try(&id) && !self.closing.is_leaving() {
            self.start_game(id, holder);
        } else {
            self.give_up(id);
        }
    }

    /// A game was lost sight of. If the server says that it runs, it is taken up again; it is counted
    /// when it is over or given up.
    fn on_lost(&mut self, id: GameId) {
        self.metrics.fault(Fault::GameLost);
        if self.is_worth_a_try(&id) {
            self.ask_by(Instant::now());
        } else {
            error!(game_id = %id, "lost sight of this game too often, leaving it alone");
            self.give_up(id);
        }
    }

    /// How a game ended will never be known.
    fn give_up(&mut self, id: GameId) {
        self.remember(id);
        self.count_result(GameResult::Unknown);
        // Those that are left to the next run are among them, and have no task any more.
        let state = self.keeper.state();
        let still_open = state.running.iter().filter_map(|id| id.parse().ok()).collect();
        self.recorder.only_open(still_open);
    }

    /// Counts the games that are lost sight of when the bot ends.
    pub(super) fn count_lost(&mut self) {
        for _ in 0..std::mem::take(&mut self.setbacks).len() {
            self.count_result(GameResult::Unknown);
        }
    }

    /// Counts a setback of a game, and tells whether to go on with it.
    fn is_worth_a_try(&mut self, id: &GameId) -> bool {
        let setbacks = self.setbacks.entry(id.clone()).or_default();
        *setbacks += 1;
        *setbacks < MAX_SETBACKS
    }

    fn count(&mut self, id: &GameId, ending: &Ending) {
        let Ending { reason, result, plies, .. } = ending;
        info!(game_id = %id, %result, %reason, plies, "game over");
        if matches!(reason, EndReason::Lost(_)) {
            self.on_lost(id.clone());
        } else {
            self.count_result(*result);
            self.remember(id.clone());
        }
    }

    fn count_result(&mut self, result: GameResult) {
        self.summary.count(result);
        self.metrics.game_over(result_kind(result));
    }

    /// A game is over, or given up.
    fn remember(&mut self, id: GameId) {
        self.setbacks.remove(&id);
        self.keeper.change(|state| {
            state.running.remove(id.as_str());
        });
        if self.ended.len() >= MAX_REMEMBERED {
            self.ended.pop_front();
        }
        self.ended.push_back(id);
    }
}

/// Plays one game: its adapter and its driver side by side in one task, so that neither waits for
/// another thread to wake.
async fn play(
    client: Arc<Client>,
    account: String,
    session: Session,
    desk: Desk,
    observers: Observers,
    waiting: watch::Receiver<WaitingNames>,
    quit: CancellationToken,
) -> Result<(Ending, Desk), EngineFailedError> {
    let id = session.id().clone();
    let (event_sender, events) = mpsc::channel(GAME_EVENTS_CAPACITY);
    let (command_sender, commands) = mpsc::channel(GAME_COMMANDS_CAPACITY);
    let mut link = game::driver::Link { events, commands: command_sender };
    let adapter = pin!(adapter::run(&client, &account, &id, event_sender, commands));
    let used = desk.clone();
    // The link goes with the driver, whose end the adapter sees by that.
    let driver = pin!(async move {
        game::driver::run(session, used, &mut link, observers, waiting, quit).await
    });
    let (ending, ()) = tokio::join!(driver, adapter);
    ending.map(|ending| (ending, desk))
}
