"""What the plan counted with and what is there now: sizes and capacities that are others by more than a tenth.

Warnings: the plan still does what it says, but copies more or less than it says, or fills disks otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from kafka_rebalance.facts import FactCode
from kafka_rebalance.plans.check.planned import PlannedMove, PlannedState
from kafka_rebalance.plans.check.reasons import Reason, ReasonCode, reason
from kafka_rebalance.plans.draft import empty_draft, outcome_of
from kafka_rebalance.plans.params import CheckParams
from kafka_rebalance.plans.request import PlanRequest


def drift_since(planned: PlannedState, plan_request: PlanRequest, params: CheckParams) -> Iterator[Reason]:
    """Sizes of the whole cluster and of what is copied; the capacity of each broker. What is unknown warns of nothing.
    O(P·W·D).
    """
    yield from _all_sizes(planned, plan_request, params.most_drift)
    yield from _copied(planned.moves, plan_request, params.most_drift)
    yield from _capacities(planned, plan_request, params.most_drift)


def _all_sizes(planned: PlannedState, plan_request: PlanRequest, most: float) -> Iterator[Reason]:
    then = sum(planned.disk_before.values())
    outcome = outcome_of(plan_request, empty_draft(plan_request))
    if not then or "disk" not in outcome.resources:
        return
    now = float(outcome.before[:, outcome.column("disk")].sum())
    if _is_other(then, now, most):
        yield _sizes_changed(then, now, is_copied=False)


def _copied(moves: Sequence[PlannedMove], plan_request: PlanRequest, most: float) -> Iterator[Reason]:
    """The sizes of what the plan copies, done or not."""
    row_of, size = plan_request.snapshot.row_of, plan_request.partitions.size
    then = now = 0.0
    for move in moves:
        copies, row = len(set(move.target) - set(move.start)), row_of.get((move.topic, move.partition))
        if not copies or move.copied_bytes is None or row is None or np.isnan(size[row]):
            continue
        then += move.copied_bytes
        now += copies * float(size[row])
    if _is_other(then, now, most):
        yield _sizes_changed(then, now, is_copied=True)


def _sizes_changed(then: float, now: float, *, is_copied: bool) -> Reason:
    sizes = {"now_bytes": now, "then_bytes": float(then)}
    return reason(ReasonCode.SIZES_CHANGED, FactCode.NOW_OTHER_SIZES, **sizes, is_copied=is_copied)


def _capacities(planned: PlannedState, plan_request: PlanRequest, most: float) -> Iterator[Reason]:
    ids = plan_request.brokers.arrays.ids.tolist()
    for resource, then in planned.capacities.items():
        values = plan_request.brokers.arrays.capacity.get(resource)
        if values is None:
            yield reason(ReasonCode.CAPACITY_CHANGED, FactCode.NOW_UNKNOWN_CAPACITY, resource=resource)
            continue
        now: Mapping[int, float] = dict(zip(ids, values.tolist(), strict=True))
        for broker in sorted(then.keys() & now.keys()):
            if _is_other(then[broker], now[broker], most):
                amounts = {"now": now[broker], "then": then[broker]}
                known = {"resource": resource, "broker": broker} | amounts
                yield reason(ReasonCode.CAPACITY_CHANGED, FactCode.NOW_OTHER_CAPACITY, **known)


def _is_other(then: float, now: float, most: float) -> bool:
    return abs(now - then) > most * then
