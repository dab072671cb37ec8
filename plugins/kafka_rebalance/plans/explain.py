"""Facts that explain a plan: the reason of each move, of each unmet band, and the binding cap or budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from types import MappingProxyType
from typing import Any

import numpy as np

from kafka_assignors.arrays import ABSENT, Flags, Floats, Ints, Longs
from kafka_rebalance.cluster_arrays.bands import BAND_ROUNDING
from kafka_rebalance.cluster_arrays.problem import BrokerSets, Problem, broker_loads, columns_of
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.planner.infeasible import rack_limit_cause
from kafka_rebalance.planner.solution import Bounds, Widening
from kafka_rebalance.plans.dead_band import Deviation, imbalance
from kafka_rebalance.plans.draft import Bands, Draft, Outcome, reached, total_bytes
from kafka_rebalance.plans.plan import BudgetClaim, Wave
from kafka_rebalance.plans.request import PlanRequest, lacks_racks
from kafka_rebalance.plans.waves import by_night, fits_night
from kafka_rebalance.resources import LEADER_CARRIED
from kafka_rebalance.snapshot.model import BrokerState

# Hard caps on a resource of a broker, kept by any plan: equal for all (``--cap replicas=4000``), or what ``--headroom``
# leaves of each capacity. They hold after the plan; while both copies of a replica exist, a disk may hold more.


@dataclass(frozen=True, slots=True)
class OverCap:
    """Furthest above its cap, as a multiple of the cap."""

    resource: str
    broker: int
    load: float
    cap: float


def over_caps(plan_request: PlanRequest, loads: Mapping[str, Floats]) -> tuple[OverCap, ...]:
    stays = plan_request.brokers.arrays.stays
    broken_caps = []
    for resource, caps in sorted(plan_request.caps.items()):
        if resource in loads and stays.any():
            broker = int(np.where(stays, loads[resource] / caps, -np.inf).argmax())
            load, cap = float(loads[resource][broker]), float(caps[broker])
            if load > cap * (1 + BAND_ROUNDING):
                broken_caps.append(OverCap(resource, broker, load, cap))
    return tuple(broken_caps)


def refuse_too_much_for_the_caps(plan_request: PlanRequest, problem: Problem) -> None:
    """Raises InfeasibleError where all brokers at their caps (or those of some racks) carry too little, or one replica
    is too large.
    """
    total = (problem.follower_load * problem.target_rf[:, None] + problem.leader_extra).sum(axis=0)
    staying, caps = int(problem.stays.sum()), plan_request.caps
    for d, resource in enumerate(problem.resources):
        needed = float(total[d])
        if resource in caps and staying:
            _refuse_a_partition_above(problem, d, float(caps[resource][problem.stays].max()))
        if resource not in caps or needed <= float(caps[resource][problem.stays].sum()) * (1 + BAND_ROUNDING):
            continue
        if resource in plan_request.options.headroom:
            raise _too_little_headroom(plan_request, resource, needed, problem.stays)
        raise InfeasibleError(
            fact(
                FactCode.LIMITS_TOO_LOW,
                resource=resource,
                needed=needed,
                limit=plan_request.options.caps[resource] * staying,
                brokers=staying,
            ),
            fact(FactCode.RAISE_LIMIT, resource=resource, limit=needed / staying),
        )
    for resource, most in sorted(caps.items()):
        if (cause := rack_limit_cause(problem, resource, most * (1 + BAND_ROUNDING))) is not None:
            raise cause.error()


def _too_little_headroom(plan_request: PlanRequest, resource: str, needed: float, stays: Flags) -> InfeasibleError:
    most = float(plan_request.caps[resource][stays].sum())
    capacity = float(plan_request.brokers.arrays.capacity[resource][stays].sum())
    return InfeasibleError(
        fact(
            FactCode.LIMITS_TOO_LOW,
            resource=resource,
            needed=needed,
            limit=most,
            brokers=int(stays.sum()),
            headroom=float(plan_request.options.headroom[resource]),
        ),
        fact(FactCode.LOWER_HEADROOM, headroom=max(1 - needed / capacity, 0.0)),
    )


def _refuse_a_partition_above(problem: Problem, d: int, cap: float) -> None:
    weight = problem.follower_load[:, d] + np.where(problem.leader >= 0, problem.leader_extra[:, d], 0.0)
    if not len(weight) or float(weight.max()) <= cap * (1 + BAND_ROUNDING):
        return
    resource, row = problem.resources[d], int(weight.argmax())
    largest = float(weight[row])
    raise InfeasibleError(
        fact(
            FactCode.PARTITION_ABOVE_LIMIT, partition=problem.name_of(row), resource=resource, load=largest, limit=cap
        ),
        fact(FactCode.RAISE_LIMIT, resource=resource, limit=largest, or_smaller_partitions=True),
    )


def require_within_caps(plan_request: PlanRequest, over: tuple[OverCap, ...], *, is_proved: bool = False) -> None:
    """Raises InfeasibleError naming the first of ``over``."""
    if over:
        is_limited = plan_request.options.has_budget
        cause = above_cap(plan_request, over[0], proof="whole_numbers" if is_proved else "none", is_limited=is_limited)
        raise InfeasibleError(cause, fact(FactCode.RAISE_LIMIT, resource=over[0].resource))


def above_cap(plan_request: PlanRequest, over: OverCap, **args: Any) -> Fact:
    broker = int(plan_request.brokers.arrays.ids[over.broker])
    return fact(FactCode.BROKER_ABOVE_CAP, broker=broker, resource=over.resource, load=over.load, cap=over.cap, **args)


# Repair of each move: the broker and resource that are further from their share without it; of several, the one
# furthest from its share before, ties to the source.


class Repair(IntEnum):
    RELIEVES = 0  # above its share before
    FILLS = 1  # below its share before
    MAKES_UP = 2  # other moves take it past its share
    NONE = 3  # no broker is further from its share without this move


@dataclass(frozen=True, slots=True, eq=False)
class Ratios:
    """Load over fair share, before and after."""

    before: Floats
    after: Floats
    share: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Repaired:
    """The broker, the resource (a column), a ``Repair``, and load over share without the move."""

    broker: Longs
    resource: Longs
    kind: Longs
    without: Floats


def what_is_repaired(plan_request: PlanRequest, draft: Draft, resources: tuple[str, ...], ratios: Ratios) -> Repaired:
    """The strongest repair of each move. O(M·W·D)."""
    broker = np.concatenate([draft.start, draft.end], axis=1)
    change = _change(plan_request, draft, broker, resources)
    broker_index = np.maximum(broker, 0)
    before, after, share = ratios.before[broker_index], ratios.after[broker_index], ratios.share[broker_index]
    without = after - np.divide(change, share, out=np.zeros_like(change), where=share > 0)
    distance = np.where(change < 0, before - 1, 1 - before)
    worse = np.abs(without - 1) - np.abs(after - 1)
    is_repair = worse > BAND_ROUNDING
    best = _first(np.where(is_repair, distance, -np.inf))
    nothing = ~is_repair.any(axis=(1, 2))
    best[nothing] = _first(np.where(change[nothing] != 0, worse[nothing], -np.inf))
    slot, d = np.divmod(best, len(resources))
    rows = np.arange(len(draft))
    kind = np.where(change[rows, slot, d] < 0, Repair.RELIEVES, Repair.FILLS)
    kind[distance[rows, slot, d] < 0] = Repair.MAKES_UP
    kind[nothing] = Repair.NONE
    return Repaired(broker_index[rows, slot], d, kind, without[rows, slot, d])


def _first(rank: Floats) -> Longs:
    return np.asarray(rank.reshape(len(rank), rank.shape[1] * rank.shape[2]).argmax(axis=1))


def _change(plan_request: PlanRequest, draft: Draft, broker: Ints, resources: tuple[str, ...]) -> Floats:
    """A broker of both lists counts once."""
    placement = plan_request.partitions.placement
    factor = np.ones(len(placement.replicas), dtype=np.int32)
    factor[draft.row] = (draft.end >= 0).sum(axis=1)
    columns = columns_of(placement.loads, factor, resources)
    arrives = np.concatenate([np.zeros_like(draft.is_dropped), draft.is_new], axis=1).astype(np.float64)
    leaves = np.concatenate([draft.is_dropped, np.zeros_like(draft.is_new)], axis=1)
    is_first = np.concatenate([np.ones_like(draft.is_dropped), draft.is_new], axis=1) & (broker >= 0)
    leads = (broker == draft.leader_to[:, None]).astype(np.float64) - (broker == draft.leader_from[:, None])
    replicas = columns.follower_load[draft.row][:, None, :] * (arrives - leaves)[:, :, None]
    leaders = columns.leader_extra[draft.row][:, None, :] * (leads * is_first)[:, :, None]
    return np.asarray(replicas + leaders)


# The reason of a move is the strongest of: a replica that cannot stay, replication factor, racks, ``what_is_repaired``.
# ``worse_without`` gives the broker's level without this one move. O(M·W·D).


_REPAIRS = {
    Repair.RELIEVES: FactCode.RELIEVES_BROKER,
    Repair.FILLS: FactCode.FILLS_BROKER,
    Repair.MAKES_UP: FactCode.MAKES_UP_FOR_MOVES,
    Repair.NONE: FactCode.ONE_OF_SEVERAL,
}


@dataclass(frozen=True, slots=True, eq=False)
class MoveFacts:
    """A stronger reason overwrites both."""

    reasons: list[Fact]
    worse_without: list[Fact]


def explain_moves(
    plan_request: PlanRequest, draft: Draft, outcome: Outcome, bands: Bands, within: float | None
) -> MoveFacts:
    ratios = _ratios(plan_request, outcome, bands, within)
    repaired = what_is_repaired(plan_request, draft, outcome.resources, ratios)
    why = _balance_facts(plan_request, outcome, ratios, repaired)
    _add_hard_reasons(plan_request, draft, why)
    return why


def explain_brokers(
    plan_request: PlanRequest, draft: Draft, outcome: Outcome, bands: Bands, within: float | None
) -> tuple[Fact, ...]:
    """Largest changes first; a level is of the resource furthest from the share today."""
    ratios = _ratios(plan_request, outcome, bands, within)
    tally, is_sized = _tally(draft, len(plan_request.brokers.brokers)), "disk" in outcome.resources
    rows = []
    for b in np.flatnonzero(tally.any(axis=1)).tolist():
        broker = plan_request.brokers.brokers[b]
        out, into, out_bytes, in_bytes, lost, won = tally[b].tolist()
        d = int(np.abs(ratios.before[b] - 1).argmax())
        change = fact(
            FactCode.BROKER_CHANGES,
            broker=broker.id,
            replicas_out=int(out),
            replicas_in=int(into),
            bytes_out=out_bytes if is_sized else None,
            bytes_in=in_bytes if is_sized else None,
            leaders_out=int(lost),
            leaders_in=int(won),
            state=broker.state.value,
            resource=outcome.resources[d] if broker.state.stays else None,
            times_share=float(ratios.before[b, d]) if broker.state.stays else None,
            times_share_after=float(ratios.after[b, d]) if broker.state.stays else None,
        )
        rows.append((-out_bytes - in_bytes, -out - into - lost - won, broker.id, change))
    return tuple(change for *_, change in sorted(rows, key=lambda row: row[:3]))


def _tally(draft: Draft, brokers: int) -> Floats:
    """Replicas that leave and arrive, their bytes, leaders lost and won."""
    sizes = np.repeat(np.nan_to_num(draft.size)[:, None], draft.start.shape[1], axis=1)
    out, into = draft.start[draft.is_dropped], draft.end[draft.is_new]
    columns = [
        np.bincount(out, minlength=brokers),
        np.bincount(into, minlength=brokers),
        np.bincount(out, weights=sizes[draft.is_dropped], minlength=brokers),
        np.bincount(into, weights=sizes[draft.is_new], minlength=brokers),
        np.bincount(draft.leader_from[draft.changes_leader], minlength=brokers),
        np.bincount(draft.leader_to[draft.changes_leader], minlength=brokers),
    ]
    return np.stack(columns, axis=1).astype(np.float64)


def _ratios(plan_request: PlanRequest, outcome: Outcome, bands: Bands, within: float | None) -> Ratios:
    """The share is the middle of the band, computed from its upper edge; without a band the plain mean. A broker that
    leaves has none.
    """
    share = np.zeros_like(outcome.before)
    top = 1 + (within or 0.0)
    capacity = plan_request.brokers.arrays.capacity
    for d, name in enumerate(outcome.resources):
        broker_capacity = capacity.get(name, np.ones(len(share)))
        plain = bands.mean[d] * broker_capacity
        fair = bands.high[:, d] / top
        is_own = name in plan_request.options.targets or name in plan_request.caps
        share[:, d] = plain if is_own else np.where(np.isfinite(fair) & (fair > 0), fair, plain)
    share[~plan_request.brokers.arrays.stays] = 0.0
    nothing = np.zeros_like(share)
    return Ratios(
        np.divide(outcome.before, share, out=nothing.copy(), where=share > 0),
        np.divide(outcome.after, share, out=nothing.copy(), where=share > 0),
        share,
    )


def _balance_facts(plan_request: PlanRequest, outcome: Outcome, ratios: Ratios, repaired: Repaired) -> MoveFacts:
    ids, names = plan_request.brokers.arrays.ids, outcome.resources
    reasons, worse = [], []
    broker, d = repaired.broker, repaired.resource
    columns = zip(
        ids[broker].tolist(), d.tolist(), repaired.kind.tolist(), ratios.before[broker, d].tolist(),
        ratios.after[broker, d].tolist(), repaired.without.tolist(), strict=True,
    )  # fmt: skip
    for broker_id, resource, kind, before, after, without in columns:
        name = names[resource]
        reasons.append(Fact(_REPAIRS[kind], {"broker": broker_id, "resource": name, "times_share": before}))
        if kind == Repair.NONE and abs(without - after) <= BAND_ROUNDING * max(after, 1.0):
            worse.append(fact(FactCode.NO_LOAD_CHANGES))
            continue
        code = FactCode.OFF_ONLY_TOGETHER if kind == Repair.NONE else FactCode.BROKER_FURTHER_OFF
        worse.append(
            Fact(
                code,
                {"broker": broker_id, "resource": name, "times_share_without": without, "times_share_after": after},
            )
        )
    return MoveFacts(reasons, worse)


def hard_reasons(plan_request: PlanRequest, draft: Draft) -> tuple[FactCode | None, ...]:
    nothing = fact(FactCode.NO_LOAD_CHANGES)
    why = MoveFacts([nothing] * len(draft), [nothing] * len(draft))
    _add_hard_reasons(plan_request, draft, why)
    return tuple(None if reason is nothing else reason.code for reason in why.reasons)


def _add_hard_reasons(plan_request: PlanRequest, draft: Draft, why: MoveFacts) -> None:
    brokers, ids = plan_request.brokers.brokers, plan_request.brokers.arrays.ids.tolist()
    reasons, worse = why.reasons, why.worse_without
    start_count, end_count = (draft.start >= 0).sum(axis=1), (draft.end >= 0).sum(axis=1)
    for m in np.flatnonzero(end_count != start_count).tolist():
        was, target_count = int(start_count[m]), int(end_count[m])
        is_raised = target_count > was
        code = FactCode.RAISES_REPLICATION_FACTOR if is_raised else FactCode.LOWERS_REPLICATION_FACTOR
        reasons[m] = fact(code, replicas=was, wanted=target_count)
        code = FactCode.KEEPS_TOO_FEW_REPLICAS if is_raised else FactCode.KEEPS_TOO_MANY_REPLICAS
        worse[m] = fact(code, replicas=was, wanted=target_count)
    target = np.asarray(end_count, dtype=np.int32)
    whole = plan_request.partitions.placement.broker_sets
    sets = None if whole is None else whole.taken(draft.row)
    shared = lacks_racks(draft.start, plan_request.brokers.arrays, target, sets)
    repaired = shared & ~lacks_racks(draft.end, plan_request.brokers.arrays, target, sets)
    for m in np.flatnonzero(repaired).tolist():
        reasons[m], worse[m] = fact(FactCode.SEPARATES_RACKS), fact(FactCode.SHARES_RACK)
    _add_what_leaves(plan_request, draft, sets, why)
    if plan_request.options.preferred_election:
        for m in range(len(draft)):
            first, now = ids[draft.leader_to[m]], ids[draft.leader_from[m]]
            reasons[m] = fact(FactCode.ELECTS_PREFERRED, broker=first)
            worse[m] = fact(FactCode.GOES_ON_LEADING, broker=now)
    is_kept_led = ~draft.changes_replicas & ~draft.changes_leader & (draft.start[:, 0] != draft.end[:, 0])
    for m in np.flatnonzero(is_kept_led).tolist():
        first, leader = ids[draft.start[m, 0]], ids[draft.leader_to[m]]
        reasons[m] = fact(FactCode.KEEPS_LEADER, broker=leader, preferred=first)
        worse[m] = fact(FactCode.LOSES_LEADER_AT_ELECTION, preferred=first)
    for m in np.flatnonzero(draft.is_reorder).tolist():
        first, second, was = (ids[b] for b in (draft.end[m, 0], draft.end[m, 1], draft.start[m, 1]))
        reasons[m] = fact(FactCode.NAMES_NEXT_LEADER, broker=second, lost=first)
        worse[m] = fact(FactCode.TAKES_OVER_TOO_MUCH, broker=was, lost=first)
    demoted = np.array([broker.state is BrokerState.DEMOTED for broker in brokers], dtype=np.bool_)
    for m in np.flatnonzero(demoted[draft.leader_from] & draft.changes_leader).tolist():
        reasons[m] = fact(FactCode.LEAVES_DEMOTED_LEADER, broker=ids[draft.leader_from[m]])
        worse[m] = fact(FactCode.GOES_ON_LEADING, broker=ids[draft.leader_from[m]])


def _add_what_leaves(plan_request: PlanRequest, draft: Draft, sets: BrokerSets | None, why: MoveFacts) -> None:
    brokers, ids = plan_request.brokers.brokers, plan_request.brokers.arrays.ids.tolist()
    reasons, worse = why.reasons, why.worse_without
    outside = np.zeros(draft.start.shape, dtype=np.bool_) if sets is None else sets.outside(draft.start)
    outside &= draft.is_dropped
    for m in np.flatnonzero(outside.any(axis=1)).tolist():
        broker = ids[draft.start[m][outside[m]][0]]
        reasons[m] = fact(FactCode.LEAVES_FORBIDDEN_BROKER, broker=broker)
        worse[m] = fact(FactCode.STAYS_ON_FORBIDDEN_BROKER, broker=broker)
    for m in np.flatnonzero(_offline(plan_request, draft, outside)).tolist():
        reasons[m], worse[m] = fact(FactCode.LEAVES_OFFLINE_LOG_DIR), fact(FactCode.STAYS_OFFLINE)
    leaving = draft.is_dropped & ~plan_request.brokers.arrays.stays[draft.start]
    for m in np.flatnonzero(leaving.any(axis=1)).tolist():
        b = int(draft.start[m][leaving[m]][0])
        state = brokers[b].state.value
        reasons[m] = fact(FactCode.LEAVES_BROKER, broker=ids[b], state=state)
        worse[m] = fact(FactCode.STAYS_ON_BROKER, broker=ids[b], state=state)
    laggards = plan_request.partitions.laggards[draft.row]
    lagging = draft.is_dropped[:, : laggards.shape[1]] & laggards
    for m in np.flatnonzero(lagging.any(axis=1)).tolist():
        broker = ids[draft.start[m][: laggards.shape[1]][lagging[m]][0]]
        reasons[m] = fact(FactCode.DROPS_OUT_OF_SYNC, broker=broker, why=reasons[m])


def _offline(plan_request: PlanRequest, draft: Draft, outside: Flags) -> Flags:
    marks = plan_request.partitions.placement.must_leave
    if marks is None:
        return np.zeros(len(draft), dtype=np.bool_)
    width = marks.shape[1]
    is_offline = marks[draft.row] & draft.is_dropped[:, :width] & ~plan_request.partitions.laggards[draft.row]
    return np.asarray((is_offline & ~outside[:, :width]).any(axis=1))


# Causes of two limits together: disks without room for another copy, and count bands that keep loads uneven.
#
# The first compares the smallest replica with the freest disk. The second adds up the largest (smallest) replicas of a
# count band. Example: the first disk needs 180 GB at least, its count band allows 16 replicas of 10 GB.


def disks_full(problem: Problem, broker: int, replicas: Ints, leader: Ints) -> Fact | None:
    d = problem.column("disk")
    if d is None or not problem.moves_replicas:
        return None
    free_capacity = (problem.limit - broker_loads(problem, replicas, leader))[:, d]
    receivers = problem.takes_replicas & (np.arange(problem.broker_count) != broker)
    free = ~problem.pinned & ((replicas == broker) & (replicas >= 0)).any(axis=1)
    if not free.any() or not receivers.any():
        return None
    smallest = float(problem.follower_load[free, d].min())
    freest = int(np.where(receivers, free_capacity, -np.inf).argmax())
    if smallest <= float(free_capacity[freest]):
        return None
    return fact(
        FactCode.DISKS_FULL,
        freest_broker=int(problem.broker_ids[freest]),
        free_bytes=max(float(free_capacity[freest]), 0.0),
        broker=int(problem.broker_ids[broker]),
        smallest_replica_bytes=smallest,
    )


def count_band_binds(problem: Problem, d: int, broker: int, *, is_high: bool) -> Fact | None:
    """The broker's band of replicas (leaders) alone keeps resource ``d`` outside; else None."""
    name = problem.resources[d]
    counted = "replicas" if problem.follower_load[:, d].any() else "leaders"
    c = problem.column(counted)
    if c is None or c == d or (counted == "replicas" and not problem.moves_replicas):
        return None
    count = _whole(problem, broker, c, is_high=is_high)
    size = np.sort(_least(problem, d) if is_high and counted == "replicas" else _most(problem, d))
    chosen = size[: max(count, 0)] if is_high else size[::-1][: max(count, 0)]
    edge = float(problem.band_high[broker, d] if is_high else problem.band_low[broker, d])
    chosen_load = float(chosen.sum())
    if count > len(size) or (
        chosen_load <= edge * (1 + BAND_ROUNDING) if is_high else chosen_load >= edge * (1 - BAND_ROUNDING)
    ):
        return None
    return fact(
        FactCode.COUNT_BAND_BINDS,
        broker=int(problem.broker_ids[broker]),
        counted=counted,
        count=count,
        resource=name,
        side="high" if is_high else "low",
        times_edge=chosen_load / edge,
    )


def _whole(problem: Problem, broker: int, c: int, *, is_high: bool) -> int:
    if is_high:
        return int(np.ceil(float(problem.band_low[broker, c]) - BAND_ROUNDING))
    high = float(problem.band_high[broker, c])
    return int(np.floor(high + BAND_ROUNDING)) if np.isfinite(high) else int(problem.target_rf.sum()) + 1


def _least(problem: Problem, d: int) -> Floats:
    least = problem.follower_load[:, d]
    if problem.own_disk is not None and d == problem.column("disk"):
        least = np.minimum(least, np.where(problem.replicas >= 0, problem.own_disk, np.inf).min(axis=1))
    return np.asarray(least)


def _most(problem: Problem, d: int) -> Floats:
    """The leader's part included."""
    most = problem.follower_load[:, d]
    if problem.own_disk is not None and d == problem.column("disk"):
        most = np.maximum(most, np.where(problem.replicas >= 0, problem.own_disk, 0.0).max(axis=1))
    return np.asarray(most + problem.leader_extra[:, d])


# Causes of an unmet band, in this order: one partition too large for any broker; excluded topics; leaders that few
# brokers can take; no broker that may receive; full disks; count bands. Else the search found nothing better.


def widenings(
    plan_request: PlanRequest,
    problem: Problem,
    outcome: Outcome,
    bands: Bands,
    replicas: Ints,
    leader: Ints,
    gave_way: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
) -> tuple[Widening, ...]:
    """One for each resource and side outside; problem rows. ``gave_way`` as in ``Solution``."""
    arrays = plan_request.brokers.arrays
    widened: list[Widening] = []
    for d, name in enumerate(outcome.resources):
        broker_capacity = arrays.capacity.get(name, np.ones(problem.broker_count))
        after, mean = outcome.after[:, d], float(bands.mean[d])
        lowest, highest = reached(bands, after, d, broker_capacity, arrays.stays)
        if mean <= 0:
            continue
        level = after / (mean * broker_capacity)
        for side, used, edge in (("high", highest, bands.high[:, d]), ("low", lowest, bands.low[:, d])):
            if used is None:
                continue
            over = (
                level - edge / (mean * broker_capacity) if side == "high" else edge / (mean * broker_capacity) - level
            )
            worst = int(np.where(arrays.stays, over, -np.inf).argmax())
            requested = float(edge[worst] / (mean * broker_capacity[worst]))
            why = _why_above if side == "high" else _why_below
            cause = _gave_way(plan_request, name, gave_way.get(name, ())) or why(
                plan_request, problem, d, worst, replicas, leader
            )
            widened.append(Widening(name, side, requested, used, worst, cause))
    return tuple(widened)


def _gave_way(plan_request: PlanRequest, name: str, others: tuple[str, ...]) -> Fact | None:
    if not others:
        return None
    ordered, capped = plan_request.ordered, tuple(other for other in others if other in plan_request.caps)
    is_default = name not in ordered
    to = "caps" if capped else "ordered_bands" if is_default and ordered.issuperset(others) else "unequal_disks"
    return fact(FactCode.BAND_GIVES_WAY, to=to, resources=capped or others, is_default=is_default)


def largest_alone(problem: Problem, d: int) -> tuple[int, float]:
    """Heaviest single replica, as a follower (or alone, at replication factor 1), and its load."""
    weight = _weights(problem, d)
    row = int(weight.argmax()) if len(weight) else -1
    return row, float(weight[row]) if row >= 0 else 0.0


def _weights(problem: Problem, d: int) -> Floats:
    weight: Floats = problem.follower_load[:, d] + problem.leader_extra[:, d]
    return weight


def _why_above(plan_request: PlanRequest, problem: Problem, d: int, broker: int, replicas: Ints, leader: Ints) -> Fact:
    name, high = problem.resources[d], problem.band_high[:, d]
    row, weight = largest_alone(problem, d)
    may = problem.stays & (problem.takes_leaders | problem.keeps_leaders if name in LEADER_CARRIED else problem.stays)
    top = float(high[may].max(initial=0.0))
    if row >= 0 and weight > top * (1 + BAND_ROUNDING) and leader[row] == broker and top > 0:
        return fact(FactCode.PARTITION_ABOVE_BAND, partition=problem.name_of(row), times_band=weight / top)
    return (
        _immovable_above(plan_request, problem, d, broker, replicas, leader)
        or _no_other_leader(problem, d, broker, replicas, leader)
        or _too_few_receivers(problem)
        or disks_full(problem, broker, replicas, leader)
        or count_band_binds(problem, d, broker, is_high=True)
        or fact(FactCode.NOTHING_NEARER_FOUND)
    )


def _immovable_above(
    plan_request: PlanRequest, problem: Problem, d: int, broker: int, replicas: Ints, leader: Ints
) -> Fact | None:
    is_pinned_here = problem.pinned & ((replicas == broker) & (replicas >= 0)).any(axis=1)
    load = np.where(is_pinned_here, problem.follower_load[:, d] + problem.leader_extra[:, d] * (leader == broker), 0.0)
    high = float(problem.band_high[broker, d])
    if load.sum() <= high * (1 + BAND_ROUNDING):
        return None
    by_topic = np.bincount(problem.topic, weights=load)
    topic = int(by_topic.argmax())
    return fact(
        FactCode.IMMOVABLE_ABOVE_BAND,
        broker=int(problem.broker_ids[broker]),
        topic=plan_request.snapshot.topics[topic].name,
        topic_share=float(by_topic[topic] / load.sum()),
    )


def _no_other_leader(problem: Problem, d: int, broker: int, replicas: Ints, leader: Ints) -> Fact | None:
    if problem.moves_replicas or problem.resources[d] not in LEADER_CARRIED:
        return None
    led = leader == broker
    other = (replicas >= 0) & (replicas != broker) & problem.takes_leaders[replicas]
    alone = led & (~other.any(axis=1) | problem.pinned)
    load = float(problem.leader_extra[alone, d].sum())
    if load <= float(problem.band_high[broker, d]) * (1 + BAND_ROUNDING):
        return None
    return fact(FactCode.NO_OTHER_LEADER, broker=int(problem.broker_ids[broker]), partitions=int(alone.sum()))


def _too_few_receivers(problem: Problem) -> Fact | None:
    receivers = int(problem.takes_replicas.sum())
    if problem.moves_replicas and receivers <= 1:
        return fact(FactCode.TOO_FEW_RECEIVERS, brokers=receivers)
    return None


def _why_below(plan_request: PlanRequest, problem: Problem, d: int, broker: int, replicas: Ints, _leader: Ints) -> Fact:
    high = problem.band_high[:, d]
    row, weight = largest_alone(problem, d)
    if row >= 0 and weight > float(high[problem.stays].max(initial=0.0)) * (1 + BAND_ROUNDING):
        return fact(FactCode.PARTITION_ABOVE_BAND, partition=problem.name_of(row), leaves_others_short=True)
    free = ~problem.pinned
    if not free.any():
        return fact(FactCode.NOTHING_MOVABLE)
    load = (problem.follower_load[:, d] * (replicas >= 0).sum(axis=1) + problem.leader_extra[:, d])[~free].sum()
    total = (problem.follower_load[:, d] * problem.target_rf + problem.leader_extra[:, d]).sum()
    if total > 0 and load > 0.5 * total:
        by_topic = np.bincount(problem.topic[~free], weights=problem.follower_load[~free, d])
        name = plan_request.snapshot.topics[int(by_topic.argmax())].name
        return fact(FactCode.MOSTLY_IMMOVABLE, share=float(load / total), topic=name)
    smallest = _smallest(problem, d, replicas, broker)
    if smallest > float(high[broker]):
        return fact(FactCode.ALL_PARTITIONS_ABOVE_BAND)
    return count_band_binds(problem, d, broker, is_high=False) or fact(FactCode.NOTHING_NEARER_FOUND)


def _smallest(problem: Problem, d: int, replicas: Ints, broker: int) -> float:
    elsewhere = ~problem.pinned & ~((replicas == broker) & (replicas != ABSENT)).any(axis=1)
    weight = _weights(problem, d)[elsewhere]
    return float(weight.min()) if len(weight) else 0.0


def brokers_nearly_full(plan_request: PlanRequest) -> tuple[Fact, ...]:
    return tuple(
        fact(
            FactCode.BROKERS_NEARLY_FULL,
            resource=name,
            brokers=full.brokers,
            broker=full.broker,
            capacity_share=full.share,
            mean_share=full.mean_share,
            relieved_to=full.relieved_to,
        )
        for name, full in plan_request.nearly_full.items()
    )


def within_dead_band(plan_request: PlanRequest, worst: Deviation | None, dead_band: float) -> Fact:
    if worst is None or worst.ratio == 1.0:
        return fact(FactCode.ALL_INSIDE_BAND)
    return fact(
        FactCode.ALL_WITHIN_DEAD_BAND,
        dead_band=dead_band,
        broker=plan_request.brokers.brokers[worst.broker].id,
        resource=worst.resource,
        times_share=worst.ratio,
    )


def does_not_pay(gain: float, copied: float, total: float) -> Fact:
    return fact(
        FactCode.DOES_NOT_PAY, copied_bytes=float(copied), copied_share=copied / total, imbalance_removed=max(gain, 0.0)
    )


def why_outside(
    plan_request: PlanRequest,
    bands: Bands,
    outcome: Outcome,
    widened: tuple[Widening, ...],
    *,
    is_proved: bool = False,
) -> tuple[Fact, ...]:
    """The smallest cause first."""
    load, stays = outcome.before, plan_request.brokers.arrays.stays
    if imbalance(bands, outcome.elected_before, stays) < imbalance(bands, load, stays):
        return (fact(FactCode.WAITS_FOR_ELECTION), *outside_band(plan_request, bands, load, when="until_elected"))
    of_side = {side: [bound for bound in widened if bound.side == side] for side in ("high", "low")}
    causes = {(bound.resource, str(bound.cause)): bound for bound in of_side["high"] or of_side["low"]}
    lines = [fact(FactCode.BAND_NOT_MET, resource=bound.resource, cause=bound.cause) for bound in causes.values()]
    proof = "whole_numbers" if is_proved else "none"
    outside = outside_band(plan_request, bands, load, proof=proof) or _outside_once_elected(
        plan_request, bands, outcome
    )
    return (*lines, *outside)


def why_rebalance(
    plan_request: PlanRequest, bands: Bands, outcome: Outcome, widened: tuple[Widening, ...]
) -> tuple[Fact, ...]:
    """Moves that must be made, bands unmet today or after a preferred election, and bands that stay unmet."""
    facts = [*plan_request.hard, *outside_band(plan_request, bands, outcome.before)]
    facts += _outside_once_elected(plan_request, bands, outcome)
    facts += [
        fact(
            FactCode.BAND_WIDENED, resource=bound.resource, asked_times_mean=bound.requested,
            used_times_mean=bound.used, cause=bound.cause,
        )
        for bound in widened
    ]  # fmt: skip
    if plan_request.options.preferred_election:
        facts.append(fact(FactCode.PREFERRED_REPLICAS_ELECTED))
    if facts:
        return tuple(facts)
    stays = plan_request.brokers.arrays.stays
    before, after = imbalance(bands, outcome.before, stays), imbalance(bands, outcome.after, stays)
    return (fact(FactCode.IMBALANCE_CHANGES, imbalance_before=before, imbalance_after=after),)


def bounds_of_widened_bands(
    widened: tuple[Widening, ...], requested: Bounds, *, is_proved: bool = False
) -> tuple[Fact, ...]:
    """Basis of bounds and gaps where requested bands are unmet; ``is_proved``: no plan meets them."""
    if not widened:
        return ()
    least = None if is_proved or requested.bytes.value <= 0 else float(requested.bytes.value)
    return (fact(FactCode.BOUNDS_OF_WIDENED_BANDS, is_proved=is_proved, least_bytes_as_asked=least),)


def budget_allows_nothing(plan_request: PlanRequest, bands: Bands, load: Floats) -> tuple[Fact, ...]:
    was = imbalance(bands, load, plan_request.brokers.arrays.stays)
    first = fact(FactCode.BUDGET_ALLOWS_NOTHING, **_limits(plan_request.options), imbalance=was)
    return (first, *outside_band(plan_request, bands, load))


def budget_cuts_short(plan_request: PlanRequest, bands: Bands, before: Floats, after: Floats) -> tuple[Fact, ...]:
    stays = plan_request.brokers.arrays.stays
    was, left = imbalance(bands, before, stays), imbalance(bands, after, stays)
    first = fact(
        FactCode.BUDGET_CUTS_SHORT, **_limits(plan_request.options), imbalance_before=was, imbalance_after=left
    )
    outside = outside_band(plan_request, bands, after, when="after_plan")
    further = (fact(FactCode.REST_NEEDS_MORE_BUDGET),) if outside else ()
    return (first, *plan_request.hard, *outside, *further)


def election_less_even(plan_request: PlanRequest, outcome: Outcome) -> tuple[Fact, ...]:
    stays, d = plan_request.brokers.arrays.stays, outcome.column("leaders")
    is_requested = plan_request.options.preferred_election
    first, last = (outcome.before, outcome.after) if is_requested else (outcome.elected_before, outcome.elected_after)
    counts = (first[stays, d], last[stays, d])
    before, after = (float(count.max() / count.mean()) if count.any() else 0.0 for count in counts)
    if after <= before + BAND_ROUNDING:
        return ()
    return (fact(FactCode.ELECTION_LESS_EVEN, is_asked=is_requested, skew_before=before, skew_after=after),)


def least_imbalance_in_budget(claim: BudgetClaim | None) -> tuple[Fact, ...]:
    if claim is None or not claim.least_imbalance:
        return ()
    return (fact(FactCode.LEAST_IMBALANCE_IN_BUDGET, imbalance=claim.least_imbalance),)


def time_notes(options: PlanOptions, seconds: float | None, throttles: Sequence[int]) -> tuple[Fact, ...]:
    notes = []
    raised = [throttle for throttle in throttles if throttle > options.throttle_bytes_per_s]
    if raised:
        notes.append(
            fact(
                FactCode.THROTTLE_RAISED,
                throttle_bytes_per_s=options.throttle_bytes_per_s,
                highest_bytes_per_s=max(raised),
                raised_waves=len(raised),
                waves=len(throttles),
            )
        )
    if seconds is not None and seconds > 3600 * options.expires_after_hours:
        notes.append(fact(FactCode.LONGER_THAN_VALID, seconds=seconds, valid_hours=options.expires_after_hours))
    return tuple(notes)


def night_notes(options: PlanOptions, draft: Draft, wave_of: Ints, waves: Sequence[Wave]) -> tuple[Fact, ...]:
    """Return how many nights the waves take, what is left after the first, and how many waves fit into none."""
    seconds = [wave.seconds for wave in waves if wave.seconds is not None]
    if options.night_hours is None or not waves or len(seconds) < len(waves):
        return ()
    night_s = 3600 * options.night_hours
    nights = by_night(seconds, night_s)
    first = len(nights[0])
    left = draft.chosen(np.flatnonzero(wave_of >= first))
    notes = [
        fact(
            FactCode.NIGHTS_NEEDED,
            nights=len(nights),
            night_hours=options.night_hours,
            first_waves=first,
            left_replica_moves=int(left.copies.sum()),
            left_bytes=total_bytes(left.bytes_forward()),
            left_leader_changes=int(left.changes_leader.sum()),
        )
    ]
    longer = [duration for duration in seconds if not fits_night(duration, night_s)]
    if longer:
        notes.append(
            fact(
                FactCode.WAVES_LONGER_THAN_NIGHT,
                waves=len(longer),
                longest_seconds=max(longer),
                night_hours=options.night_hours,
            )
        )
    return tuple(notes)


def _limits(options: PlanOptions) -> dict[str, Any]:
    return {
        "max_move_bytes": options.max_move_bytes,
        "max_moves": options.max_moves,
        "max_leader_changes": options.max_leader_changes,
        "max_hours": options.max_hours,
    }


def outside_band(plan_request: PlanRequest, bands: Bands, load: Floats, **args: str) -> tuple[Fact, ...]:
    """The furthest broker of each resource; ``args``: the state and the proof."""
    stays = plan_request.brokers.arrays.stays
    facts = []
    for d, name in enumerate(plan_request.resources):
        capacity = plan_request.brokers.arrays.capacity.get(name, np.ones(len(load)))
        mean = bands.mean[d] * capacity
        over = np.where(stays, load[:, d] - bands.high[:, d], -np.inf)
        under = np.where(stays, bands.low[:, d] - load[:, d], -np.inf)
        for distance, side in ((over, "high"), (under, "low")):
            b = int(distance.argmax())
            if distance[b] > 1e-9 * max(float(mean.max()), 1e-12):
                facts.append(
                    fact(
                        FactCode.BROKERS_OUTSIDE_BAND,
                        resource=name,
                        side=side,
                        brokers=int((distance > 1e-9 * max(float(mean.max()), 1e-12)).sum()),
                        furthest_broker=plan_request.brokers.brokers[b].id,
                        times_mean=float(load[b, d] / mean[b]) if mean[b] > 0 else 0.0,
                        **args,
                    )
                )
    return tuple(facts)


def _outside_once_elected(plan_request: PlanRequest, bands: Bands, outcome: Outcome) -> tuple[Fact, ...]:
    changes = ~np.isclose(outcome.elected_before, outcome.before, rtol=BAND_ROUNDING, atol=0.0).all(axis=0)
    low, high = np.where(changes, bands.low, -np.inf), np.where(changes, bands.high, np.inf)
    return outside_band(plan_request, replace(bands, low=low, high=high), outcome.elected_before, when="once_elected")
