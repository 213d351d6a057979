//! One client's connection: the login, its lines, and what is sent to it, with faults.

use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use crate::arena::ics::{
    options::IcsFaults,
    outbox::{End, Outbox},
    seal::{self, Version},
    state::{Session, Shared},
};

const BANNER: &str = "\n\r          A local Internet Chess Server for atomic\n\r\n\r\
    If you are not a registered player, enter the login name \"guest\".\n\r\n\rlogin: ";
const LOGIN_LIMIT: Duration = Duration::from_mins(2);
/// No game of ours lasts so long.
const FOREVER: Duration = Duration::from_hours(24 * 365);
/// A client's line that is longer ends the connection.
const MAX_LINE: usize = 2048;
/// What a wrong password costs.
const PENALTY: Duration = Duration::from_millis(100);

/// How far a client has come.
enum Stage {
    Name,
    Password { name: String },
    Return { name: String },
    In { key: String },
}

struct Connection {
    shared: Arc<Shared>,
    outbox: Arc<Outbox>,
    stage: Stage,
    seal: Option<Version>,
    is_first_line: bool,
}

/// Serves a client until one of both sides ends it.
pub(super) async fn serve(shared: Arc<Shared>, stream: TcpStream, shutdown: CancellationToken) {
    let outbox = Arc::new(Outbox::default());
    shared.change(|state| state.counters.connections += 1);
    let (reader, writer) = stream.into_split();
    let mut connection = Connection {
        shared: Arc::clone(&shared),
        outbox: Arc::clone(&outbox),
        stage: Stage::Name,
        seal: None,
        is_first_line: true,
    };
    outbox.push(BANNER);
    tokio::select! {
        result = connection.read(reader) => {
            if let Err(error) = result {
                tracing::debug!(%error, "a client's connection broke");
            }
        }
        () = send(&shared, &outbox, writer) => {}
        () = shutdown.cancelled() => {}
    }
    connection.leave();
}

impl Connection {
    async fn read(&mut self, mut reader: OwnedReadHalf) -> io::Result<()> {
        let mut line = Vec::new();
        let mut buffer = [0; 4096];
        let deadline = Instant::now() + LOGIN_LIMIT;
        loop {
            let left = match self.stage {
                Stage::In { .. } => FOREVER,
                _ => deadline.saturating_duration_since(Instant::now()),
            };
            let Ok(count) = timeout(left, reader.read(&mut buffer)).await else {
                self.outbox.push("\n\r**** LOGIN TIMEOUT ****\n\r");
                self.outbox.end(End::Closed);
                return std::future::pending().await;
            };
            let count = count?;
            if count == 0 {
                return Ok(());
            }
            for &byte in &buffer[..count] {
                if byte == b'\n' {
                    let line = std::mem::take(&mut line);
                    if !self.on_line(&line).await {
                        self.outbox.end(End::Closed);
                        return std::future::pending().await;
                    }
                } else if line.len() < MAX_LINE {
                    line.push(byte);
                } else {
                    return Ok(());
                }
            }
        }
    }

    /// Takes a line as it came; false ends the connection.
    async fn on_line(&mut self, raw: &[u8]) -> bool {
        let raw = raw.strip_suffix(b"\r").unwrap_or(raw);
        if std::mem::take(&mut self.is_first_line)
            && let Some(version) = seal::hello(raw)
        {
            self.seal = Some(version);
            return true;
        }
        let sealed = self.seal.map(|_| seal::decode(raw));
        let (line, stamp_ms) = match sealed {
            None => (raw.to_vec(), None),
            Some(Some(sealed)) => (sealed.line, Some(sealed.stamp_ms)),
            Some(None) => {
                self.outbox.push("\n\rtimeseal error\n\r");
                return false;
            }
        };
        if line == b"\x029" {
            self.on_pong(stamp_ms);
            return true;
        }
        let line: String = line.into_iter().map(char::from).collect();
        match &self.stage {
            Stage::In { key } => {
                let outbox = &self.outbox;
                self.shared.change(|state| {
                    let answer = state.answer(key, &line, stamp_ms, Instant::now());
                    outbox.push(answer.into_bytes());
                });
                true
            }
            Stage::Name => self.on_name(line.trim()),
            Stage::Password { name } => {
                let name = name.clone();
                self.on_password(&name, &line).await
            }
            Stage::Return { name } => {
                let name = name.clone();
                self.enter(&name);
                true
            }
        }
    }

    fn on_pong(&mut self, stamp_ms: Option<u64>) {
        let Stage::In { key } = &self.stage else { return };
        self.shared.change(|state| {
            state.counters.pongs += 1;
            let session = state.players.get_mut(key).and_then(|player| player.session.as_mut());
            if let Some(session) = session {
                session.pong_ms = stamp_ms;
            }
        });
    }

    fn on_name(&mut self, name: &str) -> bool {
        let known = {
            let state = self.shared.read();
            let player = state.players.get(&name.to_lowercase());
            player.filter(|player| player.password.is_some()).map(|player| player.name.clone())
        };
        if let Some(name) = known {
            self.outbox.push(format!(
                "\n\r\"{name}\" is a registered name.  If it is yours, type the password.\n\r\
                 If not, just hit return to try another name.\n\r\n\rpassword: "
            ));
            self.outbox.push(vec![0xff, 0xfb, 0x01]);
            self.stage = Stage::Password { name };
        } else if name.eq_ignore_ascii_case("guest") {
            if !self.shared.read().options.admits_guests {
                self.outbox
                    .push("\n\rSorry, guest connections have been prevented for the moment.\n\r");
                return false;
            }
            let name = self.shared.change(super::state::State::guest_name);
            self.outbox.push(format!(
                "\n\rLogging you in as \"{name}\"; you may use this name to play unrated games.\n\r\
                 \n\rPress return to enter the server as \"{name}\":\n\r"
            ));
            self.stage = Stage::Return { name };
        } else {
            self.outbox.push(
                "\n\rNames should only consist of lower and upper case letters.  Try again.\n\r\
                 \n\rlogin: ",
            );
        }
        true
    }

    async fn on_password(&mut self, name: &str, line: &str) -> bool {
        let is_right = {
            let state = self.shared.read();
            let player = state.players.get(&name.to_lowercase());
            player.is_some_and(|player| player.password.as_deref() == Some(line))
        };
        self.outbox.push(vec![0xff, 0xfc, 0x01]);
        if is_right {
            self.enter(name);
            return true;
        }
        tokio::time::sleep(PENALTY).await;
        self.outbox.push("\n\r**** Invalid password! ****\n\r\n\rlogin: ");
        self.stage = Stage::Name;
        true
    }

    fn enter(&mut self, name: &str) {
        let session = Session::new(Arc::clone(&self.outbox), self.seal);
        let outbox = &self.outbox;
        self.shared.change(|state| {
            let text = state.log_in(name, session);
            outbox.push(text);
        });
        self.stage = Stage::In { key: name.to_lowercase() };
    }

    /// Logs the client out, unless another connection has taken its place.
    fn leave(&self) {
        let Stage::In { key } = &self.stage else { return };
        self.shared.change(|state| {
            let Some(player) = state.players.get_mut(key) else { return };
            let is_ours = player
                .session
                .as_ref()
                .is_some_and(|session| Arc::ptr_eq(&session.outbox, &self.outbox));
            if is_ours {
                player.session = None;
                state.lose(key, Instant::now());
            }
        });
    }
}

/// Sends what waits, until it ends.
async fn send(shared: &Shared, outbox: &Outbox, mut writer: OwnedWriteHalf) {
    loop {
        match outbox.next().await {
            Ok(piece) => match send_piece(shared, piece, &mut writer).await {
                Ok(true) => {}
                Ok(false) | Err(_) => return,
            },
            Err(End::Closed) => {
                // If it fails the client is gone, which is as good.
                let _gone = writer.shutdown().await;
                return;
            }
            Err(End::Cut) => return,
        }
    }
}

/// Sends a piece with what goes wrong on its way; false when the connection is cut by that.
async fn send_piece(
    shared: &Shared,
    piece: Vec<u8>,
    writer: &mut OwnedWriteHalf,
) -> io::Result<bool> {
    // The dialogue of the login is short, and nothing but a session is worth a fault.
    let is_text_of_session = piece.ends_with(b"fics% ");
    let (strikes, cut_at, number) = {
        let mut state = shared.read();
        let IcsFaults { cut, split, chatter, long_line, garbage, delay } = state.options.faults;
        let strikes = [cut, split, chatter, long_line, garbage, delay]
            .map(|rate| is_text_of_session && rate > 0.0 && state.rng.f64() < rate);
        let number = state.rng.u32(..);
        (strikes, state.rng.usize(..=piece.len()), number)
    };
    let [cut, split, chatter, long_line, garbage, delay] = strikes;
    if delay {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    if chatter {
        writer.write_all(chatter_of(number).as_bytes()).await?;
    }
    if long_line {
        let line = format!("\n\rTalker(U)(50): {}\n\rfics% ", "bla ".repeat(2_500));
        writer.write_all(line.as_bytes()).await?;
    }
    if garbage {
        writer
            .write_all(b"\n\rTalker(50): \xc3\x28\xff\xfb\x01\xfe\xfe\x80\x07\x00\n\rfics% ")
            .await?;
    }
    if cut {
        writer.write_all(&piece[..cut_at]).await?;
        shared.change(|state| state.counters.cuts += 1);
        return Ok(false);
    }
    if split {
        for byte in piece.chunks(1) {
            writer.write_all(byte).await?;
            tokio::task::yield_now().await;
        }
    } else {
        writer.write_all(&piece).await?;
    }
    Ok(true)
}

/// What other people say, some of it made to look like something else.
fn chatter_of(number: u32) -> String {
    let line = match number % 10 {
        0 => "Talker(53): {Game 1 (A vs. B) B resigns} 1-0",
        1 => "Talker(U)(50): <12> rnbqkbnr pppppppp",
        2 => "--> Talker shouts to everybody",
        3 => "{Game 77 (Somebody vs. Nobody) Creating rated blitz match.}",
        4 => "{Game 77 (Somebody vs. Nobody) Nobody forfeits on time} 1-0",
        5 => "Talker(1650)[12] kibitzes: Illegal move (e2e4).",
        6 => "--> Talker shouts: I was banned, the server is full",
        7 => "Talker(TD) c-shouts: guest connections have been prevented",
        8 => "    **ANNOUNCEMENT** from Talker: Nobody was banned.",
        _ => {
            "<12> rnbqkbnr pppppppp -------- -------- ----P--- -------- PPPP-PPP RNBQKBNR B 4 1 1 1 \
              1 0 99 Somebody Nobody 0 3 0 39 39 180000 180000 1 P/e2-e4 (0:00.000) e4 0 0 0"
        }
    };
    format!("\n\r{line}\n\rfics% ")
}
