//! How well it is remembered: for whoever watches the bot.

/// The state of a store at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreHealth {
    /// Whether what is to be remembered is written.
    pub condition: Condition,
    /// How many changes were dropped, because too many waited to be written or one cannot be.
    pub dropped: u64,
}

/// Whether what is to be remembered is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Condition {
    /// Nothing is to be remembered.
    #[default]
    Off,
    /// It is.
    Good,
    /// It cannot be, for this reason. It waits, and is tried again, unless the file was written by a
    /// newer version of this program.
    Failing(String),
}

impl StoreHealth {
    /// Whether something should be written that is not.
    pub fn is_failing(&self) -> bool {
        matches!(self.condition, Condition::Failing(_))
    }
}
