//! The local arena as `arena`, `demo` and `soak` use it: one bot account, and house players that
//! challenge it again and again.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use futures::future::try_join_all;
use tokio::{net::TcpListener, time::timeout};

use crate::{
    arena::{
        AccountSpec, Arena, ArenaHandle, ArenaOptions, ChallengeSpec, Choice, ColorChoice,
        FaultRule, HouseSpec, Opponent, OpponentKind, ThinkingTime, mixed_faults,
    },
    cli::options::TimeControl,
    daemon::{self, BudgetOptions, PolicyOptions, ShutdownOptions},
    platform::lichess,
    rules::History,
    search::{self, Engine, Limits},
    settings::{self, Settings},
    store::StoreOptions,
};

/// Any free port that only this machine can reach.
pub(super) const ANY_LOCAL_PORT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
/// The bot's account in the arena.
pub(super) const BOT: &str = "Meitner";
const HOUSE: &str = "QuietRook";
/// The shipped options of the arena, which are also the default.
const OPTIONS: &str = include_str!("../../config/arena.toml");
/// A bot that lets so many challenges in a row pass is not going to play.
const MOST_CHALLENGES: u32 = 8;
/// What is waited for under the mix of faults: a client waits for three keep-alives, challenges pass.
const MIX_KEEP_ALIVE_MS: u64 = 500;
const MIX_CHALLENGE_SECONDS: u64 = 5;
const MIX_PATIENCE: Duration = Duration::from_millis(1_500);

/// What kind of arena to open.
#[derive(Debug, Args)]
pub(super) struct HostArgs {
    /// Who plays against the bot
    #[arg(long, value_enum, default_value_t = OpponentChoice::Greedy)]
    opponent: OpponentChoice,
    /// Nodes for each move of the opponent `engine`
    #[arg(long, default_value_t = 2_000, value_name = "NODES")]
    opponent_nodes: u64,
    /// Clock of each game: seconds, and seconds for each move
    #[arg(long, default_value = "60+0.6", value_name = "S+S")]
    pub(super) time: TimeControl,
    /// Games at once
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(super) concurrency: u32,
    /// Seed of all that is drawn by lot
    #[arg(long)]
    pub(super) seed: Option<u64>,
    /// Let the connection suffer: `mix` has every fault there is, and shorter periods, so that
    /// what is waited out takes a second or two; `none` does nothing; else the `faults` of a file
    /// like config/arena.toml
    #[arg(
        long,
        value_name = "mix|none|PATH",
        num_args = 0..=1,
        default_value = "none",
        default_missing_value = "mix",
        hide_default_value = true
    )]
    pub(super) faults: FaultChoice,
    /// File with options of the arena, like config/arena.toml
    #[arg(long, value_name = "PATH")]
    arena: Option<PathBuf>,
}

/// Which faults strike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FaultChoice {
    Mix,
    None,
    File(PathBuf),
}

impl From<&str> for FaultChoice {
    fn from(text: &str) -> Self {
        match text {
            "mix" => Self::Mix,
            "none" => Self::None,
            path => Self::File(path.into()),
        }
    }
}

impl FaultChoice {
    fn rules(&self) -> anyhow::Result<Vec<FaultRule>> {
        Ok(match self {
            Self::Mix => mixed_faults(),
            Self::None => Vec::new(),
            Self::File(path) => settings::read_options::<ArenaOptions>(path)?.faults,
        })
    }
}

/// Who plays against the bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OpponentChoice {
    /// Any legal move
    Random,
    /// Explosions first, then the greatest gain
    Greedy,
    /// This program's own engine, at few nodes
    Engine,
}

/// An arena that is about to run.
pub(super) struct Host {
    pub(super) arena: Arena,
    pub(super) listener: TcpListener,
    pub(super) club: Club,
    pub(super) url: String,
    pub(super) token: String,
}

/// The house players, and the games that they play.
pub(super) struct Club {
    pub(super) handle: ArenaHandle,
    pub(super) time: TimeControl,
    players: Vec<String>,
    /// Games that have been asked for.
    asked: AtomicU32,
    /// A challenge that is not accepted within this time will not be.
    challenge_life: Duration,
    /// How long a finished game is left on the board.
    pub(super) pause: Duration,
}

impl Host {
    /// Opens an arena there, with this token for the bot, or with one by lot.
    pub(super) async fn open(
        args: &HostArgs,
        address: SocketAddr,
        token: Option<&str>,
    ) -> anyhow::Result<Self> {
        Self::with_options(args, args.arena_options()?, address, token).await
    }

    /// The same with other options for the arena than those that the arguments name.
    pub(super) async fn with_options(
        args: &HostArgs,
        options: ArenaOptions,
        address: SocketAddr,
        token: Option<&str>,
    ) -> anyhow::Result<Self> {
        let seed = options.seed;
        let challenge_life = Duration::from_secs(options.challenge_seconds + 1);
        let listener = TcpListener::bind(address)
            .await
            .with_context(|| format!("cannot listen on {address}"))?;
        let url = format!("http://{}", listener.local_addr()?);
        let arena = Arena::new(options);
        let handle = arena.handle();
        let token = token.map(str::to_owned);
        let token = handle.add_account(&AccountSpec { token, ..AccountSpec::bot(BOT) });
        let players = (1..=args.concurrency)
            .map(|nth| {
                let name = format!("{HOUSE}{nth}");
                args.opponent.join(&handle, &name, args.opponent_nodes, seed + u64::from(nth));
                name
            })
            .collect();
        let (time, pause) = (args.time, Duration::ZERO);
        let club = Club { handle, time, players, asked: AtomicU32::new(0), challenge_life, pause };
        Ok(Self { arena, listener, club, url, token })
    }
}

impl HostArgs {
    /// The options of the arena.
    pub(super) fn arena_options(&self) -> anyhow::Result<ArenaOptions> {
        let mut options: ArenaOptions = match &self.arena {
            Some(path) => settings::read_options(path)?,
            None => settings::parse_options(OPTIONS, Path::new("config/arena.toml"))?,
        };
        options.seed = self.seed.unwrap_or(options.seed);
        options.faults.extend(self.faults.rules()?);
        if self.faults == FaultChoice::Mix {
            for period in [&mut options.event_keep_alive_ms, &mut options.game_keep_alive_ms] {
                *period = MIX_KEEP_ALIVE_MS.min(*period);
            }
            options.challenge_seconds = MIX_CHALLENGE_SECONDS.min(options.challenge_seconds);
        }
        Ok(options)
    }

    /// How the bot reaches the arena at this address.
    pub(super) fn client_options(&self, url: &str, settings: &Settings) -> lichess::Options {
        let options = lichess::Options { base_url: url.to_owned(), ..settings.lichess.clone() };
        if self.faults != FaultChoice::Mix {
            return options;
        }
        lichess::Options {
            request_timeout: options.request_timeout.min(MIX_PATIENCE),
            move_timeout: options.move_timeout.min(MIX_PATIENCE),
            stream_silence: options.stream_silence.min(MIX_PATIENCE),
            quiet: options.quiet.min(2 * MIX_PATIENCE),
            ..options
        }
    }

    /// The bot as it is set up, but open to the arena's players, and without a memory.
    pub(super) fn bot_options(&self, settings: &Settings) -> daemon::Options {
        daemon::Options {
            concurrency: usize::try_from(self.concurrency).unwrap_or(usize::MAX),
            policy: PolicyOptions {
                budget: BudgetOptions { per_day: None, spread: false },
                ..PolicyOptions::default()
            },
            shutdown: ShutdownOptions::default(),
            store: StoreOptions::default(),
            ..settings.daemon.clone()
        }
    }
}

impl Club {
    /// Lets the house players challenge the bot until `games` have been played; without a number,
    /// for ever.
    pub(super) async fn play(&self, games: Option<u32>) -> anyhow::Result<()> {
        self.handle.wait_until(|arena| arena.is_online(BOT)).await;
        try_join_all(self.players.iter().map(|player| self.play_one_by_one(player, games))).await?;
        Ok(())
    }

    /// The time control as a text.
    pub(super) fn time_text(&self) -> String {
        let TimeControl { initial, increment } = self.time;
        format!("{}+{}", initial.as_secs_f64(), increment.as_secs_f64())
    }

    async fn play_one_by_one(&self, player: &str, games: Option<u32>) -> anyhow::Result<()> {
        loop {
            let nth = self.asked.fetch_add(1, Ordering::Relaxed);
            if games.is_some_and(|games| nth >= games) {
                return Ok(());
            }
            let color = if nth.is_multiple_of(2) { ColorChoice::Black } else { ColorChoice::White };
            self.play_one(player, color).await?;
            tokio::time::sleep(self.pause).await;
        }
    }

    /// Plays one game to its end.
    async fn play_one(&self, player: &str, color: ColorChoice) -> anyhow::Result<()> {
        let id = self.begin(player, color).await?;
        let is_over =
            |arena: &ArenaHandle| arena.game(&id).is_none_or(|game| game.ending.is_some());
        self.handle.wait_until(is_over).await;
        Ok(())
    }

    /// Begins a game of a house player, and returns its id. A challenge that the bot lets pass is
    /// made again.
    pub(super) async fn begin(&self, player: &str, color: ColorChoice) -> anyhow::Result<String> {
        let TimeControl { initial, increment } = self.time;
        let spec = ChallengeSpec::new(player, BOT).clock(initial, increment).color(color);
        for _ in 0..MOST_CHALLENGES {
            let id = self.handle.challenge(&spec)?;
            let begun = self.handle.wait_until(|arena| arena.game(&id).is_some());
            if timeout(self.challenge_life, begun).await.is_ok() {
                return Ok(id);
            }
        }
        anyhow::bail!("the bot has let {MOST_CHALLENGES} challenges of {player} pass")
    }
}

impl HostArgs {
    /// Who plays for the house on a server that is not the Bot API's.
    pub(super) fn opponent(&self) -> Arc<dyn Opponent> {
        let seed = self.seed.unwrap_or(1);
        match self.opponent {
            OpponentChoice::Random => OpponentKind::Random.build(seed),
            OpponentChoice::Greedy => OpponentKind::Greedy.build(seed),
            OpponentChoice::Engine => Arc::new(EngineOpponent::new(self.opponent_nodes)),
        }
    }
}

impl OpponentChoice {
    fn join(self, handle: &ArenaHandle, name: &str, nodes: u64, seed: u64) {
        let spec = HouseSpec::named(name);
        match self {
            Self::Random => handle.add_house_with(&spec, OpponentKind::Random.build(seed)),
            Self::Greedy => handle.add_house_with(&spec, OpponentKind::Greedy.build(seed)),
            Self::Engine => {
                let title = Some("BOT".to_owned());
                let spec = HouseSpec { title, ..spec };
                handle.add_house_with(&spec, Arc::new(EngineOpponent::new(nodes)));
            }
        }
    }
}

/// Our own engine on the other side of the board.
struct EngineOpponent {
    /// One search at a time, if the player has several games.
    engine: Mutex<Engine>,
    nodes: u64,
}

impl EngineOpponent {
    fn new(nodes: u64) -> Self {
        let options = search::Options { hash_mb: 4, threads: 1 };
        Self { engine: Mutex::new(Engine::new(options)), nodes }
    }
}

impl Opponent for EngineOpponent {
    fn choose(&self, history: &History, time: ThinkingTime) -> Choice {
        let engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        let limits = Limits {
            nodes: Some(self.nodes),
            move_time: Some(time.limit).filter(|&limit| limit < Duration::from_hours(1)),
            ..Limits::default()
        };
        let report = engine.search_to_end(history.clone(), limits);
        report.and_then(|report| report.best).map_or(Choice::Wait, Choice::Play)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Fault;

    #[test]
    fn the_shipped_options_are_the_defaults_of_the_arena() {
        let shipped: ArenaOptions =
            settings::parse_options(OPTIONS, Path::new("config/arena.toml")).unwrap();
        assert_eq!(format!("{shipped:#?}"), format!("{:#?}", ArenaOptions::default()));
    }

    #[test]
    fn faults_are_mixed_or_read_from_a_file() {
        assert!(FaultChoice::from("none").rules().unwrap().is_empty());
        assert!(FaultChoice::from("mix").rules().unwrap().len() > 10);
        let file = tempfile::NamedTempFile::new().unwrap();
        let text = r#"faults = [{ endpoint = "move", fault = "refuse-move", rate = 0.5 }]"#;
        std::fs::write(&file, text).unwrap();
        let rules = FaultChoice::from(file.path().to_str().unwrap()).rules().unwrap();
        assert_eq!(rules[0].fault, Fault::RefuseMove);
        assert!(FaultChoice::from("no/such/file.toml").rules().is_err());
    }

    #[test]
    fn the_engine_explodes_a_king_that_it_can_reach() {
        let mut history = History::default();
        for mv in ["g1f3", "a7a6", "f3e5", "a6a5"] {
            history.play_uci(mv).unwrap();
        }
        let time = ThinkingTime {
            remaining: None,
            increment: Duration::ZERO,
            limit: Duration::from_secs(10),
        };
        let Choice::Play(mv) = EngineOpponent::new(2_000).choose(&history, time) else {
            panic!("the engine has a move");
        };
        assert!(["e5f7", "e5d7"].contains(&mv.to_string().as_str()), "{mv}");
    }
}
