"""``plan.json`` as ``check`` and ``--previous`` read it: sealed, of the right shape, and no more than they need.

The hash comes first: a document that does not carry its own ``plan_id`` is not accepted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.plan import plan_id, require_format
from kafka_rebalance.snapshot.times import parse_time

MOST_BROKER_ID = MOST_PARTITION = 2**31 - 1
MOST_BYTES = 2**63 - 1
MOST_LOAD = 1e300  # loads beyond it cannot be added up


@dataclass(frozen=True, slots=True)
class PlannedMove:
    """One entry of ``moves``."""

    topic: str
    partition: int
    start: tuple[int, ...]
    target: tuple[int, ...]
    leader: int
    copied_bytes: int | None = None  # None: not known

    @property
    def name(self) -> str:
        """``topic-partition``."""
        return f"{self.topic}-{self.partition}"


@dataclass(frozen=True, slots=True)
class PlannedState:
    """A plan that is ours, and what it saw of its cluster."""

    plan_id: str
    cluster: str
    cluster_id: str | None
    captured_at: datetime | None
    expires_at: datetime | None
    verdict: str
    options: PlanOptions
    moves: tuple[PlannedMove, ...]
    topic_ids: Mapping[str, str | None]
    broker_racks: Mapping[int, str | None]
    dead_brokers: frozenset[int]
    topic_partitions: Mapping[str, int]
    reassigning: frozenset[tuple[str, int]]
    disk_before: Mapping[int, float]  # empty: the plan does not balance disks
    capacities: Mapping[str, Mapping[int, float]]  # resource -> broker -> what the plan took it to carry


def require_sealed(document: Any, place: str = "plan") -> None:
    """Raises InvalidInputError where ``plan_id`` is not the hash of the rest."""
    if not isinstance(document, Mapping) or not isinstance(document.get("plan_id"), str):
        raise InvalidInputError.at(place, "is no plan", "a plan has plan_id, parameters and moves")
    try:
        found = plan_id(document)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError.at(place, f"holds what no plan can hold ({type(error).__name__})") from error
    if found != document["plan_id"]:
        raise InvalidInputError.at(
            f"{place}: plan_id",
            f"{_short(document['plan_id'])} is not the hash of the document ({found[:12]}…)",
            "the plan was changed after it was made: take the original, or make a new one",
        )


def read_planned(document: Any, place: str = "plan") -> PlannedState:
    """The plan, every field that is used checked. Raises InvalidInputError with the field that is wrong."""
    require_sealed(document, place)
    require_format(document, place)
    read = _Fields(document, place)
    seen = _Fields(read.field("seen", dict), f"{place}.seen")
    return PlannedState(
        plan_id=read.field("plan_id", str),
        cluster=read.field("cluster", str),
        cluster_id=read.maybe("cluster_id"),
        captured_at=read.time("captured_at"),
        expires_at=read.time("expires_at"),
        verdict=read.field("verdict", str),
        options=PlanOptions.from_document(read.field("parameters", dict)),
        moves=_moves(read.field("moves", list), place),
        topic_ids=_topic_ids(read),
        broker_racks=_racks(seen),
        dead_brokers=frozenset(seen.brokers("dead_brokers")),
        topic_partitions=_counts(seen),
        reassigning=_reassigning(seen),
        disk_before=_disk_before(read),
        capacities=_capacities(read.field("resources", list), place),
    )


@dataclass(frozen=True, slots=True)
class _Fields:
    document: Mapping[str, Any]
    place: str

    def wrong(self, name: str, value: Any, hint: str = "") -> InvalidInputError:
        return InvalidInputError.at(f"{self.place}.{name}", f"{_short(value)} cannot be", hint)

    def field(self, name: str, kind: type) -> Any:
        if name not in self.document:
            raise InvalidInputError.at(f"{self.place}.{name}", "is missing")
        value = self.document[name]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self.wrong(name, value)
        return value

    def maybe(self, name: str) -> str | None:
        if self.document.get(name) is None:
            return None
        return str(self.field(name, str))

    def time(self, name: str) -> datetime | None:
        text = self.maybe(name)
        return None if text is None else parse_time(text, f"{self.place}.{name}")

    def number(self, name: str, highest: int) -> int:
        value: int = self.field(name, int)
        if not 0 <= value <= highest:
            raise self.wrong(name, value)
        return value

    def brokers(self, name: str) -> tuple[int, ...]:
        value = self.field(name, list)
        if not all(_is_broker(broker) for broker in value) or len(set(value)) != len(value):
            raise self.wrong(name, value, "broker ids, each once")
        return tuple(value)


def _moves(items: list[Any], place: str) -> tuple[PlannedMove, ...]:
    moves: list[PlannedMove] = []
    seen: set[tuple[str, int]] = set()
    for number, item in enumerate(items):
        here = f"{place}.moves[{number}]"
        if not isinstance(item, dict):
            raise InvalidInputError.at(here, f"{_short(item)} is no move")
        read = _Fields(item, here)
        move = PlannedMove(
            topic=read.field("topic", str),
            partition=read.number("partition", MOST_PARTITION),
            start=read.brokers("from"),
            target=read.brokers("to"),
            leader=read.number("leader_to", MOST_BROKER_ID),
            copied_bytes=None if item.get("bytes") is None else read.number("bytes", MOST_BYTES),
        )
        if not move.start or not move.target or move.leader not in move.target:
            raise InvalidInputError.at(here, "from or to is empty, or leader_to is not among to")
        if (move.topic, move.partition) in seen:
            raise InvalidInputError.at(here, f"{_short(move.name)} is moved twice")
        seen.add((move.topic, move.partition))
        moves.append(move)
    return tuple(moves)


def _topic_ids(read: _Fields) -> dict[str, str | None]:
    value = read.field("topic_ids", dict)
    if not all(element is None or isinstance(element, str) for element in value.values()):
        raise read.wrong("topic_ids", value, "topic: id or null")
    return dict(value)


def _racks(seen: _Fields) -> dict[int, str | None]:
    racks: dict[int, str | None] = {}
    for key, rack in seen.field("broker_racks", dict).items():
        if rack is not None and not isinstance(rack, str):
            raise seen.wrong("broker_racks", rack, "racks as text")
        racks[_broker_of(key, seen, "broker_racks")] = rack
    return racks


def _disk_before(read: _Fields) -> dict[int, float]:
    disk = read.field("before", dict).get("disk")
    return {} if disk is None else _by_broker(disk, read, "before")


def _capacities(resources: list[Any], place: str) -> dict[str, dict[int, float]]:
    """Of the resources that have any."""
    capacities = {}
    for number, item in enumerate(resources):
        here = f"{place}.resources[{number}]"
        if not isinstance(item, dict):
            raise InvalidInputError.at(here, f"{_short(item)} is no resource")
        read = _Fields(item, here)
        if item.get("capacity") is not None:
            capacities[str(read.field("resource", str))] = _by_broker(item["capacity"], read, "capacity")
    return capacities


def _by_broker(value: Any, read: _Fields, name: str) -> dict[int, float]:
    if not isinstance(value, dict):
        raise read.wrong(name, value, "a number for each broker")
    numbers = {}
    for key, number in value.items():
        if not isinstance(number, int | float) or isinstance(number, bool) or not 0 <= number <= MOST_LOAD:
            raise read.wrong(name, number, "a number for each broker")
        numbers[_broker_of(key, read, name)] = float(number)
    return numbers


def _broker_of(key: Any, read: _Fields, name: str) -> int:
    if not (key.isascii() and key.isdecimal() and len(key) <= 10 and int(key) <= MOST_BROKER_ID):
        raise read.wrong(name, key, "broker ids as text")
    return int(key)


def _counts(seen: _Fields) -> dict[str, int]:
    counts: dict[str, int] = seen.field("topic_partitions", dict)
    for value in counts.values():
        if not isinstance(value, int) or isinstance(value, bool):
            raise seen.wrong("topic_partitions", value, "topic: number of partitions")
    return dict(counts)


def _reassigning(seen: _Fields) -> frozenset[tuple[str, int]]:
    """Topic and partition of what was being reassigned."""
    pairs: list[Any] = seen.field("reassigning", list)
    for pair in pairs:
        if not isinstance(pair, list) or [type(part) for part in pair] != [str, int]:
            raise seen.wrong("reassigning", pair, "topic and partition")
    return frozenset((topic, partition) for topic, partition in pairs)


def _is_broker(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_BROKER_ID


def _short(value: Any) -> str:
    if isinstance(value, list | dict):
        return f"a {'list' if isinstance(value, list) else 'object'} of {len(value)}"
    if isinstance(value, int) and abs(value) > 2**63:
        return "a number beyond 2^63"
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."
