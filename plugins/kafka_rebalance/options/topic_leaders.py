"""Least leaders of a topic on each broker: by pattern, the largest number of those rules that match a topic.

Example: ``TopicLeaders("pay-.*", 2)``: each broker that may lead leads two partitions of each topic ``pay-…`` at the
least. A topic with fewer than two for each gets as many on each as there are: 5 partitions on 4 brokers, one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.options.limits import MOST_WHOLE
from kafka_rebalance.options.pattern import require_pattern
from kafka_rebalance.visible_text import excerpt

_PLACE = "--min-topic-leaders"


@dataclass(frozen=True, slots=True, order=True)
class TopicLeaders:
    """``pattern`` matches whole names of topics; ``leaders`` of each on every broker that may lead, from 1."""

    pattern: str
    leaders: int

    def __post_init__(self) -> None:
        """Raises InvalidInputError for what cannot be."""
        require_pattern(self.pattern, _PLACE)
        is_whole = isinstance(self.leaders, int) and not isinstance(self.leaders, bool)
        if not is_whole or not 1 <= self.leaders <= MOST_WHOLE:
            place = f"{_PLACE} {excerpt(self.pattern)}"
            raise InvalidInputError.at(place, f"{excerpt(self.leaders)} is no number of leaders", "give 1 or more")

    def covers(self, topic: str) -> bool:
        """Whether it is about that topic."""
        return re.fullmatch(self.pattern, topic) is not None

    def document(self) -> dict[str, Any]:
        """For ``parameters`` of plan.json."""
        return {"pattern": self.pattern, "leaders": self.leaders}
