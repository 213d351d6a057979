//! Every byte of a connection in a file, for whoever wants to know what a server really says. A thread
//! of its own writes it, so that no move waits for the disk; passwords are left out.

use std::{fs::OpenOptions, io, io::Write as _, path::Path, time::Instant};

use tracing::warn;
use tracing_appender::non_blocking::{NonBlocking, WorkerGuard};

/// Where the bytes go. Dropping it writes what is still to be written.
#[derive(Debug)]
pub(super) struct RawLog {
    writer: NonBlocking,
    _guard: WorkerGuard,
    opened: Instant,
}

impl RawLog {
    /// Goes on with a file, or begins it. Without it the connection works as well, so that a failure is
    /// told and no more.
    pub(super) fn open(path: &Path) -> Option<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path);
        match file {
            Ok(file) => {
                let (writer, guard) = tracing_appender::non_blocking(file);
                Some(Self { writer, _guard: guard, opened: Instant::now() })
            }
            Err(error) => {
                warn!(path = %path.display(), %error, "the raw log cannot be opened, going on without");
                None
            }
        }
    }

    /// Bytes came in.
    pub(super) fn heard(&mut self, bytes: &[u8]) {
        self.write('<', bytes);
    }

    /// A line goes out.
    pub(super) fn said(&mut self, line: &str) {
        self.write('>', line.as_bytes());
    }

    /// A line of the file: the seconds since the connection, the direction, and the bytes.
    fn write(&mut self, direction: char, bytes: &[u8]) {
        let at = self.opened.elapsed().as_secs_f64();
        let line = format!("{at:9.3} {direction} {}\n", bytes.escape_ascii());
        // What the thread cannot take is lost, which it counts; nothing here waits for it.
        let _: io::Result<()> = self.writer.write_all(line.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_directions_are_written_and_the_file_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("raw");
        for _ in 0..2 {
            let mut log = RawLog::open(&path).unwrap();
            log.heard(b"\n\rlogin: \xff\xfb\x01");
            log.said("guest");
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().map(|line| &line[10..]).collect();
        let expected = [r"< \n\rlogin: \xff\xfb\x01", "> guest"];
        assert_eq!(lines, [expected, expected].concat());
    }

    #[test]
    fn a_file_that_cannot_be_written_is_done_without() {
        assert!(RawLog::open(Path::new("/proc/none/raw")).is_none());
    }
}
