"""What one's own strategy sees: topics and members as people would write them down, and as JSON for another process.

Light to import: the process in which a strategy runs needs neither numpy nor kernels for these.
"""

from __future__ import annotations

import json
import math
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class TopicView:
    """One topic that somebody subscribes to; ``racks`` per partition, the racks of its replicas."""

    name: str
    partitions: int
    racks: tuple[frozenset[str], ...] = ()
    weights: tuple[float, ...] = ()

    def document(self) -> dict[str, Any]:
        """JSON for it."""
        return {
            "name": self.name, "partitions": self.partitions, "racks": [sorted(racks) for racks in self.racks],
            "weights": list(self.weights),
        }  # fmt: skip

    @classmethod
    def of_document(cls, document: Mapping[str, Any]) -> TopicView:
        """The way back of ``document``."""
        racks = tuple(frozenset(racks) for racks in document["racks"])
        return cls(document["name"], document["partitions"], racks, tuple(document["weights"]))


@dataclass(frozen=True, slots=True)
class MemberView:
    """One member as it presents itself. ``owned``: (topic, partition) pairs that it says it owns."""

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
        """User data that is a JSON object, else nothing."""
        try:
            decoded = json.loads(self.user_data or b"{}")
        except (ValueError, RecursionError):  # bytes of some other kind
            return {}
        return decoded if isinstance(decoded, dict) else {}

    @property
    def weight(self) -> float:
        """``weight`` in the user data, 1 where it is no number above 0: one may divide by it."""
        weight = self.data.get("weight", 1.0)
        try:
            number = float(weight) if isinstance(weight, int | float) and not isinstance(weight, bool) else 1.0
        except OverflowError:
            return 1.0
        return number if math.isfinite(number) and number > 0 else 1.0

    def document(self) -> dict[str, Any]:
        """JSON for it, user data in base64."""
        return {
            "id": self.id, "topics": list(self.topics), "instance_id": self.instance_id, "rack": self.rack,
            "host": self.host, "client_id": self.client_id, "owned": [list(pair) for pair in self.owned],
            "user_data": None if self.user_data is None else b64encode(self.user_data).decode(),
        }  # fmt: skip

    @classmethod
    def of_document(cls, document: Mapping[str, Any]) -> MemberView:
        """The way back of ``document``."""
        data = document["user_data"]
        return cls(
            id=document["id"], topics=tuple(document["topics"]), instance_id=document["instance_id"],
            rack=document["rack"], host=document["host"], client_id=document["client_id"],
            owned=tuple((topic, partition) for topic, partition in document["owned"]),
            user_data=None if data is None else b64decode(data),
        )  # fmt: skip
