//! How many more games with bots may start today. Pure: the games so far and the time give it.
