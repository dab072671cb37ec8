"""Only plans that the independent verifier accepts are published.

A bound, frontier point or estimate that fails is lowered or dropped with a note, and the plan is sealed and verified
again. A wrong move, cost, wave or hard rule refuses the plan.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kafka_assignors.errors import AdvisorError
from kafka_rebalance.facts import BoundProof, Fact, FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.params import DEFAULTS, CheckParams
from kafka_rebalance.plans.parts import is_within_slack
from kafka_rebalance.plans.plan import Bound, Cost, Plan, Step
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify import verify_plan
from kafka_rebalance.verify.verification import Verification

_BOUND_FAULTS = frozenset(("bound_missing", "bound_above_cost", "bound_not_proved", "gap"))
_FRONTIER, _FILLING, _ROBUSTNESS, _STEP_BOUND = "frontier", "slot_filling", "robustness", "step_bound"
BOOKKEEPING = _BOUND_FAULTS | {_FRONTIER, _FILLING, _ROBUSTNESS, _STEP_BOUND}
_COSTS = ("bytes", "replica_moves", "leader_changes", "seconds")


class InvalidPlanError(AdvisorError):
    """A plan of ours that fails verification and is not published."""


@dataclass(frozen=True, slots=True, eq=False)
class VerifiedPlan:
    """``left_out``: parts that failed and were lowered or dropped."""

    plan: Plan
    verification: Verification
    left_out: tuple[Fact, ...] = ()


def verified(plan: Plan, snapshot: ClusterSnapshot, params: CheckParams = DEFAULTS.check) -> VerifiedPlan:
    """Raises InvalidPlanError naming the faults."""
    found = verify_plan(plan.document, snapshot)
    if found.is_right:
        return VerifiedPlan(plan, found)
    if set(_codes(found)) - BOOKKEEPING:
        raise _refusal(found, params)
    mended, left_out = _without_unverified(plan, found)
    again = verify_plan(mended.document, snapshot)
    if not again.is_right:
        raise _refusal(again, params)
    return VerifiedPlan(mended, again, left_out)


def require_verified(plan: Plan, snapshot: ClusterSnapshot, params: CheckParams = DEFAULTS.check) -> None:
    found = verify_plan(plan.document, snapshot)
    if not found.is_right:
        raise _refusal(found, params)


def _codes(found: Verification) -> list[str]:
    return [fault.code for fault in found.wrong]


def _refusal(found: Verification, params: CheckParams) -> InvalidPlanError:
    named = "; ".join(str(fault) for fault in found.wrong[: params.reasons_per_code])
    return InvalidPlanError(f"the plan did not pass its own verification and is not written: {named}")


def _without_unverified(plan: Plan, found: Verification) -> tuple[Plan, tuple[Fact, ...]]:
    codes, notes = set(_codes(found)), list[Fact]()
    if codes & _BOUND_FAULTS:
        names = _bounds_at_fault(found)
        plan = replace(plan, lower_bound=_lowered(plan, names, found))
        notes += [fact(FactCode.BOUND_OF_VERIFIER, cost=name) for name in names]
    if codes & _BOUND_FAULTS or _STEP_BOUND in codes:
        plan = replace(plan, steps=_without_bounds(plan.steps))
    if _STEP_BOUND in codes:
        notes.append(fact(FactCode.PART_NOT_VERIFIED, part=_STEP_BOUND))
    if _FRONTIER in codes:
        plan = replace(plan, frontier=())
        notes.append(fact(FactCode.PART_NOT_VERIFIED, part=_FRONTIER))
    elif codes & _BOUND_FAULTS:
        plan = _with_own_bound(plan)
    if _FILLING in codes:
        plan = replace(plan, cost=_without_filling(plan.cost))
        if plan.rollback is not None:
            plan = replace(plan, rollback=replace(plan.rollback, cost=_without_filling(plan.rollback.cost)))
        notes.append(fact(FactCode.PART_NOT_VERIFIED, part=_FILLING))
    if _ROBUSTNESS in codes:
        plan = replace(plan, robustness=None)
        notes.append(fact(FactCode.PART_NOT_VERIFIED, part=_ROBUSTNESS))
    return replace(plan, reasons=(*plan.reasons, *notes)).sealed(), tuple(notes)


def _bounds_at_fault(found: Verification) -> tuple[str, ...]:
    """All where a cost has no bound."""
    places = {fault.place for fault in found.wrong if fault.code in _BOUND_FAULTS}
    named = tuple(name for name in _COSTS if any(place.startswith(f"lower_bound.{name}") for place in places))
    return named if all(place.startswith("lower_bound.") for place in places) else _COSTS


def _lowered(plan: Plan, names: tuple[str, ...], found: Verification) -> tuple[Bound, ...]:
    stated = {bound.cost: bound for bound in plan.lower_bound}
    options = PlanOptions.from_document(plan.parameters)
    result = []
    for name in _COSTS:
        cost = getattr(plan.cost, name)
        if cost is not None and (name in names or name not in stated):
            value = min(found.bounds.get(name, 0.0), float(cost))
            gap = None if value <= 0 < cost else 0.0 if value <= 0 else (cost - value) / value
            is_within = is_within_slack(options, gap)
            result.append(Bound(name, value, gap, BoundProof.BY_VERIFIER, is_within))
        elif cost is not None:
            result.append(stated[name])
    return tuple(result)


def _without_bounds(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    result, copied = [], 0
    for step in steps:
        copied += step.cost.bytes or 0
        if step.lower_bound_bytes is not None:
            gap = None if copied else 0.0
            result.append(replace(step, lower_bound_bytes=0.0, gap=gap, certificate={}))
        else:
            result.append(step)
    return tuple(result)


def _with_own_bound(plan: Plan) -> Plan:
    bound = next((claimed.value for claimed in plan.lower_bound if claimed.cost == "bytes"), None)
    points = (replace(point, lower_bound_bytes=bound) if point.is_recommended else point for point in plan.frontier)
    return replace(plan, frontier=tuple(points))


def _without_filling(cost: Cost) -> Cost:
    """A driver may run the waves as they are."""
    return replace(cost, seconds_slot_filling=cost.seconds)
