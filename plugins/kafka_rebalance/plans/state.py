"""``PlanState`` and ``Stage``: one plan in the making, and the protocol of the stages that ``plans.pipeline`` lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from kafka_assignors.arrays import Ints
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.facts import Fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.planner.solution import Bounds, Solution
from kafka_rebalance.plans.dead_band import imbalance
from kafka_rebalance.plans.draft import Draft, bands_of, draft_of, empty_draft, outcome_of, total_bytes
from kafka_rebalance.plans.params import DEFAULTS, PlanParams
from kafka_rebalance.plans.plan import Plan, TraceStep, Verdict, Wave
from kafka_rebalance.plans.request import PlanRequest

Progress = Callable[[str], None]
Watch = Callable[[TraceStep], None]


def ignore(_: Any) -> None:
    """Ignore what is reported."""


@dataclass(frozen=True, slots=True, eq=False)
class PreviousPlan:
    """What is left of an earlier plan, in problem rows: today's placement int32[P', W] and leaders int32[P'] with it
    applied. ``left`` counts moves that are still to be made, ``done`` those that were.
    """

    plan_id: str
    replicas: Ints
    leader: Ints
    left: int
    done: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PlanState:
    """The request, and what the stages found so far.

    draft         moves from today's placement; none where no stage made any
    solution      the placement that the search found, with its loads; None before the search and where it is not needed
    verdict       None until a stage decides
    reasons       why the verdict is so
    bounds        lower bounds for the bands that were asked for; None: not known for this draft
    earlier       prices and covers that proved a bound before: they prove one anew, their values are void
    previous      document of an earlier plan; ``remaining``: what of it is left to do; ``continues``: its id if kept
    is_cut_short  a budget ended the plan before all bands were met
    today         the problem with today's leaders, where the search starts after an election
    step_of       int32[M]: the step of each move
    wave_of       int32[M]: the wave of each move; ``slots``: moves at a time for each broker
    plan          the finished plan, unsealed
    trace         what each stage left behind, in order
    """

    request: PlanRequest
    problem: Problem
    draft: Draft
    seed: int = 0
    params: PlanParams = DEFAULTS
    advisor_version: str = ""
    progress: Progress = ignore
    previous: Mapping[str, Any] | None = None
    remaining: PreviousPlan | None = None
    solution: Solution | None = None
    verdict: Verdict | None = None
    reasons: tuple[Fact, ...] = ()
    bounds: Bounds | None = None
    earlier: Bounds | None = None
    continues: str | None = None
    is_cut_short: bool = False
    today: Problem | None = None
    step_of: Ints | None = None
    wave_of: Ints | None = None
    slots: int = 0
    waves: tuple[Wave, ...] = ()
    plan: Plan | None = None
    trace: tuple[TraceStep, ...] = ()

    @property
    def options(self) -> PlanOptions:
        """The options of the request."""
        return self.request.options

    @property
    def is_open(self) -> bool:
        """No stage has decided on a verdict yet."""
        return self.verdict is None

    @property
    def is_possible(self) -> bool:
        """Enough was seen for a verdict, and no hard rule is broken: later stages may change the plan."""
        return self.verdict not in (None, Verdict.CANNOT_TELL, Verdict.INFEASIBLE)

    @property
    def found(self) -> Solution:
        """The solution of a state whose search is done."""
        assert self.solution is not None
        return self.solution

    def with_solution(self, solution: Solution) -> PlanState:
        """Return the state with another placement, and its moves."""
        draft = draft_of(self.request, solution.replicas, solution.leader)
        return replace(self, solution=solution, draft=draft)

    def decided(self, verdict: Verdict, reasons: tuple[Fact, ...], **changes: Any) -> PlanState:
        """Return the state with a verdict. Nothing is moved, and nothing proved, unless ``changes`` say so."""
        nothing = {"draft": empty_draft(self.request), "bounds": None, "earlier": None, "continues": None}
        return replace(self, verdict=verdict, reasons=reasons, **{**nothing, "is_cut_short": False, **changes})

    def changed_by_rule(self, draft: Draft, reasons: tuple[Fact, ...]) -> PlanState:
        """Return the state with the draft that a hard rule asks for beside balance, and why."""
        if draft is self.draft:
            return replace(self, reasons=(*self.reasons, *reasons))
        if len(draft):
            bounds = self.bounds if self.verdict is Verdict.REBALANCE else None
            reasons = (*reasons, *self.reasons)
            return replace(self, verdict=Verdict.REBALANCE, draft=draft, bounds=bounds, reasons=reasons, continues=None)
        states = outcome_of(self.request, draft).states_before  # as it is, and once preferred replicas are elected
        is_uneven = any(imbalance(bands_of(self.problem), load, self.problem.stays) > 0 for load in states)
        verdict = Verdict.NOT_FIXABLE_BY_MOVING if is_uneven else Verdict.NOTHING_TO_DO
        return self.decided(verdict, reasons, draft=draft, bounds=self.bounds)

    def traced(self, stage: str, before: PlanState) -> PlanState:
        """Return the state whose trace ends with what ``stage`` left; ``before`` is the state that it was given."""
        draft = self.draft
        if draft is before.draft and before.trace:
            return replace(self, trace=(*before.trace, replace(before.trace[-1], stage=stage)))
        copied = total_bytes(draft.bytes_forward())
        step = TraceStep(stage, int(draft.copies.sum()), copied, int(draft.changes_leader.sum()))
        return replace(self, trace=(*before.trace, step))


class Stage(Protocol):
    """One step from a request to a plan. It takes the state that the stage before left, and improves or limits it.

    ``applies`` takes the state, not the options alone. An earlier stage may have decided already, and some stages
    depend on what the search found: only a plan that costs more than the budget has to be cut.
    """

    @property
    def name(self) -> str:
        """Its name in the trace."""

    def applies(self, state: PlanState) -> bool:
        """Whether the stage has anything to do."""

    def run(self, state: PlanState) -> PlanState:
        """Return the next state. Raises InfeasibleError where a hard rule cannot be kept."""
