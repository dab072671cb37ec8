"""Independent searches of one plan: the plan, and each point of its frontier. A mapper may run them anywhere; the plan
has the same bytes.

Only plans that the independent verifier accepts are published. A bound, frontier point or estimate that fails is
lowered or dropped with a note, and the plan is sealed and verified again. A wrong move, cost, wave or hard rule refuses
the plan.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Generic, TypeVar

from kafka_assignors.errors import AdvisorError
from kafka_rebalance.facts import BoundProof, Fact, FactCode, fact
from kafka_rebalance.options.plan_options import FRONTIER_POINTS, PlanOptions
from kafka_rebalance.plans.frontier import RatedPoint, bands_between, options_at, searched, with_frontier
from kafka_rebalance.plans.params import DEFAULTS, CheckParams, PlanParams
from kafka_rebalance.plans.parts import is_within_slack
from kafka_rebalance.plans.pipeline import plan_of_unfit_reading, search_plan
from kafka_rebalance.plans.plan import Bound, Cost, Plan, Step
from kafka_rebalance.plans.request import build_request
from kafka_rebalance.plans.state import Progress, Watch, ignore
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
    verification = verify_plan(plan.document, snapshot)
    if verification.is_right:
        return VerifiedPlan(plan, verification)
    if set(_codes(verification)) - BOOKKEEPING:
        raise _refusal(verification, params)
    mended, left_out = _without_unverified(plan, verification)
    again = verify_plan(mended.document, snapshot)
    if not again.is_right:
        raise _refusal(again, params)
    return VerifiedPlan(mended, again, left_out)


def _codes(verification: Verification) -> list[str]:
    return [fault.code for fault in verification.wrong]


def _refusal(verification: Verification, params: CheckParams) -> InvalidPlanError:
    named = "; ".join(str(fault) for fault in verification.wrong[: params.reasons_per_code])
    return InvalidPlanError(f"the plan did not pass its own verification and is not written: {named}")


def _without_unverified(plan: Plan, verification: Verification) -> tuple[Plan, tuple[Fact, ...]]:
    codes, notes = set(_codes(verification)), list[Fact]()
    if codes & _BOUND_FAULTS:
        names = _bounds_at_fault(verification)
        plan = replace(plan, lower_bound=_lowered(plan, names, verification))
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


def _bounds_at_fault(verification: Verification) -> tuple[str, ...]:
    """All where a cost has no bound."""
    locations = {fault.location for fault in verification.wrong if fault.code in _BOUND_FAULTS}
    named = tuple(name for name in _COSTS if any(location.startswith(f"lower_bound.{name}") for location in locations))
    return named if all(location.startswith("lower_bound.") for location in locations) else _COSTS


def _lowered(plan: Plan, names: tuple[str, ...], verification: Verification) -> tuple[Bound, ...]:
    stated = {bound.cost: bound for bound in plan.lower_bound}
    options = PlanOptions.from_document(plan.parameters)
    result = []
    for name in _COSTS:
        cost = getattr(plan.cost, name)
        if cost is not None and (name in names or name not in stated):
            value = min(verification.bounds.get(name, 0.0), float(cost))
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


Value = TypeVar("Value")
# ``map``, a process pool's or Spark's: answers in task order.
Mapper = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]

_PLAN_S, _POINT_S = 6e-4, 5e-5  # for each replica, measured with 10,000


@dataclass(frozen=True, slots=True)
class Search:
    """``within`` None: the plan's own search, else the frontier's point at this band. ``cost_s``: for packing tasks."""

    what: ClassVar[str] = "searches"
    within: float | None
    cost_s: float


@dataclass(frozen=True, slots=True, eq=False)
class PlanQuestion:
    """``unfit``: why the snapshot allows no advice; then nothing is searched."""

    snapshot: ClusterSnapshot
    options: PlanOptions
    seed: int = 0
    previous: Mapping[str, Any] | None = None
    advisor_version: str = ""
    unfit: tuple[Fact, ...] = ()
    params: PlanParams = DEFAULTS

    def searches(self) -> tuple[Search, ...]:
        """The plan's own search first. O(replicas)."""
        if self.unfit:
            return ()
        replicas = len(self.snapshot.partitions.replicas)
        bands: tuple[float, ...] = ()
        if self.options.with_frontier:
            request = build_request(self.snapshot, self.options, self.params.options)
            bands = bands_between(request, self.params.frontier)
        return Search(None, replicas * _PLAN_S), *(Search(band, replicas * _POINT_S) for band in bands)

    def answer(self, search: Search, progress: Progress = ignore, watch: Watch = ignore) -> Plan | RatedPoint | None:
        if search.within is None:
            return search_plan(
                self.snapshot, replace(self.options, with_frontier=False), seed=self.seed, previous=self.previous,
                advisor_version=self.advisor_version, progress=progress, params=self.params, watch=watch,
            )  # fmt: skip
        request = build_request(self.snapshot, self.options, self.params.options)
        (point,) = searched(request, [search.within], self.seed, progress, self.params.frontier)
        return point

    def put_together(self, answers: Iterable[Plan | RatedPoint | None]) -> VerifiedPlan:
        """Plan from the answers, in the order of ``searches``. Raises InvalidPlanError where verification fails."""
        if self.unfit:
            plan = plan_of_unfit_reading(
                self.snapshot, self.options, self.unfit, seed=self.seed, advisor_version=self.advisor_version,
                params=self.params,
            )  # fmt: skip
            return verified(plan, self.snapshot, self.params.check)
        first_answer, *points = answers
        assert isinstance(first_answer, Plan)
        plan = first_answer
        if self.options.with_frontier:
            request = build_request(self.snapshot, self.options, self.params.options)
            rated = [point for point in points if isinstance(point, RatedPoint)]
            plan = with_frontier(plan, request, seed=self.seed, points=rated, params=self.params.frontier)
        return verified(plan.sealed(), self.snapshot, self.params.check)


def planned(
    question: PlanQuestion, *, mapper: Mapper = map, progress: Progress = ignore, watch: Watch = ignore
) -> VerifiedPlan:
    question = at_frontier_point(question, mapper=mapper, progress=progress)
    answers = list(mapper(partial(question.answer, progress=progress, watch=watch), question.searches()))
    progress("verifying")
    return question.put_together(answers)


def at_frontier_point(question: PlanQuestion, *, mapper: Mapper = map, progress: Progress = ignore) -> PlanQuestion:
    if question.options.at not in FRONTIER_POINTS:
        return question
    whole = replace(question, options=replace(question.options, at=None, with_frontier=True), previous=None)
    frontier = planned(whole, mapper=mapper, progress=progress).plan.frontier
    return replace(question, options=options_at(question.options, frontier))


class Sent(Generic[Value]):
    """Unpickled on first use in other processes: group workers never unpickle the snapshot."""

    def __init__(self, value: Value) -> None:
        self._values, self._packed = [value], b""

    @property
    def value(self) -> Value:
        if not self._values:
            self._values, self._packed = [pickle.loads(self._packed)], b""  # noqa: S301 packed by our own driver
        return self._values[0]

    def __getstate__(self) -> bytes:
        return self._packed or pickle.dumps(self._values[0], pickle.HIGHEST_PROTOCOL)

    def __setstate__(self, packed: bytes) -> None:
        self._values, self._packed = [], packed
