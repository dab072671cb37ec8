"""Why each move is made, what is worse without it, and what each broker gives and gets, as facts.

A move is explained by the strongest thing it repairs: a replica that cannot stay, a replication factor, racks, or the
broker that is furthest above (or below) its share of some resource, among those that it brings nearer to it
(``repairs.py``). ``worse_without`` leaves this one move out of the whole plan and says where that broker is then.

Complexity: O(M·W·D) in arrays, two facts for each move.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Flags, Floats
from kafka_rebalance.cluster_arrays.broker_sets import BrokerSets
from kafka_rebalance.cluster_arrays.tolerances import BAND_ROUNDING
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.plans.draft import Draft
from kafka_rebalance.plans.explain.repairs import Ratios, Repair, Repaired, what_is_repaired
from kafka_rebalance.plans.outcome import Bands, Outcome
from kafka_rebalance.plans.request import PlanRequest, lacks_racks
from kafka_rebalance.snapshot.model import BrokerState

_REPAIRS = {
    Repair.RELIEVES: FactCode.RELIEVES_BROKER,
    Repair.FILLS: FactCode.FILLS_BROKER,
    Repair.MAKES_UP: FactCode.MAKES_UP_FOR_MOVES,
    Repair.NONE: FactCode.ONE_OF_SEVERAL,
}


@dataclass(frozen=True, slots=True, eq=False)
class MoveFacts:
    """One reason and one consequence for each move; a stronger reason overwrites both."""

    reasons: list[Fact]
    worse_without: list[Fact]


def explain_moves(
    plan_request: PlanRequest, draft: Draft, outcome: Outcome, bands: Bands, within: float | None
) -> MoveFacts:
    """Return the facts in the order of the draft."""
    ratios = _ratios(plan_request, outcome, bands, within)
    repaired = what_is_repaired(plan_request, draft, outcome.resources, ratios)
    why = _balance_facts(plan_request, outcome, ratios, repaired)
    _add_hard_reasons(plan_request, draft, why)
    return why


def explain_brokers(
    plan_request: PlanRequest, draft: Draft, outcome: Outcome, bands: Bands, within: float | None
) -> tuple[Fact, ...]:
    """Return one fact for each broker that gives up or gets replicas or leaders, those that change most first.

    Its level is that of the resource that is furthest from the broker's share today.
    """
    ratios = _ratios(plan_request, outcome, bands, within)
    tally, is_sized = _tally(draft, len(plan_request.brokers.brokers)), "disk" in outcome.resources
    rows = []
    for b in np.flatnonzero(tally.any(axis=1)).tolist():
        broker = plan_request.brokers.brokers[b]
        out, into, out_bytes, in_bytes, lost, won = tally[b].tolist()
        d = int(np.abs(ratios.before[b] - 1).argmax())
        said = fact(
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
        rows.append((-out_bytes - in_bytes, -out - into - lost - won, broker.id, said))
    return tuple(said for *_, said in sorted(rows, key=lambda row: row[:3]))


def _tally(draft: Draft, brokers: int) -> Floats:
    """float64[B, 6]: replicas that leave and arrive, their bytes, leaderships lost and won."""
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
    """The share is the middle of the band, told from its upper edge; without one, the plain mean."""
    share = np.zeros_like(outcome.before)
    top = 1 + (within or 0.0)
    capacity = plan_request.brokers.arrays.capacity
    for d, name in enumerate(outcome.resources):
        broker_capacity = capacity.get(name, np.ones(len(share)))
        plain = bands.mean[d] * broker_capacity
        fair = bands.high[:, d] / top
        is_own = name in plan_request.options.targets or name in plan_request.caps
        share[:, d] = plain if is_own else np.where(np.isfinite(fair) & (fair > 0), fair, plain)
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


def _add_hard_reasons(plan_request: PlanRequest, draft: Draft, why: MoveFacts) -> None:
    """Overwrite the facts of moves that have to be made whatever the balance."""
    brokers, ids = plan_request.brokers.brokers, plan_request.brokers.arrays.ids.tolist()
    reasons, worse = why.reasons, why.worse_without
    start_count, end_count = (draft.start >= 0).sum(axis=1), (draft.end >= 0).sum(axis=1)
    for m in np.flatnonzero(end_count != start_count).tolist():
        was, wanted = int(start_count[m]), int(end_count[m])
        is_raised = wanted > was
        code = FactCode.RAISES_REPLICATION_FACTOR if is_raised else FactCode.LOWERS_REPLICATION_FACTOR
        reasons[m] = fact(code, replicas=was, wanted=wanted)
        code = FactCode.KEEPS_TOO_FEW_REPLICAS if is_raised else FactCode.KEEPS_TOO_MANY_REPLICAS
        worse[m] = fact(code, replicas=was, wanted=wanted)
    target = np.asarray(end_count, dtype=np.int32)
    whole = plan_request.partitions.placement.broker_sets
    sets = None if whole is None else whole.taken(draft.row)
    shared = lacks_racks(draft.start, plan_request.brokers, target, sets)
    repaired = shared & ~lacks_racks(draft.end, plan_request.brokers, target, sets)
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
    """What may not stay: outside its topic's brokers, in a log dir that is offline, on a broker that leaves."""
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
