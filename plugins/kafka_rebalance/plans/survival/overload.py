"""Who is above its capacity after which loss; and where no placement could do, by how much.

The count: after the loss of a group the others carry at least what leads each partition that has a replica left, and of
each the followers that cannot all be in the group. Where that is more than they can carry together, nothing helps.
Example: racks of 100, 100 and 100 MB/s; leaders send 220. Without any rack 200 are left: 20 are lacking.

O(P + G·B) for each resource.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from kafka_rebalance.arrays import Floats, Longs
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.planner.survive import LossState
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.plans.survival.losses import loss_of


class Proof(Enum):
    """That nobody can do better: by a count of all loads, by a program over all placements, or not at all."""

    COUNTED = "counted"
    ALL_TRIED = "all_tried"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Overload:
    """The highest load over capacity after any loss: who is lost, who is above (None: several brokers together)."""

    lost: str
    broker: int | None
    resource: str
    load: float
    capacity: float

    def fact(self, kind: str, **said: Any) -> Fact:
        """Return it as a fact, of the loss of a broker or of a rack; ``said``: further arguments."""
        args = {"kind": kind, "lost": self.lost, "broker": self.broker, "resource": self.resource}
        return Fact(FactCode.LOSS_NOT_SURVIVED, args | {"load": self.load, "capacity": self.capacity} | said)


def worst_overload(plan_request: PlanRequest, state: LossState) -> Overload | None:
    """The highest load over capacity of all losses; None where no loss is known."""
    found: Overload | None = None
    names, ids = loss_of(plan_request).names, plan_request.brokers.arrays.ids
    for broker in range(len(ids)):
        load, capacity, resource, lost = worst_of(plan_request, state, broker)
        if load >= 0 and np.isfinite(capacity) and (found is None or load / capacity > found.load / found.capacity):
            found = Overload(names[lost], int(ids[broker]), resource, load, capacity)
    return found


def worst_of(plan_request: PlanRequest, state: LossState, broker: int) -> tuple[float, float, str, int]:
    """Load, capacity, resource and lost group where one broker stands highest over its capacity; a load below 0: it is
    lost itself each time.
    """
    ratios = state.ratios(broker)
    lost, r = divmod(int(ratios.argmax()), ratios.shape[1])
    capacity, d = float(state.arrays.capacity[broker, r]), int(state.arrays.guarded[r])
    taken = float(state.load[broker, d] + state.taken[lost, broker, r])
    return (taken if ratios[lost, r] >= 0 else -1.0), capacity, plan_request.resources[d], lost


def counted_overload(plan_request: PlanRequest, state: LossState) -> Overload | None:
    """The loss after which those that are left can carry least of what they must, together; None where they could."""
    arrays = state.arrays
    if not arrays.serves[arrays.stays].all():  # of what is not heard nobody knows what it carries on
        return None
    names, found, worst = loss_of(plan_request).names, None, 1.0
    for group in range(arrays.groups):
        left = arrays.stays & (arrays.group != group)
        must_carry = _least_load(state, group)
        for r, d in enumerate(arrays.guarded.tolist()):
            load, capacity = float(must_carry[d]), float(arrays.capacity[left, r].sum())
            if capacity > 0 and load / capacity > worst * (1 + 1e-9):
                found, worst = Overload(names[group], None, plan_request.resources[d], load, capacity), load / capacity
    return found


def _least_load(state: LossState, group: int) -> Floats:
    """float64[D]: what is carried outside of the group once it is lost, whatever the placement."""
    arrays = state.arrays
    rf = (state.lists >= 0).sum(axis=1)
    inside = ((state.lists >= 0) & (arrays.group[state.lists] == group)).sum(axis=1)
    size = int((arrays.group == group).sum())
    # A list of two racks stays on two, a group that is smaller than the list cannot hold all of it.
    is_carried = arrays.may_change & (rf > 1) & ((size < rf) | ((inside > 0) & (inside < rf)))
    outside: Longs = np.where(is_carried, np.maximum(rf - size, 1), 0)
    return np.asarray(arrays.extra[is_carried].sum(axis=0) + (arrays.follower * outside[:, None]).sum(axis=0))


def refuse_a_partition_above_all(plan_request: PlanRequest, state: LossState) -> None:
    """Raises InfeasibleError where one partition alone brings whoever leads it more than any broker can carry."""
    arrays = state.arrays
    if not arrays.stays.any():
        return
    for r, d in enumerate(arrays.guarded.tolist()):
        most = float(arrays.capacity[arrays.stays, r].max())
        weight = np.where(arrays.may_change, arrays.follower[:, d] + arrays.extra[:, d], 0.0)
        row = int(weight.argmax())
        if weight[row] > most * (1 + 1e-9):
            raise InfeasibleError(
                fact(
                    FactCode.PARTITION_ABOVE_LIMIT,
                    partition=plan_request.partitions.placement.name_of(row),
                    resource=plan_request.resources[d],
                    load=float(weight[row]),
                    limit=most,
                    is_capacity=True,
                ),
                fact(FactCode.ADD_CAPACITY, or_smaller_partitions=True),
            )


def cannot_survive(plan_request: PlanRequest, overload: Overload, proof: Proof) -> InfeasibleError:
    """To be raised: the cause, what is lacking, and whether that is proved or the best that was found."""
    options = plan_request.options
    is_limited = proof is not Proof.COUNTED and (options.has_budget or not options.moves_replicas)
    cause = overload.fact(str(options.survive), proof=proof.value, is_limited=is_limited)
    return InfeasibleError(cause, fact(FactCode.ADD_CAPACITY))
