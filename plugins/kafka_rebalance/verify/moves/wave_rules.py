"""Waves, one after the other: membership, bytes, time, throttle, limits per broker, free disk, order."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.verify.cluster.arrays import ClusterArrays, Floats
from kafka_rebalance.verify.cluster.claimed_moves import ClaimedMoves
from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.moves.costs import is_whole, total
from kafka_rebalance.verify.moves.leader_steps import check_leader_steps, leader_changes
from kafka_rebalance.verify.moves.wave_traffic import Traffic

Longs = npt.NDArray[np.int64]


def check_waves(
    document: dict[str, Any],
    claimed: ClaimedMoves,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    disk: tuple[Floats, Floats] | None,
    faults: FaultList,
) -> None:
    """``disk`` = (used today, limit) float64[B] each, None where sizes are unknown."""
    waves, moves = document["waves"], document["moves"]
    if not _check_members(waves, moves, faults):
        return
    used = None if disk is None else disk[0].copy()
    for number, wave in enumerate(waves):
        members = np.array(wave["moves"], dtype=np.int64)
        traffic = Traffic.forward(claimed, cluster, members)
        place = f"waves[{number}]"
        check_wave(place, wave, [moves[m]["bytes"] for m in wave["moves"]], traffic, cluster, parameters, faults)
        _check_limits(place, traffic, members, cluster, parameters, faults)
        check_leader_steps(place, wave, claimed, cluster, parameters, faults)
        if used is not None and disk is not None:
            used = _check_disk(place, traffic, used, disk[1], cluster, faults)
    _check_order(waves, claimed, cluster, parameters, faults)
    check_times("cost", document["cost"], waves, claimed, cluster, faults)


def _check_members(waves: list[dict[str, Any]], moves: list[dict[str, Any]], faults: FaultList) -> bool:
    wave_of = [0] * len(moves)  # waves count from 1; 0: in none
    for number, wave in enumerate(waves, start=1):
        if not wave["moves"]:
            faults.add("wave_members", f"waves[{number - 1}]", "is empty")
        if wave["moves"] != sorted(wave["moves"]):
            faults.add("order", f"waves[{number - 1}].moves", "are not in order")
        for member in wave["moves"]:
            if not 0 <= member < len(moves):
                faults.add("wave_members", f"waves[{number - 1}]", f"there is no move {member}")
            elif wave_of[member]:
                faults.add("wave_members", f"moves[{member}]", f"is in waves {wave_of[member]} and {number}")
            else:
                wave_of[member] = number
    for member, (where, move) in enumerate(zip(wave_of, moves, strict=True)):
        if where != move["wave"]:
            faults.add("wave_members", f"moves[{member}]", f"names wave {move['wave']}, is listed in {where}")
    return not faults.has_any("wave_members")


def check_wave(
    place: str,
    wave: dict[str, Any],
    amounts: list[int | None],
    traffic: Traffic,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    faults: FaultList,
) -> None:
    """Bytes, seconds, throttle and free disk of one wave, forward or back."""
    faults.require_equal("wave_bytes", f"{place}.bytes", wave["bytes"], total(amounts))
    throttle = wave["throttle_bytes_per_s"]
    if throttle <= 0:
        faults.add("wave_throttle", place, f"{throttle} bytes/s is no throttle")
        return
    faults.require_close("wave_seconds", f"{place}.seconds", wave["seconds"], traffic.seconds(throttle))
    lowest, highest = traffic.throttle(parameters.throttle_bytes_per_s)
    if not lowest <= throttle <= highest:
        text = f"{throttle} bytes/s, expected {lowest}: {parameters.throttle_bytes_per_s} were asked for"
        faults.add("wave_throttle", place, f"{text}, {traffic.busiest_rate:g} are written meanwhile")
    needed = {str(b): v for b, v in zip(cluster.ids.tolist(), traffic.arriving.tolist(), strict=True) if v != 0}
    claimed = wave["free_disk_needed"]
    is_exact = cluster.has_whole_sizes
    known = {broker: value for broker, value in needed.items() if value == value}  # noqa: PLR0124
    if set(claimed) != set(known):
        faults.add("wave_disk", f"{place}.free_disk_needed", "its brokers are not those that receive")
    for broker, value in known.items():
        if broker in claimed and not is_whole(claimed[broker], np.ceil(value), is_exact=is_exact):
            faults.add("wave_disk", f"{place}.free_disk_needed.{broker}", f"says {claimed[broker]}, needs {value:g}")


def _check_limits(
    place: str, traffic: Traffic, members: Longs, cluster: ClusterArrays, parameters: PlanOptions, faults: FaultList
) -> None:
    limit = parameters.moves_per_broker or 0
    for direction, counts in (("receives", traffic.copies_in), ("sends", traffic.moves_out)):
        for b in np.flatnonzero(counts > limit).tolist():
            text = f"broker {cluster.ids[b]} {direction} {counts[b]} moves at a time, {limit} allowed"
            faults.add("wave_limit", place, text)
    if len(members) > parameters.partitions_per_wave:
        faults.add(
            "wave_limit", place, f"{len(members)} partitions, {parameters.partitions_per_wave} allowed in one file"
        )


def _check_disk(
    place: str, traffic: Traffic, used: Floats, limit: Floats, cluster: ClusterArrays, faults: FaultList
) -> Floats:
    arriving, leaving = np.nan_to_num(traffic.arriving), np.nan_to_num(traffic.leaving)
    over = (arriving > 0) & (used + arriving > limit * (1 + 1e-9))
    for b in np.flatnonzero(over).tolist():
        text = f"broker {cluster.ids[b]} would hold {used[b] + arriving[b]:g} of {limit[b]:g} bytes at a time"
        faults.add("wave_disk", place, text)
    return np.asarray(used + arriving - leaving)


def _check_order(
    waves: list[dict[str, Any]],
    claimed: ClaimedMoves,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    faults: FaultList,
) -> None:
    """No wave without an under-replicated partition comes before one with, if that one would have fitted."""
    urgent = cluster.under_replicated[claimed.row] & (claimed.copies > 0)
    if not urgent.any():
        return
    holds = [bool(urgent[wave["moves"]].any()) for wave in waves]
    last = max(number for number, partition in enumerate(holds) if partition)
    idle = [number for number in range(last) if not holds[number]]
    for number in idle:
        for member in [m for wave in waves[number + 1 :] for m in wave["moves"] if urgent[m]]:
            together = np.array([*waves[number]["moves"], member], dtype=np.int64)
            traffic = Traffic.forward(claimed, cluster, together)
            busiest = max(int(traffic.copies_in.max()), int(traffic.moves_out.max()))
            limit = parameters.max_leader_changes_per_wave
            has_room = limit is None or max(leader_changes(claimed, cluster, together)) <= limit
            is_within = (
                busiest <= (parameters.moves_per_broker or 0) and len(together) <= parameters.partitions_per_wave
            )
            if has_room and is_within:
                text = "is under-replicated, and a wave without such partitions goes first"
                faults.add("wave_order", f"moves[{member}]", text)


def check_times(
    place: str,
    cost: dict[str, Any],
    waves: list[dict[str, Any]],
    claimed: ClaimedMoves,
    cluster: ClusterArrays,
    faults: FaultList,
) -> None:
    """The whole time is the sum of waves; slot filling lies between the busiest broker's bytes and that sum."""
    known = [wave["seconds"] for wave in waves if wave["seconds"] is not None]
    found = sum(known) if len(known) == len(waves) else None
    faults.require_close("cost", f"{place}.seconds", cost["seconds"], found)
    filling = cost["seconds_slot_filling"]
    if (filling is None) != (found is None):
        faults.add("slot_filling", place, f"says {filling}, waves take {found}")
    elif filling is not None and found is not None and waves:
        members = np.concatenate([np.array(wave["moves"], dtype=np.int64) for wave in waves])
        traffic = Traffic.forward if place == "cost" else Traffic.backward
        throttle = max(wave["throttle_bytes_per_s"] for wave in waves)
        if throttle <= 0:
            return
        least = traffic(claimed, cluster, members).seconds(throttle) or 0.0
        if not least * (1 - 1e-9) <= filling <= found * (1 + 1e-9):
            faults.add("slot_filling", place, f"{filling:g} s is not between {least:g} and {found:g} s")
