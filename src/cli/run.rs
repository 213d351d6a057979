//! `run`: the bot on its server, until a signal ends it.

use std::{process::ExitCode, sync::Arc};

use anyhow::Context as _;
use tokio::{runtime::Runtime, sync::watch};
use tracing::info;

use crate::{
    cli::{log, options::SettingsArgs},
    daemon::{self, Shutdown, Summary},
    game::LiveGames,
    platform::lichess::Client,
    settings::Settings,
};

/// Runs the bot.
pub(super) fn run(args: &SettingsArgs) -> anyhow::Result<ExitCode> {
    let settings = args.load()?;
    let client = Arc::new(Client::new(settings.lichess.clone(), settings.token()?)?);
    log::start(&settings.log)?;
    let runtime = Runtime::new().context("the system gives no threads")?;
    let summary = runtime.block_on(play(settings, client))?;
    let Summary { won, lost, drawn, .. } = summary;
    info!(won, lost, drawn, "left in good order");
    Ok(ExitCode::SUCCESS)
}

async fn play(settings: Settings, client: Arc<Client>) -> anyhow::Result<Summary> {
    info!(
        version = env!("CARGO_PKG_VERSION"),
        url = settings.lichess.base_url,
        concurrency = settings.daemon.concurrency,
        hash_mb = settings.daemon.engine.hash_mb,
        threads = settings.daemon.engine.threads,
        "starting"
    );
    let shutdown = Shutdown::new();
    let (live, _) = watch::channel(LiveGames::new());
    tokio::select! {
        summary = daemon::run(settings.daemon, client, shutdown.clone(), live) => Ok(summary?),
        result = shutdown.follow_signals() => {
            result.context("signals cannot be listened to")?;
            anyhow::bail!("the task that follows signals ended")
        }
    }
}
