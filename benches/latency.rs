//! What the built program costs besides its thinking: it plays as a process of its own, over HTTP on
//! the loopback device and, but for its answers amid a search, with searches of one node, against an arena in this process.
//!
//! `cargo bench --bench latency` prints each figure beside its bar. The arena's own work is part of
//! the figures. Machines that do something else meanwhile measure that.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod percentiles;

use std::{
    fs,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use futures::future::join_all;
use meitner::{
    arena::{
        AccountSpec, Arena, ArenaHandle, ArenaOptions, ChallengeSpec, ColorChoice, HouseAction,
        HouseSpec, OpponentKind, Recorded,
    },
    rules::History,
};
use tempfile::TempDir;
use tokio::{net::TcpListener, task::JoinSet, time::sleep};
use tokio_util::sync::CancellationToken;

const BOT: &str = "Bot";
const GAMES_AT_ONCE: usize = 32;
const REPLIES: usize = 4_000;
const CHALLENGES: usize = 200;
const PROPOSALS: usize = 100;
const STARTS: usize = 20;
/// The table of the engine is left out of what memory is counted, and so is as small as can be.
const HASH_MIB: u64 = 1;

#[tokio::main]
async fn main() {
    let site = Site::open().await;
    let replies = site.replies(1).await;
    percentiles::print("event to move at 1 game (bars: p50 1 ms, p99 5 ms)", replies);
    let replies = site.replies(GAMES_AT_ONCE).await;
    percentiles::print(
        &format!("event to move at {GAMES_AT_ONCE} games (bar: p99 20 ms)"),
        replies,
    );
    percentiles::print("challenge to acceptance (bar: 2 ms)", site.acceptances().await);
    percentiles::print("takeback amid a search to its answer (bar: 100 ms)", site.answers().await);
    percentiles::print("start to event stream (bar: 200 ms)", site.starts().await);
    percentiles::print("restart to move (bar: 500 ms)", site.restarts().await);
    if let Some(kib) = site.idle_memory_kib().await {
        let mib = (kib >> 10).saturating_sub(HASH_MIB);
        println!("idle memory beside the hash table: {mib} MiB (bar: 20 MiB)");
    }
}

/// An arena, and a folder for the bot's files.
struct Site {
    arena: ArenaHandle,
    url: String,
    token: String,
    folder: TempDir,
    _tasks: JoinSet<()>,
}

/// The program, until it is dropped.
struct Bot(Child);

impl Drop for Bot {
    fn drop(&mut self) {
        // The hard way, as in a power failure.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Site {
    async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let options = ArenaOptions { event_stream_openings: 0, ..ArenaOptions::default() };
        let arena = Arena::new(options);
        let handle = arena.handle();
        let token = handle.add_account(&AccountSpec::bot(BOT));
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { arena.run(listener, CancellationToken::new()).await });
        let folder = tempfile::tempdir().expect("a folder");
        Self { arena: handle, url, token, folder, _tasks: tasks }
    }

    fn start(&self, concurrency: usize) -> Bot {
        self.start_with_nodes(concurrency, 1)
    }

    /// The same with so many nodes for each move; 0 for as many as the clock allows.
    fn start_with_nodes(&self, concurrency: usize, nodes: u64) -> Bot {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meitner"));
        command.arg("run");
        for setting in [
            format!("lichess.url={}", self.url),
            format!("search.hash_mb={HASH_MIB}"),
            format!("search.nodes={nodes}"),
            format!("challenge.concurrency={concurrency}"),
        ] {
            command.args(["--set", &setting]);
        }
        command
            .current_dir(self.folder.path())
            .env("MEITNER_LICHESS__TOKEN", &self.token)
            .env("STATE_DIRECTORY", self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Bot(command.spawn().expect("the program starts"))
    }

    /// Starts the bot and waits until it is online.
    async fn online(&self, concurrency: usize) -> Bot {
        self.until(|arena| !arena.is_online(BOT)).await;
        let bot = self.start(concurrency);
        self.until(|arena| arena.is_online(BOT)).await;
        bot
    }

    async fn until(&self, condition: impl FnMut(&ArenaHandle) -> bool) {
        self.arena.wait_until(condition).await;
    }

    /// How long each move took, from the event that asks for it to its request, in so many games at
    /// once against players who answer at once.
    async fn replies(&self, games: usize) -> Vec<Duration> {
        let bot = self.online(games).await;
        let players = (0..games).map(|nth| async move {
            let name = format!("House{nth}");
            let opponent = OpponentKind::Random;
            self.arena.add_house(&HouseSpec { opponent, ..HouseSpec::named(&name) });
            let mut times = Vec::new();
            while times.len() < REPLIES / games {
                let spec = ChallengeSpec::new(&name, BOT).color(ColorChoice::White);
                let id = self.arena.challenge(&spec).expect("a challenge");
                self.until(|arena| arena.game(&id).is_some_and(|game| game.ending.is_some())).await;
                let answers = self.arena.answer_times(&id);
                times.extend(answers.iter().map(|(event, request)| request.duration_since(*event)));
            }
            times
        });
        let times = join_all(players).await.concat();
        drop(bot);
        times
    }

    /// How long it took from a challenge to the request that accepts it.
    async fn acceptances(&self) -> Vec<Duration> {
        let bot = self.online(1).await;
        let mut times = Vec::new();
        for _ in 0..CHALLENGES {
            let challenged = Instant::now();
            let id = self.challenge();
            self.until(|arena| arena.game(&id).is_some()).await;
            times.push(self.arrival(&format!("/api/challenge/{id}/accept")) - challenged);
            self.arena.act(&id, &HouseAction::Resign).expect("a running game");
            self.until(|arena| arena.game(&id).is_some_and(|game| game.ending.is_some())).await;
            // The bot has to see that as well before it has room again.
            sleep(Duration::from_millis(20)).await;
        }
        drop(bot);
        times
    }

    /// How long it took from a proposal to take a move back to the request that declines it, while the
    /// bot thinks about a move for minutes.
    async fn answers(&self) -> Vec<Duration> {
        self.until(|arena| !arena.is_online(BOT)).await;
        let bot = self.start_with_nodes(1, 0);
        self.until(|arena| arena.is_online(BOT)).await;
        let house = HouseSpec { opponent: OpponentKind::Silent, ..HouseSpec::named("House") };
        self.arena.add_house(&house);
        let spec = ChallengeSpec::new("House", BOT).color(ColorChoice::White);
        let spec = spec.clock(Duration::from_hours(3), Duration::ZERO);
        let id = self.arena.challenge(&spec).expect("a challenge");
        self.until(|arena| arena.game(&id).is_some()).await;
        self.house_moves(&id);
        self.until(|arena| arena.game(&id).is_some_and(|game| game.moves.len() == 2)).await;
        self.house_moves(&id);
        let path = format!("/api/bot/game/{id}/takeback/false");
        let mut times = Vec::new();
        for nth in 1..=PROPOSALS {
            sleep(Duration::from_millis(50)).await;
            let proposed = Instant::now();
            self.arena.act(&id, &HouseAction::ProposeTakeback).expect("a running game");
            let is_answered = |arena: &ArenaHandle| {
                arena.requests().iter().filter(|request| request.path == path).count() == nth
            };
            self.until(is_answered).await;
            times.push(self.arrival(&path) - proposed);
        }
        // It would take the slot of the next bot.
        self.arena.act(&id, &HouseAction::Resign).expect("a running game");
        drop(bot);
        times
    }

    /// How long it took from the start of the process to the opening of the event stream.
    async fn starts(&self) -> Vec<Duration> {
        let mut times = Vec::new();
        for _ in 0..STARTS {
            let started = Instant::now();
            let bot = self.online(1).await;
            times.push(self.arrival("/api/stream/event") - started);
            drop(bot);
        }
        times
    }

    /// How long it took from the start of a process that finds a game at its turn to its move.
    async fn restarts(&self) -> Vec<Duration> {
        let bot = self.online(1).await;
        let id = self.challenge();
        self.until(|arena| arena.game(&id).is_some()).await;
        self.house_moves(&id);
        self.until(|arena| arena.game(&id).is_some_and(|game| game.moves.len() == 2)).await;
        drop(bot);
        let mut times = Vec::new();
        for nth in 1..=STARTS {
            self.until(|arena| !arena.is_online(BOT)).await;
            self.house_moves(&id);
            let started = Instant::now();
            let bot = self.start(1);
            let plies = 2 + 2 * nth;
            let has_moved = |arena: &ArenaHandle| {
                arena
                    .game(&id)
                    .is_some_and(|game| game.moves.len() == plies || game.ending.is_some())
            };
            self.until(has_moved).await;
            let moved = self.arrival_of(|request| request.path.contains("/move/"));
            times.push(moved - started);
            drop(bot);
            if self.arena.game(&id).is_some_and(|game| game.ending.is_some()) {
                break;
            }
        }
        times
    }

    /// The resident memory of a bot that is online and does nothing; `None` where the system does
    /// not tell.
    async fn idle_memory_kib(&self) -> Option<u64> {
        let bot = self.online(1).await;
        sleep(Duration::from_secs(2)).await;
        let status = fs::read_to_string(format!("/proc/{}/status", bot.0.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.split_whitespace().next()?.parse().ok()
    }

    /// A challenge of a player who moves only when it is told, and has White.
    fn challenge(&self) -> String {
        let house = HouseSpec { opponent: OpponentKind::Silent, ..HouseSpec::named("House") };
        self.arena.add_house(&house);
        let spec = ChallengeSpec::new("House", BOT).color(ColorChoice::White);
        self.arena.challenge(&spec).expect("a challenge")
    }

    /// Moves a knight of the house there and back, or whatever is legal.
    fn house_moves(&self, id: &str) {
        let mut history = History::default();
        for uci in &self.arena.game(id).expect("the game").moves {
            history.play_uci(uci).expect("a legal game");
        }
        let moves = history.position().legal_moves();
        let shuffle =
            ["b1a3", "a3b1"].into_iter().find(|uci| moves.iter().any(|mv| mv.to_string() == *uci));
        let mv =
            shuffle.map_or_else(|| moves.iter().next().expect("a move").to_string(), str::to_owned);
        self.arena.act(id, &HouseAction::Move(mv)).expect("a legal move");
    }

    /// When the latest request to this path arrived.
    fn arrival(&self, path: &str) -> Instant {
        self.arrival_of(|request| request.path == path)
    }

    fn arrival_of(&self, is_it: impl Fn(&Recorded) -> bool) -> Instant {
        self.arena.requests().iter().rfind(|request| is_it(request)).expect("it was made").at
    }
}
