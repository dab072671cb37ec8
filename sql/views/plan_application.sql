-- Question 6 of DESIGN §4: what somebody was asked to carry out, and what came of it.
CREATE OR REPLACE VIEW advisor.plan_application AS
SELECT
    application.time,
    run.cluster,
    run.run_id,
    plan.plan_id,
    application.application_id,
    application.state,
    application.words,
    application.answered_at,
    application.answered_by,
    application.check_status,
    application.check_reasons,
    application.commands_at,
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
