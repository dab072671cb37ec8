"""Rounds of a group of Connect's workers.

A worker of ``connect_cooperative`` keeps its work and memory from round to round, also when it misses one; ``missed``
names workers that did not get the round's answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kafka_assignors.connect import (
    CONNECT_COOPERATIVE,
    CONNECT_EAGER,
    CooperativeRequest,
    LeaderMemory,
    configured_work,
    work_after,
    work_as_sent,
)
from kafka_assignors.connect_work import ConnectTask, Work
from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt

Input = Mapping[str, Any]
Output = dict[str, Any]


def answer_eager(name: str, case: Input) -> Output:
    assignor = next(assignor for assignor in CONNECT_EAGER if assignor.name == name)
    workers = list(case["workers"])
    given = assignor.assign(workers, _configured(case["connectors"]))
    return {"assignment": {worker: _lists(work_as_sent(work)) for worker, work in zip(workers, given, strict=True)}}


def answer_cooperative(name: str, case: Input) -> Output:
    assignor = next(assignor for assignor in CONNECT_COOPERATIVE if assignor.name == name)
    running = defaultdict(Work, {worker: _work(lists) for worker, lists in (case.get("running") or {}).items()})
    memories: dict[str, LeaderMemory] = {}
    completed: dict[str, int] = {}
    answers = []
    for generation, step in enumerate(case["rounds"], 1):
        workers, leader = list(step["workers"]), step["leader"]
        if leader not in workers:
            raise InvalidInputError.at("rounds", f"leader {excerpt(leader)} is no worker of its round")
        answer = assignor.assign(
            CooperativeRequest(
                running={worker: work_as_sent(running[worker]) for worker in workers},
                configured=_configured(step["connectors"]),
                memory=memories.get(leader, LeaderMemory()),
                now_ms=int(step["nowMs"]),
                max_delay_ms=int(case.get("maxDelayMs", 300_000)),
                generation=generation,
                completed_generation=completed.get(leader, -1),
            )
        )
        memories[leader] = answer.memory
        for worker in workers:
            if worker not in step.get("missed", ()):
                running[worker] = work_after(running[worker], answer.assigned[worker], answer.revoked[worker])
                completed[worker] = generation
        answers.append(
            {
                "delayMs": answer.delay_ms,
                "assigned": {worker: _lists(work_as_sent(answer.assigned[worker])) for worker in workers},
                "revoked": {worker: _lists(answer.revoked[worker]) for worker in workers if answer.revoked[worker]},
            }
        )
    return {"rounds": answers, "running": {worker: _lists(running[worker]) for worker in sorted(running)}}


def _configured(counts: Iterable[Sequence[Any]]) -> Work:
    return configured_work({str(connector): int(tasks) for connector, tasks in counts})


def _work(lists: Input) -> Work:
    return Work(
        tuple(map(str, lists.get("connectors") or ())),
        tuple(ConnectTask(str(connector), int(number)) for connector, number in lists.get("tasks") or ()),
    )


def _lists(work: Work) -> Output:
    return {"connectors": list(work.connectors), "tasks": [[task.connector, task.number] for task in work.tasks]}
