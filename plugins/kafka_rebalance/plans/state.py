"""``PlanState`` and ``Stage``: a plan in the making, and the protocol of the stages in ``plans.pipeline``."""

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
    """Do nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class PreviousPlan:
    """Rest of an earlier plan in problem rows, with it applied; ``left`` and ``done`` count moves."""

    plan_id: str
    replicas: Ints
    leader: Ints
    left: int
    done: int
    at: str | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PlanState:
    """The request, and the results of the stages so far.

    bounds        for the requested bands; None: unknown for this draft
    earlier       prices and covers of an earlier bound, to prove a new one; their values are void
    previous      document of an earlier plan; ``remaining``: its rest; ``continues``: its id if kept
    is_cut_short  a budget ended the plan before all bands were met
    only_relieves all are within the dead band, and some broker is nearly full or soon will be
    today         the problem with today's leaders, where the search starts after an election
    step_of       int32[M]; ``wave_of``: likewise; ``slots``: concurrent moves for each broker
    plan          unsealed
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
    only_relieves: bool = False
    today: Problem | None = None
    step_of: Ints | None = None
    wave_of: Ints | None = None
    slots: int = 0
    waves: tuple[Wave, ...] = ()
    plan: Plan | None = None
    trace: tuple[TraceStep, ...] = ()

    @property
    def options(self) -> PlanOptions:
        return self.request.options

    @property
    def is_open(self) -> bool:
        return self.verdict is None

    @property
    def is_possible(self) -> bool:
        """Whether the snapshot is usable and no hard rule is broken."""
        return self.verdict not in (None, Verdict.CANNOT_TELL, Verdict.INFEASIBLE)

    @property
    def current_solution(self) -> Solution:
        assert self.solution is not None
        return self.solution

    def with_solution(self, solution: Solution) -> PlanState:
        draft = draft_of(self.request, solution.replicas, solution.leader)
        return replace(self, solution=solution, draft=draft)

    def decided(self, verdict: Verdict, reasons: tuple[Fact, ...], **changes: Any) -> PlanState:
        """State without moves and proofs unless ``changes`` set them."""
        nothing = {"draft": empty_draft(self.request), "bounds": None, "earlier": None, "continues": None}
        return replace(self, verdict=verdict, reasons=reasons, **{**nothing, "is_cut_short": False, **changes})

    def changed_by_rule(self, draft: Draft, reasons: tuple[Fact, ...]) -> PlanState:
        if draft is self.draft:
            return replace(self, reasons=(*self.reasons, *reasons))
        if len(draft):
            bounds = self.bounds if self.verdict is Verdict.REBALANCE else None
            reasons = (*reasons, *self.reasons)
            return replace(self, verdict=Verdict.REBALANCE, draft=draft, bounds=bounds, reasons=reasons, continues=None)
        states = outcome_of(self.request, draft).states_before  # today, and after a preferred election
        is_uneven = any(imbalance(bands_of(self.problem), load, self.problem.stays) > 0 for load in states)
        verdict = Verdict.NOT_FIXABLE_BY_MOVING if is_uneven else Verdict.NOTHING_TO_DO
        return self.decided(verdict, reasons, draft=draft, bounds=self.bounds)

    def traced(self, stage: str, before: PlanState) -> PlanState:
        draft = self.draft
        if draft is before.draft and before.trace:
            return replace(self, trace=(*before.trace, replace(before.trace[-1], stage=stage)))
        copied = total_bytes(draft.bytes_forward())
        step = TraceStep(stage, int(draft.copies.sum()), copied, int(draft.changes_leader.sum()))
        return replace(self, trace=(*before.trace, step))


class Stage(Protocol):
    """``applies`` takes the state: an earlier stage may have decided, and some stages depend on the search's result."""

    @property
    def name(self) -> str:
        """Name in the trace."""

    def applies(self, state: PlanState) -> bool:
        """Return whether the stage has anything to do."""

    def run(self, state: PlanState) -> PlanState:
        """Return the next state. Raises InfeasibleError where a hard rule cannot be kept."""
