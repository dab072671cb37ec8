"""Loads, shares and bands of brokers, before and after a plan, recomputed from the snapshot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from kafka_rebalance.options.plan_options import STEPS, PlanOptions
from kafka_rebalance.resources import RESOURCES, UNITS
from kafka_rebalance.snapshot.figures import Capacity
from kafka_rebalance.snapshot.model import BrokerState, LogDir
from kafka_rebalance.verify.cluster import (
    CAPACITY_FIELDS,
    ClaimedMoves,
    ClusterArrays,
    Flags,
    Floats,
    Ints,
    cap_of,
    distinct_racks,
    rack_counts,
)
from kafka_rebalance.verify.document import stops_at_step
from kafka_rebalance.verify.faults import FaultList

Longs = npt.NDArray[np.int64]

COUNTS = ("replicas", "leaders")
# Metrics of each resource, the main one first; counts have none.
MADE_OF = {
    "disk": ("disk",),
    "in": ("in",),
    "out": ("out", "in"),
    "cpu": ("cpu", "out", "in"),
    "replicas": (),
    "leaders": (),
    "leader_in": ("in",),
    "potential_out": ("out", "in"),
}
# Carried by all replicas; others by leaders; cpu by both.
OF_REPLICAS = ("disk", "in", "replicas", "potential_out")
OF_LEADERS_ALONE = ("out", "leaders", "leader_in")
OF_LEADERS = (*OF_LEADERS_ALONE, "cpu")
# Planned only by a target, a cap, a headroom or a further band.
ON_REQUEST = ("leader_in", "potential_out")


def known_resources(cluster: ClusterArrays) -> tuple[str, ...]:
    return tuple(name for name in RESOURCES if all(figure in cluster.figures for figure in MADE_OF[name]))


def resources_in_play(cluster: ClusterArrays, parameters: PlanOptions) -> tuple[str, ...]:
    return tuple(name for name in known_resources(cluster) if is_in_play(name, parameters))


def is_in_play(name: str, parameters: PlanOptions) -> bool:
    requested = (
        parameters.targets.keys() | parameters.caps.keys() | parameters.headroom.keys() | parameters.also_balance
    )
    return name not in ON_REQUEST or name in requested


def weights_of(name: str, rf: Longs, cluster: ClusterArrays) -> tuple[Floats, Floats]:
    """float64[P]: load of every replica, and the leader's additional one."""
    nothing, has_replicas = np.zeros(len(rf)), (rf > 0).astype(np.float64)
    if name == "replicas":
        return has_replicas, nothing
    if name == "leaders":
        return nothing, has_replicas
    if name in ("disk", "in"):
        return _figure(name, has_replicas, cluster), nothing
    written = _figure("in", has_replicas, cluster)
    if name == "leader_in":
        return nothing, written
    sent = _figure("out", has_replicas, cluster) + written * (rf - 1)
    if name == "potential_out":
        return sent, nothing
    if name == "out":
        return nothing, sent
    used = _figure("cpu", has_replicas, cluster)
    follower = _follower_cpu(used, written, sent)
    return follower, used - follower


def _figure(name: str, is_counted: Floats, cluster: ClusterArrays) -> Floats:
    return np.asarray(np.nan_to_num(cluster.figures[name]) * is_counted)


def _follower_cpu(cpu: Floats, written: Floats, sent: Floats) -> Floats:
    """Cruise Control's estimate: a follower's share is the replication part of writing and sending."""
    whole = 0.7 * written + 0.15 * sent
    share = np.zeros(len(cpu))
    np.divide(0.15 * written, whole, out=share, where=whole > 0)
    return np.asarray(cpu * np.minimum(share, 1.0))


_UNKNOWN = Capacity()


def loads_of(cluster: ClusterArrays, placement: Ints, leader: Ints, own_bytes: Floats) -> dict[str, Floats]:
    """float64[B] of each known resource.

    ``placement`` int32[P, W'] broker indices or -1, ``leader`` int32[P], ``own_bytes`` float64[P, W'] replica sizes
    (nan: the leader's). Unknown loads count 0.
    """
    rf = (placement >= 0).sum(axis=1)
    result = {}
    for name in known_resources(cluster):
        per_replica, per_leader = weights_of(name, rf, cluster)
        weight = np.repeat(per_replica[:, None], placement.shape[1], axis=1)
        if name == "disk":
            weight = np.where(np.isnan(own_bytes), weight, own_bytes)
        result[name] = _spread(cluster, placement, weight) + _lead(cluster, leader, per_leader)
    return result


def capacities_of(
    cluster: ClusterArrays, wished: Mapping[int, Capacity], headroom: frozenset[str] = frozenset()
) -> dict[str, Floats | None]:
    """float64[B] of each resource, None (equal capacities) unless every remaining broker has one.

    potential_out has that of out, only for a ``headroom``. Disk falls back to the volumes of the log dirs. An added
    broker of unknown capacity gets the mean of the others.
    """
    reported = _reported(cluster, wished, headroom)
    return {name: None if values is None else _filled(cluster, values) for name, values in reported.items()}


def limits_of(
    cluster: ClusterArrays, wished: Mapping[int, Capacity], headroom: frozenset[str] = frozenset()
) -> dict[str, Floats]:
    """float64[B] of each resource: as ``capacities_of``; where that is None, each known capacity, else inf."""
    result = {}
    for name, values in _reported(cluster, wished, headroom).items():
        filled_up = None if values is None else _filled(cluster, values)
        known = np.full(len(cluster.ids), np.inf) if values is None else np.where(np.isnan(values), np.inf, values)
        result[name] = known if filled_up is None else filled_up
    return result


def _reported(
    cluster: ClusterArrays, wished: Mapping[int, Capacity], headroom: frozenset[str]
) -> dict[str, Floats | None]:
    """float64[B] of each resource, nan where unknown; None: nobody asks."""
    result: dict[str, Floats | None] = dict.fromkeys(known_resources(cluster))
    for resource, field in CAPACITY_FIELDS.items():
        if resource not in result or (resource == "potential_out" and resource not in headroom):
            continue
        values = np.full(len(cluster.ids), np.nan)
        for b, broker in enumerate(cluster.brokers):
            claimed = getattr(wished.get(broker.id, _UNKNOWN), field)
            if claimed is None:
                claimed = getattr(broker.capacity, field)
            if claimed is None and resource == "disk":
                claimed = _volumes(broker.log_dirs)
            values[b] = np.nan if claimed is None else claimed
        result[resource] = values
    return result


def hard_limits(cluster: ClusterArrays, limits: Mapping[str, Floats], before: dict[str, Floats]) -> dict[str, Floats]:
    """float64[B]: most that a broker can carry; ``limits`` of ``limits_of``, inf where unknown.

    A disk offers Kafka's bytes plus its volumes' free space, since others may write there. Other bytes use capacity.
    """
    limits = dict(limits)
    if "disk" in limits:
        usable = [_volumes(broker.log_dirs, usable=True) for broker in cluster.brokers]
        offered = np.array([np.inf if free_bytes is None else free_bytes for free_bytes in usable])
        room = np.maximum(limits["disk"] - cluster.unplaced_bytes, 0.0)
        limits["disk"] = np.minimum(room, before["disk"] - cluster.unfinished_bytes + offered)
    return limits


def plain_mean(load: Floats, capacity: Floats | None, stays: Flags) -> float:
    total_capacity = float(stays.sum()) if capacity is None else float(capacity[stays].sum())
    return float(load[stays].sum()) / total_capacity if total_capacity > 0 else 0.0


def skew_of(load: Floats, capacity: Floats | None, stays: Flags) -> float:
    mean = plain_mean(load, capacity, stays)
    level = load if capacity is None else load / capacity
    return float(level[stays].max()) / mean if mean > 0 else 0.0


def topic_excess(cluster: ClusterArrays, placement: Ints) -> int:
    """Σ of a topic's replicas on one broker above ⌈topic's replicas / remaining brokers⌉."""
    row, column = np.nonzero(placement >= 0)
    if len(row) == 0:
        return 0
    topic = cluster.topic[row].astype(np.int64)
    pairs, count = np.unique(topic * len(cluster.ids) + placement[row, column], return_counts=True)
    replicas = np.bincount(topic)
    share = -(-replicas // max(int(cluster.stays.sum()), 1))
    return int(np.maximum(count - share[pairs // len(cluster.ids)], 0).sum())


def _spread(cluster: ClusterArrays, placement: Ints, weight: Floats) -> Floats:
    is_replica = placement >= 0
    return np.bincount(placement[is_replica], weights=weight[is_replica], minlength=len(cluster.ids)).astype(np.float64)


def _lead(cluster: ClusterArrays, leader: Ints, weight: Floats) -> Floats:
    led = leader >= 0
    return np.bincount(leader[led], weights=weight[led], minlength=len(cluster.ids)).astype(np.float64)


def _volumes(log_dirs: tuple[LogDir, ...], *, usable: bool = False) -> float | None:
    """Return volume bytes; dirs with equal figures share one volume."""
    reported = {(log_dir.total_bytes, log_dir.usable_bytes) for log_dir in log_dirs}
    chosen = [pair[1] if usable else pair[0] for pair in reported]
    if not chosen or any(figure is None for figure in chosen):
        return None
    total = float(sum(figure for figure in chosen if figure is not None))
    return total if usable or total > 0 else None


def _filled(cluster: ClusterArrays, values: Floats) -> Floats | None:
    is_reported = ~np.isnan(values)
    if not is_reported.any():
        return None
    unasked = np.array([b.state is BrokerState.NEW or b.state.is_unresponsive for b in cluster.brokers], dtype=np.bool_)
    if (~is_reported & cluster.stays & ~unasked).any():
        return None
    # One number for all brokers that did not report.
    return np.where(is_reported, values, float(values[is_reported].mean()))


_REPLICA_STEPS = 80
_REPLICA_TIGHT = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """``weight`` of one replica; ``everywhere`` int64[K] on each rack anyway, ``odd`` ones on one rack each."""

    weight: float
    everywhere: Longs
    odd: int


def pieces_of(rack: Longs, weight_of: Mapping[int, float]) -> list[Piece]:
    brokers_in = np.bincount(rack).astype(np.int64)
    return [Piece(weight, *rack_counts(rf, brokers_in)) for rf, weight in weight_of.items() if weight > 0]


def filled(share: Floats, capacity: Floats, rack: Longs, pieces: list[Piece]) -> Floats:
    """Return ``share`` float64[B] where it can be held, else the most even one; ``capacity`` float64[B] > 0."""
    total = float(share.sum())
    if _overfull(share, rack, pieces)[0] <= _REPLICA_TIGHT * total:
        return share
    risen = np.zeros(len(share))
    stopped = np.zeros(len(share), dtype=np.bool_)
    while not stopped.all():
        low, high = 0.0, total / float(capacity[~stopped].min())
        for _ in range(_REPLICA_STEPS):
            middle = (low + high) / 2
            over, _ = _overfull(np.where(stopped, risen, middle * capacity), rack, pieces)
            low, high = (middle, high) if over <= _REPLICA_TIGHT * 1e-3 * total else (low, middle)
        _, members = _overfull(np.where(stopped, risen, (high + _REPLICA_TIGHT * high) * capacity), rack, pieces)
        stops = members & ~stopped
        if not stops.any():
            stops = ~stopped
        left = _can_hold(members | stops, rack, pieces) - float(risen[stopped & members].sum())
        risen[stops] = left / float(capacity[stops].sum()) * capacity[stops]
        stopped |= stops
    return risen


def _overfull(share: Floats, rack: Longs, pieces: list[Piece]) -> tuple[float, Flags]:
    order = np.lexsort((-share, rack))
    inverse = np.empty(len(order), dtype=np.int64)
    inverse[order] = np.arange(len(order))
    racks, share = rack[order], share[order]
    depth = _depth(racks)
    begins = np.flatnonzero(depth == 0)
    worst, is_full = 0.0, np.zeros(len(share), dtype=np.bool_)
    for whole in _choices(pieces):
        adds, fixed = _adds(racks, depth, pieces, whole)
        sums = np.cumsum(share - adds)
        sums -= (sums - (share - adds))[begins][racks]
        most = np.maximum.reduceat(sums, begins)
        over = float(np.maximum(most, 0.0).sum()) - fixed
        if over > worst:
            last = np.minimum.reduceat(np.where((sums == most[racks]) & (sums > 0), depth, len(share)), begins)
            worst, is_full = over, (depth <= np.where(most > 0, last, -1)[racks])[inverse]
    return worst, is_full


def _can_hold(members: Flags, rack: Longs, pieces: list[Piece]) -> float:
    inside = np.sort(rack[members])
    depth = _depth(inside)
    sums = (_adds(inside, depth, pieces, whole) for whole in _choices(pieces))
    return min(float(adds.sum()) + fixed for adds, fixed in sums)


def _depth(rack: Longs) -> Longs:
    return np.asarray(np.arange(len(rack)) - np.searchsorted(rack, rack))


def _choices(pieces: list[Piece]) -> list[tuple[int, ...]]:
    some = [at for at, piece in enumerate(pieces) if piece.odd]
    return list(chain.from_iterable(combinations(some, count) for count in range(len(some) + 1)))


def _adds(rack: Longs, depth: Longs, pieces: list[Piece], whole: tuple[int, ...]) -> tuple[Floats, float]:
    """float64[B]: what each broker adds to earlier ones of its rack; and what any set holds."""
    adds, fixed = np.zeros(len(rack)), 0.0
    for at, piece in enumerate(pieces):
        if at in whole:
            fixed += piece.weight * piece.odd
        limit = piece.everywhere[rack] + (1 if piece.odd and at not in whole else 0)
        adds += piece.weight * (depth < limit)
    return adds, fixed


_SHARE_TIGHT = 1e-12


def fair_share_of(
    cluster: ClusterArrays,
    target_rf: npt.NDArray[np.int64],
    per_replica: Floats,
    broker_capacity: Floats,
) -> Floats:
    """float64[B]: fair load by ``broker_capacity`` (0: takes no part)."""
    brokers_in = np.bincount(cluster.rack, weights=broker_capacity > 0).astype(np.int64)
    rack_capacity = np.bincount(cluster.rack, weights=broker_capacity).astype(np.float64)
    used = np.flatnonzero(rack_capacity > 0)
    if len(used) == 0:
        return np.zeros(len(broker_capacity))
    base = np.zeros(len(used))
    extra = np.zeros(len(used) + 1)
    for rf in np.unique(target_rf).tolist():
        everywhere, odd = rack_counts(rf, brokers_in[used])
        weight = float(per_replica[target_rf == rf].sum())
        base += weight * everywhere
        extra += weight * np.minimum(odd, np.arange(len(used) + 1))
    level = np.zeros(len(rack_capacity))
    level[used] = _levels(rack_capacity[used], base, extra)
    share = level[cluster.rack] * broker_capacity
    takes_part = np.flatnonzero(broker_capacity > 0)
    classes = {rf: float(per_replica[target_rf == rf].sum()) for rf in np.unique(target_rf).tolist() if rf > 0}
    rack = np.unique(cluster.rack[takes_part], return_inverse=True)[1]
    share[takes_part] = filled(share[takes_part], broker_capacity[takes_part], rack, pieces_of(rack, classes))
    return np.asarray(share)


def _levels(capacity: Floats, base: Floats, extra: Floats) -> Floats:
    levels = np.zeros(len(capacity))
    rising = np.arange(len(capacity))
    frozen = 0
    while len(rising):
        level = _highest_level(capacity[rising], base[rising], extra[frozen:] - extra[frozen])
        fill = np.sort(level * capacity[rising] - base[rising])[::-1]
        slack = (extra[frozen + 1 :] - extra[frozen]) - np.cumsum(fill)
        tight = np.flatnonzero(slack <= _SHARE_TIGHT * max(float(capacity[rising].sum()) * level, 1e-300))
        count = int(tight[-1]) + 1 if len(tight) else len(rising)
        order = np.argsort(-(level * capacity[rising] - base[rising]), kind="stable")[:count]
        levels[rising[order]] = level
        rising = np.delete(rising, order)
        frozen += count
    return levels


def _highest_level(capacity: Floats, base: Floats, extra: Floats) -> float:
    """Return the highest level without an over-full set: from above, each time the level that the worst set allows."""
    level = float((base.sum() + extra[len(capacity)]) / capacity.sum())
    while True:
        fits, members = _fits(level, capacity, base, extra)
        allowed = float((base[members].sum() + extra[len(members)]) / capacity[members].sum())
        if fits or allowed >= level:  # rounding may keep it from falling
            return level
        level = allowed


def _fits(level: float, capacity: Floats, base: Floats, extra: Floats) -> tuple[bool, npt.NDArray[np.intp]]:
    order = np.argsort(-(level * capacity - base), kind="stable")
    over = np.cumsum((level * capacity - base)[order]) - extra[1 : len(capacity) + 1]
    worst = int(np.argmax(over))
    return bool(over[worst] <= _SHARE_TIGHT * max(level * float(capacity.sum()), 1e-300)), order[: worst + 1]


_SLACK = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """float64[B]: lowest and highest load inside."""

    low: Floats
    high: Floats


def band_of(
    outcome: Mapping[str, Any],
    before: Floats,
    capacity: Floats | None,
    cluster: ClusterArrays,
    parameters: PlanOptions,
) -> Band:
    band, plain = requested_band(outcome, before, capacity, cluster, parameters)
    widened_low, widened_high = outcome["widened_to"]
    low, high = band.low, band.high
    if widened_high is not None:
        high = np.where(cluster.stays, np.maximum(high, widened_high * plain), high)
    if widened_low is not None:
        low = np.where(cluster.stays, np.minimum(low, widened_low * plain), low)
    return Band(low, high)


def requested_band(
    outcome: Mapping[str, Any],
    before: Floats,
    capacity: Floats | None,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    *,
    relieves: bool = True,
) -> tuple[Band, Floats]:
    """Return the requested band, and the mean times capacity, float64[B].

    Removed brokers have [0, 0]. A broker that cannot get more has at most the later weight of its load as lower end (a
    leader sends less to fewer followers). The mean counts replicas at their leader's size.
    """
    name = outcome["resource"]
    broker_capacity = np.where(cluster.stays, 1.0 if capacity is None else capacity, 0.0)
    rf = target_factors(cluster, parameters)
    per_replica, per_leader = weights_of(name, rf, cluster)
    plain = (
        float((per_replica * rf).sum() + per_leader.sum()) / max(float(broker_capacity.sum()), 1e-300) * broker_capacity
    )
    basis = plain if outcome["basis"] == "plain_mean" else fair_share(name, broker_capacity, cluster, parameters)
    low, high = np.zeros(len(broker_capacity)), np.full(len(broker_capacity), np.inf)
    requested_low, requested_high = outcome["band_asked"]
    if requested_high is not None:
        high = requested_high * basis
    if requested_low is not None:
        low = requested_low * basis
    if name in COUNTS:
        low, high = _rounded(low, high, basis, is_target=outcome["basis"] == "plain_mean")
    if (cap := cap_of(name, capacity, len(low), parameters)) is not None:
        low, high = np.minimum(low, cap), np.minimum(high, cap)
    full = nearly_full(name, before, plain, cluster, parameters) if relieves else None
    if full is not None and full.relieved_to is not None:
        top = full.relieved_to * full.limit
        low, high = np.minimum(low, top), np.minimum(high, top)
    low, high = np.where(cluster.stays, low, 0.0), np.where(cluster.stays, high, 0.0)
    today = before if name == "disk" else _loads_today(per_replica, per_leader, cluster)
    return Band(_reachable(name, low, today, cluster), high), plain


# A broker above this share of capacity is relieved, by default to the other one, or to this much above the mean.
FULL_SHARE = 0.85
_RELIEVED_SHARE = 0.80
_ABOVE_MEAN = 1.02


@dataclass(frozen=True, slots=True, eq=False)
class NearlyFull:
    """bool[B]: brokers above ``FULL_SHARE`` of ``limit``; ``relieved_to`` None: moves do not help."""

    brokers: Flags
    limit: Floats
    share: Floats
    mean_share: float | None
    relieved_to: float | None


def nearly_full(
    name: str, load: Floats, plain: Floats, cluster: ClusterArrays, parameters: PlanOptions
) -> NearlyFull | None:
    """``plain``: the mean times capacity. Brokers of unknown capacity take what their band allows. None where no broker
    is, or an option orders this resource.
    """
    requested = parameters.targets.keys() | parameters.caps.keys() | parameters.headroom.keys() | set(ON_REQUEST)
    if name in requested or not cluster.stays.any():
        return None
    if parameters.band is None or parameters.is_within_ordered:
        return None
    if not parameters.moves_replicas and name not in OF_LEADERS:
        return None
    limit = limits_of(cluster, parameters.capacities, frozenset(parameters.headroom))[name]
    share = np.where(cluster.stays, load / limit, 0.0)
    brokers = share > FULL_SHARE * (1 + _SLACK)
    if not brokers.any():
        return None
    known = cluster.stays & np.isfinite(limit)
    unknown = cluster.stays & ~known
    rest = plain[cluster.stays].sum() - (1 + parameters.band) * plain[unknown].sum()
    mean = float(rest / limit[known].sum())
    edge = max(_RELIEVED_SHARE, _ABOVE_MEAN * mean)
    helps = bool(share.max() > _ABOVE_MEAN * edge * (1 + _SLACK))
    mean_share = None if unknown.any() else mean
    return NearlyFull(np.asarray(brokers), limit, share, mean_share, edge if helps else None)


def relieved_most(
    document: dict[str, Any], levels: Levels, cluster: ClusterArrays, parameters: PlanOptions
) -> dict[str, Floats]:
    """float64[B] of each relieved resource: today's load or where relief ends, ``relieved_to`` of a known capacity and
    the band of an unknown one.
    """
    result = {}
    for outcome in document["resources"]:
        name = outcome["resource"]
        before = levels.before[name]
        band, plain = requested_band(outcome, before, levels.capacity[name], cluster, parameters)
        full = nearly_full(name, before, plain, cluster, parameters)
        if full is not None and full.relieved_to is not None:
            end = np.where(np.isfinite(full.limit), full.relieved_to * full.limit, band.high)
            result[name] = np.maximum(end, before)
    return result


def _loads_today(per_replica: Floats, per_leader: Floats, cluster: ClusterArrays) -> Floats:
    is_replica, led = cluster.now >= 0, cluster.leader >= 0
    weight = np.broadcast_to(per_replica[:, None], is_replica.shape)
    return np.asarray(
        np.bincount(cluster.now[is_replica], weights=weight[is_replica], minlength=len(cluster.ids))
        + np.bincount(cluster.leader[led], weights=per_leader[led], minlength=len(cluster.ids))
    )


def _rounded(low: Floats, high: Floats, basis: Floats, *, is_target: bool) -> tuple[Floats, Floats]:
    is_open = np.ceil(low - _SLACK) > np.floor(high + _SLACK) if is_target else np.ones(len(basis), dtype=np.bool_)
    low = np.where(is_open, np.minimum(low, np.floor(basis + _SLACK)), low)
    return low, np.where(is_open & np.isfinite(high), np.maximum(high, np.ceil(basis - _SLACK)), high)


def _reachable(name: str, low: Floats, today: Floats, cluster: ClusterArrays) -> Floats:
    if name not in OF_LEADERS_ALONE:
        low = np.where(cluster.takes_replicas, low, np.minimum(low, today))
    if name in OF_LEADERS:
        low = np.where(cluster.takes_leaders, low, np.minimum(low, today))
        low = np.where(cluster.keeps_leaders, low, 0.0)
    return np.asarray(low)


def fair_share(name: str, broker_capacity: Floats, cluster: ClusterArrays, parameters: PlanOptions) -> Floats:
    rf = target_factors(cluster, parameters)
    per_replica, per_leader = weights_of(name, rf, cluster)
    may_lead = cluster.keeps_leaders | cluster.takes_leaders
    if name in OF_LEADERS_ALONE:
        broker_capacity = np.where(may_lead, broker_capacity, 0.0)
    share = fair_share_of(cluster, rf, per_replica, broker_capacity)
    leading = np.where(may_lead, broker_capacity, 0.0)
    leading = leading if leading.any() else broker_capacity
    return np.asarray(share + leading * (float(per_leader.sum()) / max(float(leading.sum()), 1e-300)))


def target_factors(cluster: ClusterArrays, parameters: PlanOptions) -> Longs:
    """Return replication factors; a pinned partition keeps its own, on remaining brokers, and where only an excluded
    topic keeps it on a removed one.
    """
    is_replica = cluster.now >= 0
    contradicts = cluster.excluded & ~cluster.in_flight & ~cluster.leaderless
    is_gone = np.array([broker.state.is_gone for broker in cluster.brokers], dtype=np.bool_)
    counts = cluster.stays[cluster.now] | (contradicts[:, None] & ~is_gone[cluster.now])
    rf = is_replica.sum(axis=1)
    if parameters.replication_factor is not None and parameters.moves_replicas:
        rf = np.full(len(rf), parameters.replication_factor)
    return np.asarray(np.where(cluster.left_alone, (is_replica & counts).sum(axis=1), rf))


SLACK = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """Loads float64[B] by resource; capacities None: equal."""

    before: dict[str, Floats]
    after: dict[str, Floats]
    elected_before: dict[str, Floats]
    elected_after: dict[str, Floats]
    capacity: dict[str, Floats | None]
    limit: dict[str, Floats]


def recompute(claimed: ClaimedMoves, cluster: ClusterArrays, parameters: PlanOptions) -> Levels:
    before = elected_before = loads_of(cluster, cluster.now, cluster.leader, cluster.own_bytes)
    after = elected_after = loads_of(cluster, claimed.after, claimed.leader_after, claimed.own_after)
    if (cluster.preferred != cluster.leader).any():
        elected_before = loads_of(cluster, cluster.now, cluster.preferred, cluster.own_bytes)
        elected = cluster.preferred.copy()
        elected[claimed.row] = claimed.leader_to
        elected_after = loads_of(cluster, claimed.after, elected, claimed.own_after)
    return Levels(
        before,
        after,
        elected_before,
        elected_after,
        capacities_of(cluster, parameters.capacities, frozenset(parameters.headroom)),
        limits_of(cluster, parameters.capacities, frozenset(parameters.headroom)),
    )


def check_outcomes(
    document: dict[str, Any],
    levels: Levels,
    claimed: ClaimedMoves,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    faults: FaultList,
) -> None:
    resources = [resource["resource"] for resource in document["resources"]]
    _check_which(document, resources, cluster, parameters, faults)
    _check_requested(document["resources"], levels, cluster, parameters, faults)
    for outcome in document["resources"]:
        name = outcome["resource"]
        if name in levels.before and name in document["before"] and name in document["after"]:
            _check_outcome(document, outcome, levels, cluster, faults)
    _check_preferred(document["preferred_leaders"], levels, cluster, faults)
    check_capacity(levels, cluster, faults)
    if document["verdict"] in ("rebalance", "nothing_to_do"):
        is_end = parameters.at not in STEPS or stops_at_step(document) is None
        check_caps(levels, cluster, parameters, faults, is_end=is_end)
    excess = [topic_excess(cluster, cluster.now), topic_excess(cluster, claimed.after)]
    faults.require_equal("topic_excess", "plan.topic_excess_replicas", document["topic_excess_replicas"], excess)
    for outcome in document["resources"]:
        if outcome["resource"] in levels.after:
            if document["verdict"] in ("infeasible", "cannot_tell"):
                location = f"resources.{outcome['resource']}.widened_to"
                faults.require_equal("band", location, outcome["widened_to"], [None, None])
                continue
            if document["verdict"] in ("rebalance", "nothing_to_do"):
                _check_band(outcome, levels, cluster, parameters, faults)
            check_widened(outcome, levels, cluster, parameters, faults)


def _check_which(
    document: dict[str, Any],
    resources: list[str],
    cluster: ClusterArrays,
    parameters: PlanOptions,
    faults: FaultList,
) -> None:
    measured = [
        resource
        for resource in resources_in_play(cluster, parameters)
        if parameters.moves_replicas or resource in OF_LEADERS
    ]
    if not len(cluster.ids):
        measured = []
    if [resource for resource in RESOURCES if resource in resources] != resources:
        faults.add("order", "plan.resources", "are not in order")
    if (document["left_out"].keys() | set(resources)) - set(RESOURCES):
        faults.add("resource", "plan.resources", "one is no resource")
    _check_left_out(document["left_out"], resources, measured, parameters, faults)
    if len(set(resources)) != len(resources):
        faults.add("resource", "plan.resources", "one stands twice")
    for field in ("before", "after"):
        if set(document[field]) != set(resources):
            faults.add(field, f"plan.{field}", f"holds {sorted(document[field])}, resources are {sorted(resources)}")


def _check_left_out(
    left_out: dict[str, Any], resources: list[str], measured: list[str], parameters: PlanOptions, faults: FaultList
) -> None:
    """A resource is balanced where known and changeable, else left out with its reason."""
    for name in RESOURCES:
        stands = (name in resources) + (name in left_out)
        if not is_in_play(name, parameters):
            if stands:
                faults.add("resource", name, "is in the plan, though no option names it")
        elif stands != 1:
            faults.add("resource", name, "stands neither once among resources nor among those left out")
        elif name in resources and name not in measured:
            faults.add("resource", name, "is balanced although it is not known")
        elif name in left_out and name in measured:
            faults.add("resource", name, "is left out although it is known")


def _check_requested(
    resources: list[dict[str, Any]],
    levels: Levels,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    faults: FaultList,
) -> None:
    for outcome in resources:
        name = outcome["resource"]
        within = parameters.band
        watched = watched_rate(name, levels, cluster, parameters)
        _check_watched(outcome, watched, cluster, faults)
        if name in parameters.targets:
            target = parameters.targets[name]
            basis, band = "plain_mean", [target.low, target.high]
        elif watched is not None:
            plain = requested_band(outcome, levels.before[name], levels.capacity[name], cluster, parameters)[1]
            at = int(cluster.stays.argmax())
            basis, band = "plain_mean", [None, BUSY_SHARE * float(watched.capacity[at] / plain[at])]
        else:
            is_bare = within is None or (name in ON_REQUEST and name not in parameters.also_balance)
            basis, band = "fair_share", [None, None] if is_bare else [1 - (within or 0.0), 1 + (within or 0.0)]
        faults.require_equal("band", f"resources.{name}.basis", outcome["basis"], basis)
        faults.require_equal(
            "band", f"resources.{name}.is_ordered", outcome["is_ordered"], is_ordered(name, parameters)
        )
        for side, claimed, expected in zip(("low", "high"), outcome["band_asked"], band, strict=True):
            faults.require_close("band", f"resources.{name}.band_asked {side}", claimed, expected)


# Rates above this share of capacity are balanced. Unknown capacity: the fullest broker's load plus the throttle.
BUSY_SHARE = 0.5
_RATES = ("in", "out", "cpu")
_THROTTLED = ("in", "out")


@dataclass(frozen=True, slots=True, eq=False)
class WatchedRate:
    load: Floats
    capacity: Floats
    is_assumed: bool


def watched_rate(name: str, levels: Levels, cluster: ClusterArrays, parameters: PlanOptions) -> WatchedRate | None:
    """Return the rate if no band is given and every broker is below half of its capacity; else None."""
    requested = parameters.targets.keys() | parameters.caps.keys() | parameters.headroom.keys()
    is_free = parameters.band is not None and not parameters.is_within_ordered and name not in requested
    given_capacity = levels.capacity.get(name)
    if name not in _RATES or name not in levels.before or not is_free or not cluster.stays.any():
        return None
    load = np.where(cluster.stays, np.maximum(levels.before[name], levels.elected_before[name]), 0.0)
    is_busy = bool((load >= BUSY_SHARE * levels.limit[name]).any())
    if given_capacity is None and (name not in _THROTTLED or is_busy):
        return None
    most = float(load.max()) + parameters.throttle_bytes_per_s
    capacity = np.full(len(load), most) if given_capacity is None else given_capacity
    if not 0 < float((load / capacity).max()) < BUSY_SHARE:
        return None
    return WatchedRate(load, capacity, given_capacity is None)


def _check_watched(
    outcome: dict[str, Any], rate: WatchedRate | None, cluster: ClusterArrays, faults: FaultList
) -> None:
    location, claimed = f"resources.{outcome['resource']}.watched", outcome["watched"]
    if (claimed is None) is not (rate is None):
        faults.add("band", location, "is said of another rate than of those that no broker carries half of")
    elif rate is not None and claimed is not None:
        faults.require_equal("band", f"{location}.is_assumed", claimed["is_assumed"], rate.is_assumed)
        index = {str(broker): at for at, broker in enumerate(cluster.ids.tolist())}.get(str(claimed["broker"]))
        share = rate.load / rate.capacity
        if index is None or share[index] < float(share.max()) * (1 - SLACK):
            faults.add("band", f"{location}.broker", f"{claimed['broker']} is not the fullest broker")
            return
        faults.require_close("band", f"{location}.load", claimed["load"], float(rate.load[index]))
        faults.require_close("band", f"{location}.capacity", claimed["capacity"], float(rate.capacity[index]))


def is_ordered(name: str, parameters: PlanOptions) -> bool:
    is_bare = name in ON_REQUEST and name not in parameters.also_balance
    return name in parameters.targets or (parameters.is_within_ordered and not is_bare)


def _check_outcome(
    document: dict[str, Any], outcome: dict[str, Any], levels: Levels, cluster: ClusterArrays, faults: FaultList
) -> None:
    name = outcome["resource"]
    capacity = levels.capacity[name]
    for field, loads in (("before", levels.before[name]), ("after", levels.after[name])):
        claimed = document[field][name]
        scale = float(loads.sum()) / max(len(loads), 1)
        is_exact = name in COUNTS or (name == "disk" and cluster.has_whole_sizes)
        if set(claimed) != {str(broker_id) for broker_id in cluster.ids.tolist()}:
            faults.add(field, f"{field}.{name}", "its brokers are not those of the cluster")
            continue
        for broker, load in zip(cluster.ids.tolist(), loads.tolist(), strict=True):
            reported = claimed[str(broker)]
            if not is_exact:
                faults.require_close(field, f"{field}.{name}.{broker}", reported, load, scale)
            elif reported != load:
                faults.add(field, f"{field}.{name}.{broker}", f"says {reported!r}, recomputed {load!r}")
    ids = map(str, cluster.ids.tolist())
    expected = None if capacity is None else dict(zip(ids, capacity.tolist(), strict=True))
    if outcome["capacity"] != expected:
        faults.add("mean", f"resources.{name}.capacity", "capacities are not those of snapshot and parameters")
    if outcome["unit"] != UNITS[name]:
        faults.add("resource", f"resources.{name}.unit", f"{outcome['unit'][:40]!r} should be {UNITS[name]!r}")
    source = cluster.sources[MADE_OF[name][0]] if MADE_OF[name] else "counted"
    if outcome["source"] != source:
        faults.add("resource", f"resources.{name}.source", f"{outcome['source'][:40]!r} is not {source}")
    mean = plain_mean(levels.after[name], capacity, cluster.stays)
    faults.require_close("mean", f"resources.{name}.mean_level", outcome["mean_level"], mean)
    for field, loads in (("skew_before", levels.before[name]), ("skew_after", levels.after[name])):
        faults.require_close(
            "skew", f"resources.{name}.{field}", outcome[field], skew_of(loads, capacity, cluster.stays)
        )


def _check_preferred(
    claimed: dict[str, dict[str, int]] | None, levels: Levels, cluster: ClusterArrays, faults: FaultList
) -> None:
    if claimed is None:  # a plan without brokers
        return
    for time, loads in (("before", levels.elected_before["leaders"]), ("after", levels.elected_after["leaders"])):
        counted = {
            str(broker): round(count) for broker, count in zip(cluster.ids.tolist(), loads.tolist(), strict=True)
        }
        faults.require_equal("preferred_leaders", f"plan.preferred_leaders.{time}", claimed[time], counted)


def check_capacity(levels: Levels, cluster: ClusterArrays, faults: FaultList) -> None:
    limits = hard_limits(cluster, levels.limit, levels.before)
    for name, after in levels.after.items():
        allowed = np.maximum(limits[name], levels.before[name])
        over = cluster.stays & (after > allowed * (1 + SLACK))
        for b in np.flatnonzero(over).tolist():
            faults.add(
                "capacity", f"broker {cluster.ids[b]}", f"{name} rises to {after[b]:g}, it carries {allowed[b]:g}"
            )


def check_caps(
    levels: Levels, cluster: ClusterArrays, parameters: PlanOptions, faults: FaultList, *, is_end: bool
) -> None:
    """All steps together keep every cap; the first of them lift no broker above one."""
    for name in sorted(parameters.caps.keys() | parameters.headroom.keys()):
        is_share_of_nothing = name in parameters.headroom and levels.capacity.get(name) is None
        cap = cap_of(name, levels.capacity.get(name), len(cluster.ids), parameters)
        if name not in levels.after or cap is None or is_share_of_nothing:
            kind = "headroom" if is_share_of_nothing else "caps"
            faults.add("capacity", f"parameters.{kind}.{name[:20]}", "it is unknown whether it is kept")
            continue
        allowed = cap if is_end else np.maximum(cap, levels.before[name])
        over = cluster.stays & (levels.after[name] > allowed * (1 + SLACK))
        for b in np.flatnonzero(over).tolist():
            message = f"{name} comes to {levels.after[name][b]:g}, its cap is {cap[b]:g}"
            faults.add("capacity", f"broker {cluster.ids[b]}", message)


def _check_band(
    outcome: dict[str, Any], levels: Levels, cluster: ClusterArrays, parameters: PlanOptions, faults: FaultList
) -> None:
    name = outcome["resource"]
    after = levels.after[name]
    band = band_of(outcome, levels.before[name], levels.capacity[name], cluster, parameters)
    slack = SLACK * max(float(np.nanmax(np.where(np.isfinite(band.high), band.high, 0.0))), 1.0)
    over = cluster.stays & (after > band.high + slack)
    under = cluster.stays & (after < band.low - slack)
    for side, wrong in (("above its allowed range", over), ("below its allowed range", under)):
        for b in np.flatnonzero(wrong).tolist():
            faults.add("band", f"broker {cluster.ids[b]}", f"{name} {after[b]:g} is {side}")


def check_widened(
    outcome: Mapping[str, Any], levels: Levels, cluster: ClusterArrays, parameters: PlanOptions, faults: FaultList
) -> None:
    name = outcome["resource"]
    after = levels.after[name]
    band, plain = requested_band(outcome, levels.before[name], levels.capacity[name], cluster, parameters)
    usable = cluster.stays & (plain > 0)
    if not usable.any():
        return
    slack = 2 * SLACK * (float(plain.max()) + 1)
    level = after / np.where(plain > 0, plain, 1.0)
    sides = (
        ("low", usable & (after < band.low + slack), usable & (after < band.low - slack), np.min),
        ("high", usable & (after > band.high - slack), usable & (after > band.high + slack), np.max),
    )
    for (side, nearly, surely, outermost), claimed in zip(sides, outcome["widened_to"], strict=True):
        location = f"resources.{name}.widened_to {side}"
        if claimed is None and surely.any():
            faults.add("band", location, "some broker is outside the requested allowed range, and it is not widened")
        elif claimed is not None:
            _check_widening(location, claimed, level[nearly], level[surely], outermost, faults)


def _check_widening(
    location: str,
    claimed: float,
    nearly: Floats,
    surely: Floats,
    outermost: Callable[[Floats], float],
    faults: FaultList,
) -> None:
    """``claimed`` is the level of a broker outside or at the edge, and the outermost."""
    rounding = 1e-7 * max(abs(claimed), 1.0)
    if not (np.abs(nearly - claimed) <= rounding).any():
        faults.add("band", location, f"says {claimed:g}, and no broker outside the requested allowed range is there")
    elif len(surely) and abs(float(outermost(np.append(surely, claimed))) - claimed) > rounding:
        faults.add("band", location, f"says {claimed:g}, the furthest broker stands at {outermost(surely):g}")


def must_change(cluster: ClusterArrays, parameters: PlanOptions) -> bool:
    free = ~cluster.left_alone
    if (free & (~cluster.keeps_leaders[cluster.leader] | ~cluster.keeps_leaders[cluster.preferred])).any():
        return True
    return parameters.moves_replicas and _must_move(cluster, parameters, free)


def waits_for_sync(cluster: ClusterArrays, parameters: PlanOptions) -> bool:
    return parameters.moves_replicas and _must_move(cluster, parameters, cluster.waiting)


def waits_for_reassignment(cluster: ClusterArrays, parameters: PlanOptions) -> bool:
    stuck = (cluster.now >= 0) & ~cluster.stays[cluster.now] & cluster.in_flight[:, None]
    return parameters.moves_replicas and bool(stuck.any())


def _must_move(cluster: ClusterArrays, parameters: PlanOptions, free: Flags) -> bool:
    is_movable = (cluster.now >= 0) & free[:, None]
    if (is_movable & (~cluster.stays[cluster.now] | cluster.must_leave)).any():
        return True
    count = (cluster.now >= 0).sum(axis=1)
    rf = count if parameters.replication_factor is None else np.full(len(count), parameters.replication_factor)
    open_racks = len(np.unique(cluster.rack[cluster.takes_replicas]))
    shares = distinct_racks(cluster, cluster.now) < np.minimum(rf, open_racks)
    return bool((free & ((count != rf) | shares)).any())


def _asks_beyond_its_budget(cluster: ClusterArrays, parameters: PlanOptions) -> bool:
    off = ~cluster.left_alone & (cluster.leader != cluster.now[:, 0])
    if parameters.preferred_election and parameters.max_leader_changes is not None and bool(off.any()):
        return int(off.sum()) > parameters.max_leader_changes
    return parameters.max_move_bytes is not None and bool(np.isnan(cluster.size).any())


def is_above_a_cap(cluster: ClusterArrays, parameters: PlanOptions, levels: Levels) -> bool:
    for name, load in levels.before.items():
        cap = cap_of(name, levels.capacity.get(name), len(cluster.ids), parameters)
        if cap is not None and (cluster.stays & (load > cap * (1 + SLACK))).any():
            return True
    return False


def breaks_a_hard_rule(cluster: ClusterArrays, parameters: PlanOptions, levels: Levels) -> bool:
    """Whether today's placement breaks a hard rule: only then can a plan be infeasible."""
    is_replica = cluster.now >= 0
    on_leaving = (is_replica & ~cluster.stays[cluster.now]).any()
    if on_leaving or must_change(cluster, parameters) or _asks_beyond_its_budget(cluster, parameters):
        return True
    if is_above_a_cap(cluster, parameters, levels):
        return True
    limits = hard_limits(cluster, levels.limit, levels.before)
    for name, limit in limits.items():
        rf = target_factors(cluster, parameters)
        per_replica, per_leader = weights_of(name, rf, cluster)
        total_capacity = float(limit[cluster.stays].sum())
        if (cluster.stays & (levels.before[name] > limit * (1 + SLACK))).any():
            return True
        if float((per_replica * rf).sum() + per_leader.sum()) > total_capacity * (1 - SLACK):
            return True
        cap = cap_of(name, levels.capacity.get(name), len(cluster.ids), parameters)
        if cap is None:
            continue
        if float((per_replica * rf).sum() + per_leader.sum()) > float(cap[cluster.stays].sum()) * (1 - SLACK):
            return True
    return False
