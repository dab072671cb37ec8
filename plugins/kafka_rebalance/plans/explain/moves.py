"""Why each move is made, and what gets worse without it; then the same for people, broker by broker.

A move is explained by the strongest thing it repairs: a replica that cannot stay, a replication factor, racks, or the
broker that is furthest above (or below) its share of some resource, among those that it brings nearer to it
(``repairs.py``). ``worse_without`` leaves this one move out of the whole plan and says how that broker stands then.

Complexity: O(M·W·D) in arrays, one line of text for each move.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from kafka_rebalance.amounts import bytes_in_words
from kafka_rebalance.arrays import Flags, Floats
from kafka_rebalance.cluster_arrays.broker_sets import BrokerSets
from kafka_rebalance.plans.draft import Draft
from kafka_rebalance.plans.explain.repairs import Ratios, Repair, Repaired, what_is_repaired
from kafka_rebalance.plans.outcome import Bands, Outcome
from kafka_rebalance.plans.request import PlanRequest, lacks_racks
from kafka_rebalance.resources import TABLE
from kafka_rebalance.snapshot.model import BrokerState

_REPAIRS = {
    Repair.RELIEVES: "relieves broker {}",
    Repair.FILLS: "fills broker {}",
    Repair.MAKES_UP: "makes up for other moves of broker {}",
    Repair.NONE: "is one of several that only together even out broker {}",
}
WORDS = {row.name: row.words for row in TABLE}
STATE_WORDS = {
    BrokerState.DEAD: "dead",
    BrokerState.FENCED: "fenced",
    BrokerState.DRAINING: "to be removed",
}


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """One reason and one consequence for each move."""

    reasons: list[str]
    worse_without: list[str]

    @property
    def both(self) -> tuple[list[str], list[str]]:
        """To be overwritten where something else is said of a move."""
        return self.reasons, self.worse_without


def explain_moves(
    plan_request: PlanRequest, draft: Draft, outcome: Outcome, bands: Bands, within: float | None
) -> Texts:
    """Texts in the order of the draft."""
    ratios = _ratios(plan_request, outcome, bands, within)
    repaired = what_is_repaired(plan_request, draft, outcome.resources, ratios)
    reasons, worse = _balance_texts(plan_request, outcome, ratios, repaired)
    _say_hard_reasons(plan_request, draft, reasons, worse)
    return Texts(reasons, worse)


def explain_brokers(
    plan_request: PlanRequest, draft: Draft, outcome: Outcome, bands: Bands, within: float | None
) -> tuple[str, ...]:
    """A line for each broker that gives up or receives, those that change most first."""
    ratios = _ratios(plan_request, outcome, bands, within)
    tally = _tally(draft, len(plan_request.brokers.brokers))
    lines = []
    for b in np.flatnonzero(tally.any(axis=1)).tolist():
        broker = plan_request.brokers.brokers[b]
        out, into, out_bytes, in_bytes, lost, won = tally[b].tolist()
        is_sized = "disk" in outcome.resources
        parts = _parts((int(out), int(into)), (out_bytes, in_bytes), int(lost), int(won), is_sized=is_sized)
        why = _standing(broker.state, outcome.resources, ratios.before[b], ratios.after[b])
        lines.append((-out_bytes - in_bytes, -out - into - lost - won, broker.id, f"broker {broker.id} {parts}: {why}"))
    return tuple(line for *_, line in sorted(lines))


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


def _balance_texts(
    plan_request: PlanRequest, outcome: Outcome, ratios: Ratios, repaired: Repaired
) -> tuple[list[str], list[str]]:
    ids = plan_request.brokers.arrays.ids
    names = [WORDS[name] for name in outcome.resources]
    reasons, worse = [], []
    broker, d = repaired.broker, repaired.resource
    columns = zip(
        ids[broker].tolist(), d.tolist(), repaired.kind.tolist(), ratios.before[broker, d].tolist(),
        ratios.after[broker, d].tolist(), repaired.without.tolist(), strict=True,
    )  # fmt: skip
    for broker_id, resource, kind, before, after, left_out in columns:
        verb = names[resource]
        reasons.append(f"{_REPAIRS[kind].format(broker_id)}: its {verb} {before:.2f} × its share")
        worse.append(_consequence(broker_id, verb, left_out, after, is_worse=kind != Repair.NONE))
    return reasons, worse


def _consequence(broker_id: int, verb: str, left_out: float, after: float, *, is_worse: bool) -> str:
    one, other = told_apart(left_out, after)
    if is_worse:
        return f"broker {broker_id}'s {verb} {one} × its share instead of {other} ×"
    if one == other:
        return "nothing that is measured: what brokers carry is the same"
    return f"nothing by itself: broker {broker_id}'s {verb} {one} × its share, in the whole plan {other} ×"


def told_apart(one: float, other: float) -> tuple[str, str]:
    """Both with four digits, or as many more as it takes to see which is which: 1.0971 and 1.0974, not 1.097 twice."""
    texts = (f"{one:.4g}", f"{other:.4g}")
    for digits in range(5, sys.float_info.dig + 1):
        if texts[0] != texts[1]:
            break
        texts = (f"{one:.{digits}g}", f"{other:.{digits}g}")
    return texts


def _say_hard_reasons(plan_request: PlanRequest, draft: Draft, reasons: list[str], worse: list[str]) -> None:
    """Overwrite the texts of moves that have to be made whatever the balance."""
    brokers, ids = plan_request.brokers.brokers, plan_request.brokers.arrays.ids
    start_count = (draft.start >= 0).sum(axis=1)
    end_count = (draft.end >= 0).sum(axis=1)
    for m in np.flatnonzero(end_count > start_count).tolist():
        reasons[m] = f"raises the replication factor from {start_count[m]} to {end_count[m]}"
        worse[m] = f"the partition keeps {start_count[m]} of {end_count[m]} replicas"
    for m in np.flatnonzero(end_count < start_count).tolist():
        reasons[m] = f"lowers the replication factor from {start_count[m]} to {end_count[m]}"
        worse[m] = f"the partition keeps {start_count[m] - end_count[m]} replicas too many"
    target = np.asarray(end_count, dtype=np.int32)
    whole = plan_request.partitions.placement.broker_sets
    sets = None if whole is None else whole.taken(draft.row)
    shared = lacks_racks(draft.start, plan_request.brokers, target, sets)
    repaired = shared & ~lacks_racks(draft.end, plan_request.brokers, target, sets)
    for m in np.flatnonzero(repaired).tolist():
        reasons[m] = "puts replicas that share a rack on racks of their own"
        worse[m] = "one rack that fails takes more than one replica of the partition with it"
    _say_what_leaves(plan_request, draft, sets, reasons, worse)
    if plan_request.options.preferred_election:
        for m in range(len(draft)):
            first, now = ids[draft.leader_to[m]], ids[draft.leader_from[m]]
            reasons[m] = f"lets broker {first} lead, which comes first in the list of those that may"
            worse[m] = f"broker {now} goes on leading it"
    is_kept_led = ~draft.changes_replicas & ~draft.changes_leader & (draft.start[:, 0] != draft.end[:, 0])
    for m in np.flatnonzero(is_kept_led).tolist():
        first, leader = ids[draft.start[m, 0]], ids[draft.leader_to[m]]
        reasons[m] = f"keeps broker {leader} leading: an election of preferred replicas would take it to broker {first}"
        worse[m] = f"broker {first} leads it after the next election of preferred replicas"
    for m in np.flatnonzero(draft.is_reorder).tolist():
        first, second, was = (int(ids[b]) for b in (draft.end[m, 0], draft.end[m, 1], draft.start[m, 1]))
        reasons[m] = f"lets broker {second} lead it if broker {first} is lost"
        worse[m] = f"broker {was} takes over more than an even part of what broker {first} leads"
    demoted = np.array([broker.state is BrokerState.DEMOTED for broker in brokers], dtype=np.bool_)
    for m in np.flatnonzero(demoted[draft.leader_from] & draft.changes_leader).tolist():
        reasons[m] = f"takes the lead from broker {ids[draft.leader_from[m]]}, which is demoted"
        worse[m] = f"broker {ids[draft.leader_from[m]]} goes on leading it"


def _say_what_leaves(
    plan_request: PlanRequest, draft: Draft, sets: BrokerSets | None, reasons: list[str], worse: list[str]
) -> None:
    """What may not stay where it is: outside its topic's brokers, in a log dir that is offline, on who leaves."""
    brokers, ids = plan_request.brokers.brokers, plan_request.brokers.arrays.ids
    outside = np.zeros(draft.start.shape, dtype=np.bool_) if sets is None else sets.outside(draft.start)
    for m in np.flatnonzero(outside.any(axis=1)).tolist():
        broker = ids[draft.start[m][outside[m]][0]]
        reasons[m] = f"leaves broker {broker}, which its topic may not be on"
        worse[m] = f"a replica stays on broker {broker}, which its topic may not be on"
    offline = _offline(plan_request, draft, outside)
    for m in np.flatnonzero(offline).tolist():
        reasons[m] = "its log dir is offline"
        worse[m] = "the partition lacks a replica until the disk is repaired"
    leaving: Any = (draft.start >= 0) & ~plan_request.brokers.arrays.stays[draft.start]
    for m in np.flatnonzero(leaving.any(axis=1)).tolist():
        b = int(draft.start[m][leaving[m]][0])
        state = STATE_WORDS[brokers[b].state]
        reasons[m] = f"leaves broker {ids[b]}, which is {state}"
        worse[m] = f"a replica stays on broker {ids[b]}, which is {state}"
    laggards = plan_request.partitions.laggards[draft.row]
    lagging = draft.is_dropped[:, : laggards.shape[1]] & laggards
    for m in np.flatnonzero(lagging.any(axis=1)).tolist():
        broker = ids[draft.start[m][: laggards.shape[1]][lagging[m]][0]]
        reasons[m] += f"; the replica on broker {broker} is out of sync and leaves"


def _offline(plan_request: PlanRequest, draft: Draft, outside: Flags) -> Flags:
    marks = plan_request.partitions.placement.must_leave
    if marks is None:
        return np.zeros(len(draft), dtype=np.bool_)
    width = marks.shape[1]
    is_offline = marks[draft.row] & ~plan_request.partitions.laggards[draft.row]
    return np.asarray((is_offline & ~outside[:, :width]).any(axis=1))


def _parts(copies: tuple[int, int], amounts: tuple[float, float], lost: int, won: int, *, is_sized: bool) -> str:
    parts = []
    for verb, count, amount in zip(("gives up", "receives"), copies, amounts, strict=True):
        if count:
            size = f" of {bytes_in_words(amount)}" if is_sized else ""
            parts.append(f"{verb} {count:,} replica{'s' * (count > 1)}{size}")
    for verb, count in (("loses", lost), ("gains", won)):
        if count:
            parts.append(f"{verb} {count:,} leadership{'s' * (count > 1)}")
    return ", ".join(parts)


def _standing(state: BrokerState, resources: tuple[str, ...], before: Floats, after: Floats) -> str:
    if not state.stays:
        return f"it is {STATE_WORDS[state]}"
    d = int(np.abs(before - 1).argmax())
    return f"its {WORDS[resources[d]]} {before[d]:.2f} × its share, afterwards {after[d]:.2f} ×"
