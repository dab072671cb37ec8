"""Fresh random cases of the Streams groups' assignor: instances with threads, tasks they had, offsets they reported.

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
