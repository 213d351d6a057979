//! Draws, takebacks and claims while the bot thinks.
