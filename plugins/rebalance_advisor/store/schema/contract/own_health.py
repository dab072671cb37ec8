"""Views of the advisor itself: does it read, does it advise, and what failed."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, Text

from rebalance_advisor.store.schema.contract.define import MOMENT, view

_CLUSTER = "Name of the cluster, as clusters.toml or the snapshot gives it."

RUN_ATTEMPT = view(
    "run_attempt",
    "Every advisory that was started, those too that were refused, failed or never ended.",
    Column("time", MOMENT, comment="When it was started first."),
    Column("cluster", Text(), comment=_CLUSTER),
    Column("run_id", Text(), comment="The advisory; the other views have it where state is published."),
    Column(
        "state",
        Text(),
        comment="published, refused (by the gate of results), failed (a task was given up), given_up (not published "
        "six hours after its last attempt) or running.",
    ),
    Column("attempted_at", MOMENT, comment="When its last attempt began."),
    Column("published_at", MOMENT, comment="When readers got it; NULL: they did not."),
    Column(
        "duration_seconds", Double(), comment="Last attempt to publication, or to the failure; NULL: neither happened."
    ),
    Column("age_seconds", Double(), comment="Time since its last attempt began."),
    Column("failed_task", Text(), comment="The first task that was given up; NULL: none was."),
    Column("failure", Text(), comment="Its last words."),
    Column("advisor_version", Text(), comment="Version that made it."),
)

TASK_FAILURE = view(
    "task_failure",
    "Tasks of the advisor's DAGs that were given up, after their retries.",
    Column("time", MOMENT, comment="When it was given up."),
    Column("cluster", Text(), comment=_CLUSTER),
    Column("dag", Text(), comment="DAG: collect_NAME, advise_NAME, apply_NAME."),
    Column("task", Text(), comment="Task."),
    Column("dag_run", Text(), comment="Run of the DAG, as Airflow names it."),
    Column("words", Text(), comment="What it said last."),
)

OWN_HEALTH = view(
    "advisor_health",
    "The advisor's own health: one line a cluster that was ever read or failed to be.",
    Column("time", MOMENT, comment="When the advisor last did, or failed to do, something for this cluster."),
    Column("cluster", Text(), comment=_CLUSTER),
    Column("last_reading_at", MOMENT, comment="Time of the newest reading that passed the input gate."),
    Column("reading_age_seconds", Double(), comment="Its age now."),
    Column("last_run_at", MOMENT, comment="When the newest advisory was started, whatever became of it."),
    Column("last_run_id", Text(), comment="Which one that is."),
    Column("last_run_state", Text(), comment="Its state, as run_attempt says it."),
    Column("last_published_at", MOMENT, comment="When readers got the newest advisory; NULL: there is none."),
    Column("published_age_seconds", Double(), comment="Time since then."),
    Column("published_duration_seconds", Double(), comment="How long that advisory took, from its last attempt on."),
    Column("published_7d", BigInteger(), comment="Advisories of the last seven days that were published."),
    Column("unpublished_7d", BigInteger(), comment="Those that were refused, failed or never ended."),
    Column("refused_readings_7d", BigInteger(), comment="Readings of the last seven days that the input gate refused."),
    Column("failures_7d", BigInteger(), comment="Tasks of the last seven days that were given up."),
    Column("last_failure_at", MOMENT, comment="When a task was given up last; NULL: none is known."),
    Column("last_failure", Text(), comment="What it said."),
)
