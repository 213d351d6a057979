//! What the bot writes and answers, and when it is silent.
