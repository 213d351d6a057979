//! What the daemon asks of the server besides games: challenges and their answers, tournaments, and
//! which games run.
//!
//! Requests run in tasks, each kind in a lane of its own: what hangs in one lane holds up no other, so
//! that an acceptance, for which the challenger waits, never stands behind a decline. Moves do not
//! pass through here, so that none ever waits behind one of these.

use std::{
    any::Any,
    future::Future,
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, SystemTime},
};

use futures::FutureExt as _;
use tokio::{
    sync::Semaphore,
    task::JoinSet,
    time::{sleep, timeout},
};
use tracing::{error, warn};

use crate::{
    daemon::{matchmaking::Offer, policy::VARIANT, tournament::Password},
    game::GameId,
    platform::{
        AccountFacts, Challenge, DeclineReason, GameStart, OnlineBot, Tournament, TournamentId,
        lichess::{
            ApiError, Client, Retry,
            model::{PlayingBody, UserAccountBody},
        },
    },
};

/// How often the list of running games is asked for.
const PLAYING_TRIES: u32 = 3;
const RETRY_WAIT: Duration = Duration::from_secs(1);
/// How long a challenge may wait for what the server knows about the challenger.
const LOOK_UP_LIMIT: Duration = Duration::from_secs(2);

/// The requests under way. Each gets its answer, unless it is given up.
pub(super) struct Requests {
    client: Arc<Client>,
    tasks: JoinSet<Answer>,
    /// Those that are not given up at the end: what they are about would go on without us.
    binding: JoinSet<Answer>,
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
        Self { client, tasks: JoinSet::new(), binding: JoinSet::new(), lanes }
    }

    /// The next answer; waits for ever if nothing was asked. Cancel-safe.
    pub(super) async fn next(&mut self) -> Answer {
        loop {
            let ended = tokio::select! {
                Some(ended) = self.tasks.join_next() => ended,
                Some(ended) = self.binding.join_next() => ended,
                else => std::future::pending().await,
            };
            // One that was given up has none.
            if let Ok(answer) = ended {
                return answer;
            }
        }
    }

    /// Whether nothing is under way.
    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.binding.is_empty()
    }

    /// Whether a game may come of what is under way, or may be waited for in vain without it.
    pub(super) fn is_bound(&self) -> bool {
        !self.binding.is_empty()
    }

    /// Ends those requests where they are without which nothing is left behind.
    pub(super) fn give_up(&mut self) {
        self.tasks.abort_all();
    }

    /// Ends all requests where they are.
    pub(super) fn give_up_all(&mut self) {
        self.tasks.abort_all();
        self.binding.abort_all();
    }

    pub(super) fn accept(&mut self, challenge: Challenge) {
        let (client, id) = (Arc::clone(&self.client), challenge.id.clone());
        let accepting = async move { Ok(twice(|| client.accept(&id)).await) };
        self.bind(Arc::clone(&self.lanes.accept), accepting, move |tried| {
            let (result, may_have_worked) = tried.unwrap_or_else(|error| (Err(error), true));
            Answer::Accept { challenge: Box::new(challenge), result, may_have_worked }
        });
    }

    pub(super) fn decline(&mut self, id: GameId, reason: DeclineReason) {
        let (client, target) = (Arc::clone(&self.client), id.clone());
        self.start(
            Arc::clone(&self.lanes.decline),
            async move { client.decline(&target, reason).await },
            move |result| Answer::Decline { id, result },
        );
    }

    /// The event stream replays running games, but may lose some when there are many.
    pub(super) fn ask_for_games(&mut self) {
        let client = Arc::clone(&self.client);
        let asking = async move {
            let mut tries = 1;
            loop {
                match client.playing().await {
                    Err(error) if tries < PLAYING_TRIES && error.retry() == Retry::Reconnect => {
                        tries += 1;
                        sleep(RETRY_WAIT).await;
                    }
                    result => return result.map(PlayingBody::games),
                }
            }
        };
        self.start(Arc::clone(&self.lanes.playing), asking, Answer::Playing);
    }

    /// Asks who somebody is, by the id of the account. The time limit counts from now, so that a
    /// hung request does not make all those behind it wait.
    pub(super) fn look_up(&mut self, user: String) {
        let (client, turn) = (Arc::clone(&self.client), Arc::clone(&self.lanes.account));
        let id = user.clone();
        let asking = async move {
            let asked = async {
                // The semaphore is never closed; see `in_turn`.
                let _turn = turn.acquire().await;
                client.user(&id).await
            };
            timeout(LOOK_UP_LIMIT, asked).await.unwrap_or_else(|_| {
                Err(ApiError::NoAnswer("looking up an account took too long".to_owned()))
            })
        };
        let answer = move |result: Result<UserAccountBody, ApiError>| {
            let body = result.inspect_err(|error| warn!(%error, user, "could not look up"));
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            let facts = body.ok().map(|body| body.facts(now.unwrap_or_default()));
            Answer::Account { user, facts }
        };
        self.tasks.spawn(async move { answer(answered(asking).await) });
    }

    /// Asks for our own rating, once.
    pub(super) fn ask_for_rating(&mut self) {
        let client = Arc::clone(&self.client);
        let asking = async move {
            let asked = timeout(LOOK_UP_LIMIT, client.account()).await;
            asked.unwrap_or_else(|_| Err(ApiError::NoAnswer("it took too long".to_owned())))
        };
        self.start(Arc::clone(&self.lanes.account), asking, |result| {
            Answer::OwnRating(result.ok().and_then(|body| body.rating()))
        });
    }

    pub(super) fn list_bots(&mut self) {
        let client = Arc::clone(&self.client);
        let asking = async move { client.online_bots().await };
        self.start(Arc::clone(&self.lanes.challenge), asking, Answer::OnlineBots);
    }

    /// Once only: a second try would replace a first one that worked, without a word about it.
    pub(super) fn challenge(&mut self, offer: Offer) {
        let (client, wanted) = (Arc::clone(&self.client), offer.clone());
        self.bind(
            Arc::clone(&self.lanes.challenge),
            async move { client.challenge(&wanted.target, wanted.time, wanted.rated).await },
            move |result| Answer::Challenge { offer, result },
        );
    }

    pub(super) fn cancel(&mut self, id: GameId) {
        let (client, ours) = (Arc::clone(&self.client), id.clone());
        self.bind(
            Arc::clone(&self.lanes.challenge),
            async move { twice(|| client.cancel(&ours)).await.0 },
            move |result| Answer::Cancel { id, result },
        );
    }

    pub(super) fn list_tournaments(&mut self, team: String) {
        let (client, of) = (Arc::clone(&self.client), team.clone());
        self.start(
            Arc::clone(&self.lanes.tournament),
            async move { client.team_tournaments(&of, VARIANT).await },
            move |result| Answer::TeamTournaments { team, result },
        );
    }

    pub(super) fn look_at_tournament(&mut self, id: TournamentId) {
        let (client, wanted) = (Arc::clone(&self.client), id.clone());
        self.start(
            Arc::clone(&self.lanes.tournament),
            async move { client.tournament(&wanted).await },
            move |result| Answer::Tournament { id, result },
        );
    }

    pub(super) fn join(
        &mut self,
        id: TournamentId,
        password: Option<Password>,
        team: Option<String>,
    ) {
        let (client, wanted) = (Arc::clone(&self.client), id.clone());
        let joining = async move {
            let password = password.as_ref().map(|Password(password)| password);
            client.join_tournament(&wanted, password, team.as_deref()).await
        };
        let answer = move |result| Answer::Join { id, result };
        self.bind(Arc::clone(&self.lanes.tournament), joining, answer);
    }

    pub(super) fn withdraw(&mut self, id: TournamentId) {
        let (client, ours) = (Arc::clone(&self.client), id.clone());
        self.bind(
            Arc::clone(&self.lanes.tournament),
            async move { twice(|| client.withdraw(&ours)).await.0 },
            move |result| Answer::Withdraw { id, result },
        );
    }

    /// At once: it counts only before our first move.
    pub(super) fn berserk(&mut self, game: GameId) {
        let (client, ours) = (Arc::clone(&self.client), game.clone());
        let asking = async move { client.berserk(&ours).await };
        self.tasks.spawn(async move { Answer::Berserk { game, result: answered(asking).await } });
    }

    /// Makes a request in its turn.
    fn start<T: Send>(
        &mut self,
        turn: Arc<Semaphore>,
        request: impl Future<Output = Result<T, ApiError>> + Send + 'static,
        answer: impl FnOnce(Result<T, ApiError>) -> Answer + Send + 'static,
    ) {
        self.tasks.spawn(async move { answer(in_turn(turn, request).await) });
    }

    /// The same with one that is carried through even when the bot leaves.
    fn bind<T: Send>(
        &mut self,
        turn: Arc<Semaphore>,
        request: impl Future<Output = Result<T, ApiError>> + Send + 'static,
        answer: impl FnOnce(Result<T, ApiError>) -> Answer + Send + 'static,
    ) {
        self.binding.spawn(async move { answer(in_turn(turn, request).await) });
    }
}

async fn in_turn<T>(
    turn: Arc<Semaphore>,
    request: impl Future<Output = Result<T, ApiError>>,
) -> Result<T, ApiError> {
    // The semaphore is never closed; without it more would only run side by side.
    let _turn = turn.acquire().await;
    answered(request).await
}

/// Makes a request. Should our own code panic in it, that counts as a lost answer: whoever waits for
/// it would otherwise do so for ever.
async fn answered<T>(request: impl Future<Output = Result<T, ApiError>>) -> Result<T, ApiError> {
    // What is half-done belongs to the request and ends with it.
    AssertUnwindSafe(request).catch_unwind().await.unwrap_or_else(|panic| {
        error!(panic = message(&*panic), "a request failed in our own code");
        Err(ApiError::NoAnswer("the request failed in our own code".to_owned()))
    })
}

/// What a panic says.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
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
    use crate::platform::lichess;

    #[tokio::test]
    async fn a_request_that_fails_in_our_own_code_has_an_answer() {
        // 2026-11-30: the matchmaker would have waited for ever for one that panicked.
        let client = Client::new(lichess::Options::default(), "lip_x".to_owned().into()).unwrap();
        let mut requests = Requests::new(Arc::new(client));
        let turn = Arc::clone(&requests.lanes.challenge);
        let id: GameId = "abcd1234".parse().unwrap();
        let canceled = id.clone();
        let answer = move |result| Answer::Cancel { id: canceled, result };
        requests.bind(turn, async { panic!("boom") }, answer);
        let Answer::Cancel { id: of, result } = requests.next().await else { panic!("another") };
        assert_eq!(of, id);
        assert!(result.is_err_and(|error| error.may_have_worked()));
        assert!(requests.is_empty());
    }

    #[tokio::test]
    async fn what_would_go_on_without_us_is_not_given_up() {
        let client = Client::new(lichess::Options::default(), "lip_x".to_owned().into()).unwrap();
        let mut requests = Requests::new(Arc::new(client));
        let turn = || Arc::new(Semaphore::new(1));
        let ok = || std::future::ready(Ok(()));
        let id: GameId = "abcd1234".parse().unwrap();
        let (declined, canceled) = (id.clone(), id);
        requests.start(turn(), ok(), |result| Answer::Decline { id: declined, result });
        requests.bind(turn(), ok(), |result| Answer::Cancel { id: canceled, result });
        requests.give_up();
        assert!(requests.is_bound());
        assert!(matches!(requests.next().await, Answer::Cancel { result: Ok(()), .. }));
        assert!(!requests.is_bound());
    }

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
