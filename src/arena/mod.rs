//! A local server that speaks the lichess Bot API, with house opponents and faults on demand; and
//! another one, [`ics`], that speaks the protocol of FICS.
//!
//! Written from the published API, and on purpose without the client's own types: a server that
//! shared them would agree with the client's mistakes. It plays real games with real clocks over
//! real HTTP, so that the whole bot can be tested, and shown, without a network.
//!
//! Not here: other variants than atomic, the server's AI, and anything that needs storage; the
//! arena forgets everything when it ends.
//!
//! ```no_run
//! use meitner::arena::{AccountSpec, Arena, ArenaOptions, ChallengeSpec, HouseSpec};
//! use tokio::{net::TcpListener, task::JoinSet};
//! use tokio_util::sync::CancellationToken;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let listener = TcpListener::bind("127.0.0.1:0").await?;
//! let base_url = format!("http://{}", listener.local_addr()?);
//! let arena = Arena::new(ArenaOptions::default());
//! let handle = arena.handle();
//! let token = handle.add_account(&AccountSpec::bot("EmberFork"));
//! handle.add_house(&HouseSpec::named("QuietRook7"));
//! let shutdown = CancellationToken::new();
//! let mut tasks = JoinSet::new();
//! tasks.spawn(arena.run(listener, shutdown.clone()));
//! // … point a bot at `base_url` with `token` …
//! handle.challenge(&ChallengeSpec::new("QuietRook7", "EmberFork"))?;
//! handle.wait_until(|arena| !arena.finished().is_empty()).await;
//! shutdown.cancel();
//! # Ok(())
//! # }
//! ```

mod account;
mod agenda;
mod api;
mod challenge;
mod chat;
mod connection;
mod counters;
mod export;
mod faults;
mod form;
mod game;
mod handle;
mod house;
pub mod ics;
mod lag;
mod limits;
mod line;
mod mix;
mod opponent;
mod options;
mod play;
mod port;
mod quota;
mod reception;
mod recorder;
mod server;
mod state;
mod stream;
mod time_control;
mod tournament;

pub use account::{AccountSpec, Scope, Takebacks};
pub use challenge::{ChallengeSpec, ChallengeStatus, ColorChoice};
pub use chat::Room;
pub use counters::Counters;
pub use faults::{Endpoint, Fault, FaultPlan, FaultRule};
pub use game::GameSnapshot;
pub use handle::{ArenaError, ArenaHandle};
pub use house::{HouseAction, HouseSpec};
pub use mix::mixed_faults;
pub use opponent::{
    Choice, GreedyOpponent, Opponent, OpponentKind, RandomOpponent, ScriptedOpponent,
    SilentOpponent, ThinkingTime,
};
pub use options::ArenaOptions;
pub use reception::{Acceptance, DeclineRule};
pub use recorder::Recorded;
pub use server::Arena;
pub use tournament::{TournamentPlayer, TournamentSnapshot, TournamentSpec};
