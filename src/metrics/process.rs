//! What this process holds of the system, under the names that all programs use for it. Read when it is
//! asked for, from the files of Linux under `/proc/self`; elsewhere it is not told.

use std::{fmt, sync::atomic::AtomicU64};

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{
        counter::ConstCounter,
        gauge::{ConstGauge, Gauge},
    },
    registry::Registry,
};

use crate::metrics::unix_now;

/// Registers them.
pub(super) fn register(registry: &mut Registry) {
    let started = Gauge::<f64, AtomicU64>::default();
    started.set(unix_now());
    registry.register(
        "process_start_time_seconds",
        "When the program was started, since 1970",
        started,
    );
    registry.register_collector(Box::new(Process));
}

#[derive(Debug)]
struct Process;

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let Some(usage) = usage() else { return Ok(()) };
        let cpu = ConstCounter::new(usage.cpu_s);
        tell(&mut encoder, "process_cpu_seconds", "Time of processors that was used", &cpu)?;
        let gauges = [
            ("process_resident_memory_bytes", "Memory in use", usage.memory),
            ("process_threads", "Threads", usage.threads),
            ("process_open_fds", "Open file handles", usage.handles),
        ];
        for (name, help, value) in gauges {
            tell(&mut encoder, name, help, &ConstGauge::new(value))?;
        }
        Ok(())
    }
}

fn tell(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    metric: &impl EncodeMetric,
) -> fmt::Result {
    metric.encode(encoder.encode_descriptor(name, help, None, metric.metric_type())?)
}

struct Usage {
    cpu_s: f64,
    memory: u64,
    threads: u64,
    handles: u64,
}

#[cfg(target_os = "linux")]
fn usage() -> Option<Usage> {
    let process = procfs::process::Process::myself().ok()?;
    let stat = process.stat().ok()?;
    #[expect(clippy::cast_precision_loss, reason = "enough digits for 285 million years")]
    let seconds = |ticks: u64| ticks as f64 / procfs::ticks_per_second() as f64;
    Some(Usage {
        cpu_s: seconds(stat.utime + stat.stime),
        memory: stat.rss * procfs::page_size(),
        threads: u64::try_from(stat.num_threads).unwrap_or_default(),
        handles: u64::try_from(process.fd_count().ok()?).unwrap_or_default(),
    })
}

#[cfg(not(target_os = "linux"))]
fn usage() -> Option<Usage> {
    None
}

#[cfg(test)]
mod tests {
    use crate::metrics::Metrics;

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_is_told() {
        let text = Metrics::new().text();
        let value =
            text.lines().find_map(|line| line.strip_prefix("process_resident_memory_bytes "));
        let bytes: u64 = value.expect("it is told").parse().expect("a number");
        assert!(bytes > 1 << 20, "{bytes}");
        assert!(text.contains("\nprocess_cpu_seconds_total "), "{text}");
    }
}
