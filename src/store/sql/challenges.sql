SELECT is_ours, answer, reason, count(*) AS count
FROM challenge
WHERE (:platform IS NULL OR platform = :platform)
    AND (:opponent IS NULL OR lower(opponent) = lower(:opponent))
    AND (:since IS NULL OR at >= :since)
    AND (:until IS NULL OR at < :until)
GROUP BY is_ours, answer, reason
ORDER BY is_ours, count DESC, answer, reason
