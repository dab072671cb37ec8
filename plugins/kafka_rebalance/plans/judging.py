"""The stages that decide the verdict: coverage, dead band, payback, waiting replicas.

Beyond the search they change only follower orders and lists that begin with a demoted broker.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_rebalance.cluster_arrays.bands import BAND_ROUNDING
from kafka_rebalance.cluster_arrays.problem import Problem, broker_loads
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.planner.bounds import bounds_from
from kafka_rebalance.planner.solution import Widening
from kafka_rebalance.planner.solve import away_from_demoted, settled, with_needed_changes
from kafka_rebalance.plans.cluster_notes import refuse_too_much_for_the_disks
from kafka_rebalance.plans.dead_band import Deviation, gain_per_byte, gained, worst_deviation
from kafka_rebalance.plans.draft import Bands, Outcome, bands_of, draft_of, empty_draft, in_problem_rows, outcome_of
from kafka_rebalance.plans.explain import (
    OverCap,
    above_cap,
    bounds_of_widened_bands,
    brokers_nearly_full,
    budget_allows_nothing,
    budget_cuts_short,
    does_not_pay,
    over_caps,
    refuse_too_much_for_the_caps,
    require_within_caps,
    why_outside,
    why_rebalance,
    widenings,
    within_dead_band,
)
from kafka_rebalance.plans.failures import with_follower_order
from kafka_rebalance.plans.option_fit import require_countable_bytes
from kafka_rebalance.plans.plan import StepKind, Verdict
from kafka_rebalance.plans.state import PlanState
from kafka_rebalance.plans.steps import needs_no_gain, needs_relief, relieves
from kafka_rebalance.plans.unseen import could_change, nothing_usable


class RequireUsable:
    name = "usable"

    def applies(self, state: PlanState) -> bool:
        return state.is_open

    def run(self, state: PlanState) -> PlanState:
        unusable = nothing_usable(state.request.snapshot)
        return state.decided(Verdict.CANNOT_TELL, unusable) if unusable else state


class RefuseImpossible:
    name = "hard_rules"

    def applies(self, state: PlanState) -> bool:
        return state.is_open

    def run(self, state: PlanState) -> PlanState:
        refuse_too_much_for_the_disks(state.problem)
        refuse_too_much_for_the_caps(state.request, state.problem)
        return state


class StayInDeadBand:
    name = "dead_band"

    def applies(self, state: PlanState) -> bool:
        """Not for moves that must be made, given bands, or an earlier plan to continue."""
        options = state.options
        is_ordered = options.is_explicit or options.preferred_election or options.band is None
        return state.is_open and state.remaining is None and not state.request.hard and not is_ordered

    def run(self, state: PlanState) -> PlanState:
        problem = state.problem
        if state.request.relieved_to:
            problem = state.request.problem(state.options.band, relieves=False)
        if _is_outside(state, _worst_today(problem, state.options.band or 0.0)):
            return state
        if needs_relief(state.request, state.params.steps).any():
            return replace(state, only_relieves=True)
        return _stays(state, problem)


class Settle:
    """Chooses leaders that the controller keeps, and follower orders that spread a lost broker's leaders."""

    name = "settle"

    def applies(self, state: PlanState) -> bool:
        return state.is_open

    def run(self, state: PlanState) -> PlanState:
        """Raises InfeasibleError for bytes of unknown size."""
        solution = settled(state.problem, state.current_solution, state.params.solve)
        if state.today is not None:
            solution = replace(solution, bounds=bounds_from(state.today, solution.bounds, state.params.solve.bounds))
            state = replace(state, problem=state.today, today=None)
        state = state.with_solution(with_needed_changes(state.problem, solution))
        draft = with_follower_order(state.request, state.draft)
        require_countable_bytes(state.request, draft)
        return replace(state, draft=draft)


class Judge:
    name = "worth"

    def applies(self, state: PlanState) -> bool:
        return state.is_open

    def run(self, state: PlanState) -> PlanState:
        """Raises InfeasibleError where moves that must be made break a cap."""
        return _judged(state)


class OrderFollowers:
    name = "follower_order"

    def applies(self, state: PlanState) -> bool:
        return state.verdict in (Verdict.NOTHING_TO_DO, Verdict.NOT_FIXABLE_BY_MOVING)

    def run(self, state: PlanState) -> PlanState:
        ordered = with_follower_order(state.request, empty_draft(state.request))
        if not len(ordered):
            return state
        reasons = (fact(FactCode.FOLLOWERS_REORDERED, partitions=len(ordered)), *state.reasons)
        return replace(state, verdict=Verdict.REBALANCE, draft=ordered, bounds=None, reasons=reasons)


class AvoidDemoted:
    name = "demoted"

    def applies(self, state: PlanState) -> bool:
        return state.verdict is Verdict.REBALANCE and bool(state.options.demote_brokers)

    def run(self, state: PlanState) -> PlanState:
        problem = state.problem
        replicas, leader = in_problem_rows(state.draft, problem.replicas, problem.leader)
        lists = away_from_demoted(problem, replicas, leader)
        if np.array_equal(lists, replicas):
            return state
        return replace(state, draft=draft_of(state.request, lists, leader))


class TellWaiting:
    """Moves that must be made and wait for a replica exclude "nothing to do"."""

    name = "waiting"

    def applies(self, state: PlanState) -> bool:
        return state.is_possible and bool(state.request.unmet)

    def run(self, state: PlanState) -> PlanState:
        is_idle = state.verdict is Verdict.NOTHING_TO_DO
        verdict = Verdict.NOT_FIXABLE_BY_MOVING if is_idle else state.verdict
        return replace(state, verdict=verdict, reasons=(*state.request.unmet, *state.reasons))


class TellNearlyFull:
    """Brokers that stay nearly full exclude "nothing to do"."""

    name = "nearly_full"

    def applies(self, state: PlanState) -> bool:
        is_limited = state.options.has_budget or state.options.at in set(StepKind)
        is_idle = state.verdict in (Verdict.NOTHING_TO_DO, Verdict.NOT_FIXABLE_BY_MOVING)
        return is_idle and bool(state.request.nearly_full) and not is_limited

    def run(self, state: PlanState) -> PlanState:
        reasons = (*brokers_nearly_full(state.request), *state.reasons)
        return replace(state, verdict=Verdict.NOT_FIXABLE_BY_MOVING, reasons=reasons)


class DoubtUnseen:
    name = "unseen"

    def applies(self, state: PlanState) -> bool:
        return state.verdict is Verdict.NOTHING_TO_DO

    def run(self, state: PlanState) -> PlanState:
        unseen = could_change(state.request, state.problem, state.params.unseen)
        if not unseen:
            return state
        reasons = (*unseen, *(fact(FactCode.OF_WHAT_WAS_SEEN, reason=reason) for reason in state.reasons))
        return replace(state, verdict=Verdict.CANNOT_TELL, reasons=reasons)


def _is_outside(state: PlanState, worst: Deviation | None) -> bool:
    return worst is not None and abs(worst.ratio - 1) > _dead_band(state)


def _stays(state: PlanState, problem: Problem) -> PlanState:
    worst = _worst_today(problem, state.options.band or 0.0)
    return state.decided(Verdict.NOTHING_TO_DO, (within_dead_band(state.request, worst, _dead_band(state)),))


def _dead_band(state: PlanState) -> float:
    """Wider after a plan without moves: noise at the edge is no reason to move."""
    stayed = state.previous is not None and state.previous.get("verdict") == Verdict.NOTHING_TO_DO.value
    return state.options.dead_band * (1 + state.params.stability.dead_band_edge if stayed else 1)


def _worst_today(problem: Problem, within: float) -> Deviation | None:
    worst = worst_deviation(problem, broker_loads(problem, problem.replicas, problem.leader), within)
    if problem.preferred is None or np.array_equal(problem.preferred, problem.leader):
        return worst
    elected = worst_deviation(problem, broker_loads(problem, problem.replicas, problem.preferred), within)
    if worst is None or elected is None:
        return worst or elected
    return max(worst, elected, key=lambda deviation: abs(deviation.ratio - 1))


@dataclass(frozen=True, slots=True, eq=False)
class _Weighed:
    """The found plan: today's imbalance ``was`` and how much of it goes (``gain``), caps exceeded before and after.

    ``is_free``: moves that must be made, or bring a broker below its cap, need no gain.
    """

    bands: Bands
    outcome: Outcome
    widened: tuple[Widening, ...]
    was: float
    gain: float
    over: tuple[OverCap, ...]
    was_over: tuple[OverCap, ...]
    is_free: bool
    relieves: bool


def _judged(state: PlanState) -> PlanState:
    weighed = _weighed(state)
    for refuse in (
        _refuse_above_caps,
        _refuse_empty_budget,
        _refuse_no_relief,
        _refuse_without_gain,
        _refuse_small_gain,
    ):
        refused = refuse(state, weighed)
        if refused is not None:
            return refused
    return _recommended(state, weighed)


def _weighed(state: PlanState) -> _Weighed:
    plan_request, solution, bands = state.request, state.current_solution, bands_of(state.problem)
    outcome, stays = outcome_of(plan_request, state.draft), plan_request.brokers.arrays.stays
    # A plan cut by a budget counts all bands alike.
    ranked = replace(bands, rank=None) if solution.is_cut_short else bands
    was, gain = gained(ranked, outcome.states_before, outcome.states_after, stays)
    was_over = over_caps(plan_request, outcome.before_by_resource)
    return _Weighed(
        bands=bands,
        outcome=outcome,
        widened=widenings(
            plan_request, state.problem, outcome, bands, solution.replicas, solution.leader, solution.gave_way
        ),
        was=was,
        gain=gain,
        over=over_caps(plan_request, outcome.after_by_resource),
        was_over=was_over,
        is_free=needs_no_gain(plan_request, outcome, state.params.steps),
        relieves=relieves(plan_request, outcome, state.params.steps),
    )


def _refuse_above_caps(state: PlanState, weighed: _Weighed) -> PlanState | None:
    """Today's placement may stay if it keeps its caps. Raises InfeasibleError where moves must be made."""
    if weighed.over and not weighed.was_over and not state.request.hard:
        broken = tuple(above_cap(state.request, over_cap) for over_cap in weighed.over)
        return state.decided(Verdict.NOT_FIXABLE_BY_MOVING, broken, bounds=state.current_solution.bounds)
    require_within_caps(state.request, weighed.over, is_proved=state.current_solution.are_caps_proved)
    return None


def _refuse_empty_budget(state: PlanState, weighed: _Weighed) -> PlanState | None:
    is_worthless = not len(state.draft) or (weighed.gain <= 0 and not weighed.is_free)
    if not (state.current_solution.is_cut_short and is_worthless):
        return None
    reasons = budget_allows_nothing(state.request, weighed.bands, weighed.outcome.before)
    return state.decided(Verdict.NOTHING_TO_DO, reasons, bounds=state.current_solution.bounds)


def _refuse_no_relief(state: PlanState, weighed: _Weighed) -> PlanState | None:
    if not state.only_relieves or weighed.relieves:
        return None
    if not state.request.relieved_to:
        return _stays(state, state.problem)
    outside = why_outside(
        state.request,
        weighed.bands,
        weighed.outcome,
        weighed.widened,
        is_proved=state.current_solution.is_outside_proved,
    )
    return state.decided(Verdict.NOT_FIXABLE_BY_MOVING, outside, bounds=state.current_solution.bounds)


def _refuse_without_gain(state: PlanState, weighed: _Weighed) -> PlanState | None:
    has_budget = state.options.has_budget  # within a budget every gain counts
    least = 0.0 if has_budget else state.params.stability.least_gain * weighed.was
    is_vain = weighed.gain <= 0 and not has_budget
    is_vain |= bool(weighed.widened) and (weighed.gain <= BAND_ROUNDING or weighed.gain < least)
    if len(state.draft) and (weighed.is_free or not is_vain):
        return None
    outside = why_outside(
        state.request,
        weighed.bands,
        weighed.outcome,
        weighed.widened,
        is_proved=state.current_solution.is_outside_proved,
    )
    verdict = Verdict.NOT_FIXABLE_BY_MOVING if outside else Verdict.NOTHING_TO_DO
    return state.decided(verdict, outside or (fact(FactCode.ALL_INSIDE_BAND),), bounds=state.current_solution.bounds)


def _refuse_small_gain(state: PlanState, weighed: _Weighed) -> PlanState | None:
    """The plan costs more bytes than its gain is worth (``least_gain_per_byte``)."""
    copied, total = state.current_solution.cost.bytes, float(np.nan_to_num(state.request.partitions.size).sum())
    rate = gain_per_byte(weighed.gain, copied, total)
    if weighed.is_free or state.options.is_explicit or rate >= state.options.least_gain_per_byte:
        return None
    return state.decided(Verdict.NOTHING_TO_DO, (does_not_pay(weighed.gain, copied, total),))


def _recommended(state: PlanState, weighed: _Weighed) -> PlanState:
    plan_request, solution, draft, bounds = (
        state.request,
        state.current_solution,
        state.draft,
        state.current_solution.bounds,
    )
    if solution.is_cut_short:
        reasons = budget_cuts_short(plan_request, weighed.bands, weighed.outcome.before, weighed.outcome.after)
        return state.decided(Verdict.REBALANCE, reasons, draft=draft, bounds=bounds, is_cut_short=True)
    reasons = brokers_nearly_full(plan_request) if weighed.relieves else ()
    reasons += why_rebalance(plan_request, weighed.bands, weighed.outcome, weighed.widened)
    reasons += bounds_of_widened_bands(weighed.widened, bounds, is_proved=solution.is_outside_proved)
    return state.decided(Verdict.REBALANCE, reasons, draft=draft, bounds=bounds)
