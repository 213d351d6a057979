//! A move of ours between its choice and its appearance in the game.
//!
//! Pure: what the server answers and what the stream shows go in, whether to send once more comes
//! out. The stream is the judge. An answer "ok" only ends the sending; a lost answer says nothing.
//!
//! Only one thing proves that a move is missing: a `gameFull` that was asked for after its request
//! had ended. One that was asked for before may have been written before the move came in, and a
//! line can come twice: on such evidence a move would be played a second time, in a later position.

use std::time::{Duration, Instant};

use crate::{
    platform::{backoff::Backoff, lichess::ApiError},
    rules::Move,
};

/// Waits before a try that follows a failure. The clock runs: these are short.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// Wait after "too many requests" where the server states none (section 13.4 of the protocol
/// notes), and the longest that is kept to: the game would be lost anyway.
const RATE_LIMIT_WAIT: Duration = Duration::from_secs(1);
const LONGEST_RATE_LIMIT_WAIT: Duration = Duration::from_secs(10);
/// How long an accepted move may stay out of the stream before the whole game is asked for.
const ECHO_WAIT: Duration = Duration::from_secs(5);
/// The one status that judges the move itself (section 10.3 of the protocol notes).
const REFUSED: u16 = 400;

/// A move on its way.
#[derive(Debug)]
pub(super) struct PendingMove {
    /// How many moves come before it.
    pub(super) ply: usize,
    /// The move.
    pub(super) mv: Move,
    /// Whether it offers a draw.
    pub(super) offer_draw: bool,
    /// The number of the last try.
    try_number: u64,
    /// When the only try began; `None` before it, and once there was another.
    sent_once_at: Option<Instant>,
    tries: u32,
    /// A `gameFull` that was asked for before proves nothing.
    proof_from: Instant,
    stage: Stage,
    backoff: Backoff,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// A request runs.
    InFlight,
    /// It certainly did not arrive: to be sent again then.
    Retry { at: Instant },
    /// It may have arrived: the stream gets until then to show it.
    Look { until: Instant },
    /// The server took it: the stream gets until then to show it.
    Accepted { until: Instant },
    /// Only a fresh `gameFull` can tell.
    AwaitingFull,
}

/// What a line shows of the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// The whole game, on a stream that was asked for then.
    Full { asked_at: Instant },
    /// A change.
    Change,
}

/// What to do about a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MoveFate {
    /// Nothing yet.
    Open,
    /// It is not in the game: send it.
    Missing,
    /// It is in the game, was taken back, or was refused: forget it.
    Settled,
}

impl PendingMove {
    /// A move that was not sent yet. Unless it is, it waits for a `gameFull`.
    pub(super) fn new(ply: usize, mv: Move, offer_draw: bool, now: Instant) -> Self {
        Self {
            ply,
            mv,
            offer_draw,
            try_number: 0,
            sent_once_at: None,
            tries: 0,
            proof_from: now,
            stage: Stage::AwaitingFull,
            backoff: Backoff::new(FIRST_WAIT, LONGEST_WAIT),
        }
    }

    /// A request with this move starts. Its answer bears this number, which no other try has.
    pub(super) fn start_try(&mut self, number: u64, now: Instant) {
        self.try_number = number;
        self.tries += 1;
        self.sent_once_at = (self.tries == 1).then_some(now);
        self.stage = Stage::InFlight;
    }

    /// How often the move was sent.
    pub(super) fn tries(&self) -> u32 {
        self.tries
    }

    /// How long the move took to come back in a line that arrived then and shows so many moves;
    /// `None` if that would tell nothing of the way to the server and back.
    pub(super) fn round_trip(&self, count: usize, shown: Shown, at: Instant) -> Option<Duration> {
        let sent_at = self.sent_once_at.filter(|_| shown == Shown::Change && count > self.ply)?;
        Some(at.saturating_duration_since(sent_at))
    }

    /// Whether an answer is to the running try of this move, and not to an older one's.
    pub(super) fn is_try(&self, number: u64) -> bool {
        self.try_number == number && self.stage == Stage::InFlight
    }

    /// When [`PendingMove::on_due`] wants to be called.
    pub(super) fn due(&self) -> Option<Instant> {
        match self.stage {
            Stage::Retry { at: due }
            | Stage::Look { until: due }
            | Stage::Accepted { until: due } => Some(due),
            Stage::InFlight | Stage::AwaitingFull => None,
        }
    }

    /// Time is up: `Missing` to send now, `Open` to see to it that a `gameFull` comes.
    ///
    /// Without a stream nobody knows whether it is still our turn, so that a move that did not
    /// arrive waits for the stream as well.
    pub(super) fn on_due(&mut self, is_stream_open: bool) -> MoveFate {
        if is_stream_open && matches!(self.stage, Stage::Retry { .. }) {
            return MoveFate::Missing;
        }
        self.stage = Stage::AwaitingFull;
        MoveFate::Open
    }

    /// The stream shows a game of `count` moves.
    pub(super) fn on_moves(&mut self, count: usize, shown: Shown, now: Instant) -> MoveFate {
        if count != self.ply {
            return MoveFate::Settled;
        }
        // A change with the old moves (an offer, fresh clocks) proves nothing either.
        let Shown::Full { asked_at } = shown else { return MoveFate::Open };
        let is_proof = self.tries == 0 || asked_at >= self.proof_from;
        match self.stage {
            Stage::Look { .. } | Stage::Accepted { .. } | Stage::AwaitingFull if is_proof => {
                MoveFate::Missing
            }
            // This was not the one that can tell: another must be asked for.
            Stage::AwaitingFull => {
                self.stage = Stage::Look { until: now + FIRST_WAIT };
                MoveFate::Open
            }
            _ => MoveFate::Open,
        }
    }

    /// The server answered the running try, or did not: `Settled` if it refused the move.
    ///
    /// Any other status from 300 on speaks of the token, the path or a front end on the way, not
    /// of the move, and may be a passing whim: the stream tells whether the move is missing.
    pub(super) fn on_answer(
        &mut self,
        result: Result<(), ApiError>,
        is_stream_open: bool,
        now: Instant,
    ) -> MoveFate {
        self.proof_from = now;
        let look = |wait| {
            if is_stream_open { Stage::Look { until: now + wait } } else { Stage::AwaitingFull }
        };
        self.stage = match result {
            Ok(()) | Err(ApiError::Malformed(_)) => Stage::Accepted { until: now + ECHO_WAIT },
            Err(ApiError::Refused { status: REFUSED, .. }) => return MoveFate::Settled,
            Err(error @ ApiError::RateLimited { .. }) => {
                let wait = error.stated_wait().unwrap_or(RATE_LIMIT_WAIT);
                Stage::Retry { at: now + wait.min(LONGEST_RATE_LIMIT_WAIT) }
            }
            Err(ApiError::Unreachable(_)) => Stage::Retry { at: now + self.backoff.next_wait() },
            Err(ApiError::NoAnswer(_) | ApiError::Server { .. } | ApiError::Refused { .. }) => {
                look(self.backoff.next_wait())
            }
        };
        MoveFate::Open
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Position;

    fn in_flight() -> (PendingMove, Instant) {
        let mv = Position::initial().parse_uci("e2e4").unwrap();
        let now = Instant::now();
        let mut pending = PendingMove::new(4, mv, false, now);
        pending.start_try(1, now);
        (pending, now)
    }

    fn answered(result: Result<(), ApiError>, is_stream_open: bool) -> (PendingMove, Instant) {
        let (mut pending, now) = in_flight();
        assert_eq!(pending.on_answer(result, is_stream_open, now), MoveFate::Open);
        (pending, now)
    }

    /// A `gameFull` that was asked for so much after the start of the tests' moves.
    fn full(now: Instant, after_ms: u64) -> Shown {
        Shown::Full { asked_at: now + Duration::from_millis(after_ms) }
    }

    fn lost() -> ApiError {
        ApiError::NoAnswer("reset".into())
    }

    fn limited(seconds: Option<u64>) -> ApiError {
        let retry_after = seconds.map(Duration::from_secs);
        ApiError::RateLimited { message: String::new(), limit: None, retry_after }
    }

    #[test]
    fn the_echo_settles_a_move_in_every_stage() {
        let now = Instant::now();
        for shown in [Shown::Change, Shown::Full { asked_at: now }] {
            for (mut pending, count) in [
                (in_flight().0, 5),
                (answered(Ok(()), true).0, 6),
                (answered(Err(lost()), true).0, 5),
                (answered(Err(limited(None)), true).0, 3),
            ] {
                assert_eq!(pending.on_moves(count, shown, now), MoveFate::Settled);
            }
        }
    }

    #[test]
    fn a_lost_answer_looks_at_the_stream_and_then_asks_for_the_whole_game() {
        let (mut pending, now) = answered(Err(lost()), true);
        assert!(pending.due().unwrap() <= now + FIRST_WAIT);
        assert_eq!(pending.on_moves(4, Shown::Change, now), MoveFate::Open);
        assert_eq!(pending.on_due(true), MoveFate::Open);
        assert_eq!(pending.due(), None);
        assert_eq!(pending.on_moves(4, full(now, 1), now), MoveFate::Missing);
    }

    #[test]
    fn a_whole_game_that_was_asked_for_too_early_proves_nothing() {
        // 2026-11-30: a gameFull came twice, or crossed the move; the move was sent a second time,
        // and the opponent had answered the first.
        for result in [Ok(()), Err(lost())] {
            let (mut pending, start) = in_flight();
            let answered_at = start + Duration::from_millis(100);
            pending.on_answer(result, true, answered_at);
            assert_eq!(pending.on_moves(4, full(start, 99), answered_at), MoveFate::Open);
            assert_eq!(pending.on_due(true), MoveFate::Open);
            let later = start + Duration::from_secs(1);
            assert_eq!(pending.on_moves(4, full(start, 99), later), MoveFate::Open);
            assert_eq!(pending.due(), Some(later + FIRST_WAIT), "another is asked for");
            assert_eq!(pending.on_due(true), MoveFate::Open);
            assert_eq!(pending.on_moves(4, full(start, 100), later), MoveFate::Missing);
        }
    }

    #[test]
    fn only_a_move_that_was_sent_once_measures_the_line() {
        let (mut pending, start) = in_flight();
        let back = start + Duration::from_millis(80);
        assert_eq!(pending.round_trip(5, Shown::Change, back), Some(Duration::from_millis(80)));
        assert_eq!(pending.round_trip(4, Shown::Change, back), None);
        assert_eq!(pending.round_trip(5, full(start, 0), back), None);
        pending.start_try(2, start);
        assert_eq!(pending.round_trip(5, Shown::Change, back), None);
    }

    #[test]
    fn without_a_stream_nothing_is_sent_again() {
        let unreachable = || ApiError::Unreachable("refused".into());
        for error in [limited(None), unreachable()] {
            let (mut pending, now) = answered(Err(error), true);
            assert_eq!(pending.on_due(false), MoveFate::Open);
            assert_eq!(pending.due(), None);
            assert_eq!(pending.on_moves(4, full(now, 1), now), MoveFate::Missing);
        }
    }

    #[test]
    fn a_server_failure_is_like_a_lost_answer() {
        let failed = ApiError::Server { status: 502, retry_after: None };
        let (mut pending, now) = answered(Err(failed), false);
        assert_eq!(pending.due(), None);
        assert_eq!(pending.on_moves(4, full(now, 1), now), MoveFate::Missing);
    }

    #[test]
    fn an_accepted_move_is_sent_again_only_if_the_whole_game_lacks_it() {
        let (mut pending, now) = answered(Ok(()), true);
        assert_eq!(pending.on_moves(4, Shown::Change, now), MoveFate::Open);
        assert_eq!(pending.on_moves(4, full(now, 1), now), MoveFate::Missing);
        pending.start_try(2, now);
        assert_eq!(pending.on_moves(4, full(now, 1), now), MoveFate::Open, "one at a time");
    }

    #[test]
    fn too_many_requests_waits_as_stated_within_bounds() {
        for (stated, wait) in [(None, 1), (Some(3), 3), (Some(600), 10)] {
            let (mut pending, now) = answered(Err(limited(stated)), true);
            assert_eq!(pending.due(), Some(now + Duration::from_secs(wait)));
            assert_eq!(pending.on_moves(4, full(now, 1), now), MoveFate::Open, "in due time");
            assert_eq!(pending.on_due(true), MoveFate::Missing);
        }
    }

    #[test]
    fn a_server_out_of_reach_is_tried_again_without_looking() {
        let (mut pending, now) = answered(Err(ApiError::Unreachable("refused".into())), true);
        assert!(pending.due().unwrap() <= now + FIRST_WAIT);
        assert_eq!(pending.on_due(true), MoveFate::Missing);
    }

    #[test]
    fn a_refusal_settles() {
        let (mut pending, now) = in_flight();
        let refused = ApiError::Refused { status: 400, message: String::new(), limit: None };
        assert_eq!(pending.on_answer(Err(refused), true, now), MoveFate::Settled);
    }

    #[test]
    fn a_refusal_that_does_not_judge_the_move_looks_at_the_whole_game() {
        for status in [302, 401, 403, 404, 408, 413] {
            let refused = ApiError::Refused { status, message: String::new(), limit: None };
            let (mut pending, now) = answered(Err(refused), true);
            assert!(pending.due().unwrap() <= now + FIRST_WAIT, "{status}");
            assert_eq!(pending.on_due(true), MoveFate::Open, "{status}");
            assert_eq!(pending.on_moves(4, full(now, 1), now), MoveFate::Missing, "{status}");
        }
    }

    #[test]
    fn answers_to_older_tries_do_not_count() {
        let (mut pending, now) = in_flight();
        assert!(pending.is_try(1));
        pending.start_try(2, now);
        assert!(!pending.is_try(1));
    }
}
