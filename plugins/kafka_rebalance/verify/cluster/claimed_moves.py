"""The plan's moves as arrays over the snapshot's partitions, as far as they can be understood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify.cluster.arrays import ClusterArrays, Flags, Floats, Ints
from kafka_rebalance.verify.faults import FaultList

Longs = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ClaimedMoves:
    """M moves. ``row`` int64[M] partition rows; ``start`` and ``end`` int32[M, W'] broker indices, -1 padding.

    ``after`` int32[P, W'] is the whole placement once all are done, ``leader_after`` int32[P], ``own_after``
    float64[P, W'] the size of each replica (nan: as the leader's); ``copies`` int64[M] new replicas of each move,
    ``bytes`` float64[M] what copying them takes (nan: unknown).
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
    is_new: Flags  # [M, W']: copies of ``end`` that are not there yet
    is_dropped: Flags  # [M, W']: replicas of ``start`` that go


def read_moves(
    moves: list[dict[str, Any]], snapshot: ClusterSnapshot, cluster: ClusterArrays, faults: FaultList
) -> ClaimedMoves | None:
    """Moves as arrays; None where a partition, broker or list cannot be understood (faults say which)."""
    row_of, index = snapshot.row_of, cluster.index_of
    rows: list[int] = []
    seen: set[tuple[str, int]] = set()
    for number, move in enumerate(moves):
        place = f"moves[{number}]"
        key = (move["topic"], move["partition"])
        if key not in row_of:
            faults.add("partition_unknown", place, f"{key[0]}-{key[1]} is not in the snapshot")
        if key in seen:
            faults.add("partition_twice", place, f"{key[0]}-{key[1]} moves twice")
        seen.add(key)
        rows.append(row_of.get(key, -1))
        _check_brokers(move, place, index, faults)
    if rows != sorted(rows):
        faults.add("order", "plan.moves", "are not in the order of the snapshot's partitions")
    if faults.has_any("partition_unknown", "partition_twice", "broker_unknown", "broker_twice", "replication_factor"):
        return None
    return _arrays(moves, rows, cluster, index)


def _check_brokers(move: dict[str, Any], place: str, index: dict[int, int], faults: FaultList) -> None:
    unknown = [broker for broker in (*move["from"], *move["to"], move["leader_to"]) if broker not in index]
    if move["leader_from"] is not None and move["leader_from"] not in index:
        unknown.append(move["leader_from"])
    if unknown:
        faults.add("broker_unknown", place, f"broker {unknown[0]} is neither in the snapshot nor added")
    if len(set(move["to"])) != len(move["to"]):
        faults.add("broker_twice", place, f"`to` {move['to']} names a broker twice")
    if not move["to"]:
        faults.add("replication_factor", place, "`to` is empty")


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
    is_dropped = (start >= 0) & ~_contains(end, start)  # of what the plan says: `from` may be wrong, that is a fault
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


def _contains(held: Ints, wanted: Ints) -> Flags:
    """bool[M, W]: whether row m of ``held`` holds ``wanted[m, j]``."""
    return np.asarray((held[:, None, :] == wanted[:, :, None]).any(axis=2))


def _own_sizes(end: Ints, today: Ints, own: Floats) -> Floats:
    """Sizes along ``end``: what stays keeps its own, a new copy gets the leader's (nan)."""
    same = (end[:, :, None] == today[:, None, :]) & (end[:, :, None] >= 0)
    sizes = np.where(same, own[:, None, :], -np.inf).max(axis=2)
    return np.where(same.any(axis=2), sizes, np.nan)
