"""The stages ``earlier plan``, ``continue`` and ``adapted``: an earlier plan that is not or only partly applied.

An operator wants to see the approved plan again, not an equivalent one. Promises, in order: kept moves fit today's
budget and disks; no replica stays where it must not, nor comes back there; a plan that ends inside the dead band, or
nearly as even as any, is confirmed unchanged; else others are added, if that copies little more than a new plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from kafka_assignors.arrays import ABSENT, Flags, Floats, Ints
from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.cluster_arrays.problem import Problem, broker_loads
from kafka_rebalance.facts import BoundProof, Fact, FactCode, fact
from kafka_rebalance.planner.scales import can_be_led
from kafka_rebalance.planner.solution import Bounds, CostProof, Cover, LowerBound, PlanCost, PriceCertificate, Solution
from kafka_rebalance.planner.solve import solve
from kafka_rebalance.plans.budget import fits_budget, has_room, keeps_hours, lifts, search
from kafka_rebalance.plans.dead_band import evens_out, gained, worst_deviation
from kafka_rebalance.plans.draft import Draft, Outcome, bands_of, draft_of, empty_draft, outcome_of
from kafka_rebalance.plans.explain import over_caps
from kafka_rebalance.plans.option_fit import require_countable_bytes
from kafka_rebalance.plans.params import DEFAULTS, PlanParams
from kafka_rebalance.plans.plan import StepKind, Verdict
from kafka_rebalance.plans.request import PlanRequest, lacks_racks
from kafka_rebalance.plans.state import PlanState, PreviousPlan, Progress
from kafka_rebalance.plans.steps import needs_no_gain
from kafka_rebalance.plans.survival import is_survived
from kafka_rebalance.plans.topic_leaders import has_least_leaders

# Parameters of speed and weighing; all others say what is wanted.
HOW = frozenset((
    "prefer", "slack", "throttle_bytes_per_s", "moves_per_broker", "partitions_per_wave", "max_leader_changes_per_wave",
    "expires_after_hours", "dead_band", "least_gain_per_byte", "capacities", "night_hours",
    "disk_growth", "at",
))  # fmt: skip


class ReadPrevious:
    name = "earlier_plan"

    def applies(self, state: PlanState) -> bool:
        return state.is_open and state.previous is not None

    def run(self, state: PlanState) -> PlanState:
        return replace(state, remaining=what_is_left(state.request, state.problem, state.previous or {}))


class ContinuePrevious:
    name = "continue"

    def applies(self, state: PlanState) -> bool:
        return state.is_open and state.remaining is not None

    def run(self, state: PlanState) -> PlanState:
        assert state.remaining is not None
        request, problem, params = state.request, state.problem, state.params
        kept = continued_plan(request, problem, state.remaining, state.seed, state.progress, params)
        if kept is None or not _may_stand(request, problem, kept, params):
            return state
        require_countable_bytes(request, kept)
        earlier = earlier_prices(request, problem, state.previous or {})
        return state.decided(
            Verdict.REBALANCE,
            (_confirms(state.remaining),),
            draft=kept,
            continues=state.remaining.plan_id,
            earlier=earlier,
        )


class TellAdapted:
    """Says "continued" in place of "confirmed" where the plan ends with other moves than the earlier one has left."""

    name = "adapted"

    def applies(self, state: PlanState) -> bool:
        if state.remaining is None or _confirms(state.remaining) not in state.reasons:
            return False
        moves, left = _moves(state.draft), _moves(_rest(state.request, state.remaining))
        return not (moves == left or (state.options.at is not None and moves < left))

    def run(self, state: PlanState) -> PlanState:
        assert state.remaining is not None
        confirms, remaining = _confirms(state.remaining), state.remaining
        continues = fact(FactCode.PLAN_CONTINUED, plan_id=remaining.plan_id, left_moves=remaining.left)
        return replace(state, reasons=tuple(continues if why == confirms else why for why in state.reasons))


def _moves(draft: Draft) -> set[tuple[int, tuple[int, ...], int]]:
    """Row, replicas and leader of each move."""
    ends = (tuple(broker for broker in end if broker != ABSENT) for end in draft.end.tolist())
    return set(zip(draft.row.tolist(), ends, draft.leader_to.tolist(), strict=True))


def continued_plan(
    plan_request: PlanRequest,
    problem: Problem,
    previous_plan: PreviousPlan,
    seed: int,
    progress: Progress,
    params: PlanParams = DEFAULTS,
) -> Draft | None:
    """The rest of ``previous_plan`` for today; None where it is empty, or a new plan is better. One that stopped at an
    earlier step than today's is not confirmed as it is. Raises InfeasibleError
    where moves that must be made cost more than the budget.
    """
    within, today = plan_request.options.band, broker_loads(problem, problem.replicas, problem.leader)
    if within is not None and not plan_request.hard and _is_inside(problem, today):
        return None
    loads = broker_loads(problem, previous_plan.replicas, previous_plan.leader)
    worst = worst_deviation(problem, loads, within or 0.0)
    allowed = plan_request.options.dead_band if not plan_request.options.is_explicit else within or 0.0
    confirmed = _rest(plan_request, previous_plan)
    holds = not _stops_before(previous_plan.at, plan_request.options.at)
    holds = holds and leaves_nothing_behind(problem, previous_plan.replicas, previous_plan.leader)
    holds &= fits_budget(problem, _cost(confirmed)) and not lifts(problem, loads)
    off = 0.0 if worst is None else abs(worst.ratio - 1)
    if holds and off <= allowed:
        return confirmed
    progress("continuing an earlier plan")
    further = solve(_carried_out(problem, previous_plan, today), seed=seed, params=params.budget.solve)
    least = params.stability.least_gain
    if holds and _is_as_even(plan_request, problem, (today, loads), further, least):
        return confirmed
    fresh = search(problem, seed=seed, params=params.budget.solve, budget=params.budget)
    draft = draft_of(plan_request, _with_lists_of_today(problem, previous_plan, further), further.leader)
    cost = _cost(draft)
    is_kept = fits_budget(problem, cost) and leaves_nothing_behind(problem, further.replicas, further.leader)
    if len(draft) and is_kept and cost.bytes <= params.stability.most_bytes_ratio * fresh.cost.bytes:
        return draft
    is_enough = off <= allowed or (
        plan_request.options.has_budget and _is_as_even(plan_request, problem, (today, loads), fresh, least)
    )
    return confirmed if holds and is_enough else None


def _carried_out(problem: Problem, previous_plan: PreviousPlan, today: Floats) -> Problem:
    """The problem as if the earlier plan were applied: lists that it rewrote begin with their leader. A broker that the
    plan would lift above its capacity is outside its band.
    """
    high = np.minimum(problem.band_high, np.maximum(problem.limit, today))
    replicas, leader, preferred = previous_plan.replicas, previous_plan.leader, problem.preferred
    if preferred is not None:
        preferred = np.where((replicas != problem.replicas).any(axis=1), leader, preferred).astype(np.int32)
    return replace(
        problem, replicas=replicas, leader=leader, preferred=preferred, must_leave=_leaving(problem, replicas),
        own_disk=None, band_high=high, band_low=np.minimum(problem.band_low, high),
    )  # fmt: skip


def _with_lists_of_today(problem: Problem, previous_plan: PreviousPlan, further: Solution) -> Ints:
    """Return the lists of ``further``. Where replicas and leader are today's again it is today's list, since only the
    order would differ.
    """
    is_back = (np.sort(further.replicas, axis=1) == np.sort(problem.replicas, axis=1)).all(axis=1)
    is_back &= (further.leader == problem.leader) & (problem.leader == problem.replicas[:, 0])
    is_back &= (further.replicas != previous_plan.replicas).any(axis=1)
    return np.where(is_back[:, None], problem.replicas, further.replicas).astype(np.int32)


def _leaving(problem: Problem, replicas: Ints) -> Flags | None:
    """``must_leave`` of other lists."""
    if problem.must_leave is None:
        return None
    leaving = np.where(problem.must_leave, problem.replicas, ABSENT)
    return np.asarray((replicas >= 0) & (replicas[:, :, None] == leaving[:, None, :]).any(axis=2))


def _rest(plan_request: PlanRequest, previous_plan: PreviousPlan) -> Draft:
    return draft_of(plan_request, previous_plan.replicas, previous_plan.leader)


def _stops_before(earlier: str | None, now: str | None) -> bool:
    steps = tuple(StepKind)
    return earlier in steps and (now is None or steps.index(StepKind(earlier)) < steps.index(StepKind(now)))


def _confirms(previous_plan: PreviousPlan) -> Fact:
    moves = previous_plan.done + previous_plan.left
    return fact(FactCode.PLAN_CONFIRMED, plan_id=previous_plan.plan_id, done_moves=previous_plan.done, moves=moves)


def _cost(draft: Draft) -> PlanCost:
    copied = float((draft.copies * np.nan_to_num(draft.size)).sum())
    return PlanCost(copied, int(draft.copies.sum()), int(draft.changes_leader.sum()))


def _is_as_even(
    plan_request: PlanRequest, problem: Problem, loads: tuple[Floats, Floats], other: Solution, least: float
) -> bool:
    """``loads`` today and after the kept plan."""
    bands, stays = bands_of(problem), plan_request.brokers.arrays.stays
    best = broker_loads(problem, other.replicas, other.leader)
    _, more = gained(bands, loads[1:], (best,), stays)
    return more < least * gained(bands, loads[:1], (best,), stays)[1]


def _is_inside(problem: Problem, load: Floats) -> bool:
    inside = (load >= problem.band_low * (1 - 1e-9)) & (load <= problem.band_high * (1 + 1e-9))
    return bool(inside[problem.stays].all())


def _may_stand(plan_request: PlanRequest, problem: Problem, draft: Draft, params: PlanParams) -> bool:
    outcome = outcome_of(plan_request, draft)
    is_within = not over_caps(plan_request, outcome.after_by_resource) and not lifts(problem, outcome.after)
    is_within = is_within and keeps_hours(plan_request, draft, params) and has_room(plan_request, draft, params)
    is_led = has_least_leaders(plan_request, problem, draft)
    is_within = is_within and is_led and is_survived(plan_request, problem, draft)
    return is_within and _is_worth_it(plan_request, problem, outcome, params)


def _is_worth_it(plan_request: PlanRequest, problem: Problem, outcome: Outcome, params: PlanParams) -> bool:
    nothing, bands = empty_draft(plan_request), bands_of(problem)
    if not (has_least_leaders(plan_request, problem, nothing) and is_survived(plan_request, problem, nothing)):
        return True
    if plan_request.options.has_budget:  # within a budget all bands count alike
        bands = replace(bands, rank=None)
    is_more_even = evens_out(bands, outcome, plan_request.brokers.arrays.stays)
    return is_more_even or needs_no_gain(plan_request, outcome, params.steps)


def what_is_left(plan_request: PlanRequest, problem: Problem, previous: Mapping[str, Any]) -> PreviousPlan | None:
    """None where it had other options, is fully applied, had no moves, or contradicts the cluster."""
    requested = plan_request.options.document()
    parameters = previous["parameters"]
    if any(parameters.get(name) != requested[name] for name in requested.keys() - HOW) or not previous["moves"]:
        return None
    row_of = {row: at for at, row in enumerate(plan_request.rows.tolist())}
    in_snapshot, index = plan_request.snapshot.row_of, plan_request.brokers.index_of
    replicas, leader = problem.replicas.copy(), problem.leader.copy()
    left = done = 0
    for move in previous["moves"]:
        at = row_of.get(in_snapshot.get((move["topic"], move["partition"]), -1), -1)
        to = [index.get(broker, ABSENT) for broker in move["to"]]
        if at < 0 or ABSENT in to or len(to) > replicas.shape[1] or problem.pinned[at]:
            return None
        today = [replica for replica in problem.replicas[at].tolist() if replica >= 0]
        leads = index.get(move["leader_to"], ABSENT)
        if today == to and int(problem.leader[at]) == leads:
            done += 1
            continue
        start = [index.get(broker, ABSENT) for broker in move["from"]]
        if today not in (start, to) or not _is_lawful(problem, at, today, to, leads):
            return None
        replicas[at] = ABSENT
        replicas[at, : len(to)] = to
        leader[at] = leads
        left += 1
    plan_id, at = previous["plan_id"], parameters.get("at")
    return PreviousPlan(plan_id, replicas, leader, left, done, at) if left else None


def earlier_prices(plan_request: PlanRequest, problem: Problem, previous: Mapping[str, Any]) -> Bounds:
    """Prices and covers of an earlier plan's bound, in today's rows and brokers, without a value: any prices prove some
    bound under today's loads and bands. Raises InvalidInputError for invalid ones.
    """
    try:
        return _earlier_prices(plan_request, problem, previous)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        hint = "give the plan.json as it was written"
        raise InvalidInputError.at(
            "previous plan", "its certificate or proofs are not those of a plan", hint
        ) from error


def _earlier_prices(plan_request: PlanRequest, problem: Problem, previous: Mapping[str, Any]) -> Bounds:
    nothing, zeros = LowerBound(0.0, BoundProof.NOTHING_MOVES), np.zeros(problem.broker_count)
    proof = previous.get("proofs", {}).get("bytes")
    proofs = {}
    if proof is not None:
        covers = (_cover(plan_request, problem, cover) for cover in proof["covers"])
        kept = tuple(cover for cover in covers if cover is not None)
        proofs["bytes"] = CostProof(_prices(plan_request, problem, proof["prices"]), zeros, zeros, 0.0, kept)
    certificate = PriceCertificate(_prices(plan_request, problem, previous.get("certificate", {})), 0.0)
    return Bounds(nothing, nothing, nothing, certificate=certificate, proofs=proofs)


def _prices(plan_request: PlanRequest, problem: Problem, named: Mapping[str, Mapping[str, float]]) -> Floats:
    prices = np.zeros((problem.broker_count, len(problem.resources)))
    for d, name in enumerate(problem.resources):
        for broker, price in named.get(name, {}).items():
            at = plan_request.brokers.index_of.get(int(broker))
            if at is not None:
                prices[at, d] = price
    if not np.isfinite(prices).all():
        raise ValueError("a price is no number")
    return prices


def _cover(plan_request: PlanRequest, problem: Problem, cover: Mapping[str, Any]) -> Cover | None:
    broker = plan_request.brokers.index_of.get(int(cover["broker"]))
    column = problem.column(cover["resource"])
    if broker is None or column is None:
        return None
    row_of, in_snapshot = {row: at for at, row in enumerate(plan_request.rows.tolist())}, plan_request.snapshot.row_of
    gone, come = (
        np.array(
            sorted(
                row_of[in_snapshot[topic, partition]]
                for topic, partitions in cover[side].items()
                for partition in partitions
                if in_snapshot.get((topic, partition), -1) in row_of
            ),
            dtype=np.int64,
        )
        for side in ("gone", "come")
    )
    price = float(cover["price"])
    if not 0 <= price < np.inf:
        raise ValueError("a price of a cover is below 0 or no number")
    return Cover(broker, column, gone, come, price)


def _is_lawful(problem: Problem, row: int, today: list[int], to: list[int], leader: int) -> bool:
    new = [broker for broker in to if broker not in today]
    return (
        bool((problem.takes_replicas & problem.sets.brokers[problem.sets.of_partition[row]])[new].all())
        and bool(problem.stays[to].all())
        and bool(problem.takes_leaders[leader] or problem.keeps_leaders[leader])
    )


def differs(problem: Problem, replicas: Ints, leader: Ints) -> bool:
    return bool((replicas != problem.replicas).any() or (leader != problem.leader).any())


def leaves_nothing_behind(problem: Problem, replicas: Ints, leader: Ints) -> bool:
    """Whether the placement keeps all hard rules of today, where partitions may move."""
    free = ~problem.pinned
    is_replica = replicas >= 0
    on_leaving = is_replica & ~problem.stays[replicas]
    leaving = _leaving(problem, replicas)
    offline = np.zeros_like(is_replica) if leaving is None else leaving
    broken = (on_leaving | offline).any(axis=1) | (is_replica.sum(axis=1) != problem.target_rf)
    broken |= lacks_racks(replicas, problem, problem.target_rf, problem.sets) & problem.moves_replicas
    broken |= (leader != ABSENT) & ~problem.keeps_leaders[leader] & can_be_led(problem)
    return not bool(broken[free].any())
