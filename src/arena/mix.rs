//! The mix of faults that demonstrations and long runs use.

use crate::arena::faults::{Endpoint, Fault, FaultRule};

/// What a bad connection does, at rates that make every game see some of it, and that a client
/// which never gives up survives without losing a game.
pub fn mixed_faults() -> Vec<FaultRule> {
    let busy = Fault::TooManyRequests { retry_after: Some(1), ratelimit: None, html: false };
    [
        (Endpoint::GameStream, Fault::Cut, 0.03),
        (Endpoint::GameStream, Fault::End, 0.02),
        (Endpoint::GameStream, Fault::Reset, 0.02),
        (Endpoint::GameStream, Fault::Split, 0.1),
        (Endpoint::GameStream, Fault::Duplicate, 0.1),
        (Endpoint::GameStream, Fault::Merge, 0.05),
        (Endpoint::GameStream, Fault::UnknownFields, 0.05),
        (Endpoint::GameStream, Fault::DelayLine { ms: 100 }, 0.05),
        (Endpoint::GameStream, Fault::ServerError { status: 502 }, 0.2),
        (Endpoint::Move, busy, 0.05),
        (Endpoint::Move, Fault::ServerError { status: 502 }, 0.05),
        (Endpoint::Move, Fault::ErrorAfter { status: 504 }, 0.03),
        (Endpoint::Move, Fault::LostAnswer, 0.05),
        (Endpoint::Move, Fault::ResetAnswer, 0.02),
        (Endpoint::Move, Fault::Reset, 0.02),
        (Endpoint::Move, Fault::DelayRequest { ms: 100 }, 0.05),
    ]
    .map(|(endpoint, fault, rate)| FaultRule { endpoint, fault, rate })
    .into()
}
