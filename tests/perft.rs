//! Perft counts on which independent programs agree, to a node limit.
//!
//! The limit is 200,000 nodes for each line, which a debug build bears; the environment variable
//! `PERFT_NODES` sets another, so that `PERFT_NODES=700000000 cargo test --release --test perft`
//! runs every count in the data.

#![allow(clippy::panic, reason = "a test fails by panicking")]

use meitner::rules::{Epd, perft};

const DEFAULT_NODES: u64 = 200_000;

fn node_limit() -> u64 {
    #[expect(clippy::disallowed_methods, reason = "a test's own knob is no setting of the program")]
    let limit = std::env::var("PERFT_NODES");
    limit.map_or(DEFAULT_NODES, |text| text.parse().expect("PERFT_NODES is a number"))
}

/// Compares every count of a suite up to the node limit.
fn check_suite(suite: &str) {
    let (limit, mut lines, mut counts) = (node_limit(), 0, 0);
    for line in suite.lines() {
        let epd: Epd = line.parse().unwrap_or_else(|error| panic!("{line}: {error}"));
        lines += 1;
        for (depth, nodes) in epd.perft_counts().expect("counts are numbers") {
            if nodes <= limit {
                assert_eq!(perft(&epd.position, depth), nodes, "{line} at depth {depth}");
                counts += 1;
            }
        }
    }
    assert!(lines > 0 && counts > lines, "{lines} lines, {counts} counts");
}

#[test]
fn standard_starts() {
    check_suite(include_str!("data/atomic.epd"));
}

#[test]
fn shuffled_starts() {
    check_suite(include_str!("data/atomic960.epd"));
}
