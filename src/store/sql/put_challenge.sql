INSERT INTO challenge (
    platform, account, id, is_ours, at, opponent, rating, is_bot, variant, rated,
    initial_s, increment_s, days_per_move
)
SELECT
    :platform, :account, :id, :is_ours, :at, :opponent, :rating, :is_bot, :variant, :rated,
    :initial_s, :increment_s, :days_per_move
WHERE NOT EXISTS (
    SELECT 1 FROM challenge
    WHERE platform = :platform AND account = :account AND id = :id AND answer IS NULL
)
