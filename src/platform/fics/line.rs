//! What a line says: a syntactic value, before anybody judges it.
//!
//! Decided by the beginning of the line alone, since what others write always stands behind a
//! prefix of the server's (section 1 of the FICS notes). Wordings of two families of servers are
//! known; what is not known is [`ServerLine::Other`], which is no error.

use crate::platform::fics::{
    ending::{self, GameEnd},
    offer::{self, Offer, Rating},
    style12::Board,
};

/// What a line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerLine {
    /// The session begins.
    SessionBegins(Account),
    /// The server waits for an empty line before it lets a guest in.
    PressReturn,
    /// The login fails, or the session is over.
    Refused(Refusal),
    /// A position.
    Board(Box<Board>),
    /// Somebody offers something to us.
    OfferFrom(Offer),
    /// We offer something.
    OfferTo(Offer),
    /// These offers are gone: accepted, declined, withdrawn or replaced.
    OffersGone(Vec<u32>),
    /// `Creating: …` or `Continuing: …`: the players and their ratings, White first.
    Ratings([(String, Rating); 2]),
    /// A game begins or goes on.
    GameBegins(GameBegins),
    /// A game ends.
    GameEnds(GameEnd),
    /// A move was not taken.
    MoveRefused(MoveRefusal),
    /// Somebody writes.
    Said(Said),
    /// A name with `--** X is a computer **--`.
    IsComputer(String),
    /// These have an adjourned game with us and are online.
    AdjournedWith(Vec<String>),
    /// An interface variable is set: the name.
    IsSet(String),
    /// A challenge or a seek of ours is refused.
    InvitationRefused(InvitationRefusal),
    /// A seek of ours stands.
    SeekPosted,
    /// The server does not know what we said: its first word.
    UnknownCommand(String),
    /// Our rating has changed.
    RatingChanged(u32),
    /// The server is about to go down.
    GoingDown,
    /// The head of a list of moves: the number of the game.
    MoveListBegins(u32),
    /// A row of one: one move or two, in SAN.
    MoveListRow(Vec<String>),
    /// Its last line.
    MoveListEnds,
    /// Anything else.
    Other,
}

/// A name with its titles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Letters alone.
    pub name: String,
    /// Such as `C` for a computer and `U` for a guest.
    pub titles: Vec<String>,
}

/// Why the server does not let us in, or not any longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The password is wrong.
    Password,
    /// The name cannot be one.
    Name,
    /// Somebody is logged in under the name, which nobody owns.
    NameTaken,
    /// Guests are not let in now, or not from here.
    Guests,
    /// The name or the place is banned.
    Banned,
    /// There are too many players.
    Full,
    /// We took too long.
    Timeout,
    /// Somebody else has logged in under our name.
    Replaced,
    /// We were idle for too long.
    Idle,
    /// The server is going down now.
    ShutDown,
}

/// The line in braces without a score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameBegins {
    /// The number of the game.
    pub game: u32,
    /// White and Black.
    pub players: [String; 2],
    /// Whether an adjourned game goes on.
    pub is_resumed: bool,
    /// Whether ratings are at stake.
    pub rated: bool,
    /// The kind of game.
    pub variant: String,
}

/// Why a move was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveRefusal {
    /// It is illegal.
    Illegal,
    /// It is not our turn.
    NotOurTurn,
    /// There is no game.
    NoGame,
}

/// Why a challenge of ours is refused by the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvitationRefusal {
    /// Nobody of that name is there.
    Absent,
    /// This player wants no games with us.
    Unwelcome,
    /// Anything else.
    NotNow,
}

/// What somebody writes. Text from outside: never interpreted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Who writes.
    pub from: Account,
    /// Where.
    pub channel: Channel,
    /// What.
    pub text: String,
}

/// Where something is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// To us alone.
    Tell,
    /// By the opponent, to us.
    Say,
    /// Beside a game, to all.
    Kibitz,
    /// Beside a game, to those who watch.
    Whisper,
    /// A channel for all.
    Public,
}

impl ServerLine {
    /// Reads a line. Never fails.
    pub fn parse(line: &str) -> Self {
        starred(line)
            .or_else(|| tagged(line))
            .or_else(|| braced(line))
            .or_else(|| said(line).map(Self::Said))
            .or_else(|| prose(line))
            .unwrap_or(Self::Other)
    }
}

/// `**** … ****`, which only the server writes.
fn starred(line: &str) -> Option<ServerLine> {
    let text = line.strip_prefix("**** ")?;
    let refused = |refusal| Some(ServerLine::Refused(refusal));
    if let Some(name) = text.strip_prefix("Starting FICS session as ") {
        return Account::parse(name).map(|(account, _)| ServerLine::SessionBegins(account));
    }
    if text.starts_with("Invalid password") {
        refused(Refusal::Password)
    } else if text.starts_with("LOGIN TIMEOUT") {
        refused(Refusal::Timeout)
    } else if text.starts_with("Auto-logout") {
        refused(Refusal::Idle)
    } else if text.contains("you can't both be logged in") {
        refused(Refusal::Replaced)
    } else if text.starts_with("Server going down") {
        Some(ServerLine::GoingDown)
    } else if text.starts_with("Server shutting down") || text.starts_with("Server has been") {
        refused(Refusal::ShutDown)
    } else {
        None
    }
}

/// `<12>` and its kin.
fn tagged(line: &str) -> Option<ServerLine> {
    let (tag, rest) = line.strip_prefix('<')?.split_once("> ")?;
    match tag {
        "12" => Board::parse(line).map(|board| ServerLine::Board(Box::new(board))),
        "pf" => Offer::parse(rest).map(ServerLine::OfferFrom),
        "pt" => Offer::parse(rest).map(ServerLine::OfferTo),
        "pr" => {
            let indexes = rest.split_ascii_whitespace().filter_map(|index| index.parse().ok());
            Some(ServerLine::OffersGone(indexes.collect()))
        }
        _ => None,
    }
}

fn braced(line: &str) -> Option<ServerLine> {
    if let Some(end) = GameEnd::parse(line) {
        return Some(ServerLine::GameEnds(end));
    }
    let (game, players, rest) = ending::game(line)?;
    let mut words = rest.trim_end_matches(['}', '.']).split(' ');
    let is_resumed = match words.next()? {
        "Creating" => false,
        "Continuing" => true,
        _ => return None,
    };
    let rated = match words.next()? {
        "rated" => true,
        "unrated" => false,
        _ => return None,
    };
    // Some servers tell the speed as well, as in `rated blitz atomic match`.
    let first = words.next()?;
    let second = words.next().filter(|word| offer::SPEEDS.contains(&first) && *word != "match");
    let variant = second.unwrap_or(first).to_owned();
    Some(ServerLine::GameBegins(GameBegins { game, players, is_resumed, rated, variant }))
}

/// `Name(C)[5] says: …` and its kin.
fn said(line: &str) -> Option<Said> {
    let (from, rest) = Account::parse(line)?;
    let forms = [
        (" tells you: ", Channel::Tell),
        (" says: ", Channel::Say),
        (" kibitzes: ", Channel::Kibitz),
        (" whispers: ", Channel::Whisper),
    ];
    // The number of the game may stand between.
    let behind = match rest.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?.1,
        None => rest,
    };
    for (form, channel) in forms {
        if let Some(text) = behind.strip_prefix(form) {
            return Some(Said { from, channel, text: text.to_owned() });
        }
    }
    let is_channel =
        from.titles.last().is_some_and(|last| last.bytes().all(|digit| digit.is_ascii_digit()));
    let text = rest.strip_prefix(": ").filter(|_| is_channel)?;
    Some(Said { from, channel: Channel::Public, text: text.to_owned() })
}

impl Account {
    /// A name with its titles at the beginning of a text, and what follows.
    pub fn parse(text: &str) -> Option<(Self, &str)> {
        let end = text.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(text.len());
        let (name, mut rest) = text.split_at(end);
        if name.is_empty() {
            return None;
        }
        let mut titles = Vec::new();
        while let Some((title, behind)) =
            rest.strip_prefix('(').and_then(|inner| inner.split_once(')'))
        {
            titles.push(title.to_owned());
            rest = behind;
        }
        Some((Self { name: name.to_owned(), titles }, rest))
    }

    /// Whether it is the account of a program.
    pub fn is_computer(&self) -> bool {
        self.has("C")
    }

    /// Whether nobody owns it.
    pub fn is_guest(&self) -> bool {
        self.has("U")
    }

    fn has(&self, title: &str) -> bool {
        self.titles.iter().any(|other| other == title)
    }
}

/// How servers say that we have no game, to whichever command.
const NO_GAME: [&str; 4] = [
    "You are not playing",
    "You are neither playing",
    "You are not in a game",
    "You are not examining or playing",
];

/// Everything that is told by its words.
fn prose(line: &str) -> Option<ServerLine> {
    if line.starts_with("Press return to enter") {
        return Some(ServerLine::PressReturn);
    }
    if let Some(rest) = line.strip_prefix("--** ") {
        let name = rest.strip_suffix(" is a computer **--")?;
        return Some(ServerLine::IsComputer(name.to_owned()));
    }
    if line.starts_with("Illegal move") || line.starts_with("Ambiguous move") {
        return Some(ServerLine::MoveRefused(MoveRefusal::Illegal));
    }
    if line.starts_with("It is not your move") {
        return Some(ServerLine::MoveRefused(MoveRefusal::NotOurTurn));
    }
    if NO_GAME.iter().any(|beginning| line.starts_with(beginning)) {
        return Some(ServerLine::MoveRefused(MoveRefusal::NoGame));
    }
    if let Some(word) = line.strip_suffix(": Command not found.").filter(|word| !word.contains(' '))
    {
        return Some(ServerLine::UnknownCommand(word.to_owned()));
    }
    if ["Your seek has been posted", "Updating seek ad"].iter().any(|words| line.starts_with(words))
    {
        return Some(ServerLine::SeekPosted);
    }
    if let Some(row) = move_list(line) {
        return Some(row);
    }
    if let Some(rest) = line.strip_prefix("Creating: ").or(line.strip_prefix("Continuing: ")) {
        return ratings(rest);
    }
    if let Some(rest) = line.strip_prefix("Movelist for game ") {
        return rest.trim_end_matches(':').parse().ok().map(ServerLine::MoveListBegins);
    }
    if let Some(name) = line.strip_suffix(" set.").filter(|name| !name.contains(' ')) {
        return Some(ServerLine::IsSet(name.to_owned()));
    }
    if line.starts_with("Atomic rating adjustment: ") {
        let (_, new) = line.rsplit_once("--> ")?;
        return new.trim().parse().ok().map(ServerLine::RatingChanged);
    }
    adjourned(line).or_else(|| invitation_refused(line).map(ServerLine::InvitationRefused))
}

/// A row of a list of moves, `  1.  Nf3     (0:00.000)      f6      (0:00.000)`, or the line in braces
/// that ends it. Both begin with blanks, which nothing does that others write, but for the rows from
/// move 100 on, whose numbers take that place.
fn move_list(line: &str) -> Option<ServerLine> {
    let is_late = line.bytes().take_while(u8::is_ascii_digit).count() >= 3;
    let text = if is_late { line } else { line.strip_prefix(' ')?.trim_start() };
    if text.starts_with('{') {
        return text.contains('}').then_some(ServerLine::MoveListEnds);
    }
    let (number, rest) = text.split_once(". ")?;
    let is_number = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    let is_move = |word: &&str| !word.starts_with('(') && *word != "...";
    let moves: Vec<String> =
        rest.split_ascii_whitespace().filter(is_move).map(str::to_owned).collect();
    (is_number && (1..=2).contains(&moves.len()) && rest.contains('('))
        .then_some(ServerLine::MoveListRow(moves))
}

/// Why the server does not let us in, by its words before a session begins. They may be anybody's:
/// they count only if no session begins.
pub fn refusal_at_login(line: &str) -> Option<Refusal> {
    let begins = |words: &[&str]| words.iter().any(|words| line.starts_with(words));
    let holds = |words: &[&str]| words.iter().any(|words| line.contains(words));
    if begins(&["Names should ", "Sorry, names ", "A name should "]) {
        return Some(Refusal::Name);
    }
    if begins(&["Sorry, "]) && holds(&[" is already logged in"]) {
        return Some(Refusal::NameTaken);
    }
    if holds(&["guest connections have been prevented", "may login without an account"]) {
        return Some(Refusal::Guests);
    }
    if holds(&["banned"]) {
        return Some(Refusal::Banned);
    }
    holds(&["server is full", "Server is full"]).then_some(Refusal::Full)
}

fn ratings(text: &str) -> Option<ServerLine> {
    let (white, white_rating, rest) = offer::player(text)?;
    let (black, black_rating, _) = offer::player(rest)?;
    Some(ServerLine::Ratings([(white.to_owned(), white_rating), (black.to_owned(), black_rating)]))
}

/// Who has an adjourned game with us, when we log in or when they do.
fn adjourned(line: &str) -> Option<ServerLine> {
    if let Some(rest) = line.strip_prefix("Notification: ") {
        let (name, rest) = rest.split_once(',')?;
        return rest
            .starts_with(" who has an adjourned game with you")
            .then(|| ServerLine::AdjournedWith(vec![name.to_owned()]));
    }
    let (head, names) = line.split_once(": ")?;
    let is_list = head.starts_with(|digit: char| digit.is_ascii_digit())
        && head.contains("adjourned game with you")
        && head.contains("online");
    let names: Vec<String> = names
        .split([' ', ','])
        .filter_map(|name| Account::parse(name).map(|(account, _)| account.name))
        .collect();
    is_list.then_some(ServerLine::AdjournedWith(names))
}

/// The wording is not the same everywhere, so that it is matched loosely.
fn invitation_refused(line: &str) -> Option<InvitationRefusal> {
    const ABSENT: [&str; 2] = ["No player named ", "There is no player matching "];
    const BEGINNINGS: [&str; 6] = [
        "Match request does not fit ",
        "You can't challenge ",
        "You can't match ",
        "You have an adjourned game with ",
        "You can only have ",
        "You have no previous opponent",
    ];
    if ABSENT.iter().any(|beginning| line.starts_with(beginning))
        || line.ends_with(" is not logged in.")
    {
        return Some(InvitationRefusal::Absent);
    }
    if line.ends_with(" is censoring you.")
        || (line.starts_with("You are on ") && line.ends_with(" noplay list."))
    {
        return Some(InvitationRefusal::Unwelcome);
    }
    let is_refusal = BEGINNINGS.iter().any(|beginning| line.starts_with(beginning))
        || line.ends_with(" is not open to match requests.");
    is_refusal.then_some(InvitationRefusal::NotNow)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(name: &str, titles: &[&str]) -> Account {
        let titles = titles.iter().map(|&title| title.to_owned()).collect();
        Account { name: name.to_owned(), titles }
    }

    #[test]
    fn the_login_is_understood() {
        for (line, expected) in [
            (
                "**** Starting FICS session as AtomBot(C)(TD) ****",
                ServerLine::SessionBegins(account("AtomBot", &["C", "TD"])),
            ),
            ("Press return to enter the server as \"GuestABCD\":", ServerLine::PressReturn),
            ("**** Invalid password! ****", ServerLine::Refused(Refusal::Password)),
            ("**** LOGIN TIMEOUT ****", ServerLine::Refused(Refusal::Timeout)),
            (
                "**** Alice has arrived - you can't both be logged in. ****",
                ServerLine::Refused(Refusal::Replaced),
            ),
            (
                "**** Alice has arrived; you can't both be logged in. ****",
                ServerLine::Refused(Refusal::Replaced),
            ),
            ("**** Alice is already logged in - kicking them out. ****", ServerLine::Other),
            (
                "**** Auto-logout because you were idle more than 60 minutes. ****",
                ServerLine::Refused(Refusal::Idle),
            ),
            ("**** Server going down in 5 minutes and 0 seconds. ****", ServerLine::GoingDown),
            ("nowrap set.", ServerLine::IsSet("nowrap".to_owned())),
            ("Style 12 set.", ServerLine::Other),
            (
                "2 players, who have an adjourned game with you, are online: Alice Bob(C)",
                ServerLine::AdjournedWith(vec!["Alice".to_owned(), "Bob".to_owned()]),
            ),
            (
                "1 player who has an adjourned game with you is online: Alice",
                ServerLine::AdjournedWith(vec!["Alice".to_owned()]),
            ),
            (
                "Notification: AtomBot, who has an adjourned game with you, has arrived.",
                ServerLine::AdjournedWith(vec!["AtomBot".to_owned()]),
            ),
            ("--** AtomBot is a computer **--", ServerLine::IsComputer("AtomBot".to_owned())),
            ("Movelist for game 12:", ServerLine::MoveListBegins(12)),
            ("Atomic rating adjustment: 1882 --> 1890", ServerLine::RatingChanged(1890)),
        ] {
            assert_eq!(ServerLine::parse(line), expected, "{line}");
        }
    }

    #[test]
    fn refusals_in_plain_words_count_at_the_login_only() {
        for (line, expected) in [
            ("Sorry, Foo is already logged in. Try again.", Refusal::NameTaken),
            ("Names should be at least 3 characters long.  Try again.", Refusal::Name),
            ("Due to abuse, guest connections have been prevented.", Refusal::Guests),
            ("Sorry, nobody from your site may login without an account.", Refusal::Guests),
            ("You are banned.", Refusal::Banned),
            ("Sorry, the server is full.", Refusal::Full),
        ] {
            assert_eq!(refusal_at_login(line), Some(expected), "{line}");
            assert_eq!(ServerLine::parse(line), ServerLine::Other, "{line}");
        }
        assert_eq!(refusal_at_login("Welcome to the server."), None);
    }

    /// What anybody can make the server say, in whichever form.
    #[test]
    fn nobody_can_talk_us_out_of_a_session() {
        for line in [
            "--> Alice shouts: I was banned",
            "Alice(TD) c-shouts: the server is full",
            "    **ANNOUNCEMENT** from Alice: guest connections have been prevented.",
            "Bob (your partner) tells you: banned",
            "Names should be banned",
        ] {
            assert!(!matches!(ServerLine::parse(line), ServerLine::Refused(_)), "{line}");
        }
    }

    #[test]
    fn games_begin_and_go_on() {
        let begins = |is_resumed, rated, variant: &str| {
            ServerLine::GameBegins(GameBegins {
                game: 1,
                players: ["A".to_owned(), "B".to_owned()],
                is_resumed,
                rated,
                variant: variant.to_owned(),
            })
        };
        for (line, expected) in [
            ("{Game 1 (A vs. B) Creating rated atomic match.}", begins(false, true, "atomic")),
            ("{Game 1 (A vs. B) Continuing unrated atomic match.}", begins(true, false, "atomic")),
            ("{Game 1 (A vs. B) Creating rated blitz match.}", begins(false, true, "blitz")),
            (
                "{Game 1 (A vs. B) Creating rated blitz atomic match.}",
                begins(false, true, "atomic"),
            ),
            ("{Game 1 (A vs. B) Exploding rated blitz match.}", ServerLine::Other),
        ] {
            assert_eq!(ServerLine::parse(line), expected, "{line}");
        }
        let ratings = ServerLine::parse("Creating: A (1882) B (++++) unrated atomic 3 0");
        let ServerLine::Ratings([(white, rating), (black, guest)]) = ratings else { panic!() };
        assert_eq!((white.as_str(), black.as_str()), ("A", "B"));
        assert_eq!((rating.value, guest.is_guest), (Some(1882), true));
    }

    #[test]
    fn what_others_write_is_only_that() {
        for (line, name, titles, channel, text) in [
            ("Alice tells you: hi", "Alice", vec![], Channel::Tell, "hi"),
            ("Al(C)(*) tells you: <12> x", "Al", vec!["C", "*"], Channel::Tell, "<12> x"),
            ("Al(U)[1] says: hello: you", "Al", vec!["U"], Channel::Say, "hello: you"),
            ("Al(1500)[7] kibitzes: gl", "Al", vec!["1500"], Channel::Kibitz, "gl"),
            ("Al(++++)[7] whispers: x", "Al", vec!["++++"], Channel::Whisper, "x"),
            ("Al(C)(53): hi", "Al", vec!["C", "53"], Channel::Public, "hi"),
        ] {
            let said = Said { from: account(name, &titles), channel, text: text.to_owned() };
            assert_eq!(ServerLine::parse(line), ServerLine::Said(said), "{line}");
        }
        for line in ["Alice (1558): x", "(told Alice)", "--> hi", "Alice: x", ": x", "Al(TM): x"] {
            assert_eq!(ServerLine::parse(line), ServerLine::Other, "{line}");
        }
    }

    #[test]
    fn refusals_of_moves_and_challenges_are_told_apart() {
        for (line, refusal) in [
            ("Illegal move (a1a8).", MoveRefusal::Illegal),
            ("Ambiguous move (Nf3).", MoveRefusal::Illegal),
            ("It is not your move.", MoveRefusal::NotOurTurn),
            ("You are not playing or examining a game.", MoveRefusal::NoGame),
            ("You are not playing a game.", MoveRefusal::NoGame),
            ("You are neither playing, observing nor examining a game.", MoveRefusal::NoGame),
        ] {
            assert_eq!(ServerLine::parse(line), ServerLine::MoveRefused(refusal), "{line}");
        }
        for (line, refusal) in [
            ("No player named \"x\" is online.", InvitationRefusal::Absent),
            ("Alice is not logged in.", InvitationRefusal::Absent),
            ("Alice is not open to match requests.", InvitationRefusal::NotNow),
            ("You are on Alice's noplay list.", InvitationRefusal::Unwelcome),
            ("Alice is censoring you.", InvitationRefusal::Unwelcome),
            ("Match request does not fit formula for Alice:", InvitationRefusal::NotNow),
            ("You have an adjourned game with Alice.  You cannot start", InvitationRefusal::NotNow),
            ("You can only have 3 active seeks.", InvitationRefusal::NotNow),
        ] {
            assert_eq!(ServerLine::parse(line), ServerLine::InvitationRefused(refusal), "{line}");
        }
        let unknown = ServerLine::UnknownCommand("e2e4".to_owned());
        assert_eq!(ServerLine::parse("e2e4: Command not found."), unknown);
        assert_eq!(ServerLine::parse("say it: Command not found."), ServerLine::Other);
        let posted = ServerLine::parse("Your seek has been posted with index 7.");
        assert_eq!(posted, ServerLine::SeekPosted);
    }

    #[test]
    fn lists_of_moves_are_read() {
        let row = |moves: &[&str]| {
            ServerLine::MoveListRow(moves.iter().map(|&san| san.to_owned()).collect())
        };
        for (line, expected) in [
            ("  1.  Nf3     (0:00.000)      f6      (0:00.000)", row(&["Nf3", "f6"])),
            (" 12.  exd5+   (0:03)", row(&["exd5+"])),
            ("  1.  ...     (0:00.000)      f6      (0:00.000)", row(&["f6"])),
            ("100.  Kf3     (0:00.000)      Kf6     (0:00.000)", row(&["Kf3", "Kf6"])),
            ("      {Still in progress} *", ServerLine::MoveListEnds),
            ("Move  AtomBot                 Alice", ServerLine::Other),
            ("----  ---------------------   ---------------------", ServerLine::Other),
            ("1.  Nf3     (0:00.000)", ServerLine::Other),
            ("  1.  Nf3 f6 e4 (0:00.000)", ServerLine::Other),
            ("    **ANNOUNCEMENT** from Alice: 1. e4 (x)", ServerLine::Other),
        ] {
            assert_eq!(ServerLine::parse(line), expected, "{line}");
        }
    }

    #[test]
    fn offers_come_and_go() {
        assert_eq!(ServerLine::parse("<pr> 1 22 x"), ServerLine::OffersGone(vec![1, 22]));
        assert!(matches!(
            ServerLine::parse("<pf> 1 w=Alice t=draw p=#"),
            ServerLine::OfferFrom(Offer { index: 1, .. })
        ));
        assert!(matches!(ServerLine::parse("<pt> 1 w=Alice t=draw p=#"), ServerLine::OfferTo(_)));
        for line in ["<sc>", "<s> 1 w=A", "<g1> 1 p=0", "<12> x", "<pf> x", "<"] {
            assert_eq!(ServerLine::parse(line), ServerLine::Other, "{line}");
        }
    }
}
