"""Least leaders of a topic on each broker: by pattern, the largest number of those rules that match a topic.

Example: ``TopicLeaders("pay-.*", 2)``: each broker that may lead leads two partitions of each topic ``pay-…`` at the
least. A topic with fewer than two for each gets as many on each as there are: 5 partitions on 4 brokers, one.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic.dataclasses import dataclass

from kafka_rebalance.options.option import Checked
from kafka_rebalance.options.values import CHECKED, NumberFrom1, Pattern, Value, long_text
from kafka_rebalance.visible_text import excerpt

_WRITTEN = re.compile(r"(?P<pattern>.+)=\s*(?P<leaders>[0-9]{1,100})\s*", re.DOTALL)


@dataclass(frozen=True, order=True, config=CHECKED)
class TopicLeaders(Checked):
    """``pattern`` matches whole names of topics; ``leaders`` of each on every broker that may lead, from 1."""

    pattern: Pattern
    leaders: NumberFrom1

    def covers(self, topic: str) -> bool:
        """Whether it is about that topic."""
        return re.fullmatch(self.pattern, topic) is not None


def _read(value: Any) -> Any:
    """``pay-.*=2``: every broker that may lead leads two partitions of each of these topics."""
    if not isinstance(value, str):
        return value
    match = _WRITTEN.fullmatch(value)
    if match is None:
        raise ValueError(f"{excerpt(value)}: give PATTERN=NUMBER")
    return TopicLeaders(match["pattern"], int(match["leaders"]))


TopicLeadersRule = Annotated[
    TopicLeaders,
    Value(read=_read, write=lambda rule: f"{rule.pattern}={rule.leaders}", schema=long_text("^.+=[0-9]+$")),
]
