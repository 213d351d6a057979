//! The mix of faults that demonstrations and long runs use.

use crate::arena::faults::{Endpoint, Fault, FaultRule};

/// What a bad connection does, every kind of fault among it, at rates that make every game see some
/// of it, and that a client which never gives up survives without losing a game.
///
/// Some are only waited out: a stream that falls silent, or keeps itself alive and says nothing. They
/// are for clocks that can spare the time that the client waits. So is a move that is refused for no
/// reason: a client may give a game up if that happens to it twice in one position.
pub fn mixed_faults() -> Vec<FaultRule> {
    [of_game_streams(), of_moves(), of_event_stream(), of_answers_to_challenges(), of_the_rest()]
        .concat()
}

fn of_game_streams() -> Vec<FaultRule> {
    rules(
        Endpoint::GameStream,
        [
            (Fault::Cut, 0.03),
            (Fault::End, 0.02),
            (Fault::Reset, 0.02),
            (Fault::Split, 0.1),
            (Fault::Duplicate, 0.1),
            (Fault::Merge, 0.05),
            (Fault::UnknownFields, 0.05),
            (Fault::DelayLine { ms: 100 }, 0.05),
            (Fault::Garbage, 0.01),
            (complaint(), 0.005),
            (Fault::Rewrite, 0.005),
            (Fault::Shrink, 0.005),
            (Fault::DropLine, 0.003),
            (Fault::Stall, 0.001),
            (Fault::Deaf, 0.001),
            (Fault::ServerError { status: 502 }, 0.2),
            (Fault::Html { status: 200 }, 0.02),
            (busy(true), 0.01),
            (Fault::Delay { ms: 100 }, 0.05),
            (Fault::HungRequest, 0.005),
        ],
    )
}

fn of_moves() -> Vec<FaultRule> {
    rules(
        Endpoint::Move,
        [
            (busy(false), 0.05),
            (Fault::ServerError { status: 502 }, 0.05),
            (Fault::ErrorAfter { status: 504 }, 0.03),
            (Fault::LostAnswer, 0.05),
            (Fault::ResetAnswer, 0.02),
            (Fault::HungAnswer, 0.005),
            (Fault::HungRequest, 0.005),
            (Fault::Html { status: 200 }, 0.01),
            (Fault::Reset, 0.02),
            (Fault::Delay { ms: 100 }, 0.03),
            (Fault::DelayRequest { ms: 100 }, 0.05),
            (Fault::RefuseMove, 0.001),
        ],
    )
}

/// It breaks once in some hundred games: the server lets it be opened only so often, and a client waits
/// ever longer if it keeps breaking.
fn of_event_stream() -> Vec<FaultRule> {
    rules(
        Endpoint::EventStream,
        [
            (Fault::Split, 0.05),
            (Fault::Duplicate, 0.05),
            (Fault::Merge, 0.02),
            (Fault::UnknownFields, 0.05),
            (Fault::DelayLine { ms: 100 }, 0.05),
            (Fault::Garbage, 0.003),
            (complaint(), 0.003),
            (Fault::DropLine, 0.003),
            (Fault::Cut, 0.0002),
            (Fault::End, 0.0002),
            (Fault::Reset, 0.0002),
            (Fault::Stall, 0.0002),
            (Fault::Deaf, 0.0002),
            (Fault::ServerError { status: 502 }, 0.1),
            (Fault::Delay { ms: 100 }, 0.05),
        ],
    )
}

fn of_answers_to_challenges() -> Vec<FaultRule> {
    let key = "bot.vsBot.day".to_owned();
    rules(
        Endpoint::ChallengeAnswer,
        [
            (Fault::OpponentLimit { key, seconds: 1 }, 0.005),
            (busy(false), 0.01),
            (Fault::ServerError { status: 502 }, 0.02),
            (Fault::ErrorAfter { status: 504 }, 0.02),
            (Fault::LostAnswer, 0.02),
            (Fault::ResetAnswer, 0.01),
            (Fault::HungAnswer, 0.003),
            (Fault::HungRequest, 0.003),
            (Fault::Html { status: 200 }, 0.005),
            (Fault::Delay { ms: 100 }, 0.05),
        ],
    )
}

/// Looking things up, chat, and the commands in a game that are no moves.
fn of_the_rest() -> Vec<FaultRule> {
    [Endpoint::Account, Endpoint::GameCommand, Endpoint::Chat, Endpoint::Other]
        .map(|endpoint| {
            rules(
                endpoint,
                [
                    (Fault::ServerError { status: 502 }, 0.05),
                    (Fault::LostAnswer, 0.02),
                    (Fault::HungRequest, 0.01),
                    (Fault::Reset, 0.02),
                    (Fault::Delay { ms: 100 }, 0.05),
                ],
            )
        })
        .concat()
}

fn rules<const N: usize>(endpoint: Endpoint, faults: [(Fault, f64); N]) -> Vec<FaultRule> {
    faults.map(|(fault, rate)| FaultRule { endpoint, fault, rate }).into()
}

fn busy(html: bool) -> Fault {
    Fault::TooManyRequests { retry_after: Some(1), ratelimit: None, html }
}

fn complaint() -> Fault {
    Fault::ErrorLine { text: "Please slow down".to_owned() }
}

#[cfg(test)]
mod tests {
    use std::{collections::HashSet, mem::discriminant};

    use strum::EnumCount as _;

    use super::*;

    #[test]
    fn every_kind_of_fault_is_in_the_mix() {
        let kinds: HashSet<_> =
            mixed_faults().iter().map(|rule| discriminant(&rule.fault)).collect();
        assert_eq!(kinds.len(), Fault::COUNT);
    }
}
