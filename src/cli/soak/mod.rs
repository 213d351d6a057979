//! `soak`: very many games of the real bot in a local arena where everything goes wrong, and at the
//! end whether a move was illegal, a game lost on time, a slot stuck, or memory or files leaked.
//!
//! The games are those of `demo`, with every kind of fault and, if wanted, with the bot killed and
//! started again. [`report`] judges.

mod report;
mod usage;

use std::{
    io::{self, IsTerminal as _, Write as _},
    pin::pin,
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use clap::Args;
use futures::future::join_all;
use tempfile::TempDir;
use tokio::{
    runtime::Runtime,
    signal,
    sync::watch,
    task::{JoinError, JoinSet},
    time::{MissedTickBehavior, interval, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    arena::{ArenaOptions, ColorChoice, HouseAction, HouseSpec, OpponentKind},
    cli::{
        exit,
        host::{ANY_LOCAL_PORT, Club, Host, HostArgs},
        log,
        options::SettingsArgs,
        progress::Progress,
    },
    daemon::{self, DaemonError, Shutdown, Summary},
    game::LiveGames,
    platform::lichess::{self, Client},
    settings::Settings,
};

use report::{Report, Usages};
use usage::Usage;

/// How often progress is shown, and looked for.
const TICK: Duration = Duration::from_millis(200);
/// Finished games that the arena keeps: it shall not grow.
const KEPT_GAMES: usize = 64;
/// So many games for each slot warm everything up.
const WARM_GAMES: u64 = 4;
/// How long after the last end of a game the bot is given up, besides both clocks of a game.
const STALL_LIMIT: Duration = Duration::from_mins(3);
/// How long it may take until all slots are free: an acceptance whose fate is unknown holds one for
/// 20 s.
const FREE_LIMIT: Duration = Duration::from_secs(30);
/// How long it may take until all connections are closed when both ends have gone.
const CLOSE_LIMIT: Duration = Duration::from_secs(5);
/// How long the bot may take to end when no game runs.
const END_LIMIT: Duration = Duration::from_secs(30);

/// Arguments of `soak`.
#[derive(Debug, Args)]
#[command(
    mut_arg("concurrency", |arg| arg.default_value("8")),
    mut_arg("time", |arg| arg.default_value("30+0.5")),
    mut_arg("faults", |arg| arg.default_value("mix").hide_default_value(false))
)]
pub(super) struct SoakArgs {
    /// Play so many games
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..))]
    games: u32,
    /// Kill the bot and start it again so often
    #[arg(long, default_value_t = 0, value_name = "TIMES")]
    restarts: u32,
    /// Nodes for each move of the bot
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,
    #[command(flatten)]
    host: HostArgs,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Plays, reports, and judges.
pub(super) fn soak(args: &SoakArgs) -> anyhow::Result<ExitCode> {
    let settings = args.settings.load()?;
    let is_drawn = io::stdout().is_terminal();
    // Log lines amid the bar would spoil it.
    let is_spoiled = is_drawn && io::stderr().is_terminal();
    let _log = (!is_spoiled).then(|| log::start(&settings.log)).transpose()?;
    let runtime = Runtime::new().context("the system gives no threads")?;
    let report = runtime.block_on(run(args, &settings, is_drawn))?;
    let missed = report.missed();
    let mut out = io::stdout().lock();
    write!(out, "{report}")?;
    for bar in &missed {
        writeln!(out, "MISSED           {bar}")?;
    }
    out.flush()?;
    Ok(if missed.is_empty() { ExitCode::SUCCESS } else { exit::FAILURE.into() })
}

async fn run(args: &SoakArgs, settings: &Settings, is_drawn: bool) -> anyhow::Result<Report> {
    let start = Usage::now();
    let started = Instant::now();
    let options = ArenaOptions {
        recorded_requests: 0,
        finished_games: KEPT_GAMES,
        ..args.host.arena_options()?
    };
    let Host { arena, listener, club, url, token } =
        Host::with_options(&args.host, options, ANY_LOCAL_PORT, None).await?;
    let state = TempDir::new().context("no folder for the state")?;
    let ending = CancellationToken::new();
    let mut server = JoinSet::new();
    server.spawn(arena.run(listener, ending.clone()));
    let mut options = args.host.bot_options(settings);
    options.game.nodes = Some(args.nodes);
    options.store.folder = Some(state.path().to_owned());
    let client = args.host.client_options(&url, settings);
    let bot = Bot::start(options, client, token)?;
    let mut soak = Soak {
        games: args.games,
        concurrency: args.host.concurrency,
        restarts: args.restarts,
        club: &club,
        bot,
        progress: Progress::on_stdout(args.games.into(), "games", is_drawn)?,
        restarted: 0,
        warm: None,
    };
    let mut failure = soak.play().await.err().map(|error| format!("{error:#}"));
    soak.progress.finish();
    let (faults, played) = (club.handle.faults(), club.handle.counters().games_finished);
    faults.clear();
    let stuck_slots = if failure.is_none() {
        Some(soak.stuck_slots().await)
    } else {
        // Nothing is to be waited for.
        soak.bot.shutdown.advance();
        None
    };
    let idle = Usage::now();
    if let Err(error) = soak.bot.end().await {
        failure.get_or_insert(format!("{error:#}"));
    }
    let (restarts, warm) = (soak.restarted, soak.warm);
    ending.cancel();
    while server.join_next().await.is_some() {}
    let end = Usage::after_closing(start.handles, CLOSE_LIMIT).await;
    Ok(Report {
        games: args.games,
        played,
        concurrency: args.host.concurrency,
        time: started.elapsed(),
        restarts,
        counters: club.handle.counters(),
        strikes: faults.strikes(),
        stuck_slots,
        usage: Usages { start, warm, idle, end },
        failure,
    })
}

/// A soak under way.
struct Soak<'a> {
    games: u32,
    concurrency: u32,
    /// How often the bot is to be killed.
    restarts: u32,
    club: &'a Club,
    bot: Bot,
    progress: Progress,
    /// How often it has been killed.
    restarted: u32,
    /// What the process held when everything had been used for a while.
    warm: Option<Usage>,
}

impl Soak<'_> {
    /// Plays all games.
    async fn play(&mut self) -> anyhow::Result<()> {
        let club = self.club;
        let mut playing = pin!(club.play(Some(self.games)));
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut over, mut last_end) = (0, Instant::now());
        let stall_limit = 2 * club.time.initial + STALL_LIMIT;
        loop {
            tokio::select! {
                result = &mut playing => return result,
                ended = self.bot.ended() => {
                    anyhow::bail!("the bot ended by itself: {ended:?}");
                }
                result = signal::ctrl_c() => {
                    result.context("signals cannot be listened to")?;
                    anyhow::bail!("interrupted");
                }
                _ = tick.tick() => {}
            }
            let finished = club.handle.counters().games_finished;
            if finished > over {
                (over, last_end) = (finished, Instant::now());
            }
            let running = club.handle.running().len();
            anyhow::ensure!(last_end.elapsed() < stall_limit, "{running} games do not end");
            let faults: u64 = club.handle.faults().strikes().values().sum();
            self.progress.show(over, format_args!("{faults} faults"))?;
            self.look_at_usage(over);
            self.restart_if_due(over).await?;
        }
    }

    fn look_at_usage(&mut self, over: u64) {
        if self.warm.is_none() && over >= WARM_GAMES * u64::from(self.concurrency) {
            self.warm = Some(Usage::now());
        }
    }

    /// Restarts are spread evenly over the games.
    async fn restart_if_due(&mut self, over: u64) -> anyhow::Result<()> {
        let [games, restarts, next] =
            [self.games, self.restarts, self.restarted + 1].map(u64::from);
        if next <= restarts && over * (restarts + 1) >= games * next {
            self.restarted += 1;
            self.bot.restart().await?;
        }
        Ok(())
    }

    /// How many of the slots are not to be had when no game runs. As many players as there are slots
    /// challenge the bot at once, and do not move. Returns when their games are over.
    async fn stuck_slots(&mut self) -> u32 {
        let Club { handle, .. } = self.club;
        let players: Vec<String> = (1..=self.concurrency).map(|nth| format!("Last{nth}")).collect();
        for name in &players {
            let opponent = OpponentKind::Silent;
            handle.add_house(&HouseSpec { opponent, ..HouseSpec::named(name) });
        }
        let begun = players.iter().map(|player| {
            // Theirs is the first move.
            timeout(FREE_LIMIT, self.club.begin(player, ColorChoice::White))
        });
        let games: Vec<String> =
            join_all(begun).await.into_iter().filter_map(|begun| begun.ok()?.ok()).collect();
        for id in &games {
            // A game that has ended by now had its slot as well.
            let _ = handle.act(id, &HouseAction::Resign);
        }
        self.bot.idle().await;
        self.concurrency.saturating_sub(u32::try_from(games.len()).unwrap_or(u32::MAX))
    }
}

/// The bot, which can be killed and started again.
struct Bot {
    options: daemon::Options,
    client: lichess::Options,
    token: String,
    shutdown: Shutdown,
    live: watch::Receiver<LiveGames>,
    task: JoinSet<Result<Summary, DaemonError>>,
}

impl Bot {
    fn start(
        options: daemon::Options,
        client: lichess::Options,
        token: String,
    ) -> anyhow::Result<Self> {
        let (shutdown, live) = (Shutdown::new(), watch::channel(LiveGames::new()).1);
        let mut bot = Self { options, client, token, shutdown, live, task: JoinSet::new() };
        bot.spawn()?;
        Ok(bot)
    }

    fn spawn(&mut self) -> anyhow::Result<()> {
        let client = Client::new(self.client.clone(), self.token.clone().into())?;
        let (options, shutdown) = (self.options.clone(), self.shutdown.clone());
        let (sender, live) = watch::channel(LiveGames::new());
        self.live = live;
        self.task.spawn(daemon::run(options, Arc::new(client), shutdown, sender));
        Ok(())
    }

    /// Ends it where it is, as a power failure would, and starts it again.
    async fn restart(&mut self) -> anyhow::Result<()> {
        self.task.shutdown().await;
        self.spawn()
    }

    /// Waits until it plays no game, but not for ever.
    async fn idle(&mut self) {
        // If it does not come to rest it will not end either, which is told.
        let _ = timeout(END_LIMIT, self.live.wait_for(LiveGames::is_empty)).await;
    }

    /// Waits for it to end by itself. Cancel-safe.
    async fn ended(&mut self) -> Option<Result<Result<Summary, DaemonError>, JoinError>> {
        self.task.join_next().await
    }

    /// Lets it end.
    async fn end(&mut self) -> anyhow::Result<()> {
        self.shutdown.advance();
        let ended = timeout(END_LIMIT, self.ended()).await.context("the bot does not end")?;
        if let Some(ended) = ended {
            ended.context("the bot failed")??;
        }
        Ok(())
    }
}
