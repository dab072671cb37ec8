"""Options that are rules of topics: where they may be, and how many of each every broker leads."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic.dataclasses import dataclass

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.options.option import Checked
from kafka_rebalance.options.values import (
    CHECKED,
    BrokerId,
    Brokers,
    NumberFrom1,
    Pattern,
    Racks,
    Value,
    long_text,
    read_value,
)
from kafka_rebalance.visible_text import excerpt

# Topics whose replicas may be on some brokers alone: by pattern, on brokers by id or on all of a rack.
#
# Example: ``TopicBrokers("pay-.*", frozenset({1, 2}), frozenset({"a"}))`` lets topics whose whole names match be on
# brokers 1, 2 and every broker of rack a. Where several rules match a topic, all of them hold.


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


# Least leaders of a topic on each broker: by pattern, the largest number of those rules that match a topic.
#
# Example: ``TopicLeaders("pay-.*", 2)``: each broker that may lead leads two partitions of each topic ``pay-…`` at the
# least. A topic with fewer than two for each gets as many on each as there are: 5 partitions on 4 brokers, one.


_WRITTEN = re.compile(r"(?P<pattern>.+)=\s*(?P<leaders>[0-9]{1,100})\s*", re.DOTALL)


@dataclass(frozen=True, order=True, config=CHECKED)
class TopicLeaders(Checked):
    """``pattern`` matches whole names of topics; ``leaders`` of each on every broker that may lead, from 1."""

    pattern: Pattern
    leaders: NumberFrom1

    def covers(self, topic: str) -> bool:
        """Whether it is about that topic."""
        return re.fullmatch(self.pattern, topic) is not None


def _read_leaders(value: Any) -> Any:
    """``pay-.*=2``: every broker that may lead leads two partitions of each of these topics."""
    if not isinstance(value, str):
        return value
    match = _WRITTEN.fullmatch(value)
    if match is None:
        raise ValueError(f"{excerpt(value)}: give PATTERN=NUMBER")
    return TopicLeaders(match["pattern"], int(match["leaders"]))


TopicLeadersRule = Annotated[
    TopicLeaders,
    Value(read=_read_leaders, write=lambda rule: f"{rule.pattern}={rule.leaders}", schema=long_text("^.+=[0-9]+$")),
]
