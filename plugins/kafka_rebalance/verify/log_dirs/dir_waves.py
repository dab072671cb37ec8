"""Waves of moves between dirs: each move in one, bytes, seconds, and room for both copies on every disk."""

from __future__ import annotations

from collections import Counter
from typing import Any

from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.log_dirs.dir_moves import DirChange
from kafka_rebalance.verify.log_dirs.dir_places import BrokerDisks


def check_dir_waves(
    document: dict[str, Any], disks: dict[int, BrokerDisks], changes: list[DirChange], faults: FaultList
) -> None:
    """In order; what a wave frees is free in the next one."""
    if not _check_members(document, faults):
        return
    free = {(broker, disk): usable for broker, mine in disks.items() for disk, usable in enumerate(mine.usable)}
    throttle, most = (document["parameters"][name] for name in ("throttle_bytes_per_s", "partitions_per_wave"))
    for number, wave in enumerate(document["waves"]):
        place, members = f"waves[{number}]", set(wave["moves"])
        own = [change for change in changes if change.move in members]
        arriving: Counter[tuple[int, int]] = Counter()
        leaving: Counter[tuple[int, int]] = Counter()
        by_broker: Counter[int] = Counter()
        for change in own:
            arriving[change.broker, change.target.disk] += change.size
            leaving[change.broker, change.source.disk] += change.size
            by_broker[change.broker] += change.size
        for disk, amount in arriving.items():
            if disk in free and amount > free[disk]:
                faults.add(
                    "log_dir_room", place, f"{amount} bytes come to a disk of broker {disk[0]}, {free[disk]} fit"
                )
        for disk in free:
            free[disk] += leaving[disk] - arriving[disk]
        if len(members) > most:
            faults.add("wave_limit", place, f"{len(members)} partitions, {most} allowed in one file")
        faults.require_equal("wave_bytes", f"{place}.dir_bytes", wave["dir_bytes"], sum(by_broker.values()))
        seconds = max(by_broker.values(), default=0) / throttle
        faults.require_close("wave_seconds", f"{place}.seconds", wave["seconds"], seconds)
    whole = sum(wave["seconds"] for wave in document["waves"])
    faults.require_close("cost", "plan.seconds", document["seconds"], whole)


def _check_members(document: dict[str, Any], faults: FaultList) -> bool:
    moves = document["moves"]
    listed = [(member, number) for number, wave in enumerate(document["waves"], 1) for member in wave["moves"]]
    if sorted(member for member, _ in listed) != list(range(len(moves))):
        faults.add("wave_members", "plan.waves", "hold not each move once")
        return False
    for member, number in listed:
        if moves[member]["wave"] != number:
            faults.add("wave_members", f"moves[{member}]", f"names wave {moves[member]['wave']}, is in {number}")
    for number, wave in enumerate(document["waves"]):
        if not wave["moves"] or wave["moves"] != sorted(wave["moves"]):
            faults.add("order", f"waves[{number}].moves", "is empty or not in order")
    return not faults.has_any("wave_members")
