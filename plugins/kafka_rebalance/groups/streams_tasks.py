"""Tasks of a Streams group (KIP-1071): today, and after an instance dies or joins.

Promises, in this order: a row is the exact answer of the brokers' ``sticky`` assignor, or there is none and ``missing``
names the unknown input; the same seed draws the same instances.

An instance is one process; its threads, which are members, leave or join together before the next target. (A
coordinator that notices them one by one computes targets between.) Ids of a new instance are drawn, and ids decide
ties.

Example: four stateful tasks, one standby each, on instances p (active 0, 1) and q (active 2, 3). If q dies, p gets 2
and 3 with their state, four standbys have no instance, and nothing is restored. If r joins, it restores one active
task.

Complexity: variants × the assignor's own, O(tasks · standbys + members).
"""

from __future__ import annotations

import base64
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from kafka_assignors.releases import seen_release
from kafka_assignors.streams import (
    STREAMS_STICKY,
    StreamsMember,
    StreamsRequest,
    StreamsStickyAssignor,
    StreamsSubtopology,
    Task,
)
from kafka_rebalance.groups.group_input import GroupInput
from kafka_rebalance.groups.motion import motion_of
from kafka_rebalance.groups.request_frame import feeding_order
from kafka_rebalance.scenarios.changes import lots_of
from kafka_rebalance.snapshot.group import Group, Member, Subtopology, TaskIds, Tasks
from kafka_rebalance.snapshot.model import Broker

_GROUP_STANDBYS, _BROKER_STANDBYS = "streams.num.standby.replicas", "group.streams.num.standby.replicas"
MOST_DEATHS, JOINS = 12, 3  # variants of a scenario


class MissingPart(StrEnum):
    SETTLED_STATE = "settled_state"
    TOPOLOGY = "topology"
    PARTITION_COUNTS = "partition_counts"
    PROCESS_IDS = "process_ids"
    TASKS = "tasks"
    RELEASE = "release"  # unknown, or not modelled
    STANDBY_REPLICAS = "standby_replicas"
    TASK_OFFSETS = "task_offsets"  # 4.4 uses how far members restored stateful tasks


class StreamsScenario(StrEnum):
    TODAY = "today"
    NEXT_TARGET = "next_target"  # computed again without a change
    INSTANCE_DIES = "instance_dies"
    INSTANCE_JOINS = "instance_joins"
    INSTANCES_HALVED = "instances_halved"


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsScore:
    """One variant of a scenario. ``instances``: process ids that die or join.

    ``most_active`` and ``least_active``: of one member. ``idle_members`` have no task. ``standbys_missing``: requested
    ones without an instance. Against today: ``active_moved`` to another member; ``active_restored`` and
    ``standbys_restored``: stateful tasks on an instance that had neither form, so the changelog is read.
    """

    scenario: StreamsScenario
    instances: tuple[str, ...]
    members: int
    processes: int
    active_tasks: int
    standby_tasks: int
    most_active: int
    least_active: int
    idle_members: int
    standbys_missing: int
    active_moved: int = 0
    active_restored: int = 0
    standbys_restored: int = 0


@dataclass(frozen=True, slots=True)
class StreamsReplay:
    """``rows``: today first; empty with a missing part. ``is_reproduced``: the next target is today's assignment."""

    group_id: str
    missing: tuple[MissingPart, ...]
    rows: tuple[StreamsScore, ...] = ()
    is_reproduced: bool | None = None


def standby_replicas_of(group: Group, brokers: Iterable[Broker]) -> int | None:
    """Return the requested standbys of each task: the group's setting, else the brokers' common one."""
    own = group.configs.get(_GROUP_STANDBYS)
    found = {own} if own is not None else {broker.configs.get(_BROKER_STANDBYS) for broker in brokers}
    value = found.pop() if len(found) == 1 else None
    return int(value) if value is not None and value.isdecimal() else None


def replay_streams_group(group_input: GroupInput, standby_replicas: int | None, seed: int = 0) -> StreamsReplay:
    group = group_input.group
    found = [
        known for known in STREAMS_STICKY if known.releases.touches(seen_release(group_input.kafka_version) or (0,))
    ]
    assignor = found[0] if len(found) == 1 else None
    missing = tuple(_missing(group_input, assignor, standby_replicas))
    if missing or assignor is None or standby_replicas is None:
        return StreamsReplay(group.id, missing)
    today = _request(group_input, standby_replicas)
    rows = [_score(StreamsScenario.TODAY, (), today, today)]
    if not group.members:
        return StreamsReplay(group.id, (), tuple(rows))
    again = _after(assignor, today)
    rows.append(_score(StreamsScenario.NEXT_TARGET, (), today, again))
    for scenario, instances, changed in _variants(today, group.id, seed):
        rows.append(_score(scenario, instances, today, _after(assignor, changed)))
    return StreamsReplay(group.id, (), tuple(rows), is_reproduced=_placed(again) == _placed(today))


def _missing(
    group_input: GroupInput, assignor: StreamsStickyAssignor | None, standby_replicas: int | None
) -> Iterator[MissingPart]:
    group = group_input.group
    if motion_of(group) is not None or any(member.target_tasks not in (None, member.tasks) for member in group.members):
        yield MissingPart.SETTLED_STATE
    if not group.subtopologies:
        yield MissingPart.TOPOLOGY
    counts = _partition_counts(group_input)
    if any(topic not in counts for part in group.subtopologies for topic in part.read_topics):
        yield MissingPart.PARTITION_COUNTS
    if any(member.process_id is None for member in group.members):
        yield MissingPart.PROCESS_IDS
    if any(member.tasks is None for member in group.members):
        yield MissingPart.TASKS
    if assignor is None:
        yield MissingPart.RELEASE
    if standby_replicas is None:
        yield MissingPart.STANDBY_REPLICAS
    if assignor is not None and assignor.reads_offsets and any(part.changelog_topics for part in group.subtopologies):
        yield MissingPart.TASK_OFFSETS


def _partition_counts(group_input: GroupInput) -> dict[str, int]:
    counts = zip(group_input.topics, group_input.partition_counts.tolist(), strict=True)
    return {topic: count for topic, count in counts if count >= 0}


def _request(group_input: GroupInput, standby_replicas: int) -> StreamsRequest:
    group, counts = group_input.group, _partition_counts(group_input)
    order = feeding_order(group.members, seen_release(group_input.kafka_version), is_server=True)
    listed = group.members if order is None else tuple(group.members[place] for place in order.tolist())
    return StreamsRequest(
        subtopologies=tuple(_subtopology(part, counts) for part in group.subtopologies),
        members=tuple(_member(member) for member in listed),
        standby_replicas=standby_replicas,
    )


def _subtopology(part: Subtopology, counts: dict[str, int]) -> StreamsSubtopology:
    tasks = max((counts[topic] for topic in part.read_topics), default=0)
    return StreamsSubtopology(part.id, tasks, is_stateful=bool(part.changelog_topics))


def _member(member: Member) -> StreamsMember:
    tasks = member.tasks or Tasks()
    active, standby = _listed(tasks.active), _listed(tasks.standby)
    return StreamsMember(id=member.id, process_id=member.process_id or "", active=active, standby=standby)


def _listed(tasks: TaskIds) -> tuple[Task, ...]:
    return tuple(Task(subtopology, partition) for subtopology, numbers in tasks for partition in numbers)


def _after(assignor: StreamsStickyAssignor, request: StreamsRequest) -> StreamsRequest:
    given = zip(request.members, assignor.assign(request), strict=True)
    members = tuple(replace(member, active=tasks.active, standby=tasks.standby) for member, tasks in given)
    return replace(request, members=members)


def _variants(
    today: StreamsRequest, group_id: str, seed: int
) -> Iterator[tuple[StreamsScenario, tuple[str, ...], StreamsRequest]]:
    """Each instance dies (or a drawn part); one joins, with the threads of a drawn one; half of them die."""
    processes = sorted({member.process_id for member in today.members})
    lots = lots_of(group_id, StreamsScenario.INSTANCE_DIES, seed)
    for process in sorted(lots.permutation(processes)[:MOST_DEATHS].tolist()) if len(processes) > 1 else ():
        yield StreamsScenario.INSTANCE_DIES, (process,), _without(today, {process})
    lots = lots_of(group_id, StreamsScenario.INSTANCE_JOINS, seed)
    for _ in range(JOINS):
        like = processes[int(lots.integers(len(processes)))]
        threads = sum(member.process_id == like for member in today.members)
        process = str(uuid.UUID(bytes=lots.bytes(16), version=4))
        joining = tuple(StreamsMember(id=_drawn_id(lots), process_id=process) for _ in range(threads))
        yield StreamsScenario.INSTANCE_JOINS, (process,), replace(today, members=today.members + joining)
    if len(processes) > 2:  # one of two is half
        lots = lots_of(group_id, StreamsScenario.INSTANCES_HALVED, seed)
        half = tuple(sorted(lots.permutation(processes)[: len(processes) // 2].tolist()))
        yield StreamsScenario.INSTANCES_HALVED, half, _without(today, half)


def _drawn_id(lots: np.random.Generator) -> str:
    """Return a Kafka Uuid of 22 characters, as a client makes for each thread."""
    return base64.urlsafe_b64encode(uuid.UUID(bytes=lots.bytes(16), version=4).bytes).decode().rstrip("=")


def _without(today: StreamsRequest, processes: Iterable[str]) -> StreamsRequest:
    lost = set(processes)
    return replace(today, members=tuple(member for member in today.members if member.process_id not in lost))


def _score(
    scenario: StreamsScenario, instances: Sequence[str], before: StreamsRequest, after: StreamsRequest
) -> StreamsScore:
    stateful = {part.id for part in after.subtopologies if part.is_stateful}
    active = [len(member.active) for member in after.members]
    standby_tasks = sum(len(member.standby) for member in after.members)
    wanted = after.standby_replicas * sum(part.tasks for part in after.subtopologies if part.is_stateful)
    owner = {task: member.id for member in before.members for task in member.active}
    held = {(member.process_id, task) for member in before.members for task in (*member.active, *member.standby)}
    return StreamsScore(
        scenario=scenario,
        instances=tuple(instances),
        members=len(after.members),
        processes=len({member.process_id for member in after.members}),
        active_tasks=sum(active),
        standby_tasks=standby_tasks,
        most_active=max(active, default=0),
        least_active=min(active, default=0),
        idle_members=sum(not member.active and not member.standby for member in after.members),
        standbys_missing=max(0, wanted - standby_tasks),
        active_moved=sum(owner.get(task, member.id) != member.id for member in after.members for task in member.active),
        active_restored=sum(
            task.subtopology in stateful and (member.process_id, task) not in held
            for member in after.members
            for task in member.active
        ),
        standbys_restored=sum(
            (member.process_id, task) not in held for member in after.members for task in member.standby
        ),
    )


def _placed(request: StreamsRequest) -> Counter[tuple[str, str, Task]]:
    kinds = ((member.id, kind, tasks) for member in request.members for kind, tasks in _kinds(member))
    return Counter((member, kind, task) for member, kind, tasks in kinds for task in tasks)


def _kinds(member: StreamsMember) -> tuple[tuple[str, tuple[Task, ...]], ...]:
    return ("active", member.active), ("standby", member.standby)
