"""Why each move is made, and what gets worse without it; then the same for people, broker by broker.

A move is explained by the strongest thing it repairs: a replica that cannot stay, a replication factor, racks, or the
broker that is furthest above (or below) its share of some resource. ``worse_without`` leaves this one move out of the
whole plan and says how the broker that it relieves would stand then.

Complexity: O(M·W·D) in arrays, one line of text for each move.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from kafka_rebalance.amounts import bytes_in_words
from kafka_rebalance.arrays import Flags, Floats, Ints, Longs
from kafka_rebalance.cluster_arrays.resource_columns import columns_of
from kafka_rebalance.plans.draft import Draft
from kafka_rebalance.plans.outcome import Bands, Outcome
from kafka_rebalance.plans.request import PlanRequest, lacks_racks
from kafka_rebalance.resources import TABLE
from kafka_rebalance.snapshot.model import BrokerState

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


@dataclass(frozen=True, slots=True, eq=False)
class _Ratios:
    """float64[B, D]: load over fair share, before and after; ``share`` float64[B, D]."""

    before: Floats
    after: Floats
    share: Floats


def explain_moves(
    plan_request: PlanRequest, draft: Draft, outcome: Outcome, bands: Bands, within: float | None
) -> Texts:
    """Texts in the order of the draft."""
    ratios = _ratios(plan_request, outcome, bands, within)
    given, received = _given_and_received(plan_request, draft, outcome.resources)
    giver, receiver = _giver(draft), _receiver(draft)
    relieved, d, is_over = _what_is_repaired(draft, ratios, giver, receiver, given, received)
    delta = np.where(is_over, given[np.arange(len(draft)), d], -received[np.arange(len(draft)), d])
    share = ratios.share[relieved, d]
    without = ratios.after[relieved, d] + np.divide(delta, share, out=np.zeros(len(draft)), where=share > 0)
    reasons, worse = _balance_texts(plan_request, outcome, ratios, relieved, d, is_over, without)
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


def _ratios(plan_request: PlanRequest, outcome: Outcome, bands: Bands, within: float | None) -> _Ratios:
    """The share is the middle of the band, told from its upper edge; without one, the plain mean."""
    share = np.zeros_like(outcome.before)
    top = 1 + (within or 0.0)
    capacity = plan_request.brokers.arrays.capacity
    for d, name in enumerate(outcome.resources):
        broker_capacity = capacity.get(name, np.ones(len(share)))
        plain = bands.mean[d] * broker_capacity
        fair = bands.high[:, d] / top
        is_own = name in plan_request.options.targets or name in plan_request.options.caps
        share[:, d] = plain if is_own else np.where(np.isfinite(fair) & (fair > 0), fair, plain)
    nothing = np.zeros_like(share)
    return _Ratios(
        np.divide(outcome.before, share, out=nothing.copy(), where=share > 0),
        np.divide(outcome.after, share, out=nothing.copy(), where=share > 0),
        share,
    )


def _giver(draft: Draft) -> Ints:
    """The broker that is relieved: of the first replica that goes, else of the leadership."""
    column = draft.is_dropped.argmax(axis=1)
    rows = np.arange(len(draft))
    return np.where(draft.is_dropped.any(axis=1), draft.start[rows, column], np.maximum(draft.leader_from, 0))


def _receiver(draft: Draft) -> Ints:
    column = draft.is_new.argmax(axis=1)
    rows = np.arange(len(draft))
    return np.where(draft.is_new.any(axis=1), draft.end[rows, column], draft.leader_to)


def _given_and_received(plan_request: PlanRequest, draft: Draft, resources: tuple[str, ...]) -> tuple[Floats, Floats]:
    """float64[M, D]: what the giver loses and the receiver gains by a move, follower's part and leader's."""
    loads = plan_request.partitions.placement.loads
    rf = (draft.end >= 0).sum(axis=1).astype(np.int32)
    every = np.ones(len(plan_request.partitions.placement.replicas), dtype=np.int32)
    every[draft.row] = rf
    columns = columns_of(loads, every, resources)
    follower = columns.follower_load[draft.row]
    extra = columns.leader_extra[draft.row]
    giver, receiver = _giver(draft), _receiver(draft)
    drops, gains = draft.is_dropped.any(axis=1, keepdims=True), draft.is_new.any(axis=1, keepdims=True)
    changes = draft.changes_leader
    given = follower * drops + extra * (changes & (draft.leader_from == giver))[:, None]
    received = follower * gains + extra * (changes & (draft.leader_to == receiver))[:, None]
    return given, received


def _what_is_repaired(
    draft: Draft, ratios: _Ratios, giver: Ints, receiver: Ints, given: Floats, received: Floats
) -> tuple[Ints, Longs, Flags]:
    """The broker, the resource and the side that stood furthest from its share, among those that the move changes."""
    over = np.where(given > 0, ratios.before[giver] - 1, -np.inf)
    under = np.where(received > 0, 1 - ratios.before[receiver], -np.inf)
    rows = np.arange(len(draft))
    worst_over, worst_under = over.argmax(axis=1), under.argmax(axis=1)
    is_over = over[rows, worst_over] >= under[rows, worst_under]
    return np.where(is_over, giver, receiver), np.where(is_over, worst_over, worst_under), is_over


def _balance_texts(
    plan_request: PlanRequest,
    outcome: Outcome,
    ratios: _Ratios,
    broker: Ints,
    d: Longs,
    is_over: Flags,
    without: Floats,
) -> tuple[list[str], list[str]]:
    ids = plan_request.brokers.arrays.ids
    names = [WORDS[name] for name in outcome.resources]
    reasons, worse = [], []
    columns = zip(
        ids[broker].tolist(), d.tolist(), is_over.tolist(), ratios.before[broker, d].tolist(),
        ratios.after[broker, d].tolist(), without.tolist(), strict=True,
    )  # fmt: skip
    for broker_id, resource, over, before, after, left_out in columns:
        verb = names[resource]
        if over:
            reasons.append(f"relieves broker {broker_id}: its {verb} {before:.2f} × its share")
        else:
            reasons.append(f"fills broker {broker_id}: its {verb} {before:.2f} × its share")
        one, other = told_apart(left_out, after)
        worse.append(f"broker {broker_id}'s {verb} {one} × its share instead of {other} ×")
    return reasons, worse


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
    shared = lacks_racks(draft.start, plan_request.brokers, target)
    repaired = shared & ~lacks_racks(draft.end, plan_request.brokers, target)
    for m in np.flatnonzero(repaired).tolist():
        reasons[m] = "puts replicas that share a rack on racks of their own"
        worse[m] = "one rack that fails takes more than one replica of the partition with it"
    offline = _offline(plan_request, draft)
    for m in np.flatnonzero(offline).tolist():
        reasons[m] = "its log dir is offline"
        worse[m] = "the partition lacks a replica until the disk is repaired"
    leaving: Any = (draft.start >= 0) & ~plan_request.brokers.arrays.stays[draft.start]
    for m in np.flatnonzero(leaving.any(axis=1)).tolist():
        b = int(draft.start[m][leaving[m]][0])
        state = STATE_WORDS[brokers[b].state]
        reasons[m] = f"leaves broker {ids[b]}, which is {state}"
        worse[m] = f"a replica stays on broker {ids[b]}, which is {state}"
    demoted = np.array([broker.state is BrokerState.DEMOTED for broker in brokers], dtype=np.bool_)
    for m in np.flatnonzero(demoted[draft.leader_from] & draft.changes_leader).tolist():
        reasons[m] = f"takes the lead from broker {ids[draft.leader_from[m]]}, which is demoted"
        worse[m] = f"broker {ids[draft.leader_from[m]]} goes on leading it"


def _offline(plan_request: PlanRequest, draft: Draft) -> Flags:
    marks = plan_request.partitions.placement.must_leave
    return np.zeros(len(draft), dtype=np.bool_) if marks is None else np.asarray(marks[draft.row].any(axis=1))


def _parts(copies: tuple[int, int], amounts: tuple[float, float], lost: int, won: int, *, is_sized: bool) -> str:
    parts = []
    for verb, count, amount in zip(("gives up", "receives"), copies, amounts, strict=True):
        if count:
            moves = f"{count:,} move{'s' if count > 1 else ''}"
            parts.append(f"{verb} {bytes_in_words(amount)} in {moves}" if is_sized else f"{verb} {moves}")
    if lost or won:
        parts.append(f"{lost:,} leaderships fewer, {won:,} more" if lost and won else
                     f"{lost:,} leaderships fewer" if lost else f"{won:,} leaderships more")  # fmt: skip
    return ", ".join(parts)


def _standing(state: BrokerState, resources: tuple[str, ...], before: Floats, after: Floats) -> str:
    if not state.stays:
        return f"it is {STATE_WORDS[state]}"
    d = int(np.abs(before - 1).argmax())
    return f"its {WORDS[resources[d]]} {before[d]:.2f} × its share, afterwards {after[d]:.2f} ×"
