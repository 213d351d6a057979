//! The bot joins a tournament, plays in it, and leaves it.
