"""Topics whose replicas may be on some brokers alone: by pattern, on brokers by id or on all of a rack.

Example: ``TopicBrokers("pay-.*", frozenset({1, 2}), frozenset({"a"}))`` lets topics whose whole names match be on
brokers 1, 2 and every broker of rack a. Where several rules match a topic, all of them hold.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.options.limits import MOST_BROKER_ID
from kafka_rebalance.options.pattern import require_pattern
from kafka_rebalance.visible_text import excerpt

_PLACE = "--topic-brokers"


@dataclass(frozen=True, slots=True, order=True)
class TopicBrokers:
    """``pattern`` matches whole names of topics; ``brokers`` by id and ``racks`` by name, one of both at the least."""

    pattern: str
    brokers: frozenset[int] = frozenset()
    racks: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Raises InvalidInputError for what cannot be."""
        require_pattern(self.pattern, _PLACE)
        for broker in self.brokers:
            is_whole = isinstance(broker, int) and not isinstance(broker, bool)
            if not is_whole or not 0 <= broker <= MOST_BROKER_ID:
                raise InvalidInputError.at(f"{_PLACE} {excerpt(self.pattern)}", f"{excerpt(broker)} is no broker id")
        for rack in self.racks:
            if not isinstance(rack, str) or not rack:
                raise InvalidInputError.at(f"{_PLACE} {excerpt(self.pattern)}", f"{excerpt(rack)} is no rack")
        if not self.brokers and not self.racks:
            raise InvalidInputError.at(f"{_PLACE} {excerpt(self.pattern)}", "names no broker", "give PATTERN=1,2,3")

    def covers(self, topic: str) -> bool:
        """Whether it is about that topic."""
        return re.fullmatch(self.pattern, topic) is not None

    def allows(self, broker: int, rack: str | None) -> bool:
        """Whether its topics may be on that broker."""
        return broker in self.brokers or (rack is not None and rack in self.racks)

    def document(self) -> dict[str, Any]:
        """For ``parameters`` of plan.json."""
        return {"pattern": self.pattern, "brokers": sorted(self.brokers), "racks": sorted(self.racks)}
