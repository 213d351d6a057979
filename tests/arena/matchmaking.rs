//! The bot challenges others, within its limits.
