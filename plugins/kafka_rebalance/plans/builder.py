"""From a snapshot and options to a plan: the planner's answer put into waves and words, or the reason to stay put.

In this order: was anything usable seen; what must move whatever the balance; quiet within the dead band; what an
earlier plan left to do; the search; does it pay; could what was not seen change "nothing to do". Pure: the same
snapshot, options and seed give the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kafka_rebalance.cluster_arrays.broker_loads import broker_loads
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.planner.linear_program.widened_bounds import widened_bounds
from kafka_rebalance.planner.params import SolveParams
from kafka_rebalance.planner.solution import Bounds, Solution
from kafka_rebalance.plans.caps import (
    cap_words,
    over_caps,
    refuse_too_much_for_the_caps,
    require_within_caps,
)
from kafka_rebalance.plans.cluster_notes import refuse_too_much_for_the_disks
from kafka_rebalance.plans.dead_band import furthest, gain_per_byte, imbalance
from kafka_rebalance.plans.draft import Draft, draft_of, empty_draft, in_problem_rows
from kafka_rebalance.plans.explain.moves import explain_brokers, explain_moves
from kafka_rebalance.plans.explain.outside_band import widenings
from kafka_rebalance.plans.explain.verdict import (
    deviation_words,
    infeasible_words,
    outside_words,
    pay_words,
    rebalance_words,
)
from kafka_rebalance.plans.frontier.frontier import with_frontier
from kafka_rebalance.plans.frontier.within_budget import solve_within_budget
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
    resource_outcomes,
)
from kafka_rebalance.plans.params import DEFAULTS, PlanParams, RobustnessParams
from kafka_rebalance.plans.parts import (
    bounds_of,
    certificate_of,
    expiry_of,
    moves_of,
    preconditions_of,
)
from kafka_rebalance.plans.plan import Cost, Plan, Robustness, Verdict
from kafka_rebalance.plans.previous.continued import kept_plan
from kafka_rebalance.plans.previous.previous_plan import what_is_left
from kafka_rebalance.plans.request import Ask, build_ask
from kafka_rebalance.plans.robustness import robustness_of
from kafka_rebalance.plans.unseen.seen import seen_by, topic_ids_of
from kafka_rebalance.plans.unseen.unseen import could_change, nothing_usable
from kafka_rebalance.plans.unseen_cluster import plan_without_brokers
from kafka_rebalance.plans.versions import as_newest
from kafka_rebalance.plans.wave_plan import (
    cost_of,
    cut_into_waves,
    rollback_of,
    slots_of,
    waves_forward,
)
from kafka_rebalance.snapshot.codec import snapshot_id
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.times import optional_time_text

Progress = Callable[[str], None]
NO_COST = Cost(0, 0, 0, 0.0, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Answer:
    """What is going to be told: moves, why, the bounds, and which earlier plan it keeps."""

    verdict: Verdict
    draft: Draft
    reasons: tuple[str, ...]
    bounds: Bounds | None = None
    continues: str | None = None


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
    require_brokers_fit(snapshot, options)
    ask = build_ask(snapshot, options)
    unusable = nothing_usable(snapshot)
    if not ask.brokers.brokers:
        return plan_without_brokers(ask, unusable, seed=seed, advisor_version=advisor_version).sealed()
    if not unusable:
        require_measured(ask)
    problem = ask.problem(options.band)
    progress(f"{problem.broker_count:,} brokers, {problem.partition_count:,} partitions")
    previous = None if previous is None else as_newest(previous)
    if unusable:
        answer = _Answer(Verdict.CANNOT_TELL, empty_draft(ask), unusable)
    else:
        answer = _seen_answer(ask, problem, _Search(seed, previous, progress, params))
    progress("cutting waves")
    plan = _plan(ask, problem, answer, seed, advisor_version, params)
    if options.with_frontier:
        plan = with_frontier(plan, ask, seed=seed, progress=progress, params=params.frontier)
    return plan.sealed()


def require_options_fit(snapshot: ClusterSnapshot, options: PlanOptions) -> None:
    """What ``make_plan`` refuses at once, without the plan. Raises UsageError for options that the snapshot
    contradicts, InfeasibleError for a replication factor beyond every broker.
    """
    require_brokers_fit(snapshot, options)
    if options.targets and not nothing_usable(snapshot):
        require_measured(build_ask(snapshot, options))


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """What a plan is looked for with, beside the problem; ``previous`` is the document of an earlier plan."""

    seed: int
    previous: Mapping[str, Any] | None
    progress: Progress
    params: PlanParams


def _seen_answer(ask: Ask, problem: Problem, search: _Search) -> _Answer:
    """The answer to what was seen; "nothing to do" only where nothing that was not seen could change it."""
    try:
        answer = _answer(ask, problem, search)
    except InfeasibleError as error:
        return _Answer(Verdict.INFEASIBLE, empty_draft(ask), infeasible_words(error))
    if answer.verdict is Verdict.NOTHING_TO_DO:
        unseen = could_change(ask, problem)
        if unseen:
            reasons = (*unseen, *(f"of what was seen: {reason}" for reason in answer.reasons))
            return replace(answer, verdict=Verdict.CANNOT_TELL, reasons=reasons)
    return answer


def _answer(ask: Ask, problem: Problem, search: _Search) -> _Answer:
    refuse_too_much_for_the_disks(problem)
    refuse_too_much_for_the_caps(ask, problem)
    previous, params = search.previous, search.params
    earlier = None if previous is None else what_is_left(ask, problem, previous)
    dead_band = _dead_band(ask, previous, params.stability.dead_band_edge)
    if earlier is None and _is_quiet(ask, problem, dead_band):
        return _stay(ask, problem, dead_band)
    if earlier is not None:
        kept = kept_plan(ask, problem, earlier, search.seed, search.progress, params)
        if kept is not None and not over_caps(ask, outcome_of(ask, kept.draft).after_by_resource):
            require_countable_bytes(ask, kept.draft)
            return _Answer(Verdict.REBALANCE, kept.draft, (kept.reason,), None, kept.plan_id)
    search.progress("searching")
    solution = solve_within_budget(problem, seed=search.seed, params=params.solve, budget=params.budget)
    return _judged(ask, problem, solution, params.stability.least_gain)


def _dead_band(ask: Ask, previous: Mapping[str, Any] | None, edge: float) -> float:
    """Who stayed put last time does so a little longer: noise at the very edge is no reason to move."""
    stayed = previous is not None and previous.get("verdict") == Verdict.NOTHING_TO_DO.value
    return ask.options.dead_band * (1 + edge if stayed else 1)


def _is_quiet(ask: Ask, problem: Problem, dead_band: float) -> bool:
    """Nothing must move, nobody gave an order, and every broker is within the dead band."""
    options = ask.options
    if ask.hard or options.is_order or options.preferred_election or options.band is None:
        return False
    worst = furthest(problem, broker_loads(problem, problem.replicas, problem.leader), options.band)
    return worst is None or abs(worst.ratio - 1) <= dead_band


def _stay(ask: Ask, problem: Problem, dead_band: float) -> _Answer:
    loads = broker_loads(problem, problem.replicas, problem.leader)
    worst = furthest(problem, loads, ask.options.band or 0.0)
    words = deviation_words(ask, worst, dead_band)
    return _Answer(Verdict.NOTHING_TO_DO, empty_draft(ask), (words,))


def _judged(ask: Ask, problem: Problem, solution: Solution, least_gain: float) -> _Answer:
    draft = draft_of(ask, solution.replicas, solution.leader)
    require_countable_bytes(ask, draft)
    bands, outcome = bands_of(problem), outcome_of(ask, draft)
    before, after, stays = outcome.before, outcome.after, ask.brokers.arrays.stays
    widened = widenings(ask, problem, outcome, bands, solution.replicas, solution.leader)
    was = imbalance(bands, before, stays)
    gain = was - imbalance(bands, after, stays)
    over, was_over = over_caps(ask, outcome.after_by_resource), over_caps(ask, outcome.before_by_resource)
    if over and not was_over and not ask.hard:  # today's placement keeps its caps: it may stay
        words = (*(f"{cap_words(ask, each)}: the moves that were found would break it" for each in over),)
        return _Answer(Verdict.NOT_FIXABLE_BY_MOVING, empty_draft(ask), words, solution.bounds)
    require_within_caps(ask, over)
    free = bool(ask.hard) or bool(was_over) or ask.options.preferred_election
    is_vain = bool(widened) and not problem.budget.is_limited and not free and gain < least_gain * was
    if is_vain or not len(draft):
        outside = outside_words(ask, bands, before, widened)
        verdict = Verdict.NOT_FIXABLE_BY_MOVING if outside else Verdict.NOTHING_TO_DO
        return _Answer(verdict, empty_draft(ask), outside or ("every broker is inside its band",), solution.bounds)
    total = float(np.nan_to_num(ask.partitions.size).sum())
    rate = gain_per_byte(gain, solution.cost.bytes, total)
    if not (free or ask.options.is_order) and rate < ask.options.least_gain_per_byte:
        return _Answer(Verdict.NOTHING_TO_DO, empty_draft(ask), (pay_words(gain, solution.cost.bytes, total),))
    return _Answer(Verdict.REBALANCE, draft, rebalance_words(ask, bands, before, after, widened), solution.bounds)


def _plan(ask: Ask, problem: Problem, answer: _Answer, seed: int, advisor_version: str, params: PlanParams) -> Plan:
    snapshot, options = ask.snapshot, ask.options
    bands = bands_of(problem)
    today = outcome_of(ask, empty_draft(ask))
    disk = today.before[:, today.column("disk")] if "disk" in today.resources and options.moves_replicas else None
    slots = slots_of(ask, answer.draft, params.waves)
    cut = cut_into_waves(ask, answer.draft, disk, slots)
    draft, wave_of, reasons = answer.draft, cut.wave_of, answer.reasons
    if len(cut.stuck):
        draft, wave_of = draft.without(cut.stuck), np.delete(wave_of, cut.stuck)
        reasons += (f"{len(cut.stuck):,} moves are left out: no order of them has room for both copies on every disk",)
    outcome = outcome_of(ask, draft)
    if len(cut.stuck) and (over := over_caps(ask, outcome.after_by_resource)):
        answer = replace(answer, verdict=Verdict.INFEASIBLE, draft=empty_draft(ask), bounds=None, continues=None)
        answer = replace(answer, reasons=(cap_words(ask, over[0]), *reasons))
        return _plan(ask, problem, answer, seed, advisor_version, params)
    waves = waves_forward(ask, draft, wave_of)
    cost = cost_of(ask, draft, waves) if len(draft) else NO_COST
    texts = explain_moves(ask, draft, outcome, bands, options.band)
    bounds = _bounds(ask, problem, answer, draft, outcome, bands, params.solve)
    resources = resource_outcomes(ask, outcome, bands, options.band)
    if answer.verdict in (Verdict.INFEASIBLE, Verdict.CANNOT_TELL):  # nothing was aimed at, so nothing was widened
        resources = tuple(replace(resource, widened_to=(None, None)) for resource in resources)
    return Plan(
        cluster=snapshot.cluster,
        cluster_id=snapshot.cluster_id,
        snapshot_id=snapshot_id(snapshot),
        captured_at=optional_time_text(snapshot.captured_at),
        expires_at=expiry_of(snapshot.captured_at, options.expires_after_hours),
        topic_ids=topic_ids_of(ask, draft),
        seen=seen_by(ask, draft),
        parameters=options.document() | {"moves_per_broker": slots},
        seed=seed,
        advisor_version=advisor_version,
        verdict=answer.verdict,
        reasons=reasons + ask.notes,
        resources=resources,
        left_out=ask.left_out,
        topic_excess_replicas=outcome.topic_excess,
        cost=cost,
        lower_bound=bounds_of(ask, cost, bounds, outcome, bands, waves),
        certificate=certificate_of(ask, problem, bounds),
        moves=moves_of(ask, draft, wave_of, texts),
        waves=waves,
        rollback=rollback_of(ask, draft, wave_of) if len(draft) else None,
        preconditions=preconditions_of(ask, draft),
        explanations=explain_brokers(ask, draft, outcome, bands, options.band),
        robustness=_robustness(ask, problem, answer, draft, seed, params.robustness),
        continues=answer.continues,
    )


def _bounds(
    ask: Ask,
    problem: Problem,
    answer: _Answer,
    draft: Draft,
    outcome: Outcome,
    bands: Bands,
    params: SolveParams,
) -> Bounds | None:
    """The solver's bounds, unless what is planned is not what it found: then bounds for the bands that are met."""
    if answer.verdict in (Verdict.INFEASIBLE, Verdict.CANNOT_TELL) or not len(draft):
        return None
    low, high = met_bands(ask, outcome, bands)
    is_widened = not (np.array_equal(low, bands.low) and np.array_equal(high, bands.high))
    if answer.bounds is not None and len(draft) == len(answer.draft) and not is_widened:
        return answer.bounds
    copied = float(sum(each or 0 for each in draft.bytes_forward()))
    return widened_bounds(problem, answer.bounds, low, high, copied, params)


def _robustness(
    ask: Ask, problem: Problem, answer: _Answer, draft: Draft, seed: int, params: RobustnessParams
) -> Robustness | None:
    if answer.verdict in (Verdict.INFEASIBLE, Verdict.CANNOT_TELL) or ask.options.preferred_election:
        return None
    replicas, leader = in_problem_rows(draft, problem.replicas, problem.leader)
    within = ask.options.band or 0.0
    return robustness_of(
        problem, answer.verdict, (replicas, leader), within, ask.options.dead_band, seed=seed, params=params
    )
