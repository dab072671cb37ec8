"""A what-if scenario as one JSON object (docs/read-an-advisory.md). Reading is strict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.scenarios.changes import (
    ALL_TOPICS,
    LARGEST_FACTOR,
    MOST_NEW_PARTITIONS,
    MOST_NEWCOMERS,
    BrokersAdded,
    BrokersLost,
    Growth,
    Members,
    MembersLost,
    PartitionsAdded,
    RackLost,
    TopicAdded,
    TopicRemoved,
)
from kafka_rebalance.snapshot.codec import Fields, text, whole_up_to
from kafka_rebalance.snapshot.figures import (
    LARGEST_BYTES,
    LARGEST_CPU_PERCENT,
    LARGEST_INT16,
    LARGEST_INT32,
    LARGEST_RATE,
)
from kafka_rebalance.snapshot.model import ClusterSnapshot

Change = (
    RackLost | BrokersLost | BrokersAdded | Growth | PartitionsAdded | TopicAdded | TopicRemoved | Members | MembersLost
)


@dataclass(frozen=True, slots=True)
class Scenario:
    """Each change applies to the result of the one before."""

    name: str
    changes: tuple[Change, ...]

    def __post_init__(self) -> None:
        if not self.name.strip() or not self.changes:
            raise InvalidInputError.at("scenario", "has no name" if self.changes else "nothing happens in it")

    @property
    def is_failure(self) -> bool:
        """Whether members die without leaving: their partitions wait for the session timeout."""
        return any(isinstance(change, RackLost | MembersLost) for change in self.changes)

    def applied(self, snapshot: ClusterSnapshot, seed: int = 0) -> ClusterSnapshot:
        """Return the changed cluster; the same seed draws the same. Raises InvalidInputError, naming a change that does
        not fit.
        """
        for number, change in enumerate(self.changes):
            try:
                snapshot = change.applied(snapshot, seed)
            except InvalidInputError as error:
                raise InvalidInputError.at(f"scenario {self.name}, changes[{number}]", str(error)) from error
        return snapshot


FORMAT = "kafka-rebalance-scenario"
FORMAT_VERSION = 1
MOST_NEW_BROKERS = 1_000
MOST_CHANGES = 100


def scenario_from_document(document: Any, root: str = "scenario") -> Scenario:
    """Raises InvalidInputError naming the wrong JSON path under ``root``."""
    fields = Fields(document, root)
    fields.require_format(FORMAT, FORMAT_VERSION)
    name = fields.get("name", str)
    if not name.strip():
        raise InvalidInputError.at(f"{root}.name", "is empty")
    changes = fields.each("changes", _change)
    fields.done()
    if not 1 <= len(changes) <= MOST_CHANGES:
        raise InvalidInputError.at(f"{root}.changes", f"{len(changes)} changes", f"expected 1 to {MOST_CHANGES}")
    return Scenario(name, changes)


def scenario_document(scenario: Scenario) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "name": scenario.name,
        "changes": [_change_document(change) for change in scenario.changes],
    }


def _change_document(change: Change) -> dict[str, Any]:
    held = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(change).items()}
    given = {name: value for name, value in held.items() if value is not None and value != []}
    return {"change": _NAMES[type(change)], **given}


def _change(item: Any, path: str) -> Change:
    fields = Fields(item, path)
    name = fields.get("change", str)
    if name not in CHANGES:
        raise InvalidInputError.at(f"{path}.change", f"{excerpt(name)} is unknown", f"known: {', '.join(CHANGES)}")
    _, read = CHANGES[name]
    try:
        change = read(fields)
    except InvalidInputError as error:
        raise error if error.location.startswith(path) else InvalidInputError.at(path, str(error)) from error
    fields.done()
    return change


def _texts(fields: Fields, key: str) -> tuple[str, ...]:
    return fields.each(key, text)


def _broker_ids(fields: Fields, key: str) -> tuple[int, ...]:
    ids = fields.each(key, whole_up_to(LARGEST_INT32))
    if len(set(ids)) < len(ids):
        raise InvalidInputError.at(f"{fields.path}.{key}", "names a broker twice")
    return ids


def _brokers_lost(fields: Fields) -> BrokersLost:
    ids = _broker_ids(fields, "ids")
    if not ids:
        raise InvalidInputError.at(f"{fields.path}.ids", "names no broker")
    return BrokersLost(ids)


def _brokers_added(fields: Fields) -> BrokersAdded:
    return BrokersAdded(
        count=fields.whole("count", 1, MOST_NEW_BROKERS, None),
        ids=_broker_ids(fields, "ids"),
        racks=_texts(fields, "racks"),
        like=fields.whole("like", 0, LARGEST_INT32, None),
    )


def _growth(fields: Fields) -> Growth:
    return Growth(
        topics=fields.get("topics", str, ALL_TOPICS),
        rates=fields.real("rates", 0, LARGEST_FACTOR, 1.0),
        sizes=fields.real("sizes", 0, LARGEST_FACTOR, 1.0),
    )


def _partitions_added(fields: Fields) -> PartitionsAdded:
    return PartitionsAdded(fields.get("topic", str), fields.whole("count", 1, MOST_NEW_PARTITIONS))


def _topic_added(fields: Fields) -> TopicAdded:
    return TopicAdded(
        topic=fields.get("topic", str),
        partitions=fields.whole("partitions", 1, MOST_NEW_PARTITIONS),
        replication_factor=fields.whole("replication_factor", 1, LARGEST_INT16),
        in_bytes_per_s=fields.real("in_bytes_per_s", 0, LARGEST_RATE, None),
        out_bytes_per_s=fields.real("out_bytes_per_s", 0, LARGEST_RATE, None),
        in_messages_per_s=fields.real("in_messages_per_s", 0, LARGEST_RATE, None),
        cpu_percent=fields.real("cpu_percent", 0, LARGEST_CPU_PERCENT, None),
        log_bytes=fields.whole("log_bytes", 0, LARGEST_BYTES, 0),
        groups=fields.get("groups", str, None),
    )


def _members(fields: Fields) -> Members:
    return Members(
        groups=fields.get("groups", str),
        count=fields.whole("count", 1, MOST_NEWCOMERS, None),
        times=fields.real("times", 0, LARGEST_FACTOR, None),
        join=fields.whole("join", 1, MOST_NEWCOMERS, None),
        leave=_texts(fields, "leave"),
    )


CHANGES: dict[str, tuple[type[Change], Callable[[Fields], Change]]] = {
    "rack_lost": (RackLost, lambda fields: RackLost(fields.get("rack", str))),
    "brokers_lost": (BrokersLost, _brokers_lost),
    "brokers_added": (BrokersAdded, _brokers_added),
    "growth": (Growth, _growth),
    "partitions_added": (PartitionsAdded, _partitions_added),
    "topic_added": (TopicAdded, _topic_added),
    "topic_removed": (TopicRemoved, lambda fields: TopicRemoved(fields.get("topics", str))),
    "members": (Members, _members),
    "members_lost": (MembersLost, lambda fields: MembersLost(fields.get("groups", str), fields.get("rack", str))),
}
_NAMES = {kind: name for name, (kind, _) in CHANGES.items()}
