//! Bytes into frames: lines, prompts and pings (section 1 of the FICS notes).
//!
//! Prompts have no line end and telnet commands stand anywhere, so that a reader of lines would not
//! do. Each byte is taken on its own, and what comes out does not depend on how they were cut into
//! reads. Nothing here knows what a line means.

use crate::platform::fics::timeseal;

/// More than this without a line end is no server of ours.
pub const MAX_LINE: usize = 64 * 1024;

/// What stands between two parts of a line that the server has broken.
const CONTINUATION: &str = "\\   ";
const COMMAND_PROMPT: &str = "fics% ";
const SESSION_BEGINS: &str = "**** Starting FICS session as ";
const PING: &str = "[G]";

/// Telnet: "interpret as command", and the four commands that have an option behind them.
const IAC: u8 = 0xff;
const WITH_OPTION: std::ops::RangeInclusive<u8> = 0xfb..=0xfe;

/// One thing that the server sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// A line without its end, never empty, with its continuations joined to it.
    Line(String),
    /// The server waits for us.
    Prompt(Prompt),
    /// The server wants a stamped answer at once.
    Ping,
}

/// What the server waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prompt {
    /// A name.
    Login,
    /// A password.
    Password,
    /// A command.
    Command,
}

/// A line that does not end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the server sent more than {MAX_LINE} bytes without a line end")]
pub struct LineTooLongError;

/// Makes frames of the bytes of one connection.
#[derive(Clone, Debug)]
pub struct Decoder {
    seal: Option<timeseal::Version>,
    telnet: Telnet,
    /// The line that has not ended yet.
    tail: String,
    /// A line that has ended, but may go on behind a continuation mark.
    held: Option<String>,
    /// Whether the server breaks no lines any more.
    lines_are_whole: bool,
    /// Before the session begins other prompts count.
    is_in_session: bool,
}

/// How far a telnet command has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Telnet {
    Text,
    Command,
    Option,
}

impl Decoder {
    /// For a new connection, with or without timeseal.
    pub fn new(seal: Option<timeseal::Version>) -> Self {
        Self {
            seal,
            telnet: Telnet::Text,
            tail: String::new(),
            held: None,
            lines_are_whole: false,
            is_in_session: false,
        }
    }

    /// The server has confirmed that it breaks no lines: none is held back any more.
    pub fn expect_whole_lines(&mut self) {
        self.lines_are_whole = true;
    }

    /// Whether a line waits for what comes next. After a moment of silence it is whole; see
    /// [`Self::release`].
    pub fn is_holding(&self) -> bool {
        self.held.is_some()
    }

    /// The line that waits.
    pub fn release(&mut self) -> Option<Frame> {
        self.held.take().map(Frame::Line)
    }

    /// Takes bytes in.
    ///
    /// # Errors
    ///
    /// [`LineTooLongError`]; the connection is of no use any more.
    pub fn read(&mut self, bytes: &[u8], out: &mut Vec<Frame>) -> Result<(), LineTooLongError> {
        bytes.iter().try_for_each(|&byte| self.take(byte, out))
    }

    fn take(&mut self, byte: u8, out: &mut Vec<Frame>) -> Result<(), LineTooLongError> {
        match (self.telnet, byte) {
            (Telnet::Text, IAC) => self.telnet = Telnet::Command,
            (Telnet::Command, byte) if WITH_OPTION.contains(&byte) => self.telnet = Telnet::Option,
            (Telnet::Command | Telnet::Option, _) => self.telnet = Telnet::Text,
            (Telnet::Text, b'\n') => self.end_line(out)?,
            (Telnet::Text, 0) if self.is_second_ping() => {
                self.tail.truncate(self.tail.len() - PING.len());
                out.push(Frame::Ping);
            }
            (Telnet::Text, b'\t') => self.push(' ', out)?,
            (Telnet::Text, 0..=0x1f | 0x7f..=0x9f) => {}
            // Latin-1, which cannot fail.
            (Telnet::Text, byte) => self.push(char::from(byte), out)?,
        }
        Ok(())
    }

    fn is_second_ping(&self) -> bool {
        self.seal == Some(timeseal::Version::V2) && self.tail.ends_with(PING)
    }

    fn push(&mut self, letter: char, out: &mut Vec<Frame>) -> Result<(), LineTooLongError> {
        if self.tail.len() >= MAX_LINE {
            return Err(LineTooLongError);
        }
        if self.tail.is_empty() && letter != '\\' {
            out.extend(self.release());
        }
        self.tail.push(letter);
        let prompt = match self.tail.as_str() {
            COMMAND_PROMPT if self.is_in_session => Prompt::Command,
            "login: " if !self.is_in_session => Prompt::Login,
            "password: " if !self.is_in_session => Prompt::Password,
            _ => return Ok(()),
        };
        self.tail.clear();
        out.push(Frame::Prompt(prompt));
        Ok(())
    }

    fn end_line(&mut self, out: &mut Vec<Frame>) -> Result<(), LineTooLongError> {
        if let Some(rest) = self.tail.strip_prefix(CONTINUATION) {
            // Never read alone: what others write can stand behind it.
            if let Some(held) = &mut self.held {
                if held.len() + rest.len() > MAX_LINE {
                    return Err(LineTooLongError);
                }
                held.push_str(rest);
            }
            self.tail.clear();
            return Ok(());
        }
        out.extend(self.release());
        if self.tail.is_empty() {
            return Ok(());
        }
        let line = std::mem::take(&mut self.tail);
        self.is_in_session |= line.starts_with(SESSION_BEGINS);
        if self.seal == Some(timeseal::Version::V1) && line == PING {
            out.push(Frame::Ping);
        } else if self.lines_are_whole {
            out.push(Frame::Line(line));
        } else {
            self.held = Some(line);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGIN: &[u8] = b"Hello\n\r\n\rlogin: ";
    const SESSION: &[u8] = b"**** Starting FICS session as A ****\n\r";

    fn frames(decoder: &mut Decoder, bytes: &[u8]) -> Vec<Frame> {
        let mut out = Vec::new();
        decoder.read(bytes, &mut out).unwrap();
        out
    }

    fn in_session(seal: Option<timeseal::Version>) -> Decoder {
        let mut decoder = Decoder::new(seal);
        decoder.read(SESSION, &mut Vec::new()).unwrap();
        decoder.release();
        decoder.expect_whole_lines();
        decoder
    }

    fn line(text: &str) -> Frame {
        Frame::Line(text.to_owned())
    }

    #[test]
    fn prompts_need_no_line_end() {
        let mut decoder = Decoder::new(None);
        assert_eq!(frames(&mut decoder, LOGIN), [line("Hello"), Frame::Prompt(Prompt::Login)]);
        let password = b"\n\rpassword: \xff\xfb\x01";
        assert_eq!(frames(&mut decoder, password), [Frame::Prompt(Prompt::Password)]);
        // That one belongs to a session, which has not begun.
        assert_eq!(frames(&mut decoder, b"fics% "), []);
    }

    #[test]
    fn a_session_has_another_prompt_and_several_of_them_in_a_row() {
        let mut decoder = in_session(None);
        let command = Frame::Prompt(Prompt::Command);
        let bytes = b"fics% fics% \n\rlogin: x\n\rsay fics% \n\rfics% ";
        let expected =
            [command.clone(), command.clone(), line("login: x"), line("say fics% "), command];
        assert_eq!(frames(&mut decoder, bytes), expected);
    }

    #[test]
    fn what_is_no_text_is_left_out() {
        let mut decoder = in_session(None);
        let bytes = b"\xff\xfc\x01a\x07b\x00c\r\n\xff\xf1d\te\xe4\x80\n[G]\x00\n";
        assert_eq!(frames(&mut decoder, bytes), [line("abc"), line("d eä"), line("[G]")]);
    }

    #[test]
    fn broken_lines_are_joined() {
        let mut decoder = Decoder::new(None);
        decoder.read(SESSION, &mut Vec::new()).unwrap();
        let bytes = b"one \n\r\\   two\n\r\\    three\n\rfour\n\r";
        let expected = [line("**** Starting FICS session as A ****"), line("one two three")];
        assert_eq!(frames(&mut decoder, bytes), expected);
        assert!(decoder.is_holding());
        assert_eq!(decoder.release(), Some(line("four")));
        assert_eq!(decoder.release(), None);
    }

    #[test]
    fn a_continuation_of_nothing_is_nothing() {
        let mut decoder = in_session(None);
        assert_eq!(frames(&mut decoder, b"a\n\r\\   <12> x\n\rb\n\r"), [line("a"), line("b")]);
    }

    #[test]
    fn pings_are_told_by_their_version() {
        use timeseal::Version::{V1, V2};
        let mut decoder = in_session(Some(V1));
        assert_eq!(frames(&mut decoder, b"\n\r[G]\n\r"), [Frame::Ping]);
        assert_eq!(frames(&mut decoder, b"A tells you: [G]\n"), [line("A tells you: [G]")]);
        let mut decoder = in_session(Some(V2));
        assert_eq!(
            frames(&mut decoder, b"fics% [G]\x00\n\r"),
            [Frame::Prompt(Prompt::Command), Frame::Ping,]
        );
        assert_eq!(frames(&mut decoder, b"ab[G"), []);
        assert_eq!(frames(&mut decoder, b"]\x00c\n[G]\n"), [Frame::Ping, line("abc"), line("[G]")]);
    }

    #[test]
    fn a_long_line_is_read_and_an_endless_one_is_not() {
        let mut decoder = in_session(None);
        let long = "x".repeat(10_000);
        assert_eq!(frames(&mut decoder, format!("{long}\n").as_bytes()), [line(&long)]);
        let endless = "x".repeat(MAX_LINE + 1);
        assert_eq!(decoder.read(endless.as_bytes(), &mut Vec::new()), Err(LineTooLongError));
        let mut decoder = Decoder::new(None);
        let parts = "\\   xxxxxxxxxxxxxxxx\n".repeat(MAX_LINE / 16 + 2);
        assert_eq!(decoder.read(b"a\n", &mut Vec::new()), Ok(()));
        assert_eq!(decoder.read(parts.as_bytes(), &mut Vec::new()), Err(LineTooLongError));
    }
}
