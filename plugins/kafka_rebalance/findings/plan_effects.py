"""What the plan does to each broker, summed over its moves: all figures of the plan that findings report."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import isnan

from kafka_rebalance.plans.plan import Plan, ResourceOutcome
from kafka_rebalance.snapshot.load import LoadKind
from kafka_rebalance.snapshot.model import ClusterSnapshot


@dataclass(frozen=True, slots=True)
class BrokerEffect:
    """``bytes_out``: of replicas that leave the broker, ``bytes_in``: copied to it; None where a size is unknown.

    A replica counts with its leader's size, as the plan's own bytes do.
    """

    replicas_out: int = 0
    bytes_out: float | None = 0.0
    replicas_in: int = 0
    bytes_in: float | None = 0.0
    leaders_out: int = 0
    leaders_in: int = 0

    @property
    def is_nothing(self) -> bool:
        """The plan does not touch the broker."""
        return not (self.replicas_out or self.replicas_in or self.leaders_out or self.leaders_in)


NOTHING = BrokerEffect()


def effects_of(plan: Plan, snapshot: ClusterSnapshot) -> dict[int, BrokerEffect]:
    """By broker, those that the plan touches. O(moves), beside one look at the partitions' names."""
    row_of, sizes = snapshot.row_of, snapshot.load(LoadKind.LOG_BYTES)
    tallies: defaultdict[int, _Tally] = defaultdict(_Tally)
    for move in plan.moves:
        size = float(sizes[row_of[move.topic, move.partition]])
        before, after = set(move.from_replicas), set(move.to_replicas)
        for broker in after - before:
            tallies[broker].replicas_in += 1
            tallies[broker].bytes_in += size
        for broker in before - after:
            tallies[broker].replicas_out += 1
            tallies[broker].bytes_out += size
        if move.leader_from != move.leader_to:
            if move.leader_from is not None:
                tallies[move.leader_from].leaders_out += 1
            tallies[move.leader_to].leaders_in += 1
    return {broker: tally.effect() for broker, tally in tallies.items()}


@dataclass(slots=True)
class _Tally:
    """Counts of one broker while they grow; bytes are nan as soon as one size is."""

    replicas_out: int = 0
    bytes_out: float = 0.0
    replicas_in: int = 0
    bytes_in: float = 0.0
    leaders_out: int = 0
    leaders_in: int = 0

    def effect(self) -> BrokerEffect:
        return BrokerEffect(
            self.replicas_out,
            None if isnan(self.bytes_out) else self.bytes_out,
            self.replicas_in,
            None if isnan(self.bytes_in) else self.bytes_in,
            self.leaders_out,
            self.leaders_in,
        )


def outcome_for(plan: Plan, resource: str, broker: int) -> tuple[float, float] | None:
    """Load of the broker before and after the plan, None where the plan does not balance that resource."""
    found: ResourceOutcome | None = next((outcome for outcome in plan.resources if outcome.resource == resource), None)
    if found is None or broker not in found.before or broker not in found.after:
        return None
    return found.before[broker], found.after[broker]
