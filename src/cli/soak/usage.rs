//! What this process holds of the system.

use std::{
    fs,
    time::{Duration, Instant},
};

use tokio::time::sleep;

/// How often it is looked whether handles have been closed.
const PAUSE: Duration = Duration::from_millis(20);

/// Memory and file handles of this process at a moment; `None` where the system does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Usage {
    /// Resident memory, in KiB.
    pub(super) memory_kib: Option<u64>,
    /// Open file handles.
    pub(super) handles: Option<usize>,
}

impl Usage {
    /// As it is now, by the files of Linux under `/proc/self`.
    pub(super) fn now() -> Self {
        let status = fs::read_to_string("/proc/self/status").ok();
        let handles = fs::read_dir("/proc/self/fd").ok();
        Self {
            memory_kib: status.as_deref().and_then(resident),
            // The folder itself is open while it is read.
            handles: handles.map(|entries| entries.count().saturating_sub(1)),
        }
    }

    /// As it is when no more than so many handles are open, or after this time: connections are closed
    /// in the background.
    pub(super) async fn after_closing(handles: Option<usize>, limit: Duration) -> Self {
        let until = Instant::now() + limit;
        loop {
            let usage = Self::now();
            if usage.handles <= handles || Instant::now() >= until {
                return usage;
            }
            sleep(PAUSE).await;
        }
    }
}

/// The line `VmRSS:     12345 kB` of a process' status.
fn resident(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resident_memory_is_read() {
        assert_eq!(resident("Name:\tmeitner\nVmRSS:\t   12345 kB\nThreads:\t1\n"), Some(12_345));
        assert_eq!(resident("Name:\tmeitner\n"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_open_file_is_counted() {
        let before = Usage::now();
        assert!(before.memory_kib.is_some_and(|memory| memory > 100));
        // Other tests open and close files meanwhile, but not so many.
        let files: Vec<_> =
            (0..500).map(|_| fs::File::open("/proc/self/status").expect("it is there")).collect();
        assert!(Usage::now().handles > before.handles);
        drop(files);
    }
}
