-- Requests to execute a plan. Each query begins with its name and its purpose.

-- name: ask_application
-- A new request; the same request again (a cleared task) starts from the beginning.
INSERT INTO store.application (application_id, run_key)
SELECT %(application_id)s, run.run_key
FROM store.run
WHERE run.run_id = %(run_id)s AND run.status = 'published'
ON CONFLICT (application_id) DO UPDATE
SET run_key = excluded.run_key,
    asked_at = now(),
    state = 'asked',
    failure = NULL,
    answered_at = NULL,
    answered_by = NULL,
    commands_shown_at = NULL,
    verified_at = NULL
RETURNING application_key

-- name: answer_application
-- asked -> approved, rejected or timed_out
UPDATE store.application
SET state = %(state)s,
    answered_at = %(answered_at)s,
    answered_by = %(answered_by)s
WHERE application_id = %(application_id)s
RETURNING application_key

-- name: check_application
-- Result of the check on a new snapshot: the commands are shown now, or the request is refused.
UPDATE store.application
SET check_snapshot_key = (SELECT snapshot_key FROM store.snapshot WHERE snapshot_id = %(snapshot_id)s),
    check_status = %(check_status)s,
    check_reasons = %(check_reasons)s,
    state = %(state)s,
    commands_shown_at = CASE WHEN %(state)s = 'approved' THEN now() END
WHERE application_id = %(application_id)s
RETURNING application_key

-- name: close_application
-- Outcome of a request.
UPDATE store.application
SET verify_snapshot_key = (SELECT snapshot_key FROM store.snapshot WHERE snapshot_id = %(snapshot_id)s),
    verified_at = now(),
    state = %(state)s,
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
-- Requests that have not ended, as far as the store knows.
SELECT cluster, application_id FROM advisor.plan_application WHERE state IN ('asked', 'approved')
ORDER BY cluster, application_id

-- name: give_up_application
-- asked -> timed_out. An approved request keeps its state, because its plan may have been executed. Returns no row if the
-- request has this failure already or has ended.
UPDATE store.application
SET state = CASE state WHEN 'asked' THEN 'timed_out' ELSE state END,
    failure = %(failure)s
WHERE application_id = %(application_id)s AND state IN ('asked', 'approved') AND failure IS DISTINCT FROM %(failure)s
RETURNING application_key

-- name: load_application
-- State of a request.
SELECT application.application_id, run.run_id, run.cluster, application.state, application.failure, application.check_status,
    application.commands_shown_at
FROM store.application
JOIN store.run ON run.run_key = application.run_key
WHERE application.application_id = %(application_id)s
