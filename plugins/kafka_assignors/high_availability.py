"""Tasks that ``HighAvailabilityTaskAssignor`` gives each instance of a classic Streams group, and each of its threads.

The group's leader assigns. A task is one partition number of one subtopology. A member is a thread; members of one
*process* are one instance. The lag of a stateful task on an instance is the end offset sum of its changelog partitions
less the offset sum of the instance. Promises, in priority order:

1. Each task is active on one instance. A stateful task has S standbys, or as many as there are other instances; with
   rack-aware tags on other tag values first.
2. No stateful task is active on an instance that is not caught up while another has less lag: it runs there, and at
   most W such tasks (``max_warmup_replicas``) are warmed up, as standbys, where they belong. Until then the leader asks
   for a probing rebalance.
3. Stateful tasks and standbys are even over threads, before promise 2 moves them. Former tasks play no part in that.
4. A stateless task goes to the instance with the fewest active tasks a thread. Inside an instance threads differ by at
   most one task; a thread keeps tasks whose state it has, smallest lag first.

Instances are ordered by process id as Java orders UUIDs (signed), tasks by (subtopology, partition). The queue of
instances is a ``java.util.PriorityQueue`` whose keys change inside it, so that its heap decides. A rack-aware strategy
(``rack.aware.assignment.strategy``, default none) is not modelled: it applies only if it is set and every member names
its rack.

Example: stateful tasks 0_0 and 0_1, lag 50,000 where nothing is restored; p ran both, and q is new. 0_1 belongs on q:
it runs on p, and q warms it up. O(R·P²·(T + log T) + T·P·log P), with P instances and R rounds of balancing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np

from kafka_assignors.contract import MapOrder
from kafka_assignors.errors import AssignorError, InvalidInputError
from kafka_assignors.java.hash_order import DEFAULT_CAPACITY, put_order
from kafka_assignors.java.keys import uuid_hash_codes
from kafka_assignors.java.priority_queue import PriorityQueue
from kafka_assignors.java.strings import compare_key, hash_code
from kafka_assignors.releases import Releases
from kafka_assignors.streams import MemberTasks, Task, hash_walk

LATEST_OFFSET = -2  # a running active task
UNKNOWN_OFFSET_SUM = -3
_UNBOUNDED = 2**63 - 1
_NAMED = "__"  # NAME__NUMBER: a subtopology of a named topology
_RAN_OUT = "org.apache.kafka.streams.errors.TaskAssignmentException"


@dataclass(frozen=True, slots=True, kw_only=True)
class HighAvailabilityMember:
    """``offset_sums``: of its user data. ``tags``: of its instance; those of its first member count."""

    id: str
    process_id: str
    offset_sums: Mapping[Task, int] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class HighAvailabilitySettings:
    """Of the application; Kafka's defaults."""

    standby_replicas: int = 0
    max_warmup_replicas: int = 2
    acceptable_recovery_lag: int = 10_000
    rack_aware_tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HighAvailabilityRequest:
    """``end_offset_sums``: of every stateful task. ``order`` of ``members`` as in ``StreamsRequest``."""

    end_offset_sums: Mapping[Task, int]
    stateless: tuple[Task, ...]
    members: tuple[HighAvailabilityMember, ...]
    settings: HighAvailabilitySettings = field(default_factory=HighAvailabilitySettings)
    order: MapOrder = MapOrder.HASH

    def __post_init__(self) -> None:
        ids = [member.id for member in self.members]
        if not ids or len(set(ids)) != len(ids):
            raise InvalidInputError.at("members", "none is listed, or one twice", "a group has members of unique ids")
        if not self.end_offset_sums.keys().isdisjoint(self.stateless):
            raise InvalidInputError.at("stateless", "a task is stateful, too")
        settings = self.settings
        for name, value, least in (
            ("standby_replicas", settings.standby_replicas, 0),
            ("max_warmup_replicas", settings.max_warmup_replicas, 1),
            ("acceptable_recovery_lag", settings.acceptable_recovery_lag, 0),
        ):
            if value < least:
                raise InvalidInputError.at(name, f"{value}", f"{least} or more")
        if self.order is MapOrder.LEADER:
            raise InvalidInputError.at("order", "is leader", "given or hash")


@dataclass(frozen=True, slots=True)
class HighAvailabilityAnswer:
    """``members``: as in the request. ``is_probing``: the leader asks for a probing rebalance.

    Tasks of a member that another member still owns arrive in a later rebalance.
    """

    members: tuple[MemberTasks, ...]
    processes: Mapping[str, MemberTasks]
    is_probing: bool


@dataclass(frozen=True, slots=True)
class HighAvailabilityAssignor:
    """``org.apache.kafka.streams.processor.internals.assignment.HighAvailabilityTaskAssignor``."""

    name: str
    releases: Releases

    @property
    def versions(self) -> str:
        return str(self.releases)

    def assign(self, request: HighAvailabilityRequest) -> HighAvailabilityAnswer:
        """Return the tasks of each instance and member. Raises AssignorError, InvalidInputError."""
        group = _Group(request)
        _assign_active(group)
        if request.settings.standby_replicas:
            _assign_standby(group, request.settings)
        moves = _Movements(group, request.settings)
        is_probing = moves.move_active() + moves.move_standby() > 0
        _assign_stateless(group)
        threads = [_deal_to_threads(group, process) for process in range(len(group.ids))]
        tasks_of_member = {member: tasks for dealt in threads for member, tasks in dealt.items()}
        return HighAvailabilityAnswer(
            tuple(group.tasks_of(*tasks_of_member[member.id]) for member in request.members),
            {
                str(UUID(int=number)): group.tasks_of(group.active[at], group.standby[at])
                for at, number in enumerate(group.ids)
            },
            is_probing,
        )


HIGH_AVAILABILITY = (
    HighAvailabilityAssignor(name="streams-high-availability", releases=Releases("Kafka", "3.3", "4.4")),
)


def walk_of(request: HighAvailabilityRequest) -> list[int]:
    """Return the places of members in the leader's map."""
    if request.order is MapOrder.GIVEN:
        return list(range(len(request.members)))
    return hash_walk([member.id for member in request.members])


def _parts(task: Task) -> tuple[bytes, int, int, int]:
    """Return the sort key of a task, and its topology's hash code."""
    name, separator, number = task.subtopology.rpartition(_NAMED)
    if not number.isdecimal():
        raise InvalidInputError.at("tasks", f"subtopology {task.subtopology!r}", "a number, or NAME__NUMBER")
    return compare_key(name), int(number), task.partition, hash_code(name) if separator else 0


class _Group:
    """Instances and tasks are numbered in Java's order; ``keys`` are what its queues compare."""

    def __init__(self, request: HighAvailabilityRequest) -> None:
        self.tasks = sorted((*request.end_offset_sums, *request.stateless), key=_parts)
        if len({_NAMED in task.subtopology for task in self.tasks}) > 1:
            raise InvalidInputError.at("tasks", "only some have a named topology")
        number_of = {task: number for number, task in enumerate(self.tasks)}
        self.stateful = sorted(number_of[task] for task in request.end_offset_sums)
        self.stateless = sorted(number_of[task] for task in request.stateless)
        self.hashes = np.array([_task_hash(task) for task in self.tasks], np.int64).astype(np.int32)
        self._set_instances(request)
        self._set_lags(request, number_of)
        count = len(self.ids)
        self.active: list[set[int]] = [set() for _ in range(count)]
        self.standby: list[set[int]] = [set() for _ in range(count)]
        self.loads: list[tuple[float, int]] = [(0.0, at) for at in range(count)]
        self.active_loads = list(self.loads)

    def _set_instances(self, request: HighAvailabilityRequest) -> None:
        numbers = [UUID(member.process_id).int for member in request.members]
        self.ids = sorted(set(numbers), key=lambda number: (_to_signed(number >> 64), _to_signed(number)))
        instance_of = {number: at for at, number in enumerate(self.ids)}
        high, low = (np.array([_to_signed(number >> shift) for number in self.ids], np.int64) for shift in (64, 0))
        self.id_hashes = uuid_hash_codes(high, low)
        self.walk: list[list[HighAvailabilityMember]] = [[] for _ in self.ids]
        for index in walk_of(request):
            self.walk[instance_of[numbers[index]]].append(request.members[index])
        self.capacity = [len(members) for members in self.walk]
        self.tags = [members[0].tags for members in self.walk]

    def _set_lags(self, request: HighAvailabilityRequest, number_of: Mapping[Task, int]) -> None:
        """``lags[instance][task]`` of stateful tasks, and stateful tasks that each member names."""
        self.lags: list[dict[int, int]] = []
        self.named: dict[str, list[int]] = {}
        for members in self.walk:
            sums = {task: total for member in members for task, total in member.offset_sums.items()}
            self.lags.append(
                {number_of[task]: _lag(end, sums.get(task, 0)) for task, end in request.end_offset_sums.items()}
            )
            for member in members:
                self.named[member.id] = [
                    number_of[task] for task in member.offset_sums if task in request.end_offset_sums
                ]

    def count(self, at: int) -> int:
        return len(self.active[at]) + len(self.standby[at])

    def has(self, at: int, task: int) -> bool:
        return task in self.active[at] or task in self.standby[at]

    def give(self, at: int, task: int, kind: list[set[int]]) -> None:
        kind[at].add(task)
        self._weigh(at)

    def take(self, at: int, task: int, kind: list[set[int]]) -> None:
        kind[at].remove(task)
        self._weigh(at)

    def _weigh(self, at: int) -> None:
        self.loads[at] = (self.count(at) / self.capacity[at], at)
        self.active_loads[at] = (len(self.active[at]) / self.capacity[at], at)

    def tasks_of(self, active: Iterable[int], standby: Iterable[int]) -> MemberTasks:
        return MemberTasks(
            tuple(self.tasks[task] for task in sorted(active)), tuple(self.tasks[task] for task in sorted(standby))
        )


def _to_signed(number: int) -> int:
    half = number & (2**64 - 1)
    return half - 2**64 if half >= 2**63 else half


def _task_hash(task: Task) -> int:
    """``Objects.hash(subtopology, partition, topologyName)`` as int32."""
    _, number, partition, name_hash = _parts(task)
    code = 31 * (31 * (31 + number) + partition) + name_hash & 0xFFFFFFFF
    return code - 2**32 if code >= 2**31 else code


def _lag(end: int, total: int) -> int:
    if total in (LATEST_OFFSET, UNKNOWN_OFFSET_SUM):
        return total
    return end if end < total else end - total


class _LeastLoaded:
    """``ConstrainedPrioritySet``: an instance that is polled stays out until it is offered again."""

    def __init__(
        self, group: _Group, keys: Sequence[tuple[float, int]], is_allowed: Callable[[int, int], bool]
    ) -> None:
        self._queue, self._inside = PriorityQueue(keys, ()), set[int]()
        self._hashes, self._is_allowed = group.id_hashes, is_allowed

    def offer(self, instances: Iterable[int]) -> None:
        for at in instances:
            if at in self._inside:
                self._queue.remove(at)
            self._inside.add(at)
            self._queue.add(at)

    def poll(self, task: int, is_wanted: Callable[[int], bool] = lambda _at: True) -> int | None:
        passed: list[int] = []
        instance = None
        while self._queue and instance is None:
            at = self._queue.poll()
            self._inside.remove(at)
            if self._is_allowed(at, task) and is_wanted(at):
                instance = at
            else:
                passed.append(at)
        # A HashSet keeps those that were passed over.
        if len(passed) > 1:
            passed = [passed[index] for index in put_order(self._hashes[passed], DEFAULT_CAPACITY)]
        self.offer(passed)
        return instance


def _assign_active(group: _Group) -> None:
    for index, task in enumerate(group.stateful):
        group.give(index % len(group.ids), task, group.active)
    _balance(group, group.active, lambda _source, _destination: True)


def _balance(group: _Group, kind: list[set[int]], is_allowed: Callable[[int, int], bool]) -> None:
    instances = range(len(group.ids))
    is_moving = True
    while is_moving:
        is_moving = False
        for source in instances:
            for destination in instances:
                if source == destination or not _is_better(group, source, destination):
                    continue
                if not is_allowed(source, destination):
                    continue
                for task in sorted(kind[source]):
                    if not _is_better(group, source, destination):
                        break
                    if not group.has(destination, task):
                        group.take(source, task, kind)
                        group.give(destination, task, kind)
                        is_moving = True


def _is_better(group: _Group, source: int, destination: int) -> bool:
    """Whether a task moved from ``source`` evens out the loads without turning them round."""
    skew = group.loads[source][0] - group.loads[destination][0]
    if skew <= 0:
        return False
    after = (group.count(source) - 1.0) / group.capacity[source]
    after -= (group.count(destination) + 1.0) / group.capacity[destination]
    return 0 <= after < skew


def _assign_standby(group: _Group, settings: HighAvailabilitySettings) -> None:
    queue = _LeastLoaded(group, group.loads, lambda at, task: not group.has(at, task))
    left = dict.fromkeys(group.stateful, settings.standby_replicas)
    order: Sequence[int] = group.stateful
    if settings.rack_aware_tags:
        _assign_by_tags(group, queue, left, frozenset(settings.rack_aware_tags))
        order = [group.stateful[index] for index in put_order(group.hashes[group.stateful], DEFAULT_CAPACITY)]
    queue.offer(range(len(group.ids)))
    for task in order:
        for _ in range(left[task]):
            at = queue.poll(task)
            if at is None:
                break
            group.give(at, task, group.standby)
            queue.offer([at])
    tags = group.tags if settings.rack_aware_tags else [{}] * len(group.ids)
    _balance(
        group,
        group.standby,
        lambda source, destination: all(tags[destination].get(tag) == value for tag, value in tags[source].items()),
    )


def _assign_by_tags(group: _Group, queue: _LeastLoaded, left: dict[int, int], counted: frozenset[str]) -> None:
    """``ClientTagAwareStandbyTaskAssignor``: each standby on tag values that no copy has.

    A tag counts no more once there are as many copies as it has values.
    """
    values: dict[str, set[str]] = {}
    with_tag: dict[tuple[str, str], set[int]] = {}
    for at, tags in enumerate(group.tags):
        for tag, value in tags.items():
            values.setdefault(tag, set()).add(value)
            with_tag.setdefault((tag, value), set()).add(at)
    owner_of = {task: at for at, tasks in enumerate(group.active) for task in tasks}
    for task in group.stateful:
        queue.offer(range(len(group.ids)))
        used: dict[tuple[str, str], set[int]] = {}
        last, copies = owner_of[task], 1
        while left[task]:
            for tag, value in group.tags[last].items():
                if tag not in counted:
                    continue
                if len(values[tag]) <= copies:
                    used = {entry: among for entry, among in used.items() if entry[0] != tag}
                else:
                    used[tag, value] = with_tag[tag, value]
            free = set(range(len(group.ids))).difference(*used.values())
            instance = queue.poll(task, free.__contains__)
            if instance is None:
                break
            group.give(instance, task, group.standby)
            last, copies = instance, copies + 1
            left[task] -= 1


class _Movements:
    """``TaskMovement``: tasks leave instances that are not caught up for ones that have less lag."""

    def __init__(self, group: _Group, settings: HighAvailabilitySettings) -> None:
        self._group = group
        self._warmups_left = settings.max_warmup_replicas
        self._warmups: set[tuple[int, int]] = set()
        self._most_lag = settings.acceptable_recovery_lag
        self._by_lag = {task: self._sorted_by_lag(task) for task in group.stateful}
        self._caught_up = {
            task: {at for at in range(len(group.ids)) if self._is_caught_up(group.lags[at][task])}
            for task in group.stateful
        }

    def _sorted_by_lag(self, task: int) -> list[int]:
        lags = [lags[task] for lags in self._group.lags]
        return sorted(range(len(lags)), key=lambda at: (lags[at], at))

    def _is_caught_up(self, lag: int) -> bool:
        return lag == LATEST_OFFSET or self._most_lag == _UNBOUNDED or 0 <= lag <= self._most_lag

    def move_active(self) -> int:
        group, queue = self._group, self._queue()
        movements = self._plan(group.active)
        for task, destination in movements:
            standbys = {at for at, tasks in enumerate(group.standby) if task in tasks}
            source = queue.poll(task, standbys.__contains__)
            if source is None:
                source = queue.poll(task)
            if source is None:
                source = self._least_lag(task, destination)
            if source is None:
                raise AssignorError("java.lang.IllegalStateException", "no instance has less lag")
            self._move_active(task, source, destination)
            queue.offer((source, destination))
        return len(movements)

    def _move_active(self, task: int, source: int, destination: int) -> None:
        group = self._group
        is_swap = task in group.standby[source]
        if is_swap:
            group.take(source, task, group.standby)
        group.give(source, task, group.active)
        group.take(destination, task, group.active)
        if is_swap or self._warms_up():
            group.give(destination, task, group.standby)
            if not is_swap:
                self._warmups.add((destination, task))

    def move_standby(self) -> int:
        group, queue = self._group, self._queue()
        needed = 0
        for task, destination in self._plan(group.standby):
            free = {at for at in range(len(group.ids)) if not group.has(at, task)}
            source = queue.poll(task, free.__contains__)
            if source is None:
                source = self._least_lag(task, destination, free.__contains__)
            if source is None:
                continue
            group.give(source, task, group.standby)
            if not self._warms_up():
                group.take(destination, task, group.standby)
            queue.offer((source, destination))
            needed += 1
        return needed

    def _queue(self) -> _LeastLoaded:
        queue = _LeastLoaded(self._group, self._group.loads, lambda at, task: at in self._caught_up[task])
        queue.offer(range(len(self._group.ids)))
        return queue

    def _plan(self, kind: list[set[int]]) -> list[tuple[int, int]]:
        """Return (task, instance) in the order of Java's queue: tasks that fewest are caught up with first."""
        movements = [
            (task, at)
            for at, tasks in enumerate(kind)
            for task in sorted(tasks)
            if (at, task) not in self._warmups
            and at not in self._caught_up[task]
            and self._group.lags[self._by_lag[task][0]][task] < self._group.lags[at][task]
        ]
        queue = PriorityQueue([(len(self._caught_up[task]), task) for task, _ in movements], range(len(movements)))
        return [movements[queue.poll()] for _ in movements]

    def _least_lag(self, task: int, destination: int, is_free: Callable[[int], bool] = lambda _at: True) -> int | None:
        for at in self._by_lag[task]:
            if at == destination:
                break
            if is_free(at):
                return at
        return None

    def _warms_up(self) -> bool:
        self._warmups_left -= 1
        return self._warmups_left >= 0


def _assign_stateless(group: _Group) -> None:
    queue = _LeastLoaded(group, group.active_loads, lambda _at, _task: True)
    queue.offer(range(len(group.ids)))
    for task in group.stateless:
        at = queue.poll(task)
        assert at is not None  # a group has an instance
        group.give(at, task, group.active)
        queue.offer([at])


def _deal_to_threads(group: _Group, at: int) -> dict[str, tuple[list[int], list[int]]]:
    """``StreamsPartitionAssignor.assignTasksToThreads``: stateful active tasks, standbys, stateless tasks in turn."""
    threads = sorted((member.id for member in group.walk[at]), key=compare_key)
    counts = dict.fromkeys(threads, 0)
    stateful = group.active[at].intersection(group.stateful)
    lags = group.lags[at]
    had = {thread: sorted(group.named[thread], key=lambda task: (lags[task], task)) for thread in threads}
    none: dict[str, list[int]] = {}
    in_bins = sorted(stateful)
    in_bins = [in_bins[index] for index in put_order(group.hashes[in_bins], DEFAULT_CAPACITY)]
    active = _deal(in_bins, had, threads, counts)
    standby = _deal(sorted(group.standby[at]), had, threads, counts)
    rest = sorted(group.active[at] - stateful)
    rest = [rest[index] for index in put_order(group.hashes[rest], DEFAULT_CAPACITY)]
    stateless = _deal(rest, none, threads, counts)
    return {thread: (active[thread] + stateless[thread], standby[thread]) for thread in threads}


def _deal(
    tasks: Sequence[int], had: Mapping[str, Sequence[int]], threads: Sequence[str], counts: dict[str, int]
) -> dict[str, list[int]]:
    """Return the tasks of each thread, and add them to ``counts``."""
    dealt: dict[str, list[int]] = {thread: [] for thread in threads}
    if tasks:
        least = (sum(counts.values()) + len(tasks)) // len(threads)
        left = PriorityQueue.of_collection(range(max(tasks) + 1), tasks)
        skipped = _deal_to_owners(left, had, dealt, {thread: least - counts[thread] for thread in threads})
        short = [thread for thread in threads if len(dealt[thread]) < least - counts[thread]]
        while short:
            if not left:
                raise AssignorError(
                    _RAN_OUT, "Ran out of unassigned stateful tasks but some members were not at capacity"
                )
            thread = short.pop(0)
            dealt[thread].append(left.poll())
            if len(dealt[thread]) + counts[thread] < least:
                short.append(thread)
        if left:
            even = [thread for thread in threads if len(dealt[thread]) + counts[thread] == least]
            _deal_rest(left, skipped, dealt, even)
    for thread in threads:
        counts[thread] += len(dealt[thread])
    return dealt


def _deal_to_owners(
    left: PriorityQueue, had: Mapping[str, Sequence[int]], dealt: Mapping[str, list[int]], most: Mapping[str, int]
) -> dict[int, str]:
    """Give threads what they had, and return the tasks for which there was no room, with their thread."""
    skipped: dict[int, str] = {}
    for thread, tasks in had.items():
        for task in tasks:
            if task not in left:
                continue
            if len(dealt[thread]) < most[thread]:
                dealt[thread].append(task)
                left.remove(task)
            else:
                skipped[task] = thread
    return skipped


def _deal_rest(
    left: PriorityQueue, skipped: Mapping[int, str], dealt: Mapping[str, list[int]], even: list[str]
) -> None:
    """Give one more task to each thread of ``even``: a skipped one, else the next in the heap's order."""
    for task, thread in sorted(skipped.items()):
        if thread in even and task in left:
            dealt[thread].append(task)
            left.remove(task)
            even.remove(thread)
    for task in left:
        if not even:
            raise AssignorError("java.lang.NullPointerException")
        dealt[even.pop(0)].append(task)
