"""Snapshot, parameters and claimed moves as arrays, independent of the planner.

B brokers (the snapshot's, then added ones, each by id), P partitions, W = longest replica list. A cap is the lower of
its own and the capacity after headroom.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kafka_rebalance.facts import FactCode
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import Broker, BrokerState, ClusterSnapshot, PartitionLoads, partition_table
from kafka_rebalance.verify.document import is_topic_allowed, may_be_on
from kafka_rebalance.verify.faults import FaultList

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]

# A resource is balanced where this share of partitions has known loads.
NEEDED_SHARE = 0.9
KINDS = {
    "disk": LoadKind.LOG_BYTES,
    "in": LoadKind.IN_BYTES_PER_S,
    "out": LoadKind.OUT_BYTES_PER_S,
    "cpu": LoadKind.CPU_PERCENT,
}
CAPACITY_FIELDS = {
    "disk": "disk_bytes",
    "in": "in_bytes_per_s",
    "out": "out_bytes_per_s",
    "cpu": "cpu_percent",
    "potential_out": "out_bytes_per_s",
}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ClusterArrays:
    """Cluster for all rules.

    ``now`` int32[P, W] broker index, -1 padding, after running reassignments; ``leader`` int32[P], if removed the first
    that is left; ``own_bytes`` float64[P, W] along ``now`` (nan: its leader's size); ``unfinished_bytes`` float64[B]
    rest of running copies; ``unplaced_bytes`` float64[B] on disks beside replicas; ``size`` float64[P] the leader's
    replica. ``figures`` float64[P] of each metric; nan: unknown.
    ``is_added``: not in the snapshot. ``must_leave`` bool[P, W]: in a failed log dir, on a forbidden broker, or lagging
    in a list that must change; ``behind`` bool[P, W]: out of sync on a remaining broker; ``waiting`` bool[P]: pinned
    for that.
    """

    brokers: tuple[Broker, ...]
    is_added: Flags
    ids: npt.NDArray[np.int64]
    rack: Ints
    stays: Flags
    takes_replicas: Flags
    takes_leaders: Flags
    keeps_leaders: Flags
    now: Ints
    leader: Ints
    preferred: Ints  # leader of ``now`` after a preferred election
    own_bytes: Floats
    unfinished_bytes: Floats
    unplaced_bytes: Floats
    must_leave: Flags
    size: Floats
    rate: Floats  # bytes/s, nan: unknown
    read_rate: Floats  # bytes/s to clients
    figures: dict[str, Floats]
    sources: dict[str, str]  # by resource: source of its metric, or counted
    excluded: Flags
    observed: Flags  # has observers: Kafka's tool cannot keep them observers
    in_flight: Flags
    leaderless: Flags
    behind: Flags
    waiting: Flags
    short: Flags  # on a lost broker, with too few brokers to replace it, while others can move
    unknown: Flags
    under_replicated: Flags
    topic: Ints
    topic_names: tuple[str, ...]
    partition: Ints
    may_be_on: Flags  # bool[rules of places, B]: allowed brokers; the first row is of topics without a rule
    place_rule: Ints  # int32[P]: its row in ``may_be_on``

    @property
    def left_alone(self) -> Flags:
        return self.excluded | self.in_flight | self.leaderless | self.waiting | self.short

    def is_outside(self, row: npt.NDArray[np.int64], placement: Ints) -> Flags:
        is_replica = placement >= 0
        return np.asarray(
            is_replica & ~self.may_be_on[self.place_rule[row][:, None], np.where(is_replica, placement, 0)]
        )

    @property
    def index_of(self) -> dict[int, int]:
        return {int(broker): index for index, broker in enumerate(self.ids.tolist())}

    @property
    def has_whole_sizes(self) -> bool:
        """Whether all sizes are whole, so that sums are exact."""
        sizes = np.nan_to_num(self.size)
        width = max(self.now.shape[1], 1)
        return bool((sizes == np.floor(sizes)).all()) and float(sizes.sum()) * width < 2**52


def cluster_arrays(snapshot: ClusterSnapshot, parameters: PlanOptions) -> ClusterArrays:
    if not snapshot.brokers:  # a group table alone has no replicas
        snapshot = replace(snapshot, partitions=partition_table([], {}), loads=PartitionLoads())
    brokers = _brokers(snapshot, parameters)
    index = {broker.id: i for i, broker in enumerate(brokers)}
    table = snapshot.partitions
    now, own, offline, in_isr, in_sync = _placement(snapshot, index)
    figures = _known_figures(snapshot)
    size = snapshot.load(LoadKind.LOG_BYTES)
    names = np.array([is_topic_allowed(parameters, topic.name) for topic in snapshot.topics], dtype=np.bool_)
    stays = np.array([broker.state.stays for broker in brokers], dtype=np.bool_)
    closed = np.array([b.id in parameters.exclude_brokers or b.is_cordoned for b in brokers], dtype=np.bool_)
    excluded_leader = np.array([b.id in parameters.exclude_brokers for b in brokers], dtype=np.bool_)
    demoted = np.array([b.state is BrokerState.DEMOTED for b in brokers], dtype=np.bool_)
    unresponsive_ids = {broker.id for broker in snapshot.brokers if broker.state.is_unresponsive}
    unresponsive = np.array([b.id in unresponsive_ids for b in brokers], dtype=np.bool_)
    leader_index = np.full(len(table), -1, dtype=np.int32)
    led = table.leader >= 0
    leader_index[led] = [index[broker] for broker in table.leader[led].tolist()]
    for p, removed in table.removing.items():
        if int(table.leader[p]) in removed and now[p, 0] >= 0:
            leader_index[p] = now[p, 0]
    observed = np.zeros(len(table), dtype=np.bool_)
    observed[sorted(table.observers)] = True
    flying = np.zeros(len(table), dtype=np.bool_)
    flying[sorted({*table.adding, *table.removing})] = True
    may_be_on, place_rule = _place_rules(snapshot, parameters, brokers)
    is_replica = now >= 0
    outside = is_replica & ~may_be_on[place_rule[:, None], np.where(is_replica, now, 0)]
    takes_replicas, racks = stays & ~closed & ~unresponsive, _racks(brokers)
    excluded = ~names[table.topic] | observed if len(table) else observed
    behind = _behind(now, leader_index, in_isr, stays) & ~(offline | outside | (excluded | flying)[:, None])
    fixed = is_replica & (~stays[now] | offline | outside)
    open_to = takes_replicas & may_be_on
    waiting, drops = _judge_behind(now, behind, fixed, open_to, place_rule, racks, parameters)
    return ClusterArrays(
        brokers=brokers,
        is_added=np.arange(len(brokers)) >= len(snapshot.brokers),
        ids=np.array([broker.id for broker in brokers], dtype=np.int64),
        rack=racks,
        stays=stays,
        takes_replicas=takes_replicas,
        takes_leaders=stays & ~excluded_leader & ~demoted & ~unresponsive,
        keeps_leaders=stays & ~demoted,
        now=now,
        leader=leader_index,
        preferred=_elected(brokers, now, leader_index, observed | offline[:, 0]),
        own_bytes=own,
        unfinished_bytes=_unfinished(snapshot, index, size),
        unplaced_bytes=_unplaced(snapshot, brokers),
        must_leave=offline | outside | drops,
        may_be_on=may_be_on,
        place_rule=place_rule,
        size=size,
        rate=snapshot.load(LoadKind.IN_BYTES_PER_S),
        read_rate=snapshot.load(LoadKind.OUT_BYTES_PER_S),
        figures=figures,
        sources=_sources(snapshot, figures),
        excluded=excluded,
        observed=observed,
        in_flight=flying,
        leaderless=leader_index < 0,
        behind=behind,
        waiting=waiting,
        short=_short(
            brokers,
            now,
            offline | outside | drops,
            excluded | flying | (leader_index < 0) | waiting,
            open_to,
            place_rule,
            parameters,
        ),
        unknown=_unknown(figures, len(table)),
        under_replicated=(in_sync < _needed_in_sync(snapshot, now, index)) | offline.any(axis=1),
        topic=table.topic,
        topic_names=tuple(topic.name for topic in snapshot.topics),
        partition=table.partition,
    )


def _brokers(snapshot: ClusterSnapshot, parameters: PlanOptions) -> tuple[Broker, ...]:
    existing = []
    for broker in sorted(snapshot.brokers, key=lambda row: row.id):
        state = broker.state
        is_removed = broker.id in parameters.remove_brokers or broker.rack in parameters.remove_racks
        if is_removed and state.stays:
            state = BrokerState.DRAINING
        elif broker.id in parameters.demote_brokers and state.stays:
            state = BrokerState.DEMOTED
        existing.append(
            Broker(
                id=broker.id,
                rack=broker.rack,
                state=state,
                log_dirs=broker.log_dirs,
                capacity=broker.capacity,
                configs=broker.configs,
            )
        )
    ids = {broker.id for broker in existing}
    added = [
        Broker(id=new_broker, rack=parameters.add_brokers[new_broker], state=BrokerState.NEW)
        for new_broker in sorted(parameters.add_brokers)
    ]
    return (*existing, *(broker for broker in added if broker.id not in ids))


def _place_rules(snapshot: ClusterSnapshot, parameters: PlanOptions, brokers: tuple[Broker, ...]) -> tuple[Flags, Ints]:
    rows: list[tuple[bool, ...]] = [(True,) * len(brokers)]
    of_topic = np.zeros(max(len(snapshot.topics), 1), dtype=np.int32)
    for number, topic in enumerate(snapshot.topics):
        if parameters.topic_brokers and is_topic_allowed(parameters, topic.name):
            row = tuple(may_be_on(parameters, topic.name, broker.id, broker.rack) for broker in brokers)
            rows += [] if row in rows else [row]
            of_topic[number] = rows.index(row)
    return np.array(rows, dtype=np.bool_), np.asarray(of_topic[snapshot.partitions.topic])


def _racks(brokers: tuple[Broker, ...]) -> Ints:
    names = sorted({broker.rack for broker in brokers if broker.rack is not None})
    rack_of = {name: index for index, name in enumerate(names)}
    return np.array(
        [len(names) + i if b.rack is None else rack_of[b.rack] for i, b in enumerate(brokers)], dtype=np.int32
    )


def _behind(now: Ints, leader: Ints, in_isr: Flags, stays: Flags) -> Flags:
    return np.asarray((now >= 0) & stays[now] & ~in_isr & (leader >= 0)[:, None] & (now != leader[:, None]))


def _short(
    brokers: tuple[Broker, ...],
    now: Ints,
    must_leave: Flags,
    left_alone: Flags,
    open_to: Flags,
    place_rule: Ints,
    parameters: PlanOptions,
) -> Flags:
    """bool[P]: a replica on a lost broker cannot be replaced.

    None where that holds for all that must move, or where another replication factor is requested.
    """
    short, movable = np.zeros(len(now), dtype=np.bool_), False
    if not parameters.moves_replicas or parameters.replication_factor is not None:
        return short
    stays = [broker.state.stays for broker in brokers]
    suspects = (now >= 0) & (must_leave | ~np.array(stays, dtype=np.bool_)[now])
    for p in np.flatnonzero(suspects.any(axis=1) & ~left_alone).tolist():
        replicas = [int(b) for b in now[p] if b >= 0]
        kept = {b for b, leaves in zip(replicas, must_leave[p].tolist(), strict=False) if stays[b] and not leaves}
        usable = kept | (set(np.flatnonzero(open_to[place_rule[p]]).tolist()) - set(replicas))
        short[p] = len(usable) < len(replicas) and any(brokers[b].state.is_gone for b in replicas)
        movable = movable or not short[p]
    return short if movable else np.zeros_like(short)


def _elected(brokers: tuple[Broker, ...], now: Ints, leader: Ints, stays_led: Flags) -> Ints:
    """int32[P]: the first replica leads once in sync, unless the controller elects none; never a lost or removed
    broker.
    """
    if any(broker.configs.get("auto.leader.rebalance.enable") == "false" for broker in brokers):
        return leader
    serves = np.array([broker.state.stays for broker in brokers], dtype=np.bool_)
    first = now[:, 0]
    takes_over = (first >= 0) & (leader >= 0) & ~stays_led & serves[first]
    return np.asarray(np.where(takes_over, first, leader), dtype=np.int32)


def _judge_behind(
    now: Ints, behind: Flags, fixed: Flags, open_to: Flags, place_rule: Ints, rack: Ints, parameters: PlanOptions
) -> tuple[Flags, Flags]:
    """Return waiting partitions bool[P], and out-of-sync replicas that leave bool[P, W].

    A changed list may not keep a lagging replica. It leaves where the in-sync ones suffice, or where another replica
    must go (``fixed``) and brokers of ``open_to`` bool[rules of places, B] replace both, on as many racks as possible.
    """
    waiting, leave = np.zeros(len(now), dtype=np.bool_), np.zeros_like(behind)
    if not parameters.moves_replicas:
        return behind[:, 0], behind  # without new lists: these may not lead, and the first one will again
    for p in np.flatnonzero(behind.any(axis=1)).tolist():
        is_replica = now[p] >= 0
        factor = int(is_replica.sum()) if parameters.replication_factor is None else parameters.replication_factor
        good = set(now[p][is_replica & ~behind[p] & ~fixed[p]].tolist())
        goes = len(good) >= factor
        if not goes and fixed[p].any():
            may = set(np.flatnonzero(open_to[place_rule[p]]).tolist())
            usable = good | (may - set(now[p][is_replica].tolist()))
            needed = min(factor, len({int(rack[b]) for b in may}))
            goes = len(usable) >= factor and len({int(rack[b]) for b in usable}) >= needed
        leave[p] = behind[p] & goes
        waiting[p] = not goes
    return waiting, leave


def _placement(
    snapshot: ClusterSnapshot, index: dict[int, int]
) -> tuple[Ints, Floats, Flags, Flags, npt.NDArray[np.int64]]:
    table = snapshot.partitions
    counts = table.replica_counts
    width = int(counts.max(initial=1))
    now = np.full((len(table), width), -1, dtype=np.int32)
    own = np.full((len(table), width), np.nan)
    offline = np.zeros((len(table), width), dtype=np.bool_)
    row = table.row_of_replica
    column = np.arange(len(table.replicas)) - table.offsets[:-1][row]
    ids = np.array(sorted(index), dtype=np.int64)  # ids may be too large for a table
    position = np.array([index[broker] for broker in ids.tolist()], dtype=np.int32)
    now[row, column] = position[np.searchsorted(ids, table.replicas)]
    own[row, column] = np.where(table.replica_log_bytes < 0, np.nan, table.replica_log_bytes)
    in_isr = np.zeros((len(table), width), dtype=np.bool_)
    in_isr[row, column] = True if table.in_sync is None else table.in_sync
    in_sync = counts.copy() if table.in_sync is None else np.bincount(row, weights=table.in_sync, minlength=len(table))
    for p, brokers in table.offline.items():
        offline[p] = np.isin(now[p], [index[broker] for broker in brokers])
    for p, brokers in table.adding.items():
        own[p, np.isin(now[p], [index[broker] for broker in brokers])] = np.nan
    for p, brokers in table.removing.items():
        keep = [j for j in range(width) if now[p, j] >= 0 and int(table.replicas[table.offsets[p] + j]) not in brokers]
        for matrix, empty in ((now, -1), (own, np.nan), (offline, False), (in_isr, False)):
            kept = matrix[p, keep].copy()
            matrix[p] = empty
            matrix[p, : len(keep)] = kept
    return now, own, offline, in_isr, in_sync.astype(np.int64)


def _needed_in_sync(snapshot: ClusterSnapshot, now: Ints, index: dict[int, int]) -> npt.NDArray[np.int64]:
    """An observer counts only while in the ISR."""
    needed = (now >= 0).sum(axis=1)
    for p, brokers in snapshot.partitions.observers.items():
        in_isr = set(snapshot.partition(p).isr or ())
        idle = [index[broker] for broker in brokers if broker not in in_isr]
        needed[p] -= int(np.isin(now[p], idle).sum())
    return np.asarray(needed, dtype=np.int64)


def _unfinished(snapshot: ClusterSnapshot, index: dict[int, int], size: Floats) -> Floats:
    table = snapshot.partitions
    result = np.zeros(len(index))
    for p, brokers in table.adding.items():
        cells = slice(int(table.offsets[p]), int(table.offsets[p + 1]))
        written = dict(zip(table.replicas[cells].tolist(), table.replica_log_bytes[cells].tolist(), strict=True))
        for broker in set(brokers) & written.keys():
            if not np.isnan(size[p]):
                result[index[broker]] += max(float(size[p]) - max(written[broker], 0), 0.0)
    return result


def _unplaced(snapshot: ClusterSnapshot, brokers: tuple[Broker, ...]) -> Floats:
    copies = [copy for row in snapshot.partitions.future.values() for copy in row]
    return np.array(
        [
            float(
                sum(log_dir.stray_bytes for log_dir in b.log_dirs)
                + sum(c.log_bytes for c in copies if c.broker == b.id)
            )
            for b in brokers
        ]
    )


def _known_figures(snapshot: ClusterSnapshot) -> dict[str, Floats]:
    """Kinds known for most partitions. Out includes replication, so it needs in; cpu needs both."""
    figures = {}
    for name, kind in KINDS.items():
        values = snapshot.load(kind)
        if len(values) and 1 - np.isnan(values).mean() >= NEEDED_SHARE:
            figures[name] = values
    if "in" not in figures:
        figures.pop("out", None)
    if "out" not in figures:
        figures.pop("cpu", None)
    return figures


def _sources(snapshot: ClusterSnapshot, figures: dict[str, Floats]) -> dict[str, str]:
    sources = {"replicas": "counted", "leaders": "counted"}
    for name in figures:
        column = snapshot.loads.column(KINDS[name])
        sources[name] = (LoadSource.LOG_DIRS if column is None else column.source).value
    return sources


def _unknown(figures: dict[str, Floats], count: int) -> Flags:
    unknown = np.zeros(count, dtype=np.bool_)
    for values in figures.values():
        unknown |= np.isnan(values)
    return unknown


def cap_of(name: str, capacity: Floats | None, brokers: int, parameters: PlanOptions) -> Floats | None:
    """Return the cap; None without one, or for a headroom of an unknown capacity."""
    cap, share = parameters.caps.get(name), parameters.headroom.get(name)
    if cap is None and (share is None or capacity is None):
        return None
    most = np.full(brokers, np.inf if cap is None else float(cap))
    if share is not None and capacity is not None:
        most = np.minimum(most, capacity - share * capacity)
    return most


Longs = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ClaimedMoves:
    """M moves. ``row`` int64[M]; ``start`` and ``end`` int32[M, W'] broker indices, -1 padding.

    ``after`` int32[P, W'] and ``leader_after`` int32[P] follow all moves, as ``own_after`` float64[P, W'] (nan: the
    leader's size); ``bytes`` float64[M] copied (nan: unknown).
    """

    row: Longs
    start: Ints
    end: Ints
    leader_from: Ints
    leader_to: Ints
    after: Ints
    leader_after: Ints
    own_after: Floats
    copies: Longs
    bytes: Floats
    is_new: Flags
    is_dropped: Flags

    @property
    def changes_leader(self) -> Flags:
        return np.asarray(self.leader_from != self.leader_to)

    @property
    def changes_leader_back(self) -> Flags:
        """bool[M]: the rollback elects the first of the old list, which is not the new leader."""
        return np.asarray(self.changes_leader & (self.leader_to != self.start[:, 0]))


def read_moves(
    moves: list[dict[str, Any]], snapshot: ClusterSnapshot, cluster: ClusterArrays, faults: FaultList
) -> ClaimedMoves | None:
    """None where a partition, broker or list is invalid (faults name it)."""
    row_of, index = snapshot.row_of, cluster.index_of
    rows: list[int] = []
    keys: set[tuple[str, int]] = set()
    for number, move in enumerate(moves):
        location = f"moves[{number}]"
        key = (move["topic"], move["partition"])
        if key not in row_of:
            faults.add("partition_unknown", location, f"{key[0]}-{key[1]} is not in the snapshot")
        if key in keys:
            faults.add("partition_twice", location, f"{key[0]}-{key[1]} moves twice")
        keys.add(key)
        rows.append(row_of.get(key, -1))
        _check_brokers(move, location, index, faults)
    if rows != sorted(rows):
        faults.add("order", "plan.moves", "are not in the order of the snapshot's partitions")
    if faults.has_any("partition_unknown", "partition_twice", "broker_unknown", "broker_twice", "replication_factor"):
        return None
    return _arrays(moves, rows, cluster, index)


def _check_brokers(move: dict[str, Any], location: str, index: dict[int, int], faults: FaultList) -> None:
    unknown = [broker for broker in (*move["from"], *move["to"], move["leader_to"]) if broker not in index]
    if move["leader_from"] is not None and move["leader_from"] not in index:
        unknown.append(move["leader_from"])
    if unknown:
        faults.add("broker_unknown", location, f"broker {unknown[0]} is neither in the snapshot nor added")
    if len(set(move["to"])) != len(move["to"]):
        faults.add("broker_twice", location, f"`to` {move['to']} names a broker twice")
    if not move["to"]:
        faults.add("replication_factor", location, "`to` is empty")


def _arrays(
    moves: list[dict[str, Any]], rows: list[int], cluster: ClusterArrays, index: dict[int, int]
) -> ClaimedMoves:
    width = max([cluster.now.shape[1], *(len(move[name]) for move in moves for name in ("from", "to"))])
    row = np.array(rows, dtype=np.int64)
    start, end = (_matrix([[index[b] for b in move[name]] for move in moves], width) for name in ("from", "to"))
    leader_from = np.array([-1 if m["leader_from"] is None else index[m["leader_from"]] for m in moves], dtype=np.int32)
    leader_to = np.array([index[m["leader_to"]] for m in moves], dtype=np.int32)
    today = np.pad(cluster.now, ((0, 0), (0, width - cluster.now.shape[1])), constant_values=-1)
    own = np.pad(cluster.own_bytes, ((0, 0), (0, width - cluster.now.shape[1])), constant_values=np.nan)
    after, leader_after, own_after = today.copy(), cluster.leader.copy(), own.copy()
    if len(row):
        after[row], leader_after[row] = end, leader_to
        own_after[row] = _own_sizes(end, today[row], own[row])
    is_new = (end >= 0) & ~_contains(today[row], end)
    is_dropped = (start >= 0) & ~_contains(end, start)  # a wrong `from` is another fault
    copies = is_new.sum(axis=1)
    size = cluster.size[row]
    return ClaimedMoves(
        row=row, start=start, end=end, leader_from=leader_from, leader_to=leader_to, after=after,
        leader_after=leader_after, own_after=own_after, copies=copies,
        bytes=np.where(copies == 0, 0.0, copies * size), is_new=is_new, is_dropped=is_dropped,
    )  # fmt: skip


def _matrix(lists: list[list[int]], width: int) -> Ints:
    matrix = np.full((len(lists), width), -1, dtype=np.int32)
    for number, row in enumerate(lists):
        matrix[number, : len(row)] = row
    return matrix


def _contains(lists: Ints, brokers: Ints) -> Flags:
    return np.asarray((lists[:, None, :] == brokers[:, :, None]).any(axis=2))


def _own_sizes(end: Ints, today: Ints, own: Floats) -> Floats:
    same = (end[:, :, None] == today[:, None, :]) & (end[:, :, None] >= 0)
    sizes = np.where(same, own[:, None, :], -np.inf).max(axis=2)
    return np.where(same.any(axis=2), sizes, np.nan)


def rack_counts(rf: int, brokers_in: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], int]:
    """Return each rack's replicas in any even spread, and how many racks get one more."""
    depth = 0
    while np.minimum(brokers_in, depth + 1).sum() <= rf and depth < brokers_in.max(initial=0):
        depth += 1
    quota = np.minimum(brokers_in, depth)
    return quota, int(min(rf - quota.sum(), (brokers_in > depth).sum()))


_MANY = 2**31


def distinct_racks(cluster: ClusterArrays, placement: Ints) -> Longs:
    racks = np.where(placement >= 0, cluster.rack[placement], -1)
    racks.sort(axis=1)
    is_new = np.ones(racks.shape, dtype=np.bool_)
    is_new[:, 1:] = racks[:, 1:] != racks[:, :-1]
    return np.asarray((is_new & (racks >= 0)).sum(axis=1))


def is_spread_evenly(cluster: ClusterArrays, row: Longs, placement: Ints) -> Flags:
    """bool[M]: each replica has its own rack, or none could go to a rack with two fewer.

    ``placement`` int32[M, W] of the partitions ``row`` int64[M]; a replica cannot return to a broker that it must
    leave.
    """
    even = distinct_racks(cluster, placement) == (placement >= 0).sum(axis=1)
    rest = np.flatnonzero(~even)
    if len(rest):
        even[rest] = _evens_out(cluster, row[rest], placement[rest])
    return np.asarray(even)


def _evens_out(cluster: ClusterArrays, row: Longs, placement: Ints) -> Flags:
    rack_count = int(cluster.rack.max(initial=0)) + 1
    in_rack = _count_by_rack(cluster.rack, placement, placement >= 0, rack_count)
    closed = (placement >= 0) & cluster.takes_replicas[placement] & ~cluster.is_outside(row, placement)
    occupied = _count_by_rack(cluster.rack, placement, closed, rack_count)
    now = cluster.now[row]
    is_here = (now[:, :, None] == placement[:, None, :]).any(axis=2)
    barred = cluster.must_leave[row] & (now >= 0) & cluster.takes_replicas[now] & ~is_here
    occupied += _count_by_rack(cluster.rack, now, barred & ~cluster.is_outside(row, now), rack_count)
    open_in = np.stack(
        [
            np.bincount(cluster.rack, weights=cluster.takes_replicas & may, minlength=rack_count)
            for may in cluster.may_be_on
        ]
    )[cluster.place_rule[row]]
    emptiest = np.where(occupied < open_in, in_rack, _MANY).min(axis=1)
    return np.asarray(in_rack.max(axis=1) <= emptiest + 1)


def _count_by_rack(rack: Ints, placement: Ints, is_counted: Flags, rack_count: int) -> Longs:
    counts = np.zeros((len(placement), rack_count), dtype=np.int64)
    line = np.repeat(np.arange(len(placement)), is_counted.sum(axis=1))
    np.add.at(counts, (line, rack[placement[is_counted]]), 1)
    return counts


def check_preconditions(
    document: dict[str, Any], snapshot: ClusterSnapshot, parameters: PlanOptions, faults: FaultList
) -> None:
    moved = {move["topic"] for move in document["moves"]}
    ids = {topic.name: topic.topic_id for topic in snapshot.topics if topic.name in moved}
    faults.require_equal("identity", "plan.topic_ids", document["topic_ids"], ids)
    claimed, table = document["seen"], snapshot.partitions
    racks = dict(parameters.add_brokers) | {broker.id: broker.rack for broker in snapshot.brokers}
    reported = {int(broker): rack for broker, rack in claimed["broker_racks"].items()}
    faults.require_equal("identity", "plan.seen.broker_racks", reported, racks)
    dead = [broker.id for broker in snapshot.brokers if not broker.state.is_responsive]
    faults.require_equal("identity", "plan.seen.dead_brokers", sorted(claimed["dead_brokers"]), sorted(dead))
    count = Counter(table.topic.tolist())
    counts = {topic.name: count[index] for index, topic in enumerate(snapshot.topics) if topic.name in moved}
    faults.require_equal("identity", "plan.seen.topic_partitions", claimed["topic_partitions"], counts)
    rows = sorted({*table.adding, *table.removing})
    running = [[snapshot.topics[int(table.topic[row])].name, int(table.partition[row])] for row in rows]
    faults.require_equal(
        "identity", "plan.seen.reassigning", sorted(claimed["reassigning"], key=repr), sorted(running, key=repr)
    )


CANNOT_TELL = "cannot_tell"
# A snapshot's age at planning cannot be recomputed.
TOO_OLD = "snapshot_too_old"


def check_observability(document: dict[str, Any], snapshot: ClusterSnapshot, faults: FaultList) -> None:
    """Check necessary conditions: a ``cannot_tell`` has a cause, and claims nothing about unresponsive brokers."""
    if document["verdict"] == CANNOT_TELL:
        if document["moves"] or document["frontier"]:
            faults.add("verdict", "plan.verdict", "is cannot_tell, yet the plan has moves or points of a frontier")
        if _is_all_seen(snapshot) and not _is_too_old(document, snapshot):
            faults.add("verdict", "plan.verdict", "is cannot_tell, yet the whole cluster was read")
    elif not _is_any_alive(snapshot):
        faults.add("verdict", "plan.verdict", f"{document['verdict']}, yet no broker was seen alive")
    elif not (snapshot.partitions.leader >= 0).any():
        faults.add("verdict", "plan.verdict", f"{document['verdict']}, yet no partition was seen that has a leader")


def _is_too_old(document: dict[str, Any], snapshot: ClusterSnapshot) -> bool:
    first = next(iter(document.get("reasons", ())), None)
    return snapshot.captured_at is not None and first is not None and first["code"] == TOO_OLD


def _is_any_alive(snapshot: ClusterSnapshot) -> bool:
    return any(broker.state.is_responsive for broker in snapshot.brokers)


def _is_all_seen(snapshot: ClusterSnapshot) -> bool:
    table = snapshot.partitions
    if not snapshot.brokers or not len(table) or not bool((table.leader >= 0).all()) or table.offline:
        return False
    of_cluster = ("broker", "topic", "partition", "cluster", "right")
    if any(gap.subject_type in of_cluster or gap.lacks(FactCode.LACKS_LOAD) for gap in snapshot.coverage):
        return False
    healthy = all(
        broker.state.is_responsive and not any(log_dir.error for log_dir in broker.log_dirs)
        for broker in snapshot.brokers
    )
    unknown = [int(np.isnan(snapshot.load(kind)).sum()) for kind in KINDS.values()]
    return healthy and all(count in (0, len(table)) for count in unknown)
