//! One game from our side: events in, actions out.
//!
//! [`Session`] is the pure core: it is told what the server says, what the search finds and what
//! time it is, and answers with [`Action`]s. It does no I/O and cannot block, so every rule about
//! turns, clocks, offers and endings is tested without a socket. [`driver`] is the thin shell that
//! connects a session to an engine and to a platform's adapter.
//!
//! Nothing here knows how a server writes its messages: that is `platform`'s job.

mod action;
mod chat;
mod clock;
mod decision;
mod desk;
pub mod driver;
mod event;
mod lag;
mod record;
mod scoresheet;
mod session;
mod snapshot;
mod text;

pub use action::{Action, Command, Ending, GameResult, SearchRequest, Trouble};
pub use chat::{
    ChatCommand, ChatOptions, MAX_CHAT_CHARS, Names, RoomOptions, Template, TemplateError,
    WaitingNames, know_machine,
};
pub use clock::Clock;
pub use decision::{
    DrawOptions, Evaluation, Manners, Occasion, Options, ResignOptions, TakebackOptions,
};
pub use desk::{Desk, SpareEngine};
pub use event::{
    Arrived, ChatLine, EndReason, Event, Expiration, GameFull, GameId, GameState,
    InvalidGameIdError, LostReason, Player, Room, Status, TimeControl,
};
pub use lag::{Lag, LagMeter};
pub use scoresheet::{Entry, Scoresheet};
pub use session::{Found, Input, PonderCount, Session, Thought};
pub use snapshot::{LiveGames, Phase, Reply, Snapshot};
pub use text::one_line;
