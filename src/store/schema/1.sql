-- Times are seconds since the beginning of 1970, in UTC; durations have their unit in the name.

CREATE TABLE game (
    key INTEGER PRIMARY KEY,
    platform TEXT NOT NULL,          -- lichess or fics
    account TEXT NOT NULL,           -- ours, in lower case
    id TEXT NOT NULL,                -- as the platform names the game
    our_color TEXT NOT NULL,         -- white or black
    our_name TEXT NOT NULL,
    our_title TEXT,
    our_rating INTEGER,              -- before the game
    our_rating_diff INTEGER,
    opponent_id TEXT,                -- in lower case; none for anonymous visitors
    opponent_name TEXT NOT NULL,
    opponent_title TEXT,
    opponent_rating INTEGER,
    opponent_is_bot INTEGER NOT NULL,
    rated INTEGER NOT NULL,
    speed TEXT,                      -- bullet, blitz and so on
    initial_ms INTEGER,              -- with a clock: time at the start, and increment
    increment_ms INTEGER,
    days_per_move INTEGER,           -- in correspondence games
    start_fen TEXT,                  -- none: the standard start
    tournament TEXT,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,                -- none as long as the game goes on, as far as we know
    result TEXT,                     -- won, lost, drawn, aborted, unknown
    winner TEXT,                     -- white or black
    reason TEXT,
    opening TEXT,                    -- the first moves, such as 1. Nf3 f6 2. Nc3 e6
    plies INTEGER NOT NULL,
    UNIQUE (platform, account, id)
) STRICT;

CREATE INDEX game_started_at ON game (started_at);

CREATE TABLE move (
    game INTEGER NOT NULL REFERENCES game (key) ON DELETE CASCADE,
    ply INTEGER NOT NULL,            -- the first is 0
    uci TEXT NOT NULL,               -- castling as king takes rook
    clock_ms INTEGER,                -- what the mover has left
    eval_cp INTEGER,                 -- from our side; one of the two, for our moves
    eval_mate INTEGER,               -- moves to the mate; negative if we are mated
    depth INTEGER,                   -- plies
    lag_ms INTEGER,                  -- of our moves: to the server and back
    PRIMARY KEY (game, ply)
) STRICT, WITHOUT ROWID;

CREATE TABLE challenge (
    key INTEGER PRIMARY KEY,
    platform TEXT NOT NULL,
    account TEXT NOT NULL,
    id TEXT NOT NULL,                -- names of FICS can come again
    is_ours INTEGER NOT NULL,
    at INTEGER NOT NULL,
    opponent TEXT,
    rating INTEGER,
    is_bot INTEGER NOT NULL,
    variant TEXT NOT NULL,
    rated INTEGER NOT NULL,
    initial_s INTEGER,
    increment_s INTEGER,
    days_per_move INTEGER,
    answer TEXT,                     -- accepted, declined, withdrawn, expired, failed
    answered_at INTEGER,
    reason TEXT,                     -- the word that the other side is told
    detail TEXT                      -- for the operator
) STRICT;

CREATE INDEX challenge_id ON challenge (platform, account, id);
CREATE INDEX challenge_at ON challenge (at);

-- What a bot would otherwise learn again to its cost: the day's budget, quotas, declines, and the
-- challenge that is open. One value for each account, since it is read and written as one.
CREATE TABLE state (
    platform TEXT NOT NULL,
    account TEXT NOT NULL,
    value TEXT NOT NULL,             -- JSON
    PRIMARY KEY (platform, account)
) STRICT, WITHOUT ROWID;
