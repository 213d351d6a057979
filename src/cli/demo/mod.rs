//! `demo`: the arena and the real bot in one process, over real HTTP on 127.0.0.1.
//!
//! In a terminal the game is drawn live, else each move is a line. [`lines`] and [`screen`] do
//! that; both see a game as the server knows it, and our search as the bot's own snapshots tell.

mod ics;
mod lines;
mod screen;
mod words;

use std::{
    fs,
    io::{self, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use clap::Args;
use tokio::{
    runtime::Runtime,
    signal,
    sync::{broadcast, watch},
    task::JoinSet,
    time::{MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

use crate::{
    arena::GameSnapshot,
    cli::{
        host::{ANY_LOCAL_PORT, Host, HostArgs},
        log,
        options::SettingsArgs,
    },
    daemon::{self, Shutdown, Summary},
    game::{GameId, LiveGames, Snapshot},
    pgn,
    platform::lichess::Client,
    settings::Settings,
};

use lines::Lines;
use screen::Screen;

/// How often the screen is drawn anew.
const FRAME_TIME: Duration = Duration::from_millis(100);
/// How long the end of a game stays on the screen.
const LAST_LOOK: Duration = Duration::from_secs(3);

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub(super) struct DemoArgs {
    /// Play so many games and exit; without it the games go on until Ctrl-C
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    games: Option<u32>,
    /// File for the finished games as PGN, written at the end
    #[arg(long, value_name = "PATH")]
    pgn: Option<PathBuf>,
    #[command(flatten)]
    host: HostArgs,
    #[command(flatten)]
    settings: SettingsArgs,
    /// On an Internet Chess Server, as FICS is one, instead of the Bot API: one game at a time, whole
    /// minutes and seconds
    #[arg(long, conflicts_with_all = ["pgn", "arena"])]
    fics: bool,
}

/// Plays.
pub(super) fn demo(args: &DemoArgs) -> anyhow::Result<ExitCode> {
    let settings = args.settings.load()?;
    if let Some(path) = &args.pgn {
        // A place that cannot be written to is told before the games, not after them.
        write_games(path, &[])?;
    }
    let is_drawn = io::stdout().is_terminal();
    // Log lines amid a drawing would spoil it.
    let is_spoiled = is_drawn && io::stderr().is_terminal();
    let _log = (!is_spoiled).then(|| log::start(&settings.log)).transpose()?;
    let runtime = Runtime::new().context("the system gives no threads")?;
    if args.fics {
        return runtime.block_on(ics::play(args, &settings, is_drawn));
    }
    runtime.block_on(play(args, &settings, is_drawn))
}

async fn play(args: &DemoArgs, settings: &Settings, is_drawn: bool) -> anyhow::Result<ExitCode> {
    let Host { arena, listener, mut club, url, token } =
        Host::open(&args.host, ANY_LOCAL_PORT, None).await?;
    club.pause = if is_drawn { LAST_LOOK } else { Duration::ZERO };
    let client = Client::new(args.host.client_options(&url, settings), token.into())?;
    let (live_sender, live) = watch::channel(LiveGames::new());
    let display = if is_drawn {
        Display::Screen(Box::new(Screen::new(&url)))
    } else {
        Display::Lines(Lines::new(args.games, club.time_text()))
    };
    let viewer = Viewer::new(club.handle.watch(), live, display);
    let (end, shutdown) = (CancellationToken::new(), Shutdown::new());
    let mut server = JoinSet::new();
    server.spawn(arena.run(listener, end.clone()));
    let mut bot = JoinSet::new();
    let options = args.host.bot_options(settings);
    let running = daemon::run(options, Arc::new(client), shutdown.clone(), live_sender);
    bot.spawn(async move { Ok(running.await?) });
    let summary = watch_games(club.play(args.games), bot, &shutdown, viewer).await?;
    end.cancel();
    while server.join_next().await.is_some() {}
    if let Some(path) = &args.pgn {
        write_games(path, &club.handle.records())?;
    }
    let counters = club.handle.counters();
    conclude(&summary, counters.illegal_moves, counters.flags_lost)?;
    Ok(ExitCode::SUCCESS)
}

fn write_games(path: &Path, games: &[pgn::Game]) -> anyhow::Result<()> {
    let text: String = games.iter().map(ToString::to_string).collect();
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Lets the games be played and shows them, until all are over or Ctrl-C is pressed.
async fn watch_games(
    playing: impl Future<Output = anyhow::Result<()>>,
    mut bot: JoinSet<anyhow::Result<Summary>>,
    shutdown: &Shutdown,
    mut viewer: Viewer,
) -> anyhow::Result<Summary> {
    let result = {
        let mut playing = std::pin::pin!(playing);
        let mut showing = std::pin::pin!(viewer.run());
        let mut is_playing = true;
        loop {
            tokio::select! {
                result = &mut playing, if is_playing => {
                    result?;
                    is_playing = false;
                    shutdown.advance();
                }
                error = &mut showing => break Err(error.into()),
                Some(ended) = bot.join_next() => break flatten(ended),
                result = signal::ctrl_c() => {
                    result.context("signals cannot be listened to")?;
                    is_playing = false;
                    shutdown.advance();
                    shutdown.advance();
                }
            }
        }
    };
    viewer.finish()?;
    result
}

fn flatten(
    ended: Result<anyhow::Result<Summary>, tokio::task::JoinError>,
) -> anyhow::Result<Summary> {
    ended.context("the bot failed")?
}

/// The last lines.
fn conclude(summary: &Summary, illegal: u64, flags: u64) -> io::Result<()> {
    let Summary { won, lost, drawn, aborted, .. } = summary;
    let mut out = io::stdout().lock();
    writeln!(out, "{won} won, {lost} lost, {drawn} drawn, {aborted} aborted")?;
    writeln!(out, "{illegal} illegal moves, {flags} games lost on time")?;
    out.flush()
}

/// Shows games while they are played.
struct Viewer {
    games: broadcast::Receiver<GameSnapshot>,
    live: watch::Receiver<LiveGames>,
    /// The bot's games, those that have just ended as well.
    known: LiveGames,
    display: Display,
    /// The bot's latest game.
    last: Option<watch::Receiver<Snapshot>>,
    /// The server's names of games are not the bot's, but there is one game at a time.
    one_at_a_time: bool,
}

enum Display {
    Lines(Lines),
    Screen(Box<Screen>),
}

impl Viewer {
    fn new(
        games: broadcast::Receiver<GameSnapshot>,
        live: watch::Receiver<LiveGames>,
        display: Display,
    ) -> Self {
        Self { games, live, known: LiveGames::new(), display, last: None, one_at_a_time: false }
    }

    /// Shows until the output fails.
    async fn run(&mut self) -> io::Error {
        let mut frames = interval(FRAME_TIME);
        frames.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let result = tokio::select! {
                game = self.games.recv() => match game {
                    Ok(game) => self.show(&game),
                    // What was missed is part of what comes.
                    Err(broadcast::error::RecvError::Lagged(_)) => Ok(()),
                    Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
                },
                _ = frames.tick() => self.draw(),
            };
            if let Err(error) = result {
                return error;
            }
        }
    }

    /// Shows what is left to show.
    fn finish(&mut self) -> io::Result<()> {
        loop {
            match self.games.try_recv() {
                Ok(game) => self.show(&game)?,
                Err(broadcast::error::TryRecvError::Lagged(_)) => {}
                Err(_) => break,
            }
        }
        match &mut self.display {
            Display::Lines(_) => Ok(()),
            Display::Screen(screen) => screen.leave(&mut io::stdout().lock()),
        }
    }

    fn show(&mut self, game: &GameSnapshot) -> io::Result<()> {
        let snapshot = self.snapshot(&game.id);
        match &mut self.display {
            Display::Lines(lines) => {
                let mut out = io::stdout().lock();
                lines.tell(game, snapshot.as_ref(), &mut out)?;
                out.flush()
            }
            Display::Screen(screen) => {
                screen.see(game);
                Ok(())
            }
        }
    }

    fn draw(&mut self) -> io::Result<()> {
        let Display::Screen(screen) = &self.display else { return Ok(()) };
        let snapshot = screen.game_id().map(str::to_owned).and_then(|id| self.snapshot(&id));
        let Display::Screen(screen) = &mut self.display else { return Ok(()) };
        screen.draw(snapshot.as_ref(), Instant::now(), &mut io::stdout().lock())
    }

    /// What the bot tells about a game.
    fn snapshot(&mut self, id: &str) -> Option<Snapshot> {
        for (id, watcher) in self.live.borrow_and_update().iter() {
            self.last = Some(watcher.clone());
            self.known.entry(id.clone()).or_insert_with(|| watcher.clone());
        }
        if self.one_at_a_time {
            return self.last.as_ref().map(|watcher| watcher.borrow().clone());
        }
        let id: GameId = id.parse().ok()?;
        self.known.get(&id).map(|watcher| watcher.borrow().clone())
    }
}
