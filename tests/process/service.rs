//! What the running program tells a service manager: a datagram socket stands for it.

use std::{io::ErrorKind, os::unix::net::UnixDatagram, time::Instant};

use crate::harness::{PATIENCE, Program, Site};

/// The manager's end of the socket.
struct Manager {
    socket: UnixDatagram,
    told: Vec<String>,
}

impl Manager {
    /// Waits for a line that begins like this, and returns the rest of it.
    fn until(&mut self, begin: &str) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(rest) = self.told.iter().find_map(|line| line.strip_prefix(begin)) {
                return rest.to_owned();
            }
            assert!(Instant::now() < until, "no {begin} in {:?}", self.told);
            let mut bytes = [0; 4096];
            let length = self.socket.recv(&mut bytes).expect("a message in time");
            let text = String::from_utf8_lossy(&bytes[..length]);
            self.told.extend(text.lines().map(str::to_owned));
        }
    }
}

/// Starts the program as systemd does, with a watchdog.
fn start(site: &Site, token: &str) -> (Program, Manager) {
    let path = site.folder().join("notify");
    let socket = UnixDatagram::bind(&path).expect("a socket");
    socket.set_read_timeout(Some(PATIENCE)).expect("a limit");
    let mut command = site.command(token, &[]);
    command.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "4000000").env_remove("WATCHDOG_PID");
    let mut program = Program::new(command);
    program.follow_log();
    (program, Manager { socket, told: Vec::new() })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_service_manager_is_told_how_the_bot_is() {
    let site = Site::open().await;
    let (program, mut manager) = start(&site, &site.token);
    manager.until("READY=1");
    let status = manager.until("STATUS=0 games, 0 today; lichess up");
    assert!(status.starts_with(" for "), "{status}");
    assert!(!manager.told.contains(&"STOPPING=1".to_owned()), "{:?}", manager.told);
    manager.told.clear();
    manager.until("WATCHDOG=1");
    program.signal("TERM");
    let (status, log) = program.end();
    assert!(status.success(), "{log}");
    manager.until("STOPPING=1");
    manager.until("STATUS=closing; ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_manager_that_takes_nothing_does_not_hold_up_the_end() {
    let site = Site::open().await;
    let path = site.folder().join("notify");
    let _deaf = UnixDatagram::bind(&path).expect("a socket");
    let filler = UnixDatagram::unbound().expect("a socket");
    filler.set_nonblocking(true).expect("a socket");
    let full = loop {
        if let Err(error) = filler.send_to(b"full", &path) {
            break error.kind();
        }
    };
    assert_eq!(full, ErrorKind::WouldBlock, "whoever sends now waits");
    let mut command = site.command(&site.token, &[]);
    command.env("NOTIFY_SOCKET", &path);
    let mut program = Program::new(command);
    program.follow_log();
    site.until_online().await;
    program.signal("TERM");
    let (status, log) = program.end();
    assert!(status.success(), "{log}");
    assert!(log.contains("the service manager cannot be told how we are"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_not_accepted_fails_the_start() {
    let site = Site::open().await;
    let (program, mut manager) = start(&site, "lip_wrongToken0000");
    let (status, log) = program.end();
    assert_eq!(status.code(), Some(3), "{log}");
    manager.socket.set_nonblocking(true).expect("a socket");
    let mut bytes = [0; 4096];
    while let Ok(length) = manager.socket.recv(&mut bytes) {
        manager.told.push(String::from_utf8_lossy(&bytes[..length]).into_owned());
    }
    assert!(!manager.told.iter().any(|text| text.contains("READY=1")), "{:?}", manager.told);
}
