//! Timeseal from the server's side: reads what a client has encoded.
//!
//! Written from the published facts, without the client's code, so that the two check each other.

const KEY: &[u8; 50] = b"Timestamp (FICS) v1.0 - programmed by Henrik Gram.";

/// Which form a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    One,
    Two,
}

/// A line and the client's time in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sealed {
    pub(super) line: Vec<u8>,
    pub(super) stamp_ms: u64,
}

/// Reads an encoded line without its line end; `None` if it is none.
pub(super) fn decode(encoded: &[u8]) -> Option<Sealed> {
    let (&last, body) = encoded.split_last()?;
    if body.is_empty() || body.len() % 12 != 0 || last & 0x80 == 0 {
        return None;
    }
    let offset = usize::from(last & 0x7f);
    let mut plain: Vec<u8> = Vec::with_capacity(body.len());
    for (index, byte) in body.iter().enumerate() {
        plain.push((byte.wrapping_add(32) ^ KEY[(index + offset) % KEY.len()]) & 0x7f);
    }
    for start in (0..plain.len()).step_by(12) {
        plain.swap(start, start + 11);
        plain.swap(start + 2, start + 9);
        plain.swap(start + 4, start + 7);
    }
    let split = plain.iter().position(|&byte| byte == 0x18)?;
    let digits = &plain[split + 1..];
    let end = digits.iter().position(|&byte| byte == 0x19)?;
    let stamp_ms = std::str::from_utf8(&digits[..end]).ok()?.parse().ok()?;
    plain.truncate(split);
    Some(Sealed { line: plain, stamp_ms })
}

/// Whether this is the first line of a client that will encode all others.
pub(super) fn hello(line: &[u8]) -> Option<Version> {
    let sealed = decode(line)?;
    if sealed.line.starts_with(b"TIMESTAMP|") {
        Some(Version::One)
    } else if sealed.line.starts_with(b"TIMESEAL2|") {
        Some(Version::Two)
    } else {
        None
    }
}

impl Version {
    /// What asks the client for its time.
    pub(super) fn ping(self) -> &'static str {
        match self {
            Self::One => "\n\r[G]\n\r",
            Self::Two => "[G]\0",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
            .collect()
    }

    #[test]
    fn what_existing_clients_send_is_read() {
        for (hex, line, stamp_ms) in [
            ("c67cbe76a3ccb079a0a57d81d8d2c27871a7607f61717c9980", "guest", 100_352),
            ("c5b8bcb5caa4b5baa17079be80", "", 100_704),
            ("c5bbbcb1caa0b3d5a1a5798380", "e2e4", 42),
            ("cdbeb4bdaa85d9b0a9a57183d8dac27871a7607f61997c7980", "e7e8=Q", 9_999_999),
            ("c5b0d4b4a1a2b0bda09879a480", "\u{2}9", 106_120),
            ("ad6bbf61cb726668a1a37b8780", "abcdefg", 123),
            ("ad6bbf61cb726668a1a37b87d8d2c27871a7607f61717c7180", "abcdefg", 123),
            ("9763cf64997972c8936a86779100", "", 0),
            ("9763cf64997972c8936a867791", "e2e4", 42),
            ("b481737edccba3757775baafb1", "guest", 7),
        ] {
            let expected = Sealed { line: line.into(), stamp_ms };
            let found = decode(&bytes(hex));
            if stamp_ms == 0 {
                assert_eq!(found, None, "{hex}");
            } else {
                assert_eq!(found, Some(expected), "{hex}");
            }
        }
    }

    #[test]
    fn the_hello_tells_the_version() {
        let one = bytes(
            "848071809e80809e80cda772808d9dacd27aadafa5b3a3a5757560687ca16c63a5a4b06c7ca19b6c7d75a965b9936673bcb2c3b8b8b6a7a6b7d5c9ad80",
        );
        let two =
            bytes("808071809f91809ea2cda9729c8e9aaabc79a5acbca9a3afa16ebeb6a3b0bcd4b4dc717a80");
        assert_eq!(hello(&one), Some(Version::One));
        assert_eq!(hello(&two), Some(Version::Two));
        assert_eq!(hello(b"guest"), None);
        assert_eq!(hello(&bytes("c5bbbcb1caa0b3d5a1a5798380")), None);
    }
}
