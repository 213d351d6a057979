//! The local Internet Chess Server as `arena` and `demo` use it: one computer account, and a house
//! player that challenges it again and again.

use std::{net::SocketAddr, time::Duration};

use anyhow::Context as _;
use tokio::{
    net::TcpListener,
    time::{sleep, timeout},
};

use crate::{
    arena::ics::{IcsAccount, IcsFaults, IcsHandle, IcsHouse, IcsOptions, IcsServer},
    cli::host::{BOT, FaultChoice, HostArgs},
};

/// The password of the bot's account.
pub(super) const PASSWORD: &str = "demonstration";
const HOUSE: &str = "QuietRook";
/// A challenge that is not accepted within this time will not be.
const CHALLENGE_LIFE: Duration = Duration::from_secs(21);
/// A bot that lets so many challenges in a row pass is not going to play.
const MOST_CHALLENGES: u32 = 8;

/// A server that is about to run.
pub(super) struct IcsHost {
    pub(super) server: IcsServer,
    pub(super) listener: TcpListener,
    pub(super) port: u16,
    pub(super) club: IcsClub,
}

/// The house player, and the games that it asks for.
pub(super) struct IcsClub {
    pub(super) handle: IcsHandle,
    minutes: u64,
    increment: u128,
    /// How long a finished game is left on the board.
    pub(super) pause: Duration,
}

impl IcsHost {
    /// Opens a server there, with this password for the bot.
    pub(super) async fn open(
        args: &HostArgs,
        address: SocketAddr,
        password: &str,
    ) -> anyhow::Result<Self> {
        let faults = match &args.faults {
            FaultChoice::None => IcsFaults::default(),
            FaultChoice::Mix => IcsFaults::MIX,
            FaultChoice::File(_) => anyhow::bail!("on FICS --faults takes no file"),
        };
        let seed = args.seed.unwrap_or(1);
        let server = IcsServer::new(IcsOptions { seed, faults, ..IcsOptions::default() });
        let handle = server.handle();
        handle.add_account(&IcsAccount {
            name: BOT.to_owned(),
            password: password.to_owned(),
            is_computer: true,
            rating: 1900,
        });
        handle.add_house(IcsHouse::new(HOUSE, args.opponent()));
        let listener = TcpListener::bind(address)
            .await
            .with_context(|| format!("cannot listen on {address}"))?;
        let port = listener.local_addr()?.port();
        let club = IcsClub {
            handle,
            minutes: args.time.initial.as_secs().div_ceil(60).max(1),
            increment: args.time.increment.as_millis().div_ceil(1000),
            pause: Duration::ZERO,
        };
        Ok(Self { server, listener, port, club })
    }
}

impl IcsClub {
    /// The time control as a text.
    pub(super) fn time(&self) -> String {
        format!("{}+{}", 60 * self.minutes, self.increment)
    }

    /// Lets the house player challenge the bot until `games` have been played; without a number, for
    /// ever.
    pub(super) async fn play(&self, games: Option<u32>) -> anyhow::Result<()> {
        for nth in 0_u32.. {
            if games.is_some_and(|games| nth >= games) {
                break;
            }
            self.play_one(if nth % 2 == 0 { "black" } else { "white" }).await?;
            sleep(self.pause).await;
        }
        Ok(())
    }

    /// Plays one game to its end, however often it is adjourned in between.
    async fn play_one(&self, color: &str) -> anyhow::Result<()> {
        let before = self.handle.finished().len();
        let is_over = |server: &IcsHandle| server.finished().len() > before;
        let is_on = |server: &IcsHandle| {
            !server.running().is_empty() || server.adjourned() > 0 || is_over(server)
        };
        let (minutes, increment) = (self.minutes, self.increment);
        for _ in 0..MOST_CHALLENGES {
            self.handle.wait_until(|server| server.is_open(BOT)).await;
            let line = format!("match {BOT} {minutes} {increment} unrated {color} atomic");
            self.handle.command(HOUSE, &line);
            if timeout(CHALLENGE_LIFE, self.handle.wait_until(is_on)).await.is_ok() {
                self.handle.wait_until(is_over).await;
                return Ok(());
            }
            self.handle.command(HOUSE, "withdraw");
        }
        anyhow::bail!("the bot has let {MOST_CHALLENGES} challenges pass")
    }
}
