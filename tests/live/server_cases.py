"""Fresh random cases of what runs on the server: assignors with a past, votes, placers, keys. Seeded, and nasty.

What a case holds is counted, so that a run can say what it reached.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

Case = dict[str, Any]

_IDS = ("consumer-", "c", "member-é-", "\U0001f600", "\ue000\uffff", "\U00010000a")
_RACKS = ("rack0", "rack1", "rack2", "az-é", "\U0001d4b3", "\ue001", "")


def server_cases(family: str, count: int, seed: int, reached: Counter[str]) -> Iterator[Case]:
    """``count`` cases of one family; what they hold is counted in ``reached``."""
    for i in range(count):
        random = Random(f"{family}-{seed}-{i}")
        yield {"id": f"{family}-{i}", "strategy": family, "input": _MAKERS[family](random, reached)}


def replacement_cases(count: int, seed: int) -> Iterator[Case]:
    """Fresh groups of which a static member was replaced; half of them as large as a full table."""
    for i in range(count):
        random = Random(f"replacement-{seed}-{i}")
        prefix, size = random.choice(_IDS), random.choice((12, 24, 48, 96, *random.sample(range(1, 200), 4)))
        replaced, *ids = (f"{prefix}{number}" for number in random.sample(range(10 * size + 10), size + 1))
        members: list[Case] = [{"id": name, "topics": []} for name in ids]
        members[-1]["replaces"] = replaced
        asked = {"version": "4.3.1", "order": "hash", "subscriptionType": "HOMOGENEOUS", "topics": []}
        yield {"id": f"replacement-{i}", "strategy": "server_uniform", "input": asked | {"members": members}}


def _uuid(random: Random) -> str:
    return base64.urlsafe_b64encode(random.randbytes(16)).decode().rstrip("=")


def _group(random: Random, reached: Counter[str], *, is_share: bool = False) -> Case:
    """Members, subscriptions, and what they held before members and topics came and went."""
    scale = random.choice((3, 3, 8, 30))
    topics = [
        {"id": _uuid(random), "n": random.choice((0, 1, 2, 5, scale, 2 * scale))}
        for _ in range(random.randint(1, scale))
    ]
    names = [topic["id"] for topic in topics]
    kind = random.choice(("HOMOGENEOUS", "HETEROGENEOUS"))
    common = random.sample(names, random.randint(0 if random.random() < 0.05 else 1, len(names)))
    prefix = random.choice(_IDS)
    members: list[Case] = []
    for i in random.sample(range(10 * scale), random.randint(0 if random.random() < 0.03 else 1, scale)):
        listed = list(common) if kind == "HOMOGENEOUS" else random.sample(names, random.randint(0, len(names)))
        random.shuffle(listed)
        members.append({"id": f"{prefix}{i}", "topics": listed})
    case: Case = {"version": "4.4", "order": random.choice(("given", "hash")), "subscriptionType": kind}
    case |= {"topics": topics, "members": members}
    _past(random, case, is_share=is_share)
    _odd(random, case, is_share=is_share)
    _count(case, reached)
    return case


def _past(random: Random, case: Case, *, is_share: bool) -> None:
    members, topics = case["members"], case["topics"]
    if not members or random.random() < 0.25:
        return
    held: dict[str, dict[str, list[int]]] = {member["id"]: {} for member in members}
    keep = random.choice((0.5, 0.9, 1.0))
    holders = random.sample(members, random.randint(1, len(members)))
    for topic in topics:
        subscribers = [member for member in holders if topic["id"] in member["topics"]] or holders
        for partition in range(topic["n"]):
            readers = random.randint(1, min(3, len(subscribers))) if is_share else 1
            for member in random.sample(subscribers, readers):
                if random.random() < keep:
                    held[member["id"]].setdefault(topic["id"], []).append(partition)
    for member in members:
        pairs = list(held[member["id"]].items())
        random.shuffle(pairs)
        for _, partitions in pairs:
            if random.random() < 0.3:
                random.shuffle(partitions)
        if pairs:
            member["assignment"] = [[topic, partitions] for topic, partitions in pairs]


def _odd(random: Random, case: Case, *, is_share: bool) -> None:
    """What a group in the field may hold: static members, vanished topics and partitions, owners that stay too long."""
    members, topics = case["members"], case["topics"]
    for member in members:
        if random.random() < 0.2:
            member["instanceId"] = f"i{random.randint(0, len(members))}"
        if random.random() < 0.1:
            member["rack"] = random.choice(_RACKS)
    holders = [member for member in members if member.get("assignment")]
    if holders and random.random() < 0.2:
        random.choice(holders)["assignment"].append([_uuid(random), [0, 1]])
    if holders and random.random() < 0.1:
        entry = random.choice(random.choice(holders)["assignment"])
        entry[1].append(max(entry[1], default=0) + random.randint(1, 5))
    if holders and random.random() < 0.1:
        source = random.choice(random.choice(holders)["assignment"])
        other = random.choice(members)
        if source[0] not in {topic for topic, _ in other.get("assignment", ())}:
            other.setdefault("assignment", []).append([source[0], list(source[1])])
    if members and random.random() < 0.04:
        random.choice(members)["topics"].append(_uuid(random))
    if members and random.random() < 0.05:
        random.choice(members)["topics"].clear()
    if is_share and random.random() < 0.2:
        case["assignable"] = _some(random, topics)
    if not is_share and random.random() < 0.05:
        case["inverted"] = _some(random, topics)


def _some(random: Random, topics: list[Case]) -> list[Any]:
    listed = [[topic["id"], [p for p in range(topic["n"]) if random.random() < 0.7]] for topic in topics]
    return [pair for pair in listed if pair[1]]


def _count(case: Case, reached: Counter[str]) -> None:
    known = {topic["id"]: topic["n"] for topic in case["topics"]}
    owned = [(topic, p) for m in case["members"] for topic, listed in m.get("assignment", ()) for p in listed]
    reached[case["subscriptionType"].lower()] += 1
    reached["hash order"] += case["order"] == "hash"
    reached["static members"] += any("instanceId" in member for member in case["members"])
    reached["ids beyond the BMP"] += any(ord(letter) > 0xFFFF for m in case["members"] for letter in m["id"])
    reached["empty subscriptions"] += any(not member["topics"] for member in case["members"])
    reached["vanished topics"] += any(topic not in known for topic, _ in owned)
    reached["vanished partitions"] += any(p >= known.get(topic, p + 1) for topic, p in owned)
    reached["duplicate owners"] += len(set(owned)) < len(owned)
    reached["departed members"] += bool(owned) and len(set(owned)) < sum(known.values())
    reached["topics without metadata"] += any(t not in known for m in case["members"] for t in m["topics"])


def _brokers(random: Random, reached: Counter[str], *, is_fencing: bool) -> list[Case]:
    count = random.choice((1, 2, 3, 5, 9, 30))
    racks = random.choice(("all", "all", "none", "some"))
    names = random.sample(_RACKS, random.randint(1, len(_RACKS)))
    brokers = []
    for broker_id in random.sample(range(3 * count), count):
        broker: Case = {"id": broker_id}
        if racks == "all" or (racks == "some" and random.random() < 0.5):
            broker["rack"] = random.choice(names)
        if is_fencing:
            broker["fenced"] = random.random() < random.choice((0.0, 0.3, 0.9))
        brokers.append(broker)
    reached["racks"] += racks != "none"
    reached["racks on some brokers"] += 0 < sum("rack" in broker for broker in brokers) < count
    reached["all brokers fenced"] += all(broker.get("fenced") for broker in brokers)
    reached["fenced brokers"] += any(broker.get("fenced") for broker in brokers)
    return brokers


def _factor(random: Random, brokers: int) -> int:
    return random.choice((0, brokers + 1)) if random.random() < 0.05 else random.randint(1, brokers)


def _striped(random: Random, reached: Counter[str]) -> Case:
    brokers = _brokers(random, reached, is_fencing=True)
    return {
        "brokers": brokers,
        "numPartitions": random.choice((1, 3, 12, 100)),
        "replicationFactor": _factor(random, len(brokers)),
        "seed": random.getrandbits(47),
    }


def _admin_utils(random: Random, reached: Counter[str]) -> Case:
    brokers = _brokers(random, reached, is_fencing=False)
    case: Case = {
        "brokers": brokers,
        "numPartitions": random.choice((0, 1, 5, 7, 12, 40, 40)),
        "replicationFactor": _factor(random, len(brokers)),
        "seed": random.getrandbits(47),
    }
    if random.random() < 0.4:
        case["fixedStartIndex"] = random.randint(-1, len(brokers))
        reached["fixed start"] += 1
    if random.random() < 0.4:
        case["startPartitionId"] = random.choice((-1, 0, len(brokers), random.randint(1, 30)))
        reached["added partitions"] += 1
    return case


def _generate(random: Random, reached: Counter[str]) -> Case:
    brokers = _brokers(random, reached, is_fencing=False)
    topics = [f"{random.choice(_IDS)}{i}" for i in range(random.randint(1, 8))]
    most = min(4, len(brokers) + (random.random() < 0.05))
    current = [
        [topic, partition, [900 + k for k in range(random.randint(1, most))]]
        for topic in topics
        for partition in range(random.randint(1, 12))
        if random.random() < 0.9
    ]
    random.shuffle(current)
    reached["gaps in partitions"] += 1
    return {"version": "4.4", "brokers": brokers, "seed": random.getrandbits(47), "current": current}


def _key(random: Random, reached: Counter[str]) -> Case:
    key = random.randbytes(random.choice((0, 1, 2, 3, 4, 7, 8, 16, 36, 40, 44, random.randint(0, 300))))
    reached["empty keys"] += not key
    return {"keyHex": key.hex(), "numPartitions": random.choice((1, 2, 10, 50, 1000, 2**31 - 1))}


def _vote(random: Random, reached: Counter[str]) -> Case:
    """A classic group's joins, leaves, static members that come back, and elections; all share a strategy or two."""
    known = ["range", "roundrobin", "sticky", "cooperative-sticky", "my.own", "org.x.Custom", "a", "Q"]
    random.shuffle(known)
    common, others = known[: random.randint(1, 4)], known[4:]
    prefix, number = random.choice(_IDS), 0
    static: dict[str, str] = {}  # instance by member
    members: list[str] = []
    ops: list[Case] = []

    def listed() -> list[str]:
        return random.sample(both := [*common, *random.sample(others, random.randint(0, len(others)))], len(both))

    for _ in range(random.choice((2, 6, 15, 40, 90))):
        kind = random.choice(("join", "join", "rejoin", "leave", "replace", "elect", "complete"))
        first = random.choice(members or [""])
        if kind == "join" or not members:
            number += random.choice((1, 1, 16, 64))
            first = f"{prefix}{number}"
            ops.append({"op": "join", "id": first, "protocols": listed(), "waiting": random.random() < 0.8})
            if random.random() < 0.3:
                static[first] = ops[-1]["instanceId"] = f"pod-{number}"
            members.append(first)
        elif kind == "rejoin":
            ops.append({"op": "rejoin", "id": first, "protocols": listed()})
        elif kind == "leave":
            ops.append({"op": "leave", "id": first})
            members.remove(first)
            static.pop(first, None)
        elif kind == "replace" and first in static:
            number += 1
            new = f"{prefix}{number}"
            ops.append({"op": "replace", "instanceId": static[first], "old": first, "new": new})
            static[new] = static.pop(first)
            members[members.index(first)] = new
        elif kind != "replace":
            ops.append({"op": kind})
        reached["tables that grew"] += len(members) == 13
        reached["groups that everybody left"] += not members
    reached.update(op["op"] for op in ops)
    return {"ops": ops}


def _of_group(random: Random, reached: Counter[str]) -> Case:
    group = random.choice(("polygenelubricants", f"{random.choice(_IDS)}{random.getrandbits(40)}"))
    reached["the least hash"] += group == "polygenelubricants"
    return {"group": group, "numPartitions": random.choice((1, 3, 50, 1000, 2**31 - 1))}


_MAKERS: dict[str, Callable[[Random, Counter[str]], Case]] = {
    "server_range": _group,
    "server_uniform": _group,
    "share_simple": lambda random, reached: _group(random, reached, is_share=True),
    "striped_replica_placer": _striped,
    "admin_utils": _admin_utils,
    "reassign_generate": _generate,
    "producer_partition": _key,
    "group_vote": _vote,
    "group_partition": _of_group,
}
FAMILIES = tuple(_MAKERS)
