"""Is a plan still valid, still worth it, or harmful by now? Judged on a newer snapshot, move by move.

The document comes first: its hash, its shape, its parameters. Then the worst of these wins, in this order:

- harmful: a move contradicts the cluster as it is (its partition is being reassigned, its broker is gone or closed),
  anything else is being reassigned that was not when the plan was made, partitions are below their least ISR, or,
  where nothing else has changed, what is left would overfill a disk, put replicas on one rack, or make the balance
  worse;
- stale: the plan has expired, or the cluster is not the one that it was made for any more (``reasons.ReasonCode``);
- not worth it: everything is done already, or what is left no longer pays;
- valid.

Moves that were made already count as done, so that a plan can be judged between its waves. Beside the status stand
warnings: sizes and capacities that are others than the plan counted with, reassignments of others that still run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np

from kafka_rebalance.cluster_arrays.problem import broker_loads
from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.check.cluster_changes import (
    changes_since,
    expired,
    recreated_topics,
    still_reassigning,
    why_not_comparable,
)
from kafka_rebalance.plans.check.drift import drift_since
from kafka_rebalance.plans.check.effect import effect_of, worth
from kafka_rebalance.plans.check.move_states import move_states
from kafka_rebalance.plans.check.planned import PlannedState, read_planned
from kafka_rebalance.plans.check.reasons import PlanStatus, Reason, ReasonCode, reason, shortened, worst
from kafka_rebalance.plans.dead_band import worst_deviation
from kafka_rebalance.plans.params import DEFAULTS, OptionParams, PlanParams
from kafka_rebalance.plans.plan import Verdict
from kafka_rebalance.plans.request import build_request
from kafka_rebalance.plans.unseen import could_change, nothing_usable
from kafka_rebalance.snapshot.model import ClusterSnapshot


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The status, why, and how many moves are done and left."""

    status: PlanStatus
    because: tuple[Reason, ...]
    done: int
    left: int
    warnings: tuple[Reason, ...] = ()

    @property
    def codes(self) -> tuple[ReasonCode, ...]:
        """Each code once, in the order of the reasons."""
        return tuple(dict.fromkeys(one.code for one in self.because))


def check_plan(
    document: Mapping[str, Any],
    snapshot: ClusterSnapshot,
    params: PlanParams = DEFAULTS,
    *,
    now: datetime | None = None,
) -> CheckResult:
    """Judge ``plan.json`` (parsed) on a newer snapshot, and by the clock of whoever asks (``now``).

    Raises InvalidInputError for a document that is no plan of ours or not as it was sealed, and for a plan of a cluster
    with another id.
    """
    planned = read_planned(document)
    strangers = why_not_comparable(planned, snapshot)
    late = tuple(expired(planned, snapshot, now))
    if strangers:
        return _result((*strangers, *late), 0, len(planned.moves), params)
    try:
        with np.errstate(over="raise", invalid="raise"):
            judged = _check_moves if planned.moves else _check_rest
            return judged(planned, snapshot, late, params)
    except FloatingPointError as error:
        hint = "look for a load or a size that nothing can have"
        raise InvalidInputError.at("snapshot", "its loads are too large to be added up", hint) from error


def _check_moves(
    planned: PlannedState, snapshot: ClusterSnapshot, late: tuple[Reason, ...], params: PlanParams
) -> CheckResult:
    plan_request = build_request(snapshot, _options(planned, snapshot, params.options), params.options)
    problem = plan_request.problem(plan_request.options.band)
    states = move_states(planned, plan_request, problem, recreated_topics(planned, snapshot))
    warnings = (*drift_since(planned, plan_request, params.check), *still_reassigning(planned, snapshot))
    reasons = (*states.reasons, *late, *changes_since(planned, snapshot))
    done, left = states.done, len(states.left)
    if not reasons and not left:
        reasons = (reason(ReasonCode.ALL_DONE, FactCode.ALL_MOVES_DONE, moves=done),)
    if not reasons:
        effect = effect_of(plan_request, problem, states.left, params.check)
        reasons = effect.harm or (worth(plan_request, problem, effect, left),)
    return _result(reasons, done, left, params, warnings)


def _check_rest(
    planned: PlannedState, snapshot: ClusterSnapshot, late: tuple[Reason, ...], params: PlanParams
) -> CheckResult:
    """A plan without moves holds as long as there is still nothing to do, and enough is seen to say so."""
    if late:
        return _result(late, 0, 0, params)
    if planned.verdict != Verdict.NOTHING_TO_DO.value:
        why = reason(ReasonCode.NO_PLAN_TO_KEEP, FactCode.PLAN_HAD_VERDICT, verdict=planned.verdict[:40])
        return _result((why,), 0, 0, params)
    if unusable := nothing_usable(snapshot):
        return _result(tuple(Reason(ReasonCode.NOT_SEEN, (why,)) for why in unusable), 0, 0, params)
    plan_request = build_request(snapshot, _options(planned, snapshot, params.options), params.options)
    within = plan_request.options.band
    problem = plan_request.problem(within)
    loads = broker_loads(problem, problem.replicas, problem.leader)
    far = None if within is None else worst_deviation(problem, loads, within)
    allowed = (within or 0.0) if plan_request.options.is_explicit else plan_request.options.dead_band
    must = (*plan_request.hard, *plan_request.unmet)
    if must or (far is not None and abs(far.ratio - 1) > allowed + 1e-9):
        why = Reason(ReasonCode.SOMETHING_TO_DO, (*must, fact(FactCode.NOW_SOMETHING_TO_DO)))
        return _result((why,), 0, 0, params)
    if unseen := could_change(plan_request, problem, params.unseen):
        return _result(tuple(Reason(ReasonCode.NOT_SEEN, (why,)) for why in unseen), 0, 0, params)
    return _result((reason(ReasonCode.STILL_NOTHING_TO_DO, FactCode.NOW_NOTHING_TO_DO),), 0, 0, params)


def _options(planned: PlannedState, snapshot: ClusterSnapshot, params: OptionParams) -> PlanOptions:
    """The plan's own options; brokers and racks that left the cluster since need not be removed any more."""
    options = planned.options
    there = {broker.id for broker in snapshot.brokers}
    known = there | options.add_brokers.keys()
    factor = options.replication_factor
    if factor is not None and factor > max(len(known), params.most_replication_factor):
        raise InvalidInputError.at("plan.parameters", f"replication factor {factor:,} on {len(known):,} brokers")
    return replace(
        options,
        remove_brokers=options.remove_brokers & known,
        demote_brokers=options.demote_brokers & known,
        exclude_brokers=options.exclude_brokers & known,
        remove_racks=options.remove_racks & {broker.rack for broker in snapshot.brokers},
    )


def _result(
    reasons: tuple[Reason, ...], done: int, left: int, params: PlanParams, warnings: tuple[Reason, ...] = ()
) -> CheckResult:
    """The reasons of the worst status first, then the others that describe what has changed."""
    status = worst(reasons)
    ordered = sorted(reasons, key=lambda one: one.status is not status)
    most = params.check.reasons_per_code
    return CheckResult(status, shortened(ordered, most), done, left, shortened(warnings, most))
