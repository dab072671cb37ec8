"""Tasks that the group coordinator's ``sticky`` gives each member of a Streams group (KIP-1071).

A task is one partition number of one subtopology, active on one member. A stateful task is also standby on others,
which keep a copy of its state. Members of one *process* are threads of one instance. Promises, in priority order:

1. Each task is active on exactly one member, and on no process twice. A stateful task has S standbys, or as many as
   there are other processes. Each member has at most ⌈A/k⌉ active tasks (A tasks, k members).
2. A task stays active on its owner below the quota. Else it goes to a member below the quota that has its state.
3. A standby goes to the owner of its task below the quota for both kinds. Else to such a member that has its state.
4. A remaining task goes to the process of least load (tasks / members), there to the member of fewest tasks. In a new
   group the active tasks of two members differ by at most one.

The quota is ⌈tasks / members⌉. A member that reaches it is settled; the quota is computed again without it and its
tasks. Step 4 has no quota, so members of an existing group may differ by two or more. Steps 2 and 3 take tasks by
(partition, subtopology), step 4 by (subtopology, partition). Standbys follow all active tasks, in the reverse of these
orders. Java's HashMap of processes and its PriorityQueue break ties.

Releases differ in the fields of ``StreamsStickyAssignor``, and in the input: a member's target tasks to 4.3, its
current tasks from 4.4. Example: tasks 0_0, 0_1, 1_0, 1_1; a had all, and b is new on another process. The quota is 2: a
keeps 0_0 and 1_0, and b gets 0_1 and 1_1. O(T log T + (1 + S)·T·(S + log M) + H), with H tasks and offsets that members
name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from kafka_assignors.contract import MapOrder
from kafka_assignors.errors import AssignorError, InvalidInputError
from kafka_assignors.java.hash_order import COMPUTE_IF_ABSENT, DEFAULT_CAPACITY, PUT, order_after, put_order
from kafka_assignors.java.priority_queue import PriorityQueue
from kafka_assignors.java.strings import compare_key, hash_codes
from kafka_assignors.releases import Releases, answering
from kafka_assignors.string_column import StringColumn


class Task(NamedTuple):
    subtopology: str
    partition: int


@dataclass(frozen=True, slots=True)
class StreamsSubtopology:
    """``tasks``: most partitions among its source and repartition topics; stateful: it has changelog topics."""

    id: str
    tasks: int
    is_stateful: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsMember:
    id: str
    process_id: str
    active: tuple[Task, ...] = ()
    standby: tuple[Task, ...] = ()
    offset_sums: Mapping[Task, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsRequest:
    """Nothing else may influence the answer.

    ``order``: GIVEN as listed, HASH as the coordinator's HashMap, filled in that order.
    """

    subtopologies: tuple[StreamsSubtopology, ...]
    members: tuple[StreamsMember, ...]
    standby_replicas: int = 0
    order: MapOrder = MapOrder.HASH

    def __post_init__(self) -> None:
        for kind, ids in (
            ("subtopologies", [subtopology.id for subtopology in self.subtopologies]),
            ("members", [member.id for member in self.members]),
        ):
            if len(set(ids)) != len(ids):
                raise InvalidInputError.at(kind, "one is listed twice", "ids are unique in a group")
        if self.standby_replicas < 0:
            raise InvalidInputError.at("standby_replicas", f"{self.standby_replicas}", "0 or more")
        if any(subtopology.tasks < 0 for subtopology in self.subtopologies):
            raise InvalidInputError.at("subtopologies", "one has fewer than 0 tasks")
        if self.order is MapOrder.LEADER:
            raise InvalidInputError.at("order", "a Streams group's leader assigns nothing", "given or hash")


@dataclass(frozen=True, slots=True)
class MemberTasks:
    active: tuple[Task, ...] = ()
    standby: tuple[Task, ...] = ()


@dataclass(frozen=True, slots=True)
class StreamsStickyAssignor:
    """``org.apache.kafka.coordinator.group.streams.assignor.StickyTaskAssignor``.

    ``reads_offsets``: members that report offsets of a task are its backups after its standbys, largest sum first.
    ``skips_holders``: the search for a standby skips backups whose process has the task; without it, the search fails
    if the first backup's process has the task. ``process_map_step``: how Java fills its map of processes. ``refusal``:
    exception if a task has no process.
    """

    name: str
    releases: Releases
    reads_offsets: bool
    skips_holders: bool
    process_map_step: int
    refusal: str

    @property
    def versions(self) -> str:
        return str(self.releases)

    def assign(self, request: StreamsRequest) -> tuple[MemberTasks, ...]:
        """Return tasks in the order of ``request.members``. Raises AssignorError without members."""
        run = _Run(self, request)
        _assign_active(run, self)
        if request.standby_replicas:
            _assign_standby(run, self, request.standby_replicas)
        return tuple(
            MemberTasks(
                tuple(run.tasks[task] for task in sorted(active)), tuple(run.tasks[task] for task in sorted(standby))
            )
            for active, standby in zip(run.active, run.standby, strict=True)
        )


STREAMS_STICKY: tuple[StreamsStickyAssignor, ...] = (
    StreamsStickyAssignor(
        name="streams-sticky",
        releases=Releases("Kafka", "4.4", "4.4"),
        reads_offsets=True,
        skips_holders=True,
        process_map_step=COMPUTE_IF_ABSENT,
        refusal="org.apache.kafka.coordinator.group.api.streams.assignor.TaskAssignorException",
    ),
    StreamsStickyAssignor(
        name="streams-sticky@4.2",
        releases=Releases("Kafka", "4.2", "4.3"),
        reads_offsets=False,
        skips_holders=False,
        process_map_step=PUT,
        refusal="org.apache.kafka.coordinator.group.streams.assignor.TaskAssignorException",
    ),
)


def streams_sticky(version: object = None) -> StreamsStickyAssignor:
    """Of a broker's release, by default the newest (``releases.answering``).

    Raises InvalidInputError for a release known not to have it.
    """
    spans = [assignor.releases for assignor in STREAMS_STICKY]
    return STREAMS_STICKY[answering(spans, version, "streams-sticky").index]


def member_order(request: StreamsRequest) -> list[int]:
    if request.order is MapOrder.GIVEN:
        return list(range(len(request.members)))
    return hash_walk([member.id for member in request.members])


def hash_walk(ids: Sequence[str]) -> list[int]:
    column = StringColumn.of(ids)
    order: list[int] = put_order(hash_codes(column.data, column.offsets), DEFAULT_CAPACITY).tolist()
    return order


class _Quota:
    def __init__(self, tasks: int, members: int) -> None:
        self._tasks, self._members = tasks, members

    @property
    def most(self) -> int:
        """Return 0 where all members are settled."""
        return -(-self._tasks // self._members) if self._members else 0

    def note(self, count: int) -> None:
        if count == self.most:
            self._tasks -= count
            self._members -= 1


class _Run:
    """Sorted subtopologies give task numbers the order (subtopology, partition).

    Members are numbered as listed, processes by first mention.
    """

    def __init__(self, assignor: StreamsStickyAssignor, request: StreamsRequest) -> None:
        subtopologies = sorted(request.subtopologies, key=lambda subtopology: compare_key(subtopology.id))
        self.tasks = [Task(part.id, number) for part in subtopologies for number in range(part.tasks)]
        self.by_partition = sorted(range(len(self.tasks)), key=lambda task: self.tasks[task].partition)
        self.is_stateful = [part.is_stateful for part in subtopologies for _ in range(part.tasks)]
        members = len(request.members)
        copies = request.standby_replicas * sum(self.is_stateful)
        self.active_quota = _Quota(len(self.tasks), members)
        self.quota = _Quota(len(self.tasks) + copies, members)
        self.counts = [0] * members
        self.active: list[list[int]] = [[] for _ in range(members)]
        self.standby: list[list[int]] = [[] for _ in range(members)]
        walk = member_order(request)
        self._set_processes(assignor, request, walk)
        self._set_former(assignor, request, walk)

    def _set_processes(self, assignor: StreamsStickyAssignor, request: StreamsRequest, walk: Sequence[int]) -> None:
        """Processes and members follow Java's maps."""
        number_of: dict[str, int] = {}
        self.process_of = [0] * len(walk)
        for member in walk:
            self.process_of[member] = number_of.setdefault(request.members[member].process_id, len(number_of))
        column = StringColumn.of(number_of)
        named = np.array([self.process_of[member] for member in walk], np.int32)
        steps = np.full(len(walk), assignor.process_map_step, np.int8)
        self.process_walk: list[int] = order_after(
            hash_codes(column.data, column.offsets), steps, named, len(walk)
        ).tolist()
        in_process: list[list[int]] = [[] for _ in number_of]
        for member in walk:
            in_process[self.process_of[member]].append(member)
        self.members_of = [
            [listed[index] for index in hash_walk([request.members[member].id for member in listed])]
            for listed in in_process
        ]
        self.task_totals = [0] * len(number_of)
        self.loads = [0.0] * len(number_of)
        self.held: list[set[int]] = [set() for _ in number_of]
        self.queues: list[PriorityQueue | None] = [None] * len(number_of)

    def _set_former(self, assignor: StreamsStickyAssignor, request: StreamsRequest, walk: Sequence[int]) -> None:
        """Former active owner (the last of the walk), and backups in search order."""
        number_of = {task: number for number, task in enumerate(self.tasks)}
        self.owner: list[int | None] = [None] * len(self.tasks)
        self.backups: dict[int, list[int]] = {}
        restored: dict[int, dict[int, int]] = {}
        for member in walk:
            former = request.members[member]
            for task in former.active:
                if task in number_of:
                    self.owner[number_of[task]] = member
            for task in former.standby:
                if task in number_of:
                    self.backups.setdefault(number_of[task], []).append(member)
            for task, offset_sum in former.offset_sums.items() if assignor.reads_offsets else ():
                if task in number_of:
                    restored.setdefault(number_of[task], {})[member] = offset_sum
        for number, sums in restored.items():
            standbys = self.backups.get(number, [])
            others = [member for member in sums if member not in standbys]
            standbys.sort(key=lambda member: -sums.get(member, 0))
            others.sort(key=lambda member: -sums[member])
            self.backups[number] = standbys + others

    def give(self, task: int, member: int, *, is_active: bool) -> None:
        process = self.process_of[member]
        (self.active if is_active else self.standby)[member].append(task)
        self.counts[member] += 1
        self.task_totals[process] += 1
        self.loads[process] = self.task_totals[process] / len(self.members_of[process])
        self.held[process].add(task)
        if is_active:
            self.active_quota.note(self.counts[member])
        self.quota.note(self.counts[member])

    def return_to(self, task: int, member: int, *, is_active: bool) -> None:
        self.give(task, member, is_active=is_active)
        self.queues[self.process_of[member]] = None

    def deal_to(self, task: int, process: int, *, is_active: bool) -> None:
        members = self.members_of[process]
        if len(members) == 1:
            self.give(task, members[0], is_active=is_active)
            return
        queue = self.queues[process]
        if queue is None:
            queue = self.queues[process] = PriorityQueue(self.counts, members)
        member = queue.poll()
        self.give(task, member, is_active=is_active)
        queue.add(member)

    def has(self, member: int, task: int) -> bool:
        return task in self.held[self.process_of[member]]

    def least_loaded(self, members: Sequence[int]) -> int:
        """The first, replaced by each later one with a lower process load and fewer tasks."""
        best = members[0]
        for member in members[1:]:
            if (
                self.loads[self.process_of[member]] < self.loads[self.process_of[best]]
                and self.counts[member] < self.counts[best]
            ):
                best = member
        return best


def _assign_active(run: _Run, assignor: StreamsStickyAssignor) -> None:
    not_with_owner = []
    for task in run.by_partition:
        owner = run.owner[task]
        if owner is not None and run.counts[owner] < run.active_quota.most:
            run.return_to(task, owner, is_active=True)
        else:
            not_with_owner.append(task)
    left = []
    for task in not_with_owner:
        backups = run.backups.get(task)
        backup = run.least_loaded(backups) if backups else None
        if backup is not None and run.counts[backup] < run.active_quota.most:
            run.return_to(task, backup, is_active=True)
        else:
            left.append(task)
    queue = PriorityQueue(run.loads, run.process_walk)
    for task in sorted(left):
        if not queue:
            subtopology, partition = run.tasks[task]
            raise AssignorError(
                assignor.refusal, f"No process available to assign active task {subtopology}_{partition}."
            )
        process = queue.poll()
        run.deal_to(task, process, is_active=True)
        queue.add(process)


def _assign_standby(run: _Run, assignor: StreamsStickyAssignor, replicas: int) -> None:
    missing = []
    for task in reversed(run.by_partition):
        if not run.is_stateful[task]:
            continue
        for placed in range(replicas):
            member = run.owner[task]
            if member is None or run.has(member, task) or run.counts[member] >= run.quota.most:
                member = _backup_for(run, task, assignor)
            if member is None or run.counts[member] >= run.quota.most:
                missing.append((task, replicas - placed))
                break
            run.return_to(task, member, is_active=False)
    queue = PriorityQueue(run.loads, run.process_walk)
    for task, count in sorted(missing, reverse=True):
        for _ in range(count):
            if not _deal_standby(run, queue, task):
                break


def _backup_for(run: _Run, task: int, assignor: StreamsStickyAssignor) -> int | None:
    backups = run.backups.get(task, [])
    able = [member for member in backups if not run.has(member, task)]
    if assignor.skips_holders:
        return run.least_loaded(able) if able else None
    # The first backup counts in the search even if it cannot take the task.
    if not backups or run.has(backups[0], task):
        return None
    return run.least_loaded(able)


def _deal_standby(run: _Run, queue: PriorityQueue, task: int) -> bool:
    """False if no process lacks the task. Polled processes are added again, the last one first."""
    polled = []
    is_found = False
    while queue and not is_found:
        process = queue.poll()
        polled.append(process)
        is_found = task not in run.held[process]
    if is_found:
        run.deal_to(task, polled[-1], is_active=False)
    for process in reversed(polled):
        queue.add(process)
    return is_found
