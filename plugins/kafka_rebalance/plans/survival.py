"""The stage ``survive`` (``--survive``): no broker above its capacity after the loss of any broker or rack."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from kafka_assignors.arrays import ABSENT, Flags, Floats, Longs
from kafka_rebalance.cluster_arrays.bands import distinct_racks
from kafka_rebalance.cluster_arrays.problem import Problem, columns_of
from kafka_rebalance.errors import InfeasibleError, UsageError
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.planner.params import SurviveParams
from kafka_rebalance.planner.scales import resource_scale
from kafka_rebalance.planner.survive import Allowance, Change, LossArrays, LossState, survive
from kafka_rebalance.plans.budget import keeps_hours
from kafka_rebalance.plans.dead_band import evens_out
from kafka_rebalance.plans.draft import Draft, bands_of, draft_of, empty_draft, outcome_of, placement_after
from kafka_rebalance.plans.explain import MoveFacts, over_caps
from kafka_rebalance.plans.failures import LOADED, Loss, in_service, losses_of, standing, with_follower_order
from kafka_rebalance.plans.params import PlanParams
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.plans.state import PlanState
from kafka_rebalance.resources import in_a_sentence
from kafka_rebalance.scoring.placement_scores import moved_loads, successors

# Only unpinned partitions with all replicas in sync may change: for others the next leader is unknown. Without any
# known loss the option is refused.


def loss_of(plan_request: PlanRequest) -> Loss:
    losses = losses_of(plan_request, in_service(plan_request))
    return losses[plan_request.options.survive or "broker"]


def loss_state_of(plan_request: PlanRequest, problem: Problem, draft: Draft) -> LossState:
    """State in snapshot rows under all losses. O(P·W)."""
    serves, loss = in_service(plan_request), loss_of(plan_request)
    outcome = outcome_of(plan_request, draft)
    placed = standing(plan_request, draft, outcome.after_by_resource, serves)
    whole, brokers = plan_request.partitions.placement, plan_request.brokers.arrays
    width = placed.replicas.shape[1]
    today = np.full((len(whole.replicas), width), ABSENT, dtype=np.int32)
    today[:, : whole.replicas.shape[1]] = whole.replicas
    rf = (placed.replicas >= 0).sum(axis=1).astype(np.int32)
    columns = columns_of(whole.loads, rf, plan_request.resources)
    guarded = [columns.resources.index(name) for name in placed.base]
    capacity = np.stack([brokers.capacity[name] for name in placed.base], axis=1)
    arrays = LossArrays(
        group=loss.group,
        groups=len(loss.names),
        serves=serves,
        rack=distinct_racks(brokers.rack),
        guarded=np.array(guarded, dtype=np.int64),
        capacity=np.where(capacity > 0, capacity, np.inf),
        follower=np.nan_to_num(columns.follower_load),
        extra=np.nan_to_num(columns.leader_extra),
        low=problem.band_low,
        high=problem.band_high,
        limit=problem.limit,
        scale=resource_scale(problem),
        stays=brokers.stays,
        takes_replicas=brokers.takes_replicas,
        takes_leaders=brokers.takes_leaders,
        keeps_leaders=brokers.keeps_leaders,
        today=today,
        today_leader=whole.leader,
        may_change=_may_change(plan_request, draft),
        sets=whole.broker_sets,
        size=np.nan_to_num(plan_request.partitions.size),
    )
    heirs = successors(placed.replicas, placed.able, placed.leader, loss.group)
    takeover_loads = [
        moved_loads(placed.leader, heirs, loss.group, placed.extra[name], len(loss.names)) for name in placed.base
    ]
    return LossState.of(arrays, (placed.replicas, placed.leader), outcome.after, np.stack(takeover_loads, axis=2))


def _may_change(plan_request: PlanRequest, draft: Draft) -> Flags:
    partitions, brokers = plan_request.partitions, plan_request.brokers.arrays
    replicas, leader, _ = placement_after(plan_request, draft)
    may = np.zeros(len(replicas), dtype=np.bool_)
    may[plan_request.rows] = ~plan_request.pinned
    on_leaving = ((replicas >= 0) & ~brokers.stays[replicas]).any(axis=1)
    if partitions.placement.must_leave is not None:
        may &= ~partitions.placement.must_leave.any(axis=1)
    return np.asarray(may & ~partitions.under_replicated & ~partitions.immovable & ~on_leaving & (leader != ABSENT))


def untouched(plan_request: PlanRequest, problem: Problem) -> LossState:
    return loss_state_of(plan_request, problem, empty_draft(plan_request))


def require_losses_known(plan_request: PlanRequest) -> None:
    """Raises UsageError where no loss, or no capacity that a loss uses, is known."""
    kind = plan_request.options.survive
    if kind is None:
        return
    if kind not in losses_of(plan_request, in_service(plan_request)):
        raise UsageError.at(f"--survive {kind}", "all brokers in service are on one rack", "give --survive broker")
    capacity = plan_request.brokers.arrays.capacity
    if not any(name in capacity and name in plan_request.resources for name in LOADED):
        problem = f"of {in_a_sentence(LOADED)} no load is known with every broker's capacity of it"
        raise UsageError.at(f"--survive {kind}", problem, "give capacities with --capacity")


# Overloads after losses, and a count that proves that no placement helps.
#
# After the loss of a group the others carry at least the leader load of each partition with a replica left, and the
# followers that cannot all be in the group. Example: racks of 100, 100 and 100 MB/s; leaders send 220. Without any rack
# 200 are left: 20 are lacking.


class Proof(Enum):
    """A count of loads, a program over all placements, or none."""

    COUNTED = "counted"
    ALL_TRIED = "all_tried"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Overload:
    """Highest after any loss: the lost group and the broker (None: several together)."""

    lost: str
    broker: int | None
    resource: str
    load: float
    capacity: float

    def fact(self, kind: str, **more: Any) -> Fact:
        args = {"kind": kind, "lost": self.lost, "broker": self.broker, "resource": self.resource}
        return Fact(FactCode.LOSS_NOT_SURVIVED, args | {"load": self.load, "capacity": self.capacity} | more)


def worst_overload(plan_request: PlanRequest, state: LossState) -> Overload | None:
    highest: Overload | None = None
    names, ids = loss_of(plan_request).names, plan_request.brokers.arrays.ids
    for broker in range(len(ids)):
        load, capacity, resource, lost = worst_of(plan_request, state, broker)
        if (
            load >= 0
            and np.isfinite(capacity)
            and (highest is None or load / capacity > highest.load / highest.capacity)
        ):
            highest = Overload(names[lost], int(ids[broker]), resource, load, capacity)
    return highest


def worst_of(plan_request: PlanRequest, state: LossState, broker: int) -> tuple[float, float, str, int]:
    """Highest over its capacity: load, capacity, resource and lost group. A negative load: lost itself each time."""
    ratios = state.ratios(broker)
    lost, r = divmod(int(ratios.argmax()), ratios.shape[1])
    capacity, d = float(state.arrays.capacity[broker, r]), int(state.arrays.guarded[r])
    takeover_load = float(state.load[broker, d] + state.takeover_load[lost, broker, r])
    return (takeover_load if ratios[lost, r] >= 0 else -1.0), capacity, plan_request.resources[d], lost


def counted_overload(plan_request: PlanRequest, state: LossState) -> Overload | None:
    """The largest deficit of all others together; None where they suffice."""
    arrays = state.arrays
    if not arrays.serves[arrays.stays].all():  # an unresponsive broker may carry any load
        return None
    names, highest, worst = loss_of(plan_request).names, None, 1.0
    for group in range(arrays.groups):
        left = arrays.stays & (arrays.group != group)
        must_carry = _least_load(state, group)
        for r, d in enumerate(arrays.guarded.tolist()):
            load, capacity = float(must_carry[d]), float(arrays.capacity[left, r].sum())
            if capacity > 0 and load / capacity > worst * (1 + 1e-9):
                highest, worst = (
                    Overload(names[group], None, plan_request.resources[d], load, capacity),
                    load / capacity,
                )
    return highest


def _least_load(state: LossState, group: int) -> Floats:
    """Of brokers outside the group after its loss, in any placement."""
    arrays = state.arrays
    rf = (state.lists >= 0).sum(axis=1)
    inside = ((state.lists >= 0) & (arrays.group[state.lists] == group)).sum(axis=1)
    size = int((arrays.group == group).sum())
    # A list on two racks stays on two; a group smaller than the list cannot hold all of it.
    is_carried = arrays.may_change & (rf > 1) & ((size < rf) | ((inside > 0) & (inside < rf)))
    outside: Longs = np.where(is_carried, np.maximum(rf - size, 1), 0)
    return np.asarray(arrays.extra[is_carried].sum(axis=0) + (arrays.follower * outside[:, None]).sum(axis=0))


def refuse_a_partition_above_all(plan_request: PlanRequest, state: LossState) -> None:
    """Raises InfeasibleError where one partition's leader load exceeds every capacity."""
    arrays = state.arrays
    if not arrays.stays.any():
        return
    for r, d in enumerate(arrays.guarded.tolist()):
        most = float(arrays.capacity[arrays.stays, r].max())
        weight = np.where(arrays.may_change, arrays.follower[:, d] + arrays.extra[:, d], 0.0)
        row = int(weight.argmax())
        if weight[row] > most * (1 + 1e-9):
            raise InfeasibleError(
                fact(
                    FactCode.PARTITION_ABOVE_LIMIT,
                    partition=plan_request.partitions.placement.name_of(row),
                    resource=plan_request.resources[d],
                    load=float(weight[row]),
                    limit=most,
                    is_capacity=True,
                ),
                fact(FactCode.ADD_CAPACITY, or_smaller_partitions=True),
            )


def cannot_survive(plan_request: PlanRequest, overload: Overload, proof: Proof) -> InfeasibleError:
    options = plan_request.options
    is_limited = proof is not Proof.COUNTED and (options.has_budget or not options.moves_replicas)
    cause = overload.fact(str(options.survive), proof=proof.value, is_limited=is_limited)
    return InfeasibleError(cause, fact(FactCode.ADD_CAPACITY))


# Reasons of moves for survival: each is left out of the plan by itself. If a broker is then overloaded, that is its
# reason, unless it must be made anyway.


def explain_survival(
    plan_request: PlanRequest, problem: Problem, draft: Draft, why: MoveFacts, params: SurviveParams
) -> None:
    if plan_request.options.survive is None or not len(draft):
        return
    state = loss_state_of(plan_request, problem, draft)
    if state.total:
        return
    width = state.lists.shape[1]
    back = np.full((len(draft), width), ABSENT, dtype=np.int32)
    back[:, : draft.start.shape[1]] = draft.start[:, :width]
    at_once = params.changes_at_once(state.arrays.groups * len(state.arrays.guarded))
    for start in range(0, len(draft), at_once):
        at = np.arange(start, min(start + at_once, len(draft)))
        change = Change(draft.row[at], back[at], draft.leader_from[at])
        for move in at[state.effect(change).excess > 0].tolist():
            why.reasons[move], why.worse_without[move] = _facts(plan_request, state, draft, back, move)


def _facts(plan_request: PlanRequest, state: LossState, draft: Draft, back: np.ndarray, move: int) -> tuple[Fact, Fact]:
    without = state.copy()
    without.apply(Change(draft.row[move : move + 1], back[move : move + 1], draft.leader_from[move : move + 1]))
    broker = int((without.excess - state.excess).argmax())
    load, capacity, resource, lost = worst_of(plan_request, without, broker)
    kind, own = str(plan_request.options.survive), set(draft.start[move].tolist()) | set(draft.end[move].tolist())
    # Not others that gain leaders.
    is_touched = kind != "broker" or lost in own
    of = {
        "broker": int(plan_request.brokers.arrays.ids[broker]),
        "resource": resource,
        "lost_kind": kind,
        "lost": str(loss_of(plan_request).names[lost]) if is_touched else None,
    }
    reason = fact(FactCode.KEEPS_WITHIN_CAPACITY, **of)
    return reason, fact(FactCode.ABOVE_CAPACITY, **of, load=float(load), capacity=float(capacity))


# Promises, in order: the draft survives every loss by the simulation of plan.json; it keeps every budget and cap; a
# balance plan that survives is unchanged; if it cannot be changed to, the search starts from today's placement. If both
# fail, InfeasibleError names the loss, the overloaded broker and by how much.


@dataclass(frozen=True, slots=True, eq=False)
class Survival:
    """``reason``: the changes for it."""

    draft: Draft
    reason: Fact


class SurviveLosses:
    name = "survive"

    def applies(self, state: PlanState) -> bool:
        return state.is_possible and state.options.survive is not None

    def run(self, state: PlanState) -> PlanState:
        state.progress("losing every broker" if state.options.survive == "broker" else "losing every rack")
        kept = surviving(state.request, state.problem, state.draft, state.params)
        return state.changed_by_rule(kept.draft, (kept.reason,))


def is_survived(plan_request: PlanRequest, problem: Problem, draft: Draft) -> bool:
    return plan_request.options.survive is None or not loss_state_of(plan_request, problem, draft).total


def surviving(plan_request: PlanRequest, problem: Problem, draft: Draft, params: PlanParams) -> Survival:
    """Raises InfeasibleError where no surviving plan was found."""
    state = loss_state_of(plan_request, problem, draft)
    if not state.total:
        return Survival(draft, _survived_fact(plan_request, worst_overload(plan_request, state)))
    refuse_a_partition_above_all(plan_request, state)
    if (counted := counted_overload(plan_request, state)) is not None:
        raise cannot_survive(plan_request, counted, Proof.COUNTED)
    nearest, is_proved = state, False
    for start in (draft, empty_draft(plan_request)):
        if start is not draft and (not len(draft) or plan_request.hard):
            continue
        begun = loss_state_of(plan_request, problem, start)
        survived = survive(begun, _allowance(plan_request), params.solve.survive)
        candidate, is_proved = survived.state, is_proved or survived.is_proved
        nearest = candidate if candidate.total < nearest.total else nearest
        other = draft_of(plan_request, candidate.lists[plan_request.rows], candidate.leader[plan_request.rows])
        other = _with_needed_orders(plan_request, problem, other)
        if not candidate.total and _is_lawful(plan_request, problem, other, params):
            return Survival(other, _changed(plan_request, worst_overload(plan_request, state), other))
    overload = worst_overload(plan_request, nearest if nearest.total else state)
    assert overload is not None
    raise cannot_survive(plan_request, overload, Proof.ALL_TRIED if is_proved else Proof.NONE)


def _with_needed_orders(plan_request: PlanRequest, problem: Problem, draft: Draft) -> Draft:
    """Without new orders of unchanged lists, if it survives without all of them."""
    orders = np.flatnonzero(draft.is_reorder)
    if not len(orders) or not is_survived(plan_request, problem, bare := draft.without(orders)):
        return draft
    again = with_follower_order(plan_request, bare)
    return again if is_survived(plan_request, problem, again) else bare


def _allowance(plan_request: PlanRequest) -> Allowance:
    options = plan_request.options
    return Allowance(options.max_moves, options.max_move_bytes, options.max_leader_changes, options.moves_replicas)


def _is_lawful(plan_request: PlanRequest, problem: Problem, draft: Draft, params: PlanParams) -> bool:
    outcome = outcome_of(plan_request, draft)
    if over_caps(plan_request, outcome.after_by_resource) or not keeps_hours(plan_request, draft, params):
        return False
    if not is_survived(plan_request, problem, draft):
        return False
    if plan_request.hard or not is_survived(plan_request, problem, empty_draft(plan_request)) or not len(draft):
        return True
    return evens_out(bands_of(problem), outcome, plan_request.brokers.arrays.stays)


def _survived_fact(plan_request: PlanRequest, worst: Overload | None) -> Fact:
    highest = None if worst is None else worst.load / worst.capacity
    resource = None if worst is None else worst.resource
    kind = str(plan_request.options.survive)
    return fact(FactCode.LOSSES_SURVIVED, kind=kind, highest_times_capacity=highest, resource=resource)


def _changed(plan_request: PlanRequest, was: Overload | None, draft: Draft) -> Fact:
    assert was is not None
    kind = str(plan_request.options.survive)
    return fact(
        FactCode.CHANGED_TO_SURVIVE,
        kind=kind,
        replica_moves=int(draft.copies.sum()),
        leader_changes=int(draft.changes_leader.sum()),
        new_orders=int(draft.is_reorder.sum()),
        otherwise=was.fact(kind),
    )


def cannot_be_carried_out(plan_request: PlanRequest, problem: Problem, draft: Draft) -> InfeasibleError:
    overload = worst_overload(plan_request, loss_state_of(plan_request, problem, draft))
    assert overload is not None
    return cannot_survive(plan_request, overload, Proof.NONE)
