"""How the workers of a Connect group share connectors and tasks: today, and after a worker dies or joins.

Promises, in this order: a row is the answer of the leader's own assignor (``kafka_assignors.connect``), or ``missing``
says which input is unknown; the same seed draws the same workers.

What is configured is taken to be all that runs. A row is played until the group is at rest. Kafka does not tell
``scheduled.rebalance.max.delay.ms``. Ids of joining workers are drawn; ids decide ties, and are taken for the order of
the JoinGroup response.

Example: a leads and runs connector c and its tasks 0 and 2, b runs 1 and 3. If b dies, two tasks stop for 5 minutes,
and then move to a. If a dies, c and its tasks move to b at once: the new leader has no memory.

Complexity: variants × the assignor's own, O((W + T) log T).
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from kafka_assignors.connect import (
    CONNECT_COOPERATIVE,
    CONNECT_EAGER,
    CooperativeRequest,
    LeaderMemory,
    work_after,
    work_as_sent,
)
from kafka_assignors.connect_work import Work
from kafka_rebalance.groups.kinds import GroupKind, kind_of
from kafka_rebalance.groups.motion import motion_of
from kafka_rebalance.scenarios.changes import lots_of
from kafka_rebalance.snapshot.group import ConnectWorker, Group

DEFAULT_DELAY_MS = 300_000
MOST_DEATHS = 12
_MOST_ROUNDS = 50


class MissingPart(StrEnum):
    SETTLED_STATE = "settled_state"  # it rebalances, revokes, or waits for a lost worker
    WORKERS = "workers"
    LEADER = "leader"


class ConnectScenario(StrEnum):
    TODAY = "today"
    REBALANCES = "rebalances"
    WORKER_DIES = "worker_dies"
    WORKER_RETURNS = "worker_returns"  # a dead worker joins again in half the delay
    WORKER_JOINS = "worker_joins"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectScore:
    """One variant of a scenario, at rest. ``workers``: ids that die or join.

    ``stopped``: connectors and tasks without a worker for ``stopped_ms``. ``moved``: to another worker than today's.
    ``gained``: by a joining worker.
    """

    scenario: ConnectScenario
    workers: tuple[str, ...] = ()
    worker_count: int
    most_connectors: int
    least_connectors: int
    most_tasks: int
    least_tasks: int
    idle_workers: int
    stopped: int = 0
    stopped_ms: int = 0
    moved: int = 0
    gained: int = 0


@dataclass(frozen=True, slots=True)
class WorkerLoad:
    member_id: str
    url: str | None
    connectors: int
    tasks: int
    is_leader: bool

    @property
    def total(self) -> int:
        return self.connectors + self.tasks


@dataclass(frozen=True, slots=True)
class ConnectReplay:
    """``rows``: today first; empty where a part is missing.

    ``is_reproduced``: a rebalance would change nothing. ``delay_ms``: taken for the workers' setting.
    """

    group_id: str
    is_eager: bool
    connectors: int
    tasks: int
    loads: tuple[WorkerLoad, ...]
    missing: tuple[MissingPart, ...] = ()
    rows: tuple[ConnectScore, ...] = ()
    is_reproduced: bool | None = None
    delay_ms: int = DEFAULT_DELAY_MS

    def rows_of(self, scenario: ConnectScenario) -> tuple[ConnectScore, ...]:
        return tuple(row for row in self.rows if row.scenario is scenario)

    def document(self) -> dict[str, Any]:
        return asdict(self)


def replay_connect_group(group: Group, seed: int = 0, delay_ms: int = DEFAULT_DELAY_MS) -> ConnectReplay | None:
    """Return the rows of a Connect group; None for another group, and where no worker is read."""
    if kind_of(group) is not GroupKind.CONNECT_WORKERS or not any(member.worker for member in group.members):
        return None
    today = connect_state(group, delay_ms)
    missing = tuple(_missing(group, today))
    replay = ConnectReplay(
        group_id=group.id,
        is_eager=today.is_eager,
        connectors=len(today.configured.connectors),
        tasks=len(today.configured.tasks),
        loads=tuple(
            WorkerLoad(member.id, member.worker.url, len(work.connectors), len(work.tasks), member.id == today.leader)
            for member in sorted(group.members, key=lambda member: member.id)
            if member.worker is not None and (work := today.running.get(member.id)) is not None
        ),
        missing=missing,
        delay_ms=delay_ms,
    )
    if missing:
        return replay
    rows = tuple(_rows(today, group.id, seed))
    return replace(replay, rows=rows, is_reproduced=today.play()[0] == today.running)


def running_work(worker: ConnectWorker) -> Work | None:
    if worker.assigned is None or worker.error:
        return None
    if worker.version == 0:
        return worker.assigned
    return None if worker.joined_with is None else work_after(worker.joined_with, worker.assigned, worker.revoked)


def connect_state(group: Group, delay_ms: int = DEFAULT_DELAY_MS) -> ConnectState:
    workers = {member.id: member.worker for member in group.members if member.worker is not None}
    running = {
        name: work_as_sent(work)
        for name, worker in sorted(workers.items())
        if (work := running_work(worker)) is not None
    }
    leaders = {worker.leader for worker in workers.values() if worker.leader}
    connectors = dict.fromkeys(name for work in running.values() for name in work.connectors)
    tasks = dict.fromkeys(task for work in running.values() for task in work.tasks)
    return ConnectState(
        running,
        Work(tuple(connectors), tuple(tasks)),
        leaders.pop() if len(leaders) == 1 else "",
        is_eager=all(worker.version == 0 for worker in workers.values()),
        delay_ms=delay_ms,
    )


def _missing(group: Group, today: ConnectState) -> Iterator[MissingPart]:
    workers = [member.worker for member in group.members if member.worker is not None]
    if motion_of(group) is not None or any(worker.delay_ms or worker.revoked for worker in workers):
        yield MissingPart.SETTLED_STATE
    if len(today.running) < len(group.members):
        yield MissingPart.WORKERS
    if today.leader not in today.running:
        yield MissingPart.LEADER


@dataclass(frozen=True, slots=True)
class ConnectState:
    """A group at rest. ``leader``: "" where the workers name no common one.

    ``configured``: all that runs.
    """

    running: Mapping[str, Work]
    configured: Work
    leader: str
    is_eager: bool
    delay_ms: int

    def play(
        self, lost: str | None = None, joining: str | None = None, joins_at_ms: int = 0
    ) -> tuple[dict[str, Work], int]:
        """Return each worker's work once the group is at rest again, and how long some of it did not run."""
        running = {name: work for name, work in self.running.items() if name != lost}
        if self.is_eager:
            names = sorted([*running, *([joining] if joining is not None else ())])
            works = CONNECT_EAGER[0].assign(names, self.configured)
            return {name: work_as_sent(work) for name, work in zip(names, works, strict=True)}, 0
        memory = LeaderMemory(assigned=self.configured, workers=frozenset(self.running), generation=1)
        if lost == self.leader:
            memory = LeaderMemory()  # another worker leads
        now_ms, stopped_ms = 1, 0  # 0 is no time to the leader
        for generation in range(2, _MOST_ROUNDS):
            if joining is not None and now_ms > joins_at_ms:
                running.setdefault(joining, Work())
            request = CooperativeRequest(
                running=running, configured=self.configured, memory=memory, now_ms=now_ms,
                max_delay_ms=self.delay_ms, generation=generation, completed_generation=generation - 1,
            )  # fmt: skip
            answer = CONNECT_COOPERATIVE[0].assign(request)
            memory = answer.memory
            running = {
                name: work_as_sent(work_after(work, answer.assigned[name], answer.revoked[name]))
                for name, work in running.items()
            }
            is_awaited = joining is not None and joining not in running
            if not (is_awaited or answer.delay_ms or any(answer.revoked.values())):
                break
            waits_ms = min(answer.delay_ms or joins_at_ms, joins_at_ms) if is_awaited else answer.delay_ms
            now_ms += waits_ms
            stopped_ms += waits_ms if len(_owners(running)) < len(self.configured) else 0
        return running, stopped_ms


def _rows(today: ConnectState, group_id: str, seed: int) -> Iterator[ConnectScore]:
    yield _score(ConnectScenario.TODAY, (), today, dict(today.running))
    yield _score(ConnectScenario.REBALANCES, (), today, today.play()[0])
    lots = lots_of(group_id, ConnectScenario.WORKER_DIES, seed)
    names = sorted(today.running)
    drawn = str(uuid.UUID(bytes=lots.bytes(16), version=4))
    prefix = names[0][:-36] if len(names[0]) > 36 else "worker-"  # a member id ends with "-" and a Uuid
    joining = f"{prefix}{drawn}"
    if len(names) > 1:
        for name in sorted(lots.permutation(names)[:MOST_DEATHS].tolist()):
            after, stopped_ms = today.play(lost=name)
            stopped = len(today.running[name])
            yield _score(ConnectScenario.WORKER_DIES, (name,), today, after, stopped, stopped_ms if stopped else 0)
        others = [name for name in names if name != today.leader]
        if others and not today.is_eager and today.delay_ms > 1:
            name = others[int(lots.integers(len(others)))]
            after, stopped_ms = today.play(name, joining, today.delay_ms // 2)
            back = {name if worker == joining else worker: work for worker, work in after.items()}
            stopped = len(today.running[name])
            yield _score(ConnectScenario.WORKER_RETURNS, (name,), today, back, stopped, stopped_ms if stopped else 0)
    yield _score(ConnectScenario.WORKER_JOINS, (joining,), today, today.play(joining=joining)[0])


def _score(
    scenario: ConnectScenario, workers: tuple[str, ...], today: ConnectState, after: Mapping[str, Work],
    stopped: int = 0, stopped_ms: int = 0,
) -> ConnectScore:  # fmt: skip
    before, owners = _owners(today.running), _owners(after)
    connectors, tasks = [len(work.connectors) for work in after.values()], [len(work.tasks) for work in after.values()]
    return ConnectScore(
        scenario=scenario,
        workers=workers,
        worker_count=len(after),
        most_connectors=max(connectors),
        least_connectors=min(connectors),
        most_tasks=max(tasks),
        least_tasks=min(tasks),
        idle_workers=sum(not work for work in after.values()),
        stopped=stopped,
        stopped_ms=stopped_ms,
        moved=sum(owners.get(piece) != owner for piece, owner in before.items()),
        gained=sum(len(after[worker]) for worker in workers if worker in after and worker not in today.running),
    )


def _owners(running: Mapping[str, Work]) -> dict[object, str]:
    return {piece: name for name, work in running.items() for piece in (*work.connectors, *work.tasks)}
