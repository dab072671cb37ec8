"""Input and answer of a custom assignor in plain types, and as JSON for another process.

Partitions are whole numbers of any type, numpy's included; 2.0 and True are not. No import of numpy or kernels: the
other process needs neither.
"""

from __future__ import annotations

import json
import math
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_assignors.errors import AssignorError
from kafka_assignors.visible_text import excerpt
from kafka_assignors.whole_number import whole_number


@dataclass(frozen=True, slots=True)
class TopicView:
    name: str
    partitions: int
    racks: tuple[frozenset[str], ...] = ()
    weights: tuple[float, ...] = ()

    def document(self) -> dict[str, Any]:
        return {
            "name": self.name, "partitions": self.partitions, "racks": [sorted(racks) for racks in self.racks],
            "weights": list(self.weights),
        }  # fmt: skip

    @classmethod
    def of_document(cls, document: Mapping[str, Any]) -> TopicView:
        racks = tuple(frozenset(racks) for racks in document["racks"])
        return cls(document["name"], document["partitions"], racks, tuple(document["weights"]))


@dataclass(frozen=True, slots=True)
class MemberView:
    id: str
    topics: tuple[str, ...]
    instance_id: str | None = None
    rack: str | None = None
    host: str | None = None
    client_id: str | None = None
    owned: tuple[tuple[str, int], ...] = ()
    user_data: bytes | None = None

    @property
    def data(self) -> Mapping[str, object]:
        try:
            decoded = json.loads(self.user_data or b"{}")
        except (ValueError, RecursionError):
            return {}
        return decoded if isinstance(decoded, dict) else {}

    @property
    def weight(self) -> float:
        """Always above 0; 1 without ``weight`` in the user data."""
        weight = self.data.get("weight", 1.0)
        try:
            number = float(weight) if isinstance(weight, int | float) and not isinstance(weight, bool) else 1.0
        except OverflowError:
            return 1.0
        return number if math.isfinite(number) and number > 0 else 1.0


def members_document(members: Sequence[MemberView]) -> dict[str, Any]:
    """User data in base64; each distinct subscription once."""
    lists: dict[tuple[str, ...], int] = {}
    rows = [
        {
            "id": member.id, "topics": lists.setdefault(member.topics, len(lists)), "instance_id": member.instance_id,
            "rack": member.rack, "host": member.host, "client_id": member.client_id, "owned": _runs(member.owned),
            "user_data": None if member.user_data is None else b64encode(member.user_data).decode(),
        }
        for member in members
    ]  # fmt: skip
    return {"subscriptions": list(lists), "members": rows}


def members_of_document(document: Mapping[str, Any]) -> tuple[MemberView, ...]:
    lists = [tuple(topics) for topics in document["subscriptions"]]
    return tuple(
        MemberView(
            id=row["id"], topics=lists[row["topics"]], instance_id=row["instance_id"], rack=row["rack"],
            host=row["host"], client_id=row["client_id"],
            owned=tuple((topic, partition) for topic, partitions in row["owned"] for partition in partitions),
            user_data=None if row["user_data"] is None else b64decode(row["user_data"]),
        )
        for row in document["members"]
    )  # fmt: skip


def _runs(pairs: Sequence[tuple[str, int]]) -> list[tuple[str, list[int]]]:
    runs: list[tuple[str, list[int]]] = []
    for topic, partition in pairs:
        if not runs or runs[-1][0] != topic:
            runs.append((topic, []))
        runs[-1][1].append(partition)
    return runs


Answer = dict[str, list[tuple[str, int]]]


def plain_answer(answer: object) -> Answer:
    """Raises AssignorError with the first fault."""
    if not isinstance(answer, Mapping):
        raise AssignorError("NoAnswer", f"answers {excerpt(answer)}, which is no mapping of members to partitions")
    plain: Answer = {}
    for member, pairs in answer.items():
        if not isinstance(member, str):
            raise AssignorError("UnknownMember", f"names {excerpt(member)}, which is no member's id")
        if isinstance(pairs, str | bytes | Mapping) or not isinstance(pairs, Iterable):
            raise AssignorError("NoAnswer", f"gives {member!r} {excerpt(pairs)}, which is no list of pairs")
        plain[member] = [_pair(member, pair) for pair in pairs]
    return plain


def plain_partition(answer: object) -> int:
    """Raises AssignorError where it is no whole number."""
    partition = whole_number(answer)
    if partition is None:
        raise AssignorError("UnknownPartition", f"answers {excerpt(answer)}, which is no whole number")
    return partition


def _pair(member: str, pair: Any) -> tuple[str, int]:
    if not isinstance(pair, tuple | list) or len(pair) != 2 or not isinstance(pair[0], str):
        raise AssignorError("NoAnswer", f"gives {member!r} {excerpt(pair)}, which is no pair of topic and partition")
    partition = whole_number(pair[1])
    if partition is None:
        raise AssignorError("UnknownPartition", f"gives {member!r} {excerpt(pair)}: partitions are whole numbers")
    return str(pair[0]), partition
