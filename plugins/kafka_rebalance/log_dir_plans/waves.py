"""Moves between dirs in waves: in each there is room for both copies on every disk.

The largest first, while they fit; a wave's room is what its disks offer when it starts, for the source is removed only
once the copy is done. So a disk that has just been relieved is filled in the next wave. The way back fits, too: what a
disk gave is free on it. Where sizes are not known nothing is held back. O(waves × moves).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.log_dir_plans.plan import LogDirWave

Disk = tuple[int, int]  # broker, volume


@dataclass(frozen=True, slots=True)
class DirCopy:
    """One replica's way."""

    source: Disk
    target: Disk
    size_bytes: int


def cut_waves(
    moves: Sequence[Sequence[DirCopy]], free_bytes: Mapping[Disk, int], throttle_bytes_per_s: int, most_moves: int
) -> tuple[LogDirWave, ...]:
    """``free_bytes`` of each disk, without those of unknown size. Raises InfeasibleError where no order has room."""
    free = dict(free_bytes)
    left = sorted(range(len(moves)), key=lambda m: (-sum(copy.size_bytes for copy in moves[m]), m))
    waves = []
    while left:
        members, arriving = _fitting(moves, left, free, most_moves)
        if not members:
            raise InfeasibleError(fact(FactCode.DIR_MOVES_WITHOUT_ROOM, moves=len(left)), fact(FactCode.FREE_DIR))
        copies = [copy for m in members for copy in moves[m]]
        for disk in free:
            free[disk] -= arriving[disk]
        for copy in copies:
            if copy.source in free:
                free[copy.source] += copy.size_bytes
        busiest: Counter[int] = Counter()
        for copy in copies:
            busiest[copy.target[0]] += copy.size_bytes
        total = sum(copy.size_bytes for copy in copies)
        waves.append(LogDirWave(tuple(sorted(members)), total, max(busiest.values()) / throttle_bytes_per_s))
        left = [m for m in left if m not in set(members)]
    return tuple(waves)


def _fitting(
    moves: Sequence[Sequence[DirCopy]], left: Sequence[int], free: Mapping[Disk, int], most_moves: int
) -> tuple[list[int], Counter[Disk]]:
    members: list[int] = []
    arriving: Counter[Disk] = Counter()
    for m in left:
        wanted = Counter(arriving)
        for copy in moves[m]:
            wanted[copy.target] += copy.size_bytes
        if len(members) < most_moves and all(
            wanted[copy.target] <= free[copy.target] for copy in moves[m] if copy.target in free
        ):
            members.append(m)
            arriving = wanted
    return members, arriving
