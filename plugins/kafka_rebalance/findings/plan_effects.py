"""What the plan does to each broker, summed over its moves: all figures of the plan that findings report."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
    """By broker, those that the plan touches. O(moves)."""
    effects: dict[int, BrokerEffect] = {}
    row_of, sizes = snapshot.row_of, snapshot.load(LoadKind.LOG_BYTES)
    for move in plan.moves:
        size = _known(float(sizes[row_of[move.topic, move.partition]]))
        for broker in set(move.to_replicas) - set(move.from_replicas):
            one = effects.get(broker, NOTHING)
            effects[broker] = replace(one, replicas_in=one.replicas_in + 1, bytes_in=_sum(one.bytes_in, size))
        for broker in set(move.from_replicas) - set(move.to_replicas):
            one = effects.get(broker, NOTHING)
            effects[broker] = replace(one, replicas_out=one.replicas_out + 1, bytes_out=_sum(one.bytes_out, size))
        if move.leader_from != move.leader_to:
            if move.leader_from is not None:
                one = effects.get(move.leader_from, NOTHING)
                effects[move.leader_from] = replace(one, leaders_out=one.leaders_out + 1)
            one = effects.get(move.leader_to, NOTHING)
            effects[move.leader_to] = replace(one, leaders_in=one.leaders_in + 1)
    return effects


def outcome_for(plan: Plan, resource: str, broker: int) -> tuple[float, float] | None:
    """Load of the broker before and after the plan, None where the plan does not balance that resource."""
    found: ResourceOutcome | None = next((outcome for outcome in plan.resources if outcome.resource == resource), None)
    if found is None or broker not in found.before or broker not in found.after:
        return None
    return found.before[broker], found.after[broker]


def _known(size: float) -> float | None:
    return None if isnan(size) else size


def _sum(total: float | None, more: float | None) -> float | None:
    return None if total is None or more is None else total + more
