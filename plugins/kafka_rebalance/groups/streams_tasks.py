"""How a Streams group divides its tasks: today, and of KIP-1071 after an instance dies or joins.

``classic_streams`` has the classic protocol.

Promises, in this order: a foretold row is the exact answer of the ``sticky`` assignor of the brokers' release, or
``missing`` says which input is unknown; today's row needs each member's tasks only; the same seed draws the same
instances.

An instance is one process; its threads, which are members, leave or join together before the next target. Task offsets
stay. Ids of a new instance are drawn, and ids decide ties.

Example: four stateful tasks, one standby each, on instances p (active 0, 1) and q (active 2, 3). If q dies, p gets 2
and 3 with their state, four standbys have no instance, and nothing is restored. If r joins, it restores one active
task.

Complexity: variants × the assignor's own, O(tasks · standbys + members).
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.groups.group_input import GroupInput
from kafka_rebalance.groups.motion import motion_of
from kafka_rebalance.groups.request_frame import feeding_order
from kafka_rebalance.scenarios.changes import lots_of
from kafka_rebalance.snapshot.coverage import CoverageGap
from kafka_rebalance.snapshot.figures import uuid_text
from kafka_rebalance.snapshot.group import Member, Subtopology, TaskIds, Tasks

MOST_DEATHS, JOINS = 12, 3
_ASSIGNOR_NAME, _STICKY = "streams.assignor.name", "sticky"


class MissingPart(StrEnum):
    SETTLED_STATE = "settled_state"
    TOPOLOGY = "topology"
    PARTITION_COUNTS = "partition_counts"
    PROCESS_IDS = "process_ids"
    TASKS = "tasks"
    RELEASE = "release"  # unknown, or not modelled
    STANDBY_REPLICAS = "standby_replicas"
    APPLICATION_SETTINGS = "application_settings"  # classic: several explain today's tasks, and disagree
    CLIENT_RELEASE = "client_release"
    RACK_STRATEGY = "rack_strategy"
    TASKS_AT_REST = "tasks_at_rest"  # none of the settings explains today's tasks
    ASSIGNOR = "assignor"  # not sticky
    TASK_OFFSETS = "task_offsets"  # 4.4 uses them


class StreamsScenario(StrEnum):
    TODAY = "today"
    NEXT_TARGET = "next_target"
    INSTANCE_DIES = "instance_dies"
    INSTANCE_DIES_WITH_STANDBYS = "instance_dies_with_standbys"  # as if each stateful task had one standby
    INSTANCE_JOINS = "instance_joins"
    INSTANCES_HALVED = "instances_halved"


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsScore:
    """One variant: ``instances`` die or join, ``processes`` is the number then. ``None``: unknown.

    ``idle_members`` have no task of any kind. ``standbys_missing``: without an instance. ``active_of_instances`` and
    ``standbys_of_instances``: of those that die or join. Against today: ``active_restored`` and ``standbys_restored``:
    stateful tasks on an instance that had them in neither form, read from the changelog.
    """

    scenario: StreamsScenario
    instances: tuple[str, ...]
    members: int
    processes: int | None
    active_tasks: int
    standby_tasks: int
    warmup_tasks: int
    most_active: int
    least_active: int
    idle_members: int
    standbys_missing: int | None
    active_of_instances: int = 0
    standbys_of_instances: int = 0
    active_moved: int = 0
    active_restored: int = 0
    standbys_restored: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberTaskCounts:
    member_id: str
    process_id: str | None
    rack: str | None
    active: int
    standby: int
    warmup: int


@dataclass(frozen=True, slots=True)
class RestSettings:
    """Settings of a classic application that give exactly today's tasks.

    ``unknown``: scenarios on which they disagree.
    """

    standby_replicas: tuple[int, ...]
    tags: tuple[tuple[str, ...], ...]
    unknown: tuple[StreamsScenario, ...] = ()


@dataclass(frozen=True, slots=True)
class StreamsReplay:
    """``rows``: today first, empty where a member's tasks are unknown; others if nothing is ``missing``.

    ``is_reproduced``: the next target is what members have. ``standby_replicas``: requested for each stateful task.
    ``at_rest``: of classic Streams, what gives today's tasks.
    """

    group_id: str
    missing: tuple[MissingPart, ...]
    rows: tuple[StreamsScore, ...] = ()
    is_reproduced: bool | None = None
    members: tuple[MemberTaskCounts, ...] = ()
    standby_replicas: int | None = None
    at_rest: RestSettings | None = None
    is_classic: bool = False

    @property
    def gap(self) -> CoverageGap | None:
        """Return the gap by ``missing``; None in a moving group and in classic Streams."""
        parts = tuple(part.value for part in self.missing)
        if not parts or self.is_classic or MissingPart.SETTLED_STATE in self.missing:
            return None
        reason = fact(FactCode.STREAMS_PARTS_UNKNOWN, inputs=parts)
        return CoverageGap("group", self.group_id, fact(FactCode.LACKS_STREAMS_REPLAY), reason)

    @property
    def wants_no_standby(self) -> bool:
        """Whether its settings, or all that explain a classic application's tasks, ask for no standby."""
        return self.standby_replicas == 0 or (self.at_rest is not None and self.at_rest.standby_replicas == (0,))

    @property
    def today(self) -> StreamsScore | None:
        """Today's row; None where a member's tasks are unknown."""
        return self.rows[0] if self.rows else None

    def rows_of(self, scenario: StreamsScenario) -> tuple[StreamsScore, ...]:
        return tuple(row for row in self.rows if row.scenario is scenario)

    def worst_of(self, scenario: StreamsScenario) -> StreamsScore | None:
        """Return the first variant that restores most, then moves most."""
        rows = self.rows_of(scenario)
        return max(rows, key=lambda row: (row.active_restored, row.standbys_restored, row.active_moved), default=None)


def replay_streams_group(
    group_input: GroupInput, seed: int = 0, scenarios: Collection[StreamsScenario] = tuple(StreamsScenario)
) -> StreamsReplay:
    group, standby_replicas = group_input.group, group_input.standby_replicas
    assignors = [
        sticky for sticky in STREAMS_STICKY if sticky.releases.touches(seen_release(group_input.kafka_version) or (0,))
    ]
    assignor = assignors[0] if len(assignors) == 1 else None
    missing = tuple(_missing(group_input, assignor))
    if MissingPart.TASKS in missing:
        return StreamsReplay(group.id, missing, standby_replicas=standby_replicas)
    today = request_of(group_input)
    rows = [todays_score(group_input, today, missing)]
    members = tuple(task_counts(member) for member in group.members)
    if missing or assignor is None or not group.members:
        return StreamsReplay(group.id, missing, tuple(rows), None, members, standby_replicas)
    again = _after(assignor, today)
    if StreamsScenario.NEXT_TARGET in scenarios:
        rows.append(score(StreamsScenario.NEXT_TARGET, (), today, again))
    for scenario, instances, before, changed in _variants(assignor, today, group.id, seed):
        if scenario in scenarios:
            rows.append(score(scenario, instances, before, _after(assignor, changed)))
    is_reproduced = _placement(again) == _placement(today)
    return StreamsReplay(group.id, (), tuple(rows), is_reproduced, members, standby_replicas)


def _missing(group_input: GroupInput, assignor: StreamsStickyAssignor | None) -> Iterator[MissingPart]:
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
    yield from _missing_of_coordinator(group_input, assignor)


def _missing_of_coordinator(group_input: GroupInput, assignor: StreamsStickyAssignor | None) -> Iterator[MissingPart]:
    group = group_input.group
    if assignor is None:
        yield MissingPart.RELEASE
    if group_input.standby_replicas is None:
        yield MissingPart.STANDBY_REPLICAS
    named = group.protocol or group.configs.get(_ASSIGNOR_NAME)
    if named not in (None, _STICKY):
        yield MissingPart.ASSIGNOR
    is_stateful = any(part.changelog_topics for part in group.subtopologies)
    has_offsets = all(member.task_offsets is not None for member in group.members)
    if assignor is not None and assignor.reads_offsets and is_stateful and not has_offsets:
        yield MissingPart.TASK_OFFSETS


def todays_score(group_input: GroupInput, today: StreamsRequest, missing: Collection[MissingPart]) -> StreamsScore:
    """Return today's row; warm-up tasks are counted here alone, because ``sticky`` hands none out."""
    counts = [task_counts(member) for member in group_input.group.members]
    # Without a topology nothing tells how many stateful tasks there are.
    is_known = {MissingPart.TOPOLOGY, MissingPart.PARTITION_COUNTS, MissingPart.STANDBY_REPLICAS}.isdisjoint(missing)
    row = score(StreamsScenario.TODAY, (), today, today)
    return replace(
        row,
        processes=None if MissingPart.PROCESS_IDS in missing else row.processes,
        standbys_missing=row.standbys_missing if is_known else None,
        warmup_tasks=sum(member_counts.warmup for member_counts in counts),
        idle_members=sum(
            not member_counts.active and not member_counts.standby and not member_counts.warmup
            for member_counts in counts
        ),
    )


def task_counts(member: Member) -> MemberTaskCounts:
    tasks = member.tasks or Tasks()
    active, standby, warmup = (len(listed_tasks(kind)) for kind in (tasks.active, tasks.standby, tasks.warmup))
    return MemberTaskCounts(
        member_id=member.id, process_id=member.process_id, rack=member.rack,
        active=active, standby=standby, warmup=warmup,
    )  # fmt: skip


def _partition_counts(group_input: GroupInput) -> dict[str, int]:
    counts = zip(group_input.topics, group_input.partition_counts.tolist(), strict=True)
    return {topic: count for topic, count in counts if count >= 0}


def request_of(group_input: GroupInput) -> StreamsRequest:
    group, counts = group_input.group, _partition_counts(group_input)
    order = feeding_order(group.members, seen_release(group_input.kafka_version), is_server=True)
    listed = group.members if order is None else tuple(group.members[index] for index in order.tolist())
    return StreamsRequest(
        subtopologies=tuple(_subtopology(part, counts) for part in group.subtopologies),
        members=tuple(_member(member) for member in listed),
        standby_replicas=group_input.standby_replicas or 0,
    )


def _subtopology(part: Subtopology, counts: dict[str, int]) -> StreamsSubtopology:
    tasks = max((counts.get(topic, 0) for topic in part.read_topics), default=0)
    return StreamsSubtopology(part.id, tasks, is_stateful=bool(part.changelog_topics))


def _member(member: Member) -> StreamsMember:
    tasks = member.tasks or Tasks()
    active, standby = listed_tasks(tasks.active), listed_tasks(tasks.standby)
    sums = {Task(name, number): total for name, pairs in member.task_offsets or () for number, total in pairs}
    return StreamsMember(
        id=member.id, process_id=member.process_id or "", active=active, standby=standby, offset_sums=sums
    )


def listed_tasks(tasks: TaskIds) -> tuple[Task, ...]:
    return tuple(Task(subtopology, partition) for subtopology, numbers in tasks for partition in numbers)


def _after(assignor: StreamsStickyAssignor, request: StreamsRequest) -> StreamsRequest:
    pairs = zip(request.members, assignor.assign(request), strict=True)
    members = tuple(replace(member, active=tasks.active, standby=tasks.standby) for member, tasks in pairs)
    return replace(request, members=members)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnChange:
    """``instances`` die, or the only one joins with the threads ``ids``, as many as instance ``like`` has."""

    scenario: StreamsScenario
    instances: tuple[str, ...]
    like: str = ""
    ids: tuple[str, ...] = ()


def drawn_changes(process_of: Mapping[str, str], group_id: str, seed: int) -> Iterator[DrawnChange]:
    """Yield drawn instances that die, new ones that join, and the half that dies. ``process_of``: of each member."""
    processes = sorted(set(process_of.values()))
    lots = lots_of(group_id, StreamsScenario.INSTANCE_DIES, seed)
    for process in sorted(lots.permutation(processes)[:MOST_DEATHS].tolist()) if len(processes) > 1 else ():
        yield DrawnChange(scenario=StreamsScenario.INSTANCE_DIES, instances=(process,))
    lots = lots_of(group_id, StreamsScenario.INSTANCE_JOINS, seed)
    for _ in range(JOINS):
        like = processes[int(lots.integers(len(processes)))]
        threads = sum(process == like for process in process_of.values())
        process = str(uuid.UUID(bytes=lots.bytes(16), version=4))
        ids = tuple(_drawn_id(lots) for _ in range(threads))
        yield DrawnChange(scenario=StreamsScenario.INSTANCE_JOINS, instances=(process,), like=like, ids=ids)
    if len(processes) > 2:  # one of two is half
        lots = lots_of(group_id, StreamsScenario.INSTANCES_HALVED, seed)
        half = tuple(sorted(lots.permutation(processes)[: len(processes) // 2].tolist()))
        yield DrawnChange(scenario=StreamsScenario.INSTANCES_HALVED, instances=half)


def _variants(
    assignor: StreamsStickyAssignor, today: StreamsRequest, group_id: str, seed: int
) -> Iterator[tuple[StreamsScenario, tuple[str, ...], StreamsRequest, StreamsRequest]]:
    """Yield scenario, instances, group before and after; without standbys deaths also as if there were one each."""
    changes = list(drawn_changes({member.id: member.process_id for member in today.members}, group_id, seed))
    deaths = [change for change in changes if change.scenario is StreamsScenario.INSTANCE_DIES]
    for change in deaths:
        yield change.scenario, change.instances, today, _without(today, change.instances)
    if deaths and any(part.is_stateful for part in today.subtopologies) and not today.standby_replicas:
        kept = _after(assignor, replace(today, standby_replicas=1))
        for change in deaths:
            yield (
                StreamsScenario.INSTANCE_DIES_WITH_STANDBYS, change.instances, kept, _without(kept, change.instances),
            )  # fmt: skip
    for change in changes[len(deaths) :]:
        joining = tuple(StreamsMember(id=name, process_id=change.instances[0]) for name in change.ids)
        after = replace(today, members=today.members + joining) if joining else _without(today, change.instances)
        yield change.scenario, change.instances, today, after


def _drawn_id(lots: np.random.Generator) -> str:
    return uuid_text(uuid.UUID(bytes=lots.bytes(16), version=4).bytes)


def _without(today: StreamsRequest, processes: Iterable[str]) -> StreamsRequest:
    lost = set(processes)
    return replace(today, members=tuple(member for member in today.members if member.process_id not in lost))


def score(
    scenario: StreamsScenario, instances: Sequence[str], before: StreamsRequest, after: StreamsRequest
) -> StreamsScore:
    stateful = {part.id: part.tasks for part in after.subtopologies if part.is_stateful}
    active = [len(member.active) for member in after.members]
    standby_tasks = sum(len(member.standby) for member in after.members)
    concerned = [member for member in (*before.members, *after.members) if member.process_id in instances]
    owner = {task: member.id for member in before.members for task in member.active}
    new = _new_tasks(before, after)
    return StreamsScore(
        scenario=scenario,
        instances=tuple(instances),
        members=len(after.members),
        processes=len({member.process_id for member in after.members}),
        active_tasks=sum(active),
        standby_tasks=standby_tasks,
        warmup_tasks=0,
        most_active=max(active, default=0),
        least_active=min(active, default=0),
        idle_members=sum(not member.active and not member.standby for member in after.members),
        standbys_missing=max(0, after.standby_replicas * sum(stateful.values()) - standby_tasks),
        active_of_instances=sum(len(member.active) for member in concerned),
        standbys_of_instances=sum(len(member.standby) for member in concerned),
        active_moved=sum(owner.get(task, member.id) != member.id for member in after.members for task in member.active),
        active_restored=sum(task.subtopology in stateful for task in new["active"]),
        standbys_restored=len(new["standby"]),
    )


def _new_tasks(before: StreamsRequest, after: StreamsRequest) -> dict[str, list[Task]]:
    """Return the tasks of each kind on a process that had them in neither form."""
    held = {(member.process_id, task) for member in before.members for _, tasks in _kinds(member) for task in tasks}
    new: dict[str, list[Task]] = {"active": [], "standby": []}
    for member in after.members:
        for kind, tasks in _kinds(member):
            new[kind] += [task for task in tasks if (member.process_id, task) not in held]
    return new


def _placement(request: StreamsRequest) -> Counter[tuple[str, str, Task]]:
    kinds = ((member.id, kind, tasks) for member in request.members for kind, tasks in _kinds(member))
    return Counter((member, kind, task) for member, kind, tasks in kinds for task in tasks)


def _kinds(member: StreamsMember) -> tuple[tuple[str, tuple[Task, ...]], ...]:
    return ("active", member.active), ("standby", member.standby)
