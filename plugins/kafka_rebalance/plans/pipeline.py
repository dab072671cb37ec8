"""Make a plan from snapshot and options: every stage, in order. Same input and seed give the same bytes.

Each stage improves or limits the state of the one before (``plans.state``). A broken hard rule ends the search with
``infeasible``, which still becomes a plan. ``plans.verified_plan`` verifies it.
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
    TellNearlyFull,
    TellWaiting,
)
from kafka_rebalance.plans.option_fit import require_brokers_fit, require_measured
from kafka_rebalance.plans.params import DEFAULTS, PlanParams
from kafka_rebalance.plans.plan import Plan, Verdict
from kafka_rebalance.plans.previous import ContinuePrevious, ReadPrevious, TellAdapted
from kafka_rebalance.plans.request import PlanRequest, build_request
from kafka_rebalance.plans.state import PlanState, Progress, Stage, Watch, ignore
from kafka_rebalance.plans.steps import ElectFirst, OrderSteps, StopAtStep
from kafka_rebalance.plans.survival import SurviveLosses, require_losses_known
from kafka_rebalance.plans.topic_leaders import LeadTopics
from kafka_rebalance.plans.unseen import nothing_usable
from kafka_rebalance.snapshot.model import ClusterSnapshot

STAGES: tuple[Stage, ...] = (
    RequireUsable(),  # cannot_tell for an unusable snapshot
    RefuseImpossible(),  # infeasible where disks or caps are too small
    ReadPrevious(),  # remaining moves of an earlier plan
    StayInDeadBand(),  # nothing_to_do inside the dead band, unless a broker is nearly full
    ContinuePrevious(),  # the earlier plan, if it still holds
    ElectFirst(),  # start from an election that evens out leaders
    Balance(),  # the cheapest plan inside the bands
    KeepCapacity(),  # no broker above capacity
    KeepBudget(),  # bytes, moves and leader changes
    Prefer(),  # another plan, if another cost comes first
    KeepHours(),  # after the preference, for its plan
    Settle(),  # lasting leaders, follower orders
    Judge(),  # does it pay?
    OrderFollowers(),  # new orders alone, without moves
    LeadTopics(),  # minimum leaders of topics
    SurviveLosses(),  # capacity after a loss
    AvoidDemoted(),  # no list begins with a demoted broker
    TellWaiting(),  # moves that must wait
    TellNearlyFull(),  # brokers that moves do not help
    DoubtUnseen(),  # cannot_tell where unseen parts matter
    OrderSteps(),  # elect, repair, relieve, even out
    StopAtStep(),  # at the requested step; inside the dead band after relief
    TellAdapted(),  # an earlier plan is confirmed or continued
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
    """Return the sealed, unverified plan with its frontier, in one process; ``plans.searches`` makes and verifies the
    same in parts. Arguments and errors as of ``search_plan``.
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
    """Return the plan, unsealed. ``previous``: the document of an earlier one to confirm or continue. ``watch`` gets
    each trace step when its stage ends; it may read a clock, the library does not.

    Raises UsageError for options that contradict the snapshot. An impossible request gives a plan with verdict
    ``infeasible``, the smallest cause and a remedy.
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
    """Raises as ``make_plan``, and InfeasibleError for too high a replication factor."""
    require_brokers_fit(snapshot, options, params.options)
    if options.asks_of_loads and not nothing_usable(snapshot):
        request = build_request(snapshot, options)
        require_measured(request)
        require_losses_known(request)


def _without_brokers(
    request: PlanRequest, reasons: tuple[Fact, ...], seed: int, advisor_version: str, params: PlanParams
) -> Plan:
    return plan_without_brokers(request, reasons, seed=seed, advisor_version=advisor_version, params=params.waves)
