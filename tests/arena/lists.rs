//! Lists of names on the web: what stands in them counts, and nothing waits for them.

use std::{
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use meitner::{
    arena::{ChallengeSpec, HouseSpec, OpponentKind},
    daemon::{
        Options, PolicyOptions,
        lists::{ListOptions, NameLists},
    },
    metrics::Metrics,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    sync::watch,
    task::JoinSet,
};

use crate::harness::{BOT, Bot, World, eventually, ms, options};

/// What the page of a list answers; nothing at all if `None`.
type Page = Arc<Mutex<Option<&'static str>>>;

/// A page with a list.
struct Site {
    address: String,
    page: Page,
    /// How often it was asked for.
    asked: Arc<AtomicUsize>,
    _tasks: JoinSet<()>,
}

impl Site {
    async fn new(page: Option<&'static str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = format!("http://{}/names.txt", listener.local_addr().expect("an address"));
        let (page, asked) = (Arc::new(Mutex::new(page)), Arc::<AtomicUsize>::default());
        let (shown, count) = (Arc::clone(&page), Arc::clone(&asked));
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut hung = Vec::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                let _request = stream.read(&mut [0; 4096]).await;
                count.fetch_add(1, Relaxed);
                let page = *shown.lock().expect("a page");
                if let Some(page) = page {
                    let _sent = stream.write_all(page.as_bytes()).await;
                } else {
                    hung.push(stream);
                }
            }
        });
        Self { address, page, asked, _tasks: tasks }
    }

    fn show(&self, page: Option<&'static str>) {
        *self.page.lock().expect("a page") = page;
    }

    fn asked(&self) -> usize {
        self.asked.load(Relaxed)
    }
}

const BORE: &str = "HTTP/1.0 200 OK\r\n\r\n# rude\nBore\n";
const NOBODY: &str = "HTTP/1.0 200 OK\r\n\r\n# nobody\n";
const ERROR: &str = "HTTP/1.0 502 Bad Gateway\r\n\r\nbore\n";
const LOGIN_PAGE: &str = "HTTP/1.0 200 OK\r\n\r\n<html>Please log in</html>\n";

/// A bot that follows lists, the metrics that tell of them, and what sets its policy anew.
struct Follower {
    bot: Bot,
    metrics: Metrics,
    wanted: watch::Sender<Arc<PolicyOptions>>,
    complete: watch::Receiver<Arc<PolicyOptions>>,
    _tasks: JoinSet<()>,
}

impl Follower {
    async fn start(world: &World, folder: &Path, lists: ListOptions) -> Self {
        let policy = PolicyOptions { lists, ..PolicyOptions::default() };
        let metrics = Metrics::new();
        let lists = NameLists::kept(Some(folder), &policy, &metrics);
        let complete = watch::Sender::new(Arc::new(lists.complete(&policy)));
        let options = Options { policy: policy.clone(), concurrency: 8, ..options() };
        let policies = complete.subscribe();
        let bot = Bot::start_with_policy(world.client(&world.token), options, policies.clone());
        let (wanted, reader) = watch::channel(Arc::new(policy));
        let mut tasks = JoinSet::new();
        tasks.spawn(lists.follow(reader, complete));
        world.until("the bot is online", |arena| arena.is_online(BOT)).await;
        Self { bot, metrics, wanted, complete: policies, _tasks: tasks }
    }

    /// As SIGHUP does.
    fn hang_up(&self) {
        let policy = Arc::clone(&self.wanted.borrow());
        self.wanted.send_replace(policy);
    }

    fn blocks(&self, name: &str) -> bool {
        self.complete.borrow().block.contains(name)
    }

    fn health(&self) -> String {
        self.metrics.health(Instant::now()).line()
    }
}

fn blocking(site: &Site) -> ListOptions {
    ListOptions { block: vec![site.address.clone()], ..ListOptions::default() }
}

/// Lets somebody challenge the bot. True if it accepts.
async fn is_accepted(world: &World, name: &str) -> bool {
    world.arena.add_house(&HouseSpec { opponent: OpponentKind::Silent, ..HouseSpec::named(name) });
    let counts = || {
        let counters = world.arena.counters();
        (counters.accepted, counters.declined)
    };
    let (accepted, declined) = counts();
    world.arena.challenge(&ChallengeSpec::new(name, BOT)).expect("a challenge");
    world.until("it is answered", |_| counts() != (accepted, declined)).await;
    counts().0 > accepted
}

#[tokio::test]
async fn a_list_on_the_web_blocks_and_what_was_known_of_it_stays() {
    let (world, folder) = (World::new().await, tempfile::tempdir().unwrap());
    let site = Site::new(Some(BORE)).await;
    let follower = Follower::start(&world, folder.path(), blocking(&site)).await;
    eventually("it is read", || follower.blocks("bore")).await;
    assert!(!is_accepted(&world, "bore").await);
    assert!(is_accepted(&world, "friend").await);
    for (nth, broken) in [ERROR, LOGIN_PAGE].into_iter().enumerate() {
        site.show(Some(broken));
        follower.hang_up();
        eventually("it is read again", || site.asked() == nth + 2).await;
        eventually("that is told", || follower.health().contains("cannot be read")).await;
        assert!(!is_accepted(&world, "bore").await, "{broken}");
    }
    follower.bot.kill().await;

    // The page is still broken, and the next run knows all the same.
    let follower = Follower::start(&world, folder.path(), blocking(&site)).await;
    assert!(!is_accepted(&world, "bore").await);
    site.show(Some(NOBODY));
    follower.hang_up();
    eventually("it is read", || !follower.blocks("bore")).await;
    assert!(is_accepted(&world, "bore").await);
    follower.bot.kill().await;
    world.assert_clean();
}

#[tokio::test]
async fn no_challenge_waits_for_a_list() {
    let (world, folder) = (World::new().await, tempfile::tempdir().unwrap());
    let site = Site::new(None).await;
    let follower = Follower::start(&world, folder.path(), blocking(&site)).await;
    eventually("it is asked for", || site.asked() == 1).await;
    let start = Instant::now();
    assert!(is_accepted(&world, "friend").await);
    assert!(start.elapsed() < Duration::from_secs(10), "the list would take twenty seconds");
    follower.bot.kill().await;
    world.assert_clean();
}

#[tokio::test]
async fn whoever_is_on_a_list_of_those_who_may_is_let_in_alone() {
    let (world, folder) = (World::new().await, tempfile::tempdir().unwrap());
    let site = Site::new(Some(ERROR)).await;
    let lists =
        ListOptions { only: vec![site.address.clone()], reread: ms(100), ..ListOptions::default() };
    let follower = Follower::start(&world, folder.path(), lists).await;
    assert!(!is_accepted(&world, "friend").await, "nobody is known");
    eventually("that is told", || follower.health().contains("cannot be read")).await;
    site.show(Some("HTTP/1.0 200 OK\r\n\r\nFriend\r\n"));
    eventually("it is read by itself", || follower.complete.borrow().only.contains("friend")).await;
    eventually("that is told", || !follower.health().contains("cannot be read")).await;
    assert!(is_accepted(&world, "friend").await);
    assert!(!is_accepted(&world, "stranger").await);
    follower.bot.kill().await;
    world.assert_clean();
}
