"""The stages ``elect first`` and ``steps``: elect, repair, relieve, even out. An operator can stop after each of them.

Promises, in order
1. Each partition changes in one step only, so after any step each one is as today or as planned.
2. No step lifts a broker above its capacity or a cap, unless it was above today; no relief leaves one above where
   relief ends, unless it was or the plan ends there. Else it joins a later one: a repair may need a relief's room.
3. ``elect`` rewrites no list and copies nothing. ``repair`` holds moves that must be made regardless of balance: dead
   and removed brokers, racks, replication factors, offline log dirs, demoted leaders, missing replicas. ``relieve``
   takes load off brokers that are nearly full or, by a known growth, soon will be. ``even_out`` is the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kafka_assignors.arrays import ABSENT, Flags, Floats, Ints
from kafka_rebalance.cluster_arrays.bands import BAND_ROUNDING
from kafka_rebalance.cluster_arrays.problem import Problem, broker_loads
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.options.plan_options import Preference
from kafka_rebalance.planner.bounds import lower_bounds, raised
from kafka_rebalance.planner.scales import candidates
from kafka_rebalance.planner.solution import Bounds
from kafka_rebalance.plans.dead_band import imbalance, worst_deviation
from kafka_rebalance.plans.draft import (
    Bands,
    Draft,
    Outcome,
    bands_of,
    empty_draft,
    met_bands,
    outcome_of,
    reached,
    total_bytes,
)
from kafka_rebalance.plans.explain import hard_reasons, over_caps
from kafka_rebalance.plans.params import StepParams
from kafka_rebalance.plans.parts import certificate_of
from kafka_rebalance.plans.plan import Step, StepCost, StepKind, StepOutcome, Verdict
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.plans.state import PlanState
from kafka_rebalance.resources import LEADER_CARRIED, ONLY_LEADERS
from kafka_rebalance.scoring.scores import skew

ORDER = tuple(StepKind)
REPAIRS = frozenset(
    {
        FactCode.RAISES_REPLICATION_FACTOR,
        FactCode.LOWERS_REPLICATION_FACTOR,
        FactCode.SEPARATES_RACKS,
        FactCode.LEAVES_FORBIDDEN_BROKER,
        FactCode.LEAVES_OFFLINE_LOG_DIR,
        FactCode.LEAVES_BROKER,
        FactCode.LEAVES_DEMOTED_LEADER,
    }
)


class ElectFirst:
    name = "elect"

    def applies(self, state: PlanState) -> bool:
        """Not where an option counts leader changes."""
        options = state.options
        is_counted = options.max_leader_changes is not None or options.prefer == Preference.LEADERS
        return state.is_open and not is_counted and not options.preferred_election

    def run(self, state: PlanState) -> PlanState:
        problem = state.problem
        elected = electable(state.request, problem)
        if np.array_equal(elected, problem.leader) or not _is_more_even(problem, elected):
            return state
        return replace(state, problem=replace(problem, leader=elected), today=problem)


def electable(request: PlanRequest, problem: Problem) -> Ints:
    """Leaders after a preferred election today: the first replica where in sync."""
    first = request.partitions.placement.replicas[request.rows, 0]
    is_first = problem.replicas[:, 0] == first
    may = is_first & candidates(problem, problem.replicas)[:, 0] & ~request.partitions.laggards[request.rows, 0]
    may &= ~problem.pinned & (problem.leader != ABSENT)
    return np.where(may, first, problem.leader).astype(np.int32)


def _is_more_even(problem: Problem, elected: Ints) -> bool:
    bands = bands_of(problem)
    today = broker_loads(problem, problem.replicas, problem.leader)
    after = broker_loads(problem, problem.replicas, elected)
    is_lifted = after > np.maximum(problem.limit, today) * (1 + BAND_ROUNDING)
    gain = imbalance(bands, today, problem.stays) - imbalance(bands, after, problem.stays)
    return gain > BAND_ROUNDING and not bool(is_lifted[problem.stays].any())


class OrderSteps:
    name = "steps"

    def applies(self, state: PlanState) -> bool:
        return state.verdict is Verdict.REBALANCE and bool(len(state.draft))

    def run(self, state: PlanState) -> PlanState:
        return replace(state, step_of=steps_of(state.request, state.problem, state.draft, state.params.steps))


class StopAtStep:
    name = "stop"

    def applies(self, state: PlanState) -> bool:
        """Inside the dead band also after a step that relieves, if no broker is above where relief ends."""
        is_requested = state.options.at in set(StepKind)
        return state.step_of is not None and (is_requested or (state.only_relieves and _relieves(state.step_of)))

    def run(self, state: PlanState) -> PlanState:
        assert state.step_of is not None
        last = ORDER.index(StepKind(state.options.at or StepKind.RELIEVE))
        later = np.flatnonzero(state.step_of > last)
        if not len(later):
            return state
        left, kept = state.draft.chosen(later), state.draft.without(later)
        if state.options.at is None and not _may_end(state, kept):
            return state
        stops = fact(
            FactCode.STOPS_AT_STEP,
            step=ORDER[last].value,
            is_asked=state.options.at is not None,
            left_replica_moves=int(left.copies.sum()),
            left_bytes=total_bytes(left.bytes_forward()),
            left_leader_changes=int(left.changes_leader.sum()),
        )
        reasons = (*state.reasons, stops)
        if not len(kept):
            return state.decided(Verdict.NOTHING_TO_DO, (stops, *state.reasons))
        step_of = np.delete(state.step_of, later)
        earlier = state.bounds or state.earlier
        return replace(state, draft=kept, step_of=step_of, reasons=reasons, bounds=None, earlier=earlier)


def _may_end(state: PlanState, kept: Draft) -> bool:
    """Whether ``kept`` leaves no broker above both today's load and where relief ends, and all in the dead band."""
    request, within = state.request, state.options.band or 0.0
    outcome, most = outcome_of(request, kept), _relieved_most(request, state.problem)
    if _is_over(request, outcome.after, np.maximum(most, outcome.before)):
        return False
    fair = request.problem(within, relieves=False) if request.relieved_to else state.problem
    before, after = (
        max(_off(fair, load, within) for load in states) for states in (outcome.states_before, outcome.states_after)
    )
    return after <= max(state.options.dead_band, before) * (1 + BAND_ROUNDING)


def _off(problem: Problem, load: Floats, within: float) -> float:
    worst = worst_deviation(problem, load, within)
    return 0.0 if worst is None else abs(worst.ratio - 1)


def _relieved_most(request: PlanRequest, problem: Problem) -> Floats:
    """float64[B, D]: where relief ends: ``relieved_to`` of a known capacity, the band of an unknown one; else inf."""
    most = np.full(problem.band_high.shape, np.inf)
    for name, share in request.relieved_to.items():
        d, limit = request.resources.index(name), request.brokers.arrays.limit[name]
        most[:, d] = np.where(np.isfinite(limit), share * limit, problem.band_high[:, d])
    return most


def _is_over(request: PlanRequest, load: Floats, most: Floats) -> bool:
    return bool((load > most * (1 + BAND_ROUNDING))[request.brokers.arrays.stays].any())


def _relieves(step_of: Ints) -> bool:
    return bool((step_of == ORDER.index(StepKind.RELIEVE)).any())


def steps_of(request: PlanRequest, problem: Problem, draft: Draft, params: StepParams) -> Ints:
    """Index in ``ORDER`` of each move's step."""
    step = np.full(len(draft), ORDER.index(StepKind.EVEN_OUT), dtype=np.int32)
    if request.options.asks_beyond_bands:  # the request holds only at the end
        return step
    step[draft.is_election] = ORDER.index(StepKind.ELECT)
    repairs = np.array([code in REPAIRS for code in hard_reasons(request, draft)], dtype=np.bool_)
    repairs |= request.partitions.under_replicated[draft.row] & (draft.copies > 0)
    step[repairs & ~draft.is_election] = ORDER.index(StepKind.REPAIR)
    whole = outcome_of(request, draft)
    most = np.maximum(_relieved_most(request, problem), np.maximum(whole.before, whole.after))
    _add_relief(request, draft, step, most, params)
    if not request.options.preferred_election and not _evens_out(
        request, problem, draft.chosen(np.flatnonzero(step == 0))
    ):
        step[step == 0] = len(ORDER) - 1
    return _joined(request, draft, step, most)


def _evens_out(request: PlanRequest, problem: Problem, elections: Draft) -> bool:
    if not len(elections):
        return False
    bands, outcome = bands_of(problem), outcome_of(request, elections)
    worst = [
        max(imbalance(bands, load, problem.stays) for load in states)
        for states in (outcome.states_before, outcome.states_after)
    ]
    return worst[1] < worst[0] - BAND_ROUNDING


def _add_relief(request: PlanRequest, draft: Draft, step: Ints, most: Floats, params: StepParams) -> None:
    """Moves off brokers that are nearly full or soon will be, and off those that this would fill or lift above
    ``most``. A broker to which these bring as much is not relieved.
    """
    relieve, rest = ORDER.index(StepKind.RELIEVE), ORDER.index(StepKind.EVEN_OUT)
    before = _after(request, draft, step < relieve)
    full = _days_to_full(request, before, params) < np.inf
    while full.any():
        relieved = np.zeros_like(full)
        more = full
        while (more & ~relieved).any():
            relieved |= more
            step[(step == rest) & _takes_off(draft, relieved, request.resources)] = relieve
            after = _after(request, draft, step <= relieve)
            more = (_days_to_full(request, after, params) < np.inf) | (after > most * (1 + BAND_ROUNDING))
        falls = _after(request, draft, step <= relieve) < before * (1 - BAND_ROUNDING)
        if falls[full].all():
            return
        full &= falls
        step[step == relieve] = rest


def _after(request: PlanRequest, draft: Draft, done: Flags) -> Floats:
    return outcome_of(request, draft.chosen(np.flatnonzero(done))).after


def needs_relief(request: PlanRequest, params: StepParams) -> Flags:
    """bool[B, D]: brokers that are nearly full, where moves can help, or whose disk soon will be."""
    days = _days_to_full(request, outcome_of(request, empty_draft(request)).before, params)
    helps = np.array([name in request.relieved_to for name in request.resources], dtype=np.bool_)
    return np.asarray(np.isfinite(days) | ((days == -np.inf) & helps))


def relieves(request: PlanRequest, outcome: Outcome, params: StepParams) -> bool:
    """Whether a broker that needs relief gets less."""
    falls = outcome.after < outcome.before * (1 - BAND_ROUNDING)
    return bool((needs_relief(request, params) & falls).any())


def needs_no_gain(request: PlanRequest, outcome: Outcome, params: StepParams) -> bool:
    """Whether moves need not even anything out: for hard rules, caps, relief, or a requested election."""
    is_due = bool(request.hard) or request.options.preferred_election
    return is_due or bool(over_caps(request, outcome.before_by_resource)) or relieves(request, outcome, params)


def _days_to_full(request: PlanRequest, loads: Floats, params: StepParams) -> Floats:
    """float64[B, D]: -inf for remaining brokers above ``full_share`` of capacity or a cap; else the days until a disk
    is, if its growth is known and they are within the forecast; else inf.
    """
    stays, days = request.brokers.arrays.stays, np.full(loads.shape, np.inf)
    for d, name in enumerate(request.resources):
        load, most = loads[:, d], _most(request, name, request.params.full_share)
        is_full = stays & (load > most * (1 + BAND_ROUNDING))
        days[is_full, d] = -np.inf
        if name == "disk":
            growth = _growth(request)
            fills = stays & ~is_full & (load + params.forecast_days * growth > most * (1 + BAND_ROUNDING))
            days[fills, d] = (most - load)[fills] / growth[fills]
    return days


def _growth(request: PlanRequest) -> Floats:
    """float64[B]: bytes a day; nan where unknown."""
    given = request.options.disk_growth
    return np.array([given.get(broker.id, np.nan) for broker in request.brokers.brokers], dtype=np.float64)


def most_urgent(request: PlanRequest, draft: Draft, step_of: Ints, params: StepParams) -> Flags:
    """bool[M]: moves of ``relieve`` that come before its others, where some disks fill up later: those off full
    brokers, else off the disk that is full first.
    """
    relieve = ORDER.index(StepKind.RELIEVE)
    if not request.options.disk_growth or not (step_of == relieve).any():
        return np.zeros(len(draft), dtype=np.bool_)
    days = _days_to_full(request, _after(request, draft, step_of < relieve), params)
    first = (days < np.inf) & (days == days.min())
    is_first = (step_of == relieve) & _takes_off(draft, first, request.resources)
    return np.asarray(is_first & np.isfinite(days[~first]).any())


def forecast_notes(request: PlanRequest, draft: Draft, step_of: Ints, params: StepParams) -> tuple[Fact, ...]:
    """Return the disks that ``relieve`` takes load off before they are full, the first of them by name."""
    relieve = ORDER.index(StepKind.RELIEVE)
    if "disk" not in request.resources or not (step_of == relieve).any():
        return ()
    before, after = (_after(request, draft, done) for done in (step_of < relieve, step_of <= relieve))
    days = np.where(after < before, _days_to_full(request, before, params), np.inf)
    d = request.resources.index("disk")
    later = np.isfinite(days[:, d])
    if not later.any():
        return ()
    b = int(np.where(later, days[:, d], np.inf).argmin())
    capacity = float(request.brokers.arrays.limit["disk"][b])
    return (
        fact(
            FactCode.DISKS_FILL_SOON,
            broker=request.brokers.brokers[b].id,
            growth_bytes_per_day=request.options.disk_growth[request.brokers.brokers[b].id],
            days=float(days[b, d]),
            load=float(before[b, d]),
            load_after=float(after[b, d]),
            most=float(_most(request, "disk", request.params.full_share)[b]),
            capacity=capacity if np.isfinite(capacity) else None,
            disks=int(later.sum()),
            horizon_days=params.forecast_days,
            full_brokers=int((days == -np.inf).any(axis=1).sum()),
        ),
    )


def _most(request: PlanRequest, name: str, full_share: float) -> Floats:
    limit = request.brokers.arrays.limit.get(name, np.full(len(request.brokers.brokers), np.inf))
    return np.minimum(full_share * limit, request.caps.get(name, np.inf))


def _takes_off(draft: Draft, full: Flags, resources: tuple[str, ...]) -> Flags:
    of_replicas = np.array([name not in ONLY_LEADERS for name in resources], dtype=np.bool_)
    of_leaders = np.array([name in LEADER_CARRIED for name in resources], dtype=np.bool_)
    loses_replica = np.asarray(full[:, of_replicas].any(axis=1))
    loses_lead = np.asarray(full[:, of_leaders].any(axis=1))
    takes = (draft.is_dropped & loses_replica[np.maximum(draft.start, 0)]).any(axis=1)
    leads = draft.leader_from >= 0
    takes |= draft.changes_leader & leads & loses_lead[np.maximum(draft.leader_from, 0)]
    return np.asarray(takes)


def _joined(request: PlanRequest, draft: Draft, step: Ints, most: Floats) -> Ints:
    """Join steps after which a broker would exceed its capacity and today's load, or after relief ``most``. Elections
    join the last step, others the next one.
    """
    last, relieve = len(ORDER) - 1, ORDER.index(StepKind.RELIEVE)
    before = outcome_of(request, empty_draft(request)).before
    for at in range(last):
        if not (step == at).any():
            continue
        done = draft.chosen(np.flatnonzero(step <= at))
        is_lifted = at == relieve and _is_over(request, outcome_of(request, done).after, most)
        if not is_lifted and not _overfills(request, done, before):
            continue
        later = step[step > at]
        to = last if at == 0 or not len(later) else int(later.min())
        step = np.where(step == at, to, step).astype(np.int32)
    return step


def _overfills(request: PlanRequest, done: Draft, before: Floats) -> bool:
    outcome = outcome_of(request, done)
    for d, name in enumerate(outcome.resources):
        most = request.disk_limit if name == "disk" else request.brokers.arrays.limit.get(name, np.inf)
        most = np.minimum(most, request.caps.get(name, np.inf))
        over = outcome.after[:, d] > np.maximum(most, before[:, d]) * (1 + BAND_ROUNDING)
        if bool((request.brokers.arrays.stays & over).any()):
            return True
    return False


def steps_of_plan(state: PlanState, bands: Bands, bounds: Bounds | None) -> tuple[Step, ...]:
    draft, wave_of, step_of = state.draft, state.wave_of, state.step_of
    if not len(draft) or wave_of is None or step_of is None:
        return ()
    steps: list[Step] = []
    before = outcome_of(state.request, empty_draft(state.request)).before
    for at in np.unique(step_of).tolist():
        is_last = at == int(step_of.max())
        done = draft if is_last else draft.chosen(np.flatnonzero(step_of <= at))
        outcome = outcome_of(state.request, done)
        own = draft.chosen(np.flatnonzero(step_of == at))
        numbers = sorted(set((wave_of[step_of == at]).tolist()))
        copied = float(sum(amount or 0 for amount in done.bytes_forward()))
        proved = bounds if is_last else _bounds_of_step(state, outcome, bands, bounds, copied)
        is_known = total_bytes(done.bytes_forward()) is not None
        # Widened bands are rounded multiples of the mean, which may lower the bound a little.
        sure = 1.0 if is_last else 1.0 - state.params.steps.bound_rounding
        least = 0.0 if proved is None else min(sure * proved.bytes.value, copied)
        steps.append(
            Step(
                kind=ORDER[at],
                waves=tuple(number + 1 for number in numbers),
                cost=_cost(own, [state.waves[number].seconds for number in numbers]),
                resources=_outcomes(state.request, bands, before, outcome),
                lower_bound_bytes=least if is_known else None,
                gap=(copied - least) / least if is_known and least > 0 else 0.0 if is_known and copied <= 0 else None,
                certificate={} if is_last else certificate_of(state.request, state.problem, proved),
            )
        )
        before = outcome.after
    return tuple(steps)


def _cost(own: Draft, seconds: Sequence[float | None]) -> StepCost:
    """Return the sums of a step's moves; unknown where a wave's time is."""
    return StepCost(
        replica_moves=int(own.copies.sum()),
        bytes=total_bytes(own.bytes_forward()),
        leader_changes=int(own.changes_leader.sum()),
        seconds=None if None in seconds else float(sum(second or 0.0 for second in seconds)),
    )


def _bounds_of_step(
    state: PlanState, outcome: Outcome, bands: Bands, bounds: Bounds | None, copied: float
) -> Bounds | None:
    if copied <= 0 or not state.is_possible:
        return None
    low, high = met_bands(state.request, outcome, bands)
    wider, params = replace(state.problem, band_low=low, band_high=high), state.params.solve
    prices = None if bounds is None or bounds.certificate is None else bounds.certificate.prices
    proved = lower_bounds(wider, prices=prices, params=params.bounds)
    return proved if copied <= proved.bytes.value * (1 + params.gaps.near) else raised(wider, proved, params.bounds)


def _fullest(level: Floats) -> int:
    """Rounding differences are ties."""
    return int((level >= level.max() * (1 - BAND_ROUNDING)).argmax())


def _outcomes(request: PlanRequest, bands: Bands, before: Floats, outcome: Outcome) -> tuple[StepOutcome, ...]:
    ids, stays = request.brokers.arrays.ids.tolist(), request.brokers.arrays.stays
    results = []
    for d, name in enumerate(outcome.resources):
        capacity = request.brokers.arrays.capacity.get(name, np.ones(len(ids)))
        was, now = before[:, d], outcome.after[:, d]
        first, last = (_fullest(np.where(stays, load / capacity, 0.0)) for load in (was, now))
        results.append(
            StepOutcome(
                resource=name,
                skew_before=skew(was[stays], capacity[stays]),
                skew_after=skew(now[stays], capacity[stays]),
                fullest_before=ids[first],
                load_before=float(was[first]),
                fullest_after=ids[last],
                load_after=float(now[last]),
                widened_to=reached(bands, now, d, capacity, stays),
            )
        )
    return tuple(results)
