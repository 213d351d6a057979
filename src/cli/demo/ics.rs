//! The same demonstration on an Internet Chess Server: the arena's other front, over real TCP.

use std::{net::Ipv4Addr, process::ExitCode, sync::Arc};

use tokio::{sync::watch, task::JoinSet};
use tokio_util::sync::CancellationToken;

use crate::{
    cli::{
        demo::{DemoArgs, Display, LAST_LOOK, Lines, Screen, Viewer, conclude, watch_games},
        host::{ANY_LOCAL_PORT, BOT},
        ics::{IcsHost, PASSWORD},
    },
    daemon::{self, Resources, Shutdown},
    game::LiveGames,
    platform::fics,
    settings::Settings,
};

/// Plays.
pub(super) async fn play(
    args: &DemoArgs,
    settings: &Settings,
    is_drawn: bool,
) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(
        args.host.concurrency == 1,
        "an account has one game at a time on FICS: leave --concurrency out"
    );
    let IcsHost { server, listener, port, mut club } =
        IcsHost::open(&args.host, ANY_LOCAL_PORT, PASSWORD).await?;
    let link = fics::Options {
        host: Ipv4Addr::LOCALHOST.to_string(),
        port,
        account: BOT.to_owned(),
        password: PASSWORD.to_owned().into(),
        timeseal: Some(fics::timeseal::Version::V2),
        ..fics::Options::default()
    };
    let (live_sender, live) = watch::channel(LiveGames::new());
    let display = if is_drawn {
        club.pause = LAST_LOOK;
        Display::Screen(Box::new(Screen::new(&link.address())))
    } else {
        Display::Lines(Lines::new(args.games, club.time()))
    };
    let mut viewer = Viewer::new(club.handle.watch(), live, display);
    viewer.one_at_a_time = true;
    let (end, shutdown) = (CancellationToken::new(), Shutdown::new());
    let mut tasks = JoinSet::new();
    tasks.spawn(server.run(listener, end.clone()));
    let options = args.host.bot_options(settings);
    let resources = Resources::new(&options);
    let policy = watch::channel(Arc::new(options.policy.clone())).1;
    let stages = shutdown.clone();
    let mut bot = JoinSet::new();
    bot.spawn(async move {
        Ok(daemon::fics::run(options, link, policy, stages, live_sender, &resources).await?)
    });
    let summary = watch_games(club.play(args.games), bot, &shutdown, viewer).await?;
    end.cancel();
    while tasks.join_next().await.is_some() {}
    let finished = club.handle.finished();
    let flags = finished.iter().filter(|(_, words)| words.contains("forfeits on time")).count();
    conclude(&summary, club.handle.counters().illegal_moves, u64::try_from(flags)?)?;
    Ok(ExitCode::SUCCESS)
}
