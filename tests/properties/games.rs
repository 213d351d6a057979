//! Games as text: PGN from any program.

use std::io::{self, Read};

use meitner::pgn::{Game, Reader};

use super::source::Source;

/// Bytes in any pieces give the same games and errors; each game says the same once it is written
/// and read again.
pub(super) fn pgn(data: &[u8]) {
    let mut source = Source(data);
    let size = usize::from(source.byte()) + 1;
    let read: Vec<_> = Reader::new(source.0).collect();
    let in_pieces: Vec<_> = Reader::new(Pieces { rest: source.0, size }).collect();
    assert_eq!(format!("{read:?}"), format!("{in_pieces:?}"));
    for game in read {
        match game {
            Ok(game) => check_written(&game),
            Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
        }
    }
}

fn check_written(game: &Game) {
    let text = game.to_string();
    let again: Result<Vec<Game>, _> = Reader::new(text.as_bytes()).collect();
    assert_eq!(again.as_deref().ok(), Some(&[game.clone()][..]), "{text}");
}

/// Hands out so many bytes at a time.
struct Pieces<'a> {
    rest: &'a [u8],
    size: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.size.min(self.rest.len()).min(buffer.len());
        let (piece, rest) = self.rest.split_at(length);
        buffer[..length].copy_from_slice(piece);
        self.rest = rest;
        Ok(length)
    }
}

/// Games with tags, comments, clocks, glyphs, variations and mistakes.
pub(super) fn pgn_seeds() -> Vec<Vec<u8>> {
    [
        "[Event \"rated atomic game\"]\n[White \"QuietRook7\"]\n[WhiteTitle \"BOT\"]\n\
         [TimeControl \"180+2\"]\n[UTCDate \"2024.01.02\"]\n[UTCTime \"03:04:05\"]\n\
         [Variant \"Atomic\"]\n[Result \"1-0\"]\n\n\
         1. Nf3 { [%eval 0.3] [%clk 0:03:00] } a6?! 2. Ne5 a5 3. Nxf7# 1-0\n\n",
        "[Variant \"Atomic\"]\n[FEN \"8/8/6Qk/8/2b5/8/P7/1K6 b - - 0 1\"]\n[SetUp \"1\"]\n\n\
         {before} 1... Bxa2# {wins; \\ \"so\"} 0-1\n\n1. e4 $1 (1. d4 d5 (1... f6)) e5 *\n\n",
        "; a comment\n% an escape\n[A \"b\\\"\\\\\"]\n1. Nc3 d6 2.Nd5 e5 3.Nxc7 1/2-1/2\n1. e5 *",
        "[FEN \"k7/8/8/8/8/8/8/8 w - - 0 60\"]\n[Variant \"Atomic\"]\n\n0-1\n[Result \"x\"]\n\n*\n",
        "[Variant \"Standard\"]\n\n1. e4 e5 { [%emt 0:00:07] [%mdl 1] } 2. O-O-O h4 0-0 {",
    ]
    .into_iter()
    .zip([255, 0, 7, 2, 40_u8])
    .map(|(text, size)| [&[size], text.as_bytes()].concat())
    .collect()
}
