-- Queries of rebalance_advisor.store about plans that somebody carries out. Each begins with its name and what it is for.

-- name: ask_application
-- A plan is shown to somebody; the same question again (a task that was cleared) begins anew.
INSERT INTO store.application (application_id, run_key)
SELECT %(application_id)s, run.run_key
FROM store.run
WHERE run.run_id = %(run_id)s AND run.status = 'published'
ON CONFLICT (application_id) DO UPDATE
SET run_key = excluded.run_key,
    time = now(),
    state = 'asked',
    words = '',
    answered_at = NULL,
    answered_by = NULL,
    commands_at = NULL,
    verified_at = NULL
RETURNING application_key

-- name: answer_application
-- asked -> approved, rejected or timed_out
UPDATE store.application
SET state = %(state)s,
    words = %(words)s,
    answered_at = %(answered_at)s,
    answered_by = %(answered_by)s
WHERE application_id = %(application_id)s
RETURNING application_key

-- name: check_application
-- What the check on a fresh reading said: the commands are shown now, or it is refused.
UPDATE store.application
SET check_snapshot_key = (SELECT snapshot_key FROM store.snapshot WHERE snapshot_id = %(snapshot_id)s),
    check_status = %(check_status)s,
    check_reasons = %(check_reasons)s,
    state = %(state)s,
    words = %(words)s,
    commands_at = CASE WHEN %(state)s = 'approved' THEN now() END
WHERE application_id = %(application_id)s
RETURNING application_key

-- name: close_application
-- What came of it.
UPDATE store.application
SET verify_snapshot_key = (SELECT snapshot_key FROM store.snapshot WHERE snapshot_id = %(snapshot_id)s),
    verified_at = now(),
    state = %(state)s,
    words = %(words)s,
    move_count = %(move_count)s,
    applied_count = %(applied_count)s,
    placed_count = %(placed_count)s,
    moving_count = %(moving_count)s,
    open_count = %(open_count)s,
    elsewhere_count = %(elsewhere_count)s,
    gone_count = %(gone_count)s,
    short_isr = %(short_isr)s,
    throttles = %(throttles)s,
    predicted_bytes = %(predicted_bytes)s,
    realised_bytes = %(realised_bytes)s,
    unsized_move_count = %(unsized_move_count)s,
    predicted_seconds = %(predicted_seconds)s,
    realised_seconds = %(realised_seconds)s,
    seconds_basis = %(seconds_basis)s
WHERE application_id = %(application_id)s
RETURNING application_key

-- name: open_applications
-- Those that have not ended, as far as the store knows.
SELECT cluster, application_id FROM advisor.plan_application WHERE state IN ('asked', 'approved')
ORDER BY cluster, application_id

-- name: give_up_application
-- Nobody is asked any more, and nothing is read: asked -> timed_out; what is approved may have been carried out, it keeps its
-- state. No row where these words stand already, or it has ended.
UPDATE store.application
SET state = CASE state WHEN 'asked' THEN 'timed_out' ELSE state END,
    words = %(words)s
WHERE application_id = %(application_id)s AND state IN ('asked', 'approved') AND words <> %(words)s
RETURNING application_key

-- name: load_application
-- Where it stands.
SELECT application.application_id, run.run_id, run.cluster, application.state, application.words, application.commands_at
FROM store.application
JOIN store.run ON run.run_key = application.run_key
WHERE application.application_id = %(application_id)s
