//! What the daemon asks of the server besides games: challenges and their answers, tournaments, and
//! which games run.
//!
//! Requests run in tasks, each kind in a lane of its own: what hangs in one lane holds up no other, so
//! that an acceptance, for which the challenger waits, never stands behind a decline. Moves do not
//! pass through here, so that none ever waits behind one of these.

use std::{
    future::Future,
    sync::Arc,
    time::{Duration, SystemTime},
};

use tokio::{
    sync::Semaphore,
    task::{JoinError, JoinSet},
    time::{sleep, timeout},
};
use tracing::warn;

use crate::{
    daemon::{matchmaking::Offer, policy::VARIANT, tournament::Password},
    game::GameId,
    platform::{
        AccountFacts, Challenge, DeclineReason, GameStart, OnlineBot, Tournament, TournamentId,
        lichess::{ApiError, Client, Retry, model::PlayingBody},
    },
};

/// How often the list of running games is asked for.
const PLAYING_TRIES: u32 = 3;
const RETRY_WAIT: Duration = Duration::from_secs(1);
/// How long a challenge may wait for what the server knows about the challenger.
const LOOK_UP_LIMIT: Duration = Duration::from_secs(2);

/// The requests under way.
pub(super) struct Requests {
    client: Arc<Client>,
    tasks: JoinSet<Answer>,
    /// In each lane requests begin in the order in which they were made.
    lanes: Lanes,
}

/// The turn of each lane.
struct Lanes {
    accept: Arc<Semaphore>,
    decline: Arc<Semaphore>,
    playing: Arc<Semaphore>,
    account: Arc<Semaphore>,
    challenge: Arc<Semaphore>,
    tournament: Arc<Semaphore>,
}

/// So many acceptances may be under way at once: one that hangs would otherwise let the others'
/// challenges run out. Everything else goes one by one, as the server asks (section 2 of the
/// protocol notes).
const ACCEPTS_AT_ONCE: usize = 4;

/// What came of a request.
pub(super) enum Answer {
    /// Of accepting a challenge. A failure may hide that an earlier try worked.
    Accept { challenge: Box<Challenge>, result: Result<(), ApiError>, may_have_worked: bool },
    /// Of declining one.
    Decline { id: GameId, result: Result<(), ApiError> },
    /// The running games.
    Playing(Result<Vec<GameStart>, ApiError>),
    /// Somebody's account; `None` if the server did not tell in time.
    Account { user: String, facts: Option<AccountFacts> },
    /// Our own rating.
    OwnRating(Option<u32>),
    /// The bots that are online.
    OnlineBots(Result<Vec<OnlineBot>, ApiError>),
    /// Of challenging somebody.
    Challenge { offer: Offer, result: Result<GameId, ApiError> },
    /// Of withdrawing a challenge.
    Cancel { id: GameId, result: Result<(), ApiError> },
    /// Of asking for the tournaments of a team.
    TeamTournaments { team: String, result: Result<Vec<TournamentId>, ApiError> },
    /// Of asking about a tournament.
    Tournament { id: TournamentId, result: Result<Tournament, ApiError> },
    /// Of joining a tournament, to be paired.
    Join { id: TournamentId, result: Result<(), ApiError> },
    /// Of leaving one.
    Withdraw { id: TournamentId, result: Result<(), ApiError> },
    /// Of giving half of our time in a game for a point.
    Berserk { game: GameId, result: Result<(), ApiError> },
}

impl Requests {
    pub(super) fn new(client: Arc<Client>) -> Self {
        let turns = |count| Arc::new(Semaphore::new(count));
        let lanes = Lanes {
            accept: turns(ACCEPTS_AT_ONCE),
            decline: turns(1),
            playing: turns(1),
            account: turns(1),
            challenge: turns(1),
            tournament: turns(1),
        };
        Self { client, tasks: JoinSet::new(), lanes }
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
        self.start(Arc::clone(&self.lanes.accept), async move {
            let (result, may_have_worked) = twice(|| client.accept(&challenge.id)).await;
            Answer::Accept { challenge: Box::new(challenge), result, may_have_worked }
        });
    }

    pub(super) fn decline(&mut self, id: GameId, reason: DeclineReason) {
        let client = Arc::clone(&self.client);
        self.start(Arc::clone(&self.lanes.decline), async move {
            let result = client.decline(&id, reason).await;
            Answer::Decline { id, result }
        });
    }

    /// The event stream replays running games, but may lose some when there are many.
    pub(super) fn ask_for_games(&mut self) {
        let client = Arc::clone(&self.client);
        self.start(Arc::clone(&self.lanes.playing), async move {
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

    /// Asks who somebody is, by the id of the account. The time limit counts from now, so that a
    /// hung request does not make all those behind it wait.
    pub(super) fn look_up(&mut self, user: String) {
        let (client, turn) = (Arc::clone(&self.client), Arc::clone(&self.lanes.account));
        self.tasks.spawn(async move {
            let asked = async {
                // The semaphore is never closed; see `start`.
                let _turn = turn.acquire().await;
                client.user(&user).await
            };
            let body = match timeout(LOOK_UP_LIMIT, asked).await {
                Ok(Ok(body)) => Some(body),
                Ok(Err(error)) => {
                    warn!(%error, user, "could not look up an account");
                    None
                }
                Err(_) => {
                    warn!(user, "looking up an account took too long");
                    None
                }
            };
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            let facts = body.map(|body| body.facts(now.unwrap_or_default()));
            Answer::Account { user, facts }
        });
    }

    /// Asks for our own rating, once.
    pub(super) fn ask_for_rating(&mut self) {
        let client = Arc::clone(&self.client);
        self.start(Arc::clone(&self.lanes.account), async move {
            let asked = timeout(LOOK_UP_LIMIT, client.account()).await;
            Answer::OwnRating(asked.ok().and_then(Result::ok).and_then(|body| body.rating()))
        });
    }

    pub(super) fn list_bots(&mut self) {
        let client = Arc::clone(&self.client);
        self.start(Arc::clone(&self.lanes.challenge), async move {
            Answer::OnlineBots(client.online_bots().await)
        });
    }

    /// Once only: a second try would replace a first one that worked, without a word about it.
    pub(super) fn challenge(&mut self, offer: Offer) {
        let client = Arc::clone(&self.client);
        self.start(Arc::clone(&self.lanes.challenge), async move {
            let result = client.challenge(&offer.target, offer.clock, offer.rated).await;
            Answer::Challenge { offer, result }
        });
    }

    pub(super) fn cancel(&mut self, id: GameId) {
        let client = Arc::clone(&self.client);
        self.start(Arc::clone(&self.lanes.challenge), async move {
            let (result, _) = twice(|| client.cancel(&id)).await;
            Answer::Cancel { id, result }
        });
    }

    pub(super) fn list_tournaments(&mut self, team: String) {
        let client = Arc::clone(&self.client);
        self.start(Arc::clone(&self.lanes.tournament), async move {
            let result = client.team_tournaments(&team, VARIANT).await;
            Answer::TeamTournaments { team, result }
        });
    }

    pub(super) fn look_at_tournament(&mut self, id: TournamentId) {
        let client = Arc::clone(&self.client);
        self.start(Arc::clone(&self.lanes.tournament), async move {
            let result = client.tournament(&id).await;
            Answer::Tournament { id, result }
        });
    }

    pub(super) fn join(
        &mut self,
        id: TournamentId,
        password: Option<Password>,
        team: Option<String>,
    ) {
        let client = Arc::clone(&self.client);
        self.start(Arc::clone(&self.lanes.tournament), async move {
            let password = password.as_ref().map(|Password(password)| password);
            let result = client.join_tournament(&id, password, team.as_deref()).await;
            Answer::Join { id, result }
        });
    }

    pub(super) fn withdraw(&mut self, id: TournamentId) {
        let client = Arc::clone(&self.client);
        self.start(Arc::clone(&self.lanes.tournament), async move {
            let (result, _) = twice(|| client.withdraw(&id)).await;
            Answer::Withdraw { id, result }
        });
    }

    /// At once: it counts only before our first move.
    pub(super) fn berserk(&mut self, game: GameId) {
        let client = Arc::clone(&self.client);
        self.tasks.spawn(async move {
            let result = client.berserk(&game).await;
            Answer::Berserk { game, result }
        });
    }

    fn start(
        &mut self,
        turn: Arc<Semaphore>,
        request: impl Future<Output = Answer> + Send + 'static,
    ) {
        self.tasks.spawn(async move {
            // The semaphore is never closed; without it more would only run side by side.
            let _turn = turn.acquire().await;
            request.await
        });
    }
}

/// Makes a request, and once more if the first try met no answer or a failing server. Also tells
/// whether any of the tries may have been carried out: if the first one was, then the second is
/// refused, which is no failure.
async fn twice<F>(mut request: impl FnMut() -> F) -> (Result<(), ApiError>, bool)
where
    F: Future<Output = Result<(), ApiError>>,
{
    let may_have_worked =
        |result: &Result<(), ApiError>| result.as_ref().err().is_none_or(ApiError::may_have_worked);
    let first = request().await;
    let is_first_open = may_have_worked(&first);
    if !matches!(&first, Err(error) if error.retry() == Retry::Reconnect) {
        return (first, is_first_open);
    }
    sleep(RETRY_WAIT).await;
    let second = request().await;
    let is_open = is_first_open || may_have_worked(&second);
    (second, is_open)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: u16) -> ApiError {
        ApiError::Refused { status, message: String::new(), limit: None }
    }

    /// What comes of a request with these answers, and how many of them it takes.
    async fn made(answers: &[Result<(), ApiError>]) -> (Result<(), ApiError>, bool, usize) {
        let mut tries = 0;
        let (result, may_have_worked) = twice(|| {
            tries += 1;
            std::future::ready(answers[tries - 1].clone())
        })
        .await;
        (result, may_have_worked, tries)
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_after_a_lost_answer_does_not_prove_a_failure() {
        let lost = [
            ApiError::NoAnswer("reset".to_owned()),
            ApiError::Server { status: 502, retry_after: None },
            refused(408),
        ];
        for lost in lost {
            for status in [400, 404] {
                let answers = [Err(lost.clone()), Err(refused(status))];
                assert_eq!(made(&answers).await, (Err(refused(status)), true, 2), "{lost:?}");
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_certainly_failed_is_told() {
        let unreachable = ApiError::Unreachable("refused".to_owned());
        assert_eq!(made(&[Err(refused(404))]).await, (Err(refused(404)), false, 1));
        let answers = [Err(unreachable.clone()), Err(refused(404))];
        assert_eq!(made(&answers).await, (Err(refused(404)), false, 2));
        let answers = [Err(unreachable), Ok(())];
        assert_eq!(made(&answers).await, (Ok(()), true, 2));
        assert_eq!(made(&[Ok(())]).await, (Ok(()), true, 1));
    }
}
