"""Before and after of each resource as the plan reports them: what brokers really carry, by DESIGN §9."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Flags, Floats, Ints
from kafka_rebalance.cluster_arrays.fair_share import plain_mean
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.cluster_arrays.resource_columns import columns_of
from kafka_rebalance.cluster_arrays.tolerances import BAND_ROUNDING
from kafka_rebalance.options.target import Target
from kafka_rebalance.planner.topic_spread import topic_excess
from kafka_rebalance.plans.draft import Draft, empty_draft, placement_after
from kafka_rebalance.plans.plan import PreferredLeaders, ResourceOutcome
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.resources import UNITS
from kafka_rebalance.scoring import levels


@dataclass(frozen=True, slots=True, eq=False)
class Bands:
    """The bands asked for: ``low``, ``high`` float64[B, D] absolute loads, ``mean`` float64[D] the plain mean level;
    ``rank`` int32[D] as in ``Problem.band_rank``.
    """

    low: Floats
    high: Floats
    mean: Floats
    rank: Ints | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """``resources`` names the D columns; ``before``, ``after`` float64[B, D], and the same once preferred replicas are
    elected, which the controller does by itself; topic excess before and after.
    """

    resources: tuple[str, ...]
    before: Floats
    after: Floats
    elected_before: Floats
    elected_after: Floats
    topic_excess: tuple[int, int]

    @property
    def after_by_resource(self) -> dict[str, Floats]:
        """Loads after the plan, float64[B] each."""
        return {name: self.after[:, d] for d, name in enumerate(self.resources)}

    @property
    def before_by_resource(self) -> dict[str, Floats]:
        """Loads before the plan, float64[B] each."""
        return {name: self.before[:, d] for d, name in enumerate(self.resources)}

    @property
    def states_before(self) -> tuple[Floats, Floats]:
        """Today's loads, and those once preferred replicas are elected: the worse of both counts."""
        return self.before, self.elected_before

    @property
    def states_after(self) -> tuple[Floats, Floats]:
        """As ``states_before``, with the plan."""
        return self.after, self.elected_after

    def column(self, resource: str) -> int:
        """Index of a resource."""
        return self.resources.index(resource)


def outcome_of(plan_request: PlanRequest, draft: Draft) -> Outcome:
    """Loads of the whole cluster, also of what nobody may touch. O(P·W·D)."""
    placement = plan_request.partitions.placement
    stays = plan_request.brokers.arrays.stays
    replicas, leader, own = placement_after(plan_request, empty_draft(plan_request))
    resources, before = _loads(plan_request, replicas, leader, own)
    after_replicas, after_leader, after_own = placement_after(plan_request, draft)
    _, after = _loads(plan_request, after_replicas, after_leader, after_own)
    elected_before, elected_after, preferred = before, after, placement.preferred
    if preferred is not None and not np.array_equal(preferred, leader):
        _, elected_before = _loads(plan_request, replicas, preferred, own)
        elected = preferred.copy()
        elected[draft.row] = draft.leader_to  # first of its list
        _, elected_after = _loads(plan_request, after_replicas, elected, after_own)
    excess = topic_excess(placement.topic, placement.replicas, stays)
    spread = (excess, topic_excess(placement.topic, after_replicas, stays))
    return Outcome(resources, before, after, elected_before, elected_after, spread)


def resource_outcomes(
    plan_request: PlanRequest, outcome: Outcome, bands: Bands, within: float | None
) -> tuple[ResourceOutcome, ...]:
    """For the plan document: bands, means, skews and loads by broker id. ``bands``: those asked for."""
    arrays = plan_request.brokers.arrays
    ids = arrays.ids.tolist()
    results = []
    for d, name in enumerate(outcome.resources):
        capacity = arrays.capacity.get(name)
        broker_capacity = np.ones(len(ids)) if capacity is None else capacity
        before, after = outcome.before[:, d], outcome.after[:, d]
        staying = broker_capacity[arrays.stays]
        target = plan_request.options.targets.get(name)
        results.append(
            ResourceOutcome(
                resource=name,
                unit=UNITS[name],
                source=plan_request.partitions.sources[name],
                mean_level=levels.plain_mean(after[arrays.stays], staying),
                basis="fair_share" if target is None else "plain_mean",
                band_asked=_asked(name, target, within, plan_request.balanced),
                widened_to=reached(bands, after, d, broker_capacity, arrays.stays),
                is_ordered=name in plan_request.ordered,
                skew_before=levels.skew(before[arrays.stays], staying),
                skew_after=levels.skew(after[arrays.stays], staying),
                before=dict(zip(ids, before.tolist(), strict=True)),
                after=dict(zip(ids, after.tolist(), strict=True)),
                capacity=None if capacity is None else dict(zip(ids, capacity.tolist(), strict=True)),
            )
        )
    return tuple(results)


def preferred_leaders_of(plan_request: PlanRequest, outcome: Outcome) -> PreferredLeaders:
    """How many partitions each broker leads after the next preferred election: without the plan, and with it."""
    ids, d = plan_request.brokers.arrays.ids.tolist(), outcome.column("leaders")
    columns = (outcome.elected_before[:, d], outcome.elected_after[:, d])
    before, after = (dict(zip(ids, np.rint(column).astype(np.int64).tolist(), strict=True)) for column in columns)
    return PreferredLeaders(before, after)


def bands_of(problem: Problem) -> Bands:
    """The bands of a problem, and the mean that they are multiples of."""
    total = (problem.follower_load * problem.target_rf[:, None] + problem.leader_extra).sum(axis=0)
    mean = plain_mean(total, problem.capacity, problem.stays)
    return Bands(problem.band_low, problem.band_high, mean, problem.band_rank)


def met_bands(plan_request: PlanRequest, outcome: Outcome, bands: Bands) -> tuple[Floats, Floats]:
    """The bands asked for, widened to what is reached: float64[B, D] each. What is proved, is proved for these."""
    arrays = plan_request.brokers.arrays
    low, high = bands.low.copy(), bands.high.copy()
    for d, name in enumerate(outcome.resources):
        broker_capacity = arrays.capacity.get(name, np.ones(len(low)))
        lowest, highest = reached(bands, outcome.after[:, d], d, broker_capacity, arrays.stays)
        if lowest is not None:
            low[:, d] = np.minimum(low[:, d], np.where(arrays.stays, lowest * bands.mean[d] * broker_capacity, 0.0))
        if highest is not None:
            high[:, d] = np.where(
                arrays.stays, np.maximum(high[:, d], highest * bands.mean[d] * broker_capacity), high[:, d]
            )
    return low, high


def _loads(plan_request: PlanRequest, replicas: Ints, leader: Ints, own: Floats) -> tuple[tuple[str, ...], Floats]:
    there = replicas >= 0
    columns = columns_of(
        plan_request.partitions.placement.loads, there.sum(axis=1).astype(np.int32), plan_request.resources
    )
    loads = np.zeros((len(plan_request.brokers.brokers), len(columns.resources)))
    led = np.flatnonzero(leader >= 0)
    disk = columns.resources.index("disk") if "disk" in columns.resources else -1
    for d in range(loads.shape[1]):
        for j in range(replicas.shape[1]):
            rows = np.flatnonzero(there[:, j])
            weight = columns.follower_load[rows, d]
            if d == disk:
                weight = np.where(np.isnan(own[rows, j]), weight, own[rows, j])
            loads[:, d] += np.bincount(replicas[rows, j], weights=weight, minlength=len(loads))
        loads[:, d] += np.bincount(leader[led], weights=columns.leader_extra[led, d], minlength=len(loads))
    return columns.resources, loads


def _asked(
    name: str, target: Target | None, within: float | None, balanced: frozenset[str]
) -> tuple[float | None, float | None]:
    if target is not None:
        return target.low, target.high
    return (None, None) if within is None or name not in balanced else (1 - within, 1 + within)


def reached(
    bands: Bands, after: Floats, d: int, broker_capacity: Floats, stays: Flags
) -> tuple[float | None, float | None]:
    """How far out the worst broker stands, in multiples of the plain mean of ``bands``; None where all are inside."""
    mean = float(bands.mean[d])
    if mean <= 0:
        return None, None
    level = after / (mean * broker_capacity)
    slack = BAND_ROUNDING * mean * float(broker_capacity[stays].max(initial=1.0)) + BAND_ROUNDING
    under = stays & (after < bands.low[:, d] - slack)
    over = stays & (after > bands.high[:, d] + slack)
    return (float(level[under].min()) if under.any() else None), (float(level[over].max()) if over.any() else None)
