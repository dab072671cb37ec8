"""Why a load stays outside its band: the smallest cause that can be shown, and the smallest thing that would help.

Looked for in this order: one partition that is too large for any broker; what may not be touched, topic by topic;
leaderships that only few brokers can take; no broker that may take anything; full disks; counts that do not let loads
be even. Where none of these holds, the search found
nothing better, and the fact says just that.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from kafka_rebalance.arrays import NOBODY, Floats, Ints
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.cluster_arrays.tolerances import BAND_ROUNDING
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.planner.solution import Widening
from kafka_rebalance.plans.explain.no_capacity import count_band_binds, disks_full
from kafka_rebalance.plans.outcome import Bands, Outcome, reached
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.resources import LEADER_CARRIED


def widenings(
    plan_request: PlanRequest,
    problem: Problem,
    outcome: Outcome,
    bands: Bands,
    replicas: Ints,
    leader: Ints,
    gave_way: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
) -> tuple[Widening, ...]:
    """One entry for each resource and side that ends outside; ``replicas``, ``leader`` in problem rows; ``gave_way`` as
    in ``Solution``.
    """
    arrays = plan_request.brokers.arrays
    found: list[Widening] = []
    for d, name in enumerate(outcome.resources):
        broker_capacity = arrays.capacity.get(name, np.ones(problem.broker_count))
        after, mean = outcome.after[:, d], float(bands.mean[d])
        lowest, highest = reached(bands, after, d, broker_capacity, arrays.stays)
        if mean <= 0:
            continue
        level = after / (mean * broker_capacity)
        for side, used, edge in (("high", highest, bands.high[:, d]), ("low", lowest, bands.low[:, d])):
            if used is None:
                continue
            over = (
                level - edge / (mean * broker_capacity) if side == "high" else edge / (mean * broker_capacity) - level
            )
            worst = int(np.where(arrays.stays, over, -np.inf).argmax())
            asked = float(edge[worst] / (mean * broker_capacity[worst]))
            why = _why_above if side == "high" else _why_below
            cause = _gave_way(plan_request, name, gave_way.get(name, ())) or why(
                plan_request, problem, d, worst, replicas, leader
            )
            found.append(Widening(name, side, asked, used, worst, cause))
    return tuple(found)


def _gave_way(plan_request: PlanRequest, name: str, others: tuple[str, ...]) -> Fact | None:
    """Return which bands or caps a band gave way to, and why; None where it did not."""
    if not others:
        return None
    ordered, capped = plan_request.ordered, tuple(other for other in others if other in plan_request.caps)
    is_default = name not in ordered
    to = "caps" if capped else "ordered_bands" if is_default and ordered.issuperset(others) else "unequal_disks"
    return fact(FactCode.BAND_GIVES_WAY, to=to, resources=capped or others, is_default=is_default)


def largest_alone(problem: Problem, d: int) -> tuple[int, float]:
    """The partition whose one replica weighs most, as a follower (or alone, at replication factor 1), and its load."""
    weight = _weights(problem, d)
    row = int(weight.argmax()) if len(weight) else -1
    return row, float(weight[row]) if row >= 0 else 0.0


def _weights(problem: Problem, d: int) -> Floats:
    """float64[P]: what some broker must carry for each partition whatever is done: its leader's part."""
    weight: Floats = problem.follower_load[:, d] + problem.leader_extra[:, d]
    return weight


def _why_above(plan_request: PlanRequest, problem: Problem, d: int, broker: int, replicas: Ints, leader: Ints) -> Fact:
    name, high = problem.resources[d], problem.band_high[:, d]
    row, weight = largest_alone(problem, d)
    may = problem.stays & (problem.takes_leaders | problem.keeps_leaders if name in LEADER_CARRIED else problem.stays)
    top = float(high[may].max(initial=0.0))
    if row >= 0 and weight > top * (1 + BAND_ROUNDING) and leader[row] == broker and top > 0:
        return fact(FactCode.PARTITION_ABOVE_BAND, partition=problem.name_of(row), times_band=weight / top)
    return (
        _immovable_above(plan_request, problem, d, broker, replicas, leader)
        or _no_other_leader(problem, d, broker, replicas, leader)
        or _too_few_receivers(problem)
        or disks_full(problem, broker, replicas, leader)
        or count_band_binds(problem, d, broker, is_high=True)
        or fact(FactCode.NOTHING_NEARER_FOUND)
    )


def _immovable_above(
    plan_request: PlanRequest, problem: Problem, d: int, broker: int, replicas: Ints, leader: Ints
) -> Fact | None:
    """Partitions that may not be touched fill the band; the topic to let go first."""
    here = problem.pinned & ((replicas == broker) & (replicas >= 0)).any(axis=1)
    load = np.where(here, problem.follower_load[:, d] + problem.leader_extra[:, d] * (leader == broker), 0.0)
    high = float(problem.band_high[broker, d])
    if load.sum() <= high * (1 + BAND_ROUNDING):
        return None
    by_topic = np.bincount(problem.topic, weights=load)
    topic = int(by_topic.argmax())
    return fact(
        FactCode.IMMOVABLE_ABOVE_BAND,
        broker=int(problem.broker_ids[broker]),
        topic=plan_request.snapshot.topics[topic].name,
        topic_share=float(by_topic[topic] / load.sum()),
    )


def _no_other_leader(problem: Problem, d: int, broker: int, replicas: Ints, leader: Ints) -> Fact | None:
    """Leaders only: what it leads, only itself can lead."""
    if problem.moves_replicas or problem.resources[d] not in LEADER_CARRIED:
        return None
    led = leader == broker
    other = (replicas >= 0) & (replicas != broker) & problem.takes_leaders[replicas]
    alone = led & (~other.any(axis=1) | problem.pinned)
    load = float(problem.leader_extra[alone, d].sum())
    if load <= float(problem.band_high[broker, d]) * (1 + BAND_ROUNDING):
        return None
    return fact(FactCode.NO_OTHER_LEADER, broker=int(problem.broker_ids[broker]), partitions=int(alone.sum()))


def _too_few_receivers(problem: Problem) -> Fact | None:
    receivers = int(problem.takes_replicas.sum())
    if problem.moves_replicas and receivers <= 1:
        return fact(FactCode.TOO_FEW_RECEIVERS, brokers=receivers)
    return None


def _why_below(plan_request: PlanRequest, problem: Problem, d: int, broker: int, replicas: Ints, _leader: Ints) -> Fact:
    """Too little for a broker: somebody else holds too much of what cannot be divided, or racks keep it out."""
    high = problem.band_high[:, d]
    row, weight = largest_alone(problem, d)
    if row >= 0 and weight > float(high[problem.stays].max(initial=0.0)) * (1 + BAND_ROUNDING):
        return fact(FactCode.PARTITION_ABOVE_BAND, partition=problem.name_of(row), leaves_others_short=True)
    free = ~problem.pinned
    if not free.any():
        return fact(FactCode.NOTHING_MOVABLE)
    load = (problem.follower_load[:, d] * (replicas >= 0).sum(axis=1) + problem.leader_extra[:, d])[~free].sum()
    total = (problem.follower_load[:, d] * problem.target_rf + problem.leader_extra[:, d]).sum()
    if total > 0 and load > 0.5 * total:
        by_topic = np.bincount(problem.topic[~free], weights=problem.follower_load[~free, d])
        name = plan_request.snapshot.topics[int(by_topic.argmax())].name
        return fact(FactCode.MOSTLY_IMMOVABLE, share=float(load / total), topic=name)
    smallest = _smallest(problem, d, replicas, broker)
    if smallest > float(high[broker]):
        return fact(FactCode.ALL_PARTITIONS_ABOVE_BAND)
    return count_band_binds(problem, d, broker, is_high=False) or fact(FactCode.NOTHING_NEARER_FOUND)


def _smallest(problem: Problem, d: int, replicas: Ints, broker: int) -> float:
    elsewhere = ~problem.pinned & ~((replicas == broker) & (replicas != NOBODY)).any(axis=1)
    weight = _weights(problem, d)[elsewhere]
    return float(weight.min()) if len(weight) else 0.0
