INSERT INTO move (game, ply, uci, clock_ms, eval_cp, eval_mate, depth, lag_ms)
VALUES (:game, :ply, :uci, :clock_ms, :eval_cp, :eval_mate, :depth, :lag_ms)
-- Another move may have been played instead, after a takeback; else what is known stays known.
ON CONFLICT (game, ply) DO UPDATE SET
    uci = excluded.uci,
    clock_ms = iif(uci = excluded.uci, coalesce(excluded.clock_ms, clock_ms), excluded.clock_ms),
    eval_cp = iif(uci = excluded.uci AND excluded.depth IS NULL, eval_cp, excluded.eval_cp),
    eval_mate = iif(uci = excluded.uci AND excluded.depth IS NULL, eval_mate, excluded.eval_mate),
    depth = iif(uci = excluded.uci AND excluded.depth IS NULL, depth, excluded.depth),
    lag_ms = iif(uci = excluded.uci, coalesce(excluded.lag_ms, lag_ms), excluded.lag_ms)
-- Most moves come again as they are, and cost no writing.
WHERE uci <> excluded.uci
    OR (excluded.clock_ms IS NOT NULL AND clock_ms IS NOT excluded.clock_ms)
    OR (excluded.depth IS NOT NULL AND depth IS NOT excluded.depth)
    OR (excluded.lag_ms IS NOT NULL AND lag_ms IS NOT excluded.lag_ms)
