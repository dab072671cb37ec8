"""What the plan counted with and what is there now: sizes and capacities that are others by more than a tenth.

Warnings: the plan still does what it says, but copies more or less than it says, or fills disks otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from kafka_rebalance.amounts import amount_in_words, bytes_in_words
from kafka_rebalance.plans.check.planned import PlannedMove, PlannedState
from kafka_rebalance.plans.check.reasons import Reason, ReasonCode
from kafka_rebalance.plans.draft import empty_draft, outcome_of
from kafka_rebalance.plans.params import CheckParams
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.resources import UNITS


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
        words = f"all replicas take {bytes_in_words(now)} now, {bytes_in_words(then)} when the plan was made"
        yield Reason(ReasonCode.SIZES_CHANGED, words)


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
        words = f"what it copies takes {bytes_in_words(now)} now, {bytes_in_words(then)} when the plan was made"
        yield Reason(ReasonCode.SIZES_CHANGED, f"{words}: the waves last as much longer or shorter")


def _capacities(planned: PlannedState, plan_request: PlanRequest, most: float) -> Iterator[Reason]:
    ids = plan_request.brokers.arrays.ids.tolist()
    for resource, then in planned.capacities.items():
        values = plan_request.brokers.arrays.capacity.get(resource)
        if values is None:
            words = f"{resource}: the capacity of some broker is not known any more; equal ones are assumed"
            yield Reason(ReasonCode.CAPACITY_CHANGED, words)
            continue
        now: Mapping[int, float] = dict(zip(ids, values.tolist(), strict=True))
        for broker in sorted(then.keys() & now.keys()):
            if _is_other(then[broker], now[broker], most):
                unit = UNITS[resource]
                words = f"{resource}: broker {broker} can carry {amount_in_words(now[broker], unit)} now"
                words += f", {amount_in_words(then[broker], unit)} when the plan was made"
                yield Reason(ReasonCode.CAPACITY_CHANGED, words)


def _is_other(then: float, now: float, most: float) -> bool:
    return abs(now - then) > most * then
