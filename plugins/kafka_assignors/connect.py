"""Return the connectors and tasks that the leader of a Connect group gives each worker: eager or incremental.

The leader is a worker, so its release decides. O((W + T) log T) a round, with W workers and T connectors and tasks.

Promises of ``EagerAssignor`` (``connect.protocol=eager``), in this order:

1. Each connector and each task runs on exactly one worker, and all stop before each rebalance.
2. Connectors by name, then tasks by (connector, number), are dealt in turn to the workers by id, so workers differ by
   one at most, both counted together.

Promises of ``CooperativeAssignor`` (``compatible`` and ``sessioned``, the default since Kafka 2.3), in this order:

1. A connector or task stays where it runs, unless it is deleted, runs twice, or its worker has too many.
2. Work of a worker that left waits ``scheduled.rebalance.max.delay.ms``. A worker without work that joins in that time
   is a *candidate*. After the delay the candidates get it in turn, else it is dealt like new work.
3. New connectors, then new tasks, go to the workers that have the fewest of that kind, ties by id.
4. Where no delay is pending, a worker gives up what it has above the even share of each kind, first what it lists
   first. The first workers in the order of the leader's map may keep one more. It is dealt a round later.
5. Two rounds in a row that would revoke are kept apart by a delay of 40, 1,600, 64,000 ms and so on, at most that of 2.

What runs twice is stopped on all its workers, and dealt a round later. The leader remembers the last round
(``LeaderMemory``). A new leader has no memory: a dead leader's work is new to it, and dealt at once. A leader that
missed the end of its last round forgets what ran, and nothing else.

Example: a runs c and its tasks 0 to 3, and b joins. Round 1: a gives up tasks 0 and 1 (share 2). Round 2: b gets both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from math import log
from typing import TypeVar

from kafka_assignors.connect_work import NO_WORK, ConnectTask, Work
from kafka_assignors.errors import InvalidInputError
from kafka_assignors.java.hash_order import DEFAULT_CAPACITY, put_order, set_copy_order
from kafka_assignors.java.strings import compare_key, hash_codes
from kafka_assignors.releases import Releases, answering
from kafka_assignors.string_column import StringColumn


def configured_work(task_counts: Mapping[str, int]) -> Work:
    connectors = sorted(task_counts, key=compare_key)
    return Work(
        tuple(connectors),
        tuple(ConnectTask(name, number) for name in connectors for number in range(task_counts[name])),
    )


@dataclass(frozen=True, slots=True)
class EagerAssignor:
    name: str
    releases: Releases

    @property
    def versions(self) -> str:
        return str(self.releases)

    def assign(self, workers: Sequence[str], configured: Work) -> tuple[Work, ...]:
        _check_workers(workers)
        dealt: dict[str, tuple[list[str], list[ConnectTask]]] = {worker: ([], []) for worker in workers}
        turns = cycle(sorted(workers, key=compare_key))
        for connector in sorted(configured.connectors, key=compare_key):
            dealt[next(turns)][0].append(connector)
        for task in sorted(configured.tasks, key=_task_key):
            dealt[next(turns)][1].append(task)
        return tuple(Work(tuple(connectors), tuple(tasks)) for connectors, tasks in dealt.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderMemory:
    """``assigned``: what ran after the last round, and what was lost then.

    ``revoked``, ``workers``, ``generation``: of that round. ``candidates`` get lost work after the delay, which ends at
    ``scheduled_ms`` (0: none). ``has_revoked``, ``successive_revocations``: whether the round before revoked, and how
    many in a row would have.
    """

    assigned: Work = NO_WORK
    revoked: Work = NO_WORK
    workers: frozenset[str] = frozenset()
    generation: int = -1
    candidates: tuple[str, ...] = ()
    scheduled_ms: int = 0
    delay_ms: int = 0
    has_revoked: bool = False
    successive_revocations: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CooperativeRequest:
    """One round. Nothing else may influence the answer.

    ``running``: by worker, in the order of the JoinGroup response. ``now_ms``: the leader's clock.
    ``completed_generation``: the last one whose end the leader saw.
    """

    running: Mapping[str, Work]
    configured: Work
    memory: LeaderMemory = field(default_factory=LeaderMemory)
    now_ms: int = 0
    max_delay_ms: int = 300_000
    generation: int = 0
    completed_generation: int = -1

    def __post_init__(self) -> None:
        _check_workers(list(self.running))
        if self.max_delay_ms < 0:
            raise InvalidInputError.at("max_delay_ms", f"{self.max_delay_ms}", "0 or more")


@dataclass(frozen=True, slots=True)
class CooperativeAnswer:
    """``delay_ms`` 0: workers need not join again."""

    assigned: Mapping[str, Work]
    revoked: Mapping[str, Work]
    delay_ms: int
    memory: LeaderMemory


@dataclass(frozen=True, slots=True)
class CooperativeAssignor:
    """``org.apache.kafka.connect.runtime.distributed.IncrementalCooperativeAssignor``.

    ``waits_never``: with a maximal delay of 0, lost work is dealt in the round that finds it lost, else in the next
    one.
    """

    name: str
    releases: Releases
    waits_never: bool

    @property
    def versions(self) -> str:
        return str(self.releases)

    def assign(self, request: CooperativeRequest) -> CooperativeAnswer:
        return _Round(self, request).answer()


CONNECT_EAGER: tuple[EagerAssignor, ...] = (EagerAssignor("connect-eager", Releases("Kafka", "3.4", "4.4")),)
CONNECT_COOPERATIVE: tuple[CooperativeAssignor, ...] = (
    CooperativeAssignor("connect-cooperative", Releases("Kafka", "3.5", "4.4"), waits_never=True),
    CooperativeAssignor("connect-cooperative@3.4", Releases("Kafka", "3.4", "3.4"), waits_never=False),
)


def connect_cooperative(version: object = None) -> CooperativeAssignor:
    """Of a worker's release, by default the newest (``releases.answering``).

    Raises InvalidInputError for an untried release.
    """
    spans = [assignor.releases for assignor in CONNECT_COOPERATIVE]
    return CONNECT_COOPERATIVE[answering(spans, version, "connect-cooperative").place]


def work_as_sent(work: Work) -> Work:
    """Order on the wire: tasks grouped by connector.

    Connectors come in the order of Java's HashSet of those that the worker runs itself, then in that of its tasks.
    """
    names = list(dict.fromkeys(work.connectors))
    column = StringColumn.of(names)
    walk = [names[place] for place in set_copy_order(hash_codes(column.data, column.offsets)).tolist()]
    groups: dict[str, list[ConnectTask]] = {name: [] for name in walk}
    for task in work.tasks:
        groups.setdefault(task.connector, []).append(task)
    return Work(tuple(walk), tuple(task for tasks in groups.values() for task in tasks))


def work_after(running: Work, assigned: Work, revoked: Work) -> Work:
    given, stopped = work_as_sent(assigned), set(revoked.connectors)
    stopped_tasks = set(revoked.tasks)
    return Work(
        (*given.connectors, *(name for name in running.connectors if name not in stopped)),
        (*given.tasks, *(task for task in running.tasks if task not in stopped_tasks)),
    )


def _check_workers(workers: Sequence[str]) -> None:
    if not workers:
        raise InvalidInputError.at("workers", "there are none", "the leader is one of them")
    if len(set(workers)) != len(workers):
        raise InvalidInputError.at("workers", "one is listed twice", "ids are unique in a group")


def _task_key(task: ConnectTask) -> tuple[bytes, int]:
    return compare_key(task.connector), task.number


def _hash_walk(ids: Sequence[str]) -> list[str]:
    column = StringColumn.of(ids)
    return [ids[place] for place in put_order(hash_codes(column.data, column.offsets), DEFAULT_CAPACITY).tolist()]


def _backoff_ms(attempts: int, most_ms: int) -> int:
    """Kafka's ExponentialBackoff from 1 ms, by factors of 40, without jitter."""
    if most_ms <= 1:
        return most_ms
    return min(int(40 ** min(float(attempts), log(most_ms) / log(40))), most_ms)


_Piece = TypeVar("_Piece", str, ConnectTask)
_Running = dict[str, dict[_Piece, None]]  # by worker, in the leader's map order; inside as listed


class _Round:
    """No rule looks at connectors and tasks together but for emptiness."""

    def __init__(self, assignor: CooperativeAssignor, request: CooperativeRequest) -> None:
        self._waits_never = assignor.waits_never
        self._request = request
        memory = request.memory
        self._scheduled_ms, self._delay_ms = memory.scheduled_ms, memory.delay_ms
        self._candidates = memory.candidates
        self._has_revoked, self._successive = memory.has_revoked, memory.successive_revocations
        # Metadata is read into one map, which is copied into another.
        walk = _hash_walk(_hash_walk(list(request.running)))
        self._connectors: _Running[str] = {worker: dict.fromkeys(request.running[worker].connectors) for worker in walk}
        self._tasks: _Running[ConnectTask] = {worker: dict.fromkeys(request.running[worker].tasks) for worker in walk}

    def answer(self) -> CooperativeAnswer:
        request, memory = self._request, self._request.memory
        active = Work(_union(self._connectors), _union(self._tasks))
        previous = memory.assigned if memory.generation == request.completed_generation else Work()
        if not (set(memory.revoked.connectors).isdisjoint(active.connectors)
                and set(memory.revoked.tasks).isdisjoint(active.tasks)):  # fmt: skip
            previous = active  # the last revocation did not take effect
        deleted = _without(previous, request.configured)
        lost = _in_order(_without(_without(previous, active), deleted))
        created = _in_order(_without(_without(request.configured, previous), active))
        revoked_connectors = _revoke(self._connectors, {*deleted.connectors, *_doubled(self._connectors)})
        revoked_tasks = _revoke(self._tasks, {*deleted.tasks, *_doubled(self._tasks)})
        dealt_again = self._handle_lost(lost)
        if self._delay_ms == 0:
            surplus_connectors, surplus_tasks = self._surplus()
            if self._may_revoke(has_surplus=bool(surplus_connectors or surplus_tasks)):
                _take(self._connectors, surplus_connectors, revoked_connectors)
                _take(self._tasks, surplus_tasks, revoked_tasks)
        else:
            self._has_revoked = False
        _deal(self._connectors, (*created.connectors, *dealt_again.connectors))
        _deal(self._tasks, (*created.tasks, *dealt_again.tasks))
        revoked = {
            worker: _in_order(Work(tuple(revoked_connectors[worker]), tuple(revoked_tasks[worker])))
            for worker in request.running
        }
        stopped = Work(_union(revoked_connectors), _union(revoked_tasks))
        after = _without(Work(_union(self._connectors), _union(self._tasks)), stopped)
        kept = Work(tuple({**dict.fromkeys(after.connectors), **dict.fromkeys(lost.connectors)}),
                    tuple({**dict.fromkeys(after.tasks), **dict.fromkeys(lost.tasks)}))  # fmt: skip
        return CooperativeAnswer(
            {worker: self._added_work(worker) for worker in request.running},
            revoked,
            self._delay_ms,
            LeaderMemory(
                assigned=_in_order(kept), revoked=_in_order(stopped), workers=frozenset(request.running),
                generation=request.generation, candidates=self._candidates, scheduled_ms=self._scheduled_ms,
                delay_ms=self._delay_ms, has_revoked=self._has_revoked, successive_revocations=self._successive,
            ),
        )  # fmt: skip

    def _added_work(self, worker: str) -> Work:
        had = self._request.running[worker]
        connectors, tasks = set(had.connectors), set(had.tasks)
        return Work(
            tuple(name for name in self._connectors[worker] if name not in connectors),
            tuple(task for task in self._tasks[worker] if task not in tasks),
        )

    def _handle_lost(self, lost: Work) -> Work:
        """Candidates get lost work here."""
        request = self._request
        if not lost and not self._has_revoked:
            self._end_delay()
            return Work()
        nobody_left = request.memory.workers <= set(request.running)
        if self._scheduled_ms <= 0 and nobody_left:
            return lost
        if self._waits_never and request.max_delay_ms == 0:
            return lost
        if self._scheduled_ms > 0 and request.now_ms >= self._scheduled_ms:
            candidates = [worker for worker in self._candidates if worker in request.running]
            for worker, connector in zip(cycle(candidates), lost.connectors, strict=False):
                self._connectors[worker][connector] = None
            for worker, task in zip(cycle(candidates), lost.tasks, strict=False):
                self._tasks[worker][task] = None
            self._end_delay()
            self._has_revoked = False
            return Work() if candidates else lost
        idle = [worker for worker in self._connectors if not (self._connectors[worker] or self._tasks[worker])]
        self._candidates = tuple(dict.fromkeys((*self._candidates, *_hash_walk(idle))))
        left_ms = self._scheduled_ms - request.now_ms
        self._delay_ms = min(left_ms, request.max_delay_ms) if left_ms > 0 else request.max_delay_ms
        self._scheduled_ms = request.now_ms + self._delay_ms
        return Work()

    def _end_delay(self) -> None:
        self._candidates = ()
        self._scheduled_ms = self._delay_ms = 0

    def _surplus(self) -> tuple[dict[str, list[str]], dict[str, list[ConnectTask]]]:
        configured = self._request.configured
        has_work = any(self._connectors.values()) or any(self._tasks.values())
        if not has_work or not configured:
            return {}, {}
        return _above_share(self._connectors, len(configured.connectors)), _above_share(
            self._tasks, len(configured.tasks)
        )

    def _may_revoke(self, *, has_surplus: bool) -> bool:
        if has_surplus and self._has_revoked:
            self._successive += 1
            self._delay_ms = _backoff_ms(self._successive, self._request.max_delay_ms)
            if self._delay_ms:
                self._scheduled_ms = self._request.now_ms + self._delay_ms
            return self._delay_ms == 0
        if not has_surplus and self._has_revoked:
            self._successive = 0
        self._has_revoked = has_surplus
        return has_surplus


def _union(lists: Mapping[str, Iterable[_Piece]]) -> tuple[_Piece, ...]:
    return tuple(dict.fromkeys(piece for listed in lists.values() for piece in listed))


def _without(work: Work, other: Work) -> Work:
    connectors, tasks = set(other.connectors), set(other.tasks)
    return Work(
        tuple(name for name in work.connectors if name not in connectors),
        tuple(task for task in work.tasks if task not in tasks),
    )


def _in_order(work: Work) -> Work:
    return Work(tuple(sorted(work.connectors, key=compare_key)), tuple(sorted(work.tasks, key=_task_key)))


def _doubled(running: _Running[_Piece]) -> list[_Piece]:
    counts = Counter(piece for listed in running.values() for piece in listed)
    return [piece for piece, count in counts.items() if count > 1]


def _revoke(running: _Running[_Piece], pieces: set[_Piece]) -> _Running[_Piece]:
    """Return what each worker loses."""
    revoked: _Running[_Piece] = {worker: {} for worker in running}
    _take(
        running, {worker: [piece for piece in listed if piece in pieces] for worker, listed in running.items()}, revoked
    )
    return revoked


def _take(running: _Running[_Piece], taken: Mapping[str, list[_Piece]], revoked: _Running[_Piece]) -> None:
    for worker, pieces in taken.items():
        for piece in pieces:
            del running[worker][piece]
            revoked[worker][piece] = None


def _above_share(running: _Running[_Piece], total: int) -> dict[str, list[_Piece]]:
    """Above ⌊total / workers⌋, or above one more for the first workers that have more."""
    least, extra = divmod(total, len(running))
    counts = Counter(map(len, running.values()))
    if counts[least + 1] == extra and counts[least] + extra == len(running):
        return {}
    surplus = {}
    for worker, listed in running.items():
        if len(listed) <= least:
            continue
        share = least + 1 if extra > 0 else least
        extra -= 1
        if len(listed) > share:
            surplus[worker] = list(islice(listed, len(listed) - share))
    return surplus


def _deal(running: _Running[_Piece], pieces: Sequence[_Piece]) -> None:
    """Workers by (count, id). Each turn goes to those that have as few as the first one."""
    by_load = sorted(running, key=lambda worker: (len(running[worker]), compare_key(worker)))
    dealt = 0
    while dealt < len(pieces):
        least = len(running[by_load[0]])
        turn = [worker for worker in by_load if len(running[worker]) == least]
        for worker, piece in zip(turn, pieces[dealt : dealt + len(turn)], strict=False):
            running[worker][piece] = None
        dealt += len(turn)
