"""Fresh random cases of both assignors of Streams: instances with threads, tasks they had, offsets they reported.

What a case holds is counted, so that a run can say what it reached.
"""

from __future__ import annotations

import base64
import uuid
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

from kafka_assignors.recorded_cases.cases import answer

Case = dict[str, Any]

_NAMES = ("{}", "{:02d}", "sub-{}", "\U0001f600{}", "！{}")


def streams_cases(version: str, count: int, seed: int, reached: Counter[str]) -> Iterator[Case]:
    """Yield ``count`` cases of a release, and count in ``reached`` what they hold."""
    for i in range(count):
        random = Random(f"streams_sticky-{version}-{seed}-{i}")
        asked = _group(random, version)
        _past(random, asked, reached)
        if random.random() < 0.5:
            _offsets(random, asked)
        _count(asked, reached)
        yield {"id": f"streams_sticky-{version}-{seed}-{i}", "strategy": "streams_sticky", "input": asked}


def _group(random: Random, version: str) -> Case:
    name, most = random.choice(_NAMES), random.choice((1, 4, 12, 40))
    parts = random.sample(range(12), random.choice((0, 1, 1, 2, 3, 5)) if random.random() < 0.9 else 1)
    subtopologies = [
        {"id": name.format(part), "n": random.randint(0, most), "stateful": random.random() < 0.7} for part in parts
    ]
    case: Case = {"version": version, "order": random.choice(("hash", "hash", "given"))}
    case["numStandbyReplicas"] = random.choice((0, 1, 1, 2, 3))
    case["subtopologies"], case["members"] = subtopologies, []
    for _ in range(random.choice((0, 1, 2, 3, 5, 8, 14, 40)) if random.random() < 0.97 else 150):
        case["members"] += _instance(random)
    return case


def _instance(random: Random) -> list[Case]:
    process = str(uuid.UUID(bytes=random.randbytes(16))) if random.random() < 0.8 else f"p{random.randint(0, 30)}"
    rack = random.choice(("a", "b", None))
    threads = []
    for _ in range(random.choice((1, 1, 2, 4))):
        member: Case = {"id": base64.urlsafe_b64encode(random.randbytes(16)).decode().rstrip("="), "processId": process}
        if random.random() < 0.1:
            member["instanceId"] = f"i{random.randint(0, 99)}"
        threads.append(member if rack is None else member | {"rack": rack})
    return threads


def _past(random: Random, asked: Case, reached: Counter[str]) -> None:
    """Nothing; what the assignor gave before instances left, came and topics grew; or anything."""
    kind = random.choice(("fresh", "former target", "former target", "anything"))
    reached[kind] += 1
    members = asked["members"]
    if kind == "former target" and members:
        for _ in range(random.randint(1, 3)):
            _remember(asked, random)
            del members[: random.choice((0, 1, len(members) // 3))]
            for _ in range(random.choice((0, 1, 2))):
                members += _instance(random)
            random.shuffle(members)
            for part in asked["subtopologies"]:
                part["n"] = max(0, part["n"] + random.choice((0, 0, 0, 2, -1)))
        asked["numStandbyReplicas"] = random.choice((asked["numStandbyReplicas"], 0, 1, 2))
    elif kind == "anything":
        for member in members:
            for held in ("active", "standby"):
                member[held] = [[name, some] for name in _names(random, asked) if (some := _some(random))]


def _remember(asked: Case, random: Random) -> None:
    given = answer({"strategy": "streams_sticky", "input": asked})["output"].get("assignment", {})
    for member in asked["members"]:
        for kind, lists in given.get(member["id"], {}).items():
            member[kind] = [[name, list(numbers)] for name, numbers in lists.items()]
            random.shuffle(member[kind])


def _offsets(random: Random, asked: Case) -> None:
    for member in asked["members"]:
        if random.random() < 0.7:
            sums = [[name, [[p, random.choice((0, 10, 10, random.randint(0, 999_999)))] for p in _some(random)]]
                    for name in _names(random, asked)]  # fmt: skip
            member["taskOffsets"] = [pair for pair in sums if pair[1]]


def _names(random: Random, asked: Case) -> list[str]:
    names = [part["id"] for part in asked["subtopologies"]]
    return [*names, "gone"] if random.random() < 0.1 else names


def _some(random: Random) -> list[int]:
    return random.sample(range(10), random.choice((0, 1, 3, 10)))


def _count(asked: Case, reached: Counter[str]) -> None:
    members, counts = asked["members"], {part["id"]: part["n"] for part in asked["subtopologies"]}
    owned = [(name, p) for member in members for name, some in member.get("active", ()) for p in some]
    reached["several threads"] += len({member["processId"] for member in members}) < len(members)
    reached["hash order"] += asked["order"] == "hash"
    reached["standbys"] += asked["numStandbyReplicas"] > 0 and any(part["stateful"] for part in asked["subtopologies"])
    reached["several owners"] += len(set(owned)) < len(owned)
    reached["tasks that are gone"] += any(p >= counts.get(name, 0) for name, p in owned)
    reached["offsets"] += any("taskOffsets" in member for member in members)
    reached["no members"] += not members
    reached["a hundred members"] += len(members) >= 100


_ENDS = (0, 10, 10_000, 10_001, 50_000, 2_000_000)
_UNBOUNDED = 2**63 - 1


def high_availability_cases(version: str, count: int, seed: int, reached: Counter[str]) -> Iterator[Case]:
    for i in range(count):
        random = Random(f"streams_high_availability-{version}-{seed}-{i}")
        asked = _application(random, version)
        kind = random.choice(("fresh", "former target", "former target", "anything"))
        for _ in range(random.randint(1, 3) if kind == "former target" else 0):
            _restore(asked, random)
        if kind == "anything":
            for member in asked["members"]:
                member["offsetSums"] = _any_sums(random, asked)
        reached[kind] += 1
        _count_settings(asked, reached)
        yield {
            "id": f"streams_high_availability-{version}-{seed}-{i}",
            "strategy": "streams_high_availability",
            "input": asked,
        }


def _application(random: Random, version: str) -> Case:
    name = random.choice(("{}", "{}", "{}", "shop__{}", "\U0001f600__{}"))
    parts = [name.format(part) for part in random.sample(range(12), random.choice((1, 1, 2, 3, 5)))]
    widths = {part: random.randint(1, random.choice((1, 4, 12, 40))) for part in parts}
    stateful = [part for part in parts if random.random() < 0.7]
    case: Case = {
        "version": version,
        "order": random.choice(("hash", "given")),
        "numStandbyReplicas": random.choice((0, 1, 1, 2, 3)),
        "maxWarmupReplicas": random.choice((1, 2, 2, 5, 100)),
        "acceptableRecoveryLag": random.choice((0, 10, 10_000, 10_000, _UNBOUNDED)),
        "rackAwareTags": random.sample(("zone", "cluster", "none"), random.choice((0, 0, 1, 2, 3))),
        "stateful": [[part, [[p, random.choice(_ENDS)] for p in range(widths[part])]] for part in stateful],
        "stateless": [[part, list(range(widths[part]))] for part in parts if part not in stateful],
        "members": [],
    }
    for _ in range(random.choice((1, 2, 3, 5, 8, 14)) if random.random() < 0.97 else 60):
        case["members"] += _threads(random)
    random.shuffle(case["members"])
    return case


def _threads(random: Random) -> list[Case]:
    process = str(uuid.UUID(bytes=random.randbytes(16)))
    tags = {tag: f"{tag}-{random.randrange(3)}" for tag in ("zone", "cluster", "other") if random.random() < 0.8}
    return [
        {"id": f"app-{process}-StreamThread-{thread}-consumer-{uuid.UUID(bytes=random.randbytes(16))}",
         "processId": process, "tags": tags}
        for thread in range(random.choice((1, 1, 2, 4)))
    ]  # fmt: skip


def _restore(asked: Case, random: Random) -> None:
    """What the assignor gave runs or is being restored; then instances leave and join, and changelogs grow."""
    answered = answer({"strategy": "streams_high_availability", "input": asked})["output"]
    ends = {(name, p): end for name, pairs in asked["stateful"] for p, end in pairs}
    for member in asked["members"]:
        sums: dict[str, list[list[int]]] = {}
        for kind, lists in answered["assignment"][member["id"]].items():
            for name, numbers in lists.items():
                for p in numbers if (name, numbers[0]) in ends else ():
                    end = ends[name, p]
                    restored = -2 if kind == "active" and random.random() < 0.9 else random.choice((end, end // 2, 0))
                    sums.setdefault(name, []).append([p, restored])
        member["offsetSums"] = list(sums.items())
    processes = sorted({member["processId"] for member in asked["members"]})
    gone = set(random.sample(processes, random.choice((0, 1, len(processes) // 2))))
    kept = [member for member in asked["members"] if member["processId"] not in gone]
    joined = [_threads(random) for _ in range(random.choice((0, 1, 2)) or (0 if kept else 1))]
    asked["members"] = kept + [thread for threads in joined for thread in threads]
    random.shuffle(asked["members"])
    for _, pairs in asked["stateful"]:
        for pair in pairs:
            pair[1] += random.choice((0, 0, 10, 20_000))


def _any_sums(random: Random, asked: Case) -> list[list[Any]]:
    known = [*asked["stateful"], *([["77", [[0, 0]]]] if "__" not in str(asked["stateful"]) else [])]
    return [
        [name, [[p, random.choice((-2, -3, 0, end, end // 2, max(0, end - 10), end + 5))]
                for p, end in pairs if random.random() < 0.3]]
        for name, pairs in known
    ]  # fmt: skip


def _count_settings(asked: Case, reached: Counter[str]) -> None:
    processes = {member["processId"] for member in asked["members"]}
    reached["several threads"] += len(processes) < len(asked["members"])
    reached["hash order"] += asked["order"] == "hash"
    reached["standbys"] += bool(asked["numStandbyReplicas"] and asked["stateful"])
    reached["tags"] += bool(asked["numStandbyReplicas"] and asked["stateful"] and asked["rackAwareTags"])
    reached["no lag counts"] += asked["acceptableRecoveryLag"] == _UNBOUNDED
    reached["one instance"] += len(processes) == 1
    reached["named topology"] += "__" in str(asked["stateful"])
    reached["dozens of instances"] += len(processes) >= 30
