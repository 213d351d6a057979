//! Cuts a byte stream into lines, however its chunks fall.
//!
//! Blank lines are keep-alives and yield nothing. What a line means is not known here.

/// A line longer than this is skipped, whatever it holds: a `gameFull` of the longest game is a
/// hundredth of it.
pub const MAX_LINE_BYTES: usize = 1 << 20;

/// A line that cannot be read. The stream goes on after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// It is longer than [`MAX_LINE_BYTES`].
    #[error("a line of more than {MAX_LINE_BYTES} bytes")]
    TooLong,
    /// It is not UTF-8.
    #[error("a line that is not UTF-8")]
    NotUtf8,
}

/// Collects bytes and gives out whole lines.
#[derive(Debug, Default)]
pub struct LineDecoder {
    buffer: Vec<u8>,
    /// How many bytes at the front of `buffer` were given out already.
    consumed: usize,
    /// How many bytes of `buffer` were searched for a line end in vain.
    searched: usize,
    /// The present line is too long: its bytes are dropped until it ends.
    is_skipping: bool,
}

impl LineDecoder {
    /// An empty decoder, for the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in the next bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.consumed);
        self.searched -= self.consumed;
        self.consumed = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole line without its end, if there is one. Blank lines are passed over.
    ///
    /// # Errors
    ///
    /// [`LineError`] for a line that cannot be read, once; the next call goes on behind it.
    pub fn next_line(&mut self) -> Option<Result<&str, LineError>> {
        loop {
            let Some(length) = self.buffer[self.searched..].iter().position(|&b| b == b'\n') else {
                self.searched = self.buffer.len();
                return self.limit_open_line().then_some(Err(LineError::TooLong));
            };
            let (start, end) = (self.consumed, self.searched + length);
            self.consumed = end + 1;
            self.searched = end + 1;
            if std::mem::take(&mut self.is_skipping) {
                continue;
            }
            if end - start > MAX_LINE_BYTES {
                return Some(Err(LineError::TooLong));
            }
            if self.buffer[start..end].trim_ascii().is_empty() {
                continue;
            }
            let line = str::from_utf8(&self.buffer[start..end]).map(str::trim);
            return Some(line.map_err(|_| LineError::NotUtf8));
        }
    }

    /// What came after the last line end: a whole line if the sender left out the final line end,
    /// and a cut one otherwise. The caller can tell by reading it.
    pub fn rest(&self) -> Option<&str> {
        let rest = str::from_utf8(&self.buffer[self.consumed..]).ok()?.trim();
        (!rest.is_empty() && !self.is_skipping).then_some(rest)
    }

    /// Drops an unfinished line that is too long already; tells whether it has just become so.
    fn limit_open_line(&mut self) -> bool {
        if !self.is_skipping && self.buffer.len() - self.consumed <= MAX_LINE_BYTES {
            return false;
        }
        self.buffer.truncate(self.consumed);
        self.searched = self.consumed;
        !std::mem::replace(&mut self.is_skipping, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Lines = Vec<Result<String, LineError>>;

    fn drain(decoder: &mut LineDecoder, lines: &mut Lines) {
        while let Some(line) = decoder.next_line() {
            lines.push(line.map(str::to_owned));
        }
    }

    fn lines(chunks: &[&[u8]]) -> Lines {
        let mut decoder = LineDecoder::new();
        let mut lines = Vec::new();
        for chunk in chunks {
            decoder.push(chunk);
            drain(&mut decoder, &mut lines);
        }
        lines
    }

    fn ok(texts: &[&str]) -> Lines {
        texts.iter().map(|&text| Ok(text.to_owned())).collect()
    }

    #[test]
    fn any_split_gives_the_same_lines() {
        let text = "{\"a\":\"é\"}\n\n \r\n{\"b\":1}\r\nlast\n".as_bytes();
        let expected = ok(&["{\"a\":\"é\"}", "{\"b\":1}", "last"]);
        for cut in 0..=text.len() {
            assert_eq!(lines(&[&text[..cut], &text[cut..]]), expected, "cut at {cut}");
        }
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(lines(&bytes), expected);
    }

    #[test]
    fn a_line_without_end_waits() {
        assert_eq!(lines(&[b"abc"]), ok(&[]));
        assert_eq!(lines(&[b"abc", b"def\nx"]), ok(&["abcdef"]));
        let mut decoder = LineDecoder::new();
        decoder.push(b"a\nrest");
        assert_eq!(decoder.next_line(), Some(Ok("a")));
        assert_eq!(decoder.next_line(), None);
        assert_eq!(decoder.rest(), Some("rest"));
    }

    #[test]
    fn invalid_utf8_costs_one_line() {
        let got = lines(&[b"one\n\xff\xfe\ntwo\n"]);
        assert_eq!(got, [Ok("one".into()), Err(LineError::NotUtf8), Ok("two".into())]);
    }

    #[test]
    fn a_long_line_costs_one_line_and_bounded_memory() {
        let chunk = vec![b'x'; 100_000];
        let mut decoder = LineDecoder::new();
        let mut got = Vec::new();
        decoder.push(b"one\n");
        for _ in 0..50 {
            decoder.push(&chunk);
            drain(&mut decoder, &mut got);
            assert!(decoder.buffer.len() <= MAX_LINE_BYTES + chunk.len());
        }
        decoder.push(b"\ntwo\n");
        drain(&mut decoder, &mut got);
        assert_eq!(got, [Ok("one".into()), Err(LineError::TooLong), Ok("two".into())]);
    }

    #[test]
    fn a_long_line_in_one_chunk_is_skipped() {
        let mut text = vec![b'x'; MAX_LINE_BYTES + 1];
        text.extend_from_slice(b"\ntwo\n");
        assert_eq!(lines(&[&text]), [Err(LineError::TooLong), Ok("two".into())]);
        let mut longest = vec![b'x'; MAX_LINE_BYTES];
        longest.push(b'\n');
        assert_eq!(lines(&[&longest]).len(), 1);
        assert!(lines(&[&longest])[0].is_ok());
    }
}
