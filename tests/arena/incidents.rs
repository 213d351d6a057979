//! What has cost other bots games, one test each: the bot comes through it.
