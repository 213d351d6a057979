//! A server of the arena and the real bot on it, over TCP.

use std::{net::Ipv4Addr, sync::Arc, time::Duration};

use meitner::{
    arena::{
        Opponent, OpponentKind,
        ics::{IcsAccount, IcsHandle, IcsHouse, IcsOptions, IcsServer},
    },
    daemon::{self, Options, PolicyOptions, Resources, Shutdown, Summary},
    game::{self, LiveGames},
    platform::fics::{self, LinkError, timeseal::Version},
    search,
};
use tokio::{net::TcpListener, sync::watch, task::JoinSet, time::timeout};
use tokio_util::sync::CancellationToken;

pub(crate) const BOT: &str = "Meitner";
pub(crate) const HOUSE: &str = "QuietRook";
const PASSWORD: &str = "sesame";
/// Everything that a test waits for comes sooner, even on a busy machine.
const LIMIT: Duration = Duration::from_mins(1);

pub(crate) struct Hall {
    pub(crate) server: IcsHandle,
    pub(crate) link: fics::Options,
    pub(crate) options: Options,
    pub(crate) shutdown: Shutdown,
    end: CancellationToken,
    tasks: JoinSet<()>,
    bots: JoinSet<Result<Summary, LinkError>>,
}

/// A bot that moves at once.
pub(crate) fn quick_options() -> Options {
    Options {
        game: game::Options {
            nodes: Some(200),
            first_move_time: Duration::from_millis(50),
            ponder: false,
            ..game::Options::default()
        },
        engine: search::Options { hash_mb: 1, threads: 1 },
        cores: 1,
        ..Options::default()
    }
}

impl Hall {
    /// A server with the bot's account and one greedy player.
    pub(crate) async fn open(options: IcsOptions) -> Self {
        Self::with(options, IcsHouse::new(HOUSE, OpponentKind::Greedy.build(1))).await
    }

    pub(crate) async fn with(options: IcsOptions, house: IcsHouse) -> Self {
        let server = IcsServer::new(options);
        let handle = server.handle();
        handle.add_account(&IcsAccount {
            name: BOT.to_owned(),
            password: PASSWORD.to_owned(),
            is_computer: true,
            rating: 1900,
        });
        handle.add_house(house);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (end, mut tasks) = (CancellationToken::new(), JoinSet::new());
        tasks.spawn(server.run(listener, end.clone()));
        let link = fics::Options {
            host: Ipv4Addr::LOCALHOST.to_string(),
            port,
            account: BOT.to_owned(),
            password: PASSWORD.to_owned().into(),
            timeseal: Some(Version::V2),
            waits: (Duration::from_millis(20), Duration::from_millis(100)),
            ..fics::Options::default()
        };
        Self {
            server: handle,
            link,
            options: quick_options(),
            shutdown: Shutdown::new(),
            end,
            tasks,
            bots: JoinSet::new(),
        }
    }

    /// A player of the house who plays by this opponent.
    pub(crate) fn house(opponent: Arc<dyn Opponent>) -> IcsHouse {
        IcsHouse::new(HOUSE, opponent)
    }

    /// Makes an account for a person and logs in with it.
    pub(crate) async fn player(&self, name: &str) -> fics::Link {
        self.server.add_account(&IcsAccount {
            name: name.to_owned(),
            password: PASSWORD.to_owned(),
            is_computer: false,
            rating: 1500,
        });
        self.log_in(name).await
    }

    /// Logs in with an account that there is.
    pub(crate) async fn log_in(&self, name: &str) -> fics::Link {
        let options = fics::Options { account: name.to_owned(), ..self.link.clone() };
        let mut link =
            fics::Link::open(&options, std::time::Instant::now()).await.expect("a server");
        link.log_in(&options).await.expect("a login");
        link
    }

    /// Lets the bot begin.
    pub(crate) fn start(&mut self) {
        let resources = Resources::new(&self.options);
        self.start_with(&resources);
    }

    pub(crate) fn start_with(&mut self, resources: &Resources) {
        let (options, link, shutdown) =
            (self.options.clone(), self.link.clone(), self.shutdown.clone());
        let resources = resources.clone();
        let policy: Arc<PolicyOptions> = Arc::new(options.policy.clone());
        self.bots.spawn(async move {
            let policy = watch::channel(policy).1;
            let live = watch::channel(LiveGames::new()).0;
            daemon::fics::run(options, link, policy, shutdown, live, &resources).await
        });
    }

    pub(crate) async fn until(&self, what: &str, condition: impl FnMut(&IcsHandle) -> bool) {
        let waiting = self.server.wait_until(condition);
        let is_done = timeout(LIMIT, waiting).await.is_ok();
        let commands = self.server.commands_of(BOT);
        assert!(
            is_done,
            "waited in vain until {what}; {:?}, running {:?}, finished {:?}, last commands {:?}",
            self.server.counters(),
            self.server.running(),
            self.server.finished(),
            &commands[commands.len().saturating_sub(40)..],
        );
    }

    pub(crate) async fn until_open(&self) {
        self.until("the bot is open", |server| {
            server.is_open(BOT) && server.commands_of(BOT).iter().any(|line| line == "set open 1")
        })
        .await;
    }

    /// Lets the house challenge the bot, and waits until a game begins.
    pub(crate) async fn challenge(&self, terms: &str) {
        self.until_open().await;
        self.server.command(HOUSE, &format!("match {BOT} {terms}"));
        self.until("a game begins", |server| {
            !server.running().is_empty() || !server.finished().is_empty()
        })
        .await;
    }

    /// Challenges the bot, again and again, until so many games are over: what is said gets lost.
    pub(crate) async fn play_one(&self, number: usize) {
        let is_over = |server: &IcsHandle| server.finished().len() >= number;
        let playing = async {
            while !is_over(&self.server) {
                self.server.wait_until(|server| server.is_open(BOT) || is_over(server)).await;
                if self.server.running().is_empty() && self.server.adjourned() == 0 {
                    self.server.command(HOUSE, &format!("match {BOT} 3 0 unrated atomic"));
                }
                // Whatever comes of it: a game, or nothing.
                let patience = Duration::from_secs(1);
                let _over = timeout(patience, self.server.wait_until(is_over)).await;
            }
        };
        let is_done = timeout(2 * LIMIT, playing).await.is_ok();
        assert!(is_done, "game {number} is not over; {:?}", self.server.counters());
    }

    pub(crate) async fn until_finished(&self, games: usize) {
        self.until("the games are over", |server| server.finished().len() >= games).await;
    }

    /// Waits until the bot has said something like this.
    pub(crate) async fn until_said(&self, beginning: &str) {
        let says = |server: &IcsHandle| {
            server.commands_of(BOT).iter().any(|line| line.starts_with(beginning))
        };
        self.until(beginning, says).await;
    }

    /// Ends the bot in good order and returns what came of it.
    pub(crate) async fn close(mut self) -> Result<Summary, LinkError> {
        self.shutdown.advance();
        let ended = self.end_of_bot().await;
        self.end.cancel();
        while self.tasks.join_next().await.is_some() {}
        ended
    }

    /// Waits for the bot to end by itself.
    pub(crate) async fn end_of_bot(&mut self) -> Result<Summary, LinkError> {
        let ended = timeout(LIMIT, self.bots.join_next()).await.expect("the bot ends in time");
        ended.expect("there is a bot").expect("it does not panic")
    }
}
