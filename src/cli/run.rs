//! `run`: the bot on its servers, until a signal ends it.

use std::{process::ExitCode, sync::Arc};

use anyhow::Context as _;
use tokio::{
    runtime::Runtime,
    sync::watch,
    task::{JoinError, JoinSet},
};
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use crate::{
    cli::{
        exit,
        log::{self, Log},
        options::SettingsArgs,
        services,
    },
    daemon::{self, PolicyOptions, Resources, Shutdown, Summary, reload::Hangups},
    game::LiveGames,
    metrics::Metrics,
    platform::{fics, lichess::Client},
    settings::Settings,
};

/// Where the bot plays.
struct Platforms {
    lichess: Option<Arc<Client>>,
    fics: Option<fics::Options>,
}

/// Runs the bot.
pub(super) fn run(args: &SettingsArgs) -> anyhow::Result<ExitCode> {
    let settings = args.load()?;
    let metrics = Metrics::new();
    let platforms = Platforms::of(&settings, &metrics)?;
    let log = log::start(&settings.log)?;
    let runtime = Runtime::new().context("the system gives no threads")?;
    let summary = runtime.block_on(play(args.clone(), settings, platforms, metrics, &log))?;
    let Summary { won, lost, drawn, unfinished, .. } = summary;
    if unfinished > 0 {
        warn!(won, lost, drawn, unfinished, "left before the games were finished");
        return Ok(exit::UNFINISHED.into());
    }
    info!(won, lost, drawn, "left in good order");
    Ok(ExitCode::SUCCESS)
}

impl Platforms {
    /// FICS if it is enabled; lichess unless FICS is, and there is no token.
    fn of(settings: &Settings, metrics: &Metrics) -> anyhow::Result<Self> {
        let fics = settings.fics()?;
        let lichess = if fics.is_none() || settings.names_token() {
            let client = Client::new(settings.lichess.clone(), settings.token()?)?;
            Some(Arc::new(client.with_metrics(metrics)))
        } else {
            None
        };
        Ok(Self { lichess, fics })
    }
}

async fn play(
    args: SettingsArgs,
    settings: Settings,
    platforms: Platforms,
    metrics: Metrics,
    log: &Log,
) -> anyhow::Result<Summary> {
    let hangups = Hangups::listen().context("signals cannot be listened to")?;
    info!(
        version = env!("CARGO_PKG_VERSION"),
        lichess = platforms.lichess.as_ref().map(|_| settings.lichess.base_url.as_str()),
        fics = platforms.fics.as_ref().map(fics::Options::address),
        concurrency = settings.daemon.concurrency,
        hash_mb = settings.daemon.engine.hash_mb,
        threads = settings.daemon.engine.threads,
        "starting; we play atomic from the standard start, and no other variant"
    );
    warn_of_contradiction(&settings.daemon.policy, settings.daemon.concurrency);
    let shutdown = Shutdown::new();
    let services_end = CancellationToken::new();
    let mut services =
        services::start(settings.web.listen, &metrics, shutdown.finish(), &services_end);
    let (policy, policies) = watch::channel(Arc::new(settings.daemon.policy.clone()));
    let resources = Resources::new(&settings.daemon).with_metrics(&metrics);
    let mut bots = start(&settings.daemon, &resources, platforms, &policies, &shutdown);
    let mut known = settings;
    let reloading = hangups.follow(
        move || args.load(),
        |new| {
            policy.send_replace(Arc::new(new.daemon.policy.clone()));
            resources.set_game_options(new.daemon.game.clone());
            tell_changes(&known, &new);
            // The news is told as the old level has it, or else a quieter one would hide it.
            if let Err(error) = log.set_directives(&new.log.directives) {
                warn!(error = format!("{error:#}"), "the level of the log stays");
            }
            known = new;
        },
    );
    let summary = tokio::select! {
        summary = join(&mut bots) => summary,
        result = shutdown.follow_signals() => {
            result.context("signals cannot be listened to")?;
            anyhow::bail!("the task that follows signals ended")
        }
        () = reloading => anyhow::bail!("the task that follows SIGHUP ended"),
    };
    services_end.cancel();
    while services.join_next().await.is_some() {}
    summary
}

/// Starts one bot for each platform. They share the slots and the cores.
fn start(
    options: &daemon::Options,
    resources: &Resources,
    platforms: Platforms,
    policies: &watch::Receiver<Arc<PolicyOptions>>,
    shutdown: &Shutdown,
) -> JoinSet<anyhow::Result<Summary>> {
    let mut bots = JoinSet::new();
    if let Some(client) = platforms.lichess {
        let (options, policies, shutdown) = (options.clone(), policies.clone(), shutdown.clone());
        let (resources, live) = (resources.clone(), watch::channel(LiveGames::new()).0);
        bots.spawn(async move {
            let bot =
                daemon::run_with_policy(options, policies, client, shutdown, live, &resources);
            Ok(bot.await?)
        });
    }
    if let Some(link) = platforms.fics {
        let (options, policies, shutdown) = (options.clone(), policies.clone(), shutdown.clone());
        let (resources, live) = (resources.clone(), watch::channel(LiveGames::new()).0);
        bots.spawn(async move {
            let bot = daemon::fics::run(options, link, policies, shutdown, live, &resources);
            Ok(bot.await?)
        });
    }
    bots
}

/// Waits for all bots. One that fails does not end the other; the first failure is told at the end.
async fn join(bots: &mut JoinSet<anyhow::Result<Summary>>) -> anyhow::Result<Summary> {
    let (mut all, mut failure) = (Summary::default(), None);
    while let Some(ended) = bots.join_next().await {
        match flatten(ended) {
            Ok(summary) => all += &summary,
            Err(error) => {
                if !bots.is_empty() {
                    error!(
                        error = format!("{error:#}"),
                        "one platform is given up, the other goes on"
                    );
                }
                failure.get_or_insert(error);
            }
        }
    }
    failure.map_or(Ok(all), Err)
}

fn flatten(ended: Result<anyhow::Result<Summary>, JoinError>) -> anyhow::Result<Summary> {
    ended.context("a bot failed")?
}

/// Tells what of the changes has been taken up, and what has not.
fn tell_changes(known: &Settings, new: &Settings) {
    let changed = known.changed_keys(new);
    let (taken, left): (Vec<_>, Vec<_>) =
        changed.into_iter().partition(|key| Settings::is_taken_up(key));
    let PolicyOptions { block, always, only, .. } = &new.daemon.policy;
    info!(
        keys = taken.join(", "),
        blocked = block.len(),
        always = always.len(),
        only = only.len(),
        "the new settings are taken up; how games are played holds for those that begin from now on"
    );
    warn_of_contradiction(&new.daemon.policy, known.daemon.concurrency);
    if !left.is_empty() {
        warn!(keys = left.join(", "), "these settings have changed, but wait for a restart");
    }
}

fn warn_of_contradiction(policy: &PolicyOptions, concurrency: usize) {
    if let Some(text) = policy.contradiction(concurrency) {
        warn!(concurrency, reserved_for_humans = policy.queue.reserved_for_humans, "{text}");
    }
}
