//! The dialogue of the login, without any I/O: what came, and what to say to it (section 2 of the
//! FICS notes).

use secrecy::{ExposeSecret as _, SecretString};

use crate::platform::fics::{
    LinkError,
    line::{Account, Refusal, ServerLine, refusal_at_login},
    wire::{Frame, Prompt},
};

/// The name under which nobody is registered.
pub const GUEST: &str = "guest";

/// A login under way.
#[derive(Debug)]
pub struct Login {
    name: String,
    password: SecretString,
    has_sent_name: bool,
    has_sent_password: bool,
    account: Option<Account>,
    adjourned: Vec<String>,
    /// What sounded like a refusal. It was one only if no session begins: such words may be anybody's.
    suspicion: Option<Refusal>,
}

/// What the server has said of us when we are in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Welcome {
    /// As whom.
    pub account: Account,
    /// Who has an adjourned game with us and is online.
    pub adjourned: Vec<String>,
}

/// What to do about a frame.
#[derive(Debug)]
pub enum Step {
    /// Nothing.
    Wait,
    /// Send this line, which may be secret.
    Send(SecretString),
    /// We are in.
    Done(Welcome),
    /// It has failed.
    Failed(LinkError),
}

impl Login {
    /// As a guest, or under a name with its password; an empty password is none.
    pub fn new(name: &str, password: SecretString) -> Self {
        Self {
            name: name.to_owned(),
            password,
            has_sent_name: false,
            has_sent_password: false,
            account: None,
            adjourned: Vec::new(),
            suspicion: None,
        }
    }

    /// Why it has come to nothing. What sounded like a refusal counts only if the server itself gave up:
    /// it closed the connection, or asked again.
    pub fn failure(&self, end: LinkError) -> LinkError {
        let is_refusal =
            matches!(end, LinkError::Closed | LinkError::Password(_) | LinkError::Name(_));
        match self.suspicion {
            Some(refusal) if is_refusal => LinkError::of(refusal, &self.name),
            _ => end,
        }
    }

    /// Takes in what came.
    pub fn on_frame(&mut self, frame: &Frame) -> Step {
        match frame {
            Frame::Prompt(Prompt::Login) if !self.has_sent_name => {
                self.has_sent_name = true;
                Step::Send(self.name.clone().into())
            }
            // The server asks again: it did not take what we said, for a reason that we do not know.
            Frame::Prompt(Prompt::Login) if self.has_sent_password => {
                Step::Failed(self.failure(LinkError::Password(self.name.clone())))
            }
            Frame::Prompt(Prompt::Login) => {
                Step::Failed(self.failure(LinkError::Name(self.name.clone())))
            }
            Frame::Prompt(Prompt::Password) if self.has_password() && !self.has_sent_password => {
                self.has_sent_password = true;
                Step::Send(self.password.clone())
            }
            Frame::Prompt(Prompt::Password) => {
                Step::Failed(LinkError::PasswordNeeded(self.name.clone()))
            }
            Frame::Prompt(Prompt::Command) => match self.account.take() {
                Some(account) => {
                    let adjourned = std::mem::take(&mut self.adjourned);
                    Step::Done(Welcome { account, adjourned })
                }
                None => Step::Wait,
            },
            Frame::Line(line) => self.on_line(line),
            Frame::Ping => Step::Wait,
        }
    }

    fn on_line(&mut self, line: &str) -> Step {
        match ServerLine::parse(line) {
            // Whoever has a password does not want to play as a guest without knowing it.
            ServerLine::PressReturn if self.has_password() => {
                Step::Failed(LinkError::UnknownAccount(self.name.clone()))
            }
            ServerLine::PressReturn => Step::Send(String::new().into()),
            ServerLine::SessionBegins(account) => {
                self.account = Some(account);
                self.suspicion = None;
                Step::Wait
            }
            ServerLine::AdjournedWith(names) => {
                self.adjourned.extend(names);
                Step::Wait
            }
            ServerLine::Refused(refusal) => Step::Failed(LinkError::of(refusal, &self.name)),
            // Once we are in, such words are other people's.
            _ if self.account.is_some() => Step::Wait,
            _ => {
                self.suspicion = self.suspicion.or_else(|| refusal_at_login(line));
                Step::Wait
            }
        }
    }

    fn has_password(&self) -> bool {
        !self.password.expose_secret().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Frame {
        Frame::Line(text.to_owned())
    }

    /// What is said to these frames: lines, then the account or the failure.
    fn said(name: &str, password: &str, frames: &[Frame]) -> (Vec<String>, String) {
        let mut login = Login::new(name, password.to_owned().into());
        let mut lines = Vec::new();
        for frame in frames {
            match login.on_frame(frame) {
                Step::Wait => {}
                Step::Send(text) => lines.push(text.expose_secret().to_owned()),
                Step::Done(Welcome { account, adjourned }) => {
                    return (lines, [vec![account.name], adjourned].concat().join(" "));
                }
                Step::Failed(error) => return (lines, error.to_string()),
            }
        }
        (lines, "waiting".to_owned())
    }

    const NAME: Frame = Frame::Prompt(Prompt::Login);
    const PASSWORD: Frame = Frame::Prompt(Prompt::Password);
    const COMMAND: Frame = Frame::Prompt(Prompt::Command);

    #[test]
    fn a_guest_gets_in_by_an_empty_line() {
        let frames = [
            line("banner"),
            NAME,
            line("Press return to enter the server as \"GuestABCD\":"),
            line("**** Starting FICS session as GuestABCD(U) ****"),
            line("news"),
            COMMAND,
        ];
        assert_eq!(
            said(GUEST, "", &frames),
            (vec!["guest".into(), String::new()], "GuestABCD".into())
        );
    }

    #[test]
    fn a_registered_user_gets_in_by_a_password() {
        let frames = [
            NAME,
            line("\"AtomBot\" is a registered name.  If it is yours, type the password."),
            PASSWORD,
            line("**** Starting FICS session as AtomBot(C) ****"),
            line("1 player, who has an adjourned game with you, is online: Alice"),
            COMMAND,
        ];
        let expected =
            (vec!["AtomBot".to_owned(), "secret".to_owned()], "AtomBot Alice".to_owned());
        assert_eq!(said("AtomBot", "secret", &frames), expected);
    }

    #[test]
    fn failures_have_their_sentences() {
        let wrong = [NAME, PASSWORD, line("**** Invalid password! ****"), NAME];
        assert!(said("AtomBot", "x", &wrong).1.contains("refuses the password of AtomBot"));
        let silent = [NAME, PASSWORD, NAME];
        assert!(said("AtomBot", "x", &silent).1.contains("refuses the password"));
        assert!(said("AtomBot", "", &[NAME, PASSWORD]).1.contains("registered name"));
        let unknown = [NAME, line("Press return to enter the server as \"AtomBot\":")];
        assert!(said("AtomBot", "x", &unknown).1.contains("knows no account AtomBot"));
        assert!(said("At", "", &[NAME, NAME]).1.contains("3 to 17 letters"));
        let taken = [NAME, line("Sorry, Foo is already logged in. Try again."), NAME];
        assert!(said("Foo", "", &taken).1.contains("already logged in as Foo"));
    }

    /// 2026-11-30: a shout before the first line of a session, and the bot ended for good.
    #[test]
    fn words_are_a_refusal_only_if_no_session_begins() {
        let shout = || line("--> Talker shouts: I was banned, the server is full");
        let session = line("**** Starting FICS session as AtomBot(C) ****");
        let frames = [NAME, PASSWORD, shout(), session, shout(), COMMAND];
        assert_eq!(said("AtomBot", "x", &frames).1, "AtomBot");
        let mut login = Login::new("AtomBot", "x".to_owned().into());
        assert_eq!(login.failure(LinkError::Closed), LinkError::Closed);
        login.on_frame(&line("Sorry, you are banned."));
        assert_eq!(login.failure(LinkError::Closed), LinkError::Banned);
        let broken = LinkError::Broken("reset".to_owned());
        assert_eq!(login.failure(broken.clone()), broken);
        login.on_frame(&line("**** Starting FICS session as AtomBot(C) ****"));
        login.on_frame(&shout());
        assert_eq!(login.failure(LinkError::Closed), LinkError::Closed);
    }

    #[test]
    fn no_secret_is_shown() {
        let mut login = Login::new("AtomBot", "secret".to_owned().into());
        login.on_frame(&NAME);
        let step = login.on_frame(&PASSWORD);
        assert!(!format!("{login:?} {step:?}").contains("secret\""), "{login:?} {step:?}");
    }
}
