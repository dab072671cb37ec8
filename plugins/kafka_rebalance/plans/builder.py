"""From a snapshot and options to a plan: the planner's answer with waves and explanations, or the reason to do nothing.

In this order: was anything usable seen; what must move whatever the balance; whether all is within the dead band; what
an earlier plan left to do; the search; does it pay; could what was not seen change "nothing to do". Pure: the same
snapshot, options and seed give the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kafka_rebalance.cluster_arrays.broker_loads import broker_loads
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.cluster_arrays.tolerances import BAND_ROUNDING
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.planner.linear_program.cost_proofs import with_cost_proofs
from kafka_rebalance.planner.linear_program.widened_bounds import widened_bounds
from kafka_rebalance.planner.params import SolveParams
from kafka_rebalance.planner.settled import away_from_demoted, settled
from kafka_rebalance.planner.solution import Bounds, Solution
from kafka_rebalance.plans.cluster_notes import refuse_too_much_for_the_disks
from kafka_rebalance.plans.dead_band import Deviation, gain_per_byte, gained, imbalance, worst_deviation
from kafka_rebalance.plans.draft import Draft, draft_of, empty_draft, in_problem_rows
from kafka_rebalance.plans.explain.caps import (
    above_cap,
    over_caps,
    refuse_too_much_for_the_caps,
    require_within_caps,
)
from kafka_rebalance.plans.explain.moves import explain_brokers, explain_moves
from kafka_rebalance.plans.explain.outside_band import widenings
from kafka_rebalance.plans.explain.verdict import (
    bounds_of_widened_bands,
    budget_allows_nothing,
    budget_cuts_short,
    does_not_pay,
    election_less_even,
    least_imbalance_in_budget,
    time_notes,
    why_outside,
    why_rebalance,
    within_dead_band,
)
from kafka_rebalance.plans.failures.after_plan import after_failure_of
from kafka_rebalance.plans.failures.follower_order import with_follower_order
from kafka_rebalance.plans.frontier.budget_claim import budget_claim_of
from kafka_rebalance.plans.frontier.frontier import with_frontier
from kafka_rebalance.plans.option_fit import (
    require_brokers_fit,
    require_countable_bytes,
    require_measured,
)
from kafka_rebalance.plans.outcome import (
    Bands,
    Outcome,
    bands_of,
    met_bands,
    outcome_of,
    preferred_leaders_of,
    resource_outcomes,
)
from kafka_rebalance.plans.params import DEFAULTS, PlanParams, RobustnessParams
from kafka_rebalance.plans.parts import (
    bounds_of,
    certificate_of,
    expiry_of,
    moves_of,
    preconditions_of,
    proofs_of,
)
from kafka_rebalance.plans.plan import Cost, Plan, Robustness, Verdict
from kafka_rebalance.plans.preferred.within_hours import keeps_hours, solve_within_hours
from kafka_rebalance.plans.previous.continued import continued_plan
from kafka_rebalance.plans.previous.previous_plan import earlier_prices, what_is_left
from kafka_rebalance.plans.request import PlanRequest, build_request
from kafka_rebalance.plans.robustness import robustness_of
from kafka_rebalance.plans.survival.losses_known import require_losses_known
from kafka_rebalance.plans.survival.move_facts import explain_survival
from kafka_rebalance.plans.survival.survive import cannot_be_carried_out, is_survived, surviving
from kafka_rebalance.plans.topic_leaders.keep import has_least_leaders, lacking_leaders, with_topic_leaders
from kafka_rebalance.plans.topic_leaders.move_facts import explain_topic_leaders
from kafka_rebalance.plans.unseen.seen import seen_by, topic_ids_of
from kafka_rebalance.plans.unseen.unseen import could_change, nothing_usable
from kafka_rebalance.plans.unseen_cluster import plan_without_brokers
from kafka_rebalance.plans.wave_plan import (
    cost_of,
    rollback_of,
    waves_cut,
    waves_forward,
)
from kafka_rebalance.snapshot.codec import snapshot_id
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.times import optional_time_text

Progress = Callable[[str], None]
NO_COST = Cost(0, 0, 0, 0.0, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Answer:
    """What is going to be told: moves, why, the bounds, which earlier plan it keeps; ``is_cut_short`` by a budget.

    ``earlier``: prices of an earlier plan that is kept, to be proved anew on today's loads; none of its values is.
    """

    verdict: Verdict
    draft: Draft
    reasons: tuple[Fact, ...]
    bounds: Bounds | None = None
    continues: str | None = None
    is_cut_short: bool = False
    earlier: Bounds | None = None


def make_plan(
    snapshot: ClusterSnapshot,
    options: PlanOptions,
    *,
    seed: int = 0,
    previous: Mapping[str, Any] | None = None,
    advisor_version: str = "",
    progress: Progress = lambda _: None,
    params: PlanParams = DEFAULTS,
) -> Plan:
    """The sealed plan. ``previous``: the document of an earlier one, to be confirmed or continued if it still holds.

    Raises UsageError for options that the snapshot contradicts. What cannot be done is a plan, too: its verdict is
    ``infeasible`` and its reasons name the smallest cause and what would help.
    """
    require_brokers_fit(snapshot, options, params.options)
    plan_request = build_request(snapshot, options, params.options)
    unusable = nothing_usable(snapshot)
    if not plan_request.brokers.brokers:
        return plan_without_brokers(
            plan_request, unusable, seed=seed, advisor_version=advisor_version, params=params.waves
        ).sealed()
    if not unusable:
        require_measured(plan_request)
        require_losses_known(plan_request)
    problem = plan_request.problem(options.band)
    progress(f"{problem.broker_count:,} brokers, {problem.partition_count:,} partitions")
    if unusable:
        answer = _Answer(Verdict.CANNOT_TELL, empty_draft(plan_request), unusable)
    else:
        answer = _seen_answer(plan_request, problem, _Search(seed, previous, progress, params))
    progress("cutting waves")
    plan = _plan(plan_request, problem, answer, seed, advisor_version, params)
    if options.with_frontier:
        plan = with_frontier(plan, plan_request, seed=seed, progress=progress, params=params.frontier)
    return plan.sealed()


def plan_of_unfit_reading(
    snapshot: ClusterSnapshot,
    options: PlanOptions,
    reasons: tuple[Fact, ...],
    *,
    seed: int = 0,
    advisor_version: str = "",
    params: PlanParams = DEFAULTS,
) -> Plan:
    """The sealed plan where no advice can rest on the reading, whatever it shows: ``cannot_tell``, and no moves."""
    plan_request = build_request(snapshot, options, params.options)
    reasons = (*reasons, *nothing_usable(snapshot))
    if not plan_request.brokers.brokers:
        return plan_without_brokers(
            plan_request, reasons, seed=seed, advisor_version=advisor_version, params=params.waves
        ).sealed()
    answer = _Answer(Verdict.CANNOT_TELL, empty_draft(plan_request), reasons)
    return _plan(plan_request, plan_request.problem(options.band), answer, seed, advisor_version, params).sealed()


def require_options_fit(snapshot: ClusterSnapshot, options: PlanOptions, params: PlanParams = DEFAULTS) -> None:
    """What ``make_plan`` refuses at once, without the plan. Raises UsageError for options that the snapshot
    contradicts, InfeasibleError for a replication factor beyond every broker.
    """
    require_brokers_fit(snapshot, options, params.options)
    is_of_loads = options.targets or options.caps or options.headroom or options.also_balance or options.survive
    if is_of_loads and not nothing_usable(snapshot):
        plan_request = build_request(snapshot, options)
        require_measured(plan_request)
        require_losses_known(plan_request)


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """What a plan is looked for with, beside the problem; ``previous`` is the document of an earlier plan."""

    seed: int
    previous: Mapping[str, Any] | None
    progress: Progress
    params: PlanParams


def _seen_answer(plan_request: PlanRequest, problem: Problem, search: _Search) -> _Answer:
    """The answer to what was seen; "nothing to do" only where nothing that was not seen could change it."""
    try:
        answer = _ordered(plan_request, _answer(plan_request, problem, search))
        answer = _surviving(plan_request, problem, _led(plan_request, problem, answer, search), search)
        answer = _away_from_demoted(plan_request, problem, answer)
    except InfeasibleError as error:
        reasons = (*error.facts, *plan_request.unmet)
        return _Answer(Verdict.INFEASIBLE, empty_draft(plan_request), reasons)
    answer = _waiting(plan_request, answer)
    if answer.verdict is Verdict.NOTHING_TO_DO:
        unseen = could_change(plan_request, problem, search.params.unseen)
        if unseen:
            reasons = (*unseen, *(fact(FactCode.OF_WHAT_WAS_SEEN, reason=reason) for reason in answer.reasons))
            return replace(answer, verdict=Verdict.CANNOT_TELL, reasons=reasons)
    return answer


def _away_from_demoted(plan_request: PlanRequest, problem: Problem, answer: _Answer) -> _Answer:
    """The same, and no list that stays begins with a broker that has to lose its leaders."""
    if answer.verdict is not Verdict.REBALANCE or not plan_request.options.demote_brokers:
        return answer
    replicas, leader = in_problem_rows(answer.draft, problem.replicas, problem.leader)
    lists = away_from_demoted(problem, replicas, leader)
    if np.array_equal(lists, replicas):
        return answer
    return replace(answer, draft=draft_of(plan_request, lists, leader))


def _waiting(plan_request: PlanRequest, answer: _Answer) -> _Answer:
    """The same, with what has to wait for a replica: "nothing to do" is not said of what must be done and cannot."""
    if not plan_request.unmet:
        return answer
    idle = answer.verdict is Verdict.NOTHING_TO_DO
    verdict = Verdict.NOT_FIXABLE_BY_MOVING if idle else answer.verdict
    return replace(answer, verdict=verdict, reasons=(*plan_request.unmet, *answer.reasons))


def _ordered(plan_request: PlanRequest, answer: _Answer) -> _Answer:
    """The same, or new orders of followers alone where nothing else is to be done and these were asked for."""
    if answer.verdict not in (Verdict.NOTHING_TO_DO, Verdict.NOT_FIXABLE_BY_MOVING):
        return answer
    ordered = with_follower_order(plan_request, empty_draft(plan_request))
    if not len(ordered):
        return answer
    reasons = (fact(FactCode.FOLLOWERS_REORDERED, partitions=len(ordered)), *answer.reasons)
    return replace(answer, verdict=Verdict.REBALANCE, draft=ordered, bounds=None, reasons=reasons)


def _surviving(plan_request: PlanRequest, problem: Problem, answer: _Answer, search: _Search) -> _Answer:
    """The same, or what survives any loss where that was asked for. Raises InfeasibleError where nothing does."""
    if plan_request.options.survive is None:
        return answer
    search.progress("losing every broker" if plan_request.options.survive == "broker" else "losing every rack")
    kept = surviving(plan_request, problem, answer.draft, search.params)
    return _changed(plan_request, problem, answer, kept.draft, (kept.reason,))


def _led(plan_request: PlanRequest, problem: Problem, answer: _Answer, search: _Search) -> _Answer:
    """The same, or what has the leaders of topics that were asked for. Raises InfeasibleError where nothing has."""
    if not plan_request.options.min_topic_leaders:
        return answer
    search.progress("leaders of topics")
    kept = with_topic_leaders(plan_request, problem, answer.draft, search.params)
    return _changed(plan_request, problem, answer, kept.draft, kept.reasons)


def _changed(
    plan_request: PlanRequest, problem: Problem, answer: _Answer, draft: Draft, why: tuple[Fact, ...]
) -> _Answer:
    """The answer with ``draft`` in place of its own, and why."""
    if draft is answer.draft:
        return replace(answer, reasons=(*answer.reasons, *why))
    if len(draft):
        is_new = answer.verdict is not Verdict.REBALANCE
        reasons, bounds = (*why, *answer.reasons), None if is_new else answer.bounds
        return replace(answer, verdict=Verdict.REBALANCE, draft=draft, bounds=bounds, reasons=reasons, continues=None)
    was = imbalance(bands_of(problem), outcome_of(plan_request, draft).before, problem.stays)
    verdict = Verdict.NOT_FIXABLE_BY_MOVING if was > 0 else Verdict.NOTHING_TO_DO
    return _Answer(verdict, draft, why, answer.bounds)


def _answer(plan_request: PlanRequest, problem: Problem, search: _Search) -> _Answer:
    refuse_too_much_for_the_disks(problem)
    refuse_too_much_for_the_caps(plan_request, problem)
    previous, params = search.previous, search.params
    previous_plan = None if previous is None else what_is_left(plan_request, problem, previous)
    dead_band = _dead_band(plan_request, previous, params.stability.dead_band_edge)
    if previous_plan is None and _is_within_dead_band(plan_request, problem, dead_band):
        return _stay(plan_request, problem, dead_band)
    if previous_plan is not None:
        kept = continued_plan(plan_request, problem, previous_plan, search.seed, search.progress, params)
        if kept is not None and _may_stand(plan_request, problem, kept.draft, params):
            require_countable_bytes(plan_request, kept.draft)
            earlier = earlier_prices(plan_request, problem, previous or {})
            return _Answer(Verdict.REBALANCE, kept.draft, (kept.reason,), None, kept.plan_id, earlier=earlier)
    search.progress("searching")
    solution = solve_within_hours(plan_request, problem, seed=search.seed, params=params)
    return _judged(plan_request, problem, solution, params)


def _may_stand(plan_request: PlanRequest, problem: Problem, draft: Draft, params: PlanParams) -> bool:
    """What is left of an earlier plan is within today's caps and hours, has its leaders, survives what it has to."""
    after = outcome_of(plan_request, draft).after_by_resource
    is_within = not over_caps(plan_request, after) and keeps_hours(plan_request, draft, params)
    is_led = has_least_leaders(plan_request, problem, draft)
    return is_within and is_led and is_survived(plan_request, problem, draft)


def _dead_band(plan_request: PlanRequest, previous: Mapping[str, Any] | None, edge: float) -> float:
    """Who stayed put last time does so a little longer: noise at the very edge is no reason to move."""
    stayed = previous is not None and previous.get("verdict") == Verdict.NOTHING_TO_DO.value
    return plan_request.options.dead_band * (1 + edge if stayed else 1)


def _is_within_dead_band(plan_request: PlanRequest, problem: Problem, dead_band: float) -> bool:
    """Nothing must move, nobody gave an order, and every broker is within the dead band."""
    options = plan_request.options
    if plan_request.hard or options.is_explicit or options.preferred_election or options.band is None:
        return False
    worst = _worst_today(problem, options.band)
    return worst is None or abs(worst.ratio - 1) <= dead_band


def _worst_today(problem: Problem, within: float) -> Deviation | None:
    """The worse of today's worst deviation and the one after the next preferred election."""
    worst = worst_deviation(problem, broker_loads(problem, problem.replicas, problem.leader), within)
    if problem.preferred is None or np.array_equal(problem.preferred, problem.leader):
        return worst
    elected = worst_deviation(problem, broker_loads(problem, problem.replicas, problem.preferred), within)
    if worst is None or elected is None:
        return worst or elected
    return max(worst, elected, key=lambda deviation: abs(deviation.ratio - 1))


def _stay(plan_request: PlanRequest, problem: Problem, dead_band: float) -> _Answer:
    worst = _worst_today(problem, plan_request.options.band or 0.0)
    reason = within_dead_band(plan_request, worst, dead_band)
    return _Answer(Verdict.NOTHING_TO_DO, empty_draft(plan_request), (reason,))


def _judged(plan_request: PlanRequest, problem: Problem, solution: Solution, params: PlanParams) -> _Answer:
    solution = settled(problem, solution, params.solve)
    draft = with_follower_order(plan_request, draft_of(plan_request, solution.replicas, solution.leader))
    require_countable_bytes(plan_request, draft)
    bands, outcome = bands_of(problem), outcome_of(plan_request, draft)
    before, after, stays = outcome.before, outcome.after, plan_request.brokers.arrays.stays
    widened = widenings(plan_request, problem, outcome, bands, solution.replicas, solution.leader, solution.gave_way)
    # What a budget cuts short is as even as can be over all bands.
    ranked = replace(bands, rank=None) if solution.is_cut_short else bands
    was, gain = gained(ranked, outcome.states_before, outcome.states_after, stays)
    over, was_over = (
        over_caps(plan_request, outcome.after_by_resource),
        over_caps(plan_request, outcome.before_by_resource),
    )
    if over and not was_over and not plan_request.hard:  # today's placement keeps its caps: it may stay
        broken = tuple(above_cap(plan_request, one) for one in over)
        return _Answer(Verdict.NOT_FIXABLE_BY_MOVING, empty_draft(plan_request), broken, solution.bounds)
    require_within_caps(plan_request, over, is_proved=solution.are_caps_proved)
    free = bool(plan_request.hard) or bool(was_over) or plan_request.options.preferred_election
    # Within a budget every gain counts.
    least = 0.0 if plan_request.options.has_budget else params.stability.least_gain * was
    is_vain = bool(widened) and not free and (gain <= BAND_ROUNDING or gain < least)
    is_vain |= gain <= 0 and not (free or plan_request.options.has_budget)
    if solution.is_cut_short and (not len(draft) or (gain <= 0 and not free)):
        reasons = budget_allows_nothing(plan_request, bands, before)
        return _Answer(Verdict.NOTHING_TO_DO, empty_draft(plan_request), reasons, solution.bounds)
    if is_vain or not len(draft):
        outside = why_outside(plan_request, bands, outcome, widened, is_proved=solution.is_outside_proved)
        verdict = Verdict.NOT_FIXABLE_BY_MOVING if outside else Verdict.NOTHING_TO_DO
        reasons = outside or (fact(FactCode.ALL_INSIDE_BAND),)
        return _Answer(verdict, empty_draft(plan_request), reasons, solution.bounds)
    total = float(np.nan_to_num(plan_request.partitions.size).sum())
    rate = gain_per_byte(gain, solution.cost.bytes, total)
    if not (free or plan_request.options.is_explicit) and rate < plan_request.options.least_gain_per_byte:
        reasons = (does_not_pay(gain, solution.cost.bytes, total),)
        return _Answer(Verdict.NOTHING_TO_DO, empty_draft(plan_request), reasons)
    if solution.is_cut_short:
        reasons = budget_cuts_short(plan_request, bands, before, after)
        return _Answer(Verdict.REBALANCE, draft, reasons, solution.bounds, is_cut_short=True)
    reasons = why_rebalance(plan_request, bands, outcome, widened)
    reasons += bounds_of_widened_bands(widened, solution.bounds, is_proved=solution.is_outside_proved)
    return _Answer(Verdict.REBALANCE, draft, reasons, solution.bounds)


def _plan(
    plan_request: PlanRequest, problem: Problem, answer: _Answer, seed: int, advisor_version: str, params: PlanParams
) -> Plan:
    snapshot, options = plan_request.snapshot, plan_request.options
    bands = bands_of(problem)
    today = outcome_of(plan_request, empty_draft(plan_request))
    disk = today.before[:, today.column("disk")] if "disk" in today.resources and options.moves_replicas else None
    cut = waves_cut(plan_request, answer.draft, disk, params.waves)
    draft, wave_of, reasons = answer.draft, cut.wave_of, answer.reasons
    if len(cut.stuck):
        draft, wave_of = draft.without(cut.stuck), np.delete(wave_of, cut.stuck)
        reasons += (fact(FactCode.MOVES_WITHOUT_ROOM, moves=len(cut.stuck)),)
    outcome = outcome_of(plan_request, draft)
    broken = _broken_without_stuck(plan_request, problem, draft, outcome) if len(cut.stuck) else ()
    if broken:
        answer = _Answer(Verdict.INFEASIBLE, empty_draft(plan_request), (*broken, *reasons))
        return _plan(plan_request, problem, answer, seed, advisor_version, params)
    waves = waves_forward(plan_request, draft, wave_of, params.waves)
    cost = cost_of(plan_request, draft, waves, params.waves) if len(draft) else NO_COST
    why = explain_moves(plan_request, draft, outcome, bands, options.band)
    explain_topic_leaders(plan_request, problem, draft, why)
    explain_survival(plan_request, problem, draft, why, params.solve.survive)
    bounds = _bounds(plan_request, problem, answer, draft, outcome, bands, params.solve)
    is_cut_short = answer.is_cut_short and bool(len(draft))
    claim = budget_claim_of(plan_request, problem, bands, outcome, params.solve) if is_cut_short else None
    reasons = (*reasons[:1], *least_imbalance_in_budget(claim), *reasons[1:])
    reasons += election_less_even(plan_request, outcome)
    reasons += time_notes(options, cost.seconds, [wave.throttle_bytes_per_s for wave in waves])
    resources = resource_outcomes(plan_request, outcome, bands, options.band)
    if answer.verdict in (Verdict.INFEASIBLE, Verdict.CANNOT_TELL):  # nothing was aimed at, so nothing was widened
        resources = tuple(replace(resource, widened_to=(None, None)) for resource in resources)
    return Plan(
        cluster=snapshot.cluster,
        cluster_id=snapshot.cluster_id,
        snapshot_id=snapshot_id(snapshot),
        captured_at=optional_time_text(snapshot.captured_at),
        expires_at=expiry_of(snapshot.captured_at, options.expires_after_hours),
        topic_ids=topic_ids_of(plan_request, draft),
        seen=seen_by(plan_request, draft),
        parameters=options.document() | {"moves_per_broker": cut.slots},
        seed=seed,
        advisor_version=advisor_version,
        verdict=answer.verdict,
        reasons=reasons + plan_request.notes,
        resources=resources,
        left_out=plan_request.left_out,
        topic_excess_replicas=outcome.topic_excess,
        cost=cost,
        lower_bound=bounds_of(plan_request, cost, bounds, outcome, bands, waves),
        certificate=certificate_of(plan_request, problem, bounds),
        proofs=proofs_of(plan_request, problem, bounds, cost),
        moves=moves_of(plan_request, draft, wave_of, why),
        waves=waves,
        rollback=rollback_of(plan_request, draft, wave_of, params.waves) if len(draft) else None,
        preconditions=preconditions_of(plan_request, draft),
        explanations=explain_brokers(plan_request, draft, outcome, bands, options.band),
        robustness=_robustness(plan_request, problem, answer, draft, seed, params.robustness),
        within_budget=claim,
        continues=answer.continues,
        after_failure=after_failure_of(plan_request, draft, outcome),
        preferred_leaders=preferred_leaders_of(plan_request, outcome),
    )


def _broken_without_stuck(
    plan_request: PlanRequest, problem: Problem, draft: Draft, outcome: Outcome
) -> tuple[Fact, ...]:
    """Which promise is broken by what is left of a plan once its moves that no wave has room for are left out."""
    over = over_caps(plan_request, outcome.after_by_resource)
    if over:
        return (above_cap(plan_request, over[0]),)
    if not has_least_leaders(plan_request, problem, draft):
        _, leader = in_problem_rows(draft, problem.replicas, problem.leader)
        return lacking_leaders(plan_request, problem, leader).facts
    if not is_survived(plan_request, problem, draft):
        return cannot_be_carried_out(plan_request, problem, draft).facts
    return ()


def _bounds(
    plan_request: PlanRequest,
    problem: Problem,
    answer: _Answer,
    draft: Draft,
    outcome: Outcome,
    bands: Bands,
    params: SolveParams,
) -> Bounds | None:
    """The solver's bounds, unless what is planned is not what it found: then bounds for the bands that are met. Moves
    and time are proved by prices, too, where it was said what costs are worth.
    """
    if answer.verdict in (Verdict.INFEASIBLE, Verdict.CANNOT_TELL) or not len(draft):
        return None
    low, high = met_bands(plan_request, outcome, bands)
    is_widened = not (np.array_equal(low, bands.low) and np.array_equal(high, bands.high))
    if answer.bounds is not None and len(draft) == len(answer.draft) and not is_widened:
        return answer.bounds
    copied = float(sum(move_bytes or 0 for move_bytes in draft.bytes_forward()))
    bounds = widened_bounds(problem, answer.bounds or answer.earlier, low, high, copied, params)
    if not plan_request.options.weighs_costs:
        return bounds
    return with_cost_proofs(replace(problem, band_low=low, band_high=high), bounds, params)


def _robustness(
    plan_request: PlanRequest, problem: Problem, answer: _Answer, draft: Draft, seed: int, params: RobustnessParams
) -> Robustness | None:
    if answer.verdict in (Verdict.INFEASIBLE, Verdict.CANNOT_TELL) or plan_request.options.preferred_election:
        return None
    replicas, leader = in_problem_rows(draft, problem.replicas, problem.leader)
    within = plan_request.options.band or 0.0
    return robustness_of(
        problem, answer.verdict, (replicas, leader), within, plan_request.options.dead_band, seed=seed, params=params
    )
