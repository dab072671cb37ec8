"""The brokers that a placer may choose from, and how it refuses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kafka_rebalance.errors import AssignorError

INVALID_PARTITIONS = "org.apache.kafka.common.errors.InvalidPartitionsException"
INVALID_REPLICATION_FACTOR = "org.apache.kafka.common.errors.InvalidReplicationFactorException"
ADMIN_OPERATION = "org.apache.kafka.server.common.AdminOperationException"


class PlacementError(AssignorError):
    """A placer refused as Kafka's does; ``java_class`` is the exception that the real one throws."""


@dataclass(frozen=True, slots=True)
class PlacementBroker:
    """A broker as a placer sees it. A fenced one is registered, but not in service."""

    id: int
    rack: str | None = None
    is_fenced: bool = False


def require_all_racks_or_none(brokers: Sequence[PlacementBroker]) -> None:
    """What ``kafka-reassign-partitions --generate`` checks unless told ``--disable-rack-aware``.

    Raises PlacementError (AdminOperationException) when some brokers have racks and others have not.
    """
    rackless = [broker.id for broker in brokers if broker.rack is None]
    if 0 < len(rackless) < len(brokers):
        raise PlacementError(
            ADMIN_OPERATION,
            "Not all brokers have rack information. Add --disable-rack-aware in command line to make replica"
            f" assignment without rack information. (Brokers without rack: {rackless})",
        )
