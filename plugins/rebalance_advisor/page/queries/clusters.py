"""The fleet, one cluster, its history."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Select, and_, or_, select, type_coerce
from sqlalchemy.dialects.postgresql import JSONB

from rebalance_advisor.page.queries.views import (
    APPLICATION,
    ATTEMPT,
    BROKER_SCORE,
    CLUSTER,
    COVERAGE,
    DISK,
    FINDING,
    GROUP_DRAIN,
    OUTCOME,
    SKEW_DAY,
)


def clusters(cluster: str | None = None) -> Select[Any]:
    """One row a cluster that has a published advisory, those in trouble first; or that of one cluster."""
    every = select(*CLUSTER.c).order_by(CLUSTER.c.critical_count.desc(), CLUSTER.c.high_count.desc(), CLUSTER.c.cluster)
    return every if cluster is None else every.where(CLUSTER.c.cluster == cluster)


def applications() -> Select[Any]:
    """What became of the newest plans, the last time each was asked about last."""
    newest = and_(CLUSTER.c.cluster == APPLICATION.c.cluster, CLUSTER.c.run_id == APPLICATION.c.run_id)
    return select(*APPLICATION.c).join(CLUSTER, newest).order_by(APPLICATION.c.cluster, APPLICATION.c.application_id)


def findings(cluster: str, run_id: str, limit: int) -> Select[Any]:
    """The first ``limit`` findings of an advisory, worst first; what is muted last."""
    return (
        select(*FINDING.c)
        .where(FINDING.c.cluster == cluster, FINDING.c.run_id == run_id)
        .order_by(FINDING.c.rank)
        .limit(limit)
    )


def findings_of(cluster: str, run_id: str, subject_type: str, subject: str) -> Select[Any]:
    """What one subject was found to suffer from, and what is found of another one that explains something of it."""
    is_of_subject = and_(FINDING.c.subject_type == subject_type, FINDING.c.subject == subject)
    symptom = [{"subject_type": subject_type, "subject": subject}]
    explains = type_coerce(FINDING.c.evidence, JSONB)["symptoms"].contains(symptom)
    return findings(cluster, run_id, limit=20).where(or_(is_of_subject, explains))


def disks(cluster: str) -> Select[Any]:
    """What is known of how full each broker's disk becomes."""
    return select(*DISK.c).where(DISK.c.cluster == cluster).order_by(DISK.c.broker)


def gaps(cluster: str, limit: int) -> Select[Any]:
    """What could not be read."""
    return select(*COVERAGE.c).where(COVERAGE.c.cluster == cluster).order_by(COVERAGE.c.subject).limit(limit)


def hottest_brokers(cluster: str, limit: int) -> Select[Any]:
    """Pairs of broker and resource, the highest above the mean first."""
    return (
        select(*BROKER_SCORE.c)
        .where(BROKER_SCORE.c.cluster == cluster)
        .order_by(
            BROKER_SCORE.c.level_to_mean_ratio.desc().nulls_last(), BROKER_SCORE.c.broker, BROKER_SCORE.c.resource
        )
        .limit(limit)
    )


def slowest_groups(cluster: str, limit: int) -> Select[Any]:
    """Groups whose lag is never gone first, then by what the advised strategy saves, then by time to drain."""
    drain = GROUP_DRAIN.c
    return (
        select(*drain)
        .where(drain.cluster == cluster)
        .order_by(
            drain.members_falling_behind.desc().nulls_last(),
            drain.gain_seconds.desc().nulls_last(),
            drain.drain_seconds.desc().nulls_last(),
            drain.group_id,
        )
        .limit(limit)
    )


def attempts(cluster: str, *, limit: int, offset: int) -> Select[Any]:
    """Every advisory that was started, the newest first."""
    return (
        select(*ATTEMPT.c)
        .where(ATTEMPT.c.cluster == cluster)
        .order_by(ATTEMPT.c.attempted_at.desc())
        .limit(limit)
        .offset(offset)
    )


def outcomes(cluster: str, limit: int) -> Select[Any]:
    """What plans promised and what was measured later, the newest first."""
    ordered = (OUTCOME.c.started_at.desc(), OUTCOME.c.resource)
    return select(*OUTCOME.c).where(OUTCOME.c.cluster == cluster).order_by(*ordered).limit(limit)


def skew_by_day(cluster: str, limit: int) -> Select[Any]:
    """Skew of each resource by the day, the newest first."""
    ordered = (SKEW_DAY.c.period_start.desc(), SKEW_DAY.c.resource)
    return select(*SKEW_DAY.c).where(SKEW_DAY.c.cluster == cluster).order_by(*ordered).limit(limit)
