//! What the daemon asks of the server besides games: answers to challenges, and which games run.
//!
//! Requests run in tasks and one at a time, since the server asks for that. Moves do not pass
//! through here, so that none ever waits behind one of these.

use std::{future::Future, sync::Arc, time::Duration};

use tokio::{
    sync::Semaphore,
    task::{JoinError, JoinSet},
    time::sleep,
};

use crate::{
    game::GameId,
    platform::{
        Challenge, DeclineReason, GameStart,
        lichess::{ApiError, Client, Retry, model::PlayingBody},
    },
};

/// How often the list of running games is asked for.
const PLAYING_TRIES: u32 = 3;
const RETRY_WAIT: Duration = Duration::from_secs(1);

/// The requests under way.
pub(super) struct Requests {
    client: Arc<Client>,
    tasks: JoinSet<Answer>,
    /// One request at a time, in the order in which they were made.
    turn: Arc<Semaphore>,
}

/// What came of a request.
pub(super) enum Answer {
    /// Of accepting a challenge.
    Accept { challenge: Box<Challenge>, result: Result<(), ApiError> },
    /// Of declining one.
    Decline { id: GameId, result: Result<(), ApiError> },
    /// The running games.
    Playing(Result<Vec<GameStart>, ApiError>),
}

impl Requests {
    pub(super) fn new(client: Arc<Client>) -> Self {
        Self { client, tasks: JoinSet::new(), turn: Arc::new(Semaphore::new(1)) }
    }

    /// The next answer; waits for ever if nothing was asked. Cancel-safe.
    pub(super) async fn next(&mut self) -> Result<Answer, JoinError> {
        match self.tasks.join_next().await {
            Some(answer) => answer,
            None => std::future::pending().await,
        }
    }

    /// Whether nothing is under way.
    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Ends all requests where they are.
    pub(super) fn give_up(&mut self) {
        self.tasks.abort_all();
    }

    pub(super) fn accept(&mut self, challenge: Challenge) {
        let client = Arc::clone(&self.client);
        self.start(async move {
            let mut result = client.accept(&challenge.id).await;
            if let Err(Retry::Reconnect) = result.as_ref().map_err(ApiError::retry) {
                // If the first try arrived after all, the second is refused and the game starts.
                sleep(RETRY_WAIT).await;
                result = client.accept(&challenge.id).await;
            }
            Answer::Accept { challenge: Box::new(challenge), result }
        });
    }

    pub(super) fn decline(&mut self, id: GameId, reason: DeclineReason) {
        let client = Arc::clone(&self.client);
        self.start(async move {
            let result = client.decline(&id, reason).await;
            Answer::Decline { id, result }
        });
    }

    /// The event stream replays running games, but may lose some when there are many.
    pub(super) fn ask_for_games(&mut self) {
        let client = Arc::clone(&self.client);
        self.start(async move {
            let mut tries = 1;
            loop {
                match client.playing().await {
                    Err(error) if tries < PLAYING_TRIES && error.retry() == Retry::Reconnect => {
                        tries += 1;
                        sleep(RETRY_WAIT).await;
                    }
                    result => return Answer::Playing(result.map(PlayingBody::games)),
                }
            }
        });
    }

    fn start(&mut self, request: impl Future<Output = Answer> + Send + 'static) {
        let turn = Arc::clone(&self.turn);
        self.tasks.spawn(async move {
            // The semaphore is never closed; without it requests would only run side by side.
            let _turn = turn.acquire().await;
            request.await
        });
    }
}
