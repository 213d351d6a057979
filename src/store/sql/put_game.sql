INSERT INTO game (
    platform, account, id, our_color, our_name, our_title, our_rating, our_rating_diff,
    opponent_id, opponent_name, opponent_title, opponent_rating, opponent_is_bot,
    rated, speed, initial_ms, increment_ms, days_per_move, start_fen, tournament,
    started_at, ended_at, result, winner, reason, opening, plies
) VALUES (
    :platform, :account, :id, :our_color, :our_name, :our_title, :our_rating, :our_rating_diff,
    :opponent_id, :opponent_name, :opponent_title, :opponent_rating, :opponent_is_bot,
    :rated, :speed, :initial_ms, :increment_ms, :days_per_move, :start_fen, :tournament,
    :started_at, :ended_at, :result, :winner, :reason, :opening, :plies
)
-- Who plays, and when it began, is as it was first seen.
ON CONFLICT (platform, account, id) DO UPDATE SET
    our_rating_diff = coalesce(excluded.our_rating_diff, our_rating_diff),
    start_fen = excluded.start_fen,
    ended_at = coalesce(ended_at, excluded.ended_at),
    result = coalesce(excluded.result, result),
    winner = coalesce(excluded.winner, winner),
    reason = coalesce(excluded.reason, reason),
    opening = excluded.opening,
    plies = excluded.plies
RETURNING key
