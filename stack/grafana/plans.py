"""Board of one cluster's plans and their outcomes."""

from __future__ import annotations

from stack.grafana.panel import Board, BoardPanel, Kind

PLANS = Board(
    uid="advisor-plans",
    title="Kafka advisor: plans and outcomes",
    description="What plans cost and promised, moves that are open for days, and approvals with their outcome.",
    panels=(
        BoardPanel(
            title="Bytes of each plan",
            description="What each day's plan would copy.",
            kind=Kind.TIME_SERIES,
            width=12,
            units={"": "bytes"},
            sql="""
                SELECT started_at AS time, 'bytes' AS metric, bytes AS value
                FROM advisor.plan
                WHERE cluster = ${cluster:sqlstring} AND $__timeFilter(started_at)
                ORDER BY time
            """,
        ),
        BoardPanel(
            title="Newest plan against the one before",
            description="How much of it is the same: a plan that changes every day is not worth starting.",
            question=5,
            width=12,
            units={"same_ratio": "percentunit"},
            sql="""
                SELECT run_id, previous_run_id, move_count, previous_move_count, same_move_count, same_ratio
                FROM advisor.plan_overlap_latest
                WHERE cluster = ${cluster:sqlstring}
            """,
        ),
        BoardPanel(
            title="Advised for days, not applied",
            description="Moves of the newest plan: since when they are advised without a break, what a "
            "snapshot shows now.",
            question=5,
            width=12,
            units={"bytes": "bytes"},
            sql="""
                SELECT topic, partition, recommended_since, advisories, state, bytes, replicas_now, to_replicas
                FROM advisor.move_status_latest
                WHERE cluster = ${cluster:sqlstring} AND NOT is_applied
                ORDER BY recommended_since, bytes DESC NULLS LAST, topic, partition
                LIMIT 500
            """,
        ),
        BoardPanel(
            title="Predicted against realised",
            description="The skew that each plan promised, the skew measured later, and how much of it was applied.",
            question=6,
            width=12,
            sql="""
                SELECT started_at, resource, outcome, skew_before, skew_predicted, skew_measured, move_count,
                    applied_count, open_count
                FROM advisor.plan_outcome
                WHERE cluster = ${cluster:sqlstring} AND $__timeFilter(started_at)
                ORDER BY started_at DESC, resource
                LIMIT 500
            """,
        ),
        BoardPanel(
            title="Asked, answered, carried out",
            description="Each time that somebody was asked to carry a plan out: answer, what was "
            "applied, bytes and time.",
            question=6,
            units={
                "predicted_bytes": "bytes", "realised_bytes": "bytes",
                "predicted_seconds": "s", "realised_seconds": "s",
            },
            sql="""
                SELECT asked_at, state, answered_by, applied_count, open_count, predicted_bytes, realised_bytes,
                    predicted_seconds, realised_seconds, failure
                FROM advisor.plan_application
                WHERE cluster = ${cluster:sqlstring} AND $__timeFilter(asked_at)
                ORDER BY asked_at DESC
            """,
        ),
    ),
)  # fmt: skip
