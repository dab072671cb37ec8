"""What would become of the cluster if everything that is left of a plan were done today: harm, gain, bytes copied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import NOBODY, Floats, Ints
from kafka_rebalance.cluster_arrays.bands import BAND_ROUNDING
from kafka_rebalance.cluster_arrays.problem import Problem, broker_loads
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.plans.check.move_states import LeftMove
from kafka_rebalance.plans.check.reasons import Reason, ReasonCode, reason
from kafka_rebalance.plans.dead_band import gain_per_byte, gained, worst_deviation
from kafka_rebalance.plans.draft import Draft, bands_of, draft_of, outcome_of
from kafka_rebalance.plans.params import DEFAULTS, CheckParams
from kafka_rebalance.plans.request import PlanRequest, lacks_racks


@dataclass(frozen=True, slots=True)
class Effect:
    """``gain``: what is removed of ``imbalance``, today's; ``copied_bytes`` of known size."""

    harm: tuple[Reason, ...]
    gain: float
    imbalance: float
    copied_bytes: float


def effect_of(
    plan_request: PlanRequest, problem: Problem, left: Sequence[LeftMove], params: CheckParams = DEFAULTS.check
) -> Effect:
    """O(P·W·D)."""
    replicas, leaders = problem.replicas.copy(), problem.leader.copy()
    width = max([replicas.shape[1], *(len(move.target) for move in left)])
    replicas = np.pad(replicas, ((0, 0), (0, width - replicas.shape[1])), constant_values=NOBODY)
    for move in left:
        replicas[move.row] = NOBODY
        replicas[move.row, : len(move.target)] = move.target
        leaders[move.row] = move.leader
    draft = draft_of(plan_request, replicas, leaders)
    outcome = outcome_of(plan_request, draft)
    before, after = outcome.before, outcome.after
    bands, stays = bands_of(problem), problem.stays
    today, gain = gained(bands, outcome.states_before, outcome.states_after, stays)
    harm = _harm(plan_request, problem, draft, before, after)
    if gain < -params.least_harm and not plan_request.hard:
        harm.append(reason(ReasonCode.BALANCE_WORSE, FactCode.IMBALANCE_WOULD_GROW, growth=float(-gain)))
    return Effect(tuple(harm), gain, today, float((draft.copies * np.nan_to_num(draft.size)).sum()))


def worth(plan_request: PlanRequest, problem: Problem, effect: Effect, left: int) -> Reason:
    """Whether what is left still pays, where nothing is harmed."""
    options = plan_request.options
    if plan_request.hard or options.preferred_election:
        what_is_left = fact(FactCode.MOVES_ARE_LEFT, moves=left, gain=None, imbalance=None)
        return Reason(ReasonCode.MOVES_LEFT, (*plan_request.hard, what_is_left))
    amounts = {"gain": float(effect.gain), "imbalance": float(effect.imbalance)}
    rate = gain_per_byte(effect.gain, effect.copied_bytes, float(np.nan_to_num(plan_request.partitions.size).sum()))
    if effect.gain <= 0 or (not options.is_explicit and rate < options.least_gain_per_byte):
        return reason(ReasonCode.GAINS_TOO_LITTLE, FactCode.GAIN_OF_REST, **amounts)
    leaders = (problem.leader, problem.leader if problem.preferred is None else problem.preferred)
    loads = [broker_loads(problem, problem.replicas, leader) for leader in leaders]
    worst = [None if options.band is None else worst_deviation(problem, load, options.band) for load in loads]
    if all(deviation is None or deviation.ratio == 1.0 for deviation in worst):
        return reason(ReasonCode.BALANCED_ALREADY, FactCode.EVERY_BROKER_INSIDE)
    return reason(ReasonCode.MOVES_LEFT, FactCode.MOVES_ARE_LEFT, moves=left, **amounts)


def _harm(plan_request: PlanRequest, problem: Problem, draft: Draft, before: Floats, after: Floats) -> list[Reason]:
    reasons = []
    ids, caps = plan_request.brokers.arrays.ids, plan_request.caps
    for d, name in enumerate(problem.resources):
        cap = caps.get(name, np.full(len(ids), np.inf)) * (1 + BAND_ROUNDING)
        over = problem.stays & (after[:, d] > np.minimum(problem.limit[:, d], cap)) & (after[:, d] > before[:, d])
        if over.any():
            known = {"resource": name, "broker": int(ids[over.argmax()]), "is_cap": name in caps}
            reasons.append(reason(ReasonCode.OVER_CAPACITY, FactCode.BROKER_WOULD_OVERFLOW, **known))
    target = np.asarray((draft.end >= 0).sum(axis=1), dtype=np.int32)
    shares = lacks_racks(draft.end, plan_request.brokers, target) & ~lacks_racks(
        _may_stay(plan_request, draft), plan_request.brokers, target
    )
    if shares.any():
        count = int(shares.sum())
        reasons.append(reason(ReasonCode.RACKS_SHARED, FactCode.RACKS_WOULD_BE_SHARED, partitions=count))
    return reasons


def _may_stay(plan_request: PlanRequest, draft: Draft) -> Ints:
    """int32[M, W]: today's replicas without those that must leave: of racks that only these are on none is given up."""
    placement = plan_request.partitions.placement
    if placement.must_leave is None:
        return draft.start
    return np.where(placement.must_leave[draft.row], NOBODY, placement.replicas[draft.row])
