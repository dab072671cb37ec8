"""Make a plan from snapshot and options: every stage, in order. Pure: same input and seed give the same bytes.

Each stage takes the state that the one before left (``plans.state``), and improves or limits it. What a hard rule makes
impossible ends the search with the verdict ``infeasible``; waves and plan are made of that, too. The plan's ``trace``
tells what each stage left, so that a reader sees which stage moved what. ``plans.verified_plan`` verifies the plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.facts import Fact
from kafka_rebalance.options.plan_options import FRONTIER_POINTS, PlanOptions
from kafka_rebalance.plans.budget import Balance, KeepBudget, KeepCapacity, KeepHours, Prefer
from kafka_rebalance.plans.compose import CutWaves, WritePlan, plan_without_brokers
from kafka_rebalance.plans.draft import empty_draft
from kafka_rebalance.plans.frontier import AddFrontier, options_at
from kafka_rebalance.plans.judging import (
    AvoidDemoted,
    DoubtUnseen,
    Judge,
    OrderFollowers,
    RefuseImpossible,
    RequireUsable,
    Settle,
    StayInDeadBand,
    TellWaiting,
)
from kafka_rebalance.plans.option_fit import require_brokers_fit, require_measured
from kafka_rebalance.plans.params import DEFAULTS, PlanParams
from kafka_rebalance.plans.plan import Plan, Verdict
from kafka_rebalance.plans.previous import ContinuePrevious, ReadPrevious
from kafka_rebalance.plans.request import PlanRequest, build_request
from kafka_rebalance.plans.state import PlanState, Progress, Stage, Watch, ignore
from kafka_rebalance.plans.steps import ElectFirst, OrderSteps, StopAtStep
from kafka_rebalance.plans.survival import SurviveLosses, require_losses_known
from kafka_rebalance.plans.topic_leaders import LeadTopics
from kafka_rebalance.plans.unseen import nothing_usable
from kafka_rebalance.snapshot.model import ClusterSnapshot

STAGES: tuple[Stage, ...] = (
    RequireUsable(),  # cannot_tell where nothing usable was seen
    RefuseImpossible(),  # infeasible where all that there is fits on no disk or below no cap
    ReadPrevious(),  # what an earlier plan left to do
    StayInDeadBand(),  # nothing_to_do where every broker is near enough to its share
    ContinuePrevious(),  # the earlier plan, if it still holds
    ElectFirst(),  # the search starts after an election that makes leaders more even
    Balance(),  # the search: the cheapest plan inside the bands
    KeepCapacity(),  # no broker above what it can carry
    KeepBudget(),  # bytes, moves and leader changes
    Prefer(),  # another plan, if another cost comes first
    KeepHours(),  # of the plan that was chosen, so after the preference
    Settle(),  # leaders that stay, orders of followers
    Judge(),  # does it pay?
    OrderFollowers(),  # new orders alone, where nothing moves
    LeadTopics(),  # leaders of topics on each broker
    SurviveLosses(),  # no broker above its capacity after a loss
    AvoidDemoted(),  # no list begins with a demoted broker
    TellWaiting(),  # what must be done and cannot yet
    DoubtUnseen(),  # cannot_tell where what was not seen could change "nothing to do"
    OrderSteps(),  # elect, repair, relieve, even out
    StopAtStep(),  # no further than the step that was asked for
    CutWaves(),
    WritePlan(),
    AddFrontier(),
)


def make_plan(
    snapshot: ClusterSnapshot,
    options: PlanOptions,
    *,
    seed: int = 0,
    previous: Mapping[str, Any] | None = None,
    advisor_version: str = "",
    progress: Progress = ignore,
    params: PlanParams = DEFAULTS,
    watch: Watch = ignore,
) -> Plan:
    """Return the sealed plan, with its frontier where one is wanted: all of it in one process, unverified.

    Arguments and errors are those of ``search_plan``; ``plans.searches`` makes the same plan in parts, and verifies it.
    """
    if options.at in FRONTIER_POINTS:
        whole = replace(options, at=None, with_frontier=True)
        options = options_at(options, make_plan(snapshot, whole, seed=seed, params=params).frontier)
    return search_plan(
        snapshot, options, seed=seed, previous=previous, advisor_version=advisor_version, progress=progress,
        params=params, watch=watch,
    ).sealed()  # fmt: skip


def search_plan(
    snapshot: ClusterSnapshot,
    options: PlanOptions,
    *,
    seed: int = 0,
    previous: Mapping[str, Any] | None = None,
    advisor_version: str = "",
    progress: Progress = ignore,
    params: PlanParams = DEFAULTS,
    watch: Watch = ignore,
) -> Plan:
    """Return the plan, unsealed. ``previous``: the document of an earlier one, to be confirmed or continued.

    ``watch`` gets each step of the trace when its stage ends. The library has no clock: a watch may read one.

    Raises UsageError for options that the snapshot contradicts. What cannot be done is a plan, too: its verdict is
    ``infeasible`` and its reasons name the smallest cause and what would help.
    """
    require_brokers_fit(snapshot, options, params.options)
    request = build_request(snapshot, options, params.options)
    unusable = nothing_usable(snapshot)
    if not request.brokers.brokers:
        return _without_brokers(request, unusable, seed, advisor_version, params)
    if not unusable:
        require_measured(request)
        require_losses_known(request)
    problem = request.problem(options.band)
    progress(f"{problem.broker_count:,} brokers, {problem.partition_count:,} partitions")
    state = PlanState(
        request=request,
        problem=problem,
        draft=empty_draft(request),
        seed=seed,
        params=params,
        advisor_version=advisor_version,
        progress=progress,
        previous=previous,
    )
    return run_stages(state, watch)


def run_stages(state: PlanState, watch: Watch = ignore) -> Plan:
    """Return the plan that the stages make of a state, unsealed."""
    for stage in STAGES:
        if not stage.applies(state):
            continue
        before = state
        try:
            state = stage.run(before)
        except InfeasibleError as error:
            state = before.decided(Verdict.INFEASIBLE, (*error.facts, *before.request.unmet))
        state = state.traced(stage.name, before)
        watch(state.trace[-1])
    assert state.plan is not None
    return state.plan


def plan_of_unfit_reading(
    snapshot: ClusterSnapshot,
    options: PlanOptions,
    reasons: tuple[Fact, ...],
    *,
    seed: int = 0,
    advisor_version: str = "",
    params: PlanParams = DEFAULTS,
) -> Plan:
    """Return the sealed plan where no advice can rest on the snapshot, whatever it shows: ``cannot_tell``, no moves."""
    request = build_request(snapshot, options, params.options)
    reasons = (*reasons, *nothing_usable(snapshot))
    if not request.brokers.brokers:
        return _without_brokers(request, reasons, seed, advisor_version, params).sealed()
    problem, draft = request.problem(options.band), empty_draft(request)
    state = PlanState(
        request=request, problem=problem, draft=draft, seed=seed, params=params, advisor_version=advisor_version
    )
    return run_stages(replace(state, verdict=Verdict.CANNOT_TELL, reasons=reasons)).sealed()


def require_options_fit(snapshot: ClusterSnapshot, options: PlanOptions, params: PlanParams = DEFAULTS) -> None:
    """Refuse at once what ``make_plan`` would refuse. Raises UsageError for options that the snapshot contradicts,
    InfeasibleError for a replication factor beyond every broker.
    """
    require_brokers_fit(snapshot, options, params.options)
    if options.asks_of_loads and not nothing_usable(snapshot):
        request = build_request(snapshot, options)
        require_measured(request)
        require_losses_known(request)


def _without_brokers(
    request: PlanRequest, reasons: tuple[Fact, ...], seed: int, advisor_version: str, params: PlanParams
) -> Plan:
    return plan_without_brokers(request, reasons, seed=seed, advisor_version=advisor_version, params=params.waves)
