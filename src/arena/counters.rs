//! What clients did wrong, and what happened, in figures.

use serde::Serialize;

/// Counts since the arena started. House players are not counted, unless the text says so.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// All requests, those struck by a fault included.
    pub requests: u64,
    /// Connections that were served.
    pub connections: u64,
    /// Requests for a path that does not exist.
    pub unknown_paths: u64,
    /// Requests without a valid token, or with one that lacks the scope.
    pub unauthorized: u64,
    /// Moves that break the rules.
    pub illegal_moves: u64,
    /// Moves that are not UCI notation.
    pub malformed_moves: u64,
    /// Moves out of turn, or after the end of the game. A bot that repeats a move whose answer was
    /// lost is counted here as well.
    pub untimely_moves: u64,
    /// Other commands in a game that were refused with 400.
    pub refused_commands: u64,
    /// Games lost on time.
    pub flags_lost: u64,
    /// Games called off by a client.
    pub aborted: u64,
    /// Games given up.
    pub resigned: u64,
    /// Claims of a win or a draw that were not refused, even if they came to nothing.
    pub claims: u64,
    /// Takebacks that were carried out, whoever proposed them.
    pub takebacks: u64,
    /// Chat lines that were taken.
    pub chat_lines: u64,
    /// Challenges accepted.
    pub accepted: u64,
    /// Challenges declined.
    pub declined: u64,
    /// Challenges sent by clients, the refused ones included.
    pub challenges_sent: u64,
    /// Openings of the event stream.
    pub event_streams: u64,
    /// Openings of a game stream.
    pub game_streams: u64,
    /// Games that began, house players included.
    pub games_started: u64,
    /// Games that ended, house players included.
    pub games_finished: u64,
}
