"""Moves between dirs, one by one: what is there, where it goes, how many bytes that copies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.log_dirs.dir_places import BrokerDisks, Place


@dataclass(frozen=True, slots=True)
class DirChange:
    """One replica of move ``move`` that changes its dir."""

    move: int
    row: int
    broker: int
    source: Place
    target: Place
    size: int


def read_dir_moves(
    document: dict[str, Any], snapshot: ClusterSnapshot, disks: dict[int, BrokerDisks], faults: FaultList
) -> list[DirChange]:
    """All changes that can be followed; each that cannot is a fault."""
    row_of, changes = snapshot.row_of, list[DirChange]()
    rows: list[int] = []
    for number, move in enumerate(document["moves"]):
        name = f"moves[{number}] {move['topic']}-{move['partition']}"
        row = row_of.get((move["topic"], move["partition"]))
        if row is None:
            faults.add("partition_unknown", name, "is not in the snapshot")
            continue
        if row in rows:
            faults.add("partition_twice", name, "moves twice")
        rows.append(row)
        changes += _changes(number, name, move, (row, snapshot), disks, faults)
        if not move["reasons"]:
            faults.add("explanation", name, "no reason")
    if rows != sorted(rows):
        faults.add("order", "plan.moves", "are not in the snapshot's order")
    return changes


def _changes(
    number: int,
    name: str,
    move: dict[str, Any],
    at: tuple[int, ClusterSnapshot],
    disks: dict[int, BrokerDisks],
    faults: FaultList,
) -> list[DirChange]:
    row, snapshot = at
    partition = snapshot.partition(row)
    if move["kind"] != "log_dir":
        faults.add("move_idle", name, f"kind {move['kind']!r} should be 'log_dir'")
    if move["replicas"] != list(partition.replicas):
        faults.add("from_differs", name, f"replicas {move['replicas']} are not what the snapshot holds")
        return []
    if not len(move["dirs_from"]) == len(move["dirs_to"]) == len(partition.replicas):
        faults.add("log_dir_way", name, "dirs do not run along the replicas")
        return []
    changes = []
    for broker, old, new in zip(move["replicas"], move["dirs_from"], move["dirs_to"], strict=True):
        if old is None and new is None:
            continue
        change = _change(number, name, (row, broker, old, new), disks, faults)
        changes += [] if change is None else [change]
    if all(new is None for new in move["dirs_to"]):
        faults.add("move_idle", name, "changes nothing")
    found = sum(change.size for change in changes)
    if move["dir_bytes"] != found:
        faults.add("move_bytes", name, f"says {move['dir_bytes']}, {found} are copied")
    return changes


def _change(
    number: int,
    name: str,
    way: tuple[int, int, str | None, str | None],
    disks: dict[int, BrokerDisks],
    faults: FaultList,
) -> DirChange | None:
    row, broker, old, new = way
    place = f"{name} on broker {broker}"
    mine = disks.get(broker)
    source, target = (None if mine is None or path is None else mine.place_at(path) for path in (old, new))
    if source is None or target is None or mine is None:
        faults.add("log_dir_way", place, f"from {old} to {new}: not both are dirs of it that work")
        return None
    if row not in source.sizes:
        faults.add("log_dir_way", place, f"is not in {old}, or may not be moved now")
        return None
    if not any(one.path == new and not one.is_cordoned for one in target.dirs) or target.is_removed:
        faults.add("log_dir_closed", place, f"goes to {new}, which is cordoned or to be emptied")
    if mine.path_of[row] != old:
        faults.add("log_dir_way", place, f"is not in {old}")
    if source is target:
        faults.add("move_idle", place, f"{old} and {new} share a disk")
    return DirChange(number, row, broker, source, target, source.sizes[row])
