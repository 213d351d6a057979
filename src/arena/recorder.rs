//! The record of what clients sent: requests, declined challenges, and how fast a game's moves came.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use crate::rules::Color;

/// A request that a client sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The method, such as `POST`.
    pub method: String,
    /// The path as sent, without the query.
    pub path: String,
    /// The fields of the query, decoded, in order.
    pub query: Vec<(String, String)>,
    /// The fields of a form body, decoded, in order. Empty for other bodies.
    pub form: Vec<(String, String)>,
    /// The `Content-Type` header; empty without one.
    pub content_type: String,
    /// When its head had been read.
    pub at: Instant,
    /// The status of the answer; `None` before it, and where none came.
    pub status: Option<u16>,
    /// Whether it was the first request of its connection.
    pub new_connection: bool,
}

/// The latest requests.
#[derive(Debug)]
pub(super) struct Recorder {
    requests: VecDeque<Recorded>,
    capacity: usize,
    /// Number of requests that are no longer kept.
    forgotten: u64,
}

impl Recorder {
    /// Keeps so many requests; none for 0.
    pub(super) fn new(capacity: usize) -> Self {
        Self { requests: VecDeque::new(), capacity, forgotten: 0 }
    }

    /// Keeps a request, and returns its number for when the answer is known.
    pub(super) fn note(&mut self, request: Recorded) -> u64 {
        self.requests.push_back(request);
        while self.requests.len() > self.capacity {
            self.requests.pop_front();
            self.forgotten += 1;
        }
        self.forgotten + self.requests.len() as u64 - 1
    }

    /// Notes the status of a request's answer.
    pub(super) fn answered(&mut self, number: u64, status: u16) {
        let at = number.checked_sub(self.forgotten).and_then(|at| usize::try_from(at).ok());
        if let Some(request) = at.and_then(|at| self.requests.get_mut(at)) {
            request.status = Some(status);
        }
    }

    pub(super) fn requests(&self) -> Vec<Recorded> {
        self.requests.iter().cloned().collect()
    }
}

/// When the lines that made it a player's turn were written, and when the moves came.
#[derive(Clone, Debug, Default)]
pub(super) struct AnswerTimes(Arc<Mutex<Times>>);

#[derive(Debug, Default)]
struct Times {
    /// For White and Black: the number of plies of the latest line at its turn, and when that line
    /// was first written.
    written: [Option<(usize, Instant)>; 2],
    answers: Vec<(Instant, Instant)>,
}

impl AnswerTimes {
    /// A line with so many plies went to the stream of this player.
    pub(super) fn line_written(&self, color: Color, plies: usize, at: Instant) {
        let mut times = self.lock();
        let written = &mut times.written[color.index()];
        if turn(plies) == color && written.is_none_or(|(known, _)| known != plies) {
            *written = Some((plies, at));
        }
    }

    /// The player's move after so many plies was taken; its request had arrived at `at`.
    pub(super) fn move_taken(&self, color: Color, plies: usize, at: Instant) {
        let mut times = self.lock();
        if let Some((known, line)) = times.written[color.index()].take()
            && known == plies
        {
            times.answers.push((line, at));
        }
    }

    pub(super) fn answers(&self) -> Vec<(Instant, Instant)> {
        self.lock().answers.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Times> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn turn(plies: usize) -> Color {
    if plies.is_multiple_of(2) { Color::White } else { Color::Black }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn request(path: &str) -> Recorded {
        Recorded {
            method: "GET".to_owned(),
            path: path.to_owned(),
            query: Vec::new(),
            form: Vec::new(),
            content_type: String::new(),
            at: Instant::now(),
            status: None,
            new_connection: false,
        }
    }

    #[test]
    fn only_the_latest_requests_are_kept() {
        let mut recorder = Recorder::new(2);
        let numbers = ["/a", "/b", "/c"].map(|path| recorder.note(request(path)));
        recorder.answered(numbers[0], 500);
        recorder.answered(numbers[2], 200);
        let kept: Vec<_> =
            recorder.requests().into_iter().map(|kept| (kept.path, kept.status)).collect();
        assert_eq!(kept, [("/b".to_owned(), None), ("/c".to_owned(), Some(200))]);

        let mut off = Recorder::new(0);
        let number = off.note(request("/a"));
        off.answered(number, 200);
        assert!(off.requests().is_empty());
    }

    #[test]
    fn an_answer_belongs_to_the_first_line_of_its_position() {
        let times = AnswerTimes::default();
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        times.line_written(Color::White, 0, at(0));
        times.line_written(Color::White, 0, at(5));
        times.move_taken(Color::White, 0, at(7));
        // The opponent's turn, a line that is seen late, and a move without a line.
        times.line_written(Color::White, 1, at(8));
        times.line_written(Color::White, 2, at(9));
        times.move_taken(Color::White, 4, at(10));
        times.move_taken(Color::White, 2, at(11));
        assert_eq!(times.answers(), [(at(0), at(7))]);
    }
}
