//! The built program on SIGHUP: it reads its settings again, keeps the old ones if the new are wrong,
//! and never ends.
#![cfg(unix)]

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use meitner::arena::{
    AccountSpec, Arena, ArenaHandle, ArenaOptions, ChallengeSpec, HouseSpec, OpponentKind,
};
use tokio::{net::TcpListener, task::JoinSet, time::timeout};
use tokio_util::sync::CancellationToken;

const BOT: &str = "EmberFork";
/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// A running program, and its log line by line. It ends with this value.
struct Program {
    child: Child,
    log: mpsc::Receiver<String>,
}

impl Program {
    fn start(folder: &Path, url: &str, token: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meitner"));
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("MEITNER_") {
                command.env_remove(name);
            }
        }
        command
            .args(["run", "--config", "my.toml", "--set"])
            .arg(format!("lichess.url={url}"))
            .current_dir(folder)
            .env("MEITNER_LICHESS__TOKEN", token)
            .env("STATE_DIRECTORY", folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let (sender, log) = mpsc::channel();
        // Ends with the program.
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self { child, log }
    }

    fn hang_up(&self) {
        let id = self.child.id().to_string();
        let status = Command::new("kill").args(["-s", "HUP", &id]).status();
        assert!(status.expect("kill is there").success());
    }

    /// Waits for a line of the log that has this in it.
    fn until_log(&self, part: &str) -> String {
        loop {
            let line = self.log.recv_timeout(PATIENCE).expect(part);
            if line.contains(part) {
                return line;
            }
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn until(arena: &ArenaHandle, what: &str, condition: impl FnMut(&ArenaHandle) -> bool) {
    timeout(PATIENCE, arena.wait_until(condition)).await.expect(what);
}

fn settings(files: &str) -> String {
    format!(
        "[challenge]\nconcurrency = 4\nblock_files = [{files}]\n[search]\nhash_mb = 1\nnodes = 100\n"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hangup_changes_the_policy_and_never_ends_the_bot() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let arena = Arena::new(ArenaOptions::default());
    let handle = arena.handle();
    let token = handle.add_account(&AccountSpec::bot(BOT));
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { arena.run(listener, CancellationToken::new()).await });
    let folder = tempfile::tempdir().unwrap();
    let (file, list) = (folder.path().join("my.toml"), folder.path().join("block.txt"));
    fs::write(&file, settings("\"block.txt\"")).unwrap();
    fs::write(&list, "bore # rude\n").unwrap();
    let program = Program::start(folder.path(), &url, &token);
    until(&handle, "the bot is online", |arena| arena.is_online(BOT)).await;
    let challenge = |name: &str| {
        let house = HouseSpec { opponent: OpponentKind::Silent, ..HouseSpec::named(name) };
        handle.add_house(&house);
        handle.challenge(&ChallengeSpec::new(name, BOT)).unwrap()
    };
    challenge("bore");
    until(&handle, "the list counts", |arena| arena.counters().declined == 1).await;

    fs::write(&list, "someone\n").unwrap();
    program.hang_up();
    program.until_log("the policy is taken up");
    challenge("bore");
    until(&handle, "the new list counts", |arena| arena.counters().accepted == 1).await;

    fs::write(&list, "some one\n").unwrap();
    program.hang_up();
    let line = program.until_log("the settings are wrong, the old ones stay");
    assert!(line.contains("block.txt") && line.contains("line 1"), "{line}");
    fs::write(&file, "[challenge]\nbots = 1\n").unwrap();
    program.hang_up();
    let line = program.until_log("the settings are wrong, the old ones stay");
    assert!(line.contains("challenge.bots"), "{line}");
    challenge("someone");
    until(&handle, "the old list counts", |arena| arena.counters().declined == 2).await;

    fs::write(&file, settings("").replace("nodes = 100", "nodes = 200")).unwrap();
    program.hang_up();
    program.until_log("the policy is taken up");
    let line = program.until_log("wait for a restart");
    assert!(line.contains("search.nodes"), "{line}");
    challenge("someone");
    until(&handle, "nobody is blocked", |arena| arena.counters().accepted == 2).await;
    assert_eq!(handle.running().len(), 2, "the game before goes on");
}
