//! Whom to challenge when a slot is idle. Pure: what is known and the time give the next step.

/// Whom the bot challenges by itself; so far nobody.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MatchmakingOptions {}
