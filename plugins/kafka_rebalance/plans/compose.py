"""The last stages: cut moves into waves, and build the ``Plan``."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kafka_assignors.arrays import Ints
from kafka_rebalance.facts import BoundProof, Fact, FactCode, fact
from kafka_rebalance.planner.linear_program.proofs import widened_bounds, with_cost_proofs
from kafka_rebalance.planner.solution import Bounds
from kafka_rebalance.plans.budget import budget_claim_of
from kafka_rebalance.plans.draft import (
    Bands,
    Draft,
    Outcome,
    bands_of,
    in_problem_rows,
    met_bands,
    outcome_of,
    preferred_leaders_of,
    resource_outcomes,
)
from kafka_rebalance.plans.explain import (
    above_cap,
    election_less_even,
    explain_brokers,
    explain_moves,
    least_imbalance_in_budget,
    night_notes,
    over_caps,
    time_notes,
)
from kafka_rebalance.plans.failures import after_failure_of, robustness_of
from kafka_rebalance.plans.params import DEFAULTS, WaveParams
from kafka_rebalance.plans.parts import (
    bounds_of,
    certificate_of,
    expiry_of,
    is_within_slack,
    moves_of,
    preconditions_of,
    proofs_of,
)
from kafka_rebalance.plans.plan import Bound, Cost, Plan, Robustness, TraceStep, Verdict
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.plans.state import PlanState
from kafka_rebalance.plans.steps import ORDER, forecast_notes, most_urgent, steps_of_plan
from kafka_rebalance.plans.survival import cannot_be_carried_out, explain_survival, is_survived
from kafka_rebalance.plans.topic_leaders import explain_topic_leaders, has_least_leaders, lacking_leaders
from kafka_rebalance.plans.unseen import observed_state, topic_ids_of
from kafka_rebalance.plans.waves import cost_of, rollback_of, waves_by_step, waves_forward
from kafka_rebalance.snapshot.codec import snapshot_id
from kafka_rebalance.snapshot.times import optional_time_text

NO_COST = Cost(0, 0, 0, 0.0, 0.0)
_COSTS = ("bytes", "replica_moves", "leader_changes", "seconds")


class CutWaves:
    """Moves without room are left out."""

    name = "waves"

    def applies(self, state: PlanState) -> bool:
        return state.wave_of is None

    def run(self, state: PlanState) -> PlanState:
        state.progress("cutting waves")
        return _cut(state)


class WritePlan:
    name = "plan"

    def applies(self, state: PlanState) -> bool:
        return state.plan is None

    def run(self, state: PlanState) -> PlanState:
        return replace(state, plan=_plan(state))


def _cut(state: PlanState) -> PlanState:
    request, draft, params = state.request, state.draft, state.params.waves
    step_of = _step_of(state)
    cut = waves_by_step(request, draft, step_of, params, most_urgent(request, draft, step_of, state.params.steps))
    wave_of, step_of = cut.wave_of, cut.step_of
    if len(cut.stuck):
        draft, wave_of = draft.without(cut.stuck), np.delete(wave_of, cut.stuck)
        step_of = np.delete(step_of, cut.stuck)
        reasons = (*state.reasons, fact(FactCode.MOVES_WITHOUT_ROOM, moves=len(cut.stuck)))
        broken = _broken_without_stuck(state, draft)
        if broken:
            return _cut(state.decided(Verdict.INFEASIBLE, (*broken, *reasons)))
        # The bounds were for all moves.
        state = replace(state, draft=draft, reasons=reasons, bounds=None, earlier=state.bounds or state.earlier)
    waves = waves_forward(request, draft, wave_of, params)
    return replace(state, step_of=step_of, wave_of=wave_of, slots=cut.slots, waves=waves)


def _step_of(state: PlanState) -> Ints:
    if state.step_of is not None and len(state.step_of) == len(state.draft):
        return state.step_of
    return np.full(len(state.draft), len(ORDER) - 1, dtype=np.int32)


def _broken_without_stuck(state: PlanState, draft: Draft) -> tuple[Fact, ...]:
    request, problem = state.request, state.problem
    over = over_caps(request, outcome_of(request, draft).after_by_resource)
    if over:
        return (above_cap(request, over[0]),)
    if not has_least_leaders(request, problem, draft):
        _, leader = in_problem_rows(draft, problem.replicas, problem.leader)
        return lacking_leaders(request, problem, leader).facts
    if not is_survived(request, problem, draft):
        return cannot_be_carried_out(request, problem, draft).facts
    return ()


def _plan(state: PlanState) -> Plan:
    request, problem, draft, options, params = state.request, state.problem, state.draft, state.options, state.params
    snapshot, waves, wave_of = request.snapshot, state.waves, state.wave_of
    assert wave_of is not None
    bands, outcome = bands_of(problem), outcome_of(request, draft)
    cost = cost_of(request, draft, waves, params.waves) if len(draft) else NO_COST
    fair = bands_of(request.problem(options.band, relieves=False)) if request.relieved_to else bands
    why = explain_moves(request, draft, outcome, fair, options.band)
    explain_topic_leaders(request, problem, draft, why)
    explain_survival(request, problem, draft, why, params.solve.survive)
    bounds = _bounds(state, outcome, bands)
    is_cut_short = state.is_cut_short and bool(len(draft))
    claim = budget_claim_of(request, problem, bands, outcome, params.solve) if is_cut_short else None
    reasons = (
        *state.reasons[:1],
        *least_imbalance_in_budget(claim),
        *state.reasons[1:],
        *election_less_even(request, outcome),
        *forecast_notes(request, draft, _step_of(state), params.steps),
        *night_notes(options, draft, wave_of, waves),
        *time_notes(options, cost.seconds, [wave.throttle_bytes_per_s for wave in waves]),
        *request.notes,
    )
    resources = resource_outcomes(request, outcome, bands, options.band)
    if not state.is_possible:  # no bands were sought
        resources = tuple(replace(resource, widened_to=(None, None)) for resource in resources)
    return Plan(
        cluster=snapshot.cluster,
        cluster_id=snapshot.cluster_id,
        snapshot_id=snapshot_id(snapshot),
        captured_at=optional_time_text(snapshot.captured_at),
        expires_at=expiry_of(snapshot.captured_at, options.expires_after_hours),
        topic_ids=topic_ids_of(request, draft),
        seen=observed_state(request, draft),
        parameters=options.document() | {"moves_per_broker": state.slots},
        seed=state.seed,
        advisor_version=state.advisor_version,
        verdict=state.verdict or Verdict.CANNOT_TELL,
        reasons=reasons,
        resources=resources,
        left_out=request.left_out,
        topic_excess_replicas=outcome.topic_excess,
        cost=cost,
        lower_bound=bounds_of(request, cost, bounds, outcome, bands, waves),
        certificate=certificate_of(request, problem, bounds),
        proofs=proofs_of(request, problem, bounds, cost),
        moves=moves_of(request, draft, wave_of, why),
        waves=waves,
        steps=steps_of_plan(state, bands, bounds),
        rollback=rollback_of(request, draft, wave_of, params.waves) if len(draft) else None,
        preconditions=preconditions_of(request, draft),
        explanations=explain_brokers(request, draft, outcome, fair, options.band),
        robustness=_robustness(state),
        within_budget=claim,
        continues=state.continues,
        after_failure=after_failure_of(request, draft, outcome),
        preferred_leaders=preferred_leaders_of(request, outcome),
        trace=state.trace,
    )


def _bounds(state: PlanState, outcome: Outcome, bands: Bands) -> Bounds | None:
    """Bounds for the met bands where the moves are not the solver's. If costs are weighed, also for moves and time."""
    problem, draft, params = state.problem, state.draft, state.params.solve
    if not state.is_possible or not len(draft):
        return None
    low, high = met_bands(state.request, outcome, bands)
    is_widened = not (np.array_equal(low, bands.low) and np.array_equal(high, bands.high))
    if state.bounds is not None and not is_widened:
        return state.bounds
    if state.is_cut_short:  # ascent is nearly as strong for bands that a budget left
        limits = params.linear_program
        arcs = replace(limits.arcs, most_arcs=min(limits.arcs.most_arcs, limits.proofs.most_arcs))
        params = replace(params, linear_program=replace(limits, arcs=arcs))
    copied = float(sum(move_bytes or 0 for move_bytes in draft.bytes_forward()))
    bounds = widened_bounds(problem, state.bounds or state.earlier, low, high, copied, params)
    if not state.options.weighs_costs:
        return bounds
    return with_cost_proofs(replace(problem, band_low=low, band_high=high), bounds, params)


def _robustness(state: PlanState) -> Robustness | None:
    if not state.is_possible or state.verdict is None or state.options.preferred_election:
        return None
    problem, options = state.problem, state.options
    planned = in_problem_rows(state.draft, problem.replicas, problem.leader)
    within, params = options.band or 0.0, state.params.robustness
    return robustness_of(problem, state.verdict, planned, within, options.dead_band, seed=state.seed, params=params)


def plan_without_brokers(
    plan_request: PlanRequest,
    reasons: tuple[Fact, ...],
    *,
    seed: int,
    advisor_version: str,
    params: WaveParams = DEFAULTS.waves,
) -> Plan:
    snapshot, options = plan_request.snapshot, plan_request.options
    slots = params.least_slots if options.moves_per_broker is None else options.moves_per_broker
    return Plan(
        cluster=snapshot.cluster,
        cluster_id=snapshot.cluster_id,
        snapshot_id=snapshot_id(snapshot),
        captured_at=optional_time_text(snapshot.captured_at),
        expires_at=expiry_of(snapshot.captured_at, options.expires_after_hours),
        parameters=options.document() | {"moves_per_broker": slots},
        seed=seed,
        advisor_version=advisor_version,
        verdict=Verdict.CANNOT_TELL,
        reasons=reasons,
        left_out=dict.fromkeys(plan_request.in_play, fact(FactCode.NO_BROKER_SEEN)),
        cost=NO_COST,
        lower_bound=tuple(
            Bound(name, 0.0, 0.0, BoundProof.NOTHING_MOVES, is_within_slack(options, 0.0)) for name in _COSTS
        ),
        trace=(TraceStep("usable", 0, 0, 0),),
    )
