"""Fresh random cases of Connect's assignors: workers that come, leave and miss a round; connectors that come and go.

What a case holds is counted, so that a run can say what it reached.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

Case = dict[str, Any]
FAMILIES = ("connect_eager", "connect_cooperative")

_IDS = ("connect-", "worker-é-", "\U0001f600", "\ue000\uffff", "10.0.0.7:8083-")
_DELAYS_MS = (0, 1, 40, 1_000, 64_000, 300_000, 300_000, 600_000)


def connect_cases(family: str, count: int, seed: int, reached: Counter[str]) -> Iterator[Case]:
    """Yield ``count`` cases of one family, and count in ``reached`` what they hold."""
    for i in range(count):
        random = Random(f"{family}-{seed}-{i}")
        asked = _eager(random, reached) if family == "connect_eager" else _cooperative(random, reached)
        yield {"id": f"{family}-{i}", "strategy": family, "input": asked}


def _names(random: Random, count: int) -> list[str]:
    prefix = random.choice(_IDS)
    return [f"{prefix}{i:0{random.choice((1, 8))}d}" for i in random.sample(range(10 * count + 10), count)]


def _connectors(random: Random) -> dict[str, int]:
    most = random.choice((0, 1, 3, 10, 40))
    return {name: random.randint(0, most) for name in _names(random, random.choice((0, 1, 2, 5, 30)))}


def _eager(random: Random, reached: Counter[str]) -> Case:
    connectors = list(_connectors(random).items())
    random.shuffle(connectors)
    reached["no connectors"] += not connectors
    return {
        "workers": _names(random, random.randint(1, 20)),
        "connectors": [list(connector) for connector in connectors],
    }


def _cooperative(random: Random, reached: Counter[str]) -> Case:
    """Two to twelve rounds. Much happens in some groups, in others only one thing, so that they settle between."""
    names = _names(random, 40)
    workers = names[: random.choice((1, 2, 3, 8, 20))]
    unused, absent = names[20:], list[str]()
    connectors = _connectors(random)
    delay_ms, change = random.choice(_DELAYS_MS), random.choice((0.1, 0.3, 0.7))
    case: Case = {"maxDelayMs": delay_ms, "rounds": []}
    if random.random() < 0.3:
        reached["begins with work"] += 1
        case["running"] = _running(random, workers, connectors)
    leader, now_ms = random.choice(workers), random.choice((1, 1_700_000_000_000))
    for _ in range(random.randint(2, 12)):
        case["rounds"].append(
            {
                "nowMs": now_ms,
                "workers": list(workers),
                "leader": leader,
                "connectors": [list(item) for item in connectors.items()],
            }
        )
        if random.random() < change / 3:
            case["rounds"][-1]["missed"] = random.sample(workers, random.randint(1, len(workers)))
            reached["missed answers"] += 1
        if random.random() < change and unused:
            workers.insert(random.randint(0, len(workers)), unused.pop())
            reached["joins"] += 1
        if random.random() < change and len(workers) > 1:
            for gone in random.sample(workers, random.randint(1, max(1, len(workers) // 3))):
                workers.remove(gone)
                absent.append(gone)
            reached["leaves"] += 1
        if random.random() < change / 2 and absent:
            workers.append(absent.pop(random.randrange(len(absent))))
            reached["returns with what it ran"] += 1
        if random.random() < change / 3 or leader not in workers:
            leader = random.choice(workers)
            reached["new leaders"] += 1
        if random.random() < change / 2:
            connectors = _changed(random, connectors)
            reached["new configurations"] += 1
        now_ms += random.choice((0, 1, 40, delay_ms // 2, delay_ms, delay_ms + 1))
    return case


def _changed(random: Random, connectors: dict[str, int]) -> dict[str, int]:
    kept = {name: tasks for name, tasks in connectors.items() if random.random() < 0.8}
    for name in kept:
        if random.random() < 0.2:
            kept[name] = random.randint(0, 10)
    return kept | {name: random.randint(0, 10) for name in _names(random, random.randint(0, 3))}


def _running(random: Random, workers: list[str], connectors: dict[str, int]) -> Case:
    """What nobody assigned: connectors and tasks on one worker, on several, or on none, some of them not configured."""
    known = {**connectors, "deleted": 2}
    holders = [workers, workers[:1], []]
    running: Case = {worker: {"connectors": [], "tasks": []} for worker in workers}
    for name, tasks in known.items():
        for worker in random.sample(workers, min(len(random.choice(holders)), random.choice((1, 1, 2)))):
            running[worker]["connectors"].append(name)
        for task in random.sample(range(tasks), tasks):
            for worker in random.sample(workers, min(len(workers), random.choice((0, 1, 1, 1, 2)))):
                running[worker]["tasks"].append([name, task])
    return running
