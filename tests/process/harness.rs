//! An arena, and the built program as a process of its own that plays in it.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use meitner::{
    arena::{
        AccountSpec, Arena, ArenaHandle, ArenaOptions, ChallengeSpec, ColorChoice, HouseAction,
        HouseSpec, OpponentKind,
        ics::{IcsAccount, IcsHandle, IcsOptions, IcsServer},
    },
    rules::History,
};
use tempfile::TempDir;
use tokio::{net::TcpListener, task::JoinSet, time::timeout};
use tokio_util::sync::CancellationToken;

pub(crate) const BOT: &str = "EmberFork";
/// Its password where one is needed.
pub(crate) const PASSWORD: &str = "RecognisableSecret";
/// Longer than anything here takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);

/// A running arena, and a folder for the program's files.
pub(crate) struct Site {
    pub(crate) arena: ArenaHandle,
    pub(crate) url: String,
    pub(crate) token: String,
    folder: TempDir,
    _tasks: JoinSet<()>,
}

impl Site {
    pub(crate) async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let arena = Arena::new(ArenaOptions::default());
        let handle = arena.handle();
        let token = handle.add_account(&AccountSpec::bot(BOT));
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { arena.run(listener, CancellationToken::new()).await });
        let folder = tempfile::tempdir().expect("a temporary folder");
        Self { arena: handle, url, token, folder, _tasks: tasks }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file into the program's folder.
    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.folder().join(name), text).expect("a file");
    }

    /// Starts the program with the bot's token and these arguments.
    pub(crate) fn start(&self, arguments: &[&str]) -> Program {
        let mut program = Program::new(self.command(&self.token, arguments));
        program.follow_log();
        program
    }

    /// `meitner run` with this token, in a folder of its own and without variables of ours.
    pub(crate) fn command(&self, token: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meitner"));
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("MEITNER_") {
                command.env_remove(name);
            }
        }
        command
            .args(["run", "--set"])
            .arg(format!("lichess.url={}", self.url))
            .args(["--set", "search.hash_mb=1", "--set", "search.nodes=100"])
            .args(arguments)
            .current_dir(self.folder())
            .env("MEITNER_LICHESS__TOKEN", token)
            .env("STATE_DIRECTORY", self.folder())
            .env_remove("NOTIFY_SOCKET")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) async fn until(&self, what: &str, condition: impl FnMut(&ArenaHandle) -> bool) {
        timeout(PATIENCE, self.arena.wait_until(condition)).await.expect(what);
    }

    pub(crate) async fn until_online(&self) {
        self.until("the bot is online", |arena| arena.is_online(BOT)).await;
    }

    /// Lets a player that moves only when it is told challenge the bot, with White.
    pub(crate) fn challenge(&self, player: &str) -> String {
        let house = HouseSpec { opponent: OpponentKind::Silent, ..HouseSpec::named(player) };
        self.arena.add_house(&house);
        let spec = ChallengeSpec::new(player, BOT).color(ColorChoice::White);
        self.arena.challenge(&spec).expect("a challenge")
    }

    pub(crate) async fn until_begun(&self, game: &str) {
        self.until("the game begins", |arena| arena.game(game).is_some()).await;
    }

    /// Waits until a game has so many moves.
    pub(crate) async fn until_moves(&self, game: &str, count: usize) {
        let has_moves =
            |arena: &ArenaHandle| arena.game(game).is_some_and(|game| game.moves.len() >= count);
        self.until("moves are played", has_moves).await;
    }

    /// The house moves and the bot answers, so often.
    pub(crate) async fn play_on(&self, game: &str, moves: usize) {
        for _ in 0..moves {
            let count = self.house_moves(game);
            self.until_moves(game, count + 1).await;
        }
    }

    /// Moves for the house: any legal move that does not end the game. Returns how many moves there
    /// are with it.
    pub(crate) fn house_moves(&self, game: &str) -> usize {
        let moves = self.arena.game(game).expect("the game").moves;
        let mut history = History::default();
        for uci in &moves {
            history.play_uci(uci).expect("a legal game");
        }
        let position = history.position();
        let quiet = position.legal_moves().into_iter().find(|&mv| {
            let mut next = history.clone();
            next.play_uci(&mv.to_string()).expect("a legal move");
            next.outcome().is_none()
        });
        let mv = quiet.expect("a quiet move").to_string();
        self.arena.act(game, &HouseAction::Move(mv)).expect("a legal move");
        moves.len() + 1
    }
}

/// A server like FICS, on which the bot has the password.
pub(crate) async fn open_fics(tasks: &mut JoinSet<()>) -> (IcsHandle, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let server = IcsServer::new(IcsOptions::default());
    let handle = server.handle();
    handle.add_account(&IcsAccount {
        name: BOT.to_owned(),
        password: PASSWORD.to_owned(),
        is_computer: true,
        rating: 1900,
    });
    tasks.spawn(async move {
        server.run(listener, CancellationToken::new()).await;
    });
    (handle, port)
}

/// A running program. It ends with this value.
pub(crate) struct Program {
    child: Child,
    /// Its log line by line, if it is read.
    log: Option<mpsc::Receiver<String>>,
}

impl Program {
    /// Starts it, and leaves its log unread.
    pub(crate) fn new(mut command: Command) -> Self {
        Self { child: command.spawn().expect("the program starts"), log: None }
    }

    /// Reads the log from now on.
    pub(crate) fn follow_log(&mut self) {
        let lines = BufReader::new(self.child.stderr.take().expect("a pipe")).lines();
        let (sender, log) = mpsc::channel();
        // Ends with the program.
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        self.log = Some(log);
    }

    /// Waits for a line of the log that has this in it.
    pub(crate) fn until_log(&self, part: &str) -> String {
        let log = self.log.as_ref().expect("the log is read");
        loop {
            let line = log.recv_timeout(PATIENCE).expect(part);
            if line.contains(part) {
                return line;
            }
        }
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let status = Command::new("kill").args(["-s", name, &id]).status();
        assert!(status.expect("kill is there").success());
    }

    /// Waits for the end, with the log up to then, or what of it had room in the pipe.
    pub(crate) fn end(mut self) -> (ExitStatus, String) {
        let until = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child can be waited for") {
                break status;
            }
            assert!(Instant::now() < until, "process {} does not end", self.child.id());
            thread::yield_now();
        };
        let lines: Vec<String> = self.log.take().into_iter().flatten().collect();
        let mut log = lines.join("\n");
        if let Some(mut pipe) = self.child.stderr.take() {
            pipe.read_to_string(&mut log).expect("text");
        }
        (status, log)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
