//! What the server has to do at certain times, other than in games.

use std::{collections::BTreeMap, time::Instant};

/// Something to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// A house player answers the challenge of this id.
    Answer(String),
    /// The players of the tournament of this id are paired.
    RunTournament(String),
}

/// What is to be done, by its time.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    tasks: BTreeMap<(Instant, u64), Task>,
    /// Tells entries of the same moment apart.
    next: u64,
    /// Whether something has been planned since the last look.
    has_news: bool,
}

impl Agenda {
    pub(super) fn plan(&mut self, at: Instant, task: Task) {
        self.tasks.insert((at, self.next), task);
        self.next += 1;
        self.has_news = true;
    }

    /// When the next thing is to be done.
    pub(super) fn next_at(&self) -> Option<Instant> {
        self.tasks.keys().next().map(|&(at, _)| at)
    }

    /// Takes what is to be done by now, in order.
    pub(super) fn take_due(&mut self, now: Instant) -> Vec<Task> {
        let mut due = Vec::new();
        while let Some(entry) = self.tasks.first_entry()
            && entry.key().0 <= now
        {
            due.push(entry.remove());
        }
        due
    }

    /// Whether something has been planned since this was asked last.
    pub(super) fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.has_news)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_due_comes_in_the_order_of_time() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let answer = |id: &str| Task::Answer(id.to_owned());
        let mut agenda = Agenda::default();
        assert_eq!((agenda.next_at(), agenda.take_news()), (None, false));
        for (ms, id) in [(20, "b"), (10, "a"), (20, "c"), (30, "d")] {
            agenda.plan(at(ms), answer(id));
        }
        assert!(agenda.take_news() && !agenda.take_news());
        assert_eq!(agenda.next_at(), Some(at(10)));
        assert!(agenda.take_due(at(9)).is_empty());
        assert_eq!(agenda.take_due(at(20)), ["a", "b", "c"].map(answer));
        assert_eq!(agenda.next_at(), Some(at(30)));
    }
}
