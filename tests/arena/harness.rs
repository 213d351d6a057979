//! An arena with an account for the bot, and bots to be started, killed and stopped in it.

use std::{
    future::Future,
    path::Path,
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};

use meitner::{
    arbiter::TimeControl,
    arena::{
        AccountSpec, Arena, ArenaHandle, ArenaOptions, ChallengeSpec, ColorChoice, Counters,
        GameSnapshot, HouseAction, HouseSpec, Opponent, OpponentKind,
    },
    daemon::{self, DaemonError, Options, PolicyOptions, Resources, Shutdown, Summary},
    game::{self, LiveGames},
    platform::lichess::{self, Client, Patience},
    rules::{History, Move, Position},
    search::{self, Engine, Limits, Update},
    store::StoreOptions,
};
use tokio::{
    net::TcpListener,
    sync::watch,
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

/// The bot's account.
pub(crate) const BOT: &str = "EmberFork";
/// The house player.
pub(crate) const HOUSE: &str = "QuietRook7";
/// Nothing in these tests takes this long.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);

pub(crate) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A running arena. Everything in it ends with it.
pub(crate) struct World {
    pub(crate) arena: ArenaHandle,
    pub(crate) base_url: String,
    pub(crate) token: String,
    _tasks: JoinSet<()>,
}

impl World {
    /// An arena with short periods, so that tests are short as well.
    pub(crate) async fn new() -> Self {
        Self::with(ArenaOptions {
            event_keep_alive_ms: 100,
            game_keep_alive_ms: 100,
            presence_grace_ms: 100,
            gone_notice_ms: 200,
            ..ArenaOptions::default()
        })
        .await
    }

    pub(crate) async fn with(options: ArenaOptions) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let arena = Arena::new(options);
        let handle = arena.handle();
        let token = handle.add_account(&AccountSpec::bot(BOT));
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            arena.run(listener, CancellationToken::new()).await;
        });
        Self { arena: handle, base_url: format!("http://{address}"), token, _tasks: tasks }
    }

    /// A house player of one of the arena's kinds.
    pub(crate) fn house(&self, opponent: OpponentKind) {
        self.arena.add_house(&HouseSpec { opponent, ..HouseSpec::named(HOUSE) });
    }

    /// A house player with moves of its own.
    pub(crate) fn house_with(&self, opponent: impl Opponent + 'static) {
        self.arena.add_house_with(&HouseSpec::named(HOUSE), Arc::new(opponent));
    }

    /// Short limits for a client.
    pub(crate) fn limits(&self) -> lichess::Options {
        lichess::Options {
            base_url: self.base_url.clone(),
            connect_timeout: ms(1000),
            request_timeout: ms(2000),
            move_timeout: ms(400),
            stream_silence: ms(500),
            ..lichess::Options::default()
        }
    }

    /// A client with short limits and little patience.
    pub(crate) fn client(&self, token: &str) -> Arc<Client> {
        let client = Client::new(self.limits(), token.to_owned().into()).expect("a client");
        Arc::new(client.with_patience(Patience { account: ms(1000), game: ms(1000) }))
    }

    /// A client with short limits that soon looks whether it has missed anything.
    pub(crate) fn wary_client(&self) -> Arc<Client> {
        let limits = lichess::Options { quiet: ms(300), ..self.limits() };
        self.client_with(limits, Patience { account: ms(1000), game: ms(1000) })
    }

    /// A client of the bot's account with limits and patience of its own.
    pub(crate) fn client_with(&self, limits: lichess::Options, patience: Patience) -> Arc<Client> {
        let client = Client::new(limits, self.token.clone().into()).expect("a client");
        Arc::new(client.with_patience(patience))
    }

    /// Starts a bot that plays quickly, and waits until it is online.
    pub(crate) async fn bot(&self) -> Bot {
        self.bot_with(options()).await
    }

    pub(crate) async fn bot_with(&self, options: Options) -> Bot {
        self.bot_of(self.client(&self.token), options).await
    }

    pub(crate) async fn bot_of(&self, client: Arc<Client>, options: Options) -> Bot {
        let bot = Bot::start(client, options);
        self.until("the bot is online", |arena| arena.is_online(BOT)).await;
        bot
    }

    /// Starts a bot whose policy can be changed while it runs, and waits for nothing.
    pub(crate) fn bot_with_policy(
        &self,
        options: Options,
    ) -> (watch::Sender<Arc<PolicyOptions>>, Bot) {
        let (sender, policy) = watch::channel(Arc::new(options.policy.clone()));
        (sender, Bot::start_with_policy(self.client(&self.token), options, policy))
    }

    /// Waits until the arena is so.
    pub(crate) async fn until(&self, what: &str, condition: impl FnMut(&ArenaHandle) -> bool) {
        within(what, self.arena.wait_until(condition)).await;
    }

    /// Challenges the bot to a game with these seconds and this color for the house.
    pub(crate) fn challenge(&self, limit_s: u64, increment_s: u64, color: ColorChoice) -> String {
        let control = TimeControl::RealTime {
            limit: Duration::from_secs(limit_s),
            increment: Duration::from_secs(increment_s),
        };
        let spec = ChallengeSpec { control, color, ..ChallengeSpec::new(HOUSE, BOT) };
        self.arena.challenge(&spec).expect("a challenge")
    }

    /// Waits until a game has so many moves.
    pub(crate) async fn until_moves(&self, game: &str, count: usize) {
        let has_moves = |arena: &ArenaHandle| {
            arena.game(game).is_some_and(|game| game.moves.len() >= count || game.ending.is_some())
        };
        self.until("moves are played", has_moves).await;
    }

    /// Plays a good move for the house, so that the game goes on, and waits for the bot's answer.
    pub(crate) async fn reply(&self, game: &str) {
        let count = self.house_move(game);
        self.until_moves(game, count + 2).await;
    }

    /// The same for the first move, once the game has begun.
    pub(crate) async fn reply_first(&self, game: &str) {
        self.until("the game starts", |arena| arena.game(game).is_some()).await;
        self.reply(game).await;
    }

    /// Plays a good move for the house and tells how many there were before.
    pub(crate) fn house_move(&self, game: &str) -> usize {
        let snapshot = self.arena.game(game).expect("the game");
        let position = Position::from_fen(&snapshot.fen).expect("a position");
        let best = good_move(History::new(position)).to_string();
        self.arena.act(game, &HouseAction::Move(best)).expect("a legal move");
        snapshot.moves.len()
    }

    /// Waits for the end of a game and returns it.
    pub(crate) async fn finished(&self, game: &str) -> GameSnapshot {
        self.until("the game ends", |arena| {
            arena.game(game).is_some_and(|game| game.ending.is_some())
        })
        .await;
        self.arena.game(game).expect("the game")
    }

    /// A request of the bot's account that the bot itself would not make.
    pub(crate) async fn post(&self, path: &str) {
        let client = reqwest::Client::builder().tls_certs_only([]).build().expect("a client");
        let request = client.post(format!("{}{path}", self.base_url)).bearer_auth(&self.token);
        assert!(request.send().await.expect("an answer").status().is_success(), "{path}");
    }

    /// What stands in the players' chat of a game, as the server tells it.
    pub(crate) async fn chat(&self, game: &str) -> String {
        self.get(&format!("/api/bot/game/{game}/chat")).await
    }

    /// What stands in the spectators' chat of a game.
    pub(crate) async fn spectators_chat(&self, game: &str) -> String {
        self.get(&format!("/api/game/{game}/chat")).await
    }

    async fn get(&self, path: &str) -> String {
        let client = reqwest::Client::builder().tls_certs_only([]).build().expect("a client");
        let url = format!("{}{path}", self.base_url);
        let answer = client.get(url).bearer_auth(&self.token).send().await.expect("an answer");
        answer.text().await.expect("a body")
    }

    /// Asserts that the bot did nothing that a server objects to.
    #[track_caller]
    pub(crate) fn assert_clean(&self) {
        crate::openapi::assert_described(&self.arena.requests());
        let Counters { unknown_paths, unauthorized, illegal_moves, malformed_moves, .. } =
            self.arena.counters();
        assert_eq!((unknown_paths, unauthorized, illegal_moves, malformed_moves), (0, 0, 0, 0));
        assert_eq!(self.arena.counters().untimely_moves, 0, "a move out of turn, or twice");
    }
}

/// A running bot.
pub(crate) struct Bot {
    pub(crate) shutdown: Shutdown,
    pub(crate) live: watch::Receiver<LiveGames>,
    task: JoinSet<Result<Summary, DaemonError>>,
}

impl Bot {
    /// Starts a bot and waits for nothing.
    pub(crate) fn start(client: Arc<Client>, options: Options) -> Self {
        let policy = watch::channel(Arc::new(options.policy.clone())).1;
        Self::start_with_policy(client, options, policy)
    }

    /// The same with a policy that can change.
    pub(crate) fn start_with_policy(
        client: Arc<Client>,
        options: Options,
        policy: watch::Receiver<Arc<PolicyOptions>>,
    ) -> Self {
        let shutdown = Shutdown::new();
        let (live_sender, live) = watch::channel(LiveGames::new());
        let mut task = JoinSet::new();
        let (resources, stages) = (Resources::new(&options), shutdown.clone());
        task.spawn(async move {
            let bot =
                daemon::run_with_policy(options, policy, client, stages, live_sender, &resources);
            bot.await
        });
        Self { shutdown, live, task }
    }

    /// Asks the bot to finish, and waits for that.
    pub(crate) async fn stop(self) -> Summary {
        self.shutdown.advance();
        self.end().await.expect("an orderly end")
    }

    /// Waits for the bot to end.
    pub(crate) async fn end(mut self) -> Result<Summary, DaemonError> {
        within("the bot ends", self.task.join_next()).await.expect("its task").expect("no panic")
    }

    /// Ends the bot where it is, as a power failure would.
    pub(crate) async fn kill(mut self) {
        self.task.shutdown().await;
    }

    /// Waits until the bot itself plays so many games.
    pub(crate) async fn until_playing(&mut self, count: usize) {
        let playing = self.live.wait_for(|live| live.len() == count);
        within("the bot plays", playing).await.expect("the bot runs");
    }
}

/// A bot that plays quickly.
pub(crate) fn options() -> Options {
    Options {
        game: game::Options { nodes: Some(200), ..game::Options::default() },
        ..Options::default()
    }
}

/// Everything is remembered in this folder.
pub(crate) fn kept_in(folder: &Path) -> StoreOptions {
    StoreOptions { folder: Some(folder.to_owned()), ..StoreOptions::default() }
}

fn good_move(history: History) -> Move {
    let (sender, receiver) = mpsc::channel();
    let engine = Engine::new(search::Options::default());
    let limits = Limits { nodes: Some(3000), ..Limits::default() };
    let listener = move |update| {
        if let Update::Report(report) = update {
            sender.send(report.best).expect("a listener");
        }
    };
    engine.search(history, limits, Box::new(listener));
    receiver.recv().expect("a report").expect("a move")
}

/// Waits, but not for ever.
pub(crate) async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    timeout(LIMIT, future).await.expect(what)
}

/// Tries again and again until the condition holds.
pub(crate) async fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < LIMIT, "not within {LIMIT:?}: {what}");
        sleep(ms(5)).await;
    }
}
