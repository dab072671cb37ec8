-- Question 6 of docs/sql-and-grafana.md: requests to execute a plan, and their outcome.
CREATE OR REPLACE VIEW advisor.plan_application AS
SELECT
    application.asked_at,
    run.cluster,
    run.run_id,
    plan.plan_id,
    application.application_id,
    application.state,
    application.failure,
    application.answered_at,
    application.answered_by,
    application.check_status,
    application.check_reasons,
    application.commands_shown_at,
    application.verified_at,
    application.move_count,
    application.applied_count,
    application.placed_count,
    application.moving_count,
    application.open_count,
    application.elsewhere_count,
    application.gone_count,
    application.short_isr,
    application.throttles,
    application.predicted_bytes,
    application.realised_bytes,
    application.unsized_move_count,
    application.predicted_seconds,
    application.realised_seconds,
    application.seconds_basis
FROM store.application
JOIN store.run ON run.run_key = application.run_key
JOIN store.plan ON plan.run_key = run.run_key;

COMMENT ON VIEW advisor.plan_application IS 'Requests to execute a plan: answer, check before, outcome after.';
COMMENT ON COLUMN advisor.plan_application.asked_at IS 'Time of the request.';
COMMENT ON COLUMN advisor.plan_application.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.plan_application.run_id IS 'Advisory of the plan.';
COMMENT ON COLUMN advisor.plan_application.plan_id IS 'sha256 of plan.json.';
COMMENT ON COLUMN advisor.plan_application.application_id IS 'Id of the request: the run of apply_NAME in Airflow.';
COMMENT ON COLUMN advisor.plan_application.state IS 'asked, approved, rejected, timed_out, refused (holds no more), verified, partly_applied, not_applied or moved_by_others.';
COMMENT ON COLUMN advisor.plan_application.failure IS 'What ended or holds up the request, as a log tells it; NULL: nothing.';
COMMENT ON COLUMN advisor.plan_application.answered_at IS 'Time of the answer; NULL: none.';
COMMENT ON COLUMN advisor.plan_application.answered_by IS 'User who answered, as Airflow names them.';
COMMENT ON COLUMN advisor.plan_application.check_status IS 'Result of check on a new snapshot after the answer; NULL: not checked.';
COMMENT ON COLUMN advisor.plan_application.check_reasons IS 'Reasons of the check: [{code, facts: [{code, args}, …]}, …].';
COMMENT ON COLUMN advisor.plan_application.commands_shown_at IS 'Time at which its commands were shown; NULL: not shown.';
COMMENT ON COLUMN advisor.plan_application.verified_at IS 'Time at which a later snapshot was compared with the plan; NULL: not yet.';
COMMENT ON COLUMN advisor.plan_application.move_count IS 'Moves of the plan.';
COMMENT ON COLUMN advisor.plan_application.applied_count IS 'Moves that were applied, replicas and leader.';
COMMENT ON COLUMN advisor.plan_application.placed_count IS 'Moves with replicas in place and the leader not elected.';
COMMENT ON COLUMN advisor.plan_application.moving_count IS 'Moves under way.';
COMMENT ON COLUMN advisor.plan_application.open_count IS 'Moves not started.';
COMMENT ON COLUMN advisor.plan_application.elsewhere_count IS 'Partitions that another tool moved or was moving.';
COMMENT ON COLUMN advisor.plan_application.gone_count IS 'Partitions that no longer existed.';
COMMENT ON COLUMN advisor.plan_application.short_isr IS 'Under-replicated partitions of the plan.';
COMMENT ON COLUMN advisor.plan_application.throttles IS 'Throttles that were not removed: subject and setting.';
COMMENT ON COLUMN advisor.plan_application.predicted_bytes IS 'Bytes that the plan predicted for the applied moves, where sizes are known.';
COMMENT ON COLUMN advisor.plan_application.realised_bytes IS 'Bytes of their new replicas.';
COMMENT ON COLUMN advisor.plan_application.unsized_move_count IS 'Applied moves of unknown size, in neither of both.';
COMMENT ON COLUMN advisor.plan_application.predicted_seconds IS 'Duration that the plan predicted, wave after wave, at its throttle.';
COMMENT ON COLUMN advisor.plan_application.realised_seconds IS 'Measured duration; NULL: unknown.';
COMMENT ON COLUMN advisor.plan_application.seconds_basis IS 'told (reported by the operator) or at_most (since the commands were shown).';
