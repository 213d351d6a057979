//! Timeseal: what stamps each line of ours with our own clock, so that the server can leave the way
//! out of the account (section 5 of the FICS notes).
//!
//! Pure: the stamp is an argument. It has to be the truth; whoever calls this takes it from a
//! monotonic clock and never alters it. Reading what was encoded is the server's part and not here.

use std::time::{Duration, Instant};

/// Which of the two forms is spoken. They differ in the hello and in the ping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Version {
    /// `TIMESTAMP|…`; a ping is a line `[G]`.
    V1,
    /// `TIMESEAL2|…`; a ping is `[G]` and a zero byte, anywhere.
    V2,
}

/// The fifty bytes that each byte of a line is mixed with.
const KEY: &[u8; 50] = b"Timestamp (FICS) v1.0 - programmed by Henrik Gram.";
/// Lines are padded to a multiple of this and shuffled in groups of it.
const GROUP: usize = 12;
/// The pairs that change places in each group.
const SWAPS: [(usize, usize); 3] = [(0, 11), (2, 9), (4, 7)];
/// What stands between a line and its stamp, and behind the stamp.
const BEFORE_STAMP: u8 = 0x18;
const AFTER_STAMP: u8 = 0x19;
const FILLER: u8 = b'1';
/// What the answer to a ping says.
pub const PONG: &str = "\u{2}9";

/// Stamps and encodes the lines of one connection.
#[derive(Clone, Debug)]
pub struct Seal {
    version: Version,
    started: Instant,
}

impl Seal {
    /// A seal whose stamps count from `started`.
    pub fn new(version: Version, started: Instant) -> Self {
        Self { version, started }
    }

    /// Which form is spoken.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The first line of a connection, which must go out before anything is read. Both names are
    /// free texts without `|`.
    pub fn hello(&self, user: &str, system: &str) -> String {
        let word = match self.version {
            Version::V1 => "TIMESTAMP",
            Version::V2 => "TIMESEAL2",
        };
        format!("{word}|{user}|{system}|")
    }

    /// A line as it goes out at `now`, its end included.
    pub fn encode(&self, line: &str, now: Instant) -> Vec<u8> {
        encode(line, stamp(now.saturating_duration_since(self.started)))
    }
}

/// The stamp of a moment so long after the start. It never goes back, and is never 0, which reads
/// as missing.
fn stamp(since_start: Duration) -> u64 {
    u64::try_from(since_start.as_millis()).unwrap_or(u64::MAX - 1) + 1
}

/// Encodes a line, without its end, under a stamp in milliseconds.
pub fn encode(line: &str, stamp_ms: u64) -> Vec<u8> {
    encode_with(line.as_bytes(), stamp_ms, 0, FILLER)
}

/// The same with an offset into the key below 50 and another filler.
fn encode_with(line: &[u8], stamp_ms: u64, offset: u8, filler: u8) -> Vec<u8> {
    let mut bytes = line.to_vec();
    bytes.push(BEFORE_STAMP);
    bytes.extend(stamp_ms.to_string().bytes());
    bytes.push(AFTER_STAMP);
    bytes.resize(bytes.len().next_multiple_of(GROUP), filler);
    for group in bytes.chunks_exact_mut(GROUP) {
        for (one, other) in SWAPS {
            group.swap(one, other);
        }
    }
    let key = KEY.iter().cycle().skip(usize::from(offset));
    for (byte, key) in bytes.iter_mut().zip(key) {
        *byte = ((*byte | 0x80) ^ key).wrapping_sub(32);
    }
    bytes.push(0x80 | offset);
    bytes.push(b'\n');
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        use std::fmt::Write as _;
        bytes.iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").unwrap();
            text
        })
    }

    /// The vectors of the FICS notes, section 5.
    #[test]
    fn lines_are_encoded_as_other_programs_encode_them() {
        for (line, stamp, offset, filler, expected) in [
            (
                "TIMESTAMP|openseal|Running on an operating system|",
                1_234_567,
                0,
                b'1',
                "848071809e80809e80cda772808d9dacd27aadafa5b3a3a5757560687ca16c63a5a4b06c7ca19b6c7d75a965b9936673bcb2c3b8b8b6a7a6b7d5c9ad800a",
            ),
            (
                "TIMESEAL2|atomicbot|linux|",
                1,
                0,
                b'1',
                "808071809f91809ea2cda9729c8e9aaabc79a5acbca9a3afa16ebeb6a3b0bcd4b4dc717a800a",
            ),
            ("guest", 100_352, 0, b'1', "c67cbe76a3ccb079a0a57d81d8d2c27871a7607f61717c99800a"),
            ("", 100_704, 0, b'1', "c5b8bcb5caa4b5baa17079be800a"),
            ("e2e4", 42, 0, b'1', "c5bbbcb1caa0b3d5a1a57983800a"),
            ("e7e8=Q", 9_999_999, 0, b'1', "cdbeb4bdaa85d9b0a9a57183d8dac27871a7607f61997c79800a"),
            (
                "set style 12",
                5_000,
                0,
                b'1',
                "c66cada57f60787e75b47995d8d6c27971cf607e61707c98800a",
            ),
            ("12 e2e4", 65_536, 0, b'1', "c7bbb860cb71b5bfa6607dd7d8bac27871a7607f61717c76800a"),
            (PONG, 106_120, 0, b'1', "c5b0d4b4a1a2b0bda09879a4800a"),
            ("abcdefg", 123, 0, b'1', "ad6bbf61cb726668a1a37b87800a"),
            (
                "match AtomBot 3 0 rated atomic",
                360_000,
                0,
                b'1',
                "9b68606667b480657fb4ca8bc9c39669a1b6a37ea473a9b4a066bf6aa162d564b36b7063a899d9b4bfa3b8ba71d6a3b1800a",
            ),
            ("e2e4", 42, 17, b'A', "9763cf64997972c8936a8677910a"),
            ("guest", 7, 49, b'z', "b481737edccba3757775baafb10a"),
        ] {
            let encoded = encode_with(line.as_bytes(), stamp, offset, filler);
            assert_eq!(hex(&encoded), expected, "{line:?}");
        }
    }

    #[test]
    fn an_encoded_line_holds_one_line_end() {
        for length in 0..200 {
            let line: String = ('!'..='~').cycle().take(length).collect();
            let encoded = encode(&line, length as u64);
            assert_eq!(encoded.iter().position(|&byte| byte == b'\n'), Some(encoded.len() - 1));
            assert_eq!((encoded.len() - 2) % GROUP, 0);
        }
    }

    #[test]
    fn stamps_grow_and_are_never_zero() {
        let start = Instant::now();
        let seal = Seal::new(Version::V2, start);
        assert_eq!(seal.hello("a", "b"), "TIMESEAL2|a|b|");
        assert_eq!(Seal::new(Version::V1, start).hello("a", "b"), "TIMESTAMP|a|b|");
        assert_eq!(seal.encode("x", start), encode("x", 1));
        assert_eq!(seal.encode("x", start + Duration::from_millis(41)), encode("x", 42));
        assert_eq!(stamp(Duration::MAX), u64::MAX);
    }
}
