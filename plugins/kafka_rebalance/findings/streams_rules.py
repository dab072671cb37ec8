"""Findings on groups of Kafka Streams, from rows of ``groups.streams_tasks``. A group that moves is not judged."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

import numpy as np

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.context import FindingContext, Remedy, finding, threshold
from kafka_rebalance.findings.finding import Finding, Severity
from kafka_rebalance.groups.group_input import GroupInput
from kafka_rebalance.groups.streams_tasks import MissingPart, StreamsReplay, StreamsScenario, StreamsScore
from kafka_rebalance.snapshot.figures import LoadKind

_MOST_TOPICS = 3


class StreamsCause(StrEnum):
    """Cause of idle members, missing standbys or uneven tasks."""

    FEWER_TASKS = "fewer_tasks"
    FEW_INSTANCES = "few_instances"
    NEXT_TARGET = "next_target"  # mends it
    KEPT = "kept"  # by the next target, too
    UNKNOWN = "unknown"


def streams_threads_idle(context: FindingContext) -> Iterator[Finding]:
    """Members without a task, and why."""
    for group_input, tasks, today in _judged_groups(context):
        cause = _idle_cause(tasks, today)
        if cause is None:
            continue
        topics, partitions = _widest_topics(group_input)
        idle_ratio = today.idle_members / today.members
        after = tasks.worst_of(StreamsScenario.NEXT_TARGET)
        idle = [member for member in tasks.members if not member.active and not member.standby and not member.warmup]
        yield finding(
            "streams_threads_idle",
            Severity.MEDIUM if idle_ratio >= threshold("streams_threads_idle", "medium_idle_ratio") else Severity.LOW,
            tasks.group_id,
            {
                "idle_members": today.idle_members,
                "members": today.members,
                "instances": today.processes,
                "active_tasks": today.active_tasks,
                "standby_tasks": today.standby_tasks,
                "cause": cause.value,
                "example": idle[0].member_id,
            },
            Remedy(
                fact(
                    FactCode.STREAMS_THREADS_IDLE,
                    idle_members=today.idle_members,
                    members=today.members,
                    tasks=today.active_tasks + today.standby_tasks + today.warmup_tasks,
                    cause=cause.value,
                    topics=topics,
                    partitions=partitions,
                    is_stateful=any(part.changelog_topics for part in group_input.group.subtopologies),
                    idle_after=None if after is None else after.idle_members,
                ),
                gain=idle_ratio,
            ),
        )


def streams_no_standby(context: FindingContext) -> Iterator[Finding]:
    """Without standbys, the death of an instance restores tasks from large changelogs."""
    for group_input, tasks, today in _judged_groups(context):
        dies = tasks.worst_of(StreamsScenario.INSTANCE_DIES)
        if not tasks.wants_no_standby or dies is None or not dies.active_restored:
            continue
        changelogs = _changelogs_by_name(context, tasks.group_id) if tasks.is_classic else _changelogs(group_input)
        state_bytes, ratio = _state(context, changelogs)
        if ratio is not None and ratio < threshold("streams_no_standby", "least_state_ratio"):
            continue
        is_large = ratio is not None and ratio >= threshold("streams_no_standby", "medium_state_ratio")
        kept = tasks.worst_of(StreamsScenario.INSTANCE_DIES_WITH_STANDBYS)
        restored_with = None if kept is None else kept.active_restored
        yield finding(
            "streams_no_standby",
            Severity.MEDIUM if is_large else Severity.LOW,
            tasks.group_id,
            {
                "instances": today.processes,
                "instance": dies.instances[0],
                "tasks_moved": dies.active_moved,
                "tasks_restored": dies.active_restored,
                "tasks_restored_with_standbys": restored_with,
                "changelog_bytes": state_bytes,
            },
            Remedy(
                fact(
                    FactCode.STREAMS_NO_STANDBY,
                    instance=dies.instances[0],
                    tasks_restored=dies.active_restored,
                    tasks_restored_with=restored_with,
                    state_bytes=state_bytes,
                    is_classic=tasks.is_classic,
                ),
                cost=fact(FactCode.STREAMS_STATE_TWICE, state_bytes=state_bytes),
                gain=0.0 if restored_with is None else 1 - restored_with / dies.active_restored,
            ),
        )


def streams_standbys_missing(context: FindingContext) -> Iterator[Finding]:
    """The group asks for standbys that no instance has."""
    for _, tasks, today in _judged_groups(context):
        if not today.standbys_missing or tasks.standby_replicas is None:
            continue
        standbys = today.standby_tasks + today.standbys_missing
        after = tasks.worst_of(StreamsScenario.NEXT_TARGET)
        processes = today.processes
        if processes is not None and processes <= tasks.standby_replicas:
            cause = StreamsCause.FEW_INSTANCES
        else:
            cause = _mends(
                after, is_mended=after is not None and (after.standbys_missing or 0) < today.standbys_missing
            )
        yield finding(
            "streams_standbys_missing",
            Severity.LOW if today.standby_tasks else Severity.MEDIUM,
            tasks.group_id,
            {
                "standbys_missing": today.standbys_missing,
                "standbys_wanted": standbys,
                "standby_replicas": tasks.standby_replicas,
                "instances": processes,
                "cause": cause.value,
            },
            Remedy(
                fact(
                    FactCode.STREAMS_STANDBYS_MISSING,
                    standbys_missing=today.standbys_missing,
                    standbys_wanted=standbys,
                    standby_replicas=tasks.standby_replicas,
                    instances=processes,
                    cause=cause.value,
                    missing_after=None if after is None else after.standbys_missing,
                ),
                gain=today.standbys_missing / standbys,
            ),
        )


def streams_tasks_uneven(context: FindingContext) -> Iterator[Finding]:
    """One member has far more active tasks than another."""
    for _, tasks, today in _judged_groups(context):
        difference = today.most_active - today.least_active
        mean = today.active_tasks / today.members
        is_far = today.most_active >= mean * threshold("streams_tasks_uneven", "most_mean_ratio")
        # Idle members have their own finding, unless there are too few tasks for all.
        is_explained = _idle_cause(tasks, today) not in (None, StreamsCause.FEWER_TASKS)
        if is_explained or not is_far or difference < threshold("streams_tasks_uneven", "least_difference"):
            continue
        after = tasks.worst_of(StreamsScenario.NEXT_TARGET)
        cause = _mends(after, is_mended=after is not None and after.most_active - after.least_active < difference)
        is_double = today.most_active >= mean * threshold("streams_tasks_uneven", "medium_mean_ratio")
        fewest = -(-today.active_tasks // today.members)
        mended = after.most_active if after is not None and cause is StreamsCause.NEXT_TARGET else fewest
        yield finding(
            "streams_tasks_uneven",
            Severity.MEDIUM if is_double else Severity.LOW,
            tasks.group_id,
            {
                "most_active": today.most_active,
                "least_active": today.least_active,
                "active_tasks": today.active_tasks,
                "members": today.members,
                "cause": cause.value,
                "most_active_after": None if after is None else after.most_active,
                "least_active_after": None if after is None else after.least_active,
            },
            Remedy(
                fact(
                    FactCode.STREAMS_TASKS_UNEVEN,
                    most=today.most_active,
                    least=today.least_active,
                    cause=cause.value,
                    most_after=None if after is None else after.most_active,
                    least_after=None if after is None else after.least_active,
                    tasks_moved=None if after is None else after.active_moved,
                    tasks_restored=None if after is None else after.active_restored,
                    fewest=fewest,
                ),
                gain=1 - mended / today.most_active,
            ),
        )


def streams_standbys_move(context: FindingContext) -> Iterator[Finding]:
    """The next target moves standbys, though nothing changed: their state is read again."""
    for _, tasks, today in _judged_groups(context):
        after = tasks.worst_of(StreamsScenario.NEXT_TARGET)
        if after is None or today.standbys_missing or not after.standbys_restored:
            continue
        yield finding(
            "streams_standbys_move",
            Severity.LOW,
            tasks.group_id,
            {
                "standbys_restored": after.standbys_restored,
                "standby_tasks": today.standby_tasks,
                "tasks_moved": after.active_moved,
                "tasks_restored": after.active_restored,
            },
            Remedy(
                fact(
                    FactCode.STREAMS_STANDBYS_MOVE,
                    standbys_restored=after.standbys_restored,
                    standby_tasks=today.standby_tasks,
                    tasks_moved=after.active_moved,
                )
            ),
        )


def _judged_groups(context: FindingContext) -> Iterator[tuple[GroupInput, StreamsReplay, StreamsScore]]:
    for replay in context.replays:
        tasks = replay.streams
        if tasks is None or tasks.today is None or not tasks.members or replay.group_id in context.motions:
            continue
        if MissingPart.SETTLED_STATE not in tasks.missing:
            yield context.group_inputs[replay.group_id], tasks, tasks.today


def _idle_cause(tasks: StreamsReplay, today: StreamsScore) -> StreamsCause | None:
    """Return why members are idle; with fewer tasks than members some always are."""
    if not today.idle_members:
        return None
    task_count = today.active_tasks + today.standby_tasks + today.warmup_tasks + (today.standbys_missing or 0)
    if today.members > task_count:
        return StreamsCause.FEWER_TASKS
    after = tasks.worst_of(StreamsScenario.NEXT_TARGET)
    return _mends(after, is_mended=after is not None and after.idle_members < today.idle_members)


def _mends(after: StreamsScore | None, *, is_mended: bool) -> StreamsCause:
    if after is None:
        return StreamsCause.UNKNOWN
    return StreamsCause.NEXT_TARGET if is_mended else StreamsCause.KEPT


def _widest_topics(group_input: GroupInput) -> tuple[tuple[str, ...], int | None]:
    """Return the source topics that decide the largest subtopology's number of tasks, and their partitions."""
    counts = dict(zip(group_input.topics, group_input.partition_counts.tolist(), strict=True))
    sources = {topic for part in group_input.group.subtopologies for topic in part.source_topics}
    most = max((counts.get(topic, 0) for topic in sources), default=0)
    widest = tuple(sorted(topic for topic in sources if counts.get(topic) == most)) if most > 0 else ()
    return widest[:_MOST_TOPICS], most or None


def _changelogs(group_input: GroupInput) -> frozenset[str]:
    return frozenset(topic for part in group_input.group.subtopologies for topic in part.changelog_topics)


def _changelogs_by_name(context: FindingContext, group_id: str) -> frozenset[str] | None:
    """Return APPLICATION-STORE-changelog: classic Streams tells no topology. None: none is in the snapshot."""
    others = tuple(f"{other}-" for other in context.group_inputs if other.startswith(f"{group_id}-"))
    changelogs = frozenset(
        topic
        for topic in context.topic_rows
        if topic.startswith(f"{group_id}-") and topic.endswith("-changelog") and not topic.startswith(others)
    )
    return changelogs or None


def _state(context: FindingContext, topics: frozenset[str] | None) -> tuple[int | None, float | None]:
    """Return bytes of changelogs, and their ratio to all bytes; leaders alone count."""
    if topics is None:
        return None, None
    sizes = context.snapshot.load(LoadKind.LOG_BYTES)
    rows = [row for topic in sorted(topics) for row in context.topic_rows.get(topic, ())]
    state_sizes, total = sizes[rows], float(np.nansum(sizes))
    if not topics <= context.topic_rows.keys() or np.isnan(state_sizes).any():
        return None, None
    return int(state_sizes.sum()), float(state_sizes.sum()) / total if total else None
