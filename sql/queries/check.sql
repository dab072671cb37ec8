-- Gates. Each query begins with its name and its purpose.

-- name: find_any_snapshot
-- Key of a snapshot in any status.
SELECT snapshot_key FROM store.snapshot WHERE snapshot_id = %(snapshot_id)s

-- name: broken_subjects
-- Subjects that break a quarantine rule; the name of the rule's view is inserted.
SELECT DISTINCT subject FROM store.[rule] WHERE snapshot_id = %(snapshot_id)s ORDER BY subject

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

-- name: checks_of_run
-- Results of both gates for a run and its snapshot.
SELECT check_result.gate, check_result.rule, check_result.failed_rows, check_result.sample
FROM store.check_result
JOIN store.run ON run.run_key = check_result.run_key OR run.snapshot_key = check_result.snapshot_key
WHERE run.run_id = %(run_id)s
