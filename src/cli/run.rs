//! `run`: the bot on its servers, until a signal ends it.

use std::{process::ExitCode, sync::Arc, time::Duration};

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
    daemon::{
        self, PolicyOptions, Resources, Shutdown, Summary, lists::NameLists, reload::Hangups,
    },
    game::LiveGames,
    metrics::Metrics,
    platform::{fics, lichess::Client},
    settings::Settings,
};

/// What still waits for the disk or for the service manager at the end gets no longer than this.
const END_LIMIT: Duration = Duration::from_secs(5);

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
    let result = runtime.block_on(play(args.clone(), settings, platforms, metrics, &log));
    // Dropped, it would wait for a thread that is stuck for ever.
    runtime.shutdown_timeout(END_LIMIT);
    let Summary { won, lost, drawn, unfinished, left, .. } = result?;
    if unfinished > 0 {
        warn!(won, lost, drawn, unfinished, "left before the games were finished");
        return Ok(exit::UNFINISHED.into());
    }
    // Games that last for days are no reason to say that the end was not in order.
    info!(won, lost, drawn, left_to_the_next_run = left, "left in good order");
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
    let lists =
        NameLists::kept(settings.daemon.store.folder.as_deref(), &settings.daemon.policy, &metrics);
    // Without the names of lists on the web, and with them.
    let (policy, wanted) = watch::channel(Arc::new(settings.daemon.policy.clone()));
    let (complete, policies) = watch::channel(Arc::new(lists.complete(&settings.daemon.policy)));
    let resources = Resources::new(&settings.daemon).with_metrics(&metrics);
    let mut bots = start(&settings.daemon, &resources, platforms, &policies, &shutdown);
    let first = settings;
    let mut known = first.clone();
    let reloading = hangups.follow(
        move || args.load(),
        |new| {
            policy.send_replace(Arc::new(new.daemon.policy.clone()));
            resources.set_game_options(new.daemon.game.clone());
            tell_changes(&first, &known, &new);
            // The news is told as the old level has it, or else a quieter one would hide it.
            if let Err(error) = log.set_directives(&new.log.directives) {
                warn!(error = format!("{error:#}"), "the level of the log stays");
            }
            known = new;
        },
    );
    let summary = tokio::select! {
        summary = join(&mut bots, &shutdown) => summary,
        result = shutdown.follow_signals() => {
            result.context("signals cannot be listened to")?;
            anyhow::bail!("the task that follows signals ended")
        }
        () = reloading => anyhow::bail!("the task that follows SIGHUP ended"),
        () = lists.follow(wanted, complete) => anyhow::bail!("the task that reads lists ended"),
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

/// Waits for all bots. One that gives up does not end the other; after a panic the other finishes its
/// games, so that whoever watches over this process starts both again. The first failure is told at
/// the end.
async fn join(
    bots: &mut JoinSet<anyhow::Result<Summary>>,
    shutdown: &Shutdown,
) -> anyhow::Result<Summary> {
    let (mut all, mut failure) = (Summary::default(), None);
    while let Some(ended) = bots.join_next().await {
        let has_panicked = ended.as_ref().is_err_and(JoinError::is_panic);
        if has_panicked {
            shutdown.finish().cancel();
        }
        match flatten(ended) {
            Ok(summary) => all += &summary,
            Err(error) => {
                let text = format!("{error:#}");
                if bots.is_empty() {
                    // Told at the end.
                } else if has_panicked {
                    error!(
                        error = text,
                        "a fault of the program has ended one platform; the other finishes its games"
                    );
                } else {
                    error!(error = text, "one platform is given up, the other goes on");
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

/// The keys that have been taken up since the settings were last read, and those that wait for a
/// restart: each differs from the settings of the start, which the bot still has.
fn changes(
    first: &Settings,
    known: &Settings,
    new: &Settings,
) -> (Vec<&'static str>, Vec<&'static str>) {
    let (mut taken, mut left) = (known.changed_keys(new), first.changed_keys(new));
    taken.retain(|key| Settings::is_taken_up(key));
    left.retain(|key| !Settings::is_taken_up(key));
    (taken, left)
}

/// Tells what of the changes has been taken up, and what has not.
fn tell_changes(first: &Settings, known: &Settings, new: &Settings) {
    let (taken, left) = changes(first, known, new);
    let PolicyOptions { block, always, only, .. } = &new.daemon.policy;
    info!(
        keys = taken.join(", "),
        blocked = block.len(),
        always = always.len(),
        only = only.len(),
        "the new settings are taken up; how games are played holds for those that begin from now on"
    );
    warn_of_contradiction(&new.daemon.policy, first.daemon.concurrency);
    if !left.is_empty() {
        warn!(keys = left.join(", "), "these settings have changed, but wait for a restart");
    }
}

fn warn_of_contradiction(policy: &PolicyOptions, concurrency: usize) {
    if let Some(text) = policy.contradiction(concurrency) {
        warn!(concurrency, reserved_for_humans = policy.queue.reserved_for_humans, "{text}");
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::FutureExt as _;
    use tokio::time::timeout;

    use super::*;
    use crate::settings::Sources;

    /// Another bot that plays until it is to finish.
    fn another(shutdown: &Shutdown) -> JoinSet<anyhow::Result<Summary>> {
        let (finish, mut bots) = (shutdown.finish().clone(), JoinSet::new());
        bots.spawn(async move {
            finish.cancelled().await;
            Ok(Summary { won: 1, ..Summary::default() })
        });
        bots
    }

    #[tokio::test]
    async fn a_panic_ends_the_other_platform_as_well() {
        let shutdown = Shutdown::new();
        let mut bots = another(&shutdown);
        bots.spawn(async { panic!("a fault of the program") });
        let ended = timeout(Duration::from_mins(1), join(&mut bots, &shutdown)).await;
        let error = ended.expect("both end").unwrap_err();
        assert!(format!("{error:#}").contains("a bot failed"), "{error:#}");
        assert!(!shutdown.leave().is_cancelled(), "the games are finished");
    }

    #[tokio::test]
    async fn a_platform_that_gives_up_does_not_end_the_other() {
        let shutdown = Shutdown::new();
        let mut bots = another(&shutdown);
        let given_up = bots.spawn(async { anyhow::bail!("a wrong password") });
        let joining = join(&mut bots, &shutdown);
        tokio::pin!(joining);
        while !given_up.is_finished() {
            assert!((&mut joining).now_or_never().is_none());
            tokio::task::yield_now().await;
        }
        assert!((&mut joining).now_or_never().is_none());
        assert!(!shutdown.finish().is_cancelled());
        shutdown.advance();
        assert_eq!(joining.await.unwrap_err().to_string(), "a wrong password");
    }

    #[test]
    fn what_waits_for_a_restart_is_told_until_it_is_undone() {
        let settings = |threads: u8, hello: &str| {
            let flags = vec![format!("search.threads={threads}"), format!("chat.greeting={hello}")];
            Settings::load(&Sources { flags, ..Sources::default() }).unwrap()
        };
        let (first, second, third) = (settings(1, "a"), settings(2, "a"), settings(2, "b"));
        assert_eq!(changes(&first, &first, &second), (vec![], vec!["search.threads"]));
        let both = (vec!["chat.greeting"], vec!["search.threads"]);
        assert_eq!(changes(&first, &second, &third), both);
        assert_eq!(changes(&first, &third, &settings(1, "b")), (vec![], vec![]));
    }
}
