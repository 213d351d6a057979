//! Tournaments: the bookkeeping decides, and here it is done.

use std::time::{Duration, Instant};

use tracing::{error, info, warn};

use crate::{
    daemon::{
        supervisor::{Closing, Supervisor},
        tournament::{Joined, Situation, Step},
    },
    game::GameId,
    platform::{
        GameStart, Tournament, TournamentId,
        lichess::{ApiError, Retry},
    },
};

impl Supervisor {
    /// Does what is to be done about tournaments.
    pub(super) fn play_tournaments(&mut self) {
        let policy = self.current_policy();
        let now = Instant::now();
        let is_ready = self.ready_at.is_some_and(|at| at <= now);
        // Without the event stream we would not see a game begin, and lose it by not moving.
        if !is_ready || (!self.is_connected && self.closing == Closing::No) {
            return;
        }
        let situation = Situation {
            has_room: self.slots.has_room_for_bot(policy.queue.reserved_for_humans),
            is_closing: self.closing != Closing::No,
            policy: &policy,
            now,
        };
        while let Some(step) = self.tournaments.step(&situation) {
            match step {
                Step::List(team) => self.requests.list_tournaments(team),
                Step::Look(id) => self.requests.look_at_tournament(id),
                Step::Join(id, team) => {
                    self.requests.join(id, policy.tournament.password.clone(), team);
                }
                Step::Withdraw(id) => {
                    info!(tournament = %id, "leaving the tournament");
                    self.requests.withdraw(id);
                }
            }
        }
    }

    pub(super) fn on_team_tournaments(
        &mut self,
        team: &str,
        result: Result<Vec<TournamentId>, ApiError>,
    ) {
        match result {
            Ok(ids) => self.tournaments.on_list(team, ids, Instant::now()),
            // It is asked again as always, but no sooner than the server wants.
            Err(error) => {
                warn!(team, %error, "could not list the team's tournaments");
                self.tournaments.on_no_list(team, demanded_wait(&error), Instant::now());
            }
        }
    }

    pub(super) fn on_tournament(
        &mut self,
        id: &TournamentId,
        result: Result<Tournament, ApiError>,
    ) {
        let now = Instant::now();
        match result {
            Ok(tournament) => {
                let name = tournament.name.clone();
                let policy = self.current_policy();
                if let Some(objection) = self.tournaments.on_look(tournament, &policy, now) {
                    info!(tournament = %id, name, objection, "not playing in this tournament");
                }
            }
            Err(error) => {
                let is_final = error.status() == Some(404);
                warn!(tournament = %id, is_final, %error, "could not ask about a tournament");
                let again_after = (!is_final).then(|| demanded_wait(&error));
                self.tournaments.on_no_look(id, again_after, now);
            }
        }
    }

    pub(super) fn on_joined(&mut self, id: &TournamentId, result: &Result<(), ApiError>) {
        let joined = match result {
            Ok(()) => Joined::Yes,
            Err(error) => match (error.status(), error.retry()) {
                (Some(401 | 403), _) => Joined::Forbidden,
                (_, Retry::After(wait)) => Joined::Later(wait),
                _ if error.may_have_worked() => Joined::Perhaps,
                (_, Retry::Reconnect) => Joined::Later(Duration::ZERO),
                (_, Retry::Never) => Joined::Refused,
            },
        };
        match (result, joined) {
            (Ok(()), _) => info!(tournament = %id, "waiting to be paired"),
            (Err(error), Joined::Forbidden) => error!(
                tournament = %id, %error,
                "the server keeps us out of the tournament; if the token lacks the scope \
                 tournament:write, create one that has it"
            ),
            (Err(error), _) => warn!(tournament = %id, ?joined, %error, "could not join"),
        }
        if matches!(result, Err(ApiError::Unreachable(_) | ApiError::Server { .. })) {
            self.tournaments.on_join_unserved();
        }
        self.tournaments.on_joined(id, joined, Instant::now());
    }

    /// A game begins, perhaps one of a tournament.
    pub(super) fn on_tournament_game(&mut self, start: &GameStart) {
        let options = &self.current_policy().tournament;
        if self.tournaments.on_game_start(start, options, self.account.rating) {
            self.requests.berserk(start.id.clone());
        }
    }

    pub(super) fn on_berserk(&mut self, game: &GameId, result: &Result<(), ApiError>) {
        let is_forbidden = matches!(result, Err(error) if error.status() == Some(403));
        match result {
            Ok(()) => info!(game_id = %game, "berserk"),
            Err(error) => warn!(game_id = %game, %error, "could not berserk"),
        }
        self.tournaments.on_berserk(result.is_ok(), is_forbidden);
    }
}

/// How long the server wants to be left alone after it failed so.
fn demanded_wait(error: &ApiError) -> Duration {
    match error.retry() {
        Retry::After(wait) => wait,
        Retry::Reconnect | Retry::Never => Duration::ZERO,
    }
}
