-- Gates. Each query begins with its name and its purpose.

-- name: find_any_snapshot
-- Key of a snapshot in any status.
SELECT snapshot_key FROM store.snapshot WHERE snapshot_id = %(snapshot_id)s

-- name: input_batch
-- Start of the batch of input rules; the key follows.
SELECT
    snapshot_key, cluster, captured_at, stored_at, broker_count, topic_count, partition_count, group_count, member_count
FROM store.snapshot
WHERE snapshot_key =

-- name: results_batch
-- Start of the batch of result rules; the key follows.
SELECT run.run_key, run.started_at, run.snapshot_key, snapshot.captured_at AS snapshot_captured_at
FROM store.run
JOIN store.snapshot ON snapshot.snapshot_key = run.snapshot_key
WHERE run.run_key =

-- name: broken_rule
-- Result of a gate rule in one row; its SQL and a query of its subjects are inserted. MATERIALIZED: it runs once.
WITH broken AS MATERIALIZED (
[rule]
)
SELECT
    counted.failed_rows,
    (SELECT json_agg(kept.found) FROM (SELECT row_to_json(broken) AS found FROM broken LIMIT 20) AS kept) AS sample,
    [subjects] AS subjects
FROM (SELECT count(*) AS failed_rows FROM broken) AS counted
WHERE counted.failed_rows > 0

-- name: subjects_of_rule
-- Quarantined subjects: part of the query above.
(SELECT jsonb_agg(DISTINCT subject ORDER BY subject) FROM broken)

-- name: forget_input_checks
-- A gate that runs again replaces its results.
DELETE FROM store.check_result
USING store.snapshot
WHERE check_result.snapshot_key = snapshot.snapshot_key AND snapshot.snapshot_id = %(snapshot_id)s

-- name: forget_quarantine
-- A gate that runs again replaces its quarantined subjects.
DELETE FROM store.quarantine
USING store.snapshot
WHERE quarantine.snapshot_key = snapshot.snapshot_key AND snapshot.snapshot_id = %(snapshot_id)s

-- name: record_input_check
-- Result of one rule on a snapshot.
INSERT INTO store.check_result (gate, snapshot_key, rule, level, failed_rows, sample)
SELECT 'input', snapshot_key, %(rule)s, %(level)s, %(failed_rows)s, %(sample)s::jsonb
FROM store.snapshot
WHERE snapshot_id = %(snapshot_id)s

-- name: record_quarantine
-- One quarantined subject.
INSERT INTO store.quarantine (snapshot_key, subject_type, subject, rule)
SELECT snapshot_key, %(subject_type)s, %(subject)s, %(rule)s
FROM store.snapshot
WHERE snapshot_id = %(snapshot_id)s

-- name: quarantine_of_snapshot
-- Quarantined subjects of a snapshot.
SELECT quarantine.subject_type, quarantine.subject, quarantine.rule
FROM store.quarantine
JOIN store.snapshot ON snapshot.snapshot_key = quarantine.snapshot_key
WHERE snapshot.snapshot_id = %(snapshot_id)s
ORDER BY quarantine.subject_type, quarantine.subject, quarantine.rule

-- name: forget_result_checks
-- A gate that runs again replaces its results.
DELETE FROM store.check_result WHERE run_key = %(run_key)s

-- name: record_result_check
-- Result of one rule on a run.
INSERT INTO store.check_result (gate, run_key, rule, level, failed_rows, sample)
VALUES ('results', %(run_key)s, %(rule)s, %(level)s, %(failed_rows)s, %(sample)s::jsonb)
