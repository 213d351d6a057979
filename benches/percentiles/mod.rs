//! Prints the percentiles of measured times.

use std::time::Duration;

/// One line: what was measured, how often, and the 50th, 90th, 99th and 100th percentile.
pub(crate) fn print(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let percentile = |percent: usize| times[(times.len() - 1) * percent / 100];
    println!(
        "{what}, {} samples: p50 {:?}, p90 {:?}, p99 {:?}, most {:?}",
        times.len(),
        percentile(50),
        percentile(90),
        percentile(99),
        percentile(100)
    );
}
