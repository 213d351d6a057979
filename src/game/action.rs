//! What a session wants done: commands for the server, work for the engine, and the end.

use std::{fmt, time::Instant};

use crate::{
    game::{EndReason, Room},
    rules::{Color, History, Move},
    search::Limits,
};

/// One thing that a session wants done. They are carried out in the order given.
#[derive(Debug)]
pub enum Action {
    /// For the platform's adapter.
    Send(Command),
    /// For the engine. Never asked for while another search runs. It may ponder, and then ends only
    /// by one of the next two.
    Search(Box<SearchRequest>),
    /// The opponent played what the running search ponders on: it is the one for our move now.
    PonderHit {
        /// When that arrived. Our clock runs from then on.
        at: Instant,
    },
    /// Stop the running search and drop what it reports.
    StopSearch,
    /// For the log.
    Alert(Trouble),
    /// The game is over; nothing follows.
    Finish(Ending),
}

/// A search to start.
#[derive(Debug)]
pub struct SearchRequest {
    /// The game so far.
    pub history: History,
    /// How long to think.
    pub limits: Limits,
}

/// What the adapter is asked to tell the server.
///
/// All but moves are sent once. Whether to say one again, the session decides by what the stream
/// shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Play a move. The adapter sees to it that it arrives, and arrives once.
    Play {
        /// How many moves the game has before this one.
        ply: usize,
        /// The move.
        mv: Move,
        /// Offer a draw along with it.
        offer_draw: bool,
    },
    /// Accept the opponent's draw offer.
    AcceptDraw,
    /// Decline the opponent's draw offer.
    DeclineDraw,
    /// Agree to the opponent's proposal to take back moves, or decline it.
    AnswerTakeback(bool),
    /// Claim the win against an opponent who left.
    ClaimVictory,
    /// Claim a draw against an opponent who left.
    ClaimDraw,
    /// Resign.
    Resign,
    /// Abort a game that has hardly begun.
    Abort,
    /// Write to the chat.
    Say {
        /// Who shall read it.
        room: Room,
        /// What is written, at most [`MAX_CHAT_CHARS`](crate::game::MAX_CHAT_CHARS) characters.
        text: String,
    },
    /// Open the stream again, for a fresh [`Event::Full`](crate::game::Event::Full).
    Reopen,
}

impl Command {
    /// What it is, without what is written to others or chosen: fit for any log.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Play { .. } => "move",
            Self::AcceptDraw => "accept draw",
            Self::DeclineDraw => "decline draw",
            Self::AnswerTakeback(true) => "agree to takeback",
            Self::AnswerTakeback(false) => "decline takeback",
            Self::ClaimVictory => "claim victory",
            Self::ClaimDraw => "claim draw",
            Self::Resign => "resign",
            Self::Abort => "abort",
            Self::Say { .. } => "chat",
            Self::Reopen => "reopen",
        }
    }
}

/// How a game ended, for us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// What ended it.
    pub reason: EndReason,
    /// Who won, if anybody did.
    pub winner: Option<Color>,
    /// What that means for us.
    pub result: GameResult,
    /// How many moves were played.
    pub plies: usize,
}

/// A game's result from our side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GameResult {
    /// We won.
    Won,
    /// We lost.
    Lost,
    /// A draw.
    Drawn,
    /// No result: aborted.
    Aborted,
    /// We could not see how it ended, or it has not ended yet.
    Unknown,
}

impl fmt::Display for GameResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Won => "won",
            Self::Lost => "lost",
            Self::Drawn => "drawn",
            Self::Aborted => "aborted",
            Self::Unknown => "unknown",
        })
    }
}

/// Something that went wrong in a game and that its log must show.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// The start position cannot be set up; the game is left.
    #[error("cannot set up the start position {fen:?}, leaving the game: {cause}")]
    StartPosition {
        /// As the server wrote it.
        fen: String,
        /// Why it cannot be.
        cause: String,
    },
    /// The server's move list breaks our rules; the stream is opened again.
    #[error("move {uci:?} at ply {ply} is illegal by our rules, asking for the whole game again")]
    IllegalMove {
        /// The offending move.
        uci: String,
        /// How many moves come before it.
        ply: usize,
    },
    /// The fresh list breaks them too; the game is resigned.
    #[error(
        "move {uci:?} at ply {ply} is illegal by our rules even in a fresh list, resigning; \
         start {start_fen:?}, moves {moves:?}"
    )]
    IllegalMoveAgain {
        /// The offending move.
        uci: String,
        /// How many moves come before it.
        ply: usize,
        /// Where the game started.
        start_fen: String,
        /// The whole list.
        moves: String,
    },
    /// The server refused our move and still shows our turn; the stream is opened again.
    #[error("the server refused {uci} at ply {ply}, asking for the whole game again")]
    MoveRefused {
        /// Our move.
        uci: String,
        /// How many moves come before it.
        ply: usize,
    },
    /// It refused a second one for the same position; the game is resigned.
    #[error(
        "the server refused {uci} at ply {ply} as well, resigning; start {start_fen:?}, \
         moves {moves:?}"
    )]
    MoveRefusedAgain {
        /// Our move.
        uci: String,
        /// How many moves come before it.
        ply: usize,
        /// Where the game started.
        start_fen: String,
        /// The whole list.
        moves: String,
    },
    /// The engine gave no move, or none that can be played; another one was taken.
    #[error("the engine gave no playable move (it said {said:?}), playing {instead} instead")]
    NoBestMove {
        /// What the engine said.
        said: Option<Move>,
        /// What is played.
        instead: Move,
    },
    /// The rules say that the game is over, yet the server goes on.
    #[error("by our rules the game is over ({outcome}), the server goes on and so do we")]
    PlayingOn {
        /// What our rules say.
        outcome: String,
    },
}

impl Trouble {
    /// Whether the game was given up over it, so that someone must look.
    pub fn is_fatal(&self) -> bool {
        matches!(
            self,
            Self::StartPosition { .. }
                | Self::IllegalMoveAgain { .. }
                | Self::MoveRefusedAgain { .. }
        )
    }
}
