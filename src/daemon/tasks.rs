//! One task for each game, whose end is an event, a panic included.

use std::{collections::HashMap, future::Future};

use tokio::task::{self, AbortHandle, JoinSet};

use crate::game::GameId;

/// How often a game's task may fail, or lose sight of its game, before it is given up.
pub(super) const MAX_SETBACKS: u32 = 3;

/// The running games. Dropping it ends them.
#[derive(Debug)]
pub(super) struct GameTasks<T> {
    set: JoinSet<T>,
    ids: HashMap<task::Id, (GameId, AbortHandle)>,
}

/// A game's task ended without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Crash {
    /// It panicked, with this message.
    Panicked(String),
    /// It was ended from outside.
    Aborted,
}

impl<T: Send + 'static> GameTasks<T> {
    pub(super) fn new() -> Self {
        Self { set: JoinSet::new(), ids: HashMap::new() }
    }

    /// Whether this game has a task.
    pub(super) fn contains(&self, id: &GameId) -> bool {
        self.ids().any(|known| known == id)
    }

    /// The games that run.
    pub(super) fn ids(&self) -> impl Iterator<Item = &GameId> {
        self.ids.values().map(|(id, _)| id)
    }

    /// How many games run.
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Starts a game's task. The caller has made sure that the game has none.
    pub(super) fn spawn(&mut self, id: GameId, game: impl Future<Output = T> + Send + 'static) {
        let task = self.set.spawn(game);
        self.ids.insert(task.id(), (id, task));
    }

    /// The next game that ends; waits for ever if none runs. Cancel-safe.
    pub(super) async fn next(&mut self) -> (GameId, Result<T, Crash>) {
        loop {
            let (task, result) = match self.set.join_next_with_id().await {
                None => return std::future::pending().await,
                Some(Ok((task, result))) => (task, Ok(result)),
                Some(Err(error)) => (error.id(), Err(Crash::from(error))),
            };
            if let Some((id, _)) = self.ids.remove(&task) {
                return (id, result);
            }
        }
    }

    /// Ends some games where they are, and tells how many.
    pub(super) fn abort_those(&mut self, mut is_meant: impl FnMut(&GameId) -> bool) -> usize {
        let meant = self.ids.values().filter(|(id, _)| is_meant(id));
        meant.map(|(_, task)| task.abort()).count()
    }

    /// Ends all games where they are.
    pub(super) fn abort_all(&mut self) {
        self.set.abort_all();
    }
}

impl From<task::JoinError> for Crash {
    fn from(error: task::JoinError) -> Self {
        match error.try_into_panic() {
            Ok(panic) => {
                let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
                let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
                Self::Panicked(text.unwrap_or_else(|| "no message".to_owned()))
            }
            Err(_) => Self::Aborted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str) -> GameId {
        name.parse().unwrap()
    }

    #[tokio::test]
    async fn a_panic_is_reported_and_touches_no_other_game() {
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let mut tasks = GameTasks::new();
        tasks.spawn(id("good"), async move {
            stopped.await.unwrap();
            7
        });
        tasks.spawn(id("bad"), async { panic!("boom {}", 1) });
        assert!(tasks.contains(&id("good")) && tasks.contains(&id("bad")));
        let crash = Crash::Panicked("boom 1".to_owned());
        assert_eq!(tasks.next().await, (id("bad"), Err(crash)));
        assert_eq!(tasks.len(), 1);
        stop.send(()).unwrap();
        assert_eq!(tasks.next().await, (id("good"), Ok(7)));
        assert_eq!(tasks.len(), 0);
    }

    #[tokio::test]
    async fn some_games_end_and_the_others_do_not() {
        let mut tasks: GameTasks<()> = GameTasks::new();
        for name in ["one", "other"] {
            tasks.spawn(id(name), std::future::pending());
        }
        assert_eq!(tasks.abort_those(|game| *game == id("one")), 1);
        assert_eq!(tasks.next().await, (id("one"), Err(Crash::Aborted)));
        assert!(tasks.contains(&id("other")) && tasks.len() == 1);
    }

    #[tokio::test]
    async fn aborted_games_end() {
        let mut tasks: GameTasks<()> = GameTasks::new();
        tasks.spawn(id("long"), std::future::pending());
        tasks.abort_all();
        assert_eq!(tasks.next().await, (id("long"), Err(Crash::Aborted)));
    }
}
