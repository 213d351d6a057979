//! `run`: the bot on its server, until a signal ends it.

use std::{process::ExitCode, sync::Arc};

use anyhow::Context as _;
use tokio::{runtime::Runtime, sync::watch};
use tracing::{info, warn};

use crate::{
    cli::{log, options::SettingsArgs},
    daemon::{self, PolicyOptions, Shutdown, Summary, reload::Hangups},
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
    let summary = runtime.block_on(play(args.clone(), settings, client))?;
    let Summary { won, lost, drawn, .. } = summary;
    info!(won, lost, drawn, "left in good order");
    Ok(ExitCode::SUCCESS)
}

async fn play(
    args: SettingsArgs,
    settings: Settings,
    client: Arc<Client>,
) -> anyhow::Result<Summary> {
    let hangups = Hangups::listen().context("signals cannot be listened to")?;
    info!(
        version = env!("CARGO_PKG_VERSION"),
        url = settings.lichess.base_url,
        concurrency = settings.daemon.concurrency,
        hash_mb = settings.daemon.engine.hash_mb,
        threads = settings.daemon.engine.threads,
        "starting; we play atomic from the standard start, and no other variant"
    );
    let shutdown = Shutdown::new();
    let (live, _) = watch::channel(LiveGames::new());
    let (policy, policies) = watch::channel(Arc::new(settings.daemon.policy.clone()));
    let options = settings.daemon.clone();
    let mut known = settings;
    let reloading = hangups.follow(
        move || args.load(),
        |new| {
            take_up(&known, &new, &policy);
            known = new;
        },
    );
    tokio::select! {
        summary = daemon::run_with_policy(options, policies, client, shutdown.clone(), live) => Ok(summary?),
        result = shutdown.follow_signals() => {
            result.context("signals cannot be listened to")?;
            anyhow::bail!("the task that follows signals ended")
        }
        () = reloading => anyhow::bail!("the task that follows SIGHUP ended"),
    }
}

/// Takes up what can change in a running bot, and tells what cannot.
fn take_up(known: &Settings, new: &Settings, policy: &watch::Sender<Arc<PolicyOptions>>) {
    let changed = known.changed_keys(new);
    let (taken, left): (Vec<_>, Vec<_>) =
        changed.into_iter().partition(|key| Settings::is_taken_up(key));
    let PolicyOptions { block, always, only, .. } = &new.daemon.policy;
    info!(
        keys = taken.join(", "),
        blocked = block.len(),
        always = always.len(),
        only = only.len(),
        "the policy is taken up"
    );
    policy.send_replace(Arc::new(new.daemon.policy.clone()));
    if !left.is_empty() {
        warn!(keys = left.join(", "), "these settings have changed, but wait for a restart");
    }
}
