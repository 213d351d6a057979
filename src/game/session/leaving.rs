//! How a game ends from our side: aborted, resigned, or over.

use std::time::{Duration, Instant};

use crate::{
    game::{
        Action, Command, EndReason, Ending, GameResult,
        record::Record,
        session::{Session, Step},
    },
    rules::Color,
};

/// How soon to abort again a game that does not begin, if the first request came to nothing.
const ABORT_PAUSE: Duration = Duration::from_secs(10);
/// How soon to resign or abort again if the game still runs, and how soon at the earliest, when a
/// fresh list shows it running.
pub(super) const LEAVE_PAUSE: Duration = Duration::from_millis(2500);
pub(super) const LEAVE_PAUSE_LEAST: Duration = Duration::from_millis(500);

impl Session {
    /// Aborts a game whose opponent does not begin.
    pub(super) fn abort_if_due(&mut self, now: Instant, out: &mut Vec<Action>) {
        if self.abort_at.is_some_and(|at| at <= now) {
            self.abort_at = Some(now + self.options.abort_patience.min(ABORT_PAUSE));
            out.push(Action::Send(Command::Abort));
        }
    }

    /// Gives the game up; before the server's first line, as soon as that comes.
    pub(super) fn leave(&mut self, now: Instant, out: &mut Vec<Action>) {
        if self.game.is_none() || matches!(self.step, Step::Leaving { .. } | Step::Finished(_)) {
            return;
        }
        let command = if self.is_abortable() { Command::Abort } else { Command::Resign };
        self.leave_by(command, now, out);
    }

    pub(super) fn leave_by(&mut self, command: Command, now: Instant, out: &mut Vec<Action>) {
        self.stop_search(out);
        self.step = Step::Leaving { by_abort: command == Command::Abort, since: now };
        out.push(Action::Send(command));
    }

    /// Resigns or aborts once more if the last time is so long ago: it seems to have got lost.
    pub(super) fn leave_again(&mut self, pause: Duration, now: Instant, out: &mut Vec<Action>) {
        let Step::Leaving { by_abort, since } = &mut self.step else { return };
        if now >= *since + pause {
            *since = now;
            let command = if *by_abort { Command::Abort } else { Command::Resign };
            out.push(Action::Send(command));
        }
    }

    pub(super) fn finish(
        &mut self,
        reason: EndReason,
        winner: Option<Color>,
        out: &mut Vec<Action>,
    ) {
        self.stop_search(out);
        let us = self.game.as_ref().map(|game| game.full.our_color);
        let result = match (&reason, winner) {
            (EndReason::Lost(_) | EndReason::Adjourned, _) => GameResult::Unknown,
            (_, Some(winner)) if us == Some(winner) => GameResult::Won,
            (_, Some(_)) => GameResult::Lost,
            (EndReason::Aborted, None) => GameResult::Aborted,
            (_, None) => GameResult::Drawn,
        };
        // Of a game that was over when we came, nobody waits for a word.
        if self.has_greeted && !matches!(result, GameResult::Unknown | GameResult::Aborted) {
            self.take_leave(out);
        }
        let plies = self.game.as_ref().map_or(0, Record::ply);
        let ending = Ending { reason, winner, result, plies };
        self.step = Step::Finished(ending.clone());
        out.push(Action::Finish(ending));
    }
}
