//! Every byte of a connection in a file, for whoever wants to know what a server really says. A thread
//! of its own writes it, so that no move waits for the disk; passwords are left out. Others cannot read
//! it, and it does not grow without end.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    time::Instant,
};

use tokio::runtime::Handle;
use tracing::warn;
use tracing_appender::non_blocking::{NonBlocking, WorkerGuard};

/// A file of so many bytes is full: it is kept as `….old`, in place of the one before, and a new one
/// begins.
const FULL: u64 = 64 << 20;

/// Where the bytes go. Dropping it writes what is still to be written.
#[derive(Debug)]
pub(super) struct RawLog {
    writer: NonBlocking,
    guard: Option<WorkerGuard>,
    opened: Instant,
}

impl RawLog {
    /// Goes on with a file, or begins it. Without it the connection works as well, so that a failure is
    /// told and no more.
    pub(super) fn open(path: &Path) -> Option<Self> {
        match Rotating::open(path, FULL) {
            Ok(file) => {
                let (writer, guard) = tracing_appender::non_blocking(file);
                Some(Self { writer, guard: Some(guard), opened: Instant::now() })
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

impl Drop for RawLog {
    fn drop(&mut self) {
        let guard = self.guard.take();
        // It waits for the disk, which the runtime's threads must not.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn_blocking(move || drop(guard));
        }
    }
}

/// A file that is put aside when it is full.
struct Rotating {
    path: PathBuf,
    file: File,
    /// In bytes; nothing for what is no regular file, which is never full.
    length: Option<u64>,
    full: u64,
}

impl Rotating {
    fn open(path: &Path, full: u64) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
        let kind = file.metadata()?;
        let length = kind.is_file().then_some(kind.len());
        Ok(Self { path: path.to_owned(), file, length, full })
    }
}

impl Write for Rotating {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.length.is_some_and(|length| length >= self.full) {
            let mut old = self.path.clone().into_os_string();
            old.push(".old");
            fs::rename(&self.path, old)?;
            *self = Self::open(&self.path, self.full)?;
        }
        let count = self.file.write(bytes)?;
        self.length = self.length.map(|length| length + count as u64);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
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
    fn a_full_file_is_put_aside_and_nobody_else_reads_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("raw");
        let mut file = Rotating::open(&path, 5).unwrap();
        for line in ["one\n", "two\n", "three\n", "four\n"] {
            file.write_all(line.as_bytes()).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "four\n");
        let old = fs::read_to_string(folder.path().join("raw.old")).unwrap();
        assert_eq!(old, "three\n");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_file_that_cannot_be_written_is_done_without() {
        assert!(RawLog::open(Path::new("/proc/none/raw")).is_none());
    }
}
