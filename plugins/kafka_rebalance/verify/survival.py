"""Checks of ``--survive``, of the reported losses, and of ``--min-topic-leaders``; every loss is simulated.

After a loss the first replica that is in service and in sync, or copied by the plan, leads.
- Reports: the takeover is the furthest above even; no load is higher over its capacity.
- ``--survive``: a feasible plan survives every loss; for an infeasible one today's placement does not
  (``verdict_rules``). Unchanged lists get more orders than allowed, or ones that spread nothing, only where survival
  needs them.
- ``--min-topic-leaders``: the largest matching rule holds for every broker that stays, may get replicas and leaders,
  and may hold the topic. With too few led partitions each leads the rounded-down share.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify.cluster import ClaimedMoves, ClusterArrays, Flags, Floats, Ints
from kafka_rebalance.verify.document import is_topic_allowed, may_be_on
from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.loads import Levels, weights_of
from kafka_rebalance.verify.moves import reordered, unevenness

Longs = npt.NDArray[np.int64]
_LOSS_CODE = "after_failure"
_WITH_CAPACITY = ("in", "out", "cpu")
_CLOSE = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """Placement: ``led_by`` rows by leading broker, ``can_lead`` bool[P, W], float64[B] loads by resource."""

    lists: Ints
    led_by: list[Longs]
    can_lead: Flags
    carried: Mapping[str, Floats]


@dataclass(frozen=True, slots=True)
class Loss:
    name: str
    is_lost: Flags


def check_after_failure(
    document: dict[str, Any],
    snapshot: ClusterSnapshot,
    claimed: ClaimedMoves,
    cluster: ClusterArrays,
    levels: Levels,
    faults: FaultList,
) -> None:
    reported = document["after_failure"]
    if reported is None:
        return
    named = {outcome["resource"] for outcome in document["resources"]}
    for time, lists, leader, carried in (
        ("before", cluster.now, cluster.leader, levels.before),
        ("after", claimed.after, claimed.leader_after, levels.after),
    ):
        carried_named = {name: load for name, load in carried.items() if name in named}
        held = held_of(snapshot, cluster, lists, leader, carried_named)
        for kind in ("broker", "rack"):
            losses = losses_of(kind, cluster)
            _check_worst(f"after_failure.{time}.{kind}", reported[time][kind], losses, (held, cluster, levels), faults)


def held_of(
    snapshot: ClusterSnapshot, cluster: ClusterArrays, lists: Ints, leader: Ints, carried: Mapping[str, Floats]
) -> Held:
    serves = _serves(cluster)
    order = np.argsort(leader, kind="stable")
    led_by = np.split(order, np.searchsorted(leader[order], np.arange(len(serves) + 1)))[1:-1]
    return Held(lists, led_by, can_lead(snapshot, cluster, lists, serves), carried)


def losses_of(kind: str, cluster: ClusterArrays) -> list[Loss]:
    serves = _serves(cluster)
    return single_brokers(cluster, serves) if kind == "broker" else racks(cluster, serves)


def _serves(cluster: ClusterArrays) -> Flags:
    return np.array([broker.state.is_responsive for broker in cluster.brokers], dtype=np.bool_)


def is_due(document: Mapping[str, Any], snapshot: ClusterSnapshot) -> bool:
    return (
        len(snapshot.partitions) > 0
        and any(broker.state.is_responsive for broker in snapshot.brokers)
        and (document["verdict"] != "cannot_tell")
    )


def can_lead(snapshot: ClusterSnapshot, cluster: ClusterArrays, lists: Ints, serves: Flags) -> Flags:
    able = (lists >= 0) & serves[lists]
    table, index = snapshot.partitions, cluster.index_of
    if table.in_sync is None:
        return np.asarray(able)
    for cell in np.flatnonzero(np.asarray(table.in_sync) == 0).tolist():
        row = int(table.row_of_replica[cell])
        able[row, lists[row] == index[int(table.replicas[cell])]] = False
    return np.asarray(able)


def single_brokers(cluster: ClusterArrays, serves: Flags) -> list[Loss]:
    everyone = np.arange(len(serves))
    return [Loss(str(int(cluster.ids[b])), everyone == b) for b in np.flatnonzero(serves).tolist()]


def racks(cluster: ClusterArrays, serves: Flags) -> list[Loss]:
    rack_of = [broker.rack if serves[b] else None for b, broker in enumerate(cluster.brokers)]
    names = sorted({rack for rack in rack_of if rack})
    return [Loss(name, np.array([rack == name for rack in rack_of])) for name in names] if len(names) > 1 else []


@dataclass(frozen=True, slots=True, eq=False)
class Simulated:
    leaders: Longs
    even: int
    carried: Mapping[str, Floats]


def simulate(held: Held, loss: Loss, extra: Mapping[str, Floats]) -> Simulated:
    count = len(loss.is_lost)
    rows = np.concatenate([held.led_by[b] for b in np.flatnonzero(loss.is_lost).tolist()])
    lists = held.lists[rows]
    able = held.can_lead[rows] & ~loss.is_lost[lists]
    could = len(np.unique(lists[able]))
    is_led = able.any(axis=1)
    heir = lists[np.flatnonzero(is_led), able[is_led].argmax(axis=1)]
    leaders = np.bincount(heir, minlength=count).astype(np.int64)
    carried = {
        name: load + np.bincount(heir, weights=extra[name][rows[is_led]], minlength=count)
        for name, load in held.carried.items()
        if name in extra
    }
    return Simulated(leaders, -(-int(leaders.sum()) // max(could, 1)), carried)


def highest_loads(
    held: Held, losses: list[Loss], cluster: ClusterArrays, levels: Levels
) -> Iterator[tuple[Loss, Simulated, dict[str, Floats]]]:
    """Yield each loss, its result, and float64[B] load over capacity by resource, -1: unknown."""
    serves = _serves(cluster)
    rf = (held.lists >= 0).sum(axis=1)
    names = [name for name in _WITH_CAPACITY if name in held.carried and levels.capacity.get(name) is not None]
    extra = {name: np.nan_to_num(weights_of(name, rf, cluster)[1]) for name in names}
    for loss in losses:
        simulated = simulate(held, loss, extra)
        ratios = {}
        for name in names:
            capacity = np.asarray(levels.capacity[name])
            usable = serves & ~loss.is_lost & (capacity > 0)
            ratios[name] = np.where(usable, simulated.carried[name] / np.where(capacity > 0, capacity, 1.0), -1.0)
        yield loss, simulated, ratios


def _check_worst(
    location: str,
    reported: dict[str, Any] | None,
    losses: list[Loss],
    standing: tuple[Held, ClusterArrays, Levels],
    faults: FaultList,
) -> None:
    held, cluster, levels = standing
    if (reported is None) is bool(losses):
        faults.add(
            _LOSS_CODE, location, "is missing" if losses else "is there although nothing of the kind can be lost"
        )
    if reported is None or not losses:
        return
    takeover: dict[str, Any] | None = None
    most, highest, load = None, -1.0, reported["load"]
    is_recomputed = load is None
    for loss, simulated, ratios in highest_loads(held, losses, cluster, levels):
        broker = int(simulated.leaders.argmax())
        above = int(simulated.leaders[broker]) - simulated.even
        if simulated.leaders[broker] and (most is None or above > most):
            most = above
            takeover = {
                "lost": loss.name, "broker": int(cluster.ids[broker]), "leaders": int(simulated.leaders[broker]),
                "even_leaders": simulated.even,
            }  # fmt: skip
        highest = max([highest, *(float(ratio.max()) for ratio in ratios.values())])
        if load is not None and load["lost"] == loss.name and load["resource"] in ratios:
            is_recomputed = True
            _check_load(location, load, simulated, ratios, (cluster, levels), faults)
    faults.require_equal(_LOSS_CODE, f"{location}.takeover", reported["takeover"], takeover)
    if not is_recomputed:
        faults.add(
            _LOSS_CODE, f"{location}.load", f"{str(load['lost'])[:40]!r} cannot be lost, or nothing is known of it"
        )
    if (load is None) is (highest >= 0):
        faults.add(
            _LOSS_CODE, f"{location}.load", "is missing" if load is None else "is there although nothing is known"
        )
    elif load is not None and load["load"] < highest * (1 - _CLOSE) * load["capacity"]:
        faults.add(_LOSS_CODE, f"{location}.load", f"another loss leads to {highest:.4g} × the capacity")


def _check_load(
    location: str,
    load: dict[str, Any],
    simulated: Simulated,
    ratios: dict[str, Floats],
    cluster_and_levels: tuple[ClusterArrays, Levels],
    faults: FaultList,
) -> None:
    cluster, levels = cluster_and_levels
    b, name = cluster.index_of.get(load["broker"], -1), load["resource"]
    if b < 0 or ratios[name][b] < 0:
        faults.add(
            _LOSS_CODE, f"{location}.load.broker", f"broker {load['broker']} is lost itself, or nothing is known of it"
        )
        return
    faults.require_close(_LOSS_CODE, f"{location}.load.load", load["load"], float(simulated.carried[name][b]))
    faults.require_close(
        _LOSS_CODE, f"{location}.load.capacity", load["capacity"], float(np.asarray(levels.capacity[name])[b])
    )


_SURVIVAL_CODE = "survive"
_JUDGED = ("rebalance", "nothing_to_do", "not_fixable_by_moving")


@dataclass(frozen=True, slots=True)
class Above:
    lost: str
    broker: int
    resource: str
    ratio: float


@dataclass(frozen=True, slots=True, eq=False)
class Placements:
    snapshot: ClusterSnapshot
    cluster: ClusterArrays
    claimed: ClaimedMoves
    levels: Levels
    named: frozenset[str]

    def above_today(self, kind: str) -> Above | None:
        return self._above(kind, self.cluster.now, self.cluster.leader, self.levels.before)

    def above_after(self, kind: str) -> Above | None:
        return self._above(kind, self.claimed.after, self.claimed.leader_after, self.levels.after)

    def above_without_orders(self, kind: str) -> Above | None:
        lists, is_reorder = self.claimed.after.copy(), reordered(self.claimed)
        lists[self.claimed.row[is_reorder]] = self.claimed.start[is_reorder]
        return self._above(kind, lists, self.claimed.leader_after, self.levels.after)

    def _above(self, kind: str, lists: Ints, leader: Ints, carried: Mapping[str, Floats]) -> Above | None:
        carried_named = {name: load for name, load in carried.items() if name in self.named}
        held = held_of(self.snapshot, self.cluster, lists, leader, carried_named)
        highest: Above | None = None
        for loss, _, ratios in highest_loads(held, losses_of(kind, self.cluster), self.cluster, self.levels):
            for name, ratio in ratios.items():
                b = int(ratio.argmax())
                if ratio[b] > max(1 + _CLOSE, 0.0 if highest is None else highest.ratio):
                    highest = Above(loss.name, int(self.cluster.ids[b]), name, float(ratio[b]))
        return highest


def check_survival(
    document: dict[str, Any], placements: Placements, parameters: PlanOptions, faults: FaultList
) -> None:
    kind = parameters.survive
    if kind is None or document["verdict"] not in _JUDGED:
        return
    above = placements.above_after(kind)
    if above is not None:
        faults.add(
            _SURVIVAL_CODE,
            "plan.after",
            f"without {kind} {above.lost[:40]} broker {above.broker} carries {above.ratio:.4g} × its capacity of "
            f"{above.resource}",
        )
        return
    if _is_beyond_what_was_allowed(placements, parameters) and placements.above_without_orders(kind) is None:
        faults.add("follower_order", "plan.moves", f"lists are reordered, and any {kind} would be survived without it")


def _is_beyond_what_was_allowed(placements: Placements, parameters: PlanOptions) -> bool:
    claimed, cluster = placements.claimed, placements.cluster
    is_reorder = reordered(claimed)
    if not is_reorder.any():
        return False
    as_before = claimed.after.copy()
    as_before[claimed.row[is_reorder]] = claimed.start[is_reorder]
    was, left = (unevenness(cluster, lists, claimed.leader_after) for lists in (as_before, claimed.after))
    return int(is_reorder.sum()) > parameters.max_reorders or left >= was


_CODE = "min_topic_leaders"


@dataclass(frozen=True, slots=True)
class TooFew:
    topic: str
    broker: int
    led: int
    least: int


def too_few_leaders(cluster: ClusterArrays, parameters: PlanOptions, leader: Ints) -> TooFew | None:
    """Return the first broker with too few."""
    if not parameters.min_topic_leaders:
        return None
    order = np.argsort(cluster.topic, kind="stable")
    first = np.searchsorted(cluster.topic[order], np.arange(len(cluster.topic_names) + 1))
    for number, name in enumerate(cluster.topic_names):
        demanded = [rule.leaders for rule in parameters.min_topic_leaders if re.fullmatch(rule.pattern, name)]
        if not demanded or not is_topic_allowed(parameters, name):
            continue
        rows = order[first[number] : first[number + 1]]
        eligible = [
            b
            for b, broker in enumerate(cluster.brokers)
            if cluster.takes_leaders[b] and cluster.takes_replicas[b]
            and may_be_on(parameters, name, broker.id, broker.rack)
        ]  # fmt: skip
        if not eligible or not len(rows):
            continue
        least = min(max(demanded), int((cluster.leader[rows] >= 0).sum()) // len(eligible))
        for b in eligible:
            led = int((leader[rows] == b).sum())
            if led < least:
                return TooFew(name, int(cluster.ids[b]), led, least)
    return None


def check_topic_leaders(
    document: dict[str, Any],
    claimed: ClaimedMoves,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    faults: FaultList,
) -> None:
    if document["verdict"] not in _JUDGED:
        return
    short = too_few_leaders(cluster, parameters, claimed.leader_after)
    if short is not None:
        text = f"broker {short.broker} leads {short.led} partitions of {short.topic[:60]}, {short.least} are asked for"
        faults.add(_CODE, "plan.after", text)
