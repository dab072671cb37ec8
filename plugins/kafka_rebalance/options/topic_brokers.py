"""Topics whose replicas may be on some brokers alone: by pattern, on brokers by id or on all of a rack.

Example: ``TopicBrokers("pay-.*", frozenset({1, 2}), frozenset({"a"}))`` lets topics whose whole names match be on
brokers 1, 2 and every broker of rack a. Where several rules match a topic, all of them hold.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic.dataclasses import dataclass

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.options.option import Checked
from kafka_rebalance.options.values import CHECKED, BrokerId, Brokers, Pattern, Racks, Value, long_text, read_value
from kafka_rebalance.visible_text import excerpt


@dataclass(frozen=True, order=True, config=CHECKED)
class TopicBrokers(Checked):
    """``pattern`` matches whole names of topics; ``brokers`` by id and ``racks`` by name, one of both at the least."""

    pattern: Pattern
    brokers: Brokers = frozenset()
    racks: Racks = frozenset()

    def __post_init__(self) -> None:
        """Raises InvalidInputError for a rule that names no place."""
        if not self.brokers and not self.racks:
            raise InvalidInputError.at(excerpt(self.pattern), "names no broker", "give PATTERN=1,2,3")

    def covers(self, topic: str) -> bool:
        """Whether it is about that topic."""
        return re.fullmatch(self.pattern, topic) is not None

    def allows(self, broker: int, rack: str | None) -> bool:
        """Whether its topics may be on that broker."""
        return broker in self.brokers or (rack is not None and rack in self.racks)


def _read(value: Any) -> Any:
    """``pay-.*=1,2,rack:a``: brokers 1, 2 and all of rack a are where replicas of such topics may be."""
    if not isinstance(value, str):
        return value
    named, _, places = value.rpartition("=")
    parts = [part.strip() for part in places.split(",")]
    if not named or not all(parts):
        raise ValueError(f"{excerpt(value)}: give PATTERN=1,2,3 or PATTERN=rack:NAME")
    racks = [part.removeprefix("rack:") for part in parts if part.startswith("rack:")]
    brokers = [read_value(BrokerId, part) for part in parts if not part.startswith("rack:")]
    return TopicBrokers(named, brokers, racks)  # type: ignore[arg-type]


def _write(rule: TopicBrokers) -> str:
    return f"{rule.pattern}={','.join([*map(str, sorted(rule.brokers)), *(f'rack:{r}' for r in sorted(rule.racks))])}"


# No place holds "=": each "=" begins at most one look at what follows it.
TopicBrokersRule = Annotated[
    TopicBrokers, Value(read=_read, write=_write, schema=long_text("^.+=([0-9]+|rack:[^,=]+)(,([0-9]+|rack:[^,=]+))*$"))
]
