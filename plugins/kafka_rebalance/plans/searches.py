"""Independent searches of one plan: the plan, and each point of its frontier. A mapper may run them anywhere; the plan
has the same bytes.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Generic, TypeVar

from kafka_rebalance.facts import Fact
from kafka_rebalance.options.plan_options import FRONTIER_POINTS, PlanOptions
from kafka_rebalance.plans.frontier import RatedPoint, bands_between, options_at, searched, with_frontier
from kafka_rebalance.plans.params import DEFAULTS, PlanParams
from kafka_rebalance.plans.pipeline import plan_of_unfit_reading, search_plan
from kafka_rebalance.plans.plan import Plan
from kafka_rebalance.plans.request import build_request
from kafka_rebalance.plans.state import Progress, Watch, ignore
from kafka_rebalance.plans.verified_plan import VerifiedPlan, verified
from kafka_rebalance.snapshot.model import ClusterSnapshot

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
        found, *points = answers
        assert isinstance(found, Plan)
        plan = found
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
