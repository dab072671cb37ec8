"""The page's queries over the public views, as the reader role."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    Integer,
    Select,
    TableClause,
    Text,
    and_,
    any_,
    case,
    cast,
    column,
    exists,
    func,
    literal,
    or_,
    select,
    table,
    type_coerce,
    union_all,
)
from sqlalchemy.dialects.postgresql import JSONB, aggregate_order_by, distinct_on
from sqlalchemy.types import TypeEngine

from kafka_rebalance.findings.finding import START_BLOCKERS, Actor, Severity

_ARRAYS: dict[str, TypeEngine[Any]] = {
    "from_replicas": ARRAY(Integer),
    "to_replicas": ARRAY(Integer),
    "replicas": ARRAY(Integer),
    "isr": ARRAY(Integer),
}
_TEXTS = frozenset({"topic", "group_id", "subject", "cluster", "run_id", "member_id", "kind", "document"})


def view(name: str, columns: str) -> TableClause:
    return table(name, *(column(part, _type_of(part)) for part in columns.split()), schema="advisor")


def _type_of(name: str) -> TypeEngine[Any] | None:
    return _ARRAYS.get(name) or (Text() if name in _TEXTS else None)


CLUSTER = view(
    "cluster_latest",
    "cluster started_at run_id verdict plan_id snapshot_captured_at age_seconds newest_snapshot_captured_at"
    " broker_count topic_count partition_count group_count gap_count excluded_resource_count worst_broker"
    " worst_resource worst_skew critical_count high_count finding_count replica_moves bytes leader_changes expires_at",
)
APPLICATION = view(
    "plan_application", "cluster run_id application_id state failure answered_by answered_at verified_at"
)
FINDING = view(
    "finding",
    "cluster run_id started_at finding_key rank code severity subject_type subject evidence"
    " recommendation_code recommendation_args actor team channel tier muted_until mute_reason",
)
FINDING_CHANGE = view("finding_change", "cluster finding_key code subject_type subject change")
PLAN_OVERLAP = view(
    "plan_overlap_latest", "cluster previous_run_id move_count previous_move_count same_move_count same_ratio"
)
FINDING_LATEST = view(
    "finding_latest", "cluster rank severity subject_type subject recommendation_code recommendation_args muted_until"
)
COVERAGE = view("coverage_latest", "cluster subject_type subject missing_code missing_args reason_code reason_args")
PLAN = view(
    "plan",
    "cluster started_at run_id plan_id verdict reasons expires_at replica_moves bytes leader_changes seconds document",
)
PLAN_BROKER = view("plan_broker", "cluster run_id broker resource load_before load_after capacity")
PLAN_RESOURCE = view(
    "plan_resource",
    "cluster run_id resource unit source mean_level band_asked_low band_asked_high widened_low widened_high"
    " skew_before skew_after exclusion_reason_code exclusion_reason_args watched_broker watched_load watched_capacity"
    " is_capacity_assumed",
)
BOUND = view("plan_bound", "cluster run_id cost value gap proof")
WAVE = view("wave", "cluster run_id direction wave step move_count bytes seconds")
PLAN_STEP = view(
    "plan_step",
    "cluster run_id step kind first_wave last_wave partitions replica_moves bytes leader_changes seconds bytes_so_far"
    " lower_bound_bytes gap resource skew_before skew_after fullest_broker_before fullest_broker_after"
    " used_ratio_before used_ratio_after repairs",
)
WAVE_BROKER = view("wave_broker", "cluster run_id wave broker received_bytes sent_bytes unsized_move_count")
FRONTIER = view(
    "frontier_point",
    "cluster run_id position tolerance bytes replica_moves leader_changes seconds lower_bound_bytes skew name"
    " is_recommended reasons",
)
MOVE = view(
    "move",
    "cluster run_id position topic partition from_replicas to_replicas leader_from leader_to kind bytes wave"
    " reason_code reason_args",
)
WAVE_STATUS = view("wave_status_latest", "cluster wave applied_count")
BROKER = view("broker_latest", "cluster broker rack host port state is_controller")
BROKER_SCORE = view(
    "broker_score_latest", "cluster broker rack resource unit load capacity level level_to_mean_ratio fair_share source"
)
DISK = view(
    "broker_disk_forecast",
    "cluster broker used_bytes total_bytes used_ratio growth_bytes_per_day reaches_85_percent_at"
    " reaches_85_percent_at_with_plan days_of_history outlook basis used_bytes_with_plan",
)
SEVERITIES = {severity.value: severity.rank for severity in Severity}
LOG_DIR = view("log_dir", "cluster captured_at broker total_bytes usable_bytes")
LAG_DAY = view("group_lag_by_day", "cluster period_start group_id lag_messages highest_lag_messages")
LEVEL_DAY = view("broker_level_by_day", "cluster period_start broker resource load")
BROKER_OVERVIEW = view(
    "broker_overview_latest",
    "cluster broker rack state is_controller used_bytes total_bytes used_ratio used_ratio_with_plan in_bytes_per_s"
    " in_to_mean_ratio out_bytes_per_s out_to_mean_ratio replica_count replicas_to_mean_ratio leader_count"
    " leaders_to_mean_ratio disk_bytes disk_to_mean_ratio worst_severity worst_finding_code",
)
TOPIC_OVERVIEW = view(
    "topic_overview_latest",
    "cluster topic partition_count replication_factor under_replicated log_bytes in_bytes_per_s hottest_to_mean_ratio"
    " group_count worst_severity worst_finding_code lag_messages lag_group_id",
)
GROUP_OVERVIEW = view(
    "group_overview_latest",
    "cluster group_id type state member_count idle_members lag_messages drain_seconds outlook skew_count skew_rate"
    " current_assignor recommended_assignor worst_severity worst_finding_code protocol_type lag_seconds team channel"
    " tier",
)
TOPIC_CHANGE = view(
    "broker_topic_change", "cluster broker topic earlier_captured_at bytes_earlier bytes_now bytes_change"
)
TOPIC = view("topic_latest", "cluster topic is_internal partition_count")
TOPIC_SCORE = view(
    "topic_score_latest",
    "cluster topic placer seed replica_skew leader_skew replica_moves bytes_to_move rack_violations",
)
PARTITION = view("partition_latest", "cluster topic partition replicas leader isr log_bytes")
LOAD = view("load_latest", "cluster topic partition log_bytes in_bytes_per_s out_bytes_per_s")
GROUP = view("consumer_group_latest", "cluster group_id type protocol_type protocol state member_count coordinator")
GROUP_SCORE = view(
    "group_score_latest",
    "cluster group_id assignor version scenario is_current is_recommended members idle_members partitions skew_count"
    " skew_rate partitions_moved drain_seconds members_falling_behind is_reproduced error subject longest_pause_ms"
    " partitions_unread least_skew_rate",
)
GROUP_DRAIN = view(
    "group_drain_latest",
    "cluster group_id current_assignor recommended_assignor drain_seconds recommended_drain_seconds gain_seconds"
    " skew_rate recommended_skew_rate partitions_moved members_falling_behind recommended_members_falling_behind"
    " advice_code advice_args rollover",
)
GROUP_LAG = view("group_lag_latest", "cluster group_id topic partitions lag_messages max_lag_messages")
MEMBER_SCORE = view(
    "member_score_latest",
    "cluster group_id assignor is_current is_recommended member_id instance_id rack partitions in_bytes_per_s"
    " lag_messages drain_seconds is_falling_behind",
)
WORKER = view("member_latest", "cluster group_id member_id host worker")
STREAMS_MEMBER = view(
    "streams_member_latest", "cluster group_id process_id member_id active_tasks standby_tasks warmup_tasks"
)
STREAMS_SCENARIO = view(
    "group_streams_scenario_latest",
    "cluster group_id scenario changed_instances members instances active_tasks standby_tasks most_active least_active"
    " idle_members standbys_missing active_moved active_restored standbys_restored unknown_parts",
)
ATTEMPT = view(
    "run_attempt", "cluster run_id snapshot_id state attempted_at published_at duration_seconds failed_task failure"
)
CHECK = view("check_result", "cluster gate snapshot_id run_id rule level failed_rows sample")
OUTCOME = view(
    "plan_outcome",
    "cluster run_id started_at resource skew_before skew_predicted skew_measured move_count applied_count",
)
SKEW_DAY = view("skew_by_day", "cluster period_start resource skew highest_skew worst_broker")
ALL = (
    CLUSTER, APPLICATION, FINDING, COVERAGE, PLAN, PLAN_BROKER, PLAN_RESOURCE, BOUND, WAVE, PLAN_STEP, MOVE,
    WAVE_STATUS, BROKER, BROKER_SCORE, DISK, TOPIC_CHANGE, TOPIC, TOPIC_SCORE, PARTITION, LOAD, GROUP, GROUP_SCORE,
    GROUP_DRAIN, GROUP_LAG, MEMBER_SCORE, ATTEMPT, CHECK, OUTCOME, SKEW_DAY, BROKER_OVERVIEW, TOPIC_OVERVIEW,
    GROUP_OVERVIEW, FINDING_LATEST, WAVE_BROKER, FRONTIER,
    LOG_DIR, LEVEL_DAY, LAG_DAY, WORKER, STREAMS_MEMBER, STREAMS_SCENARIO,
)  # fmt: skip


def clusters(cluster: str | None = None) -> Select[Any]:
    """Clusters with a published advisory, those in trouble first; or one of them."""
    every = select(*CLUSTER.c).order_by(CLUSTER.c.critical_count.desc(), CLUSTER.c.high_count.desc(), CLUSTER.c.cluster)
    return every if cluster is None else every.where(CLUSTER.c.cluster == cluster)


def applications() -> Select[Any]:
    """The plan checked last comes last."""
    newest = and_(CLUSTER.c.cluster == APPLICATION.c.cluster, CLUSTER.c.run_id == APPLICATION.c.run_id)
    return select(*APPLICATION.c).join(CLUSTER, newest).order_by(APPLICATION.c.cluster, APPLICATION.c.application_id)


def worst_findings() -> Select[Any]:
    columns = FINDING_LATEST.c
    unmuted = select(*columns).where(columns.muted_until.is_(None), columns.severity.not_in(("info", "ok")))
    return unmuted.ext(distinct_on(columns.cluster)).order_by(columns.cluster, columns.rank)


def fullest_brokers() -> Select[Any]:
    """Only clusters with known sizes."""
    broker = BROKER_OVERVIEW.c
    measured = select(broker.cluster, broker.broker, broker.used_ratio).where(broker.used_ratio.is_not(None))
    return measured.ext(distinct_on(broker.cluster)).order_by(broker.cluster, broker.used_ratio.desc(), broker.broker)


def findings(cluster: str, run_id: str, limit: int) -> Select[Any]:
    """Worst first, muted last."""
    return (
        select(*FINDING.c)
        .where(FINDING.c.cluster == cluster, FINDING.c.run_id == run_id)
        .order_by(FINDING.c.rank)
        .limit(limit)
    )


def groups_behind() -> Select[Any]:
    """How many groups of each cluster fall behind, of those whose reading was measured."""
    outlook = GROUP_OVERVIEW.c.outlook
    return select(
        GROUP_OVERVIEW.c.cluster,
        func.count().filter(outlook == "never").label("behind"),
        func.count().filter(outlook.in_(("never", "drains", "no_lag"))).label("measured"),
    ).group_by(GROUP_OVERVIEW.c.cluster)


_MOST_BLOCKERS = 50


def start_parts(cluster: str, run_id: str, gaps_of: Collection[str]) -> dict[str, Select[Any]]:
    """What says whether a plan may begin."""
    return {
        "findings": findings(cluster, run_id, _MOST_BLOCKERS).where(
            FINDING.c.code.in_(START_BLOCKERS), FINDING.c.actor != Actor.PLAN
        ),
        "gaps": select(*COVERAGE.c).where(COVERAGE.c.cluster == cluster, COVERAGE.c.subject_type.in_(gaps_of)),
    }


def first_seen(cluster: str, keys: Collection[str]) -> Select[Any]:
    """Also start of the cluster's first advisory."""
    first_run = select(func.min(PLAN.c.started_at)).where(PLAN.c.cluster == cluster).scalar_subquery()
    of_key = select(
        FINDING.c.finding_key, func.min(FINDING.c.started_at).label("first_seen"), first_run.label("first_run")
    )
    return of_key.where(FINDING.c.cluster == cluster, FINDING.c.finding_key.in_(keys)).group_by(FINDING.c.finding_key)


def resolved(cluster: str, limit: int) -> Select[Any]:
    """Findings of the advisory before that are gone, and how many there are."""
    change = FINDING_CHANGE.c
    return (
        select(change.code, change.subject_type, change.subject, func.count().over().label("resolved_count"))
        .where(change.cluster == cluster, change.change == "resolved")
        .order_by(change.finding_key)
        .limit(limit)
    )


def overlap(cluster: str) -> Select[Any]:
    """Moves that the newest plan shares with the one before; no row for a cluster's first."""
    return select(*PLAN_OVERLAP.c).where(PLAN_OVERLAP.c.cluster == cluster, PLAN_OVERLAP.c.previous_run_id.is_not(None))


def findings_of(cluster: str, run_id: str, subject_type: str, subject: str) -> Select[Any]:
    """Also those that explain them. A topic has those of its partitions, a broker those of it as coordinator."""
    kinds = [subject_type, "coordinator"] if subject_type == "broker" else [subject_type]
    is_of_subject = and_(FINDING.c.subject_type.in_(kinds), FINDING.c.subject == subject)
    if subject_type == "topic":
        topic = func.regexp_replace(FINDING.c.subject, "-[0-9]+$", "")
        is_of_subject = or_(is_of_subject, and_(FINDING.c.subject_type == "partition", topic == subject))
    symptoms = type_coerce(FINDING.c.evidence, JSONB)["symptoms"]
    explains = [symptoms.contains([{"subject_type": kind, "subject": subject}]) for kind in kinds]
    return findings(cluster, run_id, limit=20).where(or_(is_of_subject, *explains))


def disks(cluster: str) -> Select[Any]:
    return select(*DISK.c).where(DISK.c.cluster == cluster).order_by(DISK.c.broker)


def gap_counts(cluster: str, run_id: str) -> Select[Any]:
    """Of the advisory: also what its checks and its replay left out. No row without gaps."""
    count = type_coerce(FINDING.c.evidence, JSONB)["gaps"].astext.cast(Integer)
    of_run = (FINDING.c.cluster == cluster, FINDING.c.run_id == run_id, FINDING.c.code == "coverage_gap")
    return select(count.label("gaps")).where(*of_run)


def gaps(cluster: str, limit: int) -> Select[Any]:
    return select(*COVERAGE.c).where(COVERAGE.c.cluster == cluster).order_by(COVERAGE.c.subject).limit(limit)


def heat(cluster: str, run_id: str, resources: Sequence[str], full_share: float, limit: int) -> Select[Any]:
    """Loads of ``limit`` brokers, today and after the plan: nearly full ones first, then those furthest above their
    share in ``resources``.
    """
    score = BROKER_SCORE.c
    condition = and_(score.cluster == cluster, score.resource.in_(resources))
    is_full = func.bool_or(score.load >= full_share * score.capacity)
    worst = (
        select(score.broker)
        .where(condition)
        .group_by(score.broker)
        .order_by(is_full.desc().nulls_last(), func.max(_times_share()).desc().nulls_last(), score.broker)
        .limit(limit)
        .cte("worst")
    )
    return _levels(cluster, run_id).join(worst, worst.c.broker == score.broker).where(condition)


def levels_of(cluster: str, run_id: str, broker: int) -> Select[Any]:
    """The highest above the mean first."""
    score = BROKER_SCORE.c
    own = _levels(cluster, run_id).where(score.cluster == cluster, score.broker == broker)
    return own.order_by(score.level_to_mean_ratio.desc().nulls_last())


def planned_loads(cluster: str, run_id: str, broker: int) -> Select[Any]:
    """Also of a broker that the plan adds."""
    after = PLAN_BROKER.c
    own = (after.cluster == cluster, after.run_id == run_id, after.broker == broker)
    return select(after.resource, after.load_after).where(*own)


def _levels(cluster: str, run_id: str) -> Select[Any]:
    score, after = BROKER_SCORE.c, PLAN_BROKER.c
    planned = and_(
        after.cluster == cluster,
        after.run_id == run_id,
        after.broker == score.broker,
        after.resource == score.resource,
    )
    times_share_after = after.load_after / func.coalesce(score.capacity, 1.0) / func.nullif(score.fair_share, 0)
    return select(
        *score, _times_share().label("times_share"), after.load_after, times_share_after.label("times_share_after")
    ).select_from(BROKER_SCORE.outerjoin(PLAN_BROKER, planned))


def _times_share() -> ColumnElement[Any]:
    score = BROKER_SCORE.c
    return func.coalesce(score.level / func.nullif(score.fair_share, 0), score.level_to_mean_ratio)


def disk_history(cluster: str, broker: int, basis: str, since: datetime) -> Select[Any]:
    """Bytes used on a broker's disks, oldest first.

    ``basis``, of ``broker_disk_forecast``: ``volumes`` of each kept snapshot (log dirs of equal total and free bytes
    are one volume, as in that view), or ``replicas``, the mean of each day.
    """
    if basis == "replicas":
        day = LEVEL_DAY.c
        read = select(day.period_start.label("moment"), day.load.label("used_bytes"))
        own = (day.cluster == cluster, day.broker == broker, day.resource == "disk", day.period_start >= since)
        return read.where(*own).order_by(day.period_start)
    log_dir = LOG_DIR.c
    volumes = (
        select(log_dir.captured_at, log_dir.total_bytes, log_dir.usable_bytes)
        .where(log_dir.cluster == cluster, log_dir.broker == broker, log_dir.captured_at >= since)
        .where(log_dir.total_bytes.is_not(None), log_dir.usable_bytes.is_not(None))
        .distinct()
        .subquery()
    )
    used = func.sum(volumes.c.total_bytes - volumes.c.usable_bytes)
    read = select(volumes.c.captured_at.label("moment"), type_coerce(used, BigInteger).label("used_bytes"))
    return read.group_by(volumes.c.captured_at).order_by(volumes.c.captured_at)


def slowest_groups(cluster: str, limit: int) -> Select[Any]:
    """Endless lag first, then by time saved by the recommended strategy, then by time to drain; none without lag."""
    drain = GROUP_DRAIN.c
    lags = or_(drain.members_falling_behind > 0, drain.drain_seconds >= 1, drain.recommended_assignor.is_not(None))
    return (
        select(*drain)
        .where(drain.cluster == cluster, lags)
        .order_by(
            drain.members_falling_behind.desc().nulls_last(),
            drain.gain_seconds.desc().nulls_last(),
            drain.drain_seconds.desc().nulls_last(),
            drain.group_id,
        )
        .limit(limit)
    )


def attempts(cluster: str, *, limit: int, offset: int) -> Select[Any]:
    """Newest first."""
    return (
        select(*ATTEMPT.c)
        .where(ATTEMPT.c.cluster == cluster)
        .order_by(ATTEMPT.c.attempted_at.desc())
        .limit(limit)
        .offset(offset)
    )


def attempt(cluster: str, run_id: str) -> Select[Any]:
    return select(*ATTEMPT.c).where(ATTEMPT.c.cluster == cluster, ATTEMPT.c.run_id == run_id)


def checks(cluster: str, run_id: str) -> Select[Any]:
    snapshot_id = select(ATTEMPT.c.snapshot_id).where(ATTEMPT.c.cluster == cluster, ATTEMPT.c.run_id == run_id)
    return select(*CHECK.c).where(
        CHECK.c.cluster == cluster,
        or_(CHECK.c.run_id == run_id, CHECK.c.snapshot_id == snapshot_id.scalar_subquery()),
    )


def outcomes(cluster: str, limit: int) -> Select[Any]:
    """Newest first."""
    ordered = (OUTCOME.c.started_at.desc(), OUTCOME.c.resource)
    return select(*OUTCOME.c).where(OUTCOME.c.cluster == cluster).order_by(*ordered).limit(limit)


def skew_by_day(cluster: str, since: datetime) -> Select[Any]:
    """Newest first."""
    ordered = (SKEW_DAY.c.period_start.desc(), SKEW_DAY.c.resource)
    recent = select(*SKEW_DAY.c).where(SKEW_DAY.c.cluster == cluster, SKEW_DAY.c.period_start >= since)
    return recent.order_by(*ordered)


def worst_skews(since: datetime) -> Select[Any]:
    """Daily skew of each cluster's worst resource today, oldest first."""
    same = and_(SKEW_DAY.c.cluster == CLUSTER.c.cluster, SKEW_DAY.c.resource == CLUSTER.c.worst_resource)
    worst = select(*SKEW_DAY.c).join_from(SKEW_DAY, CLUSTER, same).where(SKEW_DAY.c.period_start >= since)
    return worst.order_by(SKEW_DAY.c.cluster, SKEW_DAY.c.period_start)


APPLIED = ("verified", "partly_applied")


def applied_plans(cluster: str, since: datetime) -> Select[Any]:
    """Whole or in part, oldest first."""
    read = APPLICATION.c
    applied = select(*read).where(read.cluster == cluster, read.state.in_(APPLIED), read.verified_at >= since)
    return applied.order_by(read.verified_at)


def finding_lanes(cluster: str, since: datetime, limit: int) -> Select[Any]:
    """First and last time of each finding, its count, and the number of findings.

    Worst first, then last seen. Without ``info`` and ``ok``.
    """
    read = FINDING.c
    rank = func.min(case(SEVERITIES, value=read.severity, else_=len(SEVERITIES)))
    last = func.max(read.started_at)
    return (
        select(
            read.code,
            read.subject_type,
            read.subject,
            rank.label("severity_rank"),
            func.min(read.started_at).label("first_seen"),
            last.label("last_seen"),
            func.count().label("times_seen"),
            func.count().over().label("finding_count"),
        )
        .where(read.cluster == cluster, read.started_at >= since, read.severity.not_in(("info", "ok")))
        .group_by(read.code, read.subject_type, read.subject)
        .order_by(rank, last.desc(), read.code, read.subject_type, read.subject)
        .limit(limit)
    )


PAGE_ROWS = 50
AFFECTED_NAMES = 2
SORTS = ("plan", "topic", "bytes", "wave")
KINDS = ("replica", "leader", "order")


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveFilter:
    topic: str = ""
    kind: str = ""
    wave: int | None = None
    broker: int | None = None
    sort: str = "plan"
    is_descending: bool = False
    page: int = 1


def plan(cluster: str, run_id: str) -> Select[Any]:
    """Without its document, which may have megabytes."""
    columns = [column for column in PLAN.c if column.name != "document"]
    return select(*columns).where(PLAN.c.cluster == cluster, PLAN.c.run_id == run_id)


def document_sha256(cluster: str, run_id: str) -> Select[Any]:
    """The database reads the whole document for it."""
    digest = func.encode(func.sha256(func.convert_to(PLAN.c.document, "UTF8")), "hex").label("sha256")
    return select(digest).where(PLAN.c.cluster == cluster, PLAN.c.run_id == run_id)


def plan_document(cluster: str, run_id: str) -> Select[Any]:
    return select(PLAN.c.document, PLAN.c.plan_id).where(PLAN.c.cluster == cluster, PLAN.c.run_id == run_id)


def plan_parts(cluster: str, run_id: str) -> dict[str, Select[Any]]:
    orders = {
        "resources": (PLAN_RESOURCE, (PLAN_RESOURCE.c.resource,)),
        "brokers": (PLAN_BROKER, (PLAN_BROKER.c.resource, PLAN_BROKER.c.broker)),
        "bounds": (BOUND, (BOUND.c.cost,)),
        "waves": (WAVE, (WAVE.c.direction, WAVE.c.wave)),
        "steps": (PLAN_STEP, (PLAN_STEP.c.step,)),
        "frontier": (FRONTIER, (FRONTIER.c.position,)),
    }
    return {
        name: select(*read.c).where(read.c.cluster == cluster, read.c.run_id == run_id).order_by(*order)
        for name, (read, order) in orders.items()
    }


def copies(cluster: str, run_id: str, limit: int) -> Select[Any]:
    """Also the number of brokers that copy."""
    read = WAVE_BROKER.c
    every = select(*read).where(read.cluster == cluster, read.run_id == run_id).cte("every_copy")
    both = func.coalesce(func.sum(every.c.received_bytes), 0) + func.coalesce(func.sum(every.c.sent_bytes), 0)
    most = select(every.c.broker, func.count().over().label("broker_count"), both.label("bytes"))
    top = most.group_by(every.c.broker).order_by(both.desc(), every.c.broker).limit(limit).cte("most_copied")
    return (
        select(*every.c, top.c.broker_count)
        .join_from(every, top, top.c.broker == every.c.broker)
        .order_by(top.c.bytes.desc(), every.c.broker, every.c.wave)
    )


def affected(cluster: str, run_id: str) -> Select[Any]:
    """By step: topics that it moves, the largest copies first, and groups that read them; counts and first names."""
    of_step = and_(
        WAVE.c.cluster == MOVE.c.cluster, WAVE.c.run_id == MOVE.c.run_id, WAVE.c.wave == MOVE.c.wave,
        WAVE.c.direction == "forward", WAVE.c.step.is_not(None),
    )  # fmt: skip
    moved = (
        select(WAVE.c.step, MOVE.c.topic, func.sum(MOVE.c.bytes).label("bytes"))
        .join_from(MOVE, WAVE, of_step)
        .where(MOVE.c.cluster == cluster, MOVE.c.run_id == run_id)
        .group_by(WAVE.c.step, MOVE.c.topic)
        .cte("moved")
    )
    lag, group = GROUP_LAG.c, GROUP_LAG.c.group_id.distinct()
    read = select(moved.c.step, func.count(group).label("count"), _first(group).label("names"))
    read_by = and_(lag.topic == moved.c.topic, lag.cluster == cluster)
    groups = read.join_from(moved, GROUP_LAG, read_by).group_by(moved.c.step).subquery()
    largest = aggregate_order_by(moved.c.topic, moved.c.bytes.desc().nulls_last(), moved.c.topic)
    topics = select(moved.c.step, func.count().label("count"), _first(largest).label("names"))
    topics_of = topics.group_by(moved.c.step).subquery()
    return (
        select(
            topics_of.c.step, topics_of.c.count.label("topic_count"), topics_of.c.names.label("topics"),
            func.coalesce(groups.c.count, 0).label("group_count"), groups.c.names.label("groups"),
        )
        .join_from(topics_of, groups, groups.c.step == topics_of.c.step, isouter=True)
        .order_by(topics_of.c.step)
    )  # fmt: skip


def _first(names: Any) -> ColumnElement[Any]:
    return func.array_agg(names, type_=ARRAY(Text))[1:AFFECTED_NAMES]


def applied_by_wave(cluster: str) -> Select[Any]:
    read = WAVE_STATUS.c
    return select(read.wave, read.applied_count.label("applied")).where(read.cluster == cluster)


def moves(cluster: str, run_id: str, filters: MoveFilter) -> Select[Any]:
    """One page. Moves without bytes come last in both orders; ties are in the plan's order."""
    key = {"plan": MOVE.c.position, "topic": MOVE.c.topic, "bytes": MOVE.c.bytes, "wave": MOVE.c.wave}[filters.sort]
    ordered = (key.desc() if filters.is_descending else key.asc()).nulls_last()
    return (
        select(*MOVE.c)
        .where(*_conditions(cluster, run_id, filters))
        .order_by(ordered, MOVE.c.position)
        .limit(PAGE_ROWS)
        .offset((filters.page - 1) * PAGE_ROWS)
    )


def move_totals(cluster: str, run_id: str, filters: MoveFilter) -> Select[Any]:
    is_unsized = and_(MOVE.c.kind == "replica", MOVE.c.bytes.is_(None))
    counted: list[ColumnElement[Any]] = [
        func.count().label("moves"),
        func.sum(MOVE.c.bytes).label("bytes"),
        func.count().filter(is_unsized).label("unsized"),
    ]
    return select(*counted).where(*_conditions(cluster, run_id, filters))


def _conditions(cluster: str, run_id: str, filters: MoveFilter) -> list[ColumnElement[bool]]:
    conditions = [MOVE.c.cluster == cluster, MOVE.c.run_id == run_id]
    if filters.topic:
        conditions.append(MOVE.c.topic.icontains(filters.topic, autoescape=True))
    if filters.kind:
        conditions.append(MOVE.c.kind == filters.kind)
    if filters.wave is not None:
        conditions.append(MOVE.c.wave == filters.wave)
    if filters.broker is not None:
        broker = literal(filters.broker)
        conditions.append(or_(broker == any_(MOVE.c.from_replicas), broker == any_(MOVE.c.to_replicas)))
    return conditions


def levels_in(cluster: str, run_id: str, resources: Sequence[str], brokers: Collection[int]) -> Select[Any]:
    score = BROKER_SCORE.c
    of_page = (score.cluster == cluster, score.resource.in_(resources), score.broker.in_(brokers))
    return _levels(cluster, run_id).where(*of_page)


def highest_loads(cluster: str, run_id: str) -> Select[Any]:
    """The highest load of each resource, today or after the plan."""
    score = BROKER_SCORE.c
    every = _levels(cluster, run_id).where(score.cluster == cluster).subquery().c
    highest = func.max(func.greatest(every.load, every.load_after))
    return select(every.resource, highest.label("load")).group_by(every.resource)


def lag_days(cluster: str, groups: Collection[str], since: datetime) -> Select[Any]:
    """Oldest first."""
    day = LAG_DAY.c
    recent = select(*day).where(day.cluster == cluster, day.group_id.in_(groups), day.period_start >= since)
    return recent.order_by(day.group_id, day.period_start)


LIST_ROWS = 50
TODAY = "today"


@dataclass(frozen=True, slots=True)
class Listing:
    """``counted``: smaller view for the count."""

    read: TableClause
    name: str
    counted: TableClause


LISTINGS = {
    "brokers": Listing(BROKER_OVERVIEW, "broker", BROKER),
    "topics": Listing(TOPIC_OVERVIEW, "topic", TOPIC),
    "groups": Listing(GROUP_OVERVIEW, "group_id", GROUP),
}

RATES = {"in_bytes_per_s": "in", "out_bytes_per_s": "out"}
"""Columns of brokers that are shown as the newest advisory judged them."""


def listed(kind: str, cluster: str, search: str, sort: str, page: int) -> Select[Any]:
    """Page of a list whose names contain ``search``, in any case.

    ``sort``: a column (greatest first), ``findings`` (worst first) or ``name``. Ties are by name.
    """
    read, name = LISTINGS[kind].read, LISTINGS[kind].name
    statement = select(*read.c).where(*_named(read, name, cluster, search))
    order: list[ColumnElement[Any]] = []
    if sort == "findings":
        order = [case(SEVERITIES, value=read.c.worst_severity, else_=len(SEVERITIES))]
    elif kind == "brokers" and sort in RATES:
        score = BROKER_SCORE.c
        same = and_(score.cluster == read.c.cluster, score.broker == read.c.broker, score.resource == RATES[sort])
        statement = statement.select_from(read.outerjoin(BROKER_SCORE, same))
        order = [func.coalesce(score.load, read.c[sort]).desc().nulls_last()]
    elif sort != "name":
        order = [read.c[sort].desc().nulls_last()]
    return statement.order_by(*order, read.c[name]).limit(LIST_ROWS).offset((page - 1) * LIST_ROWS)


def list_total(kind: str, cluster: str, search: str) -> Select[Any]:
    counted, name = LISTINGS[kind].counted, LISTINGS[kind].name
    return select(func.count().label("rows")).where(*_named(counted, name, cluster, search))


def _named(read: TableClause, name: str, cluster: str, search: str) -> list[ColumnElement[bool]]:
    conditions = [read.c.cluster == cluster]
    if search:
        conditions.append(read.c[name].icontains(search, autoescape=True))
    return conditions


def matches(text: str, clusters: Collection[str], page: int) -> Select[Any]:
    """Page of brokers whose id is ``text``, and of topics and groups whose names contain it, in any case.

    Equal names come first, then by kind, name and cluster. One row more tells that there is another page.
    """
    each: list[Select[Any]] = []
    broker = text.lower().removeprefix("broker").strip()
    if broker.isdecimal() and int(broker) < 2**31:
        each.append(_called("broker", BROKER, cast(BROKER.c.broker, Text)).where(BROKER.c.broker == int(broker)))
    for kind, read, name in (("topic", TOPIC, TOPIC.c.topic), ("group", GROUP, GROUP.c.group_id)):
        each.append(_called(kind, read, name).where(name.icontains(text, autoescape=True)))
    of_all = union_all(*each).subquery().c
    is_equal = or_(of_all.kind == "broker", func.lower(of_all.name) == text.lower())
    ordered = select(*of_all).where(of_all.cluster.in_(clusters))
    ordered = ordered.order_by(is_equal.desc(), of_all.kind, of_all.name, of_all.cluster)
    return ordered.limit(LIST_ROWS + 1).offset((page - 1) * LIST_ROWS)


def _called(kind: str, read: TableClause, name: ColumnElement[Any]) -> Select[Any]:
    return select(literal(kind).label("kind"), read.c.cluster, name.label("name"))


def broker_parts(cluster: str, run_id: str, broker: int) -> dict[str, Select[Any]]:
    of_broker = {
        name: select(*read.c).where(read.c.cluster == cluster, read.c.broker == broker)
        for name, read in {"broker": BROKER, "disks": DISK, "grown": TOPIC_CHANGE}.items()
    }
    held = BROKER_OVERVIEW.c
    return {
        "broker": of_broker["broker"],
        "held": select(held.replica_count, held.leader_count).where(held.cluster == cluster, held.broker == broker),
        "levels": levels_of(cluster, run_id, broker),
        "disks": of_broker["disks"],
        "grown": of_broker["grown"]
        .where(TOPIC_CHANGE.c.earlier_captured_at.is_not(None))
        .order_by(func.abs(TOPIC_CHANGE.c.bytes_change).desc().nulls_last())
        .limit(10),
    }


def mentions_of(cluster: str, broker: int) -> Select[Any]:
    """A row if a group or the history names it: pages link to it, though the newest snapshot may lack it."""
    group, day = GROUP.c, LEVEL_DAY.c
    return select(literal(1)).where(
        or_(
            exists().where(group.cluster == cluster, group.coordinator == broker),
            exists().where(day.cluster == cluster, day.broker == broker),
        )
    )


def _size_on(broker: int) -> ColumnElement[Any]:
    """The broker's own replica size, else the partition's size."""
    sizes = type_coerce(PARTITION.c.log_bytes, ARRAY(BigInteger))
    return func.coalesce(sizes[func.array_position(PARTITION.c.replicas, broker)], LOAD.c.log_bytes)


def partitions_on(cluster: str, broker: int, page: int) -> Select[Any]:
    """A page of its replicas, largest first, and one more."""
    size = _size_on(broker)
    is_here = literal(broker) == any_(PARTITION.c.replicas)
    return (
        select(
            PARTITION.c.topic,
            PARTITION.c.partition,
            size.label("log_bytes"),
            LOAD.c.in_bytes_per_s,
            PARTITION.c.leader,
            (literal(broker) == any_(PARTITION.c.isr)).label("is_in_sync"),
        )
        .select_from(PARTITION.outerjoin(LOAD, _SAME_PARTITION))
        .where(PARTITION.c.cluster == cluster, is_here)
        .order_by(size.desc().nulls_last(), PARTITION.c.topic, PARTITION.c.partition)
        .limit(LIST_ROWS + 1)
        .offset((page - 1) * LIST_ROWS)
    )


_SAME_PARTITION = and_(
    LOAD.c.cluster == PARTITION.c.cluster, LOAD.c.topic == PARTITION.c.topic, LOAD.c.partition == PARTITION.c.partition
)


def carried_by(cluster: str, broker: int, limit: int) -> Select[Any]:
    """Largest first."""
    written, held = func.sum(LOAD.c.in_bytes_per_s), func.sum(_size_on(broker))
    return (
        select(
            PARTITION.c.topic,
            func.count().label("replicas"),
            func.count().filter(PARTITION.c.leader == broker).label("leaders"),
            held.label("log_bytes"),
            written.label("in_bytes_per_s"),
        )
        .select_from(PARTITION.outerjoin(LOAD, _SAME_PARTITION))
        .where(PARTITION.c.cluster == cluster, literal(broker) == any_(PARTITION.c.replicas))
        .group_by(PARTITION.c.topic)
        .order_by(*(most.desc().nulls_last() for most in (held, written)), PARTITION.c.topic)
        .limit(limit)
    )


def topic_parts(cluster: str, topic: str, page: int) -> dict[str, Select[Any]]:
    score = TOPIC_SCORE.c
    placers = (
        select(
            score.placer,
            func.count().label("seeds"),
            func.avg(score.replica_skew).label("replica_skew"),
            func.avg(score.leader_skew).label("leader_skew"),
            func.avg(score.replica_moves).label("replica_moves"),
            func.max(score.rack_violations).label("rack_violations"),
        )
        .where(score.cluster == cluster, score.topic == topic)
        .group_by(score.placer)
        .order_by(score.placer != "current", score.placer)
    )
    partitions = select(*PARTITION.c).where(PARTITION.c.cluster == cluster, PARTITION.c.topic == topic)
    readers = select(*GROUP_LAG.c).where(GROUP_LAG.c.cluster == cluster, GROUP_LAG.c.topic == topic)
    loads = select(*LOAD.c).where(LOAD.c.cluster == cluster, LOAD.c.topic == topic)
    return {
        "topic": select(*TOPIC.c).where(TOPIC.c.cluster == cluster, TOPIC.c.topic == topic),
        "loads": loads.order_by(LOAD.c.partition),
        "placers": placers,
        "partitions": partitions.order_by(PARTITION.c.partition).limit(LIST_ROWS + 1).offset((page - 1) * LIST_ROWS),
        "readers": readers.order_by(GROUP_LAG.c.lag_messages.desc().nulls_last(), GROUP_LAG.c.group_id).limit(
            LIST_ROWS
        ),
    }


def moves_of_topic(cluster: str, run_id: str, topic: str) -> Select[Any]:
    return select(*MOVE.c).where(MOVE.c.cluster == cluster, MOVE.c.run_id == run_id, MOVE.c.topic == topic)


def racks_of(cluster: str, brokers: Collection[int]) -> Select[Any]:
    """Without brokers that are gone."""
    return select(BROKER.c.broker, BROKER.c.rack).where(BROKER.c.cluster == cluster, BROKER.c.broker.in_(brokers))


def group_parts(cluster: str, group_id: str, since: datetime) -> dict[str, Select[Any]]:
    of_group = {
        name: select(*read.c).where(read.c.cluster == cluster, read.c.group_id == group_id)
        for name, read in {
            "group": GROUP, "overview": GROUP_OVERVIEW, "scores": GROUP_SCORE, "drain": GROUP_DRAIN, "lag": GROUP_LAG,
            "members": MEMBER_SCORE, "tasks": STREAMS_SCENARIO, "workers": WORKER,
        }.items()
    }  # fmt: skip
    score, member = GROUP_SCORE.c, MEMBER_SCORE.c
    best_first = (
        score.is_current.desc(),
        score.is_recommended.desc(),
        score.skew_rate.asc().nulls_last(),
        score.assignor,
    )
    return {
        "group": of_group["group"],
        "overview": of_group["overview"],
        "drain": of_group["drain"],
        "strategies": of_group["scores"].where(score.scenario == TODAY).order_by(*best_first),
        "scenarios": of_group["scores"]
        .where(score.scenario != TODAY, score.is_current | score.is_recommended)
        .order_by(score.scenario, *best_first)
        .limit(LIST_ROWS),
        "lag": of_group["lag"].order_by(GROUP_LAG.c.lag_messages.desc().nulls_last()).limit(LIST_ROWS),
        "members": of_group["members"]
        .where(member.is_current)
        .order_by(member.lag_messages.desc().nulls_last(), member.member_id)
        .limit(LIST_ROWS),
        "advised_members": of_group["members"].where(member.is_recommended, ~member.is_current),
        "instances": _instances(cluster, group_id),
        "tasks": of_group["tasks"].order_by(STREAMS_SCENARIO.c.scenario != TODAY, STREAMS_SCENARIO.c.scenario),
        "workers": of_group["workers"]
        .where(WORKER.c.worker.is_not(None))
        .order_by(WORKER.c.member_id)
        .limit(LIST_ROWS),
        "lag_days": lag_days(cluster, [group_id], since),
    }


def _instances(cluster: str, group_id: str) -> Select[Any]:
    """Instances of a Streams application with their threads and tasks; those with the most active tasks first."""
    read = STREAMS_MEMBER.c
    sums = {name: func.sum(read[name]) for name in ("active_tasks", "standby_tasks", "warmup_tasks")}
    threads = func.count().label("threads")
    return (
        select(read.process_id, threads, *(total.label(name) for name, total in sums.items()))
        .where(read.cluster == cluster, read.group_id == group_id)
        .group_by(read.process_id)
        .order_by(sums["active_tasks"].desc(), read.process_id)
        .limit(LIST_ROWS)
    )
