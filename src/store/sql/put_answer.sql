UPDATE challenge
SET answer = :answer, answered_at = :answered_at, reason = :reason, detail = :detail
WHERE key = (
    SELECT max(key) FROM challenge
    WHERE platform = :platform AND account = :account AND id = :id AND answer IS NULL
)
