"""Fresh random cases for the client families, and what they reach: seeded, small, and nasty on purpose.

Groups come with a past: partitions were assigned somehow among members of which some have left, in generations that not
all have seen, of topics of which some have shrunk or vanished; some partitions have two owners.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

FAMILIES = ("client_range", "client_roundrobin", "client_sticky", "client_cooperative_sticky")
LEGACY_FAMILIES = ("legacy_range_2_0", "legacy_roundrobin_2_0", "legacy_sticky_2_0")

_BEYOND_BMP = ("\U0001f600", "\U00010000", "\U0010fffd", "\ue000", "\uffee", "ﬀ")
_TOPIC_STEMS = ("t", "orders.", "pay.", "主题.", "X58_", "log-", "\U0001f600", "\uff01")
_RACKS = ("r0", "r1", "r2", "rack-😀")


def client_cases(family: str, count: int, seed: int, reached: Counter[str]) -> Iterator[dict[str, Any]]:
    """``count`` cases of one family; what they hold is counted in ``reached``."""
    for i in range(count):
        random = Random(f"{family}-{seed}-{i}")
        case = _Case(random, family)
        reached.update(case.reached())
        yield {"id": f"{family}-{seed}-{i}", "strategy": family, "input": case.input}


class _Case:
    """One group with its past."""

    def __init__(self, random: Random, family: str) -> None:
        self.random, self.family = random, family
        self.is_large = random.random() < 0.02
        self.topics = self._topics()
        self.names = [topic["topic"] for topic in self.topics]
        self.stale_topics = ["ghost"] if random.random() < (0.02 if family == "legacy_sticky_2_0" else 0.15) else []
        self.members = self._members()
        orders = ("given", "hash", "leader") if family.startswith("client") else ("given", "hash")
        self.input: dict[str, Any] = {"order": random.choice(orders), "topics": self.topics}
        self.input["members"] = self.members
        if family in ("client_sticky", "client_cooperative_sticky"):
            self._remember(self._past())
            self.input["maxGenerationBefore"] = random.choice((-1, -1, 0, 4, 5, 6))
        if family == "legacy_sticky_2_0":
            self._remember_plainly(self._past())
        if family.startswith("client") and random.random() < 0.1:
            self.input["preferRackAware"] = True

    def _topics(self) -> list[dict[str, Any]]:
        random = self.random
        stem = random.choice(_TOPIC_STEMS)
        count = random.randint(5, 30) if self.is_large else random.randint(0 if random.random() < 0.05 else 1, 6)
        most = 30 if self.is_large else random.choice((2, 4, 9))
        topics: list[dict[str, Any]] = []
        same = random.randint(1, most) if random.random() < 0.3 else None
        for i in random.sample(range(count), count):
            least = 0 if random.random() < 0.05 else 1
            topics.append({"topic": f"{stem}{i}", "n": same or random.randint(least, most)})
        if self.family.startswith("client") and random.random() < 0.6:
            self._give_racks(topics)
        return topics

    def _give_racks(self, topics: list[dict[str, Any]]) -> None:
        random = self.random
        racks = _RACKS[: random.randint(1, 4)]
        for topic in topics:
            copies = random.randint(1, 3)
            if random.random() < 0.15:
                continue
            topic["racks"] = [
                [None if random.random() < 0.05 else random.choice(racks) for _ in range(copies)]
                for _ in range(topic["n"])
            ]

    def _members(self) -> list[dict[str, Any]]:
        random = self.random
        count = random.randint(20, 60) if self.is_large else random.choice((0, 1, 2, 2, 3, 3, 4, 5, 6, 8, 10))
        shape = random.choice(("equal", "equal", "random", "random", "few"))
        everything = self.names + self.stale_topics
        common = random.sample(everything, random.randint(0, len(everything))) if random.random() < 0.3 else everything
        rack_share = random.choice((0.0, 0.0, 0.5, 1.0))
        static_share = random.choice((0.0, 0.0, 0.3, 1.0))
        members = []
        for i, member_id in enumerate(_ids(random, count)):
            topics = self._subscription(shape, common, everything)
            member: dict[str, Any] = {"id": member_id, "topics": topics}
            if random.random() < static_share:
                # Two of the same instance id: a restart that the coordinator has not seen the end of.
                member["instanceId"] = f"inst-{random.choice((i, i, i, 0))}" + random.choice(("", "", _BEYOND_BMP[3]))
            if self.family.startswith("client") and random.random() < rack_share:
                member["rack"] = random.choice((*_RACKS, "r9", ""))
            members.append(member)
        return members

    def _subscription(self, shape: str, common: list[str], everything: list[str]) -> list[str]:
        random = self.random
        if shape == "equal" and random.random() < 0.97:
            topics = random.sample(common, len(common))
        elif shape == "few":
            topics = random.sample(everything, min(len(everything), random.randint(0, 2)))
        else:
            topics = random.sample(everything, random.randint(0, len(everything)))
        if topics and random.random() < 0.02:
            topics.append(random.choice(topics))
        return [] if random.random() < 0.02 else topics

    def _past(self) -> list[list[tuple[str, int]]]:
        """What each member owned: dealt somehow, then shaken."""
        random = self.random
        owned: list[list[tuple[str, int]]] = [[] for _ in self.members]
        if not self.members or random.random() < 0.15:
            return owned
        had = {topic["topic"]: topic["n"] for topic in self.topics}
        if random.random() < 0.15:
            had["vanished"] = random.randint(1, 4)
        if random.random() < 0.12 and self.topics:
            had[random.choice(self.names)] += random.randint(1, 3)  # it has shrunk since
        fair = random.random() < 0.5
        gone = random.choice((0.0, 0.0, 0.2, 0.5))
        twice = random.choice((0.0, 0.0, 0.0, 0.1, 0.5))
        newcomers = set(random.sample(range(len(owned)), random.choice((0, 0, 1, len(owned) // 2))))
        candidates = [i for i in range(len(owned)) if i not in newcomers] or [0]
        for name, n in had.items():
            readers = [i for i in candidates if name in self.members[i]["topics"]]
            for p in range(n):
                pool = readers if readers and random.random() < 0.97 else candidates
                if random.random() >= gone:
                    owner = pool[p % len(pool)] if fair else random.choice(pool[: 1 + len(pool) // 2])
                    owned[owner].append((name, p))
                if random.random() < twice:
                    owned[random.choice(candidates)].append((name, p))
        for pairs in owned:
            if random.random() < 0.3:
                random.shuffle(pairs)
        return owned

    def _remember(self, past: list[list[tuple[str, int]]]) -> None:
        """As Subscriptions say it, with generations that not all have seen."""
        random = self.random
        style = random.choice(("one", "one", "mixed", "old clients", "none"))
        for member, pairs in zip(self.members, past, strict=True):
            runs = _runs(pairs)
            generation = 5 if style == "one" or random.random() < 0.6 else random.choice((-1, 0, 3, 4, 5, 6))
            data: dict[str, Any] = {"owned": runs, "generation": generation}
            field: int | None = generation
            if style == "old clients":
                field = None
            elif style == "none" or (style == "mixed" and random.random() < 0.2):
                field, data["generation"] = None, None
            elif style == "mixed" and random.random() < 0.2:
                field = random.choice((-1, None, 4, 5))
            if self.family == "client_cooperative_sticky":
                member["owned"] = runs
                if field is not None and field >= 0:
                    data["generation"] = field
            if field is not None:
                member["generation"] = field
            member["memberData"] = data

    def _remember_plainly(self, past: list[list[tuple[str, int]]]) -> None:
        if self.random.random() < 0.1:
            return
        for member, pairs in zip(self.members, past, strict=True):
            if self.random.random() < 0.9:
                member["owned"] = _runs(pairs)

    def reached(self) -> Counter[str]:
        """Which of the traps this case holds."""
        members, counts = self.members, {topic["topic"]: topic["n"] for topic in self.topics}
        runs = [_owned(member) for member in members]
        pairs = [(name, p) for run in runs for name, partitions in run for p in partitions]
        generations = {(m.get("memberData") or {}).get("generation") for m in members} - {None}
        results = {
            "racks": any(m.get("rack") for m in members) and any("racks" in t for t in self.topics),
            "static members": any("instanceId" in m for m in members),
            "ids beyond the BMP": any(ord(c) > 0xFFFF for m in members for c in m["id"]),
            "empty subscriptions": any(not m["topics"] for m in members),
            "topics listed twice": any(len(set(m["topics"])) < len(m["topics"]) for m in members),
            "topics without metadata": any(name not in counts for m in members for name in m["topics"]),
            "unequal subscriptions": len({tuple(sorted(m["topics"])) for m in members}) > 1,
            "empty groups": not members,
            "owners": bool(pairs),
            "duplicate owners": len(set(pairs)) < len(pairs),
            "vanished topics": any(name not in counts for name, _ in pairs),
            "vanished partitions": any(p >= counts.get(name, p + 1) for name, p in pairs),
            "departed members": bool(pairs) and sum(counts.values()) > len(set(pairs)),
            "old generations": len(generations) > 1 or self.input.get("maxGenerationBefore", -1) > max(
                generations, default=-1
            ),
        }  # fmt: skip
        return Counter(name for name, is_there in results.items() if is_there)


def _owned(member: dict[str, Any]) -> list[list[Any]]:
    runs = member.get("owned") or (member.get("memberData") or {}).get("owned") or []
    return list(runs)


def _ids(random: Random, count: int) -> list[str]:
    style = random.choice(("plain", "uuid", "short", "beyond"))
    if style == "plain":
        ids = [f"consumer-{i:02d}" for i in range(count)]
    elif style == "uuid":
        ids = [f"svc-{random.getrandbits(32):08x}-{random.getrandbits(16):04x}-{random.getrandbits(48):012x}"
               for _ in range(count)]  # fmt: skip
    elif style == "short":
        ids = ["".join(random.choice("abAB09._-") for _ in range(random.randint(1, 4))) + f"~{i}" for i in range(count)]
    else:
        ids = [random.choice(_BEYOND_BMP) * random.randint(1, 2) + random.choice(("", "c", "é")) + str(i)
               for i in range(count)]  # fmt: skip
    random.shuffle(ids)
    return ids


def _runs(pairs: list[tuple[str, int]]) -> list[list[Any]]:
    runs: list[list[Any]] = []
    for name, partition in pairs:
        if not runs or runs[-1][0] != name:
            runs.append([name, []])
        runs[-1][1].append(partition)
    return runs
