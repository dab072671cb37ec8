"""How many requests a reading sent, of which kinds: it must not grow with the cluster, so it is counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from kafka_rebalance.amounts import counted


@dataclass(frozen=True, slots=True)
class RequestCounts:
    """Requests by their Kafka name: ``for_cluster`` could go to any broker, ``to_broker`` only to this one.

    What opens a connection (ApiVersions, the login) is not among them.
    """

    for_cluster: Counter[str] = field(default_factory=Counter)
    to_broker: dict[int, Counter[str]] = field(default_factory=dict)

    def add(self, request: object, broker: int | None = None) -> None:
        """One request was sent; without a ``broker`` any could have answered."""
        counts = self.for_cluster if broker is None else self.to_broker.setdefault(broker, Counter())
        counts[type(request).__name__.removesuffix("Request")] += 1

    @property
    def most_to_a_broker(self) -> int:
        """Requests to the broker that was asked most."""
        return max((counts.total() for counts in self.to_broker.values()), default=0)

    @property
    def total(self) -> int:
        """All requests."""
        return self.for_cluster.total() + sum(counts.total() for counts in self.to_broker.values())

    def words(self) -> tuple[str, ...]:
        """One line for the cluster and one for each broker."""
        rows = [("for the cluster", self.for_cluster)]
        rows += [(f"to broker {broker}", self.to_broker[broker]) for broker in sorted(self.to_broker)]
        return tuple(
            f"{counted(counts.total(), 'request')} {whose}: "
            + ", ".join(f"{name} {n}" for name, n in sorted(counts.items()))
            for whose, counts in rows
        )
