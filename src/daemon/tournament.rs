//! When to join a tournament, to ask for a game in it, and to leave it. Pure.
